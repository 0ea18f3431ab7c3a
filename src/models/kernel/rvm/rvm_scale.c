/* rvm_scale.c -- the length-scale of a kernel that nobody named.
 * A prior precision for every function is too free to judge kernels by: the shorter the length-scale, the more each row
 * has a function, and a variance, of its own, and the evidence rises to interpolation.  With one precision a for all,
 *   y ~ N(0, s^2 (R + Phi Phi^T / a)),
 * it does not, so that the scale is the one of its largest evidence, s^2 and a at their best; of classes, that of their
 * indicators together.  Tried are the median distance between the rows times powers of two, then quarters of an octave
 * about the best.  Beyond 400 inputs, every n / 400th in their order.  O(n^3) a scale. */
#include "rvm_job.h"
#include "models/kernel/default_kernel.h"
#include "base/scratch.h"
#include "math/dense/decompose.h"
#include "math/dense/dense.h"

#include <math.h>

enum { MOST = 400, COARSE = 7, FINE = 4, RATIOS = 61 };
static const double FIRST = 0.125;

/* Inputs, and what is seen there: of numbers one target, of classes an indicator each. */
typedef struct sample {
    cri_gp_data at;
    size_t      targets;
    double *y; /* [n x targets], times R^-1/2                                                  */
    double *w; /* [n] R^-1/2                                                                   */
    double  rows, spread, floor;
} sample;

/* Every so-manieth input, in the memory of the arena. */
static cr_status pick(cr_scratch *s, const cri_rvm_job *j, sample *out)
{
    size_t  n = j->at.n, m = n < MOST ? n : MOST, *index = cr_scratch_index(s, m);
    size_t  F = j->F ? j->F : 1;
    double *mean = cr_scratch_f64(s, F);
    *out = (sample){ .targets = F,
                     .y = cr_scratch_matrix(s, m, F),
                     .w = cr_scratch_f64(s, m),
                     .floor = j->F ? 1e-8 : j->floor };
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < m; i++) index[i] = i * n / m;
    cr_status st = cri_gp_data_pick(s, &j->at, index, m, &out->at);
    for (size_t i = 0; st == CR_OK && i < m; i++) {
        double rows = 1 / j->at.r[index[i]];
        out->w[i] = sqrt(rows);
        out->rows += rows;
    }
    for (size_t f = 0; st == CR_OK && f < F; f++) {
        mean[f] = 0;
        for (size_t i = 0; i < m; i++) {
            size_t k = index[i];
            out->y[i * F + f] = j->F ? j->T[k * F + f] / j->count[k] : j->at.y[k];
            mean[f] += out->w[i] * out->w[i] * out->y[i * F + f] / out->rows;
        }
        for (size_t i = 0; i < m; i++)
            out->y[i * F + f] = out->w[i] * (out->y[i * F + f] - mean[f]);
    }
    out->spread = j->at.spread * (double)m / (double)n;
    return st;
}

/* The log evidence, but for a constant, with ratio a: l [n] eigenvalues, z [n x targets] the targets along their
 * directions. */
static double evidence_at(const sample *x, const double *l, const double *z, double a)
{
    double log_det = 0, sum = 0;
    for (size_t i = 0; i < x->at.n; i++) log_det += log1p(l[i] / a);
    for (size_t f = 0; f < x->targets; f++) {
        double E = x->spread;
        for (size_t i = 0; i < x->at.n; i++) {
            double one = z[i * x->targets + f];
            E += one * one / (1 + l[i] / a);
        }
        double noise = fmax(E / x->rows, x->floor);
        sum -= 0.5 * (x->rows * log(noise) + E / noise + log_det);
    }
    return sum;
}

/* The kernel of so many median distances, and its largest evidence over a. */
static cr_status try_scale(cr_ctx *cx, const sample *x, const cr_design *design, double times,
                           cr_kernel **out_kernel, double *out_evidence)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = x->at.n;
    double         *Phi = cr_scratch_matrix(&s, n, n), *A = cr_scratch_matrix(&s, n, n);
    double         *l = cr_scratch_f64(&s, n), *z = cr_scratch_matrix(&s, n, x->targets);
    cr_kernel_input in = cri_gp_inputs(&x->at);
    cr_kernel      *k = NULL;

    CR_TRY(s.status);
    CR_TRY(cri_default_kernel(cx, NULL, design, &x->at, times, NULL, &k));
    CR_TRY(cr_kernel_cross(cx, k, &in, &in, cr_mat_of(Phi, n, n)));
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < n; c++) Phi[i * n + c] *= x->w[i];
    CR_TRY(cr_syrk(cx, 1, cr_cmat_of(Phi, n, n), CR_PLAIN, 0, cr_mat_of(A, n, n)));
    CR_TRY(cr_eigen(cx, cr_cmat_of(A, n, n), l, cr_mat_of(Phi, n, n)));
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(Phi, n, n), CR_TRANSPOSED, cr_cmat_of(x->y, n, x->targets),
                   CR_PLAIN, 0, cr_mat_of(z, n, x->targets)));
    for (size_t i = 0; i < n; i++) l[i] = fmax(l[i], 0);
    *out_evidence = -INFINITY;
    for (size_t i = 0; i < RATIOS; i++) { /* from next to nothing explained to all of it */
        double a = l[n - 1] * pow(10, 2 - 0.25 * (double)i);
        if (a > 0) *out_evidence = fmax(*out_evidence, evidence_at(x, l, z, a));
    }
    *out_kernel = k;
    k = NULL;
done:
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_rvm_scale(cr_ctx *cx, const cri_rvm_job *j, const cr_design *design,
                        cr_kernel **out_kernel)
{
    static const double steps[FINE] = { 0.25, -0.25, 0.5, -0.5 };
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    sample              some;
    cr_kernel          *k = NULL;
    double              most = -INFINITY, best = 1, middle = 1, now = 0;
    size_t              tries = j->at.d == 0 || j->at.n < 2 || j->constant ? 0 : COARSE + FINE;

    CR_TRY(pick(&s, j, &some));
    for (size_t i = 0; i < tries && !cri_clock_over(&j->limits.clock); i++) {
        double times = i < COARSE ? FIRST * exp2((double)i) : middle * exp2(steps[i - COARSE]);
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(try_scale(cx, &some, design, times, &k, &now));
        cr_kernel_free(cx, k);
        k = NULL;
        if (now <= most) continue;
        most = now, best = times;
        if (i < COARSE) middle = times;
    }
    CR_TRY(cri_default_kernel(cx, NULL, design, &some.at, best, NULL, out_kernel));
done:
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
    return st;
}
