/* test_parallel.c -- blocks cover the work exactly; sums have the same bits for any number of
 * threads; work stops between blocks when asked. */
#include "support.h"
#include "base/parallel.h"

#include <stdatomic.h>

TEST(ranges_cover_exactly)
{
    for (size_t n = 0; n < 70; n++)
        for (size_t size = 1; size < 12; size++) {
            size_t at = 0, blocks = cri_block_count(n, size);
            for (size_t b = 0; b < blocks; b++) {
                cri_range r = cri_block_range(n, size, b);
                assert_int_equal(r.begin, at);
                assert_true(r.end > r.begin && r.end - r.begin <= size);
                at = r.end;
            }
            assert_int_equal(at, n);
        }
    assert_int_equal(cri_block_count(SIZE_MAX, 1), SIZE_MAX); /* the rounding up cannot wrap */
    assert_int_equal(cri_block_count(SIZE_MAX, SIZE_MAX), 1);
    cri_range last = cri_block_range(SIZE_MAX, SIZE_MAX / 2, 2);
    assert_true(last.begin == SIZE_MAX - 1 && last.end == SIZE_MAX);
}

static void count_visit(void *arg, size_t block) { atomic_fetch_add((atomic_int *)arg + block, 1); }

TEST(every_block_runs_once)
{
    static const size_t threads[] = { 1, 2, 4, 7, 30 };
    for (size_t t = 0; t < 5; t++) {
        static atomic_int visits[1000];
        for (size_t b = 0; b < 1000; b++) atomic_store(&visits[b], 0);
        cr_ctx_set_threads(cx, threads[t]);
        assert_ok(cx, cri_parallel_for(cx, NULL, 1000, count_visit, visits));
        for (size_t b = 0; b < 1000; b++) assert_int_equal(atomic_load(&visits[b]), 1);
        assert_ok(cx, cri_parallel_for(cx, "nothing", 0, count_visit, visits));
        assert_ok(cx, cri_parallel_for(cx, NULL, 1, count_visit, visits));
        assert_int_equal(atomic_load(&visits[0]), 2);
    }
}

typedef struct tenants {
    cri_slots   slots;
    atomic_int  inside[CRI_MOST_SLOTS];
    atomic_bool shared;
} tenants;

static void move_in(void *arg, size_t block)
{
    tenants *t = arg;
    size_t   slot = cri_slot_take(&t->slots);
    if (atomic_fetch_add(&t->inside[slot], 1) != 0) atomic_store(&t->shared, true);
    for (volatile size_t i = 0; i < 20000 + block % 7 * 5000; i++) continue;
    atomic_fetch_sub(&t->inside[slot], 1);
    cri_slot_leave(&t->slots, slot);
}

TEST(no_two_blocks_share_a_workspace)
{
    static const size_t threads[] = { 1, 2, 5 };
    for (size_t k = 0; k < 3; k++) {
        tenants t = { 0 };
        cr_ctx_set_threads(cx, threads[k]);
        assert_int_equal(cri_slots_needed(cx, 1), 1);
        t.slots.n = cri_slots_needed(cx, 300);
        assert_int_equal(t.slots.n, threads[k]);
        assert_ok(cx, cri_parallel_for(cx, NULL, 300, move_in, &t));
        assert_false(atomic_load(&t.shared));
        for (size_t i = 0; i < t.slots.n; i++) assert_false(atomic_load(&t.slots.taken[i]));
    }
}

/* --- progress and stopping ------------------------------------------------------------------- */

typedef struct listener {
    cr_ctx *cx;
    double  last, total, stop_at;
    int     calls;
} listener;

static void listen(void *user, const char *what, double done, double total)
{
    listener *l = user;
    assert_string_equal(what, "counting");
    assert_true(done > l->last && done <= total);
    l->last = done, l->total = total, l->calls++;
    if (done >= l->stop_at) cr_interrupt(l->cx);
}

