/* results.c -- the fields of the JSON of verbs on networks, and those that every result has. */
#include "results.h"

const cr_field result_common[] = {
    CR_TEXT("schema", 0, "which result this is, and its version"),
    CR_OTHER(TEXTS, "warnings", 0, "what one should know about the result"),
    CR_FIELD_LAST,
};

/* --- describe, of a network ------------------------------------------------------------------ */

const cr_field result_network[] = {
    CR_TEXT("name", 0, "name of the network; may be empty"),
    CR_TEXT("type", 0, "bayes, markov or gaussian"),
    CR_COUNT("nodes", 0, "variables"),
    CR_COUNT("arcs", CR_FIELD_NULL, "from parents to children; null for a Markov network"),
    CR_COUNT("tables", CR_FIELD_SOMETIMES, "tables"),
    CR_COUNT("entries", CR_FIELD_SOMETIMES, "entries of all tables"),
    CR_COUNT("parameters", 0, "of them those that are free"),
    CR_COUNT("most_states", CR_FIELD_SOMETIMES, "states of the variable that has most"),
    CR_COUNT("most_parents", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
             "parents of the variable that has most"),
    CR_COUNT("width", CR_FIELD_SOMETIMES,
             "of the junction tree: its largest clique has one variable more"),
    CR_NUMBER("operations", CR_FIELD_SOMETIMES,
              "entries of all cliques: the work of all marginals"),
    CR_NUMBER("bytes", CR_FIELD_SOMETIMES, "memory that takes"),
    CR_FLAG("chordal", CR_FIELD_SOMETIMES, "whether its (moral) graph is; up to 200 nodes"),
    CR_OTHER(TEXTS, "order", CR_FIELD_SOMETIMES, "causes before effects; up to 200 nodes"),
    CR_FIELD_LAST,
};

const cr_field result_network_variable[] = {
    CR_TEXT("name", 0, "name of the variable"),
    CR_OTHER(TEXTS, "states", 0, "its states"),
    CR_OTHER(TEXTS, "parents", 0, "what it depends on"),
    CR_TEXT("kind", CR_FIELD_SOMETIMES,
            "of a Bayesian network: table, deterministic, noisy-or, noisy-max, tree or "
            "linear-gaussian"),
    CR_TEXT("formula", CR_FIELD_SOMETIMES,
            "of a linear-Gaussian variable: its mean given its parents"),
    CR_NUMBER("variance", CR_FIELD_SOMETIMES, "of it: the variance given its parents"),
    CR_NUMBER("mean", CR_FIELD_SOMETIMES, "of it: its mean"),
    CR_NUMBER("sd", CR_FIELD_SOMETIMES, "of it: its standard deviation"),
    CR_OTHER(TEXTS, "children", CR_FIELD_SOMETIMES, "what depends on it; up to 200 nodes"),
    CR_OTHER(TEXTS, "blanket", CR_FIELD_SOMETIMES,
             "given these, independent of all others; up to 200 nodes"),
    CR_FIELD_LAST,
};

/* --- query and infer ------------------------------------------------------------------------- */

static const cr_field joint_row[] = {
    CR_OTHER(WORDS, "states", 0, "the state of each variable"),
    CR_NUMBER("p", 0, "their probability given the evidence"),
    CR_FIELD_LAST,
};

static const cr_field informative[] = {
    CR_TEXT("variable", 0, "one that might be observed"),
    CR_NUMBER("information", 0, "what it tells about the variables asked for, on average"),
    CR_FIELD_LAST,
};

static const cr_field cause[] = {
    CR_TEXT("variable", 0, "a variable"),
    CR_TEXT("state", 0, "the state that the evidence speaks for most"),
    CR_NUMBER("before", 0, "its probability without the evidence"),
    CR_NUMBER("after", 0, "its probability with it"),
    CR_NUMBER("factor", CR_FIELD_NULL,
              "Bayes factor of the state against its others; null: infinite"),
    CR_NUMBER("factor_se", CR_FIELD_NULL | CR_FIELD_SOMETIMES, "by samples: its standard error"),
    CR_FIELD_LAST,
};

