/* test_gp_mcmc.c -- hyper-parameters by Markov chains against integrals over grids. */
#include "sine_bench.h"

#include "models/gp/posterior/gp_mcmc.h"
#include "models/core/model_internal.h"
#include "models/core/parts.h"
#include "prob/mc/chains.h"

static const double CENTRE = 0.1, WIDTH = 0.7; /* of the prior of log l */
#define KERNEL "kernel=rbf(variance=1.4\tfixed,l=0.9~lognormal(0.1,0.7))"

static double density(bench *b, double log_l, double log_noise)
{
    b->g.k.l[0] = expl(log_l);
    for (size_t i = 0; i < N; i++) b->noises[i] = exp(log_noise);
    return log_density(&b->g) - 0.5 * pow((log_l - CENTRE) / WIDTH, 2);
}

/* Mean, variance and effective number of column c of all draws. */
static void summary(const double *draws, size_t n, size_t c, double *mean, double *variance,
                    double *ess)
{
    double rhat;
    *mean = *variance = 0;
    for (size_t i = 0; i < n; i++) *mean += draws[2 * i + c] / (double)n;
    for (size_t i = 0; i < n; i++) *variance += pow(draws[2 * i + c] - *mean, 2) / (double)n;
    cri_chains_diagnose(draws + c, CRI_GP_CHAINS, n / CRI_GP_CHAINS, 2, &rhat, ess);
    assert_true(rhat < 1.05);
    assert_true(*ess > (double)n / 8);
}

static size_t run_up_to(cr_ctx *cx, bench *b, bool learn_noise, double variance, double most,
                        size_t n, double *draws)
{
    double     r[N], L[N * N], alpha[N];
    size_t     first[N];
    cr_kernel *k;
    for (size_t i = 0; i < N; i++) r[i] = 1, first[i] = i;
    cri_gp_data data = { .n = N, .d = 1, .X = b->X, .y = b->y, .r = r, .first = first, .count = N };
    cri_gp_problem         problem = { .data = &data };
    cri_gp_exact_workspace workspace = { L, { .alpha = alpha } };
    cri_gp_learning        learning = { .problem = &problem,
                                        .objective = cri_gp_exact_objective,
                                        .workspace = &workspace,
                                        .variance = variance,
                                        .learn_noise = learn_noise,
                                        .seed = 7 };
    assert_ok(cx, cr_kernel_parse(cx, KERNEL + 7, NULL, NULL, 0, &k));
    cr_scratch   s = cr_scratch_begin(cx);
    cri_gp_space space;
    cri_gp_prior prior;
    size_t       count = n, evaluations;
    double       sd[] = { NAN, NAN };
    assert_ok(cx, cri_gp_space_new(&s, k, &problem, variance, 0.1, learn_noise, &space));
    assert_ok(cx, cri_gp_prior_new(&s, k, &space, N, &prior));
    learning.prior = &prior;
    assert_ok(cx, cri_gp_mcmc(cx, &learning, k, 0.1, sd, most, &count, draws, &evaluations));
    assert_int_equal(count, n);
    cr_scratch_end(&s);
    cr_kernel_free(cx, k);
    return evaluations;
}

static void run(cr_ctx *cx, bench *b, bool learn_noise, double variance, size_t n, double *draws)
{
    run_up_to(cx, b, learn_noise, variance, 0, n, draws);
}

/* Chains that disagree go on, with sweeps between their draws, while evaluations are left. */
TEST(disagreement)
{
    enum { DRAWS = 24 };
    bench *b = draw(1);
    double short_ones[DRAWS * 2], long_ones[DRAWS * 2], rhat[2], ess;
    size_t before = run_up_to(cx, b, true, 1, 0, DRAWS, short_ones);
    size_t after = run_up_to(cx, b, true, 1, 1e9, DRAWS, long_ones);
    size_t allowed = run_up_to(cx, b, true, 1, 1.9 * (double)before, DRAWS, long_ones);
    cri_gp_chains_agreement(short_ones, DRAWS / CRI_GP_CHAINS, 2, 2, &rhat[0], &ess);
    cri_gp_chains_agreement(long_ones, DRAWS / CRI_GP_CHAINS, 2, 2, &rhat[1], &ess);
    assert_true(rhat[0] > CRI_GP_DISAGREE);
    assert_true(rhat[1] < rhat[0]);
    assert_true(after > before);
    assert_true((double)allowed <= 2 * (double)before);
}

