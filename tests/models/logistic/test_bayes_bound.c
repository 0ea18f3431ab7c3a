/* test_bayes_bound.c -- the bound of Jaakkola & Jordan: below the evidence by quadrature in one and two
 * dimensions, near it, rising in every round, and its fixed point. */
#include "opened.h"
#include "math/special/special.h"
#include "models/logistic/bayes_logistic.h"

enum { ROWS = 30 };

/* Classes of one column, `steep` as the slope of the log odds. */
static void draw(uint64_t seed, double steep, double *X, double *y)
{
    cr_rng r = cr_rng_stream(seed, 8);
    for (size_t i = 0; i < ROWS; i++) {
        X[i] = cr_rng_normal(&r);
        y[i] = cr_rng_uniform(&r) < cr_sigmoid(0.4 + steep * X[i]);
    }
    y[0] = 0, y[1] = 1;
}

/* log of the integral of likelihood times prior over slope and, with one, intercept, whose prior sd
 * is 2; by the trapezoid rule, whose error is far below 1e-6 at this step. */
static double integrate(const double *z, const double *y, double alpha, bool one)
{
    const double h = 0.2, reach = 14;
    int          steps = (int)(reach / h), first = one ? steps : 0;
    double       top = -INFINITY, total = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int a = -first; a <= first; a++)
            for (int b = -steps; b <= steps; b++) {
                double t0 = a * h, t1 = b * h;
                double log_p = 0.5 * log(alpha / (2 * M_PI)) - 0.5 * alpha * t1 * t1 + log(h);
                if (one) log_p += 0.5 * log(0.25 / (2 * M_PI)) - 0.125 * t0 * t0 + log(h);
                for (size_t i = 0; i < ROWS; i++)
                    log_p += cr_log_sigmoid((y[i] > 0 ? 1 : -1) * (t0 + t1 * z[i]));
                if (pass == 0)
                    top = fmax(top, log_p);
                else
                    total += exp(log_p - top);
            }
    return top + log(total);
}

TEST(below_the_evidence)
{
    double X[ROWS], y[ROWS];
    for (int c = 0; c < 8; c++) {
        bool   one = c % 2;
        double steep = c / 2 * 1.5, alpha = c < 4 ? 1 : 0.2;
        char   settings[128];
        draw((uint64_t)c, steep, X, y);
        cr_table *t = make_table(cx, X, ROWS, 1, y, NULL);
        snprintf(settings, sizeof settings, "target=y scale=none infer=bound alpha=%g %s", alpha,
                 one ? "intercept_sd=2" : "intercept=false");
        cr_model *m = fit(cx, "bayes-logistic", t, settings);
        json_t   *d = describe(cx, m);
        /* without standardisation the columns are still centred where there is an intercept */
        double mean = 0, z[ROWS];
        for (size_t i = 0; one && i < ROWS; i++) mean += X[i] / ROWS;
        for (size_t i = 0; i < ROWS; i++) z[i] = X[i] - mean;
        double exact = integrate(z, y, alpha, one), bound = cr_model_get_report(m)->log_evidence;
        assert_int_equal(cr_model_get_report(m)->evidence, CR_EVIDENCE_BOUND);
        assert_true(bound < exact);
        assert_true(bound > exact - (c < 4 ? 0.3 : 1)); /* steep scores bend more than a parabola */
        assert_relative(statistic(d, "log_evidence_bound"), bound, 1e-15);
    }
}

/* Every round raises the bound, from wherever it sets out; at the end the parameters of the normal
 * are those that the formulas give. */
TEST(rises)
{
    enum { ROUNDS = 60, Q = 2 };
    double X[ROWS], y[ROWS], bounds[ROUNDS], A[Q * Q], mode[Q] = { 3, -2 };
    double covariance[Q * Q] = { 4, 0, 0, 9 };
    size_t rounds = 0;
    draw(3, 2, X, y);
    static opened o;
    open_classes(cx, X, ROWS, 1, y, NULL, true, true, &o);
    for (size_t i = 0; i < ROWS; i++) o.y[i] = y[i] > 0 ? 0 : 1; /* scores speak for place 0 */
    cri_likelihood f = { .x = &o.x, .y = o.y, .M = 1, .l2 = 0.7, .intercept_l2 = 0.04, .step = 1 };
    cri_bayes_logistic m = {
        .p = 1, .q = Q, .M = 1, .D = Q, .mode = mode, .covariance = covariance
    };
    assert_ok(cx, cri_bayes_logistic_bound(cx, &f, ROUNDS, bounds, A, &m, &rounds));
    for (size_t k = 1; k < ROUNDS; k++)
        assert_true(bounds[k] >= bounds[k - 1] - 1e-12 * fabs(bounds[k]));
    assert_true(bounds[1] > bounds[0] + 1e-3);
    double B[Q * Q] = { 0.04, 0, 0, 0.7 }, right[Q] = { 0, 0 };
    for (size_t i = 0; i < ROWS; i++) {
        double        workspace[Q], s = y[i] > 0 ? 0.5 : -0.5, xi = 0, score = 0;
        const double *z = cri_classifier_rows_one(&o.x, i, workspace);
        for (size_t a = 0; a < Q; a++) {
            score += mode[a] * z[a];
            for (size_t b = 0; b < Q; b++) xi += z[a] * covariance[a * Q + b] * z[b];
        }
        xi = sqrt(xi + score * score);
        for (size_t a = 0; a < Q; a++) {
            right[a] += s * z[a];
            for (size_t b = 0; b < Q; b++) B[a * Q + b] += tanh(xi / 2) / (2 * xi) * z[a] * z[b];
        }
    }
    for (size_t a = 0; a < Q; a++) {
        assert_close(B[a * Q] * mode[0] + B[a * Q + 1] * mode[1], right[a], 1e-6);
        for (size_t b = 0; b < Q; b++) assert_relative(A[a * Q + b], B[a * Q + b], 1e-6);
    }
    close_classes(cx, &o);
}

/* More than two classes are refused; the file and the threads keep the bits. */
TEST(refusal_and_file)
{
    cr_table *t = table_of_text(cx, "c.csv", "x,y\n1,a\n2,b\n3,c\n4,a\n5,b\n6,c\n");
    cr_model *m = NULL, *back = NULL;
    char     *bytes = NULL;
    size_t    size = 0;
    assert_fails_with(cx, try_fit(cx, "bayes-logistic", t, "target=y infer=bound", &m),
                      CR_EUNSUPPORTED, "is for two classes");
    cr_table_free(cx, t);
    t = table_of_text(cx, "c.csv", "x,y\n1,a\n2,b\n3,a\n4,a\n5,b\n6,b\n");
    m = fit(cx, "bayes-logistic", t, "target=y infer=bound");
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "it", bytes, size, &back));
    cr_prediction p = predict(cx, m, t), q = predict(cx, back, t);
    assert_memory_equal(p.prob, q.prob, 12 * sizeof(double));
    for (size_t i = 0; i < 6; i++) assert_true(p.prob[2 * i] > 0.05 && p.prob[2 * i] < 0.95);
    cr_free(cx, bytes, size, 1);
    cr_model_free(cx, back);
}
