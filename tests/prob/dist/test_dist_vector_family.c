/* test_dist_vector_family.c -- vectors and matrices as exponential families: the slope of the
 * log-partition is the mean of the statistics, and the fit is where that mean is the data's; the
 * fit beats its neighbours, counts weights as repetitions, and refuses what has no maximum. */
#include "support.h"
#include "prob/dist/dist.h"
#include "prob/dist/dist_class.h"

typedef struct family_case {
    const cr_dist_class *c;
    double               p[12], q[12]; /* q: a neighbour */
    size_t               n;
} family_case;

static const family_case cases[] = {
    { &cri_dist_mvn, { 0.5, -1, 2, 0.6, 0.6, 1 }, { 0, -1, 1.8, 0.4, 0.4, 1.2 }, 6 },
    { &cri_dist_mvn, { 1e6, 0.04 }, { 1e6, 0.05 }, 2 },
    { &cri_dist_mvn,
      { 1, 2, 3, 2, 0.6, 0.1, 0.6, 1, -0.3, 0.1, -0.3, 3 },
      { 1, 2, 2, 2, 0.5, 0, 0.5, 1, -0.1, 0, -0.1, 3 },
      12 },
    { &cri_dist_mvn_information, { 1, 0.5, 2, 0.6, 0.6, 1 }, { 1, 0.4, 2, 0.5, 0.5, 1.1 }, 6 },
    { &cri_dist_dirichlet, { 2, 3, 5 }, { 2.5, 3, 4 }, 3 },
    { &cri_dist_dirichlet, { 0.3, 0.8, 0.2, 4 }, { 0.4, 0.8, 0.3, 3 }, 4 },
    { &cri_dist_dirichlet, { 2000, 3000 }, { 2100, 3000 }, 2 },
    { &cri_dist_dirichlet, { 0.2, 6 }, { 0.25, 6 }, 2 },
    { &cri_dist_multinomial, { 12, 0.2, 0.5, 0.3 }, { 12, 0.25, 0.45, 0.3 }, 4 },
    { &cri_dist_wishart, { 5.5, 2, 0.6, 0.6, 1 }, { 6, 2, 0.5, 0.5, 1 }, 5 },
    { &cri_dist_wishart, { 3.3, 1.7 }, { 3, 2 }, 2 },
    { &cri_dist_inverse_wishart, { 9, 2, 0.6, 0.6, 1 }, { 10, 2, 0.5, 0.5, 1 }, 5 },
    { &cri_dist_nig, { 0.5, 2, 6, 4 }, { 0.3, 2.5, 5, 4 }, 4 },
    { &cri_dist_niw, { 0, 1, 2, 12, 2, 0.6, 0.6, 1 }, { 0.1, 1, 2.5, 11, 2.2, 0.4, 0.4, 1 }, 8 },
};
enum { CASES = sizeof cases / sizeof *cases, MOST = 16, DRAWS = 20000, ROWS = 60 };

static size_t dimension(const family_case *k) { return cri_dist_dimension(k->c, k->n); }

static void statistics(const family_case *k, const double *x, double *t)
{
    double spare[64];
    k->c->vector->family->statistic(dimension(k), x, t, spare);
}

/* --- natural parameters ---------------------------------------------------------------------- */

TEST(slope_of_log_partition)
{
    for (size_t i = 0; i < CASES; i++) {
        const family_case       *k = &cases[i];
        const cri_vector_family *f = k->c->vector->family;
        size_t                   d = dimension(k), m = cr_dist_natural_count(k->c, k->n);
        double                   eta[MOST], mean[MOST], spare[64], A = 0;
        assert_ok(cx, cr_dist_natural(cx, k->c, k->p, k->n, eta, mean, &A));
        assert_relative(f->log_partition(k->p, d, eta, spare), A, 1e-15);
        for (size_t j = 0; j < m; j++) {
            double h = 1e-5 * fmax(fabs(eta[j]), 1e-2), old = eta[j], at[4],
                   step[] = { 1, -1, 2, -2 };
            for (size_t l = 0; l < 4; l++) {
                eta[j] = old + step[l] * h;
                at[l] = f->log_partition(k->p, d, eta, spare);
            }
            eta[j] = old;
            double slope = (8 * (at[0] - at[1]) - (at[2] - at[3])) / (12 * h);
            double noise = 1e-14 * fabs(A) / h;
            if (!(fabs(slope - mean[j]) <= 1e-7 * fabs(mean[j]) + 1e-9 + noise))
                fail_msg("%s, case %zu: statistic %zu has mean %.12g, slope %.12g", k->c->name, i,
                         j, mean[j], slope);
        }
    }
}

