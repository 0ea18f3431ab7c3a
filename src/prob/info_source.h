/* info_source.h -- a memoryless source: what long strings from it are like.
 * Letters a_1 .. a_K with probabilities p; a string x of N independent letters has probability
 * P(x).  Typical set:  T = { x : | -log P(x) / N - H | < beta }.  Essential information content:
 * H_delta = log |S|, S the smallest set of strings with P(S) >= 1 - delta.
 * Strings with the same number of each letter, a type, are alike, so types are counted, not
 * strings: (N + k - 1 choose k - 1) of them for k different probabilities above 0; letters of equal
 * probability count as one.
 * MacKay (2003), Information Theory, Inference, and Learning Algorithms, ch. 4. */
#ifndef CREDENCE_PROB_INFO_SOURCE_H
#define CREDENCE_PROB_INFO_SOURCE_H

#include "base/context.h"

typedef struct cr_source {
    double entropy;     /* H of one letter; everything in nats           */
    double raw;         /* log K' for K' letters with probability above 0: H_0 of one letter */
    double log_typical; /* log |T|; -INFINITY when it is empty           */
    double p_typical;   /* P(T)                                          */
    double essential;   /* H_delta of the N letters                      */
    size_t types;       /* that were counted                             */
} cr_source;

/* Counts the types of `length` letters.  O(types log types) time, 32 bytes for each type.
 * Fails with CR_EARG for probabilities that are negative or do not sum to one (to 1e-9), a length
 * of 0, beta <= 0, delta outside [0, 1), or more than 2^22 types; CR_ENOMEM, CR_EINTERRUPTED. */
CR_API cr_status cr_source_describe(cr_ctx *cx, const double *p, size_t n, size_t length,
                                    double beta, double delta, cr_source *out_source);

#endif
