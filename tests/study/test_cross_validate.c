/* test_cross_validate.c -- jobs side by side, repeats, groups, classes; the same for any threads.
 */
#include "fixture.h"
#include "base/context_internal.h"
#include "data/judge/split.h"
#include "study/jobs.h"

/* --- jobs ------------------------------------------------------------------------------------ */

typedef struct job_work {
    size_t done[40];
    size_t fails_at, fails_too;
    size_t bytes; /* that each asks for */
} job_work;

static cr_status count_job(cr_ctx *cx, void *arg, size_t j)
{
    job_work *w = arg;
    cr_log(cx, CR_LOG_WARNING, "job '%zu'", j);
    assert_int_equal(cr_ctx_threads(cx), 1);
    char *workspace = w->bytes ? cr_alloc(cx, w->bytes, 1) : NULL;
    if (w->bytes && !workspace) return CR_ENOMEM;
    cr_free(cx, workspace, w->bytes, 1);
    w->done[j]++;
    if (j == w->fails_at || j == w->fails_too) {
        cr_fail(cx, CR_EDATA, "job %zu fails", j);
        return cr_fail_hint(cx, "leave %zu out", j);
    }
    return CR_OK;
}

TEST(jobs)
{
    for (size_t threads = 1; threads <= 7; threads += 2) {
        cr_ctx  *own = test_context();
        warnings seen = { .n = 0 };
        job_work w = { .fails_at = SIZE_MAX, .fails_too = SIZE_MAX };
        cr_ctx_set_threads(own, threads);
        cr_ctx_set_log(own, keep_warning, &seen);
        assert_ok(own, cri_run_jobs(own, NULL, 5, count_job, &w));
        assert_string_equal(seen.text, "job '0'\njob '1'\njob '2'\njob '3'\njob '4'\n");
        for (size_t j = 0; j < 5; j++) assert_int_equal(w.done[j], 1);

        w = (job_work){ .fails_at = 9,
                        .fails_too = 4 }; /* the first failure counts, whoever is faster */
        seen = (warnings){ .n = 0 };
        assert_fails_with(own, cri_run_jobs(own, NULL, 40, count_job, &w), CR_EDATA, "job 4 fails");
        assert_string_equal(cr_error_hint(own), "leave 4 out");
        assert_string_equal(seen.text, "job '0'\njob '1'\njob '2'\njob '3'\njob '4'\n");

        w = (job_work){ .fails_at = SIZE_MAX, .fails_too = SIZE_MAX, .bytes = 600000 };
        cr_ctx_set_memory_limit(own, 800000); /* room for one at a time */
        assert_ok(own, cri_run_jobs(own, NULL, 20, count_job, &w));
        w.bytes = 900000;
        assert_fails_with(own, cri_run_jobs(own, NULL, 20, count_job, &w), CR_ENOMEM,
                          "memory limit");
        cr_ctx_set_memory_limit(own, 0);
        assert_ok(own, cri_run_jobs(own, NULL, 0, count_job, &w));
        cr_interrupt(own);
        assert_fails(own, cri_run_jobs(own, NULL, 3, count_job, &w), CR_EINTERRUPTED);
        test_context_free(own);
    }
}

/* What each of them warns of: a number of its own, some of them twice; a name of its own; a power of ten. */
static cr_status warn_job(cr_ctx *cx, void *arg, size_t j)
{
    (void)arg;
    cr_log(cx, CR_LOG_WARNING, "%zu of 7 rows were left out", j);
    if (j % 2) cr_log(cx, CR_LOG_WARNING, "%zu of 70 rows were left out", 10 * j);
    if (j < 2) cr_log(cx, CR_LOG_WARNING, "x%zu is constant", 10 + j);
    if (j == 3) cr_log(cx, CR_LOG_WARNING, "the step is %g", 1e-5);
    if (j == 4) cr_log(cx, CR_LOG_WARNING, "the step is %g", 0.5);
    if (j == 4) cr_log(cx, CR_LOG_WARNING, "the step is %g or so", 0.5);
    return CR_OK;
}

