/* test_log_joint.c -- log p(row, class) of generative classifiers: it is normalised over all rows
 * there can be, it adds up to the likelihood of the report, and its shares are the probabilities. */
#include "../../data/sparse_fixture.h"
#include "classes.h"
#include "math/special/special.h"
#include "models/core/parts.h"

enum { n = 60, p = 3, K = 3 };

/* The rows, and log joints of them [n x K]. */
typedef struct problem {
    double    X[n * p], y[n], w[n], joint[n * K];
    cr_table *t;
} problem;

static void draw(cr_ctx *cx, problem *d, bool counts)
{
    draw_classes(4, n, p, K, d->X, d->y, d->w);
    for (size_t i = 0; counts && i < n * p; i++) d->X[i] = floor(fabs(d->X[i]));
    d->t = make_table(cx, d->X, n, p, d->y, d->w);
}

/* The joint of each row with its own class adds up to the likelihood, which is made of moments. */
TEST(adds_up_to_the_likelihood)
{
    static const struct {
        const char *model, *settings;
        bool        counts;
    } cases[] = {
        { "lda", "target=y features=x*", false },
        { "lda", "target=y features=x* weights=w shrinkage=0.3", false },
        { "qda", "target=y features=x* weights=w", false },
        { "qda", "target=y features=x* pool=0.5 priors=uniform", false },
        { "naive-bayes", "target=y features=x* weights=w predictive=plugin", false },
        { "naive-bayes", "target=y features=x* numbers=poisson predictive=plugin", true },
        { "naive-bayes", "target=y features=x* weights=w numbers=multinomial", true },
        { "naive-bayes", "target=y features=x* numbers=bernoulli:2.5", true },
        { "naive-bayes",
          "target=y features=x* numbers=gaussian,x1=poisson,x2=bernoulli:5 predictive=plugin",
          true },
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        problem d;
        double  sum = 0;
        draw(cx, &d, cases[c].counts);
        cr_model *m = fit(cx, cases[c].model, d.t, cases[c].settings);
        bool      weights = strstr(cases[c].settings, "weights") != NULL;
        assert_ok(cx, cr_predict_log_joint(cx, m, d.t, d.joint));
        for (size_t i = 0; i < n; i++)
            sum += (weights ? d.w[i] : 1) * d.joint[i * K + (size_t)d.y[i]];
        assert_relative(sum, cr_model_get_report(m)->log_likelihood, 1e-12);
    }
}

/* joint_k / sum of joints = p(k | x), also where the probabilities are made by a shorter road. */
TEST(shares_are_the_probabilities)
{
    static const char *const cases[] = {
        "lda target=y features=x*",
        "lda target=y features=x* predictive=bayes",
        "qda target=y features=x* weights=w",
        "qda target=y features=x* predictive=bayes",
        "naive-bayes target=y features=x* predictive=bayes",
        "naive-bayes target=y features=x* numbers=gaussian,x1=poisson",
        "naive-bayes target=y features=x* numbers=kernel",
        "naive-bayes target=y features=x* numbers=multinomial predictive=bayes",
        "naive-bayes target=y features=x* numbers=poisson predictive=bayes"
    };
    problem d;
    draw(cx, &d, true);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const char *space = strchr(cases[c], ' ');
        char        name[32];
        snprintf(name, sizeof name, "%.*s", (int)(space - cases[c]), cases[c]);
        cr_model     *m = fit(cx, name, d.t, space + 1);
        cr_prediction f = predict(cx, m, d.t);
        assert_ok(cx, cr_predict_log_joint(cx, m, d.t, d.joint));
        for (size_t i = 0; i < n; i++) {
            double all = cr_logsumexp(d.joint + i * K, K);
            for (size_t k = 0; k < K; k++)
                assert_close(exp(d.joint[i * K + k] - all), f.prob[i * K + k], 1e-10);
        }
        for (size_t threads = 1; threads <= 4; threads *= 2) {
            double again[n * K];
            cr_ctx_set_threads(cx, threads);
            assert_ok(cx, cr_predict_log_joint(cx, m, d.t, again));
            assert_memory_equal(d.joint, again, sizeof again);
        }
    }
}

