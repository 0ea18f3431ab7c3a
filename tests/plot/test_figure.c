/* test_figure.c -- figures are read back: axes from their labels, then points, curve, band and bars
 * are compared with the data and with the textbook formulas of least squares. */
#include "wellformed.h"
#include "base/rng.h"
#include "math/special/special.h"
#include "models/core/model.h"
#include "plot/figure.h"

#include <sys/stat.h>

static const char *figure_path(void)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/figure.svg", test_directory());
    return path;
}

typedef struct setup {
    cr_ctx   *cx;
    cr_table *table;
    cr_model *model;
} setup;

/* Columns x1 .. xp and y from rows of p + 1 numbers, fitted by least squares. */
static setup fit_rows(const char *const *names, size_t p, const double *rows, size_t n,
                      const cr_setting *settings, size_t n_settings)
{
    setup      s = { test_context(), NULL, NULL };
    cr_setting all[8] = { { "target", names[p] } };
    for (size_t i = 0; i < n_settings; i++) all[i + 1] = settings[i];
    assert_ok(s.cx, cr_table_new(s.cx, "the data", n, &s.table));
    for (size_t j = 0; j <= p; j++)
        assert_ok(s.cx, cr_table_add_numbers(s.cx, s.table, names[j], CR_REAL, rows + j, p + 1));
    assert_ok(s.cx, cr_fit(s.cx, "linear", s.table, all, n_settings + 1, &s.model));
    return s;
}

static void end(setup *s)
{
    cr_model_free(s->cx, s->model);
    cr_table_free(s->cx, s->table);
    test_context_free(s->cx);
}

static char *draw(setup *s, double level)
{
    assert_ok(s->cx, cr_plot_model(s->cx, s->model, s->table, level, figure_path()));
    char *text = load_text(figure_path());
    assert_wellformed(text);
    return text;
}

/* n rows of p standard normals and y = 1 + x1 + 2 x2 + ... + noise. */
static double *make_rows(size_t n, size_t p, double noise, uint64_t seed)
{
    double *rows = calloc(n * (p + 1), sizeof *rows);
    cr_rng  r = cr_rng_stream(seed, 0);
    for (size_t i = 0; i < n; i++) {
        double *row = rows + i * (p + 1);
        row[p] = 1 + noise * cr_rng_normal(&r);
        for (size_t j = 0; j < p; j++) row[p] += (double)(j + 1) * (row[j] = cr_rng_normal(&r));
    }
    return rows;
}

/* --- reading a figure back ------------------------------------------------------------------- */

typedef struct axes {
    double x0, x1, y0, y1; /* value = x0 + x1 * pixel of the plot area */
} axes;

/* Value and pixel of the first and last label of a group of labels (plain decimals only). */
static void read_axis(const char *group, bool vertical, double origin, double *at0, double *slope)
{
    const char *stop = strstr(group, "</g>");
    double      value[2] = { 0 }, pixel[2] = { 0 };
    size_t      n = 0;
    for (const char *p = group; (p = strstr(p, "<text x=")) && p < stop; p++, n++) {
        double x, y, v;
        char   label[64];
        assert_int_equal(sscanf(p, "<text x='%lf' y='%lf'>%63[^<]", &x, &y, label), 3);
        bool minus = strncmp(label, "\u2212", 3) == 0;
        assert_int_equal(sscanf(label + (minus ? 3 : 0), "%lf", &v), 1);
        size_t k = n > 0;
        value[k] = minus ? -v : v;
        pixel[k] = (vertical ? y - 4 : x) - origin;
    }
    assert_true(n >= 2);
    *slope = (value[1] - value[0]) / (pixel[1] - pixel[0]);
    *at0 = value[0] - *slope * pixel[0];
}

static axes read_axes(const char *text)
{
    axes        a;
    double      left, top;
    const char *area = strstr(text, "<svg x=");
    assert_int_equal(sscanf(area, "<svg x='%lf' y='%lf'", &left, &top), 2);
    read_axis(strstr(text, "text-anchor='middle'>\n"), false, left, &a.x0, &a.x1);
    read_axis(strstr(text, "text-anchor='end'>\n"), true, top, &a.y0, &a.y1);
    return a;
}

static double x_of(const axes *a, double pixel) { return a->x0 + a->x1 * pixel; }
static double y_of(const axes *a, double pixel) { return a->y0 + a->y1 * pixel; }

/* Simple regression by the textbook. */
typedef struct line {
    double a, b, s, mean, sxx;
    size_t n;
} line;

