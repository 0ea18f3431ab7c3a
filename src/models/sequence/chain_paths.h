/* chain_paths.h -- the most probable paths of a chain: list Viterbi.
 *   weight of z = exp(first[z_1] + sum_t score[t, z_t] + sum_(t>1) T[z_t-1, z_t])
 * Of every state of every step the `count` best ways to it are kept, each made of one of the step before; they are merged
 * from the k sorted lists of the states before.  Paths of weight 0 are none.  Of equal paths the one with the lower states
 * at its end comes first, as with Viterbi's algorithm, which this is for a count of 1.
 * O(T k (k + count log k)) time.  A long sequence is gone through twice, from the lists kept at the begin of each of
 * sqrt(T) blocks, so that the memory is of the order sqrt(T) k count.
 * Seshadri & Sundberg (1994), List Viterbi decoding algorithms with applications, IEEE Transactions on Communications 42.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_CHAIN_PATHS_H
#define CREDENCE_MODELS_SEQUENCE_CHAIN_PATHS_H

#include "base/context.h"

#include <stddef.h>

typedef struct cri_path_search {
    const cr_ctx *cx;               /* asked now and then whether to stop                  */
    size_t        k, stride, count; /* states; between rows of k numbers; paths wanted     */
    size_t        longest;          /* steps of the longest sequence                       */
    const double *first;            /* [k]; NULL: all 0                                    */
    const double *T;                /* [k x stride], -infinity of what cannot be           */
    /* Scores of the steps begin .. end-1 of all data: out [(end - begin) x stride]. */
    void (*score)(const void *of, size_t begin, size_t end, double *out);
    const void *of;
} cri_path_search;

/* Numbers of workspace.  Fails with CR_EDATA, in words, where they would be too many. */
cr_status cri_path_search_work(cr_ctx *cx, const cri_path_search *s, size_t *out_numbers);

/* The best paths of the steps begin .. end-1: path r at path + r * apart, and the logarithm of its weight at
 * log_weight[r * weight_apart].  Returns how many there are; fewer than exist after it was told to stop. */
size_t cri_path_search_run(const cri_path_search *s, size_t begin, size_t end, double *path,
                           size_t apart, double *log_weight, size_t weight_apart, double *work);

#endif
