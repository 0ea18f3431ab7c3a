/* test_glm.c -- generalised linear models: the score equations at the estimate, statsmodels' and
 * R's answers, laws of weights, offsets, exposures and trials, and predictive moments. */
#include "../../data/sparse_fixture.h"
#include "../fixture.h"

#include "math/special/special.h"
#include "models/glm/family.h"
#include "prob/dist/dist.h"

/* Nothing is known of the coefficient of a constant column: an sd of 0 would say that all is. */
TEST(constant_column_has_no_sd)
{
    static const char *const models[] = { "linear", "glm", "robust" };
    double                   X[] = { 1, 3, 2, 3, 3, 3, 4, 3, 5, 3, 6, 3, 7, 3, 8, 3 };
    double                   y[] = { 2.1, 3.9, 6.2, 7.8, 10.1, 12.2, 13.8, 16.1 };
    for (size_t i = 0; i < 3; i++) {
        json_t *d = describe(cx, fit(cx, models[i], make_table(cx, X, 8, 2, y, NULL), "target=y"));
        assert_true(parameter(d, "x2", "value") == 0);
        assert_true(isnan(parameter(d, "x2", "sd")) && isnan(parameter(d, "x2", "upper")));
        assert_true(parameter(d, "x1", "sd") > 0);
    }
}

enum { N = 60, P = 3 };

typedef struct kind {
    const char    *name;
    cri_glm_family family;
    const char    *link;
    cri_glm_link   g;
} kind;

