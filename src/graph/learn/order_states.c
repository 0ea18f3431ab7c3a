/* order_states.c -- orders and ordered partitions as states of a chain.
 * The parents of v that a state allows are the candidates in members before that of v; of a partition
 * one of them at least must be in the member right before it.  A state is its order and the number of
 * the member of each variable; moves build a new one and weigh it anew where it changed. */
#include "arc_posterior.h"

#include <math.h>
#include <string.h>

size_t cri_order_allowed(const cri_order_state *x, size_t v, uint32_t below)
{
    const uint32_t *candidate = x->f->candidate[v];
    size_t          c = 0;
    for (size_t i = 0; i < x->f->count[v]; i++) c |= (size_t)(x->member[candidate[i]] < below) << i;
    return c;
}

/* The log weight of the families of v that its member allows. */
static double weigh(const cri_order_state *x, size_t v)
{
    const double *total = x->f->total[v];
    uint32_t      at = x->member[v];
    if (x->orders) return total[cri_order_allowed(x, v, at)];
    if (at == 0) return total[0];
    return cri_log_minus(total[cri_order_allowed(x, v, at)],
                         total[cri_order_allowed(x, v, at - 1)]);
}

void cri_order_weigh(cri_order_state *x)
{
    x->sum = 0;
    for (size_t v = 0; v < x->n; v++) x->sum += x->weight[v] = weigh(x, v);
}

cr_status cri_order_state_new(cr_scratch *s, const cri_family_sums *f, bool orders,
                              const cri_dag *start, cri_order_state *out)
{
    size_t          n = f->n;
    cri_order_state x = { .f = f, .orders = orders, .n = n };
    x.order = cr_scratch_bytes(s, n, sizeof *x.order);
    x.member = cr_scratch_bytes(s, n, sizeof *x.member);
    x.weight = cr_scratch_f64(s, n);
    x.rest = cr_scratch_bytes(s, n, sizeof *x.rest);
    x.rest_member = cr_scratch_bytes(s, n, sizeof *x.rest_member);
    x.place = cr_scratch_f64(s, 2 * n + 1);
    x.sums = cr_scratch_f64(s, 4 * (n + 2));
    if (s->status != CR_OK) return s->status;
    cri_dag_order(start, x.order);
    for (size_t i = 0; i < n; i++) {
        uint32_t v = x.order[i];
        x.member[v] = orders ? (uint32_t)i : 0;
        for (size_t j = 0; j < i && !orders; j++)
            if (cri_dag_has(start, x.order[j], v) && x.member[x.order[j]] >= x.member[v])
                x.member[v] = x.member[x.order[j]] + 1;
        if (x.member[v] >= x.members) x.members = x.member[v] + 1;
    }
    cri_order_weigh(&x);
    *out = x;
    return CR_OK;
}

/* --- moves ----------------------------------------------------------------------------------- */

/* A number by its log weights; the current one if all are impossible. */
static size_t draw(cr_rng *r, double *place, size_t n, size_t otherwise)
{
    double high = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (place[i] > high) high = place[i];
    if (high == -INFINITY) return otherwise;
    for (size_t i = 0; i < n; i++) place[i] = exp(place[i] - high);
    return cr_rng_categorical(r, place, n);
}

/* v to position `to` of an order. */
static void move_to(cri_order_state *x, size_t v, size_t to)
{
    uint32_t from = x->member[v];
    if (from < to)
        memmove(x->order + from, x->order + from + 1, (to - from) * sizeof *x->order);
    else
        memmove(x->order + to + 1, x->order + to, (from - to) * sizeof *x->order);
    x->order[to] = (uint32_t)v;
    for (size_t i = from < to ? from : to; i <= (from < to ? to : from); i++)
        x->member[x->order[i]] = (uint32_t)i;
}

/* v goes through all positions, one step at a time: two weights change at each. */
static void relocate_in_order(cri_order_state *x, cr_rng *r, size_t v)
{
    size_t n = x->n, was = x->member[v];
    move_to(x, v, 0);
    cri_order_weigh(x);
    x->place[0] = x->sum;
    for (size_t i = 1; i < n; i++) {
        uint32_t u = x->order[i];
        x->order[i - 1] = u, x->order[i] = (uint32_t)v;
        x->member[u] = (uint32_t)i - 1, x->member[v] = (uint32_t)i;
        x->weight[u] = weigh(x, u), x->weight[v] = weigh(x, v);
        x->place[i] = 0;
        for (size_t w = 0; w < n; w++) x->place[i] += x->weight[w];
    }
    move_to(x, v, draw(r, x->place, n, was));
    cri_order_weigh(x);
}

/* The partition of the others (rest_member) with v in member i/2 of it (odd i), or alone before it
 * (even i); the numbers of members that follow move up. */
static void put_back(cri_order_state *x, size_t v, size_t i)
{
    uint32_t at = (uint32_t)(i / 2);
    bool     alone = i % 2 == 0;
    for (size_t u = 0; u < x->n; u++)
        x->member[u] = x->rest_member[u] + (alone && x->rest_member[u] >= at);
    x->member[v] = at;
}

/* What the variables of each member of the rest weigh, [members + 2] each: without v; with v in the member right before
 * them; with v before that; with v alone right before them.  A variable weighs one of these wherever v is put. */
typedef struct rest_sums {
    double *without, *next, *before, *alone;
} rest_sums;

