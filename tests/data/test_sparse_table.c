/* test_sparse_table.c -- the sparse block of a table against the same numbers as ordinary columns.
 */
#include "sparse_fixture.h"
#include "data/formats/read.h"
#include "data/formats/retype.h"
#include "data/table/subset.h"
#include "data/table/summary.h"
#include "data/table/table_internal.h"
#include "data/formats/write.h"

#include <pthread.h>

TEST(columns_and_names)
{
    sparse_data d = draw_sparse(1, 40, 30, 0.2);
    char        name[CR_NAME_SIZE];
    cr_table   *t = table_of(cx, &d, true);
    assert_int_equal(cr_table_columns(t), 32);
    assert_ptr_equal(cr_table_csr(t)->value, d.value); /* not copied */
    assert_int_equal(cr_table_csr_first(t), 0);
    assert_string_equal(cr_table_column_name(t, 16, name), "x17");
    assert_string_equal(cr_table_column_name(t, 30, name), "y");
    assert_string_equal(cr_table_column(t, 31)->name, "w");
    assert_ptr_equal(cr_table_find(t, "x17"), cr_table_column(t, 16));
    assert_ptr_equal(cr_table_find(t, "y")->values, d.y);
    for (size_t j = 0; j < d.p; j++) {
        const cr_column *c = cr_table_column(t, j);
        assert_string_equal(c->name, cr_table_column_name(t, j, name));
        assert_int_equal(c->missing, 0);
        for (size_t i = 0; i < d.n; i++) assert_true(c->values[i * c->stride] == d.X[i * d.p + j]);
    }
    const char *const absent[] = { "x0", "x31", "x017", "x", "X1", "x1 ", "x99999999999999999999",
                                   "" };
    for (size_t k = 0; k < 8; k++) assert_null(cr_table_find(t, absent[k]));
    assert_fails_with(cx, cri_table_no_column(cx, t, "yy"), CR_EDATA, "column 'yy' not found");
    assert_string_equal(cr_error_notes(cx), "columns: x1 ... x30, y, w");
    assert_string_equal(cr_error_nearest(cx), "y");
    assert_fails_with(cx, cr_table_add_numbers(cx, t, "x30", CR_REAL, d.y, 1), CR_EDATA,
                      "two columns are called 'x30'");
    assert_ok(cx, cr_table_add_numbers(cx, t, "x31", CR_REAL, d.y, 1)); /* one more is free */
    assert_fails_with(cx, cr_table_borrow_csr(cx, t, CR_REAL, csr_of(&d)), CR_EARG, "already");
    cr_table_free(cx, t);

    assert_ok(cx, cr_table_new(cx, "late", d.n, &t)); /* a block behind other columns */
    assert_ok(cx, cr_table_add_numbers(cx, t, "x3", CR_REAL, d.y, 1));
    assert_fails_with(cx, cr_table_borrow_csr(cx, t, CR_REAL, csr_of(&d)), CR_EDATA,
                      "two columns are called 'x3'");
    cr_table_free(cx, t);
    assert_ok(cx, cr_table_new(cx, "late", d.n, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "a", CR_REAL, d.y, 1));
    assert_ok(cx, cr_table_borrow_csr(cx, t, CR_INTEGER, csr_of(&d)));
    assert_ok(cx, cr_table_add_numbers(cx, t, "b", CR_REAL, d.w, 1));
    assert_int_equal(cr_table_csr_first(t), 1);
    assert_string_equal(cr_table_column_name(t, 0, name), "a");
    assert_string_equal(cr_table_column_name(t, 1, name), "x1");
    assert_string_equal(cr_table_column_name(t, 31, name), "b");
    assert_int_equal(cr_table_column(t, 5)->type, CR_INTEGER);
    cr_table_free(cx, t);
    free_sparse(&d);
}

