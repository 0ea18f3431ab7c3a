/* exact.c -- dynamic programming over all sets of variables, and which method is taken. */
#include "exact.h"
#include "base/parallel.h"

#include <math.h>

enum { MOST_DP_VARIABLES = 30 };

/* --- dynamic programming --------------------------------------------------------------------- */

typedef struct tables {
    const cri_parent_sets *p;
    double  *family; /* [n x 2^(n-1)] best score of v with parents in a set of the others */
    double  *best;   /* [2^n] */
    uint8_t *last;   /* [2^n] the variable that a best network of the set ends with */
} tables;

/* A set of the others than v, numbered without it. */
static size_t without(size_t set, size_t v)
{
    size_t low = ((size_t)1 << v) - 1;
    return (set & low) | (set >> 1 & ~low);
}

/* family[C] = max over subsets S of C of the score: one candidate after another is allowed. */
static void spread_family(void *arg, size_t v)
{
    tables *t = arg;
    size_t  n = t->p->n, sets = (size_t)1 << (n - 1);
    double *family = t->family + v * sets;
    for (size_t c = 0; c < sets; c++) family[c] = -INFINITY;
    for (size_t i = 0; i < t->p->count[v]; i++) {
        const cri_parent_set *s = &t->p->list[v][i];
        family[without((size_t)s->set, v)] = s->score;
    }
    for (size_t half = 1; half < sets; half *= 2)
        for (size_t base = 0; base < sets; base += 2 * half)
            for (size_t c = base; c < base + half; c++)
                if (family[c] > family[c + half]) family[c + half] = family[c];
}

/* Sets in rising order: those of one variable less come before. */
static cr_status fill(cr_ctx *cx, tables *t)
{
    size_t n = t->p->n, half = (size_t)1 << (n - 1), sets = 2 * half;
    t->best[0] = 0;
    for (size_t w = 1; w < sets; w++) {
        double best = -INFINITY;
        size_t last = (size_t)__builtin_ctzll(w);
        for (size_t left = w; left; left &= left - 1) {
            size_t v = (size_t)__builtin_ctzll(left), rest = w & ~((size_t)1 << v);
            double score = t->best[rest] + t->family[v * half + without(rest, v)];
            if (score > best) best = score, last = v;
        }
        t->best[w] = best;
        t->last[w] = (uint8_t)last;
        if (w % 65536 == 0) {
            cr_progress(cx, "sets of variables", (double)w, (double)sets);
            cr_status st = cr_check_interrupt(cx);
            if (st != CR_OK) return st;
        }
    }
    return CR_OK;
}

cr_status cri_exact_dp(cr_ctx *cx, const cri_parent_sets *p, uint64_t *out_parents,
                       cri_exact_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = p->n, half = n > 0 ? (size_t)1 << (n - 1) : 1;
    tables     t = { .p = p };
    t.family = cr_scratch_matrix(&s, n, half);
    t.best = cr_scratch_f64(&s, 2 * half);
    t.last = cr_scratch_bytes(&s, 2 * half, sizeof *t.last);
    CR_TRY(s.status);
    report->method = CRI_EXACT_DP;
    report->proven = true;
    if (n == 0) goto done;
    CR_TRY(cri_parallel_for(cx, NULL, n, spread_family, &t));
    CR_TRY(fill(cx, &t));
    report->score = report->bound = t.best[2 * half - 1];
    report->sets = (double)(2 * half);
    for (size_t w = 2 * half - 1; w > 0;) {
        size_t v = t.last[w];
        w &= ~((size_t)1 << v);
        const cri_parent_set *set = cri_parent_sets_best(p, v, w);
        out_parents[v] = set ? set->set : 0;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- either ---------------------------------------------------------------------------------- */

static bool dp_fits(const cr_ctx *cx, size_t n)
{
    if (n > MOST_DP_VARIABLES) return false;
    return (n == 0 ? 1.0 : ldexp(8.0 * (double)n + 18, (int)n - 1)) <
           0.5 * (double)cri_memory_left(cx);
}

static cr_status score_of(cr_ctx *cx, const cri_score_source *source, const cri_dag *g,
                          double *out_score)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    void      *work;
    uint32_t   parents[CRI_MOST_SET_VARIABLES];
    CR_TRY(source->open_work(&s, source->own, &work));
    *out_score = 0;
    for (size_t v = 0; v < g->n; v++) {
        size_t k = cri_bit_list(cri_dag_parents(g, v), g->words, parents);
        *out_score += source->score(source->own, v, parents, k, work);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_exact_search(cr_ctx *cx, const cri_score_source *source, const cri_arc_rules *rules,
                           const cri_exact_options *o, cri_dag *inout_dag, cri_exact_report *report)
{
    cr_status       st = CR_OK;
    cri_parent_sets p = { 0 };
    size_t          n = rules->n;
    uint64_t        parents[CRI_MOST_SET_VARIABLES] = { 0 };
    double          known = 0;
    bool            found = true, complete;
    *report = (cri_exact_report){ 0 };
    CR_TRY(cri_parent_sets_find(cx, source, rules, o->opt_bound, o->opt_clock, &p, &complete));
    CR_TRY(score_of(cx, source, inout_dag, &known));
    report->families = p.families;
    for (size_t v = 0; v < n; v++) report->useful += (double)p.count[v];
    if (!complete) {
        report->score = known, report->bound = INFINITY;
        goto done;
    }
    if (o->method == CRI_EXACT_DP || (o->method == CRI_EXACT_EITHER && dp_fits(cx, n)))
        CR_TRY(cri_exact_dp(cx, &p, parents, report));
    else
        CR_TRY(cri_exact_astar(cx, &p, o, known, parents, &found, report));
    if (found) {
        for (size_t v = 0; v < n; v++) cri_dag_parents(inout_dag, v)[0] = parents[v];
        cri_dag_close(inout_dag, NULL);
    }
done:
    cri_parent_sets_free(cx, &p);
    return st;
}
