/* grow_bins.c -- splits between bins, by histograms.
 * The rows of a node are a range of row numbers, which a split copies in order, those that go left
 * first.  The histogram of the smaller child is added up and taken from its parent's, which leaves
 * that of the other; the children of the last level need none, and their rows are not copied.
 * Everything that passes over rows does so in fixed blocks, added up in order. */
#include "grow_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1024, BLOCKS_ALONE = 16, CELLS_ALONE = 100000 };

static inline size_t row_at(const cri_pending *at, size_t i)
{
    return at->rows ? at->rows[at->begin + i] : at->begin + i;
}

static size_t rows_of(const cri_pending *at) { return at->end - at->begin; }

/* Blocks side by side, or of few rows one after the other. */
static cr_status run_blocks(cr_ctx *cx, size_t blocks, void (*body)(void *, size_t), void *arg)
{
    if (blocks > BLOCKS_ALONE) return cri_parallel_for(cx, NULL, blocks, body, arg);
    for (size_t b = 0; b < blocks; b++) body(arg, b);
    return CR_OK;
}

/* --- numbers: weight, mean and loss ---------------------------------------------------------- */

/* The moments of two sets of rows together (Chan, Golub & LeVeque 1983). */
static void add_moments(cri_moments *a, const cri_moments *b)
{
    if (b->weight == 0) return;
    if (a->weight == 0) {
        *a = *b;
        return;
    }
    double weight = a->weight + b->weight, d = b->mean - a->mean;
    a->pure = a->pure && b->pure && d == 0;
    a->mean += d * (b->weight / weight);
    a->loss += b->loss + d * d * (a->weight * b->weight / weight);
    a->weight = weight;
}

/* Both sides of a split, whose rows are marked; or all rows as the left side. */
typedef struct summing {
    cri_growth    *w;
    cri_bin_column column;
    size_t         first; /* with `goes`: the left child                     */
    const bool    *goes;  /* which codes go left; NULL: all                  */
    cri_moments   *block; /* [blocks x 2]                                    */
} summing;

/* In four sums side by side, since each would wait for itself. */
static cri_moments sum_cases(const cri_case *c, size_t n)
{
    cri_moments m = { .pure = true };
    double      first = n ? c[0].y : 0, weight[4] = { 0 }, sum[4] = { 0 }, square[4] = { 0 };
    bool        same = true;
    for (size_t i = 0; i < n; i++) {
        weight[i & 3] += c[i].w;
        sum[i & 3] += c[i].w * (c[i].y - first);
        same &= c[i].y == first;
    }
    m.weight = (weight[0] + weight[1]) + (weight[2] + weight[3]);
    if (n) m.mean = first + ((sum[0] + sum[1]) + (sum[2] + sum[3])) / m.weight;
    for (size_t i = 0; i < n; i++) {
        double e = c[i].y - m.mean;
        square[i & 3] += c[i].w * e * e;
    }
    m.loss = (square[0] + square[1]) + (square[2] + square[3]);
    m.pure = same;
    return m;
}

/* Marks the rows of the block. */
static void mark_block(void *arg, size_t b)
{
    const summing    *s = arg;
    const cri_growth *w = s->w;
    cri_range         r = cri_block_range(rows_of(&w->at), BLOCK, b);
    for (size_t i = r.begin; i < r.end; i++) {
        size_t row = row_at(&w->at, i);
        w->leaf[row] = (uint32_t)(s->first + !s->goes[cri_bin_of(&s->column, row)]);
    }
}

/* The cases of the block, those of the left from the front and those of the right from the back. */
static void sum_block(void *arg, size_t b)
{
    const summing    *s = arg;
    const cri_growth *w = s->w;
    cri_range         r = cri_block_range(rows_of(&w->at), BLOCK, b);
    cri_case          cases[BLOCK];
    size_t            left = 0, right = BLOCK;
    for (size_t i = r.begin; i < r.end; i++) {
        size_t row = row_at(&w->at, i);
        bool   goes = !s->goes || s->goes[cri_bin_of(&s->column, row)];
        if (s->goes && w->leaf) w->leaf[row] = (uint32_t)(s->first + !goes);
        cases[goes ? left : right - 1] = w->cases[row];
        left += goes;
        right -= !goes;
    }
    s->block[2 * b] = sum_cases(cases, left);
    s->block[2 * b + 1] = sum_cases(cases + right, BLOCK - right);
}

