/* test_gp_online_batches.c -- rows in small batches: the noise is that of all rows so far, not of the last ones, and
 * what is learned is as good as from all rows at once. */
#include "gp_fixture.h"

#include "base/scratch.h"
#include "models/gp/online/gp_stream.h"

/* --- the bound ------------------------------------------------------------------------------- */

enum { N = 24, Z = 7 };

typedef struct bench {
    double        X[N], y[N], r[N], H[N], L[Z * Z], L2[Z * Z], alpha[Z], beta[1], U[Z], A[1];
    double        Phi[Z * Z], M[Z * 2], S[4];
    size_t        first[N];
    cri_gp_sparse sparse;
} bench;

static cri_gp_data rows_of(bench *b, size_t begin, size_t end)
{
    return (cri_gp_data){ .n = end - begin,
                          .d = 1,
                          .X = b->X + begin,
                          .y = b->y + begin,
                          .r = b->r + begin,
                          .first = b->first,
                          .count = (double)(end - begin) + 3,
                          .spread = 0.4,
                          .log_shares = 0.2 };
}

/* What is known of rows at one noise is what they say at another: the bound of a batch and those before it is that of
 * all rows. */
TEST(another_noise)
{
    cr_scratch s = cr_scratch_begin(cx);
    bench     *b = calloc(1, sizeof *b);
    cr_rng     r = cr_rng_stream(3, 1);
    cr_kernel *k = NULL;
    double     parts, whole, by_parts[4], by_all[4];
    assert_non_null(b);
    for (size_t i = 0; i < N; i++) {
        b->X[i] = 6 * cr_rng_uniform(&r), b->H[i] = 1, b->r[i] = 1 + 0.2 * (double)(i % 3);
        b->y[i] = sin(b->X[i]) + 0.3 * cr_rng_normal(&r);
    }
    assert_ok(cx, cr_kernel_parse(cx, "1.3*rbf(x1;l=0.9)", NULL, NULL, 0, &k));
    cri_gp_data one = rows_of(b, 0, 15), two = rows_of(b, 15, N), all = rows_of(b, 0, N),
                at = rows_of(b, 0, Z);
    all.count = one.count + two.count, all.spread = 0.8, all.log_shares = 0.4;
    b->sparse = (cri_gp_sparse){ .approx = CRI_GP_VFE,
                                 .Z = at,
                                 .L = b->L,
                                 .L2 = b->L2,
                                 .alpha = b->alpha,
                                 .beta = b->beta,
                                 .U = b->U,
                                 .A = b->A };
    cri_gp_stream_sums sums = { .m = Z, .q = 1, .w = 2, .Phi = b->Phi, .M = b->M, .S = b->S };
    cri_gp_pseudo      none = { 0 }, pseudo;
    cri_gp_problem     problem = { &one, 1, b->H };
    cri_gp_stream      stream = { &none, &b->sparse, &sums };
    assert_ok(cx, cri_gp_stream_solve(cx, &problem, k, 0.04, &stream, NULL));
    assert_true(sums.count == one.count);
    assert_ok(cx, cri_gp_pseudo_new(&s, &sums, 0.04, b->L, &at, &pseudo));
    for (double noise = 0.01; noise < 1; noise *= 3) {
        stream = (cri_gp_stream){ &pseudo, &b->sparse, NULL };
        problem.data = &two;
        assert_ok(cx, cri_gp_stream_objective(cx, &stream, &problem, k, noise, &parts, by_parts));
        stream = (cri_gp_stream){ &none, &b->sparse, NULL };
        problem.data = &all;
        assert_ok(cx, cri_gp_stream_objective(cx, &stream, &problem, k, noise, &whole, by_all));
        assert_relative(parts, whole, 1e-9);
        assert_relative(by_parts[2], by_all[2], 1e-7);
    }
    cr_kernel_free(cx, k);
    free(b);
    cr_scratch_end(&s);
}

/* --- simulation ------------------------------------------------------------------------------ */

