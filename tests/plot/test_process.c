/* test_process.c -- figures from inside a model: sound SVG, text, places of contours, ticks of
 * powers. */
#include "../models/fixture.h"
#include "wellformed.h"
#include "plot/figure.h"
#include "plot/map.h"
#include "plot/process.h"

static const char *figure_path(void)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/figure.svg", test_directory());
    return path;
}

/* Both forms of a figure, each of which says `says`. */
static void check_kind(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                       const cr_plot_options *o, const char *says)
{
    char *text = NULL;
    assert_ok(cx, cr_plot_with(cx, m, t, kind, o, figure_path()));
    char *svg = load_text(figure_path());
    assert_wellformed(svg);
    assert_non_null(strstr(svg, says));
    free(svg);
    assert_ok(cx, cr_plot_text_with(cx, m, t, kind, o, 40, 12, &text));
    assert_non_null(strstr(text, says));
    cr_free(cx, text, strlen(text) + 1, 1);
}

#define GP "optimize=none noise=0.1 target=y "

TEST(kinds)
{
    enum { N = 16 };
    double          X[N * 2], y[N];
    cr_plot_options o = { .level = 0.9 },
                    far = { .level = 0.9, .draws = 3, .range = (const double[]){ -9, 9 } };
    const char *names[] = { "rbf.l", "noise" };
    draw_regression(5, N, 2, 0.8, X, y);
    cr_table *t = make_table(cx, X, N, 2, y, NULL);
    cr_model *one = fit(cx, "gp", t, GP "features=x1 kernel=rbf(l=1)+0.5*periodic(p=2)");
    cr_model *two = fit(cx, "gp", t, GP "features=x1,x2 kernel=rbf(x1)+linear(x2)+rbf(x1,x2)");
    check_kind(cx, one, t, CR_PLOT_FIT, &o, "90 % predictive interval");
    check_kind(cx, one, t, CR_PLOT_FIT, &far, "3 draws");
    check_kind(cx, two, t, CR_PLOT_FIT, &o, "predicted = observed");
    check_kind(cx, one, t, CR_PLOT_COMPONENTS, &o, "0.5*periodic(l=1, p=2)");
    far.draws = 0;
    check_kind(cx, one, t, CR_PLOT_COMPONENTS, &far, "posterior mean");
    check_kind(cx, two, t, CR_PLOT_COMPONENTS, &o, "Not shown: 1 part of several columns");
    check_kind(cx, two, t, CR_PLOT_MAP, &o, "standard deviation of a new row");
    check_kind(cx, one, t, CR_PLOT_EVIDENCE, &o, "log evidence over rbf.l and noise");
    o.parameters = names, o.n_parameters = 2;
    names[0] = "periodic.p";
    assert_ok(cx, cr_plot_with(cx, one, t, CR_PLOT_EVIDENCE, &o, figure_path()));
    char *svg = load_text(figure_path());
    assert_non_null(strstr(svg, "log evidence over periodic.p and noise"));
    free(svg);
    names[0] = "rbf.length";
    assert_fails_with(cx, cr_plot_with(cx, one, t, CR_PLOT_EVIDENCE, &o, figure_path()), CR_EARG,
                      "no hyper-parameter 'rbf.length'");
    names[0] = "noise";
    assert_fails_with(cx, cr_plot_with(cx, one, t, CR_PLOT_EVIDENCE, &o, figure_path()), CR_EARG,
                      "the same");
    o.n_parameters = 1;
    assert_fails_with(cx, cr_plot_with(cx, one, t, CR_PLOT_EVIDENCE, &o, figure_path()), CR_EARG,
                      "two");
    assert_fails_with(cx, cr_plot_with(cx, one, t, CR_PLOT_MAP, &o, figure_path()), CR_EUNSUPPORTED,
                      "this model has 1");
    far.range = (const double[]){ 3, 3 };
    assert_fails_with(cx, cr_plot_with(cx, one, t, CR_PLOT_FIT, &far, figure_path()), CR_EARG,
                      "smaller");
    far = (cr_plot_options){ .level = 0.9, .draws = 2 };
    assert_fails_with(cx, cr_plot_with(cx, two, t, CR_PLOT_FIT, &far, figure_path()), CR_EARG,
                      "one numeric column");
    cr_model_free(cx, one);
    cr_model_free(cx, two);

    cr_model *plain = fit(cx, "ridge", t, "target=y features=x1,x2");
    o.n_parameters = 0;
    assert_ok(cx, cr_plot_with(cx, plain, t, CR_PLOT_MAP, &o, figure_path()));
    assert_fails_with(cx, cr_plot_with(cx, plain, t, CR_PLOT_COMPONENTS, &o, figure_path()),
                      CR_EUNSUPPORTED, "not a sum of parts");
    assert_fails_with(cx, cr_plot_with(cx, plain, t, CR_PLOT_EVIDENCE, &o, figure_path()),
                      CR_EUNSUPPORTED, "no evidence");
}

