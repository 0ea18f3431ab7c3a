/* best_internal.h -- the state of a search for the best assignment, and its bound (best_bound.c).
 * (Internal header.) */
#ifndef CREDENCE_GRAPH_BEST_BEST_INTERNAL_H
#define CREDENCE_GRAPH_BEST_BEST_INTERNAL_H

#include "graph/factor/combine.h"
#include "graph/exact/problem.h"

typedef struct cri_best_table {
    size_t        n;
    const size_t *var, *stride;
    const double *value;   /* logs */
    double      **message; /* [n][states]: m_Fv */
    double        top;     /* the largest entry that messages leave, of the states that are left, */
    bool          stale;   /* unless that has to be found again */
    double        gap;     /* what it misses at the chosen states of its variables */
} cri_best_table;

/* What has to be done about a variable, because something near it has changed. */
enum {
    CRI_BEST_FORWARD = 1,  /* visit it in the next sweep forwards, */
    CRI_BEST_BACKWARD = 2, /* backwards, */
    CRI_BEST_MARGIN = 4,   /* find again what its states miss, */
    CRI_BEST_CHOICE = 8,   /* choose its state anew */
    CRI_BEST_ALL = 15
};

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
    bool           *front; /* [begin[n]] of the variable visited last: the table lies ahead */
    double          constant;
    size_t         *left;   /* [n] states that are left, */
    size_t        **alive;  /* [n][states] these first, then those that are out */
    size_t        **place;  /* [n][states] where a state is in `alive` */
    double        **belief; /* [n][states] b_v = sum_F m_Fv */
    double **past[2]; /* [n][states] what v held when it was visited last, forwards, backwards */
    double **margin;  /* [n][states] what the bound falls by, at least, if v is in this state */
    unsigned char   *due;    /* [n] */
    double           tiny;   /* changes below do not count */
    double          *most;   /* [most states] max-marginals of one table, */
    double          *sum;    /* [most states] and of all tables of a variable */
    size_t          *digit;  /* [most variables of a table] */
    size_t          *choice; /* [n] the assignment read off last */
    size_t          *open;   /* [opened] variables with several states left, ascending; */
    size_t           opened;
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
    double           reserve; /* seconds before the time limit at which the budget is used up */
    bool             timed;   /* that is so */
    size_t           nodes;
} cri_best;

void cri_best_remove(cri_best *s, size_t v, size_t state);
/* Ends the budget when the time limit is near, so that what has been found can still be reported.
 * Fails when interrupted. */
cr_status cri_best_check_time(cri_best *s);
/* Says that v has lost or got back a state. */
void cri_best_touch(cri_best *s, size_t v);
/* Can nothing below this bound be better than the best found? */
bool cri_best_hopeless(const cri_best *s, double bound);
/* Keeps the assignment `choice` if it is the best so far. */
void cri_best_keep(cri_best *s);
/* Improves the best assignment (best_polish.c): the better it is, the more states cannot be part of
 * anything better. */
cr_status cri_best_polish(cri_best *s);
/* Moves weights until the bound hardly falls, at the most for so many sweeps; removes states that
 * cannot be part of anything better, reads assignments off and keeps the best.  *out: no assignment
 * of the states that are left is above; -INFINITY: there is none. */
void cri_best_tighten(cri_best *s, size_t sweeps, double *out);

#endif
