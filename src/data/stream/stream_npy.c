/* stream_npy.c -- the rows of a .npy matrix in blocks. */
#include "data/formats/npy.h"
#include "stream_internal.h"
#include "data/table/table_internal.h"
#include "base/checked.h"

enum { HEAD = 1 << 16 }; /* bytes in which the header must end */

typedef struct npy_reader {
    cri_source    *source;
    cri_block_size size;
    cri_npy        array; /* its shape and type; no elements */
    size_t         offset, row_bytes, given;
    unsigned char *buffer; /* [capacity] */
    size_t         capacity;
} npy_reader;

static void free_reader(cr_ctx *cx, void *reader)
{
    npy_reader *r = reader;
    cr_free(cx, r->buffer, r->capacity, 1);
    cr_free(cx, r, 1, sizeof *r);
}

/* Reads over the header. */
static cr_status skip_head(npy_reader *r)
{
    char   skipped[256];
    size_t got = 0;
    for (size_t done = 0; done < r->offset; done += got) {
        size_t    left = r->offset - done;
        cr_status st = cri_source_read(r->source, skipped, left < 256 ? left : 256, &got);
        if (st != CR_OK || got == 0) return st;
    }
    return CR_OK;
}

static cr_status read_head(cr_ctx *cx, npy_reader *r)
{
    cr_status   st = CR_OK;
    const char *bytes, *name = cri_source_name(r->source);
    size_t      size;
    CR_TRY(cri_source_peek(r->source, HEAD, &bytes, &size));
    cri_reader in = cri_reader_open(cx, name, bytes, size);
    CR_TRY(cri_npy_parse_head(&in, &r->array));
    r->offset = size - cri_reader_left(&in);
    if (r->array.dims == 0) CR_TRY(cr_fail(cx, CR_EDATA, "%s: a single number, not a table", name));
    if (r->array.cols == 0) CR_TRY(cr_fail(cx, CR_EDATA, "%s: an array without columns", name));
    if (r->array.fortran_order && r->array.cols > 1) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "%s: the array is in Fortran order, so its rows are not contiguous", name);
        CR_TRY(cr_fail_hint(
            cx, "save it from Python with numpy.save(FILE, numpy.ascontiguousarray(X))"));
    }
    if (!cri_mul(r->array.cols, r->array.width, &r->row_bytes))
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: the array's header is damaged: too many columns", name));
    r->array.fortran_order = false;
    CR_TRY(skip_head(r));
done:
    return st;
}

static cr_status open_reader(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                             cri_block_size size, void **out_reader)
{
    npy_reader *r = cr_alloc(cx, 1, sizeof *r);
    (void)options;
    if (!r) return CR_ENOMEM;
    *r = (npy_reader){ .source = source, .size = size };
    cr_status st = read_head(cx, r);
    if (st == CR_OK)
        *out_reader = r;
    else
        free_reader(cx, r);
    return st;
}

static bool start_scan(void *reader)
{
    (void)reader;
    return false; /* numbers only: levels come from the options, and then a pass is made anyway */
}

static cr_status rewind_reader(cr_ctx *cx, void *reader)
{
    npy_reader *r = reader;
    (void)cx;
    r->given = 0;
    cr_status st = cri_source_rewind(r->source);
    return st == CR_OK ? skip_head(r) : st;
}

/* Nothing may follow the last row. */
static cr_status check_end(cr_ctx *cx, npy_reader *r)
{
    char      more;
    size_t    got = 0;
    cr_status st = cri_source_read(r->source, &more, 1, &got);
    if (st != CR_OK || got == 0) return st;
    return cr_fail(cx, CR_EDATA, "%s: there are bytes after the end of the array",
                   cri_source_name(r->source));
}

static cr_status reserve(cr_ctx *cx, npy_reader *r, size_t bytes)
{
    if (bytes <= r->capacity) return CR_OK;
    unsigned char *grown = cr_resize(cx, r->buffer, r->capacity, bytes, 1);
    if (!grown) return CR_ENOMEM;
    r->buffer = grown;
    r->capacity = bytes;
    return CR_OK;
}

static cr_status next_block(cr_ctx *cx, void *reader, cr_table **out_table)
{
    npy_reader *r = reader;
    cr_status   st = CR_OK;
    cr_table   *t = NULL;
    size_t      left = r->array.rows - r->given, n = r->size.rows, bytes = 0, got = 0;
    if (left == 0) return check_end(cx, r);
    if (n == 0) n = cri_leaf_rows(r->size.bytes, r->array.cols);
    if (n > left) n = left;
    if (!cri_mul(n, r->row_bytes, &bytes))
        CR_TRY(cr_fail(cx, CR_ENOMEM, "%s: a block does not fit into memory",
                       cri_source_name(r->source)));
    CR_TRY(reserve(cx, r, bytes));
    CR_TRY(cri_source_read(r->source, (char *)r->buffer, bytes, &got));
    if (got < bytes)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: an array of %zu rows is cut short in row %zu",
                       cri_source_name(r->source), r->array.rows,
                       r->given + got / r->row_bytes + 1));
    cri_npy part = r->array;
    part.rows = n;
    part.data = r->buffer;
    CR_TRY(cri_npy_table(cx, cri_source_name(r->source), &part, &t));
    cri_table_set_first_row(t, r->given);
    r->given += n;
    *out_table = t;
done:
    return st;
}

const cri_stream_format cri_stream_npy = {
    .open = open_reader,
    .next = next_block,
    .rewind = rewind_reader,
    .start_scan = start_scan,
    .free = free_reader,
};
