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
    OTHER(ANY, "posterior", FIELD_SOMETIMES,
          "its distribution, of models that know it: an object of family and parameters by name; null "
          "where it has no name"),
    NUMBER("lower", FIELD_NULL | FIELD_SOMETIMES,
           "lower end of the central interval, of 95 % or as --level says"),
    NUMBER("upper", FIELD_NULL | FIELD_SOMETIMES, "upper end of it"),
    NUMBER("mode", FIELD_NULL | FIELD_SOMETIMES, "where its density is highest"),
    NUMBER("hdi_lower", FIELD_NULL | FIELD_SOMETIMES, "lower end of the shortest interval"),
    NUMBER("hdi_upper", FIELD_NULL | FIELD_SOMETIMES, "upper end of it"),
    NUMBER("t", FIELD_NULL | FIELD_SOMETIMES, "value / sd, of models that test"),
    NUMBER("p", FIELD_NULL | FIELD_SOMETIMES,
           "probability of a larger |t| by chance, of models that test"),
    NUMBER("spread", FIELD_NULL | FIELD_SOMETIMES,
           "standard deviation of the column within the class, of models of classes"),
    NUMBER("rhat", FIELD_NULL | FIELD_SOMETIMES, "R-hat of its Markov chains, of models that draw it"),
    NUMBER("ess", FIELD_NULL | FIELD_SOMETIMES, "effective number of its draws"),
    FIELD_LAST,
};

