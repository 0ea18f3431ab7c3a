/* test_metrics.c -- scores against their definitions: integrals, all pairs, plain loops; against
 * numbers worked out by hand; and against scikit-learn 1.2.1 and scipy 1.10.1 (the functions are
 * named beside the numbers). */
#include "support.h"
#include "base/rng.h"
#include "data/judge/metrics.h"
#include "data/table/table.h"
#include "math/special/special.h"

/* --- the continuous ranked probability score ------------------------------------------------- */

/* integral of F^2 over x < 0, by the trapezoidal rule in t, -x = exp(pi/2 sinh t): exp-sinh
 * quadrature (Takahasi & Mori 1974), which takes algebraic tails. */
static double tail_integral(double nu)
{
    const double h = 1.0 / 32, half_pi = 1.57079632679489661923;
    double       sum = 0;
    for (int i = -5 * 32; i <= 5 * 32; i++) {
        double t = i * h, s = exp(half_pi * sinh(t)), F = cr_student_t_cdf(-s, nu);
        if (F > 0 && s > 0) sum += F * F * s * half_pi * cosh(t);
    }
    return h * sum;
}

/* integral of F^2 from 0 to z, by Gauss-Legendre with three points on steps of at most 1/8. */
static double body_integral(double z, double nu)
{
    size_t steps = 1 + (size_t)(8 * fabs(z));
    double h = z / (double)steps, sum = 0;
    for (size_t i = 0; i < steps; i++)
        for (int k = -1; k <= 1; k++) {
            double F = cr_student_t_cdf(h * ((double)i + 0.5 + k * sqrt(0.15)), nu);
            sum += (k ? 5.0 : 8.0) / 18 * h * F * F;
        }
    return sum;
}

static double lower_integral(double z, double nu)
{
    return tail_integral(nu) + body_integral(z, nu);
}

/* The definition: below y, F^2; above, (1 - F)^2, which is F^2 mirrored. */
static double crps_by_quadrature(double y, double mean, double scale, double nu)
{
    double z = (y - mean) / scale;
    return scale * (lower_integral(z, nu) + lower_integral(-z, nu));
}

TEST(crps_is_its_integral)
{
    const double dofs[] = { 0.75, 0.9, 1, 1.25, 2, 3.7, 10, 250, 1e8, (double)INFINITY };
    const double ys[] = { -7.3, -1.1, 0.35, 0.7, 1.9, 42 };
    for (size_t d = 0; d < 10; d++)
        for (size_t i = 0; i < 6; i++) {
            double exact = crps_by_quadrature(ys[i], 0.7, 1.3, dofs[d]);
            assert_relative(cr_crps_student_t(ys[i], 0.7, 1.3, dofs[d]), exact, 1e-9);
        }
}

TEST(crps_known_values)
{
    const double pi = 3.14159265358979323846;
    assert_close(cr_crps_normal(2, 2, 3), 3 * (sqrt(2) - 1) / sqrt(pi), 1e-15);
    assert_close(cr_crps_student_t(0, 0, 1, 1), 2 * log(2) / pi, 1e-15); /* integral of arccot^2 */
    assert_close(cr_crps_student_t(3, 2, 0.5, (double)INFINITY), cr_crps_normal(3, 2, 0.5), 0);
    assert_relative(cr_crps_normal(1e200, 0, 1), 1e200, 1e-15);
    assert_relative(cr_crps_student_t(1e200, 0, 1, 4), 1e200, 1e-15);
    assert_relative(cr_crps_student_t(-1e200, 0, 1, 1), 1e200, 1e-12);
    assert_true(isinf(cr_crps_student_t(1, 0, 1, 0.5)));
    assert_true(isnan(cr_crps_student_t(1, 0, 1, (double)NAN)));
}

/* Through nu = 1, where two terms blow up and cancel, and through the seam of the series at
 * 1e-5. */
