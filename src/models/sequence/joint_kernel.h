/* joint_kernel.h -- the inner loops of columns that are normal together, over rows without gaps.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_JOINT_KERNEL_H
#define CREDENCE_MODELS_SEQUENCE_JOINT_KERNEL_H

#include "joint.h"

/* Whether there are loops for so many columns: those below take no others. */
bool cri_joint_is_few(size_t g);
/* Adds log N(x_t) to out [(end - begin) x stride]. */
void cri_joint_score_few(const cri_joint *j, size_t begin, size_t end, double *out);
/* Adds the statistics. */
void cri_joint_gather_few(const cri_joint *j, size_t begin, size_t end, const double *gamma,
                          double *sums);

#endif
