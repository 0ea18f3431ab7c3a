/* tree.c -- sums, products, powers and distances over a base, tile by tile, forwards and
 * backwards. */
#include "kernel_internal.h"
#include "base/context_internal.h"

#include <string.h>

/* --- workspace ------------------------------------------------------------------------------- */

static size_t most_width(const cri_job *job)
{
    size_t most = 0;
    for (size_t i = 0; i < job->k->n_nodes; i++)
        if (job->a.node[i].width > most) most = job->a.node[i].width;
    return most;
}

static size_t products_size(const cri_job *job, bool backward)
{
    return backward ? 2 * CRI_TILE * most_width(job) : 0;
}

size_t cri_workspace_size(const cri_job *job, bool backward)
{
    return (job->k->n_nodes * (backward ? 3 : 1) + 2) * CRI_AREA + products_size(job, backward);
}

static double *doubles(const cri_job *job, size_t n)
{
    return cri_resize_quietly(job->cx, NULL, 0, n, sizeof(double));
}

/* Each node has a block of its own: allocators map blocks above 128 kB afresh, page by page. */
bool cri_workspace_new(const cri_job *job, bool backward, cri_workspace *workspace)
{
    size_t   n = job->k->n_nodes;
    double **pointers = cri_resize_quietly(job->cx, NULL, 0, 3 * n, sizeof *pointers);
    bool     all = pointers != NULL;
    *workspace = (cri_workspace){ .backward = backward };
    if (!all) return false;
    workspace->value = pointers, workspace->t = pointers + n, workspace->adjoint = pointers + 2 * n;
    for (size_t i = 0; i < n; i++) {
        double *at = all ? doubles(job, (backward ? 3 : 1) * CRI_AREA) : NULL;
        all = all && at;
        workspace->value[i] = at;
        workspace->t[i] = at && backward ? at + CRI_AREA : at;
        workspace->adjoint[i] = at && backward ? at + 2 * CRI_AREA : NULL;
    }
    workspace->work[0] = all ? doubles(job, 2 * CRI_AREA) : NULL;
    workspace->products = workspace->work[0] ? doubles(job, products_size(job, backward)) : NULL;
    if (workspace->products)
        workspace->work[1] = workspace->work[0] + CRI_AREA;
    else
        cri_workspace_free(job, workspace);
    return workspace->products;
}

void cri_workspace_free(const cri_job *job, cri_workspace *workspace)
{
    size_t n = job->k->n_nodes, of_node = (workspace->backward ? 3 : 1) * CRI_AREA;
    cr_free(job->cx, workspace->products, products_size(job, workspace->backward), sizeof(double));
    cr_free(job->cx, workspace->work[0], 2 * CRI_AREA, sizeof(double));
    for (size_t i = 0; i < n; i++) cr_free(job->cx, workspace->value[i], of_node, sizeof(double));
    cr_free(job->cx, workspace->value, 3 * n, sizeof *workspace->value);
}

/* --- forwards -------------------------------------------------------------------------------- */

static void add_into(double *out, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] += x[i];
}

/* l^2 of a distance over a base. */
static double squared_length(const cr_kernel *k, const cri_node *node)
{
    double l = cri_value(k, node, cri_spec_of_role(node->class, CRI_LENGTH), 0);
    return l * l;
}

static void over_forward(const cri_job *job, size_t at, cri_tile tile, cri_workspace *workspace)
{
    const cri_node *node = &job->k->nodes[at];
    if (node->class == &cri_kernel_normalise) {
        cri_normalise_forward(job, at, tile, workspace);
        return;
    }
    if (cri_is_centre(node)) {
        cri_centre_forward(job, at, tile, workspace);
        return;
    }
    const double *base = workspace->value[node->first], l2 = squared_length(job->k, node);
    const double *a = job->a.node[at].diagonal, *b = job->b.node[at].diagonal;
    double       *t = workspace->t[at];
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            size_t e = i * tile.nj + j, row = tile.i0 + i, col = tile.j0 + j;
            if (tile.diagonal || (job->same && row == col))
                t[e] = 0;
            else
                t[e] = ((a[row] - base[e]) + (b[col] - base[e])) / l2;
            if (t[e] < 0) t[e] = 0; /* rounding, or a base that is not positive semi-definite */
        }
    node->class->link(job->k, node, t, tile.ni * tile.nj, workspace->value[at]);
}

