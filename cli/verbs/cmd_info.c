/* cmd_info.c -- info: entropy, mutual information and divergence of the columns of data. */
#include "info_job.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/list.h"

#include <math.h>

CR_OPTIONS_TABLE(static, info_table, info_options, INFO_OPTIONS);

/* --- the result ------------------------------------------------------------------------------ */

#define BASIS                                                                                      \
    CR_TEXT("method", 0, "counts of categories, or nearest neighbours of numbers"),                \
        CR_COUNT("rows", 0, "rows used")

#define ESTIMATE(name, help)                                                                       \
    CR_COUNT("missing", 0, "rows left out because a value is missing"),                            \
        CR_NUMBER(name, CR_FIELD_NULL, help),                                                      \
        CR_NUMBER("plugin", CR_FIELD_NULL,                                                         \
                  "the same from the shares as they are; null for neighbours"),                    \
        CR_NUMBER("se", CR_FIELD_NULL, "standard error; null without resampling"),                 \
        CR_NUMBER("lower", CR_FIELD_NULL, "lower end of the interval"),                            \
        CR_NUMBER("upper", CR_FIELD_NULL, "upper end of it")

#define COLUMN_SETS                                                                                \
    CR_OTHER(TEXTS, "columns", 0, "what is asked about"),                                          \
        CR_OTHER(TEXTS, "given", 0, "what is known already")

static const cr_field column_entropy[] = {
    CR_TEXT("name", 0, "name of the column"),
    CR_TEXT("type", 0, "real, integer, boolean or category"),
    BASIS,
    CR_COUNT("levels", CR_FIELD_NULL, "different values, where they are counted"),
    CR_NUMBER("resolution", CR_FIELD_NULL,
              "of numbers that repeat: the width over which each is spread, in the column's units"),
    ESTIMATE("entropy", "entropy, of measured numbers differential; null where there is none"),
    CR_FIELD_LAST,
};

static const cr_field joint_entropy[] = {
    COLUMN_SETS,
    BASIS,
    ESTIMATE("entropy", "joint, or conditional, entropy"),
    CR_FIELD_LAST,
};

static const cr_field mutual_information[] = {
    COLUMN_SETS,
    BASIS,
    ESTIMATE("mutual", "mutual information"),
    CR_NUMBER("p", CR_FIELD_SOMETIMES, "with --permutations: P(as large without dependence)"),
    CR_FIELD_LAST,
};

static const cr_field pair_information[] = {
    CR_TEXT("a", 0, "one column"),
    CR_TEXT("b", 0, "the other"),
    BASIS,
    CR_NUMBER("mutual", CR_FIELD_NULL, "mutual information; null where it could not be had"),
    CR_NUMBER("normalised", CR_FIELD_NULL,
              "between 0 and 1: 2 I / (H + H) of counts, sqrt(1 - exp(-2 I)) with numbers"),
    CR_NUMBER("p", CR_FIELD_EITHER, "with --permutations: P(as large without dependence)"),
    CR_FIELD_LAST,
};

static const cr_field divergence[] = {
    CR_OTHER(TEXTS, "columns", 0, "the columns compared, taken together"),
    BASIS,
    CR_COUNT("rows_other", 0, "rows of the second file used"),
    CR_NUMBER("entropy", CR_FIELD_NULL, "entropy in the first file"),
    CR_NUMBER("cross_entropy", CR_FIELD_NULL,
              "of the first file coded for the second; null if infinite"),
    CR_NUMBER("kl", CR_FIELD_NULL, "divergence KL(first || second); null if infinite"),
    CR_NUMBER("se", CR_FIELD_NULL, "standard error of kl"),
    CR_NUMBER("lower", CR_FIELD_NULL, "lower end of the interval for kl"),
    CR_NUMBER("upper", CR_FIELD_NULL, "upper end of it"),
    CR_NUMBER("js", CR_FIELD_NULL, "Jensen-Shannon divergence"),
    CR_FIELD_LAST,
};

