/* test_crf_objective.c -- the objective of a conditional random field against going through all
 * labellings, its gradient against differences, and the conditions of both penalties at the optimum. */
#include "../fixture.h"

#include "math/optim/check_gradient.h"
#include "models/sequence/crf_objective.h"

enum { SEQUENCES = 5, ROWS = 14, ATTRIBUTES = 6, EACH = 3, MOST_K = 20 };
static const size_t begin[SEQUENCES + 1] = { 0, 1, 4, 5, 10, ROWS };

/* Rows with EACH attributes, of which the same may come twice. */
typedef struct data {
    size_t             start[ROWS + 1];
    uint32_t           which[ROWS * EACH], y[ROWS];
    double             value[ROWS * EACH], weight[SEQUENCES];
    uint8_t            seen[ATTRIBUTES * MOST_K];
    cri_attribute_rows rows;
    cri_crf_problem    p;
} data;

static void draw(cr_ctx *cx, cr_scratch *s, size_t K, bool values, bool weights, bool seen, data *d)
{
    cr_rng r = cr_rng_stream(K, 5);
    for (size_t i = 0; i < ROWS; i++) {
        d->start[i + 1] = (i + 1) * EACH;
        d->y[i] = (uint32_t)(cr_rng_uniform(&r) * (double)K);
    }
    d->start[0] = 0;
    for (size_t e = 0; e < ROWS * EACH; e++) {
        d->which[e] = (uint32_t)(cr_rng_uniform(&r) * ATTRIBUTES);
        d->value[e] = values ? cr_rng_normal(&r) : 1;
    }
    for (size_t k = 0; k < SEQUENCES; k++) d->weight[k] = weights ? 0.5 * (double)k : 1;
    d->rows = (cri_attribute_rows){ .n = ROWS,
                                    .room = ROWS * EACH,
                                    .start = d->start,
                                    .which = d->which,
                                    .value = values ? d->value : NULL };
    d->p = (cri_crf_problem){ .cx = cx,
                              .n = ROWS,
                              .sequences = SEQUENCES,
                              .A = ATTRIBUTES,
                              .K = K,
                              .begin = begin,
                              .rows = &d->rows,
                              .y = d->y,
                              .weight = weights ? d->weight : NULL,
                              .lambda = 0.3 };
    memset(d->seen, 0, sizeof d->seen);
    for (size_t e = 0; e < ROWS * EACH; e++) d->seen[d->which[e] * K + d->y[e / EACH]] = 1;
    assert_ok(cx, cri_crf_problem_open(s, &d->p, seen ? d->seen : NULL));
}

/* -sum log p + lambda/2 |w|^2 of weights W [A x K] and T [K x K], labelling by labelling. */
static double plain_value(const data *d, size_t K, const double *W, const double *T)
{
    long double f = 0;
    for (size_t i = 0; i < ATTRIBUTES * K; i++) f += 0.15L * W[i] * W[i];
    for (size_t i = 0; i < K * K; i++) f += 0.15L * T[i] * T[i];
    for (size_t q = 0; q < SEQUENCES; q++) {
        size_t      n = begin[q + 1] - begin[q], all = 1;
        long double Z = 0, truth = 0;
        for (size_t t = 0; t < n; t++) all *= K;
        for (size_t c = 0; c < all; c++) {
            long double score = 0;
            bool        is_truth = true;
            size_t      rest = c, before = 0;
            for (size_t t = 0; t < n; t++, rest /= K) {
                size_t i = begin[q] + t, label = rest % K;
                for (size_t e = d->start[i]; e < d->start[i + 1]; e++)
                    score += (long double)d->value[e] * W[d->which[e] * K + label];
                if (t > 0) score += T[before * K + label];
                is_truth = is_truth && label == d->y[i];
                before = label;
            }
            Z += expl(score);
            if (is_truth) truth = score;
        }
        f += (long double)d->weight[q] * (logl(Z) - truth);
    }
    return (double)f;
}

