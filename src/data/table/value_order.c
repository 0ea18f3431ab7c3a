/* value_order.c -- see value_order.h. */
#include "value_order.h"
#include "subset.h"
#include "table_internal.h"
#include "base/hash.h"
#include "base/scratch.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct hashed_row {
    uint64_t key;
    size_t   row;
} hashed_row;

CRI_COMPARE_BY_TWO(compare_rows, hashed_row, key, row);

static uint64_t mix_number(uint64_t key, double x)
{
    return isnan(x) ? cri_hash_mix(key, 1) : cri_hash_double(key, x); /* there are several NaNs */
}

/* By the text of a level: its code depends on which others there are. */
static cr_status mix_levels(cr_scratch *s, const cr_column *c, size_t n, hashed_row *rows)
{
    uint64_t *level = cr_scratch_bytes(s, c->n_levels, sizeof *level);
    if (s->status != CR_OK) return s->status;
    for (size_t k = 0; k < c->n_levels; k++)
        level[k] = cri_hash_text(c->levels[k], strlen(c->levels[k]));
    for (size_t i = 0; i < n; i++)
        rows[i].key =
            cri_hash_mix(rows[i].key, c->codes[i] == CR_MISSING_CODE ? 1 : level[c->codes[i]]);
    return CR_OK;
}

static void mix_entries(const cr_csr *X, size_t n, hashed_row *rows)
{
    for (size_t i = 0; i < n; i++)
        for (size_t e = X->row_start[i]; e < X->row_start[i + 1]; e++)
            if (X->value[e] != 0)
                rows[i].key = mix_number(cri_hash_mix(rows[i].key, X->column[e]), X->value[e]);
}

cr_status cri_table_by_values(cr_ctx *cx, const cr_table *t, cr_table **out_table)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      n = cr_table_rows(t), *order = cr_scratch_index(&s, n);
    hashed_row *rows = cr_scratch_bytes(&s, n, sizeof *rows);

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) rows[i] = (hashed_row){ 0, i };
    for (size_t k = 0; k < cri_table_ordinary(t); k++) {
        const cr_column *c = cri_table_ordinary_column(t, k);
        CR_TRY(cr_check_interrupt(cx));
        if (c->type == CR_CATEGORY) CR_TRY(mix_levels(&s, c, n, rows));
        for (size_t i = 0; c->type != CR_CATEGORY && i < n; i++)
            rows[i].key = mix_number(rows[i].key, c->values[i * c->stride]);
    }
    if (cr_table_csr(t)) mix_entries(cr_table_csr(t), n, rows);
    if (n > 0) qsort(rows, n, sizeof *rows, compare_rows);
    for (size_t i = 0; i < n; i++) order[i] = rows[i].row;
    CR_TRY(cri_table_subset(cx, t, order, n, out_table));
done:
    cr_scratch_end(&s);
    return st;
}
