/* lsqr.c -- least squares by bidiagonalisation; names as in Paige & Saunders (1982), sec. 4. */
#include "lsqr.h"
#include "dense.h"
#include "../base/parallel.h"
#include "../base/scratch.h"

#include <math.h>
#include <string.h>

typedef struct lsqr {
    const cr_linear_map *A;
    const double        *b;
    double              *x, *u, *v, *w; /* [n], [m], [n], [n]              */
    double              *product;       /* [max(m, n)] room                */
    double               alpha, beta, rhobar, phibar;
    double               norm2, step2; /* |A|^2 and |A^-1|^2 as seen so far */
    double               size_b, size_x, tolerance;
    cr_lsqr_report       report;
} lsqr;

/* --- passes over vectors, in blocks ---------------------------------------------------------- */

enum { BLOCK = 4096 };

/* The norm of a, whose squares add up to this; anew where some may have been lost. */
static double norm_from(double square, const double *a, size_t n)
{
    return square > 1e-280 && square < 1e300 ? sqrt(square) : cr_norm2(a, n);
}

typedef struct vector_work {
    const double *product;
    double        c;
    double       *a; /* [n] */
    size_t        n;
} vector_work;

static void take_off(void *arg, cri_range range, double *acc)
{
    const vector_work *k = arg;
    for (size_t i = range.begin; i < range.end; i++) k->a[i] = k->product[i] - k->c * k->a[i];
    acc[0] += cr_dot(k->a + range.begin, k->a + range.begin, range.end - range.begin);
}

static void divide(void *arg, size_t block)
{
    const vector_work *k = arg;
    cri_range          range = cri_block_range(k->n, BLOCK, block);
    for (size_t i = range.begin; i < range.end; i++) k->a[i] /= k->c;
}

/* Divides a by its norm, whose squares add up to `square`; 0 leaves it. */
static cr_status normalise(cr_ctx *cx, double *a, size_t n, double square, double *out_norm)
{
    vector_work k = { .c = norm_from(square, a, n), .a = a, .n = n };
    *out_norm = k.c;
    return k.c > 0 ? cri_parallel_for(cx, NULL, cri_block_count(n, BLOCK), divide, &k) : CR_OK;
}

/* a = A x - c a, or A^T y - c a, and its norm, by which it is divided. */
static cr_status apply(cr_ctx *cx, lsqr *q, bool transposed, const double *from, double c,
                       double *a, double *out_norm)
{
    cr_status            st = CR_OK;
    const cr_linear_map *A = q->A;
    size_t               n = transposed ? A->n : A->m;
    vector_work          k = { q->product, c, a, n };
    double               square;
    CR_TRY((transposed ? A->transpose : A->times)(cx, A->user, from, q->product));
    CR_TRY(cri_parallel_sum(cx, NULL, n, BLOCK, 1, take_off, &k, &square));
    CR_TRY(normalise(cx, a, n, square, out_norm));
done:
    return st;
}

/* x += along w, w = v - back w; and |w|^2 as it was, |x|^2 as it is. */
typedef struct move_work {
    lsqr  *q;
    double along, back;
} move_work;

static void move(void *arg, cri_range range, double *acc)
{
    const move_work *k = arg;
    size_t           n = range.end - range.begin;
    double          *x = k->q->x + range.begin, *w = k->q->w + range.begin;
    const double    *v = k->q->v + range.begin;
    acc[0] += cr_dot(w, w, n);
    for (size_t i = 0; i < n; i++) {
        x[i] += k->along * w[i];
        w[i] = v[i] - k->back * w[i];
    }
    acc[1] += cr_dot(x, x, n);
}

/* --- the method ------------------------------------------------------------------------------ */

/* beta u = b - A x, alpha v = A^T u, from the x at hand. */
static cr_status restart(cr_ctx *cx, lsqr *q)
{
    cr_status st = CR_OK;
    memcpy(q->u, q->b, q->A->m * sizeof(double));
    CR_TRY(apply(cx, q, false, q->x, 1, q->u, &q->beta)); /* A x - b */
    for (size_t i = 0; i < q->A->m; i++) q->u[i] = -q->u[i];
    memset(q->v, 0, q->A->n * sizeof(double));
    CR_TRY(apply(cx, q, true, q->u, 0, q->v, &q->alpha));
    memcpy(q->w, q->v, q->A->n * sizeof(double));
    q->rhobar = q->alpha;
    q->phibar = q->beta;
    q->size_x = cr_norm2(q->x, q->A->n);
done:
    return st;
}

