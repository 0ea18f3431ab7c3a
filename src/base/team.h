/* team.h -- threads that help the one that has the work, and sleep in between.
 * The caller never waits for a helper that has not begun: work is written so that whoever is there
 * does it (it takes its parts from a common counter), and what the caller finishes alone before a
 * helper wakes up costs no more than alone.  So small work is not slowed down by threads that other
 * programs keep from their core, and nothing spins for longer than it takes to fall asleep.
 * Helpers start when first asked for and end with their context.  Where threads cannot be started,
 * or the process is a fork that does not have them, the caller works alone.  (Internal header.) */
#ifndef CREDENCE_BASE_TEAM_H
#define CREDENCE_BASE_TEAM_H

#include "context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

enum { CRI_MOST_HELPERS = 255 };

/* What each that joins in does until nothing is left; `caller` on the thread that has the work. */
typedef void cri_team_work(void *arg, bool caller);

typedef struct cri_team {
    atomic_flag     taken;   /* by the work that it does: work inside work gets no helpers      */
    pid_t           process; /* whose threads they are; 0 = none were started yet               */
    pthread_mutex_t lock;    /* of what follows                                                 */
    pthread_cond_t  call, leave;
    cri_team_work  *work;
    void           *arg;
    atomic_size_t   seats;  /* helpers that may still join in                                   */
    atomic_size_t   inside; /* helpers at work                                                  */
    bool            quit;
    size_t          count; /* of threads that were started                                     */
    pthread_t       helper[CRI_MOST_HELPERS];
} cri_team;

/* A team of nobody yet. */
void cri_team_init(cri_team *t);
/* Ends its threads; none may be at work. */
void cri_team_free(cri_team *t);

/* Runs work(arg, true) here, and work(arg, false) on up to threads - 1 helpers that are there in
 * time; returns when all who began have returned. */
void cri_team_run(cri_team *t, size_t threads, cri_team_work *work, void *arg);

#endif
