/* test_bayes_logistic.c -- Bayesian logistic regression: integrals by quadrature in one and two
 * dimensions, three routes to one posterior, reference answers. */
#include "opened.h"
#include "math/quadrature.h"
#include "math/special/special.h"
#include "models/logistic/bayes_logistic.h"

enum { N = 40, P = 3 };

/* --- the logistic-normal integral ------------------------------------------------------------ */

typedef struct normal {
    double mean, sd;
} normal;

static double integrand(double x, void *user)
{
    const normal *n = user;
    return cr_sigmoid(n->mean + n->sd * x) * exp(cr_norm_logpdf(x));
}

TEST(logistic_normal)
{
    const double means[] = { -30, -4.3, -0.2, 0, 1.7, 12 }, sds[] = { 1e-9, 0.3, 1.9, 2.1, 9, 60 };
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++) {
            normal n = { means[i], sds[j] };
            double got = cri_logistic_normal(n.mean, n.sd), sum = 0, step = 4e-3;
            for (int k = -10000; k <= 10000; k++) /* poles are far enough for this step */
                sum += step * (fabs(k * step) < 38 ? integrand(k * step, &n) : 0);
            assert_close(got, sum, 1e-11);
            assert_close(got + cri_logistic_normal(-n.mean, n.sd), 1, 1e-11);
        }
    assert_close(cri_logistic_normal(0.7, 0), cr_sigmoid(0.7), 1e-15);
    assert_close(cri_logistic_normal(3, 1e8), 0.5, 1e-7);
}

/* --- two coefficients on a grid -------------------------------------------------------------- */

/* Everything about the posterior of intercept and one slope by a sum over a fine grid of theta. */
typedef struct grid {
    double log_evidence, mean[2], sd[2], predictive; /* of theta; P(second) at z = 1.3 */
} grid;

static grid integrate_grid(const double *z, const double *y, size_t n, double alpha0, double alpha)
{
    grid         g = { 0 };
    const double h = 0.08, reach = 8;
    double       total = 0, top = -1e300, first[2] = { 0 }, second[2] = { 0 };
    int          steps = (int)(reach / h);
    for (int pass = 0; pass < 2; pass++)
        for (int a = -steps; a <= steps; a++)
            for (int b = -steps; b <= steps; b++) {
                double t[2] = { a * h, b * h };
                double log_p = 0.5 * log(alpha0 * alpha) - log(2 * M_PI) -
                               0.5 * (alpha0 * t[0] * t[0] + alpha * t[1] * t[1]);
                for (size_t i = 0; i < n; i++)
                    log_p += cr_log_sigmoid((y[i] > 0 ? 1 : -1) * (t[0] + t[1] * z[i]));
                if (pass == 0) {
                    top = fmax(top, log_p);
                    continue;
                }
                double p = exp(log_p - top) * h * h;
                total += p;
                for (int k = 0; k < 2; k++) first[k] += p * t[k], second[k] += p * t[k] * t[k];
                g.predictive += p * cr_sigmoid(t[0] + 1.3 * t[1]);
            }
    for (int k = 0; k < 2; k++) {
        g.mean[k] = first[k] / total;
        g.sd[k] = sqrt(second[k] / total - g.mean[k] * g.mean[k]);
    }
    g.predictive /= total;
    g.log_evidence = top + log(total);
    return g;
}

