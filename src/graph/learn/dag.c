/* dag.c -- graphs without cycles: ancestors kept up to date, orders, equivalence classes, rules. */
#include "dag.h"
#include "base/context_internal.h"
#include "base/sort.h"

#include <stdio.h>
#include <string.h>

/* --- sets ------------------------------------------------------------------------------------- */

size_t cri_bit_list(const uint64_t *set, size_t words, uint32_t *out)
{
    size_t n = 0;
    for (size_t w = 0; w < words; w++)
        for (uint64_t rest = set[w]; rest; rest &= rest - 1)
            out[n++] = (uint32_t)(64 * w + (size_t)__builtin_ctzll(rest));
    return n;
}

size_t cri_bit_count(const uint64_t *set, size_t words)
{
    size_t n = 0;
    for (size_t w = 0; w < words; w++) n += (size_t)__builtin_popcountll(set[w]);
    return n;
}

static void join(uint64_t *a, const uint64_t *b, size_t words)
{
    for (size_t w = 0; w < words; w++) a[w] |= b[w];
}

/* --- the graph -------------------------------------------------------------------------------- */

cri_dag cri_dag_new(cr_scratch *s, size_t n)
{
    cri_dag g = { .n = n, .words = cri_bit_words(n) };
    g.parents = cr_scratch_bytes(s, n, g.words * sizeof *g.parents);
    g.ancestors = cr_scratch_bytes(s, n, g.words * sizeof *g.ancestors);
    g.work = cr_scratch_bytes(s, n, sizeof *g.work);
    return g;
}

void cri_dag_copy(const cri_dag *from, cri_dag *to)
{
    memcpy(to->parents, from->parents, from->n * from->words * sizeof *to->parents);
    memcpy(to->ancestors, from->ancestors, from->n * from->words * sizeof *to->ancestors);
    to->arcs = from->arcs;
}

static uint64_t *ancestors_of(const cri_dag *g, size_t v) { return g->ancestors + v * g->words; }

void cri_dag_add(cri_dag *g, size_t from, size_t to)
{
    const uint64_t *above = ancestors_of(g, from);
    cri_bit_add(cri_dag_parents(g, to), from);
    g->arcs++;
    for (size_t v = 0; v < g->n; v++)
        if (v == to || cri_bit_has(ancestors_of(g, v), to)) {
            join(ancestors_of(g, v), above, g->words);
            cri_bit_add(ancestors_of(g, v), from);
        }
}

/* The ancestors of v from those of its parents, which are right. */
static void gather_ancestors(const cri_dag *g, size_t v)
{
    uint64_t       *a = ancestors_of(g, v);
    const uint64_t *parents = cri_dag_parents(g, v);
    memcpy(a, parents, g->words * sizeof *a);
    for (size_t w = 0; w < g->words; w++)
        for (uint64_t rest = parents[w]; rest; rest &= rest - 1)
            join(a, ancestors_of(g, 64 * w + (size_t)__builtin_ctzll(rest)), g->words);
}

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A place in an order: parents have fewer ancestors than their children. */
static uint64_t place_of(const cri_dag *g, size_t v)
{
    return (uint64_t)cri_bit_count(ancestors_of(g, v), g->words) << 32 | v;
}

void cri_dag_drop(cri_dag *g, size_t from, size_t to)
{
    size_t below = 0;
    cri_bit_drop(cri_dag_parents(g, to), from);
    g->arcs--;
    for (size_t v = 0; v < g->n; v++)
        if (v == to || cri_bit_has(ancestors_of(g, v), to)) g->work[below++] = place_of(g, v);
    qsort(g->work, below, sizeof *g->work, compare_words);
    for (size_t i = 0; i < below; i++) gather_ancestors(g, (uint32_t)g->work[i]);
}

bool cri_dag_can_reverse(const cri_dag *g, size_t from, size_t to)
{
    const uint64_t *parents = cri_dag_parents(g, to);
    for (size_t w = 0; w < g->words; w++)
        for (uint64_t rest = parents[w]; rest; rest &= rest - 1) {
            size_t u = 64 * w + (size_t)__builtin_ctzll(rest);
            if (u != from && cri_dag_reaches(g, from, u)) return false;
        }
    return true;
}

