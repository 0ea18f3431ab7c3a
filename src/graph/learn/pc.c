/* pc.c -- colliders, in the order of how well their ends are separated, and what follows. */
#include "pc.h"
#include "subsets.h"
#include "base/context_internal.h"
#include "base/find.h"
#include "base/scratch.h"
#include "base/sort.h"

/* x -> z <- y, and the p with which x and y are independent given what separates them. */
typedef struct collider {
    double minus_p;
    size_t rank; /* in the order of nodes: breaks ties */
    size_t x, z, y;
} collider;

CRI_COMPARE_BY_TWO(compare_colliders, collider, minus_p, rank);

typedef struct collider_list {
    collider *item;
    size_t    n, capacity;
} collider_list;

/* What the majority rule has counted: sets of neighbours that separate x and y, and those of them
 * that z is in. */
typedef struct votes {
    size_t sets, with_z;
} votes;

/* Asks all subsets of the neighbours of x but y, up to as many as the skeleton needed. */
static cr_status count_votes(cr_ctx *cx, const cri_independence *test, const cri_pdag *g, size_t x,
                             size_t y, size_t z, size_t most, void *memory, size_t *workspace,
                             votes *inout, cri_pc_report *report)
{
    size_t n = g->n, m = 0, *list = workspace, *at = list + n, *given = at + n;
    for (size_t u = 0; u < n; u++)
        if (u != y && cri_pdag_adjacent(g, x, u)) list[m++] = u;
    for (size_t k = 0; k <= m && k <= most; k++) {
        cri_first_subset(at, k);
        do {
            for (size_t i = 0; i < k; i++) given[i] = list[at[i]];
            report->tests++;
            if (test->verdict(test->arg, memory, x, y, k, given).independent) {
                inout->sets++;
                inout->with_z += cri_has_index(given, k, z);
            }
            cr_status st = cr_check_interrupt(cx);
            if (st != CR_OK) return st;
        } while (cri_next_subset(at, k, m));
    }
    return CR_OK;
}

/* Does what separates x and y leave z out? */
static cr_status is_collider(cr_ctx *cx, const cri_independence *test, const cri_pc_options *o,
                             const cri_pdag *g, const cri_skeleton *s, size_t x, size_t y, size_t z,
                             void *memory, size_t *workspace, cri_pc_report *report, bool *out)
{
    size_t place = x < y ? x * g->n + y : y * g->n + x;
    votes  v = { 0 };
    *out =
        s->begin[place] != CR_NONE && !cri_has_index(s->set + s->begin[place], s->length[place], z);
    if (o->colliders == CRI_COLLIDERS_SEPSET || s->begin[place] == CR_NONE) return CR_OK;
    size_t    most = report->deepest;
    cr_status st = count_votes(cx, test, g, x, y, z, most, memory, workspace, &v, report);
    if (st == CR_OK) st = count_votes(cx, test, g, y, x, z, most, memory, workspace, &v, report);
    if (st == CR_OK && v.sets > 0) *out = 2 * v.with_z < v.sets;
    return st;
}

static cr_status find_colliders(cr_ctx *cx, const cri_independence *test, const cri_pc_options *o,
                                const cri_pdag *g, const cri_skeleton *s, collider_list *out,
                                cri_pc_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch sc = cr_scratch_begin(cx);
    size_t     n = g->n;
    bool       ask = o->colliders == CRI_COLLIDERS_MAJORITY;
    size_t    *workspace = cr_scratch_index(&sc, ask ? 3 * n : 0);
    void *memory = cr_scratch_bytes(&sc, ask ? test->workspace(test->arg, report->deepest) : 0, 1);
    CR_TRY(sc.status);
    for (size_t x = 0; x < n; x++)
        for (size_t y = x + 1; y < n; y++) {
            if (cri_pdag_adjacent(g, x, y)) continue;
            for (size_t z = 0; z < n; z++) {
                bool is;
                if (!cri_pdag_adjacent(g, x, z) || !cri_pdag_adjacent(g, y, z)) continue;
                CR_TRY(is_collider(cx, test, o, g, s, x, y, z, memory, workspace, report, &is));
                if (!is) continue;
                CR_TRY(cri_array_grow(cx, &out->item, out->n, &out->capacity, sizeof *out->item));
                out->item[out->n] = (collider){ -s->p[x * n + y], out->n, x, z, y };
                out->n++;
            }
            CR_TRY(cr_check_interrupt(cx));
        }
done:
    cr_scratch_end(&sc);
    return st;
}

/* Do arrows lead from u to v?  seen [n], stack [n]: workspace. */
static bool leads_to(const cri_pdag *g, size_t u, size_t v, bool *seen, size_t *stack)
{
    size_t waiting = 0;
    memset(seen, 0, g->n);
    stack[waiting++] = u;
    seen[u] = true;
    while (waiting > 0) {
        size_t a = stack[--waiting];
        if (a == v) return true;
        for (size_t b = 0; b < g->n; b++) {
            if (seen[b] || !cri_pdag_arrow(g, a, b)) continue;
            seen[b] = true;
            stack[waiting++] = b;
        }
    }
    return false;
}

/* Arrows that are known before: a line of which one direction is forbidden, or one is
 * required. */
static void draw_known(const cri_arc_rules *rules, cri_pdag *g)
{
    for (size_t u = 0; u < g->n; u++)
        for (size_t v = 0; v < g->n; v++) {
            if (!cri_pdag_line(g, u, v)) continue;
            if (cri_arc_required(rules, u, v) ||
                (!cri_arc_allowed(rules, v, u) && cri_arc_allowed(rules, u, v)))
                cri_pdag_set_arrow(g, u, v);
        }
}

static cr_status draw_colliders(cr_ctx *cx, cri_pdag *g, const collider_list *list,
                                cri_pc_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool      *seen = cr_scratch_bytes(&s, g->n, sizeof *seen);
    size_t    *stack = cr_scratch_index(&s, g->n);
    CR_TRY(s.status);
    for (size_t i = 0; i < list->n; i++) {
        const collider *c = &list->item[i];
        bool            against = cri_pdag_arrow(g, c->z, c->x) || cri_pdag_arrow(g, c->z, c->y) ||
                       leads_to(g, c->z, c->x, seen, stack) || leads_to(g, c->z, c->y, seen, stack);
        report->conflicts += against;
        if (against) continue;
        cri_pdag_set_arrow(g, c->x, c->z);
        cri_pdag_set_arrow(g, c->y, c->z);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_pc(cr_ctx *cx, const cri_independence *test, const cri_pc_options *o,
                 cri_pdag *out_graph, double *opt_p, cri_pc_report *report)
{
    cr_status     st = CR_OK;
    cri_pdag      g = { 0 };
    cri_skeleton  s = { 0 };
    collider_list list = { 0 };
    CR_TRY(cri_pc_skeleton(cx, test, o, &g, &s, report));
    CR_TRY(find_colliders(cx, test, o, &g, &s, &list, report));
    if (list.n > 1) qsort(list.item, list.n, sizeof *list.item, compare_colliders);
    if (o->opt_rules) draw_known(o->opt_rules, &g);
    CR_TRY(draw_colliders(cx, &g, &list, report));
    cri_pdag_meek(&g);
    if (opt_p && g.n > 0) memcpy(opt_p, s.p, g.n * g.n * sizeof *opt_p);
    *out_graph = g;
    g = (cri_pdag){ 0 };
done:
    cr_free(cx, list.item, list.capacity, sizeof *list.item);
    cri_pdag_free(cx, &g);
    cri_skeleton_free(cx, &s);
    return st;
}
