/* trees.h -- tree-reweighted messages and their upper bound of log Z.
 * A forest is a set of tables that touch each other in no cycle.  With weights mu_T of forests
 * that hold every table at least once, rho_f = sum of mu_T over the forests with f, and any
 * messages m (bp.h), B_i = prod_f m_{f->i}^{rho_f},   K_f = f^{1/rho_f} / prod_j m_{f->j} prod_f f
 * =  prod_i B_i  prod_f K_f^{rho_f} log Z  <=  sum_T mu_T log Z_T,   Z_T = sum_x prod_i B_i prod_{f
 * in T} K_f     (Jensen) so the bound holds at every step, converged or not; at a fixed point it is
 * the least for these weights.  Wainwright, Jaakkola & Willsky (2005), IEEE Trans. Inf. Theory 51,
 * for pairs of variables; for larger tables the forests are those of the factor graph.  (Internal
 * header.) */
#ifndef CREDENCE_GRAPH_APPROXIMATE_TREES_H
#define CREDENCE_GRAPH_APPROXIMATE_TREES_H

#include "bp.h"

typedef struct cri_trees {
    size_t  n, m; /* forests, tables */
    bool   *in;   /* [n x m] */
    double *mu;   /* [n] weights, their sum 1 */
    double *rho;  /* [m] */
} cri_trees;

/* Forests of equal weight, at least 16 of them if there is a cycle, in which the tables that were
 * used least come first. */
cr_status cri_trees_new(cr_ctx *cx, const cri_fgraph *g, uint64_t seed, cri_trees *out);
void      cri_trees_free(cr_ctx *cx, cri_trees *t);
/* Adds the forest with the largest sum of `gain` [m], with the weight `share`; all others lose that
 * share of theirs. */
cr_status cri_trees_add(cr_ctx *cx, const cri_fgraph *g, cri_trees *t, const double *gain,
                        double share);
/* The inverse: takes the last forest away. */
cr_status cri_trees_take_back(cr_ctx *cx, cri_trees *t);
/* A step towards weights with a smaller bound (trees_weights.c), from messages that have converged;
 * b must be made anew for the new rho. */
cr_status cri_trees_step(cr_ctx *cx, cri_trees *t, const cri_bp *b, double step);
/* The bound for the messages as they are; b->rho must be t->rho. */
cr_status cri_trees_bound(cr_ctx *cx, const cri_trees *t, const cri_bp *b, double *out);

#endif