/* Marks the rows of a split whose children are leaves, `first` the left one. */
static cr_status mark_rows(cri_growth *w, size_t column, size_t first)
{
    summing s = { .w = w, .first = first, .goes = w->g->goes };
    if (!w->leaf) return CR_OK;
    s.column = cri_bins_column(&w->g->columns->bins, column);
    return run_blocks(w->cx, cri_block_count(rows_of(&w->at), BLOCK), mark_block, &s);
}

/* out [2]: the moments of the left and right rows, of numbers, which are marked too. */
static cr_status sum_rows(cri_growth *w, size_t column, const bool *goes, size_t first,
                          cri_moments *out)
{
    cr_status  st = CR_OK;
    cr_scratch sc = cr_scratch_begin(w->cx);
    size_t     blocks = cri_block_count(rows_of(&w->at), BLOCK);
    summing    s = { .w = w, .first = first, .goes = goes };
    s.column = cri_bins_column(&w->g->columns->bins, column);
    s.block = cr_scratch_bytes(&sc, 2 * blocks, sizeof *s.block);
    CR_TRY(sc.status);
    CR_TRY(run_blocks(w->cx, blocks, sum_block, &s));
    for (size_t k = 0; k < 2; k++) {
        out[k] = (cri_moments){ 0 };
        for (size_t b = 0; b < blocks; b++) add_moments(&out[k], &s.block[2 * b + k]);
        if (out[k].pure) out[k].loss = 0;
    }
done:
    cr_scratch_end(&sc);
    return st;
}

/* --- classes: their weights ------------------------------------------------------------------ */

static void count_block(void *arg, cri_range r, double *acc)
{
    const cri_growth *w = arg;
    for (size_t i = r.begin; i < r.end; i++) {
        const cri_case *c = &w->cases[row_at(&w->at, i)];
        acc[(size_t)c->y] += c->w;
    }
}

/* From counts [classes]: weight, mean of the class numbers, and loss. */
static cri_moments moments_of_counts(const cri_node_view *v, const double *counts)
{
    cri_moments   m = { 0 };
    cri_node_view of = *v;
    size_t        present = 0;
    for (size_t k = 0; k < v->classes; k++) {
        m.weight += counts[k];
        m.mean += (double)k * counts[k];
        present += counts[k] > 0;
    }
    m.mean /= m.weight;
    m.pure = present < 2;
    of.counts = counts;
    of.weight = m.weight;
    double base = cri_split_base(&of);
    m.loss = v->loss == CRI_TREE_GINI ? m.weight - base : -base;
    if (m.pure || m.loss < 0) m.loss = 0;
    return m;
}

/* --- a node ---------------------------------------------------------------------------------- */

/* The node's histogram, where it has none yet. */
static cr_status fill(cri_growth *w)
{
    cr_status       st = CR_OK;
    cri_histograms *h = &w->g->histograms;
    if (w->at.slot != CRI_NO_SLOT) goto done;
    w->at.slot = cri_histogram_take(h);
    const uint32_t *rows = w->at.rows ? w->at.rows + w->at.begin : NULL;
    CR_TRY(cri_histogram_fill(w->cx, h, w->cases, rows, rows_of(&w->at), w->at.slot));
done:
    return st;
}

/* Sums are as if they were added up row by row, but for rounding. */
static bool has_exact_cells(const cri_growth *w)
{
    const cri_histograms *h = &w->g->histograms;
    return !h->counted || h->direct[w->at.slot];
}

/* counts [classes] of the cells that go left, or of all. */
static void count_cells(const cri_growth *w, size_t column, const bool *goes, double *counts)
{
    cri_cells c = cri_histogram_cells(&w->g->histograms, w->at.slot, column);
    memset(counts, 0, c.width * sizeof(double));
    for (size_t i = 0; i <= c.bins; i++)
        for (size_t k = 0; (!goes || goes[i]) && k < c.width; k++)
            counts[k] += c.sums[i * c.width + k];
}

