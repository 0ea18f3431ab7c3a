/* em.h -- models that are found by EM (cri_em_face): starts, steps, and the best end of all.
 * A step is one pass over the rows: leaf by leaf, in parallel within a leaf, the leaves added up in the canonical
 * tree; so rows in memory and a stream of them, which is gone through again and again, give the same bits.
 * Dempster, Laird & Rubin (1977), J. Royal Stat. Soc. B 39.  (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_EM_H
#define CREDENCE_MODELS_CORE_EM_H

#include "data/stream/stream.h"
#include "model_internal.h"

/* How the fit went: a part of the state.  The objective is the log likelihood of the rows. */
/* clang-format off */
#define CRI_EM_OUTCOME(MEMBER)                                                                     \
    MEMBER(count,  iterations,      (),           ">=1", "passes of the start that was kept")      \
    MEMBER(count,  restarts,        (),           ">=1", "starts that were made")                  \
    MEMBER(count,  restarts_agreed, (),           ">=1", "of these, how many ended as high")       \
    MEMBER(flag,   converged,       (),           "",    "a step gained less than the tolerance")  \
    MEMBER(real,   objective,       (),           "any none", "at the end")                        \
    MEMBER(vector, trace,           (iterations), "any", "the objective at every pass")
/* clang-format on */
CRI_RECORD(cri_em_outcome, CRI_EM_OUTCOME);
extern const cri_member cri_em_outcome_record[];

/* What every such model says of it, among its statistics. */
#define CRI_EM_FIELDS                                                                              \
    CR_COUNT("iterations", 0, "passes over the rows of the start that was kept"),                  \
        CR_COUNT("restarts", 0, "starts that were made"),                                          \
        CR_COUNT("restarts_agreed", 0, "of these, how many ended as high as the best"),            \
        CR_NUMBER("objective", 0, "log likelihood of the rows at the end"),                        \
        CR_FLAG("converged", 0, "whether the last step gained less than the tolerance")
void cri_em_describe(const cri_em_outcome *outcome, cri_sheet *statistics);

/* A pass over all rows: `meet`, where there is one, sees leaf after leaf before `add` adds the statistics of some of
 * its rows to sums [width] with so many numbers to work in; pure. */
typedef struct cri_em_pass {
    void (*add)(const void *of, const cri_rows *rows, cri_range range, double *sums, double *work);
    const void *of;
    size_t      width, work;
    cr_status (*meet)(cr_ctx *cx, void *met, const cri_rows *leaf);
    void *met;
} cri_em_pass;
/* sums [width + 1] = the statistics of all rows, or of all blocks of the stream of which they are the first; and their
 * weight. */
cr_status cri_em_gather(cr_ctx *cx, const cri_em_pass *pass, const cri_rows *rows, double *sums);

/* Sequences that are worked on together, by their number alone. */
static inline size_t cri_sequences_together(size_t sequences) { return 1 + sequences / 512; }

/* Fits the state of a model to rows: all of them, or the first block of a stream, whose blocks all count.
 * Near the time limit it ends with the best so far.  Sets the report, with the rows of a stream. */
cr_status cri_em_fit(cr_ctx *cx, cr_model *model, const cri_rows *rows);

#endif
