/* kernels_density.c -- log densities with their derivatives; Stan's names, arguments and order.
 * Of y and each parameter one slot may stand for all entries.  Values agree with the distributions
 * of prob/dist; they are written out here because a gradient needs the derivatives with them. */
#include "kernels.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

#define HALF_LOG_2PI 0.9189385332046727418
#define LOG_PI 1.1447298858494001741

static double logistic(double u) { return u >= 0 ? 1 / (1 + exp(-u)) : exp(u) / (1 + exp(u)); }
static double softplus(double u) { return u > 0 ? u + log1p(exp(-u)) : log1p(exp(u)); }

/* Each: x[0] is y, x[1], ... the parameters; d the slopes, or NULL. */
#define DENSITY(name) static double name(const double *x, double *d)

DENSITY(normal)
{
    double z = (x[0] - x[1]) / x[2];
    if (d) d[0] = -z / x[2], d[1] = z / x[2], d[2] = (z * z - 1) / x[2];
    return -0.5 * z * z - log(x[2]) - HALF_LOG_2PI;
}
DENSITY(std_normal)
{
    if (d) d[0] = -x[0];
    return -0.5 * x[0] * x[0] - HALF_LOG_2PI;
}
DENSITY(lognormal)
{
    double l = log(x[0]), z = (l - x[1]) / x[2];
    if (d) d[0] = -(1 + z / x[2]) / x[0], d[1] = z / x[2], d[2] = (z * z - 1) / x[2];
    return -0.5 * z * z - log(x[2]) - l - HALF_LOG_2PI;
}
DENSITY(student_t)
{
    double nu = x[1], s = x[3], z = (x[0] - x[2]) / s, q = z * z / nu, w = (nu + 1) / (nu + z * z);
    if (d) {
        d[0] = -w * z / s, d[2] = w * z / s, d[3] = (w * z * z - 1) / s;
        d[1] =
            0.5 * (cr_digamma(0.5 * (nu + 1)) - cr_digamma(0.5 * nu) - log1p(q) - 1 / nu + w * q);
    }
    return cr_lgamma_diff(0.5 * nu, 0.5) - 0.5 * (log(nu) + LOG_PI) - log(s) -
           0.5 * (nu + 1) * log1p(q);
}
DENSITY(cauchy)
{
    double z = (x[0] - x[1]) / x[2], w = 2 / (1 + z * z);
    if (d) d[0] = -w * z / x[2], d[1] = w * z / x[2], d[2] = (w * z * z - 1) / x[2];
    return -LOG_PI - log(x[2]) - log1p(z * z);
}
DENSITY(logistic_density)
{
    double z = (x[0] - x[1]) / x[2], t = tanh(0.5 * z);
    if (d) d[0] = -t / x[2], d[1] = t / x[2], d[2] = (t * z - 1) / x[2];
    return -fabs(z) - log(x[2]) - 2 * log1p(exp(-fabs(z)));
}
DENSITY(double_exponential)
{
    double r = x[0] - x[1], s = (r > 0) - (r < 0);
    if (d) d[0] = -s / x[2], d[1] = s / x[2], d[2] = (fabs(r) / x[2] - 1) / x[2];
    return -log(2 * x[2]) - fabs(r) / x[2];
}
DENSITY(gumbel)
{
    double z = (x[0] - x[1]) / x[2], e = exp(-z);
    if (d) d[0] = (e - 1) / x[2], d[1] = -d[0], d[2] = (z * (1 - e) - 1) / x[2];
    return -log(x[2]) - z - e;
}
DENSITY(exponential)
{
    if (d) d[0] = -x[1], d[1] = 1 / x[1] - x[0];
    return log(x[1]) - x[1] * x[0];
}
DENSITY(gamma_density)
{
    double l = log(x[0]), b = log(x[2]);
    if (d)
        d[0] = (x[1] - 1) / x[0] - x[2], d[1] = b - cr_digamma(x[1]) + l, d[2] = x[1] / x[2] - x[0];
    return x[1] * b - cr_lgamma_abs(x[1]) + (x[1] == 1 ? 0 : (x[1] - 1) * l) - x[2] * x[0];
}
DENSITY(inv_gamma)
{
    double l = log(x[0]), b = log(x[2]);
    if (d)
        d[0] = -(x[1] + 1) / x[0] + x[2] / (x[0] * x[0]), d[1] = b - cr_digamma(x[1]) - l,
        d[2] = x[1] / x[2] - 1 / x[0];
    return x[1] * b - cr_lgamma_abs(x[1]) - (x[1] + 1) * l - x[2] / x[0];
}
DENSITY(chi_square)
{
    double h = 0.5 * x[1], l = log(x[0]);
    if (d) d[0] = (h - 1) / x[0] - 0.5, d[1] = 0.5 * (l - log(2.0) - cr_digamma(h));
    return -h * log(2.0) - cr_lgamma_abs(h) + (h == 1 ? 0 : (h - 1) * l) - 0.5 * x[0];
}
DENSITY(inv_chi_square)
{
    double h = 0.5 * x[1], l = log(x[0]);
    if (d)
        d[0] = -(h + 1) / x[0] + 0.5 / (x[0] * x[0]), d[1] = -0.5 * (log(2.0) + cr_digamma(h) + l);
    return -h * log(2.0) - cr_lgamma_abs(h) - (h + 1) * l - 0.5 / x[0];
}
DENSITY(weibull)
{
    double l = log(x[0] / x[2]), p = exp(x[1] * l);
    if (d)
        d[0] = (x[1] - 1 - x[1] * p) / x[0], d[1] = 1 / x[1] + l * (1 - p),
        d[2] = x[1] * (p - 1) / x[2];
    return log(x[1] / x[2]) + (x[1] == 1 ? 0 : (x[1] - 1) * l) - p;
}
DENSITY(pareto)
{
    double l = log(x[0]), m = log(x[1]);
    if (x[0] < x[1]) return -INFINITY;
    if (d) d[0] = -(x[2] + 1) / x[0], d[1] = x[2] / x[1], d[2] = 1 / x[2] + m - l;
    return log(x[2]) + x[2] * m - (x[2] + 1) * l;
}
DENSITY(beta)
{
    double l = log(x[0]), m = log1p(-x[0]);
    if (d) {
        double both = cr_digamma(x[1] + x[2]);
        d[0] = (x[1] - 1) / x[0] - (x[2] - 1) / (1 - x[0]);
        d[1] = l - cr_digamma(x[1]) + both, d[2] = m - cr_digamma(x[2]) + both;
    }
    return (x[1] == 1 ? 0 : (x[1] - 1) * l) + (x[2] == 1 ? 0 : (x[2] - 1) * m) -
           cr_lbeta(x[1], x[2]);
}
DENSITY(uniform)
{
    double width = x[2] - x[1];
    if (x[0] < x[1] || x[0] > x[2]) return -INFINITY;
    if (d) d[0] = 0, d[1] = 1 / width, d[2] = -1 / width;
    return -log(width);
}
DENSITY(bernoulli)
{
    if (d) d[0] = 0, d[1] = x[0] != 0 ? 1 / x[1] : -1 / (1 - x[1]);
    return x[0] != 0 ? log(x[1]) : log1p(-x[1]);
}
DENSITY(bernoulli_logit)
{
    if (d) d[0] = 0, d[1] = x[0] - logistic(x[1]);
    return -softplus(x[0] != 0 ? -x[1] : x[1]);
}
static double log_choose(double n, double k) { return -log1p(n) - cr_lbeta(n - k + 1, k + 1); }
DENSITY(binomial)
{
    double k = x[0], n = x[1], p = x[2];
    if (k > n) return -INFINITY;
    if (d) d[0] = d[1] = 0, d[2] = (k > 0 ? k / p : 0) - (n > k ? (n - k) / (1 - p) : 0);
    return log_choose(n, k) + (k > 0 ? k * log(p) : 0) + (n > k ? (n - k) * log1p(-p) : 0);
}
DENSITY(binomial_logit)
{
    double k = x[0], n = x[1];
    if (k > n) return -INFINITY;
    if (d) d[0] = d[1] = 0, d[2] = k - n * logistic(x[2]);
    return log_choose(n, k) - k * softplus(-x[2]) - (n - k) * softplus(x[2]);
}
DENSITY(beta_binomial)
{
    double k = x[0], n = x[1], a = x[2], b = x[3];
    if (k > n) return -INFINITY;
    if (d) {
        double all = cr_digamma(a + b) - cr_digamma(n + a + b);
        d[0] = d[1] = 0;
        d[2] = cr_digamma(k + a) - cr_digamma(a) + all;
        d[3] = cr_digamma(n - k + b) - cr_digamma(b) + all;
    }
    return log_choose(n, k) + cr_lbeta(k + a, n - k + b) - cr_lbeta(a, b);
}
DENSITY(poisson)
{
    if (d) d[0] = 0, d[1] = (x[0] > 0 ? x[0] / x[1] : 0) - 1;
    return (x[0] > 0 ? x[0] * log(x[1]) : 0) - x[1] - cr_lgamma_abs(x[0] + 1);
}
DENSITY(poisson_log)
{
    double rate = exp(x[1]);
    if (d) d[0] = 0, d[1] = x[0] - rate;
    return x[0] * x[1] - rate - cr_lgamma_abs(x[0] + 1);
}
/* Mean exp(eta), dispersion phi: variance mean + mean^2 / phi. */
DENSITY(neg_binomial_2_log)
{
    double k = x[0], eta = x[1], phi = x[2], l = eta - log(phi), s = softplus(l);
    if (d)
        d[0] = 0, d[1] = k - (k + phi) * logistic(l),
        d[2] = cr_digamma(k + phi) - cr_digamma(phi) - s + (k + phi) / phi * logistic(l) - k / phi;
    return cr_lgamma_diff(phi, k) - cr_lgamma_abs(k + 1) + k * l - (k + phi) * s;
}
DENSITY(neg_binomial_2)
{
    double inner[3] = { x[0], log(x[1]), x[2] }, value = neg_binomial_2_log(inner, d);
    if (d) d[1] /= x[1];
    return value;
}
/* Shape a, inverse scale b: Stan's neg_binomial. */
DENSITY(neg_binomial)
{
    double k = x[0], a = x[1], b = x[2];
    if (d)
        d[0] = 0, d[1] = cr_digamma(k + a) - cr_digamma(a) + log(b) - log1p(b),
        d[2] = a / b - (a + k) / (1 + b);
    return cr_lgamma_abs(k + a) - cr_lgamma_abs(a) - cr_lgamma_abs(k + 1) +
           a * (log(b) - log1p(b)) - k * log1p(b);
}
DENSITY(geometric)
{
    if (d) d[0] = 0, d[1] = 1 / x[1] - x[0] / (1 - x[1]);
    return log(x[1]) + (x[0] > 0 ? x[0] * log1p(-x[1]) : 0);
}
/* |z| of a distribution about 0: for scales.  Twice its density on the positive side. */
#define LOG_2 0.6931471805599453
DENSITY(half_normal)
{
    double z = x[0] / x[1];
    if (d) d[0] = -z / x[1], d[1] = (z * z - 1) / x[1];
    return LOG_2 - 0.5 * z * z - log(x[1]) - HALF_LOG_2PI;
}
DENSITY(half_cauchy)
{
    double z = x[0] / x[1], w = 2 / (1 + z * z);
    if (d) d[0] = -w * z / x[1], d[1] = (w * z * z - 1) / x[1];
    return LOG_2 - LOG_PI - log(x[1]) - log1p(z * z);
}
DENSITY(half_student_t)
{
    double inner[4] = { x[0], x[1], 0, x[2] }, slope[4];
    double value = LOG_2 + student_t(inner, d ? slope : NULL);
    if (d) d[0] = slope[0], d[1] = slope[1], d[2] = slope[3];
    return value;
}

