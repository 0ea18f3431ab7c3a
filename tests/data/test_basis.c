/* test_basis.c -- bases against their definitions in long double, the laws of splines (sums,
 * continuity of derivatives, natural ends), what the text of --basis means, and knots learned from
 * data. */
#include "design_fixture.h"
#include "data/design/basis.h"

enum { MOST = 64 };

/* A basis from one line, learned from x [n]. */
static cr_status try_learn(cr_ctx *cx, const char *text, const double *x, size_t n,
                           const double *opt_w, cri_basis *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    cri_basis_spec spec;
    cr_table      *t = NULL;
    CR_TRY(cri_basis_parse(&s, text, &spec));
    CR_TRY(cr_table_new(cx, "data.csv", n, &t));
    CR_TRY(cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    if (opt_w) CR_TRY(cr_table_add_numbers(cx, t, "w", CR_REAL, opt_w, 1));
    CR_TRY(cri_basis_learn(cx, t, cr_table_find(t, "x"), opt_w ? cr_table_find(t, "w") : NULL,
                           &spec, out));
done:
    cr_table_free(cx, t);
    cr_scratch_end(&s);
    return st;
}

static cri_basis learn(cr_ctx *cx, const char *text, const double *x, size_t n)
{
    cri_basis b = { 0 };
    assert_ok(cx, try_learn(cx, text, x, n, NULL, &b));
    assert_true(b.n <= MOST);
    return b;
}

static const double sample[] = { 0.3, 7.1, 2.2, 2.9, 4.4, 9.6, 1.7, 5.3, 6.8, 8.05, 3.35, 0.9 };
enum { N = sizeof sample / sizeof *sample };

/* --- against the definitions ----------------------------------------------------------------- */

/* B_{i,d} by the recurrence as it stands in books, 0/0 = 0; the last cell is closed. */
static long double cox_de_boor(const double *t, size_t n_t, size_t i, size_t d, long double x)
{
    if (d == 0) {
        bool last = t[i] < t[i + 1] && t[i + 1] == t[n_t - 1];
        return t[i] <= x && (x < t[i + 1] || (last && x == t[i + 1]));
    }
    long double a = t[i + d] - t[i], b = t[i + d + 1] - t[i + 1];
    return (a > 0 ? (x - t[i]) / a * cox_de_boor(t, n_t, i, d - 1, x) : 0) +
           (b > 0 ? (t[i + d + 1] - x) / b * cox_de_boor(t, n_t, i + 1, d - 1, x) : 0);
}

TEST(bsplines_are_their_recurrence)
{
    for (size_t degree = 0; degree <= 5; degree++) {
        char   text[32];
        double t[64], f[MOST];
        size_t n_t = 0;
        snprintf(text, sizeof text, "bspline:%zu:%zu", degree + 5, degree);
        cri_basis b = learn(cx, text, sample, N);
        assert_int_equal(b.n, degree + 5);
        assert_int_equal(b.n_knots, 6);
        for (size_t k = 0; k < degree; k++) t[n_t++] = b.knots[0];
        for (size_t k = 0; k < 6; k++) t[n_t++] = b.knots[k];
        for (size_t k = 0; k < degree; k++) t[n_t++] = b.knots[5];
        for (int i = 0; i <= 93; i++) {
            double x = i == 93 ? 9.6 : 0.3 + 0.1 * i;
            if (x > 9.6) x = 9.6;
            cri_basis_eval(&b, x, f);
            for (size_t k = 0; k < b.n; k++)
                assert_close(f[k], (double)cox_de_boor(t, n_t, k, degree, x), 1e-13);
        }
        cri_basis_free(cx, &b);
    }
}

TEST(sums_are_one)
{
    static const char *const texts[] = { "bspline:8",
                                         "bspline:6:1",
                                         "bspline:5:0",
                                         "bspline:12:7",
                                         "natural:2",
                                         "natural:6",
                                         "piecewise:4",
                                         "bspline:knots=3;4;5:degree=2",
                                         "natural:range=-5;20:knots=1;9" };
    for (size_t c = 0; c < sizeof texts / sizeof *texts; c++) {
        cri_basis b = learn(cx, texts[c], sample, N);
        double    f[MOST];
        assert_true(cri_basis_sums_to_one(&b));
        for (double x = -30; x < 40; x += 0.37) {
            double sum = 0;
            cri_basis_eval(&b, x, f);
            for (size_t k = 0; k < b.n; k++) {
                sum += f[k];
                if (b.kind != CRI_BASIS_NATURAL && x >= 0.3 && x <= 9.6) assert_true(f[k] >= 0);
            }
            assert_close(sum, 1, 1e-12);
        }
        cri_basis_free(cx, &b);
    }
}

TEST(other_definitions)
{
    double    f[MOST];
    cri_basis b = learn(cx, "rbf:knots=1;2.5;7:width=1.5", sample, N);
    cri_basis_eval(&b, 3.1, f);
    assert_close(f[0], exp(-0.5 * 1.4 * 1.4), 1e-15);
    assert_close(f[1], exp(-0.5 * 0.4 * 0.4), 1e-15);
    assert_close(f[2], exp(-0.5 * 2.6 * 2.6), 1e-15);
    cri_basis_free(cx, &b);

    b = learn(cx, "rbf:knots=1;2.5;7", sample, N); /* as wide as the neighbours are far */
    assert_close(b.widths[0], 1.5, 1e-15);
    assert_close(b.widths[1], 3, 1e-15);
    assert_close(b.widths[2], 4.5, 1e-15);
    cri_basis_free(cx, &b);

    b = learn(cx, "hinge:knots=2;5", sample, N);
    cri_basis_eval(&b, 3.1, f);
    assert_int_equal(b.n, 3);
    assert_true(f[0] == 3.1 && f[1] == 3.1 - 2 && f[2] == 0);
    cri_basis_free(cx, &b);

    b = learn(cx, "piecewise:knots=2;5", sample, N); /* cells are closed at the left */
    for (int i = 0; i < 5; i++) {
        static const double at[] = { -1e9, 1.999, 2, 4.9, 5 };
        static const size_t cell[] = { 0, 0, 1, 1, 2 };
        cri_basis_eval(&b, at[i], f);
        for (size_t k = 0; k < 3; k++) assert_true(f[k] == (k == cell[i]));
    }
    cri_basis_free(cx, &b);

    b = learn(cx, "fourier:2:7", sample, N);
    assert_int_equal(b.n, 4);
    for (int turns = 0; turns < 3; turns++) {
        cri_basis_eval(&b, 3.1 + 7e6 * turns, f);
        for (size_t k = 0; k < 4; k++) {
            double angle = 2 * M_PI * (double)(k / 2 + 1) * 3.1 / 7;
            assert_close(f[k], k % 2 ? cos(angle) : sin(angle), 1e-8);
        }
    }
    cri_basis_eval(&b, NAN, f);
    for (size_t k = 0; k < 4; k++) assert_true(isnan(f[k]));
    cri_basis_free(cx, &b);
}

/* --- splines at and beyond the knots --------------------------------------------------------- */

/* Value and first three derivatives at `at` of the cubic through four points on one side of it. */
static void derivatives(const cri_basis *b, size_t k, double at, double h, long double d[4])
{
    double      f[MOST];
    long double y[4];
    for (int i = 0; i < 4; i++) {
        cri_basis_eval(b, at + h * (i + 1), f);
        y[i] = f[k];
    }
    d[3] = (y[3] - 3 * y[2] + 3 * y[1] - y[0]) / h / h / h;
    long double second = (y[2] - 2 * y[1] + y[0]) / h / h; /* at at + 2h */
    d[2] = second - 2 * h * d[3];
    long double first = (y[2] - y[0]) / (2 * h) - d[3] * h * h / 6; /* at at + 2h */
    d[1] = first - 2 * h * second + 2 * h * h * d[3];
    d[0] = y[1] - 2 * h * first + 2 * h * h * second - (4 * h * h * h / 3) * d[3];
}

TEST(derivatives_are_continuous)
{
    static const char *const texts[] = { "bspline:8", "natural:6" };
    for (size_t c = 0; c < 2; c++) {
        cri_basis b = learn(cx, texts[c], sample, N);
        bool      natural = b.kind == CRI_BASIS_NATURAL, jump = false;
        for (size_t j = 0; j < b.n_knots; j++) {
            bool end = j == 0 || j + 1 == b.n_knots;
            for (size_t k = 0; k < b.n; k++) {
                long double left[4], right[4];
                derivatives(&b, k, b.knots[j], -0.02, left);
                derivatives(&b, k, b.knots[j], 0.02, right);
                assert_close((double)left[0], (double)right[0], 1e-11);
                assert_close((double)left[1], (double)right[1], 1e-8);
                if (!end || natural) assert_close((double)left[2], (double)right[2], 1e-6);
                if (end && natural) assert_close((double)left[2], 0, 1e-6);
                jump |= fabsl(left[3] - right[3]) > 0.1L;
                if (j == 0) assert_close((double)left[3], 0, 1e-5); /* a line outside */
                if (j + 1 == b.n_knots) assert_close((double)right[3], 0, 1e-5);
                if (j == 0) assert_close((double)left[2], 0, 1e-6);
                if (j + 1 == b.n_knots) assert_close((double)right[2], 0, 1e-6);
            }
        }
        assert_true(jump); /* and not one cubic all over */
        cri_basis_free(cx, &b);
    }
}

TEST(natural_splines_interpolate)
{
    cri_basis b = learn(cx, "natural:7", sample, N);
    double    f[MOST];
    for (size_t j = 0; j < b.n; j++) {
        cri_basis_eval(&b, b.knots[j], f);
        for (size_t k = 0; k < b.n; k++) assert_close(f[k], j == k, 1e-14);
    }
    for (double x = -5; x < 20; x += 0.31) { /* a line is its own natural spline */
        double line = 0;
        cri_basis_eval(&b, x, f);
        for (size_t k = 0; k < b.n; k++) line += b.knots[k] * f[k];
        assert_close(line, x, 1e-12);
    }
    cri_basis_free(cx, &b);
}

/* --- texts ----------------------------------------------------------------------------------- */

TEST(texts_that_are_refused)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        { "splines:4", "'splines:4' does not name a basis" },
        { "", "does not name a basis" },
        { "bspline", "is not bspline:K" },
        { "bspline:3", "is not bspline:K" },
        { "bspline:8:10", "is not bspline:K" },
        { "bspline:8:1.5", "is not bspline:K" },
        { "bspline:8:3:3", "is not bspline:K" },
        { "bspline:8:knots=1;2", "is not bspline:K" },
        { "bspline:knots=", "'' is not a number" },
        { "bspline:knots=1;b", "'b' is not a number" },
        { "bspline:knots=2;1", "must increase" },
        { "bspline:knots=1;1", "must increase" },
        { "bspline:knots=1;inf", "'inf' is not a number" },
        { "bspline:5:range=3", "is not bspline:K" },
        { "bspline:5:range=3;3", "is not bspline:K" },
        { "bspline:1001", "is not bspline:K" },
        { "natural:1", "is not natural:K" },
        { "natural:4:2", "is not natural:K" },
        { "natural:4:width=2", "is not natural:K" },
        { "rbf:0", "is not rbf:K" },
        { "rbf:4:-1", "is not rbf:K" },
        { "rbf:4:range=0;1", "is not rbf:K" },
        { "piecewise:1", "is not piecewise:K" },
        { "hinge:1e9", "is not hinge:K" },
        { "fourier:3", "is not fourier:K:PERIOD" },
        { "fourier:3:0", "is not fourier:K:PERIOD" },
        { "none:1", "is not none" },
        { "poly:33", "is not poly:K" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_scratch     s = cr_scratch_begin(cx);
        cri_basis_spec spec = { .count = 4711 };
        assert_fails_with(cx, cri_basis_parse(&s, bad[i].text, &spec), CR_EARG, bad[i].message);
        assert_int_equal(spec.count, 4711);
        cr_scratch_end(&s);
    }
}

