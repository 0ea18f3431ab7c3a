/* results_about.c -- the fields of the JSON of the program about itself, and of plot. */
#include "results_fields.h"

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
        FLAG("update", marks, "whether new rows can be added by update"),                          \
        TEXT("summary", marks, "one line"), TEXT("formulas", marks, "the model in plain text"),    \
        TEXT("reference", marks, "book or paper"),                                                 \
        INNER(ROWS, "options", marks, "its own options", option)

static const cli_field about_model[] = { ABOUT_MODEL(0), FIELD_LAST };

static const cli_field kernel_parameter[] = {
    TEXT("name", 0, "name of the parameter"),
    TEXT("alias", 0, "another name, or empty"),
    TEXT("default", 0, "value when it is not given"),
    TEXT("range", 0, "what it may be, or empty"),
    FLAG("learned", 0, "whether a fit may change it"),
    TEXT("help", 0, "what it does"),
    FIELD_LAST,
};

static const cli_field about_kernel[] = {
    TEXT("name", 0, "name of the kernel"),
    TEXT("aliases", 0, "other names, with blanks between"),
    TEXT("acts_on", 0, "numbers, categories, texts or nothing"),
    TEXT("summary", 0, "one line"),
    TEXT("formula", 0, "the kernel in plain text"),
    TEXT("example", 0, "an expression"),
    TEXT("reference", 0, "book or paper"),
    INNER(ROWS, "parameters", 0, "its parameters", kernel_parameter),
    FIELD_LAST,
};

const cli_field result_models[] = {
    INNER(ROWS, "models", FIELD_SOMETIMES, "without NAME: all models", about_model),
    INNER(ROWS, "kernels", FIELD_SOMETIMES, "of kernels: all, or the one named", about_kernel),
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

/* --- plot ------------------------------------------------------------------------------------ */

static const cli_field plot_series[] = {
    TEXT("name", 0, "what the legend calls it"),
    TEXT("form", 0, "points, line, band or bars"),
    OTHER(PLACES, "x", 0, "along the first axis: numbers, or the levels of a category"),
    OTHER(ARRAY, "y", FIELD_SOMETIMES, "of points and lines: along the other"),
    OTHER(ARRAY, "lower", FIELD_SOMETIMES, "of bands and bars: their lower ends"),
    OTHER(ARRAY, "upper", FIELD_SOMETIMES, "of bands and bars: their upper ends"),
    FIELD_LAST,
};

static const cli_field plot_part[] = {
    TEXT("title", 0, "the kernel of the part"),
    TEXT("x_title", 0, "the column it looks at"),
    TEXT("y_title", 0, "the target"),
    INNER(ROWS, "series", 0, "posterior mean and interval", plot_series),
    FIELD_LAST,
};

static const cli_field plot_map[] = {
    TEXT("name", 0, "what is mapped"),
    OTHER(MATRIX, "z", 0, "one list for each y, of the values along x"),
    FIELD_LAST,
};

static const cli_field plot_points[] = {
    OTHER(ARRAY, "x", 0, "of the rows, along the first axis"),
    OTHER(ARRAY, "y", 0, "along the other"),
    FIELD_LAST,
};

static const cli_field plot_mark[] = {
    TEXT("name", 0, "what is marked"),
    NUMBER("x", 0, "where, along the first axis"),
    NUMBER("y", 0, "along the other"),
    FIELD_LAST,
};

const cli_field result_plot[] = {
    TEXT("model", 0, "name of the model"),
    TEXT("kind", 0, "what is drawn"),
    TEXT("title", 0, "of the figure"),
    TEXT("x_title", FIELD_SOMETIMES, "of the first axis"),
    TEXT("y_title", FIELD_SOMETIMES, "of the other"),
    INNER(ROWS, "series", FIELD_SOMETIMES, "what stands in the legend, with its points",
          plot_series),
    NUMBER("constant", FIELD_SOMETIMES, "of components: the constant of the mean function"),
    INNER(ROWS, "parts", FIELD_SOMETIMES, "of components: the figure of each part", plot_part),
    OTHER(ARRAY, "x", FIELD_SOMETIMES,
          "of map and evidence: the middles of the cells along the first axis"),
    OTHER(ARRAY, "y", FIELD_SOMETIMES,
          "of map and evidence: the middles of the cells along the other"),
    INNER(ROWS, "maps", FIELD_SOMETIMES, "of map and evidence: the values at the cells", plot_map),
    INNER(OBJECT, "points", FIELD_SOMETIMES, "of map: the rows of the data", plot_points),
    INNER(OBJECT, "mark", FIELD_SOMETIMES, "of evidence: the learned values", plot_mark),
    FIELD_LAST,
};

const cli_field result_version[] = {
    TEXT("version", 0, "version of credence"),
    TEXT("compiler", 0, "the compiler it was built with"),
    COUNT("threads", 0, "threads in use"),
    INNER(OBJECT, "blas", 0, "library of matrix kernels", blas),
    FIELD_LAST,
};
