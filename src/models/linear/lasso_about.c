/* lasso_about.c -- a lasso as it is shown, and in the model file. */
#include "lasso_state.h"

#include <math.h>

static const char *const choice_names[] = { "cv", "1se", "bic", "aic", "given" };

CRI_RECORD_TABLE(, cri_lasso_record, cri_lasso, CRI_LASSO);

double cri_lasso_spent(const cri_lasso *m, size_t k)
{
    const cri_lasso_path *path = &m->path;
    return (path->df[k] < 0 ? path->nonzero[k] : path->df[k]) + m->fit.has_intercept;
}

double cri_lasso_criterion(const cri_lasso *m, size_t k, double price, double log_unit)
{
    double n = m->path.weight, mse = fmax(m->path.mse[k], 1e-15 * m->path.tt);
    return n * (log(2 * M_PI * mse) + 1 + 2 * log_unit) + price * (cri_lasso_spent(m, k) + 1);
}

/* --- describe -------------------------------------------------------------------------------- */

/* All terms: those left out are 0 and have no sd. */
static cr_status describe_terms(cr_ctx *cx, const cri_lasso *m, const cr_design *design,
                                cri_sheet *out)
{
    cri_predictor all = { 0 };
    cr_status     st = cri_predictor_new(cx, cr_design_terms(design), 0, &all);
    if (st != CR_OK) return st;
    for (size_t a = 0; a < m->k; a++) {
        all.coef[(size_t)m->terms[a]] = m->fit.coef[a];
        all.coef_sd[(size_t)m->terms[a]] = m->fit.coef_sd[a];
    }
    all.intercept = m->fit.intercept;
    all.intercept_sd = m->fit.intercept_sd;
    all.has_intercept = m->fit.has_intercept;
    all.dof = m->fit.dof;
    cri_predictor_describe(&all, design, CRI_SHOW_ERRORS, out);
    cri_predictor_free(cx, &all);
    return st;
}

static const cr_field point[] = {
    CR_NUMBER("lambda", CR_FIELD_OF_TARGET, "the penalty"),
    CR_COUNT("nonzero", 0, "number of nonzero terms"),
    CR_NUMBER("df", CR_FIELD_NULL, "effective degrees of freedom, with the intercept"),
    CR_NUMBER("r2", CR_FIELD_NULL | CR_FIELD_OF_TARGET, "share of the target's variance explained"),
    CR_MEASURE("cv", "target^2", CR_FIELD_NULL, "mean squared error by cross-validation"),
    CR_MEASURE("cv_se", "target^2", CR_FIELD_NULL, "its standard error"),
    CR_FLAG("chosen", 0, "true for the one the model uses"),
    CR_FIELD_LAST,
};

const cr_field cri_lasso_tables[] = {
    CR_INNER(ROWS, "path", 0, "every lambda on the path", point),
    CR_FIELD_LAST,
};

static void describe_path(const cri_lasso *m, double square, cri_sheet *out)
{
    const cri_lasso_path *path = &m->path;
    cri_sheet            *list = cri_put_list(out, "path");
    for (size_t k = 0; k < path->L; k++) {
        cri_sheet *item = cri_put_object(list, NULL);
        double     cv = path->folds ? path->cv[k] * square : NAN;
        double     se = path->folds ? path->cv_se[k] * square : NAN;
        cri_put_real(item, "lambda", path->lambda[k]);
        cri_put_count(item, "nonzero", (size_t)path->nonzero[k]);
        cri_put_real(item, "df", path->df[k] < 0 ? NAN : cri_lasso_spent(m, k));
        cri_put_real(item, "r2", path->tt > 0 ? 1 - path->mse[k] / path->tt : NAN);
        cri_put_real(item, "cv", cv);
        cri_put_real(item, "cv_se", se);
        cri_put_flag(item, "chosen", k == m->chosen);
    }
}

const cr_field cri_lasso_statistics[] = {
    CR_TEXT("objective", 0, "what the coefficients minimise"),
    CR_NUMBER("l1_ratio", 0, "share r of absolute values in the penalty"),
    CR_NUMBER("lambda", CR_FIELD_OF_TARGET, "the chosen penalty"),
    CR_TEXT("choice", 0, "how it was chosen: cv, 1se, bic, aic or given"),
    CR_NUMBER("lambda_max", CR_FIELD_OF_TARGET, "the smallest penalty with no terms"),
    CR_COUNT("nonzero", 0, "number of nonzero terms"),
    CR_NUMBER("effective_df", CR_FIELD_NULL,
              "effective degrees of freedom: the trace of the smoother"),
    CR_MEASURE("residual_sd", "target", CR_FIELD_NULL,
               "standard deviation of the noise, from the residuals"),
    CR_MEASURE("rss", "target^2", CR_FIELD_NULL, "residual sum of squares"),
    CR_NUMBER("r2", CR_FIELD_NULL | CR_FIELD_OF_TARGET, "share of the target's variance explained"),
    CR_MEASURE("gcv", "target^2", CR_FIELD_NULL,
               "mean squared error by generalised cross-validation"),
    CR_NUMBER("aic", CR_FIELD_NULL | CR_FIELD_CRITERION, "Akaike's criterion"),
    CR_NUMBER("bic", CR_FIELD_NULL | CR_FIELD_CRITERION, "Schwarz's criterion"),
    CR_MEASURE("cv_error", "target^2", CR_FIELD_NULL, "mean squared error by cross-validation"),
    CR_MEASURE("cv_se", "target^2", CR_FIELD_NULL, "its standard error"),
    CR_NUMBER("lambda_cv", CR_FIELD_NULL | CR_FIELD_OF_TARGET,
              "the penalty with the smallest cv_error"),
    CR_NUMBER("lambda_1se", CR_FIELD_NULL | CR_FIELD_OF_TARGET,
              "the largest within one standard error of it"),
    CR_MEASURE("objective_value", "target^2", CR_FIELD_NULL, "the objective at the estimate"),
    CR_NUMBER("kkt_violation", CR_FIELD_NULL | CR_FIELD_OF_TARGET,
              "largest violation of the optimality conditions"),
    CR_TEXT("solver", 0, "gram or columns"),
    CR_TEXT("sd_given", 0, "what the sds do not account for"),
    CR_NUMBER("inflation", CR_FIELD_SOMETIMES,
              "of the variance, from the error in rows left out: by how much the residuals alone "
              "are too small"),
    CR_FIELD_LAST,
};

