/* info_report.h -- information in tables, asked by options and answered as JSON, as the command line does: the
 * entropy of each column; of several jointly; mutual information of two, or of each pair; the Markov blanket of a
 * column; the information content of rows; how two tables differ. */
#ifndef CREDENCE_STUDY_INFO_REPORT_H
#define CREDENCE_STUDY_INFO_REPORT_H

#include "info.h"

/* clang-format off */
#define CR_INFO_QUESTIONS(X)                                                                                \
    X(list,   columns,  "", "COLUMN",                                                                  \
      "the joint entropy of these columns; with --matrix, --rows, --blanket or two files: the columns to use", "sex,bmi")    \
    X(list,   given,    "", "COLUMN", "with --columns or --mutual: columns to condition on", "age")      \
    X(list,   mutual,   "", "COLUMN", "the mutual information of these two columns", "bmi,progression") \
    X(flag,   matrix,   "false", "", "the mutual information of each pair of columns", "")             \
    X(text,   blanket,  "", "COLUMN",                                                                  \
      "which columns this one needs: its Markov blanket, and all in the order in which they tell most that those before do not", "progression") \
    X(real,   alpha,    "0.05", "0<..<1", "with --blanket: columns are joined where p is below this", "0.01") \
    X(count,  bins,     "4", "2..1000", "with --blanket: ranges that numbers are cut into where some columns are categories", "6") \
    X(flag,   rows,     "false", "", "the information content of each row", "")                        \
    X(flag,   joint,    "false", "",                                                                   \
      "with --rows: under the joint distribution, not that of independent columns", "")                \
    X(count,  top,      "", ">=1", "with --rows: only this many, the most surprising first; with --blanket: of the columns", "10")     \
    X(list,   source,   "", "",                                                                        \
      "typical strings of a source with these probabilities; with DATA: of this column", "0.1,0.9")    \
    X(flag,   mmd,      "false", "",                                                                   \
      "with two files: test whether their rows come from the same distribution, by the maximum mean discrepancy with a p-value", "") \
    X(text,   kernel,   "", "",                                                                        \
      "with --mmd: kernel expression (see credence models kernels); default: rbf with the median distance between rows as length-scale, on standardised columns", "'rbf(l=2)'")                                      \
    X(flag,   linear,   "false", "", "with --mmd: the statistic for very many rows, in linear time", "") \
    X(count,  length,   "100", ">=1", "with --source: letters per string", "1000")                    \
    X(real,   beta,     "0.1", ">0",                                                                   \
      "with --source: a string is typical if its information per letter is this close to the entropy", "0.05") \
    X(real,   delta,    "0.01", "0..<1", "with --source: the probability that the smallest set may miss", "0.1")   \
    X(text,   weights,  "", "", "column of whole numbers: how many rows each row stands for", "people")  \
    X(choice, unit,     "bits", "bits|nats", "unit of information", "nats")                            \
    CR_INFO_OPTIONS(X)
/* clang-format on */
CR_OPTIONS_STRUCT(cr_info_question, CR_INFO_QUESTIONS);
/* The table of these options. */
extern CR_API const cr_option cr_info_question_table[];

/* The answer about table a, or about a and b, or, both NULL, about a source of letters: unit, seed, rows, and what
 * was asked for.  Freed with cr_free(cx, json, strlen(json) + 1, 1).  Fails with CR_EARG where options do not go
 * together, else as the functions of info.h. */
CR_API cr_status cr_info_report(cr_ctx *cx, const cr_table *opt_a, const cr_table *opt_b,
                                const cr_info_question *question, uint64_t seed, char **out_json);

#endif
