/* test_kernel_values.c -- every kernel against its formula, in long double, pair by pair. */
#include "rows.h"

#include "math/dense/decompose.h"
#include "math/kernel/kernel_internal.h"
#include "math/special/special.h"

#include "random_expression.h"

typedef long double formula(const rows *r, size_t i, size_t j);

static long double difference(const rows *r, size_t i, size_t j, size_t c)
{
    return (long double)r->X[i * COLUMNS + c] - (long double)r->X[j * COLUMNS + c];
}

static long double squared(const rows *r, size_t i, size_t j)
{
    long double sum = 0;
    for (size_t c = 0; c < COLUMNS; c++) sum += difference(r, i, j, c) * difference(r, i, j, c);
    return sum;
}

static long double product(const rows *r, size_t i, size_t j)
{
    long double sum = 0;
    for (size_t c = 0; c < COLUMNS; c++)
        sum += (long double)r->X[i * COLUMNS + c] * (long double)r->X[j * COLUMNS + c];
    return sum;
}

static const long double pi = 3.14159265358979323846264338327950288L;

static long double f_rbf(const rows *r, size_t i, size_t j)
{
    return expl(-squared(r, i, j) / (2 * 0.49L));
}

static long double f_ard(const rows *r, size_t i, size_t j)
{
    static const long double l[] = { 0.5L, 1.25L, 3.0L };
    long double              t = 0;
    for (size_t c = 0; c < COLUMNS; c++)
        t += difference(r, i, j, c) * difference(r, i, j, c) / (l[c] * l[c]);
    return 2.5L * expl(-t / 2);
}

static long double f_matern12(const rows *r, size_t i, size_t j)
{
    return expl(-sqrtl(squared(r, i, j)) / 2);
}

static long double f_matern32(const rows *r, size_t i, size_t j)
{
    long double z = sqrtl(3 * squared(r, i, j)) / 2;
    return (1 + z) * expl(-z);
}

static long double f_matern52(const rows *r, size_t i, size_t j)
{
    long double z = sqrtl(5 * squared(r, i, j)) / 2;
    return (1 + z + z * z / 3) * expl(-z);
}

static long double f_matern72(const rows *r, size_t i, size_t j)
{
    long double z = sqrtl(7 * squared(r, i, j)) / 2;
    return (1 + z + 2 * z * z / 5 + z * z * z / 15) * expl(-z);
}

static long double f_rq(const rows *r, size_t i, size_t j)
{
    return powl(1 + squared(r, i, j) / (2 * 0.75L * 4), -0.75L);
}

static long double f_periodic(const rows *r, size_t i, size_t j)
{
    long double sum = 0;
    for (size_t c = 0; c < COLUMNS; c++) {
        long double s = sinl(pi * difference(r, i, j, c) / 1.5L);
        sum += s * s;
    }
    return expl(-2 * sum / (0.75L * 0.75L));
}

static long double f_cosine(const rows *r, size_t i, size_t j)
{
    return cosl(2 * pi *
                (difference(r, i, j, 0) + difference(r, i, j, 1) + difference(r, i, j, 2)) / 1.5L);
}

static long double f_loglinear(const rows *r, size_t i, size_t j)
{
    static const long double g[] = { 0.75L, -1.25L };
    long double              sum = 0;
    for (size_t c = 0; c < 2; c++)
        sum += g[c] *
               ((long double)r->X[i * COLUMNS + 2 * c] - 0.25L +
                (long double)r->X[j * COLUMNS + 2 * c] - 0.25L) /
               (c ? 4 : 0.5L);
    return expl(sum);
}

static long double f_loud(const rows *r, size_t i, size_t j)
{
    return i == j ? 0.3L * f_loglinear(r, i, i) : 0;
}

static long double f_linear(const rows *r, size_t i, size_t j) { return product(r, i, j); }

static long double f_linear_one(const rows *r, size_t i, size_t j)
{
    return (long double)r->X[i * COLUMNS + 1] * (long double)r->X[j * COLUMNS + 1];
}

static long double f_polynomial(const rows *r, size_t i, size_t j)
{
    return powl(0.5L * product(r, i, j) + 1.25L, 3);
}

static long double f_sigmoid(const rows *r, size_t i, size_t j)
{
    return tanhl(0.25L * product(r, i, j) - 0.5L);
}

static long double f_chi2(const rows *r, size_t i, size_t j)
{
    long double sum = 0;
    for (size_t c = 0; c < COLUMNS; c++) {
        long double s = (long double)r->X[i * COLUMNS + c] + (long double)r->X[j * COLUMNS + c];
        if (s > 0) sum += difference(r, i, j, c) * difference(r, i, j, c) / s;
    }
    return expl(-0.5L * sum);
}

static long double f_intersection(const rows *r, size_t i, size_t j)
{
    long double sum = 0;
    for (size_t c = 0; c < COLUMNS; c++) sum += fminl(r->X[i * COLUMNS + c], r->X[j * COLUMNS + c]);
    return sum;
}

