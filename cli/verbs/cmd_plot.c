/* cmd_plot.c -- figures of a model and data. */
#include "network.h"
#include "base/list.h"
#include "base/number.h"
#include "data/table/date.h"
#include "plot/figure_internal.h"

#include <string.h>

/* clang-format off */
#define PLOT_OPTIONS(X)                                                                              \
    X(choice, kind, "fit",                                                                           \
      "fit|residuals|calibration|roc|pr|learning-curve|components|map|evidence|path|importance|dependence|criterion|responsibilities|scree|biplot|loadings|states|forecast|transitions|seasons", \
      "what to draw; fit: the model with its band, or observed against predicted values, for classes of one column their probabilities, of several the ROC curve, for clusters the rows on two columns, for coordinates the first two, for series and hidden states the forecast or the states; residuals to learning-curve: how good it is; components: the parts of a sum of kernels or of a series, or clusters on two principal components; map: mean and sd, or probabilities, over two columns; evidence: over two hyper-parameters; path: over penalties, the coefficients of a lasso or the partial correlations of a glasso (without DATA), or coefficients of ridge or logistic; importance: how much worse the score becomes when a column is permuted; dependence: predictions over single columns, averaged over the rows; criterion: what chose the number of clusters, or of edges (without DATA); responsibilities: the probabilities of clusters, row by row; scree, loadings: of coordinates, their eigenvalues and what they are made of (without DATA); biplot: rows and columns on the first two; states: of hidden states, where a sequence is in which; forecast: of a series, what was predicted of each row, and the rows to come; transitions: of hidden states, how they follow each other (without DATA); seasons: of a series with a seasonal part, each season over the cycles",                                                         \
      "residuals")                                                                                   \
    X(real, interval, "0.95", "0<..<1", "mass of the intervals drawn", "0.9")               \
    X(count, draws, "0", "0..1000", "number of functions drawn from the posterior, for a fit of one column", "5") \
    X(list, range, "", "", "range of the column on the axis; if not given, that of the data", \
      "1960,2020")                                                                                   \
    X(list, over, "", "COLUMN",                                                                      \
      "columns on the axes if the model has more: two for --kind map and for clusters, one for --kind fit and components (the others are held at their median or most common level); any for --kind importance and dependence", "bmi,bp") \
    X(count, ahead, "0", "0..10000", "for --kind forecast: how many rows to come; 0: a quarter of those shown", "24") \
    X(count, repeats, "10", "1..100000", "for --kind importance: how often each column is permuted", "50") \
    X(list, parameters, "", "",                                                                      \
      "two hyper-parameters for --kind evidence, named as in describe; if not given, a length-scale and the noise", "rbf.l,noise")                                                                \
    X(text, evidence, "", "FILE",                                                                    \
      "of a network: evidence, as JSON {\"x\": \"state\"}, or a UAI file .evid", "evidence.json")
/* clang-format on */
static const cr_plot_kind kinds[] = { CR_PLOT_FIT,         CR_PLOT_RESIDUALS,
                                      CR_PLOT_CALIBRATION, CR_PLOT_ROC,
                                      CR_PLOT_PR,          CR_PLOT_LEARNING_CURVE,
                                      CR_PLOT_COMPONENTS,  CR_PLOT_MAP,
                                      CR_PLOT_EVIDENCE,    CR_PLOT_PATH,
                                      CR_PLOT_IMPORTANCE,  CR_PLOT_DEPENDENCE,
                                      CR_PLOT_CRITERION,   CR_PLOT_RESPONSIBILITIES,
                                      CR_PLOT_SCREE,       CR_PLOT_BIPLOT,
                                      CR_PLOT_LOADINGS,    CR_PLOT_STATES,
                                      CR_PLOT_FORECAST,    CR_PLOT_TRANSITIONS,
                                      CR_PLOT_SEASONS };
CR_OPTIONS(plot_options, plot_table, PLOT_OPTIONS);

