/* results_numbers.c -- the fields of the JSON of dist and info. */
#include "results.h"

/* --- dist ------------------------------------------------------------------------------------ */

static const cr_field dist_parameter[] = {
    CR_TEXT("name", 0, "name of the parameter"),
    CR_TEXT("domain", 0, "the values it may have"),
    CR_TEXT("help", 0, "one line"),
    CR_TEXT("example", 0, "a value"),
    CR_FIELD_LAST,
};

#define ABOUT_DIST(marks)                                                                          \
    CR_TEXT("name", marks, "of a page: name of the distribution"),                                 \
        CR_TEXT("summary", marks, "of a page: one line"),                                          \
        CR_TEXT("formula", marks, "of a page: density or mass in plain text"),                     \
        CR_TEXT("support", marks, "of a page: the values that it gives"),                          \
        CR_FLAG("discrete", marks, "of a page: whether it gives whole numbers only"),              \
        CR_TEXT("reference", marks, "of a page: book or paper"),                                   \
        CR_OTHER(TEXTS, "offers", marks, "of a page: the quantities that can be asked for")

static const cr_field about_dist[] = {
    ABOUT_DIST(0),
    CR_INNER(ROWS, "parameters", 0, "its parameters, in order", dist_parameter),
    CR_FIELD_LAST,
};

static const cr_field natural[] = {
    CR_OTHER(TEXTS, "statistics", 0, "the sufficient statistics"),
    CR_OTHER(ARRAY, "parameters", 0, "the natural parameter of each"),
    CR_OTHER(ARRAY, "mean_statistics", 0, "the mean of each"),
    CR_NUMBER("log_partition", CR_FIELD_NULL, "logarithm of the normaliser"),
    CR_FIELD_LAST,
};

static const cr_field density_plot[] = {
    CR_OTHER(ARRAY, "x", 0, "points, evenly spaced"),
    CR_OTHER(ARRAY, "density", 0, "density or mass there; null if infinite"),
    CR_FIELD_LAST,
};

#define ASKED(type, name, help) CR_OTHER(type, name, CR_FIELD_SOMETIMES, help)
#define ASKED_NUMBER(name, help) CR_NUMBER(name, CR_FIELD_NULL | CR_FIELD_SOMETIMES, help)

const cr_field result_dist[] = {
    CR_INNER(ROWS, "distributions", CR_FIELD_SOMETIMES, "without NAME: all distributions",
             about_dist),
    ABOUT_DIST(CR_FIELD_SOMETIMES),
    ASKED(TEXT, "distribution", "of an answer: name of the distribution"),
    ASKED(ANY, "parameters",
          "of an answer: each name to a number or an array of numbers, matrices row by row; of a "
          "page: an array of objects with name, domain, help and example"),
    ASKED(COUNT, "rows", "values fitted to, with --fit"),
    ASKED_NUMBER("log_likelihood", "log likelihood at the fit, with --fit"),
    ASKED(ENTRIES, "mean", "the mean, of each entry for vectors; here as below null if infinite"),
    ASKED(ENTRIES, "variance", "the variance, of each entry for vectors"),
    ASKED(ENTRIES, "sd", "the standard deviation, of each entry for vectors"),
    ASKED(ENTRIES, "mode", "where the density is highest"),
    ASKED_NUMBER("entropy", "the entropy in nats"),
    ASKED(ARRAY, "pdf", "density or mass at each point asked for"),
    ASKED(ARRAY, "logpdf", "its logarithm; null where the density is 0"),
    ASKED(ARRAY, "cdf", "P(X <= x) for each x asked for"),
    ASKED(ARRAY, "sf", "P(X > x) for each x"),
    ASKED(ARRAY, "logcdf", "log P(X <= x) for each x"),
    ASKED(ARRAY, "logsf", "log P(X > x) for each x"),
    ASKED(ARRAY, "quantile", "the quantile of each probability asked for"),
    ASKED(ARRAY, "interval", "both ends of the central interval; null for an infinite end"),
    ASKED(ARRAY, "hdi", "both ends of the shortest interval"),
    CR_INNER(OBJECT, "natural", CR_FIELD_SOMETIMES, "as an exponential family, with --natural",
             natural),
    ASKED_NUMBER("kl", "divergence to the one with the parameters of --kl"),
    ASKED(COUNT, "seed", "random seed of the draws"),
    ASKED(ANY, "sample", "the draws: an array of numbers, or of arrays of numbers for vectors"),
    CR_INNER(OBJECT, "plot", CR_FIELD_SOMETIMES, "the density as points, with --plot",
             density_plot),
    CR_FIELD_LAST,
};

/* --- info ------------------------------------------------------------------------------------ */

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

