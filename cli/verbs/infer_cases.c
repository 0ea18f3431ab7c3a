/* infer_cases.c -- rows of evidence: a table, or text that streams. */
#include "infer_job.h"
#include "base/number.h"
#include "graph/files/network_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
        again = false;
        if (j->any.methods->states) CR_TRY(take_categories(j, j->t, &again));
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
    return cri_nearest_state(j->c->cx, j->any.net, v, column->levels[level]);
}

/* --- columns that are no variables, or the same one ------------------------------------------ */

/* The names of all columns, of a table or of text. */
static const char *column_name(const infer_job *j, size_t i)
{
    return j->text ? cri_text_rows_name(j->text, i) : cr_table_column(j->t, i)->name;
}

static const char *variable_name(const void *vs, size_t v) { return cr_variable_name(vs, v); }

/* The nearest variable, or "". */
static const char *nearest(const infer_job *j, const char *name)
{
    cr_fail(j->c->cx, CR_EDATA, "there is no variable '%s'", name);
    cr_fail_nearest(j->c->cx, name, "variables", cr_variables_count(j->vs), variable_name, j->vs);
    return cr_error_nearest(j->c->cx);
}

/* Says once which columns name no variable. */
static void warn_unused(const infer_job *j, size_t columns)
{
    enum { FEW = 8 };
    char   text[1024] = "";
    size_t used = 0, n = 0;
    for (size_t i = 0; i < columns; i++) {
        const char *name = column_name(j, i), *near;
        if (cr_variable_lookup(j->vs, name) != CR_NONE || n++ >= FEW || used >= sizeof text)
            continue;
        near = nearest(j, name);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s'%s'", n > 1 ? ", " : "", name);
        if (near[0] && used < sizeof text)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, " (did you mean '%s'?)", near);
    }
    if (n == 1)
        cr_log(j->c->cx, CR_LOG_WARNING, "column %s names no variable of the network: left out",
               text);
    if (n > 1)
        cr_log(j->c->cx, CR_LOG_WARNING,
               "%zu columns name no variable of the network: left out %s%s", n, text,
               n > FEW ? ", ..." : "");
}

/* Two columns of one variable may contradict each other. */
static cr_status refuse_twice(infer_job *j, size_t columns)
{
    cr_status st = CR_OK;
    size_t   *first = cr_scratch_bytes(&j->s, cr_variables_count(j->vs), sizeof *first);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < columns; i++) {
        size_t v = cr_variable_lookup(j->vs, column_name(j, i));
        if (v != CR_NONE && first[v] > 0) {
            cr_fail(j->c->cx, CR_EDATA, "columns %zu and %zu of %s are both '%s'", first[v], i + 1,
                    j->text ? cri_source_name(j->source) : cr_table_source(j->t),
                    column_name(j, i));
            CR_TRY(cr_fail_hint(j->c->cx, "leave one of them out, or give it another name"));
        }
        if (v != CR_NONE) first[v] = i + 1; /* 0: none yet */
    }
done:
    return st;
}

/* What the levels of a column mean. */
static cr_status match_states(infer_job *j, case_column *k)
{
    const cr_column *column = k->column;
    k->state = cr_scratch_index(&j->s, column->n_levels);
    if (j->s.status != CR_OK) return j->s.status;
    if (column->type != CR_CATEGORY && column->missing < cr_table_rows(j->t))
        return cr_fail(j->c->cx, CR_EDATA, "column '%s' is not read as states", column->name);
    for (size_t i = 0; i < column->n_levels; i++) {
        k->state[i] = cr_state_lookup(j->vs, k->variable, column->levels[i]);
        if (k->state[i] == CR_NONE) return refuse_level(j, column, k->variable, i);
    }
    return CR_OK;
}

static bool is_number(const char *text)
{
    double x;
    size_t n = strlen(text);
    return n > 0 && cri_parse_double(text, text + n, &x) == n;
}

/* A column of a variable that has values holds numbers. */
static cr_status match_values(infer_job *j, const cr_column *column)
{
    size_t row = 0;
    if (column->type != CR_CATEGORY || column->missing == j->rows) return CR_OK;
    while (row + 1 < j->rows &&
           (column->codes[row] == CR_MISSING_CODE || is_number(column->levels[column->codes[row]])))
        row++;
    return cr_fail(
        j->c->cx, CR_EDATA, "%s, row %zu: '%s' is a Gaussian variable, and '%s' is no number",
        cr_table_source(j->t), row + 1, column->name, column->levels[column->codes[row]]);
}

static cr_status match_columns(infer_job *j)
{
    cr_status st = CR_OK;
    size_t    columns = cr_table_columns(j->t);
    CR_TRY(refuse_twice(j, columns));
    j->known = cr_scratch_bytes(&j->s, columns, sizeof *j->known);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < columns; i++) {
        const cr_column *column = cr_table_column(j->t, i);
        size_t           v = cr_variable_lookup(j->vs, column->name);
        if (v == CR_NONE) continue;
        case_column known = { .variable = v, .gaps = column->missing > 0, .column = column };
        CR_TRY(j->any.methods->states ? match_states(j, &known) : match_values(j, column));
        j->known[j->n_known++] = known;
    }
    if (j->n_known == 0) {
        cr_fail(j->c->cx, CR_EDATA, "no column of %s names a variable of %s", cr_table_source(j->t),
                j->c->args[0]);
        CR_TRY(cr_fail_hint(j->c->cx, "credence describe %s lists its variables", j->c->args[0]));
    }
    warn_unused(j, columns);
