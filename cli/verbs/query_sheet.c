/* query_sheet.c -- answers of query as sheets. */
#include "approximate.h"
#include "network.h"
#include "query_answers.h"
#include "query_solution.h"

#include <math.h>

static const cr_field joint_fields[] = {
    CR_OTHER(WORDS, "states", 0, "the state of each variable"),
    CR_NUMBER("p", 0, "their probability given the evidence"),
    CR_FIELD_LAST,
};

static const cr_field gain_fields[] = {
    CR_TEXT("variable", 0, "one that might be observed"),
    CR_NUMBER("information", 0, "what it tells about the variables asked for, on average"),
    CR_FIELD_LAST,
};

static const cr_field cost_fields[] = {
    CR_COUNT("variables", 0, "that were eliminated, after evidence and pruning"),
    CR_COUNT("width", 0, "largest clique, minus one"),
    CR_NUMBER("operations", 0, "entries of all cliques, in all runs"),
    CR_MEASURE("bytes", "bytes", 0, "held at the most at a time, as foretold"),
    CR_COUNT("conditioned", CR_FIELD_SOMETIMES,
             "variables held fixed in turn, since tables did not fit"),
    CR_NUMBER("runs", CR_FIELD_SOMETIMES, "then: their joint states, each of which takes a run"),
    CR_FIELD_LAST,
};

static const cr_field plan_fields[] = {
    CR_TEXT("method", 0, "what was to compute it"),
    CR_COUNT("width", CR_FIELD_SOMETIMES,
             "largest clique, minus one, of an exact answer; absent where that was not asked for"),
    CR_NUMBER("operations", CR_FIELD_SOMETIMES, "then: entries of all cliques"),
    CR_MEASURE("bytes", "bytes", CR_FIELD_SOMETIMES, "then: held at the most at a time"),
    CR_TEXT("why", 0, "the reason"),
    CR_FIELD_LAST,
};

const cr_field query_answer_fields[] = {
    CR_TEXT("query", 0, "the question"),
    CR_TEXT("method", 0,
            "ve, jt, enumerate, search, an approximation, gaussian, or graph where no numbers were "
            "needed"),
    CR_FLAG("exact", 0, "whether the answer is exact, but for rounding"),
    CR_TEXT("reason", CR_FIELD_SOMETIMES, "why --method auto took an approximation"),
    CR_INNER(OBJECT, "error", CR_FIELD_SOMETIMES, "of an approximation: how good it is",
             approximate_fields),
    CR_OTHER(ANY, "standard_errors", CR_FIELD_SOMETIMES, "of marginals by samples: in their shape"),
    CR_MEASURE("log_probability_upper", "nats", CR_FIELD_SOMETIMES,
               "of argmax, best found: no assignment has a larger log_probability"),
    CR_MEASURE("gap", "nats", CR_FIELD_SOMETIMES,
               "of it: how much larger that is than log_probability"),
    CR_MEASURE(
        "log_evidence", "nats", CR_FIELD_NULL,
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
    CR_INNER(ROWS, "table", CR_FIELD_SOMETIMES, "of P(x, y | e): each joint state", joint_fields),
    CR_OTHER(ANY, "assignment", CR_FIELD_SOMETIMES,
             "of argmax: the state of each variable; of a Gaussian network its value"),
    CR_NUMBER(
        "probability", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
        "of P(x=a | e), of argmax: the probability given the evidence; null where P(e) is not "
        "known"),
    CR_MEASURE("log_probability", "nats", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
               "of P(x=a | e): its log, null if impossible; of argmax: log P(assignment, e)"),
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
             query_cause_fields),
    CR_INNER(ROWS, "parameters", CR_FIELD_SOMETIMES, "of sensitivity(...): the largest first",
             query_parameter_fields),
    CR_OTHER(ANY, "edges", CR_FIELD_SOMETIMES, "of moral(): pairs of variables"),
    CR_OTHER(ANY, "cliques", CR_FIELD_SOMETIMES, "of cliques(): lists of variables"),
    CR_FLAG("chordal", CR_FIELD_SOMETIMES, "of chordal(): whether the moral graph is"),
    CR_FLAG("imap", CR_FIELD_SOMETIMES, "of imap(FILE): whether this graph is an I-map of that"),
    CR_INNER(OBJECT, "independence", CR_FIELD_SOMETIMES, "if not: one that holds here only",
             query_independence_fields),
    CR_INNER(OBJECT, "comparison", CR_FIELD_SOMETIMES, "with the solution of --against",
             query_solution_fields),
    CR_INNER(OBJECT, "cost", CR_FIELD_SOMETIMES, "what it took; of a Gaussian network absent",
             cost_fields),
    CR_INNER(OBJECT, "plan", CR_FIELD_SOMETIMES,
             "with --verbose: how it was to be computed, before any work", plan_fields),
    CR_FIELD_LAST,
};

