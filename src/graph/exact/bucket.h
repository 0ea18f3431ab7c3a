/* bucket.h -- exact answers by eliminating one variable after another.
 * The tables that hold a variable are multiplied and the variable is summed (or maximised) out,
 * without storing the product; what is left goes to the bucket of its first variable, and the
 * tables used are freed.  Before that, evidence is cut out of the tables, and tables that cannot
 * matter are dropped. Needs much less memory than a junction tree (junction.h), but answers one
 * question. Dechter (1999), "Bucket elimination", Artificial Intelligence 113. */
#ifndef CREDENCE_GRAPH_EXACT_BUCKET_H
#define CREDENCE_GRAPH_EXACT_BUCKET_H

#include "elimination.h"
#include "graph/network/evidence.h"

typedef struct cr_exact_options {
    cr_elimination order;  /* which heuristic; BEST by default */
    double         effort; /* for random orders: 1 is usual */
    size_t         memory; /* bytes of tables allowed; 0: what the context has left; SIZE_MAX: any,
                              and any time, where only a report is wanted */
    double         most;   /* operations allowed; 0: no limit */
} cr_exact_options;

/* What it took, or would take. */
typedef struct cr_exact_report {
    size_t         variables;  /* that had to be eliminated, after evidence and pruning */
    size_t         width;      /* induced */
    double         operations; /* entries of all cliques, in all runs */
    double         bytes;  /* held at a time, at the most: tables, lists, the search for an order */
    double         tables; /* of these, tables and what sums need beside them */
    cr_elimination order;  /* the heuristic that was best */
    size_t         tries;  /* orders looked at */
    size_t         conditioned; /* variables whose states were tried in turn to save memory */
    double         runs;        /* how many times that was: the product of their states */
} cr_exact_report;

/* The usual options. */
CR_API cr_exact_options cr_exact_defaults(void);

/* log P(e): of a Markov network log Z with the evidence.  Impossible evidence gives -INFINITY: an
 * answer. Fails with CR_ENOMEM, before any work, when it would take too much (the sentence has the
 * figures). */
CR_API cr_status cr_bucket_log_evidence(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                        const cr_exact_options *opt_o, double *out_log,
                                        cr_exact_report *opt_report);
/* P(query | e) over n >= 1 different variables; opt_log gets log P(e), leaving it out saves the
 * work that only P(e) needs.  Impossible evidence is CR_EDATA (without opt_log it goes unnoticed
 * where it is separated from the query). */
CR_API cr_status cr_bucket_query(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                 size_t n, const size_t *query, const cr_exact_options *opt_o,
                                 cr_factor *out_f, double *opt_log, cr_exact_report *opt_report);
/* The most probable explanation: the full assignment [variables] of the largest p(x, e), and its
 * log. Of equals, one.  Impossible evidence is CR_EDATA. */
CR_API cr_status cr_bucket_best(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                const cr_exact_options *opt_o, size_t *out_state, double *out_log,
                                cr_exact_report *opt_report);
/* Marginal MAP: the assignment of the n query variables (out_state [n]) of the largest P(query, e),
 * all others summed out, and its log. */
CR_API cr_status cr_bucket_map(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                               size_t n, const size_t *query, const cr_exact_options *opt_o,
                               size_t *out_state, double *out_log, cr_exact_report *opt_report);

#endif
