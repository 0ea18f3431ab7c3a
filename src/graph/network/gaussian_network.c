/* gaussian_network.c -- one variable after another, parents first. */
#include "gaussian_network.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "prob/gaussian/gaussian_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A variable of which no larger share of the variance is left, given others, is determined by them.
 */
static const double TIED = 1e-13;

typedef struct node {
    size_t  n, *parent;
    double *weight, intercept, variance;
} node;

struct cr_gaussian_network {
    char         *name;
    cr_variables *names; /* of one state each      */
    node         *node;  /* [n] used of [capacity] */
    size_t        n, capacity;
    bool          undirected;
    size_t        edges, *a, *b; /* [edges] */
    double       *strength;      /* [edges] */
};

cr_status cr_gaussian_network_new(cr_ctx *cx, cr_gaussian_network **out_net)
{
    cr_gaussian_network *net = cr_alloc(cx, 1, sizeof *net);
    if (!net) return CR_ENOMEM;
    cr_status st = cr_variables_new(cx, &net->names);
    if (st == CR_OK)
        *out_net = net;
    else
        cr_free(cx, net, 1, sizeof *net);
    return st;
}

static void free_node(cr_ctx *cx, node *v)
{
    cr_free(cx, v->parent, v->n, sizeof *v->parent);
    cr_free(cx, v->weight, v->n, sizeof *v->weight);
}

static void free_edges(cr_ctx *cx, cr_gaussian_network *net)
{
    cr_free(cx, net->a, net->edges, sizeof *net->a);
    cr_free(cx, net->b, net->edges, sizeof *net->b);
    cr_free(cx, net->strength, net->edges, sizeof *net->strength);
    net->a = net->b = NULL, net->strength = NULL, net->edges = 0;
}

void cr_gaussian_network_free(cr_ctx *cx, cr_gaussian_network *net)
{
    if (!net) return;
    for (size_t v = 0; v < net->n; v++) free_node(cx, &net->node[v]);
    cr_free(cx, net->node, net->capacity, sizeof *net->node);
    cr_variables_free(cx, net->names);
    cri_string_free(cx, net->name);
    free_edges(cx, net);
    cr_free(cx, net, 1, sizeof *net);
}

const char *cr_gaussian_network_name(const cr_gaussian_network *net)
{
    return net->name ? net->name : "";
}

cr_status cr_gaussian_network_set_name(cr_ctx *cx, cr_gaussian_network *net, const char *name)
{
    char *copy = cri_string_copy(cx, name);
    if (!copy) return CR_ENOMEM;
    cri_string_free(cx, net->name);
    net->name = copy;
    return CR_OK;
}

static cr_status check_node(cr_ctx *cx, const cr_gaussian_network *net, const char *name, size_t n,
                            const size_t *parents, const double *weights, double intercept,
                            double variance)
{
    bool finite = fabs(intercept) <= DBL_MAX && variance <= DBL_MAX;
    for (size_t i = 0; i < n; i++) {
        finite &= fabs(weights[i]) <= DBL_MAX;
        if (parents[i] >= net->n)
            return cr_fail(cx, CR_EDATA, "variable '%s': parent %zu has not been added", name,
                           parents[i]);
        for (size_t k = 0; k < i; k++)
            if (parents[k] == parents[i])
                return cr_fail(cx, CR_EDATA, "variable '%s': '%s' is a parent twice", name,
                               cr_variable_name(net->names, parents[i]));
    }
    if (!finite || !(variance >= 0))
        return cr_fail(cx, CR_EDATA, "variable '%s': weights must be finite, the variance >= 0",
                       name);
    return CR_OK;
}

cr_status cr_gaussian_network_add(cr_ctx *cx, cr_gaussian_network *net, const char *name, size_t n,
                                  const size_t *parents, const double *weights, double intercept,
                                  double variance, size_t *opt_index)
{
    cr_status st = CR_OK;
    node      v = { .n = n, .intercept = intercept, .variance = variance };
    CR_TRY(check_node(cx, net, name, n, parents, weights, intercept, variance));
    CR_TRY(cri_array_grow(cx, &net->node, net->n, &net->capacity, sizeof *net->node));
    v.parent = cr_alloc(cx, n, sizeof *v.parent);
    v.weight = v.parent ? cr_alloc(cx, n, sizeof *v.weight) : NULL;
    if (!v.weight) CR_TRY(CR_ENOMEM);
    if (n > 0) memcpy(v.parent, parents, n * sizeof *parents);
    if (n > 0) memcpy(v.weight, weights, n * sizeof *weights);
    CR_TRY(cr_variables_add(cx, net->names, name, 1, NULL, NULL));
    if (opt_index) *opt_index = net->n;
    net->node[net->n++] = v;
    v = (node){ 0 };
done:
    free_node(cx, &v);
    return st;
}

size_t cr_gaussian_network_size(const cr_gaussian_network *net) { return net->n; }

