/* svm_joint_linear.c -- machines of many classes by the weights of their columns.
 * Rows may have a centre m that is taken off them without being stored so: of U_k = sum_i a_ik x_i, and b_k = sum_i a_ik,
 *   w_k = U_k - b_k m,   f_k(x) = U_k . x - U_k . m + b_k (m . m - m . x + 1). */
#include "svm_joint.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>

typedef struct sweeping {
    const cri_svm_joint_problem *p;
    const cri_svm_linear_rows   *rows;
    cri_svm_joint_solution      *x;
    double                      *W;        /* [K x p] U */
    double                      *curve;    /* [n] |x_i - m|^2 + 1 */
    double                      *along;    /* [n] m . x_i */
    double                      *off;      /* [K] U . m */
    double                       constant; /* m . m + 1 */
    uint32_t                    *order;    /* [n] the active ones first */
    size_t                       active;
    double                      *g, *a; /* [K] */
    double                       worst; /* violation of this sweep */
} sweeping;

static void slope_of(const sweeping *s, size_t i, double *g)
{
    size_t y = (size_t)s->p->y[i];
    for (size_t k = 0; k < s->p->K; k++)
        g[k] = cri_svm_linear_dot(s->rows, i, s->W + k * s->rows->p) - s->off[k] +
               s->x->b[k] * (s->constant - s->along[i]) + (k != y);
}

/* How much less than that of its own class the greatest other slope of a row without weights is: below 0, it stays so. */
static double room_of(const sweeping *s, size_t i)
{
    size_t y = (size_t)s->p->y[i];
    double most = -INFINITY;
    for (size_t k = 0; k < s->p->K; k++)
        if (k != y) most = fmax(most, s->g[k]);
    return s->x->A[i * s->p->K + y] == 0 ? most - s->g[y] : 0;
}

/* One block; true when its row is to be left out from now on. */
static bool step_row(sweeping *s, size_t i, double tol, double former)
{
    size_t  K = s->p->K;
    double *a = s->x->A + i * K;
    if (s->p->cost[i] == 0) return true;
    slope_of(s, i, s->g);
    double v = cri_svm_joint_violation(s->p, i, s->g, a);
    s->worst = fmax(s->worst, v);
    if (v == 0) return room_of(s, i) < -former;
    if (v <= 0.1 * tol) return false;
    for (size_t k = 0; k < K; k++) s->a[k] = a[k];
    cri_svm_joint_step(s->p, i, s->curve[i], s->g, a);
    for (size_t k = 0; k < K; k++) {
        double change = a[k] - s->a[k];
        if (change == 0) continue;
        cri_svm_linear_add(s->rows, i, change, s->W + k * s->rows->p);
        s->x->b[k] += change;
        s->off[k] += change * s->along[i];
    }
    s->x->steps++;
    return false;
}

static void sweep(sweeping *s, cr_rng *rng, double tol, double former)
{
    s->worst = 0;
    for (size_t k = 0; k + 1 < s->active; k++) { /* Fisher & Yates */
        size_t   other = k + (size_t)(((uint64_t)cr_rng_u32(rng) * (s->active - k)) >> 32);
        uint32_t kept = s->order[k];
        s->order[k] = s->order[other], s->order[other] = kept;
    }
    for (size_t at = 0; at < s->active;) {
        uint32_t i = s->order[at];
        if (step_row(s, i, tol, former)) {
            s->order[at] = s->order[--s->active];
            s->order[s->active] = i;
        } else
            at++;
    }
}

/* |w_k|^2 = |U_k|^2 - 2 b_k U_k . m + b_k^2 m . m */
static double square_of(const sweeping *s, size_t k)
{
    const double *u = s->W + k * s->rows->p, b = s->x->b[k];
    double        square = b * (b * (s->constant - 1) - 2 * s->off[k]);
    for (size_t j = 0; j < s->rows->p; j++) square += u[j] * u[j];
    return fmax(square, 0);
}

