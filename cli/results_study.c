/* results_study.c -- the fields of the JSON of the verbs that judge models: evaluate, cv, compare,
 * tune. */
#include "results_fields.h"

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
    NUMBER("quantile", FIELD_SOMETIMES,
           "of quantile regression: what is predicted, and what rmse, mae and r2 are errors of"),
    OTHER(NUMBERS, "se", FIELD_SOMETIMES, "of densities: the standard error of the score"),
    OTHER(ARRAY, "log_density", FIELD_SOMETIMES,
          "with --rows: the log density of each row, in order; null for one that is not scored"),
    INNER(ROWS, "calibration", FIELD_SOMETIMES, "of classes: bins of confidence", calibration_bin),
    FIELD_LAST,
};

static const cli_field fold[] = {
    COUNT("rows", 0, "rows of the fold"),
    COUNT("repeat", FIELD_SOMETIMES, "which repeat it belongs to, where there are several"),
    FIELD_LAST,
};

static const cli_field bootstrap_error[] = {
    COUNT("samples", 0, "bootstrap samples"),
    TEXT("loss", 0, "squared error of numbers, error rate of classes"),
    NUMBER("apparent", FIELD_NULL, "loss on the training rows themselves"),
    NUMBER("leave_one_out", FIELD_NULL, "loss of models on rows they have not seen"),
    NUMBER("leave_one_out_se", FIELD_NULL, "its standard error over the rows"),
    NUMBER("err_632", FIELD_NULL, "the .632 error"),
    NUMBER("err_632_plus", FIELD_NULL, "the .632+ error"),
    NUMBER("no_information", FIELD_NULL, "loss if predictions had nothing to do with targets"),
    NUMBER("overfitting", FIELD_NULL, "relative overfitting rate, from 0 to 1"),
    NUMBER("bias", FIELD_SOMETIMES,
           "with --bias-variance: loss of the main prediction, noise included"),
    NUMBER("variance", FIELD_SOMETIMES, "with --bias-variance: what the spread of models adds"),
    NUMBER("unbiased_variance", FIELD_SOMETIMES,
           "of classes: what the spread costs where the main prediction is right"),
    NUMBER("biased_variance", FIELD_SOMETIMES,
           "of classes: what the spread gains where the main prediction is wrong"),
    FIELD_LAST,
};

static const cli_field resampled_parameter[] = {
    TEXT("name", 0, "the term; intercept for the intercept"),
    NUMBER("value", FIELD_NULL, "by the fit on all rows"),
    NUMBER("bias", FIELD_NULL, "what the samples are above it, or the jackknife's estimate"),
    NUMBER("se", FIELD_NULL, "standard error"),
    NUMBER("lower", FIELD_NULL, "lower end of the interval"),
    NUMBER("upper", FIELD_NULL, "upper end of it"),
    COUNT("draws", 0, "fits that had this parameter"),
    FIELD_LAST,
};

static const cli_field resampling[] = {
    TEXT("method", 0, "percentile, bca or jackknife"),
    COUNT("samples", 0, "fits that were made"),
    COUNT("failed", 0, "samples that no fit was possible on"),
    NUMBER("level", 0, "mass of the intervals"),
    INNER(ROWS, "parameters", 0, "what was learned, and how far it varies", resampled_parameter),
    FIELD_LAST,
};

static const cli_field curve_point[] = {
    NUMBER("share", 0, "of the training rows"),
    COUNT("rows", 0, "rows learned from, in the first fold"),
    OTHER(NUMBERS, "metrics", 0, "the mean of each score over the folds"),
    OTHER(NUMBERS, "se", 0, "standard errors of these means"),
    OTHER(NUMBERS, "train", 0, "the same scores on the rows learned from"),
    OTHER(NUMBERS, "train_se", 0, "standard errors of these"),
    FIELD_LAST,
};

const cli_field result_cv[] = {
    TEXT("model", 0, "the model, as it was named"),
    COUNT("rows", 0, "rows that were scored, over all folds"),
    OTHER(NUMBERS, "metrics", FIELD_SOMETIMES, "of folds: the mean of each score over them"),
    OTHER(NUMBERS, "se", FIELD_SOMETIMES, "of folds: standard errors of these means"),
    NUMBER("quantile", FIELD_SOMETIMES,
           "of quantile regression: what is predicted, and what rmse, mae and r2 are errors of"),
    INNER(SCORES, "folds", FIELD_SOMETIMES, "of folds: each score in each fold", fold),
    INNER(OBJECT, "bootstrap", FIELD_SOMETIMES, "with --bootstrap or --bias-variance: the errors",
          bootstrap_error),
    INNER(OBJECT, "resampling", FIELD_SOMETIMES,
          "with --parameters or --jackknife: standard errors and intervals", resampling),
    INNER(ROWS, "learning_curve", FIELD_SOMETIMES, "with --learning-curve: its points",
          curve_point),
    COUNT("seed", 0, "random seed of the split and the fits"),
    FIELD_LAST,
};

/* --- compare --------------------------------------------------------------------------------- */

static const cli_field compared_group[] = {
    TEXT("group", 0, "the value of the column that makes the groups"),
    COUNT("rows", 0, "rows of the group"),
    NUMBER("log_evidence", 0, "of the model of these rows alone"),
    INNER(ROWS, "parameters", 0, "what was learned from them, with its uncertainty",
          result_parameter),
    FIELD_LAST,
};

