/* fuzz_libsvm.c -- any bytes give a table or one sentence, within the memory limit, and no leak. */
#include "base/context.h"
#include "data/formats/libsvm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What must hold of every table that was read. */
static void check_table(const cr_table *t)
{
    size_t        d = cr_table_columns(t), rows = cr_table_rows(t);
    const cr_csr *X = cr_table_csr(t);
    if (d < 1 || rows < 1) abort();
    for (size_t e = 0; X && e < X->row_start[rows]; e++)
        if (X->column[e] >= X->columns || isinf(X->value[e])) abort();
    for (size_t j = X ? X->columns : 0; j < d; j++) {
        const cr_column *c = cr_table_column(t, j);
        for (size_t i = 0; i < rows; i++)
            if (isinf(c->values[i * c->stride])) abort();
    }
    if (cr_table_find(t, "y") != cr_table_column(t, d - 1) || cr_table_find(t, "y")->missing)
        abort();
}

/* Small pieces give the same rows, or the same failure. */
static void check_pieces(cr_ctx *cx, const uint8_t *bytes, size_t size)
{
    cri_libsvm a = { 0 }, b = { 0 };
    cr_status  st = cri_libsvm_parse(cx, "fuzz", bytes, size, 1, &a);
    if (st == CR_ENOMEM) return;
    if (cri_libsvm_parse_cut(cx, "fuzz", bytes, size, 1, (cri_libsvm_cuts){ .piece = 7 }, &b) != st)
        abort();
    if (st == CR_OK) {
        if (a.rows != b.rows || a.columns != b.columns || a.lines != b.lines) abort();
        if (memcmp(a.start, b.start, (a.rows + 1) * sizeof *a.start) != 0) abort();
        size_t n = a.start[a.rows];
        if (memcmp(a.column, b.column, n * sizeof *a.column) != 0) abort();
        if (memcmp(a.value, b.value, n * sizeof *a.value) != 0) abort();
    }
    cri_libsvm_free(cx, &a);
    cri_libsvm_free(cx, &b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cr_ctx   *cx = NULL;
    cr_table *t = NULL;
    if (cr_ctx_new(NULL, &cx) != CR_OK) return 0;
    cr_ctx_set_memory_limit(cx, (size_t)16 << 20);
    cr_ctx_set_threads(cx, 1); /* to start threads takes longer than to read */
    cr_status st = cri_libsvm_read(cx, "fuzz", bytes, size, &t);
    if (st == CR_OK)
        check_table(t);
    else if (t || cr_error(cx)[0] == '\0')
        abort();
    cri_libsvm_looks_like((const char *)bytes, size);
    check_pieces(cx, bytes, size);
    cr_table_free(cx, t);
    if (cr_ctx_memory(cx) != 0) abort();
    cr_ctx_free(cx);
    return 0;
}
