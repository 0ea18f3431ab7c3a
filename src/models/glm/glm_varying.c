/* glm_varying.c -- the likelihood of a generalised linear model with its groups integrated out. */
#include "glm_varying.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "math/constants.h"
#include "math/optim/brent.h"
#include "math/optim/minimize.h"
#include "models/linear/group_posterior.h"

#include <math.h>
#include <string.h>

static const double NO_GAIN =
    1e-4; /* in log likelihood, of groups that differ over ones that do not */

cr_status cri_glm_check_varying(cr_ctx *cx, const cri_glm_problem *p)
{
    double low, high;
    bool   gaussian = p->family == CRI_GLM_GAUSSIAN;
    if (gaussian
            ? p->link == CRI_LINK_IDENTITY
            : cri_family_is_fixed(p->family) && !cri_link_domain(p->family, p->link, &low, &high) &&
                  !(p->family == CRI_GLM_NEGATIVE_BINOMIAL && isnan(p->alpha)))
        return CR_OK;
    cr_fail(cx, CR_EUNSUPPORTED, "varying intercepts are not possible with this family and link");
    return cr_fail_hint(cx, "--family poisson, binomial and gaussian with their usual links have "
                            "them, and negative-binomial with --overdispersion");
}

/* --- the rows, group by group ----------------------------------------------------------------- */

typedef struct work {
    cr_ctx                *cx;
    const cri_glm_problem *p;
    cri_glm_law            law;
    size_t                 n, J, q; /* rows, groups, intercept and terms        */
    size_t                *start;   /* [J + 1]                                  */
    size_t                *order;   /* [n] rows by group                        */
    double                *Z;       /* [n x q] 1 and the terms, standardised    */
    double                *v;       /* [J] the modes, of the last evaluation    */
    double                *eta;     /* [n] at the modes                         */
    double                *x;       /* [q] workspace                            */
} work;

static cr_status sort_by_group(cr_scratch *arena, const size_t *group, work *w)
{
    w->start = cr_scratch_bytes(arena, w->J + 2, sizeof *w->start);
    w->order = cr_scratch_index(arena, w->n);
    if (arena->status != CR_OK) return arena->status;
    for (size_t i = 0; i < w->n; i++) w->start[group[i] + 2]++;
    for (size_t g = 0; g < w->J; g++) w->start[g + 2] += w->start[g + 1];
    for (size_t i = 0; i < w->n; i++) w->order[w->start[group[i] + 1]++] = i;
    return CR_OK;
}

/* What a row counts times its trials, score, information and the slope of that. */
static double score_of(const work *w, size_t i, double eta)
{
    return w->p->weight[i] * w->p->trials[i] * cri_family_score(&w->law, w->p->y[i], eta);
}

static double information_of(const work *w, size_t i, double eta)
{
    return w->p->weight[i] * w->p->trials[i] * cri_family_information(&w->law, eta);
}

static double slope_of(const work *w, size_t i, double eta)
{
    const double h = 1e-4;
    return (information_of(w, i, eta + h) - information_of(w, i, eta - h)) / (2 * h);
}

/* --- one group -------------------------------------------------------------------------------- */

/* s_u sum of scores - v, and I_g. */
static double balance(const work *w, size_t g, double sd, double v, double *out_information)
{
    double score = 0, information = 0;
    for (size_t k = w->start[g]; k < w->start[g + 1]; k++) {
        size_t i = w->order[k];
        score += score_of(w, i, w->eta[i] + sd * v);
        information += information_of(w, i, w->eta[i] + sd * v);
    }
    *out_information = information;
    return sd * score - v;
}

/* The mode of v, from where it was: Newton's steps, halved until the balance is nearer to 0, which falls
 * all along where the likelihood is log-concave. */
static double find_mode(const work *w, size_t g, double sd, double *out_information)
{
    double v = w->v[g], information, f = balance(w, g, sd, v, &information);
    for (int step = 0; step < 60 && fabs(f) > 1e-12 * (1 + fabs(v)); step++) {
        double move = f / (1 + sd * sd * information), next, there, found;
        int    halving = 0;
        do {
            next = v + move;
            found = balance(w, g, sd, next, &there);
            move /= 2;
        } while (!(fabs(found) < fabs(f)) && ++halving < 40);
        if (!(fabs(found) < fabs(f))) break;
        v = next, f = found, information = there;
    }
    *out_information = information;
    return v;
}

/* --- the likelihood --------------------------------------------------------------------------- */

