/* mixture_solve.c -- the M-step: the parameters that are best for expected statistics, with a weak prior.
 * The prior of a component counts for s rows that are as all rows together, of mean m_j, or levels m_jl:
 *   bernoulli  p^(s m) (1 - p)^(s (1 - m))       p = (sum r x + s m) / (n + s)
 *   poisson    rate^(s m) exp(-s rate)           rate = (sum r x + s m) / (n + s)
 *   category   prod_l p_l^(s m_l)                p_l = (n_l + s m_l) / (n + s)
 *   real       v^(-s/2) exp(-s V / (2 v) - kappa mu^2 / (2 v)),   V = k^(-2/p)
 * of t, in which all rows have mean 0 and variance 1; the last is the prior of gmm with diagonal covariances.  So
 * probabilities keep off 0 and 1, and a variance off 0.  Without a prior probabilities are at least 1e-12, rates 1e-12
 * of that of all rows: each is the maximum among those allowed, so that no step loses.
 * Bishop (2006), PRML, sec. 9.3.3; Vermunt & Magidson (2016), Technical Guide for Latent GOLD. */
#include "mixture.h"
#include "math/constants.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

static const double KAPPA = 0.01;  /* rows at the mean of all that the prior of a mean counts for */
static const double LEAST = 1e-12; /* probability */

/* --- states ----------------------------------------------------------------------------------- */

size_t cri_mixture_levels(const cri_mixture *m, size_t j)
{
    size_t next = j + 1;
    if (cri_mixture_kind_of(m, j) != CRI_MIXTURE_CATEGORY) return 0;
    while (next < m->p && cri_mixture_kind_of(m, next) != CRI_MIXTURE_CATEGORY) next++;
    return (next < m->p ? m->first[next] : m->L) - m->first[j];
}

cr_status cri_mixture_new(cr_ctx *cx, size_t k, size_t p, size_t L, size_t tried, cri_mixture **out)
{
    cri_mixture *m = cr_alloc(cx, 1, sizeof *m);
    cr_status    st;
    if (!m) return CR_ENOMEM;
    m->k = k, m->p = p, m->L = L, m->tried = tried;
    st = cri_record_allocate(cx, cri_mixture_record, m);
    if (st != CR_OK) cri_state_free(cx, &cri_class_mixture, m);
    if (st == CR_OK) *out = m;
    return st;
}

void cri_mixture_place(cri_mixture *m)
{
    size_t at = 0;
    m->q = m->g = 0;
    for (size_t j = 0; j < m->p; j++)
        if (cri_mixture_is_linear(m->kind[j])) m->column[at++] = j, m->slot[j] = m->q++;
    for (size_t j = 0; j < m->p; j++)
        if (cri_mixture_is_real(m->kind[j])) m->column[at++] = j, m->slot[j] = m->g++;
    for (size_t j = 0; j < m->p; j++)
        if (cri_mixture_kind_of(m, j) == CRI_MIXTURE_CATEGORY)
            m->column[at] = j, m->slot[j] = at++ - m->q - m->g;
    for (size_t x = 0; x < CRI_MIXTURE_FACTORIALS; x++)
        m->log_factorial[x] = x < 2 ? 0 : cr_lgamma_abs((double)x + 1);
}

void cri_mixture_prepare(cri_mixture *m)
{
    for (size_t c = 0; c < m->k; c++) {
        double *constant = &m->constant[c];
        *constant = log(m->share[c]);
        for (size_t a = 0; a < m->q; a++) {
            size_t j = m->column[a], at = c * m->q + a;
            double mean = m->mean[c * m->p + j];
            bool   counts = cri_mixture_kind_of(m, j) == CRI_MIXTURE_POISSON;
            m->base[at] = counts ? -mean : log1p(-mean);
            m->eta[at] = counts ? log(mean) : log(mean) - m->base[at];
            *constant += m->base[at];
        }
        for (size_t a = 0; a < m->g; a++) {
            double sd = m->sd[c * m->p + m->column[m->q + a]];
            *constant += m->peak[c * m->g + a] = -log(sd) - 0.5 * CRI_LOG_2PI;
        }
        for (size_t l = c * m->L; l < (c + 1) * m->L; l++) m->log_level[l] = log(m->level[l]);
    }
}

void cri_mixture_take(const cri_mixture *from, cri_mixture *to)
{
    size_t cells = from->k * from->p * sizeof(double);
    memcpy(to->share, from->share, from->k * sizeof(double));
    memcpy(to->mean, from->mean, cells);
    memcpy(to->sd, from->sd, cells);
    if (from->L) memcpy(to->level, from->level, from->k * from->L * sizeof(double));
    to->lost = false;
    cri_mixture_prepare(to);
}

double cri_mixture_parameters(const cri_mixture *m, size_t k)
{
    double each = 1;
    for (size_t j = 0; j < m->p; j++) {
        cri_mixture_kind kind = cri_mixture_kind_of(m, j);
        each += kind == CRI_MIXTURE_CATEGORY ? (double)cri_mixture_levels(m, j) - 1
                                             : (double)(1 + cri_mixture_is_real(kind));
    }
    return (double)k * each - 1;
}