bool cri_dag_is_covered(const cri_dag *g, size_t from, size_t to)
{
    const uint64_t *a = cri_dag_parents(g, from), *b = cri_dag_parents(g, to);
    for (size_t w = 0; w < g->words; w++) {
        uint64_t other = a[w] ^ b[w];
        if (w == from / 64) other &= ~(UINT64_C(1) << from % 64);
        if (other) return false;
    }
    return true;
}

/* --- orders ----------------------------------------------------------------------------------- */

void cri_dag_order(const cri_dag *g, uint32_t *out)
{
    for (size_t v = 0; v < g->n; v++) g->work[v] = place_of(g, v);
    if (g->n > 1) qsort(g->work, g->n, sizeof *g->work, compare_words);
    for (size_t i = 0; i < g->n; i++) out[i] = (uint32_t)g->work[i];
}

/* In work: the high halves count parents that have no place yet, the low ones list those that have. */
bool cri_dag_close(cri_dag *g, size_t *opt_on)
{
    const uint64_t one = UINT64_C(1) << 32;
    size_t         placed = 0;
    g->arcs = 0;
    for (size_t v = 0; v < g->n; v++) {
        g->work[v] = cri_bit_count(cri_dag_parents(g, v), g->words) * one;
        g->arcs += g->work[v] / one;
    }
    for (size_t v = 0; v < g->n; v++)
        if (g->work[v] / one == 0) g->work[placed] = g->work[placed] / one * one | v, placed++;
    for (size_t i = 0; i < placed; i++) {
        size_t u = (uint32_t)g->work[i];
        gather_ancestors(g, u);
        for (size_t v = 0; v < g->n; v++) {
            if (!cri_bit_has(cri_dag_parents(g, v), u)) continue;
            g->work[v] -= one;
            if (g->work[v] / one == 0) g->work[placed] = g->work[placed] / one * one | v, placed++;
        }
    }
    for (size_t v = 0; v < g->n && placed < g->n && opt_on; v++)
        if (g->work[v] / one > 0) *opt_on = v;
    return placed == g->n;
}

/* --- the equivalence class -------------------------------------------------------------------- */

enum { UNKNOWN, COMPELLED, REVERSIBLE };

/* Labels the arc x -> y and, by it, others into y: label [n x n] of row y. */
static void label_arc(const cri_dag *g, size_t x, size_t y, uint8_t *label)
{
    const uint64_t *of_x = cri_dag_parents(g, x), *of_y = cri_dag_parents(g, y);
    uint8_t        *row = label + y * g->n, *above = label + x * g->n;
    bool            compelled = false;
    for (size_t w = 0; w < g->n && !compelled; w++) {
        if (above[w] != COMPELLED || !cri_bit_has(of_x, w)) continue;
        if (cri_bit_has(of_y, w))
            row[w] = COMPELLED;
        else
            compelled = true;
    }
    bool all = compelled; /* every arc into y */
    for (size_t z = 0; z < g->n && !compelled; z++)
        compelled = z != x && cri_bit_has(of_y, z) && !cri_bit_has(of_x, z);
    for (size_t z = 0; z < g->n; z++)
        if (cri_bit_has(of_y, z) && (all || row[z] == UNKNOWN))
            row[z] = compelled ? COMPELLED : REVERSIBLE;
}

cr_status cri_dag_class(cr_ctx *cx, const cri_dag *g, uint64_t *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = g->n;
    uint8_t   *label = cr_scratch_bytes(&s, n, n);
    uint32_t  *order = cr_scratch_bytes(&s, n, sizeof *order);
    CR_TRY(s.status);
    cri_dag_order(g, order);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i; k-- > 0;)
            if (cri_dag_has(g, order[k], order[i]) && label[order[i] * n + order[k]] == UNKNOWN)
                label_arc(g, order[k], order[i], label);
    memcpy(out, g->parents, n * g->words * sizeof *out);
    for (size_t v = 0; v < n; v++)
        for (size_t u = 0; u < n; u++)
            if (cri_dag_has(g, u, v) && label[v * n + u] == REVERSIBLE)
                cri_bit_add(out + u * g->words, v);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- rules ------------------------------------------------------------------------------------ */

