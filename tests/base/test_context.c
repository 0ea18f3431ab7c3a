/* test_context.c -- allocator accounting, failures in words, nearest names. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "support.h"
#include "base/scratch.h"

#include <sched.h>

TEST(memory_is_counted)
{
    void *p = cr_alloc(cx, 10, 8);
    assert_int_equal(cr_ctx_memory(cx), 80);
    p = cr_resize(cx, p, 10, 20, 8);
    assert_int_equal(cr_ctx_memory(cx), 160);
    p = cr_resize(cx, p, 20, 5, 8);
    assert_int_equal(cr_ctx_memory(cx), 40);
    cr_free(cx, p, 5, 8);
    assert_int_equal(cr_ctx_peak_memory(cx), 160);
}

TEST(limit_refuses)
{
    cr_ctx_set_memory_limit(cx, 100);
    assert_null(cr_alloc(cx, 101, 1));
    assert_int_equal(cr_error_status(cx), CR_ENOMEM);
    assert_non_null(strstr(cr_error(cx), "limit of 100 bytes"));
    assert_null(cr_alloc(cx, SIZE_MAX / 2, 8));
}

static const char *name_of(const void *names, size_t i) { return ((const char *const *)names)[i]; }

TEST(nearest_name)
{
    const char *const names[] = { "id", "price", "area" };
    cr_fail(cx, CR_EDATA, "column '%s' not found", "prise");
    assert_int_equal(cr_fail_nearest(cx, "prise", "columns", 3, name_of, names), CR_EDATA);
    assert_string_equal(cr_error_nearest(cx), "price");
    assert_string_equal(cr_error_hint(cx), "did you mean 'price'?");
    assert_string_equal(cr_error_notes(cx), "columns: id, price, area");
    cr_fail(cx, CR_EDATA, "column 'zzzzzz' not found");
    cr_fail_nearest(cx, "zzzzzz", "columns", 3, name_of, names);
    assert_string_equal(cr_error_nearest(cx), "");
    assert_string_equal(cr_error_hint(cx), "");
}

static cr_status three_blocks(cr_ctx *cx, void *arg)
{
    (void)arg;
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *a = cr_scratch_f64(&s, 3), *b = cr_scratch_matrix(&s, 4, 5);
    size_t    *c = cr_scratch_index(&s, 0);
    CR_TRY(s.status);
    assert_true((uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0 && c != NULL);
    a[2] = b[19] = 1;
done:
    cr_scratch_end(&s);
    return st;
}

TEST(scratch_fails_once_and_frees)
{
    test_every_allocation_fails(three_blocks, NULL);
    cr_scratch s = cr_scratch_begin(cx);
    assert_null(cr_scratch_matrix(&s, SIZE_MAX / 2, 3));
    assert_int_equal(s.status, CR_ENOMEM);
    assert_null(cr_scratch_f64(&s, 1)); /* the first failure sticks */
    cr_scratch_end(&s);
}

TEST(interrupt_and_time_limit)
{
    assert_ok(cx, cr_check_interrupt(cx));
    cr_interrupt(cx);
    assert_fails(cx, cr_check_interrupt(cx), CR_EINTERRUPTED);
    cr_interrupt_clear(cx);
    cr_ctx_set_time_limit(cx, 1e-9);
    assert_fails_with(cx, cr_check_interrupt(cx), CR_ENOMEM, "time limit");
}

/* As many threads as the process may have cores, told once. */
TEST(threads)
{
    cpu_set_t all, one;
    cr_ctx   *bound;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    assert_int_equal(cr_ctx_threads(cx), CPU_COUNT(&all));
    size_t first = 0;
    while (!CPU_ISSET(first, &all)) first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    bound = test_context();
    assert_int_equal(cr_ctx_threads(bound), 1);
    assert_int_equal(cr_ctx_threads(cx), CPU_COUNT(&all));
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    cr_ctx_set_threads(bound, 3);
    assert_int_equal(cr_ctx_threads(bound), 3);
    cr_ctx_set_threads(bound, 0);
    assert_int_equal(cr_ctx_threads(bound), 1);
    test_context_free(bound);
    test_context_free(cx);
}
