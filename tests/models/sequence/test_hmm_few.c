/* test_hmm_few.c -- hidden Markov models of few rows: transitions that were never seen, and how much lower densities of
 * new rows are. */
#include "hmm_fixture.h"

enum { MOST = 400, NEW = 200 };

/* Rows of a chain of two states, 0 and 3 on average with sds 1 and 1.5. */
static void draw(cr_rng *r, size_t n, double *x)
{
    for (size_t i = 0, z = 0; i < n; i++) {
        double stays = i == 0 ? 0.6 : z == 0 ? 0.9 : 0.85;
        if (cr_rng_uniform(r) >= stays) z = 1 - z;
        x[i] = 3 * (double)z + (z ? 1.5 : 1) * cr_rng_normal(r);
    }
}

static double true_density(const double *x, size_t n)
{
    double p[2] = { 0.6, 0.4 }, sum = 0;
    for (size_t i = 0; i < n; i++) {
        double a = p[0] * exp(-0.5 * x[i] * x[i]);
        double b = p[1] * exp(-0.5 * (x[i] - 3) * (x[i] - 3) / 2.25) / 1.5;
        sum += log((a + b) / sqrt(2 * M_PI));
        p[0] = (0.9 * a + 0.15 * b) / (a + b);
        p[1] = 1 - p[0];
    }
    return sum / (double)n;
}

static cr_table *table_of(cr_ctx *cx, const double *x, size_t n)
{
    cr_table *t = make_table(cx, NULL, n, 0, NULL, NULL);
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    return t;
}

/* The mean over data sets of n rows of what is lost of the log density of a new row. */
static double loss_of(cr_ctx *cx, size_t n, size_t sets, const char *settings)
{
    double lost = 0;
    for (size_t set = 0; set < sets; set++) {
        static double x[MOST], y[NEW];
        cr_rng        r = cr_rng_stream(n, set);
        draw(&r, n, x);
        draw(&r, NEW, y);
        cr_model     *m = fit(cx, "hmm", table_of(cx, x, n), settings);
        cr_prediction p = predict(cx, m, table_of(cx, y, NEW));
        lost += true_density(y, NEW);
        for (size_t i = 0; i < NEW; i++) lost -= p.log_density[i] / NEW;
    }
    return lost / (double)sets;
}

/* The prior of transitions pays. */
TEST(densities)
{
    size_t sets = simulation_size(30, 60);
    double now = loss_of(cx, 20, sets, "features=x states=2");
    double once = loss_of(cx, 20, sets, "features=x states=2 prior_transitions=1e-4");
    if (!(now > 0 && now < 0.9 && now < 0.9 * once)) fail_msg("%.3f, it was %.3f", now, once);
}

static bool warns(cr_ctx *cx, size_t n, const char *settings, const char *words)
{
    static double x[MOST];
    cr_rng        r = cr_rng_stream(n, 77);
    warnings      heard = { 0 };
    draw(&r, n, x);
    cr_ctx_set_log(cx, keep_warning, &heard);
    fit(cx, "hmm", table_of(cx, x, n), settings);
    cr_ctx_set_log(cx, NULL, NULL);
    return strstr(heard.text, words) != NULL;
}

/* 7 parameters of 20 rows, of which it is said what they cost. */
TEST(few_rows_are_named)
{
    assert_true(warns(cx, 20, "features=x states=2", "20 rows for 7 parameters"));
    assert_true(warns(cx, 20, "features=x states=2", "0.35 or more a row"));
    assert_true(warns(cx, 20, "features=x states=2", "--infer vb"));
    assert_false(warns(cx, 20, "features=x states=2 duration=3", "--infer vb"));
    assert_false(warns(cx, 20, "features=x states=2 infer=vb", "or more a row"));
    assert_false(warns(cx, 100, "features=x states=2", "or more a row"));
}

/* States that are known, of which 1 never follows 3 and 3 never 1: the probabilities and sds of the Dirichlet posterior of
 * counts and a prior of one transition. */
TEST(never_seen)
{
    static const double z[] = { 1, 1, 2, 2, 1, 2, 3, 3, 2, 1, 1, 2, 3, 2, 2, 3, 3, 3, 2, 1 };
    enum { N = sizeof z / sizeof *z };
    double    c[N], count[9] = { 0 };
    cr_table *t = make_table(cx, NULL, N, 0, NULL, NULL);
    for (size_t i = 0; i < N; i++) c[i] = (double)(i % 2);
    for (size_t i = 1; i < N; i++) count[3 * (size_t)(z[i - 1] - 1) + (size_t)(z[i] - 1)]++;
    assert_ok(cx, cr_table_add_numbers(cx, t, "z", CR_REAL, z, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "c", CR_REAL, c, 1));
    cr_model *m = fit(cx, "hmm", t, "features=c emission=bernoulli state=z states=3 restarts=1");
    json_t   *d = describe(cx, m);
    for (size_t i = 0; i < 3; i += 2) {
        double rows = count[3 * i] + count[3 * i + 1] + count[3 * i + 2];
        double p = (1.0 / 3) / (rows + 1);
        char   name[24];
        snprintf(name, sizeof name, "A[%zu,%zu]", i + 1, 3 - i);
        assert_close(count[3 * i + 2 - i], 0, 0);
        assert_close(parameter(d, name, "value"), p, 1e-9);
        assert_relative(parameter(d, name, "sd"), sqrt(p * (1 - p) / (rows + 2)), 0.2);
    }
}
