/* linear.c -- ordinary (and weighted) least squares with its standard errors.
 *   y = b0 + x . b + e,  e ~ N(0, s^2);   s^2 = RSS / (n - rank),   Cov b = s^2 (X^T W X)^-1,
 * a row of weight w counting as w rows, n the sum of the weights (or, with --weights-are
 * precisions, as one row whose noise has the variance s^2 / w); predictive: Student t with n - rank
 * degrees of freedom, scale s sqrt(1 + h), h the leverage.  With --select the terms are a subset,
 * chosen among the best of each size (selection.h); all else is as if it had been given. Seber &
 * Lee (2003), Linear Regression Analysis, ch. 3 and 5. */
#include "bordered.h"
#include "linear_fit.h"
#include "relations.h"
#include "models/core/rows_check.h"
#include "base/scratch.h"
#include "math/special/special.h"

#include <math.h>

CR_OPTIONS_TABLE(static, linear_table, cri_linear_options, CRI_LINEAR_OPTIONS);
static const cri_requirement linear_requirements[] = {
    { "criterion", "select", "best|forward|backward", false },
    { "cv_folds", "select", "best|forward|backward", false },
    CRI_WEIGHTS_ARE_REQUIRES,
    CRI_REQUIREMENT_LAST,
};

CRI_RECORD_TABLE(static, linear_record, cri_linear, CRI_LINEAR_STATE);
CRI_RECORD_TABLE(static, linear_sums_record, cri_linear, CRI_LINEAR_SUMS);

/* --- fit ------------------------------------------------------------------------------------- */

static cr_status check_options(cr_ctx *cx, const cri_linear_options *o)
{
    if (o->select != CRI_SUBSET_NONE && o->weights_are == CRI_WEIGHTS_PRECISE) {
        cr_fail(cx, CR_EARG,
                "--select treats weights as repetitions, but --weights-are says precisions");
        return cr_fail_hint(cx, "select first; then fit the chosen columns with --features");
    }
    if (o->noise_model && (o->select != CRI_SUBSET_NONE || o->errors != CRI_CLASSICAL)) {
        cr_fail(cx, CR_EARG, "--noise-model cannot be combined with --select or --errors");
        return cr_fail_hint(cx, "leave one of them out");
    }
    if (o->select != CRI_SUBSET_NONE || o->size == CR_COUNT_UNSET) return CR_OK;
    cr_fail(cx, CR_EARG, "--size is the number of terms of a selection, but there is no selection");
    return cr_fail_hint(cx, "add --select best, forward or backward");
}

/* What the coefficients leave of the rows; intervals after a selection may have fewer. */
static double residual_dof(const cri_linear *m)
{
    double q = (double)m->facts.rank + m->fit.has_intercept;
    return m->inflation > 0 ? m->facts.weight - q : m->fit.dof;
}

/* Residuals that are rounding of the target. */
static bool fits_perfectly(const cri_linear *m)
{
    double mean = m->fit.has_intercept ? m->fit.at_centre : 0;
    double square = m->facts.tss + m->facts.weight * mean * mean;
    return m->fit.dof > 0 && m->facts.tss > 0 && m->facts.rss <= 1e-28 * square;
}

/* A variance of new rows that is more than twice what the residuals say. */
static void warn_of_selection(cr_ctx *cx, const cri_linear *m)
{
    const cri_selection *s = &m->selection;
    if (m->inflation > 2)
        cr_log(
            cx, CR_LOG_WARNING,
            "the %zu terms were searched for among %zu, and the squared error in rows left out is "
            "%.3g times what their residuals say: the standard errors and intervals are widened "
            "by that, but t and p are not to be relied on",
            s->size, s->p, m->inflation);
}

