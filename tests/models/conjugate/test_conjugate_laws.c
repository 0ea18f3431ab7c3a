/* test_conjugate_laws.c -- what holds for every conjugate model: the evidence is the product of
 * predictives, columns add up, and what cannot be is refused in words. */
#include "conjugate.h"

enum { N = 23 };

/* Two columns each; the settings make a proper prior. */
typedef struct kind {
    const char *model, *settings;
    int         data;
} kind;
enum { REAL, COUNT, POSITIVE, ANGLE, BINARY, LEVELS };

static const kind kinds[] = {
    { "beta-bernoulli", "prior=a=1.3,b=0.7", BINARY },
    { "dirichlet-categorical", "prior=alpha=0.7", LEVELS },
    { "exponential", "prior=shape=2,rate=0.5", POSITIVE },
    { "mvn", "prior=mean0=0.3,kappa0=0.4,nu0=3.5,scale0=1.7", REAL },
    { "normal", "prior=mean0=0.3,kappa0=0.4,nu0=3.5,var0=1.7", REAL },
    { "normal", "prior=mean=0.3,sd=2 known_variance=1.4", REAL },
    { "normal", "prior=shape=2,scale=3 known_mean=0.4", REAL },
    { "normal", "known_mean=0.4 known_variance=1.4", REAL },
    { "poisson", "prior=mean=4,sd=2.5", COUNT },
    { "uniform", "prior=shape=1.5,scale=0.7", POSITIVE },
    { "uniform", "ends=both prior=low=0.1,high=0.3,shape=1.5", REAL },
    { "von-mises", "kappa=2.5 prior=mu0=0.3,kappa0=0.8", ANGLE },
    { "von-mises", "prior=kappa_mean=3,kappa_sd=2", ANGLE },
    { "von-mises", "prior=mu0=0.3,r0=1.2,c0=2.5", ANGLE },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static double draw(cr_rng *r, int data)
{
    double z = cr_rng_normal(r);
    switch (data) {
    case COUNT:
        return floor(4 * fabs(z));
    case POSITIVE:
        return 1.7 * fabs(z) + 0.01;
    case ANGLE:
        return 0.9 + 0.6 * z;
    case BINARY:
        return z > 0.3;
    case LEVELS:
        return floor(fabs(2 * z));
    default:
        return 0.5 + 1.3 * z;
    }
}

/* Columns x and y of n rows; the first four have every level, so that later ones bring no new one.
 */
static void make_data(const kind *k, uint64_t seed, double *x, size_t n)
{
    cr_rng r = cr_rng_stream(seed, 5);
    for (size_t i = 0; i < 2 * n; i++) x[i] = fmin(draw(&r, k->data), k->data == LEVELS ? 3 : 1e9);
    for (size_t i = 0; k->data == LEVELS && i < 8; i++) x[i] = (double)(i / 2);
}

static cr_table *two_columns(cr_ctx *cx, const kind *k, const double *x, size_t n, const double *w)
{
    cr_table *t = NULL;
    cr_type   type = k->data == COUNT || k->data == LEVELS ? CR_INTEGER : CR_REAL;
    assert_ok(cx, cr_table_new(cx, "data.csv", n, &t));
    test_own(cx, t, release_table);
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", type, x, 2));
    assert_ok(cx, cr_table_add_numbers(cx, t, "y", type, x + 1, 2));
    if (w) assert_ok(cx, cr_table_add_numbers(cx, t, "w", CR_REAL, w, 1));
    return t;
}

/* Every number of the parameters and distributions, compared. */
static void compare_json(const json_t *a, const json_t *b, double tolerance)
{
    const char *key;
    size_t      i;
    json_t     *x;
    assert_int_equal(json_is_object(a), json_is_object(b));
    if (json_is_number(a)) assert_close(json_number_value(a), json_number_value(b), tolerance);
    if (json_is_object(a)) {
        json_object_foreach((json_t *)(uintptr_t)a, key, x)
            compare_json(x, json_object_get(b, key), /* ends of equal density: found by halving */
                         strncmp(key, "hdi", 3) == 0 ? fmax(tolerance, 1e-8) : tolerance);
    }
    if (json_is_array(a)) {
        assert_int_equal(json_array_size(a), json_array_size(b));
        json_array_foreach(a, i, x) compare_json(x, json_array_get(b, i), tolerance);
    }
}

static void compare_models(cr_ctx *cx, const cr_model *a, const cr_model *b, double tolerance)
{
    json_t *da = describe(cx, a), *db = describe(cx, b);
    compare_json(json_object_get(da, "parameters"), json_object_get(db, "parameters"), tolerance);
    compare_json(json_object_get(da, "distributions"), json_object_get(db, "distributions"),
                 tolerance);
    if (!isnan(log_evidence(a)) || !isnan(log_evidence(b)))
        assert_close(log_evidence(a), log_evidence(b), tolerance);
}

/* log p(x_1 .. x_n) = log p(x_1 .. x_m) + sum of log p(x_i | those before), row by row. */
TEST(chain_rule)
{
    double x[2 * N];
    for (size_t i = 0; i < KINDS; i++) {
        const kind *k = &kinds[i];
        size_t      first = k->data == LEVELS ? 4 : 1;
        make_data(k, 3, x, N);
        cr_table *all = two_columns(cx, k, x, N, NULL), *t = two_columns(cx, k, x, first, NULL);
        cr_model *whole = fit(cx, k->model, all, k->settings);
        cr_model *m = fit(cx, k->model, t, k->settings), *next = NULL;
        double    sum = log_evidence(m), density;
        assert_true(isfinite(sum));
        cr_table_free(cx, t);
        for (size_t row = first; row < N; row++) {
            t = two_columns(cx, k, x + 2 * row, 1, NULL);
            assert_ok(cx, cr_score(cx, m, t, &density));
            sum += density;
            assert_ok(cx, cr_update(cx, m, t, &next));
            cr_model_free(cx, m);
            m = next;
            assert_close(log_evidence(m), sum, 1e-11);
        }
        compare_models(cx, m, whole, 1e-11);
        cr_model_free(cx, m);
    }
}

/* Several columns are independent: their evidences and log densities add up. */
TEST(columns_add_up)
{
    double x[2 * N], both[N], one[N], two[N];
    for (size_t i = 0; i < KINDS; i++) {
        const kind *k = &kinds[i];
        char        settings[2][256];
        if (strcmp(k->model, "mvn") == 0) continue;
        make_data(k, 6, x, N);
        snprintf(settings[0], 256, "%s features=x", k->settings);
        snprintf(settings[1], 256, "%s features=y", k->settings);
        cr_table *t = two_columns(cx, k, x, N, NULL);
        cr_model *m = fit(cx, k->model, t, k->settings), *a = fit(cx, k->model, t, settings[0]);
        cr_model *b = fit(cx, k->model, t, settings[1]);
        assert_close(log_evidence(m), log_evidence(a) + log_evidence(b), 1e-13);
        assert_ok(cx, cr_score(cx, m, t, both));
        assert_ok(cx, cr_score(cx, a, t, one));
        assert_ok(cx, cr_score(cx, b, t, two));
        for (size_t row = 0; row < N; row++) assert_close(both[row], one[row] + two[row], 1e-13);
        cr_table_free(cx, t);
    }
}

/* --- corners --------------------------------------------------------------------------------- */

/* Angles in degrees are taken, but not in silence; the lower end of a uniform is known or it is
 * not. */
TEST(slips)
{
    cr_model *m = NULL;
    cr_table *degrees = table_of_text(cx, "d.csv", "a,w\n6.29,1\n-6,2\n359,0\n12,3\n40,1\n");
    cr_table *turns = table_of_text(cx, "r.csv", "a,w\n6.2832,1\n-6.2832,1\n1,1\n350,0\n");
    for (int k = 0; k < 2; k++) {
        warnings heard = { { 0 }, 0 };
        cr_ctx_set_log(cx, keep_warning, &heard);
        m = fit(cx, "von-mises", k ? turns : degrees, "features=a weights=w");
        assert_int_equal(heard.n, k ? 0 : 1);
        if (!k) assert_non_null(strstr(heard.text, "column 'a' contains 12"));
        if (!k) assert_non_null(strstr(heard.text, "multiply them by 0.0174533"));
        cr_ctx_set_log(cx, NULL, NULL);
        cr_model_free(cx, m);
    }
    m = NULL;
    assert_fails_with(cx, try_fit(cx, "uniform", turns, "features=w ends=both low=0", &m), CR_EARG,
                      "--ends both");
    cr_model *plain = fit(cx, "uniform", turns, "features=w"),
             *zero = fit(cx, "uniform", turns, "features=w low=0");
    json_t *d = describe(cx, plain), *e = describe(cx, zero);
    assert_relative(parameter(d, "w.high", "value"), parameter(e, "w.high", "value"), 1e-15);
}

/* Targets, powers, standard scores, and text are refused in words; so are unknown priors. */
TEST(refusals)
{
    double    x[2 * N];
    cr_model *m = NULL;
    for (size_t i = 0; i < KINDS; i++) {
        const kind *k = &kinds[i];
        make_data(k, 9, x, N);
        cr_table *t = two_columns(cx, k, x, N, NULL);
        assert_fails_with(cx, try_fit(cx, k->model, t, "target=y", &m), CR_EARG, "has no target");
        assert_fails_with(cx, try_fit(cx, k->model, t, "scale=standard", &m), CR_EARG,
                          "describes columns as they are");
        assert_fails_with(cx, try_fit(cx, k->model, t, "basis=poly:2", &m), CR_EARG,
                          "describes columns as they are");
        assert_fails_with(cx, try_fit(cx, k->model, t, "prior=jeffrey", &m), CR_EARG,
                          "'jeffrey' is not a prior of");
        assert_fails_with(cx, try_fit(cx, k->model, t, "prior=q=1,q=2", &m), CR_EARG,
                          "given twice");
        assert_fails_with(cx, try_fit(cx, k->model, t, "prior=q=two", &m), CR_EARG, "not a number");
        assert_fails_with(cx, try_fit(cx, k->model, t, "prior=jeffreys,q=2", &m), CR_EARG,
                          "'jeffreys' is not NAME=VALUE");
        cr_interrupt(cx);
        assert_fails(cx, try_fit(cx, k->model, t, k->settings, &m), CR_EINTERRUPTED);
        cr_interrupt_clear(cx);
        cr_table *none =
            two_columns(cx, k, x, 0, NULL); /* no rows: nothing to learn, nothing to say */
        assert_fails_with(cx, try_fit(cx, k->model, none, k->settings, &m), CR_EDATA,
                          "no row is left");
        m = fit(cx, k->model, t, k->settings);
        assert_ok(cx, cr_score(cx, m, none, x));
        cr_model_free(cx, m);
        m = NULL;
        cr_table_free(cx, none);
        cr_table_free(cx, t);
    }
    cr_table         *text = table_of_text(cx, "text.csv", "a,b\nu,1\nv,2\n");
    const char *const numeric[] = { "normal",      "mvn",     "poisson",
                                    "exponential", "uniform", "von-mises" };
    for (size_t i = 0; i < 6; i++)
        assert_fails_with(cx, try_fit(cx, numeric[i], text, "", &m), CR_EDATA,
                          "column 'a' contains text");
}

/* Values outside the support: named with their place in a fit, impossible in a score. */
TEST(support)
{
    cr_model *m = NULL;
    const struct {
        const char *model, *settings, *text;
        double      bad;
    } all[] = { { "poisson", "", "needs a whole number, 0 or more", 1.5 },
                { "poisson", "", "needs a whole number, 0 or more", -1 },
                { "exponential", "", "needs a number, 0 or more", -0.1 },
                { "uniform", "low=1", "not below --low", 0.5 },
                { "beta-bernoulli", "success=1", "needs 0 or 1", 2 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double    x[3] = { 1, all[i].model[0] == 'b' ? 0 : 3, all[i].bad }, log_p[3];
        cr_table *t = column_table(cx, x, 3, NULL), *good = column_table(cx, x, 2, NULL);
        assert_fails_with(cx, try_fit(cx, all[i].model, t, all[i].settings, &m), CR_EDATA,
                          "data.csv, row 3: column 'x' is");
        assert_non_null(strstr(cr_error(cx), all[i].text));
        m = fit(cx, all[i].model, good, all[i].settings);
        assert_ok(cx, cr_score(cx, m, t, log_p));
        assert_true(isfinite(log_p[0]) && log_p[2] == -INFINITY);
        cr_model_free(cx, m);
        m = NULL;
        cr_table_free(cx, t);
        cr_table_free(cx, good);
    }
}

/* Posteriors that are none, and sums beyond the doubles. */
TEST(too_little_data)
{
    double    same[3] = { 0, 0, 0 }, huge[3] = { 1e200, -1e200, 3e199 };
    cr_model *m = NULL;
    cr_table *one = column_table(cx, same, 1, NULL), *three = column_table(cx, same, 3, NULL);
    cr_table *wide = column_table(cx, huge, 3, NULL);
    const char *const models[][2] = { { "normal", "" },
                                      { "von-mises", "" },
                                      { "uniform", "" },
                                      { "uniform", "ends=both" },
                                      { "exponential", "" },
                                      { "beta-bernoulli", "prior=haldane" },
                                      { "poisson", "prior=haldane" },
                                      { "mvn", "" } };
    for (size_t i = 0; i < 8; i++) {
        assert_fails_with(cx, try_fit(cx, models[i][0], one, models[i][1], &m), CR_EDATA,
                          "improper");
        assert_fails_with(cx, try_fit(cx, models[i][0], three, models[i][1], &m), CR_EDATA,
                          "improper");
    }
    assert_fails_with(cx, try_fit(cx, "normal", wide, "", &m), CR_ENUMERIC,
                      "column 'x' is so large");
    assert_fails_with(cx, try_fit(cx, "mvn", wide, "", &m), CR_ENUMERIC, "column 'x' is so large");
    cr_table_free(cx, one);
    cr_table_free(cx, three);
    cr_table_free(cx, wide);
}
