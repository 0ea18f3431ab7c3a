/* gp_slopes.c -- the gradient of the predictive mean by the columns of numbers.
 *   dm/dx = (dh/dx) . b + sum_a alpha_a dk(x_a, x)/dx
 * Rasmussen & Williams (2006), sec. 9.4. */
#include "gp_mcmc.h"
#include "models/kernel/inputs/gp_mean.h"
#include "gp_posterior.h"
#include "models/gp/sparse/gp_spectrum.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

/* Random features: sum_f alpha_f weight_f d cos(W_f . x - phase_f) / dx. */
static cr_status add_waves(cr_ctx *cx, const cri_gp_posterior *m, const double *X, size_t count,
                           double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = m->at.n, d = m->at.d;
    double    *F = cr_scratch_matrix(&s, n, count), *angle = cr_scratch_matrix(&s, n, count);

    CR_TRY(s.status);
    CR_TRY(cri_gp_waves(cx, m->at.X, m->at.y, m->at.r, n, X, count, d, F, angle));
    for (size_t f = 0; f < n; f++)
        for (size_t i = 0; i < count; i++) {
            double by_angle = -m->alpha[f] * m->at.y[f] * sin(angle[f * count + i]);
            for (size_t j = 0; j < d; j++) out[i * d + j] += by_angle * m->at.X[f * d + j];
        }
done:
    cr_scratch_end(&s);
    return st;
}

/* k(at, x) by x, each of `at` by its weight; workspace [n x count]. */
static cr_status add_kernel(cr_ctx *cx, const cri_gp_posterior *m, const cr_kernel_input *in,
                            double *W, double *out)
{
    cr_kernel_input at = cri_gp_inputs(&m->at);
    size_t          n = m->at.n, count = in->rows;
    for (size_t a = 0; a < n; a++)
        for (size_t i = 0; i < count; i++) W[a * count + i] = m->alpha[a];
    return cr_kernel_cross_gradient(cx, m->kernel, &at, in, cr_cmat_of(W, n, count), NULL,
                                    cr_mat_of(out, count, m->at.d));
}

static void add_mean(const cri_gp_posterior *m, const double *X, size_t count, double *out)
{
    size_t d = m->at.d;
    for (size_t t = 0; t < m->q; t++) {
        double power = m->mean.power[t];
        size_t j = (size_t)m->mean.column[t];
        for (size_t i = 0; power > 0 && i < count; i++) {
            double z = (X[i * d + j] - m->mean.centre[j]) / m->mean.scale[j];
            out[i * d + j] += m->beta[t] * power * pow(z, power - 1) / m->mean.scale[j];
        }
    }
}

cr_status cri_gp_slopes(cr_ctx *cx, const void *state, const cri_rows *rows, double *out)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    const cri_gp_posterior *m = state;
    size_t                  d = m->at.d, most = rows->n < BLOCK ? rows->n : BLOCK;
    double   *workspace = cr_scratch_matrix(&s, most, rows->p), *X = cr_scratch_matrix(&s, most, d);
    double   *W = cr_scratch_matrix(&s, m->approx == CRI_GP_RFF ? 0 : m->at.n, most);
    uint32_t *codes = cr_scratch_bytes(&s, most * m->at.c, sizeof *codes);

    if (m->n_draws) {
        st = cri_gp_mcmc_slopes(cx, m, rows, out);
        goto done;
    }
    CR_TRY(s.status);
    for (size_t k = 0; k < cri_block_count(rows->n, BLOCK); k++) {
        cri_range r = cri_block_range(rows->n, BLOCK, k);
        size_t    count = r.end - r.begin;
        double   *to = out + r.begin * d;
        CR_TRY(cr_check_interrupt(cx));
        cri_gp_split(rows, r.begin, r.end, workspace, X, codes);
        cr_kernel_input in = { .rows = count,
                               .numbers = cr_cmat_of(X, count, d),
                               .codes = codes,
                               .categories = m->at.c,
                               .names = cri_gp_names(rows) };
        CR_TRY(cri_gp_check_inputs(cx, m->kernel, rows, r.begin, &in));
        memset(to, 0, count * d * sizeof *to);
        CR_TRY(m->approx == CRI_GP_RFF ? add_waves(cx, m, X, count, to)
                                       : add_kernel(cx, m, &in, W, to));
        add_mean(m, X, count, to);
    }
done:
    cr_scratch_end(&s);
    return st;
}
