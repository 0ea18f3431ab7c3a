/* fixture.h -- what the tests of models share: tables from arrays, fits from one line of settings,
 * descriptions as JSON, warnings as text, and dense arithmetic in long double for the oracles. */
#ifndef CREDENCE_TEST_MODELS_FIXTURE_H
#define CREDENCE_TEST_MODELS_FIXTURE_H

#include "support.h"
#include "base/rng.h"
#include "data/formats/read.h"
#include "data/table/table.h"
#include "models/core/describe.h"
#include "models/core/model.h"

#include <jansson.h>

/* --- what the fixture releases ---------------------------------------------------------------- */

static inline void release_table(cr_ctx *cx, void *table) { cr_table_free(cx, table); }
static inline void release_model(cr_ctx *cx, void *model) { cr_model_free(cx, model); }
static inline void release_prediction(cr_ctx *cx, void *p) { cr_prediction_free(cx, p); }
static inline void release_json(cr_ctx *cx, void *json)
{
    (void)cx;
    json_decref(json);
}

static inline const void *key_of_prediction(const cr_prediction *p)
{
    return p->mean ? p->mean : p->prob ? p->prob : p->vector ? p->vector : p->log_density;
}

static inline void give_back_table(cr_ctx *cx, cr_table *t)
{
    test_give_back(cx, t, t, release_table);
}

static inline void give_back_model(cr_ctx *cx, cr_model *m)
{
    test_give_back(cx, m, m, release_model);
}

static inline void give_back_prediction(cr_ctx *cx, cr_prediction *p)
{
    test_give_back(cx, key_of_prediction(p), p, release_prediction);
}

/* A test may free these earlier than the fixture would. */
#define cr_table_free give_back_table
#define cr_model_free give_back_model
#define cr_prediction_free give_back_prediction

/* --- tables ---------------------------------------------------------------------------------- */

/* Columns x1 .. xp of X [n x p], then y and, when given, w. */
static inline cr_table *make_table(cr_ctx *cx, const double *X, size_t n, size_t p, const double *y,
                                   const double *opt_w)
{
    cr_table *t = NULL;
    assert_ok(cx, cr_table_new(cx, "data.csv", n, &t));
    test_own(cx, t, release_table);
    for (size_t j = 0; j < p; j++) {
        char name[32];
        snprintf(name, sizeof name, "x%zu", j + 1);
        assert_ok(cx, cr_table_add_numbers(cx, t, name, CR_REAL, X + j, p));
    }
    if (y) assert_ok(cx, cr_table_add_numbers(cx, t, "y", CR_REAL, y, 1));
    if (opt_w) assert_ok(cx, cr_table_add_numbers(cx, t, "w", CR_REAL, opt_w, 1));
    return t;
}

/* A file as a table, all read options at their defaults. */
static inline cr_table *read_table(cr_ctx *cx, const char *path)
{
    cr_read_options o;
    cr_table       *t = NULL;
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    assert_ok(cx, cr_table_read(cx, path, &o, &t));
    cr_options_free(cx, cr_read_table, &o);
    test_own(cx, t, release_table);
    return t;
}

/* The text of a CSV file as a table; `name` is its file name. */
static inline cr_table *table_of_text(cr_ctx *cx, const char *name, const char *text)
{
    return read_table(cx, test_file(name, text, strlen(text)));
}

static inline void draw_normals(cr_rng *r, double *a, size_t n)
{
    for (size_t i = 0; i < n; i++) a[i] = cr_rng_normal(r);
}

/* X [n x p] normal columns of different means and spreads, y linear in them with noise. */
static inline void draw_regression(uint64_t seed, size_t n, size_t p, double noise, double *X,
                                   double *y)
{
    cr_rng r = cr_rng_stream(seed, 77);
    for (size_t i = 0; i < n; i++) {
        y[i] = 1.7 + noise * cr_rng_normal(&r);
        for (size_t j = 0; j < p; j++) {
            double z = cr_rng_normal(&r);
            X[i * p + j] = 0.3 * (double)j - 1 + (0.5 + 0.4 * (double)j) * z;
            y[i] += (j % 2 ? -0.8 : 1.3) * z / (1 + 0.2 * (double)j);
        }
    }
}

/* Rows of whole weights as so many rows: their number, for which Xs and ys have room. */
static inline size_t repeat_rows(const double *X, const double *y, const double *w, size_t n,
                                 size_t p, double *Xs, double *ys)
{
    size_t rows = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < (size_t)w[i]; c++, rows++) {
            memcpy(Xs + rows * p, X + i * p, p * sizeof *X);
            ys[rows] = y[i];
        }
    return rows;
}

