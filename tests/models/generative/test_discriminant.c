/* test_discriminant.c -- lda and qda: densities by their definition in long double, the predictive
 * as a ratio of marginal likelihoods, scikit-learn's answers, laws of weights and updates, corners.
 */
#include "classes.h"

#include "math/special/special.h"

enum { N = 90, P = 3, K = 3 };

/* --- oracle ---------------------------------------------------------------------------------- */

typedef struct moments {
    long double n[K], mean[K][P], S[K][P * P], pooled[P * P], total;
} moments;

static moments moments_of(const double *X, const double *y, const double *w, size_t n)
{
    moments m;
    memset(&m, 0, sizeof m);
    for (size_t i = 0; i < n; i++) {
        size_t k = (size_t)y[i];
        m.n[k] += w[i];
        m.total += w[i];
        for (size_t j = 0; j < P; j++) m.mean[k][j] += (long double)w[i] * X[i * P + j];
    }
    for (size_t k = 0; k < K; k++)
        for (size_t j = 0; j < P; j++) m.mean[k][j] /= m.n[k];
    for (size_t i = 0; i < n; i++) {
        size_t k = (size_t)y[i];
        for (size_t a = 0; a < P; a++)
            for (size_t b = 0; b < P; b++) {
                long double s =
                    w[i] * (X[i * P + a] - m.mean[k][a]) * (X[i * P + b] - m.mean[k][b]);
                m.S[k][a * P + b] += s;
                m.pooled[a * P + b] += s;
            }
    }
    return m;
}

/* log prior_k N(x; m_k, S_k) with the covariances of the definition. */
static void log_joint(const moments *m, bool pooled, double shrinkage, double pool, const double *x,
                      const double *prior, long double *out)
{
    for (size_t k = 0; k < K; k++) {
        long double C[P * P], d[P], logdet;
        for (size_t i = 0; i < P * P; i++) {
            long double all = m->pooled[i] / (m->total - K), own = m->S[k][i] / (m->n[k] - 1);
            C[i] = pooled ? all : (1 - pool) * own + pool * all;
            if (i % (P + 1) != 0) C[i] *= 1 - (long double)shrinkage;
        }
        for (size_t j = 0; j < P; j++) d[j] = x[j] - m->mean[k][j];
        long double square = quadratic_form(P, C, d, &logdet);
        out[k] = logl((long double)prior[k]) - 0.5L * (logdet + square + P * logl(2 * acosl(-1)));
    }
}

static double posterior(const long double *joint, size_t k)
{
    long double sum = 0;
    for (size_t c = 0; c < K; c++) sum += expl(joint[c] - joint[k]);
    return (double)(1 / sum);
}

TEST(definition)
{
    double X[N * P], y[N], w[N];
    const struct {
        const char *name, *settings;
        bool        pooled, uniform;
        double      shrinkage, pool;
    } cases[] = {
        { "lda", "", true, false, 0, 0 },
        { "lda", "shrinkage=0.3 priors=uniform", true, true, 0.3, 0 },
        { "qda", "", false, false, 0, 0 },
        { "qda", "shrinkage=0.25 pool=0.4", false, false, 0.25, 0.4 },
        { "qda", "pool=1", true, false, 0, 1 },
    };
    draw_classes(1, N, P, K, X, y, w);
    cr_table *t = make_table(cx, X, N, P, y, w);
    moments   o = moments_of(X, y, w, N);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char settings[256];
        snprintf(settings, sizeof settings, "target=y weights=w %s", cases[c].settings);
        cr_model     *m = fit(cx, cases[c].name, t, settings);
        cr_prediction p = predict(cx, m, t);
        long double   sum = 0;
        for (size_t i = 0; i < N; i++) {
            long double joint[K];
            double      prior[K];
            for (size_t k = 0; k < K; k++)
                prior[k] = cases[c].uniform ? 1.0 / K : (double)(o.n[k] / o.total);
            log_joint(&o, cases[c].pooled, cases[c].shrinkage, cases[c].pool, X + i * P, prior,
                      joint);
            for (size_t k = 0; k < K; k++)
                assert_close(p.prob[i * K + k], posterior(joint, k), 1e-12);
            sum += w[i] * joint[(size_t)y[i]];
        }
        assert_relative(cr_model_get_report(m)->log_likelihood, (double)sum, 1e-12);
    }
}

/* log marginal likelihood of the rows, up to a constant of p, under |S|^-(p+1)/2: integrals of
 * normals over means and of an inverse Wishart, Gamma_p(v/2) |A|^(-v/2) pi^(-v p/2) prod
 * n_k^(-p/2). */
