/* emission_regress.c -- a normal emission whose mean is linear in covariates u, which nothing emits:
 *   x_t | z_t = c  ~  N(mean_c + sum_l coef_lc u_tl, spread_c^2)
 * Statistics are the weighted moments of 1, u and the residual r of the present mean, so that nothing cancels; the step
 * from there is the solution of the normal equations of each state.  The covariates of all rows have mean 0 and
 * covariance I, and x is uncorrelated with them: the prior, s rows like all rows together, is that of
 *   -(s / 2) (log spread^2 + (1 + mean^2 + |coef|^2) / spread^2),
 * a ridge towards the regression of all rows.  O(n k q^2) for q covariates, and O(k q^3) for a step. */
#include "emission.h"
#include "math/constants.h"

#include <math.h>
#include <string.h>

static const double LEAST_SD = 1e-10, LEAST_PIVOT = 1e-12;

/* rows, r, r^2; u [q], u r [q]; the lower triangle of u u^T */
size_t cri_emit_regress_sums(size_t q) { return q > 0 ? 3 + 2 * q + q * (q + 1) / 2 : 0; }

size_t cri_emit_regress_work(size_t q) { return q > 0 ? (q + 1) * (q + 3) : 0; }

/* r [k] = x - mean - coef u. */
static void find_residuals(const cri_emitted *e, double x, const double *u, double *r)
{
    for (size_t c = 0; c < e->k; c++) r[c] = x - e->mean[c];
    for (size_t l = 0; l < e->q; l++) {
        const double *b = e->coef + l * e->k;
        for (size_t c = 0; c < e->k; c++) r[c] -= b[c] * u[l];
    }
}

static void score_regressed(const cri_emitted *e, const double *x, size_t n, double *out)
{
    double *r = e->work, *inverse = r + e->stride, *peak = inverse + e->stride;
    for (size_t c = 0; c < e->k; c++) {
        inverse[c] = 1 / e->spread[c];
        peak[c] = -log(e->spread[c]) - CRI_HALF_LOG_2PI;
    }
    for (size_t i = 0; i < n; i++) {
        double *o = out + i * e->stride;
        if (isnan(x[i])) continue;
        find_residuals(e, x[i], e->u + i * e->q, r);
        for (size_t c = 0; c < e->k; c++) {
            double z = r[c] * inverse[c];
            o[c] += peak[c] - 0.5 * z * z;
        }
    }
}

static void gather_regressed(const cri_emitted *e, const double *x, size_t n, const double *gamma,
                             double *sums)
{
    size_t  k = e->k, q = e->q;
    double *r = e->work, *first = sums + 3 * k, *cross = first + q * k, *second = cross + q * k;
    for (size_t i = 0; i < n; i++) {
        const double *g = gamma + i * e->stride, *u = e->u + i * q;
        double       *at = second;
        if (isnan(x[i])) continue;
        find_residuals(e, x[i], u, r);
        for (size_t c = 0; c < k; c++) {
            sums[c] += g[c];
            sums[k + c] += g[c] * r[c];
            sums[2 * k + c] += g[c] * r[c] * r[c];
        }
        for (size_t l = 0; l < q; l++) {
            for (size_t c = 0; c < k; c++) first[l * k + c] += g[c] * u[l];
            for (size_t c = 0; c < k; c++) cross[l * k + c] += g[c] * r[c] * u[l];
            for (size_t h = 0; h <= l; h++, at += k)
                for (size_t c = 0; c < k; c++) at[c] += g[c] * u[l] * u[h];
        }
    }
}

/* b becomes a solution of M b = right side, M [d x d] positive semidefinite, its lower triangle overwritten: what depends
 * on the numbers before it is 0. */
static void solve_semidefinite(double *M, size_t d, double *b)
{
    for (size_t j = 0; j < d; j++) {
        double own = M[j * d + j], v = own;
        for (size_t l = 0; l < j; l++) v -= M[j * d + l] * M[j * d + l];
        bool there = v > LEAST_PIVOT * own;
        v = there ? sqrt(v) : 0;
        for (size_t i = j + 1; i < d; i++) {
            double w = M[i * d + j];
            for (size_t l = 0; l < j; l++) w -= M[i * d + l] * M[j * d + l];
            M[i * d + j] = there ? w / v : 0;
        }
        M[j * d + j] = v;
        for (size_t l = 0; l < j; l++) b[j] -= M[j * d + l] * b[l];
        b[j] = there ? b[j] / v : 0;
    }
    for (size_t j = d; j-- > 0;) {
        for (size_t i = j + 1; i < d; i++) b[j] -= M[i * d + j] * b[i];
        b[j] = M[j * d + j] > 0 ? b[j] / M[j * d + j] : 0;
    }
}

static void solve_regressed(const cri_emitted *e, size_t c, double s, const double *sums)
{
    size_t        k = e->k, q = e->q, d = q + 1;
    const double *first = sums + 3 * k, *cross = first + q * k, *second = cross + q * k;
    double       *M = e->work, *step = M + d * d, n = sums[0] + s, mean = e->mean[c];
    double        squares = sums[2 * k] + s * (1 + mean * mean);
    if (!(n > 0)) return;
    M[0] = n;
    step[0] = sums[k] - s * mean;
    for (size_t l = 0; l < q; l++) {
        double b = e->coef[l * k + c];
        step[l + 1] = cross[l * k] - s * b;
        squares += s * b * b;
        M[(l + 1) * d] = first[l * k];
        for (size_t h = 0; h <= l; h++, second += k)
            M[(l + 1) * d + h + 1] = second[0] + (h == l ? s : 0);
    }
    double fall = 0, *right = M + d * d + d; /* of the squares by the step */
    memcpy(right, step, d * sizeof *right);
    solve_semidefinite(M, d, step);
    for (size_t l = 0; l < d; l++) fall += right[l] * step[l];
    e->mean[c] += step[0];
    for (size_t l = 0; l < q; l++) e->coef[l * k + c] += step[l + 1];
    e->spread[c] = fmax(sqrt(fmax(squares - fall, 0) / n), LEAST_SD);
}

static double log_prior_regressed(const cri_emitted *e, size_t c)
{
    double v = e->spread[c] * e->spread[c], sum = 1 + e->mean[c] * e->mean[c];
    for (size_t l = 0; l < e->q; l++) sum += e->coef[l * e->k + c] * e->coef[l * e->k + c];
    return -0.5 * log(v) - 0.5 * sum / v - CRI_HALF_LOG_2PI;
}

/* Through x, as steep as in all rows. */
static void begin_regressed(const cri_emitted *e, size_t c, double x)
{
    e->mean[c] = x;
    e->spread[c] = fmax(1 / (double)e->k, 0.1);
    for (size_t l = 0; l < e->q; l++) e->coef[l * e->k + c] = 0;
}

const cri_emission cri_emit_regressed = {
    .name = "gaussian",
    .parameter = { "intercept", "sd", NULL },
    .moved = true,
    .score = score_regressed,
    .shared = cri_emit_shares_nothing,
    .gather = gather_regressed,
    .solve = solve_regressed,
    .log_prior = log_prior_regressed,
    .begin = begin_regressed,
};
