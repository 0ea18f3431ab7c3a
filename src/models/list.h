/* list.h -- the model classes: the one place that names them all, in alphabetical order.
 * X(stem) stands for cri_class_<stem>.  (Internal header.) */
#ifndef CREDENCE_MODELS_LIST_H
#define CREDENCE_MODELS_LIST_H

/* clang-format off */
#define CRI_MODELS(X)        \
    X(adaboost)              \
    X(bayes_linear)          \
    X(beta_bernoulli)        \
    X(dirichlet_categorical) \
    X(exponential)           \
    X(glm)                   \
    X(knn)                   \
    X(linear)                \
    X(mvn)                   \
    X(nadaraya_watson)       \
    X(normal)                \
    X(poisson)               \
    X(ridge)                 \
    X(robust)                \
    X(tree)                  \
    X(uniform)               \
    X(von_mises)
/* clang-format on */

#endif
