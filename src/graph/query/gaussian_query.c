/* gaussian_query.c -- what is known is conditioned on once; answers are parts of what is left. */
#include "gaussian_query.h"
#include "graph/files/json_text.h"
#include "query_more.h"
#include "questions.h"
#include "graph/network/separation.h"
#include "base/file.h"
#include "base/scratch.h"
#include "math/constants.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cri_normal {
    cr_ctx                    *cx;
    cr_scratch                *s;
    const cr_gaussian_network *net; /* after do() */
    const cr_variables        *names;
    size_t                     n, k; /* variables; those that are observed */
    size_t                    *observed;
    double                    *value;       /* [k], with room for n */
    bool                      *seen, *done; /* [n] observed; set by do() */
    double                    *mean, *cov;  /* of all, given what is observed */
    const cr_question         *q;
    cr_query_answer           *out;
};
typedef cri_normal job;

static const char *name_of(const job *j, size_t v) { return cr_variable_name(j->names, v); }

/* --- the graph ------------------------------------------------------------------------------- */

cr_status cri_gaussian_graph(cr_ctx *cx, const cr_gaussian_network *net, cr_network **out)
{
    cr_status         st = CR_OK;
    cr_network       *graph = NULL;
    double            one = 1;
    cr_gaussian_edges e = cr_gaussian_network_edges(net);
    CR_TRY(cr_network_new(cx, e.undirected ? CR_NETWORK_MARKOV : CR_NETWORK_BAYES, &graph));
    for (size_t v = 0; v < cr_gaussian_network_size(net); v++)
        CR_TRY(cr_network_add_variable(
            cx, graph, cr_variable_name(cr_gaussian_network_names(net), v), 1, NULL, NULL));
    for (size_t i = 0; i < e.m; i++)
        CR_TRY(cr_network_add_table(cx, graph, 2, (size_t[2]){ e.a[i], e.b[i] }, &one));
    for (size_t v = 0; !e.undirected && v < cr_gaussian_network_size(net); v++) {
        cr_gaussian_node x = cr_gaussian_network_node(net, v);
        CR_TRY(cr_network_set_parents(cx, graph, v, x.n, x.parents));
        CR_TRY(cr_network_set_table(cx, graph, v, &one));
    }
    *out = graph;
    graph = NULL;
done:
    cr_network_free(cx, graph);
    return st;
}

/* Marks what is given, and what has no variance of its own and only parents that are marked. */
static void mark_given(const job *j, bool *given)
{
    for (size_t v = 0; v < j->n; v++) given[v] = j->seen[v] || j->done[v];
    for (size_t i = 0; i < j->q->n_given; i++) given[j->q->given[i]] = true;
    for (size_t v = 0; v < j->n; v++) { /* parents come first */
        cr_gaussian_node x = cr_gaussian_network_node(j->net, v);
        bool             known = x.variance == 0;
        for (size_t i = 0; i < x.n; i++) known &= given[x.parents[i]];
        given[v] |= known;
    }
}

cr_status cri_normal_separation(job *j)
{
    cr_status   st = CR_OK;
    bool       *given = cr_scratch_bytes(j->s, j->n, sizeof *given), separated = true;
    size_t     *trail = cr_scratch_index(j->s, j->n), length = 0;
    cr_network *graph = NULL;
    CR_TRY(j->s->status);
    CR_TRY(cri_gaussian_graph(j->cx, j->net, &graph));
    mark_given(j, given);
    for (size_t i = 0; i < j->q->n_x && separated; i++)
        for (size_t k = 0; k < j->q->n_y && separated; k++)
            CR_TRY(cr_separated(j->cx, graph, j->q->x[i], j->q->y[k], given, &separated, trail,
                                &length));
    if (!separated) CR_TRY(cri_answer_name(j->cx, j->out, length, trail));
    j->out->holds = separated;
done:
    cr_network_free(j->cx, graph);
    return st;
}

/* --- parts of the normal --------------------------------------------------------------------- */

/* out [k x k]: the covariance of these. */
static void take_part(const job *j, const double *cov, size_t k, const size_t *list, double *out)
{
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++) out[a * k + b] = cov[list[a] * j->n + list[b]];
}

