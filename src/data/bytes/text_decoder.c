/* text_decoder.c -- the encodings, and the lines that are blanked. */
#include "text_decoder.h"
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { CHUNK = 1 << 16 }; /* bytes converted at a time */

cri_text_decoder cri_text_decoder_of(cri_encoding encoding, char comment, size_t skip)
{
    return (cri_text_decoder){
        .encoding = encoding, .comment = comment, .skip = skip, .foreign = SIZE_MAX
    };
}

static size_t text_room(size_t capacity) { return 3 * capacity + 16; }

void cri_text_decoder_free(cr_ctx *cx, cri_text_decoder *d)
{
    cr_free(cx, d->raw, d->capacity, 1);
    cr_free(cx, d->text, d->capacity ? text_room(d->capacity) : 0, 1);
    d->raw = d->text = NULL;
    d->capacity = 0;
}

void cri_text_decoder_rewind(cri_text_decoder *d)
{
    d->given = d->n_cut = d->at = d->end = d->line = 0;
    d->ended = d->in_line = d->blanking = d->quoted = d->quote = false;
    memset(d->seen, 0, sizeof d->seen);
}

/* --- UTF-8 ----------------------------------------------------------------------------------- */

enum { BLOCK = 64 };

/* Whether some byte of the block at p is above 127. */
static inline bool has_high_byte(const char *p)
{
#ifdef __SSE2__
    __m128i v[4];
    memcpy(v, p, sizeof v);
    return _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(v[0], v[1]), _mm_or_si128(v[2], v[3])));
#else
    uint64_t v[8], any = 0;
    memcpy(v, p, sizeof v);
    for (int i = 0; i < 8; i++) any |= v[i];
    return any & 0x8080808080808080;
#endif
}

/* The first byte above 127 in [p, end), or end. */
static const char *skip_ascii(const char *p, const char *end)
{
    while (end - p >= BLOCK && !has_high_byte(p)) p += BLOCK;
    while (p < end && !(*p & 0x80)) p++;
    return p;
}

/* The length of the character at p, 0 where none is whole before end. */
static size_t character(const char *p, const char *end)
{
    char   few[5] = { 0 }; /* cri_utf8_length reads up to a '\0' */
    size_t left = (size_t)(end - p);
    if (*p == '\0') return 1;
    memcpy(few, p, left < 4 ? left : 4);
    return cri_utf8_length(few);
}

/* How many of the n bytes, from the first on, are whole characters of UTF-8. */
static size_t utf8_prefix(const char *bytes, size_t n)
{
    const char *p = bytes, *end = bytes + n;
    while ((p = skip_ascii(p, end)) < end) {
        size_t length = character(p, end);
        if (length == 0) break;
        p += length;
    }
    return (size_t)(p - bytes);
}

/* true when the n bytes may begin a character that goes on behind them. */
static bool may_go_on(const char *p, size_t n)
{
    unsigned char first = (unsigned char)p[0];
    size_t        length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    if (first > 0xf4 || n >= length) return false;
    for (size_t i = 1; i < n; i++)
        if (((unsigned char)p[i] & 0xc0) != 0x80) return false;
    return true;
}

/* The character with this code, in at most 4 bytes; returns how many. */
static size_t put(uint32_t code, char *out)
{
    size_t                     n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = n; i-- > 1; code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[n] | code);
    return n;
}

/* --- conversions: all of [p, end) but what is cut off, which goes to d->cut ------------------- */

static uint32_t windows_1252(unsigned char byte)
{
    static const uint16_t upper[32] = { 0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020,
                                        0x2021, 0x2c6,  0x2030, 0x160,  0x2039, 0x152,  0x8d,
                                        0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d,
                                        0x2022, 0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a,
                                        0x153,  0x9d,   0x17e,  0x178 };
    return byte >= 0x80 && byte < 0xa0 ? upper[byte - 0x80] : byte;
}

static void keep_cut(cri_text_decoder *d, const char *p, size_t n)
{
    memcpy(d->cut, p, n);
    d->n_cut = n;
}

/* UTF-8, and bytes of Windows-1252 between its characters, which are left as they are where all should
 * be UTF-8: whoever reads them refuses them.  `before` bytes stand before d->text. */
