/* cmd_query.c -- query: questions to a network, and their answers shown. */
#include "approximate.h"
#include "gaussian.h"
#include "network.h"
#include "query_lists.h"
#include "base/context_internal.h"
#include "base/list.h"
#include "models/graph/query.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* clang-format off */
#define QUERY_OPTIONS(X)                                                                           \
    X(choice, method,   "auto", CR_QUERY_METHODS,                                                  \
      "exact: elimination (ve), junction tree (jt) or enumeration; or an approximation; auto is "  \
      "exact if that fits memory and --budget", "bp")                                              \
    X(text,   evidence, "", "FILE",                                                                \
      "evidence for all questions: JSON {\"x\": \"state\"}, or a UAI file .evid", "evidence.json") \
    X(choice, unit,     "bits", "bits|nats", "unit of H and I", "nats")                            \
    X(choice, from,     "auto", "auto|bif|xmlbif|net|uai|cred|json",                               \
      "format of the network; auto looks at the name and the bytes", "bif")                        \
    CLI_METHOD_OPTIONS(X)
/* clang-format on */
CR_OPTIONS_STRUCT(query_options, QUERY_OPTIONS);
#define ROW(...) CR_OPTION_ROW(query_options, __VA_ARGS__)
static const cr_option query_table[] = { QUERY_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

typedef struct query_job {
    cli                *c;
    const cr_network   *net;
    const cr_variables *vs;
    const char         *text; /* of the question */
    const char         *unit;
    double              per;    /* nats in one unit */
    bool                errors; /* CSV: some answer is approximate, so all rows say how they came */
    const char         *method;
    double              se; /* of the row to come; NaN: none */
} query_job;

static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static json_t *variable_text(const query_job *j, size_t v)
{
    return json_string_nocheck(cr_variable_name(j->vs, v));
}

static json_t *state_text(const query_job *j, size_t v, size_t s)
{
    return json_string_nocheck(cr_state_name(j->vs, v, s));
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* {"yes": 0.1, "no": 0.9} */
static json_t *distribution(const query_job *j, size_t v, const double *p)
{
    json_t *out = json_object();
    for (size_t s = 0; s < cr_variable_states(j->vs, v); s++)
        json_object_set_new_nocheck(out, cr_state_name(j->vs, v, s), json_real(p[s]));
    return out;
}

static json_t *marginals(const query_job *j, const cr_query_answer *a)
{
    json_t       *out = json_object();
    const double *p = a->kind == CR_QUESTION_TABLE ? a->table.value : a->value;
    for (size_t i = 0; i < a->n; i++) {
        json_object_set_new_nocheck(out, cr_variable_name(j->vs, a->variable[i]),
                                    distribution(j, a->variable[i], p));
        p += cr_variable_states(j->vs, a->variable[i]);
    }
    return out;
}

/* The states of the variables asked for at entry e, the last running fastest; and where that is in
 * the table. */
static size_t find_entry(const query_job *j, const cr_query_answer *a, size_t e, size_t *states)
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

static json_t *assignment(const query_job *j, const cr_query_answer *a, const size_t *states)
{
    json_t *out = json_object();
    for (size_t k = 0; k < a->n; k++)
        json_object_set_new_nocheck(out, cr_variable_name(j->vs, a->variable[k]),
                                    state_text(j, a->variable[k], states[k]));
    return out;
}

static json_t *joint_rows(const query_job *j, const cr_query_answer *a, size_t *states)
{
    json_t *out = json_array();
    for (size_t e = 0; e < a->table.size; e++) {
        json_t *row = json_object();
        size_t  at = find_entry(j, a, e, states);
        json_object_set_new(row, "states", assignment(j, a, states));
        json_object_set_new(row, "p", json_real(a->table.value[at]));
        json_array_append_new(out, row);
    }
    return out;
}

static json_t *names(const query_job *j, const size_t *list, size_t n)
{
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(out, variable_text(j, list[i]));
    return out;
}

static json_t *gains(const query_job *j, const cr_query_answer *a)
{
    json_t *out = json_array();
    for (size_t i = 0; i < a->n; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "variable", variable_text(j, a->variable[i]));
        json_object_set_new(row, "information", number(a->value[i] / j->per));
        json_array_append_new(out, row);
    }
    return out;
}

static void add_answer(const query_job *j, const cr_query_answer *a, size_t *states, json_t *out)
{
    switch (a->kind) {
    case CR_QUESTION_TABLE:
        if (a->n == 1)
            json_object_set_new(out, "marginals", marginals(j, a));
        else
            json_object_set_new(out, "table", joint_rows(j, a, states));
        break;
    case CR_QUESTION_MARGINALS:
        json_object_set_new(out, "marginals", marginals(j, a));
        break;
    case CR_QUESTION_PROBABILITY:
        json_object_set_new(out, "probability", number(a->number));
        json_object_set_new(out, "log_probability", number(a->log_number));
        break;
    case CR_QUESTION_BEST:
        json_object_set_new(out, "assignment", assignment(j, a, a->state));
        json_object_set_new(out, "probability", number(a->number));
        json_object_set_new(out, "log_probability", number(a->log_number));
        break;
    case CR_QUESTION_SEPARATION:
        json_object_set_new(out, "independent", json_boolean(a->separated));
        if (!a->separated) json_object_set_new(out, "trail", names(j, a->trail, a->trail_length));
        break;
    case CR_QUESTION_ENTROPY:
        json_object_set_new(out, "entropy", number(a->number / j->per));
        json_object_set_new(out, "unit", json_string(j->unit));
        break;
    case CR_QUESTION_INFORMATION:
        json_object_set_new(out, "information", number(a->number / j->per));
        json_object_set_new(out, "unit", json_string(j->unit));
        break;
    case CR_QUESTION_INFORMATIVE:
        json_object_set_new(out, "informative", gains(j, a));
        json_object_set_new(out, "unit", json_string(j->unit));
        break;
    default:
        query_list_json(j->net, a, out);
    }
}

static json_t *cost_object(const cr_query_answer *a)
{
    json_t *out = json_object();
    json_object_set_new(out, "variables", json_integer((json_int_t)a->cost.variables));
    json_object_set_new(out, "width", json_integer((json_int_t)a->cost.width));
    json_object_set_new(out, "operations", number(a->cost.operations));
    json_object_set_new(out, "bytes", number(a->cost.bytes));
    return out;
}

/* Standard errors in the shape of the marginals, and what is known of the error. */
static void add_error(const query_job *j, const cr_query_answer *a, json_t *out)
{
    json_t *se = a->se ? json_object() : NULL;
    for (size_t i = 0, k = 0; se && i < a->n; k += cr_variable_states(j->vs, a->variable[i++]))
        json_object_set_new_nocheck(se, cr_variable_name(j->vs, a->variable[i]),
                                    distribution(j, a->variable[i], a->se + k));
    if (se) json_object_set_new(out, "standard_errors", se);
    if (a->kind == CR_QUESTION_BEST && !isnan(a->upper))
        json_object_set_new(out, "log_probability_upper", number(a->upper));
    if (a->why[0]) json_object_set_new(out, "reason", json_string_nocheck(a->why));
    if (!a->open) json_object_set_new(out, "error", approximate_error(&a->error));
}

static json_t *json_answer(const query_job *j, const cr_query_answer *a, size_t *states)
{
    json_t *out = json_object();
    json_object_set_new(out, "query", json_string_nocheck(j->text));
    json_object_set_new(out, "method", json_string(a->method));
    json_object_set_new(out, "exact", json_boolean(a->exact));
    json_object_set_new(out, "log_evidence", number(a->log_evidence));
    add_answer(j, a, states, out);
    if (!a->exact) add_error(j, a, out);
    json_object_set_new(out, "cost", cost_object(a));
    return out;
}

/* --- text ------------------------------------------------------------------------------------ */

static void print_pair(cli *c, const char *name, double x)
{
    char text[32];
    out_text(c, "  %s %s\n", name, out_number(x, false, text));
}

static void print_joint(const query_job *j, const cr_query_answer *a, size_t *states)
{
    json_t     *rows = json_array();
    const char *p = "P";
    for (size_t k = 0; k < a->n; k++)
        if (strcmp(cr_variable_name(j->vs, a->variable[k]), p) == 0) p = "probability";
    for (size_t e = 0; e < a->table.size; e++) {
        size_t  at = find_entry(j, a, e, states);
        json_t *row = assignment(j, a, states);
        json_object_set_new_nocheck(row, p, json_real(a->table.value[at]));
        json_array_append_new(rows, row);
    }
    out_table(j->c, rows);
    json_decref(rows);
}

/* One line per variable where the states are few, else one per state. */
static void print_marginals(const query_job *j, const cr_query_answer *a)
{
    json_t       *rows = json_array();
    const double *p = a->value;
    size_t        k = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t s = 0; s < cr_variable_states(j->vs, a->variable[i]); s++) {
            json_t *row = json_object();
            json_object_set_new(row, "variable",
                                s ? json_string("") : variable_text(j, a->variable[i]));
            json_object_set_new(row, "state", state_text(j, a->variable[i], s));
            json_object_set_new(row, "P", json_real(p[k]));
            if (a->se) json_object_set_new(row, "se", json_real(a->se[k]));
            json_array_append_new(rows, row);
            k++;
        }
    out_table(j->c, rows);
    json_decref(rows);
}

