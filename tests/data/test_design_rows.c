/* test_design_rows.c -- standardisation, and the matrix in pieces, from borrowed and other columns.
 */
#include "design_fixture.h"

/* --- standardising --------------------------------------------------------------------------- */

static void check_standard(double shift, double scale, const double *a, size_t stride,
                           const double *w, size_t n, bool constant)
{
    long double weight = 0, mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) weight += w ? w[i] : 1;
    for (size_t i = 0; i < n; i++) mean += (w ? w[i] : 1) * (long double)a[i * stride] / weight;
    for (size_t i = 0; i < n; i++) square += (w ? w[i] : 1) * powl(a[i * stride] - mean, 2);
    assert_relative(shift, (double)mean, 1e-15);
    assert_relative(scale, constant ? 1 : (double)sqrtl(square / weight), 1e-13);
}

TEST(standardise)
{
    enum { n = 700, p = 5 };
    static double X[n * p], y[n], w[n], Z[n * p];
    draw_regression(1, n, p, 0.6, X, y);
    for (size_t i = 0; i < n; i++) {
        X[i * p] += 1e6;      /* a mean far from zero */
        X[i * p + 1] *= 1e-9; /* a spread that is small, but there */
        X[i * p + 2] = 0.1;   /* constant, though no double is 0.1 */
        X[i * p + 3] = 0;
        w[i] = 0.25 * (double)(i % 5);
    }
    cr_table *t = make_table(cx, X, n, p, y, w);
    for (int weighted = 0; weighted < 2; weighted++) {
        const double *weights = weighted ? w : NULL;
        cr_design    *d =
            design_of(cx, t, weighted ? "target=y weights=w" : "target=y features=x*", true);
        const double *shift = cr_design_shift(d), *scale = cr_design_scale(d);
        cri_rows      r;
        for (size_t j = 0; j < p; j++)
            check_standard(shift[j], scale[j], X + j, p, weights, n, j == 2 || j == 3);
        check_standard(d->target_shift, d->target_scale, y, 1, weights, n, false);
        assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &r));
        assert_ok(cx, cri_rows_matrix(cx, &r, Z));
        for (size_t i = 0; i < n; i++) {
            assert_true(r.y[i] == (y[i] - d->target_shift) / d->target_scale);
            for (size_t j = 0; j < p; j++)
                assert_true(Z[i * p + j] == (X[i * p + j] - shift[j]) / scale[j]);
        }
        cri_rows_close(cx, &r);
        cri_design_free(cx, d);
    }
}

/* Squares of these overflow or vanish; mean and sd are those of the plain numbers, scaled. */
TEST(standardise_extremes)
{
    enum { n = 9 };
    const double plain[n] = { 0.5, -1.25, 3, 2, -0.75, 1.5, 6, -2.5, 0 };
    const int    exponents[] = { 1020, 700, 520, -500, -600, -1000, -1040 };
    double       X[n], y[n];
    for (size_t i = 0; i < n; i++) y[i] = plain[i];
    cr_table  *t = make_table(cx, plain, n, 1, y, NULL);
    cr_design *ref = design_of(cx, t, "target=y", true);
    cr_table_free(cx, t);
    for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
        for (size_t i = 0; i < n; i++) X[i] = y[i] = ldexp(plain[i], exponents[k]);
        t = make_table(cx, X, n, 1, y, NULL);
        cr_design *d = design_of(cx, t, "target=y", true);
        double     tolerance = exponents[k] < -1020 ? 1e-7 : 1e-15; /* digits of subnormals */
        assert_relative(ldexp(d->shift[0], -exponents[k]), ref->shift[0], tolerance);
        assert_relative(ldexp(d->scale[0], -exponents[k]), ref->scale[0], tolerance);
        assert_relative(ldexp(d->target_shift, -exponents[k]), ref->target_shift, tolerance);
        assert_relative(ldexp(d->target_scale, -exponents[k]), ref->target_scale, tolerance);
        cri_design_free(cx, d);
    }
    cri_design_free(cx, ref);
}

TEST(standardise_overflow)
{
    const double wide[] = { 1.7e308, -1.7e308, 1.7e308, 1.7e308 }, plain[] = { 1, 2, 4, 3 };
    cr_design   *d = NULL;
    cr_table    *t = make_table(cx, wide, 4, 1, plain, NULL);
    assert_fails_with(cx, try_design(cx, t, "target=y", true, &d), CR_ENUMERIC, "'x1'");
    assert_fails_with(cx, try_design(cx, t, "target=y missing=impute", false, &d), CR_ENUMERIC,
                      "the mean of column 'x1' overflows");
    cr_table_free(cx, t);
    t = make_table(cx, plain, 4, 1, wide, NULL);
    assert_fails_with(cx, try_design(cx, t, "target=y", true, &d), CR_ENUMERIC, "'y'");
    cr_table_free(cx, t);
    t = make_table(cx, plain, 4, 1, plain, (double[]){ 1e308, 1e308, 1, 1 });
    assert_fails_with(cx, try_design(cx, t, "target=y weights=w", true, &d), CR_ENUMERIC,
                      "weights 'w'");
    assert_null(d);
}

