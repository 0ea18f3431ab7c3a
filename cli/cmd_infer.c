/* cmd_infer.c -- infer: the posterior of a network for every row of evidence. */
#include "approximate.h"
#include "gaussian.h"
#include "network.h"
#include "base/list.h"
#include "base/scratch.h"
#include "data/read_internal.h"
#include "data/text_rows.h"
#include "models/graph/junction.h"
#include "models/graph/query.h"
#include "models/graph/network_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define INFER_OPTIONS(X)                                                                           \
    X(list, target, "", "VARIABLE",                                                                \
      "variables whose posterior is wanted; if not given, all that are not known in every row",    \
      "burglary")                                                                                  \
    X(choice, method, "auto", INFER_METHODS,                                                       \
      "exact by a junction tree (jt), or an approximation; auto is exact if that fits memory and " \
      "--budget", "bp")                                                                            \
    CLI_METHOD_OPTIONS(X)
#define INFER_METHODS "auto|jt|" CR_APPROXIMATIONS
/* clang-format on */
enum { METHOD_AUTO, METHOD_JT, METHOD_APPROXIMATE };
CR_OPTIONS_STRUCT(infer_options, INFER_OPTIONS);
#define ROW(...) CR_OPTION_ROW(infer_options, __VA_ARGS__)
static const cr_option infer_table[] = { INFER_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

/* A column that names a variable. */
typedef struct case_column {
    size_t           variable;
    bool             gaps;   /* some row may have no value */
    const cr_column *column; /* of a table, and what its levels mean: */
    size_t          *state;  /* [levels] */
    size_t           place;  /* of text that streams: which cell */
} case_column;

typedef struct infer_job {
    cli                   *c;
    cr_scratch             s;
    cr_network            *net;
    const cr_variables    *vs;
    cri_source            *source; /* NULL: a database */
    cri_text_rows         *text;   /* rows as they come, in constant memory; or else */
    cr_table              *t;      /* all rows at once */
    size_t                 rows;   /* so far, or all where that is known before */
    case_column           *known;
    size_t                 n_known;
    size_t                *target, n_target;
    cr_evidence           *e;
    cr_junction           *tree; /* NULL: by an approximation */
    cr_approximation       how;
    cr_approximate_options approximate;
    cr_approximate_answer  row;          /* the posterior of one */
    size_t                *begin;        /* [variables] where its marginals begin there */
    size_t                 unsure, lost; /* rows that did not converge; without any weight */
    double                *p;            /* room for the states of one variable */
    size_t                 impossible;
} infer_job;

/* --- columns --------------------------------------------------------------------------------- */

/* Columns that name variables are categories, whatever their states look like.  *out_new: some were
 * not read as such. */
static cr_status take_categories(infer_job *j, const cr_table *t, bool *out_new)
{
    cr_status st = CR_OK;
    *out_new = false;
    for (size_t i = 0; i < cr_table_columns(t) && st == CR_OK; i++) {
        const cr_column *column = cr_table_column(t, i);
        if (column->type == CR_CATEGORY || column->missing == cr_table_rows(t) ||
            cr_variable_lookup(j->vs, column->name) == CR_NONE)
            continue;
        *out_new = true;
        st = cr_options_add(j->c->cx, cr_read_table, &j->c->read, "category", column->name);
    }
    return st;
}

/* Reads the rows; again, if states look like numbers.  What came through a pipe is kept. */
static cr_status read_cases(infer_job *j)
{
    cr_status   st = CR_OK;
    cr_ctx     *cx = j->c->cx;
    const char *path = j->c->args[1];
    bool        again = true;
    for (size_t pass = 0; pass < 2 && again; pass++) {
        cr_table_free(cx, j->t);
        j->t = NULL;
        if (j->source && pass > 0) CR_TRY(cri_source_rewind(j->source));
        CR_TRY(j->source ? cri_table_read_source(cx, path, j->source, &j->c->read, &j->t)
                         : cr_table_read(cx, path, &j->c->read, &j->t));
        CR_TRY(take_categories(j, j->t, &again));
    }
    j->rows = cr_table_rows(j->t);
done:
    return st;
}

/* A state that the network does not have: where it is first met. */
static cr_status refuse_level(infer_job *j, const cr_column *column, size_t v, size_t level)
{
    size_t row = 0;
    while (row < cr_table_rows(j->t) && column->codes[row] != level) row++;
    cr_fail(j->c->cx, CR_EDATA, "%s, row %zu: '%s' has no state '%s'", cr_table_source(j->t),
            row + 1, column->name, column->levels[level]);
    return cri_nearest_state(j->c->cx, j->net, v, column->levels[level]);
}

static void warn_unused(const infer_job *j, const char *name)
{
    cr_log(j->c->cx, CR_LOG_WARNING, "column '%s' names no variable of the network: left out",
           name);
}

static cr_status match_columns(infer_job *j)
{
    cr_status st = CR_OK;
    size_t    columns = cr_table_columns(j->t);
    j->known = cr_scratch_bytes(&j->s, columns, sizeof *j->known);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < columns; i++) {
        const cr_column *column = cr_table_column(j->t, i);
        size_t           v = cr_variable_lookup(j->vs, column->name);
        if (v == CR_NONE) continue;
        case_column known = { .variable = v, .gaps = column->missing > 0, .column = column };
        known.state = cr_scratch_index(&j->s, column->n_levels);
        CR_TRY(j->s.status);
        if (column->type != CR_CATEGORY && column->missing < cr_table_rows(j->t))
            CR_TRY(cr_fail(j->c->cx, CR_EDATA, "column '%s' is not read as states", column->name));
        for (size_t k = 0; k < column->n_levels; k++) {
            known.state[k] = cr_state_lookup(j->vs, v, column->levels[k]);
            if (known.state[k] == CR_NONE) CR_TRY(refuse_level(j, column, v, k));
        }
        j->known[j->n_known++] = known;
    }
    if (j->n_known == 0) {
        cr_fail(j->c->cx, CR_EDATA, "no column of %s names a variable of %s", cr_table_source(j->t),
                j->c->args[0]);
        CR_TRY(cr_fail_hint(j->c->cx, "credence describe %s lists its variables", j->c->args[0]));
    }
    for (size_t i = 0; i < columns; i++)
        if (cr_variable_lookup(j->vs, cr_table_column(j->t, i)->name) == CR_NONE)
            warn_unused(j, cr_table_column(j->t, i)->name);
done:
    return st;
}

