/* linear.c -- ordinary (and weighted) least squares with its standard errors.
 *   y = b0 + x . b + e,  e ~ N(0, s^2);   s^2 = RSS / (n - rank),   Cov b = s^2 (X^T W X)^-1,
 * a row of weight w counting as w rows, n the sum of the weights;
 * predictive: Student t with n - rank degrees of freedom, scale s sqrt(1 + h), h the leverage.
 * Seber & Lee (2003), Linear Regression Analysis, ch. 3 and 5. */
#include "least_squares.h"
#include "../../math/special.h"

#include <math.h>

/* clang-format off */
#define LINEAR_OPTIONS(X)                                                                            \
    X(flag,   intercept, "true", "", "fit an intercept", "false")                                    \
    X(choice, solver,    "auto", "auto|qr|gram",                                                     \
      "qr: every digit; gram: one pass, for many rows; auto: gram where it is safe and pays", "qr")
/* clang-format on */
enum { SOLVER_AUTO, SOLVER_QR, SOLVER_GRAM };

CR_OPTIONS_STRUCT(linear_options, LINEAR_OPTIONS);
#define ROW(...) CR_OPTION_ROW(linear_options, __VA_ARGS__)
static const cr_option linear_table[] = { LINEAR_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

typedef struct linear_state {
    cri_predictor     fit;
    cri_least_squares facts;
    double            loocv, max_leverage; /* NaN where they were not worth a pass */
    size_t            max_row;
} linear_state;

static void linear_free(cr_ctx *cx, void *state)
{
    linear_state *m = state;
    cri_predictor_free(cx, &m->fit);
    cr_free(cx, m, 1, sizeof *m);
}

/* --- fit ------------------------------------------------------------------------------------- */

/* Gram where asked for, or where QR would be long and the columns allow it; else QR. */
static cr_status solve(cr_ctx *cx, const cri_rows *rows, const linear_options *o, linear_state *m)
{
    double n = (double)rows->n, p = (double)rows->p;
    bool   pays = n * p * p > 5e7 && n > 4 * p, good = false;
    if (o->solver == SOLVER_GRAM || (o->solver == SOLVER_AUTO && pays)) {
        cr_status st = cri_least_squares_gram(cx, rows, o->intercept, &m->fit, &m->facts, &good);
        if (st != CR_OK || good) return st;
        cr_log(cx, o->solver == SOLVER_GRAM ? CR_LOG_WARNING : CR_LOG_INFO,
               "the columns are close to dependent: solved by QR instead of cross-products");
    }
    return cri_least_squares_qr(cx, rows, o->intercept, &m->fit, &m->facts);
}

static void warn(cr_ctx *cx, const linear_state *m)
{
    if (!(m->fit.dof > 0))
        cr_log(cx, CR_LOG_WARNING,
               "there are as many coefficients as rows: "
               "no standard errors or intervals can be given");
    if (m->facts.correction > 1e-6)
        cr_log(
            cx, CR_LOG_WARNING,
            "the columns are so nearly dependent (condition %.1e) that the coefficients have only "
            "about %.0f correct digits",
            m->facts.condition, fmax(0, -log10(m->facts.correction)));
}

/* At the maximum; NaN where the rows are used up and the likelihood has none. */
static double log_likelihood(const cri_least_squares *f, double dof, double target_scale)
{
    double n = f->weight, variance = f->rss / n;
    return dof > 0 ? -0.5 * n * (log(2 * M_PI * variance) + 1) - n * log(target_scale) : NAN;
}

static cr_status linear_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                            void **out_state, cr_report *report)
{
    cr_status     st = CR_OK;
    linear_state *m = cr_alloc(cx, 1, sizeof *m);
    (void)seed;

    if (!m) return CR_ENOMEM;
    CR_TRY(solve(cx, rows, options, m));
    warn(cx, m);
    m->loocv = m->max_leverage = NAN;
    if ((double)rows->n * (double)rows->p * (double)m->fit.r <= 1e8) {
        cri_fit_quality q;
        CR_TRY(cri_predictor_quality(cx, &m->fit, rows, &q));
        m->loocv = q.loo;
        m->max_leverage = q.max_leverage;
        m->max_row = q.max_row;
    }
    report->stop = CR_STOP_CLOSED_FORM;
    report->log_likelihood = log_likelihood(&m->facts, m->fit.dof, rows->design->target_scale);
    *out_state = m;
    m = NULL;
done:
    if (m) linear_free(cx, m);
    return st;
}

static cr_status linear_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                cr_prediction *out)
{
    return cri_predictor_predict(cx, &((const linear_state *)state)->fit, rows, out);
}

/* --- describe -------------------------------------------------------------------------------- */

