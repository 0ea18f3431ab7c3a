/* assess.c -- evaluation and cross-validation. */
#include "assess.h"
#include "../base/context_internal.h"
#include "../base/scratch.h"
#include "../data/design_internal.h"
#include "../data/split.h"
#include "../data/subset.h"
#include "../data/table_internal.h"
#include "../models/model_internal.h"
#include "../prob/dist/tail_integral.h"

#include <math.h>
#include <string.h>

#define ROW(...) CR_OPTION_ROW(cr_cv_options, __VA_ARGS__)
const cr_option cr_cv_table[] = { CR_CV_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

/* --- evaluate -------------------------------------------------------------------------------- */

static void add_metric(cr_assessment *a, const char *name, double value)
{
    if (a->n < CR_MOST_METRICS) a->metrics[a->n++] = (cr_metric){ name, value, NAN };
}

static bool has_answer(const cr_prediction *p, size_t i)
{
    if (p->mean) return !isnan(p->mean[i]);
    return !isnan(p->log_density ? p->log_density[i] : p->prob[i * p->n_classes]);
}

static void move(double *opt_a, size_t width, size_t to, size_t from)
{
    if (opt_a && to != from)
        memcpy(opt_a + to * width, opt_a + from * width, width * sizeof *opt_a);
}

/* Moves the rows that have both target and prediction to the front; returns their number. */
static size_t keep_scored(cr_prediction *p, double *y, double *w)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (isnan(y[i]) || isnan(w[i]) || !has_answer(p, i)) continue;
        y[n] = y[i], w[n] = w[i];
        double *columns[] = { p->mean, p->scale, p->dof, p->log_density };
        for (size_t c = 0; c < 4; c++) move(columns[c], 1, n, i);
        move(p->prob, p->n_classes, n, i);
        move(p->params, p->n_params, n, i);
        n++;
    }
    return n;
}

/* How many of the first n predictions have no spread: noise that could not be told, or none. */
static size_t count_points(const cr_prediction *p, size_t n)
{
    size_t points = 0;
    for (size_t i = 0; i < n; i++) points += !(p->scale[i] > 0);
    return points;
}

/* Fills what the points alone do not give, for a distribution that is not Student's. */
static cr_status assess_family(cr_ctx *cx, const cr_prediction *p, const double *y, const double *w,
                               double level, size_t n, cr_regression_metrics *m)
{
    cr_status st = CR_OK;
    double    weight = 0, score = 0, crps = 0, covered = 0, width = 0;
    for (size_t i = 0; i < n; i++) {
        const double *params = p->params + i * p->n_params;
        double        log_density, ranked, lower, upper;
        if (i % 256 == 0) CR_TRY(cr_check_interrupt(cx));
        if (w[i] == 0) continue;
        CR_TRY(cr_dist_logpdf(cx, p->family, params, p->n_params, y[i], &log_density));
        CR_TRY(cr_dist_crps(cx, p->family, params, p->n_params, y[i], &ranked));
        CR_TRY(cr_dist_interval(cx, p->family, params, p->n_params, level, &lower, &upper));
        weight += w[i];
        score += w[i] * log_density;
        crps += w[i] * ranked;
        covered += lower <= y[i] && y[i] <= upper ? w[i] : 0;
        width += w[i] * (upper - lower);
    }
    m->log_score = score / weight, m->crps = crps / weight;
    m->coverage = covered / weight, m->width = width / weight;
done:
    return st;
}

static cr_status assess_numbers(cr_ctx *cx, const cr_prediction *p, const double *y,
                                const double *w, double level, cr_assessment *a)
{
    cr_status     st = CR_OK;
    size_t        points = p->family ? 0 : count_points(p, a->rows);
    bool          spread = !p->family && points == 0;
    cr_predictive d = { a->rows, p->mean, spread ? p->scale : NULL, spread ? p->dof : NULL };
    cr_regression_metrics m;

    CR_TRY(cr_regression_evaluate(cx, y, &d, w, level, &m));
    if (p->family) CR_TRY(assess_family(cx, p, y, w, level, a->rows, &m));
    if (points)
        cr_log(
            cx, CR_LOG_WARNING,
            "%zu of %zu rows are predicted without any spread: log_score, crps, coverage and width "
            "have no value",
            points, a->rows);
    add_metric(a, "log_score", m.log_score);
    add_metric(a, "rmse", m.rmse);
    add_metric(a, "mae", m.mae);
    add_metric(a, "r2", m.r2);
    add_metric(a, "crps", m.crps);
    add_metric(a, "coverage", m.coverage);
    add_metric(a, "width", m.width);
done:
    return st;
}

