/* cmd_cv.c -- cv: how good a model is on rows it has not seen, with uncertainty. */
#include "base/list.h"
#include "base/number.h"
#include "scores.h"
#include "specs.h"
#include "study/bootstrap.h"
#include "study/learning_curve.h"
#include "study/resample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define CV_OPTIONS(X)                                                                                \
    CR_CV_OPTIONS(X)                                                                                 \
    X(count, bootstrap, "", "1..1000000", "instead of folds: the .632 and .632+ error from this many bootstrap samples", "200") \
    X(flag, bias_variance, "false", "", "instead of folds: bias and variance, from 200 bootstrap samples or the number given with --bootstrap", "") \
    X(flag, parameters, "false", "", "with --bootstrap, instead of errors: standard errors and intervals of the model's parameters", "") \
    X(flag, jackknife, "false", "", "instead of folds: standard errors and bias of the parameters, from fits that each leave out one row", "") \
    X(choice, interval_method, "percentile", "percentile|bca", "intervals of --parameters: quantiles of the samples, or corrected for bias and skewness, which also needs a fit without each row", "bca") \
    X(list, learning_curve, "", "", "instead of scores: how they change with these shares of the training rows", "0.1,0.3,1")
/* clang-format on */
CR_OPTIONS(cv_options, cv_table, CV_OPTIONS);
#define COPY(kind, field, fallback, range, help, example) .field = o->field,

/* --- the result ------------------------------------------------------------------------------ */

static const cr_field bootstrap_error[] = {
    CR_COUNT("samples", 0, "bootstrap samples"),
    CR_TEXT("loss", 0, "squared error of numbers, error rate of classes"),
    CR_NUMBER("apparent", CR_FIELD_NULL, "loss on the training rows themselves"),
    CR_NUMBER("leave_one_out", CR_FIELD_NULL, "loss of models on rows they have not seen"),
    CR_NUMBER("leave_one_out_se", CR_FIELD_NULL, "its standard error over the rows"),
    CR_NUMBER("err_632", CR_FIELD_NULL, "the .632 error"),
    CR_NUMBER("err_632_plus", CR_FIELD_NULL, "the .632+ error"),
    CR_NUMBER("no_information", CR_FIELD_NULL, "loss if predictions and targets were unrelated"),
    CR_NUMBER("overfitting", CR_FIELD_NULL, "relative overfitting rate, from 0 to 1"),
    CR_NUMBER("bias", CR_FIELD_SOMETIMES,
              "with --bias-variance: loss of the main prediction, noise included"),
    CR_NUMBER("variance", CR_FIELD_SOMETIMES,
              "with --bias-variance: what the variation between models adds"),
    CR_NUMBER("unbiased_variance", CR_FIELD_SOMETIMES,
              "of classes: what the variation costs where the main prediction is right"),
    CR_NUMBER("biased_variance", CR_FIELD_SOMETIMES,
              "of classes: what the variation gains where the main prediction is wrong"),
    CR_FIELD_LAST,
};

static const cr_field resampled_parameter[] = {
    CR_TEXT("name", 0, "the term; intercept for the intercept"),
    CR_NUMBER("value", CR_FIELD_NULL, "from the fit to all rows"),
    CR_NUMBER("bias", CR_FIELD_NULL,
              "mean of the samples minus the value, or the jackknife's estimate"),
    CR_NUMBER("se", CR_FIELD_NULL, "standard error"),
    CR_NUMBER("lower", CR_FIELD_NULL, "lower end of the interval"),
    CR_NUMBER("upper", CR_FIELD_NULL, "upper end of it"),
    CR_COUNT("draws", 0, "number of fits that had this parameter"),
    CR_FIELD_LAST,
};

static const cr_field resampling[] = {
    CR_TEXT("method", 0, "percentile, bca or jackknife"),
    CR_COUNT("samples", 0, "fits that were made"),
    CR_COUNT("failed", 0, "samples that could not be fitted"),
    CR_NUMBER("level", 0, "mass of the intervals"),
    CR_INNER(ROWS, "parameters", 0, "the parameters, and how much they vary", resampled_parameter),
    CR_FIELD_LAST,
};

static const cr_field curve_point[] = {
    CR_NUMBER("share", 0, "of the training rows"),
    CR_COUNT("rows", 0, "training rows, in the first fold"),
    SCORES_OF_FOLDS,
    CR_OTHER(NUMBERS, "train", 0, "the same scores on the training rows"),
    CR_OTHER(NUMBERS, "train_se", 0, "standard errors of these"),
    CR_FIELD_LAST,
};

