/* test_jsonl.c -- JSON lines: types, escapes, blocks against the whole, and memory that runs out. */
#include "csv_fixture.h"
#include "data/formats/read_internal.h"
#include "data/stream/stream_internal.h"

enum { JSONL = CRI_FORMAT_JSONL };

static const char lines[] = "{\"n\": 1, \"t\": \"a\\u00e9\\ud83d\\ude00\", \"b\": true}\n"
                            "\n"
                            "{\"t\":\"x\",\"n\":2.5,\"late\":-7}\r\n"
                            "  {\"b\":false , \"n\" : null,\"mix\":1}\n"
                            "{\"mix\":\"two\",\"late\":9007199254740993,\"n\":NaN,\"t\":\"\"}";

static cr_status read_lines(cr_ctx *cx, const char *text, const cr_read_options *o, cr_table **out)
{
    cri_source *source = NULL;
    cr_status   st = cri_source_open_bytes(cx, "t.jsonl", text, strlen(text), &source);
    if (st == CR_OK) st = cri_table_read_source(cx, "t.jsonl", source, o, out);
    cri_source_close(source);
    return st;
}

TEST(values_and_types)
{
    cr_read_options o = { 0 };
    cr_table       *t = NULL;
    assert_ok(cx, read_lines(cx, lines, &o, &t));
    assert_int_equal(cr_table_rows(t), 4);
    assert_int_equal(cr_table_columns(t), 5);
    assert_int_equal(type_of(t, "n"), CR_REAL);
    assert_int_equal(cr_table_find(t, "n")->missing, 2);
    assert_int_equal(type_of(t, "b"), CR_BOOLEAN);
    assert_int_equal(type_of(t, "t"), CR_CATEGORY);
    assert_string_equal(cell(t, "t", 0), "a\xc3\xa9\xf0\x9f\x98\x80");
    assert_string_equal(cell(t, "t", 3), ""); /* missing */
    assert_string_equal(cell(t, "mix", 2), "1");
    assert_string_equal(cell(t, "mix", 3), "two");
    assert_int_equal(type_of(t, "late"), CR_CATEGORY); /* no double has these digits, as in CSV */
    assert_string_equal(cell(t, "late", 3), "9007199254740993");
    cr_table_free(cx, t);

    o.real = (char[]){ "q" };
    assert_ok(cx, read_lines(cx, "{\"q\":\"1.5\"}\n{\"q\":\"2\"}\n", &o, &t));
    assert_true(cr_table_find(t, "q")->values[0] == 1.5);
    cr_table_free(cx, t);
}

/* Every size of block gives the rows, types and levels of the whole. */
TEST(blocks)
{
    cr_read_options o = { .from = JSONL };
    cr_table       *whole = NULL;
    assert_ok(cx, read_lines(cx, lines, &o, &whole));
    for (size_t rows = 0; rows < 6; rows++) {
        cri_source *source = NULL;
        cr_stream  *s = NULL;
        cr_table   *t = NULL;
        size_t      at = 0;
        assert_ok(cx, cri_source_open_bytes(cx, "t.jsonl", lines, strlen(lines), &source));
        assert_ok(cx, cri_stream_open_source(cx, "t.jsonl", source, &o,
                                             (cri_block_size){ .rows = rows, .bytes = 64 }, &s));
        for (;;) {
            assert_ok(cx, cr_stream_next(cx, s, &t));
            if (!t) break;
            assert_int_equal(cr_table_columns(t), cr_table_columns(whole));
            for (size_t k = 0; k < cr_table_columns(t); k++) {
                const cr_column *a = cr_table_column(t, k), *b = cr_table_find(whole, a->name);
                assert_int_equal(a->type, b->type);
                for (size_t i = 0; i < cr_table_rows(t); i++)
                    assert_string_equal(cell(t, a->name, i), cell(whole, a->name, at + i));
            }
            at += cr_table_rows(t);
            cr_table_free(cx, t);
            t = NULL;
        }
        assert_int_equal(at, 4);
        cr_stream_free(cx, s);
    }
    cr_table_free(cx, whole);
}

