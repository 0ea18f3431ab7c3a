/* texts.c -- the different texts of a side, tables of their values, and tiles of rows. */
#include "texts.h"
#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static cri_texts *texts_of(const cri_side *side, size_t node) { return side->node[node].extra; }

static const cri_text_kernel *kernel_of(const cri_job *job, size_t node)
{
    return job->k->nodes[node].class->text;
}

static bool is_normalised(const cri_job *job, size_t node)
{
    const cri_text_kernel *kernel = kernel_of(job, node);
    return kernel->normalised && kernel->normalised(&job->k->nodes[node]);
}

/* true when the derivative of the kernel's own parameter is asked for. */
static bool wants_slopes(const cri_job *job, size_t node)
{
    if (!job->gradients || !job->k->nodes[node].class->pairs_partial) return false;
    for (size_t p = 0; p < job->k->n_params; p++)
        if (job->k->params[p].node == node && !job->k->params[p].fixed) return true;
    return false;
}

/* --- tables by code -------------------------------------------------------------------------- */

static uint32_t code_of(const cri_job *job, size_t node, const cr_kernel_input *in, size_t i)
{
    return in->codes[i * in->categories + cri_column_at(job->k, &job->k->nodes[node], 0)];
}

static bool are_below(const cri_job *job, size_t node, const cr_kernel_input *in, size_t n)
{
    for (size_t i = 0; i < in->rows; i++)
        if (code_of(job, node, in, i) >= n) return false;
    return true;
}

/* The table of the node, when it has one that knows all texts of both sides and no derivative is
 * asked for. */
static const cri_text_table *table_for(const cri_job *job, size_t node)
{
    const cri_text_table *t = node < job->k->n_tables ? &job->k->tables[node] : NULL;
    if (!t || t->n == 0 || wants_slopes(job, node)) return NULL;
    return are_below(job, node, job->a.in, t->n) && are_below(job, node, job->b.in, t->n) ? t
                                                                                          : NULL;
}

static void look_up_codes(const cri_job *job, size_t node, cri_tile tile, double *out)
{
    const cri_text_table *t = &job->k->tables[node];
    for (size_t i = 0; i < tile.ni; i++) {
        size_t        code = code_of(job, node, job->a.in, tile.i0 + i);
        const double *row = t->values + code * t->n;
        for (size_t j = 0; j < tile.nj; j++)
            out[i * tile.nj + j] =
                row[tile.diagonal ? code : code_of(job, node, job->b.in, tile.j0 + j)];
    }
}

void cri_kernel_drop_tables(cr_ctx *cx, cr_kernel *k)
{
    for (size_t i = 0; !k->borrows_tables && i < k->n_tables; i++)
        cr_free(cx, k->tables[i].values, k->tables[i].n * k->tables[i].n, sizeof(double));
    if (!k->borrows_tables) cr_free(cx, k->tables, k->n_tables, sizeof *k->tables);
    k->tables = NULL;
    k->n_tables = 0;
    k->borrows_tables = false;
}

cr_status cri_kernel_tabulate(cr_ctx *cx, cr_kernel *k, size_t node, size_t n)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     column = cri_column_at(k, &k->nodes[node], 0);
    uint32_t  *codes = cr_scratch_bytes(&s, n * (column + 1), sizeof *codes);
    double    *values = cr_alloc(cx, n * n, sizeof *values);
    cr_kernel *leaf = NULL;

    CR_TRY(s.status);
    if (!values) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n; i++) codes[i * (column + 1) + column] = (uint32_t)i;
    if (!k->tables) {
        k->tables = cr_alloc(cx, k->n_nodes, sizeof *k->tables);
        if (!k->tables) CR_TRY(CR_ENOMEM);
        k->n_tables = k->n_nodes;
    }
    CR_TRY(cr_kernel_copy(cx, k, &leaf));
    leaf->nodes[0] = k->nodes[node]; /* and nothing else */
    leaf->nodes[0].next = SIZE_MAX;
    leaf->n_nodes = 1, leaf->tables = NULL, leaf->n_tables = 0;
    cr_kernel_input in = { .rows = n, .codes = codes, .categories = column + 1 };
    CR_TRY(cr_kernel_gram(cx, leaf, &in, CR_FILL_BOTH, cr_mat_of(values, n, n)));
    k->tables[node] = (cri_text_table){ n, values };
    values = NULL;
done:
    cr_kernel_free(cx, leaf);
    cr_free(cx, values, n * n, sizeof *values);
    cr_scratch_end(&s);
    return st;
}

/* --- different texts ------------------------------------------------------------------------- */

typedef struct row_text {
    const char *text;
    size_t      row;
} row_text;

