/* fit_stream.h -- models of data that do not fit memory: the first block is fitted, every further
 * one is an exact update.  For the models that have one: one pass, the same answer as in memory up
 * to rounding.  A model that has none may learn from a stream all the same, by stochastic gradients
 * and only near the answer, where its settings ask for it (logistic: solver sgd).  Where types,
 * levels or the number of columns must be known first, a regular file is looked through once before
 * (stream.h). */
#ifndef CREDENCE_MODELS_CORE_FIT_STREAM_H
#define CREDENCE_MODELS_CORE_FIT_STREAM_H

#include "data/stream/stream.h"
#include "model.h"

/* Fits a model to all blocks of a stream.  Fails as cr_fit and cr_update do, with CR_EUNSUPPORTED,
 * before any block is read, for a model that has no exact update, and with CR_EARG for settings
 * that need all rows at once. */
CR_API cr_status cr_fit_stream(cr_ctx *cx, const char *name, cr_stream *stream,
                               const cr_setting *settings, size_t n_settings, cr_model **out_model);
/* A new model: what `model` knew and all blocks of a stream. */
CR_API cr_status cr_update_stream(cr_ctx *cx, const cr_model *model, cr_stream *stream,
                                  cr_model **out_model);

#endif
