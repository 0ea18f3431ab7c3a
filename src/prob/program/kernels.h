/* kernels.h -- the operations of a tape: their names, values and derivatives.
 * The lists make the kernels, the tables by which the binder finds them, and the functions on
 * single doubles with which it folds what is constant.  (Internal header.) */
#ifndef CREDENCE_PROB_PROGRAM_KERNELS_H
#define CREDENCE_PROB_PROGRAM_KERNELS_H

#include "tape.h"

extern const cri_tape_kernel cri_kernel_gather, cri_kernel_sum, cri_kernel_dot, cri_kernel_prod,
    cri_kernel_log_sum_exp, cri_kernel_matrix, cri_kernel_cumulative_sum, cri_kernel_softmax,
    cri_kernel_simplex;

/* A function of one or two numbers, entry by entry. */
typedef struct cri_each_function {
    const char *name;
    unsigned    arguments; /* 1 or 2                                                  */
    double (*one)(double x);
    double (*two)(double x, double y);
    const cri_tape_kernel *kernel;
} cri_each_function;
/* By its name; NULL: there is none. */
const cri_each_function *cri_each_find(const char *name, unsigned arguments);
/* The kernel of one that exists: the binder's and the transforms' own. */
const cri_tape_kernel *cri_each_kernel(const char *name, unsigned arguments);

/* A distribution: y first, then its parameters, Stan's names and order. */
typedef struct cri_density_function {
    const char *name;
    unsigned    parameters; /* so many after y                                                    */
    bool        whole;      /* of whole numbers                                                   */
    double      low, high;  /* the support of y, where it does not depend on parameters           */
    unsigned    positive;   /* bit k: parameter k must be > 0                                     */
    unsigned    unit;       /* bit k: parameter k must be in 0..1                                 */
    /* log p(y | a), and its derivatives by y and a [1 + parameters] if asked for; y and parameters
     * are x[0 .. parameters] */
    double (*log_density)(const double *x, double *opt_slopes);
    const cri_tape_kernel *kernel;
} cri_density_function;
const cri_density_function *cri_density_find(const char *name);
/* The kernel that is made for many rows; NULL: there is none. */
const cri_tape_kernel *cri_rows_kernel(const char *name);
/* The i-th, for lists of names; NULL past the last. */
const cri_density_function *cri_density_at(size_t i);

#endif
