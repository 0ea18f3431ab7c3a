/* stationary.h -- the long run of a finite Markov chain: classes of states that lead to each other, which of them are
 * closed, and the stationary distribution.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_STATIONARY_H
#define CREDENCE_MODELS_SEQUENCE_STATIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The communicating classes of P [k x k], transitions above `least` counting: class_of [k], numbered from 0 by their
 * first states, and closed [k], by class: whether there is no way out.  Returns their number.  work [4 k].  O(k^2). */
size_t cri_communicating_classes(const double *P, size_t k, double least, size_t *class_of,
                                 bool *closed, size_t *work);

/* pi with pi P = pi, by elimination without subtraction (Grassmann, Taksar & Heyman 1985, Operations Research 33), so
 * that it is right to the last digits in every entry.  Defined where one class is closed: false, and NaN, else.
 * work [k x k], index [6 k].  O(k^3 / 3). */
bool cri_stationary(const double *P, size_t k, double *work, size_t *index, double *pi);

#endif
