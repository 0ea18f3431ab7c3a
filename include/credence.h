/* credence.h -- probabilistic machine learning in C: every answer says how sure it is.
 * What programs need: contexts, options, tables, models, their assessment and figures.  Further tiers:
 * credence/graph.h (networks), credence/math.h, credence/dist.h; a declaration is in one of the four.
 * In the source tree this header names the public headers that live beside the code, lowest layer
 * first; the installed one holds their text. */
#ifndef CREDENCE_H
#define CREDENCE_H

#include "../src/base/status.h"
#include "../src/base/version.h"
#include "../src/base/context.h"
#include "../src/base/field.h"
#include "../src/base/scratch.h"
#include "../src/base/option.h"
#include "../src/base/rng.h"

#include "../src/math/dense/view.h"

#include "../src/data/table/table.h"
#include "../src/data/bytes/read_options.h"
#include "../src/data/formats/read.h"
#include "../src/data/stream/stream.h"
#include "../src/data/formats/write.h"
#include "../src/data/table/summary.h"
#include "../src/data/design/design.h"
#include "../src/data/judge/split.h"
#include "../src/data/judge/metrics.h"

#include "../src/models/core/model.h"
#include "../src/models/core/parts.h"
#include "../src/models/core/fit_stream.h"
#include "../src/models/core/decide.h"
#include "../src/models/core/sequence.h"
#include "../src/models/kernel/svm/libsvm_model.h"

#include "../src/study/assess.h"
#include "../src/study/cross_validate.h"
#include "../src/study/average.h"
#include "../src/study/compare_models.h"
#include "../src/study/tune.h"
#include "../src/study/report.h"
#include "../src/study/bootstrap.h"
#include "../src/study/learning_curve.h"
#include "../src/study/importance.h"
#include "../src/study/dependence.h"
#include "../src/study/resample.h"
#include "../src/study/curves.h"
#include "../src/study/compare_groups.h"

#include "../src/plot/figure.h"
#include "../src/plot/kinds.h"

#endif
