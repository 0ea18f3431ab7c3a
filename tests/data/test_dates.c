/* test_dates.c -- dates and times: the calendar by counting its days, texts and formats, columns of
 * tables and streams, and what a design makes of them. */
#include "../models/life.h"
#include "design_fixture.h"
#include "data/stream/stream.h"
#include "data/table/date.h"

#include <math.h>

/* --- the calendar ---------------------------------------------------------------------------- */

/* Every day from the first on, by going on to the next. */
TEST(every_day)
{
    static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    double           days;
    assert_true(cri_date_days(1, 1, 1, &days));
    double first = days;
    size_t n = 0;
    for (int y = 1; y <= 9999; y++) {
        bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
        int  of_year = 0;
        for (int m = 1; m <= 12; m++) {
            int length = lengths[m - 1] + (m == 2 && leap);
            for (int d = 1; d <= length; d++, n++) {
                assert_true(cri_date_days(y, m, d, &days) && days == first + (double)n);
                if (n % 7 != 0 && y % 50 != 0) continue; /* these suffice for the way back */
                cri_calendar c = cri_date_calendar(CR_DATE, days);
                assert_true(c.year == y && c.month == m && c.day == d);
                assert_int_equal(c.weekday, n % 7); /* 0001-01-01 is a Monday */
                assert_int_equal(c.dayofyear, of_year + d);
            }
            of_year += length;
            assert_false(cri_date_days(y, m, length + 1, &days));
        }
    }
    assert_int_equal(n, 3652059);
    assert_true(cri_date_days(1970, 1, 1, &days) && days == 0);
}

TEST(texts)
{
    struct {
        const char   *text;
        cri_date_kind kind;
        double        value;
        const char   *printed;
    } cases[] = {
        { "1970-01-01", CRI_DATE_DAY, 0, "1970-01-01" },
        { "2023-01-31", CRI_DATE_DAY, 19388, "2023-01-31" },
        { "1959-12-31", CRI_DATE_DAY, -3654, "1959-12-31" },
        { "2000-02-29", CRI_DATE_DAY, 11016, "2000-02-29" },
        { "2023-01-31T10:20:30", CRI_DATE_TIME, 1675160430, "2023-01-31T10:20:30" },
        { "2023-01-31 10:20", CRI_DATE_TIME, 1675160400, "2023-01-31T10:20:00" },
        { "2023-01-31T10:20:30.25Z", CRI_DATE_TIME, 1675160430.25, "2023-01-31T10:20:30.25" },
        { "2023-01-31T00:20+02:00", CRI_DATE_TIME, 1675117200, "2023-01-30T22:20:00" },
        { "2023-01-31 10:20:30 -0530", CRI_DATE_TIME, 1675180230, "2023-01-31T15:50:30" },
        { "1969-12-31T23:59:59.5", CRI_DATE_TIME, -0.5, "1969-12-31T23:59:59.5" },
        { "2023-02-29", CRI_DATE_IMPOSSIBLE, 0, NULL },
        { "1900-02-29", CRI_DATE_IMPOSSIBLE, 0, NULL },
        { "2023-13-01", CRI_DATE_IMPOSSIBLE, 0, NULL },
        { "2023-01-31T24:00", CRI_DATE_IMPOSSIBLE, 0, NULL },
        { "0000-01-01", CRI_DATE_IMPOSSIBLE, 0, NULL },
        { "0001-01-01T00:00+01:00", CRI_DATE_IMPOSSIBLE, 0, NULL },
        { "9999-12-31T23:59:59-01:00", CRI_DATE_IMPOSSIBLE, 0, NULL },
        { "2023-1-31", CRI_DATE_NOT, 0, NULL },
        { "2023-01-311", CRI_DATE_NOT, 0, NULL },
        { "2023-01", CRI_DATE_NOT, 0, NULL },
        { "2023-01-31T", CRI_DATE_NOT, 0, NULL },
        { "2023-01-31T10:20:30.", CRI_DATE_NOT, 0, NULL },
        { "2023-01-31T10:20+2", CRI_DATE_NOT, 0, NULL },
        { "x", CRI_DATE_NOT, 0, NULL },
        { "", CRI_DATE_NOT, 0, NULL },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double value = 4711;
        char   printed[CRI_DATE_SIZE];
        assert_int_equal(cri_date_read(cases[k].text, &value), cases[k].kind);
        if (cases[k].kind < CRI_DATE_DAY) continue;
        assert_true(value == cases[k].value);
        cri_date_print(cases[k].kind == CRI_DATE_DAY ? CR_DATE : CR_DATETIME, value, printed);
        assert_string_equal(printed, cases[k].printed);
    }
}

