/* emission_mixture.c -- a mixture of M normal distributions in each state:
 *   x_t | z_t = c  ~  sum_m weight_mc N(mean_mc, sd_mc^2)
 * The part that a row comes from is hidden too, and independent of all else given the state: its posterior is within that of
 * the state, and the step has a closed form.  The prior, s rows like all rows together, is divided among the parts:
 *   (s / M) sum_m (log weight_m - log sd_m - (1 + mean_m^2) / (2 sd_m^2)).   O(n k M). */
#include "emission.h"
#include "math/constants.h"

#include <math.h>

static const double LEAST_SD = 1e-10;

/* log N of the parts of state c, with their weights: log_p [M]; returns the log of their sum. */
static double score_parts(const cri_emitted *e, size_t c, double x, double *log_p)
{
    double top = -INFINITY, sum = 0;
    for (size_t m = 0; m < e->M; m++) {
        size_t at = m * e->k + c;
        double z = (x - e->part_mean[at]) / e->part_sd[at];
        log_p[m] = e->work[at] - 0.5 * z * z;
        top = fmax(top, log_p[m]);
    }
    for (size_t m = 0; m < e->M && top > -INFINITY; m++) sum += exp(log_p[m] - top);
    return sum > 0 ? top + log(sum) : -INFINITY;
}

/* work [M x k]: log weight / sd; behind it [M] for the densities of the parts. */
static double *begin_scores(const cri_emitted *e)
{
    for (size_t at = 0; at < e->M * e->k; at++)
        e->work[at] = log(e->part_weight[at]) - log(e->part_sd[at]) - CRI_HALF_LOG_2PI;
    return e->work + e->M * e->k;
}

static void score_mixture(const cri_emitted *e, const double *x, size_t n, double *out)
{
    double *log_p = begin_scores(e);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < e->k && !isnan(x[i]); c++)
            out[i * e->stride + c] += score_parts(e, c, x[i], log_p);
}

/* sums [3 x M x k]: rows, d = x - mean and d^2, of each part. */
static void gather_mixture(const cri_emitted *e, const double *x, size_t n, const double *gamma,
                           double *sums)
{
    double *log_p = begin_scores(e), *first = sums + e->M * e->k, *second = first + e->M * e->k;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < e->k && !isnan(x[i]); c++) {
            double g = gamma[i * e->stride + c];
            if (!(g > 0)) continue;
            double all = score_parts(e, c, x[i], log_p);
            for (size_t m = 0; m < e->M && all > -INFINITY; m++) {
                size_t at = m * e->k + c;
                double r = g * exp(log_p[m] - all), d = x[i] - e->part_mean[at];
                sums[at] += r;
                first[at] += r * d;
                second[at] += r * d * d;
            }
        }
}

static void solve_mixture(const cri_emitted *e, size_t c, double s, const double *sums)
{
    size_t k = e->k, M = e->M;
    double all = s, own = s / (double)M;
    for (size_t m = 0; m < M; m++) all += sums[m * k];
    if (!(all > 0)) return;
    for (size_t m = 0; m < M; m++) {
        size_t at = m * k + c;
        double n = sums[m * k] + own, mean = e->part_mean[at];
        e->part_weight[at] = n / all;
        if (!(n > 0)) continue;
        double first = (sums[(M + m) * k] - own * mean) / n;
        double second = (sums[(2 * M + m) * k] + own * (1 + mean * mean)) / n;
        e->part_mean[at] = mean + first;
        e->part_sd[at] = fmax(sqrt(fmax(second - first * first, 0)), LEAST_SD);
    }
}

static double log_prior_mixture(const cri_emitted *e, size_t c)
{
    double sum = 0;
    for (size_t at = c; at < e->M * e->k; at += e->k) {
        double v = e->part_sd[at] * e->part_sd[at], mean = e->part_mean[at];
        sum += log(e->part_weight[at]) - 0.5 * log(v) - 0.5 * (1 + mean * mean) / v;
    }
    return sum / (double)e->M - CRI_HALF_LOG_2PI;
}

static double draw_mixture(const cri_emitted *e, size_t c, cr_rng *r)
{
    double u = cr_rng_uniform(r);
    size_t m = 0;
    while (m + 1 < e->M && (u -= e->part_weight[m * e->k + c]) >= 0) m++;
    return e->part_mean[m * e->k + c] + e->part_sd[m * e->k + c] * cr_rng_normal(r);
}

/* Around x, evenly. */
static void begin_mixture(const cri_emitted *e, size_t c, double x)
{
    double sd = fmax(1 / (double)e->k, 0.1);
    for (size_t m = 0; m < e->M; m++) {
        size_t at = m * e->k + c;
        e->part_weight[at] = 1 / (double)e->M;
        e->part_mean[at] = x + sd * (2 * ((double)m + 0.5) / (double)e->M - 1);
        e->part_sd[at] = sd;
    }
}

static void swap(double *x, size_t a, size_t b)
{
    double v = x[a];
    x[a] = x[b], x[b] = v;
}

void cri_emit_order_parts(const cri_emitted *e, size_t c)
{
    size_t k = e->k, all = e->M * k;
    double mean = 0, square = 0;
    for (size_t i = c + k; i < all; i += k)
        for (size_t b = i; b >= k && e->part_mean[b - k] > e->part_mean[b]; b -= k) {
            swap(e->part_weight, b - k, b);
            swap(e->part_mean, b - k, b);
            swap(e->part_sd, b - k, b);
        }
    for (size_t at = c; at < all; at += k) {
        double w = e->part_weight[at], x = e->part_mean[at], sd = e->part_sd[at];
        mean += w * x, square += w * (sd * sd + x * x);
    }
    e->mean[c] = mean;
    e->spread[c] = sqrt(fmax(square - mean * mean, 0));
}

const cri_emission cri_emit_mixture = {
    .name = "mixture",
    .moved = true,
    .score = score_mixture,
    .shared = cri_emit_shares_nothing,
    .gather = gather_mixture,
    .solve = solve_mixture,
    .log_prior = log_prior_mixture,
    .draw = draw_mixture,
    .begin = begin_mixture,
};
