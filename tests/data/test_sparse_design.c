/* test_sparse_design.c -- a design over sparse columns gives what the same design over ordinary
 * columns gives, from tables of either kind; what a file lacks or has too much; and 10^5 columns in
 * little memory. */
#include "sparse_fixture.h"
#include "data/design/design_internal.h"
#include "data/formats/libsvm.h"
#include "data/table/table_internal.h"

static void set_options(cr_ctx *cx, const char *const *pairs, cr_design_options *o)
{
    assert_ok(cx, cr_options_init(cx, cr_design_table, o));
    for (; pairs[0]; pairs += 2)
        assert_ok(cx, cr_options_set(cx, cr_design_table, o, pairs[0], pairs[1]));
}

static cr_design *design_of(cr_ctx *cx, const cr_table *t, const char *const *pairs,
                            bool standardise)
{
    cr_design_options o;
    cr_design        *d = NULL;
    set_options(cx, pairs, &o);
    assert_ok(cx, cri_design_fit(cx, t, &o, &(cri_design_needs){ .standardise = standardise }, &d));
    cr_options_free(cx, cr_design_table, &o);
    return d;
}

static const char *const plain[] = { "target", "y", "weights", "w", NULL };

/* X through two designs and tables; the terms may come in another order. */
static void check_same_rows(cr_ctx *cx, const cr_design *a, const cr_table *t, const cr_design *b,
                            const cr_table *u, double tolerance)
{
    cri_rows r, s;
    assert_ok(cx, cri_rows_open(cx, a, t, CRI_TARGET_NEEDED, &r));
    assert_ok(cx, cri_rows_open(cx, b, u, CRI_TARGET_NEEDED, &s));
    assert_int_equal(r.n, s.n);
    assert_int_equal(r.p, s.p);
    assert_int_equal(r.imputed, s.imputed);
    double *X = calloc(r.n * r.p + 1, 8), *Y = calloc(r.n * r.p + 1, 8), *term = calloc(r.n + 1, 8);
    assert_ok(cx, cri_rows_matrix(cx, &r, X));
    assert_ok(cx, cri_rows_matrix(cx, &s, Y));
    for (size_t j = 0; j < r.p; j++) {
        size_t k = 0;
        while (strcmp(cr_design_term_name(a, j), cr_design_term_name(b, k)) != 0) k++;
        cri_rows_fill_term(&r, j, 0, r.n, term, 1);
        for (size_t i = 0; i < r.n; i++) {
            assert_close(X[i * r.p + j], Y[i * r.p + k], tolerance);
            assert_true(term[i] == X[i * r.p + j]);
            if (!r.sparse) continue;
            double x = cri_sparse_at(r.sparse, i, j);
            assert_true((x - a->shift[j]) / a->scale[j] == X[i * r.p + j]);
        }
    }
    for (size_t i = 0; i < r.n; i++)
        assert_true(same_number(r.y[i], s.y[i]) && (!r.w || r.w[i] == s.w[i]));
    free(X), free(Y), free(term);
    cri_rows_close(cx, &r);
    cri_rows_close(cx, &s);
}

/* Designs of both tables, each applied to both. */
static void check_all_ways(cr_ctx *cx, const sparse_data *d, const char *const *pairs,
                           bool standardise)
{
    cr_table  *sparse = table_of(cx, d, true), *dense = table_of(cx, d, false);
    cr_design *a = design_of(cx, sparse, pairs, standardise),
              *b = design_of(cx, dense, pairs, standardise);
    double tolerance = standardise ? 1e-13 : 1e-15;
    assert_true(a->block.n > 0 && b->block.n == 0);
    assert_int_equal(cr_design_columns(a), cr_design_columns(b));
    assert_int_equal(cr_design_terms(a), cr_design_terms(b));
    for (size_t i = 0; i < a->block.n; i++) {
        assert_string_equal(cr_design_column_name(a, i), cr_design_column_name(b, i));
        assert_string_equal(cr_design_term_name(a, i), cr_design_term_name(b, i));
        assert_int_equal(cr_design_column_type(a, i), CR_REAL);
    }
    check_same_rows(cx, a, sparse, b, dense, tolerance);
    check_same_rows(cx, a, dense, b, dense, tolerance);
    check_same_rows(cx, b, sparse, b, dense, 0);
    cri_design_free(cx, a);
    cri_design_free(cx, b);
    cr_table_free(cx, sparse);
    cr_table_free(cx, dense);
}

