/* junction_internal.h -- the inside of a junction tree.  (Internal header.) */
#ifndef CREDENCE_GRAPH_EXACT_JUNCTION_INTERNAL_H
#define CREDENCE_GRAPH_EXACT_JUNCTION_INTERNAL_H

#include "junction.h"
#include "graph/factor/message.h"
#include "problem.h"

typedef struct cri_edge_message {
    cr_factor table; /* over the separator; no value: no memory yet */
    double    scale; /* log, with the scales of all that went into it */
    bool      valid;
    bool      divided; /* came from a division by up: wrong when up changes */
} cri_edge_message;

/* One clique.  Scopes are ranks, ascending: what is eliminated here comes first. */
typedef struct cri_clique {
    size_t           n, *scope;  /* [n] */
    size_t           eliminated; /* the first variables of the scope: not in S */
    size_t           parent;     /* CR_NONE: a root */
    size_t           children, *child;
    size_t           tables, *table; /* tables assigned to it */
    size_t           height;         /* 0: a leaf */
    size_t           depth;          /* 0: a root */
    bool             skipped;        /* its message upwards is not wanted now */
    cri_edge_message up, down;
} cri_clique;

struct cr_junction {
    const cr_network *net;
    cr_exact_options  options;
    cr_exact_report   report;
    cri_problem      *problem;  /* holds the evidence; active variables by rank */
    cr_evidence      *evidence; /* what holds now */
    cri_clique       *clique;   /* [cliques], children before parents */
    size_t            cliques;
    size_t           *by_height, *by_depth; /* [cliques] sorted: leaves first, roots first */
    size_t           *home; /* [active] the clique in which a variable is eliminated */
    cr_factor *table; /* [tables] what evidence leaves now of each table of the network (no value:
                         not needed), then of each active variable its likelihoods (or none) */
    double    *scale; /* [tables] logs of their scales */
    size_t     tables;
    double    *marginal; /* [all states] where known */
    bool      *known;    /* [variables] */
    size_t    *offset;   /* [variables + 1] of marginal */
    double     constant; /* log: tables without active variables, observed likelihoods */
    double     own;      /* bytes of what does not depend on the cliques, */
    double     lists;    /* of all that is no table, */
    double     least;    /* at the most until all tables are made */
    size_t     messages;
};

/* Cliques of so many entries have all threads for themselves; smaller ones go side by side if a
 * level of the tree has so many in all. */
enum { CRI_ALONE = CRI_WORTH_THREADS };

/* Inputs of a clique: its tables, what came up from children (but `except`), what came down.
 * Returns how many; *out_scale: the sum of their logs.  in [tables + children + 1]. */
size_t cri_clique_inputs(const cr_junction *j, const cri_clique *c, size_t except, bool with_down,
                         const cr_factor **in, double *out_scale);
/* The product of what clique `at` and its neighbours hold, less one of its tables, summed onto a scope
 * that the clique covers; up to a factor. */
cr_status cri_clique_sum(cr_ctx *cx, cr_junction *j, size_t at, size_t n, const size_t *rank,
                         const size_t *states, const cr_factor *opt_without, cr_factor *out_f);
/* The space of a clique with the states that are left.  false: too many variables. */
bool cri_clique_space(const cr_junction *j, const cri_clique *c, cri_space *out);
/* Gives f the scope of the clique without its first `from` variables, and memory.  Quiet: false
 * without memory. */
bool cri_clique_table(cr_ctx *cx, const cr_junction *j, const cri_clique *c, size_t from,
                      cr_factor *f);
/* cr_junction_new of a network that has been checked. */
cr_status cri_junction_new(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                           const cr_exact_options *opt_o, cr_junction **out_j);
/* Fills the report (junction_bytes.c).  Bytes: `finding` at the most while the cliques were looked
 * for, `held` now, of which `passing` will be given back. */
cr_status cri_junction_predict(cr_ctx *cx, cr_junction *j, const cr_order *o, double finding,
                               double held, double passing);
/* Forgets all messages: what follows is as of a new tree. */
void cri_junction_forget(cr_junction *j);

/* The steps at clique c (junction_message.c), once what they need is there: up_c; down_k of the child
 * k from all other neighbours of its parent (Shafer-Shenoy), and of all children k of c; the same by
 * one pass over c and divisions (Hugin), with the marginals that no child has; the marginals of
 * variables eliminated in c that are still unknown.  Quiet: false without memory.  threaded: all
 * threads work on it. */
bool cri_send_up(cr_ctx *cx, cr_junction *j, size_t c, bool threaded);
bool cri_send_down(cr_ctx *cx, cr_junction *j, size_t k, bool threaded);
bool cri_send_to_children(cr_ctx *cx, cr_junction *j, size_t c, bool threaded);
bool cri_update_children(cr_ctx *cx, cr_junction *j, size_t c, bool threaded);
bool cri_rest_of_marginals(cr_ctx *cx, cr_junction *j, size_t c, bool threaded);

/* Computes the messages upwards that are missing. */
cr_status cri_junction_collect(cr_ctx *cx, cr_junction *j);
/* Computes the messages that lead to clique `towards` and are missing: those up from all cliques
 * except the ones above it, those down on the way to it. */
cr_status cri_junction_pull(cr_ctx *cx, cr_junction *j, size_t towards);
/* The marginals of these eliminated variables of clique c (places in its scope), from one pass over
 * it. */
bool cri_clique_marginals(cr_ctx *cx, cr_junction *j, size_t c, size_t n, const size_t *place,
                          bool threaded);

#endif
