/* grow_lists.c -- exact splits, by sorted lists.
 * The entries of a node are the same range of every column's list.  A split copies the list of each
 * column, those that go left first, into the other of two buffers, so that ranks stay in order and
 * no column is sorted again; the root reads the sorted columns themselves. */
#include "grow_internal.h"
#include "base/parallel.h"

#include <string.h>

static const cri_lists *lists_of(const cri_growth *w)
{
    return w->at.way == CRI_WAY_SMALL ? &w->g->small : &w->g->lists;
}

/* --- a node ---------------------------------------------------------------------------------- */

/* Weight, mean or counts, loss, and whether all its targets are one. */
static cr_status measure(cri_growth *w)
{
    cri_node_view     *v = &w->view;
    const cri_pending *at = &w->at;
    const cri_entry   *e = at->entries;
    cri_moments        m = { .pure = true };
    double             first = v->cases[e[at->begin].row].y, *counts = w->g->counts;
    bool               squares = v->loss == CRI_TREE_SQUARES;
    memset(counts, 0, v->classes * sizeof(double));
    for (size_t i = at->begin; i < at->end; i++) {
        const cri_case *c = &v->cases[e[i].row];
        m.weight += c->w;
        m.mean += c->w * (c->y - first);
        if (!squares) counts[(size_t)c->y] += c->w;
        m.pure = m.pure && c->y == first;
    }
    m.mean = first + m.mean / m.weight;
    v->weight = m.weight;
    v->mean = m.mean;
    v->base = cri_split_base(v);
    for (size_t i = at->begin; squares && i < at->end; i++) {
        const cri_case *c = &v->cases[e[i].row];
        m.loss += c->w * (c->y - m.mean) * (c->y - m.mean);
    }
    if (!squares) m.loss = v->loss == CRI_TREE_GINI ? m.weight - v->base : -v->base;
    if (m.pure || m.loss < 0) m.loss = 0;
    v->tie = 1e-12 * (squares ? m.loss : m.weight);
    w->pure = m.pure;
    cri_grow_store(w, at->node, &m);
    return CR_OK;
}

static void search_slot(void *arg, size_t s)
{
    cri_growth        *w = arg;
    const cri_grower  *g = w->g;
    const cri_columns *c = g->columns;
    double            *workspace = g->workspace + s * g->workspace_size;
    for (size_t j = s; j < c->p; j += g->slots) {
        const cri_entry *e = w->at.entries + j * lists_of(w)->n + w->at.begin;
        size_t           n = w->at.end - w->at.begin;
        g->found[j] = c->category[j]
                          ? cri_split_levels(&w->view, e, n, c->distinct[j], workspace, NULL)
                          : cri_split_numbers(&w->view, e, n, workspace);
    }
}

/* Slots side by side, or for a small node one after the other. */
static cr_status run_slots(cri_growth *w, void (*body)(void *, size_t), size_t slots)
{
    if ((w->at.end - w->at.begin) * w->g->columns->p > CRI_ALONE)
        return cri_parallel_for(w->cx, NULL, slots, body, w);
    for (size_t s = 0; s < slots; s++) body(w, s);
    return CR_OK;
}

static cr_status search(cri_growth *w) { return run_slots(w, search_slot, w->g->slots); }

/* --- splitting ------------------------------------------------------------------------------- */

/* Which rows go left, for the way along column j; their weight. */
static double mark_left(cri_growth *w, size_t j)
{
    const cri_columns *c = w->g->columns;
    const cri_split   *s = &w->g->found[j];
    const cri_lists   *lists = lists_of(w);
    const cri_entry   *e = w->at.entries + j * lists->n;
    double            *levels = w->g->levels, weight = 0;
    if (c->category[j])
        cri_split_levels(&w->view, e + w->at.begin, w->at.end - w->at.begin, c->distinct[j],
                         w->g->workspace, levels);
    for (size_t i = w->at.begin; i < w->at.end; i++) {
        bool left = e[i].rank == CRI_GAP ? s->gap_left
                    : c->category[j]     ? levels[e[i].rank] == 1
                                         : e[i].rank <= s->rank;
        lists->left[e[i].row] = left;
        weight += left ? w->view.cases[e[i].row].w : 0;
    }
    return weight;
}

/* Copies list j of the node in order, left rows first; how many go left. */
static size_t part_list(const cri_growth *w, size_t j)
{
    const cri_lists *lists = lists_of(w);
    size_t           n = lists->n, begin = w->at.begin, end = w->at.end, right = 0, left = 0;
    const cri_entry *from = w->at.entries + j * n;
    cri_entry       *into = lists->buffer[w->at.into] + j * n;
    for (size_t i = begin; i < end; i++) right += !lists->left[from[i].row];
    cri_entry *l = into + begin, *r = into + (end - right);
    left = end - begin - right;
    for (size_t i = begin; i < end; i++) {
        bool goes = lists->left[from[i].row];
        *(goes ? l : r) = from[i];
        l += goes;
        r += !goes;
    }
    return left;
}

