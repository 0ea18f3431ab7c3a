/* ridge.c -- ridge regression: least squares with a penalty, the mode under a Gaussian prior.
 *   minimise  sum_i w_i (y_i - b0 - z_i . b)^2 + lambda |b|^2,   b0 free, z standardised,
 * which is the posterior mean for y ~ N(b0 + z . b, s^2), b ~ N(0, s^2 / lambda).
 * Primal, p x p, from the moments:  b = (G + lambda I)^-1 g.        O(n p^2 + p^3)
 * Dual, n x n, when p > n:          b = Z^T (Z Z^T + lambda I)^-1 t. O(n^2 p + n^3)
 * Sparse rows stay so: the primal takes their entries, the dual keeps them, and where both p and n
 * are large the answer comes by LSQR (ridge_sparse.h).  Of a category of many levels the primal
 * eliminates the levels, O(n + p) (bordered.h), and keeps no moments.
 * s^2 is estimated as RSS / (n - df), df = 1 + tr G (G + lambda I)^-1, n the sum of the weights, and
 * intervals are Student t with n - df degrees of freedom; where less than one is left, s^2 and n - 1 are those of the
 * prior (cri_ridge_set_noise).
 * Hoerl & Kennard (1970); Hastie, Tibshirani & Friedman (2009), sec. 3.4.1. */
#include "bordered.h"
#include "dense_terms.h"
#include "dual.h"
#include "ridge_solve.h"
#include "models/core/rows_check.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define RIDGE_OPTIONS(X)                                                                             \
    X(real,   lambda,    "1",    ">=0", "penalty on the squared coefficients", "0.5")                \
    X(flag,   intercept, "true", "",    "fit a free intercept",                "false")              \
    X(choice, solver,    "auto", "auto|primal|dual|lsqr|cg",                                         \
      "solve p x p or n x n equations, or use only products with sparse data; auto: the cheapest", "dual")
/* clang-format on */
enum { SOLVER_AUTO, SOLVER_PRIMAL, SOLVER_DUAL, SOLVER_LSQR, SOLVER_CG };
static const char *const solver_names[] = { "auto", "primal", "dual", "lsqr", "cg" };

CR_OPTIONS(ridge_options, ridge_table, RIDGE_OPTIONS);

CRI_RECORD_TABLE(static, ridge_record, cri_ridge, CRI_RIDGE);

/* --- fit ------------------------------------------------------------------------------------- */

/* From products with sparse rows alone, so that the degrees of freedom are estimated. */
static bool by_products(const cri_ridge *m)
{
    return m->solver == SOLVER_LSQR || m->solver == SOLVER_CG;
}

static void set_scores(cri_ridge *m, double n, double tt, const cr_design *design,
                       cr_report *report)
{
    double left = n - m->df;
    m->gcv = n * m->rss / (left * left);
    m->r2 = tt > 0 ? 1 - m->rss / tt : NAN;
    report->log_likelihood =
        -0.5 * n * (log(2 * M_PI * m->rss / n) + 1) - n * log(design->target_scale);
}

/* The rows are met almost exactly. */
static void warn_of_weak_penalty(cr_ctx *cx, double n, double df, bool without)
{
    cr_log(cx, CR_LOG_WARNING,
           without
               ? "the penalty is so weak that %.2g of %.6g degrees of freedom are left: the "
                 "residuals do not show the noise, and no intervals can be given; a larger "
                 "--lambda leaves more, and credence tune finds one"
               : "the penalty is so weak that %.2g of %.6g degrees of freedom are left: the noise "
                 "is estimated from the size of the coefficients instead of the residuals; a "
                 "larger --lambda leaves more, and credence tune finds one",
           fmax(n - df, 0), n);
}

/* The noise and what follows from it, of the residual sum of squares, n rows and tt of the target; true where it is that
 * of the prior. */
static bool find_noise(cr_ctx *cx, cri_ridge *m, double n, double tt, const cr_design *design,
                       cr_report *report)
{
    bool by_prior = cri_ridge_set_noise(n, m->df, m->rss, m->lambda, &m->fit);
    if (isnan(m->fit.sigma)) cri_warn_no_spread(cx);
    cri_predictor_set_sds(&m->fit);
    set_scores(m, n, tt, design, report);
    return by_prior;
}