/* --- rows that stream ------------------------------------------------------------------------ */

/* Text streams, where nothing has to be known of later rows: a file is looked through before; of a
 * pipe it must be told what is asked for, and the form of the answer must not begin with the number
 * of rows. */
static cr_status may_stream(infer_job *j, bool *out_may)
{
    enum { HEADER_NO = 2, SHORT = 6 };
    cr_status            st = CR_OK;
    const infer_options *o = j->c->own;
    cri_format           format = (cri_format)j->c->read.from;
    const char          *bytes;
    size_t               size;
    *out_may = false;
    if (!j->source || j->c->read.header == HEADER_NO || j->c->read.real) goto done;
    if (cri_source_is_seekable(j->source)) {
        CR_TRY(cri_tell_format(j->c->cx, j->c->args[1], j->source, &j->c->read, &format));
        *out_may = format == CRI_FORMAT_CSV || format == CRI_FORMAT_TSV;
    } else if (o->target && j->c->format != FORMAT_JSON && format <= CRI_FORMAT_TSV) {
        CR_TRY(cri_source_peek(j->source, SHORT, &bytes, &size)); /* no more: it may come slowly */
        *out_may = size == SHORT && memcmp(bytes, "\x93NUMPY", SHORT) != 0 &&
                   memcmp(bytes, "PK", 2) != 0 && memcmp(bytes, "SQLite", SHORT) != 0;
    }
done:
    return st;
}

