/* bn.h -- Bayesian networks of variables with states, learned from rows: tables given a structure, and the structure.
 *   p(x) = prod_v p(x_v | x_parents(v)),   rows of tables ~ Dirichlet(prior)
 * The posterior of a row of a table is Dirichlet(prior + counts), where rows are complete; it is kept, so that every
 * probability has a standard deviation and later rows are added exactly.  Otherwise tables maximise the posterior
 * density, by EM.  Structures are found by scores of families (graph/learn/local_score.h).
 *   1. bn.c              the model: options, fit, update, descriptor
 *   2. bn_variables.c    columns as variables, rows as states
 *   3. bn_layout.c       variables, parents and cuts, as they stand in a model file
 *   4. bn_structure.c    which arcs: given, fixed shapes, searches, and what these must keep to
 *   5. bn_parameters.c   priors, counts, tables
 *   6. bn_pieces.c       rows with gaps, taken apart (bn_pieces.h)
 *   7. bn_expect.c       expected counts of these
 *   8. bn_em.c           tables from these counts, by EM
 *   9. bn_errors.c       how much less than complete rows these tell
 *  10. bn_complete.c     rows with gaps as weighted complete ones, for searches (structural EM)
 *  11. bn_answer.c       densities, classes and draws
 *  12. bn_describe.c     what it reports
 * Koller & Friedman (2009), Probabilistic Graphical Models, ch. 17-19; Heckerman, Geiger & Chickering (1995).
 * (Internal header.) */
#ifndef CREDENCE_MODELS_NETWORK_BN_H
#define CREDENCE_MODELS_NETWORK_BN_H

#include "graph/learn/dag.h"
#include "graph/learn/local_score.h"
#include "graph/network/network.h"
#include "models/core/class.h"
#include "models/core/em.h"

/* clang-format off */
#define CRI_BN_OPTIONS(X)                                                                          \
    X(text,  structure, "tabu", "FILE",                                                            \
      "the arcs: a network file of any format (variables without a column are hidden), empty, "    \
      "naive (from the target to all columns), or a search. By scores: greedy (hill climbing), "   \
      "tabu, ges (among equivalence classes), exact (with a proof). By tests: pc, mmhc (tabu among " \
      "what tests join). Trees: chow-liu, tan. Arcs by their probability: order-exact, "           \
      "order-mcmc, partition-mcmc",                                                                \
      "ges")                                                                                    \
    X(text,  criterion, "bic", "",                                                                     \
      "what a search maximises: bic, aic, bdeu:SIZE, bds:SIZE, k2, qnml, loglik or holdout",       \
      "bdeu:10")                                                                                   \
    X(text,  prior, "bdeu:1", "FILE",                                                              \
      "Dirichlet prior of each row of a table: bdeu:SIZE (SIZE cases over the whole table), k2 "   \
      "(1 for each state), jeffreys (1/2), dirichlet:X, none (maximum likelihood), or a network "  \
      "file whose tables count for --prior-cases",                                                 \
      "k2")                                                                                        \
    X(real,  prior_cases, "1", ">0", "cases that each row of a table of a --prior FILE counts for", \
      "10")                                                                                        \
    X(count, max_parents, "", "", "most parents of a variable that a search may choose", "3")      \
    X(list,  order, "", "COLUMN",                                                                  \
      "tiers: no arc leads from a column to one before it; columns joined by + are of one tier",   \
      "age+sex,smokes,lung")                                                                       \
    X(list,  require, "", "", "arcs that must be there, FROM>TO", "smokes>lung")                   \
    X(list,  forbid, "", "", "arcs that must not be there, FROM>TO; * stands for any column", "'*>age'") \
    X(text,  start, "", "FILE", "network file whose arcs a search starts from", "first.bif")       \
    X(choice, test, "g2", "g2|x2|mi",                                                              \
      "of pc and mmhc: likelihood ratio, Pearson's, or mutual information against its price "      \
      "under bic",                                                                                 \
      "x2")                                                                                        \
    X(real,  alpha, "0.05", "0<..<1", "of g2 and x2: joined are pairs with p below this", "0.01")  \
    X(count, max_given, "", "", "of pc and mmhc: most columns that a test is given", "3")          \
    X(choice, colliders, "sepset", "sepset|majority",                                              \
      "of pc: arrows meet where the set that separated two columns, or most sets that do, leave "  \
      "the one between them out",                                                                  \
      "majority")                                                                                  \
    X(count, bootstrap, "", "",                                                                    \
      "learn the arcs again so often from rows drawn with replacement: their strengths", "200")    \
    X(flag,  average, "false", "",                                                                 \
      "with --bootstrap: the network of the arcs that most replicates have", "true")               \
    X(count, samples, "4000", "4..10000000", "of order-mcmc and partition-mcmc: draws of four chains", "20000") \
    X(count, restarts, "", "",                                                                     \
      "of a search: perturbed restarts, of which the best graph is kept (default 100, or as many as columns if these are more); of EM: random starts after the first (default 4)",                                                                 \
      "50")                                                                                        \
    X(count, bins, "", "2..1000",                                                                  \
      "cut columns of numbers that are not whole, or have more than --levels values, into so "     \
      "many ranges with about as many rows each",                                                  \
      "3")                                                                                         \
    X(count, levels, "20", ">=2", "most different whole numbers that are states by themselves", "50") \
    X(text,  intervention, "", "COLUMN",                                                           \
      "column that names the variable that was set in a row, if any: the row does not count for "  \
      "its table",                                                                                 \
      "treated")                                                                                   \
    X(real,  tol, "1e-6", ">=0", "EM stops when a step gains less than this per row", "1e-9")      \
    X(count, max_iter, "500", ">=1", "EM gives up after this many steps", "50")

