/* grow.c -- growing a tree, depth first.
 * The entries of a node are the same range of every column's list.  A split copies the list of each
 * column, those that go left first, into the other of two buffers, so that ranks stay in order and
 * no column is sorted again; the root reads the sorted columns themselves. */
#include "grow.h"
#include "split.h"
#include "../../base/parallel.h"
#include "../../base/scratch.h"

#include <math.h>
#include <string.h>

enum { SLOTS = 16, ALONE = 400000 }; /* entries of a node below which columns go one by one */

struct cri_grower {
    const cri_columns *columns;
    cri_grow           o;
    size_t             slots, room_size, lists; /* lists: that the buffers hold     */
    cri_entry         *buffer[2];               /* [lists x n]                      */
    bool              *left;                    /* [n] by row: goes left            */
    double            *room;                    /* [slots x room_size]              */
    double            *counts;                  /* [classes]                        */
    double            *levels;                  /* [most levels]                    */
    cri_split         *found;                   /* [p]                              */
    size_t             most_levels;
};

void cri_grower_free(cr_ctx *cx, cri_grower *g)
{
    if (!g) return;
    const cri_columns *c = g->columns;
    for (size_t b = 0; b < 2; b++) cr_free(cx, g->buffer[b], c->n, g->lists * sizeof(cri_entry));
    cr_free(cx, g->left, c->n, sizeof *g->left);
    cr_free(cx, g->room, g->slots, g->room_size * sizeof(double));
    cr_free(cx, g->counts, g->o.classes + 1, sizeof(double));
    cr_free(cx, g->levels, g->most_levels + 1, sizeof(double));
    cr_free(cx, g->found, c->p, sizeof *g->found);
    cr_free(cx, g, 1, sizeof *g);
}

cr_status cri_grower_new(cr_ctx *cx, const cri_columns *c, const cri_grow *o, cri_grower **out)
{
    cri_grower *g = cr_alloc(cx, 1, sizeof *g);
    if (!g) return CR_ENOMEM;
    g->columns = c;
    g->o = *o;
    g->slots = c->p < SLOTS ? c->p : SLOTS;
    g->room_size = cri_split_room(c, o->classes) + 1;
    for (size_t j = 0; j < c->p; j++)
        if (c->category[j] && c->distinct[j] > g->most_levels) g->most_levels = c->distinct[j];
    g->lists = c->p;
    g->buffer[0] = cr_alloc(cx, c->n, g->lists * sizeof(cri_entry));
    g->buffer[1] = cr_alloc(cx, c->n, g->lists * sizeof(cri_entry));
    g->left = cr_alloc(cx, c->n, sizeof *g->left);
    g->room = cr_alloc(cx, g->slots, g->room_size * sizeof(double));
    g->counts = cr_alloc(cx, o->classes + 1, sizeof(double));
    g->levels = cr_alloc(cx, g->most_levels + 1, sizeof(double));
    g->found = cr_alloc(cx, c->p, sizeof *g->found);
    if (!g->buffer[0] || !g->buffer[1] || !g->left || !g->room || !g->counts || !g->levels ||
        !g->found) {
        cri_grower_free(cx, g);
        return CR_ENOMEM;
    }
    *out = g;
    return CR_OK;
}

/* --- the tree that grows --------------------------------------------------------------------- */

typedef struct pending {
    size_t           node, begin, end, depth;
    const cri_entry *entries; /* [p x n] lists in which the node is begin .. end-1 */
    unsigned         into;    /* the buffer its children go to                     */
} pending;

typedef struct growth {
    cr_ctx         *cx;
    cri_grower     *g;
    const cri_case *cases;
    cri_tree       *tree;
    pending        *stack;
    size_t          waiting, room_stack;
    uint32_t       *leaf;
    /* the node in hand */
    pending       at;
    cri_node_view view;
    bool          pure;
} growth;