/* What group g adds to minus the log likelihood and its gradient [q + 1]. */
static double add_group(work *w, size_t g, double sd, double *opt_gradient)
{
    size_t q = w->q;
    double I, v = find_mode(w, g, sd, &I), D = 1 + sd * sd * I, sum = 0, turn = 0, cross = 0;
    w->v[g] = v;
    memset(w->x, 0, q * sizeof *w->x);
    for (size_t k = w->start[g]; k < w->start[g + 1]; k++) {
        size_t        i = w->order[k];
        double        eta = w->eta[i] + sd * v, score, slope;
        const double *z = w->Z + i * q;
        w->eta[i] = eta;
        if (w->p->weight[i] == 0) continue;
        sum +=
            w->p->weight[i] * cri_family_log_density(&w->law, 1, w->p->trials[i], w->p->y[i], eta);
        if (!opt_gradient) continue;
        double information = information_of(w, i, eta);
        score = score_of(w, i, eta);
        slope = slope_of(w, i, eta);
        turn += slope;
        for (size_t j = 0; j < q; j++) {
            opt_gradient[j] -= score * z[j] - 0.5 * sd * sd / D * slope * z[j];
            w->x[j] += information * z[j];
        }
    }
    for (size_t j = 0; opt_gradient && j < q; j++) /* dv / db = - s_u sum i z / D */
        opt_gradient[j] -= 0.5 * sd * sd / D * turn * (sd * sd * w->x[j] / D);
    double dv = v * (1 - sd * sd * I) / D; /* by log s_u */
    cross = sd * sd * turn * (sd * v + sd * dv);
    if (opt_gradient) opt_gradient[q] -= v * v - 0.5 * (2 * sd * sd * I + cross) / D;
    return -(sum - 0.5 * v * v - 0.5 * log(D));
}

/* Minus the log likelihood at x = (b, log s_u). */
static cr_status evaluate(void *user, const double *x, size_t n, double *out_f,
                          double *opt_gradient)
{
    work  *w = user;
    double sd = exp(x[w->q]), f = 0;
    if (opt_gradient) memset(opt_gradient, 0, n * sizeof *opt_gradient);
    for (size_t i = 0; i < w->n; i++) {
        w->eta[i] = w->p->offset[i];
        for (size_t j = 0; j < w->q; j++) w->eta[i] += w->Z[i * w->q + j] * x[j];
    }
    for (size_t g = 0; g < w->J; g++) f += add_group(w, g, sd, opt_gradient);
    *out_f = f;
    return isfinite(f) ? cr_check_interrupt(w->cx) : CR_ENUMERIC;
}