static void set_noise(cr_ctx *cx, cri_ridge *m, double n, double tt, const cr_design *design,
                      cr_report *report)
{
    if (find_noise(cx, m, n, tt, design, report)) warn_of_weak_penalty(cx, n, m->df, false);
}

/* What does not wait for the coefficients; the predictor is allocated. */
static void start_fit(cri_ridge *m, const cri_gram *g, const ridge_options *o)
{
    size_t p = g->p;
    memcpy(m->fit.centre, g->centre, p * sizeof(double));
    memcpy(m->fit.scale, g->scale, p * sizeof(double));
    m->lambda = o->lambda;
    m->df = o->intercept;
    m->rss = m->df_se = 0;
    m->loocv = NAN;
    m->fit.has_intercept = o->intercept;
    m->fit.mean_share = o->intercept ? 1 / g->weight : 0;
}

/* Where it is worth a pass over the rows: loocv and, of one leaf, whose residuals are those of all rows, what
 * the differences of sums have lost of the residual sum of squares. */
static cr_status look_at_rows(cr_ctx *cx, cri_ridge *m, const cri_rows *rows)
{
    cri_fit_quality q;
    if ((double)rows->n * (double)rows->p * (double)m->fit.rank > 1e8) return CR_OK;
    cr_status st = cri_predictor_quality(cx, &m->fit, rows, &q);
    if (st != CR_OK) return st;
    if (cri_sums_leaves(rows) == 1) m->rss = q.rss;
    m->loocv = q.loo;
    return CR_OK;
}

/* From rows, in the dual. */
static cr_status fit_dual(cr_ctx *cx, cri_ridge *m, const cri_rows *rows, const ridge_options *o,
                          cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *b = cr_scratch_bytes(&s, rows->p, sizeof(double));
    cri_gram   g = { 0 };

    CR_TRY(s.status);
    CR_TRY(cri_predictor_new(cx, rows->p, rows->n, &m->fit));
    CR_TRY(cri_rows_matrix(cx, rows, m->fit.factor));
    CR_TRY(cri_measure_rows(cx, rows, m->fit.factor, o->intercept, rows->design->standardised, &g));
    start_fit(m, &g, o);
    CR_TRY(cri_ridge_dual(cx, m, rows, &g, b));
    cri_predictor_set_coef(&m->fit, b, g.offset);
    CR_TRY(look_at_rows(cx, m, rows));
    set_noise(cx, m, g.weight, g.tt, rows->design, report);
    report->stop = CR_STOP_CLOSED_FORM;
done:
    cri_gram_free(cx, &g);
    cr_scratch_end(&s);
    return st;
}

/* One category of many levels. */
static cr_status solve_levels(cr_ctx *cx, cri_ridge *m, const cri_rows *rows,
                              const ridge_options *o, cr_report *report)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    size_t              n = o->intercept + rows->p;
    double             *x = cr_scratch_f64(&s, n);
    cri_rows            view = { 0 };
    cri_sparse_terms    z;
    cri_bordered        b;
    cri_fit_quality     q;
    cri_bordered_answer a;

    CR_TRY(s.status);
    CR_TRY(cri_bordered_open(cx, &s, rows, o->intercept, &view, &z, &b));
    CR_TRY(cri_bordered_at(cx, &b, o->lambda, x, &a));
    if (!a.good) CR_TRY(cri_ridge_refuse_singular(cx, o->lambda));
    CR_TRY(cri_bordered_predictor(cx, &b, x, &m->fit));
    m->lambda = o->lambda;
    m->df = (double)n - m->lambda * a.trace;
    m->rss = a.rss;
    CR_TRY(cri_predictor_quality(cx, &m->fit, &view, &q));
    m->loocv = q.loo;
    set_noise(cx, m, z.weight, z.tt, rows->design, report);
    report->stop = CR_STOP_CLOSED_FORM;
done:
    cri_rows_close_entries(cx, &view);
    cr_scratch_end(&s);
    return st;
}