/* The same rows as elements of an array, on one line or on many, are the same table, whole and in blocks. */
TEST(arrays)
{
    static const char *const texts[] = {
        "{\"n\":1,\"t\":\"a}\"}\n{\"t\":\"b\\\"{\",\"n\":2.5}\n{\"n\":null}\n",
        "[{\"n\":1,\"t\":\"a}\"},{\"t\":\"b\\\"{\",\"n\":2.5},{\"n\":null}]",
        "\xef\xbb\xbf\n [\n  {\"n\"\n:1,\n\"t\": "
        "\"a}\"\n}\n,\n{\"t\":\"b\\\"{\",\r\n\"n\":2.5},{\"n\":null}\n]\n\n",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        for (size_t rows = 0; rows < 3; rows++) {
            cr_read_options o = { .from = rows == 1 ? JSONL : CRI_FORMAT_AUTO };
            cri_source     *source = NULL;
            cr_stream      *s = NULL;
            cr_table       *t = NULL;
            if (rows == 0) {
                assert_ok(cx, read_lines(cx, texts[k], &o, &t));
                assert_int_equal(cr_table_rows(t), 3);
            } else {
                assert_ok(cx, cri_source_open_bytes(cx, "t", texts[k], strlen(texts[k]), &source));
                assert_ok(cx, cri_stream_open_source(cx, "t", source, &o,
                                                     (cri_block_size){ .rows = 3 }, &s));
                assert_ok(cx, cr_stream_next(cx, s, &t));
            }
            assert_int_equal(cr_table_columns(t), 2);
            assert_true(cr_table_find(t, "n")->values[1] == 2.5);
            assert_int_equal(cr_table_find(t, "n")->missing, 1);
            assert_string_equal(cell(t, "t", 0), "a}");
            assert_string_equal(cell(t, "t", 1), "b\"{");
            cr_table_free(cx, t);
            cr_stream_free(cx, s);
        }
}

/* Longer than the buffer, with an element across its end: each row once. */
TEST(long_arrays)
{
    enum { ROWS = 20000 };
    static char     text[40 * ROWS];
    cr_read_options o = { .from = JSONL };
    cr_table       *t = NULL;
    size_t          n = 0;
    text[n++] = '[';
    for (size_t i = 0; i < ROWS; i++)
        n += (size_t)sprintf(text + n, "%s{\"i\": %zu, \"t\": \"x}%zu\"}", i ? ", " : "", i, i % 7);
    sprintf(text + n, "]");
    assert_ok(cx, read_lines(cx, text, &o, &t));
    assert_int_equal(cr_table_rows(t), ROWS);
    for (size_t i = 0; i < ROWS; i++) assert_true(cr_table_find(t, "i")->values[i] == (double)i);
    assert_string_equal(cell(t, "t", ROWS - 1), "x}0");
    cr_table_free(cx, t);
}

TEST(unsound_arrays)
{
    static const char *const texts[][2] = {
        { "[{\"a\":1}{\"a\":2}]", "t.jsonl:1:9: a comma or ] is expected here" },
        { "[{\"a\":1},\n {\"a\":2", "t.jsonl:2:2: this object is not closed" },
        { "[{\"a\":1},]", "t.jsonl:1:10: an object { ... } is expected here" },
        { "[{\"a\":1}", "t.jsonl:2:1: a comma or ] is expected here" },
        { "[{\"a\":1}] [", "t.jsonl:1:11: there is something after the array" },
        { "[{\"a\":1},\n\n{\"b\":\n[1]}]", "t.jsonl:4:1: a nested value" },
        { "[1, 2]", "t.jsonl:1:2: an object { ... } is expected here" },
        { "[]", "t.jsonl: the file is empty" },
    };
    cr_read_options o = { .from = JSONL };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        cr_table *t = NULL;
        assert_int_equal(read_lines(cx, texts[k][0], &o, &t), CR_EDATA);
        if (!strstr(cr_error(cx), texts[k][1]))
            fail_msg("%s: '%s' lacks '%s'", texts[k][0], cr_error(cx), texts[k][1]);
    }
}

static cr_status read_and_stream(cr_ctx *cx, void *user)
{
    cr_read_options o = { .from = JSONL };
    cri_source     *source = NULL;
    cr_table       *t = NULL;
    cr_stream      *s = NULL;
    cr_status       st = read_lines(cx, lines, &o, &t);
    (void)user;
    cr_table_free(cx, t);
    t = NULL;
    if (st == CR_OK) st = read_lines(cx, "[{\"a\": \"\\n\"}, {\"b\": 2}]", &o, &t);
    cr_table_free(cx, t);
    t = NULL;
    if (st == CR_OK) st = cri_source_open_bytes(cx, "t", lines, strlen(lines), &source);
    if (st == CR_OK)
        st = cri_stream_open_source(cx, "t", source, &o, (cri_block_size){ .rows = 2 }, &s);
    while (st == CR_OK && (st = cr_stream_next(cx, s, &t)) == CR_OK && t) {
        cr_table_free(cx, t);
        t = NULL;
    }
    cr_stream_free(cx, s);
    return st;
}

TEST(memory_may_be_short) { test_every_allocation_fails(read_and_stream, NULL); }

/* Names, styles and encodings of CSV, the same. */
static cr_status read_styled(cr_ctx *cx, void *user)
{
    const char      text[] = "a;a;b\n1.234,5;Jos\xe9;5 %\n2,5;x;7 %\n";
    cr_read_options o = { .rename = (char[]){ "a.2=c" }, .category = (char[]){ "c" } };
    cr_table       *t = NULL;
    cr_status       st = read_bytes(cx, text, sizeof text - 1, &o, &usual, &t);
    (void)user;
    cr_table_free(cx, t);
    return st;
}

TEST(styles_when_memory_is_short) { test_every_allocation_fails(read_styled, NULL); }
