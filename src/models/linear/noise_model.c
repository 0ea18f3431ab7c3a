/* noise_model.c -- log-linear spread of the noise. */
#include "noise_model.h"
#include "models/common/noise_terms.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/special/special.h"
#include "math/constants.h"

#include <math.h>
#include <string.h>

CRI_RECORD_TABLE(, cri_noise_model_record, cri_noise_model, CRI_NOISE_MODEL);

/* --- terms ------------------------------------------------------------------------------------ */

cr_status cri_noise_model_new(cr_ctx *cx, const char *columns, const cri_rows *rows,
                              cri_noise_model *out)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t         *which = NULL;
    double         *x = cr_scratch_f64(&s, rows->n);
    cri_noise_model m = { 0 };

    CR_TRY(cri_noise_terms(&s, columns, rows->design, &which, &m.noise_terms));
    CR_TRY(cri_record_allocate(cx, cri_noise_model_record, &m));
    m.noise_cov = cr_alloc(cx, m.noise_terms, m.noise_terms * sizeof(double));
    if (!m.noise_cov) CR_TRY(CR_ENOMEM);
    for (size_t j = 0; j < m.noise_terms; j++) {
        m.noise_term[j] = which[j];
        cri_noise_term_moments(rows, which[j], x, &m.noise_centre[j], NULL);
    }
    *out = m;
    m = (cri_noise_model){ 0 };
done:
    cri_record_free(cx, cri_noise_model_record, &m);
    cr_scratch_end(&s);
    return st;
}

void cri_noise_model_at(const cri_noise_model *m, const cri_rows *rows, double *out)
{
    enum { BLOCK = 256 };
    double x[BLOCK];
    for (size_t begin = 0; begin < rows->n; begin += BLOCK) {
        size_t end = rows->n - begin > BLOCK ? begin + BLOCK : rows->n;
        for (size_t i = begin; i < end; i++) out[i] = m->noise_level;
        for (size_t k = 0; k < m->noise_terms; k++) {
            cri_rows_fill_term(rows, m->noise_term[k], begin, end, x, 1);
            for (size_t i = begin; i < end; i++)
                out[i] += m->noise_coef[k] * (x[i - begin] - m->noise_centre[k]);
        }
    }
}

/* --- scoring ---------------------------------------------------------------------------------- */

/* D [n x q]: 1, then the centred terms. */
static void fill_columns(const cri_noise_model *m, const cri_rows *rows, double *D)
{
    size_t q = m->noise_terms + 1;
    for (size_t i = 0; i < rows->n; i++) D[i * q] = 1;
    for (size_t k = 1; k < q; k++) {
        cri_rows_fill_term(rows, m->noise_term[k - 1], 0, rows->n, D + k, q);
        for (size_t i = 0; i < rows->n; i++) D[i * q + k] -= m->noise_centre[k - 1];
    }
}

/* A = D'D, over unit unit', and g = D'(u - 1) / 2 over unit. */
static void sum_equations(const double *D, const double *u, size_t n, size_t q, double *A,
                          double *g, double *unit)
{
    memset(A, 0, q * q * sizeof *A);
    memset(g, 0, q * sizeof *g);
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < q; a++) {
            g[a] += 0.5 * D[i * q + a] * (u[i] - 1);
            for (size_t b = 0; b <= a; b++) A[a * q + b] += D[i * q + a] * D[i * q + b];
        }
    for (size_t a = 0; a < q; a++) unit[a] = A[a * q + a] > 0 ? sqrt(A[a * q + a]) : 1;
    for (size_t a = 0; a < q; a++) {
        g[a] /= unit[a];
        for (size_t b = 0; b <= a; b++) A[b * q + a] = A[a * q + b] /= unit[a] * unit[b];
    }
}

/* sds of g from the inverse V [q x q] of A; that of log s at x = 0 from all of it. */
static void set_sds(cri_noise_model *m, const double *V, const double *unit)
{
    size_t q = m->noise_terms + 1;
    double zero = 0;
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++) {
            double ca = a ? -m->noise_centre[a - 1] : 1, cb = b ? -m->noise_centre[b - 1] : 1;
            zero += ca * cb * V[a * q + b] / (unit[a] * unit[b]);
        }
    m->noise_zero_sd = sqrt(fmax(zero, 0) / 2);
    for (size_t a = 1; a < q; a++) m->noise_sd[a - 1] = sqrt(V[a * q + a] / 2) / unit[a];
    for (size_t a = 1; a < q; a++)
        for (size_t b = 1; b < q; b++)
            m->noise_cov[(a - 1) * (q - 1) + b - 1] = V[a * q + b] / (2 * unit[a] * unit[b]);
}

