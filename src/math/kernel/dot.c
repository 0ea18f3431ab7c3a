/* dot.c -- kernels of a product s = F_i . F_j: linear, polynomial, sigmoid, cosine. */
#include "kernel_internal.h"

#include <math.h>

void cri_same_link(const cr_kernel *k, const cri_node *node, const double *t, size_t n, double *out)
{
    (void)k, (void)node;
    for (size_t i = 0; i < n; i++) out[i] = t[i];
}

void cri_same_slope(const cr_kernel *k, const cri_node *node, const double *t, const double *v,
                    size_t n, double *out)
{
    (void)k, (void)node, (void)t, (void)v;
    for (size_t i = 0; i < n; i++) out[i] = 1;
}

/* --- linear ---------------------------------------------------------------------------------- */

static const cri_spec linear_specs[] = { CRI_WARP_SPECS, CRI_LAST_SPEC };

const cr_kernel_class cri_kernel_linear = {
    .name = "linear",
    .summary = "linear functions: Bayesian linear regression",
    .formula = "k(x, y) = sum_d x_d y_d",
    .reference = "Rasmussen & Williams (2006), sec. 4.2.2; Bishop (2006), eq. 6.54",
    .example = "linear(x1, x2)",
    .specs = linear_specs,
    .family = CRI_DOT,
    .kind = CR_KERNEL_NUMBER,
    .warps = true,
    .link = cri_same_link,
    .slope = cri_same_slope,
};

/* --- polynomial ------------------------------------------------------------------------------ */

enum { DEGREE = 0, OFFSET = 1, INSIDE = 2 };

static void polynomial_link(const cr_kernel *k, const cri_node *node, const double *t, size_t n,
                            double *out)
{
    size_t degree = (size_t)node->setting[DEGREE];
    double c = cri_value(k, node, OFFSET, 0), v = cri_value(k, node, INSIDE, 0);
    for (size_t i = 0; i < n; i++) out[i] = cri_whole_power(v * t[i] + c, degree);
}

/* degree (v t + c)^(degree - 1), times what */
static void polynomial_inner(const cr_kernel *k, const cri_node *node, const double *t, size_t n,
                             double *out)
{
    size_t degree = (size_t)node->setting[DEGREE];
    double c = cri_value(k, node, OFFSET, 0), v = cri_value(k, node, INSIDE, 0);
    for (size_t i = 0; i < n; i++)
        out[i] = (double)degree * cri_whole_power(v * t[i] + c, degree - 1);
}

static void polynomial_slope(const cr_kernel *k, const cri_node *node, const double *t,
                             const double *v, size_t n, double *out)
{
    (void)v;
    polynomial_inner(k, node, t, n, out);
    for (size_t i = 0; i < n; i++) out[i] *= cri_value(k, node, INSIDE, 0);
}

static void polynomial_partial(const cr_kernel *k, const cri_node *node, size_t s, const double *t,
                               const double *v, size_t n, double *out)
{
    (void)v;
    polynomial_inner(k, node, t, n, out);
    for (size_t i = 0; s == INSIDE && i < n; i++) out[i] *= t[i];
}

