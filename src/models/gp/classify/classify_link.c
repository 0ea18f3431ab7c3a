/* classify_link.c -- likelihoods of two classes, at a point and under a normal. */
#include "classify_link.h"
#include "models/logistic/bayes_logistic.h"
#include "math/special/special.h"

#include <math.h>
#include <stdbool.h>

/* log Phi(z) and its derivatives by z.  With r = phi / Phi:  r,  -r (z + r),  r ((z + r) (z + 2 r)
 * - 1). */
static cri_classify_slope probit(double z)
{
    double r = cr_inv_mills(z);
    double w = z < -3 ? 1 - cr_trunc_norm_var_above(-z) : r * (z + r);
    return (cri_classify_slope){ cr_norm_logcdf(z), r, w, w * (z + 2 * r) - r };
}

cri_classify_slope cri_classify_at(cri_classify_link link, const double *c, double f)
{
    cri_classify_slope s = { 0, 0, 0, 0 };
    if (link == CRI_CLASSIFY_LOGIT) {
        double e = exp(-fabs(f)), large = 1 / (1 + e), small = e * large, bend = log1p(e),
               n = c[0] + c[1];
        double p = f >= 0 ? large : small, q = f >= 0 ? small : large;
        s.log_p = (c[0] > 0 ? c[0] * (fmin(f, 0) - bend) : 0) -
                  (c[1] > 0 ? c[1] * (fmax(f, 0) + bend) : 0);
        s.first = c[0] * q - c[1] * p;
        s.minus_second = n * p * q;
        s.third = -n * p * q * (q - p);
        return s;
    }
    for (int k = 0; k < 2; k++) {
        double sign = k ? -1 : 1;
        if (!(c[k] > 0)) continue;
        cri_classify_slope t = probit(sign * f);
        s.log_p += c[k] * t.log_p;
        s.first += c[k] * sign * t.first;
        s.minus_second += c[k] * t.minus_second;
        s.third += c[k] * sign * t.third;
    }
    return s;
}

/* --- under a normal -------------------------------------------------------------------------- */

/* Newton's method on the orthonormal Hermite polynomials of the normal:
 * sqrt(j + 1) h_(j+1) = x h_j - sqrt(j) h_(j-1),  h'_n = sqrt(n) h_(n-1),  weight = 1 / (n
 * h_(n-1)^2). */
void cri_hermite_fill(cri_hermite *rule)
{
    const int n = CRI_HERMITE_POINTS;
    double    x = 0;
    for (int i = 0; i < n / 2;
         i++) { /* from the greatest down; starts of Stroud & Secrest (1966) */
        double before = 0, at = 1;
        x = i == 0   ? sqrt(2) * (sqrt(2 * n + 1) - 1.85575 * pow(2 * n + 1, -1.0 / 6))
            : i == 1 ? x - 1.14 * sqrt(2) * pow(n, 0.426) / (x / sqrt(2))
            : i == 2 ? 1.86 * x - 0.86 * rule->x[0]
            : i == 3 ? 1.91 * x - 0.91 * rule->x[1]
                     : 2 * x - rule->x[i - 2];
        for (int step = 0; step < 30; step++) {
            before = 0, at = 1;
            for (int j = 0; j < n; j++) {
                double next = (x * at - sqrt(j) * before) / sqrt(j + 1);
                before = at;
                at = next;
            }
            double move = at / (sqrt(n) * before);
            x -= move;
            if (fabs(move) < 1e-15 * x) break;
        }
        rule->x[i] = x;
        rule->x[n - 1 - i] = -x;
        rule->weight[i] = rule->weight[n - 1 - i] = 1 / (n * before * before);
    }
}

static void add_point(cri_classify_slope *s, cri_classify_link link, const double *c, double f,
                      double weight)
{
    cri_classify_slope t = cri_classify_at(link, c, f);
    s->log_p += weight * t.log_p;
    s->first += weight * t.first;
    s->minus_second += weight * t.minus_second;
}

cri_classify_slope cri_classify_expect(cri_classify_link link, const cri_hermite *rule,
                                       const double *c, double mean, double variance)
{
    cri_classify_slope s = { 0, 0, 0, 0 };
    double             sd = sqrt(fmax(variance, 0));
    if (sd <= 1.4) {
        for (int i = 0; i < CRI_HERMITE_POINTS; i++)
            add_point(&s, link, c, mean + sd * rule->x[i], rule->weight[i]);
        return s;
    }
    double step = fmax((link == CRI_CLASSIFY_LOGIT ? 1.0 : 0.7) / sd, 0.01),
           weight = step / sqrt(2 * M_PI);
    double ratio = exp(-0.5 * step * step),
           twice = ratio * ratio; /* weight: step times the density at k step */
    add_point(&s, link, c, mean, weight);
    for (int k = 1; k * step <= 7.5; k++, ratio *= twice) {
        weight *= ratio;
        add_point(&s, link, c, mean + sd * k * step, weight);
        add_point(&s, link, c, mean - sd * k * step, weight);
    }
    return s;
}

/* --- the integral of p ----------------------------------------------------------------------- */

/* One row, probit:  Phi(+-mean / (1 + variance)^1/2). */
static cri_classify_slope average_probit(bool first, double mean, double variance)
{
    double             scale = 1 / sqrt(1 + variance), sign = first ? 1 : -1;
    cri_classify_slope s = probit(sign * mean * scale);
    return (cri_classify_slope){ s.log_p, sign * scale * s.first, scale * scale * s.minus_second,
                                 0 };
}

