/* answer_fields.c -- what may stand in the sheet of an answer: names, units and meaning. */
#include "questions.h"

const cr_field cri_approximate_fields[] = {
    CR_FLAG("converged", CR_FIELD_SOMETIMES,
            "messages: whether they stopped changing; chains: whether they mixed"),
    CR_COUNT("iterations", CR_FIELD_SOMETIMES, "sweeps over all messages"),
    CR_NUMBER("residual", CR_FIELD_SOMETIMES, "largest change of a message at the end"),
    CR_NUMBER("damping", CR_FIELD_SOMETIMES, "share of the old message that was kept, at the end"),
    CR_MEASURE("lower", "nats", CR_FIELD_SOMETIMES, "lower bound of log P(e)"),
    CR_MEASURE("upper", "nats", CR_FIELD_SOMETIMES,
               "upper bound of log P(e); of argmax: of log P(assignment, e)"),
    CR_NUMBER("probability_difference", CR_FIELD_SOMETIMES,
              "of bp: largest difference in a probability from a short run of gbp; of gbp: from "
              "one of bp"),
    CR_MEASURE("log_evidence_difference", "nats", CR_FIELD_SOMETIMES, "of these: in log P(e)"),
    CR_COUNT("samples", CR_FIELD_SOMETIMES, "number of samples drawn"),
    CR_NUMBER("effective", CR_FIELD_SOMETIMES, "equivalent number of independent samples"),
    CR_NUMBER("standard_error", CR_FIELD_SOMETIMES, "largest of the probabilities shown"),
    CR_MEASURE("log_evidence_se", "nats", CR_FIELD_SOMETIMES, "standard error of log_evidence"),
    CR_NUMBER("accepted", CR_FIELD_SOMETIMES, "share of the samples that agree with the evidence"),
    CR_NUMBER(
        "pareto_k", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
        "shape of the tail of the weights; above 0.7 standard errors are too small; null: no tail"),
    CR_NUMBER("missed", CR_FIELD_SOMETIMES,
              "of importance: share of what a chain visits that outweighs every sample"),
    CR_COUNT("modes", CR_FIELD_SOMETIMES,
             "of importance: regions of the state space that chains do not leave"),
    CR_COUNT("chains", CR_FIELD_SOMETIMES, "of Gibbs sampling"),
    CR_NUMBER("rhat", CR_FIELD_SOMETIMES, "largest potential scale reduction; 1 is good"),
    CR_COUNT("clusters", CR_FIELD_SOMETIMES, "of the join graph; of Gibbs sampling: blocks"),
    CR_COUNT("largest", CR_FIELD_SOMETIMES, "entries of the largest of these"),
    CR_COUNT("planned", CR_FIELD_SOMETIMES,
             "where the time limit ended it: sweeps, samples or steps that were asked for"),
    CR_COUNT("made", CR_FIELD_SOMETIMES, "of these: how many there are"),
    CR_FIELD_LAST,
};

const cr_field cri_comparison_fields[] = {
    CR_TEXT("file", 0, "the solution, as it was named"),
    CR_TEXT("kind", 0, "MAR, PR, MAP or MPE"),
    CR_NUMBER("difference", CR_FIELD_NULL,
              "the largest of the probabilities; of log10 P(e), or of log10 of both assignments; "
              "null: infinite"),
    CR_TEXT("variable", CR_FIELD_SOMETIMES, "of MAR: where it is"),
    CR_TEXT("state", CR_FIELD_SOMETIMES, "its state"),
    CR_NUMBER("here", CR_FIELD_NULL, "in this answer"),
    CR_NUMBER("there", CR_FIELD_NULL, "in the file"),
    CR_FIELD_LAST,
};

static const cr_field joint_fields[] = {
    CR_OTHER(WORDS, "states", 0, "the state of each variable"),
    CR_NUMBER("p", 0, "their probability given the evidence"),
    CR_FIELD_LAST,
};

static const cr_field gain_fields[] = {
    CR_TEXT("variable", 0, "a variable that might be observed"),
    CR_NUMBER("information", 0,
              "information it would give about the variables asked for, on average"),
    CR_FIELD_LAST,
};

static const cr_field cost_fields[] = {
    CR_COUNT("variables", 0, "variables eliminated, after evidence and pruning"),
    CR_COUNT("width", 0, "largest clique, minus one"),
    CR_NUMBER("operations", 0, "entries of all cliques, in all runs"),
    CR_MEASURE("bytes", "bytes", 0, "estimated peak memory"),
    CR_COUNT("conditioned", CR_FIELD_SOMETIMES,
             "variables held fixed in turn because tables did not fit"),
    CR_NUMBER("runs", CR_FIELD_SOMETIMES, "if so: number of their joint states, with one run each"),
    CR_FIELD_LAST,
};

static const cr_field plan_fields[] = {
    CR_TEXT("method", 0, "the method planned"),
    CR_COUNT("width", CR_FIELD_SOMETIMES,
             "largest clique, minus one, of an exact answer; absent if that was not asked for"),
    CR_NUMBER("operations", CR_FIELD_SOMETIMES, "of it: entries of all cliques"),
    CR_MEASURE("bytes", "bytes", CR_FIELD_SOMETIMES, "of it: estimated peak memory"),
    CR_TEXT("why", 0, "the reason"),
    CR_FIELD_LAST,
};

static const cr_field cause_fields[] = {
    CR_TEXT("variable", 0, "a variable"),
    CR_TEXT("state", 0, "the state that the evidence supports most"),
    CR_NUMBER("before", 0, "its probability without the evidence"),
    CR_NUMBER("after", 0, "its probability with it"),
    CR_NUMBER("factor", CR_FIELD_NULL,
              "Bayes factor of the state against its others; null: infinite"),
    CR_NUMBER("factor_se", CR_FIELD_NULL | CR_FIELD_SOMETIMES, "by sampling: its standard error"),
    CR_FIELD_LAST,
};

