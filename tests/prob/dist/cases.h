/* cases.h -- every distribution of one variable with ordinary and hard parameters, and integrals
 * over their supports. */
#ifndef CREDENCE_TEST_DIST_CASES_H
#define CREDENCE_TEST_DIST_CASES_H

#include "support.h"
#include "math/quadrature.h"
#include "prob/dist/dist_class.h"

typedef struct dist_case {
    const char *name;
    double      v[4];
    size_t      n;
} dist_case;

static const dist_case cases[] = {
    { "bernoulli", { 0.3 }, 1 },
    { "bernoulli", { 1e-9 }, 1 },
    { "beta", { 12, 3 }, 2 },
    { "beta", { 0.1, 0.2 }, 2 },
    { "beta", { 1, 1 }, 2 },
    { "beta", { 0.7, 30 }, 2 },
    { "beta", { 20, 0.6 }, 2 },
    { "beta", { 3e5, 2e5 }, 2 },
    { "beta-binomial", { 20, 2, 3 }, 3 },
    { "beta-binomial", { 50, 0.1, 0.2 }, 3 },
    { "beta-binomial", { 100, 1e4, 3e4 }, 3 },
    { "binomial", { 10, 0.3 }, 2 },
    { "binomial", { 2000, 0.71 }, 2 },
    { "binomial", { 1, 0.5 }, 2 },
    { "binomial", { 0, 0.5 }, 2 },
    { "categorical", { 0.2, 0.3, 0.1, 0.4 }, 4 },
    { "categorical", { 1 }, 1 },
    { "cauchy", { -1.3, 2.7 }, 2 },
    { "chi-square", { 4 }, 1 },
    { "chi-square", { 0.7 }, 1 },
    { "exponential", { 2.3 }, 1 },
    { "gamma", { 2, 3 }, 2 },
    { "gamma", { 0.05, 0.4 }, 2 },
    { "gamma", { 1, 0.4 }, 2 },
    { "gamma", { 1e6, 1e3 }, 2 },
    { "geometric", { 0.25 }, 1 },
    { "geometric", { 1 }, 1 },
    { "gumbel", { 0.7, 1.9 }, 2 },
    { "half-cauchy", { 2.5 }, 1 },
    { "hypergeometric", { 50, 13, 5 }, 3 },
    { "hypergeometric", { 20, 15, 12 }, 3 },
    { "hypergeometric", { 10, 10, 4 }, 3 },
    { "hypergeometric", { 30000, 9000, 4000 }, 3 },
    { "inverse-gamma", { 3.3, 2.1 }, 2 },
    { "inverse-gamma", { 0.4, 2.1 }, 2 },
    { "inverse-gaussian", { 1.3, 3.1 }, 2 },
    { "inverse-gaussian", { 2, 0.2 }, 2 },
    { "inverse-gaussian", { 0.5, 400 }, 2 },
    { "asymmetric-laplace", { 0.3, 1.2, 0.9 }, 3 },
    { "asymmetric-laplace", { -1, 0.4, 0.05 }, 3 },
    { "laplace", { -0.4, 1.7 }, 2 },
    { "log-normal", { 0.3, 0.6 }, 2 },
    { "logistic", { 0.2, 1.4 }, 2 },
    { "lomax", { 3.5, 2.1 }, 2 },
    { "lomax", { 0.8, 0.4 }, 2 },
    { "negative-binomial", { 5, 2 }, 2 },
    { "negative-binomial", { 0.3, 0.05 }, 2 },
    { "negative-binomial", { 40, 1e5 }, 2 },
    { "normal", { -2.5, 0.3 }, 2 },
    { "normal", { 1e6, 1e4 }, 2 },
    { "pareto", { 0, 1.3, 2.7 }, 3 },
    { "pareto", { -2, 0.6, 0.8 }, 3 },
    { "pareto", { 5, 40, 11 }, 3 },
    { "poisson", { 4.4 }, 1 },
    { "poisson", { 0.01 }, 1 },
    { "poisson", { 900.5 }, 1 },
    { "scaled-inverse-chi-square", { 5.5, 1.5 }, 2 },
    { "skew-normal", { 0.4, 1.3, 4 }, 3 },
    { "skew-normal", { -2, 0.5, -1.2 }, 3 },
    { "skew-normal", { 1, 3, 0 }, 3 },
    { "student-t", { 4.5, 0.3, 1.2 }, 3 },
    { "student-t", { 0.5, -1, 0.7 }, 3 },
    { "student-t", { 1e9, 2, 3 }, 3 },
    { "uniform", { -1.5, 2.25 }, 2 },
    { "von-mises", { 0.4, 2 }, 2 },
    { "von-mises", { -2, 0 }, 2 },
    { "von-mises", { 1, 35 }, 2 },
    { "von-mises", { 3, 1e6 }, 2 },
    { "weibull", { 1.5, 2.2 }, 2 },
    { "weibull", { 0.6, 0.3 }, 2 },
};
enum { N_CASES = sizeof cases / sizeof *cases };

