/* cmd_infer.c -- infer: the posterior of a network for every row of evidence. */
#include "approximate.h"
#include "gaussian.h"
#include "infer_job.h"
#include "base/list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define INFER_OPTIONS(X)                                                                           \
    X(list, target, "", "VARIABLE",                                                                \
      "variables whose posterior is wanted; if not given, all that are not known in every row",    \
      "burglary")                                                                                  \
    X(text, evidence, "", "FILE",                                                                  \
      "evidence for all rows besides their columns: JSON {\"x\": \"state\"}, or a UAI .evid",    \
      "evidence.json")                                                                             \
    CLI_METHOD_OPTIONS(X)
/* clang-format on */
CR_OPTIONS(infer_options, infer_table, INFER_OPTIONS);

/* --- rows ------------------------------------------------------------------------------------ */

cr_status infer_choose_targets(cr_scratch *s, const cr_variables *vs, const char *opt_list,
                               const bool *known, size_t all, size_t **out_target, size_t *out_n)
{
    cr_status st = CR_OK;
    char    **names = NULL;
    size_t    n = 0, open = 0, *target = NULL;
    CR_TRY(cri_list_split(s, opt_list, &names, &n));
    target = cr_scratch_index(s, n > all ? n : all);
    CR_TRY(s->status);
    for (size_t i = 0; i < n; i++) {
        CR_TRY(cr_variable_find(s->cx, vs, names[i], &target[i]));
        for (size_t k = 0; k < i; k++)
            if (target[k] == target[i])
                CR_TRY(cr_fail(s->cx, CR_EARG, "--target names '%s' twice", names[i]));
    }
    for (size_t v = 0; v < all && n == 0; v++)
        if (!known[v]) target[open++] = v;
    *out_target = target;
    *out_n = n > 0 ? n : open;
done:
    return st;
}

static cr_status choose_targets(infer_job *j)
{
    cr_status            st = CR_OK;
    const infer_options *o = j->c->own;
    size_t               all = cr_network_size(j->net);
    bool                *known = cr_scratch_bytes(&j->s, all, sizeof *known);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < j->n_known; i++) known[j->known[i].variable] = !j->known[i].gaps;
    for (size_t v = 0; v < all; v++) known[v] |= cr_evidence_state(j->e, v) != CR_NONE;
    CR_TRY(infer_choose_targets(&j->s, j->vs, o->target, known, all, &j->target, &j->n_target));
done:
    return st;
}

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

/* "x=yes" */
static size_t name_cell(const infer_job *j, size_t v, size_t s, char *out, size_t room)
{
    return (size_t)snprintf(out, room, "%s=%s", cr_variable_name(j->vs, v),
                            cr_state_name(j->vs, v, s));
}

/* A name for every state of every target. */
static void print_header(infer_job *j)
{
    char name[1024];
    out_text(j->c, j->c->format == FORMAT_CSV ? "log_evidence" : "  log_evidence");
    for (size_t i = 0; i < j->n_target; i++)
        for (size_t s = 0; s < cr_variable_states(j->vs, j->target[i]); s++) {
            size_t width = name_cell(j, j->target[i], s, name, sizeof name);
            print_cell(j, name, width);
        }
    if (infer_approximates(j) && j->c->format == FORMAT_CSV) out_text(j->c, ",method,se,converged");
    out_text(j->c, "\n");
}

/* How a row came, of an approximation: the method, its largest standard error, whether it settled.
 */
static void print_error(infer_job *j, bool possible)
{
    char                         text[32];
    const cr_approximate_report *r = &j->row.report;
    bool                         has_se = possible && r->samples > 0 && !isnan(r->se);
    out_text(j->c, ",%s,%s,%s", infer_method_name(j), has_se ? out_number(r->se, true, text) : "",
             possible ? approximate_settled(r) : "");
}

