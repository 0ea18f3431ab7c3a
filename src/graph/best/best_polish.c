/* best_polish.c -- better assignments by trees of variables, each set to the best given the others.
 * A random set of variables is gathered, no table having more than two of them and no two joined by
 * more than one path; given all others it is a forest, whose best states take one pass up and one
 * down.  The value never falls.  Hamze & de Freitas (2004), "From fields to trees", UAI. */
#include "best_internal.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "base/find.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 100, IDLE_ROUNDS = 12 };

typedef struct forest {
    cri_best              *s;
    bool                  *in;     /* [n] in the forest */
    size_t                *root;   /* [n] union-find */
    size_t                *order;  /* [n] variables, parents first */
    size_t                *parent; /* [n] CR_NONE: none */
    const cri_best_table **by;     /* [n] the table that joins it to its parent */
    double               **value;  /* [n][states] of all tables and children */
    size_t               **arg;    /* [n][states of the parent] the best state */
    size_t                 n;      /* of order */
} forest;

/* The one other variable of the forest in table t; CR_NONE: there is none; *many: several. */
static size_t other_of(const forest *f, const cri_best_table *t, size_t v, bool *many)
{
    size_t found = CR_NONE;
    for (size_t k = 0; k < t->n; k++) {
        if (t->var[k] == v || !f->in[t->var[k]]) continue;
        if (found != CR_NONE) *many = true;
        found = t->var[k];
    }
    return found;
}

/* Takes v into the forest if it stays one.  near: workspace for the trees that v joins. */
static void gather_variable(forest *f, size_t v, size_t *near)
{
    cri_best *s = f->s;
    size_t    n = 0;
    bool      many = false;
    for (size_t a = s->begin[v]; a < s->begin[v + 1]; a++) {
        size_t u = other_of(f, s->end[a].t, v, &many);
        if (many) return;
        if (u == CR_NONE) continue;
        u = cri_find_root(f->root, u);
        for (size_t i = 0; i < n; i++)
            if (near[i] == u) return;
        near[n++] = u;
    }
    f->in[v] = true;
    for (size_t i = 0; i < n; i++) f->root[near[i]] = v;
}

/* Orders the trees, parents first. */
static void order_trees(forest *f)
{
    cri_best *s = f->s;
    bool      many;
    f->n = 0;
    for (size_t v = 0; v < s->n; v++) {
        if (!f->in[v] || cri_find_root(f->root, v) != v) continue;
        f->parent[v] = CR_NONE;
        f->order[f->n++] = v;
        for (size_t i = f->n - 1; i < f->n; i++) {
            size_t w = f->order[i];
            for (size_t a = s->begin[w]; a < s->begin[w + 1]; a++) {
                size_t u = other_of(f, s->end[a].t, w, &many);
                if (u == CR_NONE || u == f->parent[w]) continue;
                f->parent[u] = w;
                f->by[u] = s->end[a].t;
                f->order[f->n++] = u;
            }
        }
    }
}

/* Where table t is at the chosen states of all variables but a and b; their strides. */
static size_t place_in(const cri_best *s, const cri_best_table *t, size_t a, size_t b,
                       size_t *stride_a, size_t *stride_b)
{
    size_t at = 0;
    for (size_t k = 0; k < t->n; k++) {
        if (t->var[k] == a)
            *stride_a = t->stride[k];
        else if (t->var[k] == b)
            *stride_b = t->stride[k];
        else
            at += t->stride[k] * s->choice[t->var[k]];
    }
    return at;
}

/* Sums up what is said of v, its children having been added, and passes the best on to its parent.
 */