/* "yes": 0.1, "no": 0.9 of every variable, with as many numbers as they have states. */
static void put_marginals(const query_job *j, const cr_query_answer *a, const double *p,
                          cri_sheet *out)
{
    for (size_t i = 0; i < a->n; i++) {
        size_t     v = a->variable[i];
        cri_sheet *one = cri_put_object(out, query_name(j, v));
        for (size_t s = 0; s < cr_variable_states(j->vs, v); s++)
            cri_put_real(one, query_state(j, v, s), *p++);
    }
}

size_t query_entry(const query_job *j, const cr_query_answer *a, size_t e, size_t *states)
{
    size_t at = 0;
    for (size_t k = a->n; k-- > 0;) {
        size_t n = cr_variable_states(j->vs, a->variable[k]);
        states[k] = e % n;
        e /= n;
        at += states[k] * a->table.stride[cr_factor_position(&a->table, a->variable[k])];
    }
    return at;
}

void query_put_assignment(const query_job *j, const cr_query_answer *a, const size_t *states,
                          cri_sheet *out)
{
    for (size_t k = 0; k < a->n; k++)
        cri_put_text(out, query_name(j, a->variable[k]), query_state(j, a->variable[k], states[k]));
}

static void put_joint(const query_job *j, const cr_query_answer *a, size_t *states, cri_sheet *rows)
{
    for (size_t e = 0; e < a->table.size; e++) {
        size_t     at = query_entry(j, a, e, states);
        cri_sheet *row = cri_put_object(rows, NULL);
        query_put_assignment(j, a, states, cri_put_object(row, "states"));
        cri_put_real(row, "p", a->table.value[at]);
    }
}

void query_put_gains(const query_job *j, size_t n, const size_t *variables, const double *nats,
                     cri_sheet *rows)
{
    for (size_t i = 0; i < n; i++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "variable", query_name(j, variables[i]));
        cri_put_real(row, "information", nats[i] / j->per);
    }
}

void query_put_information(const query_job *j, const char *name, double nats, cri_sheet *out)
{
    cri_put_real(out, name, nats / j->per);
    cri_put_text(out, "unit", j->unit);
}

void query_put_separation(const query_job *j, bool separated, size_t n, const size_t *trail,
                          cri_sheet *out)
{
    cri_put_flag(out, "independent", separated);
    if (!separated) cli_put_names(out, "trail", j->vs, trail, n);
}

static void put_probability(const cr_query_answer *a, cri_sheet *out)
{
    cri_put_real(out, "probability", a->number);
    cri_put_real(out, "log_probability", a->log_number);
}

