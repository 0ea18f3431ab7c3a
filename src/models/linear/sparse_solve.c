/* sparse_solve.c -- least squares and ridge on sparse rows, by LSQR. */
#include "sparse_solve.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 8192 };

typedef struct stack {
    const cri_sparse_terms *z;
    double                  root;   /* sqrt(lambda)                                    */
    double                 *D, *b;  /* [p]                                             */
    double                 *work_p; /* [p]                                             */
    double                 *work_n; /* [n]                                             */
    const double           *from;   /* [p] x, or [p] the lower part of y               */
    double                 *to;     /* [p] the lower part of the product, or all of it */
} stack;

/* b = D x, and root b below. */
static void enter_terms(void *arg, size_t block)
{
    const stack *k = arg;
    cri_range    range = cri_block_range(k->z->p, BLOCK, block);
    for (size_t j = range.begin; j < range.end; j++) {
        k->b[j] = k->D[j] * k->from[j];
        if (k->root > 0) k->to[j] = k->root * k->b[j];
    }
}

/* D (Z' y + root y below), from Z' y. */
static void leave_terms(void *arg, size_t block)
{
    const stack *k = arg;
    cri_range    range = cri_block_range(k->z->p, BLOCK, block);
    for (size_t j = range.begin; j < range.end; j++) {
        double below = k->root > 0 ? k->root * k->from[j] : 0;
        k->to[j] = k->D[j] * (k->to[j] + below);
    }
}

/* out = [Z; root I] D x. */
static cr_status times(cr_ctx *cx, void *user, const double *x, double *out)
{
    stack    *k = user;
    cr_status st = CR_OK;
    k->from = x;
    k->to = out + k->z->n;
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(k->z->p, BLOCK), enter_terms, k));
    CR_TRY(cri_sparse_terms_times(cx, k->z, k->b, k->work_p, out));
done:
    return st;
}

static cr_status transpose(cr_ctx *cx, void *user, const double *y, double *out)
{
    stack    *k = user;
    cr_status st = CR_OK;
    k->from = y + k->z->n;
    k->to = out;
    CR_TRY(cri_sparse_terms_transpose(cx, k->z, y, k->work_n, out));
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(k->z->p, BLOCK), leave_terms, k));
done:
    return st;
}

cr_status cri_sparse_solve(cr_ctx *cx, const cri_sparse_terms *z, const double *target,
                           double lambda, double tolerance, size_t max_iter, double *b,
                           cr_lsqr_report *report)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    size_t              n = z->n, p = z->p, m = n + (lambda > 0 ? p : 0);
    double             *right = cr_scratch_bytes(&s, m, sizeof *right), *x = cr_scratch_f64(&s, p);
    stack               k = { .z = z,
                              .root = sqrt(lambda),
                              .D = cr_scratch_f64(&s, p),
                              .b = cr_scratch_f64(&s, p),
                              .work_p = cr_scratch_f64(&s, p),
                              .work_n = cr_scratch_f64(&s, n) };
    const cr_linear_map A = { m, p, times, transpose, &k };

    CR_TRY(s.status);
    memcpy(right, target, n * sizeof *right);
    for (size_t j = 0; j < p; j++) {
        k.D[j] = z->square[j] > 0 ? 1 / sqrt(z->square[j] + lambda) : 0;
        x[j] = k.D[j] > 0 ? b[j] / k.D[j] : 0;
    }
    CR_TRY(cr_lsqr(cx, &A, right, tolerance, max_iter, x, report));
    for (size_t j = 0; j < p; j++)
        if (k.D[j] > 0) b[j] = k.D[j] * x[j];
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_sparse_rss(cr_ctx *cx, const cri_sparse_terms *z, const double *b, double *out_rss)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *e = cr_scratch_f64(&s, z->n), *workspace = cr_scratch_f64(&s, z->p);

    CR_TRY(s.status);
    CR_TRY(cri_sparse_terms_times(cx, z, b, workspace, e));
    for (size_t i = 0; i < z->n; i++) e[i] -= z->t[i];
    *out_rss = cr_dot(e, e, z->n);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_sparse_null(cr_ctx *cx, const cri_sparse_terms *z, const double *b, size_t max_iter,
                          uint64_t seed, double *out, bool *out_found)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    size_t         p = z->p;
    double        *start = cr_scratch_f64(&s, p), *end = cr_scratch_f64(&s, p), size = 0, move = 0;
    cr_rng         r = cr_rng_stream(seed, 1);
    double        *image = cr_scratch_f64(&s, z->n), *workspace = cr_scratch_f64(&s, p), length = 0;
    cr_lsqr_report report;

    CR_TRY(s.status);
    for (size_t j = 0; j < p; j++) size = fmax(size, fabs(b[j]) * sqrt(z->square[j]));
    if (size == 0) size = sqrt(z->tt);
    for (size_t j = 0; j < p; j++) {
        double unit = z->square[j] > 0 ? size / sqrt(z->square[j]) : 0;
        start[j] = unit * cr_rng_normal(&r);
        end[j] = start[j] + b[j];
    }
    CR_TRY(cri_sparse_solve(cx, z, z->t, 0, 1e-14, max_iter, end, &report));
    for (size_t j = 0; j < p; j++) {
        end[j] -= b[j];
        out[j] = end[j] * sqrt(z->square[j]) / size; /* of the order of 1 when it is there */
        move = fmax(move, fabs(out[j]));
        length += out[j] * out[j];
    }
    CR_TRY(cri_sparse_terms_times(cx, z, end, workspace, image)); /* not just slow to converge? */
    *out_found = move > 1e-4 && cr_norm2(image, z->n) <= 1e-7 * size * sqrt(length);
    for (size_t j = 0; *out_found && j < p; j++) out[j] /= move;
done:
    cr_scratch_end(&s);
    return st;
}
