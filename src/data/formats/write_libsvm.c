/* write_libsvm.c -- tables as LIBSVM text: a label, then index:value of what is not 0. */
#include "data/csv/csv_lines.h"
#include "data/table/table_internal.h"
#include "write.h"
#include "base/file.h"
#include "base/number.h"

#include <stdio.h>
#include <string.h>

typedef struct svm_writer {
    cri_writer       out;
    const cr_table  *table;
    const cr_column *label;
} svm_writer;

/* " index:value", without the comma that fields of CSV have. */
static void add_pair(svm_writer *w, size_t index, double x)
{
    char   text[CRI_DOUBLE_SIZE + 32];
    int    n = snprintf(text, 32, " %zu:", index);
    size_t length = (size_t)n + cri_print_double(x, text + n);
    if (x == 0) return;
    w->out.in_row = false;
    cri_write_raw(&w->out, text, length);
}

static void add_row(svm_writer *w, size_t row)
{
    const cr_csr *X = cr_table_csr(w->table);
    size_t        index = 0, n = cri_table_ordinary(w->table), first = cr_table_csr_first(w->table);
    char          text[CRI_DOUBLE_SIZE];
    cri_write_raw(&w->out, text, cri_print_double(w->label->values[row * w->label->stride], text));
    for (size_t k = 0; k <= n; k++) {
        if (X && k == first) {
            for (size_t e = X->row_start[row]; e < X->row_start[row + 1]; e++)
                add_pair(w, index + X->column[e] + 1, X->value[e]);
            index += X->columns;
        }
        if (k == n) break;
        const cr_column *c = cri_table_ordinary_column(w->table, k);
        if (c != w->label) add_pair(w, ++index, c->values[row * c->stride]);
    }
    cri_write_end_row(&w->out);
}

static cr_status fail_column(cr_ctx *cx, const char *path, const char *name, const char *why)
{
    cr_fail(cx, CR_EDATA, "cannot write %s: column '%s' %s", path, name, why);
    return cr_fail_hint(cx, "write it as CSV, which holds every type");
}

static cr_status check(cr_ctx *cx, svm_writer *w, const char *label, const char *path)
{
    const cr_table *t = w->table;
    for (size_t k = 0; k < cri_table_ordinary(t); k++) {
        const cr_column *c = cri_table_ordinary_column(t, k);
        if (strcmp(c->name, label) == 0) w->label = c;
        if (c->type == CR_CATEGORY)
            return fail_column(cx, path, c->name,
                               "is a category, but LIBSVM can only hold numbers");
        if (c->infinite) return fail_column(cx, path, c->name, "has infinite values");
    }
    if (cri_table_csr_infinite(t)) return fail_column(cx, path, "x1 ...", "has infinite values");
    if (!w->label) {
        cr_fail(cx, CR_EDATA, "cannot write %s: there is no column '%s' for the label", path,
                label);
        return cr_fail_hint(cx, "in LIBSVM each row begins with a label: call its column '%s'",
                            label);
    }
    if (w->label->missing)
        return fail_column(cx, path, label, "is the label and has missing values");
    return CR_OK;
}

cr_status cr_table_write_libsvm(cr_ctx *cx, const cr_table *table, const char *opt_label,
                                const char *path)
{
    enum { CHUNK = 1 << 16 };
    cr_status  st = CR_OK;
    svm_writer w = { cri_writer_begin(cx), table, NULL };
    cri_file  *file = NULL;

    CR_TRY(check(cx, &w, opt_label ? opt_label : "y", path));
    CR_TRY(cri_file_create(cx, path, &file));
    for (size_t i = 0; i < cr_table_rows(table); i++) {
        add_row(&w, i);
        CR_TRY(w.out.status);
        if (w.out.length < CHUNK && i + 1 < cr_table_rows(table)) continue;
        CR_TRY(cri_file_write(file, w.out.text, w.out.length));
        w.out.length = 0;
        CR_TRY(cr_check_interrupt(cx));
    }
    cri_file *finished = file;
    file = NULL; /* commit frees it, also when it fails */
    CR_TRY(cri_file_commit(finished));
done:
    cri_file_abandon(file);
    cri_writer_end(&w.out);
    return st;
}
