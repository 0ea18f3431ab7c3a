/* neighbours_query.c -- k nearest points, and counts within a radius. */
#include "neighbours_internal.h"
#include "base/parallel.h"

#include <math.h>

enum { TOGETHER = 8 }; /* queries that walk along the leaves side by side */

typedef struct job {
    const cr_neighbours *nb;
    const cr_cmat       *opt_Q;
    size_t               q, k;
    size_t               block;    /* queries to a block of work, a multiple of TOGETHER */
    size_t              *index;    /* [q x k] */
    double              *distance; /* [q x k] */
    const double        *radius;   /* [q] */
    bool                 closed;
    size_t              *count; /* [q] */
} job;

/* One query: its coordinates, which of the answers is its own, and the point it leaves out. */
typedef struct query {
    const double *x;
    size_t        at, self;
} query;

/* The points themselves are asked for leaf by leaf: neighbours in the order are near. */
static query query_at(const job *w, size_t i)
{
    const cr_neighbours *nb = w->nb;
    if (w->opt_Q) return (query){ w->opt_Q->a + i * w->opt_Q->stride, i, SIZE_MAX };
    return (query){ nb->rows + i * nb->d, nb->point[i], nb->point[i] };
}

/* --- distances ------------------------------------------------------------------------------- */

/* Measures are squares for Euclid's norm and distances for the other. */
static double distance_of(const cr_neighbours *nb, double measure)
{
    return nb->norm == CR_NORM_EUCLID ? sqrt(measure) : measure;
}

/* From x to each of the 16 points of a leaf. */
static void measure_leaf(const cr_neighbours *nb, size_t g, const double *x, double out[CRI_LANES])
{
    const double *p = nb->lanes + g * nb->d * CRI_LANES;
    for (size_t l = 0; l < CRI_LANES; l++) out[l] = 0;
    if (nb->norm == CR_NORM_EUCLID) {
        for (size_t j = 0; j < nb->d; j++, p += CRI_LANES)
            for (size_t l = 0; l < CRI_LANES; l++) {
                double t = x[j] - p[l];
                out[l] += t * t;
            }
    } else {
        for (size_t j = 0; j < nb->d; j++, p += CRI_LANES)
            for (size_t l = 0; l < CRI_LANES; l++) {
                double t = fabs(x[j] - p[l]);
                out[l] = t > out[l] ? t : out[l];
            }
    }
}

static double add_side(const cr_neighbours *nb, double sum, double t)
{
    return nb->norm == CR_NORM_EUCLID ? sum + t * t : t > sum ? t : sum;
}

/* The least measure that a point in the box of a node can have. */
static double nearest_corner(const cr_neighbours *nb, size_t node, const double *x)
{
    const double *low = nb->low + node * nb->d, *high = nb->high + node * nb->d;
    double        sum = 0;
    for (size_t j = 0; j < nb->d; j++) {
        double t = x[j] < low[j] ? low[j] - x[j] : x[j] > high[j] ? x[j] - high[j] : 0;
        sum = add_side(nb, sum, t);
    }
    return sum;
}

/* The greatest. */
static double farthest_corner(const cr_neighbours *nb, size_t node, const double *x)
{
    const double *low = nb->low + node * nb->d, *high = nb->high + node * nb->d;
    double        sum = 0;
    for (size_t j = 0; j < nb->d; j++)
        sum = add_side(nb, sum, fmax(fabs(x[j] - low[j]), fabs(x[j] - high[j])));
    return sum;
}

/* --- k nearest ------------------------------------------------------------------------------- */

/* The best so far, nearest first; places that are still free hold INFINITY and SIZE_MAX. */
typedef struct shortlist {
    size_t  k, *index;
    double *measure;
} shortlist;

static shortlist list_of(const job *w, size_t at)
{
    return (shortlist){ w->k, w->index + at * w->k, w->distance + at * w->k };
}

static bool is_full_before(const shortlist *s, double measure, size_t index)
{
    double worst = s->measure[s->k - 1];
    return measure > worst || (measure == worst && index > s->index[s->k - 1]);
}

