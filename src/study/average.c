/* average.c -- weights of models, and the mixture of their predictions. */
#include "average_internal.h"
#include "base/hash.h"
#include "models/core/class.h"
#include "models/core/describe.h"

#include <math.h>
#include <string.h>

const char *cr_weight_basis_name(cr_weight_basis basis)
{
    static const char *const names[] = { "none", "evidence", "bic" };
    return names[basis];
}

/* --- weights --------------------------------------------------------------------------------- */

static double statistic(const cri_sheet *d, const char *name)
{
    return cri_sheet_real(cri_sheet_get(cri_sheet_get(d, "statistics"), name));
}

cr_status cr_fit_scores_of(cr_ctx *cx, const cr_model *model, cr_fit_scores *out)
{
    const cr_report *r = cr_model_get_report(model);
    cri_sheet       *d = NULL;
    cr_status        st = cri_model_describe(cx, model, &d);
    if (st != CR_OK) return st;
    const char *unknown =
        cri_sheet_text(cri_sheet_get(cri_sheet_get(d, "statistics"), "unknown_start"));
    *out = (cr_fit_scores){ .log_likelihood = r->log_likelihood,
                            .log_evidence = r->log_evidence,
                            .aic = statistic(d, "aic"),
                            .bic = statistic(d, "bic"),
                            .evidence = r->evidence,
                            .rows = r->rows,
                            .joint = cr_model_get_class(model)->joint,
                            .unknown = unknown ? cri_hash_text(unknown, strlen(unknown)) : 0 };
    cri_sheet_free(d);
    return CR_OK;
}

static cr_weight_basis find_basis(const cr_fit_scores *m, size_t n)
{
    size_t evidence = 0, bic = 0, same = 0;
    for (size_t k = 0; k < n; k++) {
        bool has_evidence = isfinite(m[k].log_evidence), has_bic = isfinite(m[k].bic);
        evidence += has_evidence, bic += has_bic;
        same += m[k].rows == m[0].rows && m[k].joint == m[0].joint && m[k].unknown == m[0].unknown;
    }
    if (same < n) return CR_WEIGHTS_NONE;
    return evidence == n ? CR_WEIGHTS_EVIDENCE : bic == n ? CR_WEIGHTS_BIC : CR_WEIGHTS_NONE;
}

static double log_weight(const cr_fit_scores *m, cr_weight_basis basis)
{
    return basis == CR_WEIGHTS_EVIDENCE ? m->log_evidence : -m->bic / 2;
}

cr_weight_basis cr_model_weights(const cr_fit_scores *m, size_t n, double *out)
{
    cr_weight_basis basis = find_basis(m, n);
    double          most = -INFINITY, sum = 0;
    for (size_t k = 0; k < n; k++) out[k] = basis ? log_weight(&m[k], basis) : NAN;
    for (size_t k = 0; k < n; k++) most = fmax(most, out[k]);
    for (size_t k = 0; k < n; k++) sum += out[k] = exp(out[k] - most);
    for (size_t k = 0; k < n; k++) out[k] /= sum;
    return basis;
}

/* --- predictions ----------------------------------------------------------------------------- */

static cr_status check_parts(cr_ctx *cx, const cr_prediction *a, const cr_prediction *b)
{
    bool same = a->kind == b->kind && a->n_classes == b->n_classes &&
                (a->kind == CR_ANSWER_NUMBER || a->kind == CR_ANSWER_CLASS);
    for (size_t k = 0; same && k < a->n_classes; k++)
        same = strcmp(a->classes[k], b->classes[k]) == 0;
    return same ? CR_OK
                : cr_fail(cx, CR_EARG,
                          "only models that predict numbers, or the same classes, can be "
                          "averaged");
}

