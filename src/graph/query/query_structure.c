/* query_structure.c -- relatives of variables, orders, the moral graph and its cliques, I-maps.
 * A network is an I-map of another when every independence that its graph shows holds in the
 * other's graph too.  Koller & Friedman (2009), sec. 3.2-3.4, 4.5, 9.4. */
#include "questions.h"
#include "graph/exact/chordal.h"
#include "graph/exact/elimination.h"
#include "graph/files/network_file.h"
#include "graph/network/separation.h"
#include "base/scratch.h"

#include <string.h>

typedef struct job {
    cr_ctx            *cx;
    const cr_network  *net;
    const cr_question *q;
    cr_query_answer   *out;
    cr_scratch        *s;
    size_t             n; /* variables */
} job;

/* An answer that needs scratch memory. */
static cr_status run(cri_job *j, cr_status (*answer)(job *j))
{
    cr_scratch s = cr_scratch_begin(j->cx);
    job        own = { j->cx, j->net, j->q, j->out, &s, cr_network_size(j->net) };
    cr_status  st = answer(&own);
    cr_scratch_end(&s);
    return st;
}

/* --- lists of variables ---------------------------------------------------------------------- */

/* The marked ones but for those asked about. */
static cr_status keep_marked(job *j, bool *mark)
{
    size_t *list = cr_scratch_index(j->s, j->n), n = 0;
    if (j->s->status != CR_OK) return j->s->status;
    for (size_t i = 0; i < j->q->n_x; i++) mark[j->q->x[i]] = false;
    for (size_t v = 0; v < j->n; v++)
        if (mark[v]) list[n++] = v;
    return cri_answer_name(j->cx, j->out, n, list);
}

static void mark_parents(const cr_network *net, size_t v, bool *mark)
{
    size_t        n;
    const size_t *parent = cr_network_parents(net, v, &n);
    for (size_t i = 0; i < n; i++) mark[parent[i]] = true;
}

static void mark_next(const cr_graph *g, size_t v, bool *mark)
{
    for (size_t i = g->begin[v]; i < g->begin[v + 1]; i++) mark[g->to[i]] = true;
}

/* Parents come before their children, so one pass in order does. */
static cr_status mark_descendants(job *j, const cr_graph *children, bool *mark)
{
    cr_status st = CR_OK;
    size_t   *order = cr_scratch_index(j->s, j->n);
    CR_TRY(j->s->status);
    CR_TRY(cr_network_order(j->cx, j->net, order));
    for (size_t i = 0; i < j->n; i++)
        if (mark[order[i]]) mark_next(children, order[i], mark);
done:
    return st;
}

static cr_status answer_relatives(job *j)
{
    cr_status        st = CR_OK;
    cr_graph         children = { 0 };
    cr_question_kind what = j->q->kind;
    bool            *mark = cr_scratch_bytes(j->s, j->n, sizeof *mark);
    bool            *one = cr_scratch_bytes(j->s, j->n, sizeof *one);
    CR_TRY(j->s->status);
    if (what == CR_QUESTION_CHILDREN || what == CR_QUESTION_DESCENDANTS)
        CR_TRY(cr_network_children(j->cx, j->net, &children));
    for (size_t i = 0; i < j->q->n_x; i++) {
        size_t v = j->q->x[i];
        if (what == CR_QUESTION_PARENTS) mark_parents(j->net, v, mark);
        if (what == CR_QUESTION_CHILDREN) mark_next(&children, v, mark);
        if (what == CR_QUESTION_ANCESTORS || what == CR_QUESTION_DESCENDANTS) mark[v] = true;
        if (what != CR_QUESTION_BLANKET) continue;
        CR_TRY(cr_network_blanket(j->cx, j->net, v, one));
        for (size_t u = 0; u < j->n; u++) mark[u] |= one[u];
    }
    if (what == CR_QUESTION_ANCESTORS) CR_TRY(cr_network_ancestors(j->cx, j->net, mark));
    if (what == CR_QUESTION_DESCENDANTS) CR_TRY(mark_descendants(j, &children, mark));
    CR_TRY(keep_marked(j, mark));
done:
    cr_graph_free(j->cx, &children);
    return st;
}

