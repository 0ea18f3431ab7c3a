/* cmd_evaluate.c -- evaluate: how good a model is on given rows. */
#include "../render/answers.h"
#include "scores.h"
#include "study/assess.h"

#include <math.h>
#include <stdio.h>

#define EVALUATE_OPTIONS(X)                                                                        \
    X(real, interval, "0.95", "0<..<1", "mass of the intervals whose coverage is counted", "0.9")  \
    X(flag, rows, "false", "", "show the log density of each row instead of the scores", "")       \
    X(text, loss, "", "LOSS",                                                                      \
      "also score the mean loss of the decisions of least expected loss: 0-1, squared, absolute, " \
      "quantile:Q, or a FILE with a matrix of losses",                                             \
      "quantile:0.9")                                                                              \
    X(text, positive, "", "CLASS",                                                                 \
      "the class that auc, f1 and average_precision are of; by default the second of two in "      \
      "alphabetical order, the mean over all of more",                                             \
      "yes")
CR_OPTIONS(evaluate_options, evaluate_table, EVALUATE_OPTIONS);

static const cr_field calibration_bin[] = {
    CR_COUNT("count", 0, "number of predictions whose confidence falls into the bin"),
    CR_NUMBER("confidence", 0, "their mean confidence"),
    CR_NUMBER("accuracy", 0, "the share of them that is correct"),
    CR_FIELD_LAST,
};

static const cr_field class_row[] = {
    CR_TEXT("class", 0, "the class"),
    CR_NUMBER("rows", 0, "total weight of its rows"),
    CR_NUMBER("precision", CR_FIELD_NULL,
              "of the rows predicted as the class, the share that belong to it"),
    CR_NUMBER("recall", CR_FIELD_NULL, "of the rows that belong to it, the share predicted as it"),
    CR_NUMBER("f1", CR_FIELD_NULL, "harmonic mean of precision and recall"),
    CR_OTHER(NUMBERS, "predicted", 0, "its rows, by predicted class"),
    CR_FIELD_LAST,
};

static const cr_field result[] = {
    CR_TEXT("model", 0, "name of the model"),
    CR_COUNT("rows", 0, "rows that were scored"),
    CR_NUMBER("interval", 0, "mass of the intervals whose coverage is counted"),
    CR_COUNT("seed", 0, "random seed"),
    CR_OTHER(NUMBERS, "metrics", 0, "each score by name; null if it is undefined"),
    CR_NUMBER("quantile", CR_FIELD_SOMETIMES,
              "of quantile regression: the predicted quantile, which rmse, mae and r2 refer to"),
    CR_TEXT(
        "positive", CR_FIELD_SOMETIMES,
        "of two classes, or with --positive: the class that auc, f1 and average_precision are of"),
    CR_OTHER(NUMBERS, "se", CR_FIELD_SOMETIMES, "of densities: the standard error of the score"),
    CR_OTHER(
        ARRAY, "log_density", CR_FIELD_SOMETIMES,
        "with --rows: the log density of each row, in order; null for a row that is not scored"),
    CR_INNER(ROWS, "calibration", CR_FIELD_SOMETIMES, "of classes: bins of confidence",
             calibration_bin),
    CR_INNER(ROWS, "classes", CR_FIELD_SOMETIMES,
             "of up to 1000 classes: what each was predicted as", class_row),
    CR_FIELD_LAST,
};

static void put_bins(const cr_assessment *a, cri_sheet *root)
{
    cri_sheet *bins = cri_put_list(root, "calibration");
    for (size_t b = 0; b < CR_CALIBRATION_BINS; b++) {
        cri_sheet *bin = cri_put_object(bins, NULL);
        cri_put_count(bin, "count", a->bins[b].count);
        cri_put_real(bin, "confidence", a->bins[b].confidence);
        cri_put_real(bin, "accuracy", a->bins[b].accuracy);
    }
}

static double share(double part, double whole) { return whole > 0 ? part / whole : NAN; }

