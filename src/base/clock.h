/* clock.h -- seconds that only go forward.  (Internal header.) */
#ifndef CREDENCE_BASE_CLOCK_H
#define CREDENCE_BASE_CLOCK_H

#include <time.h>

/* Seconds by one of the clocks of the system. */
static inline double cri_seconds_by(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds since some moment in the past; only differences mean something. */
static inline double cri_seconds(void) { return cri_seconds_by(CLOCK_MONOTONIC); }

#endif
