/* latent.h -- predict of what lies behind predictions: joint densities, and the function itself,
 * without noise, before the data, its slopes, its covariance. */
#ifndef CREDENCE_CLI_VERBS_LATENT_H
#define CREDENCE_CLI_VERBS_LATENT_H

#include "../render/answers.h"

/* What stands in the JSON of predictions (predict_result.c). */
extern const cr_field predict_result[];

/* Mean and sd of the function at the rows as a prediction, which cr_prediction_free frees. */
cr_status latent_predict(cr_ctx *cx, const cr_model *m, const cr_table *t, bool prior,
                         cr_prediction *out);
/* The means alone, as a prediction. */
cr_status latent_means(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_prediction *out);
/* Adds a column for each column of numbers that its coordinates are led back to, and the distance
 * left. */
cr_status latent_add_reconstruction(cr_scratch *s, const cr_model *m, const cr_table *t,
                                    answers *a);
/* Adds a column of slopes for each column of numbers. */
cr_status latent_add_slopes(cr_scratch *s, const cr_model *m, const cr_table *t, answers *a);
/* Adds mean and sd of each part of a model that is a sum; how many columns that is. */
cr_status latent_add_parts(cr_scratch *s, const cr_model *m, const cr_table *t, answers *a);
cr_status latent_count_parts(cr_ctx *cx, const cr_model *m, size_t *out_columns);
/* Adds the ends of the interval of the probability of each class. */
cr_status latent_add_probability_intervals(cr_scratch *s, const cr_model *m, const cr_table *t,
                                           double level, answers *a);
/* Adds the ends of the interval of the mean. */
cr_status latent_add_mean_intervals(cr_scratch *s, const cr_model *m, const cr_table *t,
                                    double level, answers *a);
/* Adds a column of log p(row, class) for each class, and log p(row). */
cr_status latent_add_log_joint(cr_scratch *s, const cr_model *m, const cr_table *t, answers *a);
/* Writes the covariance between all rows to a file, by its name CSV or NPY. */
cr_status latent_write_covariance(cr_ctx *cx, const cr_model *m, const cr_table *t, bool prior,
                                  const char *path);

#endif
