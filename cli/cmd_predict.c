/* cmd_predict.c -- a distribution for every row. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PREDICT_OPTIONS(X)                                                                         \
    X(real, interval, "0.95", "0<..<1", "mass of the central interval", "0.9")                     \
    X(flag, leverage, "false", "", "add the leverage of each row", "")                             \
    X(flag, coordinates, "false", "",                                                              \
      "instead, where each row stands in the space of a model that has one (fisher)", "")
CR_OPTIONS_STRUCT(predict_options, PREDICT_OPTIONS);
#define ROW(...) CR_OPTION_ROW(predict_options, __VA_ARGS__)
static const cr_option predict_table[] = { PREDICT_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

enum { MOST_NUMBERS = 5 };

/* The numbers shown for a row: mean, sd, lower, upper and perhaps leverage. */
static size_t row_numbers(cr_ctx *cx, const cr_prediction *p, size_t i, const predict_options *o,
                          double *out)
{
    out[0] = p->mean[i];
    (void)cr_prediction_interval(cx, p, i, o->interval, &out[1], &out[2], &out[3]);
    if (o->leverage) out[4] = p->leverage[i];
    return o->leverage ? 5 : 4;
}

static size_t most_probable(const double *prob, size_t k)
{
    size_t best = 0;
    for (size_t j = 1; j < k; j++)
        if (prob[j] > prob[best]) best = j;
    return best;
}

/* --- lines ----------------------------------------------------------------------------------- */

static const char *const number_names[] = { "mean", "sd", "lower", "upper", "leverage" };

static void print_header(cli *c, const cr_prediction *p, const predict_options *o)
{
    bool csv = c->format == FORMAT_CSV;
    if (p->kind == CR_ANSWER_NUMBER) {
        for (size_t j = 0; j < (o->leverage ? 5u : 4u); j++)
            out_text(c, csv ? "%s%s" : "  %s%12s", csv && j ? "," : "", number_names[j]);
    } else {
        out_text(c, csv ? "%s" : "  %-12s", "label");
        for (size_t k = 0; k < p->n_classes; k++) {
            char name[256];
            snprintf(name, sizeof name, "p_%s", p->classes[k]);
            out_text(c, csv ? "," : "  ");
            if (csv) out_csv_field(c, name);
            else out_text(c, "%12s", name);
        }
    }
    out_text(c, "\n");
}

/* In text a row without an answer is an empty line, not one of blanks. */
static void print_numbers(cli *c, const double *x, size_t n)
{
    char   line[MOST_NUMBERS * 35 + 2], number[32];
    size_t used = 0;
    for (size_t j = 0; j < n; j++) {
        out_number(x[j], c->format == FORMAT_CSV, number);
        used += (size_t)snprintf(line + used, sizeof line - used,
                                 c->format == FORMAT_CSV ? "%s%s" : "  %s%12s",
                                 c->format == FORMAT_CSV && j ? "," : "", number);
    }
    while (used > 0 && line[used - 1] == ' ') used--;
    line[used++] = '\n';
    out_bytes(c, line, used);
}

static void print_class(cli *c, const cr_prediction *p, size_t i)
{
    const double *prob = p->prob + i * p->n_classes;
    const char   *label = isnan(prob[0]) ? "" : p->classes[most_probable(prob, p->n_classes)];
    char          number[32];
    if (c->format == FORMAT_CSV) out_csv_field(c, label);
    else out_text(c, "  %-12s", label);
    for (size_t k = 0; k < p->n_classes; k++)
        out_text(c, c->format == FORMAT_CSV ? ",%s" : "  %12s",
                 out_number(prob[k], c->format == FORMAT_CSV, number));
    out_text(c, "\n");
}

/* --- JSON ------------------------------------------------------------------------------------ */

