/* test_stream.c -- blocks put together are the table that cr_table_read gives; equal levels and
 * columns in all of them; what a pipe cannot know; bounded memory. */
#include "support.h"
#include "base/rng.h"
#include "data/formats/read.h"
#include "data/stream/stream_internal.h"
#include "data/table/table_internal.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static cr_read_options options(cr_ctx *cx, const char *const *pairs)
{
    cr_read_options o;
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    for (; pairs && pairs[0]; pairs += 2)
        assert_ok(cx, cr_options_set(cx, cr_read_table, &o, pairs[0], pairs[1]));
    return o;
}

/* A stream over bytes in memory, which can be read again like a file. */
static cr_status open_bytes(cr_ctx *cx, const char *name, const void *bytes, size_t size,
                            const char *const *pairs, cri_block_size block, cr_stream **out)
{
    cri_source     *source = NULL;
    cr_read_options o = options(cx, pairs);
    assert_ok(cx, cri_source_open_bytes(cx, name, bytes, size, &source));
    cr_status st = cri_stream_open_source(cx, name, source, &o, block, out);
    cr_options_free(cx, cr_read_table, &o);
    return st;
}

static void *write_pipe(void *arg)
{
    const char *const *job = arg; /* path, text */
    FILE              *f = fopen(job[0], "w");
    if (!f) return NULL;
    fwrite(job[1], 1, strlen(job[1]), f);
    fclose(f);
    return NULL;
}

/* Reads all blocks of `text` through a named pipe; *opt_rows counts rows. */
static cr_status stream_pipe(cr_ctx *cx, const char *name, const char *text,
                             const char *const *pairs, size_t rows, size_t *opt_rows)
{
    char        path[512];
    cr_stream  *s = NULL;
    cr_table   *t = NULL;
    pthread_t   writer;
    const char *job[2] = { path, text };
    snprintf(path, sizeof path, "%s/%s", test_directory(), name);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_pipe, job), 0);
    cr_read_options o = options(cx, pairs);
    cr_status       st = cr_stream_open(cx, path, &o, rows, &s);
    while (st == CR_OK) {
        st = cr_stream_next(cx, s, &t);
        if (st != CR_OK || !t) break;
        assert_true(cr_table_rows(t) > 0 && cr_table_rows(t) <= rows);
        cr_table_free(cx, t);
        t = NULL;
    }
    if (opt_rows) *opt_rows = s ? cr_stream_rows(s) : 0;
    cr_stream_free(cx, s);
    cr_options_free(cx, cr_read_table, &o);
    pthread_join(writer, NULL);
    return st;
}

/* --- the same as the whole table ------------------------------------------------------------- */

static void check_cell(const cr_column *a, size_t i, const cr_column *b, size_t k)
{
    assert_string_equal(a->name, b->name);
    if (a->type == CR_CATEGORY) {
        assert_int_equal(b->type, CR_CATEGORY);
        assert_int_equal(a->codes[i], b->codes[k]); /* codes too: the levels are the same */
        return;
    }
    double x = a->values[i * a->stride], y = b->values[k * b->stride];
    assert_true(x == y || (isnan(x) && isnan(y)));
}

/* Streams the bytes in blocks and compares them with the table of the whole. */
static void check_stream(const char *name, const void *bytes, size_t size, const char *const *pairs,
                         cri_block_size block)
{
    cr_ctx         *cx = test_context();
    cr_read_options o = options(cx, pairs);
    cr_table       *whole = NULL, *t = NULL;
    cr_stream      *s = NULL;
    size_t          row = 0, blocks = 0;
    char            a[512], b[512], x[CR_NAME_SIZE];
    assert_ok(cx, cr_table_read(cx, test_file(name, bytes, size), &o, &whole));
    assert_ok(cx, open_bytes(cx, cr_table_source(whole), bytes, size, pairs, block, &s));
    for (;; blocks++) {
        assert_ok(cx, cr_stream_next(cx, s, &t));
        if (!t) break;
        assert_true(cr_table_rows(t) > 0);
        if (block.rows) assert_true(cr_table_rows(t) <= block.rows);
        assert_int_equal(cr_table_columns(t), cr_table_columns(whole));
        for (size_t j = 0; j < cr_table_columns(t); j++) {
            const cr_column *c = cr_table_column(whole, j), *e = cr_table_column(t, j);
            assert_string_equal(cr_table_column_name(t, j, x), c->name);
            if (!cr_table_csr(t)) assert_int_equal(c->type, e->type);
            assert_int_equal(c->n_levels, e->n_levels);
            for (size_t l = 0; l < c->n_levels; l++)
                assert_string_equal(c->levels[l], e->levels[l]);
            for (size_t i = 0; i < cr_table_rows(t); i++) check_cell(c, row + i, e, i);
        }
        for (size_t i = 0; i < cr_table_rows(t); i++)
            assert_string_equal(cri_table_where(t, i, a, sizeof a),
                                cri_table_where(whole, row + i, b, sizeof b));
        row += cr_table_rows(t);
        assert_int_equal(cr_stream_rows(s), row);
        cr_table_free(cx, t);
        t = NULL;
    }
    assert_int_equal(row, cr_table_rows(whole));
    if (block.rows) assert_true(blocks >= (row + block.rows - 1) / block.rows);
    assert_ok(cx, cr_stream_next(cx, s, &t)); /* the end stays the end */
    assert_null(t);
    cr_stream_free(cx, s);
    cr_table_free(cx, whole);
    cr_options_free(cx, cr_read_table, &o);
    test_context_free(cx);
}

