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

/* x [columns] pointers to zeroed columns; whole[j] stays set while column j holds whole numbers. */
static void spread(const cri_libsvm *m, double *const *x, bool *whole)
{
    for (size_t i = 0; i < m->rows; i++)
        for (size_t e = m->start[i]; e < m->start[i + 1]; e++) {
            size_t j = m->column[e];
            double value = m->value[e];
            x[j][i] = value;
            if (!is_whole(value) && !isnan(value)) whole[j] = false;
        }
}

static cr_status add_columns(cr_ctx *cx, const cri_libsvm *m, double **x, const bool *whole,
                             cr_table *table)
{
    char      name[32];
    cr_status st = CR_OK;
    for (size_t j = 0; j < m->columns && st == CR_OK; j++) {
        double *values = x[j];
        x[j] = NULL; /* taken over, also on failure */
        snprintf(name, sizeof name, "x%zu", j + 1);
        st = cri_table_own_numbers(cx, table, name, whole[j] ? CR_INTEGER : CR_REAL, values);
    }
    return st;
}

static cr_status make_dense(cr_ctx *cx, const char *source, cri_libsvm *m, cr_table **out_table)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_table  *table = NULL;
    double   **x = cr_scratch_bytes(&s, m->columns, sizeof *x);
    bool      *whole = cr_scratch_bytes(&s, m->columns, sizeof *whole);

    CR_TRY(s.status);
    CR_TRY(cri_check_dense(cx, source, m->rows, m->columns + 1));
    for (size_t j = 0; j < m->columns; j++) {
        whole[j] = true;
        x[j] = cr_alloc(cx, m->rows, sizeof *x[j]);
        if (!x[j]) CR_TRY(CR_ENOMEM);
    }
    spread(m, x, whole);
    CR_TRY(cr_check_interrupt(cx));
    CR_TRY(cr_table_new(cx, source, m->rows, &table));
    CR_TRY(add_columns(cx, m, x, whole, table));
    CR_TRY(add_label(cx, m, table));
    *out_table = table;
    table = NULL;
done:
    for (size_t j = 0; x && j < m->columns; j++) cr_free(cx, x[j], m->rows, sizeof *x[j]);
    cr_table_free(cx, table);
    cri_libsvm_free(cx, m);
    cr_scratch_end(&s);
    return st;
}

/* --- the file -------------------------------------------------------------------------------- */

/* The rule of libsvm.h. */
static bool is_sparse(const cri_libsvm *m)
{
    if (m->columns > CRI_LIBSVM_DENSE) return true;
    return m->columns > CRI_LIBSVM_FEW && 4 * m->start[m->rows] < m->rows * m->columns;
}

cr_status cri_libsvm_read(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                          cr_table **out_table)
{
    cr_status  st = CR_OK;
    cri_libsvm m = { 0 };
    size_t     mark = size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* UTF-8 */

    CR_TRY(cri_libsvm_parse_cut(cx, source, mark ? (const char *)bytes + mark : bytes, size - mark,
                                1, (cri_libsvm_cuts){ CRI_LIBSVM_PIECE, cri_leaf_bytes(cx), mark },
                                &m));
    if (m.rows == 0) CR_TRY(cr_fail(cx, CR_EDATA, "%s: there are no rows", source));
    if (is_sparse(&m)) return cri_libsvm_sparse_table(cx, source, &m, m.columns, out_table);
    return make_dense(cx, source, &m, out_table);
done:
    cri_libsvm_free(cx, &m);
    return st;
}