cr_status cri_mixture_open(cr_ctx *cx, const cr_model *const *models, const double *weights,
                           size_t n, const cr_table *t, cri_mixture *out)
{
    cr_status st = CR_OK;
    *out = (cri_mixture){ .n = n, .weights = weights };
    if (n == 0) return cr_fail(cx, CR_EARG, "there is no model to average");
    out->parts = cr_alloc(cx, n, sizeof *out->parts);
    if (!out->parts) return CR_ENOMEM;
    for (size_t k = 0; k < n; k++) {
        if (!(weights[k] >= 0))
            CR_TRY(cr_fail(cx, CR_EARG, "the weight of model %zu is not a number of 0 or more",
                           k + 1));
        CR_TRY(cr_predict(cx, models[k], t, &out->parts[k]));
        CR_TRY(check_parts(cx, &out->parts[0], &out->parts[k]));
    }
done:
    return st;
}

void cri_mixture_free(cr_ctx *cx, cri_mixture *m)
{
    for (size_t k = 0; m->parts && k < m->n; k++) cr_prediction_free(cx, &m->parts[k]);
    cr_free(cx, m->parts, m->n, sizeof *m->parts);
    m->parts = NULL;
}

bool cri_mixture_has(const cri_mixture *m, size_t i)
{
    for (size_t k = 0; k < m->n; k++) {
        const cr_prediction *p = &m->parts[k];
        if (isnan(p->mean ? p->mean[i] : p->prob[i * p->n_classes])) return false;
    }
    return true;
}

static double variance_of(const cr_prediction *p, size_t i)
{
    double dof = p->dof[i], s = p->scale[i];
    if (isinf(dof)) return s * s;
    return dof > 2 ? s * s * dof / (dof - 2) : isnan(s) ? NAN : INFINITY;
}

void cri_mixture_moments(const cri_mixture *m, size_t i, double *out_mean, double *out_sd)
{
    double mean = 0, variance = 0;
    for (size_t k = 0; k < m->n; k++) mean += m->weights[k] * m->parts[k].mean[i];
    for (size_t k = 0; k < m->n; k++) { /* within the models, and between them */
        double d = m->parts[k].mean[i] - mean;
        if (m->weights[k] > 0) variance += m->weights[k] * (variance_of(&m->parts[k], i) + d * d);
    }
    *out_mean = mean;
    *out_sd = sqrt(variance);
}

/* Room for an answer like those of the parts. */
static cr_status allocate_like(cr_ctx *cx, const cr_prediction *like, cr_prediction *p)
{
    *p = (cr_prediction){
        .kind = like->kind, .n = like->n, .n_classes = like->n_classes, .classes = like->classes
    };
    if (p->kind == CR_ANSWER_CLASS) {
        p->prob = cr_alloc(cx, p->n * p->n_classes, sizeof(double));
        return p->prob ? CR_OK : CR_ENOMEM;
    }
    p->mean = cr_alloc(cx, p->n, sizeof(double));
    p->scale = cr_alloc(cx, p->n, sizeof(double));
    p->dof = cr_alloc(cx, p->n, sizeof(double));
    return p->mean && p->scale && p->dof ? CR_OK : CR_ENOMEM;
}

static void mix_row(const cri_mixture *m, size_t i, cr_prediction *p)
{
    bool known = cri_mixture_has(m, i);
    for (size_t c = 0; c < p->n_classes; c++) {
        double sum = 0;
        for (size_t k = 0; k < m->n; k++)
            sum += m->weights[k] * m->parts[k].prob[i * p->n_classes + c];
        p->prob[i * p->n_classes + c] = known ? sum : NAN;
    }
    if (!p->mean) return;
    p->mean[i] = p->scale[i] = p->dof[i] = NAN;
    if (!known) return;
    cri_mixture_moments(m, i, &p->mean[i], &p->scale[i]);
    p->dof[i] = INFINITY;
}

cr_status cr_average_predict(cr_ctx *cx, const cr_model *const *models, const double *weights,
                             size_t n, const cr_table *t, cr_prediction *out)
{
    cr_status     st = CR_OK;
    cri_mixture   m = { 0 };
    cr_prediction p = { 0 };
    CR_TRY(cri_mixture_open(cx, models, weights, n, t, &m));
    CR_TRY(allocate_like(cx, &m.parts[0], &p));
    for (size_t i = 0; i < p.n; i++) mix_row(&m, i, &p);
    *out = p;
    p = (cr_prediction){ 0 };
done:
    cr_prediction_free(cx, &p);
    cri_mixture_free(cx, &m);
    return st;
}
