/* test_tune.c -- searches against loops over their candidates, and what is refused. */
#include "fixture.h"
#include "base/context_internal.h"
#include "study/tune.h"

enum { N = 45, P = 3 };

static const cr_setting target[] = { { "target", "y" }, { "seed", "3" } };

static cr_table *regression(cr_ctx *cx)
{
    double X[N * P], y[N];
    draw_regression(21, N, P, 1.1, X, y);
    return make_table(cx, X, N, P, y, NULL);
}

/* "over=a over=b rule=1se": the options of a search. */
static cr_tune_options tune_of(cr_ctx *cx, const char *text)
{
    cr_tune_options o;
    setting_list    s;
    split_settings(text, &s);
    assert_ok(cx, cr_options_init(cx, cr_tune_table, &o));
    for (size_t i = 0; i < s.n; i++)
        assert_ok(cx, cr_options_set(cx, cr_tune_table, &o, s.list[i].name, s.list[i].value));
    return o;
}

static cr_status tune(cr_ctx *cx, const char *model, const cr_table *t, const char *options,
                      cr_tuning *out)
{
    cr_model_spec   spec = { model, target, 2 };
    cr_tune_options o = tune_of(cx, options);
    cr_cv_options   cv = cv_of(cx, "folds=5");
    cr_status       st = cr_tune(cx, &spec, t, &o, &cv, out);
    cr_options_free(cx, cr_tune_table, &o);
    return st;
}

/* Every combination by itself, cross-validated with the same settings. */
TEST(grid_is_exhaustive)
{
    static const char *const lambdas[] = { "0.01", "1", "100" }, *const bases[] = { "poly:1",
                                                                                    "poly:2" };
    cr_table     *t = regression(cx);
    cr_cv_options o = cv_of(cx, "folds=5");
    cr_tuning     x;
    size_t        best = 0;
    double        most = -INFINITY, se_of_best = 0, scores[6];
    assert_ok(cx, tune(cx, "ridge", t, "over=lambda=0.01..100:log:3 over=basis=poly:1|poly:2", &x));
    assert_int_equal(x.n, 6);
    assert_int_equal(x.dimensions, 2);
    for (size_t i = 0; i < 6; i++) {
        const cr_setting all[] = {
            target[0], target[1], { "lambda", lambdas[i / 2] }, { "basis", bases[i % 2] }
        };
        cr_cv cv;
        assert_string_equal(x.candidates[i].settings[0].name, "lambda");
        assert_string_equal(x.candidates[i].settings[0].value, lambdas[i / 2]);
        assert_string_equal(x.candidates[i].settings[1].value, bases[i % 2]);
        assert_ok(cx, cr_cross_validate(cx, "ridge", t, all, 4, &o, &cv));
        for (size_t m = 0; m < cv.mean.n; m++) {
            assert_true(cv.mean.metrics[m].value == x.candidates[i].mean.metrics[m].value);
            assert_true(cv.se[m] == x.candidates[i].se[m]);
        }
        scores[i] = metric_of(&cv.mean, "log_score");
        if (scores[i] > most) best = i, most = scores[i], se_of_best = cv.se[0];
        cr_cv_free(cx, &cv);
    }
    assert_int_equal(x.best, best);
    assert_int_equal(x.chosen, best);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(x.candidates[i].within, scores[i] >= most - se_of_best);
        assert_true(isnan(x.candidates[i].apparent));
    }
    cr_tuning_free(cx, &x);
    assert_ok(cx, tune(cx, "ridge", t, "over=lambda=0.01..100:log:3 metric=rmse",
                       &x)); /* less is better */
    for (size_t i = 0; i < x.n; i++)
        assert_true(metric_of(&x.candidates[x.best].mean, "rmse") <=
                    metric_of(&x.candidates[i].mean, "rmse"));
    cr_tuning_free(cx, &x);
}

