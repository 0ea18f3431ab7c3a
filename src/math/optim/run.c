/* run.c -- evaluate, search, accept, stop: the steps that the methods of cr_minimize share. */
#include "run.h"
#include "base/context_internal.h"
#include "differences.h"
#include "base/clock.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { LINE_EVALUATIONS = 60 };

/* --- the box --------------------------------------------------------------------------------- */

double cri_run_lower(const cri_run *run, size_t i)
{
    return run->problem->lower ? run->problem->lower[i] : -INFINITY;
}

double cri_run_upper(const cri_run *run, size_t i)
{
    return run->problem->upper ? run->problem->upper[i] : INFINITY;
}

double cri_run_clamp(const cri_run *run, size_t i, double x)
{
    double low = cri_run_lower(run, i), high = cri_run_upper(run, i);
    return x < low ? low : x > high ? high : x;
}

double cri_run_projected_norm(const cri_run *run)
{
    double most = 0;
    for (size_t i = 0; i < run->n; i++) {
        double g = run->g[i], workspace = g > 0 ? run->x[i] - cri_run_lower(run, i)
                                                : cri_run_upper(run, i) - run->x[i];
        double size = fmin(fabs(g), workspace);
        if (isnan(g)) return NAN;
        if (size > most) most = size;
    }
    return most;
}

/* --- evaluation ------------------------------------------------------------------------------ */

/* One call of the objective: counted; CR_ENUMERIC becomes NaN. */
static cr_status call(void *arg, const double *x, double *out_f, double *opt_g)
{
    cri_run          *run = arg;
    const cr_problem *p = run->problem;
    double            f = NAN;
    run->report->f_evaluations++;
    if (opt_g) run->report->g_evaluations++;
    cr_status st = p->objective(p->user, x, run->n, &f, opt_g);
    run->refused = st == CR_ENUMERIC;
    if (run->refused) {
        *out_f = NAN;
        for (size_t i = 0; opt_g && i < run->n; i++) opt_g[i] = NAN;
        return CR_OK;
    }
    if (st != CR_OK) {
        if (cr_error_status(run->cx) != st) cr_fail(run->cx, st, "minimize: the objective failed");
        return st;
    }
    *out_f = f;
    return CR_OK;
}

static cr_status call_value(void *arg, const double *x, double *out_f)
{
    return call(arg, x, out_f, NULL);
}

static cr_status call_gradient(void *arg, const double *x, double *out_g)
{
    double f;
    return call(arg, x, &f, out_g);
}

/* The run's copy of x for differences, allocated when first needed. */
static cr_status prepare_shifted(cri_run *run, const double *x)
{
    if (!run->shifted) run->shifted = cr_scratch_f64(run->scratch, run->n);
    if (run->scratch->status != CR_OK) return run->scratch->status;
    memcpy(run->shifted, x, run->n * sizeof *x);
    return CR_OK;
}

cr_status cri_run_evaluate(cri_run *run, const double *x, double *out_f, double *opt_g)
{
    if (!opt_g || !run->problem->no_gradient) return call(run, x, out_f, opt_g);
    cr_status st = CR_OK;
    CR_TRY(call(run, x, out_f, NULL));
    if (!isfinite(*out_f)) {
        for (size_t i = 0; i < run->n; i++) opt_g[i] = NAN;
        return CR_OK;
    }
    CR_TRY(prepare_shifted(run, x));
    cri_box box = { run->problem->lower, run->problem->upper };
    CR_TRY(cri_difference_gradient(run->cx, call_value, run, run->n, run->shifted, *out_f, box,
                                   opt_g));
done:
    return st;
}

static cr_status evaluate_gradient(void *arg, const double *x, double *out_g)
{
    cri_run *run = arg;
    if (!run->problem->no_gradient) return call_gradient(run, x, out_g);
    double f;
    return cri_run_evaluate(run, x, &f, out_g);
}