/* log p(x) - eta T(x) + A depends on x alone. */
TEST(base_measure)
{
    for (size_t i = 0; i < CASES; i++) {
        const family_case *k = &cases[i];
        size_t             m = cr_dist_natural_count(k->c, k->n);
        double             x[MOST], t[MOST], eta[MOST], mean[MOST], base[2], A = 0;
        cr_rng             r = cr_rng_stream(51, i);
        assert_ok(cx, cr_dist_vector_sample(cx, k->c, k->p, k->n, &r, 1, x));
        statistics(k, x, t);
        for (int turn = 0; turn < 2; turn++) {
            const double *p = turn ? k->q : k->p;
            double        size = 1;
            assert_ok(cx, cr_dist_vector_logpdf(cx, k->c, p, k->n, x, 1, &base[turn]));
            assert_ok(cx, cr_dist_natural(cx, k->c, p, k->n, eta, mean, &A));
            base[turn] += A;
            for (size_t j = 0; j < m; j++) {
                base[turn] -= eta[j] * t[j];
                size = fmax(size, fabs(eta[j] * t[j]));
            }
            if (turn && !(fabs(base[0] - base[1]) <= 1e-13 * size))
                fail_msg("%s, case %zu: %.12g or %.12g", k->c->name, i, base[0], base[1]);
        }
    }
}

TEST(mean_of_draws)
{
    double *x = malloc(DRAWS * MOST * sizeof *x);
    for (size_t i = 0; i < CASES; i++) {
        const family_case *k = &cases[i];
        size_t m = cr_dist_natural_count(k->c, k->n), size = cr_dist_point_size(k->c, k->n);
        double eta[MOST], mean[MOST], t[MOST], off[MOST] = { 0 }, square[MOST] = { 0 }, A = 0;
        cr_rng r = cr_rng_stream(52, i);
        assert_ok(cx, cr_dist_natural(cx, k->c, k->p, k->n, eta, mean, &A));
        assert_ok(cx, cr_dist_vector_sample(cx, k->c, k->p, k->n, &r, DRAWS, x));
        for (size_t l = 0; l < DRAWS; l++) {
            statistics(k, x + l * size, t);
            for (size_t j = 0; j < m; j++) {
                double away = t[j] - mean[j];
                off[j] += away / DRAWS, square[j] += away * away / DRAWS;
            }
        }
        for (size_t j = 0; j < m; j++)
            if (!(fabs(off[j]) <= 5 * sqrt(square[j] / DRAWS) + 1e-12 * fabs(mean[j])))
                fail_msg("%s: statistic %zu is off by %g", k->c->name, j, off[j]);
    }
    free(x);
}