static line fit_line(const double *rows, size_t n)
{
    line   l = { .n = n };
    double my = 0, sxy = 0, rss = 0;
    for (size_t i = 0; i < n; i++)
        l.mean += rows[2 * i] / (double)n, my += rows[2 * i + 1] / (double)n;
    for (size_t i = 0; i < n; i++) {
        double dx = rows[2 * i] - l.mean;
        l.sxx += dx * dx, sxy += dx * (rows[2 * i + 1] - my);
    }
    l.b = sxy / l.sxx, l.a = my - l.b * l.mean;
    for (size_t i = 0; i < n; i++) rss += pow(rows[2 * i + 1] - l.a - l.b * rows[2 * i], 2);
    l.s = sqrt(rss / (double)(n - 2));
    return l;
}

static double half_width(const line *l, double x, double level)
{
    double h = 1 + 1 / (double)l->n + (x - l->mean) * (x - l->mean) / l->sxx;
    return l->s * sqrt(h) * cr_student_t_ppf(0.5 + level / 2, (double)l->n - 2);
}

/* --- one column ------------------------------------------------------------------------------ */

static const char *const one[] = { "x", "y" };

static void check_curve(const char *p, const axes *a, const line *l, double lowest, double highest)
{
    double x, y, first = NAN, last = NAN;
    size_t n = 0;
    int    used;
    for (p += strlen("<path d='"); *p != '\''; p += used, n++) {
        assert_int_equal(sscanf(p, "%*[ML]%lf %lf%n", &x, &y, &used), 2);
        last = x_of(a, x);
        if (n == 0) first = last;
        assert_true(fabs(y_of(a, y) - (l->a + l->b * last)) < 0.02);
    }
    double beyond = 0.05 * (highest - lowest);
    assert_int_equal(n, 200);
    assert_true(fabs(first - (lowest - beyond)) < 0.01);
    assert_true(fabs(last - (highest + beyond)) < 0.01);
}

static void check_band(const char *p, const axes *a, const line *l, double level)
{
    int used;
    p += strlen("<path d='");
    for (size_t i = 0; i < 400; i++, p += used) { /* along the upper ends, back along the lower */
        double x, y;
        assert_int_equal(sscanf(p, "%*[ML]%lf %lf%n", &x, &y, &used), 2);
        double at = x_of(a, x), half = half_width(l, at, level);
        assert_true(fabs(y_of(a, y) - (l->a + l->b * at + (i < 200 ? half : -half))) < 0.02);
    }
    assert_int_equal(*p, 'z');
}

TEST(one_column)
{
    enum { N = 60 };
    const double level = 0.9;
    double      *rows = make_rows(N, 1, 0.5, 1), low = INFINITY, high = -INFINITY;
    setup        s = fit_rows(one, 1, rows, N, NULL, 0);
    char        *text = draw(&s, level), expected[128];
    axes         a = read_axes(text);
    line         l = fit_line(rows, N);
    size_t       held = 0, found = 0;

    assert_int_equal(count_text(text, "<circle"), N);
    for (size_t i = 0; i < N; i++) {
        double x = rows[2 * i], y = rows[2 * i + 1], px, py;
        low = fmin(low, x), high = fmax(high, x);
        held += fabs(y - l.a - l.b * x) <= half_width(&l, x, level);
        for (const char *p = text; (p = strstr(p, "<circle")); p++) {
            assert_int_equal(sscanf(p, "<circle cx='%lf' cy='%lf'", &px, &py), 2);
            if (fabs(x_of(&a, px) - x) < 2e-3 && fabs(y_of(&a, py) - y) < 5e-3) {
                found++;
                break;
            }
        }
    }
    assert_int_equal(found, N);
    const char *area = strstr(text, "<svg x=");
    check_band(strstr(area, "<path"), &a, &l, level);
    check_curve(strstr(strstr(area, "stroke='#0072B2'"), "<path"), &a, &l, low, high);
    assert_non_null(strstr(text, "<title>linear: y ~ x (60 rows)</title>"));
    assert_non_null(strstr(text, "90 % predictive interval</text>"));
    snprintf(expected, sizeof expected, "90 %% of the points should lie in the band; %.3g %% do",
             round(1000 * (double)held / N) / 10);
    assert_non_null(strstr(text, expected));
    free(text), free(rows);
    end(&s);
}

TEST(names_are_escaped)
{
    static const char *const names[] = { "a<b & 'c'", "</svg>" };
    double                  *rows = make_rows(20, 1, 0.5, 2);
    setup                    s = fit_rows(names, 1, rows, 20, NULL, 0);
    char                    *text = draw(&s, 0.95);
    assert_non_null(
        strstr(text, "<title>linear: &lt;/svg&gt; ~ a&lt;b &amp; &#39;c&#39; (20 rows)</title>"));
    assert_int_equal(count_text(text, "</svg>"), 2);
    free(text), free(rows);
    end(&s);
}

