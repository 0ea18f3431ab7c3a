/* table.c -- building and reading tables of typed columns. */
#include "table_private.h"
#include "base/context_internal.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cr_type_name(cr_type type)
{
    static const char *const names[] = { "real",     "integer", "boolean",
                                         "category", "date",    "datetime" };
    return names[type];
}

/* --- life ------------------------------------------------------------------------------------ */

cr_status cr_table_new(cr_ctx *cx, const char *source, size_t rows, cr_table **out_table)
{
    cr_table *t = cr_alloc(cx, 1, sizeof *t);
    if (!t) return CR_ENOMEM;
    t->cx = cx;
    t->self = t;
    t->rows = rows;
    t->source = cri_string_copy(cx, source ? source : "the data");
    if (!t->source) {
        cr_table_free(cx, t);
        return CR_ENOMEM;
    }
    *out_table = t;
    return CR_OK;
}

static void free_column(cr_ctx *cx, cri_owned_column *c, size_t rows)
{
    cr_free(cx, c->values, rows, sizeof(double));
    cr_free(cx, c->codes, rows, sizeof(uint32_t));
    for (size_t i = 0; c->levels && i < c->view.n_levels; i++) cri_string_free(cx, c->levels[i]);
    cr_free(cx, c->levels, c->view.n_levels, sizeof(char *));
    cri_string_free(cx, c->name);
    cri_string_free(cx, c->format);
}

void cr_table_free(cr_ctx *cx, cr_table *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->n; i++) free_column(cx, &t->columns[i], t->rows);
    cri_table_free_csr(cx, t);
    cr_free(cx, t->columns, t->capacity, sizeof *t->columns);
    cr_free(cx, t->slots, 2 * t->capacity, sizeof *t->slots);
    cri_block_free(cx, &t->block);
    cri_table_free_leaves(cx, t);
    cr_free(cx, t->origin, t->rows, sizeof *t->origin);
    if (t->reading) cr_options_free(cx, cr_read_table, t->reading);
    cr_free(cx, t->reading, 1, sizeof *t->reading);
    cri_string_free(cx, t->source);
    cr_free(cx, t, 1, sizeof *t);
}

/* --- names ----------------------------------------------------------------------------------- */

/* The slot of `name`, or the free one where it belongs.  The capacity is a power of two and at most
 * half of the slots are taken, so a free one is found. */
static size_t *find_slot(const cr_table *t, const char *name)
{
    size_t mask = 2 * t->capacity - 1;
    for (size_t at = cri_hash_text(name, strlen(name));; at++) {
        size_t *slot = &t->slots[at & mask];
        if (*slot == 0 || strcmp(t->columns[*slot - 1].name, name) == 0) return slot;
    }
}

/* Makes room for one more column.  Amortised O(1). */
static cr_status reserve(cr_ctx *cx, cr_table *t)
{
    if (t->n < t->capacity) return CR_OK;
    size_t            more = t->capacity ? 2 * t->capacity : 16;
    size_t           *slots = cr_alloc(cx, 2 * more, sizeof *slots);
    cri_owned_column *grown =
        slots ? cr_resize(cx, t->columns, t->capacity, more, sizeof *grown) : NULL;
    if (!grown) {
        cr_free(cx, slots, 2 * more, sizeof *slots);
        return CR_ENOMEM;
    }
    cr_free(cx, t->slots, 2 * t->capacity, sizeof *slots);
    t->columns = grown;
    t->slots = slots;
    t->capacity = more;
    for (size_t i = 0; i < t->n; i++) *find_slot(t, t->columns[i].name) = i + 1;
    return CR_OK;
}

/* --- adding columns -------------------------------------------------------------------------- */

