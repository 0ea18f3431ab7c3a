/* gbp.c -- propagation on a join graph. */
#include "gbp.h"
#include "graph/factor/factor_internal.h"
#include "join_graph.h"
#include "graph/factor/message.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

static const double LATER = 0.5; /* damping, where it was not given and is needed */

typedef struct net {
    cr_ctx           *cx;
    const cri_fgraph *g;
    cri_join_graph    j;
    cr_factor        *m;                   /* [2 x edges] 2 e: from a to b; 2 e + 1: back */
    cr_factor        *spare;               /* [2 x edges] workspace for the next */
    size_t           *begin, *at;          /* edges of each cluster */
    size_t           *table_begin, *table; /* tables of each cluster */
    const cr_factor **in;                  /* workspace: the inputs of a cluster */
    double            damping;
    bool              impossible;
} net;

static void free_net(net *w)
{
    size_t edges = w->j.graph.edges;
    cri_factors_free(w->cx, w->m, 2 * edges);
    cri_factors_free(w->cx, w->spare, 2 * edges);
    cri_join_graph_free(w->cx, &w->j);
}

/* --- making ---------------------------------------------------------------------------------- */

static cr_status list_ends(net *w, cr_scratch *s)
{
    const cr_cluster_graph *c = &w->j.graph;
    size_t                  most = 0, *used = cr_scratch_bytes(s, c->clusters, sizeof *used);
    w->begin = cr_scratch_bytes(s, c->clusters + 1, sizeof *w->begin);
    w->at = cr_scratch_index(s, 2 * c->edges);
    w->table_begin = cr_scratch_bytes(s, c->clusters + 1, sizeof *w->table_begin);
    w->table = cr_scratch_index(s, w->g->m);
    if (s->status != CR_OK) return s->status;
    for (size_t e = 0; e < c->edges; e++) {
        w->begin[c->a[e] + 1]++;
        w->begin[c->b[e] + 1]++;
    }
    for (size_t i = 0; i < w->g->m; i++) w->table_begin[w->j.home[i] + 1]++;
    for (size_t k = 0; k < c->clusters; k++) {
        size_t inputs = w->begin[k + 1] + w->table_begin[k + 1];
        most = inputs > most ? inputs : most;
        w->begin[k + 1] += w->begin[k];
        w->table_begin[k + 1] += w->table_begin[k];
    }
    for (size_t e = 0; e < c->edges; e++) {
        w->at[w->begin[c->a[e]] + used[c->a[e]]++] = 2 * e;
        w->at[w->begin[c->b[e]] + used[c->b[e]]++] = 2 * e + 1;
    }
    memset(used, 0, c->clusters * sizeof *used);
    for (size_t i = 0; i < w->g->m; i++)
        w->table[w->table_begin[w->j.home[i]] + used[w->j.home[i]]++] = i;
    w->in = cr_scratch_bytes(s, most + 1, sizeof *w->in);
    return s->status;
}

static cr_status make_messages(net *w, cr_scratch *s)
{
    cr_status               st = CR_OK;
    const cr_cluster_graph *c = &w->j.graph;
    size_t                 *states = cr_scratch_index(s, w->g->n);
    CR_TRY(s->status);
    w->m = cr_alloc(w->cx, 2 * c->edges, sizeof *w->m);
    if (!w->m) CR_TRY(CR_ENOMEM);
    w->spare = cr_alloc(w->cx, 2 * c->edges, sizeof *w->spare);
    if (!w->spare) CR_TRY(CR_ENOMEM);
    for (size_t k = 0; k < 2 * c->edges; k++) {
        const size_t *var = c->shared + c->shared_begin[k / 2];
        size_t        n = c->shared_begin[k / 2 + 1] - c->shared_begin[k / 2];
        for (size_t i = 0; i < n; i++) states[i] = w->g->states[var[i]];
        CR_TRY(cri_factor_make(w->cx, n, var, states, &w->m[k]));
        CR_TRY(cri_factor_make(w->cx, n, var, states, &w->spare[k]));
        for (size_t e = 0; e < w->m[k].size; e++) w->m[k].value[e] = 1;
    }
done:
    return st;
}

