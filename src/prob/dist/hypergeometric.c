/* hypergeometric.c -- marked items among n drawn without replacement from N items, K of them
 * marked.
 * The masses are log-concave in x, with ratios
 *     P(x + 1) / P(x) = (K - x) (n - x) / ((x + 1) (N - K - n + x + 1)),
 * so a tail is a sum of falling ratios from its heavy end.  Where the standard deviation is above
 * 1000 the sum is an integral with the first term of Euler and Maclaurin's correction, right to
 * about 1e-14: the cost is that of a sum of 4 10^4 terms at most, whatever N.
 * Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 6. */
#include "fit.h"
#include "saddle.h"
#include "math/quadrature.h"

#include <math.h>

static void hg_support(cri_par p, double *low, double *high)
{
    *low = fmax(0, p.v[2] - (p.v[0] - p.v[1]));
    *high = fmin(p.v[1], p.v[2]);
}

static cr_status hg_check(cr_ctx *cx, cri_par p)
{
    if (p.v[1] > p.v[0])
        return cr_fail(cx, CR_EARG, "hypergeometric: %.17g are marked, but there are only %.17g",
                       p.v[1], p.v[0]);
    if (p.v[2] > p.v[0])
        return cr_fail(cx, CR_EARG, "hypergeometric: %.17g are drawn, but there are only %.17g",
                       p.v[2], p.v[0]);
    return CR_OK;
}

/* --- masses ---------------------------------------------------------------------------------- */

/* log m! less m log m - m. */
static double factorial_rest(double m)
{
    return m > 0 ? CRI_HALF_LOG_2PI + 0.5 * log(m) + cr_stirlerr(m) : 0;
}

/* o log(o / e) + e - o for o = e + d, from the difference. */
static double cell_deviance(double o, double e, double d)
{
    if (!(e > 0) || o == 0) return e;
    double t = d / e;
    return t > 1 ? e * ((1 + t) * log1p(t) - t) : e * ((1 + t) * cri_log1pmx(t) + t * t);
}

/* The four cells of the table marked or not, drawn or not, hold a count e + d or e - d each, e its
 * expectation; with Stirling's formula for the factorials the mass is exp(-deviance) times square
 * roots.  d = x - n K / N from exact products, so that it has digits where x is large; so it keeps
 * those of a real `shift` that is added to x. */
static double log_mass(cri_par p, double x, double shift)
{
    double N = p.v[0], K = p.v[1], n = p.v[2], xN = x * N, nK = n * K;
    if (N == 0) return 0;
    double d = ((xN - nK) + (fma(x, N, -xN) - fma(n, K, -nK))) / N + shift;
    double a = x + shift, b = n - a, c = K - a, rest = N - K - b; /* the cells */
    double deviance = cell_deviance(a, n * (K / N), d) + cell_deviance(b, n * ((N - K) / N), -d) +
                      cell_deviance(c, (N - n) * (K / N), -d) +
                      cell_deviance(rest, (N - n) * ((N - K) / N), d);
    double roots = (factorial_rest(n) - factorial_rest(a)) +
                   (factorial_rest(N - n) - factorial_rest(rest)) +
                   (factorial_rest(K) - factorial_rest(c)) +
                   (factorial_rest(N - K) - factorial_rest(b)) - factorial_rest(N);
    return fmin(0, roots - deviance);
}

static double hg_logpdf(cri_par p, double x) { return log_mass(p, x, 0); }

static double hg_mean(cri_par p) { return p.v[0] > 0 ? p.v[2] * (p.v[1] / p.v[0]) : 0; }

static double hg_variance(cri_par p)
{
    double N = p.v[0], K = p.v[1], n = p.v[2];
    return N > 1 ? n * (K / N) * ((N - K) / N) * ((N - n) / (N - 1)) : 0;
}

