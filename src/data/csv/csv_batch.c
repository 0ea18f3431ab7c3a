/* csv_batch.c -- bytes in, pieces of whole records out.
 * Only line ends outside quotes end a record, and whether a place is inside quotes depends on all
 * that stands before it; so the cutter walks from quote to quote (memchr, hence at memory speed
 * where there are none), and the pieces it makes can then be parsed independently.  From the first
 * quote on it walks in blocks of 64 bytes, where the parity of the quotes tells what is inside, as
 * long as each quote opens a field, closes it or is doubled.  While the pieces of one batch are parsed,
 * one thread reads, decompresses and cuts the next. */
#include "csv_internal.h"
#include "csv_marks.h"
#include "base/bytes.h"

#include <string.h>

/* Behind the last record: a line end, and a block to read past it. */
enum { SLACK = 1 + CRI_CSV_BLOCK };

/* true when the quote at q opens a quoted field: only blanks between it and the field's start. */
static bool opens(const cri_csv_dialect *d, const char *begin, const char *q)
{
    while (q > begin && d->blank[(unsigned char)q[-1]]) q--;
    return q == begin || d->stop[(unsigned char)q[-1]];
}

/* Behind the closing quote of the field that opens at q; NULL when it is not in [q, end). */
static const char *close_quote(const char *q, const char *end)
{
    for (const char *p = q + 1; p < end; p += 2) {
        p = memchr(p, '"', (size_t)(end - p));
        if (!p) return NULL;
        if (p + 1 == end) return end; /* it may be the first of two: the record goes on */
        if (p[1] != '"') return p + 1;
    }
    return NULL;
}

typedef struct cutter {
    size_t         target;
    const char    *piece, *last; /* start of the open piece; behind the last line end seen */
    cri_csv_piece *opt_pieces;
    size_t         n;
} cutter;

static void end_piece(cutter *c, const char *at)
{
    if (c->opt_pieces && at > c->piece)
        c->opt_pieces[c->n++] = (cri_csv_piece){ .begin = c->piece, .end = at };
    c->piece = at;
}

/* [from, to) is outside quotes: ends pieces at its line ends once they are large enough. */
static void cut_segment(cutter *c, char line_end, const char *from, const char *to)
{
    while (c->opt_pieces && (size_t)(to - c->piece) >= c->target) {
        const char *search = c->piece + c->target - 1;
        if (search < from) search = from;
        const char *found = memchr(search, line_end, (size_t)(to - search));
        if (!found) break;
        end_piece(c, found + 1);
    }
    const char *found = to > from ? cri_find_last(from, line_end, (size_t)(to - from)) : NULL;
    if (found) c->last = found + 1;
}

/* The same for the line ends marked in the block at p. */
static void cut_block(cutter *c, const char *p, uint64_t line_ends)
{
    while (c->opt_pieces && (size_t)(p + CRI_CSV_BLOCK - c->piece) >= c->target) {
        const char *search = c->piece + c->target - 1;
        uint64_t    found = search > p ? line_ends & ~(uint64_t)0 << (search - p) : line_ends;
        if (!found) break;
        end_piece(c, p + __builtin_ctzll(found) + 1);
    }
    if (line_ends) c->last = p + CRI_CSV_BLOCK - __builtin_clzll(line_ends);
}

/* Bit i: the number of marks up to and with the i-th is odd. */
static uint64_t parities(uint64_t marks)
{
    for (int shift = 1; shift < 64; shift *= 2) marks ^= marks << shift;
    return marks;
}

/* Cuts whole blocks from the record at c->last on, up to a quote that is neither at the start nor at
 * the end of a field nor one of two, or to the end.  What is behind c->last then is still to be done. */
