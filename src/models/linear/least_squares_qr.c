/* least_squares_qr.c -- QR of the scaled columns and refinement of the augmented system.
 *
 * The exact problem is A1 = [u A], u = sqrt(w), A = sqrt(w) x; the factored one is B = [u C],
 * C = (A - u c^T) D^-1 = Q R P^T up to rounding.  With T = [1 c^T; 0 D], A1 = B T, so that a step
 * solved with B corrects a solution of A1; its residuals are taken in double-double from A1 itself.
 * Bjorck (1967), BIT 7; Higham (2002), Accuracy and Stability, sec. 20.5. */
#include "least_squares.h"
#include "models/common/moments.h"
#include "base/scratch.h"
#include "math/dense/decompose.h"
#include "math/special/doubledouble.h"

#include <math.h>
#include <string.h>

enum { MOST_REFINEMENTS = 12 };

typedef struct problem {
    size_t  n, p, k; /* rows, terms, terms of full rank       */
    bool    intercept;
    double  W, root_W; /* |u|^2, |u|                            */
    double  least;     /* a scaled coefficient below this is rounding of the target */
    double *A;         /* [n x p]                               */
    double *u, *t;     /* [n] constant column and target        */
    double *c, *D;     /* [p] centre, scale                     */
    cr_qr   qr;        /* of C                                  */
    /* room for a step: residuals in, correction out */
    double *f, *g, *v, *z; /* [n], [p], [n], [n] */
} problem;

/* A solution (b0, b, r) in double-double. */
typedef struct solution {
    cri_dd  b0, *b; /* b [k] in pivoted order */
    cri_dd *r;      /* [n]                    */
} solution;

/* --- setting up ------------------------------------------------------------------------------ */

/* Weighted mean of a column given as sqrt(w) x, corrected once for its own rounding. */
static double mean_of(const double *a, size_t stride, const problem *q)
{
    double mean = 0;
    for (int pass = 0; pass < 2; pass++) {
        double sum = 0;
        for (size_t i = 0; i < q->n; i++) sum += q->u[i] * (a[i * stride] - q->u[i] * mean);
        mean += sum / q->W;
    }
    return mean;
}

/* In units of the largest entry, so that no square over- or underflows.  With an intercept `centre`
 * is a mean, and what its rounding adds to the squares is taken out again: of numbers about 1e12 with
 * a spread of 0.1 that is their seventh digit. */
static double spread_of(const double *a, size_t stride, const problem *q, double centre)
{
    double sum = 0, unit = 0, off = 0;
    for (size_t i = 0; i < q->n; i++) unit = fmax(unit, fabs(a[i * stride] - q->u[i] * centre));
    if (unit == 0) return 0;
    for (size_t i = 0; i < q->n; i++) {
        double e = (a[i * stride] - q->u[i] * centre) / unit;
        sum += e * e;
        off += q->u[i] * e;
    }
    if (q->intercept) sum = fmax(sum - off * off / q->W, 0);
    return unit * sqrt(sum / q->W);
}

static bool is_constant(double sd, double centre) { return !(sd > 0x1p-50 * fabs(centre)); }

/* C [n x p]: the columns, centred (with an intercept) and scaled; constant columns become zero. */
static void scale_columns(problem *q, double *C)
{
    for (size_t j = 0; j < q->p; j++) {
        const double *a = q->A + j;
        q->c[j] = q->intercept ? mean_of(a, q->p, q) : 0;
        double sd = spread_of(a, q->p, q, q->c[j]);
        bool   constant = is_constant(sd, q->c[j]);
        q->D[j] = constant ? 1 : sd;
        for (size_t i = 0; i < q->n; i++)
            C[i * q->p + j] = constant ? 0 : (a[i * q->p] - q->u[i] * q->c[j]) / sd;
    }
}

