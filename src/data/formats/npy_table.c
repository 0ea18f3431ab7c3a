/* npy_table.c -- arrays (.npy) and archives of arrays (.npz) to tables, and tables to arrays. */
#include "npy.h"
#include "npz_sparse.h"
#include "base/file.h"
#include "base/scratch.h"
#include "data/table/table_internal.h"
#include "write.h"
#include "data/bytes/zip.h"

#include <stdio.h>
#include <string.h>

enum {
    MOST_COLUMNS = 1 << 20,
    GROUP = 8,         /* columns read in one pass: the doubles of a cache line */
    ROWS_AT_ONCE = 512 /* of a pass, so that the lines of a block of rows stay in the cache */
};

/* --- reading --------------------------------------------------------------------------------- */

/* Fills n <= GROUP columns from column `first` on, in blocks of rows. */
static cr_status fill_columns(cr_ctx *cx, const char *source, const cri_npy *a, size_t first,
                              size_t n, double *const columns[GROUP])
{
    cr_status st = CR_OK;
    for (size_t from = 0; from < a->rows; from += ROWS_AT_ONCE) {
        size_t rows = a->rows - from < ROWS_AT_ONCE ? a->rows - from : ROWS_AT_ONCE;
        for (size_t k = 0; k < n; k++)
            CR_TRY(cri_npy_column(cx, source, a, first + k, from, rows, columns[k] + from));
    }
    CR_TRY(cr_check_interrupt(cx));
done:
    return st;
}

/* Adds columns first ... first + n - 1 of the array; a vector's column is called `stem` alone. */
static cr_status add_group(cr_ctx *cx, cr_table *t, const char *stem, bool numbered,
                           const cri_npy *a, size_t first, size_t n)
{
    cr_status st = CR_OK;
    double   *columns[GROUP] = { NULL };
    char      name[320];
    for (size_t k = 0; k < n; k++) {
        columns[k] = cr_resize(cx, NULL, 0, a->rows, sizeof(double));
        if (!columns[k]) CR_TRY(CR_ENOMEM);
    }
    CR_TRY(fill_columns(cx, cr_table_source(t), a, first, n, columns));
    for (size_t k = 0; k < n; k++) {
        double *values = columns[k];
        columns[k] = NULL; /* the table takes it, also when it fails */
        if (numbered) snprintf(name, sizeof name, "%s%zu", stem, first + k + 1);
        CR_TRY(cri_table_own_numbers(cx, t, numbered ? name : stem, cri_npy_type(a), values));
    }
done:
    for (size_t k = 0; k < n; k++) cr_free(cx, columns[k], a->rows, sizeof(double));
    return st;
}

static cr_status add_array(cr_ctx *cx, cr_table *t, const char *stem, bool numbered,
                           const cri_npy *a)
{
    cr_status st = CR_OK;
    if (a->cols > MOST_COLUMNS)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: %zu columns; at most %d can be read", cr_table_source(t),
                       a->cols, MOST_COLUMNS));
    for (size_t j = 0; j < a->cols; j += GROUP)
        CR_TRY(add_group(cx, t, stem, numbered, a, j, a->cols - j < GROUP ? a->cols - j : GROUP));
done:
    return st;
}

/* A table of no columns cannot hold its rows to anything. */
static cr_status check_shape(cr_ctx *cx, const char *source, const cri_npy *a)
{
    if (a->dims == 0) return cr_fail(cx, CR_EDATA, "%s: a single number, not a table", source);
    if (a->cols == 0) return cr_fail(cx, CR_EDATA, "%s: an array without columns", source);
    return CR_OK;
}

/* true when the elements are doubles that can be read where they lie. */
static bool is_native(const cri_npy *a)
{
    const uint16_t one = 1;
    bool           little = *(const unsigned char *)&one == 1;
    return a->kind == CRI_NPY_REAL && a->width == 8 && a->big_endian != little &&
           (!a->fortran_order || a->cols == 1) && (uintptr_t)a->data % sizeof(double) == 0;
}

