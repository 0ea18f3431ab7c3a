/* cmd_evaluate.c -- evaluate: how good a model is on given rows. */
#include "answers.h"
#include "scores.h"
#include "study/assess.h"

#include <math.h>

static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static json_t *metrics_object(const cr_assessment *a)
{
    json_t *object = json_object();
    for (size_t i = 0; i < a->n; i++)
        json_object_set_new(object, a->metrics[i].name, number(a->metrics[i].value));
    return object;
}

static json_t *bins_array(const cr_assessment *a)
{
    json_t *bins = json_array();
    for (size_t b = 0; b < CR_CALIBRATION_BINS; b++) {
        json_t *bin = json_object();
        json_object_set_new(bin, "count", json_integer((json_int_t)a->bins[b].count));
        json_object_set_new(bin, "confidence", json_real(a->bins[b].confidence));
        json_object_set_new(bin, "accuracy", json_real(a->bins[b].accuracy));
        json_array_append_new(bins, bin);
    }
    return bins;
}

/* --- evaluate -------------------------------------------------------------------------------- */

#define EVALUATE_OPTIONS(X)                                                                        \
    X(real, interval, "0.95", "0<..<1", "mass of the intervals whose coverage is counted", "0.9")  \
    X(flag, rows, "false", "", "show the log density of each row instead of the scores", "")
CR_OPTIONS_STRUCT(evaluate_options, EVALUATE_OPTIONS);
#define ROW(...) CR_OPTION_ROW(evaluate_options, __VA_ARGS__)
static const cr_option evaluate_table[] = { EVALUATE_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

/* The log density of every row: with the scores in JSON, else by itself. */
static cr_status add_rows(cli *c, const cr_model *m, const cr_table *t, cr_scratch *s, answers *a,
                          json_t *root)
{
    cr_status st = CR_OK;
    size_t    n = cr_table_rows(t);
    double   *x = cr_scratch_f64(s, n);
    json_t   *list = json_array();
    *a = answers_new(s, n, 1);
    json_object_set_new(root, "log_density", list);
    CR_TRY(s->status);
    CR_TRY(cr_score(c->cx, m, t, x));
    answers_add(a, "log_density", "log_density")->x = x;
    for (size_t i = 0; i < n; i++) json_array_append_new(list, number(x[i]));
done:
    return st;
}

/* The scores as a table; standard errors where there are some. */
static json_t *metrics_table(const cr_assessment *a)
{
    json_t *rows = json_array();
    bool    errors = false;
    for (size_t i = 0; i < a->n; i++) errors |= !isnan(a->metrics[i].se);
    for (size_t i = 0; i < a->n; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "metric", json_string(a->metrics[i].name));
        json_object_set_new(row, "value", scores_cell(a->metrics[i].value));
        if (errors) json_object_set_new(row, "se", number(a->metrics[i].se));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *errors_object(const cr_assessment *a)
{
    json_t *object = json_object();
    for (size_t i = 0; i < a->n; i++)
        if (!isnan(a->metrics[i].se))
            json_object_set_new(object, a->metrics[i].name, number(a->metrics[i].se));
    return object;
}

static cr_status run_evaluate(cli *c)
{
    cr_status               st = CR_OK;
    const evaluate_options *o = c->own;
    cr_scratch              s = cr_scratch_begin(c->cx);
    cr_table               *t = NULL;
    cr_model               *m = NULL;
    cr_assessment           a;
    answers                 each;
    json_t                 *root = json_object(), *rows = NULL, *errors = NULL;

    CR_TRY(cli_read_model(c, 0, &m));
    CR_TRY(cli_read_data(c, 1, m, &t));
    CR_TRY(cr_evaluate(c->cx, m, t, o->interval, &a));
    if (a.rows < cr_table_rows(t))
        cr_log(c->cx, CR_LOG_WARNING, "%zu of %zu rows have missing values and are not scored",
               cr_table_rows(t) - a.rows, cr_table_rows(t));
    if (o->rows) CR_TRY(add_rows(c, m, t, &s, &each, root));
    CR_TRY(cli_check_strict(c));
    json_object_set_new(root, "model", json_string(cr_class_name(cr_model_get_class(m))));
    json_object_set_new(root, "rows", json_integer((json_int_t)a.rows));
    json_object_set_new(root, "interval", json_real(o->interval));
    json_object_set_new(root, "seed", json_integer((json_int_t)cr_model_get_seed(m)));
    json_object_set_new(root, "metrics", metrics_object(&a));
    if (!isnan(a.quantile)) json_object_set_new(root, "quantile", json_real(a.quantile));
    errors = errors_object(&a);
    if (json_object_size(errors)) json_object_set(root, "se", errors);
    if (a.has_bins) json_object_set_new(root, "calibration", bins_array(&a));
    rows = metrics_table(&a);
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON) {
        out_json(c, "evaluate", root);
    } else if (o->rows) {
        CR_TRY(answers_print(c, &each));
    } else {
        if (c->format == FORMAT_TEXT)
            out_text(c, "%s on %zu row%s of %s, seed %llu\n\n",
                     cr_class_name(cr_model_get_class(m)), a.rows, a.rows == 1 ? "" : "s",
                     cr_table_source(t), (unsigned long long)cr_model_get_seed(m));
        out_table(c, rows);
        if (c->format == FORMAT_TEXT) scores_note(c, &a);
    }
done:
    json_decref(root);
    json_decref(rows);
    json_decref(errors);
    cr_model_free(c->cx, m);
    cr_table_free(c->cx, t);
    cr_scratch_end(&s);
    return st;
}

const cli_verb verb_evaluate = {
    .name = "evaluate",
    .usage = "evaluate FILE.cred DATA [--interval 0.95] [--rows]",
    .summary = "score a model on rows whose target is known, or by the density it gives them",
    .example = "credence evaluate model.cred examples/diabetes.csv",
    .options = evaluate_table,
    .options_size = sizeof(evaluate_options),
    .takes = VERB_READS | VERB_FACTORISES,
    .least = 2,
    .most = 2,
    .run = run_evaluate,
    .result = result_evaluate,
};
