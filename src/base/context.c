/* context.c -- the life of a context, its settings, when to stop, temporary files, log and progress.
 * Failures are in context_failure.c, memory in context_memory.c. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "context_state.h"
#include "base/clock.h"

#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *libc_resize(void *user, void *old, size_t old_size, size_t new_size)
{
    (void)user, (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, new_size);
}

/* The cores that this process may run on (taskset, cpusets of a container), at least 1. */
static size_t count_cores(void)
{
#ifdef CPU_COUNT
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (size_t)CPU_COUNT(&set);
#endif
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (size_t)cores : 1;
}

/* --- life and settings ----------------------------------------------------------------------- */

cr_status cr_ctx_new(const cr_allocator *opt_allocator, cr_ctx **out_cx)
{
    cr_allocator a = opt_allocator ? *opt_allocator : (cr_allocator){ libc_resize, NULL };
    cr_ctx      *cx = a.resize(a.user, NULL, 0, sizeof *cx);
    if (!cx) return CR_ENOMEM;
    memset(cx, 0, sizeof *cx);
    cx->allocator = a;
    cx->cores = count_cores();
    cri_team_init(&cx->team);
    atomic_flag_clear(&cx->error_lock);
    *out_cx = cx;
    return CR_OK;
}

void cr_ctx_free(cr_ctx *cx)
{
    if (!cx) return;
    cri_team_free(&cx->team);
    cx->allocator.resize(cx->allocator.user, cx, sizeof *cx, 0);
}

/* A child's memory is the parent's: counted, limited and made to fail there. */
static void *parent_resize(void *parent, void *old, size_t old_size, size_t new_size)
{
    if (new_size > 0) return cri_resize_quietly(parent, old, old_size, new_size, 1);
    cr_free(parent, old, old_size, 1);
    return NULL;
}

cr_status cri_ctx_child(cr_ctx *parent, cr_ctx **out_child)
{
    cr_allocator a = { parent_resize, parent };
    cr_ctx      *child = NULL;
    if (cr_ctx_new(&a, &child) != CR_OK) return CR_ENOMEM;
    child->parent = parent;
    child->threads = 1;
    *out_child = child;
    return CR_OK;
}

const cr_ctx *cri_ctx_root(const cr_ctx *cx)
{
    while (cx->parent) cx = cx->parent;
    return cx;
}

void cr_ctx_set_threads(cr_ctx *cx, size_t threads) { cx->threads = threads; }

cri_team *cri_ctx_team(cr_ctx *cx) { return &cx->team; }

size_t cr_ctx_threads(const cr_ctx *cx) { return cx->threads ? cx->threads : cx->cores; }

void   cr_ctx_set_memory_limit(cr_ctx *cx, size_t bytes) { cx->memory_limit = bytes; }
size_t cr_ctx_memory(const cr_ctx *cx) { return atomic_load(&cx->memory); }
size_t cr_ctx_peak_memory(const cr_ctx *cx) { return atomic_load(&cx->peak_memory); }
void   cr_ctx_fail_allocation(cr_ctx *cx, uint64_t nth) { atomic_store(&cx->fail_countdown, nth); }

size_t cri_leaf_bytes(const cr_ctx *cx)
{
    const size_t bytes = cri_ctx_root(cx)->leaf_bytes;
    return bytes ? bytes : (size_t)16 << 20;
}

void cri_set_leaf_bytes(cr_ctx *cx, size_t bytes) { cx->leaf_bytes = bytes; }

void cr_ctx_set_time_limit(cr_ctx *cx, double seconds)
{
    cx->deadline = seconds > 0 ? cri_seconds() + seconds : 0;
}

void cr_ctx_set_log(cr_ctx *cx, cr_log_fn *fn, void *user)
{
    cx->log = fn;
    cx->log_user = user;
}

void cr_ctx_set_progress(cr_ctx *cx, cr_progress_fn *fn, void *user)
{
    cx->progress = fn;
    cx->progress_user = user;
}