/* log det of the covariance of these; CR_ENUMERIC, with the sentence, when they have none. */
static cr_status log_det(job *j, const double *cov, size_t k, const size_t *list, double *out)
{
    cr_status st = CR_OK;
    double   *L = cr_scratch_matrix(j->s, k, k);
    CR_TRY(j->s->status);
    take_part(j, cov, k, list, L);
    st = cr_chol(j->cx, cr_mat_of(L, k, k));
    for (size_t i = 0; st == CR_OK && i < k; i++)
        if (!(L[i * k + i] * L[i * k + i] > 1e-13 * cov[list[i] * (j->n + 1)])) st = CR_ENUMERIC;
    if (st == CR_ENUMERIC)
        CR_TRY(cr_fail(j->cx, st, "'%s'%s determined by the evidence: there is no density",
                       name_of(j, list[0]), k > 1 ? " and the others asked for are" : " is"));
    CR_TRY(st);
    *out = cr_chol_logdet(cr_cmat_of(L, k, k));
done:
    return st;
}

/* The variables and their means; room for covariances. */
static cr_status give_means(job *j, size_t n, const size_t *list, size_t covariances)
{
    cr_query_answer *a = j->out;
    cr_status        st = cri_answer_name(j->cx, a, n, list);
    if (st != CR_OK) return st;
    a->value = cr_alloc(j->cx, n, sizeof *a->value);
    a->values = a->value ? n : 0;
    a->covariance = a->value ? cr_alloc(j->cx, covariances, sizeof *a->covariance) : NULL;
    a->covariances = a->covariance ? covariances : 0;
    for (size_t i = 0; a->value && i < n; i++) a->value[i] = j->mean[list[i]];
    return a->covariance ? CR_OK : CR_ENOMEM;
}

/* Mean and covariance of these variables. */
static cr_status give_joint(job *j, size_t k, const size_t *list)
{
    cr_status st = give_means(j, k, list, k * k);
    if (st == CR_OK) take_part(j, j->cov, k, list, j->out->covariance);
    return st;
}

cr_status cri_normal_table(job *j) { return give_joint(j, j->q->n_x, j->q->x); }

/* The variables that nothing is known of; *out_n of them. */
static cr_status find_open(job *j, size_t **out_list, size_t *out_n)
{
    size_t *list = cr_scratch_index(j->s, j->n), n = 0;
    if (j->s->status != CR_OK) return j->s->status;
    for (size_t v = 0; v < j->n; v++)
        if (!j->seen[v] && !j->done[v]) list[n++] = v;
    *out_list = list;
    *out_n = n;
    return CR_OK;
}

cr_status cri_normal_marginals(job *j)
{
    cr_status st = CR_OK;
    size_t   *list, n;
    CR_TRY(find_open(j, &list, &n));
    CR_TRY(give_means(j, n, list, n));
    for (size_t i = 0; i < n; i++) j->out->covariance[i] = j->cov[list[i] * (j->n + 1)];
done:
    return st;
}

/* The density at the mean; NaN when some variable is determined. */
cr_status cri_normal_best(job *j)
{
    cr_status st = CR_OK;
    size_t   *list = j->q->x, n = j->q->n_x;
    double    det = 0;
    if (n == 0) CR_TRY(find_open(j, &list, &n));
    CR_TRY(give_joint(j, n, list));
    if (n > 0) st = log_det(j, j->cov, n, list, &det);
    if (st == CR_ENUMERIC) st = CR_OK, det = NAN; /* some are certain: the others are at the mean */
    CR_TRY(st);
    j->out->log_number = -0.5 * ((double)n * CRI_LOG_2PI + det);
    j->out->number = exp(j->out->log_number);
done:
    return st;
}