static cr_status open_text(infer_job *j)
{
    cr_status st = CR_OK;
    size_t    columns;
    CR_TRY(cri_text_rows_open(j->c->cx, j->source, &j->c->read, &j->text));
    columns = j->text ? cri_text_rows_columns(j->text) : 0;
    j->known = cr_scratch_bytes(&j->s, columns, sizeof *j->known);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < columns; i++) {
        size_t v = cr_variable_lookup(j->vs, cri_text_rows_name(j->text, i));
        bool   twice = false;
        for (size_t k = 0; k < j->n_known; k++) twice |= j->known[k].variable == v;
        if (v != CR_NONE && !twice)
            j->known[j->n_known++] = (case_column){ .variable = v, .place = i };
    }
    if (j->n_known == 0) { /* no header, perhaps: the other way will tell */
        cri_text_rows_free(j->text);
        j->text = NULL;
        CR_TRY(cri_source_rewind(j->source));
    }
    for (size_t i = 0; j->text && i < columns; i++)
        if (cr_variable_lookup(j->vs, cri_text_rows_name(j->text, i)) == CR_NONE)
            warn_unused(j, cri_text_rows_name(j->text, i));
done:
    return st;
}

/* The state of a cell; CR_NONE where it has no value. */
static cr_status read_state(infer_job *j, const case_column *k, const char *cell, size_t *out_state)
{
    *out_state = cell ? cr_state_lookup(j->vs, k->variable, cell) : CR_NONE;
    if (!cell || *out_state != CR_NONE) return CR_OK;
    cr_fail(j->c->cx, CR_EDATA, "%s, row %zu: '%s' has no state '%s'", cri_source_name(j->source),
            j->rows, cri_text_rows_name(j->text, k->place), cell);
    return cri_nearest_state(j->c->cx, j->net, k->variable, cell);
}

/* Looks through a file: are all cells states, which columns have gaps, how many rows? */
static cr_status look_through(infer_job *j)
{
    cr_status          st = CR_OK;
    const char *const *cells;
    for (size_t k = 0; k < j->n_known; k++) j->known[k].gaps = true;
    if (!cri_source_is_seekable(j->source)) {
        cri_source_forget(j->source);
        goto done;
    }
    for (size_t k = 0; k < j->n_known; k++) j->known[k].gaps = false;
    for (;; j->rows++) {
        size_t state;
        CR_TRY(cri_text_rows_next(j->text, &cells));
        if (!cells) break;
        if (j->rows % 1024 == 0) CR_TRY(cr_check_interrupt(j->c->cx));
        for (size_t k = 0; k < j->n_known; k++) {
            j->rows++; /* counted from 1 in messages */
            st = read_state(j, &j->known[k], cells[j->known[k].place], &state);
            j->rows--;
            CR_TRY(st);
            j->known[k].gaps |= state == CR_NONE;
        }
    }
    CR_TRY(cri_text_rows_rewind(j->text));
done:
    return st;
}

static cr_status open_cases(infer_job *j)
{
    cr_status   st = CR_OK;
    const char *path = j->c->args[1];
    bool        streams;
    if (strcmp(path, "-") == 0 && strcmp(j->c->args[0], "-") == 0)
        CR_TRY(cr_fail(j->c->cx, CR_EARG, "standard input can serve as one argument only"));
    if (!cri_is_database(path, &j->c->read)) CR_TRY(cri_source_open(j->c->cx, path, &j->source));
    CR_TRY(may_stream(j, &streams));
    if (streams) CR_TRY(open_text(j));
    if (j->text) {
        CR_TRY(look_through(j));
    } else {
        CR_TRY(read_cases(j));
        CR_TRY(match_columns(j));
    }
done:
    return st;
}

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
        j->n_target++;
    }
    for (size_t i = 0; i < j->n_known; i++) known[j->known[i].variable] = !j->known[i].gaps;
    for (size_t v = 0; v < all && n == 0; v++)
        if (!known[v]) j->target[j->n_target++] = v;
done:
    return st;
}

/* --- rows ------------------------------------------------------------------------------------ */

/* What row i of the table says of a column. */
static size_t table_state(const case_column *k, size_t row)
{
    bool missing = k->column->type != CR_CATEGORY || k->column->codes[row] == CR_MISSING_CODE;
    return missing ? CR_NONE : k->state[k->column->codes[row]];
}

