/* test_gp_fisher.c -- Fisher kernels of saved models: the same as with their numbers written out,
 * in the units of any design, and what has none. */
#include "../fixture.h"

#include <locale.h>

enum { N = 24 };

static const char *save(cr_ctx *cx, const char *model, const cr_table *t, const char *settings)
{
    static char path[4096];
    cr_model   *m = fit(cx, model, t, settings);
    snprintf(path, sizeof path, "%s/%s.cred", test_directory(), model);
    assert_ok(cx, cr_model_save(cx, m, path));
    return path;
}

/* x and z numbers, n counts, b yes or no as 1 and 0, w waits, c a category, y the target. */
static cr_table *draw(cr_ctx *cx)
{
    double      a[6][N];
    const char *c[N];
    cr_rng      r = cr_rng_stream(5, 2);
    cr_table   *t = NULL;
    for (size_t i = 0; i < N; i++) {
        a[0][i] = 3 + 2 * cr_rng_normal(&r);
        a[1][i] = 0.5 * a[0][i] + cr_rng_normal(&r);
        a[2][i] = (double)cr_rng_below(&r, 6);
        a[3][i] = (double)cr_rng_below(&r, 2);
        a[4][i] = -log(cr_rng_uniform(&r) + 1e-9);
        a[5][i] = a[0][i] * a[0][i] / 4 + a[3][i] + 0.1 * cr_rng_normal(&r);
        c[i] = i % 3 ? "p" : "q";
    }
    static const char *const names[] = { "x", "z", "n", "b", "w", "y" };
    assert_ok(cx, cr_table_new(cx, "data.csv", N, &t));
    for (size_t j = 0; j < 6; j++)
        assert_ok(cx, cr_table_add_numbers(cx, t, names[j], CR_REAL, a[j], 1));
    assert_ok(cx, cr_table_add_texts(cx, t, "c", c));
    return t;
}

/* Predictions with the kernel of the file and with the expression are the same to a tolerance. */
static void compare(cr_ctx *cx, const cr_table *t, const char *model, const char *features,
                    const char *path, const char *kernel)
{
    char settings[1000];
    snprintf(settings, sizeof settings,
             "target=y features=%s scale=none kernel=fisher(file=\"%s\")", features, path);
    cr_model *a = fit(cx, model, t, settings);
    snprintf(settings, sizeof settings,
             "target=y features=%s scale=standard kernel=fisher(file=\"%s\")", features, path);
    cr_model *b = fit(cx, model, t, settings);
    snprintf(settings, sizeof settings, "target=y features=%s scale=none kernel=%s", features,
             kernel);
    cr_model     *c = fit(cx, model, t, settings);
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t), r = predict(cx, c, t);
    for (size_t i = 0; i < N; i++) {
        assert_close(q.mean[i], p.mean[i], 1e-8);
        assert_close(r.mean[i], p.mean[i], 1e-8);
        assert_close(r.scale[i], p.scale[i], 1e-8);
    }
}

static double said(cr_ctx *cx, const char *path, const char *name)
{
    cr_model *m = NULL;
    assert_ok(cx, cr_model_load(cx, path, &m));
    json_t *d = describe(cx, m);
    double  value = parameter(d, name, "value");
    cr_model_free(cx, m);
    return value;
}

