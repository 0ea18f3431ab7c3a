/* knn_count.c -- which sites are the nearest, which k is best, and which smoothing. */
#include "knn.h"
#include "models/common/copies.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* The end of the sites that are as far away as site i, up to rounding. */
static size_t ring_end(const double *distance, size_t i, size_t m)
{
    size_t j = i + 1;
    while (j < m && distance[j] <= distance[i] * (1 + 1e-12)) j++;
    return j;
}

bool cri_knn_count(const double *w, const size_t *index, const double *distance, size_t m, bool all,
                   double k, double *c, size_t *out_used)
{
    double left = k;
    size_t i = 0;
    while (i < m && left > k * 1e-12) {
        size_t end = ring_end(distance, i, m);
        double ring = 0;
        if (end == m && !all) return false; /* the ring may go on */
        for (size_t j = i; j < end; j++) ring += w[index[j]];
        double take = ring < left ? ring : left;
        for (size_t j = i; j < end; j++) c[j] = w[index[j]] * (take / ring);
        left -= take;
        i = end;
    }
    *out_used = i;
    return true;
}

/* --- leave-one-out ----------------------------------------------------------------------------
 * Each row in turn is predicted from the others.  Of a row of weight w, min(1, w) is taken out of its
 * site, so that it is left out as one of w equal rows is; what is left of the site is at distance 0.
 * Equal rows lose alike and are asked for together. */

enum { BLOCK = 64, AT_ONCE = 1024 };  /* sites of a block; asked between two looks at the clock */
#define MOST_MEMORY ((size_t)1 << 24) /* sites found for those that are asked at once           */
#define MOST_WORK (1.0 * (1 << 28))   /* sites found altogether, about                          */

typedef struct loo_work {
    const cri_knn *m;
    size_t         least, most; /* k that are tried                                   */
    bool           smoothings;  /* what is tried are these, at k = most, and not k    */
    bool           heavy;       /* no site weighs less than a row                     */
    size_t         near;        /* sites found around each                            */
    const size_t  *asked;       /* [asked] the sites; NULL: all of them               */
    const size_t  *index;       /* [asked x near]                                     */
    const double  *distance;    /* likewise                                           */
    bool          *again;       /* [asked] too few were found                         */
} loo_work;

/* The rows that are left out of a site, one at a time. */
typedef struct left_out {
    double y, weight, out; /* target; of all of them together; taken out of the site */
} left_out;

/* A ring of sites, or what is nearer than one: rows, and their votes. */
typedef struct tally {
    double counted, mass; /* rows; their votes                                    */
    double sum;           /* of the votes for the class asked for, or votes times target */
    bool   met;           /* some were at distance 0 */
} tally;

static double loss_of(const cri_knn *m, const tally *t, double y, double smoothing)
{
    if (m->K == 0) return (y - t->sum / t->mass) * (y - t->sum / t->mass);
    double share = t->sum / t->mass;
    return -log((share * t->counted + smoothing) / (t->counted + smoothing * (double)m->K));
}

/* Number j of those that are tried: all K together are as many rows as 4, 2, 1, ... */
enum { SMOOTHINGS = 10 };
static double smoothing_at(const cri_knn *m, size_t j) { return ldexp(4, -(int)j) / (double)m->K; }

static void add_loss(const loo_work *a, size_t k, const tally *t, const left_out *r, double *acc)
{
    const cri_knn *m = a->m;
    if (!a->smoothings) acc[k] += r->weight * loss_of(m, t, r->y, m->smoothing);
    for (size_t j = 0; j < SMOOTHINGS && a->smoothings && k == a->most; j++)
        acc[j] += r->weight * loss_of(m, t, r->y, smoothing_at(m, j));
}

/* The weight of class y at site g. */
static double weight_of(const cri_sites *s, size_t g, double y)
{
    const cri_vote *v = s->vote + s->first[g], *end = s->vote + s->first[g + 1];
    while (v < end && v->value < y) v++;
    return v < end && v->value == y ? v->weight : 0;
}

