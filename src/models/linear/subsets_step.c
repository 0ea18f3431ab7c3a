/* subsets_step.c -- forward and backward selection, and the door to all searches. */
#include "subsets.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* A term of which the others leave less than this share is a combination of them. */
static const double DEPENDENT = 1e-10;

static void note(cri_subsets *out, size_t size, double rss, const double *in)
{
    if (size > out->most) return;
    out->rss[size] = rss > 0 ? rss : 0;
    memcpy(out->member + size * out->p, in, out->p * sizeof(double));
}

/* Takes what term j explains out of all others: A -= a_j a_j^T / A_jj, and the same for the target.
 */
static void sweep_out(double *A, double *a, size_t p, size_t j)
{
    double  pivot = A[j * p + j], share = a[j] / pivot;
    double *row = A + j * p;
    for (size_t i = 0; i < p; i++) {
        double f = row[i] / pivot;
        if (i == j || f == 0) continue;
        a[i] -= row[i] * share;
        for (size_t k = 0; k < p; k++)
            if (k != j) A[i * p + k] -= f * row[k];
    }
}

cr_status cri_subsets_forward(cr_ctx *cx, const cri_gram *g, size_t last, cri_subsets *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = g->p;
    double    *A = cr_scratch_matrix(&s, p, p), *a = cr_scratch_f64(&s, p), rss = g->tt;
    double    *in = cr_scratch_bytes(&s, p, sizeof(double));
    cri_clock  clock = cri_clock_start(cx, NAN);

    CR_TRY(s.status);
    memcpy(A, g->G, p * p * sizeof(double));
    memcpy(a, g->g, p * sizeof(double));
    note(out, 0, rss, in);
    for (size_t size = 1; size <= last && !cri_clock_over(&clock); size++) {
        size_t best = p;
        double most = -1;
        CR_TRY(cr_check_interrupt(cx));
        for (size_t j = 0; j < p; j++) {
            double left = A[j * p + j];
            if (in[j] != 0 || !(left > DEPENDENT * g->G[j * p + j])) continue;
            if (a[j] * a[j] / left > most) most = a[j] * a[j] / left, best = j;
        }
        if (best == p) break; /* the others are combinations of these */
        in[best] = 1;
        rss -= most;
        note(out, size, rss, in);
        sweep_out(A, a, p, best);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The inverse B of the cross-products of the terms in the set, by sweeps; terms that are
 * combinations of those before them leave the set.  b = B g.  Returns the size of the set. */
static size_t invert(const cri_gram *g, double *B, double *b, double *in, double *rss)
{
    size_t p = g->p, size = 0;
    memcpy(B, g->G, p * p * sizeof(double));
    memcpy(b, g->g, p * sizeof(double));
    for (size_t j = 0; j < p; j++) {
        double pivot = B[j * p + j];
        if (!(pivot > DEPENDENT * g->G[j * p + j])) continue;
        in[j] = 1;
        size++;
        *rss -= b[j] * b[j] / pivot;
        for (size_t i = 0; i < p; i++) {
            double f = B[i * p + j] / pivot;
            if (i == j) continue;
            b[i] -= f * b[j];
            for (size_t k = 0; k < p; k++)
                if (k != j) B[i * p + k] -= f * B[j * p + k];
            B[i * p + j] = -f;
        }
        for (size_t k = 0; k < p; k++) B[j * p + k] = k == j ? 1 / pivot : B[j * p + k] / pivot;
        b[j] /= pivot;
    }
    return size;
}

static cr_status subsets_backward(cr_ctx *cx, const cri_gram *g, size_t last, cri_subsets *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = g->p;
    double    *B = cr_scratch_matrix(&s, p, p), *b = cr_scratch_f64(&s, p), rss = g->tt;
    double    *in = cr_scratch_bytes(&s, p, sizeof(double));

    CR_TRY(s.status);
    size_t size = invert(g, B, b, in, &rss);
    note(out, size, rss, in);
    while (size > last) {
        size_t worst = p;
        double least = INFINITY;
        CR_TRY(cr_check_interrupt(cx));
        for (size_t j = 0; j < p; j++)
            if (in[j] != 0 && b[j] * b[j] / B[j * p + j] < least)
                least = b[j] * b[j] / B[j * p + j], worst = j;
        if (worst == p) break; /* no number to go by */
        double  pivot = B[worst * p + worst], share = b[worst] / pivot;
        double *row = B + worst * p;
        in[worst] = 0;
        rss += least;
        for (size_t i = 0; i < p; i++) {
            double f = B[i * p + worst] / pivot;
            if (in[i] == 0) continue;
            b[i] -= B[i * p + worst] * share;
            for (size_t k = 0; k < p; k++)
                if (in[k] != 0) B[i * p + k] -= f * row[k];
        }
        note(out, --size, rss, in);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_subsets_find(cr_ctx *cx, const cri_gram *g, cri_subset_method method, size_t only,
                           cri_subsets *out)
{
    for (size_t k = 0; k <= out->most; k++) out->rss[k] = -1;
    memset(out->member, 0, (out->most + 1) * out->p * sizeof(double));
    bool all = only == SIZE_MAX;
    switch (method) {
    case CRI_SUBSET_BEST:
        return cri_subsets_best(cx, g, only, out);
    case CRI_SUBSET_BACKWARD:
        return subsets_backward(cx, g, all ? 0 : only, out);
    default:
        return cri_subsets_forward(cx, g, all ? out->most : only, out);
    }
}
