/* split.c -- folds, holdout and bootstrap. */
#include "dealt.h"
#include "data/table/table.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* Streams of the seed that belong to splits: the purpose in the high half, the item in the low. */
static cr_rng split_stream(uint64_t seed, uint64_t purpose, uint64_t item)
{
    return cr_rng_stream(seed, (0x53504c54u + purpose) << 32 ^ item); /* "SPLT" */
}

enum { FOLDS, HOLDOUT, BOOTSTRAP };

/* --- folds ----------------------------------------------------------------------------------- */

static cr_status check_folds(cr_ctx *cx, size_t n, size_t k)
{
    if (k < 2) return cr_fail(cx, CR_EARG, "%zu folds: at least 2 are needed", k);
    if (k > n) return cr_fail(cx, CR_EARG, "%zu folds of %zu rows: some would be empty", k, n);
    return CR_OK;
}

/* Brings `order` [n] into classes: a stable counting sort by code.  CR_MISSING_CODE comes last.
 * start [classes + 1] is scratch, zeroed; `sorted` [n] receives the result. */
static void sort_by_class(const uint32_t *codes, size_t n, size_t classes, const size_t *order,
                          size_t *start, size_t *sorted)
{
    for (size_t i = 0; i < n; i++) {
        size_t c = codes[i] == CR_MISSING_CODE ? classes - 1 : codes[i];
        start[c + 1]++;
    }
    for (size_t c = 0; c < classes; c++) start[c + 1] += start[c];
    for (size_t i = 0; i < n; i++) {
        size_t row = order[i], c = codes[row] == CR_MISSING_CODE ? classes - 1 : codes[row];
        sorted[start[c]++] = row;
    }
}

/* One more than the largest code, and one for the missing ones. */
static size_t count_classes(const uint32_t *codes, size_t n)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        if (codes[i] != CR_MISSING_CODE && codes[i] + (size_t)1 > most) most = codes[i] + (size_t)1;
    return most + 1;
}

cr_status cri_deal_order(cr_ctx *cx, const uint32_t *opt_codes, size_t n, uint64_t seed,
                         size_t *order)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     classes = opt_codes ? count_classes(opt_codes, n) : 0;
    size_t    *sorted = cr_scratch_index(&s, opt_codes ? n : 0);
    size_t    *start = cr_scratch_bytes(&s, classes + 1, sizeof *start);
    cr_rng     rng = split_stream(seed, FOLDS, 0);

    CR_TRY(s.status);
    cr_rng_permutation(&rng, n, order);
    if (opt_codes) sort_by_class(opt_codes, n, classes, order, start, sorted);
    if (opt_codes && n > 0) memcpy(order, sorted, n * sizeof *order);
done:
    cr_scratch_end(&s);
    return st;
}

/* Deals the rows to the folds in turn, class after class without starting anew: so both the whole
 * and every class are spread evenly. */
static cr_status deal(cr_ctx *cx, const uint32_t *opt_codes, size_t n, size_t k, uint64_t seed,
                      cr_folds *out_folds)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *order = cr_scratch_index(&s, n), *block = NULL;

    CR_TRY(s.status);
    CR_TRY(check_folds(cx, n, k));
    CR_TRY(cri_deal_order(cx, opt_codes, n, seed, order));
    block = cr_alloc(cx, n, sizeof *block);
    if (!block) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n; i++) block[order[i]] = i % k;
    *out_folds = (cr_folds){ .n = n, .k = k, .ordered = false, .block = block };
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_folds_new(cr_ctx *cx, size_t n, size_t k, uint64_t seed, cr_folds *out_folds)
{
    return deal(cx, NULL, n, k, seed, out_folds);
}

cr_status cr_folds_new_stratified(cr_ctx *cx, const uint32_t *codes, size_t n, size_t k,
                                  uint64_t seed, cr_folds *out_folds)
{
    return deal(cx, codes, n, k, seed, out_folds);
}

cr_status cr_folds_new_ordered(cr_ctx *cx, size_t n, size_t k, cr_folds *out_folds)
{
    if (k < 1 || k >= n)
        return cr_fail(cx, CR_EARG,
                       "%zu folds in the order of time need at least %zu rows, not %zu", k,
                       k < 1 ? 2 : k + 1, n);
    size_t *block = cr_alloc(cx, n, sizeof *block);
    if (!block) return CR_ENOMEM;
    size_t size = n / (k + 1),
           larger = n % (k + 1); /* the first `larger` blocks have one row more */
    for (size_t b = 0, row = 0; b <= k; b++)
        for (size_t end = row + size + (b < larger ? 1 : 0); row < end; row++) block[row] = b;
    *out_folds = (cr_folds){ .n = n, .k = k, .ordered = true, .block = block };
    return CR_OK;
}

void cr_folds_free(cr_ctx *cx, cr_folds *folds)
{
    cr_free(cx, folds->block, folds->n, sizeof *folds->block);
    *folds = (cr_folds){ 0 };
}

size_t cr_folds_train(const cr_folds *folds, size_t f, size_t *opt_rows)
{
    size_t count = 0;
    for (size_t i = 0; i < folds->n; i++) {
        bool train = folds->ordered ? folds->block[i] <= f : folds->block[i] != f;
        if (train && opt_rows) opt_rows[count] = i;
        count += train;
    }
    return count;
}

size_t cr_folds_test(const cr_folds *folds, size_t f, size_t *opt_rows)
{
    size_t count = 0, tested = folds->ordered ? f + 1 : f;
    for (size_t i = 0; i < folds->n; i++) {
        bool test = folds->block[i] == tested;
        if (test && opt_rows) opt_rows[count] = i;
        count += test;
    }
    return count;
}

/* --- one split, and resampling --------------------------------------------------------------- */

cr_status cr_holdout(cr_ctx *cx, size_t n, double fraction, uint64_t seed, size_t *out_rows,
                     size_t *out_train)
{
    if (n < 2) return cr_fail(cx, CR_EARG, "%zu rows cannot be split into two parts", n);
    if (!(fraction > 0 && fraction < 1))
        return cr_fail(cx, CR_EARG, "a test part of %g: it must lie between 0 and 1", fraction);
    double wanted = round(fraction * (double)n), most = (double)n - 1;
    size_t test = wanted < 1 ? 1 : wanted > most ? n - 1 : (size_t)wanted, train = n - test;
    size_t trained = 0, tested = 0;
    cr_rng rng = split_stream(seed, HOLDOUT, 0);
    for (size_t i = 0; i < n; i++) { /* Knuth, TAOCP 2, 3.4.2, algorithm S */
        if (cr_rng_below(&rng, n - i) < test - tested)
            out_rows[train + tested++] = i;
        else
            out_rows[trained++] = i;
    }
    *out_train = train;
    return CR_OK;
}

void cr_bootstrap(size_t n, uint64_t seed, uint64_t replicate, size_t *out_drawn, size_t *out_left,
                  size_t *out_left_n)
{
    cr_rng rng = split_stream(seed, BOOTSTRAP, replicate);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) out_left[i] = 0;
    for (size_t i = 0; i < n; i++) {
        out_drawn[i] = (size_t)cr_rng_below(&rng, n);
        out_left[out_drawn[i]] = 1;
    }
    for (size_t i = 0; i < n; i++) /* count <= i: the marks are read before they are written over */
        if (!out_left[i]) out_left[count++] = i;
    *out_left_n = count;
}
