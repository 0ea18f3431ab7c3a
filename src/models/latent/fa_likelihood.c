/* fa_likelihood.c -- the maximum of the likelihood of factor analysis.
 * For given psi the best W is known: with diag(psi)^-1/2 R diag(psi)^-1/2 = V diag(theta) V^T, theta descending,
 *   W_a = (l_a - 1)^1/2 diag(psi)^1/2 v_a,   l_a = max(theta_a, 1),   a <= q,
 *   f = sum_j log psi_j + sum_a<=q (log l_a + theta_a / l_a) + sum_a>q theta_a,
 *   df / d log psi_j = 1 + sum_a<=q (l_a - 1) v_ja^2 - R_jj / psi_j.
 * From each start some steps of EM lead towards a maximum, L-BFGS over log psi, in bounds, takes over, and Newton's
 * method finishes.  What L-BFGS starts with as second derivatives are those where the model holds,
 * (sum_a>q v_ia v_ja)^2.
 * Joreskog (1967), Psychometrika 32; Lawley & Maxwell (1971), ch. 4 and appendix II; Rubin & Thayer (1982),
 * Psychometrika 47. */
#include "fa.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/decompose.h"
#include "math/dense/dense.h"
#include "math/optim/minimize.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { EM_STEPS = 10, NEWTON_STEPS = 8 };
static const double NEAR = 0.5;   /* of log psi to its bound */
static const double AGREE = 1e-7; /* ends whose f differ by less are one */

typedef struct search {
    cr_ctx       *cx;
    const double *R;
    size_t        p, q;
    double        least;
    double       *S, *theta, *V; /* [p x p], [p] ascending, [p x p] columns */
    double       *W;             /* [q x p]                                 */
    double       *inverse;       /* [p] psi of the first start              */
} search;

bool cri_fa_at_bound(double psi, double least) { return psi <= least * (1 + 1e-6); }

/* --- the likelihood of psi -------------------------------------------------------------------- */

/* theta and V for these psi. */
static cr_status decompose(search *s, const double *psi)
{
    size_t p = s->p;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) s->S[i * p + j] = s->R[i * p + j] / sqrt(psi[i] * psi[j]);
    return cr_eigen(s->cx, cr_cmat_of(s->S, p, p), s->theta, cr_mat_of(s->V, p, p));
}

/* l_a of the factor number a; its column of V is p - 1 - a. */
static double length_of(const search *s, size_t a) { return fmax(s->theta[s->p - 1 - a], 1); }

/* f after `decompose`. */
static double value_of(const search *s, const double *psi)
{
    double f = 0;
    for (size_t j = 0; j < s->p; j++) {
        double l = j < s->q ? length_of(s, j) : 1;
        f += log(psi[j]) + log(l) + s->theta[s->p - 1 - j] / l;
    }
    return f;
}

/* How far rounding may put f off: eigenvalues are known to the last digits of the largest. */
static double rounding_of(const search *s)
{
    return DBL_EPSILON * (double)s->p * fmax(s->theta[s->p - 1], 1);
}

/* The best W after `decompose`. */
static void find_loadings(const search *s, const double *psi, double *W)
{
    size_t p = s->p;
    for (size_t a = 0; a < s->q; a++)
        for (size_t i = 0; i < p; i++)
            W[a * p + i] = sqrt((length_of(s, a) - 1) * psi[i]) * s->V[i * p + p - 1 - a];
}

static cr_status objective(void *user, const double *x, size_t p, double *out_f,
                           double *opt_gradient)
{
    cr_status  st = CR_OK;
    search    *s = user;
    cr_scratch memory = cr_scratch_begin(s->cx);
    double    *psi = cr_scratch_f64(&memory, p);

    CR_TRY(memory.status);
    for (size_t i = 0; i < p; i++) psi[i] = exp(x[i]);
    CR_TRY(decompose(s, psi));
    *out_f = value_of(s, psi);
    for (size_t i = 0; i < p && opt_gradient; i++) {
        opt_gradient[i] = 1 - s->R[i * p + i] / psi[i];
        for (size_t a = 0; a < s->q; a++) {
            double v = s->V[i * p + p - 1 - a];
            opt_gradient[i] += (length_of(s, a) - 1) * v * v;
        }
    }
done:
    cr_scratch_end(&memory);
    return st;
}

