/* results_study.c -- the fields of the JSON of the verbs that judge models: evaluate, cv, compare,
 * tune. */
#include "models/model.h"
#include "results.h"

/* --- evaluate and cv ------------------------------------------------------------------------- */

static const cr_field calibration_bin[] = {
    CR_COUNT("count", 0, "predictions whose confidence falls into the bin"),
    CR_NUMBER("confidence", 0, "their mean confidence"),
    CR_NUMBER("accuracy", 0, "the share of them that is right"),
    CR_FIELD_LAST,
};

const cr_field result_evaluate[] = {
    CR_TEXT("model", 0, "name of the model"),
    CR_COUNT("rows", 0, "rows that were scored"),
    CR_NUMBER("interval", 0, "mass of the intervals whose coverage is counted"),
    CR_COUNT("seed", 0, "random seed"),
    CR_OTHER(NUMBERS, "metrics", 0, "each score by name; null where it has no value"),
    CR_NUMBER("quantile", CR_FIELD_SOMETIMES,
              "of quantile regression: what is predicted, and what rmse, mae and r2 are errors of"),
    CR_OTHER(NUMBERS, "se", CR_FIELD_SOMETIMES, "of densities: the standard error of the score"),
    CR_OTHER(ARRAY, "log_density", CR_FIELD_SOMETIMES,
             "with --rows: the log density of each row, in order; null for one that is not scored"),
    CR_INNER(ROWS, "calibration", CR_FIELD_SOMETIMES, "of classes: bins of confidence",
             calibration_bin),
    CR_FIELD_LAST,
};

static const cr_field fold[] = {
    CR_COUNT("rows", 0, "rows of the fold"),
    CR_COUNT("repeat", CR_FIELD_SOMETIMES, "which repeat it belongs to, where there are several"),
    CR_FIELD_LAST,
};

static const cr_field bootstrap_error[] = {
    CR_COUNT("samples", 0, "bootstrap samples"),
    CR_TEXT("loss", 0, "squared error of numbers, error rate of classes"),
    CR_NUMBER("apparent", CR_FIELD_NULL, "loss on the training rows themselves"),
    CR_NUMBER("leave_one_out", CR_FIELD_NULL, "loss of models on rows they have not seen"),
    CR_NUMBER("leave_one_out_se", CR_FIELD_NULL, "its standard error over the rows"),
    CR_NUMBER("err_632", CR_FIELD_NULL, "the .632 error"),
    CR_NUMBER("err_632_plus", CR_FIELD_NULL, "the .632+ error"),
    CR_NUMBER("no_information", CR_FIELD_NULL,
              "loss if predictions had nothing to do with targets"),
    CR_NUMBER("overfitting", CR_FIELD_NULL, "relative overfitting rate, from 0 to 1"),
    CR_NUMBER("bias", CR_FIELD_SOMETIMES,
              "with --bias-variance: loss of the main prediction, noise included"),
    CR_NUMBER("variance", CR_FIELD_SOMETIMES,
              "with --bias-variance: what the spread of models adds"),
    CR_NUMBER("unbiased_variance", CR_FIELD_SOMETIMES,
              "of classes: what the spread costs where the main prediction is right"),
    CR_NUMBER("biased_variance", CR_FIELD_SOMETIMES,
              "of classes: what the spread gains where the main prediction is wrong"),
    CR_FIELD_LAST,
};

static const cr_field resampled_parameter[] = {
    CR_TEXT("name", 0, "the term; intercept for the intercept"),
    CR_NUMBER("value", CR_FIELD_NULL, "by the fit on all rows"),
    CR_NUMBER("bias", CR_FIELD_NULL, "what the samples are above it, or the jackknife's estimate"),
    CR_NUMBER("se", CR_FIELD_NULL, "standard error"),
    CR_NUMBER("lower", CR_FIELD_NULL, "lower end of the interval"),
    CR_NUMBER("upper", CR_FIELD_NULL, "upper end of it"),
    CR_COUNT("draws", 0, "fits that had this parameter"),
    CR_FIELD_LAST,
};