static int compare_texts(const void *a, const void *b)
{
    const row_text *x = a, *y = b;
    int             order = x->text == y->text ? 0 : strcmp(x->text, y->text);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static cr_status gather(cr_scratch *s, const cri_job *job, size_t node, const cri_side *side,
                        cri_texts *t)
{
    size_t    rows = side->in->rows;
    row_text *all = cr_scratch_bytes(s, rows, sizeof *all);
    t->text = cr_scratch_bytes(s, rows, sizeof *t->text);
    t->of = cr_scratch_index(s, rows);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < rows; i++) {
        const char *text = cri_text_of(job->k, &job->k->nodes[node], side->in, i);
        all[i] = (row_text){ text ? text : "", i };
    }
    qsort(all, rows, sizeof *all, compare_texts);
    for (size_t i = 0; i < rows; i++) {
        if (i == 0 || strcmp(all[i].text, all[i - 1].text) != 0) {
            size_t length = strlen(all[i].text);
            if (length > t->longest) t->longest = length;
            t->text[t->n++] = all[i].text;
        }
        t->of[all[i].row] = t->n - 1;
    }
    return CR_OK;
}

cr_status cri_text_prepare(cr_scratch *s, const cri_job *job, size_t node, cri_side *side)
{
    cr_status              st = CR_OK;
    const cri_text_kernel *kernel = kernel_of(job, node);
    if (table_for(job, node)) return CR_OK;
    cri_texts *t = cr_scratch_bytes(s, 1, sizeof *t);
    CR_TRY(s->status);
    CR_TRY(gather(s, job, node, side, t));
    if (kernel->read) CR_TRY(kernel->read(s, job, node, t));
    side->node[node].extra = t;
    if (!is_normalised(job, node)) goto done;
    double *workspace = cr_scratch_bytes(s, kernel->workspace(job, node, t, t), sizeof *workspace);
    t->own = cr_scratch_bytes(s, t->n, sizeof *t->own);
    CR_TRY(s->status);
    for (size_t i = 0; i < t->n; i++) {
        t->own[i] = kernel->own(job, node, t, i, workspace);
        if (i % 64 == 0) CR_TRY(cr_check_interrupt(s->cx));
    }
done:
    return st;
}

/* --- rows ------------------------------------------------------------------------------------ */

static cri_slope normalise(cri_slope k, cri_slope x, cri_slope y)
{
    double product = x.v * y.v; /* its root is exact where x is y, unless it overflows */
    double root = isfinite(product) && product > 0 ? sqrt(product) : sqrt(x.v) * sqrt(y.v);
    if (!(root > 0)) return (cri_slope){ 0, 0 };
    double v = k.v / root;
    return (cri_slope){ v, k.d / root - 0.5 * v * (x.d / x.v + y.d / y.v) };
}

/* Text i of a with the texts j of b. */
static void compute_row(const cri_job *job, size_t node, const cri_texts *a, const cri_texts *b,
                        size_t i, const size_t *j, size_t n, double *workspace, double *values,
                        double *slopes)
{
    kernel_of(job, node)->row(job, node, a, b, i, j, n, workspace, values, slopes);
    for (size_t q = 0; a->own && q < n; q++) {
        cri_slope k =
            normalise((cri_slope){ values[q], slopes ? slopes[q] : 0 }, a->own[i], b->own[j[q]]);
        values[q] = k.v;
        if (slopes) slopes[q] = k.d;
    }
}

/* --- tables ---------------------------------------------------------------------------------- */

enum { TABLE_ROWS = 16 };

typedef struct table_work {
    const cri_job   *job;
    size_t           node, size; /* size: of the workspace */
    cri_texts       *a;
    const cri_texts *b;
    const size_t    *all; /* [texts of b] 0, 1, ... */
} table_work;

/* Rows of the table; of a Gram matrix up to the diagonal. */
static void fill_table(void *arg, size_t block)
{
    const table_work *w = arg;
    cri_range         r = cri_block_range(w->a->n, TABLE_ROWS, block);
    size_t            m = w->b->n;
    double *workspace = cri_resize_quietly(w->job->cx, NULL, 0, w->size, sizeof *workspace);
    if (!workspace) {
        atomic_store(w->job->no_memory, true);
        return;
    }
    memset(workspace, 0, w->size * sizeof *workspace);
    for (size_t i = r.begin; i < r.end && !cri_should_stop(w->job->cx); i++)
        compute_row(w->job, w->node, w->a, w->b, i, w->all, w->job->same ? i + 1 : m, workspace,
                    w->a->values + i * m, w->a->slopes ? w->a->slopes + i * m : NULL);
    cr_free(w->job->cx, workspace, w->size, sizeof *workspace);
}

static void mirror(double *A, size_t n)
{
    for (size_t i = 0; A && i < n; i++)
        for (size_t j = 0; j < i; j++) A[j * n + i] = A[i * n + j];
}

