/* table.h -- rows of typed columns with missing values.
 * A column is real, integer or boolean (doubles; NaN = missing), dates (days since 1970-01-01) or
 * times (seconds since its midnight in UTC), which are doubles too, or a category (codes into a sorted
 * list of levels; CR_MISSING_CODE = missing).  A table never changes once it is built.
 * Besides such columns a table may have one sparse block: numbers x1 .. xD of which only those that
 * are not 0 are kept, row by row (compressed sparse rows).  Its columns count and are found like
 * the others; asking for one as a cr_column spreads that column out. */
#ifndef CREDENCE_DATA_TABLE_TABLE_H
#define CREDENCE_DATA_TABLE_TABLE_H

#include "base/context.h"
#include "math/dense/view.h"

typedef enum cr_type { CR_REAL, CR_INTEGER, CR_BOOLEAN, CR_CATEGORY, CR_DATE, CR_DATETIME } cr_type;

#define CR_MISSING_CODE UINT32_MAX

typedef struct cr_column {
    const char        *name;
    cr_type            type;
    const double      *values; /* value of row i is values[i * stride]; NULL for a category */
    size_t             stride;
    const uint32_t    *codes;  /* [rows], categories only            */
    const char *const *levels; /* [n_levels], sorted by bytes        */
    size_t             n_levels;
    size_t             missing;  /* how many rows have no value        */
    bool               infinite; /* some value is +-inf               */
    const char        *written; /* how its file writes the numbers, by an example ("5 % = 0.05"); ""
                                    if plainly, NULL if that is not known */
} cr_column;

/* Sparse numbers: row i has the entries row_start[i] .. row_start[i + 1] - 1; columns increase
 * within a row, and what is left out is 0.  A NaN is a missing value. */
typedef struct cr_csr {
    size_t          rows, columns;
    const size_t   *row_start; /* [rows + 1], the first is 0 */
    const uint32_t *column;    /* [row_start[rows]], the first column is 0 */
    const double   *value;     /* [row_start[rows]] */
} cr_csr;

typedef struct cr_table cr_table;

/* "real", "integer", "boolean", "category", "date", "datetime". */
CR_API const char *cr_type_name(cr_type type);

/* Starts a table of `rows` rows and no columns.  source names it in messages ("houses.csv"). */
CR_API cr_status cr_table_new(cr_ctx *cx, const char *source, size_t rows, cr_table **out_table);
/* Frees a table, but not what it borrows; NULL is allowed. */
CR_API void cr_table_free(cr_ctx *cx, cr_table *table);

/* Adds a column of numbers (of any type but CR_CATEGORY), copying its values.  O(rows).
 * Fails with CR_EDATA when the name is empty or taken. */
CR_API cr_status cr_table_add_numbers(cr_ctx *cx, cr_table *table, const char *name, cr_type type,
                                      const double *values, size_t stride);
/* The same without a copy: the values must outlive the table and stay as they are. */
CR_API cr_status cr_table_borrow_numbers(cr_ctx *cx, cr_table *table, const char *name,
                                         cr_type type, const double *values, size_t stride);
/* All columns of X at once, without a copy; named by names[j], or x1, x2, ... when names is NULL.
 * One pass over X, which must have as many rows as the table, outlive it and stay as it is. */
CR_API cr_status cr_table_borrow_matrix(cr_ctx *cx, cr_table *table, cr_type type, cr_cmat X,
                                        const char *const *opt_names);
/* The sparse block, without a copy: columns x1, x2, ... of one type (CR_REAL, CR_INTEGER or
 * CR_BOOLEAN). One pass over the entries.  The arrays must outlive the table and stay as they are.
 * Fails with CR_EARG, naming the row, when they are not as cr_csr says, or when the table has such
 * a block already; with CR_EDATA when a name is taken. */
CR_API cr_status cr_table_borrow_csr(cr_ctx *cx, cr_table *table, cr_type type, cr_csr X);
/* Adds a category from one text per row; NULL = missing. */
CR_API cr_status cr_table_add_texts(cr_ctx *cx, cr_table *table, const char *name,
                                    const char *const *texts);
/* Adds a category from codes into n_levels different texts in any order; copies and sorts them. */
CR_API cr_status cr_table_add_category(cr_ctx *cx, cr_table *table, const char *name,
                                       const uint32_t *codes, const char *const *levels,
                                       size_t n_levels);

/* How many rows there are. */
CR_API size_t cr_table_rows(const cr_table *table);
/* How many columns, those of the sparse block included. */
CR_API size_t cr_table_columns(const cr_table *table);
/* Its name in messages, owned by the table. */
CR_API const char *cr_table_source(const cr_table *table);
enum { CR_NAME_SIZE = 12 }; /* of x4294967295 */
/* The name of the column at index < columns; one of the sparse block is written to `out`. */
CR_API const char *cr_table_column_name(const cr_table *table, size_t index,
                                        char out[CR_NAME_SIZE]);
/* The column at index < columns.  One of the sparse block is spread out the first time, O(rows log
 * entries of a row), and kept with the table: several threads may ask.  NULL when memory runs out
 * at that. */
CR_API const cr_column *cr_table_column(const cr_table *table, size_t index);
/* The column called name, likewise; NULL also when there is none. */
CR_API const cr_column *cr_table_find(const cr_table *table, const char *name);
/* The sparse block, or NULL. */
CR_API const cr_csr *cr_table_csr(const cr_table *table);
/* The index of the first column of the sparse block; 0 when there is none. */
CR_API size_t cr_table_csr_first(const cr_table *table);
/* The type of the columns of the sparse block; CR_REAL when there is none. */
CR_API cr_type cr_table_csr_type(const cr_table *table);

#endif