static long double log_marginal(const moments *m, bool pooled)
{
    long double sum = 0;
    for (size_t k = 0; k < K; k++) {
        sum -= 0.5L * P * logl(m->n[k]);
        if (pooled && k > 0) continue;
        long double A[P * P], zero[P] = { 0 }, logdet, nu = pooled ? m->total - K : m->n[k] - 1;
        memcpy(A, pooled ? m->pooled : m->S[k], sizeof A);
        quadratic_form(P, A, zero, &logdet);
        sum += (long double)cr_lmvgamma(P, (double)nu / 2) -
               0.5L * nu * (logdet + P * logl(acosl(-1)));
    }
    return sum;
}

TEST(predictive_is_ratio_of_marginals)
{
    enum { n = 18 };
    double X[(n + 1) * P], y[n + 1], w[n + 1];
    draw_classes(4, n + 1, P, K, X, y, w);
    for (size_t i = 0; i <= n; i++) w[i] = 1;
    cr_table *t = make_table(cx, X, n, P, y, NULL),
             *one = make_table(cx, X + n * P, 1, P, y + n, NULL);
    for (int pooled = 0; pooled < 2; pooled++) {
        cr_model *m =
            fit(cx, pooled ? "lda" : "qda", t, "target=y predictive=bayes priors=uniform");
        cr_prediction p = predict(cx, m, one);
        long double   joint[K];
        for (size_t k = 0; k < K; k++) {
            y[n] = (double)k;
            moments more = moments_of(X, y, w, n + 1);
            joint[k] = log_marginal(&more, pooled);
            if (!pooled) { /* the other classes are as before and cancel */
                moments less = moments_of(X, y, w, n);
                joint[k] -= log_marginal(&less, false);
            }
        }
        for (size_t k = 0; k < K; k++) assert_close(p.prob[k], posterior(joint, k), 1e-10);
    }
}

/* --- peers ----------------------------------------------------------------------------------- */

TEST(reference)
{
    json_t *cases = reference_cases(cx, "gda"), *item;
    size_t  i;
    json_array_foreach(cases, i, item)
    {
        bool       lda = strncmp(json_string_value(json_object_get(item, "id")), "lda", 3) == 0;
        split_case c = run_case(cx, item, lda ? "lda" : "qda", "");
        check_case(item, &c, 1e-7);
        end_case(cx, &c);
    }
}

/* --- laws ------------------------------------------------------------------------------------ */

static const char *const variants[][2] = {
    { "lda", "target=y" },
    { "lda", "target=y predictive=bayes shrinkage=0.1" },
    { "qda", "target=y" },
    { "qda", "target=y predictive=bayes pool=0.3 priors=0=0.2,1=0.5,2=0.3" },
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Other units, other places: the same probabilities; other names of classes: the same, permuted. */
TEST(invariance)
{
    double X[N * P], X2[N * P], y[N], y2[N], w[N];
    draw_classes(12, N, P, K, X, y, w);
    for (size_t i = 0; i < N; i++) {
        y2[i] = K - 1 - y[i];
        for (size_t j = 0; j < P; j++)
            X2[i * P + j] = (j == 0   ? 1e60
                             : j == 1 ? -1e-60
                                      : 3) *
                                X[i * P + j] +
                            (j == 2 ? 1e4 : 0);
    }
    cr_table *t = make_table(cx, X, N, P, y, NULL), *t2 = make_table(cx, X2, N, P, y2, NULL);
    for (size_t v = 0; v < 3; v++) {
        cr_model     *a = fit(cx, variants[v][0], t, variants[v][1]);
        cr_model     *b = fit(cx, variants[v][0], t2, variants[v][1]);
        cr_prediction p = predict(cx, a, t), q = predict(cx, b, t2);
        for (size_t i = 0; i < N; i++)
            for (size_t k = 0; k < K; k++)
                assert_close(p.prob[i * K + k], q.prob[i * K + K - 1 - k], 1e-8);
        /* |det| of the units */
        if (v == 0)
            assert_close(cr_model_get_report(a)->log_likelihood - N * log(3),
                         cr_model_get_report(b)->log_likelihood, 1e-8);
    }
}

/* --- corners --------------------------------------------------------------------------------- */

TEST(far_away)
{
    double       X[N * P], y[N], w[N], far[6 * P], none[6] = { 0 };
    const double sizes[] = { 1e3, 1e9, 1e100, 1e160, 1e300, -1.7e308 };
    draw_classes(3, N, P, K, X, y, w);
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < P; j++) far[i * P + j] = sizes[i] * (j == 1 ? -0.5 : 1);
    cr_table *t = make_table(cx, X, N, P, y, NULL), *f = make_table(cx, far, 6, P, none, NULL);
    for (size_t v = 0; v < VARIANTS; v++) {
        cr_model     *m = fit(cx, variants[v][0], t, variants[v][1]);
        cr_prediction p = predict(cx, m, f);
        assert_same_answers(&p, &p, 0); /* numbers from 0 to 1 that sum to one */
        if (!strstr(variants[v][1], "bayes"))
            for (size_t i = 2; i < 5; i++) /* one class wins, and the same at every distance */
                for (size_t k = 0; k < K; k++)
                    assert_close(p.prob[i * K + k], p.prob[1 * K + k], 1e-6);
    }
}

