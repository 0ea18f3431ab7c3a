/* png.c -- images as PNG: chunks, filters, samples. */
#include "image_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const unsigned char SIGNATURE[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };

typedef struct png {
    cr_ctx                *cx;
    const cri_image_bytes *in;
    size_t                 width, height, depth, colour, samples, row; /* bytes of a row */
    unsigned char          palette[768];
    unsigned char         *packed, *plain; /* [packed_size] deflated; [plain_size] filtered rows */
    size_t                 packed_size, packed_room, plain_size;
} png;

bool cri_is_png(const unsigned char *bytes, size_t size)
{
    return size >= 8 && memcmp(bytes, SIGNATURE, 8) == 0;
}

static uint32_t read_u32(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static cr_status fail(const png *p, const char *what)
{
    return cr_fail(p->cx, CR_EDATA, "%s: %s", p->in->path, what);
}

static cr_status read_header(png *p, const unsigned char *b, size_t size)
{
    static const unsigned char samples[] = { 1, 0, 3, 1, 2, 0, 4 };
    if (size != 13) return fail(p, "the header of the PNG file is damaged");
    p->width = read_u32(b);
    p->height = read_u32(b + 4);
    p->depth = b[8];
    p->colour = b[9];
    if (p->colour > 6 || !samples[p->colour] || b[10] != 0 || b[11] != 0)
        return fail(p, "a PNG file of an unknown kind");
    p->samples = samples[p->colour];
    bool small = p->depth == 1 || p->depth == 2 || p->depth == 4;
    if (p->depth != 8 && p->depth != 16 && !(small && (p->colour == 0 || p->colour == 3)))
        return fail(p, "a PNG file of an unknown depth");
    if (b[12] != 0) return fail(p, "interlaced PNG files are not read");
    if (p->width == 0 || p->height == 0 || p->width > CRI_MOST_PIXELS / p->height)
        return fail(p, "a PNG image of an impossible size");
    p->row = (p->width * p->samples * p->depth + 7) / 8;
    return CR_OK;
}

/* Chunks: length, name, bytes, checksum. */
static cr_status read_chunks(png *p)
{
    const unsigned char *b = p->in->bytes;
    size_t               at = 8, size = p->in->size;
    bool                 end = false;
    while (!end) {
        if (size - at < 12) return fail(p, "the PNG file ends too early");
        size_t               n = read_u32(b + at);
        const unsigned char *name = b + at + 4, *body = b + at + 8;
        cr_status            st = CR_OK;
        if (n > size - at - 12) return fail(p, "the PNG file ends too early");
        if (crc32(crc32(0, NULL, 0), name, (uInt)(n + 4)) != read_u32(body + n))
            return fail(p, "a part of the PNG file is damaged: its checksum is wrong");
        if (memcmp(name, "IHDR", 4) == 0) {
            st = read_header(p, body, n);
        } else if (memcmp(name, "PLTE", 4) == 0) {
            memcpy(p->palette, body, n < sizeof p->palette ? n : sizeof p->palette);
        } else if (memcmp(name, "IDAT", 4) == 0) {
            unsigned char *more =
                cr_resize(p->cx, p->packed, p->packed_room, p->packed_size + n + 1, 1);
            if (!more) return CR_ENOMEM;
            p->packed = more;
            p->packed_room = p->packed_size + n + 1;
            memcpy(more + p->packed_size, body, n);
            p->packed_size += n;
        }
        if (st != CR_OK) return st;
        end = memcmp(name, "IEND", 4) == 0;
        at += n + 12;
    }
    return p->row ? CR_OK : fail(p, "the PNG file has no header");
}

static cr_status inflate_rows(png *p)
{
    p->plain_size = (p->row + 1) * p->height;
    p->plain = cr_alloc(p->cx, p->plain_size, 1);
    if (!p->plain) return CR_ENOMEM;
    uLongf size = (uLongf)p->plain_size;
    if (uncompress(p->plain, &size, p->packed ? p->packed : (const Bytef *)"",
                   (uLong)p->packed_size) != Z_OK ||
        size != p->plain_size)
        return fail(p, "the pixels of the PNG file are damaged");
    return CR_OK;
}

/* Paeth's predictor: of left, above and upper left the one nearest to a + b - c. */
static int paeth(int a, int b, int c)
{
    int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

static cr_status undo_filters(png *p)
{
    size_t each = (p->samples * p->depth + 7) / 8;
    for (size_t y = 0; y < p->height; y++) {
        unsigned char *row = p->plain + y * (p->row + 1) + 1, *up = row - p->row - 1;
        int            filter = row[-1];
        if (filter > 4) return fail(p, "the pixels of the PNG file are damaged");
        for (size_t i = 0; i < p->row; i++) {
            int a = i >= each ? row[i - each] : 0, b = y ? up[i] : 0;
            int c = y && i >= each ? up[i - each] : 0;
            int guess = filter == 1   ? a
                        : filter == 2 ? b
                        : filter == 3 ? (a + b) / 2
                        : filter == 4 ? paeth(a, b, c)
                                      : 0;
            row[i] = (unsigned char)(row[i] + guess);
        }
    }
    return CR_OK;
}

/* Sample i of a row, as it is stored. */
static unsigned sample(const png *p, const unsigned char *row, size_t i)
{
    if (p->depth == 16) return (unsigned)row[2 * i] << 8 | row[2 * i + 1];
    if (p->depth == 8) return row[i];
    size_t bit = i * p->depth;
    return (unsigned)row[bit / 8] >> (8 - p->depth - bit % 8) & ((1u << p->depth) - 1);
}

static double luminance(double r, double g, double b) { return 0.299 * r + 0.587 * g + 0.114 * b; }

static double pixel(const png *p, const unsigned char *row, size_t x)
{
    double most = (double)((1u << p->depth) - 1);
    size_t i = x * p->samples;
    if (p->colour == 3) {
        const unsigned char *c = p->palette + 3 * (sample(p, row, i) & 255);
        return luminance(c[0], c[1], c[2]) / 255;
    }
    if (p->samples < 3) return sample(p, row, i) / most;
    return luminance(sample(p, row, i), sample(p, row, i + 1), sample(p, row, i + 2)) / most;
}

cr_status cri_png_read(cr_ctx *cx, const cri_image_bytes *in, cr_image *out)
{
    cr_status st = CR_OK;
    png       p = { .cx = cx, .in = in };
    cr_image  image = { 0 };
    CR_TRY(read_chunks(&p));
    CR_TRY(inflate_rows(&p));
    CR_TRY(undo_filters(&p));
    CR_TRY(cri_image_start(cx, in->path, (double)p.width, (double)p.height, &image));
    for (size_t y = 0; y < p.height; y++)
        for (size_t x = 0; x < p.width; x++)
            image.pixel[y * p.width + x] =
                fmin(1, pixel(&p, p.plain + y * (p.row + 1) + 1, x)); /* of rounding */
    *out = image;
done:
    cr_free(cx, p.packed, p.packed_room, 1);
    cr_free(cx, p.plain, p.plain_size, 1);
    return st;
}

/* --- writing --------------------------------------------------------------------------------- */

static void put_u32(unsigned char *b, size_t x)
{
    for (int i = 0; i < 4; i++) b[i] = (unsigned char)(x >> (24 - 8 * i));
}

/* Completes a chunk whose n bytes are in place; returns its end. */
static unsigned char *close_chunk(unsigned char *b, const char *name, size_t n)
{
    put_u32(b, n);
    memcpy(b + 4, name, 4);
    put_u32(b + 8 + n, crc32(crc32(0, NULL, 0), b + 4, (uInt)(n + 4)));
    return b + 12 + n;
}

cr_status cri_png_write(cr_ctx *cx, const cr_image *image, unsigned char **out_bytes,
                        size_t *out_size, size_t *out_room)
{
    cr_status      st = CR_OK;
    size_t         row = image->width + 1, size = row * image->height;
    uLongf         packed = compressBound((uLong)size);
    size_t         room = 8 + 25 + 12 + (size_t)packed + 12;
    unsigned char *plain = cr_alloc(cx, size, 1), *bytes = NULL, *at;
    if (!plain) CR_TRY(CR_ENOMEM);
    bytes = cr_alloc(cx, room, 1);
    if (!bytes) CR_TRY(CR_ENOMEM);
    for (size_t y = 0; y < image->height; y++)
        for (size_t x = 0; x < image->width; x++)
            plain[y * row + 1 + x] =
                (unsigned char)lround(255 * fmax(0, fmin(1, image->pixel[y * image->width + x])));
    memcpy(bytes, SIGNATURE, 8);
    at = bytes + 8;
    put_u32(at + 8, image->width);
    put_u32(at + 12, image->height);
    memcpy(at + 16, "\x08\x00\x00\x00\x00", 5); /* 8 bits of grey */
    at = close_chunk(at, "IHDR", 13);
    if (compress2(at + 8, &packed, plain, (uLong)size, 9) != Z_OK)
        CR_TRY(cr_fail(cx, CR_ENOMEM, "out of memory while an image was compressed"));
    at = close_chunk(at, "IDAT", (size_t)packed);
    at = close_chunk(at, "IEND", 0);
    *out_bytes = bytes;
    *out_size = (size_t)(at - bytes);
    *out_room = room;
    bytes = NULL;
done:
    cr_free(cx, plain, size, 1);
    cr_free(cx, bytes, room, 1);
    return st;
}