static const cr_field parameter_change[] = {
    CR_TEXT("variable", CR_FIELD_SOMETIMES, "whose table it is in, of a Bayesian network"),
    CR_TEXT("state", CR_FIELD_SOMETIMES, "its state"),
    CR_OTHER(WORDS, "given", CR_FIELD_SOMETIMES, "the states of its parents"),
    CR_COUNT("table", CR_FIELD_SOMETIMES, "of a Markov network: which table"),
    CR_OTHER(WORDS, "states", CR_FIELD_SOMETIMES,
             "of a Markov network: the states of its variables"),
    CR_NUMBER("value", 0, "the parameter as it is"),
    CR_NUMBER("derivative", 0, "of the probability by it, the rest of its row in proportion"),
    CR_FIELD_LAST,
};

static const cr_field query_cost[] = {
    CR_COUNT("variables", 0, "that were eliminated, after evidence and pruning"),
    CR_COUNT("width", 0, "largest clique, minus one"),
    CR_NUMBER("operations", 0, "entries of all cliques, in all runs"),
    CR_NUMBER("bytes", 0, "held at the most at a time, as foretold"),
    CR_COUNT("conditioned", CR_FIELD_SOMETIMES,
             "variables held fixed in turn, since tables did not fit"),
    CR_NUMBER("runs", CR_FIELD_SOMETIMES, "then: their joint states, each of which takes a run"),
    CR_FIELD_LAST,
};

static const cr_field approximation[] = {
    CR_FLAG("converged", CR_FIELD_SOMETIMES,
            "messages: whether they stopped changing; chains: mixed"),
    CR_COUNT("iterations", CR_FIELD_SOMETIMES, "sweeps over all messages"),
    CR_NUMBER("residual", CR_FIELD_SOMETIMES, "largest change of a message at the end"),
    CR_NUMBER("damping", CR_FIELD_SOMETIMES, "share of the old message that stayed, at the end"),
    CR_NUMBER("lower", CR_FIELD_SOMETIMES, "lower bound of log P(e)"),
    CR_NUMBER("upper", CR_FIELD_SOMETIMES,
              "upper bound of log P(e); of argmax: of log P(assignment, e)"),
    CR_NUMBER("probability_difference", CR_FIELD_SOMETIMES,
              "of bp: how far a short run of gbp is off, at the most; of gbp: one of bp"),
    CR_NUMBER("log_evidence_difference", CR_FIELD_SOMETIMES, "of these: in log P(e)"),
    CR_COUNT("samples", CR_FIELD_SOMETIMES, "how many were drawn"),
    CR_NUMBER("effective", CR_FIELD_SOMETIMES, "as many independent samples would be as good"),
    CR_NUMBER("standard_error", CR_FIELD_SOMETIMES, "largest of the probabilities shown"),
    CR_NUMBER("log_evidence_se", CR_FIELD_SOMETIMES, "standard error of log_evidence"),
    CR_NUMBER("accepted", CR_FIELD_SOMETIMES, "share of the samples that agree with the evidence"),
    CR_NUMBER(
        "pareto_k", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
        "shape of the tail of the weights; above 0.7 standard errors are too small; null: no tail"),
    CR_NUMBER("missed", CR_FIELD_SOMETIMES,
              "of importance: share of what a chain visits that outweighs every sample"),
    CR_COUNT("modes", CR_FIELD_SOMETIMES,
             "of importance: parts of the states that chains do not leave"),
    CR_COUNT("chains", CR_FIELD_SOMETIMES, "of Gibbs sampling"),
    CR_NUMBER("rhat", CR_FIELD_SOMETIMES, "potential scale reduction, the worst; 1 is good"),
    CR_COUNT("clusters", CR_FIELD_SOMETIMES, "of the join graph; of Gibbs sampling: blocks"),
    CR_COUNT("largest", CR_FIELD_SOMETIMES, "entries of the largest of these"),
    CR_FIELD_LAST,
};

static const cr_field independence[] = {
    CR_TEXT("x", 0, "a variable"),
    CR_TEXT("y", 0, "another"),
    CR_OTHER(TEXTS, "given", 0, "the parents of x"),
    CR_FIELD_LAST,
};

