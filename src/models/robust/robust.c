/* robust.c -- regression that a few wild rows do not sway.
 *   student    y = b0 + x.b + s t_nu, nu given or estimated: posterior mode under a weak prior, with s as
 *              the n - p rows beyond the line know it, or maximum likelihood
 *   huber      minimise sum rho_c(r / s), rho quadratic to c and linear beyond; s the median |r| / 0.6745
 *   lad        minimise sum |r|: the conditional median
 *   quantile   minimise sum r (t - 1{r < 0}): the conditional quantile of share t
 * Predictive: Student t; normal of the scale s; Laplace, symmetric or not, at the mean loss; each
 * widened by what the line itself is unsure of.  References in reweight.h and quantile.h. */
#include "quantile.h"
#include "reweight.h"
#include "models/linear/relations.h"
#include "base/scratch.h"
#include "math/special/special.h"
#include "math/constants.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define ROBUST_OPTIONS(X)                                                                            \
    X(choice, method,    "student", "student|huber|lad|quantile",                                    \
      "Student-t noise, Huber's loss, least absolute deviations, or any quantile", "lad")            \
    X(real,   dof,       "", ">0", "student: degrees of freedom; estimated if not given", "4") \
    X(choice, prior,     "weak", "weak|none",                                                          \
      "student: weak is a Gamma(2, 0.1) prior on the degrees of freedom with a scale that allows for the estimated coefficients; none is maximum likelihood", "none") \
    X(real,   tuning,    "1.345", ">0", "huber: where the loss becomes linear, in standard deviations", "2") \
    X(real,   quantile,  "0.5", "0<..<1", "quantile: the share of the rows below the line", "0.9")   \
    X(flag,   intercept, "true", "", "fit an intercept", "false")                                    \
    X(count,  max_iter,  "1000", "1..1000000", "maximum number of iterations", "100")                             \
    X(real,   tolerance, "1e-12", ">0", "stop when the relative change of the likelihood is below this", "1e-8")
/* clang-format on */
typedef enum robust_method { STUDENT, HUBER, LAD, QUANTILE } robust_method;
enum { PRIOR_WEAK, PRIOR_NONE };
static const char *const method_names[] = { "student", "huber", "lad", "quantile" };

CR_OPTIONS(robust_options, robust_table, ROBUST_OPTIONS);
static const cri_requirement robust_requirements[] = {
    { "quantile", "method", "quantile", false },
    { "tuning", "method", "huber", false },
    { "dof", "method", "student", false },
    { "prior", "method", "student", false },
    CRI_REQUIREMENT_LAST,
};

/* clang-format off */
#define ROBUST_STATE(MEMBER)                                                                        \
    MEMBER(count, method,         (),              "0..3",        "as its option has them")         \
    MEMBER(flag,  nu_given,       (),              "",            "not estimated")                  \
    MEMBER(real,  scale,          (),              "any none",    "of the noise")                   \
    MEMBER(real,  nu,             (),              "any endless", "degrees of freedom of the noise") \
    MEMBER(real,  share,          (),              "0<..<1",      "of quantiles")                   \
    MEMBER(real,  tuning,         (),              "any none",    "of huber")                       \
    MEMBER(real,  n,              (),              "any none",    "rows that count")                \
    MEMBER(real,  parameters,     (),              "any none",    "that were estimated")            \
    MEMBER(real,  objective,      (),              "any none",    "at the end")                     \
    MEMBER(real,  gap,            (),              "any none",    "between primal and dual")        \
    MEMBER(real,  log_likelihood, (),              "any none",    "of student")                     \
    MEMBER(real,  scale_dof,      (),              "any none later", "of the estimate of the scale; none: taken for exact") \
    MEMBER(part,  line,           (cri_predictor), "", "sigma: so that sigma^2 h is the variance of the line; sds")
/* clang-format on */

CRI_RECORD(robust_state, ROBUST_STATE);
CRI_RECORD_TABLE(static, robust_record, robust_state, ROBUST_STATE);

/* --- standard errors ------------------------------------------------------------------------- */

