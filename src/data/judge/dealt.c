/* dealt.c -- rows divided into parts by their weights. */
#include "dealt.h"
#include "copies.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "data/table/subset.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <string.h>

enum { MOST_PARTS = 1000 };
static const double MOST_COPIES = 0x1p53;

/* --- counts ----------------------------------------------------------------------------------- */

/* Whole numbers, and some that stand for more than one row. */
static bool are_counts(const cr_column *w, size_t n)
{
    bool several = false;
    if (w->type == CR_CATEGORY) return false;
    for (size_t i = 0; i < n; i++) {
        double x = w->values[i * w->stride];
        if (!(x >= 0 && x <= MOST_COPIES && x == floor(x))) return false;
        several |= x > 1;
    }
    return several;
}

/* --- parts ------------------------------------------------------------------------------------ */

static cr_rng row_stream(uint64_t seed, uint64_t purpose, size_t row)
{
    return cr_rng_stream(seed, (0x4445414cu + purpose) << 32 ^ row); /* "DEAL" */
}

/* The parts of row i: how many copies fall on each of `folds`, those with none left out.  Returns how many there
 * are.  count [folds] is workspace. */
static size_t divide(double w, uint64_t seed, size_t i, const double *even, size_t folds,
                     uint64_t *count)
{
    cr_rng rng = row_stream(seed, 0, i);
    size_t n = 0;
    cr_rng_multinomial(&rng, (uint64_t)w, even, folds, count);
    for (size_t f = 0; f < folds; f++)
        if (count[f]) count[n++] = count[f];
    return n;
}

/* The table of the parts, whose weights replace those of the rows. */
static cr_status make_table(cr_ctx *cx, const cr_table *t, const char *weights,
                            const double *part_weight, cri_dealt *d)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     parts = d->first[d->rows], *row = cr_scratch_index(&s, parts);

    CR_TRY(s.status);
    for (size_t i = 0; i < d->rows; i++)
        for (size_t k = d->first[i]; k < d->first[i + 1]; k++) row[k] = i;
    CR_TRY(cri_table_subset(cx, t, row, parts, &d->table));
    double *weight = cri_table_numbers(d->table, weights);
    if (weight) {
        memcpy(weight, part_weight, parts * sizeof *weight);
    } else { /* of a sparse block: not divided */
        cr_table_free(cx, d->table);
        d->table = NULL;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Groups of copies, where some observation has several rows. */
static cr_status take_groups(cr_ctx *cx, const cr_table *t, const size_t *group, size_t n,
                             cri_dealt *out)
{
    size_t observations = 0;
    for (size_t i = 0; i < n; i++)
        observations = group[i] >= observations ? group[i] + 1 : observations;
    if (observations == n) return CR_OK;
    out->rows = cr_table_rows(t);
    out->group = cr_alloc(cx, n, sizeof *group);
    if (!out->group) return CR_ENOMEM;
    memcpy(out->group, group, n * sizeof *group);
    return CR_OK;
}

cr_status cri_dealt_open(cr_ctx *cx, const cr_table *t, const char *opt_target,
                         const char *opt_weights, size_t folds, uint64_t seed, cri_dealt *out)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    const cr_column *w = opt_weights ? cr_table_find(t, opt_weights) : NULL;
    cri_dealt        d = { .rows = cr_table_rows(t) };
    size_t           most = folds < MOST_PARTS ? folds : MOST_PARTS, parts = 0, n = 0;

    size_t *group = cr_scratch_index(&s, d.rows);
    bool    together;
    *out = (cri_dealt){ 0 };
    CR_TRY(s.status);
    CR_TRY(cri_copies_in_table(cx, t, opt_target, opt_weights, group, &together));
    if (together) {
        st = take_groups(cx, t, group, d.rows, out);
        goto done;
    }
    if (!w || !are_counts(w, d.rows)) goto done;
    for (size_t i = 0; i < d.rows; i++) { /* at most so many */
        double copies = w->values[i * w->stride];
        parts += copies <= 1 ? 1 : copies < (double)most ? (size_t)copies : most;
    }
    double   *weight = cr_scratch_f64(&s, parts), *even = cr_scratch_f64(&s, most);
    uint64_t *count = cr_scratch_bytes(&s, most, sizeof *count);
    CR_TRY(s.status);
    d.first = cr_alloc(cx, d.rows + 1, sizeof *d.first);
    if (!d.first) CR_TRY(CR_ENOMEM);
    for (size_t f = 0; f < most; f++) even[f] = 1;
    for (size_t i = 0; i < d.rows; i++) {
        double copies = w->values[i * w->stride];
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(cx));
        size_t m = copies > 1 ? divide(copies, seed, i, even, most, count) : 1;
        for (size_t k = 0; k < m; k++) weight[n++] = copies > 1 ? (double)count[k] : copies;
        d.first[i + 1] = n;
    }
    CR_TRY(make_table(cx, t, w->name, weight, &d));
    if (!d.table) goto done;
    *out = d;
    d = (cri_dealt){ 0 };
done:
    cri_dealt_free(cx, &d);
    cr_scratch_end(&s);
    return st;
}

void cri_dealt_free(cr_ctx *cx, cri_dealt *d)
{
    cr_table_free(cx, d->table);
    cr_free(cx, d->first, d->rows + 1, sizeof *d->first);
    cr_free(cx, d->group, d->rows, sizeof *d->group);
    *d = (cri_dealt){ 0 };
}

/* --- folds ------------------------------------------------------------------------------------ */

cr_status cri_dealt_split(cr_ctx *cx, const cri_dealt *d, size_t n, size_t k, uint64_t seed,
                          cr_folds *out)
{
    return d->group   ? cr_folds_new_grouped(cx, d->group, n, k, seed, out)
           : d->table ? cri_dealt_folds(cx, d, NULL, k, seed, out)
                      : cr_folds_new(cx, n, k, seed, out);
}

cr_status cri_dealt_folds(cr_ctx *cx, const cri_dealt *d, const uint32_t *opt_codes, size_t k,
                          uint64_t seed, cr_folds *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    uint32_t  *code = cr_scratch_bytes(&s, opt_codes ? d->rows : 0, sizeof *code);
    size_t     parts = d->first[d->rows], dealt = 0, *block = NULL, *order = NULL;

    CR_TRY(s.status);
    if (k < 2 || k > parts)
        CR_TRY(cr_fail(cx, CR_EARG,
                       "%zu folds of %zu rows, counted by their weights, cannot be made", k,
                       parts));
    block = cr_alloc(cx, parts, sizeof *block);
    if (!block) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; opt_codes && i < d->rows; i++) code[i] = opt_codes[d->first[i]];
    order = cr_scratch_index(&s, d->rows);
    CR_TRY(s.status);
    CR_TRY(cri_deal_order(cx, opt_codes ? code : NULL, d->rows, seed, order));
    for (size_t i = 0; i < d->rows; i++) {
        size_t row = order[i], m = d->first[row + 1] - d->first[row];
        cr_rng rng = row_stream(seed, 1, row);
        /* Single copies in turn; several from a fold that is drawn. */
        size_t from = m == 1 ? dealt++ : (size_t)cr_rng_below(&rng, k);
        for (size_t j = 0; j < m; j++) block[d->first[row] + j] = (from + j) % k;
    }
    *out = (cr_folds){ .n = parts, .k = k, .ordered = false, .block = block };
    block = NULL;
done:
    cr_free(cx, block, parts, sizeof *block);
    cr_scratch_end(&s);
    return st;
}
