/* test_gmm_factors.c -- mixtures of probabilistic principal components: against ppca, full covariances, and what their covariances
 * must be. */
#include "gmm_fixture.h"

/* One component is ppca; as many factors as can be are full covariances. */
TEST(one_component_and_all_factors)
{
    double X[N * D];
    draw(70, 2, X);
    cr_table *t = make_table(cx, X, N, D, NULL, NULL);
    for (size_t q = 1; q < D; q++) {
        char ours[96], theirs[64];
        snprintf(ours, sizeof ours, "k=1 prior=none covariance=ppca factors=%zu", q);
        snprintf(theirs, sizeof theirs, "components=%zu scale=none", q);
        cr_model *m = rising(cx, t, ours), *p = fit(cx, "ppca", t, theirs);
        assert_relative(m->report.log_likelihood, p->report.log_likelihood, 1e-8);
        json_t *d = describe(cx, m);
        assert_relative(statistic(d, "parameters"), (double)(D + 1 + D * q - q * (q - 1) / 2), 0);
    }
    cr_model *a = rising(cx, t, "k=3 prior=none covariance=ppca factors=2 tol=1e-12 max_iter=3000"),
             *b = rising(cx, t, "k=3 prior=none covariance=VVV tol=1e-12 max_iter=3000");
    assert_relative(a->report.log_likelihood, b->report.log_likelihood, 1e-8);
    assert_relative(statistic(describe(cx, a), "parameters"),
                    statistic(describe(cx, b), "parameters"), 0);
}

/* All but the factors' eigenvalues of each covariance are equal, and the objective never falls; with gaps and the prior. */
TEST(noise_is_round)
{
    double X[N * D];
    draw(71, 2, X);
    leave_gaps(X);
    cr_table *t = make_table(cx, X, N, D, NULL, NULL);
    for (size_t k = 1; k <= 3; k++) {
        char settings[96];
        snprintf(settings, sizeof settings, "k=%zu covariance=ppca scale=standard", k);
        const cri_gmm *m = state_of(rising(cx, t, settings));
        for (size_t c = 0; c < k; c++) {
            double S[D * D], w[D], V[D * D];
            cri_gmm_covariance(m, c, S);
            assert_ok(cx, cr_eigen(cx, cr_cmat_of(S, D, D), w, cr_mat_of(V, D, D)));
            assert_relative(w[0], w[1], 1e-9);
            assert_true(w[2] > w[1]);
        }
    }
}

/* -F/2 of a covariance for the scatter W of n rows. */
static double gain(const double *S, const double *W, double n)
{
    long double C[D * D], B[D * D], A[D * D], zero[D] = { 0 }, logdet;
    for (size_t i = 0; i < D * D; i++) C[i] = A[i] = S[i], B[i] = W[i];
    quadratic_form(D, A, zero, &logdet);
    solve_dense(D, C, B, D);
    return -0.5 * (n * (double)logdet + (double)(B[0] + B[4] + B[8]));
}

/* No other covariance w w^T + s2 I fits a scatter better than the one of the M-step. */
TEST(best_of_the_form)
{
    cr_rng   r = cr_rng_stream(72, 0);
    cri_gmm *m = NULL;
    double   A[D * D], W[D * D] = { 0 }, n = 30, C[D * D], w[D] = { 0 }, s2, U[D * D], values[D];
    assert_ok(cx, cri_gmm_new(cx, 1, D, CRI_GMM_PPCA, 1, &m));
    m->factors = 1;
    draw_normals(&r, A, D * D);
    for (size_t i = 0; i < D * D; i++) {
        m->L[i] = m->U[i] = i % (D + 1) == 0;
        for (size_t l = 0; l < D; l++) W[i] += n * A[i / D * D + l] * A[i % D * D + l];
    }
    assert_ok(cx, cri_gmm_covariances(cx, m, W, &n, C));
    double best = gain(C, W, n);
    assert_ok(cx, cr_eigen(cx, cr_cmat_of(C, D, D), values, cr_mat_of(U, D, D)));
    for (size_t trial = 0; trial < 300; trial++) {
        double S[D * D], far = trial % 2 ? 0.02 : 1;
        for (size_t j = 0; j < D; j++)
            w[j] = sqrt(values[D - 1] - values[0]) * U[j * D + D - 1] + far * cr_rng_normal(&r);
        s2 = values[0] * exp(far * cr_rng_normal(&r));
        for (size_t i = 0; i < D * D; i++) S[i] = w[i / D] * w[i % D] + (i % (D + 1) == 0 ? s2 : 0);
        assert_true(gain(S, W, n) < best);
    }
    cri_state_free(cx, &cri_class_gmm, m);
}

