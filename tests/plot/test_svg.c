/* test_svg.c -- ticks against hand-made cases and laws; text and figures against an XML judge. */
#include "wellformed.h"
#include "base/rng.h"
#include "plot/svg.h"

#include <float.h>
#include <locale.h>

#define MINUS "\u2212"
#define NARROW "\u202f"

/* --- numbers --------------------------------------------------------------------------------- */

TEST(decimals)
{
    static const struct {
        int64_t     digits;
        int         exponent;
        const char *text;
    } cases[] = {
        { 0, 0, "0" },
        { 0, -3, "0" },
        { 0, 5, "0" },
        { 7, 0, "7" },
        { -7, 0, MINUS "7" },
        { 15, -1, "1.5" },
        { 150, -2, "1.5" },
        { 100, -2, "1" },
        { 5, -3, "0.005" },
        { -50, -4, MINUS "0.005" },
        { 9999, 0, "9999" },
        { 10000, 0, "10" NARROW "000" },
        { 12345675, -1, "1" NARROW "234" NARROW "567.5" },
        { 1, 6, "1" NARROW "000" NARROW "000" },
        { -25, 3, MINUS "25" NARROW "000" },
        { 100000, -1, "10" NARROW "000" },
        { 946, -1, "94.6" },
        { 950000, -4, "95" },
        { 999999, -4, "99.9999" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char   text[CRI_SVG_LABEL];
        size_t length = cri_svg_decimal(cases[i].digits, cases[i].exponent, text);
        assert_string_equal(text, cases[i].text);
        assert_int_equal(length, strlen(text));
    }
    char text[CRI_SVG_LABEL]; /* the longest there are do not overrun */
    cri_svg_decimal(INT64_MIN, -30, text);
    assert_true(strlen(text) < CRI_SVG_LABEL);
}

TEST(ranges)
{
    static const double cases[][4] = {
        { 0, 1, 0, 1 },
        { 3, -2, -2, 3 },
        { 5, 5, 4.5, 5.5 },
        { -5, -5, -5.5, -4.5 },
        { 0, 0, -1, 1 },
        { NAN, 1, 0, 1 },
        { 0, INFINITY, 0, 1 },
        { INFINITY, -INFINITY, 0, 1 },
        { 0, 1e-300, -1, 1 },
        { -1e308, 1e308, -1e308, 1e308 },
        { 1e-200, 2e-200, 1e-200, 2e-200 },
        { 1e6, 1e6 + 1e-7, 0.9e6, 1.1e6 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double low = cases[i][0], high = cases[i][1];
        cri_svg_range(&low, &high);
        assert_relative(low, cases[i][2], 1e-12);
        assert_relative(high, cases[i][3], 1e-12);
    }
    double low = DBL_MAX, high = DBL_MAX;
    cri_svg_range(&low, &high);
    assert_true(isfinite(low) && isfinite(high) && low < high);
}

TEST(ticks_by_hand)
{
    static const struct {
        double      low, high;
        size_t      most;
        const char *labels; /* joined by "|" */
    } cases[] = {
        { 0, 1, 6, "0.0|0.2|0.4|0.6|0.8|1.0" },
        { 0, 1, 11, "0.0|0.1|0.2|0.3|0.4|0.5|0.6|0.7|0.8|0.9|1.0" },
        { 0, 1, 5, "0.0|0.5|1.0" },
        { 0, 1, 2, "0|1" },
        { 0, 0.99, 2, "0.0|0.5" },
        { 0.1, 0.3, 3, "0.1|0.2|0.3" }, /* 0.3 / 0.1 < 3 in doubles */
        { -1, 1, 5, MINUS "1.0|" MINUS "0.5|0.0|0.5|1.0" },
        { 43, 96, 12, "45|50|55|60|65|70|75|80|85|90|95" },
        { 1.1, 1.9, 2, "1.5" },
        { 1950, 2024, 5, "1960|1980|2000|2020" },
        { 0, 25000, 6, "0|5000|10" NARROW "000|15" NARROW "000|20" NARROW "000|25" NARROW "000" },
        { -3e6, 3e6, 4, MINUS "2" NARROW "000" NARROW "000|0|2" NARROW "000" NARROW "000" },
        { 0, 2.5e7, 6,
          "0|0.5\u00d710\u2077|1.0\u00d710\u2077|1.5\u00d710\u2077|2.0\u00d710\u2077|"
          "2.5\u00d710\u2077" },
        { 0, 0.001, 3, "0.0000|0.0005|0.0010" },
        { 0, 0.0009, 3, "0|5\u00d710\u207b\u2074" },
        { -4e-12, 4e-12, 5,
          MINUS "4\u00d710\u207b\u00b9\u00b2|" MINUS "2\u00d710\u207b\u00b9\u00b2|0|"
                "2\u00d710\u207b\u00b9\u00b2|4\u00d710\u207b\u00b9\u00b2" },
        { 1e300, 3e300, 3,
          "1\u00d710\u00b3\u2070\u2070|2\u00d710\u00b3\u2070\u2070|3\u00d710\u00b3\u2070\u2070" },
        { -1.7e308, 1.7e308, 3, MINUS "1\u00d710\u00b3\u2070\u2078|0|1\u00d710\u00b3\u2070\u2078" },
        { 1e-250, 2e-250, 3,
          "1.0\u00d710\u207b\u00b2\u2075\u2070|1.5\u00d710\u207b\u00b2\u2075\u2070|"
          "2.0\u00d710\u207b\u00b2\u2075\u2070" },
        { 1000.0001, 1000.0003, 3, "1000.0001|1000.0002|1000.0003" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cri_svg_tick t[CRI_SVG_MOST_TICKS];
        char         joined[1024] = "";
        size_t       n = cri_svg_ticks(cases[i].low, cases[i].high, cases[i].most, t), used = 0;
        for (size_t k = 0; k < n; k++)
            used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%s", k ? "|" : "",
                                     t[k].label);
        assert_string_equal(joined, cases[i].labels);
    }
}

/* The number that a label says, read by the C library. */
static double read_label(const char *label)
{
    char   plain[128];
    size_t used = 0;
    for (const char *p = label; *p;) {
        static const char *const from[] = { MINUS,    NARROW,   "\u00d710", "\u207b", "\u00b9",
                                            "\u00b2", "\u00b3", "\u2070",   "\u2074", "\u2075",
                                            "\u2076", "\u2077", "\u2078",   "\u2079" };
        static const char *const to[] = { "-", "",  "e", "-", "1", "2", "3",
                                          "0", "4", "5", "6", "7", "8", "9" };
        size_t                   i = 0;
        while (i < 14 && strncmp(p, from[i], strlen(from[i])) != 0) i++;
        used += (size_t)snprintf(plain + used, sizeof plain - used, "%.*s", i < 14 ? 9 : 1,
                                 i < 14 ? to[i] : p);
        p += i < 14 ? strlen(from[i]) : 1;
    }
    char  *end;
    double x = strtod(plain, &end);
    assert_int_equal(*end, '\0');
    return x;
}

/* How many digits follow the point, but for a zero beside powers of ten. */
static size_t decimals_of(const char *label)
{
    const char *point = strchr(label, '.');
    return point ? strspn(point + 1, "0123456789") : 0;
}

/* Random intervals of every size: ticks inside, evenly spaced by 1, 2 or 5 x 10^k, labels that say
 * the value with as many decimals as the others, no finer step possible. */
TEST(ticks_obey_the_laws)
{
    cr_rng r = cr_rng_stream(11, 0);
    for (int trial = 0; trial < 20000; trial++) {
        double size = pow(10, 40 * cr_rng_uniform(&r) - 20);
        double centre =
            trial % 3 ? size * pow(10, 8 * cr_rng_uniform(&r) - 4) * cr_rng_normal(&r) : 0;
        double low = centre - size * cr_rng_uniform(&r), high = centre + size * cr_rng_uniform(&r);
        size_t most = 2 + cr_rng_below(&r, CRI_SVG_MOST_TICKS - 1);
        cri_svg_tick t[CRI_SVG_MOST_TICKS];
        cri_svg_range(&low, &high);
        size_t n = cri_svg_ticks(low, high, most, t);
        assert_true(n >= 1 && n <= most);
        double slack = 1e-8 * (high - low);
        assert_true(t[0].value >= low - slack && t[n - 1].value <= high + slack);
        for (size_t i = 0; i < n; i++) {
            assert_close(read_label(t[i].label) / size, t[i].value / size, 1e-14);
            assert_string_not_equal(t[i].label, MINUS "0");
            size_t other = i + 1 < n ? i + 1 : 0; /* "0" stands alone beside powers of ten */
            if (strcmp(t[i].label, "0") != 0 && strcmp(t[other].label, "0") != 0)
                assert_int_equal(decimals_of(t[i].label), decimals_of(t[other].label));
        }
        if (n < 2) continue;
        double step = (t[n - 1].value - t[0].value) / (double)(n - 1);
        for (size_t i = 1; i < n; i++)
            assert_true(fabs(t[i].value - t[i - 1].value - step) <= 1e-9 * step + slack);
        double lead = step / pow(10, floor(log10(step) + 1e-6));
        bool   nice = fabs(lead - 1) < 1e-3 || fabs(lead - 2) < 1e-3 || fabs(lead - 5) < 1e-3;
        assert_true(nice);
        double finer = fabs(lead - 5) < 1e-3 ? step / 2.5 : step / 2; /* gives too many */
        assert_true(floor(high / finer + 1e-6) - ceil(low / finer - 1e-6) + 1 > (double)most);
    }
}

/* --- text ------------------------------------------------------------------------------------ */

TEST(decoding)
{
    static const struct {
        const char *text;
        size_t      length;
        uint32_t    code;
    } cases[] = {
        { "a", 1, 'a' },
        { "\u00e9", 2, 0xe9 },
        { "\u20ac", 3, 0x20ac },
        { "\U0001F600", 4, 0x1f600 },
        { "\x80", 1, 0xfffd },
        { "\xc3", 1, 0xfffd },
        { "\xc3(", 1, 0xfffd },
        { "\xc0\xaf", 1, 0xfffd },
        { "\xed\xa0\x80", 3, 0xfffd },
        { "\xf4\x90\x80\x80", 4, 0xfffd },
        { "\xff", 1, 0xfffd },
        { "\xe2\x82", 1, 0xfffd },
        { "\x01", 1, 0xfffd },
        { "\n", 1, ' ' },
        { "\t", 1, ' ' },
        { "\x7f", 1, 0xfffd },
        { "\xef\xbf\xbf", 3, 0xfffd },
        { "\xe0\x80\x80", 1, 0xfffd },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t code;
        assert_int_equal(cri_svg_decode(cases[i].text, &code), cases[i].length);
        assert_int_equal(code, cases[i].code);
    }
}

TEST(fitting)
{
    const char *text = "price of \u20ac in \u00e9t\u00e9";
    size_t      all = strlen(text);
    assert_int_equal(cri_svg_fit(text, INFINITY, 12), all);
    assert_int_equal(cri_svg_fit(text, cri_svg_width(text, all, 12) + 1e-9, 12), all);
    assert_int_equal(cri_svg_fit(text, 0, 12), 0);
    assert_int_equal(cri_svg_fit("", 0, 12), 0);
    for (double available = 0; available < 200;
         available += 0.5) { /* whole characters, then the ellipsis */
        size_t fits = cri_svg_fit(text, available, 12);
        if (fits == all) continue;
        assert_true((text[fits] & 0xc0) != 0x80);
        assert_true(fits == 0 || cri_svg_width(text, fits, 12) + 12 <= available + 1e-9);
    }
}

/* --- figures --------------------------------------------------------------------------------- */

static const cri_svg_series looks[] = {
    { "points", CRI_SVG_POINTS, CRI_SVG_BLACK, 0.5, 3, false },
    { "line", CRI_SVG_LINE, CRI_SVG_BLUE, 1, 2, true },
    { "band", CRI_SVG_BAND, CRI_SVG_SKY, 0.3, 0, false },
    { "bars", CRI_SVG_BARS, CRI_SVG_GREEN, 0.5, 1, false },
};

static cri_svg_frame frame(cri_svg_axis x, cri_svg_axis y)
{
    return (cri_svg_frame){ .width = 720,
                            .height = 500,
                            .title = "a title",
                            .description = "a description",
                            .x = x,
                            .y = y,
                            .series = looks,
                            .n_series = 4,
                            .caption = { "caption", NULL } };
}

/* The figure as text: to be freed.  Checks that it is well-formed. */
static char *finish(cri_svg *s)
{
    char path[256];
    snprintf(path, sizeof path, "%s/figure.svg", test_directory());
    assert_ok(s->cx, cri_svg_save(s, path));
    cri_svg_end(s);
    char *text = load_text(path);
    assert_wellformed(text);
    return text;
}

TEST(marks_stand_in_their_places)
{
    cri_svg_frame f =
        frame((cri_svg_axis){ "x", 0, 10, CR_REAL }, (cri_svg_axis){ "y", -1, 1, CR_REAL });
    cri_svg s = cri_svg_begin(cx, &f);
    double  w = s.area_width, h = s.area_height;
    cri_svg_points(&s, &looks[0], (const double[]){ 0, 5, 10 }, (const double[]){ -1, 0, 1 }, 3);
    cri_svg_line(&s, &looks[1], (const double[]){ 0, 10 }, (const double[]){ 1, -1 }, 2);
    cri_svg_band(&s, &looks[2], (const double[]){ 0, 10 }, (const double[]){ -1, -1 },
                 (const double[]){ 0, 1 }, 2);
    cri_svg_bars(&s, &looks[3], (const double[]){ 5 }, (const double[]){ -1 },
                 (const double[]){ 1 }, 1);
    char  *text = finish(&s), *at = strstr(text, "overflow='hidden'");
    double x, y, z;

    assert_int_equal(count_text(text, "<circle"), 3);
    const double places[3][2] = { { 0, h }, { w / 2, h / 2 }, { w, 0 } };
    for (size_t i = 0; i < 3; i++) {
        at = strstr(at, "<circle");
        assert_int_equal(sscanf(at++, "<circle cx='%lf' cy='%lf' r='%lf'", &x, &y, &z), 3);
        assert_close(x, places[i][0], 0.0051), assert_close(y, places[i][1], 0.0051);
        assert_close(z, 3, 0);
    }
    double a[8];
    at = strstr(at, "<path d='M");
    assert_int_equal(sscanf(at++, "<path d='M%lf %lfL%lf %lf'", a, a + 1, a + 2, a + 3), 4);
    const double line[] = { 0, 0, w, h };
    for (size_t i = 0; i < 4; i++) assert_true(fabs(a[i] - line[i]) < 0.0051);
    at = strstr(at, "<path d='M");
    assert_int_equal(sscanf(at++, "<path d='M%lf %lfL%lf %lfL%lf %lfL%lf %lfz'", a, a + 1, a + 2,
                            a + 3, a + 4, a + 5, a + 6, a + 7),
                     8);
    const double band[] = { 0, h / 2, w, 0, w, h, 0, h };
    for (size_t i = 0; i < 8; i++) assert_true(fabs(a[i] - band[i]) < 0.0051);
    at = strstr(at, "<path d='M");
    assert_int_equal(sscanf(at, "<path d='M%lf %lfV%lf'", a, a + 1, a + 2), 3);
    const double bar[] = { w / 2, h, 0 };
    for (size_t i = 0; i < 3; i++) assert_true(fabs(a[i] - bar[i]) < 0.0051);
    free(text);
}

TEST(text_is_escaped)
{
    cri_svg_frame f = frame((cri_svg_axis){ "a<b & \"c\" 'd'>\n\x01", 0, 1, CR_REAL },
                            (cri_svg_axis){ "\xff\xc3 caf\u00e9 \U0001F600", 0, 1, CR_REAL });
    f.title = "</title><script>alert(1)</script>&amp;";
    f.caption[1] = "<!--";
    cri_svg s = cri_svg_begin(cx, &f);
    char   *text = finish(&s);
    assert_non_null(strstr(
        text, "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;</title>"));
    assert_non_null(strstr(text, ">a&lt;b &amp; &quot;c&quot; &#39;d&#39;&gt; \ufffd</text>"));
    assert_non_null(strstr(text, ">\ufffd\ufffd caf\u00e9 \U0001F600</text>"));
    assert_null(strstr(text, "<script"));
    free(text);
}

TEST(long_text_is_shortened)
{
    char name[3000];
    for (size_t i = 0; i + 1 < sizeof name; i++) name[i] = "\u00e9"[i % 2];
    name[sizeof name - 2] = '\0';
    cri_svg_frame f =
        frame((cri_svg_axis){ name, 0, 1, CR_REAL }, (cri_svg_axis){ name, 0, 1, CR_REAL });
    f.title = name;
    cri_svg s = cri_svg_begin(cx, &f);
    char   *text = finish(&s), *all = strstr(text, name);
    assert_ptr_equal(all, strstr(text, "<title>") + 7); /* whole here, and here only */
    assert_null(strstr(all + 1 + strlen(name), name));
    assert_int_equal(count_text(text, "\u2026</text>"), 3);
    free(text);
}

TEST(nothing_but_finite_numbers)
{
    const double bad[] = { 0, NAN, INFINITY, -INFINITY, 1, 1e308, -1e308, 0.5, 0.25 };
    const double x[] = { 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, NAN };
    const double ends[][2] = { { 0, 1 },      { NAN, NAN },          { -INFINITY, INFINITY },
                               { 0, 0 },      { -DBL_MAX, DBL_MAX }, { 5e-324, 5e-324 },
                               { 1e15, 1e15 } };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        cri_svg_frame f = frame((cri_svg_axis){ "x", 0, 1, CR_REAL },
                                (cri_svg_axis){ "y", ends[i][0], ends[i][1], CR_REAL });
        cri_svg       s = cri_svg_begin(cx, &f);
        cri_svg_points(&s, &looks[0], x, bad, 9);
        cri_svg_line(&s, &looks[1], x, bad, 9);
        cri_svg_band(&s, &looks[2], x, bad, bad, 9);
        cri_svg_bars(&s, &looks[3], x, bad, bad, 9);
        char *text = finish(&s); /* which looks for nan and inf */
        assert_int_equal(count_text(text, "<circle"), 7);
        free(text);
    }
}

TEST(an_empty_figure)
{
    cri_svg_frame f = { .width = 300,
                        .height = 200,
                        .title = "",
                        .description = "",
                        .x = { "", 0, 0 },
                        .y = { "", 0, 0 } };
    cri_svg       s = cri_svg_begin(cx, &f);
    cri_svg_points(&s, &looks[0], NULL, NULL, 0);
    cri_svg_line(&s, &looks[1], NULL, NULL, 0);
    cri_svg_band(&s, &looks[2], NULL, NULL, NULL, 0);
    char *text = finish(&s);
    assert_non_null(strstr(text, "viewBox='0 0 300 200'"));
    assert_non_null(strstr(text, "fill='#ffffff'"));
    free(text);
}

/* Labels of the x axis, each centred at its x: no two meet, and none leaves the page. */
TEST(labels_do_not_overlap)
{
    cr_rng r = cr_rng_stream(3, 0);
    for (int trial = 0; trial < 200; trial++) {
        double        size = pow(10, 30 * cr_rng_uniform(&r) - 15);
        double        low = size * cr_rng_normal(&r);
        double        high = low + fabs(low) * pow(10, -10 * cr_rng_uniform(&r));
        cri_svg_frame f = frame((cri_svg_axis){ "x", low, high, CR_REAL },
                                (cri_svg_axis){ "y", low, high, CR_REAL });
        f.width = trial % 2 ? 720 : 420;
        cri_svg s = cri_svg_begin(cx, &f);
        char   *text = strndup(s.bytes, s.size);
        char   *p = strstr(text, "text-anchor='middle'>\n"), *stop = strstr(p, "</g>");
        double  edge = 0, x, y;
        size_t  n = 0;
        while ((p = strstr(p, "<text x=")) && p < stop) {
            char label[128];
            assert_int_equal(sscanf(p, "<text x='%lf' y='%lf'>%127[^<]", &x, &y, label), 3);
            double half = cri_svg_width(label, strlen(label), 11.5) / 2;
            assert_true(x - half > edge);
            edge = x + half + 6;
            assert_true(x + half < f.width);
            p++, n++;
        }
        assert_true(n >= 1);
        cri_svg_end(&s);
        free(text);
    }
}

TEST(locale_changes_nothing)
{
    cri_svg_frame f =
        frame((cri_svg_axis){ "x", 0, 1.5, CR_REAL }, (cri_svg_axis){ "y", 0, 1, CR_REAL });
    cri_svg a = cri_svg_begin(cx, &f);
    char   *before = finish(&a);
    bool    comma = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    cri_svg b = cri_svg_begin(cx, &f);
    char   *after = finish(&b);
    setlocale(LC_ALL, "C");
    assert_string_equal(before, after);
    if (!comma) print_message("no locale with a decimal comma here: compared C with itself\n");
    free(before), free(after);
}

static cr_status draw_something(cr_ctx *cx, void *arg)
{
    cri_svg_frame f =
        frame((cri_svg_axis){ "x", 0, 1, CR_REAL }, (cri_svg_axis){ "y", 0, 1, CR_REAL });
    cri_svg s = cri_svg_begin(cx, &f);
    double  x[500];
    for (size_t i = 0; i < 500; i++) x[i] = (double)i / 500;
    cri_svg_points(&s, &looks[0], x, x, 500);
    cri_svg_bars(&s, &looks[3], x, x, x, 500);
    cr_status st = cri_svg_save(&s, arg);
    cri_svg_end(&s);
    return st;
}

TEST(failures)
{
    char path[256];
    snprintf(path, sizeof path, "%s/sweep.svg", test_directory());
    test_every_allocation_fails(draw_something, path);
    char full[] = "/dev/full", nowhere[] = "/nowhere/at/all.svg";
    assert_fails(cx, draw_something(cx, full), CR_EIO);
    assert_fails_with(cx, draw_something(cx, nowhere), CR_EIO, "/nowhere/at/all.svg");
}

/* The judge itself must be able to say no. */
TEST(the_judge)
{
    static const char *const good[] = { "<a/>", "<a b='1'>x &amp; y</a>\n",
                                        "<a><b c=\"'\"/>\u00e9</a>" };
    static const char *const bad[] = { "<a>",
                                       "<a></b>",
                                       "<a b=1/>",
                                       "<a>&</a>",
                                       "<a>\x01</a>",
                                       "<a>\xff</a>",
                                       "<a b='nan'/>",
                                       "<a b='1 inf'/>",
                                       "</a>",
                                       "<a>></a>",
                                       "x" };
    for (size_t i = 0; i < 3; i++) assert_null(find_xml_error(good[i]));
    for (size_t i = 0; i < 11; i++) assert_non_null(find_xml_error(bad[i]));
}
