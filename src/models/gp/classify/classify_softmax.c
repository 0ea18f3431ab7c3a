/* classify_softmax.c -- Laplace's approximation for more than two classes. */
#include "classify_laplace.h"
#include "base/parallel.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { ROWS = 64 };

static double weight_at(const cri_laplace *m, size_t i)
{
    double n = 0;
    for (size_t c = 0; c < m->all->C; c++) n += m->counts[i * m->all->C + c];
    return n;
}

static void look_many(cri_laplace *m, size_t n, double *t)
{
    size_t F = m->all->F;
    m->log_likelihood = 0;
    for (size_t i = 0; i < n; i++) {
        const double *counts = m->counts + i * F;
        double        weight = weight_at(m, i);
        for (size_t c = 0; c < F; c++) t[c] = m->f[c * n + i];
        double sum = cr_logsumexp(t, F);
        for (size_t c = 0; c < F; c++) {
            double p = exp(t[c] - sum);
            m->p[c * n + i] = p;
            m->log_likelihood += counts[c] > 0 ? counts[c] * (t[c] - sum) : 0;
            m->slope[c * n + i] = counts[c] - weight * p;
            m->root[c * n + i] = sqrt(weight * p);
        }
    }
    m->log_posterior = m->log_likelihood - 0.5 * cr_dot(m->a, m->f, F * n);
}

/* --- E and O --------------------------------------------------------------------------------- */

typedef struct scale_work {
    size_t        n;
    const double *root;
    double       *E, *O;
    bool          first;
} scale_work;

/* E_c = root B_c^-1 root over B_c^-1; O += E_c. */
static void scale_rows(void *arg, size_t block)
{
    const scale_work *w = arg;
    cri_range         rows = cri_block_range(w->n, ROWS, block);
    for (size_t i = rows.begin; i < rows.end; i++) {
        double *e = w->E + i * w->n, *o = w->O + i * w->n, r = w->root[i];
        for (size_t j = 0; j < w->n; j++) {
            e[j] *= r * w->root[j];
            o[j] = w->first ? e[j] : o[j] + e[j];
        }
    }
}

cr_status cri_laplace_couple(cr_ctx *cx, size_t n, size_t F, const double *K, const double *root,
                             double *E, double *O, double *out_log_det)
{
    cr_status st = CR_OK;
    *out_log_det = 0;
    for (size_t c = 0; c < F; c++) {
        double    *one = E + c * n * n;
        scale_work w = { n, root + c * n, one, O, c == 0 };
        CR_TRY(cri_laplace_factor(cx, n, K, root + c * n, one));
        *out_log_det += cr_chol_logdet(cr_cmat_of(one, n, n));
        CR_TRY(cr_chol_inverse(cx, cr_cmat_of(one, n, n), cr_mat_of(one, n, n)));
        CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(n, ROWS), scale_rows, &w));
    }
    CR_TRY(cr_chol(cx, cr_mat_of(O, n, n)));
    *out_log_det += cr_chol_logdet(cr_cmat_of(O, n, n));
done:
    return st;
}

/* All E_c, the factor of O in L, and log|I + K W|. */
static cr_status factor_many(cr_ctx *cx, size_t n, cri_laplace *m)
{
    cr_status st = cri_laplace_couple(cx, n, m->all->F, m->K, m->root, m->E, m->L, &m->log_det);
    for (size_t i = 0; st == CR_OK && i < n; i++) m->log_det -= log(weight_at(m, i));
    return st;
}

/* --- the mode -------------------------------------------------------------------------------- */

/* out := x - S K x of all functions: e_c = E_c K x_c, t = O^-1 sum e_c, x_c - e_c + E_c t.  out may
 * be x; e [F x n], t [n], h [n] are workspace. */
static cr_status apply(cr_ctx *cx, size_t n, const cri_laplace *m, const double *x, double *e,
                       double *t, double *h, double *out)
{
    cr_status st = CR_OK;
    memset(t, 0, n * sizeof *t);
    for (size_t c = 0; c < m->all->F; c++) {
        CR_TRY(cr_gemv(cx, 1, cr_cmat_of(m->K, n, n), CR_PLAIN, x + c * n, 0, h));
        CR_TRY(cr_gemv(cx, 1, cr_cmat_of(m->E + c * n * n, n, n), CR_PLAIN, h, 0, e + c * n));
        for (size_t i = 0; i < n; i++) t[i] += e[c * n + i];
    }
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(m->L, n, n), cr_mat_of(t, n, 1)));
    for (size_t c = 0; c < m->all->F; c++) {
        CR_TRY(cr_gemv(cx, 1, cr_cmat_of(m->E + c * n * n, n, n), CR_PLAIN, t, 0, h));
        for (size_t i = 0; i < n; i++) out[c * n + i] = x[c * n + i] - e[c * n + i] + h[i];
    }
done:
    return st;
}

/* R & W alg. 3.3. */
static cr_status move_many(cr_ctx *cx, size_t n, cri_laplace *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     F = m->all->F;
    double *e = cr_scratch_f64(&s, F * n), *t = cr_scratch_f64(&s, n), *h = cr_scratch_f64(&s, n);

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) { /* b = W f + d log p / df */
        double mean = 0, weight = weight_at(m, i);
        for (size_t c = 0; c < F; c++)
            mean += m->held[c * n + i] * m->held[c * n + i] / weight * m->f[c * n + i];
        for (size_t c = 0; c < F; c++) {
            double d = m->held[c * n + i] * m->held[c * n + i];
            m->a[c * n + i] = d * (m->f[c * n + i] - mean) + m->slope[c * n + i];
        }
    }
    CR_TRY(apply(cx, n, m, m->a, e, t, h, m->a));
    for (size_t c = 0; c < F; c++)
        CR_TRY(cr_gemv(cx, 1, cr_cmat_of(m->K, n, n), CR_PLAIN, m->a + c * n, 0, m->f + c * n));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the gradient ---------------------------------------------------------------------------- */

