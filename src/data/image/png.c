/* png.c -- images as PNG, by libpng: any depth and kind is read as shares of full luminance, and 256
 * greys are written.  Its memory is the context's; its failures come by longjmp to one place. */
#include "image_internal.h"

#include <math.h>
#include <png.h>
#include <string.h>

typedef struct transfer {
    cr_ctx                *cx;
    const cri_image_bytes *in;
    size_t                 at;        /* bytes read                              */
    const char            *opt_fault; /* what is wrong, where it is the file     */
    unsigned char         *bytes;     /* [capacity] written, `size` of them used */
    size_t                 size, capacity;
    bool                   no_memory;
} transfer;

bool cri_is_png(const unsigned char *bytes, size_t size)
{
    return size >= 8 && png_sig_cmp(bytes, 0, 8) == 0;
}

/* --- memory and failures --------------------------------------------------------------------- */

enum { HEAD = 16 }; /* bytes before a block, which hold its size */

static png_voidp take_memory(png_structp png, png_alloc_size_t size)
{
    transfer *t = png_get_mem_ptr(png);
    char     *block = size <= SIZE_MAX - HEAD ? cr_alloc(t->cx, size + HEAD, 1) : NULL;
    t->no_memory |= !block;
    if (!block) return NULL;
    size_t all = size + HEAD;
    memcpy(block, &all, sizeof all);
    return block + HEAD;
}

static void give_memory(png_structp png, png_voidp memory)
{
    transfer *t = png_get_mem_ptr(png);
    char     *block = (char *)memory - HEAD;
    size_t    all;
    if (!memory) return;
    memcpy(&all, block, sizeof all);
    cr_free(t->cx, block, all, 1);
}

static void end_here(png_structp png, png_const_charp text)
{
    (void)text;
    png_longjmp(png, 1);
}