static const cr_field discrepancy[] = {
    CR_OTHER(TEXTS, "columns", 0, "the columns compared, taken together"),
    CR_TEXT("kernel", 0, "the kernel as it was used"),
    CR_TEXT("method", 0, "relabellings, all relabellings, or pairs of rows, each once (--linear)"),
    CR_COUNT("rows", 0, "rows of the first file used"),
    CR_COUNT("rows_other", 0, "rows of the second file used"),
    CR_NUMBER("mmd2", 0, "the squared discrepancy, unbiased: it may be below 0"),
    CR_NUMBER("mmd2_biased", CR_FIELD_SOMETIMES,
              "the same with the pairs of a row with itself: never below 0"),
    CR_NUMBER("se", CR_FIELD_EITHER, "with --linear: standard error of mmd2"),
    CR_NUMBER("p", CR_FIELD_NULL, "P(as large if both come from one distribution)"),
    CR_NUMBER("p_se", CR_FIELD_SOMETIMES,
              "standard error of p: 0 when all relabellings were gone through"),
    CR_COUNT("permutations", CR_FIELD_SOMETIMES, "relabellings that were gone through"),
    CR_FIELD_LAST,
};

static const cr_field typical_strings[] = {
    CR_OTHER(ARRAY, "probabilities", 0, "of the letters"),
    CR_NUMBER("entropy", 0, "of one letter"),
    CR_NUMBER("raw", 0, "logarithm of the number of letters that can come"),
    CR_COUNT("length", 0, "letters of a string"),
    CR_COUNT("types", 0, "different numbers of letters that were counted"),
    CR_NUMBER("beta", 0, "how near to the entropy the content per letter of a typical string is"),
    CR_NUMBER("typical_size", CR_FIELD_NULL,
              "logarithm of the number of typical strings; null if none"),
    CR_NUMBER("typical_probability", 0, "that a string is typical"),
    CR_NUMBER("delta", 0, "the probability that may be missed"),
    CR_NUMBER("essential", 0, "logarithm of the size of the smallest set that misses no more"),
    CR_NUMBER("essential_per_letter", 0, "that, divided by the length"),
    CR_FIELD_LAST,
};

static const cr_field surprise[] = {
    CR_COUNT("row", 0, "which row of the data, from 1"),
    CR_NUMBER("information", CR_FIELD_NULL,
              "its information content; null where there is no density"),
    CR_TEXT("most", CR_FIELD_SOMETIMES, "of independent columns: the one that adds most"),
    CR_NUMBER("most_information", CR_FIELD_SOMETIMES, "what it adds"),
    CR_FIELD_LAST,
};

static const cr_field result[] = {
    CR_TEXT("unit", 0, "bits or nats"),
    CR_COUNT("seed", 0, "random seed of resampling and spreading"),
    CR_COUNT("rows", CR_FIELD_SOMETIMES, "rows of the (first) file"),
    CR_TEXT("estimator", 0, "how entropies come from counts"),
    CR_COUNT("neighbours", 0, "which neighbour measures densities"),
    CR_NUMBER("level", 0, "mass of the intervals"),
    CR_INNER(ROWS, "columns", CR_FIELD_SOMETIMES, "without options: each column", column_entropy),
    CR_INNER(OBJECT, "joint", CR_FIELD_SOMETIMES, "with --columns: their entropy", joint_entropy),
    CR_INNER(OBJECT, "mutual", CR_FIELD_SOMETIMES, "with --mutual: the two columns",
             mutual_information),
    CR_INNER(ROWS, "pairs", CR_FIELD_SOMETIMES, "with --matrix: each pair of columns",
             pair_information),
    CR_INNER(ROWS, "divergence", CR_FIELD_SOMETIMES,
             "of two files: each column, and --columns together", divergence),
    CR_INNER(OBJECT, "mmd", CR_FIELD_SOMETIMES, "of two files with --mmd: the two-sample test",
             discrepancy),
    CR_INNER(OBJECT, "source", CR_FIELD_SOMETIMES, "with --source: its strings", typical_strings),
    CR_INNER(ROWS, "surprise", CR_FIELD_SOMETIMES, "with --rows: each row", surprise),
    CR_MEASURE("seconds", "seconds", 0, "time of the work, reading not counted"),
    CR_FIELD_LAST,
};

/* --- what all answers need ------------------------------------------------------------------- */

void info_put(const info_job *j, cri_sheet *to, const char *name, double nats)
{
    cri_put_real(to, name, nats / j->per);
}

