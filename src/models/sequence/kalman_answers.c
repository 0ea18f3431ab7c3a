/* kalman_answers.c -- what a fitted model says of rows: given those before, given all, ahead, part by part.
 * Each series is looked at by itself.
 * A series without any value goes on where the series of its name ended in the fit. */
#include "kalman.h"
#include "kalman_steps.h"
#include "base/context_internal.h"
#include "data/table/date.h"

#include <math.h>
#include <string.h>

/* The work on one series after another. */
typedef struct reader {
    const kalman_state  *m;
    const cri_sequences *sequences;
    cri_kalman_system    base, system; /* as it was opened; as it starts in the series at hand */
    cri_kalman_data      all, one;     /* all rows; those of the series at hand                 */
    size_t               ends[2];
    double              *place; /* [width] of the series at hand                         */
} reader;

/* --- series ---------------------------------------------------------------------------------- */

/* The rows of series k, and where it starts: opt_place, or as is said above. */
static void turn_to(reader *r, size_t k, const double *opt_place)
{
    const cri_sequences *q = r->sequences;
    r->one = cri_kalman_series(r->m, &r->all, k, r->ends);
    if (opt_place && opt_place[0] > 0)
        memcpy(r->place, opt_place, r->m->width * sizeof(double));
    else
        cri_kalman_begin(r->m, q->names ? q->names[k] : NULL, &r->one, r->place);
    cri_kalman_start(r->m, &r->base, r->place, &r->system);
}

/* Rows NULL: there is the system alone. */
static cr_status open_reader(cr_scratch *s, const kalman_state *m, const cri_rows *rows,
                             const double *opt_places, reader *r)
{
    cr_status st = CR_OK;
    double   *begun = cr_scratch_f64(s, rows ? rows->sequences->n : 0);
    *r = (reader){ .m = m, .sequences = rows ? rows->sequences : NULL };
    CR_TRY(cri_kalman_open(s, m, &r->base));
    r->system = r->base;
    r->place = cr_scratch_f64(s, m->width);
    CR_TRY(s->status);
    if (!rows) goto done;
    CR_TRY(cri_kalman_gather(s, rows, m, cri_kalman_mean(m), &r->all));
    if (m->steps == CRI_KALMAN_STEPS_ROWS) goto done;
    for (size_t k = 0; k < rows->sequences->n; k++) {
        turn_to(r, k, opt_places ? opt_places + k * m->width : NULL);
        begun[k] = cri_kalman_time_of(m, r->place);
    }
    CR_TRY(cri_kalman_open_steps(s, m, rows, begun, &r->all, &r->base));
done:
    return st;
}

/* --- given the rows before ------------------------------------------------------------------- */

/* One answer about column c in the units of the data: none where nothing is known yet. */
static void put(const kalman_state *m, size_t c, double mean, double variance, bool known,
                cr_prediction *out, size_t row)
{
    double shift = cri_kalman_shift_of(m, c), scale = cri_kalman_scale_of(m, c);
    out->mean[row] = known ? shift + scale * (mean + cri_kalman_mean(m)) : NAN;
    if (!out->scale) return;
    out->scale[row] = known ? scale * sqrt(variance) : NAN;
    out->dof[row] = known ? INFINITY : NAN;
}

static cr_status ask_filter(cr_ctx *cx, const kalman_state *m, const cri_kalman_question *q,
                            double *opt_places, cr_prediction *out)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    reader          r;
    cri_kalman_path path = { 0 };
    CR_TRY(open_reader(&s, m, q->rows, opt_places, &r));
    for (size_t k = 0; k < r.sequences->n; k++) {
        turn_to(&r, k, opt_places ? opt_places + k * m->width : NULL);
        CR_TRY(cri_kalman_filter(cx, &r.system, &r.one, false, &path));
        for (size_t i = 0; i < r.one.n; i++) {
            cri_kalman_slot slot = cri_kalman_slot_at(&path, path.slot[i]);
            double          noise = q->noise ? 0 : cri_kalman_noise(m, &r.system, 0);
            put(m, 0, path.mean[i * (m->beside + 1)], fmax(slot.F[0] - noise, 0),
                !(slot.Finf[0] > 0), out, r.sequences->row[r.sequences->start[k] + i]);
        }
        if (opt_places)
            cri_kalman_end(m, &path, r.place[0] + (double)r.one.n, opt_places + k * m->width);
        cri_kalman_path_free(cx, &path);
    }
