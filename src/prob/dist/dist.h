/* dist.h -- probability distributions, each known by a descriptor.
 *     const cr_dist_class *beta = cr_dist_find(cx, "beta");
 *     double p[] = { 12, 3 }, below;
 *     cr_dist_cdf(cx, beta, p, 2, 0.8, &below);
 * The parameters of a distribution are one array, in the order of its declaration, vectors and
 * matrices (row-major) laid out one after the other; the dimension follows from the length.  Every
 * call checks them and refuses one that is out of its domain, or not a number, with CR_EARG; what a
 * distribution does not offer is CR_EUNSUPPORTED; what does not exist for these parameters (the
 * mean of a Student-t with one degree of freedom) is CR_ENUMERIC.  Outputs are then as before.
 * Densities work in logarithms and are sharp (about 1e-14 relative) for large counts and far tails.
 * Johnson, Kotz, Kemp & Balakrishnan, "Distributions in Statistics", 4 vols. */
#ifndef CREDENCE_PROB_DIST_H
#define CREDENCE_PROB_DIST_H

#include "base/context.h"
#include "base/rng.h"

typedef struct cr_dist_class cr_dist_class;

typedef enum cr_shape { CR_SHAPE_SCALAR, CR_SHAPE_VECTOR, CR_SHAPE_MATRIX } cr_shape;

typedef struct cr_dist_param {
    const char *name;
    const char *domain; /* ">0", "0..1", "any number", "whole, >=0", ... */
    const char *help, *example;
    cr_shape    shape;
    bool        given;    /* is not fitted, but given: the number of trials */
    bool        standard; /* when left out it is its example: location 0, scale 1 */
} cr_dist_param;

/* --- the registry ---------------------------------------------------------------------------- */

/* How many distributions there are. */
CR_API size_t cr_dist_count(void);
/* The i-th in alphabetical order, i < cr_dist_count(). */
CR_API const cr_dist_class *cr_dist_at(size_t i);
/* The distribution called name; NULL, with the nearest name in the failure, if there is none. */
CR_API const cr_dist_class *cr_dist_find(cr_ctx *cx, const char *name);

/* The name of a distribution: "student-t".  This text and those below are constants. */
CR_API const char *cr_dist_name(const cr_dist_class *c);
/* What it is, in one line. */
CR_API const char *cr_dist_summary(const cr_dist_class *c);
/* Its density or mass as a formula in plain text. */
CR_API const char *cr_dist_formula(const cr_dist_class *c);
/* The book or paper it follows. */
CR_API const char *cr_dist_reference(const cr_dist_class *c);
/* Where it can lie, in plain text. */
CR_API const char *cr_dist_support_text(const cr_dist_class *c);
/* true for distributions of counts and categories, which have a mass instead of a density. */
CR_API bool cr_dist_is_discrete(const cr_dist_class *c);
/* true for distributions of vectors and matrices, which have the cr_dist_vector_* calls. */
CR_API bool cr_dist_is_vector(const cr_dist_class *c);
/* The i-th parameter, NULL past the last. */
CR_API const cr_dist_param *cr_dist_parameter(const cr_dist_class *c, size_t i);
/* true when it offers "logpdf", "cdf", "quantile", "mean", "mode", "variance", "entropy", "sample",
 * "fit", "kl" or "natural". */
CR_API bool cr_dist_offers(const cr_dist_class *c, const char *what);

/* --- parameters ------------------------------------------------------------------------------ */

/* Only checks the n parameters.  Fails with CR_EARG naming parameter, value and domain. */
CR_API cr_status cr_dist_check(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n);
/* The ends of the support; the whole numbers between them when it is discrete. */
CR_API cr_status cr_dist_support(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                                 double *out_low, double *out_high);

/* --- one variable ---------------------------------------------------------------------------- */

/* The log density, or log mass, at x; -INFINITY outside the support. */
CR_API cr_status cr_dist_logpdf(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                                double x, double *out);
/* P(X <= x). */
CR_API cr_status cr_dist_cdf(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                             double x, double *out);
/* P(X > x), not as one less the other tail. */
CR_API cr_status cr_dist_sf(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                            double x, double *out);
/* log P(X <= x), also where that is too small for a double. */
CR_API cr_status cr_dist_logcdf(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                                double x, double *out);
/* log P(X > x), likewise. */
CR_API cr_status cr_dist_logsf(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                               double x, double *out);
/* The least x of the support with P(X <= x) >= p, 0 <= p <= 1. */
CR_API cr_status cr_dist_quantile(cr_ctx *cx, const cr_dist_class *c, const double *params,
                                  size_t n, double p, double *out);
/* "pdf", "logpdf", "cdf", "sf", "logcdf", "logsf" or "quantile" at `count` points: out [count].  Fails as these
 * do, with CR_EARG for another name. */
