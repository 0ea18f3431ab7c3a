/* generic.c -- what follows from density and distribution function alone: the support seen to,
 * quantiles by search, sums over counts. */
#include "dist_class.h"
#include "math/special/special.h"

#include <math.h>

size_t cri_size_same(size_t d) { return d; }
size_t cri_size_square(size_t d) { return d * d; }
double cri_first(cri_par p) { return p.v[0]; }

double cri_zero(cri_par p)
{
    (void)p;
    return 0;
}

void cri_support_real(cri_par p, double *low, double *high)
{
    (void)p;
    *low = -INFINITY, *high = INFINITY;
}

void cri_support_positive(cri_par p, double *low, double *high)
{
    (void)p;
    *low = 0, *high = INFINITY;
}

void cri_support_unit(cri_par p, double *low, double *high)
{
    (void)p;
    *low = 0, *high = 1;
}

double cri_face(double lower, double upper, unsigned side)
{
    double p = side & CRI_UPPER ? upper : lower, other = side & CRI_UPPER ? lower : upper;
    if (!(side & CRI_LOG)) return p;
    return p > 0.5 ? log1p(-other) : log(p);
}

/* --- any x ----------------------------------------------------------------------------------- */

double cri_dist_logpdf(const cr_dist_class *c, cri_par p, double x)
{
    double low, high;
    c->support(p, &low, &high);
    if (isinf(x) || (!c->circular && (x < low || x > high)) || (c->discrete && x != floor(x)))
        return -INFINITY;
    return c->logpdf(p, x);
}

double cri_dist_cdf(const cr_dist_class *c, cri_par p, double x, unsigned side)
{
    double low, high;
    if (c->discrete) x = floor(x);
    c->support(p, &low, &high);
    if (x < low || x == -INFINITY) return cri_face(0, 1, side);
    if (x >= high) return cri_face(1, 0, side);
    return c->cdf(p, x, side);
}

/* --- quantiles ------------------------------------------------------------------------------- */

/* A whole number near where the quantile should be. */
static double guess_count(const cr_dist_class *c, cri_par p, double prob, double low, double high)
{
    double mean = c->mean ? c->mean(p) : NAN, variance = c->variance ? c->variance(p) : NAN;
    double x = floor(mean + sqrt(variance) * cr_norm_ppf(prob));
    if (!isfinite(x)) x = isfinite(mean) ? floor(mean) : low;
    return fmin(fmax(x, low), high);
}

/* The least whole number whose lower tail reaches prob, within rounding. */
static double search_count(const cr_dist_class *c, cri_par p, double prob, double low, double high)
{
    double target = prob * (1 - 0x1p-50), x = guess_count(c, p, prob, low, high), step = 1;
    double below = low - 1,
           reached = high; /* the tail at `below` is too little, at `reached` enough */
    while (cri_dist_cdf(c, p, x, CRI_LOWER) < target && x < high && x < 0x1p53) {
        below = x;
        x = fmin(x + step, high);
        step *= 2;
    }
    reached = x;
    step = 1;
    for (double y = x - 1; y > below; y -= step, step *= 2) {
        if (cri_dist_cdf(c, p, y, CRI_LOWER) < target) {
            below = y;
            break;
        }
        reached = y;
    }
    while (reached - below > 1) {
        double middle = floor(0.5 * (below + reached));
        if (middle <= below || middle >= reached) break;
        if (cri_dist_cdf(c, p, middle, CRI_LOWER) < target)
            below = middle;
        else
            reached = middle;
    }
    return reached;
}

/* The variable of the search: log x where the support starts at 0, so that the smallest x are found
 * as easily as the largest. */
typedef struct search {
    const cr_dist_class *c;
    cri_par              p;
    bool                 logarithmic, upper;
    double               target; /* the logarithm of the smaller tail */
} search;

static double at(const search *s, double u) { return s->logarithmic ? exp(u) : u; }

/* log of the tail at u, less the target, turned so that it rises. */
static double excess(const search *s, double u)
{
    double tail = cri_dist_cdf(s->c, s->p, at(s, u), CRI_LOG | (s->upper ? CRI_UPPER : CRI_LOWER));
    return s->upper ? s->target - tail : tail - s->target;
}