/* --- settings and fits ----------------------------------------------------------------------- */

/* "target=y lambda=0.5" as settings. */
typedef struct setting_list {
    char       text[1024];
    cr_setting list[24];
    size_t     n;
} setting_list;

static inline void split_settings(const char *text, setting_list *out)
{
    char *rest = NULL;
    assert_true(strlen(text) < sizeof out->text);
    strcpy(out->text, text);
    out->n = 0;
    for (char *s = strtok_r(out->text, " ", &rest); s; s = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(s, '=');
        assert_non_null(equals);
        *equals = '\0';
        assert_true(out->n < 24);
        out->list[out->n++] = (cr_setting){ s, equals + 1 };
    }
}

static inline cr_status try_fit(cr_ctx *cx, const char *name, const cr_table *t,
                                const char *settings, cr_model **out)
{
    setting_list s;
    split_settings(settings, &s);
    return cr_fit(cx, name, t, s.list, s.n, out);
}

#define fit(cx, name, t, settings) fit_at((cx), (name), (t), (settings), __FILE__, __LINE__)
static inline cr_model *fit_at(cr_ctx *cx, const char *name, const cr_table *t,
                               const char *settings, const char *file, int line)
{
    cr_model *m = NULL;
    check_status(cx, try_fit(cx, name, t, settings, &m), CR_OK, NULL, settings, file, line);
    test_own(cx, m, release_model);
    return m;
}

static inline cr_prediction predict(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    cr_prediction p = { 0 };
    assert_ok(cx, cr_predict(cx, m, t, &p));
    assert_int_equal(p.n, cr_table_rows(t));
    test_own_copy(cx, &p, sizeof p, key_of_prediction(&p), release_prediction);
    return p;
}

/* Probabilities add up to one. */
static inline void assert_proper(const cr_prediction *a)
{
    for (size_t i = 0; a->prob && i < a->n; i++) {
        double sum = 0;
        for (size_t k = 0; k < a->n_classes; k++) {
            assert_true(a->prob[i * a->n_classes + k] >= 0);
            sum += a->prob[i * a->n_classes + k];
        }
        assert_close(sum, 1, 1e-12);
    }
}

/* --- descriptions ---------------------------------------------------------------------------- */

/* What the model says, of which nothing is undeclared. */
static inline json_t *describe(cr_ctx *cx, const cr_model *m)
{
    char       fault[256], *text = NULL;
    cri_sheet *sheet = NULL;
    assert_ok(cx, cri_model_describe(cx, m, &sheet));
    if (cri_description_find_fault(cr_model_get_class(m), sheet, fault, sizeof fault))
        fail_msg("%s says what it has not declared: %s", cr_class_name(cr_model_get_class(m)),
                 fault);
    cri_sheet_free(sheet);
    assert_ok(cx, cr_describe(cx, m, &text));
    json_t *d = json_loads(text, 0, NULL);
    assert_non_null(d);
    cr_free(cx, text, strlen(text) + 1, 1);
    test_own(cx, d, release_json);
    return d;
}

/* The number under a key that must be there; NaN for null. */
static inline double number_of(const json_t *object, const char *key)
{
    const json_t *x = json_object_get(object, key);
    if (!x) fail_msg("there is no '%s'", key);
    assert_true(json_is_number(x) || json_is_null(x));
    return json_is_number(x) ? json_number_value(x) : NAN;
}

static inline double statistic(const json_t *d, const char *key)
{
    return number_of(json_object_get(d, "statistics"), key);
}

/* "value", "sd", "t", "p", "lower" or "upper" of a parameter. */
static inline double parameter(const json_t *d, const char *name, const char *key)
{
    size_t  i;
    json_t *item, *list = json_object_get(d, "parameters");
    json_array_foreach(list, i, item)
    {
        if (strcmp(json_string_value(json_object_get(item, "name")), name) == 0)
            return number_of(item, key);
    }
    fail_msg("there is no parameter '%s'", name);
    return NAN;
}

/* The parameter of term j = 1 .. p of make_table; 0 is the intercept. */
static inline double coefficient(const json_t *d, size_t j, const char *key)
{
    char name[32];
    snprintf(name, sizeof name, j ? "x%zu" : "intercept", j);
    return parameter(d, name, key);
}

/* Which road the fit took: "qr", "dual", ... */
static inline void check_solver(cr_ctx *cx, const cr_model *m, const char *solver)
{
    json_t *d = describe(cx, m);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(d, "statistics"), "solver")), solver);
}

/* --- warnings -------------------------------------------------------------------------------- */