static size_t make_csv(char *out, size_t rows)
{
    char  *at = out;
    cr_rng r = cr_rng_stream(1, 2);
    at += sprintf(at, "x,colour,flag,\"k,1\"\n");
    for (size_t i = 0; i < rows; i++)
        at += sprintf(at, "%.17g,%c%zu,%s,%s\n", cr_rng_normal(&r), i % 5 ? 'r' : 'b', i / 50,
                      i % 3 ? "true" : "FALSE", i % 11 ? "1.5" : "");
    return (size_t)(at - out);
}

static size_t make_svm(char *out, size_t rows, bool comments)
{
    char  *at = out;
    cr_rng r = cr_rng_stream(3, 2);
    for (size_t i = 0; i < rows; i++) {
        if (comments && i % 9 == 4) at += sprintf(at, "# nothing: here\n\n");
        at += sprintf(at, "%d", i % 3 ? 1 : -1);
        for (size_t j = 1; j < 60; j += 1 + cr_rng_below(&r, 30))
            at += sprintf(at, " %zu:%.3g", j + (i > rows / 2 ? 40u : 0u), cr_rng_normal(&r));
        if (i + 1 < rows) at += sprintf(at, "\n");
    }
    return (size_t)(at - out);
}

TEST(csv_blocks)
{
    enum { ROWS = 400 };
    char                *text = malloc(ROWS * 64);
    size_t               size = make_csv(text, ROWS);
    const char *const    category[] = { "category", "x", NULL };
    const cri_block_size blocks[] = { { 1, 0 },    { 7, 0 },   { 400, 0 },
                                      { 1000, 0 }, { 0, 100 }, { 0, 1 << 20 } };
    for (size_t k = 0; k < 6; k++) check_stream("t.csv", text, size, NULL, blocks[k]);
    check_stream("t.csv", text, size, category, blocks[1]);
    const char lines[] = "a,b\n1,x\n\n\n2,\"y\nz\"\n3,x\n"; /* rows without known lines */
    check_stream("late.csv", lines, strlen(lines), NULL, blocks[0]);
    const char tabs[] = "a\tb c\n1\tx y\n2\tz\n";
    check_stream("t.tsv", tabs, strlen(tabs), NULL, blocks[0]);
    free(text);
}

TEST(libsvm_blocks)
{
    enum { ROWS = 300 };
    char                *text = malloc(ROWS * 300);
    const char *const    category[] = { "category", "y", NULL };
    const cri_block_size blocks[] = { { 1, 0 },   { 13, 0 },  { 300, 0 },
                                      { 900, 0 }, { 0, 300 }, { 0, 1 << 20 } };
    for (int comments = 0; comments < 2; comments++) {
        size_t size = make_svm(text, ROWS, comments);
        for (size_t k = 0; k < 6; k++)
            if (!comments) check_stream("t.svm", text, size, NULL, blocks[k]);
        check_stream("t.svm", text, make_svm(text, ROWS, false), category, blocks[1]);
    }
    free(text);
}

