/* cmd_query.c -- query: questions to a network, and their answers shown. */
#include "approximate.h"
#include "network.h"
#include "query_answers.h"
#include "query_solution.h"
#include "base/context_internal.h"
#include "graph/query/query.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
CR_OPTIONS(query_options, query_table, QUERY_OPTIONS);

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
static void show_comparison(query_job *j, bool first)
{
    const char *name = cri_sheet_text(cri_sheet_get(j->shown, "variable"));
    const char *state = cri_sheet_text(cri_sheet_get(j->shown, "state"));
    if (j->c->format == FORMAT_TEXT) {
        out_text(j->c, "%s%s\n", first ? "" : "\n", j->text);
        query_solution_text(j->c, j->shown);
        return;
    }
    j->method = j->settled = "";
    j->before = j->after = j->parameter = j->se = NAN;
    query_csv_row(j, &name, name ? 1 : 0, &state, state ? 1 : 0,
                  query_solution_difference(j->shown));
}

/* One answer in one of the three forms. */
static void show_answer(query_job *j, const asked *it, size_t *states, const char **list,
                        bool first, cri_sheet *opt_row)
{
    if (opt_row && j->gaussian)
        query_put_gaussian(j, &it->normal, opt_row);
    else if (opt_row)
        query_put_answer(j, &it->answer, states, opt_row);
    else if (j->c->format == FORMAT_CSV && j->gaussian)
        query_gaussian_csv(j, &it->normal);
    else if (j->c->format == FORMAT_CSV)
        query_answer_csv(j, &it->answer, states, list);
    else {
        out_text(j->c, "%s%s\n", first ? "" : "\n", j->text);
        if (j->gaussian)
            query_gaussian_text(j, &it->normal);
        else
            query_answer_text(j, &it->answer, states);
    }
}

/* The answer is no. */
static bool is_no(const asked *it)
{
    const cr_query_answer    *a = &it->answer;
    const cr_gaussian_answer *g = &it->normal;
    return (a->kind == CR_QUESTION_SEPARATION && !a->separated) || query_structure_no(a) ||
           (g->kind == CR_QUESTION_SEPARATION && !g->separated);
}

/* Shows one answer; to JSON it goes into a row of the results. */
static cr_status show(query_job *j, const asked *it, const cr_findings *more, bool first,
                      cri_sheet *opt_row)
{
    cr_status              st = CR_OK;
    cr_ctx                *cx = j->c->cx;
    const cr_query_answer *a = &it->answer;
    const char            *against = j->gaussian ? NULL : ((query_options *)j->c->own)->against;
    size_t                *states = cr_alloc(cx, a->n, sizeof *states);
    size_t                 room = query_list_room(j, a);
    const char           **list = cr_alloc(cx, 2 * room, sizeof *list);
    if (!states || !list) CR_TRY(CR_ENOMEM);
    if (opt_row || !against) show_answer(j, it, states, list, first, opt_row);
    if (against) {
        cri_sheet_clear(j->shown);
        CR_TRY(query_solution_compare(j, it->question, more, a, against,
                                      opt_row ? cri_put_object(opt_row, "comparison") : j->shown));
        CR_TRY(cri_sheet_status(j->shown));
        if (!opt_row) show_comparison(j, first);
    }
    j->c->answer_no |= is_no(it);
done:
    cr_free(cx, states, a->n, sizeof *states);
    cr_free(cx, list, 2 * room, sizeof *list);
    return st;
}

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

/* A Gaussian network has exact answers, all or none. */
static cr_status answer_gaussian(cli *c, const cr_gaussian_network *net, asked *all)
{
    cr_status            st = CR_OK;
    const query_options *o = c->own;
    cr_gaussian_values   more = { 0 };
    if (o->method > CR_QUERY_EXACT)
        CR_TRY(cr_fail(c->cx, CR_EARG, "a Gaussian network has exact answers, without --method"));
    if (o->evidence) CR_TRY(cr_gaussian_values_read(c->cx, net, o->evidence, &more));
    for (size_t i = 1; i < c->n_args; i++)
        CR_TRY(cr_gaussian_query(c->cx, net, c->args[i], &more, &all[i].normal));
done:
    cr_gaussian_values_free(c->cx, &more);
    return st;
}

/* The first failure is that of the verb; the others are warnings. */
static const asked *find_refused(cli *c, const asked *all)
{
    const asked *first = NULL;
    for (size_t i = 1; i < c->n_args; i++) {
        if (!all[i].refused) continue;
        if (first)
            cr_log(c->cx, CR_LOG_WARNING, "%s: not answered: %s", c->args[i],
                   cr_error(all[i].refused));
        else
            first = &all[i];
    }
    return first;
}

