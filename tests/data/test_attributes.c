/* test_attributes.c -- files of attributes as tables: names, values, weights, escapes, blank lines, faults. */
#include "support.h"
#include "data/formats/attributes.h"
#include "data/formats/read.h"

static cr_table *read_text(cr_ctx *cx, const char *text)
{
    cr_table *t = NULL;
    assert_ok(cx, cri_attributes_read(cx, "a.crfsuite", text, strlen(text), &t));
    return t;
}

static const char *level(const cr_table *t, const char *column, size_t row)
{
    const cr_column *c = cr_table_find(t, column);
    assert_non_null(c);
    assert_int_equal(c->type, CR_CATEGORY);
    return c->codes[row] == CR_MISSING_CODE ? NULL : c->levels[c->codes[row]];
}

static double number(const cr_table *t, const char *column, size_t row)
{
    const cr_column *c = cr_table_find(t, column);
    assert_non_null(c);
    assert_int_not_equal(c->type, CR_CATEGORY);
    return c->values[row * c->stride];
}

TEST(rows_and_sequences)
{
    cr_table *t = read_text(cx, "\xEF\xBB\xBF"
                                "B\tw[0]=the\tbias\r\nI\tw[0]=cat=s\tlength:3.5\r\n\r\n\n"
                                "O\tbias:2\t\tw[0]=\n\tw[0]=7\\:\\\\x\n");
    assert_int_equal(cr_table_rows(t), 4);
    assert_int_equal(cr_table_columns(t), 5);
    const double sequence[] = { 1, 1, 2, 2 };
    for (size_t i = 0; i < 4; i++) assert_close(number(t, "sequence", i), sequence[i], 0);
    assert_string_equal(level(t, "label", 0), "B");
    assert_string_equal(level(t, "label", 2), "O");
    assert_null(level(t, "label", 3));
    assert_string_equal(level(t, "w[0]", 1), "cat=s");
    assert_string_equal(level(t, "w[0]", 2), "");
    assert_string_equal(level(t, "w[0]", 3), "7:\\x");
    assert_close(number(t, "bias", 0), 1, 0);
    assert_close(number(t, "bias", 1), 0, 0);
    assert_close(number(t, "bias", 2), 2, 0);
    assert_close(number(t, "length", 1), 3.5, 0);
    assert_int_equal(cr_table_find(t, "bias")->type, CR_INTEGER);
    assert_int_equal(cr_table_find(t, "length")->type, CR_REAL);
    cr_table_free(cx, t);
}

TEST(a_value_with_a_weight_is_a_number)
{
    cr_table *t = read_text(cx, "A\tw=the:0.5\nB\tv=1\n");
    assert_close(number(t, "w=the", 0), 0.5, 0);
    assert_close(number(t, "w=the", 1), 0, 0);
    assert_null(level(t, "v", 0));
    assert_string_equal(level(t, "v", 1), "1");
    cr_table_free(cx, t);
}

TEST(faults)
{
    const struct {
        const char *text, *says;
    } cases[] = { { "", "there are no rows" },
                  { "\n\n", "there are no rows" },
                  { "A\tw=1\tw=2\n", "a.crfsuite:1: the attribute 'w' is there twice in a row" },
                  { "A\tw=1\nB\tw\n", "a.crfsuite:2: the attribute 'w' has a value in one row" },
                  { "A\tw:x\n", "has a weight that is not a number" },
                  { "A\tw:\n", "has a weight that is not a number" },
                  { "A\tw:inf\n", "has a weight that is not a number" },
                  { "A\t=x\n", "an attribute without a name" },
                  { "A\t:1\n", "an attribute without a name" },
                  { "A\tlabel=x\n", "label" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_table *t = NULL;
        assert_fails_with(
            cx, cri_attributes_read(cx, "a.crfsuite", cases[i].text, strlen(cases[i].text), &t),
            CR_EDATA, cases[i].says);
        assert_null(t);
    }
    cr_table *t = NULL;
    assert_fails_with(cx, cri_attributes_read(cx, "a", "A\tb\0c", 5, &t), CR_EDATA, "zero bytes");
}

/* By the name of the file, and by --from. */
TEST(read_as_data)
{
    const char     *text = "A\tw=the\tx:1\n\nB\tw=cat\n";
    const char     *names[] = { "t.crfsuite", "t.txt" };
    cr_read_options o;
    for (size_t i = 0; i < 2; i++) {
        cr_table *t = NULL;
        assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
        if (i == 1) assert_ok(cx, cr_options_set(cx, cr_read_table, &o, "from", "attributes"));
        assert_ok(cx, cr_table_read(cx, test_file(names[i], text, strlen(text)), &o, &t));
        assert_int_equal(cr_table_columns(t), 4);
        assert_string_equal(level(t, "w", 1), "cat");
        cr_table_free(cx, t);
        cr_options_free(cx, cr_read_table, &o);
    }
}

static cr_status read_small(cr_ctx *cx, void *arg)
{
    const char *text = "A\tw=the\tx:1\n\nB\tw=cat\ty\n";
    cr_table   *t = NULL;
    cr_status   st = cri_attributes_read(cx, "a", text, strlen(text), &t);
    (void)arg;
    cr_table_free(cx, t);
    return st;
}

TEST(allocations) { test_every_allocation_fails(read_small, NULL); }