/* Row i becomes the evidence; false in *out_any behind the last one. */
static cr_status observe(infer_job *j, size_t row, bool *out_any)
{
    cr_status          st = CR_OK;
    const char *const *cells = NULL;
    if (j->text) CR_TRY(cri_text_rows_next(j->text, &cells));
    *out_any = j->text ? cells != NULL : row < j->rows;
    if (j->text) j->rows = row + 1;
    for (size_t i = 0; i < j->n_known && *out_any; i++) {
        const case_column *k = &j->known[i];
        size_t             state;
        if (j->text)
            CR_TRY(read_state(j, k, cells[k->place], &state));
        else
            state = table_state(k, row);
        if (state == CR_NONE)
            cr_evidence_forget(j->c->cx, j->e, k->variable);
        else
            CR_TRY(cr_evidence_observe(j->c->cx, j->e, k->variable, state));
    }
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
    out_text(j->c, "\n");
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
        json_object_set_new(opt_row, "marginals", all = json_object());
    } else {
        out_text(j->c, csv ? "%s" : "  %12s",
                 isnan(log_e) ? ""
                 : possible   ? out_number(log_e, csv, text)
                              : "-inf");
    }
    if (opt_row && possible && !j->tree)
        json_object_set_new(opt_row, "error", approximate_error(&j->row.report));
    for (size_t i = 0; i < j->n_target; i++) {
        size_t v = j->target[i], n = cr_variable_states(j->vs, v);
        if (possible && j->tree) CR_TRY(cr_junction_marginal(j->c->cx, j->tree, v, j->p));
        if (possible && !j->tree) memcpy(j->p, j->row.marginal + j->begin[v], n * sizeof *j->p);
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
    if (!opt_row) out_text(j->c, "\n");
done:
    return st;
}

