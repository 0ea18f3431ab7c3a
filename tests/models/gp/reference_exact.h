/* reference_exact.h -- exact Gaussian processes against the answers of others, case by case. */
#ifndef CREDENCE_TEST_MODELS_GP_REFERENCE_EXACT_H
#define CREDENCE_TEST_MODELS_GP_REFERENCE_EXACT_H

#include "gp_reference.h"

#include "models/gp/gp_exact.h"

/* Log evidence, its gradient by the logarithms (each by its name), means, variances. */
static inline void check_exact(cr_ctx *cx, const json_t *root, const json_t *item)
{
    split         s = read_split(cx, root, item);
    const json_t *hyper = json_object_get(item, "hyper"), *mean = json_object_get(item, "mean");
    double        noise = number_of(hyper, "noise"), gradient[32];
    char          text[2048] = "", noise_text[40];
    kernel_text(json_object_get(item, "kernel"), hyper, text);
    cr_table *t = make_table(cx, s.X, s.n, s.d, s.y, NULL);
    cr_table *z = make_table(cx, s.Z, s.tests, s.d, s.z, NULL);
    snprintf(noise_text, sizeof noise_text, "%.17g", noise);
    cr_setting list[] = { { "target", "y" },       { "mean", "zero" },  { "optimize", "none" },
                          { "noise", noise_text }, { "kernel", text } };
    cr_model *m = NULL;
    assert_ok(cx, cr_fit(cx, "gp", t, list, 5, &m));
    assert_relative(cr_model_get_report(m)->log_evidence, number_of(item, "lml"), 1e-9);
    cr_prediction p = predict(cx, m, z);
    for (size_t i = 0; i < s.tests; i++) {
        assert_close(p.mean[i], element(mean, i), 1e-9);
        assert_close(p.scale[i] * p.scale[i] - noise, element(json_object_get(item, "var_f"), i), 1e-9);
    }
    cr_kernel      *k;
    cri_gp_data     data = { .n = s.n, .d = s.d, .X = s.X, .y = s.y, .count = (double)s.n };
    double         *L = malloc(s.n * s.n * sizeof *L), *alpha = malloc(s.n * sizeof *alpha);
    cri_gp_solution solution = { .alpha = alpha };
    cri_gp_problem  problem = { .data = &data };
    data.r = malloc(s.n * sizeof *data.r);
    for (size_t i = 0; i < s.n; i++) data.r[i] = 1;
    assert_ok(cx, cr_kernel_parse(cx, text, NULL, NULL, 0, &k));
    assert_ok(cx, cri_gp_solve(cx, &problem, k, noise, CRI_GP_NO_JITTER, L, &solution));
    assert_ok(cx, cri_gp_gradient(cx, &problem, k, noise, &solution, L, gradient));
    check_log_gradient(item, gradient, cr_kernel_theta_size(k) + 1, 1e-7);
    cr_kernel_free(cx, k);
    free(L);
    free(alpha);
    free(data.r);
    cr_prediction_free(cx, &p);
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    cr_table_free(cx, z);
    drop_split(&s);
}

/* The best evidence that many random starts found is reached from the starts that the data give. */
static inline void check_exact_optimum(cr_ctx *cx, const json_t *root, const json_t *item)
{
    const json_t *l = json_object_get(json_object_get(item, "hyper_at_best"), "k1.lengthscale");
    split         s = read_split(cx, root, item);
    cr_table     *t = make_table(cx, s.X, s.n, s.d, s.y, NULL);
    double        best = number_of(item, "best_lml");
    char          settings[128];
    snprintf(settings, sizeof settings, "target=y mean=zero kernel=%s%s",
             json_string_value(json_object_get(json_object_get(item, "kernel"), "type")),
             json_is_array(l) ? "(ard)" : "");
    cr_model *m = fit(cx, "gp", t, settings);
    double    found = cr_model_get_report(m)->log_evidence;
    if (found < best - 0.01)
        fail_msg("%s: %.6f, known %.6f", json_string_value(json_object_get(item, "id")), found, best);
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    drop_split(&s);
}

#endif
