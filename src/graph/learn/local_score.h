/* local_score.h -- scores of Bayesian networks that are sums over families, and the counts they are made of.
 *   score(G) = sum over v of s(v, parents of v in G),   natural logarithms, higher is better
 * N_jk: rows in which the parents of v are in state j and v in state k; N_j = sum_k N_jk; r states of v, q states of its
 * parents together.
 *   loglik   sum_jk N_jk log(N_jk / N_j)
 *   aic      loglik - q (r - 1)                      bic     loglik - q (r - 1) log(N) / 2
 *   bdeu     log P(data) under rows ~ Dirichlet(a / (q r), ...), a: the equivalent sample size
 *   bds      the same with q the states of the parents that occur (Scutari 2016)
 *   k2       the same under rows ~ Dirichlet(1, ..., 1)
 *   qnml     loglik - log C(N, q r) + log C(N, q), C: regret of a multinomial (Silander et al. 2018)
 *   holdout  log P(rows held out) under the means of bdeu given the others
 * Rows in which v was set by intervention do not count for v.  A family costs O(distinct rows x parents) once; then it is
 * in the cache.
 *   1. counts.c   data with equal rows grouped; tables of counts
 *   2. scores.c   the formulas
 *   3. cache.c    any source of local scores, remembered
 * Heckerman, Geiger & Chickering (1995), Learning Bayesian networks, Machine Learning 20.  (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_LOCAL_SCORE_H
#define CREDENCE_GRAPH_LEARN_LOCAL_SCORE_H

#include "base/context.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <stdatomic.h>
#include <stdint.h>

/* --- data (counts.c) -------------------------------------------------------------------------- */

enum { CRI_MOST_LEVELS = 65535 };
#define CRI_NOT_SET UINT32_MAX

/* Columns of states without gaps: cell of row i and variable v is code[v][i] < levels[v].  Rows that are equal, also in
 * what was set, are one row that weighs as much as all. */
typedef struct cri_cases_table {
    size_t     n, p;   /* rows as they are kept; variables */
    double     rows;   /* the sum of their weights */
    uint32_t  *levels; /* [p] states of each variable, >= 1 */
    uint16_t **code;   /* [p] to [n] */
    double    *weight; /* [n] > 0 */
    uint32_t *
        whole; /* [n] the weights where all are whole numbers and their sum is below 2^32; else NULL */
    uint32_t
        *set; /* [n] the variable that was set by intervention, CRI_NOT_SET: none; NULL: never */
    uint8_t *held; /* [n] 1: held out from learning; NULL: none is */
} cri_cases_table;

/* Groups rows and keeps them, in the arena, in the order in which they first appear.  code [rows x p], row by row;
 * opt_weight [rows] >= 0, rows of weight 0 are left out; opt_set, opt_held [rows].  O(rows x p). */
cr_status cri_cases_group(cr_scratch *s, size_t rows, size_t p, const uint32_t *levels,
                          const uint16_t *code, const double *opt_weight, const uint32_t *opt_set,
                          const uint8_t *opt_held, cri_cases_table *out);

/* --- counts (counts.c) ------------------------------------------------------------------------ */

/* How often the states of some parents and of a child occur together.  A table with all states where that is small;
 * otherwise only what occurs, numbered in the order of the rows. */
typedef struct cri_counts {
    size_t          configs, cells; /* kept */
    size_t          r;              /* states of the child */
    double          q;              /* states of the parents together, may be beyond SIZE_MAX */
    bool            dense; /* configs = q, cells = q r, cell = config r + state; of is NULL */
    const double   *config, *cell; /* [configs], [cells] of rows that are not held out */
    const double   *held;          /* [cells] of those that are; NULL where none is */
    const uint32_t *of;    /* [cells] the configuration that a cell is of; NULL of a dense table */
    double          total; /* of `config` */
} cri_counts;

