/* test_rvm.c -- regression by relevance vectors against the dense formula of the evidence, all subsets of a small basis,
 * and reference answers. */
#include "rvm_state.h"
#include "../gp/gp_reference.h"
#include "models/kernel/rvm/rvm_basis.h"
#include "math/optim/minimize.h"

enum { N = 30 };

/* A curve with noise at n points. */
static void draw_curve(uint64_t seed, size_t n, double noise, double *x, double *y)
{
    cr_rng r = cr_rng_stream(seed, 5);
    for (size_t i = 0; i < n; i++) {
        x[i] = 10 * cr_rng_uniform(&r) - 5;
        y[i] = 2 + (x[i] == 0 ? 1 : sin(x[i]) / x[i]) + noise * cr_rng_normal(&r);
    }
}

/* The functions of a fitted model at the rows, Phi [n x M]. */
static void functions_at(const cri_rvm *m, const double *X, size_t n, double l, double *Phi)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m->M; k++) Phi[i * m->M + k] = rvm_phi(m, k, X + i * m->d, l);
}

static double evidence_of(const cr_model *m) { return cr_model_get_report(m)->log_evidence; }

/* The evidence that is reported is that of the dense formula; its derivatives by every precision and by the noise
 * vanish; and it falls with any function that was left out, however strongly that is held back. */
TEST(optimum)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        double x[N], y[N], w[N], Phi[N * N], alpha[N + 1], mean = 0, weight = 0;
        draw_curve(seed, N, 0.1, x, y);
        for (size_t i = 0; i < N; i++) w[i] = seed % 2 ? 1 + (double)(i % 3) : 1;
        for (size_t i = 0; i < N; i++) mean += w[i] * y[i], weight += w[i];
        cr_table *t = make_table(cx, x, N, 1, y, w);
        cr_model *model = fit(
            cx, "rvm", t, "target=y weights=w kernel=rbf(l=1.5) scale=none tol=1e-9 hyper=best");
        const cri_rvm *m = rvm_of(model);
        assert_true(m->M > 1 && m->M < N / 2);
        assert_int_equal(cr_model_get_report(model)->stop, CR_STOP_TOLERANCE);
        for (size_t i = 0; i < N; i++) y[i] -= mean / weight;
        functions_at(m, x, N, 1.5, Phi);
        double best = dense_evidence(Phi, m->M, m->alpha, y, w, N, m->noise);
        assert_close(evidence_of(model), best, 1e-8);
        assert_close(best, fmax(m->up, isnan(m->down) ? -INFINITY : m->down), 1e-8);
        for (size_t k = 0; k <= m->M; k++) {
            double at[2];
            for (int side = 0; side < 2; side++) {
                double step = exp(side ? 1e-4 : -1e-4), noise = m->noise;
                memcpy(alpha, m->alpha, m->M * sizeof *alpha);
                *(k < m->M ? &alpha[k] : &noise) *= step;
                at[side] = dense_evidence(Phi, m->M, alpha, y, w, N, noise);
            }
            assert_close((at[1] - at[0]) / 2e-4, 0, 2e-3);
        }
        for (size_t c = 0; c < N; c++) {
            double more[N * (N + 1)];
            for (size_t i = 0; i < N; i++) {
                memcpy(more + i * (m->M + 1), Phi + i * m->M, m->M * sizeof *Phi);
                more[i * (m->M + 1) + m->M] = exp(-(x[i] - x[c]) * (x[i] - x[c]) / 4.5);
            }
            memcpy(alpha, m->alpha, m->M * sizeof *alpha);
            for (double a = 1e-4; a < 1e7; a *= 10) {
                alpha[m->M] = a;
                assert_true(dense_evidence(more, m->M + 1, alpha, y, w, N, m->noise) < best + 1e-6);
            }
        }
        cr_table_free(cx, t);
    }
}

/* --- all subsets ------------------------------------------------------------------------------ */

enum { TERMS = 4 };

typedef struct subset {
    const double *X, *y;
    unsigned      members;
} subset;

/* Minus the evidence of the constant and the terms that are members, by the logarithms of their precisions and of the
 * noise. */
