/* likelihood_pass.h -- one pass over the rows of a linear classifier, in the coordinates the rows
 * are in. (Internal header.) */
#ifndef CREDENCE_MODELS_LOGISTIC_LIKELIHOOD_PASS_H
#define CREDENCE_MODELS_LOGISTIC_LIKELIHOOD_PASS_H

#include "likelihood.h"

typedef enum cri_pass_kind { CRI_PASS_VALUE, CRI_PASS_PRODUCT, CRI_PASS_DIAGONAL } cri_pass_kind;

/* A pass sums, in raw coordinates of width `width`, z of dense rows or (1, x) of sparse ones:
 *   acc = [nll, wrong, sum_i u_im z_i (M x width), then the Hessian (M s)^2 or sum_i u_im z_i^2 (M
 * x width)] where u is the residual, what a product asks for, or the curvature itself. */
typedef struct cri_pass {
    const cri_likelihood *f;
    cri_pass_kind         kind;
    bool                  hessian;
    const double         *theta;     /* [M x width]: scores are taken along it        */
    double               *curvature; /* [n x M]: written by a value, read by others   */
    size_t                width, s;
    const uint32_t       *place; /* sparse: [width] place in the Hessian, UINT32_MAX for none */
} cri_pass;

enum { CRI_PASS_HEAD = 2 };

/* How many sums a pass has. */
size_t cri_pass_length(const cri_pass *w);
/* out [length] = the sums over all rows.  Fails with CR_ENOMEM, CR_EINTERRUPTED. */
cr_status cri_pass_run(cr_ctx *cx, cri_pass *w, double *out);

#endif