/* All three routes under one prior of the intercept, which `prior` sets. */
static void check_grid(double alpha0, const char *prior)
{
    enum { ROWS = 14 };
    cr_ctx *cx = test_context();
    double  X[ROWS], y[ROWS], mean = 0, sd = 0, z[ROWS];
    cr_rng  r = cr_rng_stream(3, 3);
    for (size_t i = 0; i < ROWS; i++) {
        X[i] = cr_rng_normal(&r);
        y[i] = cr_rng_uniform(&r) < cr_sigmoid(0.5 + 1.2 * X[i]);
        mean += X[i] / ROWS;
    }
    for (size_t i = 0; i < ROWS; i++) sd += (X[i] - mean) * (X[i] - mean) / ROWS;
    sd = sqrt(sd);
    for (size_t i = 0; i < ROWS; i++) z[i] = (X[i] - mean) / sd;
    grid              g = integrate_grid(z, y, ROWS, alpha0, 1.5);
    cr_table         *t = make_table(cx, X, ROWS, 1, y, NULL);
    double            at[1] = { mean + 1.3 * sd };
    cr_table         *there = make_table(cx, at, 1, 1, NULL, NULL);
    const char *const settings[] = { "target=y alpha=1.5",
                                     "target=y alpha=1.5 infer=importance draws=6000",
                                     "target=y alpha=1.5 infer=mcmc draws=6000" };
    for (size_t k = 0; k < 3; k++) {
        char all[128];
        snprintf(all, sizeof all, "%s%s", settings[k], prior);
        cr_model     *m = fit(cx, "bayes-logistic", t, all);
        json_t       *d = describe(cx, m);
        cr_prediction q = predict(cx, m, there);
        double slope = coefficient(d, 1, "value") * sd, spread = coefficient(d, 1, "sd") * sd;
        double level = coefficient(d, 0, "value") + coefficient(d, 1, "value") * mean;
        double loose = k == 0 ? 0.2 : 0.06; /* Laplace is off by the skewness, draws by chance */
        assert_true(fabs(slope - g.mean[1]) < loose * g.sd[1]);
        assert_true(fabs(level - g.mean[0]) < loose * g.sd[0]);
        assert_true(fabs(spread / g.sd[1] - 1) < (k == 0 ? 0.1 : 0.05));
        assert_true(fabs(q.prob[1] - g.predictive) < (k == 0 ? 0.04 : 0.015));
        if (k < 2)
            assert_true(fabs(cr_model_get_report(m)->log_evidence - g.log_evidence) <
                        (k == 0 ? 0.1 : 0.03));
        if (k == 1) {
            assert_true(fabs(cr_model_get_report(m)->log_evidence - g.log_evidence) <
                        5 * statistic(d, "log_evidence_se") + 1e-4);
            assert_int_equal(cr_model_get_report(m)->evidence, CR_EVIDENCE_ESTIMATE);
        }
        if (k > 0) assert_true(statistic(d, "effective_draws") > 1500);
        if (k == 2) assert_true(statistic(d, "rhat") < 1.02);
    }
    test_context_free(cx);
}

TEST(grid)
{
    check_grid(1.5, " shrink_intercept=true");
    check_grid(0.01, "");
    check_grid(1 / 6.25, " intercept_sd=2.5");
}

/* --- rare classes ---------------------------------------------------------------------------- */

static double mean_probability(cr_ctx *cx, const cr_table *t, const char *settings)
{
    cr_model     *m = fit(cx, "bayes-logistic", t, settings);
    cr_prediction q = predict(cx, m, t);
    double        sum = 0;
    for (size_t i = 0; i < q.n; i++) sum += q.prob[2 * i + 1] / (double)q.n;
    return sum;
}

/* Slopes that are small make the learned alpha large; the intercept, far from 0, is not to
 * follow. */
TEST(rare_class_keeps_its_rate)
{
    enum { ROWS = 400, COLUMNS = 20 };
    static double X[ROWS * COLUMNS], y[ROWS];
    cr_rng        r = cr_rng_stream(17, 4);
    double        rate = 0;
    draw_normals(&r, X, ROWS * COLUMNS);
    for (size_t i = 0; i < ROWS; i++) {
        y[i] = cr_rng_uniform(&r) < cr_sigmoid(-3.2 + 0.4 * X[i * COLUMNS]);
        rate += y[i] / ROWS;
    }
    cr_table *t = make_table(cx, X, ROWS, COLUMNS, y, NULL);
    assert_true(rate > 0.03 && rate < 0.06);
    assert_close(mean_probability(cx, t, "target=y"), rate, 0.004);
    assert_close(mean_probability(cx, t, "target=y intercept_sd=3"), rate, 0.006);
    assert_true(mean_probability(cx, t, "target=y shrink_intercept=true optimize=evidence") >
                rate + 0.02);
}