/* The line in the geometry of least squares with the plain weights: Cov b = sigma^2 (X^T W
 * X)^-1. */
static void set_line(robust_state *m, cri_predictor *plain, double intercept, const double *coef,
                     double sigma)
{
    m->line = *plain;
    *plain = (cri_predictor){ 0 };
    m->line.intercept = m->line.at_centre = intercept;
    for (size_t j = 0; j < m->line.p; j++) {
        m->line.coef[j] = coef[j];
        m->line.at_centre += coef[j] * m->line.centre[j];
    }
    m->line.sigma = sigma;
    bool normal = m->method == STUDENT && isnan(m->scale_dof);
    m->line.dof = normal ? INFINITY : m->n - m->parameters;
    cri_predictor_set_sds(&m->line);
}

/* sigma of Huber's estimate: s K sqrt(sum psi^2 / (n - p)) / mean psi', K its correction for few
 * rows; Huber (1981), eq. 7.6.11. */
static double huber_sigma(const robust_state *m, const double *r, const double *w, size_t n)
{
    double squares = 0, inside = 0;
    for (size_t i = 0; i < n; i++) {
        double z = fabs(r[i]) / m->scale, psi = fmin(z, m->tuning);
        squares += w[i] * psi * psi;
        inside += w[i] * (z <= m->tuning);
    }
    double share = inside / m->n, K = 1 + m->parameters / m->n * (1 - share) / share;
    return m->scale * K * sqrt(squares / (m->n - m->parameters)) / share;
}

/* 1 / density of the residuals at their quantile, from the slope of the quantiles about it.  The
 * width is Hall & Sheather's (1988), or wide enough for as many rows as there are coefficients; the
 * rows the line passes through have no residual of their own and are left out, as in Koenker
 * (2005), sec. 3.4. */
static cr_status sparsity(cr_ctx *cx, const robust_state *m, const double *r, const double *w,
                          size_t n, double *out)
{
    double     t = m->share, total = 0;
    size_t     kept = 0;
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double(*pairs)[2] = cr_scratch_bytes(&s, n, sizeof *pairs);
    double z = cr_norm_ppf(t), f = exp(cr_norm_logpdf(z));
    double h =
        pow(m->n, -1.0 / 3) * pow(CRI_Z95, 2.0 / 3) * pow(1.5 * f * f / (2 * z * z + 1), 1.0 / 3);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        if (!(w[i] > 0) || fabs(r[i]) <= 1e-9 * m->scale) continue;
        pairs[kept][0] = r[i], pairs[kept++][1] = w[i];
        total += w[i];
    }
    *out = NAN;
    if (kept < 2) goto done;
    h = fmax(h, (m->parameters + 1) / (2 * total));
    double high = fmin(t + h, 1 - 0.5 / total), low = fmax(t - h, 0.5 / total);
    *out = (cri_weighted_quantile(pairs, kept, high) - cri_weighted_quantile(pairs, kept, low)) /
           (high - low);
done:
    cr_scratch_end(&s);
    return st;
}

/* Normal intervals of a scale that outliers do not sway leave these out: more than 8 of 100 rows of the fit, by
 * more than two standard errors, lie beyond their own 95 % intervals. */
static void warn_outliers(cr_ctx *cx, const robust_state *m, const double *r, const double *w,
                          size_t n)
{
    double beyond = 0;
    for (size_t i = 0; i < n; i++) beyond += w[i] * (fabs(r[i]) > 1.96 * m->scale) / m->n;
    if (!(beyond > 0.08 + 2 * sqrt(0.08 * 0.92 / m->n))) return;
    cr_log(cx, CR_LOG_WARNING,
           "%.0f %% of the rows lie outside their own 95 %% intervals, which assume normal noise "
           "and are too narrow: --method student or --calibrate conformal gives wider ones",
           100 * beyond);
}

/* --- fit ------------------------------------------------------------------------------------- */

