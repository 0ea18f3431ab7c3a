/* svm_rows.c -- a cache of kernel rows. */
#include "svm_rows.h"
#include "linear_machine.h"
#include "svm_solver.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/inner_loop.h"
#include "base/parallel.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum {
    MOST_CHUNK = 512,
    LEAST_CHUNK = 64,
    BUFFER = 1 << 23, /* numbers of one computation, more or less     */
    STRIP = 1024      /* columns that a thread adds to at a time      */
};

static const size_t NONE = SIZE_MAX;
static const double SLAB = 32e6; /* bytes of rows that are kept, asked for at a time */

/* --- rows of inputs -------------------------------------------------------------------------- */

static void copy_rows(const cr_kernel_input *in, const size_t *index, size_t n, double *numbers,
                      uint32_t *codes, const char **texts)
{
    size_t d = in->numbers.cols, c = in->categories, w = in->text_columns;
    for (size_t i = 0; i < n; i++) {
        if (d)
            memcpy(numbers + i * d, in->numbers.a + index[i] * in->numbers.stride,
                   d * sizeof *numbers);
        if (c) memcpy(codes + i * c, in->codes + index[i] * c, c * sizeof *codes);
        for (size_t k = 0; k < w; k++) texts[i * w + k] = in->texts[index[i] * w + k];
    }
}

static cr_kernel_input as_input(const cr_kernel_input *like, size_t n, const double *numbers,
                                const uint32_t *codes, const char *const *texts)
{
    cr_kernel_input out = *like;
    out.rows = n;
    out.numbers = cr_cmat_of(numbers, n, like->numbers.cols);
    out.codes = codes;
    out.texts = texts;
    return out;
}

cr_status cri_svm_pick(cr_scratch *s, const cr_kernel_input *in, const size_t *index, size_t n,
                       cr_kernel_input *out)
{
    double      *numbers = cr_scratch_matrix(s, n, in->numbers.cols);
    uint32_t    *codes = cr_scratch_bytes(s, n * in->categories, sizeof *codes);
    const char **texts = cr_scratch_bytes(s, n * in->text_columns, sizeof *texts);
    if (s->status != CR_OK) return s->status;
    copy_rows(in, index, n, numbers, codes, texts);
    *out = as_input(in, n, numbers, codes, texts);
    return CR_OK;
}

/* --- the store ------------------------------------------------------------------------------- */

static size_t element(const cri_svm_rows *r) { return r->wide ? sizeof(double) : sizeof(float); }

static char *place_of(const cri_svm_rows *r, size_t slot)
{
    char *slab = r->slab[slot / r->per_slab];
    return slab + slot % r->per_slab * r->active * element(r);
}

/* How many rows of the present length there is room for. */
static void count_slots(cri_svm_rows *r)
{
    r->per_slab = r->slab_size / (r->active * element(r));
    r->slots = r->slabs * r->per_slab;
    if (r->slots > r->n) r->slots = r->n;
}

static void empty_store(cri_svm_rows *r)
{
    count_slots(r);
    r->used = 0;
    r->first = r->last = NONE;
    for (size_t i = 0; i < r->n; i++) r->slot_of[i] = NONE;
}

static void unlink_slot(cri_svm_rows *r, size_t s)
{
    size_t b = r->before[s], a = r->after[s];
    *(b == NONE ? &r->first : &r->after[b]) = a;
    *(a == NONE ? &r->last : &r->before[a]) = b;
}

static void link_last(cri_svm_rows *r, size_t s)
{
    r->before[s] = r->last;
    r->after[s] = NONE;
    *(r->last == NONE ? &r->first : &r->after[r->last]) = s;
    r->last = s;
}

/* Whether there is memory for one more slot. */
static bool has_room(cri_svm_rows *r)
{
    if (r->used >= r->slots) return false;
    void **slab = &r->slab[r->used / r->per_slab];
    if (!*slab) *slab = cri_resize_quietly(r->cx, NULL, 0, r->slab_size, 1);
    if (!*slab) r->slots = r->used;
    return *slab;
}

/* A slot for a row, that of the row used longest ago where none is free; NONE where that is in use now. */
static size_t take_slot(cri_svm_rows *r, size_t row)
{
    size_t s = r->used;
    if (has_room(r)) {
        r->used++;
    } else {
        s = r->first;
        if (s == NONE || r->turn[s] == r->now) return NONE;
        unlink_slot(r, s);
        r->slot_of[r->row_of[s]] = NONE;
    }
    link_last(r, s);
    r->turn[s] = r->now;
    r->row_of[s] = row;
    r->slot_of[row] = s;
    return s;
}

static void set_columns(cri_svm_rows *r)
{
    size_t most = BUFFER / r->active;
    r->chunk = most < LEAST_CHUNK ? LEAST_CHUNK : most > MOST_CHUNK ? MOST_CHUNK : most;
}

