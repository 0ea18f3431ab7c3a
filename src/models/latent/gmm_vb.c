/* gmm_vb.c -- a posterior of a mixture by variational Bayes.
 *   q = q(assignments) Dirichlet(shares; alpha_c) prod_c N(mu_c; m_c, S_c / beta_c) InverseWishart(S_c; nu_c, Psi_c)
 *   alpha_c = alpha + n_c,   beta_c = kappa + n_c,   nu_c = nu + n_c,   Psi_c = nu_c S,   n_c expected rows
 * The state holds m_c as its means and Psi_c / nu_c, the inverse of the expected precision, as its covariances, so that
 * steps are those of EM with other constants:
 *   log r_c ~ E log share_c + E log|S_c^-1| / 2 - d / (2 beta_c) - |z_c|^2 / 2,
 * and the bound on the log evidence is the sum over rows of the log of what these are normalised by, less the
 * divergence of q from the prior, whose nu and kappa are prior_rows and prior_kappa, and whose Psi is prior_scale.
 * The next row is a mixture of Student's t.  Bishop (2006), PRML, sec. 10.2. */
#include "gmm.h"
#include "math/special/special.h"
#include "prob/dist/small_matrix.h"

#include <math.h>

static double total_alpha(const cri_gmm *m)
{
    double sum = 0;
    for (size_t c = 0; c < m->k; c++) sum += m->alpha + m->rows[c];
    return sum;
}

void cri_gmm_vb_shares(cri_gmm *m)
{
    double total = total_alpha(m);
    for (size_t c = 0; c < m->k; c++) m->share[c] = (m->alpha + m->rows[c]) / total;
}

bool cri_gmm_vb_begin(cri_gmm *m, double alpha, double weight)
{
    if (!cri_factor_point(m->prior_scale, m->d, m->U)) return false; /* U is made anew below */
    m->prior_log_det = cri_log_det(m->U, m->d);
    m->vb = true, m->alpha = alpha;
    for (size_t c = 0; c < m->k; c++) m->rows[c] = weight * m->share[c];
    cri_gmm_vb_shares(m);
    cri_gmm_prepare(m);
    return true;
}

static double log_det_factor(const cri_gmm *m, size_t c) /* log|U_c| */
{
    double sum = 0;
    for (size_t i = 0; i < m->d; i++) sum += log(m->U[(c * m->d + i) * m->d + i]);
    return sum;
}

double cri_gmm_vb_constant(const cri_gmm *m, size_t c)
{
    double d = (double)m->d, nu = m->prior_rows + m->rows[c], beta = m->prior_kappa + m->rows[c];
    /* E log|S^-1| = sum_i psi((nu - i) / 2) + d log 2 - log|Psi|, Psi = nu S */
    double precision = cri_digamma_d(0.5 * nu, m->d) + d * log(2 / nu) + 2 * log_det_factor(m, c);
    return cr_digamma(m->alpha + m->rows[c]) - cr_digamma(total_alpha(m)) + 0.5 * precision -
           0.5 * d / beta;
}

double cri_gmm_vb_log_prior(const cri_gmm *m)
{
    double K = (double)m->k, d = (double)m->d, total = total_alpha(m), sum;
    sum = cr_lgamma_abs(total) - cr_lgamma_abs(K * m->alpha) + K * cr_lgamma_abs(m->alpha);
    for (size_t c = 0; c < m->k; c++) {
        const double *U = m->U + c * m->d * m->d;
        double        n = m->rows[c], alpha = m->alpha + n;
        double        nu0 = m->prior_rows, nu = nu0 + n, kappa = m->prior_kappa, beta = kappa + n;
        double        mean = 0, trace = 0;
        sum += n * (cr_digamma(alpha) - cr_digamma(total)) - cr_lgamma_abs(alpha);
        for (size_t i = 0; i < m->d; i++) {
            mean += m->b[c * m->d + i] * m->b[c * m->d + i];
            for (size_t j = 0; j <= i; j++)
                for (size_t l = 0; l <= i; l++)
                    trace += U[i * m->d + j] * m->prior_scale[j * m->d + l] * U[i * m->d + l];
        }
        sum += 0.5 * (d * log(beta / kappa) + d * kappa / beta - d + kappa * mean);
        /* tr(Psi_0 Psi^-1) nu = trace; log|Psi| = d log nu - 2 log|U| */
        sum += 0.5 * (nu0 * (d * log(nu) - 2 * log_det_factor(m, c) - m->prior_log_det) + trace -
                      nu * d) +
               cri_log_gamma_d(0.5 * nu0, m->d) - cri_log_gamma_d(0.5 * nu, m->d) +
               0.5 * n * cri_digamma_d(0.5 * nu, m->d);
    }
    return -sum;
}

/* Student's t with f = nu_c - d + 1 degrees of freedom, location m_c and scale matrix S_c nu_c (beta + 1) / (beta f);
 * of some columns the same of the part of S_c. */
double cri_gmm_vb_dof(const cri_gmm *m, size_t c, double *out_stretch)
{
    double nu = m->prior_rows + m->rows[c], beta = m->prior_kappa + m->rows[c];
    double f = nu - (double)m->d + 1;
    *out_stretch = nu * (beta + 1) / (beta * f);
    return f;
}

double cri_gmm_vb_predictive(const cri_gmm *m, size_t c, size_t q, double half_square,
                             double log_det)
{
    double stretch, f = cri_gmm_vb_dof(m, c, &stretch), Q = (double)q;
    return log(m->share[c]) + cr_lgamma_diff(0.5 * f, 0.5 * Q) - 0.5 * Q * log(f * M_PI * stretch) +
           log_det - 0.5 * (f + Q) * log1p(-2 * half_square / (stretch * f));
}

double cri_gmm_vb_share_sd(const cri_gmm *m, size_t c)
{
    return m->vb ? sqrt(m->share[c] * (1 - m->share[c]) / (total_alpha(m) + 1)) : NAN;
}

double cri_gmm_vb_mean_sd(const cri_gmm *m, size_t c, size_t j)
{
    double nu = m->prior_rows + m->rows[c], beta = m->prior_kappa + m->rows[c], sum = 0;
    double free = nu - (double)m->d - 1;
    if (!m->vb || !(free > 0)) return NAN;
    for (size_t l = 0; l <= j; l++) sum += pow(m->L[(c * m->d + j) * m->d + l], 2);
    return sqrt(sum * nu / (beta * free));
}

/* S_jj has an inverse gamma distribution of shape a = (nu - d + 1) / 2 and scale b = nu S_jj / 2. */
double cri_gmm_vb_spread_sd(const cri_gmm *m, size_t c, size_t j)
{
    double nu = m->prior_rows + m->rows[c], a = 0.5 * (nu - (double)m->d + 1), b = 0;
    if (!(a > 1)) return NAN;
    for (size_t l = 0; l <= j; l++) b += 0.5 * nu * pow(m->L[(c * m->d + j) * m->d + l], 2);
    return sqrt(b * (1 / (a - 1) - exp(-2 * cr_lgamma_diff(a - 0.5, 0.5))));
}
