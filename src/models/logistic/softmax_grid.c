/* softmax_grid.c -- softmax over a normal, by the trapezoidal rule. */
#include "softmax_grid.h"
#include "softmax_normal.h"
#include "../../math/special.h"

#include <math.h>
#include <string.h>

enum { MOST = CRI_GRID_SCORES, MOST_POINTS = 128 }; /* of one axis, on one side of 0 */

static const double WIDEST[2] = { 0.25, 0.5 }, NARROWEST[2] = { 0.05, 0.25 }; /* steps, of 2 and of 3 dimensions */
static const double RADIUS[2] = { 6, 5.2 };

/* The largest sd of a difference of two scores; C [D x D] of the differences from the last. */
static double widest_difference(const double *C, size_t D)
{
    double most = 0;
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j <= i; j++) {
            double other = i == j ? 0 : C[j * D + j] - 2 * C[i * D + j];
            most = fmax(most, C[i * D + i] + other);
        }
    return sqrt(most);
}

typedef struct grid {
    size_t        F;
    long          most; /* points of an axis are -most .. most */
    double        step, radius;
    double        weight[MOST_POINTS]; /* exp(-z^2 / 2) of the points from 0 on */
    double        mean[MOST - 1], L[(MOST - 1) * (MOST - 1)];
    double       *out; /* [F] */
    double        sum;
} grid;

/* Adds the points whose first `axis` coordinates are z; k is their weight, square their squared length. */
static void add_points(grid *g, size_t axis, double *z, double k, double square)
{
    size_t D = g->F - 1;
    double f[MOST] = { 0 };
    if (axis == D) {
        for (size_t i = 0; i < D; i++) {
            f[i] = g->mean[i];
            for (size_t j = 0; j <= i; j++) f[i] += g->L[i * D + j] * z[j];
        }
        cr_softmax(f, g->F, f);
        for (size_t i = 0; i < g->F; i++) g->out[i] += k * f[i];
        g->sum += k;
        return;
    }
    for (long a = -g->most; a <= g->most; a++) {
        z[axis] = (double)a * g->step;
        double longer = square + z[axis] * z[axis];
        if (longer <= g->radius * g->radius)
            add_points(g, axis + 1, z, k * g->weight[a < 0 ? -a : a], longer);
    }
}

void cri_softmax_grid(size_t F, const double *mean, const double *cov, double *out)
{
    size_t D = F - 1;
    double z[MOST], last = cov[D * F + D];
    grid   g = { .F = F, .radius = RADIUS[D - 2], .out = out };

    for (size_t i = 0; i < D; i++) {
        g.mean[i] = mean[i] - mean[D];
        for (size_t j = 0; j < D; j++)
            g.L[i * D + j] = cov[i * F + j] - cov[i * F + D] - cov[D * F + j] + last;
    }
    g.step = fmin(WIDEST[D - 2], fmax(NARROWEST[D - 2], 1.4 / widest_difference(g.L, D)));
    g.most = (long)(g.radius / g.step);
    for (long a = 0; a <= g.most; a++)
        g.weight[a] = exp(-0.5 * ((double)a * g.step) * ((double)a * g.step));
    cri_factor_small(g.L, D);
    memset(out, 0, F * sizeof *out);
    add_points(&g, 0, z, 1, 0);
    for (size_t i = 0; i < F; i++) out[i] /= g.sum;
}