static const cr_field resampling[] = {
    CR_TEXT("method", 0, "percentile, bca or jackknife"),
    CR_COUNT("samples", 0, "fits that were made"),
    CR_COUNT("failed", 0, "samples that no fit was possible on"),
    CR_NUMBER("level", 0, "mass of the intervals"),
    CR_INNER(ROWS, "parameters", 0, "what was learned, and how far it varies", resampled_parameter),
    CR_FIELD_LAST,
};

static const cr_field curve_point[] = {
    CR_NUMBER("share", 0, "of the training rows"),
    CR_COUNT("rows", 0, "rows learned from, in the first fold"),
    CR_OTHER(NUMBERS, "metrics", 0, "the mean of each score over the folds"),
    CR_OTHER(NUMBERS, "se", 0, "standard errors of these means"),
    CR_OTHER(NUMBERS, "train", 0, "the same scores on the rows learned from"),
    CR_OTHER(NUMBERS, "train_se", 0, "standard errors of these"),
    CR_FIELD_LAST,
};

const cr_field result_cv[] = {
    CR_TEXT("model", 0, "the model, as it was named"),
    CR_COUNT("rows", 0, "rows that were scored, over all folds"),
    CR_OTHER(NUMBERS, "metrics", CR_FIELD_SOMETIMES, "of folds: the mean of each score over them"),
    CR_OTHER(NUMBERS, "se", CR_FIELD_SOMETIMES, "of folds: standard errors of these means"),
    CR_NUMBER("quantile", CR_FIELD_SOMETIMES,
              "of quantile regression: what is predicted, and what rmse, mae and r2 are errors of"),
    CR_INNER(SCORES, "folds", CR_FIELD_SOMETIMES, "of folds: each score in each fold", fold),
    CR_INNER(OBJECT, "bootstrap", CR_FIELD_SOMETIMES,
             "with --bootstrap or --bias-variance: the errors", bootstrap_error),
    CR_INNER(OBJECT, "resampling", CR_FIELD_SOMETIMES,
             "with --parameters or --jackknife: standard errors and intervals", resampling),
    CR_INNER(ROWS, "learning_curve", CR_FIELD_SOMETIMES, "with --learning-curve: its points",
             curve_point),
    CR_COUNT("seed", 0, "random seed of the split and the fits"),
    CR_FIELD_LAST,
};

/* --- compare --------------------------------------------------------------------------------- */

static const cr_field compared_group[] = {
    CR_TEXT("group", 0, "the value of the column that makes the groups"),
    CR_COUNT("rows", 0, "rows of the group"),
    CR_NUMBER("log_evidence", 0, "of the model of these rows alone"),
    CR_INNER(ROWS, "parameters", 0, "what was learned from them, with its uncertainty",
             cr_parameter_table),
    CR_FIELD_LAST,
};

static const cr_field difference[] = {
    CR_TEXT("name", 0, "the parameter"),
    CR_TEXT("greater", 0, "the group in which it is the greater"),
    CR_TEXT("than", 0, "the other group"),
    CR_NUMBER("probability", 0, "posterior probability of that, by quadrature"),
    CR_FIELD_LAST,
};

#define SCORED                                                                                     \
    CR_OTHER(NUMBERS, "metrics", 0, "the mean of each score over the folds"),                      \
        CR_OTHER(NUMBERS, "se", 0, "standard errors of these means")

#define PAIRED                                                                                     \
    CR_OTHER(NUMBERS, "difference", 0,                                                             \
             "of each mean from that of the best model; 0 for the best"),                          \
        CR_OTHER(NUMBERS, "difference_se", 0,                                                      \
                 "standard errors of these, for overlapping training rows"),                       \
        CR_OTHER(NUMBERS, "t", 0, "difference / se"),                                              \
        CR_OTHER(NUMBERS, "p", 0, "probability of a larger |t| by chance"),                        \
        CR_INNER(SCORES, "folds", 0, "each score in each fold", fold)

