/* tape.h -- a log density as a fixed list of operations on numbers and vectors, and its gradient.
 *   slot      a place in one array of doubles, the values; each operation fills a run of slots
 *   constant  a slot that is filled before the first evaluation and stays
 *   forward   runs the operations in their order; the density is the sum of its terms
 *   backward  runs them in reverse order and adds to each input's adjoint, d density / d input
 * A tape is built once (binder) and then evaluated many times without allocation or failure: all
 * shapes are settled.  Evaluations of one tape in several threads each have their own values and
 * adjoints (a `cri_tape_run`).  Cost of a gradient: about four times the forward pass.
 * Griewank & Walther (2008), Evaluating Derivatives, ch. 3.  (Internal header.) */
#ifndef CREDENCE_PROB_PROGRAM_TAPE_H
#define CREDENCE_PROB_PROGRAM_TAPE_H

#include "base/scratch.h"

typedef uint32_t cri_slot;
#define CRI_NO_SLOT UINT32_MAX

/* An input: `n` slots from `at`; one slot stands for as many as are needed. */
typedef struct cri_tape_operand {
    cri_slot at;
    uint32_t n;
    bool     constant; /* has no adjoint                                                     */
} cri_tape_operand;

enum { CRI_MOST_OPERANDS = 4 };

typedef struct cri_tape_op cri_tape_op;
typedef struct cri_tape_kernel {
    const char *name;
    /* Fills the op's output in v; adds to the adjoints a of its inputs from those of its output. */
    void (*forward)(const cri_tape_op *op, double *v);
    void (*backward)(const cri_tape_op *op, const double *v, double *a);
    bool
        each; /* entry i of the output is a function of entry i of the inputs, and of nothing else */
    bool sums; /* the output is one number, the sum over entries of the inputs                  */
    const struct cri_tape_kernel *apart; /* of a kernel that sums what each entry gives: without the
                                          * sum; NULL: there is none                            */
    double (*known)(const cri_tape_op *op,
                    const double      *v); /* what depends on constants alone, and is
                                          * computed once, into op->known; NULL: nothing         */
} cri_tape_kernel;

struct cri_tape_op {
    const cri_tape_kernel *kernel;
    cri_slot               out;
    uint32_t               n; /* entries of the output; of the inputs where kernel->sums      */
    uint32_t               rows, cols, inner; /* of matrices                                     */
    cri_tape_operand       in[CRI_MOST_OPERANDS];
    unsigned               n_in;
    double                 known; /* see the kernel                                           */
    const cri_slot        *index; /* [n]: for gather                                             */
};

typedef struct cri_tape {
    cr_scratch memory;
    cri_slot  *parameter; /* [n_parameters]: where the unconstrained parameters are               */
    size_t     n_parameters, parameters_most;
    double    *initial; /* [size]: the constants in their slots                           */
    size_t     size, size_most;
    bool      *constant; /* [size]                                                         */
    cri_tape_op *op;
    size_t       n_ops, ops_most;
    size_t    core; /* so many operations make the density; those after, what is reported        */
    cri_slot *term; /* the density is the sum of these                                        */
    size_t    n_terms, terms_most;
} cri_tape;

/* --- building: the status of the memory says whether all went well ---------------------------- */

cri_tape cri_tape_begin(cr_ctx *cx);
void     cri_tape_free(cri_tape *t);
/* n new parameters, one after another. */
cri_slot cri_tape_parameters(cri_tape *t, size_t n);
cri_slot cri_tape_constants(cri_tape *t, const double *x, size_t n);
/* An operation with n entries of output; the inputs' constants are looked up. */
cri_slot cri_tape_add(cri_tape *t, cri_tape_op op);
/* out[i] = value at index[i]. */
cri_slot cri_tape_gather(cri_tape *t, const cri_slot *index, size_t n);
cri_slot cri_tape_unary(cri_tape *t, const cri_tape_kernel *kernel, cri_slot x, size_t n);
cri_slot cri_tape_binary(cri_tape *t, const cri_tape_kernel *kernel, cri_slot x, size_t nx,
                         cri_slot y, size_t ny);
/* The sum of n slots. */
cri_slot cri_tape_sum(cri_tape *t, cri_slot x, size_t n);
/* Adds a slot to the density. */
void cri_tape_term(cri_tape *t, cri_slot slot);
/* Is any of n slots not constant? */
bool cri_tape_varies(const cri_tape *t, cri_slot x, size_t n);

/* Puts operations on single numbers that do the same, and do not need each other, together into
 * operations on vectors: what a loop over rows wrote one by one.  kept [runs] of n_kept [runs] slots
 * are places of values that stay known: each is replaced by where its value is now. */
cr_status cri_tape_batch(cr_ctx *cx, cri_tape *t, cri_slot **kept, const size_t *n_kept,
                         size_t runs);

/* --- evaluating ------------------------------------------------------------------------------- */

typedef struct cri_tape_run {
    const cri_tape *tape;
    double         *value, *adjoint; /* [size] each                                              */
} cri_tape_run;

/* Values and adjoints of one evaluation at a time, in the arena. */
cri_tape_run cri_tape_open(const cri_tape *t, cr_scratch *s);
/* log density at x [n_parameters], and its gradient if asked for.  -INFINITY outside the support;
 * NaN counts as that. */
double cri_tape_density(cri_tape_run *run, const double *x, double *opt_gradient);
/* Fills run->value at x with all that is reported. */
void cri_tape_report(cri_tape_run *run, const double *x);

#endif
