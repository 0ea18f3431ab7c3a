/* kernels_vector.c -- operations that look at more than one entry: sums, products, matrices. */
#include "kernels.h"

#include <math.h>
#include <string.h>

/* --- gather ---------------------------------------------------------------------------------- */

static void gather(const cri_tape_op *op, double *v)
{
    for (uint32_t i = 0; i < op->n; i++) v[op->out + i] = v[op->index[i]];
}

/* Adjoints of constants are written too: nobody reads them. */
static void gather_back(const cri_tape_op *op, const double *v, double *a)
{
    (void)v;
    for (uint32_t i = 0; i < op->n; i++) a[op->index[i]] += a[op->out + i];
}
const cri_tape_kernel cri_kernel_gather = {
    "gather", gather, gather_back, false, false, NULL, NULL
};

/* --- from a vector to a number --------------------------------------------------------------- */

static void sum(const cri_tape_op *op, double *v)
{
    double total = 0;
    for (uint32_t i = 0; i < op->n; i++) total += v[op->in[0].at + i];
    v[op->out] = total;
}
static void sum_back(const cri_tape_op *op, const double *v, double *a)
{
    (void)v;
    double da = a[op->out];
    for (uint32_t i = 0; i < op->n; i++) a[op->in[0].at + i] += da;
}
const cri_tape_kernel cri_kernel_sum = { "sum", sum, sum_back, false, true, NULL, NULL };

static void dot(const cri_tape_op *op, double *v)
{
    const double *x = v + op->in[0].at, *z = v + op->in[1].at;
    double        total = 0;
    for (uint32_t i = 0; i < op->n; i++) total += x[i] * z[i];
    v[op->out] = total;
}
static void dot_back(const cri_tape_op *op, const double *v, double *a)
{
    const double *x = v + op->in[0].at, *z = v + op->in[1].at;
    double       *dx = a + op->in[0].at, *dz = a + op->in[1].at, da = a[op->out];
    for (uint32_t i = 0; i < op->n && !op->in[0].constant; i++) dx[i] += da * z[i];
    for (uint32_t i = 0; i < op->n && !op->in[1].constant; i++) dz[i] += da * x[i];
}
const cri_tape_kernel cri_kernel_dot = { "dot", dot, dot_back, false, true, NULL, NULL };

static void product(const cri_tape_op *op, double *v)
{
    double total = 1;
    for (uint32_t i = 0; i < op->n; i++) total *= v[op->in[0].at + i];
    v[op->out] = total;
}
/* Products of all others, from both ends: right with zeros too. */
static void product_back(const cri_tape_op *op, const double *v, double *a)
{
    const double *x = v + op->in[0].at;
    double        before = 1, da = a[op->out];
    for (uint32_t i = 0; i < op->n; i++) {
        double after = 1;
        if (x[i] != 0)
            after = v[op->out] / x[i] / before;
        else
            for (uint32_t k = i + 1; k < op->n; k++) after *= x[k];
        if (before != 0) a[op->in[0].at + i] += da * before * after;
        before *= x[i];
    }
}
const cri_tape_kernel cri_kernel_prod = { "prod", product, product_back, false, true, NULL, NULL };

static void log_sum_exp(const cri_tape_op *op, double *v)
{
    const double *x = v + op->in[0].at;
    double        top = -INFINITY, total = 0;
    for (uint32_t i = 0; i < op->n; i++) top = fmax(top, x[i]);
    for (uint32_t i = 0; i < op->n && isfinite(top); i++) total += exp(x[i] - top);
    v[op->out] = isfinite(top) ? top + log(total) : top;
}
static void log_sum_exp_back(const cri_tape_op *op, const double *v, double *a)
{
    double y = v[op->out], da = a[op->out];
    for (uint32_t i = 0; i < op->n && isfinite(y); i++)
        a[op->in[0].at + i] += da * exp(v[op->in[0].at + i] - y);
}
const cri_tape_kernel cri_kernel_log_sum_exp = { "log_sum_exp", log_sum_exp, log_sum_exp_back,
                                                 false,         true,        NULL,
                                                 NULL };

/* --- matrices, row by row --------------------------------------------------------------------- */

