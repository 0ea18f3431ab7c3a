/* context_state.h -- what a context holds, for the files that make it up: context.c, context_failure.c,
 * context_memory.c.  (Internal header.) */
#ifndef CREDENCE_BASE_CONTEXT_STATE_H
#define CREDENCE_BASE_CONTEXT_STATE_H

#include "context_internal.h"
#include "team.h"

#include <stdatomic.h>

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
    bool         patient;    /* no clock of it runs out                  */
    atomic_bool  late;       /* one has                                  */

    atomic_size_t        memory, peak_memory;
    atomic_uint_fast64_t fail_countdown; /* 0 = never */
    atomic_uint_fast64_t time_countdown; /* questions until every clock is over; 0 = never */
    atomic_uint_fast64_t stop_countdown; /* and until the time limit is reached */
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

#endif
