/* glasso.h -- a sparse Gaussian graph: what its files share.  (Internal header.) */
#ifndef CREDENCE_MODELS_NETWORK_GLASSO_H
#define CREDENCE_MODELS_NETWORK_GLASSO_H

#include "graph/network/gaussian_network.h"
#include "models/common/moments.h"
#include "math/optim/graphical_lasso.h"
#include "models/core/class.h"

/* --- rows in folds (glasso_folds.c) ----------------------------------------------------------- */

/* Moments of rows dealt to folds by a hash of their values: copies of a row are of one fold, wherever they stand.  They
 * merge fold by fold, so that halves of the rows, and all but a tenth, are known without the rows. */
/* clang-format off */
#define CRI_FOLDED(MEMBER)                                                                          \
    MEMBER(count,  folds,  (),           ">0",  "parts of the rows")                                \
    MEMBER(count,  q,      (),           ">1",  "terms, and one that is 0")                         \
    MEMBER(count,  qq,     (),           ">1",  "its square")                                       \
    MEMBER(vector, rows,   (folds),      ">=0", "of each fold")                                     \
    MEMBER(vector, weight, (folds),      ">=0", "of them")                                          \
    MEMBER(matrix, mean,   (folds, q),   "",    "of each term")                                     \
    MEMBER(matrix, S,      (folds, qq),  "",    "sums of products about the means")
/* clang-format on */
CRI_RECORD(cri_folded, CRI_FOLDED);
extern const cri_member cri_folded_record[];

/* Entries of a class whose statistics they are; a state begins with these, folds, q and qq being set. */
cr_status cri_folded_gather(cr_ctx *cx, const void *state, const cri_rows *rows,
                            const void *options, void *sums);
cr_status cri_folded_merge(cr_ctx *cx, const void *state, void *a, const void *b);
/* true when they are moments of p terms. */
bool cri_folded_fit(const cri_folded *f, size_t p);

/* The folds that a part takes: bit k for fold k. */
enum { CRI_MOST_FOLDS = 32 };
/* out, that is new, becomes the moments of these folds. */
cr_status cri_folded_moments(cr_ctx *cx, const cri_folded *f, uint32_t which, cri_moments *out);

/* --- the model -------------------------------------------------------------------------------- */

typedef enum cri_glasso_choose {
    CRI_GLASSO_EBIC,
    CRI_GLASSO_BIC,
    CRI_GLASSO_AIC,
    CRI_GLASSO_CV,
    CRI_GLASSO_STARS
} cri_glasso_choose;

/* clang-format off */
#define CRI_GLASSO_OPTIONS(X)                                                                       \
    X(real,   lambda,     "",     ">=0",     "penalty on each covariance between columns as they are scaled; else chosen along a path", "0.2") \
    X(choice, choose,     "ebic", "ebic|bic|aic|cv|stars", "how the penalty is chosen: by a criterion of its graph, by held-out log density, or as the smallest whose graph is stable", "cv") \
    X(real,   gamma,      "0.5",  "0..1",    "what ebic adds to bic for the number of graphs, 0 to 1", "1") \
    X(real,   instability, "0.05", "0<..<0.5", "the instability that stars allows", "0.1")           \
    X(count,  path,       "40",   "2..1000", "penalties on the path",  "100")                        \
    X(real,   lambda_min_ratio, "0.01", "0<..<1", "smallest penalty of the path as a share of the largest", "0.1") \
    X(flag,   refit,      "false", "",        "the precision of most likelihood on the graph, without shrinkage", "true") \
    X(flag,   penalize_diagonal, "false", "",   "the penalty counts for variances too, as R's glasso has it", "true") \
    X(count,  stability,  "",     "0..1000", "half samples that show how stable each edge is; not given: 50 up to 200 columns, else none", "100") \
    X(count,  kept_folds,      "",     "1..32",   "folds that rows are kept in, for halves and held-out rows; not given: 10 up to 400 columns, else 1", "20") \
    X(real,   tol,        "1e-10", ">=0",    "stop when the duality gap is less than this per column", "1e-6") \
    X(count,  max_iter,   "100",  ">=1",     "give up after this many Newton steps", "30")

