/* metric.h -- coordinates in which a density looks like a standard normal, learned from draws.
 *   x = diag(sigma) R y,   R symmetric; NULL: the identity
 * With A the covariance of draws and B that of gradients, of x / sigma and sigma g,
 *   sigma_i = (var x_i / var g_i)^(1/4),   R^2 = A # B^-1 = B^(-1/2) (B^(1/2) A B^(1/2))^(1/2) B^(-1/2)
 * minimises the Fisher divergence between the density of y and N(0, I): exact on a normal density after as
 * many draws as there are dimensions (arXiv 2603.18845).  Off the
 * diagonal, A and B of k <= 2 n draws count by k / (k + 2 n).  R is the identity where A and B^-1 differ by
 * more than correlations gain, as in a funnel.  (Internal header.) */
#ifndef CREDENCE_PROB_MC_METRIC_H
#define CREDENCE_PROB_MC_METRIC_H

#include "base/scratch.h"

enum { CRI_METRIC_DENSE = 50 }; /* dimensions up to which R is learned */

typedef struct cri_metric {
    size_t  n;
    double *sigma;          /* [n]                                                       */
    double *root, *inverse; /* [n x n] R and R^-1; NULL where it is too large to learn    */
    double *work;           /* [n]                                                       */
} cri_metric;

/* The identity. */
cri_metric cri_metric_new(cr_scratch *s, size_t n);
void       cri_metric_to_x(const cri_metric *m, const double *y, double *x);
void       cri_metric_to_y(const cri_metric *m, const double *x, double *y);
/* The gradient by y from that by x. */
void cri_metric_gradient(const cri_metric *m, const double *gx, double *gy);

/* Means and sums of products of draws and of gradients (Welford 1962). */
typedef struct cri_draw_spread {
    size_t  n;
    bool    dense;
    double  count;
    double *mean_x, *mean_g, *xx, *gg; /* [n], [n], and [n] or [n x n] each              */
    double *away;                      /* [2 n]                                          */
} cri_draw_spread;

cri_draw_spread cri_draw_spread_new(cr_scratch *s, size_t n);
void            cri_draw_spread_clear(cri_draw_spread *s);
void            cri_draw_spread_add(cri_draw_spread *s, const double *x, const double *g);
/* Learns sigma; and R too, if `whole`.  What cannot be learned stays as it was. */
cr_status cri_metric_learn(cr_ctx *cx, const cri_draw_spread *s, bool whole, cri_metric *m);

#endif
