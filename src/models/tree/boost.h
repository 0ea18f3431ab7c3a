/* boost.h -- many small trees, each grown on what those before it got wrong.
 *   samme:    h_t on weights d_t;   err_t = sum d_t [h_t(x) != y],
 *             a_t = r (log((1 - err_t) / err_t) + log(K - 1)),   d_{t+1} ~ d_t exp(a_t [h_t(x) != y]);
 *             F_k = sum_t a_t [h_t(x) = k],   p = softmax(F)
 *             (Freund & Schapire 1997, for K = 2; Zhu, Zou, Rosset & Hastie 2009)
 *   gradient: F_k <- F_k + r f_t,k,   f_t,k a tree on the gradient of the log likelihood, [y = k] - p_k,
 *             with a Newton step in each leaf; one F for two classes; for numbers, a tree on the
 *             residuals (Friedman 2001, algorithms 3, 5 and 6)
 * r is the learning rate, K the number of classes.  All trees stand in one cri_tree.  (Internal
 * header.) */
#ifndef CREDENCE_MODELS_TREE_BOOST_H
#define CREDENCE_MODELS_TREE_BOOST_H

#include "grow.h"

/* clang-format off */
#define CRI_BOOST_STATE(MEMBER)                                                                     \
    MEMBER(count,  K,        (),         "",     "classes; 0 for numbers")                          \
    MEMBER(count,  widths,   (),         ">0",   "numbers that trees add to: K, or 1 for two classes by gradient, numbers") \
    MEMBER(count,  trees,    (),         "",     "rounds x trees of a round")                       \
    MEMBER(count,  rounds,   (),         "",     "that were made")                                  \
    MEMBER(count,  depth,    (),         "",     "of each tree, at the most")                       \
    MEMBER(flag,   gradient, (),         "",     "not samme")                                       \
    MEMBER(real,   rate,     (),         "",     "of learning")                                     \
    MEMBER(index,  root,     (trees),    "",     "where each tree begins")                          \
    MEMBER(vector, vote,     (trees),    "",     "a_t; 1 for gradient")                             \
    MEMBER(vector, error,    (rounds),   "any",  "err_t; or the mean loss after the round")         \
    MEMBER(vector, start,    (widths),   "",     "F before the first tree")                         \
    MEMBER(real,   spread,   (),         ">=0 any none", "numbers: mean squared error by cross-validation") \
    MEMBER(real,   temper,   (),         "spare 0..1", "classes: factor of F, by cross-validation; 0: none") \
    MEMBER(real,   weight,   (),         ">=0",  "of all rows")                                     \
    MEMBER(part,   tree,     (cri_tree), "none", "value [nodes]: the class of a leaf (samme), or its step (gradient)")
/* clang-format on */
CRI_RECORD(cri_boost, CRI_BOOST_STATE);
extern const cri_member cri_boost_record[];

/* Room for the rounds; K, widths, rounds and gradient are set. */
cr_status cri_boost_allocate(cr_ctx *cx, cri_boost *m);
/* Frees the arrays, also where trees still grow. */
void cri_boost_free(cr_ctx *cx, cri_boost *m);

/* Gives the memory of rounds back that were asked for, `capacity` of them, and not made. */
cr_status cri_boost_shorten(cr_ctx *cx, cri_boost *m, size_t capacity);

/* m->rounds rounds on the columns; w [n] and y [n] are weights (0: not there) and targets.  Where
 * samme cannot go on (a tree without error, or one no better than guessing), and near the time limit,
 * m->rounds is less. */
cr_status cri_boost_samme(cr_ctx *cx, cri_boost *m, const cri_columns *columns, const double *w,
                          const double *y);
/* The same by gradients; min_leaf is the least weight of a leaf, share the part of the time limit that it may take. */
cr_status cri_boost_gradient(cr_ctx *cx, cri_boost *m, const cri_columns *columns, const double *w,
                             const double *y, double min_leaf, double share);

/* The log of a share, of a class without weight too: finite, as model files are. */
static inline double cri_log_share(double share)
{
    return share > 0 ? fmax(log(share), -700) : -700;
}

/* F [n x widths] at the rows of X [n x p]. */
void cri_boost_sum(const cri_boost *m, const double *X, size_t n, size_t p, double *F);
/* prob [K] = what F, times the factor that was learned, says of the classes; may be F itself. */
void cri_boost_prob(const cri_boost *m, const double *F, double *prob);

#endif