TEST(unsound_matrices)
{
    const double   v[] = { 1, 2, 3 };
    const size_t   good[] = { 0, 2, 3 }, late[] = { 1, 2, 3 }, back[] = { 0, 2, 1 };
    const uint32_t rising[] = { 0, 2, 1 }, falling[] = { 2, 0, 1 }, twice[] = { 1, 1, 0 };
    const struct {
        const size_t   *start;
        const uint32_t *column;
        size_t          rows, columns;
        const char     *text;
    } bad[] = { { late, rising, 2, 3, "row 1 of the sparse matrix: its entries do not start at 0" },
                { back, rising, 2, 3, "row 2 of the sparse matrix: its entries end before" },
                { good, falling, 2, 3, "row 1 of the sparse matrix: its columns do not increase" },
                { good, twice, 2, 3, "row 1 of the sparse matrix: its columns do not increase" },
                { good, rising, 2, 2, "row 1 of the sparse matrix: its columns do not increase" },
                { good, rising, 1, 3, "a sparse matrix of 1 rows for a table of 2" },
                { good, rising, 2, (size_t)1 << 33, "a sparse matrix of 8589934592 columns" } };
    cr_table *t = NULL;
    assert_ok(cx, cr_table_new(cx, "m", 2, &t));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        cr_csr X = { bad[k].rows, bad[k].columns, bad[k].start, bad[k].column, v };
        assert_fails_with(cx, cr_table_borrow_csr(cx, t, CR_REAL, X), CR_EARG, bad[k].text);
        assert_null(cr_table_csr(t));
    }
    assert_ok(cx, cr_table_borrow_csr(cx, t, CR_REAL, (cr_csr){ 2, 3, good, rising, v }));
    cr_table_free(cx, t);
}

/* --- columns asked for by several threads ---------------------------------------------------- */

typedef struct asker {
    const cr_table  *table;
    const cr_column *got[30];
} asker;

static void *ask(void *arg)
{
    asker *a = arg;
    for (size_t j = 0; j < 30; j++) a->got[j] = cr_table_column(a->table, (j * 7) % 30);
    return NULL;
}

TEST(threads_get_the_same_column)
{
    sparse_data d = draw_sparse(2, 500, 30, 0.1);
    for (int round = 0; round < 5; round++) {
        cr_table *t = table_of(cx, &d, true);
        asker     a[4];
        pthread_t id[4];
        for (int k = 0; k < 4; k++) {
            a[k].table = t;
            assert_int_equal(pthread_create(&id[k], NULL, ask, &a[k]), 0);
        }
        for (int k = 0; k < 4; k++) pthread_join(id[k], NULL);
        for (int k = 1; k < 4; k++) assert_memory_equal(a[0].got, a[k].got, sizeof a[0].got);
        cr_table_free(cx, t);
    }
    free_sparse(&d);
}

/* --- the same answers as ordinary columns ---------------------------------------------------- */

static void check_same_tables(const cr_table *a, const cr_table *b)
{
    char x[CR_NAME_SIZE], y[CR_NAME_SIZE];
    assert_int_equal(cr_table_rows(a), cr_table_rows(b));
    assert_int_equal(cr_table_columns(a), cr_table_columns(b));
    for (size_t j = 0; j < cr_table_columns(a); j++) {
        const cr_column *c = cr_table_column(a, j), *e = cr_table_column(b, j);
        assert_string_equal(cr_table_column_name(a, j, x), cr_table_column_name(b, j, y));
        assert_int_equal(c->missing, e->missing);
        for (size_t i = 0; i < cr_table_rows(a); i++)
            assert_true(same_number(c->values[i * c->stride], e->values[i * e->stride]));
    }
}

TEST(subset)
{
    sparse_data d = draw_sparse(3, 40, 20, 0.2);
    d.X[3 * 20 + 1] = NAN;
    compress(&d);
    cr_table    *sparse = table_of(cx, &d, true), *dense = table_of(cx, &d, false);
    const size_t rows[] = { 39, 3, 3, 0, 17, 5 };
    for (size_t n = 0; n <= 6; n += 3) {
        cr_table *a = NULL, *b = NULL;
        assert_ok(cx, cri_table_subset(cx, sparse, rows, n, &a));
        assert_ok(cx, cri_table_subset(cx, dense, rows, n, &b));
        assert_non_null(cr_table_csr(a));
        check_same_tables(a, b);
        cr_table_free(cx, a);
        cr_table_free(cx, b);
    }
    cr_table_free(cx, sparse);
    cr_table_free(cx, dense);
    free_sparse(&d);
}

static void check_summary(cr_summary a, cr_summary b)
{
    assert_int_equal(a.present, b.present);
    assert_true(same_number(a.min, b.min) && same_number(a.max, b.max));
    if (isnan(b.mean))
        assert_true(isnan(a.mean));
    else
        assert_relative(a.mean, b.mean, 1e-14 + 1e-14 * fabs(b.max / (b.mean + 1e-300)));
    if (isnan(b.sd))
        assert_true(isnan(a.sd));
    else
        assert_relative(a.sd, b.sd, 1e-13);
}

