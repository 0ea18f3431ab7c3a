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
    CR_METHOD_OPTIONS(X)
/* clang-format on */
CR_OPTIONS(query_options, query_table, QUERY_OPTIONS);
#define COPY(kind, field, ...) .field = o->field,

/* --- the verb -------------------------------------------------------------------------------- */

/* A question and its answer, or why it has none. */
typedef struct asked {
    cr_question    *question;
    cr_query_answer answer;
    cr_ctx         *refused; /* holds the failure; NULL: answered */
} asked;

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
static void show_comparison(query_job *j, const cri_sheet *comparison, bool first)
{
    if (j->c->format == FORMAT_TEXT) {
        out_text(j->c, "%s%s\n", first ? "" : "\n", j->text);
        query_solution_text(j->c, comparison);
        return;
    }
    query_difference_csv(j, cri_sheet_text(cri_sheet_get(comparison, "variable")),
                         cri_sheet_text(cri_sheet_get(comparison, "state")),
                         query_solution_difference(comparison));
}

/* An answer of yes or no that is no. */
static bool is_no(const query_job *j, const cr_query_answer *a)
{
    const cri_sheet *value = cri_answer_value(a->kind, j->answer);
    return cri_sheet_kind_of(value) == CRI_SHEET_FLAG && !cri_sheet_is_true(value);
}

/* Space for a list of names in a field of CSV. */
static cr_status reserve_field(query_job *j)
{
    size_t bytes = query_field_bytes(j->words.variables, cr_network_size(j->graph));
    if (bytes <= j->bytes) return CR_OK;
    char *field = cr_resize(j->c->cx, j->field, j->bytes, bytes, 1);
    if (!field) return CR_ENOMEM;
    j->field = field;
    j->bytes = bytes;
    return CR_OK;
}

/* The variables of an answer about slices are its own. */
static cr_status take_slices(query_job *j, const cr_query_answer *a)
{
    if (!a->about) return CR_OK;
    j->graph = j->words.net = a->about;
    j->words.variables = cr_network_variables(a->about);
    return j->c->format == FORMAT_CSV ? reserve_field(j) : CR_OK;
}

/* Shows one answer; to JSON it goes into the results. */
static cr_status show(query_job *j, const asked *it, const cr_findings *more, bool first,
                      cri_sheet *opt_results)
{
    cr_status   st = CR_OK;
    const char *against = j->words.net ? ((query_options *)j->c->own)->against : NULL;
    cri_sheet  *comparison = NULL;
    CR_TRY(take_slices(j, &it->answer));
    cri_sheet_clear(j->answer);
    cri_answer_put(&j->words, j->text, &it->answer, j->answer);
    if (against) {
        comparison = cri_put_object(j->answer, "comparison");
        CR_TRY(query_solution_compare(j, it->question, more, &it->answer, against, comparison));
    }
    CR_TRY(cri_sheet_status(j->answer));
    j->c->answer_no |= is_no(j, &it->answer);
    if (opt_results) {
        cri_put_copy(opt_results, NULL, j->answer);
    } else if (comparison) {
        show_comparison(j, comparison, first);
    } else if (j->c->format == FORMAT_CSV) {
        query_answer_csv(j, &it->answer);
    } else {
        out_text(j->c, "%s%s\n", first ? "" : "\n", j->text);
        query_answer_text(j, &it->answer);
    }
done:
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

static cr_status answer_all(cli *c, cri_any_network any, const cr_findings *more, asked *all)
{
    cr_status            st = CR_OK;
    const query_options *o = c->own;
    cr_method_options    how = { CR_METHOD_OPTIONS(COPY) };
    cr_query_options     settings = cr_query_settings(&how, c->fit.seed);
    if (any.methods->check_method) CR_TRY(any.methods->check_method(c->cx, settings.method));
    for (size_t i = 1; i < c->n_args; i++)
        if ((st = any.methods->parse(c->cx, any.net, c->args[i], &all[i].question)) != CR_OK)
            CR_TRY(keep_failure(c, st, &all[i]));
    for (size_t i = 1; i < c->n_args; i++) {
        if (all[i].refused) continue;
        st = any.methods->run(c->cx, any.net, all[i].question, more, &settings, &all[i].answer);
        if (st == CR_OK)
            cri_answer_warn(c->cx, c->args[i], &all[i].answer);
        else
            CR_TRY(keep_failure(c, st, &all[i]));
    }
done:
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
        cr_fail(c->cx, CR_EARG, "%s can hold the answer to one question, not to %zu",
                c->global.output, c->n_args - 1);
        return cr_fail_hint(c->cx,
                            "ask one question, or add --format csv for a list of all answers");
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
             cri_answer_fields),
    CR_INNER(ROWS, "refused", CR_FIELD_SOMETIMES, "questions without an answer", refusal_fields),
    CR_MEASURE("seconds", "seconds", 0, "time of the computation, excluding reading"),
    CR_FIELD_LAST,
};

