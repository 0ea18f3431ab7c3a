/* model.h -- fit, update, predict, score, describe, save and load any model of the registry.
 * A model is made by cr_fit and never changes after that; it holds its class, the design, the
 * options it was fitted with, a report of the fit, and the posterior.  Settings are the options by
 * name and as text, those of the design (design.h) and those of the model alike:
 *
 *     cr_setting s[] = { { "target", "price" }, { "lambda", "0.5" } };
 *     cr_fit(cx, "ridge", table, s, 2, &model);                                                  */
#ifndef CREDENCE_MODELS_CORE_MODEL_H
#define CREDENCE_MODELS_CORE_MODEL_H

#include "base/field.h"
#include "base/option.h"
#include "data/bytes/read_options.h"
#include "data/design/design.h"
#include "data/table/table.h"

typedef struct cr_model       cr_model;
typedef struct cr_model_class cr_model_class;
typedef struct cr_dist_class  cr_dist_class; /* dist.h */
typedef struct cr_conformal   cr_conformal;  /* errors of held-out rows, of a model */

enum cr_task {
    CR_TASK_REGRESSION = 1 << 0,
    CR_TASK_CLASSIFICATION = 1 << 1,
    CR_TASK_DENSITY = 1 << 2,
    CR_TASK_CLUSTER = 1 << 3,
    CR_TASK_TRANSFORM = 1 << 4,
    CR_TASK_SEQUENCE = 1 << 5,
    CR_TASK_NETWORK = 1 << 6
};

/* --- the registry ---------------------------------------------------------------------------- */

/* The number of model classes. */
CR_API size_t cr_class_count(void);
/* The i-th in alphabetical order, i < cr_class_count(). */
CR_API const cr_model_class *cr_class_at(size_t i);
/* The class called name; NULL, with the nearest name in the failure, if there is none. */
CR_API const cr_model_class *cr_class_find(cr_ctx *cx, const char *name);
/* The name of a class: "ridge".  This text and those below are constants. */
CR_API const char *cr_class_name(const cr_model_class *c);
/* What it is, in one line. */
CR_API const char *cr_class_summary(const cr_model_class *c);
/* The model in formulas: a few lines of plain text. */
CR_API const char *cr_class_formulas(const cr_model_class *c);
/* The book or paper it follows. */
CR_API const char *cr_class_reference(const cr_model_class *c);
/* What it can be fitted for: a bit set of enum cr_task. */
CR_API unsigned cr_class_tasks(const cr_model_class *c);
/* Has an option of its own a meaning where it does this task? */
CR_API bool cr_class_option_serves(const cr_model_class *c, const char *option, unsigned task);
/* Its own options; those of the design are cr_design_table, those of every fit cr_fit_table. */
CR_API const cr_option *cr_class_options(const cr_model_class *c);
/* The arguments of a fit that works on the data in examples/: "examples/diabetes.csv --target
 * sex". */
CR_API const char *cr_class_example(const cr_model_class *c);
/* true when the class offers this:
 *   "update", "predict", "score", "next", "next-levels", "sample", "transform"
 *   "reconstruct" from coordinates back to rows
 *   "function"   it tells of a function without noise
 *   "distances"  a row belongs to the nearest cluster: distances, no probabilities
 *   "log-joint"  it has the density of a row together with its class
 *   "relearn"    an update is the same as a fit on all rows
 *   "passes"     a stream is gone through several times
 *   "filter", "smooth", "decode", "paths", "path-entropy", "forecast"   of rows in sequences (sequence.h)
 *   "hold"       an update keeps hyper-parameters as the fit learned them
 *   "decisions"  it decides by the signs of functions, and has probabilities once they are calibrated
 * or takes data of this kind:
 *   "missing"    with gaps in the features
 *   "negative"   with targets of either sign
 *   "numbers"    with numbers of either sign in columns that are not a target
 *   "fractions"  with such numbers that need not be whole
 *   "sequences"  in sequences, by --sequence and --time */
CR_API bool cr_class_offers(const cr_model_class *c, const char *verb);
/* "regression", "classification", ... of the lowest bit set. */
CR_API const char *cr_task_name(unsigned task);

/* --- options of every fit -------------------------------------------------------------------- */

#define CR_SEED_OPTIONS(X)                                                                         \
    X(count, seed, "0", "", "random seed; the same seed gives the same bits", "7")