static const cr_field plot_series[] = {
    CR_TEXT("name", 0, "name in the legend"),
    CR_TEXT("form", 0, "points, line, band, bars or arrows"),
    CR_OTHER(PLACES, "x", 0, "values on the first axis: numbers, or levels of a category"),
    CR_OTHER(ARRAY, "y", CR_FIELD_SOMETIMES, "of points and lines: values on the other axis"),
    CR_OTHER(ARRAY, "lower", CR_FIELD_SOMETIMES, "of bands and bars: their lower ends"),
    CR_OTHER(ARRAY, "upper", CR_FIELD_SOMETIMES, "of bands and bars: their upper ends"),
    CR_FIELD_LAST,
};

static const cr_field plot_part[] = {
    CR_TEXT("title", 0, "the kernel of the part, the column, or the coordinate"),
    CR_TEXT("x_title", 0, "the column it depends on; of loadings \"column\""),
    CR_TEXT("y_title", 0, "the target, the probability of a class, or the loading"),
    CR_INNER(ROWS, "series", 0, "mean and interval, or a line for each class", plot_series),
    CR_FIELD_LAST,
};

static const cr_field plot_map[] = {
    CR_TEXT("name", 0, "what is mapped"),
    CR_OTHER(MATRIX, "z", 0, "one list for each y, of the values along x"),
    CR_FIELD_LAST,
};

static const cr_field plot_points[] = {
    CR_OTHER(ARRAY, "x", 0, "of the rows, along the first axis"),
    CR_OTHER(ARRAY, "y", 0, "along the other"),
    CR_FIELD_LAST,
};

static const cr_field plot_marked[] = {
    CR_TEXT("name", 0, "what they are"),
    CR_OTHER(ARRAY, "x", 0, "along the first axis"),
    CR_OTHER(ARRAY, "y", 0, "along the other"),
    CR_FIELD_LAST,
};

static const cr_field plot_mark[] = {
    CR_TEXT("name", 0, "what is marked"),
    CR_NUMBER("x", 0, "positions on the first axis"),
    CR_NUMBER("y", 0, "along the other"),
    CR_FIELD_LAST,
};

static const cr_field result[] = {
    CR_TEXT("model", 0, "name of the model"),
    CR_TEXT("kind", 0, "what is drawn"),
    CR_TEXT("title", 0, "of the figure"),
    CR_TEXT("x_title", CR_FIELD_SOMETIMES, "of the first axis"),
    CR_TEXT("y_title", CR_FIELD_SOMETIMES, "of the other"),
    CR_INNER(ROWS, "series", CR_FIELD_SOMETIMES, "the entries of the legend, with their points",
             plot_series),
    CR_NUMBER("constant", CR_FIELD_SOMETIMES, "of components: the constant of the mean function"),
    CR_INNER(ROWS, "parts", CR_FIELD_SOMETIMES,
             "of components, dependence and loadings: the figure of each part", plot_part),
    CR_OTHER(ARRAY, "x", CR_FIELD_SOMETIMES,
             "of map and evidence: the centres of the cells on the first axis"),
    CR_OTHER(ARRAY, "y", CR_FIELD_SOMETIMES,
             "of map and evidence: the centres of the cells on the other axis"),
    CR_INNER(ROWS, "maps", CR_FIELD_SOMETIMES, "of map and evidence: the values at the cells",
             plot_map),
    CR_INNER(OBJECT, "points", CR_FIELD_SOMETIMES, "of map: the rows of the data", plot_points),
    CR_INNER(OBJECT, "marked", CR_FIELD_SOMETIMES,
             "of map: the inputs that the model rests on, such as relevance vectors", plot_marked),
    CR_INNER(OBJECT, "mark", CR_FIELD_SOMETIMES, "of evidence: the learned values", plot_mark),
    CR_FIELD_LAST,
};

enum { TEXT_WIDTH = 64, TEXT_HEIGHT = 21 };

/* The points of the figure, not the figure: in a pipe CSV must be asked for. */
static bool wants_points(const cli *c)
{
    return c->format == FORMAT_JSON || c->global.format == FORMAT_CSV;
}

