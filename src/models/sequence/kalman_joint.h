/* kalman_joint.h -- columns that are observed together: seemingly unrelated series (Harvey 1989, ch. 8).
 * Each of p columns is the sum of the same parts, with states of its own.  A variance v of a part becomes a covariance
 *   S_ab = sqrt(v_a v_b) R_ab       a, b = 1 .. p
 * of the shocks to that part of the columns, and the noise has one too: it is p more states, the last ones, which forget
 * themselves at each row.  phi, theta, damping and period are the same in all columns.  So T has the T of one column p
 * times, and its noise and its start are, block by block, those of one column whose variances are the S_ab: all that is known
 * of one column (kalman_parts.h) is used as it is, p^2 times.
 *
 * theta is that of one column, whose variances are those of the first, the target; then, for each variance, the logarithms
 * of those of the other columns, and, row by row, the correlations R_ab, b < a, as partial ones z_ab = r / sqrt(1 + r^2):
 * R = L L', L_ab = z_ab sqrt(1 - z_a1^2) ... sqrt(1 - z_a,b-1^2) (Joe 2006, J. Multivariate Analysis 97), a correlation
 * matrix whatever they are.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_KALMAN_JOINT_H
#define CREDENCE_MODELS_SEQUENCE_KALMAN_JOINT_H

#include "kalman_parts.h"

/* Makes a plan of one column that of p of them.  CR_EUNSUPPORTED or CR_EARG in words where there is none. */
cr_status cri_kalman_plan_join(cr_ctx *cx, size_t p, cri_kalman_plan *plan);

/* What parameter i is: of the covariance of variance number `of` of the plan, S_ab; false: of all columns. */
typedef struct cri_kalman_entry_of {
    size_t of, a, b; /* a = b: a variance */
} cri_kalman_entry_of;
bool cri_kalman_entry(const cri_kalman_plan *plan, size_t i, cri_kalman_entry_of *out);
/* Whether parameter i is a correlation of a variance that is 0. */
bool cri_kalman_is_idle(const cri_kalman_plan *plan, const double *theta, size_t i);

/* Whether parameter i is a correlation next to 1 or -1, the edge of what is possible: what it is a correlation of moves as
 * one, and there is no error of it. */
bool cri_kalman_is_rigid(const cri_kalman_plan *plan, const double *theta, size_t i);

/* As those of kalman_parts.h, of several columns. */
bool cri_kalman_build_joint(const cri_kalman_plan *plan, const double *theta,
                            cri_kalman_system *system, double *work);
void cri_kalman_pull_joint(const cri_kalman_plan *plan, const double *theta,
                           const cri_kalman_system *system, const cri_kalman_score *score,
                           double *work, double *gradient, double *opt_slope);
void cri_kalman_show_joint(const cri_kalman_plan *plan, const double *theta, double *value,
                           double *opt_jacobian);

/* --- what one column has (kalman_parts.c) ----------------------------------------------------- */

/* The parts of one column, with variance [n1] in place of the variances of theta: they may be below 0.  work [3 m1 m1]. */
bool cri_kalman_build_parts(const cri_kalman_plan *plan, const double *theta,
                            const double *variance, cri_kalman_system *system, double *work);
/* The gradient of these; opt_slope [n1] by variances themselves.  work [5 m1 m1]. */
void cri_kalman_pull_parts(const cri_kalman_plan *plan, const double *theta, const double *variance,
                           const cri_kalman_system *system, const cri_kalman_score *score,
                           double *work, double *gradient, double *opt_slope);

#endif
