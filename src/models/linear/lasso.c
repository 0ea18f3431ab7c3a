/* lasso.c -- the lasso and the elastic net: least squares with a penalty that leaves terms out.
 *   minimise  (1/2n) sum_i w_i (y_i - b0 - z_i . b)^2 + lambda (r |b|_1 + (1 - r)/2 |b|^2)
 * b0 free, z standardised, n the sum of the weights; r = 1 is the lasso, the mode under independent
 * Laplace priors.  The whole path of lambdas is solved (lasso_path.h), and one of them chosen.
 * Given the terms that are not 0 and their signs the estimate is linear in y:
 *   b_A = (G + n l2 I)^-1 (Z_A^T W t - n l1 sign b_A),   l1 = lambda r, l2 = lambda (1 - r),
 *   df = tr G (G + n l2 I)^-1 + 1,   s^2 = RSS / (n - df),   G = Z_A^T W Z_A,
 * sds are from s^2 (G + n l2 I)^-1: as if the terms had been given, the choice of them not counted.
 * Tibshirani (1996); Zou & Hastie (2005); Zou, Hastie & Tibshirani (2007) for df, Tibshirani &
 * Taylor (2012) where the terms are dependent: then it is their rank. */
#include "bordered.h"
#include "lasso_state.h"
#include "models/common/rows_view.h"
#include "models/core/class.h"
#include "math/dense/blas_internal.h"
#include "math/dense/chol.h"

#include <math.h>

/* clang-format off */
#define LASSO_OPTIONS(X)                                                                             \
    X(real,   l1_ratio,  "1",    "0..1", "share r of the absolute penalty: 1 is the lasso, 0 is ridge, values between are the elastic net", "0.5") \
    X(real,   lambda,    "",     ">=0", "penalty; chosen from the path if not given", "0.1") \
    X(choice, choose,    "cv",   "cv|1se|bic|aic",                                                   \
      "how lambda is chosen: least cross-validation error, the largest within one standard error of it, or a criterion", "1se") \
    X(count,  path,      "100",  "1..100000", "number of lambdas on the path", "50")                 \
    X(real,   lambda_min_ratio, "", "0<..<1",                                                        \
      "last lambda over the first; default: 1e-4, or 0.01 with more terms than rows", "0.001")      \
    X(count,  cv_folds,  "10",   ">=2", "folds of the cross-validation; at most one per row", "5")   \
    X(flag,   intercept, "true", "",    "fit a free intercept", "false")                             \
    X(choice, solver,    "auto", "auto|gram|columns",                                                \
      "use cross-products (p x p) or the columns themselves; auto: columns if there are many", "gram") \
    X(real,   tolerance, "1e-7", "0<..<1", "largest violation of the optimality conditions on the path, in sds of the target", "1e-9") \
    X(count,  max_iter,  "10000", ">=1", "maximum number of passes over the terms for one lambda", "1000")
/* clang-format on */
enum { SOLVER_AUTO, SOLVER_GRAM, SOLVER_COLUMNS };

CR_OPTIONS(lasso_options, lasso_table, LASSO_OPTIONS);

/* --- the choice of lambda -------------------------------------------------------------------- */

/* With as many terms as rows or more, only fits that leave half of the rows to the noise count:
 * what is left of a fit near saturation tells nothing of it. */
static size_t least_criterion(const cri_lasso *m, double price)
{
    size_t best = 0;
    double n = m->path.weight, most = (double)m->path.p < n - 1 ? n - 1 : n / 2;
    for (size_t k = 1; k < m->path.L; k++)
        if (cri_lasso_spent(m, k) < most &&
            cri_lasso_criterion(m, k, price, 0) < cri_lasso_criterion(m, best, price, 0))
            best = k;
    return best;
}

static size_t choose(const cri_lasso *m)
{
    switch (m->choice) {
    case CRI_LASSO_CV:
        return m->path.folds ? cri_lasso_path_least(&m->path) : 0;
    case CRI_LASSO_ONE_SE:
        return m->path.folds ? cri_lasso_path_one_se(&m->path) : 0;
    case CRI_LASSO_BIC:
        return least_criterion(m, log(m->path.weight));
    case CRI_LASSO_AIC:
        return least_criterion(m, 2);
    default:
        return m->path.L - 1;
    }
}

/* --- fit ------------------------------------------------------------------------------------- */