static cr_status of_subset(void *user, const double *v, size_t n, double *out_f, double *gradient)
{
    const subset *s = user;
    double        Phi[N * (TERMS + 1)], alpha[TERMS + 1];
    size_t        M = 0;
    for (unsigned j = 0; j <= TERMS; j++) {
        if (!(s->members >> j & 1)) continue;
        alpha[M] = exp(v[M]), M++;
    }
    for (size_t i = 0; i < N; i++) {
        double *to = Phi + i * M;
        for (unsigned j = 0; j <= TERMS; j++)
            if (s->members >> j & 1) *to++ = j == 0 ? 1 : s->X[i * TERMS + j - 1];
    }
    *out_f = -dense_evidence(Phi, M, alpha, s->y, NULL, N, exp(v[n - 1]));
    (void)gradient;
    return CR_OK;
}

/* No subset of a small basis, its precisions and noise at their best, has a larger evidence. */
TEST(all_subsets)
{
    for (uint64_t seed = 10; seed < 13; seed++) {
        double X[N * TERMS], y[N], most = -INFINITY, mean = 0;
        draw_regression(seed, N, TERMS, 1.5, X, y);
        for (size_t i = 0; i < N; i++) { /* the last nearly the sum of the first two */
            X[i * TERMS + 3] = X[i * TERMS] + X[i * TERMS + 1] + 0.2 * X[i * TERMS + 3];
            mean += y[i] / N;
        }
        cr_table *t = make_table(cx, X, N, TERMS, y, NULL);
        cr_model *m = fit(cx, "rvm", t, "target=y functions=terms scale=none hyper=best");
        for (size_t i = 0; i < N; i++) y[i] -= mean;
        for (unsigned members = 0; members < 1u << (TERMS + 1); members++) {
            subset              s = { X, y, members };
            double              v[TERMS + 2] = { 0 }, lower[TERMS + 2], upper[TERMS + 2];
            size_t              n = 1;
            cr_minimize_options o = cr_minimize_defaults();
            cr_minimize_report  r;
            for (unsigned j = 0; j <= TERMS; j++) n += members >> j & 1;
            for (size_t j = 0; j < n; j++) lower[j] = -12, upper[j] = 12;
            cr_problem problem = { .n = n,
                                   .objective = of_subset,
                                   .no_gradient = true,
                                   .lower = lower,
                                   .upper = upper,
                                   .user = &s };
            o.max_iter = 60;
            assert_ok(cx, cr_minimize(cx, &problem, &o, v, &r));
            most = fmax(most, -r.f);
        }
        assert_true(evidence_of(m) > most - 1e-3);
        assert_true(evidence_of(m) < most + 1e-2); /* subsets have all there is */
        cr_table_free(cx, t);
    }
}

/* --- reference answers ------------------------------------------------------------------------ */

/* The evidence is at least the stored best less one in a hundred, and predictions are no worse than those of a program
 * that stops early. */
TEST(reference)
{
    json_t *root = load_reference(), *item;
    size_t  i, seen = 0, most = simulation_size(200, SIZE_MAX);
    json_array_foreach(json_object_get(root, "cases"), i, item)
    {
        const char *id = json_string_value(json_object_get(item, "id"));
        if (strncmp(id, "rvm/", 4) || case_rows(root, item) > most) continue;
        split     s = read_split(cx, root, item);
        cr_table *t = make_table(cx, s.X, s.n, s.d, s.y, NULL),
                 *z = make_table(cx, s.Z, s.tests, s.d, s.z, NULL);
        double gamma = number_of(json_object_get(item, "kernel"), "gamma"), square = 0;
        char   settings[200];
        snprintf(settings, sizeof settings, "target=y scale=none hyper=best kernel=rbf(l=%.17g)",
                 sqrt(0.5 / gamma));
        cr_model     *m = fit(cx, "rvm", t, settings);
        cr_prediction p = predict(cx, m, z);
        double wanted = number_of(json_object_get(item, "own_best_evidence"), "log_evidence");
        assert_true(evidence_of(m) >= wanted - 0.01 * fabs(wanted));
        for (size_t k = 0; k < s.tests; k++) square += (p.mean[k] - s.z[k]) * (p.mean[k] - s.z[k]);
        double other = number_of(json_object_get(item, "kernlab_rvm"), "test_rmse_std");
        assert_true(sqrt(square / (double)s.tests) < 1.12 * other);
        cr_model_free(cx, m);
        cr_table_free(cx, t);
        cr_table_free(cx, z);
        drop_split(&s);
        seen++;
    }
    assert_int_equal(seen, most == SIZE_MAX ? 10 : 2);
    json_decref(root);
}

