/* lasso_task.h -- one descent along the path: on all rows, or on the training rows of a fold with the
 * rows it is tested on.  By columns all tasks go from lambda to lambda together, so that their
 * gradients are taken at once; by cross-products each goes alone.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_LASSO_TASK_H
#define CREDENCE_MODELS_LINEAR_LASSO_TASK_H

#include "folds_view.h"
#include "lasso_path.h"

typedef struct cri_lasso_task {
    cri_path_end       at;
    const cri_moments *test;      /* solved by cross-products                      */
    const cri_rows    *test_rows; /* solved by columns; NULL for all rows          */
    double            *error;     /* [L] of the rows left out                      */
    double            *b;         /* [p] workspace                                 */
    size_t            *terms;     /* [p] workspace                                 */
    double            *mean, *x;  /* [test rows] workspace                         */
    bool               saturated; /* nothing is left to explain: stays where it is */
} cri_lasso_task;

/* What the tasks are made of. */
typedef struct cri_lasso_source {
    const cri_path_settings *settings;
    const cri_rows          *rows;
    cri_folds_view           view;
    cri_moments             *moments; /* [folds] of the rows left out; by cross-products */
    cri_shared_columns       shared;  /* dense rows by columns                           */
} cri_lasso_source;

/* Prepares the task of a fold, or of all rows (fold = view.folds), at b = 0; error [L] is where the
 * errors of a fold go.  In the arena but for what cri_path_end_free frees, also after a failure. */
cr_status cri_lasso_task_new(cr_ctx *cx, cr_scratch *s, const cri_lasso_source *source, size_t fold,
                             double *error, cri_lasso_task *out);

/* To the solution at lambda, the k-th of the path, and the error there.  Pure. */
void cri_lasso_task_step(cri_lasso_task *t, double lambda, size_t k);

/* The same of tasks that are solved by columns, together. */
cr_status cri_lasso_tasks_step(cr_ctx *cx, cri_lasso_task *const *tasks, size_t count,
                               double lambda, size_t k);

/* With as many terms as rows, all but 0.1 % of the target is explained: what follows is rounding,
 * and takes the longest. */
bool cri_lasso_task_is_saturated(const cri_lasso_task *t);

#endif