TEST(comments_make_smaller_blocks)
{
    enum { ROWS = 300 };
    char      *text = malloc(ROWS * 300);
    cr_stream *s = NULL;
    cr_table  *t = NULL;
    size_t     size = make_svm(text, ROWS, true), rows = 0;
    assert_ok(cx, open_bytes(cx, "c.svm", text, size, NULL, (cri_block_size){ 2, 0 }, &s));
    for (;;) {
        assert_ok(cx, cr_stream_next(cx, s, &t));
        if (!t) break;
        assert_true(cr_table_rows(t) >= 1 && cr_table_rows(t) <= 2);
        rows += cr_table_rows(t);
        cr_table_free(cx, t);
        t = NULL;
    }
    assert_int_equal(rows, ROWS);
    cr_stream_free(cx, s);
    free(text);
}

/* An array of numbers as numpy would save it. */
static size_t make_npy(char *out, const char *descr, const char *shape, const void *data,
                       size_t size)
{
    int n =
        sprintf(out + 10, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)n, out[9] = 0;
    memcpy(out + 10 + n, data, size);
    return (size_t)(10 + n) + size;
}

TEST(npy_blocks)
{
    char                 bytes[2048];
    double               a[60];
    int16_t              b[60];
    const char *const    category[] = { "category", "x1", NULL };
    const cri_block_size blocks[] = { { 1, 0 }, { 7, 0 }, { 20, 0 }, { 0, 50 }, { 0, 1 } };
    for (int i = 0; i < 60; i++) a[i] = i % 7 ? sqrt(i) : NAN, b[i] = (int16_t)(i % 5 - 30);
    for (size_t k = 0; k < 5; k++) {
        size_t size = make_npy(bytes, "<f8", "(20, 3)", a, sizeof a);
        check_stream("a.npy", bytes, size, NULL, blocks[k]);
        size = make_npy(bytes, "<i2", "(60,)", b, sizeof b);
        check_stream("b.npy", bytes, size, NULL, blocks[k]);
        check_stream("b.npy", bytes, size, category, blocks[k]);
    }
}

/* --- pipes that fill slowly ------------------------------------------------------------------ */