static inline cri_par case_params(const dist_case *k) { return (cri_par){ k->v, k->n }; }

/* --- integrals over the support -------------------------------------------------------------- */

/* The integrand weight(x) p(x) in a variable u in which the density is tame: log (x - low) on
 * (low, inf) and (0, 1), sinh u around the median on the line, x itself elsewhere. */
typedef struct integral {
    const cr_dist_class *c;
    cri_par              p;
    double (*weight)(const struct integral *k, double x); /* NULL: 1 */
    const void *extra;
    int         map; /* 0: x = u, 1: x = centre + exp u, 2: x = centre + spread sinh u */
    double      centre, spread;
} integral;

static double map_point(const integral *k, double u)
{
    return k->map == 1 ? k->centre + exp(u) : k->map == 2 ? k->centre + k->spread * sinh(u) : u;
}

static double map_back(const integral *k, double x)
{
    return k->map == 1 ? log(x - k->centre) : k->map == 2 ? asinh((x - k->centre) / k->spread) : x;
}

static double map_integrand(double u, void *user)
{
    const integral *k = user;
    double          x = map_point(k, u), log_p = cri_dist_logpdf(k->c, k->p, x);
    double          log_slope = k->map == 1 ? u : k->map == 2 ? log(k->spread) + log(cosh(u)) : 0;
    double          density = exp(log_p + log_slope);
    if (density == 0 || (k->map == 1 && k->centre == 0 && x == 1))
        return 0; /* 1: the end of the unit interval */
    return k->weight ? density * k->weight(k, x) : density;
}

static inline integral make_integral(const cr_dist_class *c, cri_par p)
{
    double   low, high;
    integral k = { c, p, NULL, NULL, 0, 0, 1 };
    c->support(p, &low, &high);
    if (low == 0 || (isfinite(low) && high == INFINITY)) k.map = 1, k.centre = low;
    if (low == -INFINITY) {
        k.map = 2;
        k.centre = cri_dist_quantile(c, p, 0.5);
        k.spread = cri_dist_quantile(c, p, 0.75) - k.centre;
    }
    return k;
}

/* The integral from the lower end of the support to x; quantiles cut it into easy pieces. */
static inline double integrate_to(cr_ctx *cx, integral *k, double x)
{
    static const double cuts[] = {
        1e-30, 1e-12, 1e-5, 0.01, 0.2, 0.5, 0.8, 0.99, 0.99999, 1 - 1e-12
    };
    double low, high, sum = 0, part = 0;
    k->c->support(k->p, &low, &high);
    double from = k->map == 1 ? -708 : k->map == 2 ? -700 : low;
    double to = x < high      ? map_back(k, x)
                : k->map == 1 ? (high == 1 ? 0 : 709)
                : k->map == 2 ? 700
                              : high;
    enum { CUTS = sizeof cuts / sizeof *cuts };
    double tail = 0; /* how far the last cut lies from the one before: what comes is of that size */
    for (size_t i = 0; i <= CUTS + 4 && from < to; i++) {
        double next = i < CUTS       ? map_back(k, cri_dist_quantile(k->c, k->p, cuts[i]))
                      : i < CUTS + 4 ? from + tail
                                     : to;
        if (i < CUTS && next > from) tail = next - from;
        if (!(next > from)) continue;
        if (next > to) next = to;
        if (cr_integrate(cx, map_integrand, k, from, next, 1e-15, 1e-13, &part, NULL) != CR_OK)
            fail_msg("%s(%g, ...) from %g to %g: %s", k->c->name, k->p.v[0], map_point(k, from),
                     map_point(k, next), cr_error(cx));
        sum += part;
        from = next;
    }
    return sum;
}

#endif
