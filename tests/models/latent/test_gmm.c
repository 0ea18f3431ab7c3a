/* test_gmm.c -- Gaussian mixtures against stored references, sums over all assignments of rows to components, one
 * step by plain loops, closed forms; the objective never falls; spurious ends; corners. */
#include "../fixture.h"

#include "models/core/em.h"
#include "models/latent/gmm.h"

static const cri_gmm *state_of(const cr_model *m) { return m->state; }

/* A fit whose objective has never fallen, and whose description is in order. */
static cr_model *rising(cr_ctx *cx, const cr_table *t, const char *settings)
{
    cr_model             *m = fit(cx, "gmm", t, settings);
    const cri_em_outcome *o = &state_of(m)->em;
    for (size_t i = 1; i < o->iterations; i++)
        if (!(o->trace[i] >= o->trace[i - 1] - 1e-9 * (1 + fabs(o->trace[i]))))
            fail_msg("%s: pass %zu falls by %g", settings, i, o->trace[i - 1] - o->trace[i]);
    assert_true(o->trace[o->iterations - 1] == o->objective);
    assert_close(o->objective - cri_gmm_log_prior(m->state), m->report.log_likelihood,
                 1e-9 * fabs(o->objective));
    return m;
}

static const char *const covariances[] = { "full", "tied", "diag", "spherical" };

/* Three clusters, the columns of different units, and a far offset. */
enum { N = 90, D = 3 };
static void draw(uint64_t seed, double offset, double *X)
{
    cr_rng r = cr_rng_stream(seed, 3);
    for (size_t i = 0; i < N; i++) {
        double a = cr_rng_normal(&r), b = cr_rng_normal(&r), c = (double)(i % 3);
        X[i * D] = offset + 4 * c + a;
        X[i * D + 1] = offset + 10 * (c == 1) + 2 * b + a;
        X[i * D + 2] = offset + 0.1 * cr_rng_normal(&r) + 0.2 * c * b;
    }
}

/* --- densities -------------------------------------------------------------------------------- */

/* log N(x; component c), by elimination, from what the description says. */
static double log_normal(const cri_gmm *m, size_t c, const double *x)
{
    long double C[16], t[4], logdet, square;
    double      S[16];
    cri_gmm_covariance(m, c, S);
    for (size_t i = 0; i < m->d * m->d; i++)
        C[i] = (long double)S[i] * m->scale[i / m->d] * m->scale[i % m->d];
    for (size_t j = 0; j < m->d; j++)
        t[j] = x[j] - (m->centre[j] + (long double)m->scale[j] * m->mean[c * m->d + j]);
    square = quadratic_form(m->d, C, t, &logdet);
    return (double)(-0.5L * (square + logdet + (long double)m->d * logl(2 * M_PI)));
}

/* The likelihood of six rows is the sum over all 2^6 assignments of rows to components. */
TEST(sum_over_all_assignments)
{
    enum { ROWS = 6 };
    const double X[ROWS * 2] = { 0.1, 2, 0.5, 1.4, -0.3, 2.2, 4.1, 0.3, 4.9, -0.7, 4.4, 0.9 };
    cr_table    *t = make_table(cx, X, ROWS, 2, NULL, NULL);
    for (size_t form = 0; form < 4; form++) {
        char        settings[64];
        long double sum = 0;
        snprintf(settings, sizeof settings, "k=2 covariance=%s", form == 0 ? "tied" : covariances[form]);
        cr_model      *m = rising(cx, t, settings);
        const cri_gmm *s = state_of(m);
        for (size_t a = 0; a < 1 << ROWS; a++) {
            long double p = 1;
            for (size_t i = 0; i < ROWS; i++)
                p *= s->share[a >> i & 1] * expl(log_normal(s, a >> i & 1, X + i * 2));
            sum += p;
        }
        assert_relative(m->report.log_likelihood, (double)logl(sum), 1e-10);
    }
}

