/* least_squares_lsqr.c -- least squares on sparse rows, by LSQR.
 * Of dependent columns LSQR would take the coefficients of least norm, which depend on units and
 * tell nothing of any single column; so dependence is looked for (sparse_solve.h) and refused. */
#include "least_squares.h"
#include "sparse_solve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cr_status refuse_wide(cr_ctx *cx, const cri_sparse_terms *z, size_t terms)
{
    cr_fail(cx, CR_ENUMERIC, "%zu columns and %zu rows: least squares has no unique answer", terms,
            z->n);
    return cr_fail_hint(cx, "credence fit ridge or credence fit lasso take more columns than rows");
}

/* Names columns of a combination d [p] that is 0 on every row. */
static cr_status refuse_dependent(cr_ctx *cx, const cr_design *design, const double *d, size_t p)
{
    enum { FEW = 5 };
    char   list[1200] = "";
    size_t used = 0, named = 0, all = 0;
    for (size_t j = 0; j < p; j++) {
        if (fabs(d[j]) < 1e-3) continue;
        const char *name = cr_design_term_name(design, j);
        if (all++ >= FEW || used + strlen(name) + 4 >= sizeof list) continue;
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", named++ ? ", " : "", name);
    }
    cr_fail(cx, CR_ENUMERIC, "%zu columns are linearly dependent: %s%s", all, list,
            named < all ? ", ..." : "");
    return cr_fail_hint(
        cx, "credence fit ridge shares the effect among them; --features leaves columns out");
}

/* Constant terms have no coefficient of their own; returns how many terms are left. */
static size_t leave_out_constants(cr_ctx *cx, const cri_sparse_terms *z, const cr_design *design)
{
    size_t left = 0, first = SIZE_MAX;
    for (size_t j = 0; j < z->p; j++) {
        left += z->square[j] > 0;
        if (!(z->square[j] > 0) && first == SIZE_MAX) first = j;
    }
    if (left < z->p)
        cr_log(
            cx, CR_LOG_WARNING,
            "%zu columns are constant, '%s' the first: their coefficients are not identified and "
            "were set to 0",
            z->p - left, cr_design_term_name(design, first));
    return left;
}

cr_status cri_least_squares_lsqr(cr_ctx *cx, const cri_rows *rows, bool intercept, uint64_t seed,
                                 cri_predictor *out_fit, cri_least_squares *out_facts)
{
    enum { MOST = 20000 };
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           p = rows->p, left;
    double          *b = cr_scratch_bytes(&s, p, sizeof *b), *d = cr_scratch_f64(&s, p), rss;
    cri_sparse_terms z;
    cri_predictor    fit = { 0 };
    cr_lsqr_report   report = { 0 };
    bool             dependent = false;

    CR_TRY(s.status);
    CR_TRY(cri_sparse_terms_new(cx, &s, rows, intercept, true, &z));
    left = leave_out_constants(cx, &z, rows->design);
    if (left + intercept > z.n) CR_TRY(refuse_wide(cx, &z, left));
    CR_TRY(cri_sparse_solve(cx, &z, z.t, 0, 1e-14, MOST, b, &report));
    CR_TRY(cri_sparse_null(cx, &z, b, MOST, seed, d, &dependent));
    if (dependent) CR_TRY(refuse_dependent(cx, rows->design, d, p));
    CR_TRY(cri_sparse_rss(cx, &z, b, &rss));
    CR_TRY(cri_predictor_new(cx, p, 0, &fit));
    memcpy(fit.centre, z.centre, p * sizeof(double));
    memcpy(fit.scale, z.scale, p * sizeof(double));
    cri_predictor_set_coef(&fit, b, z.offset);
    fit.has_intercept = intercept;
    fit.dof = z.weight - (double)left - intercept;
    fit.sigma = fit.dof > 0 ? sqrt(rss / fit.dof) : NAN;
    fit.mean_share = ((double)left + intercept) / z.weight;
    *out_facts = (cri_least_squares){ .rank = left,
                                      .lsqr = true,
                                      .iterations = report.iterations,
                                      .converged = report.converged,
                                      .weight = z.weight,
                                      .rss = rss,
                                      .tss = z.tt,
                                      .condition = report.condition,
                                      .correction = report.gradient };
    *out_fit = fit;
    fit = (cri_predictor){ 0 };
done:
    cri_predictor_free(cx, &fit);
    cr_scratch_end(&s);
    return st;
}
