/* test_leaves.c -- a table read whole has the leaves that a stream gives as blocks, in every format;
 * subsets and retyped tables keep them. */
#include "support.h"
#include "base/context_internal.h"
#include "data/formats/read.h"
#include "data/stream/stream.h"
#include "data/table/subset.h"
#include "data/table/table_internal.h"

#include <zlib.h>
#include <zstd.h>

static cr_read_options options(cr_ctx *cx, const char *const *pairs)
{
    cr_read_options o;
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    for (; pairs && pairs[0]; pairs += 2)
        assert_ok(cx, cr_options_set(cx, cr_read_table, &o, pairs[0], pairs[1]));
    return o;
}

static void check_leaves(const cr_table *t, const size_t *starts, size_t n)
{
    size_t        got;
    const size_t *leaves = cri_table_leaves(t, &got);
    assert_non_null(leaves);
    assert_int_equal(got, n);
    for (size_t k = 0; k < n; k++) assert_int_equal(leaves[k], starts[k]);
}

static void check_cell(const cr_column *a, size_t i, const cr_column *b, size_t k)
{
    assert_string_equal(a->name, b->name);
    if (a->type == CR_CATEGORY) {
        assert_int_equal(a->codes[i], b->codes[k]);
        return;
    }
    double x = a->values[i * a->stride], y = b->values[k * b->stride];
    assert_true(x == y || (isnan(x) && isnan(y)));
}

/* Reads the file whole and as a stream with leaves of so many bytes; returns how many there are. */
static size_t check_file(const char *path, const char *const *pairs, size_t leaf)
{
    cr_ctx         *cx = test_context();
    cr_read_options o = options(cx, pairs);
    cr_table       *whole = NULL, *t = NULL;
    cr_stream      *s = NULL;
    size_t          n, row = 0, k = 0;
    cri_set_leaf_bytes(cx, leaf);
    assert_ok(cx, cr_table_read(cx, path, &o, &whole));
    const size_t *leaves = cri_table_leaves(whole, &n);
    assert_true(n > 0 && leaves[0] == 0);
    assert_ok(cx, cr_stream_open(cx, path, &o, 0, &s));
    for (;; k++) {
        assert_ok(cx, cr_stream_next(cx, s, &t));
        if (!t) break;
        assert_true(k < n);
        assert_int_equal(row, leaves[k]);
        check_leaves(t, &(size_t){ 0 }, 1);
        for (size_t i = 0; i < cr_table_rows(t); i++, row++)
            for (size_t j = 0; j < cr_table_columns(t); j++)
                check_cell(cr_table_column(whole, j), row, cr_table_column(t, j), i);
        cr_table_free(cx, t);
        t = NULL;
    }
    assert_int_equal(k, n);
    assert_int_equal(row, cr_table_rows(whole));
    cr_stream_free(cx, s);
    cr_table_free(cx, whole);
    cr_options_free(cx, cr_read_table, &o);
    test_context_free(cx);
    return n;
}

/* --- text ------------------------------------------------------------------------------------ */

/* 200 records with quoted line ends, blank lines and now and then a record of 300 bytes. */
static size_t make_csv(char *out, bool last_line_end)
{
    char *at = out + sprintf(out, "\xef\xbb\xbfname,x,n,late\n");
    for (int i = 0; i < 200; i++) {
        at += i % 37 == 5 ? sprintf(at, "\"%0300d\",", i) : sprintf(at, "\"a\n\"\"%d\",", i % 4);
        at += sprintf(at, "%g,%d,%s\n", i / 8.0, i, i < 150 ? "1" : "t");
        if (i % 11 == 0) at += sprintf(at, "\n  \n");
    }
    return (size_t)(at - out) - (last_line_end ? 0 : 1);
}

