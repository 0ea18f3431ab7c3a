/* kmeans_scores.c -- which cluster is the first, and how well they are separated.
 * Calinski & Harabasz (1974), Communications in Statistics 3; Rousseeuw (1987), J. Computational and Applied
 * Mathematics 20. */
#include "kmeans.h"
#include "base/context_internal.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 16, PART = 1024 };

static bool comes_before(size_t p, const double *size, const double *C, size_t a, size_t b)
{
    if (size[a] != size[b]) return size[a] > size[b];
    for (size_t j = 0; j < p; j++)
        if (C[a * p + j] != C[b * p + j]) return C[a * p + j] < C[b * p + j];
    return a < b;
}

void cri_kmeans_order(size_t k, size_t p, const double *size, const double *C, size_t *order)
{
    for (size_t c = 0; c < k; c++) {
        size_t at = c;
        for (; at > 0 && comes_before(p, size, C, c, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = c;
    }
}

double cri_kmeans_calinski_harabasz(const cri_kmeans_work *w)
{
    double k = (double)w->k, between = fmax(w->d->total - w->inertia, 0);
    if (w->k < 2 || !(w->d->weight > k)) return NAN;
    if (!(w->inertia > 0)) return INFINITY;
    return between / (k - 1) / (w->inertia / (w->d->weight - k));
}

/* The silhouette of row i; sum [k] is workspace.  Rows that are alike are as many as their weight says. */
static double silhouette_of(const cri_kmeans_work *w, size_t i, double *sum)
{
    size_t        p = w->d->p, a = w->a[i];
    const double *x = w->d->X + i * p;
    double        own, other = INFINITY;
    if (!(w->size[a] > 1)) return 0;
    memset(sum, 0, w->k * sizeof *sum);
    for (size_t j = 0; j < w->d->n; j++)
        sum[w->a[j]] += w->d->w[j] * sqrt(cri_kmeans_square(x, w->d->X + j * p, p));
    own = sum[a] / (w->size[a] - 1);
    for (size_t c = 0; c < w->k; c++)
        if (c != a) other = fmin(other, sum[c] / w->size[c]);
    return own < other ? 1 - own / other : own > other ? other / own - 1 : 0;
}

/* Rows from `from` on. */
typedef struct part {
    const cri_kmeans_work *w;
    size_t                 from;
} part;

static void silhouette_block(void *arg, cri_range range, double *acc, double *sum)
{
    const part *s = arg;
    for (size_t i = s->from + range.begin; i < s->from + range.end; i++)
        acc[0] += s->w->d->w[i] * silhouette_of(s->w, i, sum);
}

cr_status cri_kmeans_silhouette(cr_ctx *cx, const cri_kmeans_work *w, const struct cri_clock *clock,
                                double *out)
{
    double sum = 0, more;
    *out = NAN;
    for (part s = { w, 0 }; s.from < w->d->n && w->k > 1; s.from += PART) {
        cri_range range = cri_block_range(w->d->n, PART, s.from / PART);
        if (cri_clock_over(clock)) return CR_OK;
        cr_status st = cri_parallel_sum_in(cx, NULL, range.end - range.begin, BLOCK, 1, w->k,
                                           silhouette_block, &s, &more);
        if (st != CR_OK) return st;
        sum += more;
        cr_progress(cx, "silhouette", (double)range.end, (double)w->d->n);
    }
    if (w->k > 1) *out = sum / w->d->weight;
    return CR_OK;
}