cr_status cri_arc_rules_new(cr_scratch *s, size_t n, cri_arc_rules *out)
{
    cri_arc_rules r = { .n = n, .words = cri_bit_words(n), .most_parents = CRI_MOST_PARENTS };
    r.allowed = cr_scratch_bytes(s, n, r.words * sizeof *r.allowed);
    r.required = cr_scratch_bytes(s, n, r.words * sizeof *r.required);
    r.start = cr_scratch_bytes(s, n, r.words * sizeof *r.start);
    if (s->status != CR_OK) return s->status;
    for (size_t v = 0; v < n; v++)
        for (size_t u = 0; u < n; u++)
            if (u != v) cri_bit_add(r.allowed + v * r.words, u);
    *out = r;
    return CR_OK;
}

static cr_status refuse_cycle(cr_ctx *cx, const cri_dag *g, size_t on, const char *const *names)
{
    char   text[256];
    size_t used = 0, steps = 0, v = on;
    for (; steps <= g->n;
         steps++) /* up along parents without a place: in the end round the cycle */
        for (size_t u = 0; u < g->n; u++)
            if (cri_dag_has(g, u, v) && g->work[u] >> 32) {
                v = u;
                break;
            }
    on = v;
    text[0] = '\0';
    do {
        int more = snprintf(text + used, sizeof text - used, "%s <- ", names[v]);
        used += more > 0 && used + (size_t)more < sizeof text ? (size_t)more : 0;
        for (size_t u = 0; u < g->n; u++)
            if (cri_dag_has(g, u, v) && g->work[u] >> 32) {
                v = u;
                break;
            }
    } while (v != on);
    cr_fail(cx, CR_EARG, "the required arcs form a cycle: %s%s", text, names[on]);
    return cr_fail_hint(cx, "leave one of them out");
}

static cr_status check_required(cr_ctx *cx, const cri_arc_rules *r, const char *const *names)
{
    for (size_t v = 0; v < r->n; v++) {
        const uint64_t *required = r->required + v * r->words;
        size_t          n = cri_bit_count(required, r->words);
        for (size_t u = 0; u < r->n; u++)
            if (cri_bit_has(required, u) && !cri_arc_allowed(r, u, v))
                return cr_fail(cx, CR_EARG, "the arc %s -> %s is required and excluded", names[u],
                               names[v]);
        if (n > r->most_parents)
            return cr_fail(cx, CR_EARG, "%s has %zu required parents, and may have %zu", names[v],
                           n, r->most_parents);
    }
    return CR_OK;
}

/* Arcs of the start join the required ones as long as they are allowed, not too many, and close no cycle. */
static void complete_start(cri_arc_rules *r, cri_dag *g)
{
    for (size_t v = 0; v < r->n; v++)
        for (size_t u = 0; u < r->n; u++)
            if (cri_bit_has(r->start + v * r->words, u) && !cri_dag_has(g, u, v) &&
                cri_arc_allowed(r, u, v) && !cri_dag_reaches(g, v, u) &&
                cri_bit_count(cri_dag_parents(g, v), g->words) < r->most_parents)
                cri_dag_add(g, u, v);
    memcpy(r->start, g->parents, r->n * r->words * sizeof *r->start);
}

cr_status cri_arc_rules_check(cr_ctx *cx, cri_arc_rules *r, const char *const *names)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_dag    g = cri_dag_new(&s, r->n);
    size_t     on = 0;
    CR_TRY(s.status);
    if (r->most_parents > CRI_MOST_PARENTS) r->most_parents = CRI_MOST_PARENTS;
    CR_TRY(check_required(cx, r, names));
    memcpy(g.parents, r->required, r->n * r->words * sizeof *g.parents);
    if (!cri_dag_close(&g, &on)) CR_TRY(refuse_cycle(cx, &g, on, names));
    complete_start(r, &g);
done:
    cr_scratch_end(&s);
    return st;
}