static long double f_bhattacharyya(const rows *r, size_t i, size_t j)
{
    long double sum = 0;
    for (size_t c = 0; c < COLUMNS; c++)
        sum += sqrtl((long double)r->X[i * COLUMNS + c] * (long double)r->X[j * COLUMNS + c]);
    return sum;
}

static long double f_jensen_shannon(const rows *r, size_t i, size_t j)
{
    long double sum = 0;
    for (size_t c = 0; c < COLUMNS; c++) {
        long double x = r->X[i * COLUMNS + c], y = r->X[j * COLUMNS + c];
        sum += 0.5L * (x * logl((x + y) / x) + y * logl((x + y) / y));
    }
    return sum;
}

static long double f_exp_jensen_shannon(const rows *r, size_t i, size_t j)
{
    long double sum = 0;
    for (size_t c = 0; c < COLUMNS; c++) {
        long double x = r->X[i * COLUMNS + c], y = r->X[j * COLUMNS + c], m = 0.5L * (x + y);
        sum += 0.5L * (x * logl(x / m) + y * logl(y / m));
    }
    return expl(-3 * sum);
}

static long double f_brownian(const rows *r, size_t i, size_t j)
{
    return fminl(r->X[i * COLUMNS], r->X[j * COLUMNS]) *
           fminl(r->X[i * COLUMNS + 1], r->X[j * COLUMNS + 1]);
}

static long double f_constant(const rows *r, size_t i, size_t j)
{
    return (void)r, (void)i, (void)j, 0.3L;
}

static long double f_white(const rows *r, size_t i, size_t j) { return (void)r, i == j ? 0.3L : 0; }

static long double f_hamming(const rows *r, size_t i, size_t j)
{
    long double n = 0;
    for (size_t c = 0; c < CODES; c++) n += r->codes[i * CODES + c] != r->codes[j * CODES + c];
    return expl(-n / 0.8L);
}

static long double f_category(const rows *r, size_t i, size_t j)
{
    static const long double w[3][2] = { { 1, -0.5L }, { 0.25L, 2 }, { -1, 0.125L } },
                             kappa[] = { 0.5L, 1, 2 };
    size_t a = r->codes[i * CODES + 1], b = r->codes[j * CODES + 1];
    return w[a][0] * w[b][0] + w[a][1] * w[b][1] + (a == b ? kappa[a] : 0);
}

static long double f_log(const rows *r, size_t i, size_t j)
{
    long double sum = 0;
    for (size_t c = 0; c < COLUMNS; c++) {
        long double d = logl(r->X[i * COLUMNS + c]) - logl(r->X[j * COLUMNS + c]);
        sum += d * d;
    }
    return expl(-sum / 2);
}

static long double f_kumaraswamy(const rows *r, size_t i, size_t j)
{
    long double sum = 0;
    for (size_t c = 0; c < COLUMNS; c++) {
        long double d = powl(1 - powl(r->X[i * COLUMNS + c], 1.5L), 0.75L) -
                        powl(1 - powl(r->X[j * COLUMNS + c], 1.5L), 0.75L);
        sum += d * d;
    }
    return expl(-sum / 2);
}

static long double f_over(const rows *r, size_t i, size_t j)
{
    long double c = 1.5L, xx = powl(product(r, i, i) + c, 2), xy = powl(product(r, i, j) + c, 2),
                yy = powl(product(r, j, j) + c, 2);
    return expl(-(xx - 2 * xy + yy) / (2 * 4));
}

static long double f_mixed(const rows *r, size_t i, size_t j)
{
    return powl(f_rbf(r, i, j) + 2 * f_linear_one(r, i, j), 2) * f_hamming(r, i, j) +
           f_white(r, i, j);
}

