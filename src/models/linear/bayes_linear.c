/* bayes_linear.c -- Bayesian linear regression.
 *   y ~ N(b0 + z . w, 1/beta),   w ~ N(0, I/alpha),   z standardised, b0 flat or the mean of y.
 * Posterior  N(m, A^-1),  A = alpha I + beta G,  m = beta A^-1 g,  and the log evidence
 *   p/2 ln alpha + n/2 ln beta - beta/2 |t - Z m|^2 - alpha/2 |m|^2 - 1/2 ln|A| - n/2 ln 2 pi.
 * alpha and beta are averaged over (scales.h); or maximise the evidence by MacKay's fixed point or by
 * EM; or are given; or, with the normal-inverse-gamma prior  w | s2 ~ N(0, s2 v I), s2 ~ IG(a, b),
 * the noise is integrated out.
 * All of it is O(p) per step in the eigenbasis of G: G = V diag(d) V^T, u = V^T g.  Where terms are
 * many more than rows the same comes from the n x n eigenbasis of Z Z^T (dual.h): the directions
 * that are missing have d = 0.  Of a category of many levels a step solves the equations with the
 * levels eliminated (bordered.h), O(n + p).
 * Varying intercepts, y ~ N(b0 + z . w + u_g, 1/beta) with u_g ~ N(0, s_u^2), are bayes_varying.c.
 * Bishop (2006), PRML, sec. 3.3 and 3.5; Murphy (2012), sec. 7.6. */
#include "bayes_linear.h"
#include "math/special/special.h"

CR_OPTIONS_TABLE(static, bayes_table, cri_bayes_options, CRI_BAYES_OPTIONS);

static const cri_requirement bayes_requirements[] = {
    { "noise_model", "solver", "auto|primal", false },
    { "alpha", "optimize", "auto|fixed-point|em|none", false },
    { "noise", "optimize", "auto|fixed-point|em|none", false },
    { "tol", "optimize", "auto|fixed-point|em", false },
    { "max_iter", "optimize", "auto|fixed-point|em", false },
    CRI_REQUIREMENT_LAST,
};

CRI_RECORD_TABLE(static, bayes_record, cri_bayes, CRI_BAYES);

/* --- the fit --------------------------------------------------------------------------------- */

static bool has_groups(const cri_rows *rows)
{
    return cri_design_varying(rows->design) != SIZE_MAX;
}

static bool pays_by_levels(const cri_rows *rows, const cri_bayes_options *o)
{
    return o->solver == CRI_BAYES_SOLVER_AUTO && cri_bordered_pays(rows);
}

static bool takes_dual(const cri_rows *rows, const cri_bayes_options *o)
{
    enum { FEW = 1000 };
    if (o->solver != CRI_BAYES_SOLVER_AUTO) return o->solver == CRI_BAYES_SOLVER_DUAL;
    return rows->p > rows->n && rows->p > FEW;
}

/* What the moments do not serve for. */
static cr_status bayes_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                           void **out_state, cr_report *report)
{
    cr_status  st = CR_OK;
    cri_bayes *m = cr_alloc(cx, 1, sizeof *m);
    (void)seed;
    if (!m) return CR_ENOMEM;
    CR_TRY(((const cri_bayes_options *)options)->noise_model
               ? cri_bayes_solve_noise(cx, m, rows, options, report)
           : has_groups(rows)              ? cri_bayes_solve_varying(cx, m, rows, options, report)
           : pays_by_levels(rows, options) ? cri_bayes_solve_levels(cx, m, rows, options, report)
                                           : cri_bayes_solve_dual(cx, m, rows, options, report));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_bayes_linear, m);
    return st;
}

/* --- from the moments ------------------------------------------------------------------------- */

static bool bayes_serves(const cri_rows *rows, const void *options, size_t leaves)
{
    (void)leaves;
    return !((const cri_bayes_options *)options)->noise_model && !has_groups(rows) &&
           !pays_by_levels(rows, options) && !takes_dual(rows, options);
}

static cr_status refuse_update(cr_ctx *cx, bool dual)
{
    cr_fail(cx, CR_EUNSUPPORTED,
            dual ? "a bayes-linear model fitted in the dual has no exact update"
                 : "a bayes-linear model of a category of so many levels has no exact update");
    return cr_fail_hint(cx, "fit it with --solver primal, or again to all the rows");
}

