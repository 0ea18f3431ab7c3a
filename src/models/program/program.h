/* program.h -- what is kept of a program and its posterior, and the steps of a fit.  (Internal header.) */
#ifndef CREDENCE_MODELS_PROGRAM_PROGRAM_H
#define CREDENCE_MODELS_PROGRAM_PROGRAM_H

#include "models/common/sequence_names.h"
#include "models/core/class.h"
#include "prob/mc/diagnose.h"
#include "prob/mc/nuts.h"
#include "prob/program/binder.h"

#define CRI_PROGRAM(X)                                                                             \
    X(text, source, (), "", "the program")                                                         \
    X(text, names, (), "", "of the quantities, each before a line feed")                           \
    X(count, chains, (), ">=1", "chains")                                                          \
    X(count, length, (), ">=1", "draws of each")                                                   \
    X(count, total, (), ">=1", "draws of all chains, one chain after another")                     \
    X(count, n, (), ">=1", "quantities")                                                           \
    X(count, warmup, (), "", "draws that the sampler learned by, per chain")                       \
    X(count, max_depth, (), "", "doublings of a trajectory at most")                               \
    X(count, gradients, (), "", "evaluations of the density and its gradient")                     \
    X(count, free, (), ">=1", "numbers without constraints that were sampled")                     \
    X(matrix, draws, (total, n), "any", "the quantities")                                          \
    X(vector, log_density, (total), "any", "of each draw, up to a constant")                       \
    X(vector, energy, (total), "any", "of the draw and its momentum")                              \
    X(vector, accept, (total), "any", "mean acceptance along the trajectory")                      \
    X(vector, step, (total), "any", "of the trajectory")                                           \
    X(index, leapfrogs, (total), "", "steps of it")                                                \
    X(index, depth, (total), "", "doublings of it")                                                \
    X(index, diverged, (total), "0..1", "1: the energy was lost")                                  \
    X(index, flat, (n), "0..1", "1: a parameter without a prior")
CRI_RECORD_WITH(cri_program, CRI_PROGRAM, cri_sequence_names known;);

typedef struct cri_program_request {
    size_t           chains;
    uint64_t         seed;
    cri_nuts_options nuts;
} cri_program_request;

extern const cri_member cri_program_record[];
extern const cr_field   cri_program_statistics[];

/* The text of a program: of a file where the option ends in .model or .stan.  *out_source is what
 * failures call it, borrowed from the option or a constant; *out_text is freed by cri_string_free. */
cr_status cri_program_text(cr_ctx *cx, const char *option, const char **out_source,
                           char **out_text);

/* --- data (program_data.c) -------------------------------------------------------------------- */

/* Is `name` a name that the program looks for among the data? */
bool cri_program_reads(const cri_syntax_tree *tree, const char *name);
/* The columns of a table that it reads, as --features names them; NULL where it reads none. */
cr_status cri_program_columns(cr_ctx *cx, const cri_syntax_tree *tree, const cr_table *table,
                              char **out_features);
/* The columns of the rows, and what a file of CmdStan's JSON holds, in the arena. */
cr_status cri_program_data(cr_scratch *s, const cri_syntax_tree *tree, const cri_rows *rows,
                           const char *opt_json, cri_program_datum **out_data, size_t *out_n);

/* --- posterior -------------------------------------------------------------------------------- */

/* Chains side by side: into a state that has only its text.  *out_late: the time limit ended them. */
cr_status cri_program_sample(cr_ctx *cx, cri_bound *bound, const cri_program_request *request,
                             cri_program *out, bool *out_late);
/* Which quantities are kept, and their names (program_names.c): slot [n], and the names of out. */
cr_status cri_program_choose(cr_ctx *cx, const cri_bound *bound, cr_scratch *s, cri_slot **out_slot,
                             cri_program *out);
cr_status cri_program_describe(cr_ctx *cx, const void *state, const cr_design *design,
                               cri_sheet *out);
/* Warns of what is wrong with the draws; *out_agree: the chains agree. */
cr_status cri_program_judge(cr_ctx *cx, const cri_program *p, bool *out_agree);

#endif
