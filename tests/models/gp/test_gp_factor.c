/* test_gp_factor.c -- the evidence where the noise is next to nothing: right as far as double
 * precision goes, and without a jump beyond. */
#include "gp_fixture.h"
#include "models/gp/exact/gp_exact.h"

#include <float.h>

typedef struct bench {
    double          X[MOST], y[MOST], r[MOST], H[MOST], L[MOST * MOST], alpha[MOST], U[MOST];
    double          beta[1], A[1];
    size_t          first[MOST];
    cri_gp_data     data;
    cri_gp_problem  problem;
    cri_gp_solution solution;
} bench;

/* Some rows of a smooth function, so near to each other that K is singular up to rounding, and what
 * is rough in them. */
static void make_bench(bench *b, double rough)
{
    for (size_t i = 0; i < MOST; i++) {
        b->X[i] = 0.25 * (double)i + 0.06 * sin(7 * (double)i);
        b->y[i] = sin(b->X[i]) + rough * cos(37 * (double)i);
        b->r[i] = 1 + 0.5 * (double)(i % 3);
        b->first[i] = i;
    }
    b->data = (cri_gp_data){
        .n = MOST, .d = 1, .X = b->X, .y = b->y, .r = b->r, .first = b->first, .count = MOST
    };
    for (size_t i = 0; i < MOST; i++) b->data.log_shares += log(b->r[i]); /* none was merged */
    b->problem = (cri_gp_problem){ .data = &b->data };
    b->solution = (cri_gp_solution){ .alpha = b->alpha, .beta = b->beta, .U = b->U, .A = b->A };
}

static double evidence_at(cr_ctx *cx, bench *b, cr_kernel *k, const double *theta)
{
    assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
    double log_noise = theta[cr_kernel_theta_size(k)];
    assert_ok(
        cx, cri_gp_solve(cx, &b->problem, k, exp(log_noise), CRI_GP_NO_JITTER, b->L, &b->solution));
    return b->solution.log_evidence;
}

/* From loud to silent: where the noise is above some roundings of the trace the evidence is that of
 * the definition with nothing added; below it stays where it was, the change of slope being that
 * alone. */
TEST(less_and_less_noise)
{
    static const double variances[] = { 1, 1000 };
    for (size_t v = 0; v < 2; v++) {
        bench     *b = calloc(1, sizeof *b);
        cr_kernel *k;
        double     theta[4], s[MOST], before = NAN, slope = NAN, step = 0.05, worst = 0, end = 0;
        make_bench(b, 1e-6 * sqrt(variances[v]));
        assert_ok(cx, cr_kernel_parse(cx, "1*rbf(l=3)", NULL, NULL, 0, &k));
        cr_kernel_theta(k, theta);
        theta[0] = log(variances[v]);
        for (double share = log(1e-3); share > log(1e-19); share -= step) {
            double noise = variances[v] * exp(share), value;
            theta[2] = log(noise);
            value = evidence_at(cx, b, k, theta);
            definition g = { .n = MOST,
                             .k = { .d = 1, .v = variances[v], .l = { 3 } },
                             .X = b->X,
                             .y = b->y,
                             .noise = s };
            for (size_t i = 0; i < MOST; i++) s[i] = noise * b->r[i];
            bool held = exp(share) > 11 * MOST * DBL_EPSILON;
            if (held) {
                assert_true(b->solution.jitter == 0);
                worst = fmax(worst, fabs(value - log_density(&g)) / (100 + fabs(value)));
            } else if (exp(share) < 9 * MOST * DBL_EPSILON) {
                assert_true(b->solution.jitter > 0);
                if (end == 0) end = value;
                assert_true(fabs(value - end) < 15);
            }
            if (held && isfinite(slope)) assert_true(fabs(value - before - slope) < 0.3);
            if (!held) assert_true(fabs(value - before) < fabs(slope) + 0.3);
            slope = value - before;
            before = value;
        }
        if (!(worst < 1e-3)) print_message("off by %g\n", worst);
        assert_true(worst < 1e-3);
        cr_kernel_free(cx, k);
        free(b);
    }
}

/* Where some variance was added the gradient is that of what was computed: differences by amplitude,
 * length, noise and white. */
TEST(gradient_of_what_was_added)
{
    static const char *const kernels[] = { "1000*rbf(l=3)",
                                           "1000*rbf(l=3) + white(variance=2e-11)" };
    bench                   *b = calloc(1, sizeof *b);
    make_bench(b, 1e-5);
    for (size_t i = 0; i < 2; i++) {
        cr_kernel *k;
        double     theta[8], gradient[8];
        assert_ok(cx, cr_kernel_parse(cx, kernels[i], NULL, NULL, 0, &k));
        size_t p = cr_kernel_theta_size(k);
        cr_kernel_theta(k, theta);
        theta[p] = log(6e-11);
        evidence_at(cx, b, k, theta);
        assert_true(b->solution.lifted > 0);
        assert_ok(cx,
                  cri_gp_gradient(cx, &b->problem, k, exp(theta[p]), &b->solution, b->L, gradient));
        for (size_t j = 0; j <= p; j++) {
            double at = theta[j], h = 0.1, up, down;
            theta[j] = at + h, up = evidence_at(cx, b, k, theta);
            theta[j] = at - h, down = evidence_at(cx, b, k, theta);
            theta[j] = at;
            assert_close(gradient[j], (up - down) / (2 * h), 0.1 + 0.01 * fabs(gradient[j]));
        }
        cr_kernel_free(cx, k);
    }
    free(b);
}

/* Without noise the evidence goes on where rows come so near to each other that something must be
 * added: nothing at first. */
TEST(nearer_and_nearer)
{
    cr_ctx_set_log(cx, NULL, NULL);
    double X[6] = { 0, 1, 2.2, 3.1, 4.3, 5 }, y[6], before = NAN;
    for (double apart = 1e-3; apart > 1e-10; apart *= 0.97) {
        X[1] = apart;
        for (size_t i = 0; i < 6; i++) y[i] = sin(X[i]);
        cr_table *t = make_table(cx, X, 6, 1, y, NULL);
        cr_model *m = fit(cx, "gp", t, "target=y noise=0 mean=zero optimize=none kernel=rbf(l=1)");
        double    value = cr_model_get_report(m)->log_evidence;
        if (isfinite(before)) assert_true(fabs(value - before) < 0.25);
        before = value;
        cr_model_free(cx, m);
        cr_table_free(cx, t);
    }
}
