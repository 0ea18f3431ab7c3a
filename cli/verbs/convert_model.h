/* convert_model.h -- models that convert takes beside networks: support vector machines, for and from LIBSVM. */
#ifndef CREDENCE_CLI_VERBS_CONVERT_MODEL_H
#define CREDENCE_CLI_VERBS_CONVERT_MODEL_H

#include "../cli.h"

typedef enum cli_model_kind {
    CLI_NO_MODEL,
    CLI_LIBSVM_MODEL, /* a model file of LIBSVM, by its first bytes */
    CLI_CRED_MODEL
} cli_model_kind;
/* What argument `index` is. */
cli_model_kind cli_find_model(cli *c, size_t index);
/* Writes argument 0 as the other of the two. */
cr_status cli_convert_model(cli *c, cli_model_kind kind, const char *to);

#endif
