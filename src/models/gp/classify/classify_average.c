/* classify_average.c -- settings of the hyper-parameters of a classifier, and their shares. */
#include "classify_average.h"
#include "classify_cavity.h"
#include "models/common/softmax_normal.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/sort.h"
#include "math/dense/chol.h"
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
    ROUNDS = 4,      /* at the most                                             */
    MOST = ROUNDS * ALL,
    ENOUGH = 40,    /* effective settings: no more rounds                      */
    CAVITIES = 128, /* points that evidence of three or more classes is averaged over */
};
static const double DOF = 5;          /* of the tails of the proposal                          */
static const double CLOSE = 1e-4;     /* of sites, in sds: evidence is flat in them             */
static const double LEFT_OUT = 1e-3;  /* of the shares, the smallest: those are not kept          */
static const double MOST_WORK = 1e10; /* operations that nobody has asked for                  */

/* --- rounds ---------------------------------------------------------------------------------- */

/* What settings are drawn from, and what became of them. */
typedef struct settings {
    const cri_gp_learning *learning;
    cri_laplace           *laplace;
    cri_ep                *opt_ep;
    cri_svgp              *opt_bound;     /* in their place */
    double                *points, *work; /* of a bound: [CAVITIES x F], [4 F] */
    cr_kernel             *k;             /* overwritten */
    cri_gp_space           u;
    size_t  F, n, m, *at;  /* functions, inputs; parameters that are not at a bound: at [m] */
    double *cov;           /* [m x m] of the next round                          */
    double *centre, *R;    /* [ROUNDS x size], [ROUNDS x m x m] of each          */
    double *lattice, *t;   /* [ROUNDS x PAIRS x (m + 1)], [m]                    */
    double *theta;         /* [MOST x size]                                      */
    double *value, *share; /* [MOST] log of evidence times prior; shares         */
    double *latent, *root; /* [MOST x F n]                                       */
    size_t  rounds, evaluations;
    bool    late;
} settings;

/* theta of setting i of all, by what its round draws from. */
static void place(settings *s, size_t i)
{
    size_t        m = s->m, size = s->u.size, round = i / ALL;
    const double *z = s->lattice + i / 2 * (m + 1), *R = s->R + round * m * m;
    double        sign = i % 2 ? -1 : 1, *x = s->theta + i * size;
    double        below = fmin(fmax(cr_norm_cdf(sign * z[m]), 1e-6), 1 - 1e-6);
    double        stretch = sqrt(DOF / (2 * cr_gamma_p_inv(DOF / 2, below)));
    memcpy(x, s->centre + round * size, size * sizeof *x);
    for (size_t j = 0; j < m; j++)
        for (size_t l = 0; l <= j; l++) x[s->at[j]] += R[j * m + l] * sign * z[l] * stretch;
}