void cri_mute_warnings(cr_ctx *cx, bool muted) { cx->warnings_muted = muted; }
bool cri_warnings_muted(const cr_ctx *cx) { return cx->warnings_muted; }

void cr_interrupt(cr_ctx *cx) { atomic_store(&cx->interrupted, true); }
void cr_interrupt_clear(cr_ctx *cx) { atomic_store(&cx->interrupted, false); }

/* Counts a question; true from the one on that a test has named. */
static bool counts_out(atomic_uint_fast64_t *countdown)
{
    uint_fast64_t left = atomic_load(countdown);
    while (left > 1 && !atomic_compare_exchange_weak(countdown, &left, left - 1)) {}
    return left == 1;
}

bool cri_should_stop(const cr_ctx *cx)
{
    if (cx->parent && cri_should_stop(cx->parent)) return true;
    return atomic_load(&cx->interrupted) ||
           counts_out((atomic_uint_fast64_t *)(uintptr_t)&cx->stop_countdown) ||
           (cx->deadline > 0 && cri_seconds() > cx->deadline);
}

double cri_time_left(const cr_ctx *cx)
{
    if (cx->patient) return INFINITY;
    double left = cx->deadline > 0 ? cx->deadline - cri_seconds() : INFINITY;
    double other = cx->parent ? cri_time_left(cx->parent) : INFINITY;
    left = left > 0 ? left : 0;
    return left < other ? left : other;
}

void cri_ctx_be_patient(cr_ctx *cx) { cx->patient = true; }

cri_clock cri_clock_start(cr_ctx *cx, double limit)
{
    double left = isinf(limit) ? INFINITY : 0.75 * cri_time_left(cx);
    if (!(limit > 0 && limit < left)) limit = isinf(left) ? NAN : left;
    return (cri_clock){ cx, isnan(limit) ? INFINITY : cri_seconds() + limit };
}

double cri_ctx_hasten(cr_ctx *cx, double share)
{
    double before = cx->deadline, left = cri_time_left(cx);
    if (!isinf(left)) cx->deadline = cri_seconds() + share * left;
    return before;
}

void cri_ctx_set_deadline(cr_ctx *cx, double deadline)
{
    cx->deadline = deadline;
    atomic_store(&cx->stop_countdown, 0);
}

bool cri_is_late(const cr_ctx *cx, cr_status st)
{
    return st == CR_ENOMEM && (cri_should_stop(cx) || strstr(cr_error(cx), "time limit"));
}

void cri_ctx_stop_at(cr_ctx *cx, uint64_t nth) { atomic_store(&cx->stop_countdown, nth); }
void cri_ctx_run_out_at(cr_ctx *cx, uint64_t nth) { atomic_store(&cx->time_countdown, nth); }

static bool has_run_out(cr_ctx *cx)
{
    while (!cx->patient && cx->parent) cx = cx->parent;
    return !cx->patient && counts_out(&cx->time_countdown);
}

bool cri_clock_over(const cri_clock *clock)
{
    bool over =
        has_run_out(clock->cx) || (clock->deadline < INFINITY && cri_seconds() > clock->deadline);
    for (cr_ctx *cx = clock->cx; over && cx; cx = cx->patient ? NULL : cx->parent)
        atomic_store(&cx->late, true);
    return over;
}

bool cri_ctx_take_late(cr_ctx *cx) { return atomic_exchange(&cx->late, false); }

static bool is_interrupted(const cr_ctx *cx)
{
    return atomic_load(&cx->interrupted) || (cx->parent && is_interrupted(cx->parent));
}

cr_status cr_check_interrupt(cr_ctx *cx)
{
    if (is_interrupted(cx)) return cr_fail(cx, CR_EINTERRUPTED, "interrupted");
    if (cri_should_stop(cx)) {
        cr_fail(cx, CR_ENOMEM, "the time limit is reached");
        return cr_fail_hint(cx, "allow more time with --time-limit");
    }
    return CR_OK;
}

