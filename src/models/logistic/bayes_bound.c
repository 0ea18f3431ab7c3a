/* bayes_bound.c -- the bound of Jaakkola & Jordan on the evidence of two classes.
 *   log s(t) >= log s(xi) + (t - xi) / 2 - l(xi) (t^2 - xi^2),   l(xi) = tanh(xi / 2) / (4 xi),
 * which is quadratic in the score t of a row, so that the posterior under it is a normal:
 *   A = prior precisions + sum_i 2 w_i l(xi_i) z_i z_i',   A m = sum_i w_i s_i z_i / 2,  s_i = +-1;
 *   log Z >= log|P| / 2 - log|A| / 2 + m'A m / 2 + sum_i w_i (log s(xi_i) - xi_i / 2 + l(xi_i) xi_i^2),
 * P the prior precisions.  The best xi_i^2 = z_i' (A^-1 + m m') z_i; each round raises the bound.
 * O(n D^2) a round.  Jaakkola & Jordan (2000), Statistics and Computing 10; Bishop (2006), sec. 10.6. */
#include "bayes_logistic.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "math/dense/chol.h"
#include "math/special/special.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { ROWS = 64, MOST_ROUNDS = 1000 };

typedef struct bound_work {
    const cri_likelihood *f;
    const double         *mean, *S; /* [q], [q x q] of the normal so far */
} bound_work;

static double bound_curve(double xi)
{
    return xi < 1e-4 ? 0.125 - xi * xi / 96 : tanh(0.5 * xi) / (4 * xi);
}

/* acc [1 + q + q^2]: what the rows add to the bound, sum w s z / 2, and 2 w l z z' (its lower
 * triangle).  workspace: z [ROWS x q], S z [ROWS x q]. */
static void add_rows(void *arg, cri_range range, double *acc, double *workspace)
{
    const bound_work          *w = arg;
    const cri_classifier_rows *x = w->f->x;
    size_t                     q = x->q, n = range.end - range.begin;
    double                    *Z = workspace, *V = workspace + ROWS * q;
    for (size_t i = 0; i < n; i++) {
        const double *z = cri_classifier_rows_one(x, range.begin + i, Z + i * q);
        if (z != Z + i * q) memcpy(Z + i * q, z, q * sizeof(double));
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)q, (int)q, 1, Z, (int)q,
                w->S, (int)q, 0, V, (int)q);
    for (size_t i = 0; i < n; i++) {
        double *z = Z + i * q, *v = V + i * q, weight = x->w ? x->w[range.begin + i] : 1;
        double  t = 0, square = 0, sign = w->f->y[range.begin + i] == 0 ? 1 : -1;
        for (size_t j = 0; j < q; j++) t += w->mean[j] * z[j], square += v[j] * z[j];
        double xi = sqrt(square + t * t), curve = bound_curve(xi);
        acc[0] += weight * (cr_log_sigmoid(xi) - 0.5 * xi + curve * xi * xi);
        for (size_t j = 0; j < q; j++) acc[1 + j] += 0.5 * sign * weight * z[j];
        for (size_t j = 0; j < q; j++) z[j] *= sqrt(2 * weight * curve);
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)q, (int)n, 1, Z, (int)q, 1, acc + 1 + q,
                (int)q);
}

/* A, its factor L, the mean and the bound at the best xi of the normal before. */
static cr_status take_round(cr_ctx *cx, bound_work *w, double *acc, double *A, double *L,
                            double *mean, double *out_bound)
{
    cr_status             st = CR_OK;
    const cri_likelihood *f = w->f;
    size_t                q = f->x->q;
    double                bound;
    cri_blas_enter();
    st =
        cri_parallel_sum_in(cx, NULL, f->x->n, ROWS, 1 + q + q * q, 2 * ROWS * q, add_rows, w, acc);
    cri_blas_leave();
    CR_TRY(st);
    bound = acc[0];
    for (size_t i = 0; i < q; i++) {
        double prior = f->x->intercept && i == 0 ? f->intercept_l2 : f->l2;
        for (size_t j = 0; j <= i; j++)
            A[i * q + j] = A[j * q + i] = acc[1 + q + i * q + j] + (i == j ? prior : 0);
        bound += 0.5 * log(prior);
    }
    memcpy(L, A, q * q * sizeof(double));
    CR_TRY(cr_chol(cx, cr_mat_of(L, q, q)));
    memcpy(mean, acc + 1, q * sizeof(double));
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(L, q, q), cr_mat_of(mean, q, 1)));
    for (size_t j = 0; j < q; j++) bound += 0.5 * mean[j] * acc[1 + j];
    *out_bound = bound - 0.5 * cr_chol_logdet(cr_cmat_of(L, q, q));
done:
    return st;
}

cr_status cri_bayes_logistic_bound(cr_ctx *cx, const cri_likelihood *f, size_t limit,
                                   double *opt_bounds, double *A, cri_bayes_logistic *m,
                                   size_t *out_rounds)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     q = f->x->q, round = 0;
    double    *acc = cr_scratch_f64(&s, 1 + q + q * q), *L = cr_scratch_matrix(&s, q, q);
    double     before = -INFINITY, bound = 0;
    bound_work w = { f, m->mode, m->covariance };

    CR_TRY(s.status);
    if (limit == 0) limit = MOST_ROUNDS;
    for (; round < limit; round++, before = bound) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(take_round(cx, &w, acc, A, L, m->mode, &bound));
        CR_TRY(cr_chol_inverse(cx, cr_cmat_of(L, q, q), cr_mat_of(m->covariance, q, q)));
        if (opt_bounds) opt_bounds[round] = bound;
        if (!opt_bounds && bound - before <= 1e-12 * fabs(bound)) break;
    }
    m->log_evidence = bound;
    *out_rounds = round;
done:
    cr_scratch_end(&s);
    return st;
}
