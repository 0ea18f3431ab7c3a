/* test_bayes_varying.c -- varying intercepts: evidence, groups and predictions by dense formulas of
 * y ~ N(b0 + Z w, s2 I + s_u^2 C C'), at the maximum and averaged over a grid of both ratios; published
 * REML estimates; groups that are new; coverage by simulation with few groups. */
#define _GNU_SOURCE /* M_PIl */
#include "../fixture.h"
#include "math/special/special.h"

enum { N = 16, P = 2, J = 5, B = P + J };

static double evidence_of(const cr_model *m) { return cr_model_get_report(m)->log_evidence; }

/* Rows x1, x2, y of groups g, some with many rows and one with one. */
static cr_table *draw_groups(cr_ctx *cx, uint64_t seed, double *X, double *y, double *g)
{
    const double effect[J] = { 1.5, -2, 0.4, 0.9, -1.1 };
    draw_regression(seed, N, P, 0.6, X, y);
    for (size_t i = 0; i < N; i++) {
        size_t k = i == 0 ? 4 : i % 4;
        g[i] = 10 + 3 * (double)k;
        y[i] += effect[k];
    }
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    assert_ok(cx, cr_table_add_numbers(cx, t, "g", CR_INTEGER, g, 1));
    return t;
}

static size_t group_of(double g) { return (size_t)((g - 10) / 3 + 0.5); }

/* Z centred and scaled, t centred: [n x (P + J)] with the indicators behind. */
static void make_design(const double *X, const double *y, const double *g, long double *Z,
                        long double *t)
{
    for (size_t j = 0; j <= P; j++) {
        long double mean = 0, square = 0;
        for (size_t i = 0; i < N; i++) mean += (j < P ? X[i * P + j] : y[i]) / (long double)N;
        for (size_t i = 0; i < N; i++) square += powl((j < P ? X[i * P + j] : y[i]) - mean, 2);
        for (size_t i = 0; i < N; i++)
            if (j < P)
                Z[i * B + j] = (X[i * P + j] - mean) / sqrtl(square / N);
            else
                t[i] = y[i] - mean;
    }
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < J; k++) Z[i * B + P + k] = group_of(g[i]) == k;
}

/* M = noise I + Z diag(prior) Z', with `flat` more of an intercept. */
static void marginal(const long double *Z, const long double *prior, long double noise,
                     long double flat, long double *M)
{
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++) {
            M[i * N + k] = (i == k ? noise : 0) + flat;
            for (size_t j = 0; j < B; j++) M[i * N + k] += prior[j] * Z[i * B + j] * Z[k * B + j];
        }
}

/* Mean and covariance of (w, u) given t, by conditioning the joint normal; S holds M^-1 [t, Z]. */
static void posterior(const long double *Z, const long double *t, const long double *prior,
                      long double noise, long double *mean, long double *C)
{
    long double M[N * N], S[N * (B + 1)];
    marginal(Z, prior, noise, 0, M);
    for (size_t i = 0; i < N; i++) {
        S[i * (B + 1)] = t[i];
        for (size_t j = 0; j < B; j++) S[i * (B + 1) + 1 + j] = Z[i * B + j];
    }
    solve_dense(N, M, S, B + 1);
    for (size_t a = 0; a < B; a++) {
        mean[a] = 0;
        for (size_t i = 0; i < N; i++) mean[a] += prior[a] * Z[i * B + a] * S[i * (B + 1)];
        for (size_t b = 0; b < B; b++) {
            C[a * B + b] = a == b ? prior[a] : 0;
            for (size_t i = 0; i < N; i++)
                C[a * B + b] -= prior[a] * Z[i * B + a] * S[i * (B + 1) + 1 + b] * prior[b];
        }
    }
}

static double group_value(const json_t *d, const char *group, const char *key)
{
    size_t  i;
    json_t *item, *list = json_object_get(d, "groups");
    json_array_foreach(list, i, item)
    {
        if (strcmp(json_string_value(json_object_get(item, "group")), group) == 0)
            return number_of(item, key);
    }
    fail_msg("there is no group '%s'", group);
    return NAN;
}