static const struct {
    const char *text;
    formula    *f;
    double      tolerance;
} cases[] = {
    { "rbf(l=0.7)", f_rbf, 1e-14 },
    { "2.5*rbf(l=[0.5,1.25,3])", f_ard, 1e-14 },
    { "rbf(variance=2.5, lengthscale=[0.5,1.25,3])@[x1,x2,x3]", f_ard, 1e-14 },
    { "matern(nu=0.5, l=2)", f_matern12, 1e-14 },
    { "matern12(l=2)", f_matern12, 1e-14 },
    { "matern32(l=2)", f_matern32, 1e-14 },
    { "matern(l=2, nu=2.5)", f_matern52, 1e-14 },
    { "matern(l=2, nu=3.5)", f_matern72, 1e-14 },
    { "rq(l=2, alpha=0.75)", f_rq, 1e-14 },
    { "periodic(l=0.75, p=1.5)", f_periodic, 1e-13 },
    { "cosine(p=1.5)", f_cosine, 1e-14 },
    { "loglinear(x1, x3; slope=[0.75,-1.25], centre=0.25, scale=[0.5,4])", f_loglinear, 1e-14 },
    { "white(0.3)*loglinear(x1, x3; slope=[0.75,-1.25], centre=0.25, scale=[0.5,4])", f_loud,
      1e-14 },
    { "linear", f_linear, 1e-14 },
    { "linear(x2)", f_linear_one, 1e-14 },
    { "polynomial(degree=3, c=1.25, variance=0.5)", f_polynomial, 1e-14 },
    { "sigmoid(gamma=0.25, c=-0.5)", f_sigmoid, 1e-14 },
    { "chi2(gamma=0.5)", f_chi2, 1e-14 },
    { "intersection", f_intersection, 1e-14 },
    { "bhattacharyya", f_bhattacharyya, 1e-14 },
    { "jensen_shannon", f_jensen_shannon, 1e-14 },
    { "exp_jensen_shannon(gamma=3)", f_exp_jensen_shannon, 1e-14 },
    { "brownian(x1, x2)", f_brownian, 1e-14 },
    { "constant(0.3)", f_constant, 1e-14 },
    { "0.3", f_constant, 1e-14 },
    { "white(0.3)", f_white, 1e-14 },
    { "hamming(l=0.8)", f_hamming, 1e-14 },
    { "category(c2; rank=2, w=[1,-0.5,0.25,2,-1,0.125], kappa=[0.5,1,2])", f_category, 1e-14 },
    { "rbf(warp=log)", f_log, 1e-13 },
    { "rbf(warp=kumaraswamy, a=1.5, b=0.75)", f_kumaraswamy, 1e-13 },
    { "rbf(base=polynomial(degree=2, c=1.5), l=2)", f_over, 1e-13 },
    { "(rbf(l=0.7) + 2*linear(x2))^2*hamming(l=0.8) + white(0.3)", f_mixed, 1e-13 },
};

TEST(formulas)
{
    static rows   r;
    static double K[ROWS * ROWS], own[ROWS], C[ROWS * ROWS];
    dice          d = { 1 };
    make_rows(&r, &d, ROWS, 0.05, 0.95);
    memcpy(r.X + COLUMNS, r.X, COLUMNS * sizeof *r.X); /* one row twice */
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        cr_kernel *k = parse(cx, cases[c].text);
        assert_ok(cx, cr_kernel_gram(cx, k, &r.in, CR_FILL_BOTH, cr_mat_of(K, ROWS, ROWS)));
        assert_ok(cx, cr_kernel_diagonal(cx, k, &r.in, true, own));
        assert_ok(cx, cr_kernel_cross(cx, k, &r.in, &r.in, cr_mat_of(C, ROWS, ROWS)));
        for (size_t i = 0; i < ROWS; i++) {
            assert_close(own[i], (double)cases[c].f(&r, i, i), cases[c].tolerance);
            for (size_t j = 0; j < ROWS; j++) {
                double want = (double)cases[c].f(&r, i, j);
                if (fabs(K[i * ROWS + j] - want) > cases[c].tolerance * fmax(1, fabs(want)))
                    fail_msg("%s: K[%zu,%zu] = %.17g, not %.17g", cases[c].text, i, j,
                             K[i * ROWS + j], want);
                assert_true(K[i * ROWS + j] == K[j * ROWS + i]);
                if (!strstr(cases[c].text, "white"))
                    assert_close(C[i * ROWS + j], want, cases[c].tolerance);
                else if (i != j)
                    assert_close(C[i * ROWS + j], want, cases[c].tolerance);
            }
        }
        cr_kernel_free(cx, k);
    }
}

/* Between two sets there is no white noise, also where they hold the same row. */
TEST(white_only_within_a_set)
{
    double          X[] = { 1, 2 }, K[4], d[2];
    cr_kernel_input in = cr_kernel_rows(cr_cmat_of(X, 2, 1));
    cr_kernel      *k = parse(cx, "linear(x1) + white(0.5)");
    assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, 2, 2)));
    assert_true(K[0] == 1.5 && K[1] == 2 && K[3] == 4.5);
    assert_ok(cx, cr_kernel_cross(cx, k, &in, &in, cr_mat_of(K, 2, 2)));
    assert_true(K[0] == 1 && K[1] == 2 && K[3] == 4);
    assert_ok(cx, cr_kernel_diagonal(cx, k, &in, false, d));
    assert_true(d[0] == 1 && d[1] == 4);
    assert_ok(cx, cr_kernel_diagonal(cx, k, &in, true, d));
    assert_true(d[0] == 1.5 && d[1] == 4.5);
    cr_kernel_free(cx, k);
}

/* The part below the diagonal is the same when it alone is asked for; the rest stays. */
TEST(lower_only)
{
    static rows   r;
    static double K[ROWS * ROWS], L[ROWS * ROWS];
    dice          d = { 2 };
    cr_kernel    *k = parse(cx, "rbf(l=0.3)*periodic(x1; p=0.5) + white");
    make_rows(&r, &d, ROWS, 0.05, 0.95);
    for (size_t i = 0; i < ROWS * ROWS; i++) L[i] = -7;
    assert_ok(cx, cr_kernel_gram(cx, k, &r.in, CR_FILL_BOTH, cr_mat_of(K, ROWS, ROWS)));
    assert_ok(cx, cr_kernel_gram(cx, k, &r.in, CR_FILL_LOWER, cr_mat_of(L, ROWS, ROWS)));
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++)
            assert_true(L[i * ROWS + j] == (j <= i ? K[i * ROWS + j] : -7));
    cr_kernel_free(cx, k);
}

