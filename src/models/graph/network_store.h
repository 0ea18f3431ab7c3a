/* network_store.h -- a network as a model file: `model.json` and one array of all tables.
 *     "model": "network", "network": {"kind": "bayes" | "markov", "name": ...,
 *     "variables": [{"name", "states"}], "tables": [{"scope", "kind", "parameters"}],
 *     "properties": [{"variable", "text"}]},    tables.npy: the values, one table after another
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GRAPH_NETWORK_STORE_H
#define CREDENCE_MODELS_GRAPH_NETWORK_STORE_H

#include "network.h"

cr_status cri_network_from_bytes(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                                 cr_network **out_net);
cr_status cri_network_save(cr_ctx *cx, const cr_network *net, const char *path);

#endif
