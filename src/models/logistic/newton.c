/* newton.c -- Newton's method for linear classifiers: iteratively reweighted least squares.
 * Steps are halved up to three times; where that does not help, damping turns them towards the
 * gradient (Levenberg 1944; Marquardt 1963).  While a step gains little the Hessian is not taken
 * again as long as each gain is less than a thirtieth of the one before. */
#include "solve.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/dense/chol.h"

#include <math.h>
#include <string.h>

/* Part of the square of a column, below which what the others leave of it is rounding. */
static const double NOTHING = 1e-10;

enum { MOST_ITERATIONS = 200, MOST_STEP = 17, LEAST_STEP = 4 };

typedef struct newton {
    cr_ctx                  *cx;
    const cri_likelihood    *f;
    const cri_solve_options *o;
    cri_solution            *s;
    size_t                   D;
    double                  *H, *H_trial, *L; /* [D x D]                                    */
    double *g, *d, *S, *trial, *g_trial;      /* [D]; S: the size of H at the start         */
    double  damping, gain;
    bool    chord; /* a Hessian costs much more than a gradient */
    bool    exact; /* H belongs to theta                        */
    bool    rough; /* H was taken of a sample of the rows       */
} newton;

/* --- columns that the others determine ------------------------------------------------------- */

/* true when H is so clearly positive definite that there are none. */
static bool is_regular(newton *w)
{
    memcpy(w->L, w->H, w->D * w->D * sizeof(double));
    bool regular = cr_chol(w->cx, cr_mat_of(w->L, w->D, w->D)) == CR_OK;
    for (size_t a = 0; a < w->D && regular; a++)
        regular = w->L[a * w->D + a] * w->L[a * w->D + a] > NOTHING * w->H[a * w->D + a];
    return regular;
}

/* In-order Cholesky of the first block of H, scaled to unit diagonal: a pivot that vanishes marks a
 * column which is a combination of those before it. */
