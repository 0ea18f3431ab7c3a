/* dynamic_network.h -- Bayesian networks that repeat over time, given by two slices.
 *   p(x_1, ..., x_T) = p(x_1) prod_(t=2..T) p(x_t | x_(t-1))
 *   p(x_1)           = prod_v first(x_1v | its parents in slice 1)
 *   p(x_t | x_(t-1)) = prod_v next(x_tv | its parents in slices t and t-1)
 * Both factors are kept as networks of their own, so that what is known about tables, noisy-ors and
 * files holds for them.  Where slices stand side by side, variable v of slice t (from 1) has the number
 * (t - 1) n + v, whatever T is, and the name "x[t=3]".  Dean & Kanazawa (1989), "A model for reasoning
 * about persistence and causation"; Murphy (2002), "Dynamic Bayesian networks".  (Internal header.) */
#ifndef CREDENCE_GRAPH_NETWORK_DYNAMIC_NETWORK_H
#define CREDENCE_GRAPH_NETWORK_DYNAMIC_NETWORK_H

#include "network.h"

enum { CRI_MOST_SLICES = 1000000 };

typedef struct cri_dynamic {
    size_t      n;     /* variables of a slice */
    cr_network *first; /* [n] "x": slice 1 */
    cr_network *next;  /* [2n] "x[-1]" of the slice before, whose tables mean nothing; then "x" */
    size_t *like; /* [n] the first variable with the same probabilities: itself, but in plates */
} cri_dynamic;

/* An empty network of two empty slices. */
cr_status cri_dynamic_new(cr_ctx *cx, cri_dynamic **out_net);
/* Frees a network.  NULL is allowed. */
void cri_dynamic_free(cr_ctx *cx, cri_dynamic *net);
/* Once `first` has all its variables: gives `next` those of both slices, without tables for the
 * second. */
cr_status cri_dynamic_add_slices(cr_ctx *cx, cri_dynamic *net);
/* Does variable v of a slice depend on the slice before? */
bool cri_dynamic_looks_back(const cri_dynamic *net, size_t v);
/* Does variable v begin as it goes on: by the same distribution, given the same parents? */
bool cri_dynamic_begins_alike(const cri_dynamic *net, size_t v);
/* The probabilities of v, in the first slice or in the others, as long as they are a plain table, whose rows must go on to
 * sum to one; NULL: they are made from something else (cr_cpd_kind). */
double *cri_dynamic_table(cri_dynamic *net, bool first, size_t v, size_t *out_size);
/* The network of so many slices, side by side; 1 to CRI_MOST_SLICES of them. */
cr_status cri_dynamic_unroll(cr_ctx *cx, const cri_dynamic *net, size_t slices,
                             cr_network **out_net);
/* The variables alone: those with the numbers `list` [n], in this order, with their names and states but
 * without tables. */
cr_status cri_dynamic_name(cr_ctx *cx, const cri_dynamic *net, size_t n, const size_t *list,
                           cr_network **out_net);

#endif
