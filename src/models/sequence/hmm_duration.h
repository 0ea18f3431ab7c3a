/* hmm_duration.h -- how long a hidden state lasts: explicit durations, a hidden semi-Markov model.
 * A state i that has lasted d rows is left with probability leave_di, one that has lasted D rows or more with leave_Di:
 *   P(it lasts d rows) = leave_d prod_{r < d} (1 - leave_r),   d < D,   and a geometric tail behind;
 * where it goes to is A_ij, A_ii = 0, but for a state that cannot be left, where A_ii = 1 and leave is 0.  So it is any
 * distribution up to D rows.  It is exactly a Markov chain of k D *nodes*, node (d - 1) k + i being state i in its row d,
 * or D or later, of which D nodes emit alike; a path of states is one path of nodes, so filtering, smoothing and the most
 * probable path are those of the chain.  A sequence begins in row 1 of its first state.  O(T (k D + k^2)), and for the
 * most probable path T (k D)^2.
 * stages = D, or 0 where durations are geometric: then nodes are states, and A has the probability to stay.
 * Langrock & Zucchini (2011), Computational Statistics & Data Analysis 55; Yu (2010), Artificial Intelligence 174.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_HMM_DURATION_H
#define CREDENCE_MODELS_SEQUENCE_HMM_DURATION_H

#include "hmm.h"

/* Whether state i can be left. */
bool cri_hmm_can_leave(const cri_hmm *m, size_t i);

/* --- the chain of nodes ---------------------------------------------------------------------- */

/* Transitions between nodes: A [nodes x nodes]. */
void cri_hmm_unfold(const cri_hmm *m, double *A);
/* p [nodes] a step later. */
void cri_hmm_go_on(const cri_hmm *m, const double *p, double *out);
/* Numbers of states [n x stride of k] become those of nodes [n x stride of nodes], in their place. */
void cri_hmm_spread(const cri_hmm *m, size_t n, double *rows);
/* Sums over the nodes of each state, of n rows; they may be in one place where to_stride <= from_stride. */
void cri_hmm_fold(const cri_hmm *m, size_t n, const double *from, size_t from_stride, double *to,
                  size_t to_stride);

/* --- learning -------------------------------------------------------------------------------- */

/* Adds what cri_stages_count has counted [cri_hmm_counts] to the statistics; or a step from a state, in which it has been
 * for *lasted rows, to a state. */
size_t cri_hmm_counts(const cri_hmm *m);
void   cri_hmm_add_counts(const cri_hmm *m, const double *counts, cri_hmm_sums *sums);
void   cri_hmm_count_step(const cri_hmm *m, size_t from, size_t to, size_t *lasted,
                          cri_hmm_sums *sums);
/* leave from the statistics, and its log prior: that of --prior-transitions, half to stay and half to go. */
void   cri_hmm_solve_leave(cri_hmm *m, const cri_hmm_sums *sums);
double cri_hmm_leave_log_prior(const cri_hmm *m);
/* Takes the probabilities to stay out of A, where it has them: leave is then the same in all stages. */
void cri_hmm_part_durations(cri_hmm *m);

/* --- what it says of them -------------------------------------------------------------------- */

/* Mean and sd of the rows that state i lasts; infinite, and NaN, where it cannot be left. */
double cri_hmm_duration(const cri_hmm *m, size_t i, double *out_sd);
/* P(state i lasts d + 1 rows), or as many or more for the last stage. */
double cri_hmm_duration_probability(const cri_hmm *m, size_t i, size_t stage);
/* Expected rows in stage d + 1 of state i. */
double cri_hmm_stage_rows(const cri_hmm *m, size_t i, size_t stage);

#endif