static void offer(shortlist *s, double measure, size_t index)
{
    size_t i = s->k - 1;
    if (is_full_before(s, measure, index)) return;
    for (; i > 0 && (s->measure[i - 1] > measure ||
                     (s->measure[i - 1] == measure && s->index[i - 1] > index));
         i--)
        s->measure[i] = s->measure[i - 1], s->index[i] = s->index[i - 1];
    s->measure[i] = measure;
    s->index[i] = index;
}

static void offer_leaf(const cr_neighbours *nb, size_t g, const query *q, shortlist *s)
{
    double measure[CRI_LANES];
    size_t begin = cri_leaf_begin(nb, g), n = cri_leaf_begin(nb, g + 1) - begin;
    measure_leaf(nb, g, q->x, measure);
    for (size_t l = 0; l < n; l++)
        if (measure[l] <= s->measure[s->k - 1] && nb->point[begin + l] != q->self)
            offer(s, measure[l], nb->point[begin + l]);
}

/* Nearer child first; nodes that can hold nothing better are left out. */
static void search(const cr_neighbours *nb, size_t node, const query *q, shortlist *s)
{
    if (node >= nb->leaves - 1) {
        offer_leaf(nb, node - (nb->leaves - 1), q, s);
        return;
    }
    size_t child[2] = { 2 * node + 1, 2 * node + 2 };
    double near[2] = { nearest_corner(nb, child[0], q->x), nearest_corner(nb, child[1], q->x) };
    size_t first =
        near[1] < near[0] || (near[1] == near[0] && nb->least[child[1]] < nb->least[child[0]]);
    for (size_t i = 0; i < 2; i++) {
        size_t c = i ^ first;
        if (!is_full_before(s, near[c], nb->least[child[c]])) search(nb, child[c], q, s);
    }
}

static void nearest_block(void *arg, size_t block)
{
    const job *w = arg;
    cri_range  r = cri_block_range(w->q, w->block, block);
    for (size_t from = r.begin; from < r.end; from += TOGETHER) {
        size_t    n = r.end - from < TOGETHER ? r.end - from : TOGETHER;
        query     q[TOGETHER];
        shortlist s[TOGETHER];
        for (size_t i = 0; i < n; i++) {
            q[i] = query_at(w, from + i);
            s[i] = list_of(w, q[i].at);
            for (size_t j = 0; j < w->k; j++) s[i].measure[j] = INFINITY, s[i].index[j] = SIZE_MAX;
            if (w->nb->tree) search(w->nb, 0, &q[i], &s[i]);
        }
        for (size_t g = 0; !w->nb->tree && g < w->nb->leaves; g++)
            for (size_t i = 0; i < n; i++) offer_leaf(w->nb, g, &q[i], &s[i]);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < w->k; j++) s[i].measure[j] = distance_of(w->nb, s[i].measure[j]);
    }
}

/* --- counts ---------------------------------------------------------------------------------- */

static bool is_within(const job *w, double measure, double radius)
{
    double distance = distance_of(w->nb, measure);
    return w->closed ? distance <= radius : distance < radius;
}

static size_t count_leaf(const job *w, size_t g, const double *x, double radius)
{
    double measure[CRI_LANES];
    size_t n = cri_leaf_begin(w->nb, g + 1) - cri_leaf_begin(w->nb, g), count = 0;
    measure_leaf(w->nb, g, x, measure);
    for (size_t l = 0; l < n; l++) count += is_within(w, measure[l], radius);
    return count;
}

static size_t count_node(const job *w, size_t level, size_t j, const double *x, double radius)
{
    const cr_neighbours *nb = w->nb;
    size_t               node = ((size_t)1 << level) - 1 + j;
    if (!is_within(w, nearest_corner(nb, node, x), radius)) return 0;
    if (is_within(w, farthest_corner(nb, node, x), radius))
        return (nb->n * (j + 1) >> level) - (nb->n * j >> level);
    if (level == nb->levels) return count_leaf(w, j, x, radius);
    return count_node(w, level + 1, 2 * j, x, radius) +
           count_node(w, level + 1, 2 * j + 1, x, radius);
}

