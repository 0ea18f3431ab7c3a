/* test_kinds.c -- the figures that judge a model: sound SVG, text that shows the numbers, refusals.
 */
#include "../study/fixture.h"
#include "wellformed.h"
#include "plot/chart.h"
#include "plot/kinds.h"
#include "study/curves.h"

static const char *figure_path(void)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/figure.svg", test_directory());
    return path;
}

static void check_kind(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                       const char *says)
{
    char *text = NULL;
    assert_ok(cx, cr_plot(cx, m, t, kind, 0.9, figure_path()));
    char *svg = load_text(figure_path());
    assert_wellformed(svg);
    assert_non_null(strstr(svg, says));
    free(svg);
    assert_ok(cx, cr_plot_text(cx, m, t, kind, 0.9, 50, 15, &text));
    assert_non_null(strstr(text, says));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n");
        assert_true(length == 0 || line[length - 1] != ' ' ||
                    strstr(line, "+") == line); /* no blanks behind */
    }
    cr_free(cx, text, strlen(text) + 1, 1);
}

TEST(classes)
{
    for (size_t K = 2; K <= 3; K++) {
        cr_table *t = class_table(cx, 90, K, 3);
        cr_model *m = fit(cx, "logistic", t, "target=y features=x* lambda=0.1");
        char      auc[64];
        if (K == 2) { /* the number in the legend is that of the metric */
            cr_assessment a;
            assert_ok(cx, cr_evaluate(cx, m, t, 0.9, &a));
            snprintf(auc, sizeof auc, "1: AUC %.3f", metric_of(&a, "auc"));
        }
        check_kind(cx, m, t, CR_PLOT_ROC, K == 2 ? auc : "2: AUC");
        check_kind(cx, m, t, CR_PLOT_PR, K == 2 ? "1: AP 0." : "0: AP 0.");
        check_kind(cx, m, t, CR_PLOT_CALIBRATION,
                   K == 2 ? "probability of y = 1" : "the most probable y");
        check_kind(cx, m, t, CR_PLOT_LEARNING_CURVE, "log_loss");
        assert_fails_with(cx, cr_plot(cx, m, t, CR_PLOT_RESIDUALS, 0.9, figure_path()),
                          CR_EUNSUPPORTED, "predicts classes");
    }
}

TEST(numbers)
{
    enum { N = 2500, P = 2 };
    double *X = calloc(N * P, sizeof *X), *y = calloc(N, sizeof *y);
    draw_regression(5, N, P, 0.8, X, y);
    y[7] = NAN;
    cr_table *t = make_table(cx, X, N, P, y, NULL), *few = make_table(cx, X, 30, P, y, NULL);
    cr_model *m = fit(cx, "linear", t, "target=y missing=drop");
    check_kind(cx, m, t, CR_PLOT_RESIDUALS, "2000 of the 2499 rows");
    check_kind(cx, m, few, CR_PLOT_RESIDUALS, "90 % of the residuals");
    check_kind(cx, m, few, CR_PLOT_LEARNING_CURVE, "log_score");
    assert_fails_with(cx, cr_plot(cx, m, t, CR_PLOT_ROC, 0.9, figure_path()), CR_EUNSUPPORTED,
                      "for classes");
    assert_fails_with(cx, cr_plot(cx, m, t, CR_PLOT_CALIBRATION, 0.9, figure_path()),
                      CR_EUNSUPPORTED, "for classes");
    assert_fails(cx, cr_plot(cx, m, t, CR_PLOT_RESIDUALS, 1, figure_path()), CR_EARG);
    char *text = NULL;
    assert_fails(cx, cr_plot_text(cx, m, t, CR_PLOT_RESIDUALS, 0.9, 1, 20, &text), CR_EARG);
    assert_null(text);
    free(X);
    free(y);
}

/* The path of a lasso: every number of terms on top, what was chosen below; no other model has
 * one. */
