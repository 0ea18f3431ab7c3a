/* priors.c -- what generative classifiers share: priors, and joints turned into probabilities. */
#include "discriminant.h"
#include "models/core/rows_check.h"
#include "base/list.h"
#include "base/scratch.h"
#include "math/special/special.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- reading --------------------------------------------------------------------------------- */

static const cri_class_numbers PRIORS = { "--priors", "CLASS=P with P from 0 to 1",
                                          "uniform, or ham=0.8,spam=0.2", 1 };

static cr_status check_all_given(cr_ctx *cx, const cr_design *d, const double *prior)
{
    double sum = 0;
    for (size_t k = 0; k < cr_design_classes(d); k++) {
        if (isnan(prior[k]))
            return cr_fail(cx, CR_EARG, "--priors: the class '%s' has no prior",
                           cr_design_class(d, k));
        sum += prior[k];
    }
    if (fabs(sum - 1) < 1e-6) return CR_OK;
    return cr_fail(cx, CR_EARG, "--priors: they sum to %g, not to 1", sum);
}

static cr_status check_known(cr_ctx *cx, const cr_design *d, const double *weight,
                             const double *prior)
{
    for (size_t k = 0; k < cr_design_classes(d); k++)
        if (prior[k] > 0 && !(weight[k] > 0))
            return cr_fail(cx, CR_EDATA,
                           "no row with a positive weight has the class '%s', but its prior is %g",
                           cr_design_class(d, k), prior[k]);
    return CR_OK;
}

cr_status cri_priors_read(cr_ctx *cx, const cr_design *d, const char *text, const double *weight,
                          double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     K = cr_design_classes(d), n_items = 0;
    double    *prior = cr_scratch_f64(&s, K), sum = 0;
    char     **items = NULL;

    CR_TRY(s.status);
    CR_TRY(cri_list_split(&s, text, &items, &n_items));
    CR_TRY(cri_check_classes(cx, d, weight));
    bool shares = n_items == 0, uniform = n_items == 1 && strcmp(items[0], "uniform") == 0;
    for (size_t k = 0; k < K; k++) prior[k] = shares ? weight[k] : uniform ? 1 : NAN;
    for (size_t i = 0; i < n_items && !uniform; i++)
        CR_TRY(cri_class_item(cx, d, &PRIORS, items[i], prior));
    if (!shares && !uniform) CR_TRY(check_all_given(cx, d, prior));
    for (size_t k = 0; k < K; k++) sum += prior[k];
    for (size_t k = 0; k < K; k++) prior[k] /= sum;
    CR_TRY(check_known(cx, d, weight, prior));
    for (size_t k = 0; k < K; k++) out[k] = log(prior[k]);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- telling --------------------------------------------------------------------------------- */

void cri_priors_describe(const cr_design *d, const double *weight, const double *log_prior,
                         cri_sheet *s)
{
    for (size_t k = 0; k < cr_design_classes(d); k++) {
        char name[512];
        snprintf(name, sizeof name, "rows(%s)", cr_design_class(d, k));
        cri_put_real(s, name, weight[k]);
        snprintf(name, sizeof name, "prior(%s)", cr_design_class(d, k));
        cri_put_real(s, name, exp(log_prior[k]));
    }
}

/* --- probabilities --------------------------------------------------------------------------- */

static bool softmax_wide(const long double *score, size_t K, double *out)
{
    long double most = -HUGE_VALL, sum = 0;
    for (size_t k = 0; k < K; k++) {
        if (isnan(score[k])) return false;
        if (score[k] > most) most = score[k];
    }
    if (!isfinite(most)) return false;
    for (size_t k = 0; k < K; k++) sum += expl(score[k] - most);
    for (size_t k = 0; k < K; k++) out[k] = (double)(expl(score[k] - most) / sum);
    return true;
}

void cri_class_probabilities(double *score, size_t K, const double *log_prior,
                             void (*far)(const void *arg, long double *out), const void *arg,
                             long double *workspace)
{
    double most = -INFINITY;
    bool   lost = false;
    for (size_t k = 0; k < K; k++) {
        lost |= isnan(score[k]) || score[k] == INFINITY;
        if (score[k] > most) most = score[k];
    }
    if (!lost && isfinite(most)) {
        cr_softmax(score, K, score);
        return;
    }
    if (far) {
        far(arg, workspace);
        if (softmax_wide(workspace, K, score)) return;
    }
    cr_softmax(log_prior, K, score);
}

void cri_class_joints(double *score, size_t K, double shared,
                      void (*far)(const void *arg, long double *out), const void *arg,
                      long double *workspace)
{
    bool lost = false;
    for (size_t k = 0; k < K; k++) lost |= isnan(score[k]);
    if (lost) far(arg, workspace);
    for (size_t k = 0; k < K; k++) {
        double joint = (lost ? (double)workspace[k] : score[k]) + shared;
        score[k] = isnan(joint) ? -INFINITY : joint;
    }
}
