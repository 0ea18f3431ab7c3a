/* network_ask.c -- networks of any kind, asked: answers as JSON, posteriors as arrays. */
#include "network_ask.h"
#include "network_model.h"
#include "base/sheet.h"
#include "graph/query/cases_table.h"

#include <math.h>
#include <string.h>

CR_OPTIONS_TABLE(, cr_ask_table, cr_ask_options, CR_ASK_OPTIONS);

/* --- the network ------------------------------------------------------------------------------ */

cr_status cr_model_load_network(cr_ctx *cx, const char *path, cr_network_format format,
                                cr_model **out_model)
{
    return cri_model_read_network(cx, path, format, out_model);
}

static cr_status find_network(cr_ctx *cx, const cr_model *m, cri_any_network *out)
{
    if (cri_model_network(m, out)) return CR_OK;
    return cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no network",
                   cr_class_name(cr_model_get_class(m)));
}

cr_status cri_check_network_format(cr_ctx *cx, cri_any_network any, const char *source,
                                   const char *path, cr_network_format *inout_format)
{
    if (*inout_format == CR_FORMAT_AUTO) *inout_format = cr_network_format_of(path);
    if (*inout_format == CR_FORMAT_AUTO) {
        cr_fail(cx, CR_EARG, "cannot tell the format of the network '%s' from its name", path);
        return cr_fail_hint(cx,
                            "end it in .bif, .xmlbif, .net, .uai, .cred or .json, or give --to");
    }
    if (any.methods->formats & 1u << *inout_format) return CR_OK;
    bool cred = any.methods->formats & 1u << CR_FORMAT_CRED;
    cr_fail(cx, CR_EARG, "%s is a %snetwork, which only .json%s files can hold", source,
            any.methods->word, cred ? " and .cred" : "");
    return cr_fail_hint(cx, "end the name in .json%s, or give --to json", cred ? " or .cred" : "");
}

cr_status cr_model_write_network(cr_ctx *cx, const cr_model *m, const char *path,
                                 cr_network_format format)
{
    cr_status       st = CR_OK;
    cri_any_network any;
    CR_TRY(find_network(cx, m, &any));
    CR_TRY(cri_check_network_format(cx, any, "this", path, &format));
    CR_TRY(any.methods->write(cx, any.net, path, format));
done:
    return st;
}

const cr_variables *cr_model_variables(const cr_model *m, bool *opt_states)
{
    cri_any_network any;
    if (!cri_model_network(m, &any)) return NULL;
    if (opt_states) *opt_states = any.methods->states;
    return cri_any_variables(any);
}

cr_status cr_model_describe_network(cr_ctx *cx, const cr_model *m, char **out_json)
{
    cr_status       st = CR_OK;
    cri_any_network any;
    cri_sheet      *sheet = cri_sheet_new(cx);
    CR_TRY(find_network(cx, m, &any));
    cri_put_text(sheet, "kind", "network");
    CR_TRY(any.methods->describe(cx, any.net, true, sheet));
    CR_TRY(cri_sheet_status(sheet));
    CR_TRY(cri_sheet_to_json(cx, sheet, out_json));
done:
    cri_sheet_free(sheet);
    return st;
}

/* --- questions -------------------------------------------------------------------------------- */

static cr_status read_evidence(cr_ctx *cx, cri_any_network any, const char *opt_json,
                               cr_findings *out)
{
    if (!opt_json) return CR_OK;
    return any.methods->parse_findings(cx, out, any.net, "the evidence", opt_json,
                                       strlen(opt_json));
}

cr_query_options cr_query_settings(const cr_method_options *method, uint64_t seed)
{
    cr_query_options o = cr_query_defaults();
    o.method = (cr_query_method)method->method;
    o.budget = method->budget;
    o.seed = seed;
#define TAKE(kind, field, ...) o.approximate.field = method->field;
    CR_APPROXIMATE_OPTIONS(TAKE)
#undef TAKE
    return o;
}

/* What was asked for, or the usual. */
static cr_query_options settings_of(const cr_ask_options *o)
{
#define COPY(kind, field, ...) .field = o->field,
    if (!o) return cr_query_defaults();
    return cr_query_settings(&(cr_method_options){ CR_METHOD_OPTIONS(COPY) }, o->seed);
#undef COPY
}

/* The answer as JSON. */
static cr_status write_answer(cr_ctx *cx, cri_any_network any, const char *text, bool nats,
                              const cr_query_answer *a, char **out_json)
{
    cr_status         st = CR_OK;
    const cr_network *graph = NULL;
    cr_network       *made = NULL;
    cri_sheet        *sheet = cri_sheet_new(cx);
    CR_TRY(any.methods->graph(cx, any.net, &graph, &made));
    cri_answer_put(&(cri_answer_words){ .variables = cri_any_variables(any),
                                        .net = any.methods->states ? graph : NULL,
                                        .unit = nats ? "nats" : "bits",
                                        .per = nats ? 1 : log(2) },
                   text, a, sheet);
    CR_TRY(cri_sheet_status(sheet));
    CR_TRY(cri_sheet_to_json(cx, sheet, out_json));
done:
    cri_sheet_free(sheet);
    cr_network_free(cx, made);
    return st;
}

cr_status cr_model_query(cr_ctx *cx, const cr_model *m, const char *question,
                         const char *opt_evidence, const cr_ask_options *opt_o, char **out_json)
{
    cr_status        st = CR_OK;
    cri_any_network  any;
    cr_question     *q = NULL;
    cr_findings      more = { 0 };
    cr_query_answer  a = { 0 };
    cr_query_options o = settings_of(opt_o);
    CR_TRY(find_network(cx, m, &any));
    if (any.methods->check_method) CR_TRY(any.methods->check_method(cx, o.method));
    CR_TRY(any.methods->parse(cx, any.net, question, &q));
    CR_TRY(read_evidence(cx, any, opt_evidence, &more));
    CR_TRY(any.methods->run(cx, any.net, q, &more, &o, &a));
    cri_answer_warn(cx, question, &a);
    CR_TRY(write_answer(cx, any, question, opt_o && opt_o->unit, &a, out_json));
done:
    cr_query_answer_free(cx, &a);
    cr_findings_free(cx, &more);
    cr_question_free(cx, q);
    return st;
}