static void warn(cr_ctx *cx, const cri_linear *m)
{
    if (m->method != CRI_SUBSET_NONE) warn_of_selection(cx, m);
    if (fits_perfectly(m)) cri_warn_of_perfect_fit(cx);
    if (m->fit.dof < 0 && m->facts.weight < (double)m->facts.rank + m->fit.has_intercept)
        cr_log(cx, CR_LOG_WARNING,
               "the weights add up to %.3g rows, fewer than the %zu coefficients: no standard "
               "errors or intervals can be given; use --weights-are precisions if only their "
               "ratios have a meaning",
               m->facts.weight, m->facts.rank + m->fit.has_intercept);
    else if (!(m->fit.dof > 0))
        cr_log(cx, CR_LOG_WARNING,
               "there are as many coefficients as rows: "
               "no standard errors or intervals can be given");
    if (m->facts.lsqr && m->fit.dof > 0)
        cr_log(
            cx, CR_LOG_WARNING,
            "%zu sparse columns: the coefficients are given without standard errors, and intervals "
            "have the mean leverage of the training rows",
            m->fit.p);
    if (m->facts.correction > 1e-6 && !m->facts.lsqr)
        cr_log(
            cx, CR_LOG_WARNING,
            "the columns are so nearly dependent (condition %.1e) that the coefficients have only "
            "about %.0f correct digits",
            m->facts.condition, fmax(0, -log10(m->facts.correction)));
}

/* At the maximum; NaN where the rows are used up and the likelihood has none. */
static double log_likelihood(const cri_linear *m, double target_scale)
{
    double n = m->facts.weight, variance = m->facts.rss / n;
    if (!(m->fit.dof > 0)) return NAN;
    return -0.5 * n * (log(2 * M_PI * variance) + 1) - n * log(target_scale) +
           0.5 * m->precisions.logs;
}

/* Whether the rows can be remembered for updates: not a selection, not too many terms, and not at
 * a cost beyond that of the fit. */
static bool can_remember(const cri_rows *rows, const cri_linear *m)
{
    if (m->method != CRI_SUBSET_NONE || m->facts.lsqr || rows->p > CRI_MOST_FACTOR) return false;
    return !cri_rows_are_sparse(rows) || m->facts.gram || rows->n * rows->p <= 1000000;
}

/* Standard errors from the residuals of the rows.  A weight is that many rows, or a precision that
 * counts in the score and in the leverage. */
static cr_status set_robust(cr_ctx *cx, const cri_rows *rows, const cri_linear_options *o,
                            cri_linear *m)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    double       *square = cr_scratch_f64(&s, rows->n), n = m->facts.weight;
    bool          precise = o->weights_are == CRI_WEIGHTS_PRECISE && rows->w;
    cr_prediction p = { .n = rows->n, .mean = square };
    CR_TRY(s.status);
    if (m->facts.lsqr)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                       "--errors %s: %zu sparse columns have no standard errors",
                       cri_errors_name((cri_errors)o->errors), rows->p));
    CR_TRY(cri_predictor_predict(cx, &m->fit, rows, &p));
    for (size_t i = 0; i < rows->n; i++) {
        double e = rows->y[i] - square[i], w = rows->w ? rows->w[i] : 1;
        square[i] = (precise ? w * w : w) * e * e;
    }
    m->errors = (size_t)o->errors;
    CR_TRY(cri_predictor_set_robust(cx, rows, (cri_errors)o->errors, square,
                                    precise ? rows->w : NULL, n / residual_dof(m), &m->fit));
done:
    cr_scratch_end(&s);
    return st;
}

/* Where it is worth a pass over them: leave-one-out, and the leverages. */
static cr_status look_at_rows(cr_ctx *cx, cri_linear *m, const cri_rows *rows)
{
    double          terms = m->fit.diagonal ? 1 : (double)rows->p; /* that a row costs */
    cri_fit_quality q;
    m->loocv = m->max_leverage = NAN;
    if ((double)rows->n * terms * (double)m->fit.rank > 1e8) return CR_OK;
    cr_status st = cri_predictor_quality(cx, &m->fit, rows, &q);
    if (st != CR_OK) return st;
    m->loocv = q.loo;
    m->max_leverage = q.max_leverage;
    m->max_row = q.max_row;
    return CR_OK;
}

