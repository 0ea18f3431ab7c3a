/* loglinear.h -- Markov networks learned from rows: weights of features, and which features there are.
 *   p(x) = exp(sum_k w_k f_k(x)) / Z,      maximise  sum_rows log p(row) - l2/2 |w|^2 - l1 |w of more than one variable|
 * A feature is 1 where some variables are in states of their own, none of them the first state of its variable (canonical
 * parameters: the model of a set of variables has all features of its subsets); or, of spins, a product of -1 and +1.
 * Features of the same variables make a table, a *term*, every entry of which has one weight times +1 or -1, or none.
 *   1. loglinear.c            the model: options, fit, descriptor
 *   2. loglinear_structure.c  which features: from words, lists of columns, files
 *   3. loglinear_select.c     ... from the rows: neighbours by penalised logistic regressions
 *   4. loglinear_terms.c      features as terms, and as a network
 *   5. loglinear_exact.c      log Z, moments and their covariance through a junction tree; the likelihood
 *   6. loglinear_pseudo.c     the pseudo-likelihood, and contrastive divergence, where that tree is too wide
 *   7. loglinear_search.c     the search for weights, and their standard errors
 *   8. loglinear_answer.c     densities and draws
 *   9. loglinear_describe.c   what it reports
 *  10. ising.c                the same of spins
 * Koller & Friedman (2009), Probabilistic Graphical Models, ch. 20.  (Internal header.) */
#ifndef CREDENCE_MODELS_NETWORK_LOGLINEAR_H
#define CREDENCE_MODELS_NETWORK_LOGLINEAR_H

#include "bn.h"
#include "graph/network/evidence.h"
#include "math/optim/minimize.h"

typedef enum cri_loglinear_method {
    CRI_LOGLINEAR_AUTO,
    CRI_LOGLINEAR_EXACT,
    CRI_LOGLINEAR_PSEUDO,
    CRI_LOGLINEAR_PCD
} cri_loglinear_method;

/* clang-format off */
#define CRI_LOGLINEAR_OPTIONS_OF(X, MORE)                                                           \
    X(text,  structure, "select", "FILE",                                                           \
      "which columns have features in common: select (neighbours by penalised logistic "            \
      "regressions), complete (all pairs), empty, or a network file: each of its tables, or of a "  \
      "Markov network in JSON its features",                                                        \
      "complete")                                                                                   \
    X(list,  cliques, "", "COLUMN",                                                                 \
      "instead: sets of columns joined by +, each with the features of all its subsets", "age+town,town+travel") \
    X(choice, method, "auto", "auto|exact|pseudo|pcd",                                               \
      "the likelihood, by a junction tree; the pseudo-likelihood; or (pcd) persistent contrastive divergence. auto: exact, or "       \
      "pseudo where the tree is too wide",                                                          \
      "pseudo")                                                                                     \
    X(real,  l2, "0.01", ">=0",                                                                     \
      "penalty on half the squared weights: 1 / variance of their normal prior; 0: none, and a weight may be infinite", \
      "1")                                                                                          \
    X(real,  l1, "0", ">=0", "penalty on the absolute weights of features of several columns", "2") \
    X(real,  gamma, "0.5", "0..1", "of select: what its criterion adds to bic for the number of graphs", "1") \
    X(choice, join, "or",  "and|or",                                                                \
      "of select: two columns are joined when both regressions have the other, or one has", "and")  \
    X(count, stability, "0", "0..1000", "of select: half samples that show how stable each edge is", "50") \
    X(count, steps, "1", "1..1000", "of pcd: sweeps of Gibbs sampling between steps", "5")           \
    MORE(X)                                                                                         \
    X(count, hidden, "0", "0..30", "variables that no row shows, each joined to all columns", "2")   \
    X(count, restarts, "4", ">=1", "with hidden variables: random starts, of which the best is kept", "10")            \
    X(real,  tol, "1e-9", ">0", "stop when no moment is farther off than this", "1e-6")            \
    X(count, max_iter, "2000", ">=1", "give up after this many steps", "100")
#define CRI_LOGLINEAR_CUTS(X)                                                                       \
    X(count, bins, "", "2..1000",                                                                   \
      "cut columns of numbers that are not whole, or have more than --levels values, into so "      \
      "many ranges with about as many rows each",                                                   \
      "3")                                                                                          \
    X(count, levels, "20", ">=2", "most different whole numbers that are states by themselves", "50")
#define CRI_LOGLINEAR_OPTIONS(X) CRI_LOGLINEAR_OPTIONS_OF(X, CRI_LOGLINEAR_CUTS)

/* The variables of feature k, ascending, are variable[begin[k]] .. variable[begin[k + 1] - 1]; those of one set stand
 * together. */