/* A row of weight 2 is two rows, a row of weight 0 is none: in gaps, references and scales. */
TEST(weights_count_rows)
{
    const char *const settings[] = { "target=y weights=w missing=impute reference=frequent",
                                     "target=y weights=w missing=impute reference=none" };
    cr_table         *weighted = table_of_text(cx, "w.csv",
                                               "x,c,y,w\n1,a,1,1\n,b,2,3\n7,a,4,1\n"
                                                       "9,b,3,2\n2,,5,1\n100,z,9,0\n");
    cr_table         *repeated = table_of_text(cx, "r.csv",
                                               "x,c,y,w\n1,a,1,1\n,b,2,1\n,b,2,1\n,b,2,1\n"
                                                       "7,a,4,1\n9,b,3,1\n9,b,3,1\n2,,5,1\n"
                                                       "100,z,9,0\n");
    for (size_t k = 0; k < 2; k++) {
        cr_design *a = design_of(cx, weighted, settings[k], true);
        cr_design *b = design_of(cx, repeated, settings[k], true);
        assert_relative(a->columns[0].fill, 28.0 / 5, 1e-15); /* (1 + 7 + 2 x 9 + 2) / 5 */
        assert_true(a->columns[1].fill == 1 && b->columns[1].fill == 1);
        assert_int_equal(a->columns[1].reference, k ? CRI_NO_LEVEL : 1);
        assert_int_equal(a->p, b->p);
        for (size_t j = 0; j < a->p; j++) {
            assert_string_equal(cr_design_term_name(a, j), cr_design_term_name(b, j));
            assert_close(a->shift[j], b->shift[j], 1e-15);
            assert_close(a->scale[j], b->scale[j], 1e-15);
        }
        assert_close(a->target_shift, b->target_shift, 1e-15);
        assert_close(a->target_scale, b->target_scale, 1e-15);
        cri_design_free(cx, a);
        cri_design_free(cx, b);
    }
}

/* Indicators are standardised like numbers; rows left out do not count. */
TEST(standardise_kept_rows)
{
    cr_table  *t = table_of_text(cx, "t.csv", "c,x,y\na,1,10\nb,3,20\nb,,1000\na,5,30\nb,7,40\n");
    cr_design *d = design_of(cx, t, "target=y missing=drop", true);
    assert_string_equal(terms_of(d), "c=b,x");
    assert_close(d->shift[0], 0.5, 1e-15);
    assert_close(d->scale[0], 0.5, 1e-15);
    assert_close(d->shift[1], 4, 1e-15);
    assert_close(d->scale[1], sqrt(5), 1e-15);
    assert_close(d->target_shift, 25, 1e-15);
    assert_close(d->target_scale, sqrt(125), 1e-15);
    cri_rows r;
    double   X[8], s = sqrt(5);
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &r));
    assert_int_equal(r.n, 4);
    assert_ok(cx, cri_rows_matrix(cx, &r, X));
    for (size_t i = 0; i < 8; i++)
        assert_close(X[i], ((double[]){ -1, -3 / s, 1, -1 / s, -1, 1 / s, 1, 3 / s })[i], 1e-15);
    cri_rows_close(cx, &r);
    cri_design_free(cx, d);
}

/* Rows in any number and any piece give the same matrix. */
TEST(pieces)
{
    enum { n = 1000, p = 3, stride = 7 };
    static double X[n * p], y[n], whole[n * 2 * p], piece[n * stride];
    draw_regression(2, n, p, 0.6, X, y);
    cr_table  *t = make_table(cx, X, n, p, y, NULL);
    cr_design *d = design_of(cx, t, "target=y basis=poly:2", true);
    cri_rows   r;
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NONE, &r));
    assert_int_equal(r.p, 2 * p);
    assert_ok(cx, cri_rows_matrix(cx, &r, whole));
    const size_t ranges[][2] = { { 0, n }, { 255, 258 }, { 999, 1000 }, { 5, 5 }, { 31, 700 } };
    for (size_t k = 0; k < 5; k++) {
        size_t begin = ranges[k][0], end = ranges[k][1];
        cri_rows_fill(&r, begin, end, piece, stride);
        for (size_t i = begin; i < end; i++)
            assert_memory_equal(piece + (i - begin) * stride, whole + i * 2 * p,
                                2 * p * sizeof(double));
        for (size_t j = 0; j < 2 * p; j++) {
            cri_rows_fill_term(&r, j, begin, end, piece, 1);
            for (size_t i = begin; i < end; i++)
                assert_true(piece[i - begin] == whole[i * 2 * p + j]);
        }
    }
    cri_rows_close(cx, &r);
    cri_design_free(cx, d);
}

/* Columns that lie side by side in a matrix of the caller's, all or some of them. */
TEST(borrowed_matrix)
{
    const double M[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }; /* a, b, c, y */
    const struct {
        const char  *settings;
        const double X[9];
    } cases[] = {
        { "target=y", { 1, 2, 3, 5, 6, 7, 9, 10, 11 } },
        { "target=y features=b,c", { 2, 3, 6, 7, 10, 11 } },
        { "target=y features=a,c", { 1, 3, 5, 7, 9, 11 } },
        { "target=a features=b,y", { 2, 4, 6, 8, 10, 12 } },
        { "target=y features=b basis=poly:2", { 2, 4, 6, 36, 10, 100 } },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cr_table *t = NULL, *u = NULL; /* in the same order, and in another */
        assert_ok(cx, cr_table_new(cx, "t", 3, &t));
        assert_ok(cx, cr_table_new(cx, "u", 3, &u));
        for (size_t j = 0; j < 4; j++) {
            const char names[][2] = { "a", "b", "c", "y" };
            assert_ok(cx, cr_table_borrow_numbers(cx, t, names[j], CR_REAL, M + j, 4));
            assert_ok(cx, cr_table_borrow_numbers(cx, u, names[3 - j], CR_REAL, M + 3 - j, 4));
        }
        cr_design *d = design_of(cx, t, cases[k].settings, false);
        check_matrix(cx, d, t, cases[k].X, 0);
        check_matrix(cx, d, u, cases[k].X, 0);
        cri_design_free(cx, d);
        cr_table_free(cx, t);
        cr_table_free(cx, u);
    }
}