TEST(csv)
{
    static char       text[20000];
    const size_t      leaves[] = { 1, 7, 64, 100, 333, 1000, 100000 };
    const char *const category[] = { "category", "n,late", "real", "x", NULL };
    const char       *path;
    for (int end = 0; end < 2; end++) {
        size_t size = make_csv(text, end);
        path = test_file("leaves.csv", text, size);
        for (size_t k = 0; k < sizeof leaves / sizeof *leaves; k++) {
            size_t n = check_file(path, category, leaves[k]);
            if (leaves[k] <= 64) assert_true(n > 50);
            if (leaves[k] == 100000) assert_int_equal(n, 1);
        }
        check_file(path, category, size); /* the end of the file is the end of the leaf */
    }
}

/* A record is in the leaf in which its line end is, counted from the first byte of the file. */
TEST(where_leaves_end)
{
    static const char text[] = "a\n10\n11\n\n\n\n12\n13000000000\n14\n15\n";
    cr_read_options   o = options(cx, NULL);
    cr_table         *t = NULL;
    cri_set_leaf_bytes(cx, 8); /* a 10 11 | 12 | | 13... 14 15 */
    assert_ok(cx, cr_table_read(cx, test_file("ends.csv", text, sizeof text - 1), &o, &t));
    check_leaves(t, (size_t[]){ 0, 2, 3 }, 3);
    cr_table_free(cx, t);
    cr_options_free(cx, cr_read_table, &o);
}

static const char *pack_gzip(const char *name, const char *text, size_t size)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", test_directory(), name);
    gzFile f = gzopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, text, (unsigned)size), (int)size);
    gzclose(f);
    return path;
}

TEST(packed_text)
{
    static char       text[20000], packed[20000];
    const char *const category[] = { "category", "n,late", NULL };
    size_t            size = make_csv(text, true);
    size_t            n = check_file(test_file("leaves.csv", text, size), category, 500);
    assert_int_equal(check_file(pack_gzip("leaves.csv.gz", text, size), category, 500), n);
    size_t zstd = ZSTD_compress(packed, sizeof packed, text, size, 3);
    assert_int_equal(check_file(test_file("leaves.csv.zst", packed, zstd), category, 500), n);
    for (char *p = text; p < text + size; p++)
        if (*p == ',') *p = '\t';
    assert_int_equal(check_file(test_file("leaves.tsv", text, size), category, 500), n);
}

TEST(libsvm)
{
    static char  text[20000];
    const size_t leaves[] = { 1, 5, 16, 100, 1000, 100000 };
    for (int end = 0; end < 2; end++) {
        char *at = text + sprintf(text, "\xef\xbb\xbf# a comment\n\n");
        for (int i = 0; i < 300; i++) {
            at += sprintf(at, "%d 1:%d", i, i);
            for (int j = 2; i % 50 == 3 && j < 40; j++) at += sprintf(at, " %d:0.5", j);
            at += sprintf(at, "\n%s", i % 30 == 7 ? "\n# nothing here\n" : "");
        }
        size_t      size = (size_t)(at - text) - (end ? 0 : 1);
        const char *path = test_file("leaves.svm", text, size);
        for (size_t k = 0; k < sizeof leaves / sizeof *leaves; k++) {
            size_t n = check_file(path, NULL, leaves[k]);
            if (leaves[k] <= 16) assert_true(n > 150);
            if (leaves[k] == 100000) assert_int_equal(n, 1);
        }
        check_file(path, NULL, size);
    }
}

/* --- numbers in memory ----------------------------------------------------------------------- */

TEST(npy)
{
    char              bytes[2048];
    double            a[150];
    const char *const real[] = { "real", "x2", NULL };
    int n = sprintf(bytes + 10, "{'descr': '<f8', 'fortran_order': False, 'shape': (50, 3), }\n");
    for (int i = 0; i < 150; i++) a[i] = sqrt(i);
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (char)n, bytes[9] = 0;
    memcpy(bytes + 10 + n, a, sizeof a);
    const char *path = test_file("leaves.npy", bytes, (size_t)(10 + n) + sizeof a);
    assert_int_equal(check_file(path, NULL, 8 * 3 * 8), 7); /* 8 rows each */
    assert_int_equal(check_file(path, NULL, 15 * 3 * 8), 7);
    assert_int_equal(check_file(path, real, 16 * 3 * 8), 4);
    assert_int_equal(check_file(path, NULL, 1), 50);
}

