/* results.c -- the fields of the JSON of verbs on models, data and networks; the others stand in
 * results_study.c, results_numbers.c and results_about.c. */
#include "results_fields.h"

const cli_field result_common[] = {
    TEXT("schema", 0, "which result this is, and its version"),
    OTHER(TEXTS, "warnings", 0, "what one should know about the result"),
    FIELD_LAST,
};

/* --- a model: fit, update, describe ---------------------------------------------------------- */

const cli_field result_parameter[] = {
    TEXT("name", 0, "the term; intercept for the intercept"),
    NUMBER("value", FIELD_NULL, "posterior mean or estimate"),
    NUMBER("sd", FIELD_NULL,
           "posterior standard deviation or standard error; null where there is none"),
    OTHER(ANY, "posterior", FIELD_SOMETIMES,
          "its distribution, of models that know it: an object of family and parameters by name; "
          "null "
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
    NUMBER("rhat", FIELD_NULL | FIELD_SOMETIMES,
           "R-hat of its Markov chains, of models that draw it"),
    NUMBER("ess", FIELD_NULL | FIELD_SOMETIMES, "effective number of its draws"),
    NUMBER("gradient", FIELD_NULL | FIELD_SOMETIMES,
           "of gp --gradient: of the log evidence by its logarithm; null where it is not learned"),
    TEXT("of", FIELD_NULL | FIELD_SOMETIMES,
         "of an element of a list, such as rbf.l[2]: its column, or its level of a category"),
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

static const cli_field calibration_map[] = {
    TEXT("class", 0, "whose probability p it is; of two classes the second"),
    NUMBER("a", FIELD_SOMETIMES, "platt: p becomes 1 / (1 + exp(-(a logit(p) + b)))"),
    NUMBER("b", FIELD_SOMETIMES, "likewise"),
    NUMBER("from", FIELD_SOMETIMES, "isotonic: a knot, with straight lines between; p"),
    NUMBER("to", FIELD_SOMETIMES, "what it becomes"),
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
        TEXT("evidence", FIELD_SOMETIMES,                                                          \
             "what it is where it is not exact: Laplace approximation, lower bound, estimate"),    \
        NUMBER("log_likelihood", FIELD_NULL | FIELD_SOMETIMES,                                     \
               "log likelihood at the estimate, of models without evidence"),                      \
        COUNT("iterations", of_model, "steps taken; 0 for a closed form"),                         \
        TEXT("stop", of_model, "closed form, converged, iteration limit or no progress"),          \
        INNER(ROWS, "parameters", of_model, "what was learned, with its uncertainty",              \
              result_parameter),                                                                   \
        OTHER(VALUES, "statistics", of_model, "what this model says of the fit, by name"),         \
        INNER(ROWS, "distributions", FIELD_SOMETIMES,                                              \
              "of models of columns: posterior and predictive distribution of each",               \
              distribution),                                                                       \
        INNER(ROWS, "tree", FIELD_SOMETIMES,                                                       \
              "of trees: the nodes, each one before those below it", tree_node),                   \
        INNER(ROWS, "rounds", FIELD_SOMETIMES, "of boosted models: the first thousand rounds",     \
              boosting_round),                                                                     \
        INNER(ROWS, "calibration", FIELD_SOMETIMES,                                                \
              "of calibrated models: how a probability is changed", calibration_map),              \
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
    OTHER(NUMBERS, "coordinates", FIELD_SOMETIMES,
          "of coordinates, or with --coordinates: each by its name"),
    NUMBER("log_density", FIELD_NULL | FIELD_SOMETIMES,
           "of a density, or with --log-joint: its logarithm at the row; null for a row left out"),
    OTHER(NUMBERS, "log_joint", FIELD_SOMETIMES,
          "with --log-joint: the logarithm of the joint density of the row and each class"),
    TEXT("column", FIELD_SOMETIMES, "without DATA: the column that it is about"),
    TEXT("level", FIELD_SOMETIMES, "without DATA, of categories: a level of the column"),
    NUMBER("probability", FIELD_SOMETIMES, "that the next row has it"),
    OTHER(VALUES, "id", FIELD_SOMETIMES, "columns of the data carried along, with --id"),
    OTHER(ANY, "action", FIELD_SOMETIMES,
          "with --loss: the action of least expected loss, a number or the name of a class or "
          "action; "
          "null for a row left out"),
    NUMBER("expected_loss", FIELD_NULL | FIELD_SOMETIMES,
           "with --loss: the expected loss of that action; null if infinite"),
    OTHER(NUMBERS, "reconstruction", FIELD_SOMETIMES,
          "with --reconstruct: the columns of the row that the coordinates lead back to"),
    NUMBER("reconstruction_distance", FIELD_NULL | FIELD_SOMETIMES,
           "with --reconstruct: how far that row is from them in the space of the kernel; null for "
           "a row left out"),
    OTHER(NUMBERS, "slopes", FIELD_SOMETIMES,
          "with --slopes: the derivative of the mean by each column"),
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
    TEXT("type", 0, "bayes, markov or gaussian"),
    COUNT("nodes", 0, "variables"),
    COUNT("arcs", FIELD_NULL, "from parents to children; null for a Markov network"),
    COUNT("tables", FIELD_SOMETIMES, "tables"),
    COUNT("entries", FIELD_SOMETIMES, "entries of all tables"),
    COUNT("parameters", 0, "of them those that are free"),
    COUNT("most_states", FIELD_SOMETIMES, "states of the variable that has most"),
    COUNT("most_parents", FIELD_NULL | FIELD_SOMETIMES, "parents of the variable that has most"),
    COUNT("width", FIELD_SOMETIMES,
          "of the junction tree: its largest clique has one variable more"),
    NUMBER("operations", FIELD_SOMETIMES, "entries of all cliques: the work of all marginals"),
    NUMBER("bytes", FIELD_SOMETIMES, "memory that takes"),
    FLAG("chordal", FIELD_SOMETIMES, "whether its (moral) graph is; up to 200 nodes"),
    OTHER(TEXTS, "order", FIELD_SOMETIMES, "causes before effects; up to 200 nodes"),
    FIELD_LAST,
};

static const cli_field network_variable[] = {
    TEXT("name", 0, "name of the variable"),
    OTHER(TEXTS, "states", 0, "its states"),
    OTHER(TEXTS, "parents", 0, "what it depends on"),
    TEXT("kind", FIELD_SOMETIMES,
         "of a Bayesian network: table, deterministic, noisy-or, noisy-max, tree or "
         "linear-gaussian"),
    TEXT("formula", FIELD_SOMETIMES, "of a linear-Gaussian variable: its mean given its parents"),
    NUMBER("variance", FIELD_SOMETIMES, "of it: the variance given its parents"),
    NUMBER("mean", FIELD_SOMETIMES, "of it: its mean"),
    NUMBER("sd", FIELD_SOMETIMES, "of it: its standard deviation"),
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
    INNER(OBJECT, "network", FIELD_SOMETIMES,
          "of a network: its size, and the cost of exact answers", network_summary),
    INNER(ROWS, "variables", FIELD_SOMETIMES, "of a network: each variable", network_variable),
    MODEL_FIELDS(FIELD_SOMETIMES),
    OTHER(ANY, "covariance", FIELD_SOMETIMES,
          "with --covariance: {name, and each parameter: the covariance with it}"),
    OTHER(ANY, "inducing", FIELD_SOMETIMES,
          "with --inducing: {each column, q_mean, q_sd} of every inducing input or landmark"),
    OTHER(ANY, "inducing_covariance", FIELD_SOMETIMES,
          "of the function at these inputs: an array for each"),
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
    NUMBER("factor_se", FIELD_NULL | FIELD_SOMETIMES, "by samples: its standard error"),
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
    NUMBER("operations", 0, "entries of all cliques, in all runs"),
    NUMBER("bytes", 0, "held at the most at a time, as foretold"),
    COUNT("conditioned", FIELD_SOMETIMES, "variables held fixed in turn, since tables did not fit"),
    NUMBER("runs", FIELD_SOMETIMES, "then: their joint states, each of which takes a run"),
    FIELD_LAST,
};

static const cli_field approximation[] = {
    FLAG("converged", FIELD_SOMETIMES, "messages: whether they stopped changing; chains: mixed"),
    COUNT("iterations", FIELD_SOMETIMES, "sweeps over all messages"),
    NUMBER("residual", FIELD_SOMETIMES, "largest change of a message at the end"),
    NUMBER("damping", FIELD_SOMETIMES, "share of the old message that stayed, at the end"),
    NUMBER("lower", FIELD_SOMETIMES, "lower bound of log P(e)"),
    NUMBER("upper", FIELD_SOMETIMES, "upper bound of log P(e); of argmax: of log P(assignment, e)"),
    NUMBER("probability_difference", FIELD_SOMETIMES,
           "of bp: how far a short run of gbp is off, at the most; of gbp: one of bp"),
    NUMBER("log_evidence_difference", FIELD_SOMETIMES, "of these: in log P(e)"),
    COUNT("samples", FIELD_SOMETIMES, "how many were drawn"),
    NUMBER("effective", FIELD_SOMETIMES, "as many independent samples would be as good"),
    NUMBER("standard_error", FIELD_SOMETIMES, "largest of the probabilities shown"),
    NUMBER("log_evidence_se", FIELD_SOMETIMES, "standard error of log_evidence"),
    NUMBER("accepted", FIELD_SOMETIMES, "share of the samples that agree with the evidence"),
    NUMBER(
        "pareto_k", FIELD_NULL | FIELD_SOMETIMES,
        "shape of the tail of the weights; above 0.7 standard errors are too small; null: no tail"),
    NUMBER("missed", FIELD_SOMETIMES,
           "of importance: share of what a chain visits that outweighs every sample"),
    COUNT("modes", FIELD_SOMETIMES, "of importance: parts of the states that chains do not leave"),
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
         "ve, jt, enumerate, search, an approximation, gaussian, or graph where no numbers were "
         "needed"),
    FLAG("exact", 0, "whether the answer is exact, but for rounding"),
    TEXT("reason", FIELD_SOMETIMES, "why --method auto took an approximation"),
    INNER(OBJECT, "error", FIELD_SOMETIMES, "of an approximation: how good it is", approximation),
    OTHER(ANY, "standard_errors", FIELD_SOMETIMES, "of marginals by samples: in their shape"),
    NUMBER("log_probability_upper", FIELD_SOMETIMES,
           "of argmax, best found: no assignment has a larger log_probability"),
    NUMBER("gap", FIELD_SOMETIMES, "of it: how much larger that is than log_probability"),
    NUMBER("log_evidence", FIELD_NULL,
           "log P(e); of a Markov network log Z with the evidence; null where it was not needed"),
    OTHER(ANY, "marginals", FIELD_SOMETIMES,
          "of P(x | e), P(* | e): {variable: {state: p}}; of a "
          "Gaussian network {variable: {mean, sd}}"),
    OTHER(TEXTS, "variables", FIELD_SOMETIMES,
          "of a Gaussian P(x, y | e): in the order of the next; of parents(x), ..., blanket(x), "
          "order()"),
    OTHER(ANY, "mean", FIELD_SOMETIMES, "of it: the mean of each"),
    OTHER(ANY, "covariance", FIELD_SOMETIMES, "of it: a row for each"),
    NUMBER("density", FIELD_NULL | FIELD_SOMETIMES,
           "of a Gaussian P(x=1.2 | e), argmax: the density given the evidence"),
    NUMBER("log_density", FIELD_NULL | FIELD_SOMETIMES,
           "of it: its log; null where variables are determined"),
    INNER(ROWS, "table", FIELD_SOMETIMES, "of P(x, y | e): each joint state", joint_row),
    OTHER(ANY, "assignment", FIELD_SOMETIMES,
          "of argmax: the state of each variable; of a Gaussian network its value"),
    NUMBER("probability", FIELD_NULL | FIELD_SOMETIMES,
           "of P(x=a | e), of argmax: the probability given the evidence; null where P(e) is not "
           "known"),
    NUMBER("log_probability", FIELD_NULL | FIELD_SOMETIMES,
           "of P(x=a | e): its log, null if impossible; of argmax: log P(assignment, e)"),
    FLAG("independent", FIELD_SOMETIMES,
         "of x _|_ y | z, dsep(x; y | z): whether the graph separates them"),
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
    OTHER(ANY, "edges", FIELD_SOMETIMES, "of moral(): pairs of variables"),
    OTHER(ANY, "cliques", FIELD_SOMETIMES, "of cliques(): lists of variables"),
    FLAG("chordal", FIELD_SOMETIMES, "of chordal(): whether the moral graph is"),
    FLAG("imap", FIELD_SOMETIMES, "of imap(FILE): whether this graph is an I-map of that"),
    INNER(OBJECT, "independence", FIELD_SOMETIMES, "if not: one that holds here only",
          independence),
    INNER(OBJECT, "comparison", FIELD_SOMETIMES, "with the solution of --against", comparison),
    INNER(OBJECT, "cost", FIELD_SOMETIMES, "what it took; of a Gaussian network absent",
          query_cost),
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
    NUMBER("log_evidence", FIELD_NULL,
           "log P(row); null for a row that is impossible, or where the method has none"),
    FLAG("impossible", FIELD_SOMETIMES,
         "true: the network, or every sample, excludes the row, or (Gaussian) what is seen "
         "determines itself"),
    OTHER(ANY, "marginals", 0,
          "{variable: {state: p}}, of a Gaussian network {variable: {mean, sd}}; "
          "empty for a row that is impossible"),
    INNER(OBJECT, "error", FIELD_SOMETIMES, "of an approximation: how good it is", approximation),
    FIELD_LAST,
};

const cli_field result_infer[] = {
    TEXT("network", 0, "the file, as it was named"),
    COUNT("rows", 0, "rows of evidence"),
    TEXT("method", 0, "jt: a junction tree; ve, enumerate, gaussian, or an approximation"),
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
