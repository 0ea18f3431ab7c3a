/* junction_message.c -- the messages of one clique: up to its parent, down to its children; and the
 * marginals that are read off on the way. */
#include "junction_internal.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

/* --- cliques --------------------------------------------------------------------------------- */

size_t cri_clique_inputs(const cr_junction *j, const cri_clique *c, size_t except, bool with_down,
                         const cr_factor **in, double *out_scale)
{
    size_t n = 0;
    double scale = 0;
    for (size_t i = 0; i < c->tables; i++)
        if (j->table[c->table[i]].value) in[n++] = &j->table[c->table[i]];
    for (size_t i = 0; i < c->children; i++) {
        if (c->child[i] == except) continue;
        const cri_edge_message *m = &j->clique[c->child[i]].up;
        if (m->table.n > 0) in[n++] = &m->table; /* a constant is 1 */
        scale += m->scale;
    }
    if (with_down && c->parent != CR_NONE && c->down.table.n > 0) in[n++] = &c->down.table;
    if (out_scale) *out_scale = scale;
    return n;
}

bool cri_clique_space(const cr_junction *j, const cri_clique *c, cri_space *out)
{
    *out = (cri_space){ 0 };
    for (size_t i = 0; i < c->n; i++)
        if (!cri_space_add(out, c->scope[i], j->problem->left[j->problem->var[c->scope[i]]]))
            return false;
    return true;
}

bool cri_clique_table(cr_ctx *cx, const cr_junction *j, const cri_clique *c, size_t from,
                      cr_factor *f)
{
    size_t n = c->n - from, size = 1;
    if (!f->var) {
        f->var = cri_resize_quietly(cx, NULL, 0, 3 * n, sizeof *f->var);
        if (!f->var) return false;
        f->n = n;
        f->states = f->var + n;
        f->stride = f->states + n;
    }
    for (size_t i = n; i-- > 0;) {
        f->var[i] = c->scope[from + i];
        f->states[i] = j->problem->left[j->problem->var[f->var[i]]];
        f->stride[i] = size;
        size *= f->states[i];
    }
    if (f->value && f->size == size) return true;
    double *value = cri_resize_quietly(cx, f->value, f->value ? f->size : 0, size, sizeof *value);
    if (!value) return false;
    f->value = value;
    f->size = size;
    return true;
}

/* The inputs of a clique, in memory of the caller's to free. */
static const cr_factor **make_inputs(cr_ctx *cx, const cri_clique *c)
{
    return cri_resize_quietly(cx, NULL, 0, c->tables + c->children + 1, sizeof(cr_factor *));
}

static void free_inputs(cr_ctx *cx, const cri_clique *c, const cr_factor **in)
{
    cr_free(cx, (void *)in, c->tables + c->children + 1, sizeof *in);
}

bool cri_send_up(cr_ctx *cx, cr_junction *j, size_t at, bool threaded)
{
    cri_clique       *c = &j->clique[at];
    const cr_factor **in = make_inputs(cx, c);
    cri_space         sp;
    bool              fine = in && cri_clique_space(j, c, &sp) &&
                cri_clique_table(cx, j, c, c->eliminated, &c->up.table);
    if (fine) {
        size_t      inputs = cri_clique_inputs(j, c, CR_NONE, false, in, NULL);
        cri_message m = { &c->up.table, 0 };
        fine = cri_send(cx, &sp, false, inputs, in, 1, &m, NULL, threaded);
        c->up.scale = m.scale;
        c->up.valid = fine;
    }
    free_inputs(cx, c, in);
    return fine;
}

bool cri_send_down(cr_ctx *cx, cr_junction *j, size_t to, bool threaded)
{
    cri_clique       *k = &j->clique[to], *c = &j->clique[k->parent];
    const cr_factor **in = make_inputs(cx, c);
    cri_space         sp;
    bool              fine = in && cri_clique_space(j, c, &sp) &&
                cri_clique_table(cx, j, k, k->eliminated, &k->down.table);
    if (fine) {
        size_t      inputs = cri_clique_inputs(j, c, to, true, in, NULL);
        cri_message m = { &k->down.table, 0 };
        fine = cri_send(cx, &sp, false, inputs, in, 1, &m, NULL, threaded);
        k->down.scale = m.scale;
        k->down.valid = fine;
        k->down.divided = false;
    }
    free_inputs(cx, c, in);
    return fine;
}

/* --- marginals from a pass ------------------------------------------------------------------- */

