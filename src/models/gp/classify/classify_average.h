/* classify_average.h -- hyper-parameters of a classifier averaged over, where the rows say little of them.
 *   p(theta | classes) ~ evidence(theta) p(theta),   theta: logarithms, priors of gp_prior.h
 * by importance sampling: settings theta = centre + R t, t of 5 degrees of freedom about the optimum, with the
 * covariance R R^T of the curvature there, on a lattice and its mirror images.  Where too few of them count, there are up
 * to three more rounds, each with the centre and the covariance that the shares of all before give; every setting counts
 * in proportion to evidence times prior by the density of the mixture of all rounds.  The effective number of settings
 * is 1 / sum of share^2.
 * With three or more classes the evidence of a bound is that of its sites (classify_cavity.h), since the bound itself
 * would make settings with little variance count too much.
 * Rue, Martino & Chopin (2009), JRSS B 71, 319-392 (the integral over hyper-parameters); Cornuet, Marin, Mira & Robert
 * (2012), Scandinavian J. of Statistics 39, 798-812 (rounds and their mixture).  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_AVERAGE_H
#define CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_AVERAGE_H

#include "classify_fit.h"

/* Of hyper-parameters learned with priors: where they are many for the rows, f->m takes settings to average over, of a
 * bound where all inputs are inducing inputs; `by` is how the evidence was searched.  Where time or curvature are lacking they stay
 * at their best, which is said. */
cr_status cri_classify_spread(cr_ctx *cx, cri_classify_fit *f, const cri_gp_learning *by);

#endif
