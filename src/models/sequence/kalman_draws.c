/* kalman_draws.c -- joint draws of the rows of a series: the simulation smoother.
 * A series y+ with its states a+ is drawn from the model, with unknown directions of the start at 0; the
 * smoother corrects the draw by what the data say otherwise: a+ + E(a | y - y+) (Durbin & Koopman 2002,
 * Biometrika 89).  One filter and one smoother for each draw. */
#include "kalman.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

/* L with L L' = A, of a covariance that may be singular. */
static void factor(const double *A, size_t m, double *L)
{
    memset(L, 0, m * m * sizeof *L);
    for (size_t j = 0; j < m; j++) {
        double d = A[j * m + j];
        for (size_t k = 0; k < j; k++) d -= L[j * m + k] * L[j * m + k];
        if (!(d > 1e-14 * A[j * m + j])) continue;
        L[j * m + j] = sqrt(d);
        for (size_t i = j + 1; i < m; i++) {
            double sum = A[i * m + j];
            for (size_t k = 0; k < j; k++) sum -= L[i * m + k] * L[j * m + k];
            L[i * m + j] = sum / L[j * m + j];
        }
    }
}

typedef struct drawer {
    const kalman_state      *m;
    const cri_sequences     *q;
    const cri_kalman_system *system;
    const cri_kalman_data   *data; /* of the series at hand, y - y+ in place of y */
    size_t                   series, count, draw;
    double                  *LQ, *LP;          /* [m x m], of each step; [m x m] */
    double                  *a, *e, *z, *zero; /* [m]         */
    double                  *signal;           /* [rows of the series] of a+ */
    double                  *out;              /* [rows x count] */
} drawer;

/* a += L e, e standard normal. */
static void shake(const drawer *w, const double *L, cr_rng *rng)
{
    size_t m = w->m->m;
    for (size_t j = 0; j < m; j++) {
        w->e[j] = 0;
        if (L[j * m + j] > 0) w->e[j] = cr_rng_normal(rng);
    }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++) w->a[i] += L[i * m + j] * w->e[j];
}

/* a+ goes to row t by its step, unless it is there. */
static void reach(const drawer *w, size_t t, double *work, cr_rng *rng)
{
    size_t m = w->m->m, step = w->data->step[t];
    if (step == CRI_KALMAN_HERE) return;
    cri_kalman_move(&w->system->steps[step].forward, m, w->a, work);
    shake(w, w->LQ + step * m * m, rng);
}

/* z of what is drawn of row t: the signal, to which noise is added, or the value itself. */
static void weigh(const drawer *w, size_t t)
{
    if (cri_kalman_is_gap(w->m, w->data, t))
        cri_kalman_loadings(w->system, w->data, t, 0, w->z);
    else
        cri_kalman_signal(w->m, w->system, w->data, t, 0, w->z);
}

/* a+ and y - y+, whose values are missing where y is. */
static void draw_series(drawer *w, const double *y, double *less, double *work, cr_rng *rng)
{
    const cri_kalman_system *s = w->system;
    size_t                   m = s->m, p = s->p;
    memcpy(w->a, s->start, m * sizeof(double));
    shake(w, w->LP, rng);
    for (size_t t = 0; t < w->data->n; t++) {
        if (w->data->step) reach(w, t, work, rng);
        for (size_t c = 0; c < p; c++) {
            double sum = 0;
            cri_kalman_loadings(s, w->data, t, c, w->z);
            for (size_t i = 0; i < m; i++) sum += w->z[i] * w->a[i];
            less[t * p + c] = y[t * p + c] - (sum + sqrt(s->h[c]) * cr_rng_normal(rng));
        }
        w->signal[t] = 0;
        weigh(w, t);
        for (size_t i = 0; i < m; i++) w->signal[t] += w->z[i] * w->a[i];
        if (w->data->step) continue;
        cri_kalman_move(&s->forward, m, w->a, work);
        shake(w, w->LQ, rng);
    }
}

static void put_draw(void *arg, const cri_kalman_row *row)
{
    const drawer *w = arg;
    size_t        m = w->m->m, at = w->q->row[w->q->start[w->series] + row->t];
    double        sum = w->signal[row->t];
    weigh(w, row->t);
    for (size_t i = 0; i < m; i++) sum += w->z[i] * row->a[i];
    if (row->Pinf && isinf(cri_kalman_covariance(row, w->z, w->z))) sum = NAN;
    w->out[at * w->count + w->draw] = sum;
}

