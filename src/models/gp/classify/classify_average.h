/* classify_average.h -- hyper-parameters of a classifier averaged over, where the rows say little of them.
 *   p(theta | classes) ~ evidence(theta) p(theta),   theta: logarithms, priors of gp_prior.h
 * by importance sampling: settings theta_s = centre + R t_s, t of 5 degrees of freedom about the optimum, with the
 * covariance R R^T of the curvature there, on a lattice and its mirror images; their shares are in proportion to
 * evidence times prior by the density of t.  Where these are too uneven, once or twice more with the centre and the
 * covariance that the shares give.  The effective number of settings is 1 / sum of share^2.
 * Rue, Martino & Chopin (2009), JRSS B 71, 319-392 (the integral over hyper-parameters); Cappe et al. (2004), JCGS
 * 13, 907-929 (again from what the first round found).  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_AVERAGE_H
#define CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_AVERAGE_H

#include "classify_fit.h"

/* Of two classes, all rows, hyper-parameters learned with priors: where they are many for the rows, f->m takes
 * settings to average over; `by` is how Laplace's evidence was searched.  Where time or curvature are lacking they stay
 * at their best, which is said. */
cr_status cri_classify_spread(cr_ctx *cx, cri_classify_fit *f, const cri_gp_learning *by);

#endif
