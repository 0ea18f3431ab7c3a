/* test_gaussian_refusals.c -- singular covariances, impossible observations, arguments that do not
 * fit, and memory that runs out: what is said, and that outputs stay as they were. */
#include "naive.h"

static cr_gaussian *make(cr_ctx *cx, size_t d, const double *m, const double *S)
{
    cr_gaussian *g = NULL;
    assert_ok(cx, cr_gaussian_new(cx, m, cr_cmat_of(S, d, d), &g));
    return g;
}

/* --- singular covariances -------------------------------------------------------------------- */

/* x2 = x0 + x1, x3 = 7. */
static const double plane_mean[] = { 1, 2, 3, 7 };
static const double plane[] = { 2, 1, 3, 0, 1, 5, 6, 0, 3, 6, 9, 0, 0, 0, 0, 0 };

TEST(singular)
{
    cr_gaussian  *g = make(cx, 4, plane_mean, plane), *out = NULL, *m = NULL;
    cr_canonical *c = NULL;
    double        x = 9;
    const char   *says = "covariance is singular: variable 2 is determined by those before it";
    const size_t  three[] = { 0, 1, 2 }, two[] = { 1, 0 };
    assert_ok(cx, cr_gaussian_marginal(cx, g, three, 3, &m));
    assert_fails_with(cx, cr_gaussian_to_canonical(cx, m, &c), CR_ENUMERIC, says);
    assert_fails_with(cx, cr_gaussian_logpdf(cx, m, plane_mean, 1, &x), CR_ENUMERIC, says);
    assert_fails_with(cx, cr_gaussian_entropy(cx, m, &x), CR_ENUMERIC, says);
    assert_fails_with(cx, cr_gaussian_kl(cx, m, m, &x), CR_ENUMERIC, "variable 2");
    assert_fails_with(cx, cr_gaussian_entropy(cx, g, &x), CR_ENUMERIC, "variable 2");
    assert_true(x == 9 && c == NULL);

    /* x0 and x1 determine the rest, which is then known without variance */
    double at[] = { 4, -1 };
    assert_ok(cx, cr_gaussian_condition(cx, g, two, 2, at, &out, &x));
    assert_int_equal(out->d, 2);
    assert_close(out->mean[0], 3, 1e-14);
    assert_true(out->mean[1] == 7);
    for (size_t i = 0; i < 4; i++) assert_true(out->covariance[i] == 0);
    cr_gaussian_free(cx, out);
    out = NULL;

    /* but all three cannot be seen at once, in whatever order */
    double all[] = { 1, 2, 3 };
    assert_fails_with(cx, cr_gaussian_condition(cx, g, three, 3, all, &out, &x), CR_ENUMERIC,
                      says + 11);
    const size_t other[] = { 2, 1, 0 };
    assert_fails_with(cx, cr_gaussian_condition(cx, g, other, 3, all, &out, &x), CR_ENUMERIC,
                      "variable 0 is determined");
    assert_null(out);
    cr_gaussian_free(cx, g), cr_gaussian_free(cx, m);
}

/* A variable without variance: seen at its mean it tells nothing, elsewhere it is impossible. */
TEST(no_variance)
{
    cr_gaussian *g = make(cx, 4, plane_mean, plane), *a = NULL, *b = NULL;
    const size_t seen[] = { 3, 0 };
    double       at[] = { 7, 2.5 }, with = 0, without = 0;
    assert_ok(cx, cr_gaussian_condition(cx, g, seen, 2, at, &a, &with));
    assert_ok(cx, cr_gaussian_condition(cx, g, seen + 1, 1, at + 1, &b, &without));
    assert_true(with == without);
    for (size_t i = 0; i < 2; i++) {
        assert_true(a->mean[i] == b->mean[i]);
        for (size_t j = 0; j < 2; j++)
            assert_true(a->covariance[i * 2 + j] == b->covariance[i * 3 + j]);
    }
    cr_gaussian_free(cx, a);
    a = NULL;
    at[0] = 8;
    assert_fails_with(cx, cr_gaussian_condition(cx, g, seen, 2, at, &a, NULL), CR_EDATA,
                      "variable 3 has no variance and is 7: it cannot be 8");
    assert_null(a);
    cr_gaussian_free(cx, b), cr_gaussian_free(cx, g);
}

/* Singular by any route stays within rounding: random planes of any rank, on any scale. */
TEST(random_planes)
{
    cr_rng r = cr_rng_stream(31, 0);
    for (size_t d = 2; d <= 9; d++)
        for (size_t rank = 1; rank < d; rank++) {
            cr_gaussian *g = random_gaussian(cx, &r, d, rank, 0), *out = NULL;
            double       x = 0, values[MOST];
            size_t       seen[MOST];
            assert_fails_with(cx, cr_gaussian_entropy(cx, g, &x), CR_ENUMERIC, "singular");
            for (size_t i = 0; i < rank; i++) seen[i] = i, values[i] = cr_rng_normal(&r);
            assert_ok(cx, cr_gaussian_condition(cx, g, seen, rank, values, &out, NULL));
            for (size_t i = 0; i < out->d * out->d; i++) {
                size_t k = rank + i / out->d, l = rank + i % out->d;
                double scale = sqrt(g->covariance[k * d + k] * g->covariance[l * d + l]);
                assert_true(fabs(out->covariance[i]) <= 1e-12 * scale);
                assert_true(k != l || out->covariance[i] >= 0);
            }
            cr_gaussian_free(cx, g), cr_gaussian_free(cx, out);
        }
}

