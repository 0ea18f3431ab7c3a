/* kalman.c -- linear Gaussian state space models of series: structural time series, ARMA, regression with such
 * errors, or matrices as they are given.
 *   y_t = Z_t a_t + e_t,   a_{t+1} = T a_t + n_t,   e and n normal
 * Variances and coefficients by exact maximum likelihood (kalman_search.h) on the filter with an exact
 * diffuse start (kalman_system.h); parts and parameters are described in kalman_parts.h.  The series is
 * shifted and scaled to mean 0 and sd 1 first, which changes no answer but keeps digits.
 * Cost of a likelihood for n rows and m states: O(n m) once variances have settled, O(n m^2) with gaps or regressors.
 * Durbin & Koopman (2012), Time Series Analysis by State Space Methods; Harvey (1989). */
#include "kalman.h"
#include "kalman_average.h"
#include "kalman_close.h"
#include "kalman_em.h"
#include "kalman_joint.h"
#include "base/context_internal.h"
#include "models/core/rows_check.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define KALMAN_OPTIONS(X)                                                                             \
    X(text,  components, "level", "", "parts that the series is the sum of: level or trend, seasonal:12, cycle, ar:2 or arma:1,1, regression (on the other columns; regression:walk: with coefficients that move), irregular", "trend,seasonal:12") \
    X(list,  beside, "", "COLUMN", "series that are observed beside the target, each the sum of the same parts: their shocks, and their noise, are correlated", "b,c") \
    X(choice, steps, "rows", "rows|time|months", "how far rows are apart: a step each, by the time between them in --time, or by the months between its dates", "time") \
    X(real,  unit,     "", ">0", "length of a step in the units of --time, or in months; by default the smallest time between rows of which the others are multiples, or the median one", "1") \
    X(text,  model,    "", "FILE", "matrices of the model in JSON, which are then not learned: a file, or the text itself", "model.json") \
    X(choice, infer,   "ml", "ml|em", "how the parameters are learned: maximum likelihood by L-BFGS, or by EM, for variances alone", "em") \
    X(choice, parameters, "auto", "auto|fixed|averaged", "predictions use the parameters of highest likelihood, or an average over what the rows leave open of them; auto averages where rows are few: fewer than 25 a parameter and one a state", "fixed") \
    X(count, restarts, "3", "1..24", "most starts of the search, of which the best result is kept; variances alone need no more once two agree", "8")   \
    X(count, max_iter, "500", ">=1", "maximum number of iterations of each", "100")                   \
    X(real,  tol,      "1e-8", ">0", "stop when no entry of the gradient exceeds this times the log likelihood", "1e-6")
/* clang-format on */

CR_OPTIONS(kalman_options, kalman_table, KALMAN_OPTIONS);
enum { INFER_ML, INFER_EM };
enum { PARAMETERS_AUTO, PARAMETERS_FIXED, PARAMETERS_AVERAGED };
/* Settings of an average, and numbers of all their places. */
enum { MOST_SETTINGS = 64, FEW_SETTINGS = 16, MOST_PLACES = 2000000 };

/* --- what the series is like ----------------------------------------------------------------- */

/* Mean and sd of what is observed of y [n], without squares that overflow; sd 0 of a series that is constant. */
static cr_status measure(cr_ctx *cx, const cri_rows *rows, const char *name, const double *y,
                         size_t *out_observed, double *out_shift, double *out_scale)
{
    double n = 0, mean = 0, square = 0, most = 0;
    for (size_t i = 0; i < rows->n; i++)
        if (!isnan(y[i])) mean += (y[i] - mean) / ++n;
    for (size_t i = 0; i < rows->n; i++)
        if (!isnan(y[i])) most = fmax(most, fabs(y[i] - mean));
    for (size_t i = 0; most > 0 && i < rows->n; i++)
        if (!isnan(y[i])) square += pow((y[i] - mean) / most, 2);
    *out_observed = (size_t)n;
    *out_shift = mean;
    *out_scale = n > 0 ? most * sqrt(square / n) : 0;
    if (n == 0)
        return cr_fail(cx, CR_EDATA, "%s: the series '%s' has no value",
                       cr_table_source(rows->table), name);
    if (most > 0 && !(isnormal(*out_scale * *out_scale))) {
        cr_fail(cx, CR_ENUMERIC, "the squares of the target '%s' are beyond the range of numbers",
                name);
        return cr_fail_hint(cx, "--scale-target standard rescales it");
    }
    return CR_OK;
}

