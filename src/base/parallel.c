/* parallel.c -- fixed blocks over the threads of the context. */
#include "parallel.h"
#include "context_internal.h"
#include "scratch.h"
#include "team.h"

#include <string.h>

enum { MOST_SPANS = 64, MOST_SLOTS = 32 };

size_t cri_block_count(size_t n, size_t size) { return n / size + (n % size != 0); }

cri_range cri_block_range(size_t n, size_t size, size_t b)
{
    size_t begin = b * size;
    return (cri_range){ begin, n - begin > size ? begin + size : n };
}

/* Work was left undone: why. */
static cr_status stopped(cr_ctx *cx)
{
    cr_status st = cr_check_interrupt(cx);
    return st != CR_OK ? st : cr_fail(cx, CR_EINTERRUPTED, "interrupted"); /* and cleared since */
}

typedef struct for_work {
    cr_ctx     *cx;
    const char *what;
    size_t      blocks;
    void (*body)(void *arg, size_t block);
    void (*opt_aside)(void *arg); /* done by the caller's thread before it takes blocks */
    void         *arg;
    atomic_size_t next, finished;
} for_work;

/* Takes blocks until none is left.  Callbacks stay on the caller's thread. */
static void take_blocks(void *arg, bool caller)
{
    for_work *w = arg;
    size_t    b;
    if (caller && w->opt_aside) w->opt_aside(w->arg);
    while (!cri_should_stop(w->cx) && (b = atomic_fetch_add(&w->next, 1)) < w->blocks) {
        w->body(w->arg, b);
        size_t done = atomic_fetch_add(&w->finished, 1) + 1;
        if (w->what && caller) cr_progress(w->cx, w->what, (double)done, (double)w->blocks);
    }
}

cr_status cri_parallel_for(cr_ctx *cx, const char *what, size_t blocks,
                           void (*body)(void *arg, size_t block), void *arg)
{
    for_work w = { .cx = cx, .what = what, .blocks = blocks, .body = body, .arg = arg };
    size_t   threads = cr_ctx_threads(cx);
    cri_team_run(cri_ctx_team(cx), threads < blocks ? threads : blocks, take_blocks, &w);
    return atomic_load(&w.finished) == blocks ? CR_OK : stopped(cx);
}

cr_status cri_parallel_beside(cr_ctx *cx, size_t blocks, void (*body)(void *arg, size_t block),
                              void (*aside)(void *arg), void *arg)
{
    for_work w = { .cx = cx, .blocks = blocks, .body = body, .opt_aside = aside, .arg = arg };
    size_t   threads = cr_ctx_threads(cx);
    cri_team_run(cri_ctx_team(cx), threads <= blocks ? threads : blocks + 1, take_blocks, &w);
    return atomic_load(&w.finished) == blocks ? CR_OK : stopped(cx);
}

size_t cri_slots_needed(const cr_ctx *cx, size_t blocks)
{
    size_t threads = cr_ctx_threads(cx), most = blocks < threads ? blocks : threads;
    return most < CRI_MOST_SLOTS ? most : CRI_MOST_SLOTS;
}

size_t cri_slot_take(cri_slots *slots)
{
    size_t r = 0;
    while (atomic_exchange(&slots->taken[r], true)) r = (r + 1) % slots->n;
    return r;
}

void cri_slot_leave(cri_slots *slots, size_t slot) { atomic_store(&slots->taken[slot], false); }

typedef struct rows_work {
    const cr_ctx *cx;
    size_t        n, block, blocks, slots, workspace_size;
    void (*body)(void *arg, cri_range rows, double *workspace);
    void       *arg;
    double     *workspaces; /* [slots x workspace_size]             */
    atomic_bool unfinished; /* some slot stopped between its blocks */
} rows_work;

/* Slot s has the blocks s, s + slots, ... */
static void run_slot(void *arg, size_t s)
{
    rows_work *w = arg;
    for (size_t b = s; b < w->blocks; b += w->slots) {
        if (cri_should_stop(w->cx)) {
            atomic_store(&w->unfinished, true);
            return;
        }
        w->body(w->arg, cri_block_range(w->n, w->block, b), w->workspaces + s * w->workspace_size);
    }
}

