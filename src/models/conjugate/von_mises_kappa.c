/* von_mises_kappa.c -- integrals over the concentration of angles. */
#include "von_mises_kappa.h"
#include "../../math/quadrature.h"
#include "../../math/special.h"
#include "../../prob/dist/von_mises.h"

#include <math.h>

enum { PEAK, FIRST, LAST, LOG_Z, BELOW }; /* work: BELOW [panels] is the share below each panel's end */
static const double FALLEN = 50;

bool cri_kappa_proper(const cri_kappa *q)
{
    if (q->g == CRI_KAPPA_GAMMA) return q->shape > 0 && q->rate > 0 && q->r <= q->c;
    return q->c > 0 && q->c - q->r > 1e-15 * q->c; /* falls as exp(-(c - r) k) */
}

/* log g: Jeffreys' is the root of det Fisher = k A(k) A'(k), A = I1 / I0, A' = 1 - A / k - A^2. */
static double log_g(const cri_kappa *q, double t)
{
    double k = exp(t);
    if (q->g == CRI_KAPPA_FLAT) return 0;
    if (q->g == CRI_KAPPA_GAMMA)
        return q->shape * log(q->rate) - cr_lgamma_abs(q->shape) + (q->shape - 1) * t - q->rate * k;
    if (k < 1e-4) return t - log(2) - k * k / 4; /* A = k/2 - k^3/16, A' = 1/2 - 3 k^2 / 16 */
    cri_bessel b = cri_bessel_scaled(k);
    double     slope = b.gap * (1 + b.ratio) - b.ratio / k;
    if (k > 1e4) /* the difference has lost its digits */
        slope = (0.5 + (0.25 + (0.375 + 0.78125 / k) / k) / k) / (k * k);
    return 0.5 * (t + log(b.ratio) + log(slope));
}

/* log of the integrand in t = log k. */
static double log_density(const cri_kappa *q, double t)
{
    double k = exp(t);
    return log_g(q, t) - k * (q->c - q->r) + cri_bessel_scaled(k * q->r).log_i0 -
           q->c * cri_bessel_scaled(k).log_i0 + t;
}

/* --- the panels -------------------------------------------------------------------------------- */

/* The highest place of f on [a, b], which has one. */
static double climb(const cri_kappa *q, double a, double b, double jacobian)
{
    const double golden = 0.5 * (sqrt(5) - 1);
    double       left = b - golden * (b - a), right = a + golden * (b - a);
    double       at_left = log_density(q, left) - jacobian * left;
    double       at_right = log_density(q, right) - jacobian * right;
    for (int i = 0; i < 80; i++) {
        if (at_left > at_right) {
            b = right, right = left, at_right = at_left;
            left = b - golden * (b - a);
            at_left = log_density(q, left) - jacobian * left;
        } else {
            a = left, left = right, at_left = at_right;
            right = a + golden * (b - a);
            at_right = log_density(q, right) - jacobian * right;
        }
    }
    return 0.5 * (a + b);
}

/* Where the density has fallen, from the peak in this direction. */
static double edge(const cri_kappa *q, double peak, double sign)
{
    double height = log_density(q, peak) - FALLEN, step = 1e-6, inside = 0, outside;
    while (step < 300 && log_density(q, peak + sign * step) > height) inside = step, step *= 2;
    outside = step;
    for (int i = 0; i < 30; i++) {
        double middle = 0.5 * (inside + outside);
        if (log_density(q, peak + sign * middle) > height) inside = middle;
        else outside = middle;
    }
    return peak + sign * outside;
}

typedef struct integrand {
    const cri_kappa *q;
    double           peak;
    double (*f)(double k, void *user); /* NULL: 1 */
    void *user;
} integrand;

static double weigh(double t, void *user)
{
    const integrand *a = user;
    double           share = exp(log_density(a->q, t) - a->peak);
    return a->f && share > 0 ? share * a->f(exp(t), a->user) : share;
}

