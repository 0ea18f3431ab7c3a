/* gp_online_state.h -- what a Gaussian process on a stream knows of the rows so far, and how a batch changes it:
 * by the sums of the stream or by the basis (gp_online.c).  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_ONLINE_GP_ONLINE_STATE_H
#define CREDENCE_MODELS_GP_ONLINE_GP_ONLINE_STATE_H

#include "gp_stream.h"
#include "models/gp/methods/gp_fit.h"
#include "models/gp/search/gp_prior.h"

/* clang-format off */
#define GP_ONLINE_OPTIONS(X)                                                                         \
    X(text,   kernel,    "", "", "covariance, a kernel expression (see credence models kernels); default: rbf(ard) of the numbers (rbf if there are more than 200), times hamming of the categories",               \
      "'matern52(ard) + linear'")                                                                    \
    X(choice, method,    "stream", "stream|basis",                                                   \
      "stream: sparse, batch by batch, all may change; basis: row by row, a bounded set of inputs", "basis") \
    X(text,   mean,      "auto", "", "mean function: zero, constant, linear or poly:K; auto: constant, or zero with --scale-target standard; with basis only zero or constant, the mean of the first batch", "linear") \
    X(real,   noise,     "", ">0", "variance of the noise; default: learned", "0.01")              \
    X(choice, optimize,  "evidence", "evidence|none",                                                \
      "learn the hyper-parameters by maximising the bound, or keep them as given", "none")                      \
    X(choice, hyper,     "map", "map|best",                                                          \
      "hyper-parameters at the maximum of the bound times weak priors made from the first batch, or of the bound alone", "best") \
    X(count,  max_iter,  "200", "1..1000000", "maximum number of steps of one run of the search on the first batch", "50") \
    X(count,  steps,     "10", ">=0", "maximum number of steps of the search with each further batch; 0 keeps what was learned", "0") \
    X(count,  inducing,  "100", "1..100000", "maximum number of inducing inputs, or inputs of the basis", "50")   \
    X(flag,   move,      "true", "", "choose new inducing inputs with each batch", "false")
/* clang-format on */
enum { CRI_ONLINE_METHOD_STREAM, CRI_ONLINE_METHOD_BASIS };
enum { CRI_ONLINE_OPTIMIZE_EVIDENCE, CRI_ONLINE_OPTIMIZE_NONE };
CR_OPTIONS_STRUCT(cri_online_options, GP_ONLINE_OPTIONS);

/* clang-format off */
#define ONLINE_STATE(MEMBER, INNER)                                                                  \
    MEMBER(choice, method,       (),               "stream|basis", "how rows are added")          \
    MEMBER(count,  batches,      (),               "",             "so far")                         \
    MEMBER(real,   shift,        (),               "",             "mean of the first batch, taken off all targets so that " \
           "their squares keep their digits; given back by beta, or without one by predictions")     \
    MEMBER(real,   learned_from, (),               ">=0 spare",    "rows that the hyper-parameters were learned from; 0: none were") \
    INNER(real,    sums.settled, (),               "as:settled",   "of the stream")                  \
    INNER(real,    sums.loss,    (),               "spare as:loss", "of settled, what goes with 1 / noise") \
    INNER(real,    sums.count,   (),               ">=0 spare as:scaled_rows", "rows that another noise would scale; 0: it stays") \
    MEMBER(count,  priors,       (),               "found",        "learned hyper-parameters, if weak priors of them hold") \
    MEMBER(vector, prior_mean,   (priors),         "none",         "of the logarithms, the noise last (gp_prior.h)") \
    MEMBER(vector, prior_sd,     (priors),         ">=0 none",     "likewise; 0: the expression of the kernel gives the prior") \
    MEMBER(count,  n,            (),               "found",        "inputs of the basis")            \
    MEMBER(matrix, C,            (n, n),           "none",         "Sigma of the basis; mu is gp.at.y") \
    INNER(count,   sums.m,       (),               "found",        "inputs of the stream")           \
    INNER(count,   sums.w,       (),               "found",        "terms, and the target")          \
    INNER(matrix,  sums.Phi,     (sums.m, sums.m), "none as:Phi",  "of the stream")                  \
    INNER(matrix,  sums.M,       (sums.m, sums.w), "none as:M",    "likewise")                       \
    INNER(matrix,  sums.S,       (sums.w, sums.w), "none as:S",    "likewise")                       \
    MEMBER(part,   gp,           (cri_gp_posterior), "",           "what predicts")
/* clang-format on */
typedef struct cri_online_state {
    cri_gp_stream_sums sums;
    ONLINE_STATE(CRI_RECORD_MEMBER, CRI_RECORD_INNER)
} cri_online_state;
extern const cri_member cri_online_record[];

void cri_online_release(cr_ctx *cx, void *state);
void cri_online_free(cr_ctx *cx, cri_online_state *m);
/* Memory by the inputs and the mean of gp, which is allocated too. */
cr_status cri_online_allocate(cr_ctx *cx, cri_online_state *m);
/* A copy, to be changed. */
cr_status cri_online_copy(cr_ctx *cx, const cri_online_state *old, cri_online_state **out);
/* Keeps weak priors, for later batches. */
cr_status cri_online_keep_prior(cr_ctx *cx, const cri_gp_prior *prior, cri_online_state *m);
/* The mean function at the rows. */
cr_status cri_online_problem(cr_scratch *s, const cri_gp_posterior *g, const cri_gp_data *data,
                             cri_gp_problem *out);
/* The state after a batch: exactly, with the same inputs and kernel; */
cr_status cri_online_add_to_sums(cr_ctx *cx, const cri_online_state *old, const cri_gp_data *data,
                                 cri_online_state **out);
/* with other inducing inputs, other hyper-parameters, or both; */
cr_status cri_online_change(cr_ctx *cx, const cri_online_state *old, const cri_gp_data *data,
                            const cri_online_options *o, cri_online_state **out, cr_report *report);
/* row by row into a basis of `most` inputs. */
cr_status cri_online_add_to_basis(cr_ctx *cx, const cri_online_state *old, const cri_gp_data *data,
                                  size_t most, cri_online_state **out);

#endif
