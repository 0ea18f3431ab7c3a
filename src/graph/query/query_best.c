/* query_best.c -- the k best assignments, one after another.
 * The set of all assignments is cut into parts, each with its best one known.  The best of all is
 * taken out of its part, and what is left of that is cut again: for each variable in turn, the
 * assignments that agree with it on all variables before this one, but not on this one.  Every cut
 * takes one maximisation per variable, with the states that are left as evidence, so all engines
 * that find the best find the k best, exactly: O(k n) maximisations, most of them with many
 * variables already known.
 * Lawler (1972), Management Science 18; Nilsson (1998), "An efficient algorithm for finding the M
 * most probable configurations". */
#include "query_more.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Some assignments: variables before `fixed` are as in `best`, of variable `fixed` the states that
 * `barred` marks are left out, the others are free. */
typedef struct part {
    double  log;  /* log P(best, e) */
    size_t *best; /* [n] */
    size_t  fixed;
    bool   *barred; /* [states of that variable] */
    size_t  taken;  /* as the first, second, ... best; 0: not yet */
} part;

typedef struct search {
    cri_engine   *e;
    cr_scratch   *s;
    size_t        n;
    const size_t *variable;   /* [n]                                 */
    double      **likelihood; /* [n] as the evidence had it          */
    bool          all;        /* the variables are all that are open */
    part         *parts;      /* [n_parts] of [capacity]             */
    size_t        n_parts, capacity;
} search;

static size_t states_of(const search *x, size_t i)
{
    return cr_network_states(x->e->net, x->variable[i]);
}

/* The evidence of a part. */
static cr_status take_evidence(search *x, const part *p, bool *out_none)
{
    cr_status st = CR_OK;
    *out_none = false;
    for (size_t i = 0; i < x->n; i++) {
        size_t  n = states_of(x, i);
        double *row = cr_alloc(x->e->cx, n, sizeof *row), most = 0;
        if (!row) return CR_ENOMEM;
        for (size_t s = 0; s < n; s++) {
            bool in = i > p->fixed || (i == p->fixed && !p->barred[s]) ||
                      (i < p->fixed && s == p->best[i]);
            row[s] = in ? x->likelihood[i][s] : 0;
            if (row[s] > most) most = row[s];
        }
        *out_none |= most == 0;
        if (most > 0) st = cr_evidence_weigh(x->e->cx, x->e->evidence, x->variable[i], row);
        cr_free(x->e->cx, row, n, sizeof *row);
        if (st != CR_OK) return st;
    }
    cri_engine_changed(x->e);
    return st;
}

/* Adds a part if there is anything in it. */
static cr_status add_part(search *x, const part *p)
{
    cr_status st = CR_OK;
    size_t    all = cr_network_size(x->e->net);
    bool      none;
    size_t   *state = cr_scratch_index(x->s, all > x->n ? all : x->n);
    part      more = *p;
    CR_TRY(x->s->status);
    CR_TRY(cr_check_interrupt(x->e->cx));
    CR_TRY(take_evidence(x, p, &none));
    if (none) goto done;
    st = cri_engine_best(x->e, x->all ? 0 : x->n, x->all ? NULL : x->variable, state, &more.log);
    if (st == CR_EDATA) { /* nothing in this part is possible */
        st = CR_OK;
        goto done;
    }
    CR_TRY(st);
    more.best = cr_scratch_index(x->s, x->n);
    CR_TRY(x->s->status);
    for (size_t i = 0; i < x->n; i++) more.best[i] = state[x->all ? x->variable[i] : i];
    if (x->n_parts == x->capacity) {
        part *grown = cr_scratch_bytes(x->s, 2 * x->capacity, sizeof *grown);
        CR_TRY(x->s->status);
        memcpy(grown, x->parts, x->n_parts * sizeof *grown);
        x->parts = grown;
        x->capacity *= 2;
    }
    x->parts[x->n_parts++] = more;
done:
    return st;
}