static void print_best(const query_job *j, const cr_query_answer *a)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < a->n; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "variable", variable_text(j, a->variable[i]));
        json_object_set_new(row, "state", state_text(j, a->variable[i], a->state[i]));
        json_array_append_new(rows, row);
    }
    out_table(j->c, rows);
    json_decref(rows);
    if (!isnan(a->number))
        print_pair(j->c, "probability given the evidence", a->number);
    else
        print_pair(j->c, "log of probability or of its tables' product", a->log_number);
    if (a->exact) return;
    if (!a->open) print_pair(j->c, "best found: log P(assignment, e)", a->log_number);
    if (!isnan(a->upper))
        print_pair(j->c,
                   a->open ? "not proven to be the best: the log of that is no more than"
                           : "no assignment has more than",
                   a->upper);
}

static bool is_parent(const cr_network *net, size_t parent, size_t child)
{
    size_t        n;
    const size_t *list = cr_network_parents(net, child, &n);
    for (size_t i = 0; i < n; i++)
        if (list[i] == parent) return true;
    return false;
}

/* a -> b <- c */
static void print_trail(const query_job *j, const cr_query_answer *a)
{
    bool bayes = cr_network_get_kind(j->net) == CR_NETWORK_BAYES;
    out_text(j->c, "  not independent: ");
    for (size_t i = 0; i < a->trail_length; i++) {
        if (i > 0)
            out_text(j->c, " %s ",
                     !bayes                                            ? "-"
                     : is_parent(j->net, a->trail[i - 1], a->trail[i]) ? "->"
                                                                       : "<-");
        out_text(j->c, "%s", cr_variable_name(j->vs, a->trail[i]));
    }
    out_text(j->c, "%s\n", a->trail_length ? " is active" : "");
}

