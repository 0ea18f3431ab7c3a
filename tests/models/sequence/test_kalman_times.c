/* Models of class kalman whose rows have times: fits, forecasts, updates and draws, and what is refused. */
#include "../life.h"
#include "kalman_gaps.h"
#include "models/core/sequence.h"

/* --- models ---------------------------------------------------------------------------------- */

typedef struct csv {
    char   text[65536];
    size_t used;
} csv;

static void add(csv *c, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    c->used += (size_t)vsnprintf(c->text + c->used, sizeof c->text - c->used, format, list);
    va_end(list);
}

/* Rows t, y of a walk with a season at times that have gaps of whole steps of 7, from `from` up to `to`; with a row in
 * every step, empty where there is none in the other. */
static cr_table *gappy(cr_ctx *cx, bool full, size_t from, size_t to)
{
    static csv c;
    size_t     time[SPAN], n = draw_times(4, time), i = 0;
    cr_rng     r = cr_rng_stream(77, 0);
    double     level = 20, y[SPAN];
    for (size_t t = 0; t < SPAN; t++) {
        y[t] = level + 3 * sin((double)t * M_PI / 2) + cr_rng_normal(&r);
        level += 0.5 * cr_rng_normal(&r);
    }
    c = (csv){ 0 };
    add(&c, "t,y\n");
    for (size_t t = 0; t <= time[n - 1]; t++) {
        bool there = time[i] == t;
        i += there;
        if (t < from || t >= to) continue;
        if (there)
            add(&c, "%zu,%.17g\n", 7 * t, y[t]);
        else if (full)
            add(&c, "%zu,\n", 7 * t);
    }
    return table_of_text(cx, "gappy.csv", c.text);
}

static void release_forecast(cr_ctx *cx, void *f) { cr_forecast_free(cx, f); }

static cr_forecast forecast(cr_ctx *cx, const cr_model *m, const cr_table *opt_t, size_t ahead)
{
    cr_forecast f = { 0 };
    assert_ok(cx, cr_forecast_rows(cx, m, opt_t, ahead, &f));
    test_own_copy(cx, &f, sizeof f, f.p.mean, release_forecast);
    return f;
}

static cr_prediction smoothed(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    cr_prediction p = { 0 };
    assert_ok(cx, cr_smooth(cx, m, t, &p));
    test_own_copy(cx, &p, sizeof p, key_of_prediction(&p), release_prediction);
    return p;
}

TEST(fits_and_forecasts_count_the_time_between_rows)
{
    cr_table *sparse = gappy(cx, false, 0, SPAN), *full = gappy(cx, true, 0, SPAN);
    cr_model *a =
        fit(cx, "kalman", sparse, "target=y time=t components=level,seasonal:4 steps=time");
    cr_model *b = fit(cx, "kalman", full, "target=y time=t components=level,seasonal:4");
    json_t   *d = describe(cx, a), *e = describe(cx, b);
    assert_relative(statistic(d, "step"), 7, 1e-12);
    assert_close(cr_model_get_report(a)->log_likelihood, cr_model_get_report(b)->log_likelihood,
                 1e-8);
    assert_relative(parameter(d, "variance.level", "value"),
                    parameter(e, "variance.level", "value"), 1e-4);
    assert_relative(parameter(d, "variance.level", "sd"), parameter(e, "variance.level", "sd"),
                    1e-3);
    cr_forecast   f = forecast(cx, a, NULL, 6), g = forecast(cx, a, full, 6);
    cr_forecast   h = forecast(cx, b, NULL, 6);
    cr_prediction p = predict(cx, a, sparse), q = predict(cx, a, full),
                  back = smoothed(cx, a, sparse), all = smoothed(cx, a, full);
    for (size_t i = 0; i < 6; i++) {
        assert_relative(f.p.mean[i], g.p.mean[i], 1e-10);
        assert_relative(f.p.scale[i], g.p.scale[i], 1e-10);
        assert_relative(f.p.mean[i], h.p.mean[i], 1e-4);
        assert_relative(f.p.scale[i], h.p.scale[i], 1e-4);
    }
    const double *t = cr_table_find(sparse, "t")->values;
    for (size_t i = 5; i < cr_table_rows(sparse); i++) {
        size_t at = (size_t)t[i] / 7;
        assert_relative(p.mean[i], q.mean[at], 1e-9);
        assert_relative(p.scale[i], q.scale[at], 1e-9);
        assert_relative(back.mean[i], all.mean[at], 1e-9);
        assert_relative(back.scale[i], all.scale[at], 1e-9);
    }
}

