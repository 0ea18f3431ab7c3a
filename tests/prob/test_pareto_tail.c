/* The tail of weights: generalised Pareto laws with a known shape. */
#include "support.h"

#include "prob/pareto_tail.h"

#include <math.h>

enum { N = 10000 };

/* Weights at the quantiles of a Pareto law of shape k, times any scale. */
static double shape_of(cr_ctx *cx, double k, double log_scale)
{
    static double w[N];
    double        got;
    for (size_t i = 0; i < N; i++) /* in an order that is not sorted */
        w[(i * 7919) % N] = log_scale - k * log(((double)i + 0.5) / N);
    assert_ok(cx, cri_pareto_tail(cx, w, N, &got));
    return got;
}

TEST(known_shapes_are_found)
{
    for (double k = 0.2; k < 1.6; k += 0.15) {
        double got = shape_of(cx, k, 0), scaled = shape_of(cx, k, -2000);
        double drawn = (k * 300 + 5) / 310; /* towards 0.5 */
        assert_true(fabs(got - drawn) < 0.03);
        assert_true(fabs(got - scaled) < 1e-9);
    }
}

TEST(what_has_no_tail)
{
    double w[200], k;
    for (size_t i = 0; i < 200; i++) w[i] = -3;
    assert_ok(cx, cri_pareto_tail(cx, w, 200, &k));
    assert_true(k == -INFINITY);
    for (size_t i = 0; i < 200; i++) w[i] = -INFINITY; /* none agrees */
    assert_ok(cx, cri_pareto_tail(cx, w, 200, &k));
    assert_true(isnan(k));
    w[7] = w[9] = -5; /* too few to say */
    assert_ok(cx, cri_pareto_tail(cx, w, 200, &k));
    assert_true(isnan(k));
    assert_ok(cx, cri_pareto_tail(cx, w, 10, &k));
    assert_true(isnan(k));
    assert_ok(cx, cri_pareto_tail(cx, w, 0, &k));
    assert_true(isnan(k));
    for (size_t i = 0; i < 200; i++) w[i] = log(1 + (double)i); /* bounded: shape -1 */
    assert_ok(cx, cri_pareto_tail(cx, w, 200, &k));
    assert_true(k < 0);
}
