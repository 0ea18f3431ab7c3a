/* describe.c -- what a fitted model says of itself: what every model has, and what its class adds. */
#include "describe.h"
#include "model_internal.h"
#include "transform_target.h"
#include "data/table/date.h"
#include "parameters.h"

#include <math.h>
#include <string.h>

/* --- what is declared ------------------------------------------------------------------------ */

const cr_field cr_parameter_table[] = {
    CR_TEXT("name", 0, "the term; intercept for the intercept"),
    CR_NUMBER("value", CR_FIELD_NULL, "posterior mean or estimate"),
    CR_NUMBER("sd", CR_FIELD_NULL,
              "posterior standard deviation or standard error; null if there is none"),
    CR_OTHER(ANY, "posterior", CR_FIELD_SOMETIMES,
             "its distribution, for models that know it: an object of family and parameters by "
             "name; null if it is not a standard one"),
    CR_NUMBER("lower", CR_FIELD_EITHER,
              "lower end of the central interval, 95 % unless --level is given"),
    CR_NUMBER("upper", CR_FIELD_EITHER, "upper end of it"),
    CR_NUMBER("mode", CR_FIELD_EITHER, "where its density is highest"),
    CR_NUMBER("hdi_lower", CR_FIELD_EITHER, "lower end of the shortest interval"),
    CR_NUMBER("hdi_upper", CR_FIELD_EITHER, "upper end of it"),
    CR_NUMBER("t", CR_FIELD_EITHER, "value / sd, for models that use Student's t tests"),
    CR_NUMBER("z", CR_FIELD_EITHER, "value / sd, for models that use normal tests"),
    CR_NUMBER("p", CR_FIELD_EITHER,
              "probability of a larger |t| or |z| by chance, for models with tests"),
    CR_NUMBER("exp", CR_FIELD_EITHER, "with --exp: exp(value), an odds ratio or a ratio of means"),
    CR_NUMBER("exp_lower", CR_FIELD_EITHER, "with --exp: exp(lower)"),
    CR_NUMBER("exp_upper", CR_FIELD_EITHER, "with --exp: exp(upper)"),
    CR_NUMBER("spread", CR_FIELD_EITHER,
              "standard deviation of the column within the class, for models of classes"),
    CR_NUMBER("rhat", CR_FIELD_EITHER, "R-hat of its Markov chains, for models that sample it"),
    CR_NUMBER("ess", CR_FIELD_EITHER, "effective number of its draws"),
    CR_NUMBER("q5", CR_FIELD_EITHER, "5 % quantile of its draws, for a program"),
    CR_NUMBER("q50", CR_FIELD_EITHER, "their median"),
    CR_NUMBER("q95", CR_FIELD_EITHER, "their 95 % quantile"),
    CR_NUMBER("ess_bulk", CR_FIELD_EITHER, "effective number of draws for its centre"),
    CR_NUMBER("ess_tail", CR_FIELD_EITHER, "effective number of draws for its tails"),
    CR_NUMBER("r_hat", CR_FIELD_EITHER,
              "rank-normalised split R-hat: 1 where the chains agree, bad above 1.01"),
    CR_NUMBER("mcse", CR_FIELD_EITHER, "Monte-Carlo standard error of value"),
    CR_NUMBER("gradient", CR_FIELD_EITHER,
              "of gp --gradient: derivative of the log evidence with respect to its logarithm; "
              "null if it is not learned"),
    CR_TEXT("of", CR_FIELD_EITHER,
            "of an element of a list, such as rbf.l[2]: its column, or its level of a category"),
    CR_FIELD_LAST,
};

static const cr_field calibration_map[] = {
    CR_TEXT("class", 0, "the class whose probability p it is; with two classes, the second"),
    CR_TEXT(
        "against", CR_FIELD_SOMETIMES,
        "of a classifier of pairs: the other class; p is then the decision between them, in the "
        "place of logit(p)"),
    CR_NUMBER("a", CR_FIELD_SOMETIMES, "platt: p becomes 1 / (1 + exp(-(a logit(p) + b)))"),
    CR_NUMBER("b", CR_FIELD_SOMETIMES, "likewise"),
    CR_NUMBER("from", CR_FIELD_SOMETIMES, "isotonic: a knot, with straight lines between; p"),
    CR_NUMBER("to", CR_FIELD_SOMETIMES, "what it becomes"),
    CR_FIELD_LAST,
};

static const cr_field conformal_score[] = {
    CR_NUMBER("level", 0, "of an interval"),
    CR_NUMBER("score", CR_FIELD_NULL,
              "the error that this share of the held-out rows does not exceed; null if there are "
              "too few"),
    CR_TEXT("unit", 0, "of the score: the predicted sd of the row, or that of the target"),
    CR_FIELD_LAST,
};

