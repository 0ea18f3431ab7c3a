/* dirichlet.h -- shared by the distributions of counts and of probabilities.  (Internal header.) */
#ifndef CREDENCE_PROB_DIST_DIRICHLET_H
#define CREDENCE_PROB_DIST_DIRICHLET_H

#include "dist_class.h"

double cri_total(const double *a, size_t d);
void   cri_draw_dirichlet(cr_rng *r, const double *a, size_t d, double *out);
/* Counts of `trials` draws over d kinds with probabilities p. */
void cri_draw_multinomial(cr_rng *r, double trials, const double *p, size_t d, double *out);
/* true when x are whole numbers, none negative, that sum to n. */
bool cri_are_counts(const double *x, size_t d, double n);

extern const cri_vector_family cri_dirichlet_family;
cr_status cri_dirichlet_fit(cr_ctx *cx, const cri_points *s, double *a, size_t d);

#endif
