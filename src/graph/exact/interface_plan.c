/* interface_plan.c -- the steps of a slice: which variable is summed out of which tables, in which order.
 * Greedy: the variable whose clique has the fewest entries is next. */
#include "interface_internal.h"
#include "base/context_internal.h"

#include <string.h>

/* Tables at the most, with what steps leave: 1 + 2n at first, and each step leaves one of those it takes. */
#define MOST_TABLES(n) (6 * (n) + 8)

/* A table on the way: what it is, and its open variables. */
typedef struct table {
    cri_input what;
    size_t    n, *id, *stride; /* open variables, any order */
    bool      used, taken, carries;
} table;

typedef struct planner {
    cr_ctx              *cx;
    const cri_interface *h;
    cri_program         *p;
    const unsigned char *key;
    table               *list; /* [n_list] of [MOST_TABLES(n)] */
    size_t               n_list;
    bool                *open;   /* [2n] still to be summed out */
    bool                *clique; /* [2n] */
    bool                 scopes_only;
} planner;

static size_t states_of(const planner *g, size_t id)
{
    return cr_network_states(g->h->first, id % g->h->n);
}

/* --- tables ---------------------------------------------------------------------------------- */

/* Adds a table over these ids, the last running fastest. */
static void add_table(planner *g, cri_source_of from, size_t index, size_t n, const size_t *id)
{
    table  *t = &g->list[g->n_list];
    size_t  stride = 1;
    size_t *memory = cr_scratch_index(&g->p->s, 4 * n + 1);
    if (g->p->s.status != CR_OK) return;
    *t = (table){ .what = { .from = from, .index = index }, .carries = from == CRI_FROM_MESSAGE };
    t->id = memory;
    t->stride = memory + n;
    t->what.id = memory + 2 * n;
    t->what.stride = memory + 3 * n;
    for (size_t i = n; i-- > 0;) {
        bool seen = g->key[id[i]] >= CRI_SEEN_STATE;
        if (seen) {
            t->what.id[t->what.fixed] = id[i];
            t->what.stride[t->what.fixed++] = stride;
        } else {
            t->id[t->n] = id[i];
            t->stride[t->n++] = stride;
        }
        stride *= states_of(g, id[i]);
    }
    g->n_list++;
}

static bool is_member(const cri_interface *h, size_t v)
{
    for (size_t i = 0; i < h->members; i++)
        if (h->member[i] == v) return true;
    return false;
}

/* The tables of the slice, alpha of the one before, and the likelihoods of what is open.  Marginals of the interface come
 * from alpha and beta, and need none. */
static void add_tables(planner *g)
{
    const cri_interface *h = g->h;
    const cr_network    *net = g->p->first ? h->first : h->next;
    size_t               shift = g->p->first ? h->n : 0;
    cr_scratch           s = cr_scratch_begin(g->cx);
    size_t              *id = cr_scratch_index(&s, 2 * h->n);
    if (!g->p->first && id) add_table(g, CRI_FROM_MESSAGE, 0, h->members, h->member);
    for (size_t v = 0; v < h->n && id; v++) {
        cr_table_view t = cr_network_table(net, g->p->first ? v : h->n + v);
        size_t        own = h->n + v;
        for (size_t i = 0; i < t.n; i++) id[i] = t.scope[i] + shift;
        if (g->key[own] != CRI_SEEN_SET) add_table(g, CRI_FROM_TABLE, v, t.n, id);
        if (g->key[own] == CRI_SEEN_WEIGHED || (g->key[own] == CRI_SEEN_NOT && !is_member(h, v)))
            add_table(g, CRI_FROM_LIKELIHOOD, v, 1, &own);
    }
    if (s.status != CR_OK) g->p->s.status = s.status;
    cr_scratch_end(&s);
}

/* --- steps ----------------------------------------------------------------------------------- */

static bool has(const table *t, size_t id)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->id[i] == id) return true;
    return false;
}

/* Is it multiplied where `id` is summed out?  CR_NONE: all that are left are. */
static bool takes_part(const table *t, size_t id)
{
    return !t->used && (id == CR_NONE || has(t, id));
}

/* The clique that summing out `id` makes; its entries. */
static double find_clique(planner *g, size_t id)
{
    double size = 1;
    memset(g->clique, 0, 2 * g->h->n * sizeof *g->clique);
    for (size_t i = 0; i < g->n_list; i++)
        if (takes_part(&g->list[i], id))
            for (size_t k = 0; k < g->list[i].n; k++) g->clique[g->list[i].id[k]] = true;
    for (size_t k = 0; k < 2 * g->h->n; k++)
        if (g->clique[k]) size *= (double)states_of(g, k);
    return size;
}

