/* bayes_noise.c -- Bayesian linear regression whose noise depends on columns (noise_model.h):
 *   y_i ~ N(b0 + z_i . w, 1 / (beta v_i)),   log v_i = -2 g . (x_i - centre) + const,   sum_i v_i = n
 * Given g it is the model of weighted rows; g by Fisher's scoring of the squared residuals over 1 - h, h the leverage
 * under the posterior, by turns until both stand still.  The log evidence is that of the weighted rows, sum_i log v_i / 2
 * with it, less what g costs by Laplace's approximation. */
#include "bayes_linear.h"
#include "base/context_internal.h"
#include "models/common/rows_view.h"
#include "base/scratch.h"

#include <math.h>

enum { MOST_TURNS = 200 };
static const double STILL = 1e-7; /* change of log s */

/* v [n] from log s, moved so that they sum to n; returns sum log v. */
static double set_precisions(cri_noise_model *noise, const cri_rows *rows, double *v)
{
    double sum = 0, logs = 0, n = (double)rows->n, least = INFINITY;
    cri_noise_model_at(noise, rows, v);
    for (size_t i = 0; i < rows->n; i++) least = fmin(least, v[i]);
    for (size_t i = 0; i < rows->n; i++) sum += exp(2 * (least - v[i]));
    double move = 0.5 * log(sum / n) - least; /* exp(-2 (log s + move)) sums to n */
    noise->noise_level += move;
    for (size_t i = 0; i < rows->n; i++) {
        logs -= 2 * (v[i] + move);
        v[i] = exp(-2 * (v[i] + move));
    }
    return logs;
}

/* u [n] := v e^2 / (1 - v h) over their mean. */
static void set_squares(const cri_rows *rows, const cr_prediction *p, const double *v, double *u)
{
    double mean = 0;
    for (size_t i = 0; i < rows->n; i++) {
        double e = rows->y[i] - p->mean[i];
        u[i] = v[i] * e * e / fmax(1 - v[i] * p->leverage[i], 1e-6);
        mean += u[i] / (double)rows->n;
    }
    for (size_t i = 0; i < rows->n; i++) u[i] = mean > 0 ? u[i] / mean : 1;
}

static cr_status check(cr_ctx *cx, const cri_rows *rows)
{
    if (rows->w)
        return cr_fail(cx, CR_EARG,
                       "--noise-model cannot be combined with --weights: it models the precision "
                       "of each row itself");
    if (cri_design_varying(rows->design) != SIZE_MAX)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "--noise-model cannot be combined with varying intercepts");
    if (rows->n <= rows->p + 2)
        return cr_fail(cx, CR_EDATA, "%zu rows are too few for %zu terms and a model of the noise",
                       rows->n, rows->p);
    return cri_rows_check_dense(cx, rows, "bayes-linear --noise-model");
}

static cr_status solve_weighted(cr_ctx *cx, const cri_rows *rows, const cri_bayes_options *o,
                                cri_bayes *m, cr_report *report)
{
    cri_predictor_free(cx, &m->fit);
    cri_moments_free(cx, &m->moments);
    m->moments = (cri_moments){ 0 };
    cr_status st = cri_moments_of_rows(cx, rows, &m->moments);
    return st == CR_OK ? cri_bayes_solve(cx, rows->design, o, m, report) : st;
}

cr_status cri_bayes_solve_noise(cr_ctx *cx, cri_bayes *m, const cri_rows *rows,
                                const cri_bayes_options *o, cr_report *report)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        n = rows->n, turns = 0;
    double       *v = cr_scratch_f64(&s, n), *u = cr_scratch_f64(&s, n), step = 1, logs = 0, occam;
    cr_prediction p = { .n = n, .mean = cr_scratch_f64(&s, n), .scale = cr_scratch_f64(&s, n) };
    cri_rows      weighted = *rows;

    p.dof = cr_scratch_f64(&s, n), p.leverage = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    weighted.w = v;
    CR_TRY(check(cx, rows));
    CR_TRY(cri_noise_model_new(cx, o->noise_model, rows, &m->noise));
    for (size_t i = 0; i < n; i++) v[i] = 1;
    for (; turns < MOST_TURNS; turns++) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(solve_weighted(cx, &weighted, o, m, report));
        if (step < STILL) break;
        CR_TRY(cri_predictor_predict(cx, &m->fit, rows, &p));
        set_squares(rows, &p, v, u);
        CR_TRY(cri_noise_model_step(cx, &m->noise, rows, u, &step));
        logs = set_precisions(&m->noise, rows, v);
    }
    CR_TRY(cri_noise_model_occam(cx, &m->noise, rows, &occam));
    report->log_evidence += 0.5 * logs + occam;
    report->evidence = CR_EVIDENCE_LAPLACE;
    report->iterations = turns;
    report->stop = turns < MOST_TURNS ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
done:
    cr_scratch_end(&s);
    return st;
}
