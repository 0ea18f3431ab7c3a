/* cauchy.h -- shared by the Cauchy distribution and its half.  (Internal header.) */
#ifndef CREDENCE_PROB_DIST_CAUCHY_H
#define CREDENCE_PROB_DIST_CAUCHY_H

/* log(1 + z^2) for any z. */
double cri_cauchy_spread(double z);

#endif
