/* test_sums.c -- models that learn from sums over rows: the leaves of the data alone decide on the bits, whether all
 * rows are there at once, come in batches that end where leaves do, or as a stream, on any number of threads. */
#include "fixture.h"

#include "data/store/store_internal.h"
#include "data/table/subset.h"
#include "data/table/table_internal.h"
#include "models/core/fit_stream.h"
#include "models/core/sums.h"

enum { N = 700, LEAF = 64 };

typedef struct subject {
    const char *model, *settings;
} subject;

/* Every class that learns so, by all its ways. */
static const subject subjects[] = {
    { "beta-bernoulli", "features=h missing=drop" },
    { "dirichlet-categorical", "features=g,k weights=w missing=drop" },
    { "exponential", "features=b weights=w missing=drop" },
    { "normal", "features=a,b weights=w missing=drop" },
    { "poisson", "features=k weights=w missing=drop" },
    { "uniform", "features=b missing=drop" },
    { "von-mises", "features=a missing=drop" },
    { "mvn", "features=a,b weights=w missing=drop" },
    { "pca", "features=a,b,k weights=w components=all missing=drop" },
    { "ppca", "features=a,b,k weights=w components=1 missing=drop" },
    { "glasso", "features=a,b,k weights=w lambda=0.1 missing=drop" },
    { "gaussian-bn", "features=a,b,k weights=w missing=drop" },
    { "fa", "features=a,b,k weights=w components=1 missing=drop" },
    { "lda", "target=g features=a,b weights=w missing=drop" },
    { "qda", "target=g features=a,b missing=drop" },
    { "fisher", "target=g features=a,b weights=w missing=drop" },
    { "naive-bayes", "target=g features=a,b,c weights=w" },
    { "naive-bayes", "target=g features=a,b,c,k numbers=kernel,k=poisson missing=drop" },
    { "naive-bayes", "target=g features=k,h numbers=multinomial missing=drop" },
    { "ridge", "target=y features=a,b,g weights=w lambda=0.3 missing=drop" },
    { "ridge", "target=y features=a,b intercept=false missing=drop" },
    { "bayes-linear", "target=y features=a,b,g weights=w missing=drop" },
    { "bayes-linear", "target=y features=a,b prior=nig missing=drop" },
    { "linear", "target=y features=a,b,g weights=w missing=drop" },
    { "linear", "target=y features=a,b weights=w weights_are=precisions missing=drop" },
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* Gaps here and there, and a leaf that has nothing else. */
static const char *data_file(void)
{
    static char path[512];
    text_buffer t = text_new(1 << 17);
    cr_rng      r = cr_rng_stream(9, 9);
    text_put(&t, "a,b,g,c,h,k,w,y\n");
    for (int i = 0; i < N; i++) {
        double a = cr_rng_normal(&r), b = 3 + cr_rng_uniform(&r);
        bool   gap = i / LEAF == 4 || i % 29 == 7;
        if (gap)
            text_put(&t, ",,%s,,,,1,1\n", i % 3 ? "u" : "v");
        else
            text_put(&t, "%.17g,%.17g,%s,%s,%d,%d,%.3g,%.17g\n", a, b,
                     i % 3 ? (i % 2 ? "u" : "w") : "v", i % 7 % 2 ? "yes" : "no", i % 3 == 1, i % 5,
                     0.1 + cr_rng_uniform(&r), 2 * a - b + cr_rng_normal(&r) / 4);
    }
    snprintf(path, sizeof path, "%s", test_file("sums.csv", t.at, t.used));
    free(t.at);
    return path;
}

static cr_table *rows_of(cr_ctx *cx, const cr_table *t, size_t begin, size_t end, size_t leaf)
{
    size_t    rows[N], starts[N], n = 0;
    cr_table *part = NULL;
    for (size_t i = begin; i < end; i++) rows[i - begin] = i;
    assert_ok(cx, cri_table_subset(cx, t, rows, end - begin, &part));
    test_own(cx, part, release_table);
    for (size_t i = 0; i < end - begin; i += leaf) starts[n++] = i;
    assert_ok(cx, cri_table_set_leaves(cx, part, starts, n));
    return part;
}

/* --- what is compared ------------------------------------------------------------------------- */

/* All statistics of a model, of its state and of its trees. */
static void check_statistics(cr_ctx *cx, const subject *s, const cr_model *a, const cr_model *b)
{
    char  *bytes[2];
    size_t size[2];
    for (int i = 0; i < 2; i++) {
        const cr_model      *m = i ? b : a;
        const cri_sums_face *face = m->class->sums;
        cri_store           *store = NULL;
        assert_ok(cx, cri_store_new(cx, &store));
        assert_ok(cx, cri_record_write(cx, face->record, (char *)m->state + face->at, store,
                                       cri_store_json(store)));
        assert_ok(cx, cri_sums_write(cx, m, store, cri_store_json(store)));
        assert_ok(cx, cri_store_to_bytes(cx, store, &bytes[i], &size[i]));
        cri_store_free(cx, store);
    }
    if (size[0] != size[1] || memcmp(bytes[0], bytes[1], size[0]) != 0)
        fail_msg("%s %s: other statistics", s->model, s->settings);
    for (int i = 0; i < 2; i++) cr_free(cx, bytes[i], size[i], 1);
}

/* All it says, without what takes a second pass over the rows. */
static json_t *words_of(cr_ctx *cx, const cr_model *m)
{
    static const char *const second[] = { "loocv", "max_leverage", "max_leverage_row" };
    json_t                  *d = describe(cx, m);
    json_object_del(d, "design");
    json_object_del(json_object_get(d, "report"), "seconds");
    for (size_t i = 0; i < 3; i++) json_object_del(json_object_get(d, "statistics"), second[i]);
    return d;
}

static void check_same(cr_ctx *cx, const subject *s, const char *what, const cr_model *a,
                       const cr_model *b)
{
    check_statistics(cx, s, a, b);
    json_t *x = words_of(cx, a), *y = words_of(cx, b);
    if (json_equal(x, y)) return;
    print_error("%s\n%s\n", json_dumps(x, JSON_COMPACT), json_dumps(y, JSON_COMPACT));
    fail_msg("%s %s: a %s says something else", s->model, s->settings, what);
}

/* --- the laws --------------------------------------------------------------------------------- */

TEST(every_class_of_sums_is_here)
{
    for (size_t i = 0; i < cr_class_count(); i++) {
        bool here = !cr_class_at(i)->sums;
        for (size_t k = 0; k < SUBJECTS; k++)
            here |= strcmp(subjects[k].model, cr_class_name(cr_class_at(i))) == 0;
        if (!here && strncmp(cr_class_name(cr_class_at(i)), "toy-", 4) != 0)
            fail_msg("%s is not among the subjects", cr_class_name(cr_class_at(i)));
    }
    (void)cx;
}

TEST(any_number_of_threads)
{
    cr_table *t = rows_of(cx, read_table(cx, data_file()), 0, N, LEAF);
    for (size_t k = 0; k < SUBJECTS; k++) {
        const subject *s = &subjects[k];
        cr_model      *one = NULL;
        for (size_t threads = 1; threads <= 7; threads += 3) {
            cr_ctx_set_threads(cx, threads);
            cr_model *m = fit(cx, s->model, t, s->settings);
            assert_true(m->forest.n > 1); /* of 10 leaves that have rows, or 11 */
            if (one) check_same(cx, s, "fit on more threads", one, m);
            if (!one) one = m;
        }
    }
}

TEST(updates_cut_at_leaves_are_one_fit)
{
    cr_table *t = read_table(cx, data_file());
    for (size_t k = 0; k < SUBJECTS; k++) {
        const subject *s = &subjects[k];
        cr_model      *all = fit(cx, s->model, rows_of(cx, t, 0, N, LEAF), s->settings);
        for (size_t cut = LEAF; cut < N; cut += 3 * LEAF) {
            cr_model *first = fit(cx, s->model, rows_of(cx, t, 0, cut, LEAF), s->settings),
                     *m = NULL;
            assert_ok(cx, cr_update(cx, first, rows_of(cx, t, cut, N, LEAF), &m));
            test_own(cx, m, release_model);
            check_same(cx, s, "fit with an update", all, m);
        }
    }
}

static cr_model *fit_blocks(cr_ctx *cx, const char *path, const subject *s)
{
    cr_read_options o;
    cr_stream      *stream = NULL;
    cr_model       *m = NULL;
    setting_list    list;
    split_settings(s->settings, &list);
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    assert_ok(cx, cr_stream_open(cx, path, &o, LEAF, &stream));
    assert_ok(cx, cr_fit_stream(cx, s->model, stream, list.list, list.n, &m));
    test_own(cx, m, release_model);
    cr_stream_free(cx, stream);
    cr_options_free(cx, cr_read_table, &o);
    return m;
}

TEST(a_stream_is_a_fit)
{
    const char *path = data_file();
    cr_table   *t = rows_of(cx, read_table(cx, path), 0, N, LEAF);
    for (size_t k = 0; k < SUBJECTS; k++)
        check_same(cx, &subjects[k], "stream", fit(cx, subjects[k].model, t, subjects[k].settings),
                   fit_blocks(cx, path, &subjects[k]));
}

/* Statistics so wide that they are gathered another way: the leaves alone decide here too. */
TEST(wide_statistics)
{
    enum { WIDE = 600 };
    static const subject wide[] = { { "ridge", "target=y lambda=0.5" } };
    text_buffer          b = text_new(N * (WIDE + 1) * 8);
    cr_rng               r = cr_rng_stream(4, 6);
    for (size_t j = 1; j <= WIDE; j++) text_put(&b, "x%zu,", j);
    text_put(&b, "y\n");
    for (size_t i = 0; i < N * (WIDE + 1); i++)
        text_put(&b, "%.3f%c", cr_rng_normal(&r), i % (WIDE + 1) == WIDE ? '\n' : ',');
    const char *path = test_file("wide.csv", b.at, b.used);
    cr_table   *t = read_table(cx, path), *leaves = rows_of(cx, t, 0, N, LEAF);
    free(b.at);
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++) {
        const subject *s = &wide[k];
        cr_model      *all = fit(cx, s->model, leaves, s->settings), *m = NULL;
        assert_true(all->forest.n > 1);
        check_same(cx, s, "stream", all, fit_blocks(cx, path, s));
        cr_model *first = fit(cx, s->model, rows_of(cx, t, 0, 10 * LEAF, LEAF), s->settings);
        assert_ok(cx, cr_update(cx, first, rows_of(cx, t, 10 * LEAF, N, LEAF), &m));
        test_own(cx, m, release_model);
        check_same(cx, s, "fit with an update", all, m);
        cr_ctx_set_threads(cx, 3);
        check_same(cx, s, "fit on more threads", all, fit(cx, s->model, leaves, s->settings));
        cr_ctx_set_threads(cx, 1);
    }
}

