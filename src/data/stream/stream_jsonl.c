/* stream_jsonl.c -- JSON lines in blocks.
 * Of a regular file a first pass finds keys and types, a second the levels of categories; of a pipe the
 * first block tells both, and numbers are real. */
#include "data/formats/jsonl.h"
#include "stream_internal.h"
#include "data/table/table_internal.h"

typedef struct jsonl_reader {
    cri_jsonl     *lines;
    cri_source    *source;
    cri_block_size size;
    unsigned       scans; /* first passes that have been started */
    bool           keys;  /* only keys and types are looked for */
    size_t         given;
} jsonl_reader;

static void free_reader(cr_ctx *cx, void *reader)
{
    jsonl_reader *r = reader;
    cri_jsonl_free(r->lines);
    cr_free(cx, r, 1, sizeof *r);
}

static cr_status open_reader(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                             cri_block_size size, void **out_reader)
{
    jsonl_reader *r = cr_alloc(cx, 1, sizeof *r);
    if (!r) return CR_ENOMEM;
    *r = (jsonl_reader){ .source = source, .size = size };
    cr_status st = cri_jsonl_open(cx, source, options, &r->lines);
    if (st == CR_OK)
        *out_reader = r;
    else
        free_reader(cx, r);
    return st;
}

static bool start_scan(void *reader)
{
    jsonl_reader *r = reader;
    r->keys = r->scans == 0;
    if (r->scans == 1) cri_jsonl_settle(r->lines, false);
    return r->scans++ == 0 || (r->scans == 2 && cri_jsonl_has_texts(r->lines));
}

static cr_status rewind_reader(cr_ctx *cx, void *reader)
{
    jsonl_reader *r = reader;
    (void)cx;
    r->given = 0;
    return cri_jsonl_rewind(r->lines);
}

/* As many rows as a block has; of a pipe whose keys are not known yet, by those of the first row. */
static cr_status fill(jsonl_reader *r, size_t *out_rows)
{
    size_t    n = r->size.rows;
    cr_status st = CR_OK;
    if (n == 0 && cri_jsonl_columns(r->lines) == 0) CR_TRY(cri_jsonl_fill(r->lines, 1, out_rows));
    if (n == 0) n = cri_leaf_rows(r->size.bytes, cri_jsonl_columns(r->lines));
    CR_TRY(cri_jsonl_fill(r->lines, n, out_rows));
done:
    return st;
}

static cr_status next_block(cr_ctx *cx, void *reader, cr_table **out_table)
{
    jsonl_reader *r = reader;
    cr_status     st = CR_OK;
    size_t        rows = 0;
    CR_TRY(fill(r, &rows));
    if (rows == 0 && r->given == 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: the file is empty", cri_source_name(r->source)));
    if (rows == 0) goto done;
    if (r->scans == 0) { /* a pipe: its first block tells */
        cri_jsonl_settle(r->lines, true);
        r->scans = 2;
    }
    if (r->keys) {
        cri_jsonl_drop(r->lines);
        CR_TRY(cr_table_new(cx, cri_source_name(r->source), rows, out_table));
    } else
        CR_TRY(cri_jsonl_take(r->lines, out_table));
    r->given += rows;
done:
    return st;
}

const cri_stream_format cri_stream_jsonl = {
    .open = open_reader,
    .next = next_block,
    .rewind = rewind_reader,
    .start_scan = start_scan,
    .free = free_reader,
};
