/* test_em.c -- models found by EM, by the toy mixture: the likelihood never falls, the best start is kept, and
 * threads, leaves in memory and streams give the same bits. */
#include "toys.h"

#include "data/table/table_internal.h"
#include "models/core/em.h"
#include "models/core/fit_stream.h"

enum { N = 600, LEAF = 64 };

/* Three clouds on a line, the third small; weights. */
static const char *data_file(void)
{
    static char path[512];
    text_buffer t = text_new(1 << 16);
    cr_rng      r = cr_rng_stream(4, 4);
    text_put(&t, "a,b,w\n");
    for (int i = 0; i < N; i++) {
        double centre = i % 10 < 5 ? 0 : i % 10 < 9 ? 6 : 12, sd = i % 10 < 9 ? 1 : 0.3;
        double a = centre + sd * cr_rng_normal(&r), b = centre + sd * cr_rng_normal(&r);
        text_put(&t, "%.17g,%.17g,%.3g\n", a, b, 0.5 + cr_rng_uniform(&r));
    }
    snprintf(path, sizeof path, "%s", test_file("clouds.csv", t.at, t.used));
    free(t.at);
    return path;
}

static cr_table *table_in_leaves(cr_ctx *cx, const char *path)
{
    cr_table *t = read_table(cx, path);
    size_t    starts[N], n = 0;
    for (size_t i = 0; i < N; i += LEAF) starts[n++] = i;
    assert_ok(cx, cri_table_set_leaves(cx, t, starts, n));
    return t;
}

static const cri_em_outcome *outcome_of(const cr_model *m)
{
    return (const cri_em_outcome *)((const char *)m->state + m->class->em->at);
}

static void check_same(cr_ctx *cx, const cr_model *a, const cr_model *b)
{
    json_t *x = describe(cx, a), *y = describe(cx, b);
    json_object_del(x, "design");
    json_object_del(y, "design");
    json_object_del(json_object_get(x, "report"), "seconds");
    json_object_del(json_object_get(y, "report"), "seconds");
    assert_true(json_equal(x, y));
    const cri_em_outcome *o = outcome_of(a), *p = outcome_of(b);
    assert_int_equal(o->iterations, p->iterations);
    assert_memory_equal(o->trace, p->trace, o->iterations * sizeof *o->trace);
}

static const char settings[] = "clouds=3 features=a,b weights=w restarts=8 seed=3";

TEST(the_best_of_many_starts)
{
    cr_table             *t = table_in_leaves(cx, data_file());
    cr_model             *m = fit(cx, "toy-mixture", t, settings);
    const cri_em_outcome *o = outcome_of(m);
    double                score[N], w[N], sum = 0;
    size_t                as_high = 0;

    for (size_t i = 1; i < o->iterations; i++) assert_true(o->trace[i] >= o->trace[i - 1] - 1e-9);
    assert_true(o->trace[o->iterations - 1] == o->objective);
    assert_ok(cx, cr_score(cx, m, t, score));
    assert_ok(cx, cr_observed(cx, m, t, NULL, w));
    for (size_t i = 0; i < N; i++) sum += w[i] * score[i];
    assert_relative(o->objective, sum, 1e-12); /* that of the state that was kept */
    assert_true(m->report.log_likelihood == o->objective && m->report.rows == N);
    assert_true(o->converged && m->report.stop == CR_STOP_TOLERANCE);
    assert_int_equal(o->restarts, 8);

    cr_model *first =
        fit(cx, "toy-mixture", t, "clouds=3 features=a,b weights=w restarts=1 seed=3");
    assert_true(o->objective >= outcome_of(first)->objective);
    assert_int_equal(outcome_of(first)->restarts_agreed, 1);
    as_high = o->restarts_agreed;
    assert_true(as_high >= 1 && as_high <= 8);
    assert_true(statistic(describe(cx, m), "restarts_agreed") == (double)as_high);
}

TEST(threads_streams_and_files)
{
    const char     *path = data_file();
    cr_table       *t = table_in_leaves(cx, path);
    cr_model       *m = fit(cx, "toy-mixture", t, settings), *streamed = NULL, *back = NULL;
    cr_read_options o;
    cr_stream      *stream = NULL;
    setting_list    list;
    char           *bytes = NULL;
    size_t          size = 0;

    for (size_t threads = 1; threads <= 7; threads += 3) {
        cr_ctx_set_threads(cx, threads);
        check_same(cx, m, fit(cx, "toy-mixture", t, settings));
    }
    split_settings(settings, &list);
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    assert_ok(cx, cr_stream_open(cx, path, &o, LEAF, &stream));
    assert_ok(cx, cr_fit_stream(cx, "toy-mixture", stream, list.list, list.n, &streamed));
    test_own(cx, streamed, release_model);
    cr_stream_free(cx, stream);
    cr_options_free(cx, cr_read_table, &o);
    check_same(cx, m, streamed);
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "m.cred", bytes, size, &back));
    test_own(cx, back, release_model);
    cr_free(cx, bytes, size, 1);
    check_same(cx, m, back);
    assert_fails_with(cx, cr_update(cx, m, t, &back), CR_EUNSUPPORTED, "has no exact update");
}

TEST(limits)
{
    cr_table *t = table_in_leaves(cx, data_file());
    warnings  said = { 0 };
    cr_model *m = fit(cx, "toy-mixture", t, "clouds=3 features=a,b max_iter=2 restarts=1");
    assert_false(outcome_of(m)->converged);
    assert_int_equal(m->report.stop, CR_STOP_LIMIT);
    assert_int_equal(outcome_of(m)->iterations, 2);

    cr_ctx_set_log(cx, keep_warning, &said);
    cr_ctx_set_time_limit(cx, 0.5);
    m = fit(cx, "toy-mixture", t, "clouds=3 features=a,b restarts=1000000");
    cr_ctx_set_time_limit(cx, 0);
    assert_true(outcome_of(m)->restarts < 1000000);
    assert_non_null(strstr(said.text, "this is the best so far"));
    cr_ctx_set_log(cx, NULL, NULL);
}

static cr_status fit_once(cr_ctx *cx, void *table)
{
    cr_model *m = NULL;
    cr_status st = try_fit(cx, "toy-mixture", table, "features=a,b restarts=2 max_iter=3", &m);
    (cr_model_free)(cx, m);
    return st;
}

TEST(allocations) { test_every_allocation_fails(fit_once, table_in_leaves(cx, data_file())); }
