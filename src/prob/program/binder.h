/* binder.h -- a program and its data become a tape.
 * The program is run once, as its text says: what depends on data alone is computed, loops and
 * conditions are followed, and what depends on parameters is written to the tape.  So neither
 * loops, branches nor types are left when the density is evaluated.  Loops over rows write
 * operations on single numbers, which cri_tape_batch puts together again.
 *
 * In a text without blocks a name is data if the data have it, a parameter if it stands left of a
 * '~' or is declared without a value, and else what a '=' made it; the support of a parameter is
 * that of its prior, or what its declaration says.  (Internal header.) */
#ifndef CREDENCE_PROB_PROGRAM_BINDER_H
#define CREDENCE_PROB_PROGRAM_BINDER_H

#include "syntax.h"
#include "value.h"

/* What is given: numbers under names, dimensions before. */
typedef struct cri_program_datum {
    const char        *name;
    bool               whole, column; /* a column of a table: a vector, or an array of int     */
    unsigned           dims;
    size_t             dim[CRI_VALUE_DIMS];
    const double      *values;
    const char *const *levels;
    size_t             n_levels;
} cri_program_datum;

typedef enum cri_constraint {
    CRI_CONSTRAINT_ALL,
    CRI_CONSTRAINT_LOWER,
    CRI_CONSTRAINT_UPPER,
    CRI_CONSTRAINT_BETWEEN,
    CRI_CONSTRAINT_ORDERED,
    CRI_CONSTRAINT_POSITIVE_ORDERED,
    CRI_CONSTRAINT_SIMPLEX,
} cri_constraint;

/* A parameter, or what is reported with the parameters. */
typedef struct cri_program_quantity {
    const char        *name;
    bool               parameter;
    unsigned           dims;
    size_t             dim[CRI_VALUE_DIMS], n;
    cri_slot          *slot;   /* [n]                                                          */
    const char *const *levels; /* names of the entries of the first dimension, or NULL         */
    bool               flat;   /* a parameter without a prior: the density may be improper      */
} cri_program_quantity;

typedef struct cri_bound {
    cri_tape              tape;
    cri_program_quantity *quantity;
    size_t                n_quantities;
    size_t                observed; /* known numbers left of a '~'                            */
} cri_bound;

/* Binds.  The tree, data and text may go afterwards; names are copied. */
cr_status cri_program_bind(cr_ctx *cx, const cri_syntax_tree *tree, const cri_program_datum *data,
                           size_t n_data, cri_bound *out_program);
void      cri_bound_free(cri_bound *p);

#endif