#define CRI_GLASSO_STATE(MEMBER)                                                                    \
    MEMBER(part,   folded,     (cri_folded), "inside", "for updates")                               \
    MEMBER(count,  p,          (),   ">1",         "columns")                                       \
    MEMBER(real,   n,          (),   ">0",         "rows, by weight")                               \
    MEMBER(vector, centre,     (p),  "",           "their means")                                   \
    MEMBER(vector, scale,      (p),  ">0",         "what they are divided by")                      \
    MEMBER(vector, sd,         (p),  ">0",         "of the columns, divisor n")                     \
    MEMBER(vector, diagonal,   (p),  ">0",         "of the precision of the scaled columns")        \
    MEMBER(count,  edges,      (),   "",           "entries below it that are not 0")               \
    MEMBER(index,  row,        (edges), "full",    "of each")                                       \
    MEMBER(index,  column,     (edges), "full",    "of each, below its row")                        \
    MEMBER(vector, value,      (edges), "full",    "of each")                                       \
    MEMBER(vector, stable,     (edges), "minus full", "share of half samples that have it")         \
    MEMBER(real,   lambda,     (),   ">=0",        "penalty")                                       \
    MEMBER(real,   log_likelihood, (), "",         "of the rows")                                   \
    MEMBER(real,   best_likelihood, (), "none",    "the largest on this graph")                     \
    MEMBER(real, objective, (), "", "what was minimised, of the scaled columns") \
    MEMBER(real,   gap,        (),   "endless >=0", "to the optimum, at most")                      \
    MEMBER(flag,   converged,  (),   "",           "the gap is within the tolerance")               \
    MEMBER(flag,   late,       (),   "",           "the time limit ended the search")               \
    MEMBER(count,  iterations, (),   "",           "Newton steps")                                  \
    MEMBER(count,  groups,     (),   ">0",         "of connected columns")                          \
    MEMBER(count,  largest,    (),   ">0",         "columns of the largest")                        \
    MEMBER(count,  halves,     (),   "",           "half samples behind `stable`")                  \
    MEMBER(choice, chosen_by,  (),   "ebic|bic|aic|cv|stars", "the criterion")                      \
    MEMBER(real,   gamma,      (),   ">=0",        "of ebic")                                       \
    MEMBER(count,  chosen,     (),   "",           "which of the path")                             \
    MEMBER(count,  tried,      (),   "",           "penalties; 0: it was given")                    \
    MEMBER(vector, path_lambda, (tried), "full >=0", "each")                                        \
    MEMBER(vector, path_edges, (tried), "full",    "edges of its graph")                            \
    MEMBER(vector, path_value, (tried), "any full", "its criterion; NaN: it has none") \
    MEMBER(count,  traced,     (),   "",           "pairs whose partial correlations are known along the path") \
    MEMBER(vector, trace_row,  (traced), "full >=0", "of each")                                     \
    MEMBER(vector, trace_column, (traced), "full >=0", "of each, below its row")                    \
    MEMBER(matrix, trace,      (tried, traced), "full", "these")
/* clang-format on */
CR_OPTIONS_STRUCT(cri_glasso_options, CRI_GLASSO_OPTIONS);
CRI_RECORD(cri_glasso, CRI_GLASSO_STATE, double *L; /* [p x p] Cholesky factor of the precision */
           double log_constant;
           /* of the density                           */ cr_gaussian_network * network;
           /* the same with an undirected graph */);

/* The columns as a network whose graph has the edges, of a state that is complete (glasso_network.c). */
cr_status cri_glasso_network(cr_ctx *cx, const cri_glasso *m, const cr_design *design,
                             cr_gaussian_network **out);
/* T [p x p], the precision of the scaled columns. */
void cri_glasso_precision(const cri_glasso *m, double *T);

/* What it reports (glasso_describe.c). */
extern const cr_field cri_glasso_statistics[], cri_glasso_tables[];
cr_status             cri_glasso_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                          cri_sheet *out);

/* --- the choice of the penalty (glasso_choose.c) ---------------------------------------------- */

/* What all fits share: the covariance of the scaled columns. */
typedef struct cri_glasso_task {
    const cri_glasso_options *o;
    const cri_folded         *folded;
    bool                      standardise;
    const double             *S; /* [p x p] */
    size_t                    p;
    double n, log_scales; /* rows; sum of the logs of what columns are divided by */
} cri_glasso_task;

/* The log likelihood of n rows with covariance S under the precision T. */
cr_status cri_glasso_likelihood(cr_ctx *cx, const cri_glasso_task *t, const double *T, double *out);
/* T [p x p], from which it starts, becomes that of this penalty. */
cr_status cri_glasso_at(cr_ctx *cx, const cri_glasso_task *t, double lambda, double *T,
                        cri_graphical_lasso_report *out);
/* T becomes the precision of most likelihood on its own graph; *out_found is false, and T unchanged, where there is
 * none. */
cr_status cri_glasso_refit(cr_ctx *cx, const cri_glasso_task *t, double *T, bool *out_found,
                           cri_graphical_lasso_report *out);
/* Penalties that were tried, with what is known of each; room for as many as the options ask for. */
typedef struct cri_glasso_path {
    size_t  tried, chosen;
    double *lambda, *value; /* value NaN: the criterion has none */
    double *edges;
    double  *
        opt_partial; /* [as many x pairs] partial correlations, those of column j < row i at i (i - 1) / 2 + j */
    bool late;
} cri_glasso_path;
/* Goes down the path, and sets T [p x p] to the precision of the penalty that it chooses. */
cr_status cri_glasso_choose_penalty(cr_ctx *cx, const cri_glasso_task *t, cri_glasso_path *path,
                                    double *T, cri_graphical_lasso_report *out);
/* share [p x p]: of the half samples, those that have each edge with this penalty; *out_halves: how many they are. */
cr_status cri_glasso_stability(cr_ctx *cx, const cri_glasso_task *t, double lambda, size_t halves,
                               double *share, size_t *out_halves);

#endif
