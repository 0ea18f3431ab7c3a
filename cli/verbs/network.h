/* network.h -- what the verbs share that take a network. */
#ifndef CREDENCE_CLI_VERBS_NETWORK_H
#define CREDENCE_CLI_VERBS_NETWORK_H

#include "../cli.h"
#include "graph/files/network_file.h"

/* Is argument `index` a network?  By --from, by its name, or by the first bytes of the file. */
bool cli_is_network(cli *c, size_t index);
/* Reads it.  `format`: what --from says, or CR_FORMAT_AUTO. */
cr_status cli_read_network(cli *c, size_t index, cr_network_format format, cr_network **out_net);

/* The same where it may be a Gaussian network: one of the two is set. */
cr_status cli_read_either(cli *c, size_t index, cr_network_format format, cr_network **out_net,
                          cr_gaussian_network **out_gaussian);

extern const cr_field network_summary_fields[], network_variable_fields[];

/* A list of the names of variables. */
void cli_put_names(cri_sheet *out, const char *name, const cr_variables *vs, const size_t *list,
                   size_t n);

/* describe, check and convert of a network in argument 0. */
cr_status cli_describe_network(cli *c);
cr_status cli_check_network(cli *c);
/* canonical: as weights of features, around the reference "x=a,y=b". */
cr_status cli_convert_network(cli *c, const char *to, cr_network_format format, bool canonical,
                              const char *opt_reference);
/* plot of a network in argument 0, with the question in argument 1 if there is one
 * (plot_network.c). */
cr_status cli_plot_network(cli *c, const char *opt_evidence);

#endif
