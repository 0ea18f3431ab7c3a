/* test_gmm_gibbs.c -- Gibbs sampling of mixtures: against a sum over all assignments, against the prior when data are drawn too
 * (Geweke 2004), rows as weights; answers as averages over draws; which component is which. */
#include "gmm_fixture.h"

#include "math/special/special.h"
#include "models/latent/gmm_gibbs.h"
#include "prob/mc/chains.h"

/* A state of two components with a prior, in t as in the data. */
static cri_gmm *open_state(cr_ctx *cx, int form, size_t d)
{
    cri_gmm *m = NULL;
    assert_ok(cx, cri_gmm_new(cx, 2, d, form, 1, &m));
    m->alpha = 1.5, m->prior_rows = (double)d + 3, m->prior_kappa = 0.4;
    for (size_t j = 0; j < d; j++) {
        m->scale[j] = 1;
        for (size_t l = 0; l < m->width; l++)
            m->prior_scale[j * m->width + l] = m->width == 1 || j == l ? 2.5 + (double)j : 0.8;
    }
    for (size_t c = 0; c < 2; c++) {
        m->share[c] = 0.5;
        for (size_t j = 0; j < d; j++) m->L[(c * d + j) * m->width + (m->width > 1 ? j : 0)] = 1;
    }
    cri_gmm_prepare(m);
    return m;
}

typedef struct sweeping {
    double *sums, *work, *X;
    size_t  width;
} sweeping;

static sweeping open_sweeps(const cri_gmm *m, size_t n)
{
    return (sweeping){ calloc(cri_gmm_width(m), sizeof(double)),
                       calloc(cri_gmm_sweep_work(m), sizeof(double)),
                       calloc(n * m->d, sizeof(double)), cri_gmm_width(m) };
}

static void close_sweeps(sweeping *s) { free(s->sums), free(s->work), free(s->X); }

/* Components, then parameters. */
static void sweep(cr_ctx *cx, sweeping *s, const double *X, const double *w, size_t n,
                  uint64_t number, cri_gmm *m)
{
    cr_rng r = cr_rng_stream(81, number);
    memset(s->sums, 0, s->width * sizeof(double));
    memcpy(s->X, X, n * m->d * sizeof(double));
    cri_gmm_sweep_rows(m, 1000 + number, 0, s->X, w, n, s->sums, s->work);
    assert_ok(cx, cri_gmm_draw_parameters(cx, s->sums, &r, m));
}

/* --- exact ------------------------------------------------------------------------------------ */

/* log evidence of the rows in a set with diagonal covariances: one column after another. */
static double log_marginal_of_form(const cri_gmm *m, const double *T, size_t n, size_t set)
{
    if (m->width > 1) return log_marginal(m, T, n, set);
    double sum = 0;
    for (size_t j = 0; j < m->d; j++) {
        double  column[8];
        cri_gmm one = { .d = 1,
                        .prior_rows = m->prior_rows,
                        .prior_kappa = m->prior_kappa,
                        .prior_scale = m->prior_scale + j };
        for (size_t i = 0; i < n; i++) column[i] = T[i * m->d + j];
        sum += log_marginal(&one, column, n, set);
    }
    return sum;
}

/* P(rows i and j are of one component), by a sum over all assignments: out [n x n]. */
static void together_exactly(const cri_gmm *m, const double *T, size_t n, double *out)
{
    double terms[128];
    for (size_t set = 0; set < (size_t)1 << n; set++) {
        double first = 0;
        for (size_t i = 0; i < n; i++) first += (double)(set >> i & 1);
        terms[set] = log_marginal_of_form(m, T, n, set) +
                     log_marginal_of_form(m, T, n, ~set & (((size_t)1 << n) - 1)) +
                     lgamma(m->alpha + first) + lgamma(m->alpha + (double)n - first);
    }
    cr_softmax(terms, (size_t)1 << n, terms);
    memset(out, 0, n * n * sizeof *out);
    for (size_t set = 0; set < (size_t)1 << n; set++)
        for (size_t a = 0; a < n * n; a++)
            out[a] += (set >> a / n & 1) == (set >> a % n & 1) ? terms[set] : 0;
}