/* Any nu: between the half-integers by Bessel functions; near one, near its polynomial. */
TEST(matern_any_nu)
{
    static const double nus[] = { 0.25, 0.5, 0.8, 1, 1.5, 1.7, 2.5, 3.3, 5.5, 12.5, 25 };
    double              X[40], K[1600];
    for (size_t i = 0; i < 40; i++) X[i] = 0.04 * (double)(i * i);
    cr_kernel_input in = cr_kernel_rows(cr_cmat_of(X, 40, 1));
    for (size_t n = 0; n < sizeof nus / sizeof *nus; n++) {
        char text[64];
        snprintf(text, sizeof text, "matern(l=1.5, nu=%g)", nus[n]);
        cr_kernel *k = NULL;
        assert_ok(cx, cr_kernel_parse(cx, text, NULL, NULL, 0, &k));
        assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, 40, 40)));
        for (size_t j = 1; j < 40; j++) {
            double z = sqrt(2 * nus[n]) * X[j] / 1.5;
            double want = exp((1 - nus[n]) * log(2) - cr_lgamma_abs(nus[n]) + nus[n] * log(z) +
                              cr_log_bessel_k(nus[n], z));
            assert_relative(K[j], want, 1e-12);
        }
        assert_close(K[0], 1, 0);
        cr_kernel_free(cx, k);
    }
}

/* Points a million times nearer to each other than to the origin, in few and in many columns. */
TEST(near_duplicates)
{
    static const size_t widths[] = { 2, 40 };
    static const char  *texts[] = { "rbf(l=1e-6)", "matern12(l=1e-6)", "matern52(l=1e-6)" };
    static double       X[100 * 40], K[100 * 100];
    dice                d = { 3 };
    for (size_t w = 0; w < 2; w++)
        for (size_t t = 0; t < 3; t++) {
            size_t n = widths[w];
            for (size_t i = 0; i < 100; i++)
                for (size_t c = 0; c < n; c++)
                    X[i * n + c] = (i % 2 ? 1 : 3) + 1e-7 * uniform(&d, 0, 5);
            cr_kernel_input in = cr_kernel_rows(cr_cmat_of(X, 100, n));
            cr_kernel      *k = NULL;
            assert_ok(cx, cr_kernel_parse(cx, texts[t], NULL, NULL, 0, &k));
            assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, 100, 100)));
            for (size_t i = 0; i < 100; i++)
                for (size_t j = 0; j < i; j++) {
                    long double s = 0;
                    for (size_t c = 0; c < n; c++)
                        s += ((long double)X[i * n + c] - X[j * n + c]) *
                             ((long double)X[i * n + c] - X[j * n + c]);
                    s *= 1e12L;
                    long double z = sqrtl(t == 2 ? 5 * s : s);
                    long double want = t == 0   ? expl(-s / 2)
                                       : t == 1 ? expl(-z)
                                                : (1 + z + z * z / 3) * expl(-z);
                    assert_close(K[i * 100 + j], (double)want,
                                 1e-8); /* X / 1e-6 is rounded itself */
                }
            cr_kernel_free(cx, k);
        }
}

TEST(extreme_scales)
{
    double          X[] = { -1e150, 0, 1e-300, 1, 1e150 }, K[25];
    cr_kernel_input in = cr_kernel_rows(cr_cmat_of(X, 5, 1));
    const char     *texts[] = { "rbf(l=1e-100)", "rbf(l=1e150)", "matern52(l=1e-150)", "rq(l=1e-3)",
                                "matern(nu=1.2, l=1e-9)" };
    for (size_t t = 0; t < 5; t++) {
        cr_kernel *k = NULL;
        assert_ok(cx, cr_kernel_parse(cx, texts[t], NULL, NULL, 0, &k));
        assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, 5, 5)));
        for (size_t i = 0; i < 25; i++) assert_true(K[i] >= 0 && K[i] <= 1);
        for (size_t i = 0; i < 5; i++) assert_true(K[6 * i] == 1);
        cr_kernel_free(cx, k);
    }
}