static void certify(sweeping *s, double share)
{
    cri_svm_joint_solution *x = s->x;
    size_t                  K = s->p->K;
    x->violation = 0;
    for (size_t k = 0; k < K; k++) {
        double square = square_of(s, k);
        x->norm[k] = sqrt(square);
        x->objective[k] = (square + x->b[k] * x->b[k]) / 2;
        x->gap[k] = 0;
    }
    for (size_t i = 0; i < s->p->n; i++) {
        const double *a = x->A + i * K;
        size_t        y = (size_t)s->p->y[i];
        if (s->p->cost[i] == 0) continue;
        slope_of(s, i, s->g);
        x->violation = fmax(x->violation, cri_svm_joint_violation(s->p, i, s->g, a));
        cri_svm_joint_add_gap(s->p, i, s->g, a, x->gap);
        x->objective[y] -= a[y];
    }
    double gap = 0, objective = 0;
    for (size_t k = 0; k < K; k++) gap += x->gap[k], objective += x->objective[k];
    x->converged = gap <= share * fabs(objective);
}

/* Sweeps until the violations are small, for all rows, and the gap, which is then computed, too; else smaller. */
static cr_status run(cr_ctx *cx, sweeping *s, const cri_svm_settings *how, size_t sweeps)
{
    cr_status st = CR_OK;
    double    former = INFINITY, small = 0.5, share = fmax(0.01 * how->tol, 1e-10);
    for (size_t k = 0; k < sweeps && !s->x->converged; k++) {
        cr_rng rng = cr_rng_stream(0, k);
        bool   whole = s->active == s->p->n;
        CR_TRY(cr_check_interrupt(cx));
        s->x->late = k > 0 && cri_clock_over(&how->clock);
        if (s->x->late || s->x->steps >= how->max_iter) break;
        sweep(s, &rng, small, former);
        former = s->worst;
        if (s->worst > small) continue;
        if (whole) {
            certify(s, share);
            small /= 2;
        }
        s->active = s->p->n;
        former = INFINITY;
    }
    if (!s->x->converged) certify(s, share);
done:
    return st;
}

/* The numbers of the rows and their centre. */
static cr_status set_rows(cr_ctx *cx, sweeping *s, const double *opt_centre)
{
    const cri_svm_linear_rows *x = s->rows;
    s->constant = 1;
    for (size_t j = 0; opt_centre && j < x->p; j++) s->constant += opt_centre[j] * opt_centre[j];
    for (size_t i = 0; i < x->n; i++) {
        s->order[i] = (uint32_t)i;
        s->along[i] = opt_centre ? cri_svm_linear_dot(x, i, opt_centre) : 0;
        s->curve[i] = cri_svm_linear_square(x, i) - 2 * s->along[i] + s->constant;
        if (!isfinite(s->curve[i]))
            return cr_fail(cx, CR_ENUMERIC, "the square of a row overflows");
    }
    return CR_OK;
}

cr_status cri_svm_joint_solve_linear(cr_ctx *cx, const cri_svm_joint_problem *p,
                                     const cri_svm_linear_rows *rows, const double *opt_centre,
                                     const cri_svm_settings *how, size_t sweeps, double *W,
                                     cri_svm_joint_solution *x)
{
    cr_status  st = CR_OK;
    cr_scratch r = cr_scratch_begin(cx);
    size_t     n = p->n, K = p->K;
    sweeping   s = { .p = p, .rows = rows, .x = x, .W = W, .active = n };
    s.curve = cr_scratch_f64(&r, n), s.along = cr_scratch_f64(&r, n);
    s.order = cr_scratch_bytes(&r, n, sizeof *s.order);
    s.off = cr_scratch_bytes(&r, K, sizeof *s.off);
    s.g = cr_scratch_f64(&r, K), s.a = cr_scratch_f64(&r, K);
    CR_TRY(r.status);
    if (n > UINT32_MAX)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "%zu rows are too many for this method", n));
    x->steps = 0, x->late = x->converged = false;
    for (size_t k = 0; k < K * rows->p; k++) W[k] = 0;
    for (size_t k = 0; k < K; k++) x->b[k] = 0;
    CR_TRY(set_rows(cx, &s, opt_centre));
    CR_TRY(run(cx, &s, how, sweeps));
    for (size_t k = 0; opt_centre && k < K; k++)
        for (size_t j = 0; j < rows->p; j++) W[k * rows->p + j] -= x->b[k] * opt_centre[j];
done:
    cr_scratch_end(&r);
    return st;
}
