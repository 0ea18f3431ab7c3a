/* test_fit_stream.c -- a file in blocks gives the model that it gives as a whole, for every model
 * that can take blocks; the others refuse before they read. */
#include "fixture.h"

#include "data/table/subset.h"
#include "models/core/fit_stream.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 200 };

/* Numbers a, b; a category g that changes along the file, so that the first block lacks a level; a
 * 0/1 column h; a count k; a target y of numbers.  In the last rows, `gaps` of them, only y is
 * there. */
static const char *write_file(int gaps)
{
    static char text[32768];
    cr_rng      r = cr_rng_stream(5, 5);
    size_t      used = (size_t)snprintf(text, sizeof text, "a,b,g,h,k,y\n");
    for (int i = 0; i < N; i++) {
        double a = cr_rng_normal(&r), b = 3 + cr_rng_uniform(&r);
        if (i >= N - gaps) {
            used += (size_t)snprintf(text + used, sizeof text - used, ",,,,,%d\n", i);
            continue;
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "%.17g,%.17g,%s,%d,%d,%.17g\n", a,
                                 b, i < N / 2 ? (i % 2 ? "u" : "v") : (i % 3 ? "w" : "u"),
                                 i % 3 == 1, i % 5, 2 * a - b + cr_rng_normal(&r) / 4);
    }
    return test_file("blocks.csv", text, used);
}

/* Settings that suit a class, or NULL where it takes no blocks. */
static const char *settings_for(const cr_model_class *c)
{
    const char *name = cr_class_name(c);
    if (!cr_class_offers(c, "update")) return NULL;
    if (cr_class_tasks(c) & CR_TASK_REGRESSION) return "target=y features=a,b,g";
    if (cr_class_tasks(c) & CR_TASK_CLASSIFICATION) return "target=g features=a,b";
    if (strcmp(name, "beta-bernoulli") == 0) return "features=h";
    if (strcmp(name, "dirichlet-categorical") == 0) return "features=g";
    if (strcmp(name, "poisson") == 0) return "features=k";
    return strcmp(name, "exponential") == 0 || strcmp(name, "uniform") == 0 ? "features=b"
                                                                            : "features=a,b";
}

static cr_status fit_blocks(cr_ctx *cx, const char *path, const char *name, const char *settings,
                            size_t rows, cr_model **out)
{
    cr_read_options o;
    cr_stream      *stream = NULL;
    setting_list    s;
    split_settings(settings, &s);
    cr_status st = cr_options_init(cx, cr_read_table, &o);
    if (st == CR_OK) st = cr_stream_open(cx, path, &o, rows, &stream);
    if (st == CR_OK) st = cr_fit_stream(cx, name, stream, s.list, s.n, out);
    cr_stream_free(cx, stream);
    cr_options_free(cx, cr_read_table, &o);
    return st;
}

/* Rows [begin, end) of the file with a weight of 0, as a column w. */
static const char *write_weights(int begin, int end)
{
    static char text[32768];
    cr_rng      r = cr_rng_stream(9, 5);
    size_t      used = (size_t)snprintf(text, sizeof text, "a,b,g,h,k,y,w\n");
    for (int i = 0; i < N; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%.17g,%.17g,%c,%d,%d,%.17g,%d\n",
                             cr_rng_normal(&r), 3 + cr_rng_uniform(&r), "uvw"[i % 3], i % 4 == 1,
                             i % 5, cr_rng_normal(&r), i < begin || i >= end ? 1 + i % 2 : 0);
    return test_file("weights.csv", text, used);
}

/* The same of the first `rows` rows of t. */
static void check_same(cr_ctx *cx, const char *name, const cr_model *a, const cr_model *b,
                       const cr_table *t, size_t rows)
{
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    for (size_t i = 0; i < rows; i++) {
        if (p.mean) assert_close(p.mean[i], q.mean[i], 1e-10);
        if (p.scale) assert_close(p.scale[i], q.scale[i], 1e-10);
        if (p.log_density) assert_close(p.log_density[i], q.log_density[i], 1e-10);
        for (size_t k = 0; p.prob && k < p.n_classes; k++)
            assert_close(p.prob[i * p.n_classes + k], q.prob[i * p.n_classes + k], 1e-10);
    }
    const cr_report *ra = cr_model_get_report(a), *rb = cr_model_get_report(b);
    if (ra->rows != rb->rows) fail_msg("%s: %zu rows, not %zu", name, ra->rows, rb->rows);
    if (!isnan(ra->log_evidence)) assert_close(ra->log_evidence, rb->log_evidence, 1e-10);
}