static cri_path_settings settings_of(const cr_ctx *cx, const cri_rows *rows, const lasso_options *o,
                                     uint64_t seed)
{
    enum { MOST_GRAM = 3000, FEW = 500 };
    size_t n = rows->n, p = rows->p;
    double weight = 0;
    for (size_t i = 0; i < n; i++) weight += rows->w ? rows->w[i] : 1;
    bool given = !isnan(o->lambda), cv = o->choose == CRI_LASSO_CV || o->choose == CRI_LASSO_ONE_SE;
    bool few = p <= FEW || (p <= n && p <= MOST_GRAM && !cri_rows_are_sparse(rows));
    double ratio = (double)p < weight ? 1e-4 : 1e-2;
    return (cri_path_settings){
        .descent = { o->l1_ratio, o->tolerance, o->max_iter, cx },
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
static cr_status gather_terms(cr_ctx *cx, cri_lasso *m, cri_path_end *end, double *b, size_t *which)
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
    cr_status st = cri_predictor_new(cx, m->k, 0, &m->fit); /* F comes with the factor */
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

/* Of the k chosen terms those of the largest category, where they are most of them; else none. */
static cri_level_run chosen_levels(const cri_rows *rows, const size_t *which, size_t k)
{
    cri_level_run all = cri_largest_category(rows->design), run = { 0, 0 };
    if (!cri_rows_are_sparse(rows) || !cri_bordered_pays(rows)) return run;
    for (size_t a = 0; a < k; a++) {
        run.first += which[a] < all.first;
        run.levels += which[a] >= all.first && which[a] < all.first + all.levels;
    }
    return 4 * run.levels >= 3 * k ? run : (cri_level_run){ 0, 0 };
}

/* The predictor of the coefficients in m->fit with the leverages of the terms of `view`, the levels
 * of `run` eliminated, and the degrees of freedom; *out_good = false, and nothing set, where that
 * loses too many digits. */
static cr_status set_levels(cr_ctx *cx, cri_lasso *m, const cri_rows *view, cri_level_run run,
                            bool *out_good)
{
    const double        ENOUGH = 1e-12; /* reciprocal condition */
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    bool                intercept = m->fit.has_intercept;
    double              n = m->path.weight, rcond = 1, l2;
    double             *x = cr_scratch_f64(&s, m->k + 1);
    cri_predictor       fit = { 0 };
    cri_sparse_terms    z;
    cri_bordered        b;
    cri_bordered_answer a;

    CR_TRY(s.status);
    l2 = m->path.lambda[m->chosen] * (1 - m->l1_ratio);
    CR_TRY(cri_sparse_terms_new(cx, &s, view, intercept, view->design->standardised, &z));
    CR_TRY(cri_bordered_new(cx, &s, &z, run, intercept, &b));
    CR_TRY(cri_bordered_at(cx, &b, n * l2, x, &a));
    if (a.good && l2 == 0) CR_TRY(cri_bordered_rcond(cx, &b, &rcond));
    *out_good = a.good && rcond > ENOUGH;
    if (!*out_good) goto done;
    CR_TRY(cri_bordered_predictor(cx, &b, x, &fit));
    fit.at_centre = m->fit.at_centre;
    fit.intercept = m->fit.intercept;
    for (size_t j = 0; j < m->k; j++) {
        fit.coef[j] = m->fit.coef[j];
        fit.at_centre -= fit.coef[j] * (m->fit.centre[j] - fit.centre[j]);
    }
    cri_predictor_free(cx, &m->fit);
    m->fit = fit;
    m->df = (double)m->k + intercept - n * l2 * a.trace;
done:
    cr_scratch_end(&s);
    return st;
}

/* F = L^-1, L L^T = n (G + l2 I), and the degrees of freedom.  F stays 0 when the terms are
 * dependent, with *out_good = false. */
static cr_status set_factor(cr_ctx *cx, cri_lasso *m, const cri_path_end *end, const size_t *which,
                            bool *out_good)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = m->k, *place = cr_scratch_index(&s, end->descent.p);
    double     l2 = m->path.lambda[m->chosen] * (1 - m->l1_ratio), n = m->path.weight;
    double    *G = cr_scratch_matrix(&s, k, k), *L = cr_scratch_matrix(&s, k, k);

    CR_TRY(s.status);
    double *F = cr_alloc(cx, k, k * sizeof(double));
    if (!F) CR_TRY(CR_ENOMEM);
    cr_free(cx, m->fit.factor, m->fit.rank, k * sizeof(double));
    m->fit.factor = F;
    m->fit.rank = k;
    cri_descent_products(&end->descent, which, 0, k, place, G);
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
    for (size_t a = 0; *out_good && a < k; a++) m->fit.factor[a * k + a] = 1;
    if (*out_good) CR_TRY(cr_chol_forward(cx, cr_cmat_of(L, k, k), cr_mat_of(m->fit.factor, k, k)));
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

/* With fewer than ten rows per term: the squared error in rows left out, as it was when lambda was chosen, over what the
 * residuals say of a new row, sigma^2 (1 + df / n).  Residuals of terms that were chosen are smaller than errors in new
 * rows; the noise, and all standard errors with it, grow by that, and are known as well as a mean over the folds is. */
static void inflate(cri_lasso *m)
{
    const cri_lasso_path *path = &m->path;
    double                n = path->weight, said = m->fit.sigma * m->fit.sigma * (1 + m->df / n);
    if (path->folds < 2 || n >= 10 * (double)path->p || !(said > 0)) return;
    if (!(path->cv[m->chosen] > said)) return;
    m->inflation = path->cv[m->chosen] / said;
    m->fit.sigma *= sqrt(m->inflation);
    m->fit.dof = fmin(m->fit.dof, (double)path->folds - 1);
}

static cr_status finish(cr_ctx *cx, cri_lasso *m, const cri_rows *rows, cri_path_end *end)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *which = cr_scratch_index(&s, rows->p);
    double    *b = cr_scratch_f64(&s, rows->p), n = m->path.weight, sum = 0, squares = 0;
    bool       good = true;

    CR_TRY(s.status);
    CR_TRY(gather_terms(cx, m, end, b, which));
    cri_rows      view = cri_rows_pick_terms(&s, rows, which, m->k);
    cri_level_run run = chosen_levels(rows, which, m->k);
    CR_TRY(s.status);
    good = false;
    if (run.levels > 0) CR_TRY(set_levels(cx, m, &view, run, &good));
    if (!good) CR_TRY(set_factor(cx, m, end, which, &good));
    CR_TRY(measure_rss(cx, &m->fit, &view, &m->rss));
    m->path.mse[m->chosen] = m->rss / n;
    m->path.nonzero[m->chosen] = (double)m->k;
    for (size_t a = 0; a < m->k; a++) sum += fabs(b[a]), squares += b[a] * b[a];
    m->objective = m->rss / n / 2 + m->path.lambda[m->chosen] *
                                        (m->l1_ratio * sum + (1 - m->l1_ratio) / 2 * squares);
    double left = n - m->df;
    m->fit.dof = left > 0 ? left : INFINITY;
    m->fit.sigma = left > 0 ? sqrt(m->rss / left) : NAN;
    m->fit.mean_share = m->fit.has_intercept && !m->fit.start ? 1 / n : 0;
    inflate(m);
    cri_predictor_set_sds(&m->fit);
    for (size_t a = 0; !good && a < m->k; a++) m->fit.coef_sd[a] = NAN;
    if (!good)
        cr_log(cx, CR_LOG_WARNING,
               "the chosen terms are linearly dependent: they have no standard deviations");
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
    cri_path_settings    settings = settings_of(cx, rows, o, seed);
    cri_path_end         end = { 0 };
    cri_lasso           *m = cr_alloc(cx, 1, sizeof *m);

    if (!m) return CR_ENOMEM;
    m->l1_ratio = o->l1_ratio;
    m->gram = settings.gram;
    m->choice = isnan(o->lambda) ? (size_t)o->choose : CRI_LASSO_GIVEN;
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
    cri_state_free(cx, &cri_class_lasso, m);
    cr_scratch_end(&s);
    return st;
}

static cr_status lasso_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                               cr_prediction *out)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    const cri_lasso *m = state;
    size_t          *which = cr_scratch_index(&s, m->k);

    CR_TRY(s.status);
    for (size_t a = 0; a < m->k; a++) which[a] = (size_t)m->terms[a];
    cri_rows view = cri_rows_pick_terms(&s, rows, which, m->k);
    CR_TRY(s.status);
    CR_TRY(cri_predictor_predict(cx, &m->fit, &view, out));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status lasso_mean(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    const cri_lasso *m = state;
    cr_status        st = lasso_predict(cx, state, rows, out);
    return st != CR_OK ? st : cri_predictor_drop_noise(cx, &m->fit, rows, out);
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
    .takes_sparse = true,
    .sparse_levels = true,
    .whole = &(const cri_whole_face){ .fit = lasso_fit },
    .rows = &(const cri_rows_face){ .predict = lasso_predict,
                                    .mean = lasso_mean,
                                    .means_alone = true,
                                    .has_leverage = true },
    .function = &(const cri_function_face){ .path = cri_lasso_coefficients },
    .describe = cri_lasso_describe,
    .statistics = cri_lasso_statistics,
    .tables = cri_lasso_tables,
    .state = cri_lasso_record,
    .state_size = sizeof(cri_lasso),
    .ready = cri_lasso_ready,
};
