/* pairs.c -- kernels of numbers that are computed pair by pair, and the constant and the white one.
 * Features are the columns themselves. */
#include "kernel_internal.h"

#include <math.h>

/* --- constant, white ------------------------------------------------------------------------- */

static const cri_spec constant_specs[] = {
    CRI_LEARNED("variance", "v", "1", ">0", "its value", CRI_LINK, CRI_LOG, 1),
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_constant = {
    .name = "constant",
    .summary = "the same for all pairs: an unknown mean, or an amplitude in a product",
    .formula = "k(x, y) = variance\n"
               "A plain number in an expression is this kernel.",
    .reference = "Rasmussen & Williams (2006), sec. 4.2.2",
    .example = "constant(2)",
    .specs = constant_specs,
    .family = CRI_CONSTANT,
    .kind = CRI_NONE,
};

static const cri_spec white_specs[] = {
    CRI_LEARNED("variance", "v", "1", ">0", "variance of the noise", CRI_LINK, CRI_LOG, 1),
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_white = {
    .name = "white",
    .aliases = "noise",
    .summary = "independent noise: on the diagonal of a Gram matrix, zero between two sets",
    .formula = "k(x_i, x_j) = variance if i = j, else 0",
    .reference = "Rasmussen & Williams (2006), eq. 2.20",
    .example = "white(0.1)",
    .specs = white_specs,
    .family = CRI_WHITE,
    .kind = CRI_NONE,
};

/* --- pair by pair ---------------------------------------------------------------------------- */

/* A value, and `weight` times its derivative by y added to d; p is the parameter, if there is
 * one. */
typedef double pair_fn(const double *x, const double *y, size_t n, double p);
typedef void   pair_dx_fn(const double *x, const double *y, size_t n, double weight, double *d);

static void fill_pairs(const cri_job *job, size_t node, cri_tile tile, pair_fn *one, double p,
                       double *out)
{
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            const double *x = cri_feature_row(&job->a, node, tile.i0 + i);
            const double *y = tile.diagonal ? x : cri_feature_row(&job->b, node, tile.j0 + j);
            out[i * tile.nj + j] = one(x, y, job->a.node[node].width, p);
        }
}

static void add_pairs_dx(const cri_job *job, size_t node, cri_tile tile, pair_dx_fn *one,
                         const double *weight, double *FA)
{
    size_t n = job->a.node[node].width;
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            const double *x = cri_feature_row(&job->a, node, tile.i0 + i);
            const double *y = tile.diagonal ? x : cri_feature_row(&job->b, node, tile.j0 + j);
            one(x, y, n, weight[i * tile.nj + j],
                FA + (tile.diagonal ? tile.i0 + i : tile.j0 + j) * n);
        }
}

/* --- chi2 ------------------------------------------------------------------------------------ */

static double gamma_of(const cri_job *job, size_t node)
{
    return cri_value(job->k, &job->k->nodes[node], 0, 0);
}

static double chi_square(const double *x, const double *y, size_t n, double factor)
{
    double sum = 0;
    for (size_t c = 0; c < n; c++) {
        double s = x[c] + y[c], d = x[c] - y[c];
        if (s > 0) sum += d * d / s;
    }
    return factor * sum;
}

static void chi_square_dx(const double *x, const double *y, size_t n, double weight, double *d)
{
    for (size_t c = 0; c < n; c++) {
        double s = x[c] + y[c];
        if (s > 0) d[c] += weight * ((y[c] - x[c]) / s) * ((y[c] + 3 * x[c]) / s);
    }
}

/* exp(-gamma D) of a distance D: values, the derivative by gamma, and that by the features. */
#define OF_DISTANCE(name, distance, distance_dx)                                                   \
    static void name##_pairs(const cri_job *job, size_t node, cri_tile tile, double *out)          \
    {                                                                                              \
        fill_pairs(job, node, tile, distance, -gamma_of(job, node), out);                          \
        cri_exp_array(out, tile.ni *tile.nj);                                                      \
    }                                                                                              \
    static void name##_partial(const cri_job *job, size_t node, size_t s, size_t e, cri_tile tile, \
                               const double *v, double *out)                                       \
    {                                                                                              \
        (void)s, (void)e;                                                                          \
        fill_pairs(job, node, tile, distance, -1, out);                                            \
        cri_multiply_array(out, v, tile.ni *tile.nj, out);                                         \
    }                                                                                              \
    static void name##_dx(const cri_job *job, size_t node, cri_tile tile, const double *v,         \
                          const double *adjoint, double *FA)                                       \
    {                                                                                              \
        double weight[CRI_AREA];                                                                   \
        for (size_t i = 0; i < tile.ni * tile.nj; i++)                                             \
            weight[i] = -gamma_of(job, node) * adjoint[i] * v[i];                                  \
        add_pairs_dx(job, node, tile, distance_dx, weight, FA);                                    \
    }

OF_DISTANCE(chi2, chi_square, chi_square_dx)

