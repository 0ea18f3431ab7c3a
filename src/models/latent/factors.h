/* factors.h -- a normal distribution of few hidden factors: what probabilistic PCA and factor analysis share.
 *   t = (x - centre) / scale = W^T z + e,   z ~ N(0, I_q),   e ~ N(0, diag psi),   W [q x p]
 *   t ~ N(0, S),  S = W^T W + diag psi;   z | t ~ N(M^-1 b, M^-1),  M = I + W diag(psi)^-1 W^T,  b = W diag(psi)^-1 t
 *   log|S| = log|M| + sum log psi,   t . S^-1 t = t . diag(psi)^-1 t - b . M^-1 b
 * O(p q) for a row.  Cells that are missing are integrated out: the same with the columns that are there, O(p q^2).
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_FACTORS_H
#define CREDENCE_MODELS_LATENT_FACTORS_H

#include "models/common/coordinates.h"
#include "models/core/class.h"

/* clang-format off */
#define CRI_FACTORS(MEMBER)                                                                        \
    MEMBER(count,  p,       (),     "",   "terms")                                                 \
    MEMBER(count,  q,       (),     ">0", "factors")                                               \
    MEMBER(vector, centre,  (p),    "",   "means of the terms")                                    \
    MEMBER(vector, scale,   (p),    ">0", "what they are divided by")                              \
    MEMBER(matrix, loading, (q, p), "",   "W")                                                     \
    MEMBER(vector, psi,     (p),    ">0", "variances of what is not shared")
/* clang-format on */

/* Beside them, what follows: made by cri_factors_ready. */
CRI_RECORD(cri_factors, CRI_FACTORS,
           double         *L;            /* [q x q] Cholesky factor of M                        */
           double          log_constant; /* of the density of x                                 */
           cri_coordinates at;);
extern const cri_member cri_factors_record[];

/* What follows from the members of the record; fails with CR_EDATA where they belong to no distribution. */
cr_status cri_factors_ready(cr_ctx *cx, cri_factors *m, size_t terms);
/* Frees what cri_factors_ready has made. */
void cri_factors_release(cr_ctx *cx, cri_factors *m);

/* --- rows with missing cells (factors_gaps.c) ---------------------------------------------- */

/* true when a cell of the rows is missing. */
bool cri_rows_have_gaps(const cri_rows *rows);
/* Of a row t [p] with NaN where a cell is missing: its log density, up to what scaling takes off (out of t, not x); z [q]
 * its mean, and L [q x q] the factor of M for the cells that are there.  Pure. */
double cri_factors_score_gaps(const cri_factors *m, const double *t, double *z, double *L);

/* Sets loading [q x p] and psi [p] to those best for a covariance C [p x p] of n rows, in scaled terms. */
typedef cr_status cri_factors_solve_fn(cr_ctx *cx, void *user, const double *C, double n,
                                       cri_factors *m);
typedef struct cri_gaps_options {
    double tol; /* stop when a step gains less than this per row */
    size_t max_iter;
    bool   standardise;
    bool   warm; /* goes on from the centre, scale, loading and psi that are there */
} cri_gaps_options;
typedef struct cri_gaps_report {
    double  log_likelihood, n;
    double *C; /* [p x p] the expected covariance, scaled, of the caller */
    size_t  iterations;
    bool    converged, cut; /* cut: by the time limit */
} cri_gaps_report;
/* EM over missing cells: centre, scale, loading and psi of `m`, whose p and q are set and arrays allocated.  A step
 * fills the gaps by what is expected, with its covariance, and solves for the next; the log likelihood of the cells
 * that are there never falls.  Columns without any cell are refused.  O(n p^2) for a step. */
cr_status cri_factors_fit_gaps(cr_ctx *cx, const cri_rows *rows, const cri_gaps_options *options,
                               cri_factors_solve_fn *solve, void *user, cri_factors *m,
                               cri_gaps_report *out);

/* --- answers --------------------------------------------------------------------------------- */

/* As of a class that has them: means of z in out->vector, and the log density of x. */
cr_status cri_factors_predict(cr_ctx *cx, const cri_factors *m, const cri_rows *rows,
                              cr_prediction *out);
/* x = centre + scale W^T z, at distance 0. */
cr_status cri_factors_reconstruct(cr_ctx *cx, const cri_factors *m, const double *Z, size_t n,
                                  double *out, double *distance);
cr_status cri_factors_sample(cr_ctx *cx, const cri_factors *m, size_t count, uint64_t seed,
                             double *out);
/* The distribution of each column of the next row: mean and sd. */
void cri_factors_next(const cri_factors *m, cr_prediction *out);
/* sd [q] of z given a row, the same for all rows. */
void cri_factors_score_sds(const cri_factors *m, double *out);

#endif
