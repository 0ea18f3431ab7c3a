/* ridge_sparse.h -- ridge on sparse rows with more terms than a p x p matrix can hold.
 * Few rows:   the dual, n x n;   K = Z Z' + lambda I = L L',   b = Z' K^-1 t.  The rows are kept
 * with
 *             the model, by their entries, and with L give every leverage exactly:
 *               h(x) = share of the mean + (|u|^2 - |L^-1 Z u|^2) / lambda,   u = (x - centre) / scale
 * Many rows:  products with the rows alone; LSQR (sparse_solve.h), or with fewer rows than columns
 *             conjugate gradients in the dual (sparse_dual.h).  The effective degrees of freedom
 *             are estimated, sds of the coefficients are not to be had, and every row is given the
 *             mean leverage, df / n.
 * Z, t as in sparse_terms.h.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_RIDGE_SPARSE_H
#define CREDENCE_MODELS_LINEAR_RIDGE_SPARSE_H

#include "models/common/predictor.h"
#include "sparse_terms.h"

/* The rows of a fit in the dual: entries of row i are start[i] .. start[i + 1] - 1. */
/* clang-format off */
#define CRI_KEPT_ROWS(MEMBER)                                                                       \
    MEMBER(count,  n,       (),        "as:kept_rows",       "0: no rows are kept")                 \
    MEMBER(count,  starts,  (),        "as:kept_starts",     "n + 1")                               \
    MEMBER(count,  entries, (),        "as:kept_entries",    "of all rows")                         \
    MEMBER(real,   lambda,  (),        ">0 as:kept_lambda",  "the penalty")                         \
    MEMBER(index,  start,   (starts),  "rises as:kept/start", "of each row")                        \
    MEMBER(index,  column,  (entries), "as:kept/column",     "of each entry")                       \
    MEMBER(vector, value,   (entries), "as:kept/value",      "of each entry")                       \
    MEMBER(vector, root,    (n),       "as:kept/root",       "sqrt(w)")                             \
    MEMBER(matrix, L,       (n, n),    "as:kept/factor",     "Cholesky factor of the dual")
/* clang-format on */
CRI_RECORD(cri_kept_rows, CRI_KEPT_ROWS);
extern const cri_member cri_kept_rows_record[];

typedef struct cri_ridge_facts {
    double df, df_se; /* with the intercept; se 0 where it is exact */
    double rss, loocv, weight, tt;
    size_t iterations;
    bool   converged;
    bool   cg;       /* by conjugate gradients */
    bool   by_prior; /* the noise: see cri_ridge_set_noise */
} cri_ridge_facts;

/* auto: conjugate gradients where they pay, and LSQR from there where rounding stops them. */
typedef enum cri_products { CRI_PRODUCTS_AUTO, CRI_PRODUCTS_LSQR, CRI_PRODUCTS_CG } cri_products;

typedef struct cri_ridge_problem {
    const cri_rows *rows;
    double          lambda;
    bool            intercept, standardise;
    uint64_t        seed;
    cri_products    products;
} cri_ridge_problem;

/* sigma and dof of a fit with coefficients: from the residuals, with weight - df degrees of freedom; or, where fewer
 * than one is left of them, from the prior that the penalty stands for, b ~ N(0, sigma^2 / lambda), under which
 * (rss + lambda |b|^2) / sigma^2 is chi-square with one degree of freedom for each row but that of the intercept.
 * true in the second case. */
bool cri_ridge_set_noise(double weight, double df, double rss, double lambda, cri_predictor *fit);

/* Coefficients, sds where n^2 p operations can be afforded (else NaN), and the rows for leverages.
 * lambda must be above 0. */
cr_status cri_ridge_dual_sparse(cr_ctx *cx, const cri_ridge_problem *problem,
                                cri_predictor *out_fit, cri_kept_rows *out_kept,
                                cri_ridge_facts *out_facts);
/* Coefficients; *out_singular where lambda is 0 and they are not unique.  Conjugate gradients need
 * lambda above 0. */
cr_status cri_ridge_products(cr_ctx *cx, const cri_ridge_problem *problem, cri_predictor *out_fit,
                             cri_ridge_facts *out_facts, bool *out_singular);

/* Copies the rows with L [n x n], L L' = Z Z' + lambda I. */
cr_status cri_kept_rows_new(cr_ctx *cx, const cri_sparse_terms *z, const double *L, double lambda,
                            cri_kept_rows *out);
/* The sd of the intercept, which is the mean at x = 0, a row without entries. */
cr_status cri_kept_rows_set_intercept_sd(cr_ctx *cx, const cri_kept_rows *kept, cri_predictor *fit);
/* Leverage, scale and dof of sparse rows. */
cr_status cri_kept_rows_spread(cr_ctx *cx, const cri_kept_rows *kept, const cri_predictor *fit,
                               const cri_rows *rows, cr_prediction *out);
/* Frees the arrays. */
void cri_kept_rows_free(cr_ctx *cx, cri_kept_rows *kept);
/* Whether what a file holds are rows of p columns. */
bool cri_kept_rows_fit(const cri_kept_rows *kept, size_t p);

#endif