TEST(progress_and_interrupt)
{
    atomic_int visits[100];
    listener   l = { .cx = cx, .stop_at = INFINITY };
    cr_ctx_set_progress(cx, listen, &l);
    cr_ctx_set_threads(cx, 1);
    for (size_t b = 0; b < 100; b++) atomic_init(&visits[b], 0);
    assert_ok(cx, cri_parallel_for(cx, "counting", 100, count_visit, visits));
    assert_true(l.calls == 100 && l.last == 100 && l.total == 100);
    assert_ok(cx, cri_parallel_for(cx, NULL, 100, count_visit, visits));
    assert_int_equal(l.calls, 100); /* without a name it is silent */

    l = (listener){ .cx = cx, .stop_at = 10 };
    for (size_t b = 0; b < 100; b++) atomic_store(&visits[b], 0);
    assert_fails(cx, cri_parallel_for(cx, "counting", 100, count_visit, visits), CR_EINTERRUPTED);
    for (size_t b = 0; b < 100; b++) assert_int_equal(atomic_load(&visits[b]), b < 10);
    assert_fails(cx, cri_parallel_for(cx, NULL, 5, count_visit, visits), CR_EINTERRUPTED);
    assert_int_equal(atomic_load(&visits[0]), 1); /* it sticks: nothing more runs */
    cr_interrupt_clear(cx);
    assert_ok(cx, cri_parallel_for(cx, NULL, 5, count_visit, visits));

    l = (listener){ .cx = cx, .stop_at = 100 }; /* asked to stop when all is done: it is done */
    assert_ok(cx, cri_parallel_for(cx, "counting", 100, count_visit, visits));
    cr_interrupt_clear(cx);
    cr_ctx_set_time_limit(cx, 1e-9);
    assert_fails_with(cx, cri_parallel_for(cx, NULL, 5, count_visit, visits), CR_ENOMEM,
                      "time limit");
}

/* --- sums ------------------------------------------------------------------------------------ */

/* acc += (x, x^2, 1) with x of very different sizes, so that another order gives other bits. */
static void add_rows(void *arg, cri_range rows, double *acc)
{
    const double *x = arg;
    for (size_t i = rows.begin; i < rows.end; i++) {
        acc[0] += x[i], acc[1] += x[i] * x[i], acc[2] += 1;
    }
}

TEST(sums_have_the_same_bits)
{
    enum { N = 30011 };
    static double       x[N];
    static const size_t threads[] = { 1, 2, 4, 7 };
    long double         exact = 0;
    double              naive = 0;
    for (size_t i = 0; i < N; i++) {
        x[i] = sin((double)i) * exp(10 * cos(3.0 * (double)i));
        exact += x[i], naive += x[i];
    }
    for (size_t block = 1; block < 3 * N; block = 5 * block + 2) {
        double first[3], out[3];
        for (size_t t = 0; t < 4; t++) {
            cr_ctx_set_threads(cx, threads[t]);
            assert_ok(cx, cri_parallel_sum(cx, NULL, N, block, 3, add_rows, x, out));
            if (t == 0) memcpy(first, out, sizeof out);
            assert_memory_equal(first, out, sizeof out);
        }
        assert_close(out[0], (double)exact, 1e-12);
        assert_true(out[2] == N);
        if (block > N) assert_true(out[0] == naive); /* one block: the plain loop */
    }
    double out[3] = { 1, 2, 3 };
    assert_ok(cx, cri_parallel_sum(cx, NULL, 0, 10, 3, add_rows, x, out));
    assert_true(out[0] == 0 && out[1] == 0 && out[2] == 0);
    cr_interrupt(cx);
    out[0] = 5;
    assert_fails(cx, cri_parallel_sum(cx, NULL, N, 10, 3, add_rows, x, out), CR_EINTERRUPTED);
    assert_true(out[0] == 5);
}

/* Writes the row into its workspace, waits, and counts where another has been at it. */
static void add_in_workspace(void *arg, cri_range rows, double *acc, double *workspace)
{
    (void)arg;
    for (size_t k = 0; k < 8; k++) workspace[k] = (double)rows.begin;
    for (volatile int wait = 0; wait < 3000; wait++) {}
    for (size_t k = 0; k < 8; k++) acc[1] += workspace[k] != (double)rows.begin;
    acc[0] += (double)(rows.end - rows.begin);
}

/* No two spans are in one workspace, however many threads there are. */
TEST(workspaces_are_not_shared)
{
    enum { N = 20000 };
    static const size_t threads[] = { 1, 2, 4, 7, 100 };
    for (size_t t = 0; t < 5; t++) {
        double out[2];
        cr_ctx_set_threads(cx, threads[t]);
        assert_ok(cx, cri_parallel_sum_in(cx, NULL, N, 10, 2, 8, add_in_workspace, NULL, out));
        assert_true(out[0] == N && out[1] == 0);
    }
}

typedef struct long_sum {
    cr_ctx       *cx;
    atomic_size_t blocks;
    size_t        stop_at;
} long_sum;

