/* neighbours.c -- building the tree of boxes. */
#include "neighbours_internal.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- order ----------------------------------------------------------------------------------- */

typedef struct builder {
    cr_neighbours *nb;
    cr_cmat        X;
    size_t         level; /* in hand */
} builder;

typedef struct ranked {
    double value;
    size_t index;
} ranked;

CRI_COMPARE_BY_TWO(compare_ranked, ranked, value, index);

/* By coordinate, then by index: no two points are equal. */
static bool comes_before(cr_cmat X, size_t j, size_t a, size_t b)
{
    double x = X.a[a * X.stride + j], y = X.a[b * X.stride + j];
    return x != y ? x < y : a < b;
}

static size_t median_of_three(cr_cmat X, size_t j, size_t a, size_t b, size_t c)
{
    if (comes_before(X, j, b, a)) {
        size_t held = a;
        a = b, b = held;
    }
    return comes_before(X, j, c, a) ? a : comes_before(X, j, b, c) ? b : c;
}

/* Hoare's selection: afterwards p[0..m) come before p[m..n) along coordinate j.  The places of the
 * three that give the pivot move about, so that no order of the data is slow. */
static void split_at(cr_cmat X, size_t j, size_t *p, size_t n, size_t m)
{
    size_t   begin = 0, end = n;
    uint64_t mix = 0x9E3779B97F4A7C15u;
    while (end - begin > 1) {
        size_t span = end - begin, at[3];
        for (size_t i = 0; i < 3; i++) {
            mix = mix * 6364136223846793005u + 1442695040888963407u;
            at[i] = p[begin + (size_t)((mix >> 33) % span)];
        }
        size_t pivot = median_of_three(X, j, at[0], at[1], at[2]), low = begin, high = end;
        for (size_t i = begin;
             i < high;) { /* [begin, low) before, then the pivot, [high, end) after */
            size_t held = p[i];
            if (comes_before(X, j, held, pivot))
                p[i++] = p[low], p[low++] = held;
            else if (held == pivot)
                i++;
            else
                p[i] = p[--high], p[high] = held;
        }
        if (m <= low)
            end = low;
        else
            begin = high;
        if (m == low || m == high) return;
    }
}

enum { APART = 4, WORTH_WHILE = 16384 }; /* levels split one by one; points, to share the work */

/* --- the tree -------------------------------------------------------------------------------- */

static size_t place_of(const cr_neighbours *nb, size_t level, size_t j)
{
    return nb->n * j >> level;
}

/* The box around the points of a node, and the least of their indices. */
static void measure_node(const builder *b, size_t node, size_t begin, size_t end)
{
    cr_neighbours *nb = b->nb;
    double        *low = nb->low + node * nb->d, *high = nb->high + node * nb->d;
    size_t         least = SIZE_MAX;
    for (size_t j = 0; j < nb->d; j++) low[j] = INFINITY, high[j] = -INFINITY;
    for (size_t i = begin; i < end; i++) {
        const double *x = b->X.a + nb->point[i] * b->X.stride;
        for (size_t j = 0; j < nb->d; j++) {
            low[j] = x[j] < low[j] ? x[j] : low[j];
            high[j] = x[j] > high[j] ? x[j] : high[j];
        }
        least = nb->point[i] < least ? nb->point[i] : least;
    }
    nb->least[node] = least;
}

/* Measures node j of a level and, above the leaves, halves it across its widest side. */
static void build_node(const builder *b, size_t level, size_t j)
{
    cr_neighbours *nb = b->nb;
    size_t         node = ((size_t)1 << level) - 1 + j, widest = 0;
    size_t         begin = place_of(nb, level, j), end = place_of(nb, level, j + 1);
    const double  *low = nb->low + node * nb->d, *high = nb->high + node * nb->d;
    measure_node(b, node, begin, end);
    if (level == nb->levels || nb->d == 1) return;
    for (size_t i = 1; i < nb->d; i++)
        if (high[i] - low[i] > high[widest] - low[widest]) widest = i;
    split_at(b->X, widest, nb->point + begin, end - begin,
             place_of(nb, level + 1, 2 * j + 1) - begin);
}

static void build_on_level(void *arg, size_t j)
{
    const builder *b = arg;
    build_node(b, b->level, j);
}

/* Node j of a level and all below it. */
static void build_below(void *arg, size_t j)
{
    const builder *b = arg;
    for (size_t down = 0; b->level + down <= b->nb->levels; down++)
        for (size_t i = 0; i < (size_t)1 << down; i++)
            build_node(b, b->level + down, (j << down) + i);
}

/* In one dimension all places are in order. */
static cr_status sort_line(cr_ctx *cx, builder *b)
{
    size_t  n = b->nb->n;
    ranked *all = cr_alloc(cx, n, sizeof *all);
    if (!all) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++) all[i] = (ranked){ b->X.a[i * b->X.stride], i };
    qsort(all, n, sizeof *all, compare_ranked);
    for (size_t i = 0; i < n; i++) b->nb->point[i] = all[i].index;
    cr_free(cx, all, n, sizeof *all);
    return CR_OK;
}

