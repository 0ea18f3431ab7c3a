/* csv_batch.c -- bytes in, pieces of whole records out.
 * Only line ends outside quotes end a record, and whether a place is inside quotes depends on all
 * that stands before it; so the cutter walks from quote to quote (memchr, hence at memory speed
 * where there are none), and the pieces it makes can then be parsed independently. */
#include "csv_internal.h"

#include <string.h>

enum { SLACK = 1 }; /* for a line end behind the last record */

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
    const char *found = to > from ? memrchr(from, line_end, (size_t)(to - from)) : NULL;
    if (found) c->last = found + 1;
}

size_t cri_csv_cut(const cri_csv_dialect *d, const char *begin, const char *end, size_t target,
                   cri_csv_piece *opt_pieces, size_t *opt_n)
{
    cutter      c = { .target = target, .piece = begin, .last = begin, .opt_pieces = opt_pieces };
    const char *at = begin;
    while (at && at < end) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        cut_segment(&c, d->line_end, at, quote ? quote : end);
        if (!quote) break;
        at = opens(d, begin, quote) ? close_quote(quote, end) : quote + 1;
    }
    end_piece(&c, c.last);
    if (opt_n) *opt_n = c.n;
    return (size_t)(c.last - begin);
}

/* --- batches --------------------------------------------------------------------------------- */

static cr_status reserve(cri_csv *csv, size_t capacity)
{
    const size_t most = UINT32_MAX - 1; /* places in the batch are kept in 32 bits */
    if (capacity <= csv->capacity) return CR_OK;
    if (capacity > most)
        return cr_fail(csv->cx, CR_EDATA, "%s:%zu: a record is longer than 4 GiB",
                       cri_source_name(csv->source), csv->line);
    char *grown = cr_resize(csv->cx, csv->buffer, csv->capacity, capacity, 1);
    if (!grown) return CR_ENOMEM;
    csv->buffer = grown;
    csv->capacity = capacity;
    return CR_OK;
}

cr_status cri_csv_start_pass(cri_csv *csv)
{
    cr_status st = CR_OK;
    size_t    size = csv->sizes.piece * csv->sizes.pieces + SLACK, skipped = 0, got = 0;
    size_t    all = cri_source_size(csv->source);
    if (all > 0 && all < size) size = all + 1 + SLACK; /* one more shows that this is the end */
    CR_TRY(cri_source_rewind(csv->source));
    CR_TRY(reserve(csv, size));
    for (; skipped < csv->data_offset; skipped += got) {
        size_t left = csv->data_offset - skipped;
        CR_TRY(cri_source_read(csv->source, csv->buffer, left < size ? left : size, &got));
        if (got == 0) break;
    }
    csv->filled = csv->whole = 0;
    csv->ended = false;
    csv->n_pieces = csv->rows = 0;
    csv->line = csv->data_line;
    csv->first_record_line = csv->last_record_line = 0;
    csv->bytes_done = csv->data_offset;
done:
    return st;
}

/* The last record may lack its line end. */
static void finish_text(cri_csv *csv)
{
    if (csv->filled > 0 && csv->buffer[csv->filled - 1] != csv->dialect.line_end)
        csv->buffer[csv->filled++] = csv->dialect.line_end;
}

cr_status cri_csv_next_batch(cri_csv *csv)
{
    cr_status st = CR_OK;
    size_t    left = csv->filled - csv->whole, got = 0;
    if (left > 0) memmove(csv->buffer, csv->buffer + csv->whole, left);
    csv->filled = left;
    csv->whole = csv->n_pieces = 0;
    while (csv->n_pieces == 0) {
        if (!csv->ended) {
            size_t room = csv->capacity - SLACK - csv->filled;
            char  *to = csv->buffer + csv->filled;
            bool   follow = csv->follow_lines > 0; /* what is there, without waiting for more */
            CR_TRY(follow ? cri_source_read_some(csv->source, to, room, &got)
                          : cri_source_read(csv->source, to, room, &got));
            csv->ended = follow ? got == 0 : got < room;
            csv->filled += got;
            if (csv->ended) finish_text(csv);
        }
        size_t target = csv->filled / csv->sizes.pieces + 1;
        if (target < csv->sizes.piece) target = csv->sizes.piece;
        csv->whole = cri_csv_cut(&csv->dialect, csv->buffer, csv->buffer + csv->filled, target,
                                 csv->pieces, &csv->n_pieces);
        if (csv->ended && csv->whole < csv->filled) { /* a quote is open */
            csv->pieces[csv->n_pieces++] = (cri_csv_piece){ .begin = csv->buffer + csv->whole,
                                                            .end = csv->buffer + csv->filled };
            csv->whole = csv->filled;
        }
        if (csv->ended) break;
        bool full = csv->filled + SLACK == csv->capacity;
        if (csv->n_pieces == 0 && full) CR_TRY(reserve(csv, 2 * csv->capacity));
    }
    csv->bytes_done += csv->whole;
done:
    return st;
}
