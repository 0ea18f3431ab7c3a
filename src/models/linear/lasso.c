/* lasso.c -- the lasso and the elastic net: least squares with a penalty that leaves terms out.
 *   minimise  (1/2n) sum_i w_i (y_i - b0 - z_i . b)^2 + lambda (r |b|_1 + (1 - r)/2 |b|^2)
 * b0 free, z standardised, n the sum of the weights; r = 1 is the lasso, the mode under independent
 * Laplace priors.  The whole path of lambdas is solved (lasso_path.h), and one of them chosen.
 * Given the terms that are not 0 and their signs the estimate is linear in y:
 *   b_A = (G + n l2 I)^-1 (Z_A^T W t - n l1 sign b_A),   l1 = lambda r, l2 = lambda (1 - r),
 *   df = tr G (G + n l2 I)^-1 + 1,   s^2 = RSS / (n - df),   G = Z_A^T W Z_A,
 * sds are from s^2 (G + n l2 I)^-1: as if the terms had been given, the choice of them not counted.
 * Tibshirani (1996); Zou & Hastie (2005); Zou, Hastie & Tibshirani (2007) for df, Tibshirani & Taylor
 * (2012) where the terms are dependent: then it is their rank. */
#include "lasso.h"
#include "lasso_path.h"
#include "predictor.h"
#include "rows_view.h"
#include "../fields.h"
#include "../model_internal.h"
#include "../../math/blas_internal.h"
#include "../../math/chol.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define LASSO_OPTIONS(X)                                                                             \
    X(real,   l1_ratio,  "1",    "0..1", "share r of the absolute penalty: 1 lasso, 0 ridge, between elastic net", "0.5") \
    X(real,   lambda,    "",     ">=0", "penalty; chosen from the path when it is not given", "0.1") \
    X(choice, choose,    "cv",   "cv|1se|bic|aic",                                                   \
      "what chooses lambda: least error by cross-validation, the largest within a standard error of it, or a criterion", "1se") \
    X(count,  path,      "100",  "1..100000", "number of lambdas on the path", "50")                 \
    X(real,   lambda_min_ratio, "", "0<..<1",                                                        \
      "last lambda over the first; 1e-4, or 0.01 when there are more terms than rows", "0.001")      \
    X(count,  cv_folds,  "10",   ">=2", "folds of the cross-validation; at most one per row", "5")   \
    X(flag,   intercept, "true", "",    "fit a free intercept", "false")                             \
    X(choice, solver,    "auto", "auto|gram|columns",                                                \
      "by cross-products, p x p, or by the columns themselves; auto: columns when there are many", "gram") \
    X(real,   tolerance, "1e-7", "0<..<1", "largest violation of the optimality conditions on the path, in sds of the target", "1e-9") \
    X(count,  max_iter,  "10000", ">=1", "most passes over the terms for one lambda", "1000")
/* clang-format on */
enum { CHOOSE_CV, CHOOSE_ONE_SE, CHOOSE_BIC, CHOOSE_AIC, CHOOSE_GIVEN };
static const char *const choice_names[] = { "cv", "1se", "bic", "aic", "given" };
enum { SOLVER_AUTO, SOLVER_GRAM, SOLVER_COLUMNS };

