/* product.c -- the probability product kernel of rows that are normal distributions themselves:
 * columns m1, s1, m2, s2, ... are mean and sd of independent coordinates.  With v = s^2 + s'^2,
 *   k(x, y) = prod_c integral N(u; m_c, s_c^2)^rho N(u; m'_c, s'_c^2)^rho du
 *           = prod_c (2 pi)^(1/2 - rho) rho^(-1/2) (s s' / sqrt v) (s s')^-rho exp(-rho (m - m')^2 / (2 v)).
 * Jebara, Kondor & Howard (2004), Probability product kernels, JMLR 5, sec. 3.1.  rho = 1/2 gives
 * the Bhattacharyya affinity, with k(x, x) = 1; rho = 1 the expected likelihood. */
#include "kernel_internal.h"
#include "math/constants.h"

#include <math.h>

enum { RHO = 0 };

static double log_product(const double *x, const double *y, size_t n, double rho)
{
    double sum = 0;
    for (size_t c = 0; c + 1 < n; c += 2) {
        double d = x[c] - y[c], root = hypot(x[c + 1], y[c + 1]), z = d / root;
        sum += (0.5 - rho) * CRI_LOG_2PI - 0.5 * log(rho) +
               (1 - rho) * (log(x[c + 1]) + log(y[c + 1])) - log(root) - 0.5 * rho * z * z;
    }
    return sum;
}

static void product_pairs(const cri_job *job, size_t node, cri_tile tile, double *out)
{
    size_t n = job->a.node[node].width;
    double rho = job->k->nodes[node].setting[RHO];
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            const double *x = cri_feature_row(&job->a, node, tile.i0 + i);
            const double *y = tile.diagonal ? x : cri_feature_row(&job->b, node, tile.j0 + j);
            out[i * tile.nj + j] = log_product(x, y, n, rho);
        }
    cri_exp_array(out, tile.ni * tile.nj);
}

/* d k / dy = k d log k / dy; of the diagonal both rows are y, which the caller counts by
 * doubling. */
static void product_dx(const cri_job *job, size_t node, cri_tile tile, const double *v,
                       const double *adjoint, double *FA)
{
    size_t n = job->a.node[node].width;
    double rho = job->k->nodes[node].setting[RHO];
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            size_t        at = i * tile.nj + j, row = tile.diagonal ? tile.i0 + i : tile.j0 + j;
            const double *x = cri_feature_row(&job->a, node, tile.i0 + i);
            const double *y = tile.diagonal ? x : cri_feature_row(&job->b, node, row);
            double       *d = FA + row * n, weight = adjoint[at] * v[at];
            for (size_t c = 0; c + 1 < n; c += 2) {
                double delta = x[c] - y[c], s = y[c + 1], var = x[c + 1] * x[c + 1] + s * s;
                d[c] += weight * rho * delta / var;
                d[c + 1] +=
                    weight * ((1 - rho) / s - s / var + rho * s * (delta / var) * (delta / var));
            }
        }
}

static const cri_spec product_specs[] = {
    CRI_GIVEN("rho", NULL, "0.5", "0.001..100", "power of the densities, usually 0.5 or 1", 0.5,
              0.001, 100, true),
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_product = {
    .name = "product",
    .aliases = "ppk",
    .summary =
        "probability product kernel of normal distributions: alternating columns of mean and sd",
    .formula = "k(x, y) = integral p_x(u)^rho p_y(u)^rho du,   p_x = prod_c N(u_c; m_c, s_c^2)\n"
               "x = m1, s1, m2, s2, ...;  s > 0",
    .reference = "Jebara, Kondor & Howard (2004), Probability product kernels, JMLR 5",
    .example = "product(x1, s1; rho=0.5)",
    .specs = product_specs,
    .family = CRI_PAIRS,
    .kind = CR_KERNEL_NUMBER,
    .pairs = product_pairs,
    .pairs_dx = product_dx,
};
