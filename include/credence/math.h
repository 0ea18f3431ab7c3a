/* credence/math.h -- linear algebra, special functions, optimisers, quadrature, kernels: what the
 * models are computed with. */
#ifndef CREDENCE_MATH_H
#define CREDENCE_MATH_H

#include "../credence.h"

#include "../../src/math/dense/blas.h"
#include "../../src/math/dense/dense.h"
#include "../../src/math/dense/chol.h"
#include "../../src/math/dense/decompose.h"
#include "../../src/math/special/special.h"
#include "../../src/math/optim/minimize.h"
#include "../../src/math/optim/check_gradient.h"
#include "../../src/math/optim/brent.h"
#include "../../src/math/optim/stochastic.h"
#include "../../src/math/optim/laplace.h"
#include "../../src/math/sparse/lsqr.h"
#include "../../src/math/search.h"
#include "../../src/math/quadrature.h"
#include "../../src/math/isotonic.h"
#include "../../src/math/kernel/kernel.h"
#include "../../src/math/neighbours.h"

#endif