static double dense_evidence(const long double *Z, const long double *t, double alpha, double noise,
                             double sd)
{
    long double M[N * N], prior[B], e[N], logdet;
    memcpy(e, t, sizeof e);
    for (size_t j = 0; j < B; j++) prior[j] = j < P ? 1 / (long double)alpha : (long double)sd * sd;
    marginal(Z, prior, noise, 0, M);
    long double square = quadratic_form(N, M, e, &logdet);
    return (double)(-0.5L * (square + logdet + N * logl(2 * M_PIl)));
}

/* alpha and noise given: only the sd of the groups is learned. */
TEST(groups_at_the_maximum_of_the_evidence)
{
    double        X[N * P], y[N], g[N], alpha = 0.8, noise = 0.5;
    long double   Z[N * B], t[N], prior[B], mean[B], C[B * B];
    cr_table     *table = draw_groups(cx, 3, X, y, g);
    cr_model     *m = fit(cx, "bayes-linear", table,
                          "target=y terms=x1,x2,(1|g) optimize=none alpha=0.8 noise=0.5 "
                              "intercept_prior=centre");
    json_t       *d = describe(cx, m);
    cr_prediction q = predict(cx, m, table);
    double        sd = statistic(d, "group_sd");
    make_design(X, y, g, Z, t);
    assert_true(statistic(d, "groups") == J);
    assert_close(evidence_of(m), dense_evidence(Z, t, alpha, noise, sd), 1e-9);
    assert_true(evidence_of(m) > dense_evidence(Z, t, alpha, noise, 1.01 * sd));
    assert_true(evidence_of(m) > dense_evidence(Z, t, alpha, noise, sd / 1.01));
    assert_true(statistic(d, "group_sd_lower") < sd && sd < statistic(d, "group_sd_upper"));
    for (size_t j = 0; j < B; j++) prior[j] = j < P ? 1 / (long double)alpha : (long double)sd * sd;
    posterior(Z, t, prior, noise, mean, C);
    for (size_t k = 0; k < J; k++) {
        char name[8];
        snprintf(name, sizeof name, "%zu", 10 + 3 * k);
        assert_close(group_value(d, name, "intercept"), (double)mean[P + k], 1e-9);
        assert_close(group_value(d, name, "sd"), sqrt((double)C[(P + k) * B + P + k]), 1e-9);
        assert_true(group_value(d, name, "weight") == (k == 4 ? 1 : k == 0 ? 3 : 4));
    }
    for (size_t i = 0; i < N; i++) {
        long double at = 0, variance = noise;
        for (size_t a = 0; a < B; a++) {
            at += Z[i * B + a] * mean[a];
            for (size_t b = 0; b < B; b++) variance += Z[i * B + a] * C[a * B + b] * Z[i * B + b];
        }
        assert_close(q.mean[i], y[i] - (double)t[i] + (double)at, 1e-9);
        assert_close(q.scale[i], sqrt((double)variance), 1e-9);
    }
    double        other[N];
    warnings      said = { 0 };
    cr_prediction unseen;
    for (size_t i = 0; i < N; i++) other[i] = 99;
    cr_table *rows = make_table(cx, X, N, P, NULL, NULL);
    assert_ok(cx, cr_table_add_numbers(cx, rows, "g", CR_INTEGER, other, 1));
    cr_ctx_set_log(cx, keep_warning, &said);
    unseen = predict(cx, m, rows);
    assert_non_null(strstr(said.text, "16 rows have a 'g' that the model has not seen"));
    for (size_t i = 0; i < N; i++) { /* N(0, s_u^2) in place of the posterior */
        long double variance = noise + (long double)sd * sd;
        for (size_t a = 0; a < P; a++)
            for (size_t b = 0; b < P; b++) variance += Z[i * B + a] * C[a * B + b] * Z[i * B + b];
        assert_close(unseen.scale[i], sqrt((double)variance), 1e-9);
    }
}

