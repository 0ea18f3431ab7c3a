/* test_nuts.c -- the No-U-Turn sampler on densities whose moments are known. */
#include "support.h"

#include "prob/mc/diagnose.h"
#include "base/context_internal.h"
#include "prob/mc/nuts.h"

enum { CHAINS = 4, MOST_N = 10 };

/* --- targets ---------------------------------------------------------------------------------- */

/* Two normals of correlation 0.95 and sds 1 and 10, around 3 and -20. */
static double correlated(void *self, const double *x, double *g)
{
    const double rho = 0.95, a = (x[0] - 3), b = (x[1] + 20) / 10, k = 1 / (1 - rho * rho);
    (void)self;
    if (g) g[0] = -k * (a - rho * b), g[1] = -k * (b - rho * a) / 10;
    return -0.5 * k * (a * a - 2 * rho * a * b + b * b);
}

static double independent(void *self, const double *x, double *g)
{
    double sum = 0;
    (void)self;
    for (size_t i = 0; i < MOST_N; i++) {
        sum -= 0.5 * x[i] * x[i];
        if (g) g[i] = -x[i];
    }
    return sum;
}

/* Neal's funnel: v ~ N(0, 3), x_i ~ N(0, exp(v / 2)). */
static double funnel(void *self, const double *x, double *g)
{
    double v = x[0], e = exp(-v), sum = 0;
    (void)self;
    for (size_t i = 1; i < MOST_N; i++) sum += x[i] * x[i];
    if (g) {
        g[0] = -v / 9 + 0.5 * e * sum - 0.5 * (MOST_N - 1);
        for (size_t i = 1; i < MOST_N; i++) g[i] = -x[i] * e;
    }
    return -v * v / 18 - 0.5 * e * sum - 0.5 * (MOST_N - 1) * v;
}

/* 0.3 N(-4, 1) + 0.7 N(4, 1), and so far apart that a chain stays. */
static double two_modes(void *self, const double *x, double *g)
{
    double a = log(0.3) - 0.5 * (x[0] + 8) * (x[0] + 8),
           b = log(0.7) - 0.5 * (x[0] - 8) * (x[0] - 8);
    double most = a > b ? a : b, sum = exp(a - most) + exp(b - most);
    (void)self;
    if (g) g[0] = -(exp(a - most) * (x[0] + 8) + exp(b - most) * (x[0] - 8)) / sum;
    return most + log(sum);
}

/* Exponential with a wall at 0: -INFINITY on the other side. */
static double half_line(void *self, const double *x, double *g)
{
    (void)self;
    if (g) g[0] = -1;
    return x[0] > 0 ? -x[0] : -INFINITY;
}

typedef struct runs {
    double       *draws; /* [CHAINS x draws x n] */
    cri_nuts_note notes[CHAINS][4000];
    size_t        gradients;
} runs;

static void sample(cr_ctx *cx, const cri_target *t, size_t warmup, size_t draws,
                   const double *start, runs *out)
{
    cri_nuts_options o = { .warmup = warmup, .draws = draws, .accept = 0.8, .depth = 10 };
    out->draws = malloc(CHAINS * draws * t->n * sizeof(double));
    for (size_t c = 0; c < CHAINS; c++) {
        cr_rng rng = cr_rng_stream(11, c);
        double x[MOST_N];
        size_t made, gradients;
        for (size_t i = 0; i < t->n; i++) x[i] = start ? start[c] : cr_rng_normal(&rng);
        assert_ok(cx, cri_nuts_chain(cx, t, NULL, &o, &rng, x, out->draws + c * draws * t->n,
                                     out->notes[c], &made, &gradients));
        assert_int_equal(made, draws);
        out->gradients += gradients;
    }
}

static cri_draws_summary summary_of(const runs *r, size_t draws, size_t n, size_t i)
{
    static double     work[3 * CHAINS * 4000];
    cri_draws_summary s;
    cri_draws_summarise(r->draws + i, CHAINS, draws, n, work, &s);
    return s;
}

static runs all;

TEST(correlated_normals_have_their_moments)
{
    const double mean[2] = { 3, -20 }, sd[2] = { 1, 10 };
    cri_target   t = { .n = 2, .log_density = correlated };
    all = (runs){ 0 };
    sample(cx, &t, 500, 4000, NULL, &all);
    for (size_t i = 0; i < 2; i++) {
        cri_draws_summary s = summary_of(&all, 4000, 2, i);
        assert_close(s.mean - mean[i], 0, 4 * s.mcse);
        assert_close(s.sd - sd[i], 0, 4 * sd[i] / sqrt(s.ess_bulk));
        assert_true(s.r_hat < 1.01 && s.ess_bulk > 1500 && s.ess_tail > 1500);
        /* the error that is reported is not far too small */
        assert_close(s.q95 - (mean[i] + 1.6448536269514722 * sd[i]), 0, 5 * s.mcse_q95);
    }
    /* notes are those of the draws */
    for (size_t k = 0; k < 4000; k += 999)
        assert_close(all.notes[1][k].log_density,
                     correlated(NULL, all.draws + 2 * (4000 + k), NULL), 1e-12);
    free(all.draws);
}