/* Moves the column into the table under `name`, or frees it. */
static cr_status append(cr_ctx *cx, cr_table *t, const char *name, cri_owned_column c)
{
    cr_status st = CR_OK;
    if (!name || !name[0])
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: column %zu has no name", t->source,
                       cr_table_columns(t) + 1));
    if (cri_table_has(t, name))
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: two columns are called '%s'", t->source, name));
    CR_TRY(reserve(cx, t));
    c.name = cri_string_copy(cx, name);
    if (!c.name) CR_TRY(CR_ENOMEM);
    c.view.name = c.name;
    size_t *slot = find_slot(t, name);
    t->columns[t->n++] = c;
    *slot = t->n;
    return CR_OK;
done:
    free_column(cx, &c, t->rows);
    return st;
}

/* x - x is 0 for finite values and NaN for others; eight sums, so that they are independent. */
static bool all_finite(const double *x, size_t n)
{
    double s[8] = { 0 };
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t k = 0; k < 8; k++) s[k] += x[i + k] - x[i + k];
    for (; i < n; i++) s[0] += x[i] - x[i];
    return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7] == 0;
}

/* acc [2]: how many of the values are NaN, and how many are NaN or infinite. */
static void look_through_block(void *arg, cri_range rows, double *acc)
{
    const cr_column *c = arg;
    if (c->stride == 1 && all_finite(c->values + rows.begin, rows.end - rows.begin)) return;
    for (size_t i = rows.begin; i < rows.end; i++) {
        double x = c->values[i * c->stride];
        acc[0] += x != x ? 1 : 0;
        acc[1] += x - x != 0 ? 1 : 0;
    }
}

/* Counts what is missing and looks for infinities. */
static cr_status look_through(cr_ctx *cx, cr_column *c, size_t rows)
{
    double    odd[2];
    cr_status st = cri_parallel_sum(cx, NULL, rows, 4096, 2, look_through_block, c, odd);
    if (st != CR_OK) return st;
    c->missing = (size_t)odd[0];
    c->infinite = odd[1] > odd[0];
    return CR_OK;
}

cr_status cr_table_borrow_numbers(cr_ctx *cx, cr_table *t, const char *name, cr_type type,
                                  const double *values, size_t stride)
{
    cri_owned_column c = { .view = { .type = type, .values = values, .stride = stride } };
    cr_status        st = look_through(cx, &c.view, t->rows);
    return st == CR_OK ? append(cx, t, name, c) : st;
}

cr_status cri_table_own_numbers(cr_ctx *cx, cr_table *t, const char *name, cr_type type,
                                double *values)
{
    cri_owned_column c = { .view = { .type = type, .values = values, .stride = 1 },
                           .values = values };
    cr_status        st = look_through(cx, &c.view, t->rows);
    if (st == CR_OK) return append(cx, t, name, c);
    free_column(cx, &c, t->rows);
    return st;
}

cr_status cr_table_add_numbers(cr_ctx *cx, cr_table *t, const char *name, cr_type type,
                               const double *values, size_t stride)
{
    double *copy = cr_resize(cx, NULL, 0, t->rows, sizeof *copy);
    if (!copy) return CR_ENOMEM;
    for (size_t i = 0; i < t->rows; i++) copy[i] = values[i * stride];
    return cri_table_own_numbers(cx, t, name, type, copy);
}

void cri_table_keep_block(cr_table *t, cri_block block) { t->block = block; }

/* acc [2 x cols]: how many cells of each column are NaN, and how many are NaN or infinite; row by
 * row, as the matrix lies in memory. */
static void look_through_rows(void *arg, cri_range rows, double *acc)
{
    const cr_cmat *X = arg;
    const double  *first = X->a + rows.begin * X->stride;
    if (X->stride == X->cols && all_finite(first, (rows.end - rows.begin) * X->cols)) return;
    for (size_t i = rows.begin; i < rows.end; i++) {
        const double *x = X->a + i * X->stride;
        if (all_finite(x, X->cols)) continue;
        for (size_t j = 0; j < X->cols; j++) {
            acc[j] += x[j] != x[j] ? 1 : 0;
            acc[X->cols + j] += x[j] - x[j] != 0 ? 1 : 0;
        }
    }
}

