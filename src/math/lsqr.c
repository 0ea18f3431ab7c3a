/* lsqr.c -- least squares by bidiagonalisation; names as in Paige & Saunders (1982), sec. 4. */
#include "lsqr.h"
#include "dense.h"
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
    double               size_b, tolerance;
    cr_lsqr_report       report;
} lsqr;

static double norm_of(const double *a, size_t n) { return cr_norm2(a, n); }

/* Divides a by its norm, which it returns; 0 leaves it. */
static double normalise(double *a, size_t n)
{
    double norm = norm_of(a, n);
    for (size_t i = 0; norm > 0 && i < n; i++) a[i] /= norm;
    return norm;
}

/* out = A x - c u, or A^T y - c v: a = product - c a. */
static cr_status apply(cr_ctx *cx, lsqr *q, bool transposed, const double *from, double c,
                       double *a)
{
    const cr_linear_map *A = q->A;
    size_t               n = transposed ? A->n : A->m;
    cr_status            st = (transposed ? A->transpose : A->times)(cx, A->user, from, q->product);
    for (size_t i = 0; st == CR_OK && i < n; i++) a[i] = q->product[i] - c * a[i];
    return st;
}

/* beta u = b - A x, alpha v = A^T u, from the x at hand. */
static cr_status restart(cr_ctx *cx, lsqr *q)
{
    cr_status st = CR_OK;
    memcpy(q->u, q->b, q->A->m * sizeof(double));
    CR_TRY(apply(cx, q, false, q->x, 1, q->u)); /* A x - b */
    for (size_t i = 0; i < q->A->m; i++) q->u[i] = -q->u[i];
    q->beta = normalise(q->u, q->A->m);
    memset(q->v, 0, q->A->n * sizeof(double));
    CR_TRY(apply(cx, q, true, q->u, 0, q->v));
    q->alpha = normalise(q->v, q->A->n);
    memcpy(q->w, q->v, q->A->n * sizeof(double));
    q->rhobar = q->alpha;
    q->phibar = q->beta;
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
           residual <= q->tolerance * (q->size_b + r->norm * norm_of(q->x, q->A->n));
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
    CR_TRY(apply(cx, q, false, q->v, q->alpha, q->u));
    q->norm2 += q->alpha * q->alpha;
    q->beta = normalise(q->u, q->A->m);
    q->norm2 += q->beta * q->beta;
    CR_TRY(apply(cx, q, true, q->u, q->beta, q->v));
    q->alpha = normalise(q->v, n);

    double rho = hypot(q->rhobar, q->beta), c = q->rhobar / rho, s = q->beta / rho;
    double theta = s * q->alpha, phi = c * q->phibar;
    q->rhobar = -c * q->alpha;
    q->phibar *= s;
    double size = norm_of(q->w, n);
    q->step2 += size / rho * (size / rho);
    for (size_t i = 0; i < n; i++) {
        q->x[i] += phi / rho * q->w[i];
        q->w[i] = q->v[i] - theta / rho * q->w[i];
    }
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
                     .size_b = norm_of(b, m),
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
