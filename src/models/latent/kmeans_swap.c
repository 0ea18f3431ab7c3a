/* kmeans_swap.c -- swaps: a centre moves to a row elsewhere, where that lowers the inertia.
 * A row is drawn by w_i times its squared distance to its centre, as in k-means++.  With e_i its squared distance to
 * row i, and d_i, f_i those of row i to the nearest and to the second of the centres, taking centre c away for it
 * leaves
 *   sum_i w_i min(d_i, e_i)  +  sum_{i: a_i = c} w_i (min(f_i, e_i) - min(d_i, e_i)),
 * for all c in one pass of O(n p); the best c is swapped where that is less than the sum of w_i d_i.  Rows for which
 * e_i >= f_i follows from the distance between the row drawn and their centre are passed over.
 * Lattanzi & Sohler (2019), A better k-means++ algorithm via local search, ICML. */
#include "kmeans.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1024 };

static const double WORTH = 1e-9; /* the share of the inertia that a swap must gain */

/* d and f are in w->u and w->l, a in w->a. */
typedef struct swaps {
    cri_kmeans_work *w;
    uint32_t        *second; /* [n] the second centre                                    */
    double          *left;   /* [blocks] sum of w d                                      */
    double          *loss;   /* [k] of a centre taken away: sum of w (f - d) of its rows */
    double          *way;    /* [k] squared distances of the row drawn to the centres    */
    double          *acc;    /* [k + 1] what the row drawn changes of both sums          */
    const double    *x;      /* it                                                       */
    size_t           gone;   /* the centre that it replaces                              */
} swaps;

/* The two nearest centres of row i. */
static void find_near(const swaps *s, size_t i)
{
    cri_kmeans_work *w = s->w;
    size_t           p = w->d->p;
    w->u[i] = w->l[i] = INFINITY;
    w->a[i] = s->second[i] = 0;
    for (size_t c = 0; c < w->k; c++) {
        double e = cri_kmeans_square(w->d->X + i * p, w->C + c * p, p);
        if (e < w->u[i])
            w->l[i] = w->u[i], s->second[i] = w->a[i], w->u[i] = e, w->a[i] = (uint32_t)c;
        else if (e < w->l[i])
            w->l[i] = e, s->second[i] = (uint32_t)c;
    }
}

/* Row i after the swap of centre `gone` for x. */
static void follow(const swaps *s, size_t i)
{
    cri_kmeans_work *w = s->w;
    size_t           p = w->d->p;
    double           e;
    if (w->a[i] == s->gone || s->second[i] == s->gone) {
        find_near(s, i);
        return;
    }
    if (2 * (w->u[i] + w->l[i]) <= s->way[w->a[i]]) return;
    e = cri_kmeans_square(w->d->X + i * p, s->x, p);
    if (e < w->u[i])
        w->l[i] = w->u[i], s->second[i] = w->a[i], w->u[i] = e, w->a[i] = (uint32_t)s->gone;
    else if (e < w->l[i])
        w->l[i] = e, s->second[i] = (uint32_t)s->gone;
}

/* All rows anew (x is NULL), or after a swap. */
static void update_block(void *arg, size_t block)
{
    const swaps *s = arg;
    cri_range    range = cri_block_range(s->w->d->n, BLOCK, block);
    s->left[block] = 0;
    for (size_t i = range.begin; i < range.end; i++) {
        if (s->x)
            follow(s, i);
        else
            find_near(s, i);
        s->left[block] += s->w->d->w[i] * s->w->u[i];
    }
}

static void lose_block(void *arg, cri_range range, double *acc)
{
    const cri_kmeans_work *w = ((const swaps *)arg)->w;
    for (size_t i = range.begin; i < range.end; i++)
        acc[w->a[i]] += w->d->w[i] * (w->l[i] - w->u[i]);
}

static void weigh_block(void *arg, cri_range range, double *acc)
{
    const swaps           *s = arg;
    const cri_kmeans_work *w = s->w;
    size_t                 p = w->d->p;
    for (size_t i = range.begin; i < range.end; i++) {
        double d = w->u[i], f = w->l[i], e;
        if (2 * (d + f) <= s->way[w->a[i]]) continue;
        if ((e = cri_kmeans_square(w->d->X + i * p, s->x, p)) >= f) continue;
        double least = e < d ? e : d;
        acc[w->k] += w->d->w[i] * (least - d);
        acc[w->a[i]] += w->d->w[i] * (e - least - (f - d));
    }
}

/* Where the rows are, by the centres: all of them, or those that a swap changed. */
static cr_status update(cr_ctx *cx, swaps *s, double *out_inertia)
{
    cri_kmeans_work *w = s->w;
    size_t           n = w->d->n, blocks = cri_block_count(n, BLOCK);
    cr_status        st = cri_parallel_for(cx, NULL, blocks, update_block, s);
    if (st == CR_OK) st = cri_parallel_sum(cx, NULL, n, BLOCK, w->k, lose_block, s, s->loss);
    *out_inertia = 0;
    for (size_t b = 0; b < blocks && st == CR_OK; b++) *out_inertia += s->left[b];
    return st;
}

/* Draws a row, and swaps the best centre for it where that gains; *out_swapped says so. */
static cr_status try_swap(cr_ctx *cx, swaps *s, bool forced, cr_rng *r, double *inertia,
                          bool *out_swapped)
{
    cr_status        st = CR_OK;
    cri_kmeans_work *w = s->w;
    size_t           p = w->d->p, best = 0;
    double           least = INFINITY;

    s->x = w->d->X + cri_kmeans_draw_far(w, s->left, BLOCK, r) * p;
    for (size_t c = 0; c < w->k; c++) s->way[c] = cri_kmeans_square(w->C + c * p, s->x, p);
    CR_TRY(cri_parallel_sum(cx, NULL, w->d->n, BLOCK, w->k + 1, weigh_block, s, s->acc));
    for (size_t c = 0; c < w->k; c++)
        if (s->loss[c] + s->acc[c] < least) least = s->loss[c] + s->acc[c], best = c;
    *out_swapped = forced || least + s->acc[w->k] < -WORTH * *inertia;
    if (!*out_swapped) goto done;
    memcpy(w->C + best * p, s->x, p * sizeof(double));
    s->gone = best;
    CR_TRY(update(cx, s, inertia));
done:
    return st;
}

cr_status cri_kmeans_swap(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_limits *limits,
                          bool forced, cr_rng *rng, size_t *out_made)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    size_t     tries = forced ? 1 : 20 + 2 * w->k;
    double     inertia;
    swaps      s = { .w = w };

    *out_made = 0;
    if (w->k < 2) goto done;
    s.second = cr_scratch_bytes(&scratch, w->d->n, sizeof *s.second);
    s.left = cr_scratch_f64(&scratch, cri_block_count(w->d->n, BLOCK));
    s.loss = cr_scratch_f64(&scratch, w->k);
    s.way = cr_scratch_f64(&scratch, w->k);
    s.acc = cr_scratch_f64(&scratch, w->k + 1);
    CR_TRY(scratch.status);
    CR_TRY(update(cx, &s, &inertia));
    for (size_t t = 0; t < tries && inertia > 0 && !cri_clock_over(limits->clock); t++) {
        bool swapped;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(try_swap(cx, &s, forced, rng, &inertia, &swapped));
        *out_made += swapped;
    }
    cri_kmeans_forget(w);
done:
    cr_scratch_end(&scratch);
    return st;
}
