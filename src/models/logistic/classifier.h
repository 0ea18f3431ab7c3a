/* classifier.h -- a fitted linear classifier: what logistic and probit share.
 *   eta_m = theta_m . z,   z = (1, (x - centre) / scale),   m = 0 .. M-1
 * Two classes need one vector of coefficients (that of the second class against the first).  More
 * classes have K - 1 against the first without a penalty, K with one; probit has K, one against the
 * rest each.  (Internal header.) */
#ifndef CREDENCE_MODELS_LOGISTIC_CLASSIFIER_H
#define CREDENCE_MODELS_LOGISTIC_CLASSIFIER_H

#include "models/core/class.h"
#include "separation.h"

/* clang-format off */
#define CRI_CLASSIFIER(MEMBER)                                                                       \
    MEMBER(count,  p,           (),         "",      "terms")                                        \
    MEMBER(count,  q,           (),         "",      "coefficients of a vector: p + intercept")      \
    MEMBER(count,  q1,          (),         ">0",    "p + 1")                                        \
    MEMBER(count,  K,           (),         "",      "classes of the design")                        \
    MEMBER(count,  M,           (),         ">0",    "vectors")                                      \
    MEMBER(count,  link,        (),         "0..1",  "cri_link")                                     \
    MEMBER(count,  solver,      (),         "0..6",  "cri_solver")                                   \
    MEMBER(count,  separation,  (),         "0..2",  "cri_separation")                               \
    MEMBER(count,  penalty,     (),         "0..3",  "l2 beside a sum, l1, elastic, l2 beside a mean") \
    MEMBER(flag,   intercept,   (),         "",      "whether there is one")                         \
    MEMBER(flag,   full,        (),         "",      "a vector for every class")                     \
    MEMBER(flag,   tests,       (),         "",      "whether they are shown")                       \
    MEMBER(flag,   information, (),         "",      "sds come from the data alone")                 \
    MEMBER(real,   lambda,      (),         ">=0",   "as given")                                     \
    MEMBER(real,   l1_ratio,    (),         "0..1",  "as given")                                     \
    MEMBER(real,   weight,      (),         ">=0",   "of the rows")                                  \
    MEMBER(real,   objective,   (),         "none",  "at the end")                                   \
    MEMBER(real,   nll,         (),         "none",  "likewise")                                     \
    MEMBER(real,   null_nll,    (),         "none",  "without slopes")                               \
    MEMBER(real,   kkt,         (),         "none",  "the largest gradient per row")                 \
    MEMBER(real,   nonzero,     (),         ">=0",   "slopes that are not 0")                        \
    MEMBER(real,   df,          (),         ">=0",   "coefficients that are free")                   \
    MEMBER(vector, centre,      (p),        "",      "of z")                                         \
    MEMBER(vector, scale,       (p),        ">0",    "of z")                                         \
    MEMBER(vector, place,       (K),        ">=-1",  "vector of a class; M: the reference; -1: not in the data") \
    MEMBER(vector, blame,       (q),        "0..1",  "1 where the column separates the classes")     \
    MEMBER(vector, fixed,       (q),        "0..1",  "1 where the coefficient is 0 because others determine it") \
    MEMBER(matrix, theta,       (M, q),     "",      "of z")                                         \
    MEMBER(matrix, sd,          (M, q1),    "any",   "in the units of the data, intercept first; -1: none")
/* clang-format on */
CRI_RECORD(cri_classifier, CRI_CLASSIFIER);
extern const cri_member cri_classifier_record[];

enum { CRI_PENALTY_L2, CRI_PENALTY_L1, CRI_PENALTY_ELASTIC };
/* How a state says l2.  In files that have CRI_PENALTY_L2 it stood beside the sum of nll, not its mean. */
enum { CRI_KEPT_L2 = 3 };

typedef struct cri_classifier_settings {
    cri_link          link;
    bool              intercept, expected;
    int               penalty;
    double            lambda, l1_ratio;
    cri_solve_options solve;
} cri_classifier_settings;

