/* rvm_basis.h -- the functions that a relevance vector machine chooses among.
 *   phi_c(x) = 1;   and k(x, x_c) for every distinct input x_c of the rows, or the terms of the design: numbers, and
 *   an indicator of each level
 * n distinct inputs, C functions.  Phi [n x C] is kept where n is small or the terms are few; beyond, kernel columns are
 * computed in blocks of rows each time they are asked for, in memory of a block.  Inputs are sorted by their values,
 * so that the order of the rows plays no part in what is chosen.  (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_RVM_RVM_BASIS_H
#define CREDENCE_MODELS_KERNEL_RVM_RVM_BASIS_H

#include "models/kernel/inputs/gp_data.h"

/* Distinct inputs up to which Phi is kept: 128 MB. */
enum { CRI_RVM_KEPT = 4000 };

typedef struct cri_rvm_basis {
    size_t             n, C;
    bool               constant; /* function 0 is 1                                   */
    const cri_gp_data *at;       /* the inputs                                        */
    const cr_kernel   *kernel;   /* NULL: terms                                       */
    double            *Phi;      /* [n x C], or NULL                                  */
    double            *gram;     /* [C x C] Phi^T R^-1 Phi, once it is asked for       */
} cri_rvm_basis;

/* data := its inputs in their order; position [n]: where each of them went. */
cr_status cri_rvm_sort(cr_ctx *cx, cri_gp_data *data, size_t *position);

/* The functions of these inputs, in the memory of the arena; kernel NULL: the terms of the design.  Both are borrowed. */
cr_status cri_rvm_basis_new(cr_scratch *s, const cri_gp_data *at, const cr_kernel *opt_kernel,
                            const cr_design *design, bool constant, cri_rvm_basis *out);
/* Computes gram, where Phi is kept.  O(n C^2). */
cr_status cri_rvm_basis_gram(cr_scratch *s, cri_rvm_basis *b);
/* The functions number which [m] at the inputs: out [n x m].  O(n m). */
cr_status cri_rvm_columns(cr_ctx *cx, const cri_rvm_basis *b, const size_t *which, size_t m,
                          double *out);
/* out [C x u] = Phi^T U, U [n x u].  O(n C u). */
cr_status cri_rvm_products(cr_ctx *cx, const cri_rvm_basis *b, const double *U, size_t u,
                           double *out);
/* out [C x u]: sum_i U_iu phi_c(x_i)^2. */
cr_status cri_rvm_squares(cr_ctx *cx, const cri_rvm_basis *b, const double *U, size_t u,
                          double *out);

/* How many terms a design has, an indicator of each level counted. */
size_t cri_rvm_terms(const cr_design *design);
/* The terms of inputs: out [rows x terms], `stride` doubles between rows. */
void cri_rvm_fill_terms(const cr_design *design, const cr_kernel_input *in, double *out,
                        size_t stride);

#endif
