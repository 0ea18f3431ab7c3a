/* test_reader.c -- the bounded reader: never past the end, first failure sticks, messages with the
 * place. */
#include "support.h"
#include "base/reader.h"

/* The bytes stand in a block of exactly their size, so that a sanitizer sees any step outside. */
typedef struct fixture {
    cr_ctx    *cx;
    char      *bytes;
    cri_reader r;
} fixture;

static fixture open_bytes(const void *bytes, size_t size)
{
    fixture f = { .cx = test_context(), .bytes = malloc(size ? size : 1) };
    assert_non_null(f.bytes);
    memcpy(f.bytes, bytes, size);
    f.r = cri_reader_open(f.cx, "data.bin", f.bytes, size);
    return f;
}

static fixture open_text(const char *text) { return open_bytes(text, strlen(text)); }

static void close_fixture(fixture *f)
{
    free(f->bytes);
    test_context_free(f->cx);
}

/* --- binary ---------------------------------------------------------------------------------- */

TEST(little_endian)
{
    const unsigned char bytes[] = { 0x34, 0x12, 0xef, 0xbe, 0xad, 0xde, 'a', 'b' };
    fixture             f = open_bytes(bytes, sizeof bytes);
    assert_int_equal(cri_read_u16(&f.r), 0x1234);
    assert_int_equal(cri_read_u32(&f.r), 0xdeadbeef);
    assert_int_equal(cri_reader_left(&f.r), 2);
    assert_memory_equal(cri_read_bytes(&f.r, 2), "ab", 2);
    assert_non_null(cri_read_bytes(&f.r, 0));
    assert_int_equal(f.r.status, CR_OK);
    assert_null(cri_read_bytes(&f.r, 1));
    assert_int_equal(f.r.status, CR_EDATA);
    close_fixture(&f);
}

TEST(first_failure_sticks)
{
    fixture f = open_bytes("\1\2\3\4", 4);
    assert_int_equal(cri_read_u16(&f.r), 0x0201);
    assert_int_equal(cri_read_u32(&f.r), 0);
    assert_string_equal(cr_error(f.cx),
                        "data.bin: the file ends too early: 2 bytes are missing at byte 4");
    assert_int_equal(f.r.status, CR_EDATA);
    assert_int_equal(cri_read_u16(&f.r), 0); /* two bytes are there, but it has failed */
    assert_null(cri_read_bytes(&f.r, 1));
    assert_null(cri_read_bytes(&f.r, 0));
    assert_fails_with(f.cx, cri_reader_fail(&f.r, "another"), CR_EDATA, "too early");
    assert_fails_with(f.cx, cri_reader_fail_at(&f.r, f.r.begin, 1, "another"), CR_EDATA,
                      "too early");
    assert_int_equal(cri_peek(&f.r), '\0');
    close_fixture(&f);
    f = open_bytes("ab", 2);
    assert_null(cri_read_bytes(&f.r, SIZE_MAX));
    assert_fails_with(f.cx, f.r.status, CR_EDATA, "bytes are missing");
    close_fixture(&f);
    f = open_bytes("", 0);
    assert_int_equal(cri_read_u32(&f.r), 0);
    assert_fails_with(f.cx, f.r.status, CR_EDATA, "4 bytes are missing at byte 0");
    close_fixture(&f);
}

TEST(nothing_at_all)
{
    cri_reader r = cri_reader_open(cx, "empty", NULL, 0);
    assert_int_equal(cri_reader_left(&r), 0);
    assert_int_equal(cri_peek(&r), '\0');
    cri_step(&r);
    assert_true(r.line == 1 && r.status == CR_OK);
}

/* --- text ------------------------------------------------------------------------------------ */

