/* Images: files written byte by byte, and damaged ones. */
#include "support.h"

#include "base/rng.h"
#include "data/image/image.h"

#include <zlib.h>

static void check_pixels(cr_ctx *cx, const char *bytes, size_t size, size_t width, size_t height,
                         const double *pixel)
{
    cr_image image;
    assert_ok(cx, cr_image_read(cx, test_file("image", bytes, size), &image));
    assert_int_equal(image.width, width);
    assert_int_equal(image.height, height);
    for (size_t i = 0; i < width * height; i++) assert_close(image.pixel[i], pixel[i], 1e-12);
    cr_image_free(cx, &image);
}

#define TEXT(t) (t), sizeof(t) - 1

TEST(pnm_files_are_read)
{
    const double grey[] = { 0, 0.5, 1, 0.2, 0.4, 0.8 }, bits[] = { 1, 0, 1, 0, 0, 1 };
    check_pixels(cx, TEXT("P2 # a comment\n3 2\n# another\n10\n0 5 10\n2 4 8\n"), 3, 2, grey);
    check_pixels(cx, TEXT("P5\n3 2\n10\n\x00\x05\x0a\x02\x04\x08"), 3, 2, grey);
    check_pixels(cx, TEXT("P5 3 2 1000\n\x00\x00\x01\xf4\x03\xe8\x00\xc8\x01\x90\x03\x20"), 3, 2,
                 grey);
    check_pixels(cx, TEXT("P1\n3 2\n010\n1 1 0\n"), 3, 2, bits);
    check_pixels(cx, TEXT("P4\n3 2\n\x40\xc0"), 3, 2, bits);
}

