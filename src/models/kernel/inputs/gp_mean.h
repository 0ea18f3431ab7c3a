/* gp_mean.h -- the mean function of a Gaussian process: a basis whose coefficients are learned.
 *   m(x) = h(x) . b,   h = 1;  1, x;  or 1, x, x^2, .. x^K of each column of numbers
 * The columns are centred and scaled inside; terms that depend on those before them (a constant
 * column, more terms than rows) are left out.  (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_INPUTS_GP_MEAN_H
#define CREDENCE_MODELS_KERNEL_INPUTS_GP_MEAN_H

#include "gp_data.h"

enum { CRI_GP_MOST_POWER = 9 };

#define CRI_GP_MEAN(MEMBER)                                                                        \
    MEMBER(count, d, (), "", "columns")                                                            \
    MEMBER(count, q, (), "", "terms")                                                              \
    MEMBER(vector, centre, (d), "", "of the columns")                                              \
    MEMBER(vector, scale, (d), ">0", "likewise")                                                   \
    MEMBER(vector, column, (q), ">=0", "of each term; any where the power is 0")                   \
    MEMBER(vector, power, (q), ">=0", "likewise")
CRI_RECORD(cri_gp_mean, CRI_GP_MEAN);
extern const cri_member cri_gp_mean_record[];

/* Reads "zero", "constant", "linear" or "poly:K": the highest power, or -1 for no mean at all.
 * Fails with CR_EARG. */
cr_status cri_gp_mean_degree(cr_ctx *cx, const char *text, int *out_degree);
/* The basis of this degree for these inputs; opt_dropped: how many terms had to go. */
cr_status cri_gp_mean_new(cr_ctx *cx, int degree, const cri_gp_data *data, cri_gp_mean *out_mean,
                          size_t *opt_dropped);
/* H [n x q] of rows X [n x d].  Pure. */
void cri_gp_mean_fill(const cri_gp_mean *mean, const double *X, size_t n, double *H);
/* T [q x q], lower terms last: coefficients in the units of the columns are T b. */
void cri_gp_mean_units(const cri_gp_mean *mean, double *T);

#endif
