/* test_glm_tails.c -- shares whose means are as good as 0 or 1: the estimate against Newton's step
 * in long double, whose numbers reach far enough to take 1 - mu as it is, measures of the fit, and
 * densities of surprises against the logistic model. */
#include "../fixture.h"

#include "models/glm/measures.h"

enum { N = 40 };

typedef struct tail {
    const char  *name;
    cri_glm_link link;
    double       slope; /* of the data: how far out the means go */
} tail;

static const tail tails[] = {
    { "logit", CRI_LINK_LOGIT, 9 },
    { "probit", CRI_LINK_PROBIT, 4 },
    { "cloglog", CRI_LINK_CLOGLOG, 2.5 },
    { "cauchit", CRI_LINK_CAUCHIT, 50 },
};
enum { TAILS = sizeof tails / sizeof *tails };

/* mu, 1 - mu and d mu / d eta by their definitions. */
static void means(cri_glm_link link, long double eta, long double *mu, long double *rest,
                  long double *slope)
{
    long double u = expl(eta);
    switch (link) {
    case CRI_LINK_LOGIT:
        *mu = 1 / (1 + expl(-eta)), *rest = 1 / (1 + u), *slope = *mu * *rest;
        break;
    case CRI_LINK_PROBIT:
        *mu = erfcl(-eta / sqrtl(2)) / 2, *rest = erfcl(eta / sqrtl(2)) / 2;
        *slope = expl(-eta * eta / 2) / sqrtl(2 * acosl(-1));
        break;
    case CRI_LINK_CLOGLOG:
        *mu = -expm1l(-u), *rest = expl(-u), *slope = u * *rest;
        break;
    default:
        *mu = atan2l(1, -eta) / acosl(-1), *rest = atan2l(1, eta) / acosl(-1);
        *slope = 1 / (acosl(-1) * (1 + eta * eta));
    }
}

static long double log_of(long double part, long double rest)
{
    return part < 0.5L ? logl(part) : log1pl(-rest);
}

/* Classes drawn at eta = slope x, with one surprise well up in the tail. */
static void draw(const tail *t, double *x, double *y)
{
    cr_rng r = cr_rng_stream(11, (uint64_t)t->link);
    for (size_t i = 0; i < N; i++) {
        long double mu, rest, slope;
        x[i] = -1.5 + 3.5 * (double)i / (N - 1) + 0.01 * cr_rng_uniform(&r);
        means(t->link, t->slope * x[i], &mu, &rest, &slope);
        y[i] = cr_rng_uniform(&r) < (double)mu;
    }
    y[N - 8] = 0;
}

/* The largest part of a coefficient that one more step of scoring would change, in long double. */
static double distance_to_optimum(const tail *t, const double *x, const double *y, json_t *d)
{
    long double A[4] = { 0 }, B[2] = { 0 };
    double      b0 = coefficient(d, 0, "value"), b1 = coefficient(d, 1, "value");
    for (size_t i = 0; i < N; i++) {
        long double mu, rest, slope, z[2] = { 1, x[i] };
        means(t->link, b0 + (long double)b1 * x[i], &mu, &rest, &slope);
        long double score = y[i] > 0.5 ? slope / mu : -slope / rest;
        for (size_t a = 0; a < 2; a++) {
            B[a] += score * z[a];
            for (size_t b = 0; b < 2; b++) A[a * 2 + b] += slope / mu * slope / rest * z[a] * z[b];
        }
    }
    solve_dense(2, A, B, 1);
    return fmax(fabs((double)B[0] / b0), fabs((double)B[1] / b1));
}

static double fitted_distance(cr_ctx *cx, const tail *t, const double *x, const double *y,
                              const char *more)
{
    char settings[160];
    snprintf(settings, sizeof settings, "target=y family=binomial link=%s %s", t->name, more);
    cr_table *table = make_table(cx, x, N, 1, y, NULL);
    cr_model *m = fit(cx, "glm", table, settings);
    json_t   *d = describe(cx, m);
    double    distance = distance_to_optimum(t, x, y, d);
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
    return distance;
}

/* The estimate is the optimum to the last digits, and a smaller tolerance does not lead away. */
TEST(estimate_is_the_optimum)
{
    double x[N], y[N];
    for (size_t c = 0; c < TAILS; c++) {
        draw(&tails[c], x, y);
        double usual = fitted_distance(cx, &tails[c], x, y, "");
        double strict = fitted_distance(cx, &tails[c], x, y, "tolerance=1e-15");
        assert_true(usual <= (tails[c].link == CRI_LINK_CAUCHIT ? 1e-9 : 1e-14));
        assert_true(strict <= fmax(usual, 1e-12));
    }
}

