/* results.h -- what the JSON of each verb holds, declared once.
 * A table beside the verb; from it come the JSON schema, the section on JSON of manual and man
 * page, and the test that nothing undeclared is printed.  `schema` and `warnings`, which every
 * result has, are not repeated in the tables. */
#ifndef CREDENCE_CLI_RESULTS_H
#define CREDENCE_CLI_RESULTS_H

#include "base/field.h"

/* The two that every result has. */
extern const cr_field result_common[];

/* Of fit and update, besides what the model says (cmd_fit.c). */
extern const cr_field result_fit[];
/* Of describe, of a network: its size; a variable. */
extern const cr_field result_network[], result_network_variable[];

extern const cr_field result_query[], result_infer[], result_denoise[];

#endif
