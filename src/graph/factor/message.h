/* message.h -- products of factors summed or maximised out, safe from underflow.
 * Every result is scaled so that its largest entry is 1; the logarithm of the scale is given apart.
 * When a product underflowed and a result has entries so small that this may matter, it is computed
 * again in logarithms, and stays a table of logarithms if its entries lie too far apart.  (Internal
 * header.) */
#ifndef CREDENCE_GRAPH_FACTOR_MESSAGE_H
#define CREDENCE_GRAPH_FACTOR_MESSAGE_H

#include "combine.h"
#include "factor.h"

typedef struct cri_message {
    cr_factor *table; /* its scope and memory are set; gets values and is_log */
    double     scale; /* gets the log of what was divided by; -INFINITY: all zero */
} cri_message;

/* out_k = sum (or max) of the product of the inputs over the space's other variables.  opt_arg (one
 * output and `maximise` only): see cri_output.  false: out of memory or stopped, nothing recorded.
 */
bool cri_send(cr_ctx *cx, const cri_space *space, bool maximise, size_t inputs,
              const cr_factor *const *in, size_t outputs, cri_message *out, uint16_t *opt_arg,
              bool threaded);

/* The bytes that such a sum holds beside its tables, which need no values, unless it has to go on
 * in logarithms.  false: out of memory, nothing recorded. */
bool cri_send_bytes(cr_ctx *cx, const cri_space *space, size_t inputs, const cr_factor *const *in,
                    size_t outputs, const cr_factor *const *out, bool threaded, double *out_bytes);

/* Divides by the largest value, in place; returns its logarithm, -INFINITY when all are 0. */
double cri_scale(cr_factor *f);
/* Turns a scaled table of logarithms into plain values when none would be lost. */
void cri_unlog(cr_factor *f);

#endif
