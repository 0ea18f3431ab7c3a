/* classify_grid.c -- softmax over a normal, by the trapezoidal rule. */
#include "classify_grid.h"
#include "../logistic/softmax_normal.h"
#include "../../math/special.h"

#include <math.h>
#include <string.h>

static const double STEP[2] = { 0.25, 0.5 }, RADIUS[2] = { 6, 5.2 }; /* of 2 and of 3 dimensions */

/* Visits the grid: counts its points and, where there is room, writes them. */
static size_t visit(size_t D, double *opt_z, double *opt_weight)
{
    double h = STEP[D - 2], r = RADIUS[D - 2];
    long   most = (long)(r / h);
    size_t n = 0;
    for (long a = -most; a <= most; a++)
        for (long b = -most; b <= most; b++)
            for (long c = D > 2 ? -most : 0; c <= (D > 2 ? most : 0); c++) {
                double z[3] = { (double)a * h, (double)b * h, (double)c * h };
                double square = z[0] * z[0] + z[1] * z[1] + z[2] * z[2];
                if (square > r * r) continue;
                if (opt_z) memcpy(opt_z + n * D, z, D * sizeof *z);
                if (opt_weight) opt_weight[n] = exp(-0.5 * square);
                n++;
            }
    return n;
}

cr_status cri_classify_grid_new(cr_scratch *s, size_t F, cri_classify_grid *out)
{
    size_t            D = F - 1, n = visit(D, NULL, NULL);
    cri_classify_grid g = {
        .F = F, .count = n, .z = cr_scratch_matrix(s, n, D), .weight = cr_scratch_f64(s, n)
    };
    double sum = 0;
    if (s->status != CR_OK) return s->status;
    visit(D, g.z, g.weight);
    for (size_t i = 0; i < n; i++) sum += g.weight[i];
    for (size_t i = 0; i < n; i++) g.weight[i] /= sum;
    *out = g;
    return CR_OK;
}

void cri_classify_grid_mean(const cri_classify_grid *g, const double *mean, const double *cov,
                            double *out)
{
    enum { MOST = CRI_GRID_FUNCTIONS };
    size_t F = g->F, D = F - 1;
    double L[(MOST - 1) * (MOST - 1)], f[MOST], last = cov[D * F + D];
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++)
            L[i * D + j] = cov[i * F + j] - cov[i * F + D] - cov[D * F + j] + last;
    cri_factor_small(L, D);
    memset(out, 0, F * sizeof *out);
    for (size_t n = 0; n < g->count; n++) {
        const double *z = g->z + n * D;
        f[D] = 0;
        for (size_t i = 0; i < D; i++) {
            f[i] = mean[i] - mean[D];
            for (size_t j = 0; j <= i; j++) f[i] += L[i * D + j] * z[j];
        }
        cr_softmax(f, F, f);
        for (size_t k = 0; k < F; k++) out[k] += g->weight[n] * f[k];
    }
}
