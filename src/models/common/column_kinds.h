/* column_kinds.h -- options that say something of each column: a distribution by its name, a number.  A list whose
 * items are a value for all columns of numbers, or COLUMN=VALUE for one; the latter count whatever the order.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_COLUMN_KINDS_H
#define CREDENCE_MODELS_COMMON_COLUMN_KINDS_H

#include "data/design/design_internal.h"

/* The column of term j, in the numbers of cr_design_columns. */
size_t cri_term_column(const cr_design *design, size_t term);
/* How many levels the code in term j may be; 0 if it is no category. */
size_t cri_term_levels(const cr_design *design, size_t term);

/* A whole text as a number that is finite. */
bool cri_text_number(const char *text, double *out);

/* Calls take(cx, design, column, value, arg) for each item: those without a column first, for which column is
 * CRI_ALL_COLUMNS: no index of one, as terms that are made have columns behind those of the data.  Fails with CR_EARG where a column is unknown or a category. */
#define CRI_ALL_COLUMNS SIZE_MAX
typedef cr_status cri_column_item(cr_ctx *cx, const cr_design *design, size_t column, char *value,
                                  void *arg);
cr_status         cri_column_items(cr_ctx *cx, const cr_design *design, const char *option,
                                   const char *list, cri_column_item *take, void *arg);

/* The names of distributions that an option may choose, of which number `graded` takes a threshold, NAME:THRESHOLD;
 * n: none does. */
typedef struct cri_kind_names {
    const char        *option;
    const char *const *names;
    size_t             n, graded;
} cri_kind_names;

/* Sets kind [p], an index into the names, and threshold [p] as the option says: of the named columns, and of all numbers
 * except booleans. */
cr_status cri_column_kinds(cr_ctx *cx, const cr_design *design, const char *numbers,
                           const cri_kind_names *names, size_t *kind, double *threshold);

#endif
