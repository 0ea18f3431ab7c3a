/* gp_reference.h -- cases of tabular/reference.json: rows and kernels. */
#ifndef CREDENCE_TEST_MODELS_GP_REFERENCE_H
#define CREDENCE_TEST_MODELS_GP_REFERENCE_H

#include "../fixture.h"

static inline json_t *load_reference(void)
{
    const char *path = test_data("tabular/reference.json");
    json_t     *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    return root;
}

/* The rows of a case, standardised by those to learn from: columns of a CSV file of numbers. */
typedef struct split {
    size_t  n, tests, d;
    double *X, *y, *Z, *z;
} split;

static inline split read_split(cr_ctx *cx, const json_t *root, const json_t *item)
{
    const json_t *s = json_object_get(json_object_get(root, "splits"),
                                      json_string_value(json_object_get(item, "split")));
    const json_t *train = json_object_get(s, "train"), *test = json_object_get(s, "test");
    char          path[256];
    snprintf(path, sizeof path, "tabular/%s", json_string_value(json_object_get(s, "dataset")));
    cr_table *t = read_table(cx, test_data(path));
    size_t    columns = cr_table_columns(t);
    split out = { .n = json_array_size(train), .tests = json_array_size(test), .d = columns - 1 };
    out.X = malloc(out.n * out.d * sizeof(double)), out.y = malloc(out.n * sizeof(double));
    out.Z = malloc(out.tests * out.d * sizeof(double)), out.z = malloc(out.tests * sizeof(double));
    for (size_t j = 0; j < columns; j++) {
        const cr_column *c = cr_table_column(t, j);
        long double      mean = 0, square = 0;
        double          *to = j < out.d ? out.X + j : out.y, *tests = j < out.d ? out.Z + j : out.z;
        size_t           step = j < out.d ? out.d : 1;
        if (c->type == CR_CATEGORY) continue; /* classes: y is not set */
        for (size_t i = 0; i < out.n; i++) {
            to[i * step] = c->values[(size_t)element(train, i) * c->stride];
            mean += to[i * step] / (long double)out.n;
        }
        for (size_t i = 0; i < out.n; i++) square += (to[i * step] - mean) * (to[i * step] - mean);
        long double sd = square > 0 ? sqrtl(square / (long double)out.n) : 1;
        for (size_t i = 0; i < out.n; i++) to[i * step] = (double)((to[i * step] - mean) / sd);
        for (size_t i = 0; i < out.tests; i++)
            tests[i * step] =
                (double)((c->values[(size_t)element(test, i) * c->stride] - mean) / sd);
    }
    return out;
}

static inline void drop_split(split *s)
{
    free(s->X);
    free(s->y);
    free(s->Z);
    free(s->z);
}

/* The classes of the rows to learn from as counts [n x 2], the positive class first; from
 * malloc. */
static inline double *read_counts(cr_ctx *cx, const json_t *root, const json_t *item, size_t n)
{
    const json_t *s = json_object_get(json_object_get(root, "splits"),
                                      json_string_value(json_object_get(item, "split")));
    const char   *positive = json_string_value(json_object_get(item, "positive_class"));
    char          path[256];
    snprintf(path, sizeof path, "tabular/%s", json_string_value(json_object_get(s, "dataset")));
    cr_table        *t = read_table(cx, test_data(path));
    const cr_column *c = cr_table_column(t, cr_table_columns(t) - 1);
    double          *counts = calloc(2 * n, sizeof *counts);
    for (size_t i = 0; i < n; i++) {
        size_t row = (size_t)element(json_object_get(s, "train"), i);
        bool   yes = c->type == CR_CATEGORY ? strcmp(c->levels[c->codes[row]], positive) == 0
                                            : c->values[row * c->stride] == atof(positive);
        counts[2 * i + !yes] = 1;
    }
    return counts;
}