static cr_status linear_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                 json_t *out)
{
    cr_status                st = CR_OK;
    const linear_state      *m = state;
    const cri_least_squares *f = &m->facts;
    double                   rank = (double)f->rank, dof = m->fit.dof, n = f->weight;
    double                   r2 = f->tss > 0 ? 1 - f->rss / f->tss : NAN;
    double  total = n - m->fit.has_intercept; /* degrees of freedom of the total sum of squares */
    double  ratio = f->tss > 0 && dof > 0 ? (f->tss - f->rss) / rank / (f->rss / dof) : NAN;
    double  k = rank + m->fit.has_intercept + 1; /* the noise variance counts as a parameter */
    double  loglik = log_likelihood(f, dof, design->target_scale);
    double  unit = design->target_scale; /* back to the target's units */
    json_t *s;

    CR_TRY(cri_predictor_describe(cx, &m->fit, design, true, out));
    CR_TRY(cri_store_set(cx, out, "statistics", s = json_object()));
    CR_TRY(cri_store_set(cx, s, "residual_sd", cri_json_number(m->fit.sigma * unit)));
    CR_TRY(cri_store_set(cx, s, "residual_dof", cri_json_number(dof)));
    CR_TRY(cri_store_set_real(cx, s, "rss", f->rss * unit * unit));
    CR_TRY(cri_store_set(cx, s, "r2", cri_json_number(r2)));
    CR_TRY(cri_store_set(cx, s, "adjusted_r2", cri_json_number(1 - (1 - r2) * total / dof)));
    CR_TRY(cri_store_set(cx, s, "f", cri_json_number(ratio)));
    CR_TRY(cri_store_set(cx, s, "f_p", cri_json_number(cr_f_sf(ratio, rank, dof))));
    CR_TRY(cri_store_set(cx, s, "aic", cri_json_number(2 * k - 2 * loglik)));
    CR_TRY(cri_store_set(cx, s, "bic", cri_json_number(k * log(n) - 2 * loglik)));
    CR_TRY(cri_store_set(cx, s, "loocv", cri_json_number(m->loocv * unit * unit)));
    CR_TRY(cri_store_set(cx, s, "max_leverage", cri_json_number(m->max_leverage)));
    CR_TRY(cri_store_set(cx, s, "max_leverage_row",
                         isnan(m->max_leverage) ? json_null()
                                                : json_integer((json_int_t)m->max_row + 1)));
    CR_TRY(cri_store_set(cx, s, "rank", json_integer((json_int_t)f->rank)));
    CR_TRY(cri_store_set(cx, s, "condition_number", cri_json_number(f->condition)));
    CR_TRY(cri_store_set(cx, s, "solver", json_string(f->gram ? "gram" : "qr")));
    CR_TRY(cri_store_set(cx, s, "refinements", json_integer(f->refinements)));
done:
    return st;
}

/* --- file ------------------------------------------------------------------------------------ */

static cr_status linear_write(cr_ctx *cx, const void *state, cri_store *store, json_t *out)
{
    cr_status                st = CR_OK;
    const linear_state      *m = state;
    const cri_least_squares *f = &m->facts;
    CR_TRY(cri_store_set(cx, out, "gram", json_boolean(f->gram)));
    CR_TRY(cri_store_set_real(cx, out, "weight", f->weight));
    CR_TRY(cri_store_set_real(cx, out, "rss", f->rss));
    CR_TRY(cri_store_set_real(cx, out, "tss", f->tss));
    CR_TRY(cri_store_set(cx, out, "condition", cri_json_number(f->condition)));
    CR_TRY(cri_store_set_real(cx, out, "correction", f->correction));
    CR_TRY(cri_store_set(cx, out, "refinements", json_integer(f->refinements)));
    CR_TRY(cri_store_set(cx, out, "loocv", cri_json_number(m->loocv)));
    CR_TRY(cri_store_set(cx, out, "max_leverage", cri_json_number(m->max_leverage)));
    CR_TRY(cri_store_set(cx, out, "max_row", json_integer((json_int_t)m->max_row)));
    CR_TRY(cri_predictor_write(cx, &m->fit, store, out));
done:
    return st;
}

static cr_status linear_read(cr_ctx *cx, const cri_store *store, const json_t *in,
                             const cr_design *design, void **out_state)
{
    cr_status          st = CR_OK;
    linear_state      *m = cr_alloc(cx, 1, sizeof *m);
    cri_least_squares *f = m ? &m->facts : NULL;
    size_t             refinements;
    if (!m) return CR_ENOMEM;
    f->gram = json_is_true(json_object_get(in, "gram"));
    CR_TRY(cri_store_get_real(cx, store, in, "weight", &f->weight));
    CR_TRY(cri_store_get_real(cx, store, in, "rss", &f->rss));
    CR_TRY(cri_store_get_real(cx, store, in, "tss", &f->tss));
    CR_TRY(cri_store_get_real(cx, store, in, "correction", &f->correction));
    CR_TRY(cri_store_get_count(cx, store, in, "refinements", &refinements));
    CR_TRY(cri_store_get_count(cx, store, in, "max_row", &m->max_row));
    f->refinements = (unsigned)refinements;
    f->condition = cri_json_number_or_nan(in, "condition");
    m->loocv = cri_json_number_or_nan(in, "loocv");
    m->max_leverage = cri_json_number_or_nan(in, "max_leverage");
    CR_TRY(cri_predictor_read(cx, store, in, cr_design_terms(design), &m->fit));
    f->rank = m->fit.r;
    *out_state = m;
    m = NULL;
done:
    if (m) linear_free(cx, m);
    return st;
}

const cr_model_class cri_class_linear = {
    .name = "linear",
    .summary = "least squares with standard errors, t and p values, leverage",
    .formulas = "y = b0 + x.b + e,  e ~ N(0, s^2):  minimise sum_i w_i (y_i - b0 - x_i.b)^2\n"
                "s^2 = RSS / (n - rank),  Cov b = s^2 (X^T W X)^-1\n"
                "prediction: Student t with n - rank degrees of freedom, scale s sqrt(1 + h)",
    .reference = "Seber & Lee (2003), Linear Regression Analysis; Bjorck (1967), BIT 7",
    .tasks = CR_TASK_REGRESSION,
    .options = linear_table,
    .options_size = sizeof(linear_options),
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .means_alone = true,
    .has_leverage = true,
    .fit = linear_fit,
    .predict = linear_predict,
    .describe = linear_describe,
    .write = linear_write,
    .read = linear_read,
    .free = linear_free,
};