static const kind kinds[] = {
    { "gaussian", CRI_GLM_GAUSSIAN, "identity", CRI_LINK_IDENTITY },
    { "gaussian", CRI_GLM_GAUSSIAN, "log", CRI_LINK_LOG },
    { "binomial", CRI_GLM_BINOMIAL, "logit", CRI_LINK_LOGIT },
    { "binomial", CRI_GLM_BINOMIAL, "probit", CRI_LINK_PROBIT },
    { "binomial", CRI_GLM_BINOMIAL, "cloglog", CRI_LINK_CLOGLOG },
    { "binomial", CRI_GLM_BINOMIAL, "cauchit", CRI_LINK_CAUCHIT },
    { "poisson", CRI_GLM_POISSON, "log", CRI_LINK_LOG },
    { "poisson", CRI_GLM_POISSON, "sqrt", CRI_LINK_SQRT },
    { "gamma", CRI_GLM_GAMMA, "log", CRI_LINK_LOG },
    { "gamma", CRI_GLM_GAMMA, "inverse", CRI_LINK_INVERSE },
    { "inverse-gaussian", CRI_GLM_INVERSE_GAUSSIAN, "log", CRI_LINK_LOG },
    { "inverse-gaussian", CRI_GLM_INVERSE_GAUSSIAN, "inverse-squared", CRI_LINK_INVERSE_SQUARED },
    { "binomial", CRI_GLM_BINOMIAL, "log", CRI_LINK_LOG },
    { "binomial", CRI_GLM_BINOMIAL, "identity", CRI_LINK_IDENTITY },
    { "poisson", CRI_GLM_POISSON, "identity", CRI_LINK_IDENTITY },
    { "gamma", CRI_GLM_GAMMA, "identity", CRI_LINK_IDENTITY },
    { "negative-binomial", CRI_GLM_NEGATIVE_BINOMIAL, "identity", CRI_LINK_IDENTITY },
    { "negative-binomial", CRI_GLM_NEGATIVE_BINOMIAL, "log", CRI_LINK_LOG },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* A target that the family and link can have: a mean well inside the range. */
static double draw_target(cr_rng *r, const kind *k, double signal)
{
    double mu = 3 + 0.8 * signal;
    switch (k->family) {
    case CRI_GLM_GAUSSIAN:
        return mu + 0.3 * cr_rng_normal(r);
    case CRI_GLM_BINOMIAL:
        return cr_rng_uniform(r) < (k->g == CRI_LINK_LOG ? 0.3 + 0.1 * signal : 0.5 + 0.2 * signal);
    case CRI_GLM_POISSON:
    case CRI_GLM_NEGATIVE_BINOMIAL: {
        double lambda = k->family == CRI_GLM_POISSON ? mu : mu * cr_rng_gamma(r, 2) / 2;
        double count = 0;
        for (double t = cr_rng_exponential(r); t < lambda; t += cr_rng_exponential(r)) count++;
        return count;
    }
    default:
        return mu * (0.2 + 0.8 * cr_rng_gamma(r, 8) / 8);
    }
}

static void draw(const kind *k, uint64_t seed, double *X, double *y, double *w)
{
    cr_rng r = cr_rng_stream(seed, 3);
    for (size_t i = 0; i < N; i++) {
        double signal = 0;
        for (size_t j = 0; j < P; j++) {
            X[i * P + j] = 2 * cr_rng_uniform(&r) - 1 + (double)j;
            signal += (j % 2 ? -0.6 : 0.5) * (X[i * P + j] - (double)j);
        }
        y[i] = draw_target(&r, k, signal);
        w[i] = 1 + (double)(i % 3);
    }
}

static void print_settings(const kind *k, const char *more, char *out, size_t size)
{
    snprintf(out, size, "target=y family=%s link=%s %s", k->name, k->link, more);
}

/* At a maximum of the likelihood  sum_i w_i (y_i - mu_i) mu'_i / V(mu_i) x_i = 0,  and the standard
 * errors are those of the expected information in long double. */
TEST(score_equations)
{
    double X[N * P], y[N], w[N];
    for (size_t c = 0; c < KINDS; c++) {
        const kind *k = &kinds[c];
        char        settings[256];
        long double A[16] = { 0 }, B[16] = { 0 }, score[4] = { 0 }, size[4] = { 0 };
        draw(k, c, X, y, w);
        cr_table *t = make_table(cx, X, N, P, y, w);
        print_settings(k, "weights=w", settings, sizeof settings);
        cr_model *m = fit(cx, "glm", t, settings);
        json_t   *d = describe(cx, m);
        double alpha = k->family == CRI_GLM_NEGATIVE_BINOMIAL ? statistic(d, "overdispersion") : 0;
        double pearson = 0, deviance = 0, weight = 0;
        assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
        for (size_t i = 0; i < N; i++) {
            double eta = coefficient(d, 0, "value"),
                   x[4] = { 1, X[i * P], X[i * P + 1], X[i * P + 2] };
            for (size_t j = 1; j <= P; j++) eta += coefficient(d, j, "value") * x[j];
            double      mu = cri_link_mean(k->g, eta), slope = cri_link_slope(k->g, eta);
            cri_glm_law law = { k->family, k->g, alpha };
            double      V = cri_family_variance(&law, eta);
            weight += w[i];
            pearson += w[i] * (y[i] - mu) * (y[i] - mu) / V;
            deviance += w[i] * cri_family_deviance(&law, y[i], eta);
            for (size_t a = 0; a < 4; a++) {
                score[a] += (long double)(w[i] * (y[i] - mu) * slope / V * x[a]);
                size[a] += (long double)fabs(w[i] * (y[i] - mu) * slope / V * x[a]);
                for (size_t b = 0; b < 4; b++)
                    A[a * 4 + b] += (long double)(w[i] * slope * slope / V * x[a] * x[b]);
            }
        }
        for (size_t a = 0; a < 4; a++) {
            assert_true(fabsl(score[a]) <= 1e-6L * size[a]);
            B[a * 4 + a] = 1;
        }
        assert_relative(statistic(d, "pearson_chi2"), pearson, 1e-9);
        assert_relative(statistic(d, "deviance"), deviance, 1e-9);
        assert_relative(statistic(d, "residual_dof"), weight - 4, 1e-12);
        double phi = cri_family_is_fixed(k->family) ? 1 : pearson / (weight - 4);
        solve_dense(4, A, B, 4);
        for (size_t a = 0; a < 4; a++)
            assert_relative(coefficient(d, a, "sd"), sqrt(phi * (double)B[a * 4 + a]), 1e-5);
    }
}

/* --- the ends of the range ------------------------------------------------------------------- */

typedef struct concave {
    const kind   *k;
    size_t        n;
    const double *X, *y; /* [n x 2], [n] */
} concave;

/* The log likelihood at b [3] and its gradient; outside the domain -INFINITY, and the normal of the
 * row that is farthest out. */
static long double likelihood(const concave *c, const long double *b, long double *g)
{
    double      low, high;
    long double sum = 0, worst = 0;
    g[0] = g[1] = g[2] = 0;
    cri_link_domain(c->k->family, c->k->g, &low, &high);
    for (size_t i = 0; i < c->n; i++) {
        const double *x = c->X + 2 * i;
        long double   eta = b[0] + b[1] * x[0] + b[2] * x[1], out = fmaxl(low - eta, eta - high), u;
        if (out >= 0) {
            long double sign = eta >= high ? -1 : 1;
            sum = -INFINITY;
            if (out >= worst) worst = out, g[0] = sign, g[1] = sign * x[0], g[2] = sign * x[1];
        }
        if (isinf(sum)) continue;
        if (c->k->family == CRI_GLM_POISSON) {
            sum += (c->y[i] > 0 ? c->y[i] * logl(eta) : 0) - eta;
            u = c->y[i] / eta - 1;
        } else if (c->k->g == CRI_LINK_LOG) {
            sum += c->y[i] > 0 ? eta : logl(-expm1l(eta));
            u = c->y[i] > 0 ? 1 : expl(eta) / expm1l(eta);
        } else {
            sum += c->y[i] > 0 ? logl(eta) : log1pl(-eta);
            u = c->y[i] > 0 ? 1 / eta : -1 / (1 - eta);
        }
        g[0] += u, g[1] += u * x[0], g[2] += u * x[1];
    }
    return sum;
}

/* The maximum by the ellipsoid method, which needs nothing but that the function is concave. */
static long double best_likelihood(const concave *c)
{
    long double at[3] = { 0 }, A[9] = { 400, 0, 0, 0, 400, 0, 0, 0, 400 }, best = -INFINITY;
    for (int step = 0; step < 700; step++) {
        long double g[3], Ag[3], size = 0, f = likelihood(c, at, g);
        best = fmaxl(best, f);
        for (int i = 0; i < 3; i++) {
            Ag[i] = A[i * 3] * g[0] + A[i * 3 + 1] * g[1] + A[i * 3 + 2] * g[2];
            size += g[i] * Ag[i];
        }
        if (!(size > 0)) break;
        for (int i = 0; i < 3; i++) at[i] += Ag[i] / sqrtl(size) / 4;
        for (int i = 0; i < 9; i++) A[i] = 9.0L / 8 * (A[i] - 0.5L * Ag[i / 3] * Ag[i % 3] / size);
    }
    return best;
}

static void check_concave(cr_ctx *cx, const kind *k, uint64_t seed, size_t *at_edge)
{
    enum { ROWS = 60 };
    double      X[2 * ROWS], y[ROWS];
    cr_rng      r = cr_rng_stream(seed, 21);
    concave     c = { k, ROWS, X, y };
    char        settings[128];
    long double b[3], g[3], got;
    for (size_t i = 0; i < ROWS; i++) {
        double x1 = X[2 * i] = cr_rng_normal(&r), x2 = X[2 * i + 1] = cr_rng_uniform(&r);
        double mu = k->family == CRI_GLM_POISSON ? fmax(0.05, 1 + 0.7 * x1 - 0.2 * x2)
                    : k->g == CRI_LINK_LOG       ? exp(fmin(-0.01, -1 + 0.4 * x1 - 0.3 * x2))
                                           : fmin(fmax(0.5 + 0.2 * x1 - 0.1 * x2, 0.02), 0.98);
        y[i] = cr_rng_uniform(&r) < mu;
        if (k->family == CRI_GLM_POISSON)
            for (y[i] = -1; mu > 0; y[i]++) mu -= cr_rng_exponential(&r);
    }
    cr_table *t = make_table(cx, X, ROWS, 2, y, NULL);
    print_settings(k, "", settings, sizeof settings);
    cr_model *m = fit(cx, "glm", t, settings);
    json_t   *d = describe(cx, m);
    double    wanted = (double)best_likelihood(&c);
    for (size_t j = 0; j < 3; j++) b[j] = (long double)coefficient(d, j, "value");
    got = likelihood(&c, b, g);
    if (fabsl(g[0]) + fabsl(g[1]) + fabsl(g[2]) > 1e-3L) ++*at_edge;
    assert_true(isfinite((double)got));
    assert_close((double)got, wanted, 1e-6);
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
    assert_true(statistic(d, "deviance") <= statistic(d, "null_deviance") + 1e-9);
}

/* Log and identity links of shares, identity of counts: the maximum is found where it is inside the
 * range and where it has rows at its end. */
TEST(ends_of_the_range)
{
    const kind bounded[] = { { "binomial", CRI_GLM_BINOMIAL, "log", CRI_LINK_LOG },
                             { "binomial", CRI_GLM_BINOMIAL, "identity", CRI_LINK_IDENTITY },
                             { "poisson", CRI_GLM_POISSON, "identity", CRI_LINK_IDENTITY } };
    for (size_t c = 0; c < 3; c++) {
        size_t at_edge = 0;
        for (uint64_t seed = 0; seed < 30; seed++) check_concave(cx, &bounded[c], seed, &at_edge);
        assert_true(at_edge > 0 && at_edge < 30);
    }
}

/* No neighbour of the estimate, in any coefficient or in alpha, is more likely. */
TEST(negative_binomial_is_the_maximum)
{
    double X[N * P], y[N], w[N];
    draw(&kinds[KINDS - 1], 4, X, y, w);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    cr_model *m = fit(cx, "glm", t, "target=y family=negative-binomial tolerance=1e-13");
    json_t   *d = describe(cx, m);
    double    best = cr_model_get_report(m)->log_likelihood, alpha = statistic(d, "overdispersion");
    for (int step = -1; step < 10; step++) {
        double b[4], a = alpha * (step == 8 ? 1.001 : step == 9 ? 0.999 : 1), sum = 0;
        for (size_t j = 0; j < 4; j++)
            b[j] = coefficient(d, j, "value") +
                   (step >= 0 && step / 2 == (int)j ? (step % 2 ? 1e-4 : -1e-4) : 0);
        for (size_t i = 0; i < N; i++) {
            double mu = exp(b[0] + b[1] * X[i * P] + b[2] * X[i * P + 1] + b[3] * X[i * P + 2]);
            sum += lgamma(y[i] + 1 / a) - lgamma(1 / a) - lgamma(y[i] + 1) +
                   y[i] * log(a * mu / (1 + a * mu)) - log(1 + a * mu) / a;
        }
        if (step < 0)
            assert_relative(sum, best, 1e-12);
        else
            assert_true(sum < best);
    }
}

/* Gaussian with the identity is least squares. */
TEST(gaussian_is_linear)
{
    double X[N * P], y[N];
    draw_regression(8, N, P, 1, X, y);
    cr_table     *t = make_table(cx, X, N, P, y, NULL);
    cr_model     *m = fit(cx, "glm", t, "target=y"), *l = fit(cx, "linear", t, "target=y");
    json_t       *d = describe(cx, m), *e = describe(cx, l);
    cr_prediction p = predict(cx, m, t), q = predict(cx, l, t);
    for (size_t j = 0; j <= P; j++) {
        assert_relative(coefficient(d, j, "value"), coefficient(e, j, "value"), 1e-10);
        assert_relative(coefficient(d, j, "sd"), coefficient(e, j, "sd"), 1e-10);
        assert_relative(coefficient(d, j, "p"), coefficient(e, j, "p"), 1e-6);
    }
    assert_relative(statistic(d, "aic"), statistic(e, "aic"), 1e-11);
    for (size_t i = 0; i < N; i++) {
        assert_relative(p.mean[i], q.mean[i], 1e-10);
        assert_relative(p.scale[i], q.scale[i], 1e-10);
        assert_relative(p.dof[i], q.dof[i], 1e-15);
    }
}

/* An exposure is an offset of its logarithm; successes in trials are rows of ones and zeros. */
TEST(offset_exposure_trials)
{
    const char   *counts = "x,y,e,l,n\n1,3,2,0.6931471805599453,5\n2,5,4,1.3862943611198906,9\n"
                           "3,4,1,0,6\n4,9,3,1.0986122886681098,12\n5,8,1,0,8\n6,11,2,"
                           "0.6931471805599453,15\n7,2,0.5,-0.6931471805599453,4\n";
    cr_table     *t = table_of_text(cx, "counts.csv", counts);
    cr_model     *a = fit(cx, "glm", t, "target=y features=x family=poisson exposure=e");
    cr_model     *b = fit(cx, "glm", t, "target=y features=x family=poisson offset=l");
    json_t       *d = describe(cx, a), *e = describe(cx, b);
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    assert_relative(parameter(d, "x", "value"), parameter(e, "x", "value"), 1e-12);
    assert_relative(statistic(d, "null_deviance"), statistic(e, "null_deviance"), 1e-12);
    double b0 = parameter(d, "intercept", "value"), b1 = parameter(d, "x", "value");
    assert_relative(p.mean[1], 4 * exp(b0 + 2 * b1),
                    1e-12); /* the exposure counts in predictions */
    for (size_t i = 0; i < p.n; i++) assert_relative(p.mean[i], q.mean[i], 1e-12);
    /* The null model with an offset: the rate is all events by all exposure. */
    double rate = (3 + 5 + 4 + 9 + 8 + 11 + 2) / 13.5, null = 0;
    double ys[] = { 3, 5, 4, 9, 8, 11, 2 }, es[] = { 2, 4, 1, 3, 1, 2, 0.5 };
    for (int i = 0; i < 7; i++)
        null += 2 * (ys[i] * log(ys[i] / (rate * es[i])) - ys[i] + rate * es[i]);
    assert_relative(statistic(d, "null_deviance"), null, 1e-12);
    cr_model_free(cx, a), cr_model_free(cx, b);

    double x[64], y[64], ns[] = { 5, 9, 6, 12, 8, 15, 4 };
    size_t n = 0;
    for (int i = 0; i < 7; i++)
        for (int s = 0; s < (int)ns[i]; s++, n++) x[n] = i + 1, y[n] = s < (int)ys[i];
    cr_table *ones = make_table(cx, x, n, 1, y, NULL);
    a = fit(cx, "glm", t, "target=y features=x family=binomial trials=n");
    b = fit(cx, "glm", ones, "target=y family=binomial");
    d = describe(cx, a), e = describe(cx, b);
    assert_relative(parameter(d, "x", "value"), parameter(e, "x1", "value"), 1e-9);
    assert_relative(parameter(d, "x", "sd"), parameter(e, "x1", "sd"), 1e-8);
    p = predict(cx, a, t);
    assert_true(p.mean[3] > 1 && p.mean[3] < 12); /* successes, not a share */
}

/* The predictive distribution has the mean mu and the variance of the definition, and its own mean
 * and variance are what is said. */
TEST(predictive_moments)
{
    double X[N * P], y[N], w[N];
    for (size_t c = 0; c < KINDS; c++) {
        const kind *k = &kinds[c];
        char        settings[256];
        draw(k, 40 + c, X, y, w);
        cr_table *t = make_table(cx, X, N, P, y, NULL);
        print_settings(k, "", settings, sizeof settings);
        cr_model     *m = fit(cx, "glm", t, settings);
        json_t       *d = describe(cx, m);
        cr_prediction p = predict(cx, m, t);
        double        mean_alone[N], log_density[N];
        assert_ok(cx, cr_predict_mean(cx, m, t, mean_alone));
        assert_memory_equal(mean_alone, p.mean, sizeof mean_alone);
        assert_ok(cx, cr_score(cx, m, t, log_density));
        for (size_t i = 0; i < N; i++) {
            double eta = coefficient(d, 0, "value"), mean, variance;
            for (size_t j = 1; j <= P; j++) eta += coefficient(d, j, "value") * X[i * P + j - 1];
            assert_close(p.mean[i], cri_link_mean(k->g, eta), 1e-9);
            assert_true(isfinite(log_density[i]));
            if (!p.family) continue;
            const double *params = p.params + i * p.n_params;
            assert_ok(cx, cr_dist_mean(cx, p.family, params, p.n_params, &mean));
            assert_ok(cx, cr_dist_variance(cx, p.family, params, p.n_params, &variance));
            assert_relative(mean, p.mean[i], 1e-9);
            assert_relative(sqrt(variance), p.scale[i], 1e-6);
            double alpha =
                k->family == CRI_GLM_NEGATIVE_BINOMIAL ? statistic(d, "overdispersion") : 0;
            cri_glm_law law = { k->family, k->g, alpha };
            double      at = cri_link_of_mean(k->g, mean);
            bool        shape = k->family == CRI_GLM_GAMMA || k->family == CRI_GLM_INVERSE_GAUSSIAN;
            double phi = shape ? statistic(d, "ml_dispersion") * N / statistic(d, "residual_dof")
                               : statistic(d, "dispersion");
            bool   learned = shape || k->family == CRI_GLM_NEGATIVE_BINOMIAL;
            double left = statistic(d, "residual_dof"), t95 = cr_student_t_ppf(0.975, left);
            if (k->family == CRI_GLM_NEGATIVE_BINOMIAL)
                phi = fmax(1, statistic(d, "pearson_chi2") / left);
            if (learned) phi *= pow(t95 / 1.959963984540054, 2);
            double own = phi * cri_family_variance(&law, at);
            assert_true(variance >= own * (1 - 1e-9)); /* the estimate's own uncertainty is in it */
            assert_true(variance <= own * 1.6);
        }
    }
}

/* The likelihood that is reported is the greatest over the dispersion too, as aic and bic, which count it,
 * suppose: by the densities of the distributions at the fitted means. */
TEST(likelihood_is_at_its_maximum_in_the_dispersion)
{
    double X[N * P], y[N], w[N];
    for (size_t c = 0; c < KINDS; c++) {
        const kind *k = &kinds[c];
        bool        gamma = k->family == CRI_GLM_GAMMA;
        char        settings[256];
        if (!gamma && k->family != CRI_GLM_INVERSE_GAUSSIAN) continue;
        draw(k, 60 + c, X, y, w);
        cr_table *t = make_table(cx, X, N, P, y, NULL);
        print_settings(k, "", settings, sizeof settings);
        cr_model     *m = fit(cx, "glm", t, settings);
        json_t       *d = describe(cx, m);
        cr_prediction p = predict(cx, m, t);
        double        best = statistic(d, "ml_dispersion"), near[3] = { 0.99, 1, 1.01 }, sum[3];
        for (size_t v = 0; v < 3; v++) {
            sum[v] = 0;
            for (size_t i = 0; i < N; i++) {
                double phi = best * near[v], mu = p.mean[i], one;
                double params[2] = { gamma ? 1 / phi : mu, gamma ? 1 / (phi * mu) : 1 / phi };
                assert_ok(cx, cr_dist_logpdf(cx, p.family, params, 2, y[i], &one));
                sum[v] += one;
            }
        }
        assert_relative(cr_model_get_report(m)->log_likelihood, sum[1], 1e-10);
        assert_true(sum[0] < sum[1] && sum[2] < sum[1]);
        assert_relative(statistic(d, "aic"), 2 * (P + 2) - 2 * sum[1], 1e-10);
        assert_close(sum[0] - sum[1], sum[2] - sum[1],
                     0.05 * (sum[1] - sum[0])); /* the top itself */
    }
}

/* Gamma rows that lie on their means but for their last digits: phi is D / n there, to the first order. */
TEST(dispersion_of_an_almost_exact_fit)
{
    static const double noise[] = { 1e-3, 1e-5, 1e-7 };
    double              X[N * P], y[N];
    for (size_t c = 0; c < 3; c++) {
        cr_rng r = cr_rng_stream(77, c);
        for (size_t i = 0; i < N; i++) {
            double eta = 1;
            for (size_t j = 0; j < P; j++) eta += 0.3 * (X[i * P + j] = cr_rng_normal(&r));
            y[i] = exp(eta + noise[c] * cr_rng_normal(&r));
        }
        cr_model *m =
            fit(cx, "glm", make_table(cx, X, N, P, y, NULL), "target=y family=gamma link=log");
        json_t *d = describe(cx, m);
        double  s = statistic(d, "deviance") / N;
        assert_relative(statistic(d, "ml_dispersion"), s - s * s / 6, 1e-9);
        assert_true(isfinite(statistic(d, "aic")) && isfinite(statistic(d, "bic")));
    }
}

/* --- peers ----------------------------------------------------------------------------------- */

static void check_case(cr_ctx *cx, const json_t *item, const cr_table *t, const char *settings)
{
    json_t   *names = json_object_get(json_object_get(item, "data"), "features");
    json_t   *want = json_object_get(item, "expected"), *se = json_object_get(want, "se");
    json_t   *coef = json_object_get(want, "coef_intercept_first");
    cr_model *m = fit(cx, "glm", t, settings);
    json_t   *d = describe(cx, m);
    if (!se) se = json_object_get(want, "se_expected_information");
    for (size_t j = 0; j <= json_array_size(names); j++) {
        const char *name = j ? json_string_value(json_array_get(names, j - 1)) : "intercept";
        bool        nb = json_object_get(want, "alpha_dispersion(var=mu+alpha mu^2)") != NULL;
        double sd = parameter(d, name, "sd"); /* small coefficients are known to a part of it */
        assert_close(parameter(d, name, "value") / sd, element(coef, j) / sd, nb ? 2e-5 : 1e-6);
        if (se) assert_relative(parameter(d, name, "sd"), element(se, j), 1e-6);
    }
    assert_relative(cr_model_get_report(m)->log_likelihood, number_of(want, "loglik"), 1e-9);
    if (json_object_get(want, "deviance"))
        assert_relative(statistic(d, "deviance"), number_of(want, "deviance"), 1e-9);
    if (json_object_get(want, "pearson_chi2"))
        assert_relative(statistic(d, "pearson_chi2"), number_of(want, "pearson_chi2"), 1e-5);
    if (json_object_get(want, "null_deviance"))
        assert_relative(statistic(d, "null_deviance"), number_of(want, "null_deviance"), 1e-9);
}

TEST(counts_reference)
{
    json_t *cases = reference_cases(cx, "glm_count"), *item;
    size_t  i, checked = 0;
    json_array_foreach(cases, i, item)
    {
        char        base[512], settings[600];
        cr_table   *t = reference_table(cx, item, base, sizeof base);
        const char *id = json_string_value(json_object_get(item, "id"));
        bool        nb = strstr(id, "negbin") != NULL;
        snprintf(settings, sizeof settings, "%s family=%s", base,
                 nb ? "negative-binomial" : "poisson");
        check_case(cx, item, t, settings);
        checked++;
    }
    assert_true(checked >= 3);
}

/* The target as a column "hit" of zeros and ones. */
static cr_table *with_hits(cr_ctx *cx, const cr_table *t, const json_t *data)
{
    size_t           n = cr_table_rows(t);
    double          *hit = calloc(n, sizeof *hit);
    const cr_column *y = cr_table_find(t, json_string_value(json_object_get(data, "target")));
    const json_t    *positive = json_object_get(data, "positive");
    cr_table        *out = NULL;
    for (size_t i = 0; i < n; i++)
        hit[i] = y->type == CR_CATEGORY
                     ? strcmp(y->levels[y->codes[i]], json_string_value(positive)) == 0
                     : y->values[i * y->stride] == json_number_value(positive);
    assert_ok(cx, cr_table_new(cx, "hits", n, &out));
    test_own(cx, out, release_table);
    for (size_t j = 0; j < cr_table_columns(t); j++) {
        const cr_column *c = cr_table_column(t, j);
        if (c != y && c->type != CR_CATEGORY)
            assert_ok(cx, cr_table_add_numbers(cx, out, c->name, CR_REAL, c->values, c->stride));
    }
    assert_ok(cx, cr_table_add_numbers(cx, out, "hit", CR_REAL, hit, 1));
    free(hit);
    return out;
}

TEST(binary_reference)
{
    json_t *cases = reference_cases(cx, "glm_binary"), *item;
    size_t  i, checked = 0;
    json_array_foreach(cases, i, item)
    {
        char        base[512], settings[600], link[16];
        const char *id = json_string_value(json_object_get(item, "id"));
        if (strstr(id, "separable")) continue;
        cr_table *t = reference_table(cx, item, base, sizeof base);
        cr_table *hits = with_hits(cx, t, json_object_get(item, "data"));
        snprintf(link, sizeof link, "%.*s", (int)strcspn(id, "-"), id);
        snprintf(settings, sizeof settings, "target=hit family=binomial link=%s", link);
        check_case(cx, item, hits, settings);
        checked++;
        cr_table_free(cx, hits);
    }
    assert_true(checked >= 6);
}

/* --- corners --------------------------------------------------------------------------------- */

TEST(refusals)
{
    cr_model *m = NULL;
    cr_table *t = table_of_text(cx, "d.csv", "x,y,z,n,e\n1,2,0.5,3,1\n2,-1,1.5,1,0\n3,4,2,5,2\n");
    assert_fails_with(cx, try_fit(cx, "glm", t, "target=y features=x family=poisson", &m), CR_EDATA,
                      "d.csv:3");
    assert_fails_with(cx, try_fit(cx, "glm", t, "target=z features=x family=poisson", &m), CR_EDATA,
                      "whole numbers, 0 or more");
    assert_fails_with(cx, try_fit(cx, "glm", t, "target=y features=x family=gamma", &m), CR_EDATA,
                      "above 0");
    assert_fails_with(cx, try_fit(cx, "glm", t, "target=z features=x family=binomial", &m),
                      CR_EDATA, "0 to 1");
    assert_fails_with(cx,
                      try_fit(cx, "glm", t, "target=n features=x family=poisson exposure=e", &m),
                      CR_EDATA, "exposure");
    assert_fails_with(cx, try_fit(cx, "glm", t, "target=n features=x family=binomial trials=z", &m),
                      CR_EDATA, "trials");
    cr_table *both = table_of_text(cx, "both.csv", "cases,controls,x\n1,4,1\n3,2,2\n2,5,3\n");
    assert_fails_with(cx,
                      try_fit(cx, "glm", both, "target=cases family=binomial trials=controls", &m),
                      CR_EDATA, "both.csv:3: the target 'cases' is 3 of 2 trials");
    assert_non_null(strstr(cr_error_hint(cx), "successes and failures together"));
    assert_fails_with(cx, try_fit(cx, "glm", t, "target=n features=x offset=q", &m), CR_EDATA, "q");
    assert_fails_with(cx, try_fit(cx, "glm", t, "target=n scale_target=standard", &m), CR_EARG,
                      "as it is");
    assert_null(m);
}

TEST(separation_is_told)
{
    warnings  heard = { { 0 }, 0 };
    cr_table *t = table_of_text(cx, "s.csv", "x,y\n1,0\n2,0\n3,0\n4,1\n5,1\n6,1\n");
    cr_ctx_set_log(cx, keep_warning, &heard);
    cr_model *m = fit(cx, "glm", t, "target=y family=binomial");
    assert_non_null(strstr(heard.text, "separated perfectly by 'x'"));
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_LIMIT);
    cr_prediction p = predict(cx, m, t);
    for (size_t i = 0; i < p.n; i++) assert_close(p.mean[i], i >= 3, 1e-6);
}

