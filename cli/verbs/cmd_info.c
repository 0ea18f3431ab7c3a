/* cmd_info.c -- info: entropy, mutual information and divergence of the columns of data. */
#include "info_pairs.h"
#include "base/clock.h"

/* --- the result ------------------------------------------------------------------------------ */

#define BASIS                                                                                      \
    CR_TEXT("method", 0, "counts of categories, or nearest neighbours of numbers"),                \
        CR_COUNT("rows", 0, "rows used")

#define ESTIMATE(name, help)                                                                       \
    CR_COUNT("missing", 0, "rows left out because a value is missing"),                            \
        CR_NUMBER(name, CR_FIELD_NULL, help),                                                      \
        CR_NUMBER("plugin", CR_FIELD_NULL,                                                         \
                  "the same from the observed shares; null for neighbours"),                       \
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
              "of repeated numbers: the width over which each is spread, in the column's units"),
    ESTIMATE("entropy", "entropy, differential for measured numbers; null if there is none"),
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
    CR_NUMBER("mutual", CR_FIELD_NULL, "mutual information; null if it could not be estimated"),
    CR_NUMBER("normalised", CR_FIELD_NULL,
              "between 0 and 1: 2 I / (H + H) of counts, sqrt(1 - exp(-2 I)) with numbers"),
    CR_NUMBER("p", CR_FIELD_EITHER, "with --permutations: P(as large without dependence)"),
    CR_FIELD_LAST,
};

static const cr_field needed_columns[] = {
    CR_TEXT("name", 0, "name of the column, in the order of what each adds to those before it"),
    CR_TEXT("role", 0,
            "of its Markov blanket: neighbour, which nothing separates from the column; spouse, "
            "which tells about it once their common effect is known; or empty: not needed"),
    CR_NUMBER("p", CR_FIELD_NULL, "of members: of the test given all other members"),
    CR_NUMBER("given_others", CR_FIELD_NULL,
              "of members: information about the column, given all other members"),
    CR_NUMBER("relevance", 0, "information about the column"),
    CR_NUMBER("redundancy", 0, "mean information shared with the columns before it"),
    CR_NUMBER("gain", 0, "the difference of these two, by which columns are ordered"),
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
    CR_TEXT("method", 0, "relabellings, all relabellings, or disjoint pairs of rows (--linear)"),
    CR_COUNT("rows", 0, "rows of the first file used"),
    CR_COUNT("rows_other", 0, "rows of the second file used"),
    CR_NUMBER("mmd2", 0, "the squared discrepancy, unbiased: it may be negative"),
    CR_NUMBER("mmd2_biased", CR_FIELD_SOMETIMES,
              "the same including pairs of a row with itself: never negative"),
    CR_NUMBER("se", CR_FIELD_EITHER, "with --linear: standard error of mmd2"),
    CR_NUMBER("p", CR_FIELD_NULL, "P(as large if both come from one distribution)"),
    CR_NUMBER("p_se", CR_FIELD_SOMETIMES, "standard error of p; 0 if all relabellings were tried"),
    CR_COUNT("permutations", CR_FIELD_SOMETIMES, "number of relabellings tried"),
    CR_FIELD_LAST,
};

static const cr_field typical_strings[] = {
    CR_OTHER(ARRAY, "probabilities", 0, "of the letters"),
    CR_NUMBER("entropy", 0, "of one letter"),
    CR_NUMBER("raw", 0, "logarithm of the number of possible letters"),
    CR_COUNT("length", 0, "letters per string"),
    CR_COUNT("types", 0, "different numbers of letters that were counted"),
    CR_NUMBER("beta", 0,
              "how close to the entropy the information per letter of a typical string is"),
    CR_NUMBER("typical_size", CR_FIELD_NULL,
              "logarithm of the number of typical strings; null if none"),
    CR_NUMBER("typical_probability", 0, "probability that a string is typical"),
    CR_NUMBER("delta", 0, "the probability that may be missed"),
    CR_NUMBER("essential", 0,
              "logarithm of the size of the smallest set that misses no more than that"),
    CR_NUMBER("essential_per_letter", 0, "that, divided by the length"),
    CR_FIELD_LAST,
};

static const cr_field surprise[] = {
    CR_COUNT("row", 0, "which row of the data, from 1"),
    CR_NUMBER("information", CR_FIELD_NULL,
              "its information content; null where there is no density"),
    CR_TEXT("most", CR_FIELD_SOMETIMES, "of independent columns: the one that contributes most"),
    CR_NUMBER("most_information", CR_FIELD_SOMETIMES, "what it adds"),
    CR_FIELD_LAST,
};

