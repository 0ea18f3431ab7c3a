/* parameters.h -- the numbers of a model as JSON: in the same words for all classes.  (Internal
 * header.) */
#ifndef CREDENCE_MODELS_PARAMETERS_H
#define CREDENCE_MODELS_PARAMETERS_H

#include "store.h"

/* A finite number as JSON, anything else as null. */
json_t *cri_json_number(double x);

/* Adds {name, value, sd} to the list of parameters; takes the reference of the name.  *opt_item is
 * the new entry, owned by the list, for what else is to be said of it. */
cr_status cri_parameter_add(cr_ctx *cx, json_t *list, json_t *name, double value, double sd,
                            json_t **opt_item);
/* Adds {lower, upper}: value less and plus half. */
cr_status cri_parameter_interval(cr_ctx *cx, json_t *item, double value, double half);

#endif