/* Sparse rows, in the dual or by products alone. */
static cr_status solve_sparse(cr_ctx *cx, cri_ridge *m, const cri_rows *rows,
                              const ridge_options *o, uint64_t seed, cr_report *report)
{
    cr_status               st = CR_OK;
    const cri_ridge_problem q = { rows,
                                  o->lambda,
                                  o->intercept,
                                  rows->design->standardised,
                                  seed,
                                  o->solver == SOLVER_LSQR ? CRI_PRODUCTS_LSQR
                                  : o->solver == SOLVER_CG ? CRI_PRODUCTS_CG
                                                           : CRI_PRODUCTS_AUTO };
    cri_ridge_facts         f = { 0 };
    bool                    dual = m->solver == SOLVER_DUAL;
    bool                    singular = (dual || m->solver == SOLVER_CG) && !(o->lambda > 0);

    if (!singular)
        CR_TRY(dual ? cri_ridge_dual_sparse(cx, &q, &m->fit, &m->kept, &f)
                    : cri_ridge_products(cx, &q, &m->fit, &f, &singular));
    if (singular) CR_TRY(cri_ridge_refuse_singular(cx, o->lambda));
    if (!dual) m->solver = f.cg ? SOLVER_CG : SOLVER_LSQR;
    m->lambda = o->lambda;
    m->df = f.df;
    m->df_se = f.df_se;
    m->rss = f.rss;
    m->loocv = f.loocv;
    set_scores(m, f.weight, f.tt, rows->design, report);
    if (f.by_prior) warn_of_weak_penalty(cx, f.weight, f.df, !dual);
    report->stop = dual ? CR_STOP_CLOSED_FORM : f.converged ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
    report->iterations = f.iterations;
    if (rows->p > 0 && isnan(m->fit.coef_sd[0]))
        cr_log(cx, CR_LOG_WARNING,
               dual
                   ? "%zu rows and %zu sparse columns: the coefficients are given without sds"
                   : "%zu rows and %zu sparse columns: the coefficients are given without sds, and "
                     "intervals have the mean leverage of the training rows",
               rows->n, rows->p);
done:
    return st;
}

/* How to solve: the smaller equations, and for sparse rows those that can be written down at all.
 */
static size_t choose_solver(const cri_rows *rows, const ridge_options *o)
{
    enum { MOST_DUAL = 2000, MOST_PRIMAL = 1500 };
    size_t n = rows->n, p = rows->p;
    if (o->solver != SOLVER_AUTO) return (size_t)o->solver;
    if (!cri_rows_are_sparse(rows) || n * p <= 100000) return p > n ? SOLVER_DUAL : SOLVER_PRIMAL;
    if (p > n && n <= MOST_DUAL && o->lambda > 0) return SOLVER_DUAL;
    return p <= MOST_PRIMAL ? SOLVER_PRIMAL : SOLVER_LSQR;
}

static cr_status check_solver(cr_ctx *cx, const cri_ridge *m, const cri_rows *rows)
{
    if (!by_products(m) || cri_rows_are_sparse(rows)) return CR_OK;
    cr_fail(cx, CR_EARG, "--solver %s is for sparse data, but %s is not sparse",
            solver_names[m->solver], cr_table_source(rows->table));
    return cr_fail_hint(
        cx,
        "--solver auto chooses the smaller equations; LIBSVM files and CSR matrices are sparse");
}

static bool pays_by_levels(const cri_rows *rows, const ridge_options *o)
{
    return o->solver == SOLVER_AUTO && o->lambda > 0 && cri_bordered_pays(rows);
}

/* What the moments do not serve for. */
static cr_status ridge_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                           void **out_state, cr_report *report)
{
    cr_status            st = CR_OK;
    const ridge_options *o = options;
    cri_ridge           *m = cr_alloc(cx, 1, sizeof *m);

    if (!m) return CR_ENOMEM;
    m->solver = choose_solver(rows, o);
    CR_TRY(check_solver(cx, m, rows));
    if (pays_by_levels(rows, o)) {
        m->solver = SOLVER_PRIMAL;
        CR_TRY(solve_levels(cx, m, rows, o, report));
    } else if (by_products(m) || cri_rows_are_sparse(rows)) {
        CR_TRY(solve_sparse(cx, m, rows, o, seed, report));
    } else {
        CR_TRY(fit_dual(cx, m, rows, o, report));
    }
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_ridge, m);
    return st;
}

