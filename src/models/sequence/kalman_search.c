/* kalman_search.c -- candidates, runs of L-BFGS, variances at 0, the Hessian. */
#include "kalman_search.h"
#include "base/context_internal.h"
#include "base/clock.h"
#include "kalman_em.h"
#include "kalman_joint.h"
#include "kalman_steps.h"
#include "math/dense/chol.h"
#include "math/optim/minimize.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 8 };
/* Evaluations, or so, that the last pass takes, and one more that is under way. */
enum { LAST_PASS = 5 };
/* The same of a look at a variance that is 0, or may be. */
enum { ROUND = 8 };

/* Logarithms of variances, in units of the target's: below the first they are 0 to all digits. */
static const double lowest = -40, highest = 12;
static const double far = 200; /* how far other parameters go */
/* Two ends with log likelihoods this close are the same. */
static const double close = 1e-3;

/* --- the log likelihood ---------------------------------------------------------------------- */

cr_status cri_kalman_target_new(cr_scratch *s, const cri_kalman_plan *plan,
                                const cri_kalman_data *data, const double *gap, size_t gaps,
                                cri_kalman_target *out)
{
    size_t            m = plan->m;
    cri_kalman_target t = { .cx = s->cx, .plan = plan, .data = *data, .y = data->y };
    t.moved = cr_scratch_f64(s, data->n);
    t.work = cr_scratch_f64(s, 6 * m * m);
    t.score.h = cr_scratch_f64(s, plan->p);
    t.score.level = cr_scratch_f64(s, plan->p);
    t.score.start = cr_scratch_f64(s, m);
    t.score.Q = cr_scratch_matrix(s, m, m);
    t.score.P1 = cr_scratch_matrix(s, m, m);
    if (plan->dynamic) t.score.T = cr_scratch_matrix(s, m, m);
    cr_status st = cri_kalman_new_of(s, plan, &t.system);
    if (st == CR_OK && data->step) {
        t.score.steps_Q = cr_scratch_matrix(s, gaps * m, m);
        if (plan->dynamic) t.score.steps_T = cr_scratch_matrix(s, gaps * m, m);
        st = cri_kalman_steps_new(s, plan, gap, gaps, &t.system);
        for (size_t k = 0; k < plan->n_parts; k++) /* noise gets to all states of such a part */
            if (plan->parts[k].kind == CRI_KALMAN_TREND ||
                plan->parts[k].kind == CRI_KALMAN_SEASONAL)
                for (size_t i = 0; st == CR_OK && i < plan->parts[k].n; i++)
                    t.system.noisy[plan->parts[k].first + i] = true;
    }
    if (st == CR_OK) *out = t;
    return st;
}

cr_status cri_kalman_set(cri_kalman_target *t, const double *theta, bool *out_there)
{
    *out_there = cri_kalman_build(t->plan, theta, &t->system, t->work);
    if (!*out_there || !t->data.step) return CR_OK;
    return cri_kalman_steps_build(t->cx, t->plan, &t->system);
}

cr_status cri_kalman_evaluate(cri_kalman_target *t, const double *theta, double *out,
                              double *opt_gradient, double *opt_slope)
{
    cr_status              st = CR_OK;
    const cri_kalman_plan *plan = t->plan;
    cri_kalman_path        path = { 0 };
    bool                   there;
    *out = NAN;
    t->evaluations++;
    CR_TRY(cri_kalman_set(t, theta, &there));
    if (!there) goto done;
    t->data.y = t->y;
    if (plan->mean) {
        for (size_t i = 0; i < t->data.n; i++) t->moved[i] = t->y[i] - theta[plan->n_theta - 1];
        t->data.y = t->moved;
    }
    CR_TRY(cri_kalman_filter(t->cx, &t->system, &t->data, opt_gradient && plan->dynamic, &path));
    if (!isfinite(path.log_likelihood)) goto done;
    if (opt_gradient) {
        CR_TRY(cri_kalman_differentiate(t->cx, &path, &t->score));
        if (t->data.step) CR_TRY(cri_kalman_steps_pull(t->cx, plan, &t->system, &t->score));
        cri_kalman_pull(plan, theta, &t->system, &t->score, t->work, opt_gradient, opt_slope);
    }
    *out = path.log_likelihood;
done:
    cri_kalman_path_free(t->cx, &path);
    return st;
}

