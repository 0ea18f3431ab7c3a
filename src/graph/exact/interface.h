/* interface.h -- exact inference in a network of slices, slice by slice.
 * The interface is what slice t+1 sees of slice t: the variables with children there, I_t.  Given it, past
 * and future are independent, so one table over it is all that has to be carried along:
 *   alpha_t(I_t)     = P(I_t | e_1 ... e_t)  =  sum of  alpha_(t-1) prod_v p(x_tv | parents)  over the rest
 *   beta_(t-1)(I)    = P(e_t ... e_T | I_(t-1))                                       up to a factor
 *   P(x_tv | e)      proportional to  d Z_t / d lambda_v,   Z_t = sum of alpha_(t-1) (slice t) beta_t
 * A slice is one elimination, alpha_(t-1) to alpha_t, planned once for each pattern of observed variables.
 * Going through it backwards, as derivatives are, gives beta_(t-1), which is d Z_t / d alpha_(t-1), and all
 * marginals, from the derivatives by the likelihoods lambda_v of the states.  Viterbi's path takes maxima
 * in place of sums and goes back through the same steps.
 *   Cost: linear in the number of slices, exponential in the interface and the width of a slice.
 *   Memory: a table for each slice, or 2 sqrt(T) of them and one more pass.
 * The same derivatives, by the tables themselves, give the joint posterior of every family:
 *   P(x_tv, parents | e)  proportional to  p(x_tv | parents)  d Z_t / d p(x_tv | parents)
 * Tables are scaled step by step, so that no length underflows.  What has less than 1e-300 of the probability of the
 * best state of a table is lost, which matters where later evidence is for it: cri_interface_lost.
 * Murphy (2002), "Dynamic Bayesian networks", sec. 3.4; Darwiche (2003), "A differential approach to inference in
 * Bayesian networks".  (Internal header.) */
#ifndef CREDENCE_GRAPH_EXACT_INTERFACE_H
#define CREDENCE_GRAPH_EXACT_INTERFACE_H

#include "graph/network/dynamic_network.h"

/* What is known of a variable in a slice, as a code: its state, or one of these.  A state that is set from
 * outside, by do(), has the bit CRI_CODE_SET. */
#define CRI_CODE_OPEN UINT32_MAX          /* nothing */
#define CRI_CODE_WEIGHED (UINT32_MAX - 1) /* the likelihoods of its states: see `weight` */
#define CRI_CODE_SET ((uint32_t)1 << 30)

typedef struct cri_slice_weight {
    size_t        number; /* of the variable in its slice (dynamic_network.h) */
    const double *weight; /* [states] */
} cri_slice_weight;

typedef struct cri_slice_evidence {
    size_t                  slices;
    const uint32_t         *code; /* [slices x n] */
    size_t                  weights;
    const cri_slice_weight *weight; /* [weights] by ascending number */
} cri_slice_evidence;

typedef struct cri_interface cri_interface;

typedef struct cri_interface_cost {
    size_t members;    /* variables of the interface */
    double size;       /* joint states of it */
    double operations; /* entries of all tables of a slice in which nothing is observed */
    size_t width;      /* the largest of these has width + 1 variables */
} cri_interface_cost;

/* What slices would cost, before anything is made. */
cr_status cri_interface_plan(cr_ctx *cx, const cri_dynamic *net, cri_interface_cost *out);
/* Opens a network, which must outlive it.  CR_ENOMEM where the tables of a slice do not fit. */
cr_status cri_interface_new(cr_ctx *cx, const cri_dynamic *net, cri_interface **out);
/* Frees it.  NULL is allowed. */
void cri_interface_free(cr_ctx *cx, cri_interface *h);
/* Has something become too small for a double since it was opened?  Then answers may be far off. */
bool cri_interface_lost(const cri_interface *h);
/* The numbers of the marginals of a slice: of each variable its states, one after another. */
size_t cri_interface_width(const cri_interface *h);

/* Gets the marginals of slice t (from 0), p [width]; false ends it. */
typedef bool cri_slice_visit(void *arg, size_t t, const double *p);

/* P(x_t | e_1 ... e_t) of every slice, in order.  opt_log [slices]: log P(e_t | e_1 ... e_(t-1)).  From the first
 * impossible slice on, *out_possible slices being possible, nothing is visited and opt_log is -INFINITY. */
cr_status cri_interface_filter(cr_ctx *cx, cri_interface *h, const cri_slice_evidence *e,
                               cri_slice_visit *opt_visit, void *arg, double *opt_log,
                               size_t *out_possible);
/* P(x_t | e) of the slices from first to last, the last first.  *out_possible as above: unless all are possible
 * nothing is visited.  *out_log: log P(e). */
cr_status cri_interface_smooth(cr_ctx *cx, cri_interface *h, const cri_slice_evidence *e,
                               size_t first, size_t last, cri_slice_visit *visit, void *arg,
                               double *opt_log, double *out_log, size_t *out_possible);
/* Where the expected counts of the families go: of each variable an array like its table in slice 1, and like that in the
 * slices after it; NULL: they are not wanted.  Two may be one array. */
typedef struct cri_family_sums {
    double *const *first, *const *next; /* [n] */
} cri_family_sums;

/* Adds P(x_tv, parents | e), summed over the slices, to `sums`.  opt_log, *out_log and *out_possible as above; unless all
 * slices are possible nothing is added.  What is set from outside has no family.  Cost: that of cri_interface_smooth, and
 * the entries of the tables in each slice. */
cr_status cri_interface_count(cr_ctx *cx, cri_interface *h, const cri_slice_evidence *e,
                              const cri_family_sums *sums, double *opt_log, double *out_log,
                              size_t *out_possible);
/* Plain tables of the network have other values than when it was opened. */
void cri_interface_renew(cri_interface *h);
/* The most probable states of all variables, [slices x n], and log P(states, e). */
cr_status cri_interface_best(cr_ctx *cx, cri_interface *h, const cri_slice_evidence *e,
                             uint32_t *out_state, double *out_log, size_t *out_possible);

#endif