/* Student's t and Huber's M, by reweighting. */
static cr_status fit_reweighted(cr_ctx *cx, const cri_rows *rows, const double *w,
                                const robust_options *o, robust_state *m, cri_predictor *plain,
                                cr_report *report)
{
    cr_status          st = CR_OK;
    cri_robust_fit     f = { 0 };
    bool               weak = m->method == STUDENT && o->prior == PRIOR_WEAK;
    cri_robust_problem p = { .rows = rows,
                             .weight = w,
                             .intercept = o->intercept,
                             .nu = o->dof,
                             .restricted = weak && m->n > m->parameters,
                             .tuning = o->tuning,
                             .tolerance = o->tolerance,
                             .max_iter = o->max_iter };
    double             sigma;

    CR_TRY(m->method == STUDENT ? cri_student_solve(cx, &p, &f) : cri_huber_solve(cx, &p, &f));
    m->scale = f.scale;
    m->nu = f.nu;
    m->nu_given = !isnan(o->dof);
    m->log_likelihood = f.log_likelihood - m->n * log(rows->design->target_scale);
    m->scale_dof = weak || m->method == HUBER ? m->n - m->parameters : NAN;
    if (m->n <= m->parameters) m->scale = NAN, m->log_likelihood = NAN;
    sigma = isnan(m->scale)        ? NAN
            : m->method == STUDENT ? f.scale * sqrt((f.nu + 3) / (f.nu + 1))
                                   : huber_sigma(m, f.r, w, rows->n);
    set_line(m, plain, f.line.intercept, f.line.coef, sigma);
    report->stop = f.converged ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
    report->iterations = f.iterations;
    int bound =
        m->method == STUDENT && isnan(o->dof) && !isnan(m->scale) ? cri_student_bound(f.nu) : 0;
    if (m->method == HUBER && !isnan(m->scale)) warn_outliers(cx, m, f.r, w, rows->n);
    if (bound > 0)
        cr_log(cx, CR_LOG_INFO,
               "the noise looks normal: the degrees of freedom ended at their upper bound");
    if (bound < 0)
        cr_log(cx, CR_LOG_WARNING,
               "the tails of the noise are as heavy as those of a Cauchy distribution or heavier: "
               "the degrees of freedom ended at their lower bound of 1, where neither mean nor "
               "variance exists; "
               "--calibrate conformal gives intervals that hold");
done:
    cri_robust_fit_free(cx, &p, &f);
    return st;
}

/* Aliased columns are left out, as the plain fit has found them. */
static size_t kept_columns(const cri_predictor *plain, size_t *kept)
{
    size_t n = 0;
    for (size_t j = 0; j < plain->p; j++)
        if (!isnan(plain->coef_sd[j]) || plain->coef[j] != 0) kept[n++] = j;
    return n;
}

/* Least absolute deviations and quantiles, by linear programming. */
static cr_status fit_quantile(cr_ctx *cx, const cri_rows *rows, const double *w,
                              const robust_options *o, robust_state *m, cri_predictor *plain,
                              cr_report *report)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           n = rows->n, p = rows->p, q;
    size_t          *kept = cr_scratch_index(&s, p);
    double          *all = cr_scratch_matrix(&s, n, p), *X = cr_scratch_matrix(&s, n, p + 1);
    double          *b = cr_scratch_f64(&s, p + 1), *r = cr_scratch_f64(&s, n);
    double          *coef = cr_scratch_f64(&s, p), intercept, slope = NAN, size = 0;
    cri_quantile_fit fit;

    CR_TRY(s.status);
    q = kept_columns(plain, kept);
    CR_TRY(cri_rows_matrix(cx, rows, all));
    size_t width = q + o->intercept;
    for (size_t i = 0; i < n; i++) { /* centred and scaled, so that the equations are well posed */
        for (size_t j = 0; j < q; j++)
            X[i * width + j] =
                (all[i * p + kept[j]] - plain->centre[kept[j]]) / plain->scale[kept[j]];
        if (o->intercept) X[i * width + q] = 1;
    }
    for (size_t j = 0; j < q; j++) b[j] = plain->coef[kept[j]] * plain->scale[kept[j]];
    if (o->intercept) b[q] = plain->at_centre;
    CR_TRY(cri_quantile_solve(cx, X, rows->y, w, n, width, m->share, o->max_iter, b, &fit));
    for (size_t i = 0; i < n; i++) {
        if (w[i] > 0) size = fmax(size, fabs(rows->y[i]));
        r[i] = rows->y[i];
        for (size_t j = 0; j < width; j++) r[i] -= X[i * width + j] * b[j];
    }
    intercept = o->intercept ? b[q] : 0;
    memset(coef, 0, p * sizeof *coef);
    for (size_t j = 0; j < q; j++) {
        coef[kept[j]] = b[j] / plain->scale[kept[j]];
        intercept -= coef[kept[j]] * plain->centre[kept[j]];
    }
    m->objective = fit.objective * rows->design->target_scale;
    m->gap = fit.gap * rows->design->target_scale;
    m->scale = fit.objective / m->n; /* the maximum of the asymmetric Laplace's likelihood */
    m->nu = INFINITY;
    if (!(m->scale > 1e-13 * size) || m->n <= m->parameters) m->scale = NAN;
    m->log_likelihood =
        m->n * (log(m->share * (1 - m->share) / m->scale) - 1 - log(rows->design->target_scale));
    if (!isnan(m->scale)) CR_TRY(sparsity(cx, m, r, w, n, &slope));
    set_line(m, plain, intercept, coef, sqrt(m->share * (1 - m->share)) * slope);
    report->stop = fit.converged ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
    report->iterations = fit.iterations;
