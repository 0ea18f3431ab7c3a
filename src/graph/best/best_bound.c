/* best_bound.c -- the bound of a search, by sweeps over the variables forwards and backwards.
 * At variable v, the tables that lie behind it give it their max-marginals,
 *     m_Fv(x_v) = max over the other variables of  phi_F - sum_{u != v} m_Fu(x_u),
 * and what v then holds, b_v, goes in equal shares 1 / max(behind, ahead) to the tables that lie
 * ahead.  No step raises the bound, and variables near which nothing has changed are left out.
 * Kolmogorov (2006), "Convergent tree-reweighted message passing",
 * IEEE PAMI 28; Kolmogorov (2015), "A new look at reweighted message passing", for large tables. */
#include "best_internal.h"

#include <math.h>
#include <string.h>

enum { READ_EVERY = 16, CHECK_EVERY = 4, LOCAL_SWEEPS = 10, POLL = 4096 };
static const double SLACK = 1e-9, WORTH = 3e-4, TINY = 0.3;

static void swap_places(cri_best *s, size_t v, size_t i, size_t k)
{
    size_t a = s->alive[v][i], b = s->alive[v][k];
    s->alive[v][i] = b, s->place[v][b] = i;
    s->alive[v][k] = a, s->place[v][a] = k;
}

void cri_best_remove(cri_best *s, size_t v, size_t state)
{
    swap_places(s, v, s->place[v][state], --s->left[v]);
    s->trail[s->trailed++] = v;
    cri_best_touch(s, v);
}

void cri_best_touch(cri_best *s, size_t v)
{
    for (size_t a = s->begin[v]; a < s->begin[v + 1]; a++) {
        cri_best_table *t = s->end[a].t;
        t->stale = true;
        for (size_t k = 0; k < t->n; k++) s->due[t->var[k]] = CRI_BEST_ALL;
    }
    s->due[v] = CRI_BEST_ALL;
}

bool cri_best_hopeless(const cri_best *s, double bound)
{
    return bound <= s->best + SLACK * (1 + fabs(s->best));
}

/* --- one table ------------------------------------------------------------------------------- */

/* Starts at the first entry of the states that are left; returns its place. */
static size_t first_entry(cri_best *s, const cri_best_table *t)
{
    size_t at = 0;
    for (size_t k = 0; k < t->n; k++) {
        s->digit[k] = 0;
        at += t->stride[k] * s->alive[t->var[k]][0];
    }
    return at;
}

static bool next_entry(cri_best *s, const cri_best_table *t, size_t *at)
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

static size_t state_of(const cri_best *s, const cri_best_table *t, size_t k)
{
    return s->alive[t->var[k]][s->digit[k]];
}

/* most[x] = max over the other variables of phi_F - sum_{u != v} m_Fu, v at place k. */
static void pull_pair(cri_best *s, const cri_best_table *t, size_t k)
{
    size_t        v = t->var[k], u = t->var[1 - k];
    const double *m = t->message[1 - k];
    for (size_t i = 0; i < s->left[v]; i++) {
        size_t        x = s->alive[v][i];
        const double *row = t->value + x * t->stride[k];
        double        most = -INFINITY;
        for (size_t j = 0; j < s->left[u]; j++) {
            size_t y = s->alive[u][j];
            double here = row[y * t->stride[1 - k]] - m[y];
            if (here > most) most = here;
        }
        s->most[x] = most;
    }
    s->work += (double)(s->left[v] * s->left[u]);
}

static void pull(cri_best *s, const cri_best_table *t, size_t k)
{
    size_t v = t->var[k], at;
    if (t->n == 2) {
        pull_pair(s, t, k);
        return;
    }
    for (size_t i = 0; i < s->left[v]; i++) s->most[s->alive[v][i]] = -INFINITY;
    at = first_entry(s, t);
    do {
        double sum = t->value[at], *m = &s->most[state_of(s, t, k)];
        for (size_t j = 0; j < t->n; j++)
            if (j != k) sum -= t->message[j][state_of(s, t, j)];
        if (sum > *m) *m = sum;
        s->work++;
    } while (next_entry(s, t, &at));
}

/* Where the open variables of a table lie, seen from v. */
static inline void look_around(const cri_best *s, const cri_best_table *t, size_t v, bool *before,
                               bool *after)
{
    *before = *after = false;
    if (t->n == 2) {
        size_t u = t->var[t->var[0] == v];
        *before = u < v && s->left[u] > 1;
        *after = u > v && s->left[u] > 1;
        return;
    }
    for (size_t k = 0; k < t->n; k++) {
        size_t u = t->var[k];
        if (u == v || s->left[u] == 1) continue;
        *(u < v ? before : after) = true;
    }
}