/* Weight and mean of the numbers in the cells that go left, or of all. */
static cri_moments sum_cells(const cri_growth *w, size_t column, const bool *goes)
{
    cri_cells   c = cri_histogram_cells(&w->g->histograms, w->at.slot, column);
    cri_moments m = { 0 };
    double      sum = 0;
    for (size_t i = 0; i <= c.bins; i++) {
        m.weight += !goes || goes[i] ? c.sums[2 * i] : 0;
        sum += !goes || goes[i] ? c.sums[2 * i + 1] : 0;
    }
    m.mean = c.centre + (m.weight > 0 ? sum / m.weight : 0);
    return m;
}

/* The moments of the node by its sums, where they are at hand and its loss is not rounding. */
static cr_status measure_sums(cri_growth *w, cri_moments *out)
{
    const double          ROUNDING = 1e-9;
    cr_status             st = CR_OK;
    const cri_histograms *h = &w->g->histograms;
    cri_moments           m[2] = { { 0 } };
    bool                  root = w->at.depth == 0, known = root || w->at.slot != CRI_NO_SLOT;
    if (known) {
        CR_TRY(fill(w));
        m[0] = sum_cells(w, 0, NULL);
        double d = m[0].mean - h->centre;
        m[0].loss = h->squares[w->at.slot] - m[0].weight * d * d;
        if (root) w->g->most = h->squares[w->at.slot];
    }
    if (!known || !(m[0].loss > ROUNDING * w->g->most)) CR_TRY(sum_rows(w, 0, NULL, 0, m));
    *out = m[0];
done:
    return st;
}

static cr_status measure(cri_growth *w)
{
    cr_status      st = CR_OK;
    cri_node_view *v = &w->view;
    bool           squares = v->loss == CRI_TREE_SQUARES;
    cri_moments    m[2] = { { 0 } };
    if (squares && w->g->o.by_sums) {
        CR_TRY(measure_sums(w, m));
    } else if (squares) {
        CR_TRY(sum_rows(w, 0, NULL, 0, m));
        if (w->at.depth == 0) w->g->histograms.centre = m[0].mean;
    } else {
        CR_TRY(fill(w));
        if (has_exact_cells(w))
            count_cells(w, 0, NULL, w->g->counts);
        else
            CR_TRY(cri_parallel_sum(w->cx, NULL, rows_of(&w->at), BLOCK, v->classes, count_block, w,
                                    w->g->counts));
        m[0] = moments_of_counts(v, w->g->counts);
    }
    v->weight = m[0].weight;
    v->mean = m[0].mean;
    v->base = cri_split_base(v);
    v->tie = 1e-12 * (squares ? m[0].loss : m[0].weight);
    w->pure = m[0].pure;
    cri_grow_store(w, w->at.node, &m[0]);
done:
    return st;
}

static void search_slot(void *arg, size_t s)
{
    const cri_growth  *w = arg;
    const cri_grower  *g = w->g;
    const cri_columns *c = g->columns;
    double            *workspace = g->workspace + s * g->workspace_size;
    for (size_t j = s; j < c->p; j += g->slots) {
        cri_cells cells = cri_histogram_cells(&g->histograms, w->at.slot, j);
        g->found[j] = c->category[j] ? cri_split_level_cells(&w->view, &cells, workspace, NULL)
                                     : cri_split_number_cells(&w->view, &cells, workspace);
    }
}

static cr_status search(cri_growth *w)
{
    cr_status st = CR_OK;
    CR_TRY(fill(w));
    if (w->g->columns->bins.cells > CELLS_ALONE)
        CR_TRY(cri_parallel_for(w->cx, NULL, w->g->slots, search_slot, w));
    else
        for (size_t s = 0; s < w->g->slots; s++) search_slot(w, s);
done:
    return st;
}

/* --- splitting ------------------------------------------------------------------------------- */