/* Responsibilities and log densities of predict by Bayes' theorem. */
TEST(answers)
{
    double    X[N * D];
    draw(1, 3, X);
    cr_table *t = make_table(cx, X, N, D, NULL, NULL);
    for (size_t form = 0; form < 4; form++) {
        char settings[64];
        snprintf(settings, sizeof settings, "k=3 covariance=%s", covariances[form]);
        cr_model      *m = rising(cx, t, settings);
        const cri_gmm *s = state_of(m);
        cr_prediction  p = predict(cx, m, t);
        double         total = 0;
        assert_proper(&p);
        assert_int_equal(p.n_classes, 3);
        for (size_t i = 0; i < N; i++) {
            double joint[3], sum = 0;
            for (size_t c = 0; c < 3; c++)
                sum += joint[c] = s->share[c] * exp(log_normal(s, c, X + i * D));
            for (size_t c = 0; c < 3; c++) assert_close(p.prob[i * 3 + c], joint[c] / sum, 1e-9);
            assert_close(p.log_density[i], log(sum), 1e-9);
            total += p.log_density[i];
        }
        assert_relative(total, m->report.log_likelihood, 1e-12);
        for (size_t c = 1; c < 3; c++) assert_true(s->share[c] <= s->share[c - 1]);
    }
}

/* --- steps ------------------------------------------------------------------------------------ */

/* One step by plain loops: responsibilities, then weighted means and covariances, with and without the prior. */
TEST(one_step)
{
    double   X[N * D], w[N];
    cr_rng   r = cr_rng_stream(9, 9);
    draw(2, 0, X);
    for (size_t i = 0; i < N; i++) w[i] = 0.5 + cr_rng_uniform(&r);
    cr_table *t = make_table(cx, X, N, D, NULL, w);
    for (size_t prior = 0; prior < 2; prior++) {
        char settings[128];
        snprintf(settings, sizeof settings, "features=x* weights=w k=2 max_iter=3 restarts=1%s",
                 prior ? "" : " prior=none");
        cr_model      *m = fit(cx, "gmm", t, settings);
        cri_gmm       *s = m->state;
        double         before[2], T[N * D], C[2][D * D] = { { 0 } }, mean[2][D] = { { 0 } };
        double         n[2] = { 0 }, total = 0;
        const double   kappa = prior ? 0.01 : 0, rows = prior ? 0.1 : 0;
        double         r2[N][2];
        (void)before;
        for (size_t i = 0; i < N * D; i++) T[i] = (X[i] - s->centre[i % D]) / s->scale[i % D];
        for (size_t i = 0; i < N; i++) {
            double sum = 0;
            for (size_t c = 0; c < 2; c++)
                sum += r2[i][c] = s->share[c] * exp(log_normal(s, c, X + i * D));
            for (size_t c = 0; c < 2; c++) {
                n[c] += r2[i][c] = w[i] * r2[i][c] / sum;
                for (size_t j = 0; j < D; j++) mean[c][j] += r2[i][c] * T[i * D + j];
            }
            total += w[i];
        }
        for (size_t c = 0; c < 2; c++) {
            for (size_t j = 0; j < D; j++) mean[c][j] /= n[c] + kappa;
            for (size_t a = 0; a < D * D; a++) {
                for (size_t i = 0; i < N; i++)
                    C[c][a] += r2[i][c] * (T[i * D + a / D] - mean[c][a / D]) *
                               (T[i * D + a % D] - mean[c][a % D]);
                C[c][a] += s->prior_scale[a] * (prior > 0) + kappa * mean[c][a / D] * mean[c][a % D];
                C[c][a] /= n[c] + rows;
            }
        }
        size_t  width = cri_gmm_width(s);
        double *sums = calloc(width, sizeof *sums), *work = calloc(cri_gmm_work(s), sizeof *work);
        cri_gmm_add(s, T, w, N, sums, work);
        assert_relative(sums[0], s->log_likelihood, 1e-12);
        assert_ok(cx, cri_gmm_solve(cx, NULL, sums, s));
        free(sums), free(work);
        for (size_t c = 0; c < 2; c++) {
            double S[D * D];
            cri_gmm_covariance(s, c, S);
            assert_close(s->share[c], n[c] / total, 1e-10);
            for (size_t j = 0; j < D; j++) assert_close(s->mean[c * D + j], mean[c][j], 1e-10);
            for (size_t a = 0; a < D * D; a++) assert_close(S[a], C[c][a], 1e-10);
        }
    }
}

