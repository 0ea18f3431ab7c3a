/* test_bayes_linear_dual.c -- Bayesian linear regression in the dual: all that the primal says of
 * the same rows, dense and sparse, with more terms than rows and with fewer; and an answer at
 * widths that no p x p matrix can have. */
#include "../../data/sparse_fixture.h"
#include "../life.h"

/* Terms of one size, so that a normal prior is no strain, and a target that they explain in part.
 */
static sparse_data draw_problem(uint64_t seed, size_t n, size_t p)
{
    sparse_data d = draw_sparse(seed, n, p, 0.25);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++) {
            d.X[i * p + j] /= 1 + (double)j;
            d.y[i] += (j % 3 ? 0.7 : -1.4) * d.X[i * p + j] / (1 + 0.2 * (double)j);
        }
    compress(&d);
    return d;
}

static void check_parameters(const json_t *x, const json_t *y, double tolerance)
{
    const json_t *u = json_object_get(x, "parameters"), *v = json_object_get(y, "parameters");
    assert_int_equal(json_array_size(u), json_array_size(v));
    for (size_t j = 0; j < json_array_size(u); j++) {
        const json_t *s = json_array_get(u, j), *t = json_array_get(v, j);
        assert_close(number_of(s, "value"), number_of(t, "value"), tolerance);
        assert_close(number_of(s, "sd"), number_of(t, "sd"), tolerance);
    }
}

/* a in the dual, b in the primal. */
static void check_same(cr_ctx *cx, const cr_model *a, const cr_model *b, const cr_table *t,
                       double tolerance)
{
    const char *const facts[] = { "noise_sd", "effective_parameters", "rss" };
    json_t           *x = describe(cx, a), *y = describe(cx, b);
    cr_prediction     f = predict(cx, a, t), g = predict(cx, b, t);
    assert_close(cr_model_get_report(a)->log_evidence, cr_model_get_report(b)->log_evidence,
                 tolerance);
    check_parameters(x, y, tolerance);
    for (size_t k = 0; k < 3; k++)
        assert_close(statistic(x, facts[k]), statistic(y, facts[k]), tolerance);
    for (size_t i = 0; i < f.n; i++) {
        assert_close(f.mean[i], g.mean[i], tolerance);
        assert_close(f.scale[i], g.scale[i], tolerance);
        assert_close(f.leverage[i], g.leverage[i], tolerance);
        assert_true(f.dof[i] == g.dof[i]);
    }
}

/* Saved and loaded, and for other numbers of threads: the same bits. */
static void check_copies(cr_ctx *cx, const cr_model *m, const cr_table *t, const char *settings)
{
    char         *bytes = NULL;
    size_t        size = 0;
    cr_model     *c = NULL;
    cr_prediction f = predict(cx, m, t);
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &c));
    cr_free(cx, bytes, size, 1);
    for (unsigned threads = 1; threads < 8; threads = 2 * threads + 1) {
        cr_prediction g = predict(cx, c, t);
        for (size_t i = 0; i < f.n; i++)
            assert_true(f.mean[i] == g.mean[i] && f.scale[i] == g.scale[i]);
        cr_model_free(cx, c);
        cr_ctx_set_threads(cx, threads);
        c = fit(cx, "bayes-linear", t, settings);
    }
    cr_ctx_set_threads(cx, 2);
}

TEST(dual_is_primal)
{
    const size_t      sizes[][2] = { { 25, 60 }, { 40, 12 }, { 3, 5 } };
    const char *const designs[] = { "",
                                    "weights=w",
                                    "intercept=false",
                                    "intercept_prior=flat",
                                    "scale=none weights=w",
                                    "scale=none intercept=false" };
    const char *const priors[] = { "optimize=none alpha=0.7 noise=0.4", "prior=nig",
                                   "optimize=fixed-point tol=1e-14", "optimize=em tol=1e-9" };
    for (size_t k = 0; k < 3; k++) {
        sparse_data d = draw_problem(k, sizes[k][0], sizes[k][1]);
        for (size_t i = 0; k == 2 && i < 3; i++) d.w[i] = 1 + (double)i;
        cr_table *tables[] = { table_of(cx, &d, false), table_of(cx, &d, true) };
        for (size_t i = 0; i < 6; i++)
            for (size_t j = 0; j < (k == 2 ? 2 : 4); j++) { /* three rows tell of no noise */
                char dual[200], primal[200];
                snprintf(dual, sizeof dual, "target=y features=x* solver=dual %s %s", designs[i],
                         priors[j]);
                snprintf(primal, sizeof primal, "target=y features=x* solver=primal %s %s",
                         designs[i], priors[j]);
                cr_model *b = fit(cx, "bayes-linear", tables[0], primal);
                for (size_t sparse = 0; sparse < 2; sparse++) {
                    cr_model *a = fit(cx, "bayes-linear", tables[sparse], dual);
                    check_same(cx, a, b, tables[sparse], 1e-9);
                    if (k == 0 && i == 1) check_copies(cx, a, tables[sparse], dual);
                }
            }
        cr_table_free(cx, tables[0]);
        cr_table_free(cx, tables[1]);
        free_sparse(&d);
    }
}

/* 20000 sparse columns: 3 GB as a matrix of them.  Left to itself the fit takes the dual, explains
 * what can be explained, and has no update. */
TEST(wide)
{
    enum { WIDE = 20000, ROWS = 80, EACH = 30 };
    cr_rng      r = cr_rng_stream(5, 5);
    sparse_data d = { .n = ROWS, .p = WIDE };
    d.start = calloc(ROWS + 1, sizeof *d.start);
    d.column = calloc(ROWS * EACH, sizeof *d.column);
    d.value = calloc(ROWS * EACH, sizeof *d.value);
    d.y = calloc(ROWS, sizeof *d.y);
    d.w = calloc(ROWS, sizeof *d.w);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < EACH; k++) {
            size_t e = i * EACH + k;
            d.column[e] = (uint32_t)(k * (WIDE / EACH) + cr_rng_below(&r, k < 5 ? 2 : 600));
            d.value[e] = 1;
            if (k < 5) d.y[i] += d.column[e] % 2 ? 1 : -1;
        }
        d.y[i] += 0.1 * cr_rng_normal(&r);
        d.start[i + 1] = d.entries = (i + 1) * EACH;
    }
    cr_table *t = table_of(cx, &d, true);
    cr_model *m = fit(cx, "bayes-linear", t, "target=y features=x*"), *u = NULL;
    check_solver(cx, m, "dual");
    cr_prediction f = predict(cx, m, t);
    double        error = 0;
    for (size_t i = 0; i < ROWS; i++) error += (f.mean[i] - d.y[i]) * (f.mean[i] - d.y[i]) / ROWS;
    assert_true(error < 1.5);
    assert_fails_with(cx, cr_update(cx, m, t, &u), CR_EUNSUPPORTED, "dual");
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    free_sparse(&d);
}

TEST(no_memory)
{
    sparse_data d = draw_problem(1, 6, 9);
    for (int sparse = 0; sparse < 2; sparse++) {
        cr_table *t = table_of(cx, &d, sparse);
        check_every_allocation(t, "bayes-linear", "target=y features=x* prior=nig solver=dual");
        cr_table_free(cx, t);
    }
    free_sparse(&d);
}
