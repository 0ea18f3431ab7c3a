/* bucket.c -- one run of an elimination, from its tables to the last message. */
#include "bucket.h"
#include "bucket_internal.h"
#include "graph/factor/factor_internal.h"
#include "graph/factor/message.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* --- elimination ----------------------------------------------------------------------------- */

/* A run while it is executed. */
typedef struct work {
    const cri_run    *r;
    cr_factor        *table; /* [size]: tables, then one message per rank */
    size_t            tables, size;
    size_t           *first, *next; /* the tables of each bucket: lists through next[] */
    const cr_factor **in;           /* [size] workspace */
    size_t           *states;       /* [active] workspace */
    double            scale;        /* log of all that was divided by: log P(e) at the end */
    uint16_t        **arg;          /* [active] best states, where maximised */
    size_t           *arg_size;
} work;

static void free_work(cr_ctx *cx, work *w)
{
    size_t n = w->r->problem->active;
    cri_factors_free(cx, w->table, w->size);
    for (size_t i = 0; w->arg && i < n; i++)
        cr_free(cx, w->arg[i], w->arg_size[i], sizeof(uint16_t));
    if (w->arg) cr_free(cx, w->arg, n, sizeof *w->arg);
    if (w->arg_size) cr_free(cx, w->arg_size, n, sizeof *w->arg_size);
}

static void put_table(work *w, size_t i)
{
    const cr_factor *f = &w->table[i];
    if (!f->value || f->n == 0) return; /* a scaled constant is 1, or the scale says that it is 0 */
    size_t v = f->var[0];
    w->next[i] = w->first[v];
    w->first[v] = i;
}

/* Eliminates rank i: the message goes to place `to` of the tables. */
static cr_status eliminate(cr_ctx *cx, work *w, size_t i, size_t to)
{
    const cri_run *r = w->r;
    const size_t  *later = r->tree.later + r->tree.begin[i];
    size_t         n = r->tree.begin[i + 1] - r->tree.begin[i], inputs = 0;
    cri_space      sp = { 0 };
    bool           max = r->first_max != CR_NONE && i >= r->first_max;
    cr_status      st = CR_OK;
    CR_TRY(cri_space_add(&sp, i, r->problem->active_states[i]) ? CR_OK : cri_fail_dims(cx));
    for (size_t k = 0; k < n; k++) {
        w->states[k] = r->problem->active_states[later[k]];
        if (!cri_space_add(&sp, later[k], w->states[k])) CR_TRY(cri_fail_dims(cx));
    }
    CR_TRY(cri_factor_make(cx, n, later, w->states, &w->table[to]));
    for (size_t t = w->first[i]; t != CR_NONE; t = w->next[t]) w->in[inputs++] = &w->table[t];
    cri_message m = { &w->table[to], 0 };
    if (max) {
        w->arg_size[i] = m.table->size;
        w->arg[i] = cr_alloc(cx, m.table->size, sizeof **w->arg);
        if (!w->arg[i]) CR_TRY(CR_ENOMEM);
    }
    if (!cri_send(cx, &sp, max, inputs, w->in, 1, &m, max ? w->arg[i] : NULL, true))
        CR_TRY(cri_fail_combine(cx, m.table->size));
    w->scale += m.scale;
    for (size_t t = w->first[i]; t != CR_NONE; t = w->next[t]) cr_factor_free(cx, &w->table[t]);
    put_table(w, to);
    CR_TRY(cr_check_interrupt(cx));
done:
    return st;
}

