/* nodes.c -- the life of a grown tree: freeing, saving, and the way from its root to a leaf. */
#include "grow.h"

#include <math.h>

CRI_RECORD_TABLE(, cri_tree_record, cri_tree, CRI_TREE_STATE);

void cri_tree_free(cr_ctx *cx, cri_tree *t)
{
    cr_free(cx, t->split, t->node_capacity, CRI_SPLIT_WIDTH * sizeof(double));
    cr_free(cx, t->stat, t->node_capacity, CRI_STAT_WIDTH * sizeof(double));
    cr_free(cx, t->value, t->node_capacity, t->width * sizeof(double));
    cr_free(cx, t->subset, t->pool_capacity, sizeof(double));
    *t = (cri_tree){ 0 };
}

cr_status cri_tree_trim(cr_ctx *cx, cri_tree *t)
{
    cr_status st = CR_OK;
    cri_tree  exact = { 0 };
    t->split_width = CRI_SPLIT_WIDTH;
    t->stat_width = CRI_STAT_WIDTH;
    CR_TRY(cri_record_copy(cx, cri_tree_record, t, &exact));
    CR_TRY(cri_record_allocate(cx, cri_tree_record, &exact));
    exact.node_capacity = exact.nodes;
    exact.pool_capacity = exact.pool;
    cri_tree_free(cx, t);
    *t = exact;
    exact = (cri_tree){ 0 };
done:
    cri_record_free(cx, cri_tree_record, &exact);
    return st;
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

void cri_tree_describe_splits(const cri_tree *t, cri_sheet *out)
{
    cri_put_text(out, "splits", t->bins ? "histogram" : "exact");
    if (t->bins) cri_put_count(out, "bins", t->bins);
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
    return !term->code || (size_t)s[CRI_SUBSET] - 1 + cri_subset_size(t, levels) <= t->pool;
}

bool cri_tree_fits(const cri_tree *t, const cr_design *d, size_t width)
{
    bool fits = t->nodes > 0 && t->width == width;
    for (size_t i = 0; fits && i < t->nodes; i++) fits = is_node_sound(t, d, i);
    return fits;
}
