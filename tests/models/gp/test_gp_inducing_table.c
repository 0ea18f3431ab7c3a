/* test_gp_inducing_table.c -- given inducing inputs and the gradient that is kept: files, memory, threads,
 * saved models. */
#include "../fixture.h"
#include "models/core/parts.h"

enum { N = 60, M = 5 };

static const char *const TEXTS[] = { "abab", "ba", "abba", "b", "aab" };

/* x a number, c a category, t a text, y the target. */
static cr_table *draw(cr_ctx *cx)
{
    double      x[N], y[N];
    const char *c[N], *t[N];
    cr_rng      r = cr_rng_stream(31, 0);
    cr_table   *table = NULL;
    for (size_t i = 0; i < N; i++) {
        x[i] = 4 * cr_rng_uniform(&r);
        c[i] = i % 3 ? "p" : "q";
        t[i] = TEXTS[i % 5];
        y[i] = sin(2 * x[i]) + (i % 3 ? 0 : 1) + 0.1 * cr_rng_normal(&r);
    }
    assert_ok(cx, cr_table_new(cx, "data.csv", N, &table));
    assert_ok(cx, cr_table_add_numbers(cx, table, "x", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_numbers(cx, table, "y", CR_REAL, y, 1));
    assert_ok(cx, cr_table_add_texts(cx, table, "c", c));
    assert_ok(cx, cr_table_add_texts(cx, table, "t", t));
    return table;
}

static const char *write_inputs(const char *name, const char *text)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", test_directory(), name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

static const char *settings_of(const char *more, const char *path)
{
    static char text[5000];
    snprintf(text, sizeof text,
             "target=y optimize=none noise=0.01 gradient=true %s "
             "inducing_inputs=%s",
             more, path);
    return text;
}

static void assert_same(const cr_inducing *a, const cr_inducing *b)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->Z, b->Z, a->n * a->terms * sizeof(double));
    assert_memory_equal(a->mean, b->mean, a->n * sizeof(double));
    assert_memory_equal(a->covariance, b->covariance, a->n * a->n * sizeof(double));
}

/* The same bits from one thread and four, and after saving and loading. */
TEST(same_bits)
{
    cr_table   *t = draw(cx);
    const char *path = write_inputs("z.csv", "c,x\np,0.5\nq,1\np,2\nq,3\np,3.5\n");
    const char *all = settings_of("features=x,c approx=vfe kernel=rbf(x;l=0.7)*hamming(c)", path);
    char        file[4096], *said[2] = { NULL, NULL };
    cr_inducing it[3];
    cr_model   *m[3];

    for (size_t k = 0; k < 2; k++) {
        cr_ctx_set_threads(cx, k ? 4 : 1);
        m[k] = fit(cx, "gp", t, all);
        assert_ok(cx, cr_model_inducing(cx, m[k], &it[k]));
        assert_ok(cx, cr_describe(cx, m[k], &said[k]));
    }
    assert_string_equal(said[0], said[1]);
    assert_non_null(strstr(said[0], "\"gradient\""));
    snprintf(file, sizeof file, "%s/m.cred", test_directory());
    assert_ok(cx, cr_model_save(cx, m[0], file));
    cr_free(cx, said[1], strlen(said[1]) + 1, 1);
    assert_ok(cx, cr_model_load(cx, file, &m[2]));
    remove(path); /* a model does not need it any more */
    assert_ok(cx, cr_describe(cx, m[2], &said[1]));
    assert_string_equal(said[0], said[1]);
    assert_ok(cx, cr_model_inducing(cx, m[2], &it[2]));
    assert_int_equal(it[0].n, M);
    assert_int_equal(it[0].terms, 2);
    assert_true(it[0].Z[0] == 0.5 && it[0].Z[1] == 0 && it[0].Z[2] == 1 && it[0].Z[3] == 1);
    assert_true(!it[0].text[0] && strcmp(it[0].text[1], "p") == 0);
    assert_true(!it[0].text[2] && strcmp(it[0].text[3], "q") == 0);
    assert_same(&it[0], &it[1]);
    assert_same(&it[0], &it[2]);
    for (size_t k = 0; k < 3; k++) cr_inducing_free(cx, &it[k]);
    for (size_t k = 0; k < 2; k++) cr_free(cx, said[k], strlen(said[k]) + 1, 1);
    cr_model_free(cx, m[2]);
    cr_table_free(cx, t);
}

TEST(texts)
{
    cr_table   *t = draw(cx);
    cr_model   *m = NULL;
    const char *path = write_inputs("t.csv", "t\nba\nabab\n");
    cr_inducing it;
    m = fit(cx, "gp", t, settings_of("features=t approx=dtc kernel=spectrum(t;k=1)", path));
    assert_ok(cx, cr_model_inducing(cx, m, &it));
    assert_int_equal(it.n, 2);
    cr_inducing_free(cx, &it);
    path = write_inputs("t.csv", "t\nba\nbbbbbb\n");
    assert_fails_with(
        cx,
        try_fit(cx, "gp", t, settings_of("features=t approx=dtc kernel=spectrum(t;k=1)", path), &m),
        CR_EDATA, "the text 'bbbbbb', which no row has");
    path = write_inputs("c.csv", "c,x\np,1\nr,2\n");
    assert_fails_with(cx, try_fit(cx, "gp", t, settings_of("features=x,c approx=vfe", path), &m),
                      CR_EDATA, "'r'");
    cr_table_free(cx, t);
}

typedef struct asked {
    const cr_table *t;
    const char     *settings;
} asked;

static cr_status ask(cr_ctx *cx, void *arg)
{
    cr_status    st = CR_OK;
    const asked *a = arg;
    cr_model    *m = NULL;
    cr_inducing  it = { 0 };
    CR_TRY(try_fit(cx, "gp", a->t, a->settings, &m));
    CR_TRY(cr_model_inducing(cx, m, &it));
done:
    cr_inducing_free(cx, &it);
    cr_model_free(cx, m);
    return st;
}

TEST(allocations)
{
    double      X[] = { 0, 1, 1, 2, 3.5, 4 }, y[] = { 1, 2, 2.5, 3, 1, 0 };
    cr_table   *t = make_table(cx, X, 6, 1, y, NULL);
    const char *path = write_inputs("a.csv", "x1\n0\n2\n");
    test_every_allocation_fails(ask, &(asked){ t, settings_of("approx=vfe", path) });
}