TEST(crps_is_smooth_in_dof)
{
    const double steps[] = { 1e-3, 1.1e-5, 0.99e-5, 1e-7, 1e-11, 1e-15 };
    double       at = cr_crps_student_t(1.3, 0, 1, 1);
    for (size_t i = 0; i < 6; i++) {
        double above = cr_crps_student_t(1.3, 0, 1, 1 + steps[i]);
        double below = cr_crps_student_t(1.3, 0, 1, 1 - steps[i]);
        assert_close((above + below) / 2, at, 4e-10 + steps[i] * steps[i]);
    }
    for (double sign = -1; sign <= 1; sign += 2) {
        double inside = cr_crps_student_t(1.3, 0, 1, 1 + sign * 0.99e-5);
        double outside = cr_crps_student_t(1.3, 0, 1, 1 + sign * 1.01e-5);
        assert_close(inside, outside, 1e-6); /* the slope is about -0.5 */
    }
    assert_close(cr_crps_student_t(1.3, 0, 1, 1e9), cr_crps_normal(1.3, 0, 1), 1e-8);
}

/* --- regression ------------------------------------------------------------------------------ */

static const double y5[] = { 1.5, -0.25, 3.75, 2, 0.5 }, mean5[] = { 1.25, 0.5, 3, 2.25, -0.5 };
static const double scale5[] = { 0.5, 1.25, 0.75, 2, 1 };
static const double dof5[] = { 3, 7.5, (double)INFINITY, 1.5, 30 }, w5[] = { 1, 2, 0.5, 3, 1.5 };

TEST(regression_against_sklearn_and_scipy)
{
    cr_regression_metrics m;
    cr_predictive         p = { 5, mean5, scale5, dof5 };
    assert_ok(cx, cr_regression_evaluate(cx, y5, &p, NULL, 0.9, &m));
    assert_close(m.rmse, 0.6708203932499369, 1e-14);       /* sqrt(mean_squared_error) */
    assert_close(m.mae, 0.6, 1e-14);                       /* mean_absolute_error      */
    assert_close(m.r2, 0.76, 1e-14);                       /* r2_score                 */
    assert_close(m.log_score, -1.2383841938416418, 1e-13); /* stats.t.logpdf, stats.norm.logpdf */
    assert_close(m.width, 5.545051525366436,
                 1e-12); /* roots of special.betainc: ppf has 8 digits */
    assert_close(m.coverage, 1, 1e-15);
    double crps = 0;
    for (size_t i = 0; i < 5; i++) crps += crps_by_quadrature(y5[i], mean5[i], scale5[i], dof5[i]);
    assert_close(m.crps, crps / 5, 1e-10);

    assert_ok(cx, cr_regression_evaluate(cx, y5, &p, w5, 0.9, &m)); /* sample_weight=w */
    assert_close(m.rmse, 0.6281172263200556, 1e-14);
    assert_close(m.mae, 0.546875, 1e-14);
    assert_close(m.r2, 0.6905992724487842, 1e-14);
}

TEST(coverage_by_hand)
{
    cr_regression_metrics m;
    /* half of a normal lies within 0.67449 sd: z = 0.5, 1, -0.6, 3, with weights 1 2 3 4 */
    const double  y[] = { 1, 2, -1.2, 6 }, mean[4] = { 0 }, scale[] = { 2, 2, 2, 2 };
    const double  w[] = { 1, 2, 3, 4 };
    cr_predictive p = { 4, mean, scale, NULL };
    assert_ok(cx, cr_regression_evaluate(cx, y, &p, NULL, 0.5, &m));
    assert_close(m.coverage, 0.5, 1e-15);
    assert_close(m.width, 4 * 0.67448975019608171, 1e-14);
    assert_ok(cx, cr_regression_evaluate(cx, y, &p, w, 0.5, &m));
    assert_close(m.coverage, 0.4, 1e-15);
}