TEST(names)
{
    static const struct {
        const cr_dist_class *c;
        size_t               n, i;
        const char          *name;
    } wanted[] = {
        { &cri_dist_mvn, 12, 1, "x[2]" },
        { &cri_dist_mvn, 12, 3, "x[1]^2" },
        { &cri_dist_mvn, 12, 5, "x[1] x[3]" },
        { &cri_dist_mvn, 12, 8, "x[3]^2" },
        { &cri_dist_dirichlet, 3, 2, "log x[3]" },
        { &cri_dist_multinomial, 4, 0, "x[2]" },
        { &cri_dist_wishart, 5, 0, "log |X|" },
        { &cri_dist_wishart, 5, 2, "X[1,2]" },
        { &cri_dist_inverse_wishart, 5, 3, "X^-1[2,2]" },
        { &cri_dist_nig, 4, 3, "mu^2 / s2" },
        { &cri_dist_niw, 8, 3, "S^-1[2,2]" },
        { &cri_dist_niw, 8, 4, "(S^-1 mu)[1]" },
        { &cri_dist_niw, 8, 6, "mu' S^-1 mu" },
        { &cri_dist_categorical, 3, 1, "[x = 2]" },
        { &cri_dist_poisson, 1, 0, "x" },
        { &cri_dist_gamma, 2, 1, "x" },
        { &cri_dist_gamma, 2, 0, "log x" },
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char name[64] = "";
        cr_dist_statistic_name(wanted[i].c, wanted[i].n, wanted[i].i, name, sizeof name);
        assert_string_equal(name, wanted[i].name);
    }
    assert_int_equal(cr_dist_natural_count(&cri_dist_mvn, 12), 9);
    assert_int_equal(cr_dist_natural_count(&cri_dist_mvn, 7), 0);
    assert_int_equal(cr_dist_natural_count(&cri_dist_mvt, 7), 0);
    assert_int_equal(cr_dist_parameters_for(&cri_dist_mvn, 3), 12);
    assert_int_equal(cr_dist_parameters_for(&cri_dist_wishart, 9), 10);
    assert_int_equal(cr_dist_parameters_for(&cri_dist_wishart, 8), 0);
    assert_int_equal(cr_dist_parameters_for(&cri_dist_nig, 2), 4);
    assert_int_equal(cr_dist_parameters_for(&cri_dist_nig, 3), 0);
    assert_int_equal(cr_dist_parameters_for(&cri_dist_multinomial, 3), 4);
    assert_int_equal(cr_dist_parameters_for(&cri_dist_normal, 1), 2);
    assert_int_equal(cr_dist_parameters_for(&cri_dist_normal, 2), 0);
}

/* --- fit ------------------------------------------------------------------------------------- */

static double log_likelihood(cr_ctx *cx, const family_case *k, const double *p, const double *x,
                             size_t rows)
{
    double each[4 * ROWS], sum = 0;
    if (cr_dist_vector_logpdf(cx, k->c, p, k->n, x, rows, each) != CR_OK) return -INFINITY;
    for (size_t i = 0; i < rows; i++) sum += each[i];
    return sum;
}

/* A matrix stays symmetric, probabilities keep their sum. */
static void shake(const family_case *k, cr_rng *r, double size, const double *v, double *w)
{
    size_t d = dimension(k), at = 0;
    double sum = 0;
    for (const cri_dist_param *p = k->c->params; p->shown.name; p++) {
        size_t n = p->shown.shape == CR_SHAPE_SCALAR   ? 1
                   : p->shown.shape == CR_SHAPE_VECTOR ? d
                                                       : d * d;
        for (size_t j = 0; j < n; j++)
            w[at + j] = p->shown.given
                            ? v[at + j]
                            : v[at + j] + size * (fabs(v[at + j]) + 0.1) * cr_rng_normal(r);
        for (size_t j = 0; p->shown.shape == CR_SHAPE_MATRIX && j < n; j++)
            w[at + j] = w[at + j % d * d + j / d];
        at += n;
    }
    if (k->c != &cri_dist_multinomial) return;
    for (size_t j = 1; j < k->n; j++) sum += w[j] = fabs(w[j]);
    for (size_t j = 1; j < k->n; j++) w[j] /= sum;
}

TEST(fit_beats_neighbours)
{
    for (size_t i = 0; i < CASES; i++) {
        const family_case *k = &cases[i];
        double             x[ROWS * MOST], v[12] = { k->p[0] }, w[12], ll = 0;
        cr_rng             r = cr_rng_stream(53, i);
        assert_ok(cx, cr_dist_vector_sample(cx, k->c, k->p, k->n, &r, ROWS, x));
        assert_ok(cx, cr_dist_vector_fit(cx, k->c, x, NULL, ROWS, v, k->n, &ll));
        assert_relative(ll, log_likelihood(cx, k, v, x, ROWS), 1e-12);
        assert_true(ll >= log_likelihood(cx, k, k->p, x, ROWS));
        for (int turn = 0; turn < 60; turn++) {
            shake(k, &r, turn % 2 ? 1e-2 : 1e-4, v, w);
            double there = log_likelihood(cx, k, w, x, ROWS);
            if (there > ll + 1e-10 * fabs(ll))
                fail_msg("%s, case %zu: %.15g, a neighbour %.15g", k->c->name, i, ll, there);
        }
    }
}

