/* mixture_fixture.h -- what the tests of mixtures of mixed columns share: rows of all kinds, fits whose objective rises,
 * densities by plain formulas. */
#ifndef CREDENCE_TEST_MODELS_LATENT_MIXTURE_FIXTURE_H
#define CREDENCE_TEST_MODELS_LATENT_MIXTURE_FIXTURE_H

#include "../fixture.h"

#include "models/core/em.h"
#include "models/latent/mixture.h"

static inline const cri_mixture *state_of(const cr_model *m) { return m->state; }

/* A fit whose objective has never fallen, and whose description is in order. */
static inline cr_model *rising(cr_ctx *cx, const cr_table *t, const char *settings)
{
    cr_model             *m = fit(cx, "mixture", t, settings);
    const cri_em_outcome *o = &state_of(m)->em;
    for (size_t i = 1; i < o->iterations; i++)
        if (!(o->trace[i] >= o->trace[i - 1] - 1e-9 * (1 + fabs(o->trace[i]))))
            fail_msg("%s: pass %zu falls by %g", settings, i, o->trace[i - 1] - o->trace[i]);
    assert_true(o->trace[o->iterations - 1] == o->objective);
    assert_close(o->objective - cri_mixture_log_prior(m->state), m->report.log_likelihood,
                 1e-9 * (1 + fabs(o->objective)));
    assert_close(m->report.log_likelihood, state_of(m)->log_likelihood,
                 1e-9 * (1 + fabs(o->objective)));
    describe(cx, m);
    return m;
}

/* Columns of all kinds: real, positive, count, yes-no (0 or 1), and two categories, the second of two levels; NaN is a
 * missing cell. */
enum { REAL, POSITIVE, COUNT, ANSWER, COLOUR, SIZE, ALL };
static const char *const all_names[ALL] = {
    "real", "positive", "count", "answer", "colour", "size"
};
static const char *const level_names[2][3] = { { "blue", "green", "red" },
                                               { "large", "small", "" } };
static const char        all_kinds[] = "numbers=auto,positive=lognormal,count=poisson";

/* X [n x ALL] from two components. */
static inline void draw_all(uint64_t seed, size_t n, double *X)
{
    cr_rng r = cr_rng_stream(seed, 5);
    for (size_t i = 0; i < n; i++) {
        bool         a = cr_rng_uniform(&r) < 0.6;
        const double colours[2][3] = { { 0.6, 0.3, 0.1 }, { 0.1, 0.2, 0.7 } };
        double      *x = X + i * ALL, rate = a ? 2 : 6, count = 0;
        for (double t = cr_rng_exponential(&r); t < rate; t += cr_rng_exponential(&r)) count++;
        x[REAL] = (a ? 1 : 4) + (a ? 1 : 0.7) * cr_rng_normal(&r);
        x[POSITIVE] = exp((a ? 0.2 : 1.5) + 0.4 * cr_rng_normal(&r));
        x[COUNT] = count;
        x[ANSWER] = cr_rng_uniform(&r) < (a ? 0.8 : 0.3);
        x[COLOUR] = (double)cr_rng_categorical(&r, colours[!a], 3);
        x[SIZE] = cr_rng_uniform(&r) < (a ? 0.7 : 0.2);
    }
}

/* Every third row lacks a cell or two, and the last everything. */
static inline void leave_gaps(size_t n, double *X)
{
    for (size_t i = 0; i < n; i += 3) {
        X[i * ALL + i / 3 % ALL] = NAN;
        if (i % 2 == 0) X[i * ALL + (i / 3 + 2) % ALL] = NAN;
    }
    for (size_t j = 0; j < ALL; j++) X[(n - 1) * ALL + j] = NAN;
}

/* The rows as a table, with weights in column w where there are any. */
static inline cr_table *table_of_all(cr_ctx *cx, const double *X, size_t n, const double *opt_w)
{
    text_buffer t = text_new(1 << 20);
    for (size_t j = 0; j < ALL; j++) text_put(&t, "%s%s", j ? "," : "", all_names[j]);
    text_put(&t, opt_w ? ",w\n" : "\n");
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < ALL; j++) {
            double x = X[i * ALL + j];
            if (j) text_put(&t, ",");
            if (isnan(x)) continue;
            if (j >= COLOUR)
                text_put(&t, "%s", level_names[j - COLOUR][(size_t)x]);
            else
                text_put(&t, "%.17g", x);
        }
        if (opt_w) text_put(&t, ",%.17g", opt_w[i]);
        text_put(&t, "\n");
    }
    cr_table *table = table_of_text(cx, "all.csv", t.at);
    free(t.at);
    return table;
}

/* log p(x_j | c) by the formula of its kind; 0 of a missing cell. */
static inline double log_cell(const cri_mixture *m, size_t c, size_t j, double x)
{
    double mean = m->mean[c * m->p + j], sd = m->sd[c * m->p + j] * m->scale[j];
    if (isnan(x)) return 0;
    switch (cri_mixture_kind_of(m, j)) {
    case CRI_MIXTURE_BERNOULLI:
        return log(x > m->threshold[j] ? mean : 1 - mean);
    case CRI_MIXTURE_POISSON:
        return x * log(mean) - mean - lgamma(x + 1);
    case CRI_MIXTURE_CATEGORY:
        return log(m->level[c * m->L + m->first[j] + (size_t)x]);
    default:
        break;
    }
    bool   logs = cri_mixture_kind_of(m, j) == CRI_MIXTURE_LOGNORMAL;
    double z = ((logs ? log(x) : x) - m->centre[j] - m->scale[j] * mean) / sd;
    return -0.5 * z * z - log(sd) - 0.5 * log(2 * M_PI) - (logs ? log(x) : 0);
}

static inline double log_row(const cri_mixture *m, size_t c, const double *x)
{
    double sum = 0;
    for (size_t j = 0; j < m->p; j++) sum += log_cell(m, c, j, x[j]);
    return sum;
}

#endif
