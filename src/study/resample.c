/* resample.c -- refits in batches, then quantiles and moments of what they say. */
#include "resample.h"
#include "described.h"
#include "jobs.h"
#include "plan.h"
#include "plan_internal.h"
#include "base/context_internal.h"
#include "base/sort.h"
#include "data/table/subset.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { BATCH = 64, FEWEST = 20 }; /* fits between reports; fits that a time limit must leave */

/* --- refits ---------------------------------------------------------------------------------- */

typedef enum refit_state { REFIT_WAITING, REFIT_MADE, REFIT_FAILED } refit_state;

typedef struct refits {
    const cri_plan *plan;
    size_t          n, K, first; /* rows, parameters; the first of the batch */
    bool            leave_out;   /* one row each; else samples               */
    const size_t   *drawn;       /* [fits x n] or NULL                       */
    char          **names;       /* [K]                                      */
    double         *theta;       /* [fits x K]; NaN where there is none      */
    unsigned char  *state;       /* [fits]                                   */
} refits;

static size_t choose_rows(const refits *r, size_t fit, size_t *rows, size_t *workspace)
{
    size_t n = 0, left;
    if (r->leave_out) {
        for (size_t i = 0; i < r->n; i++)
            if (i != fit) rows[n++] = i;
        return n;
    }
    if (r->drawn)
        memcpy(rows, r->drawn + fit * r->n, r->n * sizeof *rows);
    else
        cr_bootstrap(r->n, r->plan->seed, fit, rows, workspace, &left);
    return r->n;
}

/* Parameters by name: a sample may lack a level, or have its terms in another order. */
static void take_values(const refits *r, const cri_sheet *list, double *theta)
{
    size_t           size = cri_sheet_size(list);
    const cri_sheet *row = NULL;
    for (size_t k = 0; k < r->K; k++) {
        theta[k] = NAN;
        for (size_t tried = 0; tried < size; tried++) {
            row = row && cri_sheet_next(row) ? cri_sheet_next(row) : cri_sheet_first(list);
            if (strcmp(cri_parameter_name(row), r->names[k]) != 0) continue;
            theta[k] = cri_parameter_value(row);
            break;
        }
    }
}

static cr_status run_refit(cr_ctx *cx, void *arg, size_t job)
{
    cr_status            st = CR_OK;
    const refits        *r = arg;
    const cr_model_spec *m = &r->plan->specs[0];
    cr_scratch           s = cr_scratch_begin(cx);
    size_t               fit = r->first + job, n;
    size_t              *rows = cr_scratch_index(&s, r->n), *workspace = cr_scratch_index(&s, r->n);
    cr_table            *part = NULL;
    cr_model            *model = NULL;
    cri_sheet           *sheet = NULL;
    const cri_sheet     *list;
    CR_TRY(s.status);
    n = choose_rows(r, fit, rows, workspace);
    CR_TRY(cri_table_subset(cx, r->plan->table, rows, n, &part));
    st = cr_fit(cx, m->model, part, m->settings, m->n_settings, &model);
    if (st == CR_EDATA || st == CR_ENUMERIC) {
        r->state[fit] = REFIT_FAILED;
        st = CR_OK;
        goto done;
    }
    CR_TRY(st);
    CR_TRY(cri_parameters_of(cx, model, &sheet, &list));
    take_values(r, list, r->theta + fit * r->K);
    r->state[fit] = REFIT_MADE;
done:
    cri_sheet_free(sheet);
    cr_model_free(cx, model);
    cr_table_free(cx, part);
    cr_scratch_end(&s);
    return st;
}

static size_t count_made(const refits *r, size_t fits)
{
    size_t made = 0;
    for (size_t i = 0; i < fits; i++) made += r->state[i] == REFIT_MADE;
    return made;
}

/* A time limit that leaves enough fits is no failure, but of leaving rows out one by one every fit
 * counts. */
static cr_status run_refits(cr_ctx *cx, refits *r, size_t fits)
{
    cr_status st = CR_OK;
    for (r->first = 0; r->first < fits; r->first += BATCH) {
        size_t n = fits - r->first < BATCH ? fits - r->first : BATCH;
        st = cri_run_jobs(cx, "resampling", n, run_refit, r);
        bool late = st == CR_ENOMEM && cr_check_interrupt(cx) == CR_ENOMEM;
        if (late && !r->leave_out && count_made(r, fits) >= FEWEST) {
            cr_log(cx, CR_LOG_WARNING,
                   "the time limit ended the resampling: %zu of %zu samples were fitted",
                   count_made(r, fits), fits);
            return CR_OK;
        }
        CR_TRY(st);
        cr_progress(cx, "resampling", (double)(r->first + n), (double)fits);
    }
done:
    return st;
}

