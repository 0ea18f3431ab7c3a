/* reference_exact.h -- exact Gaussian processes against the answers of others, case by case. */
#ifndef CREDENCE_TEST_MODELS_GP_REFERENCE_EXACT_H
#define CREDENCE_TEST_MODELS_GP_REFERENCE_EXACT_H

#include "gp_reference.h"

#include "models/gp/exact/gp_exact.h"

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
    cr_setting list[] = { { "target", "y" },
                          { "mean", "zero" },
                          { "optimize", "none" },
                          { "noise", noise_text },
                          { "kernel", text } };
    cr_model  *m = NULL;
    assert_ok(cx, cr_fit(cx, "gp", t, list, 5, &m));
    assert_relative(cr_model_get_report(m)->log_evidence, number_of(item, "lml"), 1e-9);
    cr_prediction p = predict(cx, m, z);
    for (size_t i = 0; i < s.tests; i++) {
        assert_close(p.mean[i], element(mean, i), 1e-9);
        assert_close(p.scale[i] * p.scale[i] - noise, element(json_object_get(item, "var_f"), i),
                     1e-9);
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
    snprintf(settings, sizeof settings, "target=y mean=zero hyper=best kernel=%s%s",
             json_string_value(json_object_get(json_object_get(item, "kernel"), "type")),
             json_is_array(l) ? "(ard)" : "");
    cr_model *m = fit(cx, "gp", t, settings);
    double    found = cr_model_get_report(m)->log_evidence;
    if (found < best - 0.01)
        fail_msg("%s: %.6f, known %.6f", json_string_value(json_object_get(item, "id")), found,
                 best);
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    drop_split(&s);
}

/* A series against time from 0: its first rows to learn from, y as the case has it, and the
 * rest. */
typedef struct series {
    const char *id, *file;
    size_t      n, tests;
    bool        logs, divide; /* y: its logarithm; divided by its standard deviation */
    const char *kernel;       /* where the search begins                             */
    double      reach;        /* an evidence that starts of others end at            */
} series;

static inline void read_series(cr_ctx *cx, const series *c, double *x, double *y)
{
    char path[100];
    snprintf(path, sizeof path, "tabular/%s", c->file);
    cr_table        *t = read_table(cx, test_data(path));
    const cr_column *time = cr_table_column(t, 0), *value = cr_table_column(t, 1);
    long double      mean = 0, square = 0;
    for (size_t i = 0; i < c->n + c->tests; i++) {
        x[i] = time->values[i * time->stride] - floor(time->values[0]);
        y[i] = value->values[i * value->stride];
        if (c->logs) y[i] = log(y[i]);
        if (i < c->n) mean += y[i] / (long double)c->n;
    }
    for (size_t i = 0; i < c->n; i++) square += (y[i] - mean) * (y[i] - mean) / (long double)c->n;
    for (size_t i = 0; i < c->n + c->tests; i++)
        y[i] = (double)((y[i] - mean) / (c->divide ? sqrtl(square) : 1));
}

/* Evidence and predictions beyond the rows at the start, and the evidence that the search ends
 * at. */
static inline void check_series(cr_ctx *cx, const series *c)
{
    json_t *root = load_reference(), *item, *one = NULL;
    double  x[600], y[600], noise;
    char    text[1024] = "", noise_text[40];
    size_t  i;
    json_array_foreach(json_object_get(root, "cases"), i, item)
    {
        if (strcmp(json_string_value(json_object_get(item, "id")), c->id) == 0) one = item;
    }
    assert_non_null(one);
    read_series(cx, c, x, y);
    const json_t *at = json_object_get(one, "at_start"),
                 *start = json_object_get(one, "hyper_start");
    kernel_text(json_object_get(one, "kernel"), start, text);
    noise = number_of(start, "noise");
    snprintf(noise_text, sizeof noise_text, "%.17g", noise);
    cr_table *t = make_table(cx, x, c->n, 1, y, NULL),
             *z = make_table(cx, x + c->n, c->tests, 1, y + c->n, NULL);
    cr_setting list[] = { { "target", "y" },   { "mean", "zero" },      { "optimize", "none" },
                          { "scale", "none" }, { "noise", noise_text }, { "kernel", text } };
    cr_model  *m = NULL;
    assert_ok(cx, cr_fit(cx, "gp", t, list, 6, &m));
    assert_relative(cr_model_get_report(m)->log_evidence, number_of(one, "lml_at_start"), 1e-8);
    cr_prediction p = predict(cx, m, z);
    const json_t *mean = json_object_get(at, "mean_first12"),
                 *variance = json_object_get(at, "var_f_first12");
    assert_true(json_array_size(mean) >= 10);
    for (i = 0; i < json_array_size(mean); i++) {
        assert_close(p.mean[i], element(mean, i), 1e-7);
        assert_close(p.scale[i] * p.scale[i] - noise, element(variance, i), 1e-7);
    }
    cr_model_free(cx, m);
    cr_setting search[] = { { "target", "y" },
                            { "mean", "zero" },
                            { "scale", "none" },
                            { "hyper", "best" },
                            { "kernel", c->kernel } };
    assert_ok(cx, cr_fit(cx, "gp", t, search, 5, &m));
    double found = cr_model_get_report(m)->log_evidence;
    if (found < c->reach - 0.01) fail_msg("%s: %.6f, known %.6f", c->id, found, c->reach);
    cr_model_free(cx, m);
    json_decref(root);
}

#endif
