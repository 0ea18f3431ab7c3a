/* knn_sites.h -- the sites of the rows: each is one point of feature space, with all the rows that
 * lie there.  A search among sites does not depend on the order of the rows, finds w equal rows as
 * it finds one of weight w, and is as cheap for a million rows at five points as for five rows.
 * Sites are in the order of their features, whatever that of the rows.  (Internal header.) */
#ifndef CREDENCE_MODELS_NEIGHBOURS_KNN_SITES_H
#define CREDENCE_MODELS_NEIGHBOURS_KNN_SITES_H

#include "base/context.h"
#include "math/dense/view.h"

/* What rows at a site say: one vote for each class that occurs there, rising, or one for numbers. */
typedef struct cri_vote {
    double value;  /* the class, or the mean of the targets              */
    double weight; /* of the rows                                        */
    double square; /* of numbers: sum w (y - mean)^2                     */
} cri_vote;

typedef struct cri_sites {
    size_t    n, rows, votes;
    size_t   *order;  /* [rows] site by site; within a site by target and weight */
    size_t   *begin;  /* [n + 1] of a site in `order`                            */
    size_t   *first;  /* [n + 1] of a site in `vote`                             */
    double   *weight; /* [n]                                                     */
    cri_vote *vote;   /* [votes]                                                 */
} cri_sites;

/* Gathers the rows of X, with a column or more, of these targets (classes, or numbers) and weights.
 * Fails with CR_ENOMEM or CR_EINTERRUPTED; then *out is left as it was. */
cr_status cri_sites_new(cr_ctx *cx, cr_cmat X, const double *y, const double *w, bool classes,
                        cri_sites *out);
void      cri_sites_free(cr_ctx *cx, cri_sites *s);

#endif