/* --- a function at the query ------------------------------------------------------------------ */

/* The same answer from the augmented posterior, all functions and the new one at once. */
TEST(query)
{
    double x[N], y[N], mean = 0;
    draw_curve(3, N, 0.1, x, y);
    cr_table *t = make_table(cx, x, N, 1, y, NULL);
    for (size_t i = 0; i < N; i++) mean += y[i] / N;
    cr_model      *plain = fit(cx, "rvm", t, "target=y kernel=rbf(l=1) scale=none");
    cr_model      *model = fit(cx, "rvm", t,
                               "target=y kernel=rbf(l=1) scale=none basis_at_query=true "
                                    "query_precision=0.7");
    const cri_rvm *m = rvm_of(model);
    double         at[] = { -4, 0.3, 2, 6, 40 };
    for (size_t q = 0; q < 5; q++) {
        cr_table     *one = make_table(cx, at + q, 1, 1, NULL, NULL);
        cr_prediction p = predict(cx, model, one), without = predict(cx, plain, one);
        size_t        D = m->M + 1;
        long double   A[(N + 2) * (N + 2)], b[2 * (N + 2)], here[N + 2];
        for (size_t k = 0; k < D; k++) here[k] = k < m->M ? rvm_phi(m, k, &at[q], 1) : 1;
        for (size_t k = 0; k < D; k++) {
            b[2 * k] = 0, b[2 * k + 1] = here[k];
            for (size_t l = 0; l < D; l++) A[k * D + l] = k != l ? 0 : k < m->M ? m->alpha[k] : 0.7;
        }
        for (size_t i = 0; i < N; i++) {
            long double phi[N + 2];
            for (size_t k = 0; k < D; k++)
                phi[k] =
                    k < m->M ? rvm_phi(m, k, &x[i], 1) : exp(-(x[i] - at[q]) * (x[i] - at[q]) / 2);
            for (size_t k = 0; k < D; k++) {
                b[2 * k] += phi[k] * (y[i] - mean) / m->noise;
                for (size_t l = 0; l < D; l++) A[k * D + l] += phi[k] * phi[l] / m->noise;
            }
        }
        solve_dense(D, A, b, 2);
        long double value = mean, variance = m->noise;
        for (size_t k = 0; k < D; k++)
            value += here[k] * b[2 * k], variance += here[k] * b[2 * k + 1];
        assert_close(p.mean[0], (double)value, 1e-8);
        assert_close(p.scale[0], (double)sqrtl(variance), 1e-8);
        assert_true(p.scale[0] > without.scale[0]);
        if (at[q] == 40) assert_close(p.scale[0], sqrt(1 / 0.7 + m->noise), 0.01);
        cr_table_free(cx, one);
    }
    cr_table_free(cx, t);
}

/* Far from the data the spread vanishes, and that is said; with a function at the query there is nothing to say. */
TEST(far_away)
{
    double    x[N], y[N], far = 100;
    warnings  heard = { { 0 }, 0 };
    cr_table *t, *one = make_table(cx, &far, 1, 1, NULL, NULL);
    draw_curve(3, N, 0.1, x, y);
    t = make_table(cx, x, N, 1, y, NULL);
    cr_model *plain = fit(cx, "rvm", t, "target=y kernel=rbf(l=1)");
    cr_model *healed = fit(cx, "rvm", t, "target=y kernel=rbf(l=1) basis_at_query=true");
    cr_ctx_set_log(cx, keep_warning, &heard);
    predict(cx, healed, one);
    assert_string_equal(heard.text, "");
    predict(cx, plain, t);
    assert_string_equal(heard.text, "");
    predict(cx, plain, one);
    assert_non_null(strstr(heard.text, "--basis-at-query"));
    cr_ctx_set_log(cx, NULL, NULL);
}

