/* dirichlet.h -- the state of a categorical model: the levels of its columns, a Dirichlet prior and
 * the counts.  (Internal header.) */
#ifndef CREDENCE_MODELS_CONJUGATE_DIRICHLET_H
#define CREDENCE_MODELS_CONJUGATE_DIRICHLET_H

#include "univariate.h"

#define CRI_DIRICHLET "dirichlet-categorical"

typedef struct cri_dirichlet {
    size_t  n, total; /* columns; levels of all of them                               */
    double  level;
    double *sizes;  /* [n] levels of each column                                      */
    double *values; /* [total] the value of each level: its code, or its number, rising */
    double *prior;  /* [total] */
    double *counts; /* [total] */
} cri_dirichlet;

/* A new state that knows the levels of the rows; counts and prior are zero.  Fails with CR_EDATA
 * where a column holds numbers that are not whole, or too many of them. */
cr_status cri_dirichlet_new(cr_ctx *cx, const cri_rows *rows, cri_dirichlet **out);
/* A copy. */
cr_status cri_dirichlet_copy(cr_ctx *cx, const cri_dirichlet *from, cri_dirichlet **out);
void      cri_dirichlet_free(cr_ctx *cx, void *state);
/* The level of a value among K rising ones; K when there is none. */
size_t cri_dirichlet_find(const double *values, size_t K, double x);
/* The text of a level; room [CRI_DOUBLE_SIZE] is for numbers. */
const char *cri_dirichlet_level(const cri_design_column *column, double value, char *room);
/* Adds the rows to the counts.  CR_EDATA at a number that is not among the levels. */
cr_status cri_dirichlet_count(cr_ctx *cx, const cri_rows *rows, cri_dirichlet *m);
/* To and from the model file. */
cr_status cri_dirichlet_write(cr_ctx *cx, const void *state, cri_store *store, json_t *out);
cr_status cri_dirichlet_read(cr_ctx *cx, const cri_store *store, const json_t *in,
                             const cr_design *design, void **out_state);

#endif