void info_put_cell(const info_job *j, cri_sheet *to, const char *name, double nats)
{
    cli_put_cell(to, name, nats / j->per);
}

cri_sheet *info_put_texts(cri_sheet *to, const char *name, const char *const *texts, size_t n)
{
    cri_sheet *list = cri_put_list(to, name);
    for (size_t i = 0; i < n; i++) cri_put_text(list, NULL, texts[i]);
    return list;
}

void info_put_row(info_job *j, const cri_sheet *object)
{
    cri_sheet *row = cri_put_object(j->r.rows, NULL);
    for (const cri_sheet *v = cri_sheet_first(object); v; v = cri_sheet_next(v))
        if (cri_sheet_kind_of(v) != CRI_SHEET_LIST)
            cri_put_copy(row, cri_sheet_name(v), v);
        else if (cri_sheet_text(cri_sheet_first(v)))
            cri_put_joined(row, cri_sheet_name(v), v, ",");
    j->r.lines = true;
}

cr_status info_columns(info_job *j, const char ***out, size_t *out_n)
{
    cr_status    st = CR_OK;
    char       **named = NULL;
    size_t       n = 0;
    const char **names;
    CR_TRY(cri_list_split(&j->s, j->o->columns, &named, &n));
    if (n == 0) n = cr_table_columns(j->a);
    names = cr_scratch_bytes(&j->s, n, sizeof *names);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < n; i++)
        names[i] = j->o->columns ? named[i] : cr_table_column(j->a, i)->name;
    *out = names, *out_n = n;
done:
    return st;
}

void info_tell_dropped(const info_job *j, const cr_table *t, size_t dropped)
{
    if (dropped > 0)
        cr_log(j->c->cx, CR_LOG_WARNING,
               "%zu of %zu rows of %s have missing values in these columns and are left out",
               dropped, cr_table_rows(t), cr_table_source(t));
}

static void tell_alone(const info_job *j, size_t alone, size_t rows)
{
    if (alone > 0)
        cr_log(j->c->cx, CR_LOG_WARNING,
               "%zu of %zu rows share their categories with no other row, and do not count", alone,
               rows);
}

/* --- entropy and mutual information ---------------------------------------------------------- */

/* Which estimate, from which rows; then its numbers. */
static void put_basis(cri_sheet *to, const cr_information *g)
{
    cri_put_text(to, "method", g->counted ? "counts" : "neighbours");
    cri_put_count(to, "rows", g->rows);
    cri_put_count(to, "missing", g->dropped);
}

static void put_estimate(const info_job *j, cri_sheet *to, const char *name,
                         const cr_information *g)
{
    info_put(j, to, name, g->value);
    info_put(j, to, "plugin", g->plugin);
    info_put(j, to, "se", g->se);
    info_put(j, to, "lower", g->lower);
    info_put(j, to, "upper", g->upper);
}

/* A column that has no entropy is told of, and does not end the list. */
static cr_status list_column(info_job *j, const cr_column *col, cri_sheet *list)
{
    cr_information g = { .rows = cr_table_rows(j->a) - col->missing,
                         .dropped = col->missing,
                         .counted = col->type == CR_CATEGORY || col->type == CR_BOOLEAN,
                         .value = NAN,
                         .plugin = NAN,
                         .se = NAN,
                         .lower = NAN,
                         .upper = NAN,
                         .resolution = NAN };
    cr_status st = cr_table_entropy(j->c->cx, j->a, &col->name, 1, NULL, 0, &j->how, j->seed, &g);
    if (st != CR_OK && st != CR_EDATA && st != CR_ENUMERIC) return st;
    if (st != CR_OK) cr_log(j->c->cx, CR_LOG_WARNING, "%s", cr_error(j->c->cx));
    cri_sheet *row = cri_put_object(list, NULL);
    cri_put_text(row, "name", col->name);
    cri_put_text(row, "type", cr_type_name(col->type));
    put_basis(row, &g);
    if (g.counted)
        cri_put_count(row, "levels", g.cells);
    else
        cri_put_null(row, "levels");
    cri_put_real(row, "resolution", g.resolution);
    put_estimate(j, row, "entropy", &g);
    return CR_OK;
}