/* --- temporary files -------------------------------------------------------------------------- */

/* Puts `new` where `old` is, if that is somewhere. */
static void replace_temporary(cr_ctx *cx, const char *old, const char *new)
{
    for (size_t i = 0; i < TEMPORARIES; i++) {
        const char *expected = old;
        if (atomic_compare_exchange_strong(&cx->temporaries[i], &expected, new)) return;
    }
}

void cri_ctx_note_temporary(cr_ctx *cx, const char *path)
{
    while (cx->parent) cx = cx->parent;
    replace_temporary(cx, NULL, path);
}

void cri_ctx_forget_temporary(cr_ctx *cx, const char *opt_path)
{
    while (cx->parent) cx = cx->parent;
    if (opt_path) replace_temporary(cx, opt_path, NULL);
}

void cri_ctx_remove_temporaries(const cr_ctx *cx)
{
    for (size_t i = 0; i < TEMPORARIES; i++) {
        const char *path = atomic_load(&cx->temporaries[i]);
        if (path) unlink(path);
    }
}

/* --- log and progress ------------------------------------------------------------------------ */

void cr_log(cr_ctx *cx, cr_log_level level, const char *format, ...)
{
    if (!cx->log || (level == CR_LOG_WARNING && cx->warnings_muted)) return;
    char    text[SENTENCE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t size = strlen(text) + 1;
    if (level == CR_LOG_WARNING && cx->holding && !cx->holding_paused &&
        size <= HELD_SIZE - cx->held_size) {
        memcpy(cx->held + cx->held_size, text, size);
        cx->held_size += size;
        return;
    }
    cx->log(cx->log_user, level, text);
}

void cri_hold_warnings(cr_ctx *cx)
{
    cx->holding = true;
    cx->held_size = 0;
}

void cri_pause_holding(cr_ctx *cx, bool paused) { cx->holding_paused = paused; }

void cri_release_warnings(cr_ctx *cx, bool pass_on)
{
    size_t size = pass_on && cx->log ? cx->held_size : 0;
    cx->holding = cx->holding_paused = false;
    for (size_t at = 0; at < size; at += strlen(cx->held + at) + 1)
        cx->log(cx->log_user, CR_LOG_WARNING, cx->held + at);
    cx->held_size = 0;
}

void cr_progress(cr_ctx *cx, const char *what, double done, double total)
{
    if (cx->progress && cx->bars == 0) cx->progress(cx->progress_user, what, done, total);
}

static void show_bar(cr_ctx *cx, double done)
{
    if (done > cx->bar_done) cx->bar_done = done;
    if (cx->progress) cx->progress(cx->progress_user, cx->bar, cx->bar_done, 1);
}

void cri_progress_open(cr_ctx *cx, const char *what)
{
    if (cx->bars++ > 0) return;
    cx->bar = what;
    cx->bar_begin = cx->bar_done = 0;
    cx->bar_end = 1;
}

void cri_progress_stage(cr_ctx *cx, double end)
{
    if (cx->bars != 1) return;
    cx->bar_begin = cx->bar_done;
    cx->bar_end = end;
}

void cri_progress_part(cr_ctx *cx, double share)
{
    if (cx->bars == 1) show_bar(cx, cx->bar_begin + share * (cx->bar_end - cx->bar_begin));
}

void cri_progress_close(cr_ctx *cx)
{
    if (cx->bars == 1) show_bar(cx, 1);
    if (cx->bars > 0) cx->bars--;
    cx->bar_of_steps = cx->bar_of_steps && cx->bars > 0;
}

bool cri_progress_open_steps(cr_ctx *cx, const char *what)
{
    if (cx->bars > 0) return false;
    cri_progress_open(cx, what);
    return cx->bar_of_steps = true;
}

void cri_progress_steps(cr_ctx *cx, double steps)
{
    const double USUAL = 30;
    if (cx->bar_of_steps) cri_progress_part(cx, steps / (steps + USUAL));
}
