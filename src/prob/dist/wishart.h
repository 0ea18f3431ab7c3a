/* wishart.h -- kernels of the Wishart and inverse Wishart distributions, by the factor L of the
 * scale matrix.  (Internal header.) */
#ifndef CREDENCE_PROB_DIST_WISHART_H
#define CREDENCE_PROB_DIST_WISHART_H

#include "dist_class.h"

/* df must be above d - 1.  CR_EARG otherwise. */
cr_status cri_check_df(cr_ctx *cx, const char *name, double df, size_t d);
/* A [d x d] lower triangular with A A' ~ Wishart(df, I): Bartlett's decomposition. */
void cri_draw_bartlett(cr_rng *r, double df, size_t d, double *A);

/* Inverse Wishart with df n and scale L L'; spare [d^2 + d]. */
double cri_inverse_wishart_logpdf(double n, const double *L, size_t d, const double *X,
                                  double *spare);
void   cri_inverse_wishart_variance(double n, const double *scale, size_t d, double *out);
double cri_inverse_wishart_entropy(double n, const double *L, size_t d);
void   cri_inverse_wishart_sample(double n, const double *L, size_t d, cr_rng *r, double *X,
                                  double *spare);
double cri_inverse_wishart_kl(double np, const double *Lp, double nq, const double *Lq, size_t d,
                              double *column);

extern const cri_vector_family cri_wishart_family, cri_inverse_wishart_family;
/* "X[1,2]" for the k-th entry on and above the diagonal. */
void cri_matrix_entry_name(const char *matrix, size_t d, size_t k, char *out, size_t size);
/* Maximum likelihood of df and scale from the matrices that stand in the points after `skip`
 * entries, as Wishart or as inverse Wishart matrices. */
cr_status cri_wishart_fit(cr_ctx *cx, const char *who, const cri_points *s, size_t skip, size_t d,
                          bool inverse, double *out_df, double *out_scale);

#endif