typedef struct warnings {
    char   text[8192];
    size_t n;
} warnings;

static inline void keep_warning(void *user, cr_log_level level, const char *text)
{
    warnings *w = user;
    if (level != CR_LOG_WARNING) return;
    size_t used = strlen(w->text);
    snprintf(w->text + used, sizeof w->text - used, "%s\n", text);
    w->n++;
}

/* What a fit, which succeeds, warns of. */
static inline const char *fit_and_hear(cr_ctx *cx, const char *name, const cr_table *t,
                                       const char *settings, warnings *heard)
{
    cr_model *m = NULL;
    *heard = (warnings){ { 0 }, 0 };
    cr_ctx_set_log(cx, keep_warning, heard);
    assert_ok(cx, try_fit(cx, name, t, settings, &m));
    cr_ctx_set_log(cx, NULL, NULL);
    cr_model_free(cx, m);
    return heard->text;
}

/* --- dense arithmetic ------------------------------------------------------------------------ */

/* Solves A [n x n] x = B [n x m] over B, by elimination with row exchanges; A is destroyed. */
static inline void solve_dense(size_t n, long double *A, long double *B, size_t m)
{
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabsl(A[i * n + k]) > fabsl(A[best * n + k])) best = i;
        assert_true(A[best * n + k] != 0);
        for (size_t j = 0; j < n; j++) {
            long double keep = A[k * n + j];
            A[k * n + j] = A[best * n + j], A[best * n + j] = keep;
        }
        for (size_t j = 0; j < m; j++) {
            long double keep = B[k * m + j];
            B[k * m + j] = B[best * m + j], B[best * m + j] = keep;
        }
        for (size_t i = 0; i < n; i++) {
            long double f = A[i * n + k] / A[k * n + k];
            if (i == k || f == 0) continue;
            for (size_t j = 0; j < n; j++) A[i * n + j] -= f * A[k * n + j];
            for (size_t j = 0; j < m; j++) B[i * m + j] -= f * B[k * m + j];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) B[i * m + j] /= A[i * n + i];
}

/* log|C| and t^T C^-1 t of a positive definite C [n x n], by Cholesky; C and t are destroyed. */
static inline long double quadratic_form(size_t n, long double *C, long double *t,
                                         long double *out_logdet)
{
    long double logdet = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            long double sum = C[i * n + j];
            for (size_t k = 0; k < j; k++) sum -= C[i * n + k] * C[j * n + k];
            if (i == j) assert_true(sum > 0);
            C[i * n + j] = i == j ? sqrtl(sum) : sum / C[j * n + j];
        }
        for (size_t k = 0; k < i; k++) t[i] -= C[i * n + k] * t[k];
        t[i] /= C[i * n + i];
        logdet += 2 * logl(C[i * n + i]);
        square += t[i] * t[i];
    }
    *out_logdet = logdet;
    return square;
}

/* --- reference answers ----------------------------------------------------------------------- */

/* The cases of classic/reference.json of one family. */
static inline json_t *reference_cases(cr_ctx *cx, const char *family)
{
    json_t *root = json_load_file(test_data("classic/reference.json"), 0, NULL), *item;
    json_t *cases = json_array();
    size_t  i;
    assert_non_null(root);
    json_array_foreach(json_object_get(root, "cases"), i, item)
    {
        const char *f = json_string_value(json_object_get(item, "family"));
        if (f && strcmp(f, family) == 0) json_array_append(cases, item);
    }
    json_decref(root);
    test_own(cx, cases, release_json);
    assert_true(json_array_size(cases) > 0);
    return cases;
}

/* The table of a case, and its settings: target and features. */
static inline cr_table *reference_table(cr_ctx *cx, const json_t *item, char *out_settings,
                                        size_t size)
{
    json_t     *data = json_object_get(item, "data"), *name;
    char        path[256];
    size_t      i, used;
    const char *file = json_string_value(json_object_get(data, "file"));
    snprintf(path, sizeof path, "classic/%s", file);
    const char *found = test_data(path);
    used =
        (size_t)snprintf(out_settings, size,
                         "target=%s features=", json_string_value(json_object_get(data, "target")));
    json_array_foreach(json_object_get(data, "features"), i, name)
    {
        used += (size_t)snprintf(out_settings + used, size - used, "%s%s", i ? "," : "",
                                 json_string_value(name));
    }
    assert_true(used < size);
    return read_table(cx, found);
}

static inline double element(const json_t *array, size_t i)
{
    const json_t *x = json_array_get(array, i);
    assert_true(json_is_number(x));
    return json_number_value(x);
}

#endif
