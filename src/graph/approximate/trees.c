/* trees.c -- forests of a factor graph, and sums over them. */
#include "trees.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "base/find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 16, MOST = 4096 };

void cri_trees_free(cr_ctx *cx, cri_trees *t)
{
    cr_free(cx, t->in, t->n * t->m, sizeof *t->in);
    cr_free(cx, t->mu, t->n, sizeof *t->mu);
    cr_free(cx, t->rho, t->m, sizeof *t->rho);
    *t = (cri_trees){ 0 };
}

/* --- choosing -------------------------------------------------------------------------------- */

/* Can table i be added without a cycle?  Then it is. */
static bool join_parts(const cri_fgraph *g, size_t i, size_t *up)
{
    const size_t *var = g->var + g->first[i];
    size_t        n = g->first[i + 1] - g->first[i];
    for (size_t k = 1; k < n; k++)
        for (size_t l = 0; l < k; l++)
            if (cri_find_root(up, var[k]) == cri_find_root(up, var[l])) return false;
    for (size_t k = 1; k < n; k++) up[cri_find_root(up, var[k])] = cri_find_root(up, var[0]);
    return true;
}

typedef struct turn {
    size_t used;
    double tie;
    size_t table;
} turn;

static int by_turn(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    if (x->used != y->used) return x->used < y->used ? -1 : 1;
    if (x->tie != y->tie) return x->tie < y->tie ? -1 : 1;
    return (x->table > y->table) - (x->table < y->table);
}

/* Marks in `in` [m] a forest that is as large as can be. */
static size_t grow(const cri_fgraph *g, turn *order, size_t *up, bool *in)
{
    size_t count = 0;
    if (g->m > 1) qsort(order, g->m, sizeof *order, by_turn);
    for (size_t v = 0; v < g->n; v++) up[v] = v;
    for (size_t k = 0; k < g->m; k++) {
        size_t i = order[k].table;
        in[i] = join_parts(g, i, up);
        order[k].used += in[i];
        count += in[i];
    }
    return count;
}

static void sum_weights(cri_trees *t)
{
    for (size_t i = 0; i < t->m; i++) t->rho[i] = 0;
    for (size_t k = 0; k < t->n; k++)
        for (size_t i = 0; i < t->m; i++)
            if (t->in[k * t->m + i]) t->rho[i] += t->mu[k];
}

/* Room for one forest more, which is copied; its weight is not set. */
static cr_status append(cr_ctx *cx, cri_trees *t, const bool *in)
{
    bool *more = cr_resize(cx, t->in, t->n * t->m, (t->n + 1) * t->m, sizeof *more);
    if (!more) return CR_ENOMEM;
    t->in = more;
    double *mu = cr_resize(cx, t->mu, t->n, t->n + 1, sizeof *mu);
    if (!mu) { /* as it was */
        t->in = cr_resize(cx, t->in, (t->n + 1) * t->m, t->n * t->m, sizeof *more);
        return CR_ENOMEM;
    }
    t->mu = mu;
    if (t->m > 0) memcpy(t->in + t->n * t->m, in, t->m * sizeof *in);
    t->mu[t->n++] = 0;
    return CR_OK;
}

cr_status cri_trees_add(cr_ctx *cx, const cri_fgraph *g, cri_trees *t, const double *gain,
                        double share)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    turn      *order = cr_scratch_bytes(&s, g->m, sizeof *order);
    size_t    *up = cr_scratch_index(&s, g->n);
    bool      *in = cr_scratch_bytes(&s, g->m, sizeof *in);
    CR_TRY(s.status);
    for (size_t i = 0; i < g->m; i++) order[i] = (turn){ 0, -gain[i], i };
    grow(g, order, up, in);
    CR_TRY(append(cx, t, in));
    for (size_t k = 0; k + 1 < t->n; k++) t->mu[k] *= 1 - share;
    t->mu[t->n - 1] = share;
    sum_weights(t);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_trees_take_back(cr_ctx *cx, cri_trees *t)
{
    size_t  n = t->n - 1;
    double  share = t->mu[n];
    bool   *in = cr_resize(cx, t->in, t->n * t->m, n * t->m, sizeof *in);
    double *mu = in ? cr_resize(cx, t->mu, t->n, n, sizeof *mu) : NULL;
    if (in) t->in = in;
    if (!mu) return CR_ENOMEM;
    t->mu = mu;
    t->n = n;
    for (size_t k = 0; k < n; k++) t->mu[k] /= 1 - share;
    sum_weights(t);
    return CR_OK;
}

