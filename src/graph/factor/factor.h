/* factor.h -- tables over discrete variables, and their algebra.
 *   phi(x_1, ..., x_n) >= 0, dense; scope = variables in ascending order; the last runs fastest
 * A factor holds its values, or their natural logarithms (is_log; the log of 0 is -INFINITY).
 * Every operation takes factors of both sorts and gives the sort of its first argument.  Costs are
 * of the order of the largest table named.  Inner loops run over long stretches without computing
 * an index per entry (combine.h).
 * Koller & Friedman (2009), "Probabilistic graphical models", sec. 4.2.1, 9.3, 10.3 (division). */
#ifndef CREDENCE_GRAPH_FACTOR_FACTOR_H
#define CREDENCE_GRAPH_FACTOR_FACTOR_H

#include "base/context.h"

typedef struct cr_factor {
    size_t  n;      /* variables in the scope */
    size_t *var;    /* [n] ascending */
    size_t *states; /* [n] how many states each has */
    size_t *stride; /* [n] from one state to the next; that of the last 1 */
    size_t  size;   /* the product of states; 1 when n = 0 */
    double *value;  /* [size] */
    bool    is_log;
} cr_factor; /* all zeros: no factor; cr_factor_free does nothing to it */

/* A factor over these variables, in any order, each once.  values: in the order of the given scope,
 * the last running fastest; NULL = all ones.  Fails with CR_EARG on a repeated variable, CR_EDATA
 * on a value that is negative or not finite, CR_ENOMEM (with the size) when the table cannot be. */
CR_API cr_status cr_factor_new(cr_ctx *cx, size_t n, const size_t *var, const size_t *states,
                               const double *opt_values, cr_factor *out_f);
/* Frees the tables and leaves no factor. */
CR_API void cr_factor_free(cr_ctx *cx, cr_factor *f);
/* A factor of its own with the same values. */
CR_API cr_status cr_factor_copy(cr_ctx *cx, const cr_factor *f, cr_factor *out_f);
/* Takes logarithms in place, or undoes it; nothing if it is so already. */
CR_API void cr_factor_set_log(cr_factor *f, bool is_log);

/* out = a b, over the union of the scopes. */
CR_API cr_status cr_factor_product(cr_ctx *cx, const cr_factor *a, const cr_factor *b,
                                   cr_factor *out_f);
/* out = a / b with 0 / 0 = 0; b's scope must be within a's (CR_EARG).  x / 0 with x > 0 is
 * CR_ENUMERIC. */
CR_API cr_status cr_factor_divide(cr_ctx *cx, const cr_factor *a, const cr_factor *b,
                                  cr_factor *out_f);
/* out = sum over the variables that are not in `keep`; those kept that f does not have are ignored.
 */
CR_API cr_status cr_factor_marginal(cr_ctx *cx, const cr_factor *f, size_t n, const size_t *keep,
                                    cr_factor *out_f);
/* The same with the maximum in place of the sum. */
CR_API cr_status cr_factor_max_marginal(cr_ctx *cx, const cr_factor *f, size_t n,
                                        const size_t *keep, cr_factor *out_f);
/* out = sum of the product a b over the variables that are not in `keep`, without ever storing the
 * product. */
CR_API cr_status cr_factor_product_marginal(cr_ctx *cx, const cr_factor *a, const cr_factor *b,
                                            size_t n, const size_t *keep, cr_factor *out_f);
/* out = f at var = state, without that variable (a copy if f does not have it).  CR_EARG when the
 * state is beyond the last. */
CR_API cr_status cr_factor_reduce(cr_ctx *cx, const cr_factor *f, size_t var, size_t state,
                                  cr_factor *out_f);
/* Divides by the sum, in place; opt_log_sum gets its logarithm.  A factor of zeros stays as it is
 * and gives -INFINITY. */
CR_API void cr_factor_normalise(cr_factor *f, double *opt_log_sum);
/* The place in f->value of an assignment: state[v] for every variable v of the scope. */
CR_API size_t cr_factor_index(const cr_factor *f, const size_t *state);
/* Where a variable stands in the scope, CR_NONE if it is not there.  O(log n). */
CR_API size_t cr_factor_position(const cr_factor *f, size_t var);

#endif