static void put_refused(const cli *c, const asked *all, cri_sheet *rows)
{
    for (size_t i = 1; i < c->n_args; i++) {
        if (!all[i].refused) continue;
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "query", c->args[i]);
        cri_put_text(row, "message", cr_error(all[i].refused));
    }
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

static const cr_field refusal_fields[] = {
    CR_TEXT("query", 0, "the question"),
    CR_TEXT("message", 0, "why it has no answer"),
    CR_FIELD_LAST,
};

static const cr_field result_query[] = {
    CR_TEXT("network", 0, "the file, as it was named"),
    CR_COUNT("seed", 0, "random seed"),
    CR_INNER(ROWS, "results", 0, "one for each question that has an answer, in order",
             query_answer_fields),
    CR_INNER(ROWS, "refused", CR_FIELD_SOMETIMES, "questions without an answer", refusal_fields),
    CR_MEASURE("seconds", "seconds", 0, "time of the answers, reading not counted"),
    CR_FIELD_LAST,
};

/* Which columns the CSV has. */
static void choose_columns(query_job *j, const asked *all)
{
    for (size_t i = 1; i < j->c->n_args && !j->gaussian; i++) {
        j->errors |= !all[i].answer.exact;
        j->causes |= !all[i].refused && all[i].answer.kind == CR_QUESTION_CAUSES;
        j->parameters |= !all[i].refused && all[i].answer.kind == CR_QUESTION_SENSITIVITY;
    }
}

/* One answer after the other; of JSON they go into `results`. */
static cr_status show_each(query_job *j, const asked *all, const cr_findings *more,
                           cri_sheet *results)
{
    cr_status st = CR_OK;
    cli      *c = j->c;
    bool      first = true;
    for (size_t i = 1; i < c->n_args; i++) {
        if (all[i].refused) continue;
        cri_sheet *row = cri_put_object(results, NULL);
        if (c->format == FORMAT_JSON) CR_TRY(cri_sheet_status(row));
        j->text = c->args[i];
        if (j->net) tell_cost(c, j, &all[i].answer);
        CR_TRY(show(j, &all[i], more, first, row));
        first = false;
    }
done:
    return st;
}

static cr_status show_all(cli *c, query_job *j, const asked *all, const cr_findings *more,
                          double seconds)
{
    cr_status    st = CR_OK;
    bool         any = false;
    const asked *bad = find_refused(c, all);
    cri_sheet   *root = cri_sheet_new(c->cx);
    for (size_t i = 1; i < c->n_args; i++) any |= !all[i].refused;
    if (!any) CR_TRY(cri_fail_as(c->cx, bad->refused));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON) {
        cri_put_text(root, "network", c->args[0]);
        cri_put_count(root, "seed", c->fit.seed);
        CR_TRY(show_each(j, all, more, cri_put_list(root, "results")));
        if (bad) put_refused(c, all, cri_put_list(root, "refused"));
        cri_put_real(root, "seconds", seconds);
        CR_TRY(cri_sheet_status(root));
        out_result(c, "query", root);
    } else {
        choose_columns(j, all);
        if (c->format == FORMAT_CSV) query_csv_header(j);
        CR_TRY(show_each(j, all, more, NULL));
    }
    if (bad) { /* what there is goes out before the failure */
        CR_TRY(out_close(c, CR_OK));
        cri_fail_as(c->cx, bad->refused);
        CR_TRY(cr_fail_note(c->cx, "in the question %s", c->args[bad - all]));
    }
done:
    cri_sheet_free(root);
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
    if (o->evidence && net) CR_TRY(cr_findings_read(c->cx, &more, net, o->evidence));
    j.net = net;
    j.gaussian = gaussian;
    j.vs = net ? cr_network_variables(net) : cr_gaussian_network_names(gaussian);
    j.bytes =
        query_field_bytes(j.vs, net ? cr_network_size(net) : cr_gaussian_network_size(gaussian));
    j.field = cr_alloc(c->cx, j.bytes, 1);
    j.shown = cri_sheet_new(c->cx);
    if (!j.field || !j.shown) CR_TRY(CR_ENOMEM);
    begin = cli_seconds();
    CR_TRY(net ? answer_all(c, net, &more, all) : answer_gaussian(c, gaussian, all));
    CR_TRY(cli_check_strict(c));
    CR_TRY(net && query_solution_asked(c) ? save_solution(c, &j, all, &more)
                                          : show_all(c, &j, all, &more, cli_seconds() - begin));
done:
    for (size_t i = 1; all && i < c->n_args; i++) {
        cr_question_free(c->cx, all[i].question);
        cr_query_answer_free(c->cx, &all[i].answer);
        cr_gaussian_answer_free(c->cx, &all[i].normal);
        cr_ctx_free(all[i].refused);
    }
    cr_free(c->cx, all, c->n_args, sizeof *all);
    cr_free(c->cx, j.field, j.bytes, 1);
    cri_sheet_free(j.shown);
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
