/* account.h -- all that a model says, as one JSON object: its answers for the rows of a table, and its
 * description.  Two accounts are compared to the last bit or to a tolerance. */
#ifndef CREDENCE_TEST_MODELS_ACCOUNT_H
#define CREDENCE_TEST_MODELS_ACCOUNT_H

#include "fixture.h"

/* A list of numbers; those that JSON has not are texts. */
static inline void add_numbers(json_t *out, const char *name, const double *x, size_t n)
{
    json_t *list = json_array();
    char    text[32];
    for (size_t i = 0; x && i < n; i++) {
        snprintf(text, sizeof text, "%.17g", x[i]);
        json_array_append_new(list, isfinite(x[i]) ? json_real(x[i]) : json_string(text));
    }
    if (x)
        json_object_set_new(out, name, list);
    else
        json_decref(list);
}

/* Its description, and its answers for all rows if it has any. */
static inline json_t *account_of(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    json_t       *out = json_object();
    cr_prediction p = { 0 };
    test_own(cx, out, release_json);
    if (cr_class_offers(cr_model_get_class(m), "predict")) p = predict(cx, m, t);
    assert_proper(&p);
    add_numbers(out, "mean", p.mean, p.n);
    add_numbers(out, "scale", p.scale, p.n);
    add_numbers(out, "dof", p.dof, p.n);
    add_numbers(out, "leverage", p.leverage, p.n);
    add_numbers(out, "log_density", p.log_density, p.n);
    add_numbers(out, "prob", p.prob, p.n * p.n_classes);
    add_numbers(out, "vector", p.vector, p.n * p.n_classes);
    add_numbers(out, "params", p.params, p.n * p.n_params);
    json_object_set(out, "describe", describe(cx, m));
    return out;
}

/* The same with what else there is: draws, the means alone, coordinates, the covariance. */
static inline json_t *full_account_of(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    enum { DRAWS = 3, SEED = 9 };
    json_t *out = account_of(cx, m, t);
    double *V = NULL;
    size_t  n = cr_table_rows(t), labels = 0, q = 0;
    size_t  columns = cr_design_columns(cr_model_get_design(m));
    bool    coordinates = cr_transform_labels(m, &labels) != NULL;
    double *x = malloc((n + 1) * (DRAWS + labels + columns) * sizeof *x);
    assert_non_null(x);
    if (cr_covariance(cx, m, &V, &q) == CR_OK) {
        add_numbers(out, "covariance", V, q * q);
        cr_free(cx, V, q, q * sizeof *V);
    }
    if (json_object_get(out, "mean")) {
        assert_ok(cx, cr_predict_mean(cx, m, t, x));
        add_numbers(out, "mean alone", x, n);
    }
    if (coordinates) {
        assert_ok(cx, cr_transform(cx, m, t, x));
        add_numbers(out, "coordinates", x, n * labels);
    }
    if (cr_sample_targets(cx, m, t, DRAWS, SEED, x) == CR_OK)
        add_numbers(out, "targets drawn", x, n * DRAWS);
    else if (cr_sample(cx, m, n, SEED, x) == CR_OK)
        add_numbers(out, "rows drawn", x, n * columns);
    free(x);
    return out;
}

/* --- comparisons ------------------------------------------------------------------------------ */

typedef struct comparison {
    double tolerance; /* of a number x, times max(1, |x|); 0: to the last bit */
    bool (*may_differ)(const void *subject, const char *member); /* NULL: none may */
    const void *subject;
    char        text[512]; /* the first difference */
} comparison;

static inline bool is_same_leaf(comparison *c, const char *what, const json_t *now, json_t *then)
{
    double x = json_number_value(now), y = json_number_value(then);
    char  *a, *b;
    if (json_equal(now, then)) return true;
    if (json_is_number(now) && json_is_number(then) &&
        fabs(x - y) <= c->tolerance * fmax(1, fabs(y)))
        return true;
    a = now ? json_dumps(now, JSON_ENCODE_ANY) : NULL;
    b = json_dumps(then, JSON_ENCODE_ANY);
    snprintf(c->text, sizeof c->text, "%s is %.150s, and was %.150s", what, a ? a : "gone", b);
    free(a), free(b);
    return false;
}

/* Whether every member that was there is there, with its value; there may be others. */
static inline bool is_same(comparison *c, const char *what, const json_t *now, json_t *then)
{
    const char *key;
    json_t     *value;
    size_t      i;
    if (json_is_object(then) && json_is_object(now)) {
        json_object_foreach(then, key, value)
        {
            if (c->may_differ && c->may_differ(c->subject, key)) continue;
            if (!is_same(c, key, json_object_get(now, key), value)) return false;
        }
    } else if (json_is_array(then) && json_array_size(now) == json_array_size(then)) {
        json_array_foreach(then, i, value)
        {
            char place[128];
            snprintf(place, sizeof place, "%.100s[%zu]", what, i);
            if (!is_same(c, place, json_array_get(now, i), value)) return false;
        }
    } else {
        return is_same_leaf(c, what, now, then);
    }
    return true;
}

#endif