/* --- over all entries ------------------------------------------------------------------------- */

enum { MOST = CRI_MOST_OPERANDS };
typedef double log_density_fn(const double *x, double *opt_slopes);

static inline void take(const cri_tape_op *op, const double *v, uint32_t i, double *x)
{
    for (unsigned k = 0; k < op->n_in; k++) x[k] = v[op->in[k].at + (op->in[k].n > 1 ? i : 0)];
}

static inline void add_up(const cri_tape_op *op, double *v, log_density_fn *f)
{
    double total = 0, x[MOST] = { 0 };
    for (uint32_t i = 0; i < op->n; i++) {
        take(op, v, i, x);
        total += f(x, NULL);
    }
    v[op->out] = total;
}

static inline void add_slopes(const cri_tape_op *op, const double *v, double *a, log_density_fn *f)
{
    double x[MOST] = { 0 }, d[MOST] = { 0 }, da = a[op->out];
    if (da == 0 || !isfinite(v[op->out])) return;
    for (uint32_t i = 0; i < op->n; i++) {
        take(op, v, i, x);
        f(x, d);
        for (unsigned k = 0; k < op->n_in; k++)
            if (!op->in[k].constant) a[op->in[k].at + (op->in[k].n > 1 ? i : 0)] += da * d[k];
    }
}