/* out [p x p] = the second derivatives of f by log psi, after `decompose`.  With c_ab = v_ia v_ja v_ib v_jb
 *   d_ij / psi_i - sum_a,b<=q (theta_a + theta_b) / 2 c_ab
 *                - sum_a<=q<b (theta_a - 1) (theta_a + theta_b) / (theta_a - theta_b) c_ab,
 * from the derivatives of eigenvalues and eigenvectors.  D, T [p x p] are workspace.  O(q p^3). */
static cr_status find_hessian(const search *s, const double *psi, double *D, double *T, double *out)
{
    cr_status st = CR_OK;
    size_t    p = s->p, first = p - s->q; /* columns of V from here on are those of the factors */
    for (size_t i = 0; i < p * p; i++) out[i] = 0;
    for (size_t a = first; a < p; a++) {
        double l = s->theta[a];
        for (size_t b = 0; b < p; b++) {
            double t = s->theta[b];
            double w = b >= first ? 0.5 * (l + t) : (l - 1) * (l + t) / (l - t);
            for (size_t i = 0; i < p; i++) D[i * p + b] = w * s->V[i * p + b];
        }
        CR_TRY(cr_gemm(s->cx, 1, cr_cmat_of(D, p, p), CR_PLAIN, cr_cmat_of(s->V, p, p),
                       CR_TRANSPOSED, 0, cr_mat_of(T, p, p)));
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j < p; j++)
                out[i * p + j] -= s->V[i * p + a] * s->V[j * p + a] * T[i * p + j];
    }
    for (size_t i = 0; i < p; i++) out[i * p + i] += s->R[i * p + i] / psi[i];
done:
    return st;
}

/* (sum_a>q v_ia v_ja)^2 = (d_ij - sum_a<=q v_ia v_ja)^2 after `decompose`, and a little on the diagonal. */
static void find_curvature(const search *s, double *out)
{
    size_t p = s->p;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            double sum = i == j;
            for (size_t a = 0; a < s->q; a++)
                sum -= s->V[i * p + p - 1 - a] * s->V[j * p + p - 1 - a];
            out[i * p + j] = sum * sum + (i == j ? 1e-3 : 0);
        }
}

/* --- steps ------------------------------------------------------------------------------------ */

/* A step of EM over z, psi kept above its bound: B = M^-1 W diag(psi)^-1 [q x p], E z t^T = B R,
 *   E z z^T = M^-1 + B R B^T,   W' = (E z z^T)^-1 E z t^T,   psi' = R_jj - W'_j . (E z t^T)_j.
 * work [2 q p + 2 q q]. */
static cr_status em_step(search *s, double *psi, double *work)
{
    cr_status st = CR_OK;
    size_t    p = s->p, q = s->q;
    double   *B = work, *ZT = B + q * p, *M = ZT + q * p, *ZZ = M + q * q;
    for (size_t a = 0; a < q; a++) {
        for (size_t i = 0; i < p; i++) B[a * p + i] = s->W[a * p + i] / psi[i];
        for (size_t b = 0; b < q; b++) {
            M[a * q + b] = a == b;
            for (size_t i = 0; i < p; i++) M[a * q + b] += B[a * p + i] * s->W[b * p + i];
        }
    }
    CR_TRY(cr_chol(s->cx, cr_mat_of(M, q, q)));
    CR_TRY(cr_chol_solve(s->cx, cr_cmat_of(M, q, q), cr_mat_of(B, q, p)));
    CR_TRY(cr_chol_inverse(s->cx, cr_cmat_of(M, q, q), cr_mat_of(ZZ, q, q)));
    for (size_t a = 0; a < q; a++)
        for (size_t i = 0; i < p; i++) {
            double sum = 0;
            for (size_t j = 0; j < p; j++) sum += B[a * p + j] * s->R[j * p + i];
            s->W[a * p + i] = ZT[a * p + i] = sum;
        }
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++)
            for (size_t i = 0; i < p; i++) ZZ[a * q + b] += ZT[a * p + i] * B[b * p + i];
    CR_TRY(cr_chol(s->cx, cr_mat_of(ZZ, q, q)));
    CR_TRY(cr_chol_solve(s->cx, cr_cmat_of(ZZ, q, q), cr_mat_of(s->W, q, p)));
    for (size_t i = 0; i < p; i++) {
        psi[i] = s->R[i * p + i];
        for (size_t a = 0; a < q; a++) psi[i] -= s->W[a * p + i] * ZT[a * p + i];
        psi[i] = fmin(fmax(psi[i], s->least), 1);
    }
