/* stream_libsvm.c -- LIBSVM text in blocks of whole lines. */
#include "data/formats/libsvm.h"
#include "stream_internal.h"
#include "data/table/table_internal.h"
#include "base/bytes.h"

#include <string.h>

typedef struct svm_reader {
    cri_source    *source;
    cri_block_size size;
    char          *buffer; /* [capacity], of which at .. filled - 1 is not parsed yet */
    size_t         at, filled, capacity;
    bool           ended, scanning, settled;     /* settled: `columns` can grow no more */
    bool           whole_labels, whole_values;   /* of all rows, where a first pass has seen them */
    bool           fractional[CRI_LIBSVM_DENSE]; /* of the columns, likewise */
    size_t         columns, line, given;
    size_t         rows, entries; /* of a first pass, or else of the first block */
} svm_reader;

static void free_reader(cr_ctx *cx, void *reader)
{
    svm_reader *r = reader;
    cr_free(cx, r->buffer, r->capacity, 1);
    cr_free(cx, r, 1, sizeof *r);
}

static cr_status open_reader(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                             cri_block_size size, void **out_reader)
{
    svm_reader *r = cr_alloc(cx, 1, sizeof *r);
    (void)options;
    if (!r) return CR_ENOMEM;
    *r = (svm_reader){ .source = source, .size = size, .line = 1 };
    *out_reader = r;
    return CR_OK;
}

static bool start_scan(void *reader)
{
    svm_reader *r = reader;
    r->scanning = !r->settled; /* for the largest index, and the types */
    return r->scanning;
}

static cr_status rewind_reader(cr_ctx *cx, void *reader)
{
    svm_reader *r = reader;
    (void)cx;
    r->ended = false;
    r->settled = true;
    r->scanning = false;
    r->at = r->filled = r->given = 0;
    r->line = 1;
    return cri_source_rewind(r->source);
}

/* --- lines ----------------------------------------------------------------------------------- */

static cr_status read_more(cr_ctx *cx, svm_reader *r)
{
    enum { LEAST = 1 << 20 };
    size_t chunk = r->size.rows ? (size_t)LEAST : r->size.bytes, got = 0;
    if (r->at > 0) memmove(r->buffer, r->buffer + r->at, r->filled - r->at);
    r->filled -= r->at;
    r->at = 0;
    if (r->capacity - r->filled < chunk) {
        size_t capacity = r->filled + chunk + r->filled / 2;
        char  *grown = cr_resize(cx, r->buffer, r->capacity, capacity, 1);
        if (!grown) return CR_ENOMEM;
        r->buffer = grown;
        r->capacity = capacity;
    }
    cr_status st = cri_source_read(r->source, r->buffer + r->filled, chunk, &got);
    if (st != CR_OK) return st;
    r->ended = got < chunk;
    r->filled += got;
    if (r->line == 1 && r->given == 0 && r->filled >= 3 &&
        memcmp(r->buffer, "\xEF\xBB\xBF", 3) == 0)
        memset(r->buffer, ' ', 3); /* UTF-8 mark */
    return CR_OK;
}

/* How many of the bytes not parsed yet are one block: size.rows lines, or all whole lines; 0 when
 * more must be read.  Of the first *seen, which hold *lines, this is known from before. */
static size_t find_block(const svm_reader *r, size_t *lines, size_t *seen)
{
    const char *begin = r->buffer + r->at, *feed = NULL;
    size_t      left = r->filled - r->at;
    if (!r->size.rows && r->ended) return left;
    if (!r->size.rows) {
        feed = cri_find_last(begin, '\n', left);
        return feed ? (size_t)(feed - begin) + 1 : 0;
    }
    while (*seen < left && (feed = memchr(begin + *seen, '\n', left - *seen))) {
        *seen = (size_t)(feed - begin) + 1;
        if (++*lines == r->size.rows) return *seen;
    }
    *seen = left;
    return r->ended ? left : 0;
}

/* Parses the lines of the next block, which may hold no rows. */
static cr_status parse_block(cr_ctx *cx, svm_reader *r, cri_libsvm *out)
{
    cr_status st = CR_OK;
    size_t    block = 0, lines = 0, seen = 0;
    while ((block = r->filled > r->at ? find_block(r, &lines, &seen) : 0) == 0) {
        if (r->ended) return CR_OK;
        CR_TRY(read_more(cx, r));
    }
    CR_TRY(
        cri_libsvm_parse(cx, cri_source_name(r->source), r->buffer + r->at, block, r->line, out));
    r->line += out->lines;
    r->at += block;
done:
    return st;
}

static cr_status check_columns(cr_ctx *cx, svm_reader *r, const cri_libsvm *m)
{
    if (m->columns <= r->columns || !r->settled) {
        if (m->columns > r->columns) r->columns = m->columns;
        return CR_OK;
    }
    cr_fail(cx, CR_EDATA,
            "%s: after row %zu there is an index %zu, but the rows before have %zu columns",
            cri_source_name(r->source), r->given, m->columns, r->columns);
    return cr_fail_hint(cx,
                        "give the data as a file, which is scanned first, or use a larger --block");
}

/* What decides on the types of all blocks, and whether they are sparse: all rows in a first pass, else those of
 * the first block, and numbers are real then. */
static void note_block(svm_reader *r, const cri_libsvm *m)
{
    bool dense = r->columns <= CRI_LIBSVM_DENSE;
    if (r->scanning) {
        r->whole_labels = m->whole_labels && (r->whole_labels || r->given == 0);
        r->whole_values = m->whole_values && (r->whole_values || r->given == 0);
        if (dense) cri_libsvm_note_fractions(m, r->fractional);
    } else if (r->rows == 0) {
        memset(r->fractional, true, sizeof r->fractional);
    } else {
        return;
    }
    r->rows += m->rows;
    r->entries += m->start[m->rows];
}

static cr_status next_block(cr_ctx *cx, void *reader, cr_table **out_table)
{
    svm_reader *r = reader;
    cr_status   st = CR_OK;
    cri_libsvm  m = { 0 };
    cr_table   *t = NULL;
    while (m.rows == 0 && (r->filled > r->at || !r->ended)) {
        cri_libsvm_free(cx, &m);
        CR_TRY(parse_block(cx, r, &m));
    }
    if (m.rows == 0 && r->given == 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: there are no rows", cri_source_name(r->source)));
    if (m.rows == 0) goto done;
    CR_TRY(check_columns(cx, r, &m));
    note_block(r, &m);
    r->settled = r->settled || !r->scanning;
    m.whole_labels = r->whole_labels, m.whole_values = r->whole_values;
    CR_TRY(r->scanning || cri_libsvm_is_sparse(r->columns, r->rows, r->entries)
               ? cri_libsvm_sparse_table(cx, cri_source_name(r->source), &m, r->columns, &t)
               : cri_libsvm_dense_table(cx, cri_source_name(r->source), &m, r->columns,
                                        r->fractional, &t));
    cri_table_set_first_row(t, r->given);
    r->given += cr_table_rows(t);
    *out_table = t;
done:
    cri_libsvm_free(cx, &m);
    return st;
}

const cri_stream_format cri_stream_libsvm = {
    .open = open_reader,
    .next = next_block,
    .rewind = rewind_reader,
    .start_scan = start_scan,
    .free = free_reader,
};