/* --- what they say --------------------------------------------------------------------------- */

/* The finite values of parameter k, in the order of the fits. */
static size_t gather(const refits *r, size_t fits, size_t k, double *x)
{
    size_t n = 0;
    for (size_t i = 0; i < fits; i++)
        if (r->state[i] == REFIT_MADE && isfinite(r->theta[i * r->K + k]))
            x[n++] = r->theta[i * r->K + k];
    return n;
}

static double mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] - x[0];
    return n ? x[0] + sum / (double)n : NAN;
}

/* Quantile of sorted x [n], between neighbours linearly (type 7 of Hyndman & Fan 1996). */
static double quantile(const double *x, size_t n, double p)
{
    if (n == 0 || isnan(p)) return NAN;
    double at = p * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? x[i] + (at - (double)i) * (x[i + 1] - x[i]) : x[n - 1];
}

/* a of bca; 0 where nothing varies. */
static double acceleration(const double *left_out, size_t n)
{
    double mean = mean_of(left_out, n), square = 0, cube = 0;
    for (size_t i = 0; i < n; i++) {
        double d = mean - left_out[i];
        square += d * d;
        cube += d * d * d;
    }
    return square > 0 ? cube / (6 * square * sqrt(square)) : 0;
}

/* Where the quantile at Phi(z) is to be taken instead. */
static double adjusted(double z0, double a, double z)
{
    return isfinite(z0) ? cr_norm_cdf(z0 + (z0 + z) / (1 - a * (z0 + z))) : NAN;
}

/* x [n]: draws; left_out [m]: of bca, what the fits without one row say. */
static void summarise_draws(double *x, size_t n, const double *left_out, size_t m, double level,
                            bool bca, cr_resampled_parameter *p)
{
    double mean = mean_of(x, n), square = 0, below = 0, alpha = (1 - level) / 2;
    for (size_t i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean);
    p->draws = n;
    p->bias = mean - p->value;
    p->se = n > 1 ? sqrt(square / (double)(n - 1)) : NAN;
    for (size_t i = 0; i < n; i++) { /* equal but for rounding counts half */
        double above = x[i] - p->value, tie = 1e-10 * p->se;
        below += above < -tie ? 1 : above <= tie ? 0.5 : 0;
    }
    cri_sort_doubles(x, n);
    double z = cr_norm_ppf(1 - alpha), z0 = cr_norm_ppf(below / (double)n);
    double a = bca ? acceleration(left_out, m) : 0;
    p->lower = quantile(x, n, bca ? adjusted(z0, a, -z) : alpha);
    p->upper = quantile(x, n, bca ? adjusted(z0, a, z) : 1 - alpha);
}

static void summarise_left_out(const double *x, size_t n, size_t rows, double level,
                               cr_resampled_parameter *p)
{
    double mean = mean_of(x, n), square = 0, m = (double)n;
    p->draws = n;
    p->bias = p->se = p->lower = p->upper = NAN;
    if (n < rows || n < 2) return; /* every row has its say, or none */
    for (size_t i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean);
    p->se = sqrt((m - 1) / m * square);
    p->bias = (m - 1) * (mean - p->value);
    double half = cr_student_t_ppf((1 + level) / 2, m - 1) * p->se, centre = p->value - p->bias;
    p->lower = centre - half;
    p->upper = centre + half;
}

/* --- all ------------------------------------------------------------------------------------- */

void cr_resampled_free(cr_ctx *cx, cr_resampled *r)
{
    for (size_t k = 0; r->parameters && k < r->n; k++)
        if (r->parameters[k].name) cri_string_free(cx, r->parameters[k].name);
    cr_free(cx, r->parameters, r->n, sizeof *r->parameters);
    *r = (cr_resampled){ 0 };
}

