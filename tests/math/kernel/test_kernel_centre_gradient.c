/* test_kernel_centre_gradient.c -- derivatives of centre(k) against central differences, about rows
 * of their own and about the rows of the matrix. */
#include "differences.h"

static const char *const each[] = {
    "centre(rbf(l=0.4))",
    "centre(linear)",
    "2*centre(polynomial(degree=3, c=0.7) + 0.3*subsequence(k=2))*rbf(ard)",
    "centre(rbf(base=linear(x1) + 0.4, l=0.7))",
    "rbf(base=centre(1.3*rbf(ard) + linear), l=0.8)",
    "normalise(centre(polynomial(degree=2)))",
    "centre(normalise(0.5*linear + matern52(l=0.6)))",
    "centre(0.7*rbf(x1; l=0.3)*centre(linear + 0.2*cosine)) + centre(hamming)",
    "centre(centre(rq(alpha=0.7))^2)",
    "rq(base=normalise(centre(rbf(l=0.3) + brownian)), l=0.9)",
};

static void check_all(cr_ctx *cx, bool own)
{
    dice d = { 14 };
    make_fixture(&d);
    for (size_t i = own; i < sizeof each / sizeof *each; i++) {
        cr_kernel *k = parse(cx, each[i]);
        if (own) assert_ok(cx, cr_kernel_centre_on(cx, k, &f.x.in, NULL));
        check_theta(cx, k, each[i]);
        check_inputs(cx, k, each[i], &d);
        cr_kernel_free(cx, k);
    }
}

TEST(other_rows) { check_all(cx, false); }
TEST(own_rows) { check_all(cx, true); }
