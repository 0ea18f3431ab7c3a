/* jobs.c -- jobs over threads, each in a context of its own. */
#include "jobs.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* What one job leaves behind. */
typedef struct slot {
    cr_ctx   *parent;
    cr_ctx   *failed; /* holds the sentence of a failure */
    cr_status status;
    bool      done; /* and well                                    */
    char     *log;  /* [capacity]: level, text, '\0' for each line */
    size_t    used, capacity;
} slot;

typedef struct work {
    cr_ctx       *cx;
    cri_job      *job;
    void         *arg;
    slot         *slots;
    atomic_size_t first_failed; /* jobs behind it need not start */
    bool          in_time;      /* those that the clock ends are left out, and have not failed */
    cri_clock     clock;
} work;

/* A line that there is no memory for is lost: the job will hardly get further either. */
static void keep_line(void *user, cr_log_level level, const char *text)
{
    slot  *s = user;
    size_t size = strlen(text) + 2;
    if (s->used + size > s->capacity) {
        size_t capacity = 2 * s->capacity + size;
        char  *log = cri_resize_quietly(s->parent, s->log, s->capacity, capacity, 1);
        if (!log) return;
        s->log = log, s->capacity = capacity;
    }
    s->log[s->used] = (char)('0' + (int)level);
    memcpy(s->log + s->used + 1, text, size - 1);
    s->used += size;
}

static void note_failure(work *w, size_t j, cr_status st)
{
    size_t first = atomic_load(&w->first_failed);
    w->slots[j].status = st;
    while (j < first && !atomic_compare_exchange_weak(&w->first_failed, &first, j)) {}
}

static void run_one(void *arg, size_t j)
{
    work   *w = arg;
    slot   *s = &w->slots[j];
    cr_ctx *child = NULL;
    if (s->done || j > atomic_load(&w->first_failed)) return;
    if (w->in_time && cri_clock_over(&w->clock)) return;
    s->used = 0;
    if (cri_ctx_child(w->cx, &child) != CR_OK) {
        note_failure(w, j, CR_ENOMEM);
        return;
    }
    cr_ctx_set_log(child, keep_line, s);
    if (w->in_time) {
        cri_ctx_be_patient(child);
        if (w->clock.deadline < INFINITY)
            cr_ctx_set_time_limit(child, fmax(w->clock.deadline - cri_seconds(), 1e-9));
    }
    cr_status st = w->job(child, w->arg, j);
    s->done = st == CR_OK;
    if (w->in_time && st == CR_ENOMEM && cri_clock_over(&w->clock)) {
        s->used = 0;
        cr_ctx_free(child);
        return;
    }
    if (st != CR_OK)
        s->failed = child;
    else
        cr_ctx_free(child);
    if (st != CR_OK) note_failure(w, j, st);
}

/* The jobs from `first` on, one after the other: nothing competes with them for memory. */
static cr_status run_alone(work *w, const char *what, size_t first, size_t n)
{
    cr_status st = CR_OK;
    atomic_store(&w->first_failed, SIZE_MAX);
    for (size_t j = first; j < n && atomic_load(&w->first_failed) == SIZE_MAX; j++) {
        CR_TRY(cr_check_interrupt(w->cx));
        cr_ctx_free(w->slots[j].failed);
        w->slots[j].failed = NULL;
        run_one(w, j);
        cr_progress(w->cx, what, (double)(j + 1), (double)n);
    }
done:
    return st;
}

/* --- what they log --------------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The end of a number such as 12, 0.5 or 1e-05 at the beginning of text, which may have none. */
static const char *skip_number(const char *text)
{
    while (is_digit(*text) || (*text == '.' && is_digit(text[1]))) text++;
    const char *power = text + 1 + (text[0] == 'e' && (text[1] == '-' || text[1] == '+'));
    if (*text == 'e' && is_digit(*power)) return skip_number(power);
    return text;
}

/* true when two lines say the same of different numbers.  What is in quotes is a name, and so are digits behind a
 * letter. */