TEST(path)
{
    enum { N = 60, P = 9 };
    double X[N * P], y[N];
    draw_regression(8, N, P, 0.8, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    cr_model *m = fit(cx, "lasso", t, "target=y path=30 cv-folds=5");
    json_t   *d = describe(cx, m);
    char      says[80];
    snprintf(says, sizeof says, "lambda %.4g with %.0f of 9 terms", statistic(d, "lambda"),
             statistic(d, "nonzero"));
    check_kind(cx, m, NULL, CR_PLOT_PATH, says);
    snprintf(says, sizeof says, "up to %.4g", statistic(d, "lambda_1se"));
    check_kind(cx, m, t, CR_PLOT_PATH, says);
    check_kind(cx, m, NULL, CR_PLOT_PATH, "one standard error");
    check_kind(cx, m, NULL, CR_PLOT_PATH, "4 more");
    assert_fails_with(cx, cr_plot(cx, m, NULL, CR_PLOT_RESIDUALS, 0.9, figure_path()), CR_EARG,
                      "needs data");
    cr_model_free(cx, m);
    const char *const settings[] = { "target=y lambda=0", "target=y lambda=0.3 scale=none",
                                     "target=y path=1", "target=y choose=1se",
                                     "target=y lambda=1e9" };
    for (size_t i = 0; i < 5; i++) { /* one lambda, lambda 0, no term at all */
        m = fit(cx, "lasso", t, settings[i]);
        check_kind(cx, m, NULL, CR_PLOT_PATH, i == 3 ? "smallest error" : "log lambda");
        cr_model_free(cx, m);
    }
    m = fit(cx, "ridge", t, "target=y");
    assert_fails_with(cx, cr_plot(cx, m, NULL, CR_PLOT_PATH, 0.9, figure_path()), CR_EUNSUPPORTED,
                      "has no path");
}

/* The curves of the figure are those of the path: the largest coefficient where it should be. */
TEST(path_values)
{
    enum { N = 50 };
    cr_scratch s = cr_scratch_begin(cx);
    double     X[N * 2], y[N];
    cri_chart  c;
    draw_regression(3, N, 2, 0.1, X, y);
    cr_table *t = make_table(cx, X, N, 2, y, NULL);
    cr_model *m = fit(cx, "lasso", t, "target=y lambda=0.01 path=20"),
             *n = fit(cx, "linear", t, "target=y");
    assert_ok(cx, cri_chart_path(&s, m, NULL, &c));
    json_t *least = describe(cx, n);
    assert_int_equal(c.n, 3); /* two terms and the choice: no others, no folds */
    for (size_t k = 0; k < 2; k++) {
        const cri_chart_series *one = &c.series[k];
        size_t                  j = one->look.label[1] == '1' ? 1 : 2, L = one->n;
        double                  sd = 0, mean = 0;
        for (size_t i = 0; i < N; i++) mean += X[i * 2 + j - 1] / N;
        for (size_t i = 0; i < N; i++) sd += pow(X[i * 2 + j - 1] - mean, 2) / N;
        assert_close(one->y[L - 1], coefficient(least, j, "value") * sqrt(sd), 0.03);
        assert_true(one->y[0] == 0 && one->x[0] > one->x[L - 1]);
        assert_close(one->x[L - 1], log(0.01), 1e-14);
    }
    assert_close(c.series[2].x[0], log(0.01), 1e-14);
    assert_string_equal(c.top[0].label, "2");
    assert_string_equal(c.top[c.n_top - 1].label, "0");
    cr_model_free(cx, m);
    cr_model_free(cx, n);
    cr_table_free(cx, t);
    cr_scratch_end(&s);
}

/* Marks stand where their numbers say. */
TEST(text_places)
{
    cr_scratch   s = cr_scratch_begin(cx);
    const double x[] = { 0, 5, 10 }, y[] = { 0, 10, NAN }, low[] = { 0, 2, 0 },
                 high[] = { 0, 6, 0 };
    cri_chart   c = { .title = "T", .x = { "x", 0, 10 }, .y = { "y", 0, 10 } };
    const char *text = NULL;
    cri_chart_add(&c, (cri_svg_series){ "bars", CRI_SVG_BARS, CRI_SVG_SKY, 1, 1, false }, '|', x,
                  low, high, 2);
    cri_chart_add(&c, (cri_svg_series){ "dots", CRI_SVG_POINTS, CRI_SVG_BLUE, 1, 1, false }, 'o', x,
                  y, NULL, 3);
    assert_ok(cx, cri_chart_text(&s, &c, 11, 11, &text));
    assert_non_null(strstr(text, "        10 |     o\n"));
    assert_non_null(strstr(text, "           |     |\n")); /* y = 6 */
    assert_non_null(strstr(text, "         0 |o\n"));
    assert_int_equal(count_text(text, "|     |\n"), 5); /* from 2 to 6 */
    assert_non_null(strstr(text, "| bars   o dots"));
    cr_scratch_end(&s);
}

static cr_status plot_small(cr_ctx *cx, void *arg)
{
    const double x[] = { 1, 2, 3, 4, 7, 5, 8, 9 }, y[] = { 0, 1, 0, 1, 1, 1, 0, 1 };
    cr_setting   s[] = { { "target", "y" }, { "lambda", "1" } };
    cr_status    st = CR_OK;
    cr_table    *t = NULL;
    cr_model    *m = NULL;
    char        *text = NULL;
    CR_TRY(cr_table_new(cx, "t", 8, &t));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(cr_fit(cx, arg, t, s, 2, &m));
    if (strcmp(arg, "lasso") == 0) {
        CR_TRY(cr_plot(cx, m, NULL, CR_PLOT_PATH, 0.9, figure_path()));
        CR_TRY(cr_plot_text(cx, m, NULL, CR_PLOT_PATH, 0.9, 20, 5, &text));
    } else if (strcmp(arg, "ridge") == 0) {
        CR_TRY(cr_plot_text(cx, m, t, CR_PLOT_RESIDUALS, 0.9, 20, 5, &text));
    } else {
        CR_TRY(cr_plot(cx, m, t, CR_PLOT_ROC, 0.9, figure_path()));
        CR_TRY(cr_plot(cx, m, t, CR_PLOT_PR, 0.9, figure_path()));
        CR_TRY(cr_plot_text(cx, m, t, CR_PLOT_CALIBRATION, 0.9, 20, 5, &text));
    }
    cr_free(cx, text, strlen(text) + 1, 1);
    cr_plot_kind kind = strcmp(arg, "logistic") == 0 ? CR_PLOT_PR : CR_PLOT_FIT;
    CR_TRY(cr_plot_json(cx, m, t, kind, &(cr_plot_options){ .level = 0.9 }, &text));
    if (strncmp(text, "{\n  \"title\":", 12) != 0) st = CR_EDATA;
    cr_free(cx, text, strlen(text) + 1, 1);
done:
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    return st;
}

/* Probabilities over one column, with a band where there is a latent function; rows by their
 * coordinates. */
TEST(answers)
{
    for (size_t K = 2; K <= 3; K++) {
        cr_table *t = class_table(cx, 60, K, 3);
        cr_model *m = fit(cx, "logistic", t, "target=y features=x1 lambda=0.1");
        check_kind(cx, m, t, CR_PLOT_FIT, K == 2 ? "P(1)" : "P(0)");
        cr_model_free(cx, m);
        m = fit(cx, "gp-classify", t, "target=y features=x1 kernel=rbf optimize=none");
        check_kind(cx, m, t, CR_PLOT_FIT, K == 2 ? "90 % interval of the probability" : "P(2)");
        cr_model_free(cx, m);
        m = fit(cx, "logistic", t, "target=y features=x* lambda=0.1");
        check_kind(cx, m, t, CR_PLOT_FIT, "ROC curve of y"); /* of several columns */
    }
    enum { N = 2500 };
    static double X[2 * N];
    for (size_t i = 0; i < 2 * N; i++) X[i] = fabs(sin((double)(i * i)));
    cr_table *t = make_table(cx, X, N, 2, NULL, NULL), *few = make_table(cx, X, 40, 2, NULL, NULL);
    cr_model *m = fit(cx, "kernel-pca", few, "components=2");
    check_kind(cx, m, few, CR_PLOT_FIT, "the first two of 2 coordinates (40 rows)");
    check_kind(cx, m, t, CR_PLOT_FIT, "2000 of the 2500 rows");
}

typedef struct fitted {
    cr_model *model;
    cr_table *table;
} fitted;

static cr_status plot_answers(cr_ctx *cx, void *arg)
{
    const fitted *f = arg;
    cr_ctx_set_threads(cx, 1);
    return cr_plot(cx, f->model, f->table, CR_PLOT_FIT, 0.9, figure_path());
}

TEST(answer_allocations)
{
    double   x[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    uint32_t y[8] = { 0, 0, 1, 0, 1, 0, 1, 1 };
    fitted   f = { NULL, make_table(cx, x, 8, 1, NULL, NULL) };
    f.model = fit(cx, "kernel-pca", f.table, "components=2");
    test_every_allocation_fails(plot_answers, &f);
    cr_model_free(cx, f.model);
    assert_ok(cx, cr_table_add_category(cx, f.table, "y", y, (const char *const[]){ "a", "b" }, 2));
    f.model = fit(cx, "gp-classify", f.table, "target=y kernel=rbf optimize=none");
    test_every_allocation_fails(plot_answers, &f);
    cr_model_free(cx, f.model);
    cr_table_free(cx, f.table);
}

static cr_status plot_seasons(cr_ctx *cx, void *arg)
{
    const fitted *f = arg;
    cr_ctx_set_threads(cx, 1);
    return cr_plot(cx, f->model, f->table, CR_PLOT_SEASONS, 0.9, figure_path());
}

/* Seasons in numbers, in both forms; a row that is missing has its season none the less. */
TEST(seasons)
{
    double y[14];
    fitted f = { NULL, make_table(cx, NULL, 14, 0, NULL, NULL) };
    for (size_t i = 0; i < 14; i++)
        y[i] = i == 5 ? NAN : (double)(i % 3) + 0.1 * (double)(i * 7 % 5);
    assert_ok(cx, cr_table_add_numbers(cx, f.table, "y", CR_REAL, y, 1));
    f.model = fit(cx, "kalman", f.table, "target=y components=level,seasonal:3");
    check_kind(cx, f.model, f.table, CR_PLOT_SEASONS, "kalman: the 3 seasons of y");
    check_kind(cx, f.model, f.table, CR_PLOT_SEASONS, "that of the first row shown is 1");
    test_every_allocation_fails(plot_seasons, &f);
    cr_model_free(cx, f.model);
    cr_table_free(cx, f.table);
}

TEST(allocations)
{
    char models[][9] = { "ridge", "logistic", "lasso" };
    for (size_t k = 0; k < 3; k++) test_every_allocation_fails(plot_small, models[k]);
}
