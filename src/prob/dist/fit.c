/* fit.c -- moments, roots and ascents for maximum likelihood. */
#include "fit.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

/* --- the sample ------------------------------------------------------------------------------ */

double cri_sample_mean(const cri_sample *s, double (*f)(double))
{
    double sum = 0, centre = f ? f(s->x[0]) : s->x[0]; /* an offset keeps large means sharp */
    if (!isfinite(centre)) centre = 0;
    for (size_t i = 0; i < s->n; i++)
        if (cri_weight(s, i) > 0) sum += cri_weight(s, i) * ((f ? f(s->x[i]) : s->x[i]) - centre);
    return centre + sum / s->total;
}

double cri_sample_spread(const cri_sample *s, double centre)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++)
        sum += cri_weight(s, i) * (s->x[i] - centre) * (s->x[i] - centre);
    return sum / s->total;
}

void cri_sample_range(const cri_sample *s, double *low, double *high)
{
    *low = INFINITY, *high = -INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        if (!(cri_weight(s, i) > 0)) continue;
        *low = fmin(*low, s->x[i]);
        *high = fmax(*high, s->x[i]);
    }
}

typedef struct weighted {
    double x, w;
} weighted;

CRI_COMPARE_BY(by_value, weighted, x);

cr_status cri_sample_median(cr_ctx *cx, const cri_sample *s, double *out)
{
    return cri_sample_quantile(cx, s, 0.5, out);
}

cr_status cri_sample_quantile(cr_ctx *cx, const cri_sample *s, double share, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    weighted  *v = cr_scratch_bytes(&scratch, s->n, sizeof *v);
    double     sum = 0;
    CR_TRY(scratch.status);
    for (size_t i = 0; i < s->n; i++) v[i] = (weighted){ s->x[i], cri_weight(s, i) };
    qsort(v, s->n, sizeof *v, by_value);
    for (size_t i = 0; i < s->n; i++) {
        sum += v[i].w;
        if (sum < share * s->total) continue;
        *out = v[i].x;
        break;
    }
done:
    cr_scratch_end(&scratch);
    return st;
}

/* --- refusals -------------------------------------------------------------------------------- */

cr_status cri_no_estimate(cr_ctx *cx, const char *name, const char *why)
{
    return cr_fail(cx, CR_EDATA, "%s: there is no maximum-likelihood estimate: %s", name, why);
}

cr_status cri_need_spread(cr_ctx *cx, const cri_sample *s, const char *name, const char *what)
{
    double low, high;
    cri_sample_range(s, &low, &high);
    if (low < high) return CR_OK;
    return cr_fail(cx, CR_EDATA,
                   "%s: there is no maximum-likelihood estimate of the %s: all values are %g", name,
                   what, low);
}

/* --- roots ----------------------------------------------------------------------------------- */

double cri_falling_root(double (*f)(double x, const void *user), const void *user, double start)
{
    double low = log(start), high = low, step = 0.5, f_low = f(start, user), f_high = f_low;
    for (; !(f_low >= 0) && low > -690; step *= 2)
        f_low = f(exp(low = fmax(low - step, -691)), user);
    for (step = 0.5; !(f_high <= 0) && high < 690; step *= 2)
        f_high = f(exp(high = fmin(high + step, 691)), user);
    if (!(f_low >= 0 && f_high <= 0)) return NAN;
    for (int i = 0; i < 200 && high - low > 1e-15 * fmax(1, fabs(low)); i++) {
        double at = low + (high - low) * f_low / (f_low - f_high); /* a secant, on even turns */
        if (i % 2 || !(at > low && at < high)) at = 0.5 * (low + high);
        if (at <= low || at >= high) break;
        double value = f(exp(at), user);
        if (value >= 0) low = at, f_low = value;
        if (value <= 0) high = at, f_high = value;
    }
    return exp(f_low < -f_high ? low : high);
}

