/* context_internal.h -- the parts of the context that other modules of the library use. */
#ifndef CREDENCE_BASE_CONTEXT_INTERNAL_H
#define CREDENCE_BASE_CONTEXT_INTERNAL_H

#include "context.h"

/* true when the context was asked to stop or is out of time; records nothing, any thread. */
bool cri_should_stop(const cr_ctx *cx);

/* While muted, warnings are dropped: for work that repeats what has been said. */
void cri_mute_warnings(cr_ctx *cx, bool muted);
bool cri_warnings_muted(const cr_ctx *cx);
/* One bar for work of several stages.  Until it is closed, cr_progress is silent; a bar within
 * another is part of that. */
void cri_progress_open(cr_ctx *cx, const char *what);
/* The stage that now begins ends when this share of the whole is done. */
void cri_progress_stage(cr_ctx *cx, double end);
/* This share of the stage is done; the bar never goes back. */
void cri_progress_part(cr_ctx *cx, double share);
/* The work is over: the last bar that closes shows it as done. */
void cri_progress_close(cr_ctx *cx);
/* A bar for steps of which nobody knows how many there will be.  Within another bar, which has its own
 * measure, nothing is opened: false. */
bool cri_progress_open_steps(cr_ctx *cx, const char *what);
/* So many steps of the stage are done: it nears its end ever more slowly.  Only for such a bar. */
void cri_progress_steps(cr_ctx *cx, double steps);

/* From now on warnings are kept back, and those kept so far forgotten: for work in steps of which
 * only the last one counts.  Room for a few; what does not fit is passed on at once. */
void cri_hold_warnings(cr_ctx *cx);
/* While paused, warnings are passed on at once: those that are true whatever comes. */
void cri_pause_holding(cr_ctx *cx, bool paused);
/* No longer kept back; those that are go to the receiver, or nowhere. */
void cri_release_warnings(cr_ctx *cx, bool pass_on);

/* A context of one thread for work that runs beside other work: its memory counts as the parent's,
 * and what stops the parent stops it; failures, log and progress are its own.  Fails with CR_ENOMEM
 * and no sentence.  Freed by cr_ctx_free. */
cr_status cri_ctx_child(cr_ctx *parent, cr_ctx **out_child);

/* The context whose memory and threads these are: the parent's parent's ..., or itself. */
const cr_ctx *cri_ctx_root(const cr_ctx *cx);

/* The temporary files that are open now, by their paths, which stay the caller's.  Any thread. */
void cri_ctx_note_temporary(cr_ctx *cx, const char *path);
void cri_ctx_forget_temporary(cr_ctx *cx, const char *opt_path);
/* Removes them all, for a process that is about to end without ado.  Async-signal-safe. */
void cri_ctx_remove_temporaries(const cr_ctx *cx);

/* The threads that help the one that uses the context (team.h). */
struct cri_team *cri_ctx_team(cr_ctx *cx);

/* "did you mean `meant`?" in the failure just recorded, whose unknown name is another word for it;
 * returns its status. */
cr_status cri_fail_meant(cr_ctx *cx, const char *unknown, const char *meant);
/* Takes over the failure of another context, word for word; returns its status. */
cr_status cri_fail_as(cr_ctx *cx, const cr_ctx *other);

/* How many more bytes may be allocated: up to the memory limit, or, when there is none, up to the
 * memory of the machine.  For refusing work that cannot fit before it starts. */
size_t cri_memory_left(const cr_ctx *cx);
/* true when the context, or the one it works for, has a memory limit. */
bool cri_memory_is_limited(const cr_ctx *cx);

/* How many bytes of a source make a leaf of a table (data/table/table_internal.h): 16 MiB, or what
 * a test has set. */
size_t cri_leaf_bytes(const cr_ctx *cx);
void   cri_set_leaf_bytes(cr_ctx *cx, size_t bytes);

/* Seconds until the time limit; INFINITY when there is none. */
double cri_time_left(const cr_ctx *cx);

/* When work that goes on step by step should end with what it has: after `limit` seconds (NaN: none), or when three
 * quarters of the time that the context has left are over; the rest is for what follows.  INFINITY: never, as someone
 * else keeps the time. */
typedef struct cri_clock {
    cr_ctx *cx;
    double  deadline; /* seconds of the monotonic clock; INFINITY: none */
} cri_clock;
cri_clock cri_clock_start(cr_ctx *cx, double limit);
/* Asked once a step. */
bool cri_clock_over(const cri_clock *clock);
/* true where a clock of the context has been over since this was asked last. */
bool cri_ctx_take_late(cr_ctx *cx);
/* The work of this context is done as a whole or not at all: its clocks do not run out, although what stops its
 * parent stops it.  For fits of which only whole ones count. */
void cri_ctx_be_patient(cr_ctx *cx);
/* Until cri_ctx_set_deadline, with what this returns, only such a share of the time that is left may be used. */
double cri_ctx_hasten(cr_ctx *cx, double share);
void   cri_ctx_set_deadline(cr_ctx *cx, double deadline);
/* Whether st, the failure at hand, says that the time limit is reached, rather than that memory is short. */
bool cri_is_late(const cr_ctx *cx, cr_status st);
/* For tests: at the nth question whether to stop, and until the deadline is set anew, the time limit is reached. */
void cri_ctx_stop_at(cr_ctx *cx, uint64_t nth);
/* For tests: from the nth question on every clock is over, whatever the time; 0: as the time says. */
void cri_ctx_run_out_at(cr_ctx *cx, uint64_t nth);

/* cr_resize for bodies that run in parallel: a failure is recorded nowhere, only NULL comes back,
 * so that which failure is reported does not depend on the threads.  The caller reports it
 * afterwards: */
void *cri_resize_quietly(cr_ctx *cx, void *old, size_t old_count, size_t new_count, size_t size);
/* the failure to get `more` bytes, in the words of cr_resize.  CR_ENOMEM. */
cr_status cri_fail_memory(cr_ctx *cx, size_t more);

/* Sets all bytes to 0.  Gigabytes take seconds: looks meanwhile whether it is to stop. */
cr_status cri_clear(cr_ctx *cx, void *bytes, size_t size);

/* Makes room for one more than n elements of `size` bytes in the array that `array`, a pointer to a
 * pointer, leads to; *capacity is how many it has, and doubles.  CR_ENOMEM leaves it as it was.
 *  O(1) amortised. */
cr_status cri_array_grow(cr_ctx *cx, void *array, size_t n, size_t *capacity, size_t size);

/* A copy of text (NULL stays NULL), freed by cri_string_free.  NULL also on failure, recorded. */
char *cri_string_copy(cr_ctx *cx, const char *text);
char *cri_string_copy_n(cr_ctx *cx, const char *text, size_t length);
/* The text that printf would make, however long; freed likewise. */
char *cri_string_format(cr_ctx *cx, const char *format, ...) CR_PRINTF(2, 3);
void  cri_string_free(cr_ctx *cx, char *text);

/* The number of single-character edits (insert, delete, replace, swap neighbours) from a to b,
 * counting letter case as half an edit; stops counting at `most`. */
double cri_edit_distance(const char *a, const char *b, double most);

#endif
