/* classify_state.c -- life, description and file of a fitted Gaussian process classifier. */
#include "classify.h"
#include "models/logistic/classifier.h"
#include "base/context_internal.h"

CRI_RECORD_TABLE(, cri_classify_record, cri_classify, CRI_CLASSIFY);

static const char *const link_names[] = { "logit", "probit", "softmax" };
static const char *const infer_names[] = { "laplace", "ep", "bound" };
static const char *const hyper_names[] = { "best", "map", "laplace" }; /* cri_gp_hyper_kind */

/* --- life ------------------------------------------------------------------------------------ */

cr_status cri_classify_allocate(cr_ctx *cx, cri_classify *m, bool with_factor)
{
    m->n = m->gp.at.n;
    if (with_factor) {
        m->fn = m->F * m->n;
        m->factor = cr_alloc(cx, m->fn * m->n, sizeof(double));
        if (!m->factor) return cr_error_status(cx);
    }
    return cri_record_allocate(cx, cri_classify_record, m);
}

cr_status cri_classify_name(cr_ctx *cx, cri_classify *m, const cr_design *design)
{
    static const char *const kinds[] = { "latent_mean", "latent_sd" };
    m->labels = cr_alloc(cx, 2 * m->F, sizeof *m->labels);
    if (!m->labels) return CR_ENOMEM;
    for (size_t j = 0; j < 2 * m->F; j++) {
        size_t      k = cri_classifier_class(m->place, m->K, j / 2);
        const char *name = cr_design_class(design, k);
        m->labels[j] = m->F == 1 ? cri_string_copy(cx, kinds[j])
                                 : cri_string_format(cx, "%s:%s", kinds[j % 2], name);
        if (!m->labels[j]) return CR_ENOMEM;
    }
    return CR_OK;
}

void cri_classify_release(cr_ctx *cx, void *state)
{
    cri_classify *m = state;
    for (size_t j = 0; m->labels && j < 2 * m->F; j++) cri_string_free(cx, m->labels[j]);
    cr_free(cx, m->labels, 2 * m->F, sizeof *m->labels);
    cri_gp_release(cx, &m->gp);
}

/* --- describe -------------------------------------------------------------------------------- */

const cr_field cri_classify_statistics[] = {
    CR_TEXT("kernel", 0, "the covariance function with its hyper-parameters"),
    CR_TEXT("units", 0,
            "units of the hyper-parameters: those of the data, or of standardised columns"),
    CR_TEXT("likelihood", 0, "the link: logit, probit or softmax"),
    CR_TEXT("latent_above_0", CR_FIELD_SOMETIMES,
            "of two classes: the one favoured by a latent value above 0"),
    CR_TEXT("infer", 0, "laplace, ep or bound: the method that --infer auto chose"),
    CR_TEXT("approx", 0, "laplace, ep or svgp"),
    CR_COUNT("distinct_inputs", 0, "rows with different inputs"),
    CR_COUNT("inducing_inputs", CR_FIELD_SOMETIMES, "of svgp"),
    CR_MEASURE("log_likelihood", "nats", CR_FIELD_NULL,
               "at the mode of the latent values (ep: at their mean; svgp: expected)"),
    CR_NUMBER("jitter", CR_FIELD_NULL, "amount added to the diagonal of the covariance, if needed"),
    CR_TEXT("hyper", CR_FIELD_SOMETIMES,
            "of learned hyper-parameters: best or map, or laplace if predictions are averaged"),
    CR_COUNT("hyper_settings", CR_FIELD_SOMETIMES,
             "of laplace: settings of the hyper-parameters that predictions are averaged over"),
    CR_NUMBER("hyper_ess", CR_FIELD_SOMETIMES,
              "of laplace: effective number of these, 1 / sum of the squares of their shares"),
    CR_COUNT("starts", 0, "runs of the search"),
    CR_COUNT("starts_agreed", 0, "number of these that ended at the best optimum"),
    CR_COUNT("evaluations", 0, "of the evidence"),
    CR_TEXT("at_bound", CR_FIELD_SOMETIMES, "hyper-parameters at a bound of their range"),
    CR_FIELD_LAST,
};