static const cr_field info_column[] = {
    CR_TEXT("name", 0, "name of the column"),
    CR_TEXT("type", 0, "real, integer, boolean or category"),
    BASIS,
    CR_COUNT("levels", CR_FIELD_NULL, "different values, where they are counted"),
    CR_NUMBER("resolution", CR_FIELD_NULL,
              "of numbers that repeat: the width over which each is spread, in the column's units"),
    ESTIMATE("entropy", "entropy, of measured numbers differential; null where there is none"),
    CR_FIELD_LAST,
};

static const cr_field info_joint[] = {
    COLUMN_SETS,
    BASIS,
    ESTIMATE("entropy", "joint, or conditional, entropy"),
    CR_FIELD_LAST,
};

static const cr_field info_mutual[] = {
    COLUMN_SETS,
    BASIS,
    ESTIMATE("mutual", "mutual information"),
    CR_NUMBER("p", CR_FIELD_SOMETIMES, "with --permutations: P(as large without dependence)"),
    CR_FIELD_LAST,
};

static const cr_field info_pair[] = {
    CR_TEXT("a", 0, "one column"),
    CR_TEXT("b", 0, "the other"),
    BASIS,
    CR_NUMBER("mutual", CR_FIELD_NULL, "mutual information; null where it could not be had"),
    CR_NUMBER("normalised", CR_FIELD_NULL,
              "between 0 and 1: 2 I / (H + H) of counts, sqrt(1 - exp(-2 I)) with numbers"),
    CR_NUMBER("p", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "with --permutations: P(as large without dependence)"),
    CR_FIELD_LAST,
};

static const cr_field info_divergence[] = {
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

static const cr_field info_mmd[] = {
    CR_OTHER(TEXTS, "columns", 0, "the columns compared, taken together"),
    CR_TEXT("kernel", 0, "the kernel as it was used"),
    CR_TEXT("method", 0, "relabellings, all relabellings, or pairs of rows, each once (--linear)"),
    CR_COUNT("rows", 0, "rows of the first file used"),
    CR_COUNT("rows_other", 0, "rows of the second file used"),
    CR_NUMBER("mmd2", 0, "the squared discrepancy, unbiased: it may be below 0"),
    CR_NUMBER("mmd2_biased", CR_FIELD_SOMETIMES,
              "the same with the pairs of a row with itself: never below 0"),
    CR_NUMBER("se", CR_FIELD_NULL | CR_FIELD_SOMETIMES, "with --linear: standard error of mmd2"),
    CR_NUMBER("p", CR_FIELD_NULL, "P(as large if both come from one distribution)"),
    CR_NUMBER("p_se", CR_FIELD_SOMETIMES,
              "standard error of p: 0 when all relabellings were gone through"),
    CR_COUNT("permutations", CR_FIELD_SOMETIMES, "relabellings that were gone through"),
    CR_FIELD_LAST,
};

static const cr_field info_source[] = {
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

static const cr_field info_surprise[] = {
    CR_COUNT("row", 0, "which row of the data, from 1"),
    CR_NUMBER("information", CR_FIELD_NULL,
              "its information content; null where there is no density"),
    CR_TEXT("most", CR_FIELD_SOMETIMES, "of independent columns: the one that adds most"),
    CR_NUMBER("most_information", CR_FIELD_SOMETIMES, "what it adds"),
    CR_FIELD_LAST,
};

const cr_field result_info[] = {
    CR_TEXT("unit", 0, "bits or nats"),
    CR_COUNT("seed", 0, "random seed of resampling and spreading"),
    CR_COUNT("rows", CR_FIELD_SOMETIMES, "rows of the (first) file"),
    CR_TEXT("estimator", 0, "how entropies come from counts"),
    CR_COUNT("neighbours", 0, "which neighbour measures densities"),
    CR_NUMBER("level", 0, "mass of the intervals"),
    CR_INNER(ROWS, "columns", CR_FIELD_SOMETIMES, "without options: each column", info_column),
    CR_INNER(OBJECT, "joint", CR_FIELD_SOMETIMES, "with --columns: their entropy", info_joint),
    CR_INNER(OBJECT, "mutual", CR_FIELD_SOMETIMES, "with --mutual: the two columns", info_mutual),
    CR_INNER(ROWS, "pairs", CR_FIELD_SOMETIMES, "with --matrix: each pair of columns", info_pair),
    CR_INNER(ROWS, "divergence", CR_FIELD_SOMETIMES,
             "of two files: each column, and --columns together", info_divergence),
    CR_INNER(OBJECT, "mmd", CR_FIELD_SOMETIMES, "of two files with --mmd: the two-sample test",
             info_mmd),
    CR_INNER(OBJECT, "source", CR_FIELD_SOMETIMES, "with --source: its strings", info_source),
    CR_INNER(ROWS, "surprise", CR_FIELD_SOMETIMES, "with --rows: each row", info_surprise),
    CR_NUMBER("seconds", 0, "time of the work, reading not counted"),
    CR_FIELD_LAST,
};
