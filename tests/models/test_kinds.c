/* test_kinds.c -- models that answer other things than numbers: what cr_predict, cr_score, cr_next,
 * cr_sample and cr_sample_targets give for them, against the formulas, and what they refuse. */
#include "toys.h"
#include "math/special/special.h"

static const char data[] = "x,c,o,y,k\n1,red,10,0.5,0\n2,blue,20,1.5,1\n4,red,30,3.5,1\n"
                           "7,red,40,6,2\n";

/* --- tasks ----------------------------------------------------------------------------------- */

static unsigned task_of(cr_ctx *cx, const char *name, const cr_table *t, const char *settings)
{
    cr_model *m = fit(cx, name, t, settings);
    unsigned  task = cr_model_get_task(m);
    json_t   *d = describe(cx, m);
    assert_string_equal(json_string_value(json_object_get(d, "task")), cr_task_name(task));
    return task;
}

TEST(tasks)
{
    cr_table *t = table_of_text(cx, "t.csv", data);
    cr_model *m = NULL;
    assert_int_equal(task_of(cx, "toy-smooth", t, "target=y"), CR_TASK_REGRESSION);
    assert_int_equal(task_of(cx, "toy-smooth", t, "target=c"), CR_TASK_CLASSIFICATION);
    assert_int_equal(task_of(cx, "toy-smooth", t, "target=k"), CR_TASK_REGRESSION);
    assert_int_equal(task_of(cx, "toy-smooth", t, "target=k task=classification"),
                     CR_TASK_CLASSIFICATION);
    assert_int_equal(task_of(cx, "toy-smooth", t, "target=k task=regression"), CR_TASK_REGRESSION);
    assert_int_equal(task_of(cx, "toy-normal", t, "seed=1"), CR_TASK_DENSITY);
    assert_int_equal(task_of(cx, "toy-centres", t, "features=x"),
                     CR_TASK_CLUSTER); /* and densities */
    assert_int_equal(task_of(cx, "toy-axes", t, "features=x,o"), CR_TASK_TRANSFORM);
    assert_fails_with(cx, try_fit(cx, "toy-smooth", t, "target=c task=regression", &m), CR_EDATA,
                      "is a category, but toy-smooth predicts numbers");
    assert_fails_with(cx, try_fit(cx, "ridge", t, "target=k task=classification", &m), CR_EARG,
                      "the model ridge does regression, not classification");
    assert_fails_with(cx, try_fit(cx, "toy-normal", t, "task=regression", &m), CR_EARG,
                      "does density, not regression");
    assert_fails_with(cx, try_fit(cx, "toy-smooth", t, "features=x", &m), CR_EARG,
                      "needs a target");
}

TEST(offers)
{
    const struct {
        const char *name, *verb;
        bool        there;
    } cases[] = { { "toy-normal", "next", true },     { "toy-smooth", "next", false },
                  { "toy-normal", "sample", true },   { "toy-smooth", "sample", true },
                  { "toy-axes", "sample", false },    { "toy-normal", "missing", true },
                  { "toy-smooth", "missing", false }, { "toy-normal", "score", true },
                  { "toy-smooth", "update", true },   { "toy-centres", "update", false },
                  { "toy-smooth", "negative", true } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_int_equal(cr_class_offers(cr_class_find(cx, cases[k].name), cases[k].verb),
                         cases[k].there);
    assert_string_equal(cr_class_example(cr_class_find(cx, "ridge")),
                        "examples/diabetes.csv --target progression");
    assert_string_equal(cr_class_example(cr_class_find(cx, "toy-normal")),
                        "examples/diabetes.csv --features bmi,bp");
}

/* --- files ----------------------------------------------------------------------------------- */

static cr_model *reload(cr_ctx *cx, const cr_model *m)
{
    char     *bytes = NULL;
    size_t    size = 0;
    cr_model *back = NULL;
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &back));
    cr_free(cx, bytes, size, 1);
    return back;
}

static void same(const double *a, const double *b, size_t n)
{
    assert_int_equal(a != NULL, b != NULL);
    if (a && n) assert_memory_equal(a, b, n * sizeof(double));
}

TEST(files)
{
    cr_table *t = table_of_text(cx, "t.csv", data);
    const struct {
        const char *name, *settings;
    } cases[] = { { "toy-smooth", "target=c features=x" },
                  { "toy-smooth", "target=k task=classification features=x,c" },
                  { "toy-smooth", "target=y offset=o features=x,c family=gamma" },
                  { "toy-normal", "features=x,c" },
                  { "toy-centres", "features=x n_clusters=2" },
                  { "toy-axes", "features=x,o" } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cr_model     *m = fit(cx, cases[k].name, t, cases[k].settings), *back = reload(cx, m);
        cr_prediction p = predict(cx, m, t), q = predict(cx, back, t);
        assert_int_equal(cr_model_get_task(m), cr_model_get_task(back));
        assert_int_equal(p.kind, q.kind);
        assert_int_equal(p.n_classes, q.n_classes);
        for (size_t c = 0; c < p.n_classes; c++) assert_string_equal(p.classes[c], q.classes[c]);
        same(p.mean, q.mean, p.n);
        same(p.scale, q.scale, p.n);
        same(p.prob, q.prob, p.n * p.n_classes);
        same(p.vector, q.vector, p.n * p.n_classes);
        same(p.log_density, q.log_density, p.n);
        same(p.params, q.params, p.n * p.n_params);
        assert_ptr_equal(p.family, q.family);
        cr_model_free(cx, back);
    }
}