cr_status cri_trees_new(cr_ctx *cx, const cri_fgraph *g, uint64_t seed, cri_trees *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_trees  t = { .m = g->m };
    turn      *order = cr_scratch_bytes(&s, g->m, sizeof *order);
    size_t    *up = cr_scratch_index(&s, g->n), least = 0;
    bool      *in = cr_scratch_bytes(&s, g->m, sizeof *in);
    cr_rng     r = cr_rng_stream(seed, 1);
    CR_TRY(s.status);
    t.rho = cr_alloc(cx, g->m, sizeof *t.rho);
    if (!t.rho) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < g->m; i++) order[i].table = i;
    for (bool tree = false; !tree && t.n < MOST && (least == 0 || t.n < LEAST);) {
        CR_TRY(cr_check_interrupt(cx));
        for (size_t i = 0; i < g->m; i++) order[i].tie = cr_rng_uniform(&r);
        tree = grow(g, order, up, in) == g->m;
        CR_TRY(append(cx, &t, in));
        least = SIZE_MAX;
        for (size_t i = 0; i < g->m; i++) least = order[i].used < least ? order[i].used : least;
    }
    if (least == 0)
        CR_TRY(
            cr_fail(cx, CR_EUNSUPPORTED, "the graph is too dense: %d trees do not cover it", MOST));
    for (size_t k = 0; k < t.n; k++) t.mu[k] = 1 / (double)t.n;
    sum_weights(&t);
    *out = t;
    t = (cri_trees){ 0 };
done:
    cri_trees_free(cx, &t);
    cr_scratch_end(&s);
    return st;
}

/* --- sums over a forest ---------------------------------------------------------------------- */

typedef struct walk {
    const cri_bp *b;
    size_t       *order, *table, *parent; /* variables and tables as reached, and from where */
    size_t        tables;
    bool         *seen, *root; /* [n] */
    double       *gathered;    /* [start[n]] B_i and what came up */
    double       *weight, *workspace, *up;
} walk;

/* From each root outwards: a table after the variable it was reached from. */
static void order_walk(walk *w, const bool *in)
{
    const cri_fgraph *g = w->b->g;
    size_t            n = 0;
    w->tables = 0;
    memset(w->seen, 0, g->n * sizeof *w->seen);
    for (size_t v = 0; v < g->n; v++) {
        w->root[v] = !w->seen[v];
        if (w->seen[v]) continue;
        w->seen[v] = true;
        w->order[n] = v;
        for (size_t k = n++; k < n; k++)
            for (size_t a = g->begin[w->order[k]]; a < g->begin[w->order[k] + 1]; a++) {
                size_t i = g->of[g->at[a]], fresh = 0;
                if (!in[i]) continue;
                for (size_t e = g->first[i]; e < g->first[i + 1]; e++) {
                    if (w->seen[g->var[e]]) continue;
                    w->seen[g->var[e]] = true;
                    w->order[n++] = g->var[e];
                    fresh++;
                }
                if (fresh + 1 < g->first[i + 1] - g->first[i]) continue; /* where it came from */
                w->table[w->tables] = i;
                w->parent[w->tables++] = w->order[k];
            }
    }
}