static const cri_spec chi2_specs[] = {
    CRI_LEARNED("gamma", NULL, "1", ">0", "how fast it falls", CRI_LINK, CRI_LOG, 1),
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_chi2 = {
    .name = "chi2",
    .summary = "histograms, compared by the chi-square distance",
    .formula = "k(x, y) = exp(-gamma sum_d (x_d - y_d)^2 / (x_d + y_d)),  x, y >= 0,  0/0 = 0",
    .reference = "Zhang, Marszalek, Lazebnik & Schmid (2007), IJCV 73(2)",
    .example = "chi2(gamma=0.5)",
    .specs = chi2_specs,
    .family = CRI_PAIRS,
    .kind = CR_KERNEL_NUMBER,
    .not_negative = true,
    .pairs = chi2_pairs,
    .pairs_partial = chi2_partial,
    .pairs_dx = chi2_dx,
};

/* --- Jensen-Shannon -------------------------------------------------------------------------- */

/* With s = x + y and t = (x - y) / s, a column adds s g(t) / 4 to the divergence of the measures x
 * and y, sum_d [x log(2 x / s) + y log(2 y / s)] / 2, where
 *     g(t) = (1 + t) log(1 + t) + (1 - t) log(1 - t) = log(1 - t^2) + 2 t atanh t,
 * the latter sharp for small t. */
static double bent(double t)
{
    if (fabs(t) < 0.5) return log1p(-t * t) + 2 * t * atanh(t);
    double up = t > -1 ? (1 + t) * log1p(t) : 0, down = t < 1 ? (1 - t) * log1p(-t) : 0;
    return up + down;
}

static double shannon(const double *x, const double *y, size_t n, double factor)
{
    double sum = 0;
    for (size_t c = 0; c < n; c++) {
        double s = x[c] + y[c];
        if (s > 0) sum += 0.25 * s * bent((x[c] - y[c]) / s);
    }
    return factor * sum;
}

/* log(2 y / s) / 2; at y = 0, where it is infinite, taken as 0. */
static void shannon_dx(const double *x, const double *y, size_t n, double weight, double *d)
{
    for (size_t c = 0; c < n; c++)
        if (y[c] > 0) d[c] += weight * 0.5 * log1p((y[c] - x[c]) / (x[c] + y[c]));
}

OF_DISTANCE(exp_jensen_shannon, shannon, shannon_dx)

const cr_kernel_class cri_kernel_exp_jensen_shannon = {
    .name = "exp_jensen_shannon",
    .aliases = "exp_js",
    .summary = "discrete distributions, one per row, compared by the Jensen-Shannon divergence",
    .formula =
        "k(x, y) = exp(-gamma D),  D = sum_d [x_d log(x_d / m_d) + y_d log(y_d / m_d)] / 2,\n"
        "m = (x + y) / 2,  x, y >= 0,  0 log 0 = 0",
    .reference = "Martins, Smith, Xing, Aguiar & Figueiredo (2009), JMLR 10",
    .example = "exp_jensen_shannon(gamma=2)",
    .specs = chi2_specs,
    .family = CRI_PAIRS,
    .kind = CR_KERNEL_NUMBER,
    .not_negative = true,
    .pairs = exp_jensen_shannon_pairs,
    .pairs_partial = exp_jensen_shannon_partial,
    .pairs_dx = exp_jensen_shannon_dx,
};

/* --- kernels without parameters -------------------------------------------------------------- */

#define WITHOUT_PARAMETERS(name, value, value_dx)                                                  \
    static void name##_pairs(const cri_job *job, size_t node, cri_tile tile, double *out)          \
    {                                                                                              \
        fill_pairs(job, node, tile, value, 0, out);                                                \
    }                                                                                              \
    static void name##_dx(const cri_job *job, size_t node, cri_tile tile, const double *v,         \
                          const double *adjoint, double *FA)                                       \
    {                                                                                              \
        (void)v;                                                                                   \
        add_pairs_dx(job, node, tile, value_dx, adjoint, FA);                                      \
    }

static const cri_spec no_specs[] = { CRI_LAST_SPEC };

static double least_sum(const double *x, const double *y, size_t n, double unused)
{
    double sum = 0;
    (void)unused;
    for (size_t c = 0; c < n; c++) sum += x[c] < y[c] ? x[c] : y[c];
    return sum;
}

/* The derivative of min at a tie is taken as a half, so that that of min(x, x) = x comes out as
 * 1. */
static double min_slope(double x, double y) { return y < x ? 1 : y > x ? 0 : 0.5; }

static void least_sum_dx(const double *x, const double *y, size_t n, double weight, double *d)
{
    for (size_t c = 0; c < n; c++) d[c] += weight * min_slope(x[c], y[c]);
}

WITHOUT_PARAMETERS(intersection, least_sum, least_sum_dx)

