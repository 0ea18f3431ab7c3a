/* jobs.h -- fits that run beside each other.
 * A job gets a context of its own, of one thread, whose memory and limits are those of the caller's
 * (cri_ctx_child).  As many run at once as the caller's context has threads, so memory is bounded
 * by that many jobs.  What they log is passed on in the order of the jobs, warnings that differ only in
 * numbers once, with how many jobs gave them, and of several failures that of the first job is
 * reported: the same for any number of threads.  A job that runs out of memory beside others is run
 * again alone.  (Internal header.) */
#ifndef CREDENCE_STUDY_JOBS_H
#define CREDENCE_STUDY_JOBS_H

#include "base/context.h"

/* Job number `job`, which writes to its own place behind arg only. */
typedef cr_status cri_job(cr_ctx *cx, void *arg, size_t job);

/* Runs jobs 0 .. n-1; `what` names them for progress.  Jobs after the first that fails may or may
 * not have run. */
cr_status cri_run_jobs(cr_ctx *cx, const char *what, size_t n, cri_job *job, void *arg);
/* The same, but the time limit is no failure: done [n] says which jobs were finished in time, in this share of
 * the time that is left.  A job is done as a whole or not at all: a fit in it does not end with the best so far. */
cr_status cri_run_jobs_in_time(cr_ctx *cx, const char *what, size_t n, cri_job *job, void *arg,
                               double share, bool *done);

#endif