static const cr_field result[] = {
    CR_TEXT("model", 0, "the model, as it was named"),
    CR_COUNT("rows", 0, "rows that were scored, over all folds"),
    CR_OTHER(NUMBERS, "metrics", CR_FIELD_SOMETIMES, "of folds: the mean of each score over them"),
    CR_OTHER(NUMBERS, "se", CR_FIELD_SOMETIMES, "of folds: standard errors of these means"),
    CR_NUMBER("quantile", CR_FIELD_SOMETIMES,
              "of quantile regression: the predicted quantile, which rmse, mae and r2 refer to"),
    CR_TEXT(
        "positive", CR_FIELD_SOMETIMES,
        "of two classes, or with --positive: the class that auc, f1 and average_precision are of"),
    CR_INNER(SCORES, "folds", CR_FIELD_SOMETIMES, "of folds: each score in each fold", scores_fold),
    CR_INNER(OBJECT, "bootstrap", CR_FIELD_SOMETIMES,
             "with --bootstrap or --bias-variance: the errors", bootstrap_error),
    CR_INNER(OBJECT, "resampling", CR_FIELD_SOMETIMES,
             "with --parameters or --jackknife: standard errors and intervals", resampling),
    CR_INNER(ROWS, "learning_curve", CR_FIELD_SOMETIMES, "with --learning-curve: its points",
             curve_point),
    CR_COUNT("seed", 0, "random seed of the split and the fits"),
    CR_FIELD_LAST,
};

static cli_result start(cli *c, size_t rows, uint64_t seed)
{
    cli_result r = cli_result_new(c);
    cri_put_text(r.object, "model", c->args[0]);
    cri_put_count(r.object, "rows", rows);
    cri_put_count(r.object, "seed", seed);
    return r;
}

/* --- folds ----------------------------------------------------------------------------------- */

/* One row for each metric: its name, mean and standard error. */
static void put_table(const cr_cv *cv, cri_sheet *rows)
{
    for (size_t i = 0; i < cv->mean.n; i++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "metric", cv->mean.metrics[i].name);
        cli_put_cell(row, "mean", cv->mean.metrics[i].value);
        cri_put_real(row, "se", cv->se[i]);
    }
}

static cr_status run_folds(cli *c, const cr_table *t, const cr_model_spec *m,
                           const cr_cv_options *o)
{
    cr_status  st = CR_OK;
    cr_cv      cv = { 0 };
    cli_result r = { 0 };
    char       title[64];
    CR_TRY(cr_cross_validate(c->cx, m->model, t, m->settings, m->n_settings, o, &cv));
    r = start(c, cv.mean.rows, cv.seed);
    cri_put_cv(&cv, r.object);
    put_table(&cv, r.rows);
    cli_result_title(r, "%s, %s on %zu rows of %s, seed %llu", c->args[0],
                     scores_title(cv.folds, cv.repeats, title), cv.mean.rows, cr_table_source(t),
                     (unsigned long long)cv.seed);
    CR_TRY(cli_result_print(c, r));
    scores_note(c, &cv.mean, o->positive);
done:
    cli_result_free(r);
    cr_cv_free(c->cx, &cv);
    return st;
}

/* --- bootstrap ------------------------------------------------------------------------------- */

static void add(cri_sheet *object, cri_sheet *rows, const char *name, double value, double se)
{
    if (isnan(value)) return;
    cri_sheet *row = cri_put_object(rows, NULL);
    cri_put_real(object, name, value);
    cri_put_text(row, "quantity", name);
    cri_put_real(row, "value", value);
    cri_put_real(row, "se", se);
}

static cr_status run_bootstrap(cli *c, const cr_table *t, const cr_model_spec *m,
                               const cv_options *o)
{
    cr_status          st = CR_OK;
    cr_bootstrap_error e;
    cli_result         r = { 0 };
    size_t             samples = o->bootstrap == CR_COUNT_UNSET ? 200 : o->bootstrap;
    CR_TRY(cr_bootstrap_assess(c->cx, m, t, samples, NULL, &e));
    r = start(c, e.rows, e.seed);
    cri_sheet *b = cri_put_object(r.object, "bootstrap");
    cri_put_count(b, "samples", e.samples);
    cri_put_text(b, "loss", e.loss);
    add(b, r.rows, "apparent", e.apparent, NAN);
    add(b, r.rows, "leave_one_out", e.leave_one_out, e.leave_one_out_se);
    cri_put_real(b, "leave_one_out_se", e.leave_one_out_se);
    add(b, r.rows, "err_632", e.err_632, NAN);
    add(b, r.rows, "err_632_plus", e.err_632_plus, NAN);
    add(b, r.rows, "no_information", e.no_information, NAN);
    add(b, r.rows, "overfitting", e.overfitting, NAN);
    if (o->bias_variance) {
        add(b, r.rows, "bias", e.bias, NAN);
        add(b, r.rows, "variance", e.variance, NAN);
        add(b, r.rows, "unbiased_variance", e.unbiased_variance, NAN);
        add(b, r.rows, "biased_variance", e.biased_variance, NAN);
    }
    cli_result_title(r, "%s, %s from %zu bootstrap samples of %zu rows of %s, seed %llu",
                     c->args[0], e.loss, e.samples, e.rows, cr_table_source(t),
                     (unsigned long long)e.seed);
    CR_TRY(cli_result_print(c, r));
done:
    cli_result_free(r);
    return st;
}