#define CR_FIT_OPTIONS(X)                                                                          \
    CR_SEED_OPTIONS(X)                                                                             \
    X(choice, task, "auto", "auto|regression|classification",                                      \
      "whether a model that can do both predicts a number or classes; auto: classes if the "       \
      "target is text, boolean, or two whole numbers",                                             \
      "classification")                                                                            \
    X(list, class_weights, "", "",                                                                 \
      "weight of a row by its class: balanced, or CLASS=WEIGHT for some", "spam=5,ham=1")          \
    X(choice, calibrate, "none", "none|isotonic|platt|conformal",                                  \
      "calibrate the probabilities of classes (isotonic, platt) or the intervals of numbers "      \
      "(conformal) by how often they come true",                                                   \
      "platt")                                                                                     \
    X(count, calibrate_folds, "5", "2..1000", "folds whose predictions --calibrate learns from",   \
      "10")                                                                                        \
    X(choice, conformal, "cv", "cv|split|jackknife",                                               \
      "conformal intervals from all folds (CV+), from one fold set aside, or from leaving out "    \
      "every row in turn (jackknife+)",                                                            \
      "jackknife")                                                                                 \
    X(choice, conformal_scale, "auto", "auto|sd|none",                                             \
      "unit of the errors in conformal intervals: the predicted sd of the row, or none for the "   \
      "same width everywhere; auto: sd if the model has one",                                      \
      "none")

CR_OPTIONS_STRUCT(cr_fit_options, CR_FIT_OPTIONS);
/* The table of these options. */
extern CR_API const cr_option cr_fit_table[];

/* --- life ------------------------------------------------------------------------------------ */

/* Fits a model to a table.  Fails with CR_EARG for an unknown model or setting, CR_EDATA for data
 * that does not fit, CR_ENUMERIC, CR_ENOMEM, CR_EINTERRUPTED.  A fit that did not converge is a
 * result: the report says so. */
CR_API cr_status cr_fit(cr_ctx *cx, const char *name, const cr_table *table,
                        const cr_setting *settings, size_t n_settings, cr_model **out_model);
/* Only checks model name and settings, as cr_fit would before it looks at the data. */
CR_API cr_status cr_check_settings(cr_ctx *cx, const char *name, const cr_setting *settings,
                                   size_t n_settings);
/* A new model: the old posterior and the new rows together.  CR_EUNSUPPORTED where the model has no
 * exact update. */
CR_API cr_status cr_update(cr_ctx *cx, const cr_model *model, const cr_table *table,
                           cr_model **out_model);
/* Frees a model; NULL is allowed. */
CR_API void cr_model_free(cr_ctx *cx, cr_model *model);

/* Saves a model (.cred), wholly or not at all. */
CR_API cr_status cr_model_save(cr_ctx *cx, const cr_model *model, const char *path);
/* Loads one: every byte is checked, and no code is run. */
CR_API cr_status cr_model_load(cr_ctx *cx, const char *path, cr_model **out_model);
/* The same bytes in memory; freed with cr_free(cx, bytes, size, 1). */
CR_API cr_status cr_model_to_bytes(cr_ctx *cx, const cr_model *model, char **out_bytes,
                                   size_t *out_size);
/* A model from such bytes; source names them in messages. */
CR_API cr_status cr_model_from_bytes(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                                     cr_model **out_model);

/* --- answers --------------------------------------------------------------------------------- */

typedef enum cr_answer {
    CR_ANSWER_NUMBER,  /* the distribution of a number per row                           */
    CR_ANSWER_CLASS,   /* a probability for each class, or cluster, per row              */
    CR_ANSWER_DENSITY, /* the log density of the row itself                              */
    CR_ANSWER_VECTOR,  /* coordinates of the row                                         */
    CR_ANSWER_DISTANCE /* the distance to each cluster per row, which is in the nearest  */
} cr_answer;

typedef struct cr_prediction {
    cr_answer          kind;
    size_t             n;         /* rows of the table                                         */
    double            *mean;      /* [n]; NaN in rows that were left out for missing values    */
    double            *scale;     /* [n] of the predictive distribution, noise included        */
    double            *dof;       /* [n] Student t, or normal where dof is infinite            */
    double            *leverage;  /* [n] weight of the row in its own fit; NULL if not offered */
    size_t             n_classes; /* classes, clusters or coordinates                          */
    const char *const *classes;   /* [n_classes] their names, of the model                     */
    double            *prob;      /* [n x n_classes] probabilities                             */
    double            *vector;    /* [n x n_classes] coordinates, or distances                 */
    double
        *observations;   /* [n] how many the log density of a row is of, tokens of a document, for a
                           * perplexity; NULL: none are counted */
    double *log_density; /* [n] of the row itself; also beside the clusters or coordinates
                                     * of a model that has densities as well; else NULL        */
    /* A number's distribution that is not Student's: its class and parameters per row; mean and
     * scale are then its mean and sd, dof is infinite.  NULL otherwise. */
    const cr_dist_class *family;
    size_t               n_params;
    double              *params; /* [n x n_params] */
    /* Conformal intervals (--calibrate conformal), which the functions below then give: the scores of the model,
     * and what its n_folds fits without some rows say.  NULL otherwise. */
    const cr_conformal *conformal;
    size_t              n_folds;
    double             *fold_mean, *fold_scale; /* [n x n_folds] */
    /* Of a classifier that decides by the signs of functions: their values, and what each is called, which is NULL of
     * the only one.  While `ranks`, prob is no probability: the largest is the label, and shares order rows, no more. */
    size_t             n_decisions;
    const char *const *decisions; /* [n_decisions] of the model                                */
    double            *decision;  /* [n x n_decisions]                                         */
    bool               ranks;
    bool of_pairs; /* of classes (0, 1), (0, 2), .. (1, 2), .., above 0 for the latter */
    /* [n] 1 where the rows of the fit do not determine the answer, and intervals are endless: their columns depended
     * on each other, and here they do not; else 0.  NULL: they determine all. */
    double *undetermined;
} cr_prediction;

