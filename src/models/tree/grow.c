/* grow.c -- growing a tree, depth first: its nodes, and those that wait to be split. */
#include "grow_internal.h"
#include "base/parallel.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

/* --- memory ---------------------------------------------------------------------------------- */

static void lists_free(cr_ctx *cx, cri_lists *l, size_t p)
{
    for (size_t b = 0; b < 2; b++) cr_free(cx, l->buffer[b], l->n, p * sizeof(cri_entry));
    cr_free(cx, l->left, l->n, sizeof *l->left);
    cr_free(cx, l->cases, l->n, sizeof *l->cases);
    cr_free(cx, l->rows, l->n, sizeof *l->rows);
    *l = (cri_lists){ 0 };
}

/* Memory of lists of n entries; `own`: with cases and rows. */
static cr_status lists_new(cr_ctx *cx, size_t n, size_t p, bool own, cri_lists *out)
{
    cri_lists l = { .n = n };
    for (size_t b = 0; b < 2; b++) l.buffer[b] = cr_alloc(cx, n, p * sizeof(cri_entry));
    l.left = cr_alloc(cx, n, sizeof *l.left);
    if (own) {
        l.cases = cr_alloc(cx, n, sizeof *l.cases);
        l.rows = cr_alloc(cx, n, sizeof *l.rows);
    }
    if (!l.buffer[0] || !l.buffer[1] || !l.left || (own && (!l.cases || !l.rows))) {
        lists_free(cx, &l, p);
        return CR_ENOMEM;
    }
    *out = l;
    return CR_OK;
}

void cri_grower_free(cr_ctx *cx, cri_grower *g)
{
    if (!g) return;
    const cri_columns *c = g->columns;
    lists_free(cx, &g->lists, c->p);
    lists_free(cx, &g->small, c->p);
    cri_histograms_free(cx, &g->histograms);
    for (size_t b = 0; b < 2; b++) cr_free(cx, g->rows[b], c->n, sizeof(uint32_t));
    cr_free(cx, g->place, c->n, sizeof *g->place);
    cr_free(cx, g->goes, g->most_bins + 1, sizeof *g->goes);
    cr_free(cx, g->workspace, g->slots, g->workspace_size * sizeof(double));
    cr_free(cx, g->counts, g->o.classes + 1, sizeof(double));
    cr_free(cx, g->levels, g->most_levels + 1, sizeof(double));
    cr_free(cx, g->found, c->p, sizeof *g->found);
    cr_free(cx, g, 1, sizeof *g);
}

/* What histograms need; ranks where small nodes are to be split exactly. */
static cr_status reserve_bins(cr_ctx *cx, cri_grower *g)
{
    cr_status          st = CR_OK;
    const cri_columns *c = g->columns;
    for (size_t j = 0; j < c->p; j++)
        if (c->bins.count[j] > g->most_bins) g->most_bins = c->bins.count[j];
    CR_TRY(cri_histograms_new(cx, &c->bins, g->o.classes, g->o.max_depth, &g->histograms));
    g->goes = cr_alloc(cx, g->most_bins + 1, sizeof *g->goes);
    g->rows[0] = cr_alloc(cx, c->n, sizeof(uint32_t));
    g->rows[1] = cr_alloc(cx, c->n, sizeof(uint32_t));
    if (!g->goes || !g->rows[0] || !g->rows[1]) CR_TRY(CR_ENOMEM);
    if (c->ranks) CR_TRY(lists_new(cx, c->n < CRI_SMALL ? c->n : CRI_SMALL, c->p, true, &g->small));
done:
    return st;
}

static cr_status reserve_lists(cr_ctx *cx, cri_grower *g)
{
    cr_status          st = CR_OK;
    const cri_columns *c = g->columns;
    CR_TRY(lists_new(cx, c->n, c->p, false, &g->lists));
    if (c->n <= CRI_SMALL || g->o.max_depth < 2) goto done;
    g->place = cr_alloc(cx, c->n, sizeof *g->place);
    if (!g->place) CR_TRY(CR_ENOMEM);
    CR_TRY(lists_new(cx, CRI_SMALL, c->p, true, &g->small));
done:
    return st;
}

