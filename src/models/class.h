/* class.h -- what a model declares: one descriptor, from which every surface is made.
 * A class works on rows of numbers (cri_rows) and keeps its posterior in a state of its own; the
 * model around it (model.c) holds design, options and report.  A function that a class cannot offer
 * is NULL.  (Internal header.) */
#ifndef CREDENCE_MODELS_CLASS_H
#define CREDENCE_MODELS_CLASS_H

#include "../data/design_internal.h"
#include "list.h"
#include "model.h"
#include "parameters.h"
#include "parts.h"
#include "record_store.h"
#include "store.h"
#include "unused.h"

/* The numbers that may stand in columns without a target. */
typedef enum cri_takes {
    CRI_TAKES_ANY,
    CRI_TAKES_POSITIVE, /* none below zero        */
    CRI_TAKES_COUNTS,
    CRI_TAKES_LEVELS /* whole numbers and texts */
} cri_takes;

struct cr_model_class {
    const char *name, *summary;
    const char *formulas;  /* the model in plain text, a few lines */
    const char *reference; /* book or paper                        */
    const char
            *example; /* data in examples/ and options of a command that works; NULL: by the task */
    unsigned tasks;
    const char *
        for_classes; /* of a model of numbers: what to do with a target of classes; NULL: nothing */

    const cr_option *options;
    size_t           options_size;
    const cri_goes  *goes;   /* options that go with others (unused.h); NULL: none do            */
    cr_scale  default_scale; /* what --scale auto means                                     */
    bool      scales_itself; /* standardises by its own statistics: rows come unstandardised */
    bool      means_alone;   /* predict can leave out what costs more than the mean           */
    bool      has_leverage;  /* predict fills the leverage of numbers                        */
    bool      target_as_is;  /* the target cannot be standardised: counts, positive numbers   */
    bool      joint;     /* its likelihood is that of target and columns, not of the target alone */
    cri_takes takes;     /* the numbers it describes                                   */
    bool update_forgets; /* update knows the old rows by what it kept: near a fit on all rows */
    bool update_holds;   /* update keeps hyper-parameters as fit learned them: no stream of fits */
    bool takes_sparse;   /* looks at terms and columns by their accessors, or at the entries */
    bool sparse_levels;  /* says as much of sparse rows: wide categories come as entries too */
    bool takes_missing;  /* sees gaps in the features as NaN, unless the user says else  */
    cri_coding coding;   /* how categories become terms                                  */
    /* Options of its own, of kind text, that name columns it reads as rows->roles[k]; ends with
     * NULL. */
    const char *const *roles;

