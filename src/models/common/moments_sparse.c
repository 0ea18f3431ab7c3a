/* moments_sparse.c -- sufficient statistics of Gaussian linear models from sparse rows.
 *   S_jk = sum w x_j x_k - weight mean_j mean_k,   S_jy = sum w x_j (y - mean_y)
 * A column that is 0 in a share s of the rows has mean^2 <= (1 - s) E x^2, so sums about 0 lose no
 * digits to speak of; only a column that is nearly full can be far from 0, and is seen here. */
#include "moments.h"
#include "base/scratch.h"

/* The target about its mean, times the weight: d [n]; its moments into m. */
static void measure_target(const cri_rows *rows, cri_moments *m, double *d)
{
    size_t p = m->p, q = p + 1;
    double mean = 0;
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1;
        m->weight += w;
        m->rows += w > 0;
    }
    for (int pass = 0; pass < 2 && m->weight > 0; pass++) {
        double sum = 0;
        for (size_t i = 0; i < rows->n; i++)
            sum += (rows->w ? rows->w[i] : 1) * (cri_target_of(rows, i) - mean);
        mean += sum / m->weight;
    }
    m->mean[p] = mean;
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1, e = cri_target_of(rows, i) - mean;
        d[i] = w * e;
        m->S[p * q + p] += w * e * e;
    }
}

/* S from the sums about 0, C [p x p], and those with the target, c [p]. */
static void centre(const double *C, const double *c, cri_moments *m)
{
    size_t p = m->p, q = p + 1;
    for (size_t j = 0; j < p; j++) {
        for (size_t k = 0; k < p; k++)
            m->S[j * q + k] = C[j * p + k] - m->weight * m->mean[j] * m->mean[k];
        m->S[j * q + p] = m->S[p * q + j] = c[j];
    }
}

cr_status cri_moments_of_sparse(cr_ctx *cx, const cri_rows *rows, cri_moments *out, bool *out_good)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      p = rows->p;
    double     *C = cr_scratch_matrix(&s, p, p), *d = cr_scratch_f64(&s, rows->n);
    double     *variance = cr_scratch_f64(&s, p);
    cri_moments m = { 0 };
    bool        good = true;

    CR_TRY(s.status);
    CR_TRY(cri_moments_new(cx, p, &m));
    measure_target(rows, &m, d);
    CR_TRY(cri_sparse_moments(cx, rows->sparse, rows->w, m.mean, variance));
    for (size_t j = 0; j < p; j++) good = good && m.mean[j] * m.mean[j] <= 50 * variance[j];
    if (good) {
        CR_TRY(cri_sparse_gram(cx, rows->sparse, rows->w, C));
        CR_TRY(cri_sparse_transpose_times(cx, rows->sparse, d, variance));
        centre(C, variance, &m);
        *out = m;
        m = (cri_moments){ 0 };
    }
    *out_good = good;
done:
    cri_moments_free(cx, &m);
    cr_scratch_end(&s);
    return st;
}