/* --- runs ------------------------------------------------------------------------------------ */

/* A function of the parameters that are not held at 0. */
typedef struct part_of {
    cri_kalman_target *t;
    double            *theta, *gradient; /* [n_theta] */
    size_t            *free, n_free;
    double            *lower, *upper; /* [n_theta] of the free ones */
    cri_clock          clock;
    bool               timed; /* the clock counts                               */
    bool               late;  /* the clock has ended a run: the best so far are */
    double            *highest_x, highest;
    double             seconds; /* that the last evaluation took */
    cri_kalman_em     *opt_em;
} part_of;

bool cri_kalman_late(cr_ctx *cx, const cri_clock *clock, double seconds)
{
    return cri_clock_over(clock) || cri_time_left(cx) < LAST_PASS * seconds;
}

static void spread(const part_of *o, const double *x)
{
    for (size_t i = 0; i < o->n_free; i++) o->theta[o->free[i]] = x[i];
}

static cr_status objective(void *user, const double *x, size_t n, double *out_f,
                           double *opt_gradient)
{
    part_of *o = user;
    double   height;
    o->late = o->late || (o->timed && o->highest > -INFINITY &&
                          cri_kalman_late(o->t->cx, &o->clock, o->seconds));
    if (o->late) return CR_EINTERRUPTED; /* ends the run: ascend knows why */
    spread(o, x);
    double    begun = cri_seconds();
    cr_status st =
        cri_kalman_evaluate(o->t, o->theta, &height, opt_gradient ? o->gradient : NULL, NULL);
    if (st != CR_OK) return st;
    o->seconds = cri_seconds() - begun;
    if (height > o->highest) {
        o->highest = height;
        memcpy(o->highest_x, x, n * sizeof *x);
    }
    *out_f = -height;
    for (size_t i = 0; opt_gradient && i < o->n_free; i++)
        opt_gradient[i] = isnan(height) ? NAN : -o->gradient[o->free[i]];
    return CR_OK;
}

static void list_free(part_of *o)
{
    const cri_kalman_plan *plan = o->t->plan;
    o->n_free = 0;
    for (size_t i = 0; i < plan->n_theta; i++) {
        bool variance = plan->scale[i] == CRI_KALMAN_VARIANCE;
        if (isinf(o->theta[i]) || cri_kalman_is_idle(plan, o->theta, i)) continue;
        o->lower[o->n_free] = variance ? lowest : -far;
        o->upper[o->n_free] = variance ? highest : far;
        o->free[o->n_free++] = i;
    }
}

/* The same by EM, for which variances stay at 0 once they are there. */
static cr_status ascend_by_em(cr_scratch *s, part_of *o, double tol, double *height,
                              cr_minimize_report *out)
{
    double    begun = cri_seconds();
    cr_status st =
        cri_kalman_em_run(s, o->opt_em, tol, &o->clock, o->theta, height, &out->iterations);
    if (cri_is_late(o->t->cx, st)) {
        o->late = true;
        return CR_OK;
    }
    if (st != CR_OK) return st;
    o->seconds = (cri_seconds() - begun) / (1 + (double)out->iterations);
    if (out->iterations == o->opt_em->most) out->stop = CR_END_MAX_ITER;
    o->late = cri_kalman_late(o->t->cx, &o->clock, o->seconds);
    return CR_OK;
}

