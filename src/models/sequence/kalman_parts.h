/* kalman_parts.h -- structural models: the parts that a series is the sum of, each with its states and parameters.
 *   level         l_{t+1} = l_t + n_t                                          variance.level
 *   trend         l_{t+1} = l_t + b_t + n_t,  b_{t+1} = b_t + c_t              variance.level, variance.slope
 *   seasonal:s    the sum of s seasons in a row is noise                       variance.seasonal
 *   cycle         a damped wave: two states turned by 2 pi / period            variance.cycle, damping, period
 *   ar:p          u_t = phi1 u_{t-1} + ... + n_t                               phi, variance.ar
 *   arma:p,q      the same with n_t + theta1 n_{t-1} + ...                     phi, theta, variance.ar
 *   regression    x_t' b, b constant                                           states, not parameters
 *   regression:walk  x_t' b_t,  b_{t+1} = b_t + n_t                            variance of each column
 *   irregular     noise of the observations                                    variance.irregular
 * Harvey (1989), ch. 2 and 4; Durbin & Koopman (2012), ch. 3.
 *
 * Several series share constant coefficients; those that walk start anew in each.
 * Level, slope, seasons and coefficients have a diffuse start, cycle and arma a stationary one.  A series
 * whose parts have neither level nor trend varies about a constant: a parameter `mean`, estimated by maximum
 * likelihood, beside cycle and arma where nothing is diffuse, and a state with a diffuse start otherwise.
 *
 * Several columns that are observed together, target first, are each a sum of the same parts, whose shocks, and the
 * noise, are correlated (kalman_joint.h).
 *
 * The search is over theta, without bounds: logarithms of variances (minus infinity is 0), partial
 * autocorrelations r = theta / sqrt(1 + theta^2), by which ar is stationary and ma invertible, and likewise
 * damping and frequency.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_KALMAN_PARTS_H
#define CREDENCE_MODELS_SEQUENCE_KALMAN_PARTS_H

#include "kalman_system.h"

enum {
    CRI_KALMAN_MOST_PARTS = 16,
    CRI_KALMAN_MOST_LAGS = 50,
    CRI_KALMAN_MOST_STATES = 1000,
    CRI_KALMAN_MOST_WALKS = 100,
    CRI_KALMAN_MOST_JOINT = 10, /* columns */
    CRI_KALMAN_MOST_THETA =
        CRI_KALMAN_MOST_PARTS * 3 + 2 * CRI_KALMAN_MOST_LAGS + 1 + CRI_KALMAN_MOST_WALKS
};

typedef enum cri_kalman_kind {
    CRI_KALMAN_LEVEL,
    CRI_KALMAN_TREND,
    CRI_KALMAN_SEASONAL,
    CRI_KALMAN_CYCLE,
    CRI_KALMAN_AR,
    CRI_KALMAN_ARMA,
    CRI_KALMAN_REGRESSION,
    CRI_KALMAN_IRREGULAR,
    CRI_KALMAN_CONSTANT
} cri_kalman_kind;

typedef struct cri_kalman_part {
    cri_kalman_kind kind;
    size_t          period;       /* of a season                    */
    size_t          p, q;         /* of ar and arma                 */
    size_t          first, n;     /* its states                     */
    size_t          theta, count; /* its parameters                 */
    bool            damped;       /* phi of ar:1 is above 0         */
    bool            walk;         /* coefficients are random walks  */
    char            name[24];     /* "seasonal", "seasonal7" beside another */
} cri_kalman_part;

typedef enum cri_kalman_scale {
    CRI_KALMAN_VARIANCE,
    CRI_KALMAN_PARTIAL, /* a partial autocorrelation */
    CRI_KALMAN_DAMPING,
    CRI_KALMAN_PERIOD,
    CRI_KALMAN_MEAN
} cri_kalman_scale;

typedef struct cri_kalman_plan {
    size_t           n_parts, n_theta, m, k;
    cri_kalman_part  parts[CRI_KALMAN_MOST_PARTS];
    cri_kalman_scale scale[CRI_KALMAN_MOST_THETA];
    size_t           p;      /* columns that are observed                                      */
    size_t           m1, n1; /* states and parameters of the parts of one column alone: m and
                                * n_theta where p is 1                                           */
    size_t           variances, variance[CRI_KALMAN_MOST_PARTS]; /* which of n1; where p > 1 */
    double           longest; /* the longest period of a cycle, > 2 */
    bool             dynamic; /* T has parameters                   */
    bool             mean;    /* the last parameter is the mean     */
    bool             between; /* rows lie between whole steps       */
    bool             walk;    /* coefficients are random walks      */
} cri_kalman_plan;

/* Reads "trend,seasonal:12"; k regressors, periods of cycles up to `longest`.  CR_EARG in words. */
cr_status cri_kalman_plan_read(cr_ctx *cx, const char *text, size_t k, double longest,
                               cri_kalman_plan *out);
/* Makes it one of rows between whole steps: CR_EUNSUPPORTED where a part has no such form. */
cr_status cri_kalman_plan_between(cr_ctx *cx, cri_kalman_plan *plan);
/* A system of the plan in the caller's arena, as cri_kalman_new. */
cr_status cri_kalman_new_of(cr_scratch *s, const cri_kalman_plan *plan, cri_kalman_system *out);
/* The matrices at theta.  `system` is of cri_kalman_new_of; work [6 m m].  false where there are none. */
bool cri_kalman_build(const cri_kalman_plan *plan, const double *theta, cri_kalman_system *system,
                      double *work);
/* The gradient of the log likelihood by theta, from the score; opt_slope [n_theta]: by variances themselves,
 * also at 0.  work [6 m m]. */
void cri_kalman_pull(const cri_kalman_plan *plan, const double *theta,
                     const cri_kalman_system *system, const cri_kalman_score *score, double *work,
                     double *gradient, double *opt_slope);
/* The parameters as they are shown: value [n_theta] and d value / d theta [n_theta x n_theta]. */
void cri_kalman_values(const cri_kalman_plan *plan, const double *theta, double *value,
                       double *opt_jacobian);
/* The regressor whose coefficient has this variance; k: none. */
size_t cri_kalman_walk_of(const cri_kalman_plan *plan, size_t i);
/* The name of one that is not of a regressor. */
void cri_kalman_name(const cri_kalman_plan *plan, size_t i, char *out, size_t size);

#endif
