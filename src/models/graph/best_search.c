/* best_search.c -- branch and bound over a network whose bound is kept by moving weights. */
#include "best_search.h"
#include "combine.h"
#include "problem.h"
#include "../../base/scratch.h"

#include <math.h>
#include <string.h>

enum { ROOT_SWEEPS = 300, NODE_SWEEPS = 12 };
static const double USUAL_WORK = 2e8, SLACK = 1e-9;

typedef struct table {
    size_t        n;
    const size_t *var, *stride;
    const double *value;   /* logs */
    double      **message; /* [n][states]: m_Fv */
    double        gap;     /* what it misses at the best states of its variables */
} table;

typedef struct search {
    cr_ctx      *cx;
    cri_problem *problem;
    cr_factor   *factor;
    size_t       n, m; /* variables, tables */
    table       *tables;
    double       constant;
    size_t      *left;           /* [n] states that are left, */
    size_t     **alive;          /* [n][states] these first, then those that are out */
    size_t     **place;          /* [n][states] where a state is in `alive` */
    double     **belief;         /* [n][states] b_v */
    double      *most;           /* [all states] room for max-marginals of one table */
    size_t      *digit, *choice; /* [n] */
    size_t      *trail_var;      /* variables in the order in which they lost states */
    size_t       trailed;
    double       best; /* -INFINITY: none yet */
    size_t      *best_choice;
    double       open; /* bound of what the search has left out */
    bool         stopped;
    double       work, budget;
    size_t       nodes;
} search;

/* --- states that are left -------------------------------------------------------------------- */

static void swap_places(search *s, size_t v, size_t i, size_t k)
{
    size_t a = s->alive[v][i], b = s->alive[v][k];
    s->alive[v][i] = b, s->place[v][b] = i;
    s->alive[v][k] = a, s->place[v][a] = k;
}

static void remove_state(search *s, size_t v, size_t state)
{
    swap_places(s, v, s->place[v][state], --s->left[v]);
    s->trail_var[s->trailed++] = v;
}

static void undo(search *s, size_t to)
{
    while (s->trailed > to) s->left[s->trail_var[--s->trailed]]++;
}

static void keep_only(search *s, size_t v, size_t state)
{
    while (s->left[v] > 1) {
        size_t last = s->alive[v][s->left[v] - 1];
        remove_state(s, v, last == state ? s->alive[v][0] : last);
    }
}

/* --- walking through a table ----------------------------------------------------------------- */

/* Starts at the first entry of the states that are left; returns its place. */
static size_t first_entry(search *s, const table *t)
{
    size_t at = 0;
    for (size_t k = 0; k < t->n; k++) {
        s->digit[k] = 0;
        at += t->stride[k] * s->alive[t->var[k]][0];
    }
    return at;
}

static bool next_entry(search *s, const table *t, size_t *at)
{
    for (size_t k = t->n; k-- > 0;) {
        size_t v = t->var[k], was = s->alive[v][s->digit[k]];
        bool   more = ++s->digit[k] < s->left[v];
        if (!more) s->digit[k] = 0;
        *at += t->stride[k] * s->alive[v][s->digit[k]] - t->stride[k] * was;
        if (more) return true;
    }
    return false;
}

static size_t state_of(const search *s, const table *t, size_t k)
{
    return s->alive[t->var[k]][s->digit[k]];
}

/* --- the bound ------------------------------------------------------------------------------- */

static size_t best_state(const search *s, size_t v)
{
    size_t best = s->alive[v][0];
    for (size_t i = 1; i < s->left[v]; i++)
        if (s->belief[v][s->alive[v][i]] > s->belief[v][best]) best = s->alive[v][i];
    return best;
}

/* Shares out the max-marginals of a table.  false: a variable has no state left. */
static bool share_out(search *s, table *t)
{
    size_t at = first_entry(s, t), offset = 0, room[CRI_MOST_DIMS];
    for (size_t k = 0; k < t->n; k++) {
        room[k] = offset;
        for (size_t i = 0; i < s->left[t->var[k]]; i++)
            s->most[offset + s->alive[t->var[k]][i]] = -INFINITY;
        offset += s->problem->active_states[t->var[k]];
    }
    do {
        double sum = t->value[at];
        s->work++;
        for (size_t k = 0; k < t->n; k++) {
            size_t x = state_of(s, t, k);
            sum += s->belief[t->var[k]][x] - t->message[k][x];
        }
        for (size_t k = 0; k < t->n; k++) {
            double *m = &s->most[room[k] + state_of(s, t, k)];
            if (sum > *m) *m = sum;
        }
    } while (next_entry(s, t, &at));
    for (size_t k = 0; k < t->n; k++) {
        size_t v = t->var[k];
        for (size_t i = s->left[v]; i-- > 0;) {
            size_t x = s->alive[v][i];
            double share = s->most[room[k] + x] / (double)t->n;
            if (share == -INFINITY) {
                if (s->left[v] == 1) return false;
                remove_state(s, v, x);
                continue;
            }
            t->message[k][x] += share - s->belief[v][x];
            s->belief[v][x] = share;
        }
    }
    return true;
}

