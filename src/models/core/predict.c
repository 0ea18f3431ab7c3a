/* predict.c -- what a model says of rows: distributions, intervals, scores. */
#include "model_internal.h"
#include "transform_target.h"
#include "base/scratch.h"
#include "data/table/table_internal.h"
#include "math/special/special.h"
#include "prob/dist/dist.h"

#include <math.h>
#include <string.h>

static const unsigned supervised = CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION;

/* --- room for the answers -------------------------------------------------------------------- */

static cr_answer answer_of(const cr_model *m)
{
    switch (m->task) {
    case CR_TASK_REGRESSION:
        return CR_ANSWER_NUMBER;
    case CR_TASK_CLASSIFICATION:
        return CR_ANSWER_CLASS;
    case CR_TASK_CLUSTER:
        return cri_answers_of(m->class)->by_distance ? CR_ANSWER_DISTANCE : CR_ANSWER_CLASS;
    case CR_TASK_TRANSFORM:
        return CR_ANSWER_VECTOR;
    default:
        return CR_ANSWER_DENSITY;
    }
}

static cr_status allocate_numbers(cr_ctx *cx, bool mean_only, bool leverage, cr_prediction *p)
{
    p->mean = cr_alloc(cx, p->n, sizeof(double));
    if (mean_only) return p->mean ? CR_OK : CR_ENOMEM;
    p->scale = cr_alloc(cx, p->n, sizeof(double));
    p->dof = cr_alloc(cx, p->n, sizeof(double));
    if (leverage) p->leverage = cr_alloc(cx, p->n, sizeof(double));
    return p->mean && p->scale && p->dof && (!leverage || p->leverage) ? CR_OK : CR_ENOMEM;
}

const char *const *cr_model_labels(const cr_model *m, size_t *out_n)
{
    cr_answer kind = answer_of(m);
    *out_n = 0;
    if (kind == CR_ANSWER_NUMBER || kind == CR_ANSWER_DENSITY) return NULL;
    if (m->task != CR_TASK_CLASSIFICATION) return cri_answers_of(m->class)->labels(m->state, out_n);
    *out_n = m->design->target.n_levels;
    return (const char *const *)m->design->target.levels;
}

cr_status cri_prediction_new(cr_ctx *cx, const cr_model *m, size_t n, bool mean_only,
                             cr_prediction *p)
{
    bool density = !(m->task & supervised) && m->class->tasks & CR_TASK_DENSITY;
    *p = (cr_prediction){ .kind = answer_of(m), .n = n };
    if (p->kind == CR_ANSWER_NUMBER)
        return allocate_numbers(cx, mean_only, cri_answers_of(m->class)->has_leverage, p);
    if (density || p->kind == CR_ANSWER_DENSITY) p->log_density = cr_alloc(cx, n, sizeof(double));
    if (p->kind == CR_ANSWER_DENSITY || (density && !p->log_density))
        return p->log_density ? CR_OK : CR_ENOMEM;
    p->classes = cr_model_labels(m, &p->n_classes);
    double *a = cr_alloc(cx, n * p->n_classes, sizeof(double));
    *(p->kind == CR_ANSWER_CLASS ? &p->prob : &p->vector) = a;
    return a ? CR_OK : CR_ENOMEM;
}

cr_status cri_prediction_family(cr_ctx *cx, cr_prediction *p, const char *family, size_t n_params)
{
    p->family = cr_dist_find(cx, family);
    if (!p->family) return CR_EARG;
    p->n_params = n_params;
    p->params = cr_alloc(cx, p->n * n_params, sizeof(double));
    return p->params ? CR_OK : CR_ENOMEM;
}

cr_status cri_prediction_decisions(cr_ctx *cx, cr_prediction *p, size_t n, bool of_pairs,
                                   const char *const *names)
{
    p->n_decisions = n;
    p->decisions = names;
    p->of_pairs = of_pairs;
    p->ranks = true;
    p->decision = cr_alloc(cx, p->n * n, sizeof(double));
    return p->decision ? CR_OK : CR_ENOMEM;
}