TEST(summaries)
{
    sparse_data d = draw_sparse(4, 60, 20, 0.3);
    for (size_t i = 0; i < 60; i++) {
        d.X[i * 20 + 2] = 3;                        /* constant, no zero */
        d.X[i * 20 + 4] = NAN;                      /* nothing there */
        d.X[i * 20 + 5] = i % 2 ? 1e300 : -1.5e300; /* squares overflow */
    }
    d.X[7 * 20 + 9] = NAN;
    compress(&d);
    cr_table  *sparse = table_of(cx, &d, true), *dense = table_of(cx, &d, false);
    cr_summary a[22], b[22], all, cells;
    assert_ok(cx, cr_summarise_table(cx, sparse, a));
    assert_ok(cx, cr_summarise_table(cx, dense, b));
    for (size_t j = 0; j < 22; j++) check_summary(a[j], b[j]);

    assert_ok(cx, cr_summarise_csr(cx, sparse, &all)); /* all cells as one column */
    cr_column one = { .type = CR_REAL, .values = d.X, .stride = 1 };
    assert_ok(cx, cr_summarise(cx, &one, 60 * 20, &cells));
    check_summary(all, cells);
    assert_fails_with(cx, cr_summarise_csr(cx, dense, &all), CR_EARG, "no sparse block");
    cr_table_free(cx, sparse);
    cr_table_free(cx, dense);
    free_sparse(&d);
}

static char *slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    return bytes;
}

typedef cr_status table_writer(cr_ctx *cx, const cr_table *t, const char *path);

static cr_status write_svm(cr_ctx *cx, const cr_table *t, const char *path)
{
    return cr_table_write_libsvm(cx, t, NULL, path);
}

TEST(writers)
{
    sparse_data         d = draw_sparse(5, 40, 20, 0.2);
    table_writer *const writers[] = { cr_table_write_csv, cr_table_write_npy, write_svm };
    const char *const   endings[] = { "csv", "npy", "svm" };
    for (size_t i = 0; i < 40; i++) d.X[i * 20 + 3] = (double)(i % 3); /* whole: written 1.0 */
    d.X[1] = NAN;
    compress(&d);
    cr_table *tables[2] = { table_of(cx, &d, true), table_of(cx, &d, false) };
    for (size_t k = 0; k < 3; k++) {
        char   path[2][512], *text[2];
        size_t size[2];
        for (size_t m = 0; m < 2; m++) {
            snprintf(path[m], sizeof path[m], "%s/t%zu.%s", test_directory(), m, endings[k]);
            assert_ok(cx, writers[k](cx, tables[m], path[m]));
            text[m] = slurp(path[m], &size[m]);
        }
        assert_int_equal(size[0], size[1]); /* byte for byte as ordinary columns are written */
        assert_memory_equal(text[0], text[1], size[0]);
        free(text[0]);
        free(text[1]);
    }
    cr_table_free(cx, tables[0]);
    cr_table_free(cx, tables[1]);
    free_sparse(&d);
}

TEST(libsvm_round_trip)
{
    sparse_data d = draw_sparse(6, 60, 50, 0.1);
    d.X[60] = NAN;
    d.X[49] = 5e-324; /* the last column is used */
    compress(&d);
    cr_read_options o;
    cr_table       *t = NULL, *back = NULL;
    char            path[512];
    assert_ok(cx, cr_table_new(cx, "d", d.n, &t));
    assert_ok(cx, cr_table_borrow_csr(cx, t, CR_REAL, csr_of(&d)));
    assert_ok(cx, cr_table_borrow_numbers(cx, t, "y", CR_REAL, d.y, 1));
    snprintf(path, sizeof path, "%s/back.svm", test_directory());
    assert_ok(cx, cr_table_write_libsvm(cx, t, NULL, path));
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    assert_ok(cx, cr_table_read(cx, path, &o, &back));
    assert_non_null(cr_table_csr(back));
    assert_int_equal(cr_table_csr(back)->row_start[60], d.entries);
    check_same_tables(t, back);

    assert_fails_with(cx, cr_table_write_libsvm(cx, t, "z", path), CR_EDATA,
                      "no column 'z' for the label");
    const char *const texts[60] = { "a" };
    assert_ok(cx, cr_table_add_texts(cx, t, "c", texts));
    assert_fails_with(cx, cr_table_write_libsvm(cx, t, NULL, path), CR_EDATA,
                      "column 'c' is a category");
    cr_table_free(cx, t);
    cr_table_free(cx, back);
    cr_options_free(cx, cr_read_table, &o);
    free_sparse(&d);
}

