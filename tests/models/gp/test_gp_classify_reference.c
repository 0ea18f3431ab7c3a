/* test_gp_classify_reference.c -- Laplace's approximation against reference answers (those of logit
 * agree with scikit-learn's GaussianProcessClassifier): evidence, gradient, modes, latent normals
 * and probabilities at fixed hyper-parameters, and the best evidence known.  All cases:
 * test_gp_reference_slow.c. */
#include "reference_classify.h"

TEST(fixed) { check_cases("gpc/", "", 240, 24, check_classify); }

TEST(optimum) { check_cases("gpcopt/", "", 180, 2, check_classify_optimum); }
