/* proposal.c -- drawing assignments by messages and counts. */
#include "proposal.h"
#include "elimination.h"
#include "../../base/scratch.h"

#include <math.h>
#include <string.h>

enum { MOST_CELLS = 1024 };         /* of the counts of one variable */
static const double PRIOR = 30;     /* samples that Q0 counts for */
static const double ANYTHING = 0.2; /* how many variables of a sample are drawn with equal
                                     * probabilities of what is possible, on average */

void cri_proposal_free(cr_ctx *cx, cri_proposal *q)
{
    if (!q->g) return;
    size_t n = q->g->n;
    if (q->count_begin) cr_free(cx, q->count, q->count_begin[n], sizeof *q->count);
    cr_free(cx, q->count_begin, n + 1, sizeof *q->count_begin);
    cr_free(cx, q->order, n, sizeof *q->order);
    cr_free(cx, q->place, n, sizeof *q->place);
    cr_free(cx, q->near_begin, n + 1, sizeof *q->near_begin);
    cr_free(cx, q->near, q->ends, sizeof *q->near);
    cr_free(cx, q->stride, q->ends, sizeof *q->stride);
    cri_bp_free(cx, &q->bp);
    *q = (cri_proposal){ 0 };
}

/* The neighbours of each variable that are drawn before it, the latest first, while the counts stay
 * small. */
static cr_status choose_near(cr_ctx *cx, cri_proposal *q, const cr_graph *graph)
{
    const cri_fgraph *g = q->g;
    size_t            used = 0;
    for (size_t k = 0; k < g->n; k++) {
        size_t v = q->order[k], cells = g->states[v], from = used;
        for (size_t i = graph->begin[v]; i < graph->begin[v + 1]; i++) {
            size_t u = graph->to[i], at = used;
            if (q->place[u] >= k) continue;
            for (; at > from && q->place[q->near[at - 1]] < q->place[u]; at--)
                q->near[at] = q->near[at - 1];
            q->near[at] = u;
            used++;
        }
        size_t most = used;
        used = from;
        while (used < most && cells * g->states[q->near[used]] <= MOST_CELLS) {
            q->stride[used] = cells;
            cells *= g->states[q->near[used++]];
        }
        q->near_begin[k + 1] = used;
        q->count_begin[k + 1] = q->count_begin[k] + cells;
    }
    q->count = cr_alloc(cx, q->count_begin[g->n], sizeof *q->count);
    return q->count ? CR_OK : CR_ENOMEM;
}

cr_status cri_proposal_new(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                           cri_proposal *out)
{
    cr_status             st = CR_OK;
    cri_proposal          q = { .g = g };
    cr_graph              graph = { 0 };
    cr_order              order = { 0 };
    cr_approximate_report report = { 0 };
    CR_TRY(cri_bp_new(cx, g, false, NULL, &q.bp));
    CR_TRY(cri_bp_run(cx, &q.bp, o, &report));
    CR_TRY(cri_problem_graph(cx, g->problem, &graph));
    CR_TRY(cr_order_find(cx, &graph, g->states, NULL, CR_ELIMINATE_MIN_FILL, 0, &order));
    q.ends = graph.ends + 1;
    q.order = cr_alloc(cx, g->n, sizeof *q.order);
    q.place = q.order ? cr_alloc(cx, g->n, sizeof *q.place) : NULL;
    q.near_begin = q.place ? cr_alloc(cx, g->n + 1, sizeof *q.near_begin) : NULL;
    q.near = q.near_begin ? cr_alloc(cx, q.ends, sizeof *q.near) : NULL;
    q.stride = q.near ? cr_alloc(cx, q.ends, sizeof *q.stride) : NULL;
    if (!q.stride) CR_TRY(CR_ENOMEM);
    for (size_t k = 0; k < g->n; k++) {
        q.order[k] = order.order[g->n - 1 - k];
        q.place[q.order[k]] = k;
    }
    q.count_begin = cr_alloc(cx, g->n + 1, sizeof *q.count_begin);
    if (!q.count_begin) CR_TRY(CR_ENOMEM);
    CR_TRY(choose_near(cx, &q, &graph));
    *out = q;
    q = (cri_proposal){ 0 };
done:
    cr_graph_free(cx, &graph);
    cr_order_free(cx, &order);
    cri_proposal_free(cx, &q);
    return st;
}

