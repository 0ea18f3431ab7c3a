/* rbm.h -- restricted Boltzmann machines: what their files share.
 *   1. rbm.c        the model: options, fit, answers, descriptor
 *   2. rbm_exact.c  log Z and moments by a sum over the smaller layer, the likelihood and its gradient
 *   3. rbm_learn.c  the search: L-BFGS on the likelihood, or contrastive divergence
 *   4. rbm_ais.c    log Z by annealed importance sampling, with its error
 * (Internal header.) */
#ifndef CREDENCE_MODELS_NETWORK_RBM_H
#define CREDENCE_MODELS_NETWORK_RBM_H

#include "math/optim/minimize.h"
#include "models/common/coordinates.h"
#include "models/core/class.h"

typedef enum cri_rbm_method { CRI_RBM_AUTO, CRI_RBM_EXACT, CRI_RBM_PCD, CRI_RBM_CD } cri_rbm_method;
typedef enum cri_rbm_sum { CRI_RBM_SUM_AUTO, CRI_RBM_SUM_EXACT, CRI_RBM_SUM_AIS } cri_rbm_sum;

/* clang-format off */
#define CRI_RBM_OPTIONS(X)                                                                          \
    X(count,  hidden, "8", "1..100000", "hidden units", "64")                                       \
    X(choice, method, "auto", "auto|exact|pcd|cd",                                                  \
      "the likelihood itself, by a sum over one layer; persistent contrastive divergence; or "      \
      "contrastive divergence from the rows. auto: exact up to 8 units of one layer, else pcd",     \
      "pcd")                                                                                        \
    X(choice, log_z, "auto", "auto|exact|ais",                                                      \
      "by a sum over one layer, or by annealed importance sampling. auto: exact up to 16 units of one layer", \
      "ais")                                                                                        \
    X(real,  l2, "0.01", ">=0", "penalty on half the squared weights and biases; 0: none", "1")     \
    X(count, steps, "1", "1..1000", "of pcd and cd: sweeps of Gibbs sampling for each step", "5")   \
    X(count, epochs, "20", "1..1000000", "of pcd and cd: passes over the rows; more if that makes fewer than 2000 steps", "50") \
    X(count, batch, "64", "1..1000000", "of pcd and cd: rows of a step, and chains of pcd", "100")  \
    X(real,  rate, "", ">0", "of pcd and cd: length of the first step; later ones fall to 0; not given: 0.5, of more than 20 columns 0.5 (20 / columns)^1/2", "0.1") \
    X(count, ais_chains, "200", "2..1000000", "chains of annealed importance sampling", "1000")     \
    X(count, temperatures, "1000", "2..1000000", "steps that each of them takes", "5000")           \
    X(count, restarts, "4", ">=1", "of exact: random starts, of which the best is kept", "10")      \
    X(real,  tol, "1e-7", ">0", "of exact: stop when no entry of the gradient per row is larger", "1e-5") \
    X(count, max_iter, "1000", ">=1", "of exact: give up after this many steps of a start", "100")

/* theta: weights [hidden x p], biases of the columns [p], biases of the hidden units [hidden]. */
#define CRI_RBM_STATE(MEMBER)                                                                      \
    MEMBER(count,  p,            (),      ">0",  "columns")                                        \
    MEMBER(count,  hidden,       (),      ">0",  "hidden units")                                   \
    MEMBER(count,  size,         (),      ">0",  "of theta")                                       \
    MEMBER(vector, theta,        (size),  "",    "weights, biases of columns, biases of units")    \
    MEMBER(vector, mean,         (p),     "0..1", "of the columns")                                \
    MEMBER(real,   rows,         (),      ">0",  "weight of the rows")                             \
    MEMBER(real,   l2,           (),      ">=0", "penalty")                                        \
    MEMBER(real,   log_z,        (),      "",    "log of the sum over all states")                 \
    MEMBER(real,   log_z_sd,     (),      ">=0", "its standard error; 0: exact")                   \
    MEMBER(real,   log_likelihood, (),    "",    "of the rows")                                    \
    MEMBER(choice, method,       (),      "auto|exact|pcd|cd", "that was used")                    \
    MEMBER(count,  iterations,   (),      "",    "steps of the search")                            \
    MEMBER(flag,   converged,    (),      "",    "within the tolerance; of pcd and cd: all steps were made")
/* clang-format on */
CR_OPTIONS_STRUCT(cri_rbm_options, CRI_RBM_OPTIONS);
CRI_RECORD(cri_rbm, CRI_RBM_STATE, cri_coordinates units;);

/* A machine as numbers. */
typedef struct cri_machine {
    size_t        p, hidden;
    const double *W, *b, *c; /* [hidden x p], [p], [hidden] */
} cri_machine;
static inline cri_machine cri_machine_of(size_t p, size_t hidden, const double *theta)
{
    return (cri_machine){ p, hidden, theta, theta + hidden * p, theta + hidden * p + p };
}

/* Rows, [n x p] of numbers 0 .. 1, and their weights. */
typedef struct cri_rbm_data {
    size_t        n, p;
    const double *X, *weight; /* weight [n] or NULL */
    double        total;
} cri_rbm_data;

double cri_logistic_of(double x);
/* log sum_h exp(-energy): b . v + sum_k log(1 + exp(c_k + W_k . v)); opt_active [hidden]: P(h_k = 1 | v). */
double cri_machine_value(const cri_machine *m, const double *v, double *opt_active);
/* Units of the smaller layer. */
static inline size_t cri_machine_smaller(size_t p, size_t hidden)
{
    return p < hidden ? p : hidden;
}

/* log Z, and its gradient by theta, by a sum over the states of the smaller layer, of at most 24 units. */
cr_status cri_machine_sum(cr_ctx *cx, const cri_machine *m, double *out_log_z,
                          double *opt_gradient);
/* -log likelihood of rows per row with the penalty l2, and its gradient. */
cr_status cri_machine_objective(cr_ctx *cx, const cri_rbm_data *d, size_t hidden, double l2,
                                const double *theta, double *out_f, double *opt_gradient);
/* The sum over rows of their values. */
cr_status cri_machine_values(cr_ctx *cx, const cri_machine *m, const cri_rbm_data *d,
                             double *out_sum);
/* log Z and its standard error. */
cr_status cri_machine_anneal(cr_ctx *cx, const cri_machine *m, const double *mean, size_t chains,
                             size_t temperatures, uint64_t seed, double *out_log_z, double *out_sd);
/* Finds m's theta. */
cr_status cri_rbm_learn(cr_ctx *cx, const cri_rbm_data *d, const cri_rbm_options *o, uint64_t seed,
                        cri_rbm *m, cr_report *report);

#endif