static const cr_field compared_model[] = {
    CR_TEXT("model", 0, "the model, as it was named"),
    SCORED,
    PAIRED,
    CR_NUMBER("log_likelihood", CR_FIELD_NULL, "of the fit to all rows; null where there is none"),
    CR_TEXT("likelihood", 0,
            "conditional: of the target given the columns; joint: of target and columns"),
    CR_NUMBER("log_evidence", CR_FIELD_NULL, "of the fit to all rows; null where there is none"),
    CR_TEXT("evidence", CR_FIELD_NULL, "exact, Laplace approximation, lower bound or estimate"),
    CR_NUMBER("aic", CR_FIELD_NULL, "Akaike's criterion of that fit"),
    CR_NUMBER("bic", CR_FIELD_NULL, "Schwarz's criterion of that fit"),
    CR_NUMBER("probability", CR_FIELD_NULL,
              "posterior probability of the model, of equal prior ones"),
    CR_FIELD_LAST,
};

static const cr_field averaged_model[] = {
    CR_TEXT("model", 0, "average"),
    SCORED,
    PAIRED,
    CR_FIELD_LAST,
};

const cr_field result_compare[] = {
    CR_COUNT("rows", 0, "rows learned from, or scored over all folds"),
    CR_COUNT("seed", 0, "random seed of the split and the fits"),
    CR_INNER(ROWS, "models", CR_FIELD_SOMETIMES, "of models: each, in order", compared_model),
    CR_OTHER(WORDS, "best", CR_FIELD_SOMETIMES, "of models: the best by each score"),
    CR_TEXT("weights", CR_FIELD_SOMETIMES,
            "of models: what their probabilities go by: evidence, bic, or none"),
    CR_INNER(OBJECT, "average", CR_FIELD_SOMETIMES,
             "with --average: the Bayesian average of the models", averaged_model),
    CR_TEXT("model", CR_FIELD_SOMETIMES, "of groups, here and below: name of the model"),
    CR_TEXT("by", CR_FIELD_SOMETIMES, "column that makes the groups"),
    CR_NUMBER("pooled_log_evidence", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "of one model for all rows"),
    CR_NUMBER("separate_log_evidence", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "of a model for each group, summed"),
    CR_NUMBER("log_bayes_factor", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "separate less pooled: above 0 speaks for a difference"),
    CR_NUMBER("prior_odds", CR_FIELD_SOMETIMES, "odds that the groups differ, before the data"),
    CR_NUMBER("probability", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "posterior probability that the groups differ"),
    CR_TEXT("evidence", CR_FIELD_SOMETIMES,
            "exact, Laplace approximation, lower bound or estimate"),
    CR_INNER(ROWS, "groups", CR_FIELD_SOMETIMES, "each group, in order", compared_group),
    CR_INNER(ROWS, "differences", CR_FIELD_SOMETIMES,
             "with two groups: each parameter whose posterior has a name; else empty", difference),
    CR_FIELD_LAST,
};

/* --- tune ------------------------------------------------------------------------------------ */

static const cr_field candidate[] = {
    CR_OTHER(WORDS, "settings", 0, "what was tried"),
    SCORED,
    CR_INNER(SCORES, "folds", 0, "each score in each fold", fold),
    CR_FLAG("within", 0, "whether its score is within one standard error of the best"),
    CR_NUMBER("apparent", CR_FIELD_NULL, "with --rule 1se: its score on the rows it learned from"),
    CR_FIELD_LAST,
};

const cr_field result_tune[] = {
    CR_TEXT("model", 0, "the model, as it was named"),
    CR_COUNT("rows", 0, "rows that were scored, over all folds"),
    CR_COUNT("seed", 0, "random seed of split, search and fits"),
    CR_TEXT("metric", 0, "the score that was chosen by"),
    CR_TEXT("search", 0, "grid or random"),
    CR_TEXT("rule", 0, "best or 1se"),
    CR_COUNT("folds", 0, "number of folds"),
    CR_COUNT("repeats", 0, "how often the folds were made"),
    CR_INNER(OBJECT, "chosen", 0, "the winner", candidate),
    CR_INNER(OBJECT, "best", 0, "the best mean score", candidate),
    CR_INNER(ROWS, "candidates", 0, "all that were tried, in order", candidate),
    CR_TEXT("output", CR_FIELD_SOMETIMES, "file the fitted winner was saved to, with --output"),
    CR_FIELD_LAST,
};
