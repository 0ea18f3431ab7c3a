/* test_logistic_levels.c -- a category of many levels comes to logistic regression as sparse rows: the
 * answers, and the terms that separate, are those of the same indicators as columns of numbers. */
#include "../life.h"
#include "data/design/design_internal.h"
#include "models/core/model_internal.h"

#include <stdio.h>

enum { N = 900, LEVELS = 230, CAPACITY = (N + 1) * (LEVELS * 8 + 60) };

/* x, z that would split the classes but for its zeros, the category g or its indicators against the first level, y.  count [LEVELS][2]: the rows of each
 * level and class. */
static cr_table *make_counted(cr_ctx *cx, bool indicators, size_t (*count)[2])
{
    cr_rng r = cr_rng_stream(8, 1);
    char  *text = malloc(CAPACITY);
    size_t at = (size_t)snprintf(text, CAPACITY, indicators ? "x,z" : "x,z,g");
    for (size_t k = 1; indicators && k < LEVELS; k++)
        at += (size_t)snprintf(text + at, CAPACITY - at, ",g=g%03zu", k);
    at += (size_t)snprintf(text + at, CAPACITY - at, ",y\n");
    for (size_t i = 0; i < N; i++) {
        size_t level = i < LEVELS ? i : i * i % 1009 % LEVELS;
        double x = cr_rng_normal(&r);
        bool   yes = x + (double)(level % 5) - 2 + 2 * cr_rng_normal(&r) > 0;
        count[level][yes]++;
        at += (size_t)snprintf(text + at, CAPACITY - at, "%.15g,%d", x, i % 10 ? 0 : 1 + yes);
        for (size_t k = 1; indicators && k < LEVELS; k++)
            at += (size_t)snprintf(text + at, CAPACITY - at, ",%d", level == k);
        if (!indicators) at += (size_t)snprintf(text + at, CAPACITY - at, ",g%03zu", level);
        at += (size_t)snprintf(text + at, CAPACITY - at, ",%s\n", yes ? "yes" : "no");
        assert_true(at < CAPACITY);
    }
    cr_table *t = table_of_text(cx, "levels.csv", text);
    free(text);
    return t;
}

static cr_table *make(cr_ctx *cx, bool indicators)
{
    size_t count[LEVELS][2] = { { 0 } };
    return make_counted(cx, indicators, count);
}

TEST(same_answers)
{
    cr_table     *t = make(cx, false), *wide = make(cx, true);
    cr_model     *m = fit(cx, "logistic", t, "target=y lambda=0.001");
    cr_model     *n = fit(cx, "logistic", wide, "target=y lambda=0.001");
    cr_prediction p, q;
    assert_true(m->design->sparse_levels && !n->design->sparse_levels);
    p = predict(cx, m, t), q = predict(cx, n, wide);
    for (size_t i = 0; i < 2 * N; i++) assert_close(p.prob[i], q.prob[i], 1e-7);
    assert_relative(statistic(describe(cx, m), "objective_value"),
                    statistic(describe(cx, n), "objective_value"), 1e-9);
}

/* Levels with rows of one class alone have no finite coefficient. */
TEST(separated)
{
    size_t    count[LEVELS][2] = { { 0 } }, used = 0;
    char      expected[LEVELS * 10] = "";
    cr_table *t = make_counted(cx, false, count);
    json_t   *s = json_object_get(describe(cx, fit(cx, "logistic", t, "target=y")), "statistics");
    for (size_t k = 1; k < LEVELS; k++)
        if (count[k][0] == 0 || count[k][1] == 0)
            used += (size_t)snprintf(expected + used, sizeof expected - used, "%sg=g%03zu",
                                     used ? ", " : "", k);
    assert_true(used > 0);
    assert_string_equal(json_string_value(json_object_get(s, "separation")), "quasi-complete");
    assert_string_equal(json_string_value(json_object_get(s, "separated_by")), expected);
}

TEST(allocations) { check_every_allocation(make(cx, false), "logistic", "target=y lambda=0.001"); }