/* All columns. */
static cr_status measure_columns(cr_ctx *cx, const cri_rows *rows, kalman_state *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *y = cr_scratch_f64(&s, rows->n);
    CR_TRY(s.status);
    for (size_t c = 0; c <= m->beside; c++) {
        double *shift = c == 0 ? &m->shift : &m->beside_shift[c - 1];
        double *scale = c == 0 ? &m->scale : &m->beside_scale[c - 1];
        size_t  n;
        CR_TRY(cri_kalman_values_of(cx, rows, m, c, y));
        CR_TRY(measure(cx, rows, cri_kalman_column(m, rows->design, c), y, &n, shift, scale));
        m->observed += n;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* What several columns cannot have. */
static cr_status check_beside(cr_ctx *cx, const cri_rows *rows, const kalman_options *o)
{
    if (o->steps != CRI_KALMAN_STEPS_ROWS) {
        cr_fail(cx, CR_EUNSUPPORTED, "--beside needs rows that are a step apart: --steps rows");
        return cr_fail_hint(cx, "a row without values stands for a step that is not there");
    }
    if (o->parameters == PARAMETERS_AVERAGED)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "--parameters averaged is for one series, without --beside");
    if (o->infer == INFER_EM)
        return cr_fail(cx, CR_EUNSUPPORTED, "--infer em is for one series, without --beside");
    if (rows->design->transform.kind != CRI_TRANSFORM_NONE)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "--beside needs --transform-target none, which would change one column "
                       "alone");
    if (rows->design->target_scale == 1 && rows->design->target_shift == 0) return CR_OK;
    return cr_fail(cx, CR_EUNSUPPORTED,
                   "--beside needs --scale-target none: each column is scaled "
                   "by itself in any case");
}

static cr_status check_rows(cr_ctx *cx, const cri_rows *rows)
{
    if (!rows->w) return CR_OK;
    return cr_fail(cx, CR_EUNSUPPORTED,
                   "the model kalman knows no weights: rows of a series follow each other once");
}

/* What a step is. */
static cr_status set_steps(cr_ctx *cx, const cri_rows *rows, const kalman_options *o,
                           kalman_state *m)
{
    m->steps = (size_t)o->steps;
    if (m->steps == CRI_KALMAN_STEPS_ROWS) {
        if (!isnan(o->unit))
            return cr_fail(cx, CR_EARG, "--unit needs --steps time or months: a row is a step");
        cri_kalman_warn_of_steps(cx, rows);
        return CR_OK;
    }
    if (!rows->design->time)
        return cr_fail(cx, CR_EARG, "--steps %s needs the times of the rows: --time COL",
                       m->steps == CRI_KALMAN_STEPS_TIME ? "time" : "months");
    return cri_kalman_find_unit(cx, rows, o->unit, m);
}

/* Too short a series leaves nothing to learn variances from.  How many values the start takes is looked up only where it
 * matters: it is no more than the states of each series. */
static cr_status check_length(cr_ctx *cx, const cri_kalman_data *data, cri_kalman_target *t,
                              kalman_state *m)
{
    cr_status       st = CR_OK;
    cri_kalman_path path = { 0 };
    size_t          needed = m->n_theta > 0 ? m->n_theta : 1;
    bool            there;
    if (m->observed >= m->series * m->m + needed) return CR_OK;
    for (size_t i = 0; i < m->n_theta; i++) m->theta[i] = 0;
    CR_TRY(cri_kalman_set(t, m->theta, &there));
    if (!there) CR_TRY(cr_fail(cx, CR_ENUMERIC, "the model has no start"));
    CR_TRY(cri_kalman_filter(cx, &t->system, data, false, &path));
    if (path.observed >= path.fixing + needed) goto done;
    cr_fail(cx, CR_EDATA,
            "the series %s %zu value%s, of which the unknown start of the model takes %zu: its %zu "
            "parameter%s need at least %zu more",
            m->series > 1 ? "have" : "has", path.observed, path.observed == 1 ? "" : "s",
            path.fixing, m->n_theta, m->n_theta == 1 ? "" : "s", needed);
    CR_TRY(cr_fail_hint(cx, "a model with fewer parts, such as --components level, needs fewer"));
done:
    cri_kalman_path_free(cx, &path);
    return st;
}

/* --- the fit --------------------------------------------------------------------------------- */

static void name_zeros(cr_ctx *cx, const kalman_state *m, const cr_design *design)
{
    for (size_t i = 0; i < m->n_theta; i++) {
        char name[512];
        if (m->plan->scale[i] != CRI_KALMAN_VARIANCE || !isinf(m->theta[i])) continue;
        cri_kalman_parameter(m, design, i, name, sizeof name);
        cr_log(cx, CR_LOG_INFO, "%s is 0: the likelihood is highest at this bound", name);
    }
}

