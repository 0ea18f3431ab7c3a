/* test_gp_objective.c -- what the search sees is smooth: along paths to settings whose covariance is
 * singular up to rounding, values change as their gradients say, and nothing is added to a covariance
 * that has a factor to trust. */
#include "classify_fixture.h"
#include "math/dense/decompose.h"
#include "math/dense/lapack.h"
#include "models/gp/classify/classify_sparse.h"
#include "models/gp/search/gp_learn.h"

#include <float.h>

enum { MOST = 40, STEPS = 400 };

/* Pairs of rows, the two of each `apart`, of a smooth function and a little that is rough. */
typedef struct pairs {
    double                 X[MOST], y[MOST], r[MOST], L[MOST * MOST], alpha[MOST];
    size_t                 first[MOST];
    cri_gp_data            data;
    cri_gp_problem         problem;
    cri_gp_exact_workspace workspace;
} pairs;

static void make_pairs(pairs *p, double apart)
{
    for (size_t i = 0; i < MOST; i++) {
        p->X[i] = (double)(i / 2) * 0.5 + (double)(i % 2) * apart;
        p->y[i] = sin(p->X[i]) + 1e-3 * cos(37 * (double)i);
        p->r[i] = 1;
        p->first[i] = i;
    }
    p->data = (cri_gp_data){
        .n = MOST, .d = 1, .X = p->X, .y = p->y, .r = p->r, .first = p->first, .count = MOST
    };
    p->problem = (cri_gp_problem){ .data = &p->data };
    p->workspace = (cri_gp_exact_workspace){ .L = p->L, .solution = { .alpha = p->alpha } };
}

/* A path of log amplitude, log length and log noise; the one of them that moves, and how far. */
typedef struct path {
    double from[3], far;
    size_t moves;
} path;

#define LOG10 2.302585092994046
static const path paths[] = {
    { { 6 * LOG10, 0.7, 0 }, -13 * LOG10, 2 },         /* less and less noise      */
    { { 0, 1.1, -8 * LOG10 }, 8 * LOG10, 0 },          /* larger beside a noise    */
    { { 6 * LOG10, -2.3, -8 * LOG10 }, 5 * LOG10, 1 }, /* longer beside next to no */
};
static const char *const kernels[] = { "1*rbf(l=1)", "1*matern52(l=1)", "1*matern32(l=1)",
                                       "1*matern12(l=1)" };
static const double      aparts[] = { 0.25, 1e-2, 1e-4 };

typedef void walker(cr_ctx *cx, pairs *p, const path *w, cr_kernel *k);

static void walk_all(cr_ctx *cx, walker *walk)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        for (size_t a = 0; a < sizeof aparts / sizeof *aparts; a++)
            for (size_t w = 0; w < sizeof paths / sizeof *paths; w++) {
                pairs     *p = calloc(1, sizeof *p);
                cr_kernel *k;
                make_pairs(p, aparts[a]);
                assert_ok(cx, cr_kernel_parse(cx, kernels[i], NULL, NULL, 0, &k));
                walk(cx, p, &paths[w], k);
                cr_kernel_free(cx, k);
                free(p);
            }
}

static double mean_diagonal(const double *theta) { return exp(theta[0]) + exp(theta[2]); }

/* How far rounding may move the evidence of the last evaluation with a gradient, which left
 * (a a^T - C^-1) / 2 in L: by the derivatives for n roundings of the diagonal of C. */
static double rounding(const pairs *p, const double *theta)
{
    double squares = 0, trace = 0;
    for (size_t i = 0; i < MOST; i++) {
        squares += p->alpha[i] * p->alpha[i];
        trace += p->alpha[i] * p->alpha[i] - 2 * p->L[i * MOST + i];
    }
    return MOST * DBL_EPSILON * mean_diagonal(theta) * (squares + trace) / 2;
}

/* --- the exact evidence ---------------------------------------------------------------------- */

/* Each step changes the value by what the gradients at its ends say, to the third order and to
 * rounding; nothing is refused while there is noise. */
static void walk_smoothly(cr_ctx *cx, pairs *p, const path *w, cr_kernel *k)
{
    double theta[3], g[3], value, before = NAN, slope = NAN, bend = NAN, step = w->far / STEPS;
    memcpy(theta, w->from, sizeof theta);
    for (size_t i = 0; i < STEPS; i++, theta[w->moves] += step) {
        assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
        assert_ok(cx, cri_gp_exact_objective(cx, &p->workspace, &p->problem, k, exp(theta[2]),
                                             &value, g));
        double jump = fabs(value - before - step * (slope + g[w->moves]) / 2);
        double turn = fabs(step * (g[w->moves] - slope)), error = rounding(p, theta);
        double allowed = 1e-6 + 0.05 * fmax(turn, bend) + error;
        if (jump > allowed)
            fail_msg("step %zu of parameter %zu: jump %g, allowed %g", i, w->moves, jump, allowed);
        before = value, slope = g[w->moves], bend = turn;
    }
}

