/* gp_cg_evidence.c -- log evidence and its gradient by conjugate gradients. */
#include "gp_cg.h"
#include "../../base/parallel.h"
#include "../../base/rng.h"
#include "../../math/chol.h"
#include "../../math/decompose.h"
#include "../../math/dense.h"

#include <math.h>
#include <string.h>

enum { ROWS = 256 };

/* --- log determinant ------------------------------------------------------------------------- */

/* B [n x t], columns `first` and on: probes z = D^1/2 e + F e', e and e' of signs. */
static void draw_probes(const cri_gp_preconditioner *p, uint64_t seed, size_t first, size_t t,
                        double *B)
{
    for (size_t c = first; c < t; c++) {
        cr_rng rng = cr_rng_stream(seed, 9000 + c - first);
        for (size_t i = 0; i < p->n; i++)
            B[i * t + c] = (cr_rng_u32(&rng) & 1 ? 1 : -1) * sqrt(p->D[i]);
        for (size_t j = 0; j < p->rank; j++) {
            double sign = cr_rng_u32(&rng) & 1 ? 1 : -1;
            for (size_t i = 0; i < p->n; i++) B[i * t + c] += sign * p->F[i * p->width + j];
        }
    }
}

/* e1' log(T) e1 of the Lanczos matrix that the steps and ratios of column c make (Golub & Meurant
 * 2010, sec. 4): T_jj = 1/step_j + ratio_(j-1)/step_(j-1), T_j,j+1 = sqrt(ratio_j)/step_j. */