static void print_text(const query_job *j, const cr_query_answer *a, size_t *states)
{
    cli *c = j->c;
    char text[32];
    out_text(c, "%s\n", j->text);
    switch (a->kind) {
    case CR_QUESTION_TABLE:
        print_joint(j, a, states);
        break;
    case CR_QUESTION_MARGINALS:
        print_marginals(j, a);
        break;
    case CR_QUESTION_PROBABILITY:
        out_text(c, "  %s\n", out_number(a->number, false, text));
        break;
    case CR_QUESTION_BEST:
        print_best(j, a);
        break;
    case CR_QUESTION_SEPARATION:
        if (a->separated)
            out_text(c, "  independent\n");
        else
            print_trail(j, a);
        break;
    case CR_QUESTION_ENTROPY:
    case CR_QUESTION_INFORMATION:
        out_text(c, "  %s %s\n", out_number(a->number / j->per, false, text), j->unit);
        break;
    case CR_QUESTION_INFORMATIVE: {
        json_t *rows = gains(j, a);
        out_table(c, rows);
        json_decref(rows);
        break;
    }
    default:
        query_list_text(c, j->net, a);
    }
    if (!a->exact && !a->open) approximate_line(c, a->method, &a->error);
}

/* --- CSV: query, variable, state, value ------------------------------------------------------ */