static cr_status borrow_array(cr_ctx *cx, cr_table *t, const cri_npy *a)
{
    const double *elements = (const void *)a->data;
    return cr_table_borrow_matrix(cx, t, CR_REAL, cr_cmat_of(elements, a->rows, a->cols), NULL);
}

cr_status cri_npy_table(cr_ctx *cx, const char *source, const cri_npy *a, cr_table **out_table)
{
    cr_status st = CR_OK;
    cr_table *t = NULL;
    CR_TRY(check_shape(cx, source, a));
    CR_TRY(cr_table_new(cx, source, a->rows, &t));
    CR_TRY(add_array(cx, t, "x", true, a));
    *out_table = t;
    t = NULL;
done:
    cr_table_free(cx, t);
    return st;
}

cr_status cri_npy_read_table(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                             cr_table **out_table, bool *out_borrowed)
{
    cr_status  st = CR_OK;
    cri_reader r = cri_reader_open(cx, source, bytes, size);
    cri_npy    a;
    cr_table  *t = NULL;

    CR_TRY(cri_npy_parse(&r, &a));
    CR_TRY(check_shape(cx, source, &a));
    CR_TRY(cr_table_new(cx, source, a.rows, &t));
    *out_borrowed = is_native(&a);
    CR_TRY(*out_borrowed ? borrow_array(cx, t, &a) : add_array(cx, t, "x", true, &a));
    *out_table = t;
    t = NULL;
done:
    cr_table_free(cx, t);
    return st;
}

/* --- archives -------------------------------------------------------------------------------- */

typedef struct archive {
    cri_zip  *zip;
    cr_table *table;
    char      first[256]; /* the array that set the number of rows */
} archive;

/* The stem of an entry called STEM.npy. */
static cr_status stem_of(cr_ctx *cx, const char *source, const char *entry, char out[256])
{
    size_t n = strlen(entry);
    if (n < 5 || n - 4 >= 256 || strcmp(entry + n - 4, ".npy") != 0)
        return cr_fail(cx, CR_EDATA, "%s: its entry '%.200s' is not an array (NAME.npy)", source,
                       entry);
    memcpy(out, entry, n - 4);
    out[n - 4] = '\0';
    return CR_OK;
}

static cr_status add_entry(cr_ctx *cx, archive *z, const char *source, size_t index)
{
    cr_status   st = CR_OK;
    char       *bytes = NULL, stem[256], where[1024];
    size_t      size = 0;
    const char *entry;
    cri_npy     a;

    CR_TRY(cri_zip_name(cx, z->zip, index, &entry));
    CR_TRY(stem_of(cx, source, entry, stem));
    CR_TRY(cri_zip_extract(cx, z->zip, index, &bytes, &size));
    snprintf(where, sizeof where, "%s, array '%s'", source, stem);
    cri_reader r = cri_reader_open(cx, where, bytes, size);
    CR_TRY(cri_npy_parse(&r, &a));
    CR_TRY(check_shape(cx, where, &a));
    if (!z->table) {
        CR_TRY(cr_table_new(cx, source, a.rows, &z->table));
        memcpy(z->first, stem, sizeof stem);
    }
    if (a.rows != cr_table_rows(z->table))
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: array '%s' has %zu rows, but '%s' has %zu", source,
                       z->first, cr_table_rows(z->table), stem, a.rows));
    CR_TRY(add_array(cx, z->table, stem, a.dims == 2, &a));
done:
    cr_free(cx, bytes, size, 1);
    return st;
}

