/* knn.h -- the rows around a point: how much each of them counts.
 * They are the k nearest, where a row of weight w is w rows; the rows at the distance of the last
 * one share what is left of k, so that the answer does not depend on the order of the rows.
 *   d_i  the distance of row i
 *   c_i  what it counts; they sum to k
 *   v_i  its share of the vote, ~ c_i, or ~ c_i / d_i (rows at distance 0 alone, where there are any);
 *        they sum to 1
 * Cover & Hart (1967); Dudani (1976).  (Internal header.) */
#ifndef CREDENCE_MODELS_NEIGHBOURS_KNN_H
#define CREDENCE_MODELS_NEIGHBOURS_KNN_H

#include "knn_sites.h"
#include "math/neighbours.h"
#include "models/core/class.h"

/* clang-format off */
#define CRI_KNN_STATE(MEMBER)                                                                           \
    MEMBER(count,  n,           (),     ">=1",  "rows that are kept")                                   \
    MEMBER(count,  p,           (),     "",     "terms")                                                \
    MEMBER(count,  K,           (),     "",     "classes; 0 for numbers")                               \
    MEMBER(real,   k,           (),     ">=1",  "neighbours that are looked at")                        \
    MEMBER(real,   smoothing,   (),     ">=0",  "a of (count + a) / (k + a K)")                         \
    MEMBER(real,   loo,         (),     "none", "leave-one-out loss at k, where k was chosen by it")    \
    MEMBER(flag,   max_norm,    (),     "",     "distance is the largest difference, not Euclid's")     \
    MEMBER(flag,   by_distance, (),     "",     "rows count by 1 / distance")                           \
    MEMBER(matrix, X,           (n, p), "",     "the rows")                                             \
    MEMBER(vector, y,           (n),    "",     "their targets, or the numbers of their classes")       \
    MEMBER(vector, w,           (n),    ">0",   "their weights")
/* clang-format on */

CRI_RECORD(cri_knn, CRI_KNN_STATE, cri_sites sites; /* of the rows of X */
           cr_neighbours * tree;
           /* among the sites */
           bool whole;
           /* a row is left out with all of its weight, while it is fitted */);

#define CRI_MET 1e-300 /* as near as this is distance 0: its reciprocal could overflow */

/* The features of site g to x [p]. */
static inline void cri_knn_site(const cri_knn *m, size_t g, double *x)
{
    const double *row = m->X + m->sites.order[m->sites.begin[g]] * m->p;
    for (size_t j = 0; j < m->p; j++) x[j] = row[j];
}

/* What each of the m nearest sites (index, distance, nearest first), of weights w, counts: c [m], of
 * which *out_used are above 0.  false when the list is too short to tell; `all` says that no further
 * site is to be had. */
bool cri_knn_count(const double *w, const size_t *index, const double *distance, size_t m, bool all,
                   double k, double *c, size_t *out_used);

/* The k of `least` .. `most` with the least leave-one-out loss, squared error or log loss, and that
 * loss, over all rows or, within a time limit, over *out_asked drawn at random.  Where the rows that
 * are looked at would be too many, because of small weights, it is over some of the sites, evenly
 * spread in their order.  Fails like cr_neighbours_nearest. */
cr_status cri_knn_choose(cr_ctx *cx, const cri_knn *m, size_t least, size_t most, double *out_k,
                         double *out_loss, size_t *out_asked);

/* The smoothing of the least leave-one-out log loss at k, over the rows of as many of the sites as
 * 2000, to which one is added whose class none of its neighbours has: what never happened in n rows
 * may happen yet.  Fails like cr_neighbours_nearest. */
cr_status cri_knn_smooth(cr_ctx *cx, const cri_knn *m, double *out_smoothing);

#endif
