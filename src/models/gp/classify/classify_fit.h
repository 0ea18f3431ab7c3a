/* classify_fit.h -- one fit of a Gaussian process classifier: what classify.c prepares and classify_learn.c
 * solves.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_FIT_H
#define CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_FIT_H

#include "classify.h"
#include "classify_ep.h"
#include "classify_sparse.h"
#include "base/option.h"

/* clang-format off */
#define CRI_CLASSIFY_OPTIONS(X)                                                                       \
    X(text,   kernel,     "", "", "covariance of the latent function, a kernel expression (see credence models kernels); default: rbf(ard) of the numbers (rbf if there are more than 200), times hamming of the categories", \
      "'matern52(ard) + linear'")                                                                    \
    X(choice, likelihood, "logit", "logit|probit",                                                   \
      "link from latent function to probability; more than two classes use softmax", "probit")           \
    X(choice, mean,       "zero", "zero|constant",                                                   \
      "prior mean of the latent function: 0, or a constant with a normal prior whose variance is learned", \
      "constant")                                                                                    \
    X(choice, optimize,   "evidence", "evidence|none",                                               \
      "learn the hyper-parameters by maximising the evidence, or keep them as given", "none")                   \
    X(count,  restarts,   "0", "0..10000", "additional random starts of the search", "10")              \
    X(count,  max_iter,   "200", "1..1000000", "maximum number of steps of one run of the search", "50")          \
    X(choice, hyper,      "auto", "auto|map|best",                                                   \
      "hyper-parameters at the maximum of evidence times weak priors (map), of the evidence alone (best), or predictions averaged over them; auto: map, or an average if there are few rows for them", "best") \
    X(choice, infer,      "auto", "laplace|ep|bound|auto",                                           \
      "how the posterior is represented: Gaussian at the mode, (two classes) expectation propagation, or the Gaussian of a lower bound on the evidence; auto: laplace, or ep if the two differ; with three or more classes bound", "ep") \
    X(choice, approx,     "auto", "auto|laplace|svgp",                                               \
      "all rows, by Laplace's approximation, or the bound with inducing inputs; auto: all rows up to 2000 distinct inputs (fewer with many classes), otherwise svgp", "svgp")                         \
    X(count,  inducing,   "100", "1..100000", "number of inducing inputs of the bound", "300")
/* clang-format on */
CR_OPTIONS_STRUCT(cri_classify_options, CRI_CLASSIFY_OPTIONS);
enum { CRI_OPTIMIZE_EVIDENCE, CRI_OPTIMIZE_NONE };
enum { CRI_HYPER_AUTO, CRI_HYPER_MAP, CRI_HYPER_BEST };
enum { CRI_APPROX_AUTO, CRI_APPROX_LAPLACE, CRI_APPROX_SVGP };

/* One fit on its way. */
typedef struct cri_classify_fit {
    const cri_classify_options *o;
    const cri_rows             *rows;
    uint64_t                    seed;
    cri_classify               *m;
    cri_classify_infer          infer;  /* AUTO: Laplace's approximation, to be checked */
    cri_gp_data                 inputs; /* distinct; of Laplace's they go to m->gp.at */
    size_t                     *group;  /* [rows] the distinct input of each           */
    cri_classify_data           data;
    cri_laplace                 laplace;
    cri_svgp                    sparse;
    bool                        closely; /* of the bound: to its optimum, few rows       */
    bool                        expired; /* the time limit ended the search           */
} cri_classify_fit;

/* Learns if asked to, then the posterior at the hyper-parameters there are. */
cr_status cri_classify_solve(cr_ctx *cx, cri_classify_fit *f, cr_report *report);

#endif
