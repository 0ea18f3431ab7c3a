/* test_hmm_mixtures.c -- hidden Markov models whose states emit mixtures of normal distributions: against sums over all
 * paths, mixtures without a chain, and their own simulations; what is refused. */
#include "hmm_fixture.h"

#include "math/special/special.h"

static double part(const json_t *d, const char *name, size_t c, size_t i, const char *column)
{
    char text[64];
    snprintf(text, sizeof text, "%s[%zu,%zu].%s", name, c, i, column);
    return value_of(d, text);
}

static double log_mixture(const json_t *d, size_t c, size_t M, const char *column, double x)
{
    double sum = 0;
    for (size_t i = 1; i <= M && !isnan(x); i++) {
        double sd = part(d, "sd", c, i, column);
        sum += part(d, "weight", c, i, column) / sd *
               exp(cr_norm_logpdf((x - part(d, "mean", c, i, column)) / sd));
    }
    return isnan(x) ? 0 : log(sum);
}

/* Two mixtures beside a column of another kind, with gaps. */
TEST(mixtures_by_paths)
{
    static const char data[] =
        "x,n,y\n0.1,2,10\n3.2,0,14\n2.9,1,\n,3,10.5\n0.2,5,11\n-4,4,12.2\n1,,9\n2.5,2,13\n";
    const double x[8] = { 0.1, 3.2, 2.9, NAN, 0.2, -4, 1, 2.5 },
                 n[8] = { 2, 0, 1, 3, 5, 4, NAN, 2 };
    const double y[8] = { 10, 14, NAN, 10.5, 11, 12.2, 9, 13 };
    cr_table    *t = table_of_text(cx, "data.csv", data);
    cr_model    *m =
        rising(cx, t,
               "emission=mixture:3,n=poisson states=2 restarts=2 max_iter=6 prior_rows=0.5 "
               "least_spread=0");
    json_t *d = describe(cx, m);
    double  log_b[16];
    for (size_t i = 0; i < 8; i++)
        for (size_t c = 1; c <= 2; c++) {
            char name[16];
            snprintf(name, sizeof name, "rate[%zu]", c);
            double rate = value_of(d, name);
            log_b[2 * i + c - 1] = log_mixture(d, c, 3, "x", x[i]) +
                                   log_mixture(d, c, 3, "y", y[i]) +
                                   (isnan(n[i]) ? 0 : n[i] * log(rate) - rate - lgamma(n[i] + 1));
        }
    assert_close(m->report.log_likelihood,
                 log_by_paths(state_of(m)->pi, state_of(m)->A, log_b, 8, 2), 1e-10);
    assert_close(cri_hmm_parameters(state_of(m)), 3 + 2 + 2 * 2 * 8, 0);
    for (size_t c = 1; c <= 2; c++) {
        double sum = 0;
        for (size_t i = 1; i <= 3; i++) sum += part(d, "weight", c, i, "x");
        assert_close(sum, 1, 1e-12);
        assert_true(part(d, "mean", c, 1, "x") <= part(d, "mean", c, 2, "x"));
    }
}

enum { N = 1000 };
static double x[N], z[N];

/* Two states, each of two parts. */
static void draw_parts(uint64_t seed)
{
    cr_rng r = cr_rng_stream(seed, 3);
    size_t state = 0;
    for (size_t i = 0; i < N; i++) {
        if (cr_rng_uniform(&r) < 0.05) state = 1 - state;
        bool first = cr_rng_uniform(&r) < (state == 0 ? 0.3 : 0.6);
        z[i] = 1 + (double)state;
        x[i] = state == 0 ? (first ? -6 : 0) + cr_rng_normal(&r)
                          : (first ? 3 : 9) + (first ? 0.5 : 2) * cr_rng_normal(&r);
    }
}

static cr_table *table_of(cr_ctx *cx, const double *values, const double *states, size_t n)
{
    cr_table *t = make_table(cx, NULL, n, 0, NULL, NULL);
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, values, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "z", CR_REAL, states, 1));
    return t;
}

static const double truth[2][2][3] = { { { 0.3, -6, 1 }, { 0.7, 0, 1 } },
                                       { { 0.6, 3, 0.5 }, { 0.4, 9, 2 } } };

static void assert_recovered(cr_ctx *cx, const cr_model *m)
{
    static const char *const names[] = { "weight", "mean", "sd" };
    json_t                  *d = describe(cx, m);
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < 2; i++)
            for (size_t a = 0; a < 3; a++) {
                char name[32];
                snprintf(name, sizeof name, "%s[%zu,%zu].x", names[a], c + 1, i + 1);
                double sd = parameter(d, name, "sd"), gap = value_of(d, name) - truth[c][i][a];
                if (!(sd > 0 && sd < 0.3 && fabs(gap) < 4 * sd))
                    fail_msg("%s is off by %g, its error is %g", name, gap, sd);
            }
}

/* From a simulation by hand; and from one of the model. */
TEST(parts_are_recovered)
{
    static double drawn[N];
    draw_parts(1);
    cr_model *m =
        rising(cx, table_of(cx, x, z, N), "features=x emission=mixture:2 states=2 restarts=3");
    assert_recovered(cx, m);
    assert_ok(cx, m->class->rows->sample(cx, m->state, m->design, NULL, N, 4, drawn));
    assert_recovered(cx, rising(cx, table_of(cx, drawn, z, N),
                                "features=x emission=mixture:2 states=2 restarts=3"));
}

