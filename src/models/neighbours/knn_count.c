/* knn_count.c -- which rows are the k nearest, which k is best, and which smoothing. */
#include "knn.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* The end of the rows that are as far away as row i, up to rounding. */
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
 * Each row in turn is predicted from the others; of a row of weight w one w-th is left out, if w
 * > 1. */

enum { BLOCK = 64, AT_ONCE = 1024 }; /* rows of a block; asked between two looks at the clock */

typedef struct loo_work {
    const cri_knn *m;
    size_t         least, most, near; /* k tried; rows asked for                            */
    const size_t  *index;             /* [n x near], or [rows asked x near]                 */
    const double  *distance;          /* likewise                                           */
    const size_t  *rows;              /* [rows asked]; NULL: all                            */
    bool           smoothings;        /* what is tried are these, at k = most, and not k    */
} loo_work;

/* What a ring adds to k = 1, 2, ...: votes of the classes, or the sum of the targets. */
typedef struct tally {
    double  counted, mass, sum; /* rows so far; their votes; votes times target */
    double *votes;              /* [K] */
    bool    met;                /* some were at distance 0 */
} tally;

static double loss_of(const cri_knn *m, const tally *t, double y, double smoothing)
{
    if (m->K == 0) return (y - t->sum / t->mass) * (y - t->sum / t->mass);
    double share = t->votes[(size_t)y] / t->mass;
    return -log((share * t->counted + smoothing) / (t->counted + smoothing * (double)m->K));
}

/* Number j of those that are tried: all K together are as many rows as 4, 2, 1, ... */
enum { SMOOTHINGS = 10 };
static double smoothing_at(const cri_knn *m, size_t j) { return ldexp(4, -(int)j) / (double)m->K; }

static void add_loss(const loo_work *a, size_t k, const tally *t, size_t row, double *acc)
{
    const cri_knn *m = a->m;
    if (!a->smoothings) acc[k] += m->w[row] * loss_of(m, t, m->y[row], m->smoothing);
    for (size_t j = 0; j < SMOOTHINGS && a->smoothings && k == a->most; j++)
        acc[j] += m->w[row] * loss_of(m, t, m->y[row], smoothing_at(m, j));
}

/* t plus the part f of a ring of what is near query q, which is this row. */
static void add_ring(const cri_knn *m, const loo_work *a, size_t q, size_t row, size_t begin,
                     size_t end, double self, double f, tally *t)
{
    const size_t *index = a->index + q * a->near;
    const double *distance = a->distance + q * a->near;
    double        d = begin < end ? distance[begin] : 0;
    double        v = !m->by_distance ? 1 : d > CRI_MET ? !t->met / d : 1;
    t->met = t->met || d <= CRI_MET;
    for (size_t j = begin; j <= end; j++) {
        size_t i = j < end ? index[j] : row;
        double c = f * (j < end ? m->w[i] : self);
        t->counted += c;
        t->mass += c * v;
        if (m->K)
            t->votes[(size_t)m->y[i]] += c * v;
        else
            t->sum += c * v * m->y[i];
    }
}

static double ring_weight(const cri_knn *m, const loo_work *a, size_t q, size_t begin, size_t end)
{
    double sum = 0;
    for (size_t j = begin; j < end; j++) sum += m->w[a->index[q * a->near + j]];
    return sum;
}

/* Adds w_i times the loss of the row of query q at each k, or smoothing, to acc. */
static void add_row(const loo_work *a, size_t q, double *votes, double *acc)
{
    const cri_knn *m = a->m;
    const double  *distance = a->distance + q * a->near;
    size_t         row = a->rows ? a->rows[q] : q;
    double         self = m->w[row] > 1 ? m->w[row] - 1 : 0; /* its copies stay, at distance 0 */
    size_t         k = 1, begin = 0;
    tally          t = { .votes = votes };
    memset(votes, 0, m->K * sizeof(double));
    while (k <= a->most) {
        size_t end = begin;
        if (begin < a->near && (self == 0 || distance[begin] == 0))
            end = ring_end(distance, begin, a->near);
        double ring = ring_weight(m, a, q, begin, end) + self;
        double before = t.counted;
        if (ring == 0) break; /* all rows are in */
        for (; k <= a->most && (double)k <= (before + ring) * (1 + 1e-12); k++) {
            add_ring(m, a, q, row, begin, end, self, ((double)k - t.counted) / ring, &t);
            add_loss(a, k, &t, row, acc);
        }
        add_ring(m, a, q, row, begin, end, self, (before + ring - t.counted) / ring, &t);
        begin = end;
        self = 0;
    }
    for (; k <= a->most; k++) add_loss(a, k, &t, row, acc);
}

static void add_rows(void *arg, cri_range r, double *acc, double *workspace)
{
    const loo_work *a = arg;
    for (size_t i = r.begin; i < r.end; i++) add_row(a, i, workspace, acc);
}

/* The rows near each of those asked, [asked x near], without itself; near + 1 are looked for, of which it is one
 * or, among many at distance 0, takes the place of the last. */
