/* gaussian_internal.h -- what the two forms share: objects, checks, factors.  (Internal header.) */
#ifndef CREDENCE_PROB_GAUSSIAN_INTERNAL_H
#define CREDENCE_PROB_GAUSSIAN_INTERNAL_H

#include "gaussian.h"
#include "math/constants.h"

static inline cr_cmat cri_square(const double *a, size_t d) { return cr_cmat_of(a, d, d); }

/* Part of a variance that rounding alone may leave of nothing. */
static inline double cri_rounding(size_t d) { return 8 * (double)d * 0x1p-52; }

/* Objects of d variables, all zeros.  CR_ENOMEM. */
cr_status cri_gaussian_alloc(cr_ctx *cx, size_t d, cr_gaussian **out);
cr_status cri_canonical_alloc(cr_ctx *cx, size_t d, cr_canonical **out);

/* `what` has entries that are finite: CR_EARG names the first that is not. */
cr_status cri_check_finite(cr_ctx *cx, const char *what, const double *x, size_t n);
/* out [d x d] = A, whose triangles may differ by rounding and are averaged; CR_EARG when it is not
 * d x d, not finite or not symmetric.  out may be NULL: only the check. */
cr_status cri_copy_symmetric(cr_ctx *cx, const char *what, cr_cmat A, size_t d, double *out);
/* A [d x d], symmetric, is positive semidefinite within rounding; else CR_EARG. */
cr_status cri_check_semidefinite(cr_ctx *cx, const char *what, const double *A, size_t d);
/* The two have the same number of variables. */
cr_status cri_check_same_size(cr_ctx *cx, size_t a, size_t b);
/* index [k]: different numbers below d.  rest [d - k] gets the others in rising order. */
cr_status cri_split_indices(cr_ctx *cx, const size_t *index, size_t k, size_t d, size_t *rest);

/* L [d x d] = the Cholesky factor of A, zeros above the diagonal.  CR_ENUMERIC: `what` is not
 * positive definite, or singular within rounding; names the variable, opt_index[i] if given. */
cr_status cri_gaussian_factor(cr_ctx *cx, const char *what, const double *A, size_t d,
                              const size_t *opt_index, double *L);
/* The same, where a pivot must be more than the share `least` of its variance as well; the variable
 * to blame goes to *out_tied. */
cr_status cri_gaussian_factor_least(cr_ctx *cx, const char *what, const double *A, size_t d,
                                    const size_t *opt_index, double least, double *L,
                                    size_t *out_tied);
/* F [d x d], of which *out_rank columns count, with F F' = A, for A that is positive semidefinite:
 * Cholesky with pivoting, on the scale of the variances (Higham 2002, sec. 10.3).  W [d x d] is
 * overwritten.  Returns d, or the number of a variable whose variance would be negative. */
size_t cri_semidefinite_factor(const double *A, size_t d, double *W, double *F, size_t *out_rank);

/* out [rows x cols] = A [rows[i], cols[j]] of A [d x d]. */
void cri_pick(const double *A, size_t d, const size_t *rows, size_t n_rows, const size_t *cols,
              size_t n_cols, double *out);
/* |L^-1 z|^2; z [d] becomes L^-1 z. */
cr_status cri_whitened_square(cr_ctx *cx, const double *L, size_t d, double *z, double *out);
/* log N(x; mean, L L'); z [d] is overwritten and starts as x - mean. */
cr_status cri_log_density_at(cr_ctx *cx, const double *L, size_t d, double *z, double *out);
/* cr_gaussian_condition, where a variable that is seen keeps more than the share `least` of its
 * variance given the others; CR_ENUMERIC: *out_tied does not. */
cr_status cri_gaussian_condition(cr_ctx *cx, const cr_gaussian *g, const size_t *seen, size_t k,
                                 const double *values, double least, cr_gaussian **out,
                                 double *opt_log_density, size_t *out_tied);
/* Makes S [d x d] exactly symmetric. */
void cri_symmetrise(double *S, size_t d);

#endif
