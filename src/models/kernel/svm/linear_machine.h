/* linear_machine.h -- machines with the linear kernel, by their weights: no kernel matrix, any number of rows.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_SVM_LINEAR_MACHINE_H
#define CREDENCE_MODELS_KERNEL_SVM_LINEAR_MACHINE_H

#include "linear_svm.h"
#include "svm_machine.h"
#include "base/scratch.h"

typedef enum cri_svm_loss { CRI_SVM_HINGE, CRI_SVM_SQUARED_HINGE } cri_svm_loss; /* of --loss    */
typedef enum cri_svm_penalty { CRI_SVM_L2, CRI_SVM_L1 } cri_svm_penalty;         /* of --penalty */

/* Fewer rows are as well served by the solver for all kernels. */
enum { CRI_SVM_WEIGHTS_FROM = 1000 };

/* true of `linear`, of all columns as they are. */
bool cri_svm_is_linear(const cr_kernel *k);
/* Whether a machine of so many rows is solved by its weights: from where that pays, or where nothing else can. */
bool cri_svm_by_weights(const cr_kernel *k, const cri_svm_margin *margin, size_t n);
/* Trains it: as cri_svm_train, with opt_w [columns] := w, which of --penalty l1 is not the sum of beta times rows.  The violation
 * is that of the conditions given b; tol of margin->how counts for the duality gap, a hundredth of it relative to the objective. */
cr_status cri_svm_train_weights(cr_ctx *cx, const cri_svm_sample *sample,
                                const cri_svm_margin *margin, cri_svm_machine *machine,
                                double *opt_w);

/* Sweeps, or steps, of the linear solver that are so many steps of two weights of n rows. */
size_t cri_svm_linear_steps(size_t max_iter, size_t n);

/* How far rows of scores f + b are from where their weights say that they lie. */
double cri_svm_linear_violation(const cri_svm_linear_problem *q, const cri_svm_linear_solution *x,
                                double b, const double *f);

/* What a linear machine learns from by rows: those of an input with numbers, of which zeros are left out where they are
 * many; in the arena. */
cr_status cri_svm_linear_rows_of(cr_scratch *s, cr_cmat X, cri_svm_linear_rows *out);

#endif