/* More columns than rows, and columns that are sums of others: the noise takes care of both. */
TEST(more_columns_than_rows)
{
    enum { ROWS = 20, COLUMNS = 30 };
    double X[ROWS * COLUMNS];
    cr_rng r = cr_rng_stream(74, 0);
    draw_normals(&r, X, ROWS * COLUMNS);
    for (size_t i = 0; i < ROWS; i++) X[i * COLUMNS] = 3 * X[i * COLUMNS + 1] - X[i * COLUMNS + 2];
    cr_table *t = make_table(cx, X, ROWS, COLUMNS, NULL, NULL);
    cr_model *m = rising(cx, t, "k=1 prior=none covariance=ppca factors=3");
    cr_model *p = fit(cx, "ppca", t, "components=3 scale=none");
    assert_relative(m->report.log_likelihood, p->report.log_likelihood, 1e-8);
    rising(cx, t, "k=2 covariance=ppca factors=1");
}

/* "ppca:2" is ppca with two factors, bit by bit; of two numbers of factors the last counts. */
TEST(factors_after_a_colon)
{
    double X[N * D];
    draw(75, 2, X);
    cr_table      *t = make_table(cx, X, N, D, NULL, NULL);
    const cri_gmm *a = state_of(fit(cx, "gmm", t, "k=2 covariance=ppca:2")),
                  *b = state_of(fit(cx, "gmm", t, "k=2 covariance=ppca factors=2")),
                  *c = state_of(fit(cx, "gmm", t, "k=2 covariance=ppca:1 factors=2")),
                  *e = state_of(fit(cx, "gmm", t, "k=2 factors=2 covariance=ppca:1"));
    assert_true(a->form == CRI_GMM_PPCA && a->factors == 2 && c->factors == 2 && e->factors == 1);
    assert_true(a->log_likelihood == b->log_likelihood && a->log_likelihood == c->log_likelihood);
}

TEST(refusals)
{
    double    X[N * D];
    cr_model *m = NULL;
    draw(73, 0, X);
    cr_table *t = make_table(cx, X, N, D, NULL, NULL);
    assert_fails_with(cx, try_fit(cx, "gmm", t, "k=2 covariance=ppca factors=3", &m), CR_EARG,
                      "--factors is 3");
    assert_fails_with(cx, try_fit(cx, "gmm", t, "k=2 covariance=ppca:3", &m), CR_EARG,
                      "--factors is 3");
    for (size_t i = 0; i < 4; i++) {
        const char *wrong[] = { "0", "x", "", "1:2" };
        char        settings[64], said[64];
        snprintf(settings, sizeof settings, "k=2 covariance=ppca:%s", wrong[i]);
        snprintf(said, sizeof said, "--factors: '%s' is not a whole number", wrong[i]);
        assert_fails_with(cx, try_fit(cx, "gmm", t, settings, &m), CR_EARG, said);
        assert_true(strstr(cr_error_hint(cx), "--covariance ppca:2") != NULL);
    }
    assert_fails_with(cx, try_fit(cx, "gmm", t, "k=2 covariance=full:2", &m), CR_EARG,
                      "'full:2' is not one of");
    assert_fails_with(cx, try_fit(cx, "gmm", t, "k=2 factors=2", &m), CR_EARG, "--factors");
    assert_fails_with(cx, try_fit(cx, "gmm", t, "k=2 infer=vb covariance=ppca", &m), CR_EARG,
                      "--covariance");
}
