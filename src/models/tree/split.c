/* split.c -- searching the best split along a column.
 * A gain is  score(left) + score(right) - score(node),  score = S^2/W of numbers centred at the
 * node's mean, sum_k c_k^2 / W (gini), sum_k c_k log c_k - W log W (entropy): each is a constant
 * minus the loss. Along numbers the sums change by one row at a time; so do the squares, by (c +
 * w)^2 - c^2. */
#include "split.h"

#include <math.h>
#include <string.h>

static const cri_split no_split = { .gain = -INFINITY };

/* Two classes under gini are numbers 0 and 1, whose squares are half the loss. */
static bool as_numbers(const cri_node_view *v)
{
    return v->loss == CRI_TREE_SQUARES || (v->loss == CRI_TREE_GINI && v->classes == 2);
}

/* The better of two, the first where they tie. */
static void take(const cri_node_view *v, cri_split *best, double gain, uint32_t rank, uint32_t next,
                 bool gap_left)
{
    if (!(gain > best->gain + v->tie)) return;
    best->gain = gain;
    best->rank = rank;
    best->next = next;
    best->gap_left = gap_left;
}

static size_t count_known(const cri_entry *e, size_t n)
{
    while (n > 0 && e[n - 1].rank == CRI_GAP) n--;
    return n;
}

/* --- numbers, by sums ------------------------------------------------------------------------ */

/* S^2/W of both sides, whose S add up to 0: left weight w and sum s. */
static double sums_gain(const cri_node_view *v, double w, double s)
{
    double right = v->weight - w;
    return cri_split_is_large(v, w, right) ? s * s * v->weight / (w * right) : -INFINITY;
}

static cri_split split_by_sums(const cri_node_view *v, const cri_entry *e, size_t n)
{
    size_t    known = count_known(e, n);
    cri_split best = no_split;
    double    w = 0, s = 0, gap_w = 0, gap_s = 0, factor = v->loss == CRI_TREE_GINI ? 2 : 1;
    for (size_t i = known; i < n; i++) {
        const cri_case *c = &v->cases[e[i].row];
        gap_w += c->w;
        gap_s += c->w * (c->y - v->mean);
    }
    for (size_t i = 0; i < known; i++) {
        const cri_case *c = &v->cases[e[i].row];
        w += c->w;
        s += c->w * (c->y - v->mean);
        if (i + 1 < n && e[i + 1].rank == e[i].rank) continue;
        if (i + 1 == n) break;
        take(v, &best, factor * sums_gain(v, w, s), e[i].rank, e[i + 1].rank, false);
        if (known < n && i + 1 < known)
            take(v, &best, factor * sums_gain(v, w + gap_w, s + gap_s), e[i].rank, e[i + 1].rank,
                 true);
    }
    best.gaps = known < n;
    return best;
}

/* --- numbers, by classes --------------------------------------------------------------------- */

double cri_entropy_score(const double *c, size_t K, double w)
{
    double sum = 0;
    for (size_t k = 0; k < K; k++) sum += c[k] > 0 ? c[k] * log(c[k]) : 0;
    return w > 0 ? sum - w * log(w) : 0;
}

double cri_gini_score(const double *c, size_t K, double w)
{
    double sum = 0;
    for (size_t k = 0; k < K; k++) sum += c[k] * c[k];
    return w > 0 ? sum / w : 0;
}

/* Left and right counts with their squares; gap [K] those of the gaps, and products with them. */
typedef struct tally {
    double *left, *right, *gap, *sum; /* [K] each; sum is workspace */
    double  w, gap_w, left2, right2, gap2, left_gap, right_gap;
} tally;

/* Weight w of class k goes from the right to the left. */
static void move_weight(tally *t, size_t k, double w)
{
    t->left2 += w * (2 * t->left[k] + w);
    t->right2 -= w * (2 * t->right[k] - w);
    t->left_gap += w * t->gap[k];
    t->right_gap -= w * t->gap[k];
    t->left[k] += w;
    t->right[k] -= w;
    t->w += w;
}

/* The score with the gaps on the right, where they are, or moved to the left. */
static double tally_gain(const cri_node_view *v, tally *t, bool gap_left)
{
    double left = t->w + (gap_left ? t->gap_w : 0), right = v->weight - left;
    if (!cri_split_is_large(v, left, right)) return -INFINITY;
    if (v->loss == CRI_TREE_GINI) {
        double l = t->left2 + (gap_left ? 2 * t->left_gap + t->gap2 : 0);
        double r = t->right2 + (gap_left ? t->gap2 - 2 * t->right_gap : 0);
        return l / left + r / right - v->base;
    }
    double gain = -v->base;
    for (size_t side = 0; side < 2; side++) {
        double sign = side ? -1 : 1;
        for (size_t k = 0; k < v->classes; k++)
            t->sum[k] = (side ? t->right : t->left)[k] + (gap_left ? sign * t->gap[k] : 0);
        gain += cri_entropy_score(t->sum, v->classes, side ? right : left);
    }
    return gain;
}

static tally begin_tally(size_t K, double *workspace)
{
    memset(workspace, 0, 4 * K * sizeof(double));
    return (tally){ .left = workspace,
                    .right = workspace + K,
                    .gap = workspace + 2 * K,
                    .sum = workspace + 3 * K };
}

/* All rows on the right; the gaps are counted. */
static void fill_right(const cri_node_view *v, tally *t)
{
    for (size_t k = 0; k < v->classes; k++) {
        t->right[k] = v->counts[k];
        t->right2 += t->right[k] * t->right[k];
        t->gap2 += t->gap[k] * t->gap[k];
        t->right_gap += t->right[k] * t->gap[k];
    }
}