static cr_status answer_list(info_job *j)
{
    cr_status st = CR_OK;
    size_t    n = cr_table_columns(j->a);
    j->r.rows = cri_put_list(j->r.object, "columns"); /* the table is this list */
    for (size_t i = 0; i < n; i++) CR_TRY(list_column(j, cr_table_column(j->a, i), j->r.rows));
    cli_result_title(j->r, "%s: %zu rows, entropy in %s, %g %% intervals, seed %llu",
                     cr_table_source(j->a), cr_table_rows(j->a), j->unit, 100 * j->how.level,
                     (unsigned long long)j->seed);
done:
    return st;
}

static cr_status answer_joint(info_job *j)
{
    cr_status      st = CR_OK;
    cr_information g;
    const char   **names = NULL;
    char         **given = NULL;
    size_t         n = 0, n_given = 0;
    cri_sheet     *one;
    CR_TRY(info_columns(j, &names, &n));
    CR_TRY(cri_list_split(&j->s, j->o->given, &given, &n_given));
    const char *const *known = (const char *const *)given;
    CR_TRY(cr_table_entropy(j->c->cx, j->a, names, n, known, n_given, &j->how, j->seed, &g));
    info_tell_dropped(j, j->a, g.dropped);
    tell_alone(j, g.alone, g.rows);
    one = cri_put_object(j->r.object, "joint");
    info_put_texts(one, "columns", names, n);
    info_put_texts(one, "given", known, n_given);
    put_basis(one, &g);
    put_estimate(j, one, "entropy", &g);
    info_put_row(j, one);
    cli_result_title(j->r, "%s: %s entropy in %s, seed %llu", cr_table_source(j->a),
                     n_given ? "conditional" : "joint", j->unit, (unsigned long long)j->seed);
done:
    return st;
}

static cr_status answer_mutual(info_job *j)
{
    cr_status      st = CR_OK;
    cr_information g;
    char         **names = NULL, **given = NULL;
    size_t         n = 0, n_given = 0;
    cri_sheet     *one;
    CR_TRY(cri_list_split(&j->s, j->o->mutual, &names, &n));
    CR_TRY(cri_list_split(&j->s, j->o->given, &given, &n_given));
    if (n != 2) {
        cr_fail(j->c->cx, CR_EARG, "--mutual takes two columns, not %zu", n);
        CR_TRY(cr_fail_hint(j->c->cx, "--matrix compares all pairs of more"));
    }
    const char *const *known = (const char *const *)given;
    CR_TRY(
        cr_table_mutual(j->c->cx, j->a, names[0], names[1], known, n_given, &j->how, j->seed, &g));
    info_tell_dropped(j, j->a, g.dropped);
    tell_alone(j, g.alone, g.rows);
    one = cri_put_object(j->r.object, "mutual");
    info_put_texts(one, "columns", (const char *const *)names, 2);
    info_put_texts(one, "given", known, n_given);
    put_basis(one, &g);
    put_estimate(j, one, "mutual", &g);
    if (j->how.permutations > 0) cri_put_real(one, "p", g.p);
    info_put_row(j, one);
    cli_result_title(j->r, "%s: mutual information in %s, seed %llu", cr_table_source(j->a),
                     j->unit, (unsigned long long)j->seed);
done:
    return st;
}

/* --- the verb -------------------------------------------------------------------------------- */

