/* dist_job.h -- what the files of the verb dist share: its options, and one question with its
 * answers. */
#ifndef CREDENCE_CLI_VERBS_DIST_JOB_H
#define CREDENCE_CLI_VERBS_DIST_JOB_H

#include "../cli.h"
#include "base/scratch.h"
#include "prob/dist/dist.h"

/* clang-format off */
#define DIST_OPTIONS(X)                                                                                \
    X(flag,  mean,     "false", "", "the mean", "")                                                    \
    X(flag,  variance, "false", "", "the variance", "")                                                \
    X(flag,  sd,       "false", "", "the standard deviation", "")                                      \
    X(flag,  mode,     "false", "", "where the density is highest", "")                                \
    X(flag,  entropy,  "false", "", "the entropy in nats", "")                                         \
    X(list,  pdf,      "", "", "the density, or mass, at these x", "0.5,0.8")                          \
    X(list,  logpdf,   "", "", "its logarithm", "0.5,0.8")                                             \
    X(list,  cdf,      "", "", "P(X <= x)", "0.8")                                                     \
    X(list,  sf,       "", "", "P(X > x)", "0.8")                                                      \
    X(list,  logcdf,   "", "", "log P(X <= x)", "0.8")                                                 \
    X(list,  logsf,    "", "", "log P(X > x)", "0.8")                                                  \
    X(list,  quantile, "", "", "the x with P(X <= x) = p", "0.025,0.975")                              \
    X(real,  interval, "", "0<..<1", "the central interval with this mass", "0.95")              \
    X(real,  hdi,      "", "0<..<1", "the shortest interval with this mass", "0.95")             \
    X(count, sample,   "", "1..1000000000", "this many random draws", "5")                             \
    X(flag,  natural,  "false", "", "natural parameters, mean statistics, log-partition", "")          \
    X(list,  kl,       "", "", "divergence to the same distribution with these parameters", "10,4")                  \
    X(text,  fit,      "", "FILE", "use the parameters that fit this file best; FILE:COLUMN[,COLUMN...]", "x.csv:age") \
    X(flag,  plot,     "false", "", "draw the density", "")
/* clang-format on */
CR_OPTIONS_STRUCT(dist_options, DIST_OPTIONS);

/* What is being asked, and the answers so far: as rows (quantity, at, value) and as an object. */
typedef struct dist_job {
    cli                 *c;
    const cr_dist_class *dist;
    const dist_options  *o;
    double              *v;       /* parameters [n] */
    size_t               n, size; /* size: of a point */
    uint64_t             seed;
    cli_result           r;
    double              *draws; /* [o->sample], when they are all that is asked, for a pipe */
    cr_scratch           s;
} dist_job;

/* One answer as a row, which JSON does without; and also as a member. */
void dist_add_row(dist_job *j, const char *quantity, const char *at, double value);
void dist_add_number(dist_job *j, const char *name, double value);

/* --- dist_input.c ---------------------------------------------------------------------------- */

/* How many numbers a text holds, with commas or semicolons between them; reads them into out. */
size_t    dist_count_numbers(const char *text);
cr_status dist_read_numbers(cli *c, const char *what, const char *text, double *out);
size_t    dist_parameter_count(const cr_dist_class *d);
/* The length of the vectors among n parameters. */
size_t dist_dimension(const cr_dist_class *d, size_t n);
/* The words after the name become the parameters j->v [n]; those to be fitted may be left out. */
cr_status dist_read_parameters(dist_job *j);

/* --- dist_fit.c ------------------------------------------------------------------------------ */

/* Takes the parameters from the data of --fit. */
cr_status dist_fit(dist_job *j);

/* --- dist_pages.c ---------------------------------------------------------------------------- */

/* The page about one distribution; the list of all. */
cr_status dist_explain(cli *c, const cr_dist_class *d);
cr_status dist_list(cli *c);

#endif
