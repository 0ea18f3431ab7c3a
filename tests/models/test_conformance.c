/* test_conformance.c -- the laws that every model keeps, over the registry and every line of
 * tests/cli/options: the same bits on any number of threads and after saving, damage that is refused,
 * order of the rows, weights as repetitions, updates and streams as fits, columns that cannot be used.
 * What a law cannot hold for is listed beside it with the reason. */
#include "fixture.h"
#include "data/table/subset.h"
#include "models/core/fit_stream.h"

#include <stdarg.h>

enum { MOST_LINE = 512 };

/* A model with the options of one line. */
typedef struct subject {
    const cr_model_class *class;
    const char *model;
    char        line[MOST_LINE], settings[MOST_LINE];
    const char *data;  /* path of the rows */
    size_t      block; /* of a stream; 0: none */
} subject;

static size_t broken; /* laws, in the test at hand: all of them are shown before it fails */

static void break_law(const char *format, ...) CR_PRINTF(1, 2);
static void break_law(const char *format, ...)
{
    char    text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    print_error("%s\n", text);
    broken++;
}

/* --- the subjects ----------------------------------------------------------------------------- */

static void add_setting(subject *s, const char *name, const char *value)
{
    char  *end = s->settings + strlen(s->settings);
    size_t room = (size_t)(s->settings + sizeof s->settings - end);
    int    n = snprintf(end, room, "%s%s=%s", *s->settings ? " " : "", name, value);
    assert_true(n > 0 && (size_t)n < room);
    for (char *c = end; *c && *c != '='; c++)
        if (*c == '-') *c = '_';
}

/* "--lambda 2 --no-intercept --gradient" as settings; what is for the program alone is kept aside. */
static void read_line(subject *s)
{
    char text[MOST_LINE], *rest = NULL, *word, *next;
    bool target = false;
    snprintf(text, sizeof text, "%s", s->line);
    for (word = strtok_r(text, " ", &rest); word; word = next) {
        next = strtok_r(NULL, " ", &rest);
        assert_memory_equal(word, "--", 2);
        bool flag = !next || strncmp(next, "--", 2) == 0, off = strncmp(word, "--no-", 5) == 0;
        const char *name = word + 2, *value = flag ? "true" : next;
        if (strcmp(name, "no-target") == 0)
            target = true;
        else if (strcmp(name, "stream") == 0)
            s->block = s->block ? s->block : 7;
        else if (strcmp(name, "block") == 0)
            s->block = (size_t)atoi(value);
        else
            add_setting(s, off ? name + 3 : name,
                        off                           ? "false"
                        : strcmp(value, "d.csv") == 0 ? s->data
                                                      : value);
        target |= strcmp(name, "target") == 0;
        if (!flag) next = strtok_r(NULL, " ", &rest);
    }
    if (!target) add_setting(s, "target", "y");
}

static void for_each(cr_ctx *cx, void (*law)(cr_ctx *cx, const subject *s))
{
    char data[1024];
    broken = 0;
    snprintf(data, sizeof data, "%s", test_data("golden/d.csv"));
    for (size_t i = 0; i < cr_class_count(); i++) {
        subject s = { .class = cr_class_at(i),
                      .model = cr_class_name(cr_class_at(i)),
                      .data = data };
        char    path[256];
        snprintf(path, sizeof path, "tests/cli/options/%s.txt", s.model);
        FILE *f = fopen(path, "r");
        if (!f) fail_msg("%s is not there: each model has one", path);
        while (fgets(s.line, sizeof s.line, f)) {
            s.line[strcspn(s.line, "\n")] = '\0';
            if (!*s.line) continue;
            s.settings[0] = '\0';
            s.block = 0;
            read_line(&s);
            law(cx, &s);
        }
        fclose(f);
    }
    assert_int_equal(broken, 0);
}

static bool has(const subject *s, const char *words) { return strstr(s->line, words) != NULL; }