/* sum of p(x, k) over k and over a grid of rows X [rows x columns], each standing for `cell`. */
static double mass(cr_ctx *cx, const cr_model *m, const double *X, size_t rows, size_t columns,
                   double cell)
{
    double   *joint = malloc(rows * K * sizeof *joint), *y = calloc(rows, sizeof *y), sum = 0;
    cr_table *t = make_table(cx, X, rows, columns, y, NULL);
    assert_ok(cx, cr_predict_log_joint(cx, m, t, joint));
    for (size_t i = 0; i < rows * K; i++) sum += exp(joint[i]) * cell;
    free(joint), free(y);
    return sum;
}

/* Densities integrate to one: two columns, on a grid that sees nearly all of Student's tails. */
TEST(densities_integrate_to_one)
{
    enum { SIDE = 260, COLUMNS = 2 };
    static const char *const cases[][2] = {
        { "lda", "target=y features=x*" },
        { "lda", "target=y features=x* predictive=bayes" },
        { "qda", "target=y features=x*" },
        { "qda", "target=y features=x* predictive=bayes" },
        { "naive-bayes", "target=y features=x*" },
        { "naive-bayes", "target=y features=x* predictive=bayes" },
        { "naive-bayes", "target=y features=x* predictive=shrunk" },
        { "naive-bayes", "target=y features=x* numbers=kernel" },
    };
    double X[n * COLUMNS], y[n], w[n], *grid = malloc(SIDE * SIDE * COLUMNS * sizeof *grid);
    double step = 0.24;
    draw_classes(9, n, COLUMNS, K, X, y, w);
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        grid[COLUMNS * i] = ((double)(i / SIDE) - SIDE / 2) * step;
        grid[COLUMNS * i + 1] = ((double)(i % SIDE) - SIDE / 2) * step;
    }
    cr_table *t = make_table(cx, X, n, COLUMNS, y, NULL);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        cr_model *m = fit(cx, cases[c][0], t, cases[c][1]);
        assert_close(mass(cx, m, grid, SIDE * SIDE, COLUMNS, step * step), 1, 1e-6);
    }
    free(grid);
}

/* Probabilities of counts sum to one: Poisson's over all rows, multinomial ones over all rows of
 * one total, the Dirichlet's and Gamma's averages of them as well. */
TEST(counts_sum_to_one)
{
    enum { COLUMNS = 3, TOTAL = 7, MOST = 50 };
    problem d;
    double  of_total[COLUMNS * (TOTAL + 1) * (TOTAL + 2) / 2], *all;
    size_t  rows = 0;
    draw(cx, &d, true);
    for (size_t a = 0; a <= TOTAL; a++)
        for (size_t b = 0; a + b <= TOTAL; b++, rows++) {
            double *x = of_total + COLUMNS * rows;
            x[0] = (double)a, x[1] = (double)b, x[2] = (double)(TOTAL - a - b);
        }
    all = malloc(MOST * MOST * MOST * COLUMNS * sizeof *all);
    for (size_t i = 0; i < MOST * MOST * MOST; i++) {
        all[COLUMNS * i] = (double)(i / MOST / MOST);
        all[COLUMNS * i + 1] = (double)(i / MOST % MOST);
        all[COLUMNS * i + 2] = (double)(i % MOST);
    }
    static const char *const predictive[] = { "plugin", "bayes", "shrunk" };
    for (size_t v = 0; v < 3; v++) {
        char settings[128];
        snprintf(settings, sizeof settings,
                 "target=y features=x* numbers=multinomial predictive=%s", predictive[v]);
        assert_close(mass(cx, fit(cx, "naive-bayes", d.t, settings), of_total, rows, COLUMNS, 1), 1,
                     1e-12);
        snprintf(settings, sizeof settings, "target=y features=x* numbers=poisson predictive=%s",
                 predictive[v]);
        assert_close(
            mass(cx, fit(cx, "naive-bayes", d.t, settings), all, MOST * MOST * MOST, COLUMNS, 1), 1,
            1e-9);
    }
    free(all);
}

