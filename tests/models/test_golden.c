/* test_golden.c -- model files of earlier versions: each of tests/data/golden loads, saves to the
 * same bytes, and says what it said: bit for bit where the arithmetic of the BLAS is the same as when
 * it was recorded, else to 1e-9.  tools/make-golden adds files for new models and options. */
#include "fixture.h"
#include "math/dense/blas.h"

#include <dirent.h>
#include <jansson.h>

enum { MOST = 400 };

typedef struct comparison {
    const char *name;
    bool        exact;
} comparison;

static void fail_value(const comparison *c, const char *what, double now, double then)
{
    fail_msg("%s: %s is %.17g, and was %.17g", c->name, what, now, then);
}

static void compare_numbers(const comparison *c, const char *what, double now, double then)
{
    if (isnan(now) && isnan(then)) return;
    if (now == then) return;
    if (c->exact || !(fabs(now - then) <= 1e-9 * fmax(1, fabs(then))))
        fail_value(c, what, now, then);
}

/* Every member that was there is there, with its value; later versions may add some. */
static void compare_json(const comparison *c, const char *what, const json_t *now, json_t *then)
{
    const char *key;
    json_t     *value;
    size_t      i;
    if (!now) fail_msg("%s: %s is gone", c->name, what);
    if (json_is_object(then)) {
        json_object_foreach(then, key, value)
        {
            compare_json(c, key, json_object_get(now, key), value);
        }
    } else if (json_is_array(then)) {
        if (json_array_size(now) != json_array_size(then)) fail_msg("%s: %s", c->name, what);
        json_array_foreach(then, i, value) { compare_json(c, what, json_array_get(now, i), value); }
    } else if (json_is_number(then) && json_is_number(now)) {
        compare_numbers(c, what, json_number_value(now), json_number_value(then));
    } else if (!json_equal(now, then)) {
        fail_msg("%s: %s is another", c->name, what);
    }
}

/* --- what a model says ------------------------------------------------------------------------ */

static void add_numbers(json_t *out, const char *name, const double *x, size_t n)
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

/* Its description, and its answers for all rows, and for the next one where it has such. */
static json_t *say(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    json_t       *out = json_object();
    cr_prediction p = predict(cx, m, t);
    add_numbers(out, "mean", p.mean, p.n);
    add_numbers(out, "scale", p.scale, p.n);
    add_numbers(out, "dof", p.dof, p.n);
    add_numbers(out, "leverage", p.leverage, p.n);
    add_numbers(out, "log_density", p.log_density, p.n);
    add_numbers(out, "prob", p.prob, p.n * p.n_classes);
    add_numbers(out, "vector", p.vector, p.n * p.n_classes);
    add_numbers(out, "params", p.params, p.n * p.n_params);
    json_object_set(out, "describe", describe(cx, m));
    json_object_set_new(out, "kernel", json_string(cr_blas_query().kernel));
    return out;
}

/* --- files ------------------------------------------------------------------------------------ */

/* Since these were recorded, the parts of the file stand in another order. */
static bool is_reordered(const char *path)
{
    return strstr(path, "/fisher-") != NULL || strstr(path, "/lasso-") != NULL;
}

/* Since the first few of a model were recorded, its files have gained an option or a number. */
static bool has_gained(const char *path)
{
    static const struct {
        const char   *model;
        unsigned long first;
    } gained[] = { { "gp", 15 }, { "glm", 7 }, { "robust", 5 } };
    const char *name = strrchr(path, '/') + 1;
    for (size_t i = 0; i < sizeof gained / sizeof *gained; i++) {
        size_t        n = strlen(gained[i].model);
        bool          is = strncmp(name, gained[i].model, n) == 0 && name[n] == '-';
        unsigned long number = is ? strtoul(name + n + 1, NULL, 10) : 0; /* 0: of another model */
        if (number > 0 && number <= gained[i].first) return true;
    }
    return false;
}

static void check_bytes(cr_ctx *cx, const char *path, const cr_model *m)
{
    char  *bytes = NULL, *stored;
    size_t size = 0;
    FILE  *f = fopen(path, "rb");
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_non_null(f);
    stored = malloc(size + 1);
    size_t held = fread(stored, 1, size + 1, f);
    bool   same = held == size && (is_reordered(path) || memcmp(stored, bytes, size) == 0);
    if (same == has_gained(path)) fail_msg("%s: saved again it is another file", path);
    fclose(f);
    free(stored);
    cr_free(cx, bytes, size, 1);
}

