/* prune.c -- weakest links, one after the other. */
#include "prune.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* --- the least of many numbers that change --------------------------------------------------- */

/* A tournament: game[1] is the least; number i is game[size + i]. */
typedef struct tournament {
    size_t  size;
    double *game; /* [2 size] */
} tournament;

static void set_number(tournament *t, size_t i, double x)
{
    size_t k = t->size + i;
    t->game[k] = x;
    for (k /= 2; k > 0; k /= 2) t->game[k] = fmin(t->game[2 * k], t->game[2 * k + 1]);
}

/* The first number that is the least. */
static size_t find_least(const tournament *t)
{
    size_t k = 1;
    while (k < t->size) k = t->game[2 * k] == t->game[1] ? 2 * k : 2 * k + 1;
    return k - t->size;
}

/* --- the path -------------------------------------------------------------------------------- */

typedef struct links {
    const cri_tree *tree;
    double         *below;  /* [nodes]: loss of the leaves below */
    double         *leaves; /* [nodes]: their number             */
    size_t         *parent; /* [nodes]; of the root itself       */
    tournament      weak;
    double          weight;
} links;

static double loss_of(const cri_tree *t, size_t node)
{
    return t->stat[node * CRI_STAT_WIDTH + CRI_LOSS];
}

/* What a leaf below the node is worth; nothing where that is rounding. */
static double strength(const links *l, size_t node)
{
    double gain = loss_of(l->tree, node) - l->below[node];
    if (gain < 1e-13 * loss_of(l->tree, 0)) return 0;
    return gain / l->weight / (l->leaves[node] - 1);
}

/* Children come after their parents. */
static void measure(links *l)
{
    const cri_tree *t = l->tree;
    for (size_t i = t->nodes; i-- > 0;) {
        l->below[i] = loss_of(t, i);
        l->leaves[i] = 1;
        if (cri_is_leaf(t, i)) continue;
        size_t a = cri_child(t, i, false), b = cri_child(t, i, true);
        l->below[i] = l->below[a] + l->below[b];
        l->leaves[i] = l->leaves[a] + l->leaves[b];
        l->parent[a] = l->parent[b] = i;
        set_number(&l->weak, i, strength(l, i));
    }
}

/* Takes the inner nodes below out of the game, but not those of nodes that collapsed before. */
static void forget_below(links *l, size_t node, size_t *stack)
{
    size_t n = 0;
    stack[n++] = node;
    while (n > 0) {
        size_t i = stack[--n];
        if (isinf(l->weak.game[l->weak.size + i])) continue;
        set_number(&l->weak, i, INFINITY);
        stack[n++] = cri_child(l->tree, i, false);
        stack[n++] = cri_child(l->tree, i, true);
    }
}

static void collapse(links *l, size_t node, size_t *stack)
{
    double loss = loss_of(l->tree, node) - l->below[node], fewer = l->leaves[node] - 1;
    forget_below(l, node, stack);
    for (size_t i = node;; i = l->parent[i]) {
        l->below[i] += loss;
        l->leaves[i] -= fewer;
        if (i != node) set_number(&l->weak, i, strength(l, i));
        if (i == 0) break;
    }
}

cr_status cri_prune_path(cr_ctx *cx, const cri_tree *tree, double *out_alpha)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = tree->nodes, size = 1, *stack = cr_scratch_index(&s, 2 * n + 2);
    links      l = { .tree = tree,
                     .below = cr_scratch_f64(&s, n),
                     .leaves = cr_scratch_f64(&s, n),
                     .parent = cr_scratch_index(&s, n),
                     .weight = tree->stat[CRI_WEIGHT] };
    double     alpha = 0;

    while (size < n) size *= 2;
    l.weak = (tournament){ size, cr_scratch_f64(&s, 2 * size) };
    CR_TRY(s.status);
    for (size_t i = 0; i < 2 * size; i++) l.weak.game[i] = INFINITY;
    for (size_t i = 0; i < n; i++) out_alpha[i] = INFINITY;
    l.parent[0] = 0;
    measure(&l);
    while (isfinite(l.weak.game[1])) {
        size_t node = find_least(&l.weak);
        alpha = fmax(alpha, l.weak.game[1]);
        out_alpha[node] = alpha;
        collapse(&l, node, stack);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the pruned tree ------------------------------------------------------------------------- */

typedef struct copying {
    const cri_tree *from;
    const double   *path;
    double          alpha;
    cri_tree       *into;
    size_t         *place; /* [nodes] where a node goes */
} copying;

/* Nodes that stay, in order, and their levels. */
static void count_nodes(copying *c)
{
    const cri_tree *t = c->from;
    for (size_t i = 0; i < t->nodes; i++) c->place[i] = SIZE_MAX;
    c->place[0] = 0;
    for (size_t i = 0; i < t->nodes; i++) {
        if (c->place[i] == SIZE_MAX) continue;
        c->place[i] = c->into->nodes++;
        if (cri_is_leaf(t, i) || c->path[i] <= c->alpha) continue;
        c->place[cri_child(t, i, false)] = c->place[cri_child(t, i, true)] = 0;
    }
}

static void copy_nodes(copying *c)
{
    const cri_tree *t = c->from;
    for (size_t i = 0; i < t->nodes; i++) {
        size_t at = c->place[i];
        if (at == SIZE_MAX) continue;
        double *split = c->into->split + at * CRI_SPLIT_WIDTH;
        memcpy(c->into->stat + at * CRI_STAT_WIDTH, t->stat + i * CRI_STAT_WIDTH,
               CRI_STAT_WIDTH * sizeof(double));
        memcpy(c->into->value + at * t->width, t->value + i * t->width, t->width * sizeof(double));
        if (cri_is_leaf(t, i) || c->path[i] <= c->alpha) continue;
        memcpy(split, t->split + i * CRI_SPLIT_WIDTH, CRI_SPLIT_WIDTH * sizeof(double));
        split[CRI_LEFT] = (double)c->place[cri_child(t, i, false)];
        split[CRI_RIGHT] = (double)c->place[cri_child(t, i, true)];
    }
}

cr_status cri_prune(cr_ctx *cx, const cri_tree *tree, const double *path, double alpha,
                    cri_tree *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_tree   t = {
          .width = tree->width, .pool = tree->pool, .packed = tree->packed, .bins = tree->bins
    };
    copying c = { tree, path, alpha, &t, cr_scratch_index(&s, tree->nodes) };

    CR_TRY(s.status);
    count_nodes(&c);
    t.split = cr_alloc(cx, t.nodes, CRI_SPLIT_WIDTH * sizeof(double));
    t.stat = cr_alloc(cx, t.nodes, CRI_STAT_WIDTH * sizeof(double));
    t.value = cr_alloc(cx, t.nodes, t.width * sizeof(double));
    t.subset = cr_alloc(cx, t.pool, sizeof(double));
    t.node_capacity = t.nodes;
    t.pool_capacity = t.pool;
    if (!t.split || !t.stat || !t.value || !t.subset) CR_TRY(CR_ENOMEM);
    copy_nodes(&c);
    if (t.pool) memcpy(t.subset, tree->subset, t.pool * sizeof(double));
    *out = t;
    t = (cri_tree){ 0 };
done:
    cri_tree_free(cx, &t);
    cr_scratch_end(&s);
    return st;
}