TEST(powers_of_one_column)
{
    double          *rows = make_rows(50, 1, 0.5, 3);
    const cr_setting cubic[] = { { "basis", "poly:3" } };
    setup            s = fit_rows(one, 1, rows, 50, cubic, 1);
    char            *text = draw(&s, 0.95);
    assert_int_equal(count_text(text, "<circle"), 50);
    assert_non_null(strstr(text, "linear: y ~ x (50 rows)"));
    free(text), free(rows);
    end(&s);
}

TEST(missing_rows_are_left_out)
{
    const cr_setting drop[] = { { "missing", "drop" } };
    double          *rows = make_rows(40, 1, 0.5, 4);
    rows[2 * 3] = rows[2 * 7] = NAN; /* x of rows 3 and 7, y of rows 7 and 20 */
    rows[2 * 7 + 1] = rows[2 * 20 + 1] = NAN;
    setup s = fit_rows(one, 1, rows, 40, drop, 1);
    char *text = draw(&s, 0.95);
    assert_int_equal(count_text(text, "<circle"), 37);
    assert_non_null(strstr(text, "(37 rows)"));
    free(text);
    end(&s);

    const cr_setting impute[] = { { "missing", "impute" } }; /* an imputed x is not data */
    rows[2 * 7 + 1] = rows[2 * 20 + 1] = 1;
    s = fit_rows(one, 1, rows, 40, impute, 1);
    text = draw(&s, 0.95);
    assert_int_equal(count_text(text, "<circle"), 38);
    assert_non_null(strstr(text, "(38 rows)"));
    free(text), free(rows);
    end(&s);
}

/* --- many columns ---------------------------------------------------------------------------- */

static const char *const many[] = { "a", "b", "c", "y" };

/* The bars in the group of this colour inside the plot area, as (x, lower, upper) in data units. */
static size_t read_bars(const char *text, const axes *a, const char *colour, double (*out)[3])
{
    char key[64];
    snprintf(key, sizeof key, "stroke='%s'", colour);
    const char *p = strstr(strstr(text, "<svg x="), key), *stop = strstr(p, "</g>");
    size_t      n = 0;
    for (; (p = strstr(p, "<path d='M")) && p < stop; p++, n++) {
        double x, y0, y1;
        assert_int_equal(sscanf(p, "<path d='M%lf %lfV%lf'", &x, &y0, &y1), 3);
        out[n][0] = x_of(a, x), out[n][1] = y_of(a, y0), out[n][2] = y_of(a, y1);
    }
    return n;
}

TEST(observed_against_predicted)
{
    enum { N = 150 };
    double       *rows = make_rows(N, 3, 2, 5), bars[N][3];
    setup         s = fit_rows(many, 3, rows, N, NULL, 0);
    char         *text = draw(&s, 0.8), expected[128];
    axes          a = read_axes(text);
    cr_prediction answer;
    size_t        held = 0, found = 0;

    assert_int_equal(count_text(text, "<circle"), N);
    size_t n_held = read_bars(text, &a, "#56B4E9", bars);
    size_t n_missed = read_bars(text, &a, "#D55E00", bars + n_held);
    assert_int_equal(n_held + n_missed, N);
    assert_ok(s.cx, cr_predict(s.cx, s.model, s.table, &answer));
    for (size_t i = 0; i < N; i++) {
        double y = rows[4 * i + 3], sd, lower, upper;
        cr_prediction_interval(s.cx, &answer, i, 0.8, &sd, &lower, &upper);
        bool inside = lower <= y && y <= upper;
        held += inside;
        for (size_t k = inside ? 0 : n_held; k < (inside ? n_held : N); k++)
            if (fabs(bars[k][0] - y) < 0.02 && fabs(bars[k][1] - lower) < 0.04 &&
                fabs(bars[k][2] - upper) < 0.04) {
                found++;
                break;
            }
    }
    assert_int_equal(found, N);
    assert_int_equal(held, n_held);
    assert_true(n_missed > 5);
    snprintf(expected, sizeof expected,
             "80 %% of the intervals should contain the diagonal; %.3g %% do",
             round(1000 * (double)held / N) / 10);
    assert_non_null(strstr(text, expected));
    assert_non_null(strstr(text, "<title>linear: y ~ 3 columns (150 rows)</title>"));
    assert_non_null(strstr(text, ">observed y</text>"));
    assert_non_null(strstr(text, ">predicted y</text>"));

    double      x0, y0, x1, y1; /* the diagonal */
    const char *p = strstr(strstr(text, "<svg x="), "stroke-dasharray");
    p = strstr(p, "<path");
    assert_int_equal(sscanf(p, "<path d='M%lf %lfL%lf %lf", &x0, &y0, &x1, &y1), 4);
    assert_true(fabs(x_of(&a, x0) - y_of(&a, y0)) < 0.04 &&
                fabs(x_of(&a, x1) - y_of(&a, y1)) < 0.04);
    assert_true(x1 > x0 + 100);
    cr_prediction_free(s.cx, &answer);
    free(text), free(rows);
    end(&s);
}

