/* fuzz_attributes.c -- any bytes give a table or one sentence, within the memory limit, and no leak. */
#include "base/context.h"
#include "data/formats/attributes.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What must hold of every table that was read. */
static void check_table(const cr_table *t)
{
    size_t           rows = cr_table_rows(t);
    const cr_column *sequence = cr_table_find(t, "sequence");
    if (rows < 1 || cr_table_columns(t) < 2 || cr_table_column(t, 0) != sequence) abort();
    if (sequence->values[0] != 1) abort();
    for (size_t i = 1; i < rows; i++) {
        double step =
            sequence->values[i * sequence->stride] - sequence->values[(i - 1) * sequence->stride];
        if (step != 0 && step != 1) abort();
    }
    for (size_t j = 1; j < cr_table_columns(t); j++) {
        const cr_column *c = cr_table_column(t, j);
        for (size_t i = 0; i < rows; i++)
            if (c->type == CR_CATEGORY
                    ? c->codes[i] != CR_MISSING_CODE && c->codes[i] >= c->n_levels
                    : !isfinite(c->values[i * c->stride]))
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cr_ctx   *cx = NULL;
    cr_table *t = NULL;
    if (cr_ctx_new(NULL, &cx) != CR_OK) return 0;
    cr_ctx_set_memory_limit(cx, (size_t)16 << 20);
    cr_ctx_set_threads(cx, 1);
    cr_status st = cri_attributes_read(cx, "fuzz", bytes, size, &t);
    if (st == CR_OK)
        check_table(t);
    else if (t || cr_error(cx)[0] == '\0')
        abort();
    cr_table_free(cx, t);
    if (cr_ctx_memory(cx) != 0) abort();
    cr_ctx_free(cx);
    return 0;
}