CR_OPTIONS_STRUCT(lasso_options, LASSO_OPTIONS);
#define ROW(...) CR_OPTION_ROW(lasso_options, __VA_ARGS__)
static const cr_option lasso_table[] = { LASSO_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

typedef struct lasso_state {
    cri_predictor  fit; /* of the k terms chosen */
    cri_lasso_path path;
    size_t         k, chosen, choice;
    double        *terms;                                   /* [k] increasing */
    double         l1_ratio, df, rss, objective, violation; /* df with the intercept */
    bool           gram;
} lasso_state;

#define COUNT(name, m)                                                                             \
    {                                                                                              \
        name, CRI_KIND_COUNT, offsetof(lasso_state, m), 0, 0, false                                \
    }
#define REAL(name, m)                                                                              \
    {                                                                                              \
        name, CRI_KIND_REAL, offsetof(lasso_state, m), 0, 0, false                                 \
    }
#define VECTOR(name, m, n)                                                                         \
    {                                                                                              \
        name, CRI_KIND_VECTOR, offsetof(lasso_state, m), offsetof(lasso_state, n), 0, false        \
    }
static const cri_field lasso_fields[] = {
    COUNT("path_lambdas", path.L),
    COUNT("path_terms", path.m),
    COUNT("folds", path.folds),
    COUNT("sweeps", path.sweeps),
    COUNT("used_terms", k),
    COUNT("chosen", chosen),
    COUNT("choice", choice),
    REAL("lambda_max", path.lambda_max),
    REAL("weight", path.weight),
    REAL("offset", path.offset),
    REAL("target_mse", path.tt),
    REAL("path_violation", path.violation),
    CRI_FIELD_REAL(lasso_state, violation),
    CRI_FIELD_REAL(lasso_state, l1_ratio),
    CRI_FIELD_REAL(lasso_state, df),
    CRI_FIELD_REAL(lasso_state, rss),
    CRI_FIELD_REAL(lasso_state, objective),
    CRI_FIELD_FLAG(lasso_state, gram),
    { "converged", CRI_KIND_FLAG, offsetof(lasso_state, path.converged), 0, 0, false },
    VECTOR("terms", terms, k),
    VECTOR("path/lambda", path.lambda, path.L),
    VECTOR("path/nonzero", path.nonzero, path.L),
    VECTOR("path/df", path.df, path.L),
    VECTOR("path/mse", path.mse, path.L),
    VECTOR("path/cv", path.cv, path.L),
    VECTOR("path/cv_se", path.cv_se, path.L),
    VECTOR("path/terms", path.terms, path.m),
    { "path/coef", CRI_KIND_MATRIX, offsetof(lasso_state, path.coef), offsetof(lasso_state, path.L),
      offsetof(lasso_state, path.m), false },
    CRI_FIELD_LAST,
};
#undef COUNT
#undef REAL
#undef VECTOR

static void lasso_free(cr_ctx *cx, void *state)
{
    lasso_state *m = state;
    cri_predictor_free(cx, &m->fit);
    cri_fields_free(cx, lasso_fields, m);
    cr_free(cx, m, 1, sizeof *m);
}

/* --- the choice of lambda -------------------------------------------------------------------- */

static double spent(const lasso_state *m, size_t k) /* degrees of freedom at lambda k */
{
    const cri_lasso_path *path = &m->path;
    return (path->df[k] < 0 ? path->nonzero[k] : path->df[k]) + m->fit.has_intercept;
}

/* -2 log likelihood + price of each parameter, the noise variance among them. */
static double criterion(const lasso_state *m, size_t k, double price, double log_unit)
{
    double n = m->path.weight, mse = fmax(m->path.mse[k], 1e-15 * m->path.tt);
    return n * (log(2 * M_PI * mse) + 1 + 2 * log_unit) + price * (spent(m, k) + 1);
}

/* With as many terms as rows or more, only fits that leave half of the rows to the noise count:
 * what is left of a fit near saturation tells nothing of it. */
static size_t least_criterion(const lasso_state *m, double price)
{
    size_t best = 0;
    double n = m->path.weight, most = (double)m->path.p < n - 1 ? n - 1 : n / 2;
    for (size_t k = 1; k < m->path.L; k++)
        if (spent(m, k) < most && criterion(m, k, price, 0) < criterion(m, best, price, 0))
            best = k;
    return best;
}

static size_t choose(const lasso_state *m)
{
    switch (m->choice) {
    case CHOOSE_CV:
        return m->path.folds ? cri_lasso_path_least(&m->path) : 0;
    case CHOOSE_ONE_SE:
        return m->path.folds ? cri_lasso_path_one_se(&m->path) : 0;
    case CHOOSE_BIC:
        return least_criterion(m, log(m->path.weight));
    case CHOOSE_AIC:
        return least_criterion(m, 2);
    default:
        return m->path.L - 1;
    }
}

/* --- fit ------------------------------------------------------------------------------------- */

static cri_path_settings settings_of(const cri_rows *rows, const lasso_options *o, uint64_t seed)
{
    enum { MOST_GRAM = 3000, FEW = 500 };
    size_t n = rows->n, p = rows->p;
    double weight = 0;
    for (size_t i = 0; i < n; i++) weight += rows->w ? rows->w[i] : 1;
    bool   given = !isnan(o->lambda), cv = o->choose == CHOOSE_CV || o->choose == CHOOSE_ONE_SE;
    bool   few = p <= FEW || (p <= n && p <= MOST_GRAM && !cri_rows_are_sparse(rows));
    double ratio = (double)p < weight ? 1e-4 : 1e-2;
    return (cri_path_settings){
        .descent = { o->l1_ratio, o->tolerance, o->max_iter },
        .intercept = o->intercept,
        .standardise = rows->design->standardised,
        .gram = o->solver == SOLVER_GRAM || (o->solver == SOLVER_AUTO && few),
        .wants_df = !given && !cv,
        .lambdas = o->path,
        .least_ratio = isnan(o->lambda_min_ratio) ? ratio : o->lambda_min_ratio,
        .lambda = o->lambda,
        .folds = given || !cv ? 0 : o->cv_folds,
        .seed = seed,
    };
}

/* The terms at the chosen lambda, finished to the last digits, their coefficients b [p], centre and
 * scale into the predictor. */
static cr_status gather_terms(cr_ctx *cx, lasso_state *m, cri_path_end *end, double *b,
                              size_t *which)
{
    const cri_lasso_path *path = &m->path;
    double               *row = path->coef + m->chosen * path->m;
    const double         *centre = m->gram ? end->gram.centre : end->columns.centre;
    const double         *scale = m->gram ? end->gram.scale : end->columns.scale;
    for (size_t j = 0; j < path->p; j++) b[j] = 0;
    for (size_t i = 0; i < path->m; i++) b[(size_t)path->terms[i]] = row[i];
    cri_blas_enter();
    cri_descent_finish(&end->descent, path->lambda[m->chosen], b);
    cri_blas_leave();
    cri_descent_coefficients(&end->descent, b);
    m->violation = end->descent.violation;
    for (size_t i = 0; i < path->m; i++) row[i] = b[(size_t)path->terms[i]];
    for (size_t j = 0; j < path->p; j++) {
        if (b[j] == 0) continue;
        which[m->k] = j;
        b[m->k++] = b[j];
    }
    bool has_intercept = m->fit.has_intercept;
    m->terms = cr_alloc(cx, m->k, sizeof(double));
    if (!m->terms) return CR_ENOMEM;
    cr_status st = cri_predictor_new(cx, m->k, m->k, &m->fit);
    if (st != CR_OK) return st;
    m->fit.has_intercept = has_intercept;
    for (size_t a = 0; a < m->k; a++) {
        m->terms[a] = (double)which[a];
        m->fit.centre[a] = centre[which[a]];
        m->fit.scale[a] = scale[which[a]];
    }
    cri_predictor_set_coef(&m->fit, b, path->offset);
    return CR_OK;
}

/* F = L^-1, L L^T = n (G + l2 I), and the degrees of freedom.  F stays 0 when the terms are
 * dependent, with *out_good = false. */
static cr_status set_factor(cr_ctx *cx, lasso_state *m, const cri_path_end *end,
                            const size_t *which, bool *out_good)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = m->k, *place = cr_scratch_index(&s, end->descent.p);
    double     l2 = m->path.lambda[m->chosen] * (1 - m->l1_ratio), n = m->path.weight;
    double    *G = cr_scratch_matrix(&s, k, k), *L = cr_scratch_matrix(&s, k, k);

    CR_TRY(s.status);
    cri_descent_products(&end->descent, which, k, place, G);
    for (size_t a = 0; a < k * k; a++) L[a] = n * G[a];
    for (size_t a = 0; a < k; a++) L[a * k + a] += n * l2;
    double df = cri_lasso_df(&s, G, k, l2);
    CR_TRY(s.status);
    m->df = (df < 0 ? (double)k : df) + m->fit.has_intercept;
    st = cr_chol(cx, cr_mat_of(L, k, k));
    *out_good = st == CR_OK;
    for (size_t a = 0; *out_good && a < k; a++)
        *out_good = L[a * k + a] > 1e-7 * sqrt(n * (end->descent.square[place[which[a]]] + l2));
    if (st == CR_ENUMERIC) st = CR_OK;
    CR_TRY(st);
    for (size_t a = 0; *out_good && a < k; a++) m->fit.F[a * k + a] = 1;
    if (*out_good) CR_TRY(cr_chol_forward(cx, cr_cmat_of(L, k, k), cr_mat_of(m->fit.F, k, k)));
done:
    cr_scratch_end(&s);
    return st;
}

