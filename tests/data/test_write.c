/* test_write.c -- tables as CSV: exact bytes, and what is written reads back the same. */
#include "support.h"
#include "base/file.h"
#include "base/rng.h"
#include "data/formats/read.h"
#include "data/csv/csv_lines.h"
#include "data/formats/write.h"

#include <unistd.h>

static const double   real3[] = { 0.1, (double)NAN, -1e-300 }, whole3[] = { 1, (double)NAN, -3 };
static const double   truth3[] = { 1, 0, (double)NAN };
static const uint32_t code3[] = { 0, CR_MISSING_CODE, 1 };

static const char *const awkward[] = { "a,b", "say \"hi\"\n", "x" };

static cr_table *small_table(cr_ctx *cx)
{
    cr_table *t = NULL;
    assert_ok(cx, cr_table_new(cx, "small", 3, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "real", CR_REAL, real3, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "whole", CR_INTEGER, whole3, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "a real, too", CR_REAL, whole3, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "truth", CR_BOOLEAN, truth3, 1));
    assert_ok(cx, cr_table_add_category(cx, t, "text", code3, awkward, 3));
    return t;
}

static const char small_text[] = "real,whole,\"a real, too\",truth,text\n"
                                 "0.1,1,1.0,true,\"a,b\"\n"
                                 ",,,false,\n"
                                 "-1e-300,-3,-3.0,,\"say \"\"hi\"\"\n\"\n";

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", test_directory(), name);
    return path;
}

TEST(exact_bytes)
{
    cr_table *t = small_table(cx);
    char     *bytes = NULL;
    size_t    size = 0;
    assert_ok(cx, cr_table_write_csv(cx, t, path_of("small.csv")));
    assert_ok(cx, cri_file_load(cx, path_of("small.csv"), 0, &bytes, &size));
    assert_int_equal(size, strlen(small_text));
    assert_memory_equal(bytes, small_text, size);
    cr_free(cx, bytes, size, 1);
    cr_table_free(cx, t);
}

TEST(fields)
{
    cri_writer out = cri_writer_begin(cx);
    const char wanted[] =
        "plain,two words,\" lead\",\"trail \",\"\",,,\"a;b\",5e-324,3.0,1e+17,0.5\n\"x\ty\"\n";
    cri_write_text(&out, "plain");
    cri_write_text(&out, "two words");
    cri_write_text(&out, " lead");
    cri_write_text(&out, "trail ");
    cri_write_text(&out, "");
    cri_write_text(&out, NULL);
    cri_write_number(&out, (double)NAN);
    cri_write_text(&out, "a;b");
    cri_write_number(&out, 5e-324);
    cri_write_real(&out, 3);
    cri_write_real(&out, 1e17);
    cri_write_real(&out, 0.5);
    cri_write_end_row(&out);
    cri_write_text(&out, "x\ty");
    cri_write_end_row(&out);
    assert_int_equal(out.length, strlen(wanted));
    assert_memory_equal(out.text, wanted, out.length);
    assert_int_equal(out.status, CR_OK);
    cri_writer_end(&out);
}

static void assert_same_table(const cr_table *a, const cr_table *b)
{
    assert_int_equal(cr_table_rows(a), cr_table_rows(b));
    assert_int_equal(cr_table_columns(a), cr_table_columns(b));
    for (size_t j = 0; j < cr_table_columns(a); j++) {
        const cr_column *x = cr_table_column(a, j), *y = cr_table_column(b, j);
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->type, y->type);
        assert_int_equal(x->missing, y->missing);
        assert_int_equal(x->n_levels, y->n_levels);
        for (size_t k = 0; k < x->n_levels; k++) assert_string_equal(x->levels[k], y->levels[k]);
        for (size_t i = 0; i < cr_table_rows(a); i++) {
            if (x->type == CR_CATEGORY) {
                assert_int_equal(x->codes[i], y->codes[i]);
                continue;
            }
            double p = x->values[i * x->stride], q = y->values[i * y->stride];
            assert_true((isnan(p) && isnan(q)) || memcmp(&p, &q, sizeof p) == 0);
        }
    }
}

static void check_round_trip(cr_ctx *cx, const cr_table *t, const char *category)
{
    cr_read_options o;
    cr_table       *back = NULL;
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    assert_ok(cx, cr_options_set(cx, cr_read_table, &o, "header", "yes"));
    assert_ok(cx, cr_options_set(cx, cr_read_table, &o, "category", category));
    assert_ok(cx, cr_table_write_csv(cx, t, path_of("trip.csv")));
    assert_ok(cx, cr_table_read(cx, path_of("trip.csv"), &o, &back));
    assert_same_table(t, back);
    cr_table_free(cx, back);
    cr_options_free(cx, cr_read_table, &o);
}

