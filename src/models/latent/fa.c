/* fa.c -- factor analysis (fa.h): how it learns and what it answers.
 * From the moments of the rows where no cell is missing, so that fit, update and stream are one: O(n p^2), and O(p^3)
 * for each step of the search.  With missing cells from all rows at once, O(n p^2) for a step of EM. */
#include "components.h"
#include "fa.h"
#include "rotation.h"
#include "models/common/described.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

CR_OPTIONS_TABLE(static, fa_table, cri_fa_options, CRI_FA_OPTIONS);
CRI_RECORD_TABLE(static, fa_record, cri_fa, CRI_FA_STATE);

static const cri_requirement fa_requirements[] = {
    { "promax_power", "rotation", "promax", false },
    CRI_REQUIREMENT_LAST,
};

static void fa_release(cr_ctx *cx, void *state)
{
    cri_factors_release(cx, &((cri_fa *)state)->model);
}

/* --- refusals --------------------------------------------------------------------------------- */

static cr_status check(cr_ctx *cx, const cri_rows *rows, const cri_fa_options *o)
{
    cr_status st = cri_components_check(cx, "fa", o->components);
    if (st == CR_OK) st = cri_described_numbers(cx, "fa", rows->design);
    if (st != CR_OK) return st;
    if (rows->p > 1) return CR_OK;
    cr_fail(cx, CR_EDATA, "fa needs at least three columns, but there is only %zu feature(s)",
            rows->p);
    return cr_fail_hint(cx, "normal describes a single one");
}

static cr_status fail_constant(cr_ctx *cx, const cr_design *design, size_t j)
{
    const char *name = cr_design_term_name(design, j);
    cr_fail(cx, CR_EDATA, "fa: '%s' is the same in all rows: it varies with no other column", name);
    return cr_fail_hint(cx, "--features '!%s' leaves it out", name);
}

/* Heywood's cases by name, as many as a line holds; and columns too few. */
static void warn_of_bounds(cr_ctx *cx, const cr_design *design, const cri_fa *m, double least)
{
    char   names[256] = "";
    size_t count = 0, length = 0;
    for (size_t j = 0; j < m->d; j++) {
        const char *name = cr_design_term_name(design, j);
        if (!(m->at_bound[j] > 0)) continue;
        bool fits = length + strlen(name) + 8 < sizeof names;
        if (fits)
            length += (size_t)snprintf(names + length, sizeof names - length, "%s'%s'",
                                       count ? ", " : "", name);
        count++;
    }
    if (cri_fa_freedom(m->d, m->k) < 0)
        cr_log(cx, CR_LOG_WARNING,
               "fa: two columns have one covariance, which does not tell what they share: both are "
               "given the same communality");
    if (count > 0)
        cr_log(cx, CR_LOG_WARNING,
               "fa: %zu uniqueness%s at the bound %g (a Heywood case): %s; the factors explain "
               "such a column entirely, and fewer factors may describe the rows better",
               count, count == 1 ? " is" : "es are", least, names);
}

/* --- axes, errors, units ---------------------------------------------------------------------- */

/* The factors that are shown, of loadings in units of sds. */
static cr_status rotate(cr_ctx *cx, const cri_fa_options *o, cri_fa *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = m->d, q = m->k;
    double    *W = m->model.loading, *length = cr_scratch_f64(&s, p > q ? p : q);
    double    *correlation = cr_scratch_matrix(&s, q, q), *work = cr_scratch_f64(&s, 3 * q * q);

    CR_TRY(s.status);
    if (o->rotation != CRI_ROTATION_NONE) cri_varimax(p, q, W, length);
    cri_rotation_order(p, q, W, NULL, 0, length);
    m->rotation = o->rotation;
    if (o->rotation == CRI_ROTATION_PROMAX) {
        double power = o->promax_power;
        if (cri_promax(p, q, power, W, m->pattern, m->turn, correlation, work)) {
            cri_rotation_order(p, q, m->pattern, W, p, length);
            cri_promax(p, q, power, W, m->pattern, m->turn, correlation, work);
            goto done;
        }
        m->rotation = CRI_ROTATION_VARIMAX;
        cr_log(cx, CR_LOG_WARNING,
               "fa: a factor has no loadings, which promax cannot do: varimax is shown");
    }
    memcpy(m->pattern, W, p * q * sizeof *W);
    for (size_t a = 0; a < q * q; a++) m->turn[a] = a % (q + 1) == 0;
done:
    cr_scratch_end(&s);
    return st;
}