CR_API cr_status cr_dist_points(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                                const char *quantity, const double *x, size_t count, double *out);
/* The mean. */
CR_API cr_status cr_dist_mean(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                              double *out);
/* The mode; the least of them, if there are several in a row. */
CR_API cr_status cr_dist_mode(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                              double *out);
/* The variance. */
CR_API cr_status cr_dist_variance(cr_ctx *cx, const cr_dist_class *c, const double *params,
                                  size_t n, double *out);
/* The entropy in nats. */
CR_API cr_status cr_dist_entropy(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                                 double *out);
/* The central interval, which leaves (1 - mass) / 2 on each side; of counts at least `mass`. */
CR_API cr_status cr_dist_interval(cr_ctx *cx, const cr_dist_class *c, const double *params,
                                  size_t n, double mass, double *out_low, double *out_high);
/* The shortest interval, which is the region of highest density where that is one; of counts at
 * least `mass`. */
CR_API cr_status cr_dist_hdi(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                             double mass, double *out_low, double *out_high);
/* Draws `count` independent values. */
CR_API cr_status cr_dist_sample(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                                cr_rng *rng, size_t count, double *out);
/* Kullback-Leibler divergence from p to q, E_p[log p(x) / q(x)] >= 0, within the family.  Where it
 * is an integral (student-t, logistic) it fails with CR_ENUMERIC when that does not converge. */
CR_API cr_status cr_dist_kl(cr_ctx *cx, const cr_dist_class *c, const double *p, size_t n_p,
                            const double *q, size_t n_q, double *out);

/* Maximum likelihood from N values with weights (NULL: all 1).  params holds, on entry, those that
 * are `given`, and gets the others; it and *opt_loglik (the weighted log-likelihood there) are left
 * as they were on failure.  CR_EDATA for values the family cannot give, or for which no estimate
 * exists (the spread of equal values). */
CR_API cr_status cr_dist_fit(cr_ctx *cx, const cr_dist_class *c, const double *x,
                             const double *opt_weights, size_t N, double *params, size_t n,
                             double *opt_loglik);

/* --- exponential families: p(x) = h(x) exp(eta . T(x) - A(eta)) ------------------------------ */

/* How many natural parameters there are for n parameters; 0 when there are none. */
CR_API size_t cr_dist_natural_count(const cr_dist_class *c, size_t n);
/* The name of the i-th statistic, "x[1] x[2]", into out [size], cut to fit. */
CR_API void cr_dist_statistic_name(const cr_dist_class *c, size_t n, size_t i, char *out,
                                   size_t size);
/* Natural parameters, the mean of the statistics, each [count], and the log-partition A; of vectors
 * and matrices too.  A symmetric matrix counts once for each pair: its statistics are the entries
 * on and above the diagonal, row by row. */
CR_API cr_status cr_dist_natural(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                                 double *out_eta, double *out_mean, double *out_log_partition);

/* --- vectors and matrices -------------------------------------------------------------------- */

/* The length of a point (a matrix counts all its entries) when there are n parameters; 0 when n
 * does not fit. */
CR_API size_t cr_dist_point_size(const cr_dist_class *c, size_t n);
/* How many parameters there are when a point has this length; 0 when no point has. */
CR_API size_t cr_dist_parameters_for(const cr_dist_class *c, size_t point_size);
/* Log densities of `count` points, x [count x size]. */
CR_API cr_status cr_dist_vector_logpdf(cr_ctx *cx, const cr_dist_class *c, const double *params,
                                       size_t n, const double *x, size_t count, double *out);
/* The mean of each entry [size]. */
CR_API cr_status cr_dist_vector_mean(cr_ctx *cx, const cr_dist_class *c, const double *params,
                                     size_t n, double *out);
/* The mode [size]. */
CR_API cr_status cr_dist_vector_mode(cr_ctx *cx, const cr_dist_class *c, const double *params,
                                     size_t n, double *out);
/* The variance of each entry [size]. */
CR_API cr_status cr_dist_vector_variance(cr_ctx *cx, const cr_dist_class *c, const double *params,
                                         size_t n, double *out);
/* The entropy in nats, one number. */
CR_API cr_status cr_dist_vector_entropy(cr_ctx *cx, const cr_dist_class *c, const double *params,
                                        size_t n, double *out);
/* Draws `count` points, out [count x size]. */
CR_API cr_status cr_dist_vector_sample(cr_ctx *cx, const cr_dist_class *c, const double *params,
                                       size_t n, cr_rng *rng, size_t count, double *out);
/* Kullback-Leibler divergence between two of the same dimension. */
CR_API cr_status cr_dist_vector_kl(cr_ctx *cx, const cr_dist_class *c, const double *p,
                                   const double *q, size_t n, double *out);
/* Maximum likelihood from N points, x [N x size], with weights (NULL: all 1); else as cr_dist_fit.
 */
CR_API cr_status cr_dist_vector_fit(cr_ctx *cx, const cr_dist_class *c, const double *x,
                                    const double *opt_weights, size_t N, double *params, size_t n,
                                    double *opt_loglik);

#endif
