/* bp.h -- messages between tables and variables, until they no longer change.
 *   n_{i->f}(x_i) = prod_{g != f} m_{g->i}^{rho_g} m_{f->i}^{rho_f - 1}
 *   m_{f->i}(x_i) = sum (or max) over x_f \ x_i of  f(x_f)^{1/rho_f} prod_{j != i} n_{j->f}(x_j)
 *   b_i(x_i) ~ prod_f m_{f->i}^{rho_f}
 * With all rho_f = 1: loopy belief propagation (Pearl 1988; Kschischang, Frey & Loeliger 2001).
 * With rho_f the share of trees that hold f: tree-reweighted (trees.h).  A 0 in a message is a
 * state that some tables exclude for certain.  Schedules: all messages from the old ones
 * (flooding), table after table, or first the table whose incoming messages have changed most since
 * it was last sent (Elidan, McGraw & Koller 2006; Sutton & McCallum 2007 for the bound that stands
 * for the residual).  A sweep sends as many tables as there are.  (Internal header.) */
#ifndef CREDENCE_GRAPH_APPROXIMATE_BP_H
#define CREDENCE_GRAPH_APPROXIMATE_BP_H

#include "approximate.h"
#include "factor_graph.h"

typedef struct cri_bp {
    const cri_fgraph *g;
    bool              maximise;
    const double     *rho;        /* [m] or NULL: all 1 */
    double           *m;          /* [offset[edges]] sum (of max-product: maximum) 1 */
    double           *logs;       /* their logarithms, if rho */
    double           *power;      /* tables to the power 1/rho, one after another; if rho */
    size_t           *power_at;   /* [m + 1] */
    bool              impossible; /* a message is all 0 */
    bool prepares; /* other work follows: a tenth of the time that is left, at the most */
} cri_bp;

/* opt_rho [m] is borrowed.  Messages begin uniform. */
cr_status cri_bp_new(cr_ctx *cx, const cri_fgraph *g, bool maximise, const double *opt_rho,
                     cri_bp *out);
void      cri_bp_free(cr_ctx *cx, cri_bp *b);
/* Passes messages, until the time limit is near; fills converged, iterations, residual and damping of the report,
 * and made and planned. */
cr_status cri_bp_run(cr_ctx *cx, cri_bp *b, const cr_approximate_options *o,
                     cr_approximate_report *report);
/* The belief of variable v, scaled to sum 1 (of max-product: maximum 1); all 0 if impossible. */
void cri_bp_belief(const cri_bp *b, size_t v, double *out);
/* The message n of an edge, its largest entry 1. */
void cri_bp_incoming(const cri_bp *b, size_t edge, double *out);
/* The values of table i as messages see it. */
const double *cri_bp_values(const cri_bp *b, size_t i);
/* The Bethe approximation of log Z with the scale of the graph; rho must be 1. */
cr_status cri_bp_log_z(cr_ctx *cx, const cri_bp *b, double *out);

/* A report of nothing (approximate.c). */
cr_approximate_report cri_report_empty(void);
/* An assignment [n] by max-product messages (max_product.c), and its log value with the scale;
 * CR_EDATA: the evidence is impossible, CR_ENUMERIC: none was found. */
cr_status cri_find_assignment(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                              cr_approximate_report *report, size_t *out_state, double *out_log);

#endif
