/* test_gp_texts.c -- kernels of texts on columns of tables: Gaussian processes against their
 * definition with pieces counted one by one, texts that only the new rows have, and every model
 * that takes kernels. */
#include "../fixture.h"

#include "data/design/design_internal.h"

enum { N = 34, T = 9, LETTERS = 14 };

typedef struct sample {
    char        text[N + T][LETTERS + 1];
    const char *texts[N + T], *label[N + T];
    double      x[N + T], y[N + T];
} sample;

/* Words over "abc" that repeat now and then; the last T rows have words that no other row has. */
static void draw(sample *s)
{
    cr_rng r = cr_rng_stream(17, 4);
    for (size_t i = 0; i < N + T; i++) {
        size_t length = 2 + (size_t)cr_rng_below(&r, LETTERS - 2);
        if (i < N && i % 5 == 4)
            strcpy(s->text[i], s->text[i - 3]);
        else {
            for (size_t c = 0; c < length; c++)
                s->text[i][c] = (char)('a' + (int)cr_rng_below(&r, 3));
            s->text[i][length] = '\0';
        }
        if (i >= N) s->text[i][0] = 'd';
        double count = 0;
        for (const char *at = s->text[i]; (at = strstr(at, "ab")); at++) count++;
        s->texts[i] = s->text[i];
        s->x[i] = 2 * cr_rng_uniform(&r);
        s->y[i] = count + sin(2 * s->x[i]) + 0.2 * cr_rng_normal(&r);
        s->label[i] = count > 0 ? "yes" : "no";
    }
}

static cr_table *table_of(cr_ctx *cx, const sample *s, size_t begin, size_t n)
{
    cr_table *t = NULL;
    assert_ok(cx, cr_table_new(cx, "words.csv", n, &t));
    test_own(cx, t, release_table);
    assert_ok(cx, cr_table_add_texts(cx, t, "word", s->texts + begin));
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, s->x + begin, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "y", CR_REAL, s->y + begin, 1));
    assert_ok(cx, cr_table_add_texts(cx, t, "label", s->label + begin));
    return t;
}

/* Pairs of pieces of k letters that are the same. */
static long double same_pieces(const char *s, const char *t, size_t k)
{
    long double n = 0;
    for (size_t i = 0; i + k <= strlen(s); i++)
        for (size_t j = 0; j + k <= strlen(t); j++) n += memcmp(s + i, t + j, k) == 0;
    return n;
}

/* 0.3 spectrum_2 + 0.8 spectrum_1 rbf(l = 0.7). */
static long double oracle(const sample *s, size_t i, size_t j)
{
    long double u = ((long double)s->x[i] - s->x[j]) / 0.7L;
    return 0.3L * same_pieces(s->text[i], s->text[j], 2) +
           0.8L * same_pieces(s->text[i], s->text[j], 1) * expl(-u * u / 2);
}

#define FIXED                                                                                      \
    "target=y features=word,x mean=zero optimize=none noise=0.11 "                                 \
    "kernel=0.3*spectrum(word;k=2)+0.8*spectrum(word;k=1)*rbf(x;l=0.7)"

TEST(definition)
{
    static sample      s;
    static long double C[N * N], B[N * (T + 1)], S[N * (T + 1)];
    draw(&s);
    cr_table *t = table_of(cx, &s, 0, N), *z = table_of(cx, &s, N, T);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) C[i * N + j] = oracle(&s, i, j) + (i == j ? 0.11L : 0);
        for (size_t q = 0; q < T; q++) B[i * (T + 1) + q] = oracle(&s, i, N + q);
        B[i * (T + 1) + T] = s.y[i];
    }
    memcpy(S, B, sizeof B);
    solve_dense(N, C, S, T + 1);
    cr_model     *m = fit(cx, "gp", t, FIXED);
    cr_prediction p = predict(cx, m, z);
    for (size_t q = 0; q < T; q++) {
        long double mean = 0, variance = oracle(&s, N + q, N + q) + 0.11L;
        for (size_t i = 0; i < N; i++) {
            mean += B[i * (T + 1) + q] * S[i * (T + 1) + T];
            variance -= B[i * (T + 1) + q] * S[i * (T + 1) + q];
        }
        assert_close(p.mean[q], (double)mean, 1e-10);
        assert_close(p.scale[q], (double)sqrtl(variance), 1e-9);
    }
    cr_table_free(cx, t);
    cr_table_free(cx, z);
}

/* A model and what became of it through a file. */
static cr_model *through_file(cr_ctx *cx, const cr_model *m)
{
    char     *bytes = NULL;
    size_t    size = 0;
    cr_model *copy = NULL;
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "copy", bytes, size, &copy));
    cr_free(cx, bytes, size, 1);
    return copy;
}

