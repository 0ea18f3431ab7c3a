/* irls.c -- reweighted least squares, step by step. */
#include "irls.h"
#include "models/linear/bordered.h"
#include "measures.h"
#include "scoring.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 512 };

typedef struct work {
    const cri_glm_problem *p;
    size_t                 n;
    cri_rows        entries; /* the rows as entries, where they have a category of many levels */
    cri_glm_law     law;
    cri_glm_scoring sums; /* while they are usable */
    cr_scratch     *workspace;
    bool            started;         /* what follows is set      */
    double         *z, *w;           /* [n] of the least squares */
    double         *eta, *mu, *next; /* [n]                      */
    bool            estimate;        /* alpha, from the means    */
    bool            underdispersed;
    bool            bounded;         /* eta is between low and high */
    double          low, high, unit; /* unit: of distances to them  */
    double          mean;            /* of the target               */
    bool            newton;          /* curvature as observed       */
    double          barrier;         /* t                           */
} work;

/* --- pieces ---------------------------------------------------------------------------------- */

/* mu from eta; false where some mean is outside the family's range. */
static bool set_means(const work *k, const double *eta, double *mu)
{
    bool valid = true;
    for (size_t i = 0; i < k->n; i++) {
        mu[i] = cri_link_mean(k->law.link, eta[i]);
        if (k->p->weight[i] == 0) continue;
        valid = valid && eta[i] > k->low && eta[i] < k->high &&
                cri_family_has_mean(k->law.family, k->law.link, eta[i]);
    }
    return valid;
}

static double deviance_of(const work *k, const double *eta)
{
    const cri_glm_problem *p = k->p;
    double                 sum = 0;
    for (size_t i = 0; i < k->n; i++)
        if (p->weight[i] > 0)
            sum += p->weight[i] * p->trials[i] * cri_family_deviance(&k->law, p->y[i], eta[i]);
    return sum;
}

/* log distance of eta from the ends of its domain, and its first and (negative) second
 * derivative. */
static double wall(const work *k, double eta, double *slope, double *curvature)
{
    double sum = 0;
    *slope = *curvature = 0;
    if (isfinite(k->low)) {
        double d = eta - k->low;
        sum += log(d), *slope += 1 / d, *curvature += 1 / (d * d);
    }
    if (isfinite(k->high)) {
        double d = k->high - eta;
        sum += log(d), *slope -= 1 / d, *curvature += 1 / (d * d);
    }
    return sum;
}

/* What the steps bring down: the deviance, and the barrier where there is one. */
static double merit_of(const work *k, const double *eta)
{
    double sum = deviance_of(k, eta), slope, curvature;
    for (size_t i = 0; k->barrier > 0 && i < k->n; i++)
        if (k->p->weight[i] > 0)
            sum -= 2 * k->barrier * k->p->weight[i] * wall(k, eta[i], &slope, &curvature);
    return sum;
}

/* Working responses and weights at the present means. */
static void set_working(work *k)
{
    const cri_glm_problem *p = k->p;
    for (size_t i = 0; i < k->n; i++) {
        k->w[i] = k->z[i] = 0;
        if (p->weight[i] == 0) continue;
        double m = p->weight[i] * p->trials[i], s, c;
        double score = m * cri_family_score(&k->law, p->y[i], k->eta[i]);
        k->w[i] = m * cri_family_information(&k->law, k->eta[i]);
        if (k->newton) {
            wall(k, k->eta[i], &s, &c);
            k->w[i] = m * cri_family_curvature(&k->law, p->y[i], k->eta[i], k->mean);
            k->w[i] += k->barrier * p->weight[i] * c;
            score += k->barrier * p->weight[i] * s;
        }
        if (!(k->w[i] > 0) || !isfinite(k->w[i])) { /* a limit: the row says nothing more */
            k->w[i] = 0;
            continue;
        }
        k->z[i] = k->eta[i] - p->offset[i] + score / k->w[i];
    }
}

