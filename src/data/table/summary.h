/* summary.h -- one column in a few numbers. */
#ifndef CREDENCE_DATA_TABLE_SUMMARY_H
#define CREDENCE_DATA_TABLE_SUMMARY_H

#include "table.h"

typedef struct cr_summary {
    size_t present;            /* rows that have a value                                         */
    double min, mean, sd, max; /* of numbers (sd with n - 1); NaN where there are none            */
    size_t frequent;           /* categories: index of the most frequent level, and its row count */
    size_t frequent_count;
} cr_summary;

/* Summarises a column of `rows` rows.  O(rows); categories need O(levels) scratch. */
CR_API cr_status cr_summarise(cr_ctx *cx, const cr_column *column, size_t rows,
                              cr_summary *out_summary);

/* Summarises all cells of a table's sparse block as one column.  O(entries). */
CR_API cr_status cr_summarise_csr(cr_ctx *cx, const cr_table *table, cr_summary *out_summary);

/* Summarises every column of a table, columns side by side: out [columns].  A sparse block is not
 * spread out: O(entries + columns) time and scratch. */
CR_API cr_status cr_summarise_table(cr_ctx *cx, const cr_table *table, cr_summary *out_summaries);

/* What is in a table, each column in a few numbers and words, as JSON with the names that `credence describe`
 * prints; freed with cr_free(cx, json, strlen(json) + 1, 1).  Warns of what is odd about a column. */
CR_API cr_status cr_table_report(cr_ctx *cx, const cr_table *table, char **out_json);

#endif
