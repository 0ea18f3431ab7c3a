/* test_gmm_missing.c -- rows with missing cells against marginal and conditional normal distributions. */
#include "gmm_fixture.h"

/* What component c makes of a row t with gaps: log N(t_O), and the means and covariances of all cells given t_O, by
 * dense conditioning. */
static double condition(const cri_gmm *m, size_t c, const double *t, double *mean, double *cov)
{
    size_t      d = m->d, seen[4], q = 0;
    double      S[16];
    long double A[16], F[16], B[16], v[4], logdet, square;
    cri_gmm_covariance(m, c, S);
    memset(cov, 0, d * d * sizeof *cov);
    for (size_t j = 0; j < d; j++)
        if (!isnan(t[j])) seen[q++] = j;
    for (size_t a = 0; a < q; a++) {
        v[a] = t[seen[a]] - m->mean[c * d + seen[a]];
        for (size_t b = 0; b < q; b++) A[a * q + b] = F[a * q + b] = S[seen[a] * d + seen[b]];
        for (size_t j = 0; j < d; j++) B[a * d + j] = S[seen[a] * d + j];
    }
    if (q > 0) solve_dense(q, A, B, d); /* S_OO^-1 S_O. */
    for (size_t i = 0; i < d; i++) {
        mean[i] = m->mean[c * d + i];
        for (size_t a = 0; a < q; a++) mean[i] += (double)(v[a] * B[a * d + i]);
        for (size_t j = 0; j < d; j++) {
            cov[i * d + j] = S[i * d + j];
            for (size_t a = 0; a < q; a++)
                cov[i * d + j] -= S[i * d + seen[a]] * (double)B[a * d + j];
        }
    }
    square = quadratic_form(q, F, v, &logdet);
    return (double)(-0.5L * (square + logdet + (long double)q * logl(2 * M_PI)));
}

/* Densities and one step with gaps are those of the marginal and conditional formulas; a row without cells is worth
 * nothing. */
TEST(missing_cells)
{
    double X[N * D], T[N * D], w[N];
    draw(20, 5, X);
    leave_gaps(X);
    cr_table *t = make_table(cx, X, N, D, NULL, NULL);
    for (size_t i = 0; i < N; i++) w[i] = 1;
    for (size_t form = 0; form < 4; form += 2) {
        char   settings[64];
        double n[2] = { 0 }, first[2][D] = { { 0 } }, second[2][D * D] = { { 0 } }, total = 0;
        snprintf(settings, sizeof settings, "k=2 prior=none covariance=%s", covariance_named(form));
        cr_model     *m = rising(cx, t, settings);
        cri_gmm      *s = m->state;
        cr_prediction p = predict(cx, m, t);
        assert_proper(&p);
        for (size_t i = 0; i < N * D; i++) T[i] = (X[i] - s->centre[i % D]) / s->scale[i % D];
        for (size_t i = 0; i < N; i++) {
            double joint[2], mean[2][D], cov[2][D * D], units = 0, sum = 0;
            for (size_t j = 0; j < D; j++) units += isnan(X[i * D + j]) ? 0 : log(s->scale[j]);
            for (size_t c = 0; c < 2; c++)
                sum += joint[c] = s->share[c] * exp(condition(s, c, T + i * D, mean[c], cov[c]));
            assert_close(p.log_density[i], log(sum) - units, 1e-9);
            total += p.log_density[i];
            for (size_t c = 0; c < 2; c++) {
                double r = joint[c] / sum;
                assert_close(p.prob[i * 2 + c], r, 1e-9);
                if (i == N - 1) continue;
                n[c] += r;
                for (size_t a = 0; a < D * D; a++)
                    second[c][a] += r * (mean[c][a / D] * mean[c][a % D] + cov[c][a]);
                for (size_t j = 0; j < D; j++) first[c][j] += r * mean[c][j];
            }
        }
        assert_relative(total, m->report.log_likelihood, 1e-10);
        assert_close(p.log_density[N - 1], 0, 1e-12);
        size_t  width = cri_gmm_width(s);
        double *sums = calloc(width, sizeof *sums), *work = calloc(cri_gmm_work(s), sizeof *work);
        cri_gmm_add(s, T, w, N, sums, work);
        assert_ok(cx, cri_gmm_solve(cx, NULL, sums, s));
        free(sums), free(work);
        for (size_t c = 0; c < 2; c++) {
            double S[D * D];
            cri_gmm_covariance(s, c, S);
            assert_close(s->share[c], n[c] / (N - 1), 1e-10);
            for (size_t j = 0; j < D; j++)
                assert_close(s->mean[c * D + j], first[c][j] / n[c], 1e-9);
            for (size_t a = 0; a < D * D; a++) {
                double mu = first[c][a / D] * first[c][a % D] / n[c] / n[c];
                if (form == 0 || a % (D + 1) == 0)
                    assert_close(S[a], second[c][a] / n[c] - mu, 1e-9);
            }
        }
    }
    /* without the empty row all is the same */
    cr_table *fewer = make_table(cx, X, N - 1, D, NULL, NULL);
    cr_model *a = rising(cx, t, "k=2"), *b = rising(cx, fewer, "k=2");
    json_t   *da = describe(cx, a), *db = describe(cx, b);
    assert_relative(statistic(da, "objective"), statistic(db, "objective"), 1e-6);
    assert_relative(statistic(da, "bic"), statistic(db, "bic"), 1e-6);
}
