/* test_golden.c -- model files of earlier versions: each of tests/data/golden loads, saves to the
 * same bytes, and says what it said: bit for bit where the arithmetic of the BLAS is the same as when
 * it was recorded, else to 1e-9.  tools/make-golden adds files for new models and options. */
#include "account.h"
#include "math/dense/blas.h"

#include <dirent.h>
#include <jansson.h>

enum { MOST = 400 };

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
    } gained[] = {
        { "gp", 15 },         { "gp-online", 4 }, { "glm", 13 },     { "robust", 5 },
        { "gp-classify", 7 }, { "tree", 6 },      { "adaboost", 6 }, { "bayes-logistic", 6 },
        { "pca", 4 },         { "gmm", 9 },       { "hmm", 10 },     { "kalman", 9 },
        { "markov", 3 },      { "crf", 5 },       { "rvm", 11 }
    };
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
        "category_columns",   "effective_df_se", "at_bound",       "inflation",
        "hyper_settings",     "hyper_ess"
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
    json_t *now = account_of(cx, m, t), *then = json_load_file(said, 0, NULL);
    json_object_set_new(now, "kernel", json_string(cr_blas_query().kernel));
    note_statistics(m, now);
    if (!then && getenv("CREDENCE_GOLDEN"))
        assert_int_equal(json_dump_file(now, said, JSON_REAL_PRECISION(17) | JSON_INDENT(0)), 0);
    else if (!then)
        fail_msg("%s is not there: tools/make-golden writes it", said);
    bool       alike = json_equal(json_object_get(now, "kernel"), json_object_get(then, "kernel"));
    comparison c = { .tolerance = alike ? 0 : 1e-9 };
    json_object_del(then, "kernel");
    if (then && !is_same(&c, "the answer", now, then)) fail_msg("%s: %s", name, c.text);
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
