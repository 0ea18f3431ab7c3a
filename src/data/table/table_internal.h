/* table_internal.h -- how readers build tables without copying. */
#ifndef CREDENCE_DATA_TABLE_TABLE_INTERNAL_H
#define CREDENCE_DATA_TABLE_TABLE_INTERNAL_H

#include "data/bytes/read_options.h"
#include "data/bytes/source.h"
#include "table.h"

#include <math.h>

/* Adds a column that takes over `values` (rows doubles from cr_alloc or cr_resize), also on
 * failure.  Counts the missing values. */
cr_status cri_table_own_numbers(cr_ctx *cx, cr_table *table, const char *name, cr_type type,
                                double *values);
/* The values of a column of numbers that the table owns, to be written over by finite ones; NULL where it has none
 * of this name. */
double *cri_table_numbers(cr_table *table, const char *name);
/* The table frees this block, which its borrowed columns point into, when it is freed itself.  At
 * most one. */
void cri_table_keep_block(cr_table *table, cri_block block);
/* Takes over `codes` (rows codes from cr_alloc or cr_resize), also on failure; copies the levels,
 * sorts them and renumbers the codes.  Levels that no row uses are dropped. */
cr_status cri_table_own_category(cr_ctx *cx, cr_table *table, const char *name, uint32_t *codes,
                                 const char *const *levels, size_t n_levels);
/* The same for codes into the levels of a column of another table: the column gets its name and all
 * its levels, also those that no row uses here, and the codes stay as they are. */
cr_status cri_table_own_codes(cr_ctx *cx, cr_table *table, const cr_column *like, uint32_t *codes);

/* Gives category k of the ordinary columns other levels, n of them, sorted: its code c becomes
 * map[c], [n_levels].  Changes the table in place: for one that is still being built. */
cr_status cri_table_set_levels(cr_ctx *cx, cr_table *table, size_t k, const char *const *levels,
                               size_t n, const uint32_t *map);
/* Makes category k of the ordinary columns dates or times, written as a format says (date.h), and
 * takes over their values, also on failure.  In place, likewise. */
cr_status cri_table_set_dates(cr_ctx *cx, cr_table *table, size_t k, cr_type type,
                              const char *opt_format, double *values);
/* The format that the dates of a column were written in; NULL = ISO 8601. */
const char *cri_table_date_format(const cr_table *table, const char *name);
/* The sparse block of the table from arrays of cr_alloc or cr_resize, which it takes over, also on
 * failure: start [rows + 1], column and value [start[rows]]. */
cr_status cri_table_own_csr(cr_ctx *cx, cr_table *table, cr_type type, size_t columns,
                            size_t *start, uint32_t *column, double *value);
/* Moves the sparse block of `from`, if it has one, to `to`, which has as many rows and none. */
void cri_table_move_csr(cr_table *from, cr_table *to);
/* Makes missing what is_missing(user, value) says, in a sparse block that the table owns. */
void cri_table_csr_set_missing(cr_table *table, bool (*is_missing)(const void *user, double value),
                               const void *user);
/* How many entries of the sparse block are NaN; whether some are infinite. */
size_t cri_table_csr_missing(const cr_table *table);
bool   cri_table_csr_infinite(const cr_table *table);
/* The table with the sparse block as ordinary columns, in the same places.  Takes over `table`,
 * also on failure.  Fails with CR_ENOMEM before it starts when the columns cannot fit. */
cr_status cri_table_densify(cr_ctx *cx, cr_table *table, cr_table **out_table);
/* Fails with CR_ENOMEM when `rows` x `columns` doubles do not fit, in words that name the source.
 */
cr_status cri_check_dense(cr_ctx *cx, const char *source, size_t rows, size_t columns);

/* The name of column j: x1 for 0, x2 for 1, ... */
const char *cri_numbered_name(size_t j, char out[CR_NAME_SIZE]);
/* The column that a numbered name means (x1 is 0); SIZE_MAX for any other name. */
size_t cri_numbered_column(const char *name);

