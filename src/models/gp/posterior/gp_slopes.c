/* gp_slopes.c -- the gradient of the predictive mean by the columns of numbers.
 *   dm/dx = (dh/dx) . b + sum_a alpha_a dk(x_a, x)/dx
 * Rasmussen & Williams (2006), sec. 9.4. */
#include "gp_method.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

cr_status cri_gp_kernel_slopes(cr_ctx *cx, const cri_gp_posterior *m, const cri_gp_block *b,
                               double *W, double *out)
{
    cr_kernel_input at = cri_gp_inputs(&m->at);
    size_t          n = m->at.n, count = b->count;
    for (size_t a = 0; a < n; a++)
        for (size_t i = 0; i < count; i++) W[a * count + i] = m->alpha[a];
    return cr_kernel_cross_gradient(cx, m->kernel, &at, &b->in, cr_cmat_of(W, n, count), NULL,
                                    cr_mat_of(out, count, m->at.d));
}

/* out [count x d] += (dh/dx) . b. */
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

cr_status cri_gp_process_slopes(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                                double *out)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       d = m->at.d, most = rows->n < BLOCK ? rows->n : BLOCK;
    cri_gp_block b;

    CR_TRY(cri_gp_block_new(&s, m, rows->p, most, true, &b));
    for (size_t k = 0; k < cri_block_count(rows->n, BLOCK); k++) {
        cri_range r = cri_block_range(rows->n, BLOCK, k);
        double   *to = out + r.begin * d;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_gp_block_read(cx, m, rows, NULL, r.begin, r.end, &b));
        memset(to, 0, b.count * d * sizeof *to);
        CR_TRY(cri_gp_method_of(m)->slopes(cx, m, &b, b.C, to));
        add_mean(m, b.X, b.count, to);
    }
done:
    cr_scratch_end(&s);
    return st;
}
