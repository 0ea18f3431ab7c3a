/* test_model_file.c -- models in files: the same bits after saving and loading, from two fits, on
 * any number of threads; and two thousand files with a valid checksum and something wrong inside.
 */
#include "fixture.h"
#include "data/formats/npy.h"
#include "data/store/store_internal.h"
#include "study/cross_validate.h"

/* A category, a boolean, numbers with gaps, weights. */
static const char mixed[] = "c,b,x,z,w,y\n"
                            "red,true,1.5,2,1,3.1\nblue,false,,3,2,4.7\nred,true,2.5,5,1,1.2\n"
                            "green,false,3,7,0.5,9.8\nblue,true,4.25,11,3,2.2\nred,false,5,,1,7.5\n"
                            "green,true,6,17,1,5.5\nred,false,0.5,19,2,6.1\nblue,true,8,23,1,0.4\n";

typedef struct model_case {
    const char *name, *settings;
} model_case;

static const model_case cases[] = {
    { "linear", "target=y missing=impute" },
    { "linear", "target=y missing=drop weights=w reference=none features=c,x,z" },
    { "linear",
      "target=y missing=impute intercept=false solver=gram features=x,z scale_target=standard" },
    { "linear", "target=y missing=impute basis=poly:4 seed=12" }, /* more coefficients than rows */
    { "ridge", "target=y missing=impute lambda=0.3 basis=poly:2" },
    { "ridge", "target=y missing=impute solver=dual weights=w scale=none" },
    { "ridge", "target=y missing=drop intercept=false scale_target=standard" },
    { "lasso", "target=y missing=impute path=8 cv_folds=3 basis=poly:2" },
    { "lasso", "target=y missing=drop lambda=0.2 l1_ratio=0.5 weights=w solver=columns" },
    { "linear", "target=y missing=impute select=best criterion=cv cv_folds=3 features=b,x,z" },
    { "bayes-linear", "target=y missing=impute reference=frequent" },
    { "bayes-linear", "target=y missing=impute prior=nig intercept_prior=flat weights=w" },
    { "bayes-linear", "target=y missing=drop optimize=none alpha=2 noise=0.3 intercept=false" },
    { "linear", "target=y missing=impute basis=natural:3,x=bspline:4:2 weights=w" },
};
enum { CASES = sizeof cases / sizeof *cases };

static char *bytes_of(cr_ctx *cx, const cr_model *m, size_t *out_size)
{
    char *bytes = NULL;
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, out_size));
    return bytes;
}

static void check_same_bytes(cr_ctx *cx, const cr_model *a, const cr_model *b)
{
    size_t n, k;
    char  *x = bytes_of(cx, a, &n), *y = bytes_of(cx, b, &k);
    assert_int_equal(n, k);
    assert_memory_equal(x, y, n);
    cr_free(cx, x, n, 1);
    cr_free(cx, y, k, 1);
}

static void check_same_prediction(cr_ctx *cx, const cr_model *a, const cr_model *b,
                                  const cr_table *t)
{
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    size_t        size = p.n * sizeof(double);
    assert_memory_equal(p.mean, q.mean, size);
    assert_memory_equal(p.scale, q.scale, size);
    assert_memory_equal(p.dof, q.dof, size);
    assert_memory_equal(p.leverage, q.leverage, size);
}

static char *description_of(cr_ctx *cx, const cr_model *m)
{
    char *text = NULL;
    assert_ok(cx, cr_describe(cx, m, &text));
    return text;
}

static void check_same_description(cr_ctx *cx, const cr_model *a, const cr_model *b)
{
    char *x = description_of(cx, a), *y = description_of(cx, b);
    assert_string_equal(x, y);
    cr_free(cx, x, strlen(x) + 1, 1);
    cr_free(cx, y, strlen(y) + 1, 1);
}

/* --- files ----------------------------------------------------------------------------------- */

