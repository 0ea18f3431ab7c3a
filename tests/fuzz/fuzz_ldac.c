/* fuzz_ldac.c -- any bytes give documents or one sentence, within the memory limit, and no leak. */
#include "base/context.h"
#include "data/formats/ldac.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What must hold of every table that was read. */
static void check_table(const cr_table *t)
{
    const cr_csr *X = cr_table_csr(t);
    if (!X || cr_table_rows(t) < 1 || cr_table_columns(t) != X->columns) abort();
    for (size_t e = 0; e < X->row_start[X->rows]; e++)
        if (!(X->value[e] >= 1) || X->column[e] >= X->columns) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cr_ctx   *cx = NULL;
    cr_table *t = NULL;
    if (cr_ctx_new(NULL, &cx) != CR_OK) return 0;
    cr_ctx_set_memory_limit(cx, (size_t)16 << 20);
    cr_ctx_set_threads(cx, 1);
    cr_status st = cri_ldac_read(cx, "fuzz", bytes, size, &t);
    if (st == CR_OK)
        check_table(t);
    else if (t || cr_error(cx)[0] == '\0')
        abort();
    cr_table_free(cx, t);
    if (cr_ctx_memory(cx) != 0) abort();
    cr_ctx_free(cx);
    return 0;
}
