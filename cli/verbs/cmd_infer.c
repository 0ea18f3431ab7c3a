/* cmd_infer.c -- infer: the posterior of a network for every row of evidence. */
#include "approximate.h"
#include "infer_job.h"
#include "base/context_internal.h"

#include <math.h>
#include <stdio.h>

/* clang-format off */
#define INFER_OPTIONS(X)                                                                           \
    X(list, target, "", "VARIABLE",                                                                \
      "variables whose posterior is wanted; if not given, all that are not observed in every row",    \
      "burglary")                                                                                  \
    X(text, evidence, "", "FILE",                                                                  \
      "evidence for all rows besides their columns: JSON {\"x\": \"state\"}, or a UAI .evid",    \
      "evidence.json")                                                                             \
    X(text, sequence, "", "COLUMN",                                                                \
      "network with slices: column that identifies the sequence of each row; default: all rows are one", "patient") \
    X(text, time, "", "COLUMN",                                                                    \
      "network with slices: column that orders the rows of a sequence; default: as in the file", "day") \
    X(flag, filtered, "false", "",                                                                   \
      "network with slices: posteriors given the rows so far, not given all rows of the sequence", "") \
    CR_METHOD_OPTIONS(X)
/* clang-format on */
CR_OPTIONS(infer_options, infer_table, INFER_OPTIONS);
#define COPY(kind, field, ...) .field = o->field,

/* --- rows ------------------------------------------------------------------------------------ */

enum { WIDTH = 12 }; /* of a column of text, at least */

/* A cell: of CSV behind a comma, of text to the right of its column, which is as wide as its name.
 */
static void print_cell(infer_job *j, const char *text, size_t width)
{
    if (j->c->format == FORMAT_CSV) {
        out_text(j->c, ",");
        out_csv_field(j->c, text);
    } else {
        out_text(j->c, "  %*s", (int)(width > WIDTH ? width : WIDTH), text);
    }
}

static size_t count_numbers(const infer_job *j, size_t v)
{
    return j->any.methods->numbers(j->any.net, v);
}

static const char *number_name(const infer_job *j, size_t v, size_t k)
{
    return j->any.methods->number_name(j->any.net, v, k);
}

/* "x=yes", "x:mean" */
static size_t name_cell(const infer_job *j, size_t v, size_t k, char *out, size_t capacity)
{
    return (size_t)snprintf(out, capacity, "%s%s%s", cr_variable_name(j->vs, v),
                            j->any.methods->mark, number_name(j, v, k));
}

/* A name for every number of every target. */
static void print_header(infer_job *j)
{
    char name[1024];
    out_text(j->c, j->c->format == FORMAT_CSV ? "log_evidence" : "  log_evidence");
    for (size_t i = 0; i < j->n_target; i++)
        for (size_t k = 0; k < count_numbers(j, j->target[i]); k++) {
            size_t width = name_cell(j, j->target[i], k, name, sizeof name);
            print_cell(j, name, width);
        }
    if (!j->cases.exact && j->c->format == FORMAT_CSV) out_text(j->c, ",method,se,converged");
    out_text(j->c, "\n");
}

/* How a row came, of an approximation: the method, its largest standard error, whether it settled.
 */
static void print_error(infer_job *j, bool possible)
{
    char                         text[32];
    const cr_approximate_report *r = &j->cases.report;
    bool                         has_se = possible && r->samples > 0 && !isnan(r->se);
    out_text(j->c, ",%s,%s,%s", j->cases.method, has_se ? out_number(r->se, true, text) : "",
             possible ? approximate_settled(r) : "");
}

/* One posterior after the other goes to the line. */
static void print_row(infer_job *j, double log_e, bool possible)
{
    char          text[32];
    bool          csv = j->c->format == FORMAT_CSV;
    const double *p = j->p;
    out_text(j->c, csv ? "%s" : "  %12s", out_number(log_e, csv, text));
    for (size_t i = 0; i < j->n_target; i++) {
        size_t v = j->target[i];
        for (size_t k = 0; k < count_numbers(j, v); k++, p++)
            print_cell(j, possible ? out_number(*p, csv, text) : "", name_cell(j, v, k, NULL, 0));
    }
    if (csv && !j->cases.exact) print_error(j, possible);
    out_text(j->c, "\n");
}

static const cr_field row_fields[] = {
    CR_MEASURE("log_evidence", "nats", CR_FIELD_NULL,
               "log P(row), in a network with slices given the rows before it; null for an "
               "impossible row, or if "
               "the method has none"),
    CR_FLAG("impossible", CR_FIELD_SOMETIMES,
            "true: the network, or every sample, excludes the row, or (Gaussian) the observed "
            "values contradict each other"),
    CR_OTHER(ANY, "marginals", 0,
             "{variable: {state: p}}, of a Gaussian network {variable: {mean, sd}}; "
             "empty for an impossible row"),
    CR_INNER(OBJECT, "error", CR_FIELD_SOMETIMES, "of an approximation: how good it is",
             cri_approximate_fields),
    CR_FIELD_LAST,
};