TEST(save_and_load)
{
    cr_table *t = table_of_text(cx, "mixed.csv", mixed);
    char      path[256];
    snprintf(path, sizeof path, "%s/model.cred", test_directory());
    for (size_t k = 0; k < CASES; k++) {
        cr_model *a = fit(cx, cases[k].name, t, cases[k].settings), *b = NULL, *c = NULL;
        assert_ok(cx, cr_model_save(cx, a, path));
        assert_ok(cx, cr_model_load(cx, path, &b));
        check_same_prediction(cx, a, b, t);
        check_same_bytes(cx, a, b);
        check_same_description(cx, a, b);
        assert_string_equal(cr_class_name(cr_model_get_class(b)), cases[k].name);
        assert_int_equal(cr_model_get_seed(b), k == 3 ? 12 : 0);
        assert_int_equal(cr_model_get_report(b)->rows, cr_model_get_report(a)->rows);
        assert_int_equal(cr_model_get_report(b)->stop, cr_model_get_report(a)->stop);
        assert_int_equal(cr_model_get_report(b)->iterations, cr_model_get_report(a)->iterations);
        bool exact =
            k != 5 && !strstr(cases[k].settings, "select"); /* not from the dual, a choice */
        if (cr_class_offers(cr_model_get_class(a), "update") && exact) {
            cr_model *d = NULL;
            assert_ok(cx, cr_update(cx, a, t, &c));
            assert_ok(cx, cr_update(cx, b, t, &d));
            check_same_bytes(cx, c, d);
            cr_model_free(cx, c);
            cr_model_free(cx, d);
        }
        cr_model_free(cx, b);
    }
}

TEST(fit_twice_is_the_same)
{
    cr_table *t = table_of_text(cx, "mixed.csv", mixed);
    for (size_t k = 0; k < CASES; k++) {
        cr_model *a = fit(cx, cases[k].name, t, cases[k].settings);
        cr_model *b = fit(cx, cases[k].name, t, cases[k].settings);
        check_same_bytes(cx, a, b);
    }
}

TEST(threads)
{
    enum { n = 5000, p = 20 };
    static double    X[n * p], y[n], w[n];
    const model_case large[] = { { "linear", "target=y solver=qr features=x*" },
                                 { "linear", "target=y solver=gram weights=w" },
                                 { "ridge", "target=y features=x*" },
                                 { "bayes-linear", "target=y weights=w" } };
    draw_regression(1, n, p, 1, X, y);
    for (size_t i = 0; i < n; i++) w[i] = 0.5 + (double)(i % 3);
    cr_table *t = make_table(cx, X, n, p, y, w);
    for (size_t k = 0; k < sizeof large / sizeof *large; k++) {
        cr_model *one = NULL;
        for (size_t threads = 1; threads <= 4; threads *= 2) {
            cr_ctx_set_threads(cx, threads);
            cr_model *m = fit(cx, large[k].name, t, large[k].settings);
            if (!one) {
                one = m;
                continue;
            }
            check_same_bytes(cx, one, m);
            cr_prediction a = predict(cx, m, t);
            cr_ctx_set_threads(cx, 1);
            cr_prediction b = predict(cx, one, t);
            assert_memory_equal(a.mean, b.mean, n * sizeof(double));
            assert_memory_equal(a.scale, b.scale, n * sizeof(double));
            assert_memory_equal(a.leverage, b.leverage, n * sizeof(double));
        }
        cr_model_free(cx, one);
    }
}

/* --- hostile files --------------------------------------------------------------------------- */

/* A place in the JSON: a member of an object or an element of an array. */
typedef struct place {
    json_t     *parent;
    const char *key;
    size_t      index;
} place;

static void collect(json_t *node, place *places, size_t *n)
{
    const char *key;
    json_t     *child;
    size_t      i;
    if (json_is_object(node)) {
        json_object_foreach(node, key, child)
        {
            if (*n < 1024) places[(*n)++] = (place){ node, key, 0 };
            collect(child, places, n);
        }
    } else if (json_is_array(node)) {
        json_array_foreach(node, i, child)
        {
            if (*n < 1024) places[(*n)++] = (place){ node, NULL, i };
            collect(child, places, n);
        }
    }
}