/* The masses rise while (K - x) (n - x) > (x + 1) (N - K - n + x + 1). */
static double hg_mode(cri_par p)
{
    double low, high, top = (p.v[1] + 1) / (p.v[0] + 2) * (p.v[2] + 1);
    hg_support(p, &low, &high);
    return fmin(high, fmax(low, ceil(top) - 1));
}

/* --- sums over one side ---------------------------------------------------------------------- */

static const double SMOOTH_SD = 1e3, SMOOTH_LENGTH = 1e3;

/* The mass at x + step over that at x. */
static double ratio_at(cri_par p, double x, double step)
{
    double N = p.v[0], K = p.v[1], n = p.v[2];
    return step > 0 ? (K - x) / (x + 1) * ((n - x) / (N - K - n + x + 1))
                    : x / (K - x + 1) * ((N - K - n + x) / (n - x + 1));
}

/* Masses relative to that at `from`, in the direction `step`, as a function of the distance. */
typedef struct side_sum {
    cri_par p;
    double  from, step, log_from;
    bool    surprise; /* times minus the logarithm of the mass */
} side_sum;

static double mass_at(double distance, void *user)
{
    const side_sum *s = user;
    double          log_p = log_mass(s->p, s->from, s->step * distance);
    return exp(log_p - s->log_from) * (s->surprise ? -log_p : 1);
}

/* The integral over the distance from -1/2 until the masses have lost a factor of exp(-45), in
 * pieces over which a normal curve is easy.  With a standard deviation above SMOOTH_SD the ends of
 * the support are 1000 of them away. */
static double integrate_side(side_sum *s)
{
    enum { PIECES = 8 };
    double far = 1, sum = 0;
    while (hg_logpdf(s->p, s->from + s->step * far) > s->log_from - 45) far *= 1.5;
    for (int i = 0; i < PIECES; i++) {
        double a = i * far / PIECES - 0.5, b = (i + 1) * far / PIECES - 0.5;
        sum += cr_gauss20(mass_at, s, a, b);
    }
    return sum;
}

/* The masses from x (inclusive) to the end in the direction `step`, over that at x.  They fall from
 * x on. */
static double sum_from(cri_par p, double x, double step)
{
    double ratio = ratio_at(p, x, step), term = 1, sum = 0, low, high;
    if (sqrt(hg_variance(p)) > SMOOTH_SD && ratio > 1 - 1 / SMOOTH_LENGTH) {
        side_sum s = { p, x, step, hg_logpdf(p, x), false };
        /* sum = integral + slope / 24 at its end, half a step before x */
        double slope = 1 - mass_at(-1, &s);
        return integrate_side(&s) + slope / 24;
    }
    hg_support(p, &low, &high);
    for (; x >= low && x <= high; x += step) {
        sum += term;
        term *= ratio_at(p, x, step);
        if (term < 1e-18 * sum) break;
    }
    return sum;
}

static double hg_cdf(cri_par p, double x, unsigned side)
{
    bool   below = x < hg_mean(p);
    double start = below ? x : x + 1;
    double log_part = hg_logpdf(p, start) + log(sum_from(p, start, below ? -1 : 1));
    double part = fmin(1, exp(log_part));
    if (side & CRI_LOG && below != !!(side & CRI_UPPER)) return fmin(0, log_part);
    return below ? cri_face(part, 1 - part, side) : cri_face(1 - part, part, side);
}

/* Both sides of the mode meet half a step below it, where the corrections cancel. */
static double hg_entropy(cri_par p)
{
    double mode = hg_mode(p), top = hg_logpdf(p, mode);
    if (sqrt(hg_variance(p)) <= SMOOTH_SD)
        return cri_sum_entropy(&cri_dist_hypergeometric, p, mode);
    side_sum up = { p, mode, 1, top, true }, down = { p, mode - 1, -1, top, true };
    return exp(top) * (integrate_side(&up) + integrate_side(&down));
}

/* --- draws ----------------------------------------------------------------------------------- */

