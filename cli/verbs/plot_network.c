/* plot_network.c -- plot: a network with the marginals of its variables. */
#include "network.h"
#include "plot/network_figure.h"

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
static cr_status draw(cli *c, const cr_network *net, cr_network_plot *p, const char *opt_path,
                      char **out_text)
{
    cr_status st = opt_path ? cr_plot_network(c->cx, net, p, opt_path)
                            : cr_plot_network_text(c->cx, net, p, TEXT_WIDTH, out_text);
    if (st != CR_ENOMEM || p->plain) return st;
    cr_log(c->cx, CR_LOG_WARNING, "drawn without bars: %s", cr_error(c->cx));
    p->plain = true;
    return draw(c, net, p, opt_path, out_text);
}

static cr_status plot_gaussian(cli *c, const cr_gaussian_network *net, const char *opt_evidence,
                               const char *opt_path, char **out_text)
{
    cr_status          st = CR_OK;
    cr_gaussian_values more = { 0 };
    cr_gaussian_plot   p = { .question = c->n_args > 1 ? c->args[1] : NULL, .more = &more };
    p.title = find_title(c, cr_gaussian_network_name(net));
    if (opt_evidence) CR_TRY(cr_gaussian_values_read(c->cx, net, opt_evidence, &more));
    CR_TRY(cli_check_strict(c));
    CR_TRY(opt_path ? cr_plot_gaussian(c->cx, net, &p, opt_path)
                    : cr_plot_gaussian_text(c->cx, net, &p, TEXT_WIDTH, out_text));
done:
    cr_gaussian_values_free(c->cx, &more);
    return st;
}

cr_status cli_plot_network(cli *c, const char *opt_evidence)
{
    cr_status            st = CR_OK;
    cr_network          *net = NULL;
    cr_question         *q = NULL;
    cr_gaussian_network *gaussian = NULL;
    cr_findings          more = { 0 };
    cr_network_plot      p = { .more = &more };
    char                *text = NULL;
    const char          *path = c->global.output;
    if (path && strcmp(path, "-") == 0) path = "/dev/stdout";
    CR_TRY(cli_read_either(c, 0, CR_FORMAT_AUTO, &net, &gaussian));
    if (gaussian) {
        CR_TRY(plot_gaussian(c, gaussian, opt_evidence, path, &text));
        goto show;
    }
    if (c->n_args > 1) CR_TRY(cr_question_parse(c->cx, net, c->args[1], &q));
    if (opt_evidence) CR_TRY(cr_findings_read(c->cx, &more, net, opt_evidence));
    p.question = q;
    p.title = find_title(c, cr_network_name(net));
    if (path && c->global.strict) CR_TRY(draw(c, net, &p, "/dev/null", &text)); /* as save_figure */
    CR_TRY(cli_check_strict(c));
    CR_TRY(draw(c, net, &p, path, &text));
    CR_TRY(cli_check_strict(c));
show:
    if (text) {
        CR_TRY(out_open(c, NULL));
        out_safe(c, text, "\n");
    }
done:
    if (text) cr_free(c->cx, text, strlen(text) + 1, 1);
    cr_question_free(c->cx, q);
    cr_findings_free(c->cx, &more);
    cr_network_free(c->cx, net);
    cr_gaussian_network_free(c->cx, gaussian);
    return st;
}
