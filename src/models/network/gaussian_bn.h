/* gaussian_bn.h -- linear-Gaussian networks learned from rows: what its files share.
 *   1. gaussian_bn.c            the model: options, moments, answers, descriptor
 *   2. gaussian_bn_structure.c  which arcs: given, or found by a search
 *   3. gaussian_bn_describe.c   what it reports
 * (Internal header.) */
#ifndef CREDENCE_MODELS_NETWORK_GAUSSIAN_BN_H
#define CREDENCE_MODELS_NETWORK_GAUSSIAN_BN_H

#include "graph/learn/gaussian_score.h"
#include "graph/network/gaussian_network.h"
#include "models/common/moments.h"
#include "models/core/class.h"

/* clang-format off */
#define CRI_GAUSSIAN_BN_OPTIONS(X)                                                                  \
    X(text,  structure, "auto", "FILE",                                                             \
      "the arcs: a network file of any format, empty, or a search: auto (exact up to 15 columns, "  \
      "else tabu), greedy (hill climbing), tabu, ges (among equivalence classes), exact (with "     \
      "proof), pc (by tests of partial correlations)", \
      "ges")                                                                                        \
    X(choice, criterion, "bic", "bic|aic|bge", "what a search maximises", "bge")                        \
    X(real,  prior_rows, "1", ">0", "of bge: rows that the prior counts for", "10")                 \
    X(real,  alpha, "0.01", "0<..<1", "of pc: level of its tests", "0.05")                          \
    X(count, max_parents, "", "", "most parents of a variable that a search may choose", "3")       \
    X(list,  order, "", "COLUMN",                                                                   \
      "tiers: no arc leads from a column to one before it; columns joined by + are of one tier",    \
      "x+y,w")                                                                                      \
    X(list,  require, "", "", "arcs that must be there, FROM>TO", "'x>y'")                          \
    X(list,  forbid, "", "", "arcs that must not be there, FROM>TO; * stands for any column", "'*>x'") \
    X(text,  start, "", "FILE", "network file whose arcs a search starts from", "first.json")       \
    X(count, restarts, "", "", "of a search: perturbed restarts, of which the best graph is kept; not given: 10000 / columns, 10 to 1000", "50")

#define CRI_GAUSSIAN_BN(MEMBER)                                                                     \
    MEMBER(part,   moments,     (cri_moments), "inside", "for updates")                             \
    MEMBER(count,  p,           (),     ">0",       "columns")                                      \
    MEMBER(real,   n,           (),     ">0",       "rows, by weight")                              \
    MEMBER(vector, intercept,   (p),    "",         "of each column given its parents")             \
    MEMBER(vector, intercept_sd, (p),   ">=0",      "its standard error")                           \
    MEMBER(vector, sd,          (p),    ">=0",      "of what the parents leave, by the degrees of freedom") \
    MEMBER(count,  arcs,        (),     "",         "parents of all columns together")              \
    MEMBER(index,  from,        (arcs), "full",     "of each, by child")                            \
    MEMBER(index,  to,          (arcs), "full",     "of each, not falling")                         \
    MEMBER(vector, weight,      (arcs), "full",     "of each, in the units of the columns")         \
    MEMBER(vector, weight_sd,   (arcs), ">=0 full", "its standard error")                           \
    MEMBER(vector, compelled,   (arcs), "0..1 full", "0: the other way fits as well")                \
    MEMBER(text,   how,         (),     "",         "where the arcs are from")                      \
    MEMBER(real,   log_likelihood, (),  "",         "of the rows, at its maximum")                  \
    MEMBER(real,   bge,         (),     "",         "log evidence of the scaled rows")              \
    MEMBER(real,   prior_rows,  (),     ">0",       "of bge")                                       \
    MEMBER(real,   bound,       (),     "none",     "no graph within the rules scores more")        \
    MEMBER(count,  steps,       (),     "",         "of the search")                                \
    MEMBER(flag,   cut,         (),     "",         "the time limit ended it")
/* clang-format on */
CR_OPTIONS_STRUCT(cri_gaussian_bn_options, CRI_GAUSSIAN_BN_OPTIONS);
/* network: its variables stand in the order `column`, parents first; place: where a column is in it.  inverse: of the
 * covariance (divisor n) of the parents of each column, [k x k] from at[v] on.  mean: of the columns.
 * drawn [arcs]: compelled, in the order of the network. */
CRI_RECORD(cri_gaussian_bn, CRI_GAUSSIAN_BN, cr_gaussian_network *network; double *inverse;
           double *mean; size_t * at; size_t * column; size_t * place; size_t * first;
           double *drawn;);

/* --- structure (gaussian_bn_structure.c) ------------------------------------------------------ */

typedef struct cri_gaussian_bn_task {
    const cri_gaussian_bn_options *o;
    const cr_design               *design;
    cri_gaussian_cases             cases;
} cri_gaussian_bn_task;

/* Sets arcs, compelled, how, bound, steps and cut. */
cr_status cri_gaussian_bn_find(cr_ctx *cx, const cri_gaussian_bn_task *t, cri_gaussian_bn *m);

/* --- what it reports (gaussian_bn_describe.c) ------------------------------------------------- */

extern const cr_field cri_gaussian_bn_statistics[], cri_gaussian_bn_tables[];
cr_status cri_gaussian_bn_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                   cri_sheet *out);

#endif
