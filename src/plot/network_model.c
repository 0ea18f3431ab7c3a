/* network_model.c -- the network of a model as a picture. */
#include "network_view.h"
#include "models/core/network_model.h"

#include <string.h>

const char *cri_network_title(cri_any_network any, const char *otherwise)
{
    const char *name = any.methods->name(any.net);
    return name[0] && strcmp(name, "unknown") != 0 ? name : otherwise;
}

cr_status cri_plot_fitting(cr_ctx *cx, cri_any_network any, cr_network_plot *p,
                           const char *opt_path, size_t width, char **out_text)
{
    cr_status st = opt_path ? cri_plot_any(cx, any, p, opt_path)
                            : cri_plot_any_text(cx, any, p, width, out_text);
    if (st != CR_ENOMEM || p->plain) return st;
    cr_log(cx, CR_LOG_WARNING, "drawn without bars: %s", cr_error(cx));
    p->plain = true;
    return cri_plot_fitting(cx, any, p, opt_path, width, out_text);
}

cr_status cr_plot_model_network(cr_ctx *cx, const cr_model *model, const char *opt_question,
                                const char *opt_evidence, const char *opt_name, const char *path)
{
    cr_status       st = CR_OK;
    cri_any_network any;
    cr_question    *q = NULL;
    cr_findings     more = { 0 };
    cr_network_plot p = { .more = &more };
    if (!cri_model_network(model, &any))
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no network",
                       cr_class_name(cr_model_get_class(model))));
    if (opt_question) CR_TRY(any.methods->parse(cx, any.net, opt_question, &q));
    if (opt_evidence)
        CR_TRY(any.methods->parse_findings(cx, &more, any.net, "the evidence", opt_evidence,
                                           strlen(opt_evidence)));
    p.question = q;
    p.title = cri_network_title(any, opt_name ? opt_name : "");
    CR_TRY(cri_plot_fitting(cx, any, &p, path, 0, NULL));
done:
    cr_question_free(cx, q);
    cr_findings_free(cx, &more);
    return st;
}
