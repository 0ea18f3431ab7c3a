/* copies.c -- see copies.h. */
#include "copies.h"
#include "base/hash.h"
#include "base/scratch.h"
#include "base/sort.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

CRI_COMPARE_BY_TWO(compare_rows, cri_keyed_row, key, row);
CRI_COMPARE_BY(compare_places, cri_keyed_row, row);

bool cri_copies_merge_keyed(cri_keyed_row *rows, size_t *n)
{
    size_t m = 0;
    bool   again = false, several = false, whole = true, varies = false, differ = false;
    qsort(rows, *n, sizeof *rows, compare_rows);
    for (size_t i = 0; i < *n && !differ; i++) {
        several |= rows[i].w > 1;
        whole &= rows[i].w == floor(rows[i].w);
        varies |= rows[i].y != rows[0].y;
        if (m > 0 && rows[i].key == rows[m - 1].key) {
            differ = rows[i].y != rows[m - 1].y;
            rows[m - 1].w += rows[i].w;
            again = true;
        } else {
            rows[m++] = rows[i];
        }
    }
    if (differ || !varies || !(again || (whole && several))) return false;
    *n = m;
    qsort(rows, m, sizeof *rows, compare_places);
    return true;
}

/* --- tables ----------------------------------------------------------------------------------- */

static void mix_column(const cr_column *c, size_t n, cri_keyed_row *rows)
{
    for (size_t i = 0; i < n; i++)
        rows[i].key = c->type == CR_CATEGORY
                          ? cri_hash_mix(rows[i].key, c->codes[i])
                          : cri_hash_double(rows[i].key, c->values[i * c->stride]);
}

static bool is_named(const cr_column *c, const char *opt_name)
{
    return opt_name && strcmp(c->name, opt_name) == 0;
}

/* group [n] of rows whose keys are `key` [n]: the place of the first of the observation among `list` [m]. */
static void number_groups(const cri_keyed_row *rows, size_t n, cri_keyed_row *list, size_t m,
                          size_t *group)
{
    qsort(list, m, sizeof *list, compare_rows);
    for (size_t i = 0; i < n; i++) {
        size_t low = 0, high = m;
        while (low + 1 < high) {
            size_t middle = low + (high - low) / 2;
            if (list[middle].key <= rows[i].key)
                low = middle;
            else
                high = middle;
        }
        group[i] = low;
    }
}

cr_status cri_copies_in_table(cr_ctx *cx, const cr_table *t, const char *opt_target,
                              const char *opt_weights, size_t *group, bool *out_together)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    const cr_column *y = opt_target ? cr_table_find(t, opt_target) : NULL;
    const cr_column *w = opt_weights ? cr_table_find(t, opt_weights) : NULL;
    size_t           n = cr_table_rows(t), m = 0;
    cri_keyed_row   *rows = cr_scratch_bytes(&s, n, sizeof *rows);
    cri_keyed_row   *list = cr_scratch_bytes(&s, n, sizeof *list);

    *out_together = false;
    CR_TRY(s.status);
    if (!y || y->type == CR_CATEGORY || (w && w->type == CR_CATEGORY)) goto done;
    if (cri_table_ordinary(t) < cr_table_columns(t)) goto done; /* sparse columns */
    for (size_t i = 0; i < n; i++)
        rows[i] =
            (cri_keyed_row){ 0, y->values[i * y->stride], w ? w->values[i * w->stride] : 1, i };
    for (size_t k = 0; k < cri_table_ordinary(t); k++) {
        const cr_column *c = cri_table_ordinary_column(t, k);
        if (!is_named(c, opt_target) && !is_named(c, opt_weights)) mix_column(c, n, rows);
    }
    for (size_t i = 0; i < n; i++)
        if (rows[i].w > 0 && !isnan(rows[i].y)) list[m++] = rows[i];
    *out_together = cri_copies_merge_keyed(list, &m);
    if (*out_together) number_groups(rows, n, list, m, group);
done:
    cr_scratch_end(&s);
    return st;
}