/* --- alpha ----------------------------------------------------------------------------------- */

static double evidence_at(cr_ctx *cx, const cr_table *t, double alpha)
{
    char settings[64];
    snprintf(settings, sizeof settings, "target=y alpha=%.17g", alpha);
    cr_model *m = fit(cx, "bayes-logistic", t, settings);
    double    log_evidence = cr_model_get_report(m)->log_evidence;
    return log_evidence;
}

TEST(learned_alpha)
{
    double X[N * P], y[N];
    for (size_t classes = 2; classes <= 3; classes++) {
        draw_classes(classes, N, P, classes, 0.5, X, y);
        cr_table *t = make_table(cx, X, N, P, y, NULL);
        cr_model *m = fit(cx, "bayes-logistic", t, "target=y optimize=evidence");
        json_t   *d = describe(cx, m);
        double    alpha = statistic(d, "alpha"), best = cr_model_get_report(m)->log_evidence;
        assert_true(best >= evidence_at(cx, t, alpha * 1.01));
        assert_true(best >= evidence_at(cx, t, alpha / 1.01));
        assert_relative(best, evidence_at(cx, t, alpha), 1e-12);
    }
}

/* --- several classes ------------------------------------------------------------------------- */

/* Laplace's predictive of three classes against its own draws, and the routes against each other.
 */
TEST(three_classes)
{
    static const char *const settings[] = { "target=y alpha=1", "target=y alpha=1 infer=importance",
                                            "target=y alpha=1 infer=mcmc" };
    double                   X[N * P], y[N];
    cr_prediction            q[3];
    cr_model                *m[3];
    draw_classes(5, N, P, 3, 0.5, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    for (size_t k = 0; k < 3; k++) {
        m[k] = fit(cx, "bayes-logistic", t, settings[k]);
        q[k] = predict(cx, m[k], t);
    }
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (size_t k = 0; k < 3; k++) {
            sum += q[0].prob[3 * i + k];
            assert_true(fabs(q[1].prob[3 * i + k] - q[2].prob[3 * i + k]) < 0.03);
            assert_true(fabs(q[0].prob[3 * i + k] - q[2].prob[3 * i + k]) < 0.06);
        }
        assert_close(sum, 1, 1e-14);
    }
}

/* Iris, two of whose classes are nearly separated, alpha learned: a posterior that leans far out.
 * The draws of both routes are worth a fifth of their number, and agree on means, sds and
 * probabilities. */
TEST(iris)
{
    static const char *const settings[] = {
        "target=species infer=importance draws=2000 optimize=evidence",
        "target=species infer=mcmc draws=2000 optimize=evidence"
    };
    cr_table     *t = read_table(cx, "examples/iris.csv");
    cr_prediction q[2];
    cr_model     *m[2];
    json_t       *d[2];
    for (size_t k = 0; k < 2; k++) {
        m[k] = fit(cx, "bayes-logistic", t, settings[k]);
        q[k] = predict(cx, m[k], t);
        d[k] = describe(cx, m[k]);
        assert_true(statistic(d[k], "effective_draws") >= 400);
    }
    assert_true(statistic(d[1], "rhat") < 1.02);
    /* -22.42, se 0.03, by other draws from other proposals in numpy; Laplace's is -23.15 */
    for (size_t k = 0; k < 2; k++) {
        assert_true(fabs(cr_model_get_report(m[k])->log_evidence + 22.42) < 0.25);
        assert_int_equal(cr_model_get_report(m[k])->evidence, CR_EVIDENCE_ESTIMATE);
        assert_true(statistic(d[k], "log_evidence_se") < 0.1);
    }
    for (size_t j = 0; j < 15; j++) {
        const json_t *a = json_array_get(json_object_get(d[0], "parameters"), j);
        const json_t *b = json_array_get(json_object_get(d[1], "parameters"), j);
        double        sd = number_of(b, "sd");
        assert_true(fabs(number_of(a, "value") - number_of(b, "value")) < 0.3 * sd);
        assert_true(fabs(number_of(a, "sd") / sd - 1) < 0.25);
    }
    for (size_t i = 0; i < q[0].n * 3; i++) assert_true(fabs(q[0].prob[i] - q[1].prob[i]) < 0.05);
}