/* --- arguments ------------------------------------------------------------------------------- */

TEST(arguments)
{
    double m[] = { 0, 1, NAN }, bad[] = { 1, 2, 2, 1 }, skew[] = { 1, 0.5, 0.4, 1 };
    double minus[] = { 1, 0, 0, -1 }, S[] = { 2, 0.5, 0.5, 1 }, hole[] = { 1, 0, 0, INFINITY };
    double odd[] = { 0, 0.1, 0.1, 1 }, x = 7;
    cr_gaussian  *g = NULL, *h = NULL, *out = NULL;
    cr_canonical *c = NULL, *k = NULL;
    assert_fails_with(cx, cr_gaussian_new(cx, m, cr_cmat_of(bad, 2, 2), &g), CR_EARG,
                      "not positive semidefinite");
    assert_fails_with(cx, cr_gaussian_new(cx, m, cr_cmat_of(minus, 2, 2), &g), CR_EARG,
                      "not positive semidefinite: variable 1");
    assert_fails_with(cx, cr_gaussian_new(cx, m, cr_cmat_of(odd, 2, 2), &g), CR_EARG,
                      "not positive semidefinite: variable 0");
    assert_fails_with(cx, cr_gaussian_new(cx, m, cr_cmat_of(skew, 2, 2), &g), CR_EARG,
                      "not symmetric: its entry (1, 0) is 0.4, but (0, 1) is 0.5");
    assert_fails_with(cx, cr_gaussian_new(cx, m, cr_cmat_of(hole, 2, 2), &g), CR_EARG, "is inf");
    assert_fails_with(cx, cr_gaussian_new(cx, m + 1, cr_cmat_of(S, 2, 2), &g), CR_EARG,
                      "entry 1 of the mean is nan");
    assert_fails_with(cx, cr_gaussian_new(cx, m, cr_cmat_of(S, 2, 1), &g), CR_EARG, "2 x 1");
    assert_fails_with(cx, cr_canonical_new(cx, m, cr_cmat_of(skew, 2, 2), &c), CR_EARG,
                      "symmetric");
    assert_fails_with(cx, cr_canonical_new(cx, m + 1, cr_cmat_of(S, 2, 2), &c), CR_EARG, "nan");
    assert_true(g == NULL && c == NULL);
    g = make(cx, 2, m, S), h = make(cx, 1, m, S);
    assert_ok(cx, cr_gaussian_to_canonical(cx, g, &c));
    assert_ok(cx, cr_gaussian_to_canonical(cx, h, &k));
    const size_t twice[] = { 1, 1 }, far[] = { 0, 2 }, many[] = { 0, 1, 0 };
    double       v[] = { 1, NAN, 3 };
    assert_fails_with(cx, cr_gaussian_marginal(cx, g, twice, 2, &out), CR_EARG,
                      "variable 1 is listed twice");
    assert_fails_with(cx, cr_gaussian_marginal(cx, g, far, 2, &out), CR_EARG,
                      "there is no variable 2: they are 0 to 1");
    assert_fails_with(cx, cr_gaussian_condition(cx, g, many, 3, v, &out, &x), CR_EARG, "twice");
    assert_fails_with(cx, cr_canonical_marginal(cx, c, many, 3, &k), CR_EARG, "twice");
    assert_fails_with(cx, cr_canonical_condition(cx, c, many, 3, v, &k, &x), CR_EARG, "twice");
    assert_fails_with(cx, cr_gaussian_condition(cx, g, far, 1, v + 1, &out, &x), CR_EARG,
                      "values is nan");
    assert_fails_with(cx, cr_gaussian_product(cx, g, h, &out, &x), CR_EARG,
                      "2 variables, the other 1");
    assert_fails_with(cx, cr_gaussian_divide(cx, g, h, &out, &x), CR_EARG, "the other 1");
    assert_fails_with(cx, cr_gaussian_kl(cx, g, h, &x), CR_EARG, "the other 1");
    assert_fails_with(cx, cr_canonical_kl(cx, c, k, &x), CR_EARG, "the other 1");
    assert_fails_with(cx, cr_gaussian_logpdf(cx, g, v, 1, &x), CR_EARG, "points is nan");
    double             A[] = { 1, 1, 1 }, R[] = { -1 };
    cr_linear_gaussian wide = { .A = cr_cmat_of(A, 1, 3) },
                       neg = { cr_cmat_of(A, 1, 2), NULL, cr_cmat_of(R, 1, 1) };
    assert_fails_with(cx, cr_gaussian_predictive(cx, g, &wide, &out), CR_EARG, "A has 3 columns");
    assert_fails_with(cx, cr_gaussian_joint(cx, g, &neg, &out), CR_EARG,
                      "noise R is not positive semidefinite");
    assert_fails_with(cx, cr_gaussian_posterior(cx, g, &neg, A, &out, &x), CR_EARG, "noise R");
    assert_true(out == NULL && x == 7 && k->d == 1);
    cr_gaussian_free(cx, g), cr_gaussian_free(cx, h);
    cr_canonical_free(cx, c), cr_canonical_free(cx, k);
}

