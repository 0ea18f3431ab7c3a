/* gp_optimiser.c -- one evaluation, one run of the optimiser. */
#include "gp_optimiser.h"
#include "base/context_internal.h"
#include "base/clock.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum {
    FIRST = 20,     /* evaluations that a search has at least, while there is time   */
    LARGE = 600,    /* from so many rows on a gain of 1e-4 is none                       */
    MEMORY = 50,    /* pairs: what they cost is nothing against an evaluation            */
    USUAL = 12,     /* evaluations after which a search is reported as half done: of many rows, */
    USUAL_FEW = 400 /* of few                                                              */
};
static const double FAR = 2;        /* units of a length-scale */
static const double FIRST_STEP = 1; /* of logarithms, where many runs begin far off */
static const double FLAT = 1e-4;    /* a gradient, as a part of the value: the optimum is reached */
static const double LEVEL = 3e-4;   /* the same, where the value has ceased to rise           */

cr_status cri_gp_optimiser_begin(cr_scratch *s, const cri_gp_learning *learning, const cr_kernel *k,
                                 double noise, cri_gp_optimiser *out)
{
    cr_status        st = CR_OK;
    size_t           width = cr_kernel_theta_size(k) + 1;
    cri_gp_optimiser r = { .cx = s->cx,
                           .reserve = 0.5 * cri_time_left(s->cx),
                           .learning = learning,
                           .problem = learning->problem,
                           .objective = learning->objective,
                           .workspace = learning->workspace,
                           .noise = noise,
                           .x = cr_scratch_f64(s, width),
                           .gradient = cr_scratch_f64(s, width),
                           .seen = cr_scratch_f64(s, 2 * width),
                           .best = cr_scratch_f64(s, width) };
    *out = r;
    CR_TRY(s->status);
    CR_TRY(cri_gp_space_new(s, k, learning->problem, learning->variance, noise,
                            learning->learn_noise, &r.space));
    CR_TRY(cr_kernel_copy(s->cx, k, &r.k));
    *out = r;
done:
    return st;
}

void cri_gp_optimiser_end(cri_gp_optimiser *r)
{
    cr_kernel_free(r->cx, r->k);
    r->k = NULL;
}

/* --- one evaluation -------------------------------------------------------------------------- */

static void remember(cri_gp_optimiser *r, const double *x, double value, const double *gradient)
{
    const cri_gp_space *u = &r->space;
    memcpy(r->seen, x, u->size * sizeof *x);
    memcpy(r->seen + u->p + 1, gradient, (u->p + 1) * sizeof *gradient);
    r->seen_value = value;
    r->seen_problem = r->problem;
}

static bool recall(const cri_gp_optimiser *r, const double *x, double *out_value,
                   double *opt_gradient)
{
    const cri_gp_space *u = &r->space;
    if (r->seen_problem != r->problem || memcmp(x, r->seen, u->size * sizeof *x) != 0) return false;
    *out_value = r->seen_value;
    if (opt_gradient) memcpy(opt_gradient, r->seen + u->p + 1, (u->p + 1) * sizeof *opt_gradient);
    return true;
}

/* How long an evaluation of so many rows takes, from the fastest of those of fewer: exact ones of a few
 * hundred rows are not yet all cubes, and those of sparse methods take longer than the exact ones of
 * the search. */
static double expected_seconds(const cri_gp_optimiser *r, size_t rows)
{
    bool   dense = r->learning->objective == r->learning->search_objective;
    double ratio = r->timed_rows ? (double)rows / (double)r->timed_rows : 0;
    if (ratio <= 1) return r->timed_seconds;
    return r->timed_seconds * (dense ? pow(ratio, 2.5) : 3 * ratio);
}

/* Keeps the fastest of the evaluations of as many rows: the first one also warms up. */
static void keep_seconds(cri_gp_optimiser *r, double seconds)
{
    size_t rows = r->problem->data->n;
    r->timed_seconds = rows == r->timed_rows ? fmin(seconds, r->timed_seconds) : seconds;
    r->timed_rows = rows;
}

