/* histogram.c -- adding up, in parts of rows and groups of columns side by side. */
#include "histogram.h"
#include "base/parallel.h"

#include <string.h>

/* Rows of a part at the least; parts and groups together at the most. */
enum { PART_ROWS = 32768, MOST_PARTS = 16, MOST_BYTES = 64 << 20 };

void cri_histograms_free(cr_ctx *cx, cri_histograms *h)
{
    size_t cells = h->bins ? h->bins->cells : 0, slots = (size_t)h->slots;
    cr_free(cx, h->spare, slots, sizeof *h->spare);
    cr_free(cx, h->direct, slots, sizeof *h->direct);
    cr_free(cx, h->sums, slots, cells * h->width * sizeof(double));
    cr_free(cx, h->squares, slots, sizeof *h->squares);
    cr_free(cx, h->counts, slots, cells * sizeof(uint32_t));
    cr_free(cx, h->part_sums, h->parts, cells * h->width * sizeof(double));
    cr_free(cx, h->part_counts, h->parts, cells * sizeof(uint32_t));
    *h = (cri_histograms){ 0 };
}

cr_status cri_histograms_new(cr_ctx *cx, const cri_bins *bins, size_t classes, size_t max_depth,
                             cri_histograms *out)
{
    cri_histograms h = { .bins = bins, .width = classes ? classes : 2, .numbers = !classes };
    size_t         each = bins->cells * h.width * sizeof(double), slots = MOST_BYTES / (each + 1);
    if (slots < 3) slots = 3;
    if (max_depth < slots - 2) slots = max_depth + 2;
    h.slots = (int)slots;
    h.parts = bins->groups < MOST_PARTS ? MOST_PARTS / bins->groups : 1;
    if (h.parts > bins->n / PART_ROWS + 1) h.parts = bins->n / PART_ROWS + 1;
    h.spare = cr_alloc(cx, slots, sizeof *h.spare);
    h.direct = cr_alloc(cx, slots, sizeof *h.direct);
    h.sums = cr_alloc(cx, slots, each);
    h.squares = cr_alloc(cx, slots, sizeof *h.squares);
    h.part_sums = cr_alloc(cx, h.parts, each);
    if (max_depth > 1) {
        h.counts = cr_alloc(cx, slots, bins->cells * sizeof(uint32_t));
        h.part_counts = cr_alloc(cx, h.parts, bins->cells * sizeof(uint32_t));
    }
    if (!h.spare || !h.direct || !h.sums || !h.squares || !h.part_sums ||
        (max_depth > 1 && (!h.counts || !h.part_counts))) {
        cri_histograms_free(cx, &h);
        return CR_ENOMEM;
    }
    cri_histograms_clear(&h);
    *out = h;
    return CR_OK;
}

void cri_histograms_clear(cri_histograms *h)
{
    h->spared = h->slots;
    for (int i = 0; i < h->slots; i++) h->spare[i] = h->slots - 1 - i;
}

int cri_histogram_take(cri_histograms *h)
{
    return h->spared > 0 ? h->spare[--h->spared] : CRI_NO_SLOT;
}

void cri_histogram_give(cri_histograms *h, int slot)
{
    if (slot != CRI_NO_SLOT) h->spare[h->spared++] = slot;
}

cri_cells cri_histogram_cells(const cri_histograms *h, int slot, size_t column)
{
    size_t at = (size_t)slot * h->bins->cells + h->bins->offset[column];
    return (cri_cells){ .bins = h->bins->count[column],
                        .width = h->width,
                        .sums = h->sums + at * h->width,
                        .counts = h->counted ? h->counts + at : NULL,
                        .centre = h->centre };
}

/* --- adding up ------------------------------------------------------------------------------- */

typedef struct filling {
    const cri_histograms *h;
    const cri_case       *cases;
    const uint32_t       *rows; /* NULL: all */
    size_t                n, parts;
    double               *sums;    /* [cells x width], of the slot */
    uint32_t             *counts;  /* [cells], where counted       */
    double               *squares; /* [parts] */
} filling;

/* The cells of a group's columns, in one part. */
typedef struct target {
    double   *sums[CRI_GROUP_MOST];
    uint32_t *counts[CRI_GROUP_MOST];
} target;

/* Rows begin .. end-1 of the node; returns the sum of w (y - centre)^2 of numbers.  `width` columns,
 * `numbers` and `gather` are constants where it is called, so that each case has a loop of its own. */
static inline __attribute__((always_inline)) double
add_narrow(const filling *f, const uint8_t *codes, const target *t, size_t begin, size_t end,
           size_t width, bool numbers, bool gather)
{
    size_t K = f->h->width;
    double centre = f->h->centre, squares = 0;
    for (size_t i = begin; i < end; i++) {
        size_t         row = gather ? f->rows[i] : i;
        const uint8_t *code = codes + row * width;
        double         w = f->cases[row].w, y = f->cases[row].y;
        if (numbers) {
            double s = w * (y - centre);
            squares += s * (y - centre);
            for (size_t k = 0; k < width; k++) {
                double *cell = t->sums[k] + 2 * (size_t)code[k];
                cell[0] += w;
                cell[1] += s;
            }
        } else {
            for (size_t k = 0; k < width; k++) t->sums[k][code[k] * K + (size_t)y] += w;
        }
    }
    return squares;
}

