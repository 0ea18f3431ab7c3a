/* layered_order.c -- few crossings between layers.
 * Down and up again, each layer is sorted by the medians of its neighbours in the layer before;
 * then neighbours change places while that helps; the best order met is kept.
 * Gansner, Koutsofios, North & Vo (1993), "A technique for drawing directed graphs", sec. 3; the
 * count of crossings: Barth, Juenger & Mutzel (2002). */
#include "layered_internal.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 24, PATIENCE = 6, MOST_SWAPS = 20 };

typedef struct ranked {
    double median; /* of the neighbours' places; -1: none, it stays where it is */
    size_t place, vertex;
} ranked;

static void sort_places(size_t *list, size_t n, const size_t *place)
{
    for (size_t i = 1; i < n; i++) {
        size_t v = list[i], k = i;
        for (; k > 0 && place[list[k - 1]] > place[v]; k--) list[k] = list[k - 1];
        list[k] = v;
    }
}

static void sort_lists(const cri_layers *g, const cri_lists *lists)
{
    for (size_t v = 0; v < g->n; v++)
        sort_places(lists->to + lists->begin[v], lists->begin[v + 1] - lists->begin[v], g->place);
}

void cri_layers_sort(cri_layers *g)
{
    sort_lists(g, &g->up);
    sort_lists(g, &g->down);
}

/* --- counting -------------------------------------------------------------------------------- */

/* Segments in the order of their upper ends: each crosses those before it that end further right.
 * A tree of counts over the lower places finds how many that are. */
static size_t crossings_below(const cri_layers *g, size_t layer, size_t *tree)
{
    size_t first = 1, total = 0, so_far = 0;
    while (first < g->size[layer + 1]) first *= 2;
    memset(tree, 0, 2 * first * sizeof *tree);
    for (size_t i = 0; i < g->size[layer]; i++) {
        size_t v = g->order[layer][i];
        for (size_t k = g->down.begin[v]; k < g->down.begin[v + 1]; k++, so_far++) {
            size_t at = g->place[g->down.to[k]] + first, not_right = tree[at];
            tree[at]++;
            for (; at > 1; at /= 2) {
                if (at % 2) not_right += tree[at - 1];
                tree[at / 2]++;
            }
            total += so_far - not_right;
        }
    }
    return total;
}

cr_status cri_layers_crossings(cr_scratch *s, const cri_layers *g, size_t *out)
{
    size_t most = 1;
    for (size_t l = 0; l < g->layers; l++)
        if (g->size[l] > most) most = g->size[l];
    size_t *tree = cr_scratch_index(s, 4 * most);
    if (s->status != CR_OK) return s->status;
    sort_lists(g, &g->down);
    *out = 0;
    for (size_t l = 0; l + 1 < g->layers; l++) *out += crossings_below(g, l, tree);
    return CR_OK;
}

/* --- sorting by medians ---------------------------------------------------------------------- */

/* Of an even number the middle two, weighed towards the side that is packed closer. */
static double median_place(const cri_layers *g, const cri_lists *to, size_t v)
{
    const size_t *list = to->to + to->begin[v];
    size_t        n = to->begin[v + 1] - to->begin[v], m = n / 2;
    if (n == 0) return -1;
    if (n % 2) return (double)g->place[list[m]];
    double a = (double)g->place[list[m - 1]], b = (double)g->place[list[m]];
    if (n == 2) return (a + b) / 2;
    double left = a - (double)g->place[list[0]], right = (double)g->place[list[n - 1]] - b;
    return left + right > 0 ? (a * right + b * left) / (left + right) : (a + b) / 2;
}

CRI_COMPARE_BY_TWO(by_median, ranked, median, place);

/* Those without neighbours keep their places, the others are sorted around them. */
static void sort_layer(cri_layers *g, size_t layer, bool from_above, bool flip, ranked *workspace)
{
    const cri_lists *to = from_above ? &g->up : &g->down;
    size_t          *order = g->order[layer], n = 0, next = 0;
    for (size_t i = 0; i < g->size[layer]; i++) {
        sort_places(to->to + to->begin[order[i]], to->begin[order[i] + 1] - to->begin[order[i]],
                    g->place);
        double m = median_place(g, to, order[i]);
        if (m >= 0) workspace[n++] = (ranked){ m, flip ? g->size[layer] - i : i, order[i] };
    }
    qsort(workspace, n, sizeof *workspace, by_median);
    for (size_t i = 0; i < g->size[layer]; i++) {
        if (to->begin[order[i]] < to->begin[order[i] + 1]) order[i] = workspace[next++].vertex;
        g->place[order[i]] = i;
    }
}

/* --- changing places ------------------------------------------------------------------------- */

/* Crossings of the segments of u with those of v, u being to the left; both lists sorted. */
static size_t crossings_of(const cri_layers *g, const cri_lists *to, size_t u, size_t v)
{
    size_t total = 0, k = to->begin[v];
    for (size_t i = to->begin[u]; i < to->begin[u + 1]; i++) {
        while (k < to->begin[v + 1] && g->place[to->to[k]] < g->place[to->to[i]]) k++;
        total += k - to->begin[v];
    }
    return total;
}

static bool swap_neighbours(cri_layers *g, size_t layer)
{
    bool    better = false;
    size_t *order = g->order[layer];
    for (size_t i = 0; i + 1 < g->size[layer]; i++) {
        size_t u = order[i], v = order[i + 1];
        size_t now = crossings_of(g, &g->up, u, v) + crossings_of(g, &g->down, u, v);
        size_t then = crossings_of(g, &g->up, v, u) + crossings_of(g, &g->down, v, u);
        if (then >= now) continue;
        order[i] = v, order[i + 1] = u;
        g->place[v] = i, g->place[u] = i + 1;
        better = true;
    }
    return better;
}

static void swap_all(cri_layers *g)
{
    bool better = true;
    for (size_t round = 0; better && round < MOST_SWAPS; round++) {
        better = false;
        for (size_t l = 0; l < g->layers; l++) {
            cri_layers_sort(g);
            better |= swap_neighbours(g, l);
        }
    }
}

/* --- the search ------------------------------------------------------------------------------ */

static void restore(cri_layers *g, const size_t *place)
{
    for (size_t v = 0; v < g->n; v++) {
        g->place[v] = place[v];
        g->order[g->layer[v]][place[v]] = v;
    }
    cri_layers_sort(g);
}

cr_status cri_layers_order(cr_scratch *s, cri_layers *g)
{
    cr_status  st = CR_OK;
    cr_scratch own = cr_scratch_begin(s->cx);
    size_t    *best_place = cr_scratch_index(&own, g->n), best, now, since = 0;
    ranked    *workspace = cr_scratch_bytes(&own, g->n, sizeof *workspace);
    CR_TRY(own.status);
    swap_all(g);
    CR_TRY(cri_layers_crossings(&own, g, &best));
    memcpy(best_place, g->place, g->n * sizeof *best_place);
    for (size_t sweep = 0; sweep < SWEEPS && best > 0 && since < PATIENCE; sweep++, since++) {
        CR_TRY(cr_check_interrupt(s->cx));
        for (size_t k = 1; k < g->layers; k++) {
            bool down = sweep % 2 == 0;
            sort_layer(g, down ? k : g->layers - 1 - k, down, sweep % 4 >= 2, workspace);
        }
        swap_all(g);
        CR_TRY(cri_layers_crossings(&own, g, &now));
        if (now >= best) continue;
        best = now;
        since = 0;
        memcpy(best_place, g->place, g->n * sizeof *best_place);
    }
    restore(g, best_place);
done:
    cr_scratch_end(&own);
    return st;
}
