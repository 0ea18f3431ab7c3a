/* test_info_neighbours.c -- information in columns of numbers, by nearest neighbours: closed forms, all pairs,
 * ties, and columns that are rounded. */
#include "math/special/special.h"
#include "info_fixture.h"

/* The entropy of the mixture of N(0,1) and N(2,1), by Simpson's rule. */
static double mixture_entropy(void)
{
    double h = 0;
    for (int i = 0; i <= 4000; i++) {
        double x = -10 + 22.0 * i / 4000, weight = i == 0 || i == 4000 ? 1 : i % 2 ? 4 : 2;
        double p = 0.5 * (exp(cr_norm_logpdf(x)) + exp(cr_norm_logpdf(x - 2)));
        h -= weight / 3 * 22.0 / 4000 * cr_xlogy(p, p);
    }
    return h;
}

/* Closed forms of normal variables; the tolerances are about three standard errors. */
TEST(normal_variables)
{
    cr_table       *t = normal_table(cx, GAUSS, 0, 0);
    cr_info_options o = plain(cx);
    double          h1 = 0.5 * log(2 * M_PI * M_E), i_xy = -0.5 * log(1 - 0.64);
    double          i_xw = 0.5 * log(2), i_yw = -0.5 * log(1 - 0.32);
    assert_close(entropy_of(cx, t, "x", NULL, NULL, &o), h1 + log(3), 0.1);
    assert_close(entropy_of(cx, t, "y", NULL, NULL, &o), h1 + log(100), 0.1);
    assert_close(entropy_of(cx, t, "x", "y", NULL, &o), 2 * h1 + log(300) - i_xy, 0.12);
    assert_close(entropy_of(cx, t, "x", NULL, "y", &o), h1 + log(3) - i_xy, 0.12);
    assert_close(mutual_of(cx, t, "x", "y", NULL, &o), i_xy, 0.06);
    assert_close(mutual_of(cx, t, "g", "v", NULL, &o), /* and exactly: I = H - H given the other */
                 entropy_of(cx, t, "g", NULL, NULL, &o) - entropy_of(cx, t, "g", NULL, "v", &o),
                 1e-12);
    assert_close(mutual_of(cx, t, "x", "v", NULL, &o), 0, 0.06);
    assert_close(mutual_of(cx, t, "y", "w", NULL, &o), i_yw, 0.06);
    assert_close(mutual_of(cx, t, "y", "w", "x", &o), 0, 0.06); /* x explains both */
    assert_close(mutual_of(cx, t, "x", "w", "g", &o), i_xw, 0.06);
    assert_close(mutual_of(cx, t, "g", "v", NULL, &o), mixture_entropy() - h1, 0.06);
    assert_close(mutual_of(cx, t, "g", "v", "x", &o), mixture_entropy() - h1, 0.08);
    assert_close(entropy_of(cx, t, "g", "v", NULL, &o), log(2) + h1, 0.1);
    cr_table_free(cx, t);
}

/* Kraskov's formula, and Ross's, by loops over all pairs of rows. */
static double naive_mutual(const double *x, const uint32_t *opt_class, const double *y, size_t n,
                           size_t k)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double near[16], e;
        size_t found = 0, in_x = 0, in_y = 0;
        for (size_t j = 0; j < n; j++) {
            double dx =
                opt_class ? (opt_class[i] == opt_class[j] ? 0 : INFINITY) : fabs(x[i] - x[j]);
            double d = fmax(dx, fabs(y[i] - y[j]));
            size_t at = found < k ? found++ : k;
            if (i == j) {
                if (at < k) found--;
                continue;
            }
            for (near[at] = d; at > 0 && near[at - 1] > near[at]; at--) {
                double held = near[at];
                near[at] = near[at - 1], near[at - 1] = held;
            }
        }
        e = near[k - 1];
        for (size_t j = 0; j < n; j++) {
            in_x += j != i && (opt_class ? opt_class[i] == opt_class[j] : fabs(x[i] - x[j]) < e);
            in_y += j != i && fabs(y[i] - y[j]) < e;
        }
        sum += cr_digamma((double)k) + cr_digamma((double)n) - cr_digamma((double)in_x + 1) -
               cr_digamma((double)in_y + 1);
    }
    return sum / (double)n;
}