/* Doubles where all rows fit, else floats; in pieces of a size that is easily had. */
static void plan_store(cri_svm_rows *r, size_t memory)
{
    double whole = (double)r->n * (double)r->n;
    r->wide = whole * sizeof(double) <= (double)memory;
    double need = fmin(whole * (double)element(r), (double)memory),
           row = (double)(r->n * element(r));
    double size = fmin(need, fmax(SLAB, row));
    if (r->gram || size < row) return;
    r->slab_size = (size_t)size;
    r->slabs = (size_t)ceil(need / size);
    while (r->slabs > 1 && (double)r->slabs * size > (double)memory) r->slabs--;
}

size_t cri_svm_rows_memory(cr_ctx *cx, size_t asked)
{
    static const size_t MOST = (size_t)4 << 30;
    size_t              half = cri_memory_left(cx) / 2;
    return asked ? asked : half < MOST ? half : MOST;
}

cr_status cri_svm_rows_open(cr_ctx *cx, const cr_kernel *kernel, const cr_kernel_input *in,
                            const double *opt_gram, size_t memory, cri_svm_rows *out)
{
    cr_status    st = CR_OK;
    size_t       n = in->rows;
    cri_svm_rows r = { .cx = cx,
                       .kernel = kernel,
                       .all = *in,
                       .gram = opt_gram,
                       .n = n,
                       .active = n,
                       .columns = *in };
    set_columns(&r);
    plan_store(&r, memory);
    r.at = cr_alloc(cx, n, sizeof *r.at);
    r.slot_of = cr_alloc(cx, n, sizeof *r.slot_of);
    r.row_of = cr_alloc(cx, n, sizeof *r.row_of);
    r.before = cr_alloc(cx, n, sizeof *r.before);
    r.after = cr_alloc(cx, n, sizeof *r.after);
    r.turn = cr_alloc(cx, n, sizeof *r.turn);
    r.slab = cr_alloc(cx, r.slabs, sizeof *r.slab);
    r.buffer_size = opt_gram ? 0 : r.chunk * n;
    r.buffer = cri_resize_quietly(cx, NULL, 0, r.buffer_size, sizeof *r.buffer);
    if (!r.buffer) CR_TRY(cri_fail_memory(cx, r.buffer_size * sizeof *r.buffer));
    if (!r.at || !r.slot_of || !r.row_of || !r.before || !r.after || !r.turn || !r.slab)
        CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n; i++) r.at[i] = i;
    empty_store(&r);
    *out = r;
    return CR_OK;
done:
    cri_svm_rows_close(&r);
    return st;
}

static void free_columns(cri_svm_rows *r)
{
    cri_kernel_release(r->held);
    r->held = NULL;
    size_t n = r->columns.rows;
    cr_free(r->cx, r->numbers, n * r->all.numbers.cols, sizeof *r->numbers);
    cr_free(r->cx, r->codes, n * r->all.categories, sizeof *r->codes);
    cr_free(r->cx, r->texts, n * r->all.text_columns, sizeof *r->texts);
    r->numbers = NULL, r->codes = NULL, r->texts = NULL;
}

void cri_svm_rows_close(cri_svm_rows *r)
{
    cr_ctx *cx = r->cx;
    size_t  n = r->n;
    if (!cx) return;
    free_columns(r);
    cr_free(cx, r->at, n, sizeof *r->at);
    cr_free(cx, r->slot_of, n, sizeof *r->slot_of);
    cr_free(cx, r->row_of, n, sizeof *r->row_of);
    cr_free(cx, r->before, n, sizeof *r->before);
    cr_free(cx, r->after, n, sizeof *r->after);
    cr_free(cx, r->turn, n, sizeof *r->turn);
    for (size_t i = 0; r->slab && i < r->slabs; i++) cr_free(cx, r->slab[i], r->slab_size, 1);
    cr_free(cx, r->slab, r->slabs, sizeof *r->slab);
    cr_free(cx, r->buffer, r->buffer_size, sizeof *r->buffer);
    *r = (cri_svm_rows){ 0 };
}

/* --- use ------------------------------------------------------------------------------------- */

/* Rows whose multiples are added together: where each stands, and where it is to be kept. */
typedef struct adding {
    const cri_svm_rows *rows;
    size_t              n;
    const double       *coef;                    /* [outputs x stride], of which n              */
    size_t              outputs, stride, length; /* length: of each value                 */
    const size_t       *row;                     /* [n]                                        */
    const double       *fresh[MOST_CHUNK];       /* just computed, or of a given matrix; or NULL */
    size_t              slot[MOST_CHUNK];        /* kept there, or to be kept; or NONE          */
    double             *value;                   /* [outputs x length] */
} adding;