static const double *answers(const cr_prediction *p, size_t *out_n)
{
    *out_n = p->n * (p->prob ? p->n_classes : p->vector ? p->n_classes : 1);
    return p->prob ? p->prob : p->vector ? p->vector : p->mean;
}

static void assert_same_answers(cr_ctx *cx, const cr_model *a, const cr_model *b, const cr_table *z,
                                double tolerance)
{
    cr_prediction p = predict(cx, a, z), q = predict(cx, b, z);
    size_t        n, m;
    const double *x = answers(&p, &n), *y = answers(&q, &m);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++) {
        if (tolerance == 0)
            assert_memory_equal(&x[i], &y[i], sizeof *x);
        else
            assert_close(x[i], y[i], tolerance);
    }
}

static const char *const settings[][2] = {
    { "gp", "target=y features=word,x kernel=spectrum(word;k=2)+rbf(x)" },
    { "gp", "target=y features=word,x kernel=subsequence(word;k=2)*rbf(x) max_iter=5" },
    { "gp", "target=y features=word,x kernel=mismatch(word;k=2,alphabet=3) approx=vfe inducing=8" },
    { "gp", "target=y features=word,x kernel=spectrum(word;k=2)+hamming solver=cg" },
    { "gp-online", "target=y features=word,x kernel=spectrum(word;k=2)+rbf(x) inducing=10" },
    { "gp-classify", "target=label features=word kernel=spectrum(word;k=2) max_iter=10" },
    { "kernel-ridge", "target=y features=word,x kernel=spectrum(word;k=2)+rbf(x)" },
    { "kernel-pca", "features=word kernel=jaccard(word)+set" },
};

/* Rows with new texts through a file, and for any number of threads: the same bits. */
TEST(every_model)
{
    static sample s;
    draw(&s);
    cr_table *t = table_of(cx, &s, 0, N), *z = table_of(cx, &s, N, T);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        cr_ctx_set_threads(cx, 1);
        cr_model *m = fit(cx, settings[i][0], t, settings[i][1]), *copy = through_file(cx, m);
        assert_same_answers(cx, m, copy, z, 0);
        cr_ctx_set_threads(cx, 3);
        cr_model *other = fit(cx, settings[i][0], t, settings[i][1]);
        assert_same_answers(cx, m, other, z, 0);
        cr_model_free(cx, copy);
    }
    cr_table_free(cx, t);
    cr_table_free(cx, z);
}

/* Updates bring new texts, which stay known: in two steps and by way of files as in one fit. */
TEST(update)
{
    static sample s;
    draw(&s);
    size_t    part = T / 2;
    cr_table *t = table_of(cx, &s, 0, N), *u = table_of(cx, &s, N, part);
    cr_table *v = table_of(cx, &s, N + part, T - part), *all = table_of(cx, &s, 0, N + T);
    cr_model *first = fit(cx, "gp", t, FIXED), *second = NULL, *third = NULL;
    cr_model *batch = fit(cx, "gp", all, FIXED);
    assert_ok(cx, cr_update(cx, first, u, &second));
    cr_model_free(cx, first);
    cr_model *read = through_file(cx, second);
    cr_model_free(cx, second);
    assert_ok(cx, cr_update(cx, read, v, &third));
    cr_model_free(cx, read);
    cr_model *last = through_file(cx, third), *twice = NULL;
    assert_ok(cx, cr_update(cx, third, all, &twice)); /* whose texts are all known */
    assert_int_equal(cr_model_get_design(twice)->columns[0].later.n,
                     cr_model_get_design(third)->columns[0].later.n);
    cr_model_free(cx, twice);
    assert_same_answers(cx, third, batch, all, 1e-9);
    assert_same_answers(cx, last, third, all, 0);
    cr_model_free(cx, last);
    cr_model_free(cx, third);
    cr_table_free(cx, t);
    cr_table_free(cx, u);
    cr_table_free(cx, v);
    cr_table_free(cx, all);
}

/* The evidence has its maximum by lambda where the fit says. */
TEST(learned_decay)
{
    static sample s;
    draw(&s);
    cr_table *t = table_of(cx, &s, 0, N);
    cr_model *m =
        fit(cx, "gp", t, "target=y features=word hyper=best kernel=subsequence(word;k=2)");
    json_t *d = describe(cx, m);
    double  lambda = parameter(d, "subsequence.lambda", "value"),
           best = cr_model_get_report(m)->log_evidence;
    assert_true(lambda > 0.01 && lambda < 0.99);
    for (int side = -1; side <= 1; side += 2) {
        char text[200];
        snprintf(text, sizeof text,
                 "target=y features=word kernel=subsequence(word;k=2,lambda=%.17g%cfixed)",
                 lambda + 0.04 * side, ' ');
        cr_setting list[] = { { "target", "y" },
                              { "features", "word" },
                              { "hyper", "best" },
                              { "kernel", strstr(text, "subs") } };
        cr_model  *other = NULL;
        assert_ok(cx, cr_fit(cx, "gp", t, list, 4, &other));
        assert_true(cr_model_get_report(other)->log_evidence < best);
        cr_model_free(cx, other);
    }
    cr_table_free(cx, t);
}