/* --- rows of evidence ------------------------------------------------------------------------- */

typedef struct rows_job {
    cr_scratch       s;
    cri_cases        cases;
    cri_case_column *known;
    size_t           n_known, *target, n_target;
} rows_job;

static cr_status open_rows(rows_job *j, cri_any_network any, const cr_table *t,
                           const char *opt_targets, const cr_findings *more,
                           const cr_query_options *o)
{
    cr_status           st = CR_OK;
    cr_ctx             *cx = j->s.cx;
    const cr_variables *vs = cri_any_variables(any);
    if (any.methods->check_method) CR_TRY(any.methods->check_method(cx, o->method));
    CR_TRY(cri_cases_match(&j->s, any, t, NULL, &j->known, &j->n_known));
    if (j->n_known == 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "no column of %s names a variable of the network",
                       cr_table_source(t)));
    CR_TRY(cri_cases_check_known(cx, vs, more, j->known, j->n_known, "the evidence",
                                 cr_table_source(t)));
    CR_TRY(cri_cases_open(cx, any, more, o, &j->cases));
    cri_cases_warn_method(&j->cases);
    CR_TRY(cri_cases_follow(&j->cases, t, NULL, j->known, j->n_known));
    CR_TRY(cri_cases_targets(&j->s, &j->cases, opt_targets, j->known, j->n_known, &j->target,
                             &j->n_target));
done:
    return st;
}

static cr_status make_posteriors(const rows_job *j, size_t rows, cr_posteriors *out)
{
    cr_ctx                    *cx = j->s.cx;
    const cri_network_methods *methods = j->cases.any.methods;
    cr_posteriors              p = { .rows = rows, .n = j->n_target };
    for (size_t i = 0; i < p.n; i++) p.width += methods->numbers(j->cases.any.net, j->target[i]);
    p.method = j->cases.method;
    p.exact = j->cases.exact;
    p.variable = cr_alloc(cx, p.n, sizeof *p.variable);
    p.log_evidence = cr_alloc(cx, rows, sizeof *p.log_evidence);
    p.value = cr_alloc(cx, rows, p.width * sizeof *p.value);
    p.se = cr_alloc(cx, rows, sizeof *p.se);
    p.possible = cr_alloc(cx, rows, sizeof *p.possible);
    *out = p;
    if (!p.variable || !p.log_evidence || !p.value || !p.se || !p.possible) return CR_ENOMEM;
    if (p.n > 0) memcpy(p.variable, j->target, p.n * sizeof *p.variable);
    return CR_OK;
}

static cr_status infer_row(rows_job *j, size_t row, cr_posteriors *p)
{
    cr_status                  st = CR_OK;
    const cri_network_methods *methods = j->cases.any.methods;
    double                    *value = p->value + row * p->width;
    for (size_t i = 0; i < j->n_known; i++)
        CR_TRY(methods->observe(&j->cases, j->known[i].variable, cri_case_cell(&j->known[i], row)));
    CR_TRY(methods->ask(&j->cases, &p->log_evidence[row], &p->possible[row]));
    p->se[row] =
        p->possible[row] && !p->exact && j->cases.report.samples > 0 ? j->cases.report.se : NAN;
    for (size_t k = 0; k < p->width && !p->possible[row]; k++) value[k] = NAN;
    for (size_t i = 0; i < p->n && p->possible[row]; i++) {
        CR_TRY(methods->posterior(&j->cases, p->variable[i], value));
        value += methods->numbers(j->cases.any.net, p->variable[i]);
    }
done:
    return st;
}

cr_status cr_model_infer(cr_ctx *cx, const cr_model *m, const cr_table *table,
                         const char *opt_targets, const char *opt_evidence,
                         const cr_ask_options *opt_o, cr_posteriors *out)
{
    cr_status        st = CR_OK;
    cri_any_network  any;
    cr_findings      more = { 0 };
    cr_posteriors    p = { 0 };
    rows_job         j = { .s = cr_scratch_begin(cx) };
    cr_query_options o = settings_of(opt_o);
    CR_TRY(find_network(cx, m, &any));
    CR_TRY(read_evidence(cx, any, opt_evidence, &more));
    CR_TRY(open_rows(&j, any, table, opt_targets, &more, &o));
    CR_TRY(make_posteriors(&j, cr_table_rows(table), &p));
    for (size_t i = 0; i < p.rows; i++) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(infer_row(&j, i, &p));
    }
    cri_cases_warn_rows(&j.cases, p.rows);
    *out = p;
    p = (cr_posteriors){ 0 };
done:
    cr_posteriors_free(cx, &p);
    cri_cases_close(&j.cases);
    cr_findings_free(cx, &more);
    cr_scratch_end(&j.s);
    return st;
}

void cr_posteriors_free(cr_ctx *cx, cr_posteriors *p)
{
    cr_free(cx, p->variable, p->n, sizeof *p->variable);
    cr_free(cx, p->log_evidence, p->rows, sizeof *p->log_evidence);
    cr_free(cx, p->value, p->rows, p->width * sizeof *p->value);
    cr_free(cx, p->se, p->rows, sizeof *p->se);
    cr_free(cx, p->possible, p->rows, sizeof *p->possible);
    *p = (cr_posteriors){ 0 };
}