/* --- sweeps ---------------------------------------------------------------------------------- */

/* v takes what one of its tables says.  false: it has no state left. */
static bool take(cri_best *s, const cri_best_end *e)
{
    size_t  v = e->t->var[e->k];
    double *m = e->t->message[e->k], *b = s->belief[v];
    pull(s, e->t, e->k);
    for (size_t i = s->left[v]; i-- > 0;) {
        size_t x = s->alive[v][i];
        if (s->most[x] == -INFINITY) {
            if (s->left[v] == 1) return false;
            cri_best_remove(s, v, x);
            continue;
        }
        b[x] += s->most[x] - m[x];
        m[x] = s->most[x];
    }
    return true;
}

/* Does v hold something else than when it was visited last?  A constant does not count. */
static bool has_changed(const cri_best *s, size_t v, bool forward)
{
    double *b = s->belief[v], *past = s->past[!forward][v], low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < s->left[v]; i++) {
        size_t x = s->alive[v][i];
        double change = b[x] - past[x];
        if (change < low) low = change;
        if (change > high) high = change;
        past[x] = b[x];
    }
    return high - low > s->tiny;
}

/* Tells the variables of a table, on one side of v or on both, that it has changed. */
static void tell(cri_best *s, const cri_best_table *t, size_t v, unsigned char before,
                 unsigned char after)
{
    for (size_t k = 0; k < t->n; k++) {
        size_t u = t->var[k];
        if (u < v) s->due[u] |= before;
        if (u > v) s->due[u] |= after;
    }
}

/* What v holds goes to the tables ahead; nearby, all that depends on it is due. */
static void give(cri_best *s, size_t v, bool forward, size_t behind, size_t ahead, bool changed)
{
    enum { SEEN = CRI_BEST_MARGIN | CRI_BEST_CHOICE };
    double  share = ahead ? 1 / (double)(behind > ahead ? behind : ahead) : 0;
    double *b = s->belief[v];
    for (size_t a = s->begin[v]; a < s->begin[v + 1]; a++) {
        const cri_best_end *e = &s->end[a];
        e->t->stale = true;
        if (changed && forward) tell(s, e->t, v, SEEN, SEEN | CRI_BEST_FORWARD);
        if (changed && !forward)
            tell(s, e->t, v, SEEN | CRI_BEST_BACKWARD, SEEN | CRI_BEST_FORWARD);
        if (!s->front[a]) continue;
        for (size_t i = 0; i < s->left[v]; i++)
            e->t->message[e->k][s->alive[v][i]] -= share * b[s->alive[v][i]];
    }
    for (size_t i = 0; i < s->left[v]; i++) b[s->alive[v][i]] *= 1 - share * (double)ahead;
    if (changed) s->due[v] |= SEEN;
    if (changed && !forward) s->due[v] |= CRI_BEST_FORWARD;
}

/* One variable of a sweep. */
static bool visit(cri_best *s, size_t v, bool forward)
{
    size_t behind = 0, ahead = 0;
    bool   before, after;
    for (size_t a = s->begin[v]; a < s->begin[v + 1]; a++) {
        const cri_best_end *e = &s->end[a];
        look_around(s, e->t, v, &before, &after);
        bool back = forward ? before : after, front = forward ? after : before;
        behind += back, ahead += s->front[a] = front;
        if ((back || !front) && !take(s, e)) return false;
    }
    s->due[v] &= (unsigned char)~(forward ? CRI_BEST_FORWARD : CRI_BEST_BACKWARD);
    give(s, v, forward, behind, ahead, has_changed(s, v, forward));
    if (forward) s->due[v] |= CRI_BEST_BACKWARD; /* what it gave away has to come back */
    return true;
}

/* A sweep that the time limit cuts short leaves a bound that holds. */
static bool sweep(cri_best *s)
{
    for (size_t k = 0; k < 2 * s->opened; k++) {
        bool   forward = k < s->opened;
        size_t v = s->open[forward ? k : 2 * s->opened - 1 - k];
        if (k % POLL == POLL - 1) (void)cri_best_check_time(s); /* an interrupt: by the next node */
        if (s->timed) break;
        if ((s->due[v] & (forward ? CRI_BEST_FORWARD : CRI_BEST_BACKWARD)) && !visit(s, v, forward))
            return false;
    }
    return true;
}

/* --- the bound ------------------------------------------------------------------------------- */

