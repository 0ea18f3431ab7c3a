/* follow.h -- where the sequences of a stream stand, between its blocks.  (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_FOLLOW_H
#define CREDENCE_MODELS_CORE_FOLLOW_H

#include "data/design/design_internal.h"
#include "sequence.h"

/* The model that is followed. */
const cr_model *cri_follow_model(const cr_follower *follower);
/* The places of these sequences, zeros of those that begin: places [sequences x width].  Makes memory for them. */
cr_status cri_follow_load(cr_ctx *cx, cr_follower *follower, const cri_sequences *sequences,
                          double *places);
/* Keeps the places of sequences that were loaded. */
void cri_follow_store(cr_follower *follower, const cri_sequences *sequences, const double *places);

#endif