cr_status cri_npz_read_table(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                             cr_table **out_table)
{
    cr_status st = CR_OK;
    archive   z = { 0 };

    CR_TRY(cri_zip_open(cx, source, bytes, size, &z.zip));
    size_t n = cri_zip_count(z.zip);
    if (n == 0) CR_TRY(cr_fail(cx, CR_EDATA, "%s: an archive without arrays", source));
    bool sparse = cri_npz_is_sparse(cx, z.zip);
    if (sparse) {
        CR_TRY(cri_npz_read_sparse(cx, z.zip, source, &z.table));
        snprintf(z.first, sizeof z.first, "indptr");
    }
    for (size_t i = 0; i < n; i++) {
        const char *entry;
        CR_TRY(cri_zip_name(cx, z.zip, i, &entry));
        if (!sparse || !cri_npz_is_sparse_part(entry)) CR_TRY(add_entry(cx, &z, source, i));
    }
    *out_table = z.table;
    z.table = NULL;
done:
    cr_table_free(cx, z.table);
    cri_zip_close(cx, z.zip);
    return st;
}

/* --- writing --------------------------------------------------------------------------------- */

/* Rows from `from` on into values [n x cols]: the ordinary columns, and the sparse block. */
static void put_ordinary(const cr_table *t, size_t from, size_t n, double *values)
{
    size_t        cols = cr_table_columns(t), first = cr_table_csr_first(t);
    const cr_csr *X = cr_table_csr(t);
    for (size_t k = 0; k < cri_table_ordinary(t); k++) {
        const cr_column *c = cri_table_ordinary_column(t, k);
        double          *out = values + (X && k >= first ? k + X->columns : k);
        for (size_t i = 0; i < n; i++) out[i * cols] = c->values[(from + i) * c->stride];
    }
}

static void put_sparse(const cr_table *t, size_t from, size_t n, double *values)
{
    const cr_csr *X = cr_table_csr(t);
    size_t        cols = cr_table_columns(t);
    values += cr_table_csr_first(t);
    for (size_t i = 0; i < n; i++, values += cols) {
        memset(values, 0, X->columns * sizeof *values);
        for (size_t e = X->row_start[from + i]; e < X->row_start[from + i + 1]; e++)
            values[X->column[e]] = X->value[e];
    }
}

static cr_status write_rows(cr_ctx *cx, const cr_table *table, cri_file *file)
{
    enum { BUDGET = 1 << 15 }; /* doubles */
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     rows = cr_table_rows(table), cols = cr_table_columns(table);
    size_t     block = cols && cols < BUDGET ? BUDGET / cols : 1;
    double    *values = cr_scratch_matrix(&s, block, cols);
    char      *bytes = cr_scratch_bytes(&s, block, cols * sizeof(double));

    CR_TRY(s.status);
    for (size_t from = 0; from < rows; from += block) {
        size_t n = rows - from < block ? rows - from : block;
        put_ordinary(table, from, n, values);
        if (cr_table_csr(table)) put_sparse(table, from, n, values);
        cri_npy_encode(values, n * cols, bytes);
        CR_TRY(cri_file_write(file, bytes, n * cols * sizeof(double)));
        CR_TRY(cr_check_interrupt(cx));
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_table_write_npy(cr_ctx *cx, const cr_table *table, const char *path)
{
    cr_status st = CR_OK;
    cri_file *file = NULL;
    char      header[CRI_NPY_HEADER];

    for (size_t k = 0; k < cri_table_ordinary(table); k++) {
        const cr_column *c = cri_table_ordinary_column(table, k);
        if (c->type != CR_CATEGORY) continue;
        cr_fail(cx, CR_EDATA,
                "cannot write %s: column '%s' is a category, but .npy can only hold numbers", path,
                c->name);
        CR_TRY(cr_fail_hint(cx, "write it as CSV, which holds every type"));
    }
    CR_TRY(cri_file_create(cx, path, &file));
    cri_npy_header(2, cr_table_rows(table), cr_table_columns(table), header);
    CR_TRY(cri_file_write(file, header, sizeof header));
    CR_TRY(write_rows(cx, table, file));
    cri_file *finished = file;
    file = NULL; /* commit frees it, also when it fails */
    CR_TRY(cri_file_commit(finished));
done:
    cri_file_abandon(file);
    return st;
}
