/* classifier_renew.c -- a linear classifier from a stream of rows, by cumulated estimating
 * equations. Rows are held until there are enough for a quadratic to stand for them, then folded:
 * the gradient of all rows so far is taken as  H theta - c,  with the sums over folds of H_k,   c_k
 * = H_k theta_k - g_k,   H_k, g_k Hessian and gradient of its rows at theta_k, where theta_k
 * minimises what came before and those rows exactly, by Newton's method.  What is neglected is of
 * second order, and measured: going from theta_(k-1) to theta_k the gradient of the rows at hand
 * misses its linear prediction by e_k, so that of the n_k rows before misses it by about e_k n_k /
 * rows.  The sum of these corrects the estimate at the end, and is what it may be wrong by. A
 * stream that is never folded is fitted exactly.  O(rows D^2) time, O(D^2) memory and what is held.
 * Lin & Xi (2011), Statistics and Its Interface 4; Schifano et al. (2016), Technometrics 58; Luo &
 * Song (2020), J. R. Stat. Soc. B 82. */
#include "classifier_stream.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

bool cri_classifier_renews(const cri_classifier *m)
{
    enum { MOST = 500 };
    return m->M * m->q <= MOST;
}

/* How many rows are held: an error of second order is then well below the standard errors. */
static size_t capacity_of(const cri_classifier *m)
{
    size_t D = m->M * m->q, want = 200 * D * D, most = (size_t)2000000 / (m->q + 2);
    return want < 1000 ? 1000 : want < most ? want : most;
}

bool cri_classifier_is_full(const cri_classifier *m) { return m->held >= capacity_of(m); }

/* --- rows that are held ---------------------------------------------------------------------- */

cr_status cri_classifier_hold(cr_ctx *cx, const cri_classifier *opt_old,
                              const cri_classifier_rows *x, const uint32_t *y, cri_classifier *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     q = m->q, n = opt_old ? opt_old->held : 0, all = n + x->n;
    double    *workspace = cr_scratch_f64(&s, q);
    double    *Z = cr_alloc(cx, all, q * sizeof(double)),
           *held = cr_alloc(cx, all, 2 * sizeof(double));

    CR_TRY(s.status);
    if (!Z || !held) CR_TRY(CR_ENOMEM);
    if (n > 0) memcpy(Z, opt_old->held_z, n * q * sizeof(double));
    if (n > 0) memcpy(held, opt_old->held_yw, 2 * n * sizeof(double));
    for (size_t i = 0; i < x->n; i++) {
        memcpy(Z + (n + i) * q, cri_classifier_rows_one(x, i, workspace), q * sizeof(double));
        held[2 * (n + i)] = y[i];
        held[2 * (n + i) + 1] = x->w ? x->w[i] : 1;
    }
    m->held = all;
    m->two = 2;
    m->held_z = Z, m->held_yw = held;
    Z = held = NULL;
done:
    cr_free(cx, Z, all, q * sizeof(double));
    cr_free(cx, held, all, 2 * sizeof(double));
    cr_scratch_end(&s);
    return st;
}

void cri_classifier_release(cr_ctx *cx, cri_classifier *m)
{
    cr_free(cx, m->held_z, m->held, m->q * sizeof(double));
    cr_free(cx, m->held_yw, m->held, 2 * sizeof(double));
    m->held_z = m->held_yw = NULL;
    m->held = 0;
}

void cri_classifier_forget(cr_ctx *cx, cri_classifier *m)
{
    cr_free(cx, m->past, m->D, m->D * sizeof(double));
    cr_free(cx, m->pull, m->D, sizeof(double));
    cr_free(cx, m->miss, m->D, sizeof(double));
    m->past = m->pull = m->miss = NULL;
}

/* The rows as a likelihood wants them: *x borrows from m and from the arena. */
cr_status cri_classifier_held(cr_scratch *s, const cri_classifier *m, cri_classifier_rows *x,
                              uint32_t **out_y)
{
    uint32_t *y = cr_scratch_bytes(s, m->held, sizeof *y);
    double   *w = cr_scratch_f64(s, m->held), *inverse = cr_scratch_f64(s, m->p);
    if (s->status != CR_OK) return s->status;
    *x = (cri_classifier_rows){ .n = m->held,
                                .p = m->p,
                                .q = m->q,
                                .intercept = m->intercept,
                                .w = w,
                                .centre = m->centre,
                                .scale = m->scale,
                                .inverse = inverse,
                                .Z = m->held_z };
    for (size_t i = 0; i < m->held; i++) {
        y[i] = (uint32_t)m->held_yw[2 * i];
        x->weight += w[i] = m->held_yw[2 * i + 1];
    }
    for (size_t j = 0; j < m->p; j++) inverse[j] = 1 / m->scale[j];
    *out_y = y;
    return CR_OK;
}