static char *convert_mixed(cri_text_decoder *d, size_t before, const char *p, const char *end)
{
    bool  strict = d->encoding == CRI_ENCODING_UTF_8;
    char *out = d->text;
    while (p < end) {
        size_t n = utf8_prefix(p, (size_t)(end - p));
        memcpy(out, p, n);
        out += n, p += n;
        if (p == end) break;
        if (!d->ended && may_go_on(p, (size_t)(end - p))) {
            keep_cut(d, p, (size_t)(end - p));
            break;
        }
        if (d->foreign == SIZE_MAX) d->foreign = before + (size_t)(out - d->text);
        out += strict ? (size_t)(*out = *p, 1) : put(windows_1252((unsigned char)*p), out);
        p++;
    }
    return out;
}

static char *convert_bytes(const cri_text_decoder *d, const char *p, const char *end)
{
    char *out = d->text;
    bool  latin = d->encoding == CRI_ENCODING_LATIN1;
    for (; p < end; p++)
        out += put(latin ? (unsigned char)*p : windows_1252((unsigned char)*p), out);
    return out;
}

static uint32_t unit(const cri_text_decoder *d, const char *p)
{
    unsigned char a = (unsigned char)p[0], b = (unsigned char)p[1];
    return d->encoding == CRI_ENCODING_UTF_16LE ? a | (uint32_t)b << 8 : b | (uint32_t)a << 8;
}

/* Half of a pair alone, or half of a unit at the end, is U+FFFD. */
static char *convert_utf_16(cri_text_decoder *d, const char *p, const char *end)
{
    const uint32_t unknown = 0xfffd;
    char          *out = d->text;
    while (end - p >= 2) {
        uint32_t u = unit(d, p), v;
        bool     high = u >= 0xd800 && u < 0xdc00;
        if (high && end - p < 4 && !d->ended) break;
        v = high && end - p >= 4 ? unit(d, p + 2) : 0;
        if (v >= 0xdc00 && v < 0xe000) {
            out += put(0x10000 + ((u - 0xd800) << 10) + (v - 0xdc00), out);
            p += 4;
            continue;
        }
        out += put(u >= 0xd800 && u < 0xe000 ? unknown : u, out);
        p += 2;
    }
    if (p < end && d->ended)
        out += put(unknown, out);
    else
        keep_cut(d, p, (size_t)(end - p));
    return out;
}

static void convert(cri_text_decoder *d, size_t before, const char *p, const char *end)
{
    const char *out = d->encoding <= CRI_ENCODING_UTF_8      ? convert_mixed(d, before, p, end)
                      : d->encoding >= CRI_ENCODING_UTF_16LE ? convert_utf_16(d, p, end)
                                                             : convert_bytes(d, p, end);
    d->at = 0;
    d->end = (size_t)(out - d->text);
}

static cr_status reserve(cr_ctx *cx, cri_text_decoder *d, size_t capacity)
{
    if (capacity <= d->capacity) return CR_OK;
    cri_text_decoder_free(cx, d);
    d->raw = cr_alloc(cx, capacity, 1);
    d->text = d->raw ? cr_alloc(cx, text_room(capacity), 1) : NULL;
    if (d->text) return d->capacity = capacity, CR_OK;
    cr_free(cx, d->raw, capacity, 1);
    d->raw = NULL;
    return CR_ENOMEM;
}

/* The next bytes into `to`, behind those that were cut off. */
static cr_status take(cri_text_decoder *d, cri_more_bytes_fn *more, void *user, char *to,
                      size_t size, size_t *out_n)
{
    size_t    got = 0, n = d->n_cut;
    cr_status st = CR_OK;
    memcpy(to, d->cut, n);
    st = more(user, to + n, size - n, &got);
    if (st != CR_OK) return st;
    d->n_cut = 0;
    d->ended = got == 0;
    *out_n = n + got;
    return CR_OK;
}

/* Bytes that are UTF-8 as they should be, straight to where they are wanted; the first that are not
 * wait as converted text. */
