/* test_kernel_gradient.c -- all derivatives against central differences of the values. */
#include "differences.h"

static const char *const each[] = {
    "rbf(l=0.4)",
    "rbf(ard)",
    "rbf(x1, x3; l=[0.3,0.8])",
    "matern12(l=0.7)",
    "matern32(l=0.7, ard)",
    "matern52(l=0.7)",
    "matern(nu=3.5, l=0.4)",
    "matern(nu=0.8, l=0.7)",
    "matern(nu=2.2, l=0.7, ard)",
    "rq(l=0.5, alpha=0.7)",
    "rq(ard, alpha=2)",
    "periodic(l=0.8, p=0.7)",
    "periodic(p=[0.5,0.7,0.9], ard)",
    "cosine(p=1.3)",
    "cosine(ard, p=2.3)",
    "linear",
    "loglinear(slope=0.7)",
    "loglinear(x1, x3; slope=[0.7,-1.3], centre=[0.4,0.1], scale=[0.5,2])",
    "rbf(l=0.4) + white(0.4)*loglinear(ard, slope=0.6)",
    "linear(x2; warp=log)",
    "polynomial(degree=3, c=0.7, variance=1.2)",
    "fisher(mean=0.4, sd=0.3)",
    "fisher(x1, x3; mean=[0.2,0.5], sd=[0.4,0.7], order=1)",
    "fisher(x2, x3, x1; mean=[0.1,0.6,0.3], sd=[0.5,0,0, 0.2,0.4,0, -0.3,0.1,0.6])",
    "product(x1, x2)",
    "product(x3, x1; rho=1)",
    "sigmoid(gamma=0.4, c=-0.3)",
    "chi2(gamma=0.6)",
    "intersection",
    "bhattacharyya",
    "jensen_shannon",
    "exp_jensen_shannon(gamma=2.5)",
    "brownian",
    "brownian(x2)",
    "constant(0.4)",
    "white(0.4)",
    "hamming(l=0.6)",
    "category(c1; rank=2)",
    "category(c2)",
    "spectrum(k=2)",
    "mismatch(k=2, m=1)",
    "subsequence(k=2, lambda=0.4)",
    "subsequence(k=3, lambda=0.7, normalise=1)",
    "set",
    "jaccard",
    "weighted_degree(k=2, normalise=1)",
    "rbf(warp=log, ard)",
    "rbf(warp=kumaraswamy, a=1.4, b=0.7)",
    "matern52(x1; warp=kumaraswamy, a=0.8, b=1.7)",
    "rbf(base=linear, l=0.8)",
    "matern52(base=polynomial(degree=2), l=1.2)",
    "rq(base=2*rbf(ard) + linear, l=0.9, alpha=0.8)",
    "rbf(base=rbf(base=linear(x1), l=0.7)*1.5 + white(0.3), l=1.1)",
    "rbf(base=subsequence(k=2))",
    "3*rbf(l=0.4)*periodic(x1; p=0.6) + 0.5*linear + white(0.1)",
    "(rbf(l=0.4) + 2)^3*cosine(x1)",
};

TEST(each_kernel)
{
    dice d = { 11 };
    make_fixture(&d);
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        cr_kernel *k = parse(cx, each[i]);
        check_theta(cx, k, each[i]);
        check_inputs(cx, k, each[i], &d);
        cr_kernel_free(cx, k);
    }
}

TEST(random_compositions)
{
    dice d = { 12 };
    for (size_t trial = 0; trial < 30; trial++) {
        text_out t = { .used = 0 };
        make_fixture(&d);
        say_expression(&t, &d, 2, true, trial % 2, false);
        cr_kernel *k = parse(cx, t.text);
        if (cr_kernel_theta_size(k) <= MOST) check_theta(cx, k, t.text);
        check_inputs(cx, k, t.text, &d);
        cr_kernel_free(cx, k);
    }
}

/* Many columns and rows: tiles at all edges, distances by matrix products, all length-scales at
 * once. */