CRI_INNER_LOOP static void add_fresh(const double *k, double w, size_t n, double *sum)
{
    cri_check_array(k, n);
    for (size_t i = 0; i < n; i++) sum[i] += w * k[i];
}

CRI_INNER_LOOP static void add_kept(const float *k, double w, size_t n, double *sum)
{
    cri_check_bytes(k, n * sizeof *k);
    for (size_t i = 0; i < n; i++) sum[i] += w * (double)k[i];
}

/* The columns c of a row that was computed, into its slot. */
static void keep_part(const cri_svm_rows *r, const double *fresh, cri_range c, void *kept)
{
    if (r->wide)
        memcpy((double *)kept + c.begin, fresh + c.begin, (c.end - c.begin) * sizeof *fresh);
    else
        for (size_t k = c.begin; k < c.end; k++) ((float *)kept)[k] = (float)fresh[k];
}

static void add_strip(void *arg, size_t block)
{
    const adding       *a = arg;
    const cri_svm_rows *r = a->rows;
    cri_range           c = cri_block_range(r->active, STRIP, block);
    size_t              n = c.end - c.begin;
    for (size_t o = 0; o < a->outputs; o++) {
        double sum[STRIP] = { 0 }, *value = a->value + o * a->length;
        for (size_t i = 0; i < a->n; i++) {
            const double w = a->coef[o * a->stride + i], *fresh = a->fresh[i];
            void        *kept = a->slot[i] == NONE ? NULL : place_of(r, a->slot[i]);
            if (fresh && kept && o == 0) keep_part(r, fresh, c, kept);
            if (w == 0) continue;
            if (fresh)
                add_fresh(fresh + c.begin, w, n, sum);
            else if (r->wide)
                add_fresh((const double *)kept + c.begin, w, n, sum);
            else
                add_kept((const float *)kept + c.begin, w, n, sum);
        }
        for (size_t k = 0; k < n; k++) value[r->at[c.begin + k]] += sum[k];
    }
}

/* The rows of a chunk that are not kept, computed. */
static cr_status compute(cri_svm_rows *r, adding *a)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(r->cx);
    size_t          missing[MOST_CHUNK], place[MOST_CHUNK], n = 0;
    cr_kernel_input in;
    r->now++;
    for (size_t i = 0; i < a->n; i++) {
        size_t slot = a->slot[i] = r->slot_of[a->row[i]];
        a->fresh[i] = NULL;
        if (slot == NONE) {
            place[n] = i;
            missing[n++] = a->row[i];
        } else {
            unlink_slot(r, slot);
            link_last(r, slot);
            r->turn[slot] = r->now;
        }
    }
    if (n == 0) goto done;
    CR_TRY(cri_svm_pick(&s, &r->all, missing, n, &in));
    double began = cri_seconds();
    if (!r->held) CR_TRY(cri_kernel_hold(r->cx, r->kernel, &r->columns, &r->held));
    CR_TRY(cri_kernel_cross_held(r->cx, r->held, &in, cr_mat_of(r->buffer, n, r->active)));
    r->computed += (double)n * (double)r->active;
    r->seconds += cri_seconds() - began;
    for (size_t k = 0; k < n; k++) {
        a->fresh[place[k]] = r->buffer + k * r->active;
        a->slot[place[k]] = take_slot(r, missing[k]);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_svm_rows_add_many(cri_svm_rows *r, const size_t *row, const double *coef, size_t n,
                                size_t outputs, double *value, size_t length)
{
    cr_status st = CR_OK;
    for (size_t begin = 0; begin < n; begin += r->chunk) {
        adding a = { .rows = r,
                     .n = n - begin < r->chunk ? n - begin : r->chunk,
                     .coef = coef + begin,
                     .outputs = outputs,
                     .stride = n,
                     .length = length,
                     .row = row + begin,
                     .value = value };
        for (size_t i = 0; r->gram && i < a.n; i++) {
            a.slot[i] = NONE;
            a.fresh[i] = r->gram + a.row[i] * r->n;
        }
        if (!r->gram) CR_TRY(compute(r, &a));
        CR_TRY(cri_parallel_for(r->cx, NULL, cri_block_count(r->active, STRIP), add_strip, &a));
    }
done:
    return st;
}

cr_status cri_svm_rows_add(cri_svm_rows *r, const size_t *row, const double *coef, size_t n,
                           double *value)
{
    return cri_svm_rows_add_many(r, row, coef, n, 1, value, r->n);
}

/* --- rows put aside -------------------------------------------------------------------------- */

/* The columns `kept` [m], positions among the active ones, of all rows that are kept, moved to the front.  Every row moves
 * to a place that is not behind its own, so the first rows go first. */
static void compact(cri_svm_rows *r, const size_t *kept, size_t m)
{
    size_t before = r->active, per = r->per_slab;
    for (size_t s = 0; s < r->used; s++) {
        void *from = place_of(r, s);
        r->active = m;
        count_slots(r);
        void *to = place_of(r, s);
        for (size_t k = 0; r->wide && k < m; k++) ((double *)to)[k] = ((double *)from)[kept[k]];
        for (size_t k = 0; !r->wide && k < m; k++) ((float *)to)[k] = ((float *)from)[kept[k]];
        r->active = before, r->per_slab = per;
    }
    r->active = m;
    count_slots(r);
}

cr_status cri_svm_rows_shrink(cri_svm_rows *r, const unsigned char *keep)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(r->cx);
    size_t    *kept = cr_scratch_index(&s, r->active), m = 0;
    CR_TRY(s.status);
    for (size_t k = 0; k < r->active; k++)
        if (keep[r->at[k]]) kept[m++] = k;
    if (r->gram || m == r->active || m == 0) goto done;
    compact(r, kept, m);
    for (size_t k = 0; k < m; k++) r->at[k] = r->at[kept[k]];
    free_columns(r);
    set_columns(r);
    while (r->chunk * m > r->buffer_size) r->chunk--;
    r->columns.rows = m;
    r->numbers = cr_alloc(r->cx, m * r->all.numbers.cols, sizeof *r->numbers);
    r->codes = cr_alloc(r->cx, m * r->all.categories, sizeof *r->codes);
    r->texts = cr_alloc(r->cx, m * r->all.text_columns, sizeof *r->texts);
    if (!r->numbers || !r->codes || !r->texts) CR_TRY(CR_ENOMEM);
    copy_rows(&r->all, r->at, m, r->numbers, r->codes, r->texts);
    r->columns = as_input(&r->all, m, r->numbers, r->codes, r->texts);
done:
    cr_scratch_end(&s);
    return st;
}