TEST(exp_array)
{
    enum { N = 20011 };
    static double x[N], y[N];
    dice          d = { 4 };
    for (size_t i = 0; i < N; i++)
        x[i] = y[i] = i % 2 ? uniform(&d, -40, 0) : uniform(&d, -708, 709);
    cri_exp_array(y, N);
    for (size_t i = 0; i < N; i++) {
        long double want = expl((long double)x[i]);
        double      unit = nextafter((double)want, INFINITY) - (double)want;
        assert_true(fabsl(want - y[i]) <= 1.0L * unit);
    }
    double ends[] = { -INFINITY, -1e300, -745.13, 0, 709.78, 710, INFINITY, NAN, -0.0 };
    cri_exp_array(ends, 9);
    assert_true(ends[0] == 0 && ends[1] == 0 && ends[2] == 0x1p-1074 && ends[3] == 1 &&
                ends[8] == 1);
    assert_relative(ends[4], exp(709.78), 1e-15);
    assert_true(isinf(ends[5]) && isinf(ends[6]) && isnan(ends[7]));
}

TEST(log1p_array)
{
    enum { N = 20011 };
    static double x[N], y[N];
    dice          d = { 5 };
    for (size_t i = 0; i < N; i++)
        x[i] = y[i] = i % 2 ? uniform(&d, 0, 1) : exp(uniform(&d, -744, 0));
    x[0] = y[0] = 0, x[1] = y[1] = 1, x[2] = y[2] = 0x1p-1074, x[3] = y[3] = sqrt(2) - 1;
    cri_log1p_array(y, N);
    for (size_t i = 0; i < N; i++) {
        long double want = log1pl((long double)x[i]);
        double      unit = nextafter((double)want, INFINITY) - (double)want;
        assert_true(fabsl(want - y[i]) <= 2.0L * unit);
    }
    double none[] = { NAN };
    cri_log1p_array(none, 1);
    assert_true(isnan(none[0]));
}

/* Sums, products, powers and distances over a base stay positive semi-definite. */
TEST(compositions_are_psd)
{
    enum { N = 40 };
    static rows   r;
    static double K[N * N], w[N], V[N * N];
    dice          d = { 5 };
    for (size_t trial = 0; trial < 150; trial++) {
        text_out t = { .used = 0 };
        make_rows(&r, &d, N, 0.05, 0.95);
        say_expression(&t, &d, 3, false, true, true);
        cr_kernel *k = parse(cx, t.text);
        assert_true(cr_kernel_is_psd(k));
        assert_ok(cx, cr_kernel_gram(cx, k, &r.in, CR_FILL_BOTH, cr_mat_of(K, N, N)));
        assert_ok(cx, cr_eigen(cx, cr_cmat_of(K, N, N), w, cr_mat_of(V, N, N)));
        if (w[0] < -1e-10 * N * fmax(1, w[N - 1])) fail_msg("%s: eigenvalue %g", t.text, w[0]);
        cr_kernel_free(cx, k);
    }
    cr_kernel *k = parse(cx, "rbf + 2*sigmoid");
    assert_false(cr_kernel_is_psd(k));
    cr_kernel_free(cx, k);
}

/* Every kernel of the list by itself, twice as many rows as columns and more; the one that says it
 * is not positive semi-definite is not. */
TEST(each_kernel_is_psd)
{
    static const char *const texts[] = {
        "bhattacharyya",
        "brownian",
        "brownian(x2)",
        "category(c1; rank=2)",
        "centre(rbf(l=0.4)*hamming)",
        "chi2(gamma=3)",
        "constant(2)",
        "cosine(p=0.3)",
        "exp_jensen_shannon(gamma=20)",
        "fisher(mean=0.4, sd=0.2)",
        "fisher(x2, x3, x1; mean=[0.1,0.6,0.3], sd=[0.5,0,0, 0.2,0.4,0, -0.3,0.1,0.6])",
        "hamming(l=0.8)",
        "intersection",
        "jaccard",
        "jensen_shannon",
        "linear",
        "loglinear(slope=[1,-2,0.5], centre=0.4)",
        "matern(nu=0.7, l=0.3)",
        "matern(nu=0.5, l=0.3)",
        "matern(nu=1.5)",
        "matern(nu=6.3)",
        "mismatch(k=2, m=1, alphabet=4)",
        "mismatch(k=3, m=2, alphabet=4)",
        "normalise(linear + spectrum)",
        "periodic(l=0.4, p=0.3)",
        "polynomial(degree=4, c=0.2)",
        "product(x1, x2)",
        "product(x3, x1; rho=1)",
        "rbf(l=0.2)",
        "rbf(base=subsequence(k=2), l=0.5)",
        "rq(alpha=0.3)",
        "set",
        "spectrum(k=2)",
        "subsequence(k=3, lambda=0.4)",
        "weighted_degree(k=1)",
        "weighted_degree(k=4)",
        "white",
    };
    enum { N = 40, COUNT = sizeof texts / sizeof *texts };
    static rows   r;
    static double K[N * N], V[N * N];
    double        w[N];
    dice          d = { 15 };
    make_rows(&r, &d, N, 0.05, 0.95);
    for (size_t i = 0; i < cr_kernel_count(); i++) {
        const char *name = cr_kernel_name(cr_kernel_at(i));
        bool        there = cr_kernel_at(i)->not_psd;
        for (size_t t = 0; t < COUNT; t++) there |= strncmp(texts[t], name, strlen(name)) == 0;
        if (!there) fail_msg("%s is not among the kernels tried", name);
    }
    for (size_t t = 0; t <= COUNT; t++) {
        cr_kernel *k = parse(cx, t < COUNT ? texts[t] : "sigmoid(gamma=2, c=-1)");
        assert_ok(cx, cr_kernel_gram(cx, k, &r.in, CR_FILL_BOTH, cr_mat_of(K, N, N)));
        assert_ok(cx, cr_eigen(cx, cr_cmat_of(K, N, N), w, cr_mat_of(V, N, N)));
        assert_int_equal(cr_kernel_is_psd(k), t < COUNT);
        if ((w[0] < -1e-12 * N * fmax(1, w[N - 1])) != (t == COUNT))
            fail_msg("%zu: eigenvalue %g", t, w[0]);
        cr_kernel_free(cx, k);
    }
}

