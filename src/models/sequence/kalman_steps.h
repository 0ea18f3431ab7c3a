/* kalman_steps.h -- from a row to one that lies a gap of several steps behind it, or a fraction of one.
 * Whole gaps are steps without a row in between, whatever the model: a gap of g has T^g and Q_g = sum_{i<g} T^i Q T'^i, by
 * doubling, in O(m s log g) for s entries of T^g that are not 0.  The adjoint of Q_g is such a sum of T'.
 * Other gaps d have the matrices of the same part in continuous time:
 *   level, coefficients   Q_d = d Q
 *   trend                 the slope is Brownian motion, the level its integral and another: Q_d = q1 [d 0; 0 0]
 *                         + q2 [d^3/3 d^2/2; d^2/2 d]
 *   ar:1, 0 < phi < 1     phi^d,  q (1 - phi^2d) / (1 - phi^2): Ornstein & Uhlenbeck's process at the rows
 *   cycle                 likewise, turned by d times the angle
 * All but trend agree with whole gaps there.  Harvey (1989), sec. 9.2.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_KALMAN_STEPS_H
#define CREDENCE_MODELS_SEQUENCE_KALMAN_STEPS_H

#include "kalman_parts.h"

/* Room for n gaps in the caller's arena; opt_plan NULL: of a model given by its matrices. */
cr_status cri_kalman_steps_new(cr_scratch *s, const cri_kalman_plan *opt_plan, const double *gap,
                               size_t n, cri_kalman_system *system);
/* The matrices of all gaps, from those of a step, which are set.  Without a plan, or with one that has no real gaps, they
 * are whole.  Polls interrupts. */
cr_status cri_kalman_steps_build(cr_ctx *cx, const cri_kalman_plan *opt_plan,
                                 cri_kalman_system *system);
/* The score by T and Q from that by the matrices of the gaps. */
cr_status cri_kalman_steps_pull(cr_ctx *cx, const cri_kalman_plan *plan,
                                const cri_kalman_system *system, cri_kalman_score *score);

#endif