/* --- columns to draw over -------------------------------------------------------------------- */

/* Three columns of numbers and a category: what is drawn is the model at the medians and the
 * commonest level. */
TEST(over)
{
    enum { N = 20 };
    double          X[N * 3], y[N], mean[2], grid[2];
    const char     *over[] = { "x2", "x3" }, *g[N];
    cr_plot_options o = { .level = 0.9, .over = over, .n_over = 1 };
    char           *text = NULL;
    draw_regression(6, N, 3, 0.8, X, y);
    for (size_t i = 0; i < N; i++) g[i] = i % 3 == 0 ? "rare" : "usual", X[i * 3] = (double)(i * i);
    cr_table *t = make_table(cx, X, N, 3, y, NULL);
    assert_ok(cx, cr_table_add_texts(cx, t, "g", g));
    cr_model *m = fit(cx, "gp", t, GP "features=x1,x2,x3,g");
    check_kind(cx, m, t, CR_PLOT_FIT, &o, "Held at median or mode: x1 = 90.5, x3 = ");
    check_kind(cx, m, t, CR_PLOT_FIT, &o, "g = usual.");
    check_kind(cx, m, t, CR_PLOT_COMPONENTS, &o, "posterior mean");
    o.n_over = 2;
    check_kind(cx, m, t, CR_PLOT_MAP, &o, "Held at median or mode: x1 = 90.5, g = usual.");
    assert_fails_with(cx, cr_plot_with(cx, m, t, CR_PLOT_FIT, &o, figure_path()), CR_EARG,
                      "one column");
    over[1] = "x2";
    assert_fails_with(cx, cr_plot_with(cx, m, t, CR_PLOT_MAP, &o, figure_path()), CR_EARG,
                      "the same");
    over[1] = "g";
    assert_fails_with(cx, cr_plot_with(cx, m, t, CR_PLOT_MAP, &o, figure_path()), CR_EARG,
                      "'g' is a category");
    over[1] = "x9";
    assert_fails_with(cx, cr_plot_with(cx, m, t, CR_PLOT_MAP, &o, figure_path()), CR_EARG,
                      "no column 'x9'");
    o.n_over = 0;
    assert_fails_with(cx, cr_plot_with(cx, m, t, CR_PLOT_MAP, &o, figure_path()), CR_EUNSUPPORTED,
                      "this model has 3");
    assert_fails_with(cx, cr_plot_with(cx, m, t, CR_PLOT_COMPONENTS, &o, figure_path()),
                      CR_EUNSUPPORTED, "no part");

    o.n_over = 1; /* the curve against a table that says the same */
    o.range = (const double[]){ -1, 1 };
    assert_ok(cx, cr_plot_json(cx, m, t, CR_PLOT_FIT, &o, &text));
    json_t *root = json_loads(text, 0, NULL), *series = json_object_get(root, "series"),
           *curve = NULL, *s;
    size_t k, last = 0;
    json_array_foreach(series, k, s) if (strcmp(json_string_value(json_object_get(s, "name")),
                                                "predictive mean") == 0) curve = s;
    assert_non_null(curve);
    last = json_array_size(json_object_get(curve, "x")) - 1;
    double sorted[N], same[6], level[2] = { -1, 1 };
    for (size_t i = 0; i < N; i++) sorted[i] = X[i * 3 + 2];
    for (size_t i = 0; i < N; i++)
        for (size_t j = i + 1; j < N; j++)
            if (sorted[j] < sorted[i]) {
                double swap = sorted[i];
                sorted[i] = sorted[j], sorted[j] = swap;
            }
    for (size_t i = 0; i < 2; i++)
        same[3 * i] = 90.5, same[3 * i + 1] = level[i],
                 same[3 * i + 2] = (sorted[9] + sorted[10]) / 2;
    cr_table *two = make_table(cx, same, 2, 3, level, NULL);
    assert_ok(cx, cr_table_add_texts(cx, two, "g", (const char *[]){ "usual", "usual" }));
    assert_ok(cx, cr_predict_mean(cx, m, two, mean));
    for (size_t i = 0; i < 2; i++) {
        grid[i] = json_number_value(json_array_get(json_object_get(curve, "y"), i * last));
        assert_close(grid[i], mean[i], 1e-9);
    }
    json_decref(root);
    cr_free(cx, text, strlen(text) + 1, 1);
    cr_table_free(cx, two);
    cr_model_free(cx, m);

    o.n_over = 0; /* without data */
    m = fit(cx, "gp", t, GP "features=x2");
    assert_ok(cx, cr_plot_text_with(cx, m, NULL, CR_PLOT_FIT, &o, 40, 12, &text));
    assert_non_null(strstr(text, "The model alone, without data."));
    assert_null(strstr(text, "observed"));
    cr_free(cx, text, strlen(text) + 1, 1);
    o.range = NULL;
    assert_fails_with(cx, cr_plot_with(cx, m, NULL, CR_PLOT_FIT, &o, figure_path()), CR_EARG,
                      "needs data");
}

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)); text++) n++;
    return n;
}