static const cr_field date_fields[] = {
    CR_TEXT("column", 0, "name of the column"),
    CR_TEXT("origin", 0, "the day or time from which the model counts days"),
    CR_FIELD_LAST,
};

const cr_field cr_description_table[] = {
    CR_TEXT("model", 0, "name of the model"),
    CR_TEXT("task", 0, "regression, classification and so on"),
    CR_OTHER(TEXTS, "features", 0, "columns the model reads"),
    CR_INNER(ROWS, "dates", CR_FIELD_SOMETIMES, "columns of dates among them", date_fields),
    CR_COUNT("terms", 0, "columns of the design, counting powers and levels"),
    CR_TEXT("target", CR_FIELD_NULL, "column to predict; null for none"),
    CR_TEXT("scale", 0, "standard or none: whether the features were standardised"),
    CR_COUNT("seed", 0, "random seed"),
    CR_COUNT("rows", 0, "rows learned from"),
    CR_MEASURE("log_evidence", "nats", CR_FIELD_EITHER,
               "log marginal likelihood, for models that have one"),
    CR_TEXT("evidence", CR_FIELD_SOMETIMES,
            "its kind if it is not exact: Laplace approximation, lower bound, estimate"),
    CR_MEASURE("log_likelihood", "nats", CR_FIELD_EITHER,
               "log likelihood at the estimate, for models without an evidence"),
    CR_COUNT("iterations", 0, "steps taken; 0 for a closed form"),
    CR_TEXT("stop", 0, "closed form, converged, iteration limit, no progress or time limit"),
    CR_TEXT("coefficients", CR_FIELD_SOMETIMES,
            "what the coefficients add up to if it is not the prediction: the log odds of one "
            "class against another, the log of the mean"),
    CR_INNER(ROWS, "parameters", 0, "parameters with their uncertainty", cr_parameter_table),
    CR_OTHER(STATISTICS, "statistics", 0,
             "what this model reports about the fit; its page lists them"),
    CR_OTHER(TEXTS, "transformed", CR_FIELD_SOMETIMES,
             "with --transform-target: the statistics that are those of the transformed target"),
    CR_INNER(ROWS, "calibration", CR_FIELD_SOMETIMES,
             "of calibrated models: how a probability is changed", calibration_map),
    CR_INNER(ROWS, "conformal", CR_FIELD_SOMETIMES, "of conformal intervals: how wide they are",
             conformal_score),
    CR_OTHER(WORDS, "settings", 0, "options of the fit, defaults included"),
    CR_OTHER(WORDS, "reading", CR_FIELD_SOMETIMES,
             "how cells were read in the training rows, and will be read in later data"),
    CR_FIELD_LAST,
};

const cr_field *cr_class_statistics(const cr_model_class *c) { return c->statistics; }

const cr_field *cr_class_tables(const cr_model_class *c)
{
    static const cr_field none[] = { CR_FIELD_LAST };
    return c->tables ? c->tables : none;
}

bool cri_description_find_fault(const cr_model_class *c, const cri_sheet *sheet, char *out,
                                size_t size)
{
    enum { MOST = 64 };
    cr_field all[MOST];
    size_t   n = 0;
    for (const cr_field *f = cr_description_table; f->name; f++) {
        all[n] = *f;
        if (f->type == CR_FIELD_STATISTICS) {
            all[n].type = CR_FIELD_OBJECT;
            all[n].inner = c->statistics;
        }
        n++;
    }
    for (const cr_field *f = cr_class_tables(c); f->name && n < MOST - 1; f++) all[n++] = *f;
    all[n] = (cr_field)CR_FIELD_LAST;
    return cri_sheet_find_fault(sheet, all, out, size);
}

/* --- what is said ---------------------------------------------------------------------------- */

/* What a probability is made of it: a and b of sigmoid(a logit(p) + b), or knots; of each class, of
 * two the second. */
static void describe_calibration(const cr_model *m, cri_sheet *out)
{
    const cri_calibration *c = m->calibration;
    bool                   platt = c && c->method == CRI_CALIBRATE_PLATT;
    if (!c) return;
    cri_sheet *list = cri_put_list(out, "calibration");
    for (size_t i = 0; i < (platt ? c->maps : c->knots); i++) {
        size_t     map = platt ? i : (size_t)c->calibration_map[i];
        cri_sheet *row = cri_put_object(list, NULL);
        size_t     minus = SIZE_MAX, plus = c->maps == 1 ? 1 : map;
        if (c->pairs) cri_pair_classes(c->classes, map, &minus, &plus);
        cri_put_text(row, "class", cr_design_class(m->design, plus));
        if (c->pairs) cri_put_text(row, "against", cr_design_class(m->design, minus));
        cri_put_real(row, platt ? "a" : "from",
                     platt ? c->calibration_slope[i] : c->calibration_x[i]);
        cri_put_real(row, platt ? "b" : "to",
                     platt ? c->calibration_offset[i] : c->calibration_y[i]);
    }
}

