/* faces.h -- how a class learns and what it answers: small tables of functions, each of which a class has or
 * has not.  What a class offers is read off the faces that are there and the functions in them.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_FACES_H
#define CREDENCE_MODELS_CORE_FACES_H

#include "data/design/design_internal.h"
#include "base/sheet.h"
#include "model.h"
#include "parts.h"

/* --- how it learns ---------------------------------------------------------------------------- */

/* From all rows at once. */
typedef struct cri_whole_face {
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
    bool update_forgets; /* update knows the old rows by what it kept: near a fit on all rows */
    bool update_holds;   /* update keeps hyper-parameters as fit learned them: no stream of fits */
} cri_whole_face;

/* --- what it answers -------------------------------------------------------------------------- */

/* About rows. */
typedef struct cri_rows_face {
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
    bool means_alone;  /* predict can leave out what costs more than the mean           */
    bool has_leverage; /* predict fills the leverage of numbers                        */
} cri_rows_face;

/* Coefficients along a path of penalties. */
typedef struct cri_coefficient_path {
    size_t        n_lambdas, n_terms; /* 0 of a model without a path                       */
    size_t        chosen;             /* which lambda the model predicts with             */
    const double *lambda;             /* [n_lambdas] falling                              */
    const double *terms;              /* [n_terms] of the design, those ever other than 0 */
    const double *coef;    /* [n_lambdas x n_terms] of the terms as they were penalised      */
    const double *nonzero; /* [n_lambdas] how many are not 0                   */
    bool          folds;   /* errors by cross-validation are there, and with it */
    size_t        least, one_se; /* the lambda of least error, and by the rule of one
                                         standard error                                   */
} cri_coefficient_path;

/* As a function of the columns: without noise, in parts, by its hyper-parameters. */
typedef struct cri_function_face {
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
    /* Its coefficients along a path of penalties: borrows from the state. */
    void (*path)(const void *state, cri_coefficient_path *out);
} cri_function_face;

struct cri_network_methods; /* graph/query/methods.h */

/* As a network: what query, infer, plot, convert and describe ask is answered by the functions of its
 * kind, with states or linear-Gaussian. */
typedef struct cri_network_face {
    const struct cri_network_methods *methods;
    /* The network of this kind that the state holds. */
    const void *(*network)(const void *state);
} cri_network_face;

/* The path of a model, borrowed from it; empty of one that has none. */
cri_coefficient_path cri_model_path(const cr_model *model);

#endif
