/* linear_interior.c -- the hinge by a primal-dual interior point.
 * The optimum, with z and x the multipliers of a >= 0 and a <= c, u = c - a, f = X w + b:
 *   r = s f - t - z + x = 0,   w = X'(s a),   s . a = 0,   a z = 0,   u x = 0.
 * Newton's step towards a z = u x = mu, with T = z / a + x / u and g = -r + (mu / a - z) - (mu / u - x):
 *   da = (g - s df) / T,   df = X dw + db,
 *   ([X 1]' diag(sum 1 / T) [X 1] + diag(1, .., 1, 0)) (dw, db) = [X 1]'(s g / T) + (X'(s a) - w, s . a):
 * one matrix of the size of the columns, factored once a step for a predictor (mu = 0) and a corrector.
 * Where products a z far from mu hold the step up, up to three further
 * corrections send them towards it: Gondzio (1996), Comput. Optim. Appl. 6.  O(the cross-products + p^3 / 3) a step. */
#include "linear_svm.h"
#include "base/scratch.h"
#include "math/dense/chol.h"

#include <math.h>
#include <string.h>

/* A step. */
typedef struct direction {
    double *a, *z, *x; /* [m] */
    double *w;         /* [p + 1] of w and b */
} direction;

typedef struct interior {
    cri_svm_linear_work          *work;
    const cri_svm_linear_problem *q;
    size_t                        p;
    double                       *z, *x; /* [m] multipliers */
    double   *az, *ux;  /* [m] what a z and u x are to become, without what da dz adds */
    double   *g;        /* [m] */
    double   *inverse;  /* [m] 1 / T */
    double   *df;       /* [n] */
    double   *L;        /* [p + 1 x p + 1] */
    double   *before;   /* [p + 1] X'(s a) - w, s . a */
    direction d, other; /* the step, and one that is tried */
    int       tries;    /* to go to the bounds */
} interior;

static double room(const interior *d, size_t k)
{
    return d->q->cost[k] - d->work->solution->alpha[k];
}

/* w = 0 and its best b, with multipliers that fit them; a within its range, as much on either side. */
static void start(interior *d)
{
    const cri_svm_linear_problem *q = d->q;
    cri_svm_linear_solution      *o = d->work->solution;
    double                        side[2] = { 0, 0 };
    memset(o->w, 0, d->p * sizeof *o->w);
    o->b = cri_svm_linear_best_constant(q);
    for (size_t k = 0; k < q->m; k++) side[q->sign[k] > 0] += q->cost[k];
    for (size_t k = 0; k < q->m; k++) {
        double size = fmax(fabs(q->target[k]), 1e-3), r = q->sign[k] * o->b - q->target[k];
        double share = side[q->sign[k] <= 0] / (side[0] + side[1]);
        o->alpha[k] = q->cost[k] * fmin(fmax(q->intercept ? share : 0.5, 0.01), 0.99);
        d->z[k] = fmax(r, 0) + size;
        d->x[k] = fmax(-r, 0) + size;
    }
}

/* 1 / T, the residuals of w and b, and the factor. */
static cr_status factor(interior *d)
{
    cr_status                      st = CR_OK;
    const cri_svm_linear_problem  *q = d->q;
    cri_svm_linear_work           *work = d->work;
    const cri_svm_linear_solution *o = work->solution;
    size_t                         n = q->x->n, p = d->p;
    double                        *v = work->v;

    memset(v, 0, n * sizeof *v);
    for (size_t k = 0; k < q->m; k++) v[cri_svm_linear_row(q, k)] += q->sign[k] * o->alpha[k];
    CR_TRY(cri_svm_linear_transpose_times(work->cx, q->x, v, d->before));
    for (size_t j = 0; j < p; j++) d->before[j] -= o->w[j];
    memset(v, 0, n * sizeof *v);
    for (size_t k = 0; k < q->m; k++) {
        d->inverse[k] = 0;
        if (q->cost[k] == 0) continue;
        d->inverse[k] = 1 / (d->z[k] / o->alpha[k] + d->x[k] / room(d, k));
        v[cri_svm_linear_row(q, k)] += d->inverse[k];
    }
    CR_TRY(cri_svm_linear_gram(work->cx, q->x, v, d->L));
    for (size_t j = 0; j < p; j++) d->L[j * (p + 1) + j] += 1;
    if (!q->intercept) {
        memset(d->L + p * (p + 1), 0, p * sizeof *d->L);
        d->L[p * (p + 1) + p] = 1;
        d->before[p] = 0;
    }
    CR_TRY(cr_chol(work->cx, cr_mat_of(d->L, p + 1, p + 1)));
done:
    return st;
}