#define CRI_LOGLINEAR(MEMBER)                                                                      \
    MEMBER(text,   layout,         (),      "",      "variables, their states and cuts, JSON")     \
    MEMBER(text,   how,            (),      "",      "where the features are from")                \
    MEMBER(flag,   spins,          (),      "",      "features are products of -1 and +1")         \
    MEMBER(choice, method,         (),      "auto|exact|pseudo|pcd", "that was used")               \
    MEMBER(count,  parameters,     (),      "",      "features")                                   \
    MEMBER(count,  begins,         (),      ">0",    "one more")                                   \
    MEMBER(count,  members,        (),      "",      "variables of all features")                  \
    MEMBER(index,  begin,          (begins), "",     "of the variables of each")                   \
    MEMBER(index,  variable,       (members), "full", "these")                                     \
    MEMBER(index,  state,          (members), "full", "and their states")                          \
    MEMBER(vector, weight,         (parameters), "full", "of each")                                \
    MEMBER(vector, sd,             (parameters), "full minus >=0", "its standard error; NaN: none") \
    MEMBER(count,  edges,          (),      "",      "pairs of variables that have a feature in common") \
    MEMBER(index,  edge_a,         (edges), "full",  "the first of each")                          \
    MEMBER(index,  edge_b,         (edges), "full",  "the second")                                 \
    MEMBER(vector, stable,         (edges), "full minus 0..1", "share of half samples that have it; NaN: not known") \
    MEMBER(count,  halves,         (),      "",      "these")                                      \
    MEMBER(count,  hidden,         (),      "",      "variables that no row shows")                \
    MEMBER(real,   rows,           (),      ">0",    "weight of the rows that were used")          \
    MEMBER(real,   missing,        (),      ">=0",   "cells that are missing")                     \
    MEMBER(real,   incomplete,     (),      ">=0",   "rows with such cells")                       \
    MEMBER(real,   l2,             (),      ">=0",   "penalty")                                    \
    MEMBER(real,   l1,             (),      ">=0",   "penalty")                                    \
    MEMBER(real,   log_z,          (),      "none",  "log of the sum of all exp; NaN: not known")  \
    MEMBER(real,   log_likelihood, (),      "none",  "of the rows; NaN: not known")                \
    MEMBER(real,   pseudo,         (),      "none",  "log pseudo-likelihood of complete rows")     \
    MEMBER(real,   gap,            (),      "none",  "the largest |mean of a feature in the rows - under the model|") \
    MEMBER(real,   width,          (),      ">=0",   "of the junction tree")                       \
    MEMBER(count,  iterations,     (),      "",      "steps of the search")                        \
    MEMBER(flag,   converged,      (),      "",      "within the tolerance")
/* clang-format on */

/* Terms: entry e of term t, e running over the states of its variables, the last fastest, has the weight
 * coefficient[at[t] + e] * w[parameter[at[t] + e]], or none where that is CRI_NO_WEIGHT. */
typedef struct cri_potentials {
    size_t    n, p, entries, parameters; /* terms; variables */
    size_t   *begin, *scope;             /* [n + 1] into scope */
    size_t   *stride;                    /* beside scope */
    size_t   *at;                        /* [n + 1] into what follows */
    uint32_t *parameter;                 /* [entries] */
    double   *coefficient;               /* [entries] */
    size_t   *states;                    /* [p] */
    size_t   *of_begin,
        *of;         /* [p + 1]: the members of terms that are variable v, as places in scope */
    size_t *term_of; /* beside scope: the term */
} cri_potentials;
#define CRI_NO_WEIGHT UINT32_MAX

/* columns: variables, without arcs, and how columns become their states; net: as a Markov network. */
CRI_RECORD(cri_loglinear, CRI_LOGLINEAR, cri_bn columns; cri_potentials terms; cr_network * net;);
extern const cri_member cri_loglinear_record[];
CR_OPTIONS_STRUCT(cri_loglinear_options, CRI_LOGLINEAR_OPTIONS);

/* What all classes of this engine are made of (loglinear.c). */
cr_status   cri_loglinear_fit(cr_ctx *cx, const cri_rows *rows, const cri_loglinear_options *o,
                              bool spins, uint64_t seed, void **out_state, cr_report *report);
cr_status   cri_loglinear_ready(cr_ctx *cx, void *state, const cr_design *design);
void        cri_loglinear_release(cr_ctx *cx, void *state);
cr_status   cri_loglinear_shape(cr_ctx *cx, const void *options, cr_design *d);
const void *cri_loglinear_network(const void *state);
extern const cri_requirement cri_loglinear_requirements[];

/* --- which features (loglinear_structure.c) --------------------------------------------------- */

/* Sets the features of m, their weights and standard errors 0. */
cr_status cri_loglinear_find_features(cr_ctx *cx, const cri_loglinear_options *o,
                                      const cri_bn_rows *data, uint64_t seed, cri_loglinear *m);
/* The features of these sets of variables and of all subsets; set k is member[begin[k]] .. member[begin[k + 1] - 1]. */
cr_status cri_loglinear_add_sets(cr_ctx *cx, cri_loglinear *m, size_t n, const size_t *begin,
                                 const size_t *member);

/* --- neighbours (loglinear_select.c) ---------------------------------------------------------- */

/* Edges between variables, as places in the table of cases: edge [p x p] is set on both sides; share [p x p], where half
 * samples were asked for, that of those that have it. */