/* --- laws ------------------------------------------------------------------------------------- */

/* More steps, more evidence. */
TEST(monotone)
{
    double    x[N], y[N], last = -INFINITY;
    cr_table *t;
    draw_curve(8, N, 0.2, x, y);
    t = make_table(cx, x, N, 1, y, NULL);
    for (size_t steps = 1; steps < 40; steps++) {
        char settings[128];
        snprintf(settings, sizeof settings, "target=y kernel=rbf(l=0.7) start=up max_iter=%zu",
                 steps);
        cr_model *m = fit(cx, "rvm", t, settings);
        assert_true(evidence_of(m) >= last - 1e-9);
        last = evidence_of(m);
    }
}

/* Units of target and columns, and where they begin, play no part. */
TEST(units)
{
    double x[N], y[N], u[N], v[N];
    draw_curve(5, N, 0.2, x, y);
    for (size_t i = 0; i < N; i++) u[i] = 1000 * x[i] - 7e4, v[i] = 1e-3 * y[i] + 40;
    cr_table *t = make_table(cx, x, N, 1, y, NULL), *r = make_table(cx, u, N, 1, v, NULL);
    for (int given = 0; given < 2; given++) {
        const char   *settings = given ? "target=y kernel=rbf(l=0.3)" : "target=y";
        cr_model     *a = fit(cx, "rvm", t, settings), *b = fit(cx, "rvm", r, settings);
        cr_prediction p = predict(cx, a, t), q = predict(cx, b, r);
        assert_close(evidence_of(a), evidence_of(b) + N * log(1e-3), 1e-4);
        for (size_t i = 0; i < N; i++) {
            assert_close(q.mean[i], 1e-3 * p.mean[i] + 40, 1e-6);
            assert_close(q.scale[i], 1e-3 * p.scale[i], 1e-6);
        }
    }
}

/* --- products in blocks ----------------------------------------------------------------------- */

/* Kernel columns that are not kept give the same products. */
TEST(blocks)
{
    enum { ROWS = 700, U = 3 };
    cr_scratch  s = cr_scratch_begin(cx);
    double     *x = cr_scratch_f64(&s, ROWS), *y = cr_scratch_f64(&s, ROWS);
    double     *A = cr_scratch_matrix(&s, ROWS, U), *one = cr_scratch_matrix(&s, ROWS + 1, U);
    double     *two = cr_scratch_matrix(&s, ROWS + 1, U);
    cr_kernel  *k = NULL;
    cri_gp_data at = { .n = ROWS, .d = 1, .X = x };
    cr_rng      r = cr_rng_stream(4, 4);
    draw_curve(4, ROWS, 0.1, x, y);
    draw_normals(&r, A, (size_t)ROWS * U);
    assert_ok(cx, cr_kernel_parse(cx, "rbf(l=0.5)", NULL, NULL, 0, &k));
    cri_rvm_basis kept, not ;
    assert_ok(cx, cri_rvm_basis_new(&s, &at, k, NULL, true, &kept));
    not = kept;
    not .Phi = NULL;
    assert_ok(cx, cri_rvm_products(cx, &kept, A, U, one));
    assert_ok(cx, cri_rvm_products(cx, &not, A, U, two));
    for (size_t i = 0; i < (ROWS + 1) * (size_t)U; i++) assert_close(one[i], two[i], 1e-11);
    assert_ok(cx, cri_rvm_squares(cx, &kept, A, U, one));
    assert_ok(cx, cri_rvm_squares(cx, &not, A, U, two));
    for (size_t i = 0; i < (ROWS + 1) * (size_t)U; i++) assert_close(one[i], two[i], 1e-11);
    size_t which[U] = { 5, 0, 699 };
    assert_ok(cx, cri_rvm_columns(cx, &kept, which, U, one));
    assert_ok(cx, cri_rvm_columns(cx, &not, which, U, two));
    for (size_t i = 0; i < ROWS * (size_t)U; i++) assert_close(one[i], two[i], 1e-14);
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
}

/* --- corners ---------------------------------------------------------------------------------- */