static cr_status assess_classes(cr_ctx *cx, const cr_prediction *p, const double *y,
                                const double *w, cr_assessment *a)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    uint32_t        *codes = cr_scratch_bytes(&s, a->rows, sizeof *codes);
    cr_class_metrics m;
    CR_TRY(s.status);
    for (size_t i = 0; i < a->rows; i++) codes[i] = (uint32_t)y[i];
    CR_TRY(cr_class_evaluate(cx, codes, cr_cmat_of(p->prob, a->rows, p->n_classes), w, &m));
    add_metric(a, "log_loss", m.log_loss);
    add_metric(a, "accuracy", m.accuracy);
    add_metric(a, "brier", m.brier);
    add_metric(a, "auc", m.auc);
    add_metric(a, "calibration_error", m.calibration_error);
    a->has_bins = true;
    memcpy(a->bins, m.bins, sizeof a->bins);
done:
    cr_scratch_end(&s);
    return st;
}

/* The weighted mean log density; its standard error takes a row of weight 2 for two rows. */
static void assess_densities(cr_ctx *cx, const cr_prediction *p, const double *w, cr_assessment *a)
{
    double weight = 0, sum = 0, square = 0;
    size_t impossible = 0;
    for (size_t i = 0; i < a->rows; i++) {
        if (w[i] == 0) continue;
        weight += w[i];
        sum += w[i] * p->log_density[i];
        impossible += isinf(p->log_density[i]) != 0;
    }
    double mean = sum / weight;
    for (size_t i = 0; i < a->rows; i++) {
        double d = p->log_density[i] - mean;
        if (w[i] > 0) square += w[i] * d * d;
    }
    add_metric(a, "log_score", mean);
    if (weight > 1 && !impossible) a->metrics[0].se = sqrt(square / (weight - 1) / weight);
    if (impossible)
        cr_log(cx, CR_LOG_WARNING,
               "%zu of %zu rows have no density at all: their log_score is infinite", impossible,
               a->rows);
}

cr_status cr_evaluate(cr_ctx *cx, const cr_model *model, const cr_table *t, double level,
                      cr_assessment *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        n = cr_table_rows(t);
    unsigned      target = cr_model_get_task(model) & (CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION);
    double       *y = cr_scratch_bytes(&s, n, sizeof *y), *w = cr_scratch_f64(&s, n);
    cr_prediction p = { 0 };
    cr_assessment a = { 0 };

    CR_TRY(s.status);
    CR_TRY(cr_observed(cx, model, t, target ? y : NULL, w));
    CR_TRY(cr_predict(cx, model, t, &p));
    if (!target && !p.log_density)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                       "the model %s has neither a target nor a density to be scored by",
                       cr_class_name(cr_model_get_class(model))));
    a.rows = keep_scored(&p, y, w);
    if (a.rows == 0)
        CR_TRY(cr_fail(cx, CR_EDATA,
                       target ? "%s: no row has both target and prediction"
                              : "%s: no row has a density",
                       cr_table_source(t)));
    if (!target)
        assess_densities(cx, &p, w, &a);
    else
        CR_TRY(p.kind == CR_ANSWER_NUMBER ? assess_numbers(cx, &p, y, w, level, &a)
                                          : assess_classes(cx, &p, y, w, &a));
    *out = a;
done:
    cr_prediction_free(cx, &p);
    cr_scratch_end(&s);
    return st;
}

/* --- cross-validation ------------------------------------------------------------------------ */

static const char *setting(const cr_setting *settings, size_t n, const char *name)
{
    for (size_t i = n; i-- > 0;)
        if (strcmp(settings[i].name, name) == 0) return settings[i].value;
    return NULL;
}

/* The seed as the fit reads it: "1e3" is a number too. */
static cr_status read_seed(cr_ctx *cx, const char *text, uint64_t *out_seed)
{
    cr_fit_options o;
    cr_status      st = cr_options_init(cx, cr_fit_table, &o);
    if (st == CR_OK && text) st = cr_options_set(cx, cr_fit_table, &o, "seed", text);
    if (st == CR_OK) *out_seed = o.seed;
    return st;
}

static cr_status make_folds(cr_ctx *cx, const cr_table *t, const char *target, uint64_t seed,
                            const cr_cv_options *o, cr_folds *out)
{
    size_t n = cr_table_rows(t);
    if (n < o->folds)
        return cr_fail(cx, CR_EDATA, "%s has %zu rows, which is not enough for %zu folds",
                       cr_table_source(t), n, o->folds);
    if (o->split == CR_SPLIT_ORDERED) return cr_folds_new_ordered(cx, n, o->folds, out);
    if (o->split == CR_SPLIT_SHUFFLED) return cr_folds_new(cx, n, o->folds, seed, out);
    const cr_column *y = target ? cr_table_find(t, target) : NULL;
    if (y && y->type == CR_CATEGORY)
        return cr_folds_new_stratified(cx, y->codes, n, o->folds, seed, out);
    if (target && !y) return cri_table_no_column(cx, t, target);
    return cr_fail(cx, CR_EARG, "--split stratified needs a target that is a category");
}

