/* hmm_ties.h -- transitions of a hidden Markov model that are equal: entries of A with the same number above 0 in
 * tie [k x k] are one parameter.  Every row sums to one, so that ties restrict what A can be; the counts n and the prior
 * keep their form, sum n_ij log A_ij, and are maximised where the ties allow.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_HMM_TIES_H
#define CREDENCE_MODELS_SEQUENCE_HMM_TIES_H

#include "hmm.h"

enum { CRI_HMM_MOST_TIED = 100 }; /* states */

/* A = the maximum of sum over entries that are possible of count_ij log A_ij under the ties; counts above 0.  work
 * [cri_hmm_ties_work].  false, with A as it was, where no such A is found. */
bool   cri_hmm_solve_ties(const cri_hmm *m, const double *count, double *A, double *work);
size_t cri_hmm_ties_work(const cri_hmm *m);

/* Of a start whose ties were read: those of transitions that are not possible go, A is brought to what they allow, and
 * the free transitions are counted.  Fails where there is no A with all of its possible transitions above 0. */
cr_status cri_hmm_ties_settle(cr_ctx *cx, cri_hmm *m);
/* Whether what was read is one of them. */
bool cri_hmm_ties_fit(const cri_hmm *m);

/* How many numbers of A can be chosen by themselves, and which: free [k x k] is 1 for these, the first entry of those that
 * are tied standing for all of them. */
size_t cri_hmm_ties_free(const cri_hmm *m, double *free, double *work);

/* The rows that speak for transition (i, j): of all that are tied to it. */
double cri_hmm_transition_rows(const cri_hmm *m, size_t i, size_t j);

#endif
