/* measures.c -- deviances, Pearson's chi-square and likelihood of generalised linear models. */
#include "measures.h"
#include "models/core/rows_check.h"
#include "base/parallel.h"
#include "math/kernel/array.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 512 };

/* What a row of one trial adds to the null model where it has no offset. */
typedef struct null_row {
    bool   known;
    double deviance, score, information;
} null_row;

typedef struct sums {
    const cri_glm_problem *p;
    const cri_glm_law     *law;
    const double          *eta; /* [n] */
    double                 phi;
    double                 level;  /* of the null model: eta = level + offset */
    null_row               row[2]; /* of y = 0 and y = 1 */
} sums;

/* --- of the fit ------------------------------------------------------------------------------ */

enum { DEVIANCE, PEARSON, EXTREME, COMPOUND, MEASURES }; /* COMPOUND: rows that are not one trial */
static const double NO_SHARE = 1e-9;

static void add_measures_row(const sums *s, size_t i, double *acc)
{
    const cri_glm_problem *p = s->p;
    double                 m = p->weight[i] * p->trials[i], eta = s->eta[i], e;
    if (m == 0) return;
    e = cri_family_residual(s->law, p->y[i], eta);
    acc[DEVIANCE] += m * cri_family_deviance(s->law, p->y[i], eta);
    acc[PEARSON] += m * e * e / cri_family_variance(s->law, eta);
    if (s->law->family != CRI_GLM_BINOMIAL) return;
    acc[EXTREME] +=
        fmin(cri_link_mean(s->law->link, eta), cri_link_rest(s->law->link, eta)) < NO_SHARE;
    acc[COMPOUND] += p->trials[i] != 1 || (p->y[i] != 0 && p->y[i] != 1);
}

/* Logits of outcomes 0 and 1: with e = exp(-|eta|) an outcome that was the likelier one adds
 * 2 log(1 + e) and e, the other one 2 (log(1 + e) + |eta|) and 1 / e. */
static void add_measures_logits(const sums *s, cri_range range, double *acc)
{
    const cri_glm_problem *p = s->p;
    double                 e[BLOCK], d[BLOCK];
    size_t                 n = range.end - range.begin;
    for (size_t k = 0; k < n; k++) e[k] = -fabs(s->eta[range.begin + k]);
    cri_exp_array(e, n);
    memcpy(d, e, n * sizeof *d);
    cri_log1p_array(d, n);
    for (size_t k = 0; k < n; k++) {
        size_t i = range.begin + k;
        double m = p->weight[i] * p->trials[i], eta = s->eta[i];
        if (m == 0) continue;
        bool likelier = eta > 0 ? p->y[i] == 1 : p->y[i] == 0;
        acc[DEVIANCE] += 2 * m * (likelier ? d[k] : d[k] + fabs(eta));
        acc[PEARSON] += m * (likelier ? e[k] : 1 / e[k]);
        acc[EXTREME] += e[k] < NO_SHARE * (1 + e[k]);
        acc[COMPOUND] += p->trials[i] != 1;
    }
}

static void add_measures(void *arg, cri_range range, double *acc)
{
    const sums   *s = arg;
    const double *y = s->p->y;
    bool          logits = s->law->family == CRI_GLM_BINOMIAL && s->law->link == CRI_LINK_LOGIT;
    for (size_t i = range.begin; logits && i < range.end; i++) logits = y[i] == 0 || y[i] == 1;
    if (logits) add_measures_logits(s, range, acc);
    for (size_t i = range.begin; !logits && i < range.end; i++) add_measures_row(s, i, acc);
}

cr_status cri_glm_measure(cr_ctx *cx, const cri_glm_problem *p, const cri_glm_law *law,
                          const double *eta, cri_glm_measures *out)
{
    sums      s = { .p = p, .law = law, .eta = eta };
    double    acc[MEASURES];
    cr_status st = cri_parallel_sum(cx, NULL, p->rows->n, BLOCK, MEASURES, add_measures, &s, acc);
    if (st != CR_OK) return st;
    *out = (cri_glm_measures){ .deviance = acc[DEVIANCE],
                               .pearson = acc[PEARSON],
                               .extreme = acc[EXTREME],
                               .single = law->family == CRI_GLM_BINOMIAL && acc[COMPOUND] == 0 };
    return CR_OK;
}

static void add_log_densities(void *arg, cri_range range, double *acc)
{
    const sums            *s = arg;
    const cri_glm_problem *p = s->p;
    bool                   precise = p->precise && !cri_family_is_fixed(p->family);
    for (size_t i = range.begin; i < range.end; i++) {
        double w = p->weight[i], phi = precise ? s->phi / w : s->phi;
        if (w > 0)
            acc[0] += (precise ? 1 : w) *
                      cri_family_log_density(s->law, phi, p->trials[i], p->y[i], s->eta[i]);
    }
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

/* --- of the null model ----------------------------------------------------------------------- */

static null_row null_row_of(const sums *s, double y, double eta)
{
    bool has_mean = cri_family_has_mean(s->law->family, s->law->link, eta);
    return (null_row){ .known = true,
                       .deviance = has_mean ? cri_family_deviance(s->law, y, eta) : NAN,
                       .score = cri_family_score(s->law, y, eta),
                       .information = cri_family_information(s->law, eta) };
}

/* acc: deviance, score, information of the null model. */
static void add_null(void *arg, cri_range range, double *acc)
{
    const sums            *s = arg;
    const cri_glm_problem *p = s->p;
    for (size_t i = range.begin; i < range.end; i++) {
        double m = p->weight[i] * p->trials[i], y = p->y[i];
        if (m == 0) continue;
        bool     usual = p->offset[i] == 0 && (y == 0 || y == 1) && s->row[y == 1].known;
        null_row row = usual ? s->row[y == 1] : null_row_of(s, y, s->level + p->offset[i]);
        acc[0] += m * row.deviance;
        acc[1] += m * row.score;
        acc[2] += m * row.information;
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
        for (int y = 0; y < 2; y++)
            if (cri_family_allows(law->family, y)) s.row[y] = null_row_of(&s, y, s.level);
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

void cri_glm_warn_of_perfect_fit(cr_ctx *cx, const cri_glm_problem *p, double deviance)
{
    double square = 0;
    bool   varies = false;
    if (p->family != CRI_GLM_GAUSSIAN) return;
    for (size_t i = 0; i < p->rows->n; i++) {
        square += p->weight[i] * p->y[i] * p->y[i];
        varies = varies || p->y[i] != p->y[0];
    }
    if (varies && deviance <= 1e-26 * square) cri_warn_of_perfect_fit(cx);
}
