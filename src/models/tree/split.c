/* split.c -- searching the best split along a column.
 * A gain is  score(left) + score(right) - score(node),  score = S^2/W of numbers centred at the
 * node's mean, sum_k c_k^2 / W (gini), sum_k c_k log c_k - W log W (entropy): each is a constant
 * minus the loss. Along numbers the sums change by one row at a time; so do the squares, by (c +
 * w)^2 - c^2. */
#include "split.h"

#include <math.h>
#include <string.h>

enum { EXHAUSTIVE = 8 }; /* levels of which all subsets are tried */

static const cri_split no_split = { .gain = -INFINITY };

/* Two classes under gini are numbers 0 and 1, whose squares are half the loss. */
static bool as_numbers(const cri_node_view *v)
{
    return v->loss == CRI_TREE_SQUARES || (v->loss == CRI_TREE_GINI && v->classes == 2);
}

static bool is_large(const cri_node_view *v, double left, double right)
{
    double least = v->min_leaf * (1 - 1e-12);
    return left > 0 && right > 0 && left >= least && right >= least;
}

/* The better of two, the first where they tie. */
static void take(const cri_node_view *v, cri_split *best, double gain, const cri_entry *e, size_t i,
                 size_t n, bool gap_left)
{
    if (!(gain > best->gain + v->tie)) return;
    best->gain = gain;
    best->rank = e[i].rank;
    best->next = i + 1 < n ? e[i + 1].rank : CRI_GAP;
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
    return is_large(v, w, right) ? s * s * v->weight / (w * right) : -INFINITY;
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
        take(v, &best, factor * sums_gain(v, w, s), e, i, n, false);
        if (known < n && i + 1 < known)
            take(v, &best, factor * sums_gain(v, w + gap_w, s + gap_s), e, i, n, true);
    }
    best.gaps = known < n;
    return best;
}

/* --- numbers, by classes --------------------------------------------------------------------- */

static double entropy_score(const double *c, size_t K, double w)
{
    double sum = 0;
    for (size_t k = 0; k < K; k++) sum += c[k] > 0 ? c[k] * log(c[k]) : 0;
    return w > 0 ? sum - w * log(w) : 0;
}

static double gini_score(const double *c, size_t K, double w)
{
    double sum = 0;
    for (size_t k = 0; k < K; k++) sum += c[k] * c[k];
    return w > 0 ? sum / w : 0;
}

/* Left and right counts with their squares; gap [K] those of the gaps, and products with them. */
typedef struct tally {
    double *left, *right, *gap, *sum; /* [K] each; sum is room */
    double  w, gap_w, left2, right2, gap2, left_gap, right_gap;
} tally;

static void move_row(tally *t, const cri_case *c)
{
    size_t k = (size_t)c->y;
    t->left2 += c->w * (2 * t->left[k] + c->w);
    t->right2 -= c->w * (2 * t->right[k] - c->w);
    t->left_gap += c->w * t->gap[k];
    t->right_gap -= c->w * t->gap[k];
    t->left[k] += c->w;
    t->right[k] -= c->w;
    t->w += c->w;
}

/* The score with the gaps on the right, where they are, or moved to the left. */
static double tally_gain(const cri_node_view *v, tally *t, bool gap_left)
{
    double left = t->w + (gap_left ? t->gap_w : 0), right = v->weight - left;
    if (!is_large(v, left, right)) return -INFINITY;
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
        gain += entropy_score(t->sum, v->classes, side ? right : left);
    }
    return gain;
}

