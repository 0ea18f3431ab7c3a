/* blocks.c -- cutsets, and exact draws of what they leave. */
#include "blocks.h"
#include "graph/exact/elimination_tree.h"
#include "base/inner_loop.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { MOST_WIDENED = 65536 }; /* entries */

/* --- which variables ------------------------------------------------------------------------- */

/* A graph from which vertices are taken away. */
typedef struct shrinking {
    const cri_fgraph *g;
    cr_scratch       *s;
    size_t          **to; /* [n] neighbours, not sorted */
    size_t           *degree, *capacity;
    double           *entries; /* [n] of the table of v and its neighbours; 0: not known */
    bool             *gone;
    size_t           *mark, stamp;
} shrinking;

static double entries_of(shrinking *h, size_t v)
{
    if (h->entries[v] > 0) return h->entries[v];
    double size = (double)h->g->states[v];
    for (size_t k = 0; k < h->degree[v]; k++) size *= (double)h->g->states[h->to[v][k]];
    return h->entries[v] = size;
}

static void unlink_vertex(shrinking *h, size_t v)
{
    for (size_t k = 0; k < h->degree[v]; k++) {
        size_t u = h->to[v][k], i = 0;
        while (h->to[u][i] != v) i++;
        h->to[u][i] = h->to[u][--h->degree[u]];
        h->entries[u] = 0;
    }
    h->gone[v] = true;
}

static cr_status link_to(shrinking *h, size_t u, size_t v)
{
    if (h->degree[u] == h->capacity[u]) {
        size_t  capacity = 2 * h->capacity[u] + 8;
        size_t *to = cr_scratch_index(h->s, capacity);
        if (!to) return h->s->status;
        if (h->degree[u] > 0) memcpy(to, h->to[u], h->degree[u] * sizeof *to);
        h->to[u] = to;
        h->capacity[u] = capacity;
    }
    h->to[u][h->degree[u]++] = v;
    h->entries[u] = 0;
    return CR_OK;
}

/* Joins the neighbours of v and takes it away. */
static cr_status eliminate(shrinking *h, size_t v)
{
    cr_status st = CR_OK;
    unlink_vertex(h, v);
    for (size_t k = 0; k < h->degree[v]; k++) {
        size_t u = h->to[v][k];
        h->stamp++;
        for (size_t i = 0; i < h->degree[u]; i++) h->mark[h->to[u][i]] = h->stamp;
        for (size_t i = 0; i < h->degree[v]; i++) {
            size_t x = h->to[v][i];
            if (x == u || h->mark[x] == h->stamp) continue;
            CR_TRY(link_to(h, u, x));
            CR_TRY(link_to(h, x, u));
            h->mark[x] = h->stamp;
        }
    }
done:
    return st;
}

static cr_status copy_graph(shrinking *h, const cr_graph *graph)
{
    size_t n = h->g->n;
    h->to = cr_scratch_bytes(h->s, n, sizeof *h->to);
    h->degree = cr_scratch_bytes(h->s, n, sizeof *h->degree);
    h->capacity = cr_scratch_bytes(h->s, n, sizeof *h->capacity);
    h->mark = cr_scratch_bytes(h->s, n, sizeof *h->mark);
    h->gone = cr_scratch_bytes(h->s, n, sizeof *h->gone);
    h->entries = cr_scratch_bytes(h->s, n, sizeof *h->entries);
    for (size_t v = 0; h->s->status == CR_OK && v < n; v++) {
        h->degree[v] = h->capacity[v] = graph->begin[v + 1] - graph->begin[v];
        h->to[v] = cr_scratch_index(h->s, h->capacity[v]);
        if (h->s->status == CR_OK && h->capacity[v] > 0)
            memcpy(h->to[v], graph->to + graph->begin[v], h->capacity[v] * sizeof *h->to[v]);
    }
    return h->s->status;
}

/* The one to be cut: seldom cut before, with many neighbours; ties at random. */
static size_t choose_cut(const shrinking *h, const size_t *cuts, const double *tie)
{
    size_t best = CR_NONE;
    for (size_t v = 0; v < h->g->n; v++) {
        if (h->gone[v]) continue;
        if (best == CR_NONE || cuts[v] < cuts[best] ||
            (cuts[v] == cuts[best] &&
             (double)h->degree[v] + tie[v] > (double)h->degree[best] + tie[best]))
            best = v;
    }
    return best;
}

/* Takes those that are gone out of a list of vertices, which stays in its order; how many are left. */
static size_t leave_out_gone(const shrinking *h, size_t *list, size_t n)
{
    size_t kept = 0;
    for (size_t k = 0; k < n; k++)
        if (!h->gone[list[k]]) list[kept++] = list[k];
    return kept;
}