/* What one count needs to work in, which may be used again. */
typedef struct cri_counter {
    size_t    cells, slots;         /* the most of a table; of the hash table, a power of 2 */
    uint32_t *index, *of;           /* [rows] */
    uint32_t *tally;                /* [cells] zeros between counts */
    double   *cell, *config, *held; /* [cells] */
    uint64_t *key;                  /* [slots] */
    uint32_t *number;               /* [slots] */
} cri_counter;

/* In the arena, for these cases: about 150 bytes for each row. */
cr_status cri_counter_new(cr_scratch *s, const cri_cases_table *t, cri_counter *out);
/* Counts a child given n parents in any order; the last parent runs faster than those before it, the child fastest.
 * What it returns stands in c until the next count.  Pure. */
cri_counts cri_count_family(const cri_cases_table *t, cri_counter *c, size_t child,
                            const uint32_t *parents, size_t n);

/* --- scores of tables (scores.c) -------------------------------------------------------------- */

typedef enum cri_score_kind {
    CRI_SCORE_BIC,
    CRI_SCORE_AIC,
    CRI_SCORE_BDEU,
    CRI_SCORE_BDS,
    CRI_SCORE_K2,
    CRI_SCORE_QNML,
    CRI_SCORE_LOGLIK,
    CRI_SCORE_HOLDOUT
} cri_score_kind;

/* Any decomposable score: of tables, or of numbers (BGe, Gaussian BIC) by another `own`. */
typedef struct cri_score_source {
    size_t      n;          /* variables */
    bool        equivalent; /* networks of one equivalence class have one score */
    const void *own;        /* what follows is called with */
    /* The score of a child with n parents, ascending; `work` was opened by open_work.  Pure, and never fails. */
    double (*score)(const void *own, size_t child, const uint32_t *parents, size_t n, void *work);
    /* A workspace for one thread, in the arena. */
    cr_status (*open_work)(cr_scratch *s, const void *own, void **out_work);
} cri_score_source;

/* The score of such a kind for these cases, which must outlive it; in the arena.  ess: of bdeu, bds and holdout, > 0. */
cr_status cri_table_score(cr_scratch *s, const cri_cases_table *t, cri_score_kind kind, double ess,
                          cri_score_source *out);
/* The score of one table of counts, by the plain formulas: what the above is checked against. */
double cri_counts_score(const cri_counts *c, cri_score_kind kind, double ess);
/* "bic", "bdeu:10" and so on into kind and ess (1 unless given).  Fails with CR_EARG. */
cr_status cri_score_parse(cr_ctx *cx, const char *text, cri_score_kind *out_kind, double *out_ess);
const char *cri_score_name(cri_score_kind kind);
/* log C(n, r) of nml: the regret of a multinomial of r states after n rows. */
double cri_log_regret(double n, double r);

/* --- the cache (cache.c) ---------------------------------------------------------------------- */

typedef struct cri_local_scores cri_local_scores;

/* A cache for this source, which is copied; its `own` must outlive it. */
cr_status cri_local_scores_new(cr_ctx *cx, const cri_score_source *source, cri_local_scores **out);
void      cri_local_scores_free(cri_local_scores *opt_scores);
/* s(child, parents), parents ascending.  Any thread of the context, also in bodies of cri_parallel_for; never fails: where
 * there is no memory left to remember a score it is computed again.  The value does not depend on threads or cache. */
double cri_local_score(cri_local_scores *scores, size_t child, const uint32_t *parents, size_t n);
/* The same where it is remembered; else false. */
bool   cri_local_score_recall(cri_local_scores *scores, size_t child, const uint32_t *parents,
                              size_t n, double *out);
size_t cri_local_scores_variables(const cri_local_scores *scores);
bool   cri_local_scores_equivalent(const cri_local_scores *scores);
/* How many families were computed, and how many were asked for. */
size_t cri_local_scores_computed(const cri_local_scores *scores);
size_t cri_local_scores_asked(const cri_local_scores *scores);

#endif