/* Few rows beside the functions, which intervals of the best evidence do not allow for: it says so, and with many rows
 * it does not; nor where errors in rows left out are asked. */
TEST(few_rows_are_named)
{
    enum { MANY = 200 };
    double   x[MANY], y[MANY];
    warnings heard;
    draw_curve(31, MANY, 0.3, x, y);
    cr_table *few = make_table(cx, x, 12, 1, y, NULL), *many = make_table(cx, x, MANY, 1, y, NULL);
    assert_non_null(strstr(
        fit_and_hear(cx, "rvm", few, "target=y kernel=rbf(l=1) hyper=best", &heard), "too narrow"));
    assert_null(strstr(fit_and_hear(cx, "rvm", many, "target=y kernel=rbf(l=1) hyper=best", &heard),
                       "too narrow"));
    assert_null(
        strstr(fit_and_hear(cx, "rvm", few, "target=y kernel=rbf(l=1)", &heard), "too narrow"));
}

/* Of the dense formula with its noise s^2 and ratios, before errors in rows left out make the noise larger:
 * reported + M log(C) / 2 - log(s / sd) = log p(y), and s^2 = E / (N - 1). */
TEST(counted)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        double x[N], y[N], Phi[N * N], alpha[N + 1], mean = 0, square = 0, at[2];
        draw_curve(seed, N, 0.1, x, y);
        for (size_t i = 0; i < N; i++) mean += y[i] / N;
        cr_model      *model = fit(cx, "rvm", make_table(cx, x, N, 1, y, NULL),
                                   "target=y kernel=rbf(l=1.5) scale=none tol=1e-9");
        const cri_rvm *m = rvm_of(model);
        for (size_t i = 0; i < N; i++) y[i] -= mean, square += y[i] * y[i];
        functions_at(m, x, N, 1.5, Phi);
        double times = m->inflation > 0 ? m->inflation : 1, noise = m->noise / times;
        for (size_t k = 0; k < m->M; k++) alpha[k] = m->alpha[k] * times;
        double dense = dense_evidence(Phi, m->M, alpha, y, NULL, N, noise);
        double price = 0.5 * (double)m->M * log(N + 1);
        assert_close(evidence_of(model), dense + 0.5 * log(noise * N / square) - price, 1e-8);
        for (int side = 0; side < 2; side++) { /* with the ratios held, E / s^2 alone is N - 1 */
            double more[N + 1], step = exp(side ? 1e-4 : -1e-4);
            for (size_t k = 0; k < m->M; k++) more[k] = alpha[k] / step;
            at[side] = dense_evidence(Phi, m->M, more, y, NULL, N, noise * step);
        }
        assert_close((at[1] - at[0]) / 2e-4, -0.5, 1e-3);
    }
}

/* The factor of the noise: errors of fits to tables without each row, over their variances. */
TEST(left_out)
{
    enum { FEW = 9 };
    double x[FEW], y[FEW], square = 0, variance = 0;
    draw_curve(3, FEW, 0.3, x, y);
    cr_model *all = fit(cx, "rvm", make_table(cx, x, FEW, 1, y, NULL),
                        "target=y kernel=rbf(l=1)"
                        " scale=none");
    for (size_t i = 0; i < FEW; i++) {
        double u[FEW], v[FEW], phi[FEW];
        for (size_t j = 0, k = 0; j < FEW; j++)
            if (j != i) u[k] = x[j], v[k++] = y[j];
        cr_table      *t = make_table(cx, u, FEW - 1, 1, v, NULL);
        const cri_rvm *m = rvm_of(fit(cx, "rvm", t, "target=y kernel=rbf(l=1) scale=none"));
        double k = m->inflation > 0 ? m->inflation : 1, e = y[i] - m->shift, var = m->noise / k;
        functions_at(m, x + i, 1, 1, phi);
        for (size_t a = 0; a < m->M; a++) {
            e -= phi[a] * m->weight[a];
            for (size_t b = 0; b < m->M; b++)
                var += phi[a] * m->covariance[a * m->M + b] * phi[b] / k;
        }
        square += e * e, variance += var;
    }
    assert_close(rvm_of(all)->inflation, square > variance ? square / variance : 0, 1e-6);
    assert_true(square > variance);
}