/* Which columns the CSV has. */
static void choose_columns(query_job *j, const asked *all)
{
    for (size_t i = 1; i < j->c->n_args; i++) {
        if (all[i].refused) continue;
        j->errors |= !all[i].answer.exact;
        j->causes |= all[i].answer.kind == CR_QUESTION_CAUSES;
        j->parameters |= all[i].answer.kind == CR_QUESTION_SENSITIVITY;
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
        j->text = c->args[i];
        tell_cost(c, j, &all[i].answer);
        CR_TRY(show(j, &all[i], more, first, results));
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
    cr_model            *m = NULL;
    cr_network          *made = NULL;
    cr_findings          more = { 0 };
    asked               *all = cr_alloc(c->cx, c->n_args, sizeof *all);
    query_job            j = { .c = c };
    double               begin;
    if (!all) CR_TRY(CR_ENOMEM);
    st = cli_read_network(c, 0, (cr_network_format)o->from, &m, &j.any);
    if (st == CR_EIO && strpbrk(c->args[0], "(|"))
        cr_fail_hint(c->cx, "put the network first: credence %s", c->verb->usage);
    CR_TRY(st);
    if (o->evidence) CR_TRY(j.any.methods->read_findings(c->cx, &more, j.any.net, o->evidence));
    CR_TRY(j.any.methods->graph(c->cx, j.any.net, &j.graph, &made));
    j.words = (cri_answer_words){ .variables = cri_any_variables(j.any),
                                  .net = j.any.methods->states ? j.graph : NULL,
                                  .unit = o->unit ? "nats" : "bits",
                                  .per = o->unit ? 1 : log(2),
                                  .plans = c->global.verbose };
    if (j.any.methods->unroll && (o->against || query_solution_asked(c)))
        CR_TRY(cr_fail(c->cx, CR_EARG, "solution files are for networks without slices"));
    if (!j.any.methods->unroll) CR_TRY(reserve_field(&j));
    j.answer = cri_sheet_new(c->cx);
    j.shown = cri_sheet_new(c->cx);
    if (!j.answer || !j.shown) CR_TRY(CR_ENOMEM);
    begin = cli_seconds();
    CR_TRY(answer_all(c, j.any, &more, all));
    CR_TRY(cli_check_strict(c));
    CR_TRY(j.words.net && query_solution_asked(c)
               ? save_solution(c, &j, all, &more)
               : show_all(c, &j, all, &more, cli_seconds() - begin));
done:
    for (size_t i = 1; all && i < c->n_args; i++) {
        cr_question_free(c->cx, all[i].question);
        cr_query_answer_free(c->cx, &all[i].answer);
        cr_ctx_free(all[i].refused);
    }
    cr_free(c->cx, all, c->n_args, sizeof *all);
    cr_free(c->cx, j.field, j.bytes, 1);
    cri_sheet_free(j.answer);
    cri_sheet_free(j.shown);
    cr_findings_free(c->cx, &more);
    cr_network_free(c->cx, made);
    cr_model_free(c->cx, m);
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