/* One row, logit, under a wide normal: the logistic function is the distribution function of t, of density
 * e^t / (1 + e^t)^2, so that the integral is that of Phi(+-(mean + t) / sd) over t, by the trapezoid rule. */
static cri_classify_slope average_wide(bool first, double mean, double sd)
{
    enum { HALF = 48 };
    const double       STEP = 0.8;
    double             sign = first ? 1 : -1, value[2 * HALF + 1], top = -INFINITY;
    cri_classify_slope at[2 * HALF + 1], s = { 0, 0, 0, 0 };
    double             total = 0, square = 0;
    for (int k = 0; k <= 2 * HALF; k++) {
        double t = (k - HALF) * STEP;
        at[k] = probit((sign * mean + t) / sd);
        value[k] = at[k].log_p - fabs(t) - 2 * log1p(exp(-fabs(t)));
        top = fmax(top, value[k]);
    }
    for (int k = 0; k <= 2 * HALF; k++) {
        double w = exp(value[k] - top);
        total += w;
        s.first += w * at[k].first;
        s.minus_second += w * at[k].minus_second;
        square += w * at[k].first * at[k].first;
    }
    double slope = s.first / total;
    return (cri_classify_slope){
        .log_p = top + log(STEP * total),
        .first = sign * slope / sd,
        .minus_second = (s.minus_second / total - (square / total - slope * slope)) / (sd * sd),
    };
}

/* Where log p(c | f) + log N(f; mean, variance) is largest, to a part of the width there, which is
 * *out_width: the zero of  f - mean - variance d log p / df,  which rises, by Newton's method within
 * a bracket. */
static double find_peak(cri_classify_link link, const double *c, double mean, double variance,
                        double *out_width)
{
    cri_classify_slope s = cri_classify_at(link, c, mean);
    double             to = mean + variance * s.first, f = mean;
    double             low = fmin(mean, to), high = fmax(mean, to);
    for (int step = 0; step < 200; step++) {
        double slope = 1 + variance * s.minus_second, excess = f - mean - variance * s.first;
        *out_width = sqrt(variance / slope);
        if (excess > 0)
            high = f;
        else
            low = f;
        if (fabs(excess) <= 0.01 * *out_width * slope) break;
        f -= excess / slope;
        if (!(f > low && f < high)) f = 0.5 * (low + high);
        s = cri_classify_at(link, c, f);
    }
    return f;
}

/* Sums of the weights, and of the weights times the derivatives of log p, over some points. */
typedef struct point_sums {
    double weight, first, square, second;
} point_sums;

/* Adds peak + step, peak + 2 step ... until the weight is nothing beside that of the peak, `top` in
 * logarithms. */
static void add_points(cri_classify_link link, const double *c, double mean, double variance,
                       double peak, double step, double top, point_sums *sum)
{
    const double NOTHING = 40;
    for (int k = 1; k <= 4000; k++) {
        double             f = peak + k * step, d = f - mean;
        cri_classify_slope s = cri_classify_at(link, c, f);
        double             lies = s.log_p - 0.5 * d * d / variance - top;
        if (!(lies > -NOTHING)) break;
        double w = exp(lies);
        sum->weight += w;
        sum->first += w * s.first;
        sum->square += w * s.first * s.first;
        sum->second += w * s.minus_second;
    }
}

/* A variance beyond which the logistic density is the narrower of the two by far. */
static const double WIDE = 64;

cri_classify_slope cri_classify_average(cri_classify_link link, const double *c, double mean,
                                        double variance)
{
    bool one = (c[0] == 1 && !(c[1] > 0)) || (c[1] == 1 && !(c[0] > 0));
    if (one && link == CRI_CLASSIFY_PROBIT) return average_probit(c[0] > 0, mean, variance);
    if (one && variance > WIDE && fabs(mean) < 0.4 * variance)
        return average_wide(c[0] > 0, mean, sqrt(variance));
    double             width = 0, peak = find_peak(link, c, mean, variance, &width);
    double             fine = one ? 0.7 : 0.4; /* for the bend of log p, unless it hardly counts */
    double             step = fmin(0.6 * width, fmax(fine, sqrt(variance) / 300)), d = peak - mean;
    cri_classify_slope s = cri_classify_at(link, c, peak);
    double             top = s.log_p - 0.5 * d * d / variance;
    point_sums         sum = { 1, s.first, s.first * s.first, s.minus_second };
    add_points(link, c, mean, variance, peak, step, top, &sum);
    add_points(link, c, mean, variance, peak, -step, top, &sum);
    double first = sum.first / sum.weight;
    return (cri_classify_slope){
        .log_p = top + log(sum.weight * step) - 0.5 * log(2 * M_PI * variance),
        .first = first,
        .minus_second = sum.second / sum.weight - (sum.square / sum.weight - first * first),
    };
}

double cri_classify_probability(cri_classify_link link, double mean, double variance)
{
    double v = fmax(variance, 0);
    return link == CRI_CLASSIFY_PROBIT ? cr_norm_cdf(mean / sqrt(1 + v))
                                       : cri_logistic_normal(mean, sqrt(v));
}