/* true when what is left of the time is needed for the rest of the fit, which takes about as long
 * as three evaluations of all rows, and a fifth of the time in any case, or three fifths with chains. */
static bool is_late(cri_gp_optimiser *r)
{
    double left = cri_time_left(r->cx), share = r->learning->chains ? 1.2 : 0.4;
    if (isinf(left) || r->best_rows == 0) return false;
    if (r->evaluations < FIRST && left > r->reserve) return false; /* too little is known */
    double next = expected_seconds(r, r->problem->data->n);
    double rest = fmax(3 * expected_seconds(r, r->learning->problem->data->n), share * r->reserve);
    return left < 1.2 * next + rest;
}

bool cri_gp_is_hopeless(const cri_gp_optimiser *r)
{
    return expected_seconds(r, r->learning->problem->data->n) > 3 * cri_time_left(r->cx);
}

static void keep_best(cri_gp_optimiser *r, const double *x, double value)
{
    size_t rows = r->problem->data->n;
    if (rows < r->best_rows || (rows == r->best_rows && value <= r->best_value)) return;
    memcpy(r->best, x, r->space.size * sizeof *x);
    r->best_value = value;
    r->best_rows = rows;
}

/* An evaluation is over.  How many there will be is not known. */
static void report_progress(cri_gp_optimiser *r)
{
    double rows = (double)r->learning->problem->data->n;
    bool   many = r->learning->problem->data->n > r->learning->search_rows;
    r->evaluations++;
    r->work += pow((double)r->problem->data->n / rows, 2);
    cri_progress_part(r->cx, r->work / (r->work + (many ? USUAL : USUAL_FEW)));
}

cr_status cri_gp_evaluate(cri_gp_optimiser *r, const double *x, double *out_value,
                          double *opt_gradient)
{
    cr_status           st = CR_OK;
    const cri_gp_space *u = &r->space;
    double              noise = u->size > u->p ? exp(x[u->p]) : r->noise;
    CR_TRY(cr_check_interrupt(r->cx));
    if (recall(r, x, out_value, opt_gradient)) goto done;
    if (is_late(r)) {
        r->expired = true;
        CR_TRY(cr_fail(r->cx, CR_ENOMEM, "the time limit is reached"));
    }
    CR_TRY(cr_kernel_set_theta(r->cx, r->k, x));
    double begun = cri_seconds();
    CR_TRY(r->objective(r->cx, r->workspace, r->problem, r->k, noise, out_value, opt_gradient));
    keep_seconds(r, cri_seconds() - begun);
    report_progress(r);
    *out_value += cri_gp_log_prior(r->learning->prior, r->k, x, opt_gradient);
    if (!isfinite(*out_value))
        CR_TRY(cr_fail(r->cx, CR_ENUMERIC, "gp: the log evidence with the priors is not finite"));
    keep_best(r, x, *out_value);
    if (opt_gradient) remember(r, x, *out_value, opt_gradient);
done:
    r->refused += st == CR_ENUMERIC;
    return st;
}

cr_status cri_gp_try(cri_gp_optimiser *r, const double *x, bool with_gradient, double *out_value)
{
    cr_status st = cri_gp_evaluate(r, x, out_value, with_gradient ? r->gradient : NULL);
    if (st == CR_ENUMERIC) *out_value = -INFINITY, st = CR_OK;
    return st;
}

/* --- one run --------------------------------------------------------------------------------- */

static double far_length(const cri_gp_space *u, size_t j) { return u->unit[j] + log(FAR); }

double cri_gp_to_t(const cri_gp_space *u, size_t j, double x)
{
    return u->kind[j] == CRI_GP_LENGTH ? asinh(exp(far_length(u, j) - x)) : x;
}

