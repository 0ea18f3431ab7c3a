/* von_mises.h -- the Bessel functions that the von Mises distribution needs.  (Internal header.) */
#ifndef CREDENCE_PROB_DIST_VON_MISES_H
#define CREDENCE_PROB_DIST_VON_MISES_H

typedef struct cri_bessel {
    double log_i0; /* log [I0(k) exp(-k)]                  */
    double ratio;  /* I1(k) / I0(k)                        */
    double gap;    /* 1 - ratio, without cancellation      */
} cri_bessel;

/* k >= 0. */
cri_bessel cri_bessel_scaled(double k);

#endif
