/* dirichlet.h -- the state of a categorical model: the levels of its columns, a Dirichlet prior and
 * the counts.  (Internal header.) */
#ifndef CREDENCE_MODELS_CONJUGATE_DIRICHLET_H
#define CREDENCE_MODELS_CONJUGATE_DIRICHLET_H

#include "univariate.h"

#define CRI_DIRICHLET "dirichlet-categorical"

/* clang-format off */
#define CRI_DIRICHLET_STATE(MEMBER)                                                                \
    MEMBER(count,  n,      (),      "",       "columns")                                           \
    MEMBER(count,  total,  (),      "",       "levels of all of them")                             \
    MEMBER(real,   level,  (),      "0<..<1", "mass of the intervals that are shown")              \
    MEMBER(index,  sizes,  (n),     ">=1",    "levels of each column")                             \
    MEMBER(vector, values, (total), "",       "value of each level: its code, or its number, rising") \
    MEMBER(vector, prior,  (total), ">=0",    "Dirichlet's parameters of the prior")               \
    MEMBER(vector, counts, (total), ">=0",    "of the rows")
/* Of these, what merges. */
#define CRI_DIRICHLET_SUMS(MEMBER)                                                                 \
    MEMBER(count,  total,  (),      "",       "")                                                  \
    MEMBER(vector, counts, (total), ">=0",    "")
/* clang-format on */

CRI_RECORD(cri_dirichlet, CRI_DIRICHLET_STATE);
extern const cri_member cri_dirichlet_record[], cri_dirichlet_sums_record[];

/* A new state that knows the levels of the rows; counts and prior are zero.  Fails with CR_EDATA
 * where a column holds numbers that are not whole, or too many of them. */
cr_status cri_dirichlet_new(cr_ctx *cx, const cri_rows *rows, cri_dirichlet **out);
/* The level of a value among K rising ones; K when there is none. */
size_t cri_dirichlet_find(const double *values, size_t K, double x);
/* The text of a level; buffer [CRI_DOUBLE_SIZE] is for numbers. */
const char *cri_dirichlet_level(const cri_design_column *column, double value, char *buffer);
/* The counts of rows.  CR_EDATA at a number that is not among the levels. */
cr_status cri_dirichlet_gather(cr_ctx *cx, const void *state, const cri_rows *rows,
                               const void *options, void *sums);
cr_status cri_dirichlet_merge(cr_ctx *cx, const void *state, void *a, const void *b);
/* Whether a state that was read fits the levels of the design. */
cr_status cri_dirichlet_ready(cr_ctx *cx, void *state, const cr_design *design);

#endif