/* Cuts what is left of a part when its best is taken out. */
static cr_status cut_part(search *x, const part *p)
{
    cr_status st = CR_OK;
    for (size_t i = p->fixed; i < x->n; i++) {
        part more = { .best = p->best, .fixed = i };
        more.barred = cr_scratch_bytes(x->s, states_of(x, i), sizeof *more.barred);
        CR_TRY(x->s->status);
        if (i == p->fixed && p->barred)
            memcpy(more.barred, p->barred, states_of(x, i) * sizeof *more.barred);
        more.barred[p->best[i]] = true;
        CR_TRY(add_part(x, &more));
    }
done:
    return st;
}

/* The part with the best assignment that has not been taken yet; of equals the first. */
static part *best_part(const search *x)
{
    part *best = NULL;
    for (size_t i = 0; i < x->n_parts; i++)
        if (x->parts[i].taken == 0 && (!best || x->parts[i].log > best->log)) best = &x->parts[i];
    return best;
}

static cr_status open_search(search *x, size_t n, const size_t *variable, bool all)
{
    cr_scratch *s = x->s;
    x->n = n;
    x->variable = variable;
    x->all = all;
    x->capacity = 16;
    x->parts = cr_scratch_bytes(s, x->capacity, sizeof *x->parts);
    x->likelihood = cr_scratch_bytes(s, n, sizeof *x->likelihood);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < n; i++) {
        const double *l = cr_evidence_likelihood(x->e->evidence, variable[i]);
        x->likelihood[i] = cr_scratch_f64(s, states_of(x, i));
        if (s->status != CR_OK) return s->status;
        for (size_t k = 0; k < states_of(x, i); k++) x->likelihood[i][k] = l ? l[k] : 1;
    }
    return CR_OK;
}

/* The assignments that were taken, in their order, with P(assignment | e). */
static cr_status keep_taken(const search *x, size_t rows, double log_e, cr_query_answer *out)
{
    cr_ctx *cx = x->e->cx;
    out->states = cr_alloc(cx, rows * x->n, sizeof *out->states);
    if (!out->states) return CR_ENOMEM;
    out->n_states = rows * x->n;
    out->value = cr_alloc(cx, rows, sizeof *out->value);
    if (!out->value) return CR_ENOMEM;
    out->values = out->rows = rows;
    for (size_t i = 0; i < x->n_parts; i++) {
        const part *p = &x->parts[i];
        if (p->taken == 0) continue;
        memcpy(out->states + (p->taken - 1) * x->n, p->best, x->n * sizeof *p->best);
        out->value[p->taken - 1] = exp(p->log < log_e ? p->log - log_e : 0);
    }
    return CR_OK;
}

/* Takes the best `most`, one after another, or those that there is time for: *out_rows. */
static cr_status take_best(search *x, size_t most, size_t *out_rows)
{
    cr_status st = CR_OK;
    cr_ctx   *cx = x->e->cx;
    double    deadline = cri_ctx_hasten(cx, 0.9);
    part      whole = { .fixed = 0 };
    size_t    rows = 0;
    whole.barred = cr_scratch_bytes(x->s, x->n ? states_of(x, 0) : 1, sizeof *whole.barred);
    CR_TRY(x->s->status);
    CR_TRY(add_part(x, &whole));
    for (part *best; rows < most && (best = best_part(x)) != NULL;) {
        best->taken = ++rows;
        part cut = *best; /* the list may move */
        if (rows < most) CR_TRY(cut_part(x, &cut));
    }
done:
    if (st == CR_ENOMEM && rows > 0 && cri_should_stop(cx)) {
        st = CR_OK;
        snprintf(x->e->result.why, sizeof x->e->result.why,
                 "the time limit ended the list after the best %zu of %zu", rows, most);
    }
    cri_ctx_set_deadline(cx, deadline);
    *out_rows = rows;
    return st;
}

cr_status cri_answer_best_list(cri_engine *e, const cr_question *q, double log_e,
                               cr_query_answer *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(e->cx);
    search     x = { .e = e, .s = &s };
    size_t     rows = 0;
    CR_TRY(open_search(&x, out->n, out->variable, q->n_x == 0));
    CR_TRY(take_best(&x, q->count, &rows));
    CR_TRY(keep_taken(&x, rows, log_e, out));
done:
    cr_scratch_end(&s);
    return st;
}
