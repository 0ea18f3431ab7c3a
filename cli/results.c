/* results.c -- the fields of every verb's JSON. */
#include "results.h"

#include <stddef.h>

/* clang-format off */
#define TEXT(name, marks, help) { name, FIELD_TEXT, marks, help, NULL }
#define COUNT(name, marks, help) { name, FIELD_COUNT, marks, help, NULL }
#define NUMBER(name, marks, help) { name, FIELD_NUMBER, marks, help, NULL }
#define FLAG(name, marks, help) { name, FIELD_FLAG, marks, help, NULL }
#define OTHER(type, name, marks, help) { name, FIELD_##type, marks, help, NULL }
#define INNER(type, name, marks, help, inner) { name, FIELD_##type, marks, help, inner }
/* clang-format on */

const cli_field result_common[] = {
    TEXT("schema", 0, "which result this is, and its version"),
    OTHER(TEXTS, "warnings", 0, "what one should know about the result"),
    FIELD_LAST,
};

/* --- a model: fit, update, describe ---------------------------------------------------------- */

static const cli_field parameter[] = {
    TEXT("name", 0, "the term; intercept for the intercept"),
    NUMBER("value", FIELD_NULL, "posterior mean or estimate"),
    NUMBER("sd", FIELD_NULL,
           "posterior standard deviation or standard error; null where there is none"),
    NUMBER("lower", FIELD_NULL | FIELD_SOMETIMES, "lower end of the central 95 % interval"),
    NUMBER("upper", FIELD_NULL | FIELD_SOMETIMES, "upper end of it"),
    NUMBER("t", FIELD_NULL | FIELD_SOMETIMES, "value / sd, of models that test"),
    NUMBER("p", FIELD_NULL | FIELD_SOMETIMES,
           "probability of a larger |t| by chance, of models that test"),
    FIELD_LAST,
};

static const cli_field path_point[] = {
    NUMBER("lambda", 0, "the penalty"),
    COUNT("nonzero", 0, "terms that are not 0"),
    NUMBER("df", FIELD_NULL, "effective degrees of freedom, with the intercept"),
    NUMBER("r2", FIELD_NULL, "share of the target's spread that is explained"),
    NUMBER("cv", FIELD_NULL, "mean squared error by cross-validation"),
    NUMBER("cv_se", FIELD_NULL, "its standard error"),
    FLAG("chosen", 0, "true of the one that the model uses"),
    FIELD_LAST,
};

static const cli_field subset[] = {
    COUNT("size", 0, "number of terms"),
    NUMBER("rss", FIELD_NULL, "residual sum of squares"),
    NUMBER("r2", FIELD_NULL, "share of the target's spread that is explained"),
    NUMBER("adjusted_r2", FIELD_NULL, "the same by degrees of freedom"),
    NUMBER("aic", FIELD_NULL, "Akaike's criterion"),
    NUMBER("bic", FIELD_NULL, "Schwarz's criterion"),
    NUMBER("cv", FIELD_NULL, "mean squared error by cross-validation of the search"),
    NUMBER("cv_se", FIELD_NULL, "its standard error"),
    FLAG("chosen", 0, "true of the one that the model uses"),
    OTHER(TEXTS, "terms", 0, "the terms of the set"),
    FIELD_LAST,
};

/* Absent where `of_model` is FIELD_SOMETIMES: describe also looks at data. */
#define MODEL_FIELDS(of_model)                                                                     \
    TEXT("model", of_model, "name of the model"),                                                  \
        TEXT("task", of_model, "regression, classification and so on"),                            \
        OTHER(TEXTS, "features", of_model, "columns that the model reads"),                        \
        COUNT("terms", of_model, "columns of the design: powers and levels counted"),              \
        TEXT("target", FIELD_NULL | (of_model), "column that it predicts; null for none"),         \
        TEXT("scale", of_model, "standard or none: whether the features were standardised"),       \
        COUNT("seed", of_model, "random seed"),                                                    \
        NUMBER("log_evidence", FIELD_NULL | FIELD_SOMETIMES,                                       \
               "log marginal likelihood, of models that have one"),                                \
        NUMBER("log_likelihood", FIELD_NULL | FIELD_SOMETIMES,                                     \
               "log likelihood at the estimate, of models without evidence"),                      \
        COUNT("iterations", of_model, "steps taken; 0 for a closed form"),                         \
        TEXT("stop", of_model, "closed form, converged or iteration limit"),                       \
        INNER(ROWS, "parameters", of_model, "what was learned, with its uncertainty", parameter),  \
        OTHER(VALUES, "statistics", of_model, "what this model says of the fit, by name"),         \
        OTHER(WORDS, "settings", of_model, "options of the fit that are in force")

