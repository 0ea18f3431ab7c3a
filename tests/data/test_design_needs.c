/* test_design_needs.c -- what a model may want of its design: levels coded all or as numbers, gaps
 * kept, further columns. */
#include "../models/fixture.h"
#include "data/design/design_internal.h"
#include "models/core/design_file.h"

static const char data[] = "x,c,k,o,y\n1,red,7,0.5,1\n2,blue,8,1.5,2\n,red,7,2.5,3\n4,,9,3.5,4\n";

static cr_status try_design(cr_ctx *cx, const cr_table *t, const char *settings,
                            cri_design_needs needs, cr_design **out)
{
    setting_list      s;
    cr_design_options o;
    split_settings(settings, &s);
    assert_ok(cx, cr_options_init(cx, cr_design_table, &o));
    for (size_t i = 0; i < s.n; i++)
        assert_ok(cx, cr_options_set(cx, cr_design_table, &o, s.list[i].name, s.list[i].value));
    cr_status st = cri_design_fit(cx, t, &o, &needs, out);
    cr_options_free(cx, cr_design_table, &o);
    return st;
}

/* X through the design, and through the same design after a file. */
static void check_design(cr_ctx *cx, const cr_table *t, cr_design *d, const double *expected,
                         size_t n, size_t p)
{
    cri_store *store = NULL;
    json_t    *part = json_object();
    cr_design *back = NULL;
    assert_ok(cx, cri_store_new(cx, &store));
    assert_ok(cx, cri_design_write(cx, d, part));
    assert_ok(cx, cri_design_read(cx, store, part, d->missing, &back));
    cr_design *both[] = { d, back };
    for (int k = 0; k < 2; k++) {
        cri_rows r;
        double   X[64];
        assert_ok(cx, cri_rows_open(cx, both[k], t, CRI_TARGET_NONE, &r));
        assert_int_equal(r.n, n);
        assert_int_equal(r.p, p);
        assert_ok(cx, cri_rows_matrix(cx, &r, X));
        for (size_t i = 0; i < n * p; i++)
            check_close(X[i], expected[i], 1e-15, 1, "X", __FILE__, __LINE__);
        cri_rows_close(cx, &r);
    }
    cri_design_free(cx, back);
    json_decref(part);
    cri_store_free(cx, store);
}

TEST(all_levels)
{
    cr_table  *t = table_of_text(cx, "t.csv", data);
    cr_design *d = NULL;
    assert_ok(cx, try_design(cx, t, "features=c,o reference=frequent missing=impute",
                             (cri_design_needs){ .coding = CRI_CODING_ALL }, &d));
    assert_string_equal(cr_design_term_name(d, 0),
                        "c=blue"); /* the user's reference does not count */
    assert_string_equal(cr_design_term_name(d, 1), "c=red");
    assert_int_equal(cr_design_levels(d, 0), 2);
    assert_int_equal(cr_design_levels(d, 1), 0);
    assert_string_equal(cr_design_level(d, 0, 1), "red");
    check_design(cx, t, d, (double[]){ 0, 1, 0.5, 1, 0, 1.5, 0, 1, 2.5, 0, 1, 3.5 }, 4, 3);
    cri_design_free(cx, d);
}

/* Codes are never standardised, whatever else is; a gap is NaN where the model takes it. */
TEST(codes)
{
    cr_table  *t = table_of_text(cx, "t.csv", data);
    cr_design *d = NULL;
    double     mean = 2, sd = sqrt(1.25);
    assert_ok(cx,
              try_design(cx, t, "features=c,o",
                         (cri_design_needs){
                             .coding = CRI_CODING_CODE, .standardise = true, .keep_missing = true },
                         &d));
    assert_int_equal(d->missing, CR_MISSING_KEEP);
    assert_int_equal(cr_design_terms(d), 2);
    assert_string_equal(cr_design_term_name(d, 0), "c");
    check_design(cx, t, d,
                 (double[]){ 1, (0.5 - mean) / sd, 0, (1.5 - mean) / sd, 1, (2.5 - mean) / sd, NAN,
                             (3.5 - mean) / sd },
                 4, 2);
    cri_design_free(cx, d);
    assert_ok(cx, try_design(cx, t, "features=c missing=impute",
                             (cri_design_needs){ .coding = CRI_CODING_CODE }, &d));
    check_design(cx, t, d, (double[]){ 1, 0, 1, 1 }, 4, 1); /* the most frequent */
    cri_design_free(cx, d);
}