TEST(points_constants_and_zero_weights)
{
    cr_regression_metrics m, all;
    const double          flat[] = { 2, 2, 2 }, at[] = { 2, 2, 5 }, w[] = { 0, 1, 1 };
    cr_predictive         p = { 3, at, NULL, NULL };
    assert_ok(cx, cr_regression_evaluate(cx, flat, &p, NULL, 0.95, &m));
    assert_close(m.rmse, sqrt(3), 1e-15);
    assert_close(m.mae, 1, 1e-15);
    assert_true(isnan(m.r2) && isnan(m.log_score) && isnan(m.crps) && isnan(m.coverage));
    assert_true(isnan(m.width));
    /* a row of weight 0 is as good as absent */
    cr_predictive rest = { 2, mean5 + 1, scale5 + 1, dof5 + 1 }, three = { 3, mean5, scale5, dof5 };
    assert_ok(cx, cr_regression_evaluate(cx, y5, &three, w, 0.8, &all));
    assert_ok(cx, cr_regression_evaluate(cx, y5 + 1, &rest, NULL, 0.8, &m));
    assert_close(all.rmse, m.rmse, 1e-15);
    assert_close(all.crps, m.crps, 1e-15);
    assert_close(all.log_score, m.log_score, 1e-15);
    assert_close(all.width, m.width, 1e-15);
    assert_close(all.r2, m.r2, 1e-14);
    const double heavy[] = { 0.4, 7.5, (double)INFINITY }; /* also where its score is infinite */
    three.dof = heavy;
    assert_ok(cx, cr_regression_evaluate(cx, y5, &three, w, 0.8, &all));
    assert_close(all.crps, m.crps, 1e-15);
}

TEST(regression_refusals)
{
    cr_regression_metrics m = { .rmse = 77 };
    const double          bad[] = { 1, (double)NAN }, good[] = { 1, 2 }, zero[] = { 1, 0 };
    const double          none[] = { 0, 0 }, minus[] = { 1, -1 };
    cr_predictive         p = { 2, good, good, NULL };
    assert_fails_with(cx, cr_regression_evaluate(cx, bad, &p, NULL, 0.9, &m), CR_EDATA,
                      "the target of row 2 is nan");
    p.mean = bad;
    assert_fails_with(cx, cr_regression_evaluate(cx, good, &p, NULL, 0.9, &m), CR_EDATA,
                      "the prediction for row 2 is nan");
    p = (cr_predictive){ 2, good, zero, NULL };
    assert_fails_with(cx, cr_regression_evaluate(cx, good, &p, NULL, 0.9, &m), CR_EDATA,
                      "the scale predicted for row 2 is 0");
    p = (cr_predictive){ 2, good, good, zero };
    assert_fails_with(cx, cr_regression_evaluate(cx, good, &p, NULL, 0.9, &m), CR_EDATA,
                      "the degrees of freedom for row 2");
    p.dof = NULL;
    assert_fails_with(cx, cr_regression_evaluate(cx, good, &p, NULL, 1, &m), CR_EARG, "level 1");
    assert_fails_with(cx, cr_regression_evaluate(cx, good, &p, none, 0.9, &m), CR_EDATA,
                      "sum to 0");
    assert_fails_with(cx, cr_regression_evaluate(cx, good, &p, minus, 0.9, &m), CR_EDATA,
                      "the weight of row 2 is -1");
    p.n = 0;
    assert_fails_with(cx, cr_regression_evaluate(cx, good, &p, NULL, 0.9, &m), CR_EARG, "no rows");
    assert_true(m.rmse == 77);
}

/* --- classification -------------------------------------------------------------------------- */

static const uint32_t c7[] = { 0, 1, 1, 0, 1, 0, 1 };
static const double   P7[] = { .9, .1, .6, .4, .65, .35, .2, .8, .6, .4, .6, .4, .1, .9 };
static const double   w7[] = { 1, 2, 0.5, 3, 1.5, 1, 2 };
static const uint32_t c6[] = { 0, 2, 1, 1, 0, 2 };
static const double   P6[] = { .7,  .2, .1,  .1, .3,  .6,  .3, .3, .4,
                               .25, .5, .25, .4, .35, .25, .2, .5, .3 };
static const double   w6[] = { 1, 2, 0.5, 3, 1.5, 1 };

