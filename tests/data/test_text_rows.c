/* Rows of texts: what cells are, where lines are, and the same rows however the bytes come. */
#include "support.h"

#include "data/formats/text_rows.h"

#include <unistd.h>

static cri_source *bytes_source(cr_ctx *cx, const char *text, size_t size)
{
    cri_source *source;
    assert_ok(cx, cri_source_open_bytes(cx, "t.csv", text, size, &source));
    return source;
}

/* All cells, with | between, / behind each row, - for a missing one. */
static void read_all(cr_ctx *cx, cri_text_rows *rows, char *out, size_t capacity)
{
    const char *const *cells;
    size_t             used = 0;
    out[0] = '\0';
    for (;;) {
        assert_ok(cx, cri_text_rows_next(rows, &cells));
        if (!cells) return;
        for (size_t i = 0; i < cri_text_rows_columns(rows); i++)
            used += (size_t)snprintf(out + used, capacity - used, "%s%s", i ? "|" : "",
                                     cells[i] ? cells[i] : "-");
        used += (size_t)snprintf(out + used, capacity - used, "/");
    }
}

TEST(cells_are_texts)
{
    static const struct {
        const char *text, *rows;
    } good[] = {
        { "a,b\n1,2\n3,4\n", "1|2/3|4/" },
        { "\xef\xbb\xbf"
          "a,b\r\n1,2\r\n3,4",
          "1|2/3|4/" },
        { "a,b\n\n  \n x , y z \n\n,NA\n", "x|y z/-|-/" },
        { "a;b\n\"1;2\";\"he said \"\"no\"\"\"\n", "1;2|he said \"no\"/" },
        { "a\tb\n1\t\"two\nlines\"\n", "1|two\nlines/" },
        { "a|b\n1|?\nnull|2\n", "1|-/-|2/" },
        { "a\nx\n\"\"\ny\n", "x/-/y/" },
        { "a,b\n", "" },
        { "a,b", "" },
    };
    cr_read_options o = { 0 };
    char            got[256];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        cri_source    *source = bytes_source(cx, good[i].text, strlen(good[i].text));
        cri_text_rows *rows = NULL;
        assert_ok(cx, cri_text_rows_open(cx, source, &o, &rows));
        assert_non_null(rows);
        assert_string_equal(cri_text_rows_name(rows, 0), "a");
        for (int again = 0; again < 2; again++) {
            read_all(cx, rows, got, sizeof got);
            assert_string_equal(got, good[i].rows);
            assert_ok(cx, cri_text_rows_rewind(rows));
        }
        cri_text_rows_free(rows);
        cri_source_close(source);
    }
    cri_text_rows *none = NULL;
    cri_source    *empty = bytes_source(cx, "\n\n", 2);
    assert_ok(cx, cri_text_rows_open(cx, empty, &o, &none));
    assert_null(none);
    cri_source_close(empty);
}

/* What reads as missing is there as it is written; what the options name is not. */
TEST(missing_texts_are_kept)
{
    const char        *text = "a,NA\nNA,\"x\ny\"\n\xc3\xa4 , ?\n-9,\n";
    cr_read_options    o = { .missing_values = (char *)(uintptr_t) "-9" };
    cri_source        *source = bytes_source(cx, text, strlen(text));
    cri_text_rows     *rows = NULL;
    const char *const *cells;
    assert_ok(cx, cri_text_rows_open(cx, source, &o, &rows));
    assert_string_equal(cri_text_rows_name(rows, 1), "NA");
    assert_ok(cx, cri_text_rows_next(rows, &cells));
    assert_null(cells[0]);
    assert_string_equal(cri_text_rows_written(rows, 0), "NA");
    assert_string_equal(cri_text_rows_written(rows, 1), "x\ny");
    assert_int_equal(cri_text_rows_line(rows), 2);
    assert_int_equal(cri_text_rows_place(rows, 1), 4);
    assert_ok(cx, cri_text_rows_next(rows, &cells));
    assert_null(cells[1]);
    assert_string_equal(cri_text_rows_written(rows, 1), "?");
    assert_int_equal(cri_text_rows_line(rows), 4);
    assert_int_equal(cri_text_rows_place(rows, 1), 4);
    assert_ok(cx, cri_text_rows_next(rows, &cells));
    for (size_t i = 0; i < 2; i++) {
        assert_null(cells[i]);
        assert_null(cri_text_rows_written(rows, i));
    }
    cri_text_rows_free(rows);
    cri_source_close(source);
}

