/* knn_count.c -- which rows are the k nearest, and which k is best. */
#include "knn.h"
#include "base/parallel.h"
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

enum { BLOCK = 64 };

typedef struct loo_work {
    const cri_knn *m;
    size_t         least, most, near; /* k tried; rows asked for */
    const size_t  *index;             /* [n x near]              */
    const double  *distance;          /* [n x near]              */
    double        *workspace;         /* [blocks x (most + K)]   */
} loo_work;

/* What a ring adds to k = 1, 2, ...: votes of the classes, or the sum of the targets. */
typedef struct tally {
    double  counted, mass, sum; /* rows so far; their votes; votes times target */
    double *votes;              /* [K] */
    bool    met;                /* some were at distance 0 */
} tally;

static double loss_of(const cri_knn *m, const tally *t, double y)
{
    if (m->K == 0) return (y - t->sum / t->mass) * (y - t->sum / t->mass);
    double share = t->votes[(size_t)y] / t->mass;
    return -log((share * t->counted + m->smoothing) / (t->counted + m->smoothing * (double)m->K));
}

/* t plus the part f of a ring. */
static void add_ring(const cri_knn *m, const loo_work *a, size_t row, size_t begin, size_t end,
                     double self, double f, tally *t)
{
    const size_t *index = a->index + row * a->near;
    const double *distance = a->distance + row * a->near;
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

static double ring_weight(const cri_knn *m, const loo_work *a, size_t row, size_t begin, size_t end)
{
    double sum = 0;
    for (size_t j = begin; j < end; j++) sum += m->w[a->index[row * a->near + j]];
    return sum;
}

/* Adds w_i times the loss of row i at each k to acc [most + 1]. */
static void add_row(const loo_work *a, size_t row, double *votes, double *acc)
{
    const cri_knn *m = a->m;
    const double  *distance = a->distance + row * a->near;
    double         self = m->w[row] > 1 ? m->w[row] - 1 : 0; /* its copies stay, at distance 0 */
    size_t         k = 1, begin = 0;
    tally          t = { .votes = votes };
    memset(votes, 0, m->K * sizeof(double));
    while (k <= a->most) {
        size_t end = begin;
        if (begin < a->near && (self == 0 || distance[begin] == 0))
            end = ring_end(distance, begin, a->near);
        double ring = ring_weight(m, a, row, begin, end) + self;
        double before = t.counted;
        if (ring == 0) break; /* all rows are in */
        for (; k <= a->most && (double)k <= (before + ring) * (1 + 1e-12); k++) {
            add_ring(m, a, row, begin, end, self, ((double)k - t.counted) / ring, &t);
            acc[k] += m->w[row] * loss_of(m, &t, m->y[row]);
        }
        add_ring(m, a, row, begin, end, self, (before + ring - t.counted) / ring, &t);
        begin = end;
        self = 0;
    }
    for (; k <= a->most; k++) acc[k] += m->w[row] * loss_of(m, &t, m->y[row]);
}

static void add_rows(void *arg, cri_range r, double *acc, double *workspace)
{
    const loo_work *a = arg;
    for (size_t i = r.begin; i < r.end; i++) add_row(a, i, workspace, acc);
}

cr_status cri_knn_choose(cr_ctx *cx, const cri_knn *m, size_t least, size_t most, double *out_k,
                         double *out_loss)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     near = most + 16 < m->n - 1 ? most + 16 : m->n - 1, best = least;
    size_t    *index = cr_scratch_bytes(&s, m->n * near, sizeof *index);
    double    *distance = cr_scratch_matrix(&s, m->n, near), *loss = cr_scratch_f64(&s, most + 1);
    loo_work   a = { .m = m, .least = least, .most = most, .near = near };
    double     weight = 0;

    CR_TRY(s.status);
    CR_TRY(cr_neighbours_nearest(cx, m->tree, NULL, near, index, distance));
    a.index = index;
    a.distance = distance;
    CR_TRY(
        cri_parallel_sum_in(cx, "choosing k", m->n, BLOCK, most + 1, m->K + 1, add_rows, &a, loss));
    for (size_t i = 0; i < m->n; i++) weight += m->w[i];
    for (size_t k = least; k <= most; k++)
        if (loss[k] < loss[best] * (1 - 1e-12)) best = k;
    *out_k = (double)best;
    *out_loss = loss[best] / weight;
done:
    cr_scratch_end(&s);
    return st;
}