/* Seven rows, the last two the same: as such, and as a row of weight 2.  Chains know rows by responsibilities. */
TEST(sum_over_all_assignments)
{
    enum { ROWS = 7, PAIRS = ROWS * ROWS };
    const double X[ROWS * 2] = { 0.1, 2,   0.5,  1.4, -0.3, 2.2, 3.1,
                                 0.3, 3.6, -0.7, 1.9, 0.9,  1.9, 0.9 };
    const double w[ROWS - 1] = { 1, 1, 1, 1, 1, 2 };
    size_t       length = simulation_size(20000, 100000);
    for (size_t trial = 0; trial < 4; trial++) {
        cri_gmm     *m = open_state(cx, trial / 2 ? CRI_GMM_VVI : CRI_GMM_VVV, 2);
        size_t       n = trial % 2 ? ROWS - 1 : ROWS;
        sweeping     s = open_sweeps(m, ROWS);
        double       exact[PAIRS], *p = calloc(length * 3, sizeof *p);
        const size_t pairs[3] = { 0 * ROWS + 1, 2 * ROWS + 3, 1 * ROWS + 5 };
        together_exactly(m, X, ROWS, exact);
        for (size_t i = 0; i < length; i++) {
            double r[ROWS * 2], density[ROWS], copy[ROWS * 2];
            sweep(cx, &s, X, trial % 2 ? w : NULL, n, i, m);
            memcpy(copy, X, sizeof copy);
            cri_gmm_respond(m, copy, ROWS, r, density, s.work);
            for (size_t a = 0; a < 3; a++) {
                const double *x = r + pairs[a] / ROWS * 2, *y = r + pairs[a] % ROWS * 2;
                p[i * 3 + a] = x[0] * y[0] + x[1] * y[1];
            }
        }
        for (size_t a = 0; a < 3; a++) {
            double mean, variance, rhat, ess;
            cri_mean_variance(p + a, length, 3, &mean, &variance);
            cri_chains_diagnose(p + a, 1, length, 3, &rhat, &ess);
            if (!(fabs(mean - exact[pairs[a]]) < 4 * sqrt(variance / ess)))
                fail_msg("trial %zu, pair %zu: %.4f, exactly %.4f, se %.4f", trial, a, mean,
                         exact[pairs[a]], sqrt(variance / ess));
            assert_true(sqrt(variance / ess) < 0.02);
        }
        free(p);
        close_sweeps(&s);
        cri_state_free(cx, &cri_class_gmm, m);
    }
}

/* --- the prior -------------------------------------------------------------------------------- */

/* Where rows, some with missing cells, are drawn again after each sweep, parameters have their prior distribution:
 * share_1 ~ Beta, S_11 ~ inverse gamma, mean_1 ~ N(0, S_11 / kappa).  Geweke (2004), J. Am. Stat. Assoc. 99. */
TEST(drawn_rows_leave_the_prior)
{
    enum { ROWS = 6, D2 = 3, VALUES = 6 };
    size_t length = simulation_size(30000, 150000);
    for (size_t diagonal = 0; diagonal < 2; diagonal++) {
        cri_gmm *m = open_state(cx, diagonal ? CRI_GMM_VVI : CRI_GMM_VVV, D2);
        sweeping s = open_sweeps(m, ROWS);
        double  *v = calloc(length * VALUES, sizeof *v), X[ROWS * D2];
        for (size_t i = 0; i < length; i++) {
            cr_rng r = cr_rng_stream(83, i);
            for (size_t row = 0; row < ROWS; row++) {
                size_t c = cr_rng_uniform(&r) < m->share[0] ? 0 : 1;
                double z[D2];
                for (size_t j = 0; j < D2; j++) z[j] = cr_rng_normal(&r);
                for (size_t j = 0; j < D2; j++) {
                    const double *L = m->L + (c * D2 + j) * m->width;
                    double        x = m->mean[c * D2 + j];
                    for (size_t l = 0; l < m->width && l <= j; l++) x += L[l] * z[diagonal ? j : l];
                    X[row * D2 + j] =
                        (row == 1 && j != 1) || (row == 2 && j == 0) || row == 3 ? NAN : x;
                }
            }
            sweep(cx, &s, X, NULL, ROWS, i, m);
            double S[D2 * D2], *to = v + i * VALUES;
            cri_gmm_covariance(m, 0, S);
            to[0] = m->share[0], to[1] = pow(m->share[0] - 0.5, 2);
            to[2] = log(S[0]), to[3] = m->mean[0] / sqrt(S[0] / m->prior_kappa);
            to[4] = to[3] * to[3], to[5] = 1 / S[4];
        }
        double a = 0.5 * (m->prior_rows - (diagonal ? 0 : D2 - 1)), b = 0.5 * m->prior_scale[0];
        double expected[VALUES] = { 0.5,
                                    0.25 / (2 * m->alpha + 1),
                                    log(b) - cr_digamma(a),
                                    0,
                                    1,
                                    2 * a / m->prior_scale[diagonal ? 1 : 4] };
        for (size_t k = 0; k < VALUES; k++) {
            double mean, variance, rhat, ess;
            cri_mean_variance(v + k, length, VALUES, &mean, &variance);
            cri_chains_diagnose(v + k, 1, length, VALUES, &rhat, &ess);
            if (!(fabs(mean - expected[k]) < 4 * sqrt(variance / ess)))
                fail_msg("value %zu: %.4f, of the prior %.4f, se %.4f", k, mean, expected[k],
                         sqrt(variance / ess));
        }
        free(v);
        close_sweeps(&s);
        cri_state_free(cx, &cri_class_gmm, m);
    }
}