static cr_status check_path(cli *c)
{
    const char *path = c->global.output;
    if (wants_points(c) && path && cli_ends_with(path, ".svg")) {
        cr_fail(c->cx, CR_EARG,
                "%s writes the points of a figure, but '%s' is the name of a figure",
                c->format == FORMAT_JSON ? "--json" : "--format csv", path);
        return cr_fail_hint(c->cx, c->format == FORMAT_JSON
                                       ? "for example --json -o points.json"
                                       : "for example --format csv -o points.csv");
    }
    if (wants_points(c) || !path || strcmp(path, "-") == 0 || cli_ends_with(path, ".svg"))
        return CR_OK;
    cr_fail(c->cx, CR_EARG, "plot writes SVG, but '%s' is not the name of an SVG file", path);
    if (cli_ends_with(path, ".json") || cli_ends_with(path, ".csv"))
        return cr_fail_hint(c->cx, "%s -o %s writes the points of the figure",
                            cli_ends_with(path, ".csv") ? "--format csv" : "--json", path);
    return cr_fail_hint(c->cx, "for example -o figure.svg");
}

/* Under --strict it is drawn to nowhere first: a figure that is not to be trusted leaves no
 * file. */
static cr_status save_figure(cli *c, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                             const cr_plot_options *o)
{
    cr_status   st = CR_OK;
    const char *path = strcmp(c->global.output, "-") == 0 ? "/dev/stdout" : c->global.output;
    if (c->global.strict) CR_TRY(cr_plot_with(c->cx, m, t, kind, o, "/dev/null"));
    CR_TRY(cli_check_strict(c));
    CR_TRY(cr_plot_with(c->cx, m, t, kind, o, path));
done:
    return st;
}

static cr_status print_figure(cli *c, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                              const cr_plot_options *o)
{
    cr_status st = CR_OK;
    char     *text = NULL;
    CR_TRY(cr_plot_text_with(c->cx, m, t, kind, o, TEXT_WIDTH, TEXT_HEIGHT, &text));
    CR_TRY(cli_check_strict(c));
    CR_TRY(out_open(c, NULL));
    out_safe(c, text, "\n");
done:
    if (text) cr_free(c->cx, text, strlen(text) + 1, 1);
    return st;
}

/* The points of a series as rows of a table. */
static void put_series_rows(const char *opt_part, const cri_sheet *series, cri_sheet *rows)
{
    static const char *const names[] = { "y", "lower", "upper" };
    const cri_sheet         *x = cri_sheet_first(cri_sheet_get(series, "x")), *at[3];
    for (size_t k = 0; k < 3; k++) at[k] = cri_sheet_first(cri_sheet_get(series, names[k]));
    for (; x; x = cri_sheet_next(x)) {
        cri_sheet *row = cri_put_object(rows, NULL);
        if (opt_part) cri_put_text(row, "part", opt_part);
        cri_put_copy(row, "series", cri_sheet_get(series, "name"));
        cri_put_copy(row, "x", x);
        for (size_t k = 0; k < 3; k++) {
            if (at[k]) cri_put_copy(row, names[k], at[k]);
            if (at[k]) at[k] = cri_sheet_next(at[k]);
        }
    }
}

/* All points as rows; maps have too many dimensions for that. */
static cr_status put_rows(cli *c, cri_sheet *root)
{
    cri_sheet       *rows = cri_put_list(root, "rows");
    const cri_sheet *s = cri_sheet_first(cri_sheet_get(root, "series"));
    const cri_sheet *part = cri_sheet_first(cri_sheet_get(root, "parts"));
    for (; s; s = cri_sheet_next(s)) put_series_rows(NULL, s, rows);
    for (; part; part = cri_sheet_next(part))
        for (s = cri_sheet_first(cri_sheet_get(part, "series")); s; s = cri_sheet_next(s))
            put_series_rows(cri_sheet_text(cri_sheet_get(part, "title")), s, rows);
    if (cri_sheet_size(rows) > 0) return cri_sheet_status(root);
    cr_fail(c->cx, CR_EARG, "this kind of figure has no table of points");
    return cr_fail_hint(c->cx, "--json writes them");
}

