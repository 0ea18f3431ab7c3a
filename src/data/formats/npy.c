/* npy.c -- the header of a .npy file, and its elements to and from doubles. */
#include "npy.h"
#include "base/checked.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DIMENSIONS = 32 }; /* numpy's own limit */

/* The header as it was written. */
typedef struct header {
    bool   has_descr, has_order, has_shape;
    bool   fortran_order;
    char   descr[16];
    size_t dims, shape[MOST_DIMENSIONS];
} header;

/* --- the header: a Python dictionary --------------------------------------------------------- */

static void skip_space(cri_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

/* Steps over c when it is the next character. */
static bool accept(cri_reader *r, char c)
{
    skip_space(r);
    if (r->status != CR_OK || r->at >= r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static void expect(cri_reader *r, char c)
{
    if (!accept(r, c))
        cri_reader_fail(r, "the array's header is damaged: '%c' is missing at its byte %zu", c,
                        (size_t)(r->at - r->begin));
}

/* A quoted text without escapes, cut to fit out. */
static void read_quoted(cri_reader *r, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    char quote = accept(r, '\'') ? '\'' : accept(r, '"') ? '"' : '\0';
    if (!quote) {
        cri_reader_fail(r, "the array's header is damaged: a quote is missing at its byte %zu",
                        (size_t)(r->at - r->begin));
        return;
    }
    for (; r->at < r->end && *r->at != quote; r->at++)
        if (n + 1 < size) out[n++] = *r->at >= ' ' && *r->at < 0x7f ? *r->at : '?';
    out[n] = '\0';
    expect(r, quote);
}

static bool accept_word(cri_reader *r, const char *word)
{
    size_t n = strlen(word);
    skip_space(r);
    if (r->status != CR_OK || cri_reader_left(r) < n || memcmp(r->at, word, n) != 0) return false;
    r->at += n;
    return true;
}

/* One length of the shape: digits, with the L that old Pythons wrote. */
static size_t read_length(cri_reader *r)
{
    size_t v = 0;
    skip_space(r);
    if (r->at >= r->end || *r->at < '0' || *r->at > '9') {
        cri_reader_fail(r, "the array's header is damaged: its shape is not a list of lengths");
        return 0;
    }
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (!cri_mul(v, 10, &v) || !cri_add(v, (size_t)(*r->at - '0'), &v)) {
            cri_reader_fail(r, "the array's header is damaged: a length in its shape is too large");
            return 0;
        }
    if (r->at < r->end && *r->at == 'L') r->at++;
    return v;
}

static void read_shape(cri_reader *r, header *h)
{
    expect(r, '(');
    while (r->status == CR_OK && !accept(r, ')')) {
        if (h->dims == MOST_DIMENSIONS) {
            cri_reader_fail(r, "the array's header is damaged: its shape has too many dimensions");
            return;
        }
        h->shape[h->dims++] = read_length(r);
        if (accept(r, ',')) continue;
        if (h->dims == 1)
            expect(r, ','); /* (3) is a number in Python, (3,) a shape */
        else {
            expect(r, ')');
            break;
        }
    }
}

static void read_descr(cri_reader *r, header *h)
{
    skip_space(r);
    if (cri_peek(r) == '[')
        cri_reader_fail(r, "an array of records: only plain numbers can be read");
    else
        read_quoted(r, h->descr, sizeof h->descr);
}

static void read_member(cri_reader *r, header *h)
{
    char  key[16];
    bool *seen = NULL;
    read_quoted(r, key, sizeof key);
    expect(r, ':');
    if (r->status != CR_OK) return;
    if (strcmp(key, "descr") == 0)
        seen = &h->has_descr;
    else if (strcmp(key, "fortran_order") == 0)
        seen = &h->has_order;
    else if (strcmp(key, "shape") == 0)
        seen = &h->has_shape;
    if (!seen || *seen) {
        cri_reader_fail(r, "the array's header is damaged: '%s' is %s", key,
                        seen ? "there twice" : "not known");
        return;
    }
    *seen = true;
    if (seen == &h->has_descr)
        read_descr(r, h);
    else if (seen == &h->has_shape)
        read_shape(r, h);
    else if (accept_word(r, "True"))
        h->fortran_order = true;
    else if (!accept_word(r, "False"))
        cri_reader_fail(r, "the array's header is damaged: fortran_order is not True or False");
}

static cr_status read_header(cri_reader *r, header *h)
{
    expect(r, '{');
    while (r->status == CR_OK && !accept(r, '}')) {
        read_member(r, h);
        if (accept(r, ',')) continue;
        expect(r, '}');
        break;
    }
    skip_space(r);
    if (r->at < r->end)
        cri_reader_fail(r, "the array's header is damaged: there is text after its end");
    if (!h->has_descr || !h->has_order || !h->has_shape)
        cri_reader_fail(r, "the array's header is damaged: '%s' is missing",
                        !h->has_descr   ? "descr"
                        : !h->has_order ? "fortran_order"
                                        : "shape");
    return r->status;
}

/* --- the element type ------------------------------------------------------------------------ */

static const char *kind_in_words(char letter)
{
    switch (letter) {
    case 'O':
        return "Python objects";
    case 'c':
        return "complex numbers";
    case 'S':
    case 'a':
    case 'U':
        return "texts";
    case 'M':
        return "dates";
    case 'm':
        return "time differences";
    case 'V':
        return "records or raw bytes";
    default:
        return NULL;
    }
}

static cr_status set_type(cri_reader *r, const char *descr, cri_npy *out)
{
    static const struct {
        char         letter;
        const char  *widths;
        cri_npy_kind kind;
    } kinds[] = { { 'f', "48", CRI_NPY_REAL },
                  { 'i', "1248", CRI_NPY_SIGNED },
                  { 'u', "1248", CRI_NPY_UNSIGNED },
                  { 'b', "1", CRI_NPY_BOOLEAN } };

    char order = descr[0], letter = order ? descr[1] : '\0', width = letter ? descr[2] : '\0';
    bool known_order = order == '<' || order == '>' || (order == '|' && width == '1');
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (!known_order || letter != kinds[k].letter || !width || descr[3]) continue;
        if (!strchr(kinds[k].widths, width)) continue;
        out->kind = kinds[k].kind;
        out->width = (size_t)(width - '0');
        out->big_endian = order == '>';
        return CR_OK;
    }
    const char *words = kind_in_words(letter);
    if (words)
        cri_reader_fail(r, "an array of %s ('%s'): only plain numbers can be read", words, descr);
    else
        cri_reader_fail(r, "an array of element type '%s', which cannot be read", descr);
    return cr_fail_hint(r->cx, "save it from Python as numbers: a.astype('f8')");
}

/* --- the file -------------------------------------------------------------------------------- */

static cr_status set_shape(cri_reader *r, const header *h, cri_npy *a)
{
    if (h->dims > 2)
        return cri_reader_fail(r, "an array of %zu dimensions: at most two can be read", h->dims);
    a->dims = h->dims;
    a->rows = h->dims > 0 ? h->shape[0] : 1;
    a->cols = h->dims > 1 ? h->shape[1] : 1;
    return CR_OK;
}

/* Checks the shape against the bytes that are left and takes them. */
static cr_status take_elements(cri_reader *r, cri_npy *a)
{
    size_t count, bytes, left = cri_reader_left(r);
    if (!cri_mul(a->rows, a->cols, &count) || !cri_mul(count, a->width, &bytes) || bytes > left)
        return cri_reader_fail(r,
                               "an array of %zu x %zu elements of %zu bytes, but only %zu bytes "
                               "follow its header: it is cut short or damaged",
                               a->rows, a->cols, a->width, left);
    if (bytes < left)
        return cri_reader_fail(r, "there are %zu bytes after the end of the array", left - bytes);
    a->data = cri_read_bytes(r, bytes);
    return r->status;
}

cr_status cri_npy_parse_head(cri_reader *r, cri_npy *out)
{
    static const char magic[] = "\x93NUMPY";
    size_t            n = sizeof magic - 1;
    if (r->status != CR_OK) return r->status;
    if (cri_reader_left(r) < n || memcmp(r->at, magic, n) != 0)
        return cri_reader_fail(r, "this is not a .npy array");
    cri_read_bytes(r, n);
    unsigned version = cri_read_u16(r), major = version & 0xff, minor = version >> 8;
    if (r->status == CR_OK && (major < 1 || major > 3 || minor != 0))
        return cri_reader_fail(r, "a .npy array of version %u.%u; versions 1.0 to 3.0 can be read",
                               major, minor);
    size_t      length = major == 1 ? cri_read_u16(r) : cri_read_u32(r);
    const void *text = cri_read_bytes(r, length);
    if (r->status != CR_OK) return r->status;

    cri_reader inner = cri_reader_open(r->cx, r->source, text, length);
    header     h = { 0 };
    cri_npy    a = { 0 };
    if (read_header(&inner, &h) != CR_OK || set_type(&inner, h.descr, &a) != CR_OK)
        return r->status = inner.status;
    a.fortran_order = h.fortran_order;
    if (set_shape(r, &h, &a) != CR_OK) return r->status;
    *out = a;
    return CR_OK;
}

cr_status cri_npy_parse(cri_reader *r, cri_npy *out)
{
    cri_npy a;
    if (cri_npy_parse_head(r, &a) != CR_OK || take_elements(r, &a) != CR_OK) return r->status;
    *out = a;
    return CR_OK;
}

/* --- elements -------------------------------------------------------------------------------- */

static uint64_t load_bits(const unsigned char *p, size_t width, bool big_endian)
{
    uint64_t v = 0;
    for (size_t i = 0; i < width; i++) v = v << 8 | p[big_endian ? i : width - 1 - i];
    return v;
}

static double real_of(uint64_t bits, size_t width)
{
    if (width == 8) {
        double x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    uint32_t low = (uint32_t)bits;
    float    x;
    memcpy(&x, &low, sizeof x);
    return (double)x;
}

/* Two's complement of `width` bytes. */
static int64_t signed_of(uint64_t bits, size_t width)
{
    uint64_t sign = (uint64_t)1 << (8 * width - 1);
    bits = (bits ^ sign) - sign;
    int64_t v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static cr_status fail_integer(cr_ctx *cx, const char *source, const cri_npy *a, uint64_t bits)
{
    char text[32];
    if (a->kind == CRI_NPY_SIGNED)
        snprintf(text, sizeof text, "%" PRId64, signed_of(bits, a->width));
    else
        snprintf(text, sizeof text, "%" PRIu64, bits);
    cr_fail(cx, CR_EDATA, "%s: the integer %s is beyond 2^53 and might change as a double", source,
            text);
    return cr_fail_hint(cx, "if rounding is acceptable, save the array as doubles: a.astype('f8')");
}

/* n elements that stand `step` elements apart from data + first on, to out, `stride` apart. */
static cr_status convert(cr_ctx *cx, const char *source, const cri_npy *a, size_t first,
                         size_t step, size_t n, double *out, size_t stride)
{
    static const uint64_t limit = (uint64_t)1 << 53;
    const unsigned char  *p = a->data + first * a->width;
    if (a->kind == CRI_NPY_REAL && a->width == 8 && !a->big_endian) { /* by far the most common */
        for (size_t i = 0; i < n; i++)
            out[i * stride] = real_of(load_bits(p + 8 * i * step, 8, false), 8);
        return CR_OK;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = load_bits(p + i * step * a->width, a->width, a->big_endian);
        double   x = 0;
        if (a->kind == CRI_NPY_REAL)
            x = real_of(bits, a->width);
        else if (a->kind == CRI_NPY_BOOLEAN)
            x = bits != 0;
        else if (a->kind == CRI_NPY_UNSIGNED) {
            if (bits > limit) return fail_integer(cx, source, a, bits);
            x = (double)bits;
        } else {
            int64_t v = signed_of(bits, a->width);
            if (v > (int64_t)limit || v < -(int64_t)limit) return fail_integer(cx, source, a, bits);
            x = (double)v;
        }
        out[i * stride] = x;
    }
    return CR_OK;
}

cr_status cri_npy_values(cr_ctx *cx, const char *source, const cri_npy *a, double *out)
{
    cr_status st = CR_OK;
    size_t    cols = a->rows ? a->cols : 0;
    if (!a->fortran_order) return convert(cx, source, a, 0, 1, a->rows * cols, out, 1);
    for (size_t j = 0; j < cols && st == CR_OK; j++)
        st = convert(cx, source, a, j * a->rows, 1, a->rows, out + j, cols);
    return st;
}

cr_status cri_npy_column(cr_ctx *cx, const char *source, const cri_npy *a, size_t j, size_t from,
                         size_t n, double *out)
{
    size_t first = a->fortran_order ? j * a->rows + from : from * a->cols + j;
    return convert(cx, source, a, first, a->fortran_order ? 1 : a->cols, n, out, 1);
}

cr_type cri_npy_type(const cri_npy *a)
{
    return a->kind == CRI_NPY_REAL ? CR_REAL : a->kind == CRI_NPY_BOOLEAN ? CR_BOOLEAN : CR_INTEGER;
}

/* --- writing --------------------------------------------------------------------------------- */

void cri_npy_header(size_t dims, size_t rows, size_t cols, char out[CRI_NPY_HEADER])
{
    static const char start[] = "\x93NUMPY\x01\x00\x76\x00"; /* version 1.0; 118 bytes follow */
    char              shape[64], text[CRI_NPY_HEADER];
    if (dims == 1)
        snprintf(shape, sizeof shape, "(%zu,)", rows);
    else
        snprintf(shape, sizeof shape, "(%zu, %zu)", rows, cols);
    int n = snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }",
                     shape);
    memset(out, ' ', CRI_NPY_HEADER);
    memcpy(out, start, sizeof start - 1);
    memcpy(out + sizeof start - 1, text, (size_t)n);
    out[CRI_NPY_HEADER - 1] = '\n';
}

void cri_npy_encode(const double *a, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char b[8];
        uint64_t      bits;
        memcpy(&bits, &a[i], sizeof bits);
        for (size_t k = 0; k < 8; k++) b[k] = (unsigned char)(bits >> 8 * k);
        memcpy(out + 8 * i, b, sizeof b);
    }
}
