/* json_network.h -- networks as JSON, by hand or by program: every kind of conditional
 * distribution keeps its parameters.
 *
 *   {"network": "bayes", "name": ..., "variables": {"x": {"states": ["no", "yes"],
 *    "parents": ["u", "v"], and one of
 *
 *      "table":         [...], one row after another, or by the parents' states, {"yes, no": row};
 *                       a row is [p, ...] or {"state": p}
 *
 *      "deterministic": {"yes, no": "state"}
 *
 *      "noisy-or":      {"leak": p, "strengths": {"parent": p}, "on": {"parent or child": "state"}}
 *
 *      "noisy-max":     {"leak": row, "effects": {"parent": {"state": row}}}
 *
 *      "tree":          {"split": "parent", "branches": {"state": tree or row}}   }}}
 *
 *   {"network": "bayes", "slices": 2, "variables": {"x": {..., "parents": ["x[-1]", "u"], ...,
 *    "initial": {"parents": ["u"], "table": ...}}}}: repeats over time (json_dynamic.h)
 *
 *   {"network": "bayes", "plates": {"s": 3}, "variables": {"x": {"plate": "s", ...}}}: x[s=1], x[s=2], x[s=3], also with
 *   slices (json_plates.h)
 *
 *   {"network": "markov", "variables": {"x": ["no", "yes"]},
 *
 *      "factors":   [{"scope": ["x", "y"], "table": [...] or {"no, yes": value}}],
 *
 *      "features":  [{"when": {"x": "yes"}, "weight": w}],       the factor exp(w) where it is so
 *
 *      "ising":     {"rows", "cols", "coupling", "field", "periodic"}, or
 *                   {"fields": {"x": h}, "couplings": [["x", "y", J]]}:
 *                   exp(sum h x + sum J x y), x = -1 or +1
 *
 *      "boltzmann": {"biases": {"x": b}, "weights": [["x", "y", w]]}:  the same, x = 0 or 1 }
 *
 *   {"network": "gaussian", "variables": {"x":
 *      {"linear-gaussian": {"intercept": b, "weights": {"parent": w}, "variance": s}}}}
 *
 * Any may have a "name", and the first two "properties", a list of remarks.  Koller & Friedman
 * (2009), ch. 4, 5, 7. */
#ifndef CREDENCE_GRAPH_FILES_JSON_NETWORK_H
#define CREDENCE_GRAPH_FILES_JSON_NETWORK_H

#include "graph/network/gaussian_network.h"
#include "graph/network/network.h"

/* A discrete network from JSON.  Fails with CR_EDATA: file, line, column, what is wrong there; also
 * when the network is Gaussian. */
CR_API cr_status cr_json_parse(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                               cr_network **out_net);
/* Writes a network; what was given as parameters is written as such.  CR_EARG: a name that is not
 * UTF-8. */
CR_API cr_status cr_json_write(cr_ctx *cx, const cr_network *net, const char *path);

/* A linear-Gaussian network from JSON; parents come before their children in it.  CR_EDATA. */
CR_API cr_status cr_json_parse_gaussian(cr_ctx *cx, const char *source, const void *bytes,
                                        size_t size, cr_gaussian_network **out_net);
/* Writes a linear-Gaussian network. */
CR_API cr_status cr_json_write_gaussian(cr_ctx *cx, const cr_gaussian_network *net,
                                        const char *path);
/* Is this the JSON of a Gaussian network?  Of text that is not JSON: no. */
CR_API bool cr_json_is_gaussian(const void *bytes, size_t size);

#endif