static cr_status find_fixed(newton *w)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(w->cx);
    size_t     q = w->f->x->q;
    double    *C = cr_scratch_matrix(&s, q, q);

    CR_TRY(s.status);
    CR_TRY(cr_check_interrupt(w->cx));
    for (size_t i = 0; i < q; i++) {
        double hi = w->H[i * w->D + i], pivot = hi > 0 ? 1 : 0;
        for (size_t j = 0; j < i && hi > 0; j++) {
            double hj = w->H[j * w->D + j], sum;
            C[i * q + j] = 0;
            if (w->s->fixed[j]) continue;
            sum = w->H[i * w->D + j] / sqrt(hi * hj);
            for (size_t k = 0; k < j; k++)
                if (!w->s->fixed[k]) sum -= C[i * q + k] * C[j * q + k];
            C[i * q + j] = sum / C[j * q + j];
            pivot -= C[i * q + j] * C[i * q + j];
        }
        w->s->fixed[i] = !(pivot > NOTHING);
        C[i * q + i] = sqrt(fmax(pivot, 0));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- steps ----------------------------------------------------------------------------------- */

static void hold_fixed(const newton *w, double *A, double *g)
{
    size_t q = w->f->x->q;
    for (size_t a = 0; a < w->D; a++) {
        if (!w->s->fixed[a % q]) continue;
        for (size_t b = 0; A && b < w->D; b++) A[a * w->D + b] = A[b * w->D + a] = 0;
        if (A) A[a * w->D + a] = 1;
        if (g) g[a] = 0;
    }
}

/* L L' = H + damping S, and what it takes beyond that where H is not positive definite. */
static cr_status factor(newton *w)
{
    double least = 0;
    for (unsigned attempt = 0;; attempt++) {
        memcpy(w->L, w->H, w->D * w->D * sizeof(double));
        for (size_t a = 0; a < w->D; a++)
            w->L[a * w->D + a] += least * w->L[a * w->D + a] + (w->damping + least) * w->S[a];
        hold_fixed(w, w->L, NULL);
        cr_status st = cr_chol(w->cx, cr_mat_of(w->L, w->D, w->D));
        if (st != CR_ENUMERIC || attempt == 12) return st;
        least = least > 0 ? 30 * least : 1e-14;
    }
}

/* d = -(L L')^-1 g, and the gain that the quadratic model promises. */
static cr_status solve_step(newton *w)
{
    double gain = 0;
    for (size_t a = 0; a < w->D; a++) w->d[a] = -w->g[a];
    hold_fixed(w, NULL, w->d);
    cr_status st = cr_chol_solve(w->cx, cr_cmat_of(w->L, w->D, w->D), cr_mat_of(w->d, w->D, 1));
    for (size_t a = 0; a < w->D; a++)
        gain += 0.5 * w->d[a] * (w->damping * w->S[a] * w->d[a] - w->g[a]);
    w->gain = gain;
    return st;
}

static cr_status solve_anew(newton *w)
{
    cr_status st = factor(w);
    return st == CR_OK ? solve_step(w) : st;
}

/* The Hessian at theta, and the step it gives. */
static cr_status refresh(newton *w, cri_likelihood_value *v)
{
    cr_status st = CR_OK;
    *v = (cri_likelihood_value){ .gradient = w->g, .hessian = w->H };
    CR_TRY(cri_likelihood_at(w->cx, w->f, w->s->theta, v));
    w->exact = true;
    w->rough = false;
    CR_TRY(solve_anew(w));
done:
    return st;
}

/* Tries theta + d, a half, a quarter and an eighth of it: *out_share of the one that gains a fair
 * part of what was promised, 0 for none.  The Hessian comes along where it will be needed anyway.
 */
static cr_status search(newton *w, double f0, bool along, cri_likelihood_value *v,
                        double *out_share)
{
    cr_status st = CR_OK;
    double    share = 1;
    *out_share = 0;
    for (int k = 0; k < 4 && *out_share == 0; k++, share /= 2) {
        for (size_t j = 0; j < w->D; j++) w->trial[j] = w->s->theta[j] + share * w->d[j];
        *v = (cri_likelihood_value){ .gradient = w->g_trial,
                                     .hessian = along && k == 0 ? w->H_trial : NULL };
        CR_TRY(cri_likelihood_at(w->cx, w->f, w->trial, v));
        if (v->f <= f0 - 0.1 * share * w->gain + 1e-15 * fabs(f0)) *out_share = share;
    }
    if (*out_share > 0 && along && !v->hessian) {
        v->hessian = w->H_trial;
        CR_TRY(cri_likelihood_at(w->cx, w->f, w->trial, v));
    }
done:
    return st;
}

static void accept(newton *w, bool along)
{
    double *H = w->H;
    for (size_t j = 0; j < w->D; j++) w->s->step[j] = w->trial[j] - w->s->theta[j];
    memcpy(w->s->theta, w->trial, w->D * sizeof(double));
    memcpy(w->g, w->g_trial, w->D * sizeof(double));
    if (along) w->H = w->H_trial, w->H_trial = H;
    w->exact = along;
    w->rough = w->rough && !along;
}

/* A step from theta, where v belongs; the next step is then ready in d.  *out_stuck when no step
 * lowers F. */
static cr_status advance(newton *w, cri_likelihood_value *v, bool *out_stuck)
{
    cr_status            st = CR_OK;
    double               f0 = v->f, before = w->gain, share;
    bool                 along = w->rough || !(w->chord && w->gain < 1e-3 * fabs(f0));
    cri_likelihood_value next;

    CR_TRY(search(w, f0, along, &next, &share));
    if (share > 0) {
        *v = next;
        accept(w, along);
        if (share == 1) w->damping = w->damping > 1e-3 ? w->damping / 16 : 0;
        CR_TRY(along ? solve_anew(w) : solve_step(w));
        if (!along && w->gain > before / 30) CR_TRY(refresh(w, v));
    } else if (!w->exact) {
        CR_TRY(refresh(w, v));
    } else {
        w->damping = fmax(16 * w->damping, 1e-2);
        *out_stuck = w->damping > 1e15 || w->gain <= 1e-12 * fabs(f0);
        CR_TRY(solve_anew(w));
    }
done:
    return st;
}

static cr_status iterate(newton *w, cri_likelihood_value v, double tol, size_t most)
{
    cr_status st = CR_OK;
    bool      stuck = false;
    cri_clock clock = cri_clock_start(w->cx, NAN);

    w->damping = 0;
    w->exact = !w->rough;
    for (size_t a = 0; a < w->D; a++) w->S[a] = w->H[a * w->D + a];
    CR_TRY(solve_anew(w));
    w->s->stop = CR_STOP_LIMIT;
    for (w->s->iterations = 0; w->s->iterations < most && !stuck; w->s->iterations++) {
        double size = fmax(fabs(v.f), 1e-300);
        CR_TRY(cr_check_interrupt(w->cx));
        if (w->gain <= tol * size &&
            w->damping > 0) { /* a short step may be small by its damping only */
            w->damping = 0;
            CR_TRY(solve_anew(w));
        }
        if (w->gain <= tol * size) { /* the step is still worth taking, looking again is not */
            for (size_t j = 0; j < w->D; j++) w->s->theta[j] += w->s->step[j] = w->d[j];
            w->s->stop = CR_STOP_TOLERANCE;
            break;
        }
        if (cri_is_separated(w->f, w->o, &v) || cri_clock_over(&clock)) break;
        double gain = w->gain;
        CR_TRY(advance(w, &v, &stuck));
        if (stuck && gain <= 1e-9 * size)
            w->s->stop = CR_STOP_TOLERANCE; /* only rounding is left */
    }
done:
    return st;
}

static cr_status begin(newton *w, cr_scratch *s)
{
    size_t D = w->D;
    w->H = cr_scratch_matrix(s, D, D);
    w->H_trial = cr_scratch_matrix(s, D, D);
    w->L = cr_scratch_matrix(s, D, D);
    w->S = cr_scratch_f64(s, D);
    w->g = cr_scratch_f64(s, D);
    w->d = cr_scratch_f64(s, D);
    w->trial = cr_scratch_f64(s, D);
    w->g_trial = cr_scratch_f64(s, D);
    w->chord = D >= 16 && (double)w->f->x->n * (double)D * (double)D > 1e6;
    return s->status;
}

/* Every how many rows make a sample that is to start from, 20 for each coefficient; 1: too few. */
static size_t sample_step(const newton *w)
{
    size_t n = w->f->x->n, step = n / (20 * w->D);
    if (!w->chord || n < 20000 || step < LEAST_STEP || w->f->passes) return 1;
    return step < MOST_STEP ? step : MOST_STEP;
}

/* The answer of every step-th row, from which a few steps over all of them suffice: its distance is
 * the sampling error, beside which a thousandth of F is nothing.  The penalty is that of all rows, and
 * at least 1, which keeps few rows from taking chance for certainty.  Leaves theta alone where the sample says
 * nothing of use.  Where there is no penalty its Hessian is that of all rows, but for their number,
 * to some hundredths: enough for the first step. */
static cr_status start_from_sample(newton *w, size_t step)
{
    cr_status            st = CR_OK;
    cri_likelihood       part = *w->f;
    cri_classifier_rows  rows;
    cri_likelihood_value v = { .gradient = w->g, .hessian = w->H };
    cri_solution         keep = *w->s;
    newton               small = *w;
    cr_scratch           s = cr_scratch_begin(w->cx);
    double              *theta = cr_scratch_f64(&s, w->D);

    CR_TRY(s.status);
    memcpy(theta, w->s->theta, w->D * sizeof(double));
    part.x = &rows;
    part.step = step;
    part.l2 = fmax(part.l2, 1);
    CR_TRY(cri_classifier_rows_sample(w->cx, &s, w->f->x, &part.step, &rows));
    if (part.step < step) {
        uint32_t *y = cr_scratch_bytes(&s, rows.n, sizeof *y);
        CR_TRY(s.status);
        for (size_t i = 0; i < rows.n; i++) y[i] = w->f->y[i * step];
        part.y = y;
    }
    small.f = &part;
    CR_TRY(cri_likelihood_at(w->cx, &part, w->s->theta, &v));
    CR_TRY(iterate(&small, v, 1e-3, 20));
    w->H = small.H, w->H_trial = small.H_trial; /* they may have changed places */
    bool useful = w->s->stop == CR_STOP_TOLERANCE;
    *w->s = keep;
    if (!useful) memcpy(w->s->theta, theta, w->D * sizeof(double));
    w->rough = useful && part.step == 1 && w->f->M == 1 && w->f->l2 == 0;
    if (!w->rough) goto done;
    for (size_t a = w->f->x->intercept; a < w->D; a++) w->H[a * (w->D + 1)] -= part.l2;
    for (size_t a = 0; a < w->D * w->D; a++) w->H[a] *= w->f->x->weight / rows.weight;
    w->rough = is_regular(w);
done:
    cr_scratch_end(&s);
    return st;
}

/* Where H is not regular, or not where a sample led to, the columns that the others determine are
 * found at the start without slopes: there no row is so sure that it says nothing of its columns. */
static cr_status set_fixed(newton *w, cri_likelihood_value *v)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(w->cx);
    double    *null = cr_scratch_f64(&s, w->D);

    CR_TRY(s.status);
    CR_TRY(cri_null_start(w->cx, w->f, null));
    if (memcmp(null, w->s->theta, w->D * sizeof(double)) != 0) {
        memcpy(w->s->theta, null, w->D * sizeof(double));
        CR_TRY(cri_likelihood_at(w->cx, w->f, null, v));
    }
    CR_TRY(find_fixed(w));
    for (size_t a = 0; a < w->D; a++)
        if (w->s->fixed[a % w->s->q]) w->s->theta[a] = 0;
    CR_TRY(cri_likelihood_at(w->cx, w->f, w->s->theta, v));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_solve_newton(cr_ctx *cx, const cri_likelihood *f, const cri_solve_options *o,
                           cri_solution *s)
{
    cr_status            st = CR_OK;
    cr_scratch           workspace = cr_scratch_begin(cx);
    newton               w = { .cx = cx, .f = f, .o = o, .s = s, .D = s->D };
    cri_likelihood_value v;

    CR_TRY(begin(&w, &workspace));
    if (sample_step(&w) > 1) CR_TRY(start_from_sample(&w, sample_step(&w)));
    v = (cri_likelihood_value){ .gradient = w.g, .hessian = w.rough ? NULL : w.H };
    CR_TRY(cri_likelihood_at(cx, f, s->theta, &v));
    if (!isfinite(v.f))
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "the likelihood is not finite: the values are too large"));
    if (f->l2 == 0 && !w.rough && !is_regular(&w)) CR_TRY(set_fixed(&w, &v));
    CR_TRY(iterate(&w, v, o->tol, o->max_iter == CR_COUNT_UNSET ? MOST_ITERATIONS : o->max_iter));
done:
    cr_scratch_end(&workspace);
    return st;
}