/* What has no standard error is named, and empty; the rest is not. */
static void check_runaways(cr_ctx *cx, const char *csv, const char *settings, const char *says,
                           const char *gone, const char *stays)
{
    warnings  heard = { { 0 }, 0 };
    cr_table *t = table_of_text(cx, "s.csv", csv);
    cr_ctx_set_log(cx, keep_warning, &heard);
    cr_model *m = fit(cx, "glm", t, settings);
    json_t   *d = describe(cx, m);
    cr_ctx_set_log(cx, NULL, NULL);
    if (says)
        assert_non_null(strstr(heard.text, says));
    else
        assert_int_equal(heard.n, 0);
    if (gone) assert_true(isnan(parameter(d, gone, "sd")) && isnan(parameter(d, gone, "p")));
    if (gone) assert_true(isnan(parameter(d, "intercept", "sd")));
    if (stays) assert_true(parameter(d, stays, "sd") < 100);
}

TEST(runaway_coefficients)
{
    const char *const partly = "g,z,y\n0,1,0\n0,2,0\n0,3,0\n0,4,0\n1,1,1\n1,2,0\n1,3,1\n1,4,0\n"
                               "1,2,1\n1,3,0\n";
    check_runaways(cx, partly, "target=y family=binomial", "quasi-completely by 'g'", "g", "z");
    check_runaways(cx, partly, "target=y family=binomial link=probit", "quasi-completely by 'g'",
                   "g", "z");
    check_runaways(cx, partly, "target=y family=binomial features=z", NULL, NULL, "z");
    check_runaways(cx, "z,y\n1,0\n2,0\n3,0\n", "target=y family=binomial", "by the intercept alone",
                   "z", NULL);
    check_runaways(cx, "g,z,y,n\n0,1,0,9\n0,2,0,7\n1,1,3,9\n1,2,5,8\n1,3,5,7\n",
                   "target=y family=binomial trials=n", "quasi-completely by 'g'", "g", "z");
}