static cr_status refuse_groups(cr_ctx *cx)
{
    return cr_fail(cx, CR_EUNSUPPORTED,
                   "a bayes-linear model with varying intercepts needs all rows at once: it cannot "
                   "be updated or streamed");
}

static cr_status refuse_noise(cr_ctx *cx)
{
    cr_fail(
        cx, CR_EUNSUPPORTED,
        "a bayes-linear model with --noise-model needs all rows at once: it has no exact update");
    return cr_fail_hint(cx, "fit it again to all the rows");
}

static cr_status bayes_check(cr_ctx *cx, const void *state)
{
    const cri_bayes *m = state;
    if (m->varying.groups > 0) return refuse_groups(cx);
    if (m->noise.noise_terms > 0) return refuse_noise(cx);
    return m->dual || m->fit.diagonal ? refuse_update(cx, m->dual) : CR_OK;
}

static cr_status bayes_open(cr_ctx *cx, const cri_rows *rows, const void *options, void **out_state)
{
    if (has_groups(rows)) return refuse_groups(cx);
    if (((const cri_bayes_options *)options)->solver == CRI_BAYES_SOLVER_DUAL)
        return refuse_update(cx, true);
    if (((const cri_bayes_options *)options)->noise_model) return refuse_noise(cx);
    *out_state = cr_alloc(cx, 1, sizeof(cri_bayes));
    return *out_state ? CR_OK : CR_ENOMEM;
}

static void bayes_reopen(cr_ctx *cx, void *state)
{
    cri_predictor_free(cx, &((cri_bayes *)state)->fit);
}

/* With the same noise in every row. */
static cr_status predict_plain(cr_ctx *cx, const cri_bayes *m, const cri_rows *rows,
                               cr_prediction *out)
{
    cr_status st = cri_dual_predict(cx, &m->fit, &m->kept, rows, out);
    if (st == CR_OK && m->varying.groups > 0)
        st = cri_varying_predict(cx, &m->varying, &m->fit, rows, out);
    return st;
}

static cr_status bayes_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                               cr_prediction *out)
{
    const cri_bayes *m = state;
    cr_status        st = predict_plain(cx, m, rows, out);
    return st != CR_OK ? st : cri_noise_model_spread(cx, &m->noise, m->fit.sigma, rows, out);
}

static cr_status bayes_mean(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    const cri_bayes *m = state;
    cr_status        st = predict_plain(cx, m, rows, out);
    return st != CR_OK ? st : cri_predictor_drop_noise(cx, &m->fit, rows, out);
}

static cr_status bayes_mean_spread(cr_ctx *cx, const void *state, const cri_rows *rows,
                                   double *out_scale, double *out_dof)
{
    const cri_bayes *m = state;
    if (m->varying.groups > 0) return CR_OK; /* of which F knows nothing */
    return cri_dual_mean_spread(cx, &m->fit, &m->kept, rows, out_scale, out_dof);
}

/* --- describe and file ----------------------------------------------------------------------- */

static const cr_field bayes_statistics[] = {
    CR_TEXT("prior", 0, "of the coefficients: normal, or normal-inverse-gamma with the noise"),
    CR_NUMBER("a_n", CR_FIELD_EITHER, "of nig: shape of the posterior of the noise variance"),
    CR_MEASURE("b_n", "target^2", CR_FIELD_EITHER, "of nig: its scale"),
    CR_NUMBER("prior_variance", CR_FIELD_EITHER,
              "of nig: prior variance of a coefficient, in units of the noise"),
    CR_TEXT("scales", CR_FIELD_SOMETIMES, "averaged, if alpha and beta are not plugged in"),
    CR_MEASURE("alpha", "1/target^2", CR_FIELD_EITHER,
               "of normal: prior precision of the coefficients; its geometric mean, if averaged"),
    CR_MEASURE("beta", "1/target^2", CR_FIELD_EITHER,
               "of normal: precision of the noise, 1 / noise_sd^2"),
    CR_NUMBER("dof", CR_FIELD_SOMETIMES, "if averaged: degrees of freedom of the Student t"),
    CR_TEXT("solver", CR_FIELD_SOMETIMES, "dual, if there are fewer rows than terms"),
    CR_MEASURE("noise_sd", "target", CR_FIELD_NULL, "standard deviation of the noise"),
    CR_NUMBER("effective_parameters", CR_FIELD_NULL,
              "effective number of coefficients determined by the data"),
    CR_MEASURE("rss", "target^2", CR_FIELD_NULL, "residual sum of squares"),
    CRI_VARYING_STATISTICS("target"),
    CR_FIELD_LAST,
};

