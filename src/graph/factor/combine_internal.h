/* combine_internal.h -- how tables lie in a block, and the loops over one.  (Internal header.) */
#ifndef CREDENCE_GRAPH_FACTOR_COMBINE_INTERNAL_H
#define CREDENCE_GRAPH_FACTOR_COMBINE_INTERNAL_H

#include "combine.h"

typedef enum cri_pattern { CRI_STRAIGHT, CRI_CONSTANT, CRI_LISTED } cri_pattern;

/* One step of folding a block onto an output: [outer x states x inner] loses its middle. */
typedef struct cri_fold {
    size_t outer, states, inner;
} cri_fold;

/* How one table is walked. */
typedef struct cri_track {
    const double   *value;
    size_t          step[CRI_MOST_DIMS]; /* by which the offset moves (mod 2^64) when outer
                                          variable p goes on and those after it start again */
    size_t          stride[CRI_MOST_DIMS];
    cri_pattern     shape;
    const uint32_t *place; /* [block] for CRI_LISTED */
    size_t          folds; /* of a CRI_LISTED output: its missing variables, slowest first */
    cri_fold        fold[16];
    size_t level;  /* 0: the same in every block; else 1 + the innermost outer variable it has */
    size_t buffer; /* for its product: tables of one level share that of the first of them */
} cri_track;

/* to = from * table (or from + table for logarithms); from may be to. */
void cri_block_multiply(const cri_track *t, const double *v, size_t n, bool logs,
                        const double *from, double *to);
/* to = table. */
void cri_block_spread(const cri_track *t, const double *v, size_t n, double *to);
/* out += r; workspace [n] to fold in. */
void cri_block_add(const cri_track *t, double *out, const double *r, size_t n, double *workspace);
/* out = max(out, r). */
void cri_block_max(const cri_track *t, double *out, const double *r, size_t n);
/* The same where r is larger, noting which; the output is straight: its variables alone make the
 * block. */
void cri_block_argmax(double *out, uint16_t *arg, const double *r, size_t n, uint16_t which);
/* out += exp(r - peak). */
void cri_block_add_exp(const cri_track *t, double *out, const double *peak, const double *r,
                       size_t n);

#endif
