/* metrics_regression.c -- scores of predictive distributions of a number. */
#include "metrics_internal.h"
#include "base/parallel.h"
#include "math/special/special.h"

#include <math.h>

cr_status cri_check_weights(cr_ctx *cx, const double *opt_weight, size_t n)
{
    double sum = 0;
    for (size_t i = 0; opt_weight && i < n; i++) {
        if (!(opt_weight[i] >= 0) || isinf(opt_weight[i]))
            return cr_fail(cx, CR_EDATA, "the weight of row %zu is %g: weights are 0 or more",
                           i + 1, opt_weight[i]);
        sum += opt_weight[i];
    }
    if (opt_weight && !(sum > 0 && isfinite(sum)))
        return cr_fail(cx, CR_EDATA, "the weights sum to %g", sum);
    return CR_OK;
}

/* --- the continuous ranked probability score ------------------------------------------------- */

/* sigma (z (2 Phi(z) - 1) + 2 phi(z) - 1/sqrt(pi)):  Gneiting & Raftery (2007), eq. (21). */
double cr_crps_normal(double y, double mean, double scale)
{
    const double one_over_sqrt_pi = 0.56418958354775628695;
    double       z = fabs(y - mean) / scale;
    return scale * (z * (1 - 2 * cr_norm_cdf(-z)) + 2 * exp(cr_norm_logpdf(z)) - one_over_sqrt_pi);
}

/* log B(1/2, nu - 1/2) - log B(1/2, nu/2).  Near nu = 1, where it vanishes and the score divides by
 * nu - 1, by its Taylor series: derivatives -log 2 and pi^2/4. */
static double log_beta_ratio(double nu)
{
    const double log_2 = 0.69314718055994530942, pi = 3.14159265358979323846;
    double       e = nu - 1;
    if (fabs(e) < 1e-5) return e * (-log_2 + e * pi * pi / 8);
    return cr_lbeta(0.5, nu - 0.5) - cr_lbeta(0.5, nu / 2);
}

/* Jordan et al. (2019), appendix A:
 *   z (2 F(z) - 1) + 2 f(z) (nu + z^2) / (nu - 1)
 *                  - 2 sqrt(nu) / (nu - 1) B(1/2, nu - 1/2) / B(1/2, nu/2)^2
 * with f(z) (nu + z^2) = sqrt(nu) (1 + z^2/nu)^((1 - nu)/2) / B(1/2, nu/2), so that the last two
 * terms are
 *   2 sqrt(nu) / B(1/2, nu/2) (e^a - e^b) / (nu - 1):
 * no cancellation as nu -> 1, and no overflow. */
double cr_crps_student_t(double y, double mean, double scale, double nu)
{
    if (isinf(nu)) return cr_crps_normal(y, mean, scale);
    if (!(nu > 0.5)) return isnan(nu) ? (double)NAN : (double)INFINITY;
    double z = fabs(y - mean) / scale;
    double log_power = z < 1e150 ? log1p(z * z / nu) : 2 * log(z) - log(nu);
    double a = (1 - nu) / 2 * log_power, b = log_beta_ratio(nu);
    double front = 2 * sqrt(nu) * exp(-cr_lbeta(0.5, nu / 2));
    /* at nu = 1, a and b vanish; the limit of (e^a - e^b) / (nu - 1) is log 2 - log_power / 2 */
    double tail =
        nu == 1 ? 0.69314718055994530942 - log_power / 2 : (expm1(a) - expm1(b)) / (nu - 1);
    return scale * (z * (1 - 2 * cr_student_t_cdf(-z, nu)) + front * tail);
}

/* --- checks ---------------------------------------------------------------------------------- */

static cr_status check_row(cr_ctx *cx, const double *y, const cr_predictive *p, size_t i)
{
    if (!isfinite(y[i])) return cr_fail(cx, CR_EDATA, "the target of row %zu is %g", i + 1, y[i]);
    bool overflows =
        isinf(p->mean[i]) && !p->scale; /* of a transformed target: the error is infinite */
    if (!isfinite(p->mean[i]) && !overflows)
        return cr_fail(cx, CR_EDATA, "the prediction for row %zu is %g", i + 1, p->mean[i]);
    if (p->scale && !(p->scale[i] > 0 && isfinite(p->scale[i])))
        return cr_fail(cx, CR_EDATA, "the scale predicted for row %zu is %g: it must be above 0",
                       i + 1, p->scale[i]);
    if (p->scale && p->dof && !(p->dof[i] > 0))
        return cr_fail(cx, CR_EDATA,
                       "the degrees of freedom for row %zu are %g: they must be above 0", i + 1,
                       p->dof[i]);
    return CR_OK;
}