TEST(blocks_are_the_whole)
{
    const char *path = write_file(0);
    cr_table   *t = read_table(cx, path);
    size_t      checked = 0;
    for (size_t i = 0; i < cr_class_count(); i++) {
        const char  *name = cr_class_name(cr_class_at(i)), *settings = settings_for(cr_class_at(i));
        const size_t sizes[] = { 17, 64, 1000 };
        if (!settings || !cr_class_offers(cr_class_at(i), "relearn")) continue;
        cr_model *whole = fit(cx, name, t, settings);
        for (size_t k = 0; k < 3; k++) {
            cr_model *m = NULL;
            cr_status st = fit_blocks(cx, path, name, settings, sizes[k], &m);
            if (st == CR_EUNSUPPORTED) break; /* an update that is not that of a fit */
            assert_ok(cx, st);
            check_same(cx, name, whole, m, t, cr_table_rows(t));
            cr_model_free(cx, m);
            checked++;
        }
    }
    assert_true(checked >= 20);
}

/* The end of the stream is the end of the fit, though its last blocks have no row to learn from. */
TEST(last_blocks_without_rows)
{
    const char *path = write_file(50);
    cr_table   *t = read_table(cx, path);
    size_t      checked = 0;
    for (size_t i = 0; i < cr_class_count(); i++) {
        const char  *name = cr_class_name(cr_class_at(i)), *usual = settings_for(cr_class_at(i));
        const size_t sizes[] = { 25, 50, 150 };
        char         settings[200];
        if (!usual || !cr_class_offers(cr_class_at(i), "relearn")) continue;
        snprintf(settings, sizeof settings, "%s missing=drop", usual);
        cr_model *whole = fit(cx, name, t, settings);
        for (size_t k = 0; k < 3; k++) {
            cr_model *m = NULL;
            cr_status st = fit_blocks(cx, path, name, settings, sizes[k], &m);
            if (st == CR_EUNSUPPORTED) break;
            assert_ok(cx, st);
            assert_int_equal(cr_model_get_report(m)->rows, N - 50);
            check_same(cx, name, whole, m, t, N - 50);
            cr_model_free(cx, m);
            checked++;
        }
    }
    assert_true(checked >= 20);
}

/* Blocks in which no row has any weight: in the middle, at the end, and first of all. */
TEST(blocks_without_weight)
{
    static const int zero[3][2] = { { 50, 100 }, { 150, N }, { 0, 50 } };
    size_t           checked = 0;
    for (size_t k = 0; k < 3; k++) {
        const char *path = write_weights(zero[k][0], zero[k][1]);
        cr_table   *t = read_table(cx, path);
        for (size_t i = 0; i < cr_class_count(); i++) {
            const char *name = cr_class_name(cr_class_at(i)), *usual = settings_for(cr_class_at(i));
            char        settings[200];
            cr_model   *m = NULL;
            if (!usual || !cr_class_offers(cr_class_at(i), "relearn")) continue;
            snprintf(settings, sizeof settings, "%s weights=w", usual);
            cr_status st = fit_blocks(cx, path, name, settings, 50, &m);
            if (st == CR_EUNSUPPORTED) continue;
            assert_ok(cx, st);
            check_same(cx, name, fit(cx, name, t, settings), m, t, N);
            cr_model_free(cx, m);
            checked++;
        }
    }
    assert_true(checked >= 40);
}

/* Where no block has any, the end of the stream says so. */
TEST(no_weight_at_all)
{
    const char *path = write_weights(0, N);
    cr_model   *m = NULL;
    assert_fails_with(cx, fit_blocks(cx, path, "normal", "features=a weights=w", 50, &m), CR_EDATA,
                      "the weights 'w' are all zero");
    assert_fails_with(
        cx, fit_blocks(cx, path, "lda", "target=g features=a class-weights=u=0,v=0,w=0", 50, &m),
        CR_EARG, "gives every row a weight of 0");
    assert_null(m);
}

/* Squares of one block may vanish beside those of the others. */
TEST(tiny_numbers_in_one_block)
{
    const char *const names[] = { "lda", "qda", "fisher" };
    static char       text[8192];
    cr_rng            r = cr_rng_stream(4, 1);
    size_t            used = (size_t)snprintf(text, sizeof text, "a,g\n");
    for (int i = 0; i < 100; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%.17g,%c\n",
                                 cr_rng_normal(&r) * (i / 20 == 3 ? 1e-160 : 1), "uv"[i % 2]);
    const char *path = test_file("tiny.csv", text, used);
    cr_table   *t = read_table(cx, path);
    for (size_t k = 0; k < 3; k++) {
        cr_model *m = NULL;
        assert_ok(cx, fit_blocks(cx, path, names[k], "target=g", 20, &m));
        check_same(cx, names[k], fit(cx, names[k], t, "target=g"), m, t, 100);
        cr_model_free(cx, m);
    }
}