cr_status cr_gaussian_network_find(cr_ctx *cx, const cr_gaussian_network *net, const char *name,
                                   size_t *out_v)
{
    return cr_variable_find(cx, net->names, name, out_v);
}

const cr_variables *cr_gaussian_network_names(const cr_gaussian_network *net) { return net->names; }

cr_gaussian_node cr_gaussian_network_node(const cr_gaussian_network *net, size_t v)
{
    const node *x = &net->node[v];
    return (cr_gaussian_node){ x->n, x->parent, x->weight, x->intercept, x->variance };
}

cr_status cr_gaussian_network_set_edges(cr_ctx *cx, cr_gaussian_network *net, size_t m,
                                        const size_t *a, const size_t *b, const double *strength)
{
    for (size_t i = 0; i < m; i++)
        if (a[i] >= net->n || b[i] >= net->n || a[i] == b[i])
            return cr_fail(cx, CR_EARG, "edge %zu joins no two of the %zu variables", i, net->n);
    free_edges(cx, net);
    net->undirected = true, net->edges = m;
    net->a = cr_alloc(cx, m, sizeof *net->a), net->b = cr_alloc(cx, m, sizeof *net->b);
    net->strength = cr_alloc(cx, m, sizeof *net->strength);
    if (m == 0) return CR_OK;
    if (!net->a || !net->b || !net->strength) return CR_ENOMEM;
    memcpy(net->a, a, m * sizeof *a);
    memcpy(net->b, b, m * sizeof *b);
    memcpy(net->strength, strength, m * sizeof *strength);
    return CR_OK;
}

cr_gaussian_edges cr_gaussian_network_edges(const cr_gaussian_network *net)
{
    return (cr_gaussian_edges){ net->undirected, net->edges, net->a, net->b, net->strength };
}

cr_status cr_gaussian_network_copy(cr_ctx *cx, const cr_gaussian_network *net,
                                   cr_gaussian_network **out_net)
{
    cr_status            st = CR_OK;
    cr_gaussian_network *out = NULL;
    CR_TRY(cr_gaussian_network_new(cx, &out));
    CR_TRY(cr_gaussian_network_set_name(cx, out, cr_gaussian_network_name(net)));
    for (size_t v = 0; v < net->n; v++) {
        const node *x = &net->node[v];
        CR_TRY(cr_gaussian_network_add(cx, out, cr_variable_name(net->names, v), x->n, x->parent,
                                       x->weight, x->intercept, x->variance, NULL));
    }
    if (net->undirected)
        CR_TRY(cr_gaussian_network_set_edges(cx, out, net->edges, net->a, net->b, net->strength));
    *out_net = out;
    out = NULL;
done:
    cr_gaussian_network_free(cx, out);
    return st;
}

cr_status cr_gaussian_network_intervene(cr_ctx *cx, cr_gaussian_network *net, size_t v,
                                        double value)
{
    if (v >= net->n || !(fabs(value) <= DBL_MAX))
        return cr_fail(cx, CR_EARG, "do(): there is no variable %zu, or %g is not a value", v,
                       value);
    if (net->undirected) {
        cr_fail(cx, CR_EARG, "do(): the network is undirected: it does not say what causes what");
        return cr_fail_hint(cx, "P(x | y = value) asks what goes with a value");
    }
    free_node(cx, &net->node[v]);
    net->node[v] = (node){ .intercept = value };
    return CR_OK;
}

/* Row v of the covariance from those of its parents: cov(x_v, x_u) = sum_p w_p cov(x_p, x_u) for u
 * < v. */
cr_status cr_gaussian_network_joint(cr_ctx *cx, const cr_gaussian_network *net, double *out_mean,
                                    cr_mat out_covariance)
{
    cr_mat C = out_covariance;
    if (C.rows != net->n || C.cols != net->n)
        return cr_fail(cx, CR_EARG, "the covariance of %zu variables is not %zu x %zu", net->n,
                       C.rows, C.cols);
    for (size_t v = 0; v < net->n; v++) {
        const node *x = &net->node[v];
        double     *row = C.a + v * C.stride;
        out_mean[v] = x->intercept;
        for (size_t u = 0; u < v; u++) row[u] = 0;
        for (size_t i = 0; i < x->n; i++) {
            out_mean[v] += x->weight[i] * out_mean[x->parent[i]];
            const double *of_parent = C.a + x->parent[i] * C.stride;
            for (size_t u = 0; u < v; u++) row[u] += x->weight[i] * of_parent[u];
        }
        row[v] = x->variance;
        for (size_t i = 0; i < x->n; i++) row[v] += x->weight[i] * row[x->parent[i]];
        for (size_t u = 0; u < v; u++) C.a[u * C.stride + v] = row[u];
        if (!(fabs(out_mean[v]) <= DBL_MAX && row[v] <= DBL_MAX))
            return cr_fail(cx, CR_ENUMERIC,
                           "the mean or variance of '%s' is too large for a number",
                           cr_variable_name(net->names, v));
    }
    return CR_OK;
}

