/* design.h -- from raw columns to the numbers a model sees.
 * A design is fitted on the training table and stored in the model: which columns, the levels of
 * categories and their one-hot coding against a reference level, bases of numbers, standardisation,
 * and what to do with missing values.  Applied to another table it finds the columns by name, in
 * any order, and names the one that does not fit.
 *
 * Weights count in all that is learned here: the mean and the most frequent level that fill gaps,
 * the most frequent level as reference, and the standardisation.  So a row of weight 2 is the same
 * as two rows, and a row of weight 0 the same as none.
 *
 * --features is a list of names (base/option.h): one with a comma is written in double quotes,
 * '"k,1",x' or '!"k,1"' to leave it out.
 *
 * --basis is such a list too, of bases for all columns of numbers (BASIS) or some (COLUMN=BASIS):
 * what they are is said in basis.h.  Functions that sum to one go without the first, as levels do,
 * unless the reference is none.
 *
 * --transform-target log|sqrt|logit|boxcox[:LAMBDA] lets the model see a function of the target
 * (math/transform.h).  Likelihood, evidence and scores are of the target as it is; predictions too.
 *
 * --terms says instead which functions and interactions of the features the model sees: terms.h has
 * the grammar.  What they need is made of the columns of each table that the design opens.
 *
 * A model of sequences sees which rows belong together and in which order: --sequence names a column
 * of labels (texts or whole numbers), without which all rows are one sequence; --time one of numbers,
 * without which the order is that of the file.  The two columns are no features, and other tables
 * must have them too.  Rows of one sequence need not stand together, and one row is enough.
 *
 * A term is one column of the matrix X [n x p]:  x,  x^2,  x[bspline 3],  color=red,  log(x):color=red. */
#ifndef CREDENCE_DATA_DESIGN_DESIGN_H
#define CREDENCE_DATA_DESIGN_DESIGN_H

#include "base/option.h"
#include "data/table/table.h"

/* clang-format off */
#define CR_DESIGN_OPTIONS(X)                                                                         \
    X(text,   target,       "",      "COLUMN", "column to predict", "price")                         \
    X(list,   features,     "",      "COLUMN", "columns to use: names, wildcards, or !name to leave one out", \
      "'x*,!id'")                                                                                    \
    X(text,   weights,      "",      "COLUMN", "column of row weights: a row of weight 2 counts twice", "w") \
    X(text,   sequence,     "",      "COLUMN",                                                       \
      "column that identifies the sequence of each row, for a model of sequences", "patient")           \
    X(text,   time,         "",      "COLUMN",                                                       \
      "column of numbers that orders the rows of a sequence; default: the order of the file", "day")   \
    X(choice, missing,      "auto",  "auto|error|drop|impute",                                       \
      "what to do with missing values: refuse them, drop the rows, or impute the mean or the most frequent level; auto: refuse, unless the model can handle them", "drop")                                    \
    X(choice, scale,        "auto",  "auto|standard|none",                                           \
      "standardise the features to mean 0 and population sd 1; auto: the default of the model",      \
      "standard")                                                                                    \
    X(choice, scale_target, "auto",  "auto|standard|none", "standardise the target in the same way", "none") \
    X(text,   basis,        "",      "",                                                             \
      "basis expansion of numeric columns: poly:K, bspline:K[:DEGREE], natural:K, rbf:K[:WIDTH], piecewise:K, hinge:K, fourier:K:PERIOD or none; for single columns COLUMN=BASIS, separated by commas",           \
      "'age=bspline:6,bmi=poly:2'")                                                                  \
    X(text,   terms,        "",      "",                                                             \
      "terms made from the features: columns, interactions a:b and a*b, functions such as log(x), x^2, poly(z,2), month(day); . is every feature, -x removes x", "'age*kind,log(income)'")                   \
    X(text,   reference,    "first", "",                                                             \
      "reference level of a category, which gets no column: the first, the most frequent (frequent), or none; for single columns COLUMN=LEVEL, separated by commas", "frequent")  \
    X(text,   transform_target, "",  "",                                                             \
      "model a function of the target, and predict on the original scale: log, sqrt, logit, boxcox:LAMBDA, boxcox (lambda is learned) or none", "log")
/* clang-format on */

/* AUTO is the user's word only: a design holds one of the others.  KEEP is a model's own: it sees
 * NaN. */
typedef enum cr_missing {
    CR_MISSING_AUTO,
    CR_MISSING_ERROR,
    CR_MISSING_DROP,
    CR_MISSING_IMPUTE,
    CR_MISSING_KEEP
} cr_missing;
typedef enum cr_scale { CR_SCALE_AUTO, CR_SCALE_STANDARD, CR_SCALE_NONE } cr_scale;

CR_OPTIONS_STRUCT(cr_design_options, CR_DESIGN_OPTIONS);
/* The table of these options. */
extern CR_API const cr_option cr_design_table[];

typedef struct cr_design cr_design;

/* The number of terms, p.  All that these functions give is owned by the design. */
CR_API size_t cr_design_terms(const cr_design *design);
/* The name of term number `term` < p. */
CR_API const char *cr_design_term_name(const cr_design *design, size_t term);
/* The shift [p] of the standardisation: a model sees (x - shift) / scale. */
CR_API const double *cr_design_shift(const cr_design *design);
/* The scale [p] of the standardisation. */
CR_API const double *cr_design_scale(const cr_design *design);
/* The number of columns that it reads. */
CR_API size_t cr_design_columns(const cr_design *design);
/* The name of column number `column`. */
CR_API const char *cr_design_column_name(const cr_design *design, size_t column);
/* The type of column number `column`. */
CR_API cr_type cr_design_column_type(const cr_design *design, size_t column);
/* Of a column of dates or times, the first that was seen, in its unit: the model counts days from
 * there.  0 for others. */
CR_API double cr_design_column_origin(const cr_design *design, size_t column);
/* The format that its dates were written in; NULL for ISO 8601, and for others. */
CR_API const char *cr_design_column_format(const cr_design *design, size_t column);
/* The number of levels of a column that is a category; 0 for numbers. */
CR_API size_t cr_design_levels(const cr_design *design, size_t column);
/* The k-th of these levels, which are sorted by bytes. */
CR_API const char *cr_design_level(const cr_design *design, size_t column, size_t k);
/* The name of the target; NULL where there is none. */
CR_API const char *cr_design_target(const cr_design *design);
/* The name of the column of weights; NULL where there is none. */
CR_API const char *cr_design_weights(const cr_design *design);
/* The column that orders the rows of sequences; NULL where there is none. */
CR_API const char *cr_design_time(const cr_design *design);
/* The number of classes of a target that is a category; 0 for numbers. */
CR_API size_t cr_design_classes(const cr_design *design);
/* The i-th of these classes, which are sorted by bytes. */
CR_API const char *cr_design_class(const cr_design *design, size_t i);

#endif