/* log P(e) of the row; -INFINITY: it is impossible, or no sample agrees with it. */
static cr_status ask_row(infer_job *j, double *out_log)
{
    cr_status st = CR_OK;
    cr_ctx   *cx = j->c->cx;
    if (j->tree) {
        CR_TRY(cr_junction_set_evidence(cx, j->tree, j->e));
        CR_TRY(cr_junction_log_evidence(cx, j->tree, out_log));
        j->impossible += *out_log == -INFINITY;
        goto done;
    }
    cr_approximate_free(cx, &j->row);
    st =
        cr_approximate(cx, j->net, j->e, j->how, &j->approximate, j->c->fit.seed, 0, NULL, &j->row);
    if (st == CR_ENUMERIC) {
        j->lost++;
        *out_log = -INFINITY;
        return CR_OK;
    }
    CR_TRY(st);
    *out_log = j->row.report.log_evidence;
    j->impossible += *out_log == -INFINITY;
    bool settles = j->row.report.iterations > 0 || j->row.report.chains > 0;
    j->unsure += *out_log != -INFINITY && settles && !j->row.report.converged;
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
        CR_TRY(observe(j, i, &any));
        if (!any) break;
        CR_TRY(ask_row(j, &log_e));
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

/* A tree, or none. */
static cr_status choose_method(infer_job *j)
{
    cr_status            st = CR_OK;
    const infer_options *o = j->c->own;
    cr_query_options     q = cr_query_defaults();
    cr_query_method      method = CR_QUERY_JT;
    char                 why[256] = "";
    q.budget = o->budget;
#define TAKE(kind, field, ...) j->approximate.field = o->field;
    CR_APPROXIMATE_OPTIONS(TAKE)
#undef TAKE
    if (o->method == METHOD_AUTO) CR_TRY(cr_query_plan(j->c->cx, j->net, &q, &method, why));
    if (o->method >= METHOD_APPROXIMATE)
        j->how = (cr_approximation)(o->method - METHOD_APPROXIMATE);
    else if (method >= CR_QUERY_APPROXIMATE)
        j->how = (cr_approximation)(method - CR_QUERY_APPROXIMATE);
    else
        CR_TRY(cr_junction_new(j->c->cx, j->net, NULL, NULL, &j->tree));
    if (why[0]) cr_log(j->c->cx, CR_LOG_WARNING, "%s", why);
    j->begin = cr_scratch_index(&j->s, cr_network_size(j->net));
    CR_TRY(j->s.status);
    for (size_t v = 0, k = 0; v < cr_network_size(j->net); k += cr_network_states(j->net, v++))
        j->begin[v] = k;
done:
    return st;
}

static cr_status prepare(infer_job *j)
{
    cr_status st = CR_OK;
    size_t    most = 1;
    j->vs = cr_network_variables(j->net);
    CR_TRY(open_cases(j));
    CR_TRY(choose_targets(j));
    for (size_t v = 0; v < cr_network_size(j->net); v++)
        if (cr_network_states(j->net, v) > most) most = cr_network_states(j->net, v);
    j->p = cr_scratch_f64(&j->s, most);
    CR_TRY(j->s.status);
    CR_TRY(cr_evidence_new(j->c->cx, j->net, &j->e));
    CR_TRY(choose_method(j));
    CR_TRY(cli_check_strict(j->c));
done:
    return st;
}

static cr_status run_infer(cli *c)
{
    cr_status st = CR_OK;
    infer_job j = { .c = c, .s = cr_scratch_begin(c->cx) };
    json_t   *root = json_object();
    const infer_options *o = c->own;
    cr_gaussian_network *gaussian = NULL;
    CR_TRY(cli_read_either(c, 0, CR_FORMAT_AUTO, &j.net, &gaussian));
    if (gaussian) {
        if (o->method > METHOD_JT)
            CR_TRY(cr_fail(c->cx, CR_EARG, "a Gaussian network has exact answers, without --method"));
        CR_TRY(cli_infer_gaussian(c, gaussian, o->target));
        goto done;
    }
    CR_TRY(prepare(&j));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON) {
        json_object_set_new(root, "network", json_string_nocheck(c->args[0]));
        json_object_set_new(root, "rows", json_integer((json_int_t)j.rows));
        json_object_set_new(root, "method",
                            json_string(j.tree ? "jt" : cr_approximation_name(j.how)));
        json_object_set_new(root, "exact", json_boolean(j.tree != NULL));
        json_object_set_new(root, "seed", json_integer((json_int_t)c->fit.seed));
        out_json_begin(c, "infer", root, "results");
    } else {
        print_header(&j);
    }
    CR_TRY(infer_rows(&j));
    if (c->format == FORMAT_JSON) out_json_end(c);
    if (j.impossible > 0)
        cr_log(c->cx, CR_LOG_WARNING,
               "%zu of %zu rows are impossible in this network and get no "
               "posterior",
               j.impossible, j.rows);
    if (j.lost > 0)
        cr_log(c->cx, CR_LOG_WARNING,
               "no sample agrees with %zu of %zu rows: they may be impossible, or need another "
               "--method",
               j.lost, j.rows);
    if (j.unsure > 0)
        cr_log(c->cx, CR_LOG_WARNING,
               "%s has not converged in %zu of %zu rows: their posteriors may be far off",
               cr_approximation_name(j.how), j.unsure, j.rows);
    if (c->format == FORMAT_TEXT && !j.tree)
        out_text(c, "  approximate, by %s\n", cr_approximation_name(j.how));
    CR_TRY(cli_check_strict(c));
done:
    cr_approximate_free(c->cx, &j.row);
    cr_junction_free(c->cx, j.tree);
    cr_evidence_free(c->cx, j.e);
    cr_table_free(c->cx, j.t);
    cri_text_rows_free(j.text);
    cri_source_close(j.source);
    cr_network_free(c->cx, j.net);
    cr_gaussian_network_free(c->cx, gaussian);
    cr_scratch_end(&j.s);
    json_decref(root);
    return st;
}

const cli_verb verb_infer = {
    .name = "infer",
    .usage = "infer NET CASES [--target X,Y] [-o FILE]",
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
