/* sample.h -- weighted samples counted: probabilities, their standard errors, log P(e).
 *   p(s) = sum w 1_s / sum w,   var p(s) = sum w^2 (1_s - p(s))^2 / (sum w)^2
 *   effective = (sum w)^2 / sum w^2,   log P(e) = log mean w,  its variance 1/effective - 1/samples
 * No standard error is taken below 3 / effective: what has not been seen may still have that much,
 * nor below what chains found where samples hardly go (sample_importance.c).  How far weights can
 * be trusted at all is in the shape k of their upper tail (pareto_tail.h).
 * Weights are logarithms; sums are kept relative to the largest.  Kong (1992); Owen (2013), ch. 9.
 * Samples are cut into blocks by their number alone, each with a stream of its own.  (Internal
 * header.) */
#ifndef CREDENCE_GRAPH_APPROXIMATE_SAMPLE_H
#define CREDENCE_GRAPH_APPROXIMATE_SAMPLE_H

#include "approximate.h"
#include "factor_graph.h"
#include "base/rng.h"

typedef struct cri_tally {
    const cri_fgraph *g;
    const cr_factor  *joint;        /* shape of a table over ranks to count in, or NULL */
    double           *sum, *square; /* [start[n] + joint's size] of w and w^2 */
    double            total, squares, peak;
    size_t            drawn, kept;
    double           *log_w;     /* [samples] all weights, if wanted; else NULL */
    double           *doubt;     /* [start[n]] what chains would move each probability by, and */
    double            log_doubt; /* log P(e) (sample_importance.c) */
    double            missed;    /* share of what a chain visits; NaN: not looked at */
    size_t            modes;     /* that chains lie in */
    size_t            made, planned; /* where the time limit ended it (approximate.h); else 0 */
} cri_tally;

/* How many numbers a tally needs; workspace for them makes one that is empty. */
size_t    cri_tally_size(const cri_fgraph *g, const cr_factor *opt_joint);
cri_tally cri_tally_empty(const cri_fgraph *g, const cr_factor *opt_joint, double *workspace);
/* One more sample: states of the active variables; log_w = -INFINITY: it does not agree. */
void cri_tally_add(cri_tally *t, const size_t *state, double log_w);
/* Adds another tally of the same shape. */
void cri_tally_merge(cri_tally *t, const cri_tally *more);

/* A way to draw `count` samples into a tally.  workspace, index: working memory as asked for. */
typedef struct cri_sampler {
    const char       *what;
    const cri_fgraph *g;
    const cr_factor  *joint;
    size_t            samples;
    uint64_t          seed, stream; /* blocks take streams from here on */
    size_t            workspace, index;
    void (*draw)(void *arg, cr_rng *r, size_t count, double *workspace, size_t *index,
                 cri_tally *t);
    void *arg;
} cri_sampler;

/* Draws all of them, or as many as there is time for; `total` is an empty tally and holds them in the end, log_w in
 * their order. */
cr_status cri_sample(cr_ctx *cx, const cri_sampler *w, cri_tally *total);
/* Turns a tally into probabilities of the active variables [start[n]], standard errors, the joint
 * table with its spread (approximate.h), and fills the report.  Fails with CR_ENUMERIC and the
 * hint when no sample has any weight. */
cr_status cri_tally_finish(cr_ctx *cx, const cri_tally *t, const char *hint, double *marginal,
                           double *se, cr_factor *opt_joint, cr_factor *opt_spread,
                           cr_approximate_report *report);

/* The methods: each draws into `total`.  They need a Bayesian network: */
cr_status cri_sample_forward(cr_ctx *cx, const cri_fgraph *g, const cr_factor *opt_joint,
                             cr_approximation how, size_t samples, uint64_t seed, cri_tally *total);
/* Any network; nothing is drawn (total->drawn = 0) when messages show that the evidence is
 * impossible.  opt_start [n]: a probable assignment. */
cr_status cri_sample_importance(cr_ctx *cx, const cri_fgraph *g, const cr_factor *opt_joint,
                                const cr_approximate_options *o, const size_t *opt_start,
                                size_t samples, uint64_t seed, cri_tally *total);
cr_status cri_sample_annealed(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                              size_t samples, uint64_t seed, cri_tally *total);
/* n assignments [n x active variables] from a short annealing, by weight; *out_possible: messages
 * do not exclude the evidence; *out_found: some have weight. */
cr_status cri_anneal_starts(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                            size_t n, uint64_t seed, size_t *out_state, bool *out_possible,
                            bool *out_found);
/* Gibbs sampling fills probabilities and errors by itself; log_evidence is -INFINITY when messages
 * show that the evidence is impossible, else NaN. */
cr_status cri_sample_gibbs(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                           size_t sweeps, uint64_t seed, double *marginal, double *se,
                           cr_factor *opt_joint, cr_factor *opt_spread,
                           cr_approximate_report *report);

#endif
