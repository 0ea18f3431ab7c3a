/* model_internal.h -- the parts of a model, for the files that make and save it. */
#ifndef CREDENCE_MODELS_CORE_MODEL_INTERNAL_H
#define CREDENCE_MODELS_CORE_MODEL_INTERNAL_H

#include "base/forest.h"
#include "calibrate.h"
#include "class.h"
#include "conformal.h"
#include "data/stream/stream.h"

struct cr_model {
    const cr_model_class *class;
    unsigned          task; /* one bit */
    cr_fit_options    fit;
    cr_design_options design_options;
    void             *options; /* of the class */
    cr_read_options   reading; /* what cells mean: the options that cri_read_options_keep keeps */
    cr_design        *design;
    void             *state;
    cri_calibration  *calibration; /* of the class probabilities; NULL for none */
    cr_conformal     *conformal;   /* of the intervals of numbers; NULL for none */
    cr_report         report;
    double log_slopes; /* sum of log g'(y) of the rows it has learned; 0 without a transform */
    /* Of a model by sums: the trees of its statistics.  The only tree stands in the state instead, and `level`
     * is its level; of several the state has the sum. */
    cri_forest forest;
    size_t     level;
    bool       open;       /* the state waits for further blocks of a stream */
    bool       weightless; /* and so far no row had any weight               */
};

/* A model of this class with default options, nothing fitted; NULL on failure. */
cr_model *cri_model_new(cr_ctx *cx, const cr_model_class *c);
/* Sets one option, the class's, the design's or the fit's. */
cr_status cri_model_set(cr_ctx *cx, cr_model *model, const char *name, const char *value);
/* Whether a setting is of this option; '-' and '_' count as the same.  Pure. */
bool cri_setting_is(const cr_setting *setting, const char *name);
/* What the last setting of this option says; NULL: there is none. */
const char *cri_setting_of(const cr_setting *settings, size_t n_settings, const char *name);

/* cr_fit; with opt_rest, to the first block of a stream that has more of them: the state waits for those,
 * or, by passes over all of them, has been fitted. */
cr_status cri_model_fit(cr_ctx *cx, const char *name, const cr_table *table,
                        const cr_setting *settings, size_t n_settings, cr_stream *opt_rest,
                        cr_model **out_model);
/* The rows of a table that the model may learn from; none left is a failure, or *opt_any = false.  `again`: what
 * there is to be said of them has been said. */
cr_status cri_model_open_rows(cr_ctx *cx, const cr_model *model, const cr_table *table,
                              bool *opt_any, bool again, cri_rows *rows);
/* The model learns the rows of a table by its exact update; `more`: others follow.  A table whose rows are
 * all left out for missing values changes nothing (*opt_any is false then), or fails where opt_any is NULL.
 * After a failure the model can only be freed. */
cr_status cri_model_take(cr_ctx *cx, cr_model *model, const cr_table *table, bool more,
                         bool *opt_any);
/* A copy of a fitted model. */
cr_status cri_model_copy(cr_ctx *cx, const cr_model *model, cr_model **out_model);
/* CR_EUNSUPPORTED, in words, of a network as it was given: it has seen no rows and has no design. */
cr_status cri_check_fitted(cr_ctx *cx, const cr_model *model);

/* Design, report and state of a model to a JSON object, and from it a model with the class and settings of `like`. */
cr_status cri_model_write_parts(cr_ctx *cx, const cr_model *model, cri_store *store, json_t *out);
cr_status cri_model_read_parts(cr_ctx *cx, cri_store *store, const json_t *in, const cr_model *like,
                               cr_model **out_model);

/* The task of a model that has its settings, for the target of a table. */
cr_status cri_resolve_task(cr_ctx *cx, const cr_model *model, const cr_table *table,
                           unsigned *out_task);
/* The task that a fit with these settings would be for. */
cr_status cri_fit_task(cr_ctx *cx, const char *name, const cr_table *table,
                       const cr_setting *settings, size_t n_settings, unsigned *out_task);

/* What of a prediction is wanted: all; the means; all of it before the way back from a transformed target. */
typedef enum cri_wanted_answer { CRI_WANT_ALL, CRI_WANT_MEANS, CRI_WANT_LATENT } cri_wanted_answer;
/* Another answer than that of the face of rows. */
typedef cr_status cri_answer_rows(cr_ctx *cx, const cr_model *model, const cri_rows *rows,
                                  void *arg, cr_prediction *out);
/* The answers of all rows of a table, those left out NaN; by opt_answer where it is not NULL. */
cr_status cri_predict(cr_ctx *cx, const cr_model *model, const cr_table *table,
                      cri_wanted_answer want, cri_answer_rows *opt_answer, void *arg,
                      cr_prediction *out);
/* Memory for n answers of a model; for the mean only where nothing else is wanted. */
cr_status cri_prediction_new(cr_ctx *cx, const cr_model *model, size_t n, bool mean_only,
                             cr_prediction *out);
/* The first n answers, in the units rows->y has, in those of the target; `latent`: of the transformed one.  Warns of
 * overflows on the way back from it. */
cr_status cri_prediction_units(cr_ctx *cx, const cr_model *model, size_t n, bool latent,
                               cr_prediction *prediction, size_t *out_overflows);
/* cr_predict without the way back from a transformed target, and without conformal intervals. */
cr_status cri_predict_latent(cr_ctx *cx, const cr_model *model, const cr_table *table,
                             cr_prediction *out_prediction);
/* The spread under the posterior, without noise, of the average over the rows of a table of the predictive mean: scale,
 * in the units of the target, and degrees of freedom of Student's t.  NaN where the model does not know it. */
cr_status cri_mean_spread(cr_ctx *cx, const cr_model *model, const cr_table *table,
                          double *out_scale, double *out_dof);
/* Answers of the rows of a table that are not as answers must be fail with CR_EDATA: a negative
 * spread, shares of one that are none (predict_check.c). */
cr_status cri_prediction_check(cr_ctx *cx, const cr_table *table, const cri_rows *rows,
                               const cr_prediction *prediction);

/* Fails where `count` paths through n rows are more than memory is for, as cr_decode_paths does. */
cr_status cri_check_paths(cr_ctx *cx, size_t count, size_t n);

/* Multiplies the weights of rows by what --class-weights says of their classes: "balanced" gives
 * class k the weight n / (K n_k), so that all of the K classes with rows count the same in sum. */
cr_status cri_class_weights_apply(cr_ctx *cx, const cr_model *model, cri_rows *rows);
/* Whether the classes of few rows, each foretold without it, are less probable by the model than by the shares of the
 * classes (left_out.c); false of many rows.  A model by sums; rows->w is lent.  Fails with CR_ENOMEM, CR_EINTERRUPTED. */
cr_status cri_is_worse_than_shares(cr_ctx *cx, const cr_model *model, cri_rows *rows,
                                   bool *out_worse);
/* Warns where the class says that its probabilities cannot be relied on, and where a classifier by densities gives
 * the rows of its fit larger probabilities than it has hits, on up to 2000 of them (overconfident.c), or, from few rows,
 * is worse than the shares of the classes.  Says nothing, and does nothing, while warnings are muted. */
cr_status cri_doubt_probabilities(cr_ctx *cx, const cr_model *model, const cr_table *table);
/* Warns where the target is constant and intervals have no width.  The rows are those of the table. */
cr_status cri_doubt_intervals(cr_ctx *cx, const cr_model *model, const cr_table *table,
                              const cri_rows *rows);

#endif
