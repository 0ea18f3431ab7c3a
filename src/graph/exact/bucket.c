/* bucket.c -- one elimination, from preparation to the last table. */
#include "bucket.h"
#include "bucket_internal.h"
#include "condition.h"
#include "graph/factor/factor_internal.h"
#include "graph/factor/message.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

cr_exact_options cr_exact_defaults(void) { return (cr_exact_options){ .effort = 1 }; }

/* --- preparation ----------------------------------------------------------------------------- */

void cri_run_free(cr_ctx *cx, cri_run *r)
{
    cri_factors_free(cx, r->table, r->room);
    cri_elimination_tree_free(cx, &r->tree);
    cr_order_free(cx, &r->order);
    for (size_t i = 0; r->arg && i < r->problem->active; i++)
        cr_free(cx, r->arg[i], r->arg_size[i], sizeof(uint16_t));
    if (r->arg) cr_free(cx, r->arg, r->problem->active, sizeof *r->arg);
    if (r->arg) cr_free(cx, r->arg_size, r->problem->active, sizeof *r->arg_size);
    cri_problem_free(cx, r->problem);
    *r = (cri_run){ 0 };
}

/* The order of another run with the same active variables. */
static cr_status copy_order(cr_ctx *cx, const cr_order *from, cr_order *out)
{
    size_t *order = cr_resize(cx, NULL, 0, from->n, sizeof *order);
    if (!order) return CR_ENOMEM;
    if (from->n > 0) memcpy(order, from->order, from->n * sizeof *order);
    *out = *from;
    out->order = order;
    return CR_OK;
}

static cr_status prepare(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                         const bool *opt_query, cri_goal goal, const cr_exact_options *o,
                         const cri_run *opt_like, cri_run *out_r)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_run    r = { 0 };
    cr_graph   g = { 0 };
    size_t    *group = NULL, kept = 0;
    double     start = (double)cr_ctx_memory(cx), passing, finding;
    CR_TRY(cri_problem_new(cx, net, opt_e, goal == CRI_BEST ? NULL : opt_query, &r.problem));
    if (goal == CRI_POSTERIOR) CR_TRY(cri_problem_connect(cx, r.problem, opt_query));
    group = cr_scratch_bytes(&s, r.problem->active, sizeof *group);
    CR_TRY(s.status);
    for (size_t i = 0; opt_query && goal != CRI_BEST && i < r.problem->active; i++)
        kept += group[i] = opt_query[r.problem->var[i]];
    passing = (double)cr_ctx_memory(cx);
    CR_TRY(cri_problem_graph(cx, r.problem, &g));
    passing = (double)cr_ctx_memory(cx) - passing; /* the graph is not kept */
    finding = (double)cr_ctx_memory(cx) - start;
    if (opt_like)
        CR_TRY(copy_order(cx, &opt_like->order, &r.order));
    else
        CR_TRY(cr_order_find(cx, &g, r.problem->active_states, kept ? group : NULL, o->order,
                             o->effort, &r.order));
    CR_TRY(cri_elimination_tree_new(cx, &g, r.order.order, &r.tree));
    CR_TRY(cri_problem_rank(cx, r.problem, r.order.order));
    r.first_max = goal == CRI_BEST ? 0 : goal == CRI_MAP ? r.problem->active - kept : CR_NONE;
    r.kept = goal == CRI_BEST || goal == CRI_MAP ? 0 : kept;
    if (!opt_like)
        CR_TRY(cri_run_predict(cx, &r, finding + r.order.bytes,
                               (double)cr_ctx_memory(cx) - start - passing));
    *out_r = r;
    r = (cri_run){ 0 };
done:
    cr_graph_free(cx, &g);
    cri_run_free(cx, &r);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_run_prepare(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                          const bool *opt_query, cri_goal goal, const cr_exact_options *o,
                          cri_run *out_r)
{
    return prepare(cx, net, opt_e, opt_query, goal, o, NULL, out_r);
}

cr_status cri_run_prepare_like(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                               const bool *opt_query, cri_goal goal, const cri_run *like,
                               cri_run *out_r)
{
    return prepare(cx, net, opt_e, opt_query, goal, NULL, like, out_r);
}

bool cri_run_fits(cr_ctx *cx, const cri_run *r, const cr_exact_options *o)
{
    return cri_exact_has_room(cx, o, &r->report);
}

/* --- elimination ----------------------------------------------------------------------------- */

/* The tables of each bucket: lists through next[]. */
typedef struct buckets {
    size_t *first, *next;
} buckets;

static void put_table(cri_run *r, const buckets *b, size_t i)
{
    const cr_factor *f = &r->table[i];
    if (!f->value || f->n == 0) return; /* a scaled constant is 1, or the scale says that it is 0 */
    size_t v = f->var[0];
    b->next[i] = b->first[v];
    b->first[v] = i;
}