/* Numbers other than 0 and 1 that come late make all above 0 successes, as they do in a fit. */
TEST(late_numbers_of_a_yes_or_no_column)
{
    const char  text[] = "h\n0\n1\n0\n1\n1\n0\n3\n-1\n0\n";
    const char *path = test_file("late.csv", text, strlen(text));
    cr_table   *t = read_table(cx, path);
    cr_model   *whole = fit(cx, "beta-bernoulli", t, "features=h"), *m = NULL;
    assert_ok(cx, fit_blocks(cx, path, "beta-bernoulli", "features=h", 3, &m));
    assert_true(json_equal(json_object_get(describe(cx, m), "parameters"),
                           json_object_get(describe(cx, whole), "parameters")));
    check_same(cx, "beta-bernoulli", whole, m, t, 9);
    cr_model_free(cx, m);
    m = NULL;
    assert_fails_with(cx, fit_blocks(cx, path, "beta-bernoulli", "features=h success=1", 3, &m),
                      CR_EDATA, "'h' is 3, but beta-bernoulli needs 0 or 1");
    assert_null(m);
}

/* --- passes over all blocks ------------------------------------------------------------------ */

enum { ROWS = 3000 };

/* Columns a, b, weights w and a class g of K; sorted: the last class only at the end. */
static const char *write_classes(size_t K, bool sorted)
{
    static char text[ROWS * 80];
    cr_rng      r = cr_rng_stream(11, K);
    size_t      used = (size_t)snprintf(text, sizeof text, "a,b,w,g\n");
    for (int i = 0; i < ROWS; i++) {
        double a = 3 + 2 * cr_rng_normal(&r), b = cr_rng_normal(&r), score = a - 3 - b;
        double u = score + log(1 / cr_rng_uniform(&r) - 1); /* logistic noise */
        size_t k = K == 2 ? u > 0 : u > 1 ? 2 : u > -1;
        if (sorted && i < ROWS / 2 && k == K - 1) k = 0;
        used += (size_t)snprintf(text + used, sizeof text - used, "%.17g,%.17g,%d,c%zu\n", a, b,
                                 1 + i % 2, k);
    }
    return test_file("classes.csv", text, used);
}

/* The fit of all rows. */
TEST(passes)
{
    static const char *const settings[] = { "target=g", "target=g weights=w lambda=0.002",
                                            "target=g intercept=false scale=none" };
    for (size_t K = 2; K <= 3; K++) {
        const char *path = write_classes(K, false);
        cr_table   *t = read_table(cx, path);
        for (size_t i = K - 2; i < (K == 2 ? 3 : 2); i++) {
            char      text[200];
            cr_model *whole = fit(cx, "logistic", t, settings[i]), *m = NULL;
            snprintf(text, sizeof text, "%s solver=sgd", settings[i]);
            assert_ok(cx, fit_blocks(cx, path, "logistic", text, 500, &m));
            json_t *a = describe(cx, m), *b = describe(cx, whole);
            json_t *u = json_object_get(a, "parameters"), *v = json_object_get(b, "parameters");
            for (size_t j = 0; j < json_array_size(v); j++) {
                const json_t *x = json_array_get(u, j), *y = json_array_get(v, j);
                double        gap = fabs(number_of(x, "value") - number_of(y, "value"));
                assert_true(gap < 1e-5 * number_of(y, "sd"));
                assert_close(number_of(x, "sd"), number_of(y, "sd"), 1e-5);
            }
            assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
            assert_int_equal(cr_model_get_report(m)->rows, ROWS);
            assert_relative(cr_model_get_report(m)->log_likelihood,
                            cr_model_get_report(whole)->log_likelihood, 1e-9);
            if (i != 1) assert_relative(statistic(a, "aic"), statistic(b, "aic"), 1e-10);
            cr_model_free(cx, m);
        }
    }
}

/* Rows of p columns and two classes; returns the path. */
static const char *write_logistic(size_t n, size_t p)
{
    char  *text = malloc(n * (p * 12 + 4) + 200);
    cr_rng r = cr_rng_stream(23, p);
    size_t used = 0;
    for (size_t j = 0; j < p; j++) used += (size_t)sprintf(text + used, "x%zu,", j + 1);
    used += (size_t)sprintf(text + used, "g\n");
    for (size_t i = 0; i < n; i++) {
        double score = 0.4;
        for (size_t j = 0; j < p; j++) {
            double x = cr_rng_normal(&r);
            score += (j % 2 ? -1.2 : 0.9) / (1 + (double)j / 4) * x;
            used += (size_t)sprintf(text + used, "%.6f,", x);
        }
        used += (size_t)sprintf(text + used, "%c\n",
                                cr_rng_uniform(&r) < 1 / (1 + exp(-score)) ? 'b' : 'a');
    }
    const char *path = test_file("logistic.csv", text, used);
    free(text);
    return path;
}