/* The order of the variables that are drawn, cuts of the others counted. */
static cr_status choose_block(cr_ctx *cx, const cri_fgraph *g, const cr_graph *graph, double most,
                              cr_rng *r, size_t *cuts, size_t *order, size_t *out_n)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    shrinking  h = { .g = g, .s = &s };
    size_t    *turn = cr_scratch_index(&s, g->n), n = 0, left = g->n, listed = g->n;
    double    *tie = cr_scratch_f64(&s, g->n), top = fmax(most, (double)g->most_states);
    CR_TRY(s.status);
    CR_TRY(copy_graph(&h, graph));
    cr_rng_permutation(r, g->n, turn);
    for (size_t v = 0; v < g->n; v++) tie[v] = cr_rng_uniform(r);
    while (left > 0) {
        bool found = false;
        CR_TRY(cr_check_interrupt(cx));
        for (double bound = 4; !found && bound < 4 * top; bound *= 4)
            for (size_t k = 0; k < listed; k++) {
                size_t v = turn[k];
                if (h.gone[v]) continue;
                double entries = entries_of(&h, v);
                if (entries > bound || (entries > most && entries > (double)g->states[v])) continue;
                CR_TRY(eliminate(&h, v));
                order[n++] = v;
                left--;
                found = true;
            }
        if (2 * left < listed) listed = leave_out_gone(&h, turn, listed);
        if (found) continue;
        size_t v = choose_cut(&h, cuts, tie);
        unlink_vertex(&h, v);
        cuts[v]++;
        left--;
    }
    *out_n = n;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- how they are drawn ---------------------------------------------------------------------- */

/* For every entry of the cell's table, the place in a table with strides for the later variables
 * (by their place in the cell) and for the variable itself. */
static uint32_t *list_index(cr_scratch *s, const cri_cell *c, const size_t *states,
                            const size_t *stride, size_t own)
{
    uint32_t *index = cr_scratch_bytes(s, c->size, sizeof *index);
    for (size_t e = 0; index && e < c->size; e++) {
        size_t row = e / c->states, at = e % c->states * own;
        for (size_t k = 0; k < c->n; k++)
            at += row / c->stride[k] % states[c->later[k]] * stride[k];
        index[e] = (uint32_t)at;
    }
    return index;
}

/* A table that has the cell's variable first of all that are drawn. */
static void add_table(cr_scratch *s, const cri_fgraph *g, cri_cell *c, const size_t *rank,
                      const cr_factor *f, size_t *stride)
{
    cri_part p = { .table = f };
    size_t   own = 0;
    p.var = cr_scratch_index(s, f->n);
    p.stride = cr_scratch_index(s, f->n);
    if (s->status != CR_OK) return;
    for (size_t k = 0; k < c->n; k++) stride[k] = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (f->var[i] == c->v) own = f->stride[i];
        if (rank[f->var[i]] == CR_NONE) {
            p.var[p.n] = f->var[i];
            p.stride[p.n++] = f->stride[i];
        }
        for (size_t k = 0; k < c->n; k++)
            if (c->later[k] == f->var[i]) stride[k] = f->stride[i];
    }
    p.index = list_index(s, c, g->states, stride, own);
    if (s->status == CR_OK) c->part[c->parts++] = p;
}

/* The sums of an earlier cell, over its later variables. */
static void add_sums(cr_scratch *s, const cri_fgraph *g, cri_cell *c, const cri_cell *from,
                     size_t which, size_t *stride)
{
    cri_part p = { .from = which };
    size_t   own = 0;
    for (size_t k = 0; k < c->n; k++) {
        stride[k] = 0;
        for (size_t i = 0; i < from->n; i++)
            if (from->later[i] == c->later[k]) stride[k] = from->stride[i];
    }
    for (size_t i = 0; i < from->n; i++)
        if (from->later[i] == c->v) own = from->stride[i];
    p.index = list_index(s, c, g->states, stride, own);
    if (s->status == CR_OK) c->part[c->parts++] = p;
}

static size_t count_parts(const cri_fgraph *g, const size_t *rank, size_t v)
{
    size_t n = 0;
    for (size_t k = g->begin[v]; k < g->begin[v + 1]; k++) {
        const cr_factor *f = &g->table[g->of[g->at[k]]];
        bool             first = true;
        for (size_t i = 0; i < f->n; i++) first &= rank[f->var[i]] >= rank[v];
        n += first;
    }
    return n;
}