enum { NEW = 200 };

static cr_table *sines(cr_ctx *cx, size_t n, cr_rng *r)
{
    static double x[300], y[300];
    for (size_t i = 0; i < n; i++) {
        x[i] = 10 * cr_rng_uniform(r);
        y[i] = 3 * sin(x[i]) + cr_rng_normal(r);
    }
    return make_table(cx, x, n, 1, y, NULL);
}

/* Rows in batches, then the share of new rows in their 95 % intervals, and the noise. */
static double run(cr_ctx *cx, uint64_t seed, size_t n, size_t first, size_t batch, double *out_sd)
{
    cr_rng    r = cr_rng_stream(seed, 1);
    cr_table *t = sines(cx, first, &r);
    cr_model *m = fit(cx, "gp-online", t, "target=y"), *next = NULL;
    double    y[NEW], lower[NEW], upper[NEW], held = 0;
    cr_table_free(cx, t);
    for (size_t at = first; at < n; at += batch) {
        t = sines(cx, batch, &r);
        assert_ok(cx, cr_update(cx, m, t, &next));
        test_own(cx, next, release_model);
        cr_model_free(cx, m);
        cr_table_free(cx, t);
        m = next;
    }
    cr_table *new = sines(cx, NEW, &r);
    cr_prediction p = predict(cx, m, new);
    assert_ok(cx, cr_observed(cx, m, new, y, NULL));
    assert_ok(cx, cr_prediction_intervals(cx, &p, 0.95, NULL, lower, upper));
    for (size_t i = 0; i < NEW; i++) held += y[i] >= lower[i] && y[i] <= upper[i];
    *out_sd = statistic(describe(cx, m), "noise_sd");
    return held / NEW;
}

/* Rows one after the other, in twos, fives and tens, from a first batch of 5 or 50: noise and intervals are those of
 * all rows at once. */
TEST(batches_are_as_good_as_all_rows)
{
    static const struct {
        size_t n, first, batch;
    } ways[] = { { 60, 5, 1 }, { 300, 50, 2 }, { 200, 5, 5 }, { 300, 50, 10 } };
    size_t sets = simulation_size(2, 8);
    cr_ctx_set_threads(cx, 1);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        double sum = 0, worst = 1;
        for (size_t k = 0; k < sets; k++) {
            double sd, sd_at_once;
            double held = run(cx, 100 + k, ways[w].n, ways[w].first, ways[w].batch, &sd);
            run(cx, 100 + k, ways[w].n, ways[w].n, 1, &sd_at_once);
            if (fabs(log(sd / sd_at_once)) > 0.05)
                fail_msg("batches of %zu, set %zu: noise %.3f, of all rows at once %.3f",
                         ways[w].batch, k, sd, sd_at_once);
            sum += held, worst = fmin(worst, held);
        }
        if (sum < 0.93 * (double)sets || sum > 0.98 * (double)sets || worst < 0.85)
            fail_msg("batches of %zu: %.3f of 95 %% intervals, at worst %.3f", ways[w].batch,
                     sum / (double)sets, worst);
    }
}

/* --- files of before ------------------------------------------------------------------------- */

/* A file that does not say how its sums go with the noise keeps the noise it has. */
TEST(noise_of_an_old_file_stays)
{
    cr_model *m = NULL, *next = NULL;
    cr_table *more = table_of_text(cx, "more.csv", "x,y\n1,9\n2,-9\n3,9\n4,-8\n");
    assert_ok(cx, cr_model_load(cx, test_data("golden/gp-online-1.cred"), &m));
    test_own(cx, m, release_model);
    assert_ok(cx, cr_update(cx, m, more, &next));
    test_own(cx, next, release_model);
    json_t *before = describe(cx, m), *after = describe(cx, next);
    assert_true(statistic(after, "noise_sd") == statistic(before, "noise_sd"));
    assert_true(statistic(after, "batches") == statistic(before, "batches") + 1);
}
