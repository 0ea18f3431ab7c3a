/* model.c -- the model around a class: settings, design, fit, update, predict. */
#include "model_internal.h"
#include "../base/context_internal.h"
#include "../data/table_internal.h"
#include "../math/special.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define ROW(...) CR_OPTION_ROW(cr_fit_options, __VA_ARGS__)
const cr_option cr_fit_table[] = { CR_FIT_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- life and settings ----------------------------------------------------------------------- */

cr_model *cri_model_new(cr_ctx *cx, const cr_model_class *c)
{
    cr_model *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return NULL;
    m->class = c;
    m->options = cr_alloc(cx, 1, c->options_size);
    bool ready = m->options && cr_options_init(cx, cr_fit_table, &m->fit) == CR_OK &&
                 cr_options_init(cx, cr_design_table, &m->design_options) == CR_OK &&
                 cr_options_init(cx, c->options, m->options) == CR_OK;
    if (ready) return m;
    cr_model_free(cx, m);
    return NULL;
}

void cr_model_free(cr_ctx *cx, cr_model *m)
{
    if (!m) return;
    if (m->state) m->class->free(cx, m->state);
    cri_design_free(cx, m->design);
    if (m->options) cr_options_free(cx, m->class->options, m->options);
    cr_free(cx, m->options, 1, m->class->options_size);
    cr_options_free(cx, cr_design_table, &m->design_options);
    cr_options_free(cx, cr_fit_table, &m->fit);
    cr_free(cx, m, 1, sizeof *m);
}

typedef struct option_names {
    const cr_option *tables[3];
} option_names;

static const char *option_name(const void *user, size_t i)
{
    const option_names *names = user;
    for (size_t t = 0; t < 3; t++)
        for (const cr_option *o = names->tables[t]; o->name; o++)
            if (i-- == 0) return o->name;
    return "";
}

cr_status cri_model_set(cr_ctx *cx, cr_model *m, const char *name, const char *value)
{
    struct {
        const cr_option *table;
        void            *values;
    } parts[] = { { m->class->options, m->options },
                  { cr_design_table, &m->design_options },
                  { cr_fit_table, &m->fit } };
    size_t n = 0;
    for (size_t i = 0; i < 3; i++) {
        if (cr_option_find(parts[i].table, name))
            return cr_options_set(cx, parts[i].table, parts[i].values, name, value);
        for (const cr_option *o = parts[i].table; o->name; o++) n++;
    }
    option_names names = { { m->class->options, cr_design_table, cr_fit_table } };
    cr_fail(cx, CR_EARG, "the model %s has no option '%s'", m->class->name, name);
    return cr_fail_nearest(cx, name, "options", n, option_name, &names);
}

cr_status cr_check_settings(cr_ctx *cx, const char *name, const cr_setting *settings,
                            size_t n_settings)
{
    cr_status             st = CR_OK;
    const cr_model_class *c = cr_class_find(cx, name);
    cr_model             *m = c ? cri_model_new(cx, c) : NULL;
    if (!m) return c ? CR_ENOMEM : CR_EARG;
    for (size_t i = 0; i < n_settings && st == CR_OK; i++)
        st = cri_model_set(cx, m, settings[i].name, settings[i].value);
    cr_model_free(cx, m);
    return st;
}

/* --- fit and update -------------------------------------------------------------------------- */

static cr_status check_task(cr_ctx *cx, const cr_model_class *c, const cr_table *t,
                            const cr_design_options *o)
{
    const unsigned supervised = CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION;
    if (!(c->tasks & supervised)) return CR_OK;
    if (!o->target) {
        cr_fail(cx, CR_EARG, "the model %s needs a target: the column to predict", c->name);
        return cr_fail_hint(cx, "name it with --target COLUMN");
    }
    const cr_column *y = cr_table_find(t, o->target);
    if (!y) return cri_table_no_column(cx, t, o->target);
    if (!(c->tasks & CR_TASK_CLASSIFICATION) && y->type == CR_CATEGORY) {
        cr_fail(cx, CR_EDATA, "%s: the target '%s' is a category, but %s predicts numbers",
                cr_table_source(t), o->target, c->name);
        return cr_fail_hint(cx, "if it should be numbers, --real %s finds the cell that is not",
                            o->target);
    }
    return CR_OK;
}

/* Names and levels go into the model file, which is UTF-8. */
static cr_status check_text(cr_ctx *cx, const char *what, const char *text)
{
    json_t   *object = json_object();
    cr_status st = cri_store_set_text(cx, object, what, text);
    json_decref(object);
    return st;
}

static cr_status check_column_texts(cr_ctx *cx, const cri_design_column *c)
{
    cr_status st = check_text(cx, "column", c->name);
    for (size_t k = 0; k < c->n_levels && st == CR_OK; k++)
        st = check_text(cx, c->name, c->levels[k]);
    return st;
}

static cr_status check_texts(cr_ctx *cx, const cr_design *d)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < d->n_columns; i++) CR_TRY(check_column_texts(cx, &d->columns[i]));
    if (d->target.name) CR_TRY(check_column_texts(cx, &d->target));
