/* oddities.h -- columns that are rarely meant as they stand: ids, constants, and codes such as -999 for
 * values that are not known.  (Internal header.) */
#ifndef CREDENCE_DATA_TABLE_ODDITIES_H
#define CREDENCE_DATA_TABLE_ODDITIES_H

#include "summary.h"

typedef enum cri_oddity_kind {
    CRI_ODD_NOTHING,
    CRI_ODD_ID,    /* whole numbers that count the rows, or all different under a name like `id` */
    CRI_ODD_TEXTS, /* another text in every row */
    CRI_ODD_CONSTANT, /* one value in every row */
    CRI_ODD_CODE      /* a number of nines, or -1, that is repeated and far from all others */
} cri_oddity_kind;

typedef struct cri_oddity {
    cri_oddity_kind kind;
    double          code;  /* of CRI_ODD_CODE */
    size_t          count; /* the rows that have it */
} cri_oddity;

/* What is odd about a column of a table of so many rows; of fewer than 20 rows nothing is.  With the
 * summary of the column all rows are looked at, mostly in O(1); without it, codes are looked for
 * in 8192 rows, so that a fit does not read a large table once more: a code that is rarer than
 * one row in a thousand may be missed there. */
cr_status cri_find_oddity(cr_ctx *cx, const cr_column *column, size_t rows,
                          const cr_summary *opt_summary, cri_oddity *out);
/* Warns of it, and names the option that helps; of ids, texts and constants only as features. */
void cri_warn_of_oddity(cr_ctx *cx, const cr_column *column, const cri_oddity *oddity);

/* Warns of a column of numbers that has lost digits of whole numbers beyond 2^53. */
void cri_warn_of_digits(cr_ctx *cx, const char *source, const char *column);

#endif