static const cr_field result[] = {
    CR_TEXT("unit", 0, "bits or nats"),
    CR_COUNT("seed", 0, "random seed of resampling and spreading"),
    CR_COUNT("rows", CR_FIELD_SOMETIMES, "rows of the (first) file"),
    CR_TEXT("estimator", 0, "how entropies are estimated from counts"),
    CR_COUNT("neighbours", 0, "which nearest neighbour is used to estimate densities"),
    CR_NUMBER("level", 0, "mass of the intervals"),
    CR_INNER(ROWS, "columns", CR_FIELD_SOMETIMES, "without options: each column", column_entropy),
    CR_INNER(OBJECT, "joint", CR_FIELD_SOMETIMES, "with --columns: their entropy", joint_entropy),
    CR_INNER(OBJECT, "mutual", CR_FIELD_SOMETIMES, "with --mutual: the two columns",
             mutual_information),
    CR_INNER(ROWS, "pairs", CR_FIELD_SOMETIMES, "with --matrix: each pair of columns",
             pair_information),
    CR_TEXT("test", CR_FIELD_SOMETIMES, "with --blanket: g2 or fisher-z"),
    CR_OTHER(TEXTS, "members", CR_FIELD_SOMETIMES, "with --blanket: the Markov blanket"),
    CR_INNER(ROWS, "blanket", CR_FIELD_SOMETIMES,
             "with --blanket: the other columns, members of the Markov blanket by their role",
             needed_columns),
    CR_INNER(ROWS, "divergence", CR_FIELD_SOMETIMES,
             "of two files: each column, and --columns together", divergence),
    CR_INNER(OBJECT, "mmd", CR_FIELD_SOMETIMES, "of two files with --mmd: the two-sample test",
             discrepancy),
    CR_INNER(OBJECT, "source", CR_FIELD_SOMETIMES, "with --source: its strings", typical_strings),
    CR_INNER(ROWS, "surprise", CR_FIELD_SOMETIMES, "with --rows: each row", surprise),
    CR_MEASURE("seconds", "seconds", 0, "time of the computation, excluding reading"),
    CR_FIELD_LAST,
};

/* --- the verb -------------------------------------------------------------------------------- */

static cr_status check_arguments(const cli *c, const cr_info_question *o)
{
    cr_status st = cri_info_check(c->cx, o, c->n_args);
    if (st != CR_OK || c->n_args > 0 || o->source) return st;
    cr_fail(c->cx, CR_EARG, "info: the argument DATA is missing");
    return cr_fail_hint(c->cx, "usage: credence %s", c->verb->usage);
}

static cr_status print_answer(cli *c, cli_result r, const cri_info_answer *j)
{
    if (j->o->matrix && c->format == FORMAT_TEXT) return info_print_pairs(c, r, j);
    r.rows = j->rows;
    r.lines = j->lines;
    cli_result_title(r, "%s", j->title);
    return cli_result_print(c, r);
}

static cr_status run_info(cli *c)
{
    cr_status               st = CR_OK;
    const cr_info_question *o = c->own;
    cr_table               *a = NULL, *b = NULL;
    cli_result              r = cli_result_new(c);
    cri_info_answer         j = cri_info_open(c->cx, o, c->fit.seed, NULL, NULL, r.object, r.rows);
    double                  begin;
    CR_TRY(check_arguments(c, o));
    if (c->n_args > 0) CR_TRY(cli_read_data(c, 0, NULL, &a));
    if (c->n_args > 1) CR_TRY(cli_read_data(c, 1, NULL, &b));
    j.a = a, j.b = b;
    begin = cri_seconds();
    CR_TRY(cri_info_run(&j));
    cri_put_real(r.object, "seconds", cri_seconds() - begin);
    cli_clear_progress(c);
    CR_TRY(print_answer(c, r, &j));
done:
    cr_table_free(c->cx, a);
    cr_table_free(c->cx, b);
    cr_scratch_end(&j.s);
    cli_result_free(r);
    return st;
}

const cli_verb verb_info = {
    .name = "info",
    .usage = "info [DATA [DATA]] [OPTIONS]",
    .summary = "entropy, mutual information, Markov blanket, divergence, two-sample test",
    .example = "credence info examples/iris.csv\n"
               "credence info examples/diabetes.csv --mutual bmi,progression --permutations 199\n"
               "credence info examples/diabetes.csv --matrix --columns sex,bmi,s5,progression\n"
               "credence info examples/diabetes.csv --blanket progression\n"
               "credence info examples/iris.csv --rows --top 5\n"
               "credence info --source 0.1,0.9 --length 100 --delta 0.01",
    .options = cr_info_question_table,
    .options_size = sizeof(cr_info_question),
    .result = result,
    .takes = VERB_READS,
    .most = 2,
    .run = run_info,
};
