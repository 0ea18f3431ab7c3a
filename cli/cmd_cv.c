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
    X(flag, bias_variance, "false", "", "instead of folds: bias and variance, from 200 bootstrap samples or as --bootstrap says", "") \
    X(flag, parameters, "false", "", "with --bootstrap, instead of errors: standard errors and intervals of the model's parameters", "") \
    X(flag, jackknife, "false", "", "instead of folds: standard errors and bias of the parameters, from fits that leave out one row each", "") \
    X(choice, interval_method, "percentile", "percentile|bca", "intervals of --parameters: quantiles of the samples; or corrected for bias and skewness, which takes a fit for every row too", "bca") \
    X(list, learning_curve, "", "", "instead of scores: how they grow with these shares of the training rows", "0.1,0.3,1")
/* clang-format on */
CR_OPTIONS_STRUCT(cv_options, CV_OPTIONS);
#define ROW(...) CR_OPTION_ROW(cv_options, __VA_ARGS__)
static const cr_option cv_table[] = { CV_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW
#define COPY(kind, field, fallback, range, help, example) .field = o->field,

static json_t *start(cli *c, size_t rows, uint64_t seed)
{
    json_t *root = json_object();
    json_object_set_new(root, "model", json_string_nocheck(c->args[0]));
    json_object_set_new(root, "rows", json_integer((json_int_t)rows));
    json_object_set_new(root, "seed", json_integer((json_int_t)seed));
    return root;
}

/* The heading in text, then the table; or the JSON. */
static cr_status finish(cli *c, const char *heading, json_t *root, json_t *rows)
{
    cr_status st = CR_OK;
    CR_TRY(cli_check_strict(c));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_TEXT) out_text(c, "%s\n\n", heading);
    if (c->format == FORMAT_JSON)
        out_json(c, "cv", root);
    else
        out_table(c, rows);
done:
    json_decref(root);
    json_decref(rows);
    return st;
}

/* --- folds ----------------------------------------------------------------------------------- */

static cr_status run_folds(cli *c, const cr_table *t, const cr_model_spec *m,
                           const cr_cv_options *o)
{
    cr_status st = CR_OK;
    cr_cv     cv = { 0 };
    char      title[64], heading[512];
    CR_TRY(cr_cross_validate(c->cx, m->model, t, m->settings, m->n_settings, o, &cv));
    json_t *root = start(c, cv.mean.rows, cv.seed);
    json_object_set_new(root, "metrics", scores_object(&cv.mean));
    json_object_set_new(root, "se", scores_values(&cv.mean, cv.se));
    if (!isnan(cv.mean.quantile))
        json_object_set_new(root, "quantile", json_real(cv.mean.quantile));
    json_object_set_new(root, "folds", scores_folds(cv.fold, cv.folds, cv.repeats));
    snprintf(heading, sizeof heading, "%s, %s on %zu rows of %s, seed %llu", c->args[0],
             scores_title(cv.folds, cv.repeats, title), cv.mean.rows, cr_table_source(t),
             (unsigned long long)cv.seed);
    CR_TRY(finish(c, heading, root, scores_table(&cv.mean, cv.se)));
    if (c->format == FORMAT_TEXT) scores_note(c, &cv.mean);
done:
    cr_cv_free(c->cx, &cv);
    return st;
}

/* --- bootstrap ------------------------------------------------------------------------------- */

static void add(json_t *root, json_t *rows, const char *name, double value, double se)
{
    if (isnan(value)) return;
    json_t *row = json_object();
    json_object_set_new(root, name, scores_number(value));
    json_object_set_new(row, "quantity", json_string(name));
    json_object_set_new(row, "value", scores_number(value));
    json_object_set_new(row, "se", scores_number(se));
    json_array_append_new(rows, row);
}

static cr_status run_bootstrap(cli *c, const cr_table *t, const cr_model_spec *m,
                               const cv_options *o)
{
    cr_status          st = CR_OK;
    cr_bootstrap_error e;
    char               heading[512];
    size_t             samples = o->bootstrap == CR_COUNT_UNSET ? 200 : o->bootstrap;
    CR_TRY(cr_bootstrap_assess(c->cx, m, t, samples, NULL, &e));
    json_t *root = start(c, e.rows, e.seed), *b = json_object(), *rows = json_array();
    json_object_set_new(root, "bootstrap", b);
    json_object_set_new(b, "samples", json_integer((json_int_t)e.samples));
    json_object_set_new(b, "loss", json_string(e.loss));
    add(b, rows, "apparent", e.apparent, NAN);
    add(b, rows, "leave_one_out", e.leave_one_out, e.leave_one_out_se);
    json_object_set_new(b, "leave_one_out_se", scores_number(e.leave_one_out_se));
    add(b, rows, "err_632", e.err_632, NAN);
    add(b, rows, "err_632_plus", e.err_632_plus, NAN);
    add(b, rows, "no_information", e.no_information, NAN);
    add(b, rows, "overfitting", e.overfitting, NAN);
    if (o->bias_variance) {
        add(b, rows, "bias", e.bias, NAN);
        add(b, rows, "variance", e.variance, NAN);
        add(b, rows, "unbiased_variance", e.unbiased_variance, NAN);
        add(b, rows, "biased_variance", e.biased_variance, NAN);
    }
    snprintf(heading, sizeof heading,
             "%s, %s from %zu bootstrap samples of %zu rows of %s, seed %llu", c->args[0], e.loss,
             e.samples, e.rows, cr_table_source(t), (unsigned long long)e.seed);
    CR_TRY(finish(c, heading, root, rows));
done:
    return st;
}

/* --- parameters ------------------------------------------------------------------------------ */

static const char *const methods[] = { "percentile", "bca", "jackknife" };