/* What the states that are left make open, and the value of all else. */
static void find_open(cri_best *s)
{
    s->opened = s->touch = 0;
    s->closed = s->constant;
    for (size_t v = 0; v < s->n; v++) {
        if (s->left[v] > 1)
            s->open[s->opened++] = v;
        else
            s->closed += s->belief[v][s->alive[v][0]];
    }
    for (size_t i = 0; i < s->m; i++) {
        cri_best_table *t = &s->tables[i];
        size_t          at = 0, k = 0;
        double          taken = 0;
        for (; k < t->n && s->left[t->var[k]] == 1; k++) {
            size_t x = s->alive[t->var[k]][0];
            at += t->stride[k] * x;
            taken += t->message[k][x];
        }
        t->gap = 0;
        if (k < t->n)
            s->touched[s->touch++] = t;
        else
            s->closed += t->value[at] - taken;
    }
    s->work += (double)s->m;
}

static double pair_bound(cri_best *s, const cri_best_table *t)
{
    size_t v = t->var[0], u = t->var[1];
    double most = -INFINITY;
    for (size_t i = 0; i < s->left[v]; i++) {
        size_t        x = s->alive[v][i];
        const double *row = t->value + x * t->stride[0];
        for (size_t j = 0; j < s->left[u]; j++) {
            size_t y = s->alive[u][j];
            double here = row[y * t->stride[1]] - t->message[0][x] - t->message[1][y];
            if (here > most) most = here;
        }
    }
    s->work += (double)(s->left[v] * s->left[u]);
    return most;
}

static double table_bound(cri_best *s, const cri_best_table *t)
{
    if (t->n == 2) return pair_bound(s, t);
    size_t at = first_entry(s, t);
    double most = -INFINITY;
    do {
        double sum = t->value[at];
        for (size_t k = 0; k < t->n; k++) sum -= t->message[k][state_of(s, t, k)];
        if (sum > most) most = sum;
        s->work++;
    } while (next_entry(s, t, &at));
    return most;
}

static double best_belief(const cri_best *s, size_t v)
{
    double most = -INFINITY;
    for (size_t i = 0; i < s->left[v]; i++) {
        double here = s->belief[v][s->alive[v][i]];
        if (here > most) most = here;
    }
    return most;
}

static double find_bound(cri_best *s)
{
    double sum = s->closed;
    for (size_t i = 0; i < s->opened; i++) sum += best_belief(s, s->open[i]);
    for (size_t i = 0; i < s->touch; i++) {
        cri_best_table *t = s->touched[i];
        if (t->stale) t->top = table_bound(s, t);
        t->stale = false;
        sum += t->top;
    }
    return sum;
}

/* What each table misses at the chosen states: where the bound can fall. */
static void find_gaps(cri_best *s)
{
    for (size_t i = 0; i < s->touch; i++) {
        cri_best_table *t = s->touched[i];
        size_t          at = 0;
        double          taken = 0;
        for (size_t k = 0; k < t->n; k++) {
            at += t->stride[k] * s->choice[t->var[k]];
            taken += t->message[k][s->choice[t->var[k]]];
        }
        if (t->stale) t->top = table_bound(s, t);
        t->stale = false;
        t->gap = t->top - (t->value[at] - taken);
    }
}

/* What the bound falls by, at least, when v is in each of its states: by all that its tables say.
 */
static void find_margin(cri_best *s, size_t v)
{
    double base = best_belief(s, v), *margin = s->margin[v];
    for (size_t k = 0; k < s->left[v]; k++) margin[s->alive[v][k]] = -s->belief[v][s->alive[v][k]];
    for (size_t a = s->begin[v]; a < s->begin[v + 1]; a++) {
        const cri_best_end *e = &s->end[a];
        double              most = -INFINITY;
        pull(s, e->t, e->k);
        for (size_t k = 0; k < s->left[v]; k++) {
            size_t x = s->alive[v][k];
            double rest = s->most[x] - e->t->message[e->k][x];
            if (rest > most) most = rest;
            margin[x] -= rest;
        }
        base += most;
    }
    for (size_t k = 0; k < s->left[v]; k++) margin[s->alive[v][k]] += base;
    s->due[v] &= (unsigned char)~CRI_BEST_MARGIN;
}

/* Removes states that cannot be part of anything better than the best found.  false: a variable has
 * none left. */
static bool remove_hopeless(cri_best *s, double bound)
{
    for (size_t i = 0; s->best > -INFINITY && i < s->opened; i++) {
        size_t v = s->open[i];
        if (s->due[v] & CRI_BEST_MARGIN) find_margin(s, v);
        for (size_t k = s->left[v]; k-- > 0;) {
            size_t x = s->alive[v][k];
            if (!cri_best_hopeless(s, bound - s->margin[v][x])) continue;
            if (s->left[v] == 1) return false;
            cri_best_remove(s, v, x);
        }
    }
    return true;
}

/* --- assignments ----------------------------------------------------------------------------- */