/* --- file ------------------------------------------------------------------------------------- */

static cr_model *reload(cr_ctx *cx, const cr_model *m)
{
    char     *bytes = NULL;
    size_t    size = 0;
    cr_model *back = NULL;
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "m.cred", bytes, size, &back));
    test_own(cx, back, release_model);
    cr_free(cx, bytes, size, 1);
    return back;
}

/* The rows of the last leaf weigh nothing: the model is that of the others, and can be loaded. */
TEST(a_leaf_without_weight)
{
    static const subject weighted[] = { { "ridge", "target=y features=a weights=w lambda=0.3" },
                                        { "linear", "target=y features=a weights=w" },
                                        { "bayes-linear", "target=y features=a weights=w" },
                                        { "normal", "features=a weights=w" },
                                        { "mvn", "features=a,y weights=w" },
                                        { "lda", "target=g features=a weights=w" },
                                        { "naive-bayes", "target=g features=a weights=w" } };
    text_buffer          b = text_new(1 << 12);
    cr_rng               r = cr_rng_stream(3, 3);
    text_put(&b, "a,g,y,w\n");
    for (int i = 0; i < 24; i++)
        text_put(&b, "%.17g,%s,%.17g,%d\n", cr_rng_normal(&r), i % 2 ? "u" : "v", cr_rng_normal(&r),
                 i < 16);
    cr_table *all = table_of_text(cx, "w.csv", b.at), *t = rows_of(cx, all, 0, 24, 8);
    for (size_t k = 0; k < sizeof weighted / sizeof *weighted; k++) {
        const subject *s = &weighted[k];
        cr_model      *m = fit(cx, s->model, t, s->settings);
        assert_int_equal(m->forest.n, 2);
        check_same(cx, s, "model that was saved", m, reload(cx, m));
    }
    free(b.at);
}