static const cr_field result_infer[] = {
    CR_TEXT("network", 0, "the file, as it was named"),
    CR_COUNT("rows", 0, "rows of evidence"),
    CR_TEXT("method", 0,
            "jt: a junction tree; ve, enumerate, gaussian, interface, or an approximation"),
    CR_FLAG("exact", 0, "whether the answers are exact, up to rounding"),
    CR_COUNT("seed", 0, "random seed"),
    CR_INNER(ROWS, "results", 0, "one for each row, in order", row_fields),
    CR_FIELD_LAST,
};

static void put_head(const infer_job *j, cri_sheet *out)
{
    cri_put_text(out, "network", j->c->args[0]);
    cri_put_count(out, "rows", j->rows);
    cri_put_text(out, "method", j->cases.method);
    cri_put_flag(out, "exact", j->cases.exact);
    cri_put_count(out, "seed", j->c->fit.seed);
}

static cr_status put_row(infer_job *j, double log_e, bool possible, cri_sheet *row)
{
    cr_status     st = CR_OK;
    const double *p = j->p;
    cri_put_real(row, "log_evidence", log_e);
    if (!possible) cri_put_flag(row, "impossible", true);
    cri_sheet *all = cri_put_object(row, "marginals");
    for (size_t i = 0; i < j->n_target && possible; i++) {
        size_t     v = j->target[i];
        cri_sheet *one = cri_put_object(all, cr_variable_name(j->vs, v));
        for (size_t k = 0; k < count_numbers(j, v); k++)
            cri_put_real(one, number_name(j, v, k), *p++);
    }
    if (possible && !j->cases.exact)
        cri_put_approximate(&j->cases.report, cri_put_object(row, "error"));
    CR_TRY(cri_sheet_status(row));
done:
    return st;
}

/* What has been answered is handed over before a wait for more. */
static bool should_flush(const infer_job *j, size_t row)
{
    return j->text ? !cri_text_rows_ready(j->text) : row % 64 == 0;
}

/* The posteriors of a row, one after another.  An impossible row has none. */
static cr_status take_posteriors(infer_job *j)
{
    cr_status st = CR_OK;
    double   *p = j->p;
    for (size_t i = 0; i < j->n_target && st == CR_OK; i++) {
        st = j->any.methods->posterior(&j->cases, j->target[i], p);
        p += count_numbers(j, j->target[i]);
    }
    return st;
}

/* *out_any: there was another row, and this is its answer. */
static cr_status infer_row(infer_job *j, cri_sheet *sheet, size_t i, bool *out_any)
{
    cr_status st = CR_OK;
    bool      possible;
    double    log_e;
    CR_TRY(cr_check_interrupt(j->c->cx));
    if (should_flush(j, i)) CR_TRY(out_flush(j->c));
    CR_TRY(infer_observe(j, i, out_any));
    if (!*out_any) goto done;
    CR_TRY(j->any.methods->ask(&j->cases, &log_e, &possible));
    if (possible) CR_TRY(take_posteriors(j));
    if (j->c->format == FORMAT_JSON) {
        cri_sheet_clear(sheet);
        CR_TRY(put_row(j, log_e, possible, sheet));
        out_result_item(j->c, sheet, i == 0);
    } else {
        print_row(j, log_e, possible);
    }
done:
    return st;
}

static void warn_late(const infer_job *j, size_t rows, size_t all)
{
    const cr_approximate_report *r = &j->cases.report;
    cr_ctx                      *cx = j->c->cx;
    if (r->planned > 0)
        cr_log(cx, CR_LOG_WARNING, "row 1: the time limit ended %s after %zu of %zu %s",
               j->cases.method, r->made, r->planned, cri_steps_name(r));
    if (all > rows)
        cr_log(cx, CR_LOG_WARNING, "the time limit ended the inference after %zu of %zu rows", rows,
               all);
    else if (all == 0)
        cr_log(cx, CR_LOG_WARNING, "the time limit ended the inference after %zu rows", rows);
}

/* All rows, or those that there is time for: each as a whole, except the first, whose method may end with what it
 * has; the others would take as long. */
static cr_status infer_rows(infer_job *j, cri_sheet *sheet)
{
    cr_status st = CR_OK;
    cr_ctx   *cx = j->c->cx;
    bool      any = true, late = false;
    size_t    all = j->rows, i = 0;
    double    deadline = cri_ctx_hasten(cx, 0.95);
    while (!late) {
        st = infer_row(j, sheet, i, &any);
        late = st == CR_ENOMEM && i > 0 && cri_should_stop(cx);
        if (late) st = CR_OK;
        if (st != CR_OK || late || !any) break;
        late = j->cases.report.planned > 0;
        cri_ctx_be_patient(cx);
        if (all > 0) cr_progress(cx, "rows", (double)i, (double)all);
        i++;
    }
    if (late) warn_late(j, i, all);
    j->rows = i;
    cri_ctx_set_deadline(cx, deadline);
    return st;
}