size_t cri_proposal_cell(const cri_proposal *q, size_t k, const size_t *state)
{
    size_t at = q->count_begin[k];
    for (size_t i = q->near_begin[k]; i < q->near_begin[k + 1]; i++)
        at += q->stride[i] * state[q->near[i]];
    return at;
}

size_t cri_proposal_room(const cri_fgraph *g)
{
    return 2 * g->most_size + (g->most_scope + 3) * g->most_states;
}

/* --- drawing --------------------------------------------------------------------------------- */

/* What table `of the edge` says of its variable, given what is drawn; into out. */
static void ask_table(const cri_proposal *q, size_t edge, size_t now, const size_t *state,
                      double *room, double *out)
{
    const cri_fgraph *g = q->g;
    size_t            i = g->of[edge], v = g->var[edge];
    const cr_factor  *f = &g->table[i];
    double           *w = room + 2 * g->most_size;
    bool              open = false;
    size_t            base = 0, stride = 1;
    for (size_t k = 0; k < f->n; k++) {
        if (f->var[k] == v)
            stride = f->stride[k];
        else if (q->place[f->var[k]] < now)
            base += state[f->var[k]] * f->stride[k];
        else
            open = true;
    }
    if (!open) {
        for (size_t x = 0; x < g->states[v]; x++) out[x] = f->value[base + x * stride];
        return;
    }
    if (f->n == 2) { /* the other one is open: the message itself */
        memcpy(out, q->bp.m + g->offset[edge], g->states[v] * sizeof *out);
        return;
    }
    for (size_t k = 0; k < f->n; w += f->states[k++]) {
        size_t u = f->var[k];
        if (u != v && q->place[u] >= now) {
            cri_bp_incoming(&q->bp, g->first[i] + k, w);
            continue;
        }
        for (size_t x = 0; x < f->states[k]; x++) w[x] = u != v && x == state[u];
    }
    cri_table_message(f, f->value, room + 2 * g->most_size, edge - g->first[i], false, room, out);
}

/* Q of the variable at place k into p; false: nothing is possible. */
static bool find_distribution(const cri_proposal *q, size_t k, const size_t *state, double *room,
                              double *one, double *p)
{
    const cri_fgraph *g = q->g;
    size_t            v = q->order[k], n = g->states[v], possible = 0;
    double            sum = 0, counted = 0;
    for (size_t x = 0; x < n; x++) p[x] = 1;
    for (size_t i = g->begin[v]; i < g->begin[v + 1]; i++) {
        double most = 0;
        ask_table(q, g->at[i], k, state, room, one);
        for (size_t x = 0; x < n; x++) most = fmax(most, p[x] *= one[x]);
        for (size_t x = 0; most > 0 && most < 1e-100 && x < n; x++) p[x] /= most;
    }
    for (size_t x = 0; x < n; x++) {
        sum += p[x];
        possible += p[x] > 0;
    }
    if (possible == 0) return false;
    size_t        at = cri_proposal_cell(q, k, state);
    double        any = fmin(ANYTHING / (double)g->n, 0.05);
    const double *count = q->count + at;
    for (size_t x = 0; x < n; x++) counted += p[x] > 0 ? count[x] : 0;
    for (size_t x = 0; x < n; x++) {
        if (p[x] == 0) continue;
        p[x] = (PRIOR * p[x] / sum + count[x]) / (PRIOR + counted);
        p[x] = (1 - any) * p[x] + any / (double)possible;
    }
    return true;
}

double cri_proposal_draw(const cri_proposal *q, cr_rng *r, double *room, size_t *out_state)
{
    const cri_fgraph *g = q->g;
    double           *one = room + cri_proposal_room(g) - 2 * g->most_states;
    double           *p = one + g->most_states, log_w = 0;
    for (size_t k = 0; k < g->n; k++) {
        size_t v = q->order[k], x = 0;
        if (!find_distribution(q, k, out_state, room, one, p)) return -INFINITY;
        double u = cr_rng_uniform(r);
        for (size_t s = 0; s < g->states[v]; s++) {
            if (p[s] == 0) continue;
            x = s;
            if ((u -= p[s]) < 0) break;
        }
        out_state[v] = x;
        log_w -= log(p[x]);
    }
    for (size_t i = 0; i < g->m && log_w > -INFINITY; i++)
        log_w += log(g->table[i].value[cr_factor_index(&g->table[i], out_state)]);
    return log_w;
}
