/* classify_state.c -- life, description and file of a fitted Gaussian process classifier. */
#include "classify.h"
#include "../linear/predictor.h"
#include "../logistic/classifier.h"
#include "../../base/context_internal.h"
#include "../../base/scratch.h"

#include <math.h>
#include <string.h>

#define CRI_TYPE cri_classify
const cri_member cri_classify_record[] = { CRI_CLASSIFY(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

static const char *const link_names[] = { "logit", "probit", "softmax" };

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

/* A parameter of the kernel; sd is that of its logarithm where it is positive. */
static cr_status add_parameter(cr_ctx *cx, const cri_gp_posterior *g, size_t i, json_t *list)
{
    cr_status           st = CR_OK;
    json_t             *item = json_object();
    cr_kernel_parameter p = cr_kernel_parameter_at(g->kernel, i);
    double              sd = p.theta < g->n_theta ? g->sd[p.theta] : NAN;
    bool                positive = p.lower >= 0 && p.upper > 1;
    double              half = positive ? 1.959963984540054 * sd : NAN;
    if (json_array_append_new(list, item) != 0) return cr_fail(cx, CR_ENOMEM, "out of memory");
    CR_TRY(cri_store_set(cx, item, "name", json_string_nocheck(p.name)));
    CR_TRY(cri_store_set(cx, item, "value", cri_json_number(p.value)));
    CR_TRY(cri_store_set(cx, item, "sd", cri_json_number(positive ? p.value * sd : sd)));
    CR_TRY(cri_store_set(cx, item, "lower", cri_json_number(p.value * exp(-half))));
    CR_TRY(cri_store_set(cx, item, "upper", cri_json_number(p.value * exp(half))));
done:
    return st;
}

static cr_status add_statistics(cr_ctx *cx, const cri_classify *m, const cr_design *design,
                                json_t *s)
{
    cr_status               st = CR_OK;
    const cri_gp_posterior *g = &m->gp;
    bool                    scaled = false;
    for (size_t j = 0; j < design->p; j++) scaled |= design->scale[j] != 1 || design->shift[j] != 0;
    CR_TRY(cri_store_set(cx, s, "kernel", json_string_nocheck(g->formula)));
    CR_TRY(cri_store_set(cx, s, "units", json_string(scaled ? "standardised features" : "data")));
    CR_TRY(cri_store_set(cx, s, "likelihood", json_string(link_names[m->link])));
    if (m->F == 1)
        CR_TRY(cri_store_set(
            cx, s, "latent_above_0",
            json_string_nocheck(cr_design_class(design, cri_classifier_class(m->place, m->K, 0)))));
    CR_TRY(cri_store_set(cx, s, "approx", json_string(m->sparse ? "svgp" : "laplace")));
    CR_TRY(cri_store_set(cx, s, "distinct_inputs", json_integer((json_int_t)m->distinct)));
    if (m->sparse) CR_TRY(cri_store_set(cx, s, "inducing_inputs", json_integer((json_int_t)m->n)));
    CR_TRY(cri_store_set(cx, s, "log_likelihood", cri_json_number(m->log_likelihood)));
    CR_TRY(cri_store_set(cx, s, "jitter", cri_json_number(g->jitter)));
    CR_TRY(cri_store_set(cx, s, "starts", json_integer((json_int_t)g->starts)));
    CR_TRY(cri_store_set(cx, s, "starts_agreed", json_integer((json_int_t)g->agreed)));
    CR_TRY(cri_store_set(cx, s, "evaluations", json_integer((json_int_t)g->evaluations)));
    if (g->at_bound[0]) CR_TRY(cri_store_set(cx, s, "at_bound", json_string_nocheck(g->at_bound)));
done:
    return st;
}

cr_status cri_classify_describe(cr_ctx *cx, const void *state, const cr_design *design, json_t *out)
{
    cr_status           st = CR_OK;
    const cri_classify *m = state;
    json_t             *list, *statistics;
    CR_TRY(cri_store_set(cx, out, "parameters", list = json_array()));
    for (size_t i = 0; i < cr_kernel_parameters(m->gp.kernel); i++)
        if (!cr_kernel_parameter_at(m->gp.kernel, i).given)
            CR_TRY(add_parameter(cx, &m->gp, i, list));
    CR_TRY(cri_gp_tell_elements(cx, m->gp.kernel, design, list));
    CR_TRY(cri_store_set(cx, out, "statistics", statistics = json_object()));
    CR_TRY(add_statistics(cx, m, design, statistics));
done:
    return st;
}

/* --- file ------------------------------------------------------------------------------------ */

static bool is_valid(const cri_classify *m, const cr_design *design)
{
    size_t C = m->F == 1 ? 2 : m->F, seen = 0;
    bool   valid = m->K == cr_design_classes(design) && C <= m->K && m->n == m->gp.at.n &&
                 (m->link == CRI_CLASSIFY_SOFTMAX) == (m->F > 1);
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
    return st == CR_OK ? cri_classify_name(cx, m, design) : st;
}
