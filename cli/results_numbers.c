/* results_numbers.c -- the fields of the JSON of dist and info. */
#include "results_fields.h"

/* --- dist ------------------------------------------------------------------------------------ */

static const cli_field dist_parameter[] = {
    TEXT("name", 0, "name of the parameter"),
    TEXT("domain", 0, "the values it may have"),
    TEXT("help", 0, "one line"),
    TEXT("example", 0, "a value"),
    FIELD_LAST,
};

#define ABOUT_DIST(marks)                                                                          \
    TEXT("name", marks, "of a page: name of the distribution"),                                    \
        TEXT("summary", marks, "of a page: one line"),                                             \
        TEXT("formula", marks, "of a page: density or mass in plain text"),                        \
        TEXT("support", marks, "of a page: the values that it gives"),                             \
        FLAG("discrete", marks, "of a page: whether it gives whole numbers only"),                 \
        TEXT("reference", marks, "of a page: book or paper"),                                      \
        OTHER(TEXTS, "offers", marks, "of a page: the quantities that can be asked for")

static const cli_field about_dist[] = {
    ABOUT_DIST(0),
    INNER(ROWS, "parameters", 0, "its parameters, in order", dist_parameter),
    FIELD_LAST,
};

static const cli_field natural[] = {
    OTHER(TEXTS, "statistics", 0, "the sufficient statistics"),
    OTHER(ARRAY, "parameters", 0, "the natural parameter of each"),
    OTHER(ARRAY, "mean_statistics", 0, "the mean of each"),
    NUMBER("log_partition", FIELD_NULL, "logarithm of the normaliser"),
    FIELD_LAST,
};

static const cli_field density_plot[] = {
    OTHER(ARRAY, "x", 0, "points, evenly spaced"),
    OTHER(ARRAY, "density", 0, "density or mass there; null if infinite"),
    FIELD_LAST,
};

#define ASKED(type, name, help) OTHER(type, name, FIELD_SOMETIMES, help)
#define ASKED_NUMBER(name, help) NUMBER(name, FIELD_NULL | FIELD_SOMETIMES, help)

const cli_field result_dist[] = {
    INNER(ROWS, "distributions", FIELD_SOMETIMES, "without NAME: all distributions", about_dist),
    ABOUT_DIST(FIELD_SOMETIMES),
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
    INNER(OBJECT, "natural", FIELD_SOMETIMES, "as an exponential family, with --natural", natural),
    ASKED_NUMBER("kl", "divergence to the one with the parameters of --kl"),
    ASKED(COUNT, "seed", "random seed of the draws"),
    ASKED(ANY, "sample", "the draws: an array of numbers, or of arrays of numbers for vectors"),
    INNER(OBJECT, "plot", FIELD_SOMETIMES, "the density as points, with --plot", density_plot),
    FIELD_LAST,
};

/* --- info ------------------------------------------------------------------------------------ */

#define BASIS                                                                                      \
    TEXT("method", 0, "counts of categories, or nearest neighbours of numbers"),                   \
        COUNT("rows", 0, "rows used")

#define ESTIMATE(name, help)                                                                       \
    COUNT("missing", 0, "rows left out because a value is missing"),                               \
        NUMBER(name, FIELD_NULL, help),                                                            \
        NUMBER("plugin", FIELD_NULL, "the same from the shares as they are; null for neighbours"), \
        NUMBER("se", FIELD_NULL, "standard error; null without resampling"),                       \
        NUMBER("lower", FIELD_NULL, "lower end of the interval"),                                  \
        NUMBER("upper", FIELD_NULL, "upper end of it")

#define COLUMN_SETS                                                                                \
    OTHER(TEXTS, "columns", 0, "what is asked about"),                                             \
        OTHER(TEXTS, "given", 0, "what is known already")

static const cli_field info_column[] = {
    TEXT("name", 0, "name of the column"),
    TEXT("type", 0, "real, integer, boolean or category"),
    BASIS,
    COUNT("levels", FIELD_NULL, "different values, where they are counted"),
    NUMBER("resolution", FIELD_NULL,
           "of numbers that repeat: the width over which each is spread, in the column's units"),
    ESTIMATE("entropy", "entropy, of measured numbers differential; null where there is none"),
    FIELD_LAST,
};

static const cli_field info_joint[] = {
    COLUMN_SETS,
    BASIS,
    ESTIMATE("entropy", "joint, or conditional, entropy"),
    FIELD_LAST,
};

static const cli_field info_mutual[] = {
    COLUMN_SETS,
    BASIS,
    ESTIMATE("mutual", "mutual information"),
    NUMBER("p", FIELD_SOMETIMES, "with --permutations: P(as large without dependence)"),
    FIELD_LAST,
};