static cr_status set_up(cr_ctx *cx, const cri_rows *rows, bool intercept, cr_scratch *s, problem *q)
{
    cr_status st = CR_OK;
    size_t    n = rows->n, p = rows->p;
    double   *C = cr_scratch_matrix(s, n, p);
    *q = (problem){ .n = n, .p = p, .intercept = intercept };
    q->A = cr_scratch_matrix(s, n, p);
    double **vectors[] = { &q->u, &q->t, &q->f, &q->v, &q->z };
    for (size_t i = 0; i < 5; i++) *vectors[i] = cr_scratch_f64(s, n);
    q->c = cr_scratch_f64(s, p);
    q->D = cr_scratch_f64(s, p);
    q->g = cr_scratch_f64(s, p);

    CR_TRY(s->status);
    CR_TRY(cri_rows_matrix(cx, rows, q->A));
    for (size_t i = 0; i < n; i++) {
        q->u[i] = rows->w ? sqrt(rows->w[i]) : 1;
        q->t[i] = q->u[i] * rows->y[i];
        q->W += rows->w ? rows->w[i] : 1;
        for (size_t j = 0; rows->w && j < p; j++) q->A[i * p + j] *= q->u[i];
    }
    q->root_W = sqrt(q->W);
    scale_columns(q, C);
    CR_TRY(cr_qr_new(cx, cr_cmat_of(C, n, p), -1, &q->qr));
    CR_TRY(cri_qr_end_at_rounding(cx, &q->qr, q->c, q->D, 0x1p-49 * q->root_W, q->g));
    CR_TRY(cri_qr_prefer_earlier(cx, C, &q->qr));
    q->k = q->qr.rank;
done:
    return st;
}

/* --- one step with the factored problem ------------------------------------------------------ */

/* Solves [I B; B^T 0] [z; x] = [f; g] for f [n], g0, g [k] given in the coordinates of A1, and
 * gives the step in those coordinates: z [n], *x0, x [k] (over g). */
static cr_status step(cr_ctx *cx, problem *q, double g0, double *x0)
{
    cr_status st = CR_OK;
    size_t    n = q->n, k = q->k;
    double    f0 = 0, h0 = 0;
    double   *h = q->z, *x = q->g;

    if (q->intercept) {
        for (size_t i = 0; i < n; i++) f0 += q->u[i] * q->f[i] / q->root_W;
        for (size_t i = 0; i < n; i++) q->v[i] = q->f[i] - f0 * q->u[i] / q->root_W;
        h0 = g0 / q->root_W;
    } else {
        memcpy(q->v, q->f, n * sizeof(double));
    }
    CR_TRY(cr_qr_apply(cx, &q->qr, true, q->v)); /* v = Q^T f */
    for (size_t j = 0; j < k; j++) {
        size_t a = q->qr.pivot[j];
        h[j] = (q->g[j] - q->c[a] * g0) / q->D[a];
    }
    cr_qr_solve_r(&q->qr, true, h); /* h = R^-T g */
    for (size_t j = 0; j < k; j++) {
        x[j] = q->v[j] - h[j];
        q->v[j] = h[j];
    }
    cr_qr_solve_r(&q->qr, false, x);
    CR_TRY(cr_qr_apply(cx, &q->qr, false, q->v));
    for (size_t i = 0; i < n; i++)
        q->z[i] = q->v[i] + (q->intercept ? h0 * q->u[i] / q->root_W : 0);
    *x0 = q->intercept ? (f0 - h0) / q->root_W : 0;
    for (size_t j = 0; j < k; j++) {
        size_t a = q->qr.pivot[j];
        x[j] /= q->D[a];
        *x0 -= q->intercept ? q->c[a] * x[j] : 0;
    }
done:
    return st;
}

/* --- residuals in double-double -------------------------------------------------------------- */

/* f = t - r - u b0 - A b. */
static void residual_rows(problem *q, const double *t, const solution *x)
{
    for (size_t i = 0; i < q->n; i++) {
        cri_dd e = cri_dd_sub(cri_dd_from(t ? t[i] : 0), x->r[i]);
        if (q->intercept) e = cri_dd_sub(e, cri_dd_mul_double(x->b0, q->u[i]));
        for (size_t j = 0; j < q->k; j++)
            e = cri_dd_sub(e, cri_dd_mul_double(x->b[j], q->A[i * q->p + q->qr.pivot[j]]));
        q->f[i] = cri_dd_to_double(e);
    }
}

