/* scoring.c -- Fisher's scoring, step by step. */
#include "scoring.h"
#include "models/linear/bordered.h"
#include "scoring_pass.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/dense/chol.h"

#include <math.h>
#include <string.h>

/* Reciprocal condition of I, scaled to unit diagonal, below which QR is called for: about 1e4 for
 * the columns themselves, as for cross-products (least_squares_gram.c). */
static const double ENOUGH = 1e-8;

enum { SAMPLE_STEP = 17 };

cr_status cri_glm_scoring_new(cr_ctx *cx, const cri_glm_problem *p, cri_glm_scoring *out)
{
    cr_status       st = CR_OK;
    double          n = (double)p->rows->n, terms = (double)p->rows->p, low, high;
    cri_glm_scoring w = { .p = p };
    cri_rows        rows = *p->rows;
    bool            bounded = cri_link_domain(p->family, p->link, &low, &high);

    rows.w = (double *)(uintptr_t)p->weight; /* only read */
    if (!bounded && !rows.sparse && !cri_bordered_pays(&rows) && rows.p > 0 &&
        n * terms * terms > 1e6 && n > 4 * terms) {
        st = cri_classifier_rows_new(cx, &rows, p->intercept, true, &w.x);
        w.usable = st == CR_OK && !w.x.sparse;
        if (st == CR_ENUMERIC || st == CR_EDATA)
            st = CR_OK; /* QR says it better, or has an answer */
        CR_TRY(st);
    }
    if (w.usable && !(w.theta = cr_alloc(cx, w.x.q, sizeof(double)))) CR_TRY(CR_ENOMEM);
    *out = w;
    w = (cri_glm_scoring){ 0 };
done:
    cri_glm_scoring_free(cx, &w);
    return st;
}

void cri_glm_scoring_free(cr_ctx *cx, cri_glm_scoring *w)
{
    cr_free(cx, w->theta, w->x.q, sizeof(double));
    cri_classifier_rows_free(cx, &w->x);
    *w = (cri_glm_scoring){ 0 };
}

/* --- steps ----------------------------------------------------------------------------------- */

typedef struct climb {
    cri_scoring_pass pass;
    size_t           q, *iterations, limit;
    double           tolerance, saturated;
    double           enough; /* gain of a step, over the deviance, after which none is needed */
    double          *theta, *trial, *delta; /* [q]     */
    double          *L, *unit;              /* [q x q], [q]: I = unit L L' unit */
    cri_scoring_sums at, next;              /* at theta, at the trial */
    double           gain;                  /* of the step delta      */
    bool             converged, good;
} climb;

/* L L' = I scaled to unit diagonal; not good where that is near to singular. */
static cr_status factor(cr_ctx *cx, climb *c)
{
    size_t q = c->q;
    double norm = 0, rcond = 0;
    for (size_t i = 0; i < q; i++) c->unit[i] = sqrt(c->at.information[i * q + i]);
    for (size_t i = 0; i < q; i++) {
        double sum = 0;
        for (size_t j = 0; j < q; j++) {
            size_t row = i > j ? i : j, column = i > j ? j : i;
            c->L[i * q + j] = c->at.information[row * q + column] / c->unit[i] / c->unit[j];
            sum += fabs(c->L[i * q + j]);
        }
        norm = fmax(norm, sum);
    }
    c->good = false;
    if (!isfinite(norm)) return CR_OK;
    cr_status st = cr_chol(cx, cr_mat_of(c->L, q, q));
    if (st == CR_ENUMERIC) return CR_OK;
    if (st == CR_OK) st = cr_chol_rcond(cx, cr_cmat_of(c->L, q, q), norm, &rcond);
    c->good = rcond > ENOUGH;
    return st;
}

/* delta = I^-1 U and what it is to gain. */
static cr_status solve(cr_ctx *cx, climb *c)
{
    cr_status st = factor(cx, c);
    if (st != CR_OK || !c->good) return st;
    for (size_t j = 0; j < c->q; j++) c->delta[j] = c->at.score[j] / c->unit[j];
    st = cr_chol_solve(cx, cr_cmat_of(c->L, c->q, c->q), cr_mat_of(c->delta, c->q, 1));
    c->gain = 0;
    for (size_t j = 0; j < c->q; j++) {
        c->delta[j] /= c->unit[j];
        c->gain += c->delta[j] * c->at.score[j];
    }
    return st;
}

