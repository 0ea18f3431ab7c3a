/* test_hmm_corners.c -- hidden Markov models where there is little or nothing to learn from: short sequences, states
 * without rows, constant and empty columns, symbols that were never seen; what is refused, and how. */
#include "hmm_fixture.h"

static void unfit(cr_ctx *cx, const cr_table *t, const char *settings, const char *sentence)
{
    cr_model *m = NULL;
    cr_status st = try_fit(cx, "hmm", t, settings, &m);
    if (st == CR_OK || !strstr(cr_error(cx), sentence))
        fail_msg("%s: %s", settings, st == CR_OK ? "is taken" : cr_error(cx));
    assert_null(m);
}

static void assert_finite(const cr_model *m)
{
    const cri_hmm *h = state_of(m);
    for (size_t i = 0; i < h->k * h->k; i++) assert_true(isfinite(h->A[i]));
    for (size_t i = 0; i < h->k; i++) assert_true(isfinite(h->pi[i]));
    for (size_t i = 0; i < h->k * h->L; i++) assert_true(isfinite(h->level[i]));
    for (size_t i = 0; i < h->k * h->p; i++) assert_true(isfinite(h->mean[i]));
}

TEST(sequences_of_one_row)
{
    cr_table *t = table_of_text(cx, "data.csv", "s,x\n1,0\n2,1\n3,0.1\n4,0.9\n5,1.2\n6,-0.2\n");
    cr_model *m = rising(cx, t, "sequence=s states=2 restarts=3");
    assert_finite(m);
    const cri_hmm *h = state_of(m);
    for (size_t i = 0; i < 4; i++)
        assert_close(h->A[i], 0.5, 1e-9); /* nothing was seen: the prior */
    t = table_of_text(cx, "one.csv", "c\na\n");
    assert_finite(rising(cx, t, "states=2"));
}

/* More states than rows: those without rows stay at their priors. */
TEST(dead_states)
{
    cr_table   *t = table_of_text(cx, "data.csv", "c\na\nb\na\n");
    const char *settings[] = { "states=8 restarts=2",
                               "states=8 restarts=2 prior_rows=0 prior_transitions=0" };
    for (size_t i = 0; i < 2; i++) {
        cr_model     *m = rising(cx, t, settings[i]);
        cr_prediction p = predict(cx, m, t);
        assert_finite(m);
        assert_proper(&p);
    }
    /* a state that cannot be reached */
    cr_model *m =
        rising(cx, t, "start={\"pi\":[1,0],\"A\":[[1,0],[0.5,0.5]],\"B\":[[0.5,0.5],[0.5,0.5]]}");
    assert_finite(m);
    assert_true(state_of(m)->share[1] == 0);
}

TEST(columns_that_do_not_vary)
{
    cr_table *t = table_of_text(cx, "data.csv", "x,c,n,e\n1,a,2,\n1,a,2,\n1,a,2,\n");
    unfit(cx, t, "features=x", "'x' is the same in all rows");
    unfit(cx, t, "features=e", "'e'");
    assert_finite(rising(cx, t, "features=c states=2 restarts=2"));
    assert_finite(rising(cx, t, "features=n emission=poisson states=2 restarts=2"));
}

/* Symbols that training has not seen are refused in words; a level that no row of a state has keeps a probability. */
TEST(unseen_symbols)
{
    cr_table     *t = table_of_text(cx, "data.csv", "c\na\nb\na\nb\nb\na\n"), *u, *v;
    cr_model     *m = rising(cx, t, "states=2 restarts=2");
    cr_prediction p = { 0 };
    u = table_of_text(cx, "new.csv", "c\na\nx\n");
    assert_fails_with(cx, cr_predict(cx, m, u, &p), CR_EDATA, "x");
    for (size_t i = 0; i < 4; i++) assert_true(state_of(m)->level[i] > 0);
    /* probability 0 is an answer */
    m = rising(cx, t,
               "max_iter=0 start={\"pi\":[1,0],\"A\":[[0.5,0.5],[0.5,0.5]],\"B\":[[1,0],[0,1]]}");
    v = table_of_text(cx, "new.csv", "c\nb\na\n");
    p = predict(cx, m, v);
    assert_true(p.log_density[0] == -INFINITY);
    assert_close(p.log_density[1], log(0.5), 1e-12);
    assert_proper(&p);
}

