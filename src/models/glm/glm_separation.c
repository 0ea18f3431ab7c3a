/* glm_separation.c -- separation of binomial targets, by the classifiers' test. */
#include "glm_separation.h"
#include "models/logistic/separated.h"
#include "base/quoted.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>

/* A sd of the log odds over the range of a column that no finite estimate has. */
static const double BOUNDLESS = 1000;

/* Shares as classes; false where some are in between.
 * *out_both: whether there are both. */
static bool read_classes(const cri_glm_problem *p, uint32_t *y, bool *out_both)
{
    bool seen[2] = { false, false };
    for (size_t i = 0; i < p->rows->n; i++) {
        y[i] = p->y[i] > 0.5;
        if (!(p->weight[i] > 0)) continue;
        if (p->y[i] != 0 && p->y[i] != 1) return false;
        seen[y[i]] = true;
    }
    *out_both = seen[0] && seen[1];
    return true;
}

/* x [n] is workspace. */
static void find_boundless(const cri_glm_problem *p, const cri_predictor *fit, double *x,
                           cri_separation *kind, bool *blame, bool *endless)
{
    for (size_t j = 0; j < fit->p; j++) {
        double low = INFINITY, high = -INFINITY;
        cri_rows_fill_term(p->rows, j, 0, p->rows->n, x, 1);
        for (size_t i = 0; i < p->rows->n; i++)
            if (p->weight[i] > 0) low = fmin(low, x[i]), high = fmax(high, x[i]);
        bool gone = fit->coef_sd[j] * (high - low) > BOUNDLESS;
        blame[p->intercept + j] = endless[p->intercept + j] = gone;
        if (gone) *kind = CRI_SEPARATED_PARTLY;
    }
}

/* Counts whose mean is the exponential of the linear predictor: where all of a group are 0, or all there
 * are, the likelihood rises without end as its coefficient falls. */
static cr_status find_zero_counts(cr_ctx *cx, const cri_glm_problem *p, cri_predictor *fit,
                                  bool *out_found)
{
    cr_status      st = CR_OK;
    cr_scratch     workspace = cr_scratch_begin(cx);
    size_t         q = fit->p + p->intercept;
    bool          *blame = cr_scratch_bytes(&workspace, q + 1, sizeof *blame);
    bool          *endless = cr_scratch_bytes(&workspace, q + 1, sizeof *endless);
    double        *x = cr_scratch_f64(&workspace, p->rows->n);
    cri_separation kind = CRI_NOT_SEPARATED;
    cri_quoted     list = { .most = 8 };
    CR_TRY(workspace.status);
    find_boundless(p, fit, x, &kind, blame, endless);
    bool level = p->intercept && fit->intercept_sd > BOUNDLESS;
    if (kind == CRI_NOT_SEPARATED && !level) goto done;
    for (size_t j = 0; j < fit->p; j++) {
        if (!blame[p->intercept + j]) continue;
        cri_quoted_add(&list, cr_design_term_name(p->rows->design, j));
        fit->coef_sd[j] = NAN;
    }
    if (level) fit->intercept_sd = NAN;
    cr_log(cx, CR_LOG_WARNING,
           "the counts of a group are all 0, by %s: there is no maximum likelihood estimate; the "
           "coefficients shown are diverging and have no standard errors, and intervals of that "
           "group say nothing; leave its rows out, or join it with another",
           list.n ? cri_quoted_text(&list) : "the intercept alone");
    *out_found = true;
done:
    cr_scratch_end(&workspace);
    return st;
}

cr_status cri_glm_find_separation(cr_ctx *cx, const cri_glm_problem *p, const cri_glm_solution *s,
                                  cri_predictor *fit, bool *out_found)
{
    cr_status      st = CR_OK;
    cr_scratch     workspace = cr_scratch_begin(cx);
    cri_separation kind = CRI_NOT_SEPARATED;
    size_t         q = fit->p + p->intercept;
    bool           both = true;
    char           cure[80];
    *out_found = false;
    if ((p->family == CRI_GLM_POISSON || p->family == CRI_GLM_NEGATIVE_BINOMIAL) &&
        p->link == CRI_LINK_LOG)
        CR_TRY(find_zero_counts(cx, p, fit, out_found));
    if (p->family != CRI_GLM_BINOMIAL || s->extreme == 0) goto done;
    uint32_t *y = cr_scratch_bytes(&workspace, p->rows->n, sizeof *y);
    bool     *blame = cr_scratch_bytes(&workspace, q, sizeof *blame);
    bool     *endless = cr_scratch_bytes(&workspace, q, sizeof *endless);
    double   *x = cr_scratch_f64(&workspace, p->rows->n);
    CR_TRY(workspace.status);
    if (!read_classes(p, y, &both))
        find_boundless(p, fit, x, &kind, blame, endless);
    else if (both)
        CR_TRY(cri_test_separation(cx, p->rows, p->intercept, y, &kind, blame, endless));
    else
        kind = CRI_SEPARATED_PERFECTLY; /* by the intercept */
    if (kind == CRI_NOT_SEPARATED) goto done;
    for (size_t j = 0; j < fit->p; j++)
        if (!both || endless[p->intercept + j]) fit->coef_sd[j] = NAN;
    fit->intercept_sd = NAN; /* the score at x = 0 has them all */
    snprintf(cure, sizeof cure, "a prior (bayes-logistic) or a penalty (logistic --lambda %.1g)",
             1 / (double)p->rows->n);
    cri_warn_separation(cx, p->rows->design, p->intercept, kind, blame, cure);
    *out_found = true;
done:
    cr_scratch_end(&workspace);
    return st;
}