static const cr_field parameter_fields[] = {
    CR_TEXT("variable", CR_FIELD_SOMETIMES, "whose table it is in, of a Bayesian network"),
    CR_TEXT("state", CR_FIELD_SOMETIMES, "its state"),
    CR_OTHER(WORDS, "given", CR_FIELD_SOMETIMES, "the states of its parents"),
    CR_COUNT("table", CR_FIELD_SOMETIMES, "of a Markov network: which table"),
    CR_OTHER(WORDS, "states", CR_FIELD_SOMETIMES,
             "of a Markov network: the states of its variables"),
    CR_NUMBER("value", 0, "its present value"),
    CR_NUMBER("derivative", 0,
              "of the probability with respect to it, with the rest of its row in proportion"),
    CR_FIELD_LAST,
};

static const cr_field independence_fields[] = {
    CR_TEXT("x", 0, "a variable"),
    CR_TEXT("y", 0, "another"),
    CR_OTHER(TEXTS, "given", 0, "the parents of x"),
    CR_FIELD_LAST,
};

const cr_field cri_answer_fields[] = {
    CR_TEXT("query", 0, "the question"),
    CR_TEXT("method", 0,
            "ve, jt, enumerate, search, an approximation, gaussian, or graph if no numbers were "
            "needed"),
    CR_FLAG("exact", 0, "whether the answer is exact, up to rounding"),
    CR_TEXT("reason", CR_FIELD_SOMETIMES, "why --method auto used an approximation"),
    CR_INNER(OBJECT, "error", CR_FIELD_SOMETIMES, "of an approximation: how good it is",
             cri_approximate_fields),
    CR_OTHER(ANY, "standard_errors", CR_FIELD_SOMETIMES,
             "of marginals by sampling: in the same form"),
    CR_MEASURE("log_joint_upper", "nats", CR_FIELD_SOMETIMES,
               "of argmax, best found: no assignment has a larger log_joint"),
    CR_MEASURE("gap", "nats", CR_FIELD_SOMETIMES, "of it: how much larger that is than log_joint"),
    CR_MEASURE("log_evidence", "nats", CR_FIELD_NULL,
               "log P(e); of a Markov network log Z with the evidence; null if it was not needed"),
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
    CR_INNER(ROWS, "table", CR_FIELD_SOMETIMES, "of P(x, y | e): each joint state", joint_fields),
    CR_OTHER(ANY, "assignment", CR_FIELD_SOMETIMES,
             "of argmax: the state of each variable; of a Gaussian network its value"),
    CR_NUMBER(
        "probability", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
        "of P(x=a | e), of argmax: the probability given the evidence; null where P(e) is not "
        "known"),
    CR_MEASURE("log_probability", "nats", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
               "the log of probability; null if impossible, or where P(e) is not known"),
    CR_MEASURE("log_joint", "nats", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
               "of argmax: log P(assignment, e), which is log_probability + log_evidence; of a "
               "Markov network the log of the product of its tables"),
    CR_FLAG("independent", CR_FIELD_SOMETIMES,
            "of x _|_ y | z, dsep(x; y | z): whether the graph separates them"),
    CR_OTHER(TEXTS, "trail", CR_FIELD_SOMETIMES, "if not: variables along a trail that is active"),
    CR_OTHER(TEXTS, "determined", CR_FIELD_SOMETIMES,
             "if only these separate them: variables that are functions of the given ones"),
    CR_NUMBER("entropy", CR_FIELD_SOMETIMES, "of H"),
    CR_NUMBER("information", CR_FIELD_SOMETIMES, "of I(x; y)"),
    CR_INNER(ROWS, "informative", CR_FIELD_SOMETIMES, "of I(x; *): the most informative first",
             gain_fields),
    CR_TEXT("unit", CR_FIELD_SOMETIMES, "of H and I: bits or nats"),
    CR_INNER(ROWS, "assignments", CR_FIELD_SOMETIMES, "of best(k; ...): the most probable first",
             joint_fields),
    CR_INNER(ROWS, "causes", CR_FIELD_SOMETIMES, "of causes(...): the largest factor first",
             cause_fields),
    CR_INNER(ROWS, "parameters", CR_FIELD_SOMETIMES, "of sensitivity(...): the largest first",
             parameter_fields),
    CR_OTHER(ANY, "edges", CR_FIELD_SOMETIMES, "of moral(): pairs of variables"),
    CR_OTHER(ANY, "cliques", CR_FIELD_SOMETIMES, "of cliques(): lists of variables"),
    CR_FLAG("chordal", CR_FIELD_SOMETIMES, "of chordal(): whether the moral graph is"),
    CR_FLAG("imap", CR_FIELD_SOMETIMES, "of imap(FILE): whether this graph is an I-map of that"),
    CR_INNER(OBJECT, "independence", CR_FIELD_SOMETIMES, "if not: one that holds only here",
             independence_fields),
    CR_INNER(OBJECT, "comparison", CR_FIELD_SOMETIMES, "with the solution of --against",
             cri_comparison_fields),
    CR_INNER(OBJECT, "cost", CR_FIELD_SOMETIMES,
             "cost of the computation; absent for a Gaussian network", cost_fields),
    CR_INNER(OBJECT, "plan", CR_FIELD_SOMETIMES,
             "with --verbose: the plan made before the computation", plan_fields),
    CR_FIELD_LAST,
};
