/* test_gp_classify_reference.c -- Laplace's approximation against reference answers (those of logit agree with
 * scikit-learn's GaussianProcessClassifier): evidence, gradient, modes, latent normals and probabilities at
 * fixed hyper-parameters, and the best evidence known. */
#include "gp_reference.h"

#include "base/scratch.h"
#include "models/gp/classify_laplace.h"

static cr_table *table_of(cr_ctx *cx, const double *X, size_t n, size_t d, const double *opt_counts)
{
    static const char *const levels[] = { "a", "b" };
    cr_table                *t = make_table(cx, X, n, d, NULL, NULL);
    uint32_t                *y = malloc(n * sizeof *y);
    for (size_t i = 0; opt_counts && i < n; i++) y[i] = opt_counts[2 * i] > 0;
    if (opt_counts) assert_ok(cx, cr_table_add_category(cx, t, "y", y, levels, 2));
    free(y);
    return t;
}

static void check_gradient(cr_ctx *cx, const json_t *item, const split *s, const double *counts,
                           const char *text)
{
    const json_t *values = json_object_get(json_object_get(item, "grad_log_hyper"), "values");
    if (!values) return;
    cr_scratch        room = cr_scratch_begin(cx);
    cr_kernel        *k = NULL;
    cri_gp_data       at = { .n = s->n, .d = s->d, .X = s->X, .count = (double)s->n };
    cri_classify_data data = {
        .at = &at, .link = CRI_CLASSIFY_LOGIT, .F = 1, .C = 2, .counts = counts
    };
    cri_gp_problem problem = { .data = &at };
    cri_laplace    m;
    double         value, gradient[64];
    assert_ok(cx, cr_kernel_parse(cx, text, NULL, NULL, 0, &k));
    assert_ok(cx, cri_laplace_new(&room, &data, s->n, NULL, NULL, &m));
    assert_ok(cx, cri_laplace_objective(cx, &m, &problem, k, 0, &value, gradient));
    assert_int_equal(json_array_size(values), cr_kernel_theta_size(k));
    for (size_t j = 0; j < json_array_size(values); j++)
        assert_close(gradient[j], element(values, j), 1e-6);
    for (size_t i = 0; i < 10; i++)
        assert_close(m.f[i], element(json_object_get(item, "mode_first10"), i), 1e-7);
    cr_kernel_free(cx, k);
    cr_scratch_end(&room);
}

static void check_fixed(cr_ctx *cx, const json_t *root, const json_t *item)
{
    split   s = read_split(cx, root, item);
    double *counts = read_counts(cx, root, item, s.n), latent[2 * 64];
    char    text[4096] = "";
    kernel_text(json_object_get(item, "kernel"), json_object_get(item, "hyper"), text);
    cr_table  *t = table_of(cx, s.X, s.n, s.d, counts), *z = table_of(cx, s.Z, s.tests, s.d, NULL);
    cr_setting list[] = { { "target", "y" },
                          { "optimize", "none" },
                          { "kernel", text },
                          { "likelihood", json_string_value(json_object_get(item, "link")) } };
    cr_model  *m = NULL;
    assert_true(s.tests <= 64);
    assert_ok(cx, cr_fit(cx, "gp-classify", t, list, 4, &m));
    assert_close(cr_model_get_report(m)->log_evidence, number_of(item, "approx_lml"), 1e-9);
    cr_prediction p = predict(cx, m, z);
    assert_ok(cx, cr_transform(cx, m, z, latent));
    for (size_t i = 0; i < s.tests; i++) {
        assert_close(p.prob[2 * i + 1], element(json_object_get(item, "prob"), i), 1e-9);
        assert_close(latent[2 * i], element(json_object_get(item, "latent_mean"), i), 1e-8);
        assert_close(latent[2 * i + 1] * latent[2 * i + 1],
                     element(json_object_get(item, "latent_var"), i), 1e-8);
    }
    check_gradient(cx, item, &s, counts, text);
    cr_prediction_free(cx, &p);
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    cr_table_free(cx, z);
    free(counts);
    drop_split(&s);
}

static void test_fixed(void **state)
{
    (void)state;
    json_t *root = load_reference(), *item;
    cr_ctx *cx = test_context();
    size_t  i, seen = 0;
    json_array_foreach(json_object_get(root, "cases"), i, item)
    {
        const char *id = json_string_value(json_object_get(item, "id"));
        if (strncmp(id, "gpc/synth_tr", 12) && strncmp(id, "gpc/pima_tr", 11) &&
            strncmp(id, "gpc/sonar", 9))
            continue;
        check_fixed(cx, root, item);
        seen++;
    }
    assert_int_equal(seen, 18);
    test_context_free(cx);
    json_decref(root);
}

/* The best evidence known is reached from the starts that the data give. */
static void test_optimum(void **state)
{
    (void)state;
    json_t *root = load_reference(), *item;
    cr_ctx *cx = test_context();
    size_t  i, seen = 0;
    json_array_foreach(json_object_get(root, "cases"), i, item)
    {
        const char *id = json_string_value(json_object_get(item, "id"));
        if (strncmp(id, "gpcopt/pima", 11) && strncmp(id, "gpcopt/synth", 12)) continue;
        split     s = read_split(cx, root, item);
        double   *counts = read_counts(cx, root, item, s.n);
        cr_table *t = table_of(cx, s.X, s.n, s.d, counts);
        cr_model *m = fit(cx, "gp-classify", t, "target=y kernel=rbf");
        assert_true(cr_model_get_report(m)->log_evidence >
                    number_of(item, "best_approx_lml") - 1e-6);
        cr_model_free(cx, m);
        cr_table_free(cx, t);
        free(counts);
        drop_split(&s);
        seen++;
    }
    assert_int_equal(seen, 2);
    test_context_free(cx);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_optimum),
    };
    return cmocka_run_group_tests_name("gp classify reference", tests, NULL, NULL);
}