/* Room for two more nodes. */
static cr_status reserve_nodes(cr_ctx *cx, cri_tree *t)
{
    if (t->nodes + 2 <= t->room_nodes) return CR_OK;
    size_t   rows = t->room_nodes + t->room_nodes / 2 + 16;
    cri_tree more = { .room_nodes = rows,
                      .width = t->width,
                      .split = cr_alloc(cx, rows, CRI_SPLIT_WIDTH * sizeof(double)),
                      .stat = cr_alloc(cx, rows, CRI_STAT_WIDTH * sizeof(double)),
                      .value = cr_alloc(cx, rows, t->width * sizeof(double)) };
    bool     failed = !more.split || !more.stat || !more.value;
    if (!failed) {
        cri_tree old = { .room_nodes = t->room_nodes,
                         .width = t->width,
                         .split = t->split,
                         .stat = t->stat,
                         .value = t->value };
        if (t->nodes) {
            memcpy(more.split, t->split, t->nodes * CRI_SPLIT_WIDTH * sizeof(double));
            memcpy(more.stat, t->stat, t->nodes * CRI_STAT_WIDTH * sizeof(double));
            memcpy(more.value, t->value, t->nodes * t->width * sizeof(double));
        }
        t->split = more.split, t->stat = more.stat, t->value = more.value;
        t->room_nodes = rows;
        more = old;
    }
    cri_tree_free(cx, &more);
    return failed ? CR_ENOMEM : CR_OK;
}

static cr_status reserve_pool(cr_ctx *cx, cri_tree *t, size_t levels)
{
    if (t->pool + levels <= t->room_pool) return CR_OK;
    size_t  room = t->pool + levels + t->pool / 2;
    double *more = cr_resize(cx, t->subset, t->room_pool, room, sizeof *more);
    if (!more) return CR_ENOMEM;
    t->subset = more;
    t->room_pool = room;
    return CR_OK;
}

static cr_status push(growth *w, pending p)
{
    if (w->waiting == w->room_stack) {
        size_t   room = w->room_stack * 2 + 64;
        pending *more = cr_resize(w->cx, w->stack, w->room_stack, room, sizeof *more);
        if (!more) return CR_ENOMEM;
        w->stack = more;
        w->room_stack = room;
    }
    w->stack[w->waiting++] = p;
    return CR_OK;
}

/* --- a node ---------------------------------------------------------------------------------- */

/* Weight, mean or counts, loss, and whether all its targets are one. */
static void measure_node(growth *w)
{
    cri_node_view   *v = &w->view;
    const pending   *at = &w->at;
    const cri_entry *e = at->entries;
    double           weight = 0, mean = 0, loss = 0, first = w->cases[e[at->begin].row].y;
    double          *counts = w->g->counts;
    bool             squares = v->loss == CRI_TREE_SQUARES;
    w->pure = true;
    memset(counts, 0, v->classes * sizeof(double));
    for (size_t i = at->begin; i < at->end; i++) {
        const cri_case *c = &w->cases[e[i].row];
        weight += c->w;
        mean += c->w * (c->y - first);
        if (!squares) counts[(size_t)c->y] += c->w;
        w->pure = w->pure && c->y == first;
    }
    mean = first + mean / weight;
    v->weight = weight;
    v->mean = mean;
    v->base = cri_split_base(v);
    for (size_t i = at->begin; squares && i < at->end; i++) {
        const cri_case *c = &w->cases[e[i].row];
        loss += c->w * (c->y - mean) * (c->y - mean);
    }
    if (!squares) loss = v->loss == CRI_TREE_GINI ? weight - v->base : -v->base;
    if (w->pure || loss < 0) loss = 0;
    v->tie = 1e-12 * (squares ? loss : weight);
    double *stat = w->tree->stat + at->node * CRI_STAT_WIDTH;
    stat[CRI_WEIGHT] = weight;
    stat[CRI_LOSS] = loss;
    double *value = w->tree->value + at->node * w->tree->width;
    if (squares)
        value[0] = mean;
    else
        memcpy(value, counts, v->classes * sizeof(double));
}

static void search_slot(void *arg, size_t s)
{
    growth            *w = arg;
    const cri_grower  *g = w->g;
    const cri_columns *c = g->columns;
    double            *room = g->room + s * g->room_size;
    for (size_t j = s; j < c->p; j += g->slots) {
        const cri_entry *e = w->at.entries + j * c->n + w->at.begin;
        size_t           n = w->at.end - w->at.begin;
        g->found[j] = c->category[j] ? cri_split_levels(&w->view, e, n, c->distinct[j], room, NULL)
                                     : cri_split_numbers(&w->view, e, n, room);
    }
}