TEST(formats)
{
    struct {
        const char   *text, *format;
        cri_date_kind kind;
        double        value;
    } cases[] = {
        { "31.01.2023", "%d.%m.%Y", CRI_DATE_DAY, 19388 },
        { "1.2.2023", "%d.%m.%Y", CRI_DATE_DAY, 19389 },
        { "01/31/2023", "%m/%d/%Y", CRI_DATE_DAY, 19388 },
        { "31-Jan-23", "%d-%b-%y", CRI_DATE_DAY, 19388 },
        { "31 january 1969", "%d %B %Y", CRI_DATE_DAY, -335 },
        { "1-Jan-69", "%d-%b-%y", CRI_DATE_DAY, -365 },
        { "1-Jan-68", "%d-%b-%y", CRI_DATE_DAY, 35794 },
        { "2023031", "%Y%j", CRI_DATE_DAY, 19388 },
        { "20230131", "%Y%m%d", CRI_DATE_DAY, 19388 },
        { "1675160430", "%s", CRI_DATE_TIME, 1675160430 },
        { "31.01.2023 10:20", "%d.%m.%Y %H:%M", CRI_DATE_TIME, 1675160400 },
        { "2023-01-31 10:20:30.25", "%F %T", CRI_DATE_TIME, 1675160430.25 },
        { "2023-01-31T12:20:30+0200", "%FT%T%z", CRI_DATE_TIME, 1675160430 },
        { "100%2023-01-31", "100%%%F", CRI_DATE_DAY, 19388 },
        { "1/31/2023 10:20 am", "%m/%d/%Y %I:%M %p", CRI_DATE_TIME, 1675160400 },
        { "1/31/2023 12:20AM", "%m/%d/%Y %I:%M %p", CRI_DATE_TIME, 1675160400 - 36000 },
        { "PM 12:20 31.01.2023", "%p %I:%M %d.%m.%Y", CRI_DATE_TIME, 1675160400 + 7200 },
        { "1/31/2023 0:20 AM", "%m/%d/%Y %I:%M %p", CRI_DATE_IMPOSSIBLE, 0 },
        { "1/31/2023 13:20 PM", "%m/%d/%Y %I:%M %p", CRI_DATE_IMPOSSIBLE, 0 },
        { "1/31/2023 1:20 XM", "%m/%d/%Y %I:%M %p", CRI_DATE_NOT, 0 },
        { "31.02.2023", "%d.%m.%Y", CRI_DATE_IMPOSSIBLE, 0 },
        { "2023366", "%Y%j", CRI_DATE_IMPOSSIBLE, 0 },
        { "2023000", "%Y%j", CRI_DATE_IMPOSSIBLE, 0 },
        { "253402300799", "%s", CRI_DATE_TIME, 253402300799 },
        { "253402300800", "%s", CRI_DATE_IMPOSSIBLE, 0 }, /* the year 10000 */
        { "1675160430000", "%s", CRI_DATE_IMPOSSIBLE, 0 },
        { "-99999999999", "%s", CRI_DATE_IMPOSSIBLE, 0 },
        { "31.01.2023x", "%d.%m.%Y", CRI_DATE_NOT, 0 },
        { "31.01.", "%d.%m.%Y", CRI_DATE_NOT, 0 },
        { "31-Jax-23", "%d-%b-%y", CRI_DATE_NOT, 0 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double value = 4711;
        assert_null(cri_date_format_fault(cases[k].format));
        assert_int_equal(cri_date_read_as(cases[k].text, cases[k].format, &value), cases[k].kind);
        if (cases[k].kind >= CRI_DATE_DAY) assert_true(value == cases[k].value);
    }
    assert_non_null(cri_date_format_fault("%d.%Q"));
    assert_non_null(cri_date_format_fault("day %"));
    assert_non_null(cri_date_format_fault("day"));
}

/* --- columns --------------------------------------------------------------------------------- */

static cr_status try_read(cr_ctx *cx, const char *text, const char *name, const char *value,
                          cr_table **out)
{
    cr_read_options o;
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    if (name) assert_ok(cx, cr_options_set(cx, cr_read_table, &o, name, value));
    cr_status st = cr_table_read(cx, test_file("t.csv", text, strlen(text)), &o, out);
    cr_options_free(cx, cr_read_table, &o);
    return st;
}

TEST(columns)
{
    cr_table *t = table_of_text(
        cx, "t.csv", "d,t,c\n2023-01-31,2023-01-31T10:20:30,a\n,2023-02-01,b\n1970-01-02,,c\n");
    const cr_column *d = cr_table_find(t, "d"), *s = cr_table_find(t, "t");
    assert_int_equal(d->type, CR_DATE);
    assert_true(d->values[0] == 19388 && isnan(d->values[1]) && d->values[2] == 1);
    assert_int_equal(d->missing, 1);
    assert_int_equal(s->type, CR_DATETIME);
    assert_true(s->values[0] == 1675160430 && s->values[1] == 86400.0 * 19389 &&
                isnan(s->values[2]));
    assert_int_equal(cr_table_find(t, "c")->type, CR_CATEGORY);

    cr_table *texts = NULL, *dates = NULL;
    assert_ok(cx, try_read(cx, "d,x\n2023-01-31,1\n", "category", "d", &texts));
    assert_int_equal(cr_table_find(texts, "d")->type, CR_CATEGORY);
    cr_table_free(cx, texts);
    assert_ok(cx, try_read(cx, "d,x\n31.01.2023,1\n", "date", "d:%d.%m.%Y", &dates));
    assert_true(cr_table_find(dates, "d")->values[0] == 19388);
    assert_string_equal(cri_table_date_format(dates, "d"), "%d.%m.%Y");
    cr_table_free(cx, dates);
    assert_ok(cx, try_read(cx, "d,x\n20230131,1\n", "date", "d:%Y%m%d", &dates));
    assert_true(cr_table_find(dates, "d")->values[0] == 19388);
    cr_table_free(cx, dates);
}

TEST(refused)
{
    cr_table *t = NULL;
    assert_fails_with(cx, try_read(cx, "d,x\n2023-01-31,1\n2023-02-30,2\n", NULL, NULL, &t),
                      CR_EDATA, "t.csv:3: '2023-02-30' in column 'd' is not a valid date");
    assert_fails_with(cx, try_read(cx, "d,x\n2023-01-31,1\nsoon,2\n", "date", "d", &t), CR_EDATA,
                      "t.csv:3: 'soon' in column 'd' is not a date such as 2023-01-31");
    assert_non_null(strstr(cr_error_hint(cx), "--date"));
    assert_fails_with(cx, try_read(cx, "d,x\n31/1/2023,1\n", "date", "d:%d.%m.%Y", &t), CR_EDATA,
                      "is not a date of the form %d.%m.%Y");
    assert_fails_with(cx, try_read(cx, "d,x\n2023-01-31,1\n", "date", "d:%Q", &t), CR_EARG,
                      "--date: the format '%Q' is not valid");
    assert_fails_with(cx, try_read(cx, "d,x\n1675160430000,1\n", "date", "d:%s", &t), CR_EDATA,
                      "t.csv:2: '1675160430000' in column 'd' is not a valid date");
    assert_non_null(strstr(cr_error_hint(cx), "divide milliseconds by 1000"));
    assert_fails_with(cx, try_read(cx, "d,x\n2023-01-31,1\n", "date", "e", &t), CR_EDATA,
                      "column 'e' not found");
    assert_null(t);
    t = table_of_text(cx, "t.csv", "d,x\n2023-01-31,1\n2023-02-01,2\n");
    cr_design *design = NULL;
    assert_fails_with(cx, try_design(cx, t, "target=d", false, &design), CR_EDATA,
                      "the target 'd' is a date, which models do not predict");
}

/* Blocks of a stream have the numbers of the whole. */
TEST(streams)
{
    enum { ROWS = 50 };
    char text[4096], *at = text + sprintf(text, "d,x\n");
    for (int i = 0; i < ROWS; i++)
        at += sprintf(at, "2023-%02d-%02d,%d\n", 1 + i / 28, 1 + i % 28, i);
    const char     *path = test_file("s.csv", text, strlen(text));
    cr_table       *all = read_table(cx, path), *block = NULL;
    cr_stream      *s = NULL;
    cr_read_options o;
    size_t          row = 0;
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    assert_ok(cx, cr_stream_open(cx, path, &o, 7, &s));
    while (assert_ok(cx, cr_stream_next(cx, s, &block)), block) {
        const cr_column *c = cr_table_find(block, "d");
        assert_int_equal(c->type, CR_DATE);
        for (size_t i = 0; i < cr_table_rows(block); i++)
            assert_true(c->values[i] == cr_table_find(all, "d")->values[row++]);
        cr_table_free(cx, block);
    }
    assert_int_equal(row, ROWS);
    cr_stream_free(cx, s);
    cr_options_free(cx, cr_read_table, &o);
}

/* --- designs --------------------------------------------------------------------------------- */

/* Days since the first. */
TEST(origin)
{
    cr_table  *t = table_of_text(cx, "t.csv", "d,y\n2023-01-31,1\n2023-01-29,2\n2024-01-29,3\n");
    cr_design *d = design_of(cx, t, "target=y", false);
    check_matrix(cx, d, t, ((double[]){ 2, 0, 365 }), 0);
    assert_true(cr_design_column_origin(d, 0) == 19386);
    cr_table *times = table_of_text(cx, "u.csv", "d\n2023-01-29T06:00\n2023-01-30T12:00Z\n");
    check_matrix(cx, d, times, ((double[]){ 0.25, 1.5 }), 1e-12);
    cr_table *numbers = table_of_text(cx, "v.csv", "d\n19386\n");
    check_open_fails(cx, d, numbers, CRI_TARGET_NONE,
                     "column 'd' contains numbers, but the model needs dates");
    cr_table *texts = table_of_text(cx, "w.csv", "d,x\n1/2/23,1\n");
    check_open_fails(cx, d, texts, CRI_TARGET_NONE,
                     "column 'd' contains texts, but the model needs dates");
    cri_design_free(cx, d);
    d = design_of(cx, numbers, "", false);
    check_open_fails(cx, d, t, CRI_TARGET_NONE,
                     "column 'd' contains dates, but the model needs numbers");
    cri_design_free(cx, d);
}

TEST(calendar_terms)
{
    cr_table *t = table_of_text(
        cx, "t.csv", "d,y\n2023-01-31T18:30,1\n2024-02-29T00:00,2\n2023-12-31T23:59:59,3\n");
    cr_setting        s = { "terms", "year(d), dayofyear(d), hour(d), month(d), weekday(d)" };
    cr_design_options o;
    cr_design        *d = NULL;
    cri_design_needs  codes = { .coding = CRI_CODING_CODE };
    set_options(cx, "target=y", &o);
    assert_ok(cx, cr_options_set(cx, cr_design_table, &o, s.name, s.value));
    assert_ok(cx, cri_design_fit(cx, t, &o, &codes, &d));
    assert_string_equal(terms_of(d), "year(d),dayofyear(d),hour(d),month(d),weekday(d)");
    check_matrix(cx, d, t,
                 ((double[]){ 2023, 31, 18.5, 0, 1, 2024, 60, 0, 1, 3, 2023, 365,
                              23.9997222222222222, 11, 6 }),
                 1e-12);
    cri_design_free(cx, d);
    assert_ok(cx, cri_design_fit(cx, t, &o, &(cri_design_needs){ 0 }, &d));
    assert_int_equal(cr_design_terms(d), 3 + 11 + 6);
    assert_string_equal(cr_design_term_name(d, 3), "month(d)=Feb");
    assert_string_equal(cr_design_term_name(d, 14), "weekday(d)=Tue");
    cri_design_free(cx, d);
    cr_options_free(cx, cr_design_table, &o);
}

TEST(life)
{
    char text[4096], *at = text + sprintf(text, "d,y\n");
    for (int i = 0; i < 40; i++)
        at += sprintf(at, "2023-%02d-%02d,%g\n", 1 + i * 7 % 12, 1 + i * 5 % 28, sin(i));
    cr_table *t = table_of_text(cx, "t.csv", text);
    check_every_allocation_with_update(t, "linear", "target=y");
    check_every_allocation(t, "ridge", "target=y terms=bspline(d,4),weekday(d),month(d):d");
    check_every_allocation(t, "tree", "target=y terms=d,weekday(d)");
}

static cr_status read_dates(cr_ctx *cx, void *path)
{
    cr_read_options o;
    cr_table       *t = NULL;
    cr_status       st = cr_options_init(cx, cr_read_table, &o);
    if (st == CR_OK) st = cr_options_set(cx, cr_read_table, &o, "date", "u:%d.%m.%Y");
    if (st == CR_OK) st = cr_table_read(cx, path, &o, &t);
    cr_options_free(cx, cr_read_table, &o);
    cr_table_free(cx, t);
    return st;
}

TEST(allocations)
{
    static const char text[] = "d,u,x\n2023-01-31,1.2.2023,5\n,,4\n2023-01-30,2.2.2023,3\n";
    char             *path = strdup(test_file("t.csv", text, strlen(text)));
    test_every_allocation_fails(read_dates, path);
    free(path);
}