static void fill_leaf(void *arg, size_t g)
{
    const builder *b = arg;
    cr_neighbours *nb = b->nb;
    size_t         begin = cri_leaf_begin(nb, g), end = cri_leaf_begin(nb, g + 1);
    double        *lanes = nb->lanes + g * nb->d * CRI_LANES;
    for (size_t i = begin; i < end; i++) {
        const double *x = b->X.a + nb->point[i] * b->X.stride;
        memcpy(nb->rows + i * nb->d, x, nb->d * sizeof *x);
        for (size_t j = 0; j < nb->d; j++) lanes[j * CRI_LANES + (i - begin)] = x[j];
    }
}

cr_status cri_neighbours_run(cr_ctx *cx, size_t items, size_t blocks,
                             void (*body)(void *arg, size_t block), void *arg)
{
    if (items >= WORTH_WHILE) return cri_parallel_for(cx, NULL, blocks, body, arg);
    cr_status st = cr_check_interrupt(cx);
    for (size_t b = 0; b < blocks && st == CR_OK; b++) {
        body(arg, b);
        st = cr_check_interrupt(cx);
    }
    return st;
}

/* --- life ------------------------------------------------------------------------------------ */

static cr_status check_points(cr_ctx *cx, cr_cmat X)
{
    if (X.rows == 0 || X.cols == 0)
        return cr_fail(cx, CR_EARG, "neighbours: there is no point or no coordinate");
    for (size_t i = 0; i < X.rows; i++)
        for (size_t j = 0; j < X.cols; j++)
            if (!isfinite(X.a[i * X.stride + j]))
                return cr_fail(cx, CR_EDATA,
                               "neighbours: coordinate %zu of point %zu is not finite", j + 1,
                               i + 1);
    return CR_OK;
}

static void plan(cr_neighbours *nb, cr_cmat X, cr_norm norm)
{
    *nb = (cr_neighbours){ .n = X.rows, .d = X.cols, .norm = norm };
    nb->tree = X.cols <= CRI_TREE_DIMENSIONS;
    while (nb->tree && ((nb->n - 1) >> nb->levels) + 1 > CRI_LANES) nb->levels++;
    nb->leaves = nb->tree ? (size_t)1 << nb->levels : (nb->n - 1) / CRI_LANES + 1;
    nb->nodes = nb->tree ? 2 * nb->leaves - 1 : 0;
}

static cr_status allocate(cr_ctx *cx, cr_neighbours *nb)
{
    size_t cells, lanes, corners;
    if (!cri_mul(nb->n, nb->d, &cells) || !cri_mul(nb->leaves * CRI_LANES, nb->d, &lanes) ||
        !cri_mul(nb->nodes, nb->d, &corners))
        return cr_fail(cx, CR_ENOMEM, "neighbours: %zu points are too many", nb->n);
    nb->point = cr_alloc(cx, nb->n, sizeof *nb->point);
    nb->rows = cr_alloc(cx, cells, sizeof *nb->rows);
    nb->lanes = cr_alloc(cx, lanes, sizeof *nb->lanes);
    if (!nb->point || !nb->rows || !nb->lanes) return CR_ENOMEM;
    if (!nb->tree) return CR_OK;
    nb->least = cr_alloc(cx, nb->nodes, sizeof *nb->least);
    nb->low = cr_alloc(cx, corners, sizeof *nb->low);
    nb->high = cr_alloc(cx, corners, sizeof *nb->high);
    return nb->least && nb->low && nb->high ? CR_OK : CR_ENOMEM;
}

cr_status cr_neighbours_new(cr_ctx *cx, cr_cmat X, cr_norm norm, cr_neighbours **out)
{
    cr_status      st = CR_OK;
    cr_neighbours *nb = NULL;
    builder        b = { .X = X };
    CR_TRY(check_points(cx, X));
    nb = b.nb = cr_alloc(cx, 1, sizeof *nb);
    if (!nb) CR_TRY(CR_ENOMEM);
    plan(nb, X, norm);
    CR_TRY(allocate(cx, nb));
    for (size_t i = 0; i < nb->n; i++) nb->point[i] = i;
    if (nb->d == 1) CR_TRY(sort_line(cx, &b));
    for (; nb->tree && b.level < nb->levels && b.level < APART; b.level++)
        CR_TRY(cri_neighbours_run(cx, nb->n, (size_t)1 << b.level, build_on_level, &b));
    if (nb->tree) CR_TRY(cri_neighbours_run(cx, nb->n, (size_t)1 << b.level, build_below, &b));
    CR_TRY(cri_neighbours_run(cx, nb->n, nb->leaves, fill_leaf, &b));
    *out = nb;
    nb = NULL;
done:
    cr_neighbours_free(cx, nb);
    return st;
}

void cr_neighbours_free(cr_ctx *cx, cr_neighbours *nb)
{
    if (!nb) return;
    cr_free(cx, nb->point, nb->n, sizeof *nb->point);
    cr_free(cx, nb->rows, nb->n * nb->d, sizeof *nb->rows);
    cr_free(cx, nb->lanes, nb->leaves * CRI_LANES * nb->d, sizeof *nb->lanes);
    cr_free(cx, nb->least, nb->nodes, sizeof *nb->least);
    cr_free(cx, nb->low, nb->nodes * nb->d, sizeof *nb->low);
    cr_free(cx, nb->high, nb->nodes * nb->d, sizeof *nb->high);
    cr_free(cx, nb, 1, sizeof *nb);
}
