/* kalman_describe.c -- what a fit says of itself. */
#include "kalman.h"
#include "kalman_joint.h"
#include "math/special/special.h"
#include "models/core/parameters.h"

#include <math.h>
#include <string.h>

enum { LONG_NAME = 512 };
static const double normal_975 = 1.959963984540054;
static const double vague = 2;

/* In the units of the data: a variance by the square of the scale, the mean by both. */
static double in_units(const kalman_state *m, const cr_design *d, size_t i, double value)
{
    double              unit = m->scale * d->target_scale;
    size_t              column = cri_kalman_walk_of(m->plan, i);
    cri_kalman_entry_of e;
    if (cri_kalman_entry(m->plan, i, &e)) unit = cri_kalman_scale_of(m, e.a) * d->target_scale;
    if (column < m->k) unit /= m->spread[column] * d->scale[column];
    switch (m->plan->scale[i]) {
    case CRI_KALMAN_VARIANCE:
        return value * unit * unit;
    case CRI_KALMAN_MEAN:
        return value * unit + m->shift * d->target_scale + d->target_shift;
    default:
        return value;
    }
}

void cri_kalman_parameter(const kalman_state *m, const cr_design *d, size_t i, char *out,
                          size_t size)
{
    size_t              column = cri_kalman_walk_of(m->plan, i);
    cri_kalman_entry_of e;
    char                name[64];
    if (cri_kalman_entry(m->plan, i, &e)) { /* variance.level.b, correlation.level.b.a */
        cri_kalman_name(m->plan, m->plan->variance[e.of], name, sizeof name);
        if (e.a == e.b)
            snprintf(out, size, "%s.%s", name, cri_kalman_column(m, d, e.a));
        else
            snprintf(out, size, "correlation%s.%s.%s", name + strlen("variance"),
                     cri_kalman_column(m, d, e.b), cri_kalman_column(m, d, e.a));
    } else if (column < m->k)
        snprintf(out, size, "variance.%s", cr_design_term_name(d, column));
    else
        cri_kalman_name(m->plan, i, out, size);
}

/* Whether a coefficient of ar or ma is a partial autocorrelation itself, or a correlation a partial one. */
static bool is_only_lag(const cri_kalman_plan *plan, size_t i)
{
    cri_kalman_entry_of e;
    if (cri_kalman_entry(plan, i, &e)) return e.b == 0;
    for (size_t k = 0; k < plan->n_parts; k++) {
        const cri_kalman_part *part = &plan->parts[k];
        if (part->p + part->q == 0 || i < part->theta || i >= part->theta + part->count) continue;
        return (i < part->theta + part->p ? part->p : part->q) == 1;
    }
    return false;
}

/* An interval that is normal in theta: of variances, damping and period by what its ends are.  A variance whose logarithm is
 * known to no better than VAGUE may well be 0: its interval is normal in the variance itself. */
static void add_interval(const kalman_state *m, const cr_design *d, size_t i, double *theta,
                         double *value, double sd, cri_sheet *row)
{
    double half = normal_975 * sqrt(m->covariance[i * m->n_theta + i]), old = theta[i], ends[2];
    bool   partial = m->plan->scale[i] == CRI_KALMAN_PARTIAL && !is_only_lag(m->plan, i);
    cri_kalman_entry_of e;
    for (int k = 0; k < 2; k++) {
        double sign = k == 0 ? -1 : 1;
        theta[i] = old + sign * half;
        if (!partial) cri_kalman_values(m->plan, theta, value, NULL);
        ends[k] = partial ? value[i] + sign * normal_975 * sd : in_units(m, d, i, value[i]);
        if (partial && cri_kalman_entry(m->plan, i, &e)) ends[k] = fmax(-1, fmin(1, ends[k]));
    }
    theta[i] = old;
    cri_kalman_values(m->plan, theta, value, NULL);
    bool damping = m->plan->scale[i] == CRI_KALMAN_DAMPING;
    if ((damping || m->plan->scale[i] == CRI_KALMAN_VARIANCE) && half > normal_975 * vague) {
        double most = value[i] + normal_975 * sd;
        ends[0] = in_units(m, d, i, fmax(0, value[i] - normal_975 * sd));
        ends[1] = in_units(m, d, i, damping ? fmin(1, most) : most);
    }
    if (isnan(sd)) half = NAN;
    cri_put_real(row, "lower", isnan(half) ? NAN : fmin(ends[0], ends[1]));
    cri_put_real(row, "upper", isnan(half) ? NAN : fmax(ends[0], ends[1]));
}

