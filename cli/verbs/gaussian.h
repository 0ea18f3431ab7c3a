/* gaussian.h -- verbs on linear-Gaussian networks. */
#ifndef CREDENCE_CLI_VERBS_GAUSSIAN_H
#define CREDENCE_CLI_VERBS_GAUSSIAN_H

#include "../cli.h"
#include "graph/files/network_file.h"

/* What describe says of it: "network" and "variables". */
cr_status cli_describe_gaussian(cli *c, const cr_gaussian_network *net, cri_sheet *root);
/* Intercepts, variances and weights. */
size_t    cli_gaussian_parameters(const cr_gaussian_network *net);
cr_status cli_convert_gaussian(cli *c, const cr_gaussian_network *net, const char *to,
                               cr_network_format format);
/* Means and standard deviations of the targets (of none: of all that is open), row by row of the
 * table in argument 1. */
cr_status cli_infer_gaussian(cli *c, const cr_gaussian_network *net, const char *opt_targets);

#endif
