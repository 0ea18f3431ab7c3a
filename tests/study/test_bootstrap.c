/* test_bootstrap.c -- bootstrap errors against published numbers, plain loops and their own laws;
 * learning curves against fits by hand; threshold curves against pairs. */
#include "fixture.h"
#include "base/context_internal.h"
#include "data/judge/metrics.h"
#include "data/judge/split.h"
#include "data/table/subset.h"
#include "study/bootstrap.h"
#include "study/curves.h"
#include "study/learning_curve.h"

static const cr_setting target[] = { { "target", "y" }, { "features", "x*" }, { "seed", "3" } };

/* --- bootstrap ------------------------------------------------------------------------------- */

/* Motor cars with the 200 samples of the reference: every number of Efron & Tibshirani's. */
TEST(reference)
{
    char        index_path[512];
    const char *path = test_data("classic/bootstrap_index_mtcars.csv");
    snprintf(index_path, sizeof index_path, "%s", path);
    cr_read_options    o;
    cr_table          *t = read_table(cx, test_data("tabular/mtcars.csv")), *index = NULL;
    const cr_setting   s[] = { { "target", "mpg" }, { "features", "cyl,hp,wt" } };
    cr_model_spec      spec = { "linear", s, 2 };
    size_t             n = cr_table_rows(t), *drawn = calloc(200 * n, sizeof *drawn);
    cr_bootstrap_error e;
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    FILE *first = fopen(index_path, "r");
    int   c = fgetc(first);
    fclose(first);
    assert_ok(cx,
              cr_options_set(cx, cr_read_table, &o, "header", c >= '0' && c <= '9' ? "no" : "yes"));
    assert_ok(cx, cr_table_read(cx, index_path, &o, &index));
    cr_options_free(cx, cr_read_table, &o);
    assert_int_equal(cr_table_rows(index), 200);
    assert_true(cr_table_columns(index) >= n);
    size_t skip_columns = cr_table_columns(index) - n;
    for (size_t b = 0; b < 200; b++)
        for (size_t i = 0; i < n; i++) {
            const cr_column *column = cr_table_column(index, i + skip_columns);
            drawn[b * n + i] = (size_t)column->values[b * column->stride];
        }
    assert_ok(cx, cr_bootstrap_assess(cx, &spec, t, 200, drawn, &e));
    assert_relative(e.apparent, 5.5193912562131695, 1e-8);
    assert_relative(e.leave_one_out, 8.20388384422549, 1e-8);
    assert_relative(e.err_632, 7.215990571836956, 1e-8);
    assert_relative(e.no_information, 64.8585579625664, 1e-8);
    assert_relative(e.err_632_plus, 7.244714178901685, 1e-8);
    assert_relative(e.bias + e.variance, e.leave_one_out, 1e-12);
    drawn[3] = n;
    assert_fails_with(cx, cr_bootstrap_assess(cx, &spec, t, 200, drawn, &e), CR_EARG,
                      "there are 32 rows");
    free(drawn);
    cr_table_free(cx, index);
}