static void add_and_interrupt(void *arg, cri_range rows, double *acc)
{
    long_sum *l = arg;
    acc[0] += (double)(rows.end - rows.begin);
    if (atomic_fetch_add(&l->blocks, 1) + 1 == l->stop_at) cr_interrupt(l->cx);
}

static void clear_after(void *user, const char *what, double done, double total)
{
    (void)what, (void)done, (void)total;
    cr_interrupt_clear(user);
}

/* A sum over many rows stops between blocks, not only between its 64 spans, and is no result. */
TEST(sums_stop_inside_a_span)
{
    enum { BLOCKS = 64 * 1000 };
    long_sum l = { .cx = cx, .stop_at = 100 };
    double   out = 5;
    cr_ctx_set_threads(cx, 1);
    assert_fails(cx, cri_parallel_sum(cx, NULL, BLOCKS, 1, 1, add_and_interrupt, &l, &out),
                 CR_EINTERRUPTED);
    assert_int_equal(atomic_load(&l.blocks), 100);
    assert_true(out == 5);
    cr_interrupt_clear(cx);

    cr_ctx_set_progress(cx, clear_after, cx); /* cleared at the end of the span: still unfinished */
    atomic_store(&l.blocks, 0);
    assert_fails(cx, cri_parallel_sum(cx, "sum", BLOCKS, 1, 1, add_and_interrupt, &l, &out),
                 CR_EINTERRUPTED);
    assert_true(out == 5);
    cr_ctx_set_progress(cx, NULL, NULL);
    cr_interrupt_clear(cx);

    atomic_store(&l.blocks, 0);
    l.stop_at = BLOCKS; /* asked to stop when all is done: it is done */
    assert_ok(cx, cri_parallel_sum(cx, NULL, BLOCKS, 1, 1, add_and_interrupt, &l, &out));
    assert_true(out == BLOCKS);
}

/* --- rows with workspace --------------------------------------------------------------------- */

enum { ROWS = 5000, BLOCK = 7 };

typedef struct visit {
    cr_ctx       *cx;
    int           seen[ROWS];
    atomic_size_t blocks;
    size_t        stop_at;
} visit;

/* The workspace is the block's own while it runs: what is written there comes back. */
static void visit_rows(void *arg, cri_range rows, double *workspace)
{
    visit *v = arg;
    for (size_t i = rows.begin; i < rows.end; i++) workspace[i - rows.begin] = (double)i;
    for (size_t i = rows.begin; i < rows.end; i++)
        v->seen[i] += workspace[i - rows.begin] == (double)i;
    if (atomic_fetch_add(&v->blocks, 1) + 1 == v->stop_at) cr_interrupt(v->cx);
}

TEST(every_row_is_visited_once)
{
    static const size_t sizes[] = { 0, 1, 6, 7, 8, 223, 224, 225, ROWS }, threads[] = { 1, 2, 7 };
    static visit        v;
    for (size_t k = 0; k < 9; k++)
        for (size_t t = 0; t < 3; t++) {
            memset(v.seen, 0, sizeof v.seen);
            cr_ctx_set_threads(cx, threads[t]);
            assert_ok(cx, cri_parallel_rows(cx, NULL, sizes[k], BLOCK, BLOCK, visit_rows, &v));
            for (size_t i = 0; i < ROWS; i++) assert_int_equal(v.seen[i], i < sizes[k]);
        }
    cr_ctx_set_threads(cx, 1);
    atomic_store(&v.blocks, 0);
    v.cx = cx, v.stop_at = 100; /* between the blocks of a slot, not only between slots */
    assert_fails(cx, cri_parallel_rows(cx, NULL, ROWS, BLOCK, BLOCK, visit_rows, &v),
                 CR_EINTERRUPTED);
    assert_int_equal(atomic_load(&v.blocks), 100);
    cr_interrupt_clear(cx);
}

static cr_status visit_once(cr_ctx *cx, void *arg)
{
    return cri_parallel_rows(cx, "rows", 300, BLOCK, BLOCK, visit_rows, arg);
}

static cr_status sum_once(cr_ctx *cx, void *arg)
{
    double    out[3] = { 7, 7, 7 };
    cr_status st = cri_parallel_sum(cx, "sum", 100, 10, 3, add_rows, arg, out);
    assert_true(st == CR_OK ? out[2] == 100 : out[2] == 7);
    return st;
}

TEST(allocations)
{
    double       x[100] = { 0 };
    static visit v;
    test_every_allocation_fails(sum_once, x);
    test_every_allocation_fails(visit_once, &v);
}