static double add_group(const filling *f, const uint8_t *codes, const target *t, size_t begin,
                        size_t end, size_t width)
{
#define CASE(W)                                                                                    \
    case W:                                                                                        \
        return f->h->numbers ? f->rows ? add_narrow(f, codes, t, begin, end, W, true, true)        \
                                       : add_narrow(f, codes, t, begin, end, W, true, false)       \
               : f->rows ? add_narrow(f, codes, t, begin, end, W, false, true)                     \
                             : add_narrow(f, codes, t, begin, end, W, false, false);
    switch (width) {
        CASE(1)
        CASE(2)
        CASE(3)
        CASE(4)
        CASE(5)
        CASE(6)
        CASE(7)
        CASE(8)
    }
#undef CASE
    return 0;
}

static double add_wide(const filling *f, const uint32_t *codes, const target *t, size_t begin,
                       size_t end)
{
    size_t K = f->h->width;
    double squares = 0;
    for (size_t i = begin; i < end; i++) {
        size_t row = f->rows ? f->rows[i] : i;
        double w = f->cases[row].w, y = f->cases[row].y, *cell = t->sums[0] + codes[row] * K;
        if (f->h->numbers) {
            double e = y - f->h->centre;
            cell[0] += w;
            cell[1] += w * e;
            squares += w * e * e;
        } else {
            cell[(size_t)y] += w;
        }
    }
    return squares;
}

static void count_rows(const filling *f, const cri_bin_group *g, const target *t, size_t begin,
                       size_t end)
{
    for (size_t i = begin; i < end; i++) {
        size_t row = f->rows ? f->rows[i] : i;
        if (g->wide) t->counts[0][g->wide[row]]++;
        for (size_t k = 0; g->narrow && k < g->width; k++)
            t->counts[k][g->narrow[row * g->width + k]]++;
    }
}

/* One part of one group. */
static void fill_block(void *arg, size_t block)
{
    const filling        *f = arg;
    const cri_histograms *h = f->h;
    const cri_bins       *b = h->bins;
    const cri_bin_group  *g = &b->group[block / f->parts];
    size_t                part = block % f->parts, begin = part * f->n / f->parts, cells = b->cells;
    size_t    end = (part + 1) * f->n / f->parts, first = b->offset[b->order[g->first]], span = 0;
    double   *sums = part ? h->part_sums + (part - 1) * cells * h->width : f->sums;
    uint32_t *counts = !h->counted ? NULL : part ? h->part_counts + (part - 1) * cells : f->counts;
    target    t;
    for (size_t k = 0; k < g->width; k++) {
        size_t j = b->order[g->first + k];
        t.sums[k] = sums + b->offset[j] * h->width;
        t.counts[k] = counts ? counts + b->offset[j] : NULL;
        span += b->count[j] + 1;
    }
    memset(sums + first * h->width, 0, span * h->width * sizeof(double));
    if (counts) memset(counts + first, 0, span * sizeof(uint32_t));
    double squares = g->wide ? add_wide(f, g->wide, &t, begin, end)
                             : add_group(f, g->narrow, &t, begin, end, g->width);
    if (block < f->parts) f->squares[part] = squares; /* of one group: all see the same rows */
    if (counts) count_rows(f, g, &t, begin, end);
}

cr_status cri_histogram_fill(cr_ctx *cx, cri_histograms *h, const cri_case *cases,
                             const uint32_t *rows, size_t n, int slot)
{
    cr_status st = CR_OK;
    size_t    cells = h->bins->cells, blocks;
    double    squares[MOST_PARTS];
    filling   f = { .h = h, .cases = cases, .rows = rows, .n = n, .parts = n / PART_ROWS + 1 };
    f.sums = h->sums + (size_t)slot * cells * h->width;
    f.counts = h->counts ? h->counts + (size_t)slot * cells : NULL;
    if (f.parts > h->parts) f.parts = h->parts;
    f.squares = squares;
    blocks = f.parts * h->bins->groups;
    if (n * h->bins->p > PART_ROWS)
        CR_TRY(cri_parallel_for(cx, NULL, blocks, fill_block, &f));
    else
        for (size_t k = 0; k < blocks; k++) fill_block(&f, k);
    for (size_t part = 1; part < f.parts; part++) {
        const double *more = h->part_sums + (part - 1) * cells * h->width;
        for (size_t i = 0; i < cells * h->width; i++) f.sums[i] += more[i];
        for (size_t i = 0; h->counted && i < cells; i++)
            f.counts[i] += h->part_counts[(part - 1) * cells + i];
    }
    h->squares[slot] = 0;
    for (size_t part = 0; part < f.parts; part++) h->squares[slot] += squares[part];
    h->direct[slot] = true;
done:
    return st;
}

void cri_histogram_subtract(cri_histograms *h, int slot, int less)
{
    size_t        cells = h->bins->cells;
    double       *a = h->sums + (size_t)slot * cells * h->width;
    const double *b = h->sums + (size_t)less * cells * h->width;
    for (size_t i = 0; i < cells * h->width; i++) a[i] -= b[i];
    h->squares[slot] -= h->squares[less];
    for (size_t i = 0; h->counted && i < cells; i++)
        h->counts[(size_t)slot * cells + i] -= h->counts[(size_t)less * cells + i];
    h->direct[slot] = false;
}
