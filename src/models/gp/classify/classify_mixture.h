/* classify_mixture.h -- predictions averaged over settings of the hyper-parameters.
 *   p(f(x) | data) = sum_s share_s N(mean_s(x), cov_s(x))
 * with the normal of each setting (classify.h); its factors of B are made anew from its roots, n^3 / 3 operations
 * a function for each some thousand rows.  The normal of a bound, whose inducing inputs are all inputs, has the form of
 * Laplace's, of functions that do not depend on each other.  The probability is the mean of those of the settings; the
 * ends of an interval are quantiles of the mixture, through the link, or, with more than two classes, those of the
 * softmax at 4096 points, of which each setting has its share.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_MIXTURE_H
#define CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_MIXTURE_H

#include "classify.h"

/* As the functions of the model class do, where m->settings > 0. */
cr_status cri_classify_mixture_predict(cr_ctx *cx, const cri_classify *m, const cri_rows *rows,
                                       cr_prediction *out);
cr_status cri_classify_mixture_intervals(cr_ctx *cx, const cri_classify *m, const cri_rows *rows,
                                         double level, double *lower, double *upper);
cr_status cri_classify_mixture_latent(cr_ctx *cx, const cri_classify *m, const cri_rows *rows,
                                      double *out);

#endif