/* Warnings that differ in numbers are one, with how many jobs gave it; names are no numbers. */
TEST(gathered_warnings)
{
    for (size_t threads = 1; threads <= 5; threads += 2) {
        cr_ctx  *own = test_context();
        warnings seen = { .n = 0 };
        cr_ctx_set_threads(own, threads);
        cr_ctx_set_log(own, keep_warning, &seen);
        assert_ok(own, cri_run_jobs(own, NULL, 6, warn_job, NULL));
        assert_string_equal(seen.text, "0 of 7 rows were left out (6 of 6 times)\n"
                                       "x10 is constant\nx11 is constant\n"
                                       "the step is 1e-05 (2 of 6 times)\n"
                                       "the step is 0.5 or so\n");
        seen = (warnings){ .n = 0 };
        assert_ok(own, cri_run_jobs(own, NULL, 1, warn_job, NULL));
        assert_string_equal(seen.text, "0 of 7 rows were left out\nx10 is constant\n");
        test_context_free(own);
    }
}

TEST(child)
{
    cr_ctx *child = NULL;
    assert_ok(cx, cri_ctx_child(cx, &child));
    size_t before = cr_ctx_memory(cx);
    void  *p = cr_alloc(child, 1000, 1);
    assert_int_equal(cr_ctx_memory(cx), before + 1000);
    cr_ctx_set_memory_limit(cx, before + 1500);
    assert_null(cr_alloc(child, 1000, 1));
    assert_non_null(strstr(cr_error(child), "memory limit"));
    assert_int_equal(cr_error_status(cx), CR_OK);
    cr_free(child, p, 1000, 1);
    assert_ok(child, cr_check_interrupt(child));
    cr_interrupt(cx);
    assert_fails(child, cr_check_interrupt(child), CR_EINTERRUPTED);
    assert_true(cri_should_stop(child));
    cr_ctx_free(child);
    test_context_free(cx);
}

/* --- groups ---------------------------------------------------------------------------------- */

TEST(group_folds)
{
    enum { N = 60 };
    size_t   group[N];
    cr_folds f, again;
    for (uint64_t seed = 0; seed < 20; seed++) {
        cr_rng r = cr_rng_stream(seed, 9);
        size_t rows[4] = { 0 }, largest = 0, size[N] = { 0 };
        for (size_t i = 0; i < N; i++) size[group[i] = (size_t)cr_rng_below(&r, 12)]++;
        for (size_t g = 0; g < N; g++) largest = size[g] > largest ? size[g] : largest;
        assert_ok(cx, cr_folds_new_grouped(cx, group, N, 4, seed, &f));
        for (size_t i = 0; i < N; i++) {
            rows[f.block[i]]++;
            for (size_t j = 0; j < i; j++)
                if (group[i] == group[j]) assert_int_equal(f.block[i], f.block[j]);
        }
        for (size_t a = 0; a < 4; a++) {
            assert_true(rows[a] > 0);
            for (size_t b = 0; b < 4; b++) assert_true(rows[a] <= rows[b] + largest);
        }
        assert_ok(cx, cr_folds_new_grouped(cx, group, N, 4, seed, &again));
        assert_memory_equal(f.block, again.block, sizeof group);
        cr_folds_free(cx, &f);
        cr_folds_free(cx, &again);
    }
    for (size_t i = 0; i < N; i++) group[i] = i % 3;
    assert_fails_with(cx, cr_folds_new_grouped(cx, group, N, 4, 0, &f), CR_EARG,
                      "4 folds of 3 groups");
    assert_fails(cx, cr_folds_new_grouped(cx, group, N, 1, 0, &f), CR_EARG);
    group[3] = N;
    assert_fails_with(cx, cr_folds_new_grouped(cx, group, N, 2, 0, &f), CR_EARG,
                      "row 4 is in group 60");
}

static cr_status cross(cr_ctx *cx, const char *model, const cr_table *t, const char *settings,
                       const char *options, cr_cv *out)
{
    setting_list  s;
    cr_cv_options o = cv_of(cx, options);
    split_settings(settings, &s);
    cr_status st = cr_cross_validate(cx, model, t, s.list, s.n, &o, out);
    cr_options_free(cx, cr_cv_table, &o);
    return st;
}