/* log N(x; mean, S) of the event, given what is known. */
cr_status cri_normal_density(job *j)
{
    cr_status          st = CR_OK;
    const cr_findings *event = &j->q->event;
    size_t             k = event->n, *list = cr_scratch_index(j->s, k);
    double            *L = cr_scratch_matrix(j->s, k, k), *d = cr_scratch_f64(j->s, k), det = 0;
    CR_TRY(j->s->status);
    for (size_t i = 0; i < k; i++) {
        list[i] = event->item[i].variable;
        d[i] = event->item[i].weight[0] - j->mean[list[i]];
        if (j->seen[list[i]] || j->done[list[i]])
            CR_TRY(cr_fail(j->cx, CR_EARG, "'%s' is already known, so it has no density",
                           name_of(j, list[i])));
    }
    CR_TRY(log_det(j, j->cov, k, list, &det));
    take_part(j, j->cov, k, list, L);
    CR_TRY(cr_chol(j->cx, cr_mat_of(L, k, k)));
    CR_TRY(cr_chol_forward(j->cx, cr_cmat_of(L, k, k), cr_mat_of(d, k, 1)));
    j->out->log_number = -0.5 * ((double)k * CRI_LOG_2PI + det + cr_dot(d, d, k));
    j->out->number = exp(j->out->log_number);
done:
    return st;
}

/* --- entropy and information ----------------------------------------------------------------- */

/* cov [n x n] of all given what is known and the variables that are averaged over: their values
 * do not matter to it. */
static cr_status condition_further(job *j, double **out_cov)
{
    cr_status st = CR_OK;
    size_t    k = j->k, n = j->n;
    double   *mean = cr_scratch_f64(j->s, n), *cov = cr_scratch_matrix(j->s, n, n);
    CR_TRY(j->s->status);
    for (size_t i = 0; i < j->q->n_given; i++) {
        size_t v = j->q->given[i];
        if (j->seen[v] || j->done[v]) continue;
        j->observed[k] = v;
        j->value[k++] = j->mean[v];
    }
    CR_TRY(cr_gaussian_network_condition(j->cx, j->net, k, j->observed, j->value, mean,
                                         cr_mat_of(cov, n, n), NULL));
    *out_cov = cov;
done:
    return st;
}

static cr_status refuse_known(job *j, size_t n, const size_t *list)
{
    for (size_t i = 0; i < n; i++)
        if (j->seen[list[i]] || j->done[list[i]])
            return cr_fail(j->cx, CR_EARG, "'%s' is known, so there is nothing to ask",
                           name_of(j, list[i]));
    return CR_OK;
}

cr_status cri_normal_entropy(job *j)
{
    cr_status st = CR_OK;
    double   *cov, det = 0;
    CR_TRY(refuse_known(j, j->q->n_x, j->q->x));
    CR_TRY(condition_further(j, &cov));
    CR_TRY(log_det(j, cov, j->q->n_x, j->q->x, &det));
    j->out->number = 0.5 * ((double)j->q->n_x * (CRI_LOG_2PI + 1) + det);
done:
    return st;
}

static cr_status information(job *j, const double *cov, size_t n_y, const size_t *y, double *out)
{
    cr_status st = CR_OK;
    size_t    n_x = j->q->n_x, *both = cr_scratch_index(j->s, n_x + n_y);
    double    x = 0, of_y = 0, xy = 0;
    CR_TRY(j->s->status);
    memcpy(both, j->q->x, n_x * sizeof *both);
    memcpy(both + n_x, y, n_y * sizeof *both);
    CR_TRY(log_det(j, cov, n_x, j->q->x, &x));
    CR_TRY(log_det(j, cov, n_y, y, &of_y));
    CR_TRY(log_det(j, cov, n_x + n_y, both, &xy));
    *out = fmax(0, 0.5 * (x + of_y - xy));
done:
    return st;
}

cr_status cri_normal_information(job *j)
{
    cr_status st = CR_OK;
    double   *cov;
    CR_TRY(refuse_known(j, j->q->n_x, j->q->x));
    CR_TRY(refuse_known(j, j->q->n_y, j->q->y));
    CR_TRY(condition_further(j, &cov));
    CR_TRY(information(j, cov, j->q->n_y, j->q->y, &j->out->number));
done:
    return st;
}

typedef struct gain {
    size_t variable;
    double nats;
} gain;

