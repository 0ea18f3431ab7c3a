/* network_view.c -- the marginals, the evidence and the arcs of a network, ready to be drawn. */
#include "network_view.h"
#include "chart.h"
#include "graph/network/structure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- what is known --------------------------------------------------------------------------- */

static cr_status gather_known(cr_ctx *cx, cri_any_network any, const cr_findings *list,
                              cri_network_view *v)
{
    cr_status st = CR_OK;
    for (size_t i = 0; list && i < list->n && st == CR_OK; i++)
        st = any.methods->add_finding(cx, &v->known, any.net, &list->item[i]);
    return st;
}

static const cr_finding *find_known(const cri_network_view *v, size_t variable)
{
    for (size_t i = 0; i < v->known.n; i++)
        if (v->known.item[i].variable == variable) return &v->known.item[i];
    return NULL;
}

static size_t only_state(const cr_finding *f)
{
    size_t s = 0;
    while (s + 1 < f->states && f->weight[s] == 0) s++;
    return s;
}

static bool is_fixed(const cr_finding *f)
{
    return f && (f->kind == CR_FINDING_STATE || f->kind == CR_FINDING_DO);
}

/* "{a, b}" or "{a:3, b:1}" */
static const char *list_weights(cr_scratch *s, const cri_network_view *v, const cr_finding *f)
{
    const cr_variables *vs = cr_network_variables(v->net);
    const char         *text = "";
    for (size_t k = 0; k < f->states; k++) {
        if (f->weight[k] == 0) continue;
        text = cri_compose(s, "%s%s%s", text, *text ? ", " : "", cr_state_name(vs, f->variable, k));
        if (f->kind != CR_FINDING_SET) text = cri_compose(s, "%s:%.4g", text, f->weight[k]);
    }
    return text;
}

const char *cri_view_known(cr_scratch *s, const cri_network_view *v)
{
    const cr_variables *vs = cr_network_variables(v->net);
    const char         *text = "";
    for (size_t i = 0; i < v->known.n; i++) {
        const cr_finding *f = &v->known.item[i];
        const char       *name = cr_variable_name(vs, f->variable), *one;
        const char       *state = v->gaussian ? cri_compose(s, "%.4g", f->weight[0])
                                              : cr_state_name(vs, f->variable, only_state(f));
        switch (f->kind) {
        case CR_FINDING_STATE:
            one = cri_compose(s, "%s=%s", name, state);
            break;
        case CR_FINDING_DO:
            one = cri_compose(s, "do(%s=%s)", name, state);
            break;
        case CR_FINDING_SET:
            one = cri_compose(s, "%s in {%s}", name, list_weights(s, v, f));
            break;
        default:
            one = cri_compose(s, "%s%s{%s}", name, f->kind == CR_FINDING_SOFT ? ":=" : "~",
                              list_weights(s, v, f));
        }
        text = cri_compose(s, "%s%s%s", text, *text ? ", " : "", one);
    }
    return text;
}

void cri_view_percent(double p, char out[16])
{
    if (p > 0 && p < 0.0005)
        snprintf(out, 16, "<0.1%%");
    else if (p < 1 && p >= 0.9995)
        snprintf(out, 16, ">99.9%%");
    else if (p == 0 || p == 1)
        snprintf(out, 16, "%d%%", (int)(100 * p));
    else
        snprintf(out, 16, "%.1f%%", 100 * p);
}

/* --- nodes ----------------------------------------------------------------------------------- */

typedef struct ranked {
    double p;
    size_t state;
} ranked;

static int by_probability(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->p != y->p) return x->p < y->p ? 1 : -1;
    return (x->state > y->state) - (x->state < y->state);
}

static int by_state(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return (x->state > y->state) - (x->state < y->state);
}

/* The states, or the most probable ones in their order and one row for all others.  opt_p NULL: no
 * probabilities. */
static cr_status fill_rows(cr_scratch *s, const cri_network_view *v, cri_view_node *node,
                           const double *opt_p)
{
    const cr_variables *vs = cr_network_variables(v->net);
    size_t              states = cr_variable_states(vs, node->variable);
    bool                all = states <= CRI_VIEW_STATES;
    ranked             *list = cr_scratch_bytes(s, states, sizeof *list);
    double              rest = 1;
    node->rows = all ? states : CRI_VIEW_STATES;
    node->row = cr_scratch_bytes(s, node->rows, sizeof *node->row);
    if (s->status != CR_OK) return s->status;
    for (size_t k = 0; k < states; k++) list[k] = (ranked){ opt_p ? opt_p[k] : 0, k };
    if (!all) qsort(list, states, sizeof *list, by_probability);
    qsort(list, all ? states : node->rows - 1, sizeof *list, by_state);
    for (size_t k = 0; k < node->rows; k++) {
        node->row[k] = (cri_view_row){ .state = cr_state_name(vs, node->variable, list[k].state),
                                       .p = opt_p ? list[k].p : NAN };
        if (is_fixed(node->known)) node->row[k].observed = list[k].state == only_state(node->known);
        if (k + 1 < node->rows) rest -= list[k].p;
    }
    if (!all)
        node->row[node->rows - 1] =
            (cri_view_row){ cri_compose(s, "%zu others", states - node->rows + 1),
                            opt_p ? fmax(0, rest) : NAN, false };
    return s->status;
}