done:
    cri_kalman_path_free(cx, &path);
    cr_scratch_end(&s);
    return st;
}

static cr_status filter(cr_ctx *cx, const void *state, const cri_rows *rows, double *opt_places,
                        bool noise, cr_prediction *out)
{
    cri_kalman_question q = { .ask = ask_filter, .rows = rows, .noise = noise, .n = rows->n };
    q.places = rows->sequences->n;
    return cri_kalman_answer(cx, state, &q, opt_places, out);
}

static cr_status kalman_filter(cr_ctx *cx, const void *state, const cri_rows *rows, double *places,
                               cr_prediction *out)
{
    return filter(cx, state, rows, places, true, out);
}

static cr_status kalman_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                cr_prediction *out)
{
    return filter(cx, state, rows, NULL, true, out);
}

static cr_status kalman_mean(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    return filter(cx, state, rows, NULL, false, out);
}

/* --- given all rows -------------------------------------------------------------------------- */

/* What is read off the smoother: a part of the signal, or all of it. */
typedef struct look {
    const reader          *r;
    const cri_kalman_part *opt_part;
    size_t                 series;
    double                *w;         /* [m] */
    double                *mean, *sd; /* [rows]; sd may be NULL */
    bool                   value;     /* of the target, not its signal */
    double                 noise;     /* variance that is added to it   */
} look;

/* The weights of the part in the signal of row t. */
static void weigh(const look *l, size_t t)
{
    const reader *r = l->r;
    if (l->value && cri_kalman_is_gap(r->m, &r->one, t))
        cri_kalman_loadings(&r->system, &r->one, t, 0, l->w);
    else
        cri_kalman_signal(r->m, &r->system, &r->one, t, 0, l->w);
    for (size_t i = 0; l->opt_part && i < r->m->m; i++)
        if (i < l->opt_part->first || i >= l->opt_part->first + l->opt_part->n) l->w[i] = 0;
}

static void see(void *arg, const cri_kalman_row *row)
{
    const look *l = arg;
    size_t      at = l->r->sequences->row[l->r->sequences->start[l->series] + row->t];
    double      mean = 0, variance;
    weigh(l, row->t);
    for (size_t i = 0; i < l->r->m->m; i++) mean += l->w[i] * row->a[i];
    variance = cri_kalman_covariance(row, l->w, l->w);
    bool noise = l->value && !cri_kalman_is_gap(l->r->m, &l->r->one, row->t);
    l->mean[at] = isinf(variance) ? NAN : mean;
    if (l->sd) l->sd[at] = isinf(variance) ? NAN : sqrt(variance + (noise ? l->noise : 0));
}

/* mean and sd [rows] of a part of the signal, or of all of it, scaled as inside. */
static cr_status smooth(cr_ctx *cx, const kalman_state *m, const cri_rows *rows,
                        const cri_kalman_part *opt_part, bool noise, double *mean, double *opt_sd)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    reader          r;
    cri_kalman_path path = { 0 };
    look            l = { .r = &r, .opt_part = opt_part, .mean = mean, .sd = opt_sd };
    l.w = cr_scratch_f64(&s, m->m);
    CR_TRY(open_reader(&s, m, rows, NULL, &r));
    l.value = noise;
    l.noise = cri_kalman_noise(m, &r.system, 0);
    for (l.series = 0; l.series < r.sequences->n; l.series++) {
        turn_to(&r, l.series, NULL);
        CR_TRY(cri_kalman_filter(cx, &r.system, &r.one, true, &path));
        CR_TRY(cri_kalman_smooth(cx, &path, see, &l));
        cri_kalman_path_free(cx, &path);
    }
done:
    cri_kalman_path_free(cx, &path);
    cr_scratch_end(&s);
    return st;
}

static cr_status ask_smoother(cr_ctx *cx, const kalman_state *m, const cri_kalman_question *q,
                              double *opt_places, cr_prediction *out)
{
    cr_status st = smooth(cx, m, q->rows, NULL, true, out->mean, out->scale);
    (void)opt_places;
    for (size_t i = 0; st == CR_OK && i < q->n; i++) {
        bool   known = !isnan(out->mean[i]);
        double sd = out->scale ? out->scale[i] : 0;
        put(m, 0, out->mean[i], sd * sd, known, out, i);
    }
    return st;
}