/* Which codes of column j go left, and their weight. */
static double mark_left(cri_growth *w, size_t j)
{
    cri_grower        *g = w->g;
    const cri_columns *c = g->columns;
    const cri_split   *s = &g->found[j];
    cri_cells          cells = cri_histogram_cells(&g->histograms, w->at.slot, j);
    double             weight = 0;
    if (c->category[j]) cri_split_level_cells(&w->view, &cells, g->workspace, g->levels);
    for (size_t i = 0; i <= cells.bins; i++) {
        g->goes[i] = i == cells.bins  ? s->gap_left
                     : c->category[j] ? g->levels[i] == 1
                                      : i <= s->rank;
        if (g->goes[i]) weight += cri_cell_weight(&cells, &w->view, i);
    }
    return weight;
}

/* Bins to the ranks at their ends. */
static cri_split in_ranks(const cri_growth *w, size_t j)
{
    const cri_columns *c = w->g->columns;
    cri_split          s = w->g->found[j];
    const uint32_t    *last = c->bins.last[j];
    if (c->category[j]) return s;
    if (s.next != CRI_GAP) s.next = last[s.next - 1] + 1;
    s.rank = last[s.rank];
    return s;
}

typedef struct parting {
    cri_growth    *w;
    cri_bin_column column;
    uint32_t      *into;
    size_t        *left; /* [blocks + 1] rows that go left in a block, then in those before it */
} parting;

static void count_left(void *arg, size_t b)
{
    const parting    *a = arg;
    const cri_growth *w = a->w;
    cri_range         r = cri_block_range(rows_of(&w->at), BLOCK, b);
    size_t            left = 0;
    for (size_t i = r.begin; i < r.end; i++)
        left += w->g->goes[cri_bin_of(&a->column, row_at(&w->at, i))];
    a->left[b + 1] = left;
}

static void copy_block(void *arg, size_t b)
{
    const parting    *a = arg;
    const cri_growth *w = a->w;
    size_t            blocks = cri_block_count(rows_of(&w->at), BLOCK), begin = w->at.begin;
    cri_range         r = cri_block_range(rows_of(&w->at), BLOCK, b);
    uint32_t         *l = a->into + begin + a->left[b];
    uint32_t         *right = a->into + begin + a->left[blocks] + (r.begin - a->left[b]);
    for (size_t i = r.begin; i < r.end; i++) {
        size_t row = row_at(&w->at, i);
        bool   goes = w->g->goes[cri_bin_of(&a->column, row)];
        *(goes ? l : right) = (uint32_t)row;
        l += goes;
        right += !goes;
    }
}

static cr_status part_rows(cri_growth *w, size_t column, size_t *out_left)
{
    cr_status  st = CR_OK;
    cr_scratch sc = cr_scratch_begin(w->cx);
    size_t     blocks = cri_block_count(rows_of(&w->at), BLOCK);
    parting    a = { .w = w, .into = w->g->rows[w->at.into] };
    a.column = cri_bins_column(&w->g->columns->bins, column);
    a.left = cr_scratch_index(&sc, blocks + 1);
    CR_TRY(sc.status);
    a.left[0] = 0;
    CR_TRY(run_blocks(w->cx, blocks, count_left, &a));
    for (size_t b = 0; b < blocks; b++) a.left[b + 1] += a.left[b];
    CR_TRY(run_blocks(w->cx, blocks, copy_block, &a));
    *out_left = a.left[blocks];
done:
    cr_scratch_end(&sc);
    return st;
}

/* Histograms of the children, where they are large: the smaller one's added up, the other's what it
 * leaves of the parent's.  Without a free slot the smaller child adds up its own later. */
static cr_status share_histogram(cri_growth *w, cri_pending *child)
{
    cr_status       st = CR_OK;
    cri_histograms *h = &w->g->histograms;
    size_t          small = rows_of(&child[1]) < rows_of(&child[0]), least = w->g->small.n;
    cri_pending    *less = &child[small], *more = &child[!small];
    int             slot = w->at.slot;
    if (rows_of(more) > least && (less->slot = cri_histogram_take(h)) != CRI_NO_SLOT) {
        CR_TRY(cri_histogram_fill(w->cx, h, w->cases, less->rows + less->begin, rows_of(less),
                                  less->slot));
        cri_histogram_subtract(h, slot, less->slot);
        more->slot = slot;
        slot = CRI_NO_SLOT;
        if (rows_of(less) <= least || h->spared == 0) { /* one is always left for `fill` */
            cri_histogram_give(h, less->slot);
            less->slot = CRI_NO_SLOT;
        }
    }
    cri_histogram_give(h, slot);
done:
    return st;
}

