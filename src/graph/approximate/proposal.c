/* proposal.c -- drawing assignments by messages and counts. */
#include "proposal.h"
#include "graph/exact/elimination.h"

#include <math.h>
#include <string.h>

enum { MOST_CELLS = 1024 };     /* of the counts of one variable */
static const double PRIOR = 30; /* samples that Q0 counts for, */
static const double GUESS = 3;  /* and where a chain teaches, which has seen what messages miss */
static const double ANYTHING = 0.2; /* how many variables of a sample are drawn with equal
                                     * probabilities of what is possible, on average */

void cri_proposal_free(cr_ctx *cx, cri_proposal *q)
{
    if (!q->g) return;
    size_t n = q->g->n;
    if (q->count_begin) cr_free(cx, q->count, q->components * q->count_begin[n], sizeof *q->count);
    cr_free(cx, q->share, q->components, sizeof *q->share);
    cr_free(cx, q->visited, q->chains * CRI_VISITS * n, sizeof *q->visited);
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
    q->share = cr_alloc(cx, q->components, sizeof *q->share);
    q->count =
        q->share ? cr_alloc(cx, q->components * q->count_begin[g->n], sizeof *q->count) : NULL;
    for (size_t k = 0; q->count && k < q->components; k++) q->share[k] = 1 / (double)q->components;
    return q->count ? CR_OK : CR_ENOMEM;
}

cr_status cri_proposal_new(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                           size_t components, cri_proposal *out)
{
    cr_status             st = CR_OK;
    cri_proposal          q = { .g = g, .components = components };
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

size_t cri_proposal_workspace(const cri_proposal *q)
{
    const cri_fgraph *g = q->g;
    return 2 * g->most_size + (g->most_scope + 3) * g->most_states + q->components;
}

/* --- drawing --------------------------------------------------------------------------------- */

/* What table `of the edge` says of its variable, given what is drawn; into out. */
static void ask_table(const cri_proposal *q, size_t edge, size_t now, const size_t *state,
                      double *workspace, double *out)
{
    const cri_fgraph *g = q->g;
    size_t            i = g->of[edge], v = g->var[edge];
    const cr_factor  *f = &g->table[i];
    double           *w = workspace + 2 * g->most_size;
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
    cri_table_message(f, f->value, workspace + 2 * g->most_size, edge - g->first[i], false,
                      workspace, out);
}

/* Q0 of the variable at place k into p, sum 1; the number of states that are possible. */
static size_t ask_tables(const cri_proposal *q, size_t k, const size_t *state, double *workspace,
                         double *one, double *p)
{
    const cri_fgraph *g = q->g;
    size_t            v = q->order[k], n = g->states[v], possible = 0;
    double            sum = 0;
    for (size_t x = 0; x < n; x++) p[x] = 1;
    for (size_t i = g->begin[v]; i < g->begin[v + 1]; i++) {
        double most = 0;
        ask_table(q, g->at[i], k, state, workspace, one);
        for (size_t x = 0; x < n; x++) most = fmax(most, p[x] *= one[x]);
        for (size_t x = 0; most > 0 && most < 1e-100 && x < n; x++) p[x] /= most;
    }
    for (size_t x = 0; x < n; x++) {
        sum += p[x];
        possible += p[x] > 0;
    }
    for (size_t x = 0; possible > 0 && x < n; x++) p[x] /= sum;
    return possible;
}

/* What component j says with Q0 = p and its own counts, of the states first to last - 1; into out. */
static void add_counts(const cri_proposal *q, size_t j, size_t cell, const double *p, size_t n,
                       size_t possible, size_t first, size_t last, double *out)
{
    const double *count = q->count + j * q->count_begin[q->g->n] + cell;
    double any = fmin(ANYTHING / (double)q->g->n, 0.05), prior = j < 2 ? PRIOR : GUESS, counted = 0;
    for (size_t x = 0; x < n; x++) counted += p[x] > 0 ? count[x] : 0;
    for (size_t x = first; x < last; x++) {
        double share = (prior * p[x] + count[x]) / (prior + counted);
        out[x] = p[x] == 0 ? 0 : (1 - any) * share + any / (double)possible;
    }
}

static size_t draw_one(cr_rng *r, const double *p, size_t n)
{
    double u = cr_rng_uniform(r);
    size_t x = 0;
    for (size_t s = 0; s < n; s++) {
        if (p[s] == 0) continue;
        x = s;
        if ((u -= p[s]) < 0) break;
    }
    return x;
}

/* log sum_k a_k exp(log_q[k]); log_q becomes the share of each component in it. */
static double mix(const cri_proposal *q, double *log_q)
{
    double most = -INFINITY, sum = 0;
    for (size_t k = 0; k < q->components; k++) most = fmax(most, log_q[k]);
    for (size_t k = 0; k < q->components; k++) {
        log_q[k] = q->share[k] * exp(log_q[k] - most);
        sum += log_q[k];
    }
    for (size_t k = 0; k < q->components; k++) log_q[k] /= sum;
    return most + log(sum);
}

/* log w of an assignment that is drawn from component `from`, or given (opt_r: NULL). */
static double follow(const cri_proposal *q, cr_rng *opt_r, size_t from, double *workspace,
                     size_t *inout_state, double *opt_part)
{
    const cri_fgraph *g = q->g;
    double           *log_q = workspace + cri_proposal_workspace(q) - q->components;
    double           *mine = log_q - g->most_states, *p = mine - g->most_states;
    for (size_t j = 0; j < q->components; j++) log_q[j] = 0;
    for (size_t k = 0; k < g->n; k++) {
        size_t v = q->order[k], n = g->states[v], possible, cell;
        possible = ask_tables(q, k, inout_state, workspace, mine, p);
        if (possible == 0) return -INFINITY;
        cell = cri_proposal_cell(q, k, inout_state);
        if (opt_r) {
            add_counts(q, from, cell, p, n, possible, 0, n, mine);
            inout_state[v] = draw_one(opt_r, mine, n);
        }
        size_t x = inout_state[v];
        if (possible == 1 && p[x] > 0) continue; /* log 1, whatever the counts */
        for (size_t j = 0; j < q->components; j++) {
            add_counts(q, j, cell, p, n, possible, x, x + 1, mine);
            log_q[j] += log(mine[x]);
        }
    }
    double log_w = -mix(q, log_q);
    if (opt_part) memcpy(opt_part, log_q, q->components * sizeof *log_q);
    for (size_t i = 0; i < g->m && log_w > -INFINITY; i++)
        log_w += log(g->table[i].value[cr_factor_index(&g->table[i], inout_state)]);
    return log_w;
}

double cri_proposal_draw(const cri_proposal *q, cr_rng *r, double *workspace, size_t *out_state,
                         double *opt_part)
{
    return follow(q, r, draw_one(r, q->share, q->components), workspace, out_state, opt_part);
}

double cri_proposal_weight(const cri_proposal *q, double *workspace, size_t *state)
{
    return follow(q, NULL, 0, workspace, state, NULL);
}
