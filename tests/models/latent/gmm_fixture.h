/* gmm_fixture.h -- what the tests of Gaussian mixtures share: rows in clusters, fits whose objective rises, densities. */
#ifndef CREDENCE_TEST_MODELS_LATENT_GMM_FIXTURE_H
#define CREDENCE_TEST_MODELS_LATENT_GMM_FIXTURE_H

#include "../fixture.h"

#include "math/dense/decompose.h"
#include "models/core/em.h"
#include "models/latent/gmm.h"
#include "prob/dist/small_matrix.h"

static inline const cri_gmm *state_of(const cr_model *m) { return m->state; }

/* A fit whose objective has never fallen, and whose description is in order. */
static inline cr_model *rising(cr_ctx *cx, const cr_table *t, const char *settings)
{
    cr_model             *m = fit(cx, "gmm", t, settings);
    const cri_em_outcome *o = &state_of(m)->em;
    for (size_t i = 1; i < o->iterations; i++)
        if (!(o->trace[i] >= o->trace[i - 1] - 1e-9 * (1 + fabs(o->trace[i]))))
            fail_msg("%s: pass %zu falls by %g", settings, i, o->trace[i - 1] - o->trace[i]);
    assert_true(o->trace[o->iterations - 1] == o->objective);
    if (state_of(m)->vb)
        assert_true(m->report.log_evidence == o->objective);
    else
        assert_close(o->objective - cri_gmm_log_prior(m->state), m->report.log_likelihood,
                     1e-9 * fabs(o->objective));
    return m;
}

static inline const char *covariance_named(size_t form)
{
    static const char *const names[] = { "full", "tied", "diag", "spherical" };
    return names[form];
}

/* Three clusters, the columns of different units, and a far offset. */
enum { N = 90, D = 3 };
static inline void draw(uint64_t seed, double offset, double *X)
{
    cr_rng r = cr_rng_stream(seed, 3);
    for (size_t i = 0; i < N; i++) {
        double a = cr_rng_normal(&r), b = cr_rng_normal(&r), c = (double)(i % 3);
        X[i * D] = offset + 4 * c + a;
        X[i * D + 1] = offset + 10 * (c == 1) + 2 * b + a;
        X[i * D + 2] = offset + 0.1 * cr_rng_normal(&r) + 0.2 * c * b;
    }
}

/* Every third row lacks a cell or two, and the last everything. */
static inline void leave_gaps(double *X)
{
    for (size_t i = 0; i < N; i += 3) {
        X[i * D + i / 3 % D] = NAN;
        if (i % 2 == 0) X[i * D + (i / 3 + 1) % D] = NAN;
    }
    for (size_t j = 0; j < D; j++) X[(N - 1) * D + j] = NAN;
}

/* log N(x; component c), by elimination, from what the description says. */
static inline double log_normal(const cri_gmm *m, size_t c, const double *x)
{
    long double C[16], t[4], logdet, square;
    double      S[16];
    cri_gmm_covariance(m, c, S);
    for (size_t i = 0; i < m->d * m->d; i++)
        C[i] = (long double)S[i] * m->scale[i / m->d] * m->scale[i % m->d];
    for (size_t j = 0; j < m->d; j++)
        t[j] = x[j] - (m->centre[j] + (long double)m->scale[j] * m->mean[c * m->d + j]);
    square = quadratic_form(m->d, C, t, &logdet);
    return (double)(-0.5L * (square + logdet + (long double)m->d * logl(2 * M_PI)));
}

/* log p of the rows of T [n x d] in a set, under a normal-inverse-Wishart prior: kappa, nu, Psi, mean 0. */
static inline double log_marginal(const cri_gmm *m, const double *T, size_t n, size_t set)
{
    size_t      d = m->d;
    double      mean[D] = { 0 }, rows = 0;
    long double Psi[D * D], prior[D * D], zero[2][D] = { { 0 } }, before, after;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d && set >> i & 1; j++) mean[j] += T[i * d + j], rows += j == 0;
    for (size_t a = 0; a < d * d; a++) {
        prior[a] = Psi[a] = m->prior_scale[a];
        for (size_t i = 0; i < n; i++)
            if (set >> i & 1) Psi[a] += (long double)T[i * d + a / d] * T[i * d + a % d];
        Psi[a] -= (long double)mean[a / d] * mean[a % d] / (m->prior_kappa + rows);
    }
    quadratic_form(d, prior, zero[0], &before);
    quadratic_form(d, Psi, zero[1], &after);
    double nu = m->prior_rows;
    return -0.5 * rows * (double)d * log(M_PI) + cri_log_gamma_d(0.5 * (nu + rows), d) -
           cri_log_gamma_d(0.5 * nu, d) + 0.5 * nu * (double)before -
           0.5 * (nu + rows) * (double)after +
           0.5 * (double)d * log(m->prior_kappa / (m->prior_kappa + rows));
}

/* What the units of the data take off the log density of n rows of t. */
static inline double log_units(const cri_gmm *m, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < m->d; j++) sum += (double)n * log(m->scale[j]);
    return sum;
}

#endif