/* The largest entry of a table without what its messages took; also its gap at the best states. */
static double table_bound(search *s, table *t)
{
    size_t at = first_entry(s, t), chosen = 0;
    double most = -INFINITY, here = 0;
    do {
        double sum = t->value[at];
        s->work++;
        for (size_t k = 0; k < t->n; k++) sum -= t->message[k][state_of(s, t, k)];
        if (sum > most) most = sum;
    } while (next_entry(s, t, &at));
    for (size_t k = 0; k < t->n; k++) {
        chosen += t->stride[k] * s->choice[t->var[k]];
        here -= t->message[k][s->choice[t->var[k]]];
    }
    t->gap = most - (t->value[chosen] + here);
    return most;
}

/* No assignment of the states that are left is above this.  Sets `choice` to the best states. */
static double find_bound(search *s)
{
    double sum = s->constant;
    for (size_t v = 0; v < s->n; v++) {
        s->choice[v] = best_state(s, v);
        sum += s->belief[v][s->choice[v]];
    }
    for (size_t i = 0; i < s->m; i++) sum += table_bound(s, &s->tables[i]);
    return sum;
}

static bool hopeless(const search *s, double bound)
{
    return bound <= s->best + SLACK * (1 + fabs(s->best));
}

/* Removes states that cannot be part of anything better.  false: none is left of some variable. */
static bool remove_hopeless(search *s, double bound)
{
    if (s->best == -INFINITY) return true;
    for (size_t v = 0; v < s->n; v++) {
        double top = s->belief[v][s->choice[v]];
        for (size_t i = s->left[v]; i-- > 0;) {
            size_t x = s->alive[v][i];
            if (!hopeless(s, bound - top + s->belief[v][x])) continue;
            if (s->left[v] == 1) return false;
            remove_state(s, v, x);
        }
    }
    return true;
}

/* --- assignments ----------------------------------------------------------------------------- */

static double value_of(const search *s, const size_t *choice)
{
    double sum = s->constant;
    for (size_t i = 0; i < s->m; i++) {
        const table *t = &s->tables[i];
        size_t       at = 0;
        for (size_t k = 0; k < t->n; k++) at += t->stride[k] * choice[t->var[k]];
        sum += t->value[at];
    }
    return sum;
}

static void note_choice(search *s)
{
    double value = value_of(s, s->choice);
    s->work += (double)s->m;
    if (!(value > s->best)) return;
    s->best = value;
    memcpy(s->best_choice, s->choice, s->n * sizeof *s->choice);
}

/* Sweeps until the bound hardly falls.  *out: the bound; -INFINITY: nothing is possible. */
static void tighten(search *s, size_t sweeps, double *out)
{
    double last = INFINITY;
    *out = -INFINITY;
    for (size_t i = 0; i < sweeps; i++) {
        for (size_t t = 0; t < s->m; t++)
            if (!share_out(s, &s->tables[t])) {
                *out = -INFINITY;
                return;
            }
        *out = find_bound(s);
        note_choice(s);
        double wide = s->best > -INFINITY ? *out - s->best : fabs(*out);
        if (*out == -INFINITY || hopeless(s, *out) || last - *out < 1e-4 * wide ||
            s->work > s->budget)
            return;
        last = *out;
    }
}

/* --- the search ------------------------------------------------------------------------------ */

/* The variable that makes most of the gap; SIZE_MAX: all are decided. */
static size_t choose_variable(search *s, double *weight)
{
    size_t best = SIZE_MAX;
    memset(weight, 0, s->n * sizeof *weight);
    for (size_t i = 0; i < s->m; i++)
        for (size_t k = 0; k < s->tables[i].n; k++) {
            double gap = s->tables[i].gap;
            weight[s->tables[i].var[k]] += gap < 1e6 ? gap : 1e6; /* of an impossible entry */
        }
    for (size_t v = 0; v < s->n; v++)
        if (s->left[v] > 1 && (best == SIZE_MAX || weight[v] > weight[best])) best = v;
    return best;
}

static void leave_out(search *s, double bound)
{
    if (bound > s->open) s->open = bound;
}

/* Looks through all assignments of the states that are left, none of which is above `limit`.  The
 * weights are left as they are found further down, so a bound may get worse when the search comes
 * back: the one from before still holds. */
static cr_status look(search *s, double *weight, size_t sweeps, double limit)
{
    cr_status st = CR_OK;
    size_t    before = s->trailed;
    for (;; sweeps = NODE_SWEEPS) {
        double bound, fresh; /* of all that is left; as the weights say now */
        size_t v, state, mark;
        s->nodes++;
        CR_TRY(cr_check_interrupt(s->cx));
        tighten(s, sweeps, &bound);
        fresh = bound;
        if (bound > limit) bound = limit;
        limit = bound;
        if (hopeless(s, bound) || !remove_hopeless(s, fresh)) break;
        v = choose_variable(s, weight);
        if (v == SIZE_MAX) { /* one assignment: the bound is its value */
            for (size_t i = 0; i < s->n; i++) s->choice[i] = s->alive[i][0];
            note_choice(s);
            break;
        }
        if (s->work > s->budget) {
            s->stopped = true;
            leave_out(s, bound);
            break;
        }
        state = best_state(s, v);
        mark = s->trailed;
        keep_only(s, v, state);
        CR_TRY(look(s, weight, NODE_SWEEPS, bound));
        undo(s, mark);
        if (s->stopped) {
            leave_out(s, bound); /* what v is in other states */
            break;
        }
        remove_state(s, v, state);
    }
done:
    undo(s, before);
    return st;
}

