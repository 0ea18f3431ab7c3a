/* npz_sparse.c -- the arrays of a sparse matrix, checked and put in order. */
#include "npz_sparse.h"
#include "npy.h"
#include "base/sort.h"
#include "data/table/table_internal.h"
#include "base/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DATA, INDICES, INDPTR, SHAPE, FORMAT, PARTS };

static const char *const part_names[PARTS] = { "data.npy", "indices.npy", "indptr.npy", "shape.npy",
                                               "format.npy" };

bool cri_npz_is_sparse_part(const char *entry)
{
    for (int k = 0; k < PARTS; k++)
        if (strcmp(entry, part_names[k]) == 0) return true;
    return false;
}

static bool find_part(cr_ctx *cx, const cri_zip *zip, int part, size_t *out_index)
{
    const char *name;
    for (size_t i = 0; i < cri_zip_count(zip); i++) {
        if (cri_zip_name(cx, zip, i, &name) != CR_OK || strcmp(name, part_names[part]) != 0)
            continue;
        *out_index = i;
        return true;
    }
    return false;
}

bool cri_npz_is_sparse(cr_ctx *cx, const cri_zip *zip)
{
    size_t index;
    for (int k = 0; k < PARTS; k++)
        if (!find_part(cx, zip, k, &index)) return false;
    return true;
}

/* --- one array ------------------------------------------------------------------------------- */

typedef struct part {
    char   *bytes; /* [size], the file */
    size_t  size;
    cri_npy array; /* over it; format is not parsed, it holds text */
    double *value; /* [n] */
    size_t  n;
} part;

static void free_part(cr_ctx *cx, part *p)
{
    cr_free(cx, p->bytes, p->size, 1);
    cr_free(cx, p->value, p->n, sizeof *p->value);
    *p = (part){ 0 };
}

/* Loads a vector of numbers. */
static cr_status load_part(cr_ctx *cx, const cri_zip *zip, const char *source, int which, part *p)
{
    cr_status st = CR_OK;
    char      where[1024];
    size_t    index = 0;
    find_part(cx, zip, which, &index);
    CR_TRY(cri_zip_extract(cx, zip, index, &p->bytes, &p->size));
    if (which == FORMAT) goto done;
    snprintf(where, sizeof where, "%s, array '%.*s'", source, (int)strcspn(part_names[which], "."),
             part_names[which]);
    cri_reader r = cri_reader_open(cx, where, p->bytes, p->size);
    CR_TRY(cri_npy_parse(&r, &p->array));
    if (p->array.dims != 1) CR_TRY(cr_fail(cx, CR_EDATA, "%s: it is not a vector", where));
    if (which != DATA && p->array.kind != CRI_NPY_SIGNED && p->array.kind != CRI_NPY_UNSIGNED)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: its elements are not integers", where));
    p->value = cr_resize(cx, NULL, 0, p->array.rows, sizeof *p->value);
    if (!p->value) CR_TRY(CR_ENOMEM);
    p->n = p->array.rows;
    CR_TRY(cri_npy_values(cx, where, &p->array, p->value));
done:
    return st;
}

/* The text at the end of the file; numpy writes it as a single element of bytes or characters. */
static cr_status check_format(cr_ctx *cx, const char *source, const part *p)
{
    char   word[8] = "";
    size_t n = 0;
    for (size_t i = p->size > 20 ? p->size - 20 : 0; i < p->size && n + 1 < sizeof word; i++) {
        char c = p->bytes[i];
        if (c == '\n')
            n = 0; /* the header ends with one */
        else if (c >= 'a' && c <= 'z')
            word[n++] = c;
    }
    word[n] = '\0';
    if (strcmp(word, "csr") == 0) return CR_OK;
    cr_fail(cx, CR_EDATA, "%s: a sparse matrix of format '%s', but only 'csr' can be read", source,
            word);
    return cr_fail_hint(cx, "save it from Python with scipy.sparse.save_npz(FILE, X.tocsr())");
}

/* --- all together ---------------------------------------------------------------------------- */

typedef struct entry {
    uint32_t column;
    size_t   order;
    double   value;
} entry;

CRI_COMPARE_BY_TWO(compare_entries, entry, column, order);

static bool is_in_order(const double *column, size_t n)
{
    for (size_t e = 1; e < n; e++)
        if (column[e - 1] >= column[e]) return false;
    return true;
}

/* One row of n entries in order of columns, equal ones added up; returns how many are left.  Values
 * of one place are added in the order they came. */
