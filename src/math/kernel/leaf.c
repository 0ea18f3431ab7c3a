/* leaf.c -- one kernel of an expression on one tile: values, derivatives, contractions.
 * With G = A f'(t), A the adjoint, r and c the sums of its rows and columns, P = G F_b, Q = G^T
 * F_a:
 *   distances   sum G d|F_i - F_j|^2/dF_j = 2 (c_j F_j - Q_j), and by a parameter p with T = dF/dp
 *               2 (sum_i T_i . (r_i F_i - P_i) + sum_j T_j . (c_j F_j - Q_j));
 *   length l_f  -2/l_f (sum_i r_i F_if^2 + sum_j c_j F_jf^2 - 2 sum_i F_if P_if): one matrix product for
 *               all length-scales together;
 *   products    Q_j, and sum_i T_i . P_i + sum_j T_j . Q_j. */
#include "kernel_internal.h"

#include <cblas.h>
#include <string.h>

static void fill(double *out, size_t n, double value)
{
    for (size_t i = 0; i < n; i++) out[i] = value;
}

/* --- t --------------------------------------------------------------------------------------- */

/* out [ni x nj] = alpha F_a F_b^T. */
static void products(const cri_job *job, size_t node, cri_tile tile, double alpha, double *out)
{
    int width = (int)job->a.node[node].width;
    if (width == 0) {
        fill(out, tile.ni * tile.nj, 0);
        return;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)tile.ni, (int)tile.nj, width, alpha,
                cri_feature_row(&job->a, node, tile.i0), width,
                cri_feature_row(&job->b, node, tile.j0), width, 0, out, (int)tile.nj);
}

static double direct_distance(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t f = 0; f < n; f++) sum += (x[f] - y[f]) * (x[f] - y[f]);
    return sum;
}

/* |x|^2 + |y|^2 - 2 x.y; where that cancels to less than a thousandth, the differences
 * themselves. */
static void distances(const cri_job *job, size_t node, cri_tile tile, double *out)
{
    const cri_prepared *a = &job->a.node[node], *b = &job->b.node[node];
    if (b->columns) {
        for (size_t i = 0; i < tile.ni; i++)
            cri_distances(cri_feature_row(&job->a, node, tile.i0 + i), b->columns + tile.j0,
                          job->b.in->rows, b->width, tile.nj, out + i * tile.nj);
        return;
    }
    products(job, node, tile, -2, out);
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            double sum = a->norm[tile.i0 + i] + b->norm[tile.j0 + j], *t = out + i * tile.nj + j;
            *t += sum;
            if (*t < 1e-3 * sum)
                *t = direct_distance(cri_feature_row(&job->a, node, tile.i0 + i),
                                     cri_feature_row(&job->b, node, tile.j0 + j), a->width);
        }
}

static void own_products(const cri_job *job, size_t node, cri_tile tile, double *out)
{
    size_t width = job->a.node[node].width;
    for (size_t i = 0; i < tile.ni; i++) {
        const double *x = cri_feature_row(&job->a, node, tile.i0 + i);
        out[i] = cri_dot_array(x, x, width);
    }
}

/* --- values ---------------------------------------------------------------------------------- */

/* 1 where a row meets itself. */
static void identity(const cri_job *job, cri_tile tile, double value, double *out)
{
    fill(out, tile.ni * tile.nj, tile.diagonal && job->white ? value : 0);
    if (tile.diagonal || !job->same) return;
    for (size_t i = 0; i < tile.ni; i++)
        if (tile.i0 + i >= tile.j0 && tile.i0 + i < tile.j0 + tile.nj)
            out[i * tile.nj + tile.i0 + i - tile.j0] = value;
}

static void hook_pairs(const cri_job *job, const cr_kernel_hook *hook, cri_tile tile, double *out)
{
    const cr_kernel_input *b = tile.diagonal ? job->a.in : job->b.in;
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++)
            out[i * tile.nj + j] = hook->value(hook->user, job->a.in, tile.i0 + i, b,
                                               tile.diagonal ? tile.i0 + i : tile.j0 + j);
}