cr_status cri_run_hessian(cri_run *run, const double *x, const double *g, double *out_h)
{
    cr_status         st = CR_OK;
    const cr_problem *p = run->problem;
    run->report->h_evaluations++;
    if (p->hessian) {
        st = p->hessian(p->user, x, run->n, out_h);
        if (st != CR_OK && cr_error_status(run->cx) != st)
            cr_fail(run->cx, st, "minimize: the Hessian of the objective failed");
        return st;
    }
    cr_scratch s = cr_scratch_begin(run->cx);
    double    *at = cr_scratch_f64(&s, run->n), *work = cr_scratch_f64(&s, run->n);
    CR_TRY(s.status);
    memcpy(at, x, run->n * sizeof *x);
    CR_TRY(cri_difference_hessian(run->cx, evaluate_gradient, run, run->n, at, g, work, out_h));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- line search ----------------------------------------------------------------------------- */

typedef struct line {
    cri_run      *run;
    const double *d;
} line;

/* phi(a) = f(x + a d), the trial. */
static cr_status walk(void *arg, double a, double *out_f, double *out_slope)
{
    line    *l = arg;
    cri_run *run = l->run;
    bool     boxed = run->problem->lower || run->problem->upper;
    for (size_t i = 0; i < run->n; i++) {
        double x = run->x[i] + a * l->d[i];
        run->trial_x[i] = boxed ? cri_run_clamp(run, i, x) : x;
    }
    cr_status st = cr_check_interrupt(run->cx);
    if (st == CR_OK) st = cri_run_evaluate(run, run->trial_x, &run->trial_f, run->trial_g);
    *out_f = run->trial_f;
    *out_slope = st == CR_OK ? cr_dot(run->trial_g, l->d, run->n) : NAN;
    return st;
}

cr_status cri_run_search(cri_run *run, const double *d, double first, double most, double curvature,
                         cr_step *out_step, bool *out_found)
{
    cr_status        st = CR_OK;
    cri_line_options o = { run->options->decrease, fmax(curvature, 1.01 * run->options->decrease),
                           most, LINE_EVALUATIONS, run->problem->f_error };
    cri_line_point   start = { 0, run->f, cr_dot(run->g, d, run->n) }, end;
    cri_line_result  result;
    line             l = { run, d };
    double           last;

    CR_TRY(cri_line_search(&o, walk, &l, start, first, &end, &last, &result));
    *out_found = result != CRI_LINE_FAILED;
    if (*out_found && last != end.a) CR_TRY(walk(&l, end.a, &end.f, &end.slope));
    *out_step = (cr_step){ .step = end.a,
                           .slope_before = start.slope,
                           .slope = end.slope,
                           .decrease = o.c1,
                           .curvature = o.c2,
                           .cut_short = result != CRI_LINE_WOLFE };
done:
    return st;
}

double cri_run_curvature(const cri_run *run, double fallback)
{
    return isnan(run->options->curvature) ? fallback : run->options->curvature;
}

/* --- the end of a step ----------------------------------------------------------------------- */

/* Keeps every trace_stride-th value; when the room is used up, every other one goes. */
void cri_trace_add(cr_minimize_report *r, double f)
{
    if (r->trace_stride == 0) r->trace_stride = 1;
    if (r->iterations % r->trace_stride != 0) return;
    if (r->trace_length == CR_TRACE_SIZE) {
        for (size_t i = 0; i < CR_TRACE_SIZE / 2; i++) r->trace[i] = r->trace[2 * i];
        r->trace_length = CR_TRACE_SIZE / 2;
        r->trace_stride *= 2;
        if (r->iterations % r->trace_stride != 0) return;
    }
    r->trace[r->trace_length++] = f;
}

static bool end_with(cri_run *run, cr_end why)
{
    run->report->stop = why;
    return true;
}

/* f fell for ever, or the gradient vanishes, or is not a number. */
static bool at_gradient_end(cri_run *run)
{
    cr_minimize_report *r = run->report;
    if (run->f == -INFINITY) return end_with(run, CR_END_UNBOUNDED);
    if (!run->g) return false;
    r->gradient_norm = cri_run_projected_norm(run);
    if (!isfinite(r->gradient_norm)) return end_with(run, CR_END_NOT_FINITE);
    if (r->gradient_norm <= run->options->gradient_tolerance * fmax(1, fabs(run->f)))
        return end_with(run, CR_END_GRADIENT);
    return false;
}

static bool at_limit(cri_run *run)
{
    const cr_minimize_options *o = run->options;
    cr_minimize_report        *r = run->report;
    if (r->iterations >= o->max_iter) return end_with(run, CR_END_MAX_ITER);
    if (r->f_evaluations >= o->max_evaluations) return end_with(run, CR_END_MAX_EVALUATIONS);
    if (cri_clock_over(&run->clock)) return end_with(run, CR_END_TIME);
    return false;
}

bool cri_run_at_end(cri_run *run) { return at_gradient_end(run) || at_limit(run); }

/* The largest move of an x between the points, against max(1, |x|). */
static double largest_move(const cri_run *run)
{
    double most = 0;
    for (size_t i = 0; i < run->n; i++)
        most = fmax(most, fabs(run->trial_x[i] - run->x[i]) / fmax(1, fabs(run->trial_x[i])));
    return most;
}

bool cri_run_accept(cri_run *run, cr_step step)
{
    cr_minimize_report *r = run->report;
    double              before = run->f, f = run->trial_f, *x = run->x, *g = run->g;
    double              moved = run->options->x_tolerance > 0 ? largest_move(run) : INFINITY;

    run->x = run->trial_x, run->trial_x = x;
    run->g = run->trial_g, run->trial_g = g;
    run->f = f;
    r->iterations++;
    cri_trace_add(r, f);
    if (run->problem->observe) {
        step.iteration = r->iterations;
        step.f_before = before;
        step.f = f;
        step.x_before = run->trial_x;
        step.x = run->x;
        run->problem->observe(run->problem->user, &step);
    }
    if (at_gradient_end(run)) return true;
    if (before - f <= run->options->f_tolerance * fmax(1, fmax(fabs(f), fabs(before))))
        return end_with(run, CR_END_F);
    if (moved <= run->options->x_tolerance) return end_with(run, CR_END_X);
    return at_limit(run);
}

cr_status cri_run_tick(cri_run *run)
{
    cri_progress_steps(run->cx, (double)run->report->iterations);
    return cr_check_interrupt(run->cx);
}