/* The sd of log s_u, from differences of the gradient; NaN where there is no maximum. */
static cr_status sd_of_log_sd(work *w, const double *x, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(w->cx);
    size_t     m = w->q + 1;
    double    *H = cr_scratch_matrix(&s, m, m), *at = cr_scratch_f64(&s, m);
    double    *up = cr_scratch_f64(&s, m), *down = cr_scratch_f64(&s, m), f, h = 1e-3;

    *out = NAN;
    CR_TRY(s.status);
    memcpy(at, x, m * sizeof *at);
    for (size_t j = 0; j < m; j++) {
        at[j] = x[j] + h;
        CR_TRY(evaluate(w, at, m, &f, up));
        at[j] = x[j] - h;
        CR_TRY(evaluate(w, at, m, &f, down));
        at[j] = x[j];
        for (size_t k = 0; k < m; k++) H[j * m + k] = (up[k] - down[k]) / (2 * h);
    }
    for (size_t j = 0; j < m; j++)
        for (size_t k = 0; k < j; k++) H[j * m + k] = 0.5 * (H[j * m + k] + H[k * m + j]);
    st = cr_chol(w->cx, cr_mat_of(H, m, m));
    if (st == CR_OK) *out = 1 / H[m * m - 1]; /* the last pivot: given all others are free */
    if (st == CR_ENUMERIC) st = CR_OK;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the fit ---------------------------------------------------------------------------------- */

/* The predictor and the groups of a linear model at one theta, whose coefficients v [1 + p] are known;
 * noise of variance 1. */
static cr_status set_posterior(cr_ctx *cx, const cri_group_sums *sums, double theta, bool intercept,
                               const double *v, cri_predictor *fit, cri_varying *out)
{
    cr_status           st = CR_OK;
    cr_scratch          arena = cr_scratch_begin(cx);
    size_t              p = sums->p, q = sums->q;
    double             *F = cr_scratch_matrix(&arena, p, p), *G = cr_scratch_matrix(&arena, p, p);
    double              kept;
    cri_group_equations e;
    cri_group_posterior a;

    CR_TRY(arena.status);
    CR_TRY(cri_group_equations_new(&arena, sums, &e));
    CR_TRY(cri_group_posterior_new(&arena, sums, &a));
    CR_TRY(cri_group_equations_at(cx, sums, theta, intercept, &e));
    for (size_t j = 0; j < p; j++) {
        memcpy(G + j * p, e.T + j * q, p * sizeof *G);
        memset(F + j * p, 0, p * sizeof *F);
        F[j * p + j] = 1;
    }
    if (p > 0) CR_TRY(cr_chol(cx, cr_mat_of(G, p, p)));
    if (p > 0) CR_TRY(cr_chol_forward(cx, cr_cmat_of(G, p, p), cr_mat_of(F, p, p)));
    cri_group_node node = { &e, intercept, 1, v, F }; /* F = L^-1: F'F = G^-1 */
    CR_TRY(cri_group_posterior_add(cx, sums, &node, 1, 1, &a, &kept));
    CR_TRY(cri_group_posterior_finish(cx, sums, &a, 1, fit, out));
done:
    cr_scratch_end(&arena);
    return st;
}

/* Coefficients of the terms as they are here, [q] of Z, in the coordinates of the sums: v [1 + p]. */
static void change_coordinates(const cri_group_sums *sums, bool intercept, const double *centre,
                               const double *scale, const double *b, double *v)
{
    v[0] = intercept ? b[0] - sums->offset : 0;
    for (size_t j = 0; j < sums->p; j++) {
        v[1 + j] = b[intercept + j] / scale[j];
        v[0] += v[1 + j] * (sums->centre[j] - centre[j]);
    }
}

/* Z, and what its terms were centred at and divided by. */
static cr_status standardise(cr_ctx *cx, const cri_rows *rows, bool intercept, work *w,
                             double *centre, double *scale)
{
    size_t    n = w->n, p = rows->p, q = w->q;
    cr_status st = cr_check_interrupt(cx);
    if (st != CR_OK) return st;
    cri_rows_fill(rows, 0, n, w->Z + intercept, q);
    for (size_t j = 0; j < p; j++) {
        double mean = 0, square = 0, *z = w->Z + intercept + j;
        for (size_t i = 0; i < n; i++) mean += z[i * q] / (double)n;
        for (size_t i = 0; i < n; i++) square += (z[i * q] - mean) * (z[i * q] - mean);
        centre[j] = intercept ? mean : 0;
        scale[j] = square > 0 ? sqrt(square / (double)n) : 1;
        for (size_t i = 0; i < n; i++) z[i * q] = (z[i * q] - centre[j]) / scale[j];
    }
    for (size_t i = 0; intercept && i < n; i++) w->Z[i * q] = 1;
    return CR_OK;
}

/* Where the search begins: the coefficients without groups, and s_u = 1/2. */
static void begin_at(const cri_predictor *fit, bool intercept, const double *centre,
                     const double *scale, double *x)
{
    size_t p = fit->p;
    if (intercept) x[0] = fit->intercept;
    for (size_t j = 0; j < p; j++) {
        x[intercept + j] = fit->coef[j] * scale[j];
        if (intercept) x[0] += fit->coef[j] * centre[j];
    }
    x[p + intercept] = log(0.5);
}

static cr_status maximise(work *w, double *x, cri_glm_varying *out)
{
    enum { FROM = -12, TO = 8 }; /* log s_u */
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(w->cx);
    size_t              m = w->q + 1;
    double             *lower = cr_scratch_f64(&s, m), *upper = cr_scratch_f64(&s, m);
    cr_minimize_options o = cr_minimize_defaults();
    cr_problem          problem = {
                 .n = m, .objective = evaluate, .lower = lower, .upper = upper, .user = w
    };
    cr_minimize_report *report = cr_scratch_bytes(&s, 1, sizeof *report);

    CR_TRY(s.status);
    for (size_t j = 0; j < m; j++) lower[j] = -INFINITY, upper[j] = INFINITY;
    lower[m - 1] = FROM;
    upper[m - 1] = TO;
    o.gradient_tolerance = 1e-10;
    o.f_tolerance = 1e-15;
    CR_TRY(cr_minimize(w->cx, &problem, &o, x, report));
    out->iterations = report->iterations;
    out->converged = cr_end_converged(report->stop) || report->stop == CR_END_NO_PROGRESS;
    double best = x[m - 1], alike;
    x[m - 1] = FROM;
    CR_TRY(evaluate(w, x, m, &alike, NULL));
    x[m - 1] = best;
    CR_TRY(evaluate(w, x, m, &out->log_likelihood, NULL));
    out->at_zero = alike - out->log_likelihood < NO_GAIN;
    out->log_likelihood = -out->log_likelihood;
done:
    cr_scratch_end(&s);
    return st;
}

/* s_u with its interval, where log s_u has this sd. */
static void set_sd(cri_varying *v, double sd, double of_log)
{
    double reach = exp(CRI_Z95 * of_log);
    v->sd = sd;
    v->lower = isfinite(reach) ? sd / reach : NAN;
    v->upper = isfinite(reach) ? sd * reach : NAN;
}

static cr_status solve_laplace(cr_ctx *cx, const cri_glm_problem *p, const size_t *group,
                               cri_glm_solution *s, cri_predictor *fit, cri_glm_varying *out)
{
    cr_status       st = CR_OK;
    cr_scratch      arena = cr_scratch_begin(cx);
    const cri_rows *rows = p->rows;
    size_t          n = rows->n, terms = rows->p, q = terms + p->intercept;
    work    w = { .cx = cx, .p = p, .n = n, .q = q, .law = { p->family, p->link, s->alpha } };
    double *centre = cr_scratch_f64(&arena, terms), *scale = cr_scratch_f64(&arena, terms);
    double *x = cr_scratch_f64(&arena, q + 1), *v = cr_scratch_f64(&arena, terms + 1);
    double *omega = cr_scratch_f64(&arena, n), *t = cr_scratch_f64(&arena, n), of_log;
    cri_group_sums sums;
    cri_rows       view = *rows;

    w.J = rows->design->columns[cri_design_varying(rows->design)].n_levels;
    w.Z = cr_scratch_matrix(&arena, n, q);
    w.v = cr_scratch_bytes(&arena, w.J, sizeof *w.v);
    w.eta = cr_scratch_f64(&arena, n);
    w.x = cr_scratch_f64(&arena, q);
    CR_TRY(arena.status);
    CR_TRY(sort_by_group(&arena, group, &w));
    CR_TRY(standardise(cx, rows, p->intercept, &w, centre, scale));
    begin_at(&s->fit, p->intercept, centre, scale, x);
    CR_TRY(maximise(&w, x, out));
    double sd = exp(x[q]);
    for (size_t i = 0; i < n; i++) { /* the linear model that has its maximum here too */
        omega[i] = information_of(&w, i, w.eta[i]);
        t[i] = w.eta[i] - p->offset[i];
        if (omega[i] > 0) t[i] += score_of(&w, i, w.eta[i]) / omega[i];
    }
    view.w = omega;
    view.y = t;
    CR_TRY(cri_group_sums_new(cx, &arena, &view, p->intercept, false, &sums));
    change_coordinates(&sums, p->intercept, centre, scale, x, v);
    CR_TRY(set_posterior(cx, &sums, 1 / (sd * sd), p->intercept, v, fit, &out->groups));
    CR_TRY(sd_of_log_sd(&w, x, &of_log));
    set_sd(&out->groups, sd, of_log);
    out->groups.unseen = sd * sd;
    out->phi = out->ml_phi = 1;
done:
    cr_scratch_end(&arena);
    return st;
}

/* --- the Gaussian family ---------------------------------------------------------------------- */

typedef struct gaussian {
    cr_ctx               *cx;
    const cri_group_sums *sums;
    bool                  intercept;
    cri_group_equations   e;
    double               *G, *v; /* [p x p], [1 + p] */
    double                rss;
} gaussian;

/* Minus the log likelihood at log theta, at its maximum in the coefficients and the noise. */
static cr_status evaluate_gaussian(void *user, double x, double *out)
{
    gaussian *w = user;
    size_t    p = w->sums->p, q = w->sums->q;
    double    n = w->sums->weight;
    cr_status st = cri_group_equations_at(w->cx, w->sums, exp(x), w->intercept, &w->e);
    if (st != CR_OK) return st;
    for (size_t j = 0; j < p; j++) {
        memcpy(w->G + j * p, w->e.T + j * q, p * sizeof *w->G);
        w->v[1 + j] = w->e.T[j * q + p];
    }
    if (p > 0) st = cr_chol(w->cx, cr_mat_of(w->G, p, p));
    if (st == CR_OK && p > 0)
        st = cr_chol_solve(w->cx, cr_cmat_of(w->G, p, p), cr_mat_of(w->v + 1, p, 1));
    if (st != CR_OK) return st;
    w->rss = w->e.T[p * q + p];
    w->v[0] = w->e.c[p];
    for (size_t j = 0; j < p; j++) {
        w->rss -= w->v[1 + j] * w->e.T[j * q + p];
        w->v[0] -= w->v[1 + j] * w->e.c[j];
    }
    *out = 0.5 * (n * (CRI_LOG_2PI + log(w->rss / n) + 1) + w->e.logdet);
    return CR_OK;
}

static cr_status solve_gaussian(cr_ctx *cx, const cri_glm_problem *p, cri_predictor *fit,
                                cri_glm_varying *out)
{
    enum { FROM = -20, TO = 24 }; /* log theta */
    cr_status      st = CR_OK;
    cr_scratch     arena = cr_scratch_begin(cx);
    size_t         n = p->rows->n, terms = p->rows->p;
    double        *t = cr_scratch_f64(&arena, n), *weight = cr_scratch_f64(&arena, n);
    cri_rows       view = *p->rows;
    cri_group_sums sums;
    gaussian       w = { .cx = cx, .sums = &sums, .intercept = p->intercept };
    double         best = 0, least = INFINITY, f, up, down, alike, h = 0.05;

    w.G = cr_scratch_matrix(&arena, terms, terms);
    w.v = cr_scratch_f64(&arena, terms + 1);
    CR_TRY(arena.status);
    for (size_t i = 0; i < n; i++) t[i] = p->y[i] - p->offset[i], weight[i] = p->weight[i];
    view.y = t;
    view.w = weight;
    CR_TRY(cri_group_sums_new(cx, &arena, &view, p->intercept, false, &sums));
    CR_TRY(cri_group_equations_new(&arena, &sums, &w.e));
    for (double x = FROM; x <= TO; x += 2) {
        CR_TRY(evaluate_gaussian(&w, x, &f));
        if (f < least) least = f, best = x;
    }
    CR_TRY(cr_brent_minimize(cx, evaluate_gaussian, &w, fmax(best - 2, FROM), fmin(best + 2, TO),
                             1e-10, &best, &least));
    CR_TRY(evaluate_gaussian(&w, TO, &alike));
    CR_TRY(evaluate_gaussian(&w, best + h, &up));
    CR_TRY(evaluate_gaussian(&w, best - h, &down));
    CR_TRY(evaluate_gaussian(&w, best, &least));
    double curvature = (up + down - 2 * least) / (h * h);
    double left = sums.weight - (double)(terms + p->intercept);
    out->log_likelihood = -least;
    out->ml_phi = w.rss / sums.weight;
    out->phi = left > 0 ? w.rss / left : NAN;
    out->converged = true;
    out->at_zero = alike - least < NO_GAIN;
    CR_TRY(set_posterior(cx, &sums, exp(best), p->intercept, w.v, fit, &out->groups));
    set_sd(&out->groups, sqrt(out->ml_phi) * exp(-0.5 * best),
           curvature > 0 ? 0.5 / sqrt(curvature) : NAN);
    out->groups.unseen = exp(-best);
done:
    cr_scratch_end(&arena);
    return st;
}

/* --- both ------------------------------------------------------------------------------------- */

cr_status cri_glm_solve_varying(cr_ctx *cx, const cri_glm_problem *p, cri_glm_solution *s,
                                cri_glm_varying *out)
{
    cr_status       st = CR_OK;
    cr_scratch      scratch = cr_scratch_begin(cx);
    const cri_rows *rows = p->rows;
    size_t         *group = cr_scratch_index(&scratch, rows->n);
    cri_predictor   fit = { 0 };

    CR_TRY(scratch.status);
    if (s->facts.rank < rows->p)
        CR_TRY(cr_fail(cx, CR_ENUMERIC,
                       "columns depend on each other: with varying intercepts the coefficients "
                       "are not determined"));
    cri_rows_groups(rows, group);
    CR_TRY(cri_predictor_new(cx, rows->p, rows->p, &fit));
    fit.has_intercept = p->intercept;
    fit.sigma = 1;
    CR_TRY(p->family == CRI_GLM_GAUSSIAN ? solve_gaussian(cx, p, &fit, out)
                                         : solve_laplace(cx, p, group, s, &fit, out));
    memset(out->groups.weight, 0, out->groups.groups * sizeof(double));
    for (size_t i = 0; i < rows->n; i++) out->groups.weight[group[i]] += p->weight[i];
    cr_prediction eta = { .n = rows->n, .mean = s->eta };
    CR_TRY(cri_predictor_predict(cx, &fit, rows, &eta));
    for (size_t i = 0; i < rows->n; i++) s->eta[i] += out->groups.mean[group[i]] + p->offset[i];
    cri_predictor_free(cx, &s->fit);
    s->fit = fit;
    fit = (cri_predictor){ 0 };
done:
    cri_predictor_free(cx, &fit);
    cr_scratch_end(&scratch);
    return st;
}