/* Rows of classes have a colour each, and letters in text. */
TEST(classes)
{
    enum { N = 16, K = 8 };
    double          X[N * 2], y[N];
    const char     *c[N], *names[K] = { "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7" };
    cr_plot_options o = { .level = 0.9 };
    draw_regression(7, N, 2, 0.8, X, y);
    for (size_t classes = 2; classes <= K; classes += 6) {
        for (size_t i = 0; i < N; i++) c[i] = names[i % classes];
        cr_table *t = make_table(cx, X, N, 2, y, NULL);
        assert_ok(cx, cr_table_add_texts(cx, t, "c", c));
        cr_model *m = fit(cx, "lda", t, "target=c features=x1,x2");
        check_kind(cx, m, t, CR_PLOT_MAP, &o, classes == 2 ? "k1" : "other classes");
        char *svg = load_text(figure_path());
        assert_non_null(strstr(svg, CRI_SVG_VERMILLION));
        assert_non_null(strstr(svg, CRI_SVG_SKY));
        assert_int_equal(strstr(svg, "#999999") != NULL, classes == K);
        assert_int_equal(count_of(svg, "<circle"), 2 * 2 * N); /* with their edges, on two maps */
        free(svg);
        cr_table *plain =
            make_table(cx, X, N, 2, y, NULL); /* without the target there are rows alone */
        check_kind(cx, m, plain, CR_PLOT_MAP, &o, "rows of the data");
    }
}

/* --- contours -------------------------------------------------------------------------------- */

