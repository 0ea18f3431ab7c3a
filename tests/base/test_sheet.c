/* test_sheet.c -- sheets: what goes in comes out, as JSON that another reader understands; faults
 * against a declaration; failed allocations. */
#include "base/sheet.h"
#include "support.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const cr_field row_fields[] = { CR_TEXT("name", 0, ""),
                                       CR_NUMBER("value", CR_FIELD_NULL, ""), CR_FIELD_LAST };

static const cr_field fields[] = {
    CR_TEXT("text", CR_FIELD_SOMETIMES, ""),
    CR_COUNT("count", 0, ""),
    CR_NUMBER("real", CR_FIELD_EITHER, ""),
    CR_FLAG("flag", CR_FIELD_SOMETIMES, ""),
    CR_OTHER(TEXTS, "texts", CR_FIELD_SOMETIMES, ""),
    CR_OTHER(MATRIX, "matrix", CR_FIELD_SOMETIMES, ""),
    CR_OTHER(VALUES, "values", CR_FIELD_SOMETIMES, ""),
    CR_OTHER(NUMBERS, "numbers", CR_FIELD_SOMETIMES, ""),
    CR_INNER(ROWS, "rows", CR_FIELD_SOMETIMES, "", row_fields),
    CR_INNER(SCORES, "scores", CR_FIELD_SOMETIMES, "", row_fields),
    CR_INNER(OBJECT, "object", CR_FIELD_SOMETIMES, "", row_fields),
    CR_NUMBER("share(CLASS)", CR_FIELD_SOMETIMES, ""),
    CR_FIELD_LAST,
};

static void fill(cri_sheet *s)
{
    const double line[] = { 1.5, NAN, -INFINITY };
    cri_sheet   *part, *row;
    cri_put_text(s, "text", "quo\"te, back\\slash, tab\t, line\n, bell\a, \xc3\xa9");
    cri_put_count(s, "count", 7);
    cri_put_real(s, "real", 0.1);
    cri_put_flag(s, "flag", true);
    part = cri_put_list(s, "texts");
    cri_put_text(part, NULL, "a");
    cri_put_textf(part, NULL, "%d and %s", 2, "more");
    cri_put_reals(cri_put_list(s, "matrix"), NULL, line, 3);
    part = cri_put_object(s, "values");
    cri_put_null(part, "none");
    cri_put_text(part, "other", NULL);
    part = cri_put_list(s, "rows");
    for (size_t i = 0; i < 3; i++) {
        row = cri_put_object(part, NULL);
        cri_put_textf(row, "name", "row %zu", i);
        cri_put_real(row, "value", i == 1 ? (double)NAN : (double)i);
    }
    cri_put_real(s, "share(red)", 0.25);
}

static json_t *parsed(cr_ctx *cx, const cri_sheet *s)
{
    char *text = NULL;
    assert_ok(cx, cri_sheet_to_json(cx, s, &text));
    json_t *d = json_loads(text, 0, NULL);
    assert_non_null(d);
    cr_free(cx, text, strlen(text) + 1, 1);
    return d;
}

TEST(what_goes_in_comes_out)
{
    cri_sheet *s = cri_sheet_new(cx);
    fill(s);
    assert_ok(cx, cri_sheet_status(s));
    json_t *
        d = parsed(cx, s),
       *want = json_pack(
           "{s:s, s:i, s:f, s:b, s:[s, s], s:[[f, n, n]], s:{s:n, s:n}, s:[{s:s, s:f}, {s:s, s:n}, "
           "{s:s, s:f}], s:f}",
           "text", "quo\"te, back\\slash, tab\t, line\n, bell\a, \xc3\xa9", "count", 7, "real", 0.1,
           "flag", 1, "texts", "a", "2 and more", "matrix", 1.5, "values", "none", "other", "rows",
           "name", "row 0", "value", 0.0, "name", "row 1", "value", "name", "row 2", "value", 2.0,
           "share(red)", 0.25);
    assert_non_null(want);
    assert_true(json_equal(d, want));
    assert_int_equal(cri_sheet_size(cri_sheet_get(s, "rows")), 3);
    assert_int_equal(cri_sheet_count(cri_sheet_get(s, "count")), 7);
    assert_true(isnan(cri_sheet_real(cri_sheet_get(s, "text"))));
    assert_null(cri_sheet_text(cri_sheet_get(s, "count")));
    assert_null(cri_sheet_get(s, "nothing"));
    json_decref(d);
    json_decref(want);
    cri_sheet_free(s);
}

TEST(copies_and_joined_texts_are_the_same)
{
    cri_sheet *s = cri_sheet_new(cx), *copy = cri_sheet_new(cx);
    fill(s);
    for (const cri_sheet *v = cri_sheet_first(s); v; v = cri_sheet_next(v))
        cri_put_copy(copy, cri_sheet_name(v), v);
    json_t *a = parsed(cx, s), *b = parsed(cx, copy);
    assert_true(json_equal(a, b));
    cri_put_joined(copy, "joined", cri_sheet_get(s, "texts"), ", ");
    assert_string_equal(cri_sheet_text(cri_sheet_get(copy, "joined")), "a, 2 and more");
    json_decref(a);
    json_decref(b);
    cri_sheet_free(s);
    cri_sheet_free(copy);
}