static const cr_field comparison[] = {
    CR_TEXT("file", 0, "the solution, as it was named"),
    CR_TEXT("kind", 0, "MAR, PR, MAP or MPE"),
    CR_NUMBER("difference", CR_FIELD_NULL,
              "the largest of the probabilities; of log10 P(e), or of log10 of both assignments"),
    CR_TEXT("variable", CR_FIELD_SOMETIMES, "of MAR: where it is"),
    CR_TEXT("state", CR_FIELD_SOMETIMES, "its state"),
    CR_NUMBER("here", CR_FIELD_NULL, "in this answer"),
    CR_NUMBER("there", CR_FIELD_NULL, "in the file"),
    CR_FIELD_LAST,
};

static const cr_field answer[] = {
    CR_TEXT("query", 0, "the question"),
    CR_TEXT("method", 0,
            "ve, jt, enumerate, search, an approximation, gaussian, or graph where no numbers were "
            "needed"),
    CR_FLAG("exact", 0, "whether the answer is exact, but for rounding"),
    CR_TEXT("reason", CR_FIELD_SOMETIMES, "why --method auto took an approximation"),
    CR_INNER(OBJECT, "error", CR_FIELD_SOMETIMES, "of an approximation: how good it is",
             approximation),
    CR_OTHER(ANY, "standard_errors", CR_FIELD_SOMETIMES, "of marginals by samples: in their shape"),
    CR_NUMBER("log_probability_upper", CR_FIELD_SOMETIMES,
              "of argmax, best found: no assignment has a larger log_probability"),
    CR_NUMBER("gap", CR_FIELD_SOMETIMES, "of it: how much larger that is than log_probability"),
    CR_NUMBER(
        "log_evidence", CR_FIELD_NULL,
        "log P(e); of a Markov network log Z with the evidence; null where it was not needed"),
    CR_OTHER(ANY, "marginals", CR_FIELD_SOMETIMES,
             "of P(x | e), P(* | e): {variable: {state: p}}; of a "
             "Gaussian network {variable: {mean, sd}}"),
    CR_OTHER(TEXTS, "variables", CR_FIELD_SOMETIMES,
             "of a Gaussian P(x, y | e): in the order of the next; of parents(x), ..., blanket(x), "
             "order()"),
    CR_OTHER(ANY, "mean", CR_FIELD_SOMETIMES, "of it: the mean of each"),
    CR_OTHER(ANY, "covariance", CR_FIELD_SOMETIMES, "of it: a row for each"),
    CR_NUMBER("density", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "of a Gaussian P(x=1.2 | e), argmax: the density given the evidence"),
    CR_NUMBER("log_density", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "of it: its log; null where variables are determined"),
    CR_INNER(ROWS, "table", CR_FIELD_SOMETIMES, "of P(x, y | e): each joint state", joint_row),
    CR_OTHER(ANY, "assignment", CR_FIELD_SOMETIMES,
             "of argmax: the state of each variable; of a Gaussian network its value"),
    CR_NUMBER(
        "probability", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
        "of P(x=a | e), of argmax: the probability given the evidence; null where P(e) is not "
        "known"),
    CR_NUMBER("log_probability", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
              "of P(x=a | e): its log, null if impossible; of argmax: log P(assignment, e)"),
    CR_FLAG("independent", CR_FIELD_SOMETIMES,
            "of x _|_ y | z, dsep(x; y | z): whether the graph separates them"),
    CR_OTHER(TEXTS, "trail", CR_FIELD_SOMETIMES, "if not: variables along a trail that is active"),
    CR_OTHER(TEXTS, "determined", CR_FIELD_SOMETIMES,
             "if only these separate them: variables that are functions of the given ones"),
    CR_NUMBER("entropy", CR_FIELD_SOMETIMES, "of H"),
    CR_NUMBER("information", CR_FIELD_SOMETIMES, "of I(x; y)"),
    CR_INNER(ROWS, "informative", CR_FIELD_SOMETIMES, "of I(x; *): the most informative first",
             informative),
    CR_TEXT("unit", CR_FIELD_SOMETIMES, "of H and I: bits or nats"),
    CR_INNER(ROWS, "assignments", CR_FIELD_SOMETIMES, "of best(k; ...): the most probable first",
             joint_row),
    CR_INNER(ROWS, "causes", CR_FIELD_SOMETIMES, "of causes(...): the largest factor first", cause),
    CR_INNER(ROWS, "parameters", CR_FIELD_SOMETIMES, "of sensitivity(...): the largest first",
             parameter_change),
    CR_OTHER(ANY, "edges", CR_FIELD_SOMETIMES, "of moral(): pairs of variables"),
    CR_OTHER(ANY, "cliques", CR_FIELD_SOMETIMES, "of cliques(): lists of variables"),
    CR_FLAG("chordal", CR_FIELD_SOMETIMES, "of chordal(): whether the moral graph is"),
    CR_FLAG("imap", CR_FIELD_SOMETIMES, "of imap(FILE): whether this graph is an I-map of that"),
    CR_INNER(OBJECT, "independence", CR_FIELD_SOMETIMES, "if not: one that holds here only",
             independence),
    CR_INNER(OBJECT, "comparison", CR_FIELD_SOMETIMES, "with the solution of --against",
             comparison),
    CR_INNER(OBJECT, "cost", CR_FIELD_SOMETIMES, "what it took; of a Gaussian network absent",
             query_cost),
    CR_FIELD_LAST,
};

