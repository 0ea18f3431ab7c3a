/* junction.h -- the junction tree: all marginals at once, and again after the evidence has changed.
 *   up_c(S_c)   = sum over R_c of  phi_c  prod_{children k} up_k
 *   down_k(S_k) = sum over C \ S_k of  phi_c  down_c  prod_{children j != k} up_j
 * C clique, S its separator towards the root, R = C \ S, phi the tables assigned to it.  Cliques
 * are never stored: messages are computed from the tables around them, so memory is mostly that of
 * the separators. Evidence is cut out of the tables.  A message is computed when it is needed and
 * kept until evidence on its sending side changes.  Log scales are kept apart, so nothing
 * underflows (message.h). Two calibrations of the downward pass: Shafer-Shenoy, as above, one
 * message at a time; Hugin (belief update), the belief of a clique summed onto all its separators
 * in one pass, then divided by what came up (0/0 = 0): O(1) passes per clique instead of one per
 * child.  cr_junction_calibrate is these formulas; a plain version of it is in
 * tests/graph/reference_tree.h.  Shafer & Shenoy (1990); Jensen, Lauritzen & Olesen (1990); Koller & Friedman (2009),
 * ch. 10. */
#ifndef CREDENCE_GRAPH_EXACT_JUNCTION_H
#define CREDENCE_GRAPH_EXACT_JUNCTION_H

#include "bucket.h"

typedef struct cr_junction cr_junction;

typedef enum cr_calibration { CR_CALIBRATE_HUGIN, CR_CALIBRATE_SHAFER_SHENOY } cr_calibration;

/* Compiles a network, which must outlive the tree and not change.  opt_e: evidence to start with;
 * variables observed in it are not in the tree, which may be much smaller then.  opt_o as for
 * bucket.h; fails with CR_ENOMEM, before any work, when it would take too much. */
CR_API cr_status cr_junction_new(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                 const cr_exact_options *opt_o, cr_junction **out_j);
/* Frees a tree.  NULL is allowed. */
CR_API void cr_junction_free(cr_ctx *cx, cr_junction *j);
/* What the tree takes, predicted before any table is made: entries of all cliques, bytes of all
 * marginals by Hugin. */
CR_API cr_exact_report cr_junction_report(const cr_junction *j);
/* The bytes that are held at a time, at the most, for all marginals by one of the calibrations.
 * (Sums that underflow, and go on in logarithms, may take more.) */
CR_API cr_status cr_junction_bytes(cr_ctx *cx, const cr_junction *j, cr_calibration how,
                                   double *out_bytes);
/* Replaces the evidence (NULL: none).  Only messages that depend on a change are dropped.  If a
 * variable that was observed when the tree was compiled is so no more, it is compiled anew. */
CR_API cr_status cr_junction_set_evidence(cr_ctx *cx, cr_junction *j, const cr_evidence *opt_e);
/* Computes all messages that are missing, so that marginals are quick. */
CR_API cr_status cr_junction_calibrate(cr_ctx *cx, cr_junction *j, cr_calibration how);
/* log P(e); -INFINITY: impossible.  Needs the upward messages only. */
CR_API cr_status cr_junction_log_evidence(cr_ctx *cx, cr_junction *j, double *out_log);
/* P(v | e), out [states of v].  Computes the messages that it needs.  Impossible evidence:
 * CR_EDATA. */
CR_API cr_status cr_junction_marginal(cr_ctx *cx, cr_junction *j, size_t v, double *out);
/* All of them, one after another in one list: P(v | e) begins at the sum of the states before v. */
CR_API cr_status cr_junction_marginals(cr_ctx *cx, cr_junction *j, double *out);
/* P(query | e) over n >= 1 different variables.  Within one clique it takes one pass over it;
 * otherwise it is left to bucket elimination. */
CR_API cr_status cr_junction_joint(cr_ctx *cx, cr_junction *j, size_t n, const size_t *query,
                                   cr_factor *out_f);
/* The most probable explanation, by maximising upwards and tracing back; out_state [variables]. */
CR_API cr_status cr_junction_best(cr_ctx *cx, cr_junction *j, size_t *out_state, double *out_log);
/* How many messages have been computed so far. */
CR_API size_t cr_junction_messages(const cr_junction *j);

#endif