/* A row for each class: how well it was found, and what it was taken for. */
static void put_classes(const cr_model *m, const double *C, cri_sheet *list)
{
    const cr_design *d = cr_model_get_design(m);
    size_t           K = cr_design_classes(d);
    for (size_t k = 0; k < K; k++) {
        cri_sheet *row = cri_put_object(list, NULL), *as;
        double     is = 0, taken = 0, right = C[k * K + k];
        for (size_t j = 0; j < K; j++) is += C[k * K + j], taken += C[j * K + k];
        cri_put_text(row, "class", cr_design_class(d, k));
        cri_put_real(row, "rows", is);
        cri_put_real(row, "precision", share(right, taken));
        cri_put_real(row, "recall", share(right, is));
        cri_put_real(row, "f1", share(2 * right, is + taken));
        as = cri_put_object(row, "predicted");
        for (size_t j = 0; j < K; j++) cri_put_real(as, cr_design_class(d, j), C[k * K + j]);
    }
}

enum {
    MOST_SHOWN = 12,
    MOST_CONFUSED = 1000
}; /* classes whose confusion fits a terminal, and a result */

/* The same for people: a matrix with the classes as predicted across. */
static void print_classes(cli *c, const cri_sheet *classes)
{
    cri_sheet       *s = cri_sheet_new(c->cx), *rows = cri_put_list(s, "rows");
    const cri_sheet *k, *v;
    for (k = cri_sheet_first(classes); k; k = cri_sheet_next(k)) {
        cri_sheet *row = cri_put_object(rows, NULL);
        for (v = cri_sheet_first(k); v; v = cri_sheet_next(v))
            if (cri_sheet_kind_of(v) != CRI_SHEET_OBJECT) cri_put_copy(row, cri_sheet_name(v), v);
        v = cri_sheet_size(classes) <= MOST_SHOWN ? cri_sheet_first(cri_sheet_get(k, "predicted"))
                                                  : NULL;
        for (; v; v = cri_sheet_next(v)) {
            char name[1032];
            snprintf(name, sizeof name, "as %.1024s", cri_sheet_name(v));
            cri_put_copy(row, name, v);
        }
    }
    if (cri_sheet_status(s) != CR_OK) out_fail(c, CR_ENOMEM);
    out_text(c, "\n");
    out_rows(c, rows);
    cri_sheet_free(s);
}

/* The log density of every row: with the scores in JSON, else by itself. */
static cr_status add_rows(cli *c, const cr_model *m, const cr_table *t, cr_scratch *s, answers *a,
                          cri_sheet *root)
{
    cr_status st = CR_OK;
    size_t    n = cr_table_rows(t);
    double   *x = cr_scratch_f64(s, n);
    *a = answers_new(s, n, 1);
    CR_TRY(s->status);
    CR_TRY(cr_score(c->cx, m, t, x));
    answers_add(a, "log_density", "log_density")->x = x;
    cri_put_reals(root, "log_density", x, n);
done:
    return st;
}

static bool has_errors(const cr_assessment *a)
{
    for (size_t i = 0; i < a->n; i++)
        if (!isnan(a->metrics[i].se)) return true;
    return false;
}

/* The scores as a table; standard errors where there are some. */
static void put_table(const cr_assessment *a, cri_sheet *rows)
{
    for (size_t i = 0; i < a->n; i++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "metric", a->metrics[i].name);
        cli_put_cell(row, "value", a->metrics[i].value);
        if (has_errors(a)) cri_put_real(row, "se", a->metrics[i].se);
    }
}

static void put_errors(const cr_assessment *a, cri_sheet *root)
{
    cri_sheet *errors = cri_put_object(root, "se");
    for (size_t i = 0; i < a->n; i++)
        if (!isnan(a->metrics[i].se)) cri_put_real(errors, a->metrics[i].name, a->metrics[i].se);
}

