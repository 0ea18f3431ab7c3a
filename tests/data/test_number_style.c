/* test_number_style.c -- numbers as people write them, and how a file's style is found. */
#include "csv_fixture.h"
#include "data/csv/number_style.h"

static const cri_number_style european = { ',', '.', CRI_SIGN_NONE },
                              american = { '.', ',', CRI_SIGN_NONE },
                              french = { ',', ' ', CRI_SIGN_NONE },
                              swiss = { '.', '\'', CRI_SIGN_NONE }, plain = { '.', 0, 0 };

TEST(each_style_reads_its_own)
{
    const struct {
        const cri_number_style *style;
        const char             *text;
        double                  value;
        cri_number_sign         sign;
    } good[] = {
        { &european, "1.258,91", 1258.91, CRI_SIGN_NONE },
        { &european, "-1.234.567", -1234567, CRI_SIGN_NONE },
        { &european, "0,5", 0.5, CRI_SIGN_NONE },
        { &european, "12,5 %", 0.125, CRI_SIGN_PERCENT },
        { &european, "1.234,50 \xe2\x82\xac", 1234.5, CRI_SIGN_EURO },
        { &american, "1,234.56", 1234.56, CRI_SIGN_NONE },
        { &american, "$1,234", 1234, CRI_SIGN_DOLLAR },
        { &american, "-$0.07", -0.07, CRI_SIGN_DOLLAR },
        { &american, "\xc2\xa3 3", 3, CRI_SIGN_POUND },
        { &french,
          "1\xc2\xa0"
          "234,5",
          1234.5, CRI_SIGN_NONE },
        { &french, "12 345 678", 12345678, CRI_SIGN_NONE },
        { &french,
          "1\xe2\x80\xaf"
          "000",
          1000, CRI_SIGN_NONE },
        { &swiss, "1'234.5", 1234.5, CRI_SIGN_NONE },
        { &swiss,
          "\xe2\x88\x92"
          "2.5e3",
          -2500, CRI_SIGN_NONE },
        { &plain, "12.3%", 0.123, CRI_SIGN_PERCENT }, /* exactly, not 12.3 / 100 rounded twice */
        { &plain, "inf", INFINITY, CRI_SIGN_NONE },
        { &american, "(1,234.50)", -1234.5, CRI_SIGN_NONE },
        { &american, "($1,234.50)", -1234.5, CRI_SIGN_DOLLAR },
        { &american, "$(7)", -7, CRI_SIGN_DOLLAR },
        { &european, "(1.234,50) \xe2\x82\xac", -1234.5, CRI_SIGN_EURO },
        { &plain, "(12.5 %)", -0.125, CRI_SIGN_PERCENT },
        { &plain,
          "\xc2\xa0"
          "5\xc2\xa0",
          5, CRI_SIGN_NONE },
        { &french,
          "1\xe2\x80\x89"
          "234,5",
          1234.5, CRI_SIGN_NONE },
        { &swiss,
          "1\xe2\x80\x99"
          "234.5",
          1234.5, CRI_SIGN_NONE },
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double          x = NAN;
        unsigned        notes;
        cri_number_sign sign;
        const char     *end = good[i].text + strlen(good[i].text);
        if (!cri_read_styled(good[i].style, good[i].text, end, &x, &notes, &sign))
            fail_msg("'%s' is not read", good[i].text);
        assert_true(x == good[i].value);
        assert_int_equal(sign, good[i].sign);
    }
}

TEST(what_is_no_number)
{
    const struct {
        const cri_number_style *style;
        const char             *text;
    } bad[] = { { &european, "1.25" },
                { &european, "12.34.567" },
                { &european, "1.2345,6" },
                { &european, "0.123" },
                { &european, "1,2,3" },
                { &american, "12,5" },
                { &american, "1,23.4" },
                { &american, ",123" },
                { &french, "1 23" },
                { &french, "1  234" },
                { &plain, "1,5" },
                { &plain, "5 % %" },
                { &plain, "$5 $" },
                { &plain, "%" },
                { &plain, "$" },
                { &plain, "" },
                { &plain, "1e5%" },
                { &plain, "--5" },
                { &plain, "(-5)" },
                { &plain, "-(5)" },
                { &plain, "(5" },
                { &plain, "5)" },
                { &plain, "((5))" },
                { &plain, "()" },
                { &plain, "5 apples" },
                { &plain, "1e" },
                { &plain, "." } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double          x;
        unsigned        notes;
        cri_number_sign sign;
        const char     *end = bad[i].text + strlen(bad[i].text);
        if (cri_read_styled(bad[i].style, bad[i].text, end, &x, &notes, &sign))
            fail_msg("'%s' is read as %g", bad[i].text, x);
    }
}

/* --- detection ------------------------------------------------------------------------------- */

static void check_column(cr_ctx *cx, const char *text, const cr_read_options *o, cr_type type,
                         double first)
{
    cr_table *t = read_good(cx, text, o);
    if (type_of(t, "a") != type) fail_msg("of the wrong type: %s", text);
    if (type != CR_CATEGORY) assert_true(cr_table_find(t, "a")->values[0] == first);
    cr_table_free(cx, t);
}

