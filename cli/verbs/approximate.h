/* approximate.h -- what query and infer say about answers that are not exact. */
#ifndef CREDENCE_CLI_VERBS_APPROXIMATE_H
#define CREDENCE_CLI_VERBS_APPROXIMATE_H

#include "../cli.h"
#include "models/core/network_ask.h"

/* "approximate, by bp: converged after 12 sweeps, residual 3e-10": one line. */
void approximate_line(cli *c, const char *method, const cr_approximate_report *r);
/* Whether messages or chains have settled, "true" or "false"; "" of methods that have neither. */
const char *approximate_settled(const cr_approximate_report *r);

#endif