static cr_status pass_on(cr_ctx *cx, cri_text_decoder *d, cri_more_bytes_fn *more, void *user,
                         char *out, size_t size, size_t *out_got)
{
    size_t    n = 0;
    cr_status st = take(d, more, user, out, size, &n);
    if (st != CR_OK) return st;
    size_t good = utf8_prefix(out, n), rest = n - good;
    *out_got = good;
    if (rest == 0) return CR_OK;
    if (!d->ended && may_go_on(out + good, rest)) {
        keep_cut(d, out + good, rest);
        return CR_OK;
    }
    st = reserve(cx, d, rest);
    if (st != CR_OK) return st;
    memcpy(d->raw, out + good, rest);
    convert(d, d->given + good, d->raw, d->raw + rest);
    return CR_OK;
}

static cr_status convert_some(cr_ctx *cx, cri_text_decoder *d, cri_more_bytes_fn *more, void *user)
{
    size_t    n = 0;
    cr_status st = reserve(cx, d, CHUNK);
    if (st == CR_OK) st = take(d, more, user, d->raw, CHUNK, &n);
    if (st == CR_OK) convert(d, d->given, d->raw, d->raw + n);
    return st;
}

/* --- lines ----------------------------------------------------------------------------------- */

static const char delimiters[] = { ',', ';', '\t', '|' };

/* The end of the first line with text: what it has most of stands between fields. */
static void settle_delimiter(cri_text_decoder *d)
{
    size_t most = 0;
    for (size_t k = 0; k < sizeof delimiters; k++)
        if (d->seen[k] > most) most = d->seen[k], d->delimiter = delimiters[k];
    if (most == 0) d->delimiter = '\n';
}

/* true where c stands between fields, or may do so. */
static bool is_delimiter(cri_text_decoder *d, char c)
{
    if (d->delimiter) return c == d->delimiter;
    const char *found = memchr(delimiters, c, sizeof delimiters);
    if (found) d->seen[found - delimiters]++;
    return found != NULL;
}

/* Follows the quotes of a line that is not blanked; true while a field is open. */
static bool is_quoted(cri_text_decoder *d, char c)
{
    if (d->quoted && d->quote && c != '"') d->quoted = d->quote = false;
    if (d->quoted) {
        d->quote = c == '"' && !d->quote;
        return true;
    }
    if (c == '"' && d->opens)
        d->quoted = !d->object;
    else if (is_delimiter(d, c))
        d->opens = true;
    else
        d->opens = d->opens && (c == ' ' || c == '\t');
    return d->quoted;
}

static void blank_lines(cri_text_decoder *d, char *p, size_t n)
{
    for (const char *end = p + n; p < end; p++) {
        bool line_end = *p == '\n' || *p == '\r';
        if (!d->in_line && !line_end) {
            d->blanking = d->line < d->skip || (d->comment && *p == d->comment);
            d->in_line = d->opens = true;
            d->object = *p == '{';
        }
        if (d->in_line && !d->blanking && is_quoted(d, *p)) continue;
        if (line_end && d->in_line && !d->blanking && !d->delimiter) settle_delimiter(d);
        if (*p == '\n' && d->line < d->skip) d->line++;
        if (line_end)
            d->in_line = false;
        else if (d->blanking)
            *p = ' ';
    }
}

cr_status cri_text_decode(cr_ctx *cx, cri_text_decoder *d, cri_more_bytes_fn *more, void *user,
                          char *out, size_t size, size_t *out_got)
{
    enum { LEAST = 64 }; /* bytes for which there should be room, to pass them on */
    cr_status st = CR_OK;
    bool      utf_8 = d->encoding <= CRI_ENCODING_UTF_8;
    *out_got = 0;
    while (*out_got == 0 && size > 0) {
        if (d->at < d->end) {
            size_t n = d->end - d->at < size ? d->end - d->at : size;
            memcpy(out, d->text + d->at, n);
            d->at += n;
            *out_got = n;
        } else if (d->ended)
            break;
        else if (utf_8 && size >= LEAST)
            CR_TRY(pass_on(cx, d, more, user, out, size, out_got));
        else
            CR_TRY(convert_some(cx, d, more, user));
    }
    if (d->comment || d->line < d->skip || d->in_line) blank_lines(d, out, *out_got);
    d->given += *out_got;
done:
    return st;
}