/* Which question it is, and what does not go together. */
static cr_status check_options(const info_job *j)
{
    const info_options *o = j->o;
    int                 asked = !!o->mutual + o->matrix + o->rows + !!o->source;
    cr_ctx             *cx = j->c->cx;
    if (asked > 1)
        return cr_fail(cx, CR_EARG,
                       "--mutual, --matrix, --rows and --source are asked one at a time");
    if (j->c->n_args == 2 && asked)
        return cr_fail(cx, CR_EARG,
                       "two files are compared: --mutual, --matrix, --rows and --source "
                       "are about one");
    if (o->given && !o->mutual && (!o->columns || o->matrix || o->rows || j->c->n_args == 2))
        return cr_fail(cx, CR_EARG, "--given goes with --columns or --mutual");
    if (o->mutual && o->columns)
        return cr_fail(cx, CR_EARG,
                       "--mutual names its columns itself: --columns does not go with it");
    if ((o->joint || o->top != CR_COUNT_UNSET) && !o->rows)
        return cr_fail(cx, CR_EARG, "--%s goes with --rows", o->joint ? "joint" : "top");
    if (o->permutations > 0 && !o->mutual && !o->matrix && !o->mmd)
        return cr_fail(cx, CR_EARG, "--permutations goes with --mutual, --matrix or --mmd");
    if (o->mmd && j->c->n_args != 2) {
        cr_fail(cx, CR_EARG, "--mmd compares two files");
        return cr_fail_hint(cx, "credence info first.csv second.csv --mmd");
    }
    if ((o->kernel || o->linear) && !o->mmd)
        return cr_fail(cx, CR_EARG, "--%s goes with --mmd", o->kernel ? "kernel" : "linear");
    if (o->mmd && o->smoothing > 0)
        return cr_fail(cx, CR_EARG, "--smoothing does not go with --mmd");
    if (o->smoothing > 0 && j->c->n_args != 2)
        return cr_fail(cx, CR_EARG, "--smoothing goes with two files");
    if (j->c->n_args == 0 && !o->source) {
        cr_fail(cx, CR_EARG, "info: the argument DATA is missing");
        return cr_fail_hint(cx, "usage: credence %s", j->c->verb->usage);
    }
    return CR_OK;
}

static cr_status answer(info_job *j)
{
    if (j->b) return j->o->mmd ? info_mmd(j) : info_divergence(j);
    if (j->o->source) return info_source(j);
    if (j->o->mutual) return answer_mutual(j);
    if (j->o->matrix) return info_matrix(j);
    if (j->o->rows) return info_surprise(j);
    return j->o->columns ? answer_joint(j) : answer_list(j);
}

static void put_settings(info_job *j)
{
    const cr_option *estimator = cr_option_find(info_table, "estimator");
    char             text[64];
    cr_options_print(estimator, j->o, text, sizeof text);
    cri_put_text(j->r.object, "unit", j->unit);
    cri_put_count(j->r.object, "seed", j->seed);
    if (j->a) cri_put_count(j->r.object, "rows", cr_table_rows(j->a));
    cri_put_text(j->r.object, "estimator", text);
    cri_put_count(j->r.object, "neighbours", j->how.neighbours);
    cri_put_real(j->r.object, "level", j->how.level);
}

static cr_status run_info(cli *c)
{
    cr_status st = CR_OK;
    info_job  j = { .c = c, .o = c->own, .r = cli_result_new(c) };
#define COPY(kind, field, fallback, range, help, example) .field = j.o->field,
    j.how = (cr_info_options){ CR_INFO_OPTIONS(COPY) };
#undef COPY
    j.s = cr_scratch_begin(c->cx);
    j.per = j.o->unit == 0 ? M_LN2 : 1;
    j.unit = j.o->unit == 0 ? "bits" : "nats";
    CR_TRY(check_options(&j));
    j.seed = c->fit.seed;
    if (c->n_args > 0) CR_TRY(cli_read_data(c, 0, NULL, &j.a));
    if (c->n_args > 1) CR_TRY(cli_read_data(c, 1, NULL, &j.b));
    put_settings(&j);
    double begin = cri_seconds();
    CR_TRY(answer(&j));
    cri_put_real(j.r.object, "seconds", cri_seconds() - begin);
    cli_clear_progress(c);
    if (!j.printed) CR_TRY(cli_result_print(c, j.r));
done:
    cr_table_free(c->cx, j.a);
    cr_table_free(c->cx, j.b);
    cr_scratch_end(&j.s);
    cli_result_free(j.r);
    return st;
}

const cli_verb verb_info = {
    .name = "info",
    .usage = "info [DATA [DATA]] [OPTIONS]",
    .summary = "entropy, mutual information, divergence, two-sample test, surprise",
    .example = "credence info examples/iris.csv\n"
               "credence info examples/diabetes.csv --mutual bmi,progression --permutations 199\n"
               "credence info examples/diabetes.csv --matrix --columns sex,bmi,s5,progression\n"
               "credence info examples/iris.csv --rows --top 5\n"
               "credence info --source 0.1,0.9 --length 100 --delta 0.01",
    .options = info_table,
    .options_size = sizeof(info_options),
    .result = result,
    .takes = VERB_READS,
    .most = 2,
    .run = run_info,
};
