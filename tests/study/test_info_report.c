/* Questions about information as JSON: numbers of the functions behind them, refusals, memory. */
#include "support.h"

#include "study/info_report.h"

#include <jansson.h>

static cr_status make(cr_ctx *cx, cr_table **out)
{
    static const uint32_t    a[] = { 0, 0, 0, 1, 1, 2, 2, 2 }, b[] = { 0, 1, 0, 1, 0, 1, 0, 1 };
    static const char *const levels[] = { "x", "y", "z" };
    cr_status                st = cr_table_new(cx, "rows", 8, out);
    if (st == CR_OK) st = cr_table_add_category(cx, *out, "a", a, levels, 3);
    if (st == CR_OK) st = cr_table_add_category(cx, *out, "b", b, levels, 2);
    return st;
}

static const cr_info_question usual = {
    .neighbours = 3, .level = 0.95, .length = 10, .beta = 0.1, .delta = 0.01, .top = CR_COUNT_UNSET
};

TEST(answers_are_those_of_the_functions)
{
    cr_table        *t = NULL;
    char            *text = NULL, mutual[] = "a,b";
    cr_info_question q = usual;
    cr_info_options  how = { .neighbours = 3, .level = 0.95 };
    cr_information   g;
    q.mutual = mutual;
    q.unit = 1; /* nats */
    assert_ok(cx, make(cx, &t));
    assert_ok(cx, cr_info_report(cx, t, NULL, &q, 5, &text));
    assert_ok(cx, cr_table_mutual(cx, t, "a", "b", NULL, 0, &how, 5, &g));
    json_t *root = json_loads(text, 0, NULL), *found = json_object_get(root, "mutual");
    assert_close(json_number_value(json_object_get(found, "mutual")), g.value, 1e-15);
    assert_int_equal(json_integer_value(json_object_get(root, "seed")), 5);
    json_decref(root);
    cr_free(cx, text, strlen(text) + 1, 1);
    cr_table_free(cx, t);
}

/* An empty list of columns is all of them, as none is. */
TEST(no_columns_are_all_columns)
{
    cr_table        *t = NULL;
    char            *text[2] = { NULL, NULL }, none[] = "", both[] = "a,b";
    cr_info_question q = usual;
    q.matrix = true;
    assert_ok(cx, make(cx, &t));
    for (int k = 0; k < 2; k++) {
        q.columns = k ? both : none;
        assert_ok(cx, cr_info_report(cx, t, NULL, &q, 5, &text[k]));
    }
    assert_string_equal(text[0], text[1]);
    for (int k = 0; k < 2; k++) cr_free(cx, text[k], strlen(text[k]) + 1, 1);
    cr_table_free(cx, t);
}

TEST(options_that_exclude_each_other_are_refused)
{
    cr_table        *t = NULL;
    char            *text = NULL, mutual[] = "a,b";
    cr_info_question q = usual;
    assert_ok(cx, make(cx, &t));
    q.mutual = mutual;
    q.matrix = true;
    assert_fails_with(cx, cr_info_report(cx, t, NULL, &q, 0, &text), CR_EARG, "cannot be combined");
    q.matrix = false;
    assert_fails_with(cx, cr_info_report(cx, t, t, &q, 0, &text), CR_EARG, "two files");
    assert_fails_with(cx, cr_info_report(cx, NULL, NULL, &usual, 0, &text), CR_EARG, "needs data");
    assert_null(text);
    cr_table_free(cx, t);
}

static cr_status use(cr_ctx *cx, void *unused)
{
    cr_status        st = CR_OK;
    cr_table        *t = NULL;
    cr_info_question q = usual;
    (void)unused;
    CR_TRY(make(cx, &t));
    for (int k = 0; k < 4; k++) {
        char *text = NULL;
        q.matrix = k == 1;
        q.rows = k == 2;
        CR_TRY(cr_info_report(cx, t, k == 3 ? t : NULL, &q, 0, &text));
        cr_free(cx, text, strlen(text) + 1, 1);
    }
done:
    cr_table_free(cx, t);
    return st;
}

TEST(every_allocation_of_an_answer_may_fail)
{
    assert_non_null(cx);
    test_every_allocation_fails(use, NULL);
}
