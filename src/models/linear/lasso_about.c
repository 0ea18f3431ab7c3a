/* lasso_about.c -- a lasso as it is shown, and in the model file. */
#include "lasso.h"
#include "lasso_state.h"
#include "../model_internal.h"

#include <math.h>

static const char *const choice_names[] = { "cv", "1se", "bic", "aic", "given" };

#define CRI_TYPE cri_lasso
const cri_member cri_lasso_record[] = { CRI_LASSO(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

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
                                json_t *out)
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
    st = cri_predictor_describe(cx, &all, design, CRI_SHOW_ERRORS, out);
    cri_predictor_free(cx, &all);
    return st;
}

static cr_status describe_path(cr_ctx *cx, const cri_lasso *m, double square, json_t *out)
{
    cr_status             st = CR_OK;
    const cri_lasso_path *path = &m->path;
    json_t               *list = json_array();
    CR_TRY(cri_store_set(cx, out, "path", list));
    for (size_t k = 0; k < path->L; k++) {
        json_t *item = json_object();
        double  cv = path->folds ? path->cv[k] * square : NAN;
        double  se = path->folds ? path->cv_se[k] * square : NAN;
        CR_TRY(cri_store_append(cx, list, item));
        CR_TRY(cri_store_set_real(cx, item, "lambda", path->lambda[k]));
        CR_TRY(cri_store_set(cx, item, "nonzero", json_integer((json_int_t)path->nonzero[k])));
        CR_TRY(cri_store_set(cx, item, "df",
                             cri_json_number(path->df[k] < 0 ? NAN : cri_lasso_spent(m, k))));
        CR_TRY(cri_store_set(cx, item, "r2",
                             cri_json_number(path->tt > 0 ? 1 - path->mse[k] / path->tt : NAN)));
        CR_TRY(cri_store_set(cx, item, "cv", cri_json_number(cv)));
        CR_TRY(cri_store_set(cx, item, "cv_se", cri_json_number(se)));
        CR_TRY(cri_store_set(cx, item, "chosen", json_boolean(k == m->chosen)));
    }
done:
    return st;
}

cr_status cri_lasso_describe(cr_ctx *cx, const void *state, const cr_design *design, json_t *out)
{
    cr_status             st = CR_OK;
    const cri_lasso      *m = state;
    const cri_lasso_path *path = &m->path;
    double                unit = design->target_scale, square = unit * unit, n = path->weight;
    double                left = n - m->df, total = path->tt * n;
    bool                  cv = path->folds > 0;
    double                aic = m->rss > 0 ? cri_lasso_criterion(m, m->chosen, 2, log(unit)) : NAN;
    double  bic = m->rss > 0 ? cri_lasso_criterion(m, m->chosen, log(n), log(unit)) : NAN;
    json_t *s;

    CR_TRY(describe_terms(cx, m, design, out));
    CR_TRY(cri_store_set(cx, out, "statistics", s = json_object()));
    CR_TRY(cri_store_set(
        cx, s, "objective",
        json_string("(1/2n) sum w (y - b0 - z.b)^2 + lambda (r |b|_1 + (1-r)/2 |b|^2)")));
    CR_TRY(cri_store_set_real(cx, s, "l1_ratio", m->l1_ratio));
    CR_TRY(cri_store_set_real(cx, s, "lambda", path->lambda[m->chosen]));
    CR_TRY(cri_store_set(cx, s, "choice", json_string(choice_names[m->choice])));
    CR_TRY(cri_store_set_real(cx, s, "lambda_max", path->lambda_max));
    CR_TRY(cri_store_set(cx, s, "nonzero", json_integer((json_int_t)m->k)));
    CR_TRY(cri_store_set(cx, s, "effective_df", cri_json_number(m->df)));
    CR_TRY(cri_store_set(cx, s, "residual_sd", cri_json_number(m->fit.sigma * unit)));
    CR_TRY(cri_store_set(cx, s, "rss", cri_json_number(m->rss * square)));
    CR_TRY(cri_store_set(cx, s, "r2", cri_json_number(total > 0 ? 1 - m->rss / total : NAN)));
    CR_TRY(cri_store_set(cx, s, "gcv",
                         cri_json_number(left > 0 ? n * m->rss * square / (left * left) : NAN)));
    CR_TRY(cri_store_set(cx, s, "aic", cri_json_number(aic)));
    CR_TRY(cri_store_set(cx, s, "bic", cri_json_number(bic)));
    CR_TRY(
        cri_store_set(cx, s, "cv_error", cri_json_number(cv ? path->cv[m->chosen] * square : NAN)));
    CR_TRY(
        cri_store_set(cx, s, "cv_se", cri_json_number(cv ? path->cv_se[m->chosen] * square : NAN)));
    CR_TRY(cri_store_set(cx, s, "lambda_cv",
                         cri_json_number(cv ? path->lambda[cri_lasso_path_least(path)] : NAN)));
    CR_TRY(cri_store_set(cx, s, "lambda_1se",
                         cri_json_number(cv ? path->lambda[cri_lasso_path_one_se(path)] : NAN)));
    CR_TRY(cri_store_set(cx, s, "objective_value", cri_json_number(m->objective * square)));
    CR_TRY(cri_store_set(cx, s, "kkt_violation",
                         cri_json_number(m->violation < 1e-12 ? 0 : m->violation)));
    CR_TRY(cri_store_set(cx, s, "solver", json_string(m->gram ? "gram" : "columns")));
    CR_TRY(cri_store_set(
        cx, s, "sd_given",
        json_string("the selected terms; neither selection nor shrinkage is counted")));
    CR_TRY(describe_path(cx, m, square, out));
done:
    return st;
}

cri_coefficient_path cri_lasso_coefficients(const cr_model *model)
{
    const cri_lasso *m = model->state;
    if (model->class != &cri_class_lasso) return (cri_coefficient_path){ 0 };
    return (cri_coefficient_path){ .n_lambdas = m->path.L,
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
