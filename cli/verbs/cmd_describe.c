/* cmd_describe.c -- describe and check: what is in a file, and whether it is sound. */
#include "../cli.h"
#include "models/core/describe.h"
#include "network.h"
#include "base/scratch.h"
#include "data/table/table_report.h"
#include "models/core/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DESCRIBE_OPTIONS(X)                                                                        \
    X(flag, covariance, "false", "", "show the covariance of a model's parameters (linear, glm)",  \
      "")                                                                                          \
    X(flag, inducing, "false", "",                                                                 \
      "show the inducing inputs or landmarks of a sparse process, with the function values there " \
      "(gp)",                                                                                      \
      "")                                                                                          \
    EXP_OPTION(X)

CR_OPTIONS(describe_options, describe_table, DESCRIBE_OPTIONS);

static const cr_field describe_result[] = {
    CR_TEXT("file", 0, "the file, as it was named"),
    CR_TEXT("kind", 0, "data, model or network"),
    CR_COUNT("rows", CR_FIELD_SOMETIMES, "rows of the data; for a model, rows it was fitted to"),
    CR_COUNT("sparse_columns", CR_FIELD_SOMETIMES,
             "of sparse data: how many columns x1, x2, ... are sparse"),
    CR_NUMBER("density", CR_FIELD_EITHER, "of these: the share of the cells that is stored"),
    CR_INNER(ROWS, "columns", CR_FIELD_SOMETIMES,
             "of data: the contents of each column, with all sparse columns as one",
             cri_table_column_fields),
    CR_INNER(OBJECT, "network", CR_FIELD_SOMETIMES,
             "of a network: its size, and the cost of exact inference", cri_network_fields),
    CR_INNER(ROWS, "variables", CR_FIELD_SOMETIMES, "of a network: each variable",
             cri_network_variable_fields),
    CR_OTHER(ANY, "covariance", CR_FIELD_SOMETIMES,
             "with --covariance: {name, and each parameter: the covariance with it}"),
    CR_OTHER(ANY, "inducing", CR_FIELD_SOMETIMES,
             "with --inducing: {each column, q_mean, q_sd} of every inducing input or landmark"),
    CR_OTHER(ANY, "inducing_covariance", CR_FIELD_SOMETIMES,
             "of the function at these inputs: an array for each"),
    CR_FIELD_LAST,
};

static const cr_field check_result[] = {
    CR_TEXT("file", 0, "the file, as it was named"),
    CR_TEXT("kind", 0, "data, model or network"),
    CR_FLAG("sound", 0, "true: it was read completely without errors"),
    CR_FIELD_LAST,
};

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

/* --- data ------------------------------------------------------------------------------------ */

static void put_title(cli_result r, const cr_table *t)
{
    const cr_csr *X = cr_table_csr(t);
    char          sparse[96] = "";
    if (X)
        snprintf(sparse, sizeof sparse, ", sparse: %zu values, density %.3g", X->row_start[X->rows],
                 cri_density(X));
    cli_result_title(r, "%s: %zu row%s, %zu column%s%s", cr_table_source(t), cr_table_rows(t),
                     plural(cr_table_rows(t)), cr_table_columns(t), plural(cr_table_columns(t)),
                     sparse);
}

static cr_status describe_data(cli *c, const cr_table *t)
{
    cr_status  st = CR_OK;
    cli_result r = cli_result_new(c);
    CR_TRY(cri_report_table(c->cx, t, r.object, &r.rows)); /* the table is the list of columns */
    r.cut = true;
    put_title(r, t);
    CR_TRY(cli_result_print(c, r));
done:
    cli_result_free(r);
    return st;
}

const char *cli_file_name(const cli *c)
{
    return strcmp(c->args[0], "-") == 0 ? "stdin" : c->args[0];
}

/* --- a model --------------------------------------------------------------------------------- */

/* A row for each parameter: its name, and the covariance with each. */
static cr_status add_covariance(cli *c, const cr_model *m, cri_sheet *d)
{
    cr_status        st = CR_OK;
    double          *C = NULL;
    size_t           n = 0;
    cri_sheet       *rows = cri_put_list(d, "covariance"), *a, *b;
    const cri_sheet *parameters = cri_sheet_get(d, "parameters");
    size_t           i = 0;
    CR_TRY(cr_covariance(c->cx, m, &C, &n));
    for (a = cri_sheet_first(parameters); a && i < n; a = cri_sheet_next(a), i++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        size_t     k = 0;
        cri_put_text(row, "name", cri_sheet_text(cri_sheet_get(a, "name")));
        for (b = cri_sheet_first(parameters); b && k < n; b = cri_sheet_next(b), k++)
            cri_put_real(row, cri_sheet_text(cri_sheet_get(b, "name")), C[i * n + k]);
    }
done:
    cr_free(c->cx, C, n, n * sizeof(double));
    return st;
}

/* A row for each inducing input: its terms, and mean and sd of the function there; and all
 * covariances. */
static cr_status add_inducing(cli *c, const cr_model *m, cri_sheet *d)
{
    cr_status        st = CR_OK;
    const cr_design *design = cr_model_get_design(m);
    cr_inducing      it;
    cri_sheet       *rows = cri_put_list(d, "inducing");
    cri_sheet       *covariance = cri_put_list(d, "inducing_covariance");
    CR_TRY(cr_model_inducing(c->cx, m, &it));
    for (size_t i = 0; i < it.n; i++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        for (size_t j = 0; j < it.terms; j++) {
            const char *text = it.text[i * it.terms + j], *name = cr_design_term_name(design, j);
            if (text)
                cri_put_text(row, name, text);
            else
                cri_put_real(row, name, it.Z[i * it.terms + j]);
        }
        cri_put_real(row, "q_mean", it.mean[i]);
        cri_put_real(row, "q_sd", sqrt(it.covariance[i * it.n + i]));
        cri_put_reals(covariance, NULL, it.covariance + i * it.n, it.n);
    }
done:
    cr_inducing_free(c->cx, &it);
    return st;
}