/* log mu and log(1 - mu) against long double, and beyond its range against their limits. */
TEST(logarithms)
{
    for (size_t c = 0; c < TAILS; c++)
        for (double eta = -36.5; eta <= 36.5; eta += 0.73) {
            long double mu, rest, slope;
            double      up = tails[c].link == CRI_LINK_CLOGLOG ? eta / 4.5 : eta;
            means(tails[c].link, up, &mu, &rest, &slope);
            assert_relative(cri_link_mean(tails[c].link, up), (double)mu, 1e-13);
            if (rest > 1e-300L)
                assert_relative(cri_link_rest(tails[c].link, up), (double)rest, 1e-11);
            assert_relative(cri_link_log_mean(tails[c].link, up), (double)log_of(mu, rest), 1e-13);
            assert_relative(cri_link_log_rest(tails[c].link, up), (double)log_of(rest, mu), 1e-13);
            cri_glm_law law = { CRI_GLM_BINOMIAL, tails[c].link, 0 };
            assert_relative(cri_family_score(&law, 1, up), (double)(slope / mu), 1e-11);
            assert_relative(cri_family_score(&law, 0, up), (double)(-slope / rest), 1e-11);
            assert_relative(cri_family_information(&law, up), (double)(slope / mu * slope / rest),
                            1e-11);
            assert_relative(cri_family_deviance(&law, 0, up), -2 * (double)log_of(rest, mu), 1e-13);
            assert_relative(cri_family_deviance(&law, 1, up), -2 * (double)log_of(mu, rest), 1e-13);
        }
    assert_relative(cri_link_log_mean(CRI_LINK_LOGIT, -1e4), -1e4, 1e-15);
    assert_relative(cri_link_log_mean(CRI_LINK_CLOGLOG, -1e4), -1e4, 1e-15);
    assert_relative(cri_link_log_rest(CRI_LINK_CLOGLOG, 20), -exp(20), 1e-15);
    assert_relative(cri_link_log_rest(CRI_LINK_LOG, -1e-20), log(1e-20), 1e-15);
}

/* Outcomes of 0 and 1 all over the tails: deviance, chi-square and extreme means against long double,
 * with weights, with trials, and with one share in between, which has the rows taken one by one. */
TEST(measures)
{
    enum { M = 1200 };
    static double eta[M], y[M], weight[M], trials[M], offset[M];
    for (size_t c = 0; c < TAILS; c++)
        for (int way = 0; way < 4; way++) {
            cri_rows        rows = { .n = M };
            cri_glm_problem p = {
                .rows = &rows, .y = y, .weight = weight, .trials = trials, .offset = offset
            };
            cri_glm_law law = { CRI_GLM_BINOMIAL, tails[c].link, 0 };
            long double deviance = 0, pearson = 0, extreme = 0;
            double      reach = tails[c].link == CRI_LINK_CLOGLOG ? 3 : 36;
            for (size_t i = 0; i < M; i++) {
                long double mu, rest, slope;
                eta[i] = reach * (2 * (double)i / (M - 1) - 1);
                y[i] = way == 3 && i == 700 ? 0.5 : way == 1 ? eta[i] > 0 : (double)(i % 2);
                weight[i] = way > 1 ? (double)(i % 3) / 2 : 1;
                trials[i] = way == 2 ? 1 + (double)(i % 5) : 1;
                means(tails[c].link, eta[i], &mu, &rest, &slope);
                long double m = (long double)weight[i] * trials[i], q = y[i];
                deviance -= 2 * m * (q * log_of(mu, rest) + (1 - q) * log_of(rest, mu));
                if (y[i] == 0.5) deviance += 2 * m * logl(0.5L);
                pearson += m * (q * rest - (1 - q) * mu) * (q * rest - (1 - q) * mu) / (mu * rest);
                extreme += m > 0 && (mu < 1e-9L || rest < 1e-9L);
            }
            cri_glm_measures out;
            assert_ok(cx, cri_glm_measure(cx, &p, &law, eta, &out));
            assert_relative(out.deviance, (double)deviance, 1e-12);
            assert_relative(out.pearson, (double)pearson, 1e-11);
            assert_true(out.extreme == (double)extreme);
            assert_true(out.single == (way < 2));
        }
    double far = 0;
    for (int up = 0; up < 2; up++) { /* beyond the range of the means */
        double          one = 1, at = up ? 800 : -800, outcome = up;
        cri_rows        rows = { .n = 1 };
        cri_glm_problem p = {
            .rows = &rows, .y = &outcome, .weight = &one, .trials = &one, .offset = &far
        };
        cri_glm_law      law = { CRI_GLM_BINOMIAL, CRI_LINK_LOGIT, 0 };
        cri_glm_measures out;
        assert_ok(cx, cri_glm_measure(cx, &p, &law, &at, &out));
        assert_true(out.deviance == 0 && out.pearson == 0 && out.extreme == 1);
        at = -at;
        assert_ok(cx, cri_glm_measure(cx, &p, &law, &at, &out));
        assert_true(out.deviance == 1600 && out.pearson > 1e300 && out.extreme == 1);
    }
}

/* A class that is next to impossible has the density that the logistic model gives it. */
TEST(surprises)
{
    double    x[] = { -3, -2, -1.5, -1, -0.5, 0, 0.3, 0.5, 1, 1.5, 2, 3, 4 };
    double    y[] = { 0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1 };
    double    far[] = { 20, 30, 300, -300 }, class[] = { 0, 0, 0, 1 }, out[4];
    cr_table *t = make_table(cx, x, 13, 1, y, NULL),
             *surprise = make_table(cx, far, 4, 1, class, NULL);
    cr_model *m = fit(cx, "glm", t, "target=y family=binomial");
    json_t   *d = describe(cx, m);
    assert_ok(cx, cr_score(cx, m, surprise, out));
    for (size_t i = 0; i < 4; i++) {
        double eta = coefficient(d, 0, "value") + coefficient(d, 1, "value") * far[i];
        assert_relative(out[i], -fabs(eta), 1e-10); /* log(1 - mu) = -eta - exp(-eta) ... */
    }
}