/* --- one fold -------------------------------------------------------------------------------- */

typedef struct renewal {
    const cri_likelihood *f; /* of the rows at hand, without the penalty */
    const cri_classifier *m;
    double                l2;
    size_t                D;
    double               *theta, *next, *g, *h, *A, *step; /* [D], h and A [D x D] */
    cri_likelihood_value  v;
} renewal;

static bool is_slope(const renewal *w, size_t a) { return a % w->m->q >= w->m->intercept; }

/* The objective at theta: the quadratic of the rows before, those at hand, the penalty; with the
 * gradient in step and the Hessian in A where they are wanted. */
static cr_status look(cr_ctx *cx, renewal *w, const double *theta, bool derivatives, double *out)
{
    size_t D = w->D;
    w->v = (cri_likelihood_value){ .gradient = derivatives ? w->g : NULL,
                                   .hessian = derivatives ? w->h : NULL };
    cr_status st = cri_likelihood_at(cx, w->f, theta, &w->v);
    double    sum = w->v.f, top = 0;
    if (st != CR_OK) return st;
    for (size_t a = 0; a < D; a++) {
        double l2 = is_slope(w, a) ? w->l2 : 0, pull = l2 * theta[a];
        double past = w->m->past ? cr_dot(w->m->past + a * D, theta, D) : 0;
        double c = w->m->past ? w->m->pull[a] : 0;
        sum += theta[a] * (past / 2 - c + pull / 2);
        if (!derivatives) continue;
        w->step[a] = w->g[a] + past - c + pull;
        for (size_t b = 0; b < D; b++)
            w->A[a * D + b] = w->h[a * D + b] + (w->m->past ? w->m->past[a * D + b] : 0);
        w->A[a * D + a] += l2;
        top = fmax(top, w->A[a * D + a]);
    }
    for (size_t a = 0; derivatives && a < D;
         a++) /* columns that no row tells of stay as they are */
        w->A[a * D + a] += 1e-12 * top + 1e-300;
    *out = sum;
    return st;
}

/* Newton from theta on, with halved steps; g and h are at the end. */
static cr_status minimise(cr_ctx *cx, renewal *w, size_t *out_steps, bool *out_converged)
{
    enum { MOST_STEPS = 60, MOST_HALVINGS = 30 };
    cr_status st = CR_OK;
    double    at, next = 0;
    *out_converged = false;
    CR_TRY(look(cx, w, w->theta, true, &at));
    for (size_t k = 0; k < MOST_STEPS && !*out_converged; k++) {
        double gain = 0, share = 1;
        CR_TRY(cr_check_interrupt(cx));
        memcpy(w->next, w->step, w->D * sizeof(double));
        CR_TRY(cr_chol_jitter(cx, cr_mat_of(w->A, w->D, w->D), &(cr_jitter){ 0 }));
        CR_TRY(cr_chol_solve(cx, cr_cmat_of(w->A, w->D, w->D), cr_mat_of(w->step, w->D, 1)));
        for (size_t a = 0; a < w->D; a++) gain += w->next[a] * w->step[a];
        *out_converged = gain <= 1e-14 * (1 + fabs(at));
        for (int h = 0; h < MOST_HALVINGS; h++, share /= 2) {
            for (size_t a = 0; a < w->D; a++) w->next[a] = w->theta[a] - share * w->step[a];
            CR_TRY(look(cx, w, w->next, false, &next));
            if (next <= at + 1e-13 * (1 + fabs(at))) break;
        }
        if (next <= at + 1e-13 * (1 + fabs(at))) memcpy(w->theta, w->next, w->D * sizeof(double));
        CR_TRY(look(cx, w, w->theta, true, &at));
        (*out_steps)++;
    }
done:
    return st;
}

/* m->miss += what the rows before the present ones miss by, from what the present ones do. */
static void add_miss(const renewal *w, const double *old, const double *g0, const double *h0,
                     double rows, cri_classifier *m)
{
    size_t D = w->D;
    for (size_t a = 0; a < D; a++) {
        double linear = g0[a];
        for (size_t b = 0; b < D; b++) linear += h0[a * D + b] * (w->theta[b] - old[b]);
        m->miss[a] += (w->g[a] - linear) * m->weight / rows;
    }
}