/* The weighted least squares of the working responses. */
static cr_status solve_working(cr_ctx *cx, const work *k, cri_predictor *out,
                               cri_least_squares *facts)
{
    cri_rows rows = *k->p->rows;
    bool     good = false;
    rows.y = k->z;
    rows.w = k->w;
    if (cri_bordered_pays(&rows)) {
        cr_status st =
            cri_least_squares_levels(cx, &rows, k->p->intercept, false, out, facts, &good);
        if (st != CR_OK || good) return st;
    }
    return cri_least_squares_auto(cx, &rows, k->p->intercept, out, facts);
}

/* eta of the fit, to `out`. */
static cr_status set_eta(cr_ctx *cx, const work *k, const cri_predictor *fit, double *out)
{
    cr_prediction p = { .n = k->n, .mean = out };
    cr_status st = cri_predictor_predict(cx, fit, k->entries.design ? &k->entries : k->p->rows, &p);
    for (size_t i = 0; st == CR_OK && i < k->n; i++) out[i] += k->p->offset[i];
    return st;
}

/* --- the loop -------------------------------------------------------------------------------- */

static cr_status fail_start(cr_ctx *cx)
{
    cr_fail(cx, CR_ENUMERIC,
            "no coefficients were found whose means are in the range of the family");
    return cr_fail_hint(cx, "another link keeps the means in range, for example --link log");
}

/* What the steps need to know of the range. */
static void set_range(work *k)
{
    const cri_glm_problem *p = k->p;
    const double           margin = 1e-10; /* from the ends, so that rounding does not lead out */
    k->bounded = cri_link_domain(p->family, p->link, &k->low, &k->high);
    k->mean = cri_glm_mean_of_target(p);
    k->unit =
        p->family == CRI_GLM_BINOMIAL ? 1 : fabs(cri_link_of_mean(p->link, fmax(k->mean, 1e-300)));
    k->low += margin * k->unit;
    k->high -= margin * k->unit;
}

/* fit becomes the step that is `share` as long from the one before. */
static void shorten(const cri_predictor *before, double share, cri_predictor *fit)
{
    fit->intercept = before->intercept + share * (fit->intercept - before->intercept);
    fit->at_centre = fit->intercept;
    for (size_t j = 0; j < fit->p; j++) {
        fit->coef[j] = before->coef[j] + share * (fit->coef[j] - before->coef[j]);
        fit->at_centre += fit->coef[j] * fit->centre[j];
    }
}

/* eta to next, the means to mu; the merit, INFINITY where some mean is outside the range. */
static cr_status look_at(cr_ctx *cx, work *k, const cri_predictor *fit, double *out_merit)
{
    cr_status st = set_eta(cx, k, fit, k->next);
    if (st != CR_OK) return st;
    *out_merit = set_means(k, k->next, k->mu) ? merit_of(k, k->next) : INFINITY;
    if (!isfinite(*out_merit)) *out_merit = INFINITY;
    return st;
}

/* The deviance of the mean alone, without offsets; INFINITY where it is no mean of the family. */
static double deviance_of_mean(const work *k)
{
    double sum = 0, eta = cri_link_of_mean(k->law.link, k->mean);
    if (!isfinite(eta) || !cri_family_has_mean(k->law.family, k->law.link, eta)) return INFINITY;
    for (size_t i = 0; i < k->n; i++)
        if (k->p->weight[i] > 0)
            sum +=
                k->p->weight[i] * k->p->trials[i] * cri_family_deviance(&k->law, k->p->y[i], eta);
    return sum;
}

/* The least squares of g(mean): as near as the terms come to the mean alone. */
static cr_status fit_mean(cr_ctx *cx, work *k, cri_predictor *out, cri_least_squares *facts)
{
    for (size_t i = 0; i < k->n; i++) {
        k->w[i] = k->p->weight[i] * k->p->trials[i];
        k->z[i] = cri_link_of_mean(k->p->link, k->mean) - k->p->offset[i];
    }
    return solve_working(cx, k, out, facts);
}

/* The first fit: the least squares of g(y), or where that is no better than the mean alone, the
 * mean. */