/* Names as one field: a list with commas. */
static void put_list(cli *c, const char *const *list, size_t n)
{
    char   text[4096] = "";
    size_t used = 0;
    for (size_t i = 0; i < n && used + 2 < sizeof text; i++) {
        if (n == 1) {
            out_csv_field(c, list[0]);
            return;
        }
        if (i) text[used++] = ',';
        used += cri_list_quote(list[i], text + used, sizeof text - used);
        if (used >= sizeof text) used = sizeof text - 1;
    }
    out_csv_field(c, text);
}

static void put_row(const query_job *j, const char *const *variables, const char *const *states,
                    size_t n, double value)
{
    char text[32];
    out_csv_field(j->c, j->text);
    out_text(j->c, ",");
    put_list(j->c, variables, n);
    out_text(j->c, ",");
    put_list(j->c, states, n);
    out_text(j->c, ",%s", out_number(value, true, text));
    if (j->errors)
        out_text(j->c, ",%s,%s", j->method, isnan(j->se) ? "" : out_number(j->se, true, text));
    out_text(j->c, "\n");
}

static void csv_joint(const query_job *j, const cr_query_answer *a, size_t *states,
                      const char **list)
{
    for (size_t e = 0; e < a->table.size; e++) {
        size_t at = find_entry(j, a, e, states);
        for (size_t k = 0; k < a->n; k++) {
            list[k] = cr_variable_name(j->vs, a->variable[k]);
            list[a->n + k] = cr_state_name(j->vs, a->variable[k], states[k]);
        }
        put_row(j, list, list + a->n, a->n, a->table.value[at]);
    }
}

/* Names that stand in one row: of the answer, or of a table. */
static size_t list_room(const query_job *j, const cr_query_answer *a)
{
    size_t most = a->n ? a->n : 1;
    for (size_t t = 0; a->kind == CR_QUESTION_SENSITIVITY && t < cr_network_tables(j->net); t++)
        if (cr_network_table(j->net, t).n > most) most = cr_network_table(j->net, t).n;
    return most;
}

static void csv_list(const query_job *j, const cr_query_answer *a, const char **list, size_t room)
{
    for (size_t i = 0; i < a->rows; i++) {
        double value;
        size_t n = query_list_csv(j->net, a, i, list, list + room, room, &value);
        put_row(j, list, list + room, n, value);
    }
}