/* Slots side by side, or for a small node one after the other. */
static cr_status run_slots(growth *w, void (*body)(void *, size_t), size_t slots)
{
    if ((w->at.end - w->at.begin) * w->g->columns->p > ALONE)
        return cri_parallel_for(w->cx, NULL, slots, body, w);
    for (size_t s = 0; s < slots; s++) body(w, s);
    return CR_OK;
}

/* The column with the best split; SIZE_MAX where there is none. */
static cr_status search(growth *w, size_t *out_column)
{
    cr_status  st = run_slots(w, search_slot, w->g->slots);
    double     best = -INFINITY;
    cri_split *found = w->g->found;
    *out_column = SIZE_MAX;
    for (size_t j = 0; st == CR_OK && j < w->g->columns->p; j++)
        if (found[j].gain > best + w->view.tie) best = found[j].gain, *out_column = j;
    return st;
}

/* --- splitting ------------------------------------------------------------------------------- */

static double threshold_of(const cri_columns *c, size_t j, const cri_split *s)
{
    double low = c->values[j][s->rank];
    if (s->next == CRI_GAP) return low; /* all numbers go left */
    double high = c->values[j][s->next], middle = low / 2 + high / 2;
    return middle > low && middle < high ? middle : low;
}

/* Which rows go left, for the way along column j; what weighs more decides for what was not seen.
 */
static cr_status decide(growth *w, size_t j)
{
    cr_status          st = CR_OK;
    const cri_columns *c = w->g->columns;
    cri_split         *s = &w->g->found[j];
    const cri_entry   *e = w->at.entries + j * c->n;
    double            *levels = w->g->levels, weight = 0;
    if (c->category[j])
        cri_split_levels(&w->view, e + w->at.begin, w->at.end - w->at.begin, c->distinct[j],
                         w->g->room, levels);
    for (size_t i = w->at.begin; i < w->at.end; i++) {
        bool left = e[i].rank == CRI_GAP ? s->gap_left
                    : c->category[j]     ? levels[e[i].rank] == 1
                                         : e[i].rank <= s->rank;
        w->g->left[e[i].row] = left;
        weight += left ? w->cases[e[i].row].w : 0;
    }
    bool heavy_left = weight > w->view.weight - weight;
    if (!s->gaps) s->gap_left = heavy_left;
    if (c->category[j]) CR_TRY(reserve_pool(w->cx, w->tree, c->distinct[j]));
    double *split = w->tree->split + w->at.node * CRI_SPLIT_WIDTH;
    split[CRI_COLUMN] = (double)j;
    split[CRI_GAP_LEFT] = s->gap_left;
    split[CRI_THRESHOLD] = c->category[j] ? 0 : threshold_of(c, j, s);
    split[CRI_SUBSET] = c->category[j] ? (double)(w->tree->pool + 1) : 0;
    for (size_t k = 0; c->category[j] && k < c->distinct[j]; k++)
        w->tree->subset[w->tree->pool++] = levels[k] < 0 ? heavy_left : levels[k];
done:
    return st;
}

/* Copies list j of the node in order, left rows first; how many go left. */
static size_t part_list(const growth *w, size_t j)
{
    const cri_grower *g = w->g;
    size_t            n = g->columns->n, begin = w->at.begin, end = w->at.end, right = 0, left = 0;
    const cri_entry  *from = w->at.entries + j * n;
    cri_entry        *into = g->buffer[w->at.into] + j * n;
    for (size_t i = begin; i < end; i++) right += !g->left[from[i].row];
    cri_entry *l = into + begin, *r = into + (end - right);
    left = end - begin - right;
    for (size_t i = begin; i < end; i++) {
        bool goes = g->left[from[i].row];
        *(goes ? l : r) = from[i];
        l += goes;
        r += !goes;
    }
    return left;
}

static void part_slot(void *arg, size_t s)
{
    const growth *w = arg;
    for (size_t j = s ? s : w->g->slots; j < w->g->columns->p; j += w->g->slots) part_list(w, j);
}

/* Makes the children and lets them wait, the left one on top.  Where they are leaves for sure, one
 * list will do. */