static cr_status make_cell(cr_scratch *s, const cri_fgraph *g, const size_t *order,
                           const size_t *rank, const cri_elimination_tree *tree, size_t i,
                           const size_t *children, cri_block *b, size_t *stride)
{
    cri_cell *c = &b->cell[i];
    size_t    rows = 1;
    c->v = order[i];
    c->states = g->states[c->v];
    c->n = tree->begin[i + 1] - tree->begin[i];
    c->later = cr_scratch_index(s, c->n);
    c->stride = cr_scratch_index(s, c->n);
    c->part = cr_scratch_bytes(s, count_parts(g, rank, c->v) + children[i], sizeof *c->part);
    if (s->status != CR_OK) return s->status;
    for (size_t k = 0; k < c->n; k++) {
        c->later[k] = order[tree->later[tree->begin[i] + k]];
        c->stride[k] = rows;
        rows *= g->states[c->later[k]];
    }
    c->size = rows * c->states;
    c->at = b->workspace;
    c->sum_at = c->at + c->size;
    b->workspace += c->size + rows;
    if (c->size > b->largest) b->largest = c->size;
    for (size_t k = g->begin[c->v]; k < g->begin[c->v + 1]; k++) {
        const cr_factor *f = &g->table[g->of[g->at[k]]];
        bool             first = true;
        for (size_t x = 0; x < f->n; x++) first &= rank[f->var[x]] >= rank[c->v];
        if (first) add_table(s, g, c, rank, f, stride);
    }
    for (size_t j = 0; j < i && children[i] > 0; j++)
        if (tree->parent[j] == i) add_sums(s, g, c, &b->cell[j], j, stride);
    return s->status;
}

static cr_status make_block(cr_ctx *cx, cr_scratch *s, const cri_fgraph *g, const cr_graph *graph,
                            const size_t *order, size_t n, cri_block *out)
{
    cr_status            st = CR_OK;
    cr_scratch           t = cr_scratch_begin(cx);
    cr_graph             part = { 0 };
    cri_elimination_tree tree = { 0 };
    size_t              *rank = cr_scratch_index(&t, g->n), *stride = cr_scratch_index(&t, g->n);
    size_t *a = cr_scratch_index(&t, graph->ends), *b = cr_scratch_index(&t, graph->ends);
    size_t *same = cr_scratch_index(&t, n), m = 0;
    size_t *children = cr_scratch_bytes(&t, n, sizeof *children);
    CR_TRY(t.status);
    for (size_t v = 0; v < g->n; v++) rank[v] = CR_NONE;
    for (size_t i = 0; i < n; i++) rank[order[i]] = same[i] = i;
    for (size_t v = 0; v < g->n; v++)
        for (size_t k = graph->begin[v]; k < graph->begin[v + 1]; k++)
            if (rank[v] != CR_NONE && rank[graph->to[k]] != CR_NONE && graph->to[k] > v)
                a[m] = rank[v], b[m++] = rank[graph->to[k]];
    CR_TRY(cr_graph_new(cx, n, m, a, b, &part));
    CR_TRY(cri_elimination_tree_new(cx, &part, same, &tree));
    for (size_t i = 0; i < n; i++)
        if (tree.parent[i] != CR_NONE) children[tree.parent[i]]++;
    out->n = n;
    out->cell = cr_scratch_bytes(s, n, sizeof *out->cell);
    CR_TRY(s->status);
    for (size_t i = 0; i < n; i++)
        CR_TRY(make_cell(s, g, order, rank, &tree, i, children, out, stride));
done:
    cr_graph_free(cx, &part);
    cri_elimination_tree_free(cx, &tree);
    cr_scratch_end(&t);
    return st;
}

/* Variables that zeros tie together can only move together: their table must fit into a block. */
static size_t widen(const cri_fgraph *g, size_t most)
{
    size_t needed = most;
    for (size_t i = 0; most > 1 && i < g->m; i++) {
        const cr_factor *f = &g->table[i];
        size_t           zeros = 0;
        for (size_t e = 0; e < f->size; e++) zeros += f->value[e] == 0;
        if (zeros > 0 && f->size > needed && f->size <= MOST_WIDENED) needed = f->size;
    }
    return needed;
}

cr_status cri_blocks_new(cr_ctx *cx, cr_scratch *s, const cri_fgraph *g, size_t most, uint64_t seed,
                         cri_blocks *out)
{
    cr_status  st = CR_OK;
    cr_graph   graph = { 0 };
    cr_rng     r = cr_rng_stream(seed, (uint64_t)1 << 41);
    cri_blocks all = { 0 };
    double     bound = (double)widen(g, most);
    size_t    *cuts = cr_scratch_bytes(s, g->n, sizeof *cuts), *order = cr_scratch_index(s, g->n);
    bool      *drawn = cr_scratch_bytes(s, g->n, sizeof *drawn);
    all.block = cr_scratch_bytes(s, g->n + 1, sizeof *all.block);
    CR_TRY(s->status);
    CR_TRY(cri_problem_graph(cx, g->problem, &graph));
    for (bool more = g->n > 0; more && all.n <= g->n;) {
        size_t     n = 0;
        cri_block *b = &all.block[all.n];
        CR_TRY(choose_block(cx, g, &graph, bound, &r, cuts, order, &n));
        CR_TRY(make_block(cx, s, g, &graph, order, n, b));
        all.n++;
        if (b->workspace > all.workspace) all.workspace = b->workspace;
        if (b->largest > all.largest) all.largest = b->largest;
        for (size_t i = 0; i < n; i++) drawn[order[i]] = true;
        more = false;
        for (size_t v = 0; v < g->n; v++) more |= !drawn[v];
    }
    for (size_t v = 0; v < g->n; v++)
        if (!drawn[v])
            CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "the network is too dense for Gibbs sampling"));
    *out = all;