/* J = sum over v of a_v a_v^T / s_v, with a_v = e_v - w_v;  h = sum of a_v b_v / s_v. */
cr_status cr_gaussian_network_information(cr_ctx *cx, const cr_gaussian_network *net, double *out_h,
                                          cr_mat out_J)
{
    cr_mat J = out_J;
    if (J.rows != net->n || J.cols != net->n)
        return cr_fail(cx, CR_EARG, "the information of %zu variables is not %zu x %zu", net->n,
                       J.rows, J.cols);
    for (size_t v = 0; v < net->n; v++)
        if (net->node[v].variance == 0)
            return cr_fail(cx, CR_ENUMERIC,
                           "the variance of '%s' is 0: there is no information form",
                           cr_variable_name(net->names, v));
    for (size_t v = 0; v < net->n; v++) {
        out_h[v] = 0;
        memset(J.a + v * J.stride, 0, net->n * sizeof *J.a);
    }
    for (size_t v = 0; v < net->n; v++) {
        const node *x = &net->node[v];
        double      precision = 1 / x->variance;
        for (size_t i = 0; i <= x->n; i++) { /* the last is v itself */
            size_t a = i < x->n ? x->parent[i] : v;
            double wa = i < x->n ? -x->weight[i] : 1;
            out_h[a] += wa * x->intercept * precision;
            for (size_t k = 0; k <= x->n; k++) {
                size_t b = k < x->n ? x->parent[k] : v;
                J.a[a * J.stride + b] += wa * (k < x->n ? -x->weight[k] : 1) * precision;
            }
        }
    }
    return CR_OK;
}

static cr_status check_observed(cr_ctx *cx, const cr_gaussian_network *net, size_t k,
                                const size_t *observed, const double *values)
{
    for (size_t i = 0; i < k; i++) {
        if (observed[i] >= net->n)
            return cr_fail(cx, CR_EARG, "there is no variable %zu, only %zu of them", observed[i],
                           net->n);
        if (!(fabs(values[i]) <= DBL_MAX))
            return cr_fail(cx, CR_EDATA, "the value of '%s' is %g",
                           cr_variable_name(net->names, observed[i]), values[i]);
        for (size_t j = 0; j < i; j++)
            if (observed[j] == observed[i])
                return cr_fail(cx, CR_EARG, "'%s' is observed twice",
                               cr_variable_name(net->names, observed[i]));
    }
    return CR_OK;
}

/* All variables again: those observed at their values, without variance, the others as in `rest`. */
static void spread_out(size_t n, size_t k, const size_t *observed, const double *values,
                       const cr_gaussian *rest, size_t *place, double *mean, cr_mat C)
{
    for (size_t v = 0; v < n; v++) place[v] = CR_NONE;
    for (size_t i = 0; i < k; i++) place[observed[i]] = n, mean[observed[i]] = values[i];
    for (size_t v = 0, next = 0; v < n; v++)
        if (place[v] == CR_NONE) mean[v] = rest->mean[next], place[v] = next++;
    for (size_t v = 0; v < n; v++)
        for (size_t u = 0; u < n; u++)
            C.a[v * C.stride + u] = place[v] == n || place[u] == n
                                        ? 0
                                        : rest->covariance[place[v] * rest->d + place[u]];
}

cr_status cr_gaussian_network_condition(cr_ctx *cx, const cr_gaussian_network *net, size_t k,
                                        const size_t *observed, const double *values,
                                        double *out_mean, cr_mat out_covariance,
                                        double *opt_log_density)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       n = net->n, *place = cr_scratch_index(&s, n), tied = 0;
    cr_gaussian *joint = NULL, *rest = NULL;
    CR_TRY(s.status);
    if (out_covariance.rows != n || out_covariance.cols != n)
        CR_TRY(cr_fail(cx, CR_EARG, "the covariance of %zu variables is not %zu x %zu", n,
                       out_covariance.rows, out_covariance.cols));
    CR_TRY(check_observed(cx, net, k, observed, values));
    CR_TRY(cri_gaussian_alloc(cx, n, &joint));
    CR_TRY(cr_gaussian_network_joint(cx, net, joint->mean, cr_mat_of(joint->covariance, n, n)));
    for (size_t i = 0; i < k; i++)
        if (joint->covariance[observed[i] * (n + 1)] == 0)
            CR_TRY(cr_fail(cx, CR_ENUMERIC, "'%s' is %g for certain: it cannot be observed",
                           cr_variable_name(net->names, observed[i]), joint->mean[observed[i]]));
    st =
        cri_gaussian_condition(cx, joint, observed, k, values, TIED, &rest, opt_log_density, &tied);
    if (st == CR_ENUMERIC)
        cr_fail(cx, st, "'%s' is observed, but it follows from the others that are",
                cr_variable_name(net->names, tied));
    CR_TRY(st);
    spread_out(n, k, observed, values, rest, place, out_mean, out_covariance);
done:
    cr_gaussian_free(cx, rest);
    cr_gaussian_free(cx, joint);
    cr_scratch_end(&s);
    return st;
}
