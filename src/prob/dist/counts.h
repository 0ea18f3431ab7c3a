/* counts.h -- what distributions of counts share.  (Internal header.) */
#ifndef CREDENCE_PROB_DIST_COUNTS_H
#define CREDENCE_PROB_DIST_COUNTS_H

#include "base/rng.h"

/* A Poisson variable with mean m >= 0. */
double cri_draw_poisson(cr_rng *r, double m);

#endif