static cr_status linear_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                            void **out_state, cr_report *report)
{
    cr_status   st = CR_OK;
    cri_moments moments = { 0 };
    cri_linear *m = cr_alloc(cx, 1, sizeof *m);

    if (!m) return CR_ENOMEM;
    const cri_linear_options *o = options;
    CR_TRY(check_options(cx, o));
    CR_TRY(cri_check_sizes(cx, rows, false));
    if (o->noise_model && rows->w)
        CR_TRY(cr_fail(cx, CR_EARG,
                       "--noise-model determines how precise each row is: it cannot be combined "
                       "with --weights"));
    CR_TRY(cri_linear_solve(cx, rows, o, seed, m, &moments, report));
    warn(cx, m);
    if (o->errors != CRI_CLASSICAL && m->fit.dof > 0) CR_TRY(set_robust(cx, rows, o, m));
    if (o->errors == CRI_CLASSICAL && !o->noise_model && can_remember(rows, m))
        CR_TRY(cri_rows_factor_of_rows(cx, rows, moments.S ? &moments : NULL, &m->factor));
    if (!m->facts.lsqr && !o->noise_model)
        CR_TRY(look_at_rows(cx, m, rows));
    else
        m->loocv = m->max_leverage = NAN;
    if (!o->noise_model) {
        report->stop = !m->facts.lsqr       ? CR_STOP_CLOSED_FORM
                       : m->facts.converged ? CR_STOP_TOLERANCE
                                            : CR_STOP_LIMIT;
        report->iterations = m->facts.iterations;
    }
    report->log_likelihood = log_likelihood(m, rows->design->target_scale);
    *out_state = m;
    m = NULL;
done:
    cri_moments_free(cx, &moments);
    cri_state_free(cx, &cri_class_linear, m);
    return st;
}

/* --- from the factor of the rows ----------------------------------------------------------- */

/* Rows of one leaf are solved by themselves, to the last digit; those of several as a stream would be, which
 * cannot look at them twice, unless there are so many terms that the factors of all leaves cost too much. */
static bool linear_serves(const cri_rows *rows, const void *options, size_t leaves)
{
    enum { MOST_MERGED = 200 };
    const cri_linear_options *o = options;
    return leaves > 1 && o->solver == CRI_LINEAR_AUTO && !o->noise_model &&
           o->errors == CRI_CLASSICAL && o->select == CRI_SUBSET_NONE && rows->p <= MOST_MERGED &&
           !cri_rows_are_sparse(rows) && !cri_bordered_pays(rows);
}

static cr_status refuse_update(cr_ctx *cx, bool selects, bool robust)
{
    cr_fail(cx, CR_EUNSUPPORTED,
            selects  ? "a linear model with --select has no exact update"
            : robust ? "the standard errors or noise of this model use all residuals, so it has no "
                       "exact update"
                     : "this linear model has too many terms for an exact update");
    return cr_fail_hint(cx, "fit it again to all the rows");
}

static cr_status linear_check(cr_ctx *cx, const void *state)
{
    const cri_linear *m = state;
    if (m->factor.q > 0) return CR_OK;
    return refuse_update(cx, m->method != CRI_SUBSET_NONE,
                         m->errors != CRI_CLASSICAL || m->noise.noise_terms > 0);
}

static cr_status linear_open(cr_ctx *cx, const cri_rows *rows, const void *options,
                             void **out_state)
{
    const cri_linear_options *o = options;
    cr_status                 st = check_options(cx, o);
    bool                      selects = o->select != CRI_SUBSET_NONE,
         robust = o->errors != CRI_CLASSICAL || o->noise_model;
    if (st == CR_OK && (selects || robust || rows->p > CRI_MOST_FACTOR))
        st = refuse_update(cx, selects, robust);
    if (st != CR_OK) return st;
    *out_state = cr_alloc(cx, 1, sizeof(cri_linear));
    return *out_state ? CR_OK : CR_ENOMEM;
}

static cr_status linear_gather(cr_ctx *cx, const void *state, const cri_rows *rows,
                               const void *options, void *sums)
{
    cri_linear *m = sums;
    (void)state;
    if (((const cri_linear_options *)options)->weights_are == CRI_WEIGHTS_PRECISE)
        m->precisions = cri_precisions_of_rows(rows);
    return cri_rows_factor_of_rows(cx, rows, NULL, &m->factor);
}

