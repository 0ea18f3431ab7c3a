/* bordered.h -- the equations of a linear model with one category of many levels.
 *   Z = [V C],   C [n x levels] the indicators of one category over their scales, at most one entry
 *   in a row; V [n x m] the intercept, which is not penalised, and all other terms.
 *   A = Z'WZ + lambda I = [S B'; B D],   D diagonal   [levels]
 *   T = S - B' D^-1 B = L L'   [m x m]: the levels are eliminated first, which fills nothing in.
 *   A^-1 r:   b_V = T^-1 (r_V - B' D^-1 r_C),   b_C = D^-1 (r_C - B b_V)
 *   u' A^-1 u = sum_j u_j^2 / D_j + |L^-1 (u_V - B' D^-1 u_C)|^2,
 * the leverage of predictor.h with D^-1 for its diagonal.  Terms of V with few zeros are centred,
 * the others stay sparse; with an intercept this is but another parametrisation.
 * O(n e^2 + levels m^2 + m^3) for rows of e entries, where dense equations take O(n p^2 + p^3).
 * Golub & Van Loan (2013), Matrix Computations, sec. 4.2.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_BORDERED_H
#define CREDENCE_MODELS_LINEAR_BORDERED_H

#include "models/common/predictor.h"
#include "sparse_terms.h"

/* The terms first .. first + levels - 1 are the indicators of one category. */
typedef struct cri_level_run {
    size_t first, levels;
} cri_level_run;

/* The largest category of a design without sparse columns; levels = 0 where there is none. */
cri_level_run cri_largest_category(const cr_design *design);
/* Whether the equations of these rows are better solved this way: more terms than a dense factor
 * is kept of, nearly all of them the levels of one category. */
bool cri_bordered_pays(const cri_rows *rows);
/* The same of equations that are solved again and again, without a factor that is kept: more terms than so many. */
bool cri_bordered_beats(const cri_rows *rows, size_t terms);

typedef struct cri_bordered {
    const cri_sparse_terms *z;
    cri_level_run           run;
    size_t                  m; /* intercept and the terms that are not of the run */
    bool                    intercept;
    double *centre;    /* [p] of the terms as they are here: 0 for those that stay sparse */
    double *S;         /* [m x m], its lower triangle                                     */
    double *B;         /* [levels x m]                                                    */
    double *d;         /* [levels] of D, without the penalty                              */
    double *g;         /* [m + levels] Z'Wt: those of V, then those of C                  */
    double *D, *L;     /* of the last factor                                              */
    double *workspace; /* [levels x m]                                                    */
    size_t *place;     /* [p] of each term in the order of g                              */
} cri_bordered;

/* The equations, in the arena; `z` must outlive them. */
cr_status cri_bordered_new(cr_ctx *cx, cr_scratch *s, const cri_sparse_terms *z, cri_level_run run,
                           bool intercept, cri_bordered *out);
/* The same straight from rows with one category of many levels, which are opened as entries:
 * *out_view, to be closed by cri_rows_close_entries also after a failure, which leaves it empty or
 * open; and their terms, standardised as the design says.  All three must outlive the equations. */
cr_status cri_bordered_open(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, bool intercept,
                            cri_rows *out_view, cri_sparse_terms *out_z, cri_bordered *out);
/* *out_good = false where A is not positive definite in double precision. */
cr_status cri_bordered_factor(cr_ctx *cx, cri_bordered *b, double lambda, bool *out_good);
/* x [m + levels] = A^-1 x. */
cr_status cri_bordered_solve(cr_ctx *cx, const cri_bordered *b, double *x);
/* Reciprocal condition, about, of Z'WZ with all terms centred (lambda = 0 in the last factor): one
 * norm, that of the inverse by Hager's estimate (1984, SIAM J. Sci. Stat. Comput. 5). */
cr_status cri_bordered_rcond(cr_ctx *cx, const cri_bordered *b, double *out);

/* opt_out [m + levels] = Z'W e and *out_rss = e'We, e = t - Z x. */
cr_status cri_bordered_residuals(cr_ctx *cx, const cri_bordered *b, const double *x,
                                 double *opt_out, double *out_rss);
/* A predictor with coefficients from x [m + levels], and with the leverages of the last factor. */
cr_status cri_bordered_predictor(cr_ctx *cx, const cri_bordered *b, const double *x,
                                 cri_predictor *out);

/* The answer at one lambda: with G = Z'WZ of the terms, centred where there is an intercept,
 *   b = (G + lambda I)^-1 Z'Wt,   square = |b|^2,   rss = |t - Z b|^2 from the rows,
 *   trace = tr (G + lambda I)^-1,   logdet = ln |G + lambda I|. */
typedef struct cri_bordered_answer {
    bool   good; /* false, and nothing else set, where A is not positive definite */
    double square, rss, trace, logdet;
} cri_bordered_answer;
/* Factors, and fills x [m + levels].  O(n e + levels m^2 + m^3). */
cr_status cri_bordered_at(cr_ctx *cx, cri_bordered *b, double lambda, double *x,
                          cri_bordered_answer *out);

#endif