static void cut_blocks(cutter *c, const cri_csv_dialect *d, const char *end)
{
    uint64_t inside = 0,
             may_open = 1; /* all ones: inside quotes; the first byte of the block may */
    for (const char *p = c->last; end - p >= CRI_CSV_BLOCK; p += CRI_CSV_BLOCK) {
        cri_csv_marks m = cri_csv_mark(p, d->delimiter, d->line_end);
        uint64_t      within = parities(m.quotes) ^ inside; /* from an opening quote on */
        uint64_t      before = m.stops | m.quotes;          /* of two quotes the first has closed */
        if (m.quotes & within & ~(before << 1 | may_open)) return;
        cut_block(c, p, cri_csv_find_in_block(p, d->line_end) & ~within);
        inside = 0 - (within >> 63);
        may_open = before >> 63;
    }
}

size_t cri_csv_cut(const cri_csv_dialect *d, const char *begin, const char *end, size_t target,
                   cri_csv_piece *opt_pieces, size_t *opt_n)
{
    bool        blocks = !d->runs;
    cutter      c = { .target = target, .piece = begin, .last = begin, .opt_pieces = opt_pieces };
    const char *at = begin;
    while (at && at < end) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        cut_segment(&c, d->line_end, at, quote ? quote : end);
        if (!quote) break;
        if (blocks) {
            blocks = false;
            cut_blocks(&c, d, end);
            at = c.last;
            continue;
        }
        at = opens(d, begin, quote) ? close_quote(quote, end) : quote + 1;
    }
    end_piece(&c, c.last);
    if (opt_n) *opt_n = c.n;
    return (size_t)(c.last - begin);
}

/* --- batches --------------------------------------------------------------------------------- */

cr_status cri_csv_make_pieces(cri_csv *csv)
{
    enum { LINE = 64 }; /* bytes of a cache line */
    size_t pieces = csv->sizes.pieces + 1;
    csv->seen_stride = csv->n + LINE;
    csv->seen = cr_scratch_bytes(&csv->scratch, pieces, csv->seen_stride);
    csv->batch.pieces = cr_scratch_bytes(&csv->scratch, pieces, sizeof *csv->batch.pieces);
    csv->ahead.pieces = cr_scratch_bytes(&csv->scratch, pieces, sizeof *csv->ahead.pieces);
    return csv->scratch.status;
}

static cr_status reserve(const cri_csv *csv, cri_csv_batch *b, size_t capacity)
{
    const size_t most = CRI_CSV_PLACE - 2; /* places in the batch are kept in 31 bits */
    if (capacity <= b->capacity) return CR_OK;
    if (capacity > most)
        return cr_fail(csv->cx, CR_EDATA, "%s:%zu: a record is longer than 2 GiB",
                       cri_source_name(csv->source), csv->line);
    char *grown = cr_resize(csv->cx, b->buffer, b->capacity, capacity, 1);
    if (!grown) return CR_ENOMEM;
    b->buffer = grown;
    b->capacity = capacity;
    return CR_OK;
}

cr_status cri_csv_start_pass(cri_csv *csv)
{
    cr_status      st = CR_OK;
    cri_csv_batch *b = &csv->batch;
    size_t         size = csv->sizes.piece * csv->sizes.pieces + SLACK, skipped = 0, got = 0;
    size_t         all = cri_source_size(csv->source);
    if (all > 0 && all < size) size = all + 1 + SLACK; /* one more shows that this is the end */
    CR_TRY(cri_source_rewind(csv->source));
    CR_TRY(reserve(csv, b, size));
    for (; skipped < csv->data_offset; skipped += got) {
        size_t left = csv->data_offset - skipped;
        CR_TRY(cri_source_read(csv->source, b->buffer, left < size ? left : size, &got));
        if (got == 0) break;
    }
    b->filled = b->whole = b->n_pieces = 0;
    csv->ended = csv->has_ahead = false;
    csv->rows = 0;
    csv->line = csv->data_line;
    csv->first_record_line = csv->last_record_line = 0;
    csv->bytes_done = csv->data_offset;
    csv->leaf_left = csv->leaf_bytes - csv->data_offset % csv->leaf_bytes;
    csv->n_leaves = 0;
done:
    return st;
}