cr_status cri_lasso_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out)
{
    cr_status             st = CR_OK;
    const cri_lasso      *m = state;
    const cri_lasso_path *path = &m->path;
    double                unit = design->target_scale, square = unit * unit, n = path->weight;
    double                left = n - m->df, total = path->tt * n;
    bool                  cv = path->folds > 0;
    double                aic = m->rss > 0 ? cri_lasso_criterion(m, m->chosen, 2, log(unit)) : NAN;
    double     bic = m->rss > 0 ? cri_lasso_criterion(m, m->chosen, log(n), log(unit)) : NAN;
    cri_sheet *s;

    CR_TRY(describe_terms(cx, m, design, out));
    s = cri_put_object(out, "statistics");
    cri_put_text(s, "objective",
                 "(1/2n) sum w (y - b0 - z.b)^2 + lambda (r |b|_1 + (1-r)/2 |b|^2)");
    cri_put_real(s, "l1_ratio", m->l1_ratio);
    cri_put_real(s, "lambda", path->lambda[m->chosen]);
    cri_put_text(s, "choice", choice_names[m->choice]);
    cri_put_real(s, "lambda_max", path->lambda_max);
    cri_put_count(s, "nonzero", m->k);
    cri_put_real(s, "effective_df", m->df);
    cri_put_real(s, "residual_sd", m->fit.sigma * unit);
    cri_put_real(s, "rss", m->rss * square);
    cri_put_real(s, "r2", total > 0 ? 1 - m->rss / total : NAN);
    cri_put_real(s, "gcv", left > 0 ? n * m->rss * square / (left * left) : NAN);
    cri_put_real(s, "aic", aic);
    cri_put_real(s, "bic", bic);
    cri_put_real(s, "cv_error", cv ? path->cv[m->chosen] * square : NAN);
    cri_put_real(s, "cv_se", cv ? path->cv_se[m->chosen] * square : NAN);
    cri_put_real(s, "lambda_cv", cv ? path->lambda[cri_lasso_path_least(path)] : NAN);
    cri_put_real(s, "lambda_1se", cv ? path->lambda[cri_lasso_path_one_se(path)] : NAN);
    cri_put_real(s, "objective_value", m->objective * square);
    cri_put_real(s, "kkt_violation", m->violation < 1e-12 ? 0 : m->violation);
    cri_put_text(s, "solver", m->gram ? "gram" : "columns");
    cri_put_text(s, "sd_given",
                 m->inflation > 0
                     ? "the selected terms; widened by cross-validation, shrinkage is not counted"
                     : "the selected terms; neither selection nor shrinkage is counted");
    if (m->inflation > 0) cri_put_real(s, "inflation", m->inflation);
    describe_path(m, square, out);
done:
    return st;
}

void cri_lasso_coefficients(const void *state, cri_coefficient_path *out)
{
    const cri_lasso *m = state;
    *out = (cri_coefficient_path){ .n_lambdas = m->path.L,
                                   .n_terms = m->path.m,
                                   .chosen = m->chosen,
                                   .lambda = m->path.lambda,
                                   .terms = m->path.terms,
                                   .coef = m->path.coef,
                                   .nonzero = m->path.nonzero,
                                   .folds = m->path.folds > 0,
                                   .least = m->path.folds ? cri_lasso_path_least(&m->path) : 0,
                                   .one_se = m->path.folds ? cri_lasso_path_one_se(&m->path) : 0 };
}

/* --- file ------------------------------------------------------------------------------------ */

/* Increasing whole numbers below p. */
static bool are_terms(const double *terms, size_t k, size_t p)
{
    for (size_t a = 0; a < k; a++)
        if (!(terms[a] >= 0 && terms[a] < (double)p && terms[a] == floor(terms[a])) ||
            (a > 0 && !(terms[a] > terms[a - 1])))
            return false;
    return true;
}

cr_status cri_lasso_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_lasso *m = state;
    size_t     p = cr_design_terms(design);
    (void)cx;
    m->path.p = p;
    bool sound = m->chosen < m->path.L && are_terms(m->terms, m->k, p) &&
                 are_terms(m->path.terms, m->path.m, p) && cri_predictor_fits(&m->fit, m->k);
    for (size_t k = 0; sound && k < m->path.L; k++) sound = m->path.nonzero[k] <= (double)p;
    return sound ? CR_OK : CR_EDATA;
}