bool cri_mixture_is_flat(const cri_mixture *m, double least)
{
    bool flat = false;
    for (size_t c = 0; c < m->k; c++)
        for (size_t a = 0; a < m->g; a++) {
            double sd = m->sd[c * m->p + m->column[m->q + a]];
            flat |= sd * sd < least;
        }
    return flat;
}

/* --- maximisation ----------------------------------------------------------------------------- */

static void solve_linear(cri_mixture *m, size_t c, cri_mixture_sums s)
{
    for (size_t a = 0; a < m->q; a++) {
        size_t  j = m->column[a];
        double *mean = &m->mean[c * m->p + j], rows = m->prior_rows;
        double  n = fmax(s.n[c] - s.absent[c * m->q + a], 0) + rows;
        if (n > 0) *mean = (s.x[c * m->q + a] + rows * m->overall[j]) / n;
        bool counts = cri_mixture_kind_of(m, j) == CRI_MIXTURE_POISSON;
        *mean = fmax(*mean, LEAST * (counts ? m->overall[j] : 1));
        if (!counts) *mean = fmin(*mean, 1 - LEAST);
    }
}

static void solve_real(cri_mixture *m, size_t c, cri_mixture_sums s)
{
    double rows = m->prior_rows, kappa = rows > 0 ? KAPPA : 0;
    for (size_t a = 0; a < m->g; a++) {
        size_t cell = c * m->p + m->column[m->q + a], at = c * m->g + a;
        double n = fmax(s.n[c] - s.real_gaps[at], 1e-200), sd = m->sd[cell], z = s.z[at] / n;
        double mean = m->mean[cell] + sd * z;
        double squares = sd * sd * fmax(s.square[at] - n * z * z, 0);
        squares += rows * m->prior_variance + kappa * n / (kappa + n) * mean * mean;
        double variance = squares / (n + rows);
        m->lost |= !(variance > 1e-300 && isfinite(variance));
        m->mean[cell] = n / (kappa + n) * mean;
        m->sd[cell] = sqrt(variance);
    }
}

/* Probabilities of levels in proportion to what they count, none below LEAST. */
static void solve_levels(const double *count, const double *overall, double rows, size_t levels,
                         double *out)
{
    double total = 0, free_mass = 1;
    size_t held = 0;
    for (size_t l = 0; l < levels; l++) total += out[l] = count[l] + rows * overall[l];
    for (size_t l = 0; l < levels; l++) { /* one that is held takes next to nothing from others */
        bool hold = !(out[l] > LEAST * total);
        if (hold) out[l] = -1, free_mass -= LEAST;
        held += hold;
    }
    total = 0;
    for (size_t l = 0; l < levels; l++) total += out[l] > 0 ? out[l] : 0;
    for (size_t l = 0; l < levels; l++) out[l] = out[l] > 0 ? free_mass * out[l] / total : LEAST;
    for (size_t l = 0; l < levels && held == levels; l++) out[l] = 1 / (double)levels;
}

void cri_mixture_solve_part(cri_mixture *m, const double *part)
{
    cri_mixture_sums s = cri_mixture_sums_at(m, part);
    double           total = 0;
    m->lost = false;
    for (size_t c = 0; c < m->k; c++) total += s.n[c];
    for (size_t c = 0; c < m->k; c++) m->lost |= !(s.n[c] > 1e-10 * total);
    if (m->lost) return;
    for (size_t c = 0; c < m->k; c++) {
        m->share[c] = s.n[c] / total;
        solve_linear(m, c, s);
        solve_real(m, c, s);
        for (size_t a = m->q + m->g; a < m->p; a++) {
            size_t j = m->column[a], at = c * m->L + m->first[j];
            solve_levels(s.count + at, m->overall_level + m->first[j], m->prior_rows,
                         cri_mixture_levels(m, j), m->level + at);
        }
    }
    if (!m->lost) cri_mixture_prepare(m);
}

cr_status cri_mixture_solve(cr_ctx *cx, const void *options, const double *sums, void *state)
{
    cri_mixture *m = state;
    (void)options;
    if (m->draws) return cri_mixture_solve_draws(cx, sums + 2, m);
    cri_mixture_solve_part(m, sums + 2);
    return CR_OK;
}

double cri_mixture_log_prior(const void *state)
{
    const cri_mixture *m = state;
    double             sum = 0, s = m->prior_rows;
    if (!(s > 0)) return 0;
    for (size_t c = 0; c < m->k; c++) {
        for (size_t a = 0; a < m->q; a++) {
            size_t at = c * m->q + a, j = m->column[a];
            sum += s * (m->overall[j] * m->eta[at] + m->base[at]);
        }
        for (size_t a = 0; a < m->g; a++) {
            size_t cell = c * m->p + m->column[m->q + a];
            double sd = m->sd[cell], mean = m->mean[cell];
            sum -= s * log(sd) + 0.5 * (s * m->prior_variance + KAPPA * mean * mean) / (sd * sd);
        }
        for (size_t l = 0; l < m->L; l++)
            sum += s * m->overall_level[l] * m->log_level[c * m->L + l];
    }
    return sum;
}