/* normalise(k) against its definition, between one set and between two; rows where k(x, x) = 0 are
 * alike to nothing, themselves included. */
TEST(normalise)
{
    static const char *const inner[] = { "polynomial(degree=3, c=0.5)", "linear",
                                         "2*rbf + linear(x1)", "spectrum(k=1)",
                                         "normalise(linear) + brownian" };
    enum { N = 70, M = 9 };
    static rows   a, b;
    static double K[N * N], B[N * N], C[N * M], D[N * M];
    dice          d = { 91 };
    double        da[N], db[M], diagonal[N];
    make_rows(&a, &d, N, 0.1, 0.9);
    make_rows(&b, &d, M, 0.1, 0.9);
    memset(a.X + 5 * COLUMNS, 0, COLUMNS * sizeof(double)); /* 0 to linear, and to brownian */
    for (size_t t = 0; t < sizeof inner / sizeof *inner; t++) {
        char text[200];
        snprintf(text, sizeof text, "normalise(%s)", inner[t]);
        cr_kernel *k = parse(cx, text), *base = parse(cx, inner[t]);
        assert_ok(cx, cr_kernel_gram(cx, k, &a.in, CR_FILL_BOTH, cr_mat_of(K, N, N)));
        assert_ok(cx, cr_kernel_gram(cx, base, &a.in, CR_FILL_BOTH, cr_mat_of(B, N, N)));
        assert_ok(cx, cr_kernel_cross(cx, k, &a.in, &b.in, cr_mat_of(C, N, M)));
        assert_ok(cx, cr_kernel_cross(cx, base, &a.in, &b.in, cr_mat_of(D, N, M)));
        assert_ok(cx, cr_kernel_diagonal(cx, base, &a.in, true, da));
        assert_ok(cx, cr_kernel_diagonal(cx, base, &b.in, true, db));
        assert_ok(cx, cr_kernel_diagonal(cx, k, &a.in, true, diagonal));
        for (size_t i = 0; i < N; i++) {
            assert_true(diagonal[i] == (da[i] > 0) && K[i * N + i] == diagonal[i]);
            for (size_t j = 0; j < N; j++) {
                double root = sqrt(da[i] * da[j]);
                assert_close(K[i * N + j], root > 0 ? B[i * N + j] / root : 0, 1e-13);
            }
            for (size_t j = 0; j < M; j++) {
                double root = sqrt(da[i] * db[j]);
                assert_close(C[i * M + j], root > 0 ? D[i * M + j] / root : 0, 1e-13);
            }
        }
        cr_kernel_free(cx, k);
        cr_kernel_free(cx, base);
    }
}

/* The same bits for 1, 2, 3 and 7 threads: values and gradients. */
TEST(threads)
{
    static const size_t threads[] = { 1, 2, 3, 7 };
    static const char  *text = "2*rbf(ard)*periodic(x1; p=0.5) + rbf(base=polynomial) + "
                               "matern(nu=1.5)^2 + normalise(polynomial) + white";
    enum { N = 333 };
    static double X[N * COLUMNS], K[4][N * N], W[N * N], g[4][32], dX[4][N * COLUMNS];
    dice          d = { 6 };
    for (size_t i = 0; i < N * COLUMNS; i++) X[i] = uniform(&d, 0, 1);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) W[i * N + j] = W[j * N + i] = uniform(&d, -1, 1);
    cr_kernel      *k = parse(cx, text);
    cr_kernel_input in = cr_kernel_rows(cr_cmat_of(X, N, COLUMNS));
    for (size_t t = 0; t < 4; t++) {
        cr_ctx_set_threads(cx, threads[t]);
        assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K[t], N, N)));
        assert_ok(cx, cr_kernel_gram_gradient(cx, k, &in, cr_cmat_of(W, N, N), g[t]));
        assert_ok(cx, cr_kernel_gram_input_gradient(cx, k, &in, cr_cmat_of(W, N, N),
                                                    cr_mat_of(dX[t], N, COLUMNS)));
        assert_memory_equal(K[t], K[0], sizeof K[0]);
        assert_memory_equal(g[t], g[0], cr_kernel_theta_size(k) * sizeof(double));
        assert_memory_equal(dX[t], dX[0], sizeof dX[0]);
    }
    cr_ctx_set_threads(cx, 0);
    cr_kernel_free(cx, k);
}

