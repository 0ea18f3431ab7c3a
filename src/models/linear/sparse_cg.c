/* sparse_cg.c -- ridge in the dual by preconditioned conjugate gradients (Golub & Van Loan 2013,
 * algorithm 11.5.1), for the target and for the probes of the degrees of freedom.  Each step of
 * length alpha takes alpha r.M^-1 r off the error of a in the norm of K, so that these add up to
 * e'K^-1 e long before a is known (Golub & Meurant 2010, "Matrices, moments and quadrature"). */
#include "sparse_dual.h"
#include "base/parallel.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { PANEL = CRI_SPARSE_PANEL, BLOCK = 1024 };

typedef struct cg {
    const cri_sparse_dual    *d;
    cri_sparse_dual_workspace workspace;
    size_t                    width;
    double                   *a;               /* [n x width], or NULL: not wanted     */
    double                   *r, *q, *product; /* [n x width] residual, direction, K q */
    double                   *s;               /* [n x width] M^-1 r                   */
    double                    rs[PANEL], step[PANEL], turn[PANEL]; /* r.s, alpha, beta */
} cg;

static cg cg_new(cr_scratch *s, const cri_sparse_dual *d, size_t width, double *r)
{
    size_t n = d->z->n;
    return (cg){ .d = d,
                 .workspace = cri_sparse_dual_workspace_new(s, d, width),
                 .width = width,
                 .r = r,
                 .q = cr_scratch_matrix(s, n, width),
                 .product = cr_scratch_matrix(s, n, width),
                 .s = cr_scratch_matrix(s, n, width) };
}

/* a += alpha q, r -= alpha K q, and |r|^2. */
static void advance(void *arg, cri_range range, double *acc)
{
    const cg *g = arg;
    size_t    width = g->width;
    for (size_t i = range.begin * width; i < range.end * width; i += width)
        for (size_t c = 0; c < width; c++) {
            if (g->a) g->a[i + c] += g->step[c] * g->q[i + c];
            g->r[i + c] -= g->step[c] * g->product[i + c];
            acc[c] += g->r[i + c] * g->r[i + c];
        }
}

/* q = s + beta q. */
static void turn(void *arg, size_t block)
{
    const cg *g = arg;
    size_t    width = g->width;
    cri_range range = cri_block_range(g->d->z->n, BLOCK, block);
    for (size_t i = range.begin * width; i < range.end * width; i += width)
        for (size_t c = 0; c < width; c++) g->q[i + c] = g->s[i + c] + g->turn[c] * g->q[i + c];
}

/* From the residual at hand. */
static cr_status cg_start(cr_ctx *cx, cg *g)
{
    return cri_sparse_dual_precondition(cx, &g->workspace, g->r, g->q, g->rs);
}

/* One step; squares [width] = |r|^2 afterwards, opt_taken [width] = alpha r.s.  A vector that has
 * vanished stays. */
static cr_status cg_step(cr_ctx *cx, cg *g, double *squares, double *opt_taken)
{
    cr_status st = CR_OK;
    size_t    n = g->d->z->n;
    double    inner[PANEL];
    CR_TRY(cri_sparse_dual_times(cx, &g->workspace, g->q, g->product, inner));
    for (size_t c = 0; c < g->width; c++) {
        g->step[c] = inner[c] > 0 ? g->rs[c] / inner[c] : 0;
        if (opt_taken) opt_taken[c] = g->step[c] * g->rs[c];
    }
    CR_TRY(cri_parallel_sum(cx, NULL, n, BLOCK, g->width, advance, g, squares));
    CR_TRY(cri_sparse_dual_precondition(cx, &g->workspace, g->r, g->s, inner));
    for (size_t c = 0; c < g->width; c++) {
        g->turn[c] = g->rs[c] > 0 ? inner[c] / g->rs[c] : 0;
        g->rs[c] = inner[c];
    }
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(n, BLOCK), turn, g));
done:
    return st;
}

