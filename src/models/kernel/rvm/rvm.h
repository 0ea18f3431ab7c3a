/* rvm.h -- relevance vector machines: sparse Bayesian regression and classification.
 *   f(x) = sum_m w_m phi_m(x),   w_m ~ N(0, 1 / alpha_m),   each alpha_m of the largest evidence
 * phi: a constant (about the mean of a target of numbers), and k(x, x_i) for every distinct input x_i of the rows, or the terms of the design.  Most alpha end
 * at infinity, and their functions are gone; inputs whose functions stay are the relevance vectors.
 *   regression        y = f(x) + e, e ~ N(0, s^2 / weight); the evidence is exact
 *   classification    p(class) = logistic or softmax of one f, or of one for each class; Laplace's approximation
 *
 *   rvm_basis     the functions, in the order of their inputs; columns and products
 *   rvm_gauss     regression step by step, its noise always at its optimum; rvm_down, rvm_joint: all at once
 *   rvm_classes   classification step by step; rvm_laplace: mode, curvature, evidence
 *   rvm_starts    from none up and from all down; rvm_exchange: away from there; rvm_scale: of the kernel
 *   rvm_fit       rows in, what is kept out
 *   rvm_left_out  how much larger errors are in rows that were left out
 *   rvm_predict   answers; rvm_probability: of classes; rvm_query: with a function added at the row that is asked for
 *   rvm_state     what is kept, shown and read back
 *   rvm           options and descriptor
 *
 * Tipping (2001), JMLR 1, 211-244; Tipping & Faul (2003), AISTATS; Rasmussen & Quinonero-Candela (2005), ICML.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_RVM_RVM_H
#define CREDENCE_MODELS_KERNEL_RVM_RVM_H

#include "models/kernel/inputs/gp_centre.h"
#include "models/core/class.h"

/* --- what is kept ---------------------------------------------------------------------------- */

/* clang-format off */
#define CRI_RVM(MEMBER)                                                                              \
    MEMBER(count,  K,          (),         "",           "classes; 0: a target of numbers")          \
    MEMBER(count,  F,          (),         ">0",         "latent functions")                         \
    MEMBER(flag,   terms,      (),         "",           "the functions are terms of the design")    \
    MEMBER(flag,   constant,   (),         "",           "a constant was among the functions")       \
    MEMBER(text,   formula,    (),         "as:kernel",  "the kernel; 'terms' without one")          \
    MEMBER(flag,   scaled,     (),         "",           "its scale was chosen by the evidence")     \
    MEMBER(count,  candidates, (),         "",           "functions there were")                     \
    MEMBER(count,  d,          (),         "",           "columns of numbers")                       \
    MEMBER(count,  c,          (),         "",           "categories")                               \
    MEMBER(count,  R,          (),         "",           "relevance vectors")                        \
    MEMBER(count,  M,          (),         "",           "weights")                                  \
    MEMBER(matrix, X,          (R, d),     "",           "the relevance vectors")                    \
    MEMBER(codes,  codes,      (R, c),     "as:levels",  "likewise")                                 \
    MEMBER(vector, function,   (M),        ">=-1",       "of a weight: -1 the constant; a relevance vector; or a term") \
    MEMBER(vector, latent,     (M),        ">=0",        "the latent function it is in")             \
    MEMBER(vector, alpha,      (M),        ">0",         "prior precisions")                         \
    MEMBER(vector, weight,     (M),        "",           "their means")                              \
    MEMBER(matrix, covariance, (M, M),     "",           "of the weights")                           \
    MEMBER(vector, place,      (K),        ">=-1",       "latent function of a class; -1: no row had it") \
    MEMBER(real,   noise,      (),         ">=0 none",   "variance of the noise, of regression")     \
    MEMBER(flag,   given,      (),         "",           "it was given, not learned")                \
    MEMBER(real,   shift,      (),         "",           "taken off the target: its mean, where there is a constant") \
    MEMBER(real,   inflation,  (),         ">=0 spare",  "of the noise, by errors in rows left out; 0: none") \
    MEMBER(count,  taken,      (),         "spare",      "degrees of freedom of the mean and of the choice, where they are counted") \
    MEMBER(real,   rows,       (),         ">0",         "sum of the weights of the rows")           \
    MEMBER(real,   known,      (),         ">=0",        "sum over weights of 1 - alpha variance")   \
    MEMBER(real,   up,         (),         "any none",   "log evidence from none up")                \
    MEMBER(real,   down,       (),         "any none",   "log evidence from all down; none: not tried") \
    MEMBER(real,   query,      (),         ">0 none",    "prior precision of a function added at a query; none: by") \
    MEMBER(real,   variance,   (),         ">0 none",    "its prior variance there; none: no function is added") \
    MEMBER(count,  n,          (),         "spare",      "inputs that such a function is weighed by") \
    MEMBER(matrix, inputs,     (n, d),     "full",       "these")                                    \
    MEMBER(codes,  levels,     (n, c),     "full as:input_levels", "likewise")                       \
    MEMBER(vector, residual,   (n),        "full",       "of the mean there")                        \
    MEMBER(vector, precision,  (n),        ">=0 full",   "of the rows there")                        \
    MEMBER(part,   centre,     (cri_gp_centre_rows), "none", "rows of the kernel")