/* The same, each entry by itself: where a program goes on with them, as in mixtures. */
static inline void each_value(const cri_tape_op *op, double *v, log_density_fn *f)
{
    double x[MOST] = { 0 };
    for (uint32_t i = 0; i < op->n; i++) {
        take(op, v, i, x);
        v[op->out + i] = f(x, NULL);
    }
}

static inline void each_slopes(const cri_tape_op *op, const double *v, double *a, log_density_fn *f)
{
    double x[MOST] = { 0 }, d[MOST] = { 0 };
    for (uint32_t i = 0; i < op->n; i++) {
        double da = a[op->out + i];
        if (da == 0 || !isfinite(v[op->out + i])) continue;
        take(op, v, i, x);
        f(x, d);
        for (unsigned k = 0; k < op->n_in; k++)
            if (!op->in[k].constant) a[op->in[k].at + (op->in[k].n > 1 ? i : 0)] += da * d[k];
    }
}

/* clang-format off */
/* name, function, parameters, whole, support, which parameters are positive (bits), which in 0..1 */
#define DENSITIES(X)                                                                               \
    X(normal, normal, 2, false, -INFINITY, INFINITY, 2, 0)                                         \
    X(std_normal, std_normal, 0, false, -INFINITY, INFINITY, 0, 0)                                 \
    X(lognormal, lognormal, 2, false, 0, INFINITY, 2, 0)                                           \
    X(student_t, student_t, 3, false, -INFINITY, INFINITY, 5, 0)                                   \
    X(cauchy, cauchy, 2, false, -INFINITY, INFINITY, 2, 0)                                         \
    X(logistic, logistic_density, 2, false, -INFINITY, INFINITY, 2, 0)                             \
    X(double_exponential, double_exponential, 2, false, -INFINITY, INFINITY, 2, 0)                 \
    X(laplace, double_exponential, 2, false, -INFINITY, INFINITY, 2, 0)                            \
    X(gumbel, gumbel, 2, false, -INFINITY, INFINITY, 2, 0)                                         \
    X(exponential, exponential, 1, false, 0, INFINITY, 1, 0)                                       \
    X(gamma, gamma_density, 2, false, 0, INFINITY, 3, 0)                                                   \
    X(inv_gamma, inv_gamma, 2, false, 0, INFINITY, 3, 0)                                           \
    X(chi_square, chi_square, 1, false, 0, INFINITY, 1, 0)                                         \
    X(inv_chi_square, inv_chi_square, 1, false, 0, INFINITY, 1, 0)                                 \
    X(weibull, weibull, 2, false, 0, INFINITY, 3, 0)                                               \
    X(pareto, pareto, 2, false, 0, INFINITY, 3, 0)                                                 \
    X(beta, beta, 2, false, 0, 1, 3, 0)                                                            \
    X(uniform, uniform, 2, false, -INFINITY, INFINITY, 0, 0)                                       \
    X(half_normal, half_normal, 1, false, 0, INFINITY, 1, 0)                                       \
    X(half_cauchy, half_cauchy, 1, false, 0, INFINITY, 1, 0)                                       \
    X(half_student_t, half_student_t, 2, false, 0, INFINITY, 3, 0)                                 \
    X(bernoulli, bernoulli, 1, true, 0, 1, 0, 1)                                                   \
    X(bernoulli_logit, bernoulli_logit, 1, true, 0, 1, 0, 0)                                       \
    X(binomial, binomial, 2, true, 0, INFINITY, 0, 2)                                              \
    X(binomial_logit, binomial_logit, 2, true, 0, INFINITY, 0, 0)                                  \
    X(beta_binomial, beta_binomial, 3, true, 0, INFINITY, 6, 0)                                    \
    X(poisson, poisson, 1, true, 0, INFINITY, 1, 0)                                                \
    X(poisson_log, poisson_log, 1, true, 0, INFINITY, 0, 0)                                        \
    X(neg_binomial_2, neg_binomial_2, 2, true, 0, INFINITY, 3, 0)                                  \
    X(neg_binomial_2_log, neg_binomial_2_log, 2, true, 0, INFINITY, 2, 0)                          \
    X(neg_binomial, neg_binomial, 2, true, 0, INFINITY, 3, 0)                                      \
    X(geometric, geometric, 1, true, 0, INFINITY, 0, 1)