/* --- learning -------------------------------------------------------------------------------- */

TEST(knots_are_quantiles)
{
    static const double x[] = { 8, 1, 3, 2, 4, 6, 5, 7 };
    cri_basis           b = learn(cx, "piecewise:4", x, 8);
    assert_int_equal(b.n_knots, 3);
    for (size_t k = 0; k < 3; k++) assert_true(b.knots[k] == 2.5 + 2 * (double)k);
    cri_basis_free(cx, &b);
    b = learn(cx, "natural:4", x, 8); /* ends, and the quantiles 1/3 and 2/3 */
    assert_true(b.knots[0] == 1 && b.knots[1] == 3 && b.knots[2] == 6 && b.knots[3] == 8);
    cri_basis_free(cx, &b);
    b = learn(cx, "rbf:3", x, 8);
    assert_true(b.knots[0] == 1 && b.knots[1] == 4.5 && b.knots[2] == 8);
    cri_basis_free(cx, &b);
    b = learn(cx, "bspline:5:2:range=0;10", x, 8);
    assert_true(b.n_knots == 4 && b.knots[0] == 0 && b.knots[1] == 3 && b.knots[3] == 10);
    cri_basis_free(cx, &b);
}

TEST(weights_are_repetitions)
{
    static const char *const texts[] = { "rbf:4", "bspline:7", "natural:5", "piecewise:5",
                                         "hinge:4" };
    double                   x[12] = { 5, 1, 2.5, 9, 4, 7, 3, 8, NAN, 100, 6, -50 };
    double                   w[12] = { 2, 1, 3, 1, 2, 1, 4, 1, 5, 0, 2, 0 };
    double                   long_x[32];
    size_t                   n = 0;
    for (size_t i = 0; i < 12; i++)
        for (double k = 0; k < w[i]; k++) long_x[n++] = x[i];
    for (size_t c = 0; c < sizeof texts / sizeof *texts; c++) {
        cri_basis a = { 0 }, b = learn(cx, texts[c], long_x, n);
        for (int scaled = 0; scaled < 2; scaled++) {
            double v[12];
            for (size_t i = 0; i < 12; i++) v[i] = scaled ? w[i] / 8 : w[i];
            assert_ok(cx, try_learn(cx, texts[c], x, 12, v, &a));
            assert_int_equal(a.n_knots, b.n_knots);
            for (size_t k = 0; k < a.n_knots; k++) assert_true(a.knots[k] == b.knots[k]);
            cri_basis_free(cx, &a);
        }
        cri_basis_free(cx, &b);
    }
}

