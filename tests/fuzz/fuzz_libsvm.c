/* fuzz_libsvm.c -- any bytes give a table or one sentence, within the memory limit, and no leak. */
#include "base/context.h"
#include "data/libsvm.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What must hold of every table that was read. */
static void check_table(const cr_table *t)
{
    size_t d = cr_table_columns(t);
    if (d < 1 || cr_table_rows(t) < 1) abort();
    for (size_t j = 0; j < d; j++) {
        const cr_column *c = cr_table_column(t, j);
        if (c->missing) abort();
        for (size_t i = 0; i < cr_table_rows(t); i++)
            if (!isfinite(c->values[i * c->stride])) abort();
    }
    if (cr_table_find(t, "y") != cr_table_column(t, d - 1)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cr_ctx   *cx = NULL;
    cr_table *t = NULL;
    if (cr_ctx_new(NULL, &cx) != CR_OK) return 0;
    cr_ctx_set_memory_limit(cx, (size_t)16 << 20);
    cr_status st = cri_libsvm_read(cx, "fuzz", bytes, size, &t);
    if (st == CR_OK) check_table(t);
    else if (t || cr_error(cx)[0] == '\0') abort();
    cri_libsvm_looks_like((const char *)bytes, size);
    cr_table_free(cx, t);
    if (cr_ctx_memory(cx) != 0) abort();
    cr_ctx_free(cx);
    return 0;
}