cr_status cr_table_borrow_matrix(cr_ctx *cx, cr_table *t, cr_type type, cr_cmat X,
                                 const char *const *opt_names)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *odd = cr_scratch_matrix(&s, 2, X.cols);
    char       name[32];

    CR_TRY(s.status);
    if (X.rows != t->rows)
        CR_TRY(cr_fail(cx, CR_EARG, "%s: a matrix of %zu rows for a table of %zu", t->source,
                       X.rows, t->rows));
    CR_TRY(cri_parallel_sum(cx, NULL, X.rows, 1024, 2 * X.cols, look_through_rows, &X, odd));
    for (size_t j = 0; j < X.cols; j++) {
        snprintf(name, sizeof name, "x%zu", j + 1);
        CR_TRY(append(cx, t, opt_names ? opt_names[j] : name,
                      (cri_owned_column){ .view = { .type = type,
                                                    .values = X.a + j,
                                                    .stride = X.stride,
                                                    .missing = (size_t)odd[j],
                                                    .infinite = odd[X.cols + j] > odd[j] } }));
    }
done:
    cr_scratch_end(&s);
    return st;
}

typedef struct level {
    const char *text;
    uint32_t    code;
} level;

static int compare_levels(const void *a, const void *b)
{
    return strcmp(((const level *)a)->text, ((const level *)b)->text);
}

cr_status cri_table_own_category(cr_ctx *cx, cr_table *t, const char *name, uint32_t *codes,
                                 const char *const *levels, size_t n_levels)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    cri_owned_column c = { .view = { .type = CR_CATEGORY, .codes = codes }, .codes = codes };
    level           *sorted = cr_scratch_bytes(&s, n_levels, sizeof *sorted);
    uint32_t        *renumbered = cr_scratch_bytes(&s, n_levels, sizeof *renumbered);
    bool            *used = cr_scratch_bytes(&s, n_levels, sizeof *used);
    size_t           n = 0;

    CR_TRY(s.status);
    for (size_t i = 0; i < t->rows; i++) {
        if (codes[i] != CR_MISSING_CODE)
            used[codes[i]] = true;
        else
            c.view.missing++;
    }
    for (size_t k = 0; k < n_levels; k++)
        if (used[k]) sorted[n++] = (level){ levels[k], (uint32_t)k };
    if (n > 0) qsort(sorted, n, sizeof *sorted, compare_levels);

    c.levels = cr_alloc(cx, n, sizeof *c.levels);
    if (!c.levels) CR_TRY(CR_ENOMEM);
    c.view.n_levels = n;
    c.view.levels = (const char *const *)c.levels;
    for (size_t k = 0; k < n; k++) {
        renumbered[sorted[k].code] = (uint32_t)k;
        c.levels[k] = cri_string_copy(cx, sorted[k].text);
        if (!c.levels[k]) CR_TRY(CR_ENOMEM);
    }
    for (size_t i = 0; i < t->rows; i++)
        if (codes[i] != CR_MISSING_CODE) codes[i] = renumbered[codes[i]];
    cr_scratch_end(&s);
    return append(cx, t, name, c);
done:
    cr_scratch_end(&s);
    free_column(cx, &c, t->rows);
    return st;
}

cr_status cri_table_own_codes(cr_ctx *cx, cr_table *t, const cr_column *like, uint32_t *codes)
{
    cr_status        st = CR_OK;
    cri_owned_column c = { .view = { .type = CR_CATEGORY, .codes = codes }, .codes = codes };

    c.levels = cr_alloc(cx, like->n_levels, sizeof *c.levels);
    if (!c.levels) CR_TRY(CR_ENOMEM);
    c.view.n_levels = like->n_levels;
    c.view.levels = (const char *const *)c.levels;
    for (size_t k = 0; k < like->n_levels; k++) {
        c.levels[k] = cri_string_copy(cx, like->levels[k]);
        if (!c.levels[k]) CR_TRY(CR_ENOMEM);
    }
    for (size_t i = 0; i < t->rows; i++) c.view.missing += codes[i] == CR_MISSING_CODE;
    return append(cx, t, like->name, c);
done:
    free_column(cx, &c, t->rows);
    return st;
}