/* Tables one after another, each [rows x states]. */
#define CRI_BN(MEMBER)                                                                             \
    MEMBER(text,   layout,         (),      "",         "variables, their states, cuts and parents, JSON") \
    MEMBER(text,   how,            (),      "",         "where the structure is from")             \
    MEMBER(count,  size,           (),      ">0",       "entries of all tables")                   \
    MEMBER(vector, prior,          (size),  ">=0",      "of each entry")                           \
    MEMBER(vector, count,          (size),  ">=0",      "cases, expected ones where cells are missing") \
    MEMBER(count,  shares,         (),      "spare",     "entries that have a share: all, where cells are missing and there are not too many") \
    MEMBER(vector, share,          (shares), "0..1 minus full", "of the information of complete rows that is there; NaN: it is singular") \
    MEMBER(real,   rows,           (),      ">0",       "weight of the rows")                      \
    MEMBER(real,   missing,        (),      ">=0",       "cells that are missing in columns with a variable") \
    MEMBER(real,   incomplete,     (),      ">=0",       "rows with such cells")                    \
    MEMBER(count,  hidden,         (),      "",         "variables that no cell shows")            \
    MEMBER(real,   log_likelihood, (),      "",         "of what the rows show, at the tables")    \
    MEMBER(real,   log_evidence,   (),      "none",     "of complete rows, averaged over the prior") \
    MEMBER(count,  scores,         (),      "",         "of the structure: 8 where rows are complete, else 0") \
    MEMBER(vector, score,          (scores), "full",        "in the order of cri_score_kind")          \
    MEMBER(count,  arcs,           (),      "",         "between all variables")                   \
    MEMBER(vector, strength,       (arcs),  "0..1 minus", "of each, by child and parent; NaN: not known") \
    MEMBER(vector, direction,      (arcs),  "0..1 minus", "likewise")                              \
    MEMBER(vector, compelled,      (arcs),  "0..1",     "1: all networks of the class have it this way") \
    MEMBER(real,   bound,          (),      "none",     "no graph within the rules scores more; NaN: not known") \
    MEMBER(real,   rhat,           (),      "none",     "the largest of chains over arcs; NaN: none") \
    MEMBER(count,  replicates,     (),      "",         "of the bootstrap, or draws of chains that strengths are from") \
    MEMBER(count,  steps,          (),      "",         "changes of a graph that a search made, or tests") \
    MEMBER(count,  trace_size,     (),      "",         "graphs that it went through to the best") \
    MEMBER(vector, trace,          (trace_size), "full as:search_trace",    "their scores")                            \
    MEMBER(part,   em,             (cri_em_outcome), "none inside", "of EM; none where nothing is missing")