/* Blocks of any size, and every method: those that must have the rows at hand give way to others. */
TEST(passes_by_each_method)
{
    static const char *const solvers[] = {
        "auto", "newton", "newton-cg", "lbfgs", "gradient", "sgd"
    };
    const char *path = write_logistic(2000, 3);
    cr_table   *t = read_table(cx, path);
    json_t     *b = describe(cx, fit(cx, "logistic", t, "target=g"));
    for (size_t i = 0; i < 6; i++) {
        cr_model *m = NULL;
        char      settings[100];
        snprintf(settings, sizeof settings, "target=g solver=%s", solvers[i]);
        assert_ok(cx, fit_blocks(cx, path, "logistic", settings, i % 2 ? 100 : 1000, &m));
        json_t *a = describe(cx, m);
        for (size_t j = 0; j <= 3; j++) {
            const json_t *x = json_array_get(json_object_get(a, "parameters"), j);
            const json_t *y = json_array_get(json_object_get(b, "parameters"), j);
            double        sd = number_of(y, "sd");
            assert_close(number_of(x, "value"), number_of(y, "value"), 1e-3 * sd);
            assert_close(number_of(x, "sd"), sd, 1e-4);
        }
        cr_model_free(cx, m);
    }
}

/* More coefficients than a Hessian is taken of: by gradients alone. */
TEST(passes_of_many)
{
    enum { MANY = 2100, FEW_ROWS = 60 };
    const char *path = write_logistic(FEW_ROWS, MANY);
    cr_table   *t = read_table(cx, path);
    cr_model   *whole = fit(cx, "logistic", t, "target=g lambda=0.8 scale=none"), *m = NULL;
    assert_ok(
        cx, fit_blocks(cx, path, "logistic", "target=g solver=sgd lambda=0.8 scale=none", 30, &m));
    json_t *a = describe(cx, m);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(a, "statistics"), "solver")), "lbfgs");
    cr_prediction p = predict(cx, m, t), q = predict(cx, whole, t);
    for (size_t i = 0; i < FEW_ROWS * 2; i++) assert_close(p.prob[i], q.prob[i], 1e-4);
    cr_model_free(cx, m);
}

/* Rows in the order of a column, which does not vary at all in the first block: a penalty falls on the
 * terms as all rows standardise them. */
TEST(penalties_of_unlike_blocks)
{
    static const char *const penalties[] = { "lambda=0.05", "lambda=0.05 penalty=l1",
                                             "lambda=0.05 penalty=elastic l1_ratio=0.4",
                                             "lambda=0.01 solver=lbfgs weights=w" };
    cr_rng                   r = cr_rng_stream(8, 2);
    text_buffer              text = text_new(1 << 15);
    text_put(&text, "a,b,w,g\n");
    for (size_t i = 0; i < 600; i++) {
        double a = i < 200 ? 3 : 3 + 0.05 * (double)(i - 200), b = 100 * cr_rng_normal(&r);
        double eta = 0.2 * (a - 9) + 0.01 * b;
        text_put(&text, "%.4f,%.4f,%zu,%s\n", a, b, 1 + i % 3,
                 cr_rng_uniform(&r) < 1 / (1 + exp(-eta)) ? "yes" : "no");
    }
    const char *path = test_file("sorted.csv", text.at, strlen(text.at));
    cr_table   *t = read_table(cx, path);
    free(text.at);
    for (size_t k = 0; k < 4; k++) {
        char      settings[200];
        cr_model *m = NULL;
        snprintf(settings, sizeof settings, "target=g features=a,b %s", penalties[k]);
        json_t *want =
            json_object_get(describe(cx, fit(cx, "logistic", t, settings)), "parameters");
        assert_ok(cx, fit_blocks(cx, path, "logistic", settings, 150, &m));
        json_t *have = json_object_get(describe(cx, m), "parameters");
        for (size_t j = 0; j < 3; j++)
            assert_close(number_of(json_array_get(have, j), "value"),
                         number_of(json_array_get(want, j), "value"), 1e-5);
        cr_model_free(cx, m);
    }
}

/* Classes that a column separates, which no block shows by itself: of each there is but one. */
TEST(separation_in_a_stream)
{
    static const char *const kinds[] = { "none", "perfect", "quasi-complete" };
    for (size_t kind = 0; kind < 3; kind++) {
        cr_model   *m = NULL;
        text_buffer text = text_new(1 << 12);
        text_put(&text, "a,g\n");
        for (size_t i = 0; i < 120; i++) { /* the second half is yes; blocks of 60 have one class */
            double a = (double)(i % 60) + (i < 60 ? 0 : kind == 1 ? 61 : kind == 2 ? 59 : 30);
            text_put(&text, "%g,%s\n", a, i < 60 ? "no" : "yes");
        }
        const char *path = test_file("apart.csv", text.at, strlen(text.at));
        free(text.at);
        assert_ok(cx, fit_blocks(cx, path, "logistic", "target=g", 60, &m));
        json_t *said = json_object_get(describe(cx, m), "statistics");
        assert_string_equal(json_string_value(json_object_get(said, "separation")), kinds[kind]);
        if (kind)
            assert_string_equal(json_string_value(json_object_get(said, "separated_by")), "a");
        cr_model_free(cx, m);
    }
}