/* One state is a mixture without a chain; where the states are known each is that of its own rows. */
TEST(mixtures_without_a_chain)
{
    static double own[N];
    draw_parts(2);
    cr_table *all = table_of(cx, x, z, N);
    cr_model *one = rising(
        cx, all, "features=x emission=mixture:4 states=1 prior_rows=1e-7 tol=1e-11 restarts=4");
    cr_model *gmm = fit(cx, "gmm", all, "features=x k=4 tol=1e-11 restarts=4");
    assert_true(fabs(one->report.log_likelihood - gmm->report.log_likelihood) < 0.05);
    cr_model *known = rising(
        cx, all,
        "features=x emission=mixture:2 state=z states=2 restarts=3 prior_rows=1e-7 tol=1e-11");
    for (size_t c = 1; c <= 2; c++) {
        size_t n = 0;
        for (size_t i = 0; i < N; i++)
            if (z[i] == (double)c) own[n++] = x[i];
        json_t *d = describe(
            cx,
            rising(cx, table_of(cx, own, z, n),
                   "features=x emission=mixture:2 states=1 restarts=3 prior_rows=1e-7 tol=1e-11"));
        for (size_t i = 1; i <= 2; i++) {
            assert_close(part(describe(cx, known), "mean", c, i, "x"), part(d, "mean", 1, i, "x"),
                         1e-4);
            assert_close(part(describe(cx, known), "weight", c, i, "x"),
                         part(d, "weight", 1, i, "x"), 1e-4);
        }
    }
}

/* Rows that come later, where it is plain which part they are of, are as if they had been there. */
TEST(parts_are_updated)
{
    enum { ALL = 60, OLD = 25 };
    double      rows[ALL];
    cr_rng      r = cr_rng_stream(5, 5);
    const char *settings = "features=x emission=mixture:2 states=1 least_spread=0 prior_rows=0 "
                           "prior_transitions=0 restarts=5";
    cr_model   *m = NULL;
    for (size_t i = 0; i < ALL; i++)
        rows[i] = (i % 3 == 0 ? -40 : 70) + cr_rng_normal(&r) + (i > OLD);
    cr_model *old = fit(cx, "hmm", table_of(cx, rows, z, OLD), settings);
    assert_ok(cx, cr_update(cx, old, table_of(cx, rows + OLD, z, ALL - OLD), &m));
    test_own(cx, m, release_model);
    json_t *d = describe(cx, m),
           *all = describe(cx, fit(cx, "hmm", table_of(cx, rows, z, ALL), settings));
    for (size_t i = 1; i <= 2; i++) {
        assert_close(part(d, "weight", 1, i, "x"), part(all, "weight", 1, i, "x"), 1e-9);
        assert_close(part(d, "mean", 1, i, "x"), part(all, "mean", 1, i, "x"), 1e-9);
        assert_close(part(d, "sd", 1, i, "x"), part(all, "sd", 1, i, "x"), 1e-9);
    }
}

TEST(mixtures_everywhere)
{
    cr_table                *t = read_table(cx, test_data("classic/hmm/gauss3.csv"));
    cr_table                *few = table_of_text(cx, "data.csv", "x,s\n1,1\n2,2\n1.5,2\n4,2\n\n");
    static const char *const settings[] = {
        "features=x0,x1 sequence=seq states=2 emission=gaussian,x1=mixture:2 restarts=2 "
        "max_iter=60",
        "features=x0,x1 sequence=seq states=2 emission=mixture:2 duration=3 restarts=2 max_iter=60",
        "features=x sequence=s states=3 emission=mixture:5 restarts=2 least_spread=0",
        "features=x sequence=s states=2 emission=mixture:2 restarts=2 least_spread=0 prior_rows=0 "
        "prior_transitions=0 max_iter=10",
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        cr_table      *of = i < 2 ? t : few;
        cr_model      *m = rising(cx, of, settings[i]);
        const cri_hmm *h = state_of(m);
        cr_prediction  p = predict(cx, m, of);
        assert_proper(&p);
        for (size_t j = 0; j < h->parts * h->k; j++)
            assert_true(isfinite(h->part_mean[j]) && h->part_sd[j] > 0);
    }
}

TEST(mixtures_refused)
{
    cr_table *t = table_of_text(cx, "data.csv", "x,y,c\n1,2,a\n3,1,b\n2,2,a\n5,0,b\n");
    static const struct {
        const char *settings, *sentence;
    } bad[] = {
        { "features=x emission=mixture", "a mixture has 2, 3, ..., 50 parts" },
        { "features=x emission=mixture:1", "a mixture has 2, 3, ..., 50 parts" },
        { "features=x emission=mixture:2.5", "a mixture has 2, 3, ..., 50 parts" },
        { "features=x emission=mixture:2 infer=vb", "'x' is mixture, which has none" },
        { "features=x emission=mixture:two", "'mixture:two' is not understood" },
        { "features=x,y emission=x=mixture:2,y=mixture:3",
          "mixtures have 2 parts in one column, but 3 in 'y'" },
        { "features=x,c emission=c=mixture:2", "'c' is a category" },
        { "features=x,y emission=x=mixture:2 covariates=y", "'x' is mixture, but only gaussian" },
        { "features=x emission=mixture:2 max_iter=0 start={\"A\":[[1]]}",
          "those of mixtures cannot be" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_model *m = NULL;
        cr_status st = try_fit(cx, "hmm", t, bad[i].settings, &m);
        if (st == CR_OK || !strstr(cr_error(cx), bad[i].sentence))
            fail_msg("%s: %s", bad[i].settings, st == CR_OK ? "is taken" : cr_error(cx));
    }
}