/* --- making it ------------------------------------------------------------------------------- */

static cr_status make_variables(search *s, cr_scratch *a, size_t *out_total)
{
    const cri_problem *p = s->problem;
    size_t             total = 0;
    s->n = p->active;
    for (size_t v = 0; v < s->n; v++) total += p->active_states[v];
    s->left = cr_scratch_index(a, s->n);
    s->alive = cr_scratch_bytes(a, s->n, sizeof *s->alive);
    s->place = cr_scratch_bytes(a, s->n, sizeof *s->place);
    s->belief = cr_scratch_bytes(a, s->n, sizeof *s->belief);
    s->digit = cr_scratch_index(a, s->n);
    s->choice = cr_scratch_bytes(a, s->n, sizeof *s->choice);
    s->best_choice = cr_scratch_bytes(a, s->n, sizeof *s->best_choice);
    s->trail_var = cr_scratch_index(a, total);
    s->most = cr_scratch_f64(a, total);
    size_t *lists = cr_scratch_index(a, 2 * total);
    double *beliefs = cr_scratch_bytes(a, total, sizeof *beliefs);
    if (a->status != CR_OK) return a->status;
    for (size_t v = 0; v < s->n; v++) {
        size_t k = s->left[v] = p->active_states[v];
        s->alive[v] = lists, s->place[v] = lists + k, s->belief[v] = beliefs;
        for (size_t x = 0; x < k; x++) s->alive[v][x] = s->place[v][x] = x;
        lists += 2 * k, beliefs += k;
    }
    *out_total = total;
    return CR_OK;
}

/* Tables that were multiplied into others are empty. */
static cr_status make_tables(search *s, cr_scratch *a, size_t factors)
{
    s->tables = cr_scratch_bytes(a, factors, sizeof *s->tables);
    if (a->status != CR_OK) return a->status;
    for (size_t i = 0; i < factors; i++) {
        cr_factor *f = &s->factor[i];
        table     *t = &s->tables[s->m];
        if (!f->value) continue;
        if (f->n > CRI_MOST_DIMS)
            return cr_fail(s->cx, CR_EUNSUPPORTED, "a table has more than %d variables",
                           CRI_MOST_DIMS);
        cr_factor_set_log(f, true);
        if (f->n == 0) {
            s->constant += f->value[0];
            continue;
        }
        *t = (table){ f->n, f->var, f->stride, f->value, NULL, 0 };
        t->message = cr_scratch_bytes(a, f->n, sizeof *t->message);
        if (a->status != CR_OK) return a->status;
        for (size_t k = 0; k < f->n; k++)
            t->message[k] = cr_scratch_bytes(a, f->states[k], sizeof **t->message);
        if (a->status != CR_OK) return a->status;
        s->m++;
    }
    return CR_OK;
}

static void unpack(const search *s, size_t *out_state)
{
    const cri_problem *p = s->problem;
    for (size_t v = 0; v < p->n; v++) {
        size_t at = p->rank[v] == CR_NONE ? 0 : s->best_choice[p->rank[v]];
        out_state[v] = p->state[p->first[v] + at];
    }
}

cr_status cr_best_search(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e, double work,
                         size_t *out_state, double *out_log, cr_best_report *opt_report)
{
    cr_status  st = CR_OK;
    cr_scratch a = cr_scratch_begin(cx);
    search     s = {
            .cx = cx, .best = -INFINITY, .open = -INFINITY, .budget = work > 0 ? work : USUAL_WORK
    };
    size_t  total, factors = 0;
    double *weight;
    CR_TRY(cri_problem_new(cx, net, opt_e, NULL, &s.problem));
    CR_TRY(cri_problem_tables(cx, s.problem, &s.factor, &factors, &s.constant));
    CR_TRY(make_variables(&s, &a, &total));
    CR_TRY(make_tables(&s, &a, factors));
    weight = cr_scratch_f64(&a, s.n);
    CR_TRY(a.status);
    if (s.constant > -INFINITY) CR_TRY(look(&s, weight, ROOT_SWEEPS, INFINITY));
    if (s.best == -INFINITY && s.stopped)
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "no possible assignment was found in %g steps", s.budget));
    if (s.best == -INFINITY)
        CR_TRY(cr_fail(cx, CR_EDATA, "the evidence is impossible: its probability is 0"));
    unpack(&s, out_state);
    *out_log = s.best;
    if (opt_report)
        *opt_report = (cr_best_report){ !s.stopped, s.stopped ? fmax(s.open, s.best) : s.best,
                                        s.nodes, s.work };
done:
    if (s.factor) cri_factors_free(cx, s.factor, factors);
    cri_problem_free(cx, s.problem);
    cr_scratch_end(&a);
    return st;
}
