/* test_time_ahead.c -- times of rows to come, from those of the rows so far. */
#include "../life.h"

#include "data/table/date.h"
#include "models/core/sequence.h"

static void release(cr_ctx *cx, void *of) { cr_forecast_free(cx, of); }

/* The times as text, apart by blanks; "" where they are not known. */
static const char *times_of(cr_ctx *cx, const char *text, size_t ahead, const char *settings)
{
    static char out[400];
    cr_forecast f;
    cr_table   *t = table_of_text(cx, "t.csv", text);
    cr_model   *m = fit(cx, "markov", t, settings);
    out[0] = '\0';
    assert_ok(cx, cr_forecast_rows(cx, m, t, ahead, &f));
    test_own(cx, &f, release);
    for (size_t i = 0; f.time && i < f.n * ahead; i++) {
        char one[CRI_DATE_SIZE];
        if (cri_is_date(f.time_type))
            cri_date_print(f.time_type, f.time[i], one);
        else
            snprintf(one, sizeof one, "%g", f.time[i]);
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s", i ? " " : "", one);
    }
    assert_true(!f.time || strcmp(f.time_name, "t") == 0);
    test_give_back(cx, &f, &f, release);
    return out;
}

TEST(times_go_on)
{
    static const struct {
        const char *rows, *times;
    } cases[] = {
        { "1,a\n3,b\n5,a\n", "7 9 11" },
        { "5,a\n1,b\n3,a\n", "7 9 11" }, /* in any order */
        { "0.1,a\n0.2,b\n0.3,a\n", "0.4 0.5 0.6" },
        { "1,a\n3,b\n4,a\n", "" },
        { "1,a\n", "" },
        { "2024-01-29,a\n2024-01-30,b\n2024-01-31,a\n", "2024-02-01 2024-02-02 2024-02-03" },
        { "2023-10-31,a\n2023-11-30,b\n2023-12-31,a\n", "2024-01-31 2024-02-29 2024-03-31" },
        { "2023-10-30,a\n2023-11-30,b\n2023-12-30,a\n", "2024-01-30 2024-02-29 2024-03-30" },
        { "2020-02-29,a\n2024-02-29,b\n", "2028-02-29 2032-02-29 2036-02-29" },
        { "2023-04-01,a\n2023-07-01,b\n2023-10-01,a\n", "2024-01-01 2024-04-01 2024-07-01" },
        { "2023-04-01,a\n2023-05-01,b\n2023-10-01,a\n", "" },
        { "2023-04-01T10:00,a\n2023-04-01T10:30,b\n",
          "2023-04-01T11:00:00 2023-04-01T11:30:00 2023-04-01T12:00:00" },
        { "9999-10-01,a\n9999-11-01,b\n", "9999-12-01" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[300];
        snprintf(text, sizeof text, "t,c\n%s", cases[k].rows);
        const char *got = times_of(cx, text, 3, "features=c time=t");
        if (strncmp(got, cases[k].times, strlen(cases[k].times)) != 0 || !*cases[k].times != !*got)
            fail_msg("%s: %s", cases[k].rows, got);
    }
}

/* Each sequence goes on from its own end, all in the steps that they share. */
TEST(times_of_several_sequences)
{
    assert_string_equal(times_of(cx, "s,t,c\nx,1,a\nx,2,b\ny,5,a\ny,6,b\nz,9,a\n", 2,
                                 "features=c time=t sequence=s"),
                        "3 4 7 8 10 11");
    assert_string_equal(
        times_of(cx, "s,t,c\nx,1,a\nx,2,b\ny,5,a\ny,7,b\n", 2, "features=c time=t sequence=s"), "");
}

typedef struct ask {
    const cr_model *m;
    const cr_table *t;
} ask;

static cr_status forecast(cr_ctx *cx, void *arg)
{
    const ask  *a = arg;
    cr_forecast f = { 0 };
    cr_status   st = cr_forecast_rows(cx, a->m, a->t, 2, &f);
    cr_forecast_free(cx, &f);
    return st;
}

TEST(allocations)
{
    cr_table *t = table_of_text(cx, "t.csv", "t,c\n1,a\n2,b\n");
    ask       a = { fit(cx, "markov", t, "features=c time=t"), t };
    test_every_allocation_fails(forecast, &a);
}