/* The ends of all pieces in the last path of an SVG. */
static size_t read_pieces(const char *svg, double *xy, size_t most)
{
    const char *at = strstr(svg, "<path fill='none'");
    size_t      n = 0;
    assert_non_null(at);
    at = strstr(at, " d='");
    for (at += 4; *at && *at != '\'';) {
        char *end;
        assert_true(*at == 'M' || *at == 'L');
        assert_true(n + 2 <= most);
        xy[n++] = strtod(at + 1, &end);
        xy[n++] = strtod(end, &end);
        at = end;
    }
    return n / 2;
}

/* Of a cone the contour is a circle; of a saddle two branches that never cross the middle the wrong
 * way. */
TEST(contours)
{
    enum { G = 41 };
    double         z[G * G], xy[4000];
    cri_svg_series look = { NULL, CRI_SVG_LINE, "#123456", 1, 1, false };
    for (size_t which = 0; which < 2; which++) {
        for (size_t i = 0; i < G * G; i++) {
            double x = ((double)(i % G) + 0.5) / G * 2 - 1, y = ((double)(i / G) + 0.5) / G * 2 - 1;
            z[i] = which == 0 ? hypot(x, y) : x * y;
        }
        cri_svg_page page = { .width = 400, .height = 400, .title = "t", .description = "d" };
        cri_svg      svg = cri_svg_page_begin(cx, &page);
        cri_svg_panel_begin(&svg, &(cri_svg_panel){ .width = 300,
                                                    .height = 300,
                                                    .across = { "x", -1, 1 },
                                                    .up = { "y", -1, 1 } });
        double w = svg.area_width / 2, h = svg.area_height / 2;
        cri_svg_contour(&svg, &look, z, G, G, which == 0 ? 0.6 : 0.1);
        cri_svg_panel_end(&svg);
        assert_ok(cx, cri_svg_page_save(&svg, figure_path()));
        cri_svg_end(&svg);
        char *text = load_text(figure_path());
        assert_wellformed(text);
        size_t n = read_pieces(text, xy, 4000);
        assert_true(n > 60 && n % 2 == 0);
        for (size_t i = 0; i < n; i++) {
            double x = xy[2 * i] / w - 1, y = 1 - xy[2 * i + 1] / h;
            if (which == 0)
                assert_close(hypot(x, y), 0.6, 2e-3);
            else
                assert_close(x * y, 0.1, 2e-3);
        }
        free(text);
    }
}

/* In a square with two pieces the middle decides which corners are joined. */
TEST(saddle)
{
    cri_svg_series look = { NULL, CRI_SVG_LINE, "#123456", 1, 1, false };
    for (size_t high = 0; high < 2; high++) {
        const double z[] = { 1, 0, 0, 1 }; /* high at two opposite corners */
        double       xy[16], level = high ? 0.4 : 0.6;
        cri_svg_page page = { .width = 400, .height = 400, .title = "t", .description = "d" };
        cri_svg      svg = cri_svg_page_begin(cx, &page);
        cri_svg_panel_begin(
            &svg, &(cri_svg_panel){
                      .width = 300, .height = 300, .across = { "x", 0, 1 }, .up = { "y", 0, 1 } });
        double w = svg.area_width, h = svg.area_height;
        cri_svg_contour(&svg, &look, z, 2, 2, level);
        cri_svg_panel_end(&svg);
        assert_ok(cx, cri_svg_page_save(&svg, figure_path()));
        cri_svg_end(&svg);
        char *text = load_text(figure_path());
        assert_int_equal(read_pieces(text, xy, 16), 4);
        for (size_t piece = 0; piece < 2;
             piece++) { /* the middle of a piece tells which corner it cuts off */
            double x = (xy[4 * piece] + xy[4 * piece + 2]) / 2 / w;
            double y = 1 - (xy[4 * piece + 1] + xy[4 * piece + 3]) / 2 / h;
            bool   near_high = (x < 0.5) == (y < 0.5);
            assert_int_equal(near_high, !high);
        }
        free(text);
    }
}

