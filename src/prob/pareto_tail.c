/* pareto_tail.c -- the shape of a generalised Pareto tail. */
#include "pareto_tail.h"
#include "base/scratch.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

enum { LEAST = 5 };

/* k at one theta = -k / s, and the log of the profile likelihood. */
static double shape_at(const double *x, size_t m, double theta, double *log_likelihood)
{
    double k = 0;
    for (size_t i = 0; i < m; i++) k += log1p(-theta * x[i]) / (double)m;
    *log_likelihood = (double)m * (log(-theta / k) - k - 1);
    return k;
}

/* Of x [m] > 0, cri_compare_doubles; theta, like [30 + sqrt m]: workspace. */
static double fit(const double *x, size_t m, double *theta, double *like)
{
    size_t grid = 30 + (size_t)sqrt((double)m);
    double quartile = x[(m + 2) / 4 - 1], most = -INFINITY, sum = 0, mean = 0, unused;
    for (size_t j = 0; j < grid; j++) {
        theta[j] = 1 / x[m - 1] + (1 - sqrt((double)grid / ((double)j + 0.5))) / (3 * quartile);
        shape_at(x, m, theta[j], &like[j]);
        if (like[j] > most) most = like[j];
    }
    for (size_t j = 0; j < grid; j++) {
        double w = isnan(like[j]) ? 0 : exp(like[j] - most);
        sum += w;
        mean += w * theta[j];
    }
    double k = shape_at(x, m, mean / sum, &unused);
    return (k * (double)m + 5) / ((double)m + 10);
}

cr_status cri_pareto_tail(cr_ctx *cx, const double *log_w, size_t n, double *out_k)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *w = cr_scratch_f64(&s, n), peak;
    size_t     m = (size_t)ceil(fmin(0.2 * (double)n, 3 * sqrt((double)n))), first = 0;
    double    *theta = cr_scratch_f64(&s, 30 + m), *like = cr_scratch_f64(&s, 30 + m);
    CR_TRY(s.status);
    *out_k = NAN;
    if (m < LEAST || m >= n) goto done;
    memcpy(w, log_w, n * sizeof *w);
    cri_sort_doubles(w, n);
    peak = w[n - 1];
    if (peak == -INFINITY) goto done;
    double *tail = w + n - m, least = exp(w[n - m - 1] - peak);
    for (size_t i = 0; i < m; i++) tail[i] = exp(tail[i] - peak) - least;
    while (first < m && !(tail[first] > 0)) first++; /* equal to the threshold */
    if (first == m)
        *out_k = -INFINITY;
    else if (m - first >= LEAST)
        *out_k = fit(tail + first, m - first, theta, like);
done:
    cr_scratch_end(&s);
    return st;
}