static cr_status part(growth *w)
{
    cr_status st = CR_OK;
    cri_tree *t = w->tree;
    pending   at = w->at;
    size_t    left = part_list(w, 0);
    if (at.depth + 1 < w->g->o.max_depth) CR_TRY(run_slots(w, part_slot, w->g->slots));
    CR_TRY(reserve_nodes(w->cx, w->tree));
    size_t first = t->nodes;
    memset(t->split + first * CRI_SPLIT_WIDTH, 0, 2 * CRI_SPLIT_WIDTH * sizeof(double));
    t->split[at.node * CRI_SPLIT_WIDTH + CRI_LEFT] = (double)first;
    t->split[at.node * CRI_SPLIT_WIDTH + CRI_RIGHT] = (double)(first + 1);
    t->nodes += 2;
    for (size_t side = 2; side-- > 0;)
        CR_TRY(push(w, (pending){ .node = first + side,
                                  .begin = side ? at.begin + left : at.begin,
                                  .end = side ? at.end : at.begin + left,
                                  .depth = at.depth + 1,
                                  .entries = w->g->buffer[at.into],
                                  .into = !at.into }));
done:
    return st;
}

static cr_status grow_node(growth *w)
{
    cr_status       st = CR_OK;
    const cri_grow *o = &w->g->o;
    size_t          column = SIZE_MAX;
    measure_node(w);
    bool may = !w->pure && w->at.depth < o->max_depth &&
               w->view.weight >= o->min_split * (1 - 1e-12) &&
               w->view.weight >= 2 * o->min_leaf * (1 - 1e-12);
    if (may) CR_TRY(search(w, &column));
    if (column != SIZE_MAX) {
        CR_TRY(decide(w, column));
        CR_TRY(part(w));
    } else if (w->leaf) {
        for (size_t i = w->at.begin; i < w->at.end; i++)
            w->leaf[w->at.entries[i].row] = (uint32_t)w->at.node;
    }
done:
    return st;
}

/* --- all ------------------------------------------------------------------------------------- */

/* The lists without the rows of weight 0, in the first buffer. */
static size_t keep_cases(growth *w)
{
    const cri_columns *c = w->g->columns;
    size_t             kept = 0;
    for (size_t j = 0; j < c->p; j++) {
        kept = 0;
        for (size_t i = 0; i < c->n; i++)
            if (w->cases[c->entries[j * c->n + i].row].w > 0)
                w->g->buffer[0][j * c->n + kept++] = c->entries[j * c->n + i];
    }
    return kept;
}

static bool has_zeros(const cri_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(cases[i].w > 0)) return true;
    return false;
}

static cr_status plant(growth *w)
{
    cr_status          st = CR_OK;
    cri_tree          *t = w->tree;
    const cri_columns *c = w->g->columns;
    pending            root = { .node = t->nodes, .end = c->n, .entries = c->entries };
    if (has_zeros(w->cases, c->n)) {
        root.end = keep_cases(w);
        root.entries = w->g->buffer[0];
        root.into = 1;
    }
    if (root.end == 0) CR_TRY(cr_fail(w->cx, CR_EDATA, "a tree needs a row of weight above 0"));
    CR_TRY(reserve_nodes(w->cx, t));
    memset(t->split + t->nodes * CRI_SPLIT_WIDTH, 0, CRI_SPLIT_WIDTH * sizeof(double));
    t->nodes++;
    CR_TRY(push(w, root));
done:
    return st;
}

cr_status cri_tree_grow(cr_ctx *cx, cri_grower *g, const cri_case *cases, cri_tree *tree,
                        uint32_t *opt_leaf)
{
    cr_status st = CR_OK;
    size_t    nodes = tree->nodes, pool = tree->pool;
    growth    w = { .cx = cx, .g = g, .cases = cases, .tree = tree, .leaf = opt_leaf };
    w.view = (cri_node_view){ .loss = g->o.loss,
                              .classes = g->o.classes,
                              .cases = cases,
                              .counts = g->counts,
                              .min_leaf = g->o.min_leaf };
    CR_TRY(plant(&w));
    while (w.waiting > 0) {
        w.at = w.stack[--w.waiting];
        CR_TRY(grow_node(&w));
        CR_TRY(cr_check_interrupt(cx));
    }
done:
    if (st != CR_OK) tree->nodes = nodes, tree->pool = pool;
    cr_free(cx, w.stack, w.room_stack, sizeof *w.stack);
    return st;
}