static void part_slot(void *arg, size_t s)
{
    const cri_growth *w = arg;
    for (size_t j = s ? s : w->g->slots; j < w->g->columns->p; j += w->g->slots) part_list(w, j);
}

/* Makes the children and lets them wait, the left one on top.  Where they are leaves for sure, one
 * list will do. */
static cr_status part(cri_growth *w, size_t column)
{
    cr_status   st = CR_OK;
    cri_pending at = w->at;
    size_t      first;
    CR_TRY(cri_grow_decide(w, column, &w->g->found[column], mark_left(w, column)));
    size_t left = part_list(w, 0);
    if (at.depth + 1 < w->g->o.max_depth) CR_TRY(run_slots(w, part_slot, w->g->slots));
    CR_TRY(cri_grow_children(w, &first));
    for (size_t side = 2; side-- > 0;)
        CR_TRY(cri_grow_push(w, (cri_pending){ .node = first + side,
                                               .begin = side ? at.begin + left : at.begin,
                                               .end = side ? at.end : at.begin + left,
                                               .depth = at.depth + 1,
                                               .way = at.way,
                                               .entries = lists_of(w)->buffer[at.into],
                                               .slot = CRI_NO_SLOT,
                                               .into = !at.into }));
done:
    return st;
}

static void end(cri_growth *w)
{
    const uint32_t *rows = lists_of(w)->rows;
    for (size_t i = w->at.begin; w->leaf && i < w->at.end; i++) {
        uint32_t row = w->at.entries[i].row;
        w->leaf[rows ? rows[row] : row] = (uint32_t)w->at.node;
    }
}

const cri_grow_way cri_grow_by_lists = { measure, search, part, end };

/* --- a table of its own ---------------------------------------------------------------------- */

/* The lists of the node, rows by their place in the first of them. */
static void take_entries(cri_growth *w)
{
    cri_grower      *g = w->g;
    cri_lists       *small = &g->small;
    size_t           m = w->at.end - w->at.begin, n = g->lists.n;
    const cri_entry *from = w->at.entries + w->at.begin;
    for (size_t i = 0; i < m; i++) {
        g->place[from[i].row] = (uint32_t)i;
        small->rows[i] = from[i].row;
    }
    size_t lists = w->at.depth < g->o.max_depth ? g->columns->p : 1;
    for (size_t j = 0; j < lists; j++)
        for (size_t i = 0; i < m; i++) {
            const cri_entry *e = &from[j * n + i];
            small->buffer[0][j * small->n + i] = (cri_entry){ e->rank, g->place[e->row] };
        }
}

/* Entries by rank: a radix sort, a byte at a time, of no more bytes than the ranks have. */
static void sort_entries(cri_entry *a, cri_entry *b, size_t n, uint32_t all)
{
    cri_entry *into = a;
    for (unsigned shift = 0; shift < 32 && all >> shift; shift += 8) {
        size_t at[257] = { 0 };
        for (size_t i = 0; i < n; i++) at[(a[i].rank >> shift & 255) + 1]++;
        for (size_t k = 1; k < 256; k++) at[k] += at[k - 1];
        for (size_t i = 0; i < n; i++) b[at[a[i].rank >> shift & 255]++] = a[i];
        cri_entry *swap = a;
        a = b, b = swap;
    }
    if (a != into) memcpy(into, a, n * sizeof *a);
}

/* The same from the rows of a node with bins, whose ranks are sorted. */
static void sort_rows(cri_growth *w)
{
    cri_grower        *g = w->g;
    const cri_columns *c = g->columns;
    cri_lists         *small = &g->small;
    size_t             m = w->at.end - w->at.begin;
    for (size_t i = 0; i < m; i++)
        small->rows[i] = w->at.rows ? w->at.rows[w->at.begin + i] : (uint32_t)(w->at.begin + i);
    for (size_t j = 0; j < c->p; j++) {
        cri_entry *e = small->buffer[0] + j * small->n;
        uint32_t   all = 0;
        for (size_t i = 0; i < m; i++) {
            e[i] = (cri_entry){ c->ranks[j * c->n + small->rows[i]], (uint32_t)i };
            all |= e[i].rank;
        }
        if (!c->category[j]) sort_entries(e, small->buffer[1] + j * small->n, m, all);
    }
}

void cri_grow_small(cri_growth *w)
{
    cri_lists *small = &w->g->small;
    size_t     m = w->at.end - w->at.begin;
    if (w->at.way == CRI_WAY_BINS)
        sort_rows(w);
    else
        take_entries(w);
    for (size_t i = 0; i < m; i++) small->cases[i] = w->cases[small->rows[i]];
    cri_histogram_give(&w->g->histograms, w->at.slot);
    w->at.slot = CRI_NO_SLOT;
    w->at.way = CRI_WAY_SMALL;
    w->at.begin = 0;
    w->at.end = m;
    w->at.entries = small->buffer[0];
    w->at.into = 1;
}