cr_status cri_table_set_levels(cr_ctx *cx, cr_table *t, size_t k, const char *const *levels,
                               size_t n, const uint32_t *map)
{
    cri_owned_column *c = &t->columns[k];
    size_t            made = 0;
    char            **copy = cr_alloc(cx, n, sizeof *copy);
    while (copy && made < n && (copy[made] = cri_string_copy(cx, levels[made]))) made++;
    if (!copy || made < n) {
        for (size_t i = 0; i < made; i++) cri_string_free(cx, copy[i]);
        cr_free(cx, copy, n, sizeof *copy);
        return CR_ENOMEM;
    }
    for (size_t i = 0; i < c->view.n_levels; i++) cri_string_free(cx, c->levels[i]);
    cr_free(cx, c->levels, c->view.n_levels, sizeof *c->levels);
    c->levels = copy;
    c->view.levels = (const char *const *)copy;
    c->view.n_levels = n;
    for (size_t i = 0; i < t->rows; i++)
        if (c->codes[i] != CR_MISSING_CODE) c->codes[i] = map[c->codes[i]];
    return CR_OK;
}

cr_status cri_table_set_dates(cr_ctx *cx, cr_table *t, size_t k, cr_type type,
                              const char *opt_format, double *values)
{
    cri_owned_column *c = &t->columns[k], old = *c;
    cr_column         view = { .name = c->name, .type = type, .values = values, .stride = 1 };
    char             *format = opt_format ? cri_string_copy(cx, opt_format) : NULL;
    cr_status         st = opt_format && !format ? CR_ENOMEM : look_through(cx, &view, t->rows);
    if (st != CR_OK) {
        cri_string_free(cx, format);
        cr_free(cx, values, t->rows, sizeof *values);
        return st;
    }
    *c = (cri_owned_column){ .view = view, .name = old.name, .values = values, .format = format };
    old.name = NULL;
    free_column(cx, &old, t->rows);
    return CR_OK;
}

const char *cri_table_date_format(const cr_table *t, const char *name)
{
    for (size_t k = 0; k < t->n; k++)
        if (strcmp(t->columns[k].name, name) == 0) return t->columns[k].format;
    return NULL;
}

cr_status cr_table_add_category(cr_ctx *cx, cr_table *t, const char *name, const uint32_t *codes,
                                const char *const *levels, size_t n_levels)
{
    for (size_t i = 0; i < t->rows; i++)
        if (codes[i] != CR_MISSING_CODE && codes[i] >= n_levels)
            return cr_fail(cx, CR_EARG, "column '%s': code %u in row %zu, but there are %zu levels",
                           name, codes[i], i + 1, n_levels);
    uint32_t *copy = cr_resize(cx, NULL, 0, t->rows, sizeof *copy);
    if (!copy) return CR_ENOMEM;
    if (t->rows) memcpy(copy, codes, t->rows * sizeof *copy);
    return cri_table_own_category(cx, t, name, copy, levels, n_levels);
}

static int compare_texts(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

cr_status cr_table_add_texts(cr_ctx *cx, cr_table *t, const char *name, const char *const *texts)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    const char **levels = cr_scratch_bytes(&s, t->rows, sizeof *levels);
    uint32_t    *codes = cr_resize(cx, NULL, 0, t->rows, sizeof *codes);
    size_t       n = 0, kept = 0;

    CR_TRY(s.status);
    if (!codes) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < t->rows; i++)
        if (texts[i]) levels[n++] = texts[i];
    if (n > 0) qsort(levels, n, sizeof *levels, compare_texts);
    for (size_t k = 0; k < n; k++)
        if (k == 0 || strcmp(levels[kept - 1], levels[k]) != 0) levels[kept++] = levels[k];
    for (size_t i = 0; i < t->rows; i++) {
        codes[i] = CR_MISSING_CODE;
        if (!texts[i]) continue;
        const char **found = bsearch(&texts[i], levels, kept, sizeof *levels, compare_texts);
        codes[i] = (uint32_t)(found - levels);
    }
    st = cri_table_own_category(cx, t, name, codes, levels, kept);
    codes = NULL; /* taken over */