/* The kernel of a case as an expression, appended to text. */
static inline void kernel_text(const json_t *k, const json_t *hyper, char *text)
{
    static const char *const names[][2] = {
        { "variance", "variance" }, { "lengthscale", "l" }, { "alpha", "alpha" }, { "period", "p" }
    };
    const char *type = json_string_value(json_object_get(k, "type"));
    json_t     *parts = json_object_get(k, "parts"), *part;
    size_t      i;
    json_array_foreach(parts, i, part)
    {
        if (i) strcat(text, strcmp(type, "sum") == 0 ? "+" : "*");
        kernel_text(part, hyper, text);
    }
    if (parts) return;
    strcat(strcat(text, type), "(");
    for (i = 0; i < 4; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s.%s", json_string_value(json_object_get(k, "id")),
                 names[i][0]);
        json_t *value = json_object_get(hyper, key), *one;
        size_t  e;
        if (!value) continue;
        if (text[strlen(text) - 1] != '(') strcat(text, ",");
        strcat(strcat(text, names[i][1]), "=");
        if (json_is_number(value)) sprintf(text + strlen(text), "%.17g", json_number_value(value));
        json_array_foreach(value, e, one)
        {
            sprintf(text + strlen(text), "%s%.17g", e ? "," : "[", json_number_value(one));
        }
        if (json_is_array(value)) strcat(text, "]");
    }
    strcat(text, ")");
}

/* The rows to learn from of a case. */
static inline size_t case_rows(const json_t *root, const json_t *item)
{
    const json_t *s = json_object_get(json_object_get(root, "splits"),
                                      json_string_value(json_object_get(item, "split")));
    return json_array_size(json_object_get(s, "train"));
}

typedef void case_check(cr_ctx *cx, const json_t *root, const json_t *item);

/* Checks every case whose id begins so, has `part` in it ("": any) and at most `most` rows to learn
 * from; there must be `count` of them. */
static inline void check_cases(const char *prefix, const char *part, size_t most, size_t count,
                               case_check *check)
{
    json_t *root = load_reference(), *item;
    cr_ctx *cx = test_context();
    size_t  i, seen = 0;
    if (most < SIZE_MAX) cr_ctx_set_threads(cx, 1); /* small ones */
    json_array_foreach(json_object_get(root, "cases"), i, item)
    {
        const char *id = json_string_value(json_object_get(item, "id"));
        if (strncmp(id, prefix, strlen(prefix)) || !strstr(id, part) ||
            case_rows(root, item) > most)
            continue;
        check(cx, root, item);
        seen++;
    }
    assert_int_equal(seen, count);
    test_context_free(cx);
    json_decref(root);
}

enum { MOST_HYPER = 64 };

/* The names of the hyper-parameters that kernel_text writes, in its order, which is that of
 * theta. */
static inline size_t hyper_names(const json_t *k, const json_t *hyper, char names[][72], size_t n)
{
    static const char *const keys[] = { "variance", "lengthscale", "alpha", "period" };
    json_t                  *parts = json_object_get(k, "parts"), *part;
    size_t                   i;
    json_array_foreach(parts, i, part) n = hyper_names(part, hyper, names, n);
    for (i = 0; !parts && i < 4; i++) {
        char key[48];
        snprintf(key, sizeof key, "%s.%s", json_string_value(json_object_get(k, "id")), keys[i]);
        json_t *value = json_object_get(hyper, key);
        for (size_t e = 0; value && e < (json_is_array(value) ? json_array_size(value) : 1);
             e++, n++) {
            assert_true(n < MOST_HYPER);
            if (json_is_array(value))
                snprintf(names[n], sizeof names[n], "%s[%zu]", key, e);
            else
                snprintf(names[n], sizeof names[n], "%s", key);
        }
    }
    return n;
}

/* The gradient of a case, by the logarithms, against ours: each entry by its name, that of the
 * noise last. */
static inline void check_log_gradient(const json_t *item, const double *gradient, size_t size,
                                      double tolerance)
{
    const json_t *names = json_object_get(json_object_get(item, "grad_log_hyper"), "names");
    const json_t *values = json_object_get(json_object_get(item, "grad_log_hyper"), "values");
    char          ours[MOST_HYPER][72];
    size_t        n =
        hyper_names(json_object_get(item, "kernel"), json_object_get(item, "hyper"), ours, 0);
    snprintf(ours[n], sizeof ours[n], "noise");
    assert_int_equal(size, json_array_size(names));
    for (size_t j = 0; j < size; j++) {
        size_t at = 0;
        while (at < size && strcmp(json_string_value(json_array_get(names, at)), ours[j])) at++;
        assert_true(at < size);
        assert_close(gradient[j], element(values, at), tolerance);
    }
}

#endif
