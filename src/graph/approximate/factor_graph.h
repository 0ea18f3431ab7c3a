/* factor_graph.h -- what the approximate methods work on: variables, tables, and their edges.
 * The tables of a problem (problem.h) with the evidence cut out, as plain values of which the
 * largest is 1; an edge joins a table to each variable of its scope, and the edges of a table are
 * adjacent, in the order of its scope.  (Internal header.) */
#ifndef CREDENCE_GRAPH_APPROXIMATE_FACTOR_GRAPH_H
#define CREDENCE_GRAPH_APPROXIMATE_FACTOR_GRAPH_H

#include "graph/exact/problem.h"

typedef struct cri_fgraph {
    cri_problem  *problem;
    size_t        n;      /* active variables */
    const size_t *states; /* [n] */
    size_t        m;      /* tables, each over one variable or more */
    cr_factor    *table;  /* [m] */
    size_t        made;   /* size of `table` */
    size_t        edges;
    size_t       *first;  /* [m + 1] edges of a table */
    size_t       *var;    /* [edges] */
    size_t       *of;     /* [edges] its table */
    size_t       *begin;  /* [n + 1] edges of a variable: at[begin[v]] .. */
    size_t       *at;     /* [edges] */
    size_t       *offset; /* [edges + 1] where the numbers of an edge begin */
    size_t       *start;  /* [n + 1] where the numbers of a variable begin */
    size_t        most_size, most_states, most_scope; /* of a table; of a variable; of a scope */
    double        scale; /* log of what was divided by; -INFINITY: a table is all 0 */
} cri_fgraph;

/* opt_query as for cri_problem_new. */
cr_status cri_fgraph_new(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                         const bool *opt_query, cri_fgraph *out_g);
void      cri_fgraph_free(cr_ctx *cx, cri_fgraph *g);
/* log of the product of all tables at an assignment of the active variables, with the scale. */
double cri_fgraph_log_value(const cri_fgraph *g, const size_t *state);
/* Spreads numbers of the active variables [start[n]] over all states of all variables of the
 * network; what evidence decides is 0 or 1 (`certain` in place of 1). */
void cri_fgraph_spread(const cri_fgraph *g, const double *from, double certain, double *out);
/* An assignment of the active variables as one of all. */
void cri_fgraph_assign(const cri_fgraph *g, const size_t *state, size_t *out_all);

/* out[states of slot t] = sum (or max) of value * prod_{slots j != t} w_j over all other slots;
 * w: weights of all slots one after another.  workspace: 2 x size. */
void cri_table_message(const cr_factor *f, const double *value, const double *w, size_t t,
                       bool maximise, double *workspace, double *out);

#endif
