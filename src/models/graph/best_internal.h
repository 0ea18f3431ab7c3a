/* best_internal.h -- the state of a search for the best assignment, and its bound (best_bound.c).
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GRAPH_BEST_INTERNAL_H
#define CREDENCE_MODELS_GRAPH_BEST_INTERNAL_H

#include "combine.h"
#include "problem.h"

typedef struct cri_best_table {
    size_t        n;
    const size_t *var, *stride;
    const double *value;   /* logs */
    double      **message; /* [n][states]: m_Fv */
    double        gap;     /* what it misses at the chosen states of its variables */
} cri_best_table;

/* Variable v stands at place k of a table. */
typedef struct cri_best_end {
    cri_best_table *t;
    size_t          k;
} cri_best_end;

typedef struct cri_best {
    cr_ctx         *cx;
    cri_problem    *problem;
    size_t          n, m; /* variables, tables */
    cri_best_table *tables;
    cri_best_end   *end;   /* [begin[n]] tables of each variable, one after another */
    size_t         *begin; /* [n + 1] */
    double          constant;
    size_t         *left;   /* [n] states that are left, */
    size_t        **alive;  /* [n][states] these first, then those that are out */
    size_t        **place;  /* [n][states] where a state is in `alive` */
    double        **belief; /* [n][states] b_v = sum_F m_Fv */
    double         *most;   /* [most states] max-marginals of one table, */
    double         *sum;    /* [most states] and of all tables of a variable */
    size_t         *digit;  /* [most variables of a table] */
    size_t         *choice; /* [n] the assignment read off last */
    size_t         *open;   /* [opened] variables with several states left, ascending; */
    size_t          opened;
    cri_best_table **touched; /* [touch] tables that have one of them */
    size_t           touch;
    double           closed; /* the value of all the others */
    size_t          *trail;  /* variables in the order in which they lost states */
    size_t           trailed;
    double           best; /* -INFINITY: none yet */
    size_t          *best_choice;
    double           left_out; /* bound of what the search has not looked at */
    bool             stopped;
    double           work, budget;
    size_t           nodes;
} cri_best;

void cri_best_remove(cri_best *s, size_t v, size_t state);
/* Can nothing below this bound be better than the best found? */
bool cri_best_hopeless(const cri_best *s, double bound);
/* Moves weights until the bound hardly falls, at the most for so many sweeps; removes states that
 * cannot be part of anything better, reads assignments off and keeps the best.  *out: no assignment
 * of the states that are left is above; -INFINITY: there is none. */
void cri_best_tighten(cri_best *s, size_t sweeps, double *out);

#endif
