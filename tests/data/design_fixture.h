/* design_fixture.h -- what the tests of designs share: a design from one line of settings, and its
 * matrix. */
#ifndef CREDENCE_TEST_DATA_DESIGN_FIXTURE_H
#define CREDENCE_TEST_DATA_DESIGN_FIXTURE_H

#include "../models/fixture.h"
#include "data/design/design_internal.h"
#include "data/table/table_internal.h"

/* "target=y basis=poly:2" as design options. */
static inline void set_options(cr_ctx *cx, const char *settings, cr_design_options *o)
{
    setting_list s;
    split_settings(settings, &s);
    assert_ok(cx, cr_options_init(cx, cr_design_table, o));
    for (size_t i = 0; i < s.n; i++)
        assert_ok(cx, cr_options_set(cx, cr_design_table, o, s.list[i].name, s.list[i].value));
}

static inline cr_status try_design(cr_ctx *cx, const cr_table *t, const char *settings,
                                   bool standardise, cr_design **out)
{
    cr_design_options o;
    set_options(cx, settings, &o);
    cr_status st = cri_design_fit(
        cx, t, &o,
        &(cri_design_needs){ .standardise = standardise, .standardise_target = standardise }, out);
    cr_options_free(cx, cr_design_table, &o);
    return st;
}

static inline cr_design *design_of(cr_ctx *cx, const cr_table *t, const char *settings,
                                   bool standardise)
{
    cr_design *d = NULL;
    assert_ok(cx, try_design(cx, t, settings, standardise, &d));
    return d;
}

/* The names of the terms, with commas. */
static const char *terms_of(const cr_design *d)
{
    static char text[512];
    text[0] = '\0';
    for (size_t j = 0; j < cr_design_terms(d); j++) {
        if (j) strcat(text, ",");
        strcat(text, cr_design_term_name(d, j));
    }
    return text;
}

/* X of a table through a design, compared with `expected` [n x p]. */
#define check_matrix(cx, d, t, expected, tolerance)                                                \
    check_matrix_at((cx), (d), (t), (expected), (tolerance), __LINE__)
static inline void check_matrix_at(cr_ctx *cx, const cr_design *d, const cr_table *t,
                                   const double *expected, double tolerance, int line)
{
    cri_rows r;
    double   X[256], Y[256];
    check_status(cx, cri_rows_open(cx, d, t, CRI_TARGET_NONE, &r), CR_OK, NULL, "open", __FILE__,
                 line);
    assert_true(r.n * r.p <= 256);
    assert_ok(cx, cri_rows_matrix(cx, &r, X));
    cri_rows_fill(&r, 0, r.n, Y, r.p);
    for (size_t i = 0; i < r.n * r.p; i++) {
        check_close(X[i], expected[i], tolerance, 1, "X", __FILE__, line);
        assert_true(X[i] == Y[i]);
    }
    cri_rows_close(cx, &r);
}

static inline void check_open_fails(cr_ctx *cx, const cr_design *d, const cr_table *t,
                                    cri_target_use use, const char *text)
{
    cri_rows r = { .n = 4711 };
    assert_fails_with(cx, cri_rows_open(cx, d, t, use, &r), CR_EDATA, text);
    assert_int_equal(r.n, 4711); /* untouched */
}

#endif
