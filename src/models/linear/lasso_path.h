/* lasso_path.h -- the elastic net along a path of lambdas, on all rows and by cross-validation.
 * lambda falls from the least that makes all coefficients 0 by a constant factor; each solution
 * starts from the one before.  In cross-validation every fold standardises its own training rows
 * and follows the same lambdas; the error of a fold is the mean of w (y - mean)^2 over the rows
 * left out; means over folds are weighted by their weights, with
 *   se = sqrt(weighted mean of (error of a fold - mean)^2 / (folds - 1)).
 * The folds are worked on side by side.  With as many terms as rows the path ends early: when all
 * but 0.1 % of the target is explained (a fold then stays where it is), or, by columns, when the error of the folds was least 20
 * lambdas ago and is now more than two standard errors above that.  Friedman, Hastie & Tibshirani
 * (2010), sec. 2.5; Hastie, Tibshirani & Friedman (2009), sec. 7.10. (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_LASSO_PATH_H
#define CREDENCE_MODELS_LINEAR_LASSO_PATH_H

#include "descent.h"

typedef struct cri_path_settings {
    cri_descent_settings descent;
    bool     intercept, standardise, gram; /* gram: by cross-products, else by columns   */
    bool     wants_df;    /* df of every lambda, also where that costs more than the solution */
    size_t   lambdas;     /* on the whole path                                       */
    double   least_ratio; /* of the last lambda to the first                         */
    double   lambda;      /* where the path ends; NaN = it runs to the last          */
    size_t   folds;       /* 0 = no cross-validation                                 */
    uint64_t seed;
} cri_path_settings;

/* L lambdas, m terms that are not 0 somewhere; coefficients are of the standardised terms. */
/* clang-format off */
#define CRI_LASSO_PATH(MEMBER)                                                                      \
    MEMBER(count,  L,          (),     ">0 as:path_lambdas", "lambdas")                             \
    MEMBER(count,  m,          (),     "as:path_terms",      "number of nonzero terms somewhere")      \
    MEMBER(count,  folds,      (),     "",                   "0 = no cross-validation")             \
    MEMBER(count,  sweeps,     (),     "",                   "of all lambdas")                      \
    MEMBER(real,   lambda_max, (),     "",                   "the first that leaves all terms 0")   \
    MEMBER(real,   weight,     (),     ">0",                 "of the rows: W")                      \
    MEMBER(real,   offset,     (),     "",                   "the mean of the target")              \
    MEMBER(real,   tt,         (),     "as:target_mse",      "mean of w (y - offset)^2")            \
    MEMBER(real,   violation,  (),     "any none as:path_violation", "the largest on the path")     \
    MEMBER(flag,   converged,  (),     "",                   "everywhere")                          \
    MEMBER(vector, lambda,     (L),    "any as:path/lambda", "falling")                             \
    MEMBER(vector, nonzero,    (L),    ">=0 as:path/nonzero", "terms")                              \
    MEMBER(vector, df,         (L),    "any as:path/df",     "without the intercept; -1 where it was not worth it") \
    MEMBER(vector, mse,        (L),    "any as:path/mse",    "residual sum of squares / W")         \
    MEMBER(vector, cv,         (L),    "any as:path/cv",     "error by cross-validation; 0 without folds") \
    MEMBER(vector, cv_se,      (L),    "any as:path/cv_se",  "its standard error")                  \
    MEMBER(vector, terms,      (m),    "rises as:path/terms", "of the design")                      \
    MEMBER(matrix, coef,       (L, m), "any as:path/coef",   "of the standardised terms")
/* clang-format on */
CRI_RECORD(cri_lasso_path, CRI_LASSO_PATH, size_t p;);
extern const cri_member cri_lasso_path_record[];

/* What stands at the end of the path: the solver and the data it works on. */
typedef struct cri_path_end {
    cri_descent descent;
    cri_gram    gram;    /* empty when solved by columns */
    cri_columns columns; /* in the arena, but for sparse entries */
} cri_path_end;
/* Frees what is not in the arena. */
void cri_path_end_free(cr_ctx *cx, cri_path_end *end);

/* Follows the path.  *out_path has memory of its own, *out_end lives in `s` but for what
 * cri_path_end_free frees; both are untouched on failure.  O(n p^2 + L m^2 sweeps) by
 * cross-products, O(L (sweeps n m + n p)) by columns, and as much for each fold. */
cr_status cri_lasso_path_follow(cr_ctx *cx, cr_scratch *s, const cri_rows *rows,
                                const cri_path_settings *settings, cri_lasso_path *out_path,
                                cri_path_end *out_end);
void      cri_lasso_path_free(cr_ctx *cx, cri_lasso_path *path);

/* The first lambda of the least error by cross-validation; and the first whose error is within one
 * standard error of that. */
size_t cri_lasso_path_least(const cri_lasso_path *path);
size_t cri_lasso_path_one_se(const cri_lasso_path *path);

/* The Cholesky factor of the products of the terms at one lambda, from which that at the next is
 * made: those that stayed since a longer time come first, and what is factored of them stays. */
typedef struct cri_lasso_factor {
    size_t  most, k; /* terms there is room for, and that are factored */
    size_t *terms;   /* [most]                                         */
    double *L;       /* [most x most]                                  */
} cri_lasso_factor;
/* true when the k <= most terms are clearly independent: the factor, which is then theirs, keeps
 * digits of every one.  s is for workspace; false as well where it has none.  O(k^2) for each term
 * that is new or comes after one that left. */
bool cri_lasso_independent(cri_lasso_factor *f, cr_scratch *s, const cri_descent *d,
                           const size_t *terms, size_t k);

/* Degrees of freedom tr G (G + l2 I)^-1 of k terms, for l2 = 0 the rank of G (Tibshirani & Taylor
 * 2012, Ann. Statist. 40); G [k x k] is overwritten.  -1 when it is singular, or s has no room. */
double cri_lasso_df(cr_scratch *s, double *G, size_t k, double l2);

#endif