/* The predictive distribution of every row. */
CR_API cr_status cr_predict(cr_ctx *cx, const cr_model *model, const cr_table *table,
                            cr_prediction *out_prediction);
/* The means alone of a model that predicts numbers, to the last bit those of cr_predict and often
 * much cheaper: out_mean [rows of the table].  CR_EUNSUPPORTED for one that predicts classes. */
CR_API cr_status cr_predict_mean(cr_ctx *cx, const cr_model *model, const cr_table *table,
                                 double *out_mean);
/* Frees the arrays of a prediction. */
CR_API void cr_prediction_free(cr_ctx *cx, cr_prediction *prediction);
/* The sd and the central interval of mass `level` of one row of a CR_ANSWER_NUMBER; sd is infinite
 * for dof <= 2, NaN for a row without an answer.  CR_EARG for other kinds of answers. */
CR_API cr_status cr_prediction_interval(cr_ctx *cx, const cr_prediction *prediction, size_t row,
                                        double level, double *out_sd, double *out_lower,
                                        double *out_upper);
/* The same of all rows at once; arrays [n] that are NULL are left out.  Rows whose dof is that of
 * the row before share its quantile, the costly part.  To the last bit what cr_prediction_interval
 * gives. */
CR_API cr_status cr_prediction_intervals(cr_ctx *cx, const cr_prediction *prediction, double level,
                                         double *opt_sd, double *opt_lower, double *opt_upper);

/* The log predictive density of every row, out [rows of the table]: of its target given its
 * features, or of the row itself for a model of densities.  NaN in rows left out.  CR_EUNSUPPORTED
 * where the model has none. */
CR_API cr_status cr_score(cr_ctx *cx, const cr_model *model, const cr_table *table,
                          double *out_log_density);
/* Coordinates of every row in the space the model works in (Fisher's discriminants), for a model
 * that has such: out [rows of the table x labels], NaN in rows left out.  CR_EUNSUPPORTED where it
 * offers none. */
CR_API cr_status cr_transform(cr_ctx *cx, const cr_model *model, const cr_table *table,
                              double *out);
/* The names of these coordinates, owned by the model, and their number; NULL and 0 without any. */
CR_API const char *const *cr_transform_labels(const cr_model *model, size_t *out_n);
/* What the next row would be, for a model that describes columns rather than predicts one from
 * others: a CR_ANSWER_NUMBER whose rows are the columns of the design that hold numbers, in their
 * order.  CR_EUNSUPPORTED where the model offers none. */
CR_API cr_status cr_next(cr_ctx *cx, const cr_model *model, cr_prediction *out_prediction);

/* The probabilities of levels, column by column. */
typedef struct cr_levels {
    size_t  n;      /* columns                                                             */
    size_t *column; /* [n] its number in the design                                        */
    size_t *first;  /* [n + 1] its levels are first[j] .. first[j + 1] - 1                  */
    char  **level;  /* [first[n]] the texts of the levels, the one counted as success first */
    double *prob;   /* [first[n]] their probabilities, which sum to one in each column      */
} cr_levels;

/* What the next row would be in the columns whose levels the model knows: categories, and numbers
 * that it counts as such.  None (n = 0) where it describes numbers only; CR_EUNSUPPORTED where the
 * model offers none. */
CR_API cr_status cr_next_levels(cr_ctx *cx, const cr_model *model, cr_levels *out_levels);
/* Frees the arrays of levels. */
CR_API void cr_levels_free(cr_ctx *cx, cr_levels *levels);

/* Draws rows from a model of densities: out [count x columns of the design], a category as the code
 * of its level in the design.  The same seed gives the same draws.  CR_EUNSUPPORTED where the model
 * offers none. */
CR_API cr_status cr_sample(cr_ctx *cx, const cr_model *model, size_t count, uint64_t seed,
                           double *out);
