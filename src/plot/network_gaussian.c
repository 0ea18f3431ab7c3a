/* network_gaussian.c -- a linear-Gaussian network, ready to be drawn: of every variable its mean
 * and standard deviation, without and with what is known; on every arc its weight. */
#include "chart.h"
#include "network_view.h"
#include "graph/query/query_more.h"

#include <math.h>
#include <string.h>

/* What is known: of the question, and besides. */
static cr_status gather_values(cr_ctx *cx, const cr_question *q, const cr_gaussian_values *opt_more,
                               cri_network_view *v)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < q->known.n; i++) {
        const cr_finding *f = &q->known.item[i];
        CR_TRY(cri_findings_add_value(cx, &v->known, v->net, f->variable, f->weight[0]));
        v->known.item[v->known.n - 1].kind = f->kind;
    }
    for (size_t i = 0; opt_more && i < opt_more->n; i++)
        CR_TRY(cri_findings_add_value(cx, &v->known, v->net, opt_more->variable[i],
                                      opt_more->value[i]));
done:
    return st;
}

/* Means and standard deviations of all; of what is known the value and 0. */
static cr_status ask(cr_scratch *s, const cr_gaussian_network *net, const char *text,
                     const cr_gaussian_values *opt_more, const cri_network_view *v, double *mean,
                     double *sd, double *log_evidence)
{
    cr_status          st = CR_OK;
    cr_gaussian_answer a = { 0 };
    CR_TRY(cr_gaussian_query(s->cx, net, text, opt_more, &a));
    for (size_t i = 0; i < v->known.n; i++) {
        mean[v->known.item[i].variable] = v->known.item[i].weight[0];
        sd[v->known.item[i].variable] = 0;
    }
    for (size_t i = 0; i < a.n; i++) {
        mean[a.variable[i]] = a.mean[i];
        sd[a.variable[i]] = sqrt(fmax(0, a.covariance[i]));
    }
    *log_evidence = a.log_evidence;
done:
    cr_gaussian_answer_free(s->cx, &a);
    return st;
}

static cr_status fill_nodes(cr_scratch *s, const cr_gaussian_network *net,
                            const cr_gaussian_plot *p, cri_network_view *v)
{
    cr_status   st = CR_OK;
    const char *text = p->question ? p->question : "P(*)";
    double     *mean = cr_scratch_f64(s, v->n), *sd = cr_scratch_f64(s, v->n), ignored;
    double     *before = cr_scratch_f64(s, v->n), *before_sd = cr_scratch_f64(s, v->n);
    v->node = cr_scratch_bytes(s, v->n, sizeof *v->node);
    CR_TRY(s->status);
    CR_TRY(ask(s, net, text, p->more, v, mean, sd, &v->log_evidence));
    cri_network_view none = { .net = v->net };
    CR_TRY(ask(s, net, "P(*)", NULL, &none, before, before_sd, &ignored));
    for (size_t i = 0; i < v->n; i++) {
        cri_view_node *node = &v->node[i];
        *node = (cri_view_node){ .variable = i,
                                 .name = cr_variable_name(cr_network_variables(v->net), i),
                                 .mean = mean[i],
                                 .sd = sd[i],
                                 .before = before[i],
                                 .before_sd = before_sd[i] };
        for (size_t k = 0; k < v->known.n; k++)
            if (v->known.item[k].variable == i) node->known = &v->known.item[k];
        node->text = node->known ? cri_compose(s, "%.4g", mean[i])
                                 : cri_compose(s, "%.4g \u00b1 %.3g", mean[i], sd[i]);
    }
    CR_TRY(s->status);
done:
    return st;
}

static cr_status fill_arcs(cr_scratch *s, const cr_gaussian_network *net, cri_network_view *v)
{
    for (size_t c = 0; c < v->n; c++) v->m += cr_gaussian_network_node(net, c).n;
    v->arc = cr_scratch_bytes(s, v->m, sizeof *v->arc);
    if (s->status != CR_OK) return s->status;
    for (size_t c = 0, k = 0; c < v->n; c++) {
        cr_gaussian_node  x = cr_gaussian_network_node(net, c);
        const cr_finding *known = v->node[c].known;
        for (size_t i = 0; i < x.n; i++, k++)
            v->arc[k] = (cri_view_arc){ .from = x.parents[i],
                                        .to = c,
                                        .cut = known && known->kind == CR_FINDING_DO,
                                        .label = cri_compose(s, "%.3g", x.weights[i]) };
    }
    return s->status;
}

cr_status cri_view_open_gaussian(cr_scratch *s, const cr_gaussian_network *net,
                                 const cr_gaussian_plot *opt_p, cri_network_view *out)
{
    cr_status        st = CR_OK;
    cr_ctx          *cx = s->cx;
    cr_question     *q = NULL;
    cr_gaussian_plot p = opt_p ? *opt_p : (cr_gaussian_plot){ 0 };
    cri_network_view v = { .directed = true,
                           .bars = true,
                           .gaussian = true,
                           .exact = true,
                           .n = cr_gaussian_network_size(net) };
    CR_TRY(cri_gaussian_graph(cx, net, &v.graph));
    v.net = v.graph;
    CR_TRY(cri_question_parse_values(cx, v.graph, p.question ? p.question : "P(*)", &q));
    if (q->kind != CR_QUESTION_MARGINALS) {
        cr_fail(cx, CR_EARG, "a picture of a network shows the marginals of all its variables");
        CR_TRY(cr_fail_hint(cx, "ask for P(* | ...)"));
    }
    CR_TRY(gather_values(cx, q, p.more, &v));
    CR_TRY(fill_nodes(s, net, &p, &v));
    CR_TRY(fill_arcs(s, net, &v));
    *out = v;
    v = (cri_network_view){ 0 };
done:
    cr_question_free(cx, q);
    cri_view_close(cx, &v);
    return st;
}
