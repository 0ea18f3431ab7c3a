/* ridge_solve.c -- the equations of ridge regression: p x p by eigenvectors or, for many terms, by
 * Cholesky; n x n in the dual. */
#include "ridge_solve.h"
#include "dual.h"
#include "spectrum.h"
#include "dense_terms.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

cr_status cri_ridge_refuse_singular(cr_ctx *cx, double lambda)
{
    cr_fail(cx, CR_ENUMERIC, "the columns are linearly dependent and lambda is %g", lambda);
    return cr_fail_hint(cx, "use a larger --lambda; credence fit linear names the columns");
}

/* --- primal ---------------------------------------------------------------------------------- */

enum { MANY = 200 }; /* terms beyond which the spectrum of G takes too long */

/* b [p] = (G + lambda I)^-1 g through the eigenvectors of G, which also give df and F. */
static cr_status solve_primal(cr_ctx *cx, cri_ridge *m, const cri_gram *g, double *b)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = g->p;
    double    *V = cr_scratch_matrix(&s, p, p), *d = cr_scratch_f64(&s, p);
    double    *u = cr_scratch_f64(&s, p);

    CR_TRY(s.status);
    CR_TRY(cri_gram_spectrum(cx, g, d, V));
    if (p && !(d[0] + m->lambda > 0)) CR_TRY(cri_ridge_refuse_singular(cx, m->lambda));
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(V, p, p), CR_TRANSPOSED, g->g, 0, u));
    m->rss = g->tt;
    for (size_t k = 0; k < p; k++) {
        double dk = d[k];
        double a = dk > 0 ? u[k] / (dk + m->lambda) : 0; /* no data, no slope in this direction */
        m->df += dk / (dk + m->lambda);
        m->rss += a * (dk * a - 2 * u[k]);
        u[k] = a;
        for (size_t j = 0; j < p; j++)
            m->fit.factor[k * p + j] = V[j * p + k] / sqrt(dk + m->lambda);
    }
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(V, p, p), CR_PLAIN, u, 0, b));
    if (m->rss < 0) m->rss = 0;
done:
    cr_scratch_end(&s);
    return st;
}

/* The same by Cholesky, F = L^-1, for many terms; *out_good = false, and nothing set, where they
 * are too near to dependence for it. */
static cr_status solve_many(cr_ctx *cx, cri_ridge *m, const cri_gram *g, double *b, bool *out_good)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = g->p;
    double    *L = cr_scratch_matrix(&s, p, p), rcond = 0, norm = 0;

    CR_TRY(s.status);
    for (size_t i = 0; i < p; i++) {
        double sum = m->lambda;
        memcpy(L + i * p, g->G + i * p, p * sizeof(double));
        L[i * p + i] += m->lambda;
        for (size_t j = 0; j < p; j++) sum += fabs(g->G[i * p + j]);
        norm = fmax(norm, sum);
    }
    st = cr_chol(cx, cr_mat_of(L, p, p));
    if (st == CR_OK) st = cr_chol_rcond(cx, cr_cmat_of(L, p, p), norm, &rcond);
    if (st == CR_ENUMERIC) st = CR_OK;
    CR_TRY(st);
    *out_good = rcond > 1e-8;
    if (!*out_good) goto done;
    memcpy(b, g->g, p * sizeof(double));
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(L, p, p), cr_mat_of(b, p, 1)));
    for (size_t i = 0; i < p; i++) m->fit.factor[i * p + i] = 1;
    CR_TRY(cr_chol_forward(cx, cr_cmat_of(L, p, p), cr_mat_of(m->fit.factor, p, p)));
    m->df += (double)p - m->lambda * cr_dot(m->fit.factor, m->fit.factor, p * p);
    m->rss = g->tt - m->lambda * cr_dot(b, b, p); /* b.G b = b.g - lambda |b|^2 */
    m->rss = fmax(m->rss - cr_dot(b, g->g, p), 0);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_ridge_primal(cr_ctx *cx, cri_ridge *m, const cri_gram *g, double *b)
{
    cr_status st = CR_OK;
    bool      good = false;
    if (g->p > MANY && m->lambda > 0) st = solve_many(cx, m, g, b, &good);
    return st == CR_OK && !good ? solve_primal(cx, m, g, b) : st;
}

/* --- dual ------------------------------------------------------------------------------------ */

/* b = Z^T a, a = (Z Z^T + lambda I)^-1 t = (L L^T)^-1 t;  F = L^-1 Z, whose rows take away from the
 * prior variance what the data tell:  (I - F^T F) / lambda. */
cr_status cri_ridge_dual(cr_ctx *cx, cri_ridge *m, const cri_rows *rows, const cri_gram *g,
                         double *b)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = rows->n, p = g->p;
    double    *K = cr_scratch_matrix(&s, n, n), *a = cr_scratch_f64(&s, n);
    double    *t = cr_scratch_f64(&s, n), *Z = m->fit.factor;

    CR_TRY(s.status);
    if (!(m->lambda > 0)) CR_TRY(cri_ridge_refuse_singular(cx, m->lambda));
    cri_standardise_rows(rows, g, Z, t);
    CR_TRY(cr_syrk(cx, 1, cr_cmat_of(Z, n, p), CR_PLAIN, 0, cr_mat_of(K, n, n)));
    for (size_t i = 0; i < n; i++) K[i * n + i] += m->lambda;
    CR_TRY(cr_chol(cx, cr_mat_of(K, n, n)));
    memcpy(a, t, n * sizeof(double));
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(K, n, n), cr_mat_of(a, n, 1)));
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(Z, n, p), CR_TRANSPOSED, a, 0, b));
    for (size_t i = 0; i < n; i++)
        m->rss += m->lambda * m->lambda * a[i] * a[i]; /* t - Z b = lambda a */
    CR_TRY(cr_chol_forward(cx, cr_cmat_of(K, n, n), cr_mat_of(Z, n, p)));
    m->df += cr_dot(Z, Z, n * p); /* tr Z^T K^-1 Z */
    m->fit.plain = 1 / m->lambda;
    m->fit.sign = -1 / m->lambda;
done:
    cr_scratch_end(&s);
    return st;
}