/* --- the target ------------------------------------------------------------------------------ */

/* |b| from |b|^2 = a.Z Z' a = a.(t - r) - lambda |a|^2, and how large r may be for b. */
static double allowed(const cg *g)
{
    const double            NEAR = 1e-10;
    const cri_sparse_terms *z = g->d->z;
    double                  sum = 0, lambda = g->d->lambda;
    for (size_t i = 0; i < z->n; i++) sum += g->a[i] * (z->t[i] - g->r[i] - lambda * g->a[i]);
    return NEAR * 2 * sqrt(lambda * fmax(sum, 0));
}

/* r = t - K a itself, and its length. */
static cr_status look(cr_ctx *cx, cg *g, double *out_length)
{
    cr_status st = CR_OK;
    size_t    n = g->d->z->n;
    double    inner;
    CR_TRY(cri_sparse_dual_times(cx, &g->workspace, g->a, g->product, &inner));
    for (size_t i = 0; i < n; i++) g->r[i] = g->d->z->t[i] - g->product[i];
    *out_length = cr_norm2(g->r, n);
done:
    return st;
}

/* Steps until by the recurrence r is half of what is allowed. */
static cr_status run(cr_ctx *cx, cg *g, size_t max_iter, size_t *iterations)
{
    cr_status st = CR_OK;
    double    squares;
    CR_TRY(cg_start(cx, g));
    while (*iterations < max_iter) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cg_step(cx, g, &squares, NULL));
        ++*iterations;
        if (!(sqrt(squares) > 0.5 * allowed(g))) break;
    }
done:
    return st;
}

cr_status cri_sparse_dual_solve(cr_ctx *cx, const cri_sparse_dual *d, size_t max_iter, double *b,
                                size_t *out_iterations, bool *out_converged)
{
    enum { MOST_STARTS = 3 };
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = d->z->n, iterations = 0;
    cg         g = cg_new(&s, d, 1, cr_scratch_f64(&s, n));
    double     length, before = INFINITY;
    bool       converged = false;

    g.a = cr_scratch_bytes(&s, n, sizeof *g.a);
    CR_TRY(s.status);
    memcpy(g.r, d->z->t, n * sizeof *g.r);
    for (int start = 0; start < MOST_STARTS && !converged && iterations < max_iter; start++) {
        CR_TRY(run(cx, &g, max_iter, &iterations));
        CR_TRY(look(cx, &g, &length));
        converged = length <= allowed(&g);
        if (!(length < before / 2)) break; /* as near as rounding lets it */
        before = length;
    }
    CR_TRY(cri_sparse_terms_transpose(cx, d->z, g.a, g.product, b));
    *out_iterations = iterations;
    *out_converged = converged;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- probes ---------------------------------------------------------------------------------- */

cr_status cri_sparse_dual_measure(cr_ctx *cx, void *user, double *E, const double *lengths,
                                  double *told)
{
    enum { MOST = 1000 };
    cr_status              st = CR_OK;
    const cri_sparse_dual *d = user;
    cr_scratch             s = cr_scratch_begin(cx);
    cg                     g = cg_new(&s, d, PANEL, E);
    double                 squares[PANEL], taken[PANEL];
    bool                   settled = false;

    CR_TRY(s.status);
    memcpy(told, lengths, PANEL * sizeof *told);
    CR_TRY(cg_start(cx, &g));
    for (size_t k = 0; !settled && k < MOST; k++) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cg_step(cx, &g, squares, taken));
        for (size_t c = 0; c < PANEL; c++) {
            taken[c] *= d->lambda;
            told[c] = fmax(told[c] - taken[c], 0);
            if (taken[c] < 1e-16 * lengths[c]) taken[c] = 0; /* rounding */
        }
        settled = cri_probes_settled(told, taken, lengths);
    }
done:
    cr_scratch_end(&s);
    return st;
}
