/* test_hmm_covariates.c -- hidden Markov models with covariates (regime-switching regression): against sums over all
 * paths, least squares of the rows of known states, one regression, and their own simulations; what is refused. */
#include "hmm_fixture.h"

#include "math/special/special.h"

static double line_at(const json_t *d, size_t c, const char *y, const char *const *x,
                      const double *value, size_t q)
{
    char name[64];
    snprintf(name, sizeof name, "intercept[%zu].%s", c, y);
    double sum = value_of(d, name);
    for (size_t l = 0; l < q; l++) {
        snprintf(name, sizeof name, "coef[%zu].%s.%s", c, y, x[l]);
        sum += value_of(d, name) * value[l];
    }
    return sum;
}

/* log N of y in state c; 0 where y or a covariate is missing. */
static double log_normal(const json_t *d, size_t c, const char *y, double at, const char *const *x,
                         const double *value, size_t q)
{
    char   name[64];
    double mean = line_at(d, c, y, x, value, q);
    snprintf(name, sizeof name, "sd[%zu].%s", c, y);
    double sd = value_of(d, name);
    return isnan(at) || isnan(mean) ? 0 : cr_norm_logpdf((at - mean) / sd) - log(sd);
}

/* Two columns with gaps, two covariates with one gap: the log likelihood is that of all paths, by the parameters as they
 * are described. */
TEST(covariates_by_paths)
{
    static const char data[] =
        "a,y,b,v\n1,2.5,100.5,0.3\n2,1.5,103,\n3,7.5,101,1.9\n"
        "2.5,,102.5,0.2\n,5,101,2.2\n0.5,1,104,0.7\n4,9.5,99,-1\n1.5,3,102,1\n";
    static const char *const x[] = { "a", "b" };
    const double             cells[8][4] = { { 1, 2.5, 100.5, 0.3 }, { 2, 1.5, 103, NAN },
                                             { 3, 7.5, 101, 1.9 },   { 2.5, NAN, 102.5, 0.2 },
                                             { NAN, 5, 101, 2.2 },   { 0.5, 1, 104, 0.7 },
                                             { 4, 9.5, 99, -1 },     { 1.5, 3, 102, 1 } };
    cr_table                *t = table_of_text(cx, "data.csv", data);
    cr_model                *m =
        rising(cx, t,
               "covariates=b,a covariance=diag states=2 restarts=2 max_iter=6 prior_rows=0.5 "
               "prior_transitions=1e-4");
    json_t       *d = describe(cx, m);
    double        log_b[16], sum = 0;
    cr_prediction p = predict(cx, m, t);
    for (size_t i = 0; i < 8; i++)
        for (size_t c = 0; c < 2; c++) {
            double u[] = { cells[i][0], cells[i][2] };
            log_b[i * 2 + c] = log_normal(d, c + 1, "y", cells[i][1], x, u, 2) +
                               log_normal(d, c + 1, "v", cells[i][3], x, u, 2);
        }
    assert_close(m->report.log_likelihood,
                 log_by_paths(state_of(m)->pi, state_of(m)->A, log_b, 8, 2), 1e-10);
    for (size_t i = 0; i < p.n; i++) sum += p.log_density[i];
    assert_close(sum, m->report.log_likelihood, 1e-11);
    assert_true(p.log_density[4] == 0); /* without a covariate a row says nothing */
    assert_close(cri_hmm_parameters(state_of(m)), 3 + 2 * 2 * 4, 0);
}

/* n rows of two regimes, states 1 and 2 in `z`; covariates far from 0, and correlated. */
typedef struct switching {
    double x[1200], w[1200], y[1200], z[1200];
} switching;

static void draw_switching(uint64_t seed, size_t n, switching *out)
{
    cr_rng r = cr_rng_stream(seed, 1);
    size_t z = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && cr_rng_uniform(&r) < (z == 0 ? 0.05 : 0.1)) z = 1 - z;
        double x = 10 + 3 * cr_rng_normal(&r), w = 0.2 * x + cr_rng_normal(&r);
        out->x[i] = x, out->w[i] = w, out->z[i] = 1 + (double)z;
        out->y[i] = z == 0 ? 1 + 2 * x - w + cr_rng_normal(&r) : 30 - x + 2 * cr_rng_normal(&r);
    }
}