/* A [rows x cols] = X [rows x inner] Z [inner x cols]; a vector is a matrix of one column or row. */
static void matrix(const cri_tape_op *op, double *v)
{
    const double *X = v + op->in[0].at, *Z = v + op->in[1].at;
    double       *A = v + op->out;
    for (uint32_t i = 0; i < op->rows; i++) {
        double *row = A + (size_t)i * op->cols;
        if (op->cols == 1) {
            double total = 0;
            for (uint32_t k = 0; k < op->inner; k++) total += X[(size_t)i * op->inner + k] * Z[k];
            row[0] = total;
            continue;
        }
        memset(row, 0, op->cols * sizeof *row);
        for (uint32_t k = 0; k < op->inner; k++) {
            double x = X[(size_t)i * op->inner + k];
            for (uint32_t j = 0; j < op->cols; j++) row[j] += x * Z[(size_t)k * op->cols + j];
        }
    }
}
static void matrix_back(const cri_tape_op *op, const double *v, double *a)
{
    const double *X = v + op->in[0].at, *Z = v + op->in[1].at, *dA = a + op->out;
    double       *dX = a + op->in[0].at, *dZ = a + op->in[1].at;
    for (uint32_t i = 0; i < op->rows; i++) {
        const double *row = dA + (size_t)i * op->cols;
        for (uint32_t k = 0; k < op->inner; k++) {
            size_t  ik = (size_t)i * op->inner + k;
            double  x = X[ik], total = 0;
            double *dz = dZ + (size_t)k * op->cols;
            if (!op->in[1].constant)
                for (uint32_t j = 0; j < op->cols; j++) dz[j] += row[j] * x;
            if (op->in[0].constant) continue;
            for (uint32_t j = 0; j < op->cols; j++) total += row[j] * Z[(size_t)k * op->cols + j];
            dX[ik] += total;
        }
    }
}
const cri_tape_kernel cri_kernel_matrix = {
    "matrix product", matrix, matrix_back, false, false, NULL, NULL
};

/* --- along a vector --------------------------------------------------------------------------- */

static void cumulative_sum(const cri_tape_op *op, double *v)
{
    double total = 0;
    for (uint32_t i = 0; i < op->n; i++) v[op->out + i] = total += v[op->in[0].at + i];
}
static void cumulative_sum_back(const cri_tape_op *op, const double *v, double *a)
{
    (void)v;
    double total = 0;
    for (uint32_t i = op->n; i-- > 0;) a[op->in[0].at + i] += total += a[op->out + i];
}
const cri_tape_kernel cri_kernel_cumulative_sum = {
    "cumulative_sum", cumulative_sum, cumulative_sum_back, false, false, NULL, NULL
};

static void softmax(const cri_tape_op *op, double *v)
{
    const double *x = v + op->in[0].at;
    double        top = -INFINITY, total = 0;
    for (uint32_t i = 0; i < op->n; i++) top = fmax(top, x[i]);
    for (uint32_t i = 0; i < op->n; i++) total += v[op->out + i] = exp(x[i] - top);
    for (uint32_t i = 0; i < op->n; i++) v[op->out + i] /= total;
}
static void softmax_back(const cri_tape_op *op, const double *v, double *a)
{
    double mean = 0;
    for (uint32_t i = 0; i < op->n; i++) mean += a[op->out + i] * v[op->out + i];
    for (uint32_t i = 0; i < op->n; i++)
        a[op->in[0].at + i] += v[op->out + i] * (a[op->out + i] - mean);
}
const cri_tape_kernel cri_kernel_softmax = { "softmax", softmax, softmax_back, false,
                                             false,     NULL,    NULL };

/* --- the simplex by stick breaking ------------------------------------------------------------ */

/* x [n] from u [n - 1]: z_k = inv_logit(u_k - log(n - k)), x_k = z_k (1 - sum of those before).
 * Entry n is what is left; slot n of the output, one past x, is the log Jacobian. */
static double logistic(double u) { return u >= 0 ? 1 / (1 + exp(-u)) : exp(u) / (1 + exp(u)); }
static void   simplex(const cri_tape_op *op, double *v)
{
    const double *u = v + op->in[0].at;
    double       *x = v + op->out, left = 1, log_jacobian = 0;
    uint32_t      K = op->n - 1;
    for (uint32_t k = 0; k + 1 < K; k++) {
        double z = logistic(u[k] - log((double)(K - 1 - k)));
        log_jacobian += log(left) + log(z) + log1p(-z);
        x[k] = left * z;
        left -= x[k];
    }
    x[K - 1] = left;
    x[K] = log_jacobian;
}
/* d log|J| / d z_k = 1/z_k - 1/(1 - z_k) - (K - 2 - k)/(1 - z_k), as left_j = prod_{k<j} (1 - z_k). */
static void simplex_back(const cri_tape_op *op, const double *v, double *a)
{
    const double *u = v + op->in[0].at, *dx = a + op->out, *x = v + op->out;
    uint32_t      K = op->n - 1;
    double        after = dx[K - 1] * x[K - 1], dj = dx[K];
    for (uint32_t k = K - 1; k-- > 0;) {
        double z = logistic(u[k] - log((double)(K - 1 - k)));
        double slope = dx[k] * x[k] * (1 - z) - after * z + dj * (1 - z - z * (double)(K - 1 - k));
        a[op->in[0].at + k] += slope;
        after += dx[k] * x[k];
    }
}
const cri_tape_kernel cri_kernel_simplex = { "simplex", simplex, simplex_back, false,
                                             false,     NULL,    NULL };