/* Eliminates rank i: the message goes to place `to` of the tables. */
static cr_status eliminate(cr_ctx *cx, cri_run *r, const buckets *b, size_t i, size_t to,
                           const cr_factor **in, size_t *states)
{
    const size_t *later = r->tree.later + r->tree.begin[i];
    size_t        n = r->tree.begin[i + 1] - r->tree.begin[i], inputs = 0;
    cri_space     sp = { 0 };
    bool          max = r->first_max != CR_NONE && i >= r->first_max;
    cr_status     st = CR_OK;
    CR_TRY(cri_space_add(&sp, i, r->problem->active_states[i]) ? CR_OK : cri_fail_dims(cx));
    for (size_t k = 0; k < n; k++) {
        states[k] = r->problem->active_states[later[k]];
        if (!cri_space_add(&sp, later[k], states[k])) CR_TRY(cri_fail_dims(cx));
    }
    CR_TRY(cri_factor_make(cx, n, later, states, &r->table[to]));
    for (size_t t = b->first[i]; t != CR_NONE; t = b->next[t]) in[inputs++] = &r->table[t];
    cri_message m = { &r->table[to], 0 };
    if (max) {
        r->arg_size[i] = m.table->size;
        r->arg[i] = cr_alloc(cx, m.table->size, sizeof **r->arg);
        if (!r->arg[i]) CR_TRY(CR_ENOMEM);
    }
    if (!cri_send(cx, &sp, max, inputs, in, 1, &m, max ? r->arg[i] : NULL, true))
        CR_TRY(cri_fail_combine(cx, m.table->size));
    r->scale += m.scale;
    for (size_t t = b->first[i]; t != CR_NONE; t = b->next[t]) cr_factor_free(cx, &r->table[t]);
    put_table(r, b, to);
    CR_TRY(cr_check_interrupt(cx));
done:
    return st;
}

/* Room for the messages behind the tables, and for what maximising remembers. */
static cr_status make_room(cr_ctx *cx, cri_run *r)
{
    size_t     n = r->problem->active, tables;
    double     scale;
    cr_factor *f = NULL;
    cr_status  st = cri_problem_tables(cx, r->problem, &f, &tables, &scale);
    if (st != CR_OK) return st;
    cr_factor *more = cr_resize(cx, f, tables, tables + n, sizeof *f);
    if (!more) {
        cri_factors_free(cx, f, tables);
        return CR_ENOMEM;
    }
    memset(more + tables, 0, n * sizeof *more);
    r->table = more;
    r->tables = tables;
    r->room = tables + n;
    r->scale = scale;
    if (r->first_max == CR_NONE) return CR_OK;
    for (size_t i = 0; i < n; i++)
        if (r->problem->active_states[i] > UINT16_MAX)
            return cr_fail(cx, CR_EUNSUPPORTED, "a variable has %zu states, more than %d",
                           r->problem->active_states[i], UINT16_MAX);
    r->arg_size = cr_alloc(cx, n, sizeof *r->arg_size);
    if (!r->arg_size) return CR_ENOMEM;
    r->arg = cr_alloc(cx, n, sizeof *r->arg);
    if (r->arg) return CR_OK;
    cr_free(cx, r->arg_size, n, sizeof *r->arg_size);
    return CR_ENOMEM;
}

/* The product of what is left: a table over the last `kept` ranks. */
static cr_status join_rest(cr_ctx *cx, cri_run *r, const buckets *b, const cr_factor **in,
                           size_t *states, cr_factor *out_f)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      n = r->problem->active, first = n - r->kept, inputs = 0;
    size_t     *var = cr_scratch_index(&s, r->kept);
    cri_space   sp = { 0 };
    cri_message m = { out_f, 0 };
    CR_TRY(s.status);
    for (size_t i = first; i < n; i++) {
        var[i - first] = i;
        states[i - first] = r->problem->active_states[i];
        if (!cri_space_add(&sp, i, states[i - first])) CR_TRY(cri_fail_dims(cx));
        for (size_t t = b->first[i]; t != CR_NONE; t = b->next[t]) in[inputs++] = &r->table[t];
    }
    CR_TRY(cri_factor_make(cx, r->kept, var, states, out_f));
    if (!cri_send(cx, &sp, false, inputs, in, 1, &m, NULL, true)) {
        size_t size = out_f->size;
        cr_factor_free(cx, out_f);
        CR_TRY(cri_fail_combine(cx, size));
    }
    double total;
    cr_factor_normalise(out_f, &total);
    r->scale += m.scale + total;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_run_eliminate(cr_ctx *cx, cri_run *r, cr_factor *out_joint)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = r->problem->active;
    buckets    b = { 0 };
    CR_TRY(make_room(cx, r));
    b.first = cr_scratch_index(&s, n);
    b.next = cr_scratch_index(&s, r->room);
    const cr_factor **in = cr_scratch_bytes(&s, r->room, sizeof *in);
    size_t           *states = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) b.first[i] = CR_NONE;
    for (size_t i = r->tables; i-- > 0;) put_table(r, &b, i);
    for (size_t i = 0; i + r->kept < n && r->scale > -INFINITY; i++)
        CR_TRY(eliminate(cx, r, &b, i, r->tables + i, in, states));
    if (out_joint && r->scale > -INFINITY) CR_TRY(join_rest(cx, r, &b, in, states, out_joint));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_run_trace_back(cr_ctx *cx, const cri_run *r, size_t *out_state)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_problem *p = r->problem;
    size_t            *choice = cr_scratch_index(&s, p->active);
    CR_TRY(s.status);
    for (size_t v = 0; v < p->n; v++) out_state[v] = p->state[p->first[v]];
    for (size_t i = p->active; i-- > r->first_max;) {
        size_t at = 0;
        for (size_t k = r->tree.begin[i]; k < r->tree.begin[i + 1]; k++) {
            size_t j = r->tree.later[k];
            at = at * p->active_states[j] + choice[j];
        }
        choice[i] = r->arg[i][at];
        out_state[p->var[i]] = p->state[p->first[p->var[i]] + choice[i]];
    }
done:
    cr_scratch_end(&s);
    return st;
}