done:
    cr_free(cx, codes, t->rows, sizeof *codes);
    cr_scratch_end(&s);
    return st;
}

/* --- looking --------------------------------------------------------------------------------- */

static size_t sparse_columns(const cr_table *t) { return t->sparse ? t->sparse->view.columns : 0; }

size_t      cr_table_rows(const cr_table *t) { return t->rows; }
size_t      cr_table_columns(const cr_table *t) { return t->n + sparse_columns(t); }
const char *cr_table_source(const cr_table *t) { return t->source; }

size_t           cri_table_ordinary(const cr_table *t) { return t->n; }
const cr_column *cri_table_ordinary_column(const cr_table *t, size_t k)
{
    return &t->columns[k].view;
}

/* Where column `index` of the table is: *out_sparse, a column of the block, or an ordinary one. */
static size_t place_of(const cr_table *t, size_t index, bool *out_sparse)
{
    size_t first = t->sparse ? t->sparse->first : 0, n = sparse_columns(t);
    *out_sparse = index >= first && index - first < n;
    return *out_sparse ? index - first : index < first ? index : index - n;
}

const char *cr_table_column_name(const cr_table *t, size_t index, char out[CR_NAME_SIZE])
{
    bool   sparse;
    size_t i = place_of(t, index, &sparse);
    return sparse ? cri_numbered_name(i, out) : t->columns[i].name;
}

const cr_column *cr_table_column(const cr_table *t, size_t index)
{
    bool   sparse;
    size_t i = place_of(t, index, &sparse);
    return sparse ? cri_table_spread(t, i) : &t->columns[i].view;
}

/* The ordinary column called so, NULL if there is none. */
static const cr_column *find_ordinary(const cr_table *t, const char *name)
{
    size_t column = t->n > 0 ? *find_slot(t, name) : 0;
    return column > 0 ? &t->columns[column - 1].view : NULL;
}

double *cri_table_numbers(cr_table *t, const char *name)
{
    size_t column = t->n > 0 ? *find_slot(t, name) : 0;
    return column > 0 ? t->columns[column - 1].values : NULL;
}

static bool is_sparse_column(const cr_table *t, const char *name, size_t *out_column)
{
    *out_column = t->sparse ? cri_numbered_column(name) : SIZE_MAX;
    return *out_column < sparse_columns(t);
}

bool cri_table_has(const cr_table *t, const char *name)
{
    size_t j;
    return is_sparse_column(t, name, &j) || find_ordinary(t, name);
}

const cr_column *cr_table_find(const cr_table *t, const char *name)
{
    size_t j;
    return is_sparse_column(t, name, &j) ? cri_table_spread(t, j) : find_ordinary(t, name);
}

/* The ordinary columns by name, and before them, if there are any, the sparse ones as one. */
typedef struct known_names {
    const cr_table *table;
    char            sparse[48];
} known_names;

static const char *known_name(const void *names, size_t i)
{
    const known_names *k = names;
    if (!k->sparse[0]) return k->table->columns[i].name;
    return i == 0 ? k->sparse : k->table->columns[i - 1].name;
}

cr_status cri_table_no_column(cr_ctx *cx, const cr_table *t, const char *name)
{
    known_names k = { .table = t };
    size_t      j; /* a sparse column that is there could not be spread out */
    if (is_sparse_column(t, name, &j)) return cri_fail_memory(cx, t->rows * sizeof(double));
    if (sparse_columns(t)) snprintf(k.sparse, sizeof k.sparse, "x1 ... x%zu", sparse_columns(t));
    cr_fail(cx, CR_EDATA, "column '%s' not found in %s", name, t->source);
    cr_fail_nearest(cx, name, "columns", t->n + (k.sparse[0] ? 1 : 0), known_name, &k);
    return t->first_line == 1 ? cri_fail_without_header(cx) : CR_EDATA;
}