/* Of those within one standard error, the one whose own rows it fits worst: the largest penalty. */
/* Candidates all whose folds were finished in time; of the others nothing is said. */
TEST(a_time_limit_leaves_candidates)
{
    static const char *const over = "over=lambda=0.01..100:log:4 rule=1se";
    cr_table                *t = regression(cx);
    cr_tuning                all, some;
    cr_ctx_set_threads(cx, 1);
    assert_ok(cx, tune(cx, "ridge", t, over, &all));
    cri_ctx_run_out_at(cx, 5 * 2 + 4); /* in the third of them */
    assert_ok(cx, tune(cx, "ridge", t, over, &some));
    assert_int_equal(some.n, 2);
    assert_int_equal(some.chosen, some.best);
    assert_memory_equal(some.fold, all.fold, 10 * sizeof *some.fold);
    cr_tuning_free(cx, &some);
    cri_ctx_run_out_at(cx, 3);
    assert_fails_with(cx, tune(cx, "ridge", t, over, &some), CR_ENOMEM,
                      "before the first of 4 candidates is finished");
    cri_ctx_run_out_at(cx, 0);
    cr_tuning_free(cx, &all);
}

TEST(one_standard_error)
{
    cr_table *t = regression(cx);
    cr_tuning x;
    assert_ok(cx, tune(cx, "ridge", t, "over=lambda=0.01..1000:log:9 rule=1se", &x));
    size_t last = 0, within = 0;
    for (size_t i = 0; i < x.n; i++) {
        if (x.candidates[i].within) last = i, within++;
        assert_int_equal(isnan(x.candidates[i].apparent), !x.candidates[i].within);
    }
    assert_true(within > 1 && last > x.best);
    assert_int_equal(x.chosen, last);
    cr_tuning_free(cx, &x);
    assert_ok(cx,
              tune(cx, "ridge", t, "over=lambda=1000..0.01:log:9 rule=1se", &x)); /* in any order */
    assert_int_equal(x.chosen, x.n - 1 - last);
    cr_tuning_free(cx, &x);
}

TEST(random_search)
{
    cr_table   *t = regression(cx);
    cr_tuning   x, again;
    const char *options =
        "over=lambda=0.01..100:log over=basis=poly:1|poly:2 search=random draws=40";
    size_t low = 0, first = 0;
    assert_ok(cx, tune(cx, "ridge", t, options, &x));
    assert_ok(cx, tune(cx, "ridge", t, options, &again));
    assert_int_equal(x.n, 40);
    for (size_t i = 0; i < 40; i++) {
        double lambda = atof(x.candidates[i].settings[0].value);
        assert_true(lambda >= 0.01 && lambda <= 100);
        low += lambda < 1;
        first += strcmp(x.candidates[i].settings[1].value, "poly:1") == 0;
        assert_string_equal(x.candidates[i].settings[0].value,
                            again.candidates[i].settings[0].value);
        assert_true(i == 0 || strcmp(x.candidates[i].settings[0].value,
                                     x.candidates[i - 1].settings[0].value));
    }
    assert_in_range(low, 10, 30); /* even in the logarithm: half of them below 1 */
    assert_in_range(first, 10, 30);
    assert_int_equal(x.chosen, again.chosen);
    cr_tuning_free(cx, &x);
    cr_tuning_free(cx, &again);
}

