/* mvt_kl.c -- the divergence between multivariate Student-t's as an integral over one variable.
 * Only E_p log(1 + Q / nu_q), Q = (x - m_q)' S_q^-1 (x - m_q), has no closed form.  By Frullani,
 *   log(1 + Q / nu_q) = integral over s > 0 of (exp(-nu_q s) - exp(-nu_q s - s Q)) / s,
 * and x = m_p + L_p z / sqrt(w) with w ~ Gamma(nu_p / 2, rate nu_p / 2), given which Q is a sum of
 * squares of normals along the principal directions of S_p under S_q.  With s = r w both
 * expectations are closed, and for any dimension
 *   E log(1 + Q / nu_q) = integral over r > 0 of [M(nu_q r) - M(nu_q r + c(r)) g(r)] / r,
 *   M(a) = (1 + 2 a / nu_p)^(-nu_p / 2),  g(r) = prod (1 + 2 r l_i)^(-1/2),
 *   c(r) = sum r e_i^2 / (1 + 2 r l_i),
 * l_i the eigenvalues of S_p under S_q, e_i the difference of the locations along them. */
#include "mvt.h"
#include "saddle.h"
#include "small_matrix.h"
#include "base/scratch.h"
#include "math/dense/decompose.h"
#include "math/quadrature.h"

#include <math.h>
#include <string.h>

typedef struct mixture {
    double        nu_p, nu_q;
    size_t        d;
    const double *l, *e2; /* [d] */
} mixture;

/* The integrand in v = log r, where it falls exponentially on both sides. */
static double integrand(double v, void *user)
{
    const mixture *k = user;
    double         c = 0, log_g = 0, inverse_r = exp(-v);
    for (size_t i = 0; i < k->d; i++) {
        c += k->e2[i] / (inverse_r + 2 * k->l[i]);
        log_g -= 0.5 * cri_softplus(log(2 * k->l[i]) + v);
    }
    double log_m = -0.5 * k->nu_p * cri_softplus(log(2 * k->nu_q / k->nu_p) + v);
    double lower = -0.5 * k->nu_p * log1p(2 * c / (k->nu_p + 2 * k->nu_q / inverse_r));
    return -exp(log_m) * expm1(lower + log_g);
}

/* l [d] and e2 [d]: with L_q^-1 L_p = U diag(r) V', r_i^2, and L_q^-1 (m_p - m_q) along the columns
 * of U, squared. */
static cr_status directions(cr_ctx *cx, const double *p, const double *Lp, const double *q,
                            const double *Lq, size_t d, double *l, double *e2)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *B = cr_scratch_matrix(&s, d, d), *V = cr_scratch_matrix(&s, d, d);
    double    *U = cr_scratch_matrix(&s, d, d), *column = cr_scratch_f64(&s, d);
    CR_TRY(s.status);
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) column[i] = Lp[i * d + j];
        cri_solve_lower(Lq, d, column);
        for (size_t i = 0; i < d; i++) B[i * d + j] = column[i];
    }
    CR_TRY(cr_svd(cx, cr_cmat_of(B, d, d), cr_mat_of(U, d, d), l, cr_mat_of(V, d, d)));
    for (size_t i = 0; i < d; i++) column[i] = p[1 + i] - q[1 + i];
    cri_solve_lower(Lq, d, column);
    for (size_t j = 0; j < d; j++) {
        double dot = 0;
        for (size_t i = 0; i < d; i++) dot += U[i * d + j] * column[i];
        e2[j] = dot * dot;
        l[j] *= l[j];
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_mvt_kl(cr_ctx *cx, const double *p, const double *Lp, const double *q,
                     const double *Lq, size_t d, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *l = cr_scratch_f64(&s, d), *e2 = cr_scratch_f64(&s, d), kl = 0, mean = 0;
    mixture    k = { p[0], q[0], d, l, e2 };
    CR_TRY(s.status);
    if (memcmp(p, q, (1 + d + d * d) * sizeof *p) != 0) {
        CR_TRY(directions(cx, p, Lp, q, Lq, d, l, e2));
        st = cr_integrate(cx, integrand, &k, -INFINITY, INFINITY, 1e-15, 1e-13, &mean, NULL);
        if (st == CR_ENUMERIC)
            CR_TRY(cr_fail(cx, st, "mvt: the integral of the divergence does not converge"));
        CR_TRY(st);
        kl = 0.5 * (q[0] + (double)d) * mean - cri_mvt_log_height(q[0], d) +
             0.5 * cri_log_det(Lq, d) - cri_mvt_entropy(p, d, Lp);
    }
    *out = fmax(0, kl);
done:
    cr_scratch_end(&s);
    return st;
}
