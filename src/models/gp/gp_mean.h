/* gp_mean.h -- the mean function of a Gaussian process: a basis whose coefficients are learned.
 *   m(x) = h(x) . b,   h = 1;  1, x;  or 1, x, x^2, .. x^K of each column of numbers
 * The columns are centred and scaled inside; terms that depend on those before them (a constant
 * column, more terms than rows) are left out.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_GP_MEAN_H
#define CREDENCE_MODELS_GP_GP_MEAN_H

#include "gp_data.h"

enum { CRI_GP_MOST_POWER = 9 };

typedef struct cri_gp_mean {
    size_t  d, q, room;     /* columns, terms, and for how many terms there is memory    */
    double *centre, *scale; /* [d]                                                       */
    double *column, *power; /* [room] of each term: column (any when power is 0), power  */
} cri_gp_mean;

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
/* Frees the arrays. */
void cri_gp_mean_free(cr_ctx *cx, cri_gp_mean *mean);

#endif
