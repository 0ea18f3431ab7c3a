/* glm_precisions.c -- the scale of weights that are precisions, there and back. */
#include "glm_precisions.h"
#include "math/special/special.h"

#include <math.h>

cr_status cri_glm_check_precisions(cr_ctx *cx, const cri_rows *rows, bool fixed_dispersion)
{
    if (cri_design_varying(rows->design) != SIZE_MAX)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "--weights-are precisions cannot be combined with varying intercepts");
    if (!fixed_dispersion) return CR_OK;
    cr_fail(cx, CR_EARG,
            "--weights-are precisions needs a dispersion that is estimated, but here it is fixed "
            "at 1");
    return cr_fail_hint(cx, "add --dispersion pearson");
}

cri_precisions cri_glm_scale_precisions(const cri_rows *rows, double *weight)
{
    cri_precisions p = cri_precisions_of_rows(rows);
    cri_precisions_scale_rows(&p, rows, weight);
    return p;
}

/* Newton's steps in log t, as for rows that count once (glm.c); below 1e-5 by
 * log a - digamma(a) = 1 / 2a + 1 / 12a^2, which does not cancel. */
double cri_glm_gamma_dispersion(const double *weight, size_t n, double deviance)
{
    double rows = 0, inverse = 0;
    for (size_t i = 0; i < n; i++)
        if (weight[i] > 0) rows++, inverse += 1 / weight[i];
    if (deviance < 2e-5 * rows)
        return deviance / (rows / 2 + sqrt(rows * rows / 4 + inverse * deviance / 6));
    double t = 1.5 * rows / deviance;
    for (int step = 0; isfinite(t) && step < 100; step++) {
        double off = -deviance / 2, slope = 0;
        for (size_t i = 0; i < n; i++) {
            double a = weight[i] * t;
            if (!(a > 0)) continue;
            off += weight[i] * (log(a) - cr_digamma(a));
            slope += weight[i] * (1 - a * cr_trigamma(a));
        }
        double next = t * exp(-off / slope);
        if (!(fabs(next - t) > 1e-14 * t)) break;
        t = next;
    }
    return 1 / t;
}

void cri_glm_restore_precisions(const cri_precisions *p, cri_glm *m, double *weight, size_t n)
{
    double c = p->rows / p->weight;
    for (size_t i = 0; i < n; i++) weight[i] /= c;
    m->phi /= c;
    m->ml_dispersion /= c;
    m->row_dispersion /= c;
    m->deviance /= c;
    m->null_deviance /= c;
    m->pearson /= c;
    cri_precisions_restore_fit(p, &m->fit);
}
