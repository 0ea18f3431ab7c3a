/* gp_mean.c -- polynomial mean functions. */
#include "gp_mean.h"
#include "base/scratch.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

cr_status cri_gp_mean_degree(cr_ctx *cx, const char *text, int *out_degree)
{
    static const char *const names[] = { "zero", "constant", "linear" };
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) return *out_degree = i - 1, CR_OK;
    if (strncmp(text, "poly:", 5) == 0 && text[5] >= '1' && text[5] <= '0' + CRI_GP_MOST_POWER &&
        !text[6])
        return *out_degree = text[5] - '0', CR_OK;
    cr_fail(cx, CR_EARG, "--mean '%s' is not known", text);
    return cr_fail_hint(cx, "zero, constant, linear, or poly:2 to poly:%d", CRI_GP_MOST_POWER);
}

CRI_RECORD_TABLE(, cri_gp_mean_record, cri_gp_mean, CRI_GP_MEAN);

static double term_value(const cri_gp_mean *m, size_t t, const double *x)
{
    if (m->power[t] == 0) return 1;
    size_t j = (size_t)m->column[t];
    double z = (x[j] - m->centre[j]) / m->scale[j], value = z;
    for (int k = 1; k < (int)m->power[t]; k++) value *= z;
    return value;
}

void cri_gp_mean_fill(const cri_gp_mean *m, const double *X, size_t n, double *H)
{
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < m->q; t++) H[i * m->q + t] = term_value(m, t, X + i * m->d);
}

/* The term x^k of centred and scaled columns holds all lower powers of x as well (binomially);
 * those have terms of their own unless they were dropped. */
void cri_gp_mean_units(const cri_gp_mean *m, double *T)
{
    memset(T, 0, m->q * m->q * sizeof(double));
    for (size_t t = 0; t < m->q; t++) {
        size_t j = (size_t)m->column[t], K = (size_t)m->power[t];
        if (K == 0) T[t * m->q + t] = 1;
        for (size_t u = 0; K > 0 && u < m->q; u++) {
            size_t k = (size_t)m->power[u];
            if (k > K || (k > 0 && (size_t)m->column[u] != j)) continue;
            double binomial = 1;
            for (size_t i = 0; i < k; i++) binomial = binomial * (double)(K - i) / (double)(i + 1);
            T[u * m->q + t] =
                binomial * pow(-m->centre[j], (double)(K - k)) / pow(m->scale[j], (double)K);
        }
    }
}

static void measure_columns(const cri_gp_data *data, cri_gp_mean *m)
{
    for (size_t j = 0; j < m->d; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < data->n; i++) {
            double delta = data->X[i * m->d + j] - mean;
            mean += delta / (double)(i + 1);
            square += delta * (data->X[i * m->d + j] - mean);
        }
        double sd = sqrt(square / (double)data->n);
        m->centre[j] = mean;
        m->scale[j] = sd > 1e-13 * fabs(mean) && isfinite(sd) && sd > 0 ? sd : 1;
    }
}

/* Q [k x n] orthonormal rows; adds the part of v [n] outside them as row k, if there is any. */
static bool extend_basis(double *Q, size_t k, size_t n, double *v)
{
    double before = cr_norm2(v, n);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < k; i++) {
            double c = cr_dot(Q + i * n, v, n);
            for (size_t a = 0; a < n; a++) v[a] -= c * Q[i * n + a];
        }
    double after = cr_norm2(v, n);
    if (!(after > 1e-9 * before)) return false;
    for (size_t a = 0; a < n; a++) Q[k * n + a] = v[a] / after;
    return true;
}

/* Keeps the terms that do not depend on those before them. */
static cr_status keep_terms(cr_ctx *cx, int degree, const cri_gp_data *data, cri_gp_mean *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = data->n, all = m->q, kept = 0, most = all < n ? all : n;
    double    *Q = cr_scratch_matrix(&s, most, n), *v = cr_scratch_f64(&s, n);

    CR_TRY(s.status);
    for (int power = 0; power <= degree; power++)
        for (size_t j = 0; j < (power ? m->d : 1) && kept < most; j++) {
            m->column[kept] = (double)j;
            m->power[kept] = power;
            for (size_t i = 0; i < n; i++) v[i] = term_value(m, kept, data->X + i * m->d);
            kept += extend_basis(Q, kept, n, v);
        }
    m->q = kept;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_mean_new(cr_ctx *cx, int degree, const cri_gp_data *data, cri_gp_mean *out,
                          size_t *opt_dropped)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      all = degree < 0 ? 0 : 1 + (size_t)degree * data->d;
    cri_gp_mean m = { .d = data->d,
                      .q = all,
                      .centre = cr_scratch_f64(&s, data->d),
                      .scale = cr_scratch_f64(&s, data->d),
                      .column = cr_scratch_f64(&s, all),
                      .power = cr_scratch_f64(&s, all) };

    *out = (cri_gp_mean){ 0 };
    CR_TRY(s.status);
    measure_columns(data, &m);
    if (all) CR_TRY(keep_terms(cx, degree, data, &m));
    if (opt_dropped) *opt_dropped = all - m.q;
    CR_TRY(cri_record_copy(cx, cri_gp_mean_record, &m, out));
done:
    if (st != CR_OK) cri_record_free(cx, cri_gp_mean_record, out);
    cr_scratch_end(&s);
    return st;
}