static cr_status find_near(cr_ctx *cx, const cri_knn *m, const size_t *rows, size_t asked,
                           size_t near, size_t *index, double *distance)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     wide = near + 1;
    double    *Q = cr_scratch_matrix(&s, asked, m->p), *d = cr_scratch_matrix(&s, asked, wide);
    size_t    *found = cr_scratch_bytes(&s, asked * wide, sizeof *found);
    CR_TRY(s.status);
    for (size_t q = 0; q < asked; q++)
        memcpy(Q + q * m->p, m->X + rows[q] * m->p, m->p * sizeof *Q);
    cr_cmat queries = cr_cmat_of(Q, asked, m->p);
    CR_TRY(cr_neighbours_nearest(cx, m->tree, &queries, wide, found, d));
    for (size_t q = 0; q < asked; q++) {
        size_t k = 0;
        for (size_t j = 0; j < wide && k < near; j++) {
            if (found[q * wide + j] == rows[q]) continue;
            index[q * near + k] = found[q * wide + j];
            distance[q * near + k++] = d[q * wide + j];
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* loss [most + 1] := that of each k over these rows, or over all. */
static cr_status sum_losses(cr_ctx *cx, loo_work *a, const size_t *opt_rows, size_t asked,
                            double *loss)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *index = cr_scratch_bytes(&s, asked * a->near, sizeof *index);
    double    *distance = cr_scratch_matrix(&s, asked, a->near);
    CR_TRY(s.status);
    CR_TRY(opt_rows ? find_near(cx, a->m, opt_rows, asked, a->near, index, distance)
                    : cr_neighbours_nearest(cx, a->m->tree, NULL, a->near, index, distance));
    a->index = index;
    a->distance = distance;
    a->rows = opt_rows;
    CR_TRY(cri_parallel_sum_in(cx, "choosing k", asked, BLOCK, a->most + 1, a->m->K + 1, add_rows,
                               a, loss));
done:
    cr_scratch_end(&s);
    return st;
}

/* The same over rows in random order, as many as there is time for: *out_asked, of this weight. */
static cr_status sum_some_losses(cr_ctx *cx, loo_work *a, double *loss, size_t *out_asked,
                                 double *out_weight)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = a->m->n, *order = cr_scratch_index(&s, n), done_rows = 0;
    double    *some = cr_scratch_f64(&s, a->most + 1);
    cr_rng     r = cr_rng_stream(0, (uint64_t)0x4b4e4eu << 32); /* "KNN" */
    cri_clock  clock = cri_clock_start(cx, NAN);
    CR_TRY(s.status);
    cr_rng_permutation(&r, n, order);
    *out_weight = 0;
    while (done_rows < n && (done_rows == 0 || !cri_clock_over(&clock))) {
        size_t asked = n - done_rows < AT_ONCE ? n - done_rows : AT_ONCE;
        CR_TRY(sum_losses(cx, a, order + done_rows, asked, some));
        for (size_t k = 0; k <= a->most; k++) loss[k] += some[k];
        for (size_t i = 0; i < asked; i++) *out_weight += a->m->w[order[done_rows + i]];
        done_rows += asked;
    }
    *out_asked = done_rows;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_knn_choose(cr_ctx *cx, const cri_knn *m, size_t least, size_t most, double *out_k,
                         double *out_loss, size_t *out_asked)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     near = most + 16 < m->n - 1 ? most + 16 : m->n - 1, best = least;
    double    *loss = cr_scratch_bytes(&s, most + 1, sizeof *loss), weight = 0;
    loo_work   a = { .m = m, .least = least, .most = most, .near = near };

    CR_TRY(s.status);
    *out_asked = m->n;
    for (size_t i = 0; i < m->n; i++) weight += m->w[i];
    CR_TRY(isinf(cri_time_left(cx)) ? sum_losses(cx, &a, NULL, m->n, loss)
                                    : sum_some_losses(cx, &a, loss, out_asked, &weight));
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
    size_t     asked = m->n < MOST_ASKED ? m->n : MOST_ASKED, best = 0;
    size_t     most = m->k < (double)m->n ? (size_t)m->k : m->n;
    size_t     near = most + 16 < m->n - 1 ? most + 16 : m->n - 1;
    size_t    *index = cr_scratch_bytes(&s, asked * near, sizeof *index);
    size_t    *rows = cr_scratch_index(&s, asked);
    double    *distance = cr_scratch_matrix(&s, asked, near), loss[SMOOTHINGS] = { 0 };
    loo_work   a = { .m = m, .least = most, .most = most, .near = near, .smoothings = true };

    CR_TRY(s.status);
    for (size_t q = 0; q < asked; q++) rows[q] = q * m->n / asked;
    CR_TRY(find_near(cx, m, rows, asked, near, index, distance));
    a.index = index;
    a.distance = distance;
    a.rows = rows;
    CR_TRY(cri_parallel_sum_in(cx, "choosing the smoothing", asked, BLOCK, SMOOTHINGS, m->K + 1,
                               add_rows, &a, loss));
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