/* Writes the normalised marginal of a rank from a one-dimensional table. */
static void keep_marginal(cr_junction *j, size_t rank, cr_factor *f)
{
    const cri_problem *p = j->problem;
    size_t             v = p->var[rank];
    double            *out = j->marginal + j->offset[v];
    cr_factor_normalise(f, NULL);
    memset(out, 0, cr_network_states(j->net, v) * sizeof *out);
    for (size_t s = 0; s < p->left[v]; s++)
        out[p->state[p->first[v] + s]] = f->is_log ? exp(f->value[s]) : f->value[s];
    j->known[v] = true;
}

/* Tables over single variables, in one block of memory. */
typedef struct singles {
    size_t       n, bytes;
    cr_factor   *f;
    cri_message *m;
} singles;

static bool make_singles(cr_ctx *cx, const cr_junction *j, size_t n, const size_t *rank,
                         size_t others, singles *out)
{
    size_t states = 0;
    for (size_t i = 0; i < n; i++) states += j->problem->left[j->problem->var[rank[i]]];
    size_t bytes = (n + others) * sizeof(cri_message) + n * sizeof(cr_factor) +
                   3 * n * sizeof(size_t) + states * sizeof(double);
    char *workspace = cri_resize_quietly(cx, NULL, 0, bytes, 1);
    if (!workspace) return false;
    *out = (singles){ n, bytes, NULL, (cri_message *)(void *)workspace };
    out->f = (cr_factor *)(void *)(out->m + n + others);
    size_t *numbers = (size_t *)(void *)(out->f + n);
    double *value = (double *)(void *)(numbers + 3 * n);
    for (size_t i = 0; i < n; i++, numbers += 3) {
        size_t left = j->problem->left[j->problem->var[rank[i]]];
        numbers[0] = rank[i], numbers[1] = left, numbers[2] = 1;
        out->f[i] = (cr_factor){ 1, numbers, numbers + 1, numbers + 2, left, value, false };
        out->m[i] = (cri_message){ &out->f[i], 0 };
        value += left;
    }
    return true;
}

static void free_singles(cr_ctx *cx, singles *s) { cr_free(cx, s->m, s->bytes, 1); }

bool cri_clique_marginals(cr_ctx *cx, cr_junction *j, size_t at, size_t n, const size_t *place,
                          bool threaded)
{
    const cri_clique *c = &j->clique[at];
    const cr_factor **in = make_inputs(cx, c);
    size_t            rank[CRI_MOST_DIMS];
    singles           s = { 0 };
    cri_space         sp;
    for (size_t i = 0; i < n; i++) rank[i] = c->scope[place[i]];
    bool fine = in && cri_clique_space(j, c, &sp) && make_singles(cx, j, n, rank, 0, &s);
    if (fine) {
        size_t inputs = cri_clique_inputs(j, c, CR_NONE, true, in, NULL);
        fine = cri_send(cx, &sp, false, inputs, in, n, s.m, NULL, threaded);
        for (size_t i = 0; fine && i < n; i++) keep_marginal(j, rank[i], &s.f[i]);
    }
    free_singles(cx, &s);
    free_inputs(cx, c, in);
    return fine;
}

static bool has_rank(const cri_clique *k, size_t rank)
{
    for (size_t i = k->eliminated; i < k->n && k->scope[i] <= rank; i++)
        if (k->scope[i] == rank) return true;
    return false;
}

/* The child with the smallest separator that holds the rank; CR_NONE: no child has it. */
static size_t child_with(const cr_junction *j, const cri_clique *c, size_t rank)
{
    size_t best = CR_NONE;
    for (size_t i = 0; i < c->children; i++) {
        const cri_clique *k = &j->clique[c->child[i]];
        if (!has_rank(k, rank)) continue;
        if (best == CR_NONE || k->up.table.size < j->clique[best].up.table.size) best = c->child[i];
    }
    return best;
}

/* The marginals of those variables of clique `at` that are read off the separator of child `from`:
 * the product of what went up and what came down. */
static bool separator_marginals(cr_ctx *cx, cr_junction *j, size_t from, size_t n,
                                const size_t *rank)
{
    const cri_clique *k = &j->clique[from];
    const cr_factor  *in[2] = { &k->up.table, &k->down.table };
    cri_space         sp = { 0 };
    singles           s;
    for (size_t i = k->eliminated; i < k->n; i++)
        cri_space_add(&sp, k->scope[i], j->problem->left[j->problem->var[k->scope[i]]]);
    if (!make_singles(cx, j, n, rank, 0, &s)) return false;
    bool fine = cri_send(cx, &sp, false, 2, in, n, s.m, NULL, false);
    for (size_t i = 0; fine && i < n; i++) keep_marginal(j, rank[i], &s.f[i]);
    free_singles(cx, &s);
    return fine;
}

/* --- belief update --------------------------------------------------------------------------- */

