/* table_sparse.c -- the sparse block of a table: its entries, its names, its columns on demand. */
#include "table_private.h"
#include "base/context_internal.h"
#include "base/parallel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- names ----------------------------------------------------------------------------------- */

const char *cri_numbered_name(size_t j, char out[CR_NAME_SIZE])
{
    snprintf(out, CR_NAME_SIZE, "x%u", (unsigned)j + 1u);
    return out;
}

size_t cri_numbered_column(const char *name)
{
    size_t number = 0;
    if (name[0] != 'x' || name[1] < '1' || name[1] > '9') return SIZE_MAX;
    for (const char *at = name + 1; *at; at++) {
        if (*at < '0' || *at > '9' || number > UINT32_MAX) return SIZE_MAX;
        number = 10 * number + (size_t)(*at - '0');
    }
    return number - 1;
}

/* --- checking entries ------------------------------------------------------------------------ */

static bool is_sound_row(const cr_csr *X, size_t i)
{
    size_t begin = X->row_start[i], end = X->row_start[i + 1];
    for (size_t e = begin; e < end; e++)
        if (X->column[e] >= X->columns || (e > begin && X->column[e - 1] >= X->column[e]))
            return false;
    return true;
}

/* acc: how many rows are unsound, and how many entries are NaN, and NaN or infinite. */
static void look_through_rows(void *arg, cri_range rows, double *acc)
{
    const cr_csr *X = arg;
    for (size_t i = rows.begin; i < rows.end; i++) {
        acc[0] += !is_sound_row(X, i);
        for (size_t e = X->row_start[i]; e < X->row_start[i + 1]; e++) {
            double x = X->value[e];
            acc[1] += x != x ? 1 : 0;
            acc[2] += x - x != 0 ? 1 : 0;
        }
    }
}

static cr_status fail_row(cr_ctx *cx, const cr_table *t, size_t row, const char *what)
{
    return cr_fail(cx, CR_EARG, "%s: row %zu of the sparse matrix: %s", t->source, row + 1, what);
}

static cr_status check_starts(cr_ctx *cx, const cr_table *t, const cr_csr *X)
{
    if (X->rows != t->rows)
        return cr_fail(cx, CR_EARG, "%s: a sparse matrix of %zu rows for a table of %zu", t->source,
                       X->rows, t->rows);
    if (X->columns >= UINT32_MAX)
        return cr_fail(cx, CR_EARG,
                       "%s: a sparse matrix of %zu columns, but at most %u are allowed", t->source,
                       X->columns, UINT32_MAX - 1);
    if (X->row_start[0] != 0) return fail_row(cx, t, 0, "its entries do not start at 0");
    for (size_t i = 0; i < X->rows; i++)
        if (X->row_start[i + 1] < X->row_start[i])
            return fail_row(cx, t, i, "its entries end before they begin");
    return CR_OK;
}

static cr_status check_entries(cr_ctx *cx, const cr_table *t, cri_sparse_block *b)
{
    enum { ROWS = 4096 };
    double    counts[3];
    size_t    row = 0;
    cr_status st =
        cri_parallel_sum(cx, NULL, b->view.rows, ROWS, 3, look_through_rows, &b->view, counts);
    if (st != CR_OK) return st;
    b->missing = (size_t)counts[1];
    b->infinite = counts[2] > counts[1];
    if (counts[0] == 0) return CR_OK;
    while (is_sound_row(&b->view, row)) row++;
    return fail_row(cx, t, row, "its columns do not increase, or one is too large");
}

static cr_status check_names(cr_ctx *cx, const cr_table *t, size_t columns)
{
    for (size_t i = 0; i < t->n; i++)
        if (cri_numbered_column(t->columns[i].name) < columns)
            return cr_fail(cx, CR_EDATA, "%s: two columns are called '%s'", t->source,
                           t->columns[i].name);
    return CR_OK;
}

/* --- life ------------------------------------------------------------------------------------ */

static void free_block(cr_ctx *cx, cri_sparse_block *b)
{
    size_t           rows = b->view.rows, columns = b->view.columns;
    cri_spread_slot *spread = atomic_load(&b->spread);
    for (size_t j = 0; spread && j < columns; j++)
        cr_free(cx, atomic_load(&spread[j]), sizeof(cri_spread) + rows * sizeof(double), 1);
    cr_free(cx, spread, columns, sizeof *spread);
    cr_free(cx, b->column, b->start ? b->start[rows] : 0, sizeof *b->column);
    cr_free(cx, b->value, b->start ? b->start[rows] : 0, sizeof *b->value);
    cr_free(cx, b->start, rows + 1, sizeof *b->start);
}

