/* info_pairs.h -- what the files of the verb info share. */
#ifndef CREDENCE_CLI_VERBS_INFO_PAIRS_H
#define CREDENCE_CLI_VERBS_INFO_PAIRS_H

#include "../cli.h"
#include "study/info_answer.h"

/* Prints the pairs of an answer as text. */
cr_status info_print_pairs(cli *c, cli_result r, const cri_info_answer *j);

#endif