TEST(wrong_files_are_told)
{
    cr_image image;
    static const struct {
        const char *bytes;
        size_t      size;
        const char *says;
    } wrong[] = {
        { TEXT("P5\n3 2\n255\nabcde"), "ends before its last pixel" },
        { TEXT("P2\n2 1\n9\n1"), "ends before its last pixel" },
        { TEXT("P2\n2 1\n9\n1 12"), "pixel 1 is larger than 9" },
        { TEXT("P1\n2 2\n1"), "ends before its last pixel" },
        { TEXT("P5\n0 2\n255\n"), "0 x 2 pixels" },
        { TEXT("P5\n99999999 99999999\n255\n"), "99999999 x 99999999 pixels" },
        { TEXT("P5\n2 2\n70000\nabcdefgh"), "70000 greys" },
        { TEXT("P6\n1 1\n255\nabc"), "not an image" },
        { TEXT(""), "not an image" },
        { TEXT("\x89PNG\r\n\x1a\n"), "ends too early" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails_with(
            cx, cr_image_read(cx, test_file("image", wrong[i].bytes, wrong[i].size), &image),
            CR_EDATA, wrong[i].says);
}

/* --- PNG ------------------------------------------------------------------------------------- */

static void put_u32(unsigned char *b, size_t x)
{
    for (int i = 0; i < 4; i++) b[i] = (unsigned char)(x >> (24 - 8 * i));
}

static size_t put_chunk(unsigned char *out, size_t at, const char *name, const void *body, size_t n)
{
    put_u32(out + at, n);
    memcpy(out + at + 4, name, 4);
    if (n) memcpy(out + at + 8, body, n);
    put_u32(out + at + 8 + n, crc32(crc32(0, NULL, 0), out + at + 4, (uInt)(n + 4)));
    return at + 12 + n;
}

/* A PNG of raw rows [height x bytes], each with the next of the five filters. */
static size_t make_png(unsigned char *out, size_t width, size_t height, int depth, int colour,
                       const unsigned char *raw, size_t bytes, size_t each)
{
    unsigned char head[13] = { 0 }, rows[4096], packed[8192];
    uLongf        size = sizeof packed;
    size_t        used = 0, at = 8;
    for (size_t y = 0; y < height; y++) {
        const unsigned char *row = raw + y * bytes, *up = row - bytes;
        size_t               filter = y % 5;
        rows[used++] = (unsigned char)filter;
        for (size_t i = 0; i < bytes; i++) {
            int a = i >= each ? row[i - each] : 0, b = y ? up[i] : 0,
                c = y && i >= each ? up[i - each] : 0;
            int p = a + b - c, near = a;
            if (abs(p - b) < abs(p - near)) near = b;
            if (abs(p - c) < abs(p - near)) near = c;
            int guess[] = { 0, a, b, (a + b) / 2, near };
            rows[used++] = (unsigned char)(row[i] - guess[filter]);
        }
    }
    assert_int_equal(compress(packed, &size, rows, (uLong)used), Z_OK);
    memcpy(out, "\x89PNG\r\n\x1a\n", 8);
    put_u32(head, width), put_u32(head + 4, height);
    head[8] = (unsigned char)depth, head[9] = (unsigned char)colour;
    at = put_chunk(out, at, "IHDR", head, 13);
    if (colour == 3)
        at = put_chunk(out, at, "PLTE", "\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\xff\x00", 12);
    at = put_chunk(out, at, "IDAT", packed, (size_t)size / 2);
    at = put_chunk(out, at, "IDAT", packed + size / 2, (size_t)(size - size / 2));
    return put_chunk(out, at, "IEND", NULL, 0);
}

TEST(png_files_are_read)
{
    cr_rng        r = cr_rng_stream(33, 1);
    unsigned char raw[512], png[16384];
    double        pixel[64];
    static const struct {
        int    depth, colour;
        size_t samples;
    } kinds[] = {
        { 8, 0, 1 },  { 8, 2, 3 }, { 8, 4, 2 }, { 8, 6, 4 }, { 16, 0, 1 },
        { 16, 2, 3 }, { 2, 3, 1 }, { 1, 0, 1 }, { 4, 0, 1 },
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t w = 5, h = 7, bits = kinds[k].samples * (size_t)kinds[k].depth,
               bytes = (w * bits + 7) / 8;
        static const double palette[] = { 0, 1, 0.299, 0.587 };
        for (size_t i = 0; i < h * bytes; i++) raw[i] = (unsigned char)cr_rng_below(&r, 256);
        for (size_t i = 0; i < w * h; i++) {
            const unsigned char *row = raw + i / w * bytes;
            size_t               x = i % w, n = kinds[k].samples;
            double               s[4] = { 0 };
            for (size_t c = 0; c < n; c++)
                s[c] = kinds[k].depth == 8 ? row[x * n + c] / 255.0
                       : kinds[k].depth == 16
                           ? (256 * row[2 * (x * n + c)] + row[2 * (x * n + c) + 1]) / 65535.0
                           : 0;
            pixel[i] = n > 2 ? 0.299 * s[0] + 0.587 * s[1] + 0.114 * s[2] : s[0];
            if (kinds[k].depth == 1) pixel[i] = row[x / 8] >> (7 - x % 8) & 1;
            if (kinds[k].depth == 4) pixel[i] = (row[x / 2] >> (x % 2 ? 0 : 4) & 15) / 15.0;
            if (kinds[k].depth == 2) pixel[i] = palette[row[x / 4] >> (6 - 2 * (x % 4)) & 3];
        }
        size_t size =
            make_png(png, w, h, kinds[k].depth, kinds[k].colour, raw, bytes, (bits + 7) / 8);
        check_pixels(cx, (char *)png, size, w, h, pixel);
    }
}

static cr_image checkered(cr_ctx *cx)
{
    cr_image image;
    assert_ok(cx, cr_image_new(cx, 9, 5, &image));
    for (size_t i = 0; i < 45; i++) image.pixel[i] = (double)(i * 37 % 256) / 255;
    return image;
}

TEST(images_come_back)
{
    cr_image image = checkered(cx), back;
    char     path[512];
    for (int png = 0; png < 2; png++) {
        snprintf(path, sizeof path, "%s/back.%s", test_directory(), png ? "png" : "pgm");
        assert_ok(cx, cr_image_write(cx, &image, path));
        assert_ok(cx, cr_image_read(cx, path, &back));
        assert_int_equal(back.width, 9);
        for (size_t i = 0; i < 45; i++) assert_close(back.pixel[i], image.pixel[i], 1e-12);
        cr_image_free(cx, &back);
    }
    cr_image_free(cx, &image);
    assert_fails(cx, cr_image_new(cx, 0, 3, &image), CR_EARG);
}

/* Cut off anywhere, or with any byte changed, a file is refused; a checksum sees to that. */
TEST(damage_is_seen)
{
    cr_image      image;
    unsigned char raw[48], png[16384];
    for (size_t i = 0; i < 48; i++) raw[i] = (unsigned char)(5 * i);
    size_t size = make_png(png, 4, 4, 8, 2, raw, 12, 3);
    for (size_t n = 0; n < size; n++)
        assert_fails(cx, cr_image_read(cx, test_file("image", png, n), &image), CR_EDATA);
    for (size_t i = 0; i < size; i++) {
        png[i] ^= 0x20;
        assert_fails(cx, cr_image_read(cx, test_file("image", png, size), &image), CR_EDATA);
        png[i] ^= 0x20;
    }
}

static cr_status write_and_read(cr_ctx *cx, void *arg)
{
    cr_image  back = { 0 };
    char      path[512];
    cr_status st = CR_OK;
    for (int png = 0; png < 2 && st == CR_OK; png++) {
        snprintf(path, sizeof path, "%s/short.%s", test_directory(), png ? "png" : "pgm");
        st = cr_image_write(cx, arg, path);
        if (st == CR_OK) st = cr_image_read(cx, path, &back);
        if (st == CR_OK) cr_image_free(cx, &back);
    }
    return st;
}

TEST(memory_may_be_short)
{
    cr_image image = checkered(cx);
    test_every_allocation_fails(write_and_read, &image);
    cr_image_free(cx, &image);
}
