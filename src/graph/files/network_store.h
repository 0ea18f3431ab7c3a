/* network_store.h -- a network as a model file: `model.json` and one array of all tables.
 *     "model": "network", "network": {"kind": "bayes" | "markov", "name": ...,
 *     "variables": [{"name", "states"}], "tables": [{"scope", "kind", "parameters"}],
 *     "properties": [{"variable", "text"}]},    tables.npy: the values, one table after another;
 *     of a noisy-or or noisy-max its effects, and in its object how many rows these have
 * A linear-Gaussian one: "kind": "gaussian", "variables": [{"name", "parents"}], numbers.npy: of
 * each variable the intercept, the variance and the weights. (Internal header.) */
#ifndef CREDENCE_GRAPH_FILES_NETWORK_STORE_H
#define CREDENCE_GRAPH_FILES_NETWORK_STORE_H

#include "network_file.h"

cr_status cri_network_from_bytes(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                                 cr_network **out_net);
cr_status cri_network_save(cr_ctx *cx, const cr_network *net, const char *path);
/* A linear-Gaussian network; NULL: it is another kind. */
cr_status cri_gaussian_from_bytes(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                                  cr_gaussian_network **out_net);
cr_status cri_gaussian_save(cr_ctx *cx, const cr_gaussian_network *net, const char *path);

/* From bytes of any format (network_file.c): one of the two is set, the other NULL. */
cr_status cri_network_parse_either(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                                   cr_network_format format, cr_network **out_net,
                                   cr_gaussian_network **out_gaussian);

#endif