/* The tables, a place behind them for each message, and for what maximising remembers. */
static cr_status make_tables(cr_ctx *cx, work *w)
{
    const cri_run *r = w->r;
    size_t         n = r->problem->active, tables;
    double         scale;
    cr_factor     *f = NULL;
    cr_status      st = cri_problem_tables(cx, r->problem, &f, &tables, &scale);
    if (st != CR_OK) return st;
    cr_factor *more = cr_resize(cx, f, tables, tables + n, sizeof *f);
    if (!more) {
        cri_factors_free(cx, f, tables);
        return CR_ENOMEM;
    }
    memset(more + tables, 0, n * sizeof *more);
    w->table = more;
    w->tables = tables;
    w->size = tables + n;
    w->scale = scale;
    if (r->first_max == CR_NONE) return CR_OK;
    for (size_t i = 0; i < n; i++)
        if (r->problem->active_states[i] > UINT16_MAX)
            return cr_fail(cx, CR_EUNSUPPORTED, "a variable has %zu states, more than %d",
                           r->problem->active_states[i], UINT16_MAX);
    w->arg_size = cr_alloc(cx, n, sizeof *w->arg_size);
    w->arg = w->arg_size ? cr_alloc(cx, n, sizeof *w->arg) : NULL;
    return w->arg ? CR_OK : CR_ENOMEM;
}

/* The product of what is left: a table over the last `kept` ranks. */
static cr_status join_rest(cr_ctx *cx, work *w, cr_factor *out_f)
{
    const cri_run *r = w->r;
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    size_t         n = r->problem->active, first = n - r->kept, inputs = 0;
    size_t        *var = cr_scratch_index(&s, r->kept);
    cri_space      sp = { 0 };
    cri_message    m = { out_f, 0 };
    CR_TRY(s.status);
    for (size_t i = first; i < n; i++) {
        var[i - first] = i;
        w->states[i - first] = r->problem->active_states[i];
        if (!cri_space_add(&sp, i, w->states[i - first])) CR_TRY(cri_fail_dims(cx));
        for (size_t t = w->first[i]; t != CR_NONE; t = w->next[t]) w->in[inputs++] = &w->table[t];
    }
    CR_TRY(cri_factor_make(cx, r->kept, var, w->states, out_f));
    if (!cri_send(cx, &sp, false, inputs, w->in, 1, &m, NULL, true)) {
        size_t size = out_f->size;
        cr_factor_free(cx, out_f);
        CR_TRY(cri_fail_combine(cx, size));
    }
    double total;
    cr_factor_normalise(out_f, &total);
    w->scale += m.scale + total;
done:
    cr_scratch_end(&s);
    return st;
}

/* The best states of the variables maximised over; others get any. */
static cr_status trace_back(cr_ctx *cx, const work *w, size_t *out_state)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_run     *r = w->r;
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
        choice[i] = w->arg[i][at];
        out_state[p->var[i]] = p->state[p->first[p->var[i]] + choice[i]];
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_run_execute(cr_ctx *cx, const cri_elimination *p, const cri_run *r,
                          cri_eliminated *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = r->problem->active;
    cr_factor  ranked = { 0 };
    work       w = { .r = r };
    CR_TRY(make_tables(cx, &w));
    w.first = cr_scratch_index(&s, n);
    w.next = cr_scratch_index(&s, w.size);
    w.in = cr_scratch_bytes(&s, w.size, sizeof *w.in);
    w.states = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) w.first[i] = CR_NONE;
    for (size_t i = w.tables; i-- > 0;) put_table(&w, i);
    for (size_t i = 0; i + r->kept < n && w.scale > -INFINITY; i++)
        CR_TRY(eliminate(cx, &w, i, w.tables + i));
    if (w.scale > -INFINITY && r->first_max != CR_NONE) CR_TRY(trace_back(cx, &w, out->state));
    if (w.scale > -INFINITY && r->first_max == CR_NONE && p->n > 0) {
        CR_TRY(join_rest(cx, &w, &ranked));
        if (w.scale > -INFINITY)
            CR_TRY(cri_problem_unpack(cx, r->problem, &ranked, p->n, p->query, &out->joint));
    }
    out->log = w.scale;
done:
    cr_factor_free(cx, &ranked);
    free_work(cx, &w);
    cr_scratch_end(&s);
    return st;
}
