/* von_mises_kappa.h -- the posterior of the concentration k of angles, by quadrature.
 *   p(k) = g(k) I0(k r) / I0(k)^c / Z,   k > 0
 * r is the length of the summed unit vectors, the prior's among them, c their number, and g what
 * the prior says of k beside that: constant, Jeffreys', or a gamma density.  The integral runs over
 * t = log k, in 16 panels of the 20-point Gauss rule, cut where the integrand has fallen from its
 * peak by the same factors as a normal density at 1, 2, ... 6, 8 and 10 standard deviations on
 * either side; it is exact to about 1e-13. Guttorp & Lockhart (1988), JASA 83, 322-330.  (Internal
 * header.) */
#ifndef CREDENCE_MODELS_CONJUGATE_VON_MISES_KAPPA_H
#define CREDENCE_MODELS_CONJUGATE_VON_MISES_KAPPA_H

#include "base/context.h"
#include "describe.h"

enum { CRI_KAPPA_FLAT, CRI_KAPPA_JEFFREYS, CRI_KAPPA_GAMMA };
enum { CRI_KAPPA_PANELS = 16, CRI_KAPPA_WORK = 3 + 2 * CRI_KAPPA_PANELS };

typedef struct cri_kappa {
    double r, c;
    int    g;           /* CRI_KAPPA_* */
    double shape, rate; /* of a gamma  */
} cri_kappa;

/* true when Z is finite. */
bool cri_kappa_proper(const cri_kappa *q);
/* Finds the panels; fails with CR_ENUMERIC when the density has no peak that doubles can hold. */
cr_status cri_kappa_prepare(cr_ctx *cx, const cri_kappa *q, double work[CRI_KAPPA_WORK]);
/* log Z, of prepared work and by itself; NaN where that would fail. */
double cri_kappa_log_normaliser(const double *work);
double cri_kappa_log_z(const cri_kappa *q);
/* E f(k). */
double cri_kappa_expect(const cri_kappa *q, const double *work, double (*f)(double k, void *user),
                        void *user);
/* k with P(K <= k) = p. */
double cri_kappa_quantile(const cri_kappa *q, const double *work, double p);
/* Mean, sd, mode, intervals. */
void cri_kappa_summarise(const cri_kappa *q, const double *work, double level, cri_summary *out);

#endif