/* Columns of which a part is one for both. */
static void name_rigid(cr_ctx *cx, const kalman_state *m, const cr_design *design)
{
    for (size_t i = 0; i < m->n_theta; i++) {
        char name[512];
        if (!cri_kalman_is_rigid(m->plan, m->theta, i)) continue;
        cri_kalman_parameter(m, design, i, name, sizeof name);
        cr_log(cx, CR_LOG_INFO, "%s is next to %d, the edge of what is possible", name,
               m->theta[i] > 0 ? 1 : -1);
    }
}

/* A cycle whose damping is all but 1 does not fade, and its amplitude stays. */
static void name_steady_cycles(cr_ctx *cx, cr_scratch *s, const kalman_state *m)
{
    double *value = cr_scratch_f64(s, m->n_theta);
    if (s->status != CR_OK) return;
    cri_kalman_values(m->plan, m->theta, value, NULL);
    for (size_t i = 0; i < m->n_theta; i++)
        if (m->plan->scale[i] == CRI_KALMAN_DAMPING && value[i] > 0.999)
            cr_log(cx, CR_LOG_INFO,
                   "the damping of a cycle is next to 1: it goes on as it is, which is the edge of "
                   "what is possible");
}

/* Keeps settings to average over, where the rows leave the parameters open. */
static cr_status learn_settings(cr_scratch *s, cri_kalman_target *t, const kalman_options *o,
                                kalman_state *m)
{
    cr_status          st = CR_OK;
    cri_kalman_average average;
    bool               asked = o->parameters == PARAMETERS_AVERAGED;
    double             fit = MOST_PLACES / (double)m->series / (double)cri_kalman_width(m);
    size_t             most = fit < FEW_SETTINGS    ? FEW_SETTINGS
                              : fit > MOST_SETTINGS ? MOST_SETTINGS
                                                    : (size_t)fit;
    if (o->parameters == PARAMETERS_FIXED) goto done;
    if (m->beside > 0 && cri_kalman_is_open(m->plan, m->observed))
        cr_log(s->cx, CR_LOG_WARNING,
               "%zu parameters are many for %zu values, and those of several columns are not "
               "averaged over: intervals may be too narrow",
               m->n_theta, m->observed);
    if (m->beside > 0) goto done;
    if (!asked && !cri_kalman_is_open(m->plan, m->observed)) goto done;
    CR_TRY(cri_kalman_settings(s, t, most, asked, &average));
    if (average.n == 0) {
        cr_log(s->cx, CR_LOG_WARNING,
               "%zu parameters are many for %zu rows, and %s: intervals may be too narrow",
               m->n_theta, m->observed, average.why);
        goto done;
    }
    m->setting = cr_alloc(s->cx, average.n * m->n_theta, sizeof(double));
    m->share = cr_alloc(s->cx, average.n, sizeof(double));
    m->settings = average.n;
    if (!m->setting || !m->share) CR_TRY(CR_ENOMEM);
    memcpy(m->setting, average.setting, average.n * m->n_theta * sizeof(double));
    memcpy(m->share, average.share, average.n * sizeof(double));
    m->dof = average.dof;
    if (!asked)
        cr_log(s->cx, CR_LOG_INFO,
               "kalman: %zu parameters are many for %zu rows: predictions are averaged over them; "
               "--parameters fixed keeps one value of each",
               m->n_theta, m->observed);
done:
    return st;
}

static cr_status learn(cr_ctx *cx, const cri_rows *rows, const kalman_options *o, uint64_t seed,
                       kalman_state *m, cr_report *report)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_kalman_target target;
    cri_kalman_best   best;
    cri_kalman_data   data;
    cri_kalman_gaps   gaps;
    CR_TRY(cri_kalman_gather(&s, rows, m, 0, &data));
    CR_TRY(cri_kalman_count_steps(&s, m, rows, NULL, &data, &gaps));
    CR_TRY(cri_kalman_target_new(&s, m->plan, &data, gaps.gap, gaps.n, &target));
    CR_TRY(check_length(cx, &data, &target, m));
    if (o->infer == INFER_EM) CR_TRY(cri_kalman_em_check(cx, m->plan));
    CR_TRY(cri_kalman_search(&s, &target, o->infer == INFER_EM, o->restarts, o->max_iter, o->tol,
                             seed, &best));
    memcpy(m->theta, best.theta, m->n_theta * sizeof(double));
    memcpy(m->covariance, best.covariance, m->n_theta * m->n_theta * sizeof(double));
    m->gradient = best.gradient;
    m->starts = best.starts;
    m->agreed = best.agreed;
    report->stop = best.stop;
    report->iterations = best.iterations;
    name_zeros(cx, m, rows->design);
    name_rigid(cx, m, rows->design);
    name_steady_cycles(cx, &s, m);
    CR_TRY(learn_settings(&s, &target, o, m));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the whole fit ---------------------------------------------------------------------------- */

