/* credence.h -- probabilistic machine learning in C: every answer says how sure it is.
 * In the source tree this header names the public headers that live beside the code, lowest layer
 * first; the installed one holds their text. */
#ifndef CREDENCE_H
#define CREDENCE_H

#include "../src/base/status.h"
#include "../src/base/version.h"
#include "../src/base/context.h"
#include "../src/base/scratch.h"
#include "../src/base/option.h"
#include "../src/base/rng.h"

#include "../src/math/view.h"
#include "../src/math/blas.h"
#include "../src/math/dense.h"
#include "../src/math/chol.h"
#include "../src/math/decompose.h"
#include "../src/math/special.h"
#include "../src/math/optim/minimize.h"
#include "../src/math/optim/check_gradient.h"
#include "../src/math/optim/brent.h"
#include "../src/math/optim/stochastic.h"
#include "../src/math/laplace.h"
#include "../src/math/search.h"
#include "../src/math/quadrature.h"
#include "../src/math/kernel/kernel.h"
#include "../src/math/neighbours.h"

#include "../src/prob/dist/dist.h"
#include "../src/prob/gaussian/gaussian.h"
#include "../src/prob/info.h"
#include "../src/prob/info_source.h"

#include "../src/data/table.h"
#include "../src/data/read.h"
#include "../src/data/write.h"
#include "../src/data/summary.h"
#include "../src/data/design.h"
#include "../src/data/split.h"
#include "../src/data/metrics.h"

#include "../src/models/model.h"
#include "../src/models/graph/variable.h"
#include "../src/models/graph/factor.h"
#include "../src/models/graph/network.h"
#include "../src/models/graph/cpd.h"
#include "../src/models/graph/structure.h"
#include "../src/models/graph/separation.h"
#include "../src/models/graph/chordal.h"
#include "../src/models/graph/elimination.h"
#include "../src/models/graph/evidence.h"
#include "../src/models/graph/bucket.h"
#include "../src/models/graph/junction.h"
#include "../src/models/graph/enumerate.h"
#include "../src/models/graph/gaussian_network.h"
#include "../src/models/graph/uai.h"
#include "../src/models/graph/bif.h"
#include "../src/models/graph/xmlbif.h"
#include "../src/models/graph/net.h"
#include "../src/models/graph/network_file.h"
#include "../src/models/graph/query.h"

#include "../src/study/assess.h"
#include "../src/study/info.h"
#include "../src/study/compare_groups.h"

#include "../src/plot/figure.h"

#endif