/* A target of numbers that name classes becomes a category, so that every fold knows all of them;
 * *out stays NULL where the table serves as it is. */
static cr_status name_classes(cr_ctx *cx, const char *name, const cr_table *t,
                              const cr_setting *settings, size_t n_settings, cr_table **out)
{
    cr_status   st = CR_OK;
    unsigned    task = 0;
    const char *target = setting(settings, n_settings, "target");
    CR_TRY(cri_fit_task(cx, name, t, settings, n_settings, &task));
    if (task != CR_TASK_CLASSIFICATION) goto done;
    if (cr_table_find(t, target)->type != CR_CATEGORY)
        CR_TRY(cri_table_with_classes(cx, t, target, out));
done:
    return st;
}

static cr_status run_fold(cr_ctx *cx, const char *name, const cr_table *t,
                          const cr_setting *settings, size_t n_settings, const cr_folds *folds,
                          size_t f, double level, cr_assessment *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *rows = cr_scratch_index(&s, folds->n), n;
    cr_table  *train = NULL, *test = NULL;
    cr_model  *model = NULL;

    CR_TRY(s.status);
    n = cr_folds_train(folds, f, rows);
    CR_TRY(cri_table_subset(cx, t, rows, n, &train));
    n = cr_folds_test(folds, f, rows);
    CR_TRY(cri_table_subset(cx, t, rows, n, &test));
    CR_TRY(cr_fit(cx, name, train, settings, n_settings, &model));
    CR_TRY(cr_evaluate(cx, model, test, level, out));
done:
    cr_model_free(cx, model);
    cr_table_free(cx, train);
    cr_table_free(cx, test);
    cr_scratch_end(&s);
    return st;
}

/* Means over the folds and their standard errors; a metric that some fold lacks has none. */
static void summarise(cr_cv *cv)
{
    double k = (double)cv->folds;
    cv->mean = cv->fold[0];
    cv->mean.has_bins = false; /* they are those of one fold */
    cv->mean.rows = 0;
    for (size_t f = 0; f < cv->folds; f++) cv->mean.rows += cv->fold[f].rows;
    for (size_t m = 0; m < cv->mean.n; m++) {
        double sum = 0, square = 0;
        for (size_t f = 0; f < cv->folds; f++) sum += cv->fold[f].metrics[m].value;
        for (size_t f = 0; f < cv->folds; f++) {
            double d = cv->fold[f].metrics[m].value - sum / k;
            square += d * d;
        }
        cv->mean.metrics[m].value = sum / k;
        cv->se[m] = sqrt(square / (k - 1) / k);
    }
}

cr_status cr_cross_validate(cr_ctx *cx, const char *name, const cr_table *t,
                            const cr_setting *settings, size_t n_settings,
                            const cr_cv_options *options, cr_cv *out)
{
    cr_status   st = CR_OK;
    cr_folds    folds = { 0 };
    cr_cv       cv = { .folds = options->folds };
    cr_table   *classes = NULL;
    const char *target = setting(settings, n_settings, "target");

    CR_TRY(cr_check_settings(cx, name, settings, n_settings));
    CR_TRY(read_seed(cx, setting(settings, n_settings, "seed"), &cv.seed));
    CR_TRY(name_classes(cx, name, t, settings, n_settings, &classes));
    if (classes) t = classes;
    CR_TRY(make_folds(cx, t, target, cv.seed, options, &folds));
    cv.fold = cr_alloc(cx, cv.folds, sizeof *cv.fold);
    if (!cv.fold) CR_TRY(CR_ENOMEM);
    for (size_t f = 0; f < cv.folds; f++) {
        CR_TRY(cr_check_interrupt(cx));
        cr_progress(cx, "cross-validating", (double)f, (double)cv.folds);
        cri_mute_progress(cx, true); /* the folds are what is counted, not the steps of each */
        st = run_fold(cx, name, t, settings, n_settings, &folds, f, options->interval, &cv.fold[f]);
        cri_mute_progress(cx, false);
        CR_TRY(st);
    }
    summarise(&cv);
    *out = cv;
    cv.fold = NULL;
done:
    cr_free(cx, cv.fold, options->folds, sizeof *cv.fold);
    cr_folds_free(cx, &folds);
    cr_table_free(cx, classes);
    return st;
}

void cr_cv_free(cr_ctx *cx, cr_cv *cv)
{
    cr_free(cx, cv->fold, cv->folds, sizeof *cv->fold);
    *cv = (cr_cv){ 0 };
}