static cr_status look(cr_ctx *cx, climb *c, const double *theta, cri_scoring_sums *out)
{
    c->pass.theta = theta;
    cr_status st = cri_scoring_run(cx, &c->pass, out);
    out->deviance += c->saturated;
    if (!isfinite(out->deviance)) out->deviance = INFINITY;
    return st;
}

/* theta + delta, or the half, quarter ... of it that does not raise the deviance beyond rounding;
 * not good where none does. */
static cr_status take_step(cr_ctx *cx, climb *c)
{
    enum { MOST_HALVINGS = 20 };
    cr_status st = CR_OK;
    double    share = 1, slack = 1e-11 * (fabs(c->at.deviance) + fabs(c->saturated));
    c->good = false;
    for (int h = 0; h <= MOST_HALVINGS && !c->good; h++, share /= 2) {
        for (size_t j = 0; j < c->q; j++) c->trial[j] = c->theta[j] + share * c->delta[j];
        CR_TRY(look(cx, c, c->trial, &c->next));
        c->good = c->next.deviance <= c->at.deviance + slack;
    }
    cri_scoring_sums swap = c->at;
    c->at = c->next, c->next = swap;
    memcpy(c->theta, c->trial, c->q * sizeof(double));
done:
    return st;
}

/* From theta on.  The step that settles it is taken without another look; L belongs to the point
 * before it. */
static cr_status iterate(cr_ctx *cx, climb *c)
{
    cr_status st = CR_OK;
    double    before = 0;
    cri_clock clock = cri_clock_start(cx, NAN);
    CR_TRY(look(cx, c, c->theta, &c->at));
    if (isinf(c->at.deviance)) c->good = false;
    while (c->good && !c->converged && *c->iterations < c->limit && !cri_clock_over(&clock)) {
        double size = fabs(c->at.deviance) + 0.1;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(solve(cx, c));
        if (!c->good) break;
        ++*c->iterations;
        c->converged =
            c->gain <= c->enough * size ||
            cri_glm_has_settled(c->gain, before > 0 ? before : c->gain, c->tolerance, size);
        before = c->gain;
        if (!c->converged) CR_TRY(take_step(cx, c));
    }
    for (size_t j = 0; c->converged && j < c->q; j++) c->theta[j] += c->delta[j];
done:
    return st;
}

/* The first theta: the least squares of where the observations put eta. */
static cr_status start(cr_ctx *cx, climb *c)
{
    c->pass.theta = NULL;
    cr_status st = cri_scoring_run(cx, &c->pass, &c->at);
    if (st == CR_OK) st = solve(cx, c);
    if (st == CR_OK && c->good) memcpy(c->theta, c->delta, c->q * sizeof(double));
    return st;
}

/* Every step-th of x [n]. */
static const double *gather(cr_scratch *workspace, const double *x, size_t n, size_t step)
{
    double *out = cr_scratch_f64(workspace, cri_block_count(n, step));
    for (size_t i = 0; out && i < cri_block_count(n, step); i++) out[i] = x[i * step];
    return out;
}

/* The estimate of every 17th row, from which two or three steps over all of them suffice: its
 * distance is the sampling error, beside which a thousandth of the deviance is nothing. */
static cr_status start_from_sample(cr_ctx *cx, climb *c)
{
    cr_status              st = CR_OK;
    cr_scratch             workspace = cr_scratch_begin(cx);
    climb                  some = *c;
    const cri_glm_scoring *all = c->pass.rows;
    cri_glm_scoring        rows = *all;
    cri_glm_problem        part = *all->p;
    size_t                 iterations = 0, n = all->x.n;
    some.pass.step = SAMPLE_STEP;
    some.enough = 1e-3;
    some.iterations = &iterations;
    CR_TRY(cri_classifier_rows_sample(cx, &workspace, &all->x, &some.pass.step, &rows.x));
    if (some.pass.step == 1) {
        part.y = gather(&workspace, part.y, n, SAMPLE_STEP);
        part.weight = gather(&workspace, part.weight, n, SAMPLE_STEP);
        part.trials = gather(&workspace, part.trials, n, SAMPLE_STEP);
        part.offset = gather(&workspace, part.offset, n, SAMPLE_STEP);
        CR_TRY(workspace.status);
        rows.p = &part;
        some.pass.rows = &rows;
    }
    CR_TRY(cri_scoring_saturated(cx, &some.pass, &some.saturated));
    CR_TRY(start(cx, &some));
    if (some.good) CR_TRY(iterate(cx, &some));
    c->good = some.good && some.converged;
done:
    cr_scratch_end(&workspace);
    return st;
}

/* --- the answer ------------------------------------------------------------------------------ */