static cr_status make_table(cr_scratch *s, const cri_job *job, size_t node, cri_texts *a,
                            const cri_texts *b)
{
    cr_status  st = CR_OK;
    table_work w = { .job = job, .node = node, .a = a, .b = b };
    w.size = kernel_of(job, node)->workspace(job, node, a, b);
    size_t *all = cr_scratch_index(s, b->n);
    a->values = cr_scratch_matrix(s, a->n, b->n);
    if (wants_slopes(job, node)) a->slopes = cr_scratch_matrix(s, a->n, b->n);
    CR_TRY(s->status);
    for (size_t j = 0; j < b->n; j++) all[j] = j;
    w.all = all;
    CR_TRY(cri_parallel_for(s->cx, NULL, cri_block_count(a->n, TABLE_ROWS), fill_table, &w));
    CR_TRY(cr_check_interrupt(s->cx));
    if (atomic_load(job->no_memory)) CR_TRY(cri_fail_memory(s->cx, w.size * sizeof(double)));
    if (job->same) {
        mirror(a->values, a->n);
        mirror(a->slopes, a->n);
    }
done:
    return st;
}

cr_status cri_text_join(cr_scratch *s, const cri_job *job, size_t node)
{
    cr_status              st = CR_OK;
    const cri_text_kernel *kernel = kernel_of(job, node);
    cri_texts             *a = texts_of(&job->a, node);
    const cri_texts       *b = texts_of(&job->b, node);
    if (!a) return CR_OK; /* there is a table for all texts */
    if (kernel->join) CR_TRY(kernel->join(s, job, node, a, b));
    bool repeats =
        2 * (double)a->n * (double)b->n <= (double)job->a.in->rows * (double)job->b.in->rows;
    if (repeats || wants_slopes(job, node)) /* which come with the values */
        CR_TRY(make_table(s, job, node, a, b));
done:
    return st;
}

/* --- tiles ----------------------------------------------------------------------------------- */

static void look_up(const cri_texts *a, const cri_texts *b, const double *table, cri_tile tile,
                    double *out)
{
    for (size_t i = 0; i < tile.ni; i++) {
        const double *row = table + a->of[tile.i0 + i] * b->n;
        for (size_t j = 0; j < tile.nj; j++) out[i * tile.nj + j] = row[b->of[tile.j0 + j]];
    }
}

static void compute_diagonal(const cri_job *job, size_t node, cri_tile tile, bool slope,
                             double *workspace, double *out)
{
    const cri_texts *a = texts_of(&job->a, node);
    for (size_t i = 0; i < tile.ni; i++) {
        size_t    text = a->of[tile.i0 + i];
        cri_slope k =
            a->own ? a->own[text] : kernel_of(job, node)->own(job, node, a, text, workspace);
        if (a->own) k = (cri_slope){ k.v > 0 ? 1 : 0, 0 };
        out[i] = slope ? k.d : k.v;
    }
}

static void compute_tile(const cri_job *job, size_t node, cri_tile tile, bool slope,
                         double *workspace, double *out)
{
    const cri_texts *a = texts_of(&job->a, node), *b = texts_of(&job->b, node);
    size_t           j[CRI_TILE];
    double           values[CRI_TILE];
    for (size_t q = 0; q < tile.nj; q++) j[q] = b->of[tile.j0 + q];
    for (size_t i = 0; i < tile.ni; i++) {
        double *row = out + i * tile.nj;
        if (cri_should_stop(job->cx))
            memset(row, 0, tile.nj * sizeof *row);
        else
            compute_row(job, node, a, b, a->of[tile.i0 + i], j, tile.nj, workspace,
                        slope ? values : row, slope ? row : NULL);
    }
}

static void fill_tile(const cri_job *job, size_t node, cri_tile tile, bool slope, double *out)
{
    const cri_texts *a = texts_of(&job->a, node), *b = tile.diagonal ? a : texts_of(&job->b, node);
    if (!a) {
        look_up_codes(job, node, tile, out);
        return;
    }
    const double *table = tile.diagonal ? NULL : slope ? a->slopes : a->values;
    if (table) {
        look_up(a, b, table, tile, out);
        return;
    }
    size_t  size = kernel_of(job, node)->workspace(job, node, a, b);
    double *workspace = cri_resize_quietly(job->cx, NULL, 0, size, sizeof *workspace);
    if (!workspace) {
        atomic_store(job->no_memory, true);
        memset(out, 0, tile.ni * tile.nj * sizeof *out);
        return;
    }
    memset(workspace, 0, size * sizeof *workspace);
    if (tile.diagonal)
        compute_diagonal(job, node, tile, slope, workspace, out);
    else
        compute_tile(job, node, tile, slope, workspace, out);
    cr_free(job->cx, workspace, size, sizeof *workspace);
}

void cri_text_pairs(const cri_job *job, size_t node, cri_tile tile, double *out)
{
    fill_tile(job, node, tile, false, out);
}

void cri_text_partial(const cri_job *job, size_t node, size_t s, size_t e, cri_tile tile,
                      const double *v, double *out)
{
    (void)s, (void)e, (void)v;
    fill_tile(job, node, tile, true, out);
}
