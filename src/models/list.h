/* list.h -- the model classes: the one place that names them all, in alphabetical order.
 * X(stem) stands for cri_class_<stem>.  (Internal header.) */
#ifndef CREDENCE_MODELS_LIST_H
#define CREDENCE_MODELS_LIST_H

/* clang-format off */
#define CRI_MODELS(X)        \
    X(bayes_linear)          \
    X(bayes_logistic)        \
    X(beta_bernoulli)        \
    X(dirichlet_categorical) \
    X(exponential)           \
    X(glm)                   \
    X(linear)                \
    X(logistic)              \
    X(mvn)                   \
    X(normal)                \
    X(poisson)               \
    X(probit)                \
    X(ridge)                 \
    X(robust)                \
    X(spline)                \
    X(uniform)               \
    X(von_mises)
/* clang-format on */

#endif
