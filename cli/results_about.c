/* results_about.c -- the fields of the JSON of the program about itself, and of plot. */
#include "results.h"

/* --- the program about itself ---------------------------------------------------------------- */

static const cr_field option[] = {
    CR_TEXT("name", 0, "its name; the shell writes - for _"),
    CR_TEXT("kind", 0, "flag, count, real, choice, text or list"),
    CR_TEXT("default", 0, "value when it is not given; empty for none"),
    CR_TEXT("range", 0, "bounds, choices between bars, or what a text names; empty for any"),
    CR_TEXT("help", 0, "one line"),
    CR_TEXT("example", 0, "a value"),
    CR_FIELD_LAST,
};

#define ABOUT_MODEL(marks)                                                                         \
    CR_TEXT("name", marks, "name of the model"),                                                   \
        CR_TEXT("task", marks, "regression, classification and so on"),                            \
        CR_FLAG("update", marks, "whether new rows can be added by update"),                       \
        CR_TEXT("summary", marks, "one line"),                                                     \
        CR_TEXT("formulas", marks, "the model in plain text"),                                     \
        CR_TEXT("reference", marks, "book or paper"),                                              \
        CR_INNER(ROWS, "options", marks, "its own options", option)

static const cr_field about_model[] = { ABOUT_MODEL(0), CR_FIELD_LAST };

static const cr_field kernel_parameter[] = {
    CR_TEXT("name", 0, "name of the parameter"),
    CR_TEXT("alias", 0, "another name, or empty"),
    CR_TEXT("default", 0, "value when it is not given"),
    CR_TEXT("range", 0, "what it may be, or empty"),
    CR_FLAG("learned", 0, "whether a fit may change it"),
    CR_TEXT("help", 0, "what it does"),
    CR_FIELD_LAST,
};

static const cr_field about_kernel[] = {
    CR_TEXT("name", 0, "name of the kernel"),
    CR_TEXT("aliases", 0, "other names, with blanks between"),
    CR_TEXT("acts_on", 0, "numbers, categories, texts or nothing"),
    CR_TEXT("summary", 0, "one line"),
    CR_TEXT("formula", 0, "the kernel in plain text"),
    CR_TEXT("example", 0, "an expression"),
    CR_TEXT("reference", 0, "book or paper"),
    CR_INNER(ROWS, "parameters", 0, "its parameters", kernel_parameter),
    CR_FIELD_LAST,
};

const cr_field result_models[] = {
    CR_INNER(ROWS, "models", CR_FIELD_SOMETIMES, "without NAME: all models", about_model),
    CR_INNER(ROWS, "kernels", CR_FIELD_SOMETIMES, "of kernels: all, or the one named",
             about_kernel),
    ABOUT_MODEL(CR_FIELD_SOMETIMES),
    CR_FIELD_LAST,
};

#define ABOUT_VERB(marks)                                                                          \
    CR_TEXT("name", marks, "name of the verb"), CR_TEXT("usage", marks, "how it is called"),       \
        CR_TEXT("summary", marks, "one line"),                                                     \
        CR_TEXT("example", marks, "commands, one per line"),                                       \
        CR_INNER(ROWS, "options", marks, "all that it takes", option)

static const cr_field about_verb[] = { ABOUT_VERB(0), CR_FIELD_LAST };

const cr_field result_help[] = {
    CR_INNER(ROWS, "verbs", CR_FIELD_SOMETIMES, "without VERB: all verbs", about_verb),
    ABOUT_VERB(CR_FIELD_SOMETIMES),
    CR_FIELD_LAST,
};

static const cr_field blas[] = {
    CR_TEXT("library", 0, "name and version"),
    CR_TEXT("kernel", 0, "the processor it is tuned for"),
    CR_FLAG("slow", 0, "whether the kernel is older than the processor"),
    CR_TEXT("better", 0, "the kernel to choose instead, if slow"),
    CR_FIELD_LAST,
};

/* --- plot ------------------------------------------------------------------------------------ */

static const cr_field plot_series[] = {
    CR_TEXT("name", 0, "what the legend calls it"),
    CR_TEXT("form", 0, "points, line, band or bars"),
    CR_OTHER(PLACES, "x", 0, "along the first axis: numbers, or the levels of a category"),
    CR_OTHER(ARRAY, "y", CR_FIELD_SOMETIMES, "of points and lines: along the other"),
    CR_OTHER(ARRAY, "lower", CR_FIELD_SOMETIMES, "of bands and bars: their lower ends"),
    CR_OTHER(ARRAY, "upper", CR_FIELD_SOMETIMES, "of bands and bars: their upper ends"),
    CR_FIELD_LAST,
};

static const cr_field plot_part[] = {
    CR_TEXT("title", 0, "the kernel of the part"),
    CR_TEXT("x_title", 0, "the column it looks at"),
    CR_TEXT("y_title", 0, "the target"),
    CR_INNER(ROWS, "series", 0, "posterior mean and interval", plot_series),
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

static const cr_field plot_mark[] = {
    CR_TEXT("name", 0, "what is marked"),
    CR_NUMBER("x", 0, "where, along the first axis"),
    CR_NUMBER("y", 0, "along the other"),
    CR_FIELD_LAST,
};

const cr_field result_plot[] = {
    CR_TEXT("model", 0, "name of the model"),
    CR_TEXT("kind", 0, "what is drawn"),
    CR_TEXT("title", 0, "of the figure"),
    CR_TEXT("x_title", CR_FIELD_SOMETIMES, "of the first axis"),
    CR_TEXT("y_title", CR_FIELD_SOMETIMES, "of the other"),
    CR_INNER(ROWS, "series", CR_FIELD_SOMETIMES, "what stands in the legend, with its points",
             plot_series),
    CR_NUMBER("constant", CR_FIELD_SOMETIMES, "of components: the constant of the mean function"),
    CR_INNER(ROWS, "parts", CR_FIELD_SOMETIMES, "of components: the figure of each part",
             plot_part),
    CR_OTHER(ARRAY, "x", CR_FIELD_SOMETIMES,
             "of map and evidence: the middles of the cells along the first axis"),
    CR_OTHER(ARRAY, "y", CR_FIELD_SOMETIMES,
             "of map and evidence: the middles of the cells along the other"),
    CR_INNER(ROWS, "maps", CR_FIELD_SOMETIMES, "of map and evidence: the values at the cells",
             plot_map),
    CR_INNER(OBJECT, "points", CR_FIELD_SOMETIMES, "of map: the rows of the data", plot_points),
    CR_INNER(OBJECT, "mark", CR_FIELD_SOMETIMES, "of evidence: the learned values", plot_mark),
    CR_FIELD_LAST,
};

const cr_field result_version[] = {
    CR_TEXT("version", 0, "version of credence"),
    CR_TEXT("compiler", 0, "the compiler it was built with"),
    CR_COUNT("threads", 0, "threads in use"),
    CR_INNER(OBJECT, "blas", 0, "library of matrix kernels", blas),
    CR_FIELD_LAST,
};