/* Sum of w (y - mean)^2 from the rows themselves. */
static cr_status measure_rss(cr_ctx *cx, const cri_predictor *fit, const cri_rows *rows,
                             double *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cr_prediction p = { .n = rows->n, .mean = cr_scratch_f64(&s, rows->n) };
    double        sum = 0;

    CR_TRY(s.status);
    CR_TRY(cri_predictor_predict(cx, fit, rows, &p));
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1, e = rows->y[i] - p.mean[i];
        if (w > 0) sum += w * e * e;
    }
    *out = sum;
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status finish(cr_ctx *cx, lasso_state *m, const cri_rows *rows, cri_path_end *end)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *which = cr_scratch_index(&s, rows->p);
    double    *b = cr_scratch_f64(&s, rows->p), n = m->path.weight, sum = 0, squares = 0;
    bool       good = true;

    CR_TRY(s.status);
    CR_TRY(gather_terms(cx, m, end, b, which));
    CR_TRY(set_factor(cx, m, end, which, &good));
    cri_rows view = cri_rows_pick_terms(&s, rows, which, m->k);
    CR_TRY(s.status);
    CR_TRY(measure_rss(cx, &m->fit, &view, &m->rss));
    m->path.mse[m->chosen] = m->rss / n;
    m->path.nonzero[m->chosen] = (double)m->k;
    for (size_t a = 0; a < m->k; a++) sum += fabs(b[a]), squares += b[a] * b[a];
    m->objective = m->rss / n / 2 + m->path.lambda[m->chosen] *
                                        (m->l1_ratio * sum + (1 - m->l1_ratio) / 2 * squares);
    double left = n - m->df;
    m->fit.dof = left > 0 ? left : INFINITY;
    m->fit.sigma = left > 0 ? sqrt(m->rss / left) : NAN;
    m->fit.mean_share = m->fit.has_intercept ? 1 / n : 0;
    cri_predictor_set_sds(&m->fit);
    for (size_t a = 0; !good && a < m->k; a++) m->fit.coef_sd[a] = NAN;
    if (!good)
        cr_log(
            cx, CR_LOG_WARNING,
            "the terms that were chosen are linearly dependent: they have no standard deviations");
    if (!(left > 0))
        cr_log(cx, CR_LOG_WARNING,
               "as many terms were chosen as there are rows: no intervals can be given");
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status lasso_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                           void **out_state, cr_report *report)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const lasso_options *o = options;
    cri_path_settings    settings = settings_of(rows, o, seed);
    cri_path_end         end = { 0 };
    lasso_state         *m = cr_alloc(cx, 1, sizeof *m);

    if (!m) return CR_ENOMEM;
    m->l1_ratio = o->l1_ratio;
    m->gram = settings.gram;
    m->choice = isnan(o->lambda) ? (size_t)o->choose : CHOOSE_GIVEN;
    CR_TRY(cri_lasso_path_follow(cx, &s, rows, &settings, &m->path, &end));
    m->fit.has_intercept = o->intercept;
    m->chosen = choose(m);
    CR_TRY(finish(cx, m, rows, &end));
    report->stop = m->path.converged ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
    report->iterations = m->path.sweeps;
    double n = m->path.weight;
    report->log_likelihood = m->rss > 0 ? -0.5 * n * (log(2 * M_PI * m->rss / n) + 1) -
                                              n * log(rows->design->target_scale)
                                        : NAN;
    *out_state = m;
    m = NULL;
