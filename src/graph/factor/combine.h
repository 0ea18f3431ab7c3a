/* combine.h -- products of tables, summed or maximised onto smaller tables, without storing the
 * product. out_j(x_Sj) = sum (or max) over the other variables of  prod_i in_i(x_Si) The space is
 * the joint table of the n variables of all scopes; it is walked in blocks, cut along its last
 * variables, so that the index of an entry is never computed: within a block a table is read
 * straight on, or is constant, or goes through one list of places made beforehand; from block to
 * block every table moves by one addition.  Products of tables that do not change from one block to
 * the next are kept, so an entry costs little more than one multiplication however many tables
 * there are. (Internal header.) */
#ifndef CREDENCE_GRAPH_FACTOR_COMBINE_H
#define CREDENCE_GRAPH_FACTOR_COMBINE_H

#include "base/context.h"

/* More variables of two states or more would not fit in any memory. */
enum { CRI_MOST_DIMS = 64 };

typedef enum cri_semiring {
    CRI_SUM,     /* out += product */
    CRI_MAX,     /* out = max(out, product) */
    CRI_LOG_MAX, /* tables hold logarithms: out = max(out, sum) */
    CRI_LOG_EXP  /* ...: out += exp(sum - peak), peak laid out as the output */
} cri_semiring;

typedef struct cri_operand {
    const double *value;
    size_t        stride[CRI_MOST_DIMS]; /* along each variable of the space; 0: not in its scope */
} cri_operand;

typedef struct cri_output {
    double       *value;
    const double *peak; /* for CRI_LOG_EXP */
    uint16_t *arg; /* for one output and CRI_MAX or CRI_LOG_MAX: which state of the variables that
                      are maximised over, numbered together, was best (the first of equals) */
    size_t    stride[CRI_MOST_DIMS];
} cri_output;

/* Work on fewer entries is done by one thread: waking others takes as long. */
enum { CRI_WORTH_THREADS = 1 << 18 };

typedef struct cri_space {
    size_t n;                  /* variables with two states or more */
    size_t var[CRI_MOST_DIMS]; /* ascending */
    size_t states[CRI_MOST_DIMS];
} cri_space;

/* Adds a variable, in ascending order; one of a single state is left out.  false: too many. */
bool cri_space_add(cri_space *space, size_t var, size_t states);
/* The number of entries of the space, as a double (it may not fit otherwise). */
double cri_space_size(const cri_space *space);
/* The strides in the space of a table over n sorted variables with the given states. */
void cri_space_strides(const cri_space *space, size_t n, const size_t *var, const size_t *states,
                       size_t *out_stride);

/* The work above.  The outputs have been set to 0 (CRI_SUM, CRI_MAX, CRI_LOG_EXP) or -INFINITY
 * (CRI_LOG_MAX).  No inputs: the product is one.  Large spaces are cut into parts, by size alone,
 * that run on several threads when `threaded`; several outputs need memory for their parts then.
 * *opt_lost: some product was too small for a double and lost digits.
 * false when out of memory (nothing is recorded) or stopped. */
bool cri_combine(cr_ctx *cx, const cri_space *space, cri_semiring semiring, size_t inputs,
                 const cri_operand *in, size_t outputs, const cri_output *out, bool threaded,
                 bool *opt_lost);
/* The bytes that a sum holds beside its tables while it runs; values are not looked at.  false: out
 * of memory. */
bool cri_combine_bytes(cr_ctx *cx, const cri_space *space, size_t inputs, const cri_operand *in,
                       size_t outputs, const cri_output *out, bool threaded, double *out_bytes);

#endif