static cri_split split_by_classes(const cri_node_view *v, const cri_entry *e, size_t n,
                                  double *workspace)
{
    size_t    known = count_known(e, n);
    cri_split best = no_split;
    tally     t = begin_tally(v->classes, workspace);
    for (size_t i = known; i < n; i++) {
        const cri_case *c = &v->cases[e[i].row];
        t.gap[(size_t)c->y] += c->w;
        t.gap_w += c->w;
    }
    fill_right(v, &t);
    for (size_t i = 0; i < known; i++) {
        const cri_case *c = &v->cases[e[i].row];
        move_weight(&t, (size_t)c->y, c->w);
        if (i + 1 < n && e[i + 1].rank == e[i].rank) continue;
        if (i + 1 == n) break;
        take(v, &best, tally_gain(v, &t, false), e[i].rank, e[i + 1].rank, false);
        if (known < n && i + 1 < known)
            take(v, &best, tally_gain(v, &t, true), e[i].rank, e[i + 1].rank, true);
    }
    best.gaps = known < n;
    return best;
}

cri_split cri_split_numbers(const cri_node_view *v, const cri_entry *e, size_t n, double *workspace)
{
    return as_numbers(v) ? split_by_sums(v, e, n) : split_by_classes(v, e, n, workspace);
}

/* --- numbers, by cells ----------------------------------------------------------------------- */

/* The first bin from `bin` on that has rows; that of gaps, c->bins, where none has. */
static size_t next_bin(const cri_node_view *v, const cri_cells *c, size_t bin)
{
    while (bin < c->bins && cri_cell_is_empty(c, bin, cri_cell_weight(c, v, bin))) bin++;
    return bin;
}

/* Weight and sum about the node's mean; of two classes, of the numbers 0 and 1. */
static void sum_cell(const cri_node_view *v, const cri_cells *c, size_t bin, double *w, double *s)
{
    const double *cell = c->sums + bin * c->width;
    bool          numbers = v->loss == CRI_TREE_SQUARES;
    *w = numbers ? cell[0] : cell[0] + cell[1];
    *s = cell[1] - (numbers ? v->mean - c->centre : v->mean) * *w;
}

static cri_split sum_cells(const cri_node_view *v, const cri_cells *c)
{
    cri_split best = no_split;
    double    w = 0, s = 0, gap_w, gap_s, more_w, more_s, factor = v->loss == CRI_TREE_GINI ? 2 : 1;
    size_t    bin = next_bin(v, c, 0), next;
    sum_cell(v, c, c->bins, &gap_w, &gap_s);
    best.gaps = !cri_cell_is_empty(c, c->bins, gap_w);
    for (; bin < c->bins; bin = next) {
        sum_cell(v, c, bin, &more_w, &more_s);
        w += more_w;
        s += more_s;
        next = next_bin(v, c, bin + 1);
        if (next == c->bins && !best.gaps) break;
        uint32_t after = next == c->bins ? CRI_GAP : (uint32_t)next;
        take(v, &best, factor * sums_gain(v, w, s), (uint32_t)bin, after, false);
        if (best.gaps && next < c->bins)
            take(v, &best, factor * sums_gain(v, w + gap_w, s + gap_s), (uint32_t)bin, after, true);
    }
    return best;
}

static cri_split tally_cells(const cri_node_view *v, const cri_cells *c, double *workspace)
{
    cri_split     best = no_split;
    tally         t = begin_tally(v->classes, workspace);
    const double *gap = c->sums + c->bins * c->width;
    size_t        bin = next_bin(v, c, 0), next;
    t.gap_w = cri_cell_weight(c, v, c->bins);
    best.gaps = !cri_cell_is_empty(c, c->bins, t.gap_w);
    memcpy(t.gap, gap, v->classes * sizeof(double));
    fill_right(v, &t);
    for (; bin < c->bins; bin = next) {
        const double *cell = c->sums + bin * c->width;
        for (size_t k = 0; k < v->classes; k++)
            if (cell[k] > 0) move_weight(&t, k, cell[k]);
        next = next_bin(v, c, bin + 1);
        if (next == c->bins && !best.gaps) break;
        uint32_t after = next == c->bins ? CRI_GAP : (uint32_t)next;
        take(v, &best, tally_gain(v, &t, false), (uint32_t)bin, after, false);
        if (best.gaps && next < c->bins)
            take(v, &best, tally_gain(v, &t, true), (uint32_t)bin, after, true);
    }
    return best;
}

cri_split cri_split_number_cells(const cri_node_view *v, const cri_cells *cells, double *workspace)
{
    return as_numbers(v) ? sum_cells(v, cells) : tally_cells(v, cells, workspace);
}

/* --- the node itself ------------------------------------------------------------------------- */

double cri_split_base(const cri_node_view *v)
{
    if (v->loss == CRI_TREE_SQUARES) return 0; /* centred */
    return v->loss == CRI_TREE_GINI ? cri_gini_score(v->counts, v->classes, v->weight)
                                    : cri_entropy_score(v->counts, v->classes, v->weight);
}

size_t cri_split_workspace_size(const cri_columns *columns, size_t classes)
{
    size_t D = classes ? classes + 1 : 2, most = 0;
    for (size_t j = 0; j < columns->p; j++)
        if (columns->category[j] && columns->distinct[j] > most) most = columns->distinct[j];
    return cri_level_workspace_size(most, D) + 4 * classes;
}
