/* cmd_describe.c -- describe and check: what is in a file, and whether it is sound. */
#include "../cli.h"
#include "models/core/describe.h"
#include "network.h"
#include "base/scratch.h"
#include "data/table/date.h"
#include "data/table/oddities.h"
#include "models/core/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DESCRIBE_OPTIONS(X)                                                                        \
    X(flag, covariance, "false", "", "of a model: the covariance of its parameters (linear, glm)", \
      "")                                                                                          \
    X(flag, inducing, "false", "",                                                                 \
      "of a sparse process: its inducing inputs or landmarks, and what it holds of the function "  \
      "there (gp)",                                                                                \
      "")                                                                                          \
    EXP_OPTION(X)

CR_OPTIONS(describe_options, describe_table, DESCRIBE_OPTIONS);

static const cr_field column[] = {
    CR_TEXT("name", 0, "name of the column"),
    CR_TEXT("type", 0, "real, integer, boolean, category, date or datetime"),
    CR_COUNT("missing", 0, "rows without a value"),
    CR_COUNT("levels", CR_FIELD_NULL, "different values of a category; null for numbers"),
    CR_NUMBER("min", CR_FIELD_NULL, "smallest value"),
    CR_NUMBER("mean", CR_FIELD_NULL, "mean of the values"),
    CR_NUMBER("sd", CR_FIELD_NULL, "their standard deviation"),
    CR_NUMBER("max", CR_FIELD_NULL, "largest value"),
    CR_TEXT("frequent", CR_FIELD_NULL, "most frequent level of a category"),
    CR_TEXT("first", CR_FIELD_SOMETIMES, "of dates and times: the first"),
    CR_TEXT("last", CR_FIELD_SOMETIMES, "of dates and times: the last"),
    CR_TEXT("written", CR_FIELD_EITHER,
            "how numbers are written, by an example, where that is not plain: 5 % = 0.05, 1.234,5"),
    CR_FIELD_LAST,
};

static const cr_field describe_result[] = {
    CR_TEXT("file", 0, "the file, as it was named"),
    CR_TEXT("kind", 0, "data, model or network"),
    CR_COUNT("rows", CR_FIELD_SOMETIMES, "rows of the data; of a model: rows it learned from"),
    CR_COUNT("sparse_columns", CR_FIELD_SOMETIMES,
             "of sparse data: how many columns x1, x2, ... are so"),
    CR_NUMBER("density", CR_FIELD_EITHER, "of these: the part of the cells that is kept"),
    CR_INNER(ROWS, "columns", CR_FIELD_SOMETIMES,
             "of data: what each column holds, sparse ones taken as one", column),
    CR_INNER(OBJECT, "network", CR_FIELD_SOMETIMES,
             "of a network: its size, and the cost of exact answers", cri_network_fields),
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
    CR_FLAG("sound", 0, "true: it was read through without a fault"),
    CR_FIELD_LAST,
};

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

/* --- data ------------------------------------------------------------------------------------ */

static void put_column(const cr_column *col, cr_summary s, bool written, cri_sheet *columns)
{
    cri_sheet *row = cri_put_object(columns, NULL);
    bool       category = col->type == CR_CATEGORY;
    cri_put_text(row, "name", col->name);
    cri_put_text(row, "type", cr_type_name(col->type));
    cri_put_count(row, "missing", col->missing);
    if (category)
        cri_put_count(row, "levels", col->n_levels);
    else
        cri_put_null(row, "levels");
    bool dates = cri_is_date(col->type);
    cri_put_real(row, "min", dates ? (double)NAN : s.min);
    cri_put_real(row, "mean", dates ? (double)NAN : s.mean);
    cri_put_real(row, "sd", dates ? (double)NAN : s.sd);
    cri_put_real(row, "max", dates ? (double)NAN : s.max);
    cri_put_text(row, "frequent", category && col->n_levels ? col->levels[s.frequent] : NULL);
    if (written) cri_put_text(row, "written", col->written);
    if (!dates || s.present == 0) return;
    char text[CRI_DATE_SIZE];
    cri_date_print(col->type, s.min, text);
    cri_put_text(row, "first", text);
    cri_date_print(col->type, s.max, text);
    cri_put_text(row, "last", text);
}

/* The sparse block as one row. */
static void put_sparse(const cr_table *t, cr_summary s, cri_sheet *columns)
{
    const cr_csr *X = cr_table_csr(t);
    char          name[64];
    snprintf(name, sizeof name, X->columns > 1 ? "x1..x%zu" : "x%zu", X->columns);
    put_column(&(cr_column){ .name = name,
                             .type = cr_table_csr_type(t),
                             .missing = X->rows * X->columns - s.present },
               s, false, columns);
}

static double density(const cr_csr *X)
{
    return (double)X->row_start[X->rows] / ((double)X->rows * (double)X->columns);
}

/* Says what is odd about a column. */
static cr_status check_column(cli *c, const cr_table *t, const cr_column *col, const cr_summary *s)
{
    cri_oddity odd;
    cr_status  st = cri_find_oddity(c->cx, col, cr_table_rows(t), s, &odd);
    if (st == CR_OK) cri_warn_of_oddity(c->cx, col, &odd);
    return st;
}

