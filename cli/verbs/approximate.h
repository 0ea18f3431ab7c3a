/* approximate.h -- what query and infer say about answers that are not exact. */
#ifndef CREDENCE_CLI_VERBS_APPROXIMATE_H
#define CREDENCE_CLI_VERBS_APPROXIMATE_H

#include "../cli.h"
#include "graph/query/query.h"

/* clang-format off */
/* How a network is asked: the same for query and infer. */
#define CLI_METHOD_OPTIONS(X)                                                                      \
    X(choice, method,   "auto", CR_QUERY_METHODS,                                                  \
      "exact: elimination (ve), junction tree (jt) or enumeration; or an approximation; auto is "  \
      "exact if that fits memory and --budget", "bp")                                              \
    X(real,   budget,   "60", ">=0",                                                               \
      "auto: seconds that an exact answer may take, by estimate, or else an approximation, by the " \
      "clock (5 at the least); the search for argmax(*) goes on in proportion", "10")              \
    CR_APPROXIMATE_OPTIONS(X)
/* clang-format on */

/* "approximate, by bp: converged after 12 sweeps, residual 3e-10": one line. */
void approximate_line(cli *c, const char *method, const cr_approximate_report *r);
/* Whether messages or chains have settled, "true" or "false"; "" of methods that have neither. */
const char *approximate_settled(const cr_approximate_report *r);
/* Warns where messages or chains have not converged; `what` is the question. */
void approximate_warn(cli *c, const char *what, const char *method, const cr_approximate_report *r);

#endif