/* down = belief / up, 0/0 = 0; scaled. */
static void divide_message(cri_clique *k, bool tainted)
{
    cr_factor       *f = &k->down.table;
    const cr_factor *up = &k->up.table;
    bool             zeros = false;
    if (up->is_log || f->is_log) {
        cr_factor_set_log(f, true);
        for (size_t e = 0; e < f->size; e++) {
            double u = up->is_log ? up->value[e] : log(up->value[e]);
            zeros |= u == -INFINITY;
            f->value[e] = u == -INFINITY ? -INFINITY : f->value[e] - u;
        }
    } else {
        for (size_t e = 0; e < f->size; e++) {
            double u = up->value[e];
            zeros |= u == 0;
            f->value[e] = u > 0 ? f->value[e] / u : 0;
        }
    }
    k->down.scale = cri_scale(f);
    cri_unlog(f);
    k->down.valid = true;
    k->down.divided = zeros || tainted;
}

/* Division by an entry this small could overflow, or lose what underflowed before. */
static bool can_divide(const cr_factor *up)
{
    int small = 0;
    for (size_t e = 0; !up->is_log && e < up->size; e++)
        small |= (up->value[e] > 0) & (up->value[e] < 1e-150);
    return !up->is_log && !small;
}

bool cri_update_children(cr_ctx *cx, cr_junction *j, size_t at, bool threaded)
{
    cri_clique       *c = &j->clique[at];
    const cr_factor **in = make_inputs(cx, c);
    size_t            rank[CRI_MOST_DIMS], n = 0, outputs;
    singles           s = { 0 };
    cri_space         sp;
    bool              fine = in && cri_clique_space(j, c, &sp);
    for (size_t i = 0; fine && i < c->eliminated; i++) {
        if (j->known[j->problem->var[c->scope[i]]] || child_with(j, c, c->scope[i]) != CR_NONE)
            continue;
        if (n == CRI_MOST_DIMS) break; /* single states: they are left to their own pass */
        rank[n++] = c->scope[i];
    }
    fine = fine && make_singles(cx, j, n, rank, c->children, &s);
    outputs = n;
    for (size_t i = 0; fine && i < c->children; i++) {
        cri_clique *k = &j->clique[c->child[i]];
        if (k->down.valid || !can_divide(&k->up.table)) continue;
        fine = cri_clique_table(cx, j, k, k->eliminated, &k->down.table);
        s.m[outputs++] = (cri_message){ &k->down.table, 0 };
    }
    if (fine && outputs > 0) {
        size_t inputs = cri_clique_inputs(j, c, CR_NONE, true, in, NULL);
        fine = cri_send(cx, &sp, false, inputs, in, outputs, s.m, NULL, threaded);
        for (size_t i = 0; fine && i < n; i++) keep_marginal(j, rank[i], &s.f[i]);
        for (size_t i = 0, o = n; fine && i < c->children; i++) {
            cri_clique *k = &j->clique[c->child[i]];
            if (o < outputs && s.m[o].table == &k->down.table) {
                divide_message(k, c->down.divided);
                o++;
            }
        }
    }
    free_singles(cx, &s);
    free_inputs(cx, c, in);
    for (size_t i = 0; fine && i < c->children; i++) /* what could not be divided */
        if (!j->clique[c->child[i]].down.valid) fine = cri_send_down(cx, j, c->child[i], threaded);
    return fine;
}

bool cri_rest_of_marginals(cr_ctx *cx, cr_junction *j, size_t at, bool threaded)
{
    const cri_clique *c = &j->clique[at];
    size_t            rank[CRI_MOST_DIMS], place[CRI_MOST_DIMS], n;
    bool              fine = true;
    for (size_t k = 0; fine && k < c->children; k++) {
        n = 0;
        for (size_t i = 0; i < c->eliminated && n < CRI_MOST_DIMS; i++)
            if (!j->known[j->problem->var[c->scope[i]]] &&
                child_with(j, c, c->scope[i]) == c->child[k])
                rank[n++] = c->scope[i];
        if (n > 0) fine = separator_marginals(cx, j, c->child[k], n, rank);
    }
    while (fine) {
        n = 0;
        for (size_t i = 0; i < c->eliminated && n < CRI_MOST_DIMS; i++)
            if (!j->known[j->problem->var[c->scope[i]]]) place[n++] = i;
        if (n == 0) break;
        fine = cri_clique_marginals(cx, j, at, n, place, threaded);
    }
    return fine;
}

bool cri_send_to_children(cr_ctx *cx, cr_junction *j, size_t c, bool threaded)
{
    const cri_clique *q = &j->clique[c];
    bool              fine = true;
    for (size_t i = 0; fine && i < q->children; i++)
        if (!j->clique[q->child[i]].down.valid) fine = cri_send_down(cx, j, q->child[i], threaded);
    return fine;
}