TEST(other_single_columns)
{
    setup       s = { test_context(), NULL, NULL };
    double      flag[12], y[12];
    const char *level[12];
    for (size_t i = 0; i < 12; i++)
        flag[i] = (double)(i % 2), y[i] = (double)(i % 5), level[i] = i % 3 ? "u" : "v";
    const char *const features[] = { "flag", "level" };
    assert_ok(s.cx, cr_table_new(s.cx, "t", 12, &s.table));
    assert_ok(s.cx, cr_table_add_numbers(s.cx, s.table, "flag", CR_BOOLEAN, flag, 1));
    assert_ok(s.cx, cr_table_add_texts(s.cx, s.table, "level", level));
    assert_ok(s.cx, cr_table_add_numbers(s.cx, s.table, "y", CR_INTEGER, y, 1));
    for (size_t i = 0; i < 2; i++) {
        cr_setting settings[] = { { "target", "y" }, { "features", features[i] } };
        assert_ok(s.cx, cr_fit(s.cx, "linear", s.table, settings, 2, &s.model));
        char *text = draw(&s, 0.95);
        assert_non_null(strstr(text, "linear: y ~ 1 column (12 rows)"));
        assert_int_equal(count_text(text, "<circle"), 12);
        free(text);
        cr_model_free(s.cx, s.model);
    }
    s.model = NULL;
    end(&s);
}

/* --- many rows ------------------------------------------------------------------------------- */

TEST(a_sample_of_many_rows)
{
    enum { N = 12000 };
    static const char *const names[2][4] = { { "x", "y" }, { "a", "b", "c", "y" } };
    for (size_t kind = 0; kind < 2; kind++) {
        size_t  p = kind ? 3 : 1;
        double *rows = make_rows(N, p, 1, 6);
        setup   s = fit_rows(names[kind], p, rows, N, NULL, 0);
        cr_ctx_set_threads(s.cx, 1);
        char *text = draw(&s, 0.95);
        cr_ctx_set_threads(s.cx, 4);
        char         *again = draw(&s, 0.95), expected[64];
        cr_prediction answer;
        size_t        held = 0; /* of all rows, not of the sample */
        assert_string_equal(text, again);
        assert_ok(s.cx, cr_predict(s.cx, s.model, s.table, &answer));
        double t = cr_student_t_ppf(0.975, N - 1 - (double)p);
        for (size_t i = 0; i < N; i++)
            held += fabs(rows[i * (p + 1) + p] - answer.mean[i]) <= t * answer.scale[i];
        cr_prediction_free(s.cx, &answer);
        snprintf(expected, sizeof expected, "; %.3g %% do.", round(1000 * (double)held / N) / 10);
        assert_non_null(strstr(text, expected));
        assert_int_equal(count_text(text, "<circle"), 2000);
        assert_non_null(strstr(text, "2000 of the 12\u202f000 rows are shown"));
        assert_non_null(strstr(text, "(12\u202f000 rows)"));
        struct stat info;
        assert_int_equal(stat(figure_path(), &info), 0);
        assert_true(info.st_size < 200000);
        free(text), free(again), free(rows);
        end(&s);
    }
    double *rows = make_rows(2000, 1, 1, 7); /* the most that is shown whole */
    setup   s = fit_rows(one, 1, rows, 2000, NULL, 0);
    char   *text = draw(&s, 0.95);
    assert_int_equal(count_text(text, "<circle"), 2000);
    assert_null(strstr(text, "are shown"));
    free(text), free(rows);
    end(&s);
}

/* --- corners --------------------------------------------------------------------------------- */