static cr_table *table_of(cr_ctx *cx, const switching *s, size_t n)
{
    cr_table *t = make_table(cx, NULL, n, 0, NULL, NULL);
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, s->x, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "w", CR_REAL, s->w, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "y", CR_REAL, s->y, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "z", CR_REAL, s->z, 1));
    return t;
}

/* Least squares of y on x and w. */
static json_t *regress(cr_ctx *cx, const switching *s, size_t n)
{
    return describe(cx, fit(cx, "linear", table_of(cx, s, n), "target=y features=x,w"));
}

/* The prior counts for so many rows, in errors too. */
static void assert_line(const json_t *d, size_t c, const json_t *linear, size_t n, double prior)
{
    static const char *const names[] = { "intercept", "x", "w" };
    char                     name[32];
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, i == 0 ? "intercept[%zu].y" : "coef[%zu].y.%s", c, names[i]);
        assert_close(value_of(d, name), value_of(linear, names[i]), 1e-9);
        /* the least squares of a regression divide by n - 3 */
        assert_relative(
            parameter(d, name, "sd"),
            parameter(linear, names[i], "sd") * sqrt(((double)n - 3) / ((double)n + prior)), 5e-3);
    }
    snprintf(name, sizeof name, "sd[%zu].y", c);
    assert_close(value_of(d, name), sqrt(statistic(linear, "rss") / (double)n), 1e-9);
}

/* Where the states are known each has the regression of its own rows. */
TEST(known_states_are_regressions)
{
    static switching s, own;
    enum { N = 500 };
    draw_switching(3, N, &s);
    cr_model *m = rising(cx, table_of(cx, &s, N),
                         "features=x,w,y covariates=x,w state=z states=2 prior_rows=1e-9");
    for (size_t c = 1; c <= 2; c++) {
        size_t n = 0;
        for (size_t i = 0; i < N; i++) {
            if (s.z[i] != (double)c) continue;
            own.x[n] = s.x[i], own.w[n] = s.w[i], own.y[n] = s.y[i], own.z[n++] = 1;
        }
        assert_line(describe(cx, m), c, regress(cx, &own, n), n, 0);
    }
}

/* One state is one regression, whatever the prior: its rows are like all rows. */
TEST(one_state_is_a_regression)
{
    static switching s;
    enum { N = 200 };
    draw_switching(4, N, &s);
    cr_model *m = rising(cx, table_of(cx, &s, N), "features=x,w,y covariates=x,w states=1");
    json_t   *linear = regress(cx, &s, N);
    assert_line(describe(cx, m), 1, linear, N, 0);
    double v = statistic(linear, "rss") / N;
    assert_close(m->report.log_likelihood, -0.5 * N * (log(2 * M_PI * v) + 1), 1e-9);
    m = rising(cx, table_of(cx, &s, N), "features=x,w,y covariates=x,w states=1 prior_rows=30");
    assert_line(describe(cx, m), 1, linear, N, 30);
}

/* Also where cells are missing: rows without a covariate, or without y, do not count. */
TEST(one_state_with_gaps)
{
    static switching s, whole;
    enum { N = 90 };
    size_t n = 0;
    draw_switching(6, N, &s);
    for (size_t i = 0; i < N; i++) {
        if (i % 7 == 0) s.x[i] = NAN;
        if (s.w[i] > 3) s.y[i] = NAN;
        if (isnan(s.x[i]) || isnan(s.y[i])) continue;
        whole.x[n] = s.x[i], whole.w[n] = s.w[i], whole.y[n] = s.y[i], whole.z[n++] = 1;
    }
    cr_model *m =
        rising(cx, table_of(cx, &s, N), "features=x,w,y covariates=x,w states=1 prior_rows=9");
    json_t *d = describe(cx, m), *linear = regress(cx, &whole, n);
    assert_true(n > 10 && n < 70);
    assert_close(value_of(d, "intercept[1].y"), value_of(linear, "intercept"), 1e-9);
    assert_close(value_of(d, "coef[1].y.w"), value_of(linear, "w"), 1e-9);
    assert_close(value_of(d, "sd[1].y"), sqrt(statistic(linear, "rss") / (double)n), 1e-9);
}