TEST(columns_with_few_values)
{
    static const double two[] = { 1, 0, 1, 1, 0 }, one[] = { 3, 3, 3 }, none[] = { NAN, NAN };
    static const double wide[] = { -1.7e308, 1.7e308 }, endless[] = { 1, INFINITY, 2 };
    static const struct {
        const char *text;
        size_t      functions;
    } few[] = {
        { "bspline:8", 2 }, { "natural:6", 2 }, { "piecewise:5", 2 },
        { "rbf:9", 2 },     { "hinge:5", 1 },
    };
    warnings w = { .n = 0 };
    cr_ctx_set_log(cx, keep_warning, &w);
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
        cri_basis b = learn(cx, few[i].text, two, 5);
        assert_int_equal(b.n, few[i].functions);
        assert_int_equal(w.n, i + 1);
        cri_basis_free(cx, &b);
    }
    assert_non_null(strstr(w.text, "column 'x' has only 2 different values"));
    assert_non_null(strstr(w.text, "bspline:8 gets 2 functions and a lower degree"));
    cri_basis b = learn(cx, "fourier:2:1", two, 5);
    assert_int_equal(b.n, 4);
    assert_int_equal(w.n, 5);
    cri_basis_free(cx, &b);
    assert_fails_with(cx, try_learn(cx, "natural:4", one, 3, NULL, &b), CR_EDATA, "only one value");
    assert_fails_with(cx, try_learn(cx, "rbf:4", none, 2, NULL, &b), CR_EDATA, "no values");
    assert_fails_with(cx, try_learn(cx, "bspline:4", wide, 2, NULL, &b), CR_ENUMERIC, "overflows");
    assert_fails_with(cx, try_learn(cx, "rbf:4", endless, 3, NULL, &b), CR_EDATA, "infinite");
    assert_fails_with(cx, try_learn(cx, "natural:knots=0.5;3", two, 5, NULL, &b), CR_EARG,
                      "the knot 3 of column 'x' is not inside 0 to 1");
    assert_fails_with(cx, try_learn(cx, "hinge:knots=-1", two, 5, NULL, &b), CR_EARG, "not inside");
}