const cr_kernel_class cri_kernel_intersection = {
    .name = "intersection",
    .aliases = "histogram",
    .summary = "histograms: what they have in common",
    .formula = "k(x, y) = sum_d min(x_d, y_d),  x, y >= 0",
    .reference =
        "Barla, Odone & Verri (2003), Histogram intersection kernel for image classification",
    .example = "intersection",
    .specs = no_specs,
    .family = CRI_PAIRS,
    .kind = CR_KERNEL_NUMBER,
    .not_negative = true,
    .pairs = intersection_pairs,
    .pairs_dx = intersection_dx,
};

static double root_sum(const double *x, const double *y, size_t n, double unused)
{
    double sum = 0;
    (void)unused;
    for (size_t c = 0; c < n; c++) sum += sqrt(x[c]) * sqrt(y[c]);
    return sum;
}

static void root_sum_dx(const double *x, const double *y, size_t n, double weight, double *d)
{
    for (size_t c = 0; c < n; c++)
        if (y[c] > 0) d[c] += weight * 0.5 * sqrt(x[c]) / sqrt(y[c]);
}

WITHOUT_PARAMETERS(bhattacharyya, root_sum, root_sum_dx)

const cr_kernel_class cri_kernel_bhattacharyya = {
    .name = "bhattacharyya",
    .summary = "probability product kernel of discrete distributions, one per row",
    .formula = "k(x, y) = sum_d sqrt(x_d y_d),  x, y >= 0",
    .reference = "Jebara, Kondor & Howard (2004), Probability product kernels, JMLR 5, rho = 1/2",
    .example = "bhattacharyya",
    .specs = no_specs,
    .family = CRI_PAIRS,
    .kind = CR_KERNEL_NUMBER,
    .not_negative = true,
    .pairs = bhattacharyya_pairs,
    .pairs_dx = bhattacharyya_dx,
};

/* log 2 less the divergence, for measures of any mass. */
static double shannon_common(const double *x, const double *y, size_t n, double unused)
{
    double mass = 0;
    (void)unused;
    for (size_t c = 0; c < n; c++) mass += x[c] + y[c];
    return 0.5 * M_LN2 * mass - shannon(x, y, n, 1);
}

static void shannon_common_dx(const double *x, const double *y, size_t n, double weight, double *d)
{
    for (size_t c = 0; c < n; c++)
        if (y[c] > 0) d[c] += weight * 0.5 * log1p(x[c] / y[c]);
}

WITHOUT_PARAMETERS(jensen_shannon, shannon_common, shannon_common_dx)

const cr_kernel_class cri_kernel_jensen_shannon = {
    .name = "jensen_shannon",
    .aliases = "js",
    .summary = "discrete distributions, one per row: log 2 minus their Jensen-Shannon divergence",
    .formula = "k(x, y) = sum_d [x_d log((x_d + y_d) / x_d) + y_d log((x_d + y_d) / y_d)] / 2\n"
               "        = log 2 - D for x, y of sum 1, D as in exp_jensen_shannon;  x, y >= 0",
    .reference = "Hein & Bousquet (2005), Hilbertian metrics and positive definite kernels on "
                 "probability measures",
    .example = "jensen_shannon",
    .specs = no_specs,
    .family = CRI_PAIRS,
    .kind = CR_KERNEL_NUMBER,
    .not_negative = true,
    .pairs = jensen_shannon_pairs,
    .pairs_dx = jensen_shannon_dx,
};

static bool same_side(double x, double y) { return (x > 0 && y > 0) || (x < 0 && y < 0); }

static double walk_one(double x, double y) { return same_side(x, y) ? fmin(fabs(x), fabs(y)) : 0; }

static double walk(const double *x, const double *y, size_t n, double unused)
{
    double product = 1;
    (void)unused;
    for (size_t c = 0; c < n; c++) product *= walk_one(x[c], y[c]);
    return product;
}

static void walk_dx(const double *x, const double *y, size_t n, double weight, double *d)
{
    for (size_t c = 0; c < n; c++) {
        double others = weight;
        for (size_t q = 0; q < n; q++)
            if (q != c) others *= walk_one(x[q], y[q]);
        if (same_side(x[c], y[c]))
            d[c] += others * min_slope(fabs(x[c]), fabs(y[c])) * (y[c] > 0 ? 1 : -1);
    }
}

WITHOUT_PARAMETERS(brownian, walk, walk_dx)

const cr_kernel_class cri_kernel_brownian = {
    .name = "brownian",
    .aliases = "wiener",
    .summary = "a random walk that starts at 0",
    .formula = "k(x, y) = prod_d min(|x_d|, |y_d|) where x_d and y_d have the same sign, else 0",
    .reference = "Rasmussen & Williams (2006), sec. B.2.1",
    .example = "brownian(t)",
    .specs = no_specs,
    .family = CRI_PAIRS,
    .kind = CR_KERNEL_NUMBER,
    .pairs = brownian_pairs,
    .pairs_dx = brownian_dx,
};
