/* sparse_solve.c -- least squares and ridge on sparse rows, by LSQR. */
#include "sparse_solve.h"
#include "../../base/rng.h"
#include "../../math/dense.h"

#include <math.h>
#include <string.h>

typedef struct stack {
    const cri_sparse_terms *z;
    double                  root;   /* sqrt(lambda) */
    double                 *D, *b;  /* [p] */
    double                 *room_p; /* [p] */
    double                 *room_n; /* [n] */
    size_t                  m;
} stack;

/* out = [Z; root I] D x. */
static cr_status times(cr_ctx *cx, void *user, const double *x, double *out)
{
    const stack *k = user;
    for (size_t j = 0; j < k->z->p; j++) k->b[j] = k->D[j] * x[j];
    for (size_t j = 0; k->root > 0 && j < k->z->p; j++) out[k->z->n + j] = k->root * k->b[j];
    return cri_sparse_terms_times(cx, k->z, k->b, k->room_p, out);
}

static cr_status transpose(cr_ctx *cx, void *user, const double *y, double *out)
{
    const stack *k = user;
    cr_status    st = cri_sparse_terms_transpose(cx, k->z, y, k->room_n, out);
    for (size_t j = 0; st == CR_OK && j < k->z->p; j++) {
        if (k->root > 0) out[j] += k->root * y[k->z->n + j];
        out[j] *= k->D[j];
    }
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
                              .room_p = cr_scratch_f64(&s, p),
                              .room_n = cr_scratch_f64(&s, n) };
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
    double    *e = cr_scratch_f64(&s, z->n), *room = cr_scratch_f64(&s, z->p);

    CR_TRY(s.status);
    CR_TRY(cri_sparse_terms_times(cx, z, b, room, e));
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
    double        *image = cr_scratch_f64(&s, z->n), *room = cr_scratch_f64(&s, p), length = 0;
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
    CR_TRY(cri_sparse_terms_times(cx, z, end, room, image)); /* not just slow to converge? */
    *out_found = move > 1e-4 && cr_norm2(image, z->n) <= 1e-7 * size * sqrt(length);
    for (size_t j = 0; *out_found && j < p; j++) out[j] /= move;
done:
    cr_scratch_end(&s);
    return st;
}