/* Fills what is free of the batch, up to the end of the leaf. */
static cr_status fill(cri_csv *csv, cri_csv_batch *b)
{
    size_t space = b->capacity - SLACK - b->filled, got = 0;
    if (space > csv->leaf_left) space = csv->leaf_left;
    char     *to = b->buffer + b->filled;
    bool      follow = csv->follow_lines > 0; /* what is there, without waiting for more */
    cr_status st = follow ? cri_source_read_some(csv->source, to, space, &got)
                          : cri_source_read(csv->source, to, space, &got);
    if (st != CR_OK) return st;
    csv->ended = follow ? got == 0 : got < space;
    csv->leaf_left -= got;
    b->filled += got;
    if (csv->ended && b->filled > 0 && b->buffer[b->filled - 1] != csv->dialect.line_end)
        b->buffer[b->filled++] = csv->dialect.line_end; /* the last record may lack it */
    memset(b->buffer + b->filled, 0, CRI_CSV_BLOCK);
    return CR_OK;
}

static void cut_batch(const cri_csv *csv, cri_csv_batch *b)
{
    const char *begin = b->buffer, *end = begin + b->filled;
    size_t      target = b->filled / csv->sizes.pieces + 1;
    if (target < csv->sizes.piece) target = csv->sizes.piece;
    b->whole = cri_csv_cut(&csv->dialect, begin, end, target, b->pieces, &b->n_pieces);
    if (csv->ended && b->whole < b->filled) { /* a quote is open */
        b->pieces[b->n_pieces++] = (cri_csv_piece){ .begin = begin + b->whole, .end = end };
        b->whole = b->filled;
    }
}

/* Makes room where the batch is full; one that holds a leaf grows to that. */
static cr_status grow(cri_csv *csv, cri_csv_batch *b)
{
    enum { MARGIN = 1 << 16 }; /* for the record that the leaf before left unfinished */
    if (b->filled + SLACK < b->capacity) return CR_OK;
    if (csv->by_leaves) return reserve(csv, b, b->filled + csv->leaf_left + SLACK + MARGIN);
    return b->n_pieces > 0 ? CR_OK : reserve(csv, b, 2 * b->capacity);
}

/* Reads into b what follows `before`, which may be b itself. */
static cr_status read_batch(cri_csv *csv, const cri_csv_batch *before, cri_csv_batch *b)
{
    cr_status st = CR_OK;
    size_t    left = before->filled - before->whole;
    CR_TRY(reserve(csv, b, before->capacity));
    if (left > 0) memmove(b->buffer, before->buffer + before->whole, left);
    b->filled = left;
    b->whole = b->n_pieces = 0;
    b->begins_leaf = false;
    do {
        if (csv->leaf_left == 0) b->begins_leaf = true, csv->leaf_left = csv->leaf_bytes;
        if (!csv->ended) CR_TRY(fill(csv, b));
        cut_batch(csv, b);
        if (csv->ended) break;
        CR_TRY(grow(csv, b));
    } while (b->n_pieces == 0 || (csv->by_leaves && csv->leaf_left > 0));
done:
    return st;
}

void cri_csv_read_ahead(cri_csv *csv)
{
    if (csv->streaming || csv->ended) return;
    csv->ahead_status = read_batch(csv, &csv->batch, &csv->ahead);
    csv->has_ahead = true;
}

cr_status cri_csv_next_batch(cri_csv *csv)
{
    cr_status st = CR_OK;
    if (csv->has_ahead) {
        cri_csv_batch done = csv->batch;
        csv->batch = csv->ahead;
        csv->ahead = done;
        csv->has_ahead = false;
        CR_TRY(csv->ahead_status);
    } else
        CR_TRY(read_batch(csv, &csv->batch, &csv->batch));
    csv->bytes_done += csv->batch.whole;
done:
    return st;
}