static const cr_field refusal[] = {
    CR_TEXT("query", 0, "the question"),
    CR_TEXT("message", 0, "why it has no answer"),
    CR_FIELD_LAST,
};

const cr_field result_query[] = {
    CR_TEXT("network", 0, "the file, as it was named"),
    CR_COUNT("seed", 0, "random seed"),
    CR_INNER(ROWS, "results", 0, "one for each question that has an answer, in order", answer),
    CR_INNER(ROWS, "refused", CR_FIELD_SOMETIMES, "questions without an answer", refusal),
    CR_NUMBER("seconds", 0, "time of the answers, reading not counted"),
    CR_FIELD_LAST,
};

static const cr_field posterior[] = {
    CR_NUMBER("log_evidence", CR_FIELD_NULL,
              "log P(row); null for a row that is impossible, or where the method has none"),
    CR_FLAG("impossible", CR_FIELD_SOMETIMES,
            "true: the network, or every sample, excludes the row, or (Gaussian) what is seen "
            "determines itself"),
    CR_OTHER(ANY, "marginals", 0,
             "{variable: {state: p}}, of a Gaussian network {variable: {mean, sd}}; "
             "empty for a row that is impossible"),
    CR_INNER(OBJECT, "error", CR_FIELD_SOMETIMES, "of an approximation: how good it is",
             approximation),
    CR_FIELD_LAST,
};

const cr_field result_infer[] = {
    CR_TEXT("network", 0, "the file, as it was named"),
    CR_COUNT("rows", 0, "rows of evidence"),
    CR_TEXT("method", 0, "jt: a junction tree; ve, enumerate, gaussian, or an approximation"),
    CR_FLAG("exact", 0, "whether the answers are exact, but for rounding"),
    CR_COUNT("seed", 0, "random seed"),
    CR_INNER(ROWS, "results", 0, "one for each row, in order", posterior),
    CR_FIELD_LAST,
};

const cr_field result_denoise[] = {
    CR_TEXT("image", 0, "the file, as it was named"),
    CR_COUNT("width", 0, "pixels"),
    CR_COUNT("height", 0, "pixels"),
    CR_COUNT("labels", 0, "greys of the result"),
    CR_TEXT("method", 0, "cut, icm, max-product or gibbs"),
    CR_FLAG("exact", 0, "whether this is the least energy"),
    CR_FLAG("converged", 0, "whether it had settled"),
    CR_COUNT("sweeps", 0, "sweeps over the pixels; of cut its moves"),
    CR_NUMBER("energy_before", 0, "energy of the image as it was, in the nearest greys"),
    CR_NUMBER("energy", 0, "energy of the result: -log p but for a constant"),
    CR_COUNT("changed", 0, "pixels"),
    CR_NUMBER(
        "error_before", CR_FIELD_SOMETIMES,
        "with --truth: the share of wrong pixels; of more than two greys the root mean square"),
    CR_NUMBER("error", CR_FIELD_SOMETIMES, "the same of the result"),
    CR_COUNT("seed", 0, "random seed"),
    CR_NUMBER("seconds", 0, "time it took, reading and writing not counted"),
    CR_FIELD_LAST,
};
