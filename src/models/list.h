/* list.h -- the model classes: the one place that names them all, in alphabetical order.
 * X(stem) stands for cri_class_<stem>.  (Internal header.) */
#ifndef CREDENCE_MODELS_LIST_H
#define CREDENCE_MODELS_LIST_H

/* clang-format off */
#define CRI_MODELS(X) \
    X(bayes_linear)   \
    X(glm)            \
    X(lasso)          \
    X(linear)         \
    X(ridge)          \
    X(robust)
/* clang-format on */

#endif
