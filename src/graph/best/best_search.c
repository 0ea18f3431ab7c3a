/* best_search.c -- branch and bound over a network whose bound is kept by moving weights. */
#include "best_search.h"
#include "best_internal.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>

enum { FIRST_SWEEPS = 16, ROOT_SWEEPS = 400, NODE_SWEEPS = 8 };
static const double USUAL_WORK = 2e8, MOST_RESERVE = 5;

static void undo(cri_best *s, size_t to)
{
    while (s->trailed > to) {
        size_t v = s->trail[--s->trailed];
        s->left[v]++;
        cri_best_touch(s, v);
    }
}

static void keep_only(cri_best *s, size_t v, size_t state)
{
    while (s->left[v] > 1) {
        size_t last = s->alive[v][s->left[v] - 1];
        cri_best_remove(s, v, last == state ? s->alive[v][0] : last);
    }
}

/* --- the search ------------------------------------------------------------------------------ */

/* The variable that makes most of the gap; SIZE_MAX: all are decided. */
static size_t choose_variable(cri_best *s, double *weight)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < s->opened; i++) weight[s->open[i]] = 0;
    for (size_t i = 0; i < s->touch; i++)
        for (size_t k = 0; k < s->touched[i]->n; k++) {
            double gap = s->touched[i]->gap;
            weight[s->touched[i]->var[k]] += gap < 1e6 ? gap : 1e6; /* of an impossible entry */
        }
    for (size_t i = 0; i < s->opened; i++) {
        size_t v = s->open[i];
        if (best == SIZE_MAX || weight[v] > weight[best]) best = v;
    }
    return best;
}

cr_status cri_best_check_time(cri_best *s)
{
    double left = cri_time_left(s->cx);
    if (left <= s->reserve) {
        s->timed = true;
        s->budget = -1;
    }
    return left > 0 ? cr_check_interrupt(s->cx) : CR_OK;
}

static void leave_out(cri_best *s, double bound)
{
    if (bound > s->left_out) s->left_out = bound;
}

/* Looks through all assignments of the states that are left, none of which is above `limit`.  The
 * weights are left as they are found further down, so a bound may get worse when the search comes
 * back: the one from before still holds. */
static cr_status look(cri_best *s, double *weight, size_t sweeps, double limit)
{
    cr_status st = CR_OK;
    size_t    before = s->trailed;
    for (;; sweeps = NODE_SWEEPS) {
        double bound; /* of all that is left */
        size_t v, state, mark;
        s->nodes++;
        CR_TRY(cri_best_check_time(s));
        cri_best_tighten(s, sweeps, &bound);
        if (bound > limit) bound = limit;
        limit = bound;
        if (cri_best_hopeless(s, bound)) break;
        v = choose_variable(s, weight);
        if (v == SIZE_MAX) break; /* one assignment, which has been read off */
        if (s->work > s->budget) {
            s->stopped = true;
            leave_out(s, bound);
            break;
        }
        state = s->choice[v];
        mark = s->trailed;
        keep_only(s, v, state);
        CR_TRY(look(s, weight, NODE_SWEEPS, bound));
        undo(s, mark);
        if (s->stopped) {
            leave_out(s, bound); /* what v is in other states */
            break;
        }
        cri_best_remove(s, v, state);
    }
done:
    undo(s, before);
    return st;
}

/* --- making it ------------------------------------------------------------------------------- */

static cr_status make_variables(cri_best *s, cr_scratch *a)
{
    const cri_problem *p = s->problem;
    size_t             total = 0, most = 0;
    s->n = p->active;
    for (size_t v = 0; v < s->n; v++) {
        total += p->active_states[v];
        if (p->active_states[v] > most) most = p->active_states[v];
    }
    s->left = cr_scratch_index(a, s->n);
    s->alive = cr_scratch_bytes(a, s->n, sizeof *s->alive);
    s->place = cr_scratch_bytes(a, s->n, sizeof *s->place);
    s->belief = cr_scratch_bytes(a, s->n, sizeof *s->belief);
    s->margin = cr_scratch_bytes(a, s->n, sizeof *s->margin);
    s->past[0] = cr_scratch_bytes(a, s->n, sizeof *s->margin);
    s->past[1] = cr_scratch_bytes(a, s->n, sizeof *s->margin);
    s->due = cr_scratch_bytes(a, s->n, sizeof *s->due);
    s->digit = cr_scratch_index(a, CRI_MOST_DIMS);
    s->open = cr_scratch_index(a, s->n);
    s->choice = cr_scratch_bytes(a, s->n, sizeof *s->choice);
    s->best_choice = cr_scratch_bytes(a, s->n, sizeof *s->best_choice);
    s->trail = cr_scratch_index(a, total);
    s->most = cr_scratch_f64(a, most);
    s->sum = cr_scratch_f64(a, most);
    size_t *lists = cr_scratch_index(a, 2 * total);
    double *numbers = cr_scratch_bytes(a, 4 * total, sizeof *numbers);
    if (a->status != CR_OK) return a->status;
    for (size_t v = 0; v < s->n; v++) {
        size_t k = s->left[v] = p->active_states[v];
        s->alive[v] = lists, s->place[v] = lists + k;
        s->belief[v] = numbers, s->margin[v] = numbers + k;
        s->past[0][v] = numbers + 2 * k, s->past[1][v] = numbers + 3 * k;
        s->due[v] = CRI_BEST_ALL;
        for (size_t x = 0; x < k; x++) s->alive[v][x] = s->place[v][x] = x;
        lists += 2 * k, numbers += 4 * k;
    }
    return CR_OK;
}

