/* minimize.c -- the one door: options, checks, the table of methods. */
#include "run.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

CR_OPTIONS_TABLE(, cr_minimize_table, cr_minimize_options, CR_MINIMIZE_OPTIONS);

static const cri_method methods[] = {
    [CR_METHOD_LBFGS] = { cri_minimize_lbfgs, true, true },
    [CR_METHOD_BFGS] = { cri_minimize_bfgs, false, true },
    [CR_METHOD_NEWTON] = { cri_minimize_newton, false, true },
    [CR_METHOD_CG] = { cri_minimize_cg, false, true },
    [CR_METHOD_GRADIENT] = { cri_minimize_gradient, false, true },
    [CR_METHOD_COORDINATE] = { cri_minimize_coordinate, true, false },
    [CR_METHOD_SIMPLEX] = { cri_minimize_simplex, true, false },
    [CR_METHOD_BRENT] = { cri_minimize_brent, true, false },
};

/* --- options and names ----------------------------------------------------------------------- */

/* Options of numbers and choices alone need no context: their defaults are right. */
cr_minimize_options cr_minimize_defaults(void)
{
    cr_minimize_options o;
    cr_options_init(NULL, cr_minimize_table, &o);
    return o;
}

static const struct {
    const char *name, *text;
} ends[] = {
    [CR_END_GRADIENT] = { "gradient", "converged: the gradient vanishes" },
    [CR_END_F] = { "f", "converged: the objective no longer falls" },
    [CR_END_X] = { "x", "converged: the parameters no longer move" },
    [CR_END_MAX_ITER] = { "max-iter", "not converged: as many steps as allowed were taken" },
    [CR_END_MAX_EVALUATIONS] = { "max-evaluations",
                                 "not converged: the objective was evaluated as often as allowed" },
    [CR_END_TIME] = { "time", "not converged: the time allowed is over" },
    [CR_END_NO_PROGRESS] = { "no-progress", "not converged: no step lowers the objective" },
    [CR_END_UNBOUNDED] = { "unbounded", "not converged: the objective falls without bound" },
    [CR_END_NOT_FINITE] = { "not-finite", "not converged: a derivative is not finite" },
};

const char *cr_end_name(cr_end why) { return ends[why].name; }
const char *cr_end_text(cr_end why) { return ends[why].text; }
bool        cr_end_converged(cr_end why) { return why <= CR_END_X; }

/* --- checks ---------------------------------------------------------------------------------- */

static cr_status check_options(cr_ctx *cx, const cr_minimize_options *o)
{
    if (o->method < CR_METHOD_AUTO || o->method > CR_METHOD_BRENT)
        return cr_fail(cx, CR_EARG, "minimize: there is no method number %d", o->method);
    if (!(o->gradient_tolerance >= 0 && o->f_tolerance >= 0 && o->x_tolerance >= 0))
        return cr_fail(cx, CR_EARG, "minimize: a tolerance is not >= 0");
    if (o->memory < 1 || o->memory > 100)
        return cr_fail(cx, CR_EARG, "minimize: the memory is %zu, not 1..100", o->memory);
    if (!(o->decrease > 0 && o->decrease < 0.5) || o->curvature <= 0 || o->curvature >= 1)
        return cr_fail(cx, CR_EARG, "minimize: the constants of Wolfe are not within (0, 1)");
    return CR_OK;
}

static cr_status check_problem(cr_ctx *cx, const cr_problem *p, const double *x)
{
    for (size_t i = 0; i < p->n; i++) {
        double low = p->lower ? p->lower[i] : -INFINITY, high = p->upper ? p->upper[i] : INFINITY;
        if (!(low <= high) || low == INFINITY || high == -INFINITY)
            return cr_fail(cx, CR_EARG,
                           "minimize: no x lies between the bounds %g and %g of x[%zu]", low, high,
                           i);
        if (!isfinite(x[i]))
            return cr_fail(cx, CR_EARG, "minimize: the start x[%zu] is %g", i, x[i]);
    }
    return CR_OK;
}

