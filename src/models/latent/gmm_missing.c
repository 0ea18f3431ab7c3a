/* gmm_missing.c -- rows with missing cells: those cells are integrated out exactly.
 * With O the observed and M the missing columns, U_c = L_c^-1 and v = U_c (t - mu_c) where missing cells are put at
 * mu_c, the mean of z given what is observed is what remains of v beside the columns U_M of U_c:
 *   U_M = Y R (Y orthonormal columns),   E z = v - Y Y^T v,   cov z = Y Y^T,
 *   log p(t_O | c) = -|O|/2 log 2 pi + log|U_c| - log|R| - |E z|^2 / 2.
 * So no covariance has to be inverted.  O(d m^2) for each component and pattern of m missing cells, and
 * O(d (d + m)) for each row.  Little & Rubin (2002), Statistical Analysis with Missing Data, sec. 11.3. */
#include "gmm.h"
#include "math/constants.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

/* Workspace: for the pattern Y [k][d x m], log p without its exponent [k] and weights [k]; for the row z [k][d] and
 * log p(t_O, c) [k]. */
size_t cri_gmm_missing_work(const cri_gmm *m) { return m->kd * m->width + m->kd + 3 * m->k; }

typedef struct pattern {
    const double *like; /* [d] a row that has it */
    size_t        missing;
    double        log_scale; /* sum over the observed columns */
    double       *Y, *constant, *weight, *z, *p;
} pattern;

static pattern open_pattern(const cri_gmm *m, const double *like, double *work)
{
    pattern a = { .like = like, .Y = work };
    a.constant = a.Y + m->kd * m->width;
    a.weight = a.constant + m->k;
    a.p = a.weight + m->k;
    a.z = a.p + m->k;
    for (size_t j = 0; j < m->d; j++) {
        a.missing += isnan(like[j]) ? 1 : 0;
        a.log_scale += isnan(like[j]) ? 0 : log(m->scale[j]);
    }
    return a;
}

/* Column l of Y, made of v [d], which is taken apart from those before it, twice against rounding; its length. */
static double orthonormalise(double *Y, size_t d, size_t l, double *v)
{
    double length = 0;
    for (int again = 0; again < 2; again++)
        for (size_t b = 0; b < l; b++) {
            double dot = 0;
            for (size_t i = 0; i < d; i++) dot += Y[b * d + i] * v[i];
            for (size_t i = 0; i < d; i++) v[i] -= dot * Y[b * d + i];
        }
    for (size_t i = 0; i < d; i++) length += v[i] * v[i];
    length = sqrt(length);
    for (size_t i = 0; i < d; i++) Y[l * d + i] = length > 0 ? v[i] / length : 0;
    return length;
}

/* Y, by columns [m x d], and the constant of each component. */
static void prepare_pattern(const cri_gmm *m, pattern *a)
{
    size_t d = m->d;
    for (size_t c = 0; c < m->k; c++) {
        const double *U = m->U + c * d * m->width;
        double       *Y = a->Y + c * d * m->width;
        size_t        l = 0;
        a->weight[c] = 0;
        a->constant[c] = m->constant[c] + 0.5 * (double)a->missing * CRI_LOG_2PI;
        for (size_t j = 0; j < d; j++) {
            if (!isnan(a->like[j])) continue;
            if (cri_gmm_is_diagonal(m->form)) {
                a->constant[c] -= log(U[j]);
                continue;
            }
            for (size_t i = 0; i < d; i++) a->z[i] = U[i * d + j];
            a->constant[c] -= log(orthonormalise(Y, d, l++, a->z));
        }
    }
}

/* z = E z and p = log p(t_O, c) of all components. */
static void score_row(const cri_gmm *m, const pattern *a, const double *t)
{
    size_t d = m->d;
    for (size_t c = 0; c < m->k; c++) {
        const double *U = m->U + c * d * m->width, *mean = m->mean + c * d;
        double       *z = a->z + c * d, square = 0;
        memset(z, 0, d * sizeof *z);
        for (size_t j = 0; j < d; j++) {
            if (isnan(t[j])) continue;
            if (cri_gmm_is_diagonal(m->form))
                z[j] = U[j] * (t[j] - mean[j]);
            else
                for (size_t i = j; i < d; i++) z[i] += U[i * d + j] * (t[j] - mean[j]);
        }
        for (size_t l = 0; !cri_gmm_is_diagonal(m->form) && l < a->missing; l++) {
            const double *y = a->Y + c * d * d + l * d;
            double        dot = 0;
            for (size_t i = 0; i < d; i++) dot += y[i] * z[i];
            for (size_t i = 0; i < d; i++) z[i] -= dot * y[i];
        }
        for (size_t i = 0; i < d; i++) square += z[i] * z[i];
        a->p[c] = a->constant[c] - 0.5 * square;
    }
}