/* The distribution of a variable whose state is known: all on that. */
static cr_status fill_states(cr_scratch *s, cri_network_view *v, cri_view_node *node,
                             const cr_query_answer *a)
{
    size_t  states = cr_network_states(v->net, node->variable), at = 0;
    double *one = cr_scratch_bytes(s, states, sizeof *one);
    if (s->status != CR_OK) return s->status;
    if (is_fixed(node->known)) {
        one[only_state(node->known)] = 1;
        return fill_rows(s, v, node, one);
    }
    for (size_t i = 0; v->bars && i < a->n; i++) { /* ascending */
        if (a->variable[i] == node->variable) return fill_rows(s, v, node, a->value + at);
        at += cr_network_states(v->net, a->variable[i]);
    }
    return fill_rows(s, v, node, NULL);
}

/* Mean and standard deviation of a Gaussian variable; of what is known the value and 0. */
static void find_normal(const cr_query_answer *a, size_t variable, double *mean, double *sd)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->variable[i] == variable) {
            *mean = a->value[i];
            *sd = sqrt(fmax(0, a->covariance[i]));
        }
}

static cr_status fill_normal(cr_scratch *s, cri_view_node *node, const cr_query_answer *a,
                             const cr_query_answer *before)
{
    if (node->known) node->mean = node->known->weight[0];
    find_normal(a, node->variable, &node->mean, &node->sd);
    find_normal(before, node->variable, &node->before, &node->before_sd);
    node->text = node->known ? cri_compose(s, "%.4g", node->mean)
                             : cri_compose(s, "%.4g \u00b1 %.3g", node->mean, node->sd);
    return s->status;
}

/* --- arcs ------------------------------------------------------------------------------------ */

static cr_status list_arcs(cr_scratch *s, cri_any_network any, cri_network_view *v)
{
    size_t n = cr_network_size(v->net), parents;
    for (size_t c = 0; c < n; c++) {
        cr_network_parents(v->net, c, &parents);
        v->m += parents;
    }
    v->arc = cr_scratch_bytes(s, v->m, sizeof *v->arc);
    if (s->status != CR_OK) return s->status;
    for (size_t c = 0, k = 0; c < n; c++) {
        const size_t     *list = cr_network_parents(v->net, c, &parents);
        const cr_finding *known = v->node[c].known;
        for (size_t i = 0; i < parents; i++, k++) {
            cri_view_arc *arc = &v->arc[k];
            double        p = any.strength ? any.strength[k] : NAN;
            *arc = (cri_view_arc){ .from = list[i], .to = c, .strength = isnan(p) ? 1 : p };
            arc->cut = known && known->kind == CR_FINDING_DO;
            arc->open = any.compelled && any.compelled[k] == 0;
            if (p < 0.995)
                arc->label = cri_compose(s, "%.*f %%", p < 0.1 ? 1 : 0, 100 * p);
            else if (any.methods->label && isnan(p))
                arc->label = any.methods->label(s, any.net, c, i);
        }
    }
    return s->status;
}

/* Places in an order in which neighbours are near: breadth first from a variable at the end of a
 * long way.  place [nodes]. */
static cr_status order_nodes(cr_scratch *s, const cr_graph *g, size_t *place)
{
    size_t *queue = cr_scratch_index(s, g->n), next = 0;
    bool   *seen = cr_scratch_bytes(s, g->n, sizeof *seen), *done;
    done = cr_scratch_bytes(s, g->n, sizeof *done);
    if (s->status != CR_OK) return s->status;
    for (size_t first = 0; first < g->n; first++) {
        size_t from = first;
        if (done[first]) continue;
        for (int pass = 0; pass < 3; pass++) { /* twice to find an end, then for good */
            size_t n = 0;
            bool  *mark = pass < 2 ? seen : done;
            queue[n++] = from;
            mark[from] = true;
            for (size_t at = 0; at < n; at++)
                for (size_t k = g->begin[queue[at]]; k < g->begin[queue[at] + 1]; k++)
                    if (!mark[g->to[k]]) mark[g->to[k]] = true, queue[n++] = g->to[k];
            from = queue[n - 1];
            for (size_t at = 0; at < n; at++) {
                seen[queue[at]] = false;
                if (pass == 2) place[queue[at]] = next++;
            }
        }
    }
    return CR_OK;
}

