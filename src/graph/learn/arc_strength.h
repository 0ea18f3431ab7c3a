/* arc_strength.h -- how sure arcs are, by learning again, and a network of those that are.
 * P(u -> v) is a matrix [n x n], at u n + v: the share of replicates with the arc, a line counting one
 * half for each direction; or a posterior probability (arc_posterior.h).
 *   strength(u, v) = P(u -> v) + P(v -> u)                of the pair
 *   direction(u -> v) = P(u -> v) / strength(u, v)        once the pair is joined
 * Friedman, Goldszmidt & Wyner (1999), "Data analysis with Bayesian networks: a bootstrap approach", UAI;
 * Scutari & Nagarajan (2013), "Identifying significant edges in graphical models of molecular networks",
 * Artificial Intelligence in Medicine 57.  (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_ARC_STRENGTH_H
#define CREDENCE_GRAPH_LEARN_ARC_STRENGTH_H

#include "base/context_internal.h"
#include "dag.h"
#include "local_score.h"
#include "pdag.h"

/* Learns a graph, of arrows and lines, from cases; the caller frees it. */
typedef cr_status cri_graph_learner(cr_ctx *cx, void *arg, const cri_cases_table *t, uint64_t seed,
                                    cri_pdag *out);

/* out [n x n]: P(u -> v) over so many replicates of as many rows drawn with replacement; *out_done: how
 * many there were time for, at least one.  Replicate i draws from stream i of the seed. */
cr_status cri_arc_bootstrap(cr_ctx *cx, const cri_cases_table *t, cri_graph_learner *learn,
                            void *arg, size_t replicates, uint64_t seed, const cri_clock *opt_clock,
                            double *out, size_t *out_done);

/* The averaged network: pairs of a strength above the threshold (1/2 is where Scutari & Nagarajan's
 * distance to strengths that are all 0 or 1 is least), strongest first, each pointing where it does more
 * often; an arc that would close a cycle or is not allowed is turned, or left out where that is no
 * better.  Required arcs come first of all. */
cr_status cri_averaged_network(cr_ctx *cx, const double *arcs, double threshold,
                               const cri_arc_rules *rules, cri_dag *out);

#endif