TEST(families)
{
    cr_table   *t = draw(cx);
    char        kernel[500];
    const char *path = save(cx, "normal", t, "features=x,z");
    snprintf(kernel, sizeof kernel, "fisher(x,z;mean=[%.17g,%.17g],sd=[%.17g,%.17g])",
             said(cx, path, "x.mean"), said(cx, path, "z.mean"), sqrt(said(cx, path, "x.variance")),
             sqrt(said(cx, path, "z.variance")));
    compare(cx, t, "gp", "x,z", path, kernel);
    compare(cx, t, "kernel-ridge", "x,z,w", path, kernel);

    path = save(cx, "mvn", t, "features=x,z");
    double a = said(cx, path, "x.variance"), b = said(cx, path, "x,z.covariance"),
           c = said(cx, path, "z.variance");
    snprintf(kernel, sizeof kernel, "fisher(x,z;mean=[%.17g,%.17g],sd=[%.17g,0,%.17g,%.17g])",
             said(cx, path, "x.mean"), said(cx, path, "z.mean"), sqrt(a), b / sqrt(a),
             sqrt(c - b * b / a));
    compare(cx, t, "gp", "x,z", path, kernel);

    path = save(cx, "poisson", t, "features=n");
    double rate = said(cx, path, "n.rate");
    snprintf(kernel, sizeof kernel, "fisher(n;mean=%.17g,sd=%.17g,order=1)", rate, sqrt(rate));
    compare(cx, t, "gp", "n,x", path, kernel);

    path = save(cx, "exponential", t, "features=w");
    rate = said(cx, path, "w.rate");
    snprintf(kernel, sizeof kernel, "fisher(w;mean=%.17g,sd=%.17g,order=1)", 1 / rate, 1 / rate);
    compare(cx, t, "gp", "w", path, kernel);

    path = save(cx, "beta-bernoulli", t, "features=b");
    rate = said(cx, path, "b=1");
    snprintf(kernel, sizeof kernel, "fisher(b;mean=%.17g,sd=%.17g,order=1)", rate,
             sqrt(rate * (1 - rate)));
    compare(cx, t, "gp", "b,x", path, kernel);
    cr_table_free(cx, t);
}

TEST(refusals)
{
    cr_table   *t = draw(cx);
    cr_model   *m = NULL;
    char        settings[1000];
    const char *path = save(cx, "ridge", t, "target=y features=x");
    snprintf(settings, sizeof settings, "target=y features=x kernel=fisher(file=\"%s\")", path);
    assert_fails_with(cx, try_fit(cx, "gp", t, settings, &m), CR_EARG,
                      "which has no Fisher kernel");
    path = save(cx, "normal", t, "features=x,z");
    snprintf(settings, sizeof settings, "target=y features=x kernel=fisher(file=\"%s\")", path);
    assert_fails_with(cx, try_fit(cx, "gp", t, settings, &m), CR_EDATA,
                      "the column 'z', which is not a numeric feature");
    snprintf(settings, sizeof settings, "target=y features=x kernel=fisher(x;file=\"%s\")", path);
    assert_fails_with(cx, try_fit(cx, "gp", t, settings, &m), CR_EDATA, "not a numeric feature");
    assert_fails_with(
        cx, try_fit(cx, "gp", t, "target=y features=x kernel=fisher(file=\"/nowhere.cred\")", &m),
        CR_EIO, "nowhere.cred");
    cr_table_free(cx, t);
}

/* The numbers of the file are not written with the comma of the host's locale; where the machine has no
 * such locale, the test says the same as the others. */
TEST(decimal_comma)
{
    cr_table   *t = draw(cx);
    char        settings[1000];
    const char *path = save(cx, "normal", t, "features=x,z");
    snprintf(settings, sizeof settings, "target=y features=x,z kernel=fisher(file=\"%s\")", path);
    setlocale(LC_ALL, "de_DE.UTF-8");
    cr_model *m = NULL;
    cr_status st = try_fit(cx, "gp", t, settings, &m);
    setlocale(LC_ALL, "C");
    assert_ok(cx, st);
    cr_model_free(cx, m);
    cr_table_free(cx, t);
}

typedef struct attempt {
    const cr_table *t;
    setting_list    list;
} attempt;

static cr_status fit_and_drop(cr_ctx *cx, void *arg)
{
    const attempt *a = arg;
    cr_model      *m = NULL;
    cr_status      st = cr_fit(cx, "kernel-ridge", a->t, a->list.list, a->list.n, &m);
    cr_model_free(cx, m);
    return st;
}

TEST(allocations)
{
    cr_table      *t = draw(cx);
    char           settings[1000];
    static attempt a;
    snprintf(settings, sizeof settings,
             "target=y features=x,z lambda=0.1 kernel=fisher(file=\"%s\")",
             save(cx, "mvn", t, "features=x,z"));
    split_settings(settings, &a.list);
    a.t = t;
    test_every_allocation_fails(fit_and_drop, &a);
    cr_table_free(cx, t);
}