static cr_status bayes_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                cri_sheet *out)
{
    const cri_bayes *m = state;
    double           unit = design->target_scale; /* back to the target's units */
    cri_sheet       *s;
    cri_predictor_describe_within(&m->fit, design, CRI_SHOW_POSTERIOR,
                                  cr_student_t_ppf(0.975, m->fit.dof), m->varying.dof, out);
    if (m->noise.noise_terms > 0)
        cri_noise_model_describe(&m->noise, design, m->fit.sigma * unit,
                                 cri_sheet_get(out, "parameters"));
    s = cri_put_object(out, "statistics");
    if (m->nig) {
        cri_put_text(s, "prior", "normal-inverse-gamma");
        cri_put_real(s, "a_n", m->a);
        cri_put_real(s, "b_n", m->b * unit * unit);
        cri_put_real(s, "prior_variance", m->v);
    } else {
        cri_put_text(s, "prior", "normal");
        if (m->averaged) cri_put_text(s, "scales", "averaged");
        cri_put_real(s, "alpha", m->alpha / (unit * unit));
        cri_put_real(s, "beta", m->beta / (unit * unit));
        if (m->averaged) cri_put_real(s, "dof", m->fit.dof);
    }
    if (m->dual) cri_put_text(s, "solver", "dual");
    cri_put_real(s, "noise_sd", m->fit.sigma * unit);
    cri_put_real(s, "effective_parameters", m->gamma);
    cri_put_real(s, "rss", m->rss * unit * unit);
    if (m->varying.groups > 0) cri_varying_describe(&m->varying, &m->fit, design, s, out);
    (void)cx;
    return CR_OK;
}

static cr_status bayes_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_bayes *m = state;
    size_t     p = cr_design_terms(design);
    (void)cx;
    bool fits =
        cri_predictor_fits(&m->fit, p) && cri_varying_fits(&m->varying, design) &&
        cri_noise_model_fits(&m->noise, p) &&
        (m->dual || m->fit.diagonal || m->varying.groups > 0 || cri_moments_fit(&m->moments, p)) &&
        (!(m->dual && design->block.n > 0) || m->kept.start) &&
        (!m->kept.start || cri_kept_rows_fit(&m->kept, p));
    return fits ? CR_OK : CR_EDATA;
}

const cr_model_class cri_class_bayes_linear = {
    .name = "bayes-linear",
    .summary = "linear regression with a posterior over the coefficients and the evidence",
    .formulas =
        "y ~ N(b0 + z.w, 1/beta),  w ~ N(0, I/alpha),  z the standardised features\n"
        "posterior  w ~ N(m, A^-1),  A = alpha I + beta Z^T Z,  m = beta A^-1 Z^T (y - b0)\n"
        "or  w|s2 ~ N(0, s2 v I),  s2 ~ InvGamma(a, b):  Student-t predictions",
    .reference = "Bishop (2006), PRML, sec. 3.3-3.5; Murphy (2012), sec. 7.6",
    .tasks = CR_TASK_REGRESSION,
    .options = bayes_table,
    .options_size = sizeof(cri_bayes_options),
    .requirements = bayes_requirements,
    .default_scale = CR_SCALE_STANDARD,
    .scales_itself = true,
    .takes_sparse = true,
    .varying = true,
    .sums = &(const cri_sums_face){ .record = cri_moments_record,
                                    .size = sizeof(cri_moments),
                                    .at = offsetof(cri_bayes, moments),
                                    .serves = bayes_serves,
                                    .check = bayes_check,
                                    .open = bayes_open,
                                    .gather = cri_moments_gather,
                                    .merge = cri_moments_add,
                                    .solve = cri_bayes_solve,
                                    .reopen = bayes_reopen },
    .whole = &(const cri_whole_face){ .fit = bayes_fit },
    .rows = &(const cri_rows_face){ .predict = bayes_predict,
                                    .mean = bayes_mean,
                                    .mean_spread = bayes_mean_spread,
                                    .means_alone = true,
                                    .has_leverage = true },
    .describe = bayes_describe,
    .statistics = bayes_statistics,
    .tables = cri_varying_tables,
    .state = bayes_record,
    .state_size = sizeof(cri_bayes),
    .ready = bayes_ready,
};
