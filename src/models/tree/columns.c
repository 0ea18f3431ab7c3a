/* columns.c -- columns sorted by radix: eleven bits at a time of the double's bits, made to ascend.
 */
#include "columns.h"
#include "../../base/context_internal.h"
#include "../../base/parallel.h"
#include "../../base/scratch.h"

#include <math.h>
#include <string.h>

enum { BITS = 11, BUCKETS = 1 << BITS, PASSES = 6 };

typedef struct keyed {
    uint64_t key;
    uint32_t row;
} keyed;

/* How many keys have which digit, in each pass; too much for a small stack. */
typedef struct digits {
    uint32_t count[PASSES][BUCKETS];
} digits;

/* Bits that ascend with the number; gaps above all numbers, -0 as 0. */
static uint64_t key_of(double x)
{
    uint64_t bits;
    if (isnan(x)) return UINT64_MAX;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* Sorts a [n] by key, rows with equal keys staying in order; b [n] and `of` are room.  Returns where
 * it is. */
static keyed *sort_keys(keyed *a, keyed *b, size_t n, digits *of)
{
    uint32_t(*count)[BUCKETS] = of->count;
    memset(of, 0, sizeof *of);
    for (size_t i = 0; i < n; i++)
        for (unsigned d = 0; d < PASSES; d++) count[d][a[i].key >> (d * BITS) & (BUCKETS - 1)]++;
    for (unsigned d = 0; d < PASSES; d++) {
        uint32_t sum = 0;
        if (count[d][a[0].key >> (d * BITS) & (BUCKETS - 1)] == n) continue; /* all alike */
        for (size_t k = 0; k < BUCKETS; k++) {
            uint32_t here = count[d][k];
            count[d][k] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++) b[count[d][a[i].key >> (d * BITS) & (BUCKETS - 1)]++] = a[i];
        keyed *swap = a;
        a = b, b = swap;
    }
    return a;
}

/* --- one column ------------------------------------------------------------------------------ */

typedef struct sort_work {
    cr_ctx         *cx;
    const cri_kept *kept;
    cri_columns    *c;
    keyed          *room;   /* [slots x 2 n] */
    digits         *digits; /* [slots]       */
    size_t          slots;
    size_t         *lacking; /* [p] bytes that were not to be had */
} sort_work;

static void take_codes(const cri_kept *kept, size_t j, cri_entry *e)
{
    for (size_t i = 0; i < kept->n; i++) {
        double x = kept->X[i * kept->p + j];
        e[i] = (cri_entry){ isnan(x) ? CRI_GAP : (uint32_t)x, (uint32_t)i };
    }
}

/* Ranks along the sorted keys; their number. */
static size_t rank_keys(const keyed *a, size_t n, cri_entry *e)
{
    size_t rank = 0;
    for (size_t i = 0; i < n; i++) {
        bool gap = a[i].key == UINT64_MAX;
        if (i > 0 && !gap && a[i].key != a[i - 1].key) rank++;
        e[i] = (cri_entry){ gap ? CRI_GAP : (uint32_t)rank, a[i].row };
    }
    return a[0].key == UINT64_MAX ? 0 : rank + 1;
}

static void sort_column(const sort_work *w, size_t j, keyed *a, digits *of)
{
    const cri_kept *kept = w->kept;
    size_t          n = kept->n;
    cri_entry      *e = w->c->entries + j * n;
    if (w->c->category[j]) {
        take_codes(kept, j, e);
        return;
    }
    for (size_t i = 0; i < n; i++) a[i] = (keyed){ key_of(kept->X[i * kept->p + j]), (uint32_t)i };
    size_t  distinct = rank_keys(sort_keys(a, a + n, n, of), n, e);
    double *values = cri_resize_quietly(w->cx, NULL, 0, distinct ? distinct : 1, sizeof *values);
    if (!values) {
        w->lacking[j] = (distinct ? distinct : 1) * sizeof *values;
        return;
    }
    w->c->distinct[j] = distinct;
    w->c->values[j] = values;
    for (size_t i = 0; i < n && e[i].rank != CRI_GAP; i++)
        values[e[i].rank] = kept->X[e[i].row * kept->p + j];
}

static void sort_slot(void *arg, size_t s)
{
    const sort_work *w = arg;
    for (size_t j = s; j < w->c->p; j += w->slots)
        sort_column(w, j, w->room + s * 2 * w->c->n, &w->digits[s]);
}

/* --- all ------------------------------------------------------------------------------------- */

void cri_columns_free(cr_ctx *cx, cri_columns *c)
{
    for (size_t j = 0; c->values && j < c->p; j++)
        if (c->values[j])
            cr_free(cx, c->values[j], c->distinct[j] ? c->distinct[j] : 1, sizeof(double));
    cr_free(cx, c->values, c->p, sizeof *c->values);
    cr_free(cx, c->distinct, c->p, sizeof *c->distinct);
    cr_free(cx, c->category, c->p, sizeof *c->category);
    cr_free(cx, c->entries, c->n, c->p * sizeof *c->entries);
    *c = (cri_columns){ 0 };
}

static void find_categories(const cr_design *design, cri_columns *c)
{
    for (size_t j = 0; j < c->p; j++) {
        c->category[j] = design->terms[j].code;
        if (c->category[j]) c->distinct[j] = design->columns[design->terms[j].column].n_levels;
    }
}

cr_status cri_columns_new(cr_ctx *cx, const cri_kept *kept, const cr_design *design,
                          cri_columns *out)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cri_columns c = { .n = kept->n, .p = kept->p };
    sort_work   w = { .cx = cx, .kept = kept, .c = &c, .slots = c.p < 8 ? c.p : 8 };

    if (c.n >= CRI_GAP)
        CR_TRY(cr_fail(cx, CR_EDATA, "trees hold up to %lu rows, and there are %zu",
                       (unsigned long)CRI_GAP, c.n));
    w.room = cr_scratch_bytes(&s, w.slots * 2 * c.n, sizeof *w.room);
    w.digits = cr_scratch_bytes(&s, w.slots, sizeof *w.digits);
    w.lacking = cr_scratch_bytes(&s, c.p, sizeof *w.lacking);
    CR_TRY(s.status);
    c.entries = cr_alloc(cx, c.n, c.p * sizeof *c.entries);
    c.distinct = cr_alloc(cx, c.p, sizeof *c.distinct);
    c.category = cr_alloc(cx, c.p, sizeof *c.category);
    c.values = cr_alloc(cx, c.p, sizeof *c.values);
    if (!c.entries || !c.distinct || !c.category || !c.values) CR_TRY(CR_ENOMEM);
    find_categories(design, &c);
    CR_TRY(cri_parallel_for(cx, NULL, w.slots, sort_slot, &w));
    for (size_t j = 0; j < c.p; j++)
        if (w.lacking[j]) CR_TRY(cri_fail_memory(cx, w.lacking[j]));
    *out = c;
    c = (cri_columns){ 0 };
done:
    if (c.entries || c.values || c.distinct || c.category) cri_columns_free(cx, &c);
    cr_scratch_end(&s);
    return st;
}