done:
    cr_scratch_end(&s);
    return st;
}

/* Says why there are no intervals. */
static void warn_without_spread(cr_ctx *cx, const robust_state *m)
{
    if (m->n <= m->parameters)
        cr_log(
            cx, CR_LOG_WARNING,
            "there are as many coefficients as rows: no standard errors or intervals can be given");
    else if (m->method == LAD || m->method == QUANTILE)
        cr_log(cx, CR_LOG_WARNING,
               "all rows lie on a line: their scale is 0, so no intervals can be given");
    else
        cr_log(cx, CR_LOG_WARNING,
               "at least half of the rows lie on a line: their scale is 0, so no intervals can be "
               "given; --method lad uses the spread of all rows");
}

enum { FEW_FOR_HUBER = 50 }; /* the median of fewer residuals is too small a scale */

/* Rows beyond a quantile, n min(t, 1 - t), that its line and the density there are to be learned from. */
static const double FEW_FOR_QUANTILE = 5;

static void warn_of_few_rows(cr_ctx *cx, const robust_state *m)
{
    double beyond = m->n * fmin(m->share, 1 - m->share);
    if (m->method == HUBER && m->n < FEW_FOR_HUBER)
        cr_log(cx, CR_LOG_WARNING,
               "with fewer than %d rows the intervals of --method huber are too narrow; use "
               "--method student",
               FEW_FOR_HUBER);
    if (m->method == QUANTILE && beyond < FEW_FOR_QUANTILE * (1 - 1e-9))
        cr_log(cx, CR_LOG_WARNING,
               "of %.0f rows, about %.1f lie beyond the quantile %g: with fewer than %.0f its "
               "intervals are too narrow; a quantile nearer to 0.5 needs fewer rows",
               m->n, beyond, m->share, FEW_FOR_QUANTILE);
}

/* Linear programming, which knows of no level that it could leave out, and levels of nearly one row each. */
static cr_status check_levels(cr_ctx *cx, const cri_rows *rows, const robust_options *o)
{
    bool   programme = o->method == LAD || o->method == QUANTILE, few = 2 * rows->p > rows->n;
    double most = programme ? 3e10 : few ? 5e9 : INFINITY; /* operations: half a minute, or more */
    return cri_refuse_levels(cx, rows, most,
                             programme && !few
                                 ? "--method student and huber can take so many levels"
                                 : "and ridge can learn from so many levels");
}