/* clang-format on */
/* net: with the tables; cuts[v] [n_cuts[v]]: the ranges of a column of numbers, each up to a cut and including it. */
CRI_RECORD(cri_bn, CRI_BN, cr_network *net; double **cuts; size_t * n_cuts; size_t * at;
           size_t variables; size_t target;);
extern const cri_member cri_bn_record[];
CR_OPTIONS_STRUCT(cri_bn_options, CRI_BN_OPTIONS);

/* --- variables and rows (bn_variables.c) ------------------------------------------------------ */

enum { CRI_BN_GAP = UINT16_MAX };

/* What rows show. */
typedef struct cri_bn_rows {
    size_t        n, p;   /* rows; variables of the network */
    uint16_t     *code;   /* [n x p] the state, or CRI_BN_GAP */
    const double *weight; /* [n] or NULL, borrowed */
    uint32_t     *set;    /* [n] the variable that was set, or CRI_NOT_SET; NULL: never */
    bool         *shown;  /* [p] is there a cell that is not missing? */
    double        missing, incomplete; /* cells, of variables that are shown; rows that have some */
    bool          complete;            /* nothing is missing */
} cri_bn_rows;

/* A Bayesian network from a file, or from JSON itself, which begins with a brace; `option` is its name in messages then. */
cr_status cri_bn_read_network(cr_ctx *cx, const char *option, const char *text, cr_network **out);
/* The variables of m: of the columns and the target, or, given a network file, of that, with its arcs. */
cr_status cri_bn_open_variables(cr_ctx *cx, const cri_rows *rows, const cri_bn_options *o,
                                cri_bn *m);
/* Rows as states, in the arena; `learn`: with the target, and what --intervention says.  CR_EDATA at a cell that is no
 * state. */
cr_status cri_bn_read_rows(cr_scratch *s, const cri_bn *m, const cri_rows *rows,
                           const char *opt_intervention, cri_bn_rows *out);
/* What stands in a column for a state: the code of a level, or a number; of a range its middle. */
double cri_bn_value_of(const cri_bn *m, const cri_design_column *c, size_t v, size_t state);
/* The column --intervention names. */
const cr_column *cri_bn_intervention(const cri_rows *rows, const char *name);
void             cri_bn_close(cr_ctx *cx, cri_bn *m);

/* --- layout (bn_layout.c) --------------------------------------------------------------------- */

/* m->layout from the network and the cuts, and the other way round. */
cr_status cri_bn_write_layout(cr_ctx *cx, cri_bn *m);
cr_status cri_bn_read_layout(cr_ctx *cx, cri_bn *m);
/* Remarks of the network on what is known of its arcs, which files and figures carry: "arc from a: 0.98 (0.5)", strength and,
 * where that is not certain, direction. */
cr_status cri_bn_remark_arcs(cr_ctx *cx, cri_bn *m);
/* m->at and m->size, once the arcs are there; refused where tables do not fit memory. */
cr_status cri_bn_place_tables(cr_ctx *cx, cri_bn *m);

/* --- structure (bn_structure.c) --------------------------------------------------------------- */

/* What the options ask of arcs, in the arena. */
cr_status cri_bn_rules(cr_scratch *s, const cri_bn *m, const cri_bn_options *o, cri_arc_rules *out);
/* Complete rows as cases, equal ones grouped, in the arena. */
cr_status cri_bn_cases(cr_scratch *s, const cri_bn *m, const cri_bn_rows *data,
                       const uint8_t *opt_held, cri_cases_table *out);