TEST(wrong_rows_are_told)
{
    static const struct {
        const char *text;
        size_t      good;
        const char *says;
    } bad[] = {
        { "a,b\n1,2\n3\n", 1, "t.csv:3: 1 field, expected 2" },
        { "a,b\n\n1,2,3\n", 0, "t.csv:3: 3 fields, expected 2" },
        { "a,b\n\"x\ny\",2\n3\n", 1, "t.csv:4: 1 field" },
        { "a,b\n1,\"2\n", 0, "t.csv:2: a quote is never closed" },
        { "a,b\n\"1\"x,2\n", 0, "t.csv:2: text after a closing quote" },
    };
    cr_read_options o = { 0 };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cri_source        *source = bytes_source(cx, bad[i].text, strlen(bad[i].text));
        cri_text_rows     *rows = NULL;
        const char *const *cells;
        assert_ok(cx, cri_text_rows_open(cx, source, &o, &rows));
        for (size_t k = 0; k < bad[i].good; k++) assert_ok(cx, cri_text_rows_next(rows, &cells));
        assert_fails_with(cx, cri_text_rows_next(rows, &cells), CR_EDATA, bad[i].says);
        cri_text_rows_free(rows);
        cri_source_close(source);
    }
}

/* A row is there as soon as it has been written, and not before. */
TEST(a_pipe_is_answered_row_by_row)
{
    cr_read_options    o = { 0 };
    cri_source        *source;
    cri_text_rows     *rows = NULL;
    const char *const *cells;
    int                ends[2];
    char               path[64];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "a,b\n1,2\n3,", 10), 10);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_ok(cx, cri_source_open(cx, path, &source));
    assert_ok(cx, cri_text_rows_open(cx, source, &o, &rows));
    cri_source_forget(source);
    assert_true(cri_text_rows_ready(rows));
    assert_ok(cx, cri_text_rows_next(rows, &cells));
    assert_string_equal(cells[1], "2");
    assert_false(cri_text_rows_ready(rows));
    assert_int_equal(write(ends[1], "4\n5,6\n", 6), 6);
    assert_ok(cx, cri_text_rows_next(rows, &cells));
    assert_string_equal(cells[0], "3");
    assert_string_equal(cells[1], "4");
    close(ends[1]);
    assert_ok(cx, cri_text_rows_next(rows, &cells));
    assert_string_equal(cells[1], "6");
    assert_ok(cx, cri_text_rows_next(rows, &cells));
    assert_null(cells);
    cri_text_rows_free(rows);
    cri_source_close(source);
    close(ends[0]);
}

/* Longer than the buffer, with records that cross its end, and one record larger than all of it. */
TEST(long_texts_come_whole)
{
    cr_read_options    o = { 0 };
    size_t             n = 60000, used = 0, capacity = 16 * n + 300000;
    char              *text = malloc(capacity);
    cri_source        *source;
    cri_text_rows     *rows = NULL;
    const char *const *cells;
    assert_non_null(text);
    used += (size_t)snprintf(text, capacity, "id,word\n");
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%zu,\"w%zu\"\n", i, i * i % 977);
    used += (size_t)snprintf(text + used, capacity - used, "last,");
    memset(text + used, 'x', 200000);
    used += 200000;
    source = bytes_source(cx, text, used);
    assert_ok(cx, cri_text_rows_open(cx, source, &o, &rows));
    for (size_t i = 0; i < n; i++) {
        char want[32];
        assert_ok(cx, cri_text_rows_next(rows, &cells));
        snprintf(want, sizeof want, "w%zu", i * i % 977);
        assert_int_equal(strtoul(cells[0], NULL, 10), i);
        assert_string_equal(cells[1], want);
    }
    assert_ok(cx, cri_text_rows_next(rows, &cells));
    assert_int_equal(strlen(cells[1]), 200000);
    cri_text_rows_free(rows);
    cri_source_close(source);
    free(text);
}

static cr_status read_once(cr_ctx *cx, void *arg)
{
    cr_status          st = CR_OK;
    cr_read_options    o = { .missing_values = arg };
    cri_source        *source = NULL;
    cri_text_rows     *rows = NULL;
    const char *const *cells;
    CR_TRY(cri_source_open_bytes(cx, "t.csv", "a,b\n1,2\n", 8, &source));
    CR_TRY(cri_text_rows_open(cx, source, &o, &rows));
    CR_TRY(cri_text_rows_next(rows, &cells));
    CR_TRY(cri_text_rows_rewind(rows));
done:
    cri_text_rows_free(rows);
    cri_source_close(source);
    return st;
}

TEST(memory_may_be_short)
{
    char missing[] = "-9";
    test_every_allocation_fails(read_once, missing);
}
