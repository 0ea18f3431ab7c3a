/* plan.h -- the folds on which one or several models are judged, all on the same.  (Internal
 * header.) */
#ifndef CREDENCE_STUDY_PLAN_H
#define CREDENCE_STUDY_PLAN_H

#include "base/scratch.h"
#include "data/judge/dealt.h"
#include "cross_validate.h"
#include "scores.h"

typedef struct cri_plan {
    const cr_table      *table;   /* the caller's, or `classes`                                   */
    cri_dealt            dealt;   /* its rows divided by their weights, if they are counts       */
    cr_table            *classes; /* the same with numbers that name classes as a category        */
    unsigned             task;    /* of all models                                                */
    uint64_t             seed;
    double               began; /* when, by the monotonic clock                                   */
    size_t               folds, repeats;
    cr_folds            *split; /* [repeats] */
    const cr_model_spec *specs; /* [n_specs] with the column of groups out of the features        */
    size_t               n_specs;
    cr_judging           how;  /* rows are judged; its loss, if any, is */
    cr_loss              loss; /* read from a file or by name           */
    cr_scratch           s;    /* holds split's array and specs */
} cri_plan;

/* Checks the models and makes the folds.  Fails with CR_EARG for unknown models, settings or
 * columns and for models that do not do the same task, with CR_EDATA where the data do not allow
 * the folds. */
cr_status cri_plan_open(cr_ctx *cx, const cr_model_spec *specs, size_t n_specs,
                        const cr_table *table, const cr_cv_options *options, cri_plan *out_plan);
/* Frees what it holds; also after a failure. */
void cri_plan_close(cr_ctx *cx, cri_plan *plan);
/* The same without folds: only the checks, the classes and the seed. */
cr_status cri_plan_open_unsplit(cr_ctx *cx, const cr_model_spec *specs, size_t n_specs,
                                const cr_table *table, const char *opt_group, cri_plan *out_plan);

/* Which fold a failure was in: a note to it, where it is one of the data; returns the status. */
cr_status cri_plan_note(cr_ctx *cx, const cri_plan *plan, size_t f, cr_status status);
/* The rows for training and testing of fold f % folds of repeat f / folds, as tables. */
cr_status cri_plan_tables(cr_ctx *cx, const cri_plan *plan, size_t f, cr_table **out_train,
                          cr_table **out_test);
/* Model job / (folds x repeats) on the fold and repeat job % that; a failure is noted. */
cr_status cri_plan_fold(cr_ctx *cx, const cri_plan *plan, size_t job, cr_assessment *out);
/* The first model on every fold: out [repeats x folds], done [repeats x folds] those that were finished in time. */
cr_status cri_plan_run(cr_ctx *cx, const cri_plan *plan, cr_assessment *out, bool *done);
/* The folds that count: all of them, or where the time limit ended some, with a warning, the repeats that are whole,
 * or else those folds of the first repeat that were finished.  which [*out_repeats x *out_folds].  Fails with
 * CR_ENOMEM where there is none. */
cr_status cri_plan_keep(cr_ctx *cx, const cri_plan *plan, const bool *done, size_t *which,
                        size_t *out_folds, size_t *out_repeats);
/* The failure that not one of the n jobs was finished, with what all of them would take. */
cr_status cri_plan_fail_time(cr_ctx *cx, const cri_plan *plan, const char *what, size_t n);
/* Brings the assessments of the folds that count to the front and gives the memory of the others back. */
cr_status cri_plan_compact(cr_ctx *cx, const size_t *which, size_t folds, size_t repeats,
                           cr_cv *cv);

/* A seed of its own for the item of some purpose, from the user's; item 0 keeps the user's. */
uint64_t cri_item_seed(uint64_t seed, uint64_t purpose, uint64_t item);

#endif
