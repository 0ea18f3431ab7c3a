/* rng_gamma.c -- gamma and beta variates, also for shapes so small that they live in logarithms.
 * Marsaglia & Tsang (2000), "A simple method for generating gamma variables", ACM TOMS 26(3). */
#include "rng.h"

#include <math.h>

/* v with d v ~ Gamma(shape), d = shape - 1/3; shape >= 1. */
static double draw_cube(cr_rng *r, double d)
{
    double c = 1 / sqrt(9 * d);
    for (;;) {
        double x = cr_rng_normal(r), root = 1 + c * x, v = root * root * root;
        if (root <= 0) continue;
        double u = cr_rng_uniform(r), x2 = x * x;
        if (u < 1 - 0.0331 * x2 * x2) return v;
        if (log(u) < 0.5 * x2 + d * (1 - v + log(v))) return v;
    }
}

/* A shape below 1 is raised by one, and the result multiplied by U^(1 / shape). */
double cr_rng_log_gamma(cr_rng *r, double shape)
{
    if (!(shape >= 0)) return NAN;
    double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
    double log_g = log(d * draw_cube(r, d));
    return shape < 1 ? log_g - cr_rng_exponential(r) / shape : log_g;
}

double cr_rng_gamma(cr_rng *r, double shape)
{
    if (!(shape >= 1)) return exp(cr_rng_log_gamma(r, shape));
    double d = shape - 1.0 / 3;
    return d * draw_cube(r, d);
}

/* X / (X + Y) of two gammas.  Where a shape is small, X and Y are held as logarithms; where even
 * those are infinite, the beta has only its two ends left. */
double cr_rng_beta(cr_rng *r, double a, double b)
{
    if (a >= 1 && b >= 1) {
        double x = cr_rng_gamma(r, a), y = cr_rng_gamma(r, b);
        return x / (x + y);
    }
    double x = cr_rng_log_gamma(r, a), y = cr_rng_log_gamma(r, b);
    if (isinf(x) && isinf(y)) return cr_rng_uniform(r) < 1 / (1 + b / a) ? 1 : 0;
    return 1 / (1 + exp(y - x));
}
