/* reference_sparse.h -- sparse Gaussian processes against the answers of others, case by case. */
#ifndef CREDENCE_TEST_MODELS_GP_REFERENCE_SPARSE_H
#define CREDENCE_TEST_MODELS_GP_REFERENCE_SPARSE_H

#include "gp_reference.h"

#include "models/gp/sparse/gp_sparse.h"

/* out = T^-1 v of a lower triangle, in place; returns |out|^2. */
static inline double solve_lower(const double *T, size_t m, double *v)
{
    double square = 0;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < i; j++) v[i] -= T[i * m + j] * v[j];
        v[i] /= T[i * m + i];
        square += v[i] * v[i];
    }
    return square;
}

/* The variance of the function at test row i: k - |L^-1 c|^2 + |L2^-1 L^-1 c|^2, of sor the last
 * term alone. */
static inline void check_variance(const json_t *item, size_t i, size_t m, const double *L,
                                  const double *L2, double *c)
{
    const json_t *sor = json_object_get(item, "sor_var_f");
    double        k = number_of(json_object_get(item, "hyper"), "k1.variance");
    double        explained = solve_lower(L, m, c), kept = solve_lower(L2, m, c);
    assert_close(k - explained + kept, element(json_object_get(item, "var_f"), i), 1e-6);
    if (sor) assert_close(kept, element(sor, i), 1e-6);
}

/* The bound, its gradients by hyper-parameters (each by its name) and inducing inputs, means,
 * variances. */
static inline void check_sparse(cr_ctx *cx, const json_t *root, const json_t *item)
{
    split         s = read_split(cx, root, item);
    const json_t *hyper = json_object_get(item, "hyper");
    const json_t *inducing = json_object_get(json_object_get(root, "inducing_sets"),
                                             json_string_value(json_object_get(item, "inducing")));
    const char   *method = json_string_value(json_object_get(item, "method"));
    size_t        m = json_array_size(inducing);
    double        noise = number_of(hyper, "noise"), gradient[32];
    char          text[2048] = "";
    cr_kernel    *k;
    double       *Z = malloc(m * s.d * sizeof *Z), *r = malloc(s.n * sizeof *r),
           *L = malloc(m * m * sizeof *L);
    double *L2 = malloc(m * m * sizeof *L2), *alpha = malloc(m * sizeof *alpha);
    double *dZ = malloc(m * s.d * sizeof *dZ);
    for (size_t i = 0; i < m * s.d; i++) Z[i] = element(json_array_get(inducing, i / s.d), i % s.d);
    for (size_t i = 0; i < s.n; i++) r[i] = 1;
    cri_gp_data    data = { .n = s.n, .d = s.d, .X = s.X, .y = s.y, .r = r, .count = (double)s.n };
    cri_gp_problem problem = { .data = &data };
    cri_gp_sparse  sparse = { .approx = method[0] == 'd'   ? CRI_GP_DTC
                                        : method[0] == 'f' ? CRI_GP_FITC
                                                           : CRI_GP_VFE,
                              .Z = { .n = m, .d = s.d, .X = Z },
                              .L = L,
                              .L2 = L2,
                              .alpha = alpha };
    kernel_text(json_object_get(item, "kernel"), hyper, text);
    assert_ok(cx, cr_kernel_parse(cx, text, NULL, NULL, 0, &k));
    assert_ok(cx, cri_gp_sparse_solve(cx, &problem, k, noise, &sparse, gradient, dZ));
    assert_relative(sparse.value, number_of(item, "bound"), 1e-7);
    const json_t *moves = json_object_get(item, "grad_inducing");
    check_log_gradient(item, gradient, cr_kernel_theta_size(k) + 1, 1e-6);
    for (size_t i = 0; moves && i < m * s.d; i++)
        assert_close(dZ[i], element(json_array_get(moves, i / s.d), i % s.d), 1e-5);
    const json_t *mean = json_object_get(item, "mean");
    double        C[100];
    for (size_t i = 0; i < json_array_size(mean); i++) {
        cr_kernel_input x = cr_kernel_rows(cr_cmat_of(s.Z + i * s.d, 1, s.d)),
                        z = cri_gp_inputs(&sparse.Z);
        double sum = 0;
        assert_true(m <= 100);
        assert_ok(cx, cr_kernel_cross(cx, k, &z, &x, cr_mat_of(C, m, 1)));
        for (size_t j = 0; j < m; j++) sum += C[j] * alpha[j];
        assert_close(sum, element(mean, i), 1e-6);
        check_variance(item, i, m, L, L2, C);
    }
    cr_kernel_free(cx, k);
    free(Z), free(r), free(L), free(L2), free(alpha), free(dZ);
    drop_split(&s);
}

