/* tail_integral.c -- integrals of the tails of distributions: partial means and the ranked score.
 */
#include "tail_integral.h"
#include "check.h"
#include "math/quadrature.h"

#include <math.h>

enum { MOST_CELLS = 2000 }; /* of a standard deviation of counts, one by one */

/* One tail, or its square, over [from, to]: the lower, F, falls off towards `from`, the upper, S,
 * towards `to`. */
typedef struct tail {
    const cr_dist_class *c;
    cri_par              p;
    unsigned             side;
    bool                 square;
    double anchor, unit; /* where the tail is heaviest, and how fast it falls off there */
} tail;

static double mean_of(const cr_dist_class *c, cri_par p)
{
    return c->mean ? c->mean(p) : (double)NAN;
}

static double tail_at(const tail *t, double x)
{
    double v = cri_dist_cdf(t->c, t->p, x, t->side);
    return t->square ? v * v : v;
}

/* --- continuous ------------------------------------------------------------------------------ */

/* In s, where x = anchor +- unit (e^s - 1): any power of x falls off exponentially. */
static double integrand(double s, void *user)
{
    const tail *t = user;
    double      u = t->unit * expm1(s),
           v = tail_at(t, t->side == CRI_UPPER ? t->anchor + u : t->anchor - u);
    return v > 0 ? v * exp(s) : 0;
}

/* The length over which the tail falls off at x: its ratio to the density there, not far from the
 * spread of the whole. */
static double unit_at(const tail *t, double x)
{
    double spread = sqrt(t->c->variance ? t->c->variance(t->p) : NAN);
    double unit = cri_dist_cdf(t->c, t->p, x, t->side) / exp(cri_dist_logpdf(t->c, t->p, x));
    if (!(unit > 0 && isfinite(unit))) unit = spread;
    if (spread > 0 && isfinite(spread)) unit = fmin(fmax(unit, 1e-3 * spread), 1e3 * spread);
    return unit > 0 && isfinite(unit) ? unit : fmax(fabs(x), 1);
}

static cr_status integrate(cr_ctx *cx, tail *t, double from, double to, double *out)
{
    double length = to - from, part = 0, digits;
    t->anchor = t->side == CRI_UPPER ? from : to;
    t->unit = unit_at(t, t->anchor);
    digits = 0x1p-48 * fabs(t->anchor) / t->unit; /* that x loses beside the anchor */
    cr_status st = cr_integrate(cx, integrand, t, 0, log1p(length / t->unit), 1e-300,
                                fmax(1e-10, digits), &part, NULL);
    if (st == CR_ENUMERIC)
        return cr_fail(cx, st, "%s: a tail cannot be integrated for these parameters", t->c->name);
    if (st == CR_OK) *out = part * t->unit;
    return st;
}

/* --- counts ---------------------------------------------------------------------------------- */

/* Cells [k, k + 1) from the heavy end on, until they no longer count.  Where the counts are spread
 * widely, the middle one of `stride` cells stands for all of them. */
static double sum_cells(const tail *t, double from, double to)
{
    double sd = sqrt(t->c->variance ? t->c->variance(t->p) : 0), sum = 0;
    double stride = isfinite(sd) ? 1 + 2 * floor(sd / (2 * MOST_CELLS)) : 1;
    double step = t->side == CRI_UPPER ? 1 : -1, at = step > 0 ? from : to;
    double end = step > 0 ? to : from;
    for (;;) {
        double left = fabs(end - at), cell = step > 0 ? floor(at) : ceil(at) - 1, size;
        if (!(left > 0)) break;
        if (at == floor(at) && left >= stride) {
            size = stride;
            cell += step * floor(stride / 2);
        } else {
            size = fmin(left, step > 0 ? cell + 1 - at : at - cell);
        }
        double v = tail_at(t, cell);
        sum += v * size;
        at += step * size;
        if (v == 0 || v * (1 + fabs(at - (step > 0 ? from : to))) < 1e-17 * sum) break;
    }
    return sum;
}