TEST(exact) { walk_all(cx, walk_smoothly); }

/* --- what is added --------------------------------------------------------------------------- */

/* The least eigenvalue of C over its diagonal. */
static double least_eigenvalue(cr_ctx *cx, const double *C)
{
    double w[MOST], S[MOST * MOST], V[MOST * MOST];
    for (size_t i = 0; i < MOST; i++)
        for (size_t j = 0; j < MOST; j++)
            S[i * MOST + j] = C[i * MOST + j] / sqrt(C[i * MOST + i] * C[j * MOST + j]);
    assert_ok(cx, cr_eigen(cx, cr_cmat_of(S, MOST, MOST), w, cr_mat_of(V, MOST, MOST)));
    return fmin(w[0], w[MOST - 1]);
}

/* The log density of y by LAPACK's factor of C, which it overwrites; NaN where there is none. */
static double plain_evidence(const pairs *p, double *C)
{
    double z[MOST], value = -0.5 * MOST * log(2 * M_PI);
    if (cri_dpotrf('U', MOST, C, MOST) != 0) return NAN;
    for (size_t i = 0; i < MOST; i++) {
        z[i] = p->y[i];
        for (size_t j = 0; j < i; j++) z[i] -= C[i * MOST + j] * z[j];
        z[i] /= C[i * MOST + i];
        value -= log(C[i * MOST + i]) + 0.5 * z[i] * z[i];
    }
    return value;
}

/* A fit adds nothing where LAPACK's factor leaves three digits, and so finds the same evidence; the
 * search adds nothing where the noise is above ten roundings of the trace, and below less than a
 * hundredth of the least eigenvalue wherever that factor is one to trust. */
static void walk_untouched(cr_ctx *cx, pairs *p, const path *w, cr_kernel *k)
{
    double          theta[3], C[MOST * MOST];
    cr_kernel_input in = cri_gp_inputs(&p->data);
    memcpy(theta, w->from, sizeof theta);
    for (size_t i = 0; i < STEPS; i += 4, theta[w->moves] += 4 * w->far / STEPS) {
        cri_gp_solution *found = &p->workspace.solution;
        double noise = exp(theta[2]), floor = 10 * MOST * DBL_EPSILON * mean_diagonal(theta);
        assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
        assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(C, MOST, MOST)));
        for (size_t j = 0; j < MOST; j++) C[j * MOST + j] += noise;
        double least = least_eigenvalue(cx, C), plain = plain_evidence(p, C);
        bool   trusted = isfinite(plain) && least > 3e3 * MOST * DBL_EPSILON;
        assert_ok(cx, cri_gp_solve(cx, &p->problem, k, noise, CRI_GP_QUIET_JITTER, p->L, found));
        if (trusted) {
            assert_true(found->jitter == 0);
            assert_close(found->log_evidence, plain, 1e-3 * (1 + fabs(plain)));
        }
        assert_ok(cx, cri_gp_solve(cx, &p->problem, k, noise, CRI_GP_NO_JITTER, p->L, found));
        if (noise > 1.01 * floor) assert_true(found->jitter == 0);
        assert_true(found->jitter <= 1.01 * floor);
        if (trusted) assert_true(found->jitter < 0.01 * least * mean_diagonal(theta));
    }
}

TEST(nothing_in_vain) { walk_all(cx, walk_untouched); }

/* --- inducing inputs ------------------------------------------------------------------------- */

/* The bound of classes through inducing inputs, over lengths at which K_mm ceases to have a factor of
 * its own. */
TEST(classes)
{
    small      p;
    cr_scratch s = cr_scratch_begin(cx);
    cr_kernel *k = read_kernel(cx, "5*rbf(l=1)");
    cri_svgp   workspace;
    double    *L = cr_scratch_matrix(&s, 10, 10), *factor = cr_scratch_matrix(&s, 10, 10);
    double     theta[2], g[3], value, before = NAN, slope = NAN, turn = NAN, step = 0.01;
    make_small(&p, CRI_CLASSIFY_LOGIT, 12, 1, 31);
    cri_gp_data Z = { .n = 10, .d = 2, .X = p.X, .first = p.first };
    assert_ok(cx, cri_svgp_new(&s, &p.data, &Z, L, factor, &workspace));
    cr_kernel_theta(k, theta);
    for (theta[1] = log(0.3); theta[1] < log(1000); theta[1] += step) {
        assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
        assert_ok(cx, cri_svgp_objective(cx, &workspace, &p.problem, k, 0, &value, g));
        double jump = fabs(value - before - step * (slope + g[1]) / 2);
        if (isfinite(turn)) assert_true(jump < 1e-5 + 0.05 * turn);
        turn = fabs(step * (g[1] - slope));
        before = value, slope = g[1];
        assert_close(workspace.jitter, 1e-12 * exp(theta[0]), 1e-15 * exp(theta[0]));
    }
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
}
