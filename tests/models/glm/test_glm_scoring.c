/* test_glm_scoring.c -- many rows: the estimate and its standard errors against a dense step of
 * scoring in long double from the law's own functions, with weights and offsets; the same bits on
 * any number of threads; columns that sums cannot tell apart. */
#include "../life.h"

#include "models/glm/family.h"

enum { MOST = 40000 * 6, MOST_P = 20 };

typedef struct kind {
    const char    *name;
    cri_glm_family family;
    const char    *link;
    cri_glm_link   g;
} kind;

static const kind kinds[] = {
    { "poisson", CRI_GLM_POISSON, "log", CRI_LINK_LOG },
    { "gamma", CRI_GLM_GAMMA, "log", CRI_LINK_LOG },
    { "binomial", CRI_GLM_BINOMIAL, "logit", CRI_LINK_LOGIT },
    { "binomial", CRI_GLM_BINOMIAL, "probit", CRI_LINK_PROBIT },
    { "binomial", CRI_GLM_BINOMIAL, "cloglog", CRI_LINK_CLOGLOG },
    { "binomial", CRI_GLM_BINOMIAL, "cauchit", CRI_LINK_CAUCHIT },
    { "gaussian", CRI_GLM_GAUSSIAN, "identity", CRI_LINK_IDENTITY },
    { "gaussian", CRI_GLM_GAUSSIAN, "log", CRI_LINK_LOG },
    { "inverse-gaussian", CRI_GLM_INVERSE_GAUSSIAN, "log", CRI_LINK_LOG },
    { "negative-binomial", CRI_GLM_NEGATIVE_BINOMIAL, "log", CRI_LINK_LOG },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static double X[MOST], y[MOST / 6], w[MOST / 6];

/* Uncentred columns of unlike units; the last one also serves as the offset. */
static void draw(const kind *k, size_t n, size_t p, uint64_t seed)
{
    cr_rng r = cr_rng_stream(seed, 5);
    for (size_t i = 0; i < n; i++) {
        double signal = 0.3, mu;
        for (size_t j = 0; j < p; j++) {
            double u = 2 * cr_rng_uniform(&r) - 1;
            X[i * p + j] =
                j + 1 == p ? 0.2 * u : pow(10, (double)(j % 3)) * (u + 3 * (double)(j % 4));
            signal += (j % 2 ? -0.5 : 0.6) * u / sqrt((double)p);
        }
        mu = exp(signal);
        w[i] = (double)(i % 3) / 2 + (i % 7 == 0);
        switch (k->family) {
        case CRI_GLM_BINOMIAL:
            y[i] = cr_rng_uniform(&r) < 1 / (1 + exp(-2 * signal));
            break;
        case CRI_GLM_POISSON:
        case CRI_GLM_NEGATIVE_BINOMIAL: {
            double lambda = k->family == CRI_GLM_POISSON ? mu : mu * cr_rng_gamma(&r, 2) / 2;
            y[i] = 0;
            for (double t = cr_rng_exponential(&r); t < lambda; t += cr_rng_exponential(&r)) y[i]++;
            break;
        }
        default:
            y[i] = mu * (0.2 + 0.8 * cr_rng_gamma(&r, 8) / 8);
        }
    }
}

/* One dense step from the coefficients of d: none may move by more than a trifle of its standard
 * error, which the inverse of the information gives. */
static void check_optimum(const kind *k, json_t *d, size_t n, size_t p, bool offset)
{
    size_t             terms = p - offset, q = terms + 1;
    static long double A[(MOST_P + 1) * (MOST_P + 1)], B[(MOST_P + 1) * (MOST_P + 2)];
    bool               fixed = cri_family_is_fixed(k->family);
    cri_glm_law        law = { k->family, k->g, 0 };
    double             deviance = 0, pearson = 0;
    if (k->family == CRI_GLM_NEGATIVE_BINOMIAL) law.alpha = statistic(d, "overdispersion");
    memset(A, 0, sizeof A), memset(B, 0, sizeof B);
    for (size_t i = 0; i < n; i++) {
        double x[MOST_P + 1] = { 1 }, eta = offset ? X[i * p + p - 1] : 0;
        for (size_t j = 0; j < terms; j++) x[1 + j] = X[i * p + j];
        for (size_t j = 0; j < q; j++) eta += coefficient(d, j, "value") * x[j];
        double score = w[i] * cri_family_score(&law, y[i], eta);
        double information = w[i] * cri_family_information(&law, eta);
        double e = cri_family_residual(&law, y[i], eta);
        deviance += w[i] * cri_family_deviance(&law, y[i], eta);
        pearson += w[i] * e * e / cri_family_variance(&law, eta);
        for (size_t a = 0; a < q; a++) {
            B[a * (q + 1)] += (long double)(score * x[a]);
            for (size_t b = 0; b < q; b++) A[a * q + b] += (long double)(information * x[a]) * x[b];
        }
    }
    for (size_t a = 0; a < q; a++) B[a * (q + 1) + 1 + a] = 1;
    solve_dense(q, A, B, q + 1);
    double phi = fixed ? 1 : pearson / statistic(d, "residual_dof");
    for (size_t a = 0; a < q; a++) {
        double sd = sqrt(phi * (double)B[a * (q + 1) + 1 + a]);
        assert_relative(coefficient(d, a, "sd"), sd, 1e-6);
        assert_true(fabs((double)B[a * (q + 1)]) <= 1e-7 * sd);
    }
    assert_relative(statistic(d, "deviance"), deviance, 1e-10);
    assert_relative(statistic(d, "pearson_chi2"), pearson, 1e-10);
}

static void check_kind(cr_ctx *cx, const kind *k, size_t n, size_t p, const char *more)
{
    char settings[200];
    draw(k, n, p, 70 + n);
    cr_table *t = make_table(cx, X, n, p, y, w);
    snprintf(settings, sizeof settings, "target=y features=x* weights=w family=%s link=%s %s",
             k->name, k->link, more);
    cr_ctx_set_threads(cx, 1);
    cr_model *m = fit(cx, "glm", t, settings);
    json_t   *d = describe(cx, m);
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
    check_optimum(k, d, n, p, *more != '\0');
    for (unsigned threads = 2; threads <= 5; threads += 3) {
        cr_ctx_set_threads(cx, threads);
        cr_model *again = fit(cx, "glm", t, settings);
        json_t   *e = describe(cx, again);
        assert_true(json_equal(d, e));
    }
}

TEST(many_rows)
{
    for (size_t c = 0; c < KINDS; c++) {
        check_kind(cx, &kinds[c], 3000, 20, "");
        check_kind(cx, &kinds[c], 4000, 20, "offset=x20");
        check_kind(cx, &kinds[c], 40000, 6, ""); /* sets out from a sample */
    }
}

/* A column twice: sums cannot tell both apart, and the answer is that without it. */
TEST(dependent_columns)
{
    enum { ROWS = 3000, P = 20 };
    draw(&kinds[0], ROWS, P, 9);
    for (size_t i = 0; i < ROWS; i++) X[i * P + 7] = 2 * X[i * P + 3];
    cr_table *t = make_table(cx, X, ROWS, P, y, w);
    cr_model *m = fit(cx, "glm", t, "target=y features=x* weights=w family=poisson");
    json_t   *d = describe(cx, m);
    assert_true((coefficient(d, 4, "value") == 0) != (coefficient(d, 8, "value") == 0));
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
}

TEST(allocations)
{
    enum { ROWS = 2600, P = 20 };
    const char *const settings[] = { "target=y features=x* family=poisson",
                                     "target=y features=x* family=gamma", NULL };
    draw(&kinds[0], ROWS, P, 10);
    for (size_t i = 0; i < ROWS; i++) y[i] += 1;
    check_allocations_on(X, ROWS, P, y, "glm", settings);
}
