/* network.h -- what the verbs share that take a network. */
#ifndef CREDENCE_CLI_VERBS_NETWORK_H
#define CREDENCE_CLI_VERBS_NETWORK_H

#include "../cli.h"
#include "models/core/network_model.h"

/* Is argument `index` a network?  By --from, by its name, or by the first bytes of the file. */
typedef enum cli_network_kind {
    CLI_NO_NETWORK,
    CLI_GIVEN_NETWORK,
    CLI_LEARNED_NETWORK /* a fitted model that has one */
} cli_network_kind;
cli_network_kind cli_find_network(cli *c, size_t index);
/* Reads it, whatever its file: the model that has it, and the network in it.  `format`: what --from
 * says, or CR_FORMAT_AUTO. */
cr_status cli_read_network(cli *c, size_t index, cr_network_format format, cr_model **out_model,
                           cri_any_network *out);

/* What messages call the file in argument 0. */
const char *cli_file_name(const cli *c);
/* Says that it is sound, of this kind: the result of check.  `sentence`: for people, behind its name. */
cr_status cli_print_sound(cli *c, const char *kind, const char *sentence);

/* describe, check and convert of a network in argument 0. */
cr_status cli_describe_network(cli *c);
cr_status cli_check_network(cli *c);
/* "network" and "variables" of a description for people. */
cr_status cli_print_network(cli *c, const cri_sheet *root);
/* canonical: as weights of features, around the reference "x=a,y=b". */
cr_status cli_convert_network(cli *c, const char *to, cr_network_format format, bool canonical,
                              const char *opt_reference);
/* plot of a network in argument 0, with the question in argument 1 if there is one
 * (plot_network.c). */
cr_status cli_plot_network(cli *c, const char *opt_evidence);

#endif