static void print_settings(cli *c, const cri_sheet *d)
{
    out_text(c, "\nsettings\n");
    out_values(c, cri_sheet_get(d, "settings"));
    if (cri_sheet_get(d, "reading")) out_text(c, "\nreading data\n");
    out_values(c, cri_sheet_get(d, "reading"));
}

static cr_status describe_model(cli *c, const cr_model *m)
{
    cr_status               st = CR_OK;
    cri_sheet              *d = NULL;
    cri_any_network         any;
    const describe_options *o = c->own;
    CR_TRY(cri_model_describe(c->cx, m, &d));
    if (o->covariance) CR_TRY(add_covariance(c, m, d));
    if (o->inducing) CR_TRY(add_inducing(c, m, d));
    CR_TRY(cli_put_exp(c, d));
    cri_put_text(d, "file", cli_file_name(c));
    cri_put_text(d, "kind", "model");
    if (cri_model_network(m, &any))
        CR_TRY(any.methods->describe(c->cx, any.net, c->format == FORMAT_JSON, d));
    CR_TRY(cri_sheet_status(d));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON)
        out_result(c, "describe", d);
    else if (o->covariance || o->inducing)
        out_some_rows(c, cri_sheet_get(d, o->covariance ? "covariance" : "inducing"));
    else if (c->format == FORMAT_CSV)
        cli_print_parameters(c, d);
    else {
        cli_print_model(c, d);
        cli_print_rows(c, "path", cri_sheet_get(d, "path"));
        print_settings(c, d);
        if (cri_sheet_get(d, "network")) {
            out_text(c, "\n");
            CR_TRY(cli_print_network(c, d));
        }
    }
done:
    cri_sheet_free(d);
    return st;
}

static cr_status run_describe(cli *c)
{
    cr_status               st = CR_OK;
    cr_table               *t = NULL;
    cr_model               *m = NULL;
    const describe_options *o = c->own;
    char                    spelled[64];
    const char             *asked = cli_first_set(c, "covariance inducing exp", spelled);
    if (o->covariance && o->inducing)
        return cr_fail(c->cx, CR_EARG, "--covariance and --inducing cannot be combined");
    if (cli_find_network(c, 0) == CLI_GIVEN_NETWORK && !asked) return cli_describe_network(c);
    CR_TRY(cli_read_any(c, 0, &t, &m));
    if (t && asked)
        CR_TRY(cr_fail(c->cx, CR_EARG, "--%s is for models, but %s contains data", asked,
                       cli_file_name(c)));
    CR_TRY(cli_check_strict(c));
    CR_TRY(t ? describe_data(c, t) : describe_model(c, m));
done:
    cr_table_free(c->cx, t);
    cr_model_free(c->cx, m);
    return st;
}

const cli_verb verb_describe = {
    .name = "describe",
    .usage = "describe FILE [--covariance]",
    .summary = "show the contents of a file: columns and types, a model, or a network",
    .example = "credence describe examples/diabetes.csv\n"
               "credence describe model.cred\n"
               "credence describe examples/networks/burglary.bif",
    .options = describe_table,
    .options_size = sizeof(describe_options),
    .takes = VERB_READS,
    .least = 1,
    .most = 1,
    .run = run_describe,
    .result = describe_result,
    .describes = MAY_DESCRIBE_MODEL,
};

/* --- check ----------------------------------------------------------------------------------- */

cr_status cli_print_sound(cli *c, const char *kind, const char *sentence)
{
    cr_status  st = CR_OK;
    cri_sheet *root = cri_sheet_new(c->cx);
    cri_put_text(root, "file", cli_file_name(c));
    cri_put_text(root, "kind", kind);
    cri_put_flag(root, "sound", true);
    CR_TRY(cri_sheet_status(root));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON)
        out_result(c, "check", root);
    else if (c->format == FORMAT_CSV)
        out_row(c, root);
    else
        out_text(c, "%s: %s\n", cli_file_name(c), sentence);
done:
    cri_sheet_free(root);
    return st;
}

static cr_status run_check(cli *c)
{
    if (cli_find_network(c, 0) == CLI_GIVEN_NETWORK) return cli_check_network(c);
    cr_status st = CR_OK;
    cr_table *t = NULL;
    cr_model *m = NULL;
    char      sentence[256];
    CR_TRY(cli_read_any(c, 0, &t, &m));
    CR_TRY(cli_check_strict(c));
    if (t)
        snprintf(sentence, sizeof sentence, "sound data, %zu row%s, %zu column%s", cr_table_rows(t),
                 plural(cr_table_rows(t)), cr_table_columns(t), plural(cr_table_columns(t)));
    else
        snprintf(sentence, sizeof sentence, "a sound model, %s",
                 cr_class_name(cr_model_get_class(m)));
    CR_TRY(cli_print_sound(c, t ? "data" : "model", sentence));
done:
    cr_model_free(c->cx, m);
    cr_table_free(c->cx, t);
    return st;
}

const cli_verb verb_check = {
    .name = "check",
    .usage = "check FILE",
    .summary = "read a file of data, a model or a network completely and check that it is valid",
    .example = "credence check examples/diabetes.csv",
    .takes = VERB_READS,
    .least = 1,
    .most = 1,
    .run = run_check,
    .result = check_result,
};