/* Gives the network its arcs, and m what is known of them. */
cr_status cri_bn_find_structure(cr_ctx *cx, const cri_rows *rows, const cri_bn_options *o,
                                const cri_bn_rows *data, uint64_t seed, cri_bn *m,
                                cr_report *report);

/* --- parameters (bn_parameters.c) ------------------------------------------------------------- */

/* Frees prior, counts and the course of EM: the network gets other arcs. */
void cri_bn_drop_tables(cr_ctx *cx, cri_bn *m);
/* m->prior as the option says; m->count zeroed. */
cr_status cri_bn_open_prior(cr_ctx *cx, const cri_bn_options *o, cri_bn *m);
/* Adds complete rows to m->count. */
cr_status cri_bn_add_counts(cr_ctx *cx, const cri_bn_rows *data, cri_bn *m);
/* Means of rows of tables under prior and counts, into the network; a row of which nothing is known is uniform. */
cr_status cri_bn_set_tables(cr_ctx *cx, cri_bn *m);
/* log P(counts) at the tables of the network, and averaged over the prior (NaN where that has zeros). */
double cri_bn_log_likelihood(const cri_bn *m);
double cri_bn_log_evidence(const cri_bn *m);
/* The table of v in prior and count, [rows x states]. */
typedef struct cri_bn_table {
    size_t rows, states, at; /* at: of `prior` and `count` */
} cri_bn_table;
cri_bn_table cri_bn_table_of(const cri_bn *m, size_t v);
size_t       cri_bn_free_parameters(const cri_bn *m);

/* --- expected counts (bn_expect.c) ------------------------------------------------------------ */

typedef struct cri_bn_counter cri_bn_counter;

/* For rows with gaps; m and the rows must outlive it. */
cr_status cri_bn_counter_new(cr_ctx *cx, const cri_bn *m, const cri_bn_rows *data,
                             cri_bn_counter **out);
void      cri_bn_counter_free(cri_bn_counter *opt_c);
/* Under tables `value` [m->size]: count [m->size], how often each entry is expected, and log P of what the rows show;
 * -INFINITY where a row is impossible, and no counts then. */
cr_status cri_bn_expect(cri_bn_counter *c, const double *value, double *count, double *out_log);
/* A row, of the data, that is impossible under these tables; CR_NONE: none is. */
size_t cri_bn_find_impossible(cri_bn_counter *c, const double *value);

/* Rows with gaps as complete ones with their posterior weights under these tables (bn_complete.c), in the arena; rows of
 * which too much is missing are left out: *out_left. */
cr_status cri_bn_complete(cr_scratch *s, cri_bn_counter *c, const double *value, uint64_t seed,
                          cri_bn_rows *out, size_t *out_left);

/* The share of the information of complete rows that is there about each entry, share [m->size], at tables `value` that
 * maximise the posterior, with these expected counts; NaN where that is singular.  *out_known: false, and no shares, where
 * it would take too long (bn_errors.c). */
cr_status cri_bn_find_shares(cr_ctx *cx, cri_bn_counter *c, const double *value,
                             const double *count, double *share, bool *out_known);

/* --- missing cells (bn_em.c) ------------------------------------------------------------------ */

/* Tables for the arcs that the network has: prior and counts are there and zeroed. */
cr_status cri_bn_fit_em(cr_ctx *cx, const cri_rows *rows, const cri_bn_options *o,
                        const cri_bn_rows *data, uint64_t seed, cri_bn *m, cr_report *report);

/* --- answers (bn_answer.c) -------------------------------------------------------------------- */

cr_status cri_bn_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out);
cr_status cri_bn_sample(cr_ctx *cx, const void *state, const cr_design *design,
                        const cri_rows *opt_rows, size_t count, uint64_t seed, double *out);

/* --- describe (bn_describe.c) ----------------------------------------------------------------- */

cr_status cri_bn_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out);
extern const cr_field cri_bn_statistics[], cri_bn_tables[];

#endif