static cr_status answer_order(job *j)
{
    cr_status st = CR_OK;
    size_t   *order = cr_scratch_index(j->s, j->n);
    CR_TRY(j->s->status);
    CR_TRY(cr_network_order(j->cx, j->net, order));
    CR_TRY(cri_answer_name(j->cx, j->out, j->n, order));
done:
    return st;
}

/* --- sets of variables ----------------------------------------------------------------------- */

/* Room for so many sets with so many members together. */
static cr_status make_sets(job *j, size_t sets, size_t members)
{
    cr_query_answer *a = j->out;
    a->states = cr_alloc(j->cx, members, sizeof *a->states);
    if (!a->states) return CR_ENOMEM;
    a->n_states = members;
    a->begin = cr_alloc(j->cx, sets + 1, sizeof *a->begin);
    if (!a->begin) return CR_ENOMEM;
    a->rows = sets;
    return CR_OK;
}

static cr_status answer_moral(job *j)
{
    cr_status st = CR_OK;
    cr_graph  g = { 0 };
    size_t    k = 0;
    CR_TRY(cr_network_moral(j->cx, j->net, &g));
    CR_TRY(make_sets(j, g.ends / 2, g.ends));
    for (size_t v = 0; v < g.n; v++)
        for (size_t i = g.begin[v]; i < g.begin[v + 1]; i++) {
            if (g.to[i] < v) continue;
            j->out->begin[k / 2] = k;
            j->out->states[k++] = v;
            j->out->states[k++] = g.to[i];
        }
    j->out->begin[j->out->rows] = k;
done:
    cr_graph_free(j->cx, &g);
    return st;
}

/* A perfect order if there is one: then no edge is added; else the cheapest. */
static cr_status find_order(job *j, const cr_graph *g, cr_order *out)
{
    cr_status st = CR_OK;
    size_t   *states = cr_scratch_index(j->s, j->n), *perfect = cr_scratch_index(j->s, j->n);
    bool      chordal;
    CR_TRY(j->s->status);
    for (size_t v = 0; v < j->n; v++) states[v] = cr_network_states(j->net, v);
    CR_TRY(cr_graph_chordal(j->cx, g, &chordal, perfect));
    CR_TRY(chordal ? cr_order_cost(j->cx, g, states, perfect, out)
                   : cr_order_find(j->cx, g, states, NULL, CR_ELIMINATE_BEST, 1, out));
done:
    return st;
}

static cr_status answer_cliques(job *j)
{
    cr_status        st = CR_OK;
    cr_graph         g = { 0 };
    cr_order         o = { 0 };
    cr_cluster_graph t = { 0 };
    CR_TRY(cr_network_moral(j->cx, j->net, &g));
    CR_TRY(find_order(j, &g, &o));
    CR_TRY(cr_clique_tree(j->cx, &g, o.order, &t));
    CR_TRY(make_sets(j, t.clusters, t.members));
    if (t.members > 0) memcpy(j->out->states, t.member, t.members * sizeof *t.member);
    memcpy(j->out->begin, t.begin, (t.clusters + 1) * sizeof *t.begin);
    j->out->cost.width = o.width;
    j->out->cost.variables = j->n;
    j->out->cost.operations = o.states;
done:
    cr_cluster_graph_free(j->cx, &t);
    cr_order_free(j->cx, &o);
    cr_graph_free(j->cx, &g);
    return st;
}

/* --- yes or no ------------------------------------------------------------------------------- */

static cr_status answer_chordal(job *j)
{
    cr_graph  g = { 0 };
    cr_status st = cr_network_moral(j->cx, j->net, &g);
    if (st == CR_OK) st = cr_graph_chordal(j->cx, &g, &j->out->holds, NULL);
    cr_graph_free(j->cx, &g);
    return st;
}