static json_t *parameter_row(const cr_resampled_parameter *p)
{
    json_t *row = json_object();
    json_object_set_new(row, "name", json_string_nocheck(p->name));
    json_object_set_new(row, "value", scores_number(p->value));
    json_object_set_new(row, "bias", scores_number(p->bias));
    json_object_set_new(row, "se", scores_number(p->se));
    json_object_set_new(row, "lower", scores_number(p->lower));
    json_object_set_new(row, "upper", scores_number(p->upper));
    json_object_set_new(row, "draws", json_integer((json_int_t)p->draws));
    return row;
}

static cr_status run_parameters(cli *c, const cr_table *t, const cr_model_spec *m,
                                const cv_options *o)
{
    cr_status          st = CR_OK;
    cr_resampled       x = { 0 };
    cr_resample_method how = o->jackknife              ? CR_JACKKNIFE
                             : o->interval_method == 1 ? CR_BCA
                                                       : CR_PERCENTILE;
    char               heading[512], source[64];
    CR_TRY(cr_resample(c->cx, m, t, how, o->jackknife ? 0 : o->bootstrap, o->interval, NULL, &x));
    json_t *root = start(c, x.rows, x.seed), *b = json_object(), *list = json_array();
    json_object_set_new(root, "resampling", b);
    json_object_set_new(b, "method", json_string(methods[x.method]));
    json_object_set_new(b, "samples", json_integer((json_int_t)x.made));
    json_object_set_new(b, "failed", json_integer((json_int_t)x.failed));
    json_object_set_new(b, "level", json_real(x.level));
    for (size_t k = 0; k < x.n; k++) json_array_append_new(list, parameter_row(&x.parameters[k]));
    json_object_set(b, "parameters", list);
    snprintf(source, sizeof source,
             how == CR_JACKKNIFE ? "the jackknife" : "%zu bootstrap samples (%s)", x.made,
             methods[x.method]);
    snprintf(heading, sizeof heading,
             "%s, parameters by %s of %zu rows of %s, intervals of %g, seed %llu", c->args[0],
             source, x.rows, cr_table_source(t), x.level, (unsigned long long)x.seed);
    CR_TRY(finish(c, heading, root, list));
done:
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

static json_t *curve_object(const cr_curve_point *p)
{
    json_t *o = json_object();
    json_object_set_new(o, "share", json_real(p->share));
    json_object_set_new(o, "rows", json_integer((json_int_t)p->rows));
    json_object_set_new(o, "metrics", scores_object(&p->test));
    json_object_set_new(o, "se", scores_values(&p->test, p->test_se));
    json_object_set_new(o, "train", scores_object(&p->train));
    json_object_set_new(o, "train_se", scores_values(&p->train, p->train_se));
    return o;
}

static void add_point(json_t *rows, const cr_curve_point *p, size_t m)
{
    json_t *row = json_object();
    json_object_set_new(row, "metric", json_string(p->test.metrics[m].name));
    json_object_set_new(row, "share", json_real(p->share));
    json_object_set_new(row, "rows", json_integer((json_int_t)p->rows));
    json_object_set_new(row, "mean", scores_cell(p->test.metrics[m].value));
    json_object_set_new(row, "se", scores_number(p->test_se[m]));
    json_object_set_new(row, "train", scores_cell(p->train.metrics[m].value));
    json_object_set_new(row, "train_se", scores_number(p->train_se[m]));
    json_array_append_new(rows, row);
}

static cr_status run_curve(cli *c, const cr_table *t, const cr_model_spec *m,
                           const cr_cv_options *o, const char *shares)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(c->cx);
    cr_learning_curve x = { 0 };
    double           *list = NULL;
    size_t            n = 0;
    char              title[64], heading[512];
    CR_TRY(read_shares(c, &s, shares, &list, &n));
    CR_TRY(cr_learn_curve(c->cx, m, t, list, n, o, &x));
    json_t *root = start(c, x.points[0].test.rows, x.seed), *points = json_array();
    json_t *rows = json_array();
    json_object_set_new(root, "learning_curve", points);
    for (size_t i = 0; i < x.n; i++) json_array_append_new(points, curve_object(&x.points[i]));
    for (size_t k = 0; k < x.points[0].test.n; k++)
        for (size_t i = 0; i < x.n; i++) add_point(rows, &x.points[i], k);
    snprintf(heading, sizeof heading, "%s, learning curve by %s of %s, seed %llu", c->args[0],
             scores_title(x.folds, x.repeats, title), cr_table_source(t),
             (unsigned long long)x.seed);
    CR_TRY(finish(c, heading, root, rows));
done:
    cr_learning_curve_free(c->cx, &x);
    cr_scratch_end(&s);
    return st;
}

/* --- the verb -------------------------------------------------------------------------------- */

static cr_status check_parameters(cli *c, const cv_options *o)
{
    if (o->jackknife && (o->bootstrap != CR_COUNT_UNSET || o->bias_variance))
        return cr_fail(c->cx, CR_EARG, "--jackknife does not go with a bootstrap");
    if (o->parameters && o->bias_variance)
        return cr_fail(c->cx, CR_EARG, "--bias-variance is of errors, not of --parameters");
    if (o->parameters && !o->jackknife && o->bootstrap == CR_COUNT_UNSET)
        return cr_fail(c->cx, CR_EARG, "--parameters needs --bootstrap SAMPLES or --jackknife");
    if (o->interval_method == 1 && (!o->parameters || o->jackknife))
        return cr_fail(c->cx, CR_EARG, "--interval-method goes with --bootstrap and --parameters");
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
        CR_TRY(cr_fail(c->cx, CR_EARG, "--%s does not go with a bootstrap",
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
    .result = result_cv,
};