static cr_status kalman_smooth(cr_ctx *cx, const void *state, const cri_rows *rows,
                               cr_prediction *out)
{
    cri_kalman_question q = { .ask = ask_smoother, .rows = rows, .n = rows->n };
    return cri_kalman_answer(cx, state, &q, NULL, out);
}

/* --- the signal, and part by part ------------------------------------------------------------ */

/* The part number k that has states, a trend counting as one; NULL beyond the last. */
static const cri_kalman_part *part_at(const cri_kalman_plan *plan, size_t k)
{
    for (size_t i = 0; i < plan->n_parts; i++)
        if (plan->parts[i].n > 0 && k-- == 0) return &plan->parts[i];
    return NULL;
}

static cr_status ask_signal(cr_ctx *cx, const kalman_state *m, const cri_kalman_question *q,
                            double *opt_places, cr_prediction *out)
{
    cr_status st = smooth(cx, m, q->rows, NULL, false, out->mean, out->scale);
    (void)opt_places;
    for (size_t i = 0; st == CR_OK && i < q->n; i++) {
        out->mean[i] = m->shift + m->scale * (out->mean[i] + cri_kalman_mean(m));
        if (out->scale) out->scale[i] *= m->scale;
    }
    return st;
}

/* A constant that is a parameter stands in the part that comes first. */
static cr_status ask_part(cr_ctx *cx, const kalman_state *m, const cri_kalman_question *q,
                          double *opt_places, cr_prediction *out)
{
    double    constant = q->part == 0 ? m->shift + m->scale * cri_kalman_mean(m) : 0;
    cr_status st = smooth(cx, m, q->rows, part_at(m->plan, q->part), false, out->mean, out->scale);
    (void)opt_places;
    for (size_t i = 0; st == CR_OK && i < q->n; i++) {
        out->mean[i] = constant + m->scale * out->mean[i];
        if (out->scale) out->scale[i] *= m->scale;
    }
    return st;
}

/* Means and sds, which are infinite where the t has none. */
static cr_status give(cr_ctx *cx, const kalman_state *m, const cri_kalman_question *q, double *mean,
                      double *opt_sd)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cr_prediction out = { .n = q->n, .mean = mean, .scale = opt_sd };
    if (opt_sd) out.dof = cr_scratch_f64(&s, q->n);
    CR_TRY(s.status);
    CR_TRY(cri_kalman_answer(cx, m, q, NULL, &out));
    for (size_t i = 0; opt_sd && m->settings > 0 && i < q->n; i++)
        if (opt_sd[i] > 0 && !isinf(out.dof[i]))
            opt_sd[i] = out.dof[i] > 2 ? opt_sd[i] * sqrt(out.dof[i] / (out.dof[i] - 2)) : INFINITY;
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status kalman_function(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                                 double *mean, double *opt_sd, double *opt_covariance)
{
    cri_kalman_question q = { .ask = ask_signal, .rows = rows, .n = rows->n };
    if (prior || opt_covariance)
        return cr_fail(cx, CR_EUNSUPPORTED, "the model kalman has no %s of its signal",
                       prior ? "prior" : "covariance");
    return give(cx, state, &q, mean, opt_sd);
}

/* Level, trend, season and so on. */
static cr_status kalman_part(cr_ctx *cx, const void *state, const cr_design *design, size_t k,
                             const cri_rows *opt_rows, cr_part *out, double *mean, double *sd)
{
    const kalman_state    *m = state;
    const cri_kalman_part *part = m->plan ? part_at(m->plan, k) : NULL;
    (void)design;
    *out = (cr_part){ 0 };
    if (!part) return CR_OK;
    snprintf(out->name, sizeof out->name, "%s", part->name);
    if (!opt_rows) return CR_OK;
    cri_kalman_question q = { .ask = ask_part, .rows = opt_rows, .part = k, .n = opt_rows->n };
    return give(cx, m, &q, mean, sd);
}

/* --- ahead ----------------------------------------------------------------------------------- */

