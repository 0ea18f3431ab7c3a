/* glm_predict.c -- the predictive distribution of a generalised linear model, and intervals of its mean: those of the
 * linear predictor, eta -+ t sd(eta), through the link. */
#include "glm_state.h"
#include "base/scratch.h"
#include "data/table/table_internal.h"
#include "math/special/special.h"
#include "math/constants.h"

#include <math.h>

/* Of a binomial's mean, where its parameters would vanish. */
static const double LEAST_SHARE = 1e-290;

static cri_glm_law law_of(const cri_glm *m)
{
    return (cri_glm_law){ (cri_glm_family)m->family, (cri_glm_link)m->link, m->alpha };
}

/* A gamma distribution has no t beside it as the normal has: the variance of a new row is taken as many times larger
 * as the square of t's quantile is than that of the normal, at 95 %. */
cri_glm_spread cri_glm_find_spread(const cri_glm *m)
{
    cri_glm_spread out = { m->fit.dof, 1, 1 };
    if (m->spread_dof == 0) return out;
    out.wider = pow(cr_student_t_ppf(0.975, m->spread_dof) / CRI_Z95, 2);
    if (m->fit.robust || !(m->phi > 0)) return out;
    out.dof = m->spread_dof;
    out.scale = sqrt(m->row_dispersion / m->phi);
    return out;
}

/* The parameters of a distribution with the mean at eta and these variances, of an observation (one
 * trial of a binomial) and of the mean as estimated; its variance is given back.  `least` keeps what
 * should be above 0 there. */
static double set_params(const cri_glm *m, double eta, double mu, double own, double estimate,
                         double trials, double *params)
{
    const double least = 1e-12;
    double       total = own + estimate, extra;
    switch ((cri_glm_family)m->family) {
    case CRI_GLM_POISSON:
    case CRI_GLM_NEGATIVE_BINOMIAL:
        extra = fmax(total - mu, least * mu * mu); /* beyond a Poisson's */
        params[0] = mu;
        params[1] = mu * mu / extra;
        return mu + extra;
    case CRI_GLM_GAMMA:
        params[0] = mu * mu / total;
        params[1] = mu / total;
        return total;
    case CRI_GLM_INVERSE_GAUSSIAN:
        params[0] = mu;
        params[1] = mu * mu * mu / total;
        return total;
    default: { /* binomial: the variance of the share, estimate and dispersion beyond the binomial's */
        double rest = fmax(cri_link_rest((cri_glm_link)m->link, eta), LEAST_SHARE);
        double v = mu * rest, share = estimate;
        if (trials > 1) share += fmax(own - v, 0) / (trials - 1);
        share = fmin(fmax(share, least * v), v * (1 - 1e-9));
        double strength = v / share - 1;
        params[0] = trials;
        params[1] = mu * strength;
        params[2] = rest * strength;
        return trials * v + trials * (trials - 1) * share;
    }
    }
}

static cr_status allocate_family(cr_ctx *cx, const cri_glm *m, cr_prediction *out)
{
    switch ((cri_glm_family)m->family) {
    case CRI_GLM_GAUSSIAN:
        return CR_OK;
    case CRI_GLM_BINOMIAL:
        return cri_prediction_family(cx, out, "beta-binomial", 3);
    case CRI_GLM_GAMMA:
        return cri_prediction_family(cx, out, "gamma", 2);
    case CRI_GLM_INVERSE_GAUSSIAN:
        return cri_prediction_family(cx, out, "inverse-gaussian", 2);
    default:
        return cri_prediction_family(cx, out, "negative-binomial", 2);
    }
}

/* From eta (in out->mean) and its leverage to the predictive distribution of row i. */
static void set_row(const cri_glm *m, double wider, size_t i, double eta, double h, double trials,
                    cr_prediction *out)
{
    cri_glm_law law = law_of(m);
    bool        binomial = m->family == CRI_GLM_BINOMIAL;
    double      mu = cri_link_mean(law.link, eta), slope = cri_link_slope(law.link, eta);
    if (binomial) mu = fmin(fmax(mu, LEAST_SHARE), 1);
    out->mean[i] = binomial ? trials * mu : mu;
    if (!out->scale) return;
    double phi = isnan(m->row_dispersion) ? m->phi : m->row_dispersion, variance;
    double own = wider * phi * cri_family_variance(&law, eta);
    double estimate = wider * (m->spread_dof == 0 ? m->phi : phi) * h * slope * slope;
    if (m->family == CRI_GLM_GAUSSIAN) {
        out->scale[i] = sqrt(own + estimate);
        out->dof[i] = m->fit.dof;
        return;
    }
    variance = set_params(m, eta, mu, own, estimate, trials, out->params + i * out->n_params);
    out->scale[i] = sqrt(variance);
    out->dof[i] = INFINITY;
}

