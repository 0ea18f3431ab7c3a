/* gaussian_parts.c -- marginals and conditionals: some of the variables, in both forms. */
#include "gaussian_internal.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

/* --- the moment form ------------------------------------------------------------------------- */

cr_status cr_gaussian_marginal(cr_ctx *cx, const cr_gaussian *g, const size_t *keep, size_t k,
                               cr_gaussian **out)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t      *rest = cr_scratch_index(&s, g->d);
    cr_gaussian *m = NULL;
    CR_TRY(s.status);
    CR_TRY(cri_split_indices(cx, keep, k, g->d, rest));
    CR_TRY(cri_gaussian_alloc(cx, k, &m));
    for (size_t i = 0; i < k; i++) m->mean[i] = g->mean[keep[i]];
    cri_pick(g->covariance, g->d, keep, k, keep, k, m->covariance);
    *out = m;
done:
    cr_scratch_end(&s);
    return st;
}

/* The variables that are seen and vary: index [*n] with their offsets from the mean.  One that does
 * not vary must be at its mean. */
static cr_status varying(cr_ctx *cx, const cr_gaussian *g, const size_t *seen, size_t k,
                         const double *values, size_t *index, double *offset, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < k; i++) {
        double mean = g->mean[seen[i]];
        if (g->covariance[seen[i] * g->d + seen[i]] > 0) {
            offset[*n] = values[i] - mean;
            index[(*n)++] = seen[i];
        } else if (values[i] != mean) {
            return cr_fail(
                cx, CR_EDATA,
                "gaussian: variable %zu has no variance and is %.17g: it cannot be %.17g", seen[i],
                mean, values[i]);
        }
    }
    return CR_OK;
}

/* S [d x d] less V' V, V [k x d]; a variance that is 0 within rounding becomes 0. */
static cr_status reduce_covariance(cr_ctx *cx, const double *V, size_t k, double *S, size_t d,
                                   double *before)
{
    for (size_t i = 0; i < d; i++) before[i] = S[i * d + i];
    cr_status st = cr_syrk(cx, -1, cr_cmat_of(V, k, d), CR_TRANSPOSED, 1, cr_mat_of(S, d, d));
    for (size_t i = 0; st == CR_OK && i < d; i++) {
        if (S[i * d + i] > cri_rounding(k + 1) * before[i]) continue;
        for (size_t j = 0; j < d; j++) S[i * d + j] = S[j * d + i] = 0;
    }
    return st;
}

cr_status cri_gaussian_condition(cr_ctx *cx, const cr_gaussian *g, const size_t *seen, size_t k,
                                 const double *values, double least, cr_gaussian **out,
                                 double *opt_log_density, size_t *out_tied)
{
    cr_status    st = CR_OK;
    size_t       d = g->d, left = d - k, n = 0;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t      *rest = cr_scratch_index(&s, d), *b = cr_scratch_index(&s, k);
    double      *L = cr_scratch_matrix(&s, k, k), *V = cr_scratch_matrix(&s, k, d);
    double      *z = cr_scratch_f64(&s, k), *before = cr_scratch_f64(&s, d), density = 0;
    cr_gaussian *c = NULL;

    CR_TRY(s.status);
    CR_TRY(cri_split_indices(cx, seen, k, d, rest));
    CR_TRY(cri_check_finite(cx, "values", values, k));
    CR_TRY(cri_gaussian_alloc(cx, left, &c));
    CR_TRY(varying(cx, g, seen, k, values, b, z, &n));
    for (size_t i = 0; i < left; i++) c->mean[i] = g->mean[rest[i]];
    cri_pick(g->covariance, d, rest, left, rest, left, c->covariance);
    cri_pick(g->covariance, d, b, n, b, n, V); /* V holds S_bb for a moment */
    CR_TRY(cri_gaussian_factor_least(cx, "covariance of the observed variables", V, n, b, least, L,
                                     out_tied));
    CR_TRY(cri_log_density_at(cx, L, n, z, &density)); /* z becomes L^-1 (values - m_b) */
    cri_pick(g->covariance, d, b, n, rest, left, V);
    CR_TRY(cr_chol_forward(cx, cri_square(L, n), cr_mat_of(V, n, left)));
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(V, n, left), CR_TRANSPOSED, z, 1, c->mean));
    CR_TRY(reduce_covariance(cx, V, n, c->covariance, left, before));
    if (opt_log_density) *opt_log_density = density;
    *out = c;
    c = NULL;
