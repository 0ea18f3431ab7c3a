/* dirichlet_fit.c -- the Dirichlet as an exponential family, and its fit.
 *   statistics log x_i;  natural parameters alpha_i - 1;  A = sum log Gamma(alpha_i) - log
 * Gamma(s). */
#include "dirichlet.h"
#include "fit.h"
#include "saddle.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- the exponential family ------------------------------------------------------------------ */

static void name(size_t d, size_t i, char *out, size_t size)
{
    (void)d;
    snprintf(out, size, "log x[%zu]", i + 1);
}

static void natural(const double *a, size_t d, const double *work, double *eta, double *spare)
{
    (void)work, (void)spare;
    for (size_t i = 0; i < d; i++) eta[i] = a[i] - 1;
}

static double log_partition(const double *p, size_t d, const double *eta, double *spare)
{
    double s = 0, sum = 0;
    (void)p, (void)spare;
    for (size_t i = 0; i < d; i++) s += eta[i] + 1, sum += cr_lgamma_abs(eta[i] + 1);
    return sum - cr_lgamma_abs(s);
}

static void statistic(size_t d, const double *x, double *t, double *spare)
{
    (void)spare;
    for (size_t i = 0; i < d; i++) t[i] = log(x[i]);
}

static void mean_statistic(const double *a, size_t d, const double *work, double *t, double *spare)
{
    double at_sum = cr_digamma(cri_total(a, d));
    (void)work, (void)spare;
    for (size_t i = 0; i < d; i++) t[i] = cr_digamma(a[i]) - at_sum;
}

const cri_vector_family cri_dirichlet_family = { cri_size_same, name,      natural,
                                                 log_partition, statistic, mean_statistic,
                                                 NULL };

/* --- fit ------------------------------------------------------------------------------------- */

static cr_status check_point(cr_ctx *cx, const double *x, size_t d, size_t i)
{
    for (size_t j = 0; j < d; j++)
        if (!(x[j] > 0))
            return cr_fail(cx, CR_EDATA,
                           "dirichlet: entry %zu of point %zu is %g, but must be >0 to be fitted",
                           j + 1, i + 1, x[j]);
    if (fabs(cri_total(x, d) - 1) <= 1e-9) return CR_OK;
    return cr_fail(cx, CR_EDATA, "dirichlet: point %zu sums to %.10g, expected 1", i + 1,
                   cri_total(x, d));
}

/* g [d] = the mean of log x, m [d] = the mean of x; *spread = that of sum (x - m)^2.  Refuses
 * points that are all the same, for which alpha has no bound. */
static cr_status summarise(cr_ctx *cx, const cri_points *s, size_t d, double *g, double *m,
                           double *spread)
{
    const double *first = NULL;
    bool          differ = false;
    for (size_t j = 0; j < d; j++) g[j] = m[j] = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double *x = s->x + i * d;
        double        w = cri_point_weight(s, i) / s->total;
        if (w == 0) continue;
        cr_status st = check_point(cx, x, d, i);
        if (st != CR_OK) return st;
        if (!first) first = x;
        differ = differ || memcmp(x, first, d * sizeof *x) != 0;
        for (size_t j = 0; j < d; j++) g[j] += w * log(x[j]), m[j] += w * x[j];
    }
    if (d == 1 || !differ) return cri_no_estimate(cx, "dirichlet", "all points are the same");
    for (size_t j = 0; j < d; j++) /* what is left for the others is lost in rounding */
        if (g[j] == 0) return cri_no_estimate(cx, "dirichlet", "an entry is 1 in all points");
    *spread = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < d; j++) {
            double off = s->x[i * d + j] - m[j];
            *spread += cri_point_weight(s, i) / s->total * off * off;
        }
    return CR_OK;
}

/* By Stirling's formula, whose large terms are those of a_j log(a_j / s), near g_j. */
static double mean_log_likelihood(const double *a, const double *g, size_t d)
{
    double s = cri_total(a, d), sum = cr_stirlerr(s) - 0.5 * log(s);
    for (size_t j = 0; j < d; j++)
        sum += a[j] * (g[j] - log(a[j] / s)) + 0.5 * log(a[j]) - cr_stirlerr(a[j]) - g[j];
    return sum - (double)(d - 1) * CRI_HALF_LOG_2PI;
}

/* Newton's step: the Hessian is diagonal but for a constant, so its inverse is O(d).  Minka (2000),
 * "Estimating a Dirichlet distribution", eqs. 15-18.  psi(s) - psi(a_j) by what each lacks of its
 * logarithm, which stays sharp for large a.  Returns the gain it hopes for. */
static double newton_step(const double *a, const double *g, size_t d, double *step)
{
    double s = cri_total(a, d), z = cr_trigamma(s), top = 0, bottom = 1 / z, hope = 0;
    for (size_t j = 0; j < d; j++) {
        double slope =
            g[j] - log(a[j] / s) + cri_log_minus_digamma(a[j]) - cri_log_minus_digamma(s);
        double bend = -cr_trigamma(a[j]);
        step[j] = slope;
        top += slope / bend, bottom += 1 / bend;
    }
    for (size_t j = 0; j < d; j++) {
        double slope = step[j];
        step[j] = (slope - top / bottom) / cr_trigamma(a[j]);
        hope += slope * step[j];
    }
    return hope;
}

/* Moves a by as much of the step as keeps it positive and does not lower the likelihood; false when
 * nothing of it does. */
static bool move(double *a, const double *step, const double *g, size_t d, double *next)
{
    double before = mean_log_likelihood(a, g, d), share = 1;
    double least = before - 1e-14 * fabs(before) - 1e-15 * cri_total(a, d);
    for (int tries = 0; tries < 60; tries++, share *= 0.5) {
        bool inside = true;
        for (size_t j = 0; j < d; j++) {
            next[j] = a[j] + share * step[j];
            inside = inside && next[j] > 0;
        }
        if (!inside || !(mean_log_likelihood(next, g, d) >= least)) continue;
        for (size_t j = 0; j < d; j++) a[j] = next[j];
        return true;
    }
    return false;
}

cr_status cri_dirichlet_fit(cr_ctx *cx, const cri_points *s, double *a, size_t d)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    double    *g = cr_scratch_f64(&scratch, d), *m = cr_scratch_f64(&scratch, d);
    double    *step = cr_scratch_f64(&scratch, d), *next = cr_scratch_f64(&scratch, d);
    double     spread = 0, total = 1, hope = 1, enough = 0;
    CR_TRY(scratch.status);
    CR_TRY(summarise(cx, s, d, g, m, &spread));
    for (size_t j = 0; j < d; j++) total -= m[j] * m[j]; /* sum m (1 - m) = (s + 1) spread */
    double strength = fmin(1e15, fmax(1e-3, total / spread - 1));
    for (size_t j = 0; j < d; j++) a[j] = fmax(m[j] * strength, 1e-8);
    for (int i = 0; i < 300 && hope > enough; i++) {
        CR_TRY(cr_check_interrupt(cx));
        hope = newton_step(a, g, d, step);
        enough = 1e-18 * (1 + cri_total(a, d)); /* the rounding of g, seen through alpha */
        if (!move(a, step, g, d, next)) break;
    }
    if (hope > 1e6 * enough)
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "dirichlet: the likelihood still rises after 300 steps"));
done:
    cr_scratch_end(&scratch);
    return st;
}
