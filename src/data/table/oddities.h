/* oddities.h -- columns that are rarely meant as they stand: ids, constants, codes such as -999 for
 * values that are not known, infinite numbers, times of day, and levels that may be one.
 * (Internal header.) */
#ifndef CREDENCE_DATA_TABLE_ODDITIES_H
#define CREDENCE_DATA_TABLE_ODDITIES_H

#include "summary.h"

typedef enum cri_oddity_kind {
    CRI_ODD_NOTHING,
    CRI_ODD_ID,    /* whole numbers that count the rows, or all different under a name like `id` */
    CRI_ODD_TEXTS, /* another text in every row */
    CRI_ODD_CONSTANT, /* one value in every row */
    CRI_ODD_CODE,     /* a number of nines, or -1, that is repeated and far from all others */
    CRI_ODD_UNIT,     /* texts that are all a number and the same unit */
    CRI_ODD_SERIAL,   /* whole numbers under a name like `date`: days as spreadsheets count them */
    CRI_ODD_PACKED,   /* whole numbers that are all dates, such as 20230131 */
    CRI_ODD_INFINITE, /* numbers of which some are infinite, in however few rows; so below */
    CRI_ODD_TIMES,    /* texts that are all times of day, of one format or of two */
    CRI_ODD_ALIKE     /* levels that differ only in capital letters or in blanks at their ends */
} cri_oddity_kind;

typedef struct cri_oddity {
    cri_oddity_kind kind;
    double          code;  /* of CRI_ODD_CODE */
    size_t          count; /* the rows that have it, or are infinite */
    const char
        *unit; /* of CRI_ODD_UNIT: in the first level; of CRI_ODD_TIMES: their format, NULL: two */
    const char *alike[2]; /* of CRI_ODD_ALIKE, or CRI_ODD_TIMES of two formats: two of the levels */
} cri_oddity;

/* The least and the greatest value of a column: of all rows, or of 8192 of them. */
typedef struct cri_ends {
    double min, max;
    bool   all;
} cri_ends;

/* Ends of the columns first .. end - 1 of a table; { 0 } at first. */
enum { CRI_SIDE_BY_SIDE = 256 };
typedef struct cri_sampled {
    size_t first, end;
    double min[CRI_SIDE_BY_SIDE], max[CRI_SIDE_BY_SIDE];
} cri_sampled;

/* The ends of column k by 8192 rows, so that a fit does not read a large table once more: a code that is
 * rarer than one row in a thousand may be missed there.  Columns that lie side by side in the rows of a
 * matrix are read together and `known` keeps what was found, so that memory is read line by line. */
cri_ends cri_sampled_ends(const cr_table *table, size_t k, cri_sampled *known);

/* What is odd about a column of a table of so many rows; of fewer than 20 rows little is.  Mostly in
 * O(1); O(rows) where the ends look like a code or like row numbers. */
cr_status cri_find_oddity(cr_ctx *cx, const cr_column *column, size_t rows, cri_ends ends,
                          cri_oddity *out);
/* Warns of it, and names the option that helps; of ids, texts and constants only as features. */
void cri_warn_of_oddity(cr_ctx *cx, const cr_column *column, const cri_oddity *oddity);

/* Two levels of a category that differ only in capital letters (of ASCII) or in blanks at their ends;
 * NULL if there are none.  O(levels log levels). */
cr_status cri_find_alike(cr_ctx *cx, const cr_column *column, const char **out_one,
                         const char **out_other);
/* Whether the levels of a category are all times of day: their format, "%H:%M" or "%H:%M:%S", or NULL and two levels of
 * different formats. */
bool cri_are_times(const cr_column *column, const char **out_format, const char *out_two[2]);

/* Warns of rows without a value in any of the columns, of which there are two or more. */
void cri_warn_of_empty_rows(cr_ctx *cx, const cr_table *table);

/* Warns of a column of numbers that has lost digits of whole numbers beyond 2^53. */
void cri_warn_of_digits(cr_ctx *cx, const char *source, const char *column);

#endif
