/* csv_fixture.h -- what the tests of the CSV reader share: reading bytes with any sizes of pieces,
 * and comparing tables. */
#ifndef CREDENCE_TEST_DATA_CSV_FIXTURE_H
#define CREDENCE_TEST_DATA_CSV_FIXTURE_H

#include "support.h"
#include "data/csv/csv.h"
#include "data/table/table_internal.h"

static const cri_csv_sizes usual = { 1 << 18, 32, 1 << 16, false },
                           small = { 1 << 10, 4, 1 << 16, false };

/* A context on one thread: many small parallel regions are slow on a busy machine. */
static inline cr_ctx *one_thread(void)
{
    cr_ctx *cx = test_context();
    cr_ctx_set_threads(cx, 1);
    return cx;
}

static inline cr_status read_bytes(cr_ctx *cx, const char *bytes, size_t size,
                                   const cr_read_options *o, const cri_csv_sizes *sizes,
                                   cr_table **out)
{
    const cr_read_options none = { 0 };
    cri_source           *source = NULL;
    cr_status             st = cri_source_open_bytes(cx, "t.csv", bytes, size, &source);
    if (st == CR_OK) st = cri_csv_read_cut(cx, source, o ? o : &none, sizes, out);
    cri_source_close(source);
    return st;
}

static inline cr_table *read_good(cr_ctx *cx, const char *text, const cr_read_options *o)
{
    cr_table *t = NULL;
    assert_ok(cx, read_bytes(cx, text, strlen(text), o, &usual, &t));
    return t;
}

/* --- tables ---------------------------------------------------------------------------------- */

static inline void check_same_column(const cr_column *a, const cr_column *b, size_t rows)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->missing, b->missing);
    if (a->type != CR_CATEGORY) {
        for (size_t i = 0; i < rows; i++)
            if (isnan(a->values[i]) != isnan(b->values[i]) ||
                (!isnan(a->values[i]) && memcmp(&a->values[i], &b->values[i], 8) != 0))
                fail_msg("column %s, row %zu: %.17g and %.17g", a->name, i, a->values[i],
                         b->values[i]);
        return;
    }
    assert_int_equal(a->n_levels, b->n_levels);
    for (size_t k = 0; k < a->n_levels; k++) assert_string_equal(a->levels[k], b->levels[k]);
    assert_memory_equal(a->codes, b->codes, rows * sizeof *a->codes);
}

static inline void check_same(const cr_table *a, const cr_table *b)
{
    char x[64], y[64];
    assert_int_equal(cr_table_rows(a), cr_table_rows(b));
    assert_int_equal(cr_table_columns(a), cr_table_columns(b));
    for (size_t c = 0; c < cr_table_columns(a); c++)
        check_same_column(cr_table_column(a, c), cr_table_column(b, c), cr_table_rows(a));
    assert_string_equal(cri_table_where(a, 0, x, sizeof x), cri_table_where(b, 0, y, sizeof y));
}

/* The cell as text: a level, or the number as %.17g; "" if missing. */
static const char *cell(const cr_table *t, const char *name, size_t row)
{
    static char      text[64];
    const cr_column *c = cr_table_find(t, name);
    assert_non_null(c);
    if (c->type == CR_CATEGORY)
        return c->codes[row] == CR_MISSING_CODE ? "" : c->levels[c->codes[row]];
    snprintf(text, sizeof text, "%.17g", c->values[row]);
    return isnan(c->values[row]) ? "" : text;
}

static inline cr_type type_of(const cr_table *t, const char *name)
{
    const cr_column *c = cr_table_find(t, name);
    assert_non_null(c);
    return c->type;
}

#endif