static void check_class(cr_ctx *cx, const uint32_t *codes, cr_cmat P, const double *w,
                        const double expected[7])
{
    cr_class_metrics m;
    assert_ok(cx, cr_class_evaluate(cx, codes, P, w, &m));
    assert_close(m.accuracy, expected[0], 1e-14);
    assert_close(m.log_loss, expected[1], 1e-14);
    assert_close(m.brier, expected[2], 1e-14);
    assert_close(m.auc, expected[3], 1e-14);
    assert_close(m.balanced_accuracy, expected[4], 1e-14);
    assert_close(m.f1, expected[5], 1e-14);
    assert_close(m.average_precision, expected[6], 1e-14);
}

/* accuracy_score, log_loss, brier_score_loss (three classes: its formula in numpy), roc_auc_score
 * (multi_class='ovr', average='macro'), balanced_accuracy_score, f1_score (binary; macro),
 * average_precision_score (of the second class; the mean over classes against the rest). */
TEST(classes_against_sklearn)
{
    cr_cmat two = cr_cmat_of(P7, 7, 2), three = cr_cmat_of(P6, 6, 3);
    check_class(cx, c7, two, NULL,
                (const double[]){ 0.42857142857142855, 0.744769736537533, 0.28035714285714286,
                                  0.5833333333333334, 0.4583333333333333, 0.3333333333333333,
                                  0.7166666666666667 });
    check_class(cx, c7, two, w7,
                (const double[]){ 0.36363636363636365, 0.8533772301682411, 0.32556818181818187,
                                  0.525, 0.3666666666666667, 0.3636363636363636,
                                  0.7210526315789474 });
    check_class(cx, c6, three, NULL,
                (const double[]){ 0.6666666666666666, 0.8141473481317826, 0.47333333333333333,
                                  0.8333333333333334, 0.6666666666666666, 0.6666666666666666,
                                  0.7611111111111111 });
    check_class(cx, c6, three, w6,
                (const double[]){ 0.8333333333333334, 0.737573670827854, 0.4169444444444445,
                                  0.9344636844636844, 0.8412698412698413, 0.8424242424242423,
                                  0.8859126984126983 });
    static const double matrix[] = { 2.5, 0, 0, 0, 3, 0.5, 0, 1, 2 };
    double              C[9];
    assert_ok(cx, cr_confusion(cx, c6, three, w6, C)); /* confusion_matrix */
    for (size_t i = 0; i < 9; i++) assert_close(C[i], matrix[i], 1e-15);
}

static double auc_by_pairs(const double *score, const uint32_t *codes, size_t n, const double *w)
{
    double wins = 0, pairs = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            if (codes[i] != 1 || codes[j] == 1) continue;
            double ww = w ? w[i] * w[j] : 1;
            wins += ww * (score[i] > score[j] ? 1 : score[i] == score[j] ? 0.5 : 0);
            pairs += ww;
        }
    return wins / pairs;
}

TEST(auc_is_a_share_of_pairs)
{
    enum { N = 300 };
    double   score[2 * N], w[N], plain[N], auc = 0;
    uint32_t codes[N];
    cr_rng   r = cr_rng_stream(5, 0);
    for (size_t round = 0; round < 20; round++) {
        for (size_t i = 0; i < N; i++) {
            codes[i] = (uint32_t)cr_rng_below(&r, 3);
            double levels = round % 2 ? 8 : 1e9; /* many ties, or hardly any */
            plain[i] = score[2 * i] =
                floor(cr_rng_uniform(&r) * levels) + (codes[i] == 1 ? 0.25 * levels : 0);
            plain[i] = score[2 * i] = round % 2 ? floor(plain[i] / 2) : plain[i];
            w[i] = (double)cr_rng_below(&r, 4);
        }
        assert_ok(cx, cr_auc(cx, score, 2, codes, 1, N, NULL, &auc));
        assert_close(auc, auc_by_pairs(plain, codes, N, NULL), 1e-13);
        assert_ok(cx, cr_auc(cx, score, 2, codes, 1, N, w, &auc));
        assert_close(auc, auc_by_pairs(plain, codes, N, w), 1e-13);
    }
}