/* The average over both ratios and the noise, on a grid of dense formulas. */
TEST(groups_averaged_over_the_scales)
{
    double      X[N * P], y[N], g[N], n = N, top = -INFINITY, total = 0;
    long double Z[N * B], t[N], e[N], M[N * N], prior[B], mean[B], C[B * B], logdet;
    double      u[J] = { 0 }, uu[J] = { 0 }, var[J] = { 0 }, sd = 0, sigma2 = 0;
    cr_table   *table = draw_groups(cx, 4, X, y, g);
    cr_model   *m =
        fit(cx, "bayes-linear", table, "target=y terms=x1,x2,(1|g) intercept_prior=centre");
    json_t *d = describe(cx, m);
    make_design(X, y, g, Z, t);
    for (int pass = 0; pass < 2; pass++)
        for (double a = -12; a <= 16; a += 0.5)
            for (double b = -12; b <= 16; b += 0.5) {
                double lambda = P * exp(a), theta = exp(b); /* tr Z'Z over the rows is P */
                for (size_t j = 0; j < B; j++) prior[j] = j < P ? 1 / lambda : 1 / theta;
                marginal(Z, prior, 1, 0, M);
                memcpy(e, t, sizeof e);
                double R = (double)quadratic_form(N, M, e, &logdet);
                double f = -0.5 * (double)logdet - n / 2 * log(R / 2) -
                           log(2 * M_PI * cosh(a / 2)) - log(2 * M_PI * cosh(b / 2));
                if (pass == 0) {
                    top = fmax(top, f);
                    continue;
                }
                double w = exp(f - top);
                total += w;
                if (w < 1e-12) continue;
                posterior(Z, t, prior, 1, mean, C);
                sigma2 += w * R / n;
                for (size_t k = 0; k < J; k++) {
                    u[k] += w * (double)mean[P + k];
                    uu[k] += w * (double)(mean[P + k] * mean[P + k]);
                    var[k] += w * R / n * (double)C[(P + k) * B + P + k];
                }
            }
    double evidence =
        top + log(total * 0.25) + lgamma(n / 2) - n / 2 * log(2 * M_PI) - 0.5 * log(4 * M_PI);
    assert_close(evidence_of(m), evidence, 1e-4);
    assert_close(statistic(d, "noise_sd"), sqrt(sigma2 / total), 1e-3);
    for (size_t k = 0; k < J; k++) {
        char   name[8];
        double at = u[k] / total, spread = (1 - 2 / n) * (uu[k] / total - at * at);
        double variance = (var[k] / total + spread) * n / (n - 2);
        snprintf(name, sizeof name, "%zu", 10 + 3 * k);
        assert_close(group_value(d, name, "intercept"), at, 1e-4);
        assert_close(group_value(d, name, "sd"), sqrt(variance), 1e-3);
    }
    sd = statistic(d, "group_sd");
    assert_true(statistic(d, "group_sd_lower") < sd && sd < statistic(d, "group_sd_upper"));
}

/* A flat intercept is the limit of a wide one. */
TEST(flat_intercept_beside_groups)
{
    double      X[N * P], y[N], g[N], alpha = 0.8, noise = 0.5;
    long double Z[N * B], t[N], M[N * N], prior[B], S[N * 2];
    cr_table   *table = draw_groups(cx, 5, X, y, g);
    cr_model   *m = fit(cx, "bayes-linear", table,
                        "target=y terms=x1,x2,(1|g) optimize=none alpha=0.8 noise=0.5");
    json_t     *d = describe(cx, m);
    double      sd = statistic(d, "group_sd");
    make_design(X, y, g, Z, t);
    for (size_t j = 0; j < B; j++) prior[j] = j < P ? 1 / (long double)alpha : (long double)sd * sd;
    for (size_t k = 0; k < J; k++) {
        long double wide = 1e9L, mean = 0, variance = (long double)sd * sd;
        char        name[8];
        marginal(Z, prior, noise, wide, M);
        for (size_t i = 0; i < N; i++) S[2 * i] = t[i], S[2 * i + 1] = Z[i * B + P + k];
        solve_dense(N, M, S, 2);
        for (size_t i = 0; i < N; i++) {
            mean += variance * Z[i * B + P + k] * S[2 * i];
        }
        long double less = 0;
        for (size_t i = 0; i < N; i++) less += Z[i * B + P + k] * S[2 * i + 1];
        variance -= variance * variance * less;
        snprintf(name, sizeof name, "%zu", 10 + 3 * k);
        assert_close(group_value(d, name, "intercept"), (double)mean, 1e-6);
        assert_close(group_value(d, name, "sd"), sqrt((double)variance), 1e-6);
    }
}

