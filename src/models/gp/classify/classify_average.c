/* classify_average.c -- settings of the hyper-parameters of a classifier, and their shares. */
#include "classify_average.h"
#include "models/common/softmax_normal.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "math/dense/dense.h"
#include "math/kernel/kernel_internal.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum {
    ROWS_EACH = 100, /* of a hyper-parameter: with fewer there is an average              */
    FEW_EACH = 15,   /* likewise: with fewer, its absence is worth a warning  */
    PAIRS = 32,      /* settings and their mirror images                        */
    ALL = 2 * PAIRS, /* settings of a round                                     */
    ROUNDS = 3,      /* at the most                                             */
};
static const double DOF = 5;          /* of the tails of the proposal                          */
static const double ENOUGH = 0.25;    /* share of the settings that are effective: no more rounds */
static const double CLOSE = 1e-4;     /* of sites, in sds: evidence is flat in them             */
static const double LEAST = 1e-5;     /* share of a setting that is kept                       */
static const double MOST_WORK = 1e10; /* operations that nobody has asked for                  */

/* --- rounds ---------------------------------------------------------------------------------- */

/* What settings are drawn from, and what became of them. */
typedef struct settings {
    const cri_gp_learning *learning;
    cri_laplace           *laplace;
    cri_ep                *opt_ep;
    cr_kernel             *k; /* overwritten */
    cri_gp_space           u;
    size_t                 n, m, *at;      /* inputs; parameters that are not at a bound: at [m] */
    double                *centre, *cov;   /* [size], [m x m]                                    */
    double                *points, *R, *t; /* [PAIRS x (m + 1)], [m x m], [m]                    */
    double                *theta;          /* [ALL x size]                                       */
    double                *share;          /* [ALL] first the logarithms, up to a constant       */
    double                *latent, *root;  /* [ALL x n]                                          */
    size_t                 evaluations;
    bool                   late;
} settings;

/* theta of setting i, and minus the log density of what it is drawn from. */
static double place(settings *s, size_t i)
{
    size_t        m = s->m;
    const double *z = s->points + i / 2 * (m + 1);
    double        sign = i % 2 ? -1 : 1, square = 0, *x = s->theta + i * s->u.size;
    double        below = fmin(fmax(cr_norm_cdf(sign * z[m]), 1e-6), 1 - 1e-6);
    double        stretch = sqrt(DOF / (2 * cr_gamma_p_inv(DOF / 2, below)));
    for (size_t j = 0; j < m; j++) {
        s->t[j] = sign * z[j] * stretch;
        square += s->t[j] * s->t[j];
    }
    memcpy(x, s->centre, s->u.size * sizeof *x);
    for (size_t j = 0; j < m; j++)
        for (size_t l = 0; l <= j; l++) x[s->at[j]] += s->R[j * m + l] * s->t[l];
    return 0.5 * (DOF + (double)m) * log1p(square / DOF);
}

/* Of EP: the sites of Laplace's normal at the setting of s->k, much nearer than those of another setting. */
static cr_status start_sites(cr_ctx *cx, settings *s)
{
    double value;
    if (!s->opt_ep) return CR_OK;
    cr_status st =
        cri_laplace_objective(cx, s->laplace, s->learning->problem, s->k, 0, &value, NULL);
    if (st == CR_OK) cri_ep_start(s->opt_ep);
    return st == CR_ENUMERIC ? CR_OK : st;
}

/* The log share of setting i, up to a constant; -INFINITY beyond the bounds and where there is no evidence. */
static cr_status weigh(cr_ctx *cx, settings *s, size_t i)
{
    cr_status     st = CR_OK;
    double        value, excess = place(s, i);
    const double *x = s->theta + i * s->u.size;
    s->share[i] = -INFINITY;
    for (size_t j = 0; j < s->u.size; j++)
        if (!(x[j] >= s->u.lower[j] && x[j] <= s->u.upper[j])) goto done;
    CR_TRY(cr_check_interrupt(cx));
    CR_TRY(cr_kernel_set_theta(cx, s->k, x));
    CR_TRY(start_sites(cx, s));
    st = s->learning->objective(cx, s->learning->workspace, s->learning->problem, s->k, 0, &value,
                                NULL);
    s->evaluations++;
    if (st == CR_ENUMERIC) {
        st = CR_OK;
        goto done;
    }
    CR_TRY(st);
    s->share[i] = value + cri_gp_log_prior(s->learning->prior, s->k, x, NULL) + excess;
    memcpy(s->latent + i * s->n, s->opt_ep ? s->opt_ep->b : s->laplace->a, s->n * sizeof(double));
    memcpy(s->root + i * s->n, s->opt_ep ? s->opt_ep->root : s->laplace->root,
           s->n * sizeof(double));
done:
    return st;
}