static size_t cheapest(planner *g)
{
    size_t best = CR_NONE;
    double least = 0;
    for (size_t id = 0; id < 2 * g->h->n; id++) {
        if (!g->open[id]) continue;
        double size = find_clique(g, id);
        if (best == CR_NONE || size < least) best = id, least = size;
    }
    return best;
}

/* The strides of a table along the variables of a space. */
static void lay(const cri_space *space, const table *t, size_t *out)
{
    for (size_t d = 0; d < space->n; d++) {
        out[d] = 0;
        for (size_t i = 0; i < t->n; i++)
            if (t->id[i] == space->var[d]) out[d] = t->stride[i];
    }
}

/* Puts the tables that a step multiplies into it: those that are marked. */
static void take_inputs(planner *g, cri_step *step)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_list; i++) n += g->list[i].taken;
    step->input = cr_scratch_bytes(&g->p->s, n, sizeof *step->input);
    step->in = cr_scratch_bytes(&g->p->s, n, sizeof *step->in);
    if (g->p->s.status != CR_OK) return;
    for (size_t i = 0; i < g->n_list; i++) {
        table *t = &g->list[i];
        if (!t->taken) continue;
        t->taken = false;
        t->used = true;
        step->carries |= t->carries;
        step->input[step->inputs] = t->what;
        lay(&step->space, t, step->in[step->inputs++].stride);
    }
}

/* What a step leaves, as a table for those after it. */
static void leave(planner *g, cri_step *step, size_t at)
{
    table *t = &g->list[g->n_list];
    size_t n = 0, stride = 1;
    for (size_t k = 0; k < 2 * g->h->n; k++) n += g->clique[k] && k != step->eliminated;
    size_t *memory = cr_scratch_index(&g->p->s, 2 * n + 1);
    if (g->p->s.status != CR_OK) return;
    *t = (table){ .what = { .from = CRI_FROM_STEP, .index = at }, .carries = step->carries };
    t->id = memory;
    t->stride = memory + n;
    for (size_t k = 2 * g->h->n; k-- > 0;) {
        if (!g->clique[k] || k == step->eliminated) continue;
        t->id[t->n] = k;
        t->stride[t->n++] = stride;
        stride *= states_of(g, k);
    }
    step->size = stride;
    lay(&step->space, t, step->out.stride);
    g->n_list++;
    if (g->scopes_only) return;
    step->value = cr_scratch_f64(&g->p->s, step->size);
    step->adjoint = cr_scratch_f64(&g->p->s, step->size);
}

/* The last step: all that is left makes alpha. */
static void finish(planner *g, cri_step *step)
{
    const cri_interface *h = g->h;
    planner              to = *g;
    table               *t = &g->list[g->n_list];
    size_t              *id = cr_scratch_index(&g->p->s, h->members);
    if (g->p->s.status != CR_OK) return;
    for (size_t i = 0; i < h->members; i++) id[i] = h->n + h->member[i];
    add_table(&to, CRI_FROM_MESSAGE, 0, h->members, id);
    if (g->p->s.status != CR_OK) return;
    step->place = t->what;
    step->size = h->size;
    lay(&step->space, t, step->out.stride);
}

static cr_status refuse_size(const planner *g, double size)
{
    cr_fail(g->cx, CR_ENOMEM, "a slice of the network needs a table of %.3g entries", size);
    return cr_fail_hint(g->cx,
                        "what connects a slice to the next has %zu variables, %.3g joint states",
                        g->h->members, (double)g->h->size);
}

/* Where the tables of a step are along the last variables of its space, as many as make a block. */
static void list_places(planner *g, cri_step *step)
{
    const cri_space *space = &step->space;
    if (space->n == 0 || cri_space_size(space) >= CRI_LARGE_SPACE) return;
    step->block = space->states[space->n - 1];
    for (step->inner = 1; step->inner < space->n; step->inner++) {
        size_t more = step->block * space->states[space->n - 1 - step->inner];
        if (more > CRI_MOST_BLOCK) break;
        step->block = more;
    }
    step->at = cr_scratch_bytes(&g->p->s, step->inputs + 1, sizeof(*step->at));
    for (size_t k = 0; k <= step->inputs && step->at; k++) {
        const size_t *stride = k < step->inputs ? step->in[k].stride : step->out.stride;
        step->at[k] = cr_scratch_bytes(&g->p->s, step->block, sizeof **step->at);
        for (size_t e = 0; e < step->block && step->at[k]; e++)
            for (size_t d = space->n, rest = e; d-- > space->n - step->inner;) {
                step->at[k][e] += (uint32_t)(rest % space->states[d] * stride[d]);
                rest /= space->states[d];
            }
    }
}