/* Rows that follow, by update, as rows without a value, and in a stream: at their times. */
TEST(series_go_on_at_the_time_of_the_next_row)
{
    static const char how[] = "target=y time=t components=level,seasonal:4 steps=time";
    cr_table         *first = gappy(cx, false, 0, 60), *rest = gappy(cx, false, 60, SPAN);
    cr_table         *all = gappy(cx, false, 0, SPAN);
    cr_model         *m = fit(cx, "kalman", first, how), *updated = NULL;
    assert_ok(cx, cr_update(cx, m, rest, &updated));
    test_own(cx, updated, release_model);
    cr_forecast f = forecast(cx, updated, NULL, 3), g = forecast(cx, m, all, 3);
    for (size_t h = 0; h < 3; h++) {
        assert_relative(f.p.mean[h], g.p.mean[h], 1e-9);
        assert_relative(f.p.scale[h], g.p.scale[h], 1e-9);
    }
    const double *t = cr_table_find(first, "t")->values;
    double        last = t[cr_table_rows(first) - 1];
    char          text[64];
    snprintf(text, sizeof text, "t,y\n%g,\n%g,\n", last + 14, last + 21);
    cr_prediction ahead = predict(cx, m, table_of_text(cx, "ahead.csv", text));
    f = forecast(cx, m, NULL, 3);
    for (size_t h = 0; h < 2; h++) {
        assert_relative(ahead.mean[h], f.p.mean[h + 1], 1e-10);
        assert_relative(ahead.scale[h], f.p.scale[h + 1], 1e-10);
    }
    cr_follower  *stream = NULL;
    cr_prediction parts[2] = { { 0 } }, whole = predict(cx, m, all);
    assert_ok(cx, cr_follow_open(cx, m, &stream));
    assert_ok(cx, cr_follow(cx, stream, first, &parts[0]));
    assert_ok(cx, cr_follow(cx, stream, rest, &parts[1]));
    for (size_t i = 0; i < cr_table_rows(rest); i++) {
        assert_relative(parts[1].mean[i], whole.mean[cr_table_rows(first) + i], 1e-10);
        assert_relative(parts[1].scale[i], whole.scale[cr_table_rows(first) + i], 1e-10);
    }
    cr_follow_free(cx, stream);
    cr_prediction_free(cx, &parts[0]);
    cr_prediction_free(cx, &parts[1]);
    snprintf(text, sizeof text, "t,y\n%g,\n", last - 7);
    assert_fails_with(cx, cr_predict(cx, m, table_of_text(cx, "back.csv", text), &whole), CR_EDATA,
                      "before the rows");
    snprintf(text, sizeof text, "t,y\n1,2\n5,\n");
    assert_fails_with(cx, cr_predict(cx, m, table_of_text(cx, "half.csv", text), &whole), CR_EDATA,
                      "steps are whole");
}

/* Months have 28 to 31 days, and are all a step; a quarter without rows is three. */
TEST(months_are_steps)
{
    static csv c[2];
    cr_rng     r = cr_rng_stream(5, 1);
    double     level = 3;
    for (size_t k = 0; k < 2; k++) c[k] = (csv){ 0 }, add(&c[k], k == 0 ? "day,y\n" : "y\n");
    for (size_t i = 0; i < 70; i++) {
        bool gone = i % 13 >= 10;
        level += 0.4 * cr_rng_normal(&r);
        double y = level + cr_rng_normal(&r);
        if (!gone) add(&c[0], "%zu-%02zu-28,%.17g\n", 2001 + i / 12, i % 12 + 1, y);
        if (gone)
            add(&c[1], "\"\"\n");
        else
            add(&c[1], "%.17g\n", y);
    }
    cr_model *a = fit(cx, "kalman", table_of_text(cx, "months.csv", c[0].text),
                      "target=y time=day steps=months");
    cr_model *b = fit(cx, "kalman", table_of_text(cx, "rows.csv", c[1].text), "target=y");
    assert_close(cr_model_get_report(a)->log_likelihood, cr_model_get_report(b)->log_likelihood,
                 1e-8);
    assert_close(statistic(describe(cx, a), "step"), 1, 1e-15);
}

/* Times that were rounded are whole steps: here months as decimal years. */
TEST(rounded_times_are_whole_steps)
{
    static csv c[2];
    cr_rng     r = cr_rng_stream(9, 1);
    double     level = 3;
    for (size_t k = 0; k < 2; k++) c[k] = (csv){ 0 }, add(&c[k], k == 0 ? "t,y\n" : "y\n");
    for (size_t i = 0; i < 60; i++) {
        bool gone = i % 7 >= 5 || (i > 20 && i < 33);
        level += 0.4 * cr_rng_normal(&r);
        double y = level + cr_rng_normal(&r);
        if (!gone) add(&c[0], "%.3f,%.17g\n", 1990 + (double)i / 12, y);
        if (gone)
            add(&c[1], "\"\"\n");
        else
            add(&c[1], "%.17g\n", y);
    }
    cr_model *a =
        fit(cx, "kalman", table_of_text(cx, "years.csv", c[0].text), "target=y time=t steps=time");
    cr_model *b = fit(cx, "kalman", table_of_text(cx, "rows.csv", c[1].text), "target=y");
    assert_close(cr_model_get_report(a)->log_likelihood, cr_model_get_report(b)->log_likelihood,
                 1e-8);
    assert_close(statistic(describe(cx, a), "step"), 1.0 / 12, 1e-3);
}

