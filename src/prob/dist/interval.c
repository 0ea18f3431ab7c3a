/* interval.c -- intervals that hold a given mass: central, and of highest density. */
#include "check.h"

#include <math.h>

static cr_status check_mass(cr_ctx *cx, const cr_dist_class *c, double mass)
{
    if (mass > 0 && mass < 1) return CR_OK;
    return cr_fail(cx, CR_EARG, "%s: the mass of the interval is %g, but must be 0<..<1", c->name,
                   mass);
}

cr_status cr_dist_interval(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                           double mass, double *out_low, double *out_high)
{
    cr_status st = CR_OK;
    double    low, high;
    CR_TRY(check_mass(cx, c, mass));
    CR_TRY(cr_dist_quantile(cx, c, params, n, 0.5 - 0.5 * mass, &low));
    CR_TRY(cr_dist_quantile(cx, c, params, n, 0.5 + 0.5 * mass, &high));
    *out_low = low, *out_high = high;
done:
    return st;
}

/* true when nothing outside [low, high] of a short support is likelier than its ends. */
static bool holds_the_densest(const cr_dist_class *c, cri_par p, double low, double high)
{
    double first, last, least = fmin(cri_dist_logpdf(c, p, low), cri_dist_logpdf(c, p, high));
    c->support(p, &first, &last);
    for (double x = first; last - first < 10000 && x <= last; x++) {
        double here = cri_dist_logpdf(c, p, x);
        if ((x < low || x > high) ? here > least + 1e-12 : here < least - 1e-12) return false;
    }
    return true;
}

/* From the mode, the likelier neighbour is taken in until the mass is reached. */
static bool grow_from_mode(const cr_dist_class *c, cri_par p, double mode, double mass, double *low,
                           double *high)
{
    double lo = mode, hi = mode, sum = exp(cri_dist_logpdf(c, p, mode));
    for (size_t step = 0; sum < mass * (1 - 1e-14); step++) {
        double below = cri_dist_logpdf(c, p, lo - 1), above = cri_dist_logpdf(c, p, hi + 1);
        if (step == 20000000 || (isinf(below) && isinf(above))) return false;
        if (below > above)
            lo--;
        else
            hi++;
        sum += exp(fmax(below, above));
    }
    *low = lo, *high = hi;
    return holds_the_densest(c, p, lo, hi);
}

/* How much denser the lower end is, when `below` of the mass lies under the interval. */
static double imbalance(const cr_dist_class *c, cri_par p, double below, double mass, double *low,
                        double *high)
{
    *low = cri_dist_quantile(c, p, below);
    *high = cri_dist_quantile(c, p, fmin(1, below + mass));
    return cri_dist_logpdf(c, p, *low) - cri_dist_logpdf(c, p, *high);
}

/* With one mode the imbalance rises with the mass below: its zero is bisected. */
static void balance(const cr_dist_class *c, cri_par p, double mass, double *low, double *high)
{
    double left = 0, right = 1 - mass, middle = 0.5 * right;
    for (int i = 0; i < 100; i++) {
        double off = imbalance(c, p, middle, mass, low, high);
        if (off == 0 || fabs(off) < 1e-14) break;
        if (off < 0)
            left = middle;
        else
            right = middle;
        double next = 0.5 * (left + right);
        if (next == middle || right - left < 1e-17) break;
        middle = next;
    }
    if (left == 0 && middle < 1e-15) imbalance(c, p, 0, mass, low, high);
    if (right == 1 - mass && 1 - mass - middle < 1e-15) imbalance(c, p, 1 - mass, mass, low, high);
}

cr_status cr_dist_hdi(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                      double mass, double *out_low, double *out_high)
{
    cr_status st = CR_OK;
    double    mode = 0, low = 0, high = 0;
    cri_par   p = { params, n };
    CR_TRY(check_mass(cx, c, mass));
    CR_TRY(cr_dist_quantile(cx, c, params, n, 0.5, &low)); /* checks all that is needed */
    if (c->mode) mode = c->mode(p);
    if (isnan(mode) || (c->discrete && !grow_from_mode(c, p, mode, mass, &low, &high)))
        CR_TRY(cr_fail(cx, CR_ENUMERIC,
                       "%s: the region of highest density is not one interval for these parameters",
                       c->name));
    if (!c->discrete) balance(c, p, mass, &low, &high);
    *out_low = low, *out_high = high;
done:
    return st;
}