/* Room for eta of n rows in the arena. */
static cr_prediction new_eta(cr_scratch *s, size_t n)
{
    return (cr_prediction){ .n = n,
                            .mean = cr_scratch_f64(s, n),
                            .scale = cr_scratch_f64(s, n),
                            .dof = cr_scratch_f64(s, n),
                            .leverage = cr_scratch_f64(s, n) };
}

/* eta of rows, with the offset, and its leverage where eta->scale is there; trials [n]. */
static cr_status find_eta(cr_ctx *cx, const cri_glm *m, const cri_rows *rows, cr_prediction *eta,
                          double *trials)
{
    cr_status st = CR_OK;
    CR_TRY(cri_predictor_predict(cx, &m->fit, rows, eta));
    if (m->varying.groups > 0) CR_TRY(cri_varying_predict(cx, &m->varying, &m->fit, rows, eta));
    for (size_t i = 0; i < rows->n; i++) {
        double offset;
        CR_TRY(cri_glm_offset_of(cx, rows, i, &offset));
        CR_TRY(cri_glm_trials_of(cx, rows, i, trials + i));
        eta->mean[i] += offset;
    }
done:
    return st;
}

static cr_status check_mean(cr_ctx *cx, const cri_glm *m, const cri_rows *rows, size_t i,
                            double eta)
{
    cri_glm_law law = law_of(m);
    char        where[512];
    if (m->family == CRI_GLM_BINOMIAL || cri_family_has_mean(law.family, law.link, eta))
        return CR_OK;
    return cr_fail(
        cx, CR_ENUMERIC, "%s: the predicted mean is %g, which is not in the range of the family",
        cri_table_where(rows->table, rows->index ? rows->index[i] : i, where, sizeof where),
        cri_link_mean(law.link, eta));
}

cr_status cri_glm_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    cr_status      st = CR_OK;
    const cri_glm *m = state;
    cr_scratch     s = cr_scratch_begin(cx);
    cr_prediction  eta = new_eta(&s, rows->n);
    double        *trials = cr_scratch_f64(&s, rows->n), wider = cri_glm_find_spread(m).wider;

    CR_TRY(s.status);
    if (!out->scale) eta.scale = NULL; /* the means alone */
    CR_TRY(find_eta(cx, m, rows, &eta, trials));
    if (out->scale) CR_TRY(allocate_family(cx, m, out));
    for (size_t i = 0; i < rows->n; i++) {
        CR_TRY(check_mean(cx, m, rows, i, eta.mean[i]));
        set_row(m, wider, i, eta.mean[i], eta.leverage[i], trials[i], out);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- intervals of the mean ------------------------------------------------------------------- */

/* The range of the mean of eta within [from, to]; beyond the values of eta that have a mean it is that at
 * their end.  1 / eta of the Gaussian passes through infinity where eta does through 0. */
static void mean_range(const cri_glm_law *law, double from, double to, double *lower, double *upper)
{
    double low, high, a, b;
    cri_link_domain(law->family, law->link, &low, &high);
    a = cri_link_mean(law->link, fmin(fmax(from, low), high));
    b = cri_link_mean(law->link, fmin(fmax(to, low), high));
    *lower = fmin(a, b);
    *upper = fmax(a, b);
    if (isnan(from + to)) *lower = *upper = NAN;
    if (law->link == CRI_LINK_INVERSE && low < 0 && from <= 0 && to >= 0)
        *lower = -INFINITY, *upper = INFINITY;
}

cr_status cri_glm_mean_intervals(cr_ctx *cx, const void *state, const cri_rows *rows, double level,
                                 double *lower, double *upper)
{
    cr_status      st = CR_OK;
    const cri_glm *m = state;
    cri_glm_law    law = law_of(m);
    cr_scratch     s = cr_scratch_begin(cx);
    cr_prediction  eta = new_eta(&s, rows->n);
    double        *trials = cr_scratch_f64(&s, rows->n);
    cri_glm_spread spread = cri_glm_find_spread(m);
    double         wider = m->fit.robust ? 1 : spread.scale;

    CR_TRY(s.status);
    CR_TRY(find_eta(cx, m, rows, &eta, trials));
    CR_TRY(cri_predictor_drop_noise(cx, &m->fit, rows, &eta));
    for (size_t i = 0; i < rows->n; i++) {
        double dof = m->varying.groups > 0 ? eta.dof[i] : spread.dof;
        double half = cr_student_t_ppf((1 + level) / 2, dof) * wider * eta.scale[i];
        CR_TRY(check_mean(cx, m, rows, i, eta.mean[i]));
        mean_range(&law, eta.mean[i] - half, eta.mean[i] + half, lower + i, upper + i);
        if (m->family == CRI_GLM_BINOMIAL) lower[i] *= trials[i], upper[i] *= trials[i];
    }
done:
    cr_scratch_end(&s);
    return st;
}