/* g = rhs - A1^T r, where rhs is zero or minus a unit vector (0 = the intercept, j + 1 = column j).
 */
static double residual_columns(problem *q, size_t unit, bool has_unit, const solution *x)
{
    cri_dd e0 = cri_dd_from(has_unit && unit == 0 ? -1 : 0);
    for (size_t i = 0; i < q->n; i++) e0 = cri_dd_sub(e0, cri_dd_mul_double(x->r[i], q->u[i]));
    for (size_t j = 0; j < q->k; j++) {
        cri_dd e = cri_dd_from(has_unit && unit == j + 1 ? -1 : 0);
        for (size_t i = 0; i < q->n; i++)
            e = cri_dd_sub(e, cri_dd_mul_double(x->r[i], q->A[i * q->p + q->qr.pivot[j]]));
        q->g[j] = cri_dd_to_double(e);
    }
    return cri_dd_to_double(e0);
}

/* Adds the step to the solution; returns its size relative to the solution, in scaled columns. */
static double add_step(problem *q, double x0, solution *x)
{
    double size = q->least, change = 0;
    for (size_t j = 0; j < q->k; j++) {
        double D = q->D[q->qr.pivot[j]];
        x->b[j] = cri_dd_add_double(x->b[j], q->g[j]);
        change = fmax(change, fabs(q->g[j]) * D);
        size = fmax(size, fabs(cri_dd_to_double(x->b[j])) * D);
    }
    x->b0 = cri_dd_add_double(x->b0, x0);
    if (q->k == 0) change = fabs(x0), size = fabs(cri_dd_to_double(x->b0));
    for (size_t i = 0; i < q->n; i++) x->r[i] = cri_dd_add_double(x->r[i], q->z[i]);
    return size > 0 ? change / size : 0;
}

/* Solves for a target t (NULL = 0) and right-hand side -e_unit; refines at most `most` times. */
static cr_status solve(cr_ctx *cx, problem *q, const double *t, size_t unit, bool has_unit,
                       size_t most, solution *x, double *out_correction, size_t *out_steps)
{
    cr_status st = CR_OK;
    double    before = INFINITY, correction = 1, x0;
    size_t    steps = 0;

    x->b0 = cri_dd_from(0);
    memset(x->b, 0, q->k * sizeof *x->b);
    memset(x->r, 0, q->n * sizeof *x->r);
    for (;; steps++) {
        CR_TRY(cr_check_interrupt(cx));
        residual_rows(q, t, x);
        double g0 = residual_columns(q, unit, has_unit, x);
        CR_TRY(step(cx, q, g0, &x0));
        correction = add_step(q, x0, x);
        bool stalled = steps > 1 && correction > before / 2;
        if (steps >= most || correction < 0x1p-60 || stalled) break;
        before = correction;
    }
    *out_correction = correction;
    *out_steps = steps;
done:
    return st;
}

/* --- the answers ----------------------------------------------------------------------------- */

/* Standard errors from refined columns of (A1^T A1)^-1. */
static cr_status refine_sds(cr_ctx *cx, problem *q, solution *x, cri_predictor *fit)
{
    cr_status st = CR_OK;
    double    correction;
    size_t    steps;
    q->least = 0;
    for (size_t unit = q->intercept ? 0 : 1; unit <= q->k; unit++) {
        CR_TRY(solve(cx, q, NULL, unit, true, MOST_REFINEMENTS, x, &correction, &steps));
        double variance = cri_dd_to_double(unit ? x->b[unit - 1] : x->b0);
        double sd = fit->sigma * sqrt(variance);
        if (!isnormal(variance) || !(variance > 0)) continue; /* out of range: as it was */
        if (unit == 0)
            fit->intercept_sd = sd;
        else
            fit->coef_sd[q->qr.pivot[unit - 1]] = sd;
    }
done:
    return st;
}