/* Table i sends to its variable `parent`; returns the log of the scale. */
static double send_up(walk *w, size_t i, size_t parent)
{
    const cri_fgraph *g = w->b->g;
    const cr_factor  *f = &g->table[i];
    double           *weight = w->weight, most = 0, *a = w->gathered + g->start[parent];
    size_t            slot = 0;
    for (size_t k = 0; k < f->n; weight += f->states[k++]) {
        const double *m = w->b->m + g->offset[g->first[i] + k];
        const double *below = w->gathered + g->start[f->var[k]];
        if (f->var[k] == parent) slot = k;
        for (size_t x = 0; x < f->states[k]; x++) weight[x] = m[x] > 0 ? below[x] / m[x] : 0;
    }
    cri_table_message(f, cri_bp_values(w->b, i), w->weight, slot, false, w->workspace, w->up);
    const double *m = w->b->m + g->offset[g->first[i] + slot];
    for (size_t x = 0; x < f->states[slot]; x++) {
        a[x] = m[x] > 0 ? a[x] * (w->up[x] / m[x]) : 0;
        most = fmax(most, a[x]);
    }
    for (size_t x = 0; most > 0 && x < f->states[slot]; x++) a[x] /= most;
    return log(most);
}

/* log Z_T; belief: the B_i. */
static double sum_forest(walk *w, const bool *in, const double *belief)
{
    const cri_fgraph *g = w->b->g;
    double            log_z = 0;
    order_walk(w, in);
    memcpy(w->gathered, belief, g->start[g->n] * sizeof *belief);
    for (size_t k = w->tables; k-- > 0;) log_z += send_up(w, w->table[k], w->parent[k]);
    for (size_t v = 0; v < g->n; v++) {
        double sum = 0;
        for (size_t x = 0; x < g->states[v]; x++) sum += w->gathered[g->start[v] + x];
        if (w->root[v]) log_z += log(sum);
    }
    return log_z;
}

/* B_i, its largest entry 1; returns the log of what it was divided by. */
static double find_belief(const cri_bp *b, size_t v, double *out)
{
    const cri_fgraph *g = b->g;
    double            most = -INFINITY;
    for (size_t x = 0; x < g->states[v]; x++) {
        out[x] = 0;
        for (size_t k = g->begin[v]; k < g->begin[v + 1]; k++) {
            size_t e = g->at[k];
            double l = b->logs[g->offset[e] + x];
            out[x] += l > -INFINITY ? b->rho[g->of[e]] * l : l;
        }
        most = fmax(most, out[x]);
    }
    for (size_t x = 0; x < g->states[v]; x++) out[x] = most > -INFINITY ? exp(out[x] - most) : 0;
    return most;
}

cr_status cri_trees_bound(cr_ctx *cx, const cri_trees *t, const cri_bp *b, double *out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const cri_fgraph *g = b->g;
    walk              w = { .b = b };
    double           *belief = cr_scratch_f64(&s, g->start[g->n]), sum = 0, scale = 0;
    w.order = cr_scratch_index(&s, g->n);
    w.table = cr_scratch_index(&s, g->m);
    w.parent = cr_scratch_index(&s, g->m);
    w.seen = cr_scratch_bytes(&s, g->n, sizeof *w.seen);
    w.root = cr_scratch_bytes(&s, g->n, sizeof *w.root);
    w.gathered = cr_scratch_f64(&s, g->start[g->n]);
    w.weight = cr_scratch_f64(&s, g->most_scope * g->most_states);
    w.workspace = cr_scratch_f64(&s, 2 * g->most_size);
    w.up = cr_scratch_f64(&s, g->most_states);
    CR_TRY(s.status);
    for (size_t v = 0; v < g->n; v++) scale += find_belief(b, v, belief + g->start[v]);
    for (size_t k = 0; k < t->n; k++) {
        CR_TRY(cr_check_interrupt(cx));
        if (t->mu[k] > 0) sum += t->mu[k] * sum_forest(&w, t->in + k * t->m, belief);
    }
    *out = b->impossible ? -INFINITY : g->scale + scale + sum;
done:
    cr_scratch_end(&s);
    return st;
}
