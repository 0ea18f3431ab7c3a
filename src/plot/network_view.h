/* network_view.h -- what a picture of a network shows, whatever it is drawn with.
 * (Internal header.) */
#ifndef CREDENCE_PLOT_NETWORK_VIEW_H
#define CREDENCE_PLOT_NETWORK_VIEW_H

#include "network_figure.h"
#include "graph/query/methods.h"

enum { CRI_VIEW_STATES = 8 }; /* shown of one variable, at the most */

typedef struct cri_view_row {
    const char *state;
    double      p;        /* NaN: not known */
    bool        observed; /* the state that evidence says it is in */
} cri_view_row;

typedef struct cri_view_node {
    size_t            variable; /* CR_NONE: a table of a Markov network */
    const char       *name;
    const cr_finding *known; /* NULL: nothing */
    cri_view_row     *row;   /* [rows]; the last one may stand for all others */
    size_t            rows;
    const char       *text;                        /* of a Gaussian variable: "15 ± 3" */
    double            mean, sd, before, before_sd; /* of it; without what is known */
} cri_view_node;

typedef struct cri_view_arc {
    size_t      from, to; /* nodes */
    bool        cut;      /* by do() */
    const char *label;    /* NULL: none */
    bool        open;     /* the other way fits the data as well */
    double      strength; /* probability that the two are joined */
} cri_view_arc;

typedef struct cri_network_view {
    const cr_network *net;
    bool              directed, bars;
    bool              gaussian; /* means and standard deviations in place of rows */
    cri_view_node    *node;     /* [n]; the variables come first */
    size_t            n;
    cri_view_arc     *arc; /* [m]; from comes before to in some order */
    size_t            m;
    cr_findings       known;        /* of the question, and more; freed by cri_view_close */
    double            log_evidence; /* NaN: not known */
    bool              exact;
    cr_network       *graph; /* net, if it was made for this; freed by cri_view_close */
} cri_network_view;

/* Asks for the marginals and gathers what is to be drawn; memory is the arena's but for `known`. */
cr_status cri_view_open(cr_scratch *s, cri_any_network any, const cr_network_plot *opt_p,
                        cri_network_view *out);
void      cri_view_close(cr_ctx *cx, cri_network_view *v);
/* "28.4 %"; never "100 %" or "0 %" for what is not. */
void cri_view_percent(double p, char out[16]);
/* "john=yes, alarm in {on, off}": all that is known, in the arena. */
const char *cri_view_known(cr_scratch *s, const cri_network_view *v);

/* The picture of any network, as SVG (network_svg.c) and as lines of text (network_lines.c); as
 * cr_plot_network and cr_plot_network_text. */
cr_status cri_plot_any(cr_ctx *cx, cri_any_network any, const cr_network_plot *opt_p,
                       const char *path);
cr_status cri_plot_any_text(cr_ctx *cx, cri_any_network any, const cr_network_plot *opt_p,
                            size_t width, char **out_text);
/* The same to the path, or, without one, as text; the graph alone, with a warning, where marginals would not
 * fit into memory. */
cr_status cri_plot_fitting(cr_ctx *cx, cri_any_network any, cr_network_plot *p,
                           const char *opt_path, size_t width, char **out_text);
/* The name of the network, or the other where it has none that says something. */
const char *cri_network_title(cri_any_network any, const char *otherwise);

#endif
