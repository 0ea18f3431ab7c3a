/* gaussian_product.c -- products and quotients, in both forms. */
#include "gaussian_internal.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>

/* --- the moment form ------------------------------------------------------------------------- */

/* out = G' B G + out for symmetric B; work [d x d]. */
static cr_status add_sandwich(cr_ctx *cx, const double *G, const double *B, size_t d, double *work,
                              double *out)
{
    cr_status st = CR_OK;
    CR_TRY(cr_gemm(cx, 1, cri_square(B, d), CR_PLAIN, cri_square(G, d), CR_PLAIN, 0,
                   cr_mat_of(work, d, d)));
    CR_TRY(cr_gemm(cx, 1, cri_square(G, d), CR_TRANSPOSED, cri_square(work, d), CR_PLAIN, 1,
                   cr_mat_of(out, d, d)));
done:
    return st;
}

/* With T = Sa + Sb, H = T^-1 Sb and G = T^-1 Sa: mean H' ma + G' mb, covariance H' Sa H + G' Sb G.
 * Every term is positive: nothing cancels, also where one is far narrower than the other. */
cr_status cr_gaussian_product(cr_ctx *cx, const cr_gaussian *a, const cr_gaussian *b,
                              cr_gaussian **out, double *opt_log_constant)
{
    cr_status    st = CR_OK;
    size_t       d = a->d, all = d * d;
    cr_scratch   s = cr_scratch_begin(cx);
    double      *L = cr_scratch_matrix(&s, d, d), *G = cr_scratch_matrix(&s, d, d);
    double      *H = cr_scratch_matrix(&s, d, d), *work = cr_scratch_matrix(&s, d, d);
    double      *z = cr_scratch_f64(&s, d), constant = 0;
    cr_gaussian *g = NULL;

    CR_TRY(s.status);
    CR_TRY(cri_check_same_size(cx, a->d, b->d));
    CR_TRY(cri_gaussian_alloc(cx, d, &g));
    for (size_t i = 0; i < all; i++) work[i] = a->covariance[i] + b->covariance[i];
    CR_TRY(cri_gaussian_factor(cx, "sum of the covariances", work, d, NULL, L));
    for (size_t i = 0; i < all; i++) G[i] = a->covariance[i], H[i] = b->covariance[i];
    CR_TRY(cr_chol_solve(cx, cri_square(L, d), cr_mat_of(G, d, d)));
    CR_TRY(cr_chol_solve(cx, cri_square(L, d), cr_mat_of(H, d, d)));
    CR_TRY(cr_gemv(cx, 1, cri_square(H, d), CR_TRANSPOSED, a->mean, 0, g->mean));
    CR_TRY(cr_gemv(cx, 1, cri_square(G, d), CR_TRANSPOSED, b->mean, 1, g->mean));
    CR_TRY(add_sandwich(cx, H, a->covariance, d, work, g->covariance));
    CR_TRY(add_sandwich(cx, G, b->covariance, d, work, g->covariance));
    cri_symmetrise(g->covariance, d);
    for (size_t i = 0; i < d; i++) z[i] = a->mean[i] - b->mean[i];
    CR_TRY(cri_log_density_at(cx, L, d, z, &constant));
    if (opt_log_constant) *opt_log_constant = constant;
    *out = g;
    g = NULL;
done:
    cr_gaussian_free(cx, g);
    cr_scratch_end(&s);
    return st;
}

/* -log N(m; mb, S + Sb): what the product of the quotient and b would be scaled by. */
static cr_status quotient_constant(cr_ctx *cx, const cr_gaussian *g, const cr_gaussian *b,
                                   double *T, double *L, double *z, double *out)
{
    cr_status st = CR_OK;
    size_t    d = g->d;
    double    density = 0;
    for (size_t i = 0; i < d * d; i++) T[i] = g->covariance[i] + b->covariance[i];
    for (size_t i = 0; i < d; i++) z[i] = g->mean[i] - b->mean[i];
    CR_TRY(cri_gaussian_factor(cx, "sum of the covariances", T, d, NULL, L));
    CR_TRY(cri_log_density_at(cx, L, d, z, &density));
    *out = -density;
done:
    return st;
}