done:
    cr_graph_free(cx, &graph);
    return st;
}

/* --- drawing --------------------------------------------------------------------------------- */

CRI_INNER_LOOP static void gather(const double *from, const uint32_t *index, size_t n, double *t)
{
    cri_check_gather(from, index, n);
    cri_check_array(t, n);
    for (size_t e = 0; e < n; e++) t[e] = from[index[e]];
}

CRI_INNER_LOOP static void gather_times(const double *from, const uint32_t *index, size_t n,
                                        double *t)
{
    cri_check_gather(from, index, n);
    cri_check_array(t, n);
    for (size_t e = 0; e < n; e++) t[e] *= from[index[e]];
}

/* The sum (or maximum) of each row of t, the largest of them 1; returns what this was. */
CRI_INNER_LOOP static double add_rows(const double *t, size_t rows, size_t states, bool maximise,
                                      double *sum)
{
    double most = 0;
    cri_check_array(t, rows * states);
    cri_check_array(sum, rows);
    for (size_t row = 0; row < rows; row++, t += states) {
        double total = 0;
        if (maximise)
            for (size_t x = 0; x < states; x++) total = t[x] > total ? t[x] : total;
        else
            for (size_t x = 0; x < states; x++) total += t[x];
        sum[row] = total;
        most = total > most ? total : most;
    }
    for (size_t row = 0; most > 0 && row < rows; row++) sum[row] /= most;
    return most;
}

/* Fills the table of a cell and its sums (or maxima), the largest 1; false: all 0. */
static bool fill(const cri_block *b, const cri_cell *c, bool maximise, double *workspace,
                 const size_t *state)
{
    double *t = workspace + c->at;
    for (size_t e = 0; c->parts == 0 && e < c->size; e++) t[e] = 1;
    for (size_t k = 0; k < c->parts; k++) {
        const cri_part *p = &c->part[k];
        const double   *from = p->table ? p->table->value : workspace + b->cell[p->from].sum_at;
        for (size_t i = 0; i < p->n; i++) from += state[p->var[i]] * p->stride[i];
        (k == 0 ? gather : gather_times)(from, p->index, c->size, t);
    }
    return add_rows(t, c->size / c->states, c->states, maximise, workspace + c->sum_at) > 0;
}

bool cri_block_draw(const cri_block *b, cr_rng *r, double *workspace, size_t *inout_state)
{
    return cri_block_draw_from(b, r, workspace, inout_state, NULL, NULL);
}

static void keep_distribution(const double *weight, size_t n, double *p)
{
    double sum = 0;
    for (size_t x = 0; x < n; x++) sum += weight[x];
    for (size_t x = 0; x < n; x++) p[x] = weight[x] / sum;
}

bool cri_block_draw_from(const cri_block *b, cr_rng *r, double *workspace, size_t *inout_state,
                         const size_t *start, double *p)
{
    for (size_t i = 0; i < b->n; i++)
        if (!fill(b, &b->cell[i], false, workspace, inout_state)) return false;
    for (size_t i = b->n; i-- > 0;) {
        const cri_cell *c = &b->cell[i];
        size_t          row = 0;
        for (size_t k = 0; k < c->n; k++) row += inout_state[c->later[k]] * c->stride[k];
        const double *weight = workspace + c->at + row * c->states;
        if (p) keep_distribution(weight, c->states, p + start[c->v]);
        inout_state[c->v] = cr_rng_categorical(r, weight, c->states);
    }
    return true;
}

bool cri_block_best(const cri_block *b, double *workspace, size_t *inout_state)
{
    bool changed = false;
    for (size_t i = 0; i < b->n; i++)
        if (!fill(b, &b->cell[i], true, workspace, inout_state)) return false;
    for (size_t i = b->n; i-- > 0;) {
        const cri_cell *c = &b->cell[i];
        size_t          row = 0, best = inout_state[c->v];
        for (size_t k = 0; k < c->n; k++) row += inout_state[c->later[k]] * c->stride[k];
        const double *t = workspace + c->at + row * c->states;
        for (size_t x = 0; x < c->states; x++)
            if (t[x] > t[best]) best = x;
        changed |= best != inout_state[c->v];
        inout_state[c->v] = best;
    }
    return changed;
}
