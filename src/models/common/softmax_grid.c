/* softmax_grid.c -- softmax over a normal: the trapezoidal rule, the last dimension by a
 * sigmoid. */
#include "softmax_grid.h"
#include "softmax_normal.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { HALF = 21 }; /* points on a side of the rules of the last z, the middle among them */

/* Of 2 and of 3 dimensions: how far out, h s at the most, and points on a side at the most. */
static const double RADIUS[2] = { 6, 5.5 }, REACH[2] = { 1.1, 1.5 };
static const long   MOST[2] = { 2000, 48 };
static const double WIDEST = 0.5,
                    NARROW = 2; /* step; sd of a sigmoid up to which x is summed over */

/* The rules of the last z: weights at 0, step, 2 step, ... */
typedef struct rules {
    size_t F;
    double normal[HALF], logistic[HALF];
} rules;

static rules rules_for(size_t F)
{
    rules  g = { .F = F };
    double sum[2] = { 0, 0 };
    for (size_t k = 0; k < HALF; k++) {
        double x = WIDEST * (double)k, e = exp(-(double)k), times = k ? 2 : 1;
        g.normal[k] = exp(-0.5 * x * x);
        g.logistic[k] = e / ((1 + e) * (1 + e));
        sum[0] += times * g.normal[k];
        sum[1] += times * g.logistic[k];
    }
    for (size_t k = 0; k < HALF; k++) {
        g.normal[k] /= sum[0];
        g.logistic[k] /= sum[1];
    }
    return g;
}

/* E sigmoid(mean + sd x), x normal; where sd is large as E Phi((mean + t) / sd), t logistic. */
static double mean_sigmoid(const rules *g, double mean, double sd)
{
    double sum;
    if (sd <= NARROW) {
        sum = g->normal[0] * cr_sigmoid(mean);
        for (size_t k = 1; k < HALF && WIDEST * (double)k < 7; k++) {
            double move = sd * WIDEST * (double)k;
            sum += g->normal[k] * (cr_sigmoid(mean + move) + cr_sigmoid(mean - move));
        }
        return sum;
    }
    sum = g->logistic[0] * cr_norm_cdf(mean / sd);
    for (size_t k = 1; k < HALF; k++)
        sum += g->logistic[k] *
               (cr_norm_cdf((mean + (double)k) / sd) + cr_norm_cdf((mean - (double)k) / sd));
    return sum;
}

/* One coordinate of the grid: the step, and how many of them to a side. */
typedef struct side {
    double step;
    long   most;
} side;

/* Of column j of L [D x D], which moves the differences, and that of the last function, 0,
 * apart. */
static side side_of(const double *L, size_t D, size_t j)
{
    double low = 0, high = 0, r = RADIUS[D - 2], step = WIDEST;
    for (size_t i = j; i < D; i++) {
        low = fmin(low, L[i * D + j]);
        high = fmax(high, L[i * D + j]);
    }
    if (high - low > 0) step = fmin(step, REACH[D - 2] / (high - low));
    step = fmax(step, r / (double)MOST[D - 2]);
    return (side){ step, (long)(r / step) };
}

/* out += weight E softmax(d) at the first D - 1 z. */
static void add_point(const rules *g, const double *m, const double *L, const double *z,
                      double weight, double *out)
{
    size_t D = g->F - 1, last = D - 1;
    double d[CRI_GRID_SCORES], top = 0, A = 0, sd = L[last * D + last];
    for (size_t i = 0; i < D; i++) {
        d[i] = m[i];
        for (size_t j = 0; j <= i && j < last; j++) d[i] += L[i * D + j] * z[j];
        if (i < last) top = fmax(top, d[i]);
    }
    double own = d[last], share[CRI_GRID_SCORES];
    d[last] = 0; /* the place of the score that the others are measured from */
    for (size_t i = 0; i < D; i++) A += share[i] = exp(d[i] - top);
    double p = mean_sigmoid(g, own - top - log(A), sd),
           rest = mean_sigmoid(g, top + log(A) - own, sd);
    for (size_t i = 0; i < last; i++) out[i] += weight * rest * share[i] / A;
    out[last] += weight * p;
    out[D] += weight * rest * share[last] / A;
}

void cri_softmax_grid(size_t F, const double *mean, const double *cov, double *out)
{
    enum { MOST_D = CRI_GRID_SCORES - 1 };
    rules  g = rules_for(F);
    size_t D = F - 1;
    double L[MOST_D * MOST_D], m[MOST_D], last = cov[D * F + D], r = RADIUS[D - 2], sum = 0;
    for (size_t i = 0; i < D; i++) {
        m[i] = mean[i] - mean[D];
        for (size_t j = 0; j < D; j++)
            L[i * D + j] = cov[i * F + j] - cov[i * F + D] - cov[D * F + j] + last;
    }
    cri_factor_small(L, D);
    side a = side_of(L, D, 0), b = D > 2 ? side_of(L, D, 1) : (side){ 1, 0 };
    memset(out, 0, F * sizeof *out);
    for (long i = -a.most; i <= a.most; i++)
        for (long k = -b.most; k <= b.most; k++) {
            double z[2] = { (double)i * a.step, (double)k * b.step };
            double square = z[0] * z[0] + z[1] * z[1];
            if (square > r * r) continue;
            add_point(&g, m, L, z, exp(-0.5 * square), out);
        }
    for (size_t k = 0; k < F; k++) sum += out[k];
    for (size_t k = 0; k < F; k++) out[k] /= sum;
}