/* Nystroem's kernel ridge regression is the mean of dtc with the penalty as noise and the landmarks
 * as inducing inputs. */
static inline void check_nystrom_ridge(cr_ctx *cx, const json_t *root, const json_t *item)
{
    split         s = read_split(cx, root, item);
    const json_t *one = json_object_get(item, "nystrom"),
                 *wanted = json_object_get(one, "predicted_first20");
    size_t m = 0;
    char   text[64];
    assert_int_equal(sscanf(json_string_value(json_object_get(one, "landmarks")), "first %zu", &m),
                     1);
    double *r = malloc(s.n * sizeof *r), *L = malloc(m * m * sizeof *L),
           *L2 = malloc(m * m * sizeof *L2);
    double *alpha = malloc(m * sizeof *alpha), *c = malloc(m * sizeof *c);
    for (size_t i = 0; i < s.n; i++) r[i] = 1;
    cri_gp_data    data = { .n = s.n, .d = s.d, .X = s.X, .y = s.y, .r = r, .count = (double)s.n };
    cri_gp_problem problem = { .data = &data };
    cri_gp_sparse  sparse = {
         .approx = CRI_GP_DTC, .Z = { .n = m, .d = s.d, .X = s.X }, .L = L, .L2 = L2, .alpha = alpha
    };
    cr_kernel *k;
    snprintf(text, sizeof text, "rbf(l=%.17g)",
             sqrt(0.5 / number_of(json_object_get(item, "kernel"), "gamma")));
    assert_ok(cx, cr_kernel_parse(cx, text, NULL, NULL, 0, &k));
    assert_ok(cx,
              cri_gp_sparse_solve(cx, &problem, k, number_of(item, "lam"), &sparse, NULL, NULL));
    bool singular = number_of(one, "cond_Kmm") > 1e10;
    for (size_t i = 0; !singular && i < json_array_size(wanted); i++) {
        cr_kernel_input x = cr_kernel_rows(cr_cmat_of(s.Z + i * s.d, 1, s.d)),
                        z = cri_gp_inputs(&sparse.Z);
        double sum = 0;
        assert_ok(cx, cr_kernel_cross(cx, k, &z, &x, cr_mat_of(c, m, 1)));
        for (size_t j = 0; j < m; j++) sum += c[j] * alpha[j];
        assert_close(sum, element(wanted, i), 1e-6); /* ours has a jitter of 1e-12 */
    }
    cr_kernel_free(cx, k);
    free(r), free(L), free(L2), free(alpha), free(c);
    drop_split(&s);
}

/* Hyper-parameters and inducing inputs moved: the best bound of others' starts with one column;
 * with more, where there are many optima, no worse than their worst. */
static inline void check_sparse_optimum(cr_ctx *cx, const json_t *root, const json_t *item)
{
    split         s = read_split(cx, root, item);
    const json_t *starts = json_object_get(item, "restart_bounds");
    cr_table     *t = make_table(cx, s.X, s.n, s.d, s.y, NULL);
    double        wanted = number_of(item, "best_bound") - 1e-3;
    char          settings[200];
    for (size_t i = 0; s.d > 1 && i < json_array_size(starts); i++)
        wanted = fmin(wanted, element(starts, i));
    snprintf(settings, sizeof settings,
             "target=y mean=zero hyper=best approx=vfe optimize-inducing=true max-iter=1000 "
             "inducing=%.0f "
             "kernel=rbf%s",
             number_of(item, "m"), json_is_true(json_object_get(item, "ard")) ? "(ard)" : "");
    cr_model *m = fit(cx, "gp", t, settings);
    double    found = cr_model_get_report(m)->log_evidence;
    if (found < wanted)
        fail_msg("%s: %.6f, known %.6f", json_string_value(json_object_get(item, "id")), found,
                 wanted);
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    drop_split(&s);
}

#endif