/* With D = Sb - Sa = L L' and V = L^-1 Sa: covariance Sa + V' V, mean ma + V' L^-1 (ma - mb). */
cr_status cr_gaussian_divide(cr_ctx *cx, const cr_gaussian *a, const cr_gaussian *b,
                             cr_gaussian **out, double *opt_log_constant)
{
    cr_status    st = CR_OK;
    size_t       d = a->d;
    cr_scratch   s = cr_scratch_begin(cx);
    double      *L = cr_scratch_matrix(&s, d, d), *V = cr_scratch_matrix(&s, d, d);
    double      *z = cr_scratch_f64(&s, d), constant = 0;
    cr_gaussian *g = NULL;

    CR_TRY(s.status);
    CR_TRY(cri_check_same_size(cx, a->d, b->d));
    CR_TRY(cri_gaussian_alloc(cx, d, &g));
    for (size_t i = 0; i < d * d; i++) V[i] = b->covariance[i] - a->covariance[i];
    st = cri_gaussian_factor(cx, "difference of the covariances", V, d, NULL, L);
    if (st == CR_ENUMERIC)
        cr_fail_hint(cx, "the quotient is improper: cr_canonical_divide can still hold it");
    CR_TRY(st);
    for (size_t i = 0; i < d * d; i++) V[i] = g->covariance[i] = a->covariance[i];
    for (size_t i = 0; i < d; i++) g->mean[i] = a->mean[i], z[i] = a->mean[i] - b->mean[i];
    CR_TRY(cr_chol_forward(cx, cri_square(L, d), cr_mat_of(V, d, d)));
    CR_TRY(cr_chol_forward(cx, cri_square(L, d), cr_mat_of(z, d, 1)));
    CR_TRY(cr_gemv(cx, 1, cri_square(V, d), CR_TRANSPOSED, z, 1, g->mean));
    CR_TRY(cr_syrk(cx, 1, cri_square(V, d), CR_TRANSPOSED, 1, cr_mat_of(g->covariance, d, d)));
    if (opt_log_constant) {
        CR_TRY(quotient_constant(cx, g, b, V, L, z, &constant));
        *opt_log_constant = constant;
    }
    *out = g;
    g = NULL;
done:
    cr_gaussian_free(cx, g);
    cr_scratch_end(&s);
    return st;
}

/* --- the canonical form ---------------------------------------------------------------------- */

/* out = a + sign b. */
static cr_status combine(cr_ctx *cx, const cr_canonical *a, const cr_canonical *b, double sign,
                         cr_canonical **out)
{
    cr_status     st = CR_OK;
    size_t        d = a->d;
    cr_canonical *c = NULL;
    CR_TRY(cri_check_same_size(cx, a->d, b->d));
    CR_TRY(cri_canonical_alloc(cx, d, &c));
    for (size_t i = 0; i < d; i++) c->h[i] = a->h[i] + sign * b->h[i];
    for (size_t i = 0; i < d * d; i++) c->precision[i] = a->precision[i] + sign * b->precision[i];
    *out = c;
done:
    return st;
}

/* With m the mean of the result c, where its density is highest: log a(m) + sign log b(m) - log
 * c(m). A sum of log-partitions would cancel. */
static cr_status constant_of(cr_ctx *cx, const cr_canonical *a, const cr_canonical *b, double sign,
                             const cr_canonical *c, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *m = cr_scratch_f64(&s, c->d), at_a = 0, at_b = 0, at_c = 0;
    CR_TRY(s.status);
    CR_TRY(cr_canonical_mean(cx, c, m));
    CR_TRY(cr_canonical_logpdf(cx, a, m, 1, &at_a));
    CR_TRY(cr_canonical_logpdf(cx, b, m, 1, &at_b));
    CR_TRY(cr_canonical_logpdf(cx, c, m, 1, &at_c));
    *out = at_a + sign * at_b - at_c;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_canonical_product(cr_ctx *cx, const cr_canonical *a, const cr_canonical *b,
                               cr_canonical **out, double *opt_log_constant)
{
    cr_status     st = CR_OK;
    cr_canonical *c = NULL;
    double        constant = 0;
    CR_TRY(combine(cx, a, b, 1, &c));
    if (opt_log_constant) {
        CR_TRY(constant_of(cx, a, b, 1, c, &constant));
        *opt_log_constant = constant;
    }
    *out = c;
    c = NULL;
done:
    cr_canonical_free(cx, c);
    return st;
}

cr_status cr_canonical_divide(cr_ctx *cx, const cr_canonical *a, const cr_canonical *b,
                              cr_canonical **out, bool *out_proper, double *opt_log_constant)
{
    cr_status     st = CR_OK;
    cr_canonical *c = NULL;
    bool          proper = false;
    double        constant = NAN;
    CR_TRY(combine(cx, a, b, -1, &c));
    CR_TRY(cr_canonical_is_proper(cx, c, &proper));
    if (opt_log_constant && proper) {
        st = constant_of(cx, a, b, -1, c, &constant);
        if (st != CR_ENUMERIC) CR_TRY(st); /* ENUMERIC: a or b is improper, and stays NaN */
        st = CR_OK;
    }
    if (opt_log_constant) *opt_log_constant = constant;
    *out_proper = proper;
    *out = c;
    c = NULL;
done:
    cr_canonical_free(cx, c);
    return st;
}
