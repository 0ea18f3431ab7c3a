/* test_predict_mean.c -- the means alone are those of the whole prediction, for every model. */
#include "support.h"

#include "models/core/model.h"

enum { N = 300, P = 3 };

typedef struct task {
    const char *model, *scale_target;
    cr_table   *table;
} task;

static double values[N * (P + 1)];

/* Columns a, b, c and the target y; row 7 lacks b. */
static cr_status make_table(cr_ctx *cx, cr_table **out)
{
    static const char *const names[] = { "a", "b", "c", "y" };
    uint64_t                 x = 12345;
    for (size_t i = 0; i < N * (P + 1); i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        values[i] = (double)(x >> 40) / 0x1p24;
    }
    for (size_t i = 0; i < N; i++)
        values[i * (P + 1) + P] += 3 * values[i * (P + 1)] - 2 * values[i * (P + 1) + 2];
    values[7 * (P + 1) + 1] = NAN;
    cr_cmat   X = { values, N, P + 1, P + 1 };
    cr_status st = cr_table_new(cx, "t", N, out);
    return st != CR_OK ? st : cr_table_borrow_matrix(cx, *out, CR_REAL, X, names);
}

static cr_status fit(cr_ctx *cx, const task *k, cr_model **out)
{
    cr_setting settings[] = { { "target", "y" },
                              { "missing", "drop" },
                              { "scale_target", k->scale_target } };
    return cr_fit(cx, k->model, k->table, settings, 3, out);
}

static void check_model(const char *name, const char *scale_target)
{
    cr_ctx       *cx = test_context();
    cr_model     *m = NULL;
    cr_prediction p = { 0 };
    double        mean[N];
    task          k = { name, scale_target, NULL };
    assert_ok(cx, make_table(cx, &k.table));
    cr_status st = fit(cx, &k, &m);
    if (st == CR_EARG && strstr(cr_error(cx), "as it is")) goto done; /* takes no other units */
    assert_ok(cx, st);
    assert_ok(cx, cr_predict(cx, m, k.table, &p));
    assert_ok(cx, cr_predict_mean(cx, m, k.table, mean));
    assert_memory_equal(mean, p.mean, sizeof mean);
    bool series = cr_class_offers(cr_model_get_class(m), "forecast"); /* looks at no feature here */
    assert_true(isnan(mean[7]) == !series && !isnan(mean[8]));
done:
    cr_prediction_free(cx, &p);
    cr_model_free(cx, m);
    cr_table_free(cx, k.table);
    test_context_free(cx);
}

TEST(means_are_the_same)
{
    for (size_t i = 0; i < cr_class_count(); i++) {
        const cr_model_class *c = cr_class_at(i);
        if (!(cr_class_tasks(c) & CR_TASK_REGRESSION) || !cr_class_offers(c, "predict")) continue;
        check_model(cr_class_name(c), "none");
        check_model(cr_class_name(c), "standard");
    }
}

static cr_status predict_only(cr_ctx *cx, void *arg)
{
    cr_status st = CR_OK;
    cr_table *t = NULL;
    cr_model *m = NULL;
    double    mean[N] = { 1e9 };
    CR_TRY(make_table(cx, &t));
    CR_TRY(fit(cx, &(task){ "ridge", "auto", t }, &m));
    st = cr_predict_mean(cx, m, t, mean);
    if (st != CR_OK && mean[0] != 1e9) st = CR_EDATA; /* touched on failure */
done:
    (void)arg;
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    return st;
}

TEST(allocations) { test_every_allocation_fails(predict_only, NULL); }