/* Both sides share the loss of the node, less what the split takes away, by their weights. */
static void share_loss(const cri_growth *w, cri_moments *m)
{
    double left = w->tree->stat[w->at.node * CRI_STAT_WIDTH + CRI_LOSS];
    for (size_t side = 0; side < 2; side++) {
        double d = m[side].mean - w->view.mean;
        left -= m[side].weight * d * d;
    }
    for (size_t side = 0; side < 2; side++)
        m[side].loss = fmax(left, 0) * (m[side].weight / (m[0].weight + m[1].weight));
}

/* The children are leaves: their moments, and the rows marked. */
static cr_status part_last(cri_growth *w, size_t column, size_t first)
{
    cr_status   st = CR_OK;
    bool       *goes = w->g->goes, rows = w->view.loss == CRI_TREE_SQUARES && !w->g->o.by_sums;
    cri_moments m[2] = { { 0 } };
    CR_TRY(rows ? sum_rows(w, column, goes, first, m) : mark_rows(w, column, first));
    for (size_t side = 0; !rows && side < 2; side++) {
        if (w->g->o.by_sums) {
            m[side] = sum_cells(w, column, goes);
        } else {
            count_cells(w, column, goes, w->g->counts);
            m[side] = moments_of_counts(&w->view, w->g->counts);
            cri_grow_store(w, first + side, &m[side]);
        }
        for (size_t i = 0; i <= w->g->columns->bins.count[column]; i++) goes[i] = !goes[i];
    }
    if (w->g->o.by_sums) share_loss(w, m);
    for (size_t side = 0; w->view.loss == CRI_TREE_SQUARES && side < 2; side++)
        cri_grow_store(w, first + side, &m[side]);
    cri_histogram_give(&w->g->histograms, w->at.slot);
done:
    return st;
}

static cr_status part(cri_growth *w, size_t column)
{
    cr_status st = CR_OK;
    cri_split s = in_ranks(w, column);
    bool      last = w->at.depth + 1 >= w->g->o.max_depth;
    size_t    first, left;
    CR_TRY(cri_grow_decide(w, column, &s, mark_left(w, column)));
    w->g->goes[w->g->columns->bins.count[column]] = s.gap_left;
    CR_TRY(cri_grow_children(w, &first));
    if (last && (w->view.loss == CRI_TREE_SQUARES || has_exact_cells(w))) {
        CR_TRY(part_last(w, column, first));
        goto done;
    }
    CR_TRY(part_rows(w, column, &left));
    cri_pending child[2];
    for (size_t side = 0; side < 2; side++)
        child[side] = (cri_pending){ .node = first + side,
                                     .begin = side ? w->at.begin + left : w->at.begin,
                                     .end = side ? w->at.end : w->at.begin + left,
                                     .depth = w->at.depth + 1,
                                     .way = CRI_WAY_BINS,
                                     .rows = w->g->rows[w->at.into],
                                     .slot = CRI_NO_SLOT,
                                     .into = !w->at.into };
    if (last)
        cri_histogram_give(&w->g->histograms, w->at.slot);
    else
        CR_TRY(share_histogram(w, child));
    for (size_t side = 2; side-- > 0;) CR_TRY(cri_grow_push(w, child[side]));
done:
    return st;
}

static void end(cri_growth *w)
{
    for (size_t i = 0; w->leaf && i < rows_of(&w->at); i++)
        w->leaf[row_at(&w->at, i)] = (uint32_t)w->at.node;
    cri_histogram_give(&w->g->histograms, w->at.slot);
}

const cri_grow_way cri_grow_by_bins = { measure, search, part, end };