/* Tables that were multiplied into others are empty. */
static cr_status make_tables(cri_best *s, cr_scratch *a, cr_factor *factor, size_t factors)
{
    s->tables = cr_scratch_bytes(a, factors, sizeof *s->tables);
    s->touched = cr_scratch_bytes(a, factors, sizeof *s->touched);
    if (a->status != CR_OK) return a->status;
    for (size_t i = 0; i < factors; i++) {
        cr_factor      *f = &factor[i];
        cri_best_table *t = &s->tables[s->m];
        if (!f->value) continue;
        if (f->n > CRI_MOST_DIMS)
            return cr_fail(s->cx, CR_EUNSUPPORTED, "a table has more than %d variables",
                           CRI_MOST_DIMS);
        cr_factor_set_log(f, true);
        if (f->n == 0) {
            s->constant += f->value[0];
            continue;
        }
        *t = (cri_best_table){
            .n = f->n, .var = f->var, .stride = f->stride, .value = f->value, .stale = true
        };
        t->message = cr_scratch_bytes(a, f->n, sizeof *t->message);
        if (a->status != CR_OK) return a->status;
        for (size_t k = 0; k < f->n; k++)
            t->message[k] = cr_scratch_bytes(a, f->states[k], sizeof **t->message);
        if (a->status != CR_OK) return a->status;
        s->m++;
    }
    return CR_OK;
}

/* The tables of each variable. */
static cr_status link_variables(cri_best *s, cr_scratch *a)
{
    size_t ends = 0;
    for (size_t i = 0; i < s->m; i++) ends += s->tables[i].n;
    s->begin = cr_scratch_bytes(a, s->n + 2, sizeof *s->begin);
    s->end = cr_scratch_bytes(a, ends, sizeof *s->end);
    s->front = cr_scratch_bytes(a, ends, sizeof *s->front);
    if (a->status != CR_OK) return a->status;
    for (size_t i = 0; i < s->m; i++)
        for (size_t k = 0; k < s->tables[i].n; k++) s->begin[s->tables[i].var[k] + 2]++;
    for (size_t v = 2; v < s->n + 2; v++) s->begin[v] += s->begin[v - 1];
    for (size_t i = 0; i < s->m; i++)
        for (size_t k = 0; k < s->tables[i].n; k++)
            s->end[s->begin[s->tables[i].var[k] + 1]++] = (cri_best_end){ &s->tables[i], k };
    return CR_OK;
}

static void unpack(const cri_best *s, size_t *out_state)
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
    cri_best   s = {
          .cx = cx, .best = -INFINITY, .left_out = -INFINITY, .budget = work > 0 ? work : USUAL_WORK
    };
    size_t     factors = 0;
    double    *weight, left = cri_time_left(cx);
    cr_factor *factor = NULL;
    s.reserve = left < INFINITY ? fmin(left / 2, MOST_RESERVE) : -1;
    CR_TRY(cr_network_check(cx, net));
    CR_TRY(cri_problem_new(cx, net, opt_e, NULL, &s.problem));
    CR_TRY(cri_problem_tables(cx, s.problem, &factor, &factors, &s.constant));
    CR_TRY(make_variables(&s, &a));
    CR_TRY(make_tables(&s, &a, factor, factors));
    CR_TRY(link_variables(&s, &a));
    weight = cr_scratch_f64(&a, s.n);
    CR_TRY(a.status);
    if (s.constant > -INFINITY) {
        double bound;
        cri_best_tighten(&s, FIRST_SWEEPS, &bound);
        if (s.best > -INFINITY && !cri_best_hopeless(&s, bound) && s.work < s.budget) {
            CR_TRY(cri_best_polish(&s));
            cri_best_tighten(&s, ROOT_SWEEPS, &bound);
        }
        if (!cri_best_hopeless(&s, bound)) CR_TRY(look(&s, weight, NODE_SWEEPS, bound));
    }
    if (opt_report)
        *opt_report = (cr_best_report){ !s.stopped, s.stopped ? fmax(s.left_out, s.best) : s.best,
                                        s.nodes, s.work, s.stopped && s.timed };
    if (s.best == -INFINITY && s.timed) {
        cr_fail(cx, CR_ENOMEM, "no possible assignment was found within the time limit");
        CR_TRY(cr_fail_hint(cx, "allow more time with --time-limit"));
    }
    if (s.best == -INFINITY && s.stopped)
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "no possible assignment was found in %g steps", s.budget));
    if (s.best == -INFINITY)
        CR_TRY(cr_fail(cx, CR_EDATA, "the evidence is impossible: its probability is 0"));
    unpack(&s, out_state);
    *out_log = s.best;
done:
    cri_factors_free(cx, factor, factors);
    cri_problem_free(cx, s.problem);
    cr_scratch_end(&a);
    return st;
}
