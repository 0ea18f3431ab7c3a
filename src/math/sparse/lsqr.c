/* lsqr.c -- least squares by bidiagonalisation; names as in Paige & Saunders (1982), sec. 4.
 * Vectors are gone through in fixed blocks by all threads, each as few times as can be. */
#include "lsqr.h"
#include "math/dense/dense.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

typedef struct lsqr {
    const cr_linear_map *A;
    const double        *b;
    double              *x, *u, *v, *w; /* [n], [m], [n], [n]    */
    double              *product;       /* [max(m, n)] workspace */
    double               alpha, beta, rhobar, phibar;
    double               norm2, step2;                      /* |A|^2 and |A^-1|^2 as seen so far */
    double               size_b, size_x, size_w, tolerance; /* norms */
    cr_lsqr_report       report;
} lsqr;

enum { BLOCK = 8192 };

/* |a| from the sum of its squares; anew where that is out of the range of squares. */
static double norm_from(double squares, const double *a, size_t n)
{
    return squares > 1e-280 && squares < 1e280 ? sqrt(squares) : cr_norm2(a, n);
}

typedef struct vector_work {
    lsqr   *q;
    double  c, d;
    double *a;
    size_t  n;
} vector_work;

/* a = product - c a, and |a|^2. */
static void combine(void *arg, cri_range range, double *acc)
{
    const vector_work *v = arg;
    const double      *product = v->q->product;
    double            *a = v->a, sum = 0;
    for (size_t i = range.begin; i < range.end; i++) {
        a[i] = product[i] - v->c * a[i];
        sum += a[i] * a[i];
    }
    acc[0] += sum;
}

static void divide(void *arg, size_t block)
{
    const vector_work *v = arg;
    cri_range          range = cri_block_range(v->n, BLOCK, block);
    for (size_t i = range.begin; i < range.end; i++) v->a[i] /= v->c;
}

/* x += c w, w = v - d w, and |x|^2 and |w|^2. */
static void advance(void *arg, cri_range range, double *acc)
{
    const vector_work *k = arg;
    double            *x = k->q->x, *w = k->q->w, *v = k->q->v, of_x = 0, of_w = 0;
    for (size_t i = range.begin; i < range.end; i++) {
        x[i] += k->c * w[i];
        w[i] = v[i] - k->d * w[i];
        of_x += x[i] * x[i];
        of_w += w[i] * w[i];
    }
    acc[0] += of_x;
    acc[1] += of_w;
}

/* Divides a by its norm; 0 leaves it. */
static cr_status normalise(cr_ctx *cx, lsqr *q, double *a, size_t n, double norm)
{
    vector_work work = { .q = q, .c = norm, .a = a, .n = n };
    if (!(norm > 0)) return CR_OK;
    return cri_parallel_for(cx, NULL, cri_block_count(n, BLOCK), divide, &work);
}

/* a = A x - c a, or A^T y - c a, and |a|. */
static cr_status apply(cr_ctx *cx, lsqr *q, bool transposed, const double *from, double c,
                       double *a, double *out_norm)
{
    cr_status            st = CR_OK;
    const cr_linear_map *A = q->A;
    size_t               n = transposed ? A->n : A->m;
    vector_work          work = { .q = q, .c = c, .a = a, .n = n };
    double               squares;
    CR_TRY((transposed ? A->transpose : A->times)(cx, A->user, from, q->product));
    CR_TRY(cri_parallel_sum(cx, NULL, n, BLOCK, 1, combine, &work, &squares));
    *out_norm = norm_from(squares, a, n);
done:
    return st;
}

/* beta u = b - A x, alpha v = A^T u, from the x at hand. */
static cr_status restart(cr_ctx *cx, lsqr *q)
{
    cr_status st = CR_OK;
    memcpy(q->u, q->b, q->A->m * sizeof(double));
    CR_TRY(apply(cx, q, false, q->x, 1, q->u, &q->beta)); /* A x - b */
    for (size_t i = 0; i < q->A->m; i++) q->u[i] = -q->u[i];
    CR_TRY(normalise(cx, q, q->u, q->A->m, q->beta));
    memset(q->v, 0, q->A->n * sizeof(double));
    CR_TRY(apply(cx, q, true, q->u, 0, q->v, &q->alpha));
    CR_TRY(normalise(cx, q, q->v, q->A->n, q->alpha));
    memcpy(q->w, q->v, q->A->n * sizeof(double));
    q->size_w = cr_norm2(q->w, q->A->n);
    q->size_x = cr_norm2(q->x, q->A->n);
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
    double    squares[2];
    CR_TRY(apply(cx, q, false, q->v, q->alpha, q->u, &q->beta));
    CR_TRY(normalise(cx, q, q->u, q->A->m, q->beta));
    q->norm2 += q->alpha * q->alpha;
    q->norm2 += q->beta * q->beta;
    CR_TRY(apply(cx, q, true, q->u, q->beta, q->v, &q->alpha));
    CR_TRY(normalise(cx, q, q->v, n, q->alpha));

    double rho = hypot(q->rhobar, q->beta), c = q->rhobar / rho, s = q->beta / rho;
    double theta = s * q->alpha, phi = c * q->phibar;
    q->rhobar = -c * q->alpha;
    q->phibar *= s;
    q->step2 += q->size_w / rho * (q->size_w / rho);
    vector_work work = { .q = q, .c = phi / rho, .d = theta / rho };
    CR_TRY(cri_parallel_sum(cx, NULL, n, BLOCK, 2, advance, &work, squares));
    q->size_x = norm_from(squares[0], q->x, n);
    q->size_w = norm_from(squares[1], q->w, n);
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