/* The share r of the absolute penalty. */
double cri_classifier_l1_share(const cri_classifier_settings *o);

/* clang-format off */
/* How the classes are asked to minimise: fields of their options, and what they say to
 * cri_solve. */
#define CRI_CLASSIFIER_OPTIONS(X)                                                                    \
    X(choice, solver,    "auto", "auto|newton|newton-cg|lbfgs|gradient|sgd",                         \
      "how to minimise; auto: newton up to 2000 coefficients, then newton-cg", "lbfgs")              \
    X(count,  batch,     "16",   ">=1", "sgd: rows per step", "64")                                  \
    X(real,   tol,       "1e-12", "0<..<1",                                                          \
      "newton: stop when a step gains less than this, relatively; others: when the gradient per row is below its square root", \
      "1e-8")                                                                                        \
    X(count,  max_iter,  "",     ">=1", "give up after this many steps or epochs; default: newton 200, lbfgs 2000, gradient 20000, sgd 200 to 5000 (5e6 rows)", "50")
#define CRI_CLASSIFIER_SOLVE(o, with_seed)                                                           \
    { .solver = (cri_solver)(o)->solver, .tol = (o)->tol, .max_iter = (o)->max_iter,                 \
      .batch = (o)->batch, .seed = (with_seed) }
/* clang-format on */

/* The entries of the classes; a state is a cri_classifier.  Rows with passes are the first block of a stream, where
 * the search for the coefficients starts; all else is of all its blocks. */
cr_status cri_classifier_fit(cr_ctx *cx, const cri_rows *rows, const cri_classifier_settings *o,
                             void **out_state, cr_report *report);
cr_status cri_classifier_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                 cr_prediction *out);
/* Fails with CR_ENUMERIC where one of n probabilities is NaN: scores that overflow. */
cr_status cri_classifier_check(cr_ctx *cx, const double *prob, size_t n);
cr_status cri_classifier_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                  cri_sheet *out);
extern const cr_field cri_classifier_statistics[];
/* Whether a state that was read fits the design. */
cr_status cri_classifier_ready(cr_ctx *cx, void *state, const cr_design *design);

/* --- shared with bayes-logistic -------------------------------------------------------------- */

/* The classes that have weight, in order: place [K] of each vector, -1 for the others; returns how
 * many.  Fails with CR_EDATA when there are fewer than two. */
cr_status cri_classifier_classes(cr_ctx *cx, const cri_rows *rows, bool full, double *place,
                                 size_t *out_M);
/* y [n] = the vector of each row's class, M for the reference. */
void cri_classifier_targets(const cri_rows *rows, const double *place, uint32_t *y);
/* Puts what the coefficients of M vectors add up to: the log odds of one class against another, ... */
void cri_classifier_put_meaning(const double *place, size_t M, bool probit, const cr_design *d,
                                cri_sheet *out);
/* Adds a parameter called "term", or "class:term" where there are several vectors; place 0 is the
 * intercept. */
cri_sheet *cri_classifier_parameter(cri_sheet *list, double value, double sd,
                                    const cr_design *design, const double *place, size_t M,
                                    size_t m, size_t j);
/* The class whose coefficients vector m holds. */
size_t cri_classifier_class(const double *place, size_t K, size_t m);
/* Coefficient j of vector m in the units of the data; j = 0 is the intercept, j = 1 .. p the
 * slopes. */
double cri_classifier_coef(const double *centre, const double *scale, size_t p, bool intercept,
                           const double *theta, size_t j);
/* sd [M x (p + 1)] in the units of the data by the Hessian, which is overwritten; a column that is fixed has none.
 * With opt_theta, where it was taken, robust sds of rows that are weighted by their class; none of a stream of them
 * (classifier_errors.c). */
cr_status cri_classifier_sds(cr_ctx *cx, const cri_likelihood *f, const bool *opt_fixed,
                             const double *opt_theta, double *hessian, double *sd);

#endif