/* What became of learned hyper-parameters. */
static void add_hyper(const cri_classify *m, cri_sheet *s)
{
    double square = 0;
    cri_put_text(s, "hyper", hyper_names[m->gp.hyper]);
    if (!m->settings) return;
    for (size_t k = 0; k < m->settings; k++) square += m->shares[k] * m->shares[k];
    cri_put_count(s, "hyper_settings", m->settings);
    cri_put_real(s, "hyper_ess", 1 / square);
}

static void add_statistics(const cri_classify *m, const cr_design *design, cri_sheet *s)
{
    cri_put_text(s, "kernel", m->gp.formula);
    cri_put_text(s, "units", cri_gp_units(design));
    cri_put_text(s, "likelihood", link_names[m->link]);
    if (m->F == 1)
        cri_put_text(s, "latent_above_0",
                     cr_design_class(design, cri_classifier_class(m->place, m->K, 0)));
    cri_put_text(s, "infer", infer_names[m->sparse ? CRI_CLASSIFY_BOUND : m->infer]);
    cri_put_text(s, "approx", m->sparse ? "svgp" : infer_names[m->infer]);
    cri_put_count(s, "distinct_inputs", (size_t)m->distinct);
    if (m->sparse) cri_put_count(s, "inducing_inputs", m->n);
    cri_put_real(s, "log_likelihood", m->log_likelihood);
    cri_put_real(s, "jitter", m->gp.jitter);
    if (m->gp.starts) add_hyper(m, s);
    cri_gp_describe_search(&m->gp, s);
}

cr_status cri_classify_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                cri_sheet *out)
{
    const cri_classify *m = state;
    cri_sheet          *list = cri_put_list(out, "parameters");
    cri_gp_describe_kernel(&m->gp, list);
    cri_gp_report_elements(m->gp.kernel, design, list);
    add_statistics(m, design, cri_put_object(out, "statistics"));
    (void)cx;
    return CR_OK;
}

/* --- file ------------------------------------------------------------------------------------ */

/* true where all is there that an average over settings takes, or nothing. */
static bool has_settings(const cri_classify *m)
{
    bool all = m->shares && m->thetas && m->latents && m->roots;
    bool some = m->shares || m->thetas || m->latents || m->roots;
    return m->settings ? all && (m->F > 1 || !m->sparse) && m->n_values == m->F * m->n : !some;
}

static bool is_valid(const cri_classify *m, const cr_design *design)
{
    size_t C = m->F == 1 ? 2 : m->F, seen = 0;
    bool   valid = m->K == cr_design_classes(design) && C <= m->K && m->n == m->gp.at.n &&
                 (m->link == CRI_CLASSIFY_SOFTMAX) == (m->F > 1) &&
                 (m->infer == CRI_CLASSIFY_LAPLACE || /* files of before have no other */
                  (m->infer == CRI_CLASSIFY_BOUND) == m->sparse) &&
                 (m->infer != CRI_CLASSIFY_EP || m->F == 1) && has_settings(m) &&
                 m->gp.hyper <= CRI_GP_HYPER_LAPLACE;
    for (size_t k = 0; valid && k < m->K; k++) {
        valid = m->place[k] < (double)C;
        seen += m->place[k] >= 0;
    }
    return valid && seen == C && !m->factor == (m->F == 1 && !m->sparse) &&
           (!m->factor || m->fn == m->F * m->n);
}

cr_status cri_classify_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_classify *m = state;
    cr_status     st = is_valid(m, design) ? cri_gp_ready(cx, &m->gp, design) : CR_EDATA;
    if (st == CR_OK && m->settings && m->n_theta != m->gp.n_theta) st = CR_EDATA;
    return st == CR_OK ? cri_classify_name(cx, m, design) : st;
}