static cr_status robust_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                            void **out_state, cr_report *report)
{
    cr_status             st = CR_OK;
    const robust_options *o = options;
    cr_scratch            s = cr_scratch_begin(cx);
    double               *w = cr_scratch_f64(&s, rows->n);
    robust_state         *m = cr_alloc(cx, 1, sizeof *m);
    cri_predictor         plain = { 0 };
    cri_least_squares     facts;
    (void)seed;

    CR_TRY(s.status);
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(check_levels(cx, rows, o));
    for (size_t i = 0; i < rows->n; i++) m->n += w[i] = rows->w ? rows->w[i] : 1;
    CR_TRY(cri_least_squares_auto(cx, rows, o->intercept, &plain, &facts));
    if (facts.rank < rows->p) CR_TRY(cri_relations_of_rows(cx, rows, o->intercept, &plain));
    m->method = (size_t)o->method;
    m->parameters = (double)(facts.rank + o->intercept);
    m->share = m->method == LAD ? 0.5 : o->quantile;
    m->tuning = o->tuning;
    m->objective = m->gap = m->scale_dof = NAN;
    CR_TRY(m->method == LAD || m->method == QUANTILE
               ? fit_quantile(cx, rows, w, o, m, &plain, report)
               : fit_reweighted(cx, rows, w, o, m, &plain, report));
    if (isnan(m->scale))
        warn_without_spread(cx, m);
    else
        warn_of_few_rows(cx, m);
    report->log_likelihood = m->log_likelihood;
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_robust, m);
    cri_predictor_free(cx, &plain);
    cr_scratch_end(&s);
    return st;
}

/* --- predict --------------------------------------------------------------------------------- */

/* The scale of the noise whose variance is that of the noise and of the line together. */
static double widened(double scale, double share_of_variance, double line_variance)
{
    return sqrt(scale * scale + line_variance / share_of_variance);
}

/* The noise is normal with a variance that is nu / chi^2_nu of s^2, and s^2 is itself known as well as
 * from k = n - p rows: the logarithms of both vary by about 2 / nu and 2 / k, and that of their product
 * as that of a t with 1 / (1 / nu + 1 / k) degrees of freedom, which is exact for normal noise and for
 * many rows. */