/* The JSON of a saved model with one thing in it replaced. */
static void check_damaged(cr_ctx *cx, const cr_model *m, const char *part, const char *key,
                          json_t *value, const char *said)
{
    char      *bytes = NULL, *again = NULL;
    size_t     size = 0, again_size = 0;
    cri_store *s = NULL;
    cr_model  *back = NULL;
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_ok(cx, cri_store_from_bytes(cx, "m.cred", bytes, size, &s));
    json_t *at = cri_store_json(s);
    if (part) at = json_object_get(at, part);
    if (value)
        json_object_set_new(at, key, value);
    else
        json_object_del(at, key);
    assert_ok(cx, cri_store_to_bytes(cx, s, &again, &again_size));
    assert_fails_with(cx, cr_model_from_bytes(cx, "m.cred", again, again_size, &back), CR_EDATA,
                      said);
    assert_null(back);
    cr_free(cx, bytes, size, 1);
    cr_free(cx, again, again_size, 1);
    cri_store_free(cx, s);
}

TEST(damaged_files)
{
    cr_table *t = table_of_text(cx, "t.csv", data);
    cr_model *number = fit(cx, "toy-smooth", t, "target=y features=x");
    cr_model *class = fit(cx, "toy-smooth", t, "target=c features=x");
    cr_model *density = fit(cx, "toy-normal", t, "features=x,c");
    cr_model *linear = fit(cx, "ridge", t, "target=y features=x");
    check_damaged(cx, number, NULL, "task", json_string("classification"), "the wrong type");
    check_damaged(cx, class, NULL, "task", json_string("regression"), "the wrong type");
    check_damaged(cx, number, NULL, "task", json_string("density"),
                  "does not belong to a task of the model");
    check_damaged(cx, linear, NULL, "task", json_string("classification"),
                  "does not belong to a task of the model");
    check_damaged(cx, number, NULL, "task", NULL,
                  "does not belong to a task of the model"); /* it has two */
    check_damaged(cx, number, "design", "target", NULL, "has no target");
    check_damaged(cx, density, NULL, "task", json_string("cluster"),
                  "does not belong to a task of the model");
    check_damaged(cx, density, "state", "p", json_integer(3), "");
    check_damaged(cx, density, "state", "most", json_integer(7), "");
    check_damaged(cx, class, "state", "classes", json_integer(9), "does not fit");
    check_damaged(cx, density, "settings", "task", json_string("flying"), "setting");
    check_damaged(cx, class, "design", "role1", json_integer(3), "not a text");
}

/* --- answers --------------------------------------------------------------------------------- */

TEST(clusters_have_densities)
{
    cr_table     *t = table_of_text(cx, "t.csv", "x,z\n0,0\n0,1\n9,9\n9,8\n,1\n");
    cr_model     *m = fit(cx, "toy-centres", t, "n_clusters=2 missing=drop");
    cr_prediction p = predict(cx, m, t);
    double        score[5], sd = sqrt(0.25 / 2) + 1e-6;
    assert_int_equal(p.kind, CR_ANSWER_CLASS);
    assert_int_equal(p.n_classes, 2);
    assert_string_equal(p.classes[1], "2");
    assert_ok(cx, cr_score(cx, m, t, score));
    for (size_t i = 0; i < 4; i++) {
        assert_close(p.prob[2 * i] + p.prob[2 * i + 1], 1, 1e-15);
        assert_true(score[i] == p.log_density[i]);
        assert_close(score[i], log(0.5) - log(2 * M_PI * sd * sd) - 0.25 / (2 * sd * sd), 1e-12);
    }
    assert_true((p.prob[0] > 0.99) == (p.prob[2] > 0.99) &&
                (p.prob[0] > 0.99) != (p.prob[4] > 0.99));
    assert_true(isnan(score[4]) && isnan(p.prob[8]) && isnan(p.prob[9])); /* left out */
}