/* --- ticks of powers ------------------------------------------------------------------------- */

TEST(log_ticks)
{
    cri_svg_tick t[CRI_SVG_MOST_TICKS];
    assert_int_equal(cri_svg_log_ticks(-1, 1, 12, t), 7);
    static const char *const labels[] = { "0.1", "0.2", "0.5", "1", "2", "5", "10" };
    for (size_t i = 0; i < 7; i++) assert_string_equal(t[i].label, labels[i]);
    assert_close(t[2].value, log10(0.5), 1e-12);
    assert_int_equal(cri_svg_log_ticks(-3, 3, 8, t), 7);
    assert_string_equal(t[6].label, "1000");
    assert_int_equal(cri_svg_log_ticks(-40, 40, 5, t), 5);
    for (size_t i = 1; i < 5; i++) assert_close(t[i].value - t[i - 1].value, 20, 1e-12);
    size_t n = cri_svg_log_ticks(log10(2.2), log10(2.9), 8, t); /* 2.2, 2.3, ... */
    assert_true(n >= 3);
    for (size_t i = 0; i < n; i++) assert_true(t[i].value > 0.34 && t[i].value < 0.47);
    for (size_t most = 2; most <= 12; most++)
        for (double low = -9; low < 5; low += 0.37)
            for (double width = 0.05; width < 20; width *= 1.7) {
                n = cri_svg_log_ticks(low, low + width, most, t);
                assert_true(n >= 1 && n <= most);
                for (size_t i = 0; i < n; i++)
                    assert_true(t[i].value > low - 1e-6 && t[i].value < low + width + 1e-6);
            }
}

static cr_status draw_all(cr_ctx *cx, void *arg)
{
    static const double x[] = { 1, 2, 3 }, y[] = { 0, 1, 0 };
    cr_plot_kind        kind = *(cr_plot_kind *)arg;
    cr_setting          s[] = {
                 { "target", "y" }, { "kernel", "linear(x)" }, { "optimize", "none" }, { "features", "x" }
    };
    cr_plot_options o = { .level = 0.9 };
    cr_status       st = CR_OK;
    cr_table       *t = NULL;
    cr_model       *m = NULL;
    char           *text = NULL;
    CR_TRY(cr_table_new(cx, "t", 3, &t));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(cr_fit(cx, "gp", t, s, 4, &m));
    CR_TRY(cr_plot_with(cx, m, t, kind, &o, figure_path()));
    CR_TRY(cr_plot_text_with(cx, m, t, kind, &o, 20, 5, &text));
    cr_free(cx, text, strlen(text) + 1, 1);
done:
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    return st;
}

/* The map of a model predicts on thousands of rows: here only what draws it. */
static cr_status draw_map(cr_ctx *cx, void *arg)
{
    static const double z[] = { 1, 2, 3, 4, 5, 7 };
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    const char         *text;
    cri_maps            m = { .title = "t",
                              .description = "d",
                              .x = { "x", 0, 1 },
                              .y = { "y", 0, 1 },
                              .rows = 2,
                              .cols = 3,
                              .map = { { "m", z, 1, 7 } },
                              .n = 1,
                              .marked = true,
                              .mark_x = 0.5,
                              .mark_y = 0.5,
                              .mark_label = "here",
                              .level = { 2 },
                              .levels = 1 };
    (void)arg;
    CR_TRY(cri_maps_svg(cx, &m, figure_path()));
    CR_TRY(cri_maps_text(&s, &m, 6, 4, &text));
    assert_non_null(strstr(text, "X"));
done:
    cr_scratch_end(&s);
    return st;
}

TEST(memory)
{
    cr_plot_kind kind = CR_PLOT_COMPONENTS;
    test_every_allocation_fails(draw_all, &kind);
    test_every_allocation_fails(draw_map, NULL);
}
