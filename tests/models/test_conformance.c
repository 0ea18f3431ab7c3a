/* test_conformance.c -- the laws that every model keeps (conformance.h): the same bits on any number
 * of threads and after saving, damage that is refused, columns that cannot be used.  Those of the rows are in
 * test_conformance_rows.c, failing allocations in test_conformance_memory.c. */
#include "conformance.h"

typedef struct saved {
    char  *bytes;
    size_t size;
} saved;

static saved save(cr_ctx *cx, const cr_model *m)
{
    saved f = { 0 };
    assert_ok(cx, cr_model_to_bytes(cx, m, &f.bytes, &f.size));
    return f;
}

static void discard(cr_ctx *cx, saved f) { cr_free(cx, f.bytes, f.size, 1); }

static bool is_same_file(saved a, saved b)
{
    return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

/* --- threads ---------------------------------------------------------------------------------- */

/* As the rows of the file, but so many that they are cut into blocks. */
static cr_table *many_rows(cr_ctx *cx, size_t n)
{
    text_buffer b = text_new(48 * (n + 1));
    cr_rng      r = cr_rng_stream(5, 1);
    text_put(&b, "w,g,x,z,y\n");
    for (size_t i = 0; i < n; i++) {
        size_t x = cr_rng_below(&r, 100), z = cr_rng_below(&r, 100), y = cr_rng_below(&r, 100);
        text_put(&b, "%zu,%c,%zu,%zu,%zu\n", 1 + i % 3, "uvw"[i % 3], x, z, y);
    }
    cr_table *t = table_of_text(cx, "many.csv", b.at);
    free(b.at);
    return t;
}

/* Gaussian processes and kernel matrices take time as the cube of the number of rows, averages over
 * neighbours as its square. */
static size_t rows_for_threads(const subject *s)
{
    if (strncmp(s->model, "gp", 2) == 0) return 40;
    if (strncmp(s->model, "kernel", 6) == 0) return 300;
    if (strcmp(s->model, "svm") == 0 || strcmp(s->model, "rvm") == 0) return 300;
    return strcmp(s->model, "nadaraya-watson") == 0 ? 120 : 700;
}

static void threads_change_nothing(cr_ctx *cx, const subject *s)
{
    static const size_t threads[] = { 1, 2, 7 };
    saved               first = { 0 };
    json_t             *said = NULL;
    comparison          c = { 0 };
    if (s->block) return;
    cr_table *t = many_rows(cx, rows_for_threads(s));
    for (size_t k = 0; k < 3; k++) {
        cr_ctx_set_threads(cx, threads[k]);
        cr_model *m = fit_rows(cx, s, t, "");
        saved     f = save(cx, m);
        json_t   *now = full_account_of(cx, m, t);
        if (k > 0 && !is_same_file(first, f))
            break_law(s, "another model on %zu threads", threads[k]);
        else if (k > 0 && !is_same(&c, "the account", now, said))
            break_law(s, "on %zu threads %s", threads[k], c.text);
        if (k == 0)
            first = f, said = now;
        else
            discard(cx, f);
    }
    discard(cx, first);
}

TEST(the_same_on_any_number_of_threads) { for_each(THREADS, threads_change_nothing); }

/* --- files ------------------------------------------------------------------------------------ */

/* One bit in forty places all over the file, and forty lengths. */
static void check_damage(cr_ctx *cx, saved f)
{
    enum { PLACES = 40 };
    cr_model *m = NULL;
    for (size_t k = 0; k < PLACES; k++) {
        size_t at = k * (f.size - 1) / (PLACES - 1);
        f.bytes[at] ^= (char)(1 << k % 8);
        assert_fails(cx, cr_model_from_bytes(cx, "damaged", f.bytes, f.size, &m), CR_EDATA);
        f.bytes[at] ^= (char)(1 << k % 8);
        assert_fails(cx, cr_model_from_bytes(cx, "cut", f.bytes, at, &m), CR_EDATA);
    }
}

/* What is kept for updates is in the file too. */
static void compare_updates(cr_ctx *cx, const subject *s, const cr_model *m, const cr_model *back,
                            const cr_table *t)
{
    cr_model *a = NULL, *b = NULL;
    cr_status st = cr_update(cx, m, t, &a);
    if (st != cr_update(cx, back, t, &b)) break_law(s, "the loaded model is updated otherwise");
    test_own(cx, a, release_model);
    test_own(cx, b, release_model);
    if (a && b) compare(cx, s, a, b, t, 0);
}

static void file_is_model(cr_ctx *cx, const subject *s)
{
    cr_table *t = read_table(cx, s->data);
    cr_model *m = fit_subject(cx, s), *back = NULL;
    saved     f = save(cx, m);
    assert_ok(cx, cr_model_from_bytes(cx, "saved", f.bytes, f.size, &back));
    test_own(cx, back, release_model);
    saved again = save(cx, back);
    if (!is_same_file(f, again)) break_law(s, "loaded and saved it is another file");
    compare(cx, s, m, back, t, 0);
    if (cr_class_offers(s->class, "update")) compare_updates(cx, s, m, back, t);
    check_damage(cx, f);
    discard(cx, again);
    discard(cx, f);
}

TEST(loaded_as_it_was_saved_or_refused) { for_each(FILES, file_is_model); }

/* --- columns ---------------------------------------------------------------------------------- */

/* An answer, or a sentence that is the user's to act on. */
static bool is_worded(cr_ctx *cx, const subject *s, const char *what, cr_status st)
{
    bool usual = st == CR_OK || st == CR_EARG || st == CR_EDATA || st == CR_ENUMERIC ||
                 st == CR_EUNSUPPORTED;
    if (!usual || (st != CR_OK && strlen(cr_error(cx)) <= 20))
        break_law(s, "%s: status %d: %s", what, (int)st, cr_error(cx));
    return st == CR_OK;
}

/* A fit on such rows, which may be refused, and its means, which are numbers. */
static void try_rows(cr_ctx *cx, const subject *s, const char *what, const cr_table *t)
{
    char          settings[2 * MOST_LINE];
    cr_model     *m = NULL;
    cr_prediction p = { 0 };
    snprintf(settings, sizeof settings, "%s%s", s->settings, short_search(s));
    if (!is_worded(cx, s, what, try_fit(cx, s->model, t, settings, &m))) return;
    test_own(cx, m, release_model);
    if (!cr_class_offers(s->class, "predict")) return;
    if (!is_worded(cx, s, what, cr_predict(cx, m, t, &p))) return;
    for (size_t i = 0; p.mean && i < p.n; i++)
        if (isnan(p.mean[i]) && !is_exempt(s, "mean")) {
            break_law(s, "%s: a mean is NaN", what);
            break;
        }
    cr_prediction_free(cx, &p);
}

static void columns_are_checked(cr_ctx *cx, const subject *s)
{
    static const char *const bad[][2] = {
        { "constant columns", "w,g,x,z,y\n1,u,2,2,3\n1,u,2,2,3\n1,v,2,2,3\n1,v,2,2,3\n" },
        { "one row", "w,g,x,z,y\n1,u,2,2,3\n" },
        { "huge numbers",
          "w,g,x,z,y\n1,u,1e300,-1e300,1e300\n2,v,-1e300,2,3\n3,u,1e-300,5,-1e300\n1,w,7,8,1\n" },
        { "texts", "w,g,x,z,y\na,u,few,2,no\nb,v,some,3,yes\na,u,many,2,no\nb,w,few,4,yes\n" },
        { "gaps", "w,g,x,z,y\n1,u,,,3\n2,v,,,4\n1,w,,,7\n2,u,,,1\n" },
        { "rows without a target", "w,g,x,z,y\n,,2,2,\n,,3,4,\n,,4,9,\n" },
    };
    cr_model     *m = fit_subject(cx, s), *other = NULL;
    cr_prediction p = { 0 };
    cr_table     *none = table_of_text(cx, "none.csv", "unrelated\n1\n2\n");
    cr_table     *empty = rows_between(cx, read_table(cx, s->data), 0, 0);
    cr_status     st = cr_predict(cx, m, none, &p);
    bool          predicts = cr_class_offers(s->class, "predict");
    if (st == CR_OK || (predicts && !strstr(cr_error(cx), "none.csv")))
        break_law(s, "a table without its columns: %s", cr_error(cx));
    if (try_fit(cx, s->model, none, s->settings, &other) == CR_OK || strlen(cr_error(cx)) <= 20)
        break_law(s, "a fit without its columns: %s", cr_error(cx));
    if (try_fit(cx, s->model, empty, s->settings, &other) == CR_OK || strlen(cr_error(cx)) <= 20)
        break_law(s, "a fit without rows: %s", cr_error(cx));
    if (is_worded(cx, s, "no rows", cr_predict(cx, m, empty, &p))) cr_prediction_free(cx, &p);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        try_rows(cx, s, bad[k][0], table_of_text(cx, "bad.csv", bad[k][1]));
    cr_table *texts = table_of_text(cx, "texts.csv", bad[3][1]);
    if (is_worded(cx, s, "texts to predict", cr_predict(cx, m, texts, &p)))
        cr_prediction_free(cx, &p);
}

TEST(columns_that_cannot_be_used_are_refused) { for_each(COLUMNS, columns_are_checked); }
