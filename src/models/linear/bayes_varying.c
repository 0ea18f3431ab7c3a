/* bayes_varying.c -- Bayesian linear regression with varying intercepts.
 *   y ~ N(b0 + z . w + u_g, s2),   w ~ N(0, s2 / l I),   u_g ~ N(0, s2 / theta).
 * Given theta the groups are eliminated (group_sums.h), and what is left is the model without them, of
 * which bayes_scales.c learns the scales and the evidence p(t | theta).  theta is then averaged over,
 * by the trapezoid rule over log theta with theta^(-1/2) = s_u / s half-Cauchy, where the other scales
 * are; else it maximises the evidence.  Means and covariances of (b0, w, u_g) are added up over the
 * nodes (group_posterior.h): O(n q^2 + nodes (J q^2 + q^3)) for J groups.
 * Gelman (2006), Bayesian Analysis 1; Gelman & Hill (2007), ch. 12. */
#include "bayes_linear.h"
#include "base/scratch.h"
#include "group_posterior.h"
#include "math/dense/dense.h"
#include "math/optim/brent.h"
#include "math/special/special.h"
#include "math/trapezoid.h"
#include "spectrum.h"
#include "math/constants.h"

#include <math.h>
#include <string.h>

static const double FROM = -20, TO = 24; /* log theta: groups differ by e^10 .. e^-12 noise sds */

/* --- one theta ------------------------------------------------------------------------------- */

typedef struct work {
    cr_ctx                  *cx;
    const cri_group_sums    *sums;
    const cri_bayes_options *o;
    double                   target_scale;
    bool                     flat;
    cri_group_equations      e;
    double                  *G, *g, *d, *V, *u, *w; /* [p x p], [p], [p], [p x p], [p], [1 + p]   */
    cri_predictor            fit;                   /* its factor is that of w                    */
    cri_bayes                m;                     /* what was learned at the last theta         */
    cr_report                report;
} work;

static cr_status begin_work(cr_scratch *arena, work *w)
{
    size_t p = w->sums->p;
    w->G = cr_scratch_matrix(arena, p, p);
    w->V = cr_scratch_matrix(arena, p, p);
    w->g = cr_scratch_f64(arena, p);
    w->d = cr_scratch_f64(arena, p);
    w->u = cr_scratch_f64(arena, p);
    w->w = cr_scratch_f64(arena, p + 1);
    cr_status st = cri_group_equations_new(arena, w->sums, &w->e);
    return st == CR_OK ? cri_predictor_new(w->cx, p, p, &w->fit) : st;
}

/* G and g of w, and t't, from the equations. */
static cri_gram gram_of(work *w)
{
    const cri_group_sums *s = w->sums;
    size_t                p = s->p, q = s->q;
    for (size_t j = 0; j < p; j++) {
        memcpy(w->G + j * p, w->e.T + j * q, p * sizeof *w->G);
        w->g[j] = w->e.T[j * q + p];
    }
    return (cri_gram){ .p = p,
                       .weight = s->weight,
                       .centre = s->centre,
                       .scale = s->scale,
                       .G = w->G,
                       .g = w->g,
                       .tt = w->e.T[p * q + p] };
}

/* The scales and the evidence at one theta, in w->m and *out_log_evidence; with `posterior` also the
 * mean of w about the centre and the factor of its covariance. */
static cr_status learn_at(work *w, double theta, bool posterior, double *out_log_evidence)
{
    cr_status             st = CR_OK;
    cr_ctx               *cx = w->cx;
    cr_scratch            arena = cr_scratch_begin(cx);
    const cri_group_sums *sums = w->sums;
    size_t                p = sums->p;
    cri_bayes_scales      scales = { 0 };

    CR_TRY(cr_check_interrupt(cx));
    CR_TRY(cri_group_equations_at(cx, sums, theta, w->flat, &w->e));
    cri_gram g = gram_of(w);
    CR_TRY(cri_gram_spectrum(cx, &g, w->d, w->V));
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(w->V, p, p), CR_TRANSPOSED, g.g, 0, w->u));
    double left = g.tt;
    for (size_t k = 0; k < p; k++) {
        if (w->d[k] > 0)
            left -= w->u[k] * w->u[k] / w->d[k];
        else
            w->u[k] = 0;
    }
    cri_shrinkage s = { .p = p, .r = p, .d = w->d, .u = w->u, .tt = g.tt, .quiet = true };
    s.top = p ? w->d[p - 1] : 0;
    s.signal = sums->signal;
    w->m = (cri_bayes){ 0 };
    CR_TRY(cri_bayes_learn(cx, &arena, &w->m, &s, left, w->o, sums->weight, w->target_scale,
                           &w->report, &scales));
    double evidence = w->report.log_evidence - 0.5 * w->e.logdet;
    if (w->flat) evidence += 0.5 * log(sums->weight / w->e.rows);
    if (w->flat && w->m.averaged) evidence += 0.5 * log(g.tt / sums->tt); /* by all of t't */
    *out_log_evidence = evidence;
    if (posterior) CR_TRY(cri_bayes_condition(cx, &scales, w->d, w->V, w->u, &w->fit, w->w + 1));