done:
    return st;
}

/* --- rows that stream ------------------------------------------------------------------------ */

/* A pipe is answered row by row, if it is told what is asked for, and the form of the answer does
 * not begin with the number of rows. */
static bool comes_once(const infer_job *j)
{
    return j->has_target && j->c->format != FORMAT_JSON && !cri_source_is_seekable(j->source);
}

/* Text is taken row by row.  Where something has to be known of later rows it is looked through
 * before: a file, or a pipe that is kept. */
static cr_status may_stream(infer_job *j, bool *out_may)
{
    enum { SHORT = 6 };
    cr_status   st = CR_OK;
    cri_format  format = (cri_format)j->c->read.from;
    const char *bytes;
    size_t      size;
    *out_may = false;
    if (!j->source || j->c->read.real || !j->any.methods->states) goto done;
    if (comes_once(j) && format <= CRI_FORMAT_TSV) {
        CR_TRY(cri_source_peek(j->source, SHORT, &bytes, &size)); /* no more: it may come slowly */
        *out_may = size == SHORT && memcmp(bytes, "\x93NUMPY", SHORT) != 0 &&
                   memcmp(bytes, "PK", 2) != 0 && memcmp(bytes, "SQLite", SHORT) != 0;
    } else {
        CR_TRY(cri_tell_format(j->c->cx, j->c->args[1], j->source, &j->c->read, &format));
        *out_may = format == CRI_FORMAT_CSV || format == CRI_FORMAT_TSV;
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
    if (j->text) CR_TRY(refuse_twice(j, columns));
    j->known = cr_scratch_bytes(&j->s, columns, sizeof *j->known);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < columns; i++) {
        size_t v = cr_variable_lookup(j->vs, cri_text_rows_name(j->text, i));
        if (v != CR_NONE) j->known[j->n_known++] = (case_column){ .variable = v, .place = i };
    }
    if (j->n_known == 0) { /* no header, perhaps: the other way will tell */
        cri_text_rows_free(j->text);
        j->text = NULL;
        CR_TRY(cri_source_rewind(j->source));
    }
    if (j->text) warn_unused(j, columns);
done:
    return st;
}

/* The state of a cell; CR_NONE where it has no value.  A state that is called NA, nan or ? is one:
 * what names a state is not missing, unless --missing-values says so. */
static cr_status read_state(infer_job *j, const case_column *k, const char *cell, size_t *out_state)
{
    const char *text = cell ? cell : cri_text_rows_written(j->text, k->place);
    *out_state = text ? cr_state_lookup(j->vs, k->variable, text) : CR_NONE;
    if (!cell || *out_state != CR_NONE) return CR_OK;
    cr_fail(j->c->cx, CR_EDATA, "%s:%zu:%zu: row %zu: '%s' has no state '%s'",
            cri_source_name(j->source), cri_text_rows_line(j->text),
            cri_text_rows_place(j->text, k->place), j->rows, cri_text_rows_name(j->text, k->place),
            cell);
    return cri_nearest_state(j->c->cx, j->any.net, k->variable, cell);
}

/* Looks through a file: are all cells states, which columns have gaps, how many rows? */
static cr_status look_through(infer_job *j)
{
    cr_status          st = CR_OK;
    const char *const *cells;
    for (size_t k = 0; k < j->n_known; k++) j->known[k].gaps = true;
    if (comes_once(j)) {
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

enum { HEADER_YES = 1, HEADER_NO }; /* as --header has them */

cr_status infer_open_cases(infer_job *j)
{
    cr_status   st = CR_OK;
    const char *path = j->c->args[1];
    bool        streams;
    if (strcmp(path, "-") == 0 && strcmp(j->c->args[0], "-") == 0)
        CR_TRY(cr_fail(j->c->cx, CR_EARG, "standard input can serve as one argument only"));
    if (j->c->read.header == HEADER_NO) {
        cr_fail(j->c->cx, CR_EARG, "infer goes by the names of columns, and --header no has none");
        CR_TRY(cr_fail_hint(j->c->cx, "let the first row of the table name the variables"));
    }
    j->c->read.header = HEADER_YES;
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

/* What row i of the table says of a column: a state, a value, or NaN. */
static double table_cell(const case_column *k, size_t row)
{
    const cr_column *c = k->column;
    if (!k->state) return c->type == CR_CATEGORY ? NAN : c->values[row * c->stride];
    bool missing = c->type != CR_CATEGORY || c->codes[row] == CR_MISSING_CODE;
    return missing ? NAN : (double)k->state[c->codes[row]];
}

cr_status infer_observe(infer_job *j, size_t row, bool *out_any)
{
    cr_status          st = CR_OK;
    const char *const *cells = NULL;
    if (j->text) CR_TRY(cri_text_rows_next(j->text, &cells));
    *out_any = j->text ? cells != NULL : row < j->rows;
    if (j->text) j->rows = row + 1;
    for (size_t i = 0; i < j->n_known && *out_any; i++) {
        const case_column *k = &j->known[i];
        size_t             state;
        double             x;
        if (j->text) {
            CR_TRY(read_state(j, k, cells[k->place], &state));
            x = state == CR_NONE ? NAN : (double)state;
        } else {
            x = table_cell(k, row);
        }
        CR_TRY(j->any.methods->observe(&j->cases, k->variable, x));
    }
done:
    return st;
}
