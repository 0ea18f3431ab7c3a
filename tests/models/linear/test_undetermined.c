/* test_undetermined.c -- rows of which the rows of the fit do not determine the mean: those outside the span of the
 * latter (with the 1 of an intercept), by Gram-Schmidt in long double. */
#include "../fixture.h"

enum { N = 24, P = 6, NEW = 40 };

/* Three free columns; x4 = x1 - 2 x2, x5 = 0, x6 = 3. */
static void draw_dependent(uint64_t seed, size_t n, double *X, double *y)
{
    cr_rng r = cr_rng_stream(seed, 5);
    for (size_t i = 0; i < n; i++) {
        double *x = X + i * P;
        for (size_t j = 0; j < 3; j++) x[j] = 2 + 5 * cr_rng_normal(&r);
        x[3] = x[0] - 2 * x[1], x[4] = 0, x[5] = 3;
        y[i] = 20 + x[0] - x[2] + cr_rng_normal(&r);
    }
}

/* Rows that break each relation in turn, and rows that break none. */
static void draw_new(size_t n, double *X, double *y)
{
    draw_dependent(99, n, X, y);
    for (size_t i = 0; i < n; i++)
        if (i % 4 > 0) X[i * P + 2 + i % 4] += i % 8 < 4 ? 1 : -0.01;
}

/* How far z [q] is from the span of rows Z [n x q], over |z|. */
static long double distance(const long double *Z, size_t n, size_t q, const long double *z)
{
    long double basis[P + 1][P + 1], rest[P + 1], size = 0, left = 0;
    size_t      rank = 0;
    for (size_t i = 0; i <= n && rank <= q; i++) {
        long double before = 0, after = 0;
        memcpy(rest, i < n ? Z + i * q : z, q * sizeof *rest);
        for (size_t j = 0; j < q; j++) before += rest[j] * rest[j];
        for (size_t turn = 0; turn < 2; turn++)
            for (size_t k = 0; k < rank; k++) {
                long double dot = 0;
                for (size_t j = 0; j < q; j++) dot += rest[j] * basis[k][j];
                for (size_t j = 0; j < q; j++) rest[j] -= dot * basis[k][j];
            }
        for (size_t j = 0; j < q; j++) after += rest[j] * rest[j];
        size = before, left = after;
        if (i == n || !(after > 1e-20L * before)) continue;
        for (size_t j = 0; j < q; j++) basis[rank][j] = rest[j] / sqrtl(after);
        rank++;
    }
    return sqrtl(left / size);
}

static void check_rows(cr_ctx *cx, const cr_model *m, bool intercept)
{
    static double X[N * P], y[N], V[NEW * P], v[NEW];
    long double   Z[N * (P + 1)], z[P + 1];
    size_t        q = P + intercept, beyond = 0;
    draw_dependent(1, N, X, y);
    draw_new(NEW, V, v);
    for (size_t i = 0; i < N; i++) {
        Z[i * q] = 1;
        for (size_t j = 0; j < P; j++) Z[i * q + intercept + j] = X[i * P + j];
    }
    warnings heard = { 0 };
    cr_ctx_set_log(cx, keep_warning, &heard);
    cr_prediction p = predict(cx, m, make_table(cx, V, NEW, P, NULL, NULL));
    cr_ctx_set_log(cx, NULL, NULL);
    for (size_t i = 0; i < NEW; i++) {
        double sd, lower, upper;
        z[0] = 1;
        for (size_t j = 0; j < P; j++) z[intercept + j] = V[i * P + j];
        bool open = distance(Z, N, q, z) > 1e-9L;
        beyond += open;
        assert_ok(cx, cr_prediction_interval(cx, &p, i, 0.95, &sd, &lower, &upper));
        if (!isfinite(sd) != open || !isfinite(lower) != open || !isfinite(upper) != open)
            fail_msg("row %zu: %s, but its sd is %g", i, open ? "open" : "determined", sd);
        assert_true(isfinite(p.mean[i]));
    }
    assert_int_equal(beyond, intercept ? 30 : 20); /* x6 takes the place of the intercept */
    assert_non_null(strstr(heard.text, "do not determine"));
    assert_non_null(strstr(heard.text, intercept ? "30 of 40 rows" : "20 of 40 rows"));
    assert_int_equal(heard.n, 1);
    heard = (warnings){ { 0 }, 0 };
    cr_ctx_set_log(cx, keep_warning, &heard);
    p = predict(cx, m, make_table(cx, X, N, P, NULL, NULL));
    cr_ctx_set_log(cx, NULL, NULL);
    assert_int_equal(heard.n, 0); /* the rows of the fit */
    assert_null(p.undetermined);
}