cr_status cri_noise_model_step(cr_ctx *cx, cri_noise_model *m, const cri_rows *rows,
                               const double *u, double *out_step)
{
    const double MOST = 2; /* of log s in one step */
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       q = m->noise_terms + 1, n = rows->n;
    double      *D = cr_scratch_matrix(&s, n, q), *A = cr_scratch_matrix(&s, q, q);
    double      *V = cr_scratch_matrix(&s, q, q), *g = cr_scratch_f64(&s, q);
    double      *unit = cr_scratch_f64(&s, q), largest = 0;

    CR_TRY(s.status);
    fill_columns(m, rows, D);
    sum_equations(D, u, n, q, A, g, unit);
    st = cr_chol(cx, cr_mat_of(A, q, q));
    CR_TRY(st == CR_ENUMERIC ? cri_noise_fail_dependent(cx) : st);
    memset(V, 0, q * q * sizeof *V);
    for (size_t a = 0; a < q; a++) V[a * q + a] = 1;
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(A, q, q), cr_mat_of(g, q, 1)));
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(A, q, q), cr_mat_of(V, q, q)));
    for (size_t a = 0; a < q; a++) g[a] /= unit[a];
    for (size_t i = 0; i < n; i++) {
        double change = 0;
        for (size_t a = 0; a < q; a++) change += D[i * q + a] * g[a];
        largest = fmax(largest, fabs(change));
    }
    double share = largest > MOST ? MOST / largest : 1;
    m->noise_level += share * g[0];
    for (size_t a = 1; a < q; a++) m->noise_coef[a - 1] += share * g[a];
    set_sds(m, V, unit);
    *out_step = largest;
done:
    cr_scratch_end(&s);
    return st;
}

/* Var(g . (x - centre)) of a row; x [noise_terms]. */
static double variance_at(const cri_noise_model *m, const double *x)
{
    size_t k = m->noise_terms;
    double sum = 0;
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++)
            sum +=
                (x[a] - m->noise_centre[a]) * m->noise_cov[a * k + b] * (x[b] - m->noise_centre[b]);
    return fmax(sum, 0);
}

static double fewer_dof(double dof, double variance)
{
    double of_log = (isfinite(dof) ? cr_trigamma(dof / 2) : 0) + 4 * variance;
    return of_log > 1e-12 ? 2 * cr_trigamma_inv(of_log) : dof;
}

cr_status cri_noise_model_spread(cr_ctx *cx, const cri_noise_model *m, double sigma,
                                 const cri_rows *rows, cr_prediction *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = m->noise_terms;
    if (!out->scale || k == 0) goto done;
    double *own = cr_scratch_f64(&s, rows->n), *x = cr_scratch_f64(&s, k);
    CR_TRY(s.status);
    cri_noise_model_at(m, rows, own);
    for (size_t i = 0; i < rows->n; i++) { /* the noise of the row instead of that of weight 1 */
        double noise = sigma * exp(own[i]), *scale = out->scale + i;
        *scale = sqrt(fmax(*scale * *scale - sigma * sigma, 0) + noise * noise);
        if (!m->noise_cov) continue;
        for (size_t a = 0; a < k; a++)
            cri_rows_fill_term(rows, m->noise_term[a], i, i + 1, x + a, 1);
        out->dof[i] = fewer_dof(out->dof[i], variance_at(m, x));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The information on g is 2 D'D, D the centred terms: with C its correlations and n rows,
 *   sum_k (log sd_k - (g_k sd_k)^2 / 2) - log |2 D'D| / 2 = -sum_k (log 2 n + (g_k sd_k)^2) / 2 - log |C| / 2. */
cr_status cri_noise_model_occam(cr_ctx *cx, const cri_noise_model *m, const cri_rows *rows,
                                double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     q = m->noise_terms + 1, n = rows->n;
    double    *D = cr_scratch_matrix(&s, n, q), *A = cr_scratch_matrix(&s, q, q), sum = 0;
    double    *u = cr_scratch_bytes(&s, n, sizeof(double)), *g = cr_scratch_f64(&s, q);
    double    *unit = cr_scratch_f64(&s, q);

    CR_TRY(s.status);
    fill_columns(m, rows, D);
    sum_equations(D, u, n, q, A, g, unit);
    CR_TRY(cr_chol(cx, cr_mat_of(A, q, q)));
    for (size_t k = 1; k < q; k++) {
        double size = m->noise_coef[k - 1] * unit[k]; /* g sd sqrt(n) */
        sum -= 0.5 * (log(2 * (double)n) + size * size / (double)n);
    }
    *out = sum - 0.5 * cr_chol_logdet(cr_cmat_of(A, q, q));
done:
    cr_scratch_end(&s);
    return st;
}

bool cri_noise_model_fits(const cri_noise_model *m, size_t p)
{
    for (size_t k = 0; k < m->noise_terms; k++)
        if (m->noise_term[k] >= p) return false;
    return true;
}

/* --- describe --------------------------------------------------------------------------------- */

void cri_noise_model_describe(const cri_noise_model *m, const cr_design *d, double unit,
                              cri_sheet *list)
{
    double zero = m->noise_level + log(unit);
    for (size_t k = 0; k < m->noise_terms; k++) zero -= m->noise_coef[k] * m->noise_centre[k];
    cri_sheet *row = cri_parameter_add(list, zero, m->noise_zero_sd, "noise.intercept");
    cri_parameter_interval(row, zero, CRI_Z95 * m->noise_zero_sd);
    for (size_t k = 0; k < m->noise_terms; k++) {
        row = cri_parameter_add(list, m->noise_coef[k], m->noise_sd[k], "noise.%s",
                                cr_design_term_name(d, m->noise_term[k]));
        cri_parameter_interval(row, m->noise_coef[k], CRI_Z95 * m->noise_sd[k]);
    }
}