/* Shares that sum to one from their logarithms; the effective number, 0 where no setting has a share. */
static double normalise(double *share)
{
    double top = -INFINITY, sum = 0, square = 0;
    for (size_t i = 0; i < ALL; i++) top = fmax(top, share[i]);
    if (!isfinite(top)) return 0;
    for (size_t i = 0; i < ALL; i++) sum += share[i] = exp(share[i] - top);
    for (size_t i = 0; i < ALL; i++) {
        share[i] /= sum;
        square += share[i] * share[i];
    }
    return 1 / square;
}

/* One round from the centre and the covariance; *out_effective: 0 where the time ended it, too. */
static cr_status draw(cr_ctx *cx, settings *s, double *out_effective)
{
    cr_status st = CR_OK;
    double    begun = cri_seconds(), left = cri_time_left(cx);
    *out_effective = 0;
    memcpy(s->R, s->cov, s->m * s->m * sizeof *s->R);
    cri_factor_small(s->R, s->m);
    for (size_t i = 0; i < ALL; i++) {
        double each = i ? (cri_seconds() - begun) / (double)i : 0;
        s->late = isfinite(left) && each * (double)(ALL - i) > 0.5 * cri_time_left(cx);
        if (s->late) goto done;
        CR_TRY(weigh(cx, s, i));
    }
    *out_effective = normalise(s->share);
done:
    return st;
}

/* The centre and the covariance of the settings by their shares; the covariance of before counts as some more. */
static void follow(settings *s, double effective)
{
    size_t m = s->m, size = s->u.size;
    double own = effective / (effective + (double)m + 1);
    for (size_t j = 0; j < m; j++) {
        double mean = 0;
        for (size_t i = 0; i < ALL; i++) mean += s->share[i] * s->theta[i * size + s->at[j]];
        s->centre[s->at[j]] = mean;
    }
    for (size_t j = 0; j < m; j++)
        for (size_t l = 0; l < m; l++) {
            double sum = 0;
            for (size_t i = 0; i < ALL; i++)
                sum += s->share[i] * (s->theta[i * size + s->at[j]] - s->centre[s->at[j]]) *
                       (s->theta[i * size + s->at[l]] - s->centre[s->at[l]]);
            s->cov[j * m + l] = own * sum + (1 - own) * s->cov[j * m + l];
        }
}

/* --- what it starts from, and what is kept ---------------------------------------------------- */

/* Centre and covariance of the curvature at the optimum; m = 0 where there is none. */
static cr_status open(cr_ctx *cx, cr_scratch *scratch, settings *s)
{
    cr_status      st = CR_OK;
    size_t         p = cr_kernel_theta_size(s->k);
    cri_gp_laplace at = { .sd = cr_scratch_f64(scratch, p + 1),
                          .root = cr_scratch_matrix(scratch, p, p),
                          .log_integral = NAN };

    CR_TRY(cri_gp_space_new(scratch, s->k, s->learning->problem, s->learning->variance, 0, false,
                            &s->u));
    s->centre = cr_scratch_f64(scratch, p);
    s->at = cr_scratch_index(scratch, p);
    CR_TRY(scratch->status);
    CR_TRY(cri_gp_laplace_at(cx, s->learning, s->k, 0, &at));
    cr_kernel_theta(s->k, s->centre);
    for (size_t j = 0; !isnan(at.log_integral) && j < p; j++)
        if (cr_dot(at.root + j * p, at.root + j * p, p) > 0) s->at[s->m++] = j;
    size_t m = s->m;
    s->cov = cr_scratch_matrix(scratch, m, m);
    s->R = cr_scratch_matrix(scratch, m, m);
    s->t = cr_scratch_f64(scratch, m);
    s->points = cr_scratch_matrix(scratch, PAIRS, m + 1);
    s->theta = cr_scratch_matrix(scratch, ALL, p);
    s->share = cr_scratch_f64(scratch, ALL);
    s->latent = cr_scratch_matrix(scratch, ALL, s->n);
    s->root = cr_scratch_matrix(scratch, ALL, s->n);
    CR_TRY(scratch->status);
    for (size_t j = 0; j < m; j++)
        for (size_t l = 0; l < m; l++)
            s->cov[j * m + l] = cr_dot(at.root + s->at[j] * p, at.root + s->at[l] * p, p);
    cri_softmax_points(m + 1, PAIRS, s->points);
    cri_softmax_whiten(m + 1, PAIRS, s->points);
done:
    return st;
}