/* Names of texts alone are joined without printf: the same text as by it, whatever their lengths. */
TEST(formats_of_texts_alone)
{
    for (size_t length = 0; length < 600; length += length < 240 || length > 270 ? 20 : 1) {
        cri_sheet *s = cri_sheet_new(cx);
        char       name[601], want[1300];
        memset(name, 'x', length);
        name[length] = '\0';
        cri_put_textf(s, "two", "%s.%s", name, "z1");
        cri_put_textf(s, "more", "a %s%s=%s%%", name, name, "b");
        cri_put_textf(s, "mixed", "%s %.1f", name, 0.5);
        assert_ok(cx, cri_sheet_status(s));
        snprintf(want, sizeof want, "%s.%s", name, "z1");
        assert_string_equal(cri_sheet_text(cri_sheet_get(s, "two")), want);
        snprintf(want, sizeof want, "a %s%s=%s%%", name, name, "b");
        assert_string_equal(cri_sheet_text(cri_sheet_get(s, "more")), want);
        snprintf(want, sizeof want, "%s %.1f", name, 0.5);
        assert_string_equal(cri_sheet_text(cri_sheet_get(s, "mixed")), want);
        cri_sheet_free(s);
    }
}

/* What is not there has no next, and its copy is null. */
TEST(nothing_is_read_of_nothing)
{
    cri_sheet *s = cri_sheet_new(cx);
    assert_null(cri_sheet_next(cri_sheet_first(cri_sheet_get(s, "none"))));
    cri_put_copy(s, "copy", cri_sheet_get(s, "none"));
    assert_int_equal(cri_sheet_size(s), 1);
    assert_int_equal(cri_sheet_kind_of(cri_sheet_get(s, "copy")), CRI_SHEET_NULL);
    cri_put_copy(NULL, "copy", s);
    assert_ok(cx, cri_sheet_status(s));
    cri_sheet_free(s);
}

TEST(a_cleared_sheet_is_empty_and_used_again)
{
    cri_sheet *s = cri_sheet_new(cx);
    for (size_t turn = 0; turn < 50; turn++) {
        cri_sheet_clear(s);
        assert_int_equal(cri_sheet_size(s), 0);
        for (size_t i = 0; i < 40 * turn; i++) cri_put_textf(s, "a name", "%0*zu", (int)turn, i);
        fill(s);
        assert_int_equal(cri_sheet_count(cri_sheet_get(s, "count")), 7);
    }
    assert_ok(cx, cri_sheet_status(s));
    cri_sheet_free(s);
}

static void check_fault(cr_ctx *cx, void (*change)(cri_sheet *s), const char *words)
{
    char       fault[128];
    cri_sheet *s = cri_sheet_new(cx);
    fill(s);
    change(s);
    assert_true(cri_sheet_find_fault(s, fields, fault, sizeof fault));
    assert_string_equal(fault, words);
    cri_sheet_free(s);
}

static void add_unknown(cri_sheet *s) { cri_put_real(s, "unknown", 1); }
static void add_wrong(cri_sheet *s) { cri_put_text(cri_put_object(s, "numbers"), "x", "text"); }
static void add_null(cri_sheet *s) { cri_put_real(s, "share(blue)", NAN); }
static void add_open(cri_sheet *s) { cri_put_real(s, "share(blue", 1); }
static void add_row(cri_sheet *s)
{
    cri_put_count(cri_put_object(cri_sheet_get(s, "rows"), NULL), "name", 1);
}
static void add_short(cri_sheet *s) { cri_put_text(cri_put_object(s, "object"), "name", "x"); }

TEST(faults_against_a_declaration_are_found)
{
    char       fault[128];
    cri_sheet *s = cri_sheet_new(cx), *row;
    fill(s);
    assert_false(cri_sheet_find_fault(s, fields, fault, sizeof fault));
    row = cri_put_object(cri_put_list(s, "scores"), NULL);
    cri_put_text(row, "name", "x");
    cri_put_null(row, "value");
    cri_put_real(row, "any other number", 1);
    assert_false(cri_sheet_find_fault(s, fields, fault, sizeof fault));
    cri_sheet_clear(s);
    assert_true(cri_sheet_find_fault(s, fields, fault, sizeof fault));
    assert_string_equal(fault, "count is missing");
    cri_sheet_free(s);
    check_fault(cx, add_unknown, "unknown is not declared");
    check_fault(cx, add_wrong, "numbers is of another kind");
    check_fault(cx, add_null, "share(blue) is null and not declared so");
    check_fault(cx, add_open, "share(blue is not declared");
    check_fault(cx, add_row, "name is of another kind");
    check_fault(cx, add_short, "value is missing");
}

static cr_status make(cr_ctx *cx, void *arg)
{
    char      *text = NULL;
    cri_sheet *s = cri_sheet_new(cx);
    (void)arg;
    for (size_t i = 0; i < 300; i++) cri_put_textf(s, "long", "%0200zu", i);
    fill(s);
    cr_status st = cri_sheet_status(s);
    if (st == CR_OK) st = cri_sheet_to_json(cx, s, &text);
    if (text) cr_free(cx, text, strlen(text) + 1, 1);
    cri_sheet_free(s);
    return st;
}

TEST(every_allocation_may_fail) { test_every_allocation_fails(make, NULL); }