/* sds of what is shown; rows are given where cells are missing. */
static cr_status find_errors(cr_ctx *cx, const cri_rows *opt_rows, bool standardised, double power,
                             cri_fa *m)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        p = m->d, q = m->k, width = cri_fa_width(p, q), *all = cr_scratch_index(&s, p);
    bool          known = cri_fa_affordable(p, q) && cri_fa_freedom(p, q) >= 0;
    double       *I = known ? cr_scratch_matrix(&s, width, width) : NULL;
    cri_fa_fitted of = { p,           q,     m->model.loading, m->model.psi, m->at_bound,
                         m->rotation, power, standardised };

    CR_TRY(s.status);
    for (size_t i = 0; i < p * q; i++) m->pattern_sd[i] = INFINITY;
    for (size_t i = 0; i < p; i++) all[i] = i, m->psi_sd[i] = INFINITY;
    for (size_t i = 0; i < q * q; i++) m->correlation_sd[i] = INFINITY;
    if (!known) goto done;
    memset(I, 0, width * width * sizeof *I);
    if (opt_rows)
        CR_TRY(cri_fa_gaps_information(cx, opt_rows, &of, I, &known));
    else
        CR_TRY(cri_fa_add_information(cx, &of, all, p, m->n, I));
    if (known) CR_TRY(cri_fa_errors(cx, &of, I, m->pattern_sd, m->psi_sd, m->correlation_sd));
done:
    cr_scratch_end(&s);
    return st;
}

/* From units of sds to those of the terms: sd [p]. */
static void set_units(cri_fa *m, const double *sd)
{
    size_t p = m->d, q = m->k;
    for (size_t j = 0; j < p; j++) {
        for (size_t a = 0; a < q; a++) {
            m->model.loading[a * p + j] *= sd[j];
            m->pattern[a * p + j] *= sd[j];
            m->pattern_sd[a * p + j] *= sd[j];
        }
        m->model.psi[j] *= sd[j] * sd[j];
        m->psi_sd[j] *= sd[j] * sd[j];
    }
}

/* What follows from loadings and psi in units of sds [p]; rows are given where cells are missing. */
static cr_status finish(cr_ctx *cx, const cr_design *design, const cri_fa_options *o,
                        const cri_rows *opt_rows, const double *sd, cri_fa *m)
{
    cr_status st = CR_OK;
    for (size_t j = 0; j < m->d; j++)
        m->at_bound[j] = cri_fa_at_bound(m->model.psi[j], o->least_uniqueness);
    CR_TRY(rotate(cx, o, m));
    CR_TRY(find_errors(cx, opt_rows, design->standardised, o->promax_power, m));
    set_units(m, sd);
    CR_TRY(cri_factors_ready(cx, &m->model, m->d));
    warn_of_bounds(cx, design, m, o->least_uniqueness);
done:
    return st;
}

/* Bartlett's correction of a likelihood ratio against any covariance. */
static double correct_ratio(const cri_fa *m, double ratio)
{
    double p = (double)m->d, q = (double)m->k, factor = m->n - 1 - (2 * p + 5) / 6 - 2 * q / 3;
    bool   tests = factor > 0 && isfinite(ratio) && cri_fa_freedom(m->d, m->k) >= 0;
    return tests ? fmax(factor / m->n * ratio, 0) : NAN;
}

/* --- how many factors ------------------------------------------------------------------------- */

/* Correlations R over a covariance C, sd [p]; false where a column does not vary, *out_constant. */
static bool correlate(double *C, size_t p, double *sd, size_t *out_constant)
{
    for (size_t j = 0; j < p; j++) {
        sd[j] = sqrt(C[j * p + j]);
        *out_constant = j;
        if (!(sd[j] > 0)) return false;
    }
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) C[i * p + j] = i == j ? 1 : C[i * p + j] / (sd[i] * sd[j]);
    return true;
}