static json_t *odd_value(cr_rng *r, const json_t *old)
{
    static const double    numbers[] = { 0,    -1,   0.5,    1e308, -1e308, 1e-308, -1e-308,
                                         1e17, -0.0, 1.5e16, 3,     64,     65,     4294967296.0 };
    static const long long integers[] = {
        0, 1, -1, 2, 3, 7, 64, 1LL << 31, 1LL << 32, INT64_MAX, INT64_MIN, 1LL << 53
    };
    static const char *const texts[] = { "",        "x",     "real",   "category",     "boolean",
                                         "true",    "c",     "1e308",  "none",         "drop",
                                         "linear",  "ridge", "impute", "bayes-linear", "-1",
                                         "poly:32", "nan",   "\x7f" };
    switch (cr_rng_below(r, 9)) {
    case 0:
        return json_null();
    case 1:
        return json_boolean(cr_rng_below(r, 2));
    case 2:
    case 3:
        return json_real(numbers[cr_rng_below(r, sizeof numbers / sizeof *numbers)]);
    case 4:
        return json_integer(integers[cr_rng_below(r, sizeof integers / sizeof *integers)]);
    case 5:
        return json_string(texts[cr_rng_below(r, sizeof texts / sizeof *texts)]);
    case 6:
        return cr_rng_below(r, 2) ? json_array() : json_object();
    case 7:
        return json_is_number(old) ? json_real(-json_number_value(old)) : json_deep_copy(old);
    default:
        return json_is_integer(old) ? json_integer(json_integer_value(old) + 1) : json_null();
    }
}

static void mutate_json(cr_rng *r, json_t *root)
{
    place  places[1024];
    size_t n = 0;
    collect(root, places, &n);
    if (n == 0) return;
    place   at = places[cr_rng_below(r, n)], other = places[cr_rng_below(r, n)];
    json_t *old = at.key ? json_object_get(at.parent, at.key) : json_array_get(at.parent, at.index);
    json_t *value = cr_rng_below(r, 6) == 0
                        ? json_deep_copy(other.key ? json_object_get(other.parent, other.key)
                                                   : json_array_get(other.parent, other.index))
                        : odd_value(r, old);
    switch (cr_rng_below(r, 6)) {
    case 0: /* away with it */
        if (at.key)
            json_object_del(at.parent, at.key);
        else
            json_array_remove(at.parent, at.index);
        json_decref(value);
        return;
    case 1: /* twice, or under another name */
        if (at.key)
            json_object_set_new(at.parent, "extra", value);
        else
            json_array_append_new(at.parent, value);
        return;
    default:
        if (at.key)
            json_object_set_new(at.parent, at.key, value);
        else
            json_array_set_new(at.parent, at.index, value);
    }
}

/* Copies an array of the store, perhaps under another name, in another shape, with other values. */
static void copy_array(cr_ctx *cx, cr_rng *r, const cri_stored *from, bool change, cri_store *to)
{
    static const char *const names[] = { "coef", "scale", "moments", "factor", "other" };
    static const double      odd[] = { 0, -1, NAN, INFINITY, 1e308, -1e308, 1e-320 };
    size_t                   rows = from->array.rows, cols = from->array.cols, n = rows * cols;
    double                  *a = calloc(n + 64, sizeof *a);
    char                     name[64];
    bool                     vector = from->array.dims == 1;
    assert_ok(cx, cri_npy_values(cx, "array", &from->array, a));
    snprintf(name, sizeof name, "%s", from->name);
    switch (change ? cr_rng_below(r, 7) : 6) {
    case 0:
        free(a);
        return; /* lost */
    case 1:
        snprintf(name, sizeof name, "%s", names[cr_rng_below(r, 5)]);
        break;
    case 2:
        rows += 1;
        break;
    case 3:
        rows -= rows > 0;
        break;
    case 4:
        vector = !vector;
        break;
    case 5: {
        size_t swap = rows;
        rows = cols, cols = swap;
        break;
    }
    default:
        break;
    }
    if (change && n && cr_rng_below(r, 2)) a[cr_rng_below(r, n)] = odd[cr_rng_below(r, 7)];
    if (!cri_store_find(to, name)) {
        if (vector)
            (void)cri_store_put_vector(cx, to, name, a, rows * cols);
        else
            (void)cri_store_put_matrix(cx, to, name, a, rows, cols);
    }
    free(a);
}

