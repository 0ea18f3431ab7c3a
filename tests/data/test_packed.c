/* Files compressed by their names: what is read back, by the reader of everything and by zlib. */
#include "support.h"

#include "base/file.h"
#include "base/rng.h"
#include "data/bytes/packed.h"
#include "data/bytes/source.h"

#include <zlib.h>

static const char *path_of(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", test_directory(), name);
    return path;
}

/* Half of it repeats itself, half does not. */
static char *some_bytes(size_t n)
{
    char  *bytes = malloc(n + 1);
    cr_rng r = cr_rng_stream(5, 0);
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)(i % 2000 < 1000 ? 'a' + (int)(i % 7) : (int)cr_rng_below(&r, 256));
    return bytes;
}

/* In pieces of this size. */
static void write_file(cr_ctx *cx, const char *path, const char *bytes, size_t n, size_t piece)
{
    cri_packed *p = NULL;
    assert_ok(cx, cri_packed_create(cx, path, &p));
    for (size_t at = 0; at < n; at += piece)
        assert_ok(cx, cri_packed_write(p, bytes + at, n - at < piece ? n - at : piece));
    assert_ok(cx, cri_packed_commit(p));
}

static void assert_reads_back(cr_ctx *cx, const char *path, const char *bytes, size_t n)
{
    cri_source *source = NULL;
    cri_block   got = { 0 };
    assert_ok(cx, cri_source_open(cx, path, &source));
    assert_ok(cx, cri_source_load(cx, source, &got));
    assert_int_equal(got.size, n);
    if (n > 0) assert_memory_equal(got.bytes, bytes, n);
    cr_free(cx, got.bytes, got.capacity, 1);
    cri_source_close(source);
}

TEST(all_sizes_read_back)
{
    static const size_t      SIZES[] = { 0, 1, 65535, 65536, 65537, 300000 };
    static const char *const NAMES[] = { "x", "x.gz", "x.zst" };
    char                    *bytes = some_bytes(300000);
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 3; k++)
            for (size_t piece = 70001; piece > 100; piece /= 300) {
                write_file(cx, path_of(NAMES[k]), bytes, SIZES[i], piece);
                assert_reads_back(cx, path_of(NAMES[k]), bytes, SIZES[i]);
            }
    free(bytes);
}

TEST(it_is_gzip_and_the_same_each_time)
{
    char  *bytes = some_bytes(100000), *back = malloc(100001), *a, *b;
    size_t n_a, n_b;
    assert_non_null(back);
    write_file(cx, path_of("y.gz"), bytes, 100000, 100000);
    assert_ok(cx, cri_file_load(cx, path_of("y.gz"), 0, &a, &n_a));
    assert_true(n_a < 80000); /* half of it cannot be made smaller */
    gzFile f = gzopen(path_of("y.gz"), "rb");
    assert_non_null(f);
    assert_int_equal(gzread(f, back, 100001), 100000);
    assert_memory_equal(back, bytes, 100000);
    gzclose(f);
    write_file(cx, path_of("y.gz"), bytes, 100000, 100000);
    assert_ok(cx, cri_file_load(cx, path_of("y.gz"), 0, &b, &n_b));
    assert_int_equal(n_a, n_b);
    assert_memory_equal(a, b, n_a);
    cr_free(cx, a, n_a, 1);
    cr_free(cx, b, n_b, 1);
    free(bytes);
    free(back);
}

TEST(giving_up_leaves_the_old_file)
{
    cri_packed *p = NULL;
    write_file(cx, path_of("z.zst"), "old", 3, 3);
    assert_ok(cx, cri_packed_create(cx, path_of("z.zst"), &p));
    assert_ok(cx, cri_packed_write(p, "new", 3));
    cri_packed_abandon(p);
    cri_packed_abandon(NULL);
    assert_reads_back(cx, path_of("z.zst"), "old", 3);
    assert_fails(cx, cri_packed_create(cx, "/nowhere/at/all.gz", &p), CR_EIO);
    assert_true(cri_is_packed_name("a.gz") && cri_is_packed_name("a.b.zst"));
    assert_false(cri_is_packed_name("agz") || cri_is_packed_name(".gz") ||
                 cri_is_packed_name("a.gz.b"));
}

static cr_status write_once(cr_ctx *cx, void *path)
{
    cri_packed *p = NULL;
    cr_status   st = cri_packed_create(cx, path, &p);
    if (st != CR_OK) return st;
    st = cri_packed_write(p, "some bytes", 10);
    if (st == CR_OK) return cri_packed_commit(p);
    cri_packed_abandon(p);
    return st;
}

TEST(allocations_may_fail)
{
    test_every_allocation_fails(write_once, (void *)(uintptr_t)path_of("w.gz"));
    test_every_allocation_fails(write_once, (void *)(uintptr_t)path_of("w.zst"));
}