static cr_status take_first(cr_ctx *cx, work *k, cri_glm_solution *s)
{
    const cri_glm_problem *p = k->p;
    cr_status              st = CR_OK;
    cri_predictor          other = { 0 };
    double                 merit, merit_mean;

    for (size_t i = 0; i < k->n; i++) {
        k->mu[i] = cri_family_start(p->family, p->trials[i], p->y[i], k->mean);
        k->eta[i] = cri_link_of_mean(p->link, k->mu[i]);
    }
    set_working(k);
    CR_TRY(solve_working(cx, k, &s->fit, &s->facts));
    CR_TRY(look_at(cx, k, &s->fit, &merit));
    s->iterations++;
    if (!(merit <= deviance_of_mean(k) * (1 + 1e-9)) &&
        isfinite(cri_link_of_mean(k->p->link, k->mean))) {
        CR_TRY(fit_mean(cx, k, &other, &s->facts));
        CR_TRY(look_at(cx, k, &other, &merit_mean));
        if (merit_mean < merit) {
            cri_predictor_free(cx, &s->fit);
            s->fit = other;
            other = (cri_predictor){ 0 };
        }
        CR_TRY(look_at(cx, k, &s->fit, &merit));
    }
    if (isinf(merit)) CR_TRY(fail_start(cx));
    memcpy(k->eta, k->next, k->n * sizeof *k->eta);
done:
    cri_predictor_free(cx, &other);
    return st;
}

/* Room for the steps, the range, and a fit to set out from where there is none. */
static cr_status start(cr_ctx *cx, work *k, cri_glm_solution *s)
{
    k->z = cr_scratch_f64(k->workspace, k->n);
    k->w = cr_scratch_f64(k->workspace, k->n);
    k->next = cr_scratch_f64(k->workspace, k->n);
    if (k->workspace->status != CR_OK) return k->workspace->status;
    set_range(k);
    k->started = true;
    return s->fit.coef ? CR_OK : take_first(cx, k, s);
}

/* Sets eta (next), mu and the merit of the fit; halves the step while that is no better than
 * `merit`.  *out_gain: what the whole step was to gain.  Where no step gains it is the fit
 * before. */
static cr_status take_step(cr_ctx *cx, work *k, const cri_predictor *before, cri_predictor *fit,
                           double merit, double *out_merit, double *out_gain)
{
    enum { MOST_HALVINGS = 40 };
    cr_status st = CR_OK;
    *out_gain = 0;
    for (int h = 0; h <= MOST_HALVINGS; h++) {
        CR_TRY(look_at(cx, k, fit, out_merit));
        for (size_t i = 0; h == 0 && i < k->n; i++)
            *out_gain += k->w[i] * (k->next[i] - k->eta[i]) * (k->next[i] - k->eta[i]);
        if (*out_merit <= merit + 1e-11 * fabs(merit)) return CR_OK;
        shorten(before, 0.5, fit);
    }
    shorten(before, 0, fit);
    CR_TRY(look_at(cx, k, fit, out_merit));
done:
    return st;
}

bool cri_glm_has_settled(double gain, double before, double tolerance, double size)
{
    double left = gain * fmin(1, gain / before);
    return left <= 1e-8 * tolerance * size || (gain <= tolerance * size && gain >= before);
}

/* One round of steps at a fixed alpha.  A merit that stands still while the score does not vanish is
 * a step that leads out of the range. */
static cr_status iterate(cr_ctx *cx, work *k, size_t limit, double tolerance, cri_glm_solution *s)
{
    enum { MOST_STUCK = 4 };
    cr_status     st = CR_OK;
    cri_predictor fit = { 0 };
    double        merit = merit_of(k, k->eta), before = 0;
    int           stuck = 0;
    cri_clock     clock = cri_clock_start(cx, NAN);

    tolerance = fmax(tolerance, 1e-14);
    s->converged = false;
    while (s->iterations < limit && !s->converged && stuck < MOST_STUCK &&
           !cri_clock_over(&clock)) {
        double now = 0, gain = 0;
        CR_TRY(cr_check_interrupt(cx));
        set_working(k);
        CR_TRY(solve_working(cx, k, &fit, &s->facts));
        CR_TRY(take_step(cx, k, &s->fit, &fit, merit, &now, &gain));
        double size = fabs(now) + 0.1;
        bool   still = fabs(merit - now) <= tolerance * size;
        s->converged = cri_glm_has_settled(gain, before > 0 ? before : gain, tolerance, size);
        stuck = still && gain > fmax(1e-8, 100 * tolerance) * size ? stuck + 1 : 0;
        memcpy(k->eta, k->next, k->n * sizeof *k->eta);
        cri_predictor_free(cx, &s->fit);
        s->fit = fit;
        fit = (cri_predictor){ 0 };
        merit = now;
        before = gain;
        s->iterations++;
    }
done:
    cri_predictor_free(cx, &fit);
    return st;
}

