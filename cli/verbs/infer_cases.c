/* infer_cases.c -- rows of evidence: a table, or text that streams. */
#include "infer_job.h"
#include "base/number.h"
#include "graph/files/network_text.h"

#include <math.h>
#include <string.h>

/* --- columns --------------------------------------------------------------------------------- */

/* The time orders rows by its numbers. */
static bool is_time(const infer_job *j, const char *name)
{
    return j->order.time && strcmp(j->order.time, name) == 0;
}

/* Columns that name variables are categories, whatever their states look like.  *out_new: some were
 * not read as such. */
static cr_status take_categories(infer_job *j, const cr_table *t, bool *out_new)
{
    cr_status st = CR_OK;
    *out_new = false;
    for (size_t i = 0; i < cr_table_columns(t) && st == CR_OK; i++) {
        const cr_column *column = cr_table_column(t, i);
        if (column->type == CR_CATEGORY || column->missing == cr_table_rows(t) ||
            cr_variable_lookup(j->vs, column->name) == CR_NONE || is_time(j, column->name))
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

/* Which columns are variables: some have to be. */
static cr_status match_columns(infer_job *j)
{
    cr_status st = cri_cases_match(&j->s, j->any, j->t, &j->order, &j->known, &j->n_known);
    if (st != CR_OK || j->n_known > 0) return st;
    cr_fail(j->c->cx, CR_EDATA, "no column of %s names a variable of %s", cr_table_source(j->t),
            j->c->args[0]);
    return cr_fail_hint(j->c->cx, "credence describe %s lists its variables", j->c->args[0]);
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
    if (!j->source || j->c->read.real || !j->any.methods->states || j->any.methods->follow)
        goto done;
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
    cr_status    st = CR_OK;
    size_t       columns;
    const char **names;
    CR_TRY(cri_text_rows_open(j->c->cx, j->source, &j->c->read, &j->text));
    columns = j->text ? cri_text_rows_columns(j->text) : 0;
    j->known = cr_scratch_bytes(&j->s, columns, sizeof *j->known);
    names = cr_scratch_bytes(&j->s, columns, sizeof *names);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < columns; i++) names[i] = cri_text_rows_name(j->text, i);
    CR_TRY(cri_cases_refuse_twice(&j->s, j->vs, cri_source_name(j->source), names, columns));
    for (size_t i = 0; i < columns; i++) {
        size_t v = cr_variable_lookup(j->vs, names[i]);
        if (v != CR_NONE) j->known[j->n_known++] = (cri_case_column){ .variable = v, .place = i };
    }
    if (j->n_known == 0) { /* no header, perhaps: the other way will tell */
        cri_text_rows_free(j->text);
        j->text = NULL;
        CR_TRY(cri_source_rewind(j->source));
    }
    if (j->text) cri_cases_warn_unused(j->c->cx, j->vs, names, columns);
done:
    return st;
}

/* The state of a cell; CR_NONE where it has no value.  A state that is called NA, nan or ? is one:
 * what names a state is not missing, unless --missing-values says so. */
static cr_status read_state(infer_job *j, const cri_case_column *k, const char *cell,
                            size_t *out_state)
{
    const char *text = cell ? cell : cri_text_rows_written(j->text, k->place);
    *out_state = text ? cr_state_lookup(j->vs, k->variable, text) : CR_NONE;
    if (!cell || *out_state != CR_NONE) return CR_OK;
    cr_fail(j->c->cx, CR_EDATA, "%s:%zu:%zu: row %zu: '%s' has no state '%s'",
            cri_source_name(j->source), cri_text_rows_line(j->text),
            cri_text_rows_place(j->text, k->place), j->rows, cri_text_rows_name(j->text, k->place),
            cell);
    return cri_nearest_state(j->c->cx, j->vs, k->variable, cell);
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
        CR_TRY(cr_fail(j->c->cx, CR_EARG, "standard input can be used for only one argument"));
    if (j->c->read.header == HEADER_NO) {
        cr_fail(j->c->cx, CR_EARG,
                "infer matches columns by name, but with --header no they have no names");
        CR_TRY(
            cr_fail_hint(j->c->cx, "put the names of the variables in the first row of the table"));
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

cr_status infer_observe(infer_job *j, size_t row, bool *out_any)
{
    cr_status          st = CR_OK;
    const char *const *cells = NULL;
    if (j->text) CR_TRY(cri_text_rows_next(j->text, &cells));
    *out_any = j->text ? cells != NULL : row < j->rows;
    if (j->text) j->rows = row + 1;
    for (size_t i = 0; i < j->n_known && *out_any; i++) {
        const cri_case_column *k = &j->known[i];
        size_t                 state;
        double                 x;
        if (j->text) {
            CR_TRY(read_state(j, k, cells[k->place], &state));
            x = state == CR_NONE ? NAN : (double)state;
        } else {
            x = cri_case_cell(k, row);
        }
        CR_TRY(j->any.methods->observe(&j->cases, k->variable, x));
    }
done:
    return st;
}