/* A row of weight 5 with missing cells adds on average, and with the same spread, what five rows add. */
TEST(weights_with_gaps)
{
    enum { COPIES = 5, MOST = 32 };
    for (size_t diagonal = 0; diagonal < 2; diagonal++) {
        cri_gmm     *m = open_state(cx, diagonal ? CRI_GMM_VVI : CRI_GMM_VVV, 3);
        sweeping     s = open_sweeps(m, COPIES);
        double       X[COPIES * 3], moment[2][2][MOST] = { { { 0 } } };
        const double w = COPIES;
        size_t       length = 20000;
        m->mean[0] = 1, m->mean[4] = 0.7;
        if (!diagonal) m->L[3] = 0.5, m->L[7] = -0.6;
        cri_gmm_prepare(m);
        for (size_t i = 0; i < COPIES; i++) X[i * 3] = NAN, X[i * 3 + 1] = 0.4, X[i * 3 + 2] = NAN;
        assert_true(s.width <= MOST);
        for (size_t i = 0; i < length; i++)
            for (size_t way = 0; way < 2; way++) {
                memset(s.sums, 0, s.width * sizeof(double));
                memcpy(s.X, X, sizeof X);
                cri_gmm_sweep_rows(m, 2 * i + way, 0, s.X, way ? &w : NULL, way ? 1 : COPIES,
                                   s.sums, s.work);
                for (size_t a = 0; a < s.width; a++)
                    for (size_t power = 0; power < 2; power++)
                        moment[way][power][a] += pow(s.sums[a], (double)power + 1) / (double)length;
            }
        for (size_t a = 0; a < s.width; a++) {
            double spread = sqrt(fmax(moment[0][1][a] - moment[0][0][a] * moment[0][0][a], 0));
            assert_close(moment[0][0][a], moment[1][0][a],
                         6 * spread / sqrt((double)length) + 1e-9);
            assert_close(moment[0][1][a], moment[1][1][a], 0.08 * moment[0][1][a] + 1e-9);
        }
        close_sweeps(&s);
        cri_state_free(cx, &cri_class_gmm, m);
    }
}

/* --- the model -------------------------------------------------------------------------------- */

/* Of clusters that are apart chains agree, no draw is relabelled, and means and sds are nearly those of variational Bayes. */
TEST(clusters_apart)
{
    double X[N * D];
    draw(84, 2, X);
    cr_table   *t = make_table(cx, X, N, D, NULL, NULL);
    warnings    heard;
    const char *text = fit_and_hear(cx, "gmm", t, "k=3 infer=gibbs draws=4000", &heard);
    assert_string_equal(text, "");
    json_t *a = describe(cx, fit(cx, "gmm", t, "k=3 infer=gibbs draws=4000"));
    json_t *b = describe(cx, rising(cx, t, "k=3 infer=vb"));
    assert_true(statistic(a, "rhat") < 1.02);
    assert_true(statistic(a, "effective_draws") > 1000);
    assert_relative(statistic(a, "relabelled"), 0, 0);
    assert_relative(statistic(a, "draws"), 4000, 0);
    assert_true(isnan(statistic(a, "bic")));
    static const char *const names[] = { "c1.share", "c1.mean.x1", "c2.mean.x2", "c3.mean.x3" };
    for (size_t i = 0; i < 4; i++) { /* the order of components with like shares may differ */
        double best = INFINITY;
        for (char c = '1'; c <= '3'; c++) {
            char other[16];
            snprintf(other, sizeof other, "%s", names[i]);
            other[1] = c;
            double gap = fabs(parameter(a, names[i], "value") - parameter(b, other, "value")) +
                         fabs(parameter(a, names[i], "sd") - parameter(b, other, "sd"));
            best = fmin(best, gap / parameter(b, other, "sd"));
        }
        assert_true(best < 0.25);
    }
}