/* The Rail data of Pinheiro & Bates (2000), Mixed-Effects Models in S and S-PLUS, sec. 1.1: with a flat
 * intercept the maximum of the evidence is REML, whose estimates nlme's lme gives. */
TEST(reml_of_the_rails)
{
    cr_table *t = table_of_text(
        cx, "rail.csv",
        "rail,travel\na,55\na,53\na,54\nb,26\nb,37\nb,32\nc,78\nc,91\nc,85\nd,92\nd,100\nd,96\n"
        "e,49\ne,51\ne,50\nf,80\nf,85\nf,83\n");
    json_t *d = describe(
        cx, fit(cx, "bayes-linear", t, "target=travel terms=(1|rail) optimize=fixed-point"));
    assert_close(statistic(d, "group_sd"), 24.80547, 1e-5);
    assert_close(statistic(d, "noise_sd"), 4.020779, 1e-5);
    assert_close(parameter(d, "intercept", "value"), 66.5, 1e-6);
    assert_close(parameter(d, "intercept", "sd"), 10.17104, 1e-5);
    double left = 4.020779 * 4.020779 / 3 / (24.80547 * 24.80547); /* theta / N */
    assert_close(group_value(d, "a", "intercept"), (54 - 66.5) / (1 + left), 1e-5);
    assert_close(group_value(d, "d", "intercept"), (96 - 66.5) / (1 + left), 1e-5);
}

TEST(what_is_refused)
{
    double    X[N * P], y[N], g[N];
    cr_model *m = NULL;
    cr_table *t = draw_groups(cx, 6, X, y, g);
    assert_fails_with(cx, try_fit(cx, "ridge", t, "target=y terms=x1,(1|g)", &m), CR_EUNSUPPORTED,
                      "(1 | g) is a varying intercept, which this model does not have");
    assert_non_null(strstr(cr_error_hint(cx), "bayes-linear and glm"));
    assert_fails_with(cx, try_fit(cx, "bayes-linear", t, "target=y terms=x1,(1|x2)", &m), CR_EDATA,
                      "must be texts or whole numbers, but 'x2' has fractions");
    assert_fails_with(cx, try_fit(cx, "bayes-linear", t, "target=y terms=g,(1|g)", &m), CR_EARG,
                      "'g' cannot be a term beside its varying intercept (1 | g)");
    assert_fails_with(cx, try_fit(cx, "bayes-linear", t, "target=y terms=x1,(1|h)", &m), CR_EDATA,
                      "h");
    t = table_of_text(cx, "two.csv", "g,h,y\na,c,1\nb,c,2\na,d,3\nb,d,5\na,e,3\n");
    assert_fails_with(cx, try_fit(cx, "bayes-linear", t, "target=y terms=(1|g)", &m), CR_EDATA,
                      "(1 | g) has 2 groups, too few");
    assert_fails_with(cx, try_fit(cx, "bayes-linear", t, "target=y terms=(1|h),(1|g)", &m),
                      CR_EUNSUPPORTED, "there are (1 | h) and (1 | g)");
}

/* Every feature but the groups; texts are groups as numbers are. */
TEST(dot_leaves_the_groups_out)
{
    double    X[N * P], y[N], g[N];
    cr_table *t = draw_groups(cx, 7, X, y, g);
    json_t   *a = describe(cx, fit(cx, "bayes-linear", t, "target=y terms=.,(1|g)"));
    json_t   *b = describe(cx, fit(cx, "bayes-linear", t, "target=y terms=x1,x2,(1|g)"));
    assert_true(statistic(a, "group_sd") == statistic(b, "group_sd"));
    assert_int_equal(json_array_size(json_object_get(a, "parameters")), 3);
}