static cr_status robust_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                cr_prediction *out)
{
    cr_status           st = CR_OK;
    const robust_state *m = state;
    double              t = m->share, unit = rows->design->target_scale;
    double        al = (1 - 2 * t * (1 - t)) / (t * t * (1 - t) * (1 - t)); /* variance / scale^2 */
    double        dof = isnan(m->scale_dof) ? m->nu : 1 / (1 / m->nu + 1 / m->scale_dof);
    bool          quantile = (m->method == LAD || m->method == QUANTILE) && !isnan(m->scale);
    cr_scratch    s = cr_scratch_begin(cx);
    cr_prediction line = { .n = rows->n,
                           .mean = out->mean,
                           .scale = out->scale,
                           .dof = out->dof,
                           .leverage = out->scale ? cr_scratch_f64(&s, rows->n) : NULL };
    CR_TRY(s.status);
    CR_TRY(cri_predictor_predict(cx, &m->line, rows, &line));
    if (!out->scale) goto done;
    if (quantile) CR_TRY(cri_prediction_family(cx, out, "asymmetric-laplace", 3));
    for (size_t i = 0; i < rows->n; i++) {
        double line_variance = m->line.sigma * m->line.sigma * line.leverage[i];
        double ratio = m->nu > 2 && isfinite(m->nu) ? m->nu / (m->nu - 2) : 1;
        double scale =
            widened(m->scale, quantile ? al : ratio, isnan(line_variance) ? 0 : line_variance);
        out->dof[i] = dof;
        out->scale[i] = quantile ? scale * sqrt(al) : scale;
        if (!quantile) continue;
        double *params = out->params + i * 3;
        params[0] = out->mean[i] * unit + rows->design->target_shift;
        params[1] = scale * unit;
        params[2] = t;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Of the line itself, which is the middle or the quantile. */
static cr_status robust_mean(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    const robust_state *m = state;
    cr_status           st = cri_predictor_predict(cx, &m->line, rows, out);
    return st != CR_OK ? st : cri_predictor_drop_noise(cx, &m->line, rows, out);
}

static cr_status robust_undetermined(cr_ctx *cx, const void *state, const cri_rows *rows,
                                     size_t *which)
{
    return cri_predictor_undetermined(cx, &((const robust_state *)state)->line, rows, which);
}

/* --- describe and file ----------------------------------------------------------------------- */

static const cr_field robust_statistics[] = {
    CR_TEXT("method", 0, "huber, lad, quantile, ... as in --method"),
    CR_NUMBER("quantile", CR_FIELD_EITHER, "of quantile: the share of the rows below"),
    CR_NUMBER("dof", CR_FIELD_EITHER, "of student: degrees of freedom of the noise"),
    CR_TEXT("at_bound", CR_FIELD_SOMETIMES,
            "of student: the bound at which the degrees of freedom ended"),
    CR_MEASURE("scale", "target", CR_FIELD_NULL, "scale of the noise"),
    CR_NUMBER("objective", CR_FIELD_EITHER | CR_FIELD_OF_TARGET,
              "of lad and quantile: sum of absolute residuals, or their asymmetric sum"),
    CR_NUMBER("duality_gap", CR_FIELD_EITHER | CR_FIELD_OF_TARGET,
              "of these: how far from the minimum it can be"),
    CR_NUMBER("aic", CR_FIELD_EITHER | CR_FIELD_CRITERION, "Akaike's criterion"),
    CR_NUMBER("bic", CR_FIELD_EITHER | CR_FIELD_CRITERION, "Schwarz's criterion"),
    CR_FIELD_LAST,
};

static cr_status robust_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                 cri_sheet *out)
{
    const robust_state *m = state;
    double              k = m->parameters + 1 + (m->method == STUDENT && !m->nu_given);
    cri_sheet          *s;
    cri_predictor_describe(&m->line, design, true, out);
    s = cri_put_object(out, "statistics");
    cri_put_text(s, "method", method_names[m->method]);
    if (m->method == QUANTILE) cri_put_real(s, "quantile", m->share);
    if (m->method == STUDENT) cri_put_real(s, "dof", m->nu);
    if (m->method == STUDENT && !m->nu_given && cri_student_bound(m->nu) != 0)
        cri_put_text(s, "at_bound", cri_student_bound(m->nu) > 0 ? "dof (upper)" : "dof (lower)");
    cri_put_real(s, "scale", m->scale * design->target_scale);
    if (m->method == LAD || m->method == QUANTILE) {
        cri_put_real(s, "objective", m->objective);
        cri_put_real(s, "duality_gap", m->gap);
    }
    if (m->method != HUBER) {
        cri_put_real(s, "aic", 2 * k - 2 * m->log_likelihood);
        cri_put_real(s, "bic", k * log(m->n) - 2 * m->log_likelihood);
    }
    (void)cx;
    return CR_OK;
}

static cr_status robust_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    const robust_state *m = state;
    (void)cx;
    return cri_predictor_fits(&m->line, cr_design_terms(design)) ? CR_OK : CR_EDATA;
}

const cr_model_class cri_class_robust = {
    .name = "robust",
    .summary = "regression robust against outliers: Student-t, Huber, medians, quantiles",
    .formulas = "student:  y = b0 + x.b + s t_nu,  nu ~ Gamma(2, 0.1): posterior mode; --prior "
                "none: maximum likelihood\n"
                "huber:    minimise sum_i w_i rho_c(r_i / s),  s = median |r| / 0.6745\n"
                "lad:      minimise sum_i w_i |r_i|;  quantile:  sum_i w_i r_i (t - [r_i < 0])",
    .reference =
        "Lange, Little & Taylor (1989), JASA 84; Huber (1981), Robust Statistics; Koenker (2005), "
        "Quantile Regression",
    .tasks = CR_TASK_REGRESSION,
    .options = robust_table,
    .requirements = robust_requirements,
    .options_size = sizeof(robust_options),
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .whole = &(const cri_whole_face){ .fit = robust_fit },
    .rows = &(const cri_rows_face){ .predict = robust_predict,
                                    .mean = robust_mean,
                                    .undetermined = robust_undetermined,
                                    .means_alone = true },
    .describe = robust_describe,
    .statistics = robust_statistics,
    .state = robust_record,
    .state_size = sizeof(robust_state),
    .ready = robust_ready,
};