/* One component is the normal distribution of all rows. */
TEST(one_component)
{
    double   X[N * D], mean[D] = { 0 }, C[D * D] = { 0 };
    draw(4, 1, X);
    cr_table *t = make_table(cx, X, N, D, NULL, NULL);
    for (size_t i = 0; i < N * D; i++) mean[i % D] += X[i] / N;
    for (size_t i = 0; i < N; i++)
        for (size_t a = 0; a < D * D; a++)
            C[a] += (X[i * D + a / D] - mean[a / D]) * (X[i * D + a % D] - mean[a % D]) / N;
    for (size_t form = 0; form < 4; form++) {
        char settings[64];
        snprintf(settings, sizeof settings, "k=1 prior=none covariance=%s", covariances[form]);
        cr_model   *m = rising(cx, t, settings);
        json_t     *d = describe(cx, m);
        double      trace = (C[0] + C[4] + C[8]) / D, logdet = 0;
        long double F[D * D], zero[D] = { 0 }, full;
        for (size_t a = 0; a < D * D; a++) F[a] = C[a];
        quadratic_form(D, F, zero, &full);
        for (size_t j = 0; j < D; j++) {
            char name[32];
            double v = form == 3 ? trace : C[j * (D + 1)];
            logdet += log(v);
            snprintf(name, sizeof name, "c1.mean.x%zu", j + 1);
            assert_close(parameter(d, name, "value"), mean[j], 1e-10);
            snprintf(name, sizeof name, "c1.sd.x%zu", j + 1);
            assert_relative(parameter(d, name, "value"), sqrt(v), 1e-10);
        }
        if (form < 2) logdet = (double)full;
        double ll = -0.5 * N * (D * (log(2 * M_PI) + 1) + logdet);
        double free_parameters = form < 2 ? 9 : form == 2 ? 6 : 4;
        assert_relative(m->report.log_likelihood, ll, 1e-10);
        assert_relative(statistic(d, "parameters"), free_parameters, 0);
        assert_relative(statistic(d, "bic"), -2 * ll + free_parameters * log(N), 1e-10);
        assert_relative(statistic(d, "aic"), -2 * ll + 2 * free_parameters, 1e-10);
        assert_relative(statistic(d, "icl"), statistic(d, "bic"), 1e-10);
    }
}

/* --- references ------------------------------------------------------------------------------- */

/* Full covariances on iris, Old Faithful and wine: the best known likelihood that is not spurious. */
TEST(best_known)
{
    json_t *cases = reference_cases(cx, "gmm"), *item, *of;
    size_t  i;
    json_array_foreach(cases, i, item)
    {
        json_t     *by_k = json_object_get(json_object_get(item, "expected"), "by_k"), *name;
        const char *k, *drop, *scaled = json_string_value(json_object_get(item, "preprocess"));
        char        path[256], settings[512], features[256] = "";
        size_t      j;
        if (!by_k) continue;
        drop = json_string_value(json_object_get(json_object_get(item, "data"), "drop"));
        snprintf(path, sizeof path, "classic/%s",
                 json_string_value(json_object_get(json_object_get(item, "data"), "file")));
        cr_table *t = read_table(cx, test_data(path));
        bool      standard = strcmp(scaled, "none") != 0;
        (void)name, (void)j, (void)features;
        json_object_foreach(by_k, k, of)
        {
            double best = number_of(of, "best_loglik_non_spurious"), units = 0;
            snprintf(settings, sizeof settings,
                     "features=%s%s scale=%s k=%s prior=none restarts=%s tol=1e-9 max_iter=5000",
                     drop ? "!" : "*", drop ? drop : "", standard ? "standard" : "none", k, "50");
            cr_model *m = rising(cx, t, settings);
            for (size_t c = 0; standard && c < state_of(m)->d; c++)
                units -= (double)cr_table_rows(t) * log(state_of(m)->scale[c]);
            double reached = m->report.log_likelihood - units;
            print_message("%s %s: %.4f of %.4f\n", path, k, reached, best);
            if (!(reached > best - 0.05))
                fail_msg("%s with k = %s ends at %.4f, below %.4f", path, k, reached, best);
        }
    }
}