/* Chooses the number of factors, makes the arrays of m, and sets loadings and psi, in units of sds. */
static cr_status learn(cr_ctx *cx, const cri_fa_rows *rows, const cri_fa_options *o, cri_fa *m,
                       bool *out_cut)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        p = rows->p, most = cri_fa_most(p);
    cri_fa_choice choice = { .log_likelihood = cr_scratch_f64(&s, most) };
    choice.best.psi = cr_scratch_f64(&s, p), choice.best.W = cr_scratch_matrix(&s, most, p);

    CR_TRY(s.status);
    CR_TRY(cri_fa_choose(cx, rows, o, &choice));
    m->k = m->model.q = choice.q, m->d = m->model.p = p;
    m->tried = choice.tried, m->n = rows->n;
    CR_TRY(cri_record_allocate(cx, fa_record, m));
    memcpy(m->model.psi, choice.best.psi, p * sizeof(double));
    memcpy(m->model.loading, choice.best.W, choice.q * p * sizeof(double));
    memcpy(m->likelihood_of, choice.log_likelihood, choice.tried * sizeof(double));
    m->log_likelihood = cri_fa_log_likelihood(rows, choice.best.f);
    m->starts = choice.best.starts, m->agreeing = choice.best.agreeing;
    m->iterations = choice.best.iterations, m->converged = choice.best.converged;
    *out_cut = choice.best.cut;
    if (*out_cut)
        cr_log(
            cx, CR_LOG_WARNING,
            "fa: the time limit ended the search after %zu start%s with %zu factor%s: this is the "
            "best so far",
            m->starts, m->starts == 1 ? "" : "s", m->k, m->k == 1 ? "" : "s");
done:
    cr_scratch_end(&s);
    return st;
}

static void set_report(const cri_fa *m, bool cut, cr_report *report)
{
    report->stop = cut ? CR_STOP_TIME : m->converged ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
    report->iterations = m->iterations;
    report->log_likelihood = m->log_likelihood;
}

/* --- from the moments ------------------------------------------------------------------------- */

static bool fa_serves(const cri_rows *rows, const void *options, size_t leaves)
{
    (void)options, (void)leaves;
    return !cri_rows_have_gaps(rows);
}

static cr_status fa_check(cr_ctx *cx, const void *state)
{
    if (!((const cri_fa *)state)->gaps) return CR_OK;
    cr_fail(cx, CR_EUNSUPPORTED,
            "an fa model fitted to rows with missing cells has no exact update");
    return cr_fail_hint(cx, "fit it again to all the rows");
}

static cr_status fa_open(cr_ctx *cx, const cri_rows *rows, const void *options, void **out_state)
{
    cr_status st = check(cx, rows, options);
    if (st != CR_OK) return st;
    *out_state = cr_alloc(cx, 1, sizeof(cri_fa));
    return *out_state ? CR_OK : CR_ENOMEM;
}

static cr_status fa_gather(cr_ctx *cx, const void *state, const cri_rows *rows, const void *options,
                           void *moments)
{
    if (cri_rows_have_gaps(rows)) {
        cr_fail(cx, CR_EDATA, "fa: cells are missing, which takes all rows at once");
        return cr_fail_hint(cx, "fit it without --stream to all the rows, or use --missing drop");
    }
    return cri_moments_gather(cx, state, rows, options, moments);
}

/* log|R|, NaN where R has no inverse; R [p x p] is overwritten. */
static cr_status log_determinant(cr_ctx *cx, double *R, size_t p, double *out)
{
    cr_status st = cr_chol(cx, cr_mat_of(R, p, p));
    *out = st == CR_OK ? cr_chol_logdet(cr_cmat_of(R, p, p)) : NAN;
    return st == CR_ENUMERIC ? CR_OK : st;
}

