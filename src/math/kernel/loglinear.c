/* loglinear.c -- an amplitude whose logarithm is linear in columns: F = exp(z . slope), k = F F'.
 * In a product with white it is noise whose log sd is linear in them. */
#include "kernel_internal.h"

#include <math.h>

enum { SLOPE = 0, CENTRE = 1, SCALE = 2 };

size_t cri_loglinear_centre(const cri_node *node) { return node->param[CENTRE]; }
size_t cri_loglinear_scale(const cri_node *node) { return node->param[SCALE]; }

static size_t one_feature(const cri_node *node, size_t n)
{
    (void)node, (void)n;
    return 1;
}

static double standardised(const cr_kernel *k, const cri_node *node, const double *x, size_t c)
{
    return (x[c] - cri_value(k, node, CENTRE, c)) / cri_value(k, node, SCALE, c);
}

static void amplitude_map(const cr_kernel *k, const cri_node *node, const double *x, size_t n,
                          double *F)
{
    double sum = 0;
    for (size_t c = 0; c < n; c++)
        sum += cri_value(k, node, SLOPE, c) * standardised(k, node, x, c);
    F[0] = exp(sum);
}

static void amplitude_push(const cr_kernel *k, const cri_node *node, const double *x,
                           const double *dx, size_t n, double *T)
{
    double change = 0;
    amplitude_map(k, node, x, n, T);
    for (size_t c = 0; c < n; c++)
        change += cri_value(k, node, SLOPE, c) * dx[c] / cri_value(k, node, SCALE, c);
    T[0] *= change;
}

static void amplitude_tangent(const cr_kernel *k, const cri_node *node, size_t s, size_t e,
                              const double *x, size_t n, double *T)
{
    double change = 0;
    amplitude_map(k, node, x, n, T);
    for (size_t c = 0; c < n; c++) {
        double z = standardised(k, node, x, c), slope = cri_value(k, node, SLOPE, c);
        double scale = cri_value(k, node, SCALE, c);
        if (node->n_values[s] > 1 && c != e) continue;
        change += s == SLOPE ? z : s == CENTRE ? -slope / scale : -slope * z / scale;
    }
    T[0] *= change;
}

static const cri_spec loglinear_specs[] = {
    CRI_LEARNED("slope", "g", "0", "",
                "change of the logarithm per unit of scale; ard: one per column", CRI_MAP, CRI_REAL,
                0),
    { { "centre", "center", "0", "", "where the amplitude is 1; one, or one per column", false },
      CRI_MAP,
      CRI_REAL,
      0,
      0,
      0,
      false },
    { { "scale", NULL, "1", ">0", "unit of the columns; one, or one per column", false },
      CRI_MAP,
      CRI_LOG,
      1,
      0,
      0,
      false },
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_loglinear = {
    .name = "loglinear",
    .summary = "an amplitude that grows exponentially: white*loglinear(x) is such noise",
    .formula = "k(x, y) = a(x) a(y),   log a(x) = sum_d slope_d (x_d - centre_d) / scale_d",
    .reference = "Harvey (1976), Estimating regression models with multiplicative "
                 "heteroscedasticity, Econometrica 44",
    .example = "loglinear(x; slope=0.5)",
    .specs = loglinear_specs,
    .family = CRI_DOT,
    .kind = CR_KERNEL_NUMBER,
    .width = one_feature,
    .map = amplitude_map,
    .push = amplitude_push,
    .tangent = amplitude_tangent,
    .link = cri_same_link,
    .slope = cri_same_slope,
};