/* Rows whose eta is within `share` of the end of its domain. */
static size_t count_near_edge(const work *k, double share)
{
    size_t count = 0;
    for (size_t i = 0; k->bounded && i < k->n; i++)
        count +=
            k->p->weight[i] > 0 && fmin(k->eta[i] - k->low, k->high - k->eta[i]) < share * k->unit;
    return count;
}

/* The covariance is that of the expected information at the end; the coefficients stay. */
static cr_status set_information(cr_ctx *cx, work *k, cri_glm_solution *s)
{
    cr_status     st = CR_OK;
    cri_predictor fit = { 0 };
    k->newton = false;
    set_working(k);
    CR_TRY(solve_working(cx, k, &fit, &s->facts));
    shorten(&s->fit, 0, &fit);
    cri_predictor_free(cx, &s->fit);
    s->fit = fit;
    fit = (cri_predictor){ 0 };
done:
    cri_predictor_free(cx, &fit);
    return st;
}

/* Back to the mean alone, away from the ends, where it is in the range. */
static cr_status step_back(cr_ctx *cx, work *k, cri_glm_solution *s)
{
    cr_status     st = CR_OK;
    cri_predictor fit = { 0 };
    double        merit;
    if (!isfinite(cri_link_of_mean(k->p->link, k->mean))) return CR_OK;
    CR_TRY(fit_mean(cx, k, &fit, &s->facts));
    CR_TRY(look_at(cx, k, &fit, &merit));
    if (isfinite(merit)) {
        cri_predictor_free(cx, &s->fit);
        s->fit = fit;
        fit = (cri_predictor){ 0 };
    } else {
        CR_TRY(look_at(cx, k, &s->fit, &merit));
    }
    memcpy(k->eta, k->next, k->n * sizeof *k->eta);
done:
    cri_predictor_free(cx, &fit);
    return st;
}

/* Along the barrier to t = 0. */
static cr_status follow_barrier(cr_ctx *cx, work *k, cri_glm_solution *s)
{
    enum { STAGES = 7 };
    const double edge = 1e-6;
    cr_status    st = CR_OK;
    double       weight = 0, per_row;
    CR_TRY(step_back(cx, k, s));
    for (size_t i = 0; i < k->n; i++) weight += k->p->weight[i];
    per_row = (deviance_of(k, k->eta) + 1e-6) / (2 * weight);
    k->newton = true;
    for (int i = 0; i < STAGES; i++) {
        k->barrier = per_row * pow(30, -i - 0.5);
        CR_TRY(iterate(cx, k, k->p->max_iter, i + 1 < STAGES ? 1e-5 : 1e-9, s));
    }
    bool followed = s->converged;
    k->barrier = 0;
    CR_TRY(iterate(cx, k, k->p->max_iter, k->p->tolerance, s));
    if (!s->converged) s->at_edge = count_near_edge(k, edge);
    s->converged = s->converged || (followed && s->at_edge > 0);
    CR_TRY(set_information(cx, k, s));
done:
    k->newton = false;
    k->barrier = 0;
    return st;
}

/* By steps of least squares, from the fit before where there is one.  Fisher's are trusted where they
 * end well inside the range. */
static cr_status maximise_by_steps(cr_ctx *cx, work *k, cri_glm_solution *s)
{
    enum { PLAIN_STEPS = 30 };
    const double near = 0.01;
    cr_status    st = CR_OK;
    size_t       most = k->p->max_iter;
    if (!k->started) CR_TRY(start(cx, k, s));
    if (k->bounded && s->iterations + PLAIN_STEPS < most) most = s->iterations + PLAIN_STEPS;
    s->at_edge = 0;
    k->newton = cri_family_is_curved(&k->law);
    CR_TRY(iterate(cx, k, most, k->p->tolerance, s));
    if (k->newton) CR_TRY(set_information(cx, k, s));
    if (k->bounded && (!s->converged || count_near_edge(k, near) > 0))
        CR_TRY(follow_barrier(cx, k, s));
done:
    return st;
}