void cri_leaf_forward(const cri_job *job, size_t at, cri_tile tile, double *t, double *out)
{
    const cri_node *node = &job->k->nodes[at];
    size_t          n = tile.ni * tile.nj;
    switch (cri_family_of(job->k, node)) {
    case CRI_CONSTANT:
        fill(out, n, cri_value(job->k, node, 0, 0));
        break;
    case CRI_WHITE:
        identity(job, tile, cri_value(job->k, node, 0, 0), out);
        break;
    case CRI_DISTANCE:
        if (tile.diagonal) {
            fill(t, n, 0);
            fill(out, n, 1);
        } else {
            distances(job, at, tile, t);
            node->class->link(job->k, node, t, n, out);
        }
        break;
    case CRI_DOT:
        if (tile.diagonal)
            own_products(job, at, tile, t);
        else
            products(job, at, tile, 1, t);
        if (node->class)
            node->class->link(job->k, node, t, n, out);
        else if (out != t)
            memcpy(out, t, n * sizeof *out);
        break;
    case CRI_PAIRS:
        if (node->class)
            node->class->pairs(job, at, tile, out);
        else
            hook_pairs(job, &job->k->hooks[node->hook], tile, out);
        break;
    }
}

/* --- one derivative -------------------------------------------------------------------------- */

/* dt/dp of element e of parameter s: a length-scale, or in the map. */
static double t_partial(const cri_job *job, size_t at, size_t s, size_t e, size_t i, size_t j,
                        const cri_side *b)
{
    const cri_node *node = &job->k->nodes[at];
    size_t          width = job->a.node[at].width, param = node->param[s] + e;
    const double   *x = cri_feature_row(&job->a, at, i), *y = cri_feature_row(b, at, j);
    double          sum = 0;
    if (node->class->specs[s].role == CRI_LENGTH) {
        size_t per = width / cri_active(node, job->a.in);
        for (size_t f = 0; f < width; f++)
            if (node->n_values[s] == 1 || f / per == e) sum += (x[f] - y[f]) * (x[f] - y[f]);
        return -2 / job->k->params[param].value * sum;
    }
    const double *T = job->a.node[at].tangent[param] + i * width,
                 *U = b->node[at].tangent[param] + j * width;
    for (size_t f = 0; f < width; f++)
        sum += node->class->family == CRI_DISTANCE ? 2 * (x[f] - y[f]) * (T[f] - U[f])
                                                   : T[f] * y[f] + x[f] * U[f];
    return sum;
}

void cri_leaf_partial(const cri_job *job, size_t at, size_t s, size_t e, cri_tile tile,
                      const double *t, const double *value, double *out)
{
    const cri_node *node = &job->k->nodes[at];
    size_t          n = tile.ni * tile.nj;
    cri_family      family = node->class->family;
    if (family == CRI_CONSTANT) {
        fill(out, n, 1);
    } else if (family == CRI_WHITE) {
        identity(job, tile, 1, out);
    } else if (family == CRI_PAIRS) {
        node->class->pairs_partial(job, at, s, e, tile, value, out);
    } else if (family == CRI_DISTANCE && tile.diagonal) {
        fill(out, n, 0);
    } else if (node->class->specs[s].role == CRI_LINK) {
        node->class->partial(job->k, node, s, t, value, n, out);
    } else {
        node->class->slope(job->k, node, t, value, n, out);
        for (size_t i = 0; i < tile.ni; i++)
            for (size_t j = 0; j < tile.nj; j++)
                out[i * tile.nj + j] *=
                    t_partial(job, at, s, e, tile.i0 + i, tile.diagonal ? tile.i0 + i : tile.j0 + j,
                              tile.diagonal ? &job->a : &job->b);
    }
}

/* --- contractions ---------------------------------------------------------------------------- */

/* What the contractions of one tile share. */
typedef struct contraction {
    const cri_job *job;
    size_t         at, width;
    cri_tile       tile;
    const double  *G, *Fa, *Fb; /* features of the first row and of the first column */
    double        *P, *Q, r[CRI_TILE], c[CRI_TILE];
} contraction;