void cri_table_free_csr(cr_ctx *cx, cr_table *t)
{
    if (!t->sparse) return;
    free_block(cx, t->sparse);
    cr_free(cx, t->sparse, 1, sizeof *t->sparse);
}

/* Moves the block into the table, or frees it. */
static cr_status add_block(cr_ctx *cx, cr_table *t, cri_sparse_block b)
{
    cr_status         st = CR_OK;
    cri_sparse_block *kept = NULL;
    if (t->sparse)
        CR_TRY(cr_fail(cx, CR_EARG, "%s: the table has a sparse block already", t->source));
    CR_TRY(check_starts(cx, t, &b.view));
    CR_TRY(check_entries(cx, t, &b));
    CR_TRY(check_names(cx, t, b.view.columns));
    b.first = t->n;
    kept = cr_alloc(cx, 1, sizeof *kept);
    if (!kept) CR_TRY(CR_ENOMEM);
    memcpy(kept, &b, sizeof b);
    t->sparse = kept;
    return CR_OK;
done:
    free_block(cx, &b);
    return st;
}

cr_status cr_table_borrow_csr(cr_ctx *cx, cr_table *t, cr_type type, cr_csr X)
{
    return add_block(cx, t, (cri_sparse_block){ .view = X, .type = type });
}

cr_status cri_table_own_csr(cr_ctx *cx, cr_table *t, cr_type type, size_t columns, size_t *start,
                            uint32_t *column, double *value)
{
    return add_block(cx, t,
                     (cri_sparse_block){ .view = { t->rows, columns, start, column, value },
                                         .type = type,
                                         .start = start,
                                         .column = column,
                                         .value = value });
}

void cri_table_move_csr(cr_table *from, cr_table *to)
{
    to->sparse = from->sparse;
    from->sparse = NULL;
}

void cri_table_csr_set_missing(cr_table   *t, bool (*is_missing)(const void *user, double value),
                               const void *user)
{
    cri_sparse_block *b = t->sparse;
    for (size_t e = 0; b && b->value && e < b->start[t->rows]; e++) {
        if (isnan(b->value[e]) || !is_missing(user, b->value[e])) continue;
        b->value[e] = NAN;
        b->missing++;
    }
}

/* --- looking --------------------------------------------------------------------------------- */

const cr_csr *cr_table_csr(const cr_table *t) { return t->sparse ? &t->sparse->view : NULL; }
size_t        cr_table_csr_first(const cr_table *t) { return t->sparse ? t->sparse->first : 0; }
cr_type       cr_table_csr_type(const cr_table *t) { return t->sparse ? t->sparse->type : CR_REAL; }
size_t cri_table_csr_missing(const cr_table *t) { return t->sparse ? t->sparse->missing : 0; }
bool   cri_table_csr_infinite(const cr_table *t) { return t->sparse && t->sparse->infinite; }
void   cri_table_set_open_ended(cr_table *t) { t->open_ended = true; }

bool cri_table_is_open_column(const cr_table *t, const char *name)
{
    return t->open_ended && cri_numbered_column(name) != SIZE_MAX && !cri_table_has(t, name);
}

/* --- columns on demand ----------------------------------------------------------------------- */