/* One ascent from o->theta, whose log likelihood is *height, to where it ends; late, to the best place it has seen. */
static cr_status ascend(cr_scratch *s, part_of *o, size_t max_iter, double tol, double *x,
                        double *height, cr_minimize_report *out)
{
    cr_status           st = CR_OK;
    cr_minimize_options options = cr_minimize_defaults();
    *out = (cr_minimize_report){ .stop = CR_END_TIME };
    if (o->opt_em) return ascend_by_em(s, o, tol, height, out);
    list_free(o);
    cr_problem problem = {
        .n = o->n_free, .objective = objective, .lower = o->lower, .upper = o->upper, .user = o
    };
    options.method = CR_METHOD_LBFGS;
    options.max_iter = max_iter;
    options.gradient_tolerance = tol;
    options.f_tolerance = 1e-15;
    for (size_t i = 0; i < o->n_free; i++) x[i] = o->theta[o->free[i]];
    memcpy(o->highest_x, x, o->n_free * sizeof *x);
    o->highest = -INFINITY;
    st = cr_minimize(o->t->cx, &problem, &options, x, out);
    o->late = o->late || cri_is_late(o->t->cx, st);
    if (o->late) {
        st = CR_OK;
        out->f = -fmax(o->highest, *height);
        memcpy(x, o->highest_x, o->n_free * sizeof *x);
    }
    CR_TRY(st);
    spread(o, x);
    *height = -out->f;
done:
    return st;
}

/* --- variances at 0 -------------------------------------------------------------------------- */

static double largest_variance(const cri_kalman_plan *plan, const double *theta)
{
    double most = -INFINITY;
    for (size_t i = 0; i < plan->n_theta; i++)
        if (plan->scale[i] == CRI_KALMAN_VARIANCE) most = fmax(most, theta[i]);
    return most;
}

/* A variance becomes 0, and with it the correlations that it has. */
static void drop(const cri_kalman_plan *plan, size_t i, double *theta)
{
    theta[i] = -INFINITY;
    for (size_t j = 0; j < plan->n_theta; j++)
        if (cri_kalman_is_idle(plan, theta, j)) theta[j] = 0;
}

/* Sets variances to 0 where that is no worse; how many.  theta and *height are those after. */
static cr_status drop_small(cri_kalman_target *t, double *theta, double *work, double *height,
                            size_t *out_dropped)
{
    cr_status st = CR_OK;
    size_t    n = t->plan->n_theta;
    double    most = largest_variance(t->plan, theta);
    *out_dropped = 0;
    for (size_t i = 0; i < n; i++) {
        double at_zero;
        if (t->plan->scale[i] != CRI_KALMAN_VARIANCE || isinf(theta[i]) || theta[i] == most)
            continue;
        memcpy(work, theta, n * sizeof *work);
        drop(t->plan, i, work);
        CR_TRY(cri_kalman_evaluate(t, work, &at_zero, NULL, NULL));
        if (!(at_zero >= *height - 1e-6 * (1 + 1e-4 * fabs(*height)))) continue;
        drop(t->plan, i, theta);
        *height = at_zero;
        ++*out_dropped;
    }
done:
    return st;
}

/* Takes up variances at 0 by which the log likelihood rises; how many. */
static cr_status raise_zeros(cri_kalman_target *t, double *theta, double *gradient, double *slope,
                             double *work, size_t *out_raised)
{
    cr_status st = CR_OK;
    size_t    n = t->plan->n_theta;
    double    height, most = largest_variance(t->plan, theta);
    *out_raised = 0;
    CR_TRY(cri_kalman_evaluate(t, theta, &height, gradient, slope));
    for (size_t i = 0; i < n; i++) {
        if (t->plan->scale[i] != CRI_KALMAN_VARIANCE || !isinf(theta[i]) || !(slope[i] > 0))
            continue;
        double best = height;
        for (double down = 1; down < 30; down += 2) { /* anything higher than at 0? */
            double now;
            memcpy(work, theta, n * sizeof *work);
            work[i] = most - down;
            CR_TRY(cri_kalman_evaluate(t, work, &now, NULL, NULL));
            if (!(now > best + 1e-6)) continue;
            best = now;
            gradient[0] = work[i];
        }
        if (!(best > height)) continue;
        theta[i] = gradient[0];
        ++*out_raised;
    }
done:
    return st;
}

/* --- the Hessian ----------------------------------------------------------------------------- */

/* H [n_free x n_free] of minus the log likelihood: central differences of the gradient, made symmetric.  x [n_free]
 * is put back; work [2 n_free]. */
