/* sequence.h -- what a model says of rows in sequences: given the rows so far, given all of them, the most probable
 * paths, and the rows to come.
 * A model of sequences knows which rows belong together, and in which order, by the options --sequence and --time of
 * its fit; cr_predict gives what it says of a row by default.  */
#ifndef CREDENCE_MODELS_CORE_SEQUENCE_H
#define CREDENCE_MODELS_CORE_SEQUENCE_H

#include "model.h"

/* Every row given those of its sequence up to it: the probabilities of hidden states, which count the row itself, or
 * the distribution of a target, which does not.  CR_EUNSUPPORTED where the model offers no "filter". */
CR_API cr_status cr_filter(cr_ctx *cx, const cr_model *model, const cr_table *table,
                           cr_prediction *out_prediction);
/* The same given all rows of its sequence.  CR_EUNSUPPORTED where the model offers no "smooth". */
CR_API cr_status cr_smooth(cr_ctx *cx, const cr_model *model, const cr_table *table,
                           cr_prediction *out_prediction);
/* The most probable path of each sequence as a whole: out_path [rows of the table], indices of cr_model_labels, and
 * opt_log_probability [rows of the table], the same for all rows of a sequence: that of path and rows together or,
 * of classes of a target, of the path given the rows.  NaN in rows left out.  CR_EUNSUPPORTED where the model offers no
 * "decode". */
CR_API cr_status cr_decode(cr_ctx *cx, const cr_model *model, const cr_table *table,
                           double *out_path, double *opt_log_probability);

/* The `count` most probable paths of each sequence, the best first: out_path and opt_log_probability [count x rows of the
 * table] as above, NaN where a sequence has fewer paths of positive probability.  Of equal paths the one with the lower
 * indices at its end comes first.  Fails with CR_EDATA where they need too much memory.  CR_EUNSUPPORTED where the model
 * offers no "paths". */
CR_API cr_status cr_decode_paths(cr_ctx *cx, const cr_model *model, const cr_table *table,
                                 size_t count, double *out_path, double *opt_log_probability);
/* The entropy of the posterior over whole paths, in nats: 0 where only one path is possible.  out_entropy [rows of the
 * table], the same for all rows of a sequence; NaN in rows left out.  CR_EUNSUPPORTED where the model offers no
 * "path-entropy". */
CR_API cr_status cr_path_entropy(cr_ctx *cx, const cr_model *model, const cr_table *table,
                                 double *out_entropy);

/* Filtering of a stream, block by block: where each sequence stands is kept between the blocks. */
typedef struct cr_follower cr_follower;
/* A follower of sequences that have not begun. */
CR_API cr_status cr_follow_open(cr_ctx *cx, const cr_model *model, cr_follower **out_follower);
/* cr_filter of the next rows.  After a failure the follower can only be freed. */
CR_API cr_status cr_follow(cr_ctx *cx, cr_follower *follower, const cr_table *table,
                           cr_prediction *out_prediction);
/* Frees a follower; NULL is allowed. */
CR_API void cr_follow_free(cr_ctx *cx, cr_follower *follower);

/* The rows to come: answer k * ahead + h of p is that of row h + 1 behind sequence k. */
typedef struct cr_forecast {
    size_t        n, ahead; /* sequences; rows of each                        */
    char        **names;    /* [n] of the sequences; NULL: one without a name */
    cr_prediction p;
    const char   *time_name; /* of the column that orders the rows, of the model        */
    cr_type       time_type; /* of it                                                   */
    double       *time;      /* [n x ahead] of the rows, as the column has it; NULL: not known */
    size_t        beside;    /* columns that are forecast beside the target, which is p         */
    const char  **beside_names;            /* [beside], of the model                          */
    double       *beside_mean, *beside_sd; /* [beside x n * ahead]                            */
} cr_forecast;

/* The `ahead` rows behind the last of each sequence of a table or, without one, of the data of the fit.  Their times are
 * known where those of the table are equally far apart, or by whole months.
 * CR_EUNSUPPORTED where the model offers no "forecast". */
CR_API cr_status cr_forecast_rows(cr_ctx *cx, const cr_model *model, const cr_table *opt_table,
                                  size_t ahead, cr_forecast *out_forecast);
/* What the columns of these rows will be.  Where a forecast is of hidden states: the mixture over states, by 20000 draws of
 * each of them, so that means and ends are right to a hundredth of an sd.  Where columns are observed beside a target:
 * those, which are normal. */
typedef struct cr_forecast_columns {
    size_t       n, columns;                /* rows of the forecast; columns that are numbers */
    const char **name;                      /* [columns] of the design */
    double      *mean, *sd, *lower, *upper; /* [n x columns]; the central interval            */
} cr_forecast_columns;

/* No columns where the model has none that are numbers, or does not draw them.  CR_EARG unless 0 < level < 1. */
CR_API cr_status cr_forecast_columns_of(cr_ctx *cx, const cr_model *model,
                                        const cr_forecast *forecast, double level,
                                        cr_forecast_columns *out_columns);
/* Frees the arrays. */
CR_API void cr_forecast_columns_free(cr_ctx *cx, cr_forecast_columns *columns);
/* Frees the arrays of a forecast. */
CR_API void cr_forecast_free(cr_ctx *cx, cr_forecast *forecast);

#endif
