/* results_fields.h -- how the tables of results are written down. */
#ifndef CREDENCE_CLI_RESULTS_FIELDS_H
#define CREDENCE_CLI_RESULTS_FIELDS_H

#include "results.h"

#include <stddef.h>

/* clang-format off */
#define TEXT(name, marks, help) { name, FIELD_TEXT, marks, help, NULL }
#define COUNT(name, marks, help) { name, FIELD_COUNT, marks, help, NULL }
#define NUMBER(name, marks, help) { name, FIELD_NUMBER, marks, help, NULL }
#define FLAG(name, marks, help) { name, FIELD_FLAG, marks, help, NULL }
#define OTHER(type, name, marks, help) { name, FIELD_##type, marks, help, NULL }
#define INNER(type, name, marks, help, inner) { name, FIELD_##type, marks, help, inner }
/* clang-format on */

/* A parameter of a model, in several results. */
extern const cli_field result_parameter[];

#endif
