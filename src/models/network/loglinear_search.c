/* loglinear_search.c -- the weights of most penalised likelihood, or pseudo-likelihood, by L-BFGS, and their standard
 * errors.
 *   f(w) = [total log Z - sum over complete rows of w . f(row) - sum over others of log Z(what they show)
 *           + l2/2 |w|^2 + l1 |w_joint|] / total
 *   df/dw = E f - (sums over complete rows + expectations given what others show) / total + ...
 * so a row with gaps counts by the probability of what it shows, as EM would have it, whose M step this search replaces.
 * With l1, the weights of several variables are differences of two that are not negative.
 * Standard errors are the roots of the diagonal of the inverse of the observed information (total Cov f + l2), by
 * differences of the gradient where rows have gaps; of a pseudo-likelihood, of the sandwich (loglinear_pseudo.c). */
#include "loglinear.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { MOST_ERRORS = 400 };
static const double MOST_WORK = 3e9; /* multiplications for standard errors */
static const double SPEED = 1e8;     /* of them a second, a cautious guess */

/* --- the objective ---------------------------------------------------------------------------- */

/* Expectations given what each row with gaps shows, their weights and log probabilities added up. */
static cr_status add_gaps(cri_loglinear_task *t, cri_loglinear_tree *tree, double *sum,
                          double *out_log)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(t->cx);
    size_t     K = t->m->parameters, p = t->m->terms.p;
    double    *mean = cr_scratch_f64(&s, K), log_z;
    CR_TRY(s.status);
    for (size_t i = 0; i < t->cases.n; i++) {
        if (!t->gap[i]) continue;
        CR_TRY(cr_check_interrupt(t->cx));
        CR_TRY(cri_loglinear_tree_show(t->cx, tree, t->row + i * p, &log_z));
        *out_log += t->cases.weight[i] * log_z;
        CR_TRY(cri_loglinear_tree_expect(t->cx, tree, mean, NULL));
        for (size_t k = 0; k < K; k++) sum[k] += t->cases.weight[i] * mean[k];
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* -log likelihood of all rows, and its gradient; *opt_log_z. */
static cr_status exact(cri_loglinear_task *t, const double *w, double *out_f, double *gradient,
                       double *opt_log_z)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(t->cx);
    cri_loglinear_tree tree = { 0 };
    size_t             K = t->m->parameters;
    double            *seen = cr_scratch_f64(&s, K), log_z, log_seen = 0;
    CR_TRY(s.status);
    memcpy(seen, t->moment, K * sizeof *seen);
    for (size_t k = 0; k < K; k++) log_seen += w[k] * seen[k];
    CR_TRY(cri_loglinear_tree_open(t->cx, t->m, w, &tree));
    if (t->gaps > 0) CR_TRY(add_gaps(t, &tree, seen, &log_seen));
    CR_TRY(cri_loglinear_tree_show(t->cx, &tree, NULL, &log_z));
    CR_TRY(cri_loglinear_tree_expect(t->cx, &tree, gradient, NULL));
    for (size_t k = 0; k < K; k++) gradient[k] = t->total * gradient[k] - seen[k];
    *out_f = t->total * log_z - log_seen;
    if (opt_log_z) *opt_log_z = log_z;
done:
    cri_loglinear_tree_close(t->cx, &tree);
    cr_scratch_end(&s);
    return st;
}

static cr_status value(cri_loglinear_task *t, const double *w, double *out_f, double *gradient)
{
    return t->method == CRI_LOGLINEAR_EXACT ? exact(t, w, out_f, gradient, NULL)
                                            : cri_loglinear_pseudo(t, w, out_f, gradient);
}

static double weight_of_rows(const cri_loglinear_task *t)
{
    return t->method == CRI_LOGLINEAR_EXACT ? t->total : t->complete;
}

