/* measures.c -- deviances, Pearson's chi-square and likelihood of generalised linear models. */
#include "measures.h"
#include "../../base/parallel.h"

#include <math.h>

enum { BLOCK = 512 };

typedef struct sums {
    const cri_glm_problem *p;
    const cri_glm_law     *law;
    const double          *eta; /* [n] */
    double                 phi;
    double                 level; /* of the null model: eta = level + offset */
} sums;

static void add_measures(void *arg, cri_range range, double *acc)
{
    const sums            *s = arg;
    const cri_glm_problem *p = s->p;
    for (size_t i = range.begin; i < range.end; i++) {
        double m = p->weight[i] * p->trials[i], e;
        if (m == 0) continue;
        acc[0] += m * cri_family_deviance(s->law, p->y[i], s->eta[i]);
        e = cri_family_residual(s->law, p->y[i], s->eta[i]);
        acc[1] += m * e * e / cri_family_variance(s->law, s->eta[i]);
    }
}

cr_status cri_glm_measure(cr_ctx *cx, const cri_glm_problem *p, const cri_glm_law *law,
                          const double *eta, double *out_deviance, double *out_pearson)
{
    sums      s = { .p = p, .law = law, .eta = eta };
    double    out[2];
    cr_status st = cri_parallel_sum(cx, NULL, p->rows->n, BLOCK, 2, add_measures, &s, out);
    if (st == CR_OK) *out_deviance = out[0], *out_pearson = out[1];
    return st;
}

static void add_log_densities(void *arg, cri_range range, double *acc)
{
    const sums            *s = arg;
    const cri_glm_problem *p = s->p;
    for (size_t i = range.begin; i < range.end; i++)
        if (p->weight[i] > 0)
            acc[0] += p->weight[i] *
                      cri_family_log_density(s->law, s->phi, p->trials[i], p->y[i], s->eta[i]);
}

cr_status cri_glm_log_likelihood(cr_ctx *cx, const cri_glm_problem *p, const cri_glm_law *law,
                                 double phi, const double *eta, double *out)
{
    sums s = { .p = p, .law = law, .eta = eta, .phi = phi };
    return cri_parallel_sum(cx, NULL, p->rows->n, BLOCK, 1, add_log_densities, &s, out);
}

double cri_glm_mean_of_target(const cri_glm_problem *p)
{
    double sum = 0, weight = 0;
    for (size_t i = 0; i < p->rows->n; i++) {
        sum += p->weight[i] * p->trials[i] * p->y[i];
        weight += p->weight[i] * p->trials[i];
    }
    return sum / weight;
}

/* acc: deviance, score, information of the null model. */
static void add_null(void *arg, cri_range range, double *acc)
{
    const sums            *s = arg;
    const cri_glm_problem *p = s->p;
    for (size_t i = range.begin; i < range.end; i++) {
        double eta = s->level + p->offset[i], m = p->weight[i] * p->trials[i];
        if (m == 0) continue;
        bool has_mean = cri_family_has_mean(s->law->family, s->law->link, eta);
        acc[0] += has_mean ? m * cri_family_deviance(s->law, p->y[i], eta) : NAN;
        acc[1] += m * cri_family_score(s->law, p->y[i], eta);
        acc[2] += m * cri_family_information(s->law, eta);
    }
}

/* With an intercept: Fisher's scoring in one unknown. */
cr_status cri_glm_null_deviance(cr_ctx *cx, const cri_glm_problem *p, const cri_glm_law *law,
                                double *out)
{
    cr_status st = CR_OK;
    sums      s = { .p = p, .law = law };
    double    sum[3] = { NAN };
    if (p->intercept) s.level = cri_link_of_mean(law->link, cri_glm_mean_of_target(p));
    for (int step = 0; isfinite(s.level) && step < 100; step++) { /* not finite: all 0, or all 1 */
        CR_TRY(cri_parallel_sum(cx, NULL, p->rows->n, BLOCK, 3, add_null, &s, sum));
        double gradient = sum[1], information = sum[2];
        if (!p->intercept || isnan(sum[0]) ||
            fabs(gradient) <= 1e-12 * sqrt(information * (sum[0] + 1e-300)))
            break;
        s.level += gradient / information;
    }
    *out = sum[0];
done:
    return st;
}