/* A walk at any times comes back, with its variance for a step of 1. */
TEST(parameters_of_rows_at_any_time_come_back)
{
    static csv c;
    cr_rng     r = cr_rng_stream(15, 1);
    double     t = 0, level = 50;
    c = (csv){ 0 };
    add(&c, "t,y\n");
    for (size_t i = 0; i < 1500; i++) {
        double gap = -log(cr_rng_uniform(&r)) * 4;
        t += gap;
        level += sqrt(0.3 * gap) * cr_rng_normal(&r);
        add(&c, "%.12g,%.12g\n", t, level + cr_rng_normal(&r));
    }
    cr_table *rows = table_of_text(cx, "any.csv", c.text);
    cr_model *m = fit(cx, "kalman", rows, "target=y time=t steps=time unit=1");
    json_t   *d = describe(cx, m);
    double    sd = parameter(d, "variance.level", "sd");
    assert_true(fabs(parameter(d, "variance.level", "value") - 0.3) < 4 * sd && sd < 0.05);
    assert_close(parameter(d, "variance.irregular", "value"), 1, 0.2);
    /* the unit is one of measure: a median step has more variance, and the same likelihood */
    cr_model *n = fit(cx, "kalman", rows, "target=y time=t steps=time");
    json_t   *e = describe(cx, n);
    assert_relative(parameter(e, "variance.level", "value"),
                    parameter(d, "variance.level", "value") * statistic(e, "step"), 1e-4);
    assert_close(cr_model_get_report(m)->log_likelihood, cr_model_get_report(n)->log_likelihood,
                 1e-6);
}

TEST(draws_know_of_gaps)
{
    enum { DRAWS = 4000 };
    cr_table *t =
        table_of_text(cx, "few.csv", "t,y\n0,1\n1,2\n2,1.5\n3,3\n4,2.5\n5,2\n15,\n16,4\n20,\n");
    static char given[] =
        "target=y time=t steps=time "
        "model={\"T\":[[1,1],[0,1]],\"Q\":[[0.2,0],[0,0.1]],\"Z\":[1,0],\"H\":0.5}";
    cr_model     *m = fit(cx, "kalman", t, given);
    cr_prediction p = smoothed(cx, m, t);
    double       *draws = cr_alloc(cx, 9 * DRAWS, sizeof *draws);
    assert_ok(cx, cr_sample_targets(cx, m, t, DRAWS, 5, draws));
    for (size_t i = 0; i < 9; i++) {
        double mean = 0, square = 0;
        for (size_t c = 0; c < DRAWS; c++) mean += draws[i * DRAWS + c] / DRAWS;
        for (size_t c = 0; c < DRAWS; c++) square += pow(draws[i * DRAWS + c] - mean, 2) / DRAWS;
        assert_true(fabs(mean - p.mean[i]) < 5 * p.scale[i] / sqrt(DRAWS));
        assert_relative(square, p.scale[i] * p.scale[i], 0.12);
    }
    cr_free(cx, draws, 9 * DRAWS, sizeof *draws);
}

/* --- what is refused ------------------------------------------------------------------------- */

TEST(times_that_are_refused)
{
    cr_table *t =
        table_of_text(cx, "steps.csv", "t,y\n1,3\n2,4\n3.3,3.5\n4.7,5\n9,4.5\n10,6\n11,5\n12,7\n");
    cr_model *m = NULL;
    static const struct {
        const char *options, *says;
    } cases[] = { { "target=y steps=time", "--time COL" },
                  { "target=y time=t unit=2", "--unit needs" },
                  { "target=y time=t steps=months", "needs dates" },
                  { "target=y time=t steps=time components=level,seasonal:2", "'seasonal' has no" },
                  { "target=y time=t steps=time components=ar:2", "'ar' has no" },
                  { "target=y time=t steps=time components=arma:1,1", "'arma' has no" } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_true(try_fit(cx, "kalman", t, cases[k].options, &m) != CR_OK);
        if (!strstr(cr_error(cx), cases[k].says)) fail_msg("%s", cr_error(cx));
    }
}