static const cli_field distribution[] = {
    TEXT("column", 0, "the column; * for all of them together"),
    NUMBER("n", FIELD_NULL, "observations: the sum of the weights"),
    NUMBER("log_evidence", FIELD_NULL, "log marginal likelihood; null under an improper prior"),
    OTHER(ANY, "posterior", 0, "an object: family, and its parameters by name"),
    OTHER(ANY, "predictive", 0, "the distribution of the next value, likewise"),
    OTHER(ANY, "statistics", 0, "an object: the sufficient statistics by name"),
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

static const cli_field tree_node[] = {
    COUNT("node", 0, "its number; the root is 0"),
    COUNT("depth", 0, "splits above it"),
    TEXT("rule", 0, "what leads to it from the node above"),
    NUMBER("weight", 0, "rows that come to it: the sum of their weights"),
    NUMBER("loss", FIELD_NULL, "mean loss of these rows: squared error, gini or entropy"),
    TEXT("label", FIELD_SOMETIMES, "of classes: the most frequent"),
    NUMBER("share", FIELD_SOMETIMES, "of classes: its share of the rows"),
    NUMBER("mean", FIELD_NULL | FIELD_SOMETIMES, "of numbers: the mean of the rows"),
    FLAG("leaf", 0, "true when it is not split"),
    FLAG("cut", 0, "true when the nodes below it are not listed: there are too many"),
    FIELD_LAST,
};

static const cli_field boosting_round[] = {
    COUNT("round", 0, "its number, from 1"),
    NUMBER("error", 0, "weighted error of its tree; of the gradient form the mean loss after it"),
    NUMBER("vote", 0, "what its tree counts"),
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
        INNER(ROWS, "distributions", FIELD_SOMETIMES,                                              \
              "of models of columns: posterior and predictive distribution of each", distribution), \
        INNER(ROWS, "tree", FIELD_SOMETIMES,                                                       \
              "of trees: the nodes, each one before those below it", tree_node),                   \
        INNER(ROWS, "rounds", FIELD_SOMETIMES, "of boosted models: the first thousand rounds",      \
              boosting_round),                                                                     \
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
    OTHER(NUMBERS, "parameters", FIELD_SOMETIMES,
          "of a number: those of its distribution, where the result names one"),
    TEXT("label", FIELD_NULL | FIELD_SOMETIMES,
         "of a class: the most probable; null for a row left out"),
    TEXT("cluster", FIELD_NULL | FIELD_SOMETIMES,
         "of a cluster: the most probable; null for a row left out"),
    OTHER(NUMBERS, "p", FIELD_SOMETIMES, "of a class or cluster: the probability of each"),
    OTHER(NUMBERS, "coordinates", FIELD_SOMETIMES, "of coordinates, or with --coordinates: each by its name"),
    NUMBER("log_density", FIELD_NULL | FIELD_SOMETIMES,
           "of a density: its logarithm at the row; null for a row left out"),
    TEXT("column", FIELD_SOMETIMES, "without DATA: the column that it is about"),
    TEXT("level", FIELD_SOMETIMES, "without DATA, of categories: a level of the column"),
    NUMBER("probability", FIELD_SOMETIMES, "that the next row has it"),
    OTHER(VALUES, "id", FIELD_SOMETIMES, "columns of the data carried along, with --id"),
    OTHER(ANY, "action", FIELD_SOMETIMES,
          "with --loss: the action of least expected loss, a number or the name of a class or action; "
          "null for a row left out"),
    NUMBER("expected_loss", FIELD_NULL | FIELD_SOMETIMES,
           "with --loss: the expected loss of that action; null if infinite"),
    OTHER(ANY, "draws", FIELD_SOMETIMES,
          "with --draws: an array of draws, numbers or the names of classes"),
    FIELD_LAST,
};

const cli_field result_predict[] = {
    TEXT("model", 0, "name of the model"),
    COUNT("rows", 0, "rows of the data"),
    NUMBER("interval", 0, "mass of the central interval"),
    COUNT("seed", 0, "random seed; of the draws with --draws"),
    TEXT("distribution", FIELD_SOMETIMES,
         "of numbers that are neither normal nor Student's: the name of their distribution"),
    TEXT("loss", FIELD_SOMETIMES, "with --loss: the loss, as it was given"),
    INNER(ROWS, "predictions", 0, "one for each row, in order", prediction),
    FIELD_LAST,
};

/* --- sample ---------------------------------------------------------------------------------- */

static const cli_field drawn[] = {
    OTHER(VALUES, "values", 0, "each column by its name"),
    FIELD_LAST,
};

const cli_field result_sample[] = {
    TEXT("model", 0, "name of the model"),
    COUNT("rows", 0, "rows that were drawn"),
    COUNT("seed", 0, "random seed of the draws"),
    INNER(ROWS, "sample", 0, "one for each row", drawn),
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
    NUMBER("bias", FIELD_SOMETIMES, "with --bias-variance: loss of the main prediction, noise included"),
    NUMBER("variance", FIELD_SOMETIMES, "with --bias-variance: what the spread of models adds"),
    NUMBER("unbiased_variance", FIELD_SOMETIMES,
           "of classes: what the spread costs where the main prediction is right"),
    NUMBER("biased_variance", FIELD_SOMETIMES,
           "of classes: what the spread gains where the main prediction is wrong"),
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
    INNER(SCORES, "folds", FIELD_SOMETIMES, "of folds: each score in each fold", fold),
    INNER(OBJECT, "bootstrap", FIELD_SOMETIMES, "with --bootstrap or --bias-variance: the errors",
          bootstrap_error),
    INNER(ROWS, "learning_curve", FIELD_SOMETIMES, "with --learning-curve: its points", curve_point),
    COUNT("seed", 0, "random seed of the split and the fits"),
    FIELD_LAST,
};

/* --- compare --------------------------------------------------------------------------------- */

static const cli_field compared_group[] = {
    TEXT("group", 0, "the value of the column that makes the groups"),
    COUNT("rows", 0, "rows of the group"),
    NUMBER("log_evidence", 0, "of the model of these rows alone"),
    INNER(ROWS, "parameters", 0, "what was learned from them, with its uncertainty", parameter),
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
        OTHER(NUMBERS, "difference_se", 0, "standard errors of these, for overlapping training rows"), \
        OTHER(NUMBERS, "t", 0, "difference / se"),                                                 \
        OTHER(NUMBERS, "p", 0, "probability of a larger |t| by chance"),                           \
        INNER(SCORES, "folds", 0, "each score in each fold", fold)

static const cli_field compared_model[] = {
    TEXT("model", 0, "the model, as it was named"),
    SCORED,
    PAIRED,
    NUMBER("log_likelihood", FIELD_NULL, "of the fit to all rows; null where there is none"),
    NUMBER("log_evidence", FIELD_NULL, "likewise"),
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
         "of models: what their probabilities go by: evidence, bic, evidence and bic, or none"),
    INNER(OBJECT, "average", FIELD_SOMETIMES, "with --average: the Bayesian average of the models",
          averaged_model),
    TEXT("model", FIELD_SOMETIMES, "of groups, here and below: name of the model"),
    TEXT("by", FIELD_SOMETIMES, "column that makes the groups"),
    NUMBER("pooled_log_evidence", FIELD_NULL | FIELD_SOMETIMES, "of one model for all rows"),
    NUMBER("separate_log_evidence", FIELD_NULL | FIELD_SOMETIMES, "of a model for each group, summed"),
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

static const cli_field network_summary[] = {
    TEXT("name", 0, "name of the network; may be empty"),
    TEXT("type", 0, "bayes or markov"),
    COUNT("nodes", 0, "variables"),
    COUNT("arcs", FIELD_NULL, "from parents to children; null for a Markov network"),
    COUNT("tables", 0, "tables"),
    COUNT("entries", 0, "entries of all tables"),
    COUNT("parameters", 0, "of them those that are free"),
    COUNT("most_states", 0, "states of the variable that has most"),
    COUNT("most_parents", FIELD_NULL, "parents of the variable that has most"),
    COUNT("width", 0, "of the junction tree: its largest clique has one variable more"),
    NUMBER("operations", 0, "entries of all cliques: the work of all marginals"),
    NUMBER("bytes", 0, "memory that takes"),
    FLAG("chordal", FIELD_SOMETIMES, "whether its (moral) graph is; up to 200 nodes"),
    OTHER(TEXTS, "order", FIELD_SOMETIMES, "causes before effects; up to 200 nodes"),
    FIELD_LAST,
};

static const cli_field network_variable[] = {
    TEXT("name", 0, "name of the variable"),
    OTHER(TEXTS, "states", 0, "its states"),
    OTHER(TEXTS, "parents", 0, "what it depends on"),
    OTHER(TEXTS, "children", FIELD_SOMETIMES, "what depends on it; up to 200 nodes"),
    OTHER(TEXTS, "blanket", FIELD_SOMETIMES,
          "given these, independent of all others; up to 200 nodes"),
    FIELD_LAST,
};

const cli_field result_describe[] = {
    TEXT("file", 0, "the file, as it was named"),
    TEXT("kind", 0, "data, model or network"),
    COUNT("rows", FIELD_SOMETIMES, "rows of the data; of a model: rows it learned from"),
    COUNT("sparse_columns", FIELD_SOMETIMES, "of sparse data: how many columns x1, x2, ... are so"),
    NUMBER("density", FIELD_NULL | FIELD_SOMETIMES, "of these: the part of the cells that is kept"),
    INNER(ROWS, "columns", FIELD_SOMETIMES,
          "of data: what each column holds, sparse ones taken as one", column),
    INNER(OBJECT, "network", FIELD_SOMETIMES, "of a network: its size, and the cost of exact answers",
          network_summary),
    INNER(ROWS, "variables", FIELD_SOMETIMES, "of a network: each variable", network_variable),
    MODEL_FIELDS(FIELD_SOMETIMES),
    SEARCH_FIELDS,
    FIELD_LAST,
};

const cli_field result_check[] = {
    TEXT("file", 0, "the file, as it was named"),
    TEXT("kind", 0, "data, model or network"),
    FLAG("sound", 0, "true: it was read through without a fault"),
    FIELD_LAST,
};

/* --- query and infer ------------------------------------------------------------------------- */

static const cli_field joint_row[] = {
    OTHER(WORDS, "states", 0, "the state of each variable"),
    NUMBER("p", 0, "their probability given the evidence"),
    FIELD_LAST,
};

static const cli_field informative[] = {
    TEXT("variable", 0, "one that might be observed"),
    NUMBER("information", 0, "what it tells about the variables asked for, on average"),
    FIELD_LAST,
};

static const cli_field cause[] = {
    TEXT("variable", 0, "a variable"),
    TEXT("state", 0, "the state that the evidence speaks for most"),
    NUMBER("before", 0, "its probability without the evidence"),
    NUMBER("after", 0, "its probability with it"),
    NUMBER("factor", FIELD_NULL, "Bayes factor of the state against its others; null: infinite"),
    FIELD_LAST,
};

static const cli_field parameter_change[] = {
    TEXT("variable", FIELD_SOMETIMES, "whose table it is in, of a Bayesian network"),
    TEXT("state", FIELD_SOMETIMES, "its state"),
    OTHER(WORDS, "given", FIELD_SOMETIMES, "the states of its parents"),
    COUNT("table", FIELD_SOMETIMES, "of a Markov network: which table"),
    OTHER(WORDS, "states", FIELD_SOMETIMES, "of a Markov network: the states of its variables"),
    NUMBER("value", 0, "the parameter as it is"),
    NUMBER("derivative", 0, "of the probability by it, the rest of its row in proportion"),
    FIELD_LAST,
};

static const cli_field query_cost[] = {
    COUNT("variables", 0, "that were eliminated, after evidence and pruning"),
    COUNT("width", 0, "largest clique, minus one"),
    NUMBER("operations", 0, "entries of all cliques"),
    NUMBER("bytes", 0, "of tables, at the most at a time"),
    FIELD_LAST,
};

static const cli_field approximation[] = {
    FLAG("converged", FIELD_SOMETIMES, "messages: whether they stopped changing; chains: mixed"),
    COUNT("iterations", FIELD_SOMETIMES, "sweeps over all messages"),
    NUMBER("residual", FIELD_SOMETIMES, "largest change of a message at the end"),
    NUMBER("damping", FIELD_SOMETIMES, "share of the old message that stayed, at the end"),
    NUMBER("lower", FIELD_SOMETIMES, "lower bound of log P(e)"),
    NUMBER("upper", FIELD_SOMETIMES,
           "upper bound of log P(e); of argmax: of log P(assignment, e)"),
    COUNT("samples", FIELD_SOMETIMES, "how many were drawn"),
    NUMBER("effective", FIELD_SOMETIMES, "as many independent samples would be as good"),
    NUMBER("standard_error", FIELD_SOMETIMES, "largest of the probabilities shown"),
    NUMBER("log_evidence_se", FIELD_SOMETIMES, "standard error of log_evidence"),
    NUMBER("accepted", FIELD_SOMETIMES, "share of the samples that agree with the evidence"),
    COUNT("chains", FIELD_SOMETIMES, "of Gibbs sampling"),
    NUMBER("rhat", FIELD_SOMETIMES, "potential scale reduction, the worst; 1 is good"),
    COUNT("clusters", FIELD_SOMETIMES, "of the join graph; of Gibbs sampling: blocks"),
    COUNT("largest", FIELD_SOMETIMES, "entries of the largest of these"),
    FIELD_LAST,
};

static const cli_field independence[] = {
    TEXT("x", 0, "a variable"),
    TEXT("y", 0, "another"),
    OTHER(TEXTS, "given", 0, "the parents of x"),
    FIELD_LAST,
};

static const cli_field comparison[] = {
    TEXT("file", 0, "the solution, as it was named"),
    TEXT("kind", 0, "MAR, PR, MAP or MPE"),
    NUMBER("difference", FIELD_NULL,
           "the largest of the probabilities; of log10 P(e), or of log10 of both assignments"),
    TEXT("variable", FIELD_SOMETIMES, "of MAR: where it is"),
    TEXT("state", FIELD_SOMETIMES, "its state"),
    NUMBER("here", FIELD_NULL, "in this answer"),
    NUMBER("there", FIELD_NULL, "in the file"),
    FIELD_LAST,
};

static const cli_field answer[] = {
    TEXT("query", 0, "the question"),
    TEXT("method", 0,
         "ve, jt, enumerate, search, an approximation, or graph where no numbers were needed"),
    FLAG("exact", 0, "whether the answer is exact, but for rounding"),
    TEXT("reason", FIELD_SOMETIMES, "why --method auto took an approximation"),
    INNER(OBJECT, "error", FIELD_SOMETIMES, "of an approximation: how good it is", approximation),
    OTHER(ANY, "standard_errors", FIELD_SOMETIMES, "of marginals by samples: in their shape"),
    NUMBER("log_probability_upper", FIELD_SOMETIMES,
           "of argmax, best found: no assignment has a larger log_probability"),
    NUMBER("log_evidence", FIELD_NULL,
           "log P(e); of a Markov network log Z with the evidence; null where it was not needed"),
    OTHER(ANY, "marginals", FIELD_SOMETIMES, "of P(x | e), P(* | e): {variable: {state: p}}"),
    INNER(ROWS, "table", FIELD_SOMETIMES, "of P(x, y | e): each joint state", joint_row),
    OTHER(WORDS, "assignment", FIELD_SOMETIMES, "of argmax: the state of each variable"),
    NUMBER("probability", FIELD_NULL | FIELD_SOMETIMES,
           "of P(x=a | e), of argmax: the probability given the evidence; null where P(e) is not known"),
    NUMBER("log_probability", FIELD_NULL | FIELD_SOMETIMES,
           "of P(x=a | e): its log, null if impossible; of argmax: log P(assignment, e)"),
    FLAG("independent", FIELD_SOMETIMES, "of x _|_ y | z: whether the graph separates them"),
    OTHER(TEXTS, "trail", FIELD_SOMETIMES, "if not: variables along a trail that is active"),
    OTHER(TEXTS, "determined", FIELD_SOMETIMES,
          "if only these separate them: variables that are functions of the given ones"),
    NUMBER("entropy", FIELD_SOMETIMES, "of H"),
    NUMBER("information", FIELD_SOMETIMES, "of I(x; y)"),
    INNER(ROWS, "informative", FIELD_SOMETIMES, "of I(x; *): the most informative first",
          informative),
    TEXT("unit", FIELD_SOMETIMES, "of H and I: bits or nats"),
    INNER(ROWS, "assignments", FIELD_SOMETIMES, "of best(k; ...): the most probable first",
          joint_row),
    INNER(ROWS, "causes", FIELD_SOMETIMES, "of causes(...): the largest factor first", cause),
    INNER(ROWS, "parameters", FIELD_SOMETIMES, "of sensitivity(...): the largest first",
          parameter_change),
    OTHER(TEXTS, "variables", FIELD_SOMETIMES, "of parents(x), ..., blanket(x), order()"),
    OTHER(ANY, "edges", FIELD_SOMETIMES, "of moral(): pairs of variables"),
    OTHER(ANY, "cliques", FIELD_SOMETIMES, "of cliques(): lists of variables"),
    FLAG("chordal", FIELD_SOMETIMES, "of chordal(): whether the moral graph is"),
    FLAG("imap", FIELD_SOMETIMES, "of imap(FILE): whether this graph is an I-map of that"),
    INNER(OBJECT, "independence", FIELD_SOMETIMES, "if not: one that holds here only",
          independence),
    INNER(OBJECT, "comparison", FIELD_SOMETIMES, "with the solution of --against", comparison),
    INNER(OBJECT, "cost", 0, "what it took", query_cost),
    FIELD_LAST,
};

static const cli_field refusal[] = {
    TEXT("query", 0, "the question"),
    TEXT("message", 0, "why it has no answer"),
    FIELD_LAST,
};

const cli_field result_query[] = {
    TEXT("network", 0, "the file, as it was named"),
    COUNT("seed", 0, "random seed"),
    INNER(ROWS, "results", 0, "one for each question that has an answer, in order", answer),
    INNER(ROWS, "refused", FIELD_SOMETIMES, "questions without an answer", refusal),
    NUMBER("seconds", 0, "time of the answers, reading not counted"),
    FIELD_LAST,
};

static const cli_field posterior[] = {
    NUMBER("log_evidence", FIELD_NULL, "log P(row); null for a row that is impossible"),
    OTHER(ANY, "marginals", 0, "{variable: {state: p}}; empty for a row that is impossible"),
    INNER(OBJECT, "error", FIELD_SOMETIMES, "of an approximation: how good it is", approximation),
    FIELD_LAST,
};

const cli_field result_infer[] = {
    TEXT("network", 0, "the file, as it was named"),
    COUNT("rows", 0, "rows of evidence"),
    TEXT("method", 0, "jt: a junction tree; ve, enumerate, or an approximation"),
    FLAG("exact", 0, "whether the answers are exact, but for rounding"),
    COUNT("seed", 0, "random seed"),
    INNER(ROWS, "results", 0, "one for each row, in order", posterior),
    FIELD_LAST,
};

const cli_field result_denoise[] = {
    TEXT("image", 0, "the file, as it was named"),
    COUNT("width", 0, "pixels"),
    COUNT("height", 0, "pixels"),
    COUNT("labels", 0, "greys of the result"),
    TEXT("method", 0, "cut, icm, max-product or gibbs"),
    FLAG("exact", 0, "whether this is the least energy"),
    FLAG("converged", 0, "whether it had settled"),
    COUNT("sweeps", 0, "sweeps over the pixels; of cut its moves"),
    NUMBER("energy_before", 0, "energy of the image as it was, in the nearest greys"),
    NUMBER("energy", 0, "energy of the result: -log p but for a constant"),
    COUNT("changed", 0, "pixels"),
    NUMBER("error_before", FIELD_SOMETIMES,
           "with --truth: the share of wrong pixels; of more than two greys the root mean square"),
    NUMBER("error", FIELD_SOMETIMES, "the same of the result"),
    COUNT("seed", 0, "random seed"),
    NUMBER("seconds", 0, "time it took, reading and writing not counted"),
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
    COLUMN_SETS, BASIS, ESTIMATE("entropy", "joint, or conditional, entropy"), FIELD_LAST,
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
    NUMBER("p", FIELD_NULL | FIELD_SOMETIMES, "with --permutations: P(as large without dependence)"),
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
    NUMBER("mmd2_biased", FIELD_SOMETIMES, "the same with the pairs of a row with itself: never below 0"),
    NUMBER("se", FIELD_NULL | FIELD_SOMETIMES, "with --linear: standard error of mmd2"),
    NUMBER("p", FIELD_NULL, "P(as large if both come from one distribution)"),
    NUMBER("p_se", FIELD_SOMETIMES, "standard error of p: 0 when all relabellings were gone through"),
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
        FLAG("update", marks, "whether new rows can be added by update"),                            \
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
    OTHER(ARRAY, "x", 0, "along the first axis"),
    OTHER(ARRAY, "y", FIELD_SOMETIMES, "of points and lines: along the other"),
    OTHER(ARRAY, "lower", FIELD_SOMETIMES, "of bands and bars: their lower ends"),
    OTHER(ARRAY, "upper", FIELD_SOMETIMES, "of bands and bars: their upper ends"),
    FIELD_LAST,
};

const cli_field result_plot[] = {
    TEXT("model", 0, "name of the model"),
    TEXT("kind", 0, "what is drawn"),
    TEXT("title", 0, "of the figure"),
    TEXT("x_title", 0, "of the first axis"),
    TEXT("y_title", 0, "of the other"),
    INNER(ROWS, "series", 0, "what stands in the legend, with its points", plot_series),
    FIELD_LAST,
};

const cli_field result_version[] = {
    TEXT("version", 0, "version of credence"),
    TEXT("compiler", 0, "the compiler it was built with"),
    COUNT("threads", 0, "threads in use"),
    INNER(OBJECT, "blas", 0, "library of matrix kernels", blas),
    FIELD_LAST,
};