/* x [K]: the weights; with l1, behind it the negative parts of the joint ones. */
static cr_status objective(void *user, const double *x, size_t n, double *out_f,
                           double *opt_gradient)
{
    cr_status           st = CR_OK;
    cri_loglinear_task *t = user;
    cr_scratch          s = cr_scratch_begin(t->cx);
    size_t              K = t->m->parameters, part = K;
    double             *w = cr_scratch_f64(&s, K), *g = cr_scratch_f64(&s, K), f;
    double              l1 = 0, l2 = 0, rows = weight_of_rows(t);
    CR_TRY(s.status);
    for (size_t k = 0; k < K; k++) w[k] = n > K && t->joint[k] ? x[k] - x[part++] : x[k];
    CR_TRY(value(t, w, &f, g));
    for (size_t k = 0; k < K; k++) {
        l2 += w[k] * w[k] / 2;
        g[k] += t->o->l2 * w[k];
    }
    part = K;
    for (size_t k = 0; k < K; k++) {
        bool split = n > K && t->joint[k];
        if (split) l1 += x[k] + x[part];
        if (opt_gradient && split) opt_gradient[part] = (t->o->l1 - g[k]) / rows;
        if (opt_gradient) opt_gradient[k] = (g[k] + (split ? t->o->l1 : 0)) / rows;
        part += split;
    }
    *out_f = (f + t->o->l2 * l2 + t->o->l1 * l1) / rows;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- one search ------------------------------------------------------------------------------- */

typedef struct outcome {
    double  f;
    size_t  iterations;
    bool    converged;
    cr_stop stop;
} outcome;

static cr_stop stop_of(const cri_loglinear_task *t, const cr_minimize_report *r)
{
    if (cr_end_converged(r->stop)) return CR_STOP_TOLERANCE;
    if (r->stop == CR_END_TIME) return CR_STOP_TIME;
    if (r->stop != CR_END_NO_PROGRESS) return CR_STOP_LIMIT;
    return r->gradient_norm < 100 * t->o->tol ? CR_STOP_TOLERANCE : CR_STOP_NO_PROGRESS;
}

static cr_status search(cri_loglinear_task *t, double *w, outcome *out)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(t->cx);
    size_t              K = t->m->parameters, n = K, part = K;
    cr_problem          problem = { .objective = objective, .user = t };
    cr_minimize_options o = cr_minimize_defaults();
    cr_minimize_report  r;
    for (size_t k = 0; k < K && t->o->l1 > 0; k++) n += t->joint[k];
    double *x = cr_scratch_f64(&s, n), *lower = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        bool split = i >= K || (n > K && t->joint[i]);
        lower[i] = split ? 0 : -INFINITY;
        x[i] = i >= K ? 0 : split ? fmax(w[i], 0) : w[i];
    }
    for (size_t k = 0; k < K && n > K; k++)
        if (t->joint[k]) x[part++] = fmax(-w[k], 0);
    problem.n = n;
    if (n > K) problem.lower = lower;
    o.method = CR_METHOD_LBFGS;
    o.memory = 20;
    o.gradient_tolerance = t->o->tol;
    o.f_tolerance = 0;
    o.max_iter = t->o->max_iter;
    CR_TRY(cr_minimize(t->cx, &problem, &o, x, &r));
    part = K;
    for (size_t k = 0; k < K; k++) w[k] = n > K && t->joint[k] ? x[k] - x[part++] : x[k];
    *out = (outcome){ r.f, r.iterations, false, stop_of(t, &r) };
    out->converged = out->stop == CR_STOP_TOLERANCE;
done:
    cr_scratch_end(&s);
    return st;
}

