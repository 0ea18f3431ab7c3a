/* csv_marks.h -- where the fields of delimited text end, 64 bytes at a time.
 * One bit for each byte of a block says whether it is a delimiter or line end, another whether it is a
 * quote; so the end of a field is known without looking at what the field holds, and the fields of a
 * record can be parsed side by side.  (Internal header.) */
#ifndef CREDENCE_DATA_CSV_CSV_MARKS_H
#define CREDENCE_DATA_CSV_CSV_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { CRI_CSV_BLOCK = 64 };

typedef struct cri_csv_marks {
    uint64_t stops, quotes; /* bit i: the i-th byte of the block */
} cri_csv_marks;

/* Bit i: the i-th byte of v, lowest first, is `byte`. */
static inline uint64_t cri_csv_find_in_word(uint64_t v, char byte)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7f;
    v ^= (uint64_t)0x0101010101010101 * (unsigned char)byte;
    v = ~(((v & low) + low) | v | low);         /* the highest bit of each byte that is 0 now */
    return (v >> 7) * 0x0102040810204080 >> 56; /* gathered */
}

/* The same on any machine. */
static inline cri_csv_marks cri_csv_mark_plainly(const char *p, char delimiter, char line_end)
{
    cri_csv_marks m = { 0, 0 };
    for (int i = 0; i < CRI_CSV_BLOCK; i += 8) {
        uint64_t v;
        memcpy(&v, p + i, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        v = __builtin_bswap64(v);
#endif
        m.stops |= (cri_csv_find_in_word(v, delimiter) | cri_csv_find_in_word(v, line_end)) << i;
        m.quotes |= cri_csv_find_in_word(v, '"') << i;
    }
    return m;
}

/* The block at p, all of whose bytes can be read. */
static inline cri_csv_marks cri_csv_mark(const char *p, char delimiter, char line_end)
{
#ifdef __SSE2__
    const __m128i d = _mm_set1_epi8(delimiter), e = _mm_set1_epi8(line_end), q = _mm_set1_epi8('"');
    cri_csv_marks m = { 0, 0 };
    for (int i = 0; i < CRI_CSV_BLOCK; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(v, d), _mm_cmpeq_epi8(v, e));
        m.stops |= (uint64_t)(unsigned)_mm_movemask_epi8(stop) << i;
        m.quotes |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, q)) << i;
    }
    return m;
#else
    return cri_csv_mark_plainly(p, delimiter, line_end);
#endif
}

/* Bit i: the i-th byte of the block at p is `byte`. */
static inline uint64_t cri_csv_find_in_block(const char *p, char byte)
{
    return cri_csv_mark(p, byte, byte).stops;
}

/* A place in the text that only moves on; `base` is the block it is in. */
typedef struct cri_csv_cursor {
    const char   *base;
    cri_csv_marks marks; /* the stops before the place are cleared */
    char          delimiter, line_end;
} cri_csv_cursor;

static inline void cri_csv_cursor_load(cri_csv_cursor *k, const char *base)
{
    k->base = base;
    k->marks = cri_csv_mark(base, k->delimiter, k->line_end);
}

/* To `at`, behind all that was looked at for stops. */
static inline void cri_csv_cursor_move(cri_csv_cursor *k, const char *at)
{
    if (at - k->base < CRI_CSV_BLOCK)
        k->marks.stops &= ~(uint64_t)0 << (at - k->base);
    else
        cri_csv_cursor_load(k, at);
}

/* The next delimiter or line end, which there must be; the place is behind it then. */
static inline const char *cri_csv_next_stop(cri_csv_cursor *k)
{
    while (!k->marks.stops) cri_csv_cursor_load(k, k->base + CRI_CSV_BLOCK);
    const char *stop = k->base + __builtin_ctzll(k->marks.stops);
    k->marks.stops &= k->marks.stops - 1;
    return stop;
}

/* The first quote in [from, end), else NULL; the cursor is before `from`. */
static inline const char *cri_csv_next_quote(cri_csv_cursor *k, const char *from, const char *end)
{
    if (from - k->base >= CRI_CSV_BLOCK) cri_csv_cursor_load(k, from);
    uint64_t quotes = k->marks.quotes & ~(uint64_t)0 << (from - k->base);
    while (!quotes) {
        if (end - k->base <= CRI_CSV_BLOCK) return NULL;
        cri_csv_cursor_load(k, k->base + CRI_CSV_BLOCK);
        quotes = k->marks.quotes;
    }
    const char *quote = k->base + __builtin_ctzll(quotes);
    return quote < end ? quote : NULL;
}

#endif