/* What only some models have, of those that are not updated. */
#define SEARCH_FIELDS                                                                              \
    INNER(ROWS, "path", FIELD_SOMETIMES, "of lasso: every lambda that was solved", path_point),    \
        INNER(ROWS, "subsets", FIELD_SOMETIMES,                                                    \
              "of linear with --select: the best set that was found of each size", subset)

#define FIT_FIELDS                                                                                 \
    COUNT("rows", 0, "rows learned from"), MODEL_FIELDS(0),                                        \
        NUMBER("seconds", 0, "time of the fit, reading not counted"),                              \
        TEXT("output", FIELD_SOMETIMES, "file the model was saved to, with --output")

const cli_field result_fit[] = { FIT_FIELDS, SEARCH_FIELDS, FIELD_LAST };
const cli_field result_update[] = { FIT_FIELDS, FIELD_LAST };

/* --- predict --------------------------------------------------------------------------------- */

static const cli_field prediction[] = {
    NUMBER("mean", FIELD_NULL | FIELD_SOMETIMES,
           "of a number: its predictive mean; null for a row left out"),
    NUMBER("sd", FIELD_NULL | FIELD_SOMETIMES,
           "of a number: predictive standard deviation; null if infinite"),
    NUMBER("lower", FIELD_NULL | FIELD_SOMETIMES, "of a number: lower end of the interval"),
    NUMBER("upper", FIELD_NULL | FIELD_SOMETIMES, "of a number: upper end of the interval"),
    NUMBER("leverage", FIELD_NULL | FIELD_SOMETIMES,
           "weight of the row in its own fit, with --leverage"),
    NUMBER("dof", FIELD_NULL | FIELD_SOMETIMES,
           "of a number: degrees of freedom; null for a normal distribution"),
    TEXT("label", FIELD_NULL | FIELD_SOMETIMES,
         "of a class: the most probable; null for a row left out"),
    OTHER(NUMBERS, "p", FIELD_SOMETIMES, "of a class: the probability of each"),
    FIELD_LAST,
};

const cli_field result_predict[] = {
    TEXT("model", 0, "name of the model"),
    COUNT("rows", 0, "rows of the data"),
    NUMBER("interval", 0, "mass of the central interval"),
    COUNT("seed", 0, "random seed"),
    INNER(ROWS, "predictions", 0, "one for each row, in order", prediction),
    FIELD_LAST,
};

/* --- evaluate and cv ------------------------------------------------------------------------- */

static const cli_field calibration_bin[] = {
    COUNT("count", 0, "predictions whose confidence falls into the bin"),
    NUMBER("confidence", 0, "their mean confidence"),
    NUMBER("accuracy", 0, "the share of them that is right"),
    FIELD_LAST,
};

const cli_field result_evaluate[] = {
    TEXT("model", 0, "name of the model"),
    COUNT("rows", 0, "rows that were scored"),
    NUMBER("interval", 0, "mass of the intervals whose coverage is counted"),
    COUNT("seed", 0, "random seed"),
    OTHER(NUMBERS, "metrics", 0, "each score by name; null where it has no value"),
    INNER(ROWS, "calibration", FIELD_SOMETIMES, "of classes: bins of confidence", calibration_bin),
    FIELD_LAST,
};

static const cli_field fold[] = {
    COUNT("rows", 0, "rows of the fold"),
    FIELD_LAST,
};

const cli_field result_cv[] = {
    TEXT("model", 0, "name of the model"),
    COUNT("rows", 0, "rows that were scored, over all folds"),
    OTHER(NUMBERS, "metrics", 0, "the mean of each score over the folds"),
    OTHER(NUMBERS, "se", 0, "standard errors of these means"),
    INNER(SCORES, "folds", 0, "each score in each fold", fold),
    COUNT("seed", 0, "random seed of the split and the fits"),
    FIELD_LAST,
};