TEST(auc_corners)
{
    double         auc = 9;
    const double   s[] = { -(double)INFINITY, 1, 1, (double)INFINITY }, bad[] = { 1, (double)NAN };
    const uint32_t up[] = { 0, 0, 1, 1 }, down[] = { 1, 1, 0, 0 }, one[] = { 0, 0, 0, 0 };
    assert_ok(cx, cr_auc(cx, s, 1, up, 1, 4, NULL, &auc));
    assert_close(auc, 3.5 / 4, 1e-15);
    assert_ok(cx, cr_auc(cx, s, 1, down, 1, 4, NULL, &auc));
    assert_close(auc, 0.5 / 4, 1e-15);
    assert_ok(cx, cr_auc(cx, s, 0, up, 1, 4, NULL, &auc)); /* all scores equal */
    assert_close(auc, 0.5, 1e-15);
    assert_ok(cx, cr_auc(cx, s, 1, one, 1, 4, NULL, &auc));
    assert_true(isnan(auc));
    assert_ok(cx, cr_auc(cx, s, 1, one, 1, 0, NULL, &auc));
    assert_true(isnan(auc));
    assert_fails_with(cx, cr_auc(cx, bad, 1, up, 1, 2, NULL, &auc), CR_EDATA, "score of row 2");
}

/* The definition of Guo et al. (2017), bin after bin. */
static double calibration_error_naively(const double *P, const uint32_t *codes, size_t n, size_t K,
                                        const double *w, cr_calibration_bin *bins)
{
    double error = 0, total = 0;
    for (size_t i = 0; i < n; i++) total += w ? w[i] : 1;
    for (size_t b = 0; b < 15; b++) {
        double confidence = 0, right = 0, weight = 0;
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            size_t best = 0;
            for (size_t k = 0; k < K; k++)
                if (P[i * K + k] > P[i * K + best]) best = k;
            double c = P[i * K + best], ww = w ? w[i] : 1;
            if (!(c > (double)b / 15 && c <= (double)(b + 1) / 15)) continue;
            count++, weight += ww, confidence += ww * c, right += best == codes[i] ? ww : 0;
        }
        bins[b] = (cr_calibration_bin){ count, weight, 0, 0 };
        if (weight == 0) continue;
        bins[b].confidence = confidence / weight;
        bins[b].accuracy = right / weight;
        error += weight / total * fabs(bins[b].accuracy - bins[b].confidence);
    }
    return error;
}

static void check_calibration(cr_ctx *cx, const double *P, const uint32_t *codes, size_t n,
                              size_t K, const double *w)
{
    cr_class_metrics   m;
    cr_calibration_bin bins[15];
    double             error = calibration_error_naively(P, codes, n, K, w, bins);
    assert_ok(cx, cr_class_evaluate(cx, codes, cr_cmat_of(P, n, K), w, &m));
    assert_close(m.calibration_error, error, 1e-13);
    for (size_t b = 0; b < 15; b++) {
        assert_int_equal(m.bins[b].count, bins[b].count);
        assert_close(m.bins[b].weight, bins[b].weight, 1e-12);
        assert_close(m.bins[b].confidence, bins[b].confidence, 1e-12);
        assert_close(m.bins[b].accuracy, bins[b].accuracy, 1e-12);
    }
}

TEST(calibration_is_the_plain_loop)
{
    enum { N = 5000, K = 4 };
    static double   P[N * K], w[N];
    static uint32_t codes[N];
    cr_rng          r = cr_rng_stream(9, 0);
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (size_t k = 0; k < K; k++) sum += P[i * K + k] = cr_rng_gamma(&r, 0.3) + 1e-300;
        for (size_t k = 0; k < K; k++) P[i * K + k] /= sum;
        codes[i] = (uint32_t)cr_rng_categorical(&r, P + i * K, K);
        w[i] = cr_rng_uniform(&r) < 0.1 ? 0 : cr_rng_exponential(&r);
    }
    check_calibration(cx, P, codes, N, K, NULL);
    check_calibration(cx, P, codes, N, K, w);
    double   edges[2 * 16]; /* confidences on and beside the edges of bins */
    uint32_t first[16] = { 0 };
    for (size_t i = 0; i < 8; i++) {
        double c = (double)(i + 8) / 15;
        edges[4 * i] = c, edges[4 * i + 1] = 1 - c;
        edges[4 * i + 2] = nextafter(c, i == 7 ? 0 : 2), edges[4 * i + 3] = 1 - c;
    }
    check_calibration(cx, edges, first, 16, 2, NULL);
}

