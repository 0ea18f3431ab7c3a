/* sequence.c -- filtering, smoothing, decoding and forecasting by the face of sequences. */
#include "sequence.h"
#include "model_internal.h"
#include "base/scratch.h"
#include "follow.h"
#include "time_ahead.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <string.h>

static cr_status refuse(cr_ctx *cx, const cr_model *m, const char *what)
{
    return cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no %s", m->class->name, what);
}

/* --- given the rows so far, or all of them ---------------------------------------------------- */

/* arg: the follower, or NULL. */
static cr_status answer_filtered(cr_ctx *cx, const cr_model *m, const cri_rows *rows, void *arg,
                                 cr_prediction *out)
{
    cr_status                st = CR_OK;
    const cri_sequence_face *face = m->class->sequence;
    cr_scratch               s = cr_scratch_begin(cx);
    size_t                   n = rows->sequences->n, width = face->width(m->state);
    double                  *places = cr_scratch_matrix(&s, n, width);
    CR_TRY(s.status);
    memset(places, 0, n * width * sizeof *places);
    if (arg) CR_TRY(cri_follow_load(cx, arg, rows->sequences, places));
    CR_TRY(face->filter(cx, m->state, rows, places, out));
    if (arg) cri_follow_store(arg, rows->sequences, places);
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status answer_smoothed(cr_ctx *cx, const cr_model *m, const cri_rows *rows, void *arg,
                                 cr_prediction *out)
{
    (void)arg;
    return m->class->sequence->smooth(cx, m->state, rows, out);
}

cr_status cr_filter(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_prediction *out)
{
    if (!cri_sequence_of(m->class)->filter)
        return refuse(cx, m, "predictions from the rows so far alone");
    return cri_predict(cx, m, t, CRI_WANT_ALL, answer_filtered, NULL, out);
}

cr_status cr_smooth(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_prediction *out)
{
    if (!cri_sequence_of(m->class)->smooth)
        return refuse(cx, m, "predictions from the rows that follow");
    return cri_predict(cx, m, t, CRI_WANT_ALL, answer_smoothed, NULL, out);
}

cr_status cr_follow(cr_ctx *cx, cr_follower *f, const cr_table *t, cr_prediction *out)
{
    return cri_predict(cx, cri_follow_model(f), t, CRI_WANT_ALL, answer_filtered, f, out);
}

/* --- paths ------------------------------------------------------------------------------------ */

/* A number of each sequence becomes one of each of its rows: out [rows of the table], NaN in rows left out. */
static void spread(const cri_rows *rows, const double *of_sequence, double *out)
{
    const cri_sequences *q = rows->sequences;
    for (size_t k = 0; k < q->n; k++)
        for (size_t i = q->start[k]; i < q->start[k + 1]; i++) out[q->row[i]] = of_sequence[k];
    cri_rows_spread(rows, 1, out);
}

cr_status cr_decode(cr_ctx *cx, const cr_model *m, const cr_table *t, double *out_path,
                    double *opt_log_probability)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_rows   rows = { 0 };
    double    *path, *of_sequence, *of_row;

    if (!cri_sequence_of(m->class)->decode) CR_TRY(refuse(cx, m, "most probable path"));
    CR_TRY(cri_check_fitted(cx, m));
    CR_TRY(cri_rows_open(cx, m->design, t, CRI_TARGET_NONE, &rows));
    size_t n = cr_table_rows(t);
    path = cr_scratch_f64(&s, n);
    of_row = cr_scratch_f64(&s, n);
    of_sequence = cr_scratch_f64(&s, rows.sequences->n);
    CR_TRY(s.status);
    CR_TRY(m->class->sequence->decode(cx, m->state, &rows, path, of_sequence));
    cri_rows_spread(&rows, 1, path);
    spread(&rows, of_sequence, of_row);
    if (n > 0) memcpy(out_path, path, n * sizeof *path);
    if (n > 0 && opt_log_probability) memcpy(opt_log_probability, of_row, n * sizeof *of_row);
done:
    cri_rows_close(cx, &rows);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_check_paths(cr_ctx *cx, size_t count, size_t n)
{
    static const size_t most = (size_t)1 << 27; /* numbers of all paths: 1 GiB */
    if (count == 0) return cr_fail(cx, CR_EARG, "no paths are asked for: at least 1");
    if (n <= most / count) return CR_OK;
    cr_fail(cx, CR_EDATA, "%zu paths through %zu rows would need more than %zu MiB", count, n,
            most * sizeof(double) >> 20);
    return cr_fail_hint(cx, "ask for fewer paths, or give fewer rows at a time");
}

cr_status cr_decode_paths(cr_ctx *cx, const cr_model *m, const cr_table *t, size_t count,
                          double *out_path, double *opt_log_probability)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_rows   rows = { 0 };
    size_t     n = cr_table_rows(t), sequences;
    double    *path, *of_sequence, *whole, *of_row;

    if (!cri_sequence_of(m->class)->paths) CR_TRY(refuse(cx, m, "list of most probable paths"));
    CR_TRY(cri_check_paths(cx, count, n));
    CR_TRY(cri_check_fitted(cx, m));
    CR_TRY(cri_rows_open(cx, m->design, t, CRI_TARGET_NONE, &rows));
    sequences = rows.sequences->n;
    path = cr_scratch_matrix(&s, count, rows.n);
    of_sequence = cr_scratch_matrix(&s, count, sequences);
    whole = cr_scratch_f64(&s, n);
    of_row = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    for (size_t i = 0; i < count * rows.n; i++) path[i] = NAN;
    for (size_t i = 0; i < count * sequences; i++) of_sequence[i] = NAN;
    CR_TRY(m->class->sequence->paths(cx, m->state, &rows, count, path, of_sequence));
    for (size_t r = 0; r < count && n > 0; r++) {
        if (rows.n > 0) memcpy(whole, path + r * rows.n, rows.n * sizeof *whole);
        cri_rows_spread(&rows, 1, whole);
        spread(&rows, of_sequence + r * sequences, of_row);
        memcpy(out_path + r * n, whole, n * sizeof *whole);
        if (opt_log_probability) memcpy(opt_log_probability + r * n, of_row, n * sizeof *of_row);
    }
done:
    cri_rows_close(cx, &rows);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_path_entropy(cr_ctx *cx, const cr_model *m, const cr_table *t, double *out_entropy)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_rows   rows = { 0 };
    size_t     n = cr_table_rows(t);
    double    *of_sequence, *of_row = cr_scratch_f64(&s, n);

    if (!cri_sequence_of(m->class)->path_entropy) CR_TRY(refuse(cx, m, "entropy of its paths"));
    CR_TRY(cri_check_fitted(cx, m));
    CR_TRY(cri_rows_open(cx, m->design, t, CRI_TARGET_NONE, &rows));
    of_sequence = cr_scratch_f64(&s, rows.sequences->n);
    CR_TRY(s.status);
    CR_TRY(m->class->sequence->path_entropy(cx, m->state, &rows, of_sequence));
    spread(&rows, of_sequence, of_row);
    if (n > 0) memcpy(out_entropy, of_row, n * sizeof *of_row);
done:
    cri_rows_close(cx, &rows);
    cr_scratch_end(&s);
    return st;
}