static void check_value(cr_ctx *cx, size_t K, bool values, bool weights, bool seen)
{
    cr_scratch        s = cr_scratch_begin(cx);
    cr_rng            r = cr_rng_stream(K, 6);
    data              d;
    double            theta[(ATTRIBUTES + MOST_K) * MOST_K], f;
    double            W[ATTRIBUTES * MOST_K] = { 0 }, T[MOST_K * MOST_K] = { 0 };
    cr_gradient_check check;
    draw(cx, &s, K, values, weights, seen, &d);
    assert_true(seen ? d.p.D < (ATTRIBUTES + K) * K : d.p.D == (ATTRIBUTES + K) * K);
    for (size_t i = 0; i < d.p.D; i++) {
        size_t row = d.p.place[i] / d.p.stride, k = d.p.place[i] % d.p.stride;
        theta[i] = cr_rng_normal(&r);
        *(row < ATTRIBUTES ? &W[row * K + k] : &T[(row - ATTRIBUTES) * K + k]) = theta[i];
    }
    assert_ok(cx, cri_crf_value(&d.p, theta, d.p.D, &f, NULL));
    if (K <= 5) assert_close(f, plain_value(&d, K, W, T), 1e-13);
    cr_problem problem = { .n = d.p.D, .objective = cri_crf_value, .user = &d.p };
    assert_ok(cx, cr_check_gradient(cx, &problem, theta, &check));
    assert_true(check.error < 1e-5); /* of entries a thousandth of f */
    cr_scratch_end(&s);
}

TEST(values_and_gradients)
{
    const size_t labels[] = { 2, 3, 5, 9, 14, 20 }; /* a vector of each width, and beyond */
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        for (int kind = 0; kind < 8; kind++)
            check_value(cx, labels[i], kind & 1, kind & 2, kind & 4);
}

/* At the optimum no entry of the gradient is there with a quadratic penalty; an absolute one adds
 * l1 sign(w), or anything between -l1 and l1 where w is 0. */
TEST(both_penalties_meet_their_conditions)
{
    enum { K = 3, D = (ATTRIBUTES + K) * K };
    const double l1[] = { 0, 0.2, 0.7, 100 };
    for (size_t c = 0; c < sizeof l1 / sizeof *l1; c++) {
        cr_scratch          s = cr_scratch_begin(cx);
        data                d;
        double              x[2 * D] = { 0 }, lower[2 * D] = { 0 }, theta[D], g[D], f;
        size_t              zeros = 0;
        cr_minimize_options o = cr_minimize_defaults();
        cr_minimize_report  report;
        draw(cx, &s, K, true, true, false, &d);
        d.p.l1 = l1[c];
        cr_problem problem = {
            .n = 2 * D, .objective = cri_crf_split_value, .lower = lower, .user = &d.p
        };
        o.gradient_tolerance = 1e-9, o.f_tolerance = 1e-16;
        assert_ok(cx, cr_minimize(cx, &problem, &o, x, &report));
        for (size_t i = 0; i < D; i++) theta[i] = x[i] - x[D + i];
        assert_ok(cx, cri_crf_value(&d.p, theta, D, &f, g));
        for (size_t i = 0; i < D; i++) {
            zeros += theta[i] == 0;
            if (theta[i] == 0)
                assert_true(fabs(g[i]) <= l1[c] + 1e-6);
            else
                assert_true(fabs(g[i] + copysign(l1[c], theta[i])) < 1e-5);
        }
        assert_true(c == 0 ? zeros == 0 : c == 3 ? zeros == D : zeros > 0 && zeros < D);
        cr_scratch_end(&s);
    }
}

/* Weights that are no numbers have no value, which a search steps back from. */
TEST(no_value_without_numbers)
{
    cr_scratch s = cr_scratch_begin(cx);
    data       d;
    double     theta[(ATTRIBUTES + 2) * 2] = { INFINITY }, g[(ATTRIBUTES + 2) * 2], f;
    draw(cx, &s, 2, false, false, false, &d);
    assert_ok(cx, cri_crf_value(&d.p, theta, d.p.D, &f, g));
    assert_true(isnan(f) && isnan(g[3]));
    cr_scratch_end(&s);
}
