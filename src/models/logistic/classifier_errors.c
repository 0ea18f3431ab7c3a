/* classifier_errors.c -- standard errors of linear classifiers.
 *   Cov theta = H^-1                  H the Hessian of F: rows of weight w count as w rows
 *   Cov theta = H^-1 J H^-1           where classes have weights: J = sum_i v_i c_i^2 s_i s_i', s_i the score of row i,
 *                                     v_i its own weight, c_i that of its class
 * A row that is weighted by its class is still one row: as c_i rows it would say c_i times as much as it does.
 * White (1982), Econometrica 50, 1-25.  O(D^3), and O(n D^2) for J, D coefficients. */
#include "classifier.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "math/dense/chol.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

/* Rows and columns of coefficients that are 0 by decree become those of the identity. */
static void leave_out(const cri_likelihood *f, const bool *fixed, double *H)
{
    size_t q = f->x->q, D = f->M * q;
    for (size_t a = 0; a < D; a++) {
        if (!fixed[a % q]) continue;
        for (size_t b = 0; b < D; b++) H[a * D + b] = H[b * D + a] = 0;
        H[a * D + a] = 1;
    }
}

/* u [D] = the score of row i at theta, its coordinates in z [q] and r, c, eta [M] workspace, times the root of v c^2. */
static void score_row(const cri_likelihood *f, const double *theta, size_t i, const double *x,
                      double *z, double *eta, double *u)
{
    const cri_classifier_rows *rows = f->x;
    size_t                     q = rows->q, one = rows->intercept, M = f->M;
    double                    *r = eta + M, *c = r + M, nll;
    double                     class_weight = rows->rows->class_weight[(size_t)rows->rows->y[i]];
    if (one) z[0] = 1;
    for (size_t j = 0; j < rows->p; j++) z[one + j] = (x[j] - rows->centre[j]) * rows->inverse[j];
    for (size_t m = 0; m < M; m++) eta[m] = cblas_ddot((int)q, theta + m * q, 1, z, 1);
    cri_likelihood_row(f, eta, f->y[i], &nll, r, c);
    double root = sqrt((rows->w ? rows->w[i] : 1) * class_weight);
    for (size_t m = 0; m < M; m++)
        for (size_t j = 0; j < q; j++) u[m * q + j] = root * r[m] * z[j];
}

/* J [D x D], its lower triangle. */
static cr_status sum_scores(cr_ctx *cx, const cri_likelihood *f, const double *theta, double *J)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = f->x->n, p = f->x->p, q = f->x->q, D = f->M * q;
    double    *X = cr_scratch_matrix(&s, BLOCK, p), *U = cr_scratch_matrix(&s, BLOCK, D);
    double    *z = cr_scratch_f64(&s, q), *eta = cr_scratch_f64(&s, 3 * f->M);

    CR_TRY(s.status);
    memset(J, 0, D * D * sizeof *J);
    for (size_t begin = 0; begin < n; begin += BLOCK) {
        size_t end = begin + BLOCK < n ? begin + BLOCK : n;
        CR_TRY(cr_check_interrupt(cx));
        cri_rows_fill(f->x->rows, begin, end, X, p);
        for (size_t i = begin; i < end; i++)
            score_row(f, theta, i, X + (i - begin) * p, z, eta, U + (i - begin) * D);
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)D, (int)(end - begin), 1, U, (int)D,
                    1, J, (int)D);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* V [D x D], the inverse of H, becomes V J V. */
static cr_status spread_by_scores(cr_ctx *cx, const cri_likelihood *f, const bool *fixed,
                                  const double *theta, double *V)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     q = f->x->q, D = f->M * q;
    double    *J = cr_scratch_matrix(&s, D, D), *VJ = cr_scratch_matrix(&s, D, D);

    CR_TRY(s.status);
    CR_TRY(sum_scores(cx, f, theta, J));
    for (size_t a = 0; a < D; a++)
        for (size_t b = 0; b < a; b++) J[b * D + a] = J[a * D + b];
    for (size_t a = 0; a < D; a++)
        for (size_t b = 0; fixed && b < D; b++)
            if (fixed[a % q] || fixed[b % q]) J[a * D + b] = 0;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)D, (int)D, (int)D, 1, V, (int)D, J,
                (int)D, 0, VJ, (int)D);
    memcpy(J, V, D * D * sizeof *J);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)D, (int)D, (int)D, 1, VJ, (int)D, J,
                (int)D, 0, V, (int)D);
done:
    cr_scratch_end(&s);
    return st;
}

/* a' V a */
static double square_of(const double *V, const double *a, size_t D)
{
    double sum = 0;
    for (size_t k = 0; k < D; k++) sum += a[k] * cblas_ddot((int)D, V + k * D, 1, a, 1);
    return sum;
}

cr_status cri_classifier_sds(cr_ctx *cx, const cri_likelihood *f, const bool *fixed,
                             const double *opt_theta, double *H, double *sd)
{
    cr_status                  st = CR_OK;
    const cri_classifier_rows *x = f->x;
    size_t                     q = x->q, p = x->p, one = x->intercept, D = f->M * q;
    cr_scratch                 s = cr_scratch_begin(cx);
    double                    *V = cr_scratch_matrix(&s, D, D), *a = cr_scratch_f64(&s, D);
    bool                       robust = opt_theta && x->rows->class_weight;

    CR_TRY(s.status);
    for (size_t k = 0; k < f->M * (p + 1); k++) sd[k] = -1;
    if (robust && f->passes) goto done; /* which would take one more */
    if (fixed) leave_out(f, fixed, H);
    if (cr_chol(cx, cr_mat_of(H, D, D)) == CR_ENUMERIC) goto done; /* no standard errors */
    CR_TRY(cr_chol_inverse(cx, cr_cmat_of(H, D, D), cr_mat_of(V, D, D)));
    if (robust) CR_TRY(spread_by_scores(cx, f, fixed, opt_theta, V));
    for (size_t m = 0; m < f->M; m++) {
        double gauge = f->full && f->M > 1 && one && f->intercept_l2 == 0 && !robust
                           ? 1 / (double)(f->M * f->M)
                           : 0;
        for (size_t j = 0; j < p; j++) {
            double v = V[(m * q + one + j) * (D + 1)];
            if (!(fixed && fixed[one + j])) sd[m * (p + 1) + 1 + j] = sqrt(v) * x->inverse[j];
        }
        if (!one) continue;
        memset(a, 0, D * sizeof(double)); /* the intercept is the score at x = 0 */
        a[m * q] = 1;
        for (size_t j = 0; j < p; j++)
            a[m * q + 1 + j] = fixed && fixed[1 + j] ? 0 : -x->centre[j] * x->inverse[j];
        double v = robust ? square_of(V, a, D) : -gauge;
        if (!robust) CR_TRY(cr_chol_forward(cx, cr_cmat_of(H, D, D), cr_mat_of(a, D, 1)));
        for (size_t k = 0; !robust && k < D; k++) v += a[k] * a[k];
        sd[m * (p + 1)] = sqrt(fmax(v, 0));
    }
done:
    cr_scratch_end(&s);
    return st;
}