static bool is_alike(const char *a, const char *b)
{
    bool quoted = false, named = false;
    while (*a) {
        if (is_digit(*a) && is_digit(*b) && !quoted && !named) {
            a = skip_number(a), b = skip_number(b);
            continue;
        }
        if (*a != *b) return false;
        quoted ^= *a == '\'';
        named = is_letter(*a) || (named && is_digit(*a));
        a++, b++;
    }
    return !*b;
}

enum { PASSED_ON = ' ' }; /* in the place of the level of a line */

/* How many of the jobs from `first` on, n in all, have such a warning; these are not passed on again. */
static size_t gather_alike(const work *w, size_t first, size_t n, const char *text)
{
    size_t jobs = 0;
    for (size_t j = first; j < n; j++) {
        slot *s = &w->slots[j];
        bool  found = false;
        for (char *at = s->log; at && at < s->log + s->used; at += strlen(at) + 1) {
            if (at[0] - '0' != CR_LOG_WARNING || !is_alike(at + 1, text)) continue;
            at[0] = PASSED_ON;
            found = true;
        }
        jobs += found;
    }
    return jobs;
}

/* Passes on what was logged, up to the job that failed: a warning of several jobs once, with their number. */
static void replay(const work *w, size_t n)
{
    size_t failed = atomic_load(&w->first_failed), made = failed < n ? failed + 1 : n;
    for (size_t j = 0; j < made; j++)
        for (char *at = w->slots[j].log; at && at < w->slots[j].log + w->slots[j].used;
             at += strlen(at) + 1) {
            if (at[0] == PASSED_ON) continue;
            cr_log_level level = (cr_log_level)(at[0] - '0');
            size_t       jobs = level == CR_LOG_WARNING ? gather_alike(w, j, made, at + 1) : 1;
            if (jobs > 1)
                cr_log(w->cx, level, "%s (%zu of %zu times)", at + 1, jobs, n);
            else
                cr_log(w->cx, level, "%s", at + 1);
        }
}

static cr_status first_failure(const work *w)
{
    size_t j = atomic_load(&w->first_failed);
    if (j == SIZE_MAX) return CR_OK;
    if (!w->slots[j].failed) return cr_fail(w->cx, CR_ENOMEM, "out of memory");
    return cri_fail_as(w->cx, w->slots[j].failed);
}

static cr_status run_jobs(cr_ctx *cx, const char *what, size_t n, cri_job *job, void *arg,
                          double share, bool *opt_done)
{
    cr_status st = CR_OK;
    work      w = { .cx = cx, .job = job, .arg = arg, .slots = cr_alloc(cx, n, sizeof *w.slots) };
    if (!w.slots) return CR_ENOMEM;
    w.in_time = opt_done != NULL;
    w.clock = (cri_clock){ cx, cri_seconds() + share * cri_time_left(cx) };
    atomic_store(&w.first_failed, SIZE_MAX);
    for (size_t j = 0; j < n; j++) w.slots[j].parent = cx;

    CR_TRY(cri_parallel_for(cx, what, n, run_one, &w));
    size_t failed = atomic_load(&w.first_failed);
    if (failed < n && w.slots[failed].status == CR_ENOMEM && cr_ctx_threads(cx) > 1 && n > 1 &&
        !cri_should_stop(cx))
        CR_TRY(run_alone(&w, what, failed, n));
    replay(&w, n);
    CR_TRY(first_failure(&w));
    for (size_t j = 0; opt_done && j < n; j++) opt_done[j] = w.slots[j].done;
done:
    for (size_t j = 0; j < n; j++) {
        cr_ctx_free(w.slots[j].failed);
        cr_free(cx, w.slots[j].log, w.slots[j].capacity, 1);
    }
    cr_free(cx, w.slots, n, sizeof *w.slots);
    return st;
}

cr_status cri_run_jobs(cr_ctx *cx, const char *what, size_t n, cri_job *job, void *arg)
{
    return run_jobs(cx, what, n, job, arg, 1, NULL);
}

cr_status cri_run_jobs_in_time(cr_ctx *cx, const char *what, size_t n, cri_job *job, void *arg,
                               double share, bool *done)
{
    return run_jobs(cx, what, n, job, arg, share, done);
}