cr_status cri_loglinear_select(cr_ctx *cx, const cri_loglinear_options *o,
                               const cri_cases_table *cases, uint64_t seed, bool *edge,
                               double *opt_share);

/* --- terms (loglinear_terms.c) ---------------------------------------------------------------- */

/* m->terms from the features; CR_EDATA where these cannot be. */
cr_status cri_loglinear_make_terms(cr_ctx *cx, cri_loglinear *m);
void      cri_loglinear_drop_terms(cr_ctx *cx, cri_potentials *t);
/* m->net with the weights. */
cr_status cri_loglinear_make_network(cr_ctx *cx, cri_loglinear *m);
/* sum_k w_k f_k of a complete row. */
double cri_potentials_value(const cri_potentials *t, const double *w, const uint16_t *row);
/* p(x_v = s | the other cells of the row), out [states of v]; returns log p of the state that the row has. */
double cri_potentials_condition(const cri_potentials *t, const double *w, const uint16_t *row,
                                size_t v, double *out);
/* Adds weight * f_k of a complete row to sum [parameters]. */
void cri_potentials_add(const cri_potentials *t, const uint16_t *row, double weight, double *sum);
static inline size_t cri_term_entry(const cri_potentials *t, size_t term, const uint16_t *row)
{
    size_t e = t->at[term];
    for (size_t k = t->begin[term]; k < t->begin[term + 1]; k++)
        e += t->stride[k] * row[t->scope[k]];
    return e;
}

/* --- exact (loglinear_exact.c) ---------------------------------------------------------------- */

/* A junction tree of the terms with some weights.  All zeros: none. */
typedef struct cri_loglinear_tree {
    const cri_potentials *terms;
    cr_network           *net;
    cr_evidence          *e;
    struct cr_junction   *tree;
    double                offset; /* log Z of the tables = log of the tree's + offset */
} cri_loglinear_tree;
cr_status cri_loglinear_tree_open(cr_ctx *cx, const cri_loglinear *m, const double *w,
                                  cri_loglinear_tree *out);
void      cri_loglinear_tree_close(cr_ctx *cx, cri_loglinear_tree *t);
/* What a row shows; CRI_BN_GAP: nothing. *out_log: log of the sum of exp over all that agrees. */
cr_status cri_loglinear_tree_show(cr_ctx *cx, cri_loglinear_tree *t, const uint16_t *opt_row,
                                  double *out_log);
/* Means of the features given that, moment [parameters]; opt_entry [entries]: probabilities of entries of terms. */
cr_status cri_loglinear_tree_expect(cr_ctx *cx, cri_loglinear_tree *t, double *moment,
                                    double *opt_entry);
/* Covariance of the features [parameters x parameters]. */
cr_status cri_loglinear_covariance(cr_ctx *cx, const cri_loglinear *m, const double *w,
                                   double *out);
/* The entries of all cliques of a tree, and its width; no more than `most` of them, about, are counted. */
cr_status cri_loglinear_tree_size(cr_ctx *cx, const cri_loglinear *m, double most,
                                  double *out_entries, size_t *out_width);

/* --- the search (loglinear_search.c, loglinear_pseudo.c) -------------------------------------- */

/* What is maximised: rows, grouped, and what they sum to. */
typedef struct cri_loglinear_task {
    cr_ctx                      *cx;
    const cri_loglinear_options *o;
    const cri_loglinear         *m;
    cri_cases_table              cases; /* different rows */
    uint16_t                    *row;   /* [cases.n x p] the same row by row */
    bool                        *gap;   /* [cases.n] something is missing */
    size_t                       gaps;
    double                      *moment;          /* [parameters] sums over the complete ones */
    double                       complete, total; /* weights */
    bool                        *joint;           /* [parameters] of several variables */
    uint64_t                     seed;
    cri_loglinear_method         method;
    bool                         late;
} cri_loglinear_task;

/* -log pseudo-likelihood of the complete rows, or gradient alone, per row; w [parameters]. */
cr_status cri_loglinear_pseudo(cri_loglinear_task *t, const double *w, double *out_f,
                               double *opt_gradient);
/* The sandwich of its Hessian and the covariance of its gradient [parameters x parameters]. */
cr_status cri_loglinear_pseudo_covariance(cri_loglinear_task *t, const double *w, double *out);
/* Stochastic ascent by contrastive divergence. */
cr_status cri_loglinear_diverge(cri_loglinear_task *t, double *w, size_t *out_steps,
                                bool *out_converged);
/* Finds m's weights, and all that is known of them. */
cr_status cri_loglinear_learn(cri_loglinear_task *t, cri_loglinear *m, cr_report *report);

/* --- answers and reports ---------------------------------------------------------------------- */

cr_status             cri_loglinear_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                            cr_prediction *out);
cr_status             cri_loglinear_sample(cr_ctx *cx, const void *state, const cr_design *design,
                                           const cri_rows *opt_rows, size_t count, uint64_t seed, double *out);
cr_status             cri_loglinear_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                             cri_sheet *out);
extern const cr_field cri_loglinear_statistics[], cri_loglinear_tables[];

#endif