/* --- messages -------------------------------------------------------------------------------- */

/* The tables of cluster c and what comes to it, but along `left_out`.  An edge's end 2e at its
 * first cluster receives what its other end sends, 2e + 1. */
static size_t gather(net *w, size_t c, size_t left_out)
{
    size_t n = 0;
    for (size_t k = w->table_begin[c]; k < w->table_begin[c + 1]; k++)
        w->in[n++] = &w->g->table[w->table[k]];
    for (size_t k = w->begin[c]; k < w->begin[c + 1]; k++)
        if (w->at[k] != left_out) w->in[n++] = &w->m[w->at[k] ^ 1];
    return n;
}

static cr_status multiply(net *w, size_t c, size_t left_out, cr_factor *out, double *scale)
{
    const cr_cluster_graph *g = &w->j.graph;
    cri_space               space = { 0 };
    cri_message             m = { out, 0 };
    size_t                  n = gather(w, c, left_out);
    for (size_t k = g->begin[c]; k < g->begin[c + 1]; k++)
        if (!cri_space_add(&space, g->member[k], w->g->states[g->member[k]]))
            return cri_fail_dims(w->cx);
    if (!cri_send(w->cx, &space, false, n, w->in, 1, &m, NULL, true))
        return cri_fail_combine(w->cx, out->size);
    *scale = m.scale;
    return CR_OK;
}

static double plain(const cr_factor *f, size_t e)
{
    return f->is_log ? exp(f->value[e]) : f->value[e];
}

/* Mixes the new message with the old one, both with largest entry 1; returns the change. */
static double mix(net *w, cr_factor *next, const cr_factor *old)
{
    double change = 0;
    for (size_t e = 0; w->damping > 0 && e < next->size; e++) {
        double x = next->is_log ? next->value[e] : log(next->value[e]);
        double y = old->is_log ? old->value[e] : log(old->value[e]);
        double z =
            x > -INFINITY && y > -INFINITY ? (1 - w->damping) * x + w->damping * y : -INFINITY;
        next->value[e] = next->is_log ? z : exp(z);
    }
    if (w->damping > 0) cri_scale(next);
    for (size_t e = 0; e < next->size; e++)
        change = fmax(change, fabs(plain(next, e) - plain(old, e)));
    return change;
}

/* All messages of one cluster, to later ones (up) or to earlier ones. */
static cr_status send(net *w, size_t c, bool up, double *change)
{
    cr_status st = CR_OK;
    for (size_t k = w->begin[c]; k < w->begin[c + 1]; k++) {
        size_t end = w->at[k];
        double scale;
        if ((end % 2 == 0) != up) continue;
        CR_TRY(multiply(w, c, end, &w->spare[end], &scale));
        w->impossible |= scale == -INFINITY;
        *change = fmax(*change, mix(w, &w->spare[end], &w->m[end]));
        cr_factor old = w->m[end];
        w->m[end] = w->spare[end];
        w->spare[end] = old;
    }
done:
    return st;
}

static cr_status propagate(net *w, const cr_approximate_options *o, cr_approximate_report *report)
{
    cr_status st = CR_OK;
    size_t    n = w->j.graph.clusters;
    double    change = 0;
    cri_clock clock = cri_clock_start(w->cx, NAN);
    report->converged = w->j.graph.edges == 0;
    w->damping = isnan(o->damping) ? 0 : o->damping;
    while (!report->converged && !w->impossible && report->iterations < o->max_iter) {
        if (report->iterations > 0 && cri_clock_over(&clock)) {
            report->made = report->iterations, report->planned = o->max_iter;
            break;
        }
        change = 0;
        if (isnan(o->damping) && report->iterations > 20 && report->iterations > o->max_iter / 4)
            w->damping = LATER;
        for (size_t k = 0; k < 2 * n && !w->impossible; k++) {
            CR_TRY(cr_check_interrupt(w->cx));
            CR_TRY(send(w, k < n ? k : 2 * n - 1 - k, k < n, &change));
        }
        report->iterations++;
        report->converged = change <= o->tol;
        cr_progress(w->cx, "messages", (double)report->iterations, (double)o->max_iter);
    }
    report->residual = change;
    report->damping = w->damping;
done:
    return st;
}

