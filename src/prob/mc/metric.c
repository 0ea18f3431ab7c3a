/* metric.c -- learning coordinates from draws and gradients. */
#include "metric.h"
#include "math/dense/decompose.h"

#include <math.h>
#include <string.h>

cri_metric cri_metric_new(cr_scratch *s, size_t n)
{
    cri_metric m = { .n = n, .sigma = cr_scratch_f64(s, n), .work = cr_scratch_f64(s, n) };
    for (size_t i = 0; m.sigma && i < n; i++) m.sigma[i] = 1;
    if (n <= CRI_METRIC_DENSE) {
        m.root = cr_scratch_bytes(s, n * n, sizeof(double));
        m.inverse = cr_scratch_bytes(s, n * n, sizeof(double));
        for (size_t i = 0; m.root && m.inverse && i < n; i++)
            m.root[i * n + i] = m.inverse[i * n + i] = 1;
    }
    return m;
}

static void multiply(const double *A, const double *x, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < n; k++) sum += A[i * n + k] * x[k];
        out[i] = sum;
    }
}

void cri_metric_to_x(const cri_metric *m, const double *y, double *x)
{
    if (m->root)
        multiply(m->root, y, m->n, x);
    else
        memcpy(x, y, m->n * sizeof *x);
    for (size_t i = 0; i < m->n; i++) x[i] *= m->sigma[i];
}

void cri_metric_to_y(const cri_metric *m, const double *x, double *y)
{
    for (size_t i = 0; i < m->n; i++) m->work[i] = x[i] / m->sigma[i];
    if (m->inverse)
        multiply(m->inverse, m->work, m->n, y);
    else
        memcpy(y, m->work, m->n * sizeof *y);
}

void cri_metric_gradient(const cri_metric *m, const double *gx, double *gy)
{
    for (size_t i = 0; i < m->n; i++) m->work[i] = m->sigma[i] * gx[i];
    if (m->root)
        multiply(m->root, m->work, m->n, gy);
    else
        memcpy(gy, m->work, m->n * sizeof *gy);
}

/* --- draws ------------------------------------------------------------------------------------ */

cri_draw_spread cri_draw_spread_new(cr_scratch *s, size_t n)
{
    cri_draw_spread p = { .n = n, .dense = n <= CRI_METRIC_DENSE };
    size_t          size = p.dense ? n * n : n;
    p.mean_x = cr_scratch_bytes(s, n, sizeof(double));
    p.mean_g = cr_scratch_bytes(s, n, sizeof(double));
    p.xx = cr_scratch_bytes(s, size, sizeof(double));
    p.gg = cr_scratch_bytes(s, size, sizeof(double));
    p.away = cr_scratch_f64(s, 2 * n);
    return p;
}

void cri_draw_spread_clear(cri_draw_spread *s)
{
    size_t size = (s->dense ? s->n * s->n : s->n) * sizeof(double);
    s->count = 0;
    memset(s->mean_x, 0, s->n * sizeof(double)), memset(s->mean_g, 0, s->n * sizeof(double));
    memset(s->xx, 0, size), memset(s->gg, 0, size);
}

/* Adds a value to mean [n] and products; away [n] is workspace. */
static void add_up(const double *x, size_t n, bool dense, double count, double *mean,
                   double *products, double *away)
{
    for (size_t i = 0; i < n; i++) away[i] = x[i] - mean[i], mean[i] += away[i] / count;
    for (size_t i = 0; i < n; i++) {
        double from_new = x[i] - mean[i];
        if (!dense)
            products[i] += away[i] * from_new;
        else
            for (size_t k = 0; k <= i; k++) products[i * n + k] += from_new * away[k];
    }
}

void cri_draw_spread_add(cri_draw_spread *s, const double *x, const double *g)
{
    s->count++;
    add_up(x, s->n, s->dense, s->count, s->mean_x, s->xx, s->away);
    add_up(g, s->n, s->dense, s->count, s->mean_g, s->gg, s->away + s->n);
}

/* --- learning --------------------------------------------------------------------------------- */

/* out = V diag(w^power) V^T */
static void power_of(const double *w, const double *V, size_t n, double power, double *out)
{
    memset(out, 0, n * n * sizeof *out);
    for (size_t j = 0; j < n; j++) {
        double f = pow(w[j], power);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n; k++) out[i * n + k] += f * V[i * n + j] * V[k * n + j];
    }
}

static void product(const double *A, const double *B, size_t n, double *out)
{
    memset(out, 0, n * n * sizeof *out);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++) out[i * n + j] += A[i * n + k] * B[k * n + j];
}

static bool all_positive(const double *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(w[i] > 1e-12 && w[i] < 1e12)) return false;
    return true;
}

static cr_status learn_root(cr_ctx *cx, const cri_draw_spread *s, cri_metric *m)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    size_t     n = s->n;
    double     away, share = s->count > 2 * (double)n ? 1 : s->count / (s->count + 2 * (double)n);
    double    *A = cr_scratch_matrix(&scratch, n, n), *B = cr_scratch_matrix(&scratch, n, n),
           *V = cr_scratch_matrix(&scratch, n, n), *half = cr_scratch_matrix(&scratch, n, n),
           *back = cr_scratch_matrix(&scratch, n, n), *w = cr_scratch_f64(&scratch, n);
    CR_TRY(scratch.status);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k <= i; k++) {
            double scale = m->sigma[i] * m->sigma[k], f = i == k ? 1 : share;
            A[i * n + k] = A[k * n + i] = f * s->xx[i * n + k] / scale / s->count;
            B[i * n + k] = B[k * n + i] = f * s->gg[i * n + k] * scale / s->count;
        }
    CR_TRY(cr_eigen(cx, cr_cmat_of(B, n, n), w, cr_mat_of(V, n, n)));
    if (!all_positive(w, n)) goto done;
    power_of(w, V, n, 0.5, half);
    power_of(w, V, n, -0.5, back);
    product(half, A, n, V);
    product(V, half, n, A);
    CR_TRY(cr_eigen(cx, cr_cmat_of(A, n, n), w, cr_mat_of(V, n, n)));
    if (!all_positive(w, n)) goto done;
    away = w[n - 1] / w[0]; /* 1 on a normal density, where B^-1 is A */
    power_of(w, V, n, 0.5, A);
    product(back, A, n, V);
    product(V, back, n, A); /* the square of R */
    CR_TRY(cr_eigen(cx, cr_cmat_of(A, n, n), w, cr_mat_of(V, n, n)));
    if (!all_positive(w, n)) goto done;
    if (w[n - 1] / w[0] < away) { /* not straight enough for correlations to help */
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n; k++) V[i * n + k] = i == k, w[i] = 1;
    }
    power_of(w, V, n, 0.5, m->root);
    power_of(w, V, n, -0.5, m->inverse);
done:
    cr_scratch_end(&scratch);
    return st;
}

cr_status cri_metric_learn(cr_ctx *cx, const cri_draw_spread *s, bool whole, cri_metric *m)
{
    size_t step = s->dense ? s->n + 1 : 1;
    if (m->root && !whole) return CR_OK;
    for (size_t i = 0; i < s->n; i++) {
        double sigma = pow(s->xx[i * step] / s->gg[i * step], 0.25);
        if (isfinite(sigma) && sigma > 1e-10 && sigma < 1e10) m->sigma[i] = sigma;
    }
    return m->root ? learn_root(cx, s, m) : CR_OK;
}
