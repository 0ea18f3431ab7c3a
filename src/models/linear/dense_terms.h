/* dense_terms.h -- rows in memory, centred and scaled without cross-products, for equations in the
 * dual:   Z = sqrt(w) (X - centre) / scale   [n x p],   t = sqrt(w) (y - offset),
 * centre, scale and offset as in moments.h; no p x p matrix.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_DENSE_TERMS_H
#define CREDENCE_MODELS_LINEAR_DENSE_TERMS_H

#include "models/common/moments.h"

/* All of a gram but G and g, from X [n x p] and the targets of the rows; freed by cri_gram_free,
 * also after a failure.  CR_ENUMERIC where squares over- or underflow. */
cr_status cri_measure_rows(cr_ctx *cx, const cri_rows *rows, const double *X, bool intercept,
                           bool standardise, cri_gram *gram);

/* X becomes Z in place, and t [n] is set. */
void cri_standardise_rows(const cri_rows *rows, const cri_gram *gram, double *Z, double *t);

#endif