TEST(many_columns)
{
    enum { ROWS_HERE = 97, WIDE = 21 };
    static double X[ROWS_HERE * WIDE], W[ROWS_HERE * ROWS_HERE], D[ROWS_HERE * ROWS_HERE];
    double        g[WIDE + 1];
    dice          d = { 13 };
    char          text[400] = "matern52(l=[", *at = text + strlen(text);
    for (size_t c = 0; c < WIDE; c++) at += sprintf(at, "%s%.3g", c ? "," : "", uniform(&d, 2, 9));
    strcpy(at, "])");
    for (size_t i = 0; i < ROWS_HERE * WIDE; i++) X[i] = 100 + uniform(&d, -2, 2);
    for (size_t i = 0; i < ROWS_HERE; i++)
        for (size_t j = 0; j <= i; j++)
            W[i * ROWS_HERE + j] = W[j * ROWS_HERE + i] = uniform(&d, -1, 1);
    cr_kernel      *k = NULL;
    cr_kernel_input in = cr_kernel_rows(cr_cmat_of(X, ROWS_HERE, WIDE));
    assert_ok(cx, cr_kernel_parse(cx, text, NULL, NULL, 0, &k));
    assert_ok(cx, cr_kernel_gram_gradient(cx, k, &in, cr_cmat_of(W, ROWS_HERE, ROWS_HERE), g));
    for (size_t j = 0; j < WIDE; j++) {
        assert_ok(cx, cr_kernel_gram_derivative(cx, k, &in, j, cr_mat_of(D, ROWS_HERE, ROWS_HERE)));
        assert_close(g[j], contract(D, W, ROWS_HERE * ROWS_HERE), 1e-12);
    }
    for (size_t i = 0; i < ROWS_HERE; i++) /* the upper triangle of W is not read */
        for (size_t j = i + 1; j < ROWS_HERE; j++) W[i * ROWS_HERE + j] = NAN;
    double again[WIDE + 1];
    assert_ok(cx, cr_kernel_gram_gradient(cx, k, &in, cr_cmat_of(W, ROWS_HERE, ROWS_HERE), again));
    assert_memory_equal(again, g, WIDE * sizeof *g);
    cr_kernel_free(cx, k);
}

/* The log prior and its gradient in both measures. */
TEST(priors)
{
    cr_kernel *k = parse(
        cx, "1.3~halfnormal(2)*rbf(l=[0.7~lognormal(0.2,0.8),1.4~gamma(2,3),0.6~invgamma(3,2)])"
            " + category(c1; levels=2, w=[0.4~normal(0.1,0.7),0.3], kappa=0.5 fixed~gamma(1,1)) + "
            "subsequence(lambda=0.3)");
    double theta[16], g[16];
    size_t n = cr_kernel_theta_size(k);
    assert_int_equal(n, 7);
    cr_kernel_theta(k, theta);
    double want = log(2) - 0.5 * log(2 * M_PI) - log(2) - 0.5 * 1.3 * 1.3 / 4;
    want += -0.5 * log(2 * M_PI) - log(0.8) - log(0.7) - 0.5 * pow((log(0.7) - 0.2) / 0.8, 2);
    want += 2 * log(3) - 0 + log(1.4) - 3 * 1.4;
    want += 3 * log(2) - log(2) - 4 * log(0.6) - 2 / 0.6;
    want += -0.5 * log(2 * M_PI) - log(0.7) - 0.5 * pow(0.3 / 0.7, 2);
    assert_close(cr_kernel_log_prior(k, false, NULL), want, 1e-13);
    for (int jacobian = 0; jacobian < 2; jacobian++) {
        memset(g, 0, sizeof g);
        cr_kernel_log_prior(k, jacobian, g);
        for (size_t j = 0; j < n; j++) {
            double at = theta[j], h = 1e-5, v[2];
            for (int side = 0; side < 2; side++) {
                theta[j] = at + (side ? -h : h);
                assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
                v[side] = cr_kernel_log_prior(k, jacobian, NULL);
            }
            theta[j] = at;
            assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
            assert_close(g[j], (v[0] - v[1]) / (2 * h), 1e-8);
        }
    }
    cr_kernel_free(cx, k);
}