/* The likelihood of an exponential family has slope zero where the mean of each statistic is its
 * average over the data. */
TEST(fit_matches_statistics)
{
    for (size_t i = 0; i < CASES; i++) {
        const family_case *k = &cases[i];
        size_t m = cr_dist_natural_count(k->c, k->n), size = cr_dist_point_size(k->c, k->n);
        double x[ROWS * MOST], v[12] = { k->p[0] }, eta[MOST], mean[MOST], t[MOST], A = 0;
        double sum[MOST] = { 0 };
        cr_rng r = cr_rng_stream(54, i);
        assert_ok(cx, cr_dist_vector_sample(cx, k->c, k->p, k->n, &r, ROWS, x));
        assert_ok(cx, cr_dist_vector_fit(cx, k->c, x, NULL, ROWS, v, k->n, NULL));
        assert_ok(cx, cr_dist_natural(cx, k->c, v, k->n, eta, mean, &A));
        for (size_t l = 0; l < ROWS; l++) {
            statistics(k, x + l * size, t);
            for (size_t j = 0; j < m; j++) sum[j] += t[j] / ROWS;
        }
        for (size_t j = 0; j < m; j++)
            if (!(fabs(sum[j] - mean[j]) <= 1e-9 * (fabs(mean[j]) + 1)))
                fail_msg("%s, case %zu: statistic %zu is %.15g, of the data %.15g", k->c->name, i,
                         j, mean[j], sum[j]);
    }
}

TEST(weights)
{
    for (size_t i = 0; i < CASES; i++) {
        const family_case *k = &cases[i];
        size_t             size = cr_dist_point_size(k->c, k->n), m = 0;
        double             x[ROWS * MOST], y[3 * ROWS * MOST], w[ROWS], a[12] = { k->p[0] },
                                                            b[12] = { k->p[0] };
        double la = 0, lb = 0;
        cr_rng r = cr_rng_stream(55, i);
        assert_ok(cx, cr_dist_vector_sample(cx, k->c, k->p, k->n, &r, ROWS, x));
        for (size_t j = 0; j < ROWS; j++) {
            w[j] = (double)(j % 4);
            for (size_t l = 0; l < j % 4; l++)
                memcpy(y + size * m++, x + size * j, size * sizeof *y);
        }
        assert_ok(cx, cr_dist_vector_fit(cx, k->c, x, w, ROWS, a, k->n, &la));
        assert_ok(cx, cr_dist_vector_fit(cx, k->c, y, NULL, m, b, k->n, &lb));
        assert_relative(la, lb, 1e-10);
        for (size_t j = 0; j < k->n; j++) assert_relative(a[j], b[j], 1e-7);
    }
}