done:
    return st;
}

static cr_status check_rows(cr_ctx *cx, const cr_table *t, const cri_rows *rows)
{
    if (rows->imputed)
        cr_log(cx, CR_LOG_WARNING, "%zu missing values of %s were filled in", rows->imputed,
               cr_table_source(t));
    size_t dropped = cr_table_rows(t) - rows->n;
    if (dropped && rows->n)
        cr_log(cx, CR_LOG_WARNING, "%zu of %zu rows of %s were left out for missing values",
               dropped, cr_table_rows(t), cr_table_source(t));
    if (rows->n == 0)
        return cr_fail(cx, CR_EDATA, "%s: no row is left to learn from", cr_table_source(t));
    return CR_OK;
}

cr_status cr_fit(cr_ctx *cx, const char *name, const cr_table *t, const cr_setting *settings,
                 size_t n_settings, cr_model **out_model)
{
    cr_status             st = CR_OK;
    double                start = now();
    const cr_model_class *c = cr_class_find(cx, name);
    cr_model             *m = NULL;
    cri_rows              rows = { 0 };

    if (!c) return CR_EARG;
    m = cri_model_new(cx, c);
    if (!m) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n_settings; i++) {
        CR_TRY(cri_model_set(cx, m, settings[i].name, settings[i].value));
        CR_TRY(check_text(cx, settings[i].name, settings[i].value));
    }
    CR_TRY(check_task(cx, c, t, &m->design_options));

    bool             standard = cri_class_scale(c, m->design_options.scale) == CR_SCALE_STANDARD;
    const cr_column *y =
        m->design_options.target ? cr_table_find(t, m->design_options.target) : NULL;
    bool standard_y =
        m->design_options.scale_target == CR_SCALE_STANDARD && y && y->type != CR_CATEGORY;
    CR_TRY(cri_design_fit(cx, t, &m->design_options, standard && !c->scales_itself, standard_y,
                          &m->design));
    CR_TRY(check_texts(cx, m->design));
    m->design->standardised = standard;
    CR_TRY(cri_rows_open(cx, m->design, t, CRI_TARGET_NEEDED, &rows));
    CR_TRY(check_rows(cx, t, &rows));
    m->report = (cr_report){ .rows = rows.n, .log_evidence = NAN, .log_likelihood = NAN };
    CR_TRY(cri_rows_explain(cx, &rows,
                            c->fit(cx, &rows, m->options, m->fit.seed, &m->state, &m->report)));
    m->report.seconds = now() - start;
    *out_model = m;
    m = NULL;
done:
    cri_rows_close(cx, &rows);
    cr_model_free(cx, m);
    return st;
}