TEST(switching_is_recovered)
{
    static const char *const names[] = { "intercept[1].y", "coef[1].y.x", "coef[1].y.w", "sd[1].y",
                                         "intercept[2].y", "coef[2].y.x", "coef[2].y.w", "sd[2].y",
                                         "A[1,2]",         "A[2,1]" };
    const double             truth[] = { 1, 2, -1, 1, 30, -1, 0, 2, 0.05, 0.1 };
    static switching         s;
    size_t                   covered = 0, all = 0, trials = simulation_size(5, 60);
    for (size_t i = 0; i < trials; i++) {
        draw_switching(100 + i, 1200, &s);
        json_t *d = describe(cx, rising(cx, table_of(cx, &s, 1200),
                                        "features=x,w,y covariates=x,w states=2 restarts=3"));
        bool    first = value_of(d, "coef[1].y.x") > 0;
        for (size_t j = 0; j < 10; j++) {
            const char *name = names[first ? j : j < 8 ? (j + 4) % 8 : 17 - j];
            double      sd = parameter(d, name, "sd");
            assert_true(fabs(value_of(d, name) - truth[j]) < 5 * sd);
            covered += fabs(value_of(d, name) - truth[j]) < 1.96 * sd, all++;
        }
    }
    if (!(covered > 0.88 * (double)all))
        fail_msg("%zu of %zu intervals cover the truth", covered, all);
}

/* Other units of a covariate change its coefficient alone; what is given is kept, and described as it was given. */
TEST(units_and_given_lines)
{
    static switching s;
    enum { N = 150 };
    draw_switching(5, N, &s);
    cr_table *t = table_of(cx, &s, N);
    cr_model *m = rising(cx, t, "features=x,w,y covariates=x,w states=2 restarts=2"), *given;
    json_t   *d = describe(cx, m), *e;
    for (size_t i = 0; i < N; i++) s.x[i] = 1e6 + 1e-3 * s.x[i];
    cr_model *other =
        rising(cx, table_of(cx, &s, N), "features=x,w,y covariates=x,w states=2 restarts=2");
    assert_close(other->report.log_likelihood, m->report.log_likelihood, 1e-7);
    assert_relative(value_of(describe(cx, other), "coef[2].y.x"), 1e3 * value_of(d, "coef[2].y.x"),
                    1e-4);
    given =
        rising(cx, t,
               "features=x,w,y covariates=x,w max_iter=0 start={\"pi\":[0.5,0.5],\"A\":[[0.9,0.1],"
               "[0.2,0.8]],\"intercept\":[1,30],\"coef\":[[2,-1],[-1,0]],\"sd\":[1,2]}");
    e = describe(cx, given);
    assert_close(value_of(e, "intercept[1].y"), 1, 1e-10);
    assert_close(value_of(e, "coef[1].y.w"), -1, 1e-10);
    assert_close(value_of(e, "coef[2].y.x"), -1, 1e-10);
    assert_close(value_of(e, "sd[2].y"), 2, 1e-10);
    assert_true(given->report.log_likelihood < m->report.log_likelihood);
    assert_true(given->report.log_likelihood > m->report.log_likelihood - 15);
    double out[3];
    assert_fails_with(cx, cr_sample(cx, m, 1, 1, out), CR_EUNSUPPORTED, "has covariates");
    cr_forecast f = { 0 };
    assert_ok(cx, cr_forecast_rows(cx, m, NULL, 2, &f)); /* of states: no covariate is needed */
    assert_true(isfinite(f.p.prob[0]));
    cr_forecast_free(cx, &f);
}

/* A step from rows that tell a state nothing of a coefficient, and a column of true and false as a covariate. */
TEST(little_to_learn_from)
{
    cr_table *t = table_of_text(
        cx, "data.csv", "x,b,y\n1,true,1\n2,false,2.5\n3,true,2\n4,true,5\n5,false,4\n6,true,7\n");
    static const char *const settings[] = {
        "covariates=x states=5 restarts=3 least_spread=0 features=x,y",
        "covariates=x states=3 restarts=3 least_spread=0 prior_rows=0 prior_transitions=0 "
        "features=x,y max_iter=9",
        "covariates=x,b states=2 restarts=2 least_spread=0",
        "covariates=b states=2 restarts=2 least_spread=0 features=b,y",
        "covariates=x states=2 restarts=2 least_spread=0 features=x,y emission=x=mixture:2",
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        cr_model      *m = rising(cx, t, settings[i]);
        const cri_hmm *h = state_of(m);
        cr_prediction  p = predict(cx, m, t);
        assert_proper(&p);
        for (size_t j = 0; j < h->pq * h->k; j++) assert_true(isfinite(h->coef[j]));
        for (size_t j = 0; j < h->p * h->k; j++) assert_true(isfinite(h->mean[j]));
    }
}