/* V -= (E_c - E_c O^-1 E_c) / 2 and Q_c := M^-1 E_c K, O = M M^T; T [n x n] is workspace. */
static cr_status add_class(cr_ctx *cx, size_t n, const cri_laplace *m, size_t c, double *T,
                           double *Q, double *V)
{
    cr_status st = CR_OK;
    double   *E = m->E + c * n * n;
    for (size_t i = 0; i < n * n; i++) V[i] -= 0.5 * E[i];
    memcpy(T, E, n * n * sizeof *T);
    CR_TRY(cr_chol_forward(cx, cr_cmat_of(m->L, n, n), cr_mat_of(T, n, n)));
    CR_TRY(cr_syrk(cx, 0.5, cr_cmat_of(T, n, n), CR_TRANSPOSED, 1, cr_mat_of(V, n, n)));
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(T, n, n), CR_PLAIN, cr_cmat_of(m->K, n, n), CR_PLAIN, 0,
                   cr_mat_of(Q, n, n)));
done:
    return st;
}

/* s = -1/2 d log|I + K W| / df into s [F x n] from the posterior covariances of the functions at
 * each input, Sigma_cd = [c = d] (K^-1 + D_c)^-1 + q_c . q_d, where the diagonal of (K^-1 + D)^-1
 * is (1 - E_ii / D_ii) / D_ii: with t_c = Sigma_cc, v_c = sum_d Sigma_cd p_d,  s_c = -N p_c (t_c -
 * sum p t - 2 v_c + 2 sum p v) / 2.  Q [F x n x n]; workspace is [n + 2 F n]. */
static void find_slopes(const cri_laplace *m, size_t n, const double *Q, double *workspace,
                        double *s)
{
    size_t  F = m->all->F;
    double *mean = workspace, *t = mean + n, *v = t + F * n;
    memset(t, 0, 2 * F * n * sizeof *t);
    for (size_t j = 0; j < n; j++) { /* row j of all Q_c; mean = sum_d p_d q_d */
        memset(mean, 0, n * sizeof *mean);
        for (size_t c = 0; c < F; c++)
            for (size_t i = 0; i < n; i++) mean[i] += m->p[c * n + i] * Q[(c * n + j) * n + i];
        for (size_t c = 0; c < F; c++)
            for (size_t i = 0; i < n; i++) {
                double q = Q[(c * n + j) * n + i];
                t[c * n + i] += q * q;
                v[c * n + i] += q * mean[i];
            }
    }
    for (size_t i = 0; i < n; i++) {
        double weight = weight_at(m, i), tau = 0, kappa = 0;
        for (size_t c = 0; c < F; c++) {
            double p = m->p[c * n + i], D = weight * p, E = m->E[(c * n + i) * n + i];
            double own = D > 0 ? (1 - E / D) / D : m->K[i * n + i];
            t[c * n + i] += own;
            v[c * n + i] += own * p;
            tau += p * t[c * n + i];
            kappa += p * v[c * n + i];
        }
        for (size_t c = 0; c < F; c++)
            s[c * n + i] = -0.5 * weight * m->p[c * n + i] *
                           (t[c * n + i] - tau - 2 * v[c * n + i] + 2 * kappa);
    }
}

static cr_status weigh_many(cr_ctx *cx, size_t n, cri_laplace *m, double *V)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     F = m->all->F;
    double    *T = cr_scratch_matrix(&s, n, n), *Q = cr_scratch_matrix(&s, F * n, n);
    double    *u = cr_scratch_matrix(&s, F, n), *e = cr_scratch_matrix(&s, F, n);
    double    *workspace = cr_scratch_f64(&s, n + 2 * F * n);

    CR_TRY(s.status);
    memset(V, 0, n * n * sizeof *V);
    for (size_t c = 0; c < F; c++) CR_TRY(add_class(cx, n, m, c, T, Q + c * n * n, V));
    find_slopes(m, n, Q, workspace, u);
    CR_TRY(apply(cx, n, m, u, e, workspace, workspace + n, u));
    for (size_t c = 0; c < F; c++) {
        const double *a = m->a + c * n, *b = u + c * n;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                V[i * n + j] += 0.5 * (a[i] * a[j] + b[i] * a[j] + a[i] * b[j]);
    }
done:
    cr_scratch_end(&s);
    return st;
}

const cri_laplace_form cri_laplace_many = { look_many, factor_many, move_many, weigh_many };

cr_status cri_laplace_factors(cr_ctx *cx, const cri_laplace *m, double *factor)
{
    return cri_laplace_factor_each(cx, m->seen_n, m->all->F, m->K, m->root, factor);
}

cr_status cri_laplace_factor_each(cr_ctx *cx, size_t n, size_t F, const double *K,
                                  const double *root, double *factor)
{
    cr_status st = CR_OK;
    for (size_t c = 0; st == CR_OK && c < F; c++)
        st = cri_laplace_factor(cx, n, K, root + c * n, factor + c * n * n);
    return st;
}
