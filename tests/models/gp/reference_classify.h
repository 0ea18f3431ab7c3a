/* reference_classify.h -- Laplace's approximation against the answers of others, case by case. */
#ifndef CREDENCE_TEST_MODELS_GP_REFERENCE_CLASSIFY_H
#define CREDENCE_TEST_MODELS_GP_REFERENCE_CLASSIFY_H

#include "gp_reference.h"

#include "base/scratch.h"
#include "models/gp/classify/classify_laplace.h"

static inline cr_table *class_table(cr_ctx *cx, const double *X, size_t n, size_t d,
                                    const double *opt_counts)
{
    static const char *const levels[] = { "a", "b" };
    cr_table                *t = make_table(cx, X, n, d, NULL, NULL);
    uint32_t                *y = malloc(n * sizeof *y);
    for (size_t i = 0; opt_counts && i < n; i++) y[i] = opt_counts[2 * i] > 0;
    if (opt_counts) assert_ok(cx, cr_table_add_category(cx, t, "y", y, levels, 2));
    free(y);
    return t;
}

static inline void check_classify_gradient(cr_ctx *cx, const json_t *item, const split *s,
                                           const double *counts, const char *text)
{
    const json_t *values = json_object_get(json_object_get(item, "grad_log_hyper"), "values");
    if (!values) return;
    cr_scratch        workspace = cr_scratch_begin(cx);
    cr_kernel        *k = NULL;
    cri_gp_data       at = { .n = s->n, .d = s->d, .X = s->X, .count = (double)s->n };
    cri_classify_data data = {
        .at = &at, .link = CRI_CLASSIFY_LOGIT, .F = 1, .C = 2, .counts = counts
    };
    cri_gp_problem problem = { .data = &at };
    cri_laplace    m;
    double         value, gradient[64];
    assert_ok(cx, cr_kernel_parse(cx, text, NULL, NULL, 0, &k));
    assert_ok(cx, cri_laplace_new(&workspace, &data, s->n, NULL, NULL, &m));
    assert_ok(cx, cri_laplace_objective(cx, &m, &problem, k, 0, &value, gradient));
    assert_int_equal(json_array_size(values), cr_kernel_theta_size(k));
    for (size_t j = 0; j < json_array_size(values); j++)
        assert_close(gradient[j], element(values, j), 1e-6);
    for (size_t i = 0; i < 10; i++)
        assert_close(m.f[i], element(json_object_get(item, "mode_first10"), i), 1e-7);
    cr_kernel_free(cx, k);
    cr_scratch_end(&workspace);
}

static inline void check_classify(cr_ctx *cx, const json_t *root, const json_t *item)
{
    split   s = read_split(cx, root, item);
    double *counts = read_counts(cx, root, item, s.n), latent[2 * 64];
    char    text[4096] = "";
    kernel_text(json_object_get(item, "kernel"), json_object_get(item, "hyper"), text);
    cr_table *t = class_table(cx, s.X, s.n, s.d, counts),
             *z = class_table(cx, s.Z, s.tests, s.d, NULL);
    cr_setting list[] = { { "target", "y" },
                          { "optimize", "none" },
                          { "infer", "laplace" },
                          { "kernel", text },
                          { "likelihood", json_string_value(json_object_get(item, "link")) } };
    cr_model  *m = NULL;
    assert_true(s.tests <= 64);
    assert_ok(cx, cr_fit(cx, "gp-classify", t, list, 5, &m));
    assert_close(cr_model_get_report(m)->log_evidence, number_of(item, "approx_lml"), 1e-9);
    cr_prediction p = predict(cx, m, z);
    assert_ok(cx, cr_transform(cx, m, z, latent));
    for (size_t i = 0; i < s.tests; i++) {
        assert_close(p.prob[2 * i + 1], element(json_object_get(item, "prob"), i), 1e-9);
        assert_close(latent[2 * i], element(json_object_get(item, "latent_mean"), i), 1e-8);
        assert_close(latent[2 * i + 1] * latent[2 * i + 1],
                     element(json_object_get(item, "latent_var"), i), 1e-8);
    }
    check_classify_gradient(cx, item, &s, counts, text);
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    cr_table_free(cx, z);
    free(counts);
    drop_split(&s);
}

/* The best evidence known is reached from the starts that the data give. */
static inline void check_classify_optimum(cr_ctx *cx, const json_t *root, const json_t *item)
{
    split     s = read_split(cx, root, item);
    double   *counts = read_counts(cx, root, item, s.n), best = number_of(item, "best_approx_lml");
    cr_table *t = class_table(cx, s.X, s.n, s.d, counts);
    cr_model *m = fit(cx, "gp-classify", t, "target=y kernel=rbf infer=laplace hyper=best");
    double    found = cr_model_get_report(m)->log_evidence;
    if (found < best - 1e-6)
        fail_msg("%s: %.9f, known %.9f", json_string_value(json_object_get(item, "id")), found,
                 best);
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    free(counts);
    drop_split(&s);
}

#endif