static cr_status linear_merge(cr_ctx *cx, const void *state, void *to, const void *from)
{
    cri_linear       *a = to;
    const cri_linear *b = from;
    (void)state;
    a->precisions = cri_precisions_merge(a->precisions, b->precisions);
    return cri_rows_factor_merge(cx, &a->factor, &b->factor);
}

static cr_status solve_factor(cr_ctx *cx, const cr_design *design, const cri_linear_options *o,
                              cri_linear *m)
{
    cr_status       st = CR_OK;
    cri_rows_factor scaled = { 0 };
    bool            precise = o->weights_are == CRI_WEIGHTS_PRECISE;
    if (precise) {
        CR_TRY(cri_record_copy(cx, cri_rows_factor_record, &m->factor, &scaled));
        cri_precisions_scale_factor(&m->precisions, &scaled);
    }
    CR_TRY(cri_least_squares_factor(cx, precise ? &scaled : &m->factor, design, o->intercept,
                                    &m->fit, &m->facts));
    if (m->facts.rank < m->fit.p)
        CR_TRY(cri_relations_of_factor(cx, precise ? &scaled : &m->factor, o->intercept, &m->fit));
    if (precise) cri_precisions_restore(&m->precisions, &m->fit, &m->facts);
done:
    cri_rows_factor_free(cx, &scaled);
    return st;
}

static cr_status linear_solve(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                              cr_report *report)
{
    cri_linear *m = state;
    cr_status   st = solve_factor(cx, design, options, m);
    if (st != CR_OK) return st;
    m->loocv = m->max_leverage = NAN;
    warn(cx, m);
    report->stop = CR_STOP_CLOSED_FORM;
    report->log_likelihood = log_likelihood(m, design->target_scale);
    return CR_OK;
}

static void linear_reopen(cr_ctx *cx, void *state)
{
    cri_linear *m = state;
    cri_predictor_free(cx, &m->fit);
    m->facts = (cri_least_squares){ 0 };
}

static cr_status linear_review(cr_ctx *cx, const cri_rows *rows, const void *options, void *state,
                               cr_report *report)
{
    (void)options, (void)report;
    return look_at_rows(cx, state, rows);
}

static cr_status linear_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                cr_prediction *out)
{
    const cri_linear *m = state;
    cr_status         st = cri_predictor_predict(cx, &m->fit, rows, out);
    return st != CR_OK ? st : cri_noise_model_spread(cx, &m->noise, m->fit.sigma, rows, out);
}

static cr_status linear_mean(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    const cri_linear *m = state;
    cr_status         st = cri_predictor_predict(cx, &m->fit, rows, out);
    return st != CR_OK ? st : cri_predictor_drop_noise(cx, &m->fit, rows, out);
}

static cr_status linear_mean_spread(cr_ctx *cx, const void *state, const cri_rows *rows,
                                    double *out_scale, double *out_dof)
{
    return cri_predictor_mean_spread(cx, &((const cri_linear *)state)->fit, rows, out_scale,
                                     out_dof);
}

static cr_status linear_undetermined(cr_ctx *cx, const void *state, const cri_rows *rows,
                                     size_t *which)
{
    return cri_predictor_undetermined(cx, &((const cri_linear *)state)->fit, rows, which);
}

static cr_status linear_covariance(cr_ctx *cx, const void *state, double **out, size_t *out_n)
{
    const cri_linear *m = state;
    if (m->noise.noise_terms > 0)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "there is no joint covariance of the coefficients of mean and noise: "
                       "describe shows their sds");
    return cri_predictor_covariance(cx, &m->fit, out, out_n);
}

/* --- describe -------------------------------------------------------------------------------- */

static const char *const method_names[] = { "none", "best", "forward", "backward" };

