/* layered_align.c -- positions within the layers.
 * Each vertex is put above (below) the median of its neighbours where that is free, which makes
 * blocks of vertices in one line; blocks are then moved together as close as the widths allow.
 * This is done in four ways, from the upper or lower neighbours and from the left or the right; a
 * vertex stands in the middle of the two inner ones of its four positions.  Segments between two
 * points of one link go before all others, so that long links are straight.
 * Brandes & Koepf (2002), "Fast and simple horizontal coordinate assignment". */
#include "layered_internal.h"

#include <math.h>
#include <string.h>

typedef struct aligning {
    const cri_layers *g;
    bool             *conflict;      /* [segments] beside up.to: crosses one of a long link */
    size_t           *root, *next;   /* [n] blocks as rings */
    double           *x;             /* [n] of a root */
    size_t           *waits, *queue; /* [n] */
    bool              above, left;
} aligning;

static bool is_point(const cri_layers *g, size_t v) { return v >= g->boxes; }

/* The upper end of the segment between two points that ends in v; SIZE_MAX: there is none. */
static size_t inner_end(const cri_layers *g, size_t v)
{
    size_t u;
    if (!is_point(g, v) || g->up.begin[v] == g->up.begin[v + 1]) return SIZE_MAX;
    u = g->up.to[g->up.begin[v]];
    return is_point(g, u) ? u : SIZE_MAX;
}

/* Marks the segments that cross one between two points. */
static void mark_conflicts(aligning *a)
{
    const cri_layers *g = a->g;
    for (size_t l = 0; l + 1 < g->layers; l++) {
        size_t left = 0, scanned = 0, n = g->size[l + 1];
        for (size_t i = 0; i < n; i++) {
            size_t inner = inner_end(g, g->order[l + 1][i]);
            if (inner == SIZE_MAX && i + 1 < n) continue;
            size_t right = inner == SIZE_MAX ? g->size[l] : g->place[inner];
            for (; scanned <= i; scanned++) {
                size_t v = g->order[l + 1][scanned];
                for (size_t k = g->up.begin[v]; k < g->up.begin[v + 1]; k++) {
                    size_t at = g->place[g->up.to[k]];
                    if ((at < left || at > right) && inner_end(g, v) == SIZE_MAX)
                        a->conflict[k] = true;
                }
            }
            left = right;
        }
    }
}

static bool in_conflict(const aligning *a, size_t upper, size_t lower)
{
    const cri_lists *up = &a->g->up;
    for (size_t k = up->begin[lower]; k < up->begin[lower + 1]; k++)
        if (up->to[k] == upper) return a->conflict[k];
    return false;
}

/* Place i of a layer, seen from the side that is begun with. */
static size_t at(const aligning *a, size_t layer, size_t i)
{
    return a->g->order[layer][a->left ? i : a->g->size[layer] - 1 - i];
}

static size_t seen_place(const aligning *a, size_t v)
{
    return a->left ? a->g->place[v] : a->g->size[a->g->layer[v]] - 1 - a->g->place[v];
}

static void align_vertex(aligning *a, size_t v, size_t *taken)
{
    const cri_lists *to = a->above ? &a->g->up : &a->g->down;
    size_t           n = to->begin[v + 1] - to->begin[v];
    if (n == 0) return;
    for (size_t m = (n - 1) / 2; m <= n / 2; m++) {
        size_t u = to->to[to->begin[v] + (a->left ? m : n - 1 - m)];
        if (a->next[v] != v || in_conflict(a, a->above ? u : v, a->above ? v : u)) continue;
        if (seen_place(a, u) + 1 <= *taken) continue; /* taken: places used so far */
        a->next[u] = v;
        a->root[v] = a->root[u];
        a->next[v] = a->root[v];
        *taken = seen_place(a, u) + 1;
    }
}

static void make_blocks(aligning *a)
{
    const cri_layers *g = a->g;
    for (size_t v = 0; v < g->n; v++) a->root[v] = a->next[v] = v;
    for (size_t k = 1; k < g->layers; k++) {
        size_t layer = a->above ? k : g->layers - 1 - k, taken = 0;
        for (size_t i = 0; i < g->size[layer]; i++) align_vertex(a, at(a, layer, i), &taken);
    }
}

static double apart(const aligning *a, size_t u, size_t v)
{
    return (a->g->width[u] + a->g->width[v]) / 2;
}