/* One hyper-parameter: its posterior by quadrature. */
TEST(one)
{
    enum { DRAWS = 800, GRID = 400 };
    bench        *b = draw(1);
    static double draws[DRAWS * 2];
    double        mean, variance, ess, total = 0, first = 0, second = 0, top = -INFINITY, at[GRID];
    cr_ctx_set_threads(cx, 1);
    run(cx, b, false, 1, DRAWS, draws);
    summary(draws, DRAWS, 0, &mean, &variance, &ess);
    for (size_t i = 0; i < GRID; i++)
        top = fmax(top, at[i] = density(b, -3 + 6.0 * (double)i / GRID, log(0.1)));
    for (size_t i = 0; i < GRID; i++) {
        double x = -3 + 6.0 * (double)i / GRID, w = exp(at[i] - top);
        total += w, first += w * x, second += w * x * x;
    }
    first /= total, second = second / total - first * first;
    assert_close(mean, first, 4 * sqrt(second / ess));
    assert_relative(sqrt(variance), sqrt(second), 4 / sqrt(2 * ess));
    for (size_t i = 0; i < DRAWS; i++) assert_close(draws[2 * i + 1], log(0.1), 1e-12);
    free(b);
}

/* Two: length-scale and noise, and the prediction, by a grid. */
TEST(two)
{
    enum { DRAWS = 400, GRID = 30 };
    bench        *b = draw(2);
    static double draws[DRAWS * 2], at[GRID * GRID];
    double variance = 0, mean[2], spread[2], ess, first[2] = { 0 }, second[2] = { 0 }, total = 0;
    double top = -INFINITY, x = 2.7, f = 0, ff = 0, noise = 0;
    cr_ctx_set_threads(cx, 1);
    for (size_t i = 0; i < N; i++) variance += b->y[i] * b->y[i] / N;
    run(cx, b, true, variance, DRAWS, draws);
    for (size_t i = 0; i < GRID * GRID; i++) {
        double l = -1.5 + 3.0 * (double)(i / GRID) / GRID, s = -4 + 4.5 * (double)(i % GRID) / GRID;
        at[i] = density(b, l, s) - 0.5 * pow((s - log(0.3 * variance * N / (N - 3.0))) / 2, 2);
        top = fmax(top, at[i]);
    }
    for (size_t i = 0; i < GRID * GRID; i++) {
        double z[2] = { -1.5 + 3.0 * (double)(i / GRID) / GRID,
                        -4 + 4.5 * (double)(i % GRID) / GRID };
        double w = exp(at[i] - top), m, v;
        if (w < 1e-9) continue;
        density(b, z[0], z[1]);
        predict_definition(&b->g, &x, NULL, &m, &v);
        total += w, f += w * m, ff += w * (m * m + v + exp(z[1])), noise += w * exp(z[1]);
        for (int c = 0; c < 2; c++) first[c] += w * z[c], second[c] += w * z[c] * z[c];
    }
    for (size_t c = 0; c < 2; c++) {
        summary(draws, DRAWS, c, &mean[c], &spread[c], &ess);
        first[c] /= total, second[c] = second[c] / total - first[c] * first[c];
        assert_close(mean[c], first[c], 4 * sqrt(second[c] / ess));
        assert_relative(sqrt(spread[c]), sqrt(second[c]), 4 / sqrt(2 * ess));
    }
    f /= total, ff = sqrt(ff / total - f * f);
    cr_table *t = make_table(cx, b->X, N, 1, b->y, NULL),
             *one = make_table(cx, &x, 1, 1, b->y, NULL);
    cr_model     *m = fit(cx, "gp", t,
                          "target=y mean=zero hyper=mcmc draws_hyper=240 "
                              "kernel=rbf(variance=1.4\tfixed,l=0.9~lognormal(0.1,0.7))");
    cr_prediction p = predict(cx, m, one);
    assert_close(p.mean[0], f, 0.03);
    assert_relative(p.scale[0], ff, 0.04);
    json_t *d = describe(cx, m);
    assert_relative(parameter(d, "noise", "value"), noise / total, 0.12);
    assert_true(statistic(d, "largest_rhat") < 1.1 && statistic(d, "smallest_ess") > 50);
    free(b);
}

