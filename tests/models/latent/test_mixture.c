/* test_mixture.c -- mixtures of columns of all kinds against sums over all assignments of rows to components, one step
 * by plain loops, closed forms, gmm, stored references; the objective never falls. */
#include "mixture_fixture.h"

/* --- densities -------------------------------------------------------------------------------- */

/* The likelihood of seven rows, with gaps, is the sum over all 2^7 assignments of rows to components. */
TEST(sum_over_all_assignments)
{
    enum { ROWS = 7 };
    double X[ROWS * ALL];
    draw_all(1, ROWS, X);
    leave_gaps(ROWS, X);
    cr_table   *t = table_of_all(cx, X, ROWS, NULL);
    char        settings[128];
    long double sum = 0;
    snprintf(settings, sizeof settings, "k=2 %s least_spread=0", all_kinds);
    cr_model          *m = rising(cx, t, settings);
    const cri_mixture *s = state_of(m);
    for (size_t a = 0; a < 1 << ROWS; a++) {
        long double p = 1;
        for (size_t i = 0; i < ROWS; i++)
            p *= s->share[a >> i & 1] * expl(log_row(s, a >> i & 1, X + i * ALL));
        sum += p;
    }
    assert_relative(m->report.log_likelihood, (double)logl(sum), 1e-10);
}

/* Responsibilities and log densities of predict by Bayes' theorem over the cells that are there: the marginal
 * formula.  A row without any has the shares. */
