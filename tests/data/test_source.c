/* test_source.c -- files, pipes, memory, gzip and zstd: the same bytes by every road, twice. */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include "support.h"
#include "data/csv/csv.h"
#include "data/bytes/source.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { SIZE = 700000 };

static char text[SIZE];

/* Bytes that compress a little, the same ones every time. */
__attribute__((constructor)) static void fill_text(void)
{
    uint32_t x = 12345;
    for (size_t i = 0; i < SIZE; i++) {
        x = x * 1664525 + 1013904223;
        text[i] = i % 64 == 63 ? '\n' : (char)('0' + (x >> 24) % 10);
    }
}

static size_t gzip(const char *bytes, size_t size, unsigned char *out, size_t capacity)
{
    z_stream z = { .next_in = (unsigned char *)(uintptr_t)bytes,
                   .avail_in = (unsigned)size,
                   .next_out = out,
                   .avail_out = (unsigned)capacity };
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

/* Reads all in steps, peeking now and then, and compares with the text. */
static void check_all(cr_ctx *cx, cri_source *s, size_t step)
{
    static char out[SIZE + 1];
    size_t      n = 0, got = 1, size = 0;
    const char *seen;
    for (int k = 0; got > 0; k++) {
        if (k % 3 == 0 && k < 30) {
            assert_ok(cx, cri_source_peek(s, 1000 + (size_t)k, &seen, &size));
            assert_int_equal(size, SIZE - n < 1000 + (size_t)k ? SIZE - n : 1000 + (size_t)k);
            assert_memory_equal(seen, text + n, size);
        }
        size_t space = SIZE + 1 - n < step ? SIZE + 1 - n : step;
        assert_ok(cx, cri_source_read(s, out + n, space, &got));
        if (got < space) assert_int_equal(n + got, SIZE); /* short only at the end */
        n += got;
        if (space == 0) break;
    }
    assert_int_equal(n, SIZE);
    assert_memory_equal(out, text, SIZE);
}

static void check_twice(cr_ctx *cx, cri_source *s, size_t step)
{
    char   part[100];
    size_t got;
    check_all(cx, s, step);
    assert_ok(cx, cri_source_rewind(s));
    assert_ok(cx, cri_source_read(s, part, sizeof part, &got));
    assert_ok(cx, cri_source_rewind(s)); /* also from the middle */
    check_all(cx, s, step + 1);
}

static void check_bytes(const void *bytes, size_t size)
{
    cr_ctx *cx = test_context();
    for (size_t step = 1000; step <= SIZE + 1; step = step * 20 + 77) {
        cri_source *s = NULL;
        assert_ok(cx, cri_source_open_bytes(cx, "bytes", bytes, size, &s));
        check_twice(cx, s, step);
        cri_source_close(s);
        assert_ok(cx, cri_source_open(cx, test_file("data", bytes, size), &s));
        check_twice(cx, s, step);
        cri_source_close(s);
    }
    test_context_free(cx);
}

static unsigned char packed[2 * SIZE];

TEST(plain) { check_bytes(text, SIZE); }

TEST(gzip_members)
{
    size_t n = gzip(text, SIZE, packed, sizeof packed);
    check_bytes(packed, n);
    n = gzip(text, 1000, packed, sizeof packed); /* three members, one of them empty, then zeros */
    n += gzip(text + 1000, 0, packed + n, sizeof packed - n);
    n += gzip(text + 1000, SIZE - 1000, packed + n, sizeof packed - n);
    memset(packed + n, 0, 512);
    check_bytes(packed, n);
    check_bytes(packed, n + 512);
}

TEST(zstd_frames)
{
    size_t n = ZSTD_compress(packed, sizeof packed, text, SIZE, 3);
    check_bytes(packed, n);
    n = ZSTD_compress(packed, sizeof packed, text, 300000, 3);
    n += ZSTD_compress(packed + n, sizeof packed - n, text + 300000, SIZE - 300000, 3);
    check_bytes(packed, n);
}

/* Reads to the end or the first failure. */
static cr_status drain(cr_ctx *cx, const void *bytes, size_t size)
{
    static char out[1 << 16];
    cri_source *s = NULL;
    size_t      got = 1;
    cr_status   st = cri_source_open_bytes(cx, "x.gz", bytes, size, &s);
    while (st == CR_OK && got > 0) st = cri_source_read(s, out, sizeof out, &got);
    cri_source_close(s);
    return st;
}

TEST(damaged)
{
    size_t n = gzip(text, SIZE, packed, sizeof packed);
    for (size_t cut = 4; cut < n; cut += 1 + n / 50)
        assert_fails_with(cx, drain(cx, packed, cut), CR_EDATA, "x.gz: the gzip data are cut off");
    assert_fails_with(cx, drain(cx, packed, n - 1), CR_EDATA, "x.gz: the gzip data are cut off");
    packed[n] = 'x';
    assert_fails_with(cx, drain(cx, packed, n + 1), CR_EDATA, "other bytes after the gzip data");
    packed[n / 2] ^= 4;
    assert_fails_with(cx, drain(cx, packed, n), CR_EDATA, "x.gz: the gzip data are damaged");

    n = ZSTD_compress(packed, sizeof packed, text, SIZE, 3);
    for (size_t cut = 4; cut < n; cut += 1 + n / 50)
        assert_fails_with(cx, drain(cx, packed, cut), CR_EDATA, "x.gz: the zstd data are cut off");
    assert_fails_with(cx, drain(cx, packed, n - 1), CR_EDATA, "x.gz: the zstd data are cut off");
    packed[4] ^= 8;
    packed[20] ^= 0xff;
    assert_fails_with(cx, drain(cx, packed, n), CR_EDATA, "zstd data are damaged");
}

TEST(small_and_empty)
{
    assert_ok(cx, drain(cx, "", 0));
    assert_ok(cx, drain(cx, "\x1f\x8b", 2)); /* too short to be gzip */
    cri_source *s = NULL;
    const char *seen;
    size_t      size = 99;
    assert_ok(cx, cri_source_open(cx, test_file("empty", "", 0), &s));
    assert_ok(cx, cri_source_peek(s, 10, &seen, &size));
    assert_int_equal(size, 0);
    assert_int_equal(cri_source_size(s), 0);
    cri_source_close(s);
}

TEST(cannot_open)
{
    cri_source *s = NULL;
    assert_fails_with(cx, cri_source_open(cx, "/nowhere/x.csv", &s), CR_EIO,
                      "cannot open /nowhere/x.csv: No such file or directory");
    assert_fails_with(cx, cri_source_open(cx, test_directory(), &s), CR_EIO, "it is a directory");
    assert_null(s);
}

/* Standard input: a file is sought, a pipe is kept. */
TEST(standard_input)
{
    int saved = dup(STDIN_FILENO), ends[2];
    for (int piped = 0; piped < 2; piped++) {
        int fd = -1;
        if (piped) {
            assert_int_equal(pipe(ends), 0);
            fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
            assert_int_equal(write(ends[1], text, SIZE), SIZE);
            close(ends[1]);
            fd = ends[0];
        } else {
            fd = open(test_file("in", text, SIZE), O_RDONLY);
        }
        dup2(fd, STDIN_FILENO);
        close(fd);
        cri_source *s = NULL;
        assert_ok(cx, cri_source_open(cx, "-", &s));
        assert_string_equal(cri_source_name(s), "stdin");
        assert_int_equal(cri_source_size(s), piped ? 0 : SIZE);
        check_twice(cx, s, 50000);
        cri_source_close(s);
    }
    dup2(saved, STDIN_FILENO);
    close(saved);
}

/* Whole lines as soon as they are there, and neither more nor less. */
TEST(lines_ahead)
{
    cri_source  *s = NULL;
    const char  *bytes = NULL, lines[] = "one\ntwo\n\nfour";
    size_t       size = 0;
    char         got[8];
    const size_t ends[] = { 0, 4, 8, 9, 13, 13 };
    assert_ok(cx, cri_source_open_bytes(cx, "lines", lines, sizeof lines - 1, &s));
    for (size_t n = 5; n > 0; n--) {
        assert_ok(cx, cri_source_peek_lines(s, n, 100, &bytes, &size));
        assert_int_equal(size, ends[n]);
        assert_memory_equal(bytes, lines, size);
    }
    assert_ok(cx, cri_source_peek_lines(s, 3, 6, &bytes, &size)); /* no more than this */
    assert_int_equal(size, 6);
    assert_ok(cx, cri_source_read(s, got, 4, &size)); /* nothing was taken */
    assert_memory_equal(got, "one\n", 4);
    assert_ok(cx, cri_source_peek_lines(s, 1, 100, &bytes, &size));
    assert_int_equal(size, 4);
    assert_memory_equal(bytes, "two\n", 4);
    cri_source_close(s);
}

static cr_status read_packed(cr_ctx *cx, void *arg)
{
    const size_t         *size = arg;
    cri_source           *s = NULL;
    cr_table             *t = NULL;
    const char           *path = test_file("packed", packed, *size);
    const cr_read_options o = { 0 };
    cr_ctx_set_threads(cx, 1);
    cr_status st = cri_source_open(cx, path, &s);
    if (st == CR_OK) st = cri_csv_read(cx, s, &o, &t);
    if (st == CR_OK) assert_int_equal(cr_table_rows(t), 2);
    cr_table_free(cx, t);
    cri_source_close(s);
    return st;
}

TEST(packed_csv_and_allocations)
{
    const char *csv = "a,b\n1,x\n2,y\n";
    size_t      n = gzip(csv, strlen(csv), packed, sizeof packed);
    test_every_allocation_fails(read_packed, &n);
    n = ZSTD_compress(packed, sizeof packed, csv, strlen(csv), 3);
    test_every_allocation_fails(read_packed, &n);
}

/* 700 MB of zeros from 700 kB are not read without a memory limit, and are with one. */
TEST(expansion)
{
    enum { MEMBERS = 1000, CAPACITY = 1000000 };
    cri_source    *s = NULL;
    static char    zeros[SIZE], out[1 << 20];
    unsigned char *bytes = malloc(CAPACITY), *end = bytes;
    size_t         size = gzip(zeros, SIZE, bytes, CAPACITY), got = 1, all = 0;
    assert_true(size * MEMBERS <= CAPACITY);
    for (int i = 0; i < MEMBERS; i++, end += size) memmove(end, bytes, size);
    cr_status st = cri_source_open_bytes(cx, "z.gz", bytes, size * MEMBERS, &s);
    while (st == CR_OK && got > 0) st = cri_source_read(s, out, sizeof out, &got);
    assert_fails_with(cx, st, CR_ENOMEM, "made to fill the memory");
    cr_ctx_set_memory_limit(cx, 10000000);
    assert_ok(cx, cri_source_rewind(s));
    for (got = 1; got > 0; all += got) assert_ok(cx, cri_source_read(s, out, sizeof out, &got));
    assert_int_equal(all, (size_t)SIZE * MEMBERS);
    cri_source_close(s);
    free(bytes);
}

/* A zstd frame whose window does not fit into the memory limit. */
TEST(zstd_window)
{
    cri_source *s = NULL;
    size_t      capacity = ZSTD_compressBound(SIZE), got = 0;
    char       *bytes = malloc(capacity), out[100];
    ZSTD_CCtx  *z = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, 24);
    ZSTD_CCtx_setParameter(z, ZSTD_c_contentSizeFlag, 0);
    ZSTD_inBuffer  from = { text, SIZE, 0 };
    ZSTD_outBuffer to = { bytes, capacity, 0 };
    assert_int_equal(ZSTD_compressStream2(z, &to, &from, ZSTD_e_flush) != 0, 0);
    assert_int_equal(ZSTD_compressStream2(z, &to, &from, ZSTD_e_end), 0);
    ZSTD_freeCCtx(z);
    cr_ctx_set_memory_limit(cx, 8000000);
    assert_ok(cx, cri_source_open_bytes(cx, "t.zst", bytes, to.pos, &s));
    assert_fails_with(cx, cri_source_read(s, out, sizeof out, &got), CR_ENOMEM, "window");
    cri_source_close(s);
    cr_ctx_set_memory_limit(cx, 80000000);
    assert_ok(cx, cri_source_open_bytes(cx, "t.zst", bytes, to.pos, &s));
    assert_ok(cx, cri_source_read(s, out, sizeof out, &got));
    cri_source_close(s);
    free(bytes);
}