cr_status cri_grower_new(cr_ctx *cx, const cri_columns *c, const cri_grow *o, cri_grower **out)
{
    cr_status   st = CR_OK;
    cri_grower *g = cr_alloc(cx, 1, sizeof *g);
    if (!g) return CR_ENOMEM;
    g->columns = c;
    g->o = *o;
    g->slots = c->p < CRI_SLOTS ? c->p : CRI_SLOTS;
    g->workspace_size = cri_split_workspace_size(c, o->classes) + 1;
    for (size_t j = 0; j < c->p; j++)
        if (c->category[j] && c->distinct[j] > g->most_levels) g->most_levels = c->distinct[j];
    g->workspace = cr_alloc(cx, g->slots, g->workspace_size * sizeof(double));
    g->counts = cr_alloc(cx, o->classes + 1, sizeof(double));
    g->levels = cr_alloc(cx, g->most_levels + 1, sizeof(double));
    g->found = cr_alloc(cx, c->p, sizeof *g->found);
    if (!g->workspace || !g->counts || !g->levels || !g->found) CR_TRY(CR_ENOMEM);
    CR_TRY(c->bins.most ? reserve_bins(cx, g) : reserve_lists(cx, g));
    *out = g;
    g = NULL;
done:
    cri_grower_free(cx, g);
    return st;
}

/* --- the tree that grows --------------------------------------------------------------------- */