/* The vertex beside v: towards the side that is begun with (-1) or away from it. */
static size_t beside(const aligning *a, size_t v, int step)
{
    size_t layer = a->g->layer[v], i = seen_place(a, v);
    if (step < 0) return i == 0 ? SIZE_MAX : at(a, layer, i - 1);
    return i + 1 == a->g->size[layer] ? SIZE_MAX : at(a, layer, i + 1);
}

/* Blocks in the order of what stands before them; then each as close to those as the widths let it;
 * then back, each as close to those behind it. */
static void place_blocks(aligning *a)
{
    const cri_layers *g = a->g;
    size_t            n = 0;
    memset(a->waits, 0, g->n * sizeof *a->waits);
    for (size_t v = 0; v < g->n; v++) a->waits[a->root[v]] += beside(a, v, -1) != SIZE_MAX;
    for (size_t v = 0; v < g->n; v++)
        if (a->root[v] == v && a->waits[v] == 0) a->queue[n++] = v;
    for (size_t q = 0; q < n; q++) {
        size_t b = a->queue[q], v = b;
        a->x[b] = 0;
        do {
            size_t before = beside(a, v, -1), after = beside(a, v, 1);
            if (before != SIZE_MAX)
                a->x[b] = fmax(a->x[b], a->x[a->root[before]] + apart(a, before, v));
            if (after != SIZE_MAX && --a->waits[a->root[after]] == 0)
                a->queue[n++] = a->root[after];
            v = a->next[v];
        } while (v != b);
    }
    for (size_t q = n; q-- > 0;) {
        size_t b = a->queue[q], v = b;
        double limit = INFINITY;
        do {
            size_t after = beside(a, v, 1);
            if (after != SIZE_MAX) limit = fmin(limit, a->x[a->root[after]] - apart(a, v, after));
            v = a->next[v];
        } while (v != b);
        if (isfinite(limit)) a->x[b] = fmax(a->x[b], limit);
    }
}

static void span_of(const cri_layers *g, const double *x, double *low, double *high)
{
    *low = INFINITY, *high = -INFINITY;
    for (size_t v = 0; v < g->n; v++) {
        *low = fmin(*low, x[v] - g->width[v] / 2);
        *high = fmax(*high, x[v] + g->width[v] / 2);
    }
}

/* Moves the four to the narrowest one: those from the left to its left edge, and so on. */
static void join_ways(cri_layers *g, double *const way[4])
{
    double low[4], high[4];
    size_t narrow = 0;
    for (size_t k = 0; k < 4; k++) {
        span_of(g, way[k], &low[k], &high[k]);
        if (high[k] - low[k] < high[narrow] - low[narrow]) narrow = k;
    }
    for (size_t k = 0; k < 4; k++) {
        double shift = k % 2 ? high[narrow] - high[k] : low[narrow] - low[k];
        for (size_t v = 0; v < g->n; v++) way[k][v] += shift;
    }
    for (size_t v = 0; v < g->n; v++) {
        double four[4];
        for (size_t k = 0; k < 4; k++) { /* sorted by insertion */
            size_t i = k;
            for (; i > 0 && four[i - 1] > way[k][v]; i--) four[i] = four[i - 1];
            four[i] = way[k][v];
        }
        g->x[v] = (four[1] + four[2]) / 2;
    }
}

cr_status cri_layers_align(cr_scratch *s, cri_layers *g)
{
    cr_status  st = CR_OK;
    cr_scratch own = cr_scratch_begin(s->cx);
    aligning   a = { .g = g,
                     .conflict = cr_scratch_bytes(&own, g->up.begin[g->n], 1),
                     .root = cr_scratch_index(&own, g->n),
                     .next = cr_scratch_index(&own, g->n),
                     .waits = cr_scratch_index(&own, g->n),
                     .queue = cr_scratch_index(&own, g->n),
                     .x = cr_scratch_f64(&own, g->n) };
    double    *way[4];
    for (size_t k = 0; k < 4; k++) way[k] = cr_scratch_f64(&own, g->n);
    CR_TRY(own.status);
    cri_layers_sort(g);
    mark_conflicts(&a);
    for (size_t k = 0; k < 4; k++) {
        a.above = k < 2;
        a.left = k % 2 == 0;
        make_blocks(&a);
        place_blocks(&a);
        for (size_t v = 0; v < g->n; v++) way[k][v] = (a.left ? 1 : -1) * a.x[a.root[v]];
    }
    join_ways(g, way);
done:
    cr_scratch_end(&own);
    return st;
}
