/* kalman_close.c -- the last pass over the rows of a fit: where each series ends, its coefficients, its outliers,
 * whether its errors are correlated. */
#include "kalman_close.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

/* --- what the smoother shows ------------------------------------------------------------------ */

typedef struct closing {
    kalman_state            *m;
    const cri_kalman_system *system;
    const cri_rows          *rows;
    const cri_kalman_data   *data;
    double                  *e, *f;  /* [m] unit vectors */
    bool                     joint;  /* coefficients are shared by several series */
    size_t                   series; /* the one at hand */
} closing;

/* The row of the file, from 1. */
static size_t file_row(const closing *c, size_t t)
{
    size_t row = c->rows->sequences->row[t];
    return (c->rows->index ? c->rows->index[row] : row) + 1;
}

/* The place behind a row that ends a series, given the rows of all of them. */
static void keep_place(closing *c, const cri_kalman_row *row, size_t k)
{
    size_t  m = c->m->m;
    double *place = c->m->places + k * c->m->width, *P = place + 1 + m, *Pinf = P + m * m;
    place[0] = (double)(c->data->start[k + 1] - c->data->start[k]);
    memcpy(place + 1, row->a, m * sizeof(double));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++) {
            memset(c->e, 0, m * sizeof(double));
            memset(c->f, 0, m * sizeof(double));
            c->e[i] = c->f[j] = 1;
            double v = cri_kalman_covariance(row, c->e, i == j ? c->e : c->f);
            P[i * m + j] = P[j * m + i] = isfinite(v) ? v : 0;
            Pinf[i * m + j] = Pinf[j * m + i] = isfinite(v) ? 0 : 1;
        }
}

static void close_row(void *arg, const cri_kalman_row *row)
{
    closing      *c = arg;
    kalman_state *m = c->m;
    size_t        n = m->m, last = c->data->n - 1;
    while (row->t < c->data->start[c->series]) c->series--; /* rows come last one first */
    bool first = row->t == c->data->start[c->series];
    for (size_t j = 0; row->t == last && j < m->k; j++) {
        memset(c->e, 0, n * sizeof(double));
        c->e[n - m->k + j] = 1;
        double v = cri_kalman_covariance(row, c->e, c->e);
        m->coefficient[j] = isfinite(v) ? row->a[n - m->k + j] : NAN;
        m->coefficient_sd[j] = isfinite(v) ? sqrt(v) : NAN;
    }
    if (c->joint && row->t + 1 == c->data->start[c->series + 1]) keep_place(c, row, c->series);
    for (size_t i = 0; i <= m->beside; i++) {
        size_t noise = n - m->noise + i;
        bool   state = m->noise > 0; /* the noise: its disturbance is that of a state */
        double u = state ? row->r[noise] : row->u[i],
               D = state ? row->N[noise * (n + 1)] : row->D[i];
        if (!(D > 0) || fabs(u) / sqrt(D) <= fabs(m->outlier)) continue;
        m->outlier = u / sqrt(D);
        m->outlier_row = file_row(c, row->t);
        m->outlier_column = i;
    }
    for (size_t i = 0; !first && i < n - m->noise; i++) {
        double N = row->N[i * n + i];
        if (!(c->system->Q[i * n + i] > 0) || !(N > 0)) continue;
        double t = row->r[i] / sqrt(N);
        if (fabs(t) <= fabs(m->shock)) continue;
        m->shock = t;
        m->shock_row = file_row(c, row->t);
        m->shock_part = i;
    }
}

/* --- what the filter shows -------------------------------------------------------------------- */

/* The places of the series of a fit without shared coefficients: where the filter ended. */
static void keep_ends(const cri_kalman_path *path, kalman_state *m)
{
    size_t n = m->m, size = n * n * sizeof(double);
    for (size_t k = 0; k < m->series; k++) {
        size_t          t = path->data->start[k + 1] - 1;
        cri_kalman_slot slot = cri_kalman_slot_at(path, path->slot[t]);
        double         *place = m->places + k * m->width, *P = place + 1 + n, *Pinf = P + n * n;
        place[0] = (double)(path->data->start[k + 1] - path->data->start[k]);
        memcpy(place + 1, path->a + t * n, n * sizeof(double));
        memcpy(P, slot.P, size);
        memset(Pinf, 0, size);
        if (*slot.which > 0) memcpy(Pinf, path->unknown + ((size_t)*slot.which - 1) * n * n, size);
    }
}

/* The Ljung-Box statistic of the standardised one-step errors of a column, over all series; of the second column and later
 * ones given the columns before, so that columns are independent. */
static void judge_column(const cri_kalman_path *path, size_t c, double *work, kalman_state *m)
{
    size_t n = 0, p = m->beside + 1;
    double square = 0, sum = 0;
    for (size_t t = 0; t < path->data->n; t++) {
        cri_kalman_slot slot = cri_kalman_slot_at(path, path->slot[t]);
        if (slot.use[c] != CRI_KALMAN_REGULAR) continue;
        work[n] = (path->data->y[t * p + c] - path->mean[t * p + c]) / sqrt(slot.F[c]);
        square += work[n] * work[n];
        n++;
    }
    size_t lags = n / 5 < 10 ? n / 5 : 10;
    if (lags == 0 || !(square > 0)) return;
    for (size_t lag = 1; lag <= lags; lag++) {
        double product = 0;
        for (size_t i = lag; i < n; i++) product += work[i] * work[i - lag];
        sum += product * product / (square * square) / (double)(n - lag);
    }
    m->lags += lags;
    m->ljung_box += (double)n * ((double)n + 2) * sum;
}