TEST(class_corners)
{
    cr_class_metrics m = { .brier = 77 }, other;
    const double     P[] = { 1, 0, 0.5, 0.5 }, w[] = { 0, 2 };
    const uint32_t   wrong[] = { 1, 0 }, missing[] = { 0, CR_MISSING_CODE }, three[] = { 0, 2 };
    const double     over[] = { 1, 0, 0.5, 0.6 }, minus[] = { 1, 0, 1.5, -0.5 };
    assert_ok(cx, cr_class_evaluate(cx, wrong, cr_cmat_of(P, 2, 2), NULL, &other));
    assert_true(isinf(other.log_loss) && other.log_loss > 0);
    assert_close(other.accuracy, 0.5, 0); /* of equals the first class */
    assert_close(other.brier, 0.625, 0);
    assert_close(other.auc, 0, 0);
    assert_ok(cx, cr_class_evaluate(cx, wrong, cr_cmat_of(P, 2, 2), w, &other));
    assert_close(other.log_loss, log(2), 1e-15); /* the impossible row has no weight */
    assert_true(isnan(other.auc));
    assert_int_equal(other.bins[14].count, 1);
    assert_close(other.bins[14].weight, 0, 0);
    assert_fails_with(cx, cr_class_evaluate(cx, missing, cr_cmat_of(P, 2, 2), NULL, &m), CR_EDATA,
                      "the true class of row 2");
    assert_fails(cx, cr_class_evaluate(cx, three, cr_cmat_of(P, 2, 2), NULL, &m), CR_EDATA);
    assert_fails_with(cx, cr_class_evaluate(cx, wrong, cr_cmat_of(over, 2, 2), NULL, &m), CR_EDATA,
                      "row 2 sum to 1.1");
    assert_fails_with(cx, cr_class_evaluate(cx, wrong, cr_cmat_of(minus, 2, 2), NULL, &m), CR_EDATA,
                      "the probability of class 1 in row 2 is 1.5");
    assert_fails(cx, cr_class_evaluate(cx, wrong, cr_cmat_of(P, 0, 2), NULL, &m), CR_EARG);
    assert_fails(cx, cr_class_evaluate(cx, wrong, cr_cmat_of(P, 2, 1), NULL, &m), CR_EARG);
    assert_true(m.brier == 77);
}

TEST(threads_do_not_matter)
{
    enum { N = 20000 };
    static double         y[N], mean[N], scale[N], dof[N], w[N];
    cr_regression_metrics one, four;
    cr_rng                r = cr_rng_stream(3, 1);
    for (size_t i = 0; i < N; i++) {
        mean[i] = cr_rng_normal(&r);
        scale[i] = 0.1 + cr_rng_exponential(&r);
        y[i] = mean[i] + scale[i] * cr_rng_normal(&r);
        dof[i] = i % 3 ? (double)INFINITY : 4;
        w[i] = cr_rng_uniform(&r);
    }
    cr_predictive p = { N, mean, scale, dof };
    cr_ctx_set_threads(cx, 1);
    assert_ok(cx, cr_regression_evaluate(cx, y, &p, w, 0.9, &one));
    cr_ctx_set_threads(cx, 4);
    assert_ok(cx, cr_regression_evaluate(cx, y, &p, w, 0.9, &four));
    assert_memory_equal(&one, &four, sizeof one);
}

static cr_status evaluate_both(cr_ctx *cx, void *arg)
{
    (void)arg;
    cr_status             st = CR_OK;
    cr_regression_metrics m;
    cr_class_metrics      c;
    cr_predictive         p = { 5, mean5, scale5, dof5 };
    CR_TRY(cr_regression_evaluate(cx, y5, &p, w5, 0.9, &m));
    CR_TRY(cr_class_evaluate(cx, c6, cr_cmat_of(P6, 6, 3), w6, &c));
done:
    return st;
}

TEST(allocation_failures) { test_every_allocation_fails(evaluate_both, NULL); }