static cr_status difference(part_of *o, double *x, double *work, double *H)
{
    static const double step = 3e-3;
    cr_status           st = CR_OK;
    size_t              f = o->n_free;
    double              height;
    for (size_t i = 0; i < f; i++) {
        double old = x[i];
        x[i] = old + step;
        CR_TRY(objective(o, x, f, &height, work));
        x[i] = old - step;
        CR_TRY(objective(o, x, f, &height, work + f));
        x[i] = old;
        for (size_t j = 0; j < f; j++) H[i * f + j] = (work[j] - work[f + j]) / (2 * step);
    }
    for (size_t i = 0; i < f; i++)
        for (size_t j = 0; j < i; j++)
            H[i * f + j] = H[j * f + i] = 0.5 * (H[i * f + j] + H[j * f + i]);
done:
    return st;
}

/* Covariance of theta, and what a Newton step would gain. */
static cr_status curve(cr_scratch *s, part_of *o, cri_kalman_best *out)
{
    cr_status st = CR_OK;
    size_t    n = o->t->plan->n_theta, f = o->n_free;
    double   *x = cr_scratch_f64(s, f), *g = cr_scratch_f64(s, f);
    double   *work = cr_scratch_f64(s, 2 * f), *H = cr_scratch_matrix(s, f, f), height;
    for (size_t i = 0; i < n * n; i++) out->covariance[i] = NAN;
    out->gain = out->gradient = NAN;
    CR_TRY(s->status);
    if (2 * (double)(f + 2) * o->seconds > 0.5 * cri_time_left(o->t->cx)) goto done; /* too late */
    for (size_t i = 0; i < f; i++) x[i] = o->theta[o->free[i]];
    CR_TRY(objective(o, x, f, &height, g));
    out->gradient = 0;
    for (size_t i = 0; i < f; i++) {
        bool bound = (x[i] <= o->lower[i] && g[i] > 0) || (x[i] >= o->upper[i] && g[i] < 0);
        if (!bound) out->gradient = fmax(out->gradient, fabs(g[i]));
    }
    CR_TRY(difference(o, x, work, H));
    spread(o, x);
    for (size_t i = 0; i < f * f; i++)
        if (!isfinite(H[i])) goto done;
    st = cr_chol(o->t->cx, cr_mat_of(H, f, f));
    if (st == CR_ENUMERIC) { /* no maximum: no errors */
        st = CR_OK;
        goto done;
    }
    CR_TRY(st);
    memcpy(work, g, f * sizeof *work);
    CR_TRY(cr_chol_solve(o->t->cx, cr_cmat_of(H, f, f), cr_mat_of(work, f, 1)));
    CR_TRY(cr_chol_inverse(o->t->cx, cr_cmat_of(H, f, f), cr_mat_of(H, f, f)));
    out->gain = 0;
    for (size_t i = 0; i < f; i++) {
        out->gain += 0.5 * g[i] * work[i];
        for (size_t j = 0; j < f; j++) out->covariance[o->free[i] * n + o->free[j]] = H[i * f + j];
    }
done:
    return st;
}

/* The gradient is as small as was asked for, or as rounding lets it be, although a long step along a ridge, or beyond a
 * bound, would gain something. */
static bool is_flat(const cri_kalman_best *b, double tol)
{
    return b->gradient <= fmax(tol, 1e-6) * fmax(1, fabs(b->log_likelihood));
}

/* --- the search ------------------------------------------------------------------------------ */

/* Runs on from theta until no variance goes to 0 or comes back. */
static cr_status settle(cr_scratch *s, part_of *o, size_t max_iter, double tol,
                        cri_kalman_best *out, bool *out_limit)
{
    cr_status          st = CR_OK;
    size_t             n = o->t->plan->n_theta, changed = 1;
    double            *x = cr_scratch_f64(s, n), *slope = cr_scratch_f64(s, n);
    double            *work = cr_scratch_f64(s, n), *gradient = cr_scratch_f64(s, n);
    cr_minimize_report report = { 0 };
    CR_TRY(s->status);
    for (size_t round = 0; changed > 0 && round < MOST_ROUNDS; round++) {
        o->late = o->late || cri_time_left(o->t->cx) < (LAST_PASS + ROUND * (double)n) * o->seconds;
        if (o->late) break;
        size_t dropped, raised = 0;
        st = drop_small(o->t, o->theta, work, &out->log_likelihood, &dropped);
        if (st == CR_OK && dropped == 0)
            st = raise_zeros(o->t, o->theta, gradient, slope, work, &raised);
        o->late = cri_is_late(o->t->cx, st);
        if (o->late) st = CR_OK;
        CR_TRY(st);
        changed = dropped + raised;
        if (changed == 0) break;
        CR_TRY(ascend(s, o, max_iter, tol, x, &out->log_likelihood, &report));
        out->iterations += report.iterations;
        *out_limit = report.stop == CR_END_MAX_ITER;
    }
done:
    return st;
}