static int by_gain(const void *a, const void *b)
{
    const gain *p = a, *q = b;
    if (p->nats != q->nats) return p->nats > q->nats ? -1 : 1;
    return (p->variable > q->variable) - (p->variable < q->variable);
}

/* I(x; v | e) of every v that is open; one that is determined tells nothing. */
cr_status cri_normal_informative(job *j)
{
    cr_status st = CR_OK;
    gain     *list = cr_scratch_bytes(j->s, j->n, sizeof *list);
    double   *cov;
    size_t   *order = cr_scratch_index(j->s, j->n), n = 0;
    CR_TRY(j->s->status);
    CR_TRY(refuse_known(j, j->q->n_x, j->q->x));
    CR_TRY(condition_further(j, &cov));
    for (size_t v = 0; v < j->n; v++) {
        bool open = cov[v * (j->n + 1)] > 0;
        for (size_t i = 0; i < j->q->n_x; i++) open &= j->q->x[i] != v;
        if (!open) continue;
        CR_TRY(cr_check_interrupt(j->cx));
        list[n].variable = v;
        CR_TRY(information(j, cov, 1, &v, &list[n++].nats));
    }
    if (n > 1) qsort(list, n, sizeof *list, by_gain);
    for (size_t i = 0; i < n; i++) order[i] = list[i].variable;
    CR_TRY(give_means(j, n, order, 0));
    for (size_t i = 0; i < n; i++) j->out->value[i] = list[i].nats;
done:
    return st;
}

/* --- the question ---------------------------------------------------------------------------- */

static cr_status refuse(job *j)
{
    if (cri_question_of(j->q->kind)->graph)
        return cr_fail(j->cx, CR_EUNSUPPORTED,
                       "questions about the graph are only for networks with states");
    cr_fail(j->cx, CR_EARG,
            "best(), causes() and sensitivity() are about states, but the variables of a Gaussian "
            "network have values");
    return cr_fail_hint(j->cx, "ask for P(x | e), argmax(x | e) or I(x; * | e)");
}

/* Sorts a list of what is known into what was seen and what was done. */
static cr_status gather(job *j, cr_gaussian_network *net, const cr_findings *opt_known)
{
    cr_status st = CR_OK;
    for (size_t i = 0; opt_known && i < opt_known->n; i++) {
        size_t v = opt_known->item[i].variable;
        double value = opt_known->item[i].weight[0];
        if (j->seen[v] || j->done[v])
            CR_TRY(cr_fail(j->cx, CR_EARG, "there is already evidence on '%s'", name_of(j, v)));
        if (opt_known->item[i].kind == CR_FINDING_DO) {
            j->done[v] = true;
            CR_TRY(cr_gaussian_network_intervene(j->cx, net, v, value));
        } else {
            j->seen[v] = true;
            j->observed[j->k] = v;
            j->value[j->k++] = value;
        }
    }
done:
    return st;
}

static cr_status run(job *j, cr_gaussian_network *net, const cr_findings *opt_more)
{
    cr_status               st = CR_OK;
    const cri_question_row *row = cri_question_of(j->q->kind);
    size_t                  n = j->n = cr_gaussian_network_size(net);
    j->net = net;
    j->names = cr_gaussian_network_names(net);
    j->observed = cr_scratch_index(j->s, n);
    j->value = cr_scratch_f64(j->s, n);
    j->seen = cr_scratch_bytes(j->s, n, sizeof *j->seen);
    j->done = cr_scratch_bytes(j->s, n, sizeof *j->done);
    j->mean = cr_scratch_f64(j->s, n);
    j->cov = cr_scratch_matrix(j->s, n, n);
    CR_TRY(j->s->status);
    CR_TRY(gather(j, net, &j->q->known));
    CR_TRY(gather(j, net, opt_more));
    if (!row->normal) CR_TRY(refuse(j));
    if (!row->graph) {
        CR_TRY(cr_gaussian_network_condition(j->cx, net, j->k, j->observed, j->value, j->mean,
                                             cr_mat_of(j->cov, n, n), &j->out->log_evidence));
        for (size_t v = 0; v < n; v++) /* what rounding left of nothing */
            if (j->cov[v * (n + 1)] < 0) j->cov[v * (n + 1)] = 0;
    }
    CR_TRY(row->normal(j));
done:
    return st;
}