done:
    cr_scratch_end(&arena);
    return st;
}

/* --- many thetas ----------------------------------------------------------------------------- */

static cr_status evaluate(cr_ctx *cx, void *user, double x, cri_node *out)
{
    double    evidence;
    cr_status st = learn_at(user, exp(x), false, &evidence);
    (void)cx;
    if (st == CR_OK) *out = (cri_node){ x, evidence + cri_log_prior_of_ratio(x), evidence };
    return st;
}

static cr_status minus_evidence(void *user, double x, double *out)
{
    double    evidence;
    cr_status st = learn_at(user, exp(x), false, &evidence);
    if (st == CR_OK) *out = -evidence;
    return st;
}

/* Moves an optimum to an end of the range where the evidence is the same to rounding: it is flat there, and
 * where in it the search stopped would hang on the last bits of the sums. */
static cr_status prefer_end(work *w, double end, double *best, double *least)
{
    double    f;
    cr_status st = minus_evidence(w, end, &f);
    if (st == CR_OK && f <= *least + 1e-10 * (1 + fabs(*least))) *best = end, *least = f;
    return st;
}

/* The nodes and their shares; where nothing is averaged, one. */
static cr_status choose_nodes(work *w, bool averages, cri_trapezoid *g, double *share,
                              double *out_log_evidence)
{
    cr_status st = CR_OK;
    double    best = 0, least = INFINITY;
    g->drop = 18;
    g->enough = 1e-5;
    g->label = "averaging over the groups' sd";
    if (averages) {
        st = cri_trapezoid_integrate(w->cx, g, evaluate, w, FROM, TO, out_log_evidence);
        if (st == CR_OK) cri_trapezoid_shares(g, share);
        return st;
    }
    for (double x = FROM; x <= TO; x += 2) { /* where to look closer */
        double f;
        CR_TRY(minus_evidence(w, x, &f));
        if (f < least) least = f, best = x;
    }
    CR_TRY(cr_brent_minimize(w->cx, minus_evidence, w, fmax(best - 2, FROM), fmin(best + 2, TO),
                             1e-9, &best, &least));
    CR_TRY(prefer_end(w, FROM, &best, &least));
    CR_TRY(prefer_end(w, TO, &best, &least));
    g->n = 1;
    g->at[0] = (cri_node){ best, -least, -least };
    share[0] = 1;
    *out_log_evidence = -least;
done:
    return st;
}

/* --- adding the nodes up --------------------------------------------------------------------- */

/* Averages over the nodes. */
typedef struct averages {
    double sigma2, gamma, log_alpha, log_V, log_V2, sd;
} averages;

static cr_status add_node(work *w, double share, double spread, cri_group_posterior *a,
                          averages *mean)
{
    const cri_group_sums *s = w->sums;
    double                sigma2 = w->m.fit.sigma * w->m.fit.sigma, theta = w->e.theta, kept;
    double                log_V = log(sigma2 * (1 + 1 / theta + (w->flat ? 1 / w->e.rows : 0)));
    cri_group_node        node = { &w->e, w->flat, sigma2, w->w, w->fit.factor };
    w->w[0] = w->e.c[s->p];
    for (size_t j = 0; j < s->p; j++) w->w[0] -= w->e.c[j] * w->w[1 + j];
    cr_status st = cri_group_posterior_add(w->cx, s, &node, share, spread, a, &kept);
    if (st != CR_OK) return st;
    mean->sigma2 += share * sigma2;
    mean->gamma += share * (w->m.gamma + (double)s->J - kept);
    mean->log_alpha += share * log(w->m.alpha);
    mean->log_V += share * log_V;
    mean->log_V2 += share * log_V * log_V;
    mean->sd += share * sqrt(sigma2 / theta);
    return CR_OK;
}

/* --- the posterior --------------------------------------------------------------------------- */

/* What a group that was not seen adds: predictions there are a mixture of t's over the nodes, taken as
 * the t whose log scale^2 has the same mean and variance. */
static void set_unseen(const averages *a, const cri_predictor *fit, cri_varying *v)
{
    double log_V = a->log_V, variance = fmax(a->log_V2 - a->log_V * a->log_V, 0), dof = fit->dof;
    if (isfinite(dof)) {
        variance += cr_trigamma(dof / 2);
        log_V += log(dof / 2) - cr_digamma(dof / 2);
    }
    v->unseen_dof = variance > 1e-6 ? 2 * cr_trigamma_inv(variance) : INFINITY;
    if (isfinite(v->unseen_dof)) log_V += cr_digamma(v->unseen_dof / 2) - log(v->unseen_dof / 2);
    v->unseen = fmax(exp(log_V) / a->sigma2 - 1 - fit->mean_share, 0);
}