/* The definitions, by loops over samples, rows and pairs of rows. */
static void check_by_loops(cr_ctx *cx, const char *model, const cr_table *t, size_t B,
                           const cr_bootstrap_error *e, bool classes)
{
    enum { MOST = 64, K = 3 };
    size_t n = cr_table_rows(t), drawn[MOST], left[MOST], m;
    double y[MOST], f[MOST], sum[MOST] = { 0 }, square[MOST] = { 0 }, loss[MOST] = { 0 },
                             count[MOST] = { 0 };
    double votes[MOST][K] = { { 0 } }, apparent = 0, gamma = 0, one = 0, bias = 0, spread = 0,
           good = 0, bad = 0;
    for (size_t b = 0; b <= B; b++) { /* the last is the fit on all rows */
        cr_table *train = NULL;
        cr_bootstrap(n, 3, b, drawn, left, &m);
        for (size_t i = 0; b == B && i < n; i++) drawn[i] = i;
        assert_ok(cx, cri_table_subset(cx, t, drawn, n, &train));
        cr_model     *fitted = fit(cx, model, train, "target=y features=x* seed=3");
        cr_prediction p = predict(cx, fitted, t);
        assert_ok(cx, cr_observed(cx, fitted, t, y, NULL));
        for (size_t i = 0; i < n; i++) {
            f[i] = classes ? 0 : p.mean[i];
            for (size_t k = 1; classes && k < p.n_classes; k++)
                if (p.prob[i * p.n_classes + k] > p.prob[i * p.n_classes + (size_t)f[i]])
                    f[i] = (double)k;
        }
        for (size_t j = 0; b < B && j < m; j++) {
            size_t i = left[j];
            count[i]++, sum[i] += f[i], square[i] += f[i] * f[i];
            loss[i] += classes ? (double)(f[i] != y[i]) : pow(y[i] - f[i], 2);
            if (classes) votes[i][(size_t)f[i]]++;
        }
        cr_table_free(cx, train);
    }
    for (size_t i = 0; i < n; i++) {
        apparent += (classes ? (double)(f[i] != y[i]) : pow(y[i] - f[i], 2)) / (double)n;
        for (size_t j = 0; j < n; j++)
            gamma += (classes ? (double)(y[i] != f[j]) : pow(y[i] - f[j], 2)) / (double)(n * n);
        one += loss[i] / count[i] / (double)n;
        double mean = sum[i] / count[i];
        size_t main = 0;
        for (size_t k = 1; k < K; k++) main = votes[i][k] > votes[i][main] ? k : main;
        if (!classes)
            bias += pow(y[i] - mean, 2) / (double)n,
                spread += (square[i] / count[i] - mean * mean) / (double)n;
        else if (main == (size_t)y[i])
            good += (1 - votes[i][main] / count[i]) / (double)n;
        else
            bias += 1.0 / (double)n, bad += votes[i][(size_t)y[i]] / count[i] / (double)n;
    }
    double low = fmin(one, gamma),
           R = one > apparent && gamma > apparent ? (low - apparent) / (gamma - apparent) : 0;
    double w = 0.632 / (1 - 0.368 * R);
    assert_close(e->apparent, apparent, 1e-12);
    assert_close(e->no_information, gamma, 1e-12);
    assert_close(e->leave_one_out, one, 1e-12);
    assert_close(e->err_632, 0.368 * apparent + 0.632 * one, 1e-12);
    assert_close(e->overfitting, R, 1e-12);
    if (one <= gamma) assert_close(e->err_632_plus, (1 - w) * apparent + w * one, 1e-12);
    assert_close(e->bias, bias, 1e-12);
    assert_close(e->variance, classes ? good - bad : spread, 1e-10);
    if (classes) assert_close(e->unbiased_variance, good, 1e-12);
    if (classes) assert_close(e->biased_variance, bad, 1e-12);
    assert_close(e->bias + e->variance, e->leave_one_out, 1e-12); /* the decomposition is whole */
}

TEST(by_loops)
{
    enum { N = 36, P = 4, B = 40 };
    double X[N * P], y[N];
    draw_regression(5, N, P, 1.5, X, y);
    cr_table          *t = make_table(cx, X, N, P, y, NULL);
    cr_model_spec      spec = { "linear", target, 3 };
    cr_bootstrap_error e, first;
    for (size_t threads = 1; threads <= 7; threads += 3) {
        cr_ctx_set_threads(cx, threads);
        assert_ok(cx, cr_bootstrap_assess(cx, &spec, t, B, NULL, &e));
        if (threads == 1) first = e;
        assert_memory_equal(&first.leave_one_out, &e.leave_one_out, sizeof(double));
        assert_memory_equal(&first.variance, &e.variance, sizeof(double));
    }
    assert_int_equal(e.unjudged, 0);
    assert_string_equal(e.loss, "squared error");
    check_by_loops(cx, "linear", t, B, &e, false);
    cr_table_free(cx, t);
    t = class_table(cx, 60, 3, 4);
    spec.model = "logistic";
    assert_ok(cx, cr_bootstrap_assess(cx, &spec, t, B, NULL, &e));
    assert_string_equal(e.loss, "error rate");
    check_by_loops(cx, "logistic", t, B, &e, true);
    assert_fails(cx, cr_bootstrap_assess(cx, &spec, t, 0, NULL, &e), CR_EARG);
}