/* Steps so coarse that most of them would be refused: the weights of the points make up for it. */
TEST(coarse_steps_change_no_moments)
{
    enum { DRAWS = 4000 };
    cri_target       t = { .n = MOST_N, .log_density = independent };
    cri_nuts_options o = { .warmup = 500, .draws = DRAWS, .accept = 0.3, .depth = 10 };
    static double draws[CHAINS * DRAWS * MOST_N], square[CHAINS * DRAWS], work[3 * CHAINS * DRAWS];
    static cri_nuts_note notes[DRAWS];
    const double         start[MOST_N] = { 0 };
    size_t               made, gradients;
    cri_draws_summary    s;
    for (size_t c = 0; c < CHAINS; c++) {
        cr_rng rng = cr_rng_stream(12, c);
        assert_ok(cx, cri_nuts_chain(cx, &t, NULL, &o, &rng, start, draws + c * DRAWS * MOST_N,
                                     notes, &made, &gradients));
    }
    for (size_t k = 0; k < CHAINS * DRAWS; k++)
        for (size_t i = 0; i < MOST_N; i++)
            square[k] += draws[k * MOST_N + i] * draws[k * MOST_N + i];
    cri_draws_summarise(square, CHAINS, DRAWS, 1, work, &s);
    assert_close(s.mean - MOST_N, 0, 4 * s.mcse);
    assert_close(s.sd - sqrt(2 * MOST_N), 0, 6 * sqrt(2 * MOST_N / s.ess_bulk));
}

TEST(a_funnel_reports_divergences)
{
    cri_target t = { .n = MOST_N, .log_density = funnel };
    size_t     diverged = 0;
    all = (runs){ 0 };
    sample(cx, &t, 500, 1000, NULL, &all);
    for (size_t c = 0; c < CHAINS; c++)
        for (size_t i = 0; i < 1000; i++) diverged += all.notes[c][i].diverged;
    assert_true(diverged > 0);
    free(all.draws);
}

TEST(chains_in_two_modes_raise_the_rhat)
{
    const double start[CHAINS] = { -8, 8, -8, 8 };
    cri_target   t = { .n = 1, .log_density = two_modes };
    all = (runs){ 0 };
    sample(cx, &t, 200, 500, start, &all);
    assert_true(summary_of(&all, 500, 1, 0).r_hat > 1.5);
    free(all.draws);
}

/* Beyond the wall nothing is accepted, and what is left is right. */
TEST(a_wall_is_not_crossed)
{
    const double start[CHAINS] = { 0.3, 1, 2, 3 };
    cri_target   t = { .n = 1, .log_density = half_line };
    all = (runs){ 0 };
    sample(cx, &t, 500, 4000, start, &all);
    cri_draws_summary s = summary_of(&all, 4000, 1, 0);
    for (size_t i = 0; i < CHAINS * 4000; i++) assert_true(all.draws[i] > 0);
    assert_close(s.mean - 1, 0, 5 * s.mcse);
    free(all.draws);
}

/* The same seed is the same chain, and a clock that is over leaves a few draws. */
TEST(chains_repeat_and_end_in_time)
{
    cri_target    t = { .n = 2, .log_density = correlated };
    double        draws[2][40 * 2], x[2] = { 0, 0 };
    cri_nuts_note notes[40];
    size_t        made, gradients;
    cri_clock     over = { cx, 0 };
    for (size_t k = 0; k < 2; k++) {
        cri_nuts_options o = { .warmup = 30, .draws = 40, .accept = 0.8, .depth = 10 };
        cr_rng           rng = cr_rng_stream(7, 1);
        assert_ok(cx,
                  cri_nuts_chain(cx, &t, NULL, &o, &rng, x, draws[k], notes, &made, &gradients));
    }
    assert_memory_equal(draws[0], draws[1], sizeof draws[0]);
    cri_nuts_options o = {
        .warmup = 30, .draws = 40, .accept = 0.8, .depth = 10, .opt_clock = &over
    };
    cr_rng rng = cr_rng_stream(7, 1);
    assert_ok(cx, cri_nuts_chain(cx, &t, NULL, &o, &rng, x, draws[0], notes, &made, &gradients));
    assert_int_equal(made, CRI_NUTS_LEAST);
}