/* The fit on all rows: names and values. */
static cr_status fit_whole(cr_ctx *cx, const cri_plan *plan, cr_resampled *out)
{
    cr_status            st = CR_OK;
    const cr_model_spec *m = &plan->specs[0];
    cr_model            *model = NULL;
    cri_sheet           *sheet = NULL;
    const cri_sheet     *list;
    CR_TRY(cr_fit(cx, m->model, plan->table, m->settings, m->n_settings, &model));
    CR_TRY(cri_parameters_of(cx, model, &sheet, &list));
    out->n = cri_sheet_size(list);
    if (out->n == 0)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no parameters", m->model));
    out->parameters = cr_alloc(cx, out->n, sizeof *out->parameters);
    if (!out->parameters) CR_TRY(CR_ENOMEM);
    cr_resampled_parameter *p = out->parameters;
    for (const cri_sheet *row = cri_sheet_first(list); row; row = cri_sheet_next(row), p++) {
        p->value = cri_parameter_value(row);
        if (!(p->name = cri_string_copy(cx, cri_parameter_name(row)))) CR_TRY(CR_ENOMEM);
    }
done:
    cri_sheet_free(sheet);
    cr_model_free(cx, model);
    return st;
}

static cr_status check(cr_ctx *cx, cr_resample_method method, size_t samples, double level,
                       const size_t *drawn, size_t n)
{
    if (method != CR_JACKKNIFE && samples < 2)
        return cr_fail(cx, CR_EARG, "intervals need at least two bootstrap samples");
    if (!(level > 0 && level < 1))
        return cr_fail(cx, CR_EARG, "the mass of an interval lies between 0 and 1");
    for (size_t i = 0; drawn && i < samples * n; i++)
        if (drawn[i] >= n)
            return cr_fail(cx, CR_EARG, "sample %zu contains row %zu, but there are %zu rows",
                           i / n + 1, drawn[i] + 1, n);
    return CR_OK;
}

/* Room for so many fits, and the fits. */
static cr_status refit(cr_ctx *cx, cr_scratch *s, refits *r, size_t fits)
{
    cr_status st = CR_OK;
    r->theta = cr_scratch_matrix(s, fits, r->K);
    r->state = cr_scratch_bytes(s, fits, 1);
    CR_TRY(s->status);
    CR_TRY(run_refits(cx, r, fits));
done:
    return st;
}

cr_status cr_resample(cr_ctx *cx, const cr_model_spec *spec, const cr_table *t,
                      cr_resample_method method, size_t samples, double level,
                      const size_t *opt_drawn, cr_resampled *out)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    cri_plan     plan = { 0 };
    size_t       n = cr_table_rows(t);
    bool         jack = method == CR_JACKKNIFE;
    cr_resampled o = { .method = method, .rows = n, .asked = jack ? n : samples, .level = level };
    refits       draws = { .plan = &plan, .n = n, .leave_out = jack, .drawn = opt_drawn };

    CR_TRY(check(cx, method, samples, level, jack ? NULL : opt_drawn, n));
    CR_TRY(cri_plan_open_unsplit(cx, spec, 1, t, NULL, &plan));
    CR_TRY(cri_plan_refuse_sequences(cx, spec, 1, "resampling"));
    o.seed = plan.seed;
    CR_TRY(fit_whole(cx, &plan, &o));
    draws.K = o.n;
    draws.names = cr_scratch_bytes(&s, o.n, sizeof *draws.names);
    CR_TRY(s.status);
    for (size_t k = 0; k < o.n; k++) draws.names[k] = o.parameters[k].name;
    refits left_out = draws;
    left_out.leave_out = true;
    if (method == CR_BCA) CR_TRY(refit(cx, &s, &left_out, n));
    CR_TRY(refit(cx, &s, &draws, o.asked));
    double *x = cr_scratch_f64(&s, o.asked), *z = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    o.made = count_made(&draws, o.asked);
    for (size_t i = 0; i < o.asked; i++) o.failed += draws.state[i] == REFIT_FAILED;
    for (size_t k = 0; k < o.n; k++) {
        size_t have = gather(&draws, o.asked, k, x);
        size_t rows = method == CR_BCA ? gather(&left_out, n, k, z) : 0;
        if (jack)
            summarise_left_out(x, have, n, level, &o.parameters[k]);
        else
            summarise_draws(x, have, z, rows, level, method == CR_BCA, &o.parameters[k]);
    }
    if (o.failed)
        cr_log(cx, CR_LOG_WARNING, "%zu of %zu samples could not be fitted and are left out",
               o.failed, o.asked);
    *out = o;
    o = (cr_resampled){ 0 };
done:
    cr_resampled_free(cx, &o);
    cri_plan_close(cx, &plan);
    cr_scratch_end(&s);
    return st;
}
