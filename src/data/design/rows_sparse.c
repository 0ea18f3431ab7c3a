/* rows_sparse.c -- the sparse part of opening a table through a design. */
#include "design_block.h"
#include "data/table/table_internal.h"
#include "base/scratch.h"

#include <math.h>

/* The number of the k-th column of the block: x1 is 0. */
static size_t number_of(const cri_design_block *b, size_t k) { return b->index ? b->index[k] : k; }

/* The term of an entry, UINT32_MAX where the design does not read its column. */
static uint32_t term_of(const cri_block_rows *b, size_t e)
{
    uint32_t j = b->X.column[e];
    return b->term ? b->term[j] : j;
}

/* --- ordinary columns as a block ------------------------------------------------------------- */

/* The n columns as entries: those that are not 0. */
static cr_status gather(cr_ctx *cx, const cr_column *const *columns, size_t rows, size_t n,
                        cri_sparse_copy *out)
{
    size_t at = 0;
    out->rows = rows;
    out->start = cr_alloc(cx, rows + 1, sizeof *out->start);
    if (!out->start) return CR_ENOMEM;
    for (size_t i = 0; i < rows; i++) {
        out->start[i + 1] = out->start[i];
        for (size_t k = 0; k < n; k++)
            out->start[i + 1] += columns[k]->values[i * columns[k]->stride] != 0;
    }
    size_t entries = out->start[rows];
    out->column = cr_resize(cx, NULL, 0, entries, sizeof *out->column);
    out->value = out->column ? cr_resize(cx, NULL, 0, entries, sizeof *out->value) : NULL;
    if (!out->value) {
        cr_free(cx, out->column, entries, sizeof *out->column);
        out->column = NULL;
        return CR_ENOMEM;
    }
    out->entries = entries;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < n; k++) {
            double x = columns[k]->values[i * columns[k]->stride];
            if (x == 0) continue;
            out->column[at] = (uint32_t)k;
            out->value[at++] = x;
        }
    return CR_OK;
}

static cr_status open_ordinary(cr_ctx *cx, const cr_design *d, const cr_table *t,
                               cri_block_rows *out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    size_t            n = d->block.n, rows = cr_table_rows(t);
    const cr_column **columns = cr_scratch_bytes(&s, n, sizeof *columns);
    cri_level_map     map = { 0 }; /* stays so: the block is numbers */

    CR_TRY(s.status);
    for (size_t k = 0; k < n; k++) {
        char              name[CR_NAME_SIZE];
        cri_design_column c = { .name = name, .type = CR_REAL };
        cri_numbered_name(number_of(&d->block, k), name);
        CR_TRY(cri_match_column(cx, t, &c, &columns[k], &map));
        CR_TRY(cri_column_check_finite(cx, t, columns[k]));
        out->missing += columns[k]->missing;
    }
    CR_TRY(gather(cx, columns, rows, n, &out->gathered));
    out->X = (cr_csr){ rows, n, out->gathered.start, out->gathered.column, out->gathered.value };
done:
    cr_scratch_end(&s);
    return st;
}

/* --- a sparse block as a block --------------------------------------------------------------- */

/* Fails for a column that the table should have. */
static cr_status check_width(cr_ctx *cx, const cr_design *d, const cr_table *t)
{
    size_t n = d->block.n, columns = cr_table_csr(t)->columns;
    char   name[CR_NAME_SIZE];
    if (number_of(&d->block, n - 1) < columns) return CR_OK;
    cri_numbered_name(number_of(&d->block, n - 1), name);
    return cri_table_is_open_column(t, name) ? CR_OK : cri_table_no_column(cx, t, name);
}

/* How many entries are in columns that the training table did not have. */
static size_t count_unseen(const cr_csr *X, size_t width)
{
    size_t n = 0;
    for (size_t e = 0; X->columns > width && e < X->row_start[X->rows]; e++)
        n += X->column[e] >= width;
    return n;
}