/* --- coverage --------------------------------------------------------------------------------- */

typedef struct hits {
    double known, unseen, group, within, between, n;
} hits;

/* 95 % intervals of a new row of a known and of an unseen group, of a group's intercept, and of
 * coefficients that differ within and between groups; `groups` of 6 rows each. */
static void cover(uint64_t seed, size_t groups, hits *h)
{
    enum { EACH = 6, MOST = 20, SIZE = MOST * EACH + MOST + 1 };
    cr_rng r = cr_rng_stream(seed, 991);
    double X[SIZE * 2], y[SIZE], g[SIZE], u[MOST + 1];
    size_t n = groups * EACH, more = n + groups + 1;
    double b[2] = { 0.7 * cr_rng_normal(&r), 0.7 * cr_rng_normal(&r) };
    for (size_t k = 0; k <= groups; k++) u[k] = 0.8 * cr_rng_normal(&r);
    double level[MOST + 1];
    for (size_t k = 0; k <= groups; k++) level[k] = cr_rng_normal(&r);
    for (size_t i = 0; i < more; i++) {
        size_t k = i < n ? i / EACH : i - n;
        X[2 * i] = cr_rng_normal(&r);
        X[2 * i + 1] = level[k];
        g[i] = (double)k;
        y[i] = 1 + b[0] * X[2 * i] + b[1] * X[2 * i + 1] + u[k] + cr_rng_normal(&r);
    }
    cr_ctx   *own = test_context();
    cr_table *t = make_table(own, X, n, 2, y, NULL),
             *new = make_table(own, X + 2 * n, groups + 1, 2, y + n, NULL);
    warnings said = { 0 };
    cr_ctx_set_log(own, keep_warning, &said);
    assert_ok(own, cr_table_add_numbers(own, t, "g", CR_INTEGER, g, 1));
    assert_ok(own, cr_table_add_numbers(own, new, "g", CR_INTEGER, g + n, 1));
    cr_model     *m = fit(own, "bayes-linear", t, "target=y terms=x1,x2,(1|g)");
    json_t       *d = describe(own, m);
    cr_prediction q = predict(own, m, new);
    for (size_t k = 0; k <= groups; k++) {
        double sd, low, high;
        assert_ok(own, cr_prediction_interval(own, &q, k, 0.95, &sd, &low, &high));
        bool hit = low < y[n + k] && y[n + k] < high;
        if (k < groups)
            h->known += hit / (double)groups;
        else
            h->unseen += hit;
        char name[8];
        snprintf(name, sizeof name, "%zu", k);
        if (k < groups)
            h->group +=
                (group_value(d, name, "lower") < u[k] && u[k] < group_value(d, name, "upper")) /
                (double)groups;
    }
    h->within += coefficient(d, 1, "lower") < b[0] && b[0] < coefficient(d, 1, "upper");
    h->between += coefficient(d, 2, "lower") < b[1] && b[1] < coefficient(d, 2, "upper");
    h->n++;
    test_context_free(own);
}

TEST(coverage_with_few_groups)
{
    enum { STUDIES = 400 };
    const size_t groups[] = { 6, 20 };
    for (size_t s = 0; s < 2; s++) {
        hits h = { 0 };
        for (uint64_t k = 0; k < STUDIES; k++) cover(1000 * s + k, groups[s], &h);
        print_message("%zu groups: known %.3f unseen %.3f group %.3f within %.3f between %.3f\n",
                      groups[s], h.known / h.n, h.unseen / h.n, h.group / h.n, h.within / h.n,
                      h.between / h.n);
        const double shares[] = { h.known, h.unseen, h.group, h.within, h.between };
        for (size_t k = 0; k < 5; k++) {
            assert_true(shares[k] / h.n > 0.92); /* 400 studies: +- 0.01 */
            assert_true(shares[k] / h.n < 0.98);
        }
    }
}