/* In one dimension: the points within the radius are neighbours in the order. */
static size_t count_on_line(const job *w, double x, double radius)
{
    const double *p = w->nb->rows;
    size_t        first = 0, end = w->nb->n, last;
    while (first < end) { /* the first place that is within, or above x */
        size_t half = first + (end - first) / 2;
        double t = p[half] - x;
        if (t < 0 && !is_within(w, add_side(w->nb, 0, -t), radius))
            first = half + 1;
        else
            end = half;
    }
    for (last = first, end = w->nb->n; last < end;) { /* the first after it that is not */
        size_t half = last + (end - last) / 2;
        double t = p[half] - x;
        if (t < 0 || is_within(w, add_side(w->nb, 0, t), radius))
            last = half + 1;
        else
            end = half;
    }
    return last - first;
}

static size_t count_one(const job *w, const double *x, double radius)
{
    size_t count = 0;
    if (w->nb->d == 1) return count_on_line(w, x[0], radius);
    if (w->nb->tree) return count_node(w, 0, 0, x, radius);
    for (size_t g = 0; g < w->nb->leaves; g++) count += count_leaf(w, g, x, radius);
    return count;
}

static void count_block(void *arg, size_t block)
{
    const job *w = arg;
    cri_range  r = cri_block_range(w->q, w->block, block);
    for (size_t i = r.begin; i < r.end; i++) {
        query  q = query_at(w, i);
        double radius = w->radius[q.at];
        w->count[q.at] =
            count_one(w, q.x, radius) - (q.self != SIZE_MAX && is_within(w, 0, radius));
    }
}

/* Runs the body over all queries.  A block asks for some millions of distances at the most, so that an
 * interruption is seen soon; the work is shared where it is as much as looking at many points once. */
static cr_status run(cr_ctx *cx, job *w, void (*body)(void *arg, size_t block))
{
    const size_t most = 1 << 25, usual = 64;
    size_t       one = w->nb->n * w->nb->d + 1, fit = most / one / TOGETHER * TOGETHER;
    w->q = w->opt_Q ? w->opt_Q->rows : w->nb->n;
    w->block = fit < TOGETHER ? TOGETHER : fit < usual ? fit : usual;
    size_t looked = w->nb->tree ? w->q : w->q * w->nb->leaves;
    return cri_neighbours_run(cx, looked, cri_block_count(w->q, w->block), body, w);
}

/* --- both ------------------------------------------------------------------------------------ */

static cr_status check_queries(cr_ctx *cx, const cr_neighbours *nb, const cr_cmat *opt_Q)
{
    if (!opt_Q) return CR_OK;
    if (opt_Q->cols != nb->d)
        return cr_fail(cx, CR_EARG, "neighbours: a query has %zu coordinates, the points have %zu",
                       opt_Q->cols, nb->d);
    for (size_t i = 0; i < opt_Q->rows; i++)
        for (size_t j = 0; j < opt_Q->cols; j++)
            if (!isfinite(opt_Q->a[i * opt_Q->stride + j]))
                return cr_fail(cx, CR_EDATA,
                               "neighbours: coordinate %zu of query %zu is not finite", j + 1,
                               i + 1);
    return CR_OK;
}

cr_status cr_neighbours_nearest(cr_ctx *cx, const cr_neighbours *nb, const cr_cmat *opt_Q, size_t k,
                                size_t *out_index, double *out_distance)
{
    cr_status st = CR_OK;
    job    w = { .nb = nb, .opt_Q = opt_Q, .k = k, .index = out_index, .distance = out_distance };
    size_t others = opt_Q ? nb->n : nb->n - 1;
    CR_TRY(check_queries(cx, nb, opt_Q));
    if (k == 0 || k > others)
        CR_TRY(cr_fail(cx, CR_EARG, "neighbours: %zu are asked for, but there are only %zu", k,
                       others));
    CR_TRY(run(cx, &w, nearest_block));
done:
    return st;
}

cr_status cr_neighbours_count(cr_ctx *cx, const cr_neighbours *nb, const cr_cmat *opt_Q,
                              const double *radius, bool closed, size_t *out_count)
{
    cr_status st = CR_OK;
    job w = { .nb = nb, .opt_Q = opt_Q, .radius = radius, .closed = closed, .count = out_count };
    CR_TRY(check_queries(cx, nb, opt_Q));
    CR_TRY(run(cx, &w, count_block));
done:
    return st;
}
