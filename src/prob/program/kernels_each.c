/* kernels_each.c -- functions of one and of two numbers, entry by entry.
 * In the lists: the name, y = f(x) or f(x, z), and its derivatives, which may use y. */
#include "kernels.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

static double inv_logit(double x)
{
    if (x >= 0) return 1 / (1 + exp(-x));
    double e = exp(x);
    return e / (1 + e);
}
static double log1p_exp(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }
static double log1m_exp(double x)
{
    return x > -0.6931471805599453 ? log(-expm1(x)) : log1p(-exp(x));
}
static double normal_density(double x) { return exp(-0.5 * x * x) * 0.3989422804014327; }
static double log_sum_exp(double x, double z)
{
    double top = fmax(x, z);
    return isinf(top) ? top : top + log1p(exp(-fabs(x - z)));
}
static double log_diff_exp(double x, double z) { return x + log1m_exp(z - x); }
static double times_log(double x, double z) { return x == 0 ? 0 : x * log(z); }
static double sign_of(double x) { return (x > 0) - (x < 0); }
/* clang-format off */
#define UNARY(X)                                                                                   \
    X(minus, -x, -1)                        X(exp, exp(x), y)                                      \
    X(log, log(x), 1 / x)                   X(sqrt, sqrt(x), 0.5 / y)                              \
    X(square, x * x, 2 * x)                 X(inv, 1 / x, -y * y)                                  \
    X(inv_sqrt, 1 / sqrt(x), -0.5 * y / x)  X(inv_square, 1 / (x * x), -2 * y / x)                 \
    X(log1p, log1p(x), 1 / (1 + x))         X(log1m, log1p(-x), -1 / (1 - x))                      \
    X(expm1, expm1(x), y + 1)               X(inv_logit, inv_logit(x), y * (1 - y))                \
    X(logit, log(x) - log1p(-x), 1 / (x * (1 - x)))                                                \
    X(log1p_exp, log1p_exp(x), inv_logit(x))                                                       \
    X(log1m_exp, log1m_exp(x), -1 / expm1(-x))                                                     \
    X(log_inv_logit, -log1p_exp(-x), inv_logit(-x))                                                \
    X(log1m_inv_logit, -log1p_exp(x), -inv_logit(x))                                               \
    X(inv_cloglog, -expm1(-exp(x)), exp(x - exp(x)))                                               \
    X(abs, fabs(x), sign_of(x))             X(fabs, fabs(x), sign_of(x))                           \
    X(sin, sin(x), cos(x))                  X(cos, cos(x), -sin(x))                                \
    X(tan, tan(x), 1 + y * y)               X(asin, asin(x), 1 / sqrt(1 - x * x))                  \
    X(acos, acos(x), -1 / sqrt(1 - x * x))  X(atan, atan(x), 1 / (1 + x * x))                      \
    X(sinh, sinh(x), cosh(x))               X(cosh, cosh(x), sinh(x))                              \
    X(tanh, tanh(x), 1 - y * y)             X(cbrt, cbrt(x), y / (3 * x))                          \
    X(exp2, exp2(x), y * 0.6931471805599453) X(log2, log2(x), 1.4426950408889634 / x)              \
    X(log10, log10(x), 0.4342944819032518 / x)                                                     \
    X(Phi, cr_norm_cdf(x), normal_density(x))                                                      \
    X(inv_Phi, cr_norm_ppf(x), 1 / normal_density(y))                                              \
    X(Phi_approx, inv_logit(x * (0.07056 * x * x + 1.5976)),                                       \
      y * (1 - y) * (0.21168 * x * x + 1.5976))                                                    \
    X(erf, erf(x), 1.1283791670955126 * exp(-x * x))                                               \
    X(erfc, erfc(x), -1.1283791670955126 * exp(-x * x))                                            \
    X(lgamma, cr_lgamma_abs(x), cr_digamma(x))                                                     \
    X(tgamma, tgamma(x), y * cr_digamma(x))                                                        \
    X(digamma, cr_digamma(x), cr_trigamma(x))                                                         \
    X(floor, floor(x), 0)                   X(ceil, ceil(x), 0)                                    \
    X(round, round(x), 0)                   X(trunc, trunc(x), 0)                                  \
    X(step, x >= 0 ? 1.0 : 0.0, 0)