static cr_status log_quadrature(cr_ctx *cx, const double *steps, size_t t, size_t c, size_t count,
                                double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *T = cr_scratch_bytes(&s, count * count, sizeof(double));
    double    *V = cr_scratch_matrix(&s, count, count), *w = cr_scratch_f64(&s, count), sum = 0;

    CR_TRY(s.status);
    for (size_t j = 0; j < count; j++) {
        double step = steps[j * 2 * t + c], ratio = steps[j * 2 * t + t + c];
        T[j * count + j] += 1 / step;
        if (j + 1 == count) break;
        T[(j + 1) * count + j + 1] = ratio / step;
        T[(j + 1) * count + j] = T[j * count + j + 1] = sqrt(ratio) / step;
    }
    CR_TRY(cr_eigen(cx, cr_cmat_of(T, count, count), w, cr_mat_of(V, count, count)));
    for (size_t j = 0; j < count; j++)
        if (w[j] > 0) sum += V[j] * V[j] * log(w[j]);
    *out = sum;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- evidence -------------------------------------------------------------------------------- */

typedef struct work {
    cr_ctx               *cx;
    const cri_gp_problem *problem;
    cri_gp_operator       op;
    cri_gp_preconditioner p;
    size_t                n, q, t, w; /* rows, terms, probes, columns q + 1 + t              */
    double               *B, *X, *Z;  /* [n x w] (H, y, probes); C^-1 of it; P^-1 of it      */
    double               *steps;      /* [max_iter x 2 w]                                    */
    size_t               *count;      /* [w]                                                 */
} work;

/* b, alpha, U, A; *out = (y - H b)^T C^-1 (y - H b). */
static cr_status solve_mean(const work *k, cri_gp_cg *cg, double *out)
{
    cr_status st = CR_OK;
    size_t    n = k->n, q = k->q, w = k->w;
    double    quadratic = 0;
    memset(cg->A, 0, q * q * sizeof(double));
    memset(cg->beta, 0, q * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        cg->alpha[i] = k->X[i * w + q];
        for (size_t a = 0; a < q; a++) {
            cg->U[i * q + a] = k->X[i * w + a];
            cg->beta[a] += k->B[i * w + a] * k->X[i * w + q];
            for (size_t b = 0; b <= a; b++) cg->A[a * q + b] += k->B[i * w + a] * k->X[i * w + b];
        }
    }
    if (q) {
        CR_TRY(cr_chol(k->cx, cr_mat_of(cg->A, q, q)));
        CR_TRY(cr_chol_solve(k->cx, cr_cmat_of(cg->A, q, q), cr_mat_of(cg->beta, q, 1)));
    }
    for (size_t i = 0; i < n; i++) {
        double error = k->B[i * w + q];
        for (size_t a = 0; a < q; a++) {
            cg->alpha[i] -= cg->U[i * q + a] * cg->beta[a];
            error -= k->B[i * w + a] * cg->beta[a];
        }
        quadratic += error * cg->alpha[i];
    }
    *out = quadratic;
done:
    return st;
}

/* log det C by the probes, and its standard error. */
static cr_status log_determinant(const work *k, double *out, double *out_se)
{
    cr_status st = CR_OK;
    double    mean = 0, square = 0;
    for (size_t c = 0; c < k->t; c++) {
        size_t column = k->q + 1 + c;
        double length = 0, value = 0;
        for (size_t i = 0; i < k->n; i++)
            length += k->B[i * k->w + column] * k->Z[i * k->w + column];
        if (k->count[column])
            CR_TRY(log_quadrature(k->cx, k->steps, k->w, column, k->count[column], &value));
        double delta = length * value - mean;
        mean += delta / (double)(c + 1);
        square += delta * (length * value - mean);
    }
    double t = (double)k->t;
    *out = k->p.log_det + mean;
    *out_se = k->t > 1 ? sqrt(square / (t - 1) / t) : INFINITY;
done:
    return st;
}

/* The columns of left and right [n x v], W = left right^T - D^-1 / 2: alpha, the differences that
 * the probes tell, and P^-1 = D^-1 - V V^T, V = D^-1/2 G L^-T; returns the part of the noise. */
static cr_status set_weights(const work *k, const cri_gp_cg *cg, size_t v, double *left,
                             double *right, double *out_by_noise)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(k->cx);
    size_t     n = k->n, t = k->t, w = k->p.width;
    double    *T = cr_scratch_matrix(&s, w, n), by_noise = 0;

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < w; c++) T[c * n + i] = k->p.G[i * w + c] / sqrt(k->p.D[i]);
    CR_TRY(cr_chol_forward(k->cx, cr_cmat_of(k->p.L, w, w), cr_mat_of(T, w, n)));
    for (size_t i = 0; i < n; i++) {
        double *l = left + i * v, *r = right + i * v, sum = -0.5 / k->p.D[i];
        l[0] = 0.5 * cg->alpha[i];
        r[0] = cg->alpha[i];
        for (size_t c = 0; c < t; c++) {
            r[1 + c] = k->Z[i * k->w + k->q + 1 + c];
            l[1 + c] = -0.5 / (double)t * (k->X[i * k->w + k->q + 1 + c] - r[1 + c]);
        }
        for (size_t c = 0; c < w; c++) {
            r[1 + t + c] = T[c * n + i];
            l[1 + t + c] = 0.5 * T[c * n + i];
        }
        for (size_t c = 0; c < v; c++) sum += l[c] * r[c];
        by_noise += k->p.D[i] * sum;
    }
    *out_by_noise = by_noise;
done:
    cr_scratch_end(&s);
    return st;
}

/* sum_ab W_ab dC_ab, W = a a' / 2 - P^-1 / 2 - sum_i (C^-1 z_i - P^-1 z_i)(P^-1 z_i)' / (2 t), some
 * rows of it at a time: the probes only tell what P does not. */