/* The terms behind the rank have no sd and are named. */
static void leave_aliased(cr_ctx *cx, const problem *q, const cr_design *design, bool *constant,
                          cri_predictor *fit)
{
    for (size_t j = q->k; j < q->p; j++) {
        size_t a = q->qr.pivot[j];
        fit->coef_sd[a] = NAN;
        constant[a] = is_constant(spread_of(q->A + a, q->p, q, q->c[a]), q->c[a]);
    }
    if (q->k < q->p) cri_name_aliased(cx, design, q->qr.pivot + q->k, constant, q->p - q->k);
}

/* Coefficients and residuals of the solution, rounded once. */
static void keep_solution(const problem *q, const solution *x, cri_predictor *fit,
                          cri_least_squares *facts)
{
    cri_dd centre = x->b0;
    fit->intercept = cri_dd_to_double(x->b0);
    for (size_t j = 0; j < q->k; j++) {
        fit->coef[q->qr.pivot[j]] = cri_dd_to_double(x->b[j]);
        centre = cri_dd_add(centre, cri_dd_mul_double(x->b[j], q->c[q->qr.pivot[j]]));
    }
    fit->at_centre = cri_dd_to_double(centre);
    for (size_t i = 0; i < q->n; i++)
        facts->rss += cri_dd_to_double(x->r[i]) * cri_dd_to_double(x->r[i]);
    memcpy(fit->centre, q->c, q->p * sizeof(double));
    memcpy(fit->scale, q->D, q->p * sizeof(double));
}

cr_status cri_least_squares_qr(cr_ctx *cx, const cri_rows *rows, bool intercept,
                               cri_predictor *out_fit, cri_least_squares *out_facts)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    problem           q = { 0 };
    cri_predictor     fit = { 0 };
    cri_least_squares facts = { 0 };
    double            rcond = 1;

    CR_TRY(set_up(cx, rows, intercept, &s, &q));
    solution x = { .b = cr_scratch_bytes(&s, q.k, sizeof *x.b),
                   .r = cr_scratch_bytes(&s, q.n, sizeof *x.r) };
    double  *column = cr_scratch_f64(&s, q.k);
    bool    *constant = cr_scratch_bytes(&s, q.p, sizeof *constant);
    CR_TRY(s.status);
    CR_TRY(cri_predictor_new(cx, q.p, q.k, &fit));
    if (q.k > 0) CR_TRY(cr_qr_rcond(cx, &q.qr, &rcond));

    double sd_t = spread_of(q.t, 1, &q, intercept ? mean_of(q.t, 1, &q) : 0);
    facts.tss = sd_t * sd_t * q.W;
    CR_TRY(cri_check_squares(cx, q.p, q.p, facts.tss, sd_t));
    q.least = 0x1p-52 * hypot(sd_t, intercept ? mean_of(q.t, 1, &q) : 0);

    double cells = (double)q.n * (double)(q.p + 1);
    size_t most = cells <= 4e6 ? MOST_REFINEMENTS : 2;
    CR_TRY(solve(cx, &q, q.t, 0, false, most, &x, &facts.correction, &facts.refinements));

    keep_solution(&q, &x, &fit, &facts);
    cri_predictor_set_qr(&fit, &q.qr, column);
    facts.rank = q.k;
    facts.weight = q.W;
    CR_TRY(cr_qr_condition(cx, &q.qr, &facts.condition));
    cri_predictor_set_noise(&fit, intercept, q.W, q.k, facts.rss);
    bool worth = 1 / rcond > 1e4 && cells * (double)q.p <= 2e8;
    if (fit.dof > 0 && worth) CR_TRY(refine_sds(cx, &q, &x, &fit));
    leave_aliased(cx, &q, rows->design, constant, &fit);
    *out_fit = fit;
    *out_facts = facts;
    fit = (cri_predictor){ 0 };
done:
    cri_predictor_free(cx, &fit);
    cr_qr_free(cx, &q.qr);
    cr_scratch_end(&s);
    return st;
}