static void assert_refused(cr_ctx *cx, const cr_table *t, const char *list, const char *sentence)
{
    cr_model *m = NULL;
    cr_status st = try_fit(cx, "gp", t, list, &m);
    if (st == CR_OK) fail_msg("%s was taken", list);
    if (!strstr(cr_error(cx), sentence)) fail_msg("%s: %s", list, cr_error(cx));
}

TEST(refusals)
{
    static sample s;
    draw(&s);
    s.texts[3] = NULL, s.texts[N + 1] = NULL;
    cr_table *gap = table_of(cx, &s, 0, N), *late = table_of(cx, &s, N, T);
    draw(&s);
    s.texts[3] = s.text[3], s.texts[N + 1] = s.text[N + 1], s.text[3][0] = '\0';
    cr_table *t = table_of(cx, &s, 0, N), *numbers = NULL;
    assert_ok(cx, cr_table_new(cx, "numbers.csv", T, &numbers));
    assert_ok(cx, cr_table_add_numbers(cx, numbers, "word", CR_REAL, s.x, 1));
    assert_ok(cx, cr_table_add_numbers(cx, numbers, "x", CR_REAL, s.x, 1));

    assert_refused(cx, gap, "target=y features=word kernel=spectrum(word)", "has no value");
    assert_refused(cx, t, "target=y kernel=spectrum", "acts on one column, but there are 2");
    assert_refused(cx, t, "target=y features=x kernel=spectrum", "there is no text column");
    assert_refused(cx, t, "target=y kernel=spectrum(x)",
                   "column 'x' contains numbers, but spectrum acts on texts");
    assert_refused(cx, t, "target=y kernel=rbf(y)",
                   "column 'y' is the target: a kernel acts on features");
    assert_refused(cx, t, "target=y kernel=rbf(word)",
                   "column 'word' contains categories, but rbf acts on numbers");
    assert_refused(cx, t, "target=y kernel=spectrum(wort)", "there is no column 'wort'");

    cr_model     *m = fit(cx, "gp", t, FIXED); /* with an empty text */
    cr_prediction p = { 0 };
    assert_fails_with(cx, cr_predict(cx, m, late, &p), CR_EDATA, "has no value");
    assert_fails_with(cx, cr_predict(cx, m, numbers, &p), CR_EDATA,
                      "was read as numbers, but the model needs text");
    cr_model_free(cx, m);
    m = fit(cx, "gp", t,
            "target=y features=word,x kernel=rbf(x)*hamming"); /* here levels are levels */
    cr_table *z = table_of(cx, &s, N, T);
    assert_fails_with(cx, cr_predict(cx, m, z, &p), CR_EDATA, "which the model has not seen");
    cr_table_free(cx, z);
    cr_table_free(cx, gap);
    cr_table_free(cx, late);
    cr_table_free(cx, t);
    cr_table_free(cx, numbers);
}

static cr_status whole_life(cr_ctx *cx, void *arg)
{
    cr_status     st = CR_OK;
    const sample *s = arg;
    cr_table     *t = NULL, *z = NULL;
    cr_model     *m = NULL, *later = NULL;
    cr_prediction p = { 0 };
    setting_list  list;
    split_settings(FIXED, &list);
    for (size_t part = 0; part < 2; part++) {
        cr_table **out = part ? &z : &t;
        size_t     n = part ? 3 : 8, from = part ? N : 0;
        CR_TRY(cr_table_new(cx, "words.csv", n, out));
        CR_TRY(cr_table_add_texts(cx, *out, "word", s->texts + from));
        CR_TRY(cr_table_add_numbers(cx, *out, "x", CR_REAL, s->x + from, 1));
        CR_TRY(cr_table_add_numbers(cx, *out, "y", CR_REAL, s->y + from, 1));
    }
    CR_TRY(cr_fit(cx, "gp", t, list.list, list.n, &m));
    CR_TRY(cr_update(cx, m, z, &later));
    CR_TRY(cr_predict(cx, m, z, &p));
done:
    cr_prediction_free(cx, &p);
    cr_model_free(cx, later);
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    cr_table_free(cx, z);
    return st;
}

TEST(allocations)
{
    static sample s;
    draw(&s);
    test_every_allocation_fails(whole_life, &s);
}
