/* rows_sequence.c -- which rows belong together, and in which order.
 * Sequences are numbered in the order in which they first appear, and gathered by counting; rows
 * that the time does not have in order already are sorted, sequence by sequence.
 * O(n + s log s) for s rows of sequences out of order. */
#include "design_block.h"
#include "data/table/table_internal.h"
#include "base/number.h"
#include "base/scratch.h"

#include <math.h>
#include <stdlib.h>

static size_t table_row(const cri_rows *r, size_t i) { return r->index ? r->index[i] : i; }

static cr_status find_column(cr_ctx *cx, const cri_rows *r, const char *name,
                             const cr_column **out_column)
{
    *out_column = cr_table_find(r->table, name);
    if (*out_column) return CR_OK;
    cr_status st = cri_table_no_column(cx, r->table, name);
    if (st != CR_EDATA) return st;
    return cr_fail_note(cx,
                        "the model describes sequences, which this column identifies or orders");
}

static cr_status fail_at(cr_ctx *cx, const cri_rows *r, size_t i, const cr_column *c,
                         const char *what)
{
    char where[512];
    return cr_fail(cx, CR_EDATA, "%s: column '%s' %s",
                   cri_table_where(r->table, table_row(r, i), where, sizeof where), c->name, what);
}

/* --- which rows belong together -------------------------------------------------------------- */

typedef struct labelled {
    double value;
    size_t row;
} labelled;

static int compare_labelled(const void *a, const void *b)
{
    const labelled *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static const char no_label[] = "is missing, so the sequence of the row is unknown";

/* key[i] = a number for each label: the code of a category. */
static cr_status number_texts(cr_ctx *cx, const cri_rows *r, const cr_column *c, size_t *key)
{
    for (size_t i = 0; i < r->n; i++) {
        uint32_t code = c->codes[table_row(r, i)];
        if (code == CR_MISSING_CODE) return fail_at(cx, r, i, c, no_label);
        key[i] = code;
    }
    return CR_OK;
}

/* The same for whole numbers: the rank among the different ones. */
static cr_status number_values(cr_ctx *cx, const cri_rows *r, const cr_column *c, labelled *sorted,
                               size_t *key)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        double v = c->values[table_row(r, i) * c->stride];
        if (isnan(v)) return fail_at(cx, r, i, c, no_label);
        if (v != floor(v) || isinf(v))
            return fail_at(cx, r, i, c, "is not a whole number and cannot identify a sequence");
        sorted[i] = (labelled){ v, i };
    }
    if (r->n > 0) qsort(sorted, r->n, sizeof *sorted, compare_labelled);
    for (size_t i = 0; i < r->n; i++) {
        if (i > 0 && sorted[i].value != sorted[i - 1].value) n++;
        key[sorted[i].row] = n;
    }
    return CR_OK;
}

/* Numbers the keys in the order of their first rows, in place; their number. */
static size_t number_by_appearance(size_t *key, size_t n, size_t *number)
{
    size_t sequences = 0;
    for (size_t i = 0; i < n; i++) number[key[i]] = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        if (number[key[i]] == SIZE_MAX) number[key[i]] = sequences++;
        key[i] = number[key[i]];
    }
    return sequences;
}

/* Rows by sequence, those of one in their order: start [sequences + 1], row [n]. */
static void gather(const size_t *key, size_t n, cri_sequences *s)
{
    for (size_t i = 0; i < n; i++) s->start[key[i] + 1]++;
    for (size_t k = 0; k < s->n; k++) s->start[k + 1] += s->start[k];
    for (size_t i = 0; i < n; i++) s->row[s->start[key[i]]++] = i;
    for (size_t k = s->n; k > 0; k--) s->start[k] = s->start[k - 1];
    s->start[0] = 0;
}

/* The label of each sequence as a text: that of its first row. */
static cr_status name_sequences(cr_ctx *cx, const cri_rows *r, const cr_column *c, cri_sequences *s)
{
    s->names = cr_alloc(cx, s->n, sizeof *s->names);
    s->texts = cr_alloc(cx, s->n, CRI_DOUBLE_SIZE);
    if (!s->names || !s->texts) return CR_ENOMEM;
    for (size_t k = 0; k < s->n; k++) {
        size_t row = table_row(r, s->row[s->start[k]]);
        s->names[k] = c->type == CR_CATEGORY ? c->levels[c->codes[row]]
                                             : cri_level_text(c, c->values[row * c->stride],
                                                              s->texts + k * CRI_DOUBLE_SIZE);
    }
    return CR_OK;
}

static cr_status tell_apart(cr_ctx *cx, const cri_rows *r, const char *name, cri_sequences *s)
{
    cr_status        st = CR_OK;
    cr_scratch       workspace = cr_scratch_begin(cx);
    const cr_column *c = NULL;
    CR_TRY(find_column(cx, r, name, &c));
    bool    texts = c->type == CR_CATEGORY;
    size_t  keys = texts ? c->n_levels : r->n;
    size_t *key = cr_scratch_index(&workspace, r->n), *number = cr_scratch_index(&workspace, keys);
    labelled *sorted = texts ? NULL : cr_scratch_bytes(&workspace, r->n, sizeof *sorted);

    CR_TRY(workspace.status);
    CR_TRY(texts ? number_texts(cx, r, c, key) : number_values(cx, r, c, sorted, key));
    s->n = number_by_appearance(key, r->n, number);
    s->start = cr_alloc(cx, s->n + 1, sizeof *s->start);
    if (!s->start) CR_TRY(CR_ENOMEM);
    gather(key, r->n, s);
    CR_TRY(name_sequences(cx, r, c, s));
done:
    cr_scratch_end(&workspace);
    return st;
}

