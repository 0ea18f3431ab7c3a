/* test_tasks.c -- tasks give what they give one after the other, in any company. */
#include "support.h"
#include "base/rng.h"
#include "base/tasks.h"

#include <stdatomic.h>
#include <unistd.h>

enum { ITEMS = 12, TASKS = 600 };

typedef struct plan {
    size_t           to[TASKS], from[TASKS], too[TASKS];
    _Atomic uint64_t value[ITEMS];
    atomic_size_t    runs[TASKS];
    bool             slow;
} plan;

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    return a ^ a >> 29;
}

/* What is written depends on all that is read and on the order of the writes. */
static void change(void *arg, size_t i, size_t j, size_t k)
{
    plan    *p = arg;
    uint64_t value = mix(atomic_load(&p->value[p->to[k]]), k);
    assert_true(i == k + 1 && j == k + 2);
    if (p->from[k] != CRI_NO_ITEM) value = mix(value, atomic_load(&p->value[p->from[k]]));
    if (p->slow && k % 7 == 0) usleep(50); /* others get a chance to overtake */
    if (p->too[k] != CRI_NO_ITEM) value = mix(value, atomic_load(&p->value[p->too[k]]));
    atomic_store(&p->value[p->to[k]], value);
    atomic_fetch_add(&p->runs[k], 1);
}

static void reset(plan *p)
{
    for (size_t i = 0; i < ITEMS; i++) atomic_store(&p->value[i], i);
    for (size_t k = 0; k < TASKS; k++) atomic_store(&p->runs[k], 0);
}

static void draw_plan(plan *p, uint64_t seed)
{
    cr_rng r = cr_rng_stream(seed, 1);
    for (size_t k = 0; k < TASKS; k++) {
        p->to[k] = (size_t)cr_rng_below(&r, ITEMS);
        p->from[k] = cr_rng_below(&r, 4)
                         ? (p->to[k] + 1 + (size_t)cr_rng_below(&r, ITEMS - 1)) % ITEMS
                         : CRI_NO_ITEM;
        p->too[k] = cr_rng_below(&r, 3) ? CRI_NO_ITEM : p->from[k]; /* the same one twice */
        if (cr_rng_below(&r, 2))
            p->too[k] = (p->to[k] + 1 + (size_t)cr_rng_below(&r, ITEMS - 1)) % ITEMS;
    }
}

static void run_plan(cr_ctx *cx, plan *p, size_t count)
{
    cr_scratch s = cr_scratch_begin(cx);
    cri_tasks  t = cri_tasks_new(&s, ITEMS, count);
    assert_ok(cx, s.status);
    for (size_t k = 0; k < count; k++)
        cri_tasks_add(&t, change, k + 1, k + 2, k, p->to[k], p->from[k], p->too[k]);
    reset(p);
    cri_tasks_run(&t, p);
    cr_scratch_end(&s);
}

TEST(any_company_gives_the_same)
{
    static const size_t threads[] = { 1, 2, 3, 7 };
    static plan         p;
    for (uint64_t seed = 0; seed < 8; seed++) {
        uint64_t expected[ITEMS];
        draw_plan(&p, seed);
        p.slow = seed % 2;
        reset(&p);
        for (size_t k = 0; k < TASKS; k++) change(&p, k + 1, k + 2, k);
        for (size_t i = 0; i < ITEMS; i++) expected[i] = atomic_load(&p.value[i]);
        for (size_t t = 0; t < 4; t++) {
            cr_ctx_set_threads(cx, threads[t]);
            run_plan(cx, &p, TASKS);
            for (size_t k = 0; k < TASKS; k++) assert_int_equal(atomic_load(&p.runs[k]), 1);
            for (size_t i = 0; i < ITEMS; i++) assert_true(atomic_load(&p.value[i]) == expected[i]);
        }
    }
}

TEST(few_tasks)
{
    static plan p;
    draw_plan(&p, 99);
    for (size_t count = 0; count < 3; count++) {
        run_plan(cx, &p, count);
        for (size_t k = 0; k < TASKS; k++) assert_int_equal(atomic_load(&p.runs[k]), k < count);
    }
}

/* One task waits for another that comes later in the list and shares nothing with it: both must run
 * at the same time. */
typedef struct pair {
    atomic_bool second;
    bool        met;
} pair;

static void wait_for_second(void *arg, size_t i, size_t j, size_t k)
{
    pair *p = arg;
    (void)i, (void)j, (void)k;
    for (size_t n = 0; n < 10000 && !atomic_load(&p->second); n++) usleep(1000);
    p->met = atomic_load(&p->second);
}

static void be_second(void *arg, size_t i, size_t j, size_t k)
{
    (void)i, (void)j, (void)k;
    atomic_store(&((pair *)arg)->second, true);
}

TEST(independent_tasks_overtake)
{
    cr_scratch s = cr_scratch_begin(cx);
    pair       p = { .met = false };
    cr_ctx_set_threads(cx, 2);
    cri_tasks t = cri_tasks_new(&s, 2, 4);
    assert_ok(cx, s.status);
    cri_tasks_add(&t, wait_for_second, 0, 0, 0, 0, CRI_NO_ITEM, CRI_NO_ITEM);
    cri_tasks_add(&t, wait_for_second, 0, 0, 0, 0, CRI_NO_ITEM, CRI_NO_ITEM);
    cri_tasks_add(&t, wait_for_second, 0, 0, 0, 0, CRI_NO_ITEM, CRI_NO_ITEM);
    cri_tasks_add(&t, be_second, 0, 0, 0, 1, CRI_NO_ITEM, CRI_NO_ITEM);
    cri_tasks_run(&t, &p);
    assert_true(p.met);
    cr_scratch_end(&s);
}