/* Room for two more nodes. */
static cr_status reserve_nodes(cr_ctx *cx, cri_tree *t)
{
    if (t->nodes + 2 <= t->node_capacity) return CR_OK;
    size_t   rows = t->node_capacity + t->node_capacity / 2 + 16;
    cri_tree more = { .node_capacity = rows,
                      .width = t->width,
                      .split = cr_alloc(cx, rows, CRI_SPLIT_WIDTH * sizeof(double)),
                      .stat = cr_alloc(cx, rows, CRI_STAT_WIDTH * sizeof(double)),
                      .value = cr_alloc(cx, rows, t->width * sizeof(double)) };
    bool     failed = !more.split || !more.stat || !more.value;
    if (!failed) {
        cri_tree old = { .node_capacity = t->node_capacity,
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
        t->node_capacity = rows;
        more = old;
    }
    cri_tree_free(cx, &more);
    return failed ? CR_ENOMEM : CR_OK;
}

static cr_status reserve_pool(cr_ctx *cx, cri_tree *t, size_t size)
{
    if (t->pool + size <= t->pool_capacity) return CR_OK;
    size_t  capacity = t->pool + size + t->pool / 2;
    double *more = cr_resize(cx, t->subset, t->pool_capacity, capacity, sizeof *more);
    if (!more) return CR_ENOMEM;
    t->subset = more;
    t->pool_capacity = capacity;
    return CR_OK;
}

cr_status cri_grow_push(cri_growth *w, cri_pending p)
{
    if (cri_array_grow(w->cx, &w->stack, w->waiting, &w->stack_capacity, sizeof *w->stack) != CR_OK)
        return CR_ENOMEM;
    w->stack[w->waiting++] = p;
    return CR_OK;
}

void cri_grow_store(cri_growth *w, size_t node, const cri_moments *m)
{
    cri_tree *t = w->tree;
    t->stat[node * CRI_STAT_WIDTH + CRI_WEIGHT] = m->weight;
    t->stat[node * CRI_STAT_WIDTH + CRI_LOSS] = m->loss;
    if (w->view.loss == CRI_TREE_SQUARES)
        t->value[node * t->width] = m->mean;
    else
        memcpy(t->value + node * t->width, w->g->counts, w->view.classes * sizeof(double));
}

cr_status cri_grow_children(cri_growth *w, size_t *out_first)
{
    cr_status st = CR_OK;
    cri_tree *t = w->tree;
    CR_TRY(reserve_nodes(w->cx, t));
    size_t first = t->nodes, node = w->at.node;
    memset(t->split + first * CRI_SPLIT_WIDTH, 0, 2 * CRI_SPLIT_WIDTH * sizeof(double));
    t->split[node * CRI_SPLIT_WIDTH + CRI_LEFT] = (double)first;
    t->split[node * CRI_SPLIT_WIDTH + CRI_RIGHT] = (double)(first + 1);
    t->nodes += 2;
    *out_first = first;
done:
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

/* Appends which of the n levels go left; those that no row has go with the heavier side. */
static cr_status store_subset(cr_ctx *cx, cri_tree *t, const double *levels, size_t n,
                              bool heavy_left)
{
    cr_status st = CR_OK;
    size_t    size = cri_subset_size(t, n), packed = t->packed > 1 ? t->packed : 1;
    CR_TRY(reserve_pool(cx, t, size));
    double *subset = t->subset + t->pool;
    for (size_t i = 0; i < size; i++) {
        uint64_t bits = 0;
        for (size_t k = i * packed; k < n && k < (i + 1) * packed; k++)
            bits |= (uint64_t)(levels[k] < 0 ? heavy_left : levels[k] == 1) << k % packed;
        subset[i] = (double)bits;
    }
    t->pool += size;
done:
    return st;
}

cr_status cri_grow_decide(cri_growth *w, size_t j, cri_split *s, double left_weight)
{
    cr_status          st = CR_OK;
    const cri_columns *c = w->g->columns;
    bool               heavy_left = left_weight > w->view.weight - left_weight;
    if (!s->gaps) s->gap_left = heavy_left;
    double *split = w->tree->split + w->at.node * CRI_SPLIT_WIDTH;
    split[CRI_COLUMN] = (double)j;
    split[CRI_GAP_LEFT] = s->gap_left;
    split[CRI_THRESHOLD] = c->category[j] ? 0 : threshold_of(c, j, s);
    split[CRI_SUBSET] = c->category[j] ? (double)(w->tree->pool + 1) : 0;
    if (c->category[j])
        CR_TRY(store_subset(w->cx, w->tree, w->g->levels, c->distinct[j], heavy_left));
done:
    return st;
}

/* The column with the best split; SIZE_MAX where there is none. */
static size_t best_column(const cri_growth *w)
{
    const cri_split *found = w->g->found;
    double           best = -INFINITY;
    size_t           column = SIZE_MAX;
    for (size_t j = 0; j < w->g->columns->p; j++)
        if (found[j].gain > best + w->view.tie) best = found[j].gain, column = j;
    return column;
}

static cr_status grow_node(cri_growth *w)
{
    cr_status       st = CR_OK;
    const cri_grow *o = &w->g->o;
    size_t          column = SIZE_MAX;
    if (w->at.way != CRI_WAY_SMALL && w->at.end - w->at.begin <= w->g->small.n) cri_grow_small(w);
    const cri_grow_way *way = w->at.way == CRI_WAY_BINS ? &cri_grow_by_bins : &cri_grow_by_lists;
    w->view.cases = w->at.way == CRI_WAY_SMALL ? w->g->small.cases : w->cases;
    CR_TRY(way->measure(w));
    bool late = o->opt_clock && cri_clock_over(o->opt_clock);
    bool may = !late && !w->pure && w->at.depth < o->max_depth &&
               w->view.weight >= o->min_split * (1 - 1e-12) &&
               w->view.weight >= 2 * o->min_leaf * (1 - 1e-12);
    if (may) {
        CR_TRY(way->search(w));
        column = best_column(w);
    }
    if (column != SIZE_MAX)
        CR_TRY(way->part(w, column));
    else
        way->end(w);
done:
    return st;
}

/* --- all ------------------------------------------------------------------------------------- */

/* The lists without the rows of weight 0, in the first buffer. */
static size_t keep_entries(cri_growth *w)
{
    const cri_columns *c = w->g->columns;
    cri_entry         *into = w->g->lists.buffer[0];
    size_t             kept = 0;
    for (size_t j = 0; j < c->p; j++) {
        kept = 0;
        for (size_t i = 0; i < c->n; i++)
            if (w->cases[c->entries[j * c->n + i].row].w > 0)
                into[j * c->n + kept++] = c->entries[j * c->n + i];
    }
    return kept;
}

static size_t keep_rows(cri_growth *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->g->columns->n; i++)
        if (w->cases[i].w > 0) w->g->rows[0][kept++] = (uint32_t)i;
    return kept;
}

/* acc [2]: how many weights are 0, and how many are not whole numbers. */
static void look_at_weights(void *arg, cri_range rows, double *acc)
{
    const cri_growth *w = arg;
    size_t            zeros = 0, broken = 0;
    for (size_t i = rows.begin; i < rows.end; i++) {
        double x = w->cases[i].w;
        zeros += !(x > 0);
        broken += x != (double)(int32_t)(x < 2e9 ? x : 0.5);
    }
    acc[0] += (double)zeros;
    acc[1] += (double)broken;
}

static cr_status plant(cri_growth *w)
{
    cr_status          st = CR_OK;
    cri_tree          *t = w->tree;
    cri_grower        *g = w->g;
    const cri_columns *c = g->columns;
    cri_pending        root = { .node = t->nodes, .end = c->n, .slot = CRI_NO_SLOT };
    double             weights[2];
    CR_TRY(cri_parallel_sum(w->cx, NULL, c->n, 8192, 2, look_at_weights, w, weights));
    bool zeros = weights[0] > 0, whole = !(weights[1] > 0);
    root.way = c->bins.most ? CRI_WAY_BINS : CRI_WAY_LISTS;
    if (c->bins.most) {
        cri_histograms_clear(&g->histograms);
        g->histograms.counted = g->histograms.counts && !whole;
        g->histograms.centre = 0;
    }
    root.entries = c->entries;
    if (zeros) {
        root.end = c->bins.most ? keep_rows(w) : keep_entries(w);
        root.entries = g->lists.buffer[0];
        root.rows = g->rows[0];
        root.into = 1;
    }
    if (root.end == 0)
        CR_TRY(cr_fail(w->cx, CR_EDATA, "a tree needs a row with a positive weight"));
    CR_TRY(reserve_nodes(w->cx, t));
    memset(t->split + t->nodes * CRI_SPLIT_WIDTH, 0, CRI_SPLIT_WIDTH * sizeof(double));
    t->nodes++;
    CR_TRY(cri_grow_push(w, root));
done:
    return st;
}

cr_status cri_tree_grow(cr_ctx *cx, cri_grower *g, const cri_case *cases, cri_tree *tree,
                        uint32_t *opt_leaf)
{
    cr_status  st = CR_OK;
    size_t     nodes = tree->nodes, pool = tree->pool;
    cri_growth w = { .cx = cx, .g = g, .cases = cases, .tree = tree, .leaf = opt_leaf };
    w.view = (cri_node_view){
        .loss = g->o.loss, .classes = g->o.classes, .counts = g->counts, .min_leaf = g->o.min_leaf
    };
    CR_TRY(plant(&w));
    tree->bins = g->columns->bins.most;
    if (pool == 0) tree->packed = CRI_LEVELS_PACKED;
    while (w.waiting > 0) {
        w.at = w.stack[--w.waiting];
        CR_TRY(grow_node(&w));
        CR_TRY(cr_check_interrupt(cx));
    }
done:
    if (st != CR_OK) tree->nodes = nodes, tree->pool = pool;
    cr_free(cx, w.stack, w.stack_capacity, sizeof *w.stack);
    return st;
}
