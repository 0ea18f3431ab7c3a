/* network_figure.h -- a network as a picture: its graph in layers, and in every node the
 * distribution of its variable as bars, given what is known. */
#ifndef CREDENCE_PLOT_NETWORK_FIGURE_H
#define CREDENCE_PLOT_NETWORK_FIGURE_H

#include "graph/query/gaussian_query.h"
#include "models/core/model.h"

/* What is shown; all zeros: the marginals without evidence.  Of a Gaussian network findings are values
 * (gaussian_query.h). */
typedef struct cr_network_plot {
    const cr_question      *question; /* P(* | e), NULL: nothing is known               */
    const cr_findings      *more;     /* findings besides those of the question, or NULL */
    const cr_query_options *query;    /* how it is computed, NULL: the usual way         */
    const char             *title;    /* NULL: the name of the network                   */
    bool                    plain;    /* the graph alone: nothing is computed            */
} cr_network_plot;

/* Draws a network as SVG, whole or not at all.  Nodes with evidence are marked, and arcs that do()
 * has cut are dashed.  In a Markov network a table over two variables is a line, over more a small
 * square that is joined to its variables.  Of more than eight states the most probable are shown;
 * of more than 120 variables, each has a single bar in parts.  Fails as cr_query_run does, with
 * CR_EARG for a question that is not P(* | e), and with CR_EIO. */
CR_API cr_status cr_plot_network(cr_ctx *cx, const cr_network *net, const cr_network_plot *opt_p,
                                 const char *path);
/* The same as lines of text, `width` characters wide: the variables, causes before effects, each
 * with its parents (or neighbours) and bars; freed with cr_free(cx, text, strlen(text) + 1, 1). */
CR_API cr_status cr_plot_network_text(cr_ctx *cx, const cr_network *net,
                                      const cr_network_plot *opt_p, size_t width, char **out_text);

/* Draws a linear-Gaussian network as SVG: the weight on every arrow, in every node the mean, the
 * standard deviation and the density, over that without evidence.  Fails as cr_gaussian_query_run
 * does, with CR_EARG for a question that is not P(* | e), and with CR_EIO. */
CR_API cr_status cr_plot_gaussian(cr_ctx *cx, const cr_gaussian_network *net,
                                  const cr_network_plot *opt_p, const char *path);
/* The same as lines of text; freed with cr_free(cx, text, strlen(text) + 1, 1). */
CR_API cr_status cr_plot_gaussian_text(cr_ctx *cx, const cr_gaussian_network *net,
                                       const cr_network_plot *opt_p, size_t width, char **out_text);

/* Draws the network of a model, of either kind, as SVG.  opt_question is the text of P(* | e), opt_evidence JSON
 * (network_ask.h), opt_name what it is called where it has no name of its own.  Where the marginals would not
 * fit into memory the graph is drawn alone, with a warning.  CR_EUNSUPPORTED for a model without a network. */
CR_API cr_status cr_plot_model_network(cr_ctx *cx, const cr_model *model, const char *opt_question,
                                       const char *opt_evidence, const char *opt_name,
                                       const char *path);

#endif