/* Laplace there: probabilities against half a million draws of its normal by another program, and
 * the advice to take draws of the posterior, which is not given where the normal fits. */
TEST(iris_by_laplace)
{
    cr_table *t = read_table(cx, "examples/iris.csv");
    warnings  w = { .n = 0 };
    double    X[N * P], y[N];
    cr_ctx_set_log(cx, keep_warning, &w);
    cr_model *m = fit(cx, "bayes-logistic", t, "target=species infer=laplace optimize=evidence");
    cr_prediction q = predict(cx, m, t);
    assert_true(fabs(q.prob[3 * 100 + 0] - 0.01226) < 4e-4);
    assert_true(fabs(q.prob[3 * 0 + 2] - 8.5e-5) < 4e-5);
    assert_int_equal(cr_model_get_report(m)->evidence, CR_EVIDENCE_LAPLACE);
    assert_non_null(strstr(w.text, "the columns nearly separate the classes"));
    assert_non_null(strstr(w.text, "--infer mcmc"));
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    w = (warnings){ .n = 0 };
    draw_classes(5, N, P, 3, 0.5, X, y);
    t = make_table(cx, X, N, P, y, NULL);
    cr_model_free(cx, fit(cx, "bayes-logistic", t, "target=y alpha=1"));
    assert_int_equal(w.n, 0);
    cr_ctx_set_log(cx, NULL, NULL);
}

/* By default the normal where it fits, to the last bit, and draws where it does not, without a warning. */
TEST(auto_takes_what_fits)
{
    static const char *const ways[] = { "target=species", "target=species infer=mcmc" };
    warnings                 w = { .n = 0 };
    double                   X[N * P], y[N];
    cr_prediction            q[2];
    cr_table                *t = read_table(cx, "examples/iris.csv");
    cr_ctx_set_log(cx, keep_warning, &w);
    for (size_t k = 0; k < 2; k++) {
        cr_model *m = fit(cx, "bayes-logistic", t, ways[k]);
        json_t   *s = json_object_get(describe(cx, m), "statistics");
        q[k] = predict(cx, m, t);
        assert_string_not_equal(json_string_value(json_object_get(s, "infer")), "laplace");
        assert_int_equal(cr_model_get_report(m)->evidence, CR_EVIDENCE_ESTIMATE);
    }
    for (size_t i = 0; i < q[0].n * 3; i++) assert_true(fabs(q[0].prob[i] - q[1].prob[i]) < 0.04);
    draw_classes(5, N, P, 3, 0.5, X, y);
    t = make_table(cx, X, N, P, y, NULL);
    for (size_t k = 0; k < 2; k++)
        q[k] =
            predict(cx, fit(cx, "bayes-logistic", t, k ? "target=y infer=laplace" : "target=y"), t);
    assert_memory_equal(q[0].prob, q[1].prob, q[0].n * q[0].n_classes * sizeof(double));
    assert_int_equal(w.n, 0);
    cr_ctx_set_log(cx, NULL, NULL);
}

/* --- corners --------------------------------------------------------------------------------- */

/* Separated classes, more columns than rows, a constant column: the prior has an answer for all. */
TEST(corners)
{
    cr_model *m = NULL;
    cr_table *t = table_of_text(cx, "t.csv", "a,b,c,d,y\n1,2,7,4,n\n2,1,7,2,n\n5,1,7,3,y\n");
    m = fit(cx, "bayes-logistic", t, "target=y alpha=1");
    cr_prediction q = predict(cx, m, t);
    assert_true(q.prob[5] > 0.5 && q.prob[5] < 0.95 && q.prob[0] > 0.5);
    cr_model_free(cx, m);
    m = NULL;
    assert_fails_with(cx, try_fit(cx, "bayes-logistic", t, "target=y alpha=0", &m), CR_EARG,
                      "alpha");
    assert_fails_with(
        cx, try_fit(cx, "bayes-logistic", t, "target=y intercept_sd=2 shrink_intercept=true", &m),
        CR_EARG, "both set the prior");
    assert_fails_with(
        cx, try_fit(cx, "bayes-logistic", t, "target=y intercept=false intercept_sd=2", &m),
        CR_EARG, "there are no intercepts");
    cr_table_free(cx, t);
    t = table_of_text(cx, "t.csv", "a,y\n1,n\n2,n\n");
    assert_fails_with(cx, try_fit(cx, "bayes-logistic", t, "target=y", &m), CR_EDATA,
                      "only one class");
}

