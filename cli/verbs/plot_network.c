/* plot_network.c -- plot: a network with the marginals of its variables. */
#include "network.h"
#include "plot/network_view.h"

#include <string.h>

enum { TEXT_WIDTH = 76 };

/* The end of a path. */
static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

cr_status cli_plot_network(cli *c, const char *opt_evidence)
{
    cr_status       st = CR_OK;
    cr_model       *m = NULL;
    cri_any_network any;
    cr_question    *q = NULL;
    cr_findings     more = { 0 };
    cr_network_plot p = { .more = &more };
    char           *text = NULL;
    const char     *path = c->global.output;
    if (path && strcmp(path, "-") == 0) path = "/dev/stdout";
    CR_TRY(cli_read_network(c, 0, CR_FORMAT_AUTO, &m, &any));
    if (c->n_args > 1) CR_TRY(any.methods->parse(c->cx, any.net, c->args[1], &q));
    if (opt_evidence) CR_TRY(any.methods->read_findings(c->cx, &more, any.net, opt_evidence));
    p.question = q;
    p.title = cri_network_title(any, file_name(c->args[0]));
    if (path && c->global.strict) /* as save_figure */
        CR_TRY(cri_plot_fitting(c->cx, any, &p, "/dev/null", TEXT_WIDTH, &text));
    CR_TRY(cli_check_strict(c));
    CR_TRY(cri_plot_fitting(c->cx, any, &p, path, TEXT_WIDTH, &text));
    CR_TRY(cli_check_strict(c));
    if (text) {
        CR_TRY(out_open(c, NULL));
        out_safe(c, text, "\n");
    }
done:
    if (text) cr_free(c->cx, text, strlen(text) + 1, 1);
    cr_question_free(c->cx, q);
    cr_findings_free(c->cx, &more);
    cr_model_free(c->cx, m);
    return st;
}
