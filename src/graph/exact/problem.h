/* problem.h -- a network as the exact engines see it, after evidence and pruning.
 * Variables of which evidence leaves one state are out of every scope; of the others only the
 * states that are left count.  Tables that cannot matter are left out: those of variables that are
 * neither asked for nor observed nor have such descendants (barren) sum to one.  The variables that
 * remain are renamed by their rank in an elimination order, so that what is eliminated first comes
 * first in every table. (Internal header.) */
#ifndef CREDENCE_GRAPH_EXACT_PROBLEM_H
#define CREDENCE_GRAPH_EXACT_PROBLEM_H

#include "elimination.h"
#include "graph/network/evidence.h"

typedef struct cri_problem {
    const cr_network *net;
    size_t            n;       /* variables of the network */
    size_t           *left;    /* [n] states that evidence leaves */
    size_t           *first;   /* [n] where the list of these begins in `state` */
    size_t           *state;   /* the lists */
    size_t            states;  /* size of `state` */
    double           *weight;  /* beside `state`: likelihoods */
    bool             *weighed; /* [n] the likelihoods are not all 1 */
    bool             *needed;  /* [tables] */
    size_t            active;  /* variables with two states or more in a needed table */
    size_t           *var;     /* [active] as the network counts or sweeps them, until ranked */
    size_t           *rank;    /* [n] place in var; CR_NONE: not active */
    size_t           *active_states; /* [active] beside var */
} cri_problem;

/* opt_query [n]: marks of the variables asked for; tables that cannot matter for them or for P(e)
 * are left out.  NULL: all are needed.  The network must have been checked. */
cr_status cri_problem_new(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                          const bool *opt_query, cri_problem **out_p);
void      cri_problem_free(cr_ctx *cx, cri_problem *p);
/* Takes other evidence: what is left of each variable; which ones are active stays. */
void cri_problem_take(cri_problem *p, const cr_evidence *opt_e);
/* The graph over the active variables, numbered as in p->var. */
cr_status cri_problem_graph(cr_ctx *cx, const cri_problem *p, cr_graph *out_g);
/* Leaves out what is d-separated from the query given the evidence: tables that no path joins to
 * it. The posterior stays, P(e) does not.  Before ranking. */
cr_status cri_problem_connect(cr_ctx *cx, cri_problem *p, const bool *query);
/* Renumbers the active variables: order[i] gets rank i. */
cr_status cri_problem_rank(cr_ctx *cx, cri_problem *p, const size_t *order);
/* Table i with what evidence leaves of it, its scope by ranks, scaled; *out_scale: log of the
 * scale. */
cr_status cri_problem_table(cr_ctx *cx, const cri_problem *p, size_t i, cr_factor *out_f,
                            double *out_scale);
/* The likelihoods of variable v as a factor over its rank (over nothing if it is not active). */
cr_status cri_problem_weight(cr_ctx *cx, const cri_problem *p, size_t v, cr_factor *out_f,
                             double *out_scale);
/* All needed tables and weights; tables whose scope lies in another's are multiplied into it.
 * out_f [*out_n] is freed by cri_factors_free. */
cr_status cri_problem_tables(cr_ctx *cx, const cri_problem *p, cr_factor **out_f, size_t *out_n,
                             double *out_scale);
/* A table over ranks as a normalised factor over the query variables, all their states; observed
 * ones and states that evidence excludes have 0.  f's scope: the active ones of the query. */
cr_status cri_problem_unpack(cr_ctx *cx, const cri_problem *p, const cr_factor *f, size_t n,
                             const size_t *query, cr_factor *out_f);
void      cri_factors_free(cr_ctx *cx, cr_factor *f, size_t n);

#endif
