/* context.h -- what a call needs from its surroundings, instead of globals.
 * A context carries the allocator with its limit, the text of the last failure, the log, progress,
 * interrupt, time limit and thread count.  One context serves one calling thread at a time; the
 * threads inside a call share it safely.  cr_interrupt alone may be called from anywhere, also
 * from a signal handler. */
#ifndef CREDENCE_BASE_CONTEXT_H
#define CREDENCE_BASE_CONTEXT_H

#include "status.h"

typedef struct cr_ctx cr_ctx;

/* realloc-like: old == NULL allocates, new_size == 0 frees and returns NULL.  Memory must be
 * aligned for any type.  `user` is passed through.  The threads inside a call allocate too, so it
 * may be called from several threads at once; a context that may use one thread only
 * (cr_ctx_set_threads) calls it from the caller's alone. */
typedef struct cr_allocator {
    void *(*resize)(void *user, void *old, size_t old_size, size_t new_size);
    void *user;
} cr_allocator;

typedef enum cr_log_level { CR_LOG_DEBUG, CR_LOG_INFO, CR_LOG_WARNING } cr_log_level;

typedef void cr_log_fn(void *user, cr_log_level level, const char *text);
/* done of total units of `what` are finished; total == 0 when it is not known. */
typedef void cr_progress_fn(void *user, const char *what, double done, double total);

/* Makes a context.  opt_allocator NULL means the C library's.  Fails with CR_ENOMEM only; there
 * is no context then to hold a sentence. */
CR_API cr_status cr_ctx_new(const cr_allocator *opt_allocator, cr_ctx **out_cx);
/* Frees a context; everything made with it must have been freed before.  NULL is allowed. */
CR_API void cr_ctx_free(cr_ctx *cx);

/* Number of threads a call may use; 0 means all cores that the process could run on when the
 * context was made (the default).  Never changes a result. */
CR_API void cr_ctx_set_threads(cr_ctx *cx, size_t threads);
/* The number of threads in force, at least 1. */
CR_API size_t cr_ctx_threads(const cr_ctx *cx);
/* Refuses allocations that would take the bytes in use past `bytes`; 0 lifts the limit. */
CR_API void cr_ctx_set_memory_limit(cr_ctx *cx, size_t bytes);
/* Bytes allocated through this context now. */
CR_API size_t cr_ctx_memory(const cr_ctx *cx);
/* The most bytes that were ever allocated through it at once. */
CR_API size_t cr_ctx_peak_memory(const cr_ctx *cx);
/* For tests: the nth allocation from now (1 = the next) fails; 0 switches this off. */
CR_API void cr_ctx_fail_allocation(cr_ctx *cx, uint64_t nth);
/* Work that is still running this many seconds from now fails with CR_ENOMEM; 0 lifts the limit. */
CR_API void cr_ctx_set_time_limit(cr_ctx *cx, double seconds);
/* The receiver of log lines; NULL for none.  Called on the caller's own thread. */
CR_API void cr_ctx_set_log(cr_ctx *cx, cr_log_fn *fn, void *user);
/* The receiver of progress, likewise. */
CR_API void cr_ctx_set_progress(cr_ctx *cx, cr_progress_fn *fn, void *user);
/* Asks the running call to stop with CR_EINTERRUPTED.  Async-signal-safe; sticks until cleared. */
CR_API void cr_interrupt(cr_ctx *cx);
/* Takes the request back: calls run again. */
CR_API void cr_interrupt_clear(cr_ctx *cx);

/* The last failure in one sentence.  This text and those below are owned by the context and valid
 * until its next failure. */
CR_API const char *cr_error(const cr_ctx *cx);
/* Further lines to show below the sentence; "" if there are none. */
CR_API const char *cr_error_notes(const cr_ctx *cx);
/* What to try; "" if nothing is known to help. */
CR_API const char *cr_error_hint(const cr_ctx *cx);
/* The name, when the failure is that nothing is called so; else "". */
CR_API const char *cr_error_unknown(const cr_ctx *cx);
/* The known name nearest to that one; "" where none is near. */
CR_API const char *cr_error_nearest(const cr_ctx *cx);
/* The status of the last failure; CR_OK if there was none. */
CR_API cr_status cr_error_status(const cr_ctx *cx);

/* Records a failure and returns its status: `return cr_fail(cx, CR_EDATA, "...")`. */
CR_API cr_status cr_fail(cr_ctx *cx, cr_status status, const char *format, ...) CR_PRINTF(3, 4);
/* Adds a line below the sentence of the failure just recorded; returns its status. */
CR_API cr_status cr_fail_note(cr_ctx *cx, const char *format, ...) CR_PRINTF(2, 3);
/* Sets the hint of the failure just recorded; returns its status. */
CR_API cr_status cr_fail_hint(cr_ctx *cx, const char *format, ...) CR_PRINTF(2, 3);
/* Adds the nearest of n known names to the failure just recorded ("did you mean ...?"), when one
 * is near enough, and a note `title: a, b, c` that lists them.  name(user, i) gives the i-th. */
CR_API cr_status cr_fail_nearest(cr_ctx *cx, const char *unknown, const char *title, size_t n,
                                 const char *(*name)(const void *user, size_t i), const void *user);

/* A log line.  Warnings are things the user should know about a result that is still good. */
CR_API void cr_log(cr_ctx *cx, cr_log_level level, const char *format, ...) CR_PRINTF(3, 4);
/* Reports progress to the receiver, if any. */
CR_API void cr_progress(cr_ctx *cx, const char *what, double done, double total);
/* CR_EINTERRUPTED after cr_interrupt, CR_ENOMEM past the time limit, else CR_OK.  Cheap: long loops
 * call it once per step. */
CR_API cr_status cr_check_interrupt(cr_ctx *cx);

/* Zeroed memory for count elements of size bytes; the caller keeps both numbers to free it.  On
 * failure it is recorded, and NULL returned. */
CR_API void *cr_alloc(cr_ctx *cx, size_t count, size_t size);
/* A block of another length with what the old one held (old NULL: none); what is new in it is not
 * initialised.  On failure it is recorded, NULL returned, and the old block left as it was. */
CR_API void *cr_resize(cr_ctx *cx, void *old, size_t old_count, size_t new_count, size_t size);
/* Frees a block of this many elements; NULL is allowed. */
CR_API void cr_free(cr_ctx *cx, void *p, size_t count, size_t size);

#endif
