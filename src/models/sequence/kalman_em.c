/* kalman_em.c -- see kalman_em.h. */
#include "kalman_em.h"
#include "math/optim/anderson.h"

#include <math.h>
#include <string.h>

enum { DIFFERENCES = 6, LEAST = 2 };

/* Logarithms of variances below this are 0 to all digits. */
static const double lowest = -40;

cr_status cri_kalman_em_check(cr_ctx *cx, const cri_kalman_plan *plan)
{
    for (size_t k = 0; k < plan->n_parts; k++) {
        const cri_kalman_part *part = &plan->parts[k];
        bool                   cycle = part->kind == CRI_KALMAN_CYCLE;
        if (!cycle && part->p + part->q == 0) continue;
        cr_fail(cx, CR_EUNSUPPORTED, "--infer em learns variances alone, and '%s' has %s",
                part->name, cycle ? "a damping and a period" : "coefficients");
        return cr_fail_hint(cx, "--infer ml learns them all");
    }
    return CR_OK;
}

/* How many shocks each variance has: of the steps, or, between whole steps, of the gaps. */
static void count_shocks(const cri_kalman_target *t, double *shocks)
{
    const cri_kalman_plan *plan = t->plan;
    const cri_kalman_data *data = &t->data;
    double                 values = 0, steps = 0;
    for (size_t i = 0; i < data->n; i++) values += !isnan(data->y[i]);
    for (size_t k = 0; k < data->series; k++)
        for (size_t i = data->start[k] + 1; i < data->start[k + 1]; i++) {
            double gap = data->step ? t->system.steps[data->step[i]].gap : 1;
            steps += plan->between ? gap > 0 : gap;
        }
    for (size_t k = 0; k < plan->n_parts; k++) {
        const cri_kalman_part *part = &plan->parts[k];
        for (size_t i = 0; i < part->count; i++)
            shocks[part->theta + i] = part->kind == CRI_KALMAN_IRREGULAR ? values : steps;
        if (part->kind == CRI_KALMAN_TREND && plan->between)
            shocks[part->theta + 1] = 2 * steps; /* of the slope, and of its integral */
    }
}

cr_status cri_kalman_em_new(cr_scratch *s, cri_kalman_target *t, size_t most, cri_kalman_em *out)
{
    size_t        n = t->plan->n_theta;
    cri_kalman_em em = { .t = t, .most = most };
    double      **arrays[] = {
             &em.shocks, &em.from, &em.to, &em.next, &em.gradient, &em.slope, &em.ahead
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i] = cr_scratch_f64(s, n);
    em.free = cr_scratch_index(s, n);
    if (s->status != CR_OK) return s->status;
    count_shocks(t, em.shocks);
    *out = em;
    return CR_OK;
}

/* to = the step from `from`, whose gradient and slopes are at hand. */
static void step(cri_kalman_em *em)
{
    const cri_kalman_plan *plan = em->t->plan;
    memcpy(em->to, em->from, plan->n_theta * sizeof *em->to);
    for (size_t i = 0; i < plan->n_theta; i++) {
        double v = exp(em->from[i]), now = v + 2 * v * v * em->slope[i] / em->shocks[i];
        if (isinf(em->from[i]) || !(em->shocks[i] > 0)) continue;
        em->to[i] = fmax(now > 0 ? log(now) : lowest, lowest);
    }
}

/* Whether the gradient is 0 at `from`, but for variances that are as good as 0. */
static bool is_over(const cri_kalman_em *em, double height, double tol)
{
    for (size_t k = 0; k < em->n_free; k++) {
        size_t i = em->free[k];
        bool   bound = em->from[i] <= lowest && em->gradient[i] < 0;
        if (!bound && fabs(em->gradient[i]) > tol * fmax(1, fabs(height))) return false;
    }
    return true;
}

/* A point among the free parameters, and back. */
static void pack(const cri_kalman_em *em, const double *theta, double *out)
{
    for (size_t k = 0; k < em->n_free; k++) out[k] = theta[em->free[k]];
}

/* The extrapolated point into next; false where there is none. */
static cr_status leap(cri_kalman_em *em, cri_anderson *a, double *x, double *g, bool *out_there)
{
    cr_status st = CR_OK;
    *out_there = false;
    pack(em, em->from, x);
    pack(em, em->to, g);
    cri_anderson_note(a, x, g);
    if (a->k < LEAST && a->k < a->m) goto done;
    CR_TRY(cri_anderson_next(em->t->cx, a, g));
    memcpy(em->next, em->to, em->t->plan->n_theta * sizeof *g);
    for (size_t k = 0; k < em->n_free; k++) em->next[em->free[k]] = fmax(g[k], lowest);
    *out_there = true;
done:
    return st;
}

cr_status cri_kalman_em_run(cr_scratch *s, cri_kalman_em *em, double tol,
                            const cri_clock *opt_clock, double *theta, double *out_height,
                            size_t *out_steps)
{
    cr_status    st = CR_OK;
    size_t       n = em->t->plan->n_theta, steps = 0;
    double       height, now, *x = cr_scratch_f64(s, n), *g = cr_scratch_f64(s, n);
    cri_anderson a;
    em->n_free = 0;
    for (size_t i = 0; i < n; i++)
        if (!isinf(theta[i])) em->free[em->n_free++] = i;
    cri_anderson_begin(s, em->n_free, em->n_free < DIFFERENCES ? em->n_free : DIFFERENCES, &a);
    CR_TRY(s->status);
    cri_anderson_forget(&a);
    memcpy(em->from, theta, n * sizeof *theta);
    double seconds = cri_seconds();
    CR_TRY(cri_kalman_evaluate(em->t, em->from, &height, em->gradient, em->slope));
    seconds = cri_seconds() - seconds;
    if (em->opt_trace) em->opt_trace[0] = height;
    while (steps < em->most && !isnan(height) && !is_over(em, height, tol)) {
        bool leapt;
        if (opt_clock && cri_kalman_late(em->t->cx, opt_clock, seconds)) break;
        step(em);
        CR_TRY(leap(em, &a, x, g, &leapt));
        if (leapt) {
            st = cri_kalman_evaluate(em->t, em->next, &now, em->ahead, em->slope);
            if (cri_is_late(em->t->cx, st)) break;
            CR_TRY(st);
            leapt = now >= height;
            if (!leapt) cri_anderson_forget(&a);
        }
        if (!leapt) {
            memcpy(em->next, em->to, n * sizeof *theta);
            st = cri_kalman_evaluate(em->t, em->next, &now, em->ahead, em->slope);
            if (cri_is_late(em->t->cx, st)) break;
            CR_TRY(st);
            if (!(now >= height - 1e-10 * fabs(height))) break; /* no more but rounding */
        }
        memcpy(em->from, em->next, n * sizeof *theta);
        memcpy(em->gradient, em->ahead, n * sizeof *theta);
        height = now;
        steps++;
        if (em->opt_trace) em->opt_trace[steps] = height;
    }
    st = CR_OK;
    memcpy(theta, em->from, n * sizeof *theta);
    *out_height = height;
    *out_steps = steps;
done:
    return st;
}
