/* linear_solve.c -- how a least-squares fit is solved: by which method, for all terms or a selection of
 * them, with noise of one spread, of known precisions or of a model of its own. */
#include "bordered.h"
#include "linear_fit.h"
#include "relations.h"
#include "models/common/rows_view.h"
#include "base/scratch.h"

#include <math.h>

/* Sparse rows whose equations are too large: p x p, or X itself when that failed or would fail. */
static bool needs_lsqr(const cri_rows *rows, const cri_linear_options *o, bool gram_failed)
{
    enum { MOST_GRAM = 2000 };
    double cells = (double)rows->n * (double)rows->p;
    if (!cri_rows_are_sparse(rows) || o->solver == CRI_LINEAR_QR || cells <= 2e6) return false;
    if (gram_failed || rows->p >= rows->n) return cells > 2e7;
    return o->solver != CRI_LINEAR_GRAM && rows->p > MOST_GRAM;
}

static cr_status check_sparse(cr_ctx *cx, const cri_rows *rows)
{
    if (cri_rows_are_sparse(rows)) return CR_OK;
    cr_fail(cx, CR_EARG, "--solver lsqr is for sparse data, but %s is not sparse",
            cr_table_source(rows->table));
    return cr_fail_hint(cx,
                        "LIBSVM files and CSR matrices are sparse; leave --solver out for others");
}

/* QR of a category with a level for almost every row would take O(n^3) for coefficients of single rows. */
static cr_status check_levels(cr_ctx *cx, const cri_rows *rows)
{
    const double LONG = 5e9; /* some ten seconds */
    if (2 * rows->p <= rows->n) return CR_OK;
    return cri_refuse_levels(
        cx, rows, LONG,
        "ridge can learn from so many levels, and --solver qr goes on all the same");
}

/* The moments are handed over where they were gathered.  LSQR where nothing else fits; Gram where
 * asked for, or where QR would be long and the columns allow it, of a category of many levels
 * without its indicators; else QR. */
static cr_status solve(cr_ctx *cx, const cri_rows *rows, const cri_linear_options *o, uint64_t seed,
                       cri_linear *m, cri_moments *moments)
{
    double n = (double)rows->n, p = (double)rows->p;
    bool   pays = n * p * p > 5e7 && n > 4 * p, good = false;
    if (o->solver == CRI_LINEAR_LSQR && check_sparse(cx, rows) != CR_OK) return CR_EARG;
    if (o->solver == CRI_LINEAR_LSQR || needs_lsqr(rows, o, false))
        return cri_least_squares_lsqr(cx, rows, o->intercept, seed, &m->fit, &m->facts);
    if (o->solver == CRI_LINEAR_AUTO && o->errors == CRI_CLASSICAL && cri_bordered_pays(rows)) {
        cr_status st =
            cri_least_squares_levels(cx, rows, o->intercept, true, &m->fit, &m->facts, &good);
        if (st != CR_OK || good) return st;
    }
    if (o->solver == CRI_LINEAR_GRAM || (o->solver == CRI_LINEAR_AUTO && pays)) {
        cr_status st =
            cri_least_squares_gram(cx, rows, o->intercept, &m->fit, &m->facts, moments, &good);
        if (st != CR_OK || good) return st;
        bool iterate = needs_lsqr(rows, o, true);
        cr_log(cx, o->solver == CRI_LINEAR_GRAM ? CR_LOG_WARNING : CR_LOG_INFO,
               "the columns are close to dependent: solved by %s instead of cross-products",
               iterate ? "LSQR" : "QR");
        if (iterate)
            return cri_least_squares_lsqr(cx, rows, o->intercept, seed, &m->fit, &m->facts);
    }
    if (o->solver != CRI_LINEAR_QR && check_levels(cx, rows) != CR_OK) return CR_EDATA;
    return cri_least_squares_qr(cx, rows, o->intercept, &m->fit, &m->facts);
}

/* The solution, and what it leaves open. */
static cr_status solve_and_relate(cr_ctx *cx, const cri_rows *rows, const cri_linear_options *o,
                                  uint64_t seed, cri_linear *m, cri_moments *moments)
{
    cr_status st = solve(cx, rows, o, seed, m, moments);
    if (st != CR_OK || m->facts.lsqr || m->facts.rank == rows->p) return st;
    return cri_relations_of_rows(cx, rows, o->intercept, &m->fit);
}

/* The squared error in rows left out over what the residuals say of a new row, on average over the
 * rows: sigma^2 (1 + q / n), q coefficients.  Residuals of terms that were searched for are smaller
 * than errors in new rows; the noise, and all standard errors with it, grow by that, and are known as
 * well as a mean over the folds is; a standard error is added, as small errors were looked for.  Without
 * terms there was no search.  A set too large for the folds has the error of the largest. */
static void inflate(cri_linear *m)
{
    const cri_selection *s = &m->selection;
    size_t               k = s->size;
    while (k > 0 && s->cv[k] < 0) k--;
    double cv = s->cv[k] + s->cv_se[k], q = (double)m->facts.rank + m->fit.has_intercept;
    double said = m->fit.sigma * m->fit.sigma * (1 + q / m->facts.weight);
    if (s->size == 0 || !(cv > said) || !(said > 0)) return;
    m->inflation = cv / said;
    m->fit.sigma *= sqrt(m->inflation);
    m->fit.dof = (double)s->folds - 1;
    cri_predictor_set_sds(&m->fit);
}