/* The time limit leaves an answer by fewer samples: that of as many. */
TEST(a_time_limit_leaves_samples)
{
    cr_table          *t = class_table(cx, 60, 3, 4);
    cr_model_spec      spec = { "lda", target, 3 };
    cr_bootstrap_error some, few;
    warnings           said = { 0 };
    cr_ctx_set_threads(cx, 1);
    cr_ctx_set_log(cx, keep_warning, &said);
    cri_ctx_run_out_at(cx, 25);
    assert_ok(cx, cr_bootstrap_assess(cx, &spec, t, 60, NULL, &some));
    cri_ctx_run_out_at(cx, 0);
    cr_ctx_set_log(cx, NULL, NULL);
    assert_int_equal(some.samples, 24);
    assert_non_null(strstr(said.text, "the time limit ended the bootstrap: 24 of 60 samples"));
    assert_ok(cx, cr_bootstrap_assess(cx, &spec, t, 24, NULL, &few));
    assert_close(some.leave_one_out, few.leave_one_out, 1e-12);
    assert_close(some.err_632_plus, few.err_632_plus, 1e-12);
    cri_ctx_run_out_at(cx, 1);
    assert_fails_with(cx, cr_bootstrap_assess(cx, &spec, t, 60, NULL, &some), CR_ENOMEM,
                      "before the first of 60 samples");
    cri_ctx_run_out_at(cx, 0);
}

/* --- learning curves ------------------------------------------------------------------------- */

/* Points of which all folds were finished. */
TEST(a_time_limit_leaves_points)
{
    cr_table         *t = class_table(cx, 60, 2, 6);
    cr_cv_options     o = cv_of(cx, "folds=3");
    cr_model_spec     spec = { "lda", target, 3 };
    const double      shares[] = { 0.2, 0.5, 1 };
    cr_learning_curve all, some;
    warnings          said = { 0 };
    cr_ctx_set_threads(cx, 1);
    assert_ok(cx, cr_learn_curve(cx, &spec, t, shares, 3, &o, &all));
    cr_ctx_set_log(cx, keep_warning, &said);
    cri_ctx_run_out_at(cx, 9); /* two of the three folds of the last point */
    assert_ok(cx, cr_learn_curve(cx, &spec, t, shares, 3, &o, &some));
    cri_ctx_run_out_at(cx, 0);
    cr_ctx_set_log(cx, NULL, NULL);
    assert_int_equal(some.n, 2);
    assert_non_null(strstr(said.text, "2 of 3 points, up to a share of 0.5"));
    for (size_t i = 0; i < 2; i++)
        assert_close(some.points[i].test.metrics[0].value, all.points[i].test.metrics[0].value,
                     1e-12);
    cr_learning_curve_free(cx, &some);
    cr_learning_curve_free(cx, &all);
    cri_ctx_run_out_at(cx, 3);
    assert_fails_with(cx, cr_learn_curve(cx, &spec, t, shares, 3, &o, &some), CR_ENOMEM,
                      "before the first of 3 points");
    cri_ctx_run_out_at(cx, 0);
}

TEST(learning_curve)
{
    enum { N = 60 };
    cr_table         *t = class_table(cx, N, 2, 6);
    cr_cv_options     o = cv_of(cx, "folds=3");
    const cr_setting  s[] = { { "target", "y" }, { "features", "x*" }, { "lambda", "1" } };
    cr_model_spec     spec = { "logistic", s, 3 };
    const double      shares[] = { 0.2, 0.5, 1 };
    cr_learning_curve c, again;
    cr_cv             cv;
    assert_ok(cx, cr_learn_curve(cx, &spec, t, shares, 3, &o, &c));
    assert_int_equal(c.n, 3);
    assert_int_equal(c.points[0].rows, 8);
    assert_int_equal(c.points[1].rows, 20);
    assert_int_equal(c.points[2].rows, 40);
    assert_ok(cx,
              cr_cross_validate(cx, "logistic", t, s, 3, &o, &cv)); /* all rows: cross-validation */
    for (size_t m = 0; m < cv.mean.n; m++) {
        assert_close(c.points[2].test.metrics[m].value, cv.mean.metrics[m].value, 1e-7);
        assert_close(c.points[2].test_se[m], cv.se[m], 1e-6);
    }
    assert_true(metric_of(&c.points[0].train, "log_loss") > 0);
    cr_ctx_set_threads(cx, 3);
    assert_ok(cx, cr_learn_curve(cx, &spec, t, shares, 2, &o, &again));
    for (size_t i = 0; i < 2; i++) /* fewer shares, other threads: the same rows */
        assert_memory_equal(&c.points[i].test.metrics[0].value,
                            &again.points[i].test.metrics[0].value, sizeof(double));
    cr_learning_curve_free(cx, &again);
    cr_learning_curve_free(cx, &c);
    cr_cv_free(cx, &cv);
    const double falling[] = { 0.5, 0.2 }, beyond[] = { 1.5 };
    assert_fails_with(cx, cr_learn_curve(cx, &spec, t, falling, 2, &o, &c), CR_EARG,
                      "must increase");
    assert_fails(cx, cr_learn_curve(cx, &spec, t, beyond, 1, &o, &c), CR_EARG);
    assert_fails(cx, cr_learn_curve(cx, &spec, t, shares, 0, &o, &c), CR_EARG);
}