static void print_csv(query_job *j, const cr_query_answer *a, size_t *states,
                      const char **list)
{
    const double *p = a->value;
    const char   *one, *state, *empty = "";
    j->method = a->method;
    j->se = a->exact || a->error.samples == 0 ? NAN : a->error.se;
    switch (a->kind) {
    case CR_QUESTION_TABLE:
        csv_joint(j, a, states, list);
        break;
    case CR_QUESTION_MARGINALS:
        for (size_t i = 0; i < a->n; i++)
            for (size_t s = 0; s < cr_variable_states(j->vs, a->variable[i]); s++) {
                one = cr_variable_name(j->vs, a->variable[i]);
                state = cr_state_name(j->vs, a->variable[i], s);
                if (a->se) j->se = a->se[p - a->value];
                put_row(j, &one, &state, 1, *p++);
            }
        break;
    case CR_QUESTION_BEST:
        for (size_t i = 0; i < a->n; i++) {
            one = cr_variable_name(j->vs, a->variable[i]);
            state = cr_state_name(j->vs, a->variable[i], a->state[i]);
            put_row(j, &one, &state, 1, a->number);
        }
        break;
    case CR_QUESTION_INFORMATIVE:
        for (size_t i = 0; i < a->n; i++) {
            one = cr_variable_name(j->vs, a->variable[i]);
            put_row(j, &one, &empty, 1, a->value[i] / j->per);
        }
        break;
    case CR_QUESTION_SEPARATION:
        put_row(j, &empty, &empty, 1, a->separated);
        break;
    case CR_QUESTION_PROBABILITY:
        put_row(j, &empty, &empty, 1, a->number);
        break;
    case CR_QUESTION_ENTROPY:
    case CR_QUESTION_INFORMATION:
        put_row(j, &empty, &empty, 1, a->number / j->per);
        break;
    default:
        csv_list(j, a, list, list_room(j, a));
    }
}

/* --- the verb -------------------------------------------------------------------------------- */

static void tell_cost(cli *c, const query_job *j, const cr_query_answer *a)
{
    cr_log(c->cx, CR_LOG_INFO,
           "%s: by %s, %s; log P(e) %.6g; %zu variables, width %zu, %.3g "
           "operations, %.3g bytes",
           j->text, a->method, a->exact ? "exact" : "approximate", a->log_evidence,
           a->cost.variables, a->cost.width, a->cost.operations, a->cost.bytes);
    if (a->sweeps > 1)
        cr_log(c->cx, CR_LOG_INFO, "%s: soft evidence fitted in %zu sweeps", j->text, a->sweeps);
}