static void fill_means(void *arg, size_t b)
{
    const work *k = arg;
    cri_range   range = cri_block_range(k->n, BLOCK, b);
    for (size_t i = range.begin; i < range.end; i++)
        k->mu[i] = cri_link_mean(k->law.link, k->eta[i]);
}

/* The maximum at a fixed alpha, from sums over the rows where they allow it. */
static cr_status maximise(cr_ctx *cx, work *k, cri_glm_solution *s)
{
    cr_status st = CR_OK;
    bool      good = false;
    if (k->sums.usable) CR_TRY(cri_glm_score(cx, &k->sums, &k->law, s, &good));
    k->sums.usable = good;
    if (good) {
        CR_TRY(set_eta(cx, k, &s->fit, k->eta));
        if (k->estimate)
            CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(k->n, BLOCK), fill_means, k));
    } else {
        CR_TRY(maximise_by_steps(cx, k, s));
    }
done:
    return st;
}

static cr_status summarise(cr_ctx *cx, const work *k, cri_glm_solution *s)
{
    const cri_glm_problem *p = k->p;
    cri_glm_measures       m = { 0 };
    s->alpha = k->law.alpha;
    s->underdispersed = k->underdispersed;
    s->left = -(double)(s->facts.rank + p->intercept);
    for (size_t i = 0; i < k->n; i++) s->left += p->weight[i];
    cr_status st = cri_glm_measure(cx, p, &k->law, k->eta, &m);
    s->deviance = m.deviance, s->pearson = m.pearson;
    s->extreme = m.extreme, s->single = m.single;
    return st;
}

void cri_glm_solution_free(cr_ctx *cx, const cri_glm_problem *p, cri_glm_solution *s)
{
    cri_predictor_free(cx, &s->fit);
    cr_free(cx, s->eta, p->rows->n, sizeof(double));
    cr_free(cx, s->mu, p->rows->n, sizeof(double));
    *s = (cri_glm_solution){ 0 };
}

cr_status cri_glm_solve(cr_ctx *cx, const cri_glm_problem *p, cri_glm_solution *out)
{
    enum { MOST_ROUNDS = 50 };
    cr_status        st = CR_OK;
    cr_scratch       scratch = cr_scratch_begin(cx);
    size_t           n = p->rows->n;
    bool             estimate = p->family == CRI_GLM_NEGATIVE_BINOMIAL && isnan(p->alpha);
    cri_glm_solution s = { .eta = cr_resize(cx, NULL, 0, n, sizeof(double)),
                           .mu = cr_resize(cx, NULL, 0, n, sizeof(double)) };
    work             k = { .p = p,
                           .n = n,
                           .law = { p->family, p->link, estimate ? 1 : p->alpha },
                           .workspace = &scratch,
                           .estimate = estimate,
                           .eta = s.eta,
                           .mu = s.mu };

    if (!s.eta || !s.mu) CR_TRY(CR_ENOMEM);
    if (cri_bordered_pays(p->rows)) CR_TRY(cri_rows_open_entries(cx, p->rows, &k.entries));
    CR_TRY(cri_glm_scoring_new(cx, p, &k.sums));
    CR_TRY(maximise(cx, &k, &s));
    for (int round = 0; estimate && round < MOST_ROUNDS; round++) {
        double before = k.law.alpha;
        CR_TRY(cri_glm_fit_alpha(cx, p, k.mu, &k.law.alpha, &k.underdispersed));
        CR_TRY(maximise(cx, &k, &s));
        if (fabs(k.law.alpha - before) <= 1e-9 * k.law.alpha) break;
        if (round + 1 == MOST_ROUNDS) s.converged = false;
    }
    CR_TRY(summarise(cx, &k, &s));
    *out = s;
    s = (cri_glm_solution){ 0 };
done:
    cri_glm_solution_free(cx, p, &s);
    cri_glm_scoring_free(cx, &k.sums);
    cri_rows_close_entries(cx, &k.entries);
    cr_scratch_end(&scratch);
    return st;
}
