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

static void relocate_in_partition(cri_order_state *x, cr_rng *r, size_t v)
{
    size_t n = x->n, members = x->members, mates = 0, was;
    for (size_t u = 0; u < n; u++) mates += x->member[u] == x->member[v] && u != v;
    for (size_t u = 0; u < n; u++)
        x->rest_member[u] = x->member[u] - (mates == 0 && x->member[u] > x->member[v]);
    was = 2 * (size_t)x->member[v] + (mates > 0);
    members -= mates == 0;
    for (size_t i = 0; i < 2 * members + 1; i++) {
        put_back(x, v, i);
        double sum = 0;
        for (size_t u = 0; u < n && sum > -INFINITY; u++) sum += weigh(x, u);
        x->place[i] = sum;
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
    exchange(x, a, b);
    cri_order_weigh(x);
    if (log(cr_rng_uniform(r)) < x->sum - before) return true;
    exchange(x, a, b);
    cri_order_weigh(x);
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
            double not =
                some ? cri_log_minus(total[all & ~bit], total[far & ~bit]) : total[all & ~bit];
            out[x->f->candidate[v][i] * n + v] = fmax(0, -expm1(fmin(0, not -x->weight[v])));
        }
    }
}
