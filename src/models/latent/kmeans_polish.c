/* kmeans_polish.c -- single moves after Hartigan.
 * Moving row x of weight w from cluster a, of size s_a, to b changes the inertia by
 *   w s_b / (s_b + w) |x - c_b|^2 - w s_a / (s_a - w) |x - c_a|^2,
 * which takes into account that both centres follow.  A row may gain by it although c_a is its nearest centre: these
 * moves leave optima of Lloyd's steps that are not optima of single moves.  Rows that may gain are found in parallel,
 * by the bounds where these suffice; the moves are made one after another.
 * Hartigan (1975), Clustering Algorithms, ch. 4; Telgarsky & Vattani (2010), AISTATS. */
#include "kmeans.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

static const double TIE = 1e-12; /* shares of a squared distance that count as no gain */

typedef struct moves {
    cri_kmeans_work *w;
    bool            *may;   /* [n] the row may gain */
    double           far;   /* the longest way of a centre since the bounds */
    double           least; /* the smallest cluster */
} moves;

/* The best cluster for row i, which leaves more than itself behind; its own where none is better. */
static size_t best_cluster(const cri_kmeans_work *w, size_t i)
{
    size_t        p = w->d->p, a = w->a[i], best = a;
    const double *x = w->d->X + i * p;
    double        weight = w->d->w[i];
    double        own = cri_kmeans_square(x, w->C + a * p, p) * w->size[a] / (w->size[a] - weight);
    double        least = own * (1 - TIE);
    for (size_t b = 0; b < w->k; b++) {
        double cost;
        if (b == a) continue;
        cost = cri_kmeans_square(x, w->C + b * p, p) * w->size[b] / (w->size[b] + weight);
        if (cost < least) least = cost, best = b;
    }
    return best;
}

static void find_block(void *arg, cri_range range, double *workspace)
{
    const moves           *m = arg;
    const cri_kmeans_work *w = m->w;
    (void)workspace;
    for (size_t i = range.begin; i < range.end; i++) {
        size_t a = w->a[i];
        double weight = w->d->w[i], u = w->u[i] + w->drift[a];
        double l = w->l[i] > m->far ? w->l[i] - m->far : 0;
        bool   alone = w->count[a] < 2;
        bool   stays =
            u * u * w->size[a] / (w->size[a] - weight) <= l * l * m->least / (m->least + weight);
        m->may[i] = !alone && !stays && best_cluster(w, i) != a;
    }
}

static void set_centre(cri_kmeans_work *w, size_t c)
{
    size_t p = w->d->p;
    for (size_t j = 0; j < p; j++) w->C[c * p + j] = w->sum[c * p + j] / w->size[c];
}

/* The moves of the rows that may gain, as the centres then are; returns their number. */
static size_t make_moves(const moves *m)
{
    cri_kmeans_work *w = m->w;
    size_t           made = 0;
    for (size_t i = 0; i < w->d->n; i++) {
        size_t a = w->a[i], b;
        if (!m->may[i] || w->count[a] < 2 || (b = best_cluster(w, i)) == a) continue;
        cri_kmeans_move(w, i, b);
        set_centre(w, a);
        set_centre(w, b);
        made++;
    }
    return made;
}

/* One round: returns in *out_made how many moves it made; drifts are then what the bounds lack. */
static cr_status polish_once(cr_ctx *cx, moves *m, double *old, size_t *out_made)
{
    cri_kmeans_work *w = m->w;
    size_t           k = w->k, p = w->d->p;
    m->far = 0, m->least = INFINITY;
    for (size_t c = 0; c < k; c++)
        m->far = fmax(m->far, w->drift[c]), m->least = fmin(m->least, w->size[c]);
    cr_status st = cri_parallel_rows(cx, NULL, w->d->n, BLOCK, 1, find_block, m);
    if (st != CR_OK) return st;
    memcpy(old, w->C, k * p * sizeof *old);
    *out_made = make_moves(m);
    for (size_t c = 0; c < k; c++)
        w->drift[c] += sqrt(cri_kmeans_square(old + c * p, w->C + c * p, p));
    return CR_OK;
}

cr_status cri_kmeans_polish(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_limits *limits)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *old = cr_scratch_matrix(&s, w->k, w->d->p);
    moves      m = { .w = w, .may = cr_scratch_bytes(&s, w->d->n, sizeof(bool)) };

    CR_TRY(s.status);
    for (size_t made = 1; made > 0 && w->converged && w->k > 1;) {
        double before = w->inertia;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(polish_once(cx, &m, old, &made));
        if (made > 0 && w->iterations < limits->max_iter) CR_TRY(cri_kmeans_descend(cx, w, limits));
        if (before - w->inertia <= limits->tol * before || cri_clock_over(limits->clock)) break;
    }
done:
    cr_scratch_end(&s);
    return st;
}
