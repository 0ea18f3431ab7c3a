/* split_levels.c -- searching the best split along a category.
 * The levels of a node are put in the order of their mean, which holds the best subset of numbers
 * and of two classes; of more classes all subsets of a few levels are tried, of many one level
 * against the rest.  Only the levels that the node has cost anything: O(n + k log k) for k of them. */
#include "split.h"

#include <math.h>
#include <string.h>

enum { EXHAUSTIVE = 8 }; /* levels of which all subsets are tried */

typedef struct ordered_level {
    double mean, level;
} ordered_level;

/* Rows of width D: the weight, then the centred sum or the counts.  One for each level, and one for
 * the gaps; those of levels that the node does not have are 0, before and after. */
typedef struct level_table {
    const cri_node_view *v;
    size_t               D, levels, present;
    double              *rows;          /* [levels + 1 x D]               */
    ordered_level       *order, *other; /* [levels]: those that rows have */
    double              *left, *right;  /* [D] workspace                  */
    double              *all;           /* [D] sums of the levels         */
    double              *gap;           /* [D]                            */
} level_table;

size_t cri_level_workspace_size(size_t levels, size_t D) { return (levels + 4) * D + 4 * levels; }

static level_table begin_table(const cri_node_view *v, size_t levels, double *workspace)
{
    level_table t = { .v = v, .D = v->classes ? v->classes + 1 : 2, .levels = levels };
    t.rows = workspace + 4 * v->classes; /* what comes before is for numbers */
    t.gap = t.rows + levels * t.D;
    t.left = t.gap + t.D;
    t.right = t.left + t.D;
    t.all = t.right + t.D;
    t.order = (ordered_level *)(t.all + t.D);
    t.other = t.order + levels;
    return t;
}

/* All 0 again: a category of other levels has its rows where this one has something else. */
static void end_table(level_table *t)
{
    for (size_t i = 0; i < t->present; i++)
        memset(t->rows + (size_t)t->order[i].level * t->D, 0, t->D * sizeof(double));
    memset(t->gap, 0, 4 * t->D * sizeof(double)); /* left, right and all follow */
    memset(t->order, 0, t->present * sizeof *t->order);
    memset(t->other, 0, t->present * sizeof *t->other);
}

/* --- what the levels add up to --------------------------------------------------------------- */

static void add_entries(level_table *t, const cri_entry *e, size_t n)
{
    const cri_node_view *v = t->v;
    for (size_t i = 0; i < n; i++) {
        const cri_case *c = &v->cases[e[i].row];
        bool            gap = e[i].rank == CRI_GAP;
        double         *row = gap ? t->gap : t->rows + e[i].rank * t->D;
        if (!gap && row[0] == 0) t->order[t->present++].level = e[i].rank;
        row[0] += c->w;
        if (v->loss == CRI_TREE_SQUARES)
            row[1] += c->w * (c->y - v->mean);
        else
            row[1 + (size_t)c->y] += c->w;
    }
}

static void add_cells(level_table *t, const cri_cells *c)
{
    for (size_t k = 0; k <= c->bins; k++) {
        const double *cell = c->sums + k * c->width;
        double        weight = cri_cell_weight(c, t->v, k), *row = t->rows + k * t->D;
        if (cri_cell_is_empty(c, k, weight)) continue;
        if (k < c->bins) t->order[t->present++].level = (double)k;
        row[0] = weight;
        if (t->v->loss == CRI_TREE_SQUARES)
            row[1] = cell[1] - (t->v->mean - c->centre) * weight;
        else
            memcpy(row + 1, cell, c->width * sizeof(double));
    }
}

static double score(const cri_node_view *v, const double *row)
{
    if (v->loss == CRI_TREE_SQUARES) return row[0] > 0 ? row[1] * row[1] / row[0] : 0;
    return v->loss == CRI_TREE_GINI ? cri_gini_score(row + 1, v->classes, row[0])
                                    : cri_entropy_score(row + 1, v->classes, row[0]);
}

/* --- order ----------------------------------------------------------------------------------- */

static bool comes_first(const ordered_level *a, const ordered_level *b)
{
    return a->mean < b->mean || (a->mean == b->mean && a->level < b->level);
}

/* a [middle] and the rest up to end, both in order, into `into`. */
static void merge(const ordered_level *a, size_t middle, size_t end, ordered_level *into)
{
    for (size_t i = 0, l = 0, r = middle; i < end; i++) {
        bool left = l < middle && (r == end || !comes_first(&a[r], &a[l]));
        into[i] = left ? a[l++] : a[r++];
    }
}

/* Levels by mean, then by number. */
static void sort_levels(level_table *t)
{
    for (size_t step = 1; step < t->present; step *= 2) {
        for (size_t at = 0; at < t->present; at += 2 * step) {
            size_t rest = t->present - at, end = rest < 2 * step ? rest : 2 * step;
            merge(t->order + at, end < step ? end : step, end, t->other + at);
        }
        ordered_level *swap = t->order;
        t->order = t->other;
        t->other = swap;
    }
}

/* By the mean of a level, or its share of the second class; or by its number alone. */
static void order_levels(level_table *t, bool by_mean)
{
    for (size_t i = 0; i < t->present; i++) {
        const double *row = t->rows + (size_t)t->order[i].level * t->D;
        t->order[i].mean = by_mean ? row[t->D == 2 ? 1 : 2] / row[0] : 0;
    }
    sort_levels(t);
}

/* --- the searches ---------------------------------------------------------------------------- */

typedef struct level_choice {
    double gain;
    size_t mask;
    bool   gap_left;
} level_choice;