/* The arrays whose sizes are now known. */
static cr_status make_room(cr_ctx *cx, kalman_state *m)
{
    m->width = cri_kalman_width(m);
    m->places = cr_alloc(cx, m->series * m->width, sizeof(double));
    if (m->components) {
        m->theta = cr_alloc(cx, m->n_theta, sizeof(double));
        m->covariance = cr_alloc(cx, m->n_theta * m->n_theta, sizeof(double));
        m->centre = cr_alloc(cx, m->k, sizeof(double));
        m->spread = cr_alloc(cx, m->k, sizeof(double));
        m->coefficient = cr_alloc(cx, m->k, sizeof(double));
        m->coefficient_sd = cr_alloc(cx, m->k, sizeof(double));
        if (!m->theta || !m->covariance || !m->centre || !m->spread || !m->coefficient ||
            !m->coefficient_sd)
            return CR_ENOMEM;
    }
    return m->places ? CR_OK : CR_ENOMEM;
}

/* Mean and sd of each regressor; those of a constant one are 0 and 1: then it is the level's.  Where coefficients walk, the
 * level is no place for the mean: it is 0, and sd is the root of the mean square. */
static cr_status measure_regressors(cr_ctx *cx, const cri_rows *rows, bool walk, kalman_state *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *x = cr_scratch_f64(&s, rows->n);
    CR_TRY(s.status);
    for (size_t j = 0; j < m->k; j++) {
        double mean = 0, square = 0;
        cri_rows_fill_term(rows, j, 0, rows->n, x, 1);
        for (size_t i = 0; i < rows->n; i++) {
            double off = x[i] - mean;
            mean += off / (double)(i + 1);
            square += off * (x[i] - mean);
        }
        double sd = sqrt(square / (double)rows->n);
        bool   varies = sd > 1e-13 * fabs(mean);
        if (!isfinite(sd))
            CR_TRY(cr_fail(cx, CR_ENUMERIC, "the squares of column '%s' overflow",
                           cr_design_term_name(rows->design, j)));
        m->centre[j] = varies && !walk ? mean : 0;
        m->spread[j] = walk && mean != 0 ? hypot(mean, sd) : varies ? sd : 1;
        if (!varies)
            cr_log(cx, CR_LOG_WARNING, "the regressor '%s' is constant: it has no coefficient",
                   cr_design_term_name(rows->design, j));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The parts of a structural model, and the series as it is for it. */
static cr_status plan_fit(cr_ctx *cx, const cri_rows *rows, const kalman_options *o,
                          kalman_state *m)
{
    cr_status       st = CR_OK;
    cri_kalman_plan plan;
    m->components = cri_string_copy(cx, o->components);
    if (!m->components) return CR_ENOMEM;
    m->longest = fmax(4, m->steps ? m->span : (double)m->observed / (double)(m->beside + 1));
    CR_TRY(cri_kalman_plan_read(cx, o->components, rows->p, m->longest, &plan));
    if (m->between) CR_TRY(cri_kalman_plan_between(cx, &plan));
    if (m->beside > 0) CR_TRY(cri_kalman_plan_join(cx, m->beside + 1, &plan));
    m->noise = m->beside > 0 ? plan.p : 0;
    m->m = plan.m;
    m->k = plan.k;
    m->n_theta = plan.n_theta;
    m->h = NAN;
    for (size_t c = 0; c <= m->beside; c++) {
        if (cri_kalman_scale_of(m, c) > 1e-13 * fabs(cri_kalman_shift_of(m, c))) continue;
        cr_fail(cx, CR_EDATA, "the series '%s' is constant: there is no variance to learn",
                cri_kalman_column(m, rows->design, c));
        CR_TRY(cr_fail_hint(cx, "--model takes matrices that are not learned"));
    }
done:
    return st;
}

/* What has been learned is no model without the last pass, which the time limit therefore does not end. */
static cr_status close_all(cr_ctx *cx, const cri_rows *rows, kalman_state *m, cr_report *report)
{
    double    deadline = cri_ctx_hasten(cx, 1);
    bool      late = m->plan && (report->stop == CR_STOP_TIME || cri_should_stop(cx));
    cr_status st;
    if (m->plan) cri_ctx_set_deadline(cx, 0);
    st = cri_kalman_close(cx, rows, m, report);
    cri_ctx_set_deadline(cx, deadline);
    if (late) {
        report->stop = CR_STOP_TIME;
        cr_log(cx, CR_LOG_WARNING,
               "the time limit ended the search after %zu iterations: this is the best so far",
               report->iterations);
    }
    return st == CR_OK ? cri_kalman_close_settings(cx, rows, m, report) : st;
}

static cr_status kalman_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                            void **out_state, cr_report *report)
{
    cr_status             st = CR_OK;
    const kalman_options *o = options;
    kalman_state         *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    CR_TRY(check_rows(cx, rows));
    if (o->model && o->infer == INFER_EM)
        CR_TRY(cr_fail(cx, CR_EARG, "--model gives all matrices: --infer has nothing to learn"));
    if (o->model && o->parameters == PARAMETERS_AVERAGED)
        CR_TRY(cr_fail(cx, CR_EARG,
                       "--model gives all matrices: --parameters has nothing to average over"));
    if (o->model && strcmp(o->components, "level") != 0)
        CR_TRY(cr_fail(cx, CR_EARG, "--model gives the whole model: leave --components out"));
    CR_TRY(cri_kalman_name_columns(cx, rows->design, o->beside, m));
    if (m->beside > 0) CR_TRY(check_beside(cx, rows, o));
    CR_TRY(measure_columns(cx, rows, m));
    CR_TRY(set_steps(cx, rows, o, m));
    if (o->model && m->between) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "the times of rows are not whole steps, and --model gives the matrices of one");
        CR_TRY(cr_fail_hint(cx, "--unit gives the length of a step"));
    }
    m->series = rows->sequences->n;
    CR_TRY(o->model ? cri_kalman_read_matrices(cx, o->model, m) : plan_fit(cx, rows, o, m));
    CR_TRY(make_room(cx, m));
    CR_TRY(cri_kalman_join_names(cx, NULL, rows->sequences, NULL, &m->names));
    CR_TRY(cri_kalman_prepare(cx, m));
    if (m->k > 0) CR_TRY(measure_regressors(cx, rows, m->plan->walk, m));
    report->stop = CR_STOP_CLOSED_FORM;
    if (m->plan) CR_TRY(learn(cx, rows, o, seed, m, report));
    CR_TRY(close_all(cx, rows, m, report));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_kalman, m);
    return st;
}