/* --- memory ---------------------------------------------------------------------------------- */

static const double mean3[] = { 0, 1, 2 }, S3[] = { 2, 0.5, 0.1, 0.5, 1, 0.2, 0.1, 0.2, 1.5 };
static const double A23[] = { 1, 0, 1, 0, 1, 1 }, R2[] = { 1, 0.1, 0.1, 2 }, y2[] = { 0.3, 0.4 };
static const size_t two_of_three[] = { 2, 0 };
static cr_linear_gaussian rule(void)
{
    return (cr_linear_gaussian){ cr_cmat_of(A23, 2, 3), y2, cr_cmat_of(R2, 2, 2) };
}

static cr_status moment_calls(cr_ctx *cx, void *unused)
{
    cr_status          st = CR_OK;
    cr_gaussian       *g = NULL, *part = NULL, *left = NULL, *both = NULL, *back = NULL;
    cr_gaussian       *joint = NULL, *post = NULL, *y = NULL;
    cr_linear_gaussian r = rule();
    cr_rng             rng = cr_rng_stream(1, 1);
    double             x[6];
    (void)unused;
    CR_TRY(cr_gaussian_new(cx, mean3, cr_cmat_of(S3, 3, 3), &g));
    CR_TRY(cr_gaussian_logpdf(cx, g, mean3, 1, x));
    CR_TRY(cr_gaussian_entropy(cx, g, x));
    CR_TRY(cr_gaussian_kl(cx, g, g, x));
    CR_TRY(cr_gaussian_sample(cx, g, &rng, 2, x));
    CR_TRY(cr_gaussian_marginal(cx, g, two_of_three, 2, &part));
    CR_TRY(cr_gaussian_condition(cx, g, two_of_three, 2, y2, &left, x));
    CR_TRY(cr_gaussian_product(cx, g, g, &both, x));
    CR_TRY(cr_gaussian_divide(cx, both, g, &back, x));
    CR_TRY(cr_gaussian_joint(cx, g, &r, &joint));
    CR_TRY(cr_gaussian_predictive(cx, g, &r, &y));
    CR_TRY(cr_gaussian_posterior(cx, g, &r, y2, &post, x));
done:
    cr_gaussian_free(cx, g), cr_gaussian_free(cx, part), cr_gaussian_free(cx, left);
    cr_gaussian_free(cx, both), cr_gaussian_free(cx, back), cr_gaussian_free(cx, joint);
    cr_gaussian_free(cx, post), cr_gaussian_free(cx, y);
    return st;
}

static cr_status canonical_calls(cr_ctx *cx, void *unused)
{
    cr_status     st = CR_OK;
    cr_canonical *c = NULL, *part = NULL, *left = NULL, *both = NULL, *back = NULL, *post = NULL;
    cr_canonical *again = NULL;
    cr_gaussian  *g = NULL;
    cr_linear_gaussian r = rule();
    cr_rng             rng = cr_rng_stream(1, 1);
    double             x[6];
    bool               proper;
    (void)unused;
    CR_TRY(cr_canonical_new(cx, mean3, cr_cmat_of(S3, 3, 3), &c));
    CR_TRY(cr_canonical_to_gaussian(cx, c, &g));
    CR_TRY(cr_gaussian_to_canonical(cx, g, &again));
    CR_TRY(cr_canonical_mean(cx, c, x));
    CR_TRY(cr_canonical_logpdf(cx, c, mean3, 1, x));
    CR_TRY(cr_canonical_log_partition(cx, c, x));
    CR_TRY(cr_canonical_entropy(cx, c, x));
    CR_TRY(cr_canonical_kl(cx, c, c, x));
    CR_TRY(cr_canonical_sample(cx, c, &rng, 2, x));
    CR_TRY(cr_canonical_marginal(cx, c, two_of_three, 2, &part));
    CR_TRY(cr_canonical_condition(cx, c, two_of_three, 2, y2, &left, x));
    CR_TRY(cr_canonical_product(cx, c, c, &both, x));
    CR_TRY(cr_canonical_divide(cx, both, c, &back, &proper, x));
    CR_TRY(cr_canonical_posterior(cx, c, &r, y2, &post, x));
done:
    cr_gaussian_free(cx, g), cr_canonical_free(cx, again);
    cr_canonical_free(cx, c), cr_canonical_free(cx, part), cr_canonical_free(cx, left);
    cr_canonical_free(cx, both), cr_canonical_free(cx, back), cr_canonical_free(cx, post);
    return st;
}

TEST(allocations)
{
    test_every_allocation_fails(moment_calls, NULL);
    test_every_allocation_fails(canonical_calls, NULL);
}
