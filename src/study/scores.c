/* scores.c -- metrics over folds. */
#include "scores.h"
#include "assess_internal.h"
#include "cross_validate.h"

#include <math.h>
#include <string.h>

/* sum w (y - mean)^2 over the rows of a fold. */
static double total_squares(const cr_assessment *fold, double mean)
{
    double d = fold->target_mean - mean;
    return fold->weight * (fold->target_variance + d * d);
}

/* sum w (y - prediction)^2 over them. */
static double squared_errors(const cr_assessment *fold)
{
    double rmse = fold->metrics[cr_metric_find(fold, "rmse")].value;
    return fold->weight * rmse * rmse;
}

static void pool_share(const cr_assessment *fold, size_t folds, cri_pool *p)
{
    double errors = 0;
    for (size_t f = 0; f < folds; f++) p->mean += fold[f].weight * fold[f].target_mean / p->weight;
    for (size_t f = 0; f < folds; f++) {
        p->total += total_squares(&fold[f], p->mean);
        errors += squared_errors(&fold[f]);
    }
    p->value = p->total > 0 ? 1 - errors / p->total : NAN;
}

cri_pool cri_pool_of(const cr_assessment *fold, size_t folds, size_t m)
{
    const char *name = fold[0].metrics[m].name;
    cri_pool    p = { .metric = m, .kind = CRI_POOL_MEAN, .folds = (double)folds };
    if (strcmp(name, "rmse") == 0) p.kind = CRI_POOL_ROOT;
    if (strcmp(name, "r2") == 0) p.kind = CRI_POOL_SHARE;
    if (strcmp(name, "calibration_error") == 0 && fold[0].has_bins) p.kind = CRI_POOL_BINS;
    for (size_t f = 0; f < folds; f++) {
        double x = fold[f].metrics[m].value;
        p.weight += fold[f].weight;
        p.value += p.kind == CRI_POOL_ROOT ? fold[f].weight * x * x : x / p.folds;
        for (size_t b = 0; p.kind == CRI_POOL_BINS && b < CR_CALIBRATION_BINS; b++) {
            const cr_calibration_bin *bin = &fold[f].bins[b];
            p.gap[b] += bin->weight * (bin->confidence - bin->accuracy);
        }
    }
    if (p.kind == CRI_POOL_ROOT) p.value = sqrt(p.value / p.weight);
    if (p.kind == CRI_POOL_SHARE) pool_share(fold, folds, &p);
    if (p.kind == CRI_POOL_BINS) p.value = 0;
    for (size_t b = 0; p.kind == CRI_POOL_BINS && b < CR_CALIBRATION_BINS; b++)
        p.value += fabs(p.gap[b]) / p.weight;
    return p;
}

double cri_pool_part(const cri_pool *p, const cr_assessment *fold)
{
    double x = fold->metrics[p->metric].value, share = p->folds * fold->weight / p->weight, sum = 0;
    switch (p->kind) {
    case CRI_POOL_MEAN:
        return x;
    case CRI_POOL_ROOT: /* d sqrt(s) = ds / (2 sqrt(s)) */
        return p->value > 0 ? p->value + (share * x * x - p->value * p->value) / (2 * p->value)
                            : share * x;
    case CRI_POOL_SHARE:
        return p->value +
               p->folds / p->total *
                   ((1 - p->value) * total_squares(fold, p->mean) - squared_errors(fold));
    case CRI_POOL_BINS:
        break;
    }
    for (size_t b = 0; b < CR_CALIBRATION_BINS; b++) {
        const cr_calibration_bin *bin = &fold->bins[b];
        sum += copysign(bin->weight, p->gap[b]) * (bin->confidence - bin->accuracy);
    }
    return p->folds * sum / p->weight;
}

void cri_scores_mean(const cr_assessment *fold, size_t folds, size_t repeats, cr_assessment *out,
                     double *se)
{
    double k = (double)folds;
    *out = fold[0];
    out->has_bins = false; /* they are those of one fold */
    out->rows = out->unconverged = 0;
    out->weight = 0;
    for (size_t f = 0; f < folds; f++) out->rows += fold[f].rows, out->weight += fold[f].weight;
    out->positive_share = 0;
    for (size_t f = 0; f < folds; f++)
        out->positive_share += fold[f].positive_share * fold[f].weight / out->weight;
    for (size_t f = 0; f < folds * repeats; f++) out->unconverged += fold[f].unconverged;
    for (size_t m = 0; m < out->n; m++) {
        double sum = 0, squares = 0;
        for (size_t r = 0; r < repeats; r++) {
            const cr_assessment *first = fold + r * folds;
            cri_pool             p = cri_pool_of(first, folds, m);
            double               square = 0;
            for (size_t f = 0; f < folds; f++) {
                double d = cri_pool_part(&p, &first[f]) - p.value;
                square += d * d;
            }
            sum += p.value, squares += square / (k - 1) / k;
        }
        out->metrics[m].value = sum / (double)repeats;
        se[m] = sqrt(squares / (double)repeats);
    }
}

static void warn_of_metric(cr_ctx *cx, const char *what, const cr_assessment *fold, size_t n,
                           size_t m)
{
    const char *name = fold[0].metrics[m].name;
    bool        numbers = cr_metric_find(&fold[0], "rmse") < fold[0].n;
    size_t      none = 0, infinite = 0;
    for (size_t f = 0; f < n; f++) {
        none += isnan(fold[f].metrics[m].value) != 0;
        infinite += isinf(fold[f].metrics[m].value) != 0;
    }
    cri_pool all = cri_pool_of(fold, n, m);
    if (all.kind == CRI_POOL_SHARE && !isnan(all.value)) return; /* it needs none of a fold */
    if (none > 0 && cri_metric_kind_of(name)->by_rows)
        cr_log(cx, CR_LOG_WARNING,
               "%s: %s is undefined in %zu of %zu folds, which have too few rows or only one "
               "target value, so no mean is given; use fewer folds",
               what, name, none, n);
    else if (none > 0 && m == 0 && numbers)
        cr_log(cx, CR_LOG_WARNING,
               "%s: %s is undefined in %zu of %zu folds, where some row is predicted without a "
               "standard deviation, so no mean is given",
               what, name, none, n);
    else if (none > 0 && none < n && !numbers)
        cr_log(cx, CR_LOG_WARNING, "%s: %s is undefined in %zu of %zu folds, so no mean is given",
               what, name, none, n);
    if (infinite > 0)
        cr_log(cx, CR_LOG_WARNING,
               "%s is infinite in %zu of %zu folds, where an observed class had probability 0, so "
               "the mean is infinite too",
               name, infinite, n);
}

void cri_scores_warn(cr_ctx *cx, const char *what, const cr_assessment *fold, size_t n)
{
    size_t limited = 0;
    for (size_t f = 0; f < n; f++) limited += fold[f].unconverged;
    if (limited > 0)
        cr_log(cx, CR_LOG_WARNING,
               "%s: %zu of %zu fits did not converge within the maximum number of iterations", what,
               limited, n);
    for (size_t m = 0; m < fold[0].n; m++) warn_of_metric(cx, what, fold, n, m);
}