TEST(model)
{
    enum { DRAWS = 2000 };
    bench      *b = draw(3);
    cr_table   *t = make_table(cx, b->X, N, 1, b->y, NULL);
    const char *settings = "target=y hyper=mcmc draws_hyper=20";
    cr_ctx_set_threads(cx, 1);
    cr_model     *m = fit(cx, "gp", t, settings), *again = NULL, *none = NULL;
    cr_prediction p = predict(cx, m, t), q;
    char         *bytes;
    size_t        size;
    double        means[N];
    assert_ok(cx, cr_predict_mean(cx, m, t, means));
    assert_memory_equal(means, p.mean, sizeof means);
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &again));
    q = predict(cx, again, t);
    assert_memory_equal(p.mean, q.mean, sizeof means);
    assert_memory_equal(p.scale, q.scale, sizeof means);
    cr_model_free(cx, again);
    cr_ctx_set_threads(cx, 3);
    again = fit(cx, "gp", t, settings);
    q = predict(cx, again, t);
    assert_memory_equal(p.scale, q.scale, sizeof means);
    cr_ctx_set_threads(cx, 1);
    double *draws = malloc(N * DRAWS * sizeof *draws); /* their moments are those that are told */
    assert_ok(cx, cr_sample_targets(cx, m, t, DRAWS, 5, draws));
    for (size_t i = 0; i < N; i++) {
        double mean = 0, square = 0;
        for (size_t c = 0; c < DRAWS; c++) mean += draws[i * DRAWS + c] / DRAWS;
        for (size_t c = 0; c < DRAWS; c++) square += pow(draws[i * DRAWS + c] - mean, 2) / DRAWS;
        assert_close(mean, p.mean[i], 5 * p.scale[i] / sqrt(DRAWS));
        assert_relative(sqrt(square), p.scale[i], 5 / sqrt(2.0 * DRAWS) + 0.02);
    }
    free(draws);
    assert_fails(cx, cr_update(cx, m, t, &none), CR_EUNSUPPORTED);
    assert_fails(cx, try_fit(cx, "gp", t, "target=y hyper=mcmc approx=vfe", &none), CR_EARG);
    assert_fails(cx, try_fit(cx, "gp", t, "target=y hyper=mcmc solver=cg", &none), CR_EARG);
    assert_fails(cx, try_fit(cx, "gp", t, "target=y hyper=mcmc optimize=none", &none), CR_EARG);
    cr_free(cx, bytes, size, 1);
    free(b);
}

enum { MIXED = 8, T = 3 };
#define MIXTURE "target=y mean=linear "

/* What models at each of the draws say, averaged: of the function before (prior) or after the
 * data. */
typedef struct averages {
    double mean[T], second[T * T], slope[T]; /* second: mean of the products */
    double part[T], part_second[T];
    double seen[T], seen_second[T]; /* of observations */
} averages;

static cr_model *fit_at_draw(cr_ctx *cx, const cr_table *t, const cri_gp_posterior *g, size_t h)
{
    cr_kernel *k;
    char       text[200], settings[400];
    assert_ok(cx, cr_kernel_copy(cx, g->kernel, &k));
    assert_ok(cx, cr_kernel_set_theta(cx, k, g->draws + h * (g->n_theta + 1)));
    cr_kernel_print(k, text, sizeof text);
    snprintf(settings, sizeof settings, MIXTURE "optimize=none kernel=%s noise=%.17g", text,
             exp(g->draws[h * (g->n_theta + 1) + g->n_theta]));
    cr_kernel_free(cx, k);
    return fit(cx, "gp", t, settings);
}

static averages average(cr_ctx *cx, const cr_table *t, const cr_table *few,
                        const cri_gp_posterior *g, bool prior)
{
    averages a = { 0 };
    for (size_t h = 0; h < MIXED; h++) {
        cr_model     *one = fit_at_draw(cx, t, g, h);
        cr_prediction q = predict(cx, one, few);
        double        mean[T], S[T * T], slope[T], part[T], sd[T];
        assert_ok(cx, cr_predict_function(cx, one, few, prior, mean, NULL, S));
        assert_ok(cx, cr_predict_slopes(cx, one, few, slope));
        assert_ok(cx, cr_predict_part(cx, one, few, 1, part, sd));
        for (size_t i = 0; i < T; i++) {
            a.mean[i] += mean[i] / MIXED, a.slope[i] += slope[i] / MIXED;
            a.part[i] += part[i] / MIXED,
                a.part_second[i] += (sd[i] * sd[i] + part[i] * part[i]) / MIXED;
            a.seen[i] += q.mean[i] / MIXED;
            a.seen_second[i] += (q.mean[i] * q.mean[i] + q.scale[i] * q.scale[i]) / MIXED;
            for (size_t j = 0; j < T; j++)
                a.second[i * T + j] += (S[i * T + j] + mean[i] * mean[j]) / MIXED;
        }
    }
    return a;
}