/* --- hooks ----------------------------------------------------------------------------------- */

static void two_features(void *user, const cr_kernel_input *in, size_t i, double *out)
{
    double factor = *(double *)user, x = in->numbers.a[i * in->numbers.stride];
    out[0] = factor * x, out[1] = x * x;
}

static double of_pairs(void *user, const cr_kernel_input *a, size_t i, const cr_kernel_input *b,
                       size_t j)
{
    (void)user;
    return exp(-fabs(a->numbers.a[i * a->numbers.stride] - b->numbers.a[j * b->numbers.stride]));
}

TEST(hooks)
{
    double         factor = 3, X[] = { 0.5, 1, 2 }, K[9], d[3], dX[3];
    cr_kernel_hook hooks[] = {
        { .name = "fisher", .width = 2, .features = two_features, .user = &factor },
        { .name = "product", .value = of_pairs }
    };
    cr_kernel_input in = cr_kernel_rows(cr_cmat_of(X, 3, 1));
    cr_kernel      *k = NULL, *copy = NULL;
    char            text[100];
    assert_ok(cx, cr_kernel_parse(cx, "2*fisher + product*rbf", NULL, hooks, 2, &k));
    assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, 3, 3)));
    assert_ok(cx, cr_kernel_diagonal(cx, k, &in, true, d));
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            double want = 2 * (9 * X[i] * X[j] + X[i] * X[i] * X[j] * X[j]) +
                          exp(-fabs(X[i] - X[j])) * exp(-0.5 * (X[i] - X[j]) * (X[i] - X[j]));
            assert_close(K[3 * i + j], want, 1e-14);
            if (i == j) assert_close(d[i], want, 1e-14);
        }
    assert_ok(cx, cr_kernel_copy(cx, k, &copy));
    cr_kernel_print(copy, text, sizeof text);
    assert_string_equal(text, "2*fisher + product*rbf(l=1)");
    assert_fails_with(
        cx, cr_kernel_gram_input_gradient(cx, k, &in, cr_cmat_of(K, 3, 3), cr_mat_of(dX, 3, 1)),
        CR_EUNSUPPORTED, "fisher");
    double g[2];
    assert_ok(cx, cr_kernel_gram_gradient(cx, k, &in, cr_cmat_of(K, 3, 3), g));
    cr_kernel_free(cx, k);
    cr_kernel_free(cx, copy);
}

/* --- failures -------------------------------------------------------------------------------- */

TEST(wrong_rows)
{
    static rows r;
    double      K[100];
    dice        d = { 7 };
    make_rows(&r, &d, 10, -1, -0.1);
    cr_mat     out = cr_mat_of(K, 10, 10);
    cr_kernel *k = parse(cx, "chi2");
    assert_fails_with(cx, cr_kernel_gram(cx, k, &r.in, CR_FILL_BOTH, out), CR_EDATA,
                      "row 1, column 1");
    cr_kernel_free(cx, k);
    k = parse(cx, "rbf(x2; warp=log)");
    assert_fails_with(cx, cr_kernel_gram(cx, k, &r.in, CR_FILL_BOTH, out), CR_EDATA, "positive");
    cr_kernel_free(cx, k);
    r.X[7 * COLUMNS + 2] = NAN;
    k = parse(cx, "rbf");
    assert_fails_with(cx, cr_kernel_gram(cx, k, &r.in, CR_FILL_BOTH, out), CR_EDATA,
                      "row 8, column 3");
    assert_fails_with(cx, cr_kernel_gram(cx, k, &r.in, CR_FILL_BOTH, cr_mat_of(K, 9, 10)), CR_EARG,
                      "9 x 10");
    cr_kernel_free(cx, k);
    k = parse(cx, "category(c2; levels=2)");
    r.codes[3 * CODES + 1] = 2;
    assert_fails_with(cx, cr_kernel_gram(cx, k, &r.in, CR_FILL_BOTH, out), CR_EDATA, "has level 3");
    r.in.categories = 1;
    assert_fails_with(cx, cr_kernel_gram(cx, k, &r.in, CR_FILL_BOTH, out), CR_EARG,
                      "category column 2");
    cr_kernel_free(cx, k);
    k = parse(cx, "spectrum");
    r.in.text_columns = 0;
    assert_fails_with(cx, cr_kernel_gram(cx, k, &r.in, CR_FILL_BOTH, out), CR_EARG,
                      "text column 1");
    cr_kernel_free(cx, k);
}