done:
    cr_gaussian_free(cx, c);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_gaussian_condition(cr_ctx *cx, const cr_gaussian *g, const size_t *seen, size_t k,
                                const double *values, cr_gaussian **out, double *opt_log_density)
{
    size_t tied;
    return cri_gaussian_condition(cx, g, seen, k, values, 0, out, opt_log_density, &tied);
}

/* --- the canonical form ---------------------------------------------------------------------- */

cr_status cr_canonical_marginal(cr_ctx *cx, const cr_canonical *c, const size_t *keep, size_t k,
                                cr_canonical **out)
{
    cr_status     st = CR_OK;
    size_t        d = c->d, gone = k < d ? d - k : 0;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t       *b = cr_scratch_index(&s, d);
    double       *R = cr_scratch_matrix(&s, gone, gone), *V = cr_scratch_matrix(&s, gone, d);
    double       *z = cr_scratch_f64(&s, gone);
    cr_canonical *m = NULL;

    CR_TRY(s.status);
    CR_TRY(cri_split_indices(cx, keep, k, d, b));
    CR_TRY(cri_canonical_alloc(cx, k, &m));
    for (size_t i = 0; i < k; i++) m->h[i] = c->h[keep[i]];
    for (size_t i = 0; i < gone; i++) z[i] = c->h[b[i]];
    cri_pick(c->precision, d, keep, k, keep, k, m->precision);
    cri_pick(c->precision, d, b, gone, b, gone, V); /* V holds K_bb for a moment */
    CR_TRY(cri_gaussian_factor(cx, "precision of the variables integrated out", V, gone, b, R));
    cri_pick(c->precision, d, b, gone, keep, k, V);
    CR_TRY(cr_chol_forward(cx, cri_square(R, gone), cr_mat_of(V, gone, k)));
    CR_TRY(cr_chol_forward(cx, cri_square(R, gone), cr_mat_of(z, gone, 1)));
    CR_TRY(cr_gemv(cx, -1, cr_cmat_of(V, gone, k), CR_TRANSPOSED, z, 1, m->h));
    CR_TRY(
        cr_syrk(cx, -1, cr_cmat_of(V, gone, k), CR_TRANSPOSED, 1, cr_mat_of(m->precision, k, k)));
    *out = m;
    m = NULL;
done:
    cr_canonical_free(cx, m);
    cr_scratch_end(&s);
    return st;
}

/* log p(values) of the marginal of what is seen. */
static cr_status density_of(cr_ctx *cx, const cr_canonical *c, const size_t *seen, size_t k,
                            const double *values, double *out)
{
    cr_canonical *m = NULL;
    cr_status     st = cr_canonical_marginal(cx, c, seen, k, &m);
    if (st == CR_OK) st = cr_canonical_logpdf(cx, m, values, 1, out);
    cr_canonical_free(cx, m);
    return st;
}

cr_status cr_canonical_condition(cr_ctx *cx, const cr_canonical *c, const size_t *seen, size_t k,
                                 const double *values, cr_canonical **out, double *opt_log_density)
{
    cr_status     st = CR_OK;
    size_t        d = c->d, left = d - k;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t       *rest = cr_scratch_index(&s, d);
    double        density = 0;
    cr_canonical *m = NULL;

    CR_TRY(s.status);
    CR_TRY(cri_split_indices(cx, seen, k, d, rest));
    CR_TRY(cri_check_finite(cx, "values", values, k));
    CR_TRY(cri_canonical_alloc(cx, left, &m));
    cri_pick(c->precision, d, rest, left, rest, left, m->precision);
    for (size_t i = 0; i < left; i++) {
        m->h[i] = c->h[rest[i]];
        for (size_t j = 0; j < k; j++) m->h[i] -= c->precision[rest[i] * d + seen[j]] * values[j];
    }
    if (opt_log_density) {
        CR_TRY(density_of(cx, c, seen, k, values, &density));
        *opt_log_density = density;
    }
    *out = m;
    m = NULL;
done:
    cr_canonical_free(cx, m);
    cr_scratch_end(&s);
    return st;
}