TEST(the_trees_are_in_the_file)
{
    cr_table *t = read_table(cx, data_file());
    for (size_t k = 0; k < SUBJECTS; k++)
        for (size_t end = LEAF; end <= 4 * LEAF; end += LEAF) { /* 1, 1, 2 and 1 trees */
            const subject *s = &subjects[k];
            cr_model      *m = fit(cx, s->model, rows_of(cx, t, 0, end, LEAF), s->settings);
            assert_int_equal(m->forest.n, end == 3 * LEAF ? 2 : 0);
            assert_int_equal(m->level, end == 4 * LEAF ? 2 : end == 2 * LEAF ? 1 : 0);
            check_same(cx, s, "model that was saved", m, reload(cx, m));
        }
}

/* The file of a model with this done to its JSON is refused with this sentence. */
static void check_refused(cr_ctx *cx, const cr_model *m, void (*spoil)(json_t *trees),
                          const char *sentence)
{
    char      *bytes = NULL, *broken = NULL;
    size_t     size = 0, broken_size = 0;
    cri_store *store = NULL;
    cr_model  *none = NULL;
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_ok(cx, cri_store_from_bytes(cx, "m.cred", bytes, size, &store));
    spoil(json_object_get(cri_store_json(store), "trees"));
    assert_ok(cx, cri_store_to_bytes(cx, store, &broken, &broken_size));
    assert_fails_with(cx, cr_model_from_bytes(cx, "m.cred", broken, broken_size, &none), CR_EDATA,
                      sentence);
    cri_store_free(cx, store);
    cr_free(cx, bytes, size, 1);
    cr_free(cx, broken, broken_size, 1);
}