double cri_gp_from_t(const cri_gp_space *u, size_t j, double t)
{
    return u->kind[j] == CRI_GP_LENGTH ? far_length(u, j) - log(sinh(t)) : t;
}

double cri_gp_slope_of_t(const cri_gp_space *u, size_t j, double t, double *opt_second)
{
    bool length = u->kind[j] == CRI_GP_LENGTH;
    if (opt_second) *opt_second = length ? 1 / pow(sinh(t), 2) : 0;
    return length ? -1 / tanh(t) : 1;
}

static cr_status objective(void *user, const double *t, size_t n, double *out_f,
                           double *opt_gradient)
{
    cri_gp_optimiser   *r = user;
    const cri_gp_space *u = &r->space;
    double              value = 0;
    for (size_t j = 0; j < u->size; j++) {
        double x = r->base                ? r->base[j] + t[u->tie[j]]
                   : t[j] == r->from_t[j] ? r->from_x[j]
                                          : cri_gp_from_t(u, j, t[j]);
        r->x[j] = fmin(fmax(x, u->lower[j]), u->upper[j]);
    }
    cr_status st = cri_gp_evaluate(r, r->x, &value, opt_gradient ? r->gradient : NULL);
    if (st != CR_OK) return st;
    *out_f = -value;
    if (!opt_gradient) return CR_OK;
    for (size_t i = 0; i < n; i++) opt_gradient[i] = 0;
    for (size_t j = 0; j < u->size; j++)
        opt_gradient[r->base ? u->tie[j] : j] -=
            r->gradient[j] * (r->base ? 1 : cri_gp_slope_of_t(u, j, t[j], NULL));
    return CR_OK;
}

/* Bounds of the ties: as far as any of their parameters may go. */
static void tie_bounds(const cri_gp_space *u, const double *base, double *lower, double *upper)
{
    for (size_t t = 0; t < u->ties; t++) lower[t] = -INFINITY, upper[t] = INFINITY;
    for (size_t j = 0; j < u->size; j++) {
        size_t t = u->tie[j];
        lower[t] = fmax(lower[t], u->lower[j] - base[j]);
        upper[t] = fmin(upper[t], u->upper[j] - base[j]);
    }
}

cr_stop cri_gp_stop(const cr_minimize_report *r)
{
    bool   limit = r->stop == CR_END_MAX_ITER || r->stop == CR_END_MAX_EVALUATIONS;
    double small = r->stop == CR_END_F ? LEVEL : FLAT;
    bool   flat = r->gradient_norm <= small * fmax(1, fabs(r->f));
    if (r->stop == CR_END_TIME) return CR_STOP_TIME;
    return limit ? CR_STOP_LIMIT : flat ? CR_STOP_TOLERANCE : CR_STOP_NO_PROGRESS;
}

/* Where a run begins, and its box, by t or by ties. */
static void set_out(cri_gp_optimiser *r, const double *base, double *t, double *lower,
                    double *upper)
{
    const cri_gp_space *u = &r->space;
    if (r->base) tie_bounds(u, base, lower, upper);
    for (size_t j = 0; !r->base && j < u->size; j++) {
        double a = cri_gp_to_t(u, j, u->lower[j]), b = cri_gp_to_t(u, j, u->upper[j]);
        t[j] = cri_gp_to_t(u, j, base[j]);
        lower[j] = fmin(a, b);
        upper[j] = fmax(a, b);
    }
}

static cr_minimize_options options_of(const cri_gp_optimiser *r, cri_gp_care care, size_t max_iter)
{
    cr_minimize_options o = cr_minimize_defaults();
    bool                large = r->learning->rough || r->problem->data->n > LARGE;
    o.max_iter = max_iter;
    o.time_limit = INFINITY; /* evaluations keep the time: is_late */
    o.memory = MEMORY;
    o.gradient_tolerance = care == CRI_GP_ROUGH ? 3e-4 : large ? 3e-5 : 1e-6;
    o.f_tolerance = care == CRI_GP_ROUGH ? 1e-6 : large ? 5e-8 : 1e-10;
    return o;
}