TEST(rows_beyond_the_span)
{
    static const struct {
        const char *model, *settings;
        bool        intercept;
    } cases[] = { { "linear", "target=y", true },
                  { "linear", "target=y solver=gram", true },
                  { "linear", "target=y intercept=false", false },
                  { "linear", "target=y errors=hc3", true },
                  { "linear", "target=y scale=standard scale_target=standard", true },
                  { "glm", "target=y", true },
                  { "glm", "target=y intercept=false", false },
                  { "glm", "target=y family=gamma link=log", true },
                  { "robust", "target=y", true },
                  { "robust", "target=y method=lad", true },
                  { "robust", "target=y method=huber intercept=false", false } };
    static double X[N * P], y[N];
    draw_dependent(1, N, X, y);
    for (size_t i = 0; i < N; i++) y[i] = y[i] > 0.5 ? y[i] : 0.5;
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        check_rows(cx, fit(cx, cases[k].model, t, cases[k].settings), cases[k].intercept);
}

/* What is kept survives a file, and an update that fills the gap ends it. */
TEST(saved_and_updated)
{
    static double X[N * P], y[N], V[NEW * P], v[NEW];
    const char   *path = test_file("undetermined.cred", "", 0);
    cr_model     *m, *back = NULL, *more = NULL;
    draw_dependent(1, N, X, y);
    draw_new(NEW, V, v);
    m = fit(cx, "linear", make_table(cx, X, N, P, y, NULL), "target=y");
    assert_ok(cx, cr_model_save(cx, m, path));
    assert_ok(cx, cr_model_load(cx, path, &back));
    test_own(cx, back, release_model);
    check_rows(cx, back, true);
    assert_ok(cx, cr_update(cx, back, make_table(cx, V, NEW, P, v, NULL), &more));
    test_own(cx, more, release_model);
    assert_null(predict(cx, more, make_table(cx, V, NEW, P, NULL, NULL)).undetermined);
    m = fit(cx, "linear", make_table(cx, X, N / 2, P, y, NULL), "target=y");
    assert_ok(cx,
              cr_update(cx, m, make_table(cx, X + N / 2 * P, N / 2, P, y + N / 2, NULL), &more));
    test_own(cx, more, release_model);
    check_rows(cx, more, true);
}

/* A month, a combination and, where rows are dropped, a level that no row of the fit has. */
TEST(levels_without_rows)
{
    static const char *const texts[] = {
        "d,y\n2020-01-05,1\n2020-02-05,2\n2020-01-15,1.1\n2020-02-11,2.3\n2020-01-25,1.2\n",
        "g,h,y\na,u,1\na,v,2\nb,u,3\nb,v,4.5\nc,u,5\nc,u,5.2\na,v,2.1\n",
        "g,x,y\na,1,1\nb,2,2.1\na,3,2.8\nb,4,4\nc,,5\na,5,5.2\n",
    };
    static const char *const settings[] = { "target=y terms=month(d)", "target=y terms=g*h",
                                            "target=y missing=drop" };
    static const char *const rows[] = { "d\n2024-01-15\n2024-07-31\n", "g,h\na,u\nc,v\n",
                                        "g,x\na,1\nc,2\n" };
    static const char *const named[] = { "'month(d)=Jul'", "'g=c:h=v'", "'g=c'" };
    static const char *const models[] = { "linear", "glm", "robust" };
    for (size_t k = 0; k < 9; k++) {
        warnings  heard = { 0 };
        cr_model *m =
            fit(cx, models[k / 3], table_of_text(cx, "fit.csv", texts[k % 3]), settings[k % 3]);
        cr_ctx_set_log(cx, keep_warning, &heard);
        cr_prediction p = predict(cx, m, table_of_text(cx, "new.csv", rows[k % 3]));
        cr_ctx_set_log(cx, NULL, NULL);
        assert_non_null(p.undetermined);
        assert_true(p.undetermined[0] == 0 && p.undetermined[1] == 1);
        assert_non_null(strstr(heard.text, named[k % 3]));
        assert_non_null(strstr(heard.text, "new.csv:3"));
    }
}
