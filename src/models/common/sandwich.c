/* sandwich.c -- heteroscedasticity-consistent covariances of coefficients. */
#include "sandwich.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 128 };

/* A leverage from here on is 1 but for rounding. */
static const double FULL = 1 - 1e-10;

const char *cri_errors_name(cri_errors errors)
{
    static const char *const names[] = { "classical", "hc0", "hc1", "hc2", "hc3" };
    return names[errors];
}

typedef struct work {
    const cri_predictor *fit;
    const cri_rows      *rows;
    cri_errors           errors;
    const double        *square, *precision; /* [n], [n] or NULL */
} work;

/* c_i with the factor of its kind; 0 where the leverage is full, which *left_out counts. */
static double weigh(const work *w, size_t i, double h, double *left_out)
{
    if (w->errors < CRI_HC2) return w->square[i];
    if (w->precision) h *= w->precision[i];
    if (h > FULL) {
        *left_out += 1;
        return 0;
    }
    return w->square[i] / (w->errors == CRI_HC2 ? 1 - h : (1 - h) * (1 - h));
}

/* acc [1 + (1 + r)^2]: rows left out, then sum of c v v', v = (1, F u), its lower triangle.
 * workspace: U [BLOCK x p], V [BLOCK x (1 + r)]. */
static void add_block(void *arg, cri_range range, double *acc, double *workspace)
{
    const work          *w = arg;
    const cri_predictor *m = w->fit;
    size_t               p = m->p, r = m->rank, n = range.end - range.begin, width = 1 + r;
    double              *U = workspace, *V = workspace + BLOCK * p;
    cri_rows_fill(w->rows, range.begin, range.end, U, p);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++) U[i * p + j] = (U[i * p + j] - m->centre[j]) / m->scale[j];
    if (r > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)r, (int)p, 1, U, (int)p,
                    m->factor, (int)p, 0, V + 1, (int)width);
    for (size_t i = 0; i < n; i++) {
        double *v = V + i * width, h = m->mean_share;
        v[0] = 1;
        for (size_t k = 1; k < width; k++) h += v[k] * v[k];
        double root = sqrt(weigh(w, range.begin + i, h, acc));
        for (size_t k = 0; k < width; k++) v[k] *= root;
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)width, (int)n, 1, V, (int)width, 1,
                acc + 1, (int)width);
}

/* T [q x width]: from (value at the centre, F u) to (intercept, coefficients), so that the covariance
 * of these is T G T' for the covariance G of those. */
static void set_map(const cri_predictor *m, double first, double *T)
{
    size_t one = m->has_intercept, width = 1 + m->rank;
    for (size_t j = 0; j < m->p; j++)
        for (size_t k = 0; k < m->rank; k++) {
            double t = m->factor[k * m->p + j] / m->scale[j];
            T[(one + j) * width + 1 + k] = t;
            if (one) T[1 + k] -= m->centre[j] * t;
        }
    for (size_t k = 0; one && m->start && k < m->rank; k++) T[1 + k] += m->start[k];
    if (one) T[0] = first;
}

/* out [q x q] = T G T', both triangles; G's lower triangle is given, workspace [q x width]. */
static void map_covariance(size_t q, size_t width, const double *T, double *G, double *workspace,
                           double *out)
{
    cblas_dsymm(CblasRowMajor, CblasRight, CblasLower, (int)q, (int)width, 1, G, (int)width, T,
                (int)width, 0, workspace, (int)width);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)q, (int)q, (int)width, 1, workspace,
                (int)width, T, (int)width, 0, out, (int)q);
    for (size_t a = 0; a < q; a++) /* rounding makes them differ */
        for (size_t b = 0; b < a; b++) out[b * q + a] = out[a * q + b];
}

static void set_sds(cri_predictor *fit)
{
    size_t one = fit->has_intercept, q = one + fit->p;
    if (one) fit->intercept_sd = sqrt(fit->robust[0]);
    for (size_t j = 0; j < fit->p; j++)
        if (!isnan(fit->coef_sd[j])) fit->coef_sd[j] = sqrt(fit->robust[(one + j) * (q + 1)]);
}

cr_status cri_predictor_set_robust(cr_ctx *cx, const cri_rows *rows, cri_errors errors,
                                   const double *square, const double *opt_precision, double share,
                                   cri_predictor *fit)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     q = fit->has_intercept + fit->p, width = 1 + fit->rank;
    work       w = { fit, rows, errors, square, opt_precision };
    double    *acc = cr_scratch_f64(&s, 1 + width * width);
    double    *T = cr_scratch_bytes(&s, q * width, sizeof(double));
    double    *workspace = cr_scratch_matrix(&s, q, width);

    CR_TRY(s.status);
    fit->q = q;
    fit->robust = cr_alloc(cx, q, q * sizeof(double));
    if (!fit->robust) CR_TRY(CR_ENOMEM);
    cri_blas_enter();
    st = cri_parallel_sum_in(cx, "spreads of the rows", rows->n, BLOCK, 1 + width * width,
                             BLOCK * (fit->p + width), add_block, &w, acc);
    if (st == CR_OK) {
        set_map(fit, fit->mean_share, T);
        map_covariance(q, width, T, acc + 1, workspace, fit->robust);
    }
    cri_blas_leave();
    CR_TRY(st);
    for (size_t i = 0; errors == CRI_HC1 && i < q * q; i++) fit->robust[i] *= share;
    set_sds(fit);
    if (acc[0] > 0)
        cr_log(cx, CR_LOG_WARNING,
               "%.0f %s of leverage 1 carry no information about the noise: %s leaves them out",
               acc[0], acc[0] > 1 ? "rows" : "row", cri_errors_name(errors));
done:
    cr_scratch_end(&s);
    return st;
}

/* The classical one, sigma^2 A^-1. */
static cr_status set_classical(cr_ctx *cx, const cri_predictor *m, size_t q, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     width = 1 + m->rank;
    double    *G = cr_scratch_bytes(&s, width * width, sizeof(double));
    double    *T = cr_scratch_bytes(&s, q * width, sizeof(double));
    double    *workspace = cr_scratch_matrix(&s, q, width);
    CR_TRY(s.status);
    for (size_t k = 0; k < width; k++) G[k * (width + 1)] = m->sigma * m->sigma;
    G[0] *= m->mean_share;
    set_map(m, 1, T);
    cri_blas_enter();
    map_covariance(q, width, T, G, workspace, out);
    cri_blas_leave();
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_predictor_covariance(cr_ctx *cx, const cri_predictor *m, double **out, size_t *out_n)
{
    cr_status st = CR_OK;
    size_t    one = m->has_intercept, q = one + m->p;
    double   *C = cr_alloc(cx, q, q * sizeof(double));
    if (!C) return CR_ENOMEM;
    if (m->robust)
        memcpy(C, m->robust, q * q * sizeof(double));
    else
        CR_TRY(set_classical(cx, m, q, C));
    for (size_t j = 0; m->diagonal && j < m->p; j++) {
        double t = m->sigma / m->scale[j];
        C[(one + j) * (q + 1)] += m->diagonal[j] * t * t;
    }
    for (size_t a = 0; a < q; a++) {
        bool known = !isnan(one && a == 0 ? m->intercept_sd : m->coef_sd[a - one]);
        for (size_t b = 0; b < q && !known; b++) C[a * q + b] = C[b * q + a] = NAN;
    }
    *out = C;
    *out_n = q;
    C = NULL;
done:
    cr_free(cx, C, q, q * sizeof(double));
    return st;
}
