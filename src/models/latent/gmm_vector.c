/* gmm_vector.c -- a mixture as numbers without constraints, in which steps of EM are extrapolated.
 *   log share_c (with a posterior: log of the expected rows);   mu_c;
 *   S_c = L L^T, L = M diag(l), M with ones on its diagonal:  log l_j and M_ij, i > j
 * Most forms are linear in these numbers, so that what is extrapolated has the form: equal volumes are equal sums of
 * log l_j, equal shapes equal differences of them, and S_c = lambda_c B has the M of B.  Those with a common
 * orientation, or a common shape in several ones, are not: their steps are plain.  (The covariances of the form that
 * are nearest to the extrapolated ones would do, but they are found in rounds that end by a tolerance, and what that
 * leaves is magnified.) */
#include "gmm.h"

#include <math.h>
#include <string.h>

static const double LEAST_SHARE = 1e-12, MOST_LOG = 300;

static bool is_linear(int form)
{
    return cri_gmm_is_diagonal(form) || form == CRI_GMM_EEE || form == CRI_GMM_VEE ||
           form == CRI_GMM_EVV || form == CRI_GMM_VVV;
}

/* Numbers of one component. */
static size_t size_of_part(const cri_gmm *m)
{
    return 1 + m->d + (m->width > 1 ? m->d * (m->d + 1) / 2 : m->d);
}

size_t cri_gmm_dimension(const void *state)
{
    const cri_gmm *m = state;
    return m->k > 1 && is_linear(m->form) ? m->k * size_of_part(m) : 0; /* of one: one step */
}

void cri_gmm_to_vector(const void *state, double *out)
{
    const cri_gmm *m = state;
    size_t         d = m->d;
    for (size_t c = 0; c < m->k; c++) {
        const double *L = m->L + c * d * m->width;
        *out++ = log(fmax(m->vb ? m->rows[c] : m->share[c], 1e-300));
        memcpy(out, m->mean + c * d, d * sizeof *out);
        out += d;
        for (size_t j = 0; j < d; j++) {
            *out++ = log(L[m->width > 1 ? j * (d + 1) : j]);
            for (size_t i = j + 1; m->width > 1 && i < d; i++)
                *out++ = L[i * d + j] / L[j * (d + 1)];
        }
    }
}

/* Shares, or expected rows, from their logs, which keep their sum; false where one is none. */
static bool set_shares(const double *vector, cri_gmm *m)
{
    size_t  step = size_of_part(m);
    double *of = m->vb ? m->rows : m->share, sum = 0, total = 0, top = -INFINITY;
    for (size_t c = 0; c < m->k; c++) total += of[c], top = fmax(top, vector[c * step]);
    for (size_t c = 0; c < m->k; c++) sum += of[c] = exp(vector[c * step] - top);
    for (size_t c = 0; c < m->k; c++) of[c] *= total / sum;
    for (size_t c = 0; c < m->k && !m->vb; c++)
        if (!(of[c] > LEAST_SHARE)) return false;
    return true;
}

/* Means and factors; false where a number is none. */
static bool set_normals(const double *vector, cri_gmm *m)
{
    size_t d = m->d;
    for (size_t c = 0; c < m->k; c++) {
        double *L = m->L + c * d * m->width;
        vector++;
        memcpy(m->mean + c * d, vector, d * sizeof *vector);
        vector += d;
        for (size_t j = 0; j < d; j++) {
            if (!(fabs(*vector) < MOST_LOG)) return false;
            double l = exp(*vector++);
            L[m->width > 1 ? j * (d + 1) : j] = l;
            for (size_t i = j + 1; m->width > 1 && i < d; i++) L[i * d + j] = l * *vector++;
        }
    }
    return true;
}

cr_status cri_gmm_from_vector(cr_ctx *cx, const double *vector, void *state, bool *out_valid)
{
    cri_gmm *m = state;
    size_t   n = cri_gmm_dimension(m);
    (void)cx;
    *out_valid = true;
    for (size_t i = 0; i < n; i++) *out_valid &= isfinite(vector[i]);
    *out_valid = *out_valid && set_shares(vector, m) && set_normals(vector, m);
    if (!*out_valid) return CR_OK;
    if (m->vb) cri_gmm_vb_shares(m);
    cri_gmm_prepare(m);
    return CR_OK;
}
