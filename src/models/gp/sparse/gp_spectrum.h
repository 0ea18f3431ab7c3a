/* gp_spectrum.h -- random Fourier features of a kernel expression.
 * A kernel k(x - y) is the mean of cos(w.(x - y)) over its spectral density (Bochner):
 *   rbf       w = e / l,  e ~ N(0, I)
 *   matern    w = e / l sqrt(nu / g),  g ~ Gamma(nu, 1):  Student's t with 2 nu degrees of freedom
 *   rq        w = e / l sqrt(g / alpha),  g ~ Gamma(alpha, 1)
 *   cosine    w = 2 pi / p
 *   periodic  w = 2 pi j / p with weight a_j(l) = (2 - [j = 0]) exp(-1/l^2) I_j(1/l^2), j = 0, 1, ..
 * A product adds frequencies and multiplies weights; a sum puts features side by side; a constant
 * and a linear kernel have features of their own, which are exact.  Each frequency gives a cosine
 * and a sine:
 *   phi_f(x) = weight_f cos(w_f . x - phase_f)
 * The draws behind them are fixed, one Latin hypercube a term: features are smooth in the
 * parameters.  Rahimi & Recht (2007), NIPS; Solin & Sarkka (2014), AISTATS, for periodic.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GP_SPARSE_GP_SPECTRUM_H
#define CREDENCE_MODELS_GP_SPARSE_GP_SPECTRUM_H

#include "models/kernel/inputs/gp_data.h"
#include "base/scratch.h"

enum { CRI_GP_TERM_LEAVES = 16, CRI_GP_MOST_TERMS = 32 };
#define CRI_GP_STRAIGHT (-1.0) /* the phase of a feature weight_f w_f . x */

/* A product of leaves. */
typedef struct cri_gp_term {
    size_t  n, leaf[CRI_GP_TERM_LEAVES];
    size_t  begin, count; /* its features                                         */
    size_t  width;        /* draws for each frequency                             */
    double *draws;        /* [pairs x width]                                      */
    bool    random;       /* cosines and sines, count / 2 of each                 */
} cri_gp_term;

typedef struct cri_gp_spectrum {
    size_t      m, d, n_terms;
    cri_gp_term terms[CRI_GP_MOST_TERMS];
} cri_gp_spectrum;

/* About m features for the kernel over d columns of numbers; the memory is the arena's.  Fails with
 * CR_EUNSUPPORTED, naming the kernel, where there is no spectral density; with CR_EARG when m is
 * too small. */
cr_status cri_gp_spectrum_new(cr_ctx *cx, cr_scratch *s, const cr_kernel *k, size_t m, size_t d,
                              uint64_t seed, cri_gp_spectrum *out);
/* Frequencies W [m x d], weights [m], phases [m] at the parameters that k has.  Pure. */
void cri_gp_spectrum_fill(const cri_gp_spectrum *spectrum, const cr_kernel *k, double *W,
                          double *weight, double *phase);
/* F [m x n] (a column for each row): the features of rows X [n x d].  opt_angle [m x n]: w.x -
 * phase. */
cr_status cri_gp_waves(cr_ctx *cx, const double *W, const double *weight, const double *phase,
                       size_t m, const double *X, size_t n, size_t d, double *F, double *opt_angle);

#endif
