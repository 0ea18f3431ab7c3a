/* cross_validate.c -- cross-validation of one model, and what its metrics mean. */
#include "cross_validate.h"
#include "assess_internal.h"
#include "plan.h"

#include <math.h>
#include <string.h>

CR_OPTIONS_TABLE(, cr_cv_table, cr_cv_options, CR_CV_OPTIONS);

cr_status cr_cross_validate(cr_ctx *cx, const char *name, const cr_table *t,
                            const cr_setting *settings, size_t n_settings,
                            const cr_cv_options *options, cr_cv *out)
{
    cr_status     st = CR_OK;
    cr_model_spec spec = { name, settings, n_settings };
    cri_plan      plan = { 0 };
    cr_cv         cv = { 0 };
    size_t        folds, repeats;

    CR_TRY(cri_plan_open(cx, &spec, 1, t, options, &plan));
    cv = (cr_cv){ .folds = plan.folds, .repeats = plan.repeats, .seed = plan.seed };
    cv.fold = cr_alloc(cx, cv.folds * cv.repeats, sizeof *cv.fold);
    if (!cv.fold) CR_TRY(CR_ENOMEM);
    bool   *done = cr_scratch_bytes(&plan.s, cv.folds * cv.repeats, sizeof *done);
    size_t *which = cr_scratch_index(&plan.s, cv.folds * cv.repeats);
    CR_TRY(plan.s.status);
    CR_TRY(cri_plan_run(cx, &plan, cv.fold, done));
    CR_TRY(cri_plan_keep(cx, &plan, done, which, &folds, &repeats));
    CR_TRY(cri_plan_compact(cx, which, folds, repeats, &cv));
    cri_scores_warn(cx, name, cv.fold, cv.folds * cv.repeats);
    cri_scores_mean(cv.fold, cv.folds, cv.repeats, &cv.mean, cv.se);
    *out = cv;
    cv.fold = NULL;
done:
    cr_free(cx, cv.fold, cv.folds * cv.repeats, sizeof *cv.fold);
    cri_plan_close(cx, &plan);
    return st;
}

void cr_cv_free(cr_ctx *cx, cr_cv *cv)
{
    cr_free(cx, cv->fold, cv->folds * cv->repeats, sizeof *cv->fold);
    *cv = (cr_cv){ 0 };
}

/* --- metrics --------------------------------------------------------------------------------- */

int cr_metric_sense(const char *metric) { return cri_metric_kind_of(metric)->sense; }

size_t cr_metric_find(const cr_assessment *a, const char *metric)
{
    size_t i = 0;
    while (i < a->n && strcmp(a->metrics[i].name, metric) != 0) i++;
    return i;
}

const char *cr_metric_default(const cr_assessment *a)
{
    size_t accuracy = cr_metric_find(a, "accuracy");
    if (accuracy < a->n && isnan(a->metrics[0].value)) return "accuracy"; /* no probabilities */
    return a->n > 0 ? a->metrics[0].name : "log_score"; /* the proper score comes first */
}