static void put_scores(const cr_model *m, const cr_assessment *a, double interval, cri_sheet *root)
{
    cri_put_text(root, "model", cr_class_name(cr_model_get_class(m)));
    cri_put_count(root, "rows", a->rows);
    cri_put_real(root, "interval", interval);
    cri_put_count(root, "seed", cr_model_get_seed(m));
    cri_scores_put(root, "metrics", a);
    if (!isnan(a->quantile)) cri_put_real(root, "quantile", a->quantile);
    if (*a->positive) cri_put_text(root, "positive", a->positive);
    if (has_errors(a)) put_errors(a, root);
    if (a->has_bins) put_bins(a, root);
}

static cr_status run_evaluate(cli *c)
{
    cr_status               st = CR_OK;
    const evaluate_options *o = c->own;
    cr_scratch              s = cr_scratch_begin(c->cx);
    cr_table               *t = NULL;
    cr_model               *m = NULL;
    cr_assessment           a;
    cr_loss                 loss = { 0 };
    answers                 each;
    cli_result              r = cli_result_new(c);

    CR_TRY(cli_read_model(c, 0, &m));
    CR_TRY(cli_read_data(c, 1, m, &t));
    size_t K = cr_model_get_task(m) == CR_TASK_CLASSIFICATION
                   ? cr_design_classes(cr_model_get_design(m))
                   : 0;
    bool   classes = K > 0 && K <= MOST_CONFUSED;
    if (!classes) K = 0;
    double *confusion = cr_scratch_matrix(&s, K, K);
    CR_TRY(s.status);
    if (o->loss) CR_TRY(cr_loss_read(c->cx, o->loss, &loss));
    CR_TRY(cr_evaluate_with(c->cx, m, t,
                            &(cr_judging){ .level = o->interval,
                                           .opt_loss = o->loss ? &loss : NULL,
                                           .opt_confusion = classes ? confusion : NULL,
                                           .opt_positive = o->positive },
                            &a));
    if (a.rows < cr_table_rows(t))
        cr_log(c->cx, CR_LOG_WARNING, "%zu of %zu rows have missing values%s and are not scored",
               cr_table_rows(t) - a.rows, cr_table_rows(t),
               cr_class_offers(cr_model_get_class(m), "smooth")
                   ? ", or come before anything is known of their series, which begins anew with "
                     "these rows,"
                   : "");
    if (o->rows) CR_TRY(add_rows(c, m, t, &s, &each, r.object));
    put_scores(m, &a, o->interval, r.object);
    if (classes) put_classes(m, confusion, cri_put_list(r.object, "classes"));
    put_table(&a, r.rows);
    if (o->rows && c->format != FORMAT_JSON) {
        CR_TRY(cli_result_open(c, r));
        CR_TRY(answers_print(c, &each));
        goto done;
    }
    cli_result_title(r, "%s on %zu row%s of %s, seed %llu", cr_class_name(cr_model_get_class(m)),
                     a.rows, a.rows == 1 ? "" : "s", cr_table_source(t),
                     (unsigned long long)cr_model_get_seed(m));
    CR_TRY(cli_result_print(c, r));
    if (c->format == FORMAT_TEXT && classes) print_classes(c, cri_sheet_get(r.object, "classes"));
    scores_note(c, &a, o->positive);
done:
    cli_result_free(r);
    cr_loss_free(c->cx, &loss);
    cr_model_free(c->cx, m);
    cr_table_free(c->cx, t);
    cr_scratch_end(&s);
    return st;
}

const cli_verb verb_evaluate = {
    .name = "evaluate",
    .usage = "evaluate FILE.cred DATA [--interval 0.95] [--rows]",
    .summary = "score a model on rows with known targets, or by their density",
    .example = "credence evaluate model.cred examples/diabetes.csv\n"
               "credence evaluate model.cred examples/diabetes.csv --loss quantile:0.9",
    .options = evaluate_table,
    .options_size = sizeof(evaluate_options),
    .takes = VERB_READS | VERB_FACTORISES,
    .least = 2,
    .most = 2,
    .run = run_evaluate,
    .result = result,
};