/* Selects terms and solves for them. */
static cr_status select_and_solve(cr_ctx *cx, const cri_rows *rows, const cri_linear_options *o,
                                  uint64_t seed, cri_linear *m)
{
    cr_status              st = CR_OK;
    cr_scratch             s = cr_scratch_begin(cx);
    size_t                *which = cr_scratch_index(&s, rows->p), k = 0;
    cri_selection_settings settings = { (cri_subset_method)o->select,
                                        (cri_criterion)o->criterion,
                                        o->size,
                                        o->cv_folds,
                                        o->intercept,
                                        seed };
    CR_TRY(s.status);
    CR_TRY(cri_rows_check_dense(cx, rows, "linear --select"));
    CR_TRY(cri_select(cx, rows, &settings, &m->selection));
    const double *member = m->selection.member + m->selection.size * rows->p;
    for (size_t j = 0; j < rows->p; j++)
        if (member[j] != 0) which[k++] = j;
    cri_rows view = cri_rows_pick_terms(&s, rows, which, k);
    CR_TRY(s.status);
    CR_TRY(solve_and_relate(cx, &view, o, seed, m, NULL));
    inflate(m);
    CR_TRY(cri_predictor_widen(cx, &m->fit, which, rows->p));
    m->method = (size_t)o->select;
done:
    cr_scratch_end(&s);
    return st;
}

/* solve, with weights that are precisions. */
static cr_status solve_precise(cr_ctx *cx, const cri_rows *rows, const cri_linear_options *o,
                               uint64_t seed, cri_linear *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *w = cr_scratch_f64(&s, rows->n);
    cri_rows   scaled = *rows;

    CR_TRY(s.status);
    m->precisions = cri_precisions_of_rows(rows);
    cri_precisions_scale_rows(&m->precisions, rows, w);
    scaled.w = w;
    CR_TRY(solve_and_relate(cx, &scaled, o, seed, m, NULL));
    cri_precisions_restore(&m->precisions, &m->fit, &m->facts);
done:
    cr_scratch_end(&s);
    return st;
}

/* By turns, mean and noise, until neither changes. */
static cr_status solve_with_noise(cr_ctx *cx, const cri_rows *rows, const cri_linear_options *o,
                                  uint64_t seed, cri_linear *m, cr_report *report)
{
    enum { MOST_TURNS = 200 };
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        n = rows->n;
    double       *w = cr_scratch_f64(&s, n), *u = cr_scratch_f64(&s, n), step = 1;
    cr_prediction p = { .n = n, .mean = cr_scratch_f64(&s, n), .scale = cr_scratch_f64(&s, n) };
    cri_rows      weighted = *rows;

    p.dof = cr_scratch_f64(&s, n), p.leverage = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    weighted.w = w;
    CR_TRY(cri_rows_check_dense(cx, rows, "linear --noise-model"));
    CR_TRY(cri_noise_model_new(cx, o->noise_model, rows, &m->noise));
    for (size_t i = 0; i < n; i++) w[i] = 1;
    for (report->iterations = 0; report->iterations < MOST_TURNS; report->iterations++) {
        CR_TRY(cr_check_interrupt(cx));
        cri_predictor_free(cx, &m->fit);
        CR_TRY(solve_precise(cx, &weighted, o, seed, m));
        if (!(m->fit.dof > (double)m->noise.noise_terms))
            CR_TRY(cr_fail(cx, CR_EDATA,
                           "%zu rows are too few for %zu terms and a model of the noise", n,
                           rows->p));
        if (step < 1e-8) break;
        if (report->iterations == 0) m->noise.noise_level = log(m->fit.sigma);
        CR_TRY(cri_predictor_predict(cx, &m->fit, rows, &p));
        cri_noise_model_at(&m->noise, rows, u);
        for (size_t i = 0; i < n; i++) {
            double precision = exp(-2 * u[i]), e = rows->y[i] - p.mean[i];
            u[i] = precision * e * e / fmax(1 - w[i] * p.leverage[i], 1e-6);
        }
        CR_TRY(cri_noise_model_step(cx, &m->noise, rows, u, &step));
        cri_noise_model_at(&m->noise, rows, w);
        for (size_t i = 0; i < n; i++) w[i] = exp(-2 * w[i]);
    }
    report->stop = report->iterations < MOST_TURNS ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_linear_solve(cr_ctx *cx, const cri_rows *rows, const cri_linear_options *o,
                           uint64_t seed, cri_linear *m, cri_moments *moments, cr_report *report)
{
    if (o->noise_model) return solve_with_noise(cx, rows, o, seed, m, report);
    if (o->select != CRI_SUBSET_NONE) return select_and_solve(cx, rows, o, seed, m);
    if (o->weights_are == CRI_WEIGHTS_PRECISE) return solve_precise(cx, rows, o, seed, m);
    return solve_and_relate(cx, rows, o, seed, m, moments);
}
