/* glm_predict.c -- the predictive distribution of a generalised linear model. */
#include "glm_state.h"
#include "base/scratch.h"
#include "data/table/table_internal.h"

#include <math.h>

/* Of a binomial's mean, where its parameters would vanish. */
static const double LEAST_SHARE = 1e-290;

static cri_glm_law law_of(const cri_glm *m)
{
    return (cri_glm_law){ (cri_glm_family)m->family, (cri_glm_link)m->link, m->alpha };
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
static void set_row(const cri_glm *m, size_t i, double eta, double h, double trials,
                    cr_prediction *out)
{
    cri_glm_law law = law_of(m);
    bool        binomial = m->family == CRI_GLM_BINOMIAL;
    double      mu = cri_link_mean(law.link, eta), slope = cri_link_slope(law.link, eta);
    if (binomial) mu = fmin(fmax(mu, LEAST_SHARE), 1);
    out->mean[i] = binomial ? trials * mu : mu;
    if (!out->scale) return;
    double estimate = m->phi * h * slope * slope, variance;
    double own =
        (isnan(m->row_dispersion) ? m->phi : m->row_dispersion) * cri_family_variance(&law, eta);
    if (m->family == CRI_GLM_GAUSSIAN) {
        out->scale[i] = sqrt(own + estimate);
        out->dof[i] = m->fit.dof;
        return;
    }
    variance = set_params(m, eta, mu, own, estimate, trials, out->params + i * out->n_params);
    out->scale[i] = sqrt(variance);
    out->dof[i] = INFINITY;
}

cr_status cri_glm_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    cr_status      st = CR_OK;
    const cri_glm *m = state;
    cri_glm_law    law = law_of(m);
    cr_scratch     s = cr_scratch_begin(cx);
    cr_prediction  eta = { .n = rows->n,
                           .mean = cr_scratch_f64(&s, rows->n),
                           .scale = cr_scratch_f64(&s, rows->n),
                           .dof = cr_scratch_f64(&s, rows->n),
                           .leverage = cr_scratch_f64(&s, rows->n) };
    CR_TRY(s.status);
    if (!out->scale) eta.scale = NULL; /* the means alone */
    CR_TRY(cri_predictor_predict(cx, &m->fit, rows, &eta));
    if (m->varying.groups > 0) CR_TRY(cri_varying_predict(cx, &m->varying, &m->fit, rows, &eta));
    if (out->scale) CR_TRY(allocate_family(cx, m, out));
    for (size_t i = 0; i < rows->n; i++) {
        double offset, trials, mu;
        char   where[512];
        CR_TRY(cri_glm_offset_of(cx, rows, i, &offset));
        CR_TRY(cri_glm_trials_of(cx, rows, i, &trials));
        mu = cri_link_mean(law.link, eta.mean[i] + offset);
        if (m->family != CRI_GLM_BINOMIAL &&
            !cri_family_has_mean(law.family, law.link, eta.mean[i] + offset))
            CR_TRY(cr_fail(
                cx, CR_ENUMERIC,
                "%s: the predicted mean is %g, which is not in the range of the family",
                cri_table_where(rows->table, rows->index ? rows->index[i] : i, where, sizeof where),
                mu));
        set_row(m, i, eta.mean[i] + offset, eta.leverage[i], trials, out);
    }
done:
    cr_scratch_end(&s);
    return st;
}
