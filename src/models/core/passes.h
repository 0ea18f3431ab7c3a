/* passes.h -- all blocks of a stream, as often as a fit asks for them.  (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_PASSES_H
#define CREDENCE_MODELS_CORE_PASSES_H

#include "model_internal.h"
#include "sums.h"

/* Rows whose `passes` is set are the first block of this stream. */
typedef struct cri_passes {
    const cr_model *model;
    cr_stream      *stream;
    size_t          made, rows; /* passes so far; the rows of the last of them */
} cri_passes;

/* body(cx, arg, rows) for the rows of every block that has any, from the first block on, until one fails; of
 * a model of sequences blocks of whole ones (whole_sequences.h).  CR_EUNSUPPORTED for a pipe, which can be read once.  What there is to be said of the rows is said in the
 * first pass alone. */
cr_status cri_passes_each(cr_ctx *cx, cri_passes *passes, cri_leaf_fn *body, void *arg);

/* Centres powers by a pass of its own, where there are some. */
cr_status cri_passes_centre(cr_ctx *cx, cri_passes *passes, cri_centring how, cr_design *design);
/* Standardises the terms of a design by all rows: one pass, if there are numbers. */
cr_status cri_passes_standardise(cr_ctx *cx, cri_passes *passes, cr_design *design);

#endif