/* In one dimension they are the fits of one variable. */
TEST(one_dimension)
{
    double x[] = { 0.7, 1.9, 0.4, 3.3, 1.2 }, p[] = { 0.3, 0.6, 0.45, 0.8, 0.2 }, pair[10];
    double a[3], b[3], la = 0, lb = 0;
    for (size_t i = 0; i < 5; i++) pair[2 * i] = p[i], pair[2 * i + 1] = 1 - p[i];
    assert_ok(cx, cr_dist_vector_fit(cx, &cri_dist_mvn, x, NULL, 5, a, 2, &la));
    assert_ok(cx, cr_dist_fit(cx, &cri_dist_normal, x, NULL, 5, b, 2, &lb));
    assert_relative(a[0], b[0], 1e-14), assert_relative(a[1], b[1] * b[1], 1e-13);
    assert_relative(la, lb, 1e-13);
    assert_ok(cx, cr_dist_vector_fit(cx, &cri_dist_dirichlet, pair, NULL, 5, a, 2, &la));
    assert_ok(cx, cr_dist_fit(cx, &cri_dist_beta, p, NULL, 5, b, 2, &lb));
    assert_relative(a[0], b[0], 1e-7), assert_relative(a[1], b[1], 1e-7);
    assert_relative(la, lb, 1e-12);
    assert_ok(cx, cr_dist_vector_fit(cx, &cri_dist_wishart, x, NULL, 5, a, 2, &la));
    assert_ok(cx, cr_dist_fit(cx, &cri_dist_gamma, x, NULL, 5, b, 2, &lb));
    assert_relative(a[0], 2 * b[0], 1e-10), assert_relative(a[1], 1 / (2 * b[1]), 1e-10);
    assert_relative(la, lb, 1e-12);
    assert_ok(cx, cr_dist_vector_fit(cx, &cri_dist_inverse_wishart, x, NULL, 5, a, 2, &la));
    assert_ok(cx, cr_dist_fit(cx, &cri_dist_inverse_gamma, x, NULL, 5, b, 2, &lb));
    assert_relative(a[0], 2 * b[0], 1e-10), assert_relative(a[1], 2 * b[1], 1e-10);
}

/* Large samples come near the truth. */
TEST(consistent)
{
    double *x = malloc(DRAWS * MOST * sizeof *x);
    for (size_t i = 0; i < CASES; i++) {
        const family_case *k = &cases[i];
        double             v[12] = { k->p[0] };
        cr_rng             r = cr_rng_stream(56, i);
        assert_ok(cx, cr_dist_vector_sample(cx, k->c, k->p, k->n, &r, DRAWS, x));
        assert_ok(cx, cr_dist_vector_fit(cx, k->c, x, NULL, DRAWS, v, k->n, NULL));
        for (size_t j = 0; j < k->n; j++)
            if (!(fabs(v[j] - k->p[j]) <= 0.05 * fabs(k->p[j]) + 0.05))
                fail_msg("%s: parameter %zu is %g, fitted %g", k->c->name, j, k->p[j], v[j]);
    }
    free(x);
}

/* --- refusals -------------------------------------------------------------------------------- */