static cr_status check_input(cr_ctx *cx, const double *y, const cr_predictive *p,
                             const double *opt_weight, double level)
{
    cr_status st = CR_OK;
    if (p->n == 0) return cr_fail(cx, CR_EARG, "there are no rows to evaluate");
    if (!(level > 0 && level < 1))
        return cr_fail(cx, CR_EARG, "an interval of level %g: it must lie between 0 and 1", level);
    for (size_t i = 0; i < p->n && st == CR_OK; i++) st = check_row(cx, y, p, i);
    return st == CR_OK ? cri_check_weights(cx, opt_weight, p->n) : st;
}

/* --- sums ------------------------------------------------------------------------------------ */

enum { WEIGHT, TARGET, FIRST_SUMS }; /* first pass  */
enum {
    SQUARED,
    ABSOLUTE,
    VARIANCE,
    LOG_SCORE,
    CRPS,
    COVERED,
    WIDTH,
    SECOND_SUMS
}; /* second pass */

typedef struct job {
    const double        *y, *weight;
    const cr_predictive *p;
    double               ybar, upper; /* the mean target; the probability below the upper end */
} job;

static void sum_targets(void *arg, cri_range rows, double *acc)
{
    const job *j = arg;
    for (size_t i = rows.begin; i < rows.end; i++) {
        double w = j->weight ? j->weight[i] : 1;
        acc[WEIGHT] += w;
        acc[TARGET] += w * j->y[i];
    }
}

/* The half width of the central interval of T; recomputed only when dof changes. */
static double half_width(const job *j, double dof, double *last_dof, double *last)
{
    if (dof == *last_dof) return *last;
    *last_dof = dof;
    return *last = cr_student_t_ppf(j->upper, dof);
}

static void sum_scores(void *arg, cri_range rows, double *acc)
{
    const job *j = arg;
    double     last_dof = -1, last = 0;
    for (size_t i = rows.begin; i < rows.end; i++) {
        double w = j->weight ? j->weight[i] : 1, y = j->y[i], error = y - j->p->mean[i];
        acc[SQUARED] += w * error * error;
        acc[ABSOLUTE] += w * fabs(error);
        acc[VARIANCE] += w * (y - j->ybar) * (y - j->ybar);
        if (!j->p->scale || w == 0) continue;
        double scale = j->p->scale[i], dof = j->p->dof ? j->p->dof[i] : (double)INFINITY;
        double half = scale * half_width(j, dof, &last_dof, &last);
        acc[LOG_SCORE] += w * (cr_student_t_logpdf(error / scale, dof) - log(scale));
        acc[CRPS] += w * cr_crps_student_t(y, j->p->mean[i], scale, dof);
        acc[COVERED] += fabs(error) <= half ? w : 0;
        acc[WIDTH] += w * 2 * half;
    }
}

cr_status cr_regression_evaluate(cr_ctx *cx, const double *y, const cr_predictive *prediction,
                                 const double *opt_weight, double level, cr_regression_metrics *out)
{
    cr_status st = CR_OK;
    job       j = { y, opt_weight, prediction, 0, 0.5 + level / 2 };
    double    first[FIRST_SUMS], s[SECOND_SUMS], none = prediction->scale ? 0 : (double)NAN;
    size_t    n = prediction->n;

    CR_TRY(check_input(cx, y, prediction, opt_weight, level));
    CR_TRY(cri_parallel_sum(cx, NULL, n, CRI_METRICS_BLOCK, FIRST_SUMS, sum_targets, &j, first));
    double w = first[WEIGHT];
    j.ybar = first[TARGET] / w;
    CR_TRY(cri_parallel_sum(cx, NULL, n, CRI_METRICS_BLOCK, SECOND_SUMS, sum_scores, &j, s));
    *out = (cr_regression_metrics){
        .rmse = sqrt(s[SQUARED] / w),
        .mae = s[ABSOLUTE] / w,
        .r2 = s[VARIANCE] > 0 ? 1 - s[SQUARED] / s[VARIANCE] : (double)NAN,
        .log_score = s[LOG_SCORE] / w + none,
        .crps = s[CRPS] / w + none,
        .coverage = s[COVERED] / w + none,
        .width = s[WIDTH] / w + none,
        .target_mean = j.ybar,
        .target_variance = s[VARIANCE] / w,
    };
done:
    return st;
}