static double value_of(const cri_best *s)
{
    double sum = s->constant;
    for (size_t i = 0; i < s->m; i++) {
        const cri_best_table *t = &s->tables[i];
        size_t                at = 0;
        for (size_t k = 0; k < t->n; k++) at += t->stride[k] * s->choice[t->var[k]];
        sum += t->value[at];
    }
    return sum;
}

/* The value of table t at state x of v (place k): with the others as chosen if all of them are
 * closed or come before v (or `all` are chosen), else the best that it can be. */
static void add_value(cri_best *s, const cri_best_end *e, size_t v, bool all)
{
    const cri_best_table *t = e->t;
    size_t                at = 0;
    for (size_t k = 0; k < t->n; k++) {
        size_t u = t->var[k];
        if (!all && u > v && s->left[u] > 1) {
            pull(s, t, e->k);
            for (size_t i = 0; i < s->left[v]; i++)
                s->sum[s->alive[v][i]] += s->most[s->alive[v][i]];
            return;
        }
        if (u != v) at += t->stride[k] * s->choice[u];
    }
    for (size_t i = 0; i < s->left[v]; i++) {
        size_t x = s->alive[v][i];
        s->sum[x] += t->value[at + x * t->stride[e->k]];
    }
}

/* Chooses for v; true: another state than before. */
static bool choose(cri_best *s, size_t v, bool all)
{
    size_t before = s->choice[v], best = s->alive[v][0];
    for (size_t i = 0; i < s->left[v]; i++) s->sum[s->alive[v][i]] = 0;
    for (size_t a = s->begin[v]; a < s->begin[v + 1]; a++) add_value(s, &s->end[a], v, all);
    if (all) best = before;
    for (size_t i = 0; i < s->left[v]; i++)
        if (s->sum[s->alive[v][i]] > s->sum[best]) best = s->alive[v][i];
    s->choice[v] = best;
    return best != before;
}

/* Reads an assignment off the messages, variable by variable, and improves it one at a time. */
static void read_off(cri_best *s)
{
    bool changed = true;
    for (size_t v = 0; v < s->n; v++)
        if (s->left[v] == 1 || s->place[v][s->choice[v]] >= s->left[v])
            s->choice[v] = s->alive[v][0];
    for (size_t i = 0; i < s->opened; i++) {
        size_t v = s->open[i];
        if (s->due[v] & CRI_BEST_CHOICE) choose(s, v, false);
        s->due[v] &= (unsigned char)~CRI_BEST_CHOICE;
    }
    for (size_t k = 0; changed && k < LOCAL_SWEEPS; k++) {
        changed = false;
        for (size_t i = 0; i < s->opened; i++) changed |= choose(s, s->open[i], true);
    }
    cri_best_keep(s);
}

void cri_best_keep(cri_best *s)
{
    double value = value_of(s);
    s->work += (double)s->m;
    if (!(value > s->best)) return;
    s->best = value;
    memcpy(s->best_choice, s->choice, s->n * sizeof *s->choice);
}

/* --- all of it ------------------------------------------------------------------------------- */

/* Of states that went after the assignment was read off, others are chosen. */
static void mend_choice(cri_best *s)
{
    for (size_t v = 0; v < s->n; v++)
        if (s->place[v][s->choice[v]] >= s->left[v]) s->choice[v] = s->alive[v][0];
}

void cri_best_tighten(cri_best *s, size_t sweeps, double *out)
{
    double last = INFINITY, bound = -INFINITY;
    *out = -INFINITY;
    for (size_t i = 0; i < sweeps; i++) {
        find_open(s);
        if (s->closed == -INFINITY || !sweep(s)) return;
        (void)cri_best_check_time(s); /* an interrupt is seen by the next node */
        if (s->work <= s->budget && (i + 1) % CHECK_EVERY && i + 1 < sweeps) continue;
        find_open(s); /* states may have gone */
        bound = find_bound(s);
        bool idle =
            last - bound < WORTH * CHECK_EVERY * (s->best > -INFINITY ? bound - s->best : 1);
        if (i < CHECK_EVERY || (i + 1) % READ_EVERY == 0 || idle || i + 1 >= sweeps) read_off(s);
        if (bound == -INFINITY || cri_best_hopeless(s, bound)) {
            *out = bound;
            return;
        }
        if (!remove_hopeless(s, bound)) return;
        last = *out = bound;
        s->tiny = TINY * (s->best > -INFINITY ? bound - s->best : 1) / (double)(1 + s->opened);
        if (idle || s->work > s->budget) break;
    }
    find_open(s);
    mend_choice(s);
    if (s->opened == 0) read_off(s);
    find_gaps(s);
}