/* --- in a design ----------------------------------------------------------------------------- */

TEST(designs)
{
    static const struct {
        const char *settings, *terms;
    } cases[] = {
        { "target=y basis=bspline:4", "a[bspline 2],a[bspline 3],a[bspline 4],b[bspline 2],"
                                      "b[bspline 3],b[bspline 4],c=v,k" },
        { "target=y basis=a=hinge:3,b=poly:2 features=a,b", "a,a[hinge 1],a[hinge 2],b,b^2" },
        { "target=y basis=natural:3,a=none features=a,b", "a,b[natural 2],b[natural 3]" },
        { "target=y basis=a=none,natural:3 features=a,b", "a,b[natural 2],b[natural 3]" },
        { "target=y basis=?=rbf:2 features=a,b,k", "a[rbf 1],a[rbf 2],b[rbf 1],b[rbf 2],k" },
        { "target=y basis=b=fourier:1:4 features=b", "b[sin 1],b[cos 1]" },
        { "target=y basis=b=piecewise:knots=2;4 features=b reference=none",
          "b[piecewise 1],b[piecewise 2],b[piecewise 3]" },
        { "target=y basis=poly:1 features=a,b", "a,b" },
    };
    static const struct {
        const char *settings;
        cr_status   status;
        const char *message;
    } bad[] = {
        { "target=y basis=d=poly:2", CR_EDATA, "column 'd' not found" },
        { "target=y basis=c=poly:2", CR_EARG, "'c' is a category" },
        { "target=y basis=y=poly:2", CR_EARG, "'y' is not a feature" },
        { "target=y basis=q*=poly:2", CR_EARG, "matches 'q*'" },
        { "target=y basis=a=poli:2", CR_EARG, "'poli:2' does not name a basis" },
        { "target=y basis=a", CR_EARG, "'a' does not name a basis" },
        { "target=y basis=\"a=poly:2", CR_EARG, "basis" },
    };
    cr_table *t = table_of_text(cx, "d.csv",
                                "a,b,c,k,y\n1,1,u,true,1\n2,3,v,false,2\n4,2,u,true,3\n"
                                "3,7,v,false,4\n9,5,v,true,5\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_design *d = design_of(cx, t, cases[i].settings, false);
        assert_string_equal(terms_of(d), cases[i].terms);
        cri_design_free(cx, d);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_design *d = NULL;
        assert_fails_with(cx, try_design(cx, t, bad[i].settings, false, &d), bad[i].status,
                          bad[i].message);
    }
    static const double expected[] = { 1, 0, 0, 1, 1, 2, 0,  0, 3, 9, 4, 2, 0,
                                       2, 4, 3, 1, 0, 7, 49, 9, 7, 5, 5, 25 };
    cr_design          *d =
        design_of(cx, t, "target=y basis=a=hinge:knots=2;4,b=poly:2 features=a,b", false);
    check_matrix(cx, d, t, expected, 1e-15);
    cri_design_free(cx, d);
}