/* Sparse rows, with gaps: as written out. */
TEST(sparse_rows)
{
    static const char *const numbers[] = { "gaussian", "poisson", "multinomial", "bernoulli" };
    sparse_data              d = draw_sparse(3, n, p, 0.5);
    double                   dense[n * K], sparse[n * K];
    for (size_t i = 0; i < n * p; i++) d.X[i] = i % 17 == 5 ? NAN : floor(fabs(3 * d.X[i]));
    for (size_t i = 0; i < n; i++) d.y[i] = (double)(i % K);
    compress(&d);
    cr_table                *s = table_of(cx, &d, true), *t = table_of(cx, &d, false);
    static const char *const predictive[] = { "plugin", "bayes", "shrunk" };
    for (size_t c = 0; c < 12; c++) {
        char settings[128];
        snprintf(settings, sizeof settings, "target=y features=x* numbers=%s predictive=%s",
                 numbers[c / 3], predictive[c % 3]);
        cr_model *m = fit(cx, "naive-bayes", t, settings);
        assert_ok(cx, cr_predict_log_joint(cx, m, s, sparse));
        assert_ok(cx, cr_predict_log_joint(cx, m, t, dense));
        for (size_t i = 0; i < n * K; i++) assert_close(sparse[i], dense[i], 1e-11);
    }
    cr_table_free(cx, s);
    cr_table_free(cx, t);
    free_sparse(&d);
}

/* A row too far away for doubles is impossible, never NaN; one with a gap has no answer from lda. */
TEST(far_rows_and_gaps)
{
    static const char *const names[] = { "lda", "qda", "naive-bayes" };
    problem                  d;
    double    far[] = { 1e200, -1e300, 1e160, NAN, 0, 0 }, y[2] = { 0 }, joint[2 * K];
    cr_table *t = make_table(cx, far, 2, p, y, NULL);
    draw(cx, &d, false);
    for (size_t c = 0; c < 3; c++) {
        cr_model *m = fit(cx, names[c], d.t,
                          c < 2 ? "target=y features=x* missing=drop" : "target=y features=x*");
        assert_ok(cx, cr_predict_log_joint(cx, m, t, joint));
        for (size_t k = 0; k < K; k++) {
            assert_true(joint[k] == -INFINITY);
            assert_true(c < 2 ? isnan(joint[K + k]) : isfinite(joint[K + k]));
        }
    }
    cr_model *m = fit(cx, "logistic", d.t, "target=y features=x*");
    assert_fails_with(cx, cr_predict_log_joint(cx, m, t, joint), CR_EUNSUPPORTED,
                      "the model logistic has no distribution of the columns");
}

static cr_status ask(cr_ctx *cx, void *arg)
{
    problem  *d = arg;
    cr_status st = CR_OK;
    cr_model *m = NULL;
    CR_TRY(try_fit(cx, "qda", d->t, "target=y features=x*", &m));
    CR_TRY(cr_predict_log_joint(cx, m, d->t, d->joint));
    cr_model_free(cx, m);
    m = NULL;
    CR_TRY(try_fit(cx, "naive-bayes", d->t, "target=y features=x*", &m));
    CR_TRY(cr_predict_log_joint(cx, m, d->t, d->joint));
done:
    cr_model_free(cx, m);
    return st;
}

TEST(allocations)
{
    problem d;
    draw(cx, &d, false);
    test_every_allocation_fails(ask, &d);
}