TEST(refusals)
{
    cr_model *m = NULL;
    cr_table *one = table_of_text(cx, "one.csv", "x,c\n1,a\n2,a\n3,a\n");
    cr_table *t = table_of_text(cx, "two.csv",
                                "x,z,w,c\n1,5,1,a\n2,3,1,a\n4,4,0,b\n5,1,0,b\n7,8,1,d\n6,9,1,d\n");
    for (size_t v = 0; v < 2; v++) {
        const char *name = v ? "qda" : "lda";
        assert_fails_with(cx, try_fit(cx, name, one, "target=c", &m), CR_EDATA,
                          "only one class, 'a'");
        assert_fails_with(cx, try_fit(cx, name, t, "target=c priors=a=0.5,b=0.6,d=0", &m), CR_EARG,
                          "sum to 1.1");
        assert_fails_with(cx, try_fit(cx, name, t, "target=c priors=a=0.5,b=0.5", &m), CR_EARG,
                          "class 'd' has no prior");
        assert_fails_with(cx, try_fit(cx, name, t, "target=c priors=a=0.5,bb=0.5", &m), CR_EARG,
                          "no class 'bb'");
        assert_fails_with(cx, try_fit(cx, name, t, "target=c priors=a", &m), CR_EARG,
                          "not CLASS=P");
        assert_fails_with(cx, try_fit(cx, name, t, "target=c priors=uniform weights=w", &m),
                          CR_EDATA, "no row with a positive weight has the class 'b'");
        assert_fails_with(cx, try_fit(cx, name, t, "target=c shrinkage=2", &m), CR_EARG,
                          "shrinkage");
    }
    assert_fails_with(cx, try_fit(cx, "qda", t, "target=c features=x,z predictive=bayes", &m),
                      CR_EDATA, "too few rows");
    m = fit(cx, "lda", t,
            "target=c features=x,z weights=w"); /* a class without rows: probability 0 */
    cr_prediction p = predict(cx, m, t);
    for (size_t i = 0; i < p.n; i++) assert_true(p.prob[i * 3 + 1] == 0);
    cr_model_free(cx, m);
    cr_table_free(cx, one), cr_table_free(cx, t);

    cr_table *huge = table_of_text(cx, "huge.csv", "x,c\n1e200,a\n-1e200,a\n3e200,b\n1e200,b\n");
    assert_fails_with(cx, try_fit(cx, "lda", huge, "target=c", &m), CR_ENUMERIC,
                      "'x' are so large");
    cr_table_free(cx, huge);
    huge = table_of_text(cx, "tiny.csv", "x,c\n1e-200,a\n-1e-200,a\n3e-200,b\n1e-200,b\n");
    assert_fails_with(cx, try_fit(cx, "lda", huge, "target=c", &m), CR_ENUMERIC,
                      "'x' are so small");
}

/* Duplicate and constant columns, more columns than rows, a class of one row: an answer with a
 * warning. */