cr_status cri_kappa_prepare(cr_ctx *cx, const cri_kappa *q, double work[CRI_KAPPA_WORK])
{
    const double least = -80, most = 80, step = 0.25;
    double       best = least, height = -INFINITY, sum = 0;
    for (double t = least; t <= most; t += step) {
        double here = log_density(q, t);
        if (here > height) height = here, best = t;
    }
    if (!isfinite(height) || best + step > most)
        return cr_fail(cx, CR_ENUMERIC, "von-mises: the concentration is too large to be measured");
    best = climb(q, best - step, best + step, 0);
    work[PEAK] = log_density(q, best);
    work[FIRST] = edge(q, best, -1), work[LAST] = edge(q, best, 1);
    double    wide = (work[LAST] - work[FIRST]) / CRI_KAPPA_PANELS;
    integrand a = { q, work[PEAK], NULL, NULL };
    for (int i = 0; i < CRI_KAPPA_PANELS; i++) {
        sum += cr_gauss20(weigh, &a, work[FIRST] + i * wide, work[FIRST] + (i + 1) * wide);
        work[BELOW + i] = sum;
    }
    for (int i = 0; i < CRI_KAPPA_PANELS; i++) work[BELOW + i] /= sum;
    work[LOG_Z] = work[PEAK] + log(sum);
    return CR_OK;
}

double cri_kappa_log_normaliser(const double *work) { return work[LOG_Z]; }

double cri_kappa_expect(const cri_kappa *q, const double *work, double (*f)(double k, void *user),
                        void *user)
{
    double    wide = (work[LAST] - work[FIRST]) / CRI_KAPPA_PANELS, sum = 0;
    integrand a = { q, work[LOG_Z], f, user };
    for (int i = 0; i < CRI_KAPPA_PANELS; i++)
        sum += cr_gauss20(weigh, &a, work[FIRST] + i * wide, work[FIRST] + (i + 1) * wide);
    return sum;
}

/* --- quantiles and summaries ------------------------------------------------------------------- */

double cri_kappa_quantile(const cri_kappa *q, const double *work, double p)
{
    double    wide = (work[LAST] - work[FIRST]) / CRI_KAPPA_PANELS;
    integrand a = { q, work[LOG_Z], NULL, NULL };
    int       i = 0;
    while (i + 1 < CRI_KAPPA_PANELS && work[BELOW + i] < p) i++;
    double start = work[FIRST] + i * wide, low = start, high = start + wide;
    double wanted = p - (i ? work[BELOW + i - 1] : 0), t = 0.5 * (low + high);
    for (int step = 0; step < 100 && high - low > 1e-15 * (1 + fabs(t)); step++) {
        double off = cr_gauss20(weigh, &a, start, t) - wanted, next = t - off / weigh(t, &a);
        if (off > 0) high = t;
        else low = t;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (fabs(next - t) <= 1e-15 * (1 + fabs(t))) break;
        t = next;
    }
    return exp(t);
}

static double self(double k, void *user)
{
    (void)user;
    return k;
}

static double square_off(double k, void *user)
{
    double off = k - *(double *)user;
    return off * off;
}

/* The shortest interval: both ends equally dense, found by the mass below it. */
static void find_shortest(const cri_kappa *q, const double *work, double level, cri_summary *out)
{
    double left = 0, right = 1 - level;
    for (int i = 0; i < 45; i++) {
        double below = 0.5 * (left + right);
        double lower = cri_kappa_quantile(q, work, below);
        double upper = cri_kappa_quantile(q, work, below + level);
        double off = log_density(q, log(lower)) - log(lower) - log_density(q, log(upper)) + log(upper);
        out->hdi_lower = lower, out->hdi_upper = upper;
        if (off < 0) left = below;
        else right = below;
    }
    if (right < 1e-12) out->hdi_lower = 0; /* densest at its end */
}

void cri_kappa_summarise(const cri_kappa *q, const double *work, double level, cri_summary *out)
{
    double mean = cri_kappa_expect(q, work, self, NULL);
    double peak = climb(q, work[FIRST], work[LAST], 1);
    *out = (cri_summary){ .mean = mean,
                          .sd = sqrt(cri_kappa_expect(q, work, square_off, &mean)),
                          .mode = peak < work[FIRST] + 1e-6 ? 0 : exp(peak),
                          .lower = cri_kappa_quantile(q, work, 0.5 - level / 2),
                          .upper = cri_kappa_quantile(q, work, 0.5 + level / 2) };
    find_shortest(q, work, level, out);
}
