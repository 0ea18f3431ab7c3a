/* context.c -- allocator accounting, the text of failures, log, progress, interrupt, limits. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "context_internal.h"
#include "checked.h"
#include "team.h"
#include "base/clock.h"

#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SENTENCE_SIZE = 2048,
    NOTES_SIZE = 4096,
    HINT_SIZE = 1024,
    NAME_SIZE = 256,
    HELD_SIZE = 8192,
    TEMPORARIES = 8 /* more are left to the next that writes under the same name */
};

struct cr_ctx {
    cr_allocator allocator;
    cr_ctx      *parent; /* whose memory, interrupt and time limit count; NULL for none */
    size_t       threads, cores, memory_limit;
    size_t       leaf_bytes; /* 0: as many as ever */
    double       deadline;   /* seconds of the monotonic clock; 0 = none */

    atomic_size_t        memory, peak_memory;
    atomic_uint_fast64_t fail_countdown; /* 0 = never */
    atomic_bool          interrupted;
    atomic_flag          error_lock;

    cr_log_fn      *log;
    void           *log_user;
    cr_progress_fn *progress;
    void           *progress_user;
    bool            warnings_muted, bar_of_steps;
    size_t          bars;                         /* open now; the first is shown */
    const char     *bar;                          /* what it is called            */
    double          bar_begin, bar_end, bar_done; /* of its stage; what was shown last */
    bool            holding, holding_paused;

    cri_team team; /* the threads that help this one */

    _Atomic(const char *) temporaries[TEMPORARIES]; /* paths, NULL where there is none */

    /* Fixed room, so that reporting a failure cannot itself run out of memory. */
    cr_status status;
    char      sentence[SENTENCE_SIZE], notes[NOTES_SIZE], hint[HINT_SIZE];
    char      unknown[NAME_SIZE], nearest[NAME_SIZE];
    size_t    held_size; /* of the warnings kept back, each with its zero */
    char      held[HELD_SIZE];
};

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

void cr_interrupt(cr_ctx *cx) { atomic_store(&cx->interrupted, true); }
void cr_interrupt_clear(cr_ctx *cx) { atomic_store(&cx->interrupted, false); }

bool cri_should_stop(const cr_ctx *cx)
{
    if (cx->parent && cri_should_stop(cx->parent)) return true;
    return atomic_load(&cx->interrupted) || (cx->deadline > 0 && cri_seconds() > cx->deadline);
}

double cri_time_left(const cr_ctx *cx)
{
    double left = cx->deadline > 0 ? cx->deadline - cri_seconds() : INFINITY;
    double other = cx->parent ? cri_time_left(cx->parent) : INFINITY;
    left = left > 0 ? left : 0;
    return left < other ? left : other;
}

static bool is_interrupted(const cr_ctx *cx)
{
    return atomic_load(&cx->interrupted) || (cx->parent && is_interrupted(cx->parent));
}