/* A step over the clique and the tables that are marked. */
static cr_status add_step(planner *g, size_t id, bool last, double size)
{
    cr_status st = CR_OK;
    size_t    at = g->p->steps, variables = 0;
    cri_step *step = &g->p->step[at];
    step->eliminated = id;
    step->last = last;
    if (id != CR_NONE)
        cri_space_add(&step->space, id, states_of(g, id)); /* sums go in long strides */
    for (size_t k = 0; k < 2 * g->h->n; k++) {
        if (!g->clique[k]) continue;
        variables++;
        if (k != id && !cri_space_add(&step->space, k, states_of(g, k)))
            CR_TRY(refuse_size(g, size));
    }
    if (!g->scopes_only && 16 * size > (double)cri_memory_left(g->cx)) CR_TRY(refuse_size(g, size));
    g->p->operations += size;
    if (variables > g->p->width + 1) g->p->width = variables - 1;
    take_inputs(g, step);
    CR_TRY(g->p->s.status);
    if (last)
        finish(g, step);
    else
        leave(g, step, at);
    CR_TRY(g->p->s.status);
    if (!g->scopes_only) list_places(g, step);
    CR_TRY(g->p->s.status);
    g->p->steps++;
done:
    return st;
}

/* Marks up to so many tables that take part, those of the fewest variables first; how many there are in all. */
static size_t mark(planner *g, size_t id, size_t most)
{
    size_t all = 0, marked = 0;
    for (size_t i = 0; i < g->n_list; i++) all += takes_part(&g->list[i], id);
    for (size_t n = 0; marked < most && marked < all; n++)
        for (size_t i = 0; i < g->n_list && marked < most; i++) {
            table *t = &g->list[i];
            if (!takes_part(t, id) || t->n != n) continue;
            t->taken = true;
            marked++;
        }
    return all;
}

/* Sums out a variable, or, at the end, none.  Many tables are first multiplied some at a time. */
static cr_status eliminate(planner *g, size_t id)
{
    cr_status st = CR_OK;
    while (mark(g, id, CRI_MOST_INPUTS) > CRI_MOST_INPUTS) {
        double size = 1;
        memset(g->clique, 0, 2 * g->h->n * sizeof *g->clique);
        for (size_t i = 0; i < g->n_list; i++)
            for (size_t k = 0; g->list[i].taken && k < g->list[i].n; k++)
                g->clique[g->list[i].id[k]] = true;
        for (size_t k = 0; k < 2 * g->h->n; k++)
            if (g->clique[k]) size *= (double)states_of(g, k);
        CR_TRY(add_step(g, CR_NONE, false, size));
    }
    CR_TRY(add_step(g, id, id == CR_NONE, find_clique(g, id)));
    if (id != CR_NONE) g->open[id] = false;
done:
    return st;
}

/* --- the program ----------------------------------------------------------------------------- */

static cr_status plan(planner *g)
{
    cr_status            st = CR_OK;
    const cri_interface *h = g->h;
    size_t               id;
    for (size_t i = 0; i < h->members && !g->p->first; i++) g->open[h->member[i]] = true;
    for (size_t v = 0; v < h->n; v++) g->open[h->n + v] = true;
    for (size_t i = 0; i < h->members; i++) g->open[h->n + h->member[i]] = false;
    for (id = 0; id < 2 * h->n; id++) g->open[id] = g->open[id] && g->key[id] < CRI_SEEN_STATE;
    g->p->step = cr_scratch_bytes(&g->p->s, MOST_TABLES(h->n), sizeof *g->p->step);
    CR_TRY(g->p->s.status);
    while ((id = cheapest(g)) != CR_NONE) CR_TRY(eliminate(g, id));
    CR_TRY(eliminate(g, CR_NONE));
done:
    return st;
}

cr_status cri_program_new(cr_ctx *cx, const cri_interface *h, bool first, const unsigned char *key,
                          bool scopes_only, cri_program **out)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    cri_program *p = cr_alloc(cx, 1, sizeof *p);
    planner      g = { .cx = cx, .h = h, .p = p, .key = key, .scopes_only = scopes_only };
    if (!p) return CR_ENOMEM;
    p->s = cr_scratch_begin(cx);
    p->first = first;
    p->key = cr_scratch_bytes(&p->s, 2 * h->n, 1);
    g.list = cr_scratch_bytes(&s, MOST_TABLES(h->n), sizeof *g.list);
    g.open = cr_scratch_bytes(&s, 2 * h->n, sizeof *g.open);
    g.clique = cr_scratch_bytes(&s, 2 * h->n, sizeof *g.clique);
    CR_TRY(p->s.status);
    CR_TRY(s.status);
    memcpy(p->key, key, 2 * h->n);
    add_tables(&g);
    CR_TRY(p->s.status);
    CR_TRY(plan(&g));
    *out = p;
    p = NULL;
done:
    cri_program_free(cx, p);
    cr_scratch_end(&s);
    return st;
}

void cri_program_free(cr_ctx *cx, cri_program *p)
{
    if (!p) return;
    cr_scratch_end(&p->s);
    cr_free(cx, p, 1, sizeof *p);
}
