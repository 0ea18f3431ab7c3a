/* test_overdispersion.c -- counts that vary more than their family says: R's estimate of the dispersion, what the warning
 * advises, and how often it is raised for data of the family itself. */
#include "../fixture.h"

/* R's `warpbreaks`: breaks of yarn for wools A and B, nine for each tension L, M, H.  Tippett (1950). */
static const int breaks[54] = { 26, 30, 54, 25, 70, 52, 51, 26, 67, 18, 21, 29, 17, 12,
                                18, 35, 30, 36, 36, 21, 24, 18, 10, 43, 28, 15, 26, 27,
                                14, 29, 19, 29, 31, 41, 20, 44, 42, 26, 19, 16, 39, 28,
                                21, 39, 29, 20, 21, 24, 17, 13, 15, 15, 16, 28 };

static cr_table *warpbreaks(cr_ctx *cx)
{
    char   text[1024] = "breaks,wool,tension,n\n";
    size_t at = strlen(text);
    for (size_t i = 0; i < 54; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%d,%c,%c,100\n", breaks[i],
                               "AB"[i / 27], "LMH"[i % 27 / 9]);
    return table_of_text(cx, "warpbreaks.csv", text);
}

/* summary(glm(breaks ~ wool + tension, quasipoisson, warpbreaks)): dispersion 4.26154, sd of woolB 0.10646. */
TEST(warning_and_its_remedies)
{
    warnings  seen = { .n = 0 };
    cr_table *t = warpbreaks(cx);
    cr_ctx_set_log(cx, keep_warning, &seen);
    json_t *d =
        describe(cx, fit(cx, "glm", t, "target=breaks features=wool,tension family=poisson"));
    assert_int_equal(seen.n, 1);
    assert_non_null(
        strstr(seen.text, "Pearson's chi-square is 4.26 times its 50 degrees of freedom"));
    assert_non_null(strstr(seen.text, "--family negative-binomial"));
    assert_non_null(
        strstr(seen.text, "--dispersion pearson multiplies the standard errors by 2.06"));
    double sd = parameter(d, "wool=B", "sd");
    seen = (warnings){ .n = 0 };
    d = describe(cx, fit(cx, "glm", t,
                         "target=breaks features=wool,tension family=poisson dispersion=pearson"));
    assert_close(parameter(d, "wool=B", "sd"), 0.10646, 5e-6);
    assert_relative(parameter(d, "wool=B", "sd"), 2.064 * sd, 1e-3);
    assert_close(statistic(d, "dispersion"), 4.26154, 5e-5);
    fit(cx, "glm", t, "target=breaks features=wool,tension family=negative-binomial");
    fit(cx, "glm", t, "target=breaks features=wool,tension family=poisson dispersion=one");
    fit(cx, "glm", t, "target=breaks features=wool,tension family=poisson errors=hc1");
    assert_int_equal(seen.n, 0);
    fit(cx, "glm", t, "target=breaks features=wool,tension family=binomial trials=n");
    assert_int_equal(seen.n, 1);
    assert_non_null(strstr(seen.text, "the successes vary more than those of a binomial"));
    assert_null(strstr(seen.text, "negative-binomial"));
}

typedef struct trial {
    size_t rows;
    double mean, trials,
        spread; /* of the mean from row to row beyond the line: 0 of the family itself */
} trial;

static double draw_count(cr_rng *r, double mean, double trials)
{
    double k = 0, sum = cr_rng_exponential(r);
    if (trials > 0) return (double)cr_rng_binomial(r, (uint64_t)trials, mean);
    for (; sum < mean; k++) sum += cr_rng_exponential(r);
    return k;
}

/* How many of so many data sets are taken for overdispersed. */
static size_t count_alarms(cr_ctx *cx, trial c, size_t sets, uint64_t seed)
{
    size_t alarms = 0;
    for (size_t k = 0; k < sets; k++) {
        double   X[400], y[200], trials[200];
        cr_rng   r = cr_rng_stream(seed, k);
        warnings seen = { .n = 0 };
        draw_normals(&r, X, 2 * c.rows);
        for (size_t i = 0; i < c.rows; i++) {
            double eta = 0.4 * X[2 * i] + c.spread * cr_rng_normal(&r);
            double odds = exp(eta) * c.mean / (1 - c.mean);
            y[i] = draw_count(&r, c.trials > 0 ? odds / (1 + odds) : c.mean * exp(eta), c.trials);
            trials[i] = c.trials;
        }
        y[0] += y[0] == 0; /* some count is above 0 */
        cr_table *t = make_table(cx, X, c.rows, 2, y, NULL);
        cr_model *m = NULL;
        assert_ok(cx, cr_table_add_numbers(cx, t, "n", CR_REAL, trials, 1));
        cr_ctx_set_log(cx, keep_warning, &seen);
        cr_status st = try_fit(cx, "glm", t,
                               c.trials > 0 ? "target=y features=x* family=binomial trials=n"
                                            : "target=y features=x* family=poisson",
                               &m);
        cr_ctx_set_log(cx, NULL, NULL);
        alarms += st == CR_OK && strstr(seen.text, "vary more than") != NULL;
        cr_model_free(cx, m);
    }
    return alarms;
}

/* Data of the family itself: less than 1 % of all sets, also of small means, whose chi-square has a long tail. */
TEST(false_alarms)
{
    static const trial cases[] = {
        { 12, 0.3, 0, 0 }, { 12, 5, 0, 0 },     { 50, 0.1, 0, 0 },    { 50, 1, 0, 0 },
        { 50, 20, 0, 0 },  { 200, 0.05, 0, 0 }, { 200, 2, 0, 0 },     { 12, 0.3, 5, 0 },
        { 50, 0.5, 2, 0 }, { 50, 0.02, 20, 0 }, { 200, 0.01, 10, 0 }, { 200, 0.3, 50, 0 },
    };
    size_t sets = simulation_size(100, 300), total = 0, n = sizeof cases / sizeof *cases;
    for (size_t c = 0; c < n; c++) {
        size_t alarms = count_alarms(cx, cases[c], sets, 100 + c);
        assert_true((double)alarms <= 0.02 * (double)sets);
        total += alarms;
    }
    assert_true((double)total <= 0.01 * (double)(n * sets));
}

/* Means that vary by a factor of exp(0.7): nearly every set. */
TEST(alarms)
{
    size_t sets = simulation_size(50, 200);
    assert_true(count_alarms(cx, (trial){ 100, 5, 0, 0.7 }, sets, 7) > 0.95 * (double)sets);
    assert_true(count_alarms(cx, (trial){ 100, 0.3, 30, 0.7 }, sets, 8) > 0.95 * (double)sets);
}