static const cr_field linear_statistics[] = {
    CR_MEASURE("residual_sd", "target", CR_FIELD_NULL,
               "standard deviation of the noise, from the residuals"),
    CR_NUMBER("residual_dof", CR_FIELD_NULL, "weight of the rows minus the number of parameters"),
    CR_MEASURE("rss", "target^2", CR_FIELD_NULL, "residual sum of squares"),
    CR_NUMBER("r2", CR_FIELD_NULL | CR_FIELD_OF_TARGET, "share of the target's variance explained"),
    CR_NUMBER("adjusted_r2", CR_FIELD_NULL | CR_FIELD_OF_TARGET,
              "the same, adjusted for degrees of freedom"),
    CR_NUMBER("f", CR_FIELD_NULL | CR_FIELD_OF_TARGET, "F of all terms together"),
    CR_NUMBER("f_p", CR_FIELD_NULL | CR_FIELD_OF_TARGET, "probability of a larger F by chance"),
    CR_NUMBER("aic", CR_FIELD_NULL | CR_FIELD_CRITERION, "Akaike's criterion"),
    CR_NUMBER("bic", CR_FIELD_NULL | CR_FIELD_CRITERION, "Schwarz's criterion"),
    CR_MEASURE("loocv", "target^2", CR_FIELD_NULL,
               "mean squared error with each row left out in turn"),
    CR_NUMBER("max_leverage", CR_FIELD_NULL, "largest influence of a row on its own fitted value"),
    CR_COUNT("max_leverage_row", CR_FIELD_NULL, "the row that has it, from 1"),
    CR_COUNT("rank", 0, "number of linearly independent terms"),
    CR_NUMBER("condition_number", CR_FIELD_NULL, "of the standardised columns"),
    CR_TEXT("solver", 0, "qr, gram or lsqr"),
    CR_COUNT("refinements", 0, "refinement steps"),
    CR_TEXT("errors", CR_FIELD_SOMETIMES, "with --errors: the kind of standard errors"),
    CR_TEXT("select", CR_FIELD_SOMETIMES, "with --select: the search"),
    CR_COUNT("selected", CR_FIELD_SOMETIMES, "with --select: terms selected"),
    CR_NUMBER("inflation", CR_FIELD_SOMETIMES,
              "with --select: squared error in rows left out over what the residuals say of it"),
    CR_TEXT("sd_given", CR_FIELD_SOMETIMES, "with --select: what the sds do not account for"),
    CR_FIELD_LAST,
};

static cr_status linear_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                 cri_sheet *out)
{
    const cri_linear        *m = state;
    const cri_least_squares *f = &m->facts;
    double                   rank = (double)f->rank, dof = residual_dof(m), n = f->weight;
    double                   r2 = f->tss > 0 ? 1 - f->rss / f->tss : NAN;
    double total = n - m->fit.has_intercept; /* degrees of freedom of the total sum of squares */
    double ratio = f->tss > 0 && dof > 0 ? (f->tss - f->rss) / rank / (f->rss / dof) : NAN;
    double k = rank + m->fit.has_intercept + 1 + (double)m->noise.noise_terms; /* with the noise */
    double loglik = log_likelihood(m, design->target_scale);
    double unit = design->target_scale; /* back to the target's units */
    cri_sheet *s;

    cri_predictor_describe(&m->fit, design, true, out);
    if (m->noise.noise_terms > 0)
        cri_noise_model_describe(&m->noise, design, m->fit.sigma * unit,
                                 cri_sheet_get(out, "parameters"));
    s = cri_put_object(out, "statistics");
    cri_put_real(s, "residual_sd", m->fit.sigma * unit);
    cri_put_real(s, "residual_dof", dof < 0 ? NAN : dof);
    cri_put_real(s, "rss", f->rss * unit * unit);
    cri_put_real(s, "r2", r2);
    cri_put_real(s, "adjusted_r2", dof < 0 ? NAN : 1 - (1 - r2) * total / dof);
    cri_put_real(s, "f", ratio);
    cri_put_real(s, "f_p", cr_f_sf(ratio, rank, dof));
    cri_put_real(s, "aic", 2 * k - 2 * loglik);
    cri_put_real(s, "bic", k * log(n) - 2 * loglik);
    cri_put_real(s, "loocv", m->loocv * unit * unit);
    cri_put_real(s, "max_leverage", m->max_leverage);
    if (isnan(m->max_leverage))
        cri_put_null(s, "max_leverage_row");
    else
        cri_put_count(s, "max_leverage_row", (size_t)m->max_row + 1);
    cri_put_count(s, "rank", f->rank);
    cri_put_real(s, "condition_number", f->condition);
    cri_put_text(s, "solver", f->lsqr ? "lsqr" : f->gram ? "gram" : "qr");
    cri_put_count(s, "refinements", f->refinements);
    if (m->errors != CRI_CLASSICAL)
        cri_put_text(s, "errors", cri_errors_name((cri_errors)m->errors));
    (void)cx;
    if (m->method == CRI_SUBSET_NONE) return CR_OK;
    cri_put_text(s, "select", method_names[m->method]);
    cri_put_count(s, "selected", m->selection.size);
    if (m->inflation > 0) cri_put_real(s, "inflation", m->inflation);
    cri_put_text(s, "sd_given",
                 m->inflation > 0
                     ? "the selected terms; widened by cross-validation, t and p flatter them"
                     : "the selected terms; selection is not counted, t and p flatter them");
    cri_selection_describe(&m->selection, design, out);
    return CR_OK;
}

