/* von_mises.c -- the normal of the circle: angles around mu with concentration k.
 * On the line it lives on [mu - pi, mu + pi]; mean and variance are those of the angle there. */
#include "von_mises.h"
#include "fit.h"
#include "math/constants.h"
#include "math/quadrature.h"

#include <math.h>

/* --- Bessel functions I0 and I1 -------------------------------------------------------------- */

/* The power series below 20, above it the asymptotic one, whose least term there is e^-40.
 * A&S 9.6.10, 9.7.1. */
cri_bessel cri_bessel_scaled(double k)
{
    if (k < 20) {
        double t = 0.25 * k * k, term0 = 1, term1 = 1, sum0 = 1, sum1 = 1;
        for (double j = 1; j < 80 && term0 > 1e-18 * sum0; j++) {
            term0 *= t / (j * j);
            term1 *= t / (j * (j + 1));
            sum0 += term0, sum1 += term1;
        }
        double log_i0 = log1p(sum0 - 1) - k;
        return (cri_bessel){ log_i0, 0.5 * k * sum1 / sum0, 1 - 0.5 * k * sum1 / sum0 };
    }
    double term0 = 1, term1 = 1, sum0 = 1, away = 0; /* away = the series of I0 less that of I1 */
    for (double j = 1; j < 40 && fabs(term0) > 1e-19; j++) {
        double odd = (2 * j - 1) * (2 * j - 1);
        term0 *= odd / (8 * k * j);
        term1 *= (odd - 4) / (8 * k * j);
        sum0 += term0, away += term0 - term1;
    }
    double gap = away / sum0;
    return (cri_bessel){ log(sum0) - CRI_HALF_LOG_2PI - 0.5 * log(k), 1 - gap, gap };
}

/* --- density --------------------------------------------------------------------------------- */

static double log_height(double k) { return -CRI_LOG_2PI - cri_bessel_scaled(k).log_i0; }

static void vm_support(cri_par p, double *low, double *high)
{
    *low = p.v[0] - M_PI, *high = p.v[0] + M_PI;
}

static double vm_logpdf(cri_par p, double x)
{
    double s = sin(0.5 * (x - p.v[0]));
    return log_height(p.v[1]) - 2 * p.v[1] * s * s;
}

/* --- distribution function ------------------------------------------------------------------- */

typedef struct arc {
    double k, from;
} arc;

/* exp(k (cos(from - s) - cos(from))): the density s below `from`, against that at `from`. */
static double against_edge(double s, void *user)
{
    const arc *a = user;
    return exp(2 * a->k * sin(a->from - 0.5 * s) * sin(0.5 * s));
}