static void judge_errors(const cri_kalman_path *path, double *work, kalman_state *m)
{
    m->lags = 0;
    m->ljung_box = 0;
    for (size_t c = 0; c <= m->beside; c++) judge_column(path, c, work, m);
    if (m->lags == 0) m->ljung_box = NAN;
}

/* --- both ------------------------------------------------------------------------------------- */

cr_status cri_kalman_close(cr_ctx *cx, const cri_rows *rows, kalman_state *m, cr_report *report)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_kalman_system system;
    cri_kalman_data   data;
    cri_kalman_path   path = { 0 };
    closing           c = { .m = m, .system = &system, .rows = rows, .data = &data };
    double           *work = cr_scratch_f64(&s, rows->n > m->m * m->m ? rows->n : m->m * m->m);
    c.e = cr_scratch_f64(&s, m->m);
    c.f = cr_scratch_f64(&s, m->m);
    c.joint = m->k > 0 && m->series > 1 && !m->plan->walk;
    c.series = m->series - 1;
    CR_TRY(cri_kalman_open(&s, m, &system));
    for (size_t i = 0; i < m->m; i++) system.noisy[i] = system.Q[i * m->m + i] > 0;
    CR_TRY(cri_kalman_gather(&s, rows, m, cri_kalman_mean(m), &data));
    CR_TRY(cri_kalman_open_steps(&s, m, rows, NULL, &data, &system));
    CR_TRY(cri_kalman_filter(cx, &system, &data, true, &path));
    if (path.failed != SIZE_MAX)
        CR_TRY(cr_fail(cx, CR_ENUMERIC,
                       "row %zu: by the model, its value is known for sure from the rows before",
                       file_row(&c, path.failed)));
    m->observed = path.observed;
    m->fixing = path.fixing;
    m->log_likelihood = path.log_likelihood - cri_kalman_log_units(m, &path);
    for (size_t j = 0; j < m->k; j++)
        m->log_likelihood -=
            log(m->spread[j] * rows->design->scale[j]) * (m->plan->walk ? (double)m->series : 1);
    m->outlier = m->shock = 0;
    keep_ends(&path, m);
    CR_TRY(cri_kalman_smooth(cx, &path, close_row, &c));
    for (size_t k = 0; k < m->series; k++) { /* a step beyond the last row, or its time */
        double *place = m->places + k * m->width, *P = place + 1 + m->m;
        if (data.step) place[m->width - 1] = data.time[data.start[k + 1] - 1];
        if (data.step) continue;
        cri_kalman_move(&system.forward, m->m, place + 1, work);
        cri_kalman_carry(&system.forward, m->m, P, system.Q, false, work);
        cri_kalman_carry(&system.forward, m->m, P + m->m * m->m, NULL, false, work);
    }
    judge_errors(&path, work, m);
    report->log_likelihood =
        m->log_likelihood - (double)(path.observed - path.fixing) * log(rows->design->target_scale);
done:
    cri_kalman_path_free(cx, &path);
    cr_scratch_end(&s);
    return st;
}

/* --- the settings ----------------------------------------------------------------------------- */

/* The places of all settings behind `main`, those of theta. */
static cr_status fill_places(cr_ctx *cx, const cri_rows *rows, const double *main, kalman_state *m)
{
    cr_status st = CR_OK;
    cr_report unread = { 0 };
    cri_kalman_put_places(m, 0, main, m->series, m->places);
    for (size_t h = 1; h <= m->settings; h++) {
        cr_scratch   s = cr_scratch_begin(cx);
        kalman_state view;
        st = cri_kalman_view(&s, m, h, &view);
        if (st == CR_OK) st = cri_kalman_close(cx, rows, &view, &unread);
        if (st == CR_OK) cri_kalman_put_places(m, h, view.places, m->series, m->places);
        cr_scratch_end(&s);
        CR_TRY(st);
    }
done:
    return st;
}

static void drop_settings(cr_ctx *cx, kalman_state *m)
{
    cr_free(cx, m->setting, m->settings * m->n_theta, sizeof(double));
    cr_free(cx, m->share, m->settings, sizeof(double));
    m->setting = m->share = NULL;
    m->settings = 0;
    m->dof = 0;
}

cr_status cri_kalman_close_settings(cr_ctx *cx, const cri_rows *rows, kalman_state *m,
                                    cr_report *report)
{
    cr_status st = CR_OK;
    size_t    width = m->width, settings = m->settings;
    double   *main = m->places, *places;
    if (settings == 0) return CR_OK;
    places = cr_alloc(cx, m->series * width * (settings + 1), sizeof(double));
    if (!places) return CR_ENOMEM;
    m->places = places;
    m->width *= settings + 1;
    st = fill_places(cx, rows, main, m);
    if (cri_is_late(cx, st)) {
        cr_log(cx, CR_LOG_WARNING,
               "there is no time to average over the parameters: each has its best value, and "
               "intervals may be too narrow");
        drop_settings(cx, m);
        m->width = width;
        m->places = main;
        report->stop = CR_STOP_TIME;
        cr_free(cx, places, m->series * width * (settings + 1), sizeof(double));
        return CR_OK;
    }
    cr_free(cx, main, m->series * width, sizeof(double));
    return st;
}