TEST(same_as_dense)
{
    const char *const few[] = { "target", "y", "features", "x3,x1*,w", NULL };
    const char *const without[] = { "target", "x4", "weights", "w", "features", "!y,!x9", NULL };
    const char *const all[] = { "target", "y",
                                NULL }; /* w is an ordinary feature behind the block */
    const char *const *const options[] = { plain, few, without, all };
    sparse_data              d = draw_sparse(1, 150, 20, 0.25);
    for (size_t i = 0; i < d.n; i++) d.X[i * 20 + 6] = 2.5; /* constant */
    compress(&d);
    for (size_t k = 0; k < 4; k++)
        for (int standardise = 0; standardise < 2; standardise++)
            check_all_ways(cx, &d, options[k], standardise);
    free_sparse(&d);
}

TEST(view_is_the_table_itself)
{
    sparse_data d = draw_sparse(2, 50, 20, 0.2);
    cr_table   *t = table_of(cx, &d, true);
    cr_design  *a = design_of(cx, t, plain, true);
    cri_rows    r;
    assert_ok(cx, cri_rows_open(cx, a, t, CRI_TARGET_NEEDED, &r));
    assert_ptr_equal(r.sparse->value, d.value); /* nothing is copied */
    assert_ptr_equal(r.sparse->column, d.column);
    assert_false(r.sparse->plain);
    assert_ptr_equal(r.sparse->scale, cr_design_scale(a));
    cri_rows_close(cx, &r);
    cri_design_free(cx, a);
    cr_table_free(cx, t);
    free_sparse(&d);
}

TEST(missing_values)
{
    sparse_data d = draw_sparse(3, 80, 20, 0.3);
    d.X[11 * 20 + 3] = d.X[30 * 20 + 3] = d.X[30 * 20 + 5] = d.X[70 * 20 + 2] = NAN;
    d.y[20] = NAN;
    compress(&d);
    const char *const drop[] = { "target", "y", "weights", "w", "missing", "drop", NULL };
    check_all_ways(cx, &d, drop, false);
    check_all_ways(cx, &d, drop, true);
    d.y[20] = 1;
    const char *const impute[] = { "target", "y", "weights", "w", "missing", "impute", NULL };
    cr_table         *sparse = table_of(cx, &d, true), *dense = table_of(cx, &d, false);
    cr_design *a = design_of(cx, sparse, impute, false), *b = design_of(cx, dense, impute, false);
    check_same_rows(cx, a, sparse, b, dense, 1e-14);
    check_same_rows(cx, a, dense, b, dense, 1e-14);
    cri_design_free(cx, b);
    cri_design_free(cx, a);

    cri_rows r = { .n = 4711 };
    a = design_of(cx, sparse, plain, false);
    assert_fails_with(
        cx, cri_rows_open(cx, a, sparse, CRI_TARGET_NONE, &r), CR_EDATA,
        "data.svm, row 12: the column 'x4' has no value (it is missing in 2 of 80 rows)");
    cri_design_free(cx, a);
    const char *const others[] = { "target", "y", "features", "x1,x2,x19",
                                   NULL }; /* no gaps in these */
    a = design_of(cx, sparse, others, false);
    assert_ok(cx, cri_rows_open(cx, a, sparse, CRI_TARGET_NONE, &r));
    cri_rows_close(cx, &r);
    cri_design_free(cx, a);
    cr_table_free(cx, sparse);

    d.X[40 * 20 + 8] = -INFINITY;
    compress(&d);
    sparse = table_of(cx, &d, true);
    a = design_of(cx, sparse, impute, false);
    assert_fails_with(cx, cri_rows_open(cx, a, sparse, CRI_TARGET_NONE, &r), CR_EDATA,
                      "data.svm, row 41: column 'x9' is infinite");
    cri_design_free(cx, a);
    cr_table_free(cx, sparse);
    cr_table_free(cx, dense);
    free_sparse(&d);
}

TEST(extreme_values_are_standardised)
{
    sparse_data d = draw_sparse(4, 60, 20, 0.3);
    for (size_t i = 0; i < 60; i += 3) d.X[i * 20 + 1] = 1e200 * (1 + (double)i);
    for (size_t i = 0; i < 60; i += 2) d.X[i * 20 + 2] = 1e-200 * (1 + (double)i);
    compress(&d);
    check_all_ways(cx, &d, plain, true);
    free_sparse(&d);
}

TEST(powers_are_spread_out)
{
    sparse_data       d = draw_sparse(5, 30, 6, 0.4);
    const char *const powers[] = { "target", "y", "basis", "poly:2", "features", "x*", NULL };
    cr_table         *sparse = table_of(cx, &d, true), *dense = table_of(cx, &d, false);
    cr_design *a = design_of(cx, sparse, powers, true), *b = design_of(cx, dense, powers, true);
    assert_int_equal(a->block.n, 0);
    assert_string_equal(cr_design_term_name(a, 1), "x1^2");
    check_same_rows(cx, a, sparse, b, dense, 0);
    cri_design_free(cx, a);
    cri_design_free(cx, b);
    cr_table_free(cx, sparse);
    cr_table_free(cx, dense);
    free_sparse(&d);
}