static void standardise(const double *x, size_t n, double *out)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean) / (double)n;
    for (size_t i = 0; i < n; i++) out[i] = (x[i] - mean) / sqrt(square);
}

TEST(against_all_pairs)
{
    enum { ROWS = 200 };
    cr_table       *t = normal_table(cx, ROWS, 1, 0);
    cr_info_options o = plain(cx);
    double          x[ROWS], y[ROWS], v[ROWS];
    standardise(cr_table_find(t, "x")->values, ROWS, x);
    standardise(cr_table_find(t, "y")->values, ROWS, y);
    standardise(cr_table_find(t, "v")->values, ROWS, v);
    for (o.neighbours = 1; o.neighbours <= 7; o.neighbours += 3) {
        assert_close(mutual_of(cx, t, "x", "y", NULL, &o),
                     naive_mutual(x, NULL, y, ROWS, o.neighbours), 1e-9);
        assert_close(mutual_of(cx, t, "g", "v", NULL, &o),
                     naive_mutual(NULL, cr_table_find(t, "g")->codes, v, ROWS, o.neighbours), 1e-9);
    }
    cr_table_free(cx, t);
}

/* Whole numbers taken as measured: the differential entropy of their spread is the discrete one. */
TEST(repeated_values)
{
    enum { ROWS = 3000, K = 40 };
    double          x[ROWS], y[ROWS], z[ROWS];
    cr_rng          r = cr_rng_stream(51, 0);
    cr_table       *t = new_table(cx, ROWS);
    cr_info_options o = plain(cx);
    cr_information  g;
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = (double)cr_rng_below(&r, K);
        y[i] = 0.25 * x[i];
        z[i] = (double)cr_rng_below(&r, 3);
    }
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_INTEGER, x, 1));
    add_real(cx, t, "y", y);
    assert_ok(cx, cr_table_add_numbers(cx, t, "z", CR_INTEGER, z, 1));
    assert_ok(cx, cr_table_entropy(cx, t, (const char *[]){ "x" }, 1, NULL, 0, &o, 0, &g));
    assert_true(!g.counted && g.resolution == 1);
    assert_close(g.value, log(K), 0.05);
    assert_ok(cx, cr_table_entropy(cx, t, (const char *[]){ "y" }, 1, NULL, 0, &o, 0, &g));
    assert_true(g.resolution == 0.25);
    assert_close(g.value, log(K) + log(0.25), 0.05);
    assert_ok(cx, cr_table_entropy(cx, t, (const char *[]){ "z" }, 1, NULL, 0, &o, 0, &g));
    assert_true(g.counted && g.cells == 3); /* few values: counted */
    assert_close(mutual_of(cx, t, "x", "y", NULL, &o), log(K), 0.15);
    cr_table_free(cx, t);
}

/* Two decimals and two pairs of equal numbers, far apart: the step is that of the digits, not the distance of the
 * pairs.  mtcars (Henderson & Velleman 1981), quarter-mile times. */
TEST(few_ties)
{
    static const double qsec[] = { 16.46, 17.02, 18.61, 19.44, 17.02, 20.22, 15.84, 20,
                                   22.9,  18.3,  18.9,  17.4,  17.6,  18,    17.98, 17.82,
                                   17.42, 19.47, 18.52, 19.9,  20.01, 16.87, 17.3,  15.41,
                                   17.05, 18.9,  16.7,  16.9,  14.5,  15.5,  14.6,  18.6 };
    enum { ROWS = sizeof qsec / sizeof *qsec };
    cr_table       *t = new_table(cx, ROWS);
    cr_info_options o = plain(cx);
    cr_information  g;
    add_real(cx, t, "qsec", qsec);
    assert_ok(cx, cr_table_entropy(cx, t, (const char *[]){ "qsec" }, 1, NULL, 0, &o, 0, &g));
    assert_true(g.resolution == 0.01);
    cr_table_free(cx, t);
}

/* Logs of whole numbers, with four decimals: far more of them repeat than four decimals would let.  The entropy is
 * that of the numbers before they were rounded, to what one step for all of them leaves (four decimals: -2.9). */
