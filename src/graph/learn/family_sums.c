/* family_sums.c -- families scored one after another, then summed over subsets. */
#include "family_sums.h"
#include "base/context_internal.h"
#include "math/special/special.h"

#include <math.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

double cri_log_plus(double a, double b)
{
    double high = a > b ? a : b, low = a > b ? b : a;
    return low == -INFINITY ? high : high + log1p(exp(low - high));
}

double cri_log_minus(double a, double b) { return a > b ? a + log1p(-exp(b - a)) : -INFINITY; }

/* --- sums ------------------------------------------------------------------------------------ */

typedef struct making {
    const cri_score_source *source;
    const cri_arc_rules    *rules;
    cri_family_prior        prior;
    cri_family_sums        *out;
    void                  **work; /* [slots] of the source */
    uint32_t               *list; /* [slots x n] */
    cri_slots               slots;
    double                 *families; /* [n] */
    cr_ctx                 *cx;
} making;

/* -log choose(m, k) */
static double log_share(double m, double k)
{
    return cr_lgamma_abs(k + 1) + cr_lgamma_abs(m - k + 1) - cr_lgamma_abs(m + 1);
}

/* total[C] over all subsets: one candidate after another is allowed. */
static void sum_subsets(double *total, size_t sets)
{
    for (size_t half = 1; half < sets; half *= 2)
        for (size_t base = 0; base < sets; base += 2 * half)
            for (size_t c = base; c < base + half; c++)
                total[c + half] = cri_log_plus(total[c], total[c + half]);
}

static int compare_families(const void *a, const void *b)
{
    const cri_family *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return (x->set > y->set) - (x->set < y->set);
}

/* The families that have a weight, before they are summed. */
static void list_sets(cri_family_sums *f, size_t v, size_t sets)
{
    size_t k = 0;
    for (size_t c = 0; c < sets; c++)
        if (f->total[v][c] > -INFINITY)
            f->family[v][k++] = (cri_family){ f->total[v][c], (uint32_t)c };
    if (k > 1) qsort(f->family[v], k, sizeof *f->family[v], compare_families);
    f->sets[v] = k;
}

static void make_one(void *arg, size_t v)
{
    making              *m = arg;
    const cri_arc_rules *r = m->rules;
    size_t               slot = cri_slot_take(&m->slots), n = r->n, count = m->out->count[v];
    size_t               sets = (size_t)1 << count;
    uint32_t            *parents = m->list + slot * n, *candidate = m->out->candidate[v];
    double              *total = m->out->total[v];
    for (size_t c = 0; c < sets && !cri_should_stop(m->cx); c++) {
        size_t k = 0;
        bool   complete = true;
        for (size_t i = 0; i < count; i++) {
            if (c >> i & 1)
                parents[k++] = candidate[i];
            else
                complete &= !cri_arc_required(r, candidate[i], v);
        }
        total[c] = -INFINITY;
        if (!complete || k > r->most_parents) continue;
        total[c] = m->source->score(m->source->own, v, parents, k, m->work[slot]);
        if (m->prior == CRI_FAMILIES_FAIR) total[c] += log_share((double)n - 1, (double)k);
        m->families[v]++;
    }
    if (m->out->sets) list_sets(m->out, v, sets);
    sum_subsets(total, sets);
    cri_slot_leave(&m->slots, slot);
}

/* sum of choose(m, k) for k = 0 .. most */
static size_t sets_of_size(size_t m, size_t most)
{
    size_t sum = 0, choose = 1;
    for (size_t k = 0; k <= m && k <= most; k++) {
        sum += choose;
        choose = choose * (m - k) / (k + 1);
    }
    return sum;
}