TEST(answers)
{
    enum { N = 300 };
    static double X[N * ALL];
    draw_all(2, N, X);
    leave_gaps(N, X);
    cr_table *t = table_of_all(cx, X, N, NULL);
    char      settings[128];
    snprintf(settings, sizeof settings, "k=2 %s", all_kinds);
    cr_model          *m = rising(cx, t, settings);
    const cri_mixture *s = state_of(m);
    cr_prediction      p = predict(cx, m, t);
    double             total = 0;
    assert_proper(&p);
    assert_int_equal(p.n_classes, 2);
    for (size_t i = 0; i < N; i++) {
        double joint[2], sum = 0;
        for (size_t c = 0; c < 2; c++)
            sum += joint[c] = s->share[c] * exp(log_row(s, c, X + i * ALL));
        for (size_t c = 0; c < 2; c++) assert_close(p.prob[i * 2 + c], joint[c] / sum, 1e-10);
        assert_close(p.log_density[i], log(sum), 1e-10);
        total += p.log_density[i];
    }
    assert_relative(total, m->report.log_likelihood, 1e-12);
    assert_close(p.log_density[N - 1], 0, 1e-12);
    assert_close(p.prob[2 * N - 1], s->share[1], 1e-12);
    assert_true(s->share[1] <= s->share[0]);
    assert_close(s->weight, N - 1, 1e-9);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* The estimates of one step by plain loops over rows, with and without the prior, weights and gaps. */
TEST(one_step)
{
    enum { N = 120 };
    static double X[N * ALL], w[N], r[N][2];
    cr_rng        g = cr_rng_stream(9, 9);
    draw_all(3, N, X);
    leave_gaps(N, X);
    for (size_t i = 0; i < N; i++) w[i] = 0.5 + cr_rng_uniform(&g);
    cr_table *t = table_of_all(cx, X, N, w);
    for (size_t prior = 0; prior < 2; prior++) {
        char settings[192];
        snprintf(settings, sizeof settings, "weights=w k=2 max_iter=2 restarts=1 %s prior=%s",
                 all_kinds, prior ? "weak prior_rows=0.3" : "none");
        cr_model    *m = fit(cx, "mixture", t, settings);
        cri_mixture *s = m->state;
        double       rows = prior ? 0.3 : 0, kappa = prior ? 0.01 : 0, total = 0, n[2] = { 0 };
        for (size_t i = 0; i + 1 < N; i++) {
            double sum = 0;
            for (size_t c = 0; c < 2; c++)
                sum += r[i][c] = s->share[c] * exp(log_row(s, c, X + i * ALL));
            for (size_t c = 0; c < 2; c++) n[c] += r[i][c] = w[i] * r[i][c] / sum;
            total += w[i];
        }
        cri_mixture *next = NULL;
        size_t       width = cri_mixture_width(s);
        double      *sums = calloc(width, sizeof *sums);
        double      *work = calloc(cri_mixture_work(s), sizeof *work);
        assert_ok(cx, cri_mixture_new(cx, 2, ALL, s->L, 1, &next));
        cri_mixture_add(s, X, w, N, sums, work);
        assert_relative(sums[0], s->log_likelihood, 1e-12);
        memcpy(next->mean, s->mean, 2 * ALL * sizeof(double)); /* those before the step */
        assert_ok(cx, cri_mixture_solve(cx, NULL, sums, s));
        free(sums), free(work);
        for (size_t c = 0; c < 2; c++) {
            assert_close(s->share[c], n[c] / total, 1e-10);
            for (size_t j = 0; j < ALL; j++) {
                double there = 0, first = 0, second = 0, level[3] = { 0 };
                bool   real = j <= POSITIVE;
                for (size_t i = 0; i + 1 < N; i++) {
                    double x = X[i * ALL + j];
                    if (isnan(x)) continue;
                    if (real) x = ((j ? log(x) : x) - s->centre[j]) / s->scale[j];
                    there += r[i][c];
                    first += r[i][c] * x;
                    if (j >= COLOUR) level[(size_t)x] += r[i][c];
                }
                for (size_t l = 0; j >= COLOUR && l < (j == COLOUR ? 3 : 2); l++) {
                    size_t at = s->first[j] + l;
                    assert_close(s->level[c * s->L + at],
                                 (level[l] + rows * s->overall_level[at]) / (there + rows), 1e-10);
                }
                if (j == COUNT || j == ANSWER)
                    assert_close(s->mean[c * ALL + j],
                                 (first + rows * s->overall[j]) / (there + rows), 1e-10);
                if (!real) continue;
                double mean = first / (there + kappa);
                for (size_t i = 0; i + 1 < N; i++) {
                    double x = X[i * ALL + j];
                    if (isnan(x)) continue;
                    x = ((j ? log(x) : x) - s->centre[j]) / s->scale[j];
                    second += r[i][c] * (x - mean) * (x - mean);
                }
                second += rows * s->prior_variance + kappa * mean * mean;
                assert_close(s->mean[c * ALL + j], mean, 1e-9);
                assert_relative(s->sd[c * ALL + j], sqrt(second / (there + rows)), 1e-9);
            }
        }
        cri_state_free(cx, &cri_class_mixture, next);
    }
}

/* The prior says in numbers what the steps maximise: no parameter moved a little does better. */
TEST(the_end_is_a_maximum)
{
    enum { N = 200 };
    static double X[N * ALL], w[N];
    draw_all(4, N, X);
    leave_gaps(N, X);
    for (size_t i = 0; i < N; i++) w[i] = 1;
    cr_table *t = table_of_all(cx, X, N, NULL);
    char      settings[192];
    snprintf(settings, sizeof settings, "k=2 restarts=2 tol=1e-12 max_iter=5000 %s prior_rows=0.7",
             all_kinds);
    cr_model    *m = rising(cx, t, settings);
    cri_mixture *s = m->state;
    double      *sums = calloc(cri_mixture_width(s), sizeof *sums);
    double      *work = calloc(cri_mixture_work(s), sizeof *work);
    for (size_t at = 0; at < 2 * ALL; at++)
        for (int side = -1; side < 2; side += 2)
            for (int spread = 0; spread < 2; spread++) {
                double *x = spread ? &s->sd[at] : &s->mean[at], keep = *x;
                if (at % ALL >= COLOUR || (spread && at % ALL > POSITIVE)) continue;
                *x *= 1 + 0.01 * side;
                cri_mixture_prepare(s);
                memset(sums, 0, cri_mixture_width(s) * sizeof *sums);
                cri_mixture_add(s, X, w, N, sums, work);
                assert_true(sums[0] + cri_mixture_log_prior(s) < s->em.objective + 1e-9);
                *x = keep;
            }
    free(sums), free(work);
    cri_mixture_prepare(s);
}

/* --- closed forms ----------------------------------------------------------------------------- */

/* One component is the product of what each column is by itself. */
TEST(one_component)
{
    enum { N = 150 };
    static double X[N * ALL];
    draw_all(5, N, X);
    cr_table *t = table_of_all(cx, X, N, NULL);
    char      settings[128];
    snprintf(settings, sizeof settings, "k=1 prior=none %s", all_kinds);
    cr_model *m = rising(cx, t, settings);
    json_t   *d = describe(cx, m);
    double    ll = 0, free_parameters = 2 + 2 + 1 + 1 + 2 + 1, mean[ALL] = { 0 }, v[ALL] = { 0 };
    double    counts[2][3] = { { 0 } };
    for (size_t i = 0; i < N * ALL; i++)
        mean[i % ALL] += (i % ALL == POSITIVE ? log(X[i]) : X[i]) / N;
    for (size_t i = 0; i < N; i++) {
        const double *x = X + i * ALL;
        v[REAL] += pow(x[REAL] - mean[REAL], 2) / N;
        v[POSITIVE] += pow(log(x[POSITIVE]) - mean[POSITIVE], 2) / N;
        counts[0][(size_t)x[COLOUR]]++, counts[1][(size_t)x[SIZE]]++;
        ll += x[COUNT] * log(mean[COUNT]) - mean[COUNT] - lgamma(x[COUNT] + 1);
        ll += log(x[ANSWER] > 0 ? mean[ANSWER] : 1 - mean[ANSWER]);
    }
    for (size_t l = 0; l < 6; l++)
        if (counts[l / 3][l % 3] > 0) ll += counts[l / 3][l % 3] * log(counts[l / 3][l % 3] / N);
    for (size_t j = REAL; j <= POSITIVE; j++) ll -= 0.5 * N * (log(2 * M_PI * v[j]) + 1);
    ll -= N * mean[POSITIVE];
    assert_relative(m->report.log_likelihood, ll, 1e-10);
    assert_relative(statistic(d, "parameters"), free_parameters, 0);
    assert_relative(statistic(d, "bic"), -2 * ll + free_parameters * log(N), 1e-10);
    assert_relative(statistic(d, "aic"), -2 * ll + 2 * free_parameters, 1e-10);
    assert_relative(statistic(d, "icl"), statistic(d, "bic"), 1e-10);
    assert_relative(parameter(d, "c1.mean.real", "value"), mean[REAL], 1e-10);
    assert_relative(parameter(d, "c1.sdlog.positive", "value"), sqrt(v[POSITIVE]), 1e-10);
    assert_relative(parameter(d, "c1.rate.count", "value"), mean[COUNT], 1e-10);
    assert_relative(parameter(d, "c1.p.answer", "value"), mean[ANSWER], 1e-10);
    assert_relative(parameter(d, "c1.p.colour=red", "value"), counts[0][2] / N, 1e-10);
}

/* Numbers alone are a Gaussian mixture with diagonal covariances: the same optimum, with and without its prior. */
TEST(numbers_alone_are_gmm)
{
    cr_table *t = read_table(cx, "examples/iris.csv");
    for (size_t prior = 0; prior < 2; prior++)
        for (size_t k = 1; k <= 3; k++) {
            char settings[192];
            snprintf(settings, sizeof settings,
                     "features=*_cm scale=standard k=%zu restarts=10 tol=1e-11 max_iter=3000%s", k,
                     prior ? "" : " prior=none");
            cr_model *a = rising(cx, t, settings);
            strcat(settings, " covariance=VVI");
            cr_model *b = fit(cx, "gmm", t, settings);
            assert_close(a->report.log_likelihood, b->report.log_likelihood, 1e-4);
            json_t *x = describe(cx, a), *y = describe(cx, b);
            assert_close(statistic(x, "bic"), statistic(y, "bic"), 1e-3);
            assert_close(parameter(x, "c1.mean.petal_width_cm", "value"),
                         parameter(y, "c1.mean.petal_width_cm", "value"), 1e-3);
            assert_close(parameter(x, "c1.sd.petal_width_cm", "value"),
                         parameter(y, "c1.sd.petal_width_cm", "value"), 1e-3);
        }
}

/* --- references ------------------------------------------------------------------------------- */

/* A mixture of Bernoulli distributions on digits: the best likelihood that twenty starts of a plain EM found, or a
 * better one.  Of the seeds 0 to 9 all reach it, with 50 starts. */
TEST(best_known)
{
    json_t *cases = reference_cases(cx, "bernoulli_mixture"), *item, *of;
    size_t  i;
    if (!test_extra_data("tabular/digits.csv")) return;
    json_array_foreach(cases, i, item)
    {
        json_t     *by_k = json_object_get(json_object_get(item, "expected"), "by_k");
        const char *k;
        cr_table   *t = read_table(cx, test_extra_data("tabular/digits.csv"));
        json_object_foreach(by_k, k, of)
        {
            char   settings[256];
            double best = number_of(of, "best_loglik");
            if ((size_t)atoi(k) > simulation_size(2, 10)) continue;
            snprintf(settings, sizeof settings,
                     "features=!digit numbers=bernoulli:7.5 k=%s prior=none restarts=12 tol=1e-8 "
                     "max_iter=2000",
                     k);
            cr_model *m = rising(cx, t, settings);
            if (!(m->report.log_likelihood > best - 0.05))
                fail_msg("k = %s ends at %.4f, below %.4f", k, m->report.log_likelihood, best);
        }
    }
}