/* Rows that given parameters make impossible have probability 0, which is said, and kept in the file. */
TEST(impossible_rows)
{
    static const char *const settings =
        "max_iter=0 start={\"pi\":[1,0],\"A\":[[1,0],[0,1]],\"B\":[[1,0],[0,1]]}";
    cr_table *t = table_of_text(cx, "data.csv", "c\na\nb\na\n");
    cr_model *m = NULL, *again = NULL;
    warnings  heard;
    assert_non_null(strstr(fit_and_hear(cx, "hmm", t, settings, &heard), "have probability 0"));
    assert_ok(cx, try_fit(cx, "hmm", t, settings, &m));
    test_own(cx, m, release_model);
    assert_true(cr_model_get_report(m)->log_likelihood == -INFINITY);
    assert_true(state_of(m)->share[0] == 0 && state_of(m)->em.restarts_agreed == 1);
    char  *bytes = NULL;
    size_t size = 0;
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "impossible", bytes, size, &again));
    cr_free(cx, bytes, size, 1);
    test_own(cx, again, release_model);
    assert_true(state_of(again)->log_likelihood == -INFINITY);
    assert_true(state_of(again)->em.objective == -INFINITY);
    cr_prediction p = predict(cx, again, t);
    assert_true(p.log_density[0] == 0 && p.log_density[1] == -INFINITY);
}

TEST(rows_without_any_cell)
{
    cr_table     *t = table_of_text(cx, "data.csv", "x,y\n1,2\n,\n3,1\n,\n2,2\n5,4\n");
    cr_model     *m = rising(cx, t, "states=1");
    cr_table     *u = table_of_text(cx, "new.csv", "x,y\n,\n,\n");
    cr_prediction p = predict(cx, m, u);
    assert_close(p.log_density[0], 0, 1e-12);
    assert_close(p.log_density[1], 0, 1e-12);
}

TEST(refusals)
{
    cr_table *t = table_of_text(cx, "data.csv", "x,c,w,z\n1,a,1,1\n2,b,2,3\n-3,a,1,1.5\n");
    static const struct {
        const char *settings, *sentence;
    } bad[] = {
        { "features=x states=0", "--states is '0'" },
        { "features=x states=two", "--states is 'two'" },
        { "features=x emission=poison", "no distribution 'poison'" },
        { "features=x emission=poisson", "'x' is -3, but poisson emissions are counts" },
        { "features=x emission=gamma", "above 0" },
        { "features=x weights=w", "cannot count more than another" },
        { "features=x topology=ring", "'ring' is not understood" },
        { "features=x max_iter=0", "keeps the parameters that are given" },
        { "features=x state=z states=2", "states are numbers 1, 2, ..." },
        { "features=x state=w states=1", "has a state 2, but there is only 1" },
        { "features=x start={\"A\":[[1,0],[0,1,0]]}", "there must be 2" },
        { "features=x start={\"A\":[[1,0],[0,0.5]]}", "sum to 0.5" },
        { "features=x start={\"mu\":[1,2]}", "mu" },
        { "features=x start={\"mean\":[1,2]} states=3", "--start has 2 states" },
        { "features=x start={\"rate\":[1,2]}", "no column has a parameter 'rate'" },
        { "features=x start=/nowhere.json", "/nowhere.json" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        unfit(cx, t, bad[i].settings, bad[i].sentence);
}

/* The same bits on any number of threads, with many sequences of all lengths. */
TEST(threads)
{
    enum { N = 3000 };
    static double x[N], s[N];
    cr_rng        r = cr_rng_stream(4, 4);
    double        first[2] = { 0 };
    for (size_t i = 0; i < N; i++) {
        s[i] = (double)(cr_rng_below(&r, 60) * cr_rng_below(&r, 3));
        x[i] = cr_rng_normal(&r) + (i / 40 % 2 ? 3 : 0);
    }
    for (size_t threads = 1; threads <= 4; threads += 3) {
        cr_ctx   *own = test_context();
        cr_table *t = make_table(own, NULL, N, 0, NULL, NULL);
        assert_ok(own, cr_table_add_numbers(own, t, "x", CR_REAL, x, 1));
        assert_ok(own, cr_table_add_numbers(own, t, "s", CR_REAL, s, 1));
        cr_ctx_set_threads(own, threads);
        cr_model *m = fit(own, "hmm", t, "features=x sequence=s states=2 restarts=2");
        first[threads > 1] = m->report.log_likelihood;
        test_context_free(own);
    }
    assert_memory_equal(&first[0], &first[1], sizeof(double));
}