/* Column q->part of the rows to come. */
static cr_status ask_forecast(cr_ctx *cx, const kalman_state *m, const cri_kalman_question *q,
                              double *places, cr_prediction *out)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    reader          r;
    cri_kalman_path path = { 0 };
    size_t          ends[2] = { 0, q->ahead }, p = m->beside + 1, c = q->part;
    double         *y = cr_scratch_matrix(&s, q->ahead, p);
    const double    one_step = 1;
    CR_TRY(open_reader(&s, m, NULL, NULL, &r));
    for (size_t i = 0; i < q->ahead * p; i++) y[i] = NAN;
    cri_kalman_data data = { .n = q->ahead, .series = 1, .start = ends, .y = y };
    if (m->steps != CRI_KALMAN_STEPS_ROWS) {
        data.step = cr_scratch_bytes(&s, q->ahead, sizeof *data.step); /* all 0: that one */
        CR_TRY(s.status);
        CR_TRY(cri_kalman_steps_new(&s, m->plan, &one_step, 1, &r.base));
        CR_TRY(cri_kalman_steps_build(cx, m->plan, &r.base));
    }
    for (size_t k = 0; k < q->places; k++) {
        memcpy(r.place, places + k * m->width, m->width * sizeof(double));
        cri_kalman_start(m, &r.base, r.place, &r.system);
        CR_TRY(cri_kalman_filter(cx, &r.system, &data, false, &path));
        for (size_t h = 0; h < q->ahead; h++) {
            cri_kalman_slot slot = cri_kalman_slot_at(&path, path.slot[h]);
            put(m, c, path.mean[h * p + c], slot.F[c], !(slot.Finf[c] > 0), out, k * q->ahead + h);
        }
        cri_kalman_path_free(cx, &path);
    }
done:
    cri_kalman_path_free(cx, &path);
    cr_scratch_end(&s);
    return st;
}

static cr_status forecast_column(cr_ctx *cx, const kalman_state *m, size_t c, const double *places,
                                 size_t n, size_t ahead, cr_prediction *out)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    double             *copy = cr_scratch_matrix(&s, n, m->width);
    cri_kalman_question q = { .ask = ask_forecast, .ahead = ahead, .n = n * ahead, .places = n };
    q.part = c;
    if (m->k > 0) {
        cr_fail(cx, CR_EARG, "the regressors of the rows ahead are not known");
        CR_TRY(cr_fail_hint(cx, "predict from a file that has them, and no target: its rows are "
                                "taken as those that follow"));
    }
    CR_TRY(s.status);
    memcpy(copy, places, n * m->width * sizeof *copy);
    CR_TRY(cri_kalman_answer(cx, m, &q, copy, out));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status kalman_forecast(cr_ctx *cx, const void *state, const cr_design *design,
                                 const double *places, size_t n, size_t ahead, cr_prediction *out)
{
    (void)design;
    return forecast_column(cx, state, 0, places, n, ahead, out);
}

static const char *kalman_beside(const void *state, size_t k)
{
    const kalman_state *m = state;
    return k < m->beside ? m->others[k] : NULL;
}

static cr_status kalman_forecast_beside(cr_ctx *cx, const void *state, size_t k,
                                        const double *places, size_t n, size_t ahead, double *mean,
                                        double *sd)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cr_prediction out = { .n = n * ahead, .mean = mean, .scale = sd };
    out.dof = cr_scratch_f64(&s, n * ahead); /* all normal: there are no settings */
    CR_TRY(s.status);
    CR_TRY(forecast_column(cx, state, k + 1, places, n, ahead, &out));
done:
    cr_scratch_end(&s);
    return st;
}

static size_t kalman_width(const void *state) { return ((const kalman_state *)state)->width; }

/* Months are as long as they are on average. */
static double kalman_step(const void *state, cr_type time)
{
    const kalman_state *m = state;
    double              month = 365.2425 / 12 / cri_date_unit(time);
    if (m->steps == CRI_KALMAN_STEPS_ROWS) return NAN;
    return m->steps == CRI_KALMAN_STEPS_MONTHS ? m->unit * month : m->unit;
}

static void kalman_ends(const void *state, size_t *out_n, const double **out_places,
                        const char *const **out_names)
{
    const kalman_state *m = state;
    *out_n = m->series;
    *out_places = m->places;
    *out_names = m->labels;
}

const cri_sequence_face cri_kalman_sequence = { .series = true,
                                                .width = kalman_width,
                                                .filter = kalman_filter,
                                                .smooth = kalman_smooth,
                                                .forecast = kalman_forecast,
                                                .beside = kalman_beside,
                                                .forecast_beside = kalman_forecast_beside,
                                                .step = kalman_step,
                                                .ends = kalman_ends };
const cri_rows_face     cri_kalman_rows = { .predict = kalman_predict,
                                            .mean = kalman_mean,
                                            .sample = cri_kalman_sample };
const cri_function_face cri_kalman_function = { .part = kalman_part, .function = kalman_function };