static void prefer(const level_table *t, level_choice *best, double gain, size_t mask,
                   bool gap_left)
{
    if (gain > best->gain + t->v->tie) *best = (level_choice){ gain, mask, gap_left };
}

/* What left and right take from the loss, the gaps added to one of them. */
static double sides_gain(level_table *t, bool gap_left)
{
    for (size_t k = 0; k < t->D; k++) (gap_left ? t->left : t->right)[k] += t->gap[k];
    if (!cri_split_is_large(t->v, t->left[0], t->right[0])) return -INFINITY;
    return score(t->v, t->left) + score(t->v, t->right) - t->v->base;
}

/* The gain when the set bits of `mask` go left. */
static double subset_gain(level_table *t, size_t mask, bool gap_left)
{
    memset(t->left, 0, t->D * sizeof(double));
    memset(t->right, 0, t->D * sizeof(double));
    for (size_t i = 0; i < t->present; i++) {
        double       *side = mask >> i & 1 ? t->left : t->right;
        const double *row = t->rows + (size_t)t->order[i].level * t->D;
        for (size_t k = 0; k < t->D; k++) side[k] += row[k];
    }
    return sides_gain(t, gap_left);
}

/* The gain when level number `at` of those present goes left, alone. */
static double single_gain(level_table *t, size_t at, bool gap_left)
{
    const double *row = t->rows + (size_t)t->order[at].level * t->D;
    memcpy(t->left, row, t->D * sizeof(double));
    for (size_t k = 0; k < t->D; k++) t->right[k] = t->all[k] - row[k];
    return sides_gain(t, gap_left);
}

/* mask = how many of the ordered levels go left. */
static level_choice scan_order(level_table *t)
{
    level_choice best = { .gain = -INFINITY };
    bool         gaps = t->gap[0] > 0;
    memset(t->left, 0, t->D * sizeof(double));
    for (size_t i = 0; i < t->present; i++) {
        const double *row = t->rows + (size_t)t->order[i].level * t->D;
        for (size_t k = 0; k < t->D; k++) t->left[k] += row[k];
        for (unsigned gap_left = 0; gap_left <= gaps; gap_left++) {
            double *l = t->left, *r = t->right;
            if (i + 1 == t->present && (gap_left || !gaps)) break;
            for (size_t k = 0; k < t->D; k++) {
                double total = k == 0                                        ? t->v->weight
                               : t->D == 2 && t->v->loss == CRI_TREE_SQUARES ? 0
                                                                             : t->v->counts[k - 1];
                if (gap_left) l[k] += t->gap[k];
                r[k] = total - l[k];
            }
            if (cri_split_is_large(t->v, l[0], r[0]))
                prefer(t, &best, score(t->v, l) + score(t->v, r) - t->v->base, i + 1, gap_left);
            for (size_t k = 0; gap_left && k < t->D; k++) l[k] -= t->gap[k];
        }
    }
    return best;
}

/* All subsets that leave out the last level (which side is which does not matter, but for the
 * gaps). */
static level_choice scan_subsets(level_table *t)
{
    level_choice best = { .gain = -INFINITY };
    size_t       all = ((size_t)1 << t->present) - 1, most = all / 2;
    bool         gaps = t->gap[0] > 0;
    for (size_t mask = 1; mask <= most; mask++)
        for (unsigned gap_left = 0; gap_left <= gaps; gap_left++)
            prefer(t, &best, subset_gain(t, mask, gap_left), mask, gap_left);
    if (gaps) prefer(t, &best, subset_gain(t, all, false), all, false); /* against the gaps */
    return best;
}

/* mask = 1 + the place of the level that goes left. */
static level_choice scan_singles(level_table *t)
{
    level_choice best = { .gain = -INFINITY };
    bool         gaps = t->gap[0] > 0;
    memset(t->all, 0, t->D * sizeof(double));
    for (size_t i = 0; i < t->present; i++)
        for (size_t k = 0; k < t->D; k++)
            t->all[k] += t->rows[(size_t)t->order[i].level * t->D + k];
    for (size_t i = 0; i < t->present; i++)
        for (unsigned gap_left = 0; gap_left <= gaps; gap_left++)
            prefer(t, &best, single_gain(t, i, gap_left), i + 1, gap_left);
    return best;
}

static cri_split search_table(level_table *t, double *opt_left)
{
    cri_split    best = { .gain = -INFINITY };
    level_choice choice;
    if (t->present == 0) return best;
    bool ordered = t->v->classes <= 2, bits = t->present <= EXHAUSTIVE;
    order_levels(t, ordered);
    choice = ordered ? scan_order(t) : bits ? scan_subsets(t) : scan_singles(t);
    best.gain = choice.gain;
    best.gap_left = choice.gap_left;
    best.gaps = t->gap[0] > 0;
    if (!opt_left) return best;
    for (size_t k = 0; k < t->levels; k++) opt_left[k] = -1;
    for (size_t i = 0; i < t->present; i++) {
        bool left = ordered ? i < choice.mask : bits ? choice.mask >> i & 1 : i + 1 == choice.mask;
        opt_left[(size_t)t->order[i].level] = left;
    }
    return best;
}

cri_split cri_split_levels(const cri_node_view *v, const cri_entry *e, size_t n, size_t levels,
                           double *workspace, double *opt_left)
{
    level_table t = begin_table(v, levels, workspace);
    add_entries(&t, e, n);
    cri_split best = search_table(&t, opt_left);
    end_table(&t);
    return best;
}

cri_split cri_split_level_cells(const cri_node_view *v, const cri_cells *cells, double *workspace,
                                double *opt_left)
{
    level_table t = begin_table(v, cells->bins, workspace);
    add_cells(&t, cells);
    cri_split best = search_table(&t, opt_left);
    end_table(&t);
    return best;
}
