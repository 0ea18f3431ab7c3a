/* transform_target.c -- from a model of g(y) to one of y. */
#include "transform_target.h"
#include "model_internal.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "prob/dist/transformed_t.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- predictions ------------------------------------------------------------------------------ */

static bool has_spread(const cr_prediction *p, size_t i)
{
    return p->scale[i] > 0 && isfinite(p->scale[i]) && p->dof[i] > 0;
}

static bool any_has_spread(const cr_prediction *p, size_t n)
{
    bool any = false;
    for (size_t i = 0; p->scale && !p->family && i < n; i++) any |= has_spread(p, i);
    return any;
}

static void map_centre(cri_transform t, cr_prediction *p, size_t i)
{
    p->mean[i] = cri_transform_back(t, p->mean[i]);
    if (p->scale) p->scale[i] = NAN, p->dof[i] = INFINITY;
    for (size_t k = 0; p->params && k < p->n_params; k++) p->params[i * p->n_params + k] = NAN;
}

static void map_centres(cr_ctx *cx, cri_transform t, size_t n, cr_prediction *p)
{
    cr_free(cx, p->params, p->n * p->n_params, sizeof(double));
    p->family = NULL, p->params = NULL, p->n_params = 0;
    for (size_t i = 0; i < n; i++) map_centre(t, p, i);
}

/* Mean and sd; the median and an infinite sd where there are none, or the mean overflows: false then. */
static bool set_moments(const cr_dist_class *c, cri_transform t, double *v, size_t n_params,
                        double *mean, double *sd)
{
    cri_par par = { v, n_params };
    double  m = c->mean(par);
    *mean = isfinite(m) ? m : cri_transform_back(t, v[0]);
    *sd = isfinite(m) ? sqrt(c->variance(par)) : (double)INFINITY;
    return !isinf(m) && !isinf(*mean);
}

void cri_prediction_count_power(double rows, size_t n, cr_prediction *p)
{
    for (size_t i = 0; p->scale && !p->family && rows > 2 && i < n; i++) {
        double dof = isinf(p->dof[i]) ? rows : p->dof[i], left = fmax(dof - 1, 0.5 * dof);
        p->scale[i] *= sqrt(dof / left);
        if (!isinf(p->dof[i])) p->dof[i] = left;
    }
}

cr_status cri_prediction_untransform(cr_ctx *cx, cri_transform t, size_t n, cr_prediction *p,
                                     size_t *out_overflows)
{
    const cr_dist_class *c = cri_dist_transformed(t.kind);
    size_t               k = cri_dist_transformed_params(t.kind);
    *out_overflows = 0;
    if (!any_has_spread(p, n)) {
        map_centres(cx, t, n, p);
        for (size_t i = 0; i < n; i++) *out_overflows += isinf(p->mean[i]) ? 1 : 0;
        return CR_OK;
    }
    p->params = cr_alloc(cx, p->n * k, sizeof(double));
    if (!p->params) return CR_ENOMEM;
    p->family = c, p->n_params = k;
    for (size_t i = 0; i < n; i++) {
        if (!has_spread(p, i)) {
            map_centre(t, p, i);
            *out_overflows += isinf(p->mean[i]) ? 1 : 0;
            continue;
        }
        double all[CRI_TRANSFORMED_PARAMS] = { p->mean[i], p->scale[i], p->dof[i], t.lambda };
        memcpy(p->params + i * k, all, k * sizeof *all);
        *out_overflows += !set_moments(c, t, all, k, &p->mean[i], &p->scale[i]);
        p->dof[i] = INFINITY;
    }
    return CR_OK;
}

/* --- likelihoods ------------------------------------------------------------------------------ */

/* Weights that are precisions do not repeat a row. */
static bool are_counts(const cr_model *m)
{
    const cr_option *o = cr_option_find(m->class->options, "weights_are");
    char             text[32] = "";
    if (o) cr_options_print(o, m->options, text, sizeof text);
    return strcmp(text, "precisions") != 0;
}

void cri_model_count_slopes(cr_model *m, const cri_rows *rows, bool all)
{
    m->log_slopes += cri_rows_log_slopes(rows, are_counts(m));
    if (!all) return;
    m->report.log_evidence += m->log_slopes;
    m->report.log_likelihood += m->log_slopes;
}

/* --- descriptions ----------------------------------------------------------------------------- */

static void correct(const cr_field *fields, const cri_sheet *object, double slopes)
{
    for (const cr_field *f = fields; f->name; f++) {
        cri_sheet *value = cri_sheet_get(object, f->name);
        if (f->marks & CR_FIELD_LOG_SCORE) cri_sheet_add(value, slopes);
        if (f->marks & CR_FIELD_CRITERION) cri_sheet_add(value, -2 * slopes);
        if (f->type == CR_FIELD_OBJECT) correct(f->inner, value, slopes);
        if (f->type != CR_FIELD_ROWS) continue;
        for (const cri_sheet *row = cri_sheet_first(value); row; row = cri_sheet_next(row))
            correct(f->inner, row, slopes);
    }
}