/* --- file ------------------------------------------------------------------------------------ */

static cr_status linear_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_linear          *m = state;
    const cri_selection *s = &m->selection;
    size_t               p = cr_design_terms(design);
    (void)cx;
    bool fits =
        cri_predictor_fits(&m->fit, p) && (m->method != CRI_SUBSET_NONE) == (s->rss != NULL) &&
        (!s->rss || (s->p == p && s->size < s->sizes)) && cri_noise_model_fits(&m->noise, p) &&
        (!m->factor.mean || cri_rows_factor_fits(&m->factor, p));
    return fits ? CR_OK : CR_EDATA;
}

const cr_model_class cri_class_linear = {
    .name = "linear",
    .summary = "least squares with standard errors, t and p values, leverage",
    .formulas =
        "y = b0 + x.b + e,  e ~ N(0, s^2):  minimise sum_i w_i (y_i - b0 - x_i.b)^2\n"
        "s^2 = RSS / (n - rank),  Cov b = s^2 (X^T W X)^-1;  n = sum w, or rows of precision w\n"
        "--errors hc0..hc3:  Cov b = A^-1 (sum_i c_i z_i z_i^T) A^-1,  c_i from the row's "
        "residual\n"
        "prediction: Student t with n - rank degrees of freedom, scale s sqrt(1 + h)\n"
        "--select: least squares on the best subset of each size; the size by a criterion",
    .reference = "Seber & Lee (2003), Linear Regression Analysis; Bjorck (1967), BIT 7; Furnival & "
                 "Wilson (1974), Technometrics 16",
    .tasks = CR_TASK_REGRESSION,
    .options = linear_table,
    .requirements = linear_requirements,
    .options_size = sizeof(cri_linear_options),
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .takes_sparse = true,
    .sums = &(const cri_sums_face){ .record = linear_sums_record,
                                    .size = sizeof(cri_linear),
                                    .serves = linear_serves,
                                    .check = linear_check,
                                    .open = linear_open,
                                    .gather = linear_gather,
                                    .merge = linear_merge,
                                    .solve = linear_solve,
                                    .reopen = linear_reopen,
                                    .review = linear_review },
    .whole = &(const cri_whole_face){ .fit = linear_fit },
    .rows = &(const cri_rows_face){ .predict = linear_predict,
                                    .mean = linear_mean,
                                    .mean_spread = linear_mean_spread,
                                    .undetermined = linear_undetermined,
                                    .means_alone = true,
                                    .has_leverage = true },
    .covariance = linear_covariance,
    .describe = linear_describe,
    .statistics = linear_statistics,
    .tables = cri_selection_tables,
    .state = linear_record,
    .state_size = sizeof(cri_linear),
    .ready = linear_ready,
};