/* One posterior after the other goes to the line.  An impossible row has none. */
static cr_status print_row(infer_job *j, double log_e)
{
    cr_status st = CR_OK;
    char      text[32];
    bool      possible = log_e != -INFINITY, csv = j->c->format == FORMAT_CSV;
    out_text(j->c, csv ? "%s" : "  %12s",
             isnan(log_e) ? ""
             : possible   ? out_number(log_e, csv, text)
                          : "-inf");
    for (size_t i = 0; i < j->n_target; i++) {
        size_t v = j->target[i];
        if (possible) CR_TRY(infer_posterior(j, v));
        for (size_t s = 0; s < cr_variable_states(j->vs, v); s++)
            print_cell(j, possible ? out_number(j->p[s], csv, text) : "",
                       name_cell(j, v, s, NULL, 0));
    }
    if (csv && infer_approximates(j)) print_error(j, possible);
    out_text(j->c, "\n");
done:
    return st;
}

static const cr_field row_fields[] = {
    CR_MEASURE("log_evidence", "nats", CR_FIELD_NULL,
               "log P(row); null for a row that is impossible, or where the method has none"),
    CR_FLAG("impossible", CR_FIELD_SOMETIMES,
            "true: the network, or every sample, excludes the row, or (Gaussian) what is seen "
            "determines itself"),
    CR_OTHER(ANY, "marginals", 0,
             "{variable: {state: p}}, of a Gaussian network {variable: {mean, sd}}; "
             "empty for a row that is impossible"),
    CR_INNER(OBJECT, "error", CR_FIELD_SOMETIMES, "of an approximation: how good it is",
             approximate_fields),
    CR_FIELD_LAST,
};

static const cr_field result_infer[] = {
    CR_TEXT("network", 0, "the file, as it was named"),
    CR_COUNT("rows", 0, "rows of evidence"),
    CR_TEXT("method", 0, "jt: a junction tree; ve, enumerate, gaussian, or an approximation"),
    CR_FLAG("exact", 0, "whether the answers are exact, but for rounding"),
    CR_COUNT("seed", 0, "random seed"),
    CR_INNER(ROWS, "results", 0, "one for each row, in order", row_fields),
    CR_FIELD_LAST,
};

void infer_put_head(const cli *c, size_t rows, const char *method, bool exact, cri_sheet *out)
{
    cri_put_text(out, "network", c->args[0]);
    cri_put_count(out, "rows", rows);
    cri_put_text(out, "method", method);
    cri_put_flag(out, "exact", exact);
    cri_put_count(out, "seed", c->fit.seed);
}

cri_sheet *infer_put_row(double log_evidence, bool possible, cri_sheet *row)
{
    cri_put_real(row, "log_evidence", log_evidence);
    if (!possible) cri_put_flag(row, "impossible", true);
    return cri_put_object(row, "marginals");
}

static cr_status put_row(infer_job *j, double log_e, cri_sheet *row)
{
    cr_status  st = CR_OK;
    bool       possible = log_e != -INFINITY;
    cri_sheet *all = infer_put_row(log_e, possible, row);
    for (size_t i = 0; i < j->n_target && possible; i++) {
        size_t     v = j->target[i];
        cri_sheet *one = cri_put_object(all, cr_variable_name(j->vs, v));
        CR_TRY(infer_posterior(j, v));
        for (size_t s = 0; s < cr_variable_states(j->vs, v); s++)
            cri_put_real(one, cr_state_name(j->vs, v, s), j->p[s]);
    }
    if (possible && infer_approximates(j))
        approximate_put_error(&j->row.report, cri_put_object(row, "error"));
    CR_TRY(cri_sheet_status(row));
done:
    return st;
}

/* What has been answered is handed over before a wait for more. */
static bool should_flush(const infer_job *j, size_t row)
{
    return j->text ? !cri_text_rows_ready(j->text) : row % 64 == 0;
}

static cr_status infer_rows(infer_job *j, cri_sheet *sheet)
{
    cr_status st = CR_OK;
    bool      any;
    size_t    all = j->rows, i = 0;
    for (;; i++) {
        double log_e;
        CR_TRY(cr_check_interrupt(j->c->cx));
        if (should_flush(j, i)) CR_TRY(out_flush(j->c));
        CR_TRY(infer_observe(j, i, &any));
        if (!any) break;
        CR_TRY(infer_ask(j, &log_e));
        if (j->c->format == FORMAT_JSON) {
            cri_sheet_clear(sheet);
            CR_TRY(put_row(j, log_e, sheet));
            out_result_item(j->c, sheet, i == 0);
        } else {
            CR_TRY(print_row(j, log_e));
        }
        if (all > 0) cr_progress(j->c->cx, "rows", (double)i, (double)all);
    }
    j->rows = i;
done:
    return st;
}

