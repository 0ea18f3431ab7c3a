/* test_read.c -- every format finds its reader, by option, prefix, bytes or name; foreign files are
 * refused by name; options about columns hold for every format. */
#include "support.h"
#include "base/file.h"
#include "data/formats/npy.h"
#include "data/formats/read.h"
#include "data/formats/write.h"

#include <sqlite3.h>
#include <unistd.h>
#include <zlib.h>

typedef struct setting {
    const char *name, *value;
} setting;

/* Reads with up to three settings; the list ends with NULL. */
static cr_status read_with(cr_ctx *cx, const char *path, const setting *settings, cr_table **out)
{
    cr_read_options o;
    cr_status       st = cr_options_init(cx, cr_read_table, &o);
    for (; st == CR_OK && settings->name; settings++)
        st = cr_options_set(cx, cr_read_table, &o, settings->name, settings->value);
    if (st == CR_OK) st = cr_table_read(cx, path, &o, out);
    cr_options_free(cx, cr_read_table, &o);
    return st;
}

static const setting none[] = { { NULL, NULL } };

static cr_status read_plainly(cr_ctx *cx, const char *path, cr_table **out)
{
    return read_with(cx, path, none, out);
}

static const char *text_file(const char *name, const char *text)
{
    return test_file(name, text, strlen(text));
}

/* Two rows: a = 1, 2 and b = 0.5, -3, under the names given. */
static void check_two_by_two(cr_ctx *cx, cr_table *t, const char *a, const char *b)
{
    assert_int_equal(cr_table_rows(t), 2);
    assert_int_equal(cr_table_columns(t), 2);
    const cr_column *x = cr_table_find(t, a), *y = cr_table_find(t, b);
    assert_true(x && y);
    assert_true(x->values[0] == 1 && x->values[x->stride] == 2);
    assert_true(y->values[0] == 0.5 && y->values[y->stride] == -3);
    cr_table_free(cx, t);
}

TEST(text_formats)
{
    cr_table     *t = NULL;
    const setting tsv[] = { { "from", "tsv" }, { NULL, NULL } };
    const setting svm[] = { { "from", "libsvm" }, { NULL, NULL } };
    const setting csv[] = { { "from", "csv" }, { "header", "no" }, { NULL, NULL } };
    assert_ok(cx, read_plainly(cx, text_file("a.csv", "a,b\n1,0.5\n2,-3\n"), &t));
    check_two_by_two(cx, t, "a", "b");
    assert_ok(cx, read_plainly(cx, text_file("a.tsv", "a\tb\n1\t0.5\n2\t-3\n"), &t));
    check_two_by_two(cx, t, "a", "b");
    const char tabs[] = "a,p\tb,q\n1,5\t0,5\n2,5\t-3,0\n"; /* commas alone would make 3 columns */
    for (int named = 0; named < 2; named++) {
        const char *path = text_file(named ? "b.tsv" : "b.dat", tabs);
        assert_ok(cx, read_with(cx, path, named ? none : tsv, &t));
        assert_int_equal(cr_table_columns(t), 2);
        assert_string_equal(cr_table_column(t, 1)->name, "b,q");
        cr_table_free(cx, t);
    }
    assert_ok(cx, read_plainly(cx, text_file("a.dat", "0.5 1:1\n-3 1:2\n"), &t)); /* by content */
    check_two_by_two(cx, t, "x1", "y");
    assert_ok(cx, read_plainly(cx, text_file("a.svm", "0.5 1:1\n-3 1:2\n"), &t));
    check_two_by_two(cx, t, "x1", "y");
    assert_ok(cx, read_with(cx, text_file("b", "1\n2\n"), svm, &t));
    assert_int_equal(cr_table_columns(t), 1);
    assert_string_equal(cr_table_column(t, 0)->name, "y");
    cr_table_free(cx, t);
    assert_fails_with(cx, read_plainly(cx, text_file("b.libsvm", "a,b\n"), &t), CR_EDATA,
                      "b.libsvm:1:1: several labels");
    assert_ok(cx,
              read_with(cx, text_file("c.svm", "1,0.5\n2,-3\n"), csv, &t)); /* the option rules */
    check_two_by_two(cx, t, "x1", "x2");
}