/* Standard deviations of the values from those of theta; NaN where there are none. */
static void find_errors(const kalman_state *m, const double *jacobian, double *sd)
{
    size_t n = m->n_theta;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            for (size_t l = 0; l < n; l++) {
                double weight = jacobian[i * n + j] * jacobian[i * n + l];
                if (weight != 0) sum += weight * m->covariance[j * n + l];
            }
        bool zero = m->plan->scale[i] == CRI_KALMAN_VARIANCE && isinf(m->theta[i]);
        bool edge =
            cri_kalman_is_idle(m->plan, m->theta, i) || cri_kalman_is_rigid(m->plan, m->theta, i);
        sd[i] = zero || edge ? NAN : sqrt(sum);
    }
}

static cr_status add_parameters(cr_ctx *cx, const kalman_state *m, const cr_design *d,
                                cri_sheet *list)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = m->n_theta;
    double    *theta = cr_scratch_f64(&s, n), *value = cr_scratch_f64(&s, n);
    double    *jacobian = cr_scratch_matrix(&s, n, n), *sd = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    memcpy(theta, m->theta, n * sizeof *theta);
    cri_kalman_values(m->plan, theta, value, jacobian);
    find_errors(m, jacobian, sd);
    for (size_t i = 0; i < n; i++) {
        char   name[LONG_NAME];
        double none = in_units(m, d, i, 0), unit = in_units(m, d, i, 1) - none;
        cri_kalman_parameter(m, d, i, name, sizeof name);
        cri_sheet *row =
            cri_parameter_add(list, in_units(m, d, i, value[i]), sd[i] * unit, "%s", name);
        add_interval(m, d, i, theta, value, sd[i], row);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Those that walk are those of the last row; several series have several. */
static void add_coefficients(const kalman_state *m, const cr_design *d, cri_sheet *list)
{
    if (m->k > 0 && m->plan->walk && m->series > 1) return;
    for (size_t j = 0; j < m->k; j++) {
        double     unit = m->scale * d->target_scale / (m->spread[j] * d->scale[j]);
        double     value = m->coefficient[j] * unit, sd = m->coefficient_sd[j] * unit;
        cri_sheet *row = cri_parameter_add(list, value, sd, "%s", cr_design_term_name(d, j));
        cri_parameter_interval(row, value, normal_975 * sd);
    }
}

const cr_field cri_kalman_statistics[] = {
    CR_TEXT("components", CR_FIELD_SOMETIMES,
            "the parts of the series; of a model that is not given by matrices"),
    CR_TEXT("likelihood", 0, "what log_likelihood is"),
    CR_NUMBER("step", CR_FIELD_SOMETIMES,
              "a step in the units of the times, or in months; where rows have times"),
    CR_TEXT("gaps", CR_FIELD_SOMETIMES,
            "whether rows are whole steps apart, or lie between them; likewise"),
    CR_COUNT("series", 0, "how many there are"),
    CR_COUNT("columns", CR_FIELD_SOMETIMES, "that are observed, of several"),
    CR_COUNT("states", 0, "how many the model has"),
    CR_COUNT("observed", 0, "rows with a value"),
    CR_COUNT("diffuse", 0,
             "values that the unknown start of the states takes: they have no density"),
    CR_TEXT("unknown_start", CR_FIELD_SOMETIMES,
            "what these find: likelihoods compare models in which it is the same"),
    { "aic", CR_FIELD_NUMBER, CR_FIELD_NULL | CR_FIELD_CRITERION, NULL,
      "-2 log likelihood + 2 (parameters + unknown states at the start)", NULL },
    { "bic", CR_FIELD_NUMBER, CR_FIELD_NULL | CR_FIELD_CRITERION, NULL,
      "the same with log(observed) in place of 2", NULL },
    CR_NUMBER("gradient", CR_FIELD_EITHER,
              "largest slope of the log likelihood by a logarithm of a variance or another free "
              "parameter, at the end; of a search"),
    CR_COUNT("starts", CR_FIELD_SOMETIMES, "runs of the search"),
    CR_COUNT("starts_agreed", CR_FIELD_SOMETIMES, "of these, ended at the best"),
    CR_COUNT("settings", CR_FIELD_SOMETIMES,
             "settings of the parameters that predictions are averaged over; where they are"),
    CR_NUMBER("settings_dof", CR_FIELD_SOMETIMES,
              "degrees of freedom of the Student's t of each; likewise"),
    CR_OTHER(TEXTS, "at_zero", CR_FIELD_SOMETIMES,
             "variances that are 0: the likelihood is highest at this bound; where there are any"),
    CR_NUMBER("ljung_box", CR_FIELD_NULL,
              "of the standardised one-step errors: large when they are correlated"),
    CR_NUMBER("ljung_box_p", CR_FIELD_NULL, "probability of a larger one if they are not"),
    CR_NUMBER("largest_outlier", CR_FIELD_NULL,
              "the noise of an observation in standard deviations, where it is largest"),
    CR_COUNT("outlier_row", CR_FIELD_SOMETIMES, "its row; where there is noise"),
    CR_TEXT("outlier_column", CR_FIELD_SOMETIMES, "the column it is in; of several"),
    CR_NUMBER("largest_break", CR_FIELD_NULL,
              "the shock to a state in standard deviations, where it is largest"),
    CR_COUNT("break_row", CR_FIELD_SOMETIMES,
             "the row before which it comes; where states have shocks"),
    CR_TEXT("break_part", CR_FIELD_SOMETIMES, "what it changes: level, slope, seasonal; likewise"),
    CR_FIELD_LAST,
};

/* The name of a state of one column, and of several with the name of that column. */
static void name_state(const kalman_state *m, const cr_design *d, size_t i, char *out, size_t size)
{
    size_t m1 = m->plan ? m->plan->m1 : m->m, column = i / m1;
    snprintf(out, size, "state");
    for (size_t k = 0; m->plan && k < m->plan->n_parts; k++) {
        const cri_kalman_part *part = &m->plan->parts[k];
        if (i % m1 < part->first || i % m1 >= part->first + part->n) continue;
        const char *name = part->kind != CRI_KALMAN_TREND ? part->name
                           : i % m1 == part->first        ? "level"
                                                          : "slope";
        if (m->beside > 0)
            snprintf(out, size, "%s.%s", name, cri_kalman_column(m, d, column));
        else
            snprintf(out, size, "%s", name);
    }
}

/* Joins a name to the text, cut where there is no more room. */
static void join(char *text, size_t size, const char *name)
{
    size_t used = strlen(text), n = strlen(name);
    if (used + 2 + n + 1 > size) return;
    memcpy(text + used, ", ", used > 0 ? 2 : 0);
    memcpy(text + used + (used > 0 ? 2 : 0), name, n + 1);
}

/* The name of a part, and of several columns that of the column behind it. */
static void join_part(const kalman_state *m, const cr_design *d, const char *name, size_t c,
                      char *text, size_t size)
{
    char whole[LONG_NAME];
    if (m->beside > 0) snprintf(whole, sizeof whole, "%s.%s", name, cri_kalman_column(m, d, c));
    join(text, size, m->beside > 0 ? whole : name);
}

/* What starts unknown, by name: likelihoods of models in which that is not the same are of different values. */
static void put_unknown(const kalman_state *m, const cr_design *d, cri_sheet *out)
{
    char text[LONG_NAME] = "", name[64];
    for (size_t c = 0; c <= m->beside; c++)
        for (size_t k = 0; m->plan && k < m->plan->n_parts; k++) {
            const cri_kalman_part *part = &m->plan->parts[k];
            if (part->kind == CRI_KALMAN_LEVEL || part->kind == CRI_KALMAN_TREND)
                join_part(m, d, "level", c, text, sizeof text);
            if (part->kind == CRI_KALMAN_TREND) join_part(m, d, "slope", c, text, sizeof text);
            snprintf(name, sizeof name, "seasonal:%zu", part->period);
            if (part->kind == CRI_KALMAN_SEASONAL) join_part(m, d, name, c, text, sizeof text);
            if (part->kind == CRI_KALMAN_CONSTANT) join_part(m, d, "mean", c, text, sizeof text);
        }
    for (size_t j = 0; j < m->k; j++) join(text, sizeof text, cr_design_term_name(d, j));
    cri_put_text(out, "unknown_start", m->plan ? text : "states of --model");
}

static void add_zeros(const kalman_state *m, const cr_design *d, cri_sheet *out)
{
    cri_sheet *list = NULL;
    for (size_t i = 0; i < m->n_theta; i++) {
        char name[LONG_NAME];
        if (m->plan->scale[i] != CRI_KALMAN_VARIANCE || !isinf(m->theta[i])) continue;
        cri_kalman_parameter(m, d, i, name, sizeof name);
        if (!list) list = cri_put_list(out, "at_zero");
        cri_put_text(list, NULL, name);
    }
}

static void add_checks(const kalman_state *m, const cr_design *d, cri_sheet *out)
{
    char name[LONG_NAME];
    cri_put_real(out, "ljung_box", m->ljung_box);
    double free = (double)m->lags - fmax(0, (double)m->n_theta - 1);
    cri_put_real(out, "ljung_box_p",
                 free > 0 && !isnan(m->ljung_box) ? cr_chi2_sf(m->ljung_box, free) : NAN);
    cri_put_real(out, "largest_outlier", m->outlier_row ? m->outlier : NAN);
    if (m->outlier_row) cri_put_count(out, "outlier_row", m->outlier_row);
    if (m->outlier_row && m->beside > 0)
        cri_put_text(out, "outlier_column", cri_kalman_column(m, d, m->outlier_column));
    cri_put_real(out, "largest_break", m->shock_row ? m->shock : NAN);
    if (m->shock_row) cri_put_count(out, "break_row", m->shock_row);
    if (m->shock_row) name_state(m, d, m->shock_part, name, sizeof name);
    if (m->shock_row) cri_put_text(out, "break_part", name);
}

cr_status cri_kalman_describe(cr_ctx *cx, const void *state, const cr_design *d, cri_sheet *out)
{
    const kalman_state *m = state;
    cr_status           st = CR_OK;
    cri_sheet          *list = cri_put_list(out, "parameters");
    if (m->plan) st = add_parameters(cx, m, d, list);
    if (st != CR_OK) return st;
    add_coefficients(m, d, list);
    double counted = (double)(m->n_theta + m->fixing);
    double height = m->log_likelihood - (double)(m->observed - m->fixing) * log(d->target_scale);
    cri_sheet *s = cri_put_object(out, "statistics");
    if (m->components) cri_put_text(s, "components", m->components);
    cri_put_text(s, "likelihood",
                 m->fixing > 0
                     ? "diffuse: the values that fix the start of the states have no density"
                     : "of all values");
    if (m->steps != CRI_KALMAN_STEPS_ROWS) {
        cri_put_real(s, "step", m->unit);
        cri_put_text(s, "gaps", m->between ? "of any length" : "whole steps");
    }
    cri_put_count(s, "series", m->series);
    if (m->beside > 0) cri_put_count(s, "columns", m->beside + 1);
    cri_put_count(s, "states", m->m);
    cri_put_count(s, "observed", m->observed);
    cri_put_count(s, "diffuse", m->fixing);
    if (m->fixing > 0) put_unknown(m, d, s);
    cri_put_real(s, "aic", 2 * counted - 2 * height);
    cri_put_real(s, "bic", log((double)m->observed) * counted - 2 * height);
    if (m->plan) {
        cri_put_real(s, "gradient", m->gradient);
        cri_put_count(s, "starts", m->starts);
        cri_put_count(s, "starts_agreed", m->agreed);
        if (m->settings > 0) cri_put_count(s, "settings", m->settings);
        if (m->settings > 0) cri_put_real(s, "settings_dof", m->dof);
        add_zeros(m, d, s);
    }
    add_checks(m, d, s);
    return CR_OK;
}
