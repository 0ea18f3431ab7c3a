/* kalman_search.h -- the parameters of a structural model by maximum likelihood.
 * Candidates spread over the parameters are brought to their best common scale; L-BFGS with the exact score runs from
 * the best of them.  A variance that vanishes is set to 0 where its slope there says so: a bound, not a
 * number on its way down.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_KALMAN_SEARCH_H
#define CREDENCE_MODELS_SEQUENCE_KALMAN_SEARCH_H

#include "base/clock.h"
#include "base/context_internal.h"
#include "kalman_parts.h"
#include "models/core/model.h"

typedef struct cri_kalman_target {
    cr_ctx                *cx;
    const cri_kalman_plan *plan;
    cri_kalman_data        data;  /* y less the mean of theta where there is one: `moved`    */
    const double          *y;     /* [n] as it is                                            */
    double                *moved; /* [n]                                                     */
    cri_kalman_system      system;
    cri_kalman_score       score;
    double                *work; /* [6 m m]                                                 */
    size_t                 evaluations;
} cri_kalman_target;

/* A target in the caller's arena; gap [gaps] of data with steps. */
cr_status cri_kalman_target_new(cr_scratch *s, const cri_kalman_plan *plan,
                                const cri_kalman_data *data, const double *gap, size_t gaps,
                                cri_kalman_target *out);
/* The system at theta; out_there false where there is none. */
cr_status cri_kalman_set(cri_kalman_target *t, const double *theta, bool *out_there);
/* The log likelihood at theta, NaN where there is none; opt_gradient and opt_slope [n_theta] as
 * cri_kalman_pull. */
cr_status cri_kalman_evaluate(cri_kalman_target *t, const double *theta, double *out,
                              double *opt_gradient, double *opt_slope);

/* The `wanted` best of all candidates, best first: starts [wanted x n_theta], with their log likelihoods; how many there
 * are.  work [n_theta].  Ends with what it has when the clock is over. */
size_t    cri_kalman_most_starts(size_t restarts);
cr_status cri_kalman_starts(cri_kalman_target *t, size_t wanted, uint64_t seed,
                            const cri_clock *clock, double *starts, double *heights, double *work,
                            size_t *out_n);

/* Whether the clock is over, or leaves too little for the last pass over the rows, where an evaluation takes so long. */
bool cri_kalman_late(cr_ctx *cx, const cri_clock *clock, double seconds);

typedef struct cri_kalman_best {
    double *theta;      /* [n_theta] variances at 0 are minus infinity                          */
    double *covariance; /* [n_theta x n_theta] of theta by the Hessian; NaN of variances at 0   */
    double  log_likelihood;
    double  gradient; /* its largest entry by theta, of those that are not at a bound         */
    double  gain;     /* what a Newton step would gain: half the decrement; NaN: no maximum   */
    size_t  iterations, starts, agreed; /* runs, and those that ended as high as the best       */
    cr_stop stop;
} cri_kalman_best;

/* By L-BFGS, or by EM where every part has a step of it.  The arrays of *out are of the caller's arena. */
cr_status cri_kalman_search(cr_scratch *s, cri_kalman_target *t, bool em, size_t restarts,
                            size_t max_iter, double tol, uint64_t seed, cri_kalman_best *out);

#endif