void cri_forward(const cri_job *job, cri_tile tile, cri_workspace *workspace)
{
    const cr_kernel *k = job->k;
    size_t           n = tile.ni * tile.nj;
    for (size_t i = k->begin; i < k->n_nodes; i++) {
        const cri_node *node = &k->nodes[i];
        double         *out = workspace->value[i];
        if (node->op == CRI_LEAF) cri_leaf_forward(job, i, tile, workspace->t[i], out);
        if (node->op == CRI_OVER) over_forward(job, i, tile, workspace);
        if (node->op == CRI_POWER)
            for (size_t e = 0; e < n; e++)
                out[e] = cri_whole_power(workspace->value[node->first][e], node->power);
        if (node->op != CRI_SUM && node->op != CRI_PRODUCT) continue;
        memcpy(out, workspace->value[node->first], n * sizeof *out);
        for (size_t c = k->nodes[node->first].next; c != SIZE_MAX; c = k->nodes[c].next)
            if (node->op == CRI_SUM)
                add_into(out, workspace->value[c], n);
            else
                cri_multiply_array(out, workspace->value[c], n, out);
    }
}

/* --- backwards ------------------------------------------------------------------------------- */

/* out = x times the values of all members of the product but c. */
static void times_others(const cr_kernel *k, const cri_node *product, size_t c,
                         const cri_workspace *workspace, const double *x, size_t n, double *out)
{
    const double *from = x;
    for (size_t m = product->first; m != SIZE_MAX; m = k->nodes[m].next) {
        if (m == c) continue;
        cri_multiply_array(from, workspace->value[m], n, out);
        from = out;
    }
    if (from != out) memcpy(out, from, n * sizeof *out);
}

static void power_slope(const cri_node *node, const double *base, const double *x, size_t n,
                        double *out)
{
    for (size_t e = 0; e < n; e++)
        out[e] = x[e] * (double)node->power * cri_whole_power(base[e], node->power - 1);
}

/* Parameters of what stands over a base: its length-scale, and others of its link. */
static void over_partial(const cri_job *job, size_t at, size_t s, size_t n,
                         const cri_workspace *workspace, double *out)
{
    const cri_node *node = &job->k->nodes[at];
    if (node->class->specs[s].role == CRI_LINK) {
        node->class->partial(job->k, node, s, workspace->t[at], workspace->value[at], n, out);
        return;
    }
    double l = cri_value(job->k, node, s, 0);
    node->class->slope(job->k, node, workspace->t[at], workspace->value[at], n, out);
    for (size_t e = 0; e < n; e++) out[e] *= -2 / l * workspace->t[at][e];
}

static void over_backward(const cri_job *job, size_t at, cri_tile tile, const double *adjoint,
                          cri_workspace *workspace, cri_gradient *g)
{
    const cri_node *node = &job->k->nodes[at];
    if (node->class == &cri_kernel_normalise) {
        cri_normalise_backward(job, at, tile, adjoint, workspace, g);
        return;
    }
    if (cri_is_centre(node)) {
        cri_centre_backward(job, at, tile, adjoint, workspace, g);
        return;
    }
    size_t  n = tile.ni * tile.nj;
    double *out = workspace->adjoint[node->first], l2 = squared_length(job->k, node);
    for (size_t s = 0; g->natural && node->class->specs[s].shown.name; s++) {
        if (node->class->specs[s].role == CRI_SETTING || node->n_values[s] == 0) continue;
        over_partial(job, at, s, n, workspace, workspace->work[0]);
        g->natural[node->param[s]] += cri_dot_array(adjoint, workspace->work[0], n);
    }
    node->class->slope(job->k, node, workspace->t[at], workspace->value[at], n, workspace->work[0]);
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            double G = adjoint[i * tile.nj + j] * workspace->work[0][i * tile.nj + j] / l2;
            out[i * tile.nj + j] = -2 * G;
            if (g->diagonal_a) g->diagonal_a[at][tile.i0 + i] += G;
            if (g->diagonal_b) g->diagonal_b[at][tile.j0 + j] += G;
        }
}

