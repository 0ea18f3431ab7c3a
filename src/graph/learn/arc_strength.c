/* arc_strength.c -- bootstrap, and the averaged network. */
#include "arc_strength.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

/* --- bootstrap ------------------------------------------------------------------------------- */

/* As many rows as t has, drawn from it with replacement: a row of weight w is drawn as w rows are. */
static cr_status resample(cr_scratch *s, const cri_cases_table *t, cr_rng *r, cri_cases_table *out)
{
    uint64_t       *drawn = cr_scratch_bytes(s, t->n, sizeof *drawn);
    cri_cases_table b = { .p = t->p, .rows = 0, .levels = t->levels };
    b.code = cr_scratch_bytes(s, t->p, sizeof *b.code);
    if (s->status != CR_OK) return s->status;
    if (t->n > 0) cr_rng_multinomial(r, (uint64_t)llround(t->rows), t->weight, t->n, drawn);
    for (size_t i = 0; i < t->n; i++) b.n += drawn[i] > 0, b.rows += (double)drawn[i];
    for (size_t v = 0; v < t->p; v++) b.code[v] = cr_scratch_bytes(s, b.n, sizeof *b.code[v]);
    b.weight = cr_scratch_f64(s, b.n);
    b.whole = b.rows < UINT32_MAX ? cr_scratch_bytes(s, b.n, sizeof *b.whole) : NULL;
    b.set = t->set ? cr_scratch_bytes(s, b.n, sizeof *b.set) : NULL;
    b.held = t->held ? cr_scratch_bytes(s, b.n, sizeof *b.held) : NULL;
    if (s->status != CR_OK) return s->status;
    size_t k = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (drawn[i] == 0) continue;
        for (size_t v = 0; v < t->p; v++) b.code[v][k] = t->code[v][i];
        b.weight[k] = (double)drawn[i];
        if (b.whole) b.whole[k] = (uint32_t)drawn[i];
        if (b.set) b.set[k] = t->set[i];
        if (b.held) b.held[k] = t->held[i];
        k++;
    }
    *out = b;
    return CR_OK;
}

cr_status cri_arc_bootstrap(cr_ctx *cx, const cri_cases_table *t, cri_graph_learner *learn,
                            void *arg, size_t replicates, uint64_t seed, const cri_clock *opt_clock,
                            double *out, size_t *out_done)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = t->p, done_n = 0;
    double    *count = cr_scratch_bytes(&s, n * n, sizeof *count);
    CR_TRY(s.status);
    while (done_n < replicates) {
        cr_scratch      one = cr_scratch_begin(cx);
        cr_rng          r = cr_rng_stream(seed, done_n);
        cri_cases_table b;
        cri_pdag        g = { 0 };
        st = resample(&one, t, &r, &b);
        if (st == CR_OK) st = learn(cx, arg, &b, seed + done_n + 1, &g);
        for (size_t u = 0; u < n && st == CR_OK; u++)
            for (size_t v = 0; v < n; v++)
                if (cri_pdag_reaches(&g, u, v))
                    count[u * n + v] += cri_pdag_line(&g, u, v) ? 0.5 : 1;
        cri_pdag_free(cx, &g);
        cr_scratch_end(&one);
        CR_TRY(st);
        done_n++;
        cr_progress(cx, "replicates", (double)done_n, (double)replicates);
        if (opt_clock && cri_clock_over(opt_clock)) break;
    }
    for (size_t i = 0; i < n * n; i++) out[i] = done_n > 0 ? count[i] / (double)done_n : 0;
    *out_done = done_n;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- average --------------------------------------------------------------------------------- */

typedef struct pair {
    double strength;
    size_t u, v;
} pair;

static int compare_pairs(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->strength != y->strength) return x->strength > y->strength ? -1 : 1;
    if (x->u != y->u) return x->u < y->u ? -1 : 1;
    return (x->v > y->v) - (x->v < y->v);
}

static bool can_add(const cri_dag *g, const cri_arc_rules *r, size_t u, size_t v)
{
    return cri_arc_allowed(r, u, v) && !cri_dag_reaches(g, v, u) && !cri_dag_has(g, u, v) &&
           cri_bit_count(cri_dag_parents(g, v), g->words) < r->most_parents;
}

cr_status cri_averaged_network(cr_ctx *cx, const double *arcs, double threshold,
                               const cri_arc_rules *rules, cri_dag *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = rules->n, pairs = 0;
    pair      *list = cr_scratch_bytes(&s, n * n / 2 + 1, sizeof *list);
    CR_TRY(s.status);
    for (size_t i = 0; i < n * out->words; i++) out->parents[i] = rules->required[i];
    cri_dag_close(out, NULL);
    for (size_t u = 0; u < n; u++)
        for (size_t v = u + 1; v < n; v++) {
            double strength = arcs[u * n + v] + arcs[v * n + u];
            if (strength > threshold) list[pairs++] = (pair){ strength, u, v };
        }
    if (pairs > 1) qsort(list, pairs, sizeof *list, compare_pairs);
    for (size_t i = 0; i < pairs; i++) {
        size_t u = list[i].u, v = list[i].v;
        if (cri_dag_has(out, u, v) || cri_dag_has(out, v, u)) continue;
        if (arcs[v * n + u] > arcs[u * n + v]) u = list[i].v, v = list[i].u;
        if (can_add(out, rules, u, v))
            cri_dag_add(out, u, v);
        else if (can_add(out, rules, v, u))
            cri_dag_add(out, v, u);
    }
done:
    cr_scratch_end(&s);
    return st;
}