void cr_prediction_free(cr_ctx *cx, cr_prediction *p)
{
    double *columns[] = { p->mean,        p->scale,        p->dof,         p->leverage,
                          p->log_density, p->undetermined, p->observations };
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        cr_free(cx, columns[c], p->n, sizeof(double));
    cr_free(cx, p->prob, p->n * p->n_classes, sizeof(double));
    cr_free(cx, p->vector, p->n * p->n_classes, sizeof(double));
    cr_free(cx, p->params, p->n * p->n_params, sizeof(double));
    cr_free(cx, p->decision, p->n * p->n_decisions, sizeof(double));
    cr_free(cx, p->fold_mean, p->n * p->n_folds, sizeof(double));
    cr_free(cx, p->fold_scale, p->n * p->n_folds, sizeof(double));
    *p = (cr_prediction){ 0 };
}

/* --- predict --------------------------------------------------------------------------------- */

static cr_status fail_overflow(cr_ctx *cx, const cr_table *t, size_t row)
{
    char where[512];
    return cr_fail(cx, CR_ENUMERIC, "%s: the values are so large that the prediction overflows",
                   cri_table_where(t, row, where, sizeof where));
}

/* Far from the rows of the fit, the way back from a logarithm leads beyond all numbers. */
static void warn_of_overflows(cr_ctx *cx, size_t overflows, size_t n)
{
    cr_log(cx, CR_LOG_WARNING,
           "%zu of %zu rows %s so far from those of the fit that the mean of the target, after the "
           "way back from "
           "--transform-target, is beyond the largest number: the median stands for it, or inf",
           overflows, n, overflows == 1 ? "lies" : "lie");
}

/* Marks and counts the rows that those of the fit do not determine. */
static cr_status find_undetermined(cr_ctx *cx, const cr_model *m, const cr_table *t,
                                   const cri_rows *rows, cr_prediction *p)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *which = cr_scratch_index(&s, rows->n), count = 0, first = 0;
    char       where[512];

    CR_TRY(s.status);
    CR_TRY(cri_answers_of(m->class)->undetermined(cx, m->state, rows, which));
    for (size_t i = 0; i < rows->n; i++) {
        if (which[i] && count == 0) first = i;
        count += which[i] != 0;
    }
    if (count == 0) goto done;
    p->undetermined = cr_alloc(cx, p->n, sizeof(double));
    if (!p->undetermined) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < rows->n; i++) p->undetermined[i] = which[i] != 0;
    size_t row = rows->index ? rows->index[first] : first;
    cr_log(cx, CR_LOG_WARNING,
           "%s: the rows of the fit do not determine the answer here, as they have no effect of "
           "'%s' apart from the other terms; so in %zu of %zu rows, whose sd is infinite",
           cri_table_where(t, row, where, sizeof where),
           cr_design_term_name(m->design, which[first] - 1), count, rows->n);
done:
    cr_scratch_end(&s);
    return st;
}

/* A column that an option of the fit names is not there. */
static bool lacks_role(const cr_design *d, const cr_table *t)
{
    for (size_t k = 0; k < CRI_MOST_ROLES; k++)
        if (d->roles[k] && !cr_table_find(t, d->roles[k])) return true;
    return false;
}

cr_status cri_prediction_units(cr_ctx *cx, const cr_model *m, size_t n, bool latent,
                               cr_prediction *p, size_t *out_overflows)
{
    const cr_design *d = m->design;
    *out_overflows = 0;
    for (size_t i = 0; p->mean && i < n; i++) {
        p->mean[i] = p->mean[i] * d->target_scale + d->target_shift;
        if (p->scale) p->scale[i] *= d->target_scale;
    }
    cri_prediction_count_power(d->power_rows, n, p);
    if (latent || d->transform.kind == CRI_TRANSFORM_NONE) return CR_OK;
    cr_status st = cri_prediction_untransform(cx, d->transform, n, p, out_overflows);
    if (st == CR_OK && *out_overflows) warn_of_overflows(cx, *out_overflows, n);
    return st;
}