cr_status cr_update(cr_ctx *cx, const cr_model *old, const cr_table *t, cr_model **out_model)
{
    cr_status st = CR_OK;
    double    start = now();
    cr_model *m = NULL;
    cri_rows  rows = { 0 };
    char     *bytes = NULL;
    size_t    size = 0;

    if (!old->class->update) {
        cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no exact update", old->class->name);
        return cr_fail_hint(cx, "fit it again on all the rows");
    }
    CR_TRY(cr_model_to_bytes(cx, old, &bytes, &size)); /* the envelope of the new model */
    CR_TRY(cr_model_from_bytes(cx, "the model", bytes, size, &m));
    CR_TRY(cri_rows_open(cx, m->design, t, CRI_TARGET_NEEDED, &rows));
    CR_TRY(check_rows(cx, t, &rows));
    m->class->free(cx, m->state);
    m->state = NULL;
    m->report = (cr_report){ .rows = old->report.rows + rows.n,
                             .log_evidence = NAN,
                             .log_likelihood = NAN };
    CR_TRY(m->class->update(cx, old->state, &rows, m->options, &m->state, &m->report));
    m->report.seconds = now() - start;
    *out_model = m;
    m = NULL;
done:
    cr_free(cx, bytes, size, 1);
    cri_rows_close(cx, &rows);
    cr_model_free(cx, m);
    return st;
}

/* --- predict --------------------------------------------------------------------------------- */

/* Room for the answers; for the mean only where nothing else is wanted. */
static cr_status allocate_prediction(cr_ctx *cx, const cr_model *m, size_t n, bool mean_only,
                                     cr_prediction *p)
{
    const cri_design_column *target = &m->design->target;
    bool numbers = !(m->class->tasks & CR_TASK_CLASSIFICATION) || target->type != CR_CATEGORY;
    *p = (cr_prediction){ .kind = numbers ? CR_ANSWER_NUMBER : CR_ANSWER_CLASS, .n = n };
    if (numbers) {
        p->mean = cr_alloc(cx, n, sizeof(double));
        if (mean_only) return p->mean ? CR_OK : CR_ENOMEM;
        p->scale = cr_alloc(cx, n, sizeof(double));
        p->dof = cr_alloc(cx, n, sizeof(double));
        p->leverage = cr_alloc(cx, n, sizeof(double));
        return p->mean && p->scale && p->dof && p->leverage ? CR_OK : CR_ENOMEM;
    }
    p->n_classes = target->n_levels;
    p->classes = (const char *const *)target->levels;
    p->prob = cr_alloc(cx, n * p->n_classes, sizeof(double));
    return p->prob ? CR_OK : CR_ENOMEM;
}

void cr_prediction_free(cr_ctx *cx, cr_prediction *p)
{
    cr_free(cx, p->mean, p->n, sizeof(double));
    cr_free(cx, p->scale, p->n, sizeof(double));
    cr_free(cx, p->dof, p->n, sizeof(double));
    cr_free(cx, p->leverage, p->n, sizeof(double));
    cr_free(cx, p->prob, p->n * p->n_classes, sizeof(double));
    *p = (cr_prediction){ 0 };
}

static cr_status fail_overflow(cr_ctx *cx, const cr_table *t, size_t row)
{
    char where[512];
    return cr_fail(cx, CR_ENUMERIC, "%s: the values are so large that the prediction overflows",
                   cri_table_where(t, row, where, sizeof where));
}

/* Moves the answers for kept rows to their places in the table; the others become NaN. */
static void spread(double *a, size_t width, const cri_rows *rows, size_t n)
{
    size_t k = rows->n;
    if (!a || !rows->index) return;
    for (size_t i = n; i-- > 0;) {
        bool kept = k > 0 && rows->index[k - 1] == i;
        if (kept) k--;
        for (size_t j = 0; j < width; j++) a[i * width + j] = kept ? a[k * width + j] : NAN;
    }
}

static cr_status predict(cr_ctx *cx, const cr_model *m, const cr_table *t, bool mean_only,
                         cr_prediction *out)
{
    cr_status     st = CR_OK;
    cr_prediction p = { 0 };
    cri_rows      rows = { 0 };
    size_t        n = cr_table_rows(t);

    if (!m->class->predict)
        return cr_fail(cx, CR_EUNSUPPORTED, "the model %s does not predict", m->class->name);
    CR_TRY(cri_rows_open(cx, m->design, t, CRI_TARGET_NONE, &rows));
    CR_TRY(allocate_prediction(cx, m, n, mean_only, &p));
    CR_TRY(m->class->predict(cx, m->state, &rows, &p));
    for (size_t i = 0; p.mean && i < rows.n; i++) { /* back to the units of the target */
        p.mean[i] = p.mean[i] * m->design->target_scale + m->design->target_shift;
        if (p.scale) p.scale[i] *= m->design->target_scale;
    }
    for (size_t i = 0; p.mean && i < rows.n; i++)
        if (isinf(p.mean[i]) || (p.scale && isinf(p.scale[i])))
            CR_TRY(fail_overflow(cx, t, rows.index ? rows.index[i] : i));
    double *columns[] = { p.mean, p.scale, p.dof, p.leverage };
    for (size_t c = 0; c < 4; c++) spread(columns[c], 1, &rows, n);
    spread(p.prob, p.n_classes, &rows, n);
    *out = p;
    p = (cr_prediction){ 0 };
done:
    cri_rows_close(cx, &rows);
    cr_prediction_free(cx, &p);
    return st;
}

