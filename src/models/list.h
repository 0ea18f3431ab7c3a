/* list.h -- the model classes: the one place that names them all, in alphabetical order.
 * X(stem) stands for cri_class_<stem>.  (Internal header.) */
#ifndef CREDENCE_MODELS_LIST_H
#define CREDENCE_MODELS_LIST_H

/* clang-format off */
#define CRI_MODELS(X)        \
    X(adaboost)              \
    X(bayes_linear)          \
    X(bayes_logistic)        \
    X(beta_bernoulli)        \
    X(bn)                    \
    X(crf)                   \
    X(dbn)                   \
    X(dirichlet_categorical) \
    X(exponential)           \
    X(fa)                    \
    X(fisher)                \
    X(gaussian_bn)           \
    X(glasso)                \
    X(glm)                   \
    X(gmm)                   \
    X(gp)                    \
    X(gp_classify)           \
    X(gp_online)             \
    X(hmm)                   \
    X(ising)                 \
    X(kalman)                \
    X(kernel_pca)            \
    X(kernel_ridge)          \
    X(kmeans)                \
    X(knn)                   \
    X(lasso)                 \
    X(lda)                   \
    X(linear)                \
    X(logistic)              \
    X(loglinear)             \
    X(markov)                \
    X(mixture)               \
    X(mvn)                   \
    X(nadaraya_watson)       \
    X(naive_bayes)           \
    X(normal)                \
    X(one_class_svm)         \
    X(pca)                   \
    X(poisson)               \
    X(ppca)                  \
    X(probit)                \
    X(program)               \
    X(qda)                   \
    X(rbm)                   \
    X(ridge)                 \
    X(robust)                \
    X(rvm)                   \
    X(spline)                \
    X(svm)                   \
    X(svr)                   \
    X(topics)                \
    X(tree)                  \
    X(uniform)               \
    X(von_mises)
/* clang-format on */

#endif
