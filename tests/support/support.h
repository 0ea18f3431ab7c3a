/* support.h -- what every test includes: cmocka, the fixture, numeric checks, data, and the sweep of
 * failing allocations.
 *
 *     TEST(row_order_does_not_matter)
 *     {
 *         cr_table *t = make_table(cx, ...);            (what helpers make is the fixture's)
 *         assert_ok(cx, ...);
 *     }
 *
 * is a whole test: it registers itself, and cx is a context of its own.  When the body ends, what
 * the fixture owns is released and every context must have given back all its memory.  All files of
 * a folder make one program; `PROGRAM test_ridge` runs one file, `PROGRAM test_ridge one_row` the
 * tests of it whose names contain "one_row". */
#ifndef CREDENCE_TEST_SUPPORT_H
#define CREDENCE_TEST_SUPPORT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"

/* --- tests ----------------------------------------------------------------------------------- */

typedef struct test_case {
    const char *file, *name;
    int         line;
    void (*body)(cr_ctx *cx);
    struct test_case *next;
} test_case;

void test_register(test_case *one);

#define TEST(title)                                                                                \
    static void                              test_##title(cr_ctx *cx);                             \
    __attribute__((constructor)) static void enlist_test_##title(void)                             \
    {                                                                                              \
        static test_case self_##title = { __FILE__, #title, __LINE__, test_##title, NULL };        \
        test_register(&self_##title);                                                              \
    }                                                                                              \
    static void test_##title(__attribute__((unused)) cr_ctx *cx)

/* Ends the test as skipped, for this reason; what the fixture does not own must be free by then. */
void test_skip(const char *reason);

/* --- the fixture ----------------------------------------------------------------------------- */

/* One more context.  Freeing it releases what is owned in it and checks that nothing leaked; those
 * that are not freed are at the end of the test. */
cr_ctx *test_context(void);
void    test_context_free(cr_ctx *cx);

/* Gives the object to the fixture: release(cx, object) is called when cx is freed, the last one
 * given first.  The second form is for a struct by value: it keeps a copy, known by `key`, a pointer
 * inside that no other object has. */
void test_own(cr_ctx *cx, void *object, void (*release)(cr_ctx *cx, void *object));
void test_own_copy(cr_ctx *cx, const void *object, size_t size, const void *key,
                   void (*release)(cr_ctx *cx, void *object));
/* Releases an object before its time, for example to show that nothing made of it needs it; whether
 * the fixture owns it (under this key) or not. */
void test_give_back(cr_ctx *cx, const void *key, void *object,
                    void (*release)(cr_ctx *cx, void *object));

/* --- checks ---------------------------------------------------------------------------------- */

/* |a - b| <= tolerance * max(1, |b|) -- or relative only; fails with both numbers and the place. */
#define assert_close(a, b, tolerance)                                                              \
    check_close((a), (b), (tolerance), 1, #a " ~ " #b, __FILE__, __LINE__)
#define assert_relative(a, b, tolerance)                                                           \
    check_close((a), (b), (tolerance), 0, #a " ~ " #b, __FILE__, __LINE__)
void check_close(double a, double b, double tolerance, double floor, const char *what,
                 const char *file, int line);

/* The call succeeds; if not, prints the context's sentence.  The call fails with this status. */
#define assert_ok(cx, call) check_status((cx), (call), CR_OK, NULL, #call, __FILE__, __LINE__)
#define assert_fails(cx, call, status)                                                             \
    check_status((cx), (call), (status), NULL, #call, __FILE__, __LINE__)
/* ... with this status and a sentence that contains `text`. */
#define assert_fails_with(cx, call, status, text)                                                  \
    check_status((cx), (call), (status), (text), #call, __FILE__, __LINE__)
void check_status(cr_ctx *cx, cr_status got, cr_status wanted, const char *text, const char *what,
                  const char *file, int line);

/* --- simulations ----------------------------------------------------------------------------- */

/* How often a simulation is repeated: `all` times, or, under sanitizers, which have seen the code after a
 * few, `few` times; there `all` times too when CREDENCE_REPEATS=all. */
size_t simulation_size(size_t few, size_t all);

/* --- allocations that fail ------------------------------------------------------------------- */

/* Runs body(cx, arg) with allocations failing: of each place in the code that allocates (the last
 * frames of the stack tell places apart) the first and the last time it does, or every single one
 * when CREDENCE_ALLOCATIONS=all.  Each run must end with CR_ENOMEM and a sentence, or with CR_OK if
 * it can do without, and leave no memory behind. */
void test_every_allocation_fails(cr_status (*body)(cr_ctx *cx, void *arg), void *arg);

/* The same for bodies that share code: a place that an earlier one has come by does not fail again.
 * The list starts empty. */
typedef struct test_call_sites {
    uint64_t *place;
    size_t    n;
} test_call_sites;
void test_new_allocations_fail(test_call_sites *known, cr_status (*body)(cr_ctx *cx, void *arg),
                               void            *arg);
void test_call_sites_free(test_call_sites *known);

/* --- text ------------------------------------------------------------------------------------ */

/* Text that grows by what is put at its end; `at` has room for `capacity` bytes, and is freed by
 * free(). Putting more than fits is a failure of the test. */
typedef struct text_buffer {
    char  *at;
    size_t used, capacity;
} text_buffer;
text_buffer text_new(size_t capacity);
void        text_put(text_buffer *t, const char *format, ...) CR_PRINTF(2, 3);

/* --- files ----------------------------------------------------------------------------------- */

/* The path of a file of reference data under tests/data.  Larger sets do not ship with the project:
 * they are looked for under CREDENCE_EXTRA_DATA (../shared/data unless set), and the test is skipped
 * where they are not there.  In a static buffer. */
const char *test_data(const char *name);
const char *test_extra_data(const char *name);

/* A fresh directory for the test's files (static buffer), and a file in it with these bytes. */
const char *test_directory(void);
const char *test_file(const char *name, const void *bytes, size_t size);

#endif