/* --- parameters ------------------------------------------------------------------------------ */

static const char *const methods[] = { "percentile", "bca", "jackknife" };

static void put_parameter(const cr_resampled_parameter *p, cri_sheet *row)
{
    cri_put_text(row, "name", p->name);
    cri_put_real(row, "value", p->value);
    cri_put_real(row, "bias", p->bias);
    cri_put_real(row, "se", p->se);
    cri_put_real(row, "lower", p->lower);
    cri_put_real(row, "upper", p->upper);
    cri_put_count(row, "draws", p->draws);
}

static cr_status run_parameters(cli *c, const cr_table *t, const cr_model_spec *m,
                                const cv_options *o)
{
    cr_status          st = CR_OK;
    cr_resampled       x = { 0 };
    cr_resample_method how = o->jackknife              ? CR_JACKKNIFE
                             : o->interval_method == 1 ? CR_BCA
                                                       : CR_PERCENTILE;
    cli_result         r = { 0 };
    char               source[64];
    CR_TRY(cr_resample(c->cx, m, t, how, o->jackknife ? 0 : o->bootstrap, o->interval, NULL, &x));
    r = start(c, x.rows, x.seed);
    cri_sheet *b = cri_put_object(r.object, "resampling");
    cri_put_text(b, "method", methods[x.method]);
    cri_put_count(b, "samples", x.made);
    cri_put_count(b, "failed", x.failed);
    cri_put_real(b, "level", x.level);
    r.rows = cri_put_list(b, "parameters"); /* the table is this list */
    for (size_t k = 0; k < x.n; k++) put_parameter(&x.parameters[k], cri_put_object(r.rows, NULL));
    snprintf(source, sizeof source,
             how == CR_JACKKNIFE ? "the jackknife" : "%zu bootstrap samples (%s)", x.made,
             methods[x.method]);
    cli_result_title(r, "%s, parameters by %s of %zu rows of %s, intervals of %g, seed %llu",
                     c->args[0], source, x.rows, cr_table_source(t), x.level,
                     (unsigned long long)x.seed);
    CR_TRY(cli_result_print(c, r));
done:
    cli_result_free(r);
    cr_resampled_free(c->cx, &x);
    return st;
}

/* --- learning curve -------------------------------------------------------------------------- */

static cr_status read_shares(cli *c, cr_scratch *s, const char *list, double **out, size_t *out_n)
{
    cr_status st = CR_OK;
    char    **items = NULL;
    double   *x = NULL;
    CR_TRY(cri_list_split(s, list, &items, out_n));
    x = cr_scratch_f64(s, *out_n);
    CR_TRY(s->status);
    for (size_t i = 0; i < *out_n; i++) {
        size_t length = strlen(items[i]);
        if (cri_parse_double(items[i], items[i] + length, &x[i]) != length)
            CR_TRY(cr_fail(c->cx, CR_EARG, "--learning-curve: '%s' is not a number", items[i]));
    }
    *out = x;
done:
    return st;
}

static void put_point(const cr_curve_point *p, cri_sheet *o)
{
    cri_put_real(o, "share", p->share);
    cri_put_count(o, "rows", p->rows);
    cri_scores_put_means(o, &p->test, p->test_se);
    cri_scores_put(o, "train", &p->train);
    cri_scores_put_values(o, "train_se", &p->train, p->train_se);
}

static void put_metric(const cr_curve_point *p, size_t m, cri_sheet *row)
{
    cri_put_text(row, "metric", p->test.metrics[m].name);
    cri_put_real(row, "share", p->share);
    cri_put_count(row, "rows", p->rows);
    cli_put_cell(row, "mean", p->test.metrics[m].value);
    cri_put_real(row, "se", p->test_se[m]);
    cli_put_cell(row, "train", p->train.metrics[m].value);
    cri_put_real(row, "train_se", p->train_se[m]);
}