/* The site itself without the row; its weight is 0, not dust, where nothing is left. */
static tally own_ring(const cri_knn *m, size_t g, const left_out *r)
{
    const cri_vote *v = m->sites.vote + m->sites.first[g];
    tally           t = { .counted = m->sites.weight[g] - r->out, .met = true };
    if (t.counted <= 1e-12 * m->sites.weight[g]) return (tally){ 0 };
    t.sum = m->K ? weight_of(&m->sites, g, r->y) - r->out
                 : t.counted * (v->value + (v->value - r->y) * (r->out / t.counted));
    if (m->K && t.sum < 1e-12 * m->sites.weight[g]) t.sum = 0;
    return t;
}

static void add_sites(const loo_work *a, size_t q, size_t begin, size_t end, double y, tally *ring)
{
    const cri_sites *s = &a->m->sites;
    const size_t    *index = a->index + q * a->near;
    for (size_t j = begin; j < end; j++) {
        const cri_vote *v = s->vote + index[j]; /* of numbers: one a site */
        ring->counted += a->m->K ? s->weight[index[j]] : v->weight;
        ring->sum += a->m->K ? weight_of(s, index[j], y) : v->weight * v->value;
    }
}

/* t plus as much of the ring at distance d as makes it k rows. */
static tally with_ring(const cri_knn *m, const tally *t, const tally *ring, double d, double k)
{
    double v = !m->by_distance ? 1 : d > CRI_MET ? !t->met / d : 1, c = k - t->counted;
    return (tally){ .counted = k,
                    .mass = t->mass + c * v,
                    .sum = t->sum + c * v * (ring->sum / ring->counted),
                    .met = t->met || d <= CRI_MET };
}

/* Adds the loss of the row at each k, or smoothing, to acc. */
static void add_row(const loo_work *a, size_t q, size_t g, const left_out *r, double *acc)
{
    const cri_knn *m = a->m;
    const double  *distance = a->distance + q * a->near;
    size_t         k = a->least, begin = 0;
    tally          t = { 0 }, ring = own_ring(m, g, r);
    while (k <= a->most) {
        size_t end = begin;
        double d = ring.met || begin == a->near ? 0 : distance[begin];
        if (begin < a->near && (!ring.met || distance[begin] == 0))
            end = ring_end(distance, begin, a->near);
        add_sites(a, q, begin, end, r->y, &ring);
        if (ring.counted == 0) break; /* all rows are in */
        double all = t.counted + ring.counted;
        for (; k <= a->most && (double)k <= all * (1 + 1e-12); k++) {
            tally at = with_ring(m, &t, &ring, d, (double)k);
            add_loss(a, k, &at, r, acc);
        }
        t = with_ring(m, &t, &ring, d, all);
        ring = (tally){ 0 };
        begin = end;
    }
    for (; k <= a->most; k++) add_loss(a, k, &t, r, acc);
}

/* Are the `most` nearest rows known, with one or less left out?  The last ring may go on. */
static bool is_enough(const loo_work *a, size_t q, size_t g)
{
    const double *w = a->m->sites.weight;
    double        sum = a->m->whole ? 0 : w[g] - 1;
    size_t        begin = 0;
    if (a->near + 1 == a->m->sites.n) return true;
    if (a->heavy &&
        a->near > a->most) { /* as many sites are enough, and those beyond are farther */
        const double *d = a->distance + q * a->near;
        if (d[a->near - 1] > d[a->most - 1] * (1 + 1e-12)) return true;
    }
    while (begin < a->near && sum < (double)a->most) {
        size_t end = ring_end(a->distance + q * a->near, begin, a->near);
        if (end == a->near) return false;
        for (; begin < end; begin++) sum += w[a->index[q * a->near + begin]];
    }
    return sum >= (double)a->most;
}

static void add_site(const loo_work *a, size_t q, double *acc)
{
    const cri_knn   *m = a->m;
    const cri_sites *s = &m->sites;
    size_t           g = a->asked ? a->asked[q] : q, i = s->begin[g];
    a->again[q] = !is_enough(a, q, g);
    while (!a->again[q] && i < s->begin[g + 1]) {
        left_out r = { .y = m->y[s->order[i]], .out = cri_left_out(m->whole, m->w[s->order[i]]) };
        for (; i < s->begin[g + 1]; i++) {
            double w = m->w[s->order[i]];
            if (m->y[s->order[i]] != r.y || cri_left_out(m->whole, w) != r.out) break;
            r.weight += w;
        }
        add_row(a, q, g, &r, acc);
    }
}

static void add_block(void *arg, cri_range r, double *acc)
{
    const loo_work *a = arg;
    for (size_t q = r.begin; q < r.end; q++) add_site(a, q, acc);
}