/* Three classes in the order of their rows: blocks of any size say what all rows say together, whatever is
 * known by the first of them. */
TEST(separation_of_classes_in_order)
{
    static const size_t blocks[] = { 5, 10, 20, 30, 40, 50, 60, 100, 150 };
    const char         *path = "examples/iris.csv";
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        cr_model *m = NULL;
        warnings  heard = { 0 };
        cr_ctx_set_log(cx, keep_warning, &heard);
        assert_ok(cx, fit_blocks(cx, path, "logistic", "target=species", blocks[b], &m));
        cr_ctx_set_log(cx, NULL, NULL);
        json_t     *said = json_object_get(describe(cx, m), "statistics");
        const char *kind = json_string_value(json_object_get(said, "separation"));
        if (strcmp(kind, "quasi-complete") != 0 || !strstr(heard.text, "diverging"))
            fail_msg("blocks of %zu: %s, %s", blocks[b], kind, heard.text);
        assert_true(cr_model_get_report(m)->stop == CR_STOP_LIMIT);
        cr_model_free(cx, m);
    }
}

/* The last block may have no row to learn from. */
TEST(passes_end_without_rows)
{
    const char *path = write_logistic(240, 3), *settings = "target=g missing=drop";
    cr_model   *a = NULL, *b = NULL;
    assert_ok(cx, fit_blocks(cx, path, "logistic", settings, 120, &a));
    FILE *f = fopen(path, "a");
    for (size_t i = 0; i < 120; i++) fputs(",,,a\n", f);
    fclose(f);
    assert_ok(cx, fit_blocks(cx, path, "logistic", settings, 120, &b));
    assert_int_equal(cr_model_get_report(b)->rows, 240);
    assert_true(json_equal(json_object_get(describe(cx, a), "parameters"),
                           json_object_get(describe(cx, b), "parameters")));
    cr_model_free(cx, a);
    cr_model_free(cx, b);
}

/* The mean of -log P(class) over a table. */
static double log_loss(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    double       *y = calloc(2 * cr_table_rows(t), sizeof *y), sum = 0;
    cr_prediction p = predict(cx, m, t);
    assert_ok(cx, cr_observed(cx, m, t, y, y + p.n));
    for (size_t i = 0; i < p.n; i++)
        sum -= log(p.prob[i * p.n_classes + (size_t)y[i]]) / (double)p.n;
    free(y);
    return sum;
}

/* The rows after the first block were learned from. */
TEST(passes_learn)
{
    const char *path = write_classes(2, false);
    cr_table   *t = read_table(cx, path), *first = NULL;
    size_t      rows[200];
    cr_model   *m = NULL;
    for (size_t i = 0; i < 200; i++) rows[i] = i;
    assert_ok(cx, cri_table_subset(cx, t, rows, 200, &first));
    cr_model *whole = fit(cx, "logistic", t, "target=g"),
             *start = fit(cx, "logistic", first, "target=g");
    assert_ok(cx, fit_blocks(cx, path, "logistic", "target=g solver=sgd", 200, &m));
    double least = log_loss(cx, whole, t);
    assert_true(log_loss(cx, m, t) - least < 0.1 * (log_loss(cx, start, t) - least));
    cr_model_free(cx, m);
    cr_table_free(cx, first);
}

/* The same bits again, with any number of threads. */
TEST(passes_again)
{
    const char *path = write_classes(3, false);
    cr_table   *t = read_table(cx, path);
    cr_model   *a = NULL, *b = NULL;
    assert_ok(cx, fit_blocks(cx, path, "logistic", "target=g solver=sgd", 500, &a));
    cr_ctx_set_threads(cx, 3);
    assert_ok(cx, fit_blocks(cx, path, "logistic", "target=g solver=sgd", 500, &b));
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    for (size_t i = 0; i < p.n * p.n_classes; i++) assert_true(p.prob[i] == q.prob[i]);
    cr_model_free(cx, a);
    cr_model_free(cx, b);
}

/* A file that is one block is fitted by what was asked for, as without a stream. */
TEST(a_stream_of_one_block)
{
    const char *path = write_classes(2, false);
    cr_table   *t = read_table(cx, path);
    cr_model   *a = NULL, *b = fit(cx, "logistic", t, "target=g solver=sgd max-iter=3");
    assert_ok(cx, fit_blocks(cx, path, "logistic", "target=g solver=sgd max-iter=3", ROWS, &a));
    json_t *x = describe(cx, a), *y = describe(cx, b);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(x, "statistics"), "solver")), "sgd");
    assert_true(json_equal(json_object_get(x, "parameters"), json_object_get(y, "parameters")));
    cr_model_free(cx, a);
}

