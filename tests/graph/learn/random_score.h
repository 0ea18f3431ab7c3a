/* random_score.h -- scores of families drawn at random, and cases drawn from a network. */
#ifndef CREDENCE_TEST_RANDOM_SCORE_H
#define CREDENCE_TEST_RANDOM_SCORE_H

#include "all_dags.h"

#include "graph/learn/dag.h"
#include "graph/learn/local_score.h"

/* s(v, S): a normal number of the stream that v and S name, times `spread`, minus `price` for each
 * parent. */
typedef struct random_score {
    uint64_t seed;
    double   spread, price;
} random_score;

static inline double draw_score(const void *own, size_t v, const uint32_t *parents, size_t n,
                                void *work)
{
    const random_score *r = own;
    uint64_t            set = 0;
    (void)work;
    for (size_t i = 0; i < n; i++) set |= UINT64_C(1) << parents[i];
    cr_rng rng = cr_rng_stream(r->seed + v, set);
    return r->spread * cr_rng_normal(&rng) - r->price * (double)n;
}

static inline cr_status no_work(cr_scratch *s, const void *own, void **out_work)
{
    (void)s, (void)own;
    *out_work = NULL;
    return CR_OK;
}

static inline cri_score_source random_source(const random_score *r, size_t n)
{
    return (cri_score_source){ n, false, r, draw_score, no_work };
}

/* The score of a graph by its definition. */
static inline double graph_score(cr_ctx *cx, const cri_score_source *source, const cri_pdag *g)
{
    cr_scratch s = cr_scratch_begin(cx);
    void      *work;
    double     sum = 0;
    assert_ok(cx, source->open_work(&s, source->own, &work));
    for (size_t v = 0; v < g->n; v++) {
        uint32_t parents[64];
        size_t   n = 0;
        for (size_t u = 0; u < g->n; u++)
            if (cri_pdag_arrow(g, u, v)) parents[n++] = (uint32_t)u;
        sum += source->score(source->own, v, parents, n, work);
    }
    cr_scratch_end(&s);
    return sum;
}

/* Is the graph within the rules? */
static inline bool within_rules(const cri_arc_rules *r, const cri_pdag *g)
{
    for (size_t v = 0; v < g->n; v++) {
        size_t parents = 0;
        for (size_t u = 0; u < g->n; u++) {
            bool arc = cri_pdag_arrow(g, u, v);
            parents += arc;
            if (arc && !cri_arc_allowed(r, u, v)) return false;
            if (!arc && cri_arc_required(r, u, v)) return false;
        }
        if (parents > r->most_parents) return false;
    }
    return true;
}

/* n rows of a random network over g with this many states, tables ~ Dirichlet(1 / strength, ...); in
 * the arena. */
static inline cri_cases_table random_cases(cr_ctx *cx, cr_scratch *s, cr_rng *r, const cri_pdag *g,
                                           size_t states, double strength, size_t n)
{
    size_t    p = g->n, order[64];
    uint16_t *code = cr_scratch_bytes(s, n * p, sizeof *code);
    uint32_t *levels = cr_scratch_bytes(s, p, sizeof *levels);
    assert_ok(cx, s->status);
    assert_true(cri_pdag_order(g, order));
    for (size_t i = 0; i < p; i++) {
        size_t v = order[i], rows = 1, parent[64], k = cri_pdag_parents(g, v, parent);
        for (size_t j = 0; j < k; j++) rows *= states;
        double *table = cr_scratch_f64(s, rows * states);
        assert_ok(cx, s->status);
        levels[v] = (uint32_t)states;
        for (size_t e = 0; e < rows * states; e++) table[e] = cr_rng_gamma(r, 1 / strength) + 1e-3;
        for (size_t row = 0; row < n; row++) {
            size_t at = 0;
            for (size_t j = 0; j < k; j++) at = at * states + code[row * p + parent[j]];
            code[row * p + v] = (uint16_t)cr_rng_categorical(r, table + at * states, states);
        }
    }
    cri_cases_table out;
    assert_ok(cx, cri_cases_group(s, n, p, levels, code, NULL, NULL, NULL, &out));
    return out;
}

#endif