/* A row of `columns` for each column, and one for all of a sparse block. */
static cr_status describe_columns(cli *c, const cr_table *t, cri_sheet *columns)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(c->cx);
    const cr_csr *X = cr_table_csr(t);
    size_t        first = cr_table_csr_first(t), sparse = X ? X->columns : 0;
    bool          written = false; /* some column is not plain */
    cr_summary   *summaries = cr_scratch_bytes(&s, X ? 1 : cr_table_columns(t), sizeof *summaries);

    CR_TRY(s.status);
    for (size_t i = 0; !X && i < cr_table_columns(t); i++)
        written = written || cr_table_column(t, i)->written;
    if (!X) CR_TRY(cr_summarise_table(c->cx, t, summaries));
    for (size_t i = 0; i < cr_table_columns(t); i++) {
        cr_summary one = X ? (cr_summary){ 0 } : summaries[i];
        if (sparse && i == first) {
            CR_TRY(cr_summarise_csr(c->cx, t, &one));
            put_sparse(t, one, columns);
            i += sparse - 1;
            continue;
        }
        if (X) CR_TRY(cr_summarise(c->cx, cr_table_column(t, i), cr_table_rows(t), &one));
        put_column(cr_table_column(t, i), one, written, columns);
        CR_TRY(check_column(c, t, cr_table_column(t, i), &one));
    }
done:
    cr_scratch_end(&s);
    return st;
}

static void put_title(cli_result r, const cr_table *t)
{
    const cr_csr *X = cr_table_csr(t);
    char          sparse[96] = "";
    if (X)
        snprintf(sparse, sizeof sparse, ", sparse: %zu values, density %.3g", X->row_start[X->rows],
                 density(X));
    cli_result_title(r, "%s: %zu row%s, %zu column%s%s", cr_table_source(t), cr_table_rows(t),
                     plural(cr_table_rows(t)), cr_table_columns(t), plural(cr_table_columns(t)),
                     sparse);
}

static cr_status describe_data(cli *c, const cr_table *t)
{
    cr_status     st = CR_OK;
    const cr_csr *X = cr_table_csr(t);
    cli_result    r = cli_result_new(c);

    cri_put_text(r.object, "file", cr_table_source(t));
    cri_put_text(r.object, "kind", "data");
    cri_put_count(r.object, "rows", cr_table_rows(t));
    if (X) {
        cri_put_count(r.object, "sparse_columns", X->columns);
        cri_put_real(r.object, "density", density(X));
    }
    r.rows = cri_put_list(r.object, "columns"); /* the table is this list */
    r.cut = true;
    CR_TRY(describe_columns(c, t, r.rows));
    put_title(r, t);
    CR_TRY(cli_result_print(c, r));
done:
    cli_result_free(r);
    return st;
}

static const char *file_name(const cli *c)
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
    cri_put_text(d, "file", file_name(c));
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
    const char             *asked = o->covariance ? "covariance"
                                    : o->inducing ? "inducing"
                                    : o->exp      ? "exp"
                                                  : NULL;
    if (o->covariance && o->inducing)
        return cr_fail(c->cx, CR_EARG, "--covariance and --inducing do not go together");
    if (cli_find_network(c, 0) == CLI_GIVEN_NETWORK && !asked) return cli_describe_network(c);
    CR_TRY(cli_read_any(c, 0, &t, &m));
    if (t && asked)
        CR_TRY(
            cr_fail(c->cx, CR_EARG, "--%s is of a model, and %s holds data", asked, file_name(c)));
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
    .summary = "what is in a file: columns and types, the model, or the network",
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

static void print_check(cli *c, const cr_table *t, const cr_model *m)
{
    if (t)
        out_text(c, "%s: sound data, %zu row%s, %zu column%s\n", file_name(c), cr_table_rows(t),
                 plural(cr_table_rows(t)), cr_table_columns(t), plural(cr_table_columns(t)));
    else
        out_text(c, "%s: a sound model, %s\n", file_name(c), cr_class_name(cr_model_get_class(m)));
}

static cr_status run_check(cli *c)
{
    if (cli_find_network(c, 0) == CLI_GIVEN_NETWORK) return cli_check_network(c);
    cr_status  st = CR_OK;
    cr_table  *t = NULL;
    cr_model  *m = NULL;
    cri_sheet *root = cri_sheet_new(c->cx);
    CR_TRY(cli_read_any(c, 0, &t, &m));
    CR_TRY(cli_check_strict(c));
    cri_put_text(root, "file", file_name(c));
    cri_put_text(root, "kind", t ? "data" : "model");
    cri_put_flag(root, "sound", true);
    CR_TRY(cri_sheet_status(root));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON)
        out_result(c, "check", root);
    else if (c->format == FORMAT_CSV)
        out_row(c, root);
    else
        print_check(c, t, m);
done:
    cri_sheet_free(root);
    cr_model_free(c->cx, m);
    cr_table_free(c->cx, t);
    return st;
}

const cli_verb verb_check = {
    .name = "check",
    .usage = "check FILE",
    .summary = "read a file of data, a model or a network through and say whether it is sound",
    .example = "credence check examples/diabetes.csv",
    .takes = VERB_READS,
    .least = 1,
    .most = 1,
    .run = run_check,
    .result = check_result,
};
