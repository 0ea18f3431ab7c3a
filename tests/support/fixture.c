/* fixture.c -- registers tests, runs them with a context of their own, and releases what they own. */
#include "support.h"

enum { MOST_CONTEXTS = 64 };

typedef struct owned {
    const void *key;
    void       *object;
    void (*release)(cr_ctx *cx, void *object);
    bool          copied;
    struct owned *next;
} owned;

static struct {
    cr_ctx *cx;
    owned  *first; /* the last one given */
} contexts[MOST_CONTEXTS];

static test_case *cases;
static bool       skipping;

/* --- what is owned --------------------------------------------------------------------------- */

cr_ctx *test_context(void)
{
    for (size_t k = 0; k < MOST_CONTEXTS; k++) {
        if (contexts[k].cx) continue;
        assert_int_equal(cr_ctx_new(NULL, &contexts[k].cx), CR_OK);
        return contexts[k].cx;
    }
    fail_msg("more than %d contexts at once", MOST_CONTEXTS);
    return NULL;
}

static size_t place_of(const cr_ctx *cx)
{
    size_t k = 0;
    while (k < MOST_CONTEXTS && contexts[k].cx != cx) k++;
    return k;
}

static void release_one(cr_ctx *cx, owned *o)
{
    o->release(cx, o->object);
    if (o->copied) free(o->object);
    free(o);
}

void test_give_back(cr_ctx *cx, const void *key, void *object,
                    void (*release)(cr_ctx *cx, void *object))
{
    size_t  k = place_of(cx);
    owned **at = k < MOST_CONTEXTS && key ? &contexts[k].first : NULL;
    while (at && *at && (*at)->key != key) at = &(*at)->next;
    if (at && *at) {
        owned *o = *at;
        *at = o->next;
        if (o->copied) free(o->object);
        free(o);
    }
    release(cx, object);
}

/* Releases all that is owned in a context, and the context; the bytes that were still in use. */
static size_t release_all(size_t k)
{
    cr_ctx *cx = contexts[k].cx;
    cr_interrupt_clear(cx);
    while (contexts[k].first) {
        owned *o = contexts[k].first;
        contexts[k].first = o->next;
        release_one(cx, o);
    }
    size_t left = cr_ctx_memory(cx);
    contexts[k].cx = NULL;
    cr_ctx_free(cx);
    return left;
}

void test_context_free(cr_ctx *cx)
{
    size_t k = place_of(cx);
    assert_true(k < MOST_CONTEXTS);
    assert_int_equal(release_all(k), 0);
}

static void keep(cr_ctx *cx, owned what)
{
    size_t k = place_of(cx);
    owned *o = malloc(sizeof *o);
    assert_true(k < MOST_CONTEXTS && o);
    what.next = contexts[k].first;
    *o = what;
    contexts[k].first = o;
}

void test_own(cr_ctx *cx, void *object, void (*release)(cr_ctx *cx, void *object))
{
    keep(cx, (owned){ object, object, release, false, NULL });
}

void test_own_copy(cr_ctx *cx, const void *object, size_t size, const void *key,
                   void (*release)(cr_ctx *cx, void *object))
{
    void *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, object, size);
    keep(cx, (owned){ key, copy, release, true, NULL });
}

/* --- one test -------------------------------------------------------------------------------- */

static void run_case(void **state)
{
    const test_case *one = *state;
    one->body(test_context());
    for (size_t k = 0; k < MOST_CONTEXTS; k++)
        if (contexts[k].cx) test_context_free(contexts[k].cx);
}

/* After a skip all is released; after a failure the contexts are forgotten as they stand, because a
 * call into the library may have been cut short. */
static int finish_case(void **state)
{
    (void)state;
    for (size_t k = 0; k < MOST_CONTEXTS; k++) {
        if (contexts[k].cx && skipping) release_all(k);
        contexts[k].cx = NULL, contexts[k].first = NULL;
    }
    skipping = false;
    return 0;
}

void test_skip(const char *reason)
{
    print_message("skipped: %s\n", reason);
    skipping = true;
    skip();
}

/* --- the program ----------------------------------------------------------------------------- */

/* By file, then by line. */
static bool comes_before(const test_case *a, const test_case *b)
{
    int order = strcmp(a->file, b->file);
    return order < 0 || (order == 0 && a->line < b->line);
}

void test_register(test_case *one)
{
    test_case **at = &cases;
    while (*at && comes_before(*at, one)) at = &(*at)->next;
    one->next = *at, *at = one;
}

/* "test_ridge" of a path that ends in /test_ridge.c. */
static bool is_of_file(const test_case *one, const char *stem)
{
    const char *slash = strrchr(one->file, '/'), *name = slash ? slash + 1 : one->file;
    size_t      size = strlen(stem);
    return strncmp(name, stem, size) == 0 && strcmp(name + size, ".c") == 0;
}

int main(int argc, char **argv)
{
    size_t n = 0, most = 0;
    for (const test_case *c = cases; c; c = c->next) most++;
    struct CMUnitTest *chosen = calloc(most + 1, sizeof *chosen);
    if (!chosen) return 1;
    for (test_case *c = cases; c; c = c->next) {
        if (argc > 1 && !is_of_file(c, argv[1])) continue;
        if (argc > 2 && !strstr(c->name, argv[2])) continue;
        chosen[n++] = (struct CMUnitTest){ c->name, run_case, NULL, finish_case, c };
    }
    if (n == 0)
        fprintf(stderr, "no test of %s%s%s here\n", argv[0], argc > 1 ? " " : "",
                argc > 1 ? argv[1] : "");
    int failed = n ? _cmocka_run_group_tests(argc > 1 ? argv[1] : "all", chosen, n, NULL, NULL) : 1;
    free(chosen);
    return failed;
}
