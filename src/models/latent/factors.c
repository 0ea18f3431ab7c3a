/* factors.c -- a normal distribution of few hidden factors. */
#include "factors.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "math/constants.h"
#include "math/dense/blas_internal.h"
#include "prob/dist/small_matrix.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

CRI_RECORD_TABLE(, cri_factors_record, cri_factors, CRI_FACTORS);

enum { BLOCK = 128 };

/* --- what follows ----------------------------------------------------------------------------- */

/* L = the factor of M. */
static bool factor_inner(cri_factors *m)
{
    size_t p = m->p, q = m->q;
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = a == b;
            for (size_t i = 0; i < p; i++)
                sum += m->loading[a * p + i] * m->loading[b * p + i] / m->psi[i];
            m->L[a * q + b] = m->L[b * q + a] = sum;
        }
    return cri_factor_point(m->L, q, m->L);
}

cr_status cri_factors_ready(cr_ctx *cx, cri_factors *m, size_t terms)
{
    if (m->p != terms) return CR_EDATA;
    m->L = cr_alloc(cx, m->q * m->q, sizeof *m->L);
    if (!m->L) return CR_ENOMEM;
    if (!factor_inner(m)) return CR_EDATA;
    m->log_constant = -0.5 * ((double)m->p * CRI_LOG_2PI + cri_log_det(m->L, m->q));
    for (size_t i = 0; i < m->p; i++) m->log_constant -= 0.5 * log(m->psi[i]) + log(m->scale[i]);
    return isfinite(m->log_constant) ? cri_coordinates_name(cx, m->q, &m->at) : CR_EDATA;
}

void cri_factors_release(cr_ctx *cx, cri_factors *m)
{
    cr_free(cx, m->L, m->q * m->q, sizeof *m->L);
    m->L = NULL;
    cri_coordinates_free(cx, &m->at);
}

/* --- rows ------------------------------------------------------------------------------------- */

typedef struct scoring {
    const cri_factors *m;
    const cri_rows    *rows;
    double            *z, *log_density; /* [n x q], [n] */
} scoring;

/* z and log density of rows that miss nothing: T [n x p] is scaled, and overwritten. */
static void score_whole(const cri_factors *m, double *T, size_t n, double *z, double *log_density)
{
    size_t p = m->p, q = m->q;
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t j = 0; j < p; j++) {
            double t = T[i * p + j];
            T[i * p + j] = t / m->psi[j];
            square += t * T[i * p + j];
        }
        log_density[i] = m->log_constant - 0.5 * square;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)q, (int)p, 1, T, (int)p,
                m->loading, (int)p, 0, z, (int)q);
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        cri_solve_lower(m->L, q, z + i * q);
        for (size_t a = 0; a < q; a++) square += z[i * q + a] * z[i * q + a];
        cri_solve_upper(m->L, q, z + i * q);
        log_density[i] += 0.5 * square;
    }
}

/* The same of a row that misses cells. */
static void score_part(const cri_factors *m, const double *t, double *z, double *log_density,
                       double *L)
{
    *log_density = cri_factors_score_gaps(m, t, z, L);
    for (size_t j = 0; j < m->p; j++)
        if (!isnan(t[j])) *log_density -= log(m->scale[j]);
}

/* Workspace: T [BLOCK x p], L [q x q]. */
static void score_block(void *arg, cri_range range, double *T)
{
    const scoring     *w = arg;
    const cri_factors *m = w->m;
    size_t             p = m->p, q = m->q, n = range.end - range.begin;
    double            *z = w->z + range.begin * q, *density = w->log_density + range.begin;
    bool               gaps = false;
    cri_rows_fill(w->rows, range.begin, range.end, T, p);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++) {
            T[i * p + j] = (T[i * p + j] - m->centre[j]) / m->scale[j];
            gaps |= isnan(T[i * p + j]);
        }
    if (!gaps) {
        score_whole(m, T, n, z, density);
        return;
    }
    for (size_t i = 0; i < n; i++) score_part(m, T + i * p, z + i * q, density + i, T + BLOCK * p);
}

cr_status cri_factors_predict(cr_ctx *cx, const cri_factors *m, const cri_rows *rows,
                              cr_prediction *out)
{
    scoring   w = { m, rows, out->vector, out->log_density };
    cr_status st = cri_blas_reserve(cx);
    if (st != CR_OK) return st;
    cri_blas_enter();
    st = cri_parallel_rows(cx, "scoring", rows->n, BLOCK, BLOCK * m->p + m->q * m->q, score_block,
                           &w);
    cri_blas_leave();
    return st;
}

cr_status cri_factors_reconstruct(cr_ctx *cx, const cri_factors *m, const double *Z, size_t n,
                                  double *out, double *distance)
{
    return cri_plane_points(cx, &(cri_plane){ m->q, m->p, m->loading, m->centre, m->scale }, Z, n,
                            out, distance);
}

cr_status cri_factors_sample(cr_ctx *cx, const cri_factors *m, size_t count, uint64_t seed,
                             double *out)
{
    cr_status st = CR_OK;
    size_t    p = m->p;
    for (size_t i = 0; i < count; i++) {
        cr_rng  r = cr_rng_stream(seed, i);
        double *x = out + i * p;
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        for (size_t j = 0; j < p; j++) x[j] = sqrt(m->psi[j]) * cr_rng_normal(&r);
        for (size_t a = 0; a < m->q; a++) {
            double z = cr_rng_normal(&r);
            for (size_t j = 0; j < p; j++) x[j] += z * m->loading[a * p + j];
        }
        for (size_t j = 0; j < p; j++) x[j] = m->centre[j] + m->scale[j] * x[j];
    }
done:
    return st;
}

void cri_factors_next(const cri_factors *m, cr_prediction *out)
{
    for (size_t j = 0; j < m->p; j++) {
        double variance = m->psi[j];
        for (size_t a = 0; a < m->q; a++)
            variance += m->loading[a * m->p + j] * m->loading[a * m->p + j];
        out->mean[j] = m->centre[j];
        out->scale[j] = m->scale[j] * sqrt(variance);
        out->dof[j] = INFINITY;
    }
}

void cri_factors_score_sds(const cri_factors *m, double *out)
{
    size_t q = m->q;
    for (size_t a = 0; a < q;
         a++) { /* column a of L^-1, by forward substitution: M^-1_aa = |it|^2 */
        double total = 0;
        for (size_t b = a; b < q; b++) {
            double x = b == a;
            for (size_t c = a; c < b; c++) x -= m->L[b * q + c] * out[c];
            out[b] = x / m->L[b * q + b];
            total += out[b] * out[b];
        }
        out[a] = total; /* those before are done, those after are workspace */
    }
    for (size_t a = 0; a < q; a++) out[a] = sqrt(out[a]);
}