TEST(one_row)
{
    double        x = 3, y = 5;
    cr_table     *t = make_table(cx, &x, 1, 1, &y, NULL);
    cr_model     *m = fit(cx, "rvm", t, "target=y");
    cr_prediction p = predict(cx, m, t);
    assert_close(p.mean[0], 5, 1e-12);
    assert_true(isnan(p.scale[0]));
}

TEST(constants)
{
    double      X[12] = { 1, 7, 2, 7, 3, 7, 4, 7, 5, 7, 6, 7 }, same[6] = { 4, 4, 4, 4, 4, 4 };
    double      y[6] = { 1, 3, 2, 5, 4, 6 };
    cr_table   *t = make_table(cx, X, 6, 2, same, NULL), *u = make_table(cx, X, 6, 2, y, NULL);
    const char *settings[] = { "target=y", "target=y functions=terms", "target=y intercept=false" };
    for (size_t i = 0; i < 3; i++) {
        cr_prediction p = predict(cx, fit(cx, "rvm", t, settings[i]), t);
        for (size_t k = 0; k < 6; k++) assert_close(p.mean[k], 4, i < 2 ? 1e-12 : 0.1);
        p = predict(cx, fit(cx, "rvm", u, settings[i]), u);
        for (size_t k = 0; k < 6; k++) assert_true(isfinite(p.mean[k]) && p.scale[k] > 0);
    }
}

TEST(refusals)
{
    double    x[4] = { 1, 2, 3, 4 }, y[4] = { 1, 3, 2, 4 };
    cr_table *t = make_table(cx, x, 4, 1, y, NULL);
    cr_model *m = NULL;
    assert_fails(cx, try_fit(cx, "rvm", t, "target=y kernel=rbf+white", &m), CR_EARG);
    assert_fails(cx, try_fit(cx, "rvm", t, "target=y functions=terms kernel=rbf", &m), CR_EARG);
    assert_fails(cx, try_fit(cx, "rvm", t, "target=y functions=terms basis_at_query=true", &m),
                 CR_EARG);
    assert_fails(cx, try_fit(cx, "rvm", t, "target=y query_precision=1", &m), CR_EARG);
}

/* A kernel that is not positive semi-definite gives functions as good as any, also from a file. */
TEST(any_kernel)
{
    double    x[N], y[N];
    cr_table *t;
    draw_curve(5, N, 0.1, x, y);
    t = make_table(cx, x, N, 1, y, NULL);
    cr_model     *m = fit(cx, "rvm", t, "target=y kernel=sigmoid"), *again = NULL;
    const char   *path = test_file("sigmoid.cred", "", 0);
    cr_prediction p = predict(cx, m, t);
    assert_ok(cx, cr_model_save(cx, m, path));
    assert_ok(cx, cr_model_load(cx, path, &again));
    test_own(cx, again, release_model);
    cr_prediction q = predict(cx, again, t);
    assert_memory_equal(p.mean, q.mean, sizeof(double[N]));
}

/* How often intervals hold what they say, at new points within the data. */
TEST(coverage)
{
    enum { NEW = 20 };
    size_t inside = 0, all = 0, sets = simulation_size(10, 60);
    for (uint64_t seed = 0; seed < sets; seed++) {
        double x[60], y[60], z[NEW], u[NEW];
        draw_curve(100 + seed, 60, 0.2, x, y);
        draw_curve(9000 + seed, NEW, 0.2, z, u);
        cr_table *t = make_table(cx, x, 60, 1, y, NULL), *new = make_table(cx, z, NEW, 1, u, NULL);
        cr_model *m = fit(cx, "rvm", t, "target=y kernel=rbf(l=0.5)");
        cr_prediction p = predict(cx, m, new);
        for (size_t i = 0; i < NEW; i++, all++)
            inside += fabs(p.mean[i] - u[i]) < 2.01 * p.scale[i];
        cr_table_free(cx, t);
        cr_table_free(cx, new);
    }
    double share = (double)inside / (double)all;
    assert_true(share > 0.88 && share < 0.98);
}