/* A class that the first block lacks is one like the others. */
TEST(classes_that_come_late)
{
    const char *path = write_classes(3, true);
    cr_table   *t = read_table(cx, path);
    cr_model   *whole = fit(cx, "logistic", t, "target=g"), *m = NULL;
    assert_ok(cx, fit_blocks(cx, path, "logistic", "target=g", 500, &m));
    cr_prediction p = predict(cx, m, t), q = predict(cx, whole, t);
    for (size_t i = 0; i < p.n * p.n_classes; i++) assert_close(p.prob[i], q.prob[i], 1e-6);
    cr_model_free(cx, m);
    m = NULL;
    assert_fails_with(cx, fit_blocks(cx, path, "probit", "target=g", 500, &m), CR_EUNSUPPORTED,
                      "no exact update");
    assert_null(m);
}

static cr_status one_pass(cr_ctx *cx, void *path)
{
    cr_model *m = NULL;
    cr_ctx_set_threads(cx, 1);
    cr_status st =
        fit_blocks(cx, path, "logistic", "target=h features=a solver=sgd max-iter=2", 150, &m);
    cr_model_free(cx, m);
    return st;
}

TEST(refusals)
{
    const char *path = write_file(0);
    cr_model   *m = NULL;
    assert_fails_with(cx, fit_blocks(cx, path, "robust", "target=y features=a", 50, &m),
                      CR_EUNSUPPORTED, "no exact update");
    assert_fails_with(cx, fit_blocks(cx, path, "gp", "target=y features=a", 50, &m),
                      CR_EUNSUPPORTED, "hyper-parameters are learned from all rows");
    assert_fails_with(cx,
                      fit_blocks(cx, path, "ridge", "target=y features=a missing=impute", 50, &m),
                      CR_EARG, "all rows at once");
    assert_fails_with(cx, fit_blocks(cx, path, "ridge", "target=y terms=a:bspline(a,5)", 50, &m),
                      CR_EARG, "--terms a:bspline(a,5) needs all rows at once");
    assert_fails_with(cx,
                      fit_blocks(cx, path, "linear", "target=y transform-target=boxcox", 50, &m),
                      CR_EARG, "--transform-target boxcox needs all rows at once");
    assert_ok(cx, fit_blocks(cx, path, "ridge", "target=y terms=poly(a,2)", 50, &m));
    cr_model_free(cx, m);
    m = NULL;
    assert_fails_with(cx, fit_blocks(cx, path, "ridge", "target=nix", 50, &m), CR_EDATA, "nix");
    assert_fails_with(cx, fit_blocks(cx, path, "ridgy", "target=y", 50, &m), CR_EARG, "ridgy");
    assert_null(m);
}

/* --- what is said of a block, and what of all ------------------------------------------------ */

typedef struct heard {
    char   text[8192];
    size_t n;
} heard;

static void hear(void *user, cr_log_level level, const char *text)
{
    heard *h = user;
    size_t used = strlen(h->text);
    if (level != CR_LOG_WARNING) return;
    h->n++;
    snprintf(h->text + used, sizeof h->text - used, "%s\n", text);
}

/* Column c is constant in the first 60 rows, d is 2 a throughout; h separates g in the first
 * ones. */
static const char *write_blocks(void)
{
    static char text[32768];
    cr_rng      r = cr_rng_stream(6, 5);
    size_t      used = (size_t)snprintf(text, sizeof text, "a,c,d,h,g,y\n");
    for (int i = 0; i < N; i++) {
        double a = cr_rng_normal(&r), c = i < 60 ? 1 : cr_rng_normal(&r);
        int    g = i < 60 ? a > 0 : cr_rng_uniform(&r) < 0.5;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%.17g,%.17g,%.17g,%d,%s,%.17g\n", a,
                             c, 2 * a, i % 3 == 1, g ? "yes" : "no", a + c + cr_rng_normal(&r) / 4);
    }
    return test_file("warned.csv", text, used);
}

/* Warnings are those of all rows: none that only the first block gives, and not one for each. */
TEST(warnings_are_of_all_rows)
{
    const char *path = write_blocks();
    heard       h = { 0 };
    cr_model   *m = NULL;
    cr_ctx_set_log(cx, hear, &h);
    assert_ok(cx, fit_blocks(cx, path, "linear", "target=y features=a,c", 50, &m));
    assert_string_equal(h.text, "");
    cr_model_free(cx, m);
    assert_ok(cx, fit_blocks(cx, path, "linear", "target=y features=a,c,d", 50, &m));
    assert_int_equal(h.n, 1);
    assert_non_null(strstr(h.text, "linear combination"));
    assert_null(strstr(h.text, "'c'"));
    cr_model_free(cx, m);
    h = (heard){ 0 };
    assert_ok(cx, fit_blocks(cx, path, "logistic", "target=g features=a solver=sgd", 50, &m));
    assert_null(strstr(h.text, "separated"));
    cr_model_free(cx, m);
}