/* --- describe and check ---------------------------------------------------------------------- */

static const cli_field column[] = {
    TEXT("name", 0, "name of the column"),
    TEXT("type", 0, "real, integer, boolean or category"),
    COUNT("missing", 0, "rows without a value"),
    COUNT("levels", FIELD_NULL, "different values of a category; null for numbers"),
    NUMBER("min", FIELD_NULL, "smallest value"),
    NUMBER("mean", FIELD_NULL, "mean of the values"),
    NUMBER("sd", FIELD_NULL, "their standard deviation"),
    NUMBER("max", FIELD_NULL, "largest value"),
    TEXT("frequent", FIELD_NULL, "most frequent level of a category"),
    FIELD_LAST,
};

const cli_field result_describe[] = {
    TEXT("file", 0, "the file, as it was named"),
    TEXT("kind", 0, "data or model"),
    COUNT("rows", 0, "rows of the data; of a model: rows it learned from"),
    INNER(ROWS, "columns", FIELD_SOMETIMES, "of data: what each column holds", column),
    MODEL_FIELDS(FIELD_SOMETIMES),
    SEARCH_FIELDS,
    FIELD_LAST,
};

const cli_field result_check[] = {
    TEXT("file", 0, "the file, as it was named"),
    TEXT("kind", 0, "data or model"),
    FLAG("sound", 0, "true: it was read through without a fault"),
    FIELD_LAST,
};

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

/* --- the program about itself ---------------------------------------------------------------- */

static const cli_field option[] = {
    TEXT("name", 0, "its name; the shell writes - for _"),
    TEXT("kind", 0, "flag, count, real, choice, text or list"),
    TEXT("default", 0, "value when it is not given; empty for none"),
    TEXT("range", 0, "bounds, choices between bars, or what a text names; empty for any"),
    TEXT("help", 0, "one line"),
    TEXT("example", 0, "a value"),
    FIELD_LAST,
};

#define ABOUT_MODEL(marks)                                                                         \
    TEXT("name", marks, "name of the model"),                                                      \
        TEXT("task", marks, "regression, classification and so on"),                               \
        FLAG("update", marks, "whether new rows can be added exactly"),                            \
        TEXT("summary", marks, "one line"), TEXT("formulas", marks, "the model in plain text"),    \
        TEXT("reference", marks, "book or paper"),                                                 \
        INNER(ROWS, "options", marks, "its own options", option)

static const cli_field about_model[] = { ABOUT_MODEL(0), FIELD_LAST };

const cli_field result_models[] = {
    INNER(ROWS, "models", FIELD_SOMETIMES, "without NAME: all models", about_model),
    ABOUT_MODEL(FIELD_SOMETIMES),
    FIELD_LAST,
};

#define ABOUT_VERB(marks)                                                                          \
    TEXT("name", marks, "name of the verb"), TEXT("usage", marks, "how it is called"),             \
        TEXT("summary", marks, "one line"), TEXT("example", marks, "commands, one per line"),      \
        INNER(ROWS, "options", marks, "all that it takes", option)

static const cli_field about_verb[] = { ABOUT_VERB(0), FIELD_LAST };

const cli_field result_help[] = {
    INNER(ROWS, "verbs", FIELD_SOMETIMES, "without VERB: all verbs", about_verb),
    ABOUT_VERB(FIELD_SOMETIMES),
    FIELD_LAST,
};

static const cli_field blas[] = {
    TEXT("library", 0, "name and version"),
    TEXT("kernel", 0, "the processor it is tuned for"),
    FLAG("slow", 0, "whether the kernel is older than the processor"),
    TEXT("better", 0, "the kernel to choose instead, if slow"),
    FIELD_LAST,
};

const cli_field result_version[] = {
    TEXT("version", 0, "version of credence"),
    TEXT("compiler", 0, "the compiler it was built with"),
    COUNT("threads", 0, "threads in use"),
    INNER(OBJECT, "blas", 0, "library of matrix kernels", blas),
    FIELD_LAST,
};