/* true for a model of the list, or one with an option of it: "tree", "lasso", "--folds". */
static bool is_among(const subject *s, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(*list, s->model) == 0 || (**list == '-' && has(s, *list))) return true;
    return false;
}

/* --- fits and what they say ------------------------------------------------------------------- */

static cr_status fit_blocks(cr_ctx *cx, const subject *s, size_t block, cr_model **out)
{
    cr_status       st = CR_OK;
    cr_read_options o;
    cr_stream      *stream = NULL;
    setting_list    list;
    split_settings(s->settings, &list);
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    CR_TRY(cr_stream_open(cx, s->data, &o, block, &stream));
    CR_TRY(cr_fit_stream(cx, s->model, stream, list.list, list.n, out));
done:
    cr_stream_free(cx, stream);
    cr_options_free(cx, cr_read_table, &o);
    return st;
}

static cr_model *fit_rows(cr_ctx *cx, const subject *s, const cr_table *t, const char *more)
{
    char      settings[2 * MOST_LINE];
    cr_model *m = NULL;
    snprintf(settings, sizeof settings, "%s%s", s->settings, more);
    cr_status st = try_fit(cx, s->model, t, settings, &m);
    if (st != CR_OK) fail_msg("%s %s%s: %s", s->model, s->line, more, cr_error(cx));
    test_own(cx, m, release_model);
    return m;
}

static cr_model *fit_subject(cr_ctx *cx, const subject *s)
{
    cr_model *m = NULL;
    if (!s->block) return fit_rows(cx, s, read_table(cx, s->data), "");
    if (fit_blocks(cx, s, s->block, &m) != CR_OK)
        fail_msg("%s %s: %s", s->model, s->line, cr_error(cx));
    test_own(cx, m, release_model);
    return m;
}

static void compare_arrays(const subject *s, const char *law, const char *what, const double *a,
                           const double *b, size_t n, double tolerance)
{
    if (!a || !b) return;
    double unit = 1;
    for (size_t i = 0; i < n; i++)
        if (isfinite(a[i])) unit = fmax(unit, fabs(a[i]));
    for (size_t i = 0; i < n; i++) {
        if (a[i] == b[i] || (isnan(a[i]) && isnan(b[i]))) continue;
        if (!(fabs(a[i] - b[i]) <= tolerance * unit))
            return break_law("%s: %s %s: %s of row %zu is %.17g, and %.17g", law, s->model, s->line,
                             what, i, a[i], b[i]);
    }
}

/* Both say the same of the rows. */
static void compare_answers(cr_ctx *cx, const subject *s, const char *law, const cr_model *a,
                            const cr_model *b, const cr_table *t, double tolerance)
{
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    compare_arrays(s, law, "the mean", p.mean, q.mean, p.n, tolerance);
    compare_arrays(s, law, "the scale", p.scale, q.scale, p.n, tolerance);
    compare_arrays(s, law, "a probability", p.prob, q.prob, p.n * p.n_classes, tolerance);
    compare_arrays(s, law, "the density", p.log_density, q.log_density, p.n, tolerance);
    compare_arrays(s, law, "a parameter", p.params, q.params, p.n * p.n_params, tolerance);
}

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

/* --- laws ------------------------------------------------------------------------------------- */

/* As the rows of the file, but so many that they are cut into blocks. */
static cr_table *many_rows(cr_ctx *cx)
{
    enum { ROWS = 600, WIDTH = 48 };
    static char text[ROWS * WIDTH];
    cr_rng      r = cr_rng_stream(5, 1);
    size_t      used = (size_t)snprintf(text, sizeof text, "w,g,x,z,y\n");
    for (size_t i = 0; i < ROWS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%zu,%c,%zu,%zu,%zu\n", 1 + i % 3,
                                 "uvw"[i % 3], cr_rng_below(&r, 100), cr_rng_below(&r, 100),
                                 cr_rng_below(&r, 100));
    return table_of_text(cx, "many.csv", text);
}