/* The 95 % interval of s_u from the nodes, in which it falls with x. */
static void set_interval(const cri_trapezoid *g, const double *share, const double *sd,
                         cri_varying *v)
{
    double above = 0, before = 0; /* the share of larger s_u, to the middle of a node */
    v->upper = sd[0];
    v->lower = sd[g->n - 1];
    for (size_t k = 0; k < g->n; k++) {
        double here = above + share[k] / 2;
        double ends[2] = { 0.025, 0.975 }, *out[2] = { &v->upper, &v->lower };
        for (size_t e = 0; k > 0 && e < 2; e++)
            if (before < ends[e] && here >= ends[e])
                *out[e] = exp(log(sd[k - 1]) +
                              (ends[e] - before) / (here - before) * (log(sd[k]) - log(sd[k - 1])));
        before = here;
        above += share[k];
    }
}

/* The same of one theta, from the curvature of the evidence; none where there is no maximum. */
static cr_status set_curvature(work *w, double x, double evidence, double sd, cri_varying *v)
{
    const double h = 0.05;
    double       up, down;
    cr_status    st = minus_evidence(w, x + h, &up);
    if (st == CR_OK) st = minus_evidence(w, x - h, &down);
    if (st != CR_OK) return st;
    double curvature = (up + down + 2 * evidence) / (h * h);
    if (!(curvature > 0) || x < FROM + 1 || x > TO - 1) return CR_OK;
    double reach = exp(0.5 * CRI_Z95 / sqrt(curvature));
    v->lower = sd / reach;
    v->upper = sd * reach;
    return CR_OK;
}

/* |t - b0 - Z w - u|^2. */
static double rss_of(const cri_group_sums *s, const cri_group_posterior *a)
{
    size_t p = s->p, q = s->q;
    double rss = s->within[p * q + p];
    for (size_t j = 0; j < p; j++) {
        rss -= 2 * a->v[1 + j] * s->within[j * q + p];
        for (size_t k = 0; k < p; k++) rss += a->v[1 + j] * a->v[1 + k] * s->within[j * q + k];
    }
    rss = fmax(rss, 0);
    for (size_t g = 0; g < s->J; g++) {
        double left = s->mean[g * q + p] - a->v[0] - a->mean[g];
        for (size_t j = 0; j < p; j++) left -= s->mean[g * q + j] * a->v[1 + j];
        rss += s->N[g] * left * left;
    }
    return rss;
}

cr_status cri_bayes_solve_varying(cr_ctx *cx, cri_bayes *m, const cri_rows *rows,
                                  const cri_bayes_options *o, cr_report *report)
{
    cr_status           st = CR_OK;
    cr_scratch          arena = cr_scratch_begin(cx);
    const cr_design    *design = rows->design;
    cri_group_sums      sums;
    work                w = { .cx = cx,
                              .sums = &sums,
                              .o = o,
                              .target_scale = design->target_scale,
                              .flat = cri_bayes_is_flat(o),
                              .report = *report };
    cri_trapezoid       g = { .at = cr_scratch_bytes(&arena, CRI_MOST_NODES, sizeof(cri_node)) };
    double             *share = cr_scratch_f64(&arena, CRI_MOST_NODES);
    double             *sd = cr_scratch_f64(&arena, CRI_MOST_NODES);
    double              evidence, at;
    averages            mean = { 0 };
    cri_group_posterior a;

    CR_TRY(arena.status);
    CR_TRY(cri_group_sums_new(cx, &arena, rows, o->intercept, design->standardised, &sums));
    CR_TRY(begin_work(&arena, &w));
    CR_TRY(cri_group_posterior_new(&arena, &sums, &a));
    CR_TRY(choose_nodes(&w, cri_bayes_averages(o), &g, share, &evidence));
    double spread = 1;
    for (size_t k = 0; k < g.n; k++) {
        CR_TRY(learn_at(&w, exp(g.at[k].x), true, &at));
        if (isfinite(w.m.fit.dof)) spread = fmax(1 - 2 / w.m.fit.dof, 0);
        sd[k] = w.m.fit.sigma * exp(-0.5 * g.at[k].x);
        CR_TRY(add_node(&w, share[k], spread, &a, &mean));
    }
    *m = w.m;
    CR_TRY(cri_predictor_new(cx, rows->p, rows->p, &m->fit));
    m->fit.has_intercept = o->intercept;
    m->fit.sigma = sqrt(mean.sigma2);
    m->fit.dof = w.m.fit.dof;
    CR_TRY(cri_group_posterior_finish(cx, &sums, &a, mean.sigma2, &m->fit, &m->varying));
    m->varying.sd = mean.sd;
    set_unseen(&mean, &m->fit, &m->varying);
    if (g.n > 1)
        set_interval(&g, share, sd, &m->varying);
    else
        CR_TRY(set_curvature(&w, g.at[0].x, evidence, m->varying.sd, &m->varying));
    m->gamma = mean.gamma;
    m->rss = rss_of(&sums, &a);
    if (m->averaged) m->beta = 1 / mean.sigma2, m->alpha = exp(mean.log_alpha);
    *report = w.report;
    report->log_evidence = evidence;
done:
    cri_predictor_free(cx, &w.fit);
    cr_scratch_end(&arena);
    return st;
}
