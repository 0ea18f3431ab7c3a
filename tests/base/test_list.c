/* test_list.c -- lists with commas and quotes: reading, writing, and one back from the other. */
#include "support.h"
#include "base/list.h"
#include "base/rng.h"

typedef cr_status splitter(cr_scratch *s, const char *list, char ***items, size_t *n);

/* The items of a list, each in brackets. */
static const char *items_by(cr_ctx *cx, splitter *split, const char *list)
{
    static char text[256];
    char      **items = NULL;
    size_t      n = 4711;
    cr_scratch  s = cr_scratch_begin(cx);
    assert_ok(cx, split(&s, list, &items, &n));
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        strcat(text, "[");
        strcat(text, items[i]);
        strcat(text, "]");
    }
    cr_scratch_end(&s);
    return text;
}

static const char *items_of(cr_ctx *cx, const char *list)
{
    return items_by(cx, cri_list_split, list);
}

/* Commas that belong to a value. */
TEST(settings)
{
    static const struct {
        const char *list, *items;
    } cases[] = {
        { NULL, "" },
        { "a=1", "[a=1]" },
        { "a=1,b=2", "[a=1][b=2]" },
        { "features=a,b,c=3", "[features=a,b][c=3]" },
        { "kernel=rbf(x,l=3),noise=1", "[kernel=rbf(x,l=3)][noise=1]" },
        { "kernel=f(g(x,l=[1,2]),p=3)+h(y,p=1),b=2", "[kernel=f(g(x,l=[1,2]),p=3)+h(y,p=1)][b=2]" },
        { "features=[a,b]|[c],k=1", "[features=[a,b]|[c]][k=1]" },
        { "k=rbf(x,l=3", "[k=rbf(x,l=3]" },
        { "k=a),l=3", "[k=a)][l=3]" },
        { "\"k=a,b\",l=3", "[k=a,b][l=3]" },
        { "b,c", "[b,c]" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(items_by(cx, cri_list_settings, cases[i].list), cases[i].items);
}

TEST(splitting)
{
    static const struct {
        const char *list, *items;
    } cases[] = {
        { NULL, "" },
        { "", "" },
        { ",", "" },
        { ",,,", "" },
        { "a", "[a]" },
        { "a,b c,d", "[a][b c][d]" },
        { ",a,,b,", "[a][b]" },
        { " a , b ", "[ a ][ b ]" },
        { "\"k,1\",x", "[k,1][x]" },
        { "x,\"k,1\"", "[x][k,1]" },
        { "\"\"", "" },
        { "a,\"\",b", "[a][b]" },
        { "\"a\"", "[a]" },
        { "\"a\"\"b\"", "[a\"b]" },
        { "\"\"\"\"", "[\"]" },
        { "\"\"\",\"\"\"", "[\",\"]" },
        { "!id,!\"k,1\"", "[!id][!k,1]" },
        { "\"!k,1\"", "[!k,1]" },
        { "!\"\"", "[!]" },
        { "5\" disk,a\"b\"", "[5\" disk][a\"b\"]" }, /* quotes inside are plain */
        { "!!\"a,b", "[!!\"a][b]" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(items_of(cx, cases[i].list), cases[i].items);
        if (cases[i].list) assert_null(cri_list_fault(cases[i].list));
    }
}

TEST(faults)
{
    const char *const unclosed[] = { "\"", "a,\"b", "\"a\"\"", "!\"a,b", "\"a,b" };
    const char *const behind[] = { "\"a\"b", "\"a\" ,b", "x,\"a\"b,c", "!\"a\"!" };
    for (size_t i = 0; i < sizeof unclosed / sizeof *unclosed; i++)
        assert_non_null(strstr(cri_list_fault(unclosed[i]), "not closed"));
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        assert_non_null(strstr(cri_list_fault(behind[i]), "text between"));
    assert_string_equal(items_of(cx, "a,\"b,c"), "[a][b,c]"); /* what can be made of them */
    assert_string_equal(items_of(cx, "\"a,b\"c,d"), "[a,bc][d]");
}

TEST(quoting)
{
    static const char *const plain[] = { "a", "a b", "5\"", "!id", "x*", "" };
    char                     out[32];
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        assert_int_equal(cri_list_quote(plain[i], out, sizeof out), strlen(plain[i]));
        assert_string_equal(out, plain[i]);
    }
    assert_int_equal(cri_list_quote("k,\"1", out, sizeof out), 7);
    assert_string_equal(out, "\"k,\"\"1\"");
    assert_int_equal(cri_list_quote("k,\"1", NULL, 0), 7);
    assert_int_equal(cri_list_quote("k,1", out, 3), 5); /* cut like snprintf */
    assert_string_equal(out, "\"k");
}

/* Texts of every kind, written and read again, are the same texts. */
TEST(round_trip)
{
    static const char letters[] = "a,\"! ";
    cr_rng            r = cr_rng_stream(3, 5);
    for (size_t trial = 0; trial < 3000; trial++) {
        char       texts[4][8], list[96] = "";
        char     **items = NULL;
        size_t     n = 0, used = 0, count = 1 + (size_t)(cr_rng_uniform(&r) * 4);
        cr_scratch s = cr_scratch_begin(cx);
        for (size_t i = 0; i < count; i++) {
            size_t length = 1 + (size_t)(cr_rng_uniform(&r) * 6);
            for (size_t k = 0; k < length; k++)
                texts[i][k] = letters[(size_t)(cr_rng_uniform(&r) * 5)];
            texts[i][length] = '\0';
            if (i) list[used++] = ',';
            used += cri_list_quote(texts[i], list + used, sizeof list - used);
        }
        assert_null(cri_list_fault(list));
        assert_ok(cx, cri_list_split(&s, list, &items, &n));
        assert_int_equal(n, count);
        for (size_t i = 0; i < n; i++) assert_string_equal(items[i], texts[i]);
        cr_scratch_end(&s);
    }
}

static cr_status split(cr_ctx *cx, void *arg)
{
    char     **items = NULL;
    size_t     n = 0;
    cr_scratch s = cr_scratch_begin(cx);
    cr_status  st = cri_list_split(&s, arg, &items, &n);
    cr_scratch_end(&s);
    return st;
}

TEST(allocations)
{
    char list[] = "a,\"b,c\"";
    test_every_allocation_fails(split, list);
}
