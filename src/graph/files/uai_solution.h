/* uai_solution.h -- answers in the files of the UAI inference competitions.
 *     MAR    marginals: the number of variables, then for each the number of its states and their
 *            probabilities; observed variables have 0 and 1
 *     PR     log10 of P(e), of a Markov network of Z with the evidence
 *     MAP, MPE   the number of variables, then the state of each
 * The first word says which.  Older files have a 1, the number of samples, behind it. */
#ifndef CREDENCE_GRAPH_FILES_UAI_SOLUTION_H
#define CREDENCE_GRAPH_FILES_UAI_SOLUTION_H

#include "graph/network/network.h"

typedef enum cr_solution_kind {
    CR_SOLUTION_NONE,
    CR_SOLUTION_MAR,
    CR_SOLUTION_PR,
    CR_SOLUTION_MAP,
    CR_SOLUTION_MPE
} cr_solution_kind;

typedef struct cr_solution {
    cr_solution_kind kind;
    size_t           states;   /* of all variables together */
    double          *marginal; /* MAR [states] one variable after another; else NULL */
    double           log_z;    /* PR, the natural logarithm */
    size_t           variables;
    size_t          *state; /* MAP, MPE [variables]; else NULL */
} cr_solution;              /* all zeros: nothing to free */

/* The kind that the end of a file name stands for: .MAR, .PR, .MAP, .MPE, in any case. */
CR_API cr_solution_kind cr_solution_kind_of(const char *path);
/* "MAR", "PR", "MAP", "MPE"; "" of none. */
CR_API const char *cr_solution_name(cr_solution_kind kind);
/* An empty solution of this kind for a network: all numbers 0. */
CR_API cr_status cr_solution_new(cr_ctx *cx, const cr_network *net, cr_solution_kind kind,
                                 cr_solution *out);
/* Frees a solution and leaves none. */
CR_API void cr_solution_free(cr_ctx *cx, cr_solution *s);
/* Reads a solution for this network.  Fails with CR_EIO, or CR_EDATA with file, line and column. */
CR_API cr_status cr_solution_read(cr_ctx *cx, const char *path, const cr_network *net,
                                  cr_solution *out);
/* Writes one, atomically. */
CR_API cr_status cr_solution_write(cr_ctx *cx, const cr_network *net, const cr_solution *s,
                                   const char *path);

#endif
