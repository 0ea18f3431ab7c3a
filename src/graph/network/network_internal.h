/* network_internal.h -- the inside of a network.  (Internal header.) */
#ifndef CREDENCE_GRAPH_NETWORK_NETWORK_INTERNAL_H
#define CREDENCE_GRAPH_NETWORK_NETWORK_INTERNAL_H

#include "network.h"

#include <float.h>
#include <stdio.h>

/* What the causes of a noisy-or or noisy-max do, each by itself (noisy.h). */
typedef struct cri_noisy {
    size_t  rows, levels; /* 0: the table is of another kind */
    bool    falling;      /* level k is state levels - 1 - k */
    double *effect; /* [rows x levels] distributions: the leak, then each state of each parent */
} cri_noisy;

typedef struct cri_table {
    size_t      n, size; /* size 0: no values yet, or effects only */
    size_t     *scope;   /* [n] */
    double     *value;   /* [size] */
    cr_cpd_kind kind;
    char       *source; /* its parameters as JSON (json_network.h); NULL: none but the values */
    cri_noisy   noisy;
} cri_table;

typedef struct cri_property {
    size_t variable;
    char  *text;
} cri_property;

struct cr_network {
    cr_network_kind kind;
    char           *name;
    cr_variables   *variables;
    cri_table      *table; /* [tables] used of [table_capacity]; Bayesian: one per variable */
    size_t          tables, table_capacity;
    cri_property   *property;
    size_t          properties, property_capacity;
    size_t *sweep;  /* [sweeps] all variables in an order in which few are open at a time, or */
    size_t  sweeps; /* 0: nothing is known of that */
};

/* cr_network_check; *opt_fault: the variable that a failure is about (a cycle: one on it). */
cr_status cri_network_check(cr_ctx *cx, const cr_network *net, size_t *opt_fault);
/* cr_network_order likewise. */
cr_status cri_network_order(cr_ctx *cx, const cr_network *net, size_t *out_order,
                            size_t *opt_fault);
/* What table i was made from: JSON of the kind's key (json_network.h).  Dropped when the table
 * changes. */
cr_status cri_network_set_source(cr_ctx *cx, cr_network *net, size_t i, const char *text);
/* Room for the table of v [*out_size], without values; refused where it does not fit memory. */
cr_status cri_network_new_table(cr_ctx *cx, const cr_network *net, size_t v, double **out_value,
                                size_t *out_size);
/* cr_network_set_table_kind with such a table: it belongs to the network then, or is freed on
 * failure. */
cr_status cri_network_take_table(cr_ctx *cx, cr_network *net, size_t v, double *value, size_t size,
                                 cr_cpd_kind kind);
/* cr_network_set_parents where a table is to follow: refused where that does not fit memory. */
cr_status cri_network_set_scope(cr_ctx *cx, cr_network *net, size_t v, size_t n,
                                const size_t *parents);
/* Adds the variables of another network, of whichever kind, in their order. */
cr_status cri_network_copy_variables(cr_ctx *cx, const cr_network *net, cr_network *out);
/* Table i of another Bayesian network becomes that of v, with these parents in place of its own. */
cr_status cri_network_copy_table(cr_ctx *cx, const cr_network *from, size_t i,
                                 const size_t *parents, cr_network *net, size_t v);
/* Frees the effects and leaves none. */
void cri_noisy_free(cr_ctx *cx, cri_noisy *x);
/* Effects of their own that are the same. */
cr_status cri_noisy_copy(cr_ctx *cx, const cri_noisy *x, cri_noisy *out);
/* p becomes the distribution of the larger of two levels, one ~ p, the other ~ q. */
void cri_noisy_fold(size_t levels, const double *q, double *p);
/* p(v | parents) of a full assignment [variables], from the effects. */
double cri_noisy_value(const cr_network *net, const cri_table *t, const size_t *state);
/* The last comes first. */
void cri_noisy_turn(size_t n, double *p);
/* The words for the kinds: "table", "noisy-or", ... */
const char *cri_cpd_name(cr_cpd_kind kind);

/* Fails with CR_EDATA: P(e) = 0. */
cr_status cri_fail_impossible(cr_ctx *cx);
/* Where the states of variable v begin among those of all, one variable after another.  O(v). */
size_t cri_states_before(const cr_network *net, size_t v);

#endif