TEST(gaps_and_far_values)
{
    cr_table    *t = table_of_text(cx, "d.csv", "a,y\n0,1\n,2\n0.5,3\n0.25,4\n"), *far;
    cr_design   *d = design_of(cx, t, "target=y basis=hinge:knots=0.125 missing=impute", false);
    const double filled[] = { 0, 0, 0.25, 0.125, 0.5, 0.375, 0.25, 0.125 };
    check_matrix(cx, d, t, filled, 1e-15);
    cri_design_free(cx, d);
    d = design_of(cx, t, "target=y basis=bspline:5 missing=drop", false);
    far = table_of_text(cx, "far.csv", "a,y\n1,1\n-1.7e308,3\n");
    check_open_fails(cx, d, far, CRI_TARGET_NONE,
                     "far.csv:3: the bspline basis of column 'a' overflows");
    cri_design_free(cx, d);
}

/* Terms one by one are the rows at once, also standardised and with rows left out. */
TEST(terms_are_columns_of_rows)
{
    cr_table *t =
        table_of_text(cx, "d.csv", "a,b,y\n1,4,1\n2,,2\n4,2,3\n3,7,4\n9,5,5\n6,1,2\n7,3,0\n");
    cr_design *d = design_of(cx, t, "target=y basis=natural:3,b=bspline:4 missing=drop", true);
    cri_rows   r;
    double     X[64], x[16];
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &r));
    assert_int_equal(r.n, 6);
    assert_int_equal(r.p, 5);
    cri_rows_fill(&r, 0, r.n, X, r.p);
    for (size_t j = 0; j < r.p; j++) {
        double mean = 0, square = 0;
        cri_rows_fill_term(&r, j, 0, r.n, x, 1);
        for (size_t i = 0; i < r.n; i++) {
            assert_true(x[i] == X[i * r.p + j]);
            mean += x[i] / 6, square += x[i] * x[i] / 6;
        }
        assert_close(mean, 0, 1e-14);
        assert_close(square, 1, 1e-13);
    }
    cri_rows_close(cx, &r);
    cri_design_free(cx, d);
}