/* clang-format on */
CRI_RECORD(cri_rvm, CRI_RVM, cr_kernel *kernel;);
extern const cri_member cri_rvm_record[];

/* --- options --------------------------------------------------------------------------------- */

/* clang-format off */
#define CRI_RVM_OPTIONS(X)                                                                           \
    X(text,   kernel,    "",      "",    "kernel expression (see credence models kernels); default: rbf with a length-scale chosen by the evidence of a prior that all functions share, times hamming of the categories", "'rbf(l=2)'") \
    X(choice, functions, "kernels", "kernels|terms", "functions to choose from: the kernel at every row, or the terms of the design", "terms") \
    X(flag,   intercept, "true",  "",    "include a constant among the functions", "false")                  \
    X(choice, start,     "auto",  "auto|both|up|down", "where the search starts: with no function (up), with all of them (down), or both, of which the larger evidence is kept; auto: both up to 2000 functions, otherwise up", "up") \
    X(real,   noise,     "",      ">0",  "variance of the noise; default: learned", "0.01") \
    X(choice, hyper,     "auto",  "auto|best", "of numbers, how precisions and noise are learned: at a price for each function, with a prior of the noise and, where rows are few, a spread no smaller than that of rows left out; or where the evidence is largest, and taken as known", "best") \
    X(flag,   basis_at_query, "false", "", "predict with a function added at each row that is asked for, so that the spread grows far from the data", "true") \
    X(real,   query_precision, "", ">0", "precision of its weight; default: so that its variance is that of the target", "1") \
    X(real,   tol,       "1e-6",  ">0",  "stop when no step adds so much to the log evidence", "1e-3") \
    X(count,  max_iter,  "20000", ">=1", "give up after this many steps from a start", "500")
/* clang-format on */
CR_OPTIONS_STRUCT(cri_rvm_options, CRI_RVM_OPTIONS);
enum { CRI_RVM_KERNELS, CRI_RVM_TERMS };
enum { CRI_RVM_AUTO, CRI_RVM_BOTH, CRI_RVM_UP, CRI_RVM_DOWN };

/* --- fit, answers, looks --------------------------------------------------------------------- */

cr_status cri_rvm_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                      void **out_state, cr_report *report);

cr_status cri_rvm_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out);
/* The same of classes, and central intervals of their probabilities (rvm_probability.c). */
cr_status cri_rvm_predict_classes(cr_ctx *cx, const cri_rvm *m, const cri_rows *rows,
                                  cr_prediction *out);
cr_status cri_rvm_probability_intervals(cr_ctx *cx, const void *state, const cri_rows *rows,
                                        double level, double *lower, double *upper);
/* Mean and covariance of the latent functions at rows: mean [n x F], cov [n x F x F], without noise. */
cr_status cri_rvm_latent(cr_ctx *cx, const cri_rvm *m, const cri_rows *rows, double *mean,
                         double *cov);
cr_status cri_rvm_mean(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out);
cr_status cri_rvm_function(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                           double *mean, double *opt_sd, double *opt_covariance);
/* What the functions added at queries share: the rows, and B Phi [n x M]; in the memory of the arena. */
typedef struct cri_rvm_query {
    cr_kernel_input in;
    double         *BPhi;
} cri_rvm_query;
struct cr_scratch;
cr_status cri_rvm_query_new(struct cr_scratch *s, const cri_rvm *m, const cr_design *design,
                            cri_rvm_query *out);
/* Adds what they do to mean and variance of queries, whose functions are Phi [rows x M]. */
cr_status cri_rvm_query_add(cr_ctx *cx, const cri_rvm *m, const cri_rvm_query *all,
                            const cr_kernel_input *in, const double *Phi, double *mean,
                            double *var);
/* Degrees of freedom of Student's t. */
double cri_rvm_dof(const cri_rvm *m);
/* The functions of the weights at inputs: out [rows x M]. */
cr_status cri_rvm_functions(cr_ctx *cx, const cri_rvm *m, const cr_design *design,
                            const cr_kernel_input *in, double *out);
/* The relevance vectors as inputs of the kernel. */
cr_kernel_input cri_rvm_inputs(const cri_rvm *m);

void      cri_rvm_release(cr_ctx *cx, void *state);
cr_status cri_rvm_ready(cr_ctx *cx, void *state, const cr_design *design);
cr_status cri_rvm_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out);
cr_status cri_rvm_relevant(cr_ctx *cx, const void *state, const cr_design *design, double **out_X,
                           size_t *out_n);
extern const cr_field cri_rvm_statistics[], cri_rvm_tables[];

#endif