TEST(tables_in_memory)
{
    double    x[100] = { 0 };
    cr_table *t = NULL;
    cri_set_leaf_bytes(cx, 1000);
    assert_ok(cx, cr_table_new(cx, "t", 100, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "a", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "b", CR_REAL, x, 1));
    check_leaves(t, (size_t[]){ 0, 32, 64, 96 }, 4); /* 62.5 rows: 32 */
    assert_ok(cx, cri_table_set_leaves(cx, t, (size_t[]){ 0, 7 }, 2));
    check_leaves(t, (size_t[]){ 0, 7 }, 2);
    assert_fails(cx, cri_table_set_leaves(cx, t, (size_t[]){ 1, 7 }, 2), CR_EARG);
    assert_fails(cx, cri_table_set_leaves(cx, t, (size_t[]){ 0, 7, 7 }, 3), CR_EARG);
    assert_fails(cx, cri_table_set_leaves(cx, t, (size_t[]){ 0, 100 }, 2), CR_EARG);
    assert_fails(cx, cri_table_set_leaves(cx, t, NULL, 0), CR_EARG);
    cr_table_free(cx, t);
    assert_ok(cx, cr_table_new(cx, "t", 0, &t));
    check_leaves(t, NULL, 0);
    cr_table_free(cx, t);
    assert_int_equal(cri_leaf_rows((size_t)16 << 20, 1), 1 << 21);
    assert_int_equal(cri_leaf_rows((size_t)16 << 20, 0), 1 << 21);
    assert_int_equal(cri_leaf_rows((size_t)16 << 20, 3), 1 << 19);
    assert_int_equal(cri_leaf_rows((size_t)16 << 20, 1 << 30), 1);
}

TEST(subsets)
{
    static double x[20];
    cr_table     *t = NULL, *s = NULL;
    assert_ok(cx, cr_table_new(cx, "t", 20, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "a", CR_REAL, x, 1));
    assert_ok(cx, cri_table_set_leaves(cx, t, (size_t[]){ 0, 5, 10, 15 }, 4));
    assert_ok(cx, cri_table_subset(cx, t, (size_t[]){ 1, 3, 4, 12, 15, 19 }, 6, &s));
    check_leaves(s, (size_t[]){ 0, 3, 4 }, 3);
    cr_table_free(cx, s);
    assert_ok(cx, cri_table_subset(cx, t, (size_t[]){ 6, 6, 2, 11, 7, 19, 0, 16 }, 8, &s));
    check_leaves(s, (size_t[]){ 0, 3, 5 }, 3); /* back to an earlier leaf begins none */
    cr_table_free(cx, s);
    assert_ok(cx, cri_table_subset(cx, t, NULL, 0, &s));
    check_leaves(s, NULL, 0);
    cr_table_free(cx, s);
    cr_table_free(cx, t);
}

static cr_status read_and_take(cr_ctx *cx, void *user)
{
    cr_status       st = CR_OK;
    cr_read_options o = { 0 };
    cr_table       *t = NULL, *s = NULL;
    cri_set_leaf_bytes(cx, 500);
    CR_TRY(cr_options_init(cx, cr_read_table, &o));
    CR_TRY(cr_table_read(cx, user, &o, &t));
    CR_TRY(cri_table_subset(cx, t, (size_t[]){ 1, 100 }, 2, &s));
done:
    cr_table_free(cx, s);
    cr_table_free(cx, t);
    cr_options_free(cx, cr_read_table, &o);
    return st;
}

TEST(allocation_failures)
{
    static char text[20000];
    size_t      size = make_csv(text, true);
    char       *path = strdup(test_file("leaves.csv", text, size));
    test_every_allocation_fails(read_and_take, path);
    free(path);
}