/* --- from the moments ------------------------------------------------------------------------- */

static bool ridge_serves(const cri_rows *rows, const void *options, size_t leaves)
{
    (void)leaves;
    return choose_solver(rows, options) == SOLVER_PRIMAL && !pays_by_levels(rows, options);
}

static cr_status ridge_check(cr_ctx *cx, const void *state)
{
    const cri_ridge *m = state;
    if (m->solver == SOLVER_PRIMAL && !m->fit.diagonal) return CR_OK;
    cr_fail(cx, CR_EUNSUPPORTED,
            m->fit.diagonal ? "a ridge model of a category of so many levels has no exact update"
            : m->solver == SOLVER_DUAL
                ? "a ridge model fitted in the dual has no exact update"
                : "a ridge model fitted by products with sparse rows has no exact update");
    return cr_fail_hint(cx, "fit it with --solver primal, or again to all the rows");
}

static cr_status ridge_open(cr_ctx *cx, const cri_rows *rows, const void *options, void **out_state)
{
    cr_status  st = CR_OK;
    int        solver = ((const ridge_options *)options)->solver;
    cri_ridge *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    m->solver = solver == SOLVER_AUTO ? SOLVER_PRIMAL : (size_t)solver;
    CR_TRY(check_solver(cx, m, rows));
    CR_TRY(ridge_check(cx, m));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_ridge, m);
    return st;
}

static cr_status ridge_solve(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                             cr_report *report)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const ridge_options *o = options;
    cri_ridge           *m = state;
    size_t               p = m->moments.p;
    double              *b = cr_scratch_bytes(&s, p, sizeof(double));
    cri_gram             g = { 0 };

    CR_TRY(s.status);
    CR_TRY(cri_predictor_new(cx, p, p, &m->fit));
    CR_TRY(cri_gram_new(cx, &m->moments, o->intercept, design->standardised, &g));
    start_fit(m, &g, o);
    CR_TRY(cri_ridge_primal(cx, m, &g, b));
    cri_predictor_set_coef(&m->fit, b, g.offset);
    set_noise(cx, m, g.weight, g.tt, design, report);
    report->stop = CR_STOP_CLOSED_FORM;
done:
    cri_gram_free(cx, &g);
    cr_scratch_end(&s);
    return st;
}

static void ridge_reopen(cr_ctx *cx, void *state)
{
    cri_predictor_free(cx, &((cri_ridge *)state)->fit);
}

static cr_status ridge_review(cr_ctx *cx, const cri_rows *rows, const void *options, void *state,
                              cr_report *report)
{
    cri_ridge         *m = state;
    const cri_moments *z = &m->moments;
    double             mean = z->mean[z->p], tt = z->S[z->q * z->q - 1];
    cr_status          st = look_at_rows(cx, m, rows);
    if (st != CR_OK || isnan(m->fit.sigma)) return st;
    if (!((const ridge_options *)options)->intercept) tt += z->weight * mean * mean;
    find_noise(cx, m, z->weight, tt, rows->design, report);
    return CR_OK;
}

static cr_status ridge_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                               cr_prediction *out)
{
    const cri_ridge *m = state;
    return cri_dual_predict(cx, &m->fit, &m->kept, rows, out);
}

static cr_status ridge_mean(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    const cri_ridge *m = state;
    cr_status        st = ridge_predict(cx, state, rows, out);
    return st != CR_OK ? st : cri_predictor_drop_noise(cx, &m->fit, rows, out);
}

static cr_status ridge_mean_spread(cr_ctx *cx, const void *state, const cri_rows *rows,
                                   double *out_scale, double *out_dof)
{
    const cri_ridge *m = state;
    return cri_dual_mean_spread(cx, &m->fit, &m->kept, rows, out_scale, out_dof);
}

/* --- describe and file ----------------------------------------------------------------------- */