/* The report of the moment; true when the tolerance is met. */
static bool look(lsqr *q, double gradient, double residual)
{
    cr_lsqr_report *r = &q->report;
    r->norm = sqrt(q->norm2);
    r->residual = residual;
    r->gradient = gradient == 0 || residual == 0 ? 0 : gradient / (r->norm * residual);
    r->condition = r->norm * sqrt(q->step2);
    return r->gradient <= q->tolerance ||
           residual <= q->tolerance * (q->size_b + r->norm * q->size_x);
}

static cr_status check_size(cr_ctx *cx, const lsqr *q)
{
    if (isfinite(q->phibar) && isfinite(q->alpha) && isfinite(q->norm2)) return CR_OK;
    return cr_fail(cx, CR_ENUMERIC, "least squares: the numbers are too large");
}

/* One step of the bidiagonalisation, of the rotations, and of x. */
static cr_status step(cr_ctx *cx, lsqr *q)
{
    cr_status st = CR_OK;
    size_t    n = q->A->n;
    double    sizes[2];
    q->norm2 += q->alpha * q->alpha;
    CR_TRY(apply(cx, q, false, q->v, q->alpha, q->u, &q->beta));
    q->norm2 += q->beta * q->beta;
    CR_TRY(apply(cx, q, true, q->u, q->beta, q->v, &q->alpha));

    double rho = hypot(q->rhobar, q->beta), c = q->rhobar / rho, s = q->beta / rho;
    double theta = s * q->alpha, phi = c * q->phibar;
    q->rhobar = -c * q->alpha;
    q->phibar *= s;
    move_work k = { q, phi / rho, theta / rho };
    CR_TRY(cri_parallel_sum(cx, NULL, n, BLOCK, 2, move, &k, sizes));
    q->step2 += sizes[0] / rho / rho;
    q->size_x = norm_from(sizes[1], q->x, n);
    q->report.iterations++;
    if (look(q, q->phibar * q->alpha * fabs(c), q->phibar)) q->report.converged = true;
    CR_TRY(check_size(cx, q));
done:
    return st;
}

/* Runs from the x at hand until the recurrences say that it is a minimum. */
static cr_status run(cr_ctx *cx, lsqr *q, size_t max_iter)
{
    cr_status st = CR_OK;
    q->report.converged = false;
    while (!q->report.converged && q->report.iterations < max_iter) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(step(cx, q));
    }
done:
    return st;
}

cr_status cr_lsqr(cr_ctx *cx, const cr_linear_map *A, const double *b, double tolerance,
                  size_t max_iter, double *x, cr_lsqr_report *out_report)
{
    enum { MOST_STARTS = 4 };
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     m = A->m, n = A->n;
    lsqr       q = { .A = A,
                     .b = b,
                     .x = cr_scratch_f64(&s, n),
                     .u = cr_scratch_f64(&s, m),
                     .v = cr_scratch_f64(&s, n),
                     .w = cr_scratch_f64(&s, n),
                     .product = cr_scratch_f64(&s, m > n ? m : n),
                     .size_b = cr_norm2(b, m),
                     .tolerance = tolerance };

    CR_TRY(s.status);
    memcpy(q.x, x, n * sizeof(double));
    for (int start = 0; start < MOST_STARTS; start++) {
        CR_TRY(restart(cx, &q));
        if (q.norm2 == 0) q.norm2 = q.alpha * q.alpha;
        CR_TRY(check_size(cx, &q));
        q.report.converged = look(&q, q.alpha * q.beta, q.beta);
        bool near =
            start > 0 && q.report.gradient <= 8 * tolerance; /* as near as rounding lets it */
        q.report.converged |= near;
        if (q.report.converged || q.report.iterations >= max_iter) break;
        CR_TRY(run(cx, &q, max_iter));
    }
    memcpy(x, q.x, n * sizeof(double));
    *out_report = q.report;
done:
    cr_scratch_end(&s);
    return st;
}
