/* sequences.h -- which rows of a table belong together, and in which order.  (Internal header.) */
#ifndef CREDENCE_DATA_DESIGN_SEQUENCES_H
#define CREDENCE_DATA_DESIGN_SEQUENCES_H

#include "data/table/table.h"

/* Rows that belong together.  Sequence k is the rows row[start[k]] .. row[start[k + 1] - 1], in their
 * order; each row is in one sequence, and each sequence has a row.  They are numbered in the
 * order of their first rows. */
typedef struct cri_sequences {
    size_t       n, rows;
    size_t      *start; /* [n + 1] */
    size_t      *row;   /* [rows] */
    const char **names; /* [n] the labels; NULL without a column of them */
    char        *texts; /* of the labels that are numbers */
    double *
        time; /* [rows] of each row, in the unit of its column, days of dates; NULL without a column of it */
} cri_sequences;

/* The sequences of a table: by a column of labels (NULL: all rows are one), in the order of another (NULL: in that of
 * the table).  Fails with CR_EDATA, naming the place, where a label or a time is missing or of the wrong kind; warns of
 * equal times. */
cr_status cri_sequences_find(cr_ctx *cx, const cr_table *table, const char *opt_sequence,
                             const char *opt_time, cri_sequences **out);
/* Frees them.  NULL is allowed. */
void cri_sequences_free(cr_ctx *cx, cri_sequences *s);

#endif
