/* memory.c -- where the memory of the program comes from.
 * The library tells of an allocation that fails, and the program of that in a sentence.  What the
 * program allocates itself, a few names and lists, has one answer: it ends at once, with that sentence
 * and without a file half written.
 *
 * In builds for tests CREDENCE_FAIL_ALLOCATION=N makes the Nth allocation fail, of the library, of
 * jansson or of the program itself. */
#include "cli.h"

#include <jansson.h>

#include <stdlib.h>

#ifndef CREDENCE_FAULTS

static bool may_allocate(void) { return true; }
static void plan_failure(void) {}

#else

#include <stdatomic.h>

static atomic_ulong countdown; /* to the allocation that fails; 0: none does */

static bool may_allocate(void)
{
    unsigned long left = atomic_load(&countdown);
    while (left > 0 && !atomic_compare_exchange_weak(&countdown, &left, left - 1)) {}
    return left != 1;
}

static void plan_failure(void)
{
    const char *text = getenv("CREDENCE_FAIL_ALLOCATION");
    if (text) atomic_store(&countdown, strtoul(text, NULL, 10));
}

#endif

static void *resize(void *user, void *old, size_t old_size, size_t new_size)
{
    (void)user;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return new_size > old_size && !may_allocate() ? NULL : realloc(old, new_size);
}

const cr_allocator cli_allocator = { resize, NULL };

void *cli_allocate(size_t size)
{
    void *p = may_allocate() ? malloc(size ? size : 1) : NULL;
    if (!p) cli_end_at_once("credence: error: out of memory\n", CR_ENOMEM);
    return p;
}

void cli_prepare_memory(void)
{
    plan_failure();
    json_set_alloc_funcs(cli_allocate, free);
}