static cr_status run_curve(cli *c, const cr_table *t, const cr_model_spec *m,
                           const cr_cv_options *o, const char *shares)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(c->cx);
    cr_learning_curve x = { 0 };
    cli_result        r = { 0 };
    double           *list = NULL;
    size_t            n = 0;
    char              title[64];
    CR_TRY(read_shares(c, &s, shares, &list, &n));
    CR_TRY(cr_learn_curve(c->cx, m, t, list, n, o, &x));
    r = start(c, x.points[0].test.rows, x.seed);
    cri_sheet *points = cri_put_list(r.object, "learning_curve");
    for (size_t i = 0; i < x.n; i++) put_point(&x.points[i], cri_put_object(points, NULL));
    for (size_t k = 0; k < x.points[0].test.n; k++)
        for (size_t i = 0; i < x.n; i++) put_metric(&x.points[i], k, cri_put_object(r.rows, NULL));
    cli_result_title(r, "%s, learning curve by %s of %s, seed %llu", c->args[0],
                     scores_title(x.folds, x.repeats, title), cr_table_source(t),
                     (unsigned long long)x.seed);
    CR_TRY(cli_result_print(c, r));
done:
    cli_result_free(r);
    cr_learning_curve_free(c->cx, &x);
    cr_scratch_end(&s);
    return st;
}

/* --- the verb -------------------------------------------------------------------------------- */

static cr_status check_parameters(cli *c, const cv_options *o)
{
    if (o->jackknife && (o->bootstrap != CR_COUNT_UNSET || o->bias_variance))
        return cr_fail(c->cx, CR_EARG, "--jackknife cannot be combined with a bootstrap");
    if (o->parameters && o->bias_variance)
        return cr_fail(c->cx, CR_EARG, "--bias-variance is for errors, not for --parameters");
    if (o->parameters && !o->jackknife && o->bootstrap == CR_COUNT_UNSET)
        return cr_fail(c->cx, CR_EARG, "--parameters needs --bootstrap SAMPLES or --jackknife");
    if (o->interval_method == 1 && (!o->parameters || o->jackknife))
        return cr_fail(c->cx, CR_EARG, "--interval-method requires --bootstrap and --parameters");
    return CR_OK;
}

static cr_status run_cv(cli *c)
{
    cr_status         st = CR_OK;
    const cv_options *o = c->own;
    cr_scratch        s = cr_scratch_begin(c->cx);
    cr_table         *t = NULL;
    cr_model_spec    *spec = NULL;
    cr_cv_options     cv = { CR_CV_OPTIONS(COPY) };
    bool              boot = o->bootstrap != CR_COUNT_UNSET || o->bias_variance || o->jackknife;
    if (strchr(c->args[0], ':') == NULL) CR_TRY(cli_check_settings(c));
    CR_TRY(specs_read(c, &s, 0, 1, &spec));
    if (boot && (o->learning_curve || o->group))
        CR_TRY(cr_fail(c->cx, CR_EARG, "--%s cannot be combined with a bootstrap",
                       o->group ? "group" : "learning-curve"));
    CR_TRY(check_parameters(c, o));
    CR_TRY(cli_read_data(c, 1, NULL, &t));
    if (o->parameters || o->jackknife)
        CR_TRY(run_parameters(c, t, spec, o));
    else if (boot)
        CR_TRY(run_bootstrap(c, t, spec, o));
    else if (o->learning_curve)
        CR_TRY(run_curve(c, t, spec, &cv, o->learning_curve));
    else
        CR_TRY(run_folds(c, t, spec, &cv));
done:
    cr_table_free(c->cx, t);
    cr_scratch_end(&s);
    return st;
}

const cli_verb verb_cv = {
    .name = "cv",
    .usage = "cv MODEL DATA --target COLUMN [--folds 10] [OPTIONS]",
    .summary = "score a model on rows it has not seen, with standard errors",
    .example =
        "credence cv ridge examples/diabetes.csv --target progression --lambda 10 --folds 5\n"
        "credence cv linear examples/diabetes.csv --target progression --bootstrap 50 "
        "--bias-variance\n"
        "credence cv linear examples/diabetes.csv --target progression --bootstrap 200 "
        "--parameters "
        "--interval-method bca\n"
        "credence cv linear examples/diabetes.csv --target progression --learning-curve 0.1,0.3,1",
    .options = cv_table,
    .options_size = sizeof(cv_options),
    .takes = VERB_READS | VERB_FITS | VERB_FACTORISES,
    .least = 2,
    .most = 2,
    .run = run_cv,
    .result = result,
};