TEST(reads_back_the_same)
{
    enum { N = 3000 };
    static double     random[N], wide[N], whole[N], truth[N];
    static uint32_t   codes[N];
    const char *const levels[] = {
        "plain",      "with, comma",       "quote \" here", " blanks ",
        "line\nfeed", "\xC3\xA9t\xC3\xA9", "007",           "semi;colon"
    };
    cr_rng r = cr_rng_stream(1, 2);
    for (size_t i = 0; i < N; i++) {
        uint64_t bits = cr_rng_u64(&r);
        memcpy(&random[i], &bits, sizeof bits);
        if (!isfinite(random[i])) random[i] = (double)NAN;
        wide[i] = cr_rng_normal(&r) * pow(10, (double)cr_rng_below(&r, 30) - 15);
        whole[i] = (double)cr_rng_below(&r, 1000000) - 500000;
        truth[i] = i % 17 ? (double)cr_rng_below(&r, 2) : (double)NAN;
        codes[i] = i % 13 ? (uint32_t)cr_rng_below(&r, 8) : CR_MISSING_CODE;
    }
    cr_table *t = NULL;
    assert_ok(cx, cr_table_new(cx, "trip", N, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "random", CR_REAL, random, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "wide", CR_REAL, wide, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "whole", CR_INTEGER, whole, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "real", CR_REAL, whole, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "truth, maybe", CR_BOOLEAN, truth, 1));
    assert_ok(cx, cr_table_add_category(cx, t, "text", codes, levels, 8));
    check_round_trip(cx, t, "");
    cr_table_free(cx, t);
}

TEST(one_column_with_missing_values)
{
    cr_table         *t = NULL;
    const char *const towns[] = { "New York", "San Jose" }, *const digits[] = { "1", "2" };
    assert_ok(cx, cr_table_new(cx, "one", 3, &t));
    assert_ok(cx, cr_table_add_category(cx, t, "town name", code3, towns, 2));
    check_round_trip(cx, t, "");
    cr_table_free(cx, t);
    const uint32_t no_gap[] = { 0, 1, 1 }; /* two words in every line: not two columns */
    assert_ok(cx, cr_table_new(cx, "one", 3, &t));
    assert_ok(cx, cr_table_add_category(cx, t, "town name", no_gap, towns, 2));
    check_round_trip(cx, t, "");
    cr_table_free(cx, t);
    assert_ok(cx, cr_table_new(cx, "one", 3, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, real3, 1));
    check_round_trip(cx, t, "");
    cr_table_free(cx, t);
    assert_ok(cx, cr_table_new(cx, "one", 3, &t)); /* texts that are numbers: the reader is told */
    assert_ok(cx, cr_table_add_category(cx, t, "x", code3, digits, 2));
    check_round_trip(cx, t, "x");
    cr_table_free(cx, t);
}

TEST(failures_leave_the_old_file)
{
    cr_table *t = small_table(cx);
    char     *bytes = NULL;
    size_t    size = 0;
    test_file("old.csv", "old\n", 4);
    cr_interrupt(cx);
    assert_fails(cx, cr_table_write_csv(cx, t, path_of("old.csv")), CR_EINTERRUPTED);
    cr_interrupt_clear(cx);
    assert_ok(cx, cri_file_load(cx, path_of("old.csv"), 0, &bytes, &size));
    assert_int_equal(size, 4);
    cr_free(cx, bytes, size, 1);
    assert_fails(cx, cr_table_write_csv(cx, t, path_of("no/such/x.csv")), CR_EIO);
    if (access("/dev/full", W_OK) == 0)
        assert_fails(cx, cr_table_write_csv(cx, t, "/dev/full"), CR_EIO);
    cr_table_free(cx, t);
}

static cr_status write_small(cr_ctx *cx, void *arg)
{
    cr_status st = CR_OK;
    cr_table *t = NULL;
    CR_TRY(cr_table_new(cx, "s", 3, &t));
    CR_TRY(cr_table_add_numbers(cx, t, "a", CR_REAL, real3, 1));
    CR_TRY(cr_table_add_category(cx, t, "b", code3, awkward, 3));
    CR_TRY(cr_table_write_csv(cx, t, arg));
done:
    cr_table_free(cx, t);
    return st;
}

TEST(allocation_failures)
{
    char path[256];
    snprintf(path, sizeof path, "%s", path_of("alloc.csv"));
    test_every_allocation_fails(write_small, path);
}