/* clang-format on */

#define DEFINE(name, f, ...)                                                                       \
    static void forward_##name(const cri_tape_op *op, double *v) { add_up(op, v, f); }             \
    static void backward_##name(const cri_tape_op *op, const double *v, double *a)                 \
    {                                                                                              \
        add_slopes(op, v, a, f);                                                                   \
    }                                                                                              \
    static void each_forward_##name(const cri_tape_op *op, double *v) { each_value(op, v, f); }    \
    static void each_backward_##name(const cri_tape_op *op, const double *v, double *a)            \
    {                                                                                              \
        each_slopes(op, v, a, f);                                                                  \
    }                                                                                              \
    static const cri_tape_kernel each_##name = {                                                   \
        #name, each_forward_##name, each_backward_##name, true, false, NULL, NULL                  \
    };                                                                                             \
    static const cri_tape_kernel kernel_##name = { #name, forward_##name, backward_##name,         \
                                                   false, true,           &each_##name,            \
                                                   NULL };
DENSITIES(DEFINE)

#define ROW(name, f, parameters, whole, low, high, positive, unit)                                 \
    { #name, parameters, whole, low, high, positive, unit, f, &kernel_##name },
static const cri_density_function TABLE[] = { DENSITIES(ROW) };

const cri_density_function *cri_density_at(size_t i)
{
    return i < sizeof TABLE / sizeof *TABLE ? &TABLE[i] : NULL;
}

const cri_density_function *cri_density_find(const char *name)
{
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
        if (strcmp(TABLE[i].name, name) == 0) return &TABLE[i];
    return NULL;
}
