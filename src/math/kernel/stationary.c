/* stationary.c -- kernels of a squared distance t = |F_i - F_j|^2: rbf, matern, rq, periodic.
 * Periodic is the rbf of the points (cos, sin)(2 pi x / p) on circles: |difference|^2 is
 * 4 sin^2(pi (x - y) / p) (MacKay 1998). */
#include "kernel_internal.h"
#include "math/special/special.h"

#include <math.h>

#define LENGTH(text)                                                                               \
    {                                                                                              \
        { "l", "lengthscale", "1", ">0", text, true }, CRI_LENGTH, CRI_LOG, 1, 0, 0, false         \
    }

/* --- rbf ------------------------------------------------------------------------------------- */

static void rbf_link(const cr_kernel *k, const cri_node *node, const double *t, size_t n,
                     double *out)
{
    (void)k, (void)node;
    for (size_t i = 0; i < n; i++) out[i] = -0.5 * t[i];
    cri_exp_array(out, n);
}

static void rbf_slope(const cr_kernel *k, const cri_node *node, const double *t, const double *v,
                      size_t n, double *out)
{
    (void)k, (void)node, (void)t;
    for (size_t i = 0; i < n; i++) out[i] = -0.5 * v[i];
}

static const cri_spec rbf_specs[] = {
    LENGTH("length-scale: the distance over which the function changes; ard: one per column"),
    CRI_WARP_SPECS,
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_rbf = {
    .name = "rbf",
    .aliases = "se gaussian",
    .summary = "squared exponential: very smooth functions",
    .formula = "k(x, y) = exp(-t / 2),  t = sum_d (x_d - y_d)^2 / l_d^2\n"
               "over a base kernel b:  t = (b(x,x) - 2 b(x,y) + b(y,y)) / l^2\n"
               "gamma=g stands for l = 1 / sqrt(2 g):  k(x, y) = exp(-g |x - y|^2)",
    .reference = "Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, eq. 4.9",
    .example = "rbf(l=0.5, ard)",
    .specs = rbf_specs,
    .family = CRI_DISTANCE,
    .kind = CR_KERNEL_NUMBER,
    .base = true,
    .warps = true,
    .link = rbf_link,
    .slope = rbf_slope,
};

/* --- matern ---------------------------------------------------------------------------------- */

enum { NU = 1, MOST_HALF = 10 };

/* nu = p + 1/2 gives p; else -1. */
static int half_integer(double nu)
{
    double p = nu - 0.5;
    return p >= 0 && p <= MOST_HALF && p == floor(p) ? (int)p : -1;
}

/* M_{p + 1/2}(z) exp(z) = sum_i c_i z^i, c_i = p! / (2p)! (2p - i)! / ((p - i)! i!) 2^i: from R&W
 * eq. 4.16 with z = sqrt(2 nu) r. */
static void half_coefficients(int p, double *c)
{
    c[0] = 1;
    for (int i = 0; i < p; i++) c[i + 1] = c[i] * 2 * (p - i) / ((2.0 * p - i) * (i + 1));
}

/* M_nu(sqrt(scale t)) = 2^(1 - nu) / Gamma(nu) z^nu K_nu(z) at z^2 = scale t. */
static void half_values(int p, double scale, const double *t, size_t n, double *out)
{
    double c[MOST_HALF + 1], part[CRI_TILE];
    half_coefficients(p, c);
    for (size_t begin = 0; begin < n; begin += CRI_TILE) {
        size_t m = n - begin < CRI_TILE ? n - begin : CRI_TILE;
        double sum[CRI_TILE];
        for (size_t i = 0; i < m; i++) {
            double z = sqrt(scale * t[begin + i]), s = c[p];
            for (int q = p; q-- > 0;) s = s * z + c[q];
            part[i] = -z, sum[i] = s;
        }
        cri_exp_array(part, m);
        for (size_t i = 0; i < m; i++) out[begin + i] = part[i] > 0 ? sum[i] * part[i] : 0;
    }
}

static void bessel_values(double nu, double scale, const double *t, size_t n, double *out)
{
    const double log_scale = (1 - nu) * 0.69314718055994530942 - cr_lgamma_abs(nu);
    for (size_t i = 0; i < n; i++) {
        double z = sqrt(scale * t[i]);
        out[i] = z < 1e-150 ? 1 : exp(log_scale + nu * log(z) + cr_log_bessel_k(nu, z));
        if (z > 1e6) out[i] = 0;
    }
}

static void matern_values(double nu, double scale, const double *t, size_t n, double *out)
{
    int p = half_integer(nu);
    if (p >= 0)
        half_values(p, scale, t, n, out);
    else
        bessel_values(nu, scale, t, n, out);
}

static void matern_link(const cr_kernel *k, const cri_node *node, const double *t, size_t n,
                        double *out)
{
    (void)k;
    matern_values(node->setting[NU], 2 * node->setting[NU], t, n, out);
}

/* f'(t) = -nu 2^(1 - nu) / Gamma(nu) z^(nu - 1) K_(nu - 1)(z), which is -nu / (2 nu - 2) M_(nu - 1)
 * for nu > 1.  For nu <= 1 it has a pole at 0, where what it is multiplied by vanishes: 0 there. */
static void matern_slope(const cr_kernel *k, const cri_node *node, const double *t, const double *v,
                         size_t n, double *out)
{
    const double nu = node->setting[NU];
    (void)k;
    if (nu > 1) {
        matern_values(nu - 1, 2 * nu, t, n, out);
        for (size_t i = 0; i < n; i++) out[i] *= -nu / (2 * nu - 2);
        return;
    }
    const double log_scale = log(nu) + (1 - nu) * 0.69314718055994530942 - cr_lgamma_abs(nu);
    for (size_t i = 0; i < n; i++) {
        double z = sqrt(2 * nu * t[i]);
        if (z < 1e-150)
            out[i] = 0;
        else if (nu == 0.5)
            out[i] = -0.5 * v[i] / z;
        else
            out[i] = -exp(log_scale + (nu - 1) * log(z) + cr_log_bessel_k(1 - nu, z));
    }
}

static const cri_spec matern_specs[] = {
    LENGTH("length-scale; ard: one per column"),
    CRI_GIVEN("nu", NULL, "1.5", "0<..<100",
              "smoothness: 0.5, 1.5 and 2.5 are fast, any other is slow", 1.5, 1e-3, 100, true),
    CRI_WARP_SPECS,
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_matern = {
    .name = "matern",
    .aliases = "matern12 matern32 matern52",
    .summary = "functions of chosen smoothness: they have ceil(nu) - 1 derivatives",
    .formula = "k(x, y) = 2^(1-nu) / Gamma(nu) z^nu K_nu(z),  z^2 = 2 nu t,  t as in rbf\n"
               "nu = 0.5: exp(-z);  1.5: (1 + z) exp(-z);  2.5: (1 + z + z^2/3) exp(-z)",
    .reference = "Rasmussen & Williams (2006), eq. 4.14-4.17",
    .example = "matern(nu=2.5, l=2)",
    .specs = matern_specs,
    .family = CRI_DISTANCE,
    .kind = CR_KERNEL_NUMBER,
    .base = true,
    .warps = true,
    .link = matern_link,
    .slope = matern_slope,
};

/* --- rational quadratic ---------------------------------------------------------------------- */

enum { ALPHA = 1 };

static void rq_link(const cr_kernel *k, const cri_node *node, const double *t, size_t n,
                    double *out)
{
    const double alpha = cri_value(k, node, ALPHA, 0);
    for (size_t i = 0; i < n; i++) out[i] = -alpha * log1p(t[i] / (2 * alpha));
    cri_exp_array(out, n);
}

static void rq_slope(const cr_kernel *k, const cri_node *node, const double *t, const double *v,
                     size_t n, double *out)
{
    const double alpha = cri_value(k, node, ALPHA, 0);
    for (size_t i = 0; i < n; i++) out[i] = -0.5 * v[i] / (1 + t[i] / (2 * alpha));
}

static void rq_partial(const cr_kernel *k, const cri_node *node, size_t s, const double *t,
                       const double *v, size_t n, double *out)
{
    const double alpha = cri_value(k, node, ALPHA, 0);
    (void)s;
    for (size_t i = 0; i < n; i++) {
        double u = t[i] / (2 * alpha);
        out[i] = v[i] * (u / (1 + u) - log1p(u));
    }
}

static const cri_spec rq_specs[] = {
    LENGTH("length-scale; ard: one per column"),
    CRI_LEARNED("alpha", NULL, "1", ">0",
                "mixture of scales: small is a wide mixture, large is close to rbf", CRI_LINK,
                CRI_LOG, 1),
    CRI_WARP_SPECS,
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_rq = {
    .name = "rq",
    .summary = "rational quadratic: a mixture of rbf over many length-scales",
    .formula = "k(x, y) = (1 + t / (2 alpha))^-alpha,  t as in rbf",
    .reference = "Rasmussen & Williams (2006), eq. 4.19",
    .example = "rq(l=1, alpha=0.5)",
    .specs = rq_specs,
    .family = CRI_DISTANCE,
    .kind = CR_KERNEL_NUMBER,
    .base = true,
    .warps = true,
    .link = rq_link,
    .slope = rq_slope,
    .partial = rq_partial,
};

/* --- periodic -------------------------------------------------------------------------------- */

enum { PERIOD = 1 };
static const double TWO_PI = 6.28318530717958647693;

static size_t circles(const cri_node *node, size_t n)
{
    (void)node;
    return 2 * n;
}

/* The angle, with whole turns taken off while that is exact. */
static double angle(const cr_kernel *k, const cri_node *node, const double *x, size_t c)
{
    double p = cri_value(k, node, PERIOD, c);
    return TWO_PI * (remainder(x[c], p) / p);
}

static void circle_map(const cr_kernel *k, const cri_node *node, const double *x, size_t n,
                       double *F)
{
    for (size_t c = 0; c < n; c++) {
        double a = angle(k, node, x, c);
        F[2 * c] = cos(a), F[2 * c + 1] = sin(a);
    }
}

static void circle_push(const cr_kernel *k, const cri_node *node, const double *x, const double *dx,
                        size_t n, double *T)
{
    for (size_t c = 0; c < n; c++) {
        double a = angle(k, node, x, c), da = TWO_PI / cri_value(k, node, PERIOD, c) * dx[c];
        T[2 * c] = -sin(a) * da, T[2 * c + 1] = cos(a) * da;
    }
}

static void circle_tangent(const cr_kernel *k, const cri_node *node, size_t s, size_t e,
                           const double *x, size_t n, double *T)
{
    bool one = node->n_values[s] == 1;
    for (size_t c = 0; c < n; c++) {
        double p = cri_value(k, node, PERIOD, c), a = angle(k, node, x, c);
        double da = one || c == e ? -TWO_PI * x[c] / (p * p) : 0;
        T[2 * c] = -sin(a) * da, T[2 * c + 1] = cos(a) * da;
    }
}

static const cri_spec periodic_specs[] = {
    LENGTH("length-scale within a period; ard: one per column"),
    CRI_LEARNED("p", "period", "1", ">0", "period", CRI_MAP, CRI_LOG, 1),
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_periodic = {
    .name = "periodic",
    .summary = "functions that repeat after p",
    .formula = "k(x, y) = exp(-2 sum_d sin^2(pi (x_d - y_d) / p) / l_d^2)",
    .reference = "MacKay (1998), Introduction to Gaussian processes, sec. 4.2; "
                 "Rasmussen & Williams (2006), eq. 4.31",
    .example = "periodic(month; p=12)",
    .specs = periodic_specs,
    .family = CRI_DISTANCE,
    .kind = CR_KERNEL_NUMBER,
    .width = circles,
    .map = circle_map,
    .push = circle_push,
    .tangent = circle_tangent,
    .link = rbf_link,
    .slope = rbf_slope,
};