/* The predictor whose centre is the mean of z by the weights of the information, where intercept
 * and slopes do not depend on each other; G [p x p] is workspace. */
static cr_status set_fit(cr_ctx *cx, const cri_glm_scoring *w, const climb *c, double *G,
                         cri_predictor *fit)
{
    cr_status     st = CR_OK;
    size_t        p = w->x.p, q = w->x.q, one = w->x.intercept;
    const double *H = c->at.information;
    double        weight = one ? H[0] : 0, at_centre = one ? w->theta[0] : 0;
    CR_TRY(cri_predictor_new(cx, p, p, fit));
    for (size_t i = 0; i < p; i++) {
        double mean = one ? H[(i + 1) * q] / weight : 0;
        fit->scale[i] = w->x.scale[i];
        fit->centre[i] = w->x.centre[i] + mean * w->x.scale[i];
        fit->factor[i * p + i] = 1;
        at_centre += mean * w->theta[one + i];
        for (size_t j = 0; j <= i; j++)
            G[i * p + j] = G[j * p + i] =
                H[(i + one) * q + j + one] - (one ? mean * H[(j + 1) * q] : 0);
    }
    CR_TRY(cr_chol(cx, cr_mat_of(G, p, p)));
    CR_TRY(cr_chol_forward(cx, cr_cmat_of(G, p, p), cr_mat_of(fit->factor, p, p)));
    cri_predictor_set_coef(fit, w->theta + one, at_centre);
    fit->sigma = 1;
    fit->has_intercept = one;
    fit->mean_share = one ? 1 / weight : 0;
    cri_predictor_set_sds(fit);
done:
    return st;
}

/* The answer of a climb that went well: eta at its end, the fit with the expected information. */
static cr_status answer(cr_ctx *cx, cri_glm_scoring *w, climb *c, cri_glm_solution *s)
{
    cr_status     st = CR_OK;
    cr_scratch    workspace = cr_scratch_begin(cx);
    double       *G = cr_scratch_matrix(&workspace, w->x.p, w->x.p);
    cri_predictor fit = { 0 };
    CR_TRY(workspace.status);
    if (c->pass.observed) {
        c->pass.observed = false;
        CR_TRY(look(cx, c, w->theta, &c->at));
    }
    st = set_fit(cx, w, c, G, &fit);
    if (st == CR_ENUMERIC) c->good = false, st = CR_OK;
    CR_TRY(st);
    if (!c->good) goto done;
    cri_predictor_free(cx, &s->fit);
    s->fit = fit;
    fit = (cri_predictor){ 0 };
    s->facts = (cri_least_squares){ .rank = w->x.p, .gram = true };
    s->converged = c->converged;
    w->started = true;
done:
    cri_predictor_free(cx, &fit);
    cr_scratch_end(&workspace);
    return st;
}

cr_status cri_glm_score(cr_ctx *cx, cri_glm_scoring *w, const cri_glm_law *law, cri_glm_solution *s,
                        bool *out_good)
{
    cr_status  st = CR_OK;
    cr_scratch workspace = cr_scratch_begin(cx);
    size_t     q = w->x.q;
    climb      c = { .pass = { .rows = w, .law = *law, .step = 1 },
                     .q = q,
                     .iterations = &s->iterations,
                     .limit = w->p->max_iter,
                     .tolerance = fmax(w->p->tolerance, 1e-14),
                     .theta = w->theta,
                     .trial = cr_scratch_f64(&workspace, q),
                     .delta = cr_scratch_f64(&workspace, q),
                     .L = cr_scratch_matrix(&workspace, q, q),
                     .unit = cr_scratch_f64(&workspace, q),
                     .good = true };

    c.at.score = cr_scratch_f64(&workspace, q),
    c.at.information = cr_scratch_matrix(&workspace, q, q);
    c.next.score = cr_scratch_f64(&workspace, q),
    c.next.information = cr_scratch_matrix(&workspace, q, q);
    CR_TRY(workspace.status);
    c.pass.observed = cri_family_is_curved(law);
    CR_TRY(cri_scoring_saturated(cx, &c.pass, &c.saturated));
    if (!w->started) {
        c.good = false;
        if (w->x.n >= 20000 && w->x.n / SAMPLE_STEP >= 20 * q) CR_TRY(start_from_sample(cx, &c));
        if (!c.good) CR_TRY(start(cx, &c));
    }
    if (c.good) CR_TRY(iterate(cx, &c));
    if (c.good) CR_TRY(answer(cx, w, &c, s));
    *out_good = c.good;
done:
    cr_scratch_end(&workspace);
    return st;
}
