/* results.c -- the fields of the JSON of verbs on models, data and networks; the others stand in
 * results_study.c, results_numbers.c and results_about.c. */
#include "results.h"
#include "network.h"

const cr_field result_common[] = {
    CR_TEXT("schema", 0, "which result this is, and its version"),
    CR_OTHER(TEXTS, "warnings", 0, "what one should know about the result"),
    CR_FIELD_LAST,
};

/* --- a model: fit, update, describe; what the model says is declared with it ------------------ */

const cr_field result_fit[] = {
    CR_MEASURE("seconds", "seconds", 0, "time of the fit, reading not counted"),
    CR_TEXT("output", CR_FIELD_SOMETIMES, "file the model was saved to, with --output"),
    CR_FIELD_LAST,
};

/* --- predict --------------------------------------------------------------------------------- */

static const cr_field prediction[] = {
    CR_NUMBER("mean", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "of a number: its predictive mean; null for a row left out"),
    CR_NUMBER("sd", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "of a number: predictive standard deviation; null if infinite"),
    CR_NUMBER("lower", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "of a number: lower end of the interval"),
    CR_NUMBER("upper", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "of a number: upper end of the interval"),
    CR_NUMBER("leverage", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "weight of the row in its own fit, with --leverage"),
    CR_NUMBER("dof", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "of a number: degrees of freedom; null for a normal distribution"),
    CR_OTHER(NUMBERS, "parameters", CR_FIELD_SOMETIMES,
             "of a number: those of its distribution, where the result names one"),
    CR_TEXT("label", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
            "of a class: the most probable; null for a row left out"),
    CR_TEXT("cluster", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
            "of a cluster: the most probable; null for a row left out"),
    CR_OTHER(NUMBERS, "p", CR_FIELD_SOMETIMES, "of a class or cluster: the probability of each"),
    CR_OTHER(NUMBERS, "coordinates", CR_FIELD_SOMETIMES,
             "of coordinates, or with --coordinates: each by its name"),
    CR_NUMBER(
        "log_density", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
        "of a density, or with --log-joint: its logarithm at the row; null for a row left out"),
    CR_OTHER(NUMBERS, "log_joint", CR_FIELD_SOMETIMES,
             "with --log-joint: the logarithm of the joint density of the row and each class"),
    CR_TEXT("column", CR_FIELD_SOMETIMES, "without DATA: the column that it is about"),
    CR_TEXT("level", CR_FIELD_SOMETIMES, "without DATA, of categories: a level of the column"),
    CR_NUMBER("probability", CR_FIELD_SOMETIMES, "that the next row has it"),
    CR_OTHER(VALUES, "id", CR_FIELD_SOMETIMES, "columns of the data carried along, with --id"),
    CR_OTHER(ANY, "action", CR_FIELD_SOMETIMES,
             "with --loss: the action of least expected loss, a number or the name of a class or "
             "action; "
             "null for a row left out"),
    CR_NUMBER("expected_loss", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "with --loss: the expected loss of that action; null if infinite"),
    CR_OTHER(NUMBERS, "reconstruction", CR_FIELD_SOMETIMES,
             "with --reconstruct: the columns of the row that the coordinates lead back to"),
    CR_NUMBER(
        "reconstruction_distance", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
        "with --reconstruct: how far that row is from them in the space of the kernel; null for "
        "a row left out"),
    CR_OTHER(NUMBERS, "slopes", CR_FIELD_SOMETIMES,
             "with --slopes: the derivative of the mean by each column"),
    CR_OTHER(ANY, "draws", CR_FIELD_SOMETIMES,
             "with --draws: an array of draws, numbers or the names of classes"),
    CR_FIELD_LAST,
};

const cr_field result_predict[] = {
    CR_TEXT("model", 0, "name of the model"),
    CR_COUNT("rows", 0, "rows of the data"),
    CR_NUMBER("interval", 0, "mass of the central interval"),
    CR_COUNT("seed", 0, "random seed; of the draws with --draws"),
    CR_TEXT("distribution", CR_FIELD_SOMETIMES,
            "of numbers that are neither normal nor Student's: the name of their distribution"),
    CR_TEXT("loss", CR_FIELD_SOMETIMES, "with --loss: the loss, as it was given"),
    CR_INNER(ROWS, "predictions", 0, "one for each row, in order", prediction),
    CR_FIELD_LAST,
};

/* --- sample ---------------------------------------------------------------------------------- */

static const cr_field drawn[] = {
    CR_OTHER(VALUES, "values", 0, "each column by its name"),
    CR_FIELD_LAST,
};

const cr_field result_sample[] = {
    CR_TEXT("model", 0, "name of the model"),
    CR_COUNT("rows", 0, "rows that were drawn"),
    CR_COUNT("seed", 0, "random seed of the draws"),
    CR_INNER(ROWS, "sample", 0, "one for each row", drawn),
    CR_FIELD_LAST,
};

/* --- describe and check ---------------------------------------------------------------------- */

static const cr_field column[] = {
    CR_TEXT("name", 0, "name of the column"),
    CR_TEXT("type", 0, "real, integer, boolean or category"),
    CR_COUNT("missing", 0, "rows without a value"),
    CR_COUNT("levels", CR_FIELD_NULL, "different values of a category; null for numbers"),
    CR_NUMBER("min", CR_FIELD_NULL, "smallest value"),
    CR_NUMBER("mean", CR_FIELD_NULL, "mean of the values"),
    CR_NUMBER("sd", CR_FIELD_NULL, "their standard deviation"),
    CR_NUMBER("max", CR_FIELD_NULL, "largest value"),
    CR_TEXT("frequent", CR_FIELD_NULL, "most frequent level of a category"),
    CR_FIELD_LAST,
};

const cr_field result_describe[] = {
    CR_TEXT("file", 0, "the file, as it was named"),
    CR_TEXT("kind", 0, "data, model or network"),
    CR_COUNT("rows", CR_FIELD_SOMETIMES, "rows of the data; of a model: rows it learned from"),
    CR_COUNT("sparse_columns", CR_FIELD_SOMETIMES,
             "of sparse data: how many columns x1, x2, ... are so"),
    CR_NUMBER("density", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "of these: the part of the cells that is kept"),
    CR_INNER(ROWS, "columns", CR_FIELD_SOMETIMES,
             "of data: what each column holds, sparse ones taken as one", column),
    CR_INNER(OBJECT, "network", CR_FIELD_SOMETIMES,
             "of a network: its size, and the cost of exact answers", network_summary_fields),
    CR_INNER(ROWS, "variables", CR_FIELD_SOMETIMES, "of a network: each variable",
             network_variable_fields),
    CR_OTHER(ANY, "covariance", CR_FIELD_SOMETIMES,
             "with --covariance: {name, and each parameter: the covariance with it}"),
    CR_OTHER(ANY, "inducing", CR_FIELD_SOMETIMES,
             "with --inducing: {each column, q_mean, q_sd} of every inducing input or landmark"),
    CR_OTHER(ANY, "inducing_covariance", CR_FIELD_SOMETIMES,
             "of the function at these inputs: an array for each"),
    CR_FIELD_LAST,
};

const cr_field result_check[] = {
    CR_TEXT("file", 0, "the file, as it was named"),
    CR_TEXT("kind", 0, "data, model or network"),
    CR_FLAG("sound", 0, "true: it was read through without a fault"),
    CR_FIELD_LAST,
};
