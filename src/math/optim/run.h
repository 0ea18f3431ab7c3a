/* run.h -- a minimisation under way: what all methods of cr_minimize share.
 * The current point is (x, f, g), the point being tried (trial_x, trial_f, trial_g); accepting a
 * trial swaps them.  A method is a function that steps until cri_run_accept says that the run is
 * over, or sets report->stop itself.  (Internal header.) */
#ifndef CREDENCE_MATH_OPTIM_RUN_H
#define CREDENCE_MATH_OPTIM_RUN_H

#include "base/context_internal.h"
#include "base/scratch.h"
#include "line_search.h"
#include "minimize.h"

typedef struct cri_run {
    cr_ctx                    *cx;
    const cr_problem          *problem;
    const cr_minimize_options *options;
    cr_minimize_report        *report;
    cr_scratch                *scratch;
    size_t                     n;
    double                    *x, *g, *trial_x, *trial_g; /* [n]; gradients NULL when not used */
    double                     f, trial_f;
    cri_clock                  clock;
    bool                       refused; /* the last call returned CR_ENUMERIC                  */
    double                    *shifted; /* [n]: x for differences; NULL until needed          */
} cri_run;

/* What a method can do; cr_minimize refuses the rest. */
typedef struct cri_method {
    cr_status (*minimize)(cri_run *run);
    bool bounds, gradient; /* works with bounds; needs the gradient */
} cri_method;

cr_status cri_minimize_lbfgs(cri_run *run);
cr_status cri_minimize_bfgs(cri_run *run);
cr_status cri_minimize_newton(cri_run *run);
cr_status cri_minimize_cg(cri_run *run);
cr_status cri_minimize_gradient(cri_run *run);
cr_status cri_minimize_coordinate(cri_run *run);
cr_status cri_minimize_simplex(cri_run *run);
cr_status cri_minimize_brent(cri_run *run);

/* *out_f = f(x), opt_g [n] its gradient, by differences when the problem has none.  NaN stands for
 * no value.  Fails as the objective does. */
cr_status cri_run_evaluate(cri_run *run, const double *x, double *out_f, double *opt_g);
/* out_h [n x n] at x: given, or by forward differences of the gradient g at x. */
cr_status cri_run_hessian(cri_run *run, const double *x, const double *g, double *out_h);

/* x_i moved into the box. */
double cri_run_clamp(const cri_run *run, size_t i, double x);
double cri_run_lower(const cri_run *run, size_t i);
double cri_run_upper(const cri_run *run, size_t i);
/* The largest |x_i - clamp(x_i - g_i)|: 0 exactly at the points that satisfy the KKT conditions. */
double cri_run_projected_norm(const cri_run *run);

/* true when an option says that the start is already the end, or the limits are reached. */
bool cri_run_at_end(cri_run *run);
/* The trial becomes the current point: counts the step, traces f, shows `step` to the observer
 * (which may hold zeros but for what the run knows).  Then tells whether the run is over, with the
 * reason in report->stop. */
bool cri_run_accept(cri_run *run, cr_step step);
/* Adds the value after report->iterations steps to the trace. */
void cri_trace_add(cr_minimize_report *report, double f);
/* Once per step: interrupt and progress. */
cr_status cri_run_tick(cri_run *run);

/* Searches along d [n] from the current point for a trial that satisfies the strong Wolfe
 * conditions, beginning with the step `first`, at most `most`.  *out_step is for cri_run_accept.
 * *out_found is false when no step lowers f; there is no trial then. */
cr_status cri_run_search(cri_run *run, const double *d, double first, double most, double curvature,
                         cr_step *out_step, bool *out_found);

/* The curvature constant of the options, or `fallback`. */
double cri_run_curvature(const cri_run *run, double fallback);

#endif