/* Fewer rows than terms in the first block; one block alone; a solver that the user names. */
TEST(ridge_of_few_rows)
{
    const char       *path = write_blocks();
    cr_table         *t = read_table(cx, path);
    cr_model         *whole = fit(cx, "ridge", t, "target=y features=a,c,d,h"), *m = NULL;
    const char *const settings[] = { "target=y features=a,c,d,h",
                                     "target=y features=a,c,d,h solver=auto" };
    for (size_t i = 0; i < 4; i++) {
        assert_ok(cx, fit_blocks(cx, path, "ridge", settings[i % 2], i < 2 ? 3 : 1, &m));
        check_same(cx, "ridge", whole, m, t, cr_table_rows(t));
        cr_model_free(cx, m);
    }
    assert_fails_with(cx, fit_blocks(cx, path, "ridge", "target=y features=a,c solver=dual", 3, &m),
                      CR_EUNSUPPORTED, "in the dual");
}

/* Probabilities are calibrated by all rows or not at all. */
TEST(calibration)
{
    const char *path = write_blocks();
    cr_table   *t = read_table(cx, path);
    heard       h = { 0 };
    cr_model   *m = NULL, *next = NULL;
    assert_fails_with(cx,
                      fit_blocks(cx, path, "lda", "target=g features=a,c calibrate=platt", 90, &m),
                      CR_EARG, "--calibrate platt needs all rows at once");
    assert_fails_with(
        cx, fit_blocks(cx, path, "lda", "target=g features=a class_weights=balanced", 90, &m),
        CR_EARG, "--class-weights balanced needs all rows at once");
    assert_ok(cx, fit_blocks(cx, path, "lda", "target=g features=a,c calibrate=none", 90, &m));
    cr_model_free(cx, m);
    m = fit(cx, "lda", t, "target=g features=a,c calibrate=platt");
    cr_ctx_set_log(cx, hear, &h);
    assert_ok(cx, cr_update(cx, m, t, &next));
    assert_int_equal(h.n, 1);
    assert_non_null(strstr(h.text, "calibration was learned from the rows of the fit"));
    cr_model_free(cx, next);
}

static cr_status all_of_it(cr_ctx *cx, void *path)
{
    cr_model *m = NULL;
    cr_ctx_set_threads(cx, 1);
    cr_status st = fit_blocks(cx, path, "ridge", "target=y features=a,g", 90, &m);
    cr_model_free(cx, m);
    return st;
}

TEST(allocations)
{
    static char path[512];
    snprintf(path, sizeof path, "%s", write_file(0));
    test_every_allocation_fails(all_of_it, path);
    test_every_allocation_fails(one_pass, path);
}

/* Classes in any order: sorted by class, one class in the first blocks, single rows.  As text,
 * whose levels are known beforehand, and as numbers, whose values are not. */
static const char *write_orders(bool numbers, unsigned order)
{
    static char text[1 << 16];
    cr_rng      r = cr_rng_stream(11, 3);
    size_t      used = (size_t)snprintf(text, sizeof text, "x,z,n,c\n");
    for (int i = 0; i < N; i++) {
        int k = order == 0   ? 3 - i * 4 / N
                : order == 1 ? (i < 31 ? 2 : i % 4)
                : i == N - 2 ? 0
                             : 1 + i % 3;
        used += (size_t)snprintf(text + used, sizeof text - used, "%.17g,%.17g,%d,%s%d\n",
                                 k + cr_rng_normal(&r), 2 * k * cr_rng_normal(&r) + 1e3,
                                 (i * i + k) % 5, numbers ? "" : "c", (7 * k) % 16);
    }
    return test_file("orders.csv", text, used);
}

TEST(classes_join)
{
    static const char *const names[] = { "lda", "qda", "naive-bayes", "naive-bayes",
                                         "naive-bayes" };
    static const char *const settings[] = {
        "target=c features=x,z shrinkage=0.1", "target=c features=x,z shrinkage=0.1", "target=c",
        "target=c numbers=kernel,n=multinomial",
        "target=c numbers=bernoulli:1,n=poisson predictive=bayes"
    };
    const size_t blocks[] = { 1, 30, N - 1, N };
    for (unsigned order = 0; order < 6; order++) {
        const char *path = write_orders(order & 1, order / 2);
        cr_table   *t = read_table(cx, path);
        for (size_t m = 0; m < 5; m++) {
            if (order / 2 == 2 && m == 1) continue; /* a covariance of one row */
            cr_model *whole = fit(cx, names[m], t, settings[m]);
            for (size_t b = 0; b < 4; b++) {
                cr_model *parts = NULL;
                assert_ok(cx, fit_blocks(cx, path, names[m], settings[m], blocks[b], &parts));
                const cr_design *d = cr_model_get_design(parts), *e = cr_model_get_design(whole);
                assert_int_equal(cr_design_classes(d), cr_design_classes(e));
                for (size_t k = 0; k < cr_design_classes(d); k++)
                    assert_string_equal(cr_design_class(d, k), cr_design_class(e, k));
                check_same(cx, names[m], parts, whole, t, cr_table_rows(t));
                assert_close(cr_model_get_report(parts)->log_likelihood,
                             cr_model_get_report(whole)->log_likelihood, 1e-9);
                cr_model_free(cx, parts);
            }
        }
    }
}