/* The step to the products az and ux. */
static cr_status solve(interior *d, direction *out)
{
    cr_status                      st = CR_OK;
    const cri_svm_linear_problem  *q = d->q;
    cri_svm_linear_work           *work = d->work;
    const cri_svm_linear_solution *o = work->solution;
    double                        *v = work->v;

    memset(v, 0, q->x->n * sizeof *v);
    for (size_t k = 0; k < q->m; k++) {
        if (q->cost[k] == 0) continue;
        double z = d->z[k], x = d->x[k];
        double r = q->sign[k] * work->f[cri_svm_linear_row(q, k)] - q->target[k] - z + x;
        out->z[k] = d->az[k] / o->alpha[k] - z; /* without what da adds */
        out->x[k] = d->ux[k] / room(d, k) - x;
        d->g[k] = out->z[k] - out->x[k] - r;
        v[cri_svm_linear_row(q, k)] += q->sign[k] * d->g[k] * d->inverse[k];
    }
    CR_TRY(cri_svm_linear_transpose_times(work->cx, q->x, v, out->w));
    for (size_t j = 0; j <= d->p; j++) out->w[j] += d->before[j];
    if (!q->intercept) out->w[d->p] = 0;
    CR_TRY(cr_chol_solve(work->cx, cr_cmat_of(d->L, d->p + 1, d->p + 1),
                         cr_mat_of(out->w, d->p + 1, 1)));
    CR_TRY(cri_svm_linear_scores(work->cx, q->x, out->w, out->w[d->p], d->df));
    for (size_t k = 0; k < q->m; k++) {
        if (q->cost[k] == 0) continue;
        out->a[k] = (d->g[k] - q->sign[k] * d->df[cri_svm_linear_row(q, k)]) * d->inverse[k];
        out->z[k] -= d->z[k] / o->alpha[k] * out->a[k];
        out->x[k] += d->x[k] / room(d, k) * out->a[k];
    }
done:
    return st;
}

/* How far a step may go, 1 at the most: of alpha, and of w, b and the multipliers.  The next step mends what a
 * difference of the two leaves of w = X'(s a). */
typedef struct lengths {
    double a, w;
} lengths;

static lengths reach(const interior *d, const direction *to)
{
    const double *alpha = d->work->solution->alpha;
    double        a = 1 / 0.995, w = 1 / 0.995;
    for (size_t k = 0; k < d->q->m; k++) {
        if (d->q->cost[k] == 0) continue;
        if (alpha[k] + a * to->a[k] < 0) a = -alpha[k] / to->a[k];
        if (room(d, k) - a * to->a[k] < 0) a = room(d, k) / to->a[k];
        if (d->z[k] + w * to->z[k] < 0) w = -d->z[k] / to->z[k];
        if (d->x[k] + w * to->x[k] < 0) w = -d->x[k] / to->x[k];
    }
    return (lengths){ 0.995 * a, 0.995 * w };
}

/* The mean of a z and u x after so much of the step. */
static double complementarity(const interior *d, lengths by)
{
    const double *alpha = d->work->solution->alpha;
    double        sum = 0, count = 0;
    for (size_t k = 0; k < d->q->m; k++) {
        if (d->q->cost[k] == 0) continue;
        sum += (alpha[k] + by.a * d->d.a[k]) * (d->z[k] + by.w * d->d.z[k]) +
               (room(d, k) - by.a * d->d.a[k]) * (d->x[k] + by.w * d->d.x[k]);
        count += 2;
    }
    return count > 0 ? sum / count : 0;
}

static double towards(double product, double mu)
{
    double into = product < 0.1 * mu ? 0.1 * mu : product > 10 * mu ? 10 * mu : product;
    return fmax(into - product, -10 * mu);
}

/* Products far from mu hold steps up: they are sent towards it, as long as that makes the steps longer. */
static cr_status centre(interior *d, double mu, lengths *by)
{
    cr_status     st = CR_OK;
    const double *alpha = d->work->solution->alpha;
    for (int round = 0; round < 3 && fmin(by->a, by->w) < 0.9; round++) {
        double a = fmin(1, 1.1 * by->a + 0.1), w = fmin(1, 1.1 * by->w + 0.1);
        for (size_t k = 0; k < d->q->m; k++) {
            if (d->q->cost[k] == 0) continue;
            d->az[k] += towards((alpha[k] + a * d->d.a[k]) * (d->z[k] + w * d->d.z[k]), mu);
            d->ux[k] += towards((room(d, k) - a * d->d.a[k]) * (d->x[k] + w * d->d.x[k]), mu);
        }
        CR_TRY(solve(d, &d->other));
        lengths longer = reach(d, &d->other);
        double  gain = longer.a + longer.w - by->a - by->w;
        if (gain <= 0) break;
        direction kept = d->d;
        d->d = d->other;
        d->other = kept;
        *by = longer;
        if (gain < 0.02) break;
    }
done:
    return st;
}