cr_status cri_parallel_rows(cr_ctx *cx, const char *what, size_t n, size_t block,
                            size_t workspace_size,
                            void (*body)(void *arg, cri_range rows, double *workspace), void *arg)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    rows_work  w = {
         .cx = cx, .n = n, .block = block, .workspace_size = workspace_size, .body = body, .arg = arg
    };
    w.blocks = cri_block_count(n, block);
    w.slots = w.blocks < MOST_SLOTS ? w.blocks : MOST_SLOTS;
    w.workspaces = cr_scratch_matrix(&s, w.slots, workspace_size);

    CR_TRY(s.status);
    CR_TRY(cri_parallel_for(cx, what, w.slots, run_slot, &w));
    if (atomic_load(&w.unfinished)) CR_TRY(stopped(cx));
done:
    cr_scratch_end(&s);
    return st;
}

typedef struct sum_work {
    const cr_ctx *cx;
    size_t        n, block, blocks, spans, width, workspace_size;
    void (*body)(void *arg, cri_range rows, double *acc, double *workspace);
    void       *arg;
    double     *partial;    /* [spans x width]                                             */
    double     *workspaces; /* [slots x workspace_size]: one for each span that is at work */
    cri_slots   slots;
    atomic_bool unfinished; /* some span stopped between its blocks                        */
} sum_work;

static void add_span(void *arg, size_t s)
{
    sum_work *w = arg;
    size_t    first = s * w->blocks / w->spans, last = (s + 1) * w->blocks / w->spans;
    size_t    r = cri_slot_take(&w->slots);
    for (size_t b = first; b < last; b++) {
        if (cri_should_stop(w->cx)) {
            atomic_store(&w->unfinished, true);
            break;
        }
        w->body(w->arg, cri_block_range(w->n, w->block, b), w->partial + s * w->width,
                w->workspaces + r * w->workspace_size);
    }
    cri_slot_leave(&w->slots, r);
}

cr_status cri_parallel_sum_in(
    cr_ctx *cx, const char *what, size_t n, size_t block, size_t width, size_t workspace_size,
    void (*body)(void *arg, cri_range rows, double *acc, double *workspace), void *arg, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    sum_work   w = { .cx = cx,
                     .n = n,
                     .block = block,
                     .width = width,
                     .workspace_size = workspace_size,
                     .body = body,
                     .arg = arg };
    w.blocks = cri_block_count(n, block);
    w.spans = w.blocks < MOST_SPANS ? w.blocks : MOST_SPANS;
    w.partial = cr_scratch_matrix(&s, w.spans, width);
    w.slots.n = cri_slots_needed(cx, w.spans);
    w.workspaces = cr_scratch_matrix(&s, w.slots.n, workspace_size);

    CR_TRY(s.status);
    memset(w.partial, 0, w.spans * width * sizeof(double));
    CR_TRY(cri_parallel_for(cx, what, w.spans, add_span, &w));
    if (atomic_load(&w.unfinished)) CR_TRY(stopped(cx));
    memset(out, 0, width * sizeof(double));
    for (size_t i = 0; i < w.spans; i++)
        for (size_t j = 0; j < width; j++) out[j] += w.partial[i * width + j];
done:
    cr_scratch_end(&s);
    return st;
}

typedef struct plain_body {
    void (*body)(void *arg, cri_range rows, double *acc);
    void *arg;
} plain_body;

static void call_plain(void *arg, cri_range rows, double *acc, double *workspace)
{
    const plain_body *p = arg;
    (void)workspace;
    p->body(p->arg, rows, acc);
}

cr_status cri_parallel_sum(cr_ctx *cx, const char *what, size_t n, size_t block, size_t width,
                           void (*body)(void *arg, cri_range rows, double *acc), void *arg,
                           double *out)
{
    plain_body p = { body, arg };
    return cri_parallel_sum_in(cx, what, n, block, width, 0, call_plain, &p, out);
}
