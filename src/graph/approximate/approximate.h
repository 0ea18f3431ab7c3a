/* approximate.h -- answers for networks that are too dense for exact ones, each with its error.
 *
 *   messages    bp          sum-product on the factor graph; exact on trees; Bethe log P(e)
 *               trw         the same with every factor weighted by the share of trees that hold it:
 *                           an upper bound of log P(e), at every step
 *               gbp         messages between clusters of several variables (a join graph)
 *   variational mean-field  independent variables nearest to the posterior: a lower bound
 *   samples     forward, rejection, likelihood-weighting   from the causes to the effects
 *               importance  a proposal that is learnt from its own weights
 *               gibbs       chains that draw whole blocks of variables at once
 *               annealed    from independence to the posterior in small steps
 *
 * Bounds are of log P(e) (of a Markov network: log Z with the evidence).  Samples belong to fixed
 * streams of the seed, so an answer is the same for any number of threads.
 * Koller & Friedman (2009), ch. 11-12; each file names its own source. */
#ifndef CREDENCE_GRAPH_APPROXIMATE_APPROXIMATE_H
#define CREDENCE_GRAPH_APPROXIMATE_APPROXIMATE_H

#include "graph/network/evidence.h"
#include "base/option.h"

#define CR_APPROXIMATIONS                                                                          \
    "bp|trw|gbp|mean-field|forward|rejection|likelihood-weighting|importance|gibbs|annealed"
typedef enum cr_approximation {
    CR_APPROXIMATE_BP,
    CR_APPROXIMATE_TRW,
    CR_APPROXIMATE_GBP,
    CR_APPROXIMATE_MEAN_FIELD,
    CR_APPROXIMATE_FORWARD,
    CR_APPROXIMATE_REJECTION,
    CR_APPROXIMATE_LIKELIHOOD_WEIGHTING,
    CR_APPROXIMATE_IMPORTANCE,
    CR_APPROXIMATE_GIBBS,
    CR_APPROXIMATE_ANNEALED
} cr_approximation;

/* clang-format off */
#define CR_APPROXIMATE_OPTIONS(X)                                                                  \
    X(count,  samples,  "", ">=1",                                                                 \
      "number of samples; default: 100000 for forward methods, 20000 for importance (a quarter of them for adaptation), 5000 sweeps for gibbs, 500 for annealed", "50000")                         \
    X(count,  chains,   "4", "1..1000", "gibbs: number of chains", "8")                \
    X(count,  block,    "256", ">=1",                                                              \
      "gibbs and annealed: entries of the largest table used to draw variables jointly", "4096") \
    X(count,  cluster,  "4096", ">=1", "gbp: entries of the largest cluster", "65536")             \
    X(count,  steps,    "100", ">=1", "annealed: steps from independence to the posterior", "500") \
    X(count,  max_iter, "", ">=1",                                                                 \
      "maximum number of message sweeps; default: 1000, for gbp 100", "200")                      \
    X(real,   tol,      "1e-9", ">=0", "change of messages below which they have converged", "1e-6")  \
    X(real,   damping,  "", "0..<1",                                                               \
      "share of the old message that is kept; default: none, and 0.5 if that does not converge", \
      "0.3")                                                                                       \
    X(count,  reweigh,  "8", ">=0",                                                                \
      "trw: steps that improve the weights of the trees, for a tighter bound", "0")           \
    X(choice, schedule, "residual", "residual|sequential|flooding",                                \
      "which message is sent next: the one that would change most, in order, or all at once",            \
      "flooding")
/* clang-format on */
CR_OPTIONS_STRUCT(cr_approximate_options, CR_APPROXIMATE_OPTIONS);

/* Messages of two kinds that differ by more in a probability, or in log P(e), are warned about. */
#define CR_APPROXIMATE_FAR 0.1
#define CR_APPROXIMATE_LOG_FAR 0.5
/* A larger share of a chain missed by samples is warned about. */
#define CR_APPROXIMATE_MISSED 0.05
/* Weights whose tail is heavier have errors that nothing tells (Vehtari et al. 2024). */
#define CR_APPROXIMATE_HEAVY 0.7

typedef enum cr_schedule {
    CR_SCHEDULE_RESIDUAL,
    CR_SCHEDULE_SEQUENTIAL,
    CR_SCHEDULE_FLOODING
} cr_schedule;

/* How good it is; NaN or 0 where a method has no such thing. */
typedef struct cr_approximate_report {
    bool   converged;    /* messages and mean field: below the tolerance; gibbs: R-hat below 1.05 */
    size_t iterations;   /* sweeps */
    double residual;     /* the largest change of a message in the last sweep */
    double damping;      /* in force at the end */
    double lower, upper; /* bounds of log P(e) */
    double far, log_far; /* bp, gbp: how far a short run of the other is off, in a probability at
                            the most, and in log P(e); mean-field: a short run of gbp */
    double log_evidence; /* the estimate; -INFINITY: shown to be impossible; NaN: none */
    double log_evidence_se;
    size_t samples;   /* drawn (gibbs: sweeps of all chains together) */
    double effective; /* as many independent ones would be as good */
    double se;        /* the largest standard error of a probability */
    double accepted;  /* share of the samples that agreed with the evidence */
    double pareto_k;  /* shape of the tail of the weights: above 0.7 no error holds */
    double missed;    /* importance: share of what a chain visits that outweighs
                                         every sample, of all chains the largest */
    size_t modes;     /* importance: parts of the states that chains do not leave */
    double rhat;      /* the largest of all variables, over split chains */
    size_t chains, clusters, largest; /* largest: entries of a cluster, or of a block's table */
    size_t made,
        planned; /* where the time limit ended it: how many sweeps, samples or steps there are, and how
                             many were asked for; else 0 */
} cr_approximate_report;

typedef struct cr_approximate_answer {
    size_t                states;   /* of all variables together */
    double               *marginal; /* [states] P(v | e), one variable after another */
    double               *se;       /* [states] standard errors; NaN where there are none */
    cr_factor             joint;    /* P(query | e), if more than one variable was asked for */
    cr_factor             spread;   /* of samples, [joint]: var(sum_k f_k p_k) is the sum of
                                       spread_k (f_k - mean f)^2; else none */
    cr_approximate_report report;
} cr_approximate_answer; /* all zeros: nothing to free */

/* The usual options. */
CR_API cr_approximate_options cr_approximate_defaults(void);
/* The name of a method as in CR_APPROXIMATIONS. */
CR_API const char *cr_approximation_name(cr_approximation how);
/* Approximates all marginals, log P(e), and the joint of n variables (0: none).  Evidence that is
 * shown to be impossible is no failure: report.log_evidence is -INFINITY and the marginals are 0.
 * Fails with CR_ENUMERIC when samples found nothing that agrees with the evidence, with CR_EARG
 * when the method cannot serve this kind of network. */
CR_API cr_status cr_approximate(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                cr_approximation how, const cr_approximate_options *opt_o,
                                uint64_t seed, size_t n, const size_t *query,
                                cr_approximate_answer *out);
/* Frees what an answer holds and leaves none. */
CR_API void cr_approximate_free(cr_ctx *cx, cr_approximate_answer *a);

/* A probable assignment [variables] by max-product messages and improvement of one variable after
 * another; *out_log is its own log p(x, e), *out_upper a bound of the best.  Fails with CR_ENUMERIC
 * when none of positive probability was found, with CR_EDATA when there is none. */
CR_API cr_status cr_approximate_best(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                     const cr_approximate_options *opt_o, size_t *out_state,
                                     double *out_log, double *out_upper,
                                     cr_approximate_report *opt_report);

#endif