/* Says that the file has more columns x<k> than the table: all 0, so not written (LIBSVM). */
void cri_table_set_open_ended(cr_table *table);
/* true when `name` is one of those. */
bool cri_table_is_open_column(const cr_table *table, const char *name);
/* The columns that are not of the sparse block: how many, and the k-th. */
size_t           cri_table_ordinary(const cr_table *table);
const cr_column *cri_table_ordinary_column(const cr_table *table, size_t k);
/* true when the table has a column called so; nothing is spread out. */
bool cri_table_has(const cr_table *table, const char *name);

/* A leaf is what 16 MiB of a source hold: sums over rows are made leaf by leaf, so that they depend
 * on the data alone and not on who adds up.  Of text (CSV, TSV, LIBSVM, unpacked where it was
 * packed) it is the rows that end in the same stretch of 16 MiB of the file; of all other tables as
 * many rows as fit into that as doubles, rounded down to a power of two.  A stream in blocks of 0
 * rows gives each leaf as one block.
 *
 * The rows where leaves begin, *out_n of them, increasing from 0; owned by the table.  Without rows
 * there is none.  The first who asks makes them, where no reader has set them: several threads may.
 * NULL, and *out_n = 0, when memory runs out at that. */
const size_t *cri_table_leaves(const cr_table *table, size_t *out_n);
/* Sets them, copying.  CR_EARG when they do not increase from 0 up to below the rows. */
cr_status cri_table_set_leaves(cr_ctx *cx, cr_table *table, const size_t *starts, size_t n);
/* The rows of a leaf of `bytes` where each row is `columns` doubles: a power of two. */
size_t cri_leaf_rows(size_t bytes, size_t columns);

/* After a failure to find a column in a text whose first line is a row: hints at --header yes. */
cr_status cri_fail_without_header(cr_ctx *cx);
/* Lets messages say where a row stood: line = first_line + row.  0 = not known. */
void cri_table_set_first_line(cr_table *table, size_t first_line);
/* The same for a table that begins in the middle of its source: its row 0 is row `first_row` there.
 */
void cri_table_set_first_row(cr_table *table, size_t first_row);
/* The same for a table with the rows of another: they are where they were, in the same leaves. */
cr_status cri_table_copy_place(cr_ctx *cx, const cr_table *from, cr_table *to);
/* The same for a table whose row i is row rows[i] of `from`: messages name the place there.  Its
 * leaves are those of `from`, in so far as they have rows here; rows[i] that go back to an earlier
 * leaf stay in the one begun last.  Once. */
cr_status cri_table_set_origin(cr_ctx *cx, cr_table *table, const cr_table *from,
                               const size_t *rows);

/* The table remembers those options that say what a cell means (read_options.h), and so does every
 * table made of its rows: a model fitted to them keeps the options. */
cr_status cri_table_set_reading(cr_ctx *cx, cr_table *table, const cr_read_options *options);
/* These options; NULL where none was given. */
const cr_read_options *cri_table_reading(const cr_table *table);

#define CRI_WRITTEN_PERCENT "5 % = 0.05"
/* How the numbers of the column that was added last are written: a constant, or NULL. */
void cri_table_set_written(cr_table *table, const char *written);
/* true when its numbers are written with a percent sign. */
bool cri_is_in_percent(const cr_column *column);

/* Whether the column has no value in a row. */
static inline bool cri_is_missing(const cr_column *c, size_t row)
{
    return c->type == CR_CATEGORY ? c->codes[row] == CR_MISSING_CODE
                                  : isnan(c->values[row * c->stride]);
}

/* "houses.csv:12" where the line of the row is known, else "houses.csv, row 11" (the first is
 * 1). */
const char *cri_table_where(const cr_table *table, size_t row, char *out, size_t size);

/* Fails with CR_EDATA: "column 'prise' not found in houses.csv", with the columns and the
 * nearest. */
cr_status cri_table_no_column(cr_ctx *cx, const cr_table *table, const char *name);

#endif