static void describe_report(const cr_report *r, cri_sheet *out)
{
    bool evidence = !isnan(r->log_evidence);
    cri_put_count(out, "rows", r->rows);
    if (evidence) cri_put_real(out, "log_evidence", r->log_evidence);
    if (evidence && r->evidence != CR_EVIDENCE_EXACT)
        cri_put_text(out, "evidence", cr_evidence_name(r->evidence));
    if (!isnan(r->log_likelihood) || !evidence) /* one of the two is always there */
        cri_put_real(out, "log_likelihood", r->log_likelihood);
    cri_put_count(out, "iterations", r->iterations);
    cri_put_text(out, "stop", cr_stop_name(r->stop));
}

/* The options of one table that are set, as texts; long ones too. */
static cr_status describe_options(cr_ctx *cx, const cr_option *table, const void *values,
                                  cri_sheet *out)
{
    for (const cr_option *o = table; o->name; o++) {
        if (table == cr_read_table && cr_options_at_default(o, values)) continue;
        size_t length = cr_options_print(o, values, NULL, 0);
        char  *text = cr_alloc(cx, length + 1, 1);
        if (!text) return CR_ENOMEM;
        cr_options_print(o, values, text, length + 1);
        if (length > 0) cri_put_text(out, o->name, text);
        cr_free(cx, text, length + 1, 1);
    }
    return CR_OK;
}

static void describe_dates(const cr_design *d, cri_sheet *out)
{
    cri_sheet *rows = NULL;
    for (size_t i = 0; i < d->n_read; i++) {
        const cri_design_column *c = &d->columns[i];
        char                     text[CRI_DATE_SIZE];
        if (!cri_is_date(c->type)) continue;
        if (!rows) rows = cri_put_list(out, "dates");
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_date_print(c->type, c->origin, text);
        cri_put_text(row, "column", c->name);
        cri_put_text(row, "origin", text);
    }
}

static cr_status fill(cr_ctx *cx, const cr_model *m, cri_sheet *out)
{
    cr_status  st = CR_OK;
    cri_sheet *part;
    cri_put_text(out, "model", m->class->name);
    cri_put_text(out, "task", cr_task_name(m->task));
    part = cri_put_list(out, "features");
    for (size_t i = 0; i < cr_design_columns(m->design); i++)
        cri_put_text(part, NULL, cr_design_column_name(m->design, i));
    describe_dates(m->design, out);
    cri_put_count(out, "terms", m->design->p);
    cri_put_text(out, "target", m->design->target.name);
    cri_put_text(out, "scale", m->design->standardised ? "standard" : "none");
    cri_put_count(out, "seed", m->fit.seed);
    describe_report(&m->report, out);
    CR_TRY(m->class->describe(cx, m->state, m->design, out));
    cri_describe_transformed(m, out);
    describe_calibration(m, out);
    if (m->conformal) CR_TRY(cri_conformal_describe(cx, m->conformal, out));
    part = cri_put_object(out, "settings");
    CR_TRY(describe_options(cx, cr_fit_table, &m->fit, part));
    CR_TRY(describe_options(cx, cr_design_table, &m->design_options, part));
    CR_TRY(describe_options(cx, m->class->options, m->options, part));
    if (cri_read_options_any_kept(&m->reading))
        CR_TRY(describe_options(cx, cr_read_table, &m->reading, cri_put_object(out, "reading")));
    CR_TRY(cri_sheet_status(out));
done:
    return st;
}

cr_status cri_model_describe(cr_ctx *cx, const cr_model *m, cri_sheet **out_sheet)
{
    cri_sheet *sheet = cri_sheet_new(cx);
    cr_status  st = sheet ? cri_check_fitted(cx, m) : CR_ENOMEM;
    if (st == CR_OK) st = fill(cx, m, sheet);
    if (st == CR_OK)
        *out_sheet = sheet;
    else
        cri_sheet_free(sheet);
    return st;
}

cr_status cr_describe(cr_ctx *cx, const cr_model *m, char **out_json)
{
    cri_sheet *sheet = NULL;
    cr_status  st = cri_model_describe(cx, m, &sheet);
    if (st == CR_OK) st = cri_sheet_to_json(cx, sheet, out_json);
    cri_sheet_free(sheet);
    return st;
}

cr_status cr_covariance(cr_ctx *cx, const cr_model *m, double **out, size_t *out_n)
{
    double scale = m->design->target_scale;
    if (!m->class->covariance) {
        cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no covariance of its parameters",
                m->class->name);
        return cr_fail_hint(cx, "linear and glm have one");
    }
    cr_status st = m->class->covariance(cx, m->state, out, out_n);
    for (size_t i = 0; st == CR_OK && i < *out_n * *out_n; i++) (*out)[i] *= scale * scale;
    return st;
}