/* Mehrotra's step, centred. */
static cr_status take_step(interior *d, lengths *out_by)
{
    cr_status st = CR_OK;
    size_t    m = d->q->m;
    memset(d->az, 0, m * sizeof *d->az);
    memset(d->ux, 0, m * sizeof *d->ux);
    CR_TRY(factor(d));
    CR_TRY(solve(d, &d->d));
    double mu = complementarity(d, (lengths){ 0, 0 });
    double after = complementarity(d, reach(d, &d->d)) / mu;
    mu *= after * after * after;
    for (size_t k = 0; k < m; k++) {
        d->az[k] = mu - d->d.a[k] * d->d.z[k];
        d->ux[k] = mu + d->d.a[k] * d->d.x[k];
    }
    CR_TRY(solve(d, &d->d));
    *out_by = reach(d, &d->d);
    CR_TRY(centre(d, mu, out_by));
done:
    return st;
}

/* alpha at the bounds where the multipliers say so. */
static void settle(const interior *d)
{
    double *alpha = d->work->solution->alpha;
    for (size_t k = 0; k < d->q->m; k++) {
        double c = d->q->cost[k];
        if (alpha[k] < d->z[k] * c)
            alpha[k] = 0;
        else if (c - alpha[k] < d->x[k] * c)
            alpha[k] = c;
    }
}

/* Goes along the step; true where nothing is left of it. */
static bool advance(interior *d, lengths by)
{
    cri_svm_linear_solution *o = d->work->solution;
    for (size_t k = 0; k < d->q->m; k++) {
        if (d->q->cost[k] == 0) continue;
        o->alpha[k] += by.a * d->d.a[k];
        d->z[k] += by.w * d->d.z[k];
        d->x[k] += by.w * d->d.x[k];
    }
    for (size_t j = 0; j < d->p; j++) o->w[j] += by.w * d->d.w[j];
    o->b += by.w * d->d.w[d->p];
    return by.a < 1e-12 && by.w < 1e-12;
}

/* The certificate, which makes alpha feasible.  While it is not good enough alpha stays inside, where the steps left
 * it; then it goes to its bounds, where that is good enough too, or becomes so within a few more steps.  kept [m] holds
 * the alpha inside. */
static cr_status certify(interior *d, double *kept)
{
    enum { MOST_TRIES = 12 };
    cr_status                st = CR_OK;
    cri_svm_linear_solution *o = d->work->solution;
    size_t                   size = d->q->m * sizeof *kept;
    bool                     good = false;

    memcpy(kept, o->alpha, size);
    CR_TRY(cri_svm_linear_certify(d->work, false, &good));
    if (good) {
        settle(d);
        CR_TRY(cri_svm_linear_certify(d->work, false, &o->converged));
        if (o->converged) goto done;
        memcpy(o->alpha, kept, size);
        CR_TRY(cri_svm_linear_certify(d->work, false, &good));
        o->converged = ++d->tries >= MOST_TRIES;
    }
    if (!o->converged) memcpy(o->alpha, kept, size);
done:
    return st;
}

cr_status cri_svm_linear_interior(cri_svm_linear_work *work)
{
    cr_status                     st = CR_OK;
    cr_scratch                    s = cr_scratch_begin(work->cx);
    const cri_svm_linear_problem *q = work->problem;
    cri_svm_linear_solution      *o = work->solution;
    size_t                        m = q->m, p = q->x->p;
    double  *kept = cr_scratch_f64(&s, m), *pieces = cr_scratch_f64(&s, 12 * m);
    interior d = { .work = work, .q = q, .p = p };
    d.df = cr_scratch_f64(&s, q->x->n);
    d.before = cr_scratch_f64(&s, 3 * (p + 1));
    d.L = cr_scratch_matrix(&s, p + 1, p + 1);
    CR_TRY(s.status);
    memset(pieces, 0, 12 * m * sizeof *pieces);
    double **parts[] = { &d.z,   &d.x,   &d.az,  &d.ux,      &d.g,       &d.inverse,
                         &d.d.a, &d.d.z, &d.d.x, &d.other.a, &d.other.z, &d.other.x };
    for (size_t i = 0; i < 12; i++) *parts[i] = pieces + i * m;
    d.d.w = d.before + p + 1;
    d.other.w = d.d.w + p + 1;
    start(&d);
    for (;; o->iterations++) {
        lengths by;
        CR_TRY(certify(&d, kept));
        if (o->converged || cri_svm_linear_over(work)) break;
        CR_TRY(cr_check_interrupt(work->cx));
        CR_TRY(take_step(&d, &by));
        if (advance(&d, by)) break;
    }
done:
    cr_scratch_end(&s);
    return st;
}
