/* relevance.h -- features in the order in which they tell most about a target that others do not.
 *   mrmr   next is the feature f of the largest I(f; target) - mean over those before it, s, of I(f; s)
 * Mutual information, or whatever association a test measures.  O(k n) tests for the first k of n
 * features.  Peng, Long & Ding (2005), "Feature selection based on mutual information: criteria of
 * max-dependency, max-relevance, and min-redundancy", IEEE PAMI 27.  (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_RELEVANCE_H
#define CREDENCE_GRAPH_LEARN_RELEVANCE_H

#include "independence.h"

typedef struct cri_ranked_feature {
    size_t feature;
    double relevance, redundancy, score; /* I(f; target); the mean; their difference */
} cri_ranked_feature;

/* out [k]: the first k <= n - 1 features.  Ties in the order of columns. */
cr_status cri_rank_features(cr_ctx *cx, const cri_independence *test, size_t target, size_t k,
                            cri_ranked_feature *out);

#endif