/* The points, for programs. */
static cr_status print_points(cli *c, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                              const cr_plot_options *o, const char *name)
{
    cr_status  st = CR_OK;
    cri_sheet *root = cri_sheet_new(c->cx);
    cri_put_text(root, "model", cr_class_name(cr_model_get_class(m)));
    cri_put_text(root, "kind", name);
    CR_TRY(cri_plot_put(c->cx, m, t, kind, o, root));
    CR_TRY(cli_check_strict(c));
    if (c->format == FORMAT_CSV) CR_TRY(put_rows(c, root));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON)
        out_result(c, "plot", root);
    else
        out_rows(c, cri_sheet_get(root, "rows"));
done:
    cri_sheet_free(root);
    return st;
}

/* One end of --range: a number, or a date in the unit of the column. */
static bool read_end(const char *text, cr_type type, double *out)
{
    size_t        length = strlen(text);
    cri_date_kind kind = cri_is_date(type) ? cri_date_read(text, out) : CRI_DATE_NOT;
    if (kind == CRI_DATE_DAY && type == CR_DATETIME) *out *= 86400;
    if (kind == CRI_DATE_TIME && type == CR_DATE) *out /= 86400;
    if (kind != CRI_DATE_NOT) return kind != CRI_DATE_IMPOSSIBLE;
    return !cri_is_date(type) && cri_parse_double(text, text + length, out) == length;
}

/* The type of the column that a figure goes over. */
static cr_type type_over(const cr_model *m, const cr_table *opt_t, const char *opt_over)
{
    const cr_design *d = cr_model_get_design(m);
    for (size_t j = 0; j < cr_design_columns(d); j++) {
        const char *name = cr_design_column_name(d, j);
        if (opt_over ? strcmp(opt_over, name) != 0 : cr_design_columns(d) > 1) continue;
        const cr_column *c = opt_t ? cr_table_find(opt_t, name) : NULL;
        return c ? c->type : cr_design_column_type(d, j);
    }
    return CR_REAL;
}

/* The two ends of --range. */
static cr_status read_range(cli *c, cr_scratch *s, const char *list, cr_type type, double range[2])
{
    cr_status st = CR_OK;
    char    **items = NULL;
    size_t    n = 0;
    CR_TRY(cri_list_split(s, list, &items, &n));
    for (size_t i = 0; i < n && i < 2; i++)
        if (!read_end(items[i], type, &range[i])) n = 0;
    if (n != 2) {
        bool dates = cri_is_date(type);
        cr_fail(c->cx, CR_EARG, "--range needs two %s, not '%s'", dates ? "dates" : "numbers",
                list);
        CR_TRY(cr_fail_hint(c->cx, "for example --range %s",
                            dates ? "2020-01-01,2025-01-01" : "1960,2020"));
    }
done:
    return st;
}

/* What only some kinds know is refused with the others. */
static cr_status check_kind(cli *c, const plot_options *o, cr_plot_kind kind)
{
    if (o->draws && kind != CR_PLOT_FIT)
        return cr_fail(c->cx, CR_EARG, "--draws is for --kind fit");
    if (o->over && kind != CR_PLOT_FIT && kind != CR_PLOT_COMPONENTS && kind != CR_PLOT_MAP &&
        kind != CR_PLOT_IMPORTANCE && kind != CR_PLOT_DEPENDENCE)
        return cr_fail(c->cx, CR_EARG,
                       "--over is for --kind fit, components, map, importance and dependence");
    if (o->range && kind != CR_PLOT_FIT && kind != CR_PLOT_COMPONENTS)
        return cr_fail(c->cx, CR_EARG, "--range is for --kind fit and components");
    if (o->parameters && kind != CR_PLOT_EVIDENCE)
        return cr_fail(c->cx, CR_EARG, "--parameters is for --kind evidence");
    return CR_OK;
}

static cr_status fail_data(cli *c)
{
    cr_fail(c->cx, CR_EARG, "plot needs data to draw the model with");
    return cr_fail_hint(c->cx,
                        "credence plot %s DATA -o figure.svg; no data are needed with --range "
                        "LOW,HIGH for a model of one column, with --kind path for a lasso, or with "
                        "--kind criterion, scree or loadings for clusters and coordinates",
                        c->args[0]);
}

