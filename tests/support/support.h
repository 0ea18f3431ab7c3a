/* support.h -- what every test includes: cmocka, numeric checks, and the sweep of failing
 * allocations. */
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

/* A context whose failures are the test's; freeing it checks that nothing leaked. */
cr_ctx *test_context(void);
void    test_context_free(cr_ctx *cx);

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

/* Runs body(cx, arg) with the 1st, 2nd, ... allocation failing until it succeeds.  Each failing run
 * must return CR_ENOMEM, and leave no memory behind. */
void test_every_allocation_fails(cr_status (*body)(cr_ctx *cx, void *arg), void *arg);

/* The path of a file under ../shared/data, or NULL when that tree is not there. */
const char *test_shared_data(const char *name);

/* A fresh directory for the test's files (static buffer), and a file in it with these bytes. */
const char *test_directory(void);
const char *test_file(const char *name, const void *bytes, size_t size);

#endif