/* A model that was saved learns of a class that it has never seen; one class is still too few. */
TEST(classes_join_later)
{
    static const char *const names[] = { "lda", "qda", "naive-bayes" };
    cr_table                *one = table_of_text(cx, "one.csv", "x,c\n1,b\n2,b\n4,d\n5.5,d\n");
    cr_table *two = table_of_text(cx, "two.csv", "x,c\n7,a\n9,a\n8,c\n8.5,c\n1.5,b\n");
    cr_table *all =
        table_of_text(cx, "all.csv", "x,c\n1,b\n2,b\n4,d\n5.5,d\n7,a\n9,a\n8,c\n8.5,c\n1.5,b\n");
    for (size_t m = 0; m < 3; m++) {
        cr_model *a = fit(cx, names[m], one, "target=c"), *b = fit(cx, names[m], all, "target=c"),
                 *c = NULL;
        assert_ok(cx, cr_update(cx, a, two, &c));
        check_same(cx, names[m], c, b, all, cr_table_rows(all));
        cr_model_free(cx, c);
    }
    cr_table_free(cx, one), cr_table_free(cx, two), cr_table_free(cx, all);
    const char *path = test_file("single.csv", "x,c\n1,u\n2,u\n3,u\n", 16);
    cr_model   *m = NULL;
    assert_fails_with(cx, fit_blocks(cx, path, "lda", "target=c", 2, &m), CR_EDATA,
                      "only one class");
    assert_fails_with(cx, fit_blocks(cx, path, "lda", "target=c calibrate=platt", 2, &m), CR_EARG,
                      "--calibrate platt needs all rows at once");
}

/* A pipe, whose levels are those of its first block: the classes may come later all the same. */
TEST(classes_join_in_a_pipe)
{
    const char     *path = write_orders(false, 0);
    cr_table       *t = read_table(cx, path);
    cr_setting      settings[] = { { "target", "c" }, { "features", "x,z" } };
    cr_model       *whole = fit(cx, "lda", t, "target=c features=x,z"), *m = NULL;
    cr_read_options o;
    cr_stream      *stream = NULL;
    char            fifo[512];
    snprintf(fifo, sizeof fifo, "%s.fifo", path);
    unlink(fifo);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        FILE *from = fopen(path, "r"), *to = fopen(fifo, "w");
        int   c;
        while (from && to && (c = fgetc(from)) != EOF) fputc(c, to);
        if (to) fclose(to);
        _exit(0);
    }
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    assert_ok(cx, cr_stream_open(cx, fifo, &o, 30, &stream));
    assert_ok(cx, cr_fit_stream(cx, "lda", stream, settings, 2, &m));
    check_same(cx, "lda", m, whole, t, cr_table_rows(t));
    waitpid(child, NULL, 0);
    cr_stream_free(cx, stream);
    cr_options_free(cx, cr_read_table, &o);
    cr_model_free(cx, m), cr_model_free(cx, whole);
    cr_table_free(cx, t);
    unlink(fifo);
}

static cr_status join_in_blocks(cr_ctx *cx, void *path)
{
    cr_model *m = NULL;
    cr_status st = fit_blocks(cx, path, "naive-bayes", "target=c numbers=kernel", 60, &m);
    cr_model_free(cx, m);
    if (st != CR_OK) return st;
    m = NULL;
    st = fit_blocks(cx, path, "qda", "target=c features=x,z", 60, &m);
    cr_model_free(cx, m);
    return st;
}

TEST(join_allocations)
{
    test_every_allocation_fails(join_in_blocks, (void *)(uintptr_t)write_orders(true, 0));
}

/* A column that is constant in the first blocks only is not named; one that is throughout is,
 * once. */
TEST(constants_of_the_whole_stream)
{
    static char text[4096];
    warnings    said;
    size_t      used = (size_t)snprintf(text, sizeof text, "a,late,never,y\n");
    for (int i = 0; i < 60; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d,%d,7,%d\n", i * i % 17,
                                 i < 40 ? 3 : i % 5, i % 13);
    const char  *path = test_file("constant.csv", text, used);
    const size_t blocks[] = { 1, 20, 59 };
    cr_ctx_set_log(cx, keep_warning, &said);
    for (size_t b = 0; b < 3; b++) {
        cr_model *m = NULL;
        memset(&said, 0, sizeof said);
        assert_ok(cx, fit_blocks(cx, path, "linear", "target=y", blocks[b], &m));
        assert_int_equal(said.n, 1);
        assert_non_null(strstr(said.text, "'never' is constant"));
        cr_model_free(cx, m);
    }
}