done:
    return st;
}

/* What of the gradient g is not held by a bound: its largest entry, the others set to 0. */
static double project(const search *s, const double *x, double *g)
{
    double most = 0;
    for (size_t i = 0; i < s->p; i++) {
        bool held = (x[i] <= log(s->least) && g[i] > 0) || (x[i] >= 0 && g[i] < 0);
        if (held) g[i] = 0;
        most = fmax(most, fabs(g[i]));
    }
    return most;
}

/* A step of Newton's method from x, with gradient g, to `next`, among the variables that no bound holds; false where the
 * second derivatives are not those of a minimum.  work [3 p p]. */
static cr_status newton_step(search *s, const double *x, const double *g, double *work,
                             double *next, bool *out_made)
{
    cr_status st = CR_OK;
    size_t    p = s->p;
    double   *H = work + 2 * p * p;
    for (size_t i = 0; i < p; i++) next[i] = exp(x[i]);
    CR_TRY(decompose(s, next));
    CR_TRY(find_hessian(s, next, work, work + p * p, H));
    for (size_t i = 0; i < p; i++) {
        next[i] = -g[i];
        for (size_t j = 0; j < p && g[i] == 0; j++) H[i * p + j] = H[j * p + i] = i == j;
    }
    st = cr_chol(s->cx, cr_mat_of(H, p, p));
    *out_made = st == CR_OK;
    if (st == CR_ENUMERIC) st = CR_OK;
    if (st != CR_OK || !*out_made) goto done;
    CR_TRY(cr_chol_solve(s->cx, cr_cmat_of(H, p, p), cr_mat_of(next, p, 1)));
    for (size_t i = 0; i < p; i++) next[i] = fmin(fmax(x[i] + next[i], log(s->least)), 0);
done:
    return st;
}

/* Puts variables that are on their way to the bound, where f hardly falls any more, on it: x, f and g. */
static cr_status reach_bounds(search *s, double *x, double *f, double *g, double *next)
{
    cr_status st = CR_OK;
    bool      any = false;
    double    reached, bound = log(s->least);
    memcpy(next, x, s->p * sizeof *x);
    for (size_t i = 0; i < s->p; i++)
        if (x[i] > bound && x[i] < bound + NEAR && g[i] > 0) next[i] = bound, any = true;
    if (!any) goto done;
    CR_TRY(objective(s, next, s->p, &reached, NULL));
    if (reached > *f + rounding_of(s)) goto done;
    memcpy(x, next, s->p * sizeof *x);
    CR_TRY(objective(s, x, s->p, f, g));
done:
    return st;
}

/* Newton's method at the end of L-BFGS: the likelihood is flat there, and its gradient is known to more digits.  A step
 * counts where it makes the gradient smaller and f, except for rounding, no larger. */
static cr_status polish(search *s, double *x, double *f)
{
    cr_status  st = CR_OK;
    size_t     p = s->p;
    cr_scratch memory = cr_scratch_begin(s->cx);
    double    *work = cr_scratch_f64(&memory, 3 * p * p), *g = cr_scratch_f64(&memory, p);
    double    *next = cr_scratch_f64(&memory, p), *next_g = cr_scratch_f64(&memory, p), reached;

    CR_TRY(memory.status);
    CR_TRY(objective(s, x, p, f, g));
    CR_TRY(reach_bounds(s, x, f, g, next));
    double size = project(s, x, g);
    for (size_t k = 0; k < NEWTON_STEPS && size > 0; k++) {
        bool made = false;
        CR_TRY(newton_step(s, x, g, work, next, &made));
        if (!made) break;
        CR_TRY(objective(s, next, p, &reached, next_g));
        double next_size = project(s, next, next_g);
        if (!(next_size < size) || !(reached <= *f + rounding_of(s))) break;
        memcpy(x, next, p * sizeof *x);
        memcpy(g, next_g, p * sizeof *g);
        *f = reached, size = next_size;
    }
done:
    cr_scratch_end(&memory);
    return st;
}