/* --- threshold curves ------------------------------------------------------------------------ */

TEST(threshold_curves)
{
    enum { N = 40 };
    for (uint64_t seed = 0; seed < 20; seed++) {
        cr_rng             r = cr_rng_stream(seed, 3);
        double             score[2 * N], w[N], auc, precision = 0, before = 0;
        bool               is[N];
        uint32_t           codes[N];
        cr_threshold_curve c;
        for (size_t i = 0; i < N; i++) {
            score[2 * i] = (double)cr_rng_below(&r, 12) / 12; /* many ties */
            is[i] = cr_rng_uniform(&r) < 0.2 + 0.6 * score[2 * i];
            codes[i] = is[i];
            w[i] = 0.5 + cr_rng_uniform(&r);
        }
        assert_ok(cx, cr_threshold_curve_of(cx, score, 2, is, w, N, &c));
        assert_ok(cx, cr_auc(cx, score, 2, codes, 1, N, w, &auc)); /* by ranks, not by area */
        assert_close(c.auc, auc, 1e-12);
        assert_true(isinf(c.threshold[0]) && c.recall[0] == 0 && c.precision[0] == 1);
        assert_close(c.recall[c.n - 1], 1, 1e-12);
        assert_close(c.false_positive[c.n - 1], 1, 1e-12);
        for (size_t k = 1; k < c.n; k++) { /* each point by counting at its threshold */
            double tp = 0, fp = 0, p = 0, n = 0;
            for (size_t i = 0; i < N; i++) {
                *(is[i] ? &p : &n) += w[i];
                if (score[2 * i] >= c.threshold[k]) *(is[i] ? &tp : &fp) += w[i];
            }
            assert_close(c.recall[k], tp / p, 1e-12);
            assert_close(c.false_positive[k], fp / n, 1e-12);
            assert_close(c.precision[k], tp / (tp + fp), 1e-12);
            precision += (tp / p - before) * tp / (tp + fp);
            before = tp / p;
        }
        assert_close(c.average_precision, precision, 1e-12);
        cr_threshold_curve_free(cx, &c);
    }
    const double       s[] = { 1, NAN };
    const bool         both[] = { true, false }, same[] = { true, true };
    cr_threshold_curve c;
    assert_fails(cx, cr_threshold_curve_of(cx, s, 1, both, NULL, 2, &c), CR_EDATA);
    assert_fails_with(cx, cr_threshold_curve_of(cx, s, 1, same, NULL, 1, &c), CR_EDATA,
                      "the same kind");
}

static cr_status assess_small(cr_ctx *cx, void *arg)
{
    const double       x[] = { 1, 2, 3, 4, 7, 5, 8, 9 }, y[] = { 0, 1, 0, 1, 1, 1, 0, 1 };
    const cr_setting   s[] = { { "target", "y" }, { "lambda", "1" } };
    cr_model_spec      spec = { "logistic", s, 2 };
    cr_cv_options      o = { .folds = 2, .interval = 0.9 };
    const double       shares[] = { 1 };
    const bool         is[] = { true, false, true };
    cr_status          st = CR_OK;
    cr_table          *t = NULL;
    cr_bootstrap_error e;
    cr_learning_curve  c;
    cr_threshold_curve k;
    (void)arg;
    cr_ctx_set_threads(cx, 1);
    CR_TRY(cr_table_new(cx, "t", 8, &t));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(cr_threshold_curve_of(cx, x, 1, is, NULL, 3, &k));
    cr_threshold_curve_free(cx, &k);
    CR_TRY(cr_bootstrap_assess(cx, &spec, t, 2, NULL, &e));
    CR_TRY(cr_learn_curve(cx, &spec, t, shares, 1, &o, &c));
    cr_learning_curve_free(cx, &c);
done:
    cr_table_free(cx, t);
    return st;
}

TEST(allocations) { test_every_allocation_fails(assess_small, NULL); }