static cr_status differentiate(const work *k, const cri_gp_cg *cg, double *out_gradient)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(k->cx);
    const cri_gp_data *a = k->problem->data;
    size_t             n = k->n, v = 1 + k->t + k->p.width, p = cr_kernel_theta_size(k->op.k);
    size_t             rows = n < ROWS ? n : ROWS;
    double *left = cr_scratch_matrix(&s, n, v), *right = cr_scratch_matrix(&s, n, v), by_noise = 0;
    double *W = cr_scratch_matrix(&s, rows, n), *some = cr_scratch_f64(&s, p + 1);
    double *diagonal = cr_scratch_f64(&s, n);

    CR_TRY(s.status);
    CR_TRY(set_weights(k, cg, v, left, right, &by_noise));
    for (size_t j = 0; j < p; j++) out_gradient[j] = 0;
    cr_kernel_input all = cri_gp_inputs(a);
    for (size_t b = 0; b < cri_block_count(n, ROWS); b++) {
        cri_range       r = cri_block_range(n, ROWS, b);
        size_t          c = r.end - r.begin;
        cri_gp_data     part = { .n = c,
                                 .d = a->d,
                                 .c = a->c,
                                 .X = a->X + r.begin * a->d,
                                 .codes = a->codes + r.begin * a->c };
        cr_kernel_input in = cri_gp_inputs(&part);
        CR_TRY(cr_check_interrupt(k->cx));
        CR_TRY(cr_gemm(k->cx, 1, cr_cmat_of(left + r.begin * v, c, v), CR_PLAIN,
                       cr_cmat_of(right, n, v), CR_TRANSPOSED, 0, cr_mat_of(W, c, n)));
        CR_TRY(cr_kernel_cross_gradient(k->cx, k->op.k, &in, &all, cr_cmat_of(W, c, n), some,
                                        (cr_mat){ 0 }));
        for (size_t j = 0; j < p; j++) out_gradient[j] += some[j];
    }
    for (size_t i = 0; i < n; i++) diagonal[i] = -0.5 / k->p.D[i];
    CR_TRY(cr_kernel_diagonal_gradient(k->cx, k->op.k, &all, diagonal, false, some, (cr_mat){ 0 }));
    for (size_t j = 0; j < p; j++) out_gradient[j] += some[j];
    out_gradient[p] = by_noise + 0.5 * (a->spread / k->op.noise - (a->count - (double)n));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_cg_evidence(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                             double noise, cri_gp_cg *cg, double *opt_gradient)
{
    cr_status                 st = CR_OK;
    cr_scratch                s = cr_scratch_begin(cx);
    const cri_gp_data        *data = problem->data;
    const cri_gp_cg_settings *o = &cg->settings;
    size_t                    n = data->n, q = problem->q, w = q + 1 + o->probes;
    double                    quadratic, log_det, se;
    work                      f = { .cx = cx,
                                    .problem = problem,
                                    .n = n,
                                    .q = q,
                                    .t = o->probes,
                                    .w = w,
                                    .B = cr_scratch_matrix(&s, n, w),
                                    .X = cr_scratch_matrix(&s, n, w),
                                    .Z = cr_scratch_matrix(&s, n, w),
                                    .steps = cr_scratch_matrix(&s, o->max_iter, 2 * w),
                                    .count = cr_scratch_index(&s, w) };

    CR_TRY(s.status);
    CR_TRY(cri_gp_operator_new(cx, &s, data, k, noise, &f.op));
    CR_TRY(cri_gp_preconditioner_new(cx, &s, &f.op, o->rank, &f.p));
    for (size_t i = 0; i < n; i++) {
        for (size_t a = 0; a < q; a++) f.B[i * w + a] = problem->H[i * q + a];
        f.B[i * w + q] = data->y[i];
    }
    draw_probes(&f.p, o->seed, q + 1, w, f.B);
    CR_TRY(cri_gp_precondition(cx, &f.p, f.B, w, f.Z));
    CR_TRY(cri_gp_cg_solve(cx, &f.op, &f.p, f.B, w, o->tolerance, o->max_iter, f.X, f.steps,
                           f.count, &cg->report));
    CR_TRY(solve_mean(&f, cg, &quadratic));
    CR_TRY(log_determinant(&f, &log_det, &se));
    cg->value =
        -0.5 * (quadratic + log_det + (double)n * log(2 * M_PI)) + cri_gp_merged(data, noise);
    cg->se = 0.5 * se;
    if (!isfinite(cg->value))
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "gp: the log evidence is not finite"));
    if (opt_gradient) CR_TRY(differentiate(&f, cg, opt_gradient));
done:
    cr_scratch_end(&s);
    return st;
}