/* --- ordinary columns beside the block ------------------------------------------------------- */

TEST(categories_beside_the_block)
{
    sparse_data       d = draw_sparse(6, 9, 5, 0.5);
    const char *const colours[] = { "red",  "blue", "red", NULL,   "green",
                                    "blue", "red",  "red", "green" };
    const char *const pairs[] = { "target", "y", "missing", "drop", "features", "!w", NULL };
    cr_table         *t[2] = { table_of(cx, &d, true), table_of(cx, &d, false) };
    cr_design        *a[2];
    for (int k = 0; k < 2; k++) {
        assert_ok(cx, cr_table_add_texts(cx, t[k], "c", colours));
        a[k] = design_of(cx, t[k], pairs, true);
    }
    assert_int_equal(cr_design_terms(a[0]), 7);
    assert_string_equal(cr_design_term_name(a[0], 5), "c=green"); /* block first, then these */
    assert_string_equal(cr_design_column_name(a[0], 5), "c");
    check_same_rows(cx, a[0], t[0], a[1], t[1], 1e-14);
    check_same_rows(cx, a[0], t[1], a[1], t[1], 1e-14);
    for (int k = 0; k < 2; k++) {
        cri_design_free(cx, a[k]);
        cr_table_free(cx, t[k]);
    }
    free_sparse(&d);
}

/* --- files with fewer or more columns -------------------------------------------------------- */

static cr_table *svm_of(cr_ctx *cx, const char *text)
{
    cr_table *t = NULL;
    assert_ok(cx, cri_libsvm_read(cx, "d.svm", text, strlen(text), &t));
    return t;
}

static size_t warnings;
static char   warning[256];
static void   take_warning(void *user, cr_log_level level, const char *text)
{
    (void)user;
    if (level != CR_LOG_WARNING) return;
    warnings++;
    snprintf(warning, sizeof warning, "%s", text);
}

static void check_row(cr_ctx *cx, const cr_design *d, const cr_table *t, size_t columns,
                      const double *wanted)
{
    cri_rows r;
    double   x[64];
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NONE, &r));
    assert_int_equal(r.p, columns);
    cri_rows_fill(&r, 0, 1, x, columns);
    for (size_t j = 0; j < columns; j++) assert_true(x[j] == wanted[j]);
    for (size_t i = 0; r.sparse && i < r.n; i++) {
        size_t end;
        for (size_t e = cri_sparse_row(r.sparse, i, &end); e < end; e++)
            assert_true(r.sparse->column[e] < columns);
    }
    cri_rows_close(cx, &r);
}

TEST(other_widths)
{
    const char *const target[] = { "target", "y", NULL };
    cr_table         *wide = svm_of(cx, "1 1:2 40:3\n2 5:1\n"),
             *narrow = svm_of(cx, "1 1:1 3:2\n2 2:1 3:4\n");
    cr_table  *wider = svm_of(cx, "1 2:7 40:1 41:5\n2 77:1 78:1\n"), *few = svm_of(cx, "1 4:6\n");
    cr_design *a = design_of(cx, wide, target, false), *b = design_of(cx, narrow, target, false);
    double     x[40] = { 1, 0, 2 };
    cr_ctx_set_log(cx, take_warning, NULL);
    assert_true(a->block.n == 40 && b->block.n == 0);
    check_row(cx, a, narrow, 40, x); /* fewer: zeros, from a dense table */
    memset(x, 0, sizeof x), x[3] = 6;
    check_row(cx, a, few, 40, x); /* one column of zeros between */
    assert_int_equal(warnings, 0);
    memset(x, 0, sizeof x), x[1] = 7, x[39] = 1;
    check_row(cx, a, wider, 40, x); /* more: told once, ignored */
    assert_int_equal(warnings, 1);
    assert_string_equal(warning, "d.svm: the columns after x40, which the model has not seen, are "
                                 "ignored (3 values)");
    check_row(cx, b, wider, 3, (double[]){ 0, 7, 0 }); /* an ordinary design, a sparse table */
    cr_table *short_one = svm_of(cx, "1 1:5\n");
    check_row(cx, b, short_one, 3, (double[]){ 5, 0, 0 });
    cr_table_free(cx, short_one);

    cr_table      *fixed = NULL; /* a matrix has the columns it has */
    const size_t   start[] = { 0, 1 };
    const uint32_t column[] = { 1 };
    const double   value[] = { 1 };
    cri_rows       r = { .n = 4711 };
    assert_ok(cx, cr_table_new(cx, "m", 1, &fixed));
    assert_ok(cx, cr_table_borrow_csr(cx, fixed, CR_REAL, (cr_csr){ 1, 39, start, column, value }));
    assert_fails_with(cx, cri_rows_open(cx, a, fixed, CRI_TARGET_NONE, &r), CR_EDATA,
                      "column 'x40' not found in m");
    assert_int_equal(r.n, 4711);
    cr_table_free(cx, fixed);
    cri_design_free(cx, a);
    cri_design_free(cx, b);
    cr_table_free(cx, wide);
    cr_table_free(cx, narrow);
    cr_table_free(cx, wider);
    cr_table_free(cx, few);
}