static json_t *json_row(cr_ctx *cx, const cr_prediction *p, size_t i, const predict_options *o)
{
    json_t *row = json_object();
    if (p->kind == CR_ANSWER_NUMBER) {
        double x[MOST_NUMBERS];
        size_t n = row_numbers(cx, p, i, o, x);
        for (size_t j = 0; j < n; j++)
            json_object_set_new(row, number_names[j],
                                isfinite(x[j]) ? json_real(x[j]) : json_null());
        json_object_set_new(row, "dof", isfinite(p->dof[i]) ? json_real(p->dof[i]) : json_null());
        return row;
    }
    const double *prob = p->prob + i * p->n_classes;
    json_t       *all = json_object();
    bool          known = !isnan(prob[0]);
    json_object_set_new(row, "label",
                        known ? json_string_nocheck(p->classes[most_probable(prob, p->n_classes)])
                              : json_null());
    for (size_t k = 0; k < p->n_classes; k++)
        json_object_set_new(all, p->classes[k], known ? json_real(prob[k]) : json_null());
    json_object_set_new(row, "p", all);
    return row;
}

static cr_status print_json(cli *c, const cr_model *m, const cr_prediction *p,
                            const predict_options *o)
{
    cr_status st = CR_OK;
    json_t   *root = json_object();
    json_object_set_new(root, "model", json_string(cr_class_name(cr_model_get_class(m))));
    json_object_set_new(root, "rows", json_integer((json_int_t)p->n));
    json_object_set_new(root, "interval", json_real(o->interval));
    json_object_set_new(root, "seed", json_integer((json_int_t)cr_model_get_seed(m)));
    out_json_begin(c, "predict", root, "predictions");
    for (size_t i = 0; i < p->n; i++) {
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(c->cx));
        json_t *row = json_row(c->cx, p, i, o);
        out_json_item(c, row, i == 0);
        json_decref(row);
    }
    out_json_end(c);
done:
    json_decref(root);
    return st;
}

/* --- the verb -------------------------------------------------------------------------------- */

static void warn_left_out(cli *c, const cr_prediction *p)
{
    size_t missing = 0;
    for (size_t i = 0; i < p->n; i++)
        missing += isnan(p->mean ? p->mean[i] : p->prob[i * p->n_classes]) != 0;
    if (missing)
        cr_log(c->cx, CR_LOG_WARNING, "%zu of %zu rows have missing values and get no prediction",
               missing, p->n);
}

static cr_status run_predict(cli *c)
{
    cr_status              st = CR_OK;
    const predict_options *o = c->own;
    cr_table              *t = NULL;
    cr_model              *m = NULL;
    cr_prediction          p = { 0 };

    CR_TRY(cli_read_model(c, 0, &m));
    CR_TRY(cli_read_data(c, 1, m, &t));
    if (o->coordinates) {
        CR_TRY(cli_print_coordinates(c, m, t, o->interval));
        goto done;
    }
    CR_TRY(cr_predict(c->cx, m, t, &p));
    if (o->leverage && !p.leverage)
        CR_TRY(cr_fail(c->cx, CR_EUNSUPPORTED, "the model %s has no leverage",
                       cr_class_name(cr_model_get_class(m))));
    warn_left_out(c, &p);
    CR_TRY(cli_check_strict(c));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON) {
        CR_TRY(print_json(c, m, &p, o));
        goto done;
    }
    print_header(c, &p, o);
    for (size_t i = 0; i < p.n; i++) {
        double x[MOST_NUMBERS];
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(c->cx));
        if (p.kind == CR_ANSWER_NUMBER) print_numbers(c, x, row_numbers(c->cx, &p, i, o, x));
        else print_class(c, &p, i);
    }
done:
    cr_prediction_free(c->cx, &p);
    cr_model_free(c->cx, m);
    cr_table_free(c->cx, t);
    return st;
}

const cli_verb verb_predict = {
    .name = "predict",
    .usage = "predict FILE.cred DATA [--interval 0.95] [-o FILE]",
    .summary = "the predictive distribution of every row",
    .example = "credence predict model.cred examples/diabetes.csv --interval 0.9",
    .options = predict_table,
    .options_size = sizeof(predict_options),
    .takes = VERB_READS | VERB_FACTORISES,
    .least = 2,
    .most = 2,
    .run = run_predict,
    .result = result_predict,
};
