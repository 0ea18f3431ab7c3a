/* noisy.h -- causes that act by themselves: noisy-or and noisy-max without tables of all parents.
 * A leak and each parent bring v to a level of their own, and the largest counts:
 *   v = max(y_0, y_1, ..., y_m),   y_0 ~ leak,   y_i | u_i ~ the row of u_i among the effects of i
 * p(v | u) is folded parent by parent, without a difference of near numbers:
 *   P(max(a, b) = k) = P(a = k) P(b <= k) + P(a < k) P(b = k)
 * Sums over a network need no table either.  The maximum is taken step by step in auxiliary
 * variables, a_1 = max(y_0, y_1), a_2 = max(a_1, y_2), ..., v = max(a_(m-1), y_m), so that no
 * table has more than three variables and no entry is negative (temporal divorcing).  And where v
 * is known to be at its lowest level its parents have nothing to do with each other by it: P(v = 0
 * | u) = leak(0) prod_i P(y_i = 0 | u_i),   an observed child of its own for each of them Heckerman
 * & Breese (1996), "Causal independence for probability assessment and inference using Bayesian
 * networks", IEEE Trans. SMC-A 26; Heckerman (1989), "A tractable inference algorithm for
 * diagnosing multiple diseases".  (Internal header.) */
#ifndef CREDENCE_GRAPH_NETWORK_NOISY_H
#define CREDENCE_GRAPH_NETWORK_NOISY_H

#include "evidence.h"
#include "network_internal.h"

enum {
    CRI_NOISY_TABLE = 1 << 12, /* entries up to which a table is made at once as well */
    CRI_NOISY_LARGE =
        1 << 22 /* of all together, up to which they are made where only these will do */
};

/* v gets these effects, which belong to the network then or are freed on failure; a table as well
 * if it is small. */
cr_status cri_noisy_set(cr_ctx *cx, cr_network *net, size_t v, cri_noisy *effects,
                        cr_cpd_kind kind);
/* How many entries a table of t would have. */
double cri_table_entries(const cr_network *net, const cri_table *t);
/* Does v have effects but no table? */
bool cri_noisy_only(const cr_network *net, size_t v);
/* Fails with CR_EUNSUPPORTED when some variable has no table but effects. */
cr_status cri_network_need_tables(cr_ctx *cx, const cr_network *net);

/* Is v known to be at its lowest level, so that its parents part? */
bool cri_noisy_apart(const cr_network *net, size_t v, const cr_evidence *opt_e);
/* A copy in which effects have become tables, but for those that part; NULL: there are none that
 * lack one, or they would have more than `most` entries together.  Fails with CR_ENOMEM where there
 * is no memory for one of them. */
cr_status cri_network_fill(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e, double most,
                           cr_network **out_net);

/* A network in which auxiliary variables, behind all others, do the work of the effects. */
typedef struct cri_divorced {
    cr_network  *net;    /* NULL: nothing had to be changed */
    cr_evidence *e;      /* as it was, and of auxiliary variables that are observed */
    size_t       hidden; /* auxiliary variables that are not: they have to be summed out */
} cri_divorced;

/* Divorces where there is no table, or, for sums, where that is less work.  opt_e: what is known
 * for good.  The sum over the auxiliary variables is the network's own p(x, e). */
cr_status cri_network_divorce(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                              bool sums, cri_divorced *out);
/* Frees both and leaves none. */
void cri_divorced_free(cr_ctx *cx, cri_divorced *d);

#endif
