/* predict_job.h -- predict: its options, what was read, and what came of it. */
#ifndef CREDENCE_CLI_VERBS_PREDICT_JOB_H
#define CREDENCE_CLI_VERBS_PREDICT_JOB_H

#include "latent.h"
#include "models/core/decide.h"
#include "models/core/sequence.h"

#define PREDICT_OPTIONS(X)                                                                         \
    X(real, interval, "", "0<..<1",                                                                \
      "mass of the central interval; default: 0.95 for new rows of numbers; if given, also for "   \
      "the probabilities of classes (bayes-logistic, gp-classify) and for the mean (linear "       \
      "models, glm, robust, spline, kernel-ridge, gp)",                                            \
      "0.9")                                                                                       \
    X(flag, leverage, "false", "", "also show the leverage of each row", "")                       \
    X(text, loss, "", "LOSS",                                                                      \
      "also show the action of least expected loss: 0-1, squared, absolute, quantile:Q, or a "     \
      "FILE with a matrix of losses",                                                              \
      "quantile:0.9")                                                                              \
    X(flag, filtered, "false", "",                                                                 \
      "of a model of sequences: use the rows of a sequence so far, not those that follow", "")     \
    X(flag, smoothed, "false", "",                                                                 \
      "of a model of series: use all rows of a sequence, also those that follow", "")              \
    X(choice, decode, "posterior", "posterior|viterbi",                                            \
      "of a model of sequences: show the most probable state of each row, or the most probable "   \
      "path through all rows",                                                                     \
      "viterbi")                                                                                   \
    X(count, paths, "", "1..1000000",                                                              \
      "with --decode viterbi: show this many of the most probable paths of each sequence, one "    \
      "below the other",                                                                           \
      "3")                                                                                         \
    X(count, ahead, "0", "0..1000000",                                                             \
      "of a model of sequences: forecast this many rows behind the last of each sequence, of "     \
      "DATA or, without it, of the data of the fit",                                               \
      "12")                                                                                        \
    X(count, draws, "0", "0..100000",                                                              \
      "also show this many draws from the distribution of each row", "5")                          \
    X(flag, latent, "false", "",                                                                   \
      "predict the latent function, without observation noise (gp, gp-online)", "")                \
    X(flag, prior, "false", "",                                                                    \
      "use the prior, before any data, at the hyper-parameters of the model (gp)", "")             \
    X(flag, slopes, "false", "",                                                                   \
      "also show the gradient of the predictive mean, one column per feature (gp)", "")            \
    X(flag, parts, "false", "",                                                                    \
      "also show each part of the sum that the mean is, with its sd (gp, kalman)", "")             \
    X(flag, log_joint, "false", "",                                                                \
      "also show log p(row, class) for each class, and log p(row) (lda, qda, naive-bayes)", "")    \
    X(flag, decision, "false", "",                                                                 \
      "also show the decision values of a classifier whose probabilities were calibrated on them " \
      "(svm)",                                                                                     \
      "")                                                                                          \
    X(flag, reconstruct, "false", "",                                                              \
      "also show the row reconstructed from the coordinates, and its distance from them "          \
      "(kernel-pca)",                                                                              \
      "")                                                                                          \
    X(text, covariance, "", "FILE",                                                                \
      "write the covariance matrix of the function at all rows to a file (.csv or .npy)",          \
      "cov.csv")                                                                                   \
    X(flag, stream, "false", "",                                                                   \
      "answer rows as they arrive, as a filter in a pipe or for files larger than memory", "")     \
    X(count, block, "0", "",                                                                       \
      "with --stream: rows answered together; 0: one row of a pipe, or as many as 16 MiB of a "    \
      "file hold",                                                                                 \
      "1000")                                                                                      \
    X(flag, mean_only, "false", "", "show the mean only, which is cheaper for many models", "")    \
    X(list, id, "", "COLUMN", "columns of the data to copy to the output unchanged", "name")       \
    X(flag, coordinates, "false", "",                                                              \
      "show the coordinates of each row instead (fisher, kernel-pca)", "")
CR_OPTIONS_STRUCT(predict_options, PREDICT_OPTIONS);

/* One run: what was read, and what came of it. */
typedef struct predict_job {
    cli                   *c;
    const predict_options *o;
    cr_model              *model;
    cr_table              *table;         /* NULL: it is about the next row */
    size_t                 rows, missing; /* answered so far; without a prediction */
    cr_prediction          p;
    cr_follower           *follower; /* of a stream of sequences */
    cr_forecast_columns    ahead;    /* with --ahead: what columns will be, of hidden states */
    cr_forecast  forecast; /* with --ahead: what p is of, which then has no memory of its own */
    cr_loss      loss;
    cr_decisions decisions;
    char       **ids;
    size_t       n_ids;
    cr_scratch   s; /* of the columns */
    answers      a;
} predict_job;

/* --- cmd_predict.c --------------------------------------------------------------------------- */

/* The columns that are carried along. */
cr_status predict_read_ids(predict_job *j);
cr_status predict_check_ids(const predict_job *j);
/* Predictions for j->table, and the columns that show them. */
cr_status predict_table_rows(predict_job *j);
cr_status predict_make_columns(predict_job *j);
/* Columns of the data, of these rows or (NULL) of all. */
void predict_add_ids(predict_job *j, const size_t *opt_row);
/* Fails where a column of the answer has the name of one that --id copies: the file could not be read again. */
cr_status predict_check_id_names(const predict_job *j);
/* Rows without a prediction: counted, and at the end reported. */
void predict_count_missing(predict_job *j);
void predict_warn_missing(const predict_job *j);

/* --- predict_sequence.c ---------------------------------------------------------------------- */

typedef enum predict_decoding { DECODE_POSTERIOR, DECODE_VITERBI } predict_decoding;

/* CR_EARG where options of sequences contradict others. */
cr_status predict_check_sequence(const predict_job *j);
/* The same where they do not suit the model. */
cr_status predict_check_sequence_model(const predict_job *j);
/* true where the rows are to be filtered or smoothed, other than the model does by default. */
bool predict_is_of_sequence(const predict_job *j);
/* Such predictions for j->table. */
cr_status predict_sequence_rows(predict_job *j);
/* The rows behind those of DATA, or of the fit. */
cr_status predict_ahead(predict_job *j);
/* Which sequence and which row behind it each answer is of. */
void predict_add_ahead(predict_job *j);
/* Of a forecast of hidden states: what the columns will be. */
void predict_add_ahead_columns(predict_job *j);
/* The mass of intervals. */
double predict_level(const predict_job *j);
/* The most probable path in the place of the labels, its log probability, and the entropy of all paths. */
cr_status predict_add_path(predict_job *j);
/* The most probable paths instead of predictions, a line for each row of each path. */
cr_status predict_make_paths(predict_job *j);

/* --- predict_stream.c ------------------------------------------------------------------------ */

/* CR_EARG where --stream does not go with other options. */
cr_status predict_check_stream(const predict_job *j);
/* Answers all rows, block by block. */
cr_status predict_stream(predict_job *j);

#endif
