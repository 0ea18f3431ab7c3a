/* gda.c -- Gaussian discriminant analysis: from moments to densities, description, file. */
#include "gda.h"
#include "base/scratch.h"

#include <math.h>

CRI_RECORD_TABLE(, cri_gda_record, cri_gda, CRI_GDA_STATE);

cr_status cri_gda_solve(cr_ctx *cx, const cr_design *design, const cri_discriminant_options *o,
                        cri_gda *g, cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *workspace = cr_scratch_matrix(&s, g->moments.p, g->moments.p);

    CR_TRY(s.status);
    report->stop = CR_STOP_CLOSED_FORM;
    CR_TRY(cri_discriminant_make(cx, design, &g->moments, o, &g->d));
    CR_TRY(cri_discriminant_log_likelihood(cx, &g->d, &g->moments, workspace,
                                           &report->log_likelihood));
done:
    cr_scratch_end(&s);
    return st;
}

void cri_gda_reopen(cr_ctx *cx, void *state) { cri_discriminant_free(cx, &((cri_gda *)state)->d); }

cr_status cri_gda_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    const cri_gda *g = state;
    return cri_discriminant_predict(cx, &g->d, g->moments.mean, rows, out->prob);
}

cr_status cri_gda_log_joint(cr_ctx *cx, const void *state, const cri_rows *rows, double *out)
{
    const cri_gda *g = state;
    return cri_discriminant_log_joint(cx, &g->d, g->moments.mean, rows, out);
}

bool cri_gda_doubt(cr_ctx *cx, const cr_design *design, const void *state)
{
    return cri_class_moments_doubt(cx, design, &((const cri_gda *)state)->moments);
}

/* --- describe -------------------------------------------------------------------------------- */

/* Whether term j is the same in every row: the variance it is given then is not one of the data. */
static bool is_constant(const cri_class_moments *m, size_t j)
{
    double mean = 0, n = 0, total = 0;
    for (size_t k = 0; k < m->K; k++)
        n += m->weight[k], mean += m->weight[k] * m->mean[k * m->p + j];
    mean /= n;
    for (size_t k = 0; k < m->K; k++) {
        double d = m->mean[k * m->p + j] - mean;
        if (m->weight[k] > 0) total += m->weight[k] * d * d + cri_class_scatter(m, k)[j * m->p + j];
    }
    return !(total > 1e-26 * n * mean * mean);
}

const cr_field cri_gda_statistics[] = {
    CR_TEXT("covariance", 0, "pooled or per class"),
    CR_NUMBER("shrinkage", CR_FIELD_NULL, "shrinkage of the covariances towards their diagonals"),
    CR_NUMBER("pool", CR_FIELD_EITHER, "of per class: share of the pooled covariance"),
    CR_NUMBER("jitter", CR_FIELD_EITHER, "amount added to the diagonal, if it was needed"),
    CR_TEXT("predictive", 0, "bayes: averaged over the parameters; plugin: at their estimate"),
    CRI_PRIOR_FIELDS,
    CR_FIELD_LAST,
};

cr_status cri_gda_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out)
{
    const cri_gda          *g = state;
    const cri_discriminant *d = &g->d;
    cri_sheet              *list = cri_put_list(out, "parameters"), *s;
    for (size_t k = 0; k < d->K; k++)
        for (size_t j = 0; j < d->p; j++) {
            double     n = g->moments.weight[k], mean = n > 0 ? g->moments.mean[k * d->p + j] : NAN;
            double     spread = is_constant(&g->moments, j)
                                    ? 0
                                    : sqrt(d->variance[(d->groups == 1 ? 0 : k) * d->p + j]);
            cri_sheet *row =
                cri_parameter_add(list, mean, spread / sqrt(n), "%s | %s",
                                  cr_design_term_name(design, j), cr_design_class(design, k));
            cri_put_real(row, "spread", spread);
        }
    s = cri_put_object(out, "statistics");
    cri_put_text(s, "covariance", d->groups == 1 ? "pooled" : "per class");
    cri_put_real(s, "shrinkage", d->shrinkage);
    if (d->groups > 1) cri_put_real(s, "pool", d->pool);
    if (d->jitter > 0) cri_put_real(s, "jitter", d->jitter);
    cri_put_text(s, "predictive", d->bayes ? "bayes" : "plugin");
    cri_priors_describe(design, g->moments.weight, d->log_prior, s);
    (void)cx;
    return CR_OK;
}

/* --- file ------------------------------------------------------------------------------------- */

static cr_status check_state(const cri_gda *g, bool pooled, const cr_design *design)
{
    bool fits = cri_class_moments_fit(&g->moments, pooled, design) &&
                cri_discriminant_fits(&g->d, &g->moments);
    return fits ? CR_OK : CR_EDATA;
}

cr_status cri_gda_ready_pooled(cr_ctx *cx, void *state, const cr_design *design)
{
    (void)cx;
    return check_state(state, true, design);
}

cr_status cri_gda_ready_each(cr_ctx *cx, void *state, const cr_design *design)
{
    (void)cx;
    return check_state(state, false, design);
}