/* Which method answers all rows, with what they all have. */
static cr_status open_network(infer_job *j)
{
    cr_status            st = CR_OK;
    const infer_options *o = j->c->own;
    cr_method_options    how = { CR_METHOD_OPTIONS(COPY) };
    cr_query_options     q = cr_query_settings(&how, j->c->fit.seed);
    cr_findings          more = { 0 };
    if (o->evidence)
        CR_TRY(j->any.methods->read_findings(j->c->cx, &more, j->any.net, o->evidence));
    CR_TRY(cri_cases_check_known(j->c->cx, j->vs, &more, j->known, j->n_known, o->evidence,
                                 j->c->args[1]));
    CR_TRY(cri_cases_open(j->c->cx, j->any, &more, &q, &j->cases));
    cri_cases_warn_method(&j->cases);
    CR_TRY(cri_cases_follow(&j->cases, j->t, &j->order, j->known, j->n_known));
done:
    cr_findings_free(j->c->cx, &more);
    return st;
}

static cr_status prepare(infer_job *j)
{
    cr_status            st = CR_OK;
    size_t               numbers = 0;
    const infer_options *o = j->c->own;
    if (j->c->read.from > CRI_FORMAT_SQLITE) j->c->read.from = CRI_FORMAT_AUTO; /* that of NET */
    j->has_target = o->target != NULL;
    j->vs = cri_any_variables(j->any);
    j->order = (cri_case_order){ o->sequence, o->time, o->filtered };
    CR_TRY(cri_cases_refuse_order(j->c->cx, j->any, &j->order));
    if (j->any.methods->check_method)
        CR_TRY(j->any.methods->check_method(j->c->cx, (cr_query_method)o->method));
    CR_TRY(infer_open_cases(j));
    CR_TRY(open_network(j));
    CR_TRY(cri_cases_targets(&j->s, &j->cases, o->target, j->known, j->n_known, &j->target,
                             &j->n_target));
    for (size_t i = 0; i < j->n_target; i++) numbers += count_numbers(j, j->target[i]);
    j->p = cr_scratch_f64(&j->s, numbers);
    CR_TRY(j->s.status);
    CR_TRY(cli_check_strict(j->c));
done:
    return st;
}

static void print_end(const infer_job *j)
{
    out_text(j->c, "  approximate, by %s", j->cases.method);
    if (j->cases.worst > 0) out_text(j->c, ", standard error at most %.2g", j->cases.worst);
    if (j->cases.unsure > 0) out_text(j->c, ", not converged in %zu rows", j->cases.unsure);
    out_text(j->c, "\n");
}

static cr_status run_infer(cli *c)
{
    cr_status  st = CR_OK;
    infer_job  j = { .c = c, .s = cr_scratch_begin(c->cx) };
    cri_sheet *sheet = cri_sheet_new(c->cx);
    cr_model  *m = NULL;
    CR_TRY(cli_read_network(c, 0, CR_FORMAT_AUTO, &m, &j.any));
    CR_TRY(prepare(&j));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON) {
        put_head(&j, sheet);
        CR_TRY(cri_sheet_status(sheet));
        out_result_begin_rows(c, "infer", sheet, "results");
    } else {
        print_header(&j);
    }
    CR_TRY(infer_rows(&j, sheet));
    cri_cases_warn_rows(&j.cases, j.rows);
    if (c->format == FORMAT_JSON) out_result_end_rows(c);
    if (c->format == FORMAT_TEXT && !j.cases.exact) print_end(&j);
    CR_TRY(cli_check_strict(c));
done:
    cri_cases_close(&j.cases);
    cr_table_free(c->cx, j.t);
    cri_text_rows_free(j.text);
    cri_source_close(j.source);
    cr_scratch_end(&j.s);
    cr_model_free(c->cx, m);
    cri_sheet_free(sheet);
    return st;
}

const cli_verb verb_infer = {
    .name = "infer",
    .usage = "infer NET CASES [--target X,Y] [--evidence FILE] [-o FILE]",
    .summary = "compute the posterior of a network for every row of evidence",
    .example = "credence infer examples/networks/burglary.bif examples/networks/calls.csv "
               "--target burglary",
    .options = infer_table,
    .options_size = sizeof(infer_options),
    .takes = VERB_READS,
    .least = 2,
    .most = 2,
    .run = run_infer,
    .result = result_infer,
};