TEST(degenerate_data)
{
    static const double cases[][8] = {
        { 1, 2, 3, 5 },             /* two rows: no information for the noise */
        { 1, 7, 2, 7, 3, 7, 4, 7 }, /* a constant target                      */
        { 4, 1, 4, 2, 4, 3, 4, 4 }, /* a constant column                      */
        { 1e150, 1, 2e150, 2, 3e150, 2, 4e150, 5 },
        { 1e-140, 1e-140, 2e-140, 3e-140, 3e-140, 2e-140, 4e-140, 9e-140 },
        { 1e9, 0, 1e9 + 1e-5, 1, 1e9 + 2e-5, 0, 1e9 + 3e-5, 1 },
    };
    for (size_t i = 0; i < 6; i++) {
        size_t n = i == 0 ? 2 : 4;
        setup  s = fit_rows(one, 1, cases[i], n, NULL, 0);
        char  *text = draw(&s, 0.95); /* judges it, and that nothing is nan or inf */
        assert_int_equal(count_text(text, "<circle"), n);
        assert_true((i == 0) == (strstr(text, "has no intervals") != NULL));
        free(text);
        end(&s);
    }
    setup  s = fit_rows(one, 1, cases[1], 4, NULL, 0); /* more rows to fit, and one to draw */
    double x = 2, y = 3;
    cr_table_free(s.cx, s.table);
    assert_ok(s.cx, cr_table_new(s.cx, "one row", 1, &s.table));
    assert_ok(s.cx, cr_table_add_numbers(s.cx, s.table, "x", CR_REAL, &x, 1));
    assert_ok(s.cx, cr_table_add_numbers(s.cx, s.table, "y", CR_REAL, &y, 1));
    char *text = draw(&s, 0.95);
    assert_non_null(strstr(text, "(1 row)"));
    free(text);
    end(&s);
}

TEST(refusals)
{
    double *rows = make_rows(30, 1, 0.5, 8);
    setup   s = fit_rows(one, 1, rows, 30, (const cr_setting[]){ { "missing", "drop" } }, 1);
    cx = s.cx;
    const double levels[] = { 0, 1, -0.5, 1.5, NAN, INFINITY };
    remove(figure_path());
    for (size_t i = 0; i < 6; i++)
        assert_fails_with(cx, cr_plot_model(cx, s.model, s.table, levels[i], figure_path()),
                          CR_EARG, "level");

    cr_table    *other = NULL, *gaps = NULL, *none = NULL;
    const double nan[] = { NAN, NAN };
    assert_ok(cx, cr_table_new(cx, "other.csv", 30, &other));
    assert_ok(cx, cr_table_add_numbers(cx, other, "x", CR_REAL, rows, 2));
    assert_fails_with(cx, cr_plot_model(cx, s.model, other, 0.95, figure_path()), CR_EDATA,
                      "column 'y' not found in other.csv");
    assert_ok(cx, cr_table_new(cx, "gaps.csv", 2, &gaps));
    assert_ok(cx, cr_table_new(cx, "none.csv", 0, &none));
    for (size_t j = 0; j < 2; j++) {
        assert_ok(cx, cr_table_add_numbers(cx, gaps, one[j], CR_REAL, nan, 1));
        assert_ok(cx, cr_table_add_numbers(cx, none, one[j], CR_REAL, nan, 1));
    }
    assert_fails_with(cx, cr_plot_model(cx, s.model, gaps, 0.95, figure_path()), CR_EDATA,
                      "gaps.csv: there is no row to draw");
    assert_fails_with(cx, cr_plot_model(cx, s.model, none, 0.95, figure_path()), CR_EDATA,
                      "no row");
    struct stat info;
    assert_int_not_equal(stat(figure_path(), &info), 0); /* no failure has left a file */

    assert_fails(cx, cr_plot_model(cx, s.model, s.table, 0.95, "/dev/full"), CR_EIO);
    assert_fails(cx, cr_plot_model(cx, s.model, s.table, 0.95, "/nowhere/at/all.svg"), CR_EIO);
    cr_interrupt(cx);
    assert_fails(cx, cr_plot_model(cx, s.model, s.table, 0.95, figure_path()), CR_EINTERRUPTED);
    cr_interrupt_clear(cx);
    cr_table_free(cx, other), cr_table_free(cx, gaps), cr_table_free(cx, none);
    free(rows);
    end(&s);
}

static cr_status plot_again(cr_ctx *cx, void *arg)
{
    const setup *s = arg;
    return cr_plot_model(cx, s->model, s->table, 0.95, figure_path());
}

TEST(allocations_fail)
{
    double *rows = make_rows(2500, 3, 0.5, 9);
    setup   s = fit_rows(many, 3, rows, 2500, NULL, 0);
    test_every_allocation_fails(plot_again, &s);
    end(&s);
    s = fit_rows(one, 1, rows, 2500, NULL, 0);
    test_every_allocation_fails(plot_again, &s);
    end(&s);
    free(rows);
}
