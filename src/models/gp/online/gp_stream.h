/* gp_stream.h -- a sparse Gaussian process that takes in rows batch by batch and keeps none of
 * them.  What rows say of the function goes through its values a = f(Z) at the inducing inputs and
 * the coefficients b of the mean: exp(-(1/2) sum_i (y_i - h_i . b - k_i^T K^-1 a)^2 / D_i), D the
 * noise.  With K = L L^T and V = L^-1 K_mn D^-1/2 the sums
 *   Phi = V V^T,   M = V E,   S = E^T E,   E = D^-1/2 (H, y)
 * are all of it.  For the same Z and kernel they add up over batches, and the posterior and the
 * bound are those of gp_sparse.h (vfe) with all rows at once.  They go with 1 / noise, and so does
 * `loss` of what else the bound has,
 *   settled = -(count log noise + loss / noise) / 2 + what nothing changes,
 * so that for another noise they are those of all rows again: it is learned from all of them, not
 * from the batch.  For new inducing inputs Z', a new kernel or both the old factor, a function of
 * f(Z), is kept as it is: rows of pseudo-data P f(Z) with noise 1,
 *   Phi = R R^T,  P = R^T L^-1,   seen through Z' like any others,   K_pm' = P K(Z, Z'),
 * and the bound loses tr(P^T P (K(Z, Z) - Q(Z, Z))) / 2 for what Z' cannot carry.
 * Bui, Nguyen & Turner (2017), Streaming sparse Gaussian process approximations, NIPS; the optimal
 * q(u) there is the one here.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_ONLINE_GP_STREAM_H
#define CREDENCE_MODELS_GP_ONLINE_GP_STREAM_H

#include "models/gp/sparse/gp_sparse.h"

/* What is known of all rows so far. */
typedef struct cri_gp_stream_sums {
    size_t  m, q, w; /* w = q + 1 */
    double *Phi;     /* [m x m]                */
    double *M;       /* [m x (q + 1)]          */
    double *S;       /* [(q + 1) x (q + 1)]    */
    double  settled; /* the part of the bound that alpha and L2 do not change  */
    double  loss;    /* of it, what goes with 1 / noise, times -2 noise        */
    double  count;   /* rows; 0: not known, the noise has to stay as it is     */
} cri_gp_stream_sums;

/* The same as rows of pseudo-data, free of L. */
typedef struct cri_gp_pseudo {
    const cri_gp_data *Z; /* the old inducing inputs [m]; NULL: nothing is known yet */
    size_t             r, q;
    double            *P;     /* [r x m]        */
    double            *E;     /* [r x (q + 1)]  */
    double            *rest;  /* [(q + 1) x (q + 1)]  S - E^T E */
    double             noise; /* that P, E, rest and settled stand for */
    double             settled, loss, count;
} cri_gp_pseudo;

/* From sums with their noise, factor L [m x m] and inducing inputs Z; the memory is the arena's. */
cr_status cri_gp_pseudo_new(cr_scratch *s, const cri_gp_stream_sums *sums, double noise,
                            const double *L, const cri_gp_data *Z, cri_gp_pseudo *out);

/* One problem of the stream: some rows, what was known, and the sparse process to fill. */
typedef struct cri_gp_stream {
    const cri_gp_pseudo *old;
    cri_gp_sparse       *sparse; /* Z, L, L2, alpha, beta, U, A as in gp_sparse.h; approx is vfe */
    cri_gp_stream_sums  *opt_sums; /* filled, where it is wanted */
} cri_gp_stream;

/* Value, all that predicts, and the sums; opt_gradient [theta + 1] of the bound by theta and log
 * noise.  O((n + r) m^2). */
cr_status cri_gp_stream_solve(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                              double noise, const cri_gp_stream *stream, double *opt_gradient);
/* The same as an objective; method is a cri_gp_stream. */
cri_gp_objective cri_gp_stream_objective;

/* Adds rows to sums for the same Z, kernel and factor, exactly, and solves: L of `sparse` is
 * given. */
cr_status cri_gp_stream_add(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                            double noise, cri_gp_sparse *sparse, cri_gp_stream_sums *sums);

#endif
