/* test_marked.c -- rings about the inputs that a model rests on: as many as there are, in curves and maps, in SVG, text
 * and JSON; and none in figures of other models. */
#include "../models/fixture.h"
#include "wellformed.h"
#include "plot/figure.h"
#include "plot/kinds.h"

enum { N = 40 };

static char *draw(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_plot_kind kind)
{
    char            path[256];
    cr_plot_options o = { .level = 0.9 };
    snprintf(path, sizeof path, "%s/figure.svg", test_directory());
    assert_ok(cx, cr_plot_with(cx, m, t, kind, &o, path));
    char *svg = load_text(path);
    assert_wellformed(svg);
    return svg;
}

/* The figure, the text of it and the numbers all name the inputs; `each` rings for each of them in the plot areas. */
static void check_marks(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                        size_t each, size_t points)
{
    cr_plot_options o = { .level = 0.9 };
    char           *svg = draw(cx, m, t, kind), *text = NULL, *numbers = NULL;
    size_t          vectors = (size_t)statistic(describe(cx, m), "relevance_vectors");
    assert_true(vectors > 0);
    assert_non_null(strstr(svg, "relevance vectors</text>"));
    assert_int_equal(count_text(svg, "<circle"), each * vectors + points);
    free(svg);
    assert_ok(cx, cr_plot_text_with(cx, m, t, kind, &o, 60, 16, &text));
    assert_non_null(strstr(text, "@ relevance vectors"));
    cr_free(cx, text, strlen(text) + 1, 1);
    assert_ok(cx, cr_plot_json(cx, m, t, kind, &o, &numbers));
    assert_non_null(strstr(numbers, "relevance vectors"));
    cr_free(cx, numbers, strlen(numbers) + 1, 1);
}

TEST(curve_and_map)
{
    double X[2 * N], one[N], y[N];
    draw_regression(3, N, 2, 0.3, X, y);
    for (size_t i = 0; i < N; i++) one[i] = X[2 * i];
    cr_table *line = make_table(cx, one, N, 1, y, NULL), *plane = make_table(cx, X, N, 2, y, NULL);
    cr_model *a = fit(cx, "rvm", line, "target=y kernel=rbf(l=0.7)");
    cr_model *b = fit(cx, "rvm", plane, "target=y kernel=rbf(l=0.7)");
    check_marks(cx, a, line, CR_PLOT_FIT, 1, N);
    check_marks(cx, b, plane, CR_PLOT_MAP, 4, 4 * N); /* two panels, each mark with an edge */
}

TEST(nothing_to_mark)
{
    double x[N], y[N];
    draw_regression(4, N, 1, 0.3, x, y);
    cr_table   *t = make_table(cx, x, N, 1, y, NULL);
    const char *models[] = { "linear", "rvm", "gp" };
    const char *settings[] = { "target=y", "target=y functions=terms",
                               "target=y approx=vfe inducing=5 max_iter=3" };
    for (size_t i = 0; i < 3; i++) {
        char *svg = draw(cx, fit(cx, models[i], t, settings[i]), t, CR_PLOT_FIT);
        assert_int_equal(count_text(svg, "<circle"), N);
        assert_null(strstr(svg, "vectors"));
        free(svg);
    }
}