TEST(refusals)
{
    static const struct {
        const cr_dist_class *c;
        double               given, x[12];
        size_t               rows, n;
        const char          *says;
    } bad[] = {
        { &cri_dist_mvn, 0, { 1, 2, 3, 2, 5, 2 }, 3, 6, "entry 2 of the points does not vary" },
        { &cri_dist_mvn, 0, { 1, 2, 2, 4, 5, 10 }, 3, 6, "entry 2 of the points is a combination" },
        { &cri_dist_mvn, 0, { 1, 2, 3, 5 }, 2, 6, "combination of those before" },
        { &cri_dist_mvn, 0, { 1, NAN, 3, 5 }, 2, 6, "entry 2 of point 1 is nan" },
        { &cri_dist_mvn, 0, { 0 }, 0, 6, "no values" },
        { &cri_dist_mvn, 0, { 0 }, 1, 5, "not its number of parameters" },
        { &cri_dist_dirichlet, 0, { 0.5, 0.5, 0.4, 0.5 }, 2, 2, "point 2 sums to 0.9" },
        { &cri_dist_dirichlet, 0, { 0.5, 0.5, 1, 0 }, 2, 2, "entry 2 of point 2 is 0" },
        { &cri_dist_dirichlet, 0, { 0.5, 0.5, 0.5, 0.5 }, 2, 2, "points are the same" },
        { &cri_dist_dirichlet, 0, { 1e-30, 1, 1e-40, 1 }, 2, 2, "an entry is 1 in all points" },
        { &cri_dist_dirichlet, 0, { 1, 1 }, 2, 1, "points are the same" },
        { &cri_dist_multinomial,
          4,
          { 1, 3, 2, 1 },
          2,
          3,
          "point 2 is not counts that sum to the 4" },
        { &cri_dist_multinomial, 4, { 1, 3, 2.5, 1.5 }, 2, 3, "point 2 is not counts" },
        { &cri_dist_multinomial, 2.5, { 1, 3, 2, 1 }, 2, 3, "trials is 2.5" },
        { &cri_dist_multinomial, 0, { 0, 0 }, 1, 3, "no trials" },
        { &cri_dist_wishart, 0, { 1, 0, 0, 1, 1, 2, 2, 1 }, 2, 5, "matrix of point 2 is not symm" },
        { &cri_dist_wishart, 0, { 2, 1, 1, 2, 2, 1, 1, 2 }, 2, 5, "matrices are the same" },
        { &cri_dist_inverse_wishart, 0, { 2, 1, 1, 2 }, 1, 5, "matrices are the same" },
        { &cri_dist_nig, 0, { 1, 2, 1, 0 }, 2, 4, "variance of point 2 is 0" },
        { &cri_dist_nig, 0, { 1, 2, 1, 3 }, 2, 4, "all means are equal" },
        { &cri_dist_nig, 0, { 1, 2, 3, 2 }, 2, 4, "all values are 2" },
        { &cri_dist_niw, 0, { 1, 2, 1, 3 }, 2, 4, "all means are equal" },
        { &cri_dist_mvt, 0, { 1, 2 }, 1, 7, "mvt does not offer a fit" },
        { &cri_dist_dirichlet_multinomial, 0, { 1, 2 }, 1, 3, "does not offer a fit" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double v[12], ll = 99;
        for (size_t j = 0; j < 12; j++) v[j] = 77;
        v[0] = bad[i].given;
        cr_status st =
            cr_dist_vector_fit(cx, bad[i].c, bad[i].x, NULL, bad[i].rows, v, bad[i].n, &ll);
        assert_true(st == CR_EDATA || st == CR_EARG || st == CR_EUNSUPPORTED);
        if (!strstr(cr_error(cx), bad[i].says)) fail_msg("case %zu says '%s'", i, cr_error(cx));
        assert_true(v[0] == bad[i].given && v[1] == 77 && ll == 99);
    }
    double x[] = { 1, 2, 3 }, v[12] = { 0 }, w[] = { 1, -1, 1 }, eta[12] = { 5 }, A = 5;
    double edge[] = { 4, 0, 0.4, 0.6 }, t[] = { 3, 0, 0, 1, 0, 0, 1 };
    assert_fails_with(cx, cr_dist_vector_fit(cx, &cri_dist_normal, x, NULL, 3, v, 2, NULL),
                      CR_EUNSUPPORTED, "one variable");
    assert_fails_with(cx, cr_dist_fit(cx, &cri_dist_mvn, x, NULL, 3, v, 2, NULL), CR_EUNSUPPORTED,
                      "of vectors");
    assert_fails_with(cx, cr_dist_vector_fit(cx, &cri_dist_mvn, x, w, 3, v, 2, NULL), CR_EDATA,
                      "weight 2 is -1");
    assert_fails_with(cx, cr_dist_natural(cx, &cri_dist_multinomial, edge, 4, eta, v, &A),
                      CR_ENUMERIC, "natural parameters do not exist");
    assert_fails_with(cx, cr_dist_natural(cx, &cri_dist_mvt, t, 7, eta, v, &A), CR_EUNSUPPORTED,
                      "mvt does not offer natural parameters");
    assert_true(eta[0] == 5 && A == 5);
}

static cr_status fit_and_describe(cr_ctx *cx, void *arg)
{
    cr_status          st = CR_OK;
    const family_case *k = arg;
    double             x[ROWS * MOST], v[12] = { k->p[0] }, eta[MOST], mean[MOST], A = 0;
    cr_rng             r = cr_rng_stream(57, 0);
    CR_TRY(cr_dist_vector_sample(cx, k->c, k->p, k->n, &r, ROWS, x));
    CR_TRY(cr_dist_vector_fit(cx, k->c, x, NULL, ROWS, v, k->n, &A));
    CR_TRY(cr_dist_natural(cx, k->c, v, k->n, eta, mean, &A));
done:
    return st;
}

TEST(allocations)
{
    for (size_t i = 0; i < CASES; i++)
        test_every_allocation_fails(fit_and_describe, (void *)(uintptr_t)&cases[i]);
}