cr_status cr_gaussian_question_parse(cr_ctx *cx, const cr_gaussian_network *net, const char *text,
                                     cr_question **out_q)
{
    cr_network *graph = NULL;
    cr_status   st = cri_gaussian_graph(cx, net, &graph);
    if (st == CR_OK) st = cri_question_parse_values(cx, graph, text, out_q);
    cr_network_free(cx, graph);
    return st;
}

cr_status cr_gaussian_query_run(cr_ctx *cx, const cr_gaussian_network *net, const cr_question *q,
                                const cr_findings *opt_more, cr_query_answer *out)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    cr_gaussian_network *own = NULL;
    cr_query_answer      a = { .kind = q->kind, .exact = true, .upper = NAN };
    job                  j = { .cx = cx, .s = &s, .q = q, .out = &a };
    a.log_evidence = a.number = a.log_number = NAN;
    a.method = cri_question_of(q->kind)->graph ? "graph" : "gaussian";
    CR_TRY(cr_gaussian_network_copy(cx, net, &own));
    CR_TRY(run(&j, own, opt_more));
    *out = a;
    a = (cr_query_answer){ 0 };
done:
    cr_query_answer_free(cx, &a);
    cr_gaussian_network_free(cx, own);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_gaussian_query(cr_ctx *cx, const cr_gaussian_network *net, const char *text,
                            const cr_findings *opt_more, cr_query_answer *out)
{
    cr_question *q = NULL;
    cr_status    st = cr_gaussian_question_parse(cx, net, text, &q);
    if (st == CR_OK) st = cr_gaussian_query_run(cx, net, q, opt_more, out);
    cr_question_free(cx, q);
    return st;
}

/* --- files ----------------------------------------------------------------------------------- */

static const char *name_of_variable(const void *user, size_t i)
{
    return cr_variable_name(user, i);
}

static cr_status read_values(const cri_json *d, const cr_network *graph, cr_findings *list)
{
    cr_status           st = CR_OK;
    const cr_variables *vs = cr_network_variables(graph);
    const char         *name;
    json_t             *item, *action;
    double              value = 0;
    json_object_foreach(d->root, name, item)
    {
        size_t v = cr_variable_lookup(vs, name);
        if (v == CR_NONE) {
            cri_json_fail_key(d, d->root, name, "there is no variable '%s'", name);
            return cr_fail_nearest(d->cx, name, "variables", cr_variables_count(vs),
                                   name_of_variable, vs);
        }
        action = json_object_size(item) == 1 ? json_object_get(item, "do") : NULL;
        CR_TRY(
            cri_json_real(d, action ? action : item, "the value of a Gaussian variable", &value));
        CR_TRY(cri_findings_add_value(d->cx, list, graph, v, value));
        if (action) list->item[list->n - 1].kind = CR_FINDING_DO;
    }
done:
    return st;
}

cr_status cr_gaussian_findings_parse(cr_ctx *cx, cr_findings *list, const cr_gaussian_network *net,
                                     const char *source, const char *bytes, size_t size)
{
    cr_status   st = CR_OK;
    cri_json    d = { 0 };
    cr_network *graph = NULL;
    CR_TRY(cri_gaussian_graph(cx, net, &graph));
    CR_TRY(cri_json_open(cx, source, bytes, size, &d));
    CR_TRY(read_values(&d, graph, list));
done:
    cr_network_free(cx, graph);
    cri_json_close(&d);
    return st;
}

cr_status cr_gaussian_findings_read(cr_ctx *cx, cr_findings *list, const cr_gaussian_network *net,
                                    const char *path)
{
    char     *bytes = NULL;
    size_t    size = 0;
    cr_status st = cri_file_load(cx, path, 0, &bytes, &size);
    if (st != CR_OK) return st;
    st = cr_gaussian_findings_parse(cx, list, net, path, bytes, size);
    cr_free(cx, bytes, size, 1);
    return st;
}