/* Shows one answer; to JSON it is added to `results`. */
static cr_status show(query_job *j, const cr_query_answer *a, bool first, json_t *results)
{
    cr_status    st = CR_OK;
    cr_ctx      *cx = j->c->cx;
    size_t      *states = cr_alloc(cx, a->n, sizeof *states);
    size_t       room = list_room(j, a);
    const char **list = cr_alloc(cx, 2 * room, sizeof *list);
    if (!states || !list) CR_TRY(CR_ENOMEM);
    if (j->c->format == FORMAT_JSON) {
        json_array_append_new(results, json_answer(j, a, states));
    } else if (j->c->format == FORMAT_CSV) {
        print_csv(j, a, states, list);
    } else {
        if (!first) out_text(j->c, "\n");
        print_text(j, a, states);
    }
    j->c->answer_no |= a->kind == CR_QUESTION_SEPARATION && !a->separated;
done:
    cr_free(cx, states, a->n, sizeof *states);
    cr_free(cx, list, 2 * room, sizeof *list);
    return st;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A question and its answer. */
typedef struct asked {
    cr_question    *question;
    cr_query_answer answer;
} asked;

/* All questions are read before the first is answered. */
static cr_status answer_all(cli *c, const cr_network *net, const cr_findings *more, asked *all)
{
    cr_status            st = CR_OK;
    const query_options *o = c->own;
    cr_query_options     settings = cr_query_defaults();
    settings.method = (cr_query_method)o->method;
    settings.budget = o->budget;
    settings.seed = c->fit.seed;
#define TAKE(kind, field, ...) settings.approximate.field = o->field;
    CR_APPROXIMATE_OPTIONS(TAKE)
#undef TAKE
    for (size_t i = 1; i < c->n_args; i++)
        CR_TRY(cr_question_parse(c->cx, net, c->args[i], &all[i].question));
    for (size_t i = 1; i < c->n_args; i++) {
        const cr_query_answer *a = &all[i].answer;
        CR_TRY(cr_query_run(c->cx, net, all[i].question, more, &settings, &all[i].answer));
        if (a->why[0]) cr_log(c->cx, CR_LOG_WARNING, "%s: %s", c->args[i], a->why);
        if (!a->exact) approximate_warn(c, c->args[i], a->method, &a->error);
    }
done:
    return st;
}

static cr_status show_all(cli *c, query_job *j, const asked *all, double seconds)
{
    cr_status st = CR_OK;
    json_t   *root = json_object(), *results = json_array();
    CR_TRY(out_open(c, c->global.output));
    for (size_t i = 1; i < c->n_args; i++) j->errors |= !all[i].answer.exact;
    if (c->format == FORMAT_CSV)
        out_text(c, "query,variable,state,value%s\n", j->errors ? ",method,se" : "");
    for (size_t i = 1; i < c->n_args; i++) {
        j->text = c->args[i];
        tell_cost(c, j, &all[i].answer);
        CR_TRY(show(j, &all[i].answer, i == 1, results));
    }
    if (c->format == FORMAT_JSON) {
        json_object_set_new(root, "network", json_string_nocheck(c->args[0]));
        json_object_set_new(root, "seed", json_integer((json_int_t)c->fit.seed));
        json_object_set(root, "results", results);
        json_object_set_new(root, "seconds", json_real(seconds));
        out_json(c, "query", root);
    }
done:
    json_decref(root);
    json_decref(results);
    return st;
}

static cr_status run_query(cli *c)
{
    cr_status            st = CR_OK;
    const query_options *o = c->own;
    cr_network          *net = NULL;
    cr_gaussian_network *gaussian = NULL;
    cr_findings          more = { 0 };
    asked               *all = cr_alloc(c->cx, c->n_args, sizeof *all);
    query_job j = { .c = c, .unit = o->unit ? "nats" : "bits", .per = o->unit ? 1 : log(2) };
    double    begin;
    if (!all) CR_TRY(CR_ENOMEM);
    CR_TRY(cli_read_either(c, 0, (cr_network_format)o->from, &net, &gaussian));
    if (gaussian) {
        if (o->method > CR_QUERY_EXACT)
            CR_TRY(cr_fail(c->cx, CR_EARG, "a Gaussian network has exact answers, without --method"));
        CR_TRY(cli_query_gaussian(c, gaussian, o->evidence, o->unit));
        goto done;
    }
    if (o->evidence) CR_TRY(cr_findings_read(c->cx, &more, net, o->evidence));
    j.net = net;
    j.vs = cr_network_variables(net);
    begin = seconds_now();
    CR_TRY(answer_all(c, net, &more, all));
    CR_TRY(cli_check_strict(c));
    CR_TRY(show_all(c, &j, all, seconds_now() - begin));
done:
    for (size_t i = 1; all && i < c->n_args; i++) {
        cr_question_free(c->cx, all[i].question);
        cr_query_answer_free(c->cx, &all[i].answer);
    }
    cr_free(c->cx, all, c->n_args, sizeof *all);
    cr_findings_free(c->cx, &more);
    cr_network_free(c->cx, net);
    cr_gaussian_network_free(c->cx, gaussian);
    return st;
}

const cli_verb verb_query = {
    .name = "query",
    .usage = "query NET 'QUESTION'... [--evidence FILE]",
    .summary = "ask a network: P(x | e), argmax(x | e), x _|_ y | z, I(x; y | e), causes(* | e)",
    .example = "credence query examples/networks/burglary.bif 'P(burglary | john=yes, mary=yes)'\n"
               "credence query examples/networks/burglary.bif 'argmax(* | john=yes)' "
               "'burglary _|_ mary | alarm'",
    .options = query_table,
    .options_size = sizeof(query_options),
    .least = 2,
    .most = SIZE_MAX,
    .run = run_query,
    .result = result_query,
};
