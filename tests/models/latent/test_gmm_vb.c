/* test_gmm_vb.c -- variational Bayes for mixtures: the bound against the evidence by a sum over all assignments, which
 * one component attains; the predictive density; components that empty. */
#include "gmm_fixture.h"

#include "math/special/special.h"

/* With one component the posterior is exact: the bound is the evidence. */
TEST(one_component_is_exact)
{
    double X[N * D], T[N * D];
    draw(40, 2, X);
    cr_model      *m = rising(cx, make_table(cx, X, 40, D, NULL, NULL), "k=1 infer=vb tol=1e-12");
    const cri_gmm *s = state_of(m);
    for (size_t i = 0; i < 40 * D; i++) T[i] = (X[i] - s->centre[i % D]) / s->scale[i % D];
    assert_close(m->report.log_evidence,
                 log_marginal(s, T, 40, ((size_t)1 << 40) - 1) - log_units(s, 40), 1e-8);
    assert_int_equal(m->report.evidence, CR_EVIDENCE_BOUND);
    assert_true(isnan(m->report.log_likelihood));
}

/* Six rows and two components: the evidence is a sum over 2^6 assignments, and the bound is below it, though not far:
 * by log 2 at least, since it stays with one of two orders of the components. */
TEST(bound_below_the_evidence)
{
    enum { ROWS = 6 };
    const double X[ROWS * 2] = { 0.1, 2, 0.5, 1.4, -0.3, 2.2, 4.1, 0.3, 4.9, -0.7, 4.4, 0.9 };
    cr_table    *t = make_table(cx, X, ROWS, 2, NULL, NULL);
    static const char *const alphas[] = { "0.5", "1", "3" };
    for (size_t a = 0; a < 3; a++) {
        char settings[64];
        snprintf(settings, sizeof settings, "k=2 infer=vb alpha=%s", alphas[a]);
        cr_model      *m = rising(cx, t, settings);
        const cri_gmm *s = state_of(m);
        double         T[ROWS * 2], terms[1 << ROWS], alpha = s->alpha;
        for (size_t i = 0; i < ROWS * 2; i++) T[i] = (X[i] - s->centre[i % 2]) / s->scale[i % 2];
        for (size_t set = 0; set < 1 << ROWS; set++) {
            double n = 0;
            for (size_t i = 0; i < ROWS; i++) n += (double)(set >> i & 1);
            terms[set] = log_marginal(s, T, ROWS, set) +
                         log_marginal(s, T, ROWS, ~set & ((1 << ROWS) - 1)) + lgamma(2 * alpha) -
                         lgamma(2 * alpha + ROWS) + lgamma(alpha + n) + lgamma(alpha + ROWS - n) -
                         2 * lgamma(alpha);
        }
        double evidence = cr_logsumexp(terms, 1 << ROWS) - log_units(s, ROWS);
        assert_true(m->report.log_evidence <= evidence);
        assert_true(m->report.log_evidence > evidence - 4);
    }
}

/* log of Student's t with f degrees of freedom, location m and scale matrix C [d x d]. */
static double log_student(size_t d, const double *x, const double *m, const double *C, double f)
{
    long double A[D * D], v[D], logdet, square;
    for (size_t i = 0; i < d * d; i++) A[i] = C[i];
    for (size_t i = 0; i < d; i++) v[i] = x[i] - m[i];
    square = quadratic_form(d, A, v, &logdet);
    return lgamma(0.5 * (f + (double)d)) - lgamma(0.5 * f) - 0.5 * (double)d * log(f * M_PI) -
           0.5 * (double)logdet - 0.5 * (f + (double)d) * log1p((double)square / f);
}

/* The next row is a mixture of Student's t, also of the cells that are there. */
TEST(predictive)
{
    double X[N * D];
    draw(42, 2, X);
    cr_model      *m = rising(cx, make_table(cx, X, N, D, NULL, NULL), "k=3 infer=vb");
    const cri_gmm *s = state_of(m);
    leave_gaps(X);
    cr_prediction p = predict(cx, m, make_table(cx, X, N, D, NULL, NULL));
    assert_proper(&p);
    for (size_t i = 0; i + 1 < N; i++) {
        double terms[3];
        for (size_t c = 0; c < 3; c++) {
            double S[D * D], C[D * D], x[D], mean[D];
            double nu = D + s->rows[c], beta = 0.01 + s->rows[c], f = nu - D + 1;
            size_t q = 0, seen[D];
            cri_gmm_covariance(s, c, S);
            for (size_t j = 0; j < D; j++)
                if (!isnan(X[i * D + j])) seen[q++] = j;
            for (size_t a = 0; a < q; a++) {
                size_t j = seen[a];
                x[a] = X[i * D + j], mean[a] = s->centre[j] + s->scale[j] * s->mean[c * D + j];
                for (size_t b = 0; b < q; b++)
                    C[a * q + b] = S[j * D + seen[b]] * s->scale[j] * s->scale[seen[b]] * nu *
                                   (beta + 1) / (beta * f);
            }
            terms[c] = log(s->share[c]) + log_student(q, x, mean, C, f);
        }
        assert_close(p.log_density[i], cr_logsumexp(terms, 3), 1e-8);
        cr_softmax(terms, 3, terms);
        for (size_t c = 0; c < 3; c++) assert_close(p.prob[i * 3 + c], terms[c], 1e-8);
    }
    assert_close(p.log_density[N - 1], 0, 1e-10);
}

/* A small alpha leaves as many components with rows as there are clusters, and the bound chooses their number. */
TEST(components_empty)
{
    enum { ROWS = 400 };
    double X[ROWS * 2];
    cr_rng r = cr_rng_stream(44, 0);
    for (size_t i = 0; i < ROWS; i++) {
        X[i * 2] = 8.0 * (double)(i % 3) + cr_rng_normal(&r);
        X[i * 2 + 1] = 6.0 * (double)(i % 3 == 1) + cr_rng_normal(&r);
    }
    cr_table *t = make_table(cx, X, ROWS, 2, NULL, NULL);
    json_t   *d = describe(cx, rising(cx, t, "k=6 infer=vb alpha=0.001 restarts=10"));
    assert_relative(statistic(d, "occupied"), 3, 0);
    assert_true(isnan(statistic(d, "bic")));
    assert_relative(parameter(d, "c1.share", "sd"), sqrt(1.0 / 3 * 2 / 3 / ROWS), 0.05);
    assert_relative(parameter(d, "c1.mean.x1", "sd"), 1 / sqrt(ROWS / 3.0), 0.2);
    d = describe(cx, rising(cx, t, "k=1:5 infer=vb"));
    assert_relative(statistic(d, "components"), 3, 0);
}

TEST(refusals)
{
    double    X[N * D];
    cr_model *m = NULL;
    draw(46, 0, X);
    cr_table *t = make_table(cx, X, N, D, NULL, NULL);
    assert_fails_with(cx, try_fit(cx, "gmm", t, "k=2 infer=vb covariance=diag", &m), CR_EARG,
                      "--covariance");
    assert_fails_with(cx, try_fit(cx, "gmm", t, "k=2 infer=vb prior=none", &m), CR_EARG,
                      "a posterior needs a prior");
    assert_fails_with(cx, try_fit(cx, "gmm", t, "k=2 alpha=0.1", &m), CR_EARG, "--alpha");
}