static void add_sums(contraction *x)
{
    memset(x->r, 0, sizeof x->r);
    memset(x->c, 0, sizeof x->c);
    for (size_t i = 0; i < x->tile.ni; i++) {
        const double *G = x->G + i * x->tile.nj;
        x->r[i] = cri_sum(G, x->tile.nj);
        for (size_t j = 0; j < x->tile.nj; j++) x->c[j] += G[j];
    }
}

static void multiply_columns(contraction *x) /* P = G F_b */
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)x->tile.ni, (int)x->width,
                (int)x->tile.nj, 1, x->G, (int)x->tile.nj, x->Fb, (int)x->width, 0, x->P,
                (int)x->width);
}

static void multiply_rows(contraction *x) /* Q = G^T F_a */
{
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)x->tile.nj, (int)x->width,
                (int)x->tile.ni, 1, x->G, (int)x->tile.nj, x->Fa, (int)x->width, 0, x->Q,
                (int)x->width);
}

/* d/dl of all length-scales.  Where the products cancel, that is, where the features are large
 * against the distances that count, rounding grows by |F|^2; they are centred. */
static void contract_lengths(const contraction *x, size_t s, double *natural)
{
    const cri_node *node = &x->job->k->nodes[x->at];
    size_t          per = x->width / cri_active(node, x->job->a.in);
    for (size_t f = 0; f < x->width; f++) {
        double sum = 0;
        for (size_t i = 0; i < x->tile.ni; i++) {
            double F = x->Fa[i * x->width + f];
            sum += F * (x->r[i] * F - 2 * x->P[i * x->width + f]);
        }
        for (size_t j = 0; j < x->tile.nj; j++) {
            double F = x->Fb[j * x->width + f];
            sum += x->c[j] * F * F;
        }
        size_t param = node->param[s] + f / per;
        natural[param] += -2 / x->job->k->params[param].value * sum;
    }
}

static double contract_tangent(const contraction *x, size_t param)
{
    const double *T = x->job->a.node[x->at].tangent[param] + x->tile.i0 * x->width;
    const double *U = x->job->b.node[x->at].tangent[param] + x->tile.j0 * x->width;
    bool          distance = x->job->k->nodes[x->at].class->family == CRI_DISTANCE;
    size_t        na = x->tile.ni * x->width, nb = x->tile.nj * x->width;
    double        sum = 0;
    if (!distance) return cri_dot_array(T, x->P, na) + cri_dot_array(U, x->Q, nb);
    for (size_t i = 0; i < na; i++) sum += T[i] * (x->r[i / x->width] * x->Fa[i] - x->P[i]);
    for (size_t j = 0; j < nb; j++) sum += U[j] * (x->c[j / x->width] * x->Fb[j] - x->Q[j]);
    return 2 * sum;
}

static void contract_features(const contraction *x, double *FA)
{
    const cri_node *node = &x->job->k->nodes[x->at];
    double         *out = FA + x->tile.j0 * x->width;
    bool            distance = cri_family_of(x->job->k, node) == CRI_DISTANCE;
    for (size_t j = 0; j < x->tile.nj; j++)
        for (size_t f = 0; f < x->width; f++) {
            size_t at = j * x->width + f;
            out[at] += distance ? 2 * (x->c[j] * x->Fb[at] - x->Q[at]) : x->Q[at];
        }
}

/* The diagonal of a product: d(F_i . F_i). */
static void contract_diagonal(const contraction *x, cri_gradient *g)
{
    const cri_node *node = &x->job->k->nodes[x->at];
    double *const  *tangent = x->job->a.node[x->at].tangent;
    size_t          first = x->tile.i0 * x->width;
    for (size_t p = 0; g->natural && node->class && p < x->job->k->n_params; p++)
        for (size_t i = 0; tangent[p] && i < x->tile.ni * x->width; i++)
            g->natural[p] += 2 * x->G[i / x->width] * x->Fa[i] * tangent[p][first + i];
    if (g->features_b && g->features_b[x->at])
        for (size_t i = 0; i < x->tile.ni * x->width; i++)
            g->features_b[x->at][first + i] += 2 * x->G[i / x->width] * x->Fa[i];
}

