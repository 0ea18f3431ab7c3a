/* fit_stream.h -- models of data that do not fit memory.
 * Models that learn from sums over rows gather them block by block, in one pass; where blocks are the leaves of
 * the data, which is the default, with the bits of a fit in memory.  Models found by steps, by EM or by
 * Newton's method (logistic), go through a file again and again.  Others with an exact update fit the first
 * block and take in the rest one by one.  Where types, levels or the number of columns must be known
 * first, a regular file is looked through once before (stream.h). */
#ifndef CREDENCE_MODELS_CORE_FIT_STREAM_H
#define CREDENCE_MODELS_CORE_FIT_STREAM_H

#include "data/stream/stream.h"
#include "model.h"

/* Fits a model to all blocks of a stream.  Fails as cr_fit and cr_update do, with CR_EUNSUPPORTED,
 * before any block is read, for a model that takes none, or a pipe where several passes are needed, and with CR_EARG for settings
 * that need all rows at once. */
CR_API cr_status cr_fit_stream(cr_ctx *cx, const char *name, cr_stream *stream,
                               const cr_setting *settings, size_t n_settings, cr_model **out_model);
/* A new model: what `model` knew and all blocks of a stream. */
CR_API cr_status cr_update_stream(cr_ctx *cx, const cr_model *model, cr_stream *stream,
                                  cr_model **out_model);

#endif