TEST(the_style_of_a_file_is_found)
{
    char comma[] = ",", point[] = ".", none[] = "none", space[] = "space";
    cr_ctx_set_threads(cx, 1);
    check_column(cx, "a;b\n1,5;2\n2,25;3\n", NULL, CR_REAL, 1.5);
    check_column(cx, "a;b\n1.234;2,5\n2.000;3\n", NULL, CR_INTEGER, 1234); /* by column b */
    check_column(cx, "a;b\n1.5;2\n2.25;3\n", NULL, CR_REAL, 1.5);
    check_column(cx, "a;b\n1,234;2\n2,345;3\n", NULL, CR_CATEGORY, 0); /* 1.234 or 1234 */
    check_column(cx, "a;b\n1,5;2.5\n2,5;3.5\n", NULL, CR_CATEGORY, 0); /* one file, two styles */
    check_column(cx, "a,b\n\"1,234\",2\n\"2,345.5\",3\n", NULL, CR_REAL, 1234);
    check_column(cx, "a,b\n\"1,234\",2\n\"999\",3\n", NULL, CR_INTEGER, 1234);
    check_column(cx, "a,b\n\"1,5\",2\n\"2,5\",3\n", NULL, CR_CATEGORY, 0);
    check_column(cx, "a,b\n5 %,2\n7%,3\n,4\n", NULL, CR_REAL, 0.05);
    check_column(cx, "a,b\n5 %,2\n7,3\n", NULL, CR_CATEGORY, 0); /* 7 or 0.07 */
    check_column(cx, "a,b\n$5,2\n7,3\n", NULL, CR_INTEGER, 5);
    check_column(cx, "a,b\n5,2\n$7,3\n", NULL, CR_INTEGER, 5);
    check_column(cx, "a,b\n(5.5),2\n7,3\n", NULL, CR_REAL, -5.5);
    check_column(cx, "a,b\n\"(1,234.50)\",2\n\"2,000\",3\n", NULL, CR_REAL, -1234.5);
    check_column(cx, "a,b\n(1),2\n(2),3\n", NULL, CR_CATEGORY, 0); /* labels */
    check_column(cx,
                 "a,b\n\xe2\x88\x92"
                 "5,2\n7,3\n",
                 NULL, CR_INTEGER, -5);
    check_column(cx,
                 "a;b\n1\xe2\x80\x89"
                 "234,5;2\n7;3\n",
                 NULL, CR_REAL, 1234.5);
    check_column(cx,
                 "a,b\n$5,2\n\xe2\x82\xac"
                 "7,3\n",
                 NULL, CR_CATEGORY, 0);
    check_column(cx, "a\tb\n1 234\t2\n12 345\t3\n", NULL, CR_INTEGER, 1234);
    check_column(cx, "a;b\n1,234;2\n2,345;3\n", &(cr_read_options){ .decimal = comma }, CR_REAL,
                 1.234);
    check_column(cx, "a;b\n1,234;2\n2,345;3\n", &(cr_read_options){ .thousands = comma },
                 CR_INTEGER, 1234);
    check_column(cx, "a;b\n1.234;2\n2.345;3\n", &(cr_read_options){ .thousands = point },
                 CR_INTEGER, 1234);
    check_column(cx, "a;b\n1 234,5;2\n2;3\n",
                 &(cr_read_options){ .decimal = comma, .thousands = space }, CR_REAL, 1234.5);
    check_column(cx, "a,b\n\"1,234\",2\n\"2,345\",3\n", &(cr_read_options){ .thousands = none },
                 CR_CATEGORY, 0);
    check_column(cx, "a,b\n\"1,25\",2\n\"2,5\",3\n", &(cr_read_options){ .decimal = comma },
                 CR_REAL, 1.25);
    check_column(cx, "a,b\n1 %,2\n2 %,3\n", &(cr_read_options){ .category = (char[]){ "a" } },
                 CR_CATEGORY, 0);
}

TEST(records_of_numbers_are_no_header)
{
    cr_ctx_set_threads(cx, 1);
    cr_table *t = read_good(cx, "1,5;2,5\n3,5;4,5\n", NULL);
    assert_int_equal(cr_table_rows(t), 2);
    assert_true(cr_table_find(t, "x2")->values[1] == 4.5);
    cr_table_free(cx, t);
}

/* A later cell that does not fit makes the column one of texts, however the text is cut. */
TEST(later_cells_count_too)
{
    char  *text = malloc(1 << 20), *p = text;
    size_t n = 20000;
    p += sprintf(p, "a;b;c\n");
    for (size_t i = 0; i < n; i++) p += sprintf(p, "%zu,5;%zu %%;%zu,25\n", i, i % 100, i);
    p += sprintf(p, "1.5;7;3\n");
    for (size_t k = 0; k < 2; k++) {
        cr_ctx   *one = one_thread();
        cr_table *t = NULL;
        assert_ok(one, read_bytes(one, text, (size_t)(p - text), NULL, k ? &usual : &small, &t));
        assert_int_equal(type_of(t, "a"), CR_CATEGORY);
        assert_int_equal(type_of(t, "b"), CR_CATEGORY);
        assert_int_equal(type_of(t, "c"), CR_REAL);
        assert_true(cr_table_find(t, "c")->values[7] == 7.25);
        assert_string_equal(cell(t, "b", 7), "7 %");
        cr_table_free(one, t);
        test_context_free(one);
    }
    free(text);
}