/* --- size ------------------------------------------------------------------------------------ */

TEST(many_columns_in_little_memory)
{
    enum { ROWS = 2000, COLUMNS = 100000, EACH = 20 };
    const char *const target[] = { "target", "y", NULL };
    char             *text = malloc(ROWS * EACH * 16), *at = text;
    for (size_t i = 0; i < ROWS; i++) {
        at += sprintf(at, "%d", i % 2 ? 1 : -1);
        for (size_t k = 0; k < EACH; k++)
            at += sprintf(at, " %zu:%zu", k * (COLUMNS / EACH) + (i * 37) % (COLUMNS / EACH) + 1,
                          1 + (i + k) % 9);
        *at++ = '\n';
    }
    cr_ctx_set_memory_limit(cx, 16000000); /* dense it would be 1.6 GB */
    cr_table *t = NULL;
    assert_ok(cx, cri_libsvm_read(cx, "big.svm", text, (size_t)(at - text), &t));
    assert_true(cr_ctx_memory(cx) < 600000); /* 40000 entries of 12 bytes, and rows */
    cr_design *d = design_of(cx, t, target, true);
    cri_rows   r;
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &r));
    assert_true(r.p >= 99990);
    double *b = calloc(r.p, 8), *Xb = calloc(r.n, 8);
    for (size_t j = 0; j < r.p; j++) b[j] = (double)(j % 7);
    assert_ok(cx, cri_sparse_times(cx, r.sparse, b, Xb));
    assert_true(Xb[3] != 0);
    assert_null(cr_resize(cx, NULL, 0, r.n * r.p, sizeof(double)));
    assert_int_equal(cri_rows_explain(cx, &r, CR_ENOMEM), CR_ENOMEM);
    assert_non_null(strstr(cr_error_notes(cx), "each matrix of columns by columns takes 80"));
    assert_int_equal(cri_rows_explain(cx, &r, CR_OK), CR_OK);
    assert_non_null(cr_table_find(t, "x77777"));
    free(b), free(Xb), free(text);
    cri_rows_close(cx, &r);
    cri_design_free(cx, d);
    cr_table_free(cx, t);
}

/* --- no memory ------------------------------------------------------------------------------- */

static cr_status design_and_open(cr_ctx *cx, void *arg)
{
    cr_status         st = CR_OK;
    sparse_data      *data = arg;
    cr_table         *t = NULL, *u = NULL;
    cr_design_options o = { 0 };
    cr_design        *d = NULL;
    cri_rows          r = { 0 };
    CR_TRY(cr_options_init(cx, cr_design_table, &o));
    CR_TRY(cr_options_set(cx, cr_design_table, &o, "target", "y"));
    CR_TRY(cr_options_set(cx, cr_design_table, &o, "missing", "impute"));
    CR_TRY(cr_options_set(cx, cr_design_table, &o, "features", "!x2"));
    CR_TRY(cr_table_new(cx, "t", data->n, &t));
    CR_TRY(cr_table_borrow_csr(cx, t, CR_REAL, csr_of(data)));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, data->y, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "w", CR_REAL, data->w, 1));
    CR_TRY(cri_design_fit(
        cx, t, &o, &(cri_design_needs){ .standardise = true, .standardise_target = true }, &d));
    CR_TRY(cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &r));
    cri_rows_close(cx, &r);
    CR_TRY(cr_table_new(cx, "u", data->n, &u));
    CR_TRY(cr_table_borrow_matrix(cx, u, CR_REAL, cr_cmat_of(data->X, data->n, data->p), NULL));
    CR_TRY(cr_table_borrow_numbers(cx, u, "w", CR_REAL, data->w, 1));
    CR_TRY(cri_rows_open(cx, d, u, CRI_TARGET_NONE, &r));
done:
    cri_rows_close(cx, &r);
    cri_design_free(cx, d);
    cr_table_free(cx, t);
    cr_table_free(cx, u);
    cr_options_free(cx, cr_design_table, &o);
    return st;
}

TEST(allocations_fail)
{
    sparse_data d = draw_sparse(7, 8, 6, 0.5);
    d.X[4] = NAN;
    compress(&d);
    test_every_allocation_fails(design_and_open, &d);
    free_sparse(&d);
}