static cr_status map_columns(cr_ctx *cx, const cr_design *d, const cr_table *t, cri_block_rows *out)
{
    const cri_design_block *b = &d->block;
    size_t                  unseen = count_unseen(&out->X, b->width);
    if (unseen)
        cr_log(cx, CR_LOG_WARNING,
               "%s: the columns after x%zu, which the model has not seen, are ignored (%zu values)",
               cr_table_source(t), b->width, unseen);
    if (!b->index && !unseen) return CR_OK;
    out->term = cr_resize(cx, NULL, 0, out->X.columns, sizeof *out->term);
    if (!out->term) return CR_ENOMEM;
    for (size_t j = 0; j < out->X.columns; j++) out->term[j] = UINT32_MAX;
    for (size_t k = 0; k < b->n; k++)
        if (number_of(b, k) < out->X.columns) out->term[number_of(b, k)] = (uint32_t)k;
    return CR_OK;
}

/* Counts the gaps in use, and fails at an infinite value. */
static cr_status check_values(cr_ctx *cx, const cr_design *d, const cr_table *t, cri_block_rows *b)
{
    char where[512];
    if (!cri_table_csr_missing(t) && !cri_table_csr_infinite(t)) return CR_OK;
    for (size_t i = 0; i < b->X.rows; i++)
        for (size_t e = b->X.row_start[i]; e < b->X.row_start[i + 1]; e++) {
            if (isfinite(b->X.value[e]) || term_of(b, e) == UINT32_MAX) continue;
            if (isinf(b->X.value[e]))
                return cr_fail(cx, CR_EDATA, "%s: column '%s' is infinite",
                               cri_table_where(t, i, where, sizeof where),
                               cr_design_column_name(d, term_of(b, e)));
            b->missing++;
        }
    return CR_OK;
}

cr_status cri_block_open(cr_ctx *cx, const cr_design *d, const cr_table *t, cri_block_rows *out)
{
    cr_status st = CR_OK;
    if (!cr_table_csr(t)) return open_ordinary(cx, d, t, out);
    out->X = *cr_table_csr(t);
    CR_TRY(check_width(cx, d, t));
    CR_TRY(map_columns(cx, d, t, out));
    CR_TRY(check_values(cx, d, t, out));
done:
    return st;
}

void cri_block_close(cr_ctx *cx, cri_block_rows *b)
{
    cr_free(cx, b->term, b->X.columns, sizeof *b->term);
    cri_sparse_free(cx, &b->gathered);
}

/* --- missing values -------------------------------------------------------------------------- */

bool cri_block_is_missing(const cri_block_rows *b, size_t row)
{
    for (size_t e = b->X.row_start[row]; e < b->X.row_start[row + 1]; e++)
        if (isnan(b->X.value[e]) && term_of(b, e) != UINT32_MAX) return true;
    return false;
}

cr_status cri_block_refuse_missing(cr_ctx *cx, const cr_design *d, const cr_table *t,
                                   const cri_block_rows *b)
{
    char     where[512];
    size_t   row = 0, e, gaps = 0;
    uint32_t term;
    while (!cri_block_is_missing(b, row)) row++;
    for (e = b->X.row_start[row]; !isnan(b->X.value[e]) || term_of(b, e) == UINT32_MAX;) e++;
    term = term_of(b, e);
    for (e = 0; e < b->X.row_start[b->X.rows]; e++)
        gaps += isnan(b->X.value[e]) && term_of(b, e) == term;
    cr_fail(cx, CR_EDATA, "%s: the column '%s' has no value (it is missing in %zu of %zu rows)",
            cri_table_where(t, row, where, sizeof where), cr_design_column_name(d, term), gaps,
            cr_table_rows(t));
    return cr_fail_hint(cx, "a model fitted with --missing drop leaves such rows out, one with "
                            "--missing impute fills them");
}

/* --- X --------------------------------------------------------------------------------------- */

/* The entries of the block in row i of X, written behind each other when the arrays are there; then
 * those of the other terms, ordinary [n_terms].  Returns how many. */
static size_t put_row(const cri_block_rows *b, const cri_rows *r, size_t i, const double *ordinary,
                      uint32_t *opt_column, double *opt_value)
{
    const cri_design_block *block = &r->design->block;
    size_t                  row = r->index ? r->index[i] : i, n = 0;
    for (size_t e = b->X.row_start[row]; e < b->X.row_start[row + 1]; e++) {
        uint32_t j = term_of(b, e);
        double   x = b->X.value[e];
        if (j == UINT32_MAX) continue;
        if (isnan(x) && r->design->missing != CR_MISSING_KEEP) x = block->fill ? block->fill[j] : 0;
        if (opt_column) opt_column[n] = j, opt_value[n] = x;
        n++;
    }
    for (size_t k = 0; k < r->design->n_terms; k++) {
        if (ordinary[k] == 0) continue;
        if (opt_column) opt_column[n] = (uint32_t)(block->n + k), opt_value[n] = ordinary[k];
        n++;
    }
    return n;
}

