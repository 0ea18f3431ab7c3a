/* canonical.c -- the canonical form: objects, density, entropy, divergence, draws. */
#include "gaussian_internal.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <string.h>

/* --- objects --------------------------------------------------------------------------------- */

cr_status cr_canonical_new(cr_ctx *cx, const double *h, cr_cmat precision, cr_canonical **out)
{
    cr_status     st = CR_OK;
    size_t        d = precision.rows;
    cr_canonical *c = NULL;
    CR_TRY(cri_canonical_alloc(cx, d, &c));
    CR_TRY(cri_check_finite(cx, "vector h", h, d));
    CR_TRY(cri_copy_symmetric(cx, "precision", precision, d, c->precision));
    if (d > 0) memcpy(c->h, h, d * sizeof *h);
    *out = c;
    c = NULL;
done:
    cr_canonical_free(cx, c);
    return st;
}

static cr_status factor(cr_ctx *cx, const cr_canonical *c, double *R)
{
    return cri_gaussian_factor(cx, "precision", c->precision, c->d, NULL, R);
}

cr_status cr_canonical_is_proper(cr_ctx *cx, const cr_canonical *c, bool *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *R = cr_scratch_matrix(&s, c->d, c->d);
    CR_TRY(s.status);
    st = factor(cx, c, R);
    if (st == CR_OK || st == CR_ENUMERIC) *out = st == CR_OK, st = CR_OK;
done:
    cr_scratch_end(&s);
    return st;
}

/* R = the factor of the precision, mean [d] = K^-1 h. */
static cr_status solve_mean(cr_ctx *cx, const cr_canonical *c, double *R, double *mean)
{
    cr_status st = factor(cx, c, R);
    if (st != CR_OK || c->d == 0) return st;
    memcpy(mean, c->h, c->d * sizeof *mean);
    return cr_chol_solve(cx, cri_square(R, c->d), cr_mat_of(mean, c->d, 1));
}

cr_status cr_canonical_to_gaussian(cr_ctx *cx, const cr_canonical *c, cr_gaussian **out)
{
    cr_status    st = CR_OK;
    size_t       d = c->d;
    cr_scratch   s = cr_scratch_begin(cx);
    double      *R = cr_scratch_matrix(&s, d, d);
    cr_gaussian *g = NULL;
    CR_TRY(s.status);
    CR_TRY(cri_gaussian_alloc(cx, d, &g));
    CR_TRY(solve_mean(cx, c, R, g->mean));
    CR_TRY(cr_chol_inverse(cx, cri_square(R, d), cr_mat_of(g->covariance, d, d)));
    *out = g;
    g = NULL;
done:
    cr_gaussian_free(cx, g);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_canonical_mean(cr_ctx *cx, const cr_canonical *c, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *R = cr_scratch_matrix(&s, c->d, c->d), *mean = cr_scratch_f64(&s, c->d);
    CR_TRY(s.status);
    CR_TRY(solve_mean(cx, c, R, mean));
    if (c->d > 0) memcpy(out, mean, c->d * sizeof *out);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- density --------------------------------------------------------------------------------- */

/* Around the mean, where nothing cancels. */
cr_status cr_canonical_logpdf(cr_ctx *cx, const cr_canonical *c, const double *x, size_t count,
                              double *out)
{
    cr_status  st = CR_OK;
    size_t     d = c->d;
    cr_scratch s = cr_scratch_begin(cx);
    double    *R = cr_scratch_matrix(&s, d, d), *mean = cr_scratch_f64(&s, d);
    double    *z = cr_scratch_f64(&s, d);
    CR_TRY(s.status);
    CR_TRY(cri_check_finite(cx, "points", x, count * d));
    CR_TRY(solve_mean(cx, c, R, mean));
    double height = 0.5 * (cr_chol_logdet(cri_square(R, d)) - (double)d * CRI_LOG_2PI);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < d; j++) z[j] = x[i * d + j] - mean[j];
        out[i] = height - 0.5 * cri_square_under(R, d, z);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_canonical_log_partition(cr_ctx *cx, const cr_canonical *c, double *out)
{
    cr_status  st = CR_OK;
    size_t     d = c->d;
    cr_scratch s = cr_scratch_begin(cx);
    double    *R = cr_scratch_matrix(&s, d, d), *z = cr_scratch_f64(&s, d), square = 0;
    CR_TRY(s.status);
    CR_TRY(factor(cx, c, R));
    if (d > 0) memcpy(z, c->h, d * sizeof *z);
    CR_TRY(cri_whitened_square(cx, R, d, z, &square));
    *out = 0.5 * (square - cr_chol_logdet(cri_square(R, d)) + (double)d * CRI_LOG_2PI);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_canonical_entropy(cr_ctx *cx, const cr_canonical *c, double *out)
{
    cr_status  st = CR_OK;
    size_t     d = c->d;
    cr_scratch s = cr_scratch_begin(cx);
    double    *R = cr_scratch_matrix(&s, d, d);
    CR_TRY(s.status);
    CR_TRY(factor(cx, c, R));
    *out = 0.5 * ((double)d * (1 + CRI_LOG_2PI) - cr_chol_logdet(cri_square(R, d)));
done:
    cr_scratch_end(&s);
    return st;
}

/* Half of |Rp^-1 Rq|^2 + |Rq' (mp - mq)|^2 - d + log det Kp / det Kq. */
cr_status cr_canonical_kl(cr_ctx *cx, const cr_canonical *p, const cr_canonical *q, double *out)
{
    cr_status  st = CR_OK;
    size_t     d = p->d;
    cr_scratch s = cr_scratch_begin(cx);
    double    *Rp = cr_scratch_matrix(&s, d, d), *Rq = cr_scratch_matrix(&s, d, d);
    double    *mp = cr_scratch_f64(&s, d), *mq = cr_scratch_f64(&s, d);
    CR_TRY(s.status);
    CR_TRY(cri_check_same_size(cx, p->d, q->d));
    CR_TRY(solve_mean(cx, p, Rp, mp));
    CR_TRY(solve_mean(cx, q, Rq, mq));
    double log_ratio = cr_chol_logdet(cri_square(Rp, d)) - cr_chol_logdet(cri_square(Rq, d));
    for (size_t i = 0; i < d; i++) mp[i] -= mq[i];
    double away = cri_square_under(Rq, d, mp);
    CR_TRY(cr_chol_forward(cx, cri_square(Rp, d), cr_mat_of(Rq, d, d)));
    *out = fmax(0, 0.5 * (cr_dot(Rq, Rq, d * d) - (double)d + away + log_ratio));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_canonical_sample(cr_ctx *cx, const cr_canonical *c, cr_rng *rng, size_t count,
                              double *out)
{
    cr_status  st = CR_OK;
    size_t     d = c->d;
    cr_scratch s = cr_scratch_begin(cx);
    double    *R = cr_scratch_matrix(&s, d, d), *mean = cr_scratch_f64(&s, d);
    double    *z = cr_scratch_f64(&s, d);
    CR_TRY(s.status);
    CR_TRY(solve_mean(cx, c, R, mean));
    for (size_t i = 0; i < count; i++) {
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(cx));
        for (size_t j = 0; j < d; j++) z[j] = cr_rng_normal(rng);
        CR_TRY(cr_chol_backward(cx, cri_square(R, d), cr_mat_of(z, d, 1)));
        for (size_t j = 0; j < d; j++) out[i * d + j] = mean[j] + z[j];
    }
done:
    cr_scratch_end(&s);
    return st;
}