static cri_split split_by_classes(const cri_node_view *v, const cri_entry *e, size_t n,
                                  double *room)
{
    size_t    known = count_known(e, n), K = v->classes;
    cri_split best = no_split;
    tally     t = { .left = room, .right = room + K, .gap = room + 2 * K, .sum = room + 3 * K };
    memset(room, 0, 4 * K * sizeof(double));
    for (size_t i = known; i < n; i++) {
        const cri_case *c = &v->cases[e[i].row];
        t.gap[(size_t)c->y] += c->w;
        t.gap_w += c->w;
    }
    for (size_t k = 0; k < K; k++) {
        t.right[k] = v->counts[k];
        t.right2 += t.right[k] * t.right[k];
        t.gap2 += t.gap[k] * t.gap[k];
        t.right_gap += t.right[k] * t.gap[k];
    }
    for (size_t i = 0; i < known; i++) {
        move_row(&t, &v->cases[e[i].row]);
        if (i + 1 < n && e[i + 1].rank == e[i].rank) continue;
        if (i + 1 == n) break;
        take(v, &best, tally_gain(v, &t, false), e, i, n, false);
        if (known < n && i + 1 < known) take(v, &best, tally_gain(v, &t, true), e, i, n, true);
    }
    best.gaps = known < n;
    return best;
}

cri_split cri_split_numbers(const cri_node_view *v, const cri_entry *e, size_t n, double *room)
{
    return as_numbers(v) ? split_by_sums(v, e, n) : split_by_classes(v, e, n, room);
}

/* --- categories ------------------------------------------------------------------------------ */

/* Rows of width D: the weight, then the centred sum or the counts.  One for each level, and one for
 * the gaps. */
typedef struct level_table {
    const cri_node_view *v;
    size_t               D, present;
    double              *rows;         /* [levels + 1 x D]                */
    double              *order;        /* [levels]: those that rows have  */
    double              *left, *right; /* [D] room                        */
    const double        *gap;          /* [D]                             */
} level_table;

static double score(const cri_node_view *v, const double *row)
{
    if (v->loss == CRI_TREE_SQUARES) return row[0] > 0 ? row[1] * row[1] / row[0] : 0;
    return v->loss == CRI_TREE_GINI ? gini_score(row + 1, v->classes, row[0])
                                    : entropy_score(row + 1, v->classes, row[0]);
}

static void fill_table(level_table *t, const cri_entry *e, size_t n, size_t levels)
{
    const cri_node_view *v = t->v;
    memset(t->rows, 0, (levels + 1) * t->D * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        const cri_case *c = &v->cases[e[i].row];
        double         *row = t->rows + (e[i].rank == CRI_GAP ? levels : e[i].rank) * t->D;
        row[0] += c->w;
        if (v->loss == CRI_TREE_SQUARES)
            row[1] += c->w * (c->y - v->mean);
        else
            row[1 + (size_t)c->y] += c->w;
    }
    t->gap = t->rows + levels * t->D;
    for (size_t k = 0; k < levels; k++)
        if (t->rows[k * t->D] > 0) t->order[t->present++] = (double)k;
}

/* The mean of a level, or its share of the second class. */
static double mean_of(const level_table *t, double level)
{
    const double *row = t->rows + (size_t)level * t->D;
    return row[t->D == 2 ? 1 : 2] / row[0];
}

/* Levels by mean, then by number (Shell's sort). */
static void sort_levels(level_table *t)
{
    for (size_t step = t->present / 2; step > 0; step /= 2)
        for (size_t i = step; i < t->present; i++) {
            double level = t->order[i], mean = mean_of(t, level);
            size_t j = i;
            for (; j >= step; j -= step) {
                double other = t->order[j - step], m = mean_of(t, other);
                if (m < mean || (m == mean && other < level)) break;
                t->order[j] = other;
            }
            t->order[j] = level;
        }
}

