/* tree.h -- networks in which the variables form a tree.
 *   chow-liu  of all trees the one of the largest likelihood: a spanning tree of the largest sum of mutual
 *             informations I(u; v)
 *   tan       the same of the other variables with I(u; v | target), and the target as a parent of all:
 *             the naive Bayes classifier, each feature with one more parent
 * O(n^2 rows).  Chow & Liu (1968), "Approximating discrete probability distributions with dependence
 * trees"; Friedman, Geiger & Goldszmidt (1997), "Bayesian network classifiers".  (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_TREE_H
#define CREDENCE_GRAPH_LEARN_TREE_H

#include "dag.h"
#include "independence.h"

/* The tree over all variables but opt_target (CR_NONE: chow-liu), with arcs away from `root` (the first
 * variable where that is the target or CR_NONE), as far as the rules allow; opt_target becomes a parent
 * of all.  Pairs that no arc may join, or that share no information, are not joined, so that it can be a
 * forest; required arcs are in it.  opt_information [n x n]: what was measured.  Fails with CR_EARG where
 * required arcs are more than a tree has. */
cr_status cri_tree_learn(cr_ctx *cx, const cri_independence *test, const cri_arc_rules *rules,
                         size_t opt_target, size_t root, cri_dag *out, double *opt_information);

#endif
