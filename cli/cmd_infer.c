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
CR_OPTIONS_STRUCT(infer_options, INFER_OPTIONS);
#define ROW(...) CR_OPTION_ROW(infer_options, __VA_ARGS__)
static const cr_option infer_table[] = { INFER_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

/* --- rows ------------------------------------------------------------------------------------ */

/* Those of --target, or all that are not known in every row. */
static cr_status choose_targets(infer_job *j)
{
    cr_status            st = CR_OK;
    const infer_options *o = j->c->own;
    char               **names = NULL;
    size_t               n = 0, all = cr_network_size(j->net);
    bool                *known = cr_scratch_bytes(&j->s, all, sizeof *known);
    CR_TRY(cri_list_split(&j->s, o->target, &names, &n));
    j->target = cr_scratch_index(&j->s, n > all ? n : all);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < n; i++) {
        CR_TRY(cr_variable_find(j->c->cx, j->vs, names[i], &j->target[i]));
        for (size_t k = 0; k < i; k++)
            if (j->target[k] == j->target[i])
                CR_TRY(cr_fail(j->c->cx, CR_EARG, "--target names '%s' twice", names[i]));
        j->n_target++;
    }
    for (size_t i = 0; i < j->n_known; i++) known[j->known[i].variable] = !j->known[i].gaps;
    for (size_t v = 0; v < all; v++) known[v] |= cr_evidence_state(j->e, v) != CR_NONE;
    for (size_t v = 0; v < all && n == 0; v++)
        if (!known[v]) j->target[j->n_target++] = v;
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

/* One posterior after the other goes to the row, or to an object.  An impossible row has none. */
static cr_status print_row(infer_job *j, double log_e, json_t *opt_row)
{
    cr_status st = CR_OK;
    char      text[32];
    json_t   *all = NULL, *one = NULL;
    bool      possible = log_e != -INFINITY, csv = j->c->format == FORMAT_CSV;
    if (opt_row) {
        json_object_set_new(opt_row, "log_evidence",
                            isfinite(log_e) ? json_real(log_e) : json_null());
        if (!possible) json_object_set_new(opt_row, "impossible", json_true());
        json_object_set_new(opt_row, "marginals", all = json_object());
    } else {
        out_text(j->c, csv ? "%s" : "  %12s",
                 isnan(log_e) ? ""
                 : possible   ? out_number(log_e, csv, text)
                              : "-inf");
    }
    if (opt_row && possible && infer_approximates(j))
        json_object_set_new(opt_row, "error", approximate_error(&j->row.report));
    for (size_t i = 0; i < j->n_target; i++) {
        size_t v = j->target[i], n = cr_variable_states(j->vs, v);
        if (possible) CR_TRY(infer_posterior(j, v));
        if (opt_row && possible)
            json_object_set_new_nocheck(all, cr_variable_name(j->vs, v), one = json_object());
        for (size_t s = 0; s < n; s++) {
            if (opt_row && possible)
                json_object_set_new_nocheck(one, cr_state_name(j->vs, v, s), json_real(j->p[s]));
            else if (!opt_row)
                print_cell(j, possible ? out_number(j->p[s], csv, text) : "",
                           name_cell(j, v, s, NULL, 0));
        }
    }
    if (!opt_row && csv && infer_approximates(j)) print_error(j, possible);
    if (!opt_row) out_text(j->c, "\n");
done:
    return st;
}

/* What has been answered is handed over before a wait for more. */
static bool should_flush(const infer_job *j, size_t row)
{
    return j->text ? !cri_text_rows_ready(j->text) : row % 64 == 0;
}

static cr_status infer_rows(infer_job *j)
{
    cr_status st = CR_OK;
    json_t   *row = NULL;
    bool      json = j->c->format == FORMAT_JSON, any;
    size_t    all = j->rows, i = 0;
    for (;; i++) {
        double log_e;
        CR_TRY(cr_check_interrupt(j->c->cx));
        if (should_flush(j, i)) CR_TRY(out_flush(j->c));
        CR_TRY(infer_observe(j, i, &any));
        if (!any) break;
        CR_TRY(infer_ask(j, &log_e));
        row = json ? json_object() : NULL;
        CR_TRY(print_row(j, log_e, row));
        if (json) out_json_item(j->c, row, i == 0);
        json_decref(row);
        row = NULL;
        if (all > 0) cr_progress(j->c->cx, "rows", (double)i, (double)all);
    }
    j->rows = i;
done:
    json_decref(row);
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
    json_t              *root = json_object();
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
        json_object_set_new(root, "network", json_string_nocheck(c->args[0]));
        json_object_set_new(root, "rows", json_integer((json_int_t)j.rows));
        json_object_set_new(root, "method", json_string(infer_method_name(&j)));
        json_object_set_new(root, "exact", json_boolean(!infer_approximates(&j)));
        json_object_set_new(root, "seed", json_integer((json_int_t)c->fit.seed));
        out_json_begin_rows(c, "infer", root, "results");
    } else {
        print_header(&j);
    }
    CR_TRY(infer_rows(&j));
    warn_of_rows(&j);
    if (c->format == FORMAT_JSON) out_json_end_rows(c);
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
    json_decref(root);
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