static const cri_spec polynomial_specs[] = {
    CRI_GIVEN("degree", "d", "2", "1..50", "degree", 2, 1, 50, false),
    CRI_LEARNED("c", "offset", "1", ">0", "weight of the lower degrees", CRI_LINK, CRI_LOG, 1),
    CRI_LEARNED("variance", "gamma", "1", ">0", "factor of the product", CRI_LINK, CRI_LOG, 1),
    CRI_WARP_SPECS,
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_polynomial = {
    .name = "polynomial",
    .aliases = "poly",
    .summary = "polynomials up to a degree, with all products of columns",
    .formula = "k(x, y) = (variance sum_d x_d y_d + c)^degree",
    .reference = "Schoelkopf & Smola (2002), Learning with Kernels, sec. 2.1",
    .example = "polynomial(degree=3, c=1)",
    .specs = polynomial_specs,
    .family = CRI_DOT,
    .kind = CR_KERNEL_NUMBER,
    .warps = true,
    .link = polynomial_link,
    .slope = polynomial_slope,
    .partial = polynomial_partial,
};

/* --- sigmoid --------------------------------------------------------------------------------- */

enum { GAMMA = 0, SHIFT = 1 };

static void sigmoid_link(const cr_kernel *k, const cri_node *node, const double *t, size_t n,
                         double *out)
{
    double g = cri_value(k, node, GAMMA, 0), c = cri_value(k, node, SHIFT, 0);
    for (size_t i = 0; i < n; i++) out[i] = tanh(g * t[i] + c);
}

static void sigmoid_slope(const cr_kernel *k, const cri_node *node, const double *t,
                          const double *v, size_t n, double *out)
{
    (void)t;
    for (size_t i = 0; i < n; i++) out[i] = cri_value(k, node, GAMMA, 0) * (1 - v[i] * v[i]);
}

static void sigmoid_partial(const cr_kernel *k, const cri_node *node, size_t s, const double *t,
                            const double *v, size_t n, double *out)
{
    (void)k, (void)node;
    for (size_t i = 0; i < n; i++) out[i] = (1 - v[i] * v[i]) * (s == GAMMA ? t[i] : 1);
}

static const cri_spec sigmoid_specs[] = {
    CRI_LEARNED("gamma", NULL, "1", ">0", "slope", CRI_LINK, CRI_LOG, 1),
    CRI_LEARNED("c", "offset", "0", "", "offset", CRI_LINK, CRI_REAL, 0),
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_sigmoid = {
    .name = "sigmoid",
    .aliases = "tanh",
    .summary = "a neuron; not positive semi-definite: for support vector machines only",
    .formula = "k(x, y) = tanh(gamma sum_d x_d y_d + c)",
    .reference =
        "Schoelkopf & Smola (2002), eq. 2.68 ff.; Lin & Lin (2003), A study on sigmoid kernels",
    .example = "sigmoid(gamma=0.1, c=0)",
    .specs = sigmoid_specs,
    .family = CRI_DOT,
    .kind = CR_KERNEL_NUMBER,
    .not_psd = true,
    .link = sigmoid_link,
    .slope = sigmoid_slope,
    .partial = sigmoid_partial,
};

/* --- cosine ---------------------------------------------------------------------------------- */

enum { PERIOD = 0 };
static const double TWO_PI = 6.28318530717958647693;

static size_t one_circle(const cri_node *node, size_t n)
{
    (void)node, (void)n;
    return 2;
}

static double phase(const cr_kernel *k, const cri_node *node, const double *x, size_t n)
{
    double a = 0;
    for (size_t c = 0; c < n; c++) {
        double p = cri_value(k, node, PERIOD, c);
        a += remainder(x[c], p) / p;
    }
    return TWO_PI * a;
}

static void wave_map(const cr_kernel *k, const cri_node *node, const double *x, size_t n, double *F)
{
    double a = phase(k, node, x, n);
    F[0] = cos(a), F[1] = sin(a);
}

static void wave_push(const cr_kernel *k, const cri_node *node, const double *x, const double *dx,
                      size_t n, double *T)
{
    double a = phase(k, node, x, n), da = 0;
    for (size_t c = 0; c < n; c++) da += TWO_PI * dx[c] / cri_value(k, node, PERIOD, c);
    T[0] = -sin(a) * da, T[1] = cos(a) * da;
}

static void wave_tangent(const cr_kernel *k, const cri_node *node, size_t s, size_t e,
                         const double *x, size_t n, double *T)
{
    double a = phase(k, node, x, n), da = 0;
    for (size_t c = 0; c < n; c++) {
        double p = cri_value(k, node, PERIOD, c);
        if (node->n_values[s] == 1 || c == e) da -= TWO_PI * x[c] / (p * p);
    }
    T[0] = -sin(a) * da, T[1] = cos(a) * da;
}

static const cri_spec cosine_specs[] = {
    CRI_LEARNED("p", "period", "1", ">0", "period; ard: one per column", CRI_MAP, CRI_LOG, 1),
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_cosine = {
    .name = "cosine",
    .aliases = "cos",
    .summary = "a sine wave of any phase and amplitude",
    .formula = "k(x, y) = cos(2 pi sum_d (x_d - y_d) / p_d)",
    .reference = "Wilson & Adams (2013), Gaussian process kernels for pattern discovery and "
                 "extrapolation, eq. 12 without decay",
    .example = "cosine(t; p=12)",
    .specs = cosine_specs,
    .family = CRI_DOT,
    .kind = CR_KERNEL_NUMBER,
    .width = one_circle,
    .map = wave_map,
    .push = wave_push,
    .tangent = wave_tangent,
    .link = cri_same_link,
    .slope = cri_same_slope,
};
