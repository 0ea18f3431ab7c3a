/* von_mises_kappa.c -- integrals over the concentration of angles. */
#include "von_mises_kappa.h"
#include "math/quadrature.h"
#include "math/special/special.h"
#include "prob/dist/von_mises.h"

#include <math.h>

/* work: the ends of the panels [PANELS + 1], and the share of the mass below the end of each. */
enum { PANELS = CRI_KAPPA_PANELS, PEAK = 0, LOG_Z = 1, ENDS = 2, BELOW = ENDS + PANELS + 1 };

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

/* --- the panels ------------------------------------------------------------------------------ */

/* The highest place of f on [a, b], which has one. */
static double climb(const cri_kappa *q, double a, double b, double jacobian, int steps)
{
    const double golden = 0.5 * (sqrt(5) - 1);
    double       left = b - golden * (b - a), right = a + golden * (b - a);
    double       at_left = log_density(q, left) - jacobian * left;
    double       at_right = log_density(q, right) - jacobian * right;
    for (int i = 0; i < steps; i++) {
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

/* The same, and one step of Newton's method by differences: golden sections alone stop where the
 * height no longer changes, at half the digits. */
static double find_peak(const cri_kappa *q, double a, double b, double jacobian)
{
    const double h = 1e-3;
    double       t = climb(q, a, b, jacobian, 60), f[5];
    for (int i = 0; i < 5; i++)
        f[i] = log_density(q, t + (i - 2) * h) - jacobian * (t + (i - 2) * h);
    double slope = (f[0] - 8 * f[1] + 8 * f[3] - f[4]) / (12 * h);
    double bend = (-f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4]) / (12 * h * h);
    double step = -slope / bend;
    return bend < 0 && fabs(step) < h ? t + step : t;
}

/* Where the logarithm of the density has fallen by this much, from `from` on in this direction;
 * about: a panel may end anywhere. */
static double edge(const cri_kappa *q, double height, double from, double step)
{
    double inside = 0, outside = step;
    while (fabs(outside) < 300 && log_density(q, from + outside) > height)
        inside = outside, outside *= 2;
    for (int i = 0; i < 8; i++) {
        double middle = 0.5 * (inside + outside);
        if (log_density(q, from + middle) > height)
            inside = middle;
        else
            outside = middle;
    }
    return from + outside;
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
    return a->f && share > 1e-18 ? share * a->f(exp(t), a->user) : share;
}

/* The peak, uphill from the estimate of k by the mean length of the vectors; false when it is
 * beyond what doubles hold. */
static bool find_top(const cri_kappa *q, double *out)
{
    double k = q->c > 0 ? cr_bessel_ratio_inv(q->r / q->c) : q->shape / q->rate;
    double t = fmin(fmax(log(k), -6), 60), step = 0.5, here = log_density(q, t);
    double up = log_density(q, t + step), down = log_density(q, t - step);
    double sign = up > down ? 1 : -1, next = fmax(up, down);
    while (next > here && fabs(t) < 80) {
        t += sign * step, here = next;
        next = log_density(q, t + sign * step);
    }
    *out = climb(q, t - step, t + step, 0, 30);
    return isfinite(here) && fabs(t) < 80;
}

/* All of the work. */
static bool find_panels(const cri_kappa *q, double *work)
{
    static const double sds[PANELS / 2] = { 1, 2, 3, 4, 5, 6, 8, 10 };
    double              top, sum = 0, *low = work + ENDS + PANELS / 2, *high = low;
    if (!find_top(q, &top)) return false;
    work[PEAK] = log_density(q, top);
    *low = top;
    for (int i = 0; i < PANELS / 2; i++) {
        double height = work[PEAK] - 0.5 * sds[i] * sds[i];
        low--, high++;
        *low = edge(q, height, low[1], i ? low[1] - low[2] : -1e-6);
        *high = edge(q, height, high[-1], i ? high[-1] - high[-2] : 1e-6);
    }
    integrand a = { q, work[PEAK], NULL, NULL };
    for (int i = 0; i < PANELS; i++) {
        sum += cr_gauss20(weigh, &a, work[ENDS + i], work[ENDS + i + 1]);
        work[BELOW + i] = sum;
    }
    for (int i = 0; i < PANELS; i++) work[BELOW + i] /= sum;
    work[LOG_Z] = work[PEAK] + log(sum);
    return true;
}

cr_status cri_kappa_prepare(cr_ctx *cx, const cri_kappa *q, double work[CRI_KAPPA_WORK])
{
    if (find_panels(q, work)) return CR_OK;
    return cr_fail(cx, CR_ENUMERIC, "von-mises: the concentration is too large to be measured");
}

double cri_kappa_log_z(const cri_kappa *q)
{
    double work[CRI_KAPPA_WORK];
    return find_panels(q, work) ? work[LOG_Z] : NAN;
}

double cri_kappa_log_normaliser(const double *work) { return work[LOG_Z]; }

double cri_kappa_expect(const cri_kappa *q, const double *work, double (*f)(double k, void *user),
                        void *user)
{
    double    sum = 0;
    integrand a = { q, work[LOG_Z], f, user };
    for (int i = 0; i < PANELS; i++)
        sum += cr_gauss20(weigh, &a, work[ENDS + i], work[ENDS + i + 1]);
    return sum;
}

/* --- quantiles and summaries ----------------------------------------------------------------- */

double cri_kappa_quantile(const cri_kappa *q, const double *work, double p)
{
    integrand a = { q, work[LOG_Z], NULL, NULL };
    int       i = 0;
    while (i + 1 < PANELS && work[BELOW + i] < p) i++;
    double start = work[ENDS + i], low = start, high = work[ENDS + i + 1];
    double wanted = p - (i ? work[BELOW + i - 1] : 0), t = 0.5 * (low + high);
    for (int step = 0; step < 100 && high - low > 1e-15 * (1 + fabs(t)); step++) {
        double off = cr_gauss20(weigh, &a, start, t) - wanted, next = t - off / weigh(t, &a);
        if (off > 0)
            high = t;
        else
            low = t;
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
        double off =
            log_density(q, log(lower)) - log(lower) - log_density(q, log(upper)) + log(upper);
        out->hdi_lower = lower, out->hdi_upper = upper;
        if (off < 0)
            left = below;
        else
            right = below;
    }
    if (right < 1e-12) out->hdi_lower = 0; /* densest at its end */
}

void cri_kappa_summarise(const cri_kappa *q, const double *work, double level, cri_summary *out)
{
    double mean = cri_kappa_expect(q, work, self, NULL);
    double first = work[ENDS], peak = find_peak(q, first, work[ENDS + PANELS], 1);
    *out = (cri_summary){ .mean = mean,
                          .sd = sqrt(cri_kappa_expect(q, work, square_off, &mean)),
                          .mode = peak < first + 1e-3 ? 0 : exp(peak),
                          .lower = cri_kappa_quantile(q, work, 0.5 - level / 2),
                          .upper = cri_kappa_quantile(q, work, 0.5 + level / 2) };
    find_shortest(q, work, level, out);
}