/* How far below `from` (in [-pi, 0]) the density still counts: where it has fallen by e^-46. */
static double reach(const arc *a)
{
    double low = 0, high = a->from + M_PI;
    if (!(2 * a->k * sin(a->from - 0.5 * high) * sin(0.5 * high) < -46)) return high;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (2 * a->k * sin(a->from - 0.5 * middle) * sin(0.5 * middle) < -46)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* log P(angle < from), from in [-pi, 0], by Gauss's rule on four pieces. */
static double log_tail(double k, double from)
{
    static const double cuts[] = { 0, 0.1, 0.3, 0.6, 1 };
    arc                 a = { k, from };
    double              end = reach(&a), sum = 0, s = sin(0.5 * from);
    for (int i = 0; i < 4; i++)
        sum += cr_gauss20(against_edge, &a, end * cuts[i], end * cuts[i + 1]);
    return log_height(k) - 2 * k * s * s + log(sum);
}

static double vm_cdf(cri_par p, double x, unsigned side)
{
    double d = x - p.v[0];
    bool   below = d <= 0;
    double log_part = fmin(0, log_tail(p.v[1], -fabs(d))), part = exp(log_part);
    if (side & CRI_LOG && below != !!(side & CRI_UPPER)) return log_part;
    return below ? cri_face(part, 1 - part, side) : cri_face(1 - part, part, side);
}

/* --- moments --------------------------------------------------------------------------------- */

static double squared_angle(double s, void *user) { return s * s * against_edge(s, user); }

static double vm_variance(cri_par p)
{
    static const double cuts[] = { 0, 0.1, 0.3, 0.6, 1 };
    arc                 a = { p.v[1], 0 };
    double              end = reach(&a), sum = 0;
    for (int i = 0; i < 4; i++)
        sum += cr_gauss20(squared_angle, &a, end * cuts[i], end * cuts[i + 1]);
    return 2 * sum * exp(log_height(p.v[1]));
}

static double vm_entropy(cri_par p)
{
    cri_bessel b = cri_bessel_scaled(p.v[1]);
    return CRI_LOG_2PI + b.log_i0 + p.v[1] * b.gap;
}

/* With one mean direction: log I0(kq) / I0(kp), and what the two cosines cost. */
static double vm_kl(cri_par p, cri_par q)
{
    cri_bessel b = cri_bessel_scaled(p.v[1]), c = cri_bessel_scaled(q.v[1]);
    double     s = sin(0.5 * (p.v[0] - q.v[0]));
    double     kl = c.log_i0 - b.log_i0 + (q.v[1] - p.v[1]) * b.gap + 2 * q.v[1] * b.ratio * s * s;
    return fmax(0, kl);
}

/* --- samples --------------------------------------------------------------------------------- */

/* y = sin(angle / 2) is nearly normal when k is large: rejection from it, cut at 1/2, beyond which
 * there is less than e^-500. */
static double draw_narrow(cr_rng *r, double k)
{
    for (;;) {
        double y = cr_rng_normal(r) / (2 * sqrt(k)), workspace = 1 - y * y;
        if (fabs(y) < 0.5 && cr_rng_uniform(r) * sqrt(workspace) < sqrt(0.75)) return 2 * asin(y);
    }
}

/* Best & Fisher (1979), "Efficient simulation of the von Mises distribution", Appl. Stat. 28(2). */
static double draw_wide(cr_rng *r, double k)
{
    double tau = 1 + sqrt(1 + 4 * k * k), rho = (tau - sqrt(2 * tau)) / (2 * k);
    double s = (1 + rho * rho) / (2 * rho);
    for (;;) {
        double z = cos(M_PI * cr_rng_uniform(r)), f = (1 + s * z) / (s + z), c = k * (s - f);
        double u = cr_rng_uniform(r);
        if (c * (2 - c) - u > 0 || log(c / u) + 1 - c >= 0)
            return cr_rng_uniform(r) < 0.5 ? -acos(f) : acos(f);
    }
}

static double vm_sample(cri_par p, cr_rng *r)
{
    double k = p.v[1];
    if (isnan(k)) return NAN; /* what is drawn by rejection would never be taken */
    if (k < 1e-6) return p.v[0] + M_PI * (2 * cr_rng_uniform(r) - 1);
    return p.v[0] + (k > 1000 ? draw_narrow(r, k) : draw_wide(r, k));
}

/* --- fit ------------------------------------------------------------------------------------- */

static double gap_equation(double k, const void *user)
{
    return cri_bessel_scaled(k).gap - *(const double *)user;
}

/* k with 1 - I1(k) / I0(k) = gap, 0 < gap < 1. */
static double solve_gap(double gap)
{
    double r = 1 - gap, start = r * (2 - r * r) / (1 - r * r); /* Banerjee et al. (2005) */
    return cri_falling_root(gap_equation, &gap, fmax(start, 1e-8));
}

/* The mean direction, and the concentration whose mean cosine is the sample's. */
static cr_status vm_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    double c = 0, d = 0, gap = 0;
    (void)n;
    for (size_t i = 0; i < s->n; i++) {
        c += cri_weight(s, i) * cos(s->x[i]);
        d += cri_weight(s, i) * sin(s->x[i]);
    }
    double mu = atan2(d, c);
    for (size_t i = 0; i < s->n; i++) {
        double half = sin(0.5 * (s->x[i] - mu));
        gap += 2 * cri_weight(s, i) / s->total * half * half;
    }
    if (gap < 1e-15) return cri_no_estimate(cx, "von-mises", "all directions are the same");
    v[0] = mu;
    v[1] = gap < 1 - 1e-12 ? solve_gap(gap) : 0;
    return CR_OK;
}

/* --- the descriptor -------------------------------------------------------------------------- */

static const char *const statistics[] = { "cos x", "sin x" };

static void natural(cri_par p, double *eta)
{
    eta[0] = p.v[1] * cos(p.v[0]), eta[1] = p.v[1] * sin(p.v[0]);
}

static double log_partition(cri_par p, const double *eta)
{
    double k = hypot(eta[0], eta[1]);
    (void)p;
    return CRI_LOG_2PI + cri_bessel_scaled(k).log_i0 + k;
}

static void statistic(cri_par p, double x, double *t)
{
    (void)p;
    t[0] = cos(x), t[1] = sin(x);
}

static void mean_statistic(cri_par p, double *t)
{
    double ratio = cri_bessel_scaled(p.v[1]).ratio;
    t[0] = ratio * cos(p.v[0]), t[1] = ratio * sin(p.v[0]);
}

static const cri_family family = { statistics,    2,         NULL,          natural,
                                   log_partition, statistic, mean_statistic };

static const cri_dist_param params[] = {
    CRI_PARAM("mu", cri_any, "any number", "0", "mean direction, in radians"),
    CRI_PARAM("kappa", cri_not_negative, ">=0", "2", "concentration; 0 is uniform"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_von_mises = {
    .name = "von-mises",
    .summary = "angles around a mean direction",
    .formula = "p(x) = exp(kappa cos(x - mu)) / (2 pi I0(kappa))\n"
               "mean and variance: of the angle on [mu - pi, mu + pi]",
    .reference = "Mardia & Jupp (2000), Directional Statistics, sec. 3.5",
    .support_text = "mu - pi <= x <= mu + pi",
    .params = params,
    .circular = true,
    .data = &cri_any,
    .support = vm_support,
    .logpdf = vm_logpdf,
    .cdf = vm_cdf,
    .mean = cri_first,
    .mode = cri_first,
    .variance = vm_variance,
    .entropy = vm_entropy,
    .sample = vm_sample,
    .fit = vm_fit,
    .kl = vm_kl,
    .family = &family,
};
