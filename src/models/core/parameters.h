/* parameters.h -- rows of the list of parameters: in the same words for all classes.  (Internal
 * header.) */
#ifndef CREDENCE_MODELS_CORE_PARAMETERS_H
#define CREDENCE_MODELS_CORE_PARAMETERS_H

#include "base/sheet.h"

/* Adds {name, value, sd} to the list of parameters; the new row, for what else is to be said. */
cri_sheet *cri_parameter_add(cri_sheet *list, double value, double sd, const char *name, ...)
    CR_PRINTF(4, 5);
/* Adds {lower, upper}: value less and plus half. */
void cri_parameter_interval(cri_sheet *row, double value, double half);

#endif
