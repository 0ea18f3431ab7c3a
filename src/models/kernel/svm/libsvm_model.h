/* libsvm_model.h -- models of LIBSVM: what svm-train has written predicts here, and the other way round. */
#ifndef CREDENCE_MODELS_KERNEL_SVM_LIBSVM_MODEL_H
#define CREDENCE_MODELS_KERNEL_SVM_LIBSVM_MODEL_H

#include "models/core/model.h"

/* Reads a model file of LIBSVM: an svm, svr or one-class-svm over the columns x1, x2, ... as they are, of which y is the
 * target.  Such files do not hold C, nu and epsilon, nor how far the optimum was: the largest weight stands for C, and the gap is not
 * known.  Fails with CR_EDATA at file:line:column, CR_EIO, CR_ENOMEM. */
CR_API cr_status cr_model_read_libsvm(cr_ctx *cx, const char *path, cr_model **out_model);
/* The same of bytes; source names them in failures. */
CR_API cr_status cr_model_parse_libsvm(cr_ctx *cx, const char *source, const void *bytes,
                                       size_t size, cr_model **out_model);
/* true when bytes are the beginning of such a file. */
CR_API bool cr_is_libsvm_model(const void *bytes, size_t size);
/* Writes an svm, svr or one-class-svm as a model file of LIBSVM, columns numbered in their order.  CR_EUNSUPPORTED where
 * LIBSVM has no such model: with standardised columns, categories, other kernels than the linear, polynomial, rbf and
 * sigmoid of all columns, classes that are not whole numbers, or one machine for each class. */
CR_API cr_status cr_model_write_libsvm(cr_ctx *cx, const cr_model *model, const char *path);

#endif