/* Which variable of the network each of the other is, by name. */
static cr_status match_names(job *j, const cr_network *other, size_t *out)
{
    const cr_variables *vs = cr_network_variables(other);
    if (cr_network_size(other) != j->n)
        return cr_fail(j->cx, CR_EDATA, "imap: %s has %zu variables, but this network has %zu",
                       j->q->path, cr_network_size(other), j->n);
    for (size_t v = 0; v < j->n; v++) {
        out[v] = cr_variable_lookup(cr_network_variables(j->net), cr_variable_name(vs, v));
        if (out[v] != CR_NONE) continue;
        cr_fail(j->cx, CR_EDATA, "imap: '%s' of %s is not a variable of this network",
                cr_variable_name(vs, v), j->q->path);
        return cr_fail_hint(j->cx, "the networks must have the same variables, in any order");
    }
    return CR_OK;
}

/* The graph of the other network over the variables of this one; its numbers do not matter. */
static cr_status copy_graph(job *j, const cr_network *other, const size_t *as, cr_network **out)
{
    cr_status           st = CR_OK;
    cr_network         *copy = NULL;
    const cr_variables *vs = cr_network_variables(j->net);
    size_t             *scope = cr_scratch_index(j->s, j->n);
    const double        one = 1;
    CR_TRY(j->s->status);
    CR_TRY(cr_network_new(j->cx, cr_network_get_kind(other), &copy));
    for (size_t v = 0; v < j->n; v++)
        CR_TRY(cr_network_add_variable(j->cx, copy, cr_variable_name(vs, v), 1, NULL, NULL));
    for (size_t t = 0; t < cr_network_tables(other); t++) {
        cr_table_view w = cr_network_table(other, t);
        for (size_t i = 0; i < w.n; i++) scope[i] = as[w.scope[i]];
        if (cr_network_get_kind(other) == CR_NETWORK_BAYES)
            CR_TRY(cr_network_set_parents(j->cx, copy, as[t], w.n - 1, scope));
        else
            CR_TRY(cr_network_add_table(j->cx, copy, w.n, scope, &one));
    }
    *out = copy;
    copy = NULL;
done:
    cr_network_free(j->cx, copy);
    return st;
}

/* If it is none: x, y and then the parents of x, given which x and y are independent here only. */
static cr_status answer_imap(job *j)
{
    cr_status   st = CR_OK;
    cr_network *other = NULL, *copy = NULL;
    size_t     *as = cr_scratch_index(j->s, j->n), *list = cr_scratch_index(j->s, j->n + 2);
    size_t      n = 0, x, y;
    CR_TRY(j->s->status);
    CR_TRY(cr_network_read(j->cx, j->q->path, CR_FORMAT_AUTO, &other));
    CR_TRY(match_names(j, other, as));
    CR_TRY(copy_graph(j, other, as, &copy));
    CR_TRY(cr_is_i_map(j->cx, j->net, copy, &j->out->holds, &x, &y));
    if (j->out->holds) goto done;
    const size_t *parent = cr_network_parents(j->net, x, &n);
    list[0] = x, list[1] = y;
    for (size_t i = 0; i < n; i++) list[2 + i] = parent[i];
    CR_TRY(cri_answer_name(j->cx, j->out, n + 2, list));
done:
    cr_network_free(j->cx, copy);
    cr_network_free(j->cx, other);
    return st;
}

cr_status cri_answer_relatives(cri_job *j) { return run(j, answer_relatives); }
cr_status cri_answer_order(cri_job *j) { return run(j, answer_order); }
cr_status cri_answer_moral(cri_job *j) { return run(j, answer_moral); }
cr_status cri_answer_cliques(cri_job *j) { return run(j, answer_cliques); }
cr_status cri_answer_chordal(cri_job *j) { return run(j, answer_chordal); }
cr_status cri_answer_imap(cri_job *j) { return run(j, answer_imap); }