TEST(coordinates)
{
    cr_table     *t = table_of_text(cx, "t.csv", "x,z\n0,4\n1,7\n");
    cr_model     *m = fit(cx, "toy-axes", t, "seed=3");
    cr_prediction p = predict(cx, m, t);
    double        out[2] = { 17, 17 };
    assert_int_equal(p.kind, CR_ANSWER_VECTOR);
    assert_string_equal(p.classes[0], "level");
    assert_close(p.vector[0], -1, 1e-15);
    assert_close(p.vector[1], 2, 1e-15);
    assert_close(p.vector[2], 1, 1e-15);
    assert_close(p.vector[3], 3, 1e-15);
    assert_null(p.log_density);
    assert_fails_with(cx, cr_score(cx, m, t, out), CR_EUNSUPPORTED, "has no density");
    assert_fails_with(cx, cr_sample(cx, m, 1, 0, out), CR_EUNSUPPORTED, "does not draw rows");
    assert_fails_with(cx, cr_sample_targets(cx, m, t, 1, 0, out), CR_EUNSUPPORTED,
                      "no target to draw");
    assert_fails_with(cx, cr_observed(cx, m, t, out, NULL), CR_EUNSUPPORTED, "has no target");
    assert_true(out[0] == 17 && out[1] == 17);
    assert_ok(cx, cr_observed(cx, m, t, NULL, out));
    assert_true(out[0] == 1 && out[1] == 1);
}

/* The offset is added where it is given, and needed where it was. */
TEST(offset)
{
    cr_table     *t = table_of_text(cx, "t.csv", data);
    cr_model     *m = fit(cx, "toy-smooth", t, "target=y features=x offset=o width=1e6");
    cr_prediction p = predict(cx, m, t);
    for (size_t i = 0; i < 4; i++) /* with this width the mean of y - o is everywhere the same */
        assert_close(p.mean[i], (11.5 - 100) / 4 + 10 * (double)(i + 1), 1e-9);
    cr_table *u = table_of_text(cx, "u.csv", "x\n1\n");
    assert_fails_with(cx, cr_predict(cx, m, u, &p), CR_EDATA, "column 'o' not found");
    cr_table_free(cx, u);
    cr_model *bad = NULL;
    assert_fails_with(cx, try_fit(cx, "toy-smooth", t, "target=y offset=c", &bad), CR_EDATA,
                      "contains text");
}

/* --- the next row ---------------------------------------------------------------------------- */

/* Murphy (2007), Conjugate Bayesian analysis of the Gaussian distribution, eqs. (85)-(110). */
TEST(next)
{
    cr_table     *t = table_of_text(cx, "t.csv", "c,x,z\na,1,5\nb,2,5.5\na,6,\n");
    cr_model     *m = fit(cx, "toy-normal", t, "shape=2");
    cr_prediction p = { 0 };
    double        n = 3, mean = 3, ss = 14, kappa = 3.01, a = 3.5, sd, lower, upper;
    double        b = 1 + ss / 2 + 0.01 * n * mean * mean / (2 * kappa);
    assert_ok(cx, cr_next(cx, m, &p));
    assert_int_equal(p.kind, CR_ANSWER_NUMBER);
    assert_int_equal(p.n, 2); /* the category has none */
    assert_relative(p.mean[0], n * mean / kappa, 1e-14);
    assert_relative(p.dof[0], 2 * a, 1e-15);
    assert_relative(p.scale[0], sqrt(b * (kappa + 1) / (a * kappa)), 1e-14);
    assert_relative(p.mean[1], 10.5 / 2.01, 1e-14); /* the gap is no row */
    assert_relative(p.dof[1], 6, 1e-15);
    assert_ok(cx, cr_prediction_interval(cx, &p, 0, 0.9, &sd, &lower, &upper));
    assert_close(cr_student_t_cdf((lower - p.mean[0]) / p.scale[0], 7), 0.05, 1e-12);
    cr_prediction_free(cx, &p);
    cr_model_free(cx, m);
    m = fit(cx, "toy-smooth", t, "target=x features=c");
    assert_fails_with(cx, cr_next(cx, m, &p), CR_EUNSUPPORTED, "does not predict the next row");
}

/* The density of the next row is the product over its columns, gaps left out. */
TEST(density_of_rows)
{
    cr_table     *t = table_of_text(cx, "t.csv", "c,x\na,1\nb,2\na,6\n");
    cr_table     *u = table_of_text(cx, "u.csv", "x,c\n4,a\n,b\n1,\n");
    cr_model     *m = fit(cx, "toy-normal", t, "seed=1");
    cr_prediction p = { 0 };
    double        out[3];
    assert_ok(cx, cr_next(cx, m, &p));
    assert_ok(cx, cr_score(cx, m, u, out));
    double z = (4 - p.mean[0]) / p.scale[0], y = (1 - p.mean[0]) / p.scale[0];
    assert_relative(out[0], log(3.0 / 5) + cr_student_t_logpdf(z, p.dof[0]) - log(p.scale[0]),
                    1e-13);
    assert_relative(out[1], log(2.0 / 5), 1e-13);
    assert_relative(out[2], cr_student_t_logpdf(y, p.dof[0]) - log(p.scale[0]), 1e-13);
    cr_prediction_free(cx, &p);
}