/* --- options --------------------------------------------------------------------------------- */

/* y 1 2:5 ... with more than 32 columns, so that it is sparse. */
static const char svm[] = "-1 2:5 40:1\n+1 1:-9 3:5\n-1 1:2\n+1 40:nan\n";

static cr_table *read_with(cr_ctx *cx, const char *name, const char *value)
{
    cr_read_options o;
    cr_table       *t = NULL;
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    assert_ok(cx, cr_options_set(cx, cr_read_table, &o, name, value));
    assert_ok(cx, cr_table_read(cx, test_file("o.svm", svm, strlen(svm)), &o, &t));
    cr_options_free(cx, cr_read_table, &o);
    return t;
}

TEST(options)
{
    cr_table *t = read_with(cx, "category", "y"); /* the label as classes; the block stays */
    assert_non_null(cr_table_csr(t));
    const cr_column *y = cr_table_find(t, "y");
    assert_int_equal(y->type, CR_CATEGORY);
    assert_int_equal(y->n_levels, 2);
    assert_string_equal(y->levels[0], "-1");
    assert_string_equal(y->levels[1], "1");
    assert_int_equal(y->codes[1], 1);
    assert_int_equal(cri_table_csr_missing(t), 1);
    cr_table_free(cx, t);

    t = read_with(cx, "missing_values", "5");
    assert_non_null(cr_table_csr(t));
    assert_int_equal(cri_table_csr_missing(t), 3);
    assert_int_equal(cr_table_find(t, "x2")->missing, 1);
    assert_true(isnan(cr_table_find(t, "x3")->values[1]));
    cr_table_free(cx, t);

    t = read_with(cx, "missing_values", "0"); /* what is left out is missing: dense */
    assert_null(cr_table_csr(t));
    assert_int_equal(cr_table_columns(t), 41);
    assert_int_equal(cr_table_find(t, "x1")->missing, 2);
    cr_table_free(cx, t);

    t = read_with(cx, "category", "x1");
    assert_null(cr_table_csr(t));
    assert_int_equal(cr_table_find(t, "x1")->type, CR_CATEGORY);
    assert_int_equal(cr_table_find(t, "x1")->n_levels, 3);
    assert_string_equal(cr_table_column(t, 40)->name, "y");
    cr_table_free(cx, t);

    t = read_with(cx, "real", "x1,y");
    assert_non_null(cr_table_csr(t));
    assert_int_equal(cr_table_find(t, "y")->type, CR_REAL);
    cr_table_free(cx, t);
}

/* --- memory ---------------------------------------------------------------------------------- */

static cr_status use_table(cr_ctx *cx, void *arg)
{
    cr_status    st = CR_OK;
    sparse_data *d = arg;
    cr_table    *t = NULL, *s = NULL;
    cr_summary   all, each[8];
    const size_t rows[] = { 2, 0 };
    CR_TRY(cr_table_new(cx, "t", d->n, &t));
    CR_TRY(cr_table_borrow_csr(cx, t, CR_REAL, csr_of(d)));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, d->y, 1));
    CR_TRY(cr_summarise_csr(cx, t, &all));
    CR_TRY(cr_summarise_table(cx, t, each));
    if (!cr_table_find(t, "x3")) CR_TRY(cri_table_no_column(cx, t, "x3"));
    CR_TRY(cri_table_subset(cx, t, rows, 2, &s));
    cr_table *dense = NULL;
    st = cri_table_densify(cx, s, &dense);
    s = NULL; /* taken over */
    cr_table_free(cx, dense);
done:
    cr_table_free(cx, s);
    cr_table_free(cx, t);
    return st;
}

TEST(allocations_fail)
{
    sparse_data d = draw_sparse(8, 6, 7, 0.5);
    test_every_allocation_fails(use_table, &d);
    free_sparse(&d);
}

TEST(densify_is_refused_first)
{
    sparse_data d = draw_sparse(9, 500, 100, 0.01);
    cr_table   *t = table_of(cx, &d, true), *out = NULL;
    cr_ctx_set_memory_limit(cx, cr_ctx_memory(cx) + 300000);
    size_t before = cr_ctx_peak_memory(cx);
    assert_fails_with(cx, cri_table_densify(cx, t, &out), CR_ENOMEM,
                      "a dense table of 500 rows and 100 columns needs");
    assert_true(cr_ctx_peak_memory(cx) <= before);
    assert_null(out);
    free_sparse(&d);
}