/* --- in which order -------------------------------------------------------------------------- */

/* Puts each sequence in the order of `time` [n]; how many rows have the time of one before. */
static size_t sort_by_time(const double *time, cri_sequences *s, labelled *workspace)
{
    size_t ties = 0;
    for (size_t k = 0; k < s->n; k++) {
        size_t *row = s->row + s->start[k], length = s->start[k + 1] - s->start[k];
        bool    ordered = true;
        for (size_t i = 1; i < length; i++) ordered = ordered && time[row[i - 1]] <= time[row[i]];
        for (size_t i = 0; !ordered && i < length; i++)
            workspace[i] = (labelled){ time[row[i]], row[i] };
        if (!ordered) qsort(workspace, length, sizeof *workspace, compare_labelled);
        for (size_t i = 0; !ordered && i < length; i++) row[i] = workspace[i].row;
        for (size_t i = 1; i < length; i++) ties += time[row[i - 1]] == time[row[i]];
    }
    return ties;
}

static cr_status put_in_order(cr_ctx *cx, const cri_rows *r, const char *name, cri_sequences *s)
{
    cr_status        st = CR_OK;
    cr_scratch       workspace = cr_scratch_begin(cx);
    const cr_column *c = NULL;
    double          *time = s->time = cr_resize(cx, NULL, 0, r->n, sizeof *s->time);
    labelled        *sorted = cr_scratch_bytes(&workspace, r->n, sizeof *sorted);

    if (!time) CR_TRY(CR_ENOMEM);
    CR_TRY(workspace.status);
    CR_TRY(find_column(cx, r, name, &c));
    if (c->type == CR_CATEGORY) {
        cr_fail(cx, CR_EDATA, "%s: the time '%s' contains text, but it must be numeric",
                cr_table_source(r->table), name);
        CR_TRY(cr_fail_hint(
            cx, "--date '%s:FORMAT' reads dates, such as 2023Q1 by --date '%s:%%Y Q%%q'", name,
            name));
    }
    CR_TRY(cri_column_check_finite(cx, r->table, c));
    for (size_t i = 0; i < r->n; i++) {
        time[i] = c->values[table_row(r, i) * c->stride];
        if (isnan(time[i]))
            CR_TRY(fail_at(cx, r, i, c, "has no value, but the time is needed to order the rows"));
    }
    size_t ties = sort_by_time(time, s, sorted);
    for (size_t i = 0; c->type == CR_DATETIME && i < r->n; i++) time[i] /= 86400; /* to days */
    if (ties > 0)
        cr_log(cx, CR_LOG_WARNING,
               "%s: %zu row%s the time '%s' of another row of the sequence: they keep the order of "
               "the file",
               cr_table_source(r->table), ties, ties == 1 ? " has" : "s have", name);
done:
    cr_scratch_end(&workspace);
    return st;
}

/* --- both ------------------------------------------------------------------------------------ */

static cr_status find_sequences(cr_ctx *cx, const cri_rows *r, const char *opt_sequence,
                                const char *opt_time, cri_sequences *s)
{
    cr_status st = CR_OK;
    s->row = cr_resize(cx, NULL, 0, r->n, sizeof *s->row);
    if (!s->row) CR_TRY(CR_ENOMEM);
    s->rows = r->n;
    if (opt_sequence)
        CR_TRY(tell_apart(cx, r, opt_sequence, s));
    else {
        s->n = r->n > 0;
        s->start = cr_alloc(cx, s->n + 1, sizeof *s->start);
        if (!s->start) CR_TRY(CR_ENOMEM);
        s->start[s->n] = r->n;
        for (size_t i = 0; i < r->n; i++) s->row[i] = i;
    }
    if (opt_time) CR_TRY(put_in_order(cx, r, opt_time, s));
done:
    return st;
}

void cri_sequences_free(cr_ctx *cx, cri_sequences *s)
{
    if (!s) return;
    cr_free(cx, s->start, s->n + 1, sizeof *s->start);
    cr_free(cx, s->row, s->rows, sizeof *s->row);
    cr_free(cx, s->names, s->n, sizeof *s->names);
    cr_free(cx, s->texts, s->n, CRI_DOUBLE_SIZE);
    cr_free(cx, s->time, s->rows, sizeof *s->time);
    cr_free(cx, s, 1, sizeof *s);
}

cr_status cri_sequences_find(cr_ctx *cx, const cr_table *table, const char *opt_sequence,
                             const char *opt_time, cri_sequences **out)
{
    cri_rows       r = { .table = table, .n = cr_table_rows(table) };
    cri_sequences *s = cr_alloc(cx, 1, sizeof *s);
    if (!s) return CR_ENOMEM;
    cr_status st = find_sequences(cx, &r, opt_sequence, opt_time, s);
    if (st == CR_OK)
        *out = s;
    else
        cri_sequences_free(cx, s);
    return st;
}

cr_status cri_rows_open_sequences(cr_ctx *cx, cri_rows *r)
{
    r->sequences =
        cr_alloc(cx, 1, sizeof *r->sequences); /* closed with the rows, also on failure */
    if (!r->sequences) return CR_ENOMEM;
    return find_sequences(cx, r, r->design->sequence, r->design->time, r->sequences);
}

void cri_rows_close_sequences(cr_ctx *cx, cri_rows *r)
{
    cri_sequences_free(cx, r->sequences);
    r->sequences = NULL;
}
