/* group_sums.h -- what rows in groups say of a linear model with varying intercepts.
 *   t = b0 + z . w + u_g + noise,   u_g ~ N(0, s2 / theta),   z and t about their means over scales.
 * With N_g the weight of group g, (z_g, t_g) its means and W the sums of products within groups, the
 * equations with all u_g eliminated are those of
 *   T = W + sum_g k_g (1, z_g, t_g)' (1, z_g, t_g),   k_g = N_g theta / (N_g + theta):
 * a group counts k_g rows, the fewer the more groups differ.  O(n q^2) once, then O(J q^2) for each
 * theta; nothing is subtracted that could cancel.
 * Searle, Casella & McCulloch (1992), Variance Components, ch. 3.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_GROUP_SUMS_H
#define CREDENCE_MODELS_LINEAR_GROUP_SUMS_H

#include "base/scratch.h"
#include "models/common/moments.h"

typedef struct cri_group_sums {
    size_t  J, p, q;        /* groups, terms, terms and target           */
    double  weight, offset; /* of all rows; what was taken from t        */
    double *centre, *scale; /* [p]                                       */
    double *N;              /* [J]                                       */
    double *mean;           /* [J x q] z_g, t_g                          */
    double *within;         /* [q x q] W                                 */
    double  tt, signal;     /* t't, and tr Z'Z over the weight           */
} cri_group_sums;

/* Two passes over the rows; all memory is of the arena. */
cr_status cri_group_sums_new(cr_ctx *cx, cr_scratch *arena, const cri_rows *rows, bool intercept,
                             bool standardise, cri_group_sums *out);

/* The equations at one theta; with `flat` the intercept is eliminated too. */
typedef struct cri_group_equations {
    double  theta;
    double *c;      /* [q] where the intercept is free of w: means by k_g; 0 unless flat */
    double *T;      /* [q x q] about c                                                   */
    double  rows;   /* sum of k_g                                                        */
    double  logdet; /* ln |I + C C' / theta|, C the indicators of the groups             */
} cri_group_equations;

cr_status cri_group_equations_new(cr_scratch *arena, const cri_group_sums *s,
                                  cri_group_equations *out);
cr_status cri_group_equations_at(cr_ctx *cx, const cri_group_sums *s, double theta, bool flat,
                                 cri_group_equations *e);

#endif