/* The entry of column j in row i; 0 where there is none. */
static double value_at(const cr_csr *X, size_t i, size_t j)
{
    size_t low = X->row_start[i], high = X->row_start[i + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (X->column[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < X->row_start[i + 1] && X->column[low] == j ? X->value[low] : 0;
}

/* The slots for spread columns, made by the first who asks; the loser of a race frees what he made.
 */
static cri_spread_slot *slots_of(const cr_table *t)
{
    cri_sparse_block *b = t->sparse;
    size_t            n = b->view.columns;
    cri_spread_slot  *there = atomic_load(&b->spread);
    if (there) return there;
    cri_spread_slot *made = cri_resize_quietly(t->cx, NULL, 0, n, sizeof *made);
    if (!made) return NULL;
    for (size_t j = 0; j < n; j++) atomic_init(&made[j], NULL);
    if (atomic_compare_exchange_strong(&b->spread, &there, made)) return made;
    cr_free(t->cx, made, n, sizeof *made);
    return there;
}

const cr_column *cri_table_spread(const cr_table *t, size_t j)
{
    const cri_sparse_block *b = t->sparse;
    cri_spread_slot        *slots = slots_of(t);
    size_t                  bytes = sizeof(cri_spread) + t->rows * sizeof(double), odd = 0;
    cri_spread             *there = slots ? atomic_load(&slots[j]) : NULL;
    if (there || !slots) return there ? &there->view : NULL;

    cri_spread *made = cri_resize_quietly(t->cx, NULL, 0, bytes, 1);
    if (!made) return NULL;
    made->view = (cr_column){ .name = cri_numbered_name(j, made->name),
                              .type = b->type,
                              .values = made->values,
                              .stride = 1 };
    for (size_t i = 0; i < t->rows; i++) {
        double x = made->values[i] = value_at(&b->view, i, j);
        made->view.missing += x != x ? 1 : 0;
        odd += x - x != 0 ? 1 : 0;
    }
    made->view.infinite = odd > made->view.missing;
    if (atomic_compare_exchange_strong(&slots[j], &there, made)) return &made->view;
    cr_free(t->cx, made, bytes, 1);
    return &there->view;
}

/* --- dense ----------------------------------------------------------------------------------- */

cr_status cri_check_dense(cr_ctx *cx, const char *source, size_t rows, size_t columns)
{
    enum { COLUMN_OVERHEAD = 320 }; /* name, description and their share of growing arrays */
    double left = (double)cri_memory_left(cx);
    double need = (double)columns * ((double)rows * (double)sizeof(double) + COLUMN_OVERHEAD);
    if (need <= left) return CR_OK;
    cr_fail(
        cx, CR_ENOMEM,
        "%s: a dense table of %zu rows and %zu columns needs %.3g GB, but only %.3g GB are left",
        source, rows, columns, need / 1e9, left / 1e9);
    return cr_fail_hint(cx, "use fewer columns or rows, or raise --memory-limit");
}

/* Column j of the block as an ordinary column of `to`; at[i] is the next entry of row i to be
 * taken. */
static cr_status add_spread(cr_ctx *cx, const cr_table *from, size_t j, size_t *at, cr_table *to)
{
    const cr_csr *X = &from->sparse->view;
    double       *values = cr_alloc(cx, X->rows, sizeof *values);
    char          name[CR_NAME_SIZE];
    if (!values) return CR_ENOMEM;
    for (size_t i = 0; i < X->rows; i++)
        if (at[i] < X->row_start[i + 1] && X->column[at[i]] == j) values[i] = X->value[at[i]++];
    return cri_table_own_numbers(cx, to, cri_numbered_name(j, name), from->sparse->type, values);
}

/* Copies ordinary column i of `from` to the end of `to`. */
static cr_status copy_column(cr_ctx *cx, cr_table *from, size_t i, cr_table *to)
{
    cri_owned_column *c = &from->columns[i];
    if (c->view.type == CR_CATEGORY) {
        uint32_t *codes = cr_resize(cx, NULL, 0, from->rows, sizeof *codes);
        if (!codes) return CR_ENOMEM;
        if (from->rows) memcpy(codes, c->view.codes, from->rows * sizeof *codes);
        return cri_table_own_codes(cx, to, &c->view, codes);
    }
    return cr_table_add_numbers(cx, to, c->name, c->view.type, c->view.values, c->view.stride);
}

cr_status cri_table_densify(cr_ctx *cx, cr_table *from, cr_table **out_table)
{
    cr_status st = CR_OK;
    cr_table *to = NULL;
    size_t   *at = NULL, first = cr_table_csr_first(from), rows = from->rows;
    size_t    columns = from->sparse ? from->sparse->view.columns : 0;
    if (!from->sparse) {
        *out_table = from;
        return CR_OK;
    }
    CR_TRY(cri_check_dense(cx, from->source, rows, columns));
    at = cr_resize(cx, NULL, 0, rows, sizeof *at);
    if (!at) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < rows; i++) at[i] = from->sparse->view.row_start[i];
    CR_TRY(cr_table_new(cx, from->source, rows, &to));
    for (size_t i = 0; i < first; i++) CR_TRY(copy_column(cx, from, i, to));
    for (size_t j = 0; j < columns; j++) {
        CR_TRY(add_spread(cx, from, j, at, to));
        if (j % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
    }
    for (size_t i = first; i < from->n; i++) CR_TRY(copy_column(cx, from, i, to));
    CR_TRY(cri_table_copy_place(cx, from, to));
    *out_table = to;
    to = NULL;
done:
    cr_free(cx, at, rows, sizeof *at);
    cr_table_free(cx, to);
    cr_table_free(cx, from);
    return st;
}