TEST(lines_are_counted)
{
    fixture f = open_text("a\nb\r\n\n");
    assert_int_equal(cri_peek(&f.r), 'a');
    cri_step(&f.r);
    assert_int_equal(f.r.line, 1);
    cri_step(&f.r);
    assert_true(f.r.line == 2 && f.r.line_begin == f.r.at && cri_peek(&f.r) == 'b');
    cri_step(&f.r), cri_step(&f.r);
    assert_int_equal(f.r.line, 2); /* \r is a character of the line */
    cri_step(&f.r);
    assert_int_equal(f.r.line, 3);
    cri_step(&f.r);
    assert_true(f.r.line == 4 && cri_reader_left(&f.r) == 0);
    cri_step(&f.r);
    assert_int_equal(f.r.line, 4);
    close_fixture(&f);
}

static void step_to(cri_reader *r, const char *at)
{
    while (r->at < at) cri_step(r);
}

TEST(message_with_caret)
{
    fixture     f = open_text("first\n  (yes) 0.90, 0.05;\r\nlast");
    const char *from = f.bytes + 6 + 8; /* the 0.90 of line 2 */
    step_to(&f.r, from);
    cri_reader_fail_at(&f.r, from, 10, "probabilities sum to %g, expected 1", 0.95);
    assert_string_equal(cr_error(f.cx), "data.bin:2:9: probabilities sum to 0.95, expected 1");
    assert_string_equal(cr_error_notes(f.cx), "   2 |   (yes) 0.90, 0.05;\n"
                                              "     |         ^~~~~~~~~~");
    close_fixture(&f);
    f = open_text("ab"); /* a fault at the end, of no length or more than there is */
    step_to(&f.r, f.bytes + 2);
    cri_reader_fail_at(&f.r, f.r.at, 0, "a number is missing");
    assert_string_equal(cr_error(f.cx), "data.bin:1:3: a number is missing");
    assert_string_equal(cr_error_notes(f.cx), "   1 | ab\n     |   ^");
    close_fixture(&f);
    f = open_text("abc\n");
    cri_reader_fail_at(&f.r, f.bytes + 1, 999, "wrong");
    assert_string_equal(cr_error_notes(f.cx), "   1 | abc\n     |  ^~");
    close_fixture(&f);
    f = open_text("a\t\x01\x7f!\n"); /* what a terminal would act on is blanked */
    cri_reader_fail_at(&f.r, f.bytes + 4, 1, "wrong");
    assert_string_equal(cr_error_notes(f.cx), "   1 | a   !\n     |     ^");
    close_fixture(&f);
}

/* Wherever the fault is in a line of 500 letters, the caret stands under it, within 72 columns. */
TEST(windows_of_long_lines)
{
    char line[500];
    for (size_t i = 0; i < sizeof line; i++) line[i] = (char)('a' + i % 23);
    for (size_t at = 0; at < sizeof line; at += 7)
        for (size_t length = 1; length < 300; length *= 5) {
            fixture f = open_bytes(line, sizeof line);
            step_to(&f.r, f.bytes + at);
            cri_reader_fail_at(&f.r, f.bytes + at, length, "here");
            const char *notes = cr_error_notes(f.cx), *second = strchr(notes, '\n') + 1;
            const char *caret = strchr(second, '^');
            size_t      column = (size_t)(caret - second);
            assert_true((size_t)(second - notes) <= 7 + 72 + 1);
            assert_int_equal(notes[column], line[at]);
            size_t tildes = strlen(caret) - 1, workspace = 72 - (column - 7);
            size_t left = sizeof line - at;
            size_t shown = length < left ? length : left;
            assert_int_equal(tildes + 1, shown < workspace ? shown : workspace);
            char place[32];
            snprintf(place, sizeof place, "data.bin:1:%zu: here", at + 1);
            assert_string_equal(cr_error(f.cx), place);
            close_fixture(&f);
        }
}

/* A very long name or sentence is cut, not overrun. */
TEST(long_sentences)
{
    char name[5000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    fixture f = open_text("x");
    f.r.source = name;
    cri_reader_fail_at(&f.r, f.r.at, 1, "%s", name);
    assert_int_equal(cr_error_status(f.cx), CR_EDATA);
    assert_true(strlen(cr_error(f.cx)) > 1000);
    close_fixture(&f);
}
