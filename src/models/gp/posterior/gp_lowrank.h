/* gp_lowrank.h -- predictions of an exact Gaussian process whose covariance has a small numerical
 * rank.  Smooth kernels on few columns (time series, maps) have K = F F^T + R with F [n x r], r far
 * below n, and R, psd, at the rounding of doubles (gp_pivoted_cholesky.h).  P are the pivots of F, L its rows
 * P.  For a new row x, with C = K + D the covariance of the targets, D its diagonal part (noise,
 * white, jitter):
 *   phi = L^-1 k(P, x)           k = F phi + e
 *   eps = k(x, x) - |phi|^2      what the pivots do not know
 *   M M^T = I + F^T D^-1 F,      s = |M^-1 phi|,    t = |A^-1 (h - H^T C^-1 F phi)|
 *   mean = h . b + phi . F^T alpha,   var f = eps + s^2 + t^2
 * r values of the kernel and 2 r^2 operations a row instead of n and n^2; nothing cancels but eps.
 *
 * The error.  [R e; e^T eps] is a Schur complement of a covariance, so psd: (z . e)^2 <= eps z^T R
 * z for any z.  With rho >= |D^-1/2 R D^-1/2| and u = sqrt(rho eps), so |D^-1/2 e| <= u:
 *   mean: |e . alpha| <= sqrt(eps alpha^T R alpha)
 *   t: |A^-1 H^T C^-1 e| <= u, since D <= C makes |D^1/2 C^-1 H A^-T| <= 1; so t^2 is off by 2 t u + u^2
 *   eps + s^2: let a = (F F^T + D)^-1 F phi, |D^1/2 a| <= s.  By C^-1 F phi = a - C^-1 R a, and C^-1 <= D^-1,
 *     |k^T C^-1 k - phi^T F^T a| <= a^T R a + 2 |e . (a - C^-1 R a)| + e^T C^-1 e
 *                                <= rho s^2 + 2 u s (1 + rho) + u^2
 * rho is measured: the Frobenius norm of the difference of all n^2 entries, which also holds the
 * rounding of K and F.  That of phi is about kappa = |phi / diag L| units of the last place of k,
 * large beyond the data: it is added to eps, and by the entries of F to e.  (In eps + s^2 it
 * cancels.)  Rows whose bound is above CRI_GP_LOWRANK_ERROR of the variance of a target (means: of
 * its sd before any data), most of them beyond the data, are left to the dense formulas, and there
 * is no such form at all when rho is above CRI_GP_LOWRANK_WORST, r above n / 4 or n below 256.
 * Harbrecht, Peters & Schneider (2012), Appl. Numer. Math. 62.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_POSTERIOR_GP_LOWRANK_H
#define CREDENCE_MODELS_GP_POSTERIOR_GP_LOWRANK_H

#include "gp_posterior.h"
#include "base/scratch.h"

/* Half of it is the largest relative error of an sd of a target: nine digits stand. */
#define CRI_GP_LOWRANK_ERROR 1e-9
/* Bounds of a variance that are this part of k(x, x) hold as well: k(x, x) - |w|^2 has no more
 * digits. */
#define CRI_GP_LOWRANK_DIGITS 1e-13
/* rho above which hardly any row would hold. */
#define CRI_GP_LOWRANK_WORST 1e-6

/* Rows on their way; the memory is an arena's. */
typedef struct cri_gp_lowrank_workspace {
    cri_gp_data at; /* the pivots       */
    double     *C;  /* [rows x rank]    */
} cri_gp_lowrank_workspace;

/* What is found of rows; errors are the bounds above.  Without variance: the mean alone. */
typedef struct cri_gp_lowrank_rows {
    size_t        count;
    const double *H, *prior;                 /* [count x terms], k(x, x) [count] */
    double       *mean, *mean_error;         /* [count] of f, h . b included     */
    double       *variance, *variance_error; /* [count] or NULL                  */
} cri_gp_lowrank_rows;

/* The form of a process with its factor, pivots down to `least` and rho up to `worst`; of rank 0
 * where there is none.  O(n r^2 + n^2 r) operations, n^2 / 4 numbers of workspace. */
cr_status cri_gp_lowrank_new(cr_ctx *cx, const cri_gp_posterior *m, double least, double worst,
                             cri_gp_lowrank *out);
/* Workspace for `rows` rows at a time. */
cr_status cri_gp_lowrank_open(cr_scratch *s, const cri_gp_posterior *m, size_t rows,
                              cri_gp_lowrank_workspace *out);
/* The rows `in`.  Same bits for any number of threads. */
cr_status cri_gp_lowrank_predict(cr_ctx *cx, const cri_gp_posterior *m, const cr_kernel_input *in,
                                 cri_gp_lowrank_workspace  *workspace,
                                 const cri_gp_lowrank_rows *rows);
/* true when the bounds of row i are low enough. */
bool cri_gp_lowrank_holds(const cri_gp_posterior *m, const cri_gp_lowrank_rows *rows, size_t i);
/* Whether the form that a file has is one of the process. */
bool cri_gp_lowrank_fits(const cri_gp_posterior *m);

#endif