static void ignore(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static cr_status failure_of(const transfer *t)
{
    if (t->no_memory) return CR_ENOMEM;
    return cr_fail(t->cx, CR_EDATA, "%s: %s", t->in->path,
                   t->opt_fault ? t->opt_fault : "the PNG file is damaged");
}

/* --- reading --------------------------------------------------------------------------------- */

static void read_bytes(png_structp png, png_bytep out, size_t n)
{
    transfer *t = png_get_io_ptr(png);
    if (n > t->in->size - t->at) {
        t->opt_fault = "the PNG file ends too early";
        png_error(png, t->opt_fault);
    }
    memcpy(out, t->in->bytes + t->at, n);
    t->at += n;
}

/* Samples of 8 or 16 bits: grey, or red, green and blue; transparency goes. */
static void make_plain(png_structp png, png_infop info)
{
    png_byte colour = png_get_color_type(png, info);
    if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
    if (colour == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(png, info) < 8)
        png_set_expand_gray_1_2_4_to_8(png);
    png_set_strip_alpha(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

static double sample(const unsigned char *row, size_t i, bool wide)
{
    return wide ? (256 * row[2 * i] + row[2 * i + 1]) / 65535.0 : row[i] / 255.0;
}

static double luminance(const unsigned char *row, size_t x, size_t samples, bool wide)
{
    size_t i = x * samples;
    if (samples < 3) return sample(row, i, wide);
    return fmin(1, 0.299 * sample(row, i, wide) + 0.587 * sample(row, i + 1, wide) +
                       0.114 * sample(row, i + 2, wide));
}

/* What was made before a longjmp and is freed behind it. */
typedef struct reading {
    png_structp     png;
    png_infop       info;
    unsigned char  *pixels;
    unsigned char **rows;
    size_t          size, height;
    cr_image        image;
} reading;

static cr_status read_image(transfer *t, reading *r)
{
    if (setjmp(png_jmpbuf(r->png))) return failure_of(t);
    png_set_read_fn(r->png, t, read_bytes);
    png_read_info(r->png, r->info);
    size_t width = png_get_image_width(r->png, r->info);
    r->height = png_get_image_height(r->png, r->info);
    cr_status st = cri_image_start(t->cx, t->in->path, (double)width, (double)r->height, &r->image);
    if (st != CR_OK) return st;
    make_plain(r->png, r->info);
    size_t row = png_get_rowbytes(r->png, r->info), samples = png_get_channels(r->png, r->info);
    bool   wide = png_get_bit_depth(r->png, r->info) == 16;
    r->size = row * r->height;
    r->pixels = cr_alloc(t->cx, r->size, 1);
    r->rows = cr_alloc(t->cx, r->height, sizeof *r->rows);
    if (!r->pixels || !r->rows) return CR_ENOMEM;
    for (size_t y = 0; y < r->height; y++) r->rows[y] = r->pixels + y * row;
    png_read_image(r->png, r->rows);
    png_read_end(r->png, NULL);
    for (size_t y = 0; y < r->height; y++)
        for (size_t x = 0; x < width; x++)
            r->image.pixel[y * width + x] = luminance(r->rows[y], x, samples, wide);
    return CR_OK;
}

cr_status cri_png_read(cr_ctx *cx, const cri_image_bytes *in, cr_image *out)
{
    cr_status st = CR_ENOMEM;
    transfer  t = { .cx = cx, .in = in };
    reading   r = { .png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &t, end_here, ignore, &t,
                                                    take_memory, give_memory) };
    if (r.png) r.info = png_create_info_struct(r.png);
    if (r.info) st = read_image(&t, &r);
    if (st == CR_OK)
        *out = r.image;
    else
        cr_image_free(cx, &r.image);
    cr_free(cx, r.pixels, r.size, 1);
    cr_free(cx, r.rows, r.height, sizeof *r.rows);
    if (r.png) png_destroy_read_struct(&r.png, &r.info, NULL);
    return st;
}

/* --- writing --------------------------------------------------------------------------------- */

static void write_bytes(png_structp png, png_bytep bytes, size_t n)
{
    transfer *t = png_get_io_ptr(png);
    if (n > t->capacity - t->size) {
        size_t         capacity = 2 * t->capacity + n;
        unsigned char *more = cr_resize(t->cx, t->bytes, t->capacity, capacity, 1);
        t->no_memory |= !more;
        if (!more) png_error(png, "out of memory");
        t->bytes = more;
        t->capacity = capacity;
    }
    memcpy(t->bytes + t->size, bytes, n);
    t->size += n;
}

static void flush_nothing(png_structp png) { (void)png; }

/* row [width] is workspace. */
static cr_status write_image(transfer *t, png_structp png, png_infop info, const cr_image *image,
                             unsigned char *row)
{
    if (setjmp(png_jmpbuf(png))) return CR_ENOMEM;
    png_set_write_fn(png, t, write_bytes, flush_nothing);
    png_set_compression_level(png, 9);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE); /* drawings of few greys */
    png_set_compression_buffer_size(png, 1 << 20);
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8,
                 PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (size_t y = 0; y < image->height; y++) {
        for (size_t x = 0; x < image->width; x++)
            row[x] =
                (unsigned char)lround(255 * fmax(0, fmin(1, image->pixel[y * image->width + x])));
        png_write_row(png, row);
    }
    png_write_end(png, NULL);
    return CR_OK;
}

cr_status cri_png_write(cr_ctx *cx, const cr_image *image, unsigned char **out_bytes,
                        size_t *out_size, size_t *out_capacity)
{
    cr_status      st = CR_ENOMEM;
    transfer       t = { .cx = cx };
    unsigned char *row = cr_alloc(cx, image->width, 1);
    png_structp    png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &t, end_here, ignore, &t,
                                                   take_memory, give_memory);
    png_infop      info = png ? png_create_info_struct(png) : NULL;
    if (info && row) st = write_image(&t, png, info, image, row);
    if (st == CR_OK) {
        *out_bytes = t.bytes;
        *out_size = t.size;
        *out_capacity = t.capacity;
    } else
        cr_free(cx, t.bytes, t.capacity, 1);
    if (png) png_destroy_write_struct(&png, &info);
    cr_free(cx, row, image->width, 1);
    return st;
}