/* --- the class ------------------------------------------------------------------------------- */

/* Only regression looks at other columns. */
static cr_status kalman_shape(cr_ctx *cx, const void *options, cr_design *design)
{
    cr_status             st = CR_OK;
    const kalman_options *o = options;
    cri_kalman_plan       plan = { 0 };
    if (!o->model)
        CR_TRY(cri_kalman_plan_read(cx, o->components, cr_design_terms(design), 4, &plan));
    if (plan.k == 0) CR_TRY(cri_design_drop_inputs(cx, design));
done:
    return st;
}

static cr_status kalman_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    kalman_state *m = state;
    if (m->k != cr_design_terms(design)) return CR_EDATA;
    return cri_kalman_prepare(cx, m);
}

static void kalman_release(cr_ctx *cx, void *state) { cri_kalman_unprepare(cx, state); }

const cr_model_class cri_class_kalman = {
    .name = "kalman",
    .summary =
        "structural time series: level, trend, seasons, cycle, ARMA and regression by the Kalman "
        "filter",
    .formulas = "y_t = Z_t a_t + e_t,   a_(t+1) = T a_t + n_t,   e and n normal, a_1 diffuse or "
                "stationary\n"
                "y_t = level_t + season_t + cycle_t + x_t' b + ... + e_t",
    .reference =
        "Durbin & Koopman (2012), Time Series Analysis by State Space Methods; Harvey (1989), "
        "Forecasting, Structural Time Series Models and the Kalman Filter",
    .example = "examples/nile.csv --target flow",
    .tasks = CR_TASK_REGRESSION,
    .options = kalman_table,
    .options_size = sizeof(kalman_options),
    .default_scale = CR_SCALE_NONE,
    .sequences = true,
    .shape = kalman_shape,
    .whole = &(const cri_whole_face){ .fit = kalman_fit,
                                      .update = cri_kalman_update,
                                      .update_holds = true },
    .rows = &cri_kalman_rows,
    .function = &cri_kalman_function,
    .sequence = &cri_kalman_sequence,
    .describe = cri_kalman_describe,
    .statistics = cri_kalman_statistics,
    .state = cri_kalman_record,
    .state_size = sizeof(kalman_state),
    .ready = kalman_ready,
    .release = kalman_release,
};