/* The mixture over few draws against models fitted at each of them. */
TEST(mixture)
{
    bench *b = draw(4);
    double X[T] = { 1.3, 4.9, 6.2 }, y[T] = { 0 }, mean[T], sd[T], S[T * T], slope[T], part[T],
           part_sd[T];
    cr_table *t = make_table(cx, b->X, N, 1, b->y, NULL), *few = make_table(cx, X, T, 1, y, NULL);
    cr_ctx_set_threads(cx, 1);
    cr_model               *m = fit(cx, "gp", t, MIXTURE "hyper=mcmc draws_hyper=8");
    const cri_gp_posterior *g = m->state;
    cr_prediction           p = predict(cx, m, few);
    assert_int_equal(g->n_draws, MIXED);
    for (int prior = 1; prior >= 0; prior--) {
        averages a = average(cx, t, few, g, prior);
        assert_ok(cx, cr_predict_function(cx, m, few, prior, mean, sd, S));
        for (size_t i = 0; i < T; i++) {
            assert_close(mean[i], a.mean[i], 1e-9);
            assert_close(sd[i] * sd[i], S[i * T + i], 1e-9);
            for (size_t j = 0; j < T; j++)
                assert_close(S[i * T + j], a.second[i * T + j] - a.mean[i] * a.mean[j], 1e-8);
        }
        assert_ok(cx, cr_predict_function(cx, m, few, prior, slope, sd,
                                          NULL)); /* without the covariance */
        for (size_t i = 0; i < T; i++) assert_close(sd[i] * sd[i], S[i * T + i], 1e-9);
        if (prior) continue;
        assert_ok(cx, cr_predict_slopes(cx, m, few, slope));
        assert_ok(cx, cr_predict_part(cx, m, few, 1, part, part_sd));
        for (size_t i = 0; i < T; i++) {
            assert_close(slope[i], a.slope[i], 1e-9);
            assert_close(part[i], a.part[i], 1e-9);
            assert_close(part_sd[i] * part_sd[i], a.part_second[i] - a.part[i] * a.part[i], 1e-8);
            assert_close(p.mean[i], a.seen[i], 1e-10);
            assert_close(p.scale[i], sqrt(a.seen_second[i] - a.seen[i] * a.seen[i]), 1e-9);
            assert_true(isinf(p.dof[i]) && sd[i] < p.scale[i]);
        }
    }
    free(b);
}

/* Draws of the function have its moments, jointly; few of them come from all chains. */
TEST(functions)
{
    enum { DRAWS = 4000, F = 4 };
    bench    *b = draw(4);
    double    X[T] = { 1.3, 1.8, 6.2 }, y[T] = { 0 }, mean[T], S[T * T], some[T * F], one[T];
    double   *f = malloc(T * DRAWS * sizeof *f);
    cr_table *t = make_table(cx, b->X, N, 1, b->y, NULL), *few = make_table(cx, X, T, 1, y, NULL);
    cr_ctx_set_threads(cx, 1);
    cr_model *m = fit(cx, "gp", t, MIXTURE "hyper=mcmc draws_hyper=8");
    for (int prior = 0; prior < 2; prior++) {
        assert_ok(cx, cr_predict_function(cx, m, few, prior, mean, NULL, S));
        assert_ok(cx, cr_sample_functions(cx, m, few, prior, DRAWS, 3, f));
        for (size_t i = 0; i < T; i++)
            for (size_t j = 0; j < T; j++) {
                double sum = 0, at = 0, scale = sqrt(S[i * T + i] * S[j * T + j]);
                for (size_t c = 0; c < DRAWS; c++) at += f[i * DRAWS + c] / DRAWS;
                for (size_t c = 0; c < DRAWS; c++)
                    sum += (f[i * DRAWS + c] - mean[i]) * (f[j * DRAWS + c] - mean[j]) / DRAWS;
                assert_close(at, mean[i], 5 * sqrt(S[i * T + i] / DRAWS));
                assert_close(sum, S[i * T + j], 0.2 * scale);
            }
    }
    assert_ok(cx, cr_sample_functions(cx, m, few, false, F, 3,
                                      some)); /* number 2 stands at the fifth of 8 */
    cri_gp_posterior *g = m->state;
    double           *all = g->draws;
    g->draws = all + 4 * (g->n_theta + 1), g->n_draws = 4; /* two more chains: the second half */
    assert_ok(cx, cr_sample_functions(cx, m, few, false, 1, 3, one));
    g->draws = all, g->n_draws = MIXED;
    cr_model *at = fit_at_draw(cx, t, g, 4);
    double    fixed[T];
    assert_ok(cx, cr_sample_functions(cx, at, few, false, 1, 3 + 0x9e3779b97f4a7c15u * 1, fixed));
    for (size_t i = 0; i < T; i++) assert_close(one[i], fixed[i], 1e-7);
    assert_ok(cx, cr_sample_functions(cx, at, few, false, 1, 3 + 0x9e3779b97f4a7c15u * 3, fixed));
    for (size_t i = 0; i < T; i++) assert_close(some[i * F + 2], fixed[i], 1e-7);
    free(f);
    free(b);
}

