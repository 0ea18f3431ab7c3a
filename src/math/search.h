/* search.h -- discrete search over a neighbourhood that the caller gives: greedy and beam.
 * A state is a block of state_size bytes, copied freely; the score is to be as high as possible.
 * Greedy moves to the best neighbour while that scores strictly more.  The beam holds the `width`
 * best states met so far, looks at the neighbours of each once, and ends when none of them enters
 * (Russell & Norvig 2010, sec. 4.1: local beam search); of width 1 it is the greedy search.
 * Ties are broken by the order of the states, not by the order in which neighbours come: the
 * result depends on the problem alone.  A score of NaN or -infinity forbids a state. */
#ifndef CREDENCE_MATH_SEARCH_H
#define CREDENCE_MATH_SEARCH_H

#include "base/context.h"

typedef struct cr_search_sink cr_search_sink;

typedef struct cr_search_problem {
    size_t state_size;
    /* Calls cr_search_offer(sink, neighbour) for each neighbour of the state. */
    cr_status (*neighbours)(void *user, const void *state, cr_search_sink *sink);
    cr_status (*score)(void *user, const void *state, double *out_score);
    /* < 0, 0, > 0: a total order of the states, 0 for the same state; NULL: memcmp. */
    int (*compare)(void *user, const void *a, const void *b);
    void *user;
} cr_search_problem;

typedef struct cr_search_limits {
    size_t rounds, scores; /* at the most, counted as in the report; 0: any number */
} cr_search_limits;

typedef struct cr_search_report {
    double score;          /* of the state found                                          */
    size_t rounds, scores; /* moves of greedy, states expanded by the beam; scores computed */
    bool   complete;       /* no limit ended it: no neighbour is better                    */
} cr_search_report;

/* Scores a neighbour and keeps it if it is good; returns the status to hand on. */
CR_API cr_status cr_search_offer(cr_search_sink *sink, const void *state);

/* Searches from `state`, which becomes the best state found.  limits NULL: none.  Fails with
 * CR_EARG when the score of the start is NaN or -infinity, CR_EINTERRUPTED, CR_ENOMEM or as the
 * callbacks do; the state and *out_report are then as they were. */
CR_API cr_status cr_search_greedy(cr_ctx *cx, const cr_search_problem *problem,
                                  const cr_search_limits *limits, void *state,
                                  cr_search_report *out_report);
/* The same with the `width` >= 1 best.  O(width) states of memory. */
CR_API cr_status cr_search_beam(cr_ctx *cx, const cr_search_problem *problem, size_t width,
                                const cr_search_limits *limits, void *state,
                                cr_search_report *out_report);

#endif
