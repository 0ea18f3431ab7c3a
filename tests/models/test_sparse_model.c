/* test_sparse_model.c -- models that know nothing of sparse rows fit, predict, save and load with
 * them as with ordinary columns. */
#include "../data/sparse_fixture.h"
#include "models/core/model.h"

static cr_model *fit(cr_ctx *cx, const cr_table *t, const char *features, const char *missing)
{
    const cr_setting s[] = {
        { "target", "y" }, { "weights", "w" }, { "missing", missing }, { "features", features }
    };
    cr_model *m = NULL;
    assert_ok(cx, cr_fit(cx, "ridge", t, s, features ? 4 : 3, &m));
    return m;
}

static void check_same_predictions(cr_ctx *cx, const cr_model *a, const cr_table *t,
                                   const cr_model *b, const cr_table *u, double tolerance)
{
    cr_prediction p, q;
    assert_ok(cx, cr_predict(cx, a, t, &p));
    assert_ok(cx, cr_predict(cx, b, u, &q));
    assert_int_equal(p.n, q.n);
    for (size_t i = 0; i < p.n; i++) {
        if (isnan(q.mean[i]))
            assert_true(isnan(p.mean[i]));
        else
            assert_close(p.mean[i], q.mean[i], tolerance);
        if (!isnan(q.scale[i])) assert_close(p.scale[i], q.scale[i], tolerance);
    }
    cr_prediction_free(cx, &p);
    cr_prediction_free(cx, &q);
}

static void check_model(sparse_data *d, const char *features, const char *missing)
{
    cr_ctx   *cx = test_context();
    cr_table *sparse = table_of(cx, d, true), *dense = table_of(cx, d, false);
    cr_model *a = fit(cx, sparse, features, missing), *b = fit(cx, dense, features, missing),
             *c = NULL;
    check_same_predictions(cx, a, sparse, b, dense, 1e-12);
    check_same_predictions(cx, a, dense, a, sparse, 0);

    char  *bytes = NULL;
    size_t size = 0;
    assert_ok(cx, cr_model_to_bytes(cx, a, &bytes, &size)); /* and back: the same bits */
    assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &c));
    cr_free(cx, bytes, size, 1);
    check_same_predictions(cx, c, sparse, a, sparse, 0);
    assert_int_equal(cr_design_columns(cr_model_get_design(c)),
                     cr_design_columns(cr_model_get_design(b)));
    cr_model_free(cx, a), cr_model_free(cx, b), cr_model_free(cx, c);
    cr_table_free(cx, sparse);
    cr_table_free(cx, dense);
    test_context_free(cx);
}

TEST(models)
{
    sparse_data d = draw_sparse(1, 200, 12, 0.3);
    check_model(&d, NULL, "error");
    check_model(&d, "x1,x5,x12", "error");
    d.X[5] = d.X[100] = NAN;
    compress(&d);
    check_model(&d, NULL, "drop");
    check_model(&d, "!x3", "impute");
    free_sparse(&d);
}