/* Counts that spread less than Poisson's: the fit is Poisson's, converged, and says so. */
TEST(underdispersion_is_told)
{
    enum { ROWS = 24 };
    double   x[ROWS], y[ROWS];
    warnings heard = { { 0 }, 0 };
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = 0.1 * (double)i;
        y[i] = floor(exp(1 + 0.4 * x[i]) + 0.5 * (double)(i % 3));
    }
    cr_table *t = make_table(cx, x, ROWS, 1, y, NULL);
    cr_ctx_set_log(cx, keep_warning, &heard);
    cr_model *m = fit(cx, "glm", t, "target=y family=negative-binomial");
    assert_non_null(strstr(heard.text, "vary no more than Poisson counts"));
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
    heard = (warnings){ { 0 }, 0 };
    cr_model *poisson = fit(cx, "glm", t, "target=y family=poisson");
    assert_int_equal(heard.n, 0);
    json_t *d = describe(cx, m), *e = describe(cx, poisson);
    for (size_t j = 0; j < 2; j++) {
        assert_relative(coefficient(d, j, "value"), coefficient(e, j, "value"), 1e-6);
        assert_relative(coefficient(d, j, "sd"), coefficient(e, j, "sd"), 1e-6);
    }
    assert_true(statistic(d, "overdispersion") < 1e-7);
}