cr_status cri_predict(cr_ctx *cx, const cr_model *m, const cr_table *t, cri_wanted_answer want,
                      cri_answer_rows *opt_answer, void *arg, cr_prediction *out)
{
    cr_status     st = CR_OK;
    cr_prediction p = { 0 };
    cri_rows      rows = { 0 };
    size_t        n = cr_table_rows(t), overflows = 0;
    bool          mean_only = want == CRI_WANT_MEANS;
    bool          of_function =
        mean_only && cri_function_of(m->class)->function; /* noise has no mean of its own */

    CR_TRY(cri_check_fitted(cx, m));
    if (!cri_answers_of(m->class)->predict)
        return cr_fail(cx, CR_EUNSUPPORTED, "the model %s does not predict", m->class->name);
    st = cri_rows_open(cx, m->design, t, of_function ? CRI_INPUTS_ALONE : CRI_TARGET_NONE, &rows);
    if (st == CR_EDATA && cri_function_of(m->class)->function && lacks_role(m->design, t))
        cr_fail_hint(cx, "the function without noise needs no such column: predict --latent");
    CR_TRY(st);
    CR_TRY(cri_prediction_new(cx, m, n, mean_only, &p));
    CR_TRY(opt_answer ? opt_answer(cx, m, &rows, arg, &p)
                      : cri_answers_of(m->class)->predict(cx, m->state, &rows, &p));
    if (m->calibration) {
        if (m->calibration->pairs && !p.of_pairs)
            CR_TRY(cr_fail(cx, CR_EDATA, "the calibration in the model file is not of this model"));
        cri_calibration_apply(m->calibration, p.prob, p.decision, rows.n);
        p.ranks = false;
    }
    CR_TRY(cri_prediction_check(cx, t, &rows, &p));
    CR_TRY(cri_prediction_units(cx, m, rows.n, want == CRI_WANT_LATENT, &p, &overflows));
    for (size_t i = 0; p.mean && !overflows && i < rows.n; i++) /* a family may have no variance */
        if (isinf(p.mean[i]) || (p.scale && !p.family && isinf(p.scale[i])))
            CR_TRY(fail_overflow(cx, t, rows.index ? rows.index[i] : i));
    if (cri_answers_of(m->class)->undetermined) CR_TRY(find_undetermined(cx, m, t, &rows, &p));
    double *columns[] = { p.mean,        p.scale,        p.dof,         p.leverage,
                          p.log_density, p.undetermined, p.observations };
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        cri_rows_spread(&rows, 1, columns[c]);
    cri_rows_spread(&rows, p.n_classes, p.prob);
    cri_rows_spread(&rows, p.n_classes, p.vector);
    cri_rows_spread(&rows, p.n_params, p.params);
    cri_rows_spread(&rows, p.n_decisions, p.decision);
    if (m->conformal && want == CRI_WANT_ALL)
        CR_TRY(cri_conformal_predict(cx, m->conformal, t, &p));
    *out = p;
    p = (cr_prediction){ 0 };
done:
    cri_rows_close(cx, &rows);
    cr_prediction_free(cx, &p);
    return st;
}

cr_status cr_predict(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_prediction *out)
{
    return cri_predict(cx, m, t, CRI_WANT_ALL, NULL, NULL, out);
}

cr_status cri_predict_latent(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_prediction *out)
{
    return cri_predict(cx, m, t, CRI_WANT_LATENT, NULL, NULL, out);
}

cr_status cr_predict_mean(cr_ctx *cx, const cr_model *m, const cr_table *t, double *out_mean)
{
    cr_prediction p = { 0 };
    bool          plain = /* else it takes the sd */
        m->design && m->design->transform.kind == CRI_TRANSFORM_NONE;
    bool      alone = plain && cri_answers_of(m->class)->means_alone;
    cr_status st = cri_predict(cx, m, t, alone ? CRI_WANT_MEANS : CRI_WANT_ALL, NULL, NULL, &p);
    if (st != CR_OK) return st;
    if (!p.mean)
        st = cr_fail(cx, CR_EUNSUPPORTED, "the model %s does not predict a number: it has no mean",
                     m->class->name);
    else if (p.n > 0)
        memcpy(out_mean, p.mean, p.n * sizeof(double));
    cr_prediction_free(cx, &p);
    return st;
}

const char *const *cr_transform_labels(const cr_model *m, size_t *out_n)
{
    *out_n = 0;
    return cr_class_offers(m->class, "transform")
               ? cri_answers_of(m->class)->labels(m->state, out_n)
               : NULL;
}

/* The answers of a model of coordinates, as cr_predict gives them. */
static cr_status copy_vectors(cr_ctx *cx, const cr_model *m, const cr_table *t, double *out)
{
    cr_prediction p = { 0 };
    cr_status     st = cr_predict(cx, m, t, &p);
    if (st == CR_OK && p.n * p.n_classes > 0)
        memcpy(out, p.vector, p.n * p.n_classes * sizeof *out);
    cr_prediction_free(cx, &p);
    return st;
}

