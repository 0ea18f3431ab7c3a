/* gp_cg_evidence.c -- log evidence and its gradient by conjugate gradients. */
#include "gp_cg.h"
#include "base/parallel.h"
#include "math/constants.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROWS = 256, QL_STEPS = 100 };

/* --- log determinant ------------------------------------------------------------------------- */

/* One implicit QL step on rows l .. m, whose shift is the eigenvalue of the upper left corner;
 * first [n]: the first components of the eigenvectors so far (Golub & Welsch 1969; Wilkinson &
 * Reinsch 1971, II/4). */
static void chase(double *d, double *e, double *first, size_t l, size_t m)
{
    double g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypot(g, 1), s = 1, c = 1, p = 0;
    g = d[m] - d[l] + e[l] / (g + copysign(r, g));
    for (size_t i = m; i-- > l;) {
        double f = s * e[i], b = c * e[i];
        r = hypot(f, g);
        e[i + 1] = r;
        if (r == 0) { /* split: the rest is done in the next step */
            d[i + 1] -= p;
            e[m] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        f = first[i + 1];
        first[i + 1] = s * first[i] + c * f;
        first[i] = c * first[i] - s * f;
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
}

cr_status cri_gp_log_quadrature(cr_ctx *cx, double *d, double *e, size_t n, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *first = cr_scratch_bytes(&s, n, sizeof(double)), sum = 0;

    CR_TRY(s.status);
    first[0] = 1;
    e[n - 1] = 0;
    for (size_t l = 0; l < n; l++) {
        for (size_t step = 0;; step++) {
            size_t m = l;
            while (m + 1 < n && fabs(e[m]) > DBL_EPSILON * (fabs(d[m]) + fabs(d[m + 1]))) m++;
            if (m == l) break;
            if (step == QL_STEPS)
                CR_TRY(cr_fail(cx, CR_ENUMERIC,
                               "gp: an eigenvalue of a Lanczos matrix was not found"));
            chase(d, e, first, l, m);
        }
    }
    for (size_t j = 0; j < n; j++)
        if (d[j] > 0) sum += first[j] * first[j] * log(d[j]);
    *out = sum;
done:
    cr_scratch_end(&s);
    return st;
}

/* The Lanczos matrix that the steps and ratios of column c make (Golub & Meurant 2010, sec. 4):
 * T_jj = 1/step_j + ratio_(j-1)/step_(j-1), T_j,j+1 = sqrt(ratio_j)/step_j. */
static cr_status log_of_column(cr_ctx *cx, const double *steps, size_t t, size_t c, size_t count,
                               double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *d = cr_scratch_bytes(&s, count, sizeof(double)), *e = cr_scratch_f64(&s, count);

    CR_TRY(s.status);
    for (size_t j = 0; j < count; j++) {
        double step = steps[j * 2 * t + c], ratio = steps[j * 2 * t + t + c];
        d[j] += 1 / step;
        if (j + 1 == count) break;
        d[j + 1] = ratio / step;
        e[j] = sqrt(ratio) / step;
    }
    CR_TRY(cri_gp_log_quadrature(cx, d, e, count, out));
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

/* log det C by the probes, and its standard error.  The mean of the lengths |P^-1/2 z|^2 is known,
 * n, and takes off what their scatter adds. */
static cr_status log_determinant(const work *k, double *out, double *out_se)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(k->cx);
    double    *length = cr_scratch_bytes(&s, k->t, sizeof(double));
    double    *value = cr_scratch_bytes(&s, k->t, sizeof(double));
    double     mean = 0, square = 0, level = 0, t = (double)k->t;

    CR_TRY(s.status);
    for (size_t c = 0; c < k->t; c++) {
        size_t column = k->q + 1 + c;
        for (size_t i = 0; i < k->n; i++)
            length[c] += k->B[i * k->w + column] * k->Z[i * k->w + column];
        if (k->count[column])
            CR_TRY(log_of_column(k->cx, k->steps, k->w, column, k->count[column], &value[c]));
        level += value[c] / t;
    }
    for (size_t c = 0; c < k->t; c++) {
        double x = length[c] * value[c] - level * (length[c] - (double)k->n), delta = x - mean;
        mean += delta / (double)(c + 1);
        square += delta * (x - mean);
    }
    *out = k->p.log_det + mean;
    *out_se = k->t > 1 ? sqrt(square / (t - 1) / t) : INFINITY;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- gradient -------------------------------------------------------------------------------- */

/* The columns of left and right [n x v], W = left right^T = a a' / 2 - sum_i (x_i u_i' + u_i x_i')
 * / (4 t), x = C^-1 z, u = P^-1 z; U [n x t] of these; returns the part of the noise. */
static double set_weights(const work *k, const cri_gp_cg *cg, double *left, double *right,
                          double *U)
{
    size_t n = k->n, t = k->t, v = 1 + 2 * t;
    double by_noise = 0, share = -0.25 / (double)t;
    for (size_t i = 0; i < n; i++) {
        double *l = left + i * v, *r = right + i * v, sum = 0;
        r[0] = cg->alpha[i];
        l[0] = 0.5 * r[0];
        for (size_t c = 0; c < t; c++) {
            double x = k->X[i * k->w + k->q + 1 + c], u = k->Z[i * k->w + k->q + 1 + c];
            U[i * t + c] = u;
            r[1 + c] = u;
            l[1 + c] = share * x;
            r[1 + t + c] = x;
            l[1 + t + c] = share * u;
        }
        for (size_t c = 0; c < v; c++) sum += l[c] * r[c];
        by_noise += k->p.D[i] * sum;
    }
    return by_noise;
}

/* gradient += sum over the rows r and the columns c of scale W dK. */
static cr_status add_tile(const work *k, cri_range r, cri_range c, double scale, const double *left,
                          const double *right, double *W, double *some, double *gradient)
{
    cr_status          st = CR_OK;
    const cri_gp_data *a = k->problem->data;
    size_t             rows = r.end - r.begin, cols = c.end - c.begin, v = 1 + 2 * k->t;
    cri_gp_data        down = cri_gp_data_view(a, r.begin, r.end),
                across = cri_gp_data_view(a, c.begin, c.end);
    cr_kernel_input in = cri_gp_inputs(&down), by = cri_gp_inputs(&across);
    if (cols == 0) goto done;
    CR_TRY(cr_gemm(k->cx, scale, cr_cmat_of(left + r.begin * v, rows, v), CR_PLAIN,
                   cr_cmat_of(right + c.begin * v, cols, v), CR_TRANSPOSED, 0,
                   cr_mat_of(W, rows, cols)));
    CR_TRY(cr_kernel_cross_gradient(k->cx, k->op.k, &in, &by, cr_cmat_of(W, rows, cols), some,
                                    (cr_mat){ 0 }));
    for (size_t j = 0; j < cr_kernel_theta_size(k->op.k); j++) gradient[j] += some[j];
done:
    return st;
}

/* sum_ab W_ab dC_ab over the lower triangle, some rows at a time, and what P adds. */
static cr_status differentiate(const work *k, const cri_gp_cg *cg, double *out_gradient)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(k->cx);
    const cri_gp_data *a = k->problem->data;
    size_t             n = k->n, v = 1 + 2 * k->t, p = cr_kernel_theta_size(k->op.k);
    size_t             rows = n < ROWS ? n : ROWS;
    double            *left = cr_scratch_matrix(&s, n, v), *right = cr_scratch_matrix(&s, n, v);
    double            *U = cr_scratch_matrix(&s, n, k->t), *W = cr_scratch_matrix(&s, rows, n);
    double            *some = cr_scratch_f64(&s, p + 1);

    CR_TRY(s.status);
    for (size_t j = 0; j < p; j++) out_gradient[j] = 0;
    out_gradient[p] = set_weights(k, cg, left, right, U) +
                      0.5 * (a->spread / k->op.noise - (a->count - (double)n));
    for (size_t b = 0; b < cri_block_count(n, ROWS); b++) {
        cri_range r = cri_block_range(n, ROWS, b), before = { 0, r.begin };
        CR_TRY(cr_check_interrupt(k->cx));
        cr_progress(k->cx, "gp: gradient", (double)b, (double)cri_block_count(n, ROWS));
        CR_TRY(add_tile(k, r, before, 2, left, right, W, some, out_gradient));
        CR_TRY(add_tile(k, r, r, 1, left, right, W, some, out_gradient));
    }
    CR_TRY(cri_gp_preconditioner_gradient(k->cx, &k->op, &k->p, U, k->t, out_gradient));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- all of it ------------------------------------------------------------------------------- */

/* P, by landmarks that are there or are chosen now. */
static cr_status prepare(work *f, cr_scratch *s, const cri_gp_cg *cg)
{
    cr_status                 st = CR_OK;
    const cri_gp_cg_settings *o = &cg->settings;
    const size_t             *landmarks = cg->landmarks;
    size_t                    rank = cg->rank;
    if (!landmarks) {
        size_t  most = o->rank ? o->rank : cri_gp_cg_rank(f->n);
        size_t *chosen = cr_scratch_index(s, most < f->n ? most : f->n);
        CR_TRY(s->status);
        CR_TRY(cri_gp_cg_landmarks(f->cx, &f->op, most, o->seed, chosen, &rank));
        landmarks = chosen;
    }
    CR_TRY(cri_gp_preconditioner_new(f->cx, s, &f->op, landmarks, rank, &f->p));
    for (size_t i = 0; i < f->n; i++) {
        for (size_t a = 0; a < f->q; a++) f->B[i * f->w + a] = f->problem->H[i * f->q + a];
        f->B[i * f->w + f->q] = f->problem->data->y[i];
    }
    cri_gp_cg_probes(&f->p, o->seed, f->q + 1, f->w, f->B);
    CR_TRY(cri_gp_precondition(f->cx, &f->p, f->B, f->w, f->Z));
done:
    return st;
}

static cr_status set_value(const work *f, double quadratic, cri_gp_cg *cg)
{
    double    log_det, se;
    cr_status st = log_determinant(f, &log_det, &se);
    if (st != CR_OK) return st;
    cg->value = -0.5 * (quadratic + log_det + (double)f->n * CRI_LOG_2PI) +
                cri_gp_merged(f->problem->data, f->op.noise);
    cg->se = 0.5 * se;
    if (isfinite(cg->value)) return CR_OK;
    return cr_fail(f->cx, CR_ENUMERIC, "gp: the log evidence is not finite");
}

cr_status cri_gp_cg_evidence(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                             double noise, cri_gp_cg *cg, double *opt_gradient)
{
    cr_status                 st = CR_OK;
    cr_scratch                s = cr_scratch_begin(cx);
    const cri_gp_cg_settings *o = &cg->settings;
    size_t                    n = problem->data->n, q = problem->q, w = q + 1 + o->probes;
    double                    quadratic;
    work                      f = { .cx = cx,
                                    .problem = problem,
                                    .n = n,
                                    .q = q,
                                    .t = o->probes,
                                    .w = w,
                                    .B = cr_scratch_matrix(&s, n, w),
                                    .X = cg->last ? cg->last : cr_scratch_matrix(&s, n, w),
                                    .Z = cr_scratch_matrix(&s, n, w),
                                    .steps = cr_scratch_matrix(&s, o->max_iter, 2 * w),
                                    .count = cr_scratch_index(&s, w) };
    cri_gp_cg_run             run = { .close = q + 1,
                                      .tolerance = o->tolerance,
                                      .rest_tolerance = o->probe_tolerance,
                                      .max_iter = o->max_iter,
                                      .warm = cg->last,
                                      .opt_steps = f.steps,
                                      .opt_count = f.count,
                                      .what = cg->what };

    CR_TRY(s.status);
    CR_TRY(cri_gp_operator_new(cx, &s, problem->data, k, noise, &f.op));
    CR_TRY(prepare(&f, &s, cg));
    CR_TRY(cri_gp_cg_solve(cx, &f.op, &f.p, f.B, w, &run, f.X, &cg->report));
    CR_TRY(solve_mean(&f, cg, &quadratic));
    if (!cg->last) CR_TRY(set_value(&f, quadratic, cg));
    if (opt_gradient) CR_TRY(differentiate(&f, cg, opt_gradient));
done:
    cr_scratch_end(&s);
    return st;
}
