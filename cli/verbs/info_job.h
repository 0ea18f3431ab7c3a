/* info_job.h -- what the files of the verb info share: its options, and one question with its
 * answers. */
#ifndef CREDENCE_CLI_VERBS_INFO_JOB_H
#define CREDENCE_CLI_VERBS_INFO_JOB_H

#include "../cli.h"
#include "base/scratch.h"
#include "study/info.h"
#include "study/mmd.h"

/* clang-format off */
#define INFO_OPTIONS(X)                                                                                \
    X(list,   columns,  "", "COLUMN",                                                                  \
      "their joint entropy; with --matrix, --rows or two files: the columns to look at", "sex,bmi")    \
    X(list,   given,    "", "COLUMN", "with --columns or --mutual: what is known already", "age")      \
    X(list,   mutual,   "", "COLUMN", "the mutual information of these two columns", "bmi,progression") \
    X(flag,   matrix,   "false", "", "the mutual information of each pair of columns", "")             \
    X(flag,   rows,     "false", "", "the information content of each row", "")                        \
    X(flag,   joint,    "false", "",                                                                   \
      "with --rows: under the joint distribution, not that of independent columns", "")                \
    X(count,  top,      "", ">=1", "with --rows: only this many, the most surprising first", "10")     \
    X(list,   source,   "", "",                                                                        \
      "typical strings of a source with these probabilities; with DATA: of this column", "0.1,0.9")    \
    X(flag,   mmd,      "false", "",                                                                   \
      "of two files: do their rows come from one distribution?  The maximum mean discrepancy, with a p-value", "") \
    X(text,   kernel,   "", "",                                                                        \
      "with --mmd: an expression (credence models kernels); not given: rbf with the median distance between " \
      "rows as length-scale, columns standardised", "'rbf(l=2)'")                                      \
    X(flag,   linear,   "false", "", "with --mmd: the statistic for very many rows, in linear time", "") \
    X(count,  length,   "100", ">=1", "with --source: letters of a string", "1000")                    \
    X(real,   beta,     "0.1", ">0",                                                                   \
      "with --source: a string is typical when its content per letter is this near to the entropy", "0.05") \
    X(real,   delta,    "0.01", "0..<1", "with --source: the probability that may be missed", "0.1")   \
    X(choice, unit,     "bits", "bits|nats", "unit of information", "nats")                            \
    CR_INFO_OPTIONS(X)
/* clang-format on */
CR_OPTIONS_STRUCT(info_options, INFO_OPTIONS);

/* What is being asked, and the answer. */
typedef struct info_job {
    cli                *c;
    const info_options *o;
    cr_info_options     how;
    uint64_t            seed;
    double              per; /* nats in one unit */
    const char         *unit;
    cr_table           *a, *b; /* of the arguments; NULL where there is none */
    cr_scratch          s;
    cli_result          r;
    bool                printed; /* the answer is out already */
} info_job;

/* Information in the unit asked for; null, and in tables inf or nothing, where there is no number. */
void info_put(const info_job *j, cri_sheet *to, const char *name, double nats);
void info_put_cell(const info_job *j, cri_sheet *to, const char *name, double nats);
/* A list of texts. */
cri_sheet *info_put_texts(cri_sheet *to, const char *name, const char *const *texts, size_t n);
/* An answer that is one object becomes the row of the table: lists of texts are one text with
 * commas, other lists are left out. */
void info_put_row(info_job *j, const cri_sheet *object);
/* Of two files: keeps of the columns those that both have; CR_EDATA when none is left. */
cr_status info_common_columns(info_job *j, const char **names, size_t *n);
/* The columns asked for, or else all of the first table. */
cr_status info_columns(info_job *j, const char ***out, size_t *out_n);
/* Tells of rows that were left out. */
void info_tell_dropped(const info_job *j, const cr_table *t, size_t dropped);

/* --- the questions --------------------------------------------------------------------------- */

/* info_pairs.c: the matrix of all pairs; prints by itself as text. */
cr_status info_matrix(info_job *j);
/* info_tables.c: two files; rows; a source. */
cr_status info_divergence(info_job *j);
cr_status info_surprise(info_job *j);
cr_status info_source(info_job *j);
/* info_mmd.c: two files by a kernel. */
cr_status info_mmd(info_job *j);

#endif