cr_status cr_transform(cr_ctx *cx, const cr_model *m, const cr_table *t, double *out)
{
    cr_status st = CR_OK;
    cri_rows  rows = { 0 };
    size_t    q = 0;

    if (!cr_class_offers(m->class, "transform"))
        return cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no coordinates", m->class->name);
    if (!cri_answers_of(m->class)->transform) return copy_vectors(cx, m, t, out);
    cr_transform_labels(m, &q);
    CR_TRY(cri_rows_open(cx, m->design, t, CRI_TARGET_NONE, &rows));
    CR_TRY(cri_answers_of(m->class)->transform(cx, m->state, &rows, out));
    cri_rows_spread(&rows, q, out);
done:
    cri_rows_close(cx, &rows);
    return st;
}

/* --- intervals and scores -------------------------------------------------------------------- */

/* Of a distribution that is not Student's; a row that has none has no interval. */
static cr_status family_interval(cr_ctx *cx, const cr_prediction *p, size_t i, double level,
                                 double *opt_lower, double *opt_upper)
{
    double        low = NAN, high = NAN;
    const double *params = p->params + i * p->n_params;
    if (!isnan(p->mean[i]) && !isnan(params[0]) && (opt_lower || opt_upper)) {
        cr_status st = cr_dist_interval(cx, p->family, params, p->n_params, level, &low, &high);
        if (st != CR_OK) return st;
    }
    if (opt_lower) *opt_lower = low;
    if (opt_upper) *opt_upper = high;
    return CR_OK;
}

/* Rows begin .. end-1, to opt_sd[0], ... */
static cr_status intervals(cr_ctx *cx, const cr_prediction *p, size_t begin, size_t end,
                           double level, double *opt_sd, double *opt_lower, double *opt_upper)
{
    cr_status st = CR_OK;
    double    dof = 0, quantile = 0, sd_share = 0; /* sd / scale */
    if (p->kind != CR_ANSWER_NUMBER || !p->scale)
        return cr_fail(cx, CR_EARG, "intervals need predictions of numbers with their spread");
    for (size_t i = begin; i < end; i++) {
        size_t k = i - begin;
        if (i == begin || p->dof[i] != dof) {
            dof = p->dof[i];
            quantile = opt_lower || opt_upper ? cr_student_t_ppf(0.5 + level / 2, dof) : 0;
            sd_share = isinf(dof) ? 1 : dof > 2 ? sqrt(dof / (dof - 2)) : INFINITY;
            if (isnan(dof)) sd_share = NAN; /* a row that was left out */
        }
        double half = quantile * p->scale[i];
        bool   known = !isnan(p->scale[i]); /* not left out, and degrees of freedom were left */
        if (opt_sd) opt_sd[k] = isinf(sd_share) && known ? INFINITY : p->scale[i] * sd_share;
        if (opt_lower) opt_lower[k] = p->mean[i] - half;
        if (opt_upper) opt_upper[k] = p->mean[i] + half;
        if (p->family && !p->conformal)
            CR_TRY(family_interval(cx, p, i, level, opt_lower ? opt_lower + k : NULL,
                                   opt_upper ? opt_upper + k : NULL));
    }
    if (p->conformal && (opt_lower || opt_upper))
        CR_TRY(cri_conformal_intervals(cx, p, begin, end, level, opt_lower, opt_upper));
    for (size_t i = begin; p->undetermined && i < end; i++) {
        if (!(p->undetermined[i] > 0)) continue;
        if (opt_sd) opt_sd[i - begin] = INFINITY;
        if (opt_lower) opt_lower[i - begin] = -INFINITY;
        if (opt_upper) opt_upper[i - begin] = INFINITY;
    }
done:
    return st;
}

cr_status cr_prediction_intervals(cr_ctx *cx, const cr_prediction *p, double level, double *opt_sd,
                                  double *opt_lower, double *opt_upper)
{
    return intervals(cx, p, 0, p->n, level, opt_sd, opt_lower, opt_upper);
}

cr_status cr_prediction_interval(cr_ctx *cx, const cr_prediction *p, size_t row, double level,
                                 double *out_sd, double *out_lower, double *out_upper)
{
    return intervals(cx, p, row, row + 1, level, out_sd, out_lower, out_upper);
}