TEST(compressed)
{
    cr_table *t = NULL;
    char      path[256];
    snprintf(path, sizeof path, "%s/z.libsvm.gz", test_directory());
    gzFile z = gzopen(path, "wb");
    gzputs(z, "0.5 1:1\n-3 1:2\n");
    gzclose(z);
    assert_ok(cx, read_plainly(cx, path, &t));
    check_two_by_two(cx, t, "x1", "y");
    z = gzopen(path, "wb"); /* of a size that is not known before the end */
    for (int i = 0; i < 30000; i++) gzprintf(z, "%d 1:%d\n", i, 2 * i);
    gzclose(z);
    assert_ok(cx, read_plainly(cx, path, &t));
    assert_int_equal(cr_table_rows(t), 30000);
    assert_true(cr_table_find(t, "x1")->values[29999] == 59998);
    cr_table_free(cx, t);
}

TEST(arrays)
{
    cr_table    *t = NULL;
    const double a[] = { 1, 2 }, b[] = { 0.5, -3 };
    char         path[256];
    assert_ok(cx, cr_table_new(cx, "t", 2, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "p", CR_REAL, a, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "q", CR_REAL, b, 1));
    snprintf(path, sizeof path, "%s/a.bin", test_directory());
    assert_ok(cx, cr_table_write_npy(cx, t, path));
    cr_table_free(cx, t);
    assert_ok(cx, read_plainly(cx, path, &t)); /* by its first bytes */
    check_two_by_two(cx, t, "x1", "x2");
}

TEST(databases)
{
    cr_table     *t = NULL;
    sqlite3      *db = NULL;
    char          path[256], spec[300];
    const setting from[] = { { "from", "sqlite" }, { NULL, NULL } };
    snprintf(path, sizeof path, "%s/two.db", test_directory());
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 0.5), (2, -3)", NULL, NULL,
                 NULL);
    sqlite3_close(db);
    snprintf(spec, sizeof spec, "sqlite:%s?t", path);
    assert_ok(cx, read_plainly(cx, spec, &t));
    check_two_by_two(cx, t, "a", "b");
    snprintf(spec, sizeof spec, "%s?query=SELECT * FROM t", path);
    assert_ok(cx, read_with(cx, spec, from, &t));
    check_two_by_two(cx, t, "a", "b");
    assert_ok(cx, read_plainly(cx, path, &t)); /* by its first bytes; it holds one table */
    check_two_by_two(cx, t, "a", "b");
}

TEST(column_options_hold_everywhere)
{
    cr_table     *t = NULL;
    const setting category[] = { { "category", "y,x2" },
                                 { "missing_values", "-999" },
                                 { NULL, NULL } };
    const setting real[] = { { "real", "x1" }, { NULL, NULL } };
    const setting wrong[] = { { "category", "z1" }, { NULL, NULL } };
    const char   *path = text_file("c.svm", "1 1:3 2:0.5\n-1 1:-999 2:-999\n1 2:4\n");
    assert_ok(cx, read_with(cx, path, category, &t));
    const cr_column *x1 = cr_table_find(t, "x1"), *x2 = cr_table_find(t, "x2");
    const cr_column *y = cr_table_find(t, "y");
    assert_int_equal(x1->type, CR_INTEGER);
    assert_true(x1->values[0] == 3 && isnan(x1->values[1]) && x1->missing == 1);
    assert_int_equal(x2->type, CR_CATEGORY);
    assert_int_equal(x2->codes[1], CR_MISSING_CODE);
    assert_string_equal(x2->levels[x2->codes[0]], "0.5");
    assert_int_equal(y->n_levels, 2);
    assert_string_equal(y->levels[y->codes[1]], "-1");
    assert_int_equal(y->codes[0], y->codes[2]);
    cr_table_free(cx, t);
    const setting quoted[] = { { "category", "\"y\",,\"x2\"" },
                               { "missing_values", "none,\"-999\"" },
                               { NULL, NULL } };
    assert_ok(cx, read_with(cx, path, quoted, &t));
    assert_int_equal(cr_table_find(t, "x2")->codes[1], CR_MISSING_CODE);
    assert_int_equal(cr_table_find(t, "y")->n_levels, 2);
    cr_table_free(cx, t);
    assert_ok(cx, read_with(cx, path, real, &t));
    assert_int_equal(cr_table_find(t, "x1")->type, CR_REAL);
    cr_table_free(cx, t);
    assert_fails_with(cx, read_with(cx, path, wrong, &t), CR_EDATA, "column 'z1' not found in ");
    assert_string_equal(cr_error_nearest(cx), "x1");
}