TEST(logs_of_whole_numbers)
{
    enum { ROWS = 2000 };
    double          x[ROWS];
    cr_rng          r = cr_rng_stream(8, 1);
    cr_table       *t = new_table(cx, ROWS);
    cr_info_options o = plain(cx);
    cr_information  g;
    for (size_t i = 0; i < ROWS; i++)
        x[i] = round(1e4 * log(round(exp(4.5 + 0.5 * cr_rng_normal(&r))))) / 1e4;
    add_real(cx, t, "x", x);
    assert_ok(cx, cr_table_entropy(cx, t, (const char *[]){ "x" }, 1, NULL, 0, &o, 0, &g));
    assert_close(g.value, 0.5 * log(2 * M_PI * exp(1)) + log(0.5), 0.2);
    cr_table_free(cx, t);
}

static void look_for_any_cluster(void *said, cr_log_level level, const char *text)
{
    if (level == CR_LOG_WARNING && strstr(text, "are exactly")) *(bool *)said = true;
}

/* Whole numbers of which a few repeat by chance more often than others are no cluster. */
TEST(whole_numbers_are_no_cluster)
{
    enum { ROWS = 116 };
    double          x[ROWS];
    bool            said = false;
    cr_rng          r = cr_rng_stream(5, 9);
    cr_table       *t = new_table(cx, ROWS);
    cr_info_options o = plain(cx);
    cr_information  g;
    for (size_t i = 0; i < ROWS; i++) x[i] = round(exp(3.4 + 0.9 * cr_rng_normal(&r)));
    for (size_t i = 0; i < 6; i++) x[i] = 23; /* as in the ozone of R's airquality */
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_INTEGER, x, 1));
    cr_ctx_set_log(cx, look_for_any_cluster, &said);
    assert_ok(cx, cr_table_entropy(cx, t, (const char *[]){ "x" }, 1, NULL, 0, &o, 0, &g));
    assert_false(said);
    cr_ctx_set_log(cx, NULL, NULL);
    cr_table_free(cx, t);
}

static void look_for_cluster(void *said, cr_log_level level, const char *text)
{
    if (level == CR_LOG_WARNING && strstr(text, "134 of 400 rows of 'x' are exactly 0"))
        *(bool *)said = true;
}

/* Whole numbers among which a few have a decimal: the resolution is that of the many, and the entropy that of
 * the numbers before they were rounded. */
TEST(unevenly_rounded)
{
    enum { ROWS = 400 };
    double          x[ROWS], y[ROWS];
    cr_rng          r = cr_rng_stream(21, 4);
    cr_table       *t = new_table(cx, ROWS), *half[2];
    cr_info_options o = plain(cx);
    cr_information  g, h;
    cr_divergence   d;
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = 100 + 15 * cr_rng_normal(&r);
        y[i] = i % 50 == 0 ? round(10 * x[i]) / 10 : round(x[i]);
    }
    add_real(cx, t, "x", x);
    add_real(cx, t, "y", y);
    assert_ok(cx, cr_table_entropy(cx, t, (const char *[]){ "x" }, 1, NULL, 0, &o, 0, &g));
    assert_ok(cx, cr_table_entropy(cx, t, (const char *[]){ "y" }, 1, NULL, 0, &o, 0, &h));
    assert_close(h.resolution, 1, 1e-12);
    assert_close(g.value, log(15) + 0.5 * log(2 * M_PI * M_E), 0.15);
    assert_close(h.value, g.value, 0.1);
    for (int k = 0; k < 2; k++) {
        half[k] = new_table(cx, ROWS / 2);
        add_real(cx, half[k], "y", y + k * ROWS / 2);
    }
    o.bootstrap = 20;
    assert_ok(cx, cr_table_divergence(cx, half[0], half[1], (const char *[]){ "y" }, 1, &o, 0, &d));
    assert_true(d.kl >= 0 && d.js >= 0 && d.lower == 0);
    assert_true(d.upper > d.kl &&
                d.upper < 0.5); /* one distribution: near 0, and not known to be 0 */
    for (int k = 0; k < 2; k++) cr_table_free(cx, half[k]);
    cr_table_free(cx, t);

    bool said = false; /* many zeros among numbers: said, since nothing can undo it */
    cr_ctx_set_log(cx, look_for_cluster, &said);
    for (size_t i = 0; i < ROWS; i += 3) x[i] = 0;
    t = new_table(cx, ROWS);
    add_real(cx, t, "x", x);
    assert_ok(cx, cr_table_entropy(cx, t, (const char *[]){ "x" }, 1, NULL, 0, &o, 0, &g));
    assert_true(said);
    cr_table_free(cx, t);
}