cr_status cri_family_sums_make(cr_scratch *s, const cri_score_source *source,
                               const cri_arc_rules *rules, const uint64_t *candidates,
                               cri_family_prior prior, bool keep_sets, cri_family_sums *out)
{
    cr_status       st = CR_OK;
    cr_ctx         *cx = s->cx;
    cr_scratch      sc = cr_scratch_begin(cx);
    size_t          n = rules->n;
    cri_family_sums f = { .n = n };
    making m = { source, rules, prior, &f, NULL, NULL, { .n = cri_slots_needed(cx, n) }, NULL, cx };
    f.count = cr_scratch_bytes(s, n, sizeof *f.count);
    f.candidate = cr_scratch_bytes(s, n, sizeof *f.candidate);
    f.total = cr_scratch_bytes(s, n, sizeof *f.total);
    f.sets = keep_sets ? cr_scratch_bytes(s, n, sizeof *f.sets) : NULL;
    f.family = keep_sets ? cr_scratch_bytes(s, n, sizeof *f.family) : NULL;
    m.work = cr_scratch_bytes(&sc, m.slots.n, sizeof *m.work);
    m.list = cr_scratch_bytes(&sc, m.slots.n * n, sizeof *m.list);
    m.families = cr_scratch_bytes(&sc, n, sizeof *m.families);
    CR_TRY(s->status);
    CR_TRY(sc.status);
    for (size_t v = 0; v < n; v++) {
        f.candidate[v] = cr_scratch_bytes(s, n, sizeof **f.candidate);
        CR_TRY(s->status);
        for (size_t u = 0; u < n; u++)
            if (u != v && cri_arc_allowed(rules, u, v) &&
                (cri_bit_has(candidates + v * rules->words, u) || cri_arc_required(rules, u, v)))
                f.candidate[v][f.count[v]++] = (uint32_t)u;
        if (f.count[v] > CRI_MOST_CANDIDATES)
            CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                           "sums over sets of parents take at most %d candidates, not %" PRIu32,
                           CRI_MOST_CANDIDATES, f.count[v]));
        f.total[v] = cr_scratch_f64(s, (size_t)1 << f.count[v]);
        if (keep_sets) {
            size_t most = sets_of_size(f.count[v], rules->most_parents);
            f.family[v] = cr_scratch_bytes(s, most, sizeof **f.family);
        }
        CR_TRY(s->status);
    }
    for (size_t i = 0; i < m.slots.n; i++) CR_TRY(source->open_work(&sc, source->own, &m.work[i]));
    CR_TRY(cri_parallel_for(cx, "families", n, make_one, &m));
    CR_TRY(cr_check_interrupt(cx));
    for (size_t v = 0; v < n; v++) f.families += m.families[v];
    *out = f;
done:
    cr_scratch_end(&sc);
    return st;
}

/* --- candidates ------------------------------------------------------------------------------ */

typedef struct ranked {
    double   gain;
    uint32_t u;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->gain != y->gain) return x->gain > y->gain ? -1 : 1;
    return (x->u > y->u) - (x->u < y->u);
}

typedef struct choosing {
    cri_local_scores    *scores;
    const cri_arc_rules *rules;
    const cri_dag       *dag;
    size_t               most;
    uint64_t            *out;
    ranked              *list;    /* [slots x n] */
    uint32_t            *parents; /* [slots x 2 n] */
    cri_slots            slots;
} choosing;

/* Adds u to an ascending list. */
static void insert(const uint32_t *from, size_t k, uint32_t u, uint32_t *to)
{
    size_t i = 0;
    for (; i < k && from[i] < u; i++) to[i] = from[i];
    to[i] = u;
    for (; i < k; i++) to[i + 1] = from[i];
}

static void choose_one(void *arg, size_t v)
{
    choosing            *c = arg;
    const cri_arc_rules *r = c->rules;
    size_t               slot = cri_slot_take(&c->slots), n = r->n, m = 0;
    ranked              *list = c->list + slot * n;
    uint32_t            *base = c->parents + slot * 2 * n, *more = base + n;
    size_t               k = cri_bit_list(cri_dag_parents(c->dag, v), c->dag->words, base);
    double               without = cri_local_score(c->scores, v, base, k);
    double               alone = cri_local_score(c->scores, v, NULL, 0);
    size_t               allowed = 0;
    for (size_t u = 0; u < n; u++) allowed += u != v && cri_arc_allowed(r, u, v);
    for (uint32_t u = 0; u < n; u++) {
        if (u == v || !cri_arc_allowed(r, u, v)) continue;
        double gain = 0;
        if (cri_arc_required(r, u, v))
            gain = 3e300;
        else if (cri_dag_has(c->dag, u, v))
            gain = 2e300;
        else if (cri_dag_has(c->dag, v, u))
            gain = 1e300;
        else if (allowed > c->most) {
            insert(base, k, u, more);
            gain = cri_local_score(c->scores, v, more, k + 1) - without;
            gain = fmax(gain, cri_local_score(c->scores, v, &u, 1) - alone);
        }
        list[m++] = (ranked){ gain, u };
    }
    if (m > 1) qsort(list, m, sizeof *list, compare_ranked);
    for (size_t i = 0; i < m && i < c->most; i++) cri_bit_add(c->out + v * r->words, list[i].u);
    cri_slot_leave(&c->slots, slot);
}

cr_status cri_choose_candidates(cr_ctx *cx, cri_local_scores *scores, const cri_arc_rules *rules,
                                const cri_dag *dag, size_t most, uint64_t *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = rules->n;
    choosing   c = { scores, rules, dag, most, out, NULL, NULL, { .n = cri_slots_needed(cx, n) } };
    c.list = cr_scratch_bytes(&s, c.slots.n * n, sizeof *c.list);
    c.parents = cr_scratch_bytes(&s, c.slots.n * 2 * n, sizeof *c.parents);
    CR_TRY(s.status);
    CR_TRY(cri_parallel_for(cx, NULL, n, choose_one, &c));
done:
    cr_scratch_end(&s);
    return st;
}