static void threads_change_nothing(cr_ctx *cx, const subject *s)
{
    static const char *const exceptions[] = { /* tests of their own: so many rows take long */
                                              "gp",           "gp-classify", "gp-online",
                                              "kernel-ridge", "kernel-pca",  NULL
    };
    static const size_t threads[] = { 1, 7 };
    saved               made[2];
    if (s->block || is_among(s, exceptions)) return;
    cr_table *t = many_rows(cx);
    for (size_t k = 0; k < 2; k++) {
        cr_ctx_set_threads(cx, threads[k]);
        made[k] = save(cx, fit_rows(cx, s, t, ""));
    }
    if (made[0].size != made[1].size || memcmp(made[0].bytes, made[1].bytes, made[0].size) != 0)
        break_law("%s %s: another model on %zu threads", s->model, s->line, threads[1]);
    discard(cx, made[0]);
    discard(cx, made[1]);
    cr_ctx_set_threads(cx, 0);
}

TEST(the_same_on_any_number_of_threads) { for_each(cx, threads_change_nothing); }

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

static void file_is_model(cr_ctx *cx, const subject *s)
{
    cr_model *m = fit_subject(cx, s), *back = NULL;
    saved     f = save(cx, m);
    assert_ok(cx, cr_model_from_bytes(cx, "saved", f.bytes, f.size, &back));
    test_own(cx, back, release_model);
    saved again = save(cx, back);
    assert_int_equal(again.size, f.size);
    assert_memory_equal(again.bytes, f.bytes, f.size);
    compare_answers(cx, s, "loaded", m, back, read_table(cx, s->data), 0);
    check_damage(cx, f);
    discard(cx, again);
    discard(cx, f);
}

TEST(loaded_as_it_was_saved_or_refused) { for_each(cx, file_is_model); }

/* The rows of the table in another order, which is not cyclic. */
static cr_table *shuffled(cr_ctx *cx, const cr_table *t)
{
    size_t    n = cr_table_rows(t), *rows = malloc(n * sizeof *rows);
    cr_table *part = NULL;
    for (size_t i = 0; i < n; i++) rows[i] = i * 17 % n;
    assert_ok(cx, cri_table_subset(cx, t, rows, n, &part));
    test_own(cx, part, release_table);
    free(rows);
    return part;
}

static void order_does_not_matter(cr_ctx *cx, const subject *s)
{
    static const char *const exceptions[] = {
        "gp-online",                /* learns as the rows come                                */
        "--approx svgp",            /* draws batches of rows                                  */
        "--approx nystrom",         /* chooses landmarks among the rows                       */
        "--inducing-inputs",        /* stops a search half-way, where rounding is magnified    */
        "--kernel weighted_degree", /* a target without noise: rounding chooses how little     */
        NULL
    };
    if (s->block || is_among(s, exceptions)) return;
    cr_table *t = read_table(cx, s->data);
    compare_answers(cx, s, "order", fit_rows(cx, s, t, ""), fit_rows(cx, s, shuffled(cx, t), ""), t,
                    1e-6);
}

TEST(rows_in_any_order) { for_each(cx, order_does_not_matter); }

/* Each row as often as its weight w says, which is 1, 2 or 3. */
static cr_table *repeated(cr_ctx *cx, const cr_table *t)
{
    size_t           n = cr_table_rows(t), *rows = malloc(3 * n * sizeof *rows), m = 0;
    const cr_column *w = cr_table_find(t, "w");
    cr_table        *part = NULL;
    for (size_t i = 0; i < n; i++)
        for (double k = 0; k < w->values[i * w->stride]; k++) rows[m++] = i;
    assert_ok(cx, cri_table_subset(cx, t, rows, m, &part));
    test_own(cx, part, release_table);
    free(rows);
    return part;
}