static void put_text(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* A block is there as soon as its last row is, while the other end is still open: were one byte
 * more waited for, the test would hang and the alarm end it. */
TEST(pipes_are_followed)
{
    cr_stream      *s = NULL;
    cr_table       *t = NULL;
    cr_read_options o = options(cx, NULL);
    int             ends[2];
    char            path[64];
    alarm(20);
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    put_text(ends[1], "a;b\n1;x\n2;\"y\ny\"\n");
    assert_ok(cx, cr_stream_open(cx, path, &o, 2, &s));
    cr_stream_free_levels(s);
    assert_ok(cx, cr_stream_next(cx, s, &t));
    assert_int_equal(cr_table_rows(t), 2);
    assert_string_equal(cr_table_find(t, "b")->levels[1], "y\ny");
    cr_table_free(cx, t);
    for (int k = 0; k < 5; k++) { /* a level of its own in each */
        char row[32];
        snprintf(row, sizeof row, "%d;z%d\n4;x\n5;", k, k);
        put_text(ends[1], row);
        t = NULL;
        assert_ok(cx, cr_stream_next(cx, s, &t));
        assert_int_equal(cr_table_rows(t), 2);
        cr_table_free(cx, t);
        put_text(ends[1], "x\n6;x\n");
        t = NULL;
        assert_ok(cx, cr_stream_next(cx, s, &t));
        assert_true(cr_table_find(t, "a")->values[1] == 6);
        cr_table_free(cx, t);
    }
    close(ends[1]);
    t = NULL;
    assert_ok(cx, cr_stream_next(cx, s, &t));
    assert_null(t);
    assert_int_equal(cr_stream_rows(s), 22);
    cr_stream_free(cx, s);
    cr_options_free(cx, cr_read_table, &o);
    close(ends[0]);
    alarm(0);
}

/* The types are those of the first block, also when more has come already. */
TEST(types_of_a_pipe_are_of_its_first_block)
{
    size_t rows = 0;
    assert_fails_with(cx, stream_pipe(cx, "t1", "a,b\n1,2\ntext,3\n", NULL, 1, NULL), CR_EDATA,
                      "text");
    assert_ok(cx, stream_pipe(cx, "t2", "a,b\n1,2\ntext,3\n", NULL, 2, &rows));
    assert_int_equal(rows, 2);
}

/* --- pipes ----------------------------------------------------------------------------------- */

TEST(pipes)
{
    size_t rows;
    assert_ok(cx, stream_pipe(cx, "p1", "a,b\n1,x\n2,y\n3,x\n", NULL, 2, &rows));
    assert_int_equal(rows, 3);
    assert_ok(cx, stream_pipe(cx, "p2", "1 1:1 3:1\n2 2:1\n3\n", NULL, 2, &rows));
    assert_int_equal(rows, 3);
    assert_fails_with(cx, stream_pipe(cx, "p3", "a,b\n1,x\n2,y\n3,z\n", NULL, 2, NULL), CR_EDATA,
                      "p3:4: column 'b' has the level 'z', which the first 2 rows do not have");
    assert_string_equal(cr_error_hint(cx),
                        "give the data as a file, whose levels are read first, or "
                        "use a larger --block");
    assert_fails_with(cx, stream_pipe(cx, "p4", "1 1:1 3:1\n2 4:1\n", NULL, 1, NULL), CR_EDATA,
                      "p4: after row 1 there is an index 4, but the rows before have 3 columns");
}

/* --- what does not fit ----------------------------------------------------------------------- */

/* The first failure of a stream over these bytes. */
static cr_status read_through(cr_ctx *cx, const char *name, const void *bytes, size_t size,
                              const char *const *pairs, size_t rows)
{
    cr_stream *s = NULL;
    cr_table  *t = NULL;
    cr_status  st = open_bytes(cx, name, bytes, size, pairs, (cri_block_size){ rows, 0 }, &s);
    while (st == CR_OK) {
        st = cr_stream_next(cx, s, &t);
        if (st != CR_OK || !t) break;
        cr_table_free(cx, t);
        t = NULL;
    }
    assert_true(st == CR_OK || !t);
    cr_stream_free(cx, s);
    return st;
}

TEST(failures)
{
    char *late = malloc(400000), *at = late, bytes[512];
    at += sprintf(at, "a,b\n");
    for (int i = 0; i < 30000; i++) at += sprintf(at, "%d,true\n", i);
    sprintf(at, "oops,true\n");
    assert_fails_with(cx, stream_pipe(cx, "l.csv", late, NULL, 100, NULL), CR_EDATA,
                      "l.csv:30002:1: 'oops' in column 'a' is not a number");
    assert_string_equal(
        cr_error_hint(cx),
        "in a stream, types are decided by the first rows; use --missing-values 'oops' if it means "
        "missing, --category a if the column is text, or --date a if it has dates");
    const char *const category[] = { "category", "a", NULL };
    assert_ok(cx, read_through(cx, "l.csv", late, strlen(late), category, 20000));
    check_stream("late.csv", late, strlen(late), NULL, (cri_block_size){ 20000, 0 }); /* a file */
    sprintf(at, "1.5,7\n");
    check_stream("late.csv", late, strlen(late), NULL, (cri_block_size){ 20000, 0 });
    assert_fails_with(cx, stream_pipe(cx, "l.csv", late, NULL, 100, NULL), CR_EDATA,
                      "column 'b' begins with true and false, but contains something else");
    memcpy(late + 4, "0.5,true", 8); /* from the first row on it is a number */
    memset(late + 12, ' ', strcspn(late + 12, "\n"));
    sprintf(at, "oops,true\n");
    assert_fails_with(cx, read_through(cx, "l.csv", late, strlen(late), NULL, 100), CR_EDATA,
                      "'oops' in column 'a' is not a number");
    free(late);
    const struct {
        const char *name, *text, *sentence;
    } bad[] = { { "e.csv", "", "e.csv: the file is empty" },
                { "h.csv", "a,b\n", "h.csv: there is a header but no row below it" },
                { "r.csv", "a,b\n1,2\n1\n", "r.csv:3:2: row has 1 field, the header has 2" },
                { "q.csv", "a,b\n1,\"2\n", "q.csv:2:3: the quote that opens here is never closed" },
                { "e.svm", "# only\n", "e.svm: there are no rows" },
                { "x.svm", "1 1:1\n2 2:1\n\n3 3:x\n", "x.svm:4:5: the value 'x' is not a number" },
                { "n.npy", "\x93NUMPY", "n.npy" } };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_fails_with(cx,
                          read_through(cx, bad[k].name, bad[k].text, strlen(bad[k].text), NULL, 1),
                          CR_EDATA, bad[k].sentence);
    double a[6] = { 1, 2, 3, 4, 5, 6 };
    size_t size = make_npy(bytes, "<f8", "(3, 2)", a, sizeof a);
    assert_fails_with(cx, read_through(cx, "c.npy", bytes, size - 3, NULL, 1), CR_EDATA,
                      "c.npy: an array of 3 rows is cut short in row 3");
    assert_fails_with(cx, read_through(cx, "c.npy", bytes, size + 1, NULL, 2), CR_EDATA,
                      "there are bytes after the end of the array");
    char *order = strstr(bytes + 10, "False");
    memcpy(order, "True ", 5);
    assert_fails_with(cx, read_through(cx, "c.npy", bytes, size, NULL, 1), CR_EUNSUPPORTED,
                      "the array is in Fortran order");
    assert_fails_with(cx, read_through(cx, "z.npz", "PK\3\4xx", 6, NULL, 1), CR_EUNSUPPORTED,
                      "z.npz cannot be read block by block");
    cr_stream      *s = NULL;
    cr_read_options o = options(cx, NULL);
    assert_fails_with(cx, cr_stream_open(cx, "sqlite:a.db?t", &o, 1, &s), CR_EUNSUPPORTED,
                      "block by block");
    assert_fails_with(cx, cr_stream_open(cx, "/nowhere/at.csv", &o, 1, &s), CR_EIO, "cannot open");
    cr_options_free(cx, cr_read_table, &o);
}

/* --- memory ---------------------------------------------------------------------------------- */

static void check_bounded(const char *path, size_t rows)
{
    cr_ctx         *cx = test_context();
    cr_read_options o = options(cx, NULL);
    cr_stream      *s = NULL;
    cr_table       *t = NULL;
    cr_ctx_set_memory_limit(cx, 4500000);
    assert_ok(cx, cr_stream_open(cx, path, &o, 1000, &s));
    for (;;) {
        assert_ok(cx, cr_stream_next(cx, s, &t));
        if (!t) break;
        cr_table_free(cx, t);
        t = NULL;
    }
    assert_int_equal(cr_stream_rows(s), rows);
    cr_stream_free(cx, s);
    cr_options_free(cx, cr_read_table, &o);
    test_context_free(cx);
}

TEST(memory_is_bounded)
{
    enum { ROWS = 150000 };
    char path[512], line[64];
    for (int svm = 0; svm < 2; svm++) {
        snprintf(path, sizeof path, "%s/big.%s", test_directory(), svm ? "svm" : "csv");
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        if (!svm) fputs("a,b,c,k\n", f);
        for (size_t i = 0; i < ROWS; i++) {
            snprintf(line, sizeof line, svm ? "1 1:%zu 5:2.25 %zu:7\n" : "%zu,2.25,7,level%zu\n", i,
                     6 + i % 90);
            fputs(line, f);
        }
        fclose(f);
        check_bounded(path, ROWS);
        unlink(path);
    }
}

TEST(memory_is_bounded_for_pipes)
{
    enum { ROWS = 400000 };
    char  *text = malloc(ROWS * 16), *at = text;
    size_t rows;
    at += sprintf(at, "a,b\n");
    for (size_t i = 0; i < ROWS; i++) at += sprintf(at, "%zu,2.125\n", i);
    cr_ctx_set_memory_limit(cx, 4000000);
    assert_true(at - text > 4000000);
    assert_ok(cx, stream_pipe(cx, "big", text, NULL, 5000, &rows));
    assert_int_equal(rows, ROWS);
    free(text);
}

static cr_status stream_small(cr_ctx *cx, void *arg)
{
    const char    **a = arg;
    cr_read_options o = { 0 };
    cri_source     *source = NULL;
    cr_stream      *s = NULL;
    cr_table       *t = NULL;
    cr_status       st = CR_OK;
    CR_TRY(cr_options_init(cx, cr_read_table, &o));
    CR_TRY(cr_options_set(cx, cr_read_table, &o, "category", a[2]));
    CR_TRY(cri_source_open_bytes(cx, a[0], a[1], strlen(a[1]), &source));
    CR_TRY(cri_stream_open_source(cx, a[0], source, &o, (cri_block_size){ 2, 0 }, &s));
    do {
        cr_table_free(cx, t);
        t = NULL;
        CR_TRY(cr_stream_next(cx, s, &t));
    } while (t);
done:
    cr_table_free(cx, t);
    cr_stream_free(cx, s);
    cr_options_free(cx, cr_read_table, &o);
    return st;
}

TEST(allocations_fail)
{
    const char *csv[] = { "a.csv", "a,b\n1,x\n2,y\n3,x\n", "a" };
    const char *svm[] = { "a.svm", "1 1:1\n2 2:1\n3\n", "y" };
    test_every_allocation_fails(stream_small, csv);
    test_every_allocation_fails(stream_small, svm);
}
