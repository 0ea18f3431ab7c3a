/* least_squares_levels.c -- least squares with one category of many levels: its levels are eliminated
 * from the cross-products (bordered.h), and what the residuals of the rows leave is solved for again
 * until it is rounding (Bjorck 1987: corrected semi-normal equations). */
#include "bordered.h"
#include "least_squares.h"

#include <math.h>
#include <string.h>

/* x [m + levels] solves the equations of the last factor; returns its last relative change. */
static cr_status solve_and_correct(cr_ctx *cx, const cri_bordered *b, double *x, double *workspace,
                                   double *out_rss, double *out_change, size_t *out_steps)
{
    enum { MOST = 4 };
    const double SETTLED = 1e-13;
    cr_status    st = CR_OK;
    size_t       n = b->m + b->run.levels;
    double       rss = 0, change = 1;
    size_t       step = 0;

    memcpy(x, b->g, n * sizeof *x);
    CR_TRY(cri_bordered_solve(cx, b, x));
    for (; step < MOST && change > SETTLED; step++) {
        double size = 0, largest = 0;
        CR_TRY(cri_bordered_residuals(cx, b, x, workspace, &rss));
        CR_TRY(cri_bordered_solve(cx, b, workspace));
        for (size_t i = 0; i < n; i++) {
            x[i] += workspace[i];
            largest = fmax(largest, fabs(workspace[i]));
            size = fmax(size, fabs(x[i]));
        }
        change = size > 0 ? largest / size : 0;
    }
    CR_TRY(cri_bordered_residuals(cx, b, x, workspace, &rss));
    *out_rss = rss;
    *out_change = change;
    *out_steps = step;
done:
    return st;
}

static bool has_constant(const cri_sparse_terms *z)
{
    for (size_t j = 0; j < z->p; j++)
        if (!(z->square[j] > 0)) return true;
    return false;
}

/* The reciprocal condition from which corrections settle, and the change that shows it. */
static const double ENOUGH = 1e-12, SETTLED = 1e-10;
/* The share of a penalty under which corrections take a step towards a solution that is not unique. */
static const double TRIFLE = 1e-10;

/* On rows with entries. */
static cr_status solve_entries(cr_ctx *cx, const cri_rows *rows, cri_level_run run, bool intercept,
                               bool exact, cri_predictor *out_fit, cri_least_squares *out_facts,
                               bool *out_good)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           n = intercept + rows->p;
    double          *x = cr_scratch_f64(&s, n), *workspace = cr_scratch_f64(&s, n), rcond = 0;
    double           rss, change = 1;
    size_t           steps = 0;
    bool             good = false;
    cri_sparse_terms z;
    cri_bordered     b;

    CR_TRY(s.status);
    CR_TRY(cri_sparse_terms_new(cx, &s, rows, intercept, true, &z));
    if (has_constant(&z) || (exact && !(z.weight > (double)n))) goto done;
    CR_TRY(cri_bordered_new(cx, &s, &z, run, intercept, &b));
    CR_TRY(cri_bordered_factor(cx, &b, 0, &good));
    if (good) CR_TRY(cri_bordered_rcond(cx, &b, &rcond));
    if (!(rcond > ENOUGH) && exact) goto done;
    if (!(rcond > ENOUGH)) CR_TRY(cri_bordered_factor(cx, &b, TRIFLE * z.weight, &good));
    if (!good) goto done;
    CR_TRY(solve_and_correct(cx, &b, x, workspace, &rss, &change, &steps));
    if (exact && !(change < SETTLED)) goto done;
    CR_TRY(cri_bordered_predictor(cx, &b, x, out_fit));
    cri_predictor_set_noise(out_fit, intercept, z.weight, rows->p, rss);
    *out_facts = (cri_least_squares){ .rank = rows->p,
                                      .gram = true,
                                      .weight = z.weight,
                                      .rss = rss,
                                      .tss = z.tt,
                                      .condition = 1 / sqrt(rcond),
                                      .correction = change,
                                      .refinements = steps };
    *out_good = true;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_least_squares_levels(cr_ctx *cx, const cri_rows *rows, bool intercept, bool exact,
                                   cri_predictor *out_fit, cri_least_squares *out_facts,
                                   bool *out_good)
{
    cr_status     st = CR_OK;
    cri_rows      view = { 0 };
    cri_level_run run = cri_largest_category(rows->design);

    *out_good = false;
    CR_TRY(cri_rows_open_entries(cx, rows, &view));
    if (!cri_rows_are_sparse(&view)) goto done; /* standardised by the design */
    st = solve_entries(cx, &view, run, intercept, exact, out_fit, out_facts, out_good);
    if (st == CR_ENUMERIC) st = CR_OK; /* squares out of range: QR has none */
done:
    cri_rows_close_entries(cx, &view);
    return st;
}

cr_status cri_refuse_levels(cr_ctx *cx, const cri_rows *rows, double most, const char *otherwise)
{
    const cr_design *d = rows->design;
    double           n = (double)rows->n, p = (double)rows->p;
    if (!(n * p * p > most) || !cri_design_has_many_levels(d)) return CR_OK;
    cri_level_run            run = cri_largest_category(d);
    const cri_design_column *c = &d->columns[d->terms[run.first].column];
    if (2 * run.levels < rows->p) return CR_OK;
    cr_fail(cx, CR_EDATA,
            "the category '%s' has %zu levels in %zu rows: least squares cannot tell that many "
            "coefficients from each other, or from noise",
            c->name, c->n_levels, rows->n);
    return cr_fail_hint(cx, "--features '!%s' leaves the column out, %s", c->name, otherwise);
}
