/* split_groups.c -- folds of whole groups. */
#include "split.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <stdlib.h>

typedef struct group_size {
    size_t group, rows, order; /* order: a random one, for ties */
} group_size;

static int larger_first(const void *a, const void *b)
{
    const group_size *x = a, *y = b;
    if (x->rows != y->rows) return x->rows > y->rows ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* sizes[0..m) of the groups there are, in the order of dealing; returns m. */
static size_t order_groups(const size_t *group, size_t n, uint64_t seed, group_size *sizes,
                           size_t *order)
{
    size_t m = 0;
    cr_rng rng = cr_rng_stream(seed, (uint64_t)0x47525550u << 32); /* "GRUP" */
    for (size_t i = 0; i < n; i++) sizes[i] = (group_size){ .group = i };
    for (size_t i = 0; i < n; i++) sizes[group[i]].rows++;
    for (size_t g = 0; g < n; g++)
        if (sizes[g].rows > 0) sizes[m++] = sizes[g];
    cr_rng_permutation(&rng, m, order);
    for (size_t i = 0; i < m; i++) sizes[i].order = order[i];
    qsort(sizes, m, sizeof *sizes, larger_first);
    return m;
}

static size_t fewest_rows(const size_t *rows, size_t k)
{
    size_t best = 0;
    for (size_t f = 1; f < k; f++)
        if (rows[f] < rows[best]) best = f;
    return best;
}

cr_status cr_folds_new_grouped(cr_ctx *cx, const size_t *group, size_t n, size_t k, uint64_t seed,
                               cr_folds *out_folds)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    group_size *sizes = cr_scratch_bytes(&s, n, sizeof *sizes);
    size_t     *order = cr_scratch_index(&s, n), *fold = cr_scratch_index(&s, n);
    size_t     *rows = cr_scratch_bytes(&s, k, sizeof *rows), *block = NULL, m;

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++)
        if (group[i] >= n)
            CR_TRY(cr_fail(cx, CR_EARG, "row %zu is in group %zu, but groups are below %zu", i + 1,
                           group[i], n));
    m = order_groups(group, n, seed, sizes, order);
    if (k < 2) CR_TRY(cr_fail(cx, CR_EARG, "%zu folds: at least 2 are needed", k));
    if (k > m) {
        st = cr_fail(cx, CR_EARG, "%zu folds of %zu groups: some would be empty", k, m);
        if (m >= 2) st = cr_fail_hint(cx, "--folds %zu has one group in each", m);
        goto done;
    }
    block = cr_alloc(cx, n, sizeof *block);
    if (!block) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < m; i++) {
        size_t f = fewest_rows(rows, k);
        rows[f] += sizes[i].rows;
        fold[sizes[i].group] = f;
    }
    for (size_t i = 0; i < n; i++) block[i] = fold[group[i]];
    *out_folds = (cr_folds){ .n = n, .k = k, .ordered = false, .block = block };
done:
    cr_scratch_end(&s);
    return st;
}