cr_status cr_check_interrupt(cr_ctx *cx)
{
    if (is_interrupted(cx)) return cr_fail(cx, CR_EINTERRUPTED, "interrupted");
    if (cri_should_stop(cx)) {
        cr_fail(cx, CR_ENOMEM, "the time limit is reached");
        return cr_fail_hint(cx, "give it longer with --time-limit");
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

/* --- failures -------------------------------------------------------------------------------- */

static void lock_error(cr_ctx *cx)
{
    while (atomic_flag_test_and_set(&cx->error_lock)) {}
}

static void unlock_error(cr_ctx *cx) { atomic_flag_clear(&cx->error_lock); }

cr_status cr_fail(cr_ctx *cx, cr_status status, const char *format, ...)
{
    char    text[SENTENCE_SIZE]; /* an argument may be the old sentence */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    lock_error(cx);
    memcpy(cx->sentence, text, sizeof text);
    cx->notes[0] = cx->hint[0] = cx->unknown[0] = cx->nearest[0] = '\0';
    cx->status = status;
    unlock_error(cx);
    return status;
}

cr_status cr_fail_note(cr_ctx *cx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    lock_error(cx);
    size_t used = strlen(cx->notes);
    if (used > 0 && used + 1 < NOTES_SIZE) cx->notes[used++] = '\n';
    vsnprintf(cx->notes + used, NOTES_SIZE - used, format, args);
    unlock_error(cx);
    va_end(args);
    return cx->status;
}

cr_status cr_fail_hint(cr_ctx *cx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    lock_error(cx);
    vsnprintf(cx->hint, HINT_SIZE, format, args);
    unlock_error(cx);
    va_end(args);
    return cx->status;
}

cr_status cr_fail_nearest(cr_ctx *cx, const char *unknown, const char *title, size_t n,
                          const char *(*name)(const void *user, size_t i), const void *user)
{
    size_t length = strlen(unknown);
    double best = length < 2   ? 0.6 /* only its case */
                  : length < 3 ? 1.01
                               : 1.01 + (double)length / 4; /* a quarter may be mistyped */
    char   list[NOTES_SIZE / 2] = "";
    size_t used = 0, left_out = 0;

    const char *nearest = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *known = name(user, i);
        double      d = cri_edit_distance(unknown, known, best);
        if (strncmp(known, unknown, length) == 0) d -= 0.3; /* its end is missing: of equals this */
        if (d < best) best = d, nearest = known;

        size_t need = strlen(known) + 2;
        if (i < 60 && used + need < sizeof list - 32)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", known);
        else
            left_out++;
    }
    if (n > 0 && left_out)
        cr_fail_note(cx, "%s: %s and %zu more", title, list, left_out);
    else if (n > 0)
        cr_fail_note(cx, "%s: %s", title, list);
    return nearest ? cri_fail_meant(cx, unknown, nearest) : cx->status;
}

cr_status cri_fail_meant(cr_ctx *cx, const char *unknown, const char *meant)
{
    lock_error(cx);
    snprintf(cx->unknown, sizeof cx->unknown, "%s", unknown);
    snprintf(cx->nearest, sizeof cx->nearest, "%s", meant);
    unlock_error(cx);
    return cr_fail_hint(cx, "did you mean '%s'?", meant);
}

cr_status cri_fail_as(cr_ctx *cx, const cr_ctx *other)
{
    lock_error(cx);
    cx->status = other->status;
    memcpy(cx->sentence, other->sentence, sizeof cx->sentence);
    memcpy(cx->notes, other->notes, sizeof cx->notes);
    memcpy(cx->hint, other->hint, sizeof cx->hint);
    memcpy(cx->unknown, other->unknown, sizeof cx->unknown);
    memcpy(cx->nearest, other->nearest, sizeof cx->nearest);
    unlock_error(cx);
    return other->status;
}

const char *cr_error(const cr_ctx *cx) { return cx->sentence; }
const char *cr_error_notes(const cr_ctx *cx) { return cx->notes; }
const char *cr_error_hint(const cr_ctx *cx) { return cx->hint; }
const char *cr_error_unknown(const cr_ctx *cx) { return cx->unknown; }
const char *cr_error_nearest(const cr_ctx *cx) { return cx->nearest; }
cr_status   cr_error_status(const cr_ctx *cx) { return cx->status; }

/* --- memory ---------------------------------------------------------------------------------- */

size_t cri_memory_left(const cr_ctx *cx)
{
    size_t use = atomic_load(&cx->memory), limit = cx->memory_limit;
    if (cx->parent) return cri_memory_left(cx->parent);
    if (limit == 0) {
        long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
        limit = pages > 0 && size > 0 ? (size_t)pages * (size_t)size : SIZE_MAX;
    }
    return limit > use ? limit - use : 0;
}

bool cri_memory_is_limited(const cr_ctx *cx)
{
    return cx->parent ? cri_memory_is_limited(cx->parent) : cx->memory_limit > 0;
}

/* Counts `more` bytes against the limit and the planned failures; false when refused. */
static bool reserve(cr_ctx *cx, size_t more)
{
    uint_fast64_t left = atomic_load(&cx->fail_countdown);
    while (left > 0 && !atomic_compare_exchange_weak(&cx->fail_countdown, &left, left - 1)) {}
    if (left == 1) return false;
    size_t use = atomic_fetch_add(&cx->memory, more) + more;
    if (cx->memory_limit && use > cx->memory_limit) {
        atomic_fetch_sub(&cx->memory, more);
        return false;
    }
    size_t peak = atomic_load(&cx->peak_memory);
    while (use > peak && !atomic_compare_exchange_weak(&cx->peak_memory, &peak, use)) {}
    return true;
}

cr_status cri_fail_memory(cr_ctx *cx, size_t more)
{
    size_t limit = cx->parent ? cx->parent->memory_limit : cx->memory_limit;
    if (limit == 0 || more <= cri_memory_left(cx))
        return cr_fail(cx, CR_ENOMEM, "out of memory: %zu bytes were asked for", more);
    cr_fail(cx, CR_ENOMEM, "the memory limit of %zu bytes is reached: %zu more were asked for",
            limit, more);
    return cr_fail_hint(cx, "raise it with --memory-limit");
}

void *cri_resize_quietly(cr_ctx *cx, void *old, size_t old_count, size_t new_count, size_t size)
{
    size_t old_bytes = old_count * size, new_bytes;
    if (!cri_mul(new_count, size, &new_bytes) || new_bytes > PTRDIFF_MAX) return NULL;
    if (new_bytes == 0) new_bytes = 1;
    if (old && old_bytes == 0) old_bytes = 1;
    if (new_bytes > old_bytes && !reserve(cx, new_bytes - old_bytes)) return NULL;
    void *p = cx->allocator.resize(cx->allocator.user, old, old_bytes, new_bytes);
    if (!p && new_bytes > old_bytes) atomic_fetch_sub(&cx->memory, new_bytes - old_bytes);
    if (p && new_bytes < old_bytes) atomic_fetch_sub(&cx->memory, old_bytes - new_bytes);
    return p;
}

void *cr_resize(cr_ctx *cx, void *old, size_t old_count, size_t new_count, size_t size)
{
    size_t bytes, old_bytes = old_count * size;
    void  *p = cri_resize_quietly(cx, old, old_count, new_count, size);
    if (p) return p;
    if (cri_mul(new_count, size, &bytes) && bytes <= PTRDIFF_MAX)
        cri_fail_memory(cx, bytes > old_bytes ? bytes - old_bytes : bytes);
    else
        cr_fail(cx, CR_ENOMEM, "out of memory: %zu items of %zu bytes do not fit", new_count, size);
    return NULL;
}

cr_status cri_clear(cr_ctx *cx, void *bytes, size_t size)
{
    const size_t share = (size_t)1 << 25; /* some hundredths of a second, with new pages */
    cr_status    st = CR_OK;
    for (size_t at = 0; at < size && st == CR_OK; at += share) {
        size_t left = size - at;
        memset((char *)bytes + at, 0, left < share ? left : share);
        if (left > share) st = cr_check_interrupt(cx);
    }
    return st;
}

void *cr_alloc(cr_ctx *cx, size_t count, size_t size)
{
    void *p = cr_resize(cx, NULL, 0, count, size);
    if (!p || cri_clear(cx, p, count * size) == CR_OK) return p;
    cr_free(cx, p, count, size);
    return NULL;
}

void cr_free(cr_ctx *cx, void *p, size_t count, size_t size)
{
    if (!p) return;
    size_t bytes = count * size;
    if (bytes == 0) bytes = 1;
    atomic_fetch_sub(&cx->memory, bytes);
    cx->allocator.resize(cx->allocator.user, p, bytes, 0);
}

cr_status cri_array_grow(cr_ctx *cx, void *array, size_t n, size_t *capacity, size_t size)
{
    void  *old;
    size_t more = *capacity ? 2 * *capacity : 16;
    if (n < *capacity) return CR_OK;
    memcpy(&old, array, sizeof old); /* whatever it points to */
    void *bigger = cr_resize(cx, old, *capacity, more, size);
    if (!bigger) return CR_ENOMEM;
    memcpy(array, &bigger, sizeof bigger);
    *capacity = more;
    return CR_OK;
}

char *cri_string_copy_n(cr_ctx *cx, const char *text, size_t length)
{
    char *copy = cr_resize(cx, NULL, 0, length + 1, 1);
    if (!copy) return NULL;
    if (length > 0) memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *cri_string_copy(cr_ctx *cx, const char *text)
{
    return text ? cri_string_copy_n(cx, text, strlen(text)) : NULL;
}

char *cri_string_format(cr_ctx *cx, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t size = (size_t)vsnprintf(NULL, 0, format, args) + 1;
    char  *text = cr_resize(cx, NULL, 0, size, 1);
    if (text) vsnprintf(text, size, format, again);
    va_end(again);
    va_end(args);
    return text;
}

void cri_string_free(cr_ctx *cx, char *text)
{
    if (text) cr_free(cx, text, strlen(text) + 1, 1);
}
