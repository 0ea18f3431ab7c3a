/* rvm_left_out.c -- how far the variances of a fit fall short of the errors in rows that it had not seen.
 * Functions, their precisions, the noise and the length-scale were all chosen by the rows that they explain, and few rows
 * leave much to choose.  The inputs are dealt to folds (each by itself where there are few); the rows of a fold are
 * foretold by a fit to the others, which chooses everything anew, and
 *   inflation = sum (y - mean)^2 / sum variance   over all rows, each foretold once,
 * where that is above 1, is what the noise of the model is multiplied by, and with it all of its variances, whose ratios
 * to the noise stay.  O(folds) fits. */
#include "rvm_job.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { ALONE = 20, FOLDS = 10 }; /* inputs that are a fold each; folds of more */

/* The inputs `index` [n] of a job as one of their own, about their mean where a constant is wanted. */
static cr_status pick(cr_scratch *s, const cri_rvm_job *j, const size_t *index, size_t n,
                      bool constant, cri_rvm_job *out, double *out_shift)
{
    cr_status    st = cri_gp_data_pick(s, &j->at, index, n, &out->at);
    cri_gp_data *to = &out->at;
    to->y = cr_scratch_f64(s, n), to->r = cr_scratch_f64(s, n);
    if (st != CR_OK || s->status != CR_OK) return s->status;
    for (size_t i = 0; i < n; i++) {
        to->y[i] = j->at.y[index[i]], to->r[i] = j->at.r[index[i]];
        to->count += 1 / to->r[i];
    }
    to->spread = j->at.spread * to->count / j->at.count;
    out->limits = j->limits, out->start = j->start, out->hyper = j->hyper;
    out->noise = NAN, out->floor = j->floor, out->spread = j->spread;
    *out_shift = constant ? cri_gp_data_mean(to) : 0;
    cri_gp_data_shift(to, *out_shift);
    return CR_OK;
}

/* Adds squares and variances of the inputs `held` [h], foretold by the fit m. */
static cr_status foretell(cr_ctx *cx, const cri_rvm_job *j, const cr_design *design,
                          const cri_rvm *m, const size_t *held, size_t h, double *square,
                          double *variance)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      M = m->M;
    cri_gp_data at;
    double     *Phi = cr_scratch_matrix(&s, h, M), *v = cr_scratch_f64(&s, M);
    CR_TRY(s.status);
    CR_TRY(cri_gp_data_pick(&s, &j->at, held, h, &at));
    cr_kernel_input in = cri_gp_inputs(&at);
    CR_TRY(cri_rvm_functions(cx, m, design, &in, Phi));
    for (size_t i = 0; i < h; i++) {
        const double *phi = Phi + i * M;
        double        weight = 1 / j->at.r[held[i]], var = m->noise;
        double        e = j->at.y[held[i]] - m->shift - cr_dot(phi, m->weight, M);
        for (size_t k = 0; k < M; k++) v[k] = cr_dot(m->covariance + k * M, phi, M);
        *square += weight * e * e;
        *variance += weight * (var + fmax(cr_dot(phi, v, M), 0));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* One fold. */
static cr_status leave_out(cr_ctx *cx, const cri_rvm_job *j, const cr_design *design,
                           bool intercept, const cri_rvm *whole, const size_t *fold, size_t which,
                           double *square, double *variance)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        n = j->at.n, k = 0, h = 0;
    size_t       *kept = cr_scratch_index(&s, n), *held = cr_scratch_index(&s, n);
    cri_rvm_job   part = { 0 };
    cri_rvm       m = { 0 };
    cr_kernel    *own = NULL;
    cri_rvm_gauss g = { 0 };
    cri_rvm_basis b;
    cr_stop       stop;

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) *(fold[i] == which ? &held[h++] : &kept[k++]) = i;
    CR_TRY(pick(&s, j, kept, k, intercept, &part, &m.shift));
    if (whole->scaled) CR_TRY(cri_rvm_scale(cx, &part, design, &own));
    m.kernel = own ? own : whole->kernel;
    CR_TRY(cri_rvm_basis_new(&s, &part.at, m.kernel, design, intercept, &b));
    CR_TRY(cri_rvm_numbers(cx, &part, &b, &g, &m.up, &m.down, &stop));
    CR_TRY(cri_rvm_keep(cx, &part, &g, 1, &m));
    CR_TRY(foretell(cx, j, design, &m, held, h, square, variance));
done:
    cri_rvm_gauss_free(cx, &g);
    cri_record_free(cx, cri_rvm_record, &m);
    cr_kernel_free(cx, own);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_rvm_left_out(cr_ctx *cx, const cri_rvm_job *j, const cr_design *design,
                           bool intercept, const cri_rvm *m, double *out_inflation)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = j->at.n, *fold = cr_scratch_index(&s, n), folds = n <= ALONE ? n : FOLDS;
    cr_rng     rng = cr_rng_stream(0, 1);
    double     square = j->at.spread, variance = 0;

    *out_inflation = NAN;
    CR_TRY(s.status);
    if (n < 3) goto done;
    cr_rng_permutation(&rng, n, fold);
    for (size_t i = 0; i < n; i++) fold[i] %= folds;
    for (size_t f = 0; f < folds; f++) {
        if (cri_clock_over(&j->limits.clock)) goto done;
        CR_TRY(leave_out(cx, j, design, intercept, m, fold, f, &square, &variance));
    }
    *out_inflation = square > variance ? square / variance : 0;
done:
    cr_scratch_end(&s);
    return st;
}
