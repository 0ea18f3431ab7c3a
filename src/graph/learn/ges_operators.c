/* ges_operators.c -- cliques among the neighbours of y, and what each of them gains. */
#include "ges.h"
#include "base/find.h"

typedef struct listing {
    cr_ctx            *cx;
    cri_local_scores  *scores;
    const cri_pdag    *g;
    size_t             y, x;
    bool               insert;
    size_t             most_parents;
    cri_ges_operators *out;
    uint32_t          *parent, *choice, *chosen, *family; /* [n] each */
    size_t parents, choices, base, k; /* chosen[0 .. base) are there whatever is chosen */
} listing;

/* The score of y with its parents, those chosen, and x if `with`; ascending. */
static double family_score(listing *l, bool with)
{
    size_t n = 0;
    for (size_t i = 0; i < l->parents; i++)
        if (l->parent[i] != l->x) l->family[n++] = l->parent[i];
    for (size_t i = 0; i < l->k; i++) l->family[n++] = l->chosen[i];
    if (with) l->family[n++] = (uint32_t)l->x;
    for (size_t i = 1; i < n; i++) { /* short lists: by insertion */
        uint32_t u = l->family[i];
        size_t   j = i;
        for (; j > 0 && l->family[j - 1] > u; j--) l->family[j] = l->family[j - 1];
        l->family[j] = u;
    }
    return cri_local_score(l->scores, l->y, l->family, n);
}

static bool add_operator(listing *l, double gain)
{
    cri_ges_operators *o = l->out;
    size_t             more = l->k - l->base;
    if (o->n == o->capacity) {
        size_t            room = o->capacity ? 2 * o->capacity : 16;
        cri_ges_operator *item =
            cri_resize_quietly(l->cx, o->item, o->capacity, room, sizeof *item);
        if (!item) return false;
        o->item = item, o->capacity = room;
    }
    if (o->used + more > o->room) {
        size_t    room = 2 * o->room + more + 16;
        uint32_t *set = cri_resize_quietly(l->cx, o->set, o->room, room, sizeof *set);
        if (!set) return false;
        o->set = set, o->room = room;
    }
    o->item[o->n++] = (cri_ges_operator){ gain, (uint32_t)l->x, o->used, more };
    for (size_t i = l->base; i < l->k; i++) o->set[o->used++] = l->chosen[i];
    return true;
}

/* The operator of what is chosen, then those with one more of choice[from ..] that keep a clique. */
static void try_cliques(listing *l, size_t from)
{
    if (l->out->failed || (l->insert && l->parents + l->k + 1 > l->most_parents)) return;
    double with = family_score(l, true), without = family_score(l, false);
    double gain = l->insert ? with - without : without - with;
    if (gain > 1e-9 && !add_operator(l, gain)) l->out->failed = true;
    for (size_t i = from; i < l->choices; i++) {
        uint32_t u = l->choice[i];
        bool     clique = true;
        for (size_t j = 0; j < l->k && clique; j++)
            clique = cri_pdag_adjacent(l->g, u, l->chosen[j]);
        if (!clique) continue;
        l->chosen[l->k++] = u;
        try_cliques(l, i + 1);
        l->k--;
    }
}

void cri_ges_list(cr_ctx *cx, cri_local_scores *scores, const cri_pdag *g, size_t y, bool insert,
                  size_t most_parents, uint32_t *workspace, cri_ges_operators *out)
{
    size_t  n = g->n;
    listing l = { .cx = cx,
                  .scores = scores,
                  .g = g,
                  .y = y,
                  .insert = insert,
                  .most_parents = most_parents,
                  .out = out };
    l.parent = workspace, l.choice = l.parent + n, l.chosen = l.choice + n, l.family = l.chosen + n;
    out->n = out->used = 0;
    for (size_t u = 0; u < n; u++)
        if (cri_pdag_arrow(g, u, y)) l.parent[l.parents++] = (uint32_t)u;
    for (size_t x = 0; x < n && !out->failed; x++) {
        if (x == y || (insert ? cri_pdag_adjacent(g, x, y) : !cri_pdag_reaches(g, x, y))) continue;
        bool clique = true;
        l.x = x, l.choices = l.k = 0;
        for (size_t u = 0; u < n; u++) {
            if (u == x || !cri_pdag_line(g, u, y)) continue;
            if (insert && cri_pdag_adjacent(g, u, x)) {
                for (size_t j = 0; j < l.k && clique; j++)
                    clique = cri_pdag_adjacent(g, u, l.chosen[j]);
                l.chosen[l.k++] = (uint32_t)u; /* NA, whatever T is */
            } else if (insert || cri_pdag_adjacent(g, u, x))
                l.choice[l.choices++] = (uint32_t)u;
        }
        l.base = l.k;
        if (clique) try_cliques(&l, 0);
    }
}

bool cri_ges_blocked(const cri_pdag *g, size_t y, const cri_ges_operator *op, const uint32_t *set,
                     uint32_t *workspace)
{
    size_t    n = g->n, waiting = 0;
    uint32_t *seen = workspace, *stack = seen + n;
    for (size_t u = 0; u < n; u++)
        seen[u] = cri_pdag_line(g, u, y) && cri_pdag_adjacent(g, u, op->x);
    for (size_t i = 0; i < op->k; i++) seen[set[i]] = 1;
    seen[y] = 1;
    stack[waiting++] = (uint32_t)y;
    while (waiting > 0) {
        size_t u = stack[--waiting];
        if (u == op->x) return false;
        for (size_t v = 0; v < n; v++) {
            if (seen[v] || !cri_pdag_reaches(g, u, v)) continue;
            seen[v] = 1;
            stack[waiting++] = (uint32_t)v;
        }
    }
    return true;
}

void cri_ges_apply(cri_pdag *g, size_t y, bool insert, const cri_ges_operator *op,
                   const uint32_t *set)
{
    size_t x = op->x;
    if (insert) {
        cri_pdag_set_arrow(g, x, y);
        for (size_t i = 0; i < op->k; i++) cri_pdag_set_arrow(g, set[i], y);
        return;
    }
    cri_pdag_cut(g, x, y);
    for (size_t h = 0; h < g->n; h++) {
        if (!cri_pdag_line(g, h, y) || !cri_pdag_adjacent(g, h, x)) continue;
        bool stays = false;
        for (size_t i = 0; i < op->k; i++) stays |= set[i] == h;
        if (stays) continue;
        cri_pdag_set_arrow(g, y, h);
        if (cri_pdag_line(g, x, h)) cri_pdag_set_arrow(g, x, h);
    }
}