cr_status cri_gp_ascend(cri_gp_optimiser *r, bool tied, cri_gp_care care, size_t most,
                        const double *opt_curvature, cri_gp_point *point)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(r->cx);
    const cri_gp_space *u = &r->space;
    double             *t = cr_scratch_bytes(&s, u->size, sizeof(double)); /* ties at 0 */
    double             *lower = cr_scratch_f64(&s, u->size), *upper = cr_scratch_f64(&s, u->size);
    double             *base = cr_scratch_f64(&s, u->size), *from = cr_scratch_f64(&s, u->size);
    size_t              left = r->learning->max_iter - point->iterations;
    cr_minimize_options o = options_of(r, care, most < left ? most : left);
    cr_minimize_report  done_report;
    cr_problem          problem = { .n = tied ? u->ties : u->size,
                                    .objective = objective,
                                    .curvature = opt_curvature,
                                    .first_step = r->learning->screen_rows ? FIRST_STEP : 0,
                                    .lower = lower,
                                    .upper = upper,
                                    .user = r };

    CR_TRY(s.status);
    memcpy(base, point->x, u->size * sizeof *base);
    r->base = tied ? base : NULL;
    set_out(r, base, t, lower, upper);
    memcpy(from, t, u->size * sizeof *t);
    /* With many rows rounding puts the value off by about that much, and no line search ends. */
    if (r->problem->data->n > LARGE) problem.f_error = o.f_tolerance * fmax(1, fabs(point->value));
    r->from_x = base;
    r->from_t = from;
    CR_TRY(cr_minimize(r->cx, &problem, &o, t, &done_report));
    for (size_t j = 0; j < u->size; j++) {
        double x = tied              ? base[j] + t[u->tie[j]]
                   : t[j] == from[j] ? base[j]
                                     : cri_gp_from_t(u, j, t[j]);
        point->x[j] = fmin(fmax(x, u->lower[j]), u->upper[j]);
    }
    point->value = -done_report.f;
    point->iterations += done_report.iterations;
    point->stop = cri_gp_stop(&done_report);
done:
    r->base = NULL;
    cr_scratch_end(&s);
    return st;
}

/* --- rivals ---------------------------------------------------------------------------------- */

enum { GLANCE = 12 };              /* steps before a start is given up */
static const double ENOUGH = 0.01; /* nats: a gain that counts                         */
static const double LACK = 2;   /* nats below the best after GLANCE steps: may still overtake it */
static const double NEAR = 0.4; /* of every log parameter: it returns to the same optimum */

/* true when the run at z returns to x. */
static bool returns(const cri_gp_space *u, const double *z, const double *x)
{
    for (size_t j = 0; j < u->size; j++)
        if (fabs(z[j] - x[j]) > NEAR) return false;
    return true;
}

bool cri_gp_may_ascend(const cri_gp_optimiser *r, const cri_gp_point *point)
{
    return point->iterations < r->learning->max_iter;
}

cr_status cri_gp_ascend_rival(cri_gp_optimiser *r, cri_gp_point *to, cri_gp_point *best,
                              bool *out_higher)
{
    cr_status st = CR_OK;
    double   *x = best->x;
    CR_TRY(cri_gp_ascend(r, false, CRI_GP_ROUGH, GLANCE, NULL, to));
    if (to->value > best->value - LACK &&
        !(to->value < best->value && returns(&r->space, to->x, x)))
        CR_TRY(cri_gp_ascend(r, false, CRI_GP_ROUGH, r->learning->max_iter, NULL, to));
    *out_higher = to->value > best->value + ENOUGH;
    if (!*out_higher) goto done;
    memcpy(x, to->x, r->space.size * sizeof *x);
    *best = *to;
    best->x = x;
done:
    return st;
}
