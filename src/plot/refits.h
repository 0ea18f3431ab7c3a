/* refits.h -- models fitted anew for figures: with the settings of a model, and other penalties.
 * (Internal header.) */
#ifndef CREDENCE_PLOT_REFITS_H
#define CREDENCE_PLOT_REFITS_H

#include "chart.h"
#include "models/core/faces.h"
#include "study/learning_curve.h"

/* The settings that a model was fitted with; the texts are the scratch's. */
cr_status cri_settings_of(cr_scratch *s, const cr_model *model, cr_model_spec *out);

/* The coefficients of a model with the option lambda along a path of penalties, three decades
 * either way of its own, each a fit to the rows of the table; n_lambdas 0 for a model without.
 * names [n_terms] of the parameters, intercepts left out; coefficients in the units that `describe`
 * tells. */
cr_status cri_refit_path(cr_scratch *s, const cr_model *model, const cr_table *table,
                         cri_coefficient_path *out, const char ***out_names);

#endif