/* From psi [p] to the end of the road; psi, and f and the course in *out. */
static cr_status descend(search *s, const cri_fa_options *o, bool em, double *psi,
                         cri_fa_maximum *out)
{
    cr_status           st = CR_OK;
    size_t              p = s->p, q = s->q, steps = em ? EM_STEPS : 0;
    cr_scratch          memory = cr_scratch_begin(s->cx);
    double             *work = cr_scratch_f64(&memory, 2 * q * p + 2 * q * q);
    double             *x = cr_scratch_f64(&memory, p), *lower = cr_scratch_f64(&memory, p);
    double             *upper = cr_scratch_f64(&memory, p);
    double             *curvature = cr_scratch_matrix(&memory, p, p);
    cr_minimize_options how = cr_minimize_defaults();
    cr_minimize_report  report = { 0 };
    cr_problem          problem = { .n = p, .objective = objective, .user = s };

    CR_TRY(memory.status);
    if (steps > o->max_iter) steps = o->max_iter;
    CR_TRY(decompose(s, psi));
    find_loadings(s, psi, s->W);
    for (size_t k = 0; k < steps; k++) CR_TRY(em_step(s, psi, work));
    CR_TRY(decompose(s, psi));
    find_curvature(s, curvature);
    for (size_t i = 0; i < p; i++) x[i] = log(psi[i]), lower[i] = log(s->least), upper[i] = 0;
    how.max_iter = o->max_iter - steps;
    how.gradient_tolerance = 1e-9;
    how.f_tolerance = 1e-15;
    problem.lower = lower, problem.upper = upper, problem.curvature = curvature;
    CR_TRY(cr_minimize(s->cx, &problem, &how, x, &report));
    if (cr_end_converged(report.stop) || report.stop == CR_END_NO_PROGRESS)
        CR_TRY(polish(s, x, &report.f));
    for (size_t i = 0; i < p; i++) psi[i] = fmin(fmax(exp(x[i]), s->least), 1);
    out->f = report.f;
    out->iterations = steps + report.iterations;
    out->converged = cr_end_converged(report.stop) || report.stop == CR_END_NO_PROGRESS;
    out->cut = report.stop == CR_END_TIME;
done:
    cr_scratch_end(&memory);
    return st;
}

/* --- starts ----------------------------------------------------------------------------------- */

/* 1 - q / 2p times the variance of each column given all others, as Joreskog (1967) has it; of correlations that have
 * no inverse, of those with a little more on the diagonal. */
static cr_status start_from_inverse(search *s)
{
    cr_status st = CR_OK;
    size_t    p = s->p;
    memcpy(s->S, s->R, p * p * sizeof *s->S);
    for (size_t i = 0; i < p; i++) s->S[i * p + i] += 1e-3;
    CR_TRY(cr_chol(s->cx, cr_mat_of(s->S, p, p)));
    CR_TRY(cr_chol_inverse(s->cx, cr_cmat_of(s->S, p, p), cr_mat_of(s->S, p, p)));
    for (size_t i = 0; i < p; i++)
        s->inverse[i] = (1 - 0.5 * (double)s->q / (double)p) / s->S[i * p + i];
done:
    return st;
}

/* What q principal components leave of each column. */
static cr_status start_from_components(search *s, double *psi)
{
    size_t    p = s->p;
    cr_status st = cr_eigen(s->cx, cr_cmat_of(s->R, p, p), s->theta, cr_mat_of(s->V, p, p));
    for (size_t i = 0; i < p && st == CR_OK; i++) {
        psi[i] = 1;
        for (size_t a = 0; a < s->q; a++) {
            double v = s->V[i * p + p - 1 - a];
            psi[i] -= s->theta[p - 1 - a] * v * v;
        }
    }
    return st;
}

/* The column that is number k in ascending order of `value`. */
static size_t find_ranked(const double *value, size_t p, size_t k)
{
    for (size_t i = 0; i < p; i++) {
        size_t before = 0;
        for (size_t j = 0; j < p; j++)
            before += value[j] < value[i] || (value[j] == value[i] && j < i);
        if (before == k) return i;
    }
    return 0;
}

/* Start number k: by the inverse; by principal components; by the largest correlation of each column; then in turns
 * at random, and with one column that is a factor, those first that the others explain best. */