/* --- results --------------------------------------------------------------------------------- */

static cr_status find_log_z(net *w, double *out)
{
    cr_status               st = CR_OK;
    const cr_cluster_graph *g = &w->j.graph;
    cr_factor               one = { 0 };
    double                  log_z = w->g->scale, scale;
    CR_TRY(cri_factor_make(w->cx, 0, NULL, NULL, &one));
    for (size_t c = 0; c < g->clusters; c++) {
        CR_TRY(multiply(w, c, CR_NONE, &one, &scale));
        log_z += scale;
    }
    for (size_t e = 0; e < g->edges; e++) {
        const cr_factor *a = &w->m[2 * e], *b = &w->m[2 * e + 1];
        double           sum = 0;
        for (size_t k = 0; k < a->size; k++) sum += plain(a, k) * plain(b, k);
        log_z -= log(sum);
    }
    *out = isnan(log_z) || log_z == INFINITY ? -INFINITY : log_z;
done:
    cr_factor_free(w->cx, &one);
    return st;
}

static double cluster_size(const net *w, size_t c)
{
    const cr_cluster_graph *g = &w->j.graph;
    double                  size = 1;
    for (size_t k = g->begin[c]; k < g->begin[c + 1]; k++)
        size *= (double)w->g->states[g->member[k]];
    return size;
}

/* Each variable from the largest of its clusters: the one that knows most. */
static cr_status find_marginals(net *w, cr_scratch *s, double *out)
{
    cr_status               st = CR_OK;
    const cr_cluster_graph *g = &w->j.graph;
    size_t                 *best = cr_scratch_index(s, w->g->n);
    double                 *size = cr_scratch_bytes(s, w->g->n, sizeof *size), scale;
    cr_factor               one = { 0 };
    CR_TRY(s->status);
    for (size_t c = 0; c < g->clusters; c++)
        for (size_t k = g->begin[c]; k < g->begin[c + 1]; k++)
            if (cluster_size(w, c) > size[g->member[k]]) {
                size[g->member[k]] = cluster_size(w, c);
                best[g->member[k]] = c;
            }
    for (size_t v = 0; v < w->g->n; v++) {
        double sum = 0, *p = out + w->g->start[v];
        CR_TRY(cr_check_interrupt(w->cx));
        CR_TRY(cri_factor_make(w->cx, 1, &v, &w->g->states[v], &one));
        CR_TRY(multiply(w, best[v], CR_NONE, &one, &scale));
        for (size_t k = 0; k < one.size; k++) sum += p[k] = plain(&one, k);
        for (size_t k = 0; sum > 0 && k < one.size; k++) p[k] /= sum;
        cr_factor_free(w->cx, &one);
    }
done:
    cr_factor_free(w->cx, &one);
    return st;
}

/* Edges lead to later clusters: with one from each, at the most, they make a forest. */
static bool is_tree(const net *w, bool *has_edge)
{
    for (size_t e = 0; e < w->j.graph.edges; e++) {
        if (has_edge[w->j.graph.a[e]]) return false;
        has_edge[w->j.graph.a[e]] = true;
    }
    return true;
}

cr_status cri_gbp(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                  double *out_marginal, bool *out_tree, cr_approximate_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    net        w = { .cx = cx, .g = g };
    CR_TRY(cri_join_graph_new(cx, g, o->cluster, &w.j));
    bool *has_edge = cr_scratch_bytes(&s, w.j.graph.clusters, sizeof *has_edge);
    CR_TRY(s.status);
    *out_tree = is_tree(&w, has_edge);
    CR_TRY(list_ends(&w, &s));
    CR_TRY(make_messages(&w, &s));
    CR_TRY(propagate(&w, o, report));
    report->clusters = w.j.graph.clusters;
    report->largest = w.j.largest;
    if (!w.impossible) CR_TRY(find_log_z(&w, &report->log_evidence));
    if (w.impossible) report->log_evidence = -INFINITY;
    if (report->log_evidence > -INFINITY) CR_TRY(find_marginals(&w, &s, out_marginal));
done:
    free_net(&w);
    cr_scratch_end(&s);
    return st;
}
