/* cmd_query.c -- query: questions to a network, and their answers shown. */
#include "approximate.h"
#include "gaussian.h"
#include "network.h"
#include "query_answers.h"
#include "query_solution.h"
#include "base/context_internal.h"
#include "models/graph/query.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* clang-format off */
#define QUERY_OPTIONS(X)                                                                           \
    X(text,   evidence, "", "FILE",                                                                \
      "evidence for all questions: JSON {\"x\": \"state\"}, or a UAI file .evid", "evidence.json") \
    X(text,   against,  "", "FILE",                                                                \
      "compare with a solution of the UAI competitions, MAR, PR, MAP or MPE, and show the largest " \
      "difference", "model.uai.MAR")                                                               \
    X(choice, unit,     "bits", "bits|nats", "unit of H and I", "nats")                            \
    X(choice, from,     "auto", "auto|bif|xmlbif|net|uai|cred|json",                               \
      "format of the network; auto looks at the name and the bytes", "bif")                        \
    CLI_METHOD_OPTIONS(X)
/* clang-format on */
CR_OPTIONS_STRUCT(query_options, QUERY_OPTIONS);
#define ROW(...) CR_OPTION_ROW(query_options, __VA_ARGS__)
static const cr_option query_table[] = { QUERY_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

/* --- the verb -------------------------------------------------------------------------------- */

static void tell_cost(cli *c, const query_job *j, const cr_query_answer *a)
{
    char text[64] = "";
    if (!isnan(a->log_evidence)) snprintf(text, sizeof text, " log P(e) %.6g;", a->log_evidence);
    if (a->cost.variables == 0) { /* an approximation that was asked for */
        cr_log(c->cx, CR_LOG_INFO, "%s: by %s, %s;%s", j->text, a->method,
               a->exact ? "exact" : "approximate", text);
        return;
    }
    cr_log(c->cx, CR_LOG_INFO,
           "%s: by %s, %s;%s %zu variables, width %zu, %.3g operations, %.3g bytes", j->text,
           a->method, a->exact ? "exact" : "approximate", text, a->cost.variables, a->cost.width,
           a->cost.operations, a->cost.bytes);
    if (a->sweeps > 1)
        cr_log(c->cx, CR_LOG_INFO, "%s: soft evidence fitted in %zu sweeps", j->text, a->sweeps);
}

/* The difference in place of the answer. */
static void show_comparison(query_job *j, bool first, const json_t *comparison)
{
    const char *name = json_string_value(json_object_get(comparison, "variable"));
    const char *state = json_string_value(json_object_get(comparison, "state"));
    char        text[32];
    if (j->c->format == FORMAT_TEXT) {
        out_text(j->c, "%s%s\n", first ? "" : "\n", j->text);
        query_solution_text(j->c, comparison);
        return;
    }
    out_csv_field(j->c, j->text);
    out_text(j->c, ",");
    out_csv_field(j->c, name ? name : "");
    out_text(j->c, ",");
    out_csv_field(j->c, state ? state : "");
    out_text(j->c, ",%s",
             out_number(json_number_value(json_object_get(comparison, "difference")), true, text));
    j->method = j->settled = "";
    j->before = j->after = j->parameter = j->se = NAN;
    query_csv_rest(j);
}

/* Shows one answer; to JSON it is added to `results`. */
static cr_status show(query_job *j, const cr_query_answer *a, bool first, json_t *results,
                      json_t *opt_comparison)
{
    cr_status    st = CR_OK;
    cr_ctx      *cx = j->c->cx;
    size_t      *states = cr_alloc(cx, a->n, sizeof *states);
    size_t       room = query_list_room(j, a);
    const char **list = cr_alloc(cx, 2 * room, sizeof *list);
    if (!states || !list) CR_TRY(CR_ENOMEM);
    if (j->c->format == FORMAT_JSON) {
        json_t *row = query_answer_json(j, a, states);
        if (opt_comparison) json_object_set(row, "comparison", opt_comparison);
        json_array_append_new(results, row);
    } else if (opt_comparison) {
        show_comparison(j, first, opt_comparison);
    } else if (j->c->format == FORMAT_CSV) {
        query_answer_csv(j, a, states, list);
    } else {
        if (!first) out_text(j->c, "\n");
        query_answer_text(j, a, states);
    }
    j->c->answer_no |= a->kind == CR_QUESTION_SEPARATION && !a->separated;
    j->c->answer_no |= query_structure_no(a);
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

/* A question and its answer, or why it has none. */
typedef struct asked {
    cr_question    *question;
    cr_query_answer answer;
    cr_ctx         *refused; /* holds the failure; NULL: answered */
} asked;

/* One question that cannot be answered does not cost the others their answers.  Interruptions and
 * limits of time and memory end all. */
static cr_status keep_failure(cli *c, cr_status st, asked *a)
{
    if (c->n_args == 2 || st == CR_EINTERRUPTED || cri_should_stop(c->cx)) return st;
    if (cri_ctx_child(c->cx, &a->refused) != CR_OK) return st;
    cri_fail_as(a->refused, c->cx);
    return CR_OK;
}

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
        st = cr_query_run(c->cx, net, all[i].question, more, &settings, &all[i].answer);
        if (st != CR_OK) {
            CR_TRY(keep_failure(c, st, &all[i]));
            continue;
        }
        if (a->why[0]) cr_log(c->cx, CR_LOG_WARNING, "%s: %s", c->args[i], a->why);
        if (a->open)
            cr_log(c->cx, CR_LOG_WARNING,
                   "%s: not proven to be the best: its log is %.6g, and no assignment has more "
                   "than %.6g",
                   c->args[i], a->log_number, a->upper);
        else if (!a->exact)
            approximate_warn(c, c->args[i], a->method, &a->error);
    }
done:
    return st;
}