/* A column of yes and no is told what takes it. */
TEST(classes_are_refused)
{
    cr_table *t = table_of_text(cx, "c.csv", "x,y\n1,no\n2,yes\n3,no\n4,yes\n");
    cr_model *m = NULL;
    assert_fails_with(cx, try_fit(cx, "glm", t, "target=y family=poisson", &m), CR_EDATA,
                      "'y' is a category");
    assert_non_null(strstr(cr_error_hint(cx), "use logistic or probit for classes"));
    m = fit(cx, "probit", t, "target=y");
}

/* Sparse rows give what the same numbers written out do, with fewer and with more than 4 p rows. */
TEST(sparse_rows)
{
    const char *const settings[] = { "target=y features=x* family=poisson weights=w",
                                     "target=y features=x* family=gamma link=log intercept=false" };
    for (size_t k = 0; k < 4; k++) {
        sparse_data d = draw_sparse(k, k < 2 ? 600 : 90, 30, 0.12);
        for (size_t i = 0; i < d.n; i++) {
            double eta = 0.3;
            for (size_t j = 0; j < d.p; j++) {
                d.X[i * d.p + j] /= 1 + (double)j;
                if (j % 13 == 7) d.X[i * d.p + j] = (i + j) % 7 == 0;
                eta += 0.1 * d.X[i * d.p + j];
            }
            d.y[i] = 1 + floor(exp(eta + 0.5 * d.y[i]));
        }
        compress(&d);
        cr_table *a = table_of(cx, &d, true), *b = table_of(cx, &d, false);
        cr_model *m = fit(cx, "glm", a, settings[k % 2]), *o = fit(cx, "glm", b, settings[k % 2]);
        cr_prediction f = predict(cx, m, a), g = predict(cx, o, b);
        json_t       *x = describe(cx, m), *y = describe(cx, o);
        for (size_t j = k % 2; j <= d.p; j++) {
            assert_close(coefficient(x, j, "value"), coefficient(y, j, "value"), 1e-9);
            assert_close(coefficient(x, j, "sd"), coefficient(y, j, "sd"), 1e-9);
        }
        assert_close(statistic(x, "deviance"), statistic(y, "deviance"), 1e-10);
        for (size_t i = 0; i < f.n; i++) {
            assert_close(f.mean[i], g.mean[i], 1e-9);
            assert_close(f.scale[i], g.scale[i], 1e-9);
        }
        cr_model_free(cx, m);
        cr_model_free(cx, o);
        cr_table_free(cx, a);
        cr_table_free(cx, b);
        free_sparse(&d);
    }
}