static rest_sums sum_rest(cri_order_state *x, size_t v, size_t members)
{
    rest_sums s = { x->sums, x->sums + members + 2, x->sums + 2 * (members + 2),
                    x->sums + 3 * (members + 2) };
    for (size_t r = 0; r < 4 * (members + 2); r++) x->sums[r] = 0;
    for (size_t u = 0; u < x->n; u++) x->member[u] = x->rest_member[u];
    x->member[v] = UINT32_MAX; /* below nothing */
    for (size_t u = 0; u < x->n; u++) {
        const double *total = x->f->total[u];
        uint32_t      r = x->rest_member[u];
        if (u == v) continue;
        size_t bit = 0, all = cri_order_allowed(x, u, r), far;
        for (size_t i = 0; i < x->f->count[u]; i++)
            if (x->f->candidate[u][i] == v) bit = (size_t)1 << i;
        far = r > 0 ? cri_order_allowed(x, u, r - 1) : 0;
        double plain = r > 0 ? cri_log_minus(total[all], total[far]) : total[0];
        s.without[r] += plain;
        s.next[r] += r > 0 && bit ? cri_log_minus(total[all | bit], total[far]) : plain;
        s.before[r] += r > 0 && bit ? cri_log_minus(total[all | bit], total[far | bit]) : plain;
        s.alone[r] += bit ? cri_log_minus(total[all | bit], total[all]) : -INFINITY;
    }
    return s;
}

static void relocate_in_partition(cri_order_state *x, cr_rng *r, size_t v)
{
    size_t n = x->n, members = x->members, mates = 0, was;
    for (size_t u = 0; u < n; u++) mates += x->member[u] == x->member[v] && u != v;
    for (size_t u = 0; u < n; u++)
        x->rest_member[u] = x->member[u] - (mates == 0 && x->member[u] > x->member[v]);
    was = 2 * (size_t)x->member[v] + (mates > 0);
    members -= mates == 0;
    rest_sums s = sum_rest(x, v, members);
    double   *after =
        s.next; /* of members r and later, v being before the one before r; next[r] is used up by then */
    double before = 0;
    for (size_t k = 0; k < members; k++) { /* alone before member k, or in it */
        x->place[2 * k] = s.alone[k];
        x->place[2 * k + 1] = s.without[k] + (k + 1 < members ? s.next[k + 1] : 0);
    }
    x->place[2 * members] = 0;
    after[members] = after[members + 1] = 0;
    for (size_t k = members; k-- > 0;) after[k] = after[k + 1] + s.before[k];
    for (size_t i = 0; i < 2 * members + 1; i++) {
        size_t   k = i / 2;
        bool     alone = i % 2 == 0;
        uint32_t at = (uint32_t)k;
        if (alone && k > 0) before += s.without[k - 1];
        size_t        below = cri_order_allowed(x, v, at); /* of the rest */
        size_t        far = at > 0 ? cri_order_allowed(x, v, at - 1) : 0;
        const double *total = x->f->total[v];
        x->place[i] += before + after[alone ? k + 1 : k + 2];
        x->place[i] += at > 0 ? cri_log_minus(total[below], total[far]) : total[0];
    }
    size_t to = draw(r, x->place, 2 * members + 1, was);
    put_back(x, v, to);
    x->members = members + (to % 2 == 0);
    cri_order_weigh(x);
}

void cri_order_relocate(cri_order_state *x, cr_rng *r, size_t v)
{
    if (x->orders)
        relocate_in_order(x, r, v);
    else
        relocate_in_partition(x, r, v);
}

static void exchange(cri_order_state *x, size_t a, size_t b)
{
    uint32_t member = x->member[a];
    if (x->orders) x->order[x->member[a]] = (uint32_t)b, x->order[x->member[b]] = (uint32_t)a;
    x->member[a] = x->member[b];
    x->member[b] = member;
}

bool cri_order_swap(cri_order_state *x, cr_rng *r)
{
    size_t a = cr_rng_below(r, x->n), b = cr_rng_below(r, x->n);
    double before = x->sum;
    if (x->member[a] == x->member[b]) return false;
    memcpy(x->place, x->weight, x->n * sizeof *x->place);
    exchange(x, a, b);
    cri_order_weigh(x);
    if (log(cr_rng_uniform(r)) < x->sum - before) return true;
    exchange(x, a, b);
    memcpy(x->weight, x->place, x->n * sizeof *x->place);
    x->sum = before;
    return false;
}

/* --- arcs ------------------------------------------------------------------------------------ */

void cri_order_arcs(const cri_order_state *x, double *out)
{
    size_t n = x->n;
    for (size_t i = 0; i < n * n; i++) out[i] = 0;
    for (size_t v = 0; v < n; v++) {
        const double *total = x->f->total[v];
        uint32_t      at = x->member[v];
        size_t        all = cri_order_allowed(x, v, at);
        size_t        far = x->orders || at == 0 ? 0 : cri_order_allowed(x, v, at - 1);
        bool          some = !x->orders && at > 0; /* a parent right before it is needed */
        for (size_t i = 0; i < x->f->count[v]; i++) {
            size_t bit = (size_t)1 << i;
            if (!(all & bit)) continue;
            double without =
                some ? cri_log_minus(total[all & ~bit], total[far & ~bit]) : total[all & ~bit];
            out[x->f->candidate[v][i] * n + v] = fmax(0, -expm1(fmin(0, without - x->weight[v])));
        }
    }
}
