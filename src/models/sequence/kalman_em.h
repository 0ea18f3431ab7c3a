/* kalman_em.h -- the variances of a structural model by EM.
 * A variance v is that of R independent shocks, of which the score knows all that the M-step needs: with
 * s = d l / d v at hand, the mean square of the shocks given the rows is
 *   v + 2 v^2 s / R,
 * which never lowers the likelihood (Dempster, Laird & Rubin 1977; Koopman 1993, Biometrika 80).  Steps are extrapolated
 * (math/optim/anderson.h) where that raises the likelihood more, else taken as they are.
 * Parts whose transition is learned have no such step.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_KALMAN_EM_H
#define CREDENCE_MODELS_SEQUENCE_KALMAN_EM_H

#include "kalman_search.h"

typedef struct cri_kalman_em {
    cri_kalman_target *t;
    double            *shocks;           /* [n_theta] R of each variance                     */
    double            *from, *to, *next; /* [n_theta] a point, its step, and an extrapolated */
    double *gradient, *slope, *ahead;    /* [n_theta]                                      */
    size_t *free, n_free;                /* variances that are not 0                         */
    size_t  most;                        /* steps of a run                                   */
    double *opt_trace;                   /* [most + 1] the log likelihood at every step      */
} cri_kalman_em;

/* CR_EUNSUPPORTED where a part has no step. */
cr_status cri_kalman_em_check(cr_ctx *cx, const cri_kalman_plan *plan);
/* In the caller's arena; gap [] of data with steps. */
cr_status cri_kalman_em_new(cr_scratch *s, cri_kalman_target *t, size_t most, cri_kalman_em *out);
/* Steps from theta [n_theta], which becomes the end, until no entry of the gradient exceeds tol times the log likelihood,
 * or the clock is over.  out_steps: how many; all of `most` where it has not converged. */
cr_status cri_kalman_em_run(cr_scratch *s, cri_kalman_em *em, double tol,
                            const cri_clock *opt_clock, double *theta, double *out_height,
                            size_t *out_steps);

#endif