/* --- any of them ----------------------------------------------------------------------------- */

/* The integral of a tail, or of its square, from `from` to `to`, either of which may be infinite on
 * the side where the tail falls off; the other lies where the tail is not yet 1. */
static cr_status tail_integral(cr_ctx *cx, tail *t, double from, double to, double *out)
{
    double low, high;
    t->c->support(t->p, &low, &high);
    from = fmax(from, low), to = fmin(to, high);
    *out = 0;
    if (!(from < to)) return CR_OK;
    if (!t->c->discrete) return integrate(cx, t, from, to, out);
    *out = sum_cells(t, from, to);
    return CR_OK;
}

static cr_status check(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n, double x)
{
    cr_status st = CR_OK;
    CR_TRY(cri_check_kind(cx, c, false));
    if (c->circular || !c->cdf) CR_TRY(cri_not_offered(cx, c, "partial means"));
    CR_TRY(cr_dist_check(cx, c, params, n));
    if (!isfinite(x)) CR_TRY(cr_fail(cx, CR_EARG, "%s: %g is not a finite number", c->name, x));
done:
    return st;
}

/* The smaller of the two is integrated; the other differs by a - E X, which is then not negative.
 */
cr_status cr_dist_partial_means(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                                double a, double *out_below, double *out_above)
{
    cr_status st = CR_OK;
    tail      t = { .c = c, .p = { params, n } };
    double    low, high, mean, below = INFINITY, above = INFINITY;

    CR_TRY(check(cx, c, params, n, a));
    mean = mean_of(c, t.p);
    c->support(t.p, &low, &high);
    bool known = isfinite(mean);
    t.side = CRI_LOWER;
    if (known ? a <= mean : isfinite(low)) CR_TRY(tail_integral(cx, &t, low, a, &below));
    t.side = CRI_UPPER;
    if (known ? a > mean : isfinite(high)) CR_TRY(tail_integral(cx, &t, a, high, &above));
    if (known && a <= mean) above = below + (mean - a);
    if (known && a > mean) below = above + (a - mean);
    *out_below = below, *out_above = above;
done:
    return st;
}

/* true for a tail that falls off as x^-k with k <= 1/2: its square has no integral either. */
static bool diverges(const tail *t, double median)
{
    if (isfinite(mean_of(t->c, t->p))) return false;
    double sign = t->side == CRI_UPPER ? 1 : -1, at[2];
    for (int i = 0; i < 2; i++)
        at[i] = cri_dist_cdf(t->c, t->p, median + sign * (i ? 1e150 : 1e120), t->side | CRI_LOG);
    if (!isfinite(at[1])) return false;
    return (at[0] - at[1]) / log(1e30) <= 0.5 * (1 + 1e-9);
}

cr_status cr_dist_crps(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n, double y,
                       double *out)
{
    cr_status st = CR_OK;
    tail      lower = { .c = c, .p = { params, n }, .side = CRI_LOWER, .square = true };
    tail      upper = { .c = c, .p = { params, n }, .side = CRI_UPPER, .square = true };
    double    low, high, m, below = 0, above = 0, between = 0;

    CR_TRY(check(cx, c, params, n, y));
    if (c->crps) {
        *out = c->crps(lower.p, y);
        goto done;
    }
    CR_TRY(cr_dist_quantile(cx, c, params, n, 0.5, &m));
    c->support(lower.p, &low, &high);
    if (diverges(&lower, m) || diverges(&upper, m)) {
        *out = INFINITY;
        goto done;
    }
    CR_TRY(tail_integral(cx, &lower, low, m, &below));
    CR_TRY(tail_integral(cx, &upper, m, high, &above));
    lower.square = upper.square = false;
    if (y > m) CR_TRY(tail_integral(cx, &upper, m, y, &between));
    if (y < m) CR_TRY(tail_integral(cx, &lower, y, m, &between));
    *out = below + above + fabs(y - m) - 2 * between;
done:
    return st;
}