/* What a file of a model needs to predict and to draw. */
typedef struct saved {
    char  *bytes;
    size_t size;
    double X[4], y[4];
} saved;

static cr_status use_draws(cr_ctx *cx, void *arg)
{
    cr_status     st = CR_OK;
    saved        *f = arg;
    cr_model     *m = NULL;
    cr_table     *t = NULL;
    cr_prediction p = { 0 };
    double        draws[4 * 6], mean[4], sd[4], S[16];
    cr_ctx_set_threads(cx, 1);
    CR_TRY(cr_table_new(cx, "t", 4, &t));
    CR_TRY(cr_table_add_numbers(cx, t, "x1", CR_REAL, f->X, 1));
    CR_TRY(cr_model_from_bytes(cx, "m", f->bytes, f->size, &m));
    CR_TRY(cr_predict(cx, m, t, &p));
    CR_TRY(cr_sample_targets(cx, m, t, 6, 1, draws));
    CR_TRY(cr_predict_function(cx, m, t, false, mean, sd, S));
    CR_TRY(cr_predict_slopes(cx, m, t, mean));
    CR_TRY(cr_predict_part(cx, m, t, 1, mean, sd));
    CR_TRY(cr_sample_functions(cx, m, t, false, 3, 1, draws));
done:
    cr_prediction_free(cx, &p);
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    return st;
}

/* A density that takes no memory. */
static cr_status plain(cr_ctx *cx, void *method, const cri_gp_problem *problem, const cr_kernel *k,
                       double noise, double *out_value, double *opt_gradient)
{
    (void)cx, (void)method, (void)problem, (void)opt_gradient, (void)k;
    *out_value = -0.5 * pow(log(noise) + 1, 2);
    return CR_OK;
}

static cr_status sample(cr_ctx *cx, void *arg)
{
    cr_status       st = CR_OK;
    cr_kernel      *k = NULL;
    double          X[] = { 0, 1, 2.5 }, y[] = { 1, 2, 1 }, r[] = { 1, 1, 1 }, draws[12];
    double          sd[] = { NAN, NAN, NAN };
    size_t          first[] = { 0, 1, 2 }, count = 4;
    cri_gp_data     data = { .n = 3, .d = 1, .X = X, .y = y, .r = r, .first = first, .count = 3 };
    cri_gp_problem  problem = { .data = &data };
    cri_gp_learning learning = {
        .problem = &problem, .objective = plain, .variance = 1, .learn_noise = true
    };
    (void)arg;
    CR_TRY(cr_kernel_parse(cx, "2*rbf", NULL, NULL, 0, &k));
    CR_TRY(cri_gp_mcmc(cx, &learning, k, 0.1, sd, 0, &count, draws, NULL));
done:
    cr_kernel_free(cx, k);
    return st;
}

TEST(allocations)
{
    saved     f = { .X = { 0, 1, 1.3, 2 }, .y = { 1, 2, 2.5, 3 } };
    cr_table *t = make_table(cx, f.X, 4, 1, f.y, NULL);
    cr_ctx_set_threads(cx, 1);
    cr_model *m = fit(cx, "gp", t, "target=y hyper=mcmc draws_hyper=4");
    assert_ok(cx, cr_model_to_bytes(cx, m, &f.bytes, &f.size));
    test_every_allocation_fails(use_draws, &f);
    test_every_allocation_fails(sample, NULL);
    cr_free(cx, f.bytes, f.size, 1);
}