static cr_status fa_solve(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                          cr_report *report)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cri_fa     *m = state;
    size_t      p = m->moments.p, constant = 0;
    double     *sd = cr_scratch_f64(&s, p), logdet = NAN, any;
    bool        cut = false;
    cri_gram    g = { 0 };
    cri_fa_rows rows = { .p = p, .n = m->moments.weight };

    CR_TRY(s.status);
    CR_TRY(cri_gram_new(cx, &m->moments, true, design->standardised, &g));
    for (size_t i = 0; i < p * p; i++) g.G[i] /= g.weight;
    if (!correlate(g.G, p, sd, &constant)) CR_TRY(fail_constant(cx, design, constant));
    for (size_t j = 0; j < p; j++) {
        if (design->standardised) sd[j] = 1;
        rows.log_units += log(g.scale[j] * sd[j]);
    }
    rows.R = g.G;
    CR_TRY(learn(cx, &rows, options, m, &cut));
    memcpy(m->model.centre, g.centre, p * sizeof(double));
    memcpy(m->model.scale, g.scale, p * sizeof(double));
    CR_TRY(log_determinant(cx, g.G, p, &logdet));
    any = cri_fa_log_likelihood(&rows, logdet + (double)p);
    m->chi2 = correct_ratio(m, 2 * (any - m->log_likelihood));
    CR_TRY(finish(cx, design, options, NULL, sd, m));
    set_report(m, cut, report);
done:
    cri_gram_free(cx, &g);
    cr_scratch_end(&s);
    return st;
}

/* All but the moments, which the statistics are. */
static void fa_reopen(cr_ctx *cx, void *state)
{
    cri_fa *m = state, empty = { 0 };
    fa_release(cx, m);
    cri_record_free(cx, fa_record, m);
    *m = empty;
}

/* --- with missing cells ----------------------------------------------------------------------- */

/* Loadings and psi of m from units of sds, or to them. */
static void change_units(cri_factors *m, const double *sd, bool to_sds)
{
    for (size_t j = 0; j < m->p; j++) {
        double unit = to_sds ? 1 / sd[j] : sd[j];
        for (size_t a = 0; a < m->q; a++) m->loading[a * m->p + j] *= unit;
        m->psi[j] *= unit * unit;
    }
}

/* After EM: sd [p] of the columns as C has it, which are what standardised ones are divided by. */
static void set_sds(const double *C, bool standardised, cri_factors *m, double *sd)
{
    for (size_t j = 0; j < m->p; j++) sd[j] = sqrt(C[j * (m->p + 1)]);
    change_units(m, sd, true);
    for (size_t j = 0; j < m->p && standardised; j++) m->scale[j] *= sd[j], sd[j] = 1;
}

static cr_status learn_gaps(cr_ctx *cx, const cri_rows *rows, const cri_fa_options *o, cri_fa *m,
                            bool *out_cut)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          p = rows->p, constant = p;
    double         *C = cr_scratch_matrix(&s, p, p), *sd = cr_scratch_f64(&s, p);
    cri_fa_any      any = { .C = C };
    cri_fa_rows     of = { .R = C, .p = p };
    cri_gaps_report r = { .C = C };

    any.centre = cr_scratch_f64(&s, p), any.scale = cr_scratch_f64(&s, p);
    CR_TRY(s.status);
    CR_TRY(cri_fa_survey(cx, rows, &constant, &of.n));
    if (constant < p) CR_TRY(fail_constant(cx, rows->design, constant));
    CR_TRY(cri_fa_fit_any(cx, rows, o, &any));
    if (!correlate(C, p, sd, &constant)) CR_TRY(fail_constant(cx, rows->design, constant));
    for (size_t j = 0; j < p; j++) of.log_units += log(any.scale[j] * sd[j]);
    CR_TRY(learn(cx, &of, o, m, out_cut));
    change_units(&m->model, sd, false);
    CR_TRY(cri_fa_fit_gaps(cx, rows, o, &any, &m->model, &r));
    m->gaps = true;
    m->log_likelihood = r.log_likelihood;
    m->iterations = r.iterations, m->converged = r.converged;
    m->chi2 = correct_ratio(m, 2 * (any.log_likelihood - r.log_likelihood));
    *out_cut |= r.cut;
    set_sds(C, rows->design->standardised, &m->model, sd);
    CR_TRY(finish(cx, rows->design, o, rows, sd, m));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status fa_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                        void **out_state, cr_report *report)
{
    cr_status st = CR_OK;
    cri_fa   *m = cr_alloc(cx, 1, sizeof *m);
    bool      cut = false;
    (void)seed;
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(check(cx, rows, options));
    CR_TRY(learn_gaps(cx, rows, options, m, &cut));
    set_report(m, cut, report);
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_fa, m);
    return st;
}