/* Without a prior a line through one row: what cannot be told apart stays as it was. */
TEST(fewer_rows_than_coefficients)
{
    for (size_t alone = 0; alone < 5; alone++) {
        text_buffer b = text_new(4096);
        text_put(&b, "x,w,y,z\n");
        for (size_t i = 0; i < 12; i++)
            text_put(&b, "%g,%g,%g,%d\n", sin((double)i), cos(3 * (double)i), sin(7 * (double)i),
                     i == alone || (i == alone + 6 && alone > 1) ? 2 : 1);
        cr_model *m = rising(cx, table_of_text(cx, "data.csv", b.at),
                             "covariates=x,w state=z states=2 least_spread=0 prior_rows=0 "
                             "prior_transitions=0 max_iter=5 features=x,w,y");
        for (size_t j = 0; j < state_of(m)->pq * 2; j++)
            assert_true(fabs(state_of(m)->coef[j]) < 50);
        free(b.at);
    }
}

/* Rows that come later are as if they had been there: the moments of the old ones follow the line. */
TEST(lines_are_updated)
{
    static switching s, first, later;
    enum { N = 300, OLD = 90 };
    const char *settings =
        "features=x,w,y covariates=x,w states=1 prior_rows=0 prior_transitions=0";
    cr_model *m = NULL;
    draw_switching(9, N, &s);
    for (size_t i = 0; i < N; i++) {
        switching *to = i < OLD ? &first : &later;
        size_t     at = i < OLD ? i : i - OLD;
        to->x[at] = s.x[i], to->w[at] = s.w[i], to->y[at] = s.y[i], to->z[at] = s.z[i];
    }
    cr_model *old = fit(cx, "hmm", table_of(cx, &first, OLD), settings);
    assert_ok(cx, cr_update(cx, old, table_of(cx, &later, N - OLD), &m));
    test_own(cx, m, release_model);
    json_t *d = describe(cx, m), *all = describe(cx, fit(cx, "hmm", table_of(cx, &s, N), settings));
    static const char *const names[] = { "intercept[1].y", "coef[1].y.x", "coef[1].y.w",
                                         "sd[1].y" };
    for (size_t i = 0; i < 4; i++)
        assert_close(value_of(d, names[i]), value_of(all, names[i]), 1e-8);
}

TEST(covariates_refused)
{
    cr_table *t =
        table_of_text(cx, "data.csv",
                      "x,y,v,c,k,n,e,x2,l\n1,1,2,a,1,1,,2,3\n2,2,7,b,1,2,,4,5\n3,1,4,a,1,0,,6,7\n"
                      "4,0,8,b,1,3,,8,9\n5,3,2,a,1,1,,10,11\n");
    static const struct {
        const char *settings, *sentence;
    } bad[] = {
        { "features=y covariates=x", "does not use a column 'x'" },
        { "features=y,c covariates=c", "'c' is a category, not a number" },
        { "features=y,c,x covariates=x", "'c' is category, but only gaussian" },
        { "features=y,n,x covariates=x emission=n=poisson", "'n' is poisson, but only gaussian" },
        { "features=x covariates=x", "none is left to be emitted" },
        { "features=x,y,v covariates=x", "with --covariates gaussian columns have no covariance" },
        { "features=x,y covariates=x covariance=tied", "have no covariance" },
        { "features=y,k covariates=k", "'k' is the same in all rows: it has no coefficient" },
        { "features=y,e covariates=e", "'e' has no value" },
        { "features=y,x,x2 covariates=x,x2", "'x2' is a sum of multiples of others" },
        { "features=x,l covariates=x", "'l' is a linear function of the covariates" },
        { "features=x,y covariates=x start={\"coef\":[[1,2],[1,2]]}",
          "2 numbers, but 1 covariates" },
        { "features=x,y covariates=x start={\"intercept\":[1,\"a\"]}", "intercept" },
        { "features=y start={\"coef\":[1,2]}", "there are no --covariates" },
        { "features=x,y covariates=x start={\"mean\":[1,2]}", "no column has a parameter 'mean'" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_model *m = NULL;
        cr_status st = try_fit(cx, "hmm", t, bad[i].settings, &m);
        if (st == CR_OK || !strstr(cr_error(cx), bad[i].sentence))
            fail_msg("%s: %s", bad[i].settings, st == CR_OK ? "is taken" : cr_error(cx));
    }
}