TEST(times_beyond_all_steps)
{
    static const struct {
        const char *rows, *options, *says;
    } cases[] = {
        { "t,y\n-1e308,1\n0,2\n1e308,1.5\n1.1e308,3\n", "", "too far apart" },
        { "t,y\n1,1\n2,2\n3,1.5\n4,3\n", " unit=1e-310", "too far apart" },
        { "t,y\n1,1\n2,2\n3,1.5\n1e12,3\n", "", "1e+12 steps of 1 behind" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char      settings[128];
        cr_model *m = NULL;
        snprintf(settings, sizeof settings, "target=y time=t steps=time%s", cases[k].options);
        assert_true(try_fit(cx, "kalman", table_of_text(cx, "far.csv", cases[k].rows), settings,
                            &m) != CR_OK);
        if (!strstr(cr_error(cx), cases[k].says)) fail_msg("%s", cr_error(cx));
    }
}

/* Several series share their coefficients, and each has its own times. */
TEST(several_series_with_regressors)
{
    static csv c[2];
    cr_rng     r = cr_rng_stream(6, 6);
    for (size_t k = 0; k < 2; k++) c[k] = (csv){ 0 }, add(&c[k], "who,t,x,y\n");
    for (size_t who = 0; who < 3; who++) {
        double level = 10.0 * (double)who;
        for (size_t i = 0; i < 30; i++) {
            double x = cr_rng_normal(&r);
            level += 0.5 * cr_rng_normal(&r);
            bool   gone = i > 0 && i < 29 && (i + who) % 5 == 3;
            double y = level + 2 * x + cr_rng_normal(&r);
            if (!gone) add(&c[0], "%c,%zu,%.17g,%.17g\n", (int)('a' + who), i, x, y);
            if (gone)
                add(&c[1], "%c,%zu,0,\n", (int)('a' + who), i);
            else
                add(&c[1], "%c,%zu,%.17g,%.17g\n", (int)('a' + who), i, x, y);
        }
    }
    cr_model *a = fit(cx, "kalman", table_of_text(cx, "a.csv", c[0].text),
                      "target=y time=t sequence=who components=level,regression steps=time");
    cr_model *b = fit(cx, "kalman", table_of_text(cx, "b.csv", c[1].text),
                      "target=y time=t sequence=who components=level,regression");
    json_t   *d = describe(cx, a), *e = describe(cx, b);
    assert_relative(parameter(d, "x", "value"), parameter(e, "x", "value"), 1e-6);
    assert_relative(parameter(d, "x", "sd"), parameter(e, "x", "sd"), 1e-4);
    cr_table     *next = table_of_text(cx, "n.csv", "who,t,x,y\nb,30,1,\nb,32,1,\n");
    cr_table     *same = table_of_text(cx, "m.csv", "who,t,x,y\nb,30,1,\nb,31,1,\nb,32,1,\n");
    cr_prediction p = predict(cx, a, next), q = predict(cx, b, same);
    assert_relative(p.mean[0], q.mean[0], 1e-6);
    assert_relative(p.mean[1], q.mean[2], 1e-6);
    assert_relative(p.scale[1], q.scale[2], 1e-5);
}

TEST(one_row_and_equal_times)
{
    cr_table   *one = table_of_text(cx, "one.csv", "t,y\n5,1\n");
    cr_model   *m = fit(cx, "kalman", one,
                        "target=y time=t steps=time "
                          "model={\"T\":[[1]],\"Q\":[[1]],\"Z\":[1],\"H\":1}");
    cr_forecast f = forecast(cx, m, NULL, 1);
    assert_close(f.p.mean[0], 1, 1e-12);
    assert_relative(f.p.scale[0] * f.p.scale[0], 3, 1e-12);
    /* two values at once are their mean with half the noise */
    cr_table     *twice = table_of_text(cx, "twice.csv", "t,y\n5,1\n5,2\n6,\n");
    cr_prediction p = smoothed(cx, m, twice);
    assert_close(p.mean[2], 1.5, 1e-12);
    assert_relative(p.scale[2] * p.scale[2], 2.5, 1e-12);
}

typedef struct later {
    const cr_model *m;
    const cr_table *rows;
} later;

static cr_status update_later(cr_ctx *cx, void *arg)
{
    const later *w = arg;
    cr_model    *m = NULL;
    cr_status    st = cr_update(cx, w->m, w->rows, &m);
    cr_model_free(cx, m);
    return st;
}

TEST(every_allocation_may_fail)
{
    static const char how[] =
        "target=y time=t steps=time components=level,cycle restarts=1 max_iter=4";
    cr_table *t = gappy(cx, false, 0, 50);
    check_every_allocation(t, "kalman", how);
    later w = { fit(cx, "kalman", t, how), gappy(cx, false, 50, SPAN) };
    test_every_allocation_fails(update_later, &w);
}
