/* predictor.h -- what all Gaussian linear models know after a fit: a Student-t (or normal)
 * predictive distribution that is linear in the terms.
 *   u = (x - centre) / scale,   mean = at_centre + coef . (x - centre) = intercept + coef . x,
 *   variance = sigma^2 (1 + h(x)),   h(x) = mean_share + plain |u|^2 + sign |F u|^2,
 * F [r x p] a factor of the coefficients' covariance over sigma^2.  Of a category of many levels
 * (bordered.h) r is small, and  h(x) = mean_share + sum_j diagonal_j u_j^2 + |start + F u|^2.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_PREDICTOR_H
#define CREDENCE_MODELS_COMMON_PREDICTOR_H

#include "models/core/class.h"
#include "models/core/parameters.h"

/* clang-format off */
#define CRI_PREDICTOR(MEMBER)                                                                       \
    MEMBER(flag,   has_intercept, (),        "",            "whether there is one")                 \
    MEMBER(real,   intercept,     (),        "",            "the mean at x = 0")                    \
    MEMBER(real,   at_centre,     (),        "",            "the mean at x = centre, free of the cancellation in intercept") \
    MEMBER(real,   intercept_sd,  (),        ">=0 minus",   "NaN where there is none")              \
    MEMBER(count,  rank,          (),        "",            "of the factor: r")                     \
    MEMBER(real,   plain,         (),        "",            "of |u|^2")                             \
    MEMBER(real,   sign,          (),        "",            "of |F u|^2")                           \
    MEMBER(real,   mean_share,    (),        "",            "of an intercept")                      \
    MEMBER(real,   sigma,         (),        ">=0 minus",   "NaN where it is not known")            \
    MEMBER(real,   dof,           (),        "any endless", "infinite: normal")                     \
    MEMBER(count,  p,             (),        "found",       "terms")                                \
    MEMBER(vector, coef,          (p),       "",            "in the units of the terms")            \
    MEMBER(vector, coef_sd,       (p),       ">=0 minus",   "NaN where there is none")              \
    MEMBER(vector, centre,        (p),       "",            "of u")                                 \
    MEMBER(vector, scale,         (p),       ">0",          "of u")                                 \
    MEMBER(matrix, factor,        (rank, p), "",            "F")                                    \
    MEMBER(vector, diagonal,      (p),       ">=0 none told", "of a category of many levels")       \
    MEMBER(vector, start,         (rank),    "none",        "with the diagonal: the share of an intercept") \
    MEMBER(count,  q,             (),        "found",       "has_intercept + p, where there is `robust`") \
    MEMBER(matrix, robust,        (q, q),    "none told",   "a covariance that says more than F")   \
    MEMBER(count,  aliased,       (),        "found",       "terms without a coefficient of their own") \
    MEMBER(matrix, relations,     (aliased, p), "none told", "N (x - centre) = 0 in the rows of the fit")
/* clang-format on */

CRI_RECORD(cri_predictor, CRI_PREDICTOR);
extern const cri_member cri_predictor_record[];

cr_status cri_predictor_new(cr_ctx *cx, size_t p, size_t r, cri_predictor *out);
void      cri_predictor_free(cr_ctx *cx, cri_predictor *m);
/* Room for diagonal and start, all 0. */
cr_status cri_predictor_add_diagonal(cr_ctx *cx, cri_predictor *m);

/* A predictor of few terms becomes one of p: its term number j is which[j] of them; the others have
 * coefficient 0 and no sd. */
cr_status cri_predictor_widen(cr_ctx *cx, cri_predictor *m, const size_t *which, size_t p);

/* Sets intercept, and coef from coefficients b of u: coef = b / scale. */
void cri_predictor_set_coef(cri_predictor *m, const double *b, double offset);

/* The sds of intercept and coefficients from sigma, F and the rest, all of which are set. */
void cri_predictor_set_sds(cri_predictor *m);

/* Over the training rows: sum of w (y - mean)^2, the mean of w ((y - mean) / (1 - h))^2, which is
 * the error of leaving each row out with all its weight, and the largest leverage w h with its row.
 * O(n p r). */
typedef struct cri_fit_quality {
    double rss, loo, max_leverage;
    size_t max_row;
} cri_fit_quality;
cr_status cri_predictor_quality(cr_ctx *cx, const cri_predictor *m, const cri_rows *rows,
                                cri_fit_quality *out);

cr_status cri_predictor_predict(cr_ctx *cx, const cri_predictor *m, const cri_rows *rows,
                                cr_prediction *out);

/* Where the rows of the fit do not determine the mean of a row, as N (x - centre) is not 0 there: which[i] = 1 + a term
 * without a coefficient that makes the difference, else 0.  which [rows->n]; O(n p) for each such term. */
cr_status cri_predictor_undetermined(cr_ctx *cx, const cri_predictor *m, const cri_rows *rows,
                                     size_t *which);

/* Of a prediction with leverages: the scales become those of the mean, sigma sqrt(h), or by the covariance `robust` where
 * there is one.  O(n), or O(n q^2). */
cr_status cri_predictor_drop_noise(cr_ctx *cx, const cri_predictor *m, const cri_rows *rows,
                                   cr_prediction *out);

/* The scale, without noise, of the average over rows of the mean, and its degrees of freedom; NaN where the leverage is
 * not all in plain and F.  O(n p). */
cr_status cri_predictor_mean_spread(cr_ctx *cx, const cri_predictor *m, const cri_rows *rows,
                                    double *out_scale, double *out_dof);

/* What the sd of a parameter is: that of its posterior; or its standard error, with t and p or
 * without. */
typedef enum cri_shown { CRI_SHOW_POSTERIOR, CRI_SHOW_TESTS, CRI_SHOW_ERRORS } cri_shown;

/* "parameters": intercept, then one per term: name, value, sd, and, with tests, t and p. */
void cri_predictor_describe(const cri_predictor *m, const cr_design *design, cri_shown shown,
                            cri_sheet *out);

/* The same with intervals that reach this many standard errors to each side; or, with opt_dof [1 + p], as many as Student's
 * t with the degrees of freedom of each parameter does, that of the intercept first. */
void cri_predictor_describe_within(const cri_predictor *m, const cr_design *design, cri_shown shown,
                                   double reach, const double *opt_dof, cri_sheet *out);

/* Whether what a file holds is a predictor of p terms. */
bool cri_predictor_fits(const cri_predictor *m, size_t p);

#endif
