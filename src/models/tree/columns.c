/* columns.c -- columns sorted by radix: eleven bits at a time of the double's bits, made to ascend.
 */
#include "columns.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

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

/* The number that has these bits. */
static double value_of(uint64_t key)
{
    double   x;
    uint64_t bits = key >> 63 ? key ^ (uint64_t)1 << 63 : ~key;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Sorts a [n] by key, rows with equal keys staying in order; b [n] and `of` are workspace.  Returns
 * where it is. */
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

/* The same of keys alone, by their digits from `lowest` on. */
static uint64_t *sort_plain(uint64_t *a, uint64_t *b, size_t n, unsigned lowest, digits *of)
{
    uint32_t(*count)[BUCKETS] = of->count;
    memset(of, 0, sizeof *of);
    for (size_t i = 0; i < n; i++)
        for (unsigned d = lowest; d < PASSES; d++) count[d][a[i] >> (d * BITS) & (BUCKETS - 1)]++;
    for (unsigned d = lowest; d < PASSES; d++) {
        uint32_t sum = 0;
        if (count[d][a[0] >> (d * BITS) & (BUCKETS - 1)] == n) continue; /* all alike */
        for (size_t k = 0; k < BUCKETS; k++) {
            uint32_t here = count[d][k];
            count[d][k] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++) b[count[d][a[i] >> (d * BITS) & (BUCKETS - 1)]++] = a[i];
        uint64_t *swap = a;
        a = b, b = swap;
    }
    return a;
}

/* Sorts what is nearly sorted, by insertion; false where that would take long. */
static bool insert_plain(uint64_t *a, size_t n)
{
    size_t moves = 0;
    for (size_t i = 1; i < n; i++) {
        uint64_t key = a[i];
        size_t   at = i;
        for (; at > 0 && a[at - 1] > key && moves <= n; at--, moves++) a[at] = a[at - 1];
        a[at] = key;
        if (moves > n) return false;
    }
    return true;
}

/* --- one column ------------------------------------------------------------------------------ */

typedef struct sort_work {
    cr_ctx         *cx;
    const cri_kept *kept;
    cri_columns    *c;
    keyed          *workspace; /* [slots x 2 n]                   */
    digits         *digits;    /* [slots]                         */
    double         *weight;    /* [slots x n] of ranks, with bins */
    uint32_t       *codes;     /* [p x n], with bins              */
    size_t          slots;
    bool            alike;   /* all rows weigh the same, and only bins are wanted */
    size_t         *lacking; /* [p] bytes that were not to be had */
} sort_work;

static uint32_t code_of(double x) { return isnan(x) ? CRI_GAP : (uint32_t)x; }

static void take_levels(const sort_work *w, size_t j)
{
    const cri_kept *kept = w->kept;
    cri_columns    *c = w->c;
    for (size_t i = 0; i < c->n; i++) {
        uint32_t code = code_of(kept->X[i * kept->p + j]);
        if (c->entries) c->entries[j * c->n + i] = (cri_entry){ code, (uint32_t)i };
        if (c->ranks) c->ranks[j * c->n + i] = code;
        if (w->codes) w->codes[j * c->n + i] = code == CRI_GAP ? (uint32_t)c->distinct[j] : code;
    }
    if (w->codes) c->bins.count[j] = c->distinct[j];
}

static size_t count_keys(const keyed *a, size_t n)
{
    size_t distinct = a[0].key != UINT64_MAX;
    for (size_t i = 1; i < n; i++) distinct += a[i].key != a[i - 1].key && a[i].key != UINT64_MAX;
    return distinct;
}

/* Ranks along the sorted keys, and what each stands for. */
static void rank_keys(const sort_work *w, const keyed *a, size_t j, double *values)
{
    const cri_columns *c = w->c;
    size_t             rank = 0;
    for (size_t i = 0; i < c->n; i++) {
        bool gap = a[i].key == UINT64_MAX;
        if (i > 0 && !gap && a[i].key != a[i - 1].key) rank++;
        uint32_t here = gap ? CRI_GAP : (uint32_t)rank;
        if (!gap) values[rank] = value_of(a[i].key);
        if (c->entries) c->entries[j * c->n + i] = (cri_entry){ here, a[i].row };
        if (c->ranks) c->ranks[j * c->n + a[i].row] = here;
    }
}

/* The bin of each row, ranks being cut by their weight. */
static bool bin_keys(const sort_work *w, const keyed *a, size_t j, double *weight)
{
    cri_bins *b = &w->c->bins;
    size_t    n = w->c->n, ranks = w->c->distinct[j], rank = 0, bin = 0;
    uint32_t *last = cri_resize_quietly(w->cx, NULL, 0, b->most, sizeof *last);
    if (!(b->last[j] = last)) return false;
    memset(weight, 0, ranks * sizeof *weight);
    for (size_t i = 0; i < n && a[i].key != UINT64_MAX; i++) {
        rank += i > 0 && a[i].key != a[i - 1].key;
        weight[rank] += w->kept->w[a[i].row];
    }
    b->count[j] = cri_bins_cut(weight, ranks, b->most, last);
    rank = 0;
    for (size_t i = 0; i < n; i++) {
        bool gap = a[i].key == UINT64_MAX;
        rank += i > 0 && !gap && a[i].key != a[i - 1].key;
        while (!gap && rank > last[bin]) bin++;
        w->codes[j * n + a[i].row] = gap ? (uint32_t)b->count[j] : (uint32_t)bin;
    }
    return true;
}

/* The bin of a key: the first whose last key, of n that ascend, is not below it. */
static uint32_t find_bin(const uint64_t *last, size_t n, uint64_t key)
{
    const uint64_t *at = last;
    while (n > 1) {
        size_t half = n / 2;
        at += (at[half - 1] < key) * half;
        n -= half;
    }
    return (uint32_t)(at - last);
}

/* Values and bins where every row weighs the same: the keys are sorted without their rows, whose bins
 * are looked up.  false where memory is lacking.  O(n log bins), and a sort of n keys. */
static bool bin_plainly(const sort_work *w, size_t j, size_t slot)
{
    enum { HIGH = 2 }; /* the digit from which on keys are nearly sorted */
    const cri_kept *kept = w->kept;
    cri_bins       *b = &w->c->bins;
    size_t          n = kept->n, distinct = 0, gaps = 0;
    uint64_t       *a = (uint64_t *)(void *)(w->workspace + slot * 2 * n), *workspace = a + n;
    double         *weight = w->weight + slot * n;
    for (size_t i = 0; i < n; i++) a[i] = key_of(kept->X[i * kept->p + j]);
    uint64_t *sorted = sort_plain(a, workspace, n, HIGH, &w->digits[slot]);
    if (!insert_plain(sorted, n))
        sorted = sort_plain(sorted, sorted == a ? workspace : a, n, 0, &w->digits[slot]);
    while (gaps < n && sorted[n - 1 - gaps] == UINT64_MAX) gaps++;
    for (size_t i = 0; i < n - gaps; i++) {
        bool next = i == 0 || sorted[i] != sorted[i - 1];
        if (next) weight[distinct] = 0, sorted[distinct++] = sorted[i];
        weight[distinct - 1] += kept->w[0];
    }
    double   *values = cri_resize_quietly(w->cx, NULL, 0, distinct ? distinct : 1, sizeof *values);
    uint32_t *last = cri_resize_quietly(w->cx, NULL, 0, b->most, sizeof *last);
    w->c->distinct[j] = distinct;
    w->c->values[j] = values;
    b->last[j] = last;
    if (!values || !last) return false;
    for (size_t r = 0; r < distinct; r++) values[r] = value_of(sorted[r]);
    size_t bins = b->count[j] = cri_bins_cut(weight, distinct, b->most, last);
    for (size_t k = 0; k < bins; k++) sorted[k] = sorted[last[k]];
    for (size_t i = 0; i < n; i++) {
        uint64_t key = key_of(kept->X[i * kept->p + j]);
        w->codes[j * n + i] = key == UINT64_MAX ? (uint32_t)bins : find_bin(sorted, bins, key);
    }
    return true;
}

static void sort_column(const sort_work *w, size_t j, size_t slot)
{
    const cri_kept *kept = w->kept;
    size_t          n = kept->n;
    keyed          *a = w->workspace + slot * 2 * n;
    if (w->c->category[j]) {
        take_levels(w, j);
        return;
    }
    if (w->alike) {
        if (!bin_plainly(w, j, slot)) w->lacking[j] = n * sizeof(double);
        return;
    }
    for (size_t i = 0; i < n; i++) a[i] = (keyed){ key_of(kept->X[i * kept->p + j]), (uint32_t)i };
    a = sort_keys(a, a + n, n, &w->digits[slot]);
    size_t  distinct = count_keys(a, n), workspace = distinct ? distinct : 1;
    double *values = cri_resize_quietly(w->cx, NULL, 0, workspace, sizeof *values);
    if (!values) {
        w->lacking[j] = workspace * sizeof *values;
        return;
    }
    w->c->distinct[j] = distinct;
    w->c->values[j] = values;
    rank_keys(w, a, j, values);
    if (w->codes && !bin_keys(w, a, j, w->weight + slot * n))
        w->lacking[j] = w->c->bins.most * sizeof(uint32_t);
}

static void sort_slot(void *arg, size_t s)
{
    const sort_work *w = arg;
    for (size_t j = s; j < w->c->p; j += w->slots) sort_column(w, j, s);
}

static void store_group(void *arg, size_t g)
{
    const sort_work *w = arg;
    cri_bins        *b = &w->c->bins;
    for (size_t k = 0; k < b->group[g].width; k++) {
        size_t j = b->order[b->group[g].first + k];
        cri_bins_store(b, j, w->codes + j * b->n);
    }
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
    cr_free(cx, c->ranks, c->n, c->p * sizeof *c->ranks);
    cri_bins_free(cx, &c->bins);
    *c = (cri_columns){ 0 };
}

static void find_categories(const cr_design *design, cri_columns *c)
{
    for (size_t j = 0; j < c->p; j++) {
        c->category[j] = design->terms[j].code;
        if (c->category[j]) c->distinct[j] = design->columns[design->terms[j].column].n_levels;
    }
}

/* Memory for the columns themselves, and for sorting them. */
static cr_status reserve(cr_ctx *cx, sort_work *w, cr_scratch *s, size_t bins, bool ranks)
{
    cr_status    st = CR_OK;
    cri_columns *c = w->c;
    w->workspace = cr_scratch_bytes(s, w->slots * 2 * c->n, sizeof *w->workspace);
    w->digits = cr_scratch_bytes(s, w->slots, sizeof *w->digits);
    w->lacking = cr_scratch_bytes(s, c->p, sizeof *w->lacking);
    if (bins) {
        w->weight = cr_scratch_matrix(s, w->slots, c->n);
        w->codes = cr_scratch_bytes(s, c->p * c->n, sizeof *w->codes);
    }
    CR_TRY(s->status);
    c->distinct = cr_alloc(cx, c->p, sizeof *c->distinct);
    c->category = cr_alloc(cx, c->p, sizeof *c->category);
    c->values = cr_alloc(cx, c->p, sizeof *c->values);
    if (!c->distinct || !c->category || !c->values) CR_TRY(CR_ENOMEM);
    if (!bins) {
        c->entries = cr_alloc(cx, c->n, c->p * sizeof *c->entries);
        if (!c->entries) CR_TRY(CR_ENOMEM);
        goto done;
    }
    c->bins = (cri_bins){ .n = c->n, .p = c->p, .most = bins };
    c->bins.count = cr_alloc(cx, c->p, sizeof *c->bins.count);
    c->bins.last = cr_alloc(cx, c->p, sizeof *c->bins.last);
    if (ranks) c->ranks = cr_alloc(cx, c->n, c->p * sizeof *c->ranks);
    if (!c->bins.count || !c->bins.last || (ranks && !c->ranks)) CR_TRY(CR_ENOMEM);
done:
    return st;
}

cr_status cri_columns_new(cr_ctx *cx, const cri_kept *kept, const cr_design *design, size_t bins,
                          bool ranks, cri_columns *out)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cri_columns c = { .n = kept->n, .p = kept->p };
    sort_work   w = { .cx = cx, .kept = kept, .c = &c, .slots = cr_ctx_threads(cx) };

    if (c.n >= CRI_GAP)
        CR_TRY(cr_fail(cx, CR_EDATA, "trees can have at most %lu rows, but there are %zu",
                       (unsigned long)CRI_GAP, c.n));
    if (w.slots > c.p) w.slots = c.p;
    CR_TRY(reserve(cx, &w, &s, bins, ranks));
    find_categories(design, &c);
    w.alike = bins && !ranks;
    for (size_t i = 1; i < c.n; i++) w.alike = w.alike && kept->w[i] == kept->w[0];
    CR_TRY(cri_parallel_for(cx, NULL, w.slots, sort_slot, &w));
    for (size_t j = 0; j < c.p; j++)
        if (w.lacking[j]) CR_TRY(cri_fail_memory(cx, w.lacking[j]));
    if (bins) {
        CR_TRY(cri_bins_group(cx, &c.bins));
        CR_TRY(cri_parallel_for(cx, NULL, c.bins.groups, store_group, &w));
    }
    *out = c;
    c = (cri_columns){ 0 };
done:
    cri_columns_free(cx, &c);
    cr_scratch_end(&s);
    return st;
}
