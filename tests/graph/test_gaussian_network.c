/* Linear-Gaussian networks: the joint against hand-made numbers and against its own information
 * form. */
#include "support.h"

#include "base/rng.h"
#include "math/dense/chol.h"
#include "graph/network/gaussian_network.h"

/* Koller & Friedman (2009), example 7.3: X1 ~ N(1, 4), X2 | X1 ~ N(0.5 X1 - 3.5, 4),
 * X3 | X2 ~ N(-X2 + 1, 3): mean (1, -3, 4), covariance (4 2 -2; 2 5 -5; -2 -5 8). */
static cr_gaussian_network *example(cr_ctx *cx)
{
    cr_gaussian_network *net;
    size_t               parent = 0;
    double               half = 0.5, minus = -1;
    assert_ok(cx, cr_gaussian_network_new(cx, &net));
    assert_ok(cx, cr_gaussian_network_add(cx, net, "x1", 0, NULL, NULL, 1, 4, NULL));
    assert_ok(cx, cr_gaussian_network_add(cx, net, "x2", 1, &parent, &half, -3.5, 4, NULL));
    parent = 1;
    assert_ok(cx, cr_gaussian_network_add(cx, net, "x3", 1, &parent, &minus, 1, 3, NULL));
    return net;
}

TEST(the_book_agrees)
{
    cr_gaussian_network *net = example(cx);
    double               mean[3], cov[9], h[3], J[9], log_density;
    double               expected[] = { 4, 2, -2, 2, 5, -5, -2, -5, 8 }, means[] = { 1, -3, 4 };
    assert_ok(cx, cr_gaussian_network_joint(cx, net, mean, cr_mat_of(cov, 3, 3)));
    for (size_t i = 0; i < 3; i++) assert_close(mean[i], means[i], 1e-14);
    for (size_t i = 0; i < 9; i++) assert_close(cov[i], expected[i], 1e-14);
    assert_ok(cx, cr_gaussian_network_information(cx, net, h, cr_mat_of(J, 3, 3)));
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            double sum = 0;
            for (size_t m = 0; m < 3; m++) sum += J[3 * i + m] * expected[3 * m + k];
            assert_close(sum, (double)(i == k), 1e-13);
        }
    assert_close(J[2], 0, 1e-15); /* x1 and x3 are apart given x2 */
    double x2 = -1;               /* x1 | x2: 1 + 2/5 (x2 + 3), 4 - 4/5 */
    size_t observed = 1;
    assert_ok(cx, cr_gaussian_network_condition(cx, net, 1, &observed, &x2, mean,
                                                cr_mat_of(cov, 3, 3), &log_density));
    assert_close(mean[0], 1 + 2.0 / 5 * 2, 1e-14);
    assert_close(cov[0], 4 - 4.0 / 5, 1e-14);
    assert_close(mean[2], 2, 1e-14);
    assert_close(cov[8], 3, 1e-14);
    assert_close(cov[2], 0, 1e-14);
    assert_true(mean[1] == -1 && cov[4] == 0);
    assert_close(log_density, -0.5 * (4.0 / 5 + log(5) + log(2 * 3.14159265358979323846)), 1e-14);
    cr_gaussian_network_free(cx, net);
}

/* Random networks: J times the covariance is one, J mean = h. */
TEST(forms_agree)
{
    for (uint64_t round = 0; round < 30; round++) {
        cr_rng r = cr_rng_stream(51, round);
        enum { N = 9 };
        cr_gaussian_network *net;
        double               mean[N], cov[N * N], h[N], J[N * N];
        char                 name[32];
        assert_ok(cx, cr_gaussian_network_new(cx, &net));
        for (size_t v = 0; v < N; v++) {
            size_t parents[N], n = 0;
            double w[N];
            for (size_t u = 0; u < v; u++)
                if (cr_rng_below(&r, 2)) parents[n] = u, w[n++] = cr_rng_normal(&r);
            snprintf(name, sizeof name, "x%zu", v);
            assert_ok(cx, cr_gaussian_network_add(cx, net, name, n, parents, w, cr_rng_normal(&r),
                                                  0.3 + cr_rng_uniform(&r), NULL));
        }
        assert_ok(cx, cr_gaussian_network_joint(cx, net, mean, cr_mat_of(cov, N, N)));
        assert_ok(cx, cr_gaussian_network_information(cx, net, h, cr_mat_of(J, N, N)));
        for (size_t i = 0; i < N; i++) {
            double sum = 0;
            for (size_t k = 0; k < N; k++) sum += J[i * N + k] * mean[k];
            assert_close(sum, h[i], 1e-9);
            for (size_t k = 0; k < N; k++) {
                double one = 0;
                for (size_t m = 0; m < N; m++) one += J[i * N + m] * cov[m * N + k];
                assert_close(one, (double)(i == k), 1e-8);
            }
        }
        cr_gaussian_network_free(cx, net);
    }
}

TEST(wrong_input_is_named)
{
    cr_gaussian_network *net = example(cx);
    size_t               parent = 7, twice[] = { 1, 1 };
    double               w[] = { 1, 1 }, mean[4], cov[16];
    assert_fails_with(cx, cr_gaussian_network_add(cx, net, "y", 1, &parent, w, 0, 1, NULL),
                      CR_EDATA, "parent 7");
    assert_fails_with(cx, cr_gaussian_network_add(cx, net, "y", 2, twice, w, 0, 1, NULL), CR_EDATA,
                      "twice");
    assert_fails_with(cx, cr_gaussian_network_add(cx, net, "y", 0, NULL, w, 0, -1, NULL), CR_EDATA,
                      "variance");
    assert_fails_with(cx, cr_gaussian_network_add(cx, net, "x1", 0, NULL, w, 0, 1, NULL), CR_EDATA,
                      "two variables");
    assert_fails_with(
        cx, cr_gaussian_network_condition(cx, net, 2, twice, w, mean, cr_mat_of(cov, 3, 3), NULL),
        CR_EARG, "twice");
    parent = 2;
    assert_ok(cx, cr_gaussian_network_add(cx, net, "y", 1, &parent, w, 0, 0, NULL)); /* y = x3 */
    assert_fails_with(cx, cr_gaussian_network_information(cx, net, mean, cr_mat_of(cov, 4, 4)),
                      CR_ENUMERIC, "'y' is 0");
    size_t tied[] = { 2, 3 };
    assert_fails(
        cx, cr_gaussian_network_condition(cx, net, 2, tied, w, mean, cr_mat_of(cov, 4, 4), NULL),
        CR_ENUMERIC);
    cr_gaussian_network_free(cx, net);
}

static cr_status everything(cr_ctx *cx, void *unused)
{
    (void)unused;
    cr_status            st = CR_OK;
    cr_gaussian_network *net = NULL;
    size_t               parent = 0;
    double               one = 1, mean[2], cov[4];
    CR_TRY(cr_gaussian_network_new(cx, &net));
    CR_TRY(cr_gaussian_network_add(cx, net, "a", 0, NULL, NULL, 1, 1, NULL));
    CR_TRY(cr_gaussian_network_add(cx, net, "b", 1, &parent, &one, 1, 1, NULL));
    CR_TRY(
        cr_gaussian_network_condition(cx, net, 1, &parent, &one, mean, cr_mat_of(cov, 2, 2), NULL));
done:
    cr_gaussian_network_free(cx, net);
    return st;
}

TEST(allocations_may_fail) { test_every_allocation_fails(everything, NULL); }
