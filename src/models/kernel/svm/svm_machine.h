/* svm_machine.h -- one machine: a function f(x) = sum_i beta_i k(x_i, x) + b between two classes, y = -1 and +1.
 *
 *   c     minimise  1/2 |w|^2 + C sum_i w_i max(0, 1 - y_i f(x_i))
 *   hard  minimise  1/2 |w|^2  with  y_i f(x_i) >= 1: the nearest points of the convex hulls of the classes, which
 *         are solved for instead: their distance d is 0 where the classes cannot be separated, and |w| = 2 / d
 *   nu    minimise  1/2 |w|^2 - nu r + sum_i w_i / W max(0, r - y_i f(x_i)),  divided by r afterwards: at most a share
 *         nu of the rows is within the margin, and at least such a share are support vectors
 *
 * A row of weight w counts as w rows.  Cortes & Vapnik (1995), Machine Learning 20; Bennett & Bredensteiner (2000), ICML;
 * Schoelkopf, Smola, Williamson & Bartlett (2000), Neural Computation 12.  (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_SVM_SVM_MACHINE_H
#define CREDENCE_MODELS_KERNEL_SVM_SVM_MACHINE_H

#include "svm_solver.h"

typedef enum cri_svm_kind { CRI_SVM_C, CRI_SVM_NU } cri_svm_kind; /* choices of --kind */

/* What a machine learns from. */
typedef struct cri_svm_sample {
    const cr_kernel *kernel;
    cr_kernel_input  rows;
    const double    *opt_gram; /* [n x n] */
    size_t           n;
    const double    *sign;     /* [n] y                                             */
    const double    *weight;   /* [n] > 0                                           */
    const char      *names[2]; /* of the classes y = -1 and y = +1, for failures    */
} cri_svm_sample;

typedef struct cri_svm_margin {
    cri_svm_kind     kind;
    int              loss, penalty; /* of the linear kernel: linear_machine.h             */
    double           C, nu;         /* C infinite: hard                                       */
    cri_svm_settings how;
} cri_svm_margin;

typedef struct cri_svm_machine {
    double *beta;  /* [n] in, of c alone: where to begin, feasible; out: of the rows */
    double *value; /* [n] out: f of the rows                                         */
    double  b;
    double
        objective; /* of the dual, as minimised: 1/2 a^T Q a - sum a, or 1/2 a^T Q a of nu       */
    double norm;   /* |w| */
    double gap, violation,
        bound; /* bound: what |beta| may be, for a row of weight 1; hard: infinite */
    size_t steps;
    bool   converged, late;
} cri_svm_machine;

/* Fails with CR_EDATA where there is no hard margin, or nu cannot be had; else as cri_svm_solve. */
cr_status cri_svm_train(cr_ctx *cx, const cri_svm_sample *sample, const cri_svm_margin *margin,
                        cri_svm_machine *machine);

#endif