/* Counts the entries of every row of X, or writes them when the arrays of the copy are there. */
static void put_rows(const cri_block_rows *b, const cri_rows *r, cri_sparse_copy *c, double *buffer)
{
    enum { ROWS = 64 };
    size_t q = r->design->n_terms;
    for (size_t begin = 0; begin < r->n; begin += ROWS) {
        size_t end = r->n - begin > ROWS ? begin + ROWS : r->n;
        for (size_t k = 0; k < q; k++)
            cri_rows_fill_ordinary(r, k, true, begin, end, buffer + k, q);
        for (size_t i = begin; i < end; i++) {
            const double *ordinary = buffer + (i - begin) * q;
            size_t        at = c->start[i];
            if (c->column)
                put_row(b, r, i, ordinary, c->column + at, c->value + at);
            else
                c->start[i + 1] = at + put_row(b, r, i, ordinary, NULL, NULL);
        }
    }
}

static cr_status copy_rows(cr_ctx *cx, const cri_block_rows *b, const cri_rows *r,
                           cri_sparse_copy *c)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *buffer = cr_scratch_matrix(&s, 64, r->design->n_terms);
    uint32_t  *column = NULL;

    CR_TRY(s.status);
    c->start = cr_alloc(cx, r->n + 1, sizeof *c->start);
    if (!c->start) CR_TRY(CR_ENOMEM);
    c->rows = r->n;
    put_rows(b, r, c, buffer);
    column = cr_resize(cx, NULL, 0, c->start[r->n], sizeof *column);
    c->value = column ? cr_resize(cx, NULL, 0, c->start[r->n], sizeof *c->value) : NULL;
    if (!c->value) {
        cr_free(cx, column, c->start[r->n], sizeof *column);
        CR_TRY(CR_ENOMEM);
    }
    c->column = column;
    c->entries = c->start[r->n];
    put_rows(b, r, c, buffer);
done:
    cr_scratch_end(&s);
    return st;
}

/* A standardised 0 for every term, where some are not 0. */
static cr_status set_base(cr_ctx *cx, cri_rows *r, cri_sparse *X)
{
    bool shifted = false;
    X->plain = true;
    X->shift = r->design->shift;
    X->scale = r->design->scale;
    for (size_t j = 0; j < r->p; j++) {
        shifted |= X->shift[j] != 0;
        X->plain &= X->shift[j] == 0 && X->scale[j] == 1;
    }
    if (!shifted) return CR_OK;
    r->base = cr_resize(cx, NULL, 0, r->p, sizeof *r->base);
    if (!r->base) return CR_ENOMEM;
    for (size_t j = 0; j < r->p; j++) r->base[j] = (0 - X->shift[j]) / X->scale[j];
    return CR_OK;
}

cr_status cri_rows_view_sparse(cr_ctx *cx, cri_rows *r)
{
    cri_sparse_copy *c = r->copy;
    c->view = (cri_sparse){
        .n = r->n, .p = r->p, .start = c->start, .column = c->column, .value = c->value
    };
    cr_status st = set_base(cx, r, &c->view);
    if (st == CR_OK) r->sparse = &c->view;
    return st;
}

cr_status cri_block_finish(cr_ctx *cx, const cri_block_rows *b, cri_rows *r)
{
    cr_status        st = CR_OK;
    cri_sparse_copy *c = r->copy = cr_alloc(cx, 1, sizeof *c);
    bool             own = !b->gathered.start && !b->term && !b->missing && !r->design->n_terms;
    if (!c) return CR_ENOMEM;
    if (!own) {
        CR_TRY(copy_rows(cx, b, r, c));
        CR_TRY(cri_rows_view_sparse(cx, r));
        goto done;
    }
    c->view = (cri_sparse){ .n = r->n,
                            .p = r->p,
                            .start = b->X.row_start,
                            .column = b->X.column,
                            .value = b->X.value,
                            .index = r->index };
    CR_TRY(set_base(cx, r, &c->view));
    r->sparse = &c->view;
done:
    return st;
}