/* Adds a row of weight w to the statistics, without the spread of its missing cells, whose weight is kept. */
static void add_row(const cri_gmm *m, pattern *a, double w, double *sums)
{
    size_t d = m->d, part = 1 + d + d * m->width;
    double log_density = cr_logsumexp(a->p, m->k), top = 0;
    cr_softmax(a->p, m->k, a->p);
    for (size_t c = 0; c < m->k; c++) {
        double       *s = sums + 2 + c * part, r = w * a->p[c];
        const double *z = a->z + c * d;
        top = fmax(top, a->p[c]);
        a->weight[c] += r;
        s[0] += r;
        for (size_t i = 0; i < d; i++) {
            s[1 + i] += r * z[i];
            if (cri_gmm_is_diagonal(m->form)) s[1 + d + i] += r * z[i] * z[i];
            for (size_t j = 0; !cri_gmm_is_diagonal(m->form) && j < d; j++)
                s[1 + d + i * d + j] += r * z[i] * z[j];
        }
    }
    sums[0] += w * (log_density - a->log_scale);
    sums[1] += w * log(top);
}

/* Adds the spread of the missing cells of all rows with the pattern: Y Y^T for each. */
static void add_spread(const cri_gmm *m, const pattern *a, double *sums)
{
    size_t d = m->d, part = 1 + d + d * m->width;
    for (size_t c = 0; c < m->k; c++) {
        double *second = sums + 2 + c * part + 1 + d, w = a->weight[c];
        for (size_t j = 0; cri_gmm_is_diagonal(m->form) && j < d; j++)
            second[j] += isnan(a->like[j]) ? w : 0;
        for (size_t l = 0; !cri_gmm_is_diagonal(m->form) && l < a->missing; l++) {
            const double *y = a->Y + c * d * d + l * d;
            for (size_t i = 0; i < d; i++)
                for (size_t j = 0; j < d; j++) second[i * d + j] += w * y[i] * y[j];
        }
    }
}

static bool is_like(const double *a, const double *b, size_t d)
{
    for (size_t j = 0; j < d; j++)
        if (isnan(a[j]) != isnan(b[j])) return false;
    return true;
}

void cri_gmm_add_missing(const cri_gmm *m, const double *T, const double *w, size_t n,
                         const size_t *index, double *sums, double *work)
{
    bool done[CRI_GMM_BLOCK] = { false };
    for (size_t i = 0; i < n; i++) {
        if (done[i]) continue;
        pattern a = open_pattern(m, T + index[i] * m->d, work);
        if (a.missing == m->d) continue; /* says nothing */
        prepare_pattern(m, &a);
        for (size_t b = i; b < n; b++) {
            const double *t = T + index[b] * m->d;
            if (done[b] || !is_like(a.like, t, m->d)) continue;
            done[b] = true;
            if (!(w[index[b]] > 0)) continue;
            score_row(m, &a, t);
            add_row(m, &a, w[index[b]], sums);
        }
        add_spread(m, &a, sums);
    }
}

void cri_gmm_respond_missing(const cri_gmm *m, const double *t, double *out, double *log_density,
                             double *work)
{
    pattern a = open_pattern(m, t, work);
    prepare_pattern(m, &a);
    score_row(m, &a, t);
    for (size_t c = 0; m->vb && c < m->k; c++) {
        double log_det =
            a.constant[c] - m->constant[c] - 0.5 * (double)a.missing * CRI_LOG_2PI; /* -log|R| */
        for (size_t j = 0; j < m->d; j++) log_det += log(m->U[(c * m->d + j) * m->d + j]);
        a.p[c] = cri_gmm_vb_predictive(m, c, m->d - a.missing, a.p[c] - a.constant[c], log_det);
    }
    *log_density = cr_logsumexp(a.p, m->k) - a.log_scale;
    cr_softmax(a.p, m->k, out);
}

void cri_gmm_see_missing(const cri_gmm *m, const double *t, cri_gmm_seen *out, double *work)
{
    pattern a = open_pattern(m, t, work);
    prepare_pattern(m, &a);
    score_row(m, &a, t);
    cr_softmax(a.p, m->k, a.p);
    *out = (cri_gmm_seen){ a.z, a.Y, a.p, a.missing };
}