/* The present rows join the quadratic. */
static cr_status fold(cr_ctx *cx, const renewal *w, cri_classifier *m)
{
    size_t D = w->D;
    if (!m->past) {
        m->D = D;
        m->past = cr_alloc(cx, D, D * sizeof(double));
        m->pull = cr_alloc(cx, D, sizeof(double));
        m->miss = cr_alloc(cx, D, sizeof(double));
        if (!m->past || !m->pull || !m->miss) return CR_ENOMEM;
    }
    for (size_t a = 0; a < D; a++) {
        m->pull[a] += cr_dot(w->h + a * D, w->theta, D) - w->g[a];
        for (size_t b = 0; b < D; b++) m->past[a * D + b] += w->h[a * D + b];
    }
    memcpy(m->theta, w->theta, D * sizeof(double));
    m->folds++;
    return CR_OK;
}

cr_status cri_classifier_fold(cr_ctx *cx, const cri_likelihood *f, double lambda, cri_classifier *m,
                              bool *out_converged)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    size_t               D = m->M * m->q, steps = 0;
    cri_likelihood       plain = *f;
    double              *g0 = cr_scratch_f64(&s, D), *h0 = cr_scratch_matrix(&s, D, D);
    double              *old = cr_scratch_f64(&s, D);
    cri_likelihood_value v = { .gradient = g0, .hessian = h0 };
    renewal              w = { .f = &plain,
                               .m = m,
                               .D = D,
                               .theta = cr_scratch_f64(&s, D),
                               .next = cr_scratch_f64(&s, D),
                               .g = cr_scratch_f64(&s, D),
                               .step = cr_scratch_f64(&s, D),
                               .h = cr_scratch_matrix(&s, D, D),
                               .A = cr_scratch_matrix(&s, D, D) };

    CR_TRY(s.status);
    plain.l2 = 0;
    w.l2 = m->folds == 0 ? fmax(lambda, 1)
                         : lambda; /* the first point to expand at is never far out */
    memcpy(w.theta, m->theta, D * sizeof(double));
    memcpy(old, m->theta, D * sizeof(double));
    if (m->folds > 0) CR_TRY(cri_likelihood_at(cx, &plain, old, &v));
    CR_TRY(minimise(cx, &w, &steps, out_converged));
    if (m->folds > 0) add_miss(&w, old, g0, h0, f->x->weight, m);
    CR_TRY(fold(cx, &w, m));
    m->weight += f->x->weight;
    m->steps += steps;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the end --------------------------------------------------------------------------------- */

cr_status cri_classifier_settle(cr_ctx *cx, const cri_likelihood *f, double lambda,
                                cri_classifier *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     D = m->D, q = m->q;
    double    *A = cr_scratch_matrix(&s, D, D), *L = cr_scratch_matrix(&s, D, D);
    double    *sd = cr_scratch_f64(&s, D), extra = (double)m->folds - 1;

    CR_TRY(s.status);
    memcpy(A, m->past, D * D * sizeof(double));
    for (size_t a = 0; a < D; a++) A[a * (D + 1)] += a % q >= m->intercept ? lambda : 0;
    for (size_t a = 0; m->full && m->intercept && a < m->M;
         a++) /* one term for the shift, not one a fold */
        for (size_t b = 0; b < m->M; b++) A[a * q * D + b * q] -= extra;
    memcpy(L, A, D * D * sizeof(double));
    st = cr_chol(cx, cr_mat_of(L, D, D));
    m->distance = NAN;
    if (st == CR_ENUMERIC) { /* dependent columns: no sds, no correction */
        st = CR_OK;
        goto done;
    }
    CR_TRY(st);
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(L, D, D), cr_mat_of(m->miss, D, 1)));
    CR_TRY(cr_chol_inverse(cx, cr_cmat_of(L, D, D), cr_mat_of(L, D, D)));
    m->distance = 0;
    for (size_t a = 0; a < D; a++) {
        sd[a] = sqrt(L[a * (D + 1)]);
        m->distance = fmax(m->distance, fabs(m->miss[a]) / sd[a]);
    }
    for (size_t a = 0; a < D && m->distance < 1; a++) m->theta[a] -= m->miss[a];
    CR_TRY(cri_classifier_sds(cx, f, NULL, A, m->sd));
done:
    cr_scratch_end(&s);
    return st;
}
