/* libsvm_text.h -- model files of LIBSVM as text, to and from numbers.
 *   header    svm_type, kernel_type, degree, gamma, coef0, nr_class, total_sv, rho, label, probA, probB, nr_sv: a word,
 *             then its values, a line each
 *   SV        then a line for each support vector: nr_class - 1 weights, and index:value as in data
 * The classes are in the order of `label`, the support vectors class by class; of classes p < q the machine is above 0
 * for p, and its rho is taken off.  A support vector of class p has its weight in the machine for (p, q) in column q - 1, one
 * of class q in column p.  Functions of numbers and one-class machines have nr_class 2 and a single machine.
 * A file that breaks off is refused: the lines must be as many as total_sv says, and the last must have its end.
 * Chang & Lin (2011), "LIBSVM: a library for support vector machines", ACM TIST 2(3), 27.  (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_SVM_LIBSVM_TEXT_H
#define CREDENCE_MODELS_KERNEL_SVM_LIBSVM_TEXT_H

#include "base/scratch.h"
#include "data/csv/csv_lines.h"

/* In the order of their words. */
typedef enum cri_libsvm_type {
    CRI_LIBSVM_C_SVC,
    CRI_LIBSVM_NU_SVC,
    CRI_LIBSVM_ONE_CLASS,
    CRI_LIBSVM_EPSILON_SVR,
    CRI_LIBSVM_NU_SVR
} cri_libsvm_type;
typedef enum cri_libsvm_kernel {
    CRI_LIBSVM_LINEAR,
    CRI_LIBSVM_POLYNOMIAL,
    CRI_LIBSVM_RBF,
    CRI_LIBSVM_SIGMOID
} cri_libsvm_kernel;

typedef struct cri_libsvm_model {
    cri_libsvm_type   type;
    cri_libsvm_kernel kernel;
    size_t            degree;
    double            gamma, coef0;
    size_t            K, M, n, d; /* classes, machines, support vectors, the largest index     */
    double           *rho;        /* [M]                                                       */
    double           *label;      /* [K] of classes, whole; NULL of others                     */
    size_t           *per;        /* [K] support vectors of each, likewise                     */
    double           *prob_a, *prob_b; /* [M], or NULL; of numbers prob_a alone                */
    double           *coef;            /* [n x K-1] */
    size_t           *start;           /* [n + 1] */
    uint32_t         *column;          /* [start[n]], the first is 0 */
    double           *value;           /* [start[n]] */
} cri_libsvm_model;

static inline bool cri_libsvm_is_classes(cri_libsvm_type type) { return type <= CRI_LIBSVM_NU_SVC; }

/* true when a file may be one. */
bool cri_libsvm_is_model(const char *bytes, size_t size);

/* Reads it into memory of the arena.  Fails with CR_EDATA at source:line:column, or CR_ENOMEM.  O(size). */
cr_status cri_libsvm_model_parse(cr_scratch *s, const char *source, const char *bytes, size_t size,
                                 cri_libsvm_model *out);
/* Writes it. */
void cri_libsvm_model_print(const cri_libsvm_model *m, cri_writer *out);

#endif