/* The answers are averages over the draws that are kept, of rows with and without gaps. */
TEST(answers)
{
    double X[N * D];
    draw(85, 2, X);
    cr_model *m = fit(cx, "gmm", make_table(cx, X, N, D, NULL, NULL), "k=2 infer=gibbs draws=60");
    const cri_gmm *s = state_of(m);
    double         gaps[N * D];
    memcpy(gaps, X, sizeof X);
    leave_gaps(gaps);
    cr_prediction p = predict(cx, m, make_table(cx, X, N, D, NULL, NULL));
    cr_prediction q = predict(cx, m, make_table(cx, gaps, N, D, NULL, NULL));
    assert_proper(&p);
    assert_proper(&q);
    assert_int_equal(s->sampled.kept, 60);
    assert_close(q.log_density[N - 1], 0, 1e-10);
    for (size_t i = 0; i < N; i++) {
        double joint[2] = { 0 };
        for (size_t r = 0; r < s->sampled.kept; r++) {
            cri_gmm of = cri_gmm_drawn(s, r);
            for (size_t c = 0; c < 2; c++)
                joint[c] +=
                    of.share[c] * exp(log_normal(&of, c, X + i * D)) / (double)s->sampled.kept;
        }
        assert_close(p.log_density[i], log(joint[0] + joint[1]), 1e-9);
        assert_close(p.prob[i * 2], joint[0] / (joint[0] + joint[1]), 1e-9);
    }
}

/* Few rows and two components: chains change their order, and draws are relabelled.  However they are, what no order changes
 * stays: and the first component is where EM has it. */
TEST(which_is_which)
{
    enum { ROWS = 20 };
    double X[ROWS];
    cr_rng r = cr_rng_stream(86, 0);
    for (size_t i = 0; i < ROWS; i++) X[i] = (i < 12 ? 0 : 3.5) + cr_rng_normal(&r);
    cr_table      *t = make_table(cx, X, ROWS, 1, NULL, NULL);
    cr_model      *m = fit(cx, "gmm", t, "k=2 infer=gibbs draws=4000 warm_up=100");
    const cri_gmm *s = state_of(m);
    size_t         right = 0;
    assert_true(s->sampled.relabelled > 100 && s->sampled.relabelled < 3900);
    assert_true(s->sampled.kept > 100 && s->sampled.kept <= 200); /* of all, every so many */
    for (size_t i = 0; i < s->sampled.kept; i++) {
        cri_gmm of = cri_gmm_drawn(s, i);
        right += (of.mean[0] < of.mean[1]) == (s->mean[0] < s->mean[1]);
    }
    assert_true((double)right > 0.8 * (double)s->sampled.kept);
    assert_true(s->share[0] >= s->share[1]);
}

TEST(refusals)
{
    double    X[N * D], w[N];
    cr_model *m = NULL;
    draw(87, 0, X);
    for (size_t i = 0; i < N; i++) w[i] = i % 2 ? 1.5 : 1;
    cr_table *t = make_table(cx, X, N, D, NULL, w);
    assert_fails_with(cx, try_fit(cx, "gmm", t, "features=x* k=2 infer=gibbs covariance=tied", &m),
                      CR_EARG, "full or diagonal");
    assert_fails_with(cx, try_fit(cx, "gmm", t, "features=x* k=2 infer=gibbs prior=none", &m),
                      CR_EARG, "a posterior needs a prior");
    assert_fails_with(cx, try_fit(cx, "gmm", t, "features=x* k=2 draws=100", &m), CR_EARG,
                      "--draws");
    assert_fails_with(cx, try_fit(cx, "gmm", t, "features=x* weights=w k=2 infer=gibbs", &m),
                      CR_EDATA, "whole numbers");
}