/* The settings that count go to the model. */
static cr_status keep(cr_ctx *cx, const settings *s, cri_classify *m)
{
    size_t count = 0, size = s->u.size, n = s->n, to = 0;
    double sum = 0;
    for (size_t i = 0; i < ALL; i++) count += s->share[i] >= LEAST;
    m->settings = count;
    m->n_theta = size;
    m->shares = cr_alloc(cx, count, sizeof(double));
    m->thetas = cr_alloc(cx, count * size, sizeof(double));
    m->latents = cr_alloc(cx, count * n, sizeof(double));
    m->roots = cr_alloc(cx, count * n, sizeof(double));
    if (!m->shares || !m->thetas || !m->latents || !m->roots) return CR_ENOMEM;
    for (size_t i = 0; i < ALL; i++) {
        if (!(s->share[i] >= LEAST)) continue;
        sum += m->shares[to] = s->share[i];
        memcpy(m->thetas + to * size, s->theta + i * size, size * sizeof(double));
        memcpy(m->latents + to * n, s->latent + i * n, n * sizeof(double));
        memcpy(m->roots + to++ * n, s->root + i * n, n * sizeof(double));
    }
    for (size_t i = 0; i < count; i++) m->shares[i] /= sum;
    m->gp.hyper = CRI_GP_HYPER_LAPLACE;
    return CR_OK;
}

/* Rounds until the shares are even enough, and no longer than they become more so. */
static cr_status average(cr_ctx *cx, settings *s, cri_classify *m)
{
    cr_status st = CR_OK;
    double    effective = 0;
    for (int round = 0; round < ROUNDS && s->m > 0 && effective < ENOUGH * ALL; round++) {
        if (round > 0) follow(s, effective);
        CR_TRY(draw(cx, s, &effective));
        if (effective == 0) break;
    }
    m->gp.evaluations += s->evaluations;
    if (effective > 0) {
        CR_TRY(keep(cx, s, m));
        goto done;
    }
    cr_log(cx, CR_LOG_WARNING,
           "gp-classify: %s: the hyper-parameters stay at their best values, and intervals may be "
           "too narrow",
           s->late ? "there is no time to average over hyper-parameters"
                   : "the evidence has no second derivatives at its best hyper-parameters");
done:
    return st;
}

/* Operations of a round and of the curvature, about: n^3 / 3 a step of Newton's, four times that a sweep of EP. */
static double work(const cri_classify_fit *f, size_t p)
{
    double steps = f->m->infer == CRI_CLASSIFY_EP ? 16 : 2;
    return (double)(ALL + 2 * p) * steps * pow((double)f->data.at->n, 3);
}

/* Whether the hyper-parameters are many for the rows; where they are very many, and an average over them would take
 * long, that is said. */
static bool is_open(cr_ctx *cx, const cri_classify_fit *f)
{
    double rows = f->m->gp.rows;
    size_t p = cr_kernel_theta_size(f->m->gp.kernel);
    if (p == 0 || (double)(ROWS_EACH * p) <= rows) return false;
    if (work(f, p) > MOST_WORK) {
        if ((double)(FEW_EACH * p) > rows)
            cr_log(
                cx, CR_LOG_WARNING,
                "%zu hyper-parameters are many for %.0f rows, and averaging over them would take "
                "long: intervals may be too narrow; --kernel rbf has one length-scale for all "
                "columns",
                p, rows);
        return false;
    }
    cr_log(
        cx, CR_LOG_INFO,
        "gp-classify: %zu hyper-parameters are many for %.0f rows: predictions are averaged over "
        "them; --hyper map keeps one value of each",
        p, rows);
    return true;
}

cr_status cri_classify_spread(cr_ctx *cx, cri_classify_fit *f, const cri_gp_learning *by)
{
    cr_status       st = CR_OK;
    cr_scratch      scratch = cr_scratch_begin(cx);
    cri_gp_learning learning = *by;
    bool            by_ep = f->m->infer == CRI_CLASSIFY_EP;
    cri_laplace     laplace;
    cri_ep          ep;
    settings        s = { .learning = &learning, .laplace = &laplace, .n = f->data.at->n };

    if (!is_open(cx, f)) goto done;
    CR_TRY(cri_laplace_new(&scratch, &f->data, s.n, NULL, NULL, &laplace));
    if (by_ep) CR_TRY(cri_ep_new(&scratch, &laplace, s.n, &ep));
    if (by_ep) ep.tolerance = CLOSE, s.opt_ep = &ep;
    learning.objective = by_ep ? cri_ep_objective : cri_laplace_objective;
    learning.workspace = by_ep ? (void *)&ep : &laplace;
    CR_TRY(cr_kernel_copy(cx, f->m->gp.kernel, &s.k));
    CR_TRY(open(cx, &scratch, &s));
    CR_TRY(average(cx, &s, f->m));
done:
    cr_kernel_free(cx, s.k);
    cr_scratch_end(&scratch);
    return st;
}
