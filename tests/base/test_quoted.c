/* test_quoted.c -- names in quotes: how many are named, and what does not fit. */
#include "support.h"
#include "base/quoted.h"

TEST(names)
{
    cri_quoted none = { .most = 3 }, three = { .most = 3 }, four = { .most = 3 };
    assert_string_equal(cri_quoted_text(&none), "");
    cri_quoted_add(&three, "a");
    cri_quoted_add(&three, "it's");
    cri_quoted_add(&three, "");
    assert_string_equal(cri_quoted_text(&three), "'a', 'it's', ''");
    assert_int_equal(three.n, 3);
    for (size_t i = 0; i < 4; i++) cri_quoted_add(&four, "x");
    assert_string_equal(cri_quoted_text(&four), "'x', 'x', 'x', ...");
    assert_int_equal(four.n, 4);
}

/* Names that do not fit are left out, shorter ones behind them are not; the text keeps its end. */
TEST(workspace)
{
    char       longest[4000], *end;
    cri_quoted list = { .most = SIZE_MAX };
    memset(longest, 'n', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    cri_quoted_add(&list, longest);
    assert_string_equal(cri_quoted_text(&list), "...");
    for (size_t i = 0; i < 1000; i++) cri_quoted_add(&list, "name");
    const char *text = cri_quoted_text(&list);
    assert_true(strlen(text) < sizeof list.text && strlen(text) > sizeof list.text - 20);
    end = strstr(text, ", ...");
    assert_non_null(end);
    assert_string_equal(end, ", ...");
    assert_int_equal(list.n, 1001);
    for (size_t n = 1180; n < 1200; n++) { /* up to the last byte */
        cri_quoted one = { .most = 1 };
        longest[n] = '\0';
        cri_quoted_add(&one, longest);
        text = cri_quoted_text(&one);
        assert_true(strlen(text) == n + 2 || strcmp(text, "...") == 0);
        longest[n] = 'n';
    }
}
