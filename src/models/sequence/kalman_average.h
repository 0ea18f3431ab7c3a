/* kalman_average.h -- what few rows leave open of the parameters: their posterior under weak priors, as a few settings
 * that share it.
 * The common scale of all variances and the mean are integrated out by formula, under 1 / scale^2 and a flat prior: given the
 * others, S = min over the mean of sum v^2 / F at scale 1 has the likelihood
 *   prod F^(-1/2)  A^(-1/2)  S^(-dof/2),     dof = values - unknown start - mean,
 * A the curvature of S / 2 by the mean, and a forecast is Student's t of dof degrees of freedom.  That is all there is where one
 * variance is the only other parameter, as in a regression, and is exact there.
 * Of the others, roots of ratios of variances are half-Cauchy, partial autocorrelations, damping and frequency uniform.  Each is
 * the logistic function of a coordinate z, in which the prior is logistic.  Importance sampling by low-discrepancy points from
 * the prior, and then from t distributions that have the moments of what came before, tempered until that is the posterior
 * (Cappe, Guillin, Marin & Robert 2004).  Nothing is random.  Hamilton (1986); Durbin & Koopman (2012), sec. 7.3.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_KALMAN_AVERAGE_H
#define CREDENCE_MODELS_SEQUENCE_KALMAN_AVERAGE_H

#include "kalman_search.h"

typedef struct cri_kalman_average {
    size_t      n;       /* settings; 0: there is no average, `why` says why            */
    double     *setting; /* [n x n_theta] variances as of scale^2 = S / dof              */
    double     *share;   /* [n] sums to 1                                               */
    double      dof;     /* of Student's t, given a setting                             */
    const char *why;     /* "it would take long" */
} cri_kalman_average;

/* Whether rows are so few that intervals at the best parameters would be too narrow. */
bool cri_kalman_is_open(const cri_kalman_plan *plan, size_t observed);
/* At most `most` settings, in the caller's arena.  A few hundred evaluations of the likelihood a round, of a few; `asked`: however
 * long they take, but for the time limit. */
cr_status cri_kalman_settings(cr_scratch *s, cri_kalman_target *t, size_t most, bool asked,
                              cri_kalman_average *out);

#endif
