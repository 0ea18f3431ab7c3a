/* fisher.c -- the Fisher kernel of a fitted normal distribution, or of any family with one natural
 * parameter and statistic x (Poisson, exponential, Bernoulli): inner products of scores in the
 * metric of the Fisher information, U(x)^T I^-1 U(y) with U = d log p / d theta, which does not
 * depend on how the family is parametrised.  With z = S^-1 (x - mean), S S^T the covariance, the
 * features I^-1/2 U are
 *   order 1   z;
 *   order 2   also (z_c^2 - 1)/sqrt 2 and, where S is a matrix, z_b z_c for b < c: the covariance is a
 *             parameter too.
 * Jaakkola & Haussler (1999), Exploiting generative models in discriminative classifiers, NIPS
 * 11. */
#include "kernel_internal.h"

#include <math.h>

enum { MEAN = 0, SD = 1, ORDER = 2 };

/* S is a lower triangle, row by row, rather than one number a column. */
static bool is_full(const cri_node *node, size_t n) { return n > 1 && node->n_values[SD] == n * n; }

static size_t fisher_width(const cri_node *node, size_t n)
{
    if (node->setting[ORDER] == 1) return n;
    return is_full(node, n) ? n + n * (n + 1) / 2 : 2 * n;
}

/* out = S^-1 x; out may be x. */
static void whiten(const cr_kernel *k, const cri_node *node, const double *x, size_t n, double *out)
{
    bool full = is_full(node, n);
    for (size_t c = 0; c < n; c++) {
        double left = x[c];
        for (size_t b = 0; full && b < c; b++) left -= cri_value(k, node, SD, c * n + b) * out[b];
        out[c] = left / cri_value(k, node, SD, full ? c * n + c : c);
    }
}

static void fisher_map(const cr_kernel *k, const cri_node *node, const double *x, size_t n,
                       double *F)
{
    for (size_t c = 0; c < n; c++) F[c] = x[c] - cri_value(k, node, MEAN, c);
    whiten(k, node, F, n, F);
    double *out = F + n;
    for (size_t c = 0; node->setting[ORDER] == 2 && c < n; c++) {
        *out++ = (F[c] * F[c] - 1) * M_SQRT1_2;
        for (size_t b = 0; is_full(node, n) && b < c; b++) *out++ = F[b] * F[c];
    }
}

static void fisher_push(const cr_kernel *k, const cri_node *node, const double *x, const double *dx,
                        size_t n, double *T)
{
    double *out = T + n;
    whiten(k, node, dx, n, T); /* dz */
    if (node->setting[ORDER] == 1) return;
    for (size_t c = 0; c < n; c++) { /* z again, one by one, in the place of what follows from it */
        double z = x[c] - cri_value(k, node, MEAN, c);
        bool   full = is_full(node, n);
        for (size_t b = 0; full && b < c; b++) {
            size_t at = n + b * (b + 1) / 2; /* where z_b is kept until the end */
            z -= cri_value(k, node, SD, c * n + b) * T[at];
        }
        z /= cri_value(k, node, SD, full ? c * n + c : c);
        T[full ? n + c * (c + 1) / 2 : n + c] = z;
    }
    if (!is_full(node, n)) {
        for (size_t c = 0; c < n; c++) out[c] *= M_SQRT2 * T[c];
        return;
    }
    for (size_t c = n; c-- > 0;) { /* from the end, so that z_b, b <= c, are still there */
        double *row = out + c * (c + 1) / 2, z = row[0];
        for (size_t b = c; b-- > 0;) row[1 + b] = T[b] * z + out[b * (b + 1) / 2] * T[c];
        row[0] = M_SQRT2 * z * T[c];
    }
}

static const cri_spec fisher_specs[] = {
    { { "mean", NULL, "0", "", "mean of each column in the fitted model", false },
      CRI_LINK,
      CRI_REAL,
      0,
      0,
      0,
      false },
    { { "sd", NULL, "1", "", "sd of each column; or S, the rows of a root of the covariance",
        false },
      CRI_LINK,
      CRI_REAL,
      1,
      0,
      0,
      false },
    CRI_GIVEN("order", NULL, "2", "1..2", "1: the score of the mean alone", 2, 1, 2, false),
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_fisher = {
    .name = "fisher",
    .summary = "the Fisher kernel of a fitted model: fisher(file=\"model.cred\"), or its numbers",
    .formula = "k(x, y) = U(x)^T I^-1 U(y),   U(x) = d log p(x | theta) / d theta\n"
               "of normal (also mvn): z.z' + sum_c (z_c^2 - 1)(z'_c^2 - 1) / 2 [+ sum_b<c z_b z_c "
               "z'_b z'_c],\n"
               "z = S^-1 (x - mean); of poisson, exponential, beta-bernoulli: z.z' (order 1)",
    .reference =
        "Jaakkola & Haussler (1999), Exploiting generative models in discriminative classifiers",
    .example = "fisher(x1, x2; mean=[0,1], sd=[1,2])",
    .specs = fisher_specs,
    .family = CRI_DOT,
    .kind = CR_KERNEL_NUMBER,
    .width = fisher_width,
    .map = fisher_map,
    .push = fisher_push,
    .link = cri_same_link,
    .slope = cri_same_slope,
};