/* --- forecasts -------------------------------------------------------------------------------- */

/* The places after the rows of a table, which the filter finds. */
static cr_status places_after(cr_ctx *cx, const cr_model *m, const cri_rows *rows, double *places)
{
    cr_prediction unused = { 0 };
    cr_status     st = cri_prediction_new(cx, m, rows->n, false, &unused);
    if (st == CR_OK) st = m->class->sequence->filter(cx, m->state, rows, places, &unused);
    cr_prediction_free(cx, &unused);
    return st;
}

static cr_status keep_names(cr_ctx *cx, const char *const *opt_names, cr_forecast *f)
{
    if (!opt_names) return CR_OK;
    f->names = cr_alloc(cx, f->n, sizeof *f->names);
    if (!f->names) return CR_ENOMEM;
    for (size_t k = 0; k < f->n; k++) {
        size_t size = strlen(opt_names[k]) + 1;
        f->names[k] = cr_alloc(cx, size, 1);
        if (!f->names[k]) return CR_ENOMEM;
        memcpy(f->names[k], opt_names[k], size);
    }
    return CR_OK;
}

/* The times of the rows to come of a table, where its own tell. */
static cr_status find_times(cr_ctx *cx, const cr_model *m, const cr_table *t, const cri_rows *rows,
                            cr_forecast *f)
{
    const cr_column *c = m->design->time ? cr_table_find(t, m->design->time) : NULL;
    cri_time_rule    rule;
    if (!c || !cri_time_rule_find(rows, c->type, &rule)) return CR_OK;
    f->time = cr_alloc(cx, f->n * f->ahead, sizeof *f->time);
    if (!f->time) return CR_ENOMEM;
    f->time_name = m->design->time;
    f->time_type = c->type;
    for (size_t k = 0; k < f->n; k++) {
        double last = cri_time_at(rows, c->type, rows->sequences->start[k + 1] - 1);
        for (size_t h = 0; h < f->ahead; h++)
            f->time[k * f->ahead + h] = cri_time_ahead(&rule, last, h + 1);
    }
    return CR_OK;
}