void cri_describe_transformed(const cr_model *m, cri_sheet *out)
{
    const cri_sheet *statistics = cri_sheet_get(out, "statistics");
    if (m->design->transform.kind == CRI_TRANSFORM_NONE) return;
    correct(m->class->statistics, statistics, m->log_slopes);
    correct(cr_class_tables(m->class), out, m->log_slopes);
    cri_sheet *names = cri_put_list(out, "transformed");
    for (const cr_field *f = m->class->statistics; f->name; f++) {
        bool of_target = f->marks & CR_FIELD_OF_TARGET || (f->unit && strstr(f->unit, "target"));
        if (of_target && cri_sheet_get(statistics, f->name)) cri_put_text(names, NULL, f->name);
    }
}

/* --- the power of Box and Cox ----------------------------------------------------------------- */

bool cri_wants_power(const cr_setting *s, size_t n)
{
    bool wants = false; /* the last one counts */
    for (size_t i = 0; i < n; i++)
        if (cri_setting_is(&s[i], "transform_target")) wants = strcmp(s[i].value, "boxcox") == 0;
    return wants;
}

size_t cri_settings_plain(const cr_setting *from, size_t n, bool power, cr_setting *to)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        bool calibrates = strncmp(from[i].name, "calibrate", 9) == 0 ||
                          strncmp(from[i].name, "conformal", 9) == 0;
        bool transforms = power && cri_setting_is(&from[i], "transform_target");
        if (!calibrates && !transforms) to[k++] = from[i];
    }
    return k;
}

typedef struct power_search {
    cr_ctx         *cx;
    const char     *name;
    const cr_table *table;
    cr_setting     *settings; /* [n], the last of them the transform */
    size_t          n;
    const char     *target;
} power_search;

/* The largest normal log likelihood of the targets alone, but for a constant. */
static double score_alone(const power_search *s, double lambda)
{
    const cr_column *c = cr_table_find(s->table, s->target);
    cri_transform    t = { CRI_TRANSFORM_BOXCOX, lambda };
    double           n = 0, mean = 0, square = 0, slopes = 0;
    for (size_t i = 0; i < cr_table_rows(s->table); i++) {
        double y = c->values[i * c->stride];
        if (!cri_transform_takes(t, y)) continue; /* missing: others have been refused */
        double z = cri_transform_forward(t, y), d = z - mean;
        n++, mean += d / n, square += d * (z - mean);
        slopes += cri_transform_log_slope(t, y);
    }
    return slopes - n / 2 * log(square / n);
}

static cr_status score(const power_search *s, double lambda, double *out)
{
    char      text[48];
    cr_model *m = NULL;
    snprintf(text, sizeof text, "boxcox:%.10g", lambda);
    s->settings[s->n - 1] = (cr_setting){ "transform_target", text };
    cri_mute_warnings(s->cx, true); /* the fit with the power that is found says it */
    cr_status st = cri_model_fit(s->cx, s->name, s->table, s->settings, s->n, NULL, &m);
    cri_mute_warnings(s->cx, false);
    if (st != CR_OK) return st;
    const cr_report *r = &m->report;
    *out = isnan(r->log_evidence) ? r->log_likelihood : r->log_evidence;
    if (isnan(*out)) *out = score_alone(s, lambda);
    cr_model_free(s->cx, m);
    return CR_OK;
}

/* Golden sections, and the top of the parabola through the last three points. */
static cr_status find_top(const power_search *s, double low, double high, double *out)
{
    const double share = 0.38196601125010515;
    cr_status    st = CR_OK;
    double       x[2] = { low + share * (high - low), high - share * (high - low) }, f[2], top;
    CR_TRY(score(s, x[0], &f[0]));
    CR_TRY(score(s, x[1], &f[1]));
    while (high - low > 0.02) {
        bool left = f[0] >= f[1];
        CR_TRY(cr_check_interrupt(s->cx));
        *(left ? &high : &low) = x[left];
        x[left] = x[!left], f[left] = f[!left];
        x[!left] = left ? low + share * (high - low) : high - share * (high - low);
        CR_TRY(score(s, x[!left], &f[!left]));
    }
    double middle = (low + high) / 2;
    CR_TRY(score(s, middle, &top));
    double a = x[0] - middle, b = x[1] - middle, u = (f[0] - top) / a, v = (f[1] - top) / b;
    double curve = (u - v) / (a - b), step = curve < 0 ? -(u - curve * a) / (2 * curve) : 0;
    *out = middle + fmin(fmax(step, low - middle), high - middle);
done:
    return st;
}

cr_status cri_find_power(cr_ctx *cx, const char *name, const cr_table *t,
                         const cr_setting *settings, size_t n_settings, double *out)
{
    cr_status    st = CR_OK;
    cr_scratch   scratch = cr_scratch_begin(cx);
    cr_setting  *some = cr_scratch_bytes(&scratch, n_settings + 1, sizeof *some);
    power_search s = { .cx = cx, .name = name, .table = t, .settings = some };
    double       lambda;

    CR_TRY(scratch.status);
    s.n = cri_settings_plain(settings, n_settings, true, some) + 1;
    s.target = cri_setting_of(settings, n_settings, "target");
    CR_TRY(find_top(&s, -2, 2, &lambda));
    *out = round(lambda * 1e4) / 1e4;
done:
    cr_scratch_end(&scratch);
    return st;
}