static const cli_field info_pair[] = {
    TEXT("a", 0, "one column"),
    TEXT("b", 0, "the other"),
    BASIS,
    NUMBER("mutual", FIELD_NULL, "mutual information; null where it could not be had"),
    NUMBER("normalised", FIELD_NULL,
           "between 0 and 1: 2 I / (H + H) of counts, sqrt(1 - exp(-2 I)) with numbers"),
    NUMBER("p", FIELD_NULL | FIELD_SOMETIMES,
           "with --permutations: P(as large without dependence)"),
    FIELD_LAST,
};

static const cli_field info_divergence[] = {
    OTHER(TEXTS, "columns", 0, "the columns compared, taken together"),
    BASIS,
    COUNT("rows_other", 0, "rows of the second file used"),
    NUMBER("entropy", FIELD_NULL, "entropy in the first file"),
    NUMBER("cross_entropy", FIELD_NULL, "of the first file coded for the second; null if infinite"),
    NUMBER("kl", FIELD_NULL, "divergence KL(first || second); null if infinite"),
    NUMBER("se", FIELD_NULL, "standard error of kl"),
    NUMBER("lower", FIELD_NULL, "lower end of the interval for kl"),
    NUMBER("upper", FIELD_NULL, "upper end of it"),
    NUMBER("js", FIELD_NULL, "Jensen-Shannon divergence"),
    FIELD_LAST,
};

static const cli_field info_mmd[] = {
    OTHER(TEXTS, "columns", 0, "the columns compared, taken together"),
    TEXT("kernel", 0, "the kernel as it was used"),
    TEXT("method", 0, "relabellings, all relabellings, or pairs of rows, each once (--linear)"),
    COUNT("rows", 0, "rows of the first file used"),
    COUNT("rows_other", 0, "rows of the second file used"),
    NUMBER("mmd2", 0, "the squared discrepancy, unbiased: it may be below 0"),
    NUMBER("mmd2_biased", FIELD_SOMETIMES,
           "the same with the pairs of a row with itself: never below 0"),
    NUMBER("se", FIELD_NULL | FIELD_SOMETIMES, "with --linear: standard error of mmd2"),
    NUMBER("p", FIELD_NULL, "P(as large if both come from one distribution)"),
    NUMBER("p_se", FIELD_SOMETIMES,
           "standard error of p: 0 when all relabellings were gone through"),
    COUNT("permutations", FIELD_SOMETIMES, "relabellings that were gone through"),
    FIELD_LAST,
};

static const cli_field info_source[] = {
    OTHER(ARRAY, "probabilities", 0, "of the letters"),
    NUMBER("entropy", 0, "of one letter"),
    NUMBER("raw", 0, "logarithm of the number of letters that can come"),
    COUNT("length", 0, "letters of a string"),
    COUNT("types", 0, "different numbers of letters that were counted"),
    NUMBER("beta", 0, "how near to the entropy the content per letter of a typical string is"),
    NUMBER("typical_size", FIELD_NULL, "logarithm of the number of typical strings; null if none"),
    NUMBER("typical_probability", 0, "that a string is typical"),
    NUMBER("delta", 0, "the probability that may be missed"),
    NUMBER("essential", 0, "logarithm of the size of the smallest set that misses no more"),
    NUMBER("essential_per_letter", 0, "that, divided by the length"),
    FIELD_LAST,
};

static const cli_field info_surprise[] = {
    COUNT("row", 0, "which row of the data, from 1"),
    NUMBER("information", FIELD_NULL, "its information content; null where there is no density"),
    TEXT("most", FIELD_SOMETIMES, "of independent columns: the one that adds most"),
    NUMBER("most_information", FIELD_SOMETIMES, "what it adds"),
    FIELD_LAST,
};

const cli_field result_info[] = {
    TEXT("unit", 0, "bits or nats"),
    COUNT("seed", 0, "random seed of resampling and spreading"),
    COUNT("rows", FIELD_SOMETIMES, "rows of the (first) file"),
    TEXT("estimator", 0, "how entropies come from counts"),
    COUNT("neighbours", 0, "which neighbour measures densities"),
    NUMBER("level", 0, "mass of the intervals"),
    INNER(ROWS, "columns", FIELD_SOMETIMES, "without options: each column", info_column),
    INNER(OBJECT, "joint", FIELD_SOMETIMES, "with --columns: their entropy", info_joint),
    INNER(OBJECT, "mutual", FIELD_SOMETIMES, "with --mutual: the two columns", info_mutual),
    INNER(ROWS, "pairs", FIELD_SOMETIMES, "with --matrix: each pair of columns", info_pair),
    INNER(ROWS, "divergence", FIELD_SOMETIMES, "of two files: each column, and --columns together",
          info_divergence),
    INNER(OBJECT, "mmd", FIELD_SOMETIMES, "of two files with --mmd: the two-sample test", info_mmd),
    INNER(OBJECT, "source", FIELD_SOMETIMES, "with --source: its strings", info_source),
    INNER(ROWS, "surprise", FIELD_SOMETIMES, "with --rows: each row", info_surprise),
    NUMBER("seconds", 0, "time of the work, reading not counted"),
    FIELD_LAST,
};