done:
    cri_path_end_free(cx, &end);
    if (m) lasso_free(cx, m);
    cr_scratch_end(&s);
    return st;
}

static cr_status lasso_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                               cr_prediction *out)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const lasso_state *m = state;
    size_t            *which = cr_scratch_index(&s, m->k);

    CR_TRY(s.status);
    for (size_t a = 0; a < m->k; a++) which[a] = (size_t)m->terms[a];
    cri_rows view = cri_rows_pick_terms(&s, rows, which, m->k);
    CR_TRY(s.status);
    CR_TRY(cri_predictor_predict(cx, &m->fit, &view, out));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- describe -------------------------------------------------------------------------------- */

/* All terms: those left out are 0 and have no sd. */
static cr_status describe_terms(cr_ctx *cx, const lasso_state *m, const cr_design *design,
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

static cr_status describe_path(cr_ctx *cx, const lasso_state *m, double square, json_t *out)
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
        CR_TRY(cri_store_set(cx, item, "df", cri_json_number(path->df[k] < 0 ? NAN : spent(m, k))));
        CR_TRY(cri_store_set(cx, item, "r2",
                             cri_json_number(path->tt > 0 ? 1 - path->mse[k] / path->tt : NAN)));
        CR_TRY(cri_store_set(cx, item, "cv", cri_json_number(cv)));
        CR_TRY(cri_store_set(cx, item, "cv_se", cri_json_number(se)));
        CR_TRY(cri_store_set(cx, item, "chosen", json_boolean(k == m->chosen)));
    }