static size_t put_row(const double *column, const double *value, size_t n, entry *scratch,
                      uint32_t *out_column, double *out_value)
{
    size_t used = 0;
    for (size_t e = 0; e < n; e++) scratch[e] = (entry){ (uint32_t)column[e], e, value[e] };
    if (!is_in_order(column, n)) qsort(scratch, n, sizeof *scratch, compare_entries);
    for (size_t e = 0; e < n; e++) {
        if (used > 0 && out_column[used - 1] == scratch[e].column) {
            out_value[used - 1] += scratch[e].value;
            continue;
        }
        out_column[used] = scratch[e].column;
        out_value[used++] = scratch[e].value;
    }
    return used;
}

static cr_status fail_arrays(cr_ctx *cx, const char *source, const char *why)
{
    return cr_fail(cx, CR_EDATA, "%s: the sparse matrix is damaged: %s", source, why);
}

/* indptr and indices against the shape; *out_longest is the longest row. */
static cr_status check_arrays(cr_ctx *cx, const char *source, const part *p, size_t *out_longest)
{
    const double *ptr = p[INDPTR].value;
    size_t        entries = p[DATA].n;
    if (p[SHAPE].n != 2) return fail_arrays(cx, source, "its shape does not have two dimensions");
    double rows = p[SHAPE].value[0], columns = p[SHAPE].value[1];
    if (!(rows >= 0) || !(columns >= 1) || columns >= (double)UINT32_MAX ||
        rows + 1 != (double)p[INDPTR].n)
        return fail_arrays(cx, source, "indptr does not fit the shape");
    if (p[INDICES].n != entries || ptr[0] != 0 || ptr[p[INDPTR].n - 1] != (double)entries)
        return fail_arrays(cx, source, "indptr, indices and data do not fit together");
    *out_longest = 0;
    for (size_t i = 0; i + 1 < p[INDPTR].n; i++) {
        if (!(ptr[i + 1] >= ptr[i])) return fail_arrays(cx, source, "indptr does not increase");
        size_t length = (size_t)(ptr[i + 1] - ptr[i]);
        if (length > *out_longest) *out_longest = length;
    }
    for (size_t e = 0; e < entries; e++)
        if (!(p[INDICES].value[e] >= 0 && p[INDICES].value[e] < columns))
            return fail_arrays(cx, source, "an index is not a column of the shape");
    return CR_OK;
}

static cr_status make_table(cr_ctx *cx, const char *source, const part *p, cr_table **out_table)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     longest = 0, n = p[DATA].n, rows = p[INDPTR].n - 1, used = 0, made = n;
    size_t    *start = NULL;
    uint32_t  *column = NULL;
    double    *value = NULL;
    entry     *scratch;
    cr_table  *t = NULL;

    CR_TRY(check_arrays(cx, source, p, &longest));
    scratch = cr_scratch_bytes(&s, longest, sizeof *scratch);
    CR_TRY(s.status);
    start = cr_alloc(cx, rows + 1, sizeof *start);
    column = start ? cr_resize(cx, NULL, 0, n, sizeof *column) : NULL;
    value = column ? cr_resize(cx, NULL, 0, n, sizeof *value) : NULL;
    if (!value) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < rows; i++) {
        size_t from = (size_t)p[INDPTR].value[i], length = (size_t)p[INDPTR].value[i + 1] - from;
        used += put_row(p[INDICES].value + from, p[DATA].value + from, length, scratch,
                        column + used, value + used);
        start[i + 1] = used;
    }
    CR_TRY(cr_table_new(cx, source, rows, &t));
    if (used < n) { /* equal places were added up: arrays of the right size */
        uint32_t *columns = cr_resize(cx, column, n, used, sizeof *columns);
        if (!columns) CR_TRY(CR_ENOMEM);
        column = columns, made = used;
        double *values = cr_resize(cx, value, n, used, sizeof *values);
        if (!values) CR_TRY(CR_ENOMEM);
        value = values, n = used;
    }
    st = cri_table_own_csr(cx, t, cri_npy_type(&p[DATA].array), (size_t)p[SHAPE].value[1], start,
                           column, value);
    start = NULL, column = NULL, value = NULL; /* taken over, also on failure */
    CR_TRY(st);
    *out_table = t;
    t = NULL;
done:
    cr_table_free(cx, t);
    cr_free(cx, start, rows + 1, sizeof *start);
    cr_free(cx, column, made, sizeof *column);
    cr_free(cx, value, n, sizeof *value);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_npz_read_sparse(cr_ctx *cx, const cri_zip *zip, const char *source,
                              cr_table **out_table)
{
    cr_status st = CR_OK;
    part      p[PARTS] = { 0 };
    for (int k = 0; k < PARTS; k++) CR_TRY(load_part(cx, zip, source, k, &p[k]));
    CR_TRY(check_format(cx, source, &p[FORMAT]));
    if (p[INDPTR].n == 0) CR_TRY(fail_arrays(cx, source, "indptr is empty"));
    CR_TRY(make_table(cx, source, p, out_table));
done:
    for (int k = 0; k < PARTS; k++) free_part(cx, &p[k]);
    return st;
}