static const cli_field difference[] = {
    TEXT("name", 0, "the parameter"),
    TEXT("greater", 0, "the group in which it is the greater"),
    TEXT("than", 0, "the other group"),
    NUMBER("probability", 0, "posterior probability of that, by quadrature"),
    FIELD_LAST,
};

#define SCORED                                                                                     \
    OTHER(NUMBERS, "metrics", 0, "the mean of each score over the folds"),                         \
        OTHER(NUMBERS, "se", 0, "standard errors of these means")

#define PAIRED                                                                                     \
    OTHER(NUMBERS, "difference", 0, "of each mean from that of the best model; 0 for the best"),   \
        OTHER(NUMBERS, "difference_se", 0,                                                         \
              "standard errors of these, for overlapping training rows"),                          \
        OTHER(NUMBERS, "t", 0, "difference / se"),                                                 \
        OTHER(NUMBERS, "p", 0, "probability of a larger |t| by chance"),                           \
        INNER(SCORES, "folds", 0, "each score in each fold", fold)

static const cli_field compared_model[] = {
    TEXT("model", 0, "the model, as it was named"),
    SCORED,
    PAIRED,
    NUMBER("log_likelihood", FIELD_NULL, "of the fit to all rows; null where there is none"),
    TEXT("likelihood", 0,
         "conditional: of the target given the columns; joint: of target and columns"),
    NUMBER("log_evidence", FIELD_NULL, "of the fit to all rows; null where there is none"),
    TEXT("evidence", FIELD_NULL, "exact, Laplace approximation, lower bound or estimate"),
    NUMBER("aic", FIELD_NULL, "Akaike's criterion of that fit"),
    NUMBER("bic", FIELD_NULL, "Schwarz's criterion of that fit"),
    NUMBER("probability", FIELD_NULL, "posterior probability of the model, of equal prior ones"),
    FIELD_LAST,
};

static const cli_field averaged_model[] = {
    TEXT("model", 0, "average"),
    SCORED,
    PAIRED,
    FIELD_LAST,
};

const cli_field result_compare[] = {
    COUNT("rows", 0, "rows learned from, or scored over all folds"),
    COUNT("seed", 0, "random seed of the split and the fits"),
    INNER(ROWS, "models", FIELD_SOMETIMES, "of models: each, in order", compared_model),
    OTHER(WORDS, "best", FIELD_SOMETIMES, "of models: the best by each score"),
    TEXT("weights", FIELD_SOMETIMES,
         "of models: what their probabilities go by: evidence, bic, or none"),
    INNER(OBJECT, "average", FIELD_SOMETIMES, "with --average: the Bayesian average of the models",
          averaged_model),
    TEXT("model", FIELD_SOMETIMES, "of groups, here and below: name of the model"),
    TEXT("by", FIELD_SOMETIMES, "column that makes the groups"),
    NUMBER("pooled_log_evidence", FIELD_NULL | FIELD_SOMETIMES, "of one model for all rows"),
    NUMBER("separate_log_evidence", FIELD_NULL | FIELD_SOMETIMES,
           "of a model for each group, summed"),
    NUMBER("log_bayes_factor", FIELD_NULL | FIELD_SOMETIMES,
           "separate less pooled: above 0 speaks for a difference"),
    NUMBER("prior_odds", FIELD_SOMETIMES, "odds that the groups differ, before the data"),
    NUMBER("probability", FIELD_NULL | FIELD_SOMETIMES,
           "posterior probability that the groups differ"),
    TEXT("evidence", FIELD_SOMETIMES, "exact, Laplace approximation, lower bound or estimate"),
    INNER(ROWS, "groups", FIELD_SOMETIMES, "each group, in order", compared_group),
    INNER(ROWS, "differences", FIELD_SOMETIMES,
          "with two groups: each parameter whose posterior has a name; else empty", difference),
    FIELD_LAST,
};

/* --- tune ------------------------------------------------------------------------------------ */

static const cli_field candidate[] = {
    OTHER(WORDS, "settings", 0, "what was tried"),
    SCORED,
    INNER(SCORES, "folds", 0, "each score in each fold", fold),
    FLAG("within", 0, "whether its score is within one standard error of the best"),
    NUMBER("apparent", FIELD_NULL, "with --rule 1se: its score on the rows it learned from"),
    FIELD_LAST,
};

const cli_field result_tune[] = {
    TEXT("model", 0, "the model, as it was named"),
    COUNT("rows", 0, "rows that were scored, over all folds"),
    COUNT("seed", 0, "random seed of split, search and fits"),
    TEXT("metric", 0, "the score that was chosen by"),
    TEXT("search", 0, "grid or random"),
    TEXT("rule", 0, "best or 1se"),
    COUNT("folds", 0, "number of folds"),
    COUNT("repeats", 0, "how often the folds were made"),
    INNER(OBJECT, "chosen", 0, "the winner", candidate),
    INNER(OBJECT, "best", 0, "the best mean score", candidate),
    INNER(ROWS, "candidates", 0, "all that were tried, in order", candidate),
    TEXT("output", FIELD_SOMETIMES, "file the fitted winner was saved to, with --output"),
    FIELD_LAST,
};