static bool has_bounds(const cr_problem *p)
{
    for (size_t i = 0; i < p->n; i++)
        if ((p->lower && p->lower[i] > -INFINITY) || (p->upper && p->upper[i] < INFINITY))
            return true;
    return false;
}

static cr_status choose_method(cr_ctx *cx, const cr_problem *p, const cr_minimize_options *o,
                               int *out_method)
{
    bool between = p->n == 1 && p->no_gradient && p->lower && p->upper && isfinite(p->lower[0]) &&
                   isfinite(p->upper[0]);
    int method = o->method != CR_METHOD_AUTO ? o->method
                 : between                   ? CR_METHOD_BRENT
                                             : CR_METHOD_LBFGS;
    if (method == CR_METHOD_BRENT && p->n > 1) {
        cr_fail(cx, CR_EUNSUPPORTED, "minimize: brent is for one variable, not %zu", p->n);
        return cr_fail_hint(cx, "use simplex or lbfgs");
    }
    if (!methods[method].bounds && has_bounds(p)) {
        cr_fail(cx, CR_EUNSUPPORTED, "minimize: this method does not keep to bounds");
        return cr_fail_hint(cx, "use lbfgs");
    }
    *out_method = method;
    return CR_OK;
}

/* --- the run --------------------------------------------------------------------------------- */

/* Points and values at the start: x moved into the box. */
static cr_status begin(cri_run *run, const double *x)
{
    cr_status st = CR_OK;
    size_t    n = run->n;
    bool      gradient = methods[run->report->method].gradient;

    run->x = cr_scratch_f64(run->scratch, n);
    run->trial_x = cr_scratch_f64(run->scratch, n);
    run->g = gradient ? cr_scratch_f64(run->scratch, n) : NULL;
    run->trial_g = gradient ? cr_scratch_f64(run->scratch, n) : NULL;
    CR_TRY(run->scratch->status);
    run->clock = cri_clock_start(run->cx, run->options->time_limit);
    for (size_t i = 0; i < n; i++) run->x[i] = cri_run_clamp(run, i, x[i]);
    CR_TRY(cr_check_interrupt(run->cx));
    CR_TRY(cri_run_evaluate(run, run->x, &run->f, run->g));
    if (!isfinite(run->f) && run->f != -INFINITY) {
        if (run->refused && cr_error_status(run->cx) == CR_ENUMERIC) /* the objective's sentence */
            CR_TRY(cr_fail(run->cx, CR_ENUMERIC, "minimize: at the start: %s", cr_error(run->cx)));
        cr_fail(run->cx, CR_ENUMERIC, "minimize: the objective is %g at the start", run->f);
        CR_TRY(cr_fail_hint(run->cx, "start elsewhere"));
    }
    cri_trace_add(run->report, run->f);
done:
    return st;
}

cr_status cr_minimize(cr_ctx *cx, const cr_problem *problem, const cr_minimize_options *options,
                      double *x, cr_minimize_report *out_report)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    cr_minimize_options defaults = cr_minimize_defaults();
    cr_minimize_report  report = { .gradient_norm = NAN };
    cri_run             run = { .cx = cx,
                                .problem = problem,
                                .report = &report,
                                .scratch = &s,
                                .options = options ? options : &defaults,
                                .n = problem->n };
    bool                own_bar = false;

    CR_TRY(check_options(cx, run.options));
    CR_TRY(check_problem(cx, problem, x));
    CR_TRY(choose_method(cx, problem, run.options, &report.method));
    own_bar = cri_progress_open_steps(cx, "minimising");
    CR_TRY(begin(&run, x));
    if (run.n == 0)
        report.stop = CR_END_GRADIENT, report.gradient_norm = 0;
    else if (!cri_run_at_end(&run))
        CR_TRY(methods[report.method].minimize(&run));
    report.f = run.f;
    if (run.n > 0) memcpy(x, run.x, run.n * sizeof *x);
    *out_report = report;
done:
    if (own_bar) cri_progress_close(cx);
    cr_scratch_end(&s);
    return st;
}
