/* test_linear_nist.c -- least squares against the certified values of NIST's reference sets. */
#include "../fixture.h"

/* The number of correct digits: minus the log of the relative error, of the absolute one at 0. */
static double digits(double x, double certified)
{
    double error = fabs(x - certified) / (certified == 0 ? 1 : fabs(certified));
    return error == 0 ? 16 : -log10(error);
}

typedef struct nist_set {
    const char *name, *settings;
    double      digits;
} nist_set;

static const nist_set nist_sets[] = {
    { "Norris", "target=y", 12 },
    { "Pontius", "target=y basis=poly:2", 12 },
    { "NoInt1", "target=y intercept=false", 14 },
    { "NoInt2", "target=y intercept=false", 14 },
    { "Longley", "target=y", 12 },
    { "Wampler1", "target=y basis=poly:5", 9 },
    { "Wampler2", "target=y basis=poly:5", 9 },
    { "Wampler3", "target=y basis=poly:5", 9 },
    { "Wampler4", "target=y basis=poly:5", 9 },
    { "Wampler5", "target=y basis=poly:5", 9 },
    { "Filip", "target=y basis=poly:10", 7 },
};

static void check_digits(const nist_set *s, const char *what, double x, double certified)
{
    double d = digits(x, certified);
    if (!(d >= s->digits))
        fail_msg("%s: %s is %.17g, certified %.17g: %.1f digits, %.0f are due", s->name, what, x,
                 certified, d, s->digits);
}

static const char *text_at(const cr_column *c, size_t row) { return c->levels[c->codes[row]]; }

/* Compares one set with its rows of certified.csv; returns how many there are. */
static size_t check_set(cr_ctx *cx, const nist_set *s, const cr_table *certified)
{
    char path[256];
    snprintf(path, sizeof path, "tests/models/linear/nist/%s.csv", s->name);
    cr_table        *t = read_table(cx, path);
    cr_model        *m = fit(cx, "linear", t, s->settings);
    json_t          *d = describe(cx, m);
    const cr_column *set = cr_table_find(certified, "set"),
                    *term = cr_table_find(certified, "term");
    const double *estimate = cr_table_find(certified, "estimate")->values;
    const double *sd = cr_table_find(certified, "sd")->values;
    size_t        found = 0;

    for (size_t i = 0; i < cr_table_rows(certified); i++) {
        const char *name = text_at(term, i);
        if (strcmp(text_at(set, i), s->name) != 0) continue;
        found++;
        if (strcmp(name, "residual_sd") == 0 || strcmp(name, "r2") == 0) {
            check_digits(s, name, statistic(d, name), estimate[i]);
            continue;
        }
        check_digits(s, name, parameter(d, name, "value"), estimate[i]);
        check_digits(s, "its sd", parameter(d, name, "sd"), sd[i]);
    }
    assert_int_equal(found, json_array_size(json_object_get(d, "parameters")) + 2);
    assert_true(statistic(d, "condition_number") >= 1);
    return found;
}

TEST(nist)
{
    cr_table *certified = read_table(cx, "tests/models/linear/nist/certified.csv");
    size_t    found = 0;
    for (size_t i = 0; i < sizeof nist_sets / sizeof *nist_sets; i++)
        found += check_set(cx, &nist_sets[i], certified);
    assert_int_equal(found, cr_table_rows(certified));
}

/* A simulated analysis of variance as NIST's SmLs sets are: nine groups whose means are 0.1 apart at
 * most, rows 0.1 to either side of them. */
static void draw_groups(size_t n, double level, double *X, double *y)
{
    enum { GROUPS = 9 };
    static const double mean[GROUPS] = { 0.4, 0.3, 0.5, 0.41, 0.33, 0.57, 0.4, 0.3, 0.52 };
    for (size_t i = 0; i < n; i++) {
        size_t g = i % GROUPS, round = i / GROUPS;
        for (size_t j = 0; j + 1 < GROUPS; j++) X[i * (GROUPS - 1) + j] = g == j + 1;
        y[i] = level + mean[g] + (round == 0 ? 0 : round % 2 ? 0.1 : -0.1);
    }
}

/* R^2 and F do not depend on the level: a level of 1e12 leaves four digits of the data, but what
 * they are is exact, and so is what is left when 1e12 is taken off again. */
TEST(level_of_target)
{
    enum { MOST = 18009, TERMS = 8 };
    static double X[MOST * TERMS], y[MOST];
    const size_t  rows[] = { 189, 1809, MOST }; /* SmLs07t, 08t, 09t; the last by cross-products */
    for (size_t c = 0; c < 3; c++) {
        double r2[2], F[2];
        for (int shifted = 0; shifted < 2; shifted++) {
            draw_groups(rows[c], 1e12, X, y);
            for (size_t i = 0; shifted && i < rows[c]; i++) y[i] -= 1e12;
            cr_table *t = make_table(cx, X, rows[c], TERMS, y, NULL);
            cr_model *m = fit(cx, "linear", t, "target=y");
            json_t   *d = describe(cx, m);
            r2[shifted] = statistic(d, "r2");
            F[shifted] = statistic(d, "f");
        }
        assert_relative(r2[0], r2[1], 1e-12);
        assert_relative(F[0], F[1], 1e-12);
    }
}
