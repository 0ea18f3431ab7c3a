/* kernel_weights.c -- the mean at a point, and leave-one-out. */
#include "kernel_weights.h"
#include "models/common/copies.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 16 };

/* --- weights --------------------------------------------------------------------------------- */

/* u_i^2 to v [n]; the least of the rows that count.  `far`: in units of 1e300 h, for a point whose
 * squares overflow. */
static double measure(const cri_smoother *m, const double *x, size_t self, bool far, double *v)
{
    double least = INFINITY;
    size_t p = m->p;
    for (size_t i = 0; i < m->n; i++) {
        double sum = 0;
        for (size_t j = 0; j < p; j++) {
            double t = (x[j] - m->X[i * p + j]) / m->h[j];
            if (far) t = fmin(fmax(t, -1e300), 1e300) * 1e-300;
            sum += t * t;
        }
        v[i] = sum;
        if (sum < least && (i != self || m->w[i] > 1)) least = sum;
    }
    return least;
}

/* As far as squares can tell. */
static bool is_nearest(double u2, double least) { return u2 <= least * (1 + 1e-12); }

/* Terms below e^-60 of the largest cannot be seen in the sum. */
static double kernel(const cri_smoother *m, double u2, double least)
{
    if (!m->compact) return (u2 - least) / 2 < 60 ? exp(-(u2 - least) / 2) : 0;
    if (least >= 1) return is_nearest(u2, least); /* none within reach: the nearest */
    return u2 < 1 ? 1 - u2 : 0;
}

/* v [n] = shares, adding up to one; false where no row counts. */
static bool share(const cri_smoother *m, const double *x, size_t self, double *v, double *out_count,
                  bool *out_far)
{
    double least = measure(m, x, self, false, v), sum = 0, squares = 0;
    *out_far = isinf(least);
    if (*out_far) least = measure(m, x, self, true, v);
    if (isinf(least)) return false;
    for (size_t i = 0; i < m->n; i++) {
        double w = m->w[i] - (i == self ? cri_left_out(m->whole, m->w[i]) : 0);
        double k = 0;
        if (w > 0) /* u2 >= least only for rows that count */
            k = *out_far ? is_nearest(v[i], least) : kernel(m, v[i], least);
        v[i] = w * k;
        sum += v[i];
        squares += v[i] * k;
    }
    for (size_t i = 0; i < m->n; i++) v[i] /= sum;
    *out_count = sum * sum / squares;
    return true;
}

/* --- local lines ----------------------------------------------------------------------------- */

/* C [p x p] to its Cholesky factor; a pivot below `floor` is a direction the rows do not tell of:
 * its slope is 0. */
static void factorise(double *C, size_t p, double floor)
{
    for (size_t j = 0; j < p; j++) {
        double d = C[j * p + j];
        for (size_t k = 0; k < j; k++) d -= C[j * p + k] * C[j * p + k];
        bool told = d > floor;
        C[j * p + j] = told ? sqrt(d) : 0;
        for (size_t i = j + 1; i < p; i++) {
            double c = C[i * p + j];
            for (size_t k = 0; k < j; k++) c -= C[i * p + k] * C[j * p + k];
            C[i * p + j] = told ? c / C[j * p + j] : 0;
        }
    }
}

static void solve(const double *L, size_t p, double *b)
{
    for (size_t i = 0; i < p; i++) {
        for (size_t k = 0; k < i; k++) b[i] -= L[i * p + k] * b[k];
        b[i] = L[i * p + i] > 0 ? b[i] / L[i * p + i] : 0;
    }
    for (size_t i = p; i-- > 0;) {
        for (size_t k = i + 1; k < p; k++) b[i] -= L[k * p + i] * b[k];
        b[i] = L[i * p + i] > 0 ? b[i] / L[i * p + i] : 0;
    }
}

/* What the plane through the rows adds to their mean at x; columns in units of h. */
static double slope_at(const cri_smoother *m, const double *x, const double *v, double mean,
                       double *workspace)
{
    size_t  p = m->p;
    double *C = workspace, *b = C + p * p, *centre = b + p, *z = centre + p, trace = 0, sum = 0;
    memset(workspace, 0, (p * p + 2 * p) * sizeof(double));
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; v[i] > 0 && j < p; j++) centre[j] += v[i] * (m->X[i * p + j] / m->h[j]);
    for (size_t i = 0; i < m->n; i++) {
        if (!(v[i] > 0)) continue;
        for (size_t j = 0; j < p; j++) z[j] = m->X[i * p + j] / m->h[j] - centre[j];
        for (size_t j = 0; j < p; j++) {
            for (size_t k = 0; k <= j; k++) C[j * p + k] += v[i] * z[j] * z[k];
            b[j] += v[i] * z[j] * (m->y[i] - mean);
        }
    }
    for (size_t j = 0; j < p; j++) trace += C[j * p + j];
    factorise(C, p, 1e-9 * trace);
    solve(C, p, b);
    for (size_t j = 0; j < p; j++) sum += b[j] * (x[j] / m->h[j] - centre[j]);
    return sum;
}

/* --- answers --------------------------------------------------------------------------------- */

size_t cri_smoother_workspace_size(const cri_smoother *m)
{
    return m->linear ? m->p * m->p + 3 * m->p : 0;
}

double cri_smoother_mean(const cri_smoother *m, const double *x, size_t self, double *v,
                         double *workspace, double *out_count)
{
    double mean = 0;
    bool   far;
    *out_count = 0;
    if (!share(m, x, self, v, out_count, &far)) return NAN;
    for (size_t i = 0; i < m->n; i++) mean += v[i] * m->y[i];
    return m->linear && !far ? mean + slope_at(m, x, v, mean, workspace) : mean;
}

typedef struct loo_work {
    const cri_smoother *m;
    const size_t       *rows;
    double             *residual;
} loo_work;

static void add_residuals(void *arg, cri_range r, double *acc, double *workspace)
{
    const loo_work     *a = arg;
    const cri_smoother *m = a->m;
    for (size_t q = r.begin; q < r.end; q++) {
        size_t i = a->rows ? a->rows[q] : q;
        double count,
            mean = cri_smoother_mean(m, m->X + i * m->p, i, workspace, workspace + m->n, &count);
        double e = m->y[i] - mean;
        if (isnan(mean)) e = 0; /* it is the only row */
        if (a->residual) a->residual[q] = e;
        acc[0] += m->w[i] * e * e;
        acc[1] += m->w[i];
    }
}

cr_status cri_smoother_loo(cr_ctx *cx, const cri_smoother *m, const size_t *opt_rows, size_t n_rows,
                           double *out_residual, double *out_mse)
{
    loo_work  a = { m, opt_rows, out_residual };
    double    sums[2];
    cr_status st = cri_parallel_sum_in(
        cx, NULL, n_rows, BLOCK, 2, m->n + cri_smoother_workspace_size(m), add_residuals, &a, sums);
    if (st == CR_OK) *out_mse = sums[0] / sums[1];
    return st;
}