/* Many parents of a noisy-or are divorced once for all rows, with the evidence that these have. */
static cr_status divorce(infer_job *j)
{
    cr_status st = CR_OK;
    j->work = j->net;
    j->seen = j->e;
    if (j->method == CR_QUERY_ENUMERATE || j->method == CR_QUERY_VE) return CR_OK;
    CR_TRY(cri_network_divorce(j->c->cx, j->net, j->e, true, &j->divorced));
    if (!j->divorced.net) goto done;
    j->work = j->divorced.net;
    cr_evidence_free(j->c->cx, j->e);
    j->seen = j->e = j->divorced.e;
    j->divorced.e = NULL;
done:
    return st;
}

/* Which method; a tree is made once for all rows. */
static cr_status choose_method(infer_job *j)
{
    cr_status            st = CR_OK;
    const infer_options *o = j->c->own;
    cr_query_options     q = cr_query_defaults();
    char                 why[256] = "";
    q.budget = o->budget;
#define TAKE(kind, field, ...) j->approximate.field = o->field;
    CR_APPROXIMATE_OPTIONS(TAKE)
#undef TAKE
    j->method = (cr_query_method)o->method;
    if (j->method == CR_QUERY_AUTO) CR_TRY(cr_query_plan(j->c->cx, j->net, &q, &j->method, why));
    if (j->method == CR_QUERY_EXACT) j->method = CR_QUERY_JT; /* there are many rows */
    CR_TRY(divorce(j));
    if (j->method == CR_QUERY_JT) CR_TRY(cr_junction_new(j->c->cx, j->work, NULL, NULL, &j->tree));
    if (why[0])
        cr_log(j->c->cx, CR_LOG_WARNING, "%s; %s was taken for all rows%s", why,
               infer_method_name(j),
               j->divorced.net ? "; --method ve may do each row by itself, exactly" : "");
    j->begin = cr_scratch_index(&j->s, cr_network_size(j->net));
    CR_TRY(j->s.status);
    for (size_t v = 0, k = 0; v < cr_network_size(j->net); k += cr_network_states(j->net, v++))
        j->begin[v] = k;
done:
    return st;
}

/* Evidence that all rows have.  What is done cuts the network; soft evidence would have to be
 * fitted to each row. */
static cr_status add_evidence(infer_job *j, const cr_finding *f, const char *path)
{
    cr_status   st = CR_OK;
    const char *name = cr_variable_name(j->vs, f->variable);
    for (size_t i = 0; i < j->n_known; i++)
        if (j->known[i].variable == f->variable) {
            cr_fail(j->c->cx, CR_EDATA, "'%s' is known from %s, and is a column of %s too", name,
                    path, j->c->args[1]);
            CR_TRY(cr_fail_hint(j->c->cx, "leave one of them out"));
        }
    if (f->kind == CR_FINDING_SOFT) {
        cr_fail(j->c->cx, CR_EUNSUPPORTED, "%s: infer takes no soft evidence, as that on '%s'",
                path, name);
        CR_TRY(cr_fail_hint(j->c->cx, "credence query takes it, one case at a time"));
    }
    CR_TRY(cr_evidence_weigh(j->c->cx, j->e, f->variable, f->weight));
    if (f->kind == CR_FINDING_DO)
        CR_TRY(cr_network_intervene(j->c->cx, j->net, f->variable,
                                    cr_evidence_state(j->e, f->variable)));
done:
    return st;
}

static cr_status read_evidence(infer_job *j)
{
    cr_status            st = CR_OK;
    const infer_options *o = j->c->own;
    cr_findings          more = { 0 };
    if (!o->evidence) return CR_OK;
    CR_TRY(cr_findings_read(j->c->cx, &more, j->net, o->evidence));
    for (size_t i = 0; i < more.n; i++) CR_TRY(add_evidence(j, &more.item[i], o->evidence));
done:
    cr_findings_free(j->c->cx, &more);
    return st;
}

