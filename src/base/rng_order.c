/* rng_order.c -- random orders and random subsets. */
#include "rng.h"
#include "find.h"

static void shuffle(cr_rng *r, size_t n, size_t *items)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)cr_rng_below(r, i), held = items[i - 1];
        items[i - 1] = items[j];
        items[j] = held;
    }
}

void cr_rng_permutation(cr_rng *r, size_t n, size_t *out)
{
    for (size_t i = 0; i < n; i++) out[i] = i;
    shuffle(r, n, out);
}

/* Robert Floyd's sampling: Bentley & Floyd (1987), CACM 30(9). */
static void choose_few(cr_rng *r, size_t n, size_t k, size_t *out)
{
    for (size_t i = 0; i < k; i++) {
        size_t top = n - k + i, item = (size_t)cr_rng_below(r, top + 1);
        out[i] = cri_has_index(out, i, item) ? top : item;
    }
}

/* Knuth, TAOCP vol. 2, sec. 3.4.2, algorithm S: each item with the share of places left. */
static void choose_many(cr_rng *r, size_t n, size_t k, size_t *out)
{
    for (size_t item = 0, chosen = 0; chosen < k; item++)
        if (cr_rng_below(r, n - item) < k - chosen) out[chosen++] = item;
}

void cr_rng_choose(cr_rng *r, size_t n, size_t k, size_t *out)
{
    if (k == 0) return;
    if (k <= n / k)
        choose_few(r, n, k, out);
    else
        choose_many(r, n, k, out);
    shuffle(r, k, out);
}
