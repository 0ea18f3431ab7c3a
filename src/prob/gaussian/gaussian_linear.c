/* gaussian_linear.c -- y | x ~ N(A x + b, R): maps, joint, Bayes' rule. */
#include "gaussian_internal.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <string.h>

/* --- what y depends on ----------------------------------------------------------------------- */

/* A, b and R are finite and fit d variables; R, if any, is a covariance. */
static cr_status check_rule(cr_ctx *cx, const cr_linear_gaussian *r, size_t d)
{
    cr_status  st = CR_OK;
    size_t     k = r->A.rows;
    cr_scratch s = cr_scratch_begin(cx);
    double    *R = cr_scratch_matrix(&s, k, k);
    CR_TRY(s.status);
    if (r->A.cols != d)
        CR_TRY(cr_fail(cx, CR_EARG, "gaussian: A has %zu columns, but there are %zu variables",
                       r->A.cols, d));
    for (size_t i = 0; i < k; i++)
        CR_TRY(cri_check_finite(cx, "matrix A", r->A.a + i * r->A.stride, d));
    if (r->b) CR_TRY(cri_check_finite(cx, "vector b", r->b, k));
    if (r->R.a) {
        CR_TRY(cri_copy_symmetric(cx, "noise R", r->R, k, R));
        CR_TRY(cri_check_semidefinite(cx, "noise R", R, k));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* mean [k] = A m + b, AP [k x d] = A P, C [k x k] = A P A' + R. */
static cr_status push(cr_ctx *cx, const cr_gaussian *x, const cr_linear_gaussian *r, double *mean,
                      double *AP, double *C)
{
    cr_status st = CR_OK;
    size_t    k = r->A.rows, d = x->d;
    for (size_t i = 0; i < k; i++) mean[i] = r->b ? r->b[i] : 0;
    CR_TRY(cr_gemv(cx, 1, r->A, CR_PLAIN, x->mean, 1, mean));
    CR_TRY(cr_gemm(cx, 1, r->A, CR_PLAIN, cri_square(x->covariance, d), CR_PLAIN, 0,
                   cr_mat_of(AP, k, d)));
    for (size_t i = 0; i < k * k; i++) C[i] = r->R.a ? r->R.a[i / k * r->R.stride + i % k] : 0;
    CR_TRY(
        cr_gemm(cx, 1, cr_cmat_of(AP, k, d), CR_PLAIN, r->A, CR_TRANSPOSED, 1, cr_mat_of(C, k, k)));
    cri_symmetrise(C, k);
done:
    return st;
}

cr_status cr_gaussian_predictive(cr_ctx *cx, const cr_gaussian *x,
                                 const cr_linear_gaussian *y_given_x, cr_gaussian **out)
{
    cr_status    st = CR_OK;
    size_t       k = y_given_x->A.rows;
    cr_scratch   s = cr_scratch_begin(cx);
    double      *AP = cr_scratch_matrix(&s, k, x->d);
    cr_gaussian *g = NULL;
    CR_TRY(s.status);
    CR_TRY(check_rule(cx, y_given_x, x->d));
    CR_TRY(cri_gaussian_alloc(cx, k, &g));
    CR_TRY(push(cx, x, y_given_x, g->mean, AP, g->covariance));
    *out = g;
    g = NULL;
done:
    cr_gaussian_free(cx, g);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_gaussian_affine(cr_ctx *cx, const cr_gaussian *g, cr_cmat A, const double *opt_b,
                             cr_gaussian **out)
{
    cr_linear_gaussian exactly = { .A = A, .b = opt_b };
    return cr_gaussian_predictive(cx, g, &exactly, out);
}

/* Covariance [P, (A P)'; A P, C]. */
cr_status cr_gaussian_joint(cr_ctx *cx, const cr_gaussian *x, const cr_linear_gaussian *y_given_x,
                            cr_gaussian **out)
{
    cr_status    st = CR_OK;
    size_t       k = y_given_x->A.rows, d = x->d, n = d + k;
    cr_scratch   s = cr_scratch_begin(cx);
    double      *AP = cr_scratch_matrix(&s, k, d), *C = cr_scratch_matrix(&s, k, k);
    cr_gaussian *g = NULL;
    CR_TRY(s.status);
    CR_TRY(check_rule(cx, y_given_x, d));
    CR_TRY(cri_gaussian_alloc(cx, n, &g));
    CR_TRY(push(cx, x, y_given_x, g->mean + d, AP, C));
    for (size_t i = 0; i < d; i++) {
        g->mean[i] = x->mean[i];
        for (size_t j = 0; j < d; j++) g->covariance[i * n + j] = x->covariance[i * d + j];
        for (size_t j = 0; j < k; j++)
            g->covariance[i * n + d + j] = g->covariance[(d + j) * n + i] = AP[j * d + i];
    }
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) g->covariance[(d + i) * n + d + j] = C[i * k + j];
    *out = g;
    g = NULL;
done:
    cr_gaussian_free(cx, g);
    cr_scratch_end(&s);
    return st;
}

/* --- Bayes' rule ----------------------------------------------------------------------------- */

/* S [d x d] = M P M' + G R G', M = I - G A, where Gt [k x d] is G transposed. */
static cr_status joseph(cr_ctx *cx, const cr_gaussian *x, const cr_linear_gaussian *r,
                        const double *Gt, double *S)
{
    cr_status  st = CR_OK;
    size_t     k = r->A.rows, d = x->d;
    cr_scratch s = cr_scratch_begin(cx);
    double    *M = cr_scratch_matrix(&s, d, d), *MP = cr_scratch_matrix(&s, d, d);
    double    *RG = cr_scratch_matrix(&s, k, d);
    cr_cmat    gain = cr_cmat_of(Gt, k, d);
    CR_TRY(s.status);
    for (size_t i = 0; i < d * d; i++) M[i] = i % (d + 1) == 0;
    CR_TRY(cr_gemm(cx, -1, gain, CR_TRANSPOSED, r->A, CR_PLAIN, 1, cr_mat_of(M, d, d)));
    CR_TRY(cr_gemm(cx, 1, cri_square(M, d), CR_PLAIN, cri_square(x->covariance, d), CR_PLAIN, 0,
                   cr_mat_of(MP, d, d)));
    CR_TRY(cr_gemm(cx, 1, cri_square(MP, d), CR_PLAIN, cri_square(M, d), CR_TRANSPOSED, 0,
                   cr_mat_of(S, d, d)));
    if (r->R.a) {
        CR_TRY(cr_gemm(cx, 1, r->R, CR_PLAIN, gain, CR_PLAIN, 0, cr_mat_of(RG, k, d)));
        CR_TRY(cr_gemm(cx, 1, gain, CR_TRANSPOSED, cr_cmat_of(RG, k, d), CR_PLAIN, 1,
                       cr_mat_of(S, d, d)));
    }
    cri_symmetrise(S, d);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_gaussian_posterior(cr_ctx *cx, const cr_gaussian *x,
                                const cr_linear_gaussian *y_given_x, const double *y,
                                cr_gaussian **out, double *opt_log_evidence)
{
    cr_status    st = CR_OK;
    size_t       k = y_given_x->A.rows, d = x->d;
    cr_scratch   s = cr_scratch_begin(cx);
    double      *Gt = cr_scratch_matrix(&s, k, d), *C = cr_scratch_matrix(&s, k, k);
    double      *L = cr_scratch_matrix(&s, k, k), *z = cr_scratch_f64(&s, k);
    double      *off = cr_scratch_f64(&s, k), evidence = 0;
    cr_gaussian *g = NULL;

    CR_TRY(s.status);
    CR_TRY(check_rule(cx, y_given_x, d));
    CR_TRY(cri_check_finite(cx, "vector y", y, k));
    CR_TRY(cri_gaussian_alloc(cx, d, &g));
    CR_TRY(push(cx, x, y_given_x, z, Gt, C));
    for (size_t i = 0; i < k; i++) off[i] = z[i] = y[i] - z[i];
    CR_TRY(cri_gaussian_factor(cx, "covariance of y", C, k, NULL, L));
    CR_TRY(cri_log_density_at(cx, L, k, z, &evidence));
    CR_TRY(cr_chol_solve(cx, cri_square(L, k), cr_mat_of(Gt, k, d))); /* G' = C^-1 A P */
    if (d > 0) memcpy(g->mean, x->mean, d * sizeof *g->mean);
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(Gt, k, d), CR_TRANSPOSED, off, 1, g->mean));
    CR_TRY(joseph(cx, x, y_given_x, Gt, g->covariance));
    if (opt_log_evidence) *opt_log_evidence = evidence;
    *out = g;
    g = NULL;
done:
    cr_gaussian_free(cx, g);
    cr_scratch_end(&s);
    return st;
}

/* With m the mean of the posterior: log p(m) + log p(y | m) - log p(m | y); z = L^-1 (y - b) and
 * V = L^-1 A, L the factor of R. */
static cr_status canonical_evidence(cr_ctx *cx, const cr_canonical *prior, const cr_canonical *post,
                                    const double *L, const double *V, const double *z, size_t k,
                                    double *out)
{
    cr_status  st = CR_OK;
    size_t     d = prior->d;
    cr_scratch s = cr_scratch_begin(cx);
    double    *m = cr_scratch_f64(&s, d), *away = cr_scratch_f64(&s, k), before = 0, after = 0;
    CR_TRY(s.status);
    CR_TRY(cr_canonical_mean(cx, post, m));
    CR_TRY(cr_canonical_logpdf(cx, prior, m, 1, &before));
    CR_TRY(cr_canonical_logpdf(cx, post, m, 1, &after));
    for (size_t i = 0; i < k; i++) away[i] = z[i];
    CR_TRY(cr_gemv(cx, -1, cr_cmat_of(V, k, d), CR_PLAIN, m, 1, away));
    double seen =
        (double)k * CRI_LOG_2PI + cr_chol_logdet(cri_square(L, k)) + cr_dot(away, away, k);
    *out = before - after - 0.5 * seen;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_canonical_posterior(cr_ctx *cx, const cr_canonical *x,
                                 const cr_linear_gaussian *y_given_x, const double *y,
                                 cr_canonical **out, double *opt_log_evidence)
{
    cr_status     st = CR_OK;
    size_t        k = y_given_x->A.rows, d = x->d;
    cr_scratch    s = cr_scratch_begin(cx);
    double       *R = cr_scratch_matrix(&s, k, k), *L = cr_scratch_matrix(&s, k, k);
    double       *V = cr_scratch_matrix(&s, k, d), *z = cr_scratch_f64(&s, k), evidence = 0;
    cr_canonical *c = NULL;

    CR_TRY(s.status);
    CR_TRY(check_rule(cx, y_given_x, d));
    CR_TRY(cri_check_finite(cx, "vector y", y, k));
    if (k > 0) memset(R, 0, k * k * sizeof *R);
    if (y_given_x->R.a) CR_TRY(cri_copy_symmetric(cx, "noise R", y_given_x->R, k, R));
    CR_TRY(cri_gaussian_factor(cx, "noise R", R, k, NULL, L));
    CR_TRY(cr_canonical_new(cx, x->h, cri_square(x->precision, d), &c));
    for (size_t i = 0; i < k; i++) {
        z[i] = y[i] - (y_given_x->b ? y_given_x->b[i] : 0);
        memcpy(V + i * d, y_given_x->A.a + i * y_given_x->A.stride, d * sizeof *V);
    }
    CR_TRY(cr_chol_forward(cx, cri_square(L, k), cr_mat_of(V, k, d)));
    CR_TRY(cr_chol_forward(cx, cri_square(L, k), cr_mat_of(z, k, 1)));
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(V, k, d), CR_TRANSPOSED, z, 1, c->h));
    CR_TRY(cr_syrk(cx, 1, cr_cmat_of(V, k, d), CR_TRANSPOSED, 1, cr_mat_of(c->precision, d, d)));
    if (opt_log_evidence) {
        CR_TRY(canonical_evidence(cx, x, c, L, V, z, k, &evidence));
        *opt_log_evidence = evidence;
    }
    *out = c;
    c = NULL;
done:
    cr_canonical_free(cx, c);
    cr_scratch_end(&s);
    return st;
}