/* All draws of the series at hand. */
static cr_status draw_all(cr_ctx *cx, drawer *w, cri_kalman_system *system, cri_kalman_data *data,
                          const double *y, double *less, double *work, uint64_t seed)
{
    cr_status       st = CR_OK;
    cri_kalman_path path = { 0 };
    double         *start = system->start;
    const double    noise = sqrt(cri_kalman_noise(w->m, system, 0));
    factor(system->P1, w->m->m, w->LP);
    data->y = less;
    for (w->draw = 0; w->draw < w->count; w->draw++) {
        cr_rng rng = cr_rng_stream(seed, w->draw * w->q->n + w->series);
        system->start = start;
        draw_series(w, y, less, work, &rng);
        system->start = w->zero;
        CR_TRY(cri_kalman_filter(cx, system, data, true, &path));
        CR_TRY(cri_kalman_smooth(cx, &path, put_draw, w));
        cri_kalman_path_free(cx, &path);
        for (size_t t = 0; t < data->n; t++) {
            double *to = &w->out[w->q->row[w->q->start[w->series] + t] * w->count + w->draw];
            double  add = noise * cr_rng_normal(&rng);
            double  mean =
                *to + cri_kalman_mean(w->m) + (cri_kalman_is_gap(w->m, data, t) ? 0 : add);
            *to = w->m->shift + w->m->scale * mean;
        }
    }
done:
    cri_kalman_path_free(cx, &path);
    return st;
}

/* Draws of the model at one setting. */
static cr_status sample_at(cr_ctx *cx, const kalman_state *m, const cri_rows *opt_rows,
                           size_t count, uint64_t seed, double *out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    size_t            n = m->m;
    cri_kalman_system base, system;
    cri_kalman_data   all, one;
    drawer            w = { .m = m, .system = &system, .data = &one, .count = count, .out = out };
    double *place = cr_scratch_f64(&s, m->width), *work = cr_scratch_f64(&s, n), *less, *begun;
    size_t  ends[2];
    w.q = opt_rows->sequences;
    begun = cr_scratch_f64(&s, w.q->n);
    w.LP = cr_scratch_matrix(&s, n, n);
    w.a = cr_scratch_f64(&s, n);
    w.e = cr_scratch_f64(&s, n);
    w.z = cr_scratch_f64(&s, n);
    w.zero = cr_scratch_bytes(&s, n, sizeof(double));
    w.signal = cr_scratch_f64(&s, opt_rows->n);
    less = cr_scratch_matrix(&s, opt_rows->n, m->beside + 1);
    CR_TRY(s.status);
    CR_TRY(cri_kalman_open(&s, m, &base));
    CR_TRY(cri_kalman_gather(&s, opt_rows, m, cri_kalman_mean(m), &all));
    for (w.series = 0; w.series < w.q->n; w.series++) {
        one = cri_kalman_series(m, &all, w.series, ends);
        cri_kalman_begin(m, w.q->names ? w.q->names[w.series] : NULL, &one, place);
        begun[w.series] = cri_kalman_time_of(m, place);
    }
    CR_TRY(cri_kalman_open_steps(&s, m, opt_rows, begun, &all, &base));
    w.LQ = cr_scratch_matrix(&s, n * n, base.steps ? base.n_steps : 1);
    CR_TRY(s.status);
    if (!base.steps) factor(base.Q, n, w.LQ);
    for (size_t i = 0; i < base.n_steps; i++) factor(base.steps[i].Q, n, w.LQ + i * n * n);
    for (w.series = 0; w.series < w.q->n; w.series++) {
        one = cri_kalman_series(m, &all, w.series, ends);
        cri_kalman_begin(m, w.q->names ? w.q->names[w.series] : NULL, &one, place);
        cri_kalman_start(m, &base, place, &system);
        CR_TRY(draw_all(cx, &w, &system, &one, one.y, less, work, seed));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* A setting by its share, and the scale by the chi-square of its dof, which all variances have in common. */
static cr_status draw_setting(cr_scratch *s, const kalman_state *m, cr_rng *rng, kalman_state *out)
{
    cr_status st = CR_OK;
    double    factor = 0.5 * m->dof / cr_rng_gamma(rng, 0.5 * m->dof);
    size_t    h = cr_rng_categorical(rng, m->share, m->settings), n = m->m;
    CR_TRY(cri_kalman_view(s, m, h + 1, out));
    for (size_t i = 0; i < m->n_theta; i++)
        if (m->plan->scale[i] == CRI_KALMAN_VARIANCE) out->theta[i] += log(factor);
    for (size_t k = 0; k < m->series; k++)
        for (size_t i = 0; i < n * n; i++) out->places[k * out->width + 1 + n + i] *= factor;
done:
    return st;
}

cr_status cri_kalman_sample(cr_ctx *cx, const void *state, const cr_design *design,
                            const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    const kalman_state *m = state;
    double             *each = cr_scratch_f64(&s, opt_rows->n);
    (void)design;
    CR_TRY(s.status);
    if (m->settings == 0) CR_TRY(sample_at(cx, m, opt_rows, count, seed, out));
    for (size_t k = 0; m->settings > 0 && k < count; k++) {
        cr_scratch   inner = cr_scratch_begin(cx);
        cr_rng       rng = cr_rng_stream(seed, k);
        kalman_state view;
        st = draw_setting(&inner, m, &rng, &view);
        if (st == CR_OK) st = sample_at(cx, &view, opt_rows, 1, cr_rng_u64(&rng), each);
        cr_scratch_end(&inner);
        CR_TRY(st);
        for (size_t i = 0; i < opt_rows->n; i++) out[i * count + k] = each[i];
    }
done:
    cr_scratch_end(&s);
    return st;
}
