/* classifier.h -- a fitted linear classifier: what logistic and probit share.
 *   eta_m = theta_m . z,   z = (1, (x - centre) / scale),   m = 0 .. M-1
 * Two classes need one vector of coefficients (that of the second class against the first).  More
 * classes have K - 1 against the first without a penalty, K with one; probit has K, one against the
 * rest each.  (Internal header.) */
#ifndef CREDENCE_MODELS_LOGISTIC_CLASSIFIER_H
#define CREDENCE_MODELS_LOGISTIC_CLASSIFIER_H

#include "../class.h"
#include "separation.h"

typedef struct cri_classifier {
    size_t  p, q, K, M, q1; /* q1 = p + 1                                                */
    size_t  link, solver, separation;
    bool    intercept, full, tests, information; /* information: sds come from the data alone */
    double *centre, *scale;   /* [p]                                                       */
    double *theta;            /* [M x q] of z                                              */
    double *sd;               /* [M x q1] in the units of the data, intercept first; -1 = none */
    double *place;            /* [K] vector of a class; M: the reference; -1: not in the data */
    double *blame;            /* [q] 1 where the column separates the classes              */
    double *fixed;            /* [q] 1 where the coefficient is 0 because others determine it */
    double  lambda, l1_ratio; /* as given */
    size_t  penalty;
    double  weight, objective, nll, null_nll, kkt, nonzero, df;
    size_t  steps; /* of a stream: theta is the mean of so many; 0 of a fit in memory */
    double *last;  /* [M x q] the last of them                                        */
    double  rate, gradient_z;
    size_t  held, two, D, folds; /* of a stream in few coefficients: two = 2, D = M q         */
    double *held_z, *held_yw;    /* [held x q], [held x 2] rows not yet learned from          */
    double *past, *pull, *miss;  /* [D x D], [D], [D] (classifier_renew.c)                    */
    double  distance;            /* in standard errors, from the minimum of all rows          */
} cri_classifier;

enum { CRI_PENALTY_L2, CRI_PENALTY_L1, CRI_PENALTY_ELASTIC };

typedef struct cri_classifier_settings {
    cri_link          link;
    bool              intercept, expected;
    int               penalty;
    double            lambda, l1_ratio;
    cri_solve_options solve;
} cri_classifier_settings;

/* clang-format off */
/* How the classes are asked to minimise: fields of their options, and what they say to
 * cri_solve. */
#define CRI_CLASSIFIER_OPTIONS(X)                                                                    \
    X(choice, solver,    "auto", "auto|newton|newton-cg|lbfgs|gradient|sgd",                         \
      "how to minimise; auto: newton up to 2000 coefficients, then newton-cg", "lbfgs")              \
    X(count,  batch,     "16",   ">=1", "sgd: rows per step", "64")                                  \
    X(real,   tol,       "1e-12", "0<..<1",                                                          \
      "newton: stop when a step gains less than this share; else when the gradient per row is less than its root", \
      "1e-8")                                                                                        \
    X(count,  max_iter,  "",     ">=1", "give up after this many steps or epochs; if not given, newton 200, lbfgs 2000, gradient 20000, sgd 200 to 5000 (5e6 rows)", "50")
#define CRI_CLASSIFIER_SOLVE(o, with_seed)                                                           \
    { .solver = (cri_solver)(o)->solver, .tol = (o)->tol, .max_iter = (o)->max_iter,                 \
      .batch = (o)->batch, .seed = (with_seed) }
/* clang-format on */

/* The entries of the classes; a state is a cri_classifier. */
cr_status cri_classifier_fit(cr_ctx *cx, const cri_rows *rows, const cri_classifier_settings *o,
                             void **out_state, cr_report *report);
/* A new classifier from an old one and a further block of a stream, in one pass of cumulated
 * estimating equations, or, with many coefficients and then without sds, of stochastic gradients.
 * Classes and standardisation are those of the first block.  kkt and gradient_z are of the block
 * before it was learned from: the largest gradient per row, and in units of its own noise; nll
 * gathers the likelihood of each block likewise.  Fails with CR_EDATA for a class that the first
 * block has not. */
cr_status cri_classifier_advance(cr_ctx *cx, const void *old, const cri_rows *rows,
                                 const cri_classifier_settings *o, void **out_state,
                                 cr_report *report);
cr_status cri_classifier_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                 cr_prediction *out);
/* Fails with CR_ENUMERIC where one of n probabilities is NaN: scores that overflow. */
cr_status cri_classifier_check(cr_ctx *cx, const double *prob, size_t n);
cr_status cri_classifier_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                  json_t *out);
cr_status cri_classifier_write(cr_ctx *cx, const void *state, cri_store *store, json_t *out);
cr_status cri_classifier_read(cr_ctx *cx, const cri_store *store, const json_t *in,
                              const cr_design *design, void **out_state);
void      cri_classifier_free(cr_ctx *cx, void *state);

/* The same coefficients, with room for those of a stream, and no sds and no rows that are held. */
cr_status cri_classifier_copy(cr_ctx *cx, const cri_classifier *from, cri_classifier *out);
/* *m becomes a state, and is empty then.  CR_ENOMEM leaves it as it is. */
cr_status cri_classifier_keep(cr_ctx *cx, cri_classifier *m, void **out_state);
/* Frees what is in *m. */
void cri_classifier_clear(cr_ctx *cx, cri_classifier *m);

/* --- shared with bayes-logistic -------------------------------------------------------------- */

/* The classes that have weight, in order: place [K] of each vector, -1 for the others; returns how
 * many. Fails with CR_EDATA when there are fewer than two. */
cr_status cri_classifier_classes(cr_ctx *cx, const cri_rows *rows, bool full, double *place,
                                 size_t *out_M);
/* y [n] = the vector of each row's class, M for the reference. */
void cri_classifier_targets(const cri_rows *rows, const double *place, uint32_t *y);
/* Names "term", or "class:term" where there are several vectors; place 0 is the intercept.  From
 * cri_string_format. */
char *cri_classifier_name(cr_ctx *cx, const cr_design *design, const double *place, size_t M,
                          size_t m, size_t j);
/* The class whose coefficients vector m holds. */
size_t cri_classifier_class(const double *place, size_t K, size_t m);
/* Coefficient j of vector m in the units of the data; j = 0 is the intercept, j = 1 .. p the
 * slopes. */
double cri_classifier_coef(const double *centre, const double *scale, size_t p, bool intercept,
                           const double *theta, size_t j);
/* sd [M x (p + 1)] in the units of the data from the factor L of the Hessian; a column that is
 * fixed has none. */
cr_status cri_classifier_sds(cr_ctx *cx, const cri_likelihood *f, const bool *opt_fixed,
                             double *hessian, double *sd);

#endif
