/* dbn.h -- dynamic Bayesian networks whose tables are learned from sequences in which anything may be missing.
 *   p(x_1 .. x_T) = p(x_1) prod_(t>1) p(x_t | x_(t-1)),   each factor a network of one slice (dynamic_network.h)
 * Structure, states and first tables are given as JSON.  The rows of tables maximise the log likelihood of what is seen plus
 * a log prior, by EM; network order and joint posteriors of families are those of graph/exact/interface.h.
 *   1. dbn.c           the model: file, answers, descriptor
 *   2. dbn_data.c      the network from its file; columns of data as variables
 *   3. dbn_expect.c    expected counts of all sequences
 *   4. dbn_fit.c       EM and its starts
 *   5. dbn_errors.c    how certain the tables are
 *   6. dbn_update.c    sequences that come later
 *   7. dbn_sample.c    sequences drawn
 *   8. dbn_describe.c  probabilities by name, statistics
 * Dean & Kanazawa (1989); Lauritzen (1995), The EM algorithm for graphical association models with missing data, CSDA 19;
 * Murphy (2002), Dynamic Bayesian Networks, ch. 3 and 6.  (Internal header.) */
#ifndef CREDENCE_MODELS_NETWORK_DBN_H
#define CREDENCE_MODELS_NETWORK_DBN_H

#include "graph/exact/interface.h"
#include "models/core/class.h"
#include "models/common/sequence_names.h"
#include "models/core/em.h"

/* clang-format off */
#define CRI_DBN_OPTIONS(X)                                                                         \
    X(text, network, "", "FILE",                                                                   \
      "JSON file of a network with slices, or the JSON itself: structure, states, and the tables " \
      "to start from (needed)",                                                                    \
      "examples/networks/umbrella.json")                                                           \
    X(real, prior, "1", ">=0",                                                                     \
      "cases that the given tables count for: so many for each row of a table", "0")               \
    X(real, tol, "1e-6", ">=0", "stop when a step gains less than this per row", "1e-9")           \
    X(count, max_iter, "500", ">=1", "give up after this many steps", "50")                        \
    X(count, restarts, "5", ">=1",                                                                 \
      "starts, the first from the given tables, the others at random, of which the best result "   \
      "is kept; one where nothing is missing",                                                     \
      "20")

/* Learned tables one after another: those of slice 1 that have their own, then those of the others. */
#define CRI_DBN(MEMBER)                                                                            \
    MEMBER(text,   network,        (),      "",        "as it was given, JSON")                    \
    MEMBER(real,   prior,          (),      ">=0",     "cases of each row of the given tables")    \
    MEMBER(count,  size,           (),      "",        "entries of all tables that are learned")   \
    MEMBER(vector, value,          (size),  "0..1",    "what they are")                            \
    MEMBER(count,  free,           (),      "",        "free parameters of these")                 \
    MEMBER(count,  hidden,         (),      "",        "variables that no row shows")              \
    MEMBER(count,  gaps,           (),      "",        "cells that are missing in other variables") \
    MEMBER(count,  sequences,      (),      ">0",      "that it has learned from")                 \
    MEMBER(real,   rows,           (),      ">0",      "slices of all of them")                    \
    MEMBER(real,   log_likelihood, (),      "",        "of what the rows show")                    \
    MEMBER(count,  errors,         (),      "0..3 spare", "cri_dbn_errors")                        \
    MEMBER(vector, count,          (size),  ">=0 none", "how often each entry is expected in the rows") \
    MEMBER(vector, sd,             (size),  "none any", "by the curvature; NaN: not known")          \
    MEMBER(count,  variables,      (),      "found",   "of a slice")                               \
    MEMBER(vector, shown,          (variables), "0..1 none", "1: some row shows it")               \
    MEMBER(text,   labels,         (),      "none",    "of the sequences, each before a line feed") \
    MEMBER(part,   em,             (cri_em_outcome), "inside", "how it was found")
/* clang-format on */
/* net: with the learned tables; table, place [2 x variables]: those that are learned, and where each stands once more. */
CRI_RECORD(cri_dbn, CRI_DBN, cri_dynamic *net; struct cri_dbn_table * table;
           struct cri_dbn_place * place; size_t tables; size_t places; cri_sequence_names known;);
extern const cri_member cri_dbn_record[];
CR_OPTIONS_STRUCT(cri_dbn_options, CRI_DBN_OPTIONS);

/* What the standard deviations of probabilities are.  All are of a posterior whose prior is a Dirichlet distribution for
 * each row, with parameters N times the given table. */
typedef enum cri_dbn_errors {
    CRI_DBN_UNKNOWN,   /* an older file has no counts                                          */
    CRI_DBN_EXACT,     /* nothing was missing: Dirichlet, of the counts                        */
    CRI_DBN_CURVATURE, /* normal in logarithms of odds, by the second derivatives at the mode  */
    CRI_DBN_EXPECTED   /* as if the expected counts had been seen: too small                    */
} cri_dbn_errors;

