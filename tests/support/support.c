/* support.c -- numeric checks, the sweep of failing allocations, and files. */
#include "support.h"

#include <execinfo.h>
#include <ftw.h>
#include <pthread.h>
#include <unistd.h>

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

size_t simulation_size(size_t few, size_t all)
{
#ifdef __SANITIZE_ADDRESS__
    const char *wish = getenv("CREDENCE_REPEATS");
    return wish && strcmp(wish, "all") == 0 ? all : few;
#else
    (void)few;
    return all;
#endif
}

/* --- allocations that fail ------------------------------------------------------------------- */

enum { MOST_ALLOCATIONS = 200000, FRAMES = 8, OWN_FRAMES = 2 };

/* The place of every allocation of a run, as a hash of the frames that led to it. */
typedef struct trace {
    pthread_mutex_t lock;
    size_t          n;
    uint64_t        place[MOST_ALLOCATIONS];
} trace;

static void *traced_resize(void *user, void *old, size_t old_size, size_t new_size)
{
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    trace   *t = user;
    void    *frames[FRAMES + OWN_FRAMES];
    int      depth = backtrace(frames, FRAMES + OWN_FRAMES);
    uint64_t hash = 14695981039346656037u;
    for (int k = OWN_FRAMES; k < depth; k++) hash = (hash ^ (uintptr_t)frames[k]) * 1099511628211u;
    pthread_mutex_lock(&t->lock);
    if (t->n < MOST_ALLOCATIONS) t->place[t->n++] = hash;
    pthread_mutex_unlock(&t->lock);
    return realloc(old, new_size);
}

/* Runs the body once as it is and takes down where it allocates. */
static void follow(cr_status (*body)(cr_ctx *cx, void *arg), void *arg, trace *t)
{
    cr_ctx *cx = NULL;
    t->n = 0;
    pthread_mutex_init(&t->lock, NULL);
    assert_int_equal(cr_ctx_new(&(cr_allocator){ traced_resize, t }, &cx), CR_OK);
    t->n = 0; /* the context itself */
    cr_status st = body(cx, arg);
    if (st != CR_OK) fail_msg("the call fails with all its memory: %s", cr_error(cx));
    assert_int_equal(cr_ctx_memory(cx), 0);
    cr_ctx_free(cx);
    pthread_mutex_destroy(&t->lock);
}

/* The body with allocation `nth` failing; CR_OK where it can do without it or never comes to it. */
static cr_status run_short_of_memory(cr_status (*body)(cr_ctx *cx, void *arg), void *arg,
                                     uint64_t nth)
{
    cr_ctx *cx = NULL;
    assert_int_equal(cr_ctx_new(NULL, &cx), CR_OK);
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
    return st;
}

/* Whether allocation i is the first, or the last, of its place. */
static bool is_first(const trace *t, size_t i)
{
    for (size_t j = i; j-- > 0;)
        if (t->place[j] == t->place[i]) return false;
    return true;
}

static bool is_last(const trace *t, size_t i)
{
    for (size_t j = i + 1; j < t->n; j++)
        if (t->place[j] == t->place[i]) return false;
    return true;
}

static int compare_places(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool is_known(const test_call_sites *known, uint64_t place)
{
    return known->n > 0 && bsearch(&place, known->place, known->n, sizeof place, compare_places);
}

/* Adds the places of a run; the list stays sorted. */
static void learn_places(test_call_sites *known, const trace *t)
{
    size_t old = known->n;
    if (t->n == 0) return;
    known->place = realloc(known->place, (old + t->n) * sizeof *known->place);
    assert_non_null(known->place);
    for (size_t i = 0; i < t->n; i++) {
        test_call_sites before = { known->place, old };
        if (!is_known(&before, t->place[i]) && is_first(t, i))
            known->place[known->n++] = t->place[i];
    }
    qsort(known->place, known->n, sizeof *known->place, compare_places);
}

void test_new_allocations_fail(test_call_sites *known, cr_status (*body)(cr_ctx *cx, void *arg),
                               void            *arg)
{
    const char *wish = getenv("CREDENCE_ALLOCATIONS");
    bool        all = wish && strcmp(wish, "all") == 0;
    trace      *t = malloc(sizeof *t);
    size_t      tried = 0, failed = 0;
    assert_non_null(t);
    follow(body, arg, t);
    assert_true(t->n < MOST_ALLOCATIONS);
    for (size_t i = 0; i < t->n; i++) {
        if (!all && (is_known(known, t->place[i]) || !(is_first(t, i) || is_last(t, i)))) continue;
        failed += run_short_of_memory(body, arg, i + 1) != CR_OK;
        tried++;
    }
    /* Somewhere it cannot do without; a place or two that are new by the chance of threads may be of a cache. */
    assert_true(failed > 0 || tried <= 2);
    learn_places(known, t);
    free(t);
}

void test_every_allocation_fails(cr_status (*body)(cr_ctx *cx, void *arg), void *arg)
{
    test_call_sites none = { 0 };
    test_new_allocations_fail(&none, body, arg);
    assert_true(none.n > 0);
    test_call_sites_free(&none);
}

void test_call_sites_free(test_call_sites *known)
{
    free(known->place);
    *known = (test_call_sites){ 0 };
}

/* --- files ----------------------------------------------------------------------------------- */

const char *test_data(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "tests/data/%s", name);
    if (access(path, R_OK) != 0) fail_msg("there is no %s", path);
    return path;
}

const char *test_extra_data(const char *name)
{
    static char path[512];
    const char *folder = getenv("CREDENCE_EXTRA_DATA");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "../shared/data", name);
    if (access(path, R_OK) != 0) test_skip(folder ? "without extra data" : "no ../shared/data");
    return path;
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

/* --- text ------------------------------------------------------------------------------------ */

text_buffer text_new(size_t capacity)
{
    text_buffer t = { .at = malloc(capacity), .capacity = capacity };
    assert_non_null(t.at);
    return t;
}

void text_put(text_buffer *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    t->used += (size_t)vsnprintf(t->at + t->used, t->capacity - t->used, format, list);
    va_end(list);
    assert_true(t->used < t->capacity);
}