cr_status cr_predict(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_prediction *out)
{
    return predict(cx, m, t, false, out);
}

cr_status cr_predict_mean(cr_ctx *cx, const cr_model *m, const cr_table *t, double *out_mean)
{
    cr_prediction p = { 0 };
    cr_status     st = predict(cx, m, t, m->class->means_alone, &p);
    if (st != CR_OK) return st;
    if (!p.mean)
        st = cr_fail(cx, CR_EUNSUPPORTED, "the model %s predicts classes: it has no mean",
                     m->class->name);
    else if (p.n > 0)
        memcpy(out_mean, p.mean, p.n * sizeof(double));
    cr_prediction_free(cx, &p);
    return st;
}

void cr_prediction_intervals(const cr_prediction *p, double level, double *opt_sd,
                             double *opt_lower, double *opt_upper)
{
    double dof = 0, quantile = 0, sd_share = 0; /* sd / scale */
    for (size_t i = 0; i < p->n; i++) {
        if (i == 0 || p->dof[i] != dof) {
            dof = p->dof[i];
            quantile = opt_lower || opt_upper ? cr_student_t_ppf(0.5 + level / 2, dof) : 0;
            sd_share = isinf(dof) ? 1 : dof > 2 ? sqrt(dof / (dof - 2)) : INFINITY;
            if (isnan(dof)) sd_share = NAN; /* a row that was left out */
        }
        double half = quantile * p->scale[i];
        bool   known = !isnan(p->scale[i]); /* not left out, and degrees of freedom were left */
        if (opt_sd) opt_sd[i] = isinf(sd_share) && known ? INFINITY : p->scale[i] * sd_share;
        if (opt_lower) opt_lower[i] = p->mean[i] - half;
        if (opt_upper) opt_upper[i] = p->mean[i] + half;
    }
}

void cr_prediction_interval(const cr_prediction *p, size_t row, double level, double *out_sd,
                            double *out_lower, double *out_upper)
{
    cr_prediction one = { .n = 1, .mean = p->mean + row, .scale = p->scale + row,
                          .dof = p->dof + row };
    cr_prediction_intervals(&one, level, out_sd, out_lower, out_upper);
}

cr_status cr_observed(cr_ctx *cx, const cr_model *m, const cr_table *t, double *out_target,
                      double *opt_weight)
{
    cr_status st = CR_OK;
    cri_rows  rows = { 0 };
    size_t    n = cr_table_rows(t);

    if (!m->design->target.name)
        return cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no target", m->class->name);
    CR_TRY(cri_rows_open(cx, m->design, t, CRI_TARGET_NEEDED, &rows));
    for (size_t i = 0; i < rows.n; i++) {
        out_target[i] = rows.y[i] * m->design->target_scale + m->design->target_shift;
        if (opt_weight) opt_weight[i] = rows.w ? rows.w[i] : 1;
    }
    spread(out_target, 1, &rows, n);
    spread(opt_weight, 1, &rows, n);
done:
    cri_rows_close(cx, &rows);
    return st;
}

/* --- looks ----------------------------------------------------------------------------------- */

const cr_model_class *cr_model_get_class(const cr_model *m) { return m->class; }
const cr_design      *cr_model_get_design(const cr_model *m) { return m->design; }
const cr_report      *cr_model_get_report(const cr_model *m) { return &m->report; }
uint64_t              cr_model_get_seed(const cr_model *m) { return m->fit.seed; }

const char *cr_stop_name(cr_stop stop)
{
    static const char *const names[] = { "closed form", "converged", "iteration limit" };
    return names[stop];
}
