/* gaussian.c -- linear-Gaussian networks on the command line: described, converted. */
#include "gaussian.h"
#include "network.h"
#include "graph/files/json_network.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static size_t count_arcs(const cr_gaussian_network *net)
{
    size_t arcs = 0;
    for (size_t v = 0; v < cr_gaussian_network_size(net); v++)
        arcs += cr_gaussian_network_node(net, v).n;
    return arcs;
}

size_t cli_gaussian_parameters(const cr_gaussian_network *net)
{
    return 2 * cr_gaussian_network_size(net) + count_arcs(net);
}

/* "1 + 0.5 x - 2 y" */
static void put_formula(const cr_gaussian_network *net, size_t v, cri_sheet *row)
{
    cr_gaussian_node x = cr_gaussian_network_node(net, v);
    char             text[200], digits[32];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", out_number(x.intercept, false, digits));
    for (size_t i = 0; i < x.n && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %c %s %s",
                                 x.weights[i] < 0 ? '-' : '+',
                                 out_number(fabs(x.weights[i]), false, digits),
                                 cr_variable_name(cr_gaussian_network_names(net), x.parents[i]));
    if (used >= sizeof text) memcpy(text + sizeof text - 5, " ...", 5);
    cri_put_text(row, "formula", text);
}

static void put_variable(const cr_gaussian_network *net, size_t v, double mean, double sd,
                         cri_sheet *row)
{
    const cr_variables *vs = cr_gaussian_network_names(net);
    cr_gaussian_node    x = cr_gaussian_network_node(net, v);
    cri_put_text(row, "name", cr_variable_name(vs, v));
    cri_put_list(row, "states");
    cli_put_names(row, "parents", vs, x.parents, x.n);
    cri_put_text(row, "kind", "linear-gaussian");
    put_formula(net, v, row);
    cri_put_real(row, "variance", x.variance);
    cri_put_real(row, "mean", mean);
    cri_put_real(row, "sd", sd);
}

cr_status cli_describe_gaussian(cli *c, const cr_gaussian_network *net, cri_sheet *root)
{
    cr_status  st = CR_OK;
    size_t     n = cr_gaussian_network_size(net);
    cri_sheet *about = cri_put_object(root, "network"), *rows = cri_put_list(root, "variables");
    double    *mean = cr_alloc(c->cx, n, sizeof *mean);
    double    *cov = mean ? cr_alloc(c->cx, n * n, sizeof *cov) : NULL;
    if (!cov) CR_TRY(CR_ENOMEM);
    CR_TRY(cr_gaussian_network_joint(c->cx, net, mean, cr_mat_of(cov, n, n)));
    cri_put_text(about, "name", cr_gaussian_network_name(net));
    cri_put_text(about, "type", "gaussian");
    cri_put_count(about, "nodes", n);
    cri_put_count(about, "arcs", count_arcs(net));
    cri_put_count(about, "parameters", cli_gaussian_parameters(net));
    for (size_t v = 0; v < n; v++)
        put_variable(net, v, mean[v], sqrt(cov[v * (n + 1)]), cri_put_object(rows, NULL));
done:
    cr_free(c->cx, cov, n * n, sizeof *cov);
    cr_free(c->cx, mean, n, sizeof *mean);
    return st;
}

cr_status cli_convert_gaussian(cli *c, const cr_gaussian_network *net, const char *to,
                               cr_network_format format)
{
    if (format != CR_FORMAT_JSON && format != CR_FORMAT_CRED) {
        cr_fail(c->cx, CR_EARG, "%s is a Gaussian network, and only .json and .cred hold such",
                strcmp(c->args[0], "-") == 0 ? "stdin" : c->args[0]);
        return cr_fail_hint(c->cx, "end the name in .json or .cred, or give --to json");
    }
    return cr_gaussian_network_write(c->cx, net, strcmp(to, "-") == 0 ? "/dev/stdout" : to, format);
}