/* Parameters of the link, one by one. */
static void contract_links(const cri_job *job, size_t at, cri_tile tile, const double *adjoint,
                           cri_workspace *workspace, double *natural)
{
    const cri_node *node = &job->k->nodes[at];
    for (size_t s = 0; node->class->specs[s].shown.name; s++)
        for (size_t e = 0; node->class->specs[s].role == CRI_LINK && e < node->n_values[s]; e++) {
            if (job->k->params[node->param[s] + e].fixed) continue;
            cri_leaf_partial(job, at, s, e, tile, workspace->t[at], workspace->value[at],
                             workspace->work[0]);
            natural[node->param[s] + e] +=
                cri_dot_array(adjoint, workspace->work[0], tile.ni * tile.nj);
        }
}

static void contract_map(const cri_job *job, size_t at, cri_tile tile, const double *adjoint,
                         cri_workspace *workspace, cri_gradient *g)
{
    const cri_node *node = &job->k->nodes[at];
    size_t          n = tile.ni * tile.nj, width = job->a.node[at].width;
    size_t          lengths = node->class ? cri_spec_of_role(node->class, CRI_LENGTH) : SIZE_MAX;
    double **tangent = job->a.node[at].tangent, *FA = g->features_b ? g->features_b[at] : NULL;
    bool     ard = g->natural && lengths != SIZE_MAX && node->n_values[lengths] > 1, maps = false;
    for (size_t p = 0; g->natural && tangent && p < job->k->n_params; p++)
        maps = maps || tangent[p];
    if (node->class)
        node->class->slope(job->k, node, workspace->t[at], workspace->value[at], n,
                           workspace->work[0]);
    else
        fill(workspace->work[0], n, 1);
    cri_multiply_array(adjoint, workspace->work[0], n, workspace->work[0]);

    contraction x = { .job = job, .at = at, .width = width, .tile = tile, .G = workspace->work[0] };
    x.Fa = cri_feature_row(&job->a, at, tile.i0), x.Fb = cri_feature_row(&job->b, at, tile.j0);
    x.P = workspace->products, x.Q = x.P + CRI_TILE * width;
    if (tile.diagonal) {
        contract_diagonal(&x, g);
        return;
    }
    if (g->natural && lengths != SIZE_MAX && !ard) {
        size_t param = node->param[lengths];
        g->natural[param] +=
            -2 / job->k->params[param].value * cri_dot_array(x.G, workspace->t[at], n);
    }
    if (width == 0 || (!ard && !maps && !FA)) return;
    add_sums(&x);
    if (ard || maps) multiply_columns(&x);
    if (maps || FA) multiply_rows(&x);
    if (ard) contract_lengths(&x, lengths, g->natural);
    for (size_t p = 0; maps && p < job->k->n_params; p++)
        if (tangent[p]) g->natural[p] += contract_tangent(&x, p);
    if (FA) contract_features(&x, FA);
}

void cri_leaf_backward(const cri_job *job, size_t at, cri_tile tile, const double *adjoint,
                       cri_workspace *workspace, cri_gradient *g)
{
    const cri_node *node = &job->k->nodes[at];
    cri_family      family = cri_family_of(job->k, node);
    size_t          n = tile.ni * tile.nj;
    if (family == CRI_DISTANCE && tile.diagonal) return;
    if (node->class && g->natural) contract_links(job, at, tile, adjoint, workspace, g->natural);
    if (family == CRI_DISTANCE || family == CRI_DOT)
        contract_map(job, at, tile, adjoint, workspace, g);
    if (family != CRI_PAIRS || !node->class || !node->class->pairs_dx || !g->features_b ||
        !g->features_b[at])
        return;
    for (size_t i = 0; i < n; i++)
        workspace->work[0][i] = tile.diagonal ? 2 * adjoint[i] : adjoint[i];
    node->class->pairs_dx(job, at, tile, workspace->value[at], workspace->work[0],
                          g->features_b[at]);
}