static void pass_up(forest *f, size_t v)
{
    cri_best *s = f->s;
    size_t    states = s->problem->active_states[v], u = f->parent[v], sv = 0, su = 0;
    bool      many;
    double   *value = f->value[v];
    for (size_t a = s->begin[v]; a < s->begin[v + 1]; a++) {
        const cri_best_table *t = s->end[a].t;
        if (other_of(f, t, v, &many) != CR_NONE) continue;
        size_t at = place_in(s, t, v, CR_NONE, &sv, &su);
        for (size_t x = 0; x < states; x++) value[x] += t->value[at + x * sv];
    }
    if (u == CR_NONE) return;
    size_t at = place_in(s, f->by[v], v, u, &sv, &su);
    for (size_t y = 0; y < s->problem->active_states[u]; y++) {
        double most = -INFINITY;
        f->arg[v][y] = s->choice[v];
        for (size_t x = 0; x < states; x++) {
            double here = value[x] + f->by[v]->value[at + x * sv + y * su];
            if (here > most) most = here, f->arg[v][y] = x;
        }
        f->value[u][y] += most;
    }
}

/* Sets a forest to its best states; true: something has changed. */
static bool set_forest(forest *f)
{
    cri_best *s = f->s;
    bool      changed = false;
    order_trees(f);
    for (size_t i = 0; i < f->n; i++) {
        size_t v = f->order[i];
        for (size_t x = 0; x < s->problem->active_states[v]; x++) f->value[v][x] = 0;
    }
    for (size_t i = f->n; i-- > 0;) pass_up(f, f->order[i]);
    for (size_t i = 0; i < f->n; i++) {
        size_t v = f->order[i], best = s->choice[v];
        if (f->parent[v] != CR_NONE) best = f->arg[v][s->choice[f->parent[v]]];
        for (size_t x = 0; f->parent[v] == CR_NONE && x < s->problem->active_states[v]; x++)
            if (f->value[v][x] > f->value[v][best]) best = x;
        changed |= best != s->choice[v];
        s->choice[v] = best;
    }
    return changed;
}

static cr_status make_forest(cr_scratch *a, cri_best *s, forest *f)
{
    size_t total = 0, args = 0, most = 0;
    for (size_t v = 0; v < s->n; v++) {
        total += s->problem->active_states[v];
        if (s->problem->active_states[v] > most) most = s->problem->active_states[v];
    }
    args = s->n * most;
    *f = (forest){ .s = s };
    f->in = cr_scratch_bytes(a, s->n, sizeof *f->in);
    f->root = cr_scratch_index(a, s->n);
    f->order = cr_scratch_index(a, s->n);
    f->parent = cr_scratch_index(a, s->n);
    f->by = cr_scratch_bytes(a, s->n, sizeof *f->by);
    f->value = cr_scratch_bytes(a, s->n, sizeof *f->value);
    f->arg = cr_scratch_bytes(a, s->n, sizeof *f->arg);
    double *values = cr_scratch_f64(a, total);
    size_t *states = cr_scratch_index(a, args);
    if (a->status != CR_OK) return a->status;
    for (size_t v = 0; v < s->n; v++) {
        f->value[v] = values;
        f->arg[v] = states + v * most;
        values += s->problem->active_states[v];
    }
    return CR_OK;
}

cr_status cri_best_polish(cri_best *s)
{
    cr_status  st = CR_OK;
    cr_scratch a = cr_scratch_begin(s->cx);
    cr_rng     r = cr_rng_stream(0, s->n);
    forest     f;
    size_t    *pick = cr_scratch_index(&a, s->n), *near = cr_scratch_index(&a, s->m + 1);
    CR_TRY(a.status);
    CR_TRY(make_forest(&a, s, &f));
    memcpy(s->choice, s->best_choice, s->n * sizeof *s->choice);
    for (size_t round = 0, idle = 0; round < MOST_ROUNDS && idle < IDLE_ROUNDS; round++) {
        CR_TRY(cri_best_check_time(s));
        if (s->timed) break;
        cr_rng_permutation(&r, s->n, pick);
        for (size_t v = 0; v < s->n; v++) f.in[v] = false, f.root[v] = v;
        for (size_t i = 0; i < s->n; i++) gather_variable(&f, pick[i], near);
        idle = set_forest(&f) ? 0 : idle + 1;
        s->work += (double)s->m;
    }
    cri_best_keep(s);
done:
    cr_scratch_end(&a);
    return st;
}