static cr_status prepare(infer_job *j)
{
    cr_status            st = CR_OK;
    size_t               most = 1;
    const infer_options *o = j->c->own;
    if (j->c->read.from > CRI_FORMAT_SQLITE) j->c->read.from = CRI_FORMAT_AUTO; /* that of NET */
    j->has_target = o->target != NULL;
    j->vs = cr_network_variables(j->net);
    CR_TRY(infer_open_cases(j));
    CR_TRY(cr_evidence_new(j->c->cx, j->net, &j->e));
    CR_TRY(read_evidence(j));
    CR_TRY(choose_targets(j));
    for (size_t v = 0; v < cr_network_size(j->net); v++)
        if (cr_network_states(j->net, v) > most) most = cr_network_states(j->net, v);
    j->p = cr_scratch_f64(&j->s, most);
    CR_TRY(j->s.status);
    CR_TRY(choose_method(j));
    CR_TRY(cli_check_strict(j->c));
done:
    return st;
}

/* What is to be said of the rows in the end. */
static void warn_of_rows(const infer_job *j)
{
    cr_ctx     *cx = j->c->cx;
    const char *name = infer_method_name(j);
    if (j->impossible > 0)
        cr_log(cx, CR_LOG_WARNING,
               "%zu of %zu rows are impossible in this network and get no posterior", j->impossible,
               j->rows);
    if (j->lost > 0)
        cr_log(cx, CR_LOG_WARNING,
               "no sample agrees with %zu of %zu rows: they may be impossible, or need another "
               "--method",
               j->lost, j->rows);
    if (j->unsure > 0)
        cr_log(cx, CR_LOG_WARNING,
               "%s has not converged in %zu of %zu rows: their posteriors may be far off", name,
               j->unsure, j->rows);
    if (j->thin > 0)
        cr_log(cx, CR_LOG_WARNING,
               "%s has fewer than 100 effective samples in %zu of %zu rows: their standard errors "
               "are too small",
               name, j->thin, j->rows);
}

static void print_end(const infer_job *j)
{
    out_text(j->c, "  approximate, by %s", infer_method_name(j));
    if (j->worst > 0) out_text(j->c, ", standard error at most %.2g", j->worst);
    if (j->unsure > 0) out_text(j->c, ", not converged in %zu rows", j->unsure);
    out_text(j->c, "\n");
}

static cr_status run_infer(cli *c)
{
    cr_status            st = CR_OK;
    infer_job            j = { .c = c, .s = cr_scratch_begin(c->cx) };
    cri_sheet           *sheet = cri_sheet_new(c->cx);
    const infer_options *o = c->own;
    cr_gaussian_network *gaussian = NULL;
    CR_TRY(cli_read_either(c, 0, CR_FORMAT_AUTO, &j.net, &gaussian));
    if (gaussian) {
        if (o->method > CR_QUERY_EXACT)
            CR_TRY(
                cr_fail(c->cx, CR_EARG, "a Gaussian network has exact answers, without --method"));
        CR_TRY(cli_infer_gaussian(c, gaussian, o->target));
        goto done;
    }
    CR_TRY(prepare(&j));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON) {
        infer_put_head(c, j.rows, infer_method_name(&j), !infer_approximates(&j), sheet);
        CR_TRY(cri_sheet_status(sheet));
        out_result_begin_rows(c, "infer", sheet, "results");
    } else {
        print_header(&j);
    }
    CR_TRY(infer_rows(&j, sheet));
    warn_of_rows(&j);
    if (c->format == FORMAT_JSON) out_result_end_rows(c);
    if (c->format == FORMAT_TEXT && infer_approximates(&j)) print_end(&j);
    CR_TRY(cli_check_strict(c));
done:
    cr_approximate_free(c->cx, &j.row);
    cr_junction_free(c->cx, j.tree);
    cr_evidence_free(c->cx, j.e);
    cr_table_free(c->cx, j.t);
    cri_text_rows_free(j.text);
    cri_source_close(j.source);
    cri_divorced_free(c->cx, &j.divorced);
    cr_network_free(c->cx, j.net);
    cr_gaussian_network_free(c->cx, gaussian);
    cr_scratch_end(&j.s);
    cri_sheet_free(sheet);
    return st;
}

const cli_verb verb_infer = {
    .name = "infer",
    .usage = "infer NET CASES [--target X,Y] [--evidence FILE] [-o FILE]",
    .summary = "the posterior of a network for every row of evidence",
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