TEST(singular)
{
    warnings heard = { 0 };
    cr_ctx_set_log(cx, keep_warning, &heard);
    double X[N * P], D[N * 3], y[N], w[N];
    draw_classes(6, N, P, 2, X, y, w);
    for (size_t i = 0; i < N; i++) D[i * 3] = X[i * P], D[i * 3 + 1] = X[i * P], D[i * 3 + 2] = 0.1;
    double single[N];
    for (size_t i = 0; i < N; i++) single[i] = X[i * P];
    cr_table *dup = make_table(cx, D, N, 3, y, NULL),
             *alone = make_table(cx, single, N, 1, y, NULL);
    for (size_t v = 0; v < 2; v++) {
        heard = (warnings){ 0 };
        cr_model     *a = fit(cx, v ? "qda" : "lda", dup, "target=y");
        cr_model     *b = fit(cx, v ? "qda" : "lda", alone, "target=y");
        cr_prediction p = predict(cx, a, dup), q = predict(cx, b, alone);
        assert_int_equal(heard.n, 2);
        assert_non_null(strstr(heard.text, "'x3' is constant"));
        assert_non_null(strstr(heard.text, "is singular: 1e-08 of the variances"));
        for (size_t i = 0; i < 2 * N; i++) assert_close(p.prob[i], q.prob[i], 1e-6);
    }
    cr_table_free(cx, dup), cr_table_free(cx, alone);

    double wide[4 * 6], labels[] = { 0, 0, 1, 1 };
    cr_rng r = cr_rng_stream(3, 3);
    draw_normals(&r, wide, 24);
    cr_table *t = make_table(cx, wide, 4, 6, labels, NULL);
    for (size_t v = 0; v < 2; v++) {
        heard = (warnings){ 0 };
        cr_model     *m = fit(cx, v ? "qda" : "lda", t, "target=y");
        cr_prediction p = predict(cx, m, t);
        assert_true(heard.n >= 1);
        assert_same_answers(&p, &p, 0);
        for (size_t i = 0; i < 4; i++) assert_true(p.prob[i * 2 + (size_t)labels[i]] > 0.5);
    }
    cr_table_free(cx, t);

    heard = (warnings){ 0 };
    t = table_of_text(cx, "lonely.csv", "x,c\n1,a\n2,a\n3,a\n9,b\n7,d\n5,d\n6,d\n");
    cr_model     *m = fit(cx, "qda", t, "target=c");
    cr_prediction p = predict(cx, m, t);
    assert_non_null(strstr(heard.text, "'b' has only one row"));
    assert_true(p.prob[3 * 3 + 1] > 0.5);
    cr_model_free(cx, m);
    cr_table_free(cx, t);

    heard = (warnings){ 0 };
    t = table_of_text(cx, "apart.csv", "x,z,c\n1,5,a\n1,3,a\n1,4,a\n2,4,b\n2,1,b\n2,3,b\n");
    m = fit(cx, "lda", t, "target=c");
    p = predict(cx, m, t);
    assert_non_null(strstr(heard.text, "'x' does not vary within the classes"));
    for (size_t i = 0; i < 6; i++) assert_true(p.prob[i * 2 + (i > 2)] > 0.999);
}

TEST(description)
{
    cr_table *t = table_of_text(cx, "d.csv", "x,c\n1,a\n2,a\n3,a\n11,b\n13,b\n15,b\n13,b\n");
    cr_model *m = fit(cx, "lda", t, "target=c"), *q = fit(cx, "qda", t, "target=c");
    json_t   *d = describe(cx, m), *e = describe(cx, q);
    assert_close(parameter(d, "x | a", "value"), 2, 1e-14);
    assert_close(parameter(d, "x | b", "value"), 13, 1e-14);
    assert_close(parameter(d, "x | b", "spread"), sqrt(10 / 5.0), 1e-14); /* (2 + 8) / (7 - 2) */
    assert_close(parameter(d, "x | b", "sd"), sqrt(2.0 / 4), 1e-14);
    assert_close(parameter(e, "x | b", "spread"), sqrt(8 / 3.0), 1e-14);
    assert_close(parameter(e, "x | a", "sd"), sqrt(1 / 3.0), 1e-14);
    assert_close(statistic(d, "prior(a)"), 3 / 7.0, 1e-14);
    assert_close(statistic(d, "rows(b)"), 4, 0);
}

/* Fewer than ten rows of a class for each column; of a covariance of all classes five. */
TEST(few_rows_for_a_covariance)
{
    enum { ROWS = 60, COLUMNS = 9 };
    static double X[ROWS * COLUMNS], y[ROWS];
    cr_rng        r = cr_rng_stream(9, 1);
    draw_normals(&r, X, ROWS * COLUMNS);
    for (size_t i = 0; i < ROWS; i++) y[i] = i < 20;
    const struct {
        const char *model, *features, *says;
    } tries[] = { { "qda", "x*", "20 rows of class '1' are few for a covariance of 9 columns" },
                  { "qda", "x1,x2", NULL },
                  { "lda", "x*", NULL },
                  { "fisher", "x*", NULL } };
    cr_table *t = make_table(cx, X, ROWS, COLUMNS, y, NULL);
    for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
        warnings heard = { 0 };
        char     settings[64];
        snprintf(settings, sizeof settings, "target=y features=%s", tries[k].features);
        cr_ctx_set_log(cx, keep_warning, &heard);
        fit(cx, tries[k].model, t, settings);
        assert_true(tries[k].says ? strstr(heard.text, tries[k].says) != NULL
                                  : strstr(heard.text, "are few for") == NULL);
    }
}