#define BINARY(X)                                                                                  \
    X(add, x + z, 1, 1)                     X(subtract, x - z, 1, -1)                              \
    X(multiply, x * z, z, x)                X(divide, x / z, 1 / z, -y / z)                        \
    X(pow, pow(x, z), z == 0 ? 0 : z * pow(x, z - 1), x == 0 ? 0 : y * log(x))                     \
    X(fmax, fmax(x, z), x >= z, x < z)      X(fmin, fmin(x, z), x <= z, x > z)                     \
    X(max, fmax(x, z), x >= z, x < z)       X(min, fmin(x, z), x <= z, x > z)                      \
    X(fdim, fdim(x, z), x > z, -(x > z))    X(hypot, hypot(x, z), x / y, z / y)                    \
    X(atan2, atan2(x, z), z / (x * x + z * z), -x / (x * x + z * z))                               \
    X(fmod, fmod(x, z), 1, -trunc(x / z))                                                          \
    X(log_sum_exp, log_sum_exp(x, z), exp(x - y), exp(z - y))                                      \
    X(log_diff_exp, log_diff_exp(x, z), exp(x - y), -exp(z - y))                                   \
    X(lmultiply, times_log(x, z), log(z), x / z)                                                   \
    X(multiply_log, times_log(x, z), log(z), x / z)                                                \
    X(lbeta, cr_lbeta(x, z), cr_digamma(x) - cr_digamma(x + z), cr_digamma(z) - cr_digamma(x + z)) \
    X(lchoose, -log1p(x) - cr_lbeta(x - z + 1, z + 1),                                             \
      cr_digamma(x + 1) - cr_digamma(x - z + 1), cr_digamma(x - z + 1) - cr_digamma(z + 1))        \
    X(binomial_coefficient_log, -log1p(x) - cr_lbeta(x - z + 1, z + 1),                            \
      cr_digamma(x + 1) - cr_digamma(x - z + 1), cr_digamma(x - z + 1) - cr_digamma(z + 1))
/* clang-format on */

#define DEFINE_UNARY(name, value, slope)                                                           \
    static double one_##name(double x) { return value; }                                           \
    static void   forward_##name(const cri_tape_op *op, double *v)                                 \
    {                                                                                              \
        const double *in = v + op->in[0].at;                                                       \
        for (uint32_t i = 0; i < op->n; i++) {                                                     \
            double x = in[i];                                                                      \
            v[op->out + i] = value;                                                                \
        }                                                                                          \
    }                                                                                              \
    static void backward_##name(const cri_tape_op *op, const double *v, double *a)                 \
    {                                                                                              \
        const double *in = v + op->in[0].at, *result = v + op->out, *da = a + op->out;             \
        double       *dx = a + op->in[0].at;                                                       \
        if (op->in[0].constant) return;                                                            \
        for (uint32_t i = 0; i < op->n; i++) {                                                     \
            double x = in[i], y = result[i];                                                       \
            (void)x, (void)y;                                                                      \
            if (da[i] != 0) dx[i] += da[i] * (slope);                                              \
        }                                                                                          \
    }                                                                                              \
    static const cri_tape_kernel unary_##name = { #name, forward_##name, backward_##name,          \
                                                  true,  false,          NULL,                     \
                                                  NULL };

#define DEFINE_BINARY(name, value, slope_x, slope_z)                                               \
    static double two_##name(double x, double z) { return value; }                                 \
    static void   forward2_##name(const cri_tape_op *op, double *v)                                \
    {                                                                                              \
        const double *first = v + op->in[0].at, *second = v + op->in[1].at;                        \
        size_t        sx = op->in[0].n > 1, sz = op->in[1].n > 1;                                  \
        for (uint32_t i = 0; i < op->n; i++) {                                                     \
            double x = first[i * sx], z = second[i * sz];                                          \
            v[op->out + i] = value;                                                                \
        }                                                                                          \
    }                                                                                              \
    static void backward2_##name(const cri_tape_op *op, const double *v, double *a)                \
    {                                                                                              \
        const double *first = v + op->in[0].at, *second = v + op->in[1].at;                        \
        const double *result = v + op->out, *da = a + op->out;                                     \
        double       *dx = a + op->in[0].at, *dz = a + op->in[1].at;                               \
        size_t        sx = op->in[0].n > 1, sz = op->in[1].n > 1;                                  \
        for (uint32_t i = 0; i < op->n; i++) {                                                     \
            double x = first[i * sx], z = second[i * sz], y = result[i];                           \
            (void)x, (void)z, (void)y;                                                             \
            if (da[i] == 0) continue;                                                              \
            if (!op->in[0].constant) dx[i * sx] += da[i] * (slope_x);                              \
            if (!op->in[1].constant) dz[i * sz] += da[i] * (slope_z);                              \
        }                                                                                          \
    }                                                                                              \
    static const cri_tape_kernel binary_##name = { #name, forward2_##name, backward2_##name,       \
                                                   true,  false,           NULL,                   \
                                                   NULL };

UNARY(DEFINE_UNARY)
BINARY(DEFINE_BINARY)

#define UNARY_ROW(name, value, slope) { #name, 1, one_##name, NULL, &unary_##name },
#define BINARY_ROW(name, value, slope_x, slope_z) { #name, 2, NULL, two_##name, &binary_##name },
static const cri_each_function FUNCTIONS[] = { UNARY(UNARY_ROW) BINARY(BINARY_ROW) };

const cri_each_function *cri_each_find(const char *name, unsigned arguments)
{
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++)
        if (FUNCTIONS[i].arguments == arguments && strcmp(FUNCTIONS[i].name, name) == 0)
            return &FUNCTIONS[i];
    return NULL;
}

const cri_tape_kernel *cri_each_kernel(const char *name, unsigned arguments)
{
    return cri_each_find(name, arguments)->kernel;
}