/* More columns than rows by far: refused at once, with figures. */
TEST(too_wide)
{
    sparse_data d = draw_sparse(1, 10, 2100, 0.01);
    cr_model   *m = NULL;
    for (size_t i = 0; i < d.n; i++) d.y[i] = (double)(i % 3);
    cr_table *t = table_of(cx, &d, true);
    assert_fails_with(cx, try_fit(cx, "glm", t, "target=y features=x* family=poisson", &m),
                      CR_ENUMERIC, "2100 columns and 10 rows");
    cr_table_free(cx, t);
    free_sparse(&d);
}

/* A category of many levels is eliminated from the equations: at the maximum of a Poisson's likelihood with its own
 * link the residuals of every level sum to 0, and so do their products with a column; all sds are there. */
TEST(many_levels)
{
    enum { LEVELS = 1500, ROWS = 4 * LEVELS };
    size_t size = 32 * ROWS, used;
    char  *text = malloc(size);
    cr_rng r = cr_rng_stream(3, 1);
    used = (size_t)snprintf(text, size, "g,x,y\n");
    for (size_t i = 0; i < ROWS; i++) {
        double x = cr_rng_normal(&r), mu = exp(1.5 + 0.3 * sin((double)(i % LEVELS)) + 0.2 * x);
        used += (size_t)snprintf(text + used, size - used, "g%04zu,%.17g,%g\n", i % LEVELS, x,
                                 1 + floor(-mu * log(cr_rng_uniform(&r)))); /* any counts */
    }
    cr_table     *t = table_of_text(cx, "levels.csv", text);
    cr_model     *m = fit(cx, "glm", t, "target=y family=poisson");
    cr_prediction p = predict(cx, m, t);
    double       *left = calloc(LEVELS, sizeof *left), along = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double e = cr_table_find(t, "y")->values[i] - p.mean[i];
        left[i % LEVELS] += e, along += e * cr_table_find(t, "x")->values[i];
    }
    for (size_t k = 0; k < LEVELS; k++) assert_close(left[k], 0, 1e-6);
    assert_close(along, 0, 1e-5);
    assert_true(parameter(describe(cx, m), "g=g0007", "sd") > 0.1);
    free(left);
    free(text);
}