static void same_levels(json_t *trees)
{
    json_object_set_new(json_array_get(trees, 1), "level", json_integer(1));
}

static void high_level(json_t *trees)
{
    json_object_set_new(json_array_get(trees, 0), "level", json_integer(64));
}

static void no_sums(json_t *trees) { json_object_del(json_array_get(trees, 1), "sums"); }
static void no_tree(json_t *trees) { json_array_set_new(trees, 1, json_integer(3)); }

static void other_size(json_t *trees)
{
    json_object_set_new(json_object_get(json_array_get(trees, 1), "sums"), "n", json_integer(1));
}

static void negative(json_t *trees)
{
    json_object_set_new(json_object_get(json_array_get(trees, 1), "sums"), "weight", json_real(-1));
}

TEST(broken_trees_are_refused)
{
    cr_table *t = rows_of(cx, read_table(cx, data_file()), 0, 3 * LEAF, LEAF);
    cr_model *normal = fit(cx, "normal", t, "features=a,b missing=drop");
    cr_model *ridge = fit(cx, "ridge", t, "target=y features=a,b missing=drop");
    check_refused(cx, normal, same_levels, "the trees of its statistics are not in order");
    check_refused(cx, normal, high_level, "the trees of its statistics are not in order");
    check_refused(cx, normal, no_sums, "sums");
    check_refused(cx, normal, no_tree, "level");
    check_refused(cx, normal, other_size, "the array 'stats' is a 2 x 3 matrix");
    check_refused(cx, ridge, negative, "weight");
}

/* --- allocations ------------------------------------------------------------------------------ */

typedef struct attempt {
    const subject *subject;
    cr_table      *first, *rest;
} attempt;

static cr_status fit_and_update(cr_ctx *cx, void *arg)
{
    const attempt *a = arg;
    cr_model      *m = NULL, *next = NULL;
    cr_status      st = try_fit(cx, a->subject->model, a->first, a->subject->settings, &m);
    if (st == CR_OK) st = cr_update(cx, m, a->rest, &next);
    (cr_model_free)(cx, m);
    (cr_model_free)(cx, next);
    return st;
}

TEST(allocations)
{
    cr_table *t = read_table(cx, data_file());
    attempt   a = { NULL, rows_of(cx, t, 0, 3 * LEAF, LEAF), rows_of(cx, t, 3 * LEAF, N, LEAF) };
    for (size_t k = 0; k < SUBJECTS; k++) {
        a.subject = &subjects[k];
        test_every_allocation_fails(fit_and_update, &a);
    }
}
