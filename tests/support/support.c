/* support.c -- the test harness. */
#include "support.h"

#include <ftw.h>
#include <unistd.h>

cr_ctx *test_context(void)
{
    cr_ctx *cx = NULL;
    assert_int_equal(cr_ctx_new(NULL, &cx), CR_OK);
    return cx;
}

void test_context_free(cr_ctx *cx)
{
    size_t left = cr_ctx_memory(cx);
    cr_ctx_free(cx);
    assert_int_equal(left, 0);
}

void check_close(double a, double b, double tolerance, double floor, const char *what,
                 const char *file, int line)
{
    double scale = fabs(b) > floor ? fabs(b) : floor;
    bool   same = a == b || (isnan(a) && isnan(b));
    if (same || fabs(a - b) <= tolerance * scale) return;
    print_error("%s: got %.17g, expected %.17g, off by %.3g (tolerance %.3g)\n", what, a, b,
                fabs(a - b) / scale, tolerance);
    _fail(file, line);
}

void check_status(cr_ctx *cx, cr_status got, cr_status wanted, const char *text, const char *what,
                  const char *file, int line)
{
    bool right = got == wanted && (!text || strstr(cr_error(cx), text));
    if (right) return;
    print_error("%s: status %d, expected %d%s%s; the sentence is: %s\n", what, (int)got,
                (int)wanted, text ? " with " : "", text ? text : "", cr_error(cx));
    _fail(file, line);
}

void test_every_allocation_fails(cr_status (*body)(cr_ctx *cx, void *arg), void *arg)
{
    enum { MOST = 20000 };
    for (uint64_t nth = 1; nth < MOST; nth++) {
        cr_ctx *cx = test_context();
        cr_ctx_fail_allocation(cx, nth);
        cr_status st = body(cx, arg);
        cr_ctx_fail_allocation(cx, 0);
        size_t left = cr_ctx_memory(cx);
        if (st != CR_OK && st != CR_ENOMEM)
            fail_msg("allocation %d fails: status %d: %s", (int)nth, (int)st, cr_error(cx));
        bool silent = st == CR_ENOMEM && cr_error(cx)[0] == '\0';
        cr_ctx_free(cx);
        if (left) fail_msg("allocation %d fails: %zu bytes leak", (int)nth, left);
        if (silent) fail_msg("allocation %d fails without a sentence", (int)nth);
        if (st == CR_OK) return;
    }
    fail_msg("the call still fails after %d allocations", MOST);
}

const char *test_shared_data(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "../shared/data/%s", name);
    return access(path, R_OK) == 0 ? path : NULL;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path);
}

static char directory[64];

static void remove_directory(void) { nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

const char *test_directory(void)
{
    if (!directory[0]) {
        snprintf(directory, sizeof directory, "/tmp/credence-test-XXXXXX");
        assert_non_null(mkdtemp(directory));
        atexit(remove_directory);
    }
    return directory;
}

const char *test_file(const char *name, const void *bytes, size_t size)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", test_directory(), name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    return path;
}