/* Copies of a row in one group teach nothing: apart, they would be predicted exactly. */
TEST(groups_hold_together)
{
    enum { N = 40 };
    double X[N * 18], y[N], g[N];
    cr_rng r = cr_rng_stream(1, 2);
    cr_cv  apart, together;
    for (size_t i = 0; i < N; i++) { /* 20 rows, each twice; 18 columns of noise */
        for (size_t j = 0; j < 18; j++)
            X[i * 18 + j] = i % 2 ? X[(i - 1) * 18 + j] : cr_rng_normal(&r);
        y[i] = i % 2 ? y[i - 1] : cr_rng_normal(&r);
        g[i] = (double)(i / 2);
    }
    cr_table *t = make_table(cx, X, N, 18, y, NULL);
    assert_ok(cx, cr_table_add_numbers(cx, t, "g", CR_REAL, g, 1));
    assert_ok(cx, cross(cx, "linear", t, "target=y features=x*", "folds=5", &apart));
    assert_ok(cx, cross(cx, "linear", t, "target=y", "folds=5 group=g", &together));
    assert_true(metric_of(&apart.mean, "mae") < 0.8 * metric_of(&together.mean, "mae"));
    cr_cv_free(cx, &apart);
    cr_cv_free(cx, &together);
    assert_ok(cx, cross(cx, "linear", t, "target=y", "folds=5",
                        &apart)); /* g is no feature with --group */
    cr_cv_free(cx, &apart);
    assert_fails_with(cx, cross(cx, "linear", t, "target=y", "folds=5 group=h", &apart), CR_EDATA,
                      "column 'h' not found");
    assert_fails_with(cx,
                      cross(cx, "linear", t, "target=y", "folds=5 group=g split=ordered", &apart),
                      CR_EARG, "--split");
    assert_fails_with(cx, cross(cx, "linear", t, "target=y", "split=ordered repeats=2", &apart),
                      CR_EARG, "--repeats");
    cr_table_free(cx, t);
    g[7] = NAN;
    t = make_table(cx, X, N, 18, y, NULL);
    assert_ok(cx, cr_table_add_numbers(cx, t, "g", CR_REAL, g, 1));
    assert_fails_with(cx, cross(cx, "linear", t, "target=y", "folds=5 group=g", &apart), CR_EDATA,
                      "data.csv, row 8: column 'g' has no value");
}

/* --- repeats and classes --------------------------------------------------------------------- */