TEST(no_rows)
{
    double          none[1] = { 7 };
    cr_kernel      *k = parse(cx, "rbf(ard) + rbf(base=linear) + white");
    cr_kernel_input in = cr_kernel_rows(cr_cmat_of(none, 0, 3));
    double          g[8];
    assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(none, 0, 0)));
    assert_ok(cx, cr_kernel_gram_gradient(cx, k, &in, cr_cmat_of(none, 0, 0), g));
    assert_true(none[0] == 7 && g[0] == 0);
    cr_kernel_free(cx, k);
}

static cr_status use_all(cr_ctx *cx, void *arg)
{
    rows      *r = arg;
    cr_status  st = CR_OK;
    double     K[100], g[32], dX[30], d[10];
    cr_kernel *k = NULL, *copy = NULL;
    cr_ctx_set_threads(cx, 1);
    CR_TRY(cr_kernel_parse(cx,
                           "2*rbf(x1, x2; ard)*periodic(p=0.5) + rbf(base=linear + subsequence) + "
                           "spectrum + normalise(set) + white",
                           &test_columns, NULL, 0, &k));
    CR_TRY(cr_kernel_copy(cx, k, &copy));
    CR_TRY(cr_kernel_gram(cx, copy, &r->in, CR_FILL_BOTH, cr_mat_of(K, 10, 10)));
    CR_TRY(cr_kernel_cross(cx, k, &r->in, &r->in, cr_mat_of(K, 10, 10)));
    CR_TRY(cr_kernel_diagonal(cx, k, &r->in, true, d));
    CR_TRY(cr_kernel_gram_gradient(cx, k, &r->in, cr_cmat_of(K, 10, 10), g));
    CR_TRY(
        cr_kernel_gram_input_gradient(cx, k, &r->in, cr_cmat_of(K, 10, 10), cr_mat_of(dX, 10, 3)));
    CR_TRY(cr_kernel_cross_gradient(cx, k, &r->in, &r->in, cr_cmat_of(K, 10, 10), g,
                                    cr_mat_of(dX, 10, 3)));
    CR_TRY(cr_kernel_diagonal_gradient(cx, k, &r->in, d, true, g, cr_mat_of(dX, 10, 3)));
    CR_TRY(cr_kernel_gram_derivative(cx, k, &r->in, 1, cr_mat_of(K, 10, 10)));
done:
    cr_kernel_free(cx, k);
    cr_kernel_free(cx, copy);
    return st;
}

TEST(allocations)
{
    static rows r;
    dice        d = { 8 };
    make_rows(&r, &d, 10, 0.1, 0.9);
    test_every_allocation_fails(use_all, &r);
}

/* Tiles that get no room are a failure, not a matrix with holes. */
TEST(memory_limit)
{
    static rows r;
    static char long_text[40001];
    double      K[100], g[4], d[10];
    dice        dice_here = { 9 };
    make_rows(&r, &dice_here, 10, 0.1, 0.9);
    cr_mat     out = cr_mat_of(K, 10, 10);
    cr_kernel *k = parse(cx, "rbf(l=2)"), *texts = parse(cx, "subsequence(k=2)");
    memset(K, 0, sizeof K);
    cr_ctx_set_memory_limit(cx, cr_ctx_memory(cx) + 20000);
    assert_fails(cx, cr_kernel_gram(cx, k, &r.in, CR_FILL_BOTH, out), CR_ENOMEM);
    assert_fails(cx, cr_kernel_cross(cx, k, &r.in, &r.in, out), CR_ENOMEM);
    assert_fails(cx, cr_kernel_diagonal(cx, k, &r.in, true, d), CR_ENOMEM);
    assert_fails(cx, cr_kernel_gram_gradient(cx, k, &r.in, cr_const(out), g), CR_ENOMEM);
    assert_fails(cx, cr_kernel_gram_derivative(cx, k, &r.in, 0, out), CR_ENOMEM);
    memset(long_text, 'a', 40000);
    r.texts[3] = long_text; /* the recursion wants 1.3 MB: once to prepare, once more in a tile */
    cr_ctx_set_memory_limit(cx, cr_ctx_memory(cx) + 1700000);
    assert_fails(cx, cr_kernel_gram(cx, texts, &r.in, CR_FILL_BOTH, out), CR_ENOMEM);
    cr_ctx_set_memory_limit(cx, 0);
    cr_kernel_free(cx, k);
    cr_kernel_free(cx, texts);
}

TEST(interruption)
{
    static rows r;
    double      K[100], g[4];
    dice        dice_here = { 10 };
    make_rows(&r, &dice_here, 10, 0.1, 0.9);
    cr_kernel *k = parse(cx, "rbf");
    cr_interrupt(cx);
    assert_fails(cx, cr_kernel_gram(cx, k, &r.in, CR_FILL_BOTH, cr_mat_of(K, 10, 10)),
                 CR_EINTERRUPTED);
    assert_fails(cx, cr_kernel_gram_gradient(cx, k, &r.in, cr_cmat_of(K, 10, 10), g),
                 CR_EINTERRUPTED);
    cr_interrupt_clear(cx);
    cr_kernel_free(cx, k);
}