/* --- in a model ------------------------------------------------------------------------------ */

TEST(reference)
{
    json_t *cases = reference_cases(cx, "splines"), *item;
    size_t  i, seen = 0;
    json_array_foreach(cases, i, item)
    {
        if (strcmp(json_string_value(json_object_get(item, "id")), "regression-spline-mcycle") != 0)
            continue;
        json_t   *expected = json_object_get(item, "expected");
        cr_table *t = read_table(cx, test_data("tabular/mcycle.csv"));
        for (int natural = 0; natural < 2; natural++) {
            char settings[256];
            snprintf(
                settings, sizeof settings,
                "target=accel features=times basis=%s:knots=14.68;18.440000000000005;26.52;36.2",
                natural ? "natural" : "bspline");
            json_t   *e = json_object_get(expected, natural ? "natural_cubic" : "cubic_bspline");
            cr_model *m = fit(cx, "linear", t, settings);
            json_t   *d = describe(cx, m);
            cr_prediction p = predict(cx, m, t);
            assert_relative(statistic(d, "rss"), number_of(e, "rss"), 1e-8);
            for (size_t k = 0; k < 6; k++)
                assert_relative(p.mean[20 * k],
                                element(json_object_get(e, "fit_rows_0_20_40_60_80_100"), k), 1e-8);
            cr_model_free(cx, m);
            seen++;
        }
    }
    assert_int_equal(seen, 2);
}

static const char *const every_kind =
    "target=y missing=impute "
    "basis=x1=bspline:5,x2=natural:4,x3=rbf:3,x4=piecewise:3,x5=hinge:3,x6=fourier:2:3";

TEST(saved_models_answer_alike)
{
    enum { ROWS = 40, COLUMNS = 6 };
    double X[ROWS * COLUMNS], y[ROWS];
    draw_regression(5, ROWS, COLUMNS, 0.3, X, y);
    X[7] = NAN;
    cr_table     *t = make_table(cx, X, ROWS, COLUMNS, y, NULL);
    cr_model     *m = fit(cx, "ridge", t, every_kind), *again = NULL;
    const char   *path = test_file("m.cred", "", 0);
    cr_prediction p = predict(cx, m, t), q;
    assert_int_equal(cr_design_terms(cr_model_get_design(m)), 4 + 3 + 3 + 2 + 3 + 4);
    assert_ok(cx, cr_model_save(cx, m, path));
    assert_ok(cx, cr_model_load(cx, path, &again));
    q = predict(cx, again, t);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(p.mean[i] == q.mean[i] && p.scale[i] == q.scale[i]);
    cr_model_free(cx, again);
}

static cr_status fit_save_load(cr_ctx *cx, void *arg)
{
    cr_status  st = CR_OK;
    cr_table  *t = NULL;
    cr_model  *m = NULL, *again = NULL;
    cr_setting s[] = { { "target", "y" },
                       { "basis", "bspline:4,x2=natural:4,x3=rbf:3,x4=fourier:2:3" } };
    double    *X = arg;
    char      *bytes = NULL;
    size_t     size = 0;
    CR_TRY(cr_table_new(cx, "data.csv", 12, &t));
    for (size_t j = 0; j < 5; j++) {
        static const char *const names[] = { "y", "x1", "x2", "x3", "x4" };
        CR_TRY(cr_table_add_numbers(cx, t, names[j], CR_REAL, X + j, 5));
    }
    CR_TRY(cr_fit(cx, "ridge", t, s, 2, &m));
    CR_TRY(cr_model_to_bytes(cx, m, &bytes, &size));
    CR_TRY(cr_model_from_bytes(cx, "m", bytes, size, &again));
done:
    cr_free(cx, bytes, size, 1);
    cr_model_free(cx, m);
    cr_model_free(cx, again);
    cr_table_free(cx, t);
    return st;
}

TEST(allocations)
{
    double X[60];
    cr_rng r = cr_rng_stream(3, 1);
    draw_normals(&r, X, 60);
    test_every_allocation_fails(fit_save_load, X);
}
