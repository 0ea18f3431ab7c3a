/* nodes.c -- the life of a grown tree: freeing, saving, and the way from its root to a leaf. */
#include "grow.h"

#include <math.h>

static const cri_member fields[] = {
    CRI_FIELD_COUNT(cri_tree, nodes),
    CRI_FIELD_COUNT(cri_tree, width),
    CRI_FIELD_COUNT(cri_tree, pool),
    CRI_FIELD_COUNT(cri_tree, split_width),
    CRI_FIELD_COUNT(cri_tree, stat_width),
    CRI_FIELD_MATRIX(cri_tree, split, nodes, split_width),
    CRI_FIELD_MATRIX(cri_tree, stat, nodes, stat_width),
    CRI_FIELD_MATRIX(cri_tree, value, nodes, width),
    CRI_FIELD_VECTOR(cri_tree, subset, pool),
    CRI_FIELD_LAST,
};

void cri_tree_free(cr_ctx *cx, cri_tree *t)
{
    cr_free(cx, t->split, t->room_nodes, CRI_SPLIT_WIDTH * sizeof(double));
    cr_free(cx, t->stat, t->room_nodes, CRI_STAT_WIDTH * sizeof(double));
    cr_free(cx, t->value, t->room_nodes, t->width * sizeof(double));
    cr_free(cx, t->subset, t->room_pool, sizeof(double));
    *t = (cri_tree){ 0 };
}

size_t cri_tree_find(const cri_tree *t, size_t root, const double *x)
{
    size_t node = root;
    while (!cri_is_leaf(t, node)) node = cri_tree_step(t, node, x);
    return node;
}

size_t cri_choose_bins(int splits, size_t bins, size_t n, size_t many)
{
    enum { AUTO, EXACT, HISTOGRAM };
    return splits == HISTOGRAM || (splits == AUTO && n > many) ? bins : 0;
}

cr_status cri_tree_describe_splits(cr_ctx *cx, const cri_tree *t, json_t *out)
{
    cr_status st = CR_OK;
    CR_TRY(cri_store_set(cx, out, "splits", json_string(t->bins ? "histogram" : "exact")));
    if (t->bins) CR_TRY(cri_store_set(cx, out, "bins", json_integer((json_int_t)t->bins)));
done:
    return st;
}

cr_status cri_tree_write(cr_ctx *cx, const cri_tree *tree, cri_store *store, json_t *out)
{
    cri_tree t = *tree;
    double   none = 0;
    t.split_width = CRI_SPLIT_WIDTH;
    t.stat_width = CRI_STAT_WIDTH;
    if (!t.subset) t.subset = &none;
    cr_status st = cri_store_set(cx, out, "bins", json_integer((json_int_t)t.bins));
    return st == CR_OK ? cri_record_write(cx, fields, &t, store, out) : st;
}

static bool is_index(double x, double least, double end)
{
    return x >= least && x < end && x == floor(x);
}

/* Children come after their parents, so that every way ends. */
static bool is_node_sound(const cri_tree *t, const cr_design *d, size_t node)
{
    const double *s = t->split + node * CRI_SPLIT_WIDTH;
    if (s[CRI_LEFT] == 0) return true;
    if (!is_index(s[CRI_LEFT], (double)node + 1, (double)t->nodes) ||
        !is_index(s[CRI_RIGHT], (double)node + 1, (double)t->nodes) ||
        !is_index(s[CRI_COLUMN], 0, (double)cr_design_terms(d)) ||
        !is_index(s[CRI_SUBSET], 0, (double)t->pool + 1))
        return false;
    const cri_design_term *term = &d->terms[(size_t)s[CRI_COLUMN]];
    size_t                 levels = d->columns[term->column].n_levels;
    if (term->code != (s[CRI_SUBSET] > 0)) return false;
    return !term->code || (size_t)s[CRI_SUBSET] - 1 + levels <= t->pool;
}

static bool is_sound(const cri_tree *t, const cr_design *d)
{
    bool sound = t->nodes > 0;
    for (size_t i = 0; sound && i < t->nodes; i++) sound = is_node_sound(t, d, i);
    for (size_t i = 0; sound && i < t->nodes; i++) sound = t->stat[i * CRI_STAT_WIDTH] >= 0;
    return sound;
}

/* Files of before there were histograms do not have it. */
static cr_status read_bins(cr_ctx *cx, const cri_store *store, const json_t *in, size_t *out)
{
    const json_t *bins = json_object_get(in, "bins");
    json_int_t    n = json_integer_value(bins);
    if (bins && (!json_is_integer(bins) || n < 0 || n > CRI_MOST_BINS))
        return cri_store_fail_values(cx, store, "the tree");
    *out = (size_t)n;
    return CR_OK;
}

cr_status cri_tree_read(cr_ctx *cx, const cri_store *store, const json_t *in,
                        const cr_design *design, size_t width, cri_tree *out)
{
    cr_status st = CR_OK;
    cri_tree  t = { 0 };
    CR_TRY(cri_record_read(cx, fields, store, in, &t));
    if (t.width != width || t.split_width != CRI_SPLIT_WIDTH || t.stat_width != CRI_STAT_WIDTH ||
        !is_sound(&t, design))
        CR_TRY(
            cr_fail(cx, CR_EDATA, "%s: the tree does not fit the design", cri_store_source(store)));
    t.room_nodes = t.nodes;
    t.room_pool = t.pool;
    CR_TRY(read_bins(cx, store, in, &t.bins));
    *out = t;
    t = (cri_tree){ 0 };
done:
    cri_record_free(cx, fields, &t);
    return st;
}