/* The same bits for any number of threads, and after saving. */
TEST(same_bits)
{
    static const char *const settings[] = { "target=y",
                                            "target=y alpha=1 infer=importance draws=200",
                                            "target=y alpha=1 infer=mcmc draws=200" };
    double                   X[N * P], y[N];
    draw_classes(6, N, P, 3, 0.5, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    for (size_t s = 0; s < 3; s++) {
        double       first[3 * N];
        const size_t threads[] = { 1, 2, 3, 7 };
        for (size_t k = 0; k < 4; k++) {
            char     *bytes = NULL;
            size_t    size = 0;
            cr_model *loaded = NULL;
            cr_ctx_set_threads(cx, threads[k]);
            cr_model *m = fit(cx, "bayes-logistic", t, settings[s]);
            assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
            assert_ok(cx, cr_model_from_bytes(cx, "bytes", bytes, size, &loaded));
            cr_prediction q = predict(cx, loaded, t);
            if (k == 0) memcpy(first, q.prob, sizeof first);
            assert_memory_equal(first, q.prob, sizeof first);
            cr_free(cx, bytes, size, 1);
            cr_model_free(cx, loaded);
        }
    }
}

/* --- reference answers ----------------------------------------------------------------------- */

/* Coefficients of standardised columns, from those of the data. */
static void check_fixed_alpha(cr_ctx *cx, const cr_table *t, const char *settings, const json_t *e)
{
    char all[1300];
    snprintf(all, sizeof all, "%s shrink_intercept=true alpha=%.17g", settings,
             number_of(e, "alpha"));
    cr_model     *m = fit(cx, "bayes-logistic", t, all);
    json_t       *d = describe(cx, m), *list = json_object_get(d, "parameters"), *item;
    json_t       *map = json_object_get(e, "map"), *sds = json_object_get(e, "posterior_sd");
    cr_prediction q = predict(cx, m, t);
    size_t        j;
    assert_close(cr_model_get_report(m)->log_evidence, number_of(e, "log_evidence_laplace"), 1e-8);
    assert_close(statistic(d, "log_joint"), number_of(e, "log_joint_at_map"), 1e-8);
    json_array_foreach(list, j, item) /* value over sd is free of units */
    {
        if (j == 0) continue;
        assert_relative(number_of(item, "value") / number_of(item, "sd"),
                        element(map, j) / element(sds, j), 1e-6);
    }
    for (size_t i = 0; i < 5; i++)
        assert_close(q.prob[2 * i + 1],
                     element(json_object_get(e, "pred_first5_gauss_integral"), i), 1e-8);
}

TEST(reference)
{
    json_t *item, *one, *cases = reference_cases(cx, "bayes_logistic");
    size_t  i, k, checked = 0;
    json_array_foreach(cases, i, item)
    {
        char      settings[1100];
        json_t   *e = json_object_get(item, "expected");
        cr_table *t = reference_table(cx, item, settings, sizeof settings - 60);
        json_array_foreach(json_object_get(e, "fixed_alpha"), k, one)
        {
            check_fixed_alpha(cx, t, settings, one);
            checked++;
        }
        strcat(settings, " shrink_intercept=true optimize=evidence");
        cr_model *m = fit(cx, "bayes-logistic", t, settings);
        json_t   *d = describe(cx, m);
        assert_relative(statistic(d, "alpha"), number_of(e, "alpha_maximising_laplace_evidence"),
                        1e-6);
        assert_close(cr_model_get_report(m)->log_evidence, number_of(e, "log_evidence_at_optimum"),
                     1e-8);
    }
    assert_true(checked >= 6);
}