static const cr_field ridge_statistics[] = {
    CR_TEXT(
        "objective", 0,
        "what the coefficients minimise; z are standardised features, or the features themselves"),
    CR_NUMBER("lambda", CR_FIELD_NULL, "the penalty"),
    CR_TEXT("solver", 0, "the solver used: primal, dual, ... as in --solver"),
    CR_NUMBER("effective_df", CR_FIELD_NULL,
              "effective degrees of freedom: the trace of the smoother"),
    CR_NUMBER("effective_df_se", CR_FIELD_EITHER,
              "of cg and lsqr: standard error of the estimated effective_df"),
    CR_MEASURE("residual_sd", "target", CR_FIELD_NULL,
               "standard deviation of the noise, from the residuals"),
    CR_MEASURE("rss", "target^2", CR_FIELD_NULL, "residual sum of squares"),
    CR_NUMBER("r2", CR_FIELD_NULL | CR_FIELD_OF_TARGET, "share of the target's variance explained"),
    CR_MEASURE("gcv", "target^2", CR_FIELD_NULL,
               "mean squared error by generalised cross-validation"),
    CR_MEASURE("loocv", "target^2", CR_FIELD_NULL,
               "mean squared error with each row left out in turn"),
    CR_FIELD_LAST,
};

static cr_status ridge_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                cri_sheet *out)
{
    const cri_ridge *m = state;
    double           unit = design->target_scale, square = unit * unit; /* the target's units */
    cri_sheet       *s;
    cri_predictor_describe(&m->fit, design, CRI_SHOW_ERRORS, out);
    s = cri_put_object(out, "statistics");
    cri_put_text(s, "objective", "sum w (y - b0 - z.b)^2 + lambda |b|^2");
    cri_put_real(s, "lambda", m->lambda);
    cri_put_text(s, "solver", solver_names[m->solver]);
    cri_put_real(s, "effective_df", m->df);
    if (by_products(m)) cri_put_real(s, "effective_df_se", m->df_se);
    cri_put_real(s, "residual_sd", m->fit.sigma * unit);
    cri_put_real(s, "rss", m->rss * square);
    cri_put_real(s, "r2", m->r2);
    cri_put_real(s, "gcv", m->gcv * square);
    cri_put_real(s, "loocv", m->loocv * square);
    (void)cx;
    return CR_OK;
}

static cr_status ridge_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_ridge *m = state;
    size_t     p = cr_design_terms(design);
    bool       moments = m->solver == SOLVER_PRIMAL && !m->fit.diagonal;
    (void)cx;
    bool fits = cri_predictor_fits(&m->fit, p) && (!moments || cri_moments_fit(&m->moments, p)) &&
                (!m->kept.start || cri_kept_rows_fit(&m->kept, p));
    return fits ? CR_OK : CR_EDATA;
}

const cr_model_class cri_class_ridge = {
    .name = "ridge",
    .summary = "least squares with a penalty on the squared coefficients",
    .formulas = "minimise  sum_i w_i (y_i - b0 - z_i.b)^2 + lambda |b|^2,  b0 free\n"
                "  = posterior mode under  b ~ N(0, s^2/lambda),  s^2 = RSS / (n - df)\n"
                "sd: posterior;  df = 1 + tr G (G + lambda I)^-1,  G = Z^T W Z",
    .reference = "Hoerl & Kennard (1970), Technometrics 12; Hastie, Tibshirani & Friedman (2009), "
                 "sec. 3.4.1",
    .tasks = CR_TASK_REGRESSION,
    .options = ridge_table,
    .options_size = sizeof(ridge_options),
    .default_scale = CR_SCALE_STANDARD,
    .scales_itself = true,
    .takes_sparse = true,
    .sums = &(const cri_sums_face){ .record = cri_moments_record,
                                    .size = sizeof(cri_moments),
                                    .at = offsetof(cri_ridge, moments),
                                    .serves = ridge_serves,
                                    .check = ridge_check,
                                    .open = ridge_open,
                                    .gather = cri_moments_gather,
                                    .merge = cri_moments_add,
                                    .solve = ridge_solve,
                                    .reopen = ridge_reopen,
                                    .review = ridge_review },
    .whole = &(const cri_whole_face){ .fit = ridge_fit },
    .rows = &(const cri_rows_face){ .predict = ridge_predict,
                                    .mean = ridge_mean,
                                    .mean_spread = ridge_mean_spread,
                                    .means_alone = true,
                                    .has_leverage = true },
    .describe = ridge_describe,
    .statistics = ridge_statistics,
    .state = ridge_record,
    .state_size = sizeof(cri_ridge),
    .ready = ridge_ready,
};