/* A file with a valid checksum and something wrong in it. */
static cr_status hostile_bytes(cr_ctx *cx, cr_rng *r, const cri_store *good, char **out,
                               size_t *size)
{
    cri_store *bad = NULL;
    assert_ok(cx, cri_store_new(cx, &bad));
    json_t *copy = json_deep_copy(cri_store_json(good));
    bool    in_json = cr_rng_below(r, 4) != 0;
    for (uint64_t k = 1 + cr_rng_below(r, 3); in_json && k-- > 0;) mutate_json(r, copy);
    json_object_update(cri_store_json(bad), copy);
    json_decref(copy);
    size_t chosen = (size_t)cr_rng_below(r, good->n);
    for (size_t i = 0; i < good->n; i++)
        copy_array(cx, r, &good->arrays[i], !in_json && i == chosen, bad);
    cr_status st = cri_store_to_bytes(cx, bad, out, size);
    cri_store_free(cx, bad);
    return st;
}

/* Everything one can ask of a loaded model: an answer, or a failure in words. */
static void use_model(cr_ctx *cx, const cr_model *m, const cr_table *t, bool fully)
{
    cr_prediction p = { 0 };
    cr_assessment a;
    cr_model     *next = NULL;
    char         *text = NULL, *bytes = NULL;
    size_t        size = 0;
    double        sd, lower, upper;
    cr_status     st[5];
    st[0] = cr_predict(cx, m, t, &p);
    if (st[0] == CR_OK) cr_prediction_interval(cx, &p, 0, 0.9, &sd, &lower, &upper);
    if (st[0] == CR_OK) cr_prediction_free(cx, &p);
    st[1] = cr_describe(cx, m, &text);
    st[2] = st[3] = st[4] = CR_OK;
    if (text) cr_free(cx, text, strlen(text) + 1, 1);
    if (fully) {
        st[2] = cr_update(cx, m, t, &next);
        st[3] = cr_evaluate(cx, m, t, 0.9, &a);
        st[4] = cr_model_to_bytes(cx, m, &bytes, &size);
    }
    cr_model_free(cx, next);
    cr_free(cx, bytes, size, 1);
    for (size_t k = 0; k < 5; k++)
        if (st[k] != CR_OK) assert_true(strlen(cr_error(cx)) > 10);
}

TEST(hostile_files)
{
    cr_table        *t = table_of_text(cx, "mixed.csv", mixed);
    const model_case some[] = { { "linear", "target=y missing=impute features=c,x reference=none" },
                                { "ridge", "target=y missing=impute features=b,x weights=w" },
                                { "ridge", "target=y missing=drop features=b,x solver=dual" },
                                { "bayes-linear",
                                  "target=y missing=impute features=c,x basis=poly:2" },
                                { "ridge", "target=y missing=impute features=c,x,z "
                                           "basis=x=bspline:4,z=rbf:2" },
                                { "ridge", "target=y missing=impute features=x,z "
                                           "basis=x=natural:3,z=fourier:1:2" },
                                { "spline", "target=y missing=impute features=x,z" } };
    size_t           refused = 0, accepted = 0;
    for (uint64_t k = 0; k < 3500; k++) {
        static cri_store *good;
        cr_rng            r = cr_rng_stream(k, 5);
        char             *bytes = NULL;
        size_t            size = 0;
        if (k % 500 == 0) {
            cr_model *m = fit(cx, some[k / 500].name, t, some[k / 500].settings);
            bytes = bytes_of(cx, m, &size);
            cri_store_free(cx, good);
            good = NULL;
            assert_ok(cx, cri_store_from_bytes(cx, "good", bytes, size, &good));
            cr_free(cx, bytes, size, 1);
            cr_model_free(cx, m);
            bytes = NULL;
        }
        if (hostile_bytes(cx, &r, good, &bytes, &size) == CR_OK) {
            cr_model *m = NULL;
            cr_status st = cr_model_from_bytes(cx, "evil.cred", bytes, size, &m);
            if (st == CR_OK) {
                accepted++;
                use_model(cx, m, t, k % 3 == 0);
            } else {
                refused++;
                assert_null(m);
                assert_int_equal(st, CR_EDATA);
                assert_non_null(strstr(cr_error(cx), "evil.cred"));
            }
            cr_model_free(cx, m);
        }
        cr_free(cx, bytes, size, 1);
        if (k == 3499) cri_store_free(cx, good);
    }
    assert_true(refused > 1000 && accepted > 300 && refused + accepted > 3100);
}
