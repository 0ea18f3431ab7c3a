/* blanket.c -- the other parents of common children.
 * s, a neighbour of a neighbour x of the target t, is one where it is separated from t by some subset of
 * the neighbours of t without x, and not once x is given too. */
#include "neighbours.h"
#include "subsets.h"
#include "base/context_internal.h"
#include "base/scratch.h"

typedef struct asking {
    cr_ctx                 *cx;
    const cri_independence *test;
    size_t                  t, most, m;
    size_t                 *list;              /* [n] the neighbours of t */
    size_t                 *at, *given, *pool; /* [n] each */
    void                   *memory;
} asking;

/* A subset of the neighbours of t without x that separates s from t: the one of the largest p. */
static cr_status separate(asking *q, size_t s, size_t x, bool *out_found, size_t *out_k,
                          size_t *out_set)
{
    size_t m = 0;
    double best = -1;
    *out_found = false;
    for (size_t i = 0; i < q->m; i++)
        if (q->list[i] != x && q->list[i] != s) q->pool[m++] = q->list[i];
    for (size_t k = 0; k <= m && k < q->most && !*out_found; k++) {
        cri_first_subset(q->at, k);
        do {
            for (size_t i = 0; i < k; i++) q->given[i] = q->pool[q->at[i]];
            cri_verdict v = q->test->verdict(q->test->arg, q->memory, q->t, s, k, q->given);
            cr_status   st = cr_check_interrupt(q->cx);
            if (st != CR_OK) return st;
            if (!v.independent || v.p <= best) continue;
            best = v.p, *out_found = true, *out_k = k;
            memcpy(out_set, q->given, k * sizeof *out_set);
        } while (cri_next_subset(q->at, k, m));
    }
    return CR_OK;
}

cr_status cri_blanket(cr_ctx *cx, const cri_independence *test, const cri_neighbour_options *o,
                      size_t target, cri_blanket_member *out)
{
    cr_status  st = CR_OK;
    cr_scratch sc = cr_scratch_begin(cx);
    size_t     n = test->n, words = cri_bit_words(n), k = 0;
    size_t     most = o->most_given < n ? o->most_given : n;
    asking     q = { .cx = cx, .test = test, .t = target, .most = most + 1 };
    uint64_t  *near = cr_scratch_bytes(&sc, n * words, sizeof *near);
    uint64_t  *next = cr_scratch_bytes(&sc, n * words, sizeof *next);
    size_t    *set = cr_scratch_index(&sc, n + 1);
    q.list = cr_scratch_index(&sc, n), q.at = cr_scratch_index(&sc, n);
    q.given = cr_scratch_index(&sc, n), q.pool = cr_scratch_index(&sc, n);
    q.memory = cr_scratch_bytes(&sc, test->workspace(test->arg, n), 1);
    CR_TRY(sc.status);
    if (target >= n)
        CR_TRY(cr_fail(cx, CR_EARG, "there is no variable %zu, only %zu of them", target, n));
    CR_TRY(cri_neighbours(cx, test, o, target, near, NULL));
    for (size_t x = 0; x < n; x++) {
        out[x] = (cri_blanket_member){ CRI_NOT_IN_BLANKET, 1, 0 };
        if (cri_bit_has(near + target * words, x)) q.list[q.m++] = x, out[x].role = CRI_NEIGHBOUR;
    }
    for (size_t i = 0; i < q.m; i++) {
        size_t x = q.list[i];
        memset(next, 0, n * words * sizeof *next);
        CR_TRY(cri_neighbours(cx, test, o, x, next, NULL));
        for (size_t s = 0; s < n; s++) {
            bool found;
            if (s == target || out[s].role || !cri_bit_has(next + x * words, s)) continue;
            CR_TRY(separate(&q, s, x, &found, &k, set));
            if (!found) continue;
            set[k++] = x;
            if (!test->verdict(test->arg, q.memory, target, s, k, set).independent)
                out[s].role = CRI_SPOUSE;
        }
    }
    for (size_t x = 0; x < n; x++) { /* how much each adds to all the others */
        if (!out[x].role) continue;
        k = 0;
        for (size_t u = 0; u < n; u++)
            if (u != x && out[u].role) set[k++] = u;
        cri_verdict v = test->verdict(test->arg, q.memory, target, x, k, set);
        out[x].p = v.p, out[x].association = v.association;
    }
done:
    cr_scratch_end(&sc);
    return st;
}