/* Lines for tables of two variables, and from each larger table to its variables. */
static cr_status list_lines(cr_scratch *s, cri_any_network any, cri_network_view *v)
{
    cr_status st = CR_OK;
    cr_ctx   *cx = s->cx;
    cr_graph  g = { 0 };
    size_t    n = cr_network_size(v->net), *a, *b, *place, most = 0, m = 0, kept = 0;
    for (size_t i = 0; i < cr_network_tables(v->net); i++) most += cr_network_table(v->net, i).n;
    a = cr_scratch_index(s, most);
    b = cr_scratch_index(s, most);
    place = cr_scratch_index(s, v->n);
    CR_TRY(s->status);
    for (size_t i = 0, node = n; i < cr_network_tables(v->net); i++) {
        cr_table_view t = cr_network_table(v->net, i);
        if (t.n == 2) a[m] = t.scope[0], b[m++] = t.scope[1];
        for (size_t k = 0; t.n > 2 && k < t.n; k++) a[m] = t.scope[k], b[m++] = node;
        node += t.n > 2;
    }
    CR_TRY(cr_graph_new(cx, v->n, m, a, b, &g));
    CR_TRY(order_nodes(s, &g, place));
    v->arc = cr_scratch_bytes(s, g.ends / 2, sizeof *v->arc);
    CR_TRY(s->status);
    for (size_t u = 0; u < g.n; u++)
        for (size_t k = g.begin[u]; k < g.begin[u + 1]; k++)
            if (place[u] < place[g.to[k]])
                v->arc[kept++] =
                    (cri_view_arc){ .strength = 1,
                                    .from = u,
                                    .to = g.to[k],
                                    .label = any.methods->edge_label
                                                 ? any.methods->edge_label(s, any.net, u, g.to[k])
                                                 : NULL };
    v->m = kept;
done:
    cr_graph_free(cx, &g);
    return st;
}

/* --- the whole ------------------------------------------------------------------------------- */

static cr_status ask_marginals(cr_ctx *cx, cri_any_network any, const cr_network_plot *p,
                               cri_network_view *v, cr_query_answer *out)
{
    cr_status          st = CR_OK;
    cr_question        all = { .kind = CR_QUESTION_MARGINALS };
    const cr_question *q = p->question ? p->question : &all;
    if (q->kind != CR_QUESTION_MARGINALS) {
        cr_fail(cx, CR_EARG, "a figure of a network shows the marginals of all its variables");
        CR_TRY(cr_fail_hint(cx, "ask for P(* | ...)"));
    }
    v->log_evidence = NAN;
    if (p->plain) goto done;
    CR_TRY(any.methods->run(cx, any.net, q, p->more, p->query, out));
    v->bars = true;
    v->log_evidence = out->log_evidence;
    v->exact = out->exact;
done:
    return st;
}

cr_status cri_view_open(cr_scratch *s, cri_any_network any, const cr_network_plot *opt_p,
                        cri_network_view *out)
{
    cr_status        st = CR_OK;
    cr_ctx          *cx = s->cx;
    size_t           n;
    cr_network_plot  p = opt_p ? *opt_p : (cr_network_plot){ 0 };
    cr_query_answer  a = { 0 }, before = { 0 };
    cri_network_view v = { .gaussian = !any.methods->states };
    if (any.methods->unroll) { /* slices are drawn side by side */
        CR_TRY(any.methods->unroll(cx, any.net, p.question, p.more, &v.graph));
        any = (cri_any_network){ .methods = &cri_states_methods, .net = v.graph };
        v.net = v.graph;
    } else {
        CR_TRY(any.methods->graph(cx, any.net, &v.net, &v.graph));
    }
    v.n = n = cr_network_size(v.net);
    v.directed = cr_network_get_kind(v.net) == CR_NETWORK_BAYES;
    if (p.question) CR_TRY(gather_known(cx, any, &p.question->known, &v));
    CR_TRY(gather_known(cx, any, p.more, &v));
    CR_TRY(ask_marginals(cx, any, &p, &v, &a));
    if (v.gaussian) CR_TRY(cri_any_query(cx, any, "P(*)", &before));
    for (size_t i = 0; !v.directed && i < cr_network_tables(v.net); i++)
        v.n += cr_network_table(v.net, i).n > 2;
    v.node = cr_scratch_bytes(s, v.n, sizeof *v.node);
    CR_TRY(s->status);
    for (size_t i = 0; i < n; i++) {
        cri_view_node *node = &v.node[i];
        *node = (cri_view_node){ .variable = i,
                                 .name = cr_variable_name(cr_network_variables(v.net), i),
                                 .known = find_known(&v, i) };
        CR_TRY(v.gaussian ? fill_normal(s, node, &a, &before) : fill_states(s, &v, node, &a));
    }
    for (size_t i = n; i < v.n; i++) v.node[i] = (cri_view_node){ .variable = CR_NONE, .name = "" };
    CR_TRY(v.directed ? list_arcs(s, any, &v) : list_lines(s, any, &v));
    *out = v;
    v = (cri_network_view){ 0 };
done:
    cri_view_close(cx, &v);
    cr_query_answer_free(cx, &a);
    cr_query_answer_free(cx, &before);
    return st;
}

void cri_view_close(cr_ctx *cx, cri_network_view *v)
{
    cr_findings_free(cx, &v->known);
    cr_network_free(cx, v->graph);
    v->graph = NULL;
}