void cri_backward(const cri_job *job, size_t last, cri_tile tile, cri_workspace *workspace,
                  cri_gradient *g)
{
    const cr_kernel *k = job->k;
    const double    *adjoint[CRI_MOST_NODES] = { NULL };
    size_t           n = tile.ni * tile.nj;
    adjoint[last] = workspace->adjoint[last];
    for (size_t i = last + 1; i-- > k->begin;) {
        const cri_node *node = &k->nodes[i];
        if (!adjoint[i]) continue;
        if (node->op == CRI_LEAF) {
            cri_leaf_backward(job, i, tile, adjoint[i], workspace, g);
            continue;
        }
        if (node->op == CRI_OVER && tile.diagonal && !cri_is_centre(node))
            continue; /* constant there */
        if (node->op == CRI_OVER) over_backward(job, i, tile, adjoint[i], workspace, g);
        for (size_t c = node->first; c != SIZE_MAX; c = k->nodes[c].next) {
            adjoint[c] = node->op == CRI_SUM ? adjoint[i] : workspace->adjoint[c];
            if (node->op == CRI_POWER)
                power_slope(node, workspace->value[c], adjoint[i], n, workspace->adjoint[c]);
            if (node->op == CRI_PRODUCT)
                times_others(k, node, c, workspace, adjoint[i], n, workspace->adjoint[c]);
        }
    }
}

/* --- one derivative, forwards ---------------------------------------------------------------- */

bool cri_depends(const cr_kernel *k, size_t node, size_t param)
{
    if (k->params[param].node == node) return true;
    for (size_t c = k->nodes[node].first; c != SIZE_MAX; c = k->nodes[c].next)
        if (cri_depends(k, c, param)) return true;
    return false;
}

static void over_tangent(const cri_job *job, size_t at, const cri_tangents *tangents, cri_tile tile,
                         cri_workspace *workspace)
{
    const cri_node *node = &job->k->nodes[at];
    if (node->class == &cri_kernel_normalise) {
        cri_normalise_tangent(job, at, tangents, tile, workspace);
        return;
    }
    if (cri_is_centre(node)) {
        cri_centre_tangent(job, at, tangents, tile, workspace);
        return;
    }
    const double *base = workspace->adjoint[node->first], l2 = squared_length(job->k, node);
    const double *a = tangents->a[at], *b = tangents->b[at];
    double       *out = workspace->adjoint[at];
    node->class->slope(job->k, node, workspace->t[at], workspace->value[at], tile.ni * tile.nj,
                       out);
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            size_t e = i * tile.nj + j;
            out[e] *= tile.diagonal ? 0 : (a[tile.i0 + i] - 2 * base[e] + b[tile.j0 + j]) / l2;
        }
}

void cri_tangent(const cri_job *job, size_t param, const cri_tangents *tangents, cri_tile tile,
                 cri_workspace *workspace)
{
    const cr_kernel *k = job->k;
    const cri_param *p = &k->params[param];
    size_t           n = tile.ni * tile.nj;
    for (size_t i = k->begin; i < k->n_nodes; i++) {
        const cri_node *node = &k->nodes[i];
        double         *out = workspace->adjoint[i];
        if (!cri_depends(k, i, param)) continue;
        if (p->node == i) {
            size_t s = (size_t)(p->spec - node->class->specs);
            if (node->op == CRI_LEAF)
                cri_leaf_partial(job, i, s, p->element, tile, workspace->t[i], workspace->value[i],
                                 out);
            else
                over_partial(job, i, s, n, workspace, out);
            continue;
        }
        if (node->op == CRI_OVER) over_tangent(job, i, tangents, tile, workspace);
        bool fresh = true;
        for (size_t c = node->first; node->op != CRI_OVER && c != SIZE_MAX; c = k->nodes[c].next) {
            if (!cri_depends(k, c, param)) continue;
            double *part = fresh ? out : workspace->work[1];
            if (node->op == CRI_SUM) memcpy(part, workspace->adjoint[c], n * sizeof *part);
            if (node->op == CRI_POWER)
                power_slope(node, workspace->value[c], workspace->adjoint[c], n, part);
            if (node->op == CRI_PRODUCT)
                times_others(k, node, c, workspace, workspace->adjoint[c], n, part);
            if (!fresh) add_into(out, part, n);
            fresh = false;
        }
    }
}