/* The first failure is that of the verb; the others are warnings. */
static json_t *list_refused(cli *c, const asked *all, const asked **first)
{
    json_t *rows = json_array();
    for (size_t i = 1; i < c->n_args; i++) {
        if (!all[i].refused) continue;
        json_t *row = json_object();
        json_object_set_new(row, "query", json_string_nocheck(c->args[i]));
        json_object_set_new(row, "message", json_string_nocheck(cr_error(all[i].refused)));
        json_array_append_new(rows, row);
        if (*first)
            cr_log(c->cx, CR_LOG_WARNING, "%s: not answered: %s", c->args[i],
                   cr_error(all[i].refused));
        else
            *first = &all[i];
    }
    return rows;
}

/* -o x.MAR: the answer to the only question. */
static cr_status save_solution(cli *c, const query_job *j, const asked *all,
                               const cr_findings *more)
{
    if (c->n_args != 2) {
        cr_fail(c->cx, CR_EARG, "%s holds the answer to one question, not to %zu", c->global.output,
                c->n_args - 1);
        return cr_fail_hint(c->cx, "ask one, or add --format csv for a list of all answers");
    }
    return query_solution_write(j, all[1].question, more, &all[1].answer, query_solution_asked(c),
                                c->global.output);
}

static cr_status show_all(cli *c, query_job *j, const asked *all, const cr_findings *more,
                          double seconds)
{
    const query_options *o = c->own;
    cr_status            st = CR_OK;
    bool                 any = false;
    const asked         *bad = NULL;
    json_t *root = json_object(), *results = json_array(), *refused = list_refused(c, all, &bad);
    for (size_t i = 1; i < c->n_args; i++) any |= !all[i].refused;
    if (!any) CR_TRY(cri_fail_as(c->cx, bad->refused));
    CR_TRY(out_open(c, c->global.output));
    for (size_t i = 1; i < c->n_args; i++) {
        j->errors |= !all[i].answer.exact;
        j->causes |= !all[i].refused && all[i].answer.kind == CR_QUESTION_CAUSES;
        j->parameters |= !all[i].refused && all[i].answer.kind == CR_QUESTION_SENSITIVITY;
    }
    if (c->format == FORMAT_CSV) query_csv_header(j);
    for (size_t i = 1, shown = 0; i < c->n_args; i++) {
        if (all[i].refused) continue;
        j->text = c->args[i];
        tell_cost(c, j, &all[i].answer);
        json_t *comparison = NULL;
        if (o->against)
            CR_TRY(query_solution_compare(j, all[i].question, more, &all[i].answer, o->against,
                                          &comparison));
        st = show(j, &all[i].answer, shown++ == 0, results, comparison);
        json_decref(comparison);
        CR_TRY(st);
    }
    if (c->format == FORMAT_JSON) {
        json_object_set_new(root, "network", json_string_nocheck(c->args[0]));
        json_object_set_new(root, "seed", json_integer((json_int_t)c->fit.seed));
        json_object_set(root, "results", results);
        if (bad) json_object_set(root, "refused", refused);
        json_object_set_new(root, "seconds", json_real(seconds));
        out_json(c, "query", root);
    }
    if (bad) { /* what there is goes out before the failure */
        CR_TRY(out_close(c, CR_OK));
        cri_fail_as(c->cx, bad->refused);
        CR_TRY(cr_fail_note(c->cx, "in the question %s", c->args[bad - all]));
    }
done:
    json_decref(refused);
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
    st = cli_read_either(c, 0, (cr_network_format)o->from, &net, &gaussian);
    if (st == CR_EIO && strpbrk(c->args[0], "(|"))
        cr_fail_hint(c->cx, "the network comes first: credence %s", c->verb->usage);
    CR_TRY(st);
    if (gaussian) {
        if (o->method > CR_QUERY_EXACT)
            CR_TRY(
                cr_fail(c->cx, CR_EARG, "a Gaussian network has exact answers, without --method"));
        CR_TRY(cli_query_gaussian(c, gaussian, o->evidence, o->unit));
        goto done;
    }
    if (o->evidence) CR_TRY(cr_findings_read(c->cx, &more, net, o->evidence));
    j.net = net;
    j.vs = cr_network_variables(net);
    j.bytes = query_field_bytes(net);
    j.field = cr_alloc(c->cx, j.bytes, 1);
    if (!j.field) CR_TRY(CR_ENOMEM);
    begin = seconds_now();
    CR_TRY(answer_all(c, net, &more, all));
    CR_TRY(cli_check_strict(c));
    CR_TRY(query_solution_asked(c) ? save_solution(c, &j, all, &more)
                                   : show_all(c, &j, all, &more, seconds_now() - begin));
done:
    for (size_t i = 1; all && i < c->n_args; i++) {
        cr_question_free(c->cx, all[i].question);
        cr_query_answer_free(c->cx, &all[i].answer);
        cr_ctx_free(all[i].refused);
    }
    cr_free(c->cx, all, c->n_args, sizeof *all);
    cr_free(c->cx, j.field, j.bytes, 1);
    cr_findings_free(c->cx, &more);
    cr_network_free(c->cx, net);
    cr_gaussian_network_free(c->cx, gaussian);
    return st;
}

const cli_verb verb_query = {
    .name = "query",
    .usage = "query NET 'QUESTION'... [--evidence FILE]",
    .summary = "ask a network: P(x | e), argmax(x | e), x _|_ y | z, I(x; y | e), blanket(x)",
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