static void weights_are_repetitions(cr_ctx *cx, const subject *s)
{
    static const char *const exceptions[] = { "--noise-column", NULL };
    if (s->block || has(s, "w ") || has(s, ",w") || has(s, "--weights") || is_among(s, exceptions))
        return;
    cr_table *t = read_table(cx, s->data);
    compare_answers(cx, s, "weights", fit_rows(cx, s, t, " weights=w"),
                    fit_rows(cx, s, repeated(cx, t), ""), t, 1e-6);
}

TEST(weights_count_as_repetitions) { for_each(cx, weights_are_repetitions); }

static cr_table *part_of(cr_ctx *cx, const cr_table *t, size_t begin, size_t end)
{
    size_t   *rows = malloc((end - begin) * sizeof *rows);
    cr_table *part = NULL;
    for (size_t i = begin; i < end; i++) rows[i - begin] = i;
    assert_ok(cx, cri_table_subset(cx, t, rows, end - begin, &part));
    test_own(cx, part, release_table);
    free(rows);
    return part;
}

static void update_is_fit(cr_ctx *cx, const subject *s)
{
    if (s->block || !cr_class_offers(s->class, "relearn")) return;
    cr_table *t = read_table(cx, s->data);
    size_t    n = cr_table_rows(t);
    cr_model *m = NULL, *first = fit_rows(cx, s, part_of(cx, t, 0, n / 2), "");
    cr_status st = cr_update(cx, first, part_of(cx, t, n / 2, n), &m);
    if (st == CR_EUNSUPPORTED) return; /* of this solver; it has said so */
    if (st != CR_OK) fail_msg("%s %s: %s", s->model, s->line, cr_error(cx));
    test_own(cx, m, release_model);
    compare_answers(cx, s, "update", fit_rows(cx, s, t, ""), m, t, 1e-9);
}

TEST(an_update_is_a_fit_on_all_rows) { for_each(cx, update_is_fit); }

static void stream_is_fit(cr_ctx *cx, const subject *s)
{
    static const char *const exceptions[] = { "gp-online", /* learns as the rows come */ NULL };
    cr_model                *m = NULL;
    if (is_among(s, exceptions)) return;
    cr_status st = fit_blocks(cx, s, 9, &m);
    if (st == CR_EUNSUPPORTED || st == CR_EARG) {
        assert_true(strlen(cr_error(cx)) > 20);
        return;
    }
    if (st != CR_OK) fail_msg("%s %s: %s", s->model, s->line, cr_error(cx));
    test_own(cx, m, release_model);
    cr_table *t = read_table(cx, s->data);
    compare_answers(cx, s, "stream", fit_rows(cx, s, t, ""), m, t, 1e-9);
}

TEST(a_stream_is_a_fit_on_all_rows) { for_each(cx, stream_is_fit); }

/* A table without the columns, without rows, with one value for all: an answer or a sentence. */
static void columns_are_checked(cr_ctx *cx, const subject *s)
{
    cr_model *m = fit_subject(cx, s), *other = NULL;
    cr_table *none = table_of_text(cx, "none.csv", "unrelated\n1\n2\n");
    cr_table *still =
        table_of_text(cx, "still.csv", "w,g,x,z,y\n1,u,2,2,3\n1,u,2,2,3\n1,v,2,2,3\n1,v,2,2,3\n");
    cr_prediction p = { 0 };
    cr_status     st = cr_predict(cx, m, none, &p);
    if (st == CR_OK || !strstr(cr_error(cx), "none.csv"))
        break_law("%s %s: a table without its columns: %s", s->model, s->line, cr_error(cx));
    st = try_fit(cx, s->model, still, s->settings, &other);
    if (st != CR_OK) {
        assert_true(strlen(cr_error(cx)) > 20);
        return;
    }
    test_own(cx, other, release_model);
    p = predict(cx, other, still);
    for (size_t i = 0; p.mean && i < p.n; i++)
        if (isnan(p.mean[i]))
            return break_law("%s %s: a constant table gives NaN", s->model, s->line);
}

TEST(columns_that_do_not_do_are_told) { for_each(cx, columns_are_checked); }