TEST(texts_of_a_database_as_numbers)
{
    cr_table     *t = NULL;
    sqlite3      *db = NULL;
    char          path[256];
    const setting real[] = { { "real", "a" }, { "missing_values", "none" }, { NULL, NULL } };
    const setting bad[] = { { "real", "a" }, { NULL, NULL } };
    snprintf(path, sizeof path, "%s/texts.db", test_directory());
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "CREATE TABLE t(a TEXT); INSERT INTO t VALUES ('1.5'), (''), ('none'), ('2')",
                 NULL, NULL, NULL);
    sqlite3_close(db);
    assert_ok(cx, read_with(cx, path, real, &t));
    const cr_column *a = cr_table_find(t, "a");
    assert_int_equal(a->type, CR_REAL);
    assert_true(a->values[0] == 1.5 && isnan(a->values[1]) && isnan(a->values[2]) &&
                a->values[3] == 2);
    cr_table_free(cx, t);
    assert_fails_with(cx, read_with(cx, path, bad, &t), CR_EDATA,
                      "row 3: 'none' in column 'a' is not a number");
    assert_string_equal(cr_error_hint(cx), "if it means missing, use --missing-values 'none'");
}

TEST(foreign_files)
{
    cr_table  *t = NULL;
    const char model[] = "PK\3\4..........................";
    char       zip[64] = "PK\3\4";
    memcpy(zip + 30, "model.json", 10);
    zip[26] = 10;
    assert_fails_with(cx, read_plainly(cx, test_file("m.cred", model, sizeof model), &t), CR_EDATA,
                      "m.cred is a model, not data");
    assert_non_null(strstr(cr_error_hint(cx), "credence describe "));
    assert_fails_with(cx, read_plainly(cx, test_file("m", zip, sizeof zip), &t), CR_EDATA,
                      "m is a model, not data");
    memcpy(zip + 30, "[Content_Types].xml", 19);
    zip[26] = 19;
    assert_fails_with(cx, read_plainly(cx, test_file("x.xlsx", zip, sizeof zip), &t), CR_EDATA,
                      "x.xlsx is an Excel");
    assert_fails_with(cx, read_plainly(cx, text_file("p.parquet", "PAR1...."), &t), CR_EDATA,
                      "p.parquet is a Parquet file, which is not supported");
    assert_string_equal(cr_error_hint(cx), "save it as CSV first");
    assert_fails_with(cx, read_plainly(cx, "/nowhere/at/all.csv", &t), CR_EIO,
                      "/nowhere/at/all.csv");
    assert_null(t);
}

/* The same data in two formats: the a9a set of the LIBSVM collection. */
TEST(libsvm_equals_csv)
{
    char svm[512], csv[512];
    snprintf(svm, sizeof svm, "%s", test_extra_data("tabular/a9a.libsvm"));
    snprintf(csv, sizeof csv, "%s", test_extra_data("tabular/a9a.csv"));
    cr_table *a = NULL, *b = NULL;
    assert_ok(cx, read_plainly(cx, svm, &a));
    assert_ok(cx, read_plainly(cx, csv, &b));
    assert_int_equal(cr_table_rows(a), 32561);
    assert_int_equal(cr_table_rows(b), 32561);
    assert_int_equal(cr_table_columns(a), 124);
    assert_int_equal(cr_table_columns(b), 124);
    size_t wrong = 0;
    for (size_t j = 0; j < 124; j++) {
        const cr_column *x = cr_table_column(a, j), *y = cr_table_column(b, j);
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->type, y->type);
        for (size_t i = 0; i < 32561; i++)
            wrong += x->values[i * x->stride] != y->values[i * y->stride];
    }
    assert_int_equal(wrong, 0);
    cr_table_free(cx, a);
    cr_table_free(cx, b);
}

static cr_status read_and_change(cr_ctx *cx, void *arg)
{
    cr_table     *t = NULL;
    const setting settings[] = { { "category", "y" },
                                 { "missing_values", "-999" },
                                 { NULL, NULL } };
    cr_status     st = read_with(cx, arg, settings, &t);
    cr_table_free(cx, t);
    return st;
}

TEST(allocation_failures)
{
    char path[256];
    snprintf(path, sizeof path, "%s", text_file("alloc.svm", "1 1:3 2:0.5\n-1 1:-999\n"));
    test_every_allocation_fails(read_and_change, path);
    snprintf(path, sizeof path, "%s", text_file("alloc.csv", "a,y\n1,x\n2,z\n"));
    test_every_allocation_fails(read_and_change, path);
}
