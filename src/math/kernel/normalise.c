/* normalise.c -- a kernel divided by the roots of its own diagonal, so that k(x, x) = 1.
 *   v(x, y) = b(x, y) / sqrt(b(x, x) b(y, y)),   0 where b(x, x) or b(y, y) is 0
 *   dv = db(x, y) / sqrt(b(x, x) b(y, y)) - v / 2 (db(x, x) / b(x, x) + db(y, y) / b(y, y))
 * The diagonals of both sides are made ready with the job; a pair of one row with itself is
 * constant. */
#include "kernel_internal.h"

#include <math.h>

static bool with_itself(const cri_job *job, cri_tile tile, size_t i, size_t j)
{
    return tile.diagonal || (job->same && tile.i0 + i == tile.j0 + j);
}

/* 1 / sqrt(a b) without overflow; 0 where one of them is 0. */
static double inverse_root(double a, double b)
{
    return a > 0 && b > 0 ? 1 / (sqrt(a) * sqrt(b)) : 0;
}

void cri_normalise_forward(const cri_job *job, size_t at, cri_tile tile, cri_workspace *workspace)
{
    const double *base = workspace->value[job->k->nodes[at].first], *a = job->a.node[at].diagonal;
    const double *b = job->b.node[at].diagonal;
    double       *out = workspace->value[at];
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            size_t e = i * tile.nj + j;
            if (with_itself(job, tile, i, j))
                out[e] = base[e] > 0; /* its own diagonal */
            else
                out[e] = base[e] * inverse_root(a[tile.i0 + i], b[tile.j0 + j]);
        }
}

void cri_normalise_backward(const cri_job *job, size_t at, cri_tile tile, const double *adjoint,
                            cri_workspace *workspace, cri_gradient *g)
{
    const double *a = job->a.node[at].diagonal, *b = job->b.node[at].diagonal,
                 *v = workspace->value[at];
    double *out = workspace->adjoint[job->k->nodes[at].first];
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            size_t e = i * tile.nj + j, row = tile.i0 + i, col = tile.j0 + j;
            double root = with_itself(job, tile, i, j) ? 0 : inverse_root(a[row], b[col]);
            out[e] = adjoint[e] * root;
            if (root == 0) continue;
            if (g->diagonal_a) g->diagonal_a[at][row] -= adjoint[e] * v[e] / (2 * a[row]);
            if (g->diagonal_b) g->diagonal_b[at][col] -= adjoint[e] * v[e] / (2 * b[col]);
        }
}

void cri_normalise_tangent(const cri_job *job, size_t at, const cri_tangents *tangents,
                           cri_tile tile, cri_workspace *workspace)
{
    const double *base = workspace->adjoint[job->k->nodes[at].first], *a = job->a.node[at].diagonal;
    const double *b = job->b.node[at].diagonal, *v = workspace->value[at];
    double       *out = workspace->adjoint[at];
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            size_t e = i * tile.nj + j, row = tile.i0 + i, col = tile.j0 + j;
            double root = with_itself(job, tile, i, j) ? 0 : inverse_root(a[row], b[col]);
            out[e] = root == 0 ? 0
                               : base[e] * root - v[e] / 2 *
                                                      (tangents->a[at][row] / a[row] +
                                                       tangents->b[at][col] / b[col]);
        }
}

static const cri_spec no_specs[] = { CRI_LAST_SPEC };

const cr_kernel_class cri_kernel_normalise = {
    .name = "normalise",
    .aliases = "normalize",
    .summary = "any kernel divided by its own scale, so that k(x, x) = 1",
    .formula = "k(x, y) = b(x, y) / sqrt(b(x, x) b(y, y)),  0 where b(x, x) or b(y, y) is 0\n"
               "b: any expression without white",
    .reference = "Shawe-Taylor & Cristianini (2004), Kernel Methods for Pattern Analysis, sec. 5.1",
    .example = "normalise(poly(degree=3, c=1))",
    .specs = no_specs,
    .family = CRI_CONSTANT,
    .kind = CRI_NONE,
    .wraps = true,
};