    /* Tells the design, which is new, what the options say about its columns: which are texts. */
    cr_status (*shape)(cr_ctx *cx, const void *options, cr_design *design);
    /* Data and options in; a state and a report out (the caller has filled report->rows). */
    cr_status (*fit)(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                     void **out_state, cr_report *report);
    /* A new state: what `state` knew and the new rows. */
    cr_status (*update)(cr_ctx *cx, const void *state, const cri_rows *rows, const void *options,
                        void **out_state, cr_report *report);
    /* The same for the next block of a stream where there is no exact update: one pass, which
     * leaves an estimate near the one of all rows and says how near.  `advances` is the setting,
     * "name=value", that asks for it. */
    cr_status (*advance)(cr_ctx *cx, const void *state, const cri_rows *rows, const void *options,
                         uint64_t seed, void **out_state, cr_report *report);
    const char *advances;
    /* Classes that came later have joined the design: class k of the state becomes map[k] of
     * `classes`, those between have no rows yet.  Without it all classes must be in the first rows.
     * Rows with `more` set need no state that can predict. */
    cr_status (*join)(cr_ctx *cx, void *state, const size_t *map, size_t classes);
    /* A setting, "name=value", that the fit of the first block of a stream needs for updates. */
    const char *streams;
    /* Fills mean/scale/dof (and leverage), prob, log_density or vector, as out->kind says, of rows
     * 0 .. rows->n-1; arrays are allocated, but those of a family (cri_prediction_family), which
     * the class asks for itself.  A class of densities and clusters, or densities and coordinates,
     * fills log_density too.  With means_alone it may be asked for the mean only: scale, dof and
     * leverage are NULL then. */
    cr_status (*predict)(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out);
    /* log p(x, class) of rows, out [rows->n x classes of the target], in the units of the terms. */
    cr_status (*log_joint)(cr_ctx *cx, const void *state, const cri_rows *rows, double *out);
    /* Coordinates of rows, out [rows->n x labels], of a class whose predict answers something
     * else. */
    cr_status (*transform)(cr_ctx *cx, const void *state, const cri_rows *rows, double *out);
    /* From coordinates Z [n x labels] back to rows: out [n x terms of the design that are numbers],
     * in the units of the terms, and how far what these rows become is from the points, distance
     * [n]. */
    cr_status (*reconstruct)(cr_ctx *cx, const void *state, const double *Z, size_t n, double *out,
                             double *distance);
    /* The names of its clusters or coordinates; not needed for classes of a target. */
    const char *const *(*labels)(const void *state, size_t *out_n);
    /* The distribution of the next row's columns; n and mean/scale/dof are allocated for out->n
     * columns of numbers, a family as in predict. */
    cr_status (*next)(cr_ctx *cx, const void *state, const cr_design *design, cr_prediction *out);
    /* The same of columns of levels: asks for room (cri_levels_new), fills column, first and
     * prob, and sets the texts (cri_levels_name). */
    cr_status (*next_levels)(cr_ctx *cx, const void *state, const cr_design *design,
                             cr_levels *out);
    /* Draws: without rows, out [count x design columns] (units of the data, codes of levels); with
     * rows, targets [rows->n x count] in the units rows->y has. */
    cr_status (*sample)(cr_ctx *cx, const void *state, const cr_design *design,
                        const cri_rows *opt_rows, size_t count, uint64_t seed, double *out);
    /* What a function that is a sum is made of (parts.h): the part number k, *out_part empty beyond
     * the last; mean and sd [rows->n] of it at the rows, where there are any, in the units rows->y
     * has. */
    cr_status (*part)(cr_ctx *cx, const void *state, const cr_design *design, size_t k,
                      const cri_rows *opt_rows, cr_part *out_part, double *mean, double *sd);
    /* The function itself, without noise, after the data or (prior) before them: mean [rows->n],
     * sd, and the covariance [rows->n x rows->n]. */
    cr_status (*function)(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                          double *mean, double *opt_sd, double *opt_covariance);
    /* Draws of it: out [rows->n x count]. */
    cr_status (*functions)(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                           size_t count, uint64_t seed, double *out);
    /* The gradient of its mean by the terms of the design that are numbers: out [rows->n x their
     * number]. */
    cr_status (*slopes)(cr_ctx *cx, const void *state, const cri_rows *rows, double *out);
    /* The hyper-parameter number k, *out_hyper empty beyond the last. */
    cr_status (*hyper)(cr_ctx *cx, const void *state, size_t k, cr_hyper *out_hyper);
    /* The log evidence of rows with their targets, in the units rows->y has, with the n
     * hyper-parameters `which` at values [count x n]; NaN where there is none: out [count]. */
    cr_status (*evidence_at)(cr_ctx *cx, const void *state, const cri_rows *rows,
                             const size_t *which, size_t n, const double *values, size_t count,
                             double *out);
    /* The inducing inputs of a sparse process: *out_X [n x terms of the design], allocated, in the
     * units of the terms. */
    cr_status (*inducing)(cr_ctx *cx, const void *state, const cr_design *design, double **out_X,
                          size_t *out_n);
    /* The covariance of the parameters that `describe` shows, in their order, *out [n x n],
     * allocated, in the units rows->y has; NaN where a parameter has no standard error. */
    cr_status (*covariance)(cr_ctx *cx, const void *state, double **out, size_t *out_n);
    /* Adds "parameters" (a list of rows, parameters.h), "statistics" (an object of what `statistics`
     * declares) and its own tables to `out`. */
    cr_status (*describe)(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out);
    const cr_field *statistics;
    const cr_field *tables; /* rows that this class alone has; NULL: none */
    /* The state as a record, by which it is saved, loaded and freed.  `ready` refuses a state that
     * was read and does not fit the design with CR_EDATA (the caller words it), or with CR_EARG and
     * its own words (the caller names the file), and makes what is not in the file; `release` frees
     * of that what the record does not name. */
    const cri_member *state;
    size_t            state_size;
    cr_status (*ready)(cr_ctx *cx, void *state, const cr_design *design);
    void (*release)(cr_ctx *cx, void *state);
};

/* The state of a class, by its record; `out` is a JSON object of its own. */
cr_status cri_state_write(cr_ctx *cx, const cr_model_class *c, const void *state, cri_store *store,
                          json_t *out);
cr_status cri_state_read(cr_ctx *cx, const cr_model_class *c, const cri_store *store,
                         const json_t *in, const cr_design *design, void **out_state);
void      cri_state_free(cr_ctx *cx, const cr_model_class *c, void *state);

/* The standardisation that the options ask for, "auto" resolved by the class. */
cr_scale cri_class_scale(const cr_model_class *c, int scale_option);

#define CRI_DECLARE_CLASS(stem) extern const cr_model_class cri_class_##stem;
CRI_MODELS(CRI_DECLARE_CLASS)

/* Room for the parameters of a family in a prediction: sets family, n_params and params
 * [n x n_params].  The family is named as in the registry of distributions. */
cr_status cri_prediction_family(cr_ctx *cx, cr_prediction *prediction, const char *family,
                                size_t n_params);

/* Room for n columns with `total` levels together, first[n] = total; freed by cr_levels_free. */
cr_status cri_levels_new(cr_ctx *cx, size_t n, size_t total, cr_levels *out);
/* Sets the text of level i to prefix and level. */
cr_status cri_levels_name(cr_ctx *cx, cr_levels *out, size_t i, const char *prefix,
                          const char *level);

#endif
