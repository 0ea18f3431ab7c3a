/* transform_target.h -- models of a function of their target (--transform-target): predictions on the scale of the
 * target, likelihoods of the target itself, and the power of Box and Cox.  (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_TRANSFORM_TARGET_H
#define CREDENCE_MODELS_CORE_TRANSFORM_TARGET_H

#include "class.h"

/* A power that was learned from the rows of the fit counts as one more of its parameters, which leaves one degree of
 * freedom less for the noise: n predictions, in the units of their transforms, get wider by that. */
void cri_prediction_count_power(double rows, size_t n, cr_prediction *prediction);

/* What a class says of the transforms of n rows, in their units, becomes what it says of the targets: Student's t is
 * mapped (prob/dist/transformed_t.h); of a row without spread, or of another family, the centre alone is, and the row has
 * neither sd nor parameters (NaN).  A row whose mean overflows has its median in the place of it, or infinity, and an
 * infinite sd; *out_overflows counts them. */
cr_status cri_prediction_untransform(cr_ctx *cx, cri_transform transform, size_t n,
                                     cr_prediction *prediction, size_t *out_overflows);

/* Adds rows that were learned to the sum of log g'(y), and the sum to the likelihoods of the report of a model that has
 * learned all. */
void cri_model_count_slopes(cr_model *model, const cri_rows *rows, bool all);

/* What a class said of the transforms, in the description `out` of the model, becomes what is true of the targets, as
 * far as its fields declare (base/field.h): log densities and criteria, also in tables, get the sum of log g'(y).  The
 * names of the statistics that are those of the transforms are listed.  Nothing happens without a transform. */
void cri_describe_transformed(const cr_model *model, cri_sheet *out);

/* true when the settings ask for a power that is to be learned. */
bool cri_wants_power(const cr_setting *settings, size_t n_settings);
/* The power under which the model of these settings has the largest evidence or, without one, the largest likelihood
 * of the targets, -2 .. 2; of a model that has neither, the power that makes them most nearly normal.  About 15 fits. */
cr_status cri_find_power(cr_ctx *cx, const char *name, const cr_table *table,
                         const cr_setting *settings, size_t n_settings, double *out_lambda);

/* Copies settings without those of the calibration and, with `power`, without the transform; returns how many. */
size_t cri_settings_plain(const cr_setting *from, size_t n, bool power, cr_setting *to);

#endif