/* --- answers ---------------------------------------------------------------------------------- */

static cr_status fa_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    const cri_fa *m = state;
    size_t        q = m->k;
    double       *z = cr_scratch_f64(&s, q);

    CR_TRY(s.status);
    CR_TRY(cri_factors_predict(cx, &m->model, rows, out));
    for (size_t i = 0; i < rows->n && m->rotation == CRI_ROTATION_PROMAX; i++) {
        memcpy(z, out->vector + i * q, q * sizeof *z);
        for (size_t a = 0; a < q; a++) {
            out->vector[i * q + a] = 0;
            for (size_t b = 0; b < q; b++) out->vector[i * q + a] += m->turn[a * q + b] * z[b];
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status fa_reconstruct(cr_ctx *cx, const void *state, const double *Z, size_t n,
                                double *out, double *distance)
{
    const cri_fa   *m = state;
    const cri_plane plane = { m->k, m->d, m->pattern, m->model.centre, m->model.scale };
    return cri_plane_points(cx, &plane, Z, n, out, distance);
}

static cr_status fa_sample(cr_ctx *cx, const void *state, const cr_design *design,
                           const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    (void)design, (void)opt_rows;
    return cri_factors_sample(cx, &((const cri_fa *)state)->model, count, seed, out);
}

static cr_status fa_next(cr_ctx *cx, const void *state, const cr_design *design, cr_prediction *out)
{
    (void)cx, (void)design;
    cri_factors_next(&((const cri_fa *)state)->model, out);
    return CR_OK;
}

static const char *const *fa_labels(const void *state, size_t *out_n)
{
    const cri_factors *f = &((const cri_fa *)state)->model;
    *out_n = f->q;
    return f->at.names;
}

/* --- the file, and the descriptor ------------------------------------------------------------- */

static cr_status fa_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_fa *m = state;
    size_t  p = cr_design_terms(design);
    bool    fits = m->k == m->model.q && m->d == p && m->model.p == p && m->k <= cri_fa_most(p) &&
                (m->gaps || cri_moments_fit(&m->moments, p));
    return fits ? cri_factors_ready(cx, &m->model, p) : CR_EDATA;
}

const cr_model_class cri_class_fa = {
    .example = "examples/cars.csv --components 2",
    .name = "fa",
    .summary = "factor analysis: few hidden factors, and noise of its own in each column",
    .formulas = "(x - centre) / scale = W z + e,   z ~ N(0, I),   e ~ N(0, diag psi)\n"
                "W, psi maximise the likelihood;  W turned by varimax or promax",
    .reference = "Lawley & Maxwell (1971), Factor Analysis as a Statistical Method; Bishop (2006), "
                 "sec. 12.2.4",
    .tasks = CR_TASK_TRANSFORM | CR_TASK_DENSITY,
    .options = fa_table,
    .options_size = sizeof(cri_fa_options),
    .requirements = fa_requirements,
    .default_scale = CR_SCALE_STANDARD,
    .scales_itself = true,
    .takes_missing = true,
    .sums = &(const cri_sums_face){ .record = cri_moments_record,
                                    .size = sizeof(cri_moments),
                                    .at = offsetof(cri_fa, moments),
                                    .serves = fa_serves,
                                    .check = fa_check,
                                    .open = fa_open,
                                    .gather = fa_gather,
                                    .merge = cri_moments_add,
                                    .solve = fa_solve,
                                    .reopen = fa_reopen },
    .whole = &(const cri_whole_face){ .fit = fa_fit },
    .rows = &(const cri_rows_face){ .predict = fa_predict,
                                    .reconstruct = fa_reconstruct,
                                    .labels = fa_labels,
                                    .next = fa_next,
                                    .sample = fa_sample },
    .describe = cri_fa_describe,
    .statistics = cri_fa_statistics,
    .tables = cri_fa_tables,
    .state = fa_record,
    .state_size = sizeof(cri_fa),
    .ready = fa_ready,
    .release = fa_release,
};