cr_status cri_kalman_search(cr_scratch *s, cri_kalman_target *t, bool em, size_t restarts,
                            size_t max_iter, double tol, uint64_t seed, cri_kalman_best *out)
{
    cr_status       st = CR_OK;
    size_t          n = t->plan->n_theta, found = 0, wanted = cri_kalman_most_starts(restarts);
    cri_kalman_best b = { .log_likelihood = -INFINITY };
    part_of         o = { .t = t, .timed = true, .clock = cri_clock_start(t->cx, NAN) };
    double         *starts = cr_scratch_matrix(s, wanted, n), *heights = cr_scratch_f64(s, wanted);
    double         *x = cr_scratch_f64(s, n), *ends = cr_scratch_f64(s, wanted);
    bool            limit = false;
    cri_kalman_em   steps;
    o.theta = cr_scratch_f64(s, n);
    o.gradient = cr_scratch_f64(s, n);
    o.free = cr_scratch_index(s, n);
    o.lower = cr_scratch_f64(s, n);
    o.upper = cr_scratch_f64(s, n);
    o.highest_x = cr_scratch_f64(s, n);
    b.theta = cr_scratch_f64(s, n);
    b.covariance = cr_scratch_matrix(s, n, n);
    CR_TRY(s->status);
    if (em) CR_TRY(cri_kalman_em_new(s, t, max_iter, &steps));
    o.opt_em = em ? &steps : NULL;
    double    left = cri_time_left(t->cx); /* a quarter of it for the candidates */
    cri_clock early = cri_clock_start(t->cx, isinf(left) ? NAN : left / 4);
    CR_TRY(cri_kalman_starts(t, wanted, seed, &early, starts, heights, x, &found));
    if (found == 0)
        CR_TRY(
            cr_fail(t->cx, CR_ENUMERIC,
                    "the parts describe the series without error: there is no variance to learn"));
    bool settled = false; /* two runs agree, and there is no reason for other optima */
    for (size_t k = 0; k < found && !o.late && !settled; k++) {
        cr_minimize_report report;
        memcpy(o.theta, starts + k * n, n * sizeof(double));
        ends[k] = heights[k];
        CR_TRY(ascend(s, &o, max_iter, tol, x, &ends[k], &report));
        b.starts++;
        b.iterations += report.iterations;
        for (size_t j = 0; j < k && !t->plan->dynamic; j++)
            settled = settled || fabs(ends[j] - ends[k]) <= close;
        if (!(ends[k] > b.log_likelihood)) continue;
        b.log_likelihood = ends[k];
        limit = report.stop == CR_END_MAX_ITER;
        memcpy(b.theta, o.theta, n * sizeof(double));
    }
    double first = b.log_likelihood;
    for (size_t k = 0; k < b.starts; k++) b.agreed += ends[k] >= first - close;
    memcpy(o.theta, b.theta, n * sizeof(double));
    CR_TRY(settle(s, &o, max_iter, tol, &b, &limit));
    list_free(&o);
    bool late = o.late;
    o.timed = o.late = false; /* the Hessian is a few evaluations more */
    memcpy(b.theta, o.theta, n * sizeof(double));
    st = curve(s, &o, &b);
    late |= cri_is_late(t->cx, st);
    CR_TRY(late ? CR_OK : st);
    b.stop = late                                  ? CR_STOP_TIME
             : b.gain <= 1e-5 || is_flat(&b, tol)  ? CR_STOP_TOLERANCE
             : limit                               ? CR_STOP_LIMIT
             : isnan(b.gain) && b.gradient <= 1e-4 ? CR_STOP_TOLERANCE
                                                   : CR_STOP_NO_PROGRESS;
    *out = b;
done:
    return st;
}
