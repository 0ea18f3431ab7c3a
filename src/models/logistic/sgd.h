/* sgd.h -- stochastic gradients of linear classifiers, block by block.
 * Rows come in blocks, once, in any order: theta <- theta - rate_t g_t with rate_t = rate / (1 +
 * t/decay)^power over mini-batches, and the mean of the iterates (Robbins & Monro 1951; Polyak &
 * Juditsky 1992). Its error after one pass is about that of the estimate itself; cri_solve_sgd goes
 * on from there to the minimum.  (Internal header.) */
#ifndef CREDENCE_MODELS_LOGISTIC_SGD_H
#define CREDENCE_MODELS_LOGISTIC_SGD_H

#include "likelihood.h"

typedef struct cri_sgd {
    size_t  M, q, batch;
    double  rate, decay, power;
    double  rows; /* how many the penalty is shared by: l2 / rows per row */
    size_t  steps;
    double *theta, *mean; /* [M x q] last iterate, and the mean of all */
    double *workspace;    /* [M x q + 2 M]                             */
} cri_sgd;

/* Room for theta = 0.  Fails with CR_ENOMEM. */
cr_status cri_sgd_new(cr_ctx *cx, size_t M, size_t q, cri_sgd *out);
void      cri_sgd_free(cr_ctx *cx, cri_sgd *s);
/* Steps through rows Z [count x q] with classes y and weights opt_w; f gives link and penalty.
 * Pure. */
void cri_sgd_block(cri_sgd *s, const cri_likelihood *f, const double *Z, const uint32_t *y,
                   const double *opt_w, size_t count);

/* Half the inverse of the expected smoothness of a batch, the rate at which steps surely fall;
 * workspace [q]. */
double cri_sgd_rate(const cri_likelihood *f, size_t batch, double *workspace);

#endif