/* The log density at x of what a round draws from, up to a constant. */
static double log_density(const settings *s, size_t round, const double *x)
{
    size_t        m = s->m;
    const double *centre = s->centre + round * s->u.size, *R = s->R + round * m * m;
    double        square = 0, log_det = 0;
    for (size_t j = 0; j < m; j++) {
        double t = x[s->at[j]] - centre[s->at[j]];
        for (size_t l = 0; l < j; l++) t -= R[j * m + l] * s->t[l];
        s->t[j] = t / R[j * m + j];
        square += s->t[j] * s->t[j];
        log_det += log(R[j * m + j]);
    }
    return -0.5 * (DOF + (double)m) * log1p(square / DOF) - log_det;
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

/* What the normal of setting i is made of.  That of a bound has K^-1 + diag(lambda_c) as its precision. */
static cr_status remember(cr_ctx *cx, const settings *s, size_t i)
{
    cr_status       st = CR_OK;
    const cri_svgp *v = s->opt_bound;
    size_t          n = s->n, values = s->F * n;
    double         *latent = s->latent + i * values, *root = s->root + i * values;
    const double   *from = v ? v->mu : s->opt_ep ? s->opt_ep->b : s->laplace->a;
    memcpy(latent, from, values * sizeof *latent);
    if (!v) {
        memcpy(root, s->opt_ep ? s->opt_ep->root : s->laplace->root, values * sizeof *root);
        goto done;
    }
    for (size_t c = 0; c < s->F; c++)
        CR_TRY(cr_chol_backward(cx, cr_cmat_of(v->L, n, n), cr_mat_of(latent + c * n, n, 1)));
    for (size_t j = 0; j < values; j++) root[j] = sqrt(v->lambda[j]);
done:
    return st;
}

/* The log of evidence times prior at setting i; -INFINITY beyond the bounds and where there is no evidence. */
static cr_status value_at(cr_ctx *cx, settings *s, size_t i)
{
    cr_status     st = CR_OK;
    double        value;
    const double *x = s->theta + i * s->u.size;
    place(s, i);
    s->value[i] = -INFINITY;
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
    if (s->opt_bound) value = cri_svgp_evidence(s->opt_bound, s->points, CAVITIES, s->work);
    if (!isfinite(value)) goto done;
    s->value[i] = value + cri_gp_log_prior(s->learning->prior, s->k, x, NULL);
    CR_TRY(remember(cx, s, i));
done:
    return st;
}

/* Shares of the settings of all rounds, which sum to one: value by the density of the mixture that the rounds draw
 * from.  Returns their effective number, 0 where no setting has a share. */
static double weigh(settings *s)
{
    double top = -INFINITY, sum = 0, square = 0, density[ROUNDS];
    size_t count = s->rounds * ALL;
    for (size_t i = 0; i < count; i++) {
        s->share[i] = -INFINITY;
        if (!isfinite(s->value[i])) continue;
        for (size_t k = 0; k < s->rounds; k++)
            density[k] = log_density(s, k, s->theta + i * s->u.size);
        s->share[i] = s->value[i] - cr_logsumexp(density, s->rounds);
        top = fmax(top, s->share[i]);
    }
    if (!isfinite(top)) return 0;
    for (size_t i = 0; i < count; i++) sum += s->share[i] = exp(s->share[i] - top);
    for (size_t i = 0; i < count; i++) {
        s->share[i] /= sum;
        square += s->share[i] * s->share[i];
    }
    return 1 / square;
}

/* One more round from its centre and the covariance, unless the time ends it. */
static cr_status draw(cr_ctx *cx, settings *s)
{
    const double LEAST_SD = 1e-6;
    cr_status    st = CR_OK;
    double begun = cri_seconds(), left = cri_time_left(cx), *R = s->R + s->rounds * s->m * s->m;
    memcpy(R, s->cov, s->m * s->m * sizeof *R);
    cri_factor_small(R, s->m);
    for (size_t j = 0; j < s->m; j++) R[j * s->m + j] = fmax(R[j * s->m + j], LEAST_SD);
    for (size_t i = 0; i < ALL; i++) {
        double each = i ? (cri_seconds() - begun) / (double)i : 0;
        s->late = isfinite(left) && each * (double)(ALL - i) > 0.5 * cri_time_left(cx);
        if (s->late) goto done;
        CR_TRY(value_at(cx, s, s->rounds * ALL + i));
    }
    s->rounds++;
done:
    return st;
}

/* The next centre and the covariance are those of the settings by their shares; the covariance of before counts as some
 * more. */
static void follow(settings *s, double effective)
{
    size_t  m = s->m, size = s->u.size, count = s->rounds * ALL;
    double  own = effective / (effective + (double)m + 1);
    double *centre = s->centre + s->rounds * size;
    memcpy(centre, s->centre, size * sizeof *centre);
    for (size_t j = 0; j < m; j++) {
        double mean = 0;
        for (size_t i = 0; i < count; i++) mean += s->share[i] * s->theta[i * size + s->at[j]];
        centre[s->at[j]] = mean;
    }
    for (size_t j = 0; j < m; j++)
        for (size_t l = 0; l < m; l++) {
            double sum = 0;
            for (size_t i = 0; i < count; i++)
                sum += s->share[i] * (s->theta[i * size + s->at[j]] - centre[s->at[j]]) *
                       (s->theta[i * size + s->at[l]] - centre[s->at[l]]);
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
    s->centre = cr_scratch_matrix(scratch, ROUNDS, p);
    s->at = cr_scratch_index(scratch, p);
    CR_TRY(scratch->status);
    CR_TRY(cri_gp_laplace_at(cx, s->learning, s->k, 0, &at));
    cr_kernel_theta(s->k, s->centre);
    for (size_t j = 0; !isnan(at.log_integral) && j < p; j++)
        if (cr_dot(at.root + j * p, at.root + j * p, p) > 0) s->at[s->m++] = j;
    size_t m = s->m;
    s->cov = cr_scratch_matrix(scratch, m, m);
    s->R = cr_scratch_matrix(scratch, ROUNDS * m, m);
    s->t = cr_scratch_f64(scratch, m);
    s->lattice = cr_scratch_matrix(scratch, ROUNDS * PAIRS, m + 1);
    s->theta = cr_scratch_matrix(scratch, MOST, p);
    s->value = cr_scratch_f64(scratch, MOST);
    s->share = cr_scratch_f64(scratch, MOST);
    s->latent = cr_scratch_matrix(scratch, MOST, s->F * s->n);
    s->root = cr_scratch_matrix(scratch, MOST, s->F * s->n);
    CR_TRY(scratch->status);
    for (size_t j = 0; j < m; j++)
        for (size_t l = 0; l < m; l++)
            s->cov[j * m + l] = cr_dot(at.root + s->at[j] * p, at.root + s->at[l] * p, p);
    cri_softmax_points(m + 1, ROUNDS * PAIRS, s->lattice);
    for (size_t k = 0; k < ROUNDS; k++)
        cri_softmax_whiten(m + 1, PAIRS, s->lattice + k * PAIRS * (m + 1));
done:
    return st;
}

/* The largest share that is not kept. */
static double find_least(const settings *s, double *sorted)
{
    size_t count = s->rounds * ALL, i = 0;
    double sum = 0;
    memcpy(sorted, s->share, count * sizeof *sorted);
    cri_sort_doubles(sorted, count);
    while ((sum += sorted[i]) <= LEFT_OUT) i++;
    return i ? sorted[i - 1] : 0;
}

/* The settings that count go to the model. */
static cr_status keep(cr_ctx *cx, const settings *s, cri_classify *m)
{
    size_t all = s->rounds * ALL, count = 0, size = s->u.size, values = s->F * s->n, to = 0;
    double sum = 0, least = find_least(s, s->value);
    for (size_t i = 0; i < all; i++) count += s->share[i] > least;
    m->settings = count;
    m->n_theta = size;
    m->shares = cr_alloc(cx, count, sizeof(double));
    m->thetas = cr_alloc(cx, count * size, sizeof(double));
    m->n_values = values;
    m->latents = cr_alloc(cx, count * values, sizeof(double));
    m->roots = cr_alloc(cx, count * values, sizeof(double));
    if (!m->shares || !m->thetas || !m->latents || !m->roots) return CR_ENOMEM;
    for (size_t i = 0; i < all; i++) {
        if (!(s->share[i] > least)) continue;
        sum += m->shares[to] = s->share[i];
        memcpy(m->thetas + to * size, s->theta + i * size, size * sizeof(double));
        memcpy(m->latents + to * values, s->latent + i * values, values * sizeof(double));
        memcpy(m->roots + to++ * values, s->root + i * values, values * sizeof(double));
    }
    for (size_t i = 0; i < count; i++) m->shares[i] /= sum;
    m->gp.hyper = CRI_GP_HYPER_LAPLACE;
    return CR_OK;
}

/* Rounds until enough settings count. */
static cr_status average(cr_ctx *cx, settings *s, cri_classify *m)
{
    cr_status st = CR_OK;
    double    effective = 0;
    while (s->rounds < ROUNDS && s->m > 0 && !s->late && effective < ENOUGH) {
        if (s->rounds > 0) follow(s, effective);
        CR_TRY(draw(cx, s));
        if (!s->late) effective = weigh(s);
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

/* Operations of a round and of the curvature, about: n^3 / 3 a step of Newton's, four times that a sweep of EP; more
 * for each of several functions. */
static double work(const cri_classify_fit *f, size_t p)
{
    double steps = f->m->infer == CRI_CLASSIFY_EP ? 16 : f->m->F == 1 ? 2 : 20 * (double)f->m->F;
    return (double)(ALL + 2 * p) * steps * pow((double)f->data.at->n, 3);
}

/* Whether the hyper-parameters are many for the rows; where they are very many, and an average over them would take
 * long, that is said. */
static bool is_open(cr_ctx *cx, const cri_classify_fit *f)
{
    double rows = f->m->gp.rows;
    size_t p = cr_kernel_theta_size(f->m->gp.kernel);
    if (p == 0 || (double)(ROWS_EACH * p) <= rows) return false;
    if (work(f, p) > MOST_WORK || f->m->n < f->data.at->n) {
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
    cri_svgp        bound;
    size_t          F = f->m->F, n = f->data.at->n;
    settings        s = { .learning = &learning, .laplace = &laplace, .F = F, .n = n };

    if (!is_open(cx, f)) goto done;
    if (f->m->sparse) {
        double *L = cr_scratch_matrix(&scratch, n, n),
               *factor = cr_scratch_matrix(&scratch, F * n, n);
        CR_TRY(scratch.status);
        CR_TRY(cri_svgp_new(&scratch, &f->data, &f->m->gp.at, L, factor, &bound));
        learning.workspace = s.opt_bound = &bound;
        s.points = cr_scratch_matrix(&scratch, CAVITIES, F);
        s.work = cr_scratch_f64(&scratch, 4 * F);
        CR_TRY(scratch.status);
        cri_softmax_points(F, CAVITIES, s.points);
        cri_softmax_whiten(F, CAVITIES, s.points);
    } else {
        CR_TRY(cri_laplace_new(&scratch, &f->data, n, NULL, NULL, &laplace));
        if (by_ep) CR_TRY(cri_ep_new(&scratch, &laplace, n, &ep));
        if (by_ep) ep.tolerance = CLOSE, s.opt_ep = &ep;
        learning.objective = by_ep ? cri_ep_objective : cri_laplace_objective;
        learning.workspace = by_ep ? (void *)&ep : &laplace;
    }
    CR_TRY(cr_kernel_copy(cx, f->m->gp.kernel, &s.k));
    CR_TRY(open(cx, &scratch, &s));
    CR_TRY(average(cx, &s, f->m));
done:
    cr_kernel_free(cx, s.k);
    cr_scratch_end(&scratch);
    return st;
}