/* --- what is declared is also said ------------------------------------------------------------ */

enum { MOST_CLASSES = 64, MOST_STATISTICS = 64 };
static bool said_once[MOST_CLASSES][MOST_STATISTICS];

static bool is_said(const json_t *statistics, const char *name)
{
    size_t      head = strcspn(name, "(");
    const char *key;
    json_t     *value;
    if (!name[head]) return json_object_get(statistics, name) != NULL;
    json_object_foreach((json_t *)(uintptr_t)statistics, key, value)
    {
        if (strncmp(key, name, head + 1) == 0) return true;
    }
    return false;
}

static void note_statistics(const cr_model *m, const json_t *said)
{
    const json_t *statistics = json_object_get(json_object_get(said, "describe"), "statistics");
    for (size_t i = 0; i < cr_class_count(); i++) {
        const cr_field *f = cr_class_statistics(cr_class_at(i));
        for (size_t k = 0; cr_class_at(i) == cr_model_get_class(m) && f[k].name; k++)
            said_once[i][k] |= is_said(statistics, f[k].name);
    }
}

/* Classes that share a table of statistics say it together. */
static bool is_said_by_any(const cr_field *table, size_t k)
{
    bool said = false;
    for (size_t i = 0; i < cr_class_count(); i++)
        said |= cr_class_statistics(cr_class_at(i)) == table && said_once[i][k];
    return said;
}

/* No file has these: they are of streams, of sparse rows, of columns that data for all models cannot
 * have.  The tests of their models look at them. */
static bool is_rare(const char *name)
{
    static const char *const rare[] = {
        "log_evidence_bound", "jitter",          "latent_above_0", "approximate",
        "distance_se",        "gradient_z",      "separated_by",   "bernoulli_columns",
        "category_columns",   "effective_df_se", "at_bound"
    };
    for (size_t i = 0; i < sizeof rare / sizeof *rare; i++)
        if (strcmp(rare[i], name) == 0) return true;
    return false;
}

static void check_statistics(void)
{
    for (size_t i = 0; i < cr_class_count(); i++) {
        const cr_field *f = cr_class_statistics(cr_class_at(i));
        for (size_t k = 0; f[k].name; k++)
            if (!is_rare(f[k].name) && !is_said_by_any(f, k))
                fail_msg("%s declares %s, which no file says", cr_class_name(cr_class_at(i)),
                         f[k].name);
    }
}

static void check_file(cr_ctx *cx, const char *folder, const char *name, const cr_table *t)
{
    char      path[2048], said[2048];
    int       stem = (int)strlen(name) - 5;
    cr_model *m = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(said, sizeof said, "%s/%.*s.json", folder, stem, name);
    assert_ok(cx, cr_model_load(cx, path, &m));
    test_own(cx, m, release_model);
    check_bytes(cx, path, m);
    json_t *now = say(cx, m, t), *then = json_load_file(said, 0, NULL);
    note_statistics(m, now);
    if (!then && getenv("CREDENCE_GOLDEN"))
        assert_int_equal(json_dump_file(now, said, JSON_REAL_PRECISION(17) | JSON_INDENT(0)), 0);
    else if (!then)
        fail_msg("%s is not there: tools/make-golden writes it", said);
    comparison c = { name,
                     json_equal(json_object_get(now, "kernel"), json_object_get(then, "kernel")) };
    json_object_del(then, "kernel");
    if (then) compare_json(&c, "the answer", now, then);
    json_decref(now);
    json_decref(then);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

TEST(files_of_earlier_versions)
{
    char           folder[1024], path[1100], *names[MOST];
    size_t         n = 0;
    struct dirent *entry;
    snprintf(folder, sizeof folder, "%s", test_data("golden"));
    snprintf(path, sizeof path, "%s/d.csv", folder);
    cr_table *t = read_table(cx, path);
    DIR      *d = opendir(folder);
    assert_non_null(d);
    while ((entry = readdir(d)) != NULL && n < MOST) {
        size_t length = strlen(entry->d_name);
        if (length > 5 && strcmp(entry->d_name + length - 5, ".cred") == 0)
            names[n++] = strdup(entry->d_name);
    }
    closedir(d);
    qsort(names, n, sizeof *names, by_name);
    assert_in_range(n, cr_class_count(), MOST - 1);
    for (size_t i = 0; i < n; i++) {
        check_file(cx, folder, names[i], t);
        free(names[i]);
    }
    check_statistics();
}