/* Is it a graph that is drawn?  Of a fitted model that has a network, unless there are data or another kind is asked
 * for. */
static bool is_graph(cli *c, cr_plot_kind kind)
{
    cli_network_kind is = cli_find_network(c, 0);
    return is == CLI_GIVEN_NETWORK || (is == CLI_LEARNED_NETWORK && kind == CR_PLOT_FIT &&
                                       (c->n_args < 2 || strchr(c->args[1], '(')));
}

static cr_status run_plot(cli *c)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(c->cx);
    const plot_options *o = c->own;
    cr_plot_kind        kind = kinds[o->kind];
    cr_table           *t = NULL;
    cr_model           *m = NULL;
    char              **names = NULL, **over = NULL, name[32];
    double              range[2];
    cr_plot_options     plot = { .level = o->interval,
                                 .draws = o->draws,
                                 .repeats = o->repeats,
                                 .ahead = o->ahead,
                                 .range = o->range ? range : NULL };

    CR_TRY(check_path(c));
    CR_TRY(check_kind(c, o, kind));
    if (is_graph(c, kind)) {
        if (kind != CR_PLOT_FIT || o->draws || o->range || o->over) {
            cr_fail(c->cx, CR_EARG, "%s is a network and is drawn as a graph, without --%s",
                    c->args[0],
                    kind != CR_PLOT_FIT ? "kind"
                    : o->draws          ? "draws"
                    : o->range          ? "range"
                                        : "over");
            CR_TRY(cr_fail_hint(c->cx, "credence plot %s -o figure.svg", c->args[0]));
        }
        if (c->format == FORMAT_JSON) {
            cr_fail(c->cx, CR_EARG, "plot has no JSON for a network");
            CR_TRY(cr_fail_hint(c->cx, "credence query %s 'P(*)' --json has the probabilities",
                                c->args[0]));
        }
        CR_TRY(cli_plot_network(c, o->evidence));
        goto done;
    }
    if (o->evidence)
        CR_TRY(cr_fail(c->cx, CR_EARG,
                       "--evidence is for networks, but %s does not have the name of one",
                       c->args[0]));
    CR_TRY(cri_list_split(&s, o->parameters, &names, &plot.n_parameters));
    plot.parameters = (const char *const *)names;
    CR_TRY(cri_list_split(&s, o->over, &over, &plot.n_over));
    plot.over = (const char *const *)over;
    CR_TRY(cli_read_model(c, 0, &m));
    if (c->n_args < 2 && cri_plot_needs_data(m, kind, &plot)) CR_TRY(fail_data(c));
    if (c->n_args > 1) CR_TRY(cli_read_data(c, 1, m, &t));
    if (o->range)
        CR_TRY(read_range(c, &s, o->range, type_over(m, t, over && plot.n_over ? over[0] : NULL),
                          range));
    CR_TRY(cli_check_strict(c));
    cr_options_print(cr_option_find(plot_table, "kind"), o, name, sizeof name);
    if (wants_points(c))
        CR_TRY(print_points(c, m, t, kind, &plot, name));
    else if (c->global.output)
        CR_TRY(save_figure(c, m, t, kind, &plot));
    else
        CR_TRY(print_figure(c, m, t, kind, &plot));
done:
    cr_model_free(c->cx, m);
    cr_table_free(c->cx, t);
    cr_scratch_end(&s);
    return st;
}

const cli_verb verb_plot = {
    .name = "plot",
    .usage = "plot FILE.cred [DATA] | NET ['P(* | e)'] [--kind fit] [-o FILE]",
    .summary = "draw a model and data: its fit, its parts, how good it is; or a network",
    .example = "credence plot model.cred examples/diabetes.csv -o figure.svg\n"
               "credence plot model.cred examples/diabetes.csv --kind residuals --json\n"
               "credence plot examples/networks/burglary.bif 'P(* | john=yes)' -o net.svg",
    .options = plot_table,
    .options_size = sizeof(plot_options),
    .takes = VERB_READS | VERB_FACTORISES,
    .least = 1,
    .most = 2,
    .run = run_plot,
    .result = result,
};
