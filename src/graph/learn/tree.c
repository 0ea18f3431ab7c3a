/* tree.c -- information of all pairs, then the best edges first (Kruskal). */
#include "tree.h"
#include "base/find.h"
#include "base/parallel.h"

#include <stdlib.h>

typedef struct pair {
    double   information;
    uint32_t u, v; /* u < v */
    bool     required;
} pair;

/* Required arcs first, then by information; ties in the order of columns. */
static int compare_pairs(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->required != y->required) return x->required ? -1 : 1;
    if (x->information != y->information) return x->information > y->information ? -1 : 1;
    if (x->u != y->u) return x->u < y->u ? -1 : 1;
    return (x->v > y->v) - (x->v < y->v);
}

typedef struct measuring {
    const cri_independence *test;
    pair                   *pairs;
    size_t                  target, size;
    char                   *memory; /* [slots x size] */
    cri_slots               slots;
} measuring;

static void measure(void *arg, size_t i)
{
    measuring *m = arg;
    size_t     slot = cri_slot_take(&m->slots);
    pair      *e = &m->pairs[i];
    e->information = m->test
                         ->verdict(m->test->arg, m->memory + slot * m->size, e->u, e->v,
                                   m->target != CR_NONE, &m->target)
                         .association;
    cri_slot_leave(&m->slots, slot);
}

/* Lines of a forest into arcs away from its roots. */
static void point_away(const cri_pdag *g, size_t root, size_t *stack, bool *seen, cri_dag *out)
{
    size_t n = g->n, waiting = 0;
    for (size_t i = 0; i <= n; i++) {
        size_t first = i == 0 ? root : i - 1;
        if (first >= n || seen[first]) continue;
        seen[first] = true;
        stack[waiting++] = first;
        while (waiting > 0) {
            size_t u = stack[--waiting];
            for (size_t v = 0; v < n; v++) {
                if (seen[v] || !cri_pdag_adjacent(g, u, v)) continue;
                seen[v] = true;
                cri_bit_add(cri_dag_parents(out, v), u);
                stack[waiting++] = v;
            }
        }
    }
}

static bool is_within(const cri_arc_rules *r, const cri_dag *g)
{
    for (size_t i = 0; i < g->n * g->words; i++)
        if ((g->parents[i] & ~r->allowed[i]) || (r->required[i] & ~g->parents[i])) return false;
    return true;
}

/* Arcs that rules fix, what follows from them without a collider, and any way for the others. */
static cr_status point_by_rules(cr_ctx *cx, const cri_arc_rules *r, cri_pdag *g, cri_dag *out)
{
    bool consistent;
    for (size_t u = 0; u < g->n; u++)
        for (size_t v = 0; v < g->n; v++)
            if (cri_pdag_line(g, u, v) && (cri_arc_required(r, u, v) || !cri_arc_allowed(r, v, u)))
                cri_pdag_set_arrow(g, u, v);
    cri_pdag_meek(g);
    cr_status st = cri_pdag_extend(cx, g, &consistent);
    if (st != CR_OK) return st;
    memset(out->parents, 0, out->n * out->words * sizeof *out->parents);
    for (size_t u = 0; u < g->n; u++)
        for (size_t v = 0; v < g->n; v++)
            if (cri_pdag_arrow(g, u, v) && cri_arc_allowed(r, u, v))
                cri_bit_add(cri_dag_parents(out, v), u);
    return CR_OK;
}

cr_status cri_tree_learn(cr_ctx *cx, const cri_independence *test, const cri_arc_rules *rules,
                         size_t opt_target, size_t root, cri_dag *out, double *opt_information)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = test->n, pairs = 0, all = n * (n - (n > 0)) / 2;
    cri_pdag   g = { 0 };
    measuring  m = { .test = test, .target = opt_target };
    m.slots = (cri_slots){ .n = cri_slots_needed(cx, all) };
    m.size = (test->workspace(test->arg, opt_target != CR_NONE) + 63) / 64 * 64;
    m.pairs = cr_scratch_bytes(&s, all, sizeof *m.pairs);
    m.memory = cr_scratch_bytes(&s, m.slots.n, m.size);
    size_t *up = cr_scratch_index(&s, n), *stack = cr_scratch_index(&s, n);
    bool   *seen = cr_scratch_bytes(&s, n, sizeof *seen);
    CR_TRY(s.status);
    CR_TRY(cri_pdag_new(cx, n, &g));
    for (uint32_t u = 0; u < n; u++)
        for (uint32_t v = u + 1; v < n; v++) {
            if (u == opt_target || v == opt_target) continue;
            if (!cri_arc_allowed(rules, u, v) && !cri_arc_allowed(rules, v, u)) continue;
            bool required = cri_arc_required(rules, u, v) || cri_arc_required(rules, v, u);
            m.pairs[pairs++] = (pair){ 0, u, v, required };
        }
    CR_TRY(cri_parallel_for(cx, "pairs", pairs, measure, &m));
    for (size_t i = 0; opt_information && i < n * n; i++) opt_information[i] = 0;
    for (size_t i = 0; opt_information && i < pairs; i++)
        opt_information[m.pairs[i].u * n + m.pairs[i].v] =
            opt_information[m.pairs[i].v * n + m.pairs[i].u] = m.pairs[i].information;
    if (pairs > 1) qsort(m.pairs, pairs, sizeof *m.pairs, compare_pairs);
    for (size_t v = 0; v < n; v++) up[v] = v;
    for (size_t i = 0; i < pairs; i++) {
        const pair *e = &m.pairs[i];
        size_t      a = cri_find_root(up, e->u), b = cri_find_root(up, e->v);
        if (a == b && e->required) CR_TRY(cr_fail(cx, CR_EARG, "the required arcs are no tree"));
        if (a == b || (e->information <= 0 && !e->required)) continue;
        up[a] = b;
        cri_pdag_set_line(&g, e->u, e->v);
    }
    memset(out->parents, 0, n * out->words * sizeof *out->parents);
    if (opt_target != CR_NONE) seen[opt_target] = true;
    point_away(&g, root, stack, seen, out);
    if (opt_target == CR_NONE && !is_within(rules, out)) CR_TRY(point_by_rules(cx, rules, &g, out));
    for (size_t v = 0; v < n && opt_target != CR_NONE; v++)
        if (v != opt_target) cri_bit_add(cri_dag_parents(out, v), opt_target);
    cri_dag_close(out, NULL);
done:
    cri_pdag_free(cx, &g);
    cr_scratch_end(&s);
    return st;
}