/* auto keeps or refuses as the model says; the user's word counts more. */
TEST(gaps)
{
    cr_table  *t = table_of_text(cx, "t.csv", data);
    cr_design *d = NULL;
    cri_rows   r;
    assert_int_equal(cri_resolve_missing(CR_MISSING_AUTO, true), CR_MISSING_KEEP);
    assert_int_equal(cri_resolve_missing(CR_MISSING_AUTO, false), CR_MISSING_ERROR);
    assert_int_equal(cri_resolve_missing(CR_MISSING_DROP, true), CR_MISSING_DROP);
    assert_ok(cx, try_design(cx, t, "features=x", (cri_design_needs){ .keep_missing = true }, &d));
    check_design(cx, t, d, (double[]){ 1, 2, NAN, 4 }, 4, 1);
    cri_design_free(cx, d);
    assert_ok(cx, try_design(cx, t, "features=x",
                             (cri_design_needs){ .keep_missing = true, .standardise = true }, &d));
    double mean = 7.0 / 3, sd = sqrt((16 / 9.0 + 1 / 9.0 + 25 / 9.0) / 3); /* of those there are */
    check_design(cx, t, d, (double[]){ (1 - mean) / sd, (2 - mean) / sd, NAN, (4 - mean) / sd }, 4,
                 1);
    cri_design_free(cx, d);
    assert_ok(cx, try_design(cx, t, "features=x missing=drop",
                             (cri_design_needs){ .keep_missing = true }, &d));
    check_design(cx, t, d, (double[]){ 1, 2, 4 }, 3, 1);
    cri_design_free(cx, d);
    assert_ok(cx, try_design(cx, t, "features=x", (cri_design_needs){ 0 }, &d));
    assert_fails_with(cx, cri_rows_open(cx, d, t, CRI_TARGET_NONE, &r), CR_EDATA, "t.csv:4");
    cri_design_free(cx, d);
    assert_ok(cx,
              try_design(cx, t, "features=o target=x", (cri_design_needs){ .keep_missing = true },
                         &d)); /* a target is never unknown */
    assert_fails_with(cx, cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &r), CR_EDATA,
                      "the target 'x' has no value");
    cri_design_free(cx, d);
}

/* --- roles ----------------------------------------------------------------------------------- */

TEST(roles)
{
    cr_table        *t = table_of_text(cx, "t.csv", data);
    cr_design       *d = NULL;
    cri_design_needs needs = { .roles = { NULL, "o" } };
    cri_rows         r;
    assert_ok(cx, try_design(cx, t, "target=y missing=drop", needs, &d));
    for (size_t i = 0; i < cr_design_columns(d); i++) /* not a feature */
        assert_string_not_equal(cr_design_column_name(d, i), "o");
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NONE, &r));
    assert_int_equal(r.n, 2);
    assert_null(r.roles[0]);
    assert_true(r.roles[1][0] == 0.5 && r.roles[1][1] == 1.5);
    cri_rows_close(cx, &r);
    cri_design_free(cx, d);

    d = NULL;
    assert_ok(cx, try_design(cx, t, "features=*,!c,!x target=y", needs, &d)); /* not by a pattern */
    assert_int_equal(cr_design_columns(d), 1);
    cr_table *u = table_of_text(cx, "u.csv", "k,y\n1,2\n");
    assert_fails_with(cx, cri_rows_open(cx, d, u, CRI_TARGET_NONE, &r), CR_EDATA,
                      "column 'o' not found in");
    cr_table_free(cx, u);
    u = table_of_text(cx, "u.csv", "k,o\n1,2\n2,\n");
    assert_fails_with(cx, cri_rows_open(cx, d, u, CRI_TARGET_NONE, &r), CR_EDATA,
                      "u.csv:3: column 'o' has no value");
    cr_table_free(cx, u);
    u = table_of_text(cx, "u.csv", "k,o\n1,a\n");
    assert_fails_with(cx, cri_rows_open(cx, d, u, CRI_TARGET_NONE, &r), CR_EDATA, "contains text");
    cr_table_free(cx, u);
    u = table_of_text(cx, "u.csv", "k,o\n1,inf\n");
    assert_fails_with(cx, cri_rows_open(cx, d, u, CRI_TARGET_NONE, &r), CR_EDATA, "is infinite");
    cr_table_free(cx, u);
    cri_design_free(cx, d);

    d = NULL;
    assert_fails_with(cx,
                      try_design(cx, t, "target=y", (cri_design_needs){ .roles = { "oo" } }, &d),
                      CR_EDATA, "column 'oo' not found");
    assert_fails_with(cx, try_design(cx, t, "target=y", (cri_design_needs){ .roles = { "c" } }, &d),
                      CR_EDATA, "contains text");
    assert_null(d);
}