TEST(values)
{
    cr_table                *t = regression(cx);
    cr_tuning                x;
    static const char *const tenths[] = { "0.1", "0.2", "0.3", "0.4", "0.5" }, *const counts[] = {
        "2", "3", "4"
    };
    assert_ok(cx, tune(cx, "ridge", t, "over=lambda=0.1..0.5:5", &x));
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(x.candidates[i].settings[0].value, tenths[i]);
    cr_tuning_free(cx, &x);
    assert_ok(cx, tune(cx, "ridge", t, "over=seed=2..4", &x)); /* whole numbers, none twice */
    assert_int_equal(x.n, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(x.candidates[i].settings[0].value, counts[i]);
    cr_tuning_free(cx, &x);
    assert_ok(cx, tune(cx, "ridge", t, "over=seed=2..4 search=random draws=30", &x));
    size_t seen[5] = { 0 };
    assert_int_equal(x.n, 3); /* all there are, each once */
    for (size_t i = 0; i < 3; i++) seen[atoi(x.candidates[i].settings[0].value)]++;
    assert_true(seen[2] == 1 && seen[3] == 1 && seen[4] == 1);
    cr_tuning_free(cx, &x);
    assert_ok(cx,
              tune(cx, "ridge", t,
                   "over=seed=2..9 over=basis=poly:1|poly:2|poly:3 search=random draws=20", &x));
    assert_int_equal(x.n, 20); /* of 24 */
    for (size_t i = 0; i < x.n; i++)
        for (size_t j = 0; j < i; j++) {
            const cr_setting *a = x.candidates[i].settings, *b = x.candidates[j].settings;
            assert_true(strcmp(a[0].value, b[0].value) != 0 || strcmp(a[1].value, b[1].value) != 0);
        }
    for (size_t i = 0; i < x.n; i++) { /* the folds are those of the mean */
        double sum = 0;
        for (size_t f = 0; f < 5; f++) sum += x.fold[i * 5 + f].metrics[x.metric].value / 5;
        assert_relative(sum, x.candidates[i].mean.metrics[x.metric].value, 1e-12);
    }
    cr_tuning_free(cx, &x);
}

TEST(refusals)
{
    cr_table *t = regression(cx);
    cr_tuning x = { .n = 4711 };
    const struct {
        const char *model, *options, *text;
    } wrong[] = {
        { "ridge", "rule=best", "--over is missing" },
        { "ridge", "over=lambda", "is not NAME=VALUES" },
        { "ridge", "over==3", "is not NAME=VALUES" },
        { "ridge", "over=lamda=1..3", "no setting 'lamda'" },
        { "ridge", "over=lambda=1..1", "the same" },
        { "ridge", "over=lambda=0..1:log", "above 0" },
        { "ridge", "over=lambda=1..2:1", "at least 2" },
        { "ridge", "over=lambda=1..2:cubic", "at least 2" },
        { "ridge", "over=basis=1..2", "numeric settings" },
        { "ridge", "over=lambda=1|2 over=lambda=3|4", "twice" },
        { "ridge", "over=lambda=1|x", "lambda" },
        { "ridge", "over=lambda=1|2 metric=rmsee", "no score 'rmsee'" },
        { "ridge", "over=lambda=1|2 metric=coverage", "has no best direction" },
        { "ridge", "over=lambda=1..2:100000 over=alpha=1", "setting 'alpha'" },
        { "ridge", "over=lambda=1..2:100000 over=seed=1..100000:100000", "more than 1000000" },
        { "ridge", "search=random over=seed=1..1e30", "go up to 9007199254740992" },
        { "rdge", "over=lambda=1|2", "no model 'rdge'" },
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        cr_status st = tune(cx, wrong[k].model, t, wrong[k].options, &x);
        check_status(cx, st, CR_EARG, wrong[k].text, wrong[k].options, __FILE__, __LINE__);
        assert_int_equal(x.n, 4711);
    }
    cr_table_free(cx, t);
    t = table_of_text(cx, "flat.csv", "x,y\n1,a\n2,b\n3,a\n4,b\n5,a\n6,b\n7,a\n8,b\n9,a\n10,b\n");
    assert_fails(cx, tune(cx, "logistic", t, "over=lambda=1|2 over=class_weights=balanced|c=1", &x),
                 CR_EARG);
    assert_non_null(
        strstr(cr_error_notes(cx), "with class_weights = c=1")); /* which candidate it was */
}

TEST(threads)
{
    double first = 0;
    for (size_t threads = 1; threads <= 7; threads += 3) {
        cr_ctx   *own = test_context();
        cr_table *t = regression(own);
        cr_tuning x;
        cr_ctx_set_threads(own, threads);
        assert_ok(own, tune(own, "ridge", t, "over=lambda=0.1..10:log:4 rule=1se", &x));
        double score = x.candidates[x.chosen].apparent;
        if (threads == 1) first = score;
        assert_memory_equal(&first, &score, sizeof score);
        cr_tuning_free(own, &x);
        test_context_free(own);
    }
}

static cr_status tune_small(cr_ctx *cx, void *arg)
{
    const double    x[] = { 1, 2, 3, 4, 7, 5, 8, 9 }, y[] = { 2, 1, 3, 5, 4, 9, 8, 7 };
    char            over[] = "lambda=1..2:log:2";
    cr_model_spec   spec = { "ridge", target, 2 };
    cr_cv_options   cv = { .folds = 2, .interval = 0.9 };
    cr_tune_options o = { .over = over, .draws = 2, .rule = CR_RULE_1SE };
    cr_status       st = CR_OK;
    cr_table       *t = NULL;
    cr_tuning       tuned;
    (void)arg;
    cr_ctx_set_threads(cx, 1);
    CR_TRY(cr_table_new(cx, "t", 8, &t));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(cr_tune(cx, &spec, t, &o, &cv, &tuned));
    cr_tuning_free(cx, &tuned);
done:
    cr_table_free(cx, t);
    return st;
}

TEST(allocations) { test_every_allocation_fails(tune_small, NULL); }
