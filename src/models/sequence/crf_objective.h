/* crf_objective.h -- what a conditional random field minimises, and its gradient.
 *   f(w) = -sum_s v_s log p(y_s | x_s) + lambda/2 |w|^2,   v_s the weight of sequence s
 *   df/dw = sum_t v_t (p(y_t = k | x) - [y_t = k]) x_ta + lambda w    of attribute a and label k
 * and likewise of transitions, with the expected number of pairs.  Two passes, both by threads in
 * fixed blocks: over sequences, which leaves the residuals p - [y] of all rows, and over attributes,
 * each of which adds up the residuals of its rows in their order.  So no thread has a gradient of its
 * own, and the bits do not depend on how many there are.
 * Of a stream both are sums over its blocks, and rows x K is that of a block (crf_blocks.c).
 * O(rows (attributes K + K^2)) time, rows x K numbers of memory.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_CRF_OBJECTIVE_H
#define CREDENCE_MODELS_SEQUENCE_CRF_OBJECTIVE_H

#include "crf_chain.h"
#include "crf_rows.h"

struct cri_passes;

typedef struct cri_crf_problem {
    cr_ctx                   *cx;
    struct cri_passes        *passes;    /* over a stream, whose rows are not here; or NULL */
    cri_crf_making           *making;    /* of the attributes of its blocks                  */
    struct cri_crf_kept      *kept;      /* these blocks, where they fit into memory; or NULL */
    bool                      read_once; /* there was a pass that could keep them          */
    size_t                    n, sequences, A, K, stride, longest;
    const size_t             *begin;  /* [sequences + 1] rows of sequences */
    const cri_attribute_rows *rows;   /* attributes of rows                */
    const uint32_t           *y;      /* [n] labels                        */
    const double             *weight; /* [sequences]; NULL: all 1          */
    double                    lambda, l1;
    size_t                    blocks; /* of sequences                      */
    size_t                   *block;  /* [blocks + 1] their first ones     */
    size_t                   *start;  /* [A + 1] the rows of attributes: */
    uint32_t                 *row;    /* [entries]                         */
    double                   *value;  /* [entries]; NULL: all 1            */
    size_t                    D;      /* weights that are learned          */
    size_t                   *place;  /* [D] where they are among the padded ones  */
    double                   *W;      /* [(A + K) x stride]: weights of attributes, then T */
    double                   *G;      /* [(A + K) x stride]: their gradient                */
    double                   *R;      /* [n x stride]: scores, then residuals              */
    cri_crf_chain             chain;
    double                    nll; /* at the last weights               */
} cri_crf_problem;

/* Sets rows, labels and weights; they are borrowed. */
void cri_crf_problem_rows(cri_crf_problem *p, const cri_rows *rows, const cri_crf_rows *r);
/* Completes a problem whose rows, labels and penalties are set; memory is of the arena.  With opt_seen [A x K],
 * attributes have weights for those labels alone that they were seen with. */
cr_status cri_crf_problem_open(cr_scratch *s, cri_crf_problem *p, const uint8_t *opt_seen);
/* Of one whose weights are those of another: blocks and rows of attributes, which stay as they are; and gradient and
 * residuals of its own. */
cr_status cri_crf_problem_lay_out(cr_scratch *s, cri_crf_problem *p);
cr_status cri_crf_problem_make_workspace(cr_scratch *s, cri_crf_problem *p);

/* f and its gradient at theta [D], without the absolute penalty: a cr_objective_fn. */
cr_status cri_crf_value(void *problem, const double *theta, size_t D, double *out_f,
                        double *opt_gradient);
/* The same with it, theta = x[0..D) - x[D..2D), x >= 0: f + l1 sum x. */
cr_status cri_crf_split_value(void *problem, const double *x, size_t D2, double *out_f,
                              double *opt_gradient);

/* What its rows, or all blocks of the stream, say at the weights that are set: nll and, if wanted, G. */
cr_status cri_crf_sum_rows(cri_crf_problem *p, bool gradient);
cr_status cri_crf_sum_blocks(cri_crf_problem *p, bool gradient);
/* The problem of a block alone, without penalty, whose weights are those of all; its rows are laid out. */
typedef cr_status cri_crf_part_fn(cr_ctx *cx, void *arg, cri_crf_problem *part);
/* body of every block in turn, of rows in memory as the only one, until one fails (crf_blocks.c). */
cr_status cri_crf_each_block(cri_crf_problem *p, cri_crf_part_fn *body, void *arg);
void      cri_crf_problem_close(cri_crf_problem *p); /* what is kept of the blocks */
/* H [D x D] = the second derivatives at theta, by differences of gradients with these steps. */
cr_status cri_crf_hessian(cri_crf_problem *p, double *theta, const double *step, double *H);

/* S [n x stride] = the scores of rows begin .. begin + n - 1 under W [A x stride]. */
void cri_crf_scores(const cri_attribute_rows *rows, size_t begin, size_t n, const double *W,
                    size_t stride, double *S);

#endif