/* --- Newton's ascent ------------------------------------------------------------------------- */

enum { MOST = 3 };

/* The Hessian H [k x k] from gradients on both sides of theta. */
static void difference_hessian(cri_objective *f, const void *user, size_t k, const double *theta,
                               double H[MOST][MOST])
{
    double at[MOST], up[MOST], down[MOST];
    for (size_t j = 0; j < k; j++) {
        double h = 1e-5 * fmax(1, fabs(theta[j]));
        for (size_t i = 0; i < k; i++) at[i] = theta[i];
        at[j] = theta[j] + h;
        f(at, up, user);
        at[j] = theta[j] - h;
        f(at, down, user);
        for (size_t i = 0; i < k; i++) H[i][j] = (up[i] - down[i]) / (2 * h);
    }
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < i; j++) H[i][j] = H[j][i] = 0.5 * (H[i][j] + H[j][i]);
}

/* Solves (ridge I - H) step = g by Cholesky; false when that is not positive definite. */
static bool solve_step(size_t k, double H[MOST][MOST], double ridge, const double *g, double *step)
{
    double L[MOST][MOST];
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = (i == j ? ridge : 0) - H[i][j];
            for (size_t m = 0; m < j; m++) sum -= L[i][m] * L[j][m];
            if (i == j && !(sum > 0)) return false;
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
    for (size_t i = 0; i < k; i++) {
        step[i] = g[i];
        for (size_t m = 0; m < i; m++) step[i] -= L[i][m] * step[m];
        step[i] /= L[i][i];
    }
    for (size_t i = k; i-- > 0;) {
        for (size_t m = i + 1; m < k; m++) step[i] -= L[m][i] * step[m];
        step[i] /= L[i][i];
    }
    return true;
}

/* One step uphill from theta, whose value is *value; the gain it hopes for is returned, 0 when no
 * step gains. */
static double ascend(cri_objective *f, const void *user, size_t k, double *theta, double *value)
{
    double g[MOST], H[MOST][MOST], step[MOST], next[MOST], unused[MOST], ridge = 0, hope = 0;
    f(theta, g, user);
    difference_hessian(f, user, k, theta, H);
    double scale = 0;
    for (size_t i = 0; i < k; i++) scale = fmax(scale, fabs(H[i][i]));
    for (int tries = 0; tries<60; tries++, ridge = ridge> 0 ? 4 * ridge : 1e-8 * scale + 1e-300) {
        if (!solve_step(k, H, ridge, g, step)) continue;
        double length = 0;
        hope = 0;
        for (size_t i = 0; i < k; i++) {
            hope += step[i] * g[i];
            length = fmax(length, fabs(step[i]));
        }
        double shrink = length > 5 ? 5 / length : 1;
        for (size_t i = 0; i < k; i++) next[i] = theta[i] + shrink * step[i];
        double there = f(next, unused, user);
        if (!(there >= *value - 4e-16 * fabs(*value))) continue;
        for (size_t i = 0; i < k; i++) theta[i] = next[i];
        *value = there;
        return hope;
    }
    return 0;
}

cr_status cri_climb(cr_ctx *cx, const char *name, cri_objective *f, const void *user, size_t k,
                    double *theta)
{
    cr_status st = CR_OK;
    double    gradient[MOST], value = f(theta, gradient, user), hope = 1;
    cri_clock clock = cri_clock_start(cx, NAN);
    for (int step = 0; step < 200 && hope > 1e-24; step++) { /* the error is about its root */
        CR_TRY(cr_check_interrupt(cx));
        if (step > 0 && cri_clock_over(&clock)) {
            cr_log(cx, CR_LOG_WARNING,
                   "the time limit ended the fit after %d steps: this is the best so far", step);
            goto done;
        }
        hope = ascend(f, user, k, theta, &value);
    }
    if (hope > 1e-14)
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "%s: the likelihood still rises after 200 steps", name));
done:
    return st;
}