static cr_status set_start(search *s, size_t k, double *psi)
{
    cr_status st = CR_OK;
    size_t    p = s->p, column = find_ranked(s->inverse, p, (k / 2 - (k > 3 ? 2 : 0)) % p);
    cr_rng    r = cr_rng_stream(0x6661, k);
    if (k == 1) CR_TRY(start_from_components(s, psi));
    for (size_t i = 0; i < p; i++) {
        double most = 0;
        for (size_t j = 0; j < p; j++)
            if (j != i) most = fmax(most, fabs(s->R[i * p + j]));
        if (k == 0) psi[i] = s->inverse[i];
        if (k == 2) psi[i] = 1 - most;
        if (k > 2) psi[i] = k % 2 ? cr_rng_uniform(&r) : i == column ? 0 : 0.9;
        psi[i] = fmin(fmax(psi[i], fmax(s->least, 0.01)), 1);
    }
done:
    return st;
}

/* true where the first starts leave no doubt: all ended alike, and at no bound. */
static bool is_settled(const cri_fa_maximum *best, size_t p, double least)
{
    if (best->starts != CRI_FA_FIRST || best->agreeing < CRI_FA_FIRST) return false;
    for (size_t i = 0; i < p; i++)
        if (cri_fa_at_bound(best->psi[i], least)) return false;
    return true;
}

/* Keeps the end of a start where it is the best. */
static void keep_best(const cri_fa_maximum *end, const double *psi, size_t p, cri_fa_maximum *best)
{
    double gain = best->starts ? best->f - end->f : INFINITY;
    best->starts++;
    best->agreeing = gain > AGREE ? 1 : best->agreeing + (gain >= -AGREE);
    best->cut |= end->cut;
    if (!(gain > 0)) return;
    memcpy(best->psi, psi, p * sizeof *psi);
    best->f = end->f;
    best->iterations = end->iterations, best->converged = end->converged;
}

/* One factor of two columns: many psi give their covariance, of which those with equal communalities are taken. */
static cr_status maximise_pair(search *s, cri_fa_maximum *out)
{
    cr_status st = CR_OK;
    out->psi[0] = out->psi[1] = fmax(1 - fabs(s->R[1]), s->least);
    CR_TRY(decompose(s, out->psi));
    out->f = value_of(s, out->psi);
    out->starts = out->agreeing = 1, out->converged = true;
done:
    return st;
}

cr_status cri_fa_maximise(cr_ctx *cx, const double *R, size_t p, size_t q, const cri_fa_options *o,
                          const double *opt_from, cri_fa_maximum *out)
{
    cr_status      st = CR_OK;
    cr_scratch     memory = cr_scratch_begin(cx);
    search         s = { .cx = cx, .R = R, .p = p, .q = q, .least = o->least_uniqueness };
    double        *psi = cr_scratch_f64(&memory, p);
    cri_fa_maximum best = { .psi = out->psi, .W = out->W };
    size_t         starts = opt_from ? 1 : o->restarts;
    cri_clock      clock = cri_clock_start(cx, NAN);

    s.S = cr_scratch_matrix(&memory, p, p), s.V = cr_scratch_matrix(&memory, p, p);
    s.theta = cr_scratch_f64(&memory, p), s.W = cr_scratch_matrix(&memory, q, p);
    s.inverse = cr_scratch_f64(&memory, p);
    CR_TRY(memory.status);
    if (p == 2) CR_TRY(maximise_pair(&s, &best));
    if (p > 2 && !opt_from) CR_TRY(start_from_inverse(&s));
    for (size_t k = 0; k < starts && !best.cut && p > 2; k++) {
        cri_fa_maximum end = { 0 };
        CR_TRY(cr_check_interrupt(cx));
        if (opt_from)
            memcpy(psi, opt_from, p * sizeof *psi);
        else
            CR_TRY(set_start(&s, k, psi));
        CR_TRY(descend(&s, o, !opt_from, psi, &end));
        keep_best(&end, psi, p, &best);
        if (is_settled(&best, p, s.least)) break;
        if (cri_clock_over(&clock)) best.cut = true;
    }
    CR_TRY(decompose(&s, best.psi));
    find_loadings(&s, best.psi, best.W);
    *out = best;
done:
    cr_scratch_end(&memory);
    return st;
}