/* Rejection from a flat top with exponential sides, which lies above every log-concave mass of this
 * mode: about five tries whatever the parameters.  Devroye (1987), Computing 39. */
static double hg_sample(cri_par p, cr_rng *r)
{
    double mode = hg_mode(p), top = hg_logpdf(p, mode), height = exp(top), w = 1 + 0.5 * height;
    for (int tries = 0; tries < 10000; tries++) {
        bool   flat = cr_rng_uniform(r) * (1 + w) <= w;
        double over = flat ? 0 : cr_rng_exponential(r);
        double y = (flat ? cr_rng_uniform(r) * w : w + over) / height;
        double x = mode + (cr_rng_uniform(r) < 0.5 ? -1 : 1) * floor(y + 0.5);
        double log_p = cri_dist_logpdf(&cri_dist_hypergeometric, p, x);
        if (log(cr_rng_uniform(r)) - over <= log_p - top) return x;
    }
    return mode; /* 10000 rejections have a chance below 1e-900 */
}

static double hg_kl(cri_par p, cri_par q)
{
    return cri_sum_kl(&cri_dist_hypergeometric, p, q, hg_mode(p));
}

/* --- fit ------------------------------------------------------------------------------------- */

/* The gain in mean log-likelihood from K to K + 1 marked; it falls in K. */
static double gain_at(const cri_sample *s, double N, double n, double K)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        double x = s->x[i], w = cri_weight(s, i) / s->total;
        if (w > 0) sum += w * (log1p(-(n - x) / (N - K)) - log1p(-x / (K + 1)));
    }
    return sum;
}

/* The least K of greatest likelihood, by bisection over the whole numbers that can give the data. */
static cr_status hg_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t count)
{
    cr_status st = CR_OK;
    double    N = v[0], n = v[2], low, high;
    (void)count;
    if (n > N)
        CR_TRY(cr_fail(cx, CR_EARG, "hypergeometric: %.17g are drawn, but there are only %.17g", n,
                       N));
    cri_sample_range(s, &low, &high);
    if (high > n)
        CR_TRY(cr_fail(cx, CR_EDATA, "hypergeometric: a value is %g, more than the %g draws", high,
                       n));
    if (n == 0) CR_TRY(cri_no_estimate(cx, "hypergeometric", "nothing is drawn"));
    double least = high, most = N - n + low;
    if (least > most)
        CR_TRY(cri_no_estimate(cx, "hypergeometric",
                               "no number of marked items can give both the least and the largest "
                               "value"));
    while (least < most) {
        double middle = least + floor(0.5 * (most - least));
        CR_TRY(cr_check_interrupt(cx));
        if (gain_at(s, N, n, middle) > 0)
            least = middle + 1;
        else
            most = middle;
    }
    v[1] = least;
done:
    return st;
}

/* --- the descriptor -------------------------------------------------------------------------- */

static const cri_dist_param params[] = {
    CRI_PARAM_GIVEN("population", cri_count, "whole, >=0", "50", "number of items N"),
    CRI_PARAM("marked", cri_count, "whole, >=0", "13", "number of marked items K, at most N"),
    CRI_PARAM_GIVEN("draws", cri_count, "whole, >=0", "5", "number of items drawn n, at most N"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_hypergeometric = {
    .name = "hypergeometric",
    .summary = "marked items among n drawn without replacement",
    .formula = "P(x) = C(K, x) C(N - K, n - x) / C(N, n)",
    .reference = "Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 6",
    .support_text = "x = max(0, n + K - N), ..., min(n, K)",
    .params = params,
    .discrete = true,
    .data = &cri_count,
    .check = hg_check,
    .support = hg_support,
    .logpdf = hg_logpdf,
    .cdf = hg_cdf,
    .mean = hg_mean,
    .mode = hg_mode,
    .variance = hg_variance,
    .entropy = hg_entropy,
    .sample = hg_sample,
    .fit = hg_fit,
    .kl = hg_kl,
};