/* log p(y) of one row; NaN without an answer. */
static cr_status log_density_of(cr_ctx *cx, const cr_prediction *p, size_t i, double y, double *out)
{
    *out = NAN;
    if (p->kind == CR_ANSWER_CLASS) {
        if (!isnan(y)) *out = log(p->prob[i * p->n_classes + (size_t)y]);
        return CR_OK;
    }
    if (isnan(y) || isnan(p->mean[i]) || isnan(p->scale[i])) return CR_OK;
    if (p->family)
        return cr_dist_logpdf(cx, p->family, p->params + i * p->n_params, p->n_params, y, out);
    if (!(p->scale[i] > 0)) return CR_OK; /* no spread: no density */
    double z = (y - p->mean[i]) / p->scale[i];
    *out = (isinf(p->dof[i]) ? cr_norm_logpdf(z) : cr_student_t_logpdf(z, p->dof[i])) -
           log(p->scale[i]);
    return CR_OK;
}

cr_status cri_fail_ranks(cr_ctx *cx, const char *model)
{
    cr_fail(cx, CR_EUNSUPPORTED, "the model %s was fitted without probabilities", model);
    return cr_fail_hint(cx, "fit it with --calibrate platt");
}

/* Of the target of every row. */
static cr_status score_targets(cr_ctx *cx, const cr_model *m, const cr_table *t,
                               const cr_prediction *p, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *y = cr_scratch_f64(&s, p->n), *score = cr_scratch_f64(&s, p->n);

    CR_TRY(s.status);
    CR_TRY(cr_observed(cx, m, t, y, NULL));
    for (size_t i = 0; i < p->n; i++) {
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(cx));
        CR_TRY(log_density_of(cx, p, i, y[i], &score[i]));
    }
    if (p->n > 0) memcpy(out, score, p->n * sizeof *out);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_score(cr_ctx *cx, const cr_model *m, const cr_table *t, double *out)
{
    cr_status     st = CR_OK;
    cr_prediction p = { 0 };
    bool          target = (m->task & supervised) != 0;

    if (!target && !(m->class->tasks & CR_TASK_DENSITY) && answer_of(m) != CR_ANSWER_DENSITY)
        return cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no density", m->class->name);
    CR_TRY(cr_predict(cx, m, t, &p));
    if (p.ranks) CR_TRY(cri_fail_ranks(cx, m->class->name));
    if (target)
        CR_TRY(score_targets(cx, m, t, &p, out));
    else if (p.n > 0)
        memcpy(out, p.log_density, p.n * sizeof *out);
done:
    cr_prediction_free(cx, &p);
    return st;
}

cr_status cr_next(cr_ctx *cx, const cr_model *m, cr_prediction *out)
{
    cr_status     st = CR_OK;
    cr_prediction p = { .kind = CR_ANSWER_NUMBER };
    if (!cri_answers_of(m->class)->next)
        return cr_fail(cx, CR_EUNSUPPORTED, "the model %s does not predict the next row",
                       m->class->name);
    for (size_t i = 0; i < m->design->n_columns; i++)
        p.n += m->design->columns[i].type != CR_CATEGORY;
    CR_TRY(allocate_numbers(cx, false, false, &p));
    CR_TRY(cri_answers_of(m->class)->next(cx, m->state, m->design, &p));
    *out = p;
    p = (cr_prediction){ 0 };
done:
    cr_prediction_free(cx, &p);
    return st;
}

cr_status cr_observed(cr_ctx *cx, const cr_model *m, const cr_table *t, double *opt_target,
                      double *opt_weight)
{
    cr_status st = CR_OK;
    cri_rows  rows = { 0 };

    if (opt_target && !m->design->target.name)
        return cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no target", m->class->name);
    CR_TRY(cri_rows_open(cx, m->design, t, CRI_TARGET_NEEDED, &rows));
    if (opt_target) cri_rows_targets(&rows, opt_target);
    for (size_t i = 0; i < rows.n; i++) {
        if (opt_weight) opt_weight[i] = rows.w ? rows.w[i] : 1;
    }
    cri_rows_spread(&rows, 1, opt_target);
    cri_rows_spread(&rows, 1, opt_weight);
done:
    cri_rows_close(cx, &rows);
    return st;
}
