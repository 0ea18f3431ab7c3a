/* plot_network.c -- plot: a network with the marginals of its variables. */
#include "network.h"
#include "plot/network_view.h"

#include <string.h>

enum { TEXT_WIDTH = 76 };

/* The name of the network, or that of its file where it has none that says something. */
static const char *find_title(const cli *c, const char *name)
{
    const char *slash = strrchr(c->args[0], '/');
    if (name[0] && strcmp(name, "unknown") != 0) return name;
    return slash ? slash + 1 : c->args[0];
}

/* To the path, or as text without one. */
static cr_status draw(cli *c, cri_any_network any, cr_network_plot *p, const char *opt_path,
                      char **out_text)
{
    cr_status st = opt_path ? cri_plot_any(c->cx, any, p, opt_path)
                            : cri_plot_any_text(c->cx, any, p, TEXT_WIDTH, out_text);
    if (st != CR_ENOMEM || p->plain) return st;
    cr_log(c->cx, CR_LOG_WARNING, "drawn without bars: %s", cr_error(c->cx));
    p->plain = true;
    return draw(c, any, p, opt_path, out_text);
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
    p.title = find_title(c, any.methods->name(any.net));
    if (path && c->global.strict) CR_TRY(draw(c, any, &p, "/dev/null", &text)); /* as save_figure */
    CR_TRY(cli_check_strict(c));
    CR_TRY(draw(c, any, &p, path, &text));
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
