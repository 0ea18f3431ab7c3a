/* image.c -- images in memory, and the PNM formats. */
#include "image_internal.h"
#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

cr_status cr_image_new(cr_ctx *cx, size_t width, size_t height, cr_image *out)
{
    cr_image image = { width, height, NULL };
    if (width == 0 || height == 0) return cr_fail(cx, CR_EARG, "an image without pixels");
    if (width > CRI_MOST_PIXELS / height)
        return cr_fail(cx, CR_ENOMEM, "an image of %zu x %zu pixels is too large", width, height);
    image.pixel = cr_alloc(cx, width * height, sizeof *image.pixel);
    if (!image.pixel) return CR_ENOMEM;
    *out = image;
    return CR_OK;
}

void cr_image_free(cr_ctx *cx, cr_image *image)
{
    cr_free(cx, image->pixel, image->width * image->height, sizeof *image->pixel);
    *image = (cr_image){ 0 };
}

cr_status cri_image_start(cr_ctx *cx, const char *path, double width, double height, cr_image *out)
{
    if (!(width >= 1 && height >= 1 && width * height <= CRI_MOST_PIXELS))
        return cr_fail(cx, CR_EDATA, "%s: an image of %.0f x %.0f pixels", path, width, height);
    return cr_image_new(cx, (size_t)width, (size_t)height, out);
}

/* --- PNM ------------------------------------------------------------------------------------- */

typedef struct pnm {
    const cri_image_bytes *in;
    size_t                 at;
} pnm;

static bool is_space(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Blanks, and comments up to the end of their line. */
static void skip_blank(pnm *p)
{
    while (p->at < p->in->size) {
        unsigned char c = p->in->bytes[p->at];
        if (c == '#')
            while (p->at < p->in->size && p->in->bytes[p->at] != '\n') p->at++;
        else if (is_space(c))
            p->at++;
        else
            return;
    }
}

/* A number; -1: there is none. */
static double read_number(pnm *p)
{
    double n = 0;
    size_t from;
    skip_blank(p);
    for (from = p->at; p->at < p->in->size; p->at++) {
        unsigned char c = p->in->bytes[p->at];
        if (c < '0' || c > '9') break;
        n = 10 * n + (c - '0');
    }
    return p->at > from ? n : -1;
}

static cr_status fail_short(cr_ctx *cx, const pnm *p)
{
    return cr_fail(cx, CR_EDATA, "%s: the image ends before its last pixel", p->in->path);
}

/* The pixels as numbers; those of P1 are digits, 1 for black. */
static cr_status read_plain(cr_ctx *cx, pnm *p, double most, cr_image *image)
{
    for (size_t i = 0; i < image->width * image->height; i++) {
        double x;
        if (most == 0) {
            skip_blank(p);
            if (p->at == p->in->size) return fail_short(cx, p);
            x = p->in->bytes[p->at++] == '0' ? 1 : 0;
        } else {
            x = read_number(p) / most;
            if (x < 0) return fail_short(cx, p);
        }
        if (x > 1)
            return cr_fail(cx, CR_EDATA, "%s: pixel %zu is larger than %g", p->in->path, i, most);
        image->pixel[i] = x;
    }
    return CR_OK;
}

/* The pixels as bytes (two where there are more greys than 256), or as bits in whole bytes per row.
 */
static cr_status read_raw(cr_ctx *cx, pnm *p, double most, cr_image *image)
{
    size_t               w = image->width, each = most > 255 ? 2 : 1;
    size_t               row = most == 0 ? (w + 7) / 8 : w * each;
    const unsigned char *b = p->in->bytes + p->at;
    if ((p->in->size - p->at) / row < image->height) return fail_short(cx, p);
    for (size_t y = 0; y < image->height; y++, b += row)
        for (size_t x = 0; x < w; x++) {
            double v = most == 0   ? !(b[x / 8] >> (7 - x % 8) & 1)
                       : each == 1 ? b[x] / most
                                   : (256.0 * b[2 * x] + b[2 * x + 1]) / most;
            image->pixel[y * w + x] = fmin(1, v);
        }
    return CR_OK;
}

static cr_status read_pnm(cr_ctx *cx, const cri_image_bytes *in, cr_image *out)
{
    cr_status st = CR_OK;
    pnm       p = { in, 2 };
    char      kind = (char)in->bytes[1];
    bool      bits = kind == '1' || kind == '4', plain = kind <= '2';
    double    width = read_number(&p), height = read_number(&p), most = bits ? 0 : read_number(&p);
    cr_image  image = { 0 };
    CR_TRY(cri_image_start(cx, in->path, width, height, &image));
    if (!bits && !(most >= 1 && most <= 65535))
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: an image of %g greys", in->path, most));
    if (!plain && (p.at == in->size || !is_space(in->bytes[p.at++]))) CR_TRY(fail_short(cx, &p));
    CR_TRY(plain ? read_plain(cx, &p, most, &image) : read_raw(cx, &p, most, &image));
    *out = image;
    image = (cr_image){ 0 };
done:
    cr_image_free(cx, &image);
    return st;
}

/* --- files ----------------------------------------------------------------------------------- */

cr_status cri_image_parse(cr_ctx *cx, const char *name, const void *bytes, size_t size,
                          cr_image *out)
{
    cri_image_bytes in = { name, bytes, size };
    if (cri_is_png(in.bytes, size)) return cri_png_read(cx, &in, out);
    if (size > 2 && in.bytes[0] == 'P' && in.bytes[1] && strchr("1245", in.bytes[1]))
        return read_pnm(cx, &in, out);
    return cr_fail(cx, CR_EDATA, "%s: not an image of the formats PGM, PBM or PNG", name);
}

cr_status cr_image_read(cr_ctx *cx, const char *path, cr_image *out)
{
    char     *bytes = NULL;
    size_t    size = 0;
    cr_status st = cri_file_load(cx, path, 0, &bytes, &size);
    if (st == CR_OK) st = cri_image_parse(cx, path, bytes, size, out);
    cr_free(cx, bytes, size, 1);
    return st;
}

static cr_status write_pgm(cr_ctx *cx, const cr_image *image, const char *path)
{
    char   head[64];
    size_t n = image->width * image->height;
    size_t begin =
        (size_t)snprintf(head, sizeof head, "P5\n%zu %zu\n255\n", image->width, image->height);
    unsigned char *bytes = cr_alloc(cx, begin + n, 1);
    if (!bytes) return CR_ENOMEM;
    memcpy(bytes, head, begin);
    for (size_t i = 0; i < n; i++)
        bytes[begin + i] = (unsigned char)lround(255 * fmax(0, fmin(1, image->pixel[i])));
    cr_status st = cri_file_save(cx, path, bytes, begin + n);
    cr_free(cx, bytes, begin + n, 1);
    return st;
}

cr_status cr_image_write(cr_ctx *cx, const cr_image *image, const char *path)
{
    cr_status      st = CR_OK;
    unsigned char *bytes = NULL;
    size_t         size, capacity = 0, n = strlen(path);
    if (n < 4 || strcmp(path + n - 4, ".png") != 0) return write_pgm(cx, image, path);
    CR_TRY(cri_png_write(cx, image, &bytes, &size, &capacity));
    CR_TRY(cri_file_save(cx, path, bytes, size));
done:
    cr_free(cx, bytes, capacity, 1);
    return st;
}