/* With hidden variables weights of 0 are a saddle: starts are random. */
static cr_status search_from_starts(cri_loglinear_task *t, double *w, outcome *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(t->cx);
    size_t     K = t->m->parameters;
    double    *x = cr_scratch_f64(&s, K);
    cri_clock  clock = cri_clock_start(t->cx, NAN);
    CR_TRY(s.status);
    for (size_t r = 0; r < t->o->restarts; r++) {
        cr_rng  g = cr_rng_stream(t->seed, r);
        outcome one;
        for (size_t k = 0; k < K; k++) x[k] = 0.5 * cr_rng_normal(&g);
        CR_TRY(search(t, x, &one));
        if (r == 0 || one.f < out->f) {
            *out = one;
            memcpy(w, x, K * sizeof *w);
        }
        if (one.stop == CR_STOP_TIME || cri_clock_over(&clock)) {
            out->stop = CR_STOP_TIME, out->converged = false;
            break;
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- standard errors -------------------------------------------------------------------------- */

/* The observed information by central differences of the gradient. */
static cr_status differences(cri_loglinear_task *t, const double *w, double *H)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(t->cx);
    size_t     K = t->m->parameters;
    double *x = cr_scratch_f64(&s, K), *up = cr_scratch_f64(&s, K), *down = cr_scratch_f64(&s, K),
           f;
    CR_TRY(s.status);
    memcpy(x, w, K * sizeof *x);
    for (size_t k = 0; k < K; k++) {
        double h = 1e-4 * fmax(1, fabs(w[k]));
        x[k] = w[k] + h;
        CR_TRY(exact(t, x, &f, up, NULL));
        x[k] = w[k] - h;
        CR_TRY(exact(t, x, &f, down, NULL));
        x[k] = w[k];
        for (size_t l = 0; l < K; l++) H[k * K + l] = (up[l] - down[l]) / (2 * h);
    }
    for (size_t k = 0; k < K; k++)
        for (size_t l = 0; l < k; l++)
            H[k * K + l] = H[l * K + k] = (H[k * K + l] + H[l * K + k]) / 2;
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status covariance(cri_loglinear_task *t, const double *w, double *C)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(t->cx);
    size_t     K = t->m->parameters;
    double    *H = cr_scratch_matrix(&s, K, K);
    CR_TRY(s.status);
    if (t->method == CRI_LOGLINEAR_PSEUDO) {
        CR_TRY(cri_loglinear_pseudo_covariance(t, w, C));
        goto done;
    }
    CR_TRY(t->gaps > 0 ? differences(t, w, H) : cri_loglinear_covariance(t->cx, t->m, w, H));
    for (size_t i = 0; t->gaps == 0 && i < K * K; i++) H[i] *= t->total;
    for (size_t k = 0; k < K; k++) H[k * K + k] += t->o->l2;
    CR_TRY(cr_chol(t->cx, cr_mat_of(H, K, K)));
    CR_TRY(cr_chol_inverse(t->cx, cr_cmat_of(H, K, K), cr_mat_of(C, K, K)));
done:
    cr_scratch_end(&s);
    return st;
}

/* Multiplications that standard errors take, about. */
static cr_status work_for_errors(const cri_loglinear_task *t, double *out)
{
    double    K = (double)t->m->parameters, entries = 0, terms = (double)t->m->terms.n;
    size_t    width;
    cr_status st = CR_OK;
    if (t->method != CRI_LOGLINEAR_EXACT) {
        double p = (double)t->m->terms.p, of = terms * 2 / fmax(p, 1);
        *out = (double)t->cases.n * (p * of * of * 4 + K * K) + K * K * K;
        return CR_OK;
    }
    st = cri_loglinear_tree_size(t->cx, t->m, 1e12, &entries, &width);
    *out = (double)t->m->terms.entries * (20 * entries + 500 * terms);
    if (t->gaps > 0) *out *= 2 * (double)t->gaps;
    return st;
}

static cr_status find_errors(cri_loglinear_task *t, cri_loglinear *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(t->cx);
    size_t     K = m->parameters;
    double     work = 0;
    cri_clock  clock = cri_clock_start(t->cx, NAN);
    for (size_t k = 0; k < K; k++) m->sd[k] = NAN;
    if (K == 0 || K > MOST_ERRORS || t->o->l1 > 0 || m->method == CRI_LOGLINEAR_PCD || t->late ||
        cri_clock_over(&clock))
        goto done;
    CR_TRY(work_for_errors(t, &work));
    if (work > MOST_WORK || 3 * work / SPEED > cri_time_left(t->cx)) {
        cr_log(t->cx, CR_LOG_INFO, "standard errors of %zu weights would take long: there are none",
               K);
        goto done;
    }
    double *C = cr_scratch_matrix(&s, K, K);
    CR_TRY(s.status);
    st = covariance(t, m->weight, C);
    if (st == CR_ENUMERIC) {
        st = CR_OK;
        cr_log(t->cx, CR_LOG_WARNING,
               "the rows do not tell all weights: there are no standard errors");
        goto done;
    }
    CR_TRY(st);
    for (size_t k = 0; k < K; k++) m->sd[k] = sqrt(C[k * K + k]);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* A feature that all rows have, or none, has an infinite weight without a penalty. */
static void warn_of_infinity(const cri_loglinear_task *t, const cri_loglinear *m)
{
    size_t count = 0;
    if (t->o->l2 > 0 || t->gaps > 0) return;
    for (size_t k = 0; k < m->parameters; k++) {
        double mean = t->moment[k] / t->complete;
        count += mean >= 1 || mean <= (m->spins ? -1 : 0);
    }
    if (count > 0)
        cr_log(t->cx, CR_LOG_WARNING,
               "%zu features never vary in the rows: without a penalty their weights are infinite, "
               "and the "
               "search ends somewhere on the way; --l2 0.01 keeps them finite",
               count);
}

/* What is known at the weights that were found. */
static cr_status set_values(cri_loglinear_task *t, cri_loglinear *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(t->cx);
    size_t     K = m->parameters, width = 0;
    double    *g = cr_scratch_f64(&s, K), f, entries = 0;
    CR_TRY(s.status);
    m->log_z = m->log_likelihood = m->pseudo = m->gap = NAN;
    CR_TRY(cri_loglinear_tree_size(t->cx, m, 1e300, &entries, &width));
    m->width = (double)width;
    if (t->complete > 0) {
        CR_TRY(cri_loglinear_pseudo(t, m->weight, &f, NULL));
        m->pseudo = -f;
    }
    if (entries <= 1 << 22) { /* as many as the exact method takes */
        CR_TRY(exact(t, m->weight, &f, g, &m->log_z));
        m->log_likelihood = -f;
        m->gap = 0;
        for (size_t k = 0; k < K; k++) m->gap = fmax(m->gap, fabs(g[k]) / t->total);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_loglinear_learn(cri_loglinear_task *t, cri_loglinear *m, cr_report *report)
{
    cr_status st = CR_OK;
    outcome   out = { .converged = true, .stop = CR_STOP_CLOSED_FORM };
    m->method = (int)t->method;
    if (m->parameters > 0) {
        warn_of_infinity(t, m);
        if (t->method == CRI_LOGLINEAR_PCD) {
            CR_TRY(cri_loglinear_diverge(t, m->weight, &out.iterations, &out.converged));
            out.stop = t->late ? CR_STOP_TIME : out.converged ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
        } else {
            CR_TRY(m->hidden > 0 ? search_from_starts(t, m->weight, &out)
                                 : search(t, m->weight, &out));
        }
    }
    t->late |= out.stop == CR_STOP_TIME;
    CR_TRY(set_values(t, m));
    CR_TRY(find_errors(t, m));
    m->iterations = out.iterations;
    m->converged = out.converged;
    report->stop = out.stop;
    report->iterations = out.iterations;
    report->log_likelihood = m->log_likelihood;
done:
    return st;
}