const char *cri_model_beside(const cr_model *m, size_t k)
{
    const cri_sequence_face *face = cri_sequence_of(m->class);
    return face->beside ? face->beside(m->state, k) : NULL;
}

/* The columns beside the target. */
static cr_status forecast_beside(cr_ctx *cx, const cr_model *m, const double *places,
                                 cr_forecast *f)
{
    cr_status                st = CR_OK;
    const cri_sequence_face *face = m->class->sequence;
    size_t                   rows = f->n * f->ahead, columns = 0;
    while (cri_model_beside(m, columns)) columns++;
    if (columns == 0) return CR_OK;
    f->beside = columns;
    f->beside_names = cr_alloc(cx, columns, sizeof *f->beside_names);
    f->beside_mean = cr_alloc(cx, columns * rows, sizeof(double));
    f->beside_sd = cr_alloc(cx, columns * rows, sizeof(double));
    if (!f->beside_names || !f->beside_mean || !f->beside_sd) return CR_ENOMEM;
    for (size_t k = 0; k < columns; k++) {
        f->beside_names[k] = cri_model_beside(m, k);
        CR_TRY(face->forecast_beside(cx, m->state, k, places, f->n, f->ahead,
                                     f->beside_mean + k * rows, f->beside_sd + k * rows));
    }
done:
    return st;
}

double cri_model_step(const cr_model *m, cr_type time)
{
    const cri_sequence_face *face = cri_sequence_of(m->class);
    return face->step ? face->step(m->state, time) : NAN;
}

cr_status cr_forecast_rows(cr_ctx *cx, const cr_model *m, const cr_table *opt_t, size_t ahead,
                           cr_forecast *out)
{
    cr_status                st = CR_OK;
    const cri_sequence_face *face = cri_sequence_of(m->class);
    cr_scratch               s = cr_scratch_begin(cx);
    cri_rows                 rows = { 0 };
    cr_forecast              f = { .ahead = ahead };
    const double            *places = NULL;
    const char *const       *names = NULL;
    size_t                   overflows = 0;

    if (!face->forecast) CR_TRY(refuse(cx, m, "forecasts"));
    CR_TRY(cri_check_fitted(cx, m));
    if (opt_t) {
        CR_TRY(cri_rows_open(cx, m->design, opt_t, CRI_TARGET_NONE, &rows));
        f.n = rows.sequences->n;
        double *after = cr_scratch_matrix(&s, f.n, face->width(m->state));
        CR_TRY(s.status);
        memset(after, 0, f.n * face->width(m->state) * sizeof *after);
        CR_TRY(places_after(cx, m, &rows, after));
        CR_TRY(find_times(cx, m, opt_t, &rows, &f));
        places = after;
        names = rows.sequences->names;
    } else {
        face->ends(m->state, &f.n, &places, &names);
    }
    CR_TRY(keep_names(cx, names, &f));
    CR_TRY(cri_prediction_new(cx, m, f.n * ahead, false, &f.p));
    cr_free(cx, f.p.log_density, f.p.n, sizeof(double)); /* there is no row that it could be of */
    f.p.log_density = NULL;
    CR_TRY(face->forecast(cx, m->state, m->design, places, f.n, ahead, &f.p));
    CR_TRY(cri_prediction_units(cx, m, f.p.n, false, &f.p, &overflows));
    CR_TRY(forecast_beside(cx, m, places, &f));
    *out = f;
    f = (cr_forecast){ 0 };
done:
    cr_forecast_free(cx, &f);
    cri_rows_close(cx, &rows);
    cr_scratch_end(&s);
    return st;
}

void cr_forecast_free(cr_ctx *cx, cr_forecast *f)
{
    for (size_t k = 0; f->names && k < f->n; k++)
        if (f->names[k]) cr_free(cx, f->names[k], strlen(f->names[k]) + 1, 1);
    cr_free(cx, f->names, f->n, sizeof *f->names);
    if (f->time) cr_free(cx, f->time, f->n * f->ahead, sizeof *f->time);
    cr_free(cx, f->beside_names, f->beside, sizeof *f->beside_names);
    cr_free(cx, f->beside_mean, f->beside * f->n * f->ahead, sizeof(double));
    cr_free(cx, f->beside_sd, f->beside * f->n * f->ahead, sizeof(double));
    cr_prediction_free(cx, &f->p);
    *f = (cr_forecast){ 0 };
}
