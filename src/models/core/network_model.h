/* network_model.h -- models that are networks, or have learned one: read from a file of any format, and
 * asked through the face of their class.  (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_NETWORK_MODEL_H
#define CREDENCE_MODELS_CORE_NETWORK_MODEL_H

#include "graph/query/methods.h"
#include "model.h"

/* The class that the first bytes of a model file name; NULL: none that is known. */
const cr_model_class *cri_class_of_bytes(const void *bytes, size_t size);
/* The class of a model file, fitted or a network as it was given; NULL: none has this name. */
const cr_model_class *cri_class_of_name(const char *name);
bool                  cri_class_is_network(const cr_model_class *opt_c); /* has the face */
bool                  cri_class_learns(const cr_model_class *opt_c);     /* is fitted to data */

/* The network of a model, which it owns; false: it has none. */
bool cri_model_network(const cr_model *model, cri_any_network *out);
/* Reads a network of any format, or a fitted model that has one; "-": standard input.  Fails as
 * cr_network_read does. */
cr_status cri_model_read_network(cr_ctx *cx, const char *path, cr_network_format format,
                                 cr_model **out_model);
/* Can a file of this name hold the network?  AUTO becomes the format that the name stands for.  CR_EARG;
 * `source` is what the network is called in messages. */
cr_status cri_check_network_format(cr_ctx *cx, cri_any_network any, const char *source,
                                   const char *path, cr_network_format *inout_format);

#endif