done:
    return st;
}

static cr_status lasso_describe(cr_ctx *cx, const void *state, const cr_design *design, json_t *out)
{
    cr_status             st = CR_OK;
    const lasso_state    *m = state;
    const cri_lasso_path *path = &m->path;
    double                unit = design->target_scale, square = unit * unit, n = path->weight;
    double                left = n - m->df, total = path->tt * n;
    bool                  cv = path->folds > 0;
    double                aic = m->rss > 0 ? criterion(m, m->chosen, 2, log(unit)) : NAN;
    double                bic = m->rss > 0 ? criterion(m, m->chosen, log(n), log(unit)) : NAN;
    json_t               *s;

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
    const lasso_state *m = model->state;
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

static cr_status lasso_write(cr_ctx *cx, const void *state, cri_store *store, json_t *out)
{
    const lasso_state *m = state;
    cr_status          st = cri_fields_write(cx, lasso_fields, m, store, out);
    return st == CR_OK ? cri_predictor_write(cx, &m->fit, store, out) : st;
}

/* Increasing whole numbers below p. */
static bool are_terms(const double *terms, size_t k, size_t p)
{
    for (size_t a = 0; a < k; a++)
        if (!(terms[a] >= 0 && terms[a] < (double)p && terms[a] == floor(terms[a])) ||
            (a > 0 && !(terms[a] > terms[a - 1])))
            return false;
    return true;
}

static cr_status lasso_read(cr_ctx *cx, const cri_store *store, const json_t *in,
                            const cr_design *design, void **out_state)
{
    cr_status    st = CR_OK;
    size_t       p = cr_design_terms(design);
    lasso_state *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    CR_TRY(cri_fields_read(cx, lasso_fields, store, in, m));
    m->path.p = p;
    bool sound = m->path.L > 0 && m->chosen < m->path.L && m->choice <= CHOOSE_GIVEN &&
                 are_terms(m->terms, m->k, p) && are_terms(m->path.terms, m->path.m, p);
    double numbers[] = { m->path.lambda_max, m->path.weight, m->path.offset, m->path.tt,
                         m->l1_ratio };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sound = sound && isfinite(numbers[i]);
    if (!sound || !(m->path.weight > 0))
        CR_TRY(
            cr_fail(cx, CR_EDATA, "%s: the path of the model is damaged", cri_store_source(store)));
    CR_TRY(cri_predictor_read(cx, store, in, m->k, &m->fit));
    *out_state = m;
    m = NULL;
done:
    if (m) lasso_free(cx, m);
    return st;
}

const cr_model_class cri_class_lasso = {
    .name = "lasso",
    .summary = "least squares that leaves terms out: lasso and elastic net, the whole path",
    .formulas =
        "minimise  (1/2n) sum_i w_i (y_i - b0 - z_i.b)^2 + lambda (r |b|_1 + (1 - r)/2 |b|^2)\n"
        "  b0 free, z standardised; r = 1 lasso (Laplace priors), r = 0 ridge, between elastic "
        "net\n"
        "s^2 = RSS / (n - df),  df = rank of the terms not 0, + 1 for the lasso\n"
        "prediction: Student t with n - df degrees of freedom, given the selected terms",
    .reference = "Tibshirani (1996), JRSS B 58; Zou & Hastie (2005), JRSS B 67; Friedman, Hastie & "
                 "Tibshirani (2010), J. Stat. Software 33(1)",
    .tasks = CR_TASK_REGRESSION,
    .options = lasso_table,
    .options_size = sizeof(lasso_options),
    .default_scale = CR_SCALE_STANDARD,
    .scales_itself = true,
    .means_alone = true,
    .has_leverage = true,
    .takes_sparse = true,
    .fit = lasso_fit,
    .predict = lasso_predict,
    .describe = lasso_describe,
    .write = lasso_write,
    .read = lasso_read,
    .free = lasso_free,
};
