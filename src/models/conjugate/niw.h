/* niw.h -- the state of a multivariate normal model: a normal-inverse-Wishart prior, the sufficient
 * statistics of the rows, and the posterior that follows from both (see mvn.c for the formulas).
 * (Internal header.) */
#ifndef CREDENCE_MODELS_CONJUGATE_NIW_H
#define CREDENCE_MODELS_CONJUGATE_NIW_H

#include "univariate.h"

/* clang-format off */
#define CRI_NIW_STATE(MEMBER)                                                                      \
    MEMBER(count,  d,           (),     "",       "columns")                                       \
    MEMBER(real,   level,       (),     "0<..<1", "mass of the intervals that are shown")          \
    MEMBER(real,   prior_kappa, (),     ">=0",    "rows that the prior mean counts for")           \
    MEMBER(real,   prior_nu,    (),     ">=-1",   "degrees of freedom of the prior")               \
    MEMBER(vector, prior_mean,  (d),    "",       "of the prior")                                  \
    MEMBER(vector, prior_scale, (d),    ">=0",    "diagonal of Psi of the prior")                  \
    MEMBER(real,   n,           (),     ">=0",    "sum of the weights")                            \
    MEMBER(vector, xbar,        (d),    "",       "mean of the rows")                              \
    MEMBER(matrix, scatter,     (d, d), "",       "sum of w (x - xbar)(x - xbar)^T")               \
    MEMBER(real,   kappa,       (),     "made",   "of the posterior, as all that follow")          \
    MEMBER(real,   nu,          (),     "made",   "degrees of freedom")                            \
    MEMBER(real,   log_evidence, (),    "made",   "NaN where the prior is improper")               \
    MEMBER(vector, mean,        (d),    "made",   "of the posterior")                              \
    MEMBER(matrix, Psi,         (d, d), "made",   "of the posterior")                              \
    MEMBER(matrix, L,           (d, d), "made",   "Cholesky factor of Psi")
/* Of these, what merges. */
#define CRI_NIW_SUMS(MEMBER)                                                                       \
    MEMBER(count,  d,           (),     "",       "")                                              \
    MEMBER(real,   n,           (),     ">=0",    "")                                              \
    MEMBER(vector, xbar,        (d),    "",       "")                                              \
    MEMBER(matrix, scatter,     (d, d), "",       "")
/* clang-format on */

CRI_RECORD(cri_niw, CRI_NIW_STATE);
extern const cri_member cri_niw_record[], cri_niw_sums_record[];

/* A state of d columns with nothing in it. */
cr_status cri_niw_new(cr_ctx *cx, size_t d, cri_niw **out);
/* true when the prior is. */
bool cri_niw_proper(const cri_niw *m);
/* The statistics of rows: two passes, same bits for any number of threads.  O(n d^2). */
cr_status cri_niw_gather(cr_ctx *cx, const void *state, const cri_rows *rows, const void *options,
                         void *sums);
cr_status cri_niw_merge(cr_ctx *cx, const void *state, void *a, const void *b);
/* The posterior and the evidence.  Fails with CR_EDATA when the posterior is improper. */
cr_status cri_niw_solve(cr_ctx *cx, cri_niw *m);
/* The posterior of a state that was read. */
cr_status cri_niw_ready(cr_ctx *cx, void *state, const cr_design *design);

#endif