static void put_values(const query_job *j, const cr_query_answer *a, size_t *states, cri_sheet *out)
{
    switch (a->kind) {
    case CR_QUESTION_TABLE:
        if (a->n == 1)
            put_marginals(j, a, a->table.value, cri_put_object(out, "marginals"));
        else
            put_joint(j, a, states, cri_put_list(out, "table"));
        break;
    case CR_QUESTION_MARGINALS:
        put_marginals(j, a, a->value, cri_put_object(out, "marginals"));
        break;
    case CR_QUESTION_PROBABILITY:
        put_probability(a, out);
        break;
    case CR_QUESTION_BEST:
        query_put_assignment(j, a, a->state, cri_put_object(out, "assignment"));
        put_probability(a, out);
        break;
    case CR_QUESTION_SEPARATION:
        query_put_separation(j, a->separated, a->trail_length, a->trail, out);
        if (a->n > 0) cli_put_names(out, "determined", j->vs, a->variable, a->n);
        break;
    case CR_QUESTION_ENTROPY:
        query_put_information(j, "entropy", a->number, out);
        break;
    case CR_QUESTION_INFORMATION:
        query_put_information(j, "information", a->number, out);
        break;
    case CR_QUESTION_INFORMATIVE:
        query_put_gains(j, a->n, a->variable, a->value, cri_put_list(out, "informative"));
        cri_put_text(out, "unit", j->unit);
        break;
    case CR_QUESTION_STRUCTURE:
        query_put_structure(j, a, out);
        break;
    case CR_QUESTION_SENSITIVITY:
        put_probability(a, out);
        query_put_list(j, a, out);
        break;
    default:
        query_put_list(j, a, out);
    }
}

static void put_plan(const cr_query_planned *p, cri_sheet *out)
{
    cri_put_text(out, "method", p->method);
    if (p->cost.variables > 0) {
        cri_put_count(out, "width", p->cost.width);
        cri_put_real(out, "operations", p->cost.operations);
        cri_put_real(out, "bytes", p->cost.bytes);
    }
    cri_put_text(out, "why", p->why);
}

static void put_cost(const cr_query_answer *a, cri_sheet *out)
{
    cri_put_count(out, "variables", a->cost.variables);
    cri_put_count(out, "width", a->cost.width);
    cri_put_real(out, "operations", a->cost.operations);
    cri_put_real(out, "bytes", a->cost.bytes);
    if (a->cost.conditioned == 0) return;
    cri_put_count(out, "conditioned", a->cost.conditioned);
    cri_put_real(out, "runs", a->cost.runs);
}

cr_approximate_report query_report(const query_job *j, const cr_query_answer *a)
{
    cr_approximate_report r = a->error;
    if (a->kind == CR_QUESTION_ENTROPY || a->kind == CR_QUESTION_INFORMATION) r.se /= j->per;
    return r;
}

/* Standard errors in the shape of the marginals, and what is known of the error. */
static void put_error(const query_job *j, const cr_query_answer *a, cri_sheet *out)
{
    cr_approximate_report r = query_report(j, a);
    if (a->se && a->kind == CR_QUESTION_MARGINALS)
        put_marginals(j, a, a->se, cri_put_object(out, "standard_errors"));
    if (a->kind == CR_QUESTION_BEST && !isnan(a->upper)) {
        cri_put_real(out, "log_probability_upper", a->upper);
        cri_put_real(out, "gap", a->upper - a->log_number);
    }
    if (a->why[0]) cri_put_text(out, "reason", a->why);
    if (!a->open) approximate_put_error(&r, cri_put_object(out, "error"));
}

void query_put_head(const query_job *j, const char *method, bool exact, double log_evidence,
                    cri_sheet *out)
{
    cri_put_text(out, "query", j->text);
    cri_put_text(out, "method", method);
    cri_put_flag(out, "exact", exact);
    cri_put_real(out, "log_evidence", log_evidence);
}

void query_put_answer(const query_job *j, const cr_query_answer *a, size_t *states, cri_sheet *out)
{
    query_put_head(j, a->method, a->exact, a->log_evidence, out);
    put_values(j, a, states, out);
    if (!a->exact) put_error(j, a, out);
    put_cost(a, cri_put_object(out, "cost"));
    if (j->c->global.verbose && a->plan.method) put_plan(&a->plan, cri_put_object(out, "plan"));
}
