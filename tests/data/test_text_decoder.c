/* test_text_decoder.c -- every encoding in pieces of every size gives the same text. */
#include "support.h"
#include "data/bytes/source.h"
#include "data/bytes/text_decoder.h"

/* Gives bytes a few at a time. */
typedef struct drip {
    const char *bytes;
    size_t      size, at, step;
} drip;

static cr_status next_drops(void *user, char *out, size_t size, size_t *out_got)
{
    drip  *d = user;
    size_t n = d->size - d->at;
    if (n > d->step) n = d->step;
    if (n > size) n = size;
    memcpy(out, d->bytes + d->at, n);
    d->at += n;
    *out_got = n;
    return CR_OK;
}

static size_t decode_all(cr_ctx *cx, cri_text_decoder *d, drip *from, char *out, size_t room,
                         size_t each)
{
    size_t n = 0, got = 1;
    while (got > 0) {
        assert_ok(cx, cri_text_decode(cx, d, next_drops, from, out + n, each, &got));
        n += got;
        assert_true(n + each < room);
    }
    return n;
}

static void check(cr_ctx *cx, cri_text_decoder how, const char *bytes, size_t size,
                  const char *text, size_t foreign)
{
    char out[4096];
    for (size_t step = 1; step < 8; step++)
        for (size_t each = 1; each < 80; each += 7) {
            cri_text_decoder d = how;
            drip             from = { bytes, size, 0, step };
            size_t           n = decode_all(cx, &d, &from, out, sizeof out, each);
            assert_int_equal(n, strlen(text));
            assert_memory_equal(out, text, n);
            assert_true(d.foreign == foreign);
            cri_text_decoder_rewind(&d);
            from.at = 0;
            assert_int_equal(decode_all(cx, &d, &from, out, sizeof out, 200), n);
            assert_memory_equal(out, text, n);
            cri_text_decoder_free(cx, &d);
        }
}

#define CHECK(encoding, bytes, text, foreign)                                                      \
    check(cx, cri_text_decoder_of(encoding, '\0', 0), bytes, sizeof(bytes) - 1, text, foreign)

TEST(encodings)
{
    const char mixed[] = "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80 end";
    CHECK(CRI_ENCODING_AUTO, "plain", "plain", SIZE_MAX);
    CHECK(CRI_ENCODING_AUTO, mixed, mixed, SIZE_MAX);
    CHECK(CRI_ENCODING_AUTO, "Jos\xe9,M\xfcller \x80 5", "Jos\xc3\xa9,M\xc3\xbcller \xe2\x82\xac 5",
          3);
    CHECK(CRI_ENCODING_AUTO, "\xc3\xa9 and \xe9", "\xc3\xa9 and \xc3\xa9", 7);
    CHECK(CRI_ENCODING_AUTO, "cut \xe2\x82", "cut \xc3\xa2\xe2\x80\x9a", 4);
    CHECK(CRI_ENCODING_UTF_8, "Jos\xe9,x", "Jos\xe9,x", 3); /* whoever reads refuses it */
    CHECK(CRI_ENCODING_LATIN1, "\x80\xe9", "\xc2\x80\xc3\xa9", SIZE_MAX);
    CHECK(CRI_ENCODING_WINDOWS_1252, "\x80\xe9\x9f", "\xe2\x82\xac\xc3\xa9\xc5\xb8", SIZE_MAX);
    CHECK(CRI_ENCODING_UTF_16LE, "a\0\xe9\0\xac\x20\x3d\xd8\x00\xde",
          "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", SIZE_MAX);
    CHECK(CRI_ENCODING_UTF_16BE, "\0a\0\xe9\x20\xac\xd8\x3d\xde\x00",
          "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", SIZE_MAX);
    CHECK(CRI_ENCODING_UTF_16LE,
          "\x3d\xd8"
          "a\0b",
          "\xef\xbf\xbd"
          "a\xef\xbf\xbd",
          SIZE_MAX);
}

TEST(lines_are_blanked)
{
    const char text[] = "# one\na,b\n#two, \"\n1,2\n";
    check(cx, cri_text_decoder_of(CRI_ENCODING_AUTO, '#', 0), text, sizeof text - 1,
          "     \na,b\n       \n1,2\n", SIZE_MAX);
    const char quoted[] = "a;b\n#\"\n1; \"x\n#y\"\"\n#z\"\n#2,\"\n3\";\"\n#4\"\n#5\n{\",\n#6\n";
    check(cx, cri_text_decoder_of(CRI_ENCODING_AUTO, '#', 0), quoted, sizeof quoted - 1,
          "a;b\n  \n1; \"x\n#y\"\"\n#z\"\n    \n3\";\"\n#4\"\n  \n{\",\n  \n", SIZE_MAX);
    check(cx, cri_text_decoder_of(CRI_ENCODING_AUTO, '\0', 2), "\nx,y\r\nz#\n", 9, "\n   \r\nz#\n",
          SIZE_MAX);
}

/* A source that was looked at before it was known to be text, and is read again. */
TEST(sources_become_text)
{
    const char  bytes[] = "\xff\xfe"
                          "a\0,\0\xe9\0\n\0";
    char        out[64];
    const char *seen;
    size_t      got, size;
    cri_source *s = NULL;
    assert_ok(cx, cri_source_open_bytes(cx, "t", bytes, sizeof bytes - 1, &s));
    assert_ok(cx, cri_source_peek(s, 5, &seen, &size));
    assert_int_equal(size, 5);
    cri_text_decoder how = cri_text_decoder_of(CRI_ENCODING_AUTO, '\0', 0);
    assert_ok(cx, cri_source_set_text(s, &how));
    for (int k = 0; k < 2; k++) {
        assert_ok(cx, cri_source_peek(s, 4, &seen, &size));
        assert_memory_equal(seen,
                            "\xef\xbb\xbf"
                            "a",
                            4);
        assert_ok(cx, cri_source_read(s, out, sizeof out, &got));
        assert_int_equal(got, 8);
        assert_memory_equal(out,
                            "\xef\xbb\xbf"
                            "a,\xc3\xa9\n",
                            8);
        assert_ok(cx, cri_source_rewind(s));
    }
    cri_source_close(s);
}
