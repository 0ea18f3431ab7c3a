/* libsvm_table.c -- the rows of a LIBSVM text as a table, sparse or dense. */
#include "libsvm.h"
#include "data/table/table_internal.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_whole(double x)
{
    return fabs(x) <= 9007199254740992.0 && x == (double)(int64_t)x; /* 2^53 */
}

static cr_status add_label(cr_ctx *cx, cri_libsvm *m, cr_table *table)
{
    double *label = m->label;
    m->label = NULL; /* taken over, also on failure */
    if (m->first_line) cri_table_set_first_line(table, m->first_line);
    cri_table_set_open_ended(table);
    cr_status st = m->n_leaves ? cri_table_set_leaves(cx, table, m->leaves, m->n_leaves) : CR_OK;
    if (st != CR_OK) return cr_free(cx, label, m->rows, sizeof *label), st;
    return cri_table_own_numbers(cx, table, "y", m->whole_labels ? CR_INTEGER : CR_REAL, label);
}

cr_status cri_libsvm_sparse_table(cr_ctx *cx, const char *source, cri_libsvm *m, size_t columns,
                                  cr_table **out_table)
{
    cr_status st = CR_OK;
    cr_table *table = NULL;
    cr_type   type = m->whole_values ? CR_INTEGER : CR_REAL;

    CR_TRY(cr_table_new(cx, source, m->rows, &table));
    if (columns > 0) {
        size_t   *start = m->start;
        uint32_t *column = m->column;
        double   *value = m->value;
        m->start = NULL, m->column = NULL, m->value = NULL;
        CR_TRY(cri_table_own_csr(cx, table, type, columns, start, column, value));
    }
    CR_TRY(add_label(cx, m, table));
    *out_table = table;
    table = NULL;
done:
    cr_table_free(cx, table);
    cri_libsvm_free(cx, m);
    return st;
}

/* --- dense ----------------------------------------------------------------------------------- */

void cri_libsvm_note_fractions(const cri_libsvm *m, bool *fractional)
{
    for (size_t e = 0; e < m->start[m->rows]; e++)
        if (!is_whole(m->value[e]) && !isnan(m->value[e])) fractional[m->column[e]] = true;
}

/* x [columns] pointers to zeroed columns. */
static void spread(const cri_libsvm *m, double *const *x)
{
    for (size_t i = 0; i < m->rows; i++)
        for (size_t e = m->start[i]; e < m->start[i + 1]; e++) x[m->column[e]][i] = m->value[e];
}

static cr_status add_columns(cr_ctx *cx, size_t columns, double **x, const bool *fractional,
                             cr_table *table)
{
    char      name[32];
    cr_status st = CR_OK;
    for (size_t j = 0; j < columns && st == CR_OK; j++) {
        double *values = x[j];
        x[j] = NULL; /* taken over, also on failure */
        snprintf(name, sizeof name, "x%zu", j + 1);
        st = cri_table_own_numbers(cx, table, name, fractional[j] ? CR_REAL : CR_INTEGER, values);
    }
    return st;
}

cr_status cri_libsvm_dense_table(cr_ctx *cx, const char *source, cri_libsvm *m, size_t columns,
                                 const bool *fractional, cr_table **out_table)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_table  *table = NULL;
    double   **x = cr_scratch_bytes(&s, columns, sizeof *x);

    CR_TRY(s.status);
    CR_TRY(cri_check_dense(cx, source, m->rows, columns + 1));
    for (size_t j = 0; j < columns; j++) {
        x[j] = cr_alloc(cx, m->rows, sizeof *x[j]);
        if (!x[j]) CR_TRY(CR_ENOMEM);
    }
    spread(m, x);
    CR_TRY(cr_check_interrupt(cx));
    CR_TRY(cr_table_new(cx, source, m->rows, &table));
    CR_TRY(add_columns(cx, columns, x, fractional, table));
    CR_TRY(add_label(cx, m, table));
    *out_table = table;
    table = NULL;
done:
    for (size_t j = 0; x && j < columns; j++) cr_free(cx, x[j], m->rows, sizeof *x[j]);
    cr_table_free(cx, table);
    cri_libsvm_free(cx, m);
    cr_scratch_end(&s);
    return st;
}

/* --- the file -------------------------------------------------------------------------------- */

bool cri_libsvm_is_sparse(size_t columns, size_t rows, size_t entries)
{
    if (columns > CRI_LIBSVM_DENSE) return true;
    return columns > CRI_LIBSVM_FEW && 4 * entries < rows * columns;
}

cr_status cri_libsvm_read(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                          cr_table **out_table)
{
    cr_status  st = CR_OK;
    cri_libsvm m = { 0 };
    bool       fractional[CRI_LIBSVM_DENSE] = { 0 };
    size_t     mark = size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* UTF-8 */

    CR_TRY(cri_libsvm_parse_cut(cx, source, mark ? (const char *)bytes + mark : bytes, size - mark,
                                1, (cri_libsvm_cuts){ CRI_LIBSVM_PIECE, cri_leaf_bytes(cx), mark },
                                &m));
    if (m.rows == 0) CR_TRY(cr_fail(cx, CR_EDATA, "%s: there are no rows", source));
    if (cri_libsvm_is_sparse(m.columns, m.rows, m.start[m.rows]))
        return cri_libsvm_sparse_table(cx, source, &m, m.columns, out_table);
    cri_libsvm_note_fractions(&m, fractional);
    return cri_libsvm_dense_table(cx, source, &m, m.columns, fractional, out_table);
done:
    cri_libsvm_free(cx, &m);
    return st;
}
