/* spectrum.h -- eigenvalues of cross-products whose columns may differ wildly in size.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_SPECTRUM_H
#define CREDENCE_MODELS_LINEAR_SPECTRUM_H

#include "models/common/moments.h"

/* G = V diag(d) V^T, d [p] ascending, V [p x p]; directions of which the data say nothing have d =
 * 0.  A column of size 1e9 beside one of size 1e-2 leaves both of their directions with full
 * relative accuracy: G = D C D with C free of the sizes, and the singular values of C^(1/2) D come
 * from one-sided Jacobi rotations, which do not mix sizes up (Demmel & Veselic 1992).  O(p^3). */
cr_status cri_gram_spectrum(cr_ctx *cx, const cri_gram *gram, double *out_d, double *out_V);

#endif
