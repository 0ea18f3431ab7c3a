/* value.h -- what an expression of a program comes to, once it is bound to data.
 * Numbers in the order of Stan's arrays (the last dimension fastest): known ones as doubles, others
 * as slots of the tape.  (Internal header.) */
#ifndef CREDENCE_PROB_PROGRAM_VALUE_H
#define CREDENCE_PROB_PROGRAM_VALUE_H

#include "tape.h"

enum { CRI_VALUE_DIMS = 6 };

/* What the last dimensions are: none of them, one as a column, one as a row, two as a matrix.  The
 * dimensions before them are those of an array. */
typedef enum cri_inner {
    CRI_INNER_NUMBER,
    CRI_INNER_VECTOR,
    CRI_INNER_ROW,
    CRI_INNER_MATRIX
} cri_inner;

typedef struct cri_value {
    bool            whole; /* of type int                                                       */
    cri_inner       inner;
    unsigned        dims;
    size_t          dim[CRI_VALUE_DIMS];
    size_t          n;    /* the product of the dimensions                                      */
    const double   *data; /* [n] if all are known, else NULL                                    */
    const cri_slot *slot; /* [n] if data is NULL                                                */
    const char *const *levels; /* of a column of categories: names of 1, 2, ...; or NULL         */
    size_t             n_levels;
} cri_value;

static inline bool cri_value_is_number(const cri_value *v) { return v->dims == 0; }
static inline bool cri_value_is_known(const cri_value *v) { return v->data != NULL; }

#endif
