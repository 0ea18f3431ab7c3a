/* classify_ep.h -- expectation propagation of a Gaussian process classifier of two classes.
 *   p(c_i | f_i) is replaced by a site  Z_i N(f_i; nu_i / tau_i, 1 / tau_i);  posterior ~ N(mu, Sigma),
 *   Sigma = (K^-1 + diag(tau))^-1,  mu = Sigma nu = K b,  b = (I - S^1/2 B^-1 S^1/2 K) nu,
 *   S = diag(tau),  B = I + S^1/2 K S^1/2 = L L^T
 * At the fixed point the moments of f_i under the normal are those under cavity x p(c_i | f_i); the
 * cavity is the normal without site i:  v_i = Sigma_ii / (1 - tau_i Sigma_ii),
 * m_i = (mu_i - Sigma_ii nu_i) / (1 - tau_i Sigma_ii).  log p is concave, so that no tau is below 0 and
 * every cavity has a variance.
 *   log evidence ~ sum_i [log Z_i + log(v_i / Sigma_ii) / 2 - nu_i^2 Sigma_ii / 2
 *                         + m_i (Sigma_ii / v_i) (tau_i m_i - 2 nu_i) / 2] + nu . mu / 2 - log|B| / 2,
 *   Z_i the integral of cavity x p(c_i | f_i),  and its gradient is  sum_jk dK_jk [b b^T - S^1/2 B^-1 S^1/2]_jk / 2:
 * flat in the sites, so that these need not follow K.  All sites move at once, from where they were for the
 * last parameters; where the moments drift apart, by half the way.  O(n^3) a sweep; two n x n matrices
 * beside those of Laplace's workspace.  The normal predicts as Laplace's does: b in place of a, S^1/2 in
 * place of W^1/2.
 * Minka (2001), UAI; Rasmussen & Williams (2006), sec. 3.6, 5.5.2; van Gerven et al. (2010), NeuroImage 50,
 * 150-161 (all sites at once).  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_EP_H
#define CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_EP_H

#include "classify_laplace.h"

/* Workspace, and what comes of it.  It remembers the sites of the inputs it saw last. */
typedef struct cri_ep {
    cri_laplace       *laplace;             /* whose K, counts and root are used               */
    double            *L, *T;               /* [n x n] the factor of B; workspace              */
    double            *root;                /* [n] tau^1/2                                     */
    double            *tau, *nu;            /* [n] of the sites                                */
    double            *next_tau, *next_nu;  /* [n] what the moments ask for                 */
    double            *b, *mean, *variance; /* [n] of the posterior                        */
    double            *part;                /* [n] what each input adds to the log evidence    */
    double            *gap;                 /* [n] between the moments, in sds                 */
    const cri_gp_data *seen;                /* the inputs that the sites are of; NULL: none    */
    size_t             seen_n, sweeps;
    double             log_evidence, log_likelihood; /* log_likelihood: at the mean        */
    double tolerance; /* of the gap: CRI_EP_CLOSE, or more where a rough answer will do */
    bool   converged;
} cri_ep;
#define CRI_EP_CLOSE 1e-8

/* Workspace for n inputs beside that of Laplace's approximation of the same data, from the arena. */
cr_status cri_ep_new(cr_scratch *s, cri_laplace *laplace, size_t n, cri_ep *out);
/* The sites of Laplace's normal at the inputs that `laplace` has seen last, a good start. */
void cri_ep_start(cri_ep *m);
/* Mean and variance of the inputs by the sites as they are, with K as it is. */
cr_status cri_ep_moments(cr_ctx *cx, size_t n, cri_ep *m);
/* The fixed point and the evidence at the inputs of problem->data, and by theta its gradient: a
 * cri_gp_objective whose method is a cri_ep.  With opt_gradient L is overwritten.  CR_ENUMERIC where it does
 * not converge, as with variances beyond 1e5. */
cri_gp_objective cri_ep_objective;

#endif
