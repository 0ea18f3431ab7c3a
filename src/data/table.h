/* table.h -- rows of typed columns with missing values.
 * A column is real, integer or boolean (doubles; NaN = missing) or a category (codes into a sorted
 * list of levels; CR_MISSING_CODE = missing).  A table never changes once it is built. */
#ifndef CREDENCE_DATA_TABLE_H
#define CREDENCE_DATA_TABLE_H

#include "../base/context.h"
#include "../math/view.h"

typedef enum cr_type { CR_REAL, CR_INTEGER, CR_BOOLEAN, CR_CATEGORY } cr_type;

#define CR_MISSING_CODE UINT32_MAX

typedef struct cr_column {
    const char        *name;
    cr_type            type;
    const double      *values;  /* value of row i is values[i * stride]; NULL for a category */
    size_t             stride;
    const uint32_t    *codes;   /* [rows], categories only            */
    const char *const *levels;  /* [n_levels], sorted by bytes        */
    size_t             n_levels;
    size_t             missing; /* how many rows have no value        */
    bool               infinite; /* some value is +-inf               */
} cr_column;

typedef struct cr_table cr_table;

/* "real", "integer", "boolean", "category". */
CR_API const char *cr_type_name(cr_type type);

/* Starts a table of `rows` rows and no columns.  source names it in messages ("houses.csv"). */
CR_API cr_status cr_table_new(cr_ctx *cx, const char *source, size_t rows, cr_table **out_table);
CR_API void      cr_table_free(cr_ctx *cx, cr_table *table);

/* Adds a numeric column (CR_REAL, CR_INTEGER, CR_BOOLEAN), copying its values.  O(rows).
 * Fails with CR_EDATA when the name is empty or taken. */
CR_API cr_status cr_table_add_numbers(cr_ctx *cx, cr_table *table, const char *name, cr_type type,
                                      const double *values, size_t stride);
/* The same without a copy: the values must outlive the table and stay as they are. */
CR_API cr_status cr_table_borrow_numbers(cr_ctx *cx, cr_table *table, const char *name, cr_type type,
                                         const double *values, size_t stride);
/* All columns of X at once, without a copy; named by names[j], or x1, x2, ... when names is NULL.  One
 * pass over X, which must have as many rows as the table, outlive it and stay as it is. */
CR_API cr_status cr_table_borrow_matrix(cr_ctx *cx, cr_table *table, cr_type type, cr_cmat X,
                                        const char *const *opt_names);
/* Adds a category from one text per row; NULL = missing. */
CR_API cr_status cr_table_add_texts(cr_ctx *cx, cr_table *table, const char *name,
                                    const char *const *texts);
/* Adds a category from codes into n_levels different texts in any order; copies and sorts them. */
CR_API cr_status cr_table_add_category(cr_ctx *cx, cr_table *table, const char *name,
                                       const uint32_t *codes, const char *const *levels,
                                       size_t n_levels);

/* How many rows and columns; the name in messages; the column at index < columns. */
CR_API size_t           cr_table_rows(const cr_table *table);
CR_API size_t           cr_table_columns(const cr_table *table);
CR_API const char      *cr_table_source(const cr_table *table);
CR_API const cr_column *cr_table_column(const cr_table *table, size_t index);
/* The column called name, or NULL. */
CR_API const cr_column *cr_table_find(const cr_table *table, const char *name);

#endif