/* The sites near each of those asked, [asked x near], without itself; near + 1 are looked for, of which it is one
 * or, among many at distance 0, takes the place of the last. */
static cr_status find_near(cr_ctx *cx, const cri_knn *m, const size_t *sites, size_t asked,
                           size_t near, size_t *index, double *distance)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     wide = near + 1;
    double    *Q = cr_scratch_matrix(&s, asked, m->p), *d = cr_scratch_matrix(&s, asked, wide);
    size_t    *found = cr_scratch_bytes(&s, asked * wide, sizeof *found);
    CR_TRY(s.status);
    for (size_t q = 0; q < asked; q++) cri_knn_site(m, sites[q], Q + q * m->p);
    cr_cmat queries = cr_cmat_of(Q, asked, m->p);
    CR_TRY(cr_neighbours_nearest(cx, m->tree, &queries, wide, found, d));
    for (size_t q = 0; q < asked; q++) {
        size_t k = 0;
        for (size_t j = 0; j < wide && k < near; j++) {
            if (found[q * wide + j] == sites[q]) continue;
            index[q * near + k] = found[q * wide + j];
            distance[q * near + k++] = d[q * wide + j];
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Adds the losses of these sites, or of all, to loss [width]; those around which `near` sites are
 * too few go to `left`, *out_left of them. */
static cr_status add_losses(cr_ctx *cx, loo_work *a, const size_t *opt_sites, size_t asked,
                            size_t width, double *loss, size_t *left, size_t *out_left)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *index = cr_scratch_bytes(&s, asked * a->near, sizeof *index), rest = 0;
    double    *distance = cr_scratch_matrix(&s, asked, a->near), *sum = cr_scratch_f64(&s, width);
    a->again = cr_scratch_bytes(&s, asked, sizeof *a->again);
    CR_TRY(s.status);
    if (opt_sites && a->near > 0)
        CR_TRY(find_near(cx, a->m, opt_sites, asked, a->near, index, distance));
    else if (a->near > 0)
        CR_TRY(cr_neighbours_nearest(cx, a->m->tree, NULL, a->near, index, distance));
    a->index = index;
    a->distance = distance;
    a->asked = opt_sites;
    CR_TRY(cri_parallel_sum(cx, a->smoothings ? "choosing the smoothing" : "choosing k", asked,
                            BLOCK, width, add_block, a, sum));
    for (size_t j = 0; j < width; j++) loss[j] += sum[j];
    for (size_t q = 0; q < asked; q++)
        if (a->again[q]) left[rest++] = opt_sites ? opt_sites[q] : q;
    *out_left = rest;
done:
    cr_scratch_end(&s);
    return st;
}

static bool is_heavy(const cri_sites *s)
{
    for (size_t g = 0; g < s->n; g++)
        if (s->weight[g] < 1) return false;
    return true;
}

/* Adds the losses of these sites, or of all, in rounds of more and more sites around them. */
static cr_status sum_losses(cr_ctx *cx, loo_work *a, const size_t *opt_sites, size_t asked,
                            size_t width, double *loss)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     others = a->m->sites.n - 1, left = asked, *sites = cr_scratch_index(&s, asked);
    CR_TRY(s.status);
    a->near = a->most + 16 < others ? a->most + 16 : others;
    for (size_t q = 0; q < asked; q++) sites[q] = opt_sites ? opt_sites[q] : q;
    if (!opt_sites &&
        asked < MOST_MEMORY / (a->near + 1)) { /* the fastest: in the order of the tree */
        CR_TRY(add_losses(cx, a, NULL, asked, width, loss, sites, &left));
        a->near *= 4;
    }
    for (; left > 0; a->near *= 4) {
        if (a->near > others) a->near = others;
        size_t again = 0, step = MOST_MEMORY / (a->near + 1) + 1;
        for (size_t from = 0; from < left; from += step) {
            size_t some = left - from < step ? left - from : step, rest;
            CR_TRY(add_losses(cx, a, sites + from, some, width, loss, sites + again, &rest));
            again += rest;
        }
        left = again;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* How many sites can be asked for their `most` nearest rows, with this many sites around each. */
static size_t affordable(const cri_knn *m, size_t most, double weight)
{
    double n = (double)m->sites.n, near = fmin(n, (double)most * n / weight);
    return n * near <= MOST_WORK ? m->sites.n : (size_t)(MOST_WORK / near) + 1;
}

/* sites [asked] := that many of them, evenly spread, of *out_weight altogether. */
static void spread_sites(const cri_knn *m, size_t *sites, size_t asked, double *out_weight)
{
    *out_weight = 0;
    for (size_t q = 0; q < asked; q++) {
        sites[q] = (size_t)((double)q * ((double)m->sites.n / (double)asked));
        *out_weight += m->sites.weight[sites[q]];
    }
}

/* The same over sites in random order, as many as there is time for: *out_asked rows, of this weight. */
static cr_status sum_some_losses(cr_ctx *cx, loo_work *a, double *loss, size_t *out_asked,
                                 double *out_weight)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    const cri_sites *all = &a->m->sites;
    size_t           n = all->n, *order = cr_scratch_index(&s, n), done_sites = 0;
    cr_rng           r = cr_rng_stream(0, (uint64_t)0x4b4e4eu << 32); /* "KNN" */
    cri_clock        clock = cri_clock_start(cx, NAN);
    CR_TRY(s.status);
    cr_rng_permutation(&r, n, order);
    *out_weight = 0;
    *out_asked = 0;
    while (done_sites < n && (done_sites == 0 || !cri_clock_over(&clock))) {
        size_t asked = n - done_sites < AT_ONCE ? n - done_sites : AT_ONCE;
        CR_TRY(sum_losses(cx, a, order + done_sites, asked, a->most + 1, loss));
        for (size_t i = done_sites; i < done_sites + asked; i++) {
            *out_weight += all->weight[order[i]];
            *out_asked += all->begin[order[i] + 1] - all->begin[order[i]];
        }
        done_sites += asked;
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_knn_choose(cr_ctx *cx, const cri_knn *m, size_t least, size_t most, double *out_k,
                         double *out_loss, size_t *out_asked)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *loss = cr_scratch_bytes(&s, most + 1, sizeof *loss), weight = 0;
    size_t    *sites = cr_scratch_index(&s, m->sites.n), best = least, asked;
    loo_work   a = { .m = m, .least = least, .most = most, .heavy = is_heavy(&m->sites) };

    CR_TRY(s.status);
    *out_asked = m->n;
    spread_sites(m, sites, m->sites.n, &weight);
    asked = affordable(m, most, weight);
    if (!isinf(cri_time_left(cx)))
        CR_TRY(sum_some_losses(cx, &a, loss, out_asked, &weight));
    else if (asked == m->sites.n)
        CR_TRY(sum_losses(cx, &a, NULL, asked, most + 1, loss));
    else {
        spread_sites(m, sites, asked, &weight);
        CR_TRY(sum_losses(cx, &a, sites, asked, most + 1, loss));
    }
    for (size_t k = least; k <= most; k++)
        if (loss[k] < loss[best] * (1 - 1e-12)) best = k;
    *out_k = (double)best;
    *out_loss = loss[best] / weight;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- smoothing -------------------------------------------------------------------------------- */

enum { MOST_ASKED = 2000 };

cr_status cri_knn_smooth(cr_ctx *cx, const cri_knn *m, double *out_smoothing)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *sites = cr_scratch_index(&s, m->sites.n), best = 0;
    double     loss[SMOOTHINGS] = { 0 }, weight = 0;

    CR_TRY(s.status);
    spread_sites(m, sites, m->sites.n, &weight);
    size_t   most = m->k < weight ? (size_t)m->k : (size_t)weight + 1;
    size_t   asked = affordable(m, most, weight);
    loo_work a = {
        .m = m, .least = most, .most = most, .smoothings = true, .heavy = is_heavy(&m->sites)
    };
    if (asked > MOST_ASKED) asked = MOST_ASKED;
    spread_sites(m, sites, asked, &weight);
    CR_TRY(sum_losses(cx, &a, sites, asked, SMOOTHINGS, loss));
    for (size_t j = 0; j < SMOOTHINGS; j++) {
        double v = smoothing_at(m, j);
        loss[j] -= log(v / (m->k + v * (double)m->K));
        if (loss[j] < loss[best] * (1 - 1e-12)) best = j;
    }
    *out_smoothing = smoothing_at(m, best);
done:
    cr_scratch_end(&s);
    return st;
}
