/* subsets.h -- which k terms explain the most, for every k: best subset, forward, backward.
 * From cross-products of centred, scaled terms: RSS of the least-squares fit on a set of them.
 *   best:     branch and bound over the triangular factor.  A set has no less RSS than any set that
 *             holds it, so that a branch whose largest set is no better than the best of its sizes is
 *             cut.  Exact; the time depends on the data, at worst 2^p: up to 50 terms.
 *   forward:  adds the term that takes most off the RSS.        O(p^2) for each term
 *   backward: drops the one that adds least to it, from all.    O(p^2) for each term
 * Furnival & Wilson (1974), Technometrics 16; Gatu & Kontoghiorghes (2006), J. Comp. Graph. Stat.
 * 15; Hastie, Tibshirani & Friedman (2009), sec. 3.3.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_SUBSETS_H
#define CREDENCE_MODELS_LINEAR_SUBSETS_H

#include "models/common/moments.h"

typedef enum cri_subset_method {
    CRI_SUBSET_NONE,
    CRI_SUBSET_BEST,
    CRI_SUBSET_FORWARD,
    CRI_SUBSET_BACKWARD
} cri_subset_method;

enum { CRI_MOST_BEST = 50 }; /* terms of a search for the best */

/* Sets of 0 .. most of p terms; the arrays are the caller's. */
typedef struct cri_subsets {
    size_t  p, most;
    double *rss;    /* [most + 1]; -1 where no set was found          */
    double *member; /* [most + 1 x p] 1 where the term is in the set  */
} cri_subsets;

/* Finds them.  only = the one size that is wanted, or SIZE_MAX for all; other sizes may be left
 * out.  Fails with CR_EARG when there are too many terms to search for the best. */
cr_status cri_subsets_find(cr_ctx *cx, const cri_gram *gram, cri_subset_method method, size_t only,
                           cri_subsets *out);

/* The parts: they fill sizes of *out that they come by, and set no other. */
cr_status cri_subsets_best(cr_ctx *cx, const cri_gram *gram, size_t only, cri_subsets *out);
cr_status cri_subsets_forward(cr_ctx *cx, const cri_gram *gram, size_t last, cri_subsets *out);

#endif