/* A table that is learned.  A variable that begins as it goes on has one for all slices, the copies of a variable in
 * plates have one for all of them. */
typedef struct cri_dbn_table {
    size_t  variable;
    bool    first;        /* of slice 1 */
    size_t  states, size; /* entries of a row, and of all of them */
    size_t  at;           /* where it begins in `value` */
    double *value;        /* [size] in the network */
} cri_dbn_table;

/* Another place in the network where the same table stands. */
typedef struct cri_dbn_place {
    size_t  table, variable;
    bool    first;
    double *value;
} cri_dbn_place;

/* --- data (dbn_data.c) ------------------------------------------------------------------------ */

/* What the option is called in messages. */
const char *cri_dbn_source(const cri_dbn_options *o);
/* Refuses weights, and cells that were filled in. */
cr_status cri_dbn_check_rows(cr_ctx *cx, const cri_rows *rows);
/* The text of the file, or the option itself where it begins with a brace. */
cr_status cri_dbn_read_network(cr_ctx *cx, const char *option, char **out_text);
/* Makes m->net and m->table of m->network; `source` names it in messages. */
cr_status cri_dbn_open(cr_ctx *cx, const char *source, cri_dbn *m);
void      cri_dbn_close(cr_ctx *cx, cri_dbn *m);
/* Levels of the columns become all states of their variables, which draws may have. */
cr_status cri_dbn_join_levels(cr_ctx *cx, const cri_dbn *m, cr_design *d);
/* Puts values [size] into the network. */
void cri_dbn_set(const cri_dbn *m, const double *value);

/* What the rows show, sequence after sequence. */
typedef struct cri_dbn_data {
    const cri_sequences *of; /* borrowed */
    size_t               n;  /* variables */
    uint32_t *code;  /* [rows x n] in the order of the sequences: the state, or CRI_CODE_OPEN */
    bool     *shown; /* [n] is there a column of this variable with a cell that is not missing? */
    size_t    gaps;  /* open cells of these variables */
} cri_dbn_data;

/* In the arena; warns of columns that are no variables. */
cr_status cri_dbn_read_rows(cr_scratch *s, const cri_dbn *m, const cri_rows *rows,
                            cri_dbn_data *out);
/* The row of the table that a slice is, from 1. */
size_t cri_dbn_row(const cri_rows *rows, size_t slice);
/* The slices of one sequence. */
cri_slice_evidence cri_dbn_sequence(const cri_dbn_data *d, size_t sequence);

/* --- expected counts (dbn_expect.c) ----------------------------------------------------------- */

typedef struct cri_dbn_counter cri_dbn_counter;

/* Counts under the tables that m->net has at the time.  m and the data must outlive it. */
cr_status cri_dbn_counter_new(cr_ctx *cx, const cri_dbn *m, const cri_dbn_data *data,
                              cri_dbn_counter **out);
/* NULL is allowed. */
void cri_dbn_counter_free(cr_ctx *cx, cri_dbn_counter *c);
/* count [size]: how often each entry is expected; log P of what is seen.  *out_impossible: the first slice that cannot be
 * as it is, and no counts; or CR_NONE.  After a failure it can only be freed. */
cr_status cri_dbn_count(cri_dbn_counter *c, double *count, double *out_log, size_t *out_impossible);
/* Has something become too small for a double (interface.h)? */
bool cri_dbn_counter_lost(const cri_dbn_counter *c);

/* --- learning (dbn_fit.c, dbn_errors.c, dbn_update.c) ----------------------------------------- */

/* From the given tables; or, for rows that come later, from those of opt_old and what it has counted. */
cr_status cri_dbn_fit(cr_ctx *cx, const cri_rows *rows, const cri_dbn_options *o, uint64_t seed,
                      const cri_dbn *opt_old, cri_dbn *m, cr_report *report);
/* Sets m->sd, by differences of the score, where that is not too much work and the mode is one; prior [size]: what is
 * added to the counts.  cost: operations of a pass. */
cr_status cri_dbn_find_errors(cr_ctx *cx, cri_dbn_counter *c, const double *prior, double cost,
                              cri_dbn *m);
cr_status cri_dbn_update(cr_ctx *cx, const void *state, const cri_rows *rows, const void *options,
                         void **out_state, cr_report *report);

/* --- drawing (dbn_sample.c) ------------------------------------------------------------------- */

/* The columns of one new sequence. */
cr_status cri_dbn_sample(cr_ctx *cx, const void *state, const cr_design *design,
                         const cri_rows *opt_rows, size_t count, uint64_t seed, double *out);

/* --- describe (dbn_describe.c) ---------------------------------------------------------------- */

cr_status cri_dbn_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out);
extern const cr_field cri_dbn_statistics[];

#endif