void cri_svm_rows_restore(cri_svm_rows *r)
{
    if (r->active == r->n) return;
    free_columns(r);
    r->active = r->n;
    for (size_t i = 0; i < r->n; i++) r->at[i] = i;
    r->columns = r->all;
    set_columns(r);
    empty_store(r);
}

/* --- values ---------------------------------------------------------------------------------- */

/* The same of the linear kernel: by the weights of the columns.  O((rows + queries) d). */
static cr_status linear_values(cr_ctx *cx, const cr_kernel_input *at, const double *coef,
                               size_t outputs, const cr_kernel_input *queries, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     d = queries->numbers.cols;
    double    *W = cr_scratch_matrix(&s, d, outputs);
    CR_TRY(s.status);
    CR_TRY(cr_gemm(cx, 1, at->numbers, CR_TRANSPOSED, cr_cmat_of(coef, at->rows, outputs), CR_PLAIN,
                   0, cr_mat_of(W, d, outputs)));
    CR_TRY(cr_gemm(cx, 1, queries->numbers, CR_PLAIN, cr_cmat_of(W, d, outputs), CR_PLAIN, 0,
                   cr_mat_of(out, queries->rows, outputs)));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_svm_values(cr_ctx *cx, const cr_kernel *kernel, const cr_kernel_input *at,
                         const double *coef, size_t outputs, const cr_kernel_input *queries,
                         double *out)
{
    if (at->rows && queries->rows && at->numbers.cols && cri_svm_is_linear(kernel))
        return linear_values(cx, at, coef, outputs, queries, out);
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = at->rows, m = queries->rows, chunk = BUFFER / 2 / (n ? n : 1),
           d = queries->numbers.cols;
    if (chunk < LEAST_CHUNK) chunk = LEAST_CHUNK;
    if (chunk > m) chunk = m;
    double          *K = cr_scratch_matrix(&s, chunk, n);
    cri_kernel_held *held = NULL;

    CR_TRY(s.status);
    memset(out, 0, m * outputs * sizeof *out);
    if (n > 0) CR_TRY(cri_kernel_hold(cx, kernel, at, &held));
    for (size_t begin = 0; n > 0 && begin < m; begin += chunk) {
        size_t          count = m - begin < chunk ? m - begin : chunk;
        cr_kernel_input in = *queries;
        in.rows = count;
        in.numbers.rows = count;
        if (d) in.numbers.a = queries->numbers.a + begin * queries->numbers.stride;
        if (in.categories) in.codes = queries->codes + begin * in.categories;
        if (in.text_columns) in.texts = queries->texts + begin * in.text_columns;
        CR_TRY(cri_kernel_cross_held(cx, held, &in, cr_mat_of(K, count, n)));
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(K, count, n), CR_PLAIN, cr_cmat_of(coef, n, outputs),
                       CR_PLAIN, 0, cr_mat_of(out + begin * outputs, count, outputs)));
    }
done:
    cri_kernel_release(held);
    cr_scratch_end(&s);
    return st;
}