/* Draws targets from the predictive distribution of every row: out [rows of the table x count], a
 * class as its index; NaN in rows left out.  Jointly over the rows where the model can (a Gaussian
 * process), else each row by itself. */
CR_API cr_status cr_sample_targets(cr_ctx *cx, const cr_model *model, const cr_table *table,
                                   size_t count, uint64_t seed, double *out);

/* The observed target of every row, as cr_predict would see it (NaN where missing or left out; a
 * class as its index), and its weight (1 without weights).  For assessment.  CR_EUNSUPPORTED when
 * the target of a model without one is asked for. */
CR_API cr_status cr_observed(cr_ctx *cx, const cr_model *model, const cr_table *table,
                             double *opt_target, double *opt_weight);

/* --- looks ----------------------------------------------------------------------------------- */

typedef enum cr_stop {
    CR_STOP_CLOSED_FORM, /* no iterations were needed                     */
    CR_STOP_TOLERANCE,   /* converged                                     */
    CR_STOP_LIMIT,       /* gave up at the iteration limit: not converged */
    CR_STOP_NO_PROGRESS, /* no step improves, yet the gradient is not small: not converged */
    CR_STOP_TIME         /* the time limit ended it: the best so far      */
} cr_stop;

/* How the log evidence is known. */
typedef enum cr_evidence_kind {
    CR_EVIDENCE_EXACT,
    CR_EVIDENCE_LAPLACE, /* Laplace's approximation       */
    CR_EVIDENCE_BOUND,   /* not above the log evidence    */
    CR_EVIDENCE_ESTIMATE /* from draws                    */
} cr_evidence_kind;

typedef struct cr_report {
    cr_stop          stop;
    size_t           iterations, rows; /* rows used                                         */
    double           log_evidence;     /* log marginal likelihood; NaN where there is none  */
    cr_evidence_kind evidence;         /* what that is                                      */
    double           log_likelihood;   /* at the estimate; NaN where there is none          */
    double           seconds;
} cr_report;

/* The class of a model. */
CR_API const cr_model_class *cr_model_get_class(const cr_model *model);
/* How it sees the columns of a table; owned by the model. */
CR_API const cr_design *cr_model_get_design(const cr_model *model);
/* Adds to initialised options what the model knows of reading its data: columns that were categories
 * are categories again, also where they look like numbers, and cells mean what they meant when it was
 * fitted (missing values); numbers are taken to be written as they were there, unless the new file shows
 * otherwise; a first line with the names of its columns is a header.  Lists are added to; other options
 * keep what was set. */
CR_API cr_status cr_model_read_options(cr_ctx *cx, const cr_model *model, cr_read_options *options);
/* How its fit, or its last update, went; owned by the model. */
CR_API const cr_report *cr_model_get_report(const cr_model *model);
/* The seed that it was fitted with. */
CR_API uint64_t cr_model_get_seed(const cr_model *model);
/* The one task of enum cr_task that this model was fitted for.  Of a class that has densities
 * beside clusters or coordinates it is the latter, and answers hold both. */
CR_API unsigned cr_model_get_task(const cr_model *model);
/* The names of the classes of its target, of its clusters or of its coordinates, and how many; NULL
 * and 0 for a model of numbers or densities alone. */
CR_API const char *const *cr_model_labels(const cr_model *model, size_t *out_n);
/* "exact", "Laplace approximation", "lower bound", "estimate". */
CR_API const char *cr_evidence_name(cr_evidence_kind kind);
/* "closed form", "converged", "iteration limit". */
CR_API const char *cr_stop_name(cr_stop stop);

/* What cr_describe gives of every model, and a row of its parameters; ends with CR_FIELD_LAST. */
extern CR_API const cr_field cr_description_table[];
extern CR_API const cr_field cr_parameter_table[];
/* What a class says of a fit beside that: its statistics, and tables that it alone has.  The name of a
 * statistic that there are several of ends in brackets, as rows(CLASS). */
CR_API const cr_field *cr_class_statistics(const cr_model_class *model_class);
CR_API const cr_field *cr_class_tables(const cr_model_class *model_class);
/* All there is to know about the model as a JSON text: model, task, options, design, report,
 * parameters with their uncertainty, statistics.  Freed with cr_free(cx, text, strlen(text) + 1,
 * 1). */
CR_API cr_status cr_describe(cr_ctx *cx, const cr_model *model, char **out_json);
/* The covariance of the parameters that cr_describe lists, in their order and units: *out [n x n],
 * NaN where a parameter has no standard error.  Freed with cr_free(cx, out, n, n * sizeof(double)).
 * CR_EUNSUPPORTED where the model has none. */
CR_API cr_status cr_covariance(cr_ctx *cx, const cr_model *model, double **out, size_t *out_n);

#endif