TEST(repeats)
{
    enum { N = 40, P = 3, K = 4, R = 3 };
    double X[N * P], y[N];
    draw_regression(4, N, P, 0.7, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    cr_cv     once, cv;
    assert_ok(cx, cross(cx, "ridge", t, "target=y seed=5", "folds=4", &once));
    assert_ok(cx, cross(cx, "ridge", t, "target=y seed=5", "folds=4 repeats=3", &cv));
    assert_int_equal(cv.folds, K);
    assert_int_equal(cv.repeats, R);
    assert_int_equal(cv.mean.rows, N);
    for (size_t i = 0; i < cv.mean.n; i++) {
        double mean = 0, square = 0;
        for (size_t f = 0; f < K; f++) /* the first repeat has the folds of one alone */
            assert_true(cv.fold[f].metrics[i].value == once.fold[f].metrics[i].value);
        for (size_t r = 0; r < R; r++) {
            double part[K], m = pooled(cv.fold + r * K, K, i, part);
            for (size_t f = 0; f < K; f++) square += pow(part[f] - m, 2) / (K - 1) / K / R;
            mean += m / R;
        }
        assert_close(cv.mean.metrics[i].value, mean, 1e-12);
        assert_close(cv.se[i], sqrt(square), 1e-12);
    }
    assert_true(cv.fold[0].metrics[1].value != cv.fold[K].metrics[1].value);
    cr_cv_free(cx, &once);
    cr_cv_free(cx, &cv);
}

/* The calibration error is that of bins over the rows of all folds: gaps of different folds
 * cancel. */
TEST(calibration_is_pooled)
{
    enum { N = 60, K = 5 };
    cr_table *t = class_table(cx, N, 2, 8);
    cr_cv     cv;
    double    gap[CR_CALIBRATION_BINS] = { 0 }, error = 0, mean = 0, v = 0, part[K] = { 0 };
    assert_ok(cx, cross(cx, "logistic", t, "target=y features=x* lambda=0.1", "folds=5", &cv));
    size_t m = cr_metric_find(&cv.mean, "calibration_error");
    for (size_t f = 0; f < K; f++) mean += cv.fold[f].metrics[m].value / K;
    for (size_t b = 0; b < CR_CALIBRATION_BINS; b++) {
        for (size_t f = 0; f < K; f++)
            gap[b] += (double)cv.fold[f].bins[b].count *
                      (cv.fold[f].bins[b].confidence - cv.fold[f].bins[b].accuracy) / N;
        for (size_t f = 0; f < K; f++)
            part[f] += K * (gap[b] < 0 ? -1 : 1) * (double)cv.fold[f].bins[b].count *
                       (cv.fold[f].bins[b].confidence - cv.fold[f].bins[b].accuracy) / N;
        error += fabs(gap[b]);
    }
    for (size_t f = 0; f < K; f++) v += pow(part[f] - error, 2) / (K - 1) / K;
    assert_close(cv.mean.metrics[m].value, error, 1e-13);
    assert_close(cv.se[m], sqrt(v), 1e-13);
    assert_true(error < 0.9 * mean);
    cr_cv_free(cx, &cv);
}

TEST(warnings_of_folds)
{
    warnings  seen = { .n = 0 };
    cr_table *t = class_table(cx, 30, 2, 8);
    cr_cv     cv;
    cr_ctx_set_log(cx, keep_warning, &seen);
    assert_ok(cx, cross(cx, "robust", t, "target=x1 features=x2 max_iter=1", "folds=5", &cv));
    assert_non_null(strstr(seen.text, "robust: 5 of 5 fits did not converge"));
    assert_int_equal(cv.mean.unconverged, 5);
    cr_cv_free(cx, &cv);
    seen = (warnings){ .n = 0 };
    assert_ok(cx, cross(cx, "linear", t, "target=x1 features=x2", "folds=30", &cv));
    assert_true(seen.n == 0); /* r2 is that of all rows */
    assert_true(metric_of(&cv.mean, "r2") < 1);
    cr_cv_free(cx, &cv);
    assert_ok(cx, cross(cx, "logistic", t, "target=y features=x* lambda=1", "folds=30", &cv));
    assert_non_null(strstr(seen.text, "logistic: auc is undefined in 30 of 30 folds"));
    assert_null(strstr(seen.text, "converge"));
    cr_cv_free(cx, &cv);
    seen = (warnings){ .n = 0 };
    assert_ok(cx, cross(cx, "knn", t, "target=y task=classification features=x* k=1 smoothing=0",
                        "folds=3", &cv));
    assert_non_null(strstr(seen.text, "log_loss is infinite in"));
    assert_true(isinf(metric_of(&cv.mean, "log_loss")));
    cr_cv_free(cx, &cv);
}

/* A class of few rows named by a number: every fold has its share, and every fit knows it. */
TEST(stratified_numbers)
{
    enum { N = 60 };
    cr_table *t = class_table(cx, N, 3, 8), *texts = NULL;
    cr_cv     cv, same;
    assert_ok(cx, cross(cx, "logistic", t, "target=y features=x* lambda=0.1", "folds=5", &cv));
    const cr_column *y = cr_table_find(t, "y");
    const char      *names[N];
    for (size_t i = 0; i < N; i++)
        names[i] = y->values[i] == 0 ? "0" : y->values[i] == 1 ? "1" : "2";
    assert_ok(cx, cr_table_new(cx, "texts", N, &texts));
    for (size_t k = 0; k < 2; k++) {
        const cr_column *x = cr_table_column(t, k);
        assert_ok(cx, cr_table_add_numbers(cx, texts, x->name, CR_REAL, x->values, x->stride));
    }
    assert_ok(cx, cr_table_add_texts(cx, texts, "y", names));
    assert_ok(
        cx, cross(cx, "logistic", texts, "target=y lambda=0.1", "folds=5 split=stratified", &same));
    for (size_t i = 0; i < cv.mean.n; i++)
        assert_true(cv.mean.metrics[i].value == same.mean.metrics[i].value);
    for (size_t f = 0; f < 5; f++) assert_int_equal(cv.fold[f].rows, 12);
    cr_cv_free(cx, &cv);
    cr_cv_free(cx, &same);
    cr_table_free(cx, texts);
}

TEST(threads)
{
    enum { N = 90 };
    static const size_t threads[] = { 1, 2, 3, 7 };
    cr_assessment       first[10];
    for (size_t k = 0; k < 4; k++) {
        cr_ctx *own = test_context();
        cr_ctx_set_threads(own, threads[k]);
        cr_table *t = class_table(own, N, 2, 3);
        cr_cv     cv;
        assert_ok(own, cross(own, "logistic", t, "target=y features=x*", "folds=5 repeats=2", &cv));
        for (size_t f = 0; f < 10; f++) {
            if (k == 0) first[f] = cv.fold[f];
            for (size_t i = 0; i < cv.fold[f].n; i++)
                assert_memory_equal(&first[f].metrics[i].value, &cv.fold[f].metrics[i].value,
                                    sizeof(double));
        }
        cr_cv_free(own, &cv);
        test_context_free(own);
    }
}

TEST(metrics)
{
    assert_int_equal(cr_metric_sense("log_score"), 1);
    assert_int_equal(cr_metric_sense("auc"), 1);
    assert_int_equal(cr_metric_sense("log_loss"), -1);
    assert_int_equal(cr_metric_sense("rmse"), -1);
    assert_int_equal(cr_metric_sense("coverage"), 0);
    assert_int_equal(cr_metric_sense("width"), 0);
}

/* --- what a time limit leaves ----------------------------------------------------------------- */

typedef struct warning {
    char text[512];
} warning;

static void keep_last(void *user, cr_log_level level, const char *text)
{
    if (level == CR_LOG_WARNING) snprintf(((warning *)user)->text, sizeof(warning), "%s", text);
}

/* The folds that were finished are those of a run without a limit, and a warning counts them. */
TEST(a_time_limit_leaves_folds)
{
    enum { N = 40, P = 3 };
    double  X[N * P], y[N];
    cr_cv   all, some;
    warning said = { "" };
    draw_regression(4, N, P, 0.7, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    cr_ctx_set_threads(cx, 1);
    cr_ctx_set_log(cx, keep_last, &said);
    assert_ok(cx, cross(cx, "ridge", t, "target=y seed=5", "folds=5 repeats=3", &all));
    assert_string_equal(said.text, "");

    cri_ctx_run_out_at(cx, 4); /* before the fourth */
    assert_ok(cx, cross(cx, "ridge", t, "target=y seed=5", "folds=5", &some));
    assert_non_null(strstr(said.text, "means over 3 of 5 folds"));
    assert_int_equal(some.folds, 3);
    assert_memory_equal(some.fold, all.fold, 3 * sizeof *some.fold);
    cr_cv_free(cx, &some);

    cri_ctx_run_out_at(cx, 13); /* two repeats are whole */
    assert_ok(cx, cross(cx, "ridge", t, "target=y seed=5", "folds=5 repeats=3", &some));
    assert_non_null(strstr(said.text, "means over 2 of 3 repeats"));
    assert_int_equal(some.folds, 5);
    assert_int_equal(some.repeats, 2);
    assert_memory_equal(some.fold, all.fold, 10 * sizeof *some.fold);
    cr_cv_free(cx, &some);

    cri_ctx_run_out_at(cx, 1);
    assert_fails_with(cx, cross(cx, "ridge", t, "target=y seed=5", "folds=5", &some), CR_ENOMEM,
                      "before the first of 5 folds is finished");
    assert_non_null(strstr(cr_error_hint(cx), "--time-limit"));
    cri_ctx_run_out_at(cx, 0);
    cr_ctx_set_log(cx, NULL, NULL);
    cr_cv_free(cx, &all);
}

static cr_status grouped_small(cr_ctx *cx, void *arg)
{
    const double  x[] = { 1, 2, 3, 4, 7, 5, 2, 3 }, y[] = { 0, 1, 0, 1, 1, 1, 0, 0 };
    const double  g[] = { 1, 1, 2, 2, 3, 3, 4, 4 };
    cr_setting    settings[] = { { "target", "y" }, { "lambda", "1" } };
    char          name[] = "g";
    cr_cv_options o = { .folds = 2, .interval = 0.9, .group = name };
    cr_status     st = CR_OK;
    cr_table     *t = NULL;
    cr_cv         cv = { .folds = 0 };
    (void)arg;
    cr_ctx_set_threads(cx, 1);
    CR_TRY(cr_table_new(cx, "t", 8, &t));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "g", CR_REAL, g, 1));
    CR_TRY(cr_cross_validate(cx, "logistic", t, settings, 2, &o, &cv));
    cr_cv_free(cx, &cv);
done:
    cr_table_free(cx, t);
    return st;
}

TEST(allocations) { test_every_allocation_fails(grouped_small, NULL); }
