/* parallel.h -- work in fixed blocks, so that no answer depends on the number of threads.
 * The caller cuts the work into blocks by the size of the data alone.  Blocks may run in any order
 * and on any thread; each writes only its own results, which the caller then adds up in order.
 * Bodies are pure kernels: they get no context and cannot fail; one that must allocate does it by
 * cri_resize_quietly and leaves a mark, which the caller turns into a failure in the order of the
 * blocks.  (Internal header.) */
#ifndef CREDENCE_BASE_PARALLEL_H
#define CREDENCE_BASE_PARALLEL_H

#include "context.h"

#include <stdatomic.h>

/* Runs body(arg, b) for b = 0 .. blocks-1.  `what` names the work for progress (NULL: silent).
 * Stops between blocks, with CR_EINTERRUPTED or CR_ENOMEM, when the context says so. */
cr_status cri_parallel_for(cr_ctx *cx, const char *what, size_t blocks,
                           void (*body)(void *arg, size_t block), void *arg);

/* The same, silent, with aside(arg) beside the blocks: the caller's thread does that, once and to its
 * end, before it takes blocks too. */
cr_status cri_parallel_beside(cr_ctx *cx, size_t blocks, void (*body)(void *arg, size_t block),
                              void (*aside)(void *arg), void *arg);

/* Workspaces that blocks at work take by turns: as many as threads, so that one is always free, and at
 * most one for each block.  What a block finds in one is undefined.  { .n = cri_slots_needed(...) } at first. */
enum { CRI_MOST_SLOTS = 64 };
typedef struct cri_slots {
    size_t      n;
    atomic_bool taken[CRI_MOST_SLOTS];
} cri_slots;
size_t cri_slots_needed(const cr_ctx *cx, size_t blocks);
/* The first free one, since that is the likeliest to be in the cache still. */
size_t cri_slot_take(cri_slots *slots);
void   cri_slot_leave(cri_slots *slots, size_t slot);

/* The rows [begin, end) of block b when n rows are cut into blocks of `size`. */
typedef struct cri_range {
    size_t begin, end;
} cri_range;
cri_range cri_block_range(size_t n, size_t size, size_t b);
size_t    cri_block_count(size_t n, size_t size);

/* Runs body(arg, rows, workspace) for every block of `block` of n rows.  workspace [workspace_size]
 * is memory to work in, left as an earlier block left it; there are at most 32 of them, shared out
 * by the number of blocks.  Stops between blocks as cri_parallel_for does. */
cr_status cri_parallel_rows(cr_ctx *cx, const char *what, size_t n, size_t block,
                            size_t workspace_size,
                            void (*body)(void *arg, cri_range rows, double *workspace), void *arg);

/* out[0..width) = sum over rows of what body adds.  The n rows are cut into at most 64 spans of
 * whole blocks of `block` rows, by n alone; body(arg, range, acc) adds the rows of one block into
 * acc [width]; spans are added up in order.  Memory: 64 x width doubles at the most.
 * Stops between blocks as cri_parallel_for does; out is then as before. */
cr_status cri_parallel_sum(cr_ctx *cx, const char *what, size_t n, size_t block, size_t width,
                           void (*body)(void *arg, cri_range rows, double *acc), void *arg,
                           double *out);

/* The same for bodies that need memory of their own to work in: workspace [workspace_size] is left
 * as the block before it in the span left it, and at the begin of a span undefined.  Memory: 64 x
 * width doubles at the most, and a workspace for each thread. */
cr_status cri_parallel_sum_in(cr_ctx *cx, const char *what, size_t n, size_t block, size_t width,
                              size_t workspace_size,
                              void (*body)(void *arg, cri_range rows, double *acc,
                                           double *workspace),
                              void *arg, double *out);

#endif