/* A bracket around the root: the ends of the support, or doubling away from the mode. */
static void bracket(const search *s, double *low, double *high)
{
    double mode = s->c->mode ? s->c->mode(s->p) : NAN, start = s->logarithmic ? log(mode) : mode;
    if (!isfinite(start)) start = isfinite(*low) ? *low : isfinite(*high) ? *high : 0;
    double down = fmax(*low, start - 1), up = fmin(*high, start + 1);
    for (double step = 1; down > *low && excess(s, down) > 0 && step < 1e300; step *= 2)
        down = fmax(*low, down - step);
    for (double step = 1; up < *high && excess(s, up) < 0 && step < 1e300; step *= 2)
        up = fmin(*high, up + step);
    *low = down, *high = up;
}

/* Newton's method in the logarithm of the smaller tail, kept in the bracket by halving. */
static double search_real(const cr_dist_class *c, cri_par p, double prob, double low, double high)
{
    search s = { c, p, low == 0 && high == INFINITY, prob > 0.5, 0 };
    s.target = s.upper ? log1p(-prob) : log(prob);
    if (s.logarithmic) low = -745, high = 709;
    bracket(&s, &low, &high);
    double u = 0.5 * (low + high);
    for (int i = 0; i < 300; i++) {
        double off = excess(&s, u), x = at(&s, u);
        if (off < 0)
            low = u;
        else
            high = u;
        double tail = s.upper ? s.target - off : s.target + off;
        double slope = exp(cri_dist_logpdf(c, p, x) - tail) * (s.logarithmic ? x : 1);
        double next = u - off / slope;
        bool   newton = next > low && next < high;
        if (!newton) next = 0.5 * (low + high);
        if (newton && fabs(off) < 1e-9) return at(&s, next); /* the next would be its square */
        if (next <= low || next >= high) return x;
        u = next;
    }
    return at(&s, u);
}

double cri_dist_quantile(const cr_dist_class *c, cri_par p, double prob)
{
    double low, high;
    c->support(p, &low, &high);
    if (prob == 0) return low;
    if (prob == 1) return high;
    if (c->quantile) return c->quantile(p, prob);
    return c->discrete ? search_count(c, p, prob, low, high) : search_real(c, p, prob, low, high);
}

/* --- sums over counts ------------------------------------------------------------------------ */

/* Sums terms from `x` in steps of `step`, -p log p, or p log(p / q) when opt_q is given, up to
 * `end` or, when `falls`, until they no longer count; false when there are too many. */
static bool sum_side(const cr_dist_class *c, cri_par p, const cri_par *opt_q, double x, double step,
                     double end, bool falls, double *sum)
{
    for (size_t terms = 0; step > 0 ? x <= end : x >= end; x += step, terms++) {
        double log_p = c->logpdf(p, x), mass = exp(log_p);
        double term = opt_q ? mass * (log_p - cri_dist_logpdf(c, *opt_q, x)) : -mass * log_p;
        if (terms == CRI_MOST_TERMS) return false;
        if (mass > 0) *sum += term;
        if (falls && mass < 1e-24 && terms > 10) break;
    }
    return true;
}

/* A mode that is NaN: the masses fall from no single place, and all of them are summed. */
static double sum_outwards(const cr_dist_class *c, cri_par p, const cri_par *opt_q, double mode)
{
    double low, high, sum = 0;
    bool   falls = !isnan(mode);
    c->support(p, &low, &high);
    if (sqrt(c->variance(p)) * 10 > CRI_MOST_TERMS) return NAN; /* it would come to that */
    if (!falls) mode = low;
    bool done = sum_side(c, p, opt_q, mode, 1, high, falls, &sum) &&
                sum_side(c, p, opt_q, mode - 1, -1, low, falls, &sum);
    return done ? sum : NAN;
}

double cri_sum_entropy(const cr_dist_class *c, cri_par p, double mode)
{
    return sum_outwards(c, p, NULL, mode);
}

double cri_sum_kl(const cr_dist_class *c, cri_par p, cri_par q, double mode)
{
    double sum = sum_outwards(c, p, &q, mode);
    return sum < 0 ? 0 : sum; /* rounding */
}