/* The gain when the set bits of `mask`, or for a long list the first `mask` levels, go left. */
static double subset_gain(level_table *t, size_t mask, bool bits, bool gap_left)
{
    memset(t->left, 0, t->D * sizeof(double));
    memset(t->right, 0, t->D * sizeof(double));
    for (size_t i = 0; i < t->present; i++) {
        bool    left = bits ? mask >> i & 1 : i + 1 == mask;
        double *side = left ? t->left : t->right, *row = t->rows + (size_t)t->order[i] * t->D;
        for (size_t k = 0; k < t->D; k++) side[k] += row[k];
    }
    for (size_t k = 0; k < t->D; k++) (gap_left ? t->left : t->right)[k] += t->gap[k];
    if (!is_large(t->v, t->left[0], t->right[0])) return -INFINITY;
    return score(t->v, t->left) + score(t->v, t->right) - t->v->base;
}

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

/* mask = how many of the ordered levels go left. */
static level_choice scan_order(level_table *t)
{
    level_choice best = { .gain = -INFINITY };
    bool         gaps = t->gap[0] > 0;
    sort_levels(t);
    memset(t->left, 0, t->D * sizeof(double));
    for (size_t i = 0; i < t->present; i++) {
        const double *row = t->rows + (size_t)t->order[i] * t->D;
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
            if (is_large(t->v, l[0], r[0]))
                prefer(t, &best, score(t->v, l) + score(t->v, r) - t->v->base, i + 1, gap_left);
            for (size_t k = 0; gap_left && k < t->D; k++) l[k] -= t->gap[k];
        }
    }
    return best;
}

/* All subsets that leave out the last level (which side is which does not matter, but for the
 * gaps), or one level against the rest. */
static level_choice scan_subsets(level_table *t, bool bits)
{
    level_choice best = { .gain = -INFINITY };
    size_t       most = bits ? ((size_t)1 << (t->present - 1)) - 1 : t->present;
    bool         gaps = t->gap[0] > 0;
    for (size_t mask = 1; mask <= most; mask++)
        for (unsigned gap_left = 0; gap_left <= gaps; gap_left++)
            prefer(t, &best, subset_gain(t, mask, bits, gap_left), mask, gap_left);
    if (gaps && bits) { /* all levels against the gaps */
        size_t all = ((size_t)1 << t->present) - 1;
        prefer(t, &best, subset_gain(t, all, true, false), all, false);
    }
    return best;
}

double cri_split_base(const cri_node_view *v)
{
    if (v->loss == CRI_TREE_SQUARES) return 0; /* centred */
    return v->loss == CRI_TREE_GINI ? gini_score(v->counts, v->classes, v->weight)
                                    : entropy_score(v->counts, v->classes, v->weight);
}

size_t cri_split_room(const cri_columns *columns, size_t classes)
{
    size_t D = classes ? classes + 1 : 2, most = 0;
    for (size_t j = 0; j < columns->p; j++)
        if (columns->category[j] && columns->distinct[j] > most) most = columns->distinct[j];
    return (most + 3) * D + most + 4 * classes;
}

cri_split cri_split_levels(const cri_node_view *v, const cri_entry *e, size_t n, size_t levels,
                           double *room, double *opt_left)
{
    level_table  t = { .v = v, .D = v->classes ? v->classes + 1 : 2, .rows = room };
    cri_split    best = no_split;
    level_choice choice;
    t.left = t.rows + (levels + 1) * t.D;
    t.right = t.left + t.D;
    t.order = t.right + t.D;
    fill_table(&t, e, n, levels);
    if (t.present == 0) return best;
    bool ordered = v->classes <= 2, bits = t.present <= EXHAUSTIVE;
    choice = ordered ? scan_order(&t) : scan_subsets(&t, bits);
    best.gain = choice.gain;
    best.gap_left = choice.gap_left;
    best.gaps = t.gap[0] > 0;
    if (!opt_left) return best;
    for (size_t k = 0; k < levels; k++) opt_left[k] = -1;
    for (size_t i = 0; i < t.present; i++) {
        bool left = ordered ? i < choice.mask : bits ? choice.mask >> i & 1 : i + 1 == choice.mask;
        opt_left[(size_t)t.order[i]] = left;
    }
    return best;
}
